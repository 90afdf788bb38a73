"""Points on a grid as a simulation needs them: sources and receivers.

Not here: weights of nodes around a point (csrc/fd/row.c), positions of fields (fd_scheme.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import field_names
from .._ranks import Ranks
from ..errors import ArgumentError
from ..problem.grid import HAIR, Grid
from ..problem.medium import Medium
from ..problem.source import Source
from .channels import Channels, single_names
from .fd_scheme import Scalar
from .fd_sides import flat_axes, in_dimensions, reach
from .grid_material import GridMaterial
from .points import Points, each_point


class GridPoints(Points):
    """Where sources and receivers of a simulation on a grid stand, and what they are there."""

    def __init__(
        self, grid: Grid, medium: Medium, material: GridMaterial, sides: Mapping[str, Any], scheme: Scalar,
        *, value_bytes: int, ranks: Ranks | None = None,
    ) -> None:  # fmt: skip
        self.medium, self._grid, self._material = medium, grid, material
        self._sides, self._scheme, self.value_bytes = sides, scheme, value_bytes
        self._ranks = ranks

    @property
    def traces(self) -> dict[str, str]:
        """See `Points`: without what takes derivatives."""
        return {name: unit for name, unit in self.medium.traces.items() if name in self._scheme.recorded}

    def _same(self, what: str, *values: Any) -> None:
        """Raise if processes that share the problem were given others."""
        if self._ranks is not None:
            self._ranks.same(what, *values)

    def _inside(self, points: ArrayLike, what: str) -> np.ndarray:
        if isinstance(points, (list, tuple)) and len(points) == 0:
            points = np.empty((0, 3))
        array = _core.as_array(points, np.float64, (None, 3), f"{what}s", finite=True, unit="m")
        cells, last = self._grid.locate(array), reach(self._grid, self._sides)
        end = np.add(self._grid.lower, last * self._grid.spacing)
        for i in np.flatnonzero(((cells < -HAIR) | (cells > last + HAIR)).any(axis=1))[:1]:
            place = ", ".join(f"{x:g}" for x in array[i])
            far = np.linalg.norm(array[i] - np.clip(array[i], self._grid.lower, end))
            raise ArgumentError(
                f"{what} {i} at ({place}) m lies outside the grid, {far:.4g} m "
                f"from it; expected points from {self._grid.lower} to {tuple(end.tolist())} m"
            )
        return array

    def _nodes(self, points: np.ndarray) -> np.ndarray:
        """Return the indices (n, 3) of the nearest nodes."""
        return np.asarray(np.rint(self._grid.locate(points)).astype(int) % self._grid.shape)

    def place(self, points: ArrayLike, what: str, side: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """See `Points`."""
        if side is not None:
            raise ArgumentError(f"side is {side!r}; grids have no sides of a point, expected None")
        array = self._inside(points, what)
        self._same(f"{what}s", array)
        return array, {"num_point": len(array), "points": array}

    def terms(self, sources: Sequence[Source]) -> tuple[dict[str, Any], Sequence[Source]]:
        """See `Points`."""
        points, owners, shares = each_point(sources)
        places = self._inside(points, "source")
        index = self._nodes(places)
        nodes = np.ravel_multi_index(tuple(index.T), self._grid.shape).tolist()
        rates: list[list[float]] = []
        for source in sources:  # the points of an array have the same
            one = self._scheme.rates(source.at_point(self.medium.physics), nodes[len(rates)], self._material)
            rates.extend([one] * len(source.shares()))
        given = np.array(rates) * shares[:, None]
        first = np.arange(len(owners) + 1, dtype=np.int64)
        self._same("sources", places, given)
        return {
            "num_source": len(owners), "first": first, "num_cell": len(owners), "places": places,
            "rates": given,
        }, owners  # fmt: skip

    def amplitude(self, source: Source, dt: float) -> Callable[[np.ndarray], Any]:
        """See `Points`."""
        return self._scheme.amplitude(source, dt)

    def at_points(self, placed: dict[str, Any]) -> np.ndarray:
        """See `Points`; of the nearest node."""
        index = self._nodes(placed["points"])
        made = np.empty((len(index), len(self.medium.parameters)))
        for i in np.unique(index[:, 0]).tolist():
            at = index[:, 0] == i
            made[at] = self._material.planes(i, 1)[0, index[at, 1], index[at, 2]]
        return made

    def channels(self, fields: Iterable[str] | None, placed: dict[str, Any]) -> Channels:
        """See `Points`."""
        chosen = single_names(self._scheme.fields if fields is None else fields)
        names = field_names(chosen, self._scheme.recorded, self._scheme.others)
        self._same("recorded fields", names)
        return Channels(self.medium, names, lambda: self.at_points(placed))

    def lags(self, dt: float) -> dict[str, float]:
        """See `Points`."""
        fields = self._scheme.fields
        return {name: self._scheme.lag(name) * dt for name in fields if self._scheme.lag(name)}

    def binder(self) -> Callable[[Any], Any]:
        """See `Points`."""
        grid, flat = self._grid, flat_axes(self._grid, self._sides)
        return lambda solution: in_dimensions(solution.bind(grid), flat)
