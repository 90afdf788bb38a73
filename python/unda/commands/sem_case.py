"""A point source in a numbered box of four materials, for spectral elements: one case, timed.

Not here: which cases are timed (bench_sem.py, bench_sem_komatitsch.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..method.sem import SEM
from ..problem.medium import Acoustic, Elastic, Medium
from ..problem.mesh import Mesh
from ..problem.source import MomentTensor, Source, VolumeInjection
from ..problem.timefunction import ricker
from .measuring import timed


def problem(physics: str, mesh: Mesh) -> tuple[Medium, Source, str]:
    """Return four materials, a source, and the field that is recorded."""
    kind = np.arange(mesh.num_elem) % 4
    place, f = (0.31, 0.42, 0.53), ricker(3.0)
    if physics == "acoustic":
        return Acoustic(rho=1 + 0.3 * kind, c=1 + 0.1 * kind), VolumeInjection(place, f.derivative), "p"
    solid = Elastic(rho=1 + 0.3 * kind, vp=1.8 + 0.1 * kind, vs=1 + 0.1 * kind)
    return solid, MomentTensor(place, f, np.diag([1.0, 2.0, 3.0])), "vz"


def simulation(
    mesh: Mesh, physics: str, case: Mapping[str, Any], device: Any, threads: int | None = None, **more: Any
) -> SEM:
    """Return the box between free sides, at rest, with its source and 100 receivers."""
    medium, source, field = problem(physics, mesh)
    sim = SEM(mesh, medium, boundary={"*": "free"}, device=device, threads=threads, **case, **more)
    sim.add_source(source)
    sim.add_receivers(np.random.default_rng(3).uniform(0.1, 0.9, (100, 3)), [field])
    return sim


def measure(
    mesh: Mesh,
    case: dict[str, Any],
    *,
    physics: str = "elastic",
    device: str,
    limits: dict[str, float],
    steps: int = 1000,
    seconds: float = 20.0,
    threads: int | None = None,
    profiled: bool = False,
) -> dict[str, Any]:
    """Time one case; a row of the table.

    Parameters
    ----------
    mesh : Mesh
    case : dict
        Keywords of `SEM`: degree, dtype, assembly, kernel_options.
    physics : {"acoustic", "elastic"}
    device : str
    limits : dict
        Of `device_limits`, from this run.
    steps, seconds : int, float
        Steps timed: at most so many, at most about so long [s].
    threads : int, optional
        CPU threads.
    profiled : bool
        Whether kernels are timed one by one; CUDA only.

    Returns
    -------
    dict
        The case, ``num_elem``, ``num_dof``, ``steps``, ``ms`` (a step), ``gdof_per_second``, ``gflops``,
        ``gbytes_per_second``, ``percent_of_limit``, ``setup_seconds``, ``compile_seconds``, ``memory``,
        ``kernel_options``, ``metric``, ``functions`` (None, or what `SEM.profile` returned).
    """
    begin = time.perf_counter()
    with simulation(mesh, physics, case, device, threads) as sim:
        setup = time.perf_counter() - begin
        sim.step(4)
        begin = time.perf_counter()
        sim.step(4)
        count = int(np.clip(4 * seconds / (time.perf_counter() - begin), 2, steps))
        sim.step(min(count, 20))
        row = timed(sim, count, case, limits)
        return {
            **row,
            "functions": sim.profile(10) if profiled else None,
            "num_elem": mesh.num_elem,
            "num_dof": sim._size()[0],
            "setup_seconds": setup,
            "memory": sim.memory,
            "kernel": row["kernel"] or "cpu",
            "metric": row["kernel_options"]["metric"],
        }
