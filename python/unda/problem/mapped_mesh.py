"""Meshes of hexahedra from a mapped grid: topography and layers without a mesh generator.

Next: mesh.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import flag
from ..errors import ArgumentError, MeshError
from .grid import SIDES
from .mesh import Mesh, three_flags

#: of the mesh's extent: places nearer to each other are one
_SAME = 1e-9
#: vertices at the ends of a vertex's edges, right-handed
_BESIDE = [(1, 3, 4), (2, 0, 5), (3, 1, 6), (0, 2, 7), (7, 5, 0), (4, 6, 1), (5, 7, 2), (6, 4, 3)]


def mapped_mesh(
    x: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    *,
    tags: ArrayLike | Callable[[np.ndarray, np.ndarray, np.ndarray], ArrayLike] | None = None,
    tag_names: Mapping[str, int] | None = None,
    periodic: Sequence[bool] = (False, False, False),
    curved: bool = False,
) -> Mesh:
    """Make a mesh of hexahedra from the coordinates of a grid's vertices.

    Cell (i, j, k) lies between vertices (i, j, k) and (i + 1, j + 1, k + 1) and has number
    (i ny + j) nz + k, as in ``tags.ravel()``; vertices are numbered likewise. Where the last vertices along
    an index are the first ones again, as around a ring, the mesh closes on itself: they are merged, and there
    are no sides.

    Parameters
    ----------
    x, y, z : array_like, shape (nx + 1, ny + 1, nz + 1)
        Coordinates of the vertices [m]. The grid must be right-handed: if x grows with the first index and y
        with the second, z grows with the third, so depths go in as ``z = -depth`` with the deepest first. A
        left-handed grid is refused rather than turned round, since sides are named by indices.
    tags : array_like of int or bool, shape (nx, ny, nz), or function, optional
        Material tags, or a function f(x, y, z) that returns them, of arrays of that shape: the means of each
        cell's vertices; 0 if omitted.
    tag_names : dict of {str: int}, optional
        Names of tags.
    periodic : sequence of 3 bools, optional
        Along which index the mesh repeats itself; its two sides must be translates of each other.
    curved : bool
        Cells have 27 nodes, and their map degree 2 in each coordinate, so that they follow smooth topography,
        whose slope straight edges break at every vertex: x, y, z have shape (2 nx + 1, 2 ny + 1, 2 nz + 1),
        with the middles of edges, faces and cells at odd indices.

    Returns
    -------
    Mesh
        With boundaries xmin and xmax (first and last vertices of the first index), ymin, ymax, zmin, zmax.

    Raises
    ------
    ArgumentError
        Arrays of a wrong type or shape.
    MeshError
        Cells turned inside out; the message has their (i, j, k).

    See Also
    --------
    box_mesh : a box.
    read_mesh : files of Gmsh.

    Examples
    --------
    >>> import numpy as np
    >>> import unda
    >>> i, j, k = np.meshgrid(*[np.linspace(0, 1, 5)] * 3, indexing="ij")
    >>> hill = 100 * np.exp(-20 * ((i - 0.5) ** 2 + (j - 0.5) ** 2))
    >>> mesh = unda.mapped_mesh(
    ...     1000 * i, 1000 * j, -500 + k * (500 + hill), tags=lambda x, y, z: z > -200,
    ...     tag_names={"rock": 0, "soil": 1},
    ... )
    >>> mesh.num_elem, mesh.tag_names, mesh.upper
    (64, {'rock': 0, 'soil': 1}, (1000.0, 1000.0, 100.0))
    """
    nodes = _nodes(x, y, z, 2 if flag("curved", curved) else 1)
    vertices = nodes[::2, ::2, ::2] if curved else nodes
    shape = tuple(n - 1 for n in vertices.shape[:3])
    flags = three_flags("periodic", periodic)
    _check_jacobians(_corners(vertices))
    closed = _closed(vertices)
    if any(again and ring for again, ring in zip(flags, closed, strict=True)):
        raise ArgumentError(
            f"periodic is {flags}, but the mesh closes on itself along index {closed.index(True)}: it has no "
            "sides there to be joined by a translation"
        )
    kept = vertices[tuple(slice(None, -1) if ring else slice(None) for ring in closed)]
    number = np.arange(kept[..., 0].size).reshape(kept.shape[:3])
    number = np.pad(number, [(0, int(ring)) for ring in closed], mode="wrap")
    mesh = Mesh(
        kept.reshape(-1, 3), _corners(number).reshape(-1, 8), tags=_tags(tags, _corners(vertices), shape),
        tag_names=tag_names, boundaries=_sides(number, closed),
        periodic=[(SIDES[2 * i], SIDES[2 * i + 1]) for i in range(3) if flags[i]],
        curved=_of_cells(nodes) if curved else None,
    )  # fmt: skip
    mesh.origin = {"made_by": "mapped_mesh", "cells": list(shape)}
    return mesh


def _nodes(x: ArrayLike, y: ArrayLike, z: ArrayLike, degree: int) -> np.ndarray:
    """Return the coordinates [i, j, k, axis] of cells with degree + 1 places an axis, or refuse them."""
    given = {"x": x, "y": y, "z": z}
    arrays = [
        _core.as_array(values, np.float64, (None, None, None), name, finite=True, unit="m")
        for name, values in given.items()
    ]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or min(shapes[0]) <= degree or any(n % degree != 1 % degree for n in shapes[0]):
        found = ", ".join(f"{name} {shape}" for name, shape in zip(given, shapes, strict=True))
        room = "with at least 2 vertices an axis" if degree == 1 else "of 3, 5, 7, .. nodes an axis (curved)"
        raise ArgumentError(f"shapes are {found}; expected three alike, {room}")
    return np.stack(arrays, axis=-1)


def _of_cells(nodes: np.ndarray) -> np.ndarray:
    """Return the 27 nodes of each cell (num_elem, 27, 3), as `Mesh` takes them."""
    parts = (slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2))
    cells = np.stack([nodes[i, j, k] for k in parts for j in parts for i in parts], axis=3)
    return cells.reshape(-1, 27, 3)


def _closed(vertices: np.ndarray) -> list[bool]:
    """Return along which indices the last vertices are the first ones again."""
    size = np.linalg.norm(np.ptp(vertices.reshape(-1, 3), axis=0))
    gaps = [np.abs(np.take(vertices, -1, axis=i) - np.take(vertices, 0, axis=i)).max() for i in range(3)]
    return [bool(gap <= _SAME * size) for gap in gaps]


def _corners(values: np.ndarray) -> np.ndarray:
    """Return what the 8 vertices of each cell have, (nx, ny, nz, 8, ...), in the order of `Mesh`."""
    ends = (slice(None, -1), slice(1, None))
    around = [(0, 0), (1, 0), (1, 1), (0, 1)]
    return np.stack([values[ends[i], ends[j], ends[k]] for k in (0, 1) for i, j in around], axis=3)


def _sides(number: np.ndarray, closed: Sequence[bool]) -> dict[str, np.ndarray]:
    """Return the faces of each side."""
    sides = {}
    for axis in (i for i in range(3) if not closed[i]):
        for end in (0, -1):
            one = np.take(number, end, axis=axis)
            faces = np.stack([one[:-1, :-1], one[1:, :-1], one[1:, 1:], one[:-1, 1:]], axis=-1)
            sides[SIDES[2 * axis - end]] = faces.reshape(-1, 4)
    return sides


def _check_jacobians(corners: np.ndarray) -> None:
    """Refuse cells whose Jacobian determinant is not positive at all vertices."""
    least, most = np.inf, -np.inf
    for corner, beside in enumerate(_BESIDE):
        edges = [corners[..., other, :] - corners[..., corner, :] for other in beside]
        determinant = np.einsum("...i,...i->...", np.cross(edges[0], edges[1]), edges[2])
        least, most = np.minimum(least, determinant), np.maximum(most, determinant)
    bad = ~(np.asarray(least) > 0)
    if not bad.any():
        return
    if (np.asarray(most) < 0).all():
        raise MeshError(
            "the grid is left-handed: all its cells are inverted; reverse one index of x, y, z and tags, "
            "such as x[:, :, ::-1] if z falls along the third"
        )
    first = ", ".join(str(tuple(cell)) for cell in np.argwhere(bad)[:3].tolist())
    raise MeshError(
        f"{int(bad.sum())} of {bad.size} cells are inverted or flat at a vertex, (i, j, k) first {first}"
    )


def _tags(tags: Any, corners: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return the tag of each cell."""
    if tags is None:
        return None
    if callable(tags):
        tags = np.broadcast_to(tags(*np.moveaxis(corners.mean(axis=3), -1, 0)), shape)
    if isinstance(tags, np.ndarray) and tags.dtype.kind == "b":
        tags = tags.astype(np.int32)
    return _core.as_array(tags, np.int32, shape, "tags").reshape(-1)
