"""The wave of a current dipole in full space, near field included.

Not here: what users call (point.py), the source itself (source.py).
Next: cavity.py.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import CurrentDipole, Source
from .base import Array, ExactSolution
from .plane_maxwell import insulator
from .point import away_from, driving_function


class MaxwellPointSource(ExactSolution):
    """Hertz's dipole of moment p, p' = f: fields of p/r^3, f/r^2 and f'/r at the retarded time."""

    physics = "maxwell"
    name = "point_source"
    singular = True
    constant_along: tuple[str, ...] | None = ()

    def __init__(self, medium: Medium, source: Source) -> None:
        f = driving_function(source, medium)
        if not isinstance(source, CurrentDipole):
            raise ArgumentError(f"source is {source!r}; expected unda.CurrentDipole")
        super().__init__(medium, source=source)
        self._eps, mu = insulator(medium)
        self._c = 1.0 / np.sqrt(self._eps * mu)
        self._moment, self._f, self._rate = f.integral, f, f.derivative
        self._position, self._direction = source.position, source.direction

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        offset, r = away_from(self._position, (x, y, z))
        nx, ny, nz = (one / r for one in offset)
        dx, dy, dz = self._direction
        u = t - r / self._c
        f, far = self._f(u), self._rate(u) / (self._c * r)
        # Jackson (1999), section 9.2, with exp(-i omega u) p replaced by its time function
        h = (far + f / r**2) / (4.0 * pi)
        near = (self._moment(u) / r**3 + f / (self._c * r**2)) / (4.0 * pi * self._eps)
        far = far / (4.0 * pi * self._eps * self._c)
        radial = (3.0 * near + far) * (nx * dx + ny * dy + nz * dz)
        return {
            "ex": radial * nx - (near + far) * dx,
            "ey": radial * ny - (near + far) * dy,
            "ez": radial * nz - (near + far) * dz,
            "hx": h * (dy * nz - dz * ny),
            "hy": h * (dz * nx - dx * nz),
            "hz": h * (dx * ny - dy * nx),
        }
