"""Plane waves that have begun where they come in before the first step: only the rest of these comes in.

Not here: when that is on a grid (incident_line.py), plane waves (problem/incident.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exact import ExactSolution
from ..problem.incident import PlaneWave
from ..problem.mesh import Mesh

_BEFORE = 1e-3  # of its peak, by which a wave may begin at once


def missed(f: Any, begin: float) -> tuple[float, float]:
    """Return how much of a time function is over before a time, as a part of its peak, and for how long [s].

    (0, 0) where f does not tell when it begins.
    """
    first, last = f.span or (0.0, np.inf)
    if not np.isfinite([first, last]).all():
        return 0.0, 0.0
    times = np.linspace(first, last, 2001)
    values = np.abs(f(times))
    return float(values[times < begin].max(initial=0.0) / values.max()), max(0.0, begin - first)


def warnings_of(part: float, seconds: float) -> list[str]:
    """Return the warning of a wave of which that was missed: one, or none."""
    if part <= _BEFORE:
        return []
    return [
        f"the plane wave begins {seconds:.4g} s before the first step, with {100 * part:.3g} % of "
        "its peak: f is that at the origin of coordinates; give f.delayed(..) as much, or start "
        "earlier, sim.set(t=..)"
    ]


def first_delay(wave: PlaneWave, mesh: Mesh, solution: ExactSolution) -> float:
    """Return how much later than at the origin of coordinates f is where a wave comes in first [s]."""
    if wave.region is not None:
        number = [mesh.tag_names[tag] for tag in wave.region]
        corners = mesh.cells[np.isin(mesh.tags, number)]
    else:
        number = [mesh.boundary_names.index(name) for name in wave.scatterer or ()]
        corners = mesh.boundary_faces[np.isin(mesh.boundary_ids, number)]
    return float(_delays(solution, mesh.vertices[np.unique(corners)]).min())


def _delays(solution: ExactSolution, points: np.ndarray) -> np.ndarray:
    """Return how much later than at the origin f is at points (n, 3) [s].

    A field of a wave with f(t) = t is t - delay times what it is with f = 1.
    """
    one, delayed = (
        type(solution)(solution.medium, **{**solution._arguments, "f": f, "amplitude": 1.0})
        for f in (np.ones_like, lambda t: t)
    )
    fields = {name: float(value) for name, value in one(0.0, 0.0, 0.0, 0.0).items()}
    name = max(fields, key=lambda key: abs(fields[key]))
    x, y, z = points.T
    return -np.asarray(delayed(x, y, z, 0.0)[name]) / fields[name]
