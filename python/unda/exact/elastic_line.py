"""Elastic waves of line sources in two dimensions: P-SV and SH, near field included.

The integral over y of g(t - R/c)/R, R^2 = r^2 + y^2, is 2 I[g], I[g] = int g(t - (r/c) cosh u) du over
u >= 0, and with D = (1/r) d/dr, by parts (sinh^2 u g and its derivatives vanish at both ends),
D I[g] = -(1/(c r)) int cosh u g' = -(1/c^2) int sinh^2 u g'',
D^n I[g] = (-1)^n/((2n - 3)!! c^(2n-1) r) int sinh^(2n-2) u cosh u g^(2n-1).
Late and near the line these are differences of larger parts: of the digits some (vp t/r)^4 eps are lost.

Not here: the function that users call (line.py), what fields are made of these (elastic_point.py).
Next: elastic_point.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import Source
from .base import Array
from .elastic_point import ElasticPointSource, Radial
from .line_integral import axis_number, line_integrals


class _LineRadial(Radial):
    """`Radial` for a line source: integrals along the line instead of g(t - r/c)/r."""

    def _power(self, n: int, c: float, first: int) -> Array:
        if (n, c, first) not in self._powers:
            self._powers[n, c, first] = 2.0 * self._integral(n, c, first)
        return self._powers[n, c, first]

    def _integral(self, n: int, c: float, first: int) -> Array:
        """Return D^n I[g], g the first-th derivative of h; none lower than the second is needed."""

        def along(order: int, weight: Any) -> Array:
            return line_integrals(self._function(order), self._r, self._t, c, weight)[0]

        if n == 0:
            return along(first, lambda cosh: 1.0)
        if n == 1 and first == 0:
            return -along(2, lambda cosh: cosh**2 - 1.0) / c**2
        odd = prod(range(1, 2 * n - 2, 2))
        found = along(first + 2 * n - 1, lambda cosh: (cosh**2 - 1.0) ** (n - 1) * cosh)
        return (-1.0) ** n * found / (odd * c ** (2 * n - 1) * self._r)


class ElasticLineSource(ElasticPointSource):
    """Stokes' solution integrated along an axis, along which nothing varies."""

    name = "line_source"
    _radial = _LineRadial

    def __init__(self, medium: Medium, source: Source, axis: str = "y") -> None:
        line = axis_number("axis", axis)
        super().__init__(medium, source, axis=axis)
        if self._deviatoric.any():
            raise ArgumentError(
                f"source is {source!r}; expected an isotropic moment: others are not known here"
            )
        if self._vs == 0.0 and self._force[line] != 0.0:
            raise ArgumentError(f"vs is 0: a fluid carries no force along {axis}, its line")
        self._plane = np.diag([float(i != line) for i in range(3)])
        self.constant_along = (axis,)
