"""Meshes: boxes and arrays.

A `Mesh` holds a connected, checked mesh of the C library and hands out its arrays in the user's
numbering. Not here: files (``io/mesh_file.py``) and connecting cells (``csrc/mesh``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import choice, integer
from .._core import lib
from .._fixed import Fixed
from ..errors import ArgumentError, MeshError
from ._mesh_arguments import boundary_arrays, cells_array, periodic_pairs, tag_table, with_names
from ._shapes import MAX_DEGREE, SHAPES, SIZES
from .grid import SIDES

if TYPE_CHECKING:
    from .partition import Partition


class Mesh(Fixed):
    """A mesh of tetrahedra (or hexahedra), connected and checked.

    Parameters
    ----------
    vertices : array_like, shape (num_vertex, 3)
        Coordinates [m].
    cells : array_like of int, shape (num_elem, 4) or (num_elem, 8)
        Vertices of each cell. A tetrahedron is right-handed: (v1 - v0) x (v2 - v0) points to v3's
        side. Hexahedra as in Gmsh and VTK: the bottom counterclockwise seen from above, then the
        top.
    tags : array_like of int, shape (num_elem,), optional
        Material tag of each cell; 0 if omitted.
    boundaries : dict of {str: array_like of int}, optional
        Outer faces by name, each (n, 3) or (n, 4) vertex numbers in any order. All outer faces must
        be there. If omitted, all outer faces make up one boundary named "boundary".
    periodic : sequence of (str, str), optional
        Pairs of boundaries that a translation maps onto each other.
    tag_names : dict of {str: int}, optional
        Names of tags; a tag without a name goes by its number, "0".
    curved : array_like, shape (num_elem, 27, 3), optional
        Nodes of curved hexahedra [m], which are quadratic along each axis: at 0, 1/2 and 1 of it, the first
        axis (from vertex 0 to 1) fastest, the third (0 to 4) slowest. Both sides of a face must agree.
    fix_orientation : bool, optional
        Renumber inverted cells instead of refusing them.

    Attributes
    ----------
    shape : str
        "tet" or "hex".
    num_elem, num_vertex : int
        Counts.
    tag_names : dict of {str: int}
        Number of each named tag.
    boundary_names : tuple of str
        Names of the boundaries, the periodic ones included.
    periodic : tuple of (str, str)
        Periodic pairs.
    lower, upper : tuple of float
        Bounding box [m].
    volume, min_insphere, min_quality : float
        Total volume [m3], smallest insphere diameter [m], least quality.
    worst_elem : int
        The cell of the least quality.
    origin : dict
        How it was made: "box_mesh" with its arguments, "read_mesh" with the path, or "arrays".

    Raises
    ------
    ArgumentError
        Arrays of a wrong type or shape, unknown names.
    MeshError
        Not a valid mesh; the message has the count and the first ids of what is wrong.

    See Also
    --------
    box_mesh, mapped_mesh, read_mesh : what makes meshes.

    Examples
    --------
    >>> import unda
    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mesh = unda.Mesh(corners, [[0, 1, 2, 3]])
    >>> mesh.num_elem, mesh.boundary_names
    (1, ('boundary',))
    """

    _otherwise = "make another mesh, unda.Mesh(mesh.vertices, mesh.cells, ...)"

    def __init__(
        self,
        vertices: ArrayLike,
        cells: ArrayLike,
        *,
        tags: ArrayLike | None = None,
        boundaries: Mapping[str, ArrayLike] | None = None,
        periodic: Iterable[tuple[str, str]] | None = None,
        tag_names: Mapping[str, int] | None = None,
        curved: ArrayLike | None = None,
        fix_orientation: bool = False,
    ) -> None:
        vertices = _core.as_array(vertices, np.float64, (None, 3), "vertices", unit="m")
        cells = cells_array(cells)
        faces, ids, names = boundary_arrays(boundaries, 3 if cells.shape[1] == 4 else 4)
        if tags is not None:
            tags = _core.as_array(tags, np.int32, (len(cells),), "tags")
        if curved is not None:
            curved = _core.as_array(curved, np.float64, (len(cells), 27, 3), "curved", unit="m")
        if not isinstance(fix_orientation, (bool, np.bool_)):
            raise ArgumentError(f"fix_orientation is {fix_orientation!r}, expected True or False")
        pairs = periodic_pairs(periodic, names)
        given = _core.new_struct(
            "unda_mesh_input",
            shape=SHAPES["tet" if cells.shape[1] == 4 else "hex"],
            fix_orientation=int(fix_orientation),
            num_vertex=len(vertices),
            num_elem=len(cells),
            num_boundary_face=len(faces),
            num_boundary=len(names),
            num_periodic=len(pairs),
            vertices=vertices,
            cells=cells,
            tags=tags,
            boundary_faces=faces,
            boundary_ids=ids,
            periodic=pairs,
            curved=curved,
        )
        try:
            handle = _core.new_object(
                "unda_mesh", lambda out: lib.unda_mesh_new(out, given), lib.unda_mesh_free
            )
        except MeshError as error:
            raise with_names(error, names) from None
        self._adopt(handle, names, tuple((names[a], names[b]) for a, b in pairs), tag_names)

    def _adopt(
        self,
        handle: Any,
        names: tuple[str, ...],
        periodic: tuple[tuple[str, str], ...],
        tag_names: Mapping[str, int] | None,
    ) -> None:
        """Take over a C mesh; the one place where attributes are set."""
        self._handle = handle
        info = _core.new_struct("unda_mesh_info")
        _core.check(lib.unda_mesh_get_info(handle, info))
        self._info = info
        self.shape = "tet" if info.shape == lib.UNDA_TET else "hex"
        self.num_elem = int(info.num_elem)
        self.num_vertex = int(info.num_vertex)
        self.boundary_names = names
        self.periodic = periodic
        self.lower = tuple(float(x) for x in info.lower)
        self.upper = tuple(float(x) for x in info.upper)
        self.volume = float(info.volume)
        self.min_insphere = float(info.min_insphere)
        self.min_quality = float(info.min_quality)
        self.worst_elem = int(info.worst_elem)
        self.tag_names = tag_table(tag_names, self.tags)
        self.origin: dict[str, Any] = {"made_by": "arrays"}
        self._fix()

    def _advice(self, name: str) -> str | None:
        return None if name == "origin" else super()._advice(name)

    def _copy(self, name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Copy one array out of the C mesh; read-only, because a mesh never changes."""
        array = np.empty(shape, dtype)
        wanted = _core.new_struct("unda_mesh_arrays", **{name: array})
        _core.check(lib.unda_mesh_get_arrays(self._handle, wanted))
        array.flags.writeable = False
        return array

    @property
    def _kind(self) -> str:
        if self.shape == "tet":
            return "tetrahedra"
        return "curved hexahedra" if self._info.curved else "hexahedra"

    @cached_property
    def vertices(self) -> np.ndarray:
        """Coordinates (num_vertex, 3) [m]; read-only, like all arrays of a mesh."""
        return self._copy("vertices", np.float64, (self.num_vertex, 3))

    @cached_property
    def cells(self) -> np.ndarray:
        """Vertices of each cell (num_elem, 4 or 8), as used: after `fix_orientation`."""
        return self._copy("cells", np.int64, (self.num_elem, SIZES[self.shape][0]))

    @cached_property
    def curved(self) -> np.ndarray | None:
        """Nodes of curved hexahedra (num_elem, 27, 3) [m], as `Mesh` takes them; None of straight cells."""
        if not self._info.curved:
            return None
        return self._copy("curved", np.float64, (self.num_elem, 27, 3))

    @cached_property
    def tags(self) -> np.ndarray:
        """Material tag of each cell (num_elem,)."""
        return self._copy("tags", np.int32, (self.num_elem,))

    @cached_property
    def neighbors(self) -> np.ndarray:
        """Neighbour of each face (num_elem, 4 or 6): faces a cell * cell + face, or -1 - boundary.

        Face f of a tetrahedron lies opposite its vertex f.
        Faces of a hexahedron: that of vertices 0 3 7 4, the opposite one, 0 1 5 4, its opposite, bottom, top.
        """
        return self._copy("neighbors", np.int64, (self.num_elem, SIZES[self.shape][1]))

    @cached_property
    def volumes(self) -> np.ndarray:
        """Volume of each cell (num_elem,) [m3]."""
        return self._copy("volumes", np.float64, (self.num_elem,))

    @cached_property
    def quality(self) -> np.ndarray:
        """Quality of each cell (num_elem,), 1 if regular.

        Of a tetrahedron 3 inradius / circumradius. Of a hexahedron the least scaled Jacobian at its vertices
        (and nodes, if it is curved): the volume that its edges span there, over the product of their lengths.
        """
        return self._copy("quality", np.float64, (self.num_elem,))

    @cached_property
    def boundary_faces(self) -> np.ndarray:
        """Vertices of each outer face (n, 3 or 4), the periodic ones included."""
        count = int(self._info.num_boundary_face)
        return self._copy("boundary_faces", np.int64, (count, SIZES[self.shape][2]))

    @cached_property
    def boundary_ids(self) -> np.ndarray:
        """Place of each outer face's boundary in `boundary_names` (n,)."""
        return self._copy("boundary_ids", np.int32, (int(self._info.num_boundary_face),))

    @cached_property
    def centroids(self) -> np.ndarray:
        """Mean of the vertices of each cell (num_elem, 3) [m]."""
        centroids = self.vertices[self.cells].mean(axis=1)
        centroids.flags.writeable = False
        return centroids

    def coordinates(self, degree: int) -> np.ndarray:
        """Return the nodes that `DG` of a degree has in each cell, (num_elem, num_node, 3) [m].

        Examples
        --------
        >>> import unda
        >>> unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1)).coordinates(2).shape
        (6, 10, 3)
        """
        degree = integer("degree", degree, 1, MAX_DEGREE[self.shape])
        x = np.empty((self.num_elem, lib.unda_element_num_node(SHAPES[self.shape], degree), 3))
        _core.check(lib.unda_mesh_coordinates(self._handle, degree, _core.pointer(x, writable=True)))
        return x

    @cached_property
    def hash(self) -> str:
        """SHA-256 (64 hexadecimal digits) of the arrays and names that make up the mesh."""
        digest = hashlib.sha256()
        by_name = np.argsort(self.boundary_ids, kind="stable")
        faces, ids = self.boundary_faces[by_name], self.boundary_ids[by_name]
        arrays = [self.vertices, self.cells, self.tags, faces, ids]
        for array in arrays if self.curved is None else [*arrays, self.curved]:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.data)
        names = (self.shape, self.boundary_names, self.periodic, sorted(self.tag_names.items()))
        digest.update(repr(names).encode())
        return digest.hexdigest()

    def locate(self, points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Find the cell of each point.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            Coordinates [m].

        Returns
        -------
        elem : ndarray of int64, shape (n,)
            The cell; the lowest one on shared faces, edges and vertices; -1 outside the mesh.
        barycentric : ndarray of float64, shape (n, 4) or (n, 6)
            Barycentric coordinates in it, in the vertex order of `cells`; of a hexahedron r1, 1 - r1, r2,
            1 - r2, r3, 1 - r3: one for each face, 0 on it and 1 on the opposite one. 0 outside.

        Raises
        ------
        ArgumentError
            Wrong shape or NaN.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
        >>> mesh.locate([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])[0].tolist()
        [0, -1]
        """
        points = _core.as_array(points, np.float64, (None, 3), "points", finite=True, unit="m")
        elem = np.empty(len(points), np.int64)
        barycentric = np.empty((len(points), SIZES[self.shape][1]))
        to = _core.pointer(elem, writable=True), _core.pointer(barycentric, writable=True)
        _core.check(lib.unda_mesh_locate(self._handle, len(points), _core.pointer(points), *to))
        return elem, barycentric

    def partition(self, num: int, *, method: str = "curve", weights: ArrayLike | None = None) -> Partition:
        """Divide the cells into parts of equal weight, one for each device or process.

        Parameters
        ----------
        num : int
            How many parts.
        method : {"curve", "metis"}, optional
            "curve": ranges of a space-filling curve, whose weights differ by no more than that of a cell.
            "metis": fewer faces between the parts, of weights that differ by some per cent; needs pymetis
            (``pip install 'unda-waves[metis]'``).
        weights : array_like, shape (num_elem,), optional
            What each cell costs, in any unit; 1 if omitted.

        Returns
        -------
        Partition
            The part of each cell; prints what each part has, and draws it.

        Raises
        ------
        ArgumentError
            More parts than cells, weights that are not positive and finite.
        ImportError
            "metis" without pymetis.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4), shape="hex")
        >>> mesh.partition(2)
        2 parts of 64 hexahedra, 16 cut faces; the heaviest part has 1.000 of the mean weight
        part  cells  weight  ghosts  cut faces  neighbors
           0     32      32      16         16  1
           1     32      32      16         16  0
        """
        from ._graph_partition import metis_parts
        from .partition import Partition, cell_weights, curve_parts

        num = integer("num", num, 1, self.num_elem)
        given = cell_weights(self, weights)
        make = (curve_parts, metis_parts)[choice("method", method, ("curve", "metis"))]
        return Partition(self, make(self, num, given), weights=given)

    def report(self) -> str:
        """Describe size, quality, materials and boundaries in a few lines.

        Returns
        -------
        str
            The text; lengths in m, volumes in m3.

        Examples
        --------
        >>> import unda
        >>> print(unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1)).report().splitlines()[0])
        6 tetrahedra, 8 vertices, 12 outer and 6 inner faces
        """
        info = self._info
        box = " x ".join(f"[{low:g}, {high:g}]" for low, high in zip(self.lower, self.upper, strict=True))
        lines = [
            f"{self.num_elem} {self._kind}, {self.num_vertex} vertices, "
            f"{info.num_boundary_face} outer and {info.num_interior_face} inner faces",
            f"box {box} m",
            f"volume {self.volume:g} m3, of a cell {info.min_volume:g} to {info.max_volume:g} m3",
            f"smallest insphere diameter {self.min_insphere:g} m",
            *self._report_quality(),
        ]
        for name, tag in self.tag_names.items():
            lines.append(f"material {name!r}: {int((self.tags == tag).sum())} cells")
        counts = np.bincount(self.boundary_ids, minlength=len(self.boundary_names))
        joined = {name: other for pair in self.periodic for name, other in (pair, pair[::-1])}
        for name, count in zip(self.boundary_names, counts, strict=True):
            note = f", periodic with {joined[name]!r}" if name in joined else ""
            lines.append(f"boundary {name!r}: {int(count)} faces{note}")
        return "\n".join(lines)

    def _report_quality(self) -> list[str]:
        """Describe how the quality is distributed, and which cells are worst."""
        part = np.quantile(self.quality, [0.01, 0.1, 0.5])
        worst = np.argsort(self.quality, kind="stable")[:3]
        return [
            f"least quality {self.min_quality:.3f}, of a hundredth of the cells at most {part[0]:.3f}, "
            f"of a tenth {part[1]:.3f}, median {part[2]:.3f}",
            "worst cells " + ", ".join(f"{elem} ({self.quality[elem]:.3f})" for elem in worst),
        ]

    def extended(self, layers: Mapping[str, float]) -> Mesh:
        """Return this mesh with layers of cells outside sides, for what damps waves there.

        Sides must lie in planes x, y or z = constant at an end of the mesh. Their faces are pushed outwards,
        by cells about as thick as those inside; layers of several sides meet at edges and corners. Cells of
        this mesh come first, with the numbers that they have; new ones have the tags of those beside them,
        and boundaries their names.

        Parameters
        ----------
        layers : dict of str to float
            Thickness by the name of the side [m].

        Raises
        ------
        ArgumentError
            Unknown or periodic sides, sides that are not plane.
        MeshError
            Curved cells.

        See Also
        --------
        Damping : what damps there.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (4, 4, 4), cells=(4, 4, 4), shape="hex")
        >>> whole = mesh.extended({"xmin": 2.0, "zmin": 1.0})
        >>> whole.lower, whole.upper, whole.num_elem
        ((-2.0, 0.0, -1.0), (4.0, 4.0, 4.0), 120)
        """
        from .mesh_layers import extended

        return extended(self, layers)[0]

    def write_vtu(self, path: str | os.PathLike[str]) -> None:
        """Write a VTU file for ParaView: the cells with their number, tag, volume and quality.

        Curved cells are VTK's triquadratic hexahedra. Fields of a simulation: `DG.write_vtu`.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which should end in .vtu.

        Raises
        ------
        FileError
            The file cannot be written.

        Examples
        --------
        >>> import os, tempfile, unda
        >>> folder = tempfile.TemporaryDirectory()
        >>> unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex").write_vtu(
        ...     os.path.join(folder.name, "mesh.vtu"))
        """
        from ..io.vtu import write_mesh

        write_mesh(self, path)

    def __repr__(self) -> str:
        return (
            f"Mesh({self.num_elem} {self._kind}, {self.num_vertex} vertices, "
            f"tags {list(self.tag_names)}, boundaries {list(self.boundary_names)})"
        )

    def _repr_html_(self) -> str:
        from ..io.html import mesh

        return mesh(self)

    def __reduce__(self) -> tuple[Any, ...]:
        faces, ids = self.boundary_faces, self.boundary_ids
        boundaries = {name: faces[ids == i] for i, name in enumerate(self.boundary_names)}
        again = partial(
            Mesh, tags=self.tags, boundaries=boundaries, periodic=self.periodic, tag_names=self.tag_names,
            curved=self.curved,
        )  # fmt: skip
        return again, (self.vertices, self.cells), {"origin": self.origin}


def three_flags(name: str, flags: Any) -> list[bool]:
    """Return three of True and False, or raise."""
    listed = list(flags) if isinstance(flags, Iterable) else []
    if len(listed) != 3 or not all(isinstance(flag, (bool, np.bool_)) for flag in listed):
        raise ArgumentError(f"{name} is {flags!r}, expected three of True and False")
    return [bool(flag) for flag in listed]


def _triple(values: Any, dtype: Any, name: str, unit: str | None = None) -> list[Any]:
    """Return three numbers as a list."""
    return _core.as_array(values, dtype, (3,), name, unit=unit).tolist()


def box_mesh(
    lower: Sequence[float],
    upper: Sequence[float],
    cells: Sequence[int],
    *,
    shape: str = "tet",
    periodic: Sequence[bool] = (False, False, False),
    perturb: float = 0.0,
    seed: int = 0,
) -> Mesh:
    """Make a mesh of a box.

    Parameters
    ----------
    lower, upper : sequence of 3 floats
        Corners [m].
    cells : sequence of 3 ints
        Bricks along each axis. Each is cut into six tetrahedra (Kuhn 1960), or is one hexahedron.
    shape : {"tet", "hex"}, optional
        Shape of the cells.
    periodic : sequence of 3 bools, optional
        Which directions are periodic; one cell is enough.
    perturb : float, optional
        Moves each interior vertex at random, by at most this part of a brick along each axis (0 to
        0.3); less where a cell would turn inside out.
    seed : int, optional
        Of the random moves; the same seed gives the same mesh.

    Returns
    -------
    Mesh
        With boundaries xmin, xmax, ymin, ymax, zmin, zmax.

    Raises
    ------
    ArgumentError
        Wrong shapes, an empty box, no cells, `perturb` out of range.
    OutOfMemoryError
        Too many cells.

    See Also
    --------
    mapped_mesh : boxes whose nodes are moved, for topography.
    read_mesh : files of Gmsh.

    Examples
    --------
    >>> import unda
    >>> unda.box_mesh((0, 0, 0), (1000, 1000, 500), cells=(4, 4, 2)).num_elem
    192
    """
    if shape not in SHAPES:
        raise ArgumentError(f"shape is {shape!r}, expected 'tet' or 'hex'")
    flags = three_flags("periodic", periodic)
    box = _core.new_struct(
        "unda_box",
        shape=SHAPES[shape],
        periodic=[int(flag) for flag in flags],
        cells=_triple(cells, np.int64, "cells"),
        lower=_triple(lower, np.float64, "lower", "m"),
        upper=_triple(upper, np.float64, "upper", "m"),
        perturb=float(_core.as_array(perturb, np.float64, (), "perturb")),
        seed=int(_core.as_array(seed, np.int64, (), "seed")),
    )
    handle = _core.new_object("unda_mesh", lambda out: lib.unda_box_mesh_new(out, box), lib.unda_mesh_free)
    pairs = tuple((SIDES[2 * i], SIDES[2 * i + 1]) for i in range(3) if flags[i])
    mesh = Mesh.__new__(Mesh)
    mesh._adopt(handle, SIDES, pairs, None)
    mesh.origin = {
        "made_by": "box_mesh", "lower": list(box.lower), "upper": list(box.upper), "cells": list(box.cells),
        "shape": shape, "periodic": flags, "perturb": box.perturb, "seed": box.seed,
    }  # fmt: skip
    return mesh
