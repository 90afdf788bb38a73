"""The benchmark case of finite differences: a grid with its sides, a source, receivers, a nonzero state.

Not here: which cases are timed (bench_fd.py, bench_fd_papers.py).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core, _cuda
from .._core import lib
from ..method._options import kernel_choice
from ..method.fd import FD
from ..method.fd_scheme import Scalar, Staggered
from ..problem.grid import Grid
from ..problem.layer import CPML, Damping
from ..problem.medium import EPS0, MU0, Acoustic, Elastic, Maxwell, Medium
from ..problem.source import CurrentDipole, PointForce, Source, VolumeInjection
from ..problem.timefunction import ricker
from .measuring import timed

#: Some 1.6e9 nodes, z in one block of kernel diamond and x in whole waves of towers, by order.
DIAMOND_SHAPES = {
    2: (1841, 3879, 224), 4: (1578, 3960, 256), 6: (1578, 5280, 192), 8: (1578, 6337, 160),
}  # fmt: skip
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
#: What layers can be; of the staggered schemes CPML alone.
LAYERS: dict[str, type[CPML | Damping]] = {"CPML": CPML, "Damping": Damping}

_SPACING = {"scalar": 10.0, "acoustic": 10.0, "elastic": 10.0, "maxwell": 0.1}
#: Of each physics its parameters, what is set at first, what receivers record, a wall and the top.
_ABOUT: dict[str, tuple[str, str, tuple[str, ...], str, str]] = {
    "scalar": ("rho c", "p", ("p",), "rigid", "free"),
    "acoustic": ("rho c", "p", ("p",), "rigid", "free"),
    "elastic": ("rho vp vs", "sxx", ("vx", "vy", "vz"), "fixed", "free"),
    "maxwell": ("eps mu sigma", "ez", ("ex", "ey", "ez"), "pec", "pec"),
}


def _medium(physics: str, varies: str, shape: Sequence[int]) -> Medium:
    """Return a medium of which these parameters are another number at each node."""
    values: dict[str, Any] = {name: _MEAN[name] for name in _ABOUT[physics][0].split()}
    wave = np.sin(0.03 * np.arange(shape[1] * shape[2], dtype=np.float32)).reshape(1, *shape[1:])
    if physics != "scalar":  # smooth along y, too: noise lets a CPML grow
        y, z = np.arange(shape[1], dtype=np.float32), np.arange(shape[2], dtype=np.float32)
        wave = (np.sin(0.05 * y)[:, None] * np.sin(0.03 * z))[None]
    for name in varies.split() if varies != "constant" else ():
        most = _SPREAD.get(name, _MEAN[name] / 3)
        mean = most if name == "sigma" else _MEAN[name]  # so that it is never negative
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
        equations a conducting top; 0: walls), layer ("CPML", also where it is not said;
        of the scalar scheme "Damping", too).
    device : str
    threads : int, optional
        CPU threads.
    options : dict of str to int, optional
        Parts of the kernel.
    receivers : int
        Their number.
    window : "auto", None or int
        Rows that come at once to a device that does not hold the state.
    """
    physics = case["physics"]
    _, first, fields, wall, top = _ABOUT[physics]
    grid = Grid(shape, _SPACING[physics])
    layer: Any = LAYERS[case.get("layer", "CPML")](width=case["layers"]) if case["layers"] else wall
    sim = FD(
        grid, _medium(physics, case["varies"], shape), order=case["order"], dtype=case["dtype"],
        scheme="scalar" if physics == "scalar" else "staggered", kernel=case["kernel"], device=device,
        boundary={"zmax": top if case["layers"] else wall, "*": layer}, threads=threads,
        kernel_options=options, window=window,
    )  # fmt: skip
    random = np.random.default_rng(3)
    plane = random.uniform(-1, 1, shape[1:]).astype(np.float32)
    state: dict[str, Any] = {first: np.broadcast_to(plane, tuple(shape))}  # billions would take minutes
    sim.set(**state)
    size = np.array(grid.size)
    sim.add_source(_source(physics, 0.47 * size))
    sim.add_receivers(random.uniform(0.05, 0.95, (receivers, 3)) * size, fields, every=4)
    return sim


def compile_kernel(
    shape: Sequence[int], case: Mapping[str, Any], options: Mapping[str, int], capability: int
) -> float:
    """Compile what steps a case into the cache of kernels, without a device; return how long it took [s].

    Parameters
    ----------
    shape, case, options
        As for `simulation`.
    capability : int
        Compute capability, 90 for 9.0.
    """
    physics, scalar, layers = case["physics"], case["physics"] == "scalar", case["layers"]
    kind = Scalar if scalar else Staggered
    wall, top = (getattr(lib, f"UNDA_BOUNDARY_{word.upper()}") for word in _ABOUT[physics][3:])
    side = lib.UNDA_BOUNDARY_ABSORBING if layers else wall
    fd = _core.new_struct(
        "unda_fd_options", scheme=kind.code, order=case["order"], shape=list(shape),
        spacing=[_SPACING[physics]] * 3, speed_max=1.0, uniform=int(scalar and case["varies"] == "constant"),
        layer=[layers] * 6, reflection=[0.5] * 6, stretch=[float(case.get("layer") != "Damping")] * 6,
    )  # fmt: skip
    made = _core.new_struct(
        "unda_solver_options", method=lib.UNDA_FD, fd=fd, precision=int(case["dtype"] == "float64"),
        physics=getattr(lib, f"UNDA_{'ACOUSTIC' if scalar else physics.upper()}"),
        boundary=np.array([side] * 5 + [top if layers else wall], np.int32),
        **kernel_choice(case["kernel"], options),
    )  # fmt: skip
    found = _core.new_struct("unda_kernel_resources")
    _cuda.prepare()
    _core.check(lib.unda_kernel_compile(made, capability, found))
    return float(found.compile_seconds)


def _warm_up(sim: FD, seconds: float) -> int:
    """Step until the pace is known, and return how many steps take about so long: whole launches.

    A launch that is not full takes nearly as long as one that is. The first steps of all have work of their
    own, which only a long launch hides.
    """
    launch = sim._stepping.launch
    few = -(-8 // launch) * launch
    for _ in range(2):
        begin = time.perf_counter()
        sim.step(few)
        spent = time.perf_counter() - begin
        if spent > seconds / 4:
            break
    return max(int(np.clip(seconds / spent * few, 8, 10_000)) // launch, 1) * launch


def measure(
    shape: Sequence[int],
    case: Mapping[str, Any],
    *,
    device: str,
    limits: Mapping[str, float],
    seconds: float = 3.0,
    **keywords: Any,
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
    with simulation(shape, case, device, **keywords) as sim:
        setup = time.perf_counter() - begin
        row = timed(sim, _warm_up(sim, seconds), case, limits)
        info = sim._solver.info()
        return {
            **row,
            "shape": list(shape),
            "padded": list(sim.padded),
            "flops_per_cell": int(info.flops),
            "bytes_per_cell": int(info.bytes_per_elem),
            "setup_seconds": setup,
            "window": sim.config["window"],
            "host_bytes": sim.memory["host"],
            "device_bytes": sim.memory["device"],
        }
