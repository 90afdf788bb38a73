"""Regular grids: positions of nodes, and blocks of nodes for evaluating a medium.

Only numbers are stored, so a grid of 10^10 nodes costs nothing. Not here: absorbing layers, which lie
outside the user's grid, and files (model_file.py). Next: medium.py, `Medium.on`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import integer, number, vector
from .._core import as_array
from .._units import plain
from ..errors import ArgumentError

SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
_CHUNK = 2**20  # nodes that Python processes at a time
HAIR = 1e-6  # tolerance, in cells, for points on a side, which rounding may move


@dataclass(frozen=True, init=False, repr=False)
class Grid:
    """A regular grid of nodes; arrays on it have shape (nx, ny, nz), z fastest, z pointing up.

    Pressure, normal stresses and the medium are given at the nodes ``origin + i * spacing``,
    i = 0 … n - 1; velocities and shear stresses, E and H are shifted by half a cell along some axes
    (`axes`). Absorbing layers lie outside. Grids are immutable; equal ones compare equal, and can be keys of
    a dict.

    Parameters
    ----------
    shape : sequence of 3 ints
        Nodes along x, y, z, each at least 1.
    spacing : float or sequence of 3 floats
        Distance of neighbours along x, y, z [m]; a number applies to all three. Along an axis of one node it
        only locates points: `unda.FD` then solves in two dimensions, per metre along that axis.
    origin : sequence of 3 floats, optional
        Coordinates of node (0, 0, 0), the lowest one [m].

    Attributes
    ----------
    shape : tuple of int
        (nx, ny, nz).
    spacing, origin : tuple of float
        As above [m].

    Raises
    ------
    ArgumentError
        Wrong numbers, 2^63 nodes or more, or a spacing that is lost in rounding so far from 0.

    See Also
    --------
    read_model : a grid with the values of a file.
    FD : finite differences on it.

    Examples
    --------
    >>> import unda
    >>> grid = unda.Grid((101, 101, 51), 10.0, origin=(0, 0, -500))
    >>> grid.num_node, grid.upper
    (520251, (1000.0, 1000.0, 0.0))
    >>> vp = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 - 0.6 * z).on(grid)[:, 1]
    >>> float(vp.reshape(grid.shape)[0, 0, 0])
    1800.0
    """

    shape: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]

    def __init__(
        self, shape: Sequence[int], spacing: float | Sequence[float], *, origin: Sequence[float] = (0, 0, 0)
    ) -> None:
        object.__setattr__(self, "shape", _node_counts(shape))
        object.__setattr__(self, "spacing", _spacings(spacing))
        object.__setattr__(self, "origin", vector("origin", origin, "m"))
        if self.num_node >= 2**63:
            raise ArgumentError(f"shape is {self.shape}, {self.num_node:.3g} nodes; expected less than 2^63")
        for axis, (low, high, h) in enumerate(zip(self.lower, self.upper, self.spacing, strict=True)):
            if not np.isfinite(high):
                raise ArgumentError(f"axis {axis} goes from {low} to {high} m; expected finite coordinates")
            least = float(np.spacing(max(abs(low), abs(high)))) / HAIR
            if self.shape[axis] > 1 and h < least:
                raise ArgumentError(
                    f"spacing[{axis}] is {h} m on an axis from {low} to {high} m; expected at least "
                    f"{least:.3g} m, or it is lost in rounding"
                )

    @property
    def num_node(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    @property
    def lower(self) -> tuple[float, float, float]:
        """Coordinates of the lowest node [m]: the origin."""
        return self.origin

    @property
    def upper(self) -> tuple[float, float, float]:
        """Coordinates of the highest node [m]: origin + (n - 1) spacing."""
        x, y, z = (o + (n - 1) * h for o, n, h in zip(self.origin, self.shape, self.spacing, strict=True))
        return x, y, z

    @property
    def size(self) -> tuple[float, float, float]:
        """Distances from the lowest to the highest node [m]: (n - 1) spacing."""
        x, y, z = ((n - 1) * h for n, h in zip(self.shape, self.spacing, strict=True))
        return x, y, z

    def axes(self, offset: Sequence[float] = (0, 0, 0)) -> tuple[NDArray[Any], ...]:
        """Return the coordinates along x, y and z.

        Parameters
        ----------
        offset : sequence of 3 floats, optional
            Added to the indices: (0.5, 0, 0) gives the positions of vx, (0.5, 0.5, 0) those of sxy.

        Returns
        -------
        tuple of ndarray, shapes (nx,), (ny,), (nz,)
            origin + (i + offset) spacing [m].

        Raises
        ------
        ArgumentError
            If the offset is not three finite numbers.

        Examples
        --------
        >>> import unda
        >>> unda.Grid((3, 1, 2), 10.0).axes((0.5, 0, 0))[0].tolist()
        [5.0, 15.0, 25.0]
        """
        shift = vector("offset", offset, "cells")
        parts = zip(self.origin, self.shape, self.spacing, shift, strict=True)
        return tuple(o + (np.arange(n) + d) * h for o, n, h, d in parts)

    def locate(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return the fractional indices of points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            Coordinates [m].

        Returns
        -------
        ndarray of float64, shape (n, 3)
            (x - origin) / spacing: 0 is the lowest node, n - 1 the highest; beyond these outside.

        Raises
        ------
        ArgumentError
            Wrong shape, or not finite.

        Examples
        --------
        >>> import unda
        >>> unda.Grid((11, 11, 11), 10.0).locate([[25.0, 0.0, 101.0]]).tolist()
        [[2.5, 0.0, 10.1]]
        """
        points = as_array(points, np.float64, (None, 3), "points", finite=True, unit="m")
        return (points - np.array(self.origin)) / np.array(self.spacing)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Say which points lie on the grid, between its outermost nodes.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            Coordinates [m].

        Returns
        -------
        ndarray of bool, shape (n,)
            True also within a millionth of a cell outside, which may be rounding.

        Raises
        ------
        ArgumentError
            Wrong shape, or not finite.

        Examples
        --------
        >>> import unda
        >>> unda.Grid((11, 11, 11), 10.0).contains([[25, 0, 100], [25, 0, 101]]).tolist()
        [True, False]
        """
        index = self.locate(points)
        last = np.array(self.shape) - 1
        return np.all((index >= -HAIR) & (index <= last + HAIR), axis=1)

    def blocks(self, num_node: int = 2**18) -> Iterator[Block]:
        """Cut the nodes into blocks that follow each other in the order of arrays.

        Parameters
        ----------
        num_node : int, optional
            Most nodes of a block, which bounds the memory for processing one at a time.

        Returns
        -------
        iterator of Block
            `Medium.on` takes each like a mesh. For whole planes see `slab`.

        Raises
        ------
        ArgumentError
            If `num_node` is not an integer of at least 1.

        Examples
        --------
        >>> import numpy as np, unda
        >>> grid, medium = unda.Grid((5, 4, 3), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
        >>> c = np.empty(grid.shape, np.float32)
        >>> for block in grid.blocks(16):
        ...     c.reshape(-1)[block.begin : block.end] = medium.on(block)[:, 1]
        """
        step = integer("num_node", num_node, 1)
        starts = range(0, self.num_node, step)
        return (Block(self, begin, min(begin + step, self.num_node)) for begin in starts)

    def slab(self, first: int, count: int = 1) -> Block:
        """Return the nodes of whole planes of constant x.

        Parameters
        ----------
        first : int
            The first plane, 0 … nx - 1.
        count : int, optional
            How many planes.

        Returns
        -------
        Block
            Which `Medium.on` takes like a mesh; its ``shape`` is (count, ny, nz).

        Raises
        ------
        ArgumentError
            If there are no such planes.

        Examples
        --------
        >>> import unda
        >>> grid, medium = unda.Grid((5, 4, 3), 10.0), unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + x)
        >>> slab = grid.slab(2, 2)
        >>> medium.on(slab)[:, 1].reshape(slab.shape)[:, 0, 0].tolist()
        [1520.0, 1530.0]
        """
        nx, ny, nz = self.shape
        begin = integer("first", first, 0, nx - 1)
        end = begin + integer("count", count, 1, nx - begin)
        return Block(self, begin * ny * nz, end * ny * nz)

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able description; ``Grid(**grid.to_config())`` is the grid again."""
        return {"shape": list(self.shape), "spacing": list(self.spacing), "origin": list(self.origin)}

    def __repr__(self) -> str:
        return f"unda.Grid({self.shape}, {self.spacing}, origin={self.origin})"


@dataclass(frozen=True)
class Block:
    """Nodes of a grid that follow each other in C order, as a medium sees the cells of a mesh.

    Parameters
    ----------
    grid : Grid
        The whole.
    begin, end : int
        The first node, and one past the last, counted as in ``array.reshape(-1)``.

    Attributes
    ----------
    shape : tuple of int
        (planes, ny, nz) if the block is made of whole planes, else (nodes,).
    """

    grid: Grid
    begin: int
    end: int

    @property
    def num_elem(self) -> int:
        """Number of nodes."""
        return self.end - self.begin

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one parameter's values: `Medium.on` returns them flat, ``reshape`` takes this."""
        _, ny, nz = self.grid.shape
        whole = self.begin % (ny * nz) == self.end % (ny * nz) == 0
        return (self.num_elem // (ny * nz), ny, nz) if whole else (self.num_elem,)

    @property
    def centroids(self) -> NDArray[np.float64]:
        """Coordinates of the nodes (num_elem, 3) [m], those of `Grid.axes`."""
        _, ny, nz = self.grid.shape
        row, last = self.begin // nz, -(-self.end // nz)  # whole rows along z, cut afterwards
        rows = np.arange(row, last)
        places = np.empty((len(rows), nz, 3))
        index = rows // ny, rows % ny, np.arange(nz)
        for axis, (i, o, h) in enumerate(zip(index, self.grid.origin, self.grid.spacing, strict=True)):
            column = o + i * h
            places[..., axis] = column if axis == 2 else column[:, np.newaxis]
        return places.reshape(-1, 3)[self.begin - row * nz : self.end - row * nz]

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the values of these nodes (num_elem,), from an array of the grid's shape."""
        plane = prod(self.grid.shape[1:])
        first, last = self.begin // plane, -(-self.end // plane)
        values = array[first:last].reshape(-1)
        return values[self.begin - first * plane : self.end - first * plane]

    def node(self, i: int) -> tuple[int, ...]:
        """Return the indices (ix, iy, iz) of node i of the block."""
        return tuple(int(index) for index in np.unravel_index(self.begin + i, self.grid.shape))


def chunks(grid: Grid) -> Iterator[tuple[int, int, Block]]:
    """Cut a grid into whole planes of constant x: the first, their number, their nodes."""
    step = max(1, _CHUNK // (grid.shape[1] * grid.shape[2]))
    for first in range(0, grid.shape[0], step):
        count = min(step, grid.shape[0] - first)
        yield first, count, grid.slab(first, count)


def _node_counts(shape: Any) -> tuple[int, int, int]:
    listed = isinstance(shape, Iterable) and not isinstance(shape, (str, bytes, dict))
    counts = list(shape) if listed else []
    if len(counts) != 3:
        raise ArgumentError(f"shape is {shape!r}; expected three integers >= 1, the nodes along x, y, z")
    nx, ny, nz = (integer(f"shape[{axis}]", count, 1) for axis, count in enumerate(counts))
    return nx, ny, nz


def _spacings(spacing: Any) -> tuple[float, float, float]:
    spacing = plain("spacing", spacing, "m")
    scalar = isinstance(spacing, str) or (isinstance(spacing, np.ndarray) and spacing.ndim == 0)
    if scalar or not isinstance(spacing, Iterable):
        h = number("spacing", spacing, "m", positive=True)
        return h, h, h
    steps = vector("spacing", spacing, "m")
    dx, dy, dz = (number(f"spacing[{axis}]", h, "m", positive=True) for axis, h in enumerate(steps))
    return dx, dy, dz
