"""A self-test of a few seconds: a plane wave by each method and physics, on one device.

The bounds follow from the numbers of a run alone. With theta = omega T, d the size of a cell along the wave,

    space, polynomials of degree p:   e <= 4 (1 + theta) (k d / 2)^(p+1) / (2^p (p+1)!)
    space, differences of order 2M:   e <= (1 + theta) (k h)^(2M) / 2^(2M)
    time, leapfrog and Newmark:       e <= (1 + theta) (omega dt)^2 / 24
    time, lsrk4:                      e <= (1 + theta) (omega dt)^4 / 300

The first is the error of interpolation at Chebyshev's points, with four times it for those of the method; the
second exceeds the first term that order 2M leaves, whose factor is (M!)^2 / (2M+1)! or less per axis; the
third and the fourth are the phase of sin(omega' dt / 2) = omega dt / 2, and 1/120 - 1/200 of the fifth power.

Not here: what was found on this machine (info.py), orders and larger cases (verify.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import exact
from ..errors import Error
from ..method.dg import DG
from ..method.fd import FD
from ..method.sem import SEM
from ..problem.grid import Grid
from ..problem.medium import Acoustic, Elastic, Maxwell
from ..problem.mesh import box_mesh

_CELLS, _DEGREE = 4, 5
_NODES, _ORDER = 20, 8
_ROUNDING = 1e-5  # of float32: some hundred roundings of 6e-8
_K = 2 * np.pi * np.array([1.0, 1.0, 0.0])


class Outcome(NamedTuple):
    """What one case gave; `error` is NaN where it could not run, and `text` then says why."""

    name: str
    error: float
    bound: float
    text: str = ""

    @property
    def passed(self) -> bool:
        """Whether the error is a number within its bound."""
        return self.error <= self.bound


def _media() -> dict[str, exact.ExactSolution]:
    """Return a wave of each physics; what errors are relative to is of order 1 in these units."""
    return {
        "acoustic": exact.plane_wave(Acoustic(rho=1.2, c=0.9), k=_K),
        "elastic": exact.plane_wave(
            Elastic(rho=1.1, vp=1.8, vs=1.0), k=_K, kind="s", polarization=(1, -1, 1)
        ),
        "maxwell": exact.plane_wave(Maxwell(eps=1.5, mu=1.2), k=_K, polarization=(1, -1, 1)),
    }


def _speed(wave: exact.ExactSolution) -> float:
    return float(getattr(wave, "speed", wave.medium.speed_min(Grid((1, 1, 1), 1.0))))


def _mesh_run(method: Any, shape: str, wave: exact.ExactSolution, device: str) -> tuple[float, float]:
    """Return error and bound of a run on a periodic mesh of a box of one by one wavelengths along x and y."""
    mesh = box_mesh((0, 0, 0), (1, 1, 1 / _CELLS), (_CELLS, _CELLS, 1), shape=shape, periodic=(True,) * 3)
    with method(mesh, wave.medium, degree=_DEGREE, device=device) as sim:
        error, theta = _run(sim, wave)
        # A brick's diagonal lies along the wave.
        k, d = float(np.linalg.norm(_K)), math.sqrt(2) / _CELLS
        space = 4 * (k * d / 2) ** (_DEGREE + 1) / (2**_DEGREE * math.factorial(_DEGREE + 1))
        step = k * _speed(wave) * sim.dt
        taken = step**4 / 300 if method is DG else step**2 / 24
    return error, (1 + theta) * (space + taken) + _ROUNDING


def _grid_run(
    scheme: Literal["scalar", "staggered"], wave: exact.ExactSolution, device: str
) -> tuple[float, float]:
    """Return error and bound of a run on a periodic grid of the same box."""
    h = 1 / _NODES
    sides = {"*": "periodic"}
    grid = Grid((_NODES, _NODES, 4), h)
    with FD(grid, wave.medium, order=_ORDER, scheme=scheme, boundary=sides, device=device) as sim:
        error, theta = _run(sim, wave)
        k = float(np.linalg.norm(_K))
        step = k * _speed(wave) * sim.dt
        bound = (1 + theta) * ((k * h / 2) ** _ORDER + step**2 / 24) + _ROUNDING
    return error, bound


def _run(sim: Any, wave: exact.ExactSolution) -> tuple[float, float]:
    """Run for a quarter of a period; return the largest relative error and omega T."""
    omega = float(np.linalg.norm(_K)) * _speed(wave)
    sim.set(wave)
    sim.run(until=0.5 * np.pi / omega, progress=False)
    errors = sim.error(wave, relative=True)
    return max(errors.values()), omega * sim.t


def cases(device: str) -> dict[str, Callable[[], tuple[float, float]]]:
    """Return the runs by name."""
    found: dict[str, Callable[[], tuple[float, float]]] = {}
    for physics, wave in _media().items():
        for shape in ("tet", "hex"):
            found[f"DG {shape} {physics}"] = lambda s=shape, w=wave: _mesh_run(DG, s, w, device)  # type: ignore[misc]
        if physics != "maxwell":
            found[f"SEM hex {physics}"] = lambda w=wave: _mesh_run(SEM, "hex", w, device)  # type: ignore[misc]
        found[f"FD staggered {physics}"] = lambda w=wave: _grid_run("staggered", w, device)  # type: ignore[misc]
    found["FD scalar acoustic"] = lambda: _grid_run("scalar", _media()["acoustic"], device)
    return found


def _outcome(name: str, run: Callable[[], tuple[float, float]]) -> Outcome:
    try:
        return Outcome(name, *run())
    except Error as error:
        return Outcome(name, math.nan, math.nan, f"{type(error).__name__}: {error}")


def self_test(device: str) -> tuple[list[Outcome], float]:
    """Run all cases on a device; return what they gave, and the seconds taken."""
    begin = time.perf_counter()
    runs = cases(device)
    # Kernels that were not compiled before are compiled side by side.
    with ThreadPoolExecutor(1 if device == "cpu" else len(runs)) as pool:
        found = list(pool.map(_outcome, runs, runs.values()))
    return found, time.perf_counter() - begin
