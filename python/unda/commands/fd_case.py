"""The fair case of finite differences: a grid with its sides, a source, receivers, a state that is not zero.

Not here: which cases are timed (bench_fd.py, bench_fd_papers.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..fd import FD
from ..grid import Grid
from ..layer import CPML, Damping
from ..medium import EPS0, MU0, Acoustic, Elastic, Maxwell, Medium
from ..source import CurrentDipole, PointForce, Source, VolumeInjection
from ..timefunction import ricker

__all__ = ["MEDIA", "measure", "simulation"]

#: Of each physics the parameters that may be another number at each node; the first is "variable".
MEDIA: dict[str, tuple[str, ...]] = {
    "scalar": ("c",),
    "acoustic": ("rho c",),
    "elastic": ("rho vp vs",),
    "maxwell": ("eps", "eps mu sigma"),
}
_MEAN = {
    "rho": 1000.0, "c": 1500.0, "vp": 3000.0, "vs": 1700.0, "eps": 4 * EPS0, "mu": MU0, "sigma": 0.0,
}  # fmt: skip
_SPREAD = {"c": 500.0, "sigma": 1e-4}  # where it is not a third of the mean
_SPACING = {"scalar": 10.0, "acoustic": 10.0, "elastic": 10.0, "maxwell": 0.1}
#: Of each physics its parameters, what is set at first, what receivers record, a wall and the top.
_ABOUT: dict[str, tuple[str, str, tuple[str, ...], str, str]] = {
    "scalar": ("rho c", "p", ("p",), "rigid", "free"),
    "acoustic": ("rho c", "p", ("p",), "rigid", "free"),
    "elastic": ("rho vp vs", "sxx", ("vx", "vy", "vz"), "fixed", "free"),
    "maxwell": ("eps mu sigma", "ez", ("ex", "ey", "ez"), "pec", "pec"),
}


def _spread(plane: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return one plane (1, ny, nz) at each x (n, 1, 1): billions of random numbers take minutes."""
    return np.broadcast_to(plane, (len(x), *plane.shape[1:]))


def _medium(physics: str, varies: str, shape: Sequence[int]) -> Medium:
    """Return a medium of which these parameters are another number at each node."""
    values: dict[str, Any] = {name: _MEAN[name] for name in _ABOUT[physics][0].split()}
    wave = np.sin(0.03 * np.arange(shape[1] * shape[2], dtype=np.float32)).reshape(1, *shape[1:])
    if physics != "scalar":  # smooth along y, too: noise lets a CPML grow
        y, z = np.arange(shape[1], dtype=np.float32), np.arange(shape[2], dtype=np.float32)
        wave = (np.sin(0.05 * y)[:, None] * np.sin(0.03 * z))[None]
    for name in varies.split() if varies != "constant" else ():
        most = _SPREAD.get(name, _MEAN[name] / 3)
        mean = most if name == "sigma" else _MEAN[name]  # never below 0
        values[name] = np.broadcast_to(mean + most * wave, tuple(shape))
    kinds: dict[str, Any] = {"scalar": Acoustic, "acoustic": Acoustic, "elastic": Elastic, "maxwell": Maxwell}
    return kinds[physics](**values)


def _source(physics: str, place: np.ndarray) -> Source:
    if physics == "elastic":
        return PointForce(place, ricker(10.0), (1, 2, 3))
    if physics == "maxwell":
        return CurrentDipole(place, ricker(5e7), (1, 2, 3))
    return VolumeInjection(place, ricker(10.0))


def simulation(
    shape: Sequence[int],
    case: Mapping[str, Any],
    device: str,
    *,
    threads: int | None = None,
    options: Mapping[str, int] | None = None,
    receivers: int = 1000,
    window: str | int | None = "auto",
) -> FD:
    """Return the fair case, with a state that is not zero.

    Parameters
    ----------
    shape : sequence of int
        Nodes of the user's grid.
    case : dict
        physics ("scalar", or a staggered one), order, dtype, kernel; varies ("constant", or the names of
        parameters that are given at each node); layers (nodes on five sides under a free, for Maxwell's
        equations a conducting top; 0: walls).
    device : str
    threads : int, optional
        CPU threads.
    options : dict of str to int, optional
        Parts of the plan.
    receivers : int
        Their number.
    window : "auto", None or int
        Rows that come at once to a device that does not hold the state.
    """
    physics = case["physics"]
    _, first, fields, wall, top = _ABOUT[physics]
    grid = Grid(shape, _SPACING[physics])
    absorber = Damping if physics == "scalar" else CPML
    layer: Any = absorber(width=case["layers"]) if case["layers"] else wall
    sim = FD(
        grid, _medium(physics, case["varies"], shape), order=case["order"], dtype=case["dtype"],
        scheme="scalar" if physics == "scalar" else "staggered", kernel=case["kernel"], device=device,
        boundary={"zmax": top if case["layers"] else wall, "*": layer}, threads=threads,
        kernel_options=options, window=window,
    )  # fmt: skip
    random = np.random.default_rng(3)
    plane = random.uniform(-1, 1, shape[1:]).astype(np.float32)
    state: dict[str, Any] = {first: lambda x, y, z: _spread(plane[None], x)}
    sim.set(**state)
    size = np.array(grid.size)
    sim.add_source(_source(physics, 0.47 * size))
    sim.add_receivers(random.uniform(0.05, 0.95, (receivers, 3)) * size, fields, every=4)
    return sim


def measure(
    shape: Sequence[int],
    case: Mapping[str, Any],
    *,
    device: str,
    limits: Mapping[str, float],
    seconds: float = 3.0,
    threads: int | None = None,
    options: Mapping[str, int] | None = None,
    receivers: int = 1000,
    window: str | int | None = "auto",
) -> dict[str, Any]:
    """Time one case; a row of the table.

    Parameters
    ----------
    shape, case, device, threads, options, receivers, window
        As for `simulation`.
    limits : dict
        Of `device_limits`, from this run.
    seconds : float
        About so long [s].

    Returns
    -------
    dict
        The case, ``shape``, ``steps``, ``ms`` (a step), what `FD.rate` gives, ``setup_seconds``,
        ``compile_seconds``, ``kernel_options``,
        ``window``, ``host_bytes``, ``device_bytes``.
    """
    begin = time.perf_counter()
    with simulation(
        shape, case, device, threads=threads, options=options, receivers=receivers, window=window
    ) as sim:
        setup = time.perf_counter() - begin
        launch = sim._launch_steps
        sim.step(max(8, launch))
        begin = time.perf_counter()
        sim.step(max(8, launch))
        guess = (time.perf_counter() - begin) / max(8, launch)
        count = max(int(np.clip(seconds / guess, 8, 10_000)) // launch, 1) * launch
        begin = time.perf_counter()
        sim.step(count)
        step = (time.perf_counter() - begin) / count
        info = sim._info()
        return {
            **case,
            "shape": list(shape),
            "padded": list(sim.padded),
            "steps": count,
            "ms": 1e3 * step,
            **sim.rate(step, limits),
            "flops_per_cell": int(info.flops),
            "bytes_per_cell": int(info.bytes_per_elem),
            "setup_seconds": setup,
            "compile_seconds": info.compile_seconds,
            "kernel": sim.config["kernel"],
            "kernel_options": sim.config["kernel_options"],
            "window": sim.config["window"],
            "host_bytes": sim.memory["host"],
            "device_bytes": sim.memory["device"],
        }
