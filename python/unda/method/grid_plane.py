"""A plane of nodes of a grid, for pictures of finite differences.

Not here: drawing it (plotting.py), grids (grid.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..io.plotting import Plane
from ..problem.grid import chunks


def plane(sim: Any, field: str, axis: int, value: float) -> Plane:
    """Return a field's places nearest to a plane of constant x, y or z, see `Simulation._plane`."""
    grid, terms = sim.grid, _terms(sim, field)
    low, high, h = grid.lower, grid.upper, grid.spacing
    offset = sim._scheme.offset(terms[0][1])
    corner = [x + half * step for x, half, step in zip(low, offset, h, strict=True)]
    if not low[axis] - 0.5 * h[axis] <= value <= high[axis] + 0.5 * h[axis]:
        raise ArgumentError(
            f"{'xyz'[axis]} is {value} m, expected {low[axis]} to {high[axis]} m: on the grid"
        )
    at = int(np.clip(np.rint((value - corner[axis]) / h[axis]), 0, grid.shape[axis] - 1))

    own = sim.own_planes

    def nodes(first: int, count: int) -> np.ndarray:
        """Return planes of x of the field or the sum of terms."""
        if len(terms) == 1:
            return one(terms[0][1], first, count)
        total = sum(factor * one(name, first, count).astype(np.float64) for factor, name in terms)
        return np.asarray(total, sim.dtype)

    def one(name: str, first: int, count: int) -> np.ndarray:
        """Return planes of x, 0 where another process has them."""
        out = np.zeros((count, *grid.shape[1:]), sim.dtype)
        begin, end = max(first, own.start), min(first + count, own.stop)
        if begin < end:
            sim._solver.read(sim._arrays(name), begin, out[begin - first : end - first])
        return out

    def parameter(name: str) -> np.ndarray:
        column = list(sim.medium.parameters).index(name)
        return _cut(grid, axis, at, lambda first, count: sim._material.planes(first, count)[..., column])

    def read() -> np.ndarray:
        with sim._guard.visit():
            cut = _cut(grid, axis, at, nodes)
            return cut if sim.ranks is None else sim.ranks.united(cut)

    across, up = (i for i in range(3) if i != axis)
    extent = (
        corner[across] - 0.5 * h[across], corner[across] + (grid.shape[across] - 0.5) * h[across],
        corner[up] - 0.5 * h[up], corner[up] + (grid.shape[up] - 0.5) * h[up],
    )  # fmt: skip
    return Plane(
        "xyz"[axis], corner[axis] + at * h[axis], extent, read, parameter,
        (grid.shape[across], grid.shape[up]),
    )  # fmt: skip


def _terms(sim: Any, field: str) -> tuple[tuple[float, str], ...]:
    """Return factors and fields whose sum is a field, or what is derived from some at the same nodes."""
    made = sim.medium.derived.get(field) if field in sim._points.traces else None
    if made is None:
        sim._arrays(field)  # refuses what there is not
        return ((1.0, field),)
    return tuple((factor, name) for factor, name, _ in made.terms)


def _cut(grid: Any, axis: int, at: int, values: Callable[[int, int], np.ndarray]) -> np.ndarray:
    """Return plane number `at` (up, across) of values(first, count), whole planes of x."""
    if axis == 0:
        return values(at, 1)[0].T
    parts = (values(first, count).take(at, axis=axis) for first, count, _ in chunks(grid))
    return np.concatenate(list(parts)).T
