"""A wave in a box of equal cubes, as in Hanindhito et al. (2022): one material, free sides, no sources.

Not here: which cases are timed (bench_dg_gaps.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..limits import device_info
from ..method.dg import DG
from ..problem.medium import Acoustic, Elastic, Medium
from ..problem.mesh import Mesh, box_mesh
from . import roofline
from .dg_case import set_wave
from .measuring import timed


def _medium(physics: str) -> Medium:
    return Acoustic(rho=1.0, c=1.0) if physics == "acoustic" else Elastic(rho=1.0, vp=1.8, vs=1.0)


def mesh_that_fits(
    cells: Sequence[int], cases: Sequence[tuple[str, str, dict[str, Any]]]
) -> tuple[Mesh, str | None]:
    """Return a box of cells, half as many until all cases fit the memory.

    Parameters
    ----------
    cells : sequence of int
    cases : sequence of tuple
        Device, physics and keywords of `DG`.

    Returns
    -------
    Mesh
    str or None
        What is run in place of `cells`, where they do not fit.
    """
    wanted = tuple(cells)
    host = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    while True:
        mesh = box_mesh((0, 0, 0), [float(n) for n in cells], cells, shape="hex")
        if all(
            need <= 0.9 * (device_info(device)["memory"] if where == "device" and device != "cpu" else host)
            for device, physics, case in cases
            for where, need in DG.forecast(mesh, _medium(physics), device=device, **case).items()
        ):
            break
        longest = int(np.argmax(cells))
        cells = [max(1, n // 2) if axis == longest else n for axis, n in enumerate(cells)]
    if tuple(cells) == wanted:
        return mesh, None
    why = f"{wanted} cells do not fit the memory: {tuple(cells)} are run instead"
    print(why)
    return mesh, why


def _profile(sim: DG, ms: float) -> dict[str, dict[str, float]]:
    """Return the time and work of each function of a kernel; on the CPU a stage is one."""
    if sim.config["device"] != "cpu":
        return sim.profile(10)
    info, num = sim._solver.info(), sim.mesh.num_elem
    stage = {
        "seconds": 1e-3 * ms / info.num_stage, "launches": info.num_stage,
        "flops": float(info.flops * num), "bytes": float(info.bytes_per_elem * num),
    }  # fmt: skip
    return {"stage": stage}


def measure(
    mesh: Mesh,
    case: dict[str, Any],
    *,
    physics: str,
    device: str,
    limits: dict[str, float],
    steps: int,
    seconds: float | None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Time one case; a row.

    Parameters
    ----------
    mesh : Mesh
    case : dict
        Keywords of `DG`: degree, dtype, flux, integrator, kernel.
    physics : {"acoustic", "elastic"}
    device : str
    limits : dict
        Of `device_limits`, from this run.
    steps : int
        Steps timed, at most.
    seconds : float or None
        Of the measurement, at most about [s]; None: all the steps.
    threads : int, optional
        CPU threads.

    Returns
    -------
    dict
        The case, what `timed` returns, ``physics``, ``configuration``, ``num_elem``, ``num_node``,
        ``threads``, ``setup_seconds``, and ``functions``, of each its place under the roof
        (`roofline.placed`).
    """
    start = time.perf_counter()
    with DG(mesh, _medium(physics), boundary={"*": "free"}, device=device, threads=threads, **case) as sim:
        set_wave(sim)
        setup = time.perf_counter() - start
        sim.step(1)
        begin = time.perf_counter()
        sim.step(1)
        guess = time.perf_counter() - begin
        count = steps if seconds is None else int(np.clip(seconds / guess, 2, steps))
        sim.step(min(count, 5))
        row = timed(sim, count, case, limits)
        return {
            **row,
            "physics": physics,
            "configuration": f"{physics}-{case['flux']}-{case['dtype']}",
            "num_elem": mesh.num_elem,
            "num_node": sim.num_node,
            "kernel": row["kernel"] or "cpu",
            "threads": sim.config["threads"],
            "setup_seconds": setup,
            "functions": roofline.placed(_profile(sim, row["ms"]), limits, case["dtype"]),
        }
