"""Partitions: which part of a mesh each cell belongs to, and what the parts have in common.

Not here: cutting the curve, and the mesh of a part (``csrc/mesh/partition.c``, ``csrc/mesh/part.c``);
programs that find other partitions (``_graph_partition.py``). Next: ``local_mesh.py``.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import choice, integer
from .._core import lib
from ..errors import ArgumentError
from ._shapes import MAX_DEGREE, SHAPES, SIZES
from .medium import Acoustic, Elastic, Maxwell

if TYPE_CHECKING:
    from .local_mesh import LocalMesh
    from .mesh import Mesh

_FIELDS = {"acoustic": Acoustic.fields, "elastic": Elastic.fields, "maxwell": Maxwell.fields}
_BYTES = {"float32": 4, "float64": 8}


def cell_weights(mesh: Mesh, weights: ArrayLike | None) -> np.ndarray | None:
    """Return weights of cells as an array for C, or raise."""
    if weights is None:
        return None
    return _core.as_array(weights, np.float64, (mesh.num_elem,), "weights")


def curve_parts(mesh: Mesh, num: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the parts that ranges of the space-filling curve are."""
    part = np.empty(mesh.num_elem, np.int32)
    to = _core.pointer(part, writable=True)
    _core.check(lib.unda_mesh_partition(mesh._handle, num, _core.pointer(weights), to))
    return part


class Partition:
    """A mesh divided into parts, one for each device or process.

    `Mesh.partition` makes one; any other assignment of cells to parts will do as well.

    Parameters
    ----------
    mesh : Mesh
    part : array_like of int, shape (num_elem,)
        Part of each cell, 0, 1, 2, ...; none may be without cells.
    weights : array_like, shape (num_elem,), optional
        What each cell costs, in any unit; 1 if omitted.

    Attributes
    ----------
    mesh : Mesh
    part : ndarray of int32, shape (num_elem,)
        Part of each cell; read-only, like the other arrays.
    num : int
        How many parts there are.
    cells, weights : ndarray, shape (num,)
        Cells of each part, and the sum of their weights.
    ghosts : ndarray, shape (num,)
        Cells of other parts that share a face with one of this part, across periodic sides too.
    cut_faces : ndarray, shape (num,)
        Faces that each part shares with others; each counts for both of its parts.
    neighbors : tuple of tuple of int
        Parts with which each part shares faces.
    imbalance : float
        Weight of the heaviest part over the mean, at least 1: all others wait for it.

    Raises
    ------
    ArgumentError
        Numbers of another type or shape, below 0; a part without cells; weights that are not positive.

    See Also
    --------
    Mesh.partition : makes one.
    scatter : gives parts to processes.

    Examples
    --------
    >>> import unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
    >>> unda.Partition(mesh, mesh.centroids[:, 0] > 0.5)
    2 parts of 64 hexahedra, 16 cut faces; the heaviest part has 1.000 of the mean weight
    part  cells  weight  ghosts  cut faces  neighbors
       0     32      32      16         16  1
       1     32      32      16         16  0
    """

    def __init__(self, mesh: Mesh, part: ArrayLike, *, weights: ArrayLike | None = None) -> None:
        found = np.asarray(part)
        if found.dtype == bool:
            found = found.astype(np.int32)
        self.mesh = mesh
        self.part = np.array(_core.as_array(found, np.int32, (mesh.num_elem,), "part"))
        given = cell_weights(mesh, weights)
        for worst in (int(np.argmin(self.part)), int(np.argmax(self.part))):
            if not 0 <= self.part[worst] < mesh.num_elem:
                raise ArgumentError(
                    f"part[{worst}] is {self.part[worst]}, expected 0 .. {mesh.num_elem - 1}: every part "
                    "has cells"
                )
        self.cells = np.bincount(self.part)
        self.num = len(self.cells)
        if not self.cells.all():
            empty = np.flatnonzero(self.cells == 0)
            raise ArgumentError(
                f"{len(empty)} of {self.num} parts have no cells, first {empty[:3].tolist()}; expected each "
                "of 0, 1, 2, ... up to the last one"
            )
        if given is not None and not (np.isfinite(given).all() and (given > 0).all()):
            worst = int(np.argmin(np.isfinite(given) & (given > 0)))
            raise ArgumentError(f"weights[{worst}] is {given[worst]}, expected a finite positive number")
        self.weights = np.bincount(self.part, given, self.num) if given is not None else self.cells
        for array in (self.part, self.cells, self.weights):
            array.flags.writeable = False

    @cached_property
    def _cuts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Own part, other part and other cell of each side of a cut face."""
        neighbors = self.mesh.neighbors
        own, face = np.nonzero(neighbors >= 0)
        other = neighbors[own, face] // SIZES[self.mesh.shape][1]
        cut = self.part[own] != self.part[other]
        return self.part[own[cut]], self.part[other[cut]], other[cut]

    @cached_property
    def cut_faces(self) -> np.ndarray:
        """Faces that each part shares with others (num,)."""
        return np.bincount(self._cuts[0], minlength=self.num)

    @cached_property
    def ghosts(self) -> np.ndarray:
        """Cells of other parts that share a face with one of each part (num,)."""
        own, _, other = self._cuts
        pairs = np.unique(own.astype(np.int64) * self.mesh.num_elem + other)
        return np.bincount(pairs // self.mesh.num_elem, minlength=self.num)

    @cached_property
    def neighbors(self) -> tuple[tuple[int, ...], ...]:
        """Parts with which each part shares faces."""
        own, others, _ = self._cuts
        pairs = np.unique(own.astype(np.int64) * self.num + others)
        rows = np.split(pairs % self.num, np.searchsorted(pairs // self.num, np.arange(1, self.num)))
        return tuple(tuple(row.tolist()) for row in rows)

    @property
    def imbalance(self) -> float:
        """Weight of the heaviest part over the mean."""
        return float(self.weights.max() / self.weights.mean())

    def traffic(self, degree: int, physics: str = "acoustic", precision: str = "float32") -> np.ndarray:
        """Return the bytes that each part sends in a stage of `DG`, and receives as well.

        Cut faces x nodes of a face x fields x bytes of a number: traces travel, never whole cells.

        Parameters
        ----------
        degree : int
            Of the polynomials.
        physics : {"acoustic", "elastic", "maxwell"}, optional
            With 4, 9 and 6 fields.
        precision : {"float32", "float64"}, optional

        Returns
        -------
        ndarray of int64, shape (num,)

        Raises
        ------
        ArgumentError
            Degree, physics or precision that `DG` does not have.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
        >>> mesh.partition(2).traffic(degree=3).tolist()  # 16 faces of 16 nodes with 4 fields of 4 bytes
        [4096, 4096]
        """
        shape = self.mesh.shape
        degree = integer("degree", degree, 1, MAX_DEGREE[shape])
        choice("physics", physics, list(_FIELDS))
        choice("precision", precision, list(_BYTES))
        nodes = lib.unda_element_num_face_node(SHAPES[shape], degree)
        return self.cut_faces * (nodes * len(_FIELDS[physics]) * _BYTES[precision])

    def local(self, which: int) -> LocalMesh:
        """Return the mesh of one part: its cells, and its ghosts behind them.

        Parameters
        ----------
        which : int
            Number of the part.

        Returns
        -------
        LocalMesh
            A mesh that knows the faces which it shares with other parts.

        Raises
        ------
        ArgumentError
            No such part.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
        >>> mesh.partition(2).local(0)
        LocalMesh(part 0 of 2: 32 hexahedra, 16 of them at 16 ghosts; 16 cut faces, of parts [1])
        """
        from .local_mesh import part_mesh

        return part_mesh(self, integer("which", which, 0, self.num - 1))

    def plot(
        self, *, x: float | None = None, y: float | None = None, z: float | None = None,
        ax: Any = None, num: int = 300,
    ) -> Any:  # fmt: skip
        """Draw the outer faces of the mesh, or a slice through it, in a colour for each part.

        Parameters
        ----------
        x, y, z : float, optional
            Place of a slice across that axis [m]; without any the outer faces are drawn.
        ax : matplotlib axes, optional
            Where; of projection "3d" for outer faces.
        num : int, optional
            Pixels of a slice along its longer side.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ArgumentError
            More than one of `x`, `y`, `z`; a slice outside the mesh.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4))
        >>> ax = mesh.partition(4).plot(z=0.5)  # doctest: +SKIP
        """
        from ..io.partition_picture import plot_outside, plot_slice

        given = {name: value for name, value in (("x", x), ("y", y), ("z", z)) if value is not None}
        if len(given) > 1:
            raise ArgumentError(f"a slice at {given}, expected one of x, y, z, or none for the outer faces")
        if given:
            return plot_slice(self, *given.popitem(), ax, integer("num", num, 2))
        return plot_outside(self, ax)

    def __repr__(self) -> str:
        heads = ("part", "cells", "weight", "ghosts", "cut faces", "neighbors")
        rows = [
            (
                str(i), str(self.cells[i]), f"{self.weights[i]:.6g}", str(self.ghosts[i]),
                str(self.cut_faces[i]), " ".join(map(str, self.neighbors[i])),
            )
            for i in range(self.num)
        ]  # fmt: skip
        widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(5)]
        lines = [
            f"{self.num} part{'s' if self.num > 1 else ''} of {self.mesh.num_elem} {self.mesh._kind}, "
            f"{int(self.cut_faces.sum()) // 2} cut faces; the heaviest part has {self.imbalance:.3f} of the "
            "mean weight"
        ]
        for row in (heads, *rows):
            cells = [text.rjust(width) for text, width in zip(row, widths, strict=False)]
            lines.append("  ".join([*cells, row[5]]).rstrip())
        return "\n".join(lines)
