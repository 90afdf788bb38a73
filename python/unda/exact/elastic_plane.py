"""Plane P and S waves in a homogeneous elastic medium.

Not here: the function that users call (plane.py), waves at an interface (elastic_interface.py).
Next: elastic_interface.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array
from .partial import Material, Partial, elastic, side
from .plane import PlaneWaveSolution


class ElasticPlaneWave(PlaneWaveSolution):
    """v = q g, sigma = -[lambda (d.q) I + mu (d q^T + q d^T)] g/c, with q = d (P) or q.d = 0 (S)."""

    physics = "elastic"
    name = "plane_wave"
    unit = "m/s"

    def __init__(self, medium: Medium, kind: str = "p", polarization: Any = None, **wave: Any) -> None:
        given = None if polarization is None else vector("polarization", polarization)
        super().__init__(medium, **wave, kind=kind, polarization=given)
        material, d = elastic("medium", medium), np.array(self._profile.direction)
        q = polarized(kind, given, material, d)
        self.speed = material.speed(kind)
        self._omega = 0.0 if self._profile.k is None else self._profile.omega(self.speed)
        self._wave = side(np.ones(1), [Partial.of(material, d / self.speed, q)])

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        values = self._wave.values(self._profile, self._omega, (x, y, z), t)
        return dict(zip(self.fields, values, strict=True))


def polarized(kind: Any, polarization: Any, material: Material, d: Array) -> Array:
    """Return the direction of motion in a wave that travels along d: d (P), or the part across it (S)."""
    if kind not in ("p", "s") or (kind == "s") != (polarization is not None):
        raise ArgumentError(
            f"kind is {kind!r} and polarization {polarization}; expected 'p', or 's' with a polarization"
        )
    if kind == "p":
        return d
    if material.vs == 0.0:
        raise ArgumentError("kind is 's', but the medium is a fluid (vs = 0), which has P waves only")
    given = np.array(polarization)
    q = given - (given @ d) * d
    length = float(np.linalg.norm(q))
    if length <= 1e-12 * max(float(np.linalg.norm(given)), 1e-300):
        raise ArgumentError(
            f"polarization is {polarization}, along the direction of travel {tuple(d.tolist())}; "
            "expected a part across it"
        )
    return np.asarray(q / length)
