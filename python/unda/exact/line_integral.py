"""Integrals of point-source fields along a line, for two dimensions.

Not here: the fields (line.py, elastic_line.py).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.timefunction import TimeFunction
from .base import Array

_GAUSS = np.polynomial.legendre.leggauss(16)


def axis_number(name: str, axis: Any) -> int:
    """Return 0, 1 or 2 for "x", "y" or "z", or raise."""
    if not isinstance(axis, str) or axis not in ("x", "y", "z"):
        raise ArgumentError(f"{name} is {axis!r}; expected 'x', 'y' or 'z'")
    return "xyz".index(axis)


def line_integrals(
    rate: TimeFunction, r: Array, t: Array, c: float, *weights: Callable[[Array], Any]
) -> list[Array]:
    """Return the integrals of weight(cosh u) rate(s) over u >= 0, s = t - (r/c) cosh u, for each weight.

    By Gauss's rule of 16 points on panels of the part where rate is not 0; of these there is one for each
    period of its highest frequency, and four more.
    """
    if rate.span is None or not np.isfinite(rate.span[0]):
        raise ArgumentError(f"{rate!r} has no known beginning, which a line source needs; use unda.sampled")
    begin, end = rate.span
    last = float(np.max(t, initial=begin))
    duration = min(end, last) - begin
    num = 4 + int(np.ceil(max(duration, 0.0) * (rate.fmax or 0.0)))
    if not rate.fmax:
        num = 64

    def bound(when: float) -> Array:
        ahead = np.where(when == inf, 1.0, (t - np.where(when == inf, 0.0, when)) * c / r)
        return np.arccosh(np.maximum(ahead, 1.0))

    first, width = bound(end), (bound(begin) - bound(end)) / num
    total = [np.zeros_like(width) for _ in weights]
    node, weight = (one.reshape(-1, *(1,) * width.ndim) for one in _GAUSS)
    for panel in range(num):
        high = np.cosh(first + (panel + 0.5 * (1.0 + node)) * width)
        part = 0.5 * weight * width * rate(t - r / c * high)
        for sum_of, of in zip(total, weights, strict=True):
            sum_of += (of(high) * part).sum(axis=0)
    return total
