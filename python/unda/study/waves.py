"""A plane wave that travels around a periodic box: the run that measures errors, and that checks a plan.

Not here: the curves that were measured (benchmarks/error_curves.py, curves.py), exact solutions (exact/).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import exact
from ..method.dg import DG
from ..method.fd import FD
from ..method.sem import SEM
from ..problem.grid import Grid
from ..problem.medium import Acoustic, Elastic, Maxwell
from ..problem.mesh import box_mesh

#: Nodes of a cell of degree N; six tetrahedra are a brick.
_NODES = {
    "tet": lambda n: 6 * (n + 1) * (n + 2) * (n + 3) // 6,
    "hex": lambda n: (n + 1) ** 3,
}
_NEAR = 0.01  # of the nodes that are asked for
_RATIO = math.sqrt(3.0)  # vp / vs


class Way(NamedTuple):
    """Errors of a wave on its way."""

    nodes: float  # in a wavelength
    dt: float  # [s]
    way: list[float]  # wavelengths travelled
    errors: list[float]  # relative, of the worst group of fields


def medium_of(method: str, wave: str) -> Any:
    """Return a medium in which a wave has the speed 1, or None if a method does not have it."""
    if wave == "acoustic":
        return Acoustic(rho=1.0, c=1.0)
    if method == "FD scalar" or (wave == "maxwell" and method.startswith("SEM")):
        return None
    if wave == "maxwell":
        return Maxwell(eps=1.0, mu=1.0)
    vs = 1.0 if wave == "elastic s" else 1.0 / _RATIO
    return Elastic(rho=1.0, vp=_RATIO * vs, vs=vs)


def spacing_of(shape: str, degree: int, brick: float) -> float:
    """Return the node spacing (V / Np)^(1/3) [m] of bricks with an edge [m], as `Report` has it."""
    return brick / float(_NODES[shape](degree)) ** (1 / 3)


def brick_of(shape: str, degree: int, spacing: float) -> float:
    """Return the edge [m] of bricks with a node spacing [m]."""
    return spacing * float(_NODES[shape](degree)) ** (1 / 3)


def _wave(wave: str, medium: Any, k: np.ndarray) -> Any:
    if wave.startswith("elastic"):
        kind = wave[-1]
        return exact.plane_wave(
            medium, k=k, kind=kind, polarization=(0.3, 1.0, -0.7) if kind == "s" else None
        )
    if wave == "maxwell":
        unit = k / np.linalg.norm(k)
        return exact.plane_wave(medium, k=k, polarization=np.cross(unit, (0.3, 1.0, -0.7)))
    return exact.plane_wave(medium, k=k)


def _errors(sim: Any, wave: Any) -> float:
    """Return the relative error of the worst group of fields; of SEM, of velocity."""
    found = sim.error(wave, relative=True)
    groups = sim.medium.field_groups.values()
    if isinstance(sim, SEM):
        groups = [("vx", "vy", "vz")]
    norms = [math.sqrt(sum(found[name] ** 2 for name in group if name in found)) for group in groups]
    return max(norms)


def _fit(cells: float, waves: range, least: bool) -> tuple[int, int]:
    """Return how many wavelengths a box has, and cells in them, so that one has nearly (at least) so many."""
    pairs = [
        (wave, max(1, math.ceil(wave * cells - 1e-6) if least else round(wave * cells))) for wave in waves
    ]
    off = [abs(count / wave / cells - 1) for wave, count in pairs]
    return min(zip(off, pairs, strict=True), key=lambda one: max(one[0], _NEAR))[1]


def travel(
    method: str, degree: int, wave: str, direction: str, nodes: float, way: float, *,
    dt_factor: float = 1.0, steps: float | None = None, adds: float | None = None, moments: int = 10,
    most: int = 1, at_least: bool = False, device: str = "cpu", dtype: Any = "float64",
) -> Way:  # fmt: skip
    """Take a wave of length 1 and speed 1 around a periodic box.

    Parameters
    ----------
    method : {"DG tet", "DG hex", "SEM hex", "FD staggered", "FD scalar"}
    degree : int
        Or order of FD.
    wave : {"acoustic", "elastic p", "elastic s", "maxwell"}
    direction : {"axis", "diagonal"}
        (1, 0, 0) or (1, 1, 1).
    nodes : float
        In a wavelength; what fits the box is as near as can be, and is returned.
    way : float
        Wavelengths to travel.
    dt_factor : float
        Fraction of the method's default step.
    steps : float, optional
        Steps a period instead.
    adds : float, optional
        Makes the step of leapfrog so short that it adds no more to the error in a wavelength.
    moments : int
        At which the error is looked at.
    most : int
        Wavelengths of the box; so many as `nodes` asks for.
    at_least : bool
        The box has not fewer nodes in a wavelength, rather than nearly so many.
    """
    family, kind = method.split()
    medium = medium_of(method, wave)
    # A wavelength along the axis, or along each axis a period of the diagonal's phase.
    side = 1.0 if direction == "axis" else math.sqrt(3.0)
    k = 2 * np.pi * (np.array([1.0, 0, 0]) if direction == "axis" else np.ones(3) / math.sqrt(3.0))
    if family == "FD":
        waves, count = _fit(side * nodes, range(1, most + 1), at_least)
        h = waves * side / count
        across = count if direction == "diagonal" else 1 if kind == "scalar" else 2
        given: Any = Grid((count, across, across), h), medium
        options: dict[str, Any] = {"order": degree, "scheme": kind, "boundary": {"*": "periodic"}}
        make: Any = FD
    else:
        brick = brick_of(kind, degree, 1.0 / nodes)
        least = 2 if direction == "axis" and brick >= 0.35 else 1
        waves, count = _fit(side / brick, range(least, max(least, most) + 1), at_least)
        edge = waves * side / count
        h = spacing_of(kind, degree, edge)
        across = 1 if direction == "axis" else count
        mesh = box_mesh(
            (0, 0, 0), (waves * side, across * edge, across * edge), (count, across, across), shape=kind,
            periodic=(True,) * 3,
        )  # fmt: skip
        given, options, make = (mesh, medium), {"degree": degree}, DG if family == "DG" else SEM
    with make(*given, **options, dtype=dtype, device=device) as sim:
        dt = sim.dt
    # Where the box has smaller cells than were asked for, the step is as much shorter.
    dt = dt_factor * dt if steps is None else min(1.0, nodes * h) / steps
    if adds is not None:
        dt = min(dt, math.sqrt(24 * adds / (2 * np.pi) ** 3))  # 2 pi (omega dt)^2 / 24
    exactly = _wave(wave, medium, k)
    with make(*given, **options, dtype=dtype, device=device, dt=dt) as sim:
        sim.set(exactly)
        ways, errors = [], []
        for i in range(1, moments + 1):
            sim.run(until=way * i / moments, progress=False)
            ways.append(sim.t)
            errors.append(_errors(sim, exactly))
        return Way(1.0 / h, sim.dt, ways, errors)
