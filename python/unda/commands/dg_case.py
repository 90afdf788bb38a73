"""Cases that benchmarks of DG share: boxes of cells, a wave in one material, the time of its kernels.

Not here: which are timed (bench_dg*.py), the realistic case (bench_dg.py).
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

from .. import _cuda
from .._core import lib
from ..errors import ArgumentError, Error
from ..limits import choose_device
from ..method import speed
from ..method.dg import DG
from ..problem.medium import Acoustic, Elastic, Maxwell, Medium
from ..problem.mesh import Mesh, box_mesh
from . import roofline
from .measuring import timed

_MOST_WORKERS = 16  # processes that compile, each with half a gigabyte on the device
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


def simulation(mesh: Mesh, physics: str, case: Mapping[str, Any], device: Any, **more: Any) -> DG:
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


def _compile(physics: str, case: Mapping[str, Any], device: str) -> None:
    """Compile into the cache all that a few steps of a case need."""
    with simulation(tet_box(1, case["degree"]), physics, case, device) as sim:
        sim.step(3)  # ab3 begins with steps of the other integrator


def _tried(compile_one: Callable[..., None], *given: Any) -> None:
    try:
        compile_one(*given)
    except Error:
        pass


def compile_ahead(
    cases: Iterable[tuple[str, Mapping[str, Any]]], device: str, compile_one: Callable[..., None] = _compile
) -> None:
    """Compile the kernels of cases (physics, keywords of `DG`) into the cache, on all cores at once.

    What cannot run is left to the simulation that is timed, whose error says why. compile_one: a function of
    a module, which compiles one of them.
    """
    unique = {repr(case): case for case in cases}
    jobs = sorted(unique.values(), key=lambda case: -case[1]["degree"])  # the slow ones first
    workers = min(len(jobs), len(os.sched_getaffinity(0)), _MOST_WORKERS)
    if workers < 2 or not _cuda.cache_dir():
        return
    print(f"compiling {len(jobs)} cases on {workers} cores", flush=True)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for job in [pool.submit(_tried, compile_one, physics, case, device) for physics, case in jobs]:
                job.result()
        except BrokenProcessPool:
            print("a process that compiles has ended: the rest is compiled as it comes", flush=True)
