"""Cases that benchmarks of DG share: boxes of cells, a wave in one material, the time of its kernels.

Not here: which are timed (bench_dg*.py), the realistic case (bench_dg.py).
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from .. import _core, _cuda
from .._core import lib
from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_number
from ..method import speed
from ..method._options import kernel_choice, precision
from ..method.dg import DG
from ..problem.medium import Acoustic, Elastic, Maxwell, Medium
from ..problem.mesh import Mesh, box_mesh
from . import roofline
from .measuring import timed

_SHEAR = np.array([(1.0, 0.0, 0.0), (0.1, 1.0, 0.0), (-0.05, 0.1, 1.0)])  # the middle of the box stays inside
_MEDIA: dict[str, tuple[Medium, str]] = {
    "acoustic": (Acoustic(rho=1.0, c=1.0), "free"),
    "elastic": (Elastic(rho=1.0, vp=1.8, vs=1.0), "free"),
    "maxwell": (Maxwell(eps=1.0, mu=1.0), "pec"),
}


def numbered_box(nodes: float, num_node: int, shape: str, kind: str) -> Mesh:
    """Return a box, perturbed or sheared, with at least that many nodes, its cells in random order."""
    n = int(np.ceil((nodes / num_node / (6 if shape == "tet" else 1)) ** (1 / 3)))
    perturb = 0.2 if kind == "perturbed" else 0.0
    box = box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), shape=shape, perturb=perturb, seed=1)
    cells = np.random.default_rng(2).permutation(box.cells)
    return Mesh(box.vertices if kind == "perturbed" else box.vertices @ _SHEAR, cells)


def tet_box(nodes: float, degree: int) -> Mesh:
    """Return a perturbed box of tetrahedra with about that many nodes, its cells in random order."""
    num_node = int(lib.unda_element_num_node(lib.UNDA_TET, degree))
    n = max(1, round((nodes / num_node / 6) ** (1 / 3)))
    return numbered_box(6.0 * n**3 * num_node, num_node, "tet", "perturbed")


def cuda_device(args: Any) -> str:
    """Return the CUDA device that is asked for, or refuse."""
    device = choose_device(args.device)
    if device == "cpu":
        raise ArgumentError(f"--paper {args.paper} found no CUDA device, expected one: it times its kernels")
    return device


def set_wave(sim: DG) -> None:
    """Set all fields to a wave, cells by cells: `set` would take several states of memory on the host."""
    many = 8192
    for first in range(0, sim.mesh.num_elem, many):
        x = sim.mesh.vertices[sim.mesh.cells[first : first + many]].mean(axis=1)
        smooth = np.sin(0.7 * x[:, 0] + 0.3 * x[:, 1]) * np.cos(0.4 * x[:, 2])
        shape = (len(x), sim.num_node, len(sim.fields))
        values = np.broadcast_to(smooth[:, None, None], shape).astype(sim.dtype, order="C")
        sim._solver.write(lib.UNDA_STATE, first, values)


def simulation(mesh: Mesh, physics: str, case: Mapping[str, Any], device: str, **more: Any) -> DG:
    """Return a box of one material between free or perfectly conducting walls, at rest."""
    medium, wall = _MEDIA[physics]
    return DG(mesh, medium, boundary={"*": wall}, device=device, **case, **more)


def timed_steps(
    mesh: Mesh, physics: str, case: Mapping[str, Any], *, device: str, limits: Mapping[str, float],
    steps: int, seconds: float, runs: int = 10, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """Time steps, and on a CUDA device each function of the kernel.

    Parameters
    ----------
    mesh : Mesh
    physics : {"acoustic", "elastic", "maxwell"}
    case : dict
        Keywords of `DG`: degree, dtype, integrator, kernel, kernel_options.
    device : str
    limits : dict
        Of `device_limits`, from this run.
    steps, seconds : int, float
        Steps timed: at most so many, at most about so long [s].
    runs : int
        Launches of each function.
    **more
        Other keywords of `DG`.

    Returns
    -------
    dict
        The case, what `timed` returns, ``physics``, ``num_elem``, ``num_node``, ``ns_per_node`` (a step),
        ``functions``, of each its place under the roof and what it has of the device (`roofline.placed`),
        ``net_gflops``, all operations of these functions over the time of a step, and ``percent_of_peak``,
        what part of the measured multiply-add rate that is.
    """
    with simulation(mesh, physics, case, device, **more) as sim:
        set_wave(sim)
        sim.step(2)
        begin = time.perf_counter()
        sim.step(4)
        guess = (time.perf_counter() - begin) / 4
        row = timed(sim, int(np.clip(seconds / guess, 2, steps)), case, limits)
        profile = speed.kernel_seconds(sim, runs) if device != "cpu" else {}
        row |= {
            "physics": physics, "num_elem": mesh.num_elem, "num_node": sim.num_node,
            "kernel": row["kernel"] or "cpu",
            "ns_per_node": 1e6 * row["ms"] / mesh.num_elem / sim.num_node,
            "functions": roofline.placed(profile, limits, case["dtype"]),
        }  # fmt: skip
    flops = sum(one["flops"] * one["launches"] for one in profile.values() if "flops" in one)
    row["net_gflops"] = flops / row["ms"] / 1e6 if profile else row["gflops"]
    row["percent_of_peak"] = 1e11 * row["net_gflops"] / limits[f"fma{case['dtype'][-2:]}"]
    return row


def _compile(physics: str, case: Mapping[str, Any], device: int, capability: int) -> str | None:
    """Compile the kernels of a case into the cache; return what is wrong with it."""
    _cuda.prepare()
    both = (lib.UNDA_LSRK4, lib.UNDA_AB3)  # ab3 begins with steps of the other
    for integrator in both if case["integrator"] == "ab3" else both[:1]:
        options = _core.new_struct(
            "unda_solver_options", degree=case["degree"], device=device, integrator=integrator,
            physics=getattr(lib, f"UNDA_{physics.upper()}"), precision=precision(case["dtype"]),
            **kernel_choice(case["kernel"], case.get("kernel_options")),
        )  # fmt: skip
        resources = _core.new_struct("unda_kernel_resources")
        if lib.unda_kernel_compile(options, capability, resources):
            return _core.text(lib.unda_error())
    return None


def compile_ahead(cases: Iterable[tuple[str, Mapping[str, Any]]], device: str) -> None:
    """Compile the kernels of cases (physics, keywords of `DG`) into the cache, on all cores at once.

    What cannot be compiled is left to the simulation, whose error says why.
    """
    unique = {repr(case): case for case in cases}
    jobs = sorted(unique.values(), key=lambda case: -case[1]["degree"])  # the slow ones first
    workers = min(len(jobs), len(os.sched_getaffinity(0)))
    if workers < 2 or not _cuda.cache_dir():
        return
    print(f"compiling {len(jobs)} cases on {workers} cores", flush=True)
    where = device_number(device), int(device_info(device)["compute_capability"].replace(".", ""))
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for job in [pool.submit(_compile, physics, case, *where) for physics, case in jobs]:
            job.result()
