"""Which values a monitor has: cells of a mesh, or a box of a grid. Next: monitor.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import vector
from .._units import plain
from ..errors import ArgumentError, FileError


class Cells:
    """Cells of a mesh; where processes share it, of the own ones."""

    axes = None

    def __init__(self, sim: Any, cells: np.ndarray | None, asked: np.ndarray | None = None) -> None:
        num = sim._num_elem
        self.members: dict[str, Any] = {} if cells is None else {"num_elem": len(cells), "elem": cells}
        self.cells = np.arange(num) if cells is None else cells
        self.own = self.shape = (len(self.cells), sim.num_node)
        self._sim, self._asked = sim, asked
        self._told = "in all cells" if cells is None else f"in {len(cells)} of {num} cells"

    def whole(self, sums: np.ndarray) -> np.ndarray:
        """Return the values of all processes, or those of own cells."""
        return sums

    def saved(self, sums: np.ndarray) -> tuple[list[Any], dict[str, Any]]:
        """Return what a header says, and arrays, those of the whole mesh in the process that writes."""
        sim, cells, kept = self._sim, self.cells, sums
        if sim.ranks is not None:
            cells = mine = sim.mesh.own_cells[self.cells]
            num = sim.mesh.num_whole
            rows = sim.ranks.gathered(np.ascontiguousarray(np.moveaxis(sums, 1, 0)), mine, num)
            here = np.zeros(sim._num_elem, np.uint8)
            here[self.cells] = 1
            there = sim.ranks.gathered(here, sim.mesh.own_cells, num)
            if there is not None:
                cells = np.flatnonzero(there)
                kept = np.moveaxis(rows[cells], 0, 1)
        return [], {"sums": kept} if self.members == {} else {"sums": kept, "cells": cells}

    @property
    def file_shape(self) -> tuple[int, int]:
        """Rows and values of the arrays in a file."""
        sim = self._sim
        return sim._num_whole if self._asked is None else len(self._asked), sim.num_node

    def own_part(self, sums: np.ndarray) -> np.ndarray:
        """Return those values of a file that this process has."""
        if self._sim.ranks is None:
            return sums
        mine = self._sim.mesh.own_cells[self.cells]
        return sums[:, mine if self._asked is None else np.searchsorted(self._asked, mine)]

    def __repr__(self) -> str:
        return self._told


class Box:
    """Nodes of a grid between two corners."""

    cells = None

    def __init__(self, sim: Any, first: list[int], axes: list[np.ndarray], told: str) -> None:
        self.axes = tuple(axes)
        self.shape = tuple(len(axis) for axis in axes)
        self.members: dict[str, Any] = {"first": first, "num": list(self.shape)}
        own = range(sim.grid.shape[0]) if sim.ranks is None else sim.own_planes
        planes = sum(first[0] <= x < first[0] + self.shape[0] for x in own)
        self.own = planes, *self.shape[1:]
        self._sim, self._told = sim, told

    def whole(self, sums: np.ndarray) -> np.ndarray:
        """Return the values of all processes, of which each has its planes."""
        return sums if self._sim.ranks is None else np.asarray(self._sim.ranks.united(sums))

    def saved(self, sums: np.ndarray) -> tuple[list[Any], dict[str, Any]]:
        """Return what a header says, and arrays, those of all processes."""
        return [self.members["first"], self.members["num"]], {"sums": self.whole(sums)}

    @property
    def file_shape(self) -> tuple[int, ...]:
        """Values of the arrays in a file."""
        return self.shape

    def own_part(self, sums: np.ndarray) -> np.ndarray:
        """Return those values of a file that this process has: the library skips those of others."""
        return sums

    def __repr__(self) -> str:
        return self._told


def region_of(sim: Any, field: str, region: Any) -> Cells | Box:
    """Return the region of a monitor of a field: all, a box, or on a mesh the name of a tag or cells."""
    region = plain("region", region, "m")
    grid = getattr(sim, "grid", None)
    if grid is not None:
        return _box(sim, field, region)
    if region is None:
        return Cells(sim, None)
    cells = _cells(sim, region)
    if sim._most(len(cells)) == 0.0:
        raise ArgumentError(f"region {region!r} has no cells, expected one that holds the centroid of some")
    return Cells(sim, cells)


def saved_region(sim: Any, field: str, box: list[Any], cells: np.ndarray | None) -> Cells | Box:
    """Return the region that a file describes: first nodes and their numbers, or cells of the whole mesh."""
    if getattr(sim, "grid", None) is None:
        return Cells(sim, None) if cells is None else Cells(sim, _numbered(sim, cells), cells)
    axes = sim._axes(field)
    whole = all(
        isinstance(one, list) and len(one) == 3 and all(isinstance(i, int) for i in one) for one in box
    ) and len(box) == 2 and all(
        0 <= at and 0 < num and at + num <= len(axis) for at, num, axis in zip(*box, axes, strict=True)
    )  # fmt: skip
    if not whole:
        raise FileError(
            f"the region of a monitor is {box}, expected the first nodes and numbers of nodes of a box"
        )
    parts = [axis[first : first + num] for first, num, axis in zip(*box, axes, strict=True)]
    return Box(sim, box[0], parts, _size_of(parts))


def _cells(sim: Any, region: Any) -> np.ndarray:
    mesh = sim.mesh
    if isinstance(region, str):
        if region not in mesh.tag_names:
            raise ArgumentError(f"region is {region!r}, expected a tag of {list(mesh.tag_names)}")
        return np.flatnonzero(mesh.tags[: sim._num_elem] == mesh.tag_names[region])
    found = np.asarray(region)
    if found.shape == (2, 3):
        low, high = _corners(region)
        centroids = mesh.centroids[: sim._num_elem]
        return np.flatnonzero(((centroids >= low) & (centroids <= high)).all(axis=1))
    if found.ndim != 1 or found.dtype.kind not in "iu" or len(found) == 0:
        raise ArgumentError(
            f"region is {region!r}, expected two corners (x, y, z) of a box, a tag, or numbers of cells"
        )
    return _numbered(sim, found)


def _numbered(sim: Any, found: np.ndarray) -> np.ndarray:
    """Return those of some cells of the whole mesh that this process has, by its own numbers, ascending."""
    cells = np.unique(found).astype(np.int64)
    if len(cells) != len(found) or cells[0] < 0 or cells[-1] >= sim._num_whole:
        raise ArgumentError(
            f"region: {len(found)} cells from {cells[0]} to {cells[-1]}, expected different ones, 0 to "
            f"{sim._num_whole - 1}"
        )
    return cells if sim.ranks is None else np.flatnonzero(np.isin(sim.mesh.own_cells, cells))


def _corners(region: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.array(vector(f"region[{i}]", one, "m")) for i, one in enumerate(region))
    if (low > high).any():
        raise ArgumentError(f"region is {region!r}, expected the lower corner first")
    return low, high


def _box(sim: Any, field: str, region: Any) -> Box:
    axes = sim._axes(field)
    if region is None:
        return Box(sim, [0, 0, 0], axes, "at all nodes")
    if isinstance(region, str) or np.shape(region) != (2, 3):
        raise ArgumentError(f"region is {region!r}, expected two corners (x, y, z) [m] of a box")
    near = [1e-9 * h for h in sim.grid.spacing]
    low, high = _corners(region)
    # Along an axis with one node a field half a cell beside it is meant by the node's place too.
    begins = [nodes if len(nodes) == 1 else axis for nodes, axis in zip(sim.grid.axes(), axes, strict=True)]
    inside = [
        np.flatnonzero((axis >= a - e) & (begin <= b + e))
        for axis, begin, a, b, e in zip(axes, begins, low, high, near, strict=True)
    ]
    if not all(len(one) for one in inside):
        raise ArgumentError(f"region {region!r} has no nodes of {field}, expected one that has some")
    first = [int(one[0]) for one in inside]
    parts = [axis[one] for axis, one in zip(axes, inside, strict=True)]
    return Box(sim, first, parts, _size_of(parts))


def _size_of(parts: list[np.ndarray]) -> str:
    return f"at {' x '.join(str(len(one)) for one in parts)} nodes"
