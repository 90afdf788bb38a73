"""The height of a boundary of a mesh above points of a plane: topography.

A vertical line meets a triangle where its barycentric coordinates in x and y say; a side of a hexahedron,
x(a, b) of degree 1 or 2 in each of a and b, where Newton's method finds x and y.
Not here: which cells have a point (csrc/mesh/share.c). Next: `Simulation.snap`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._units import plain
from ..errors import ArgumentError

Array = np.ndarray
_EDGE = 1e-9  # of a face's coordinates: points on an edge are on both faces
_NEWTON = 30  # steps at most; a face that is a map takes a handful
_CLOSE = 1e-13  # of a face's size
_BULGE = 0.25  # of its size: a face of degree 2 reaches at most so far beyond its nodes


def boundary_named(name: Any, names: tuple[str, ...]) -> str:
    """Return the boundary of that name; "top" and "bottom" stand for zmax and zmin where there is none."""
    usual = {"top": "zmax", "bottom": "zmin"}
    found = name if name in names else usual.get(name) if isinstance(name, str) else None
    if found not in names:
        raise ArgumentError(f"no boundary {name!r}; there are {list(names)}")
    return str(found)


def plane_points(points: Any) -> Array:
    """Return x and y (n, 2) of points (n, 2) or (n, 3), or raise."""
    points = plain("points", points, "m")
    try:
        given = np.array(points, np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.size == 0 and np.shape(points) in ((0,), (0, 2), (0, 3)):
        return np.empty((0, 2))
    if given.ndim != 2 or given.shape[1] not in (2, 3) or not np.isfinite(given[:, :2]).all():
        raise ArgumentError(f"points have shape {np.shape(given)}; expected finite x, y [m] of shape (n, 2)")
    return np.ascontiguousarray(given[:, :2])


def heights(mesh: Any, name: str, xy: Array) -> Array:
    """Return z (n,) [m] of a boundary above or below points (n, 2), the highest where it has several.

    Raises
    ------
    ArgumentError
        If a vertical line does not meet the boundary.
    """
    cell, face = np.nonzero(mesh.neighbors == -1 - mesh.boundary_names.index(name))
    if mesh.shape == "tet":
        nodes, reach = _triangles(mesh, cell, face), 1e-9
    else:
        nodes, reach = _sides(mesh, cell, face), 0.0 if mesh.curved is None else _BULGE
    point, of = _pairs(xy, nodes[..., :2].reshape(len(cell), -1, 2), reach + _EDGE)
    meet = _in_triangles if mesh.shape == "tet" else _in_sides
    z, met = meet(nodes[of], xy[point])
    highest = np.full(len(xy), -np.inf)
    np.maximum.at(highest, point[met], z[met])
    for i in np.flatnonzero(np.isinf(highest))[:1]:
        place = ", ".join(f"{x:g}" for x in xy[i])
        corners = nodes.reshape(-1, 3)
        extent = f"x, y from {corners[:, :2].min(axis=0)} to {corners[:, :2].max(axis=0)} m"
        raise ArgumentError(f"no part of boundary {name!r} is above or below ({place}) m; it has {extent}")
    return highest


def flat_heights(grid: Any, cells: Array, side: str, xy: Array) -> Array:
    """Return z (n,) [m] of side zmin or zmax of a grid; raise where a point is beyond these cells (3,)."""
    lower, slack = np.array(grid.lower), np.array(grid.spacing)
    upper = lower + cells * slack
    beside = np.abs(xy - 0.5 * (lower + upper)[:2]) > (0.5 * (upper - lower) + _EDGE * slack)[:2]
    for x, y in xy[beside.any(axis=1)][:1]:
        raise ArgumentError(
            f"({x:g}, {y:g}) m lies beside the grid, which has x, y from {lower[:2]} to {upper[:2]} m"
        )
    return np.full(len(xy), (grid.lower if side == "zmin" else grid.upper)[2])


def _triangles(mesh: Any, cell: Array, face: Array) -> Array:
    """Return the corners (num_face, 3, 3) of faces opposite vertices."""
    others = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    return np.asarray(mesh.vertices[np.take_along_axis(mesh.cells[cell], others[face], axis=1)])


def _sides(mesh: Any, cell: Array, face: Array) -> Array:
    """Return nodes (num_face, 3, 3, 3) of sides of hexahedra, at 0, 1/2, 1 of both coordinates."""
    if mesh.curved is not None:
        lattice = mesh.curved[cell].reshape(-1, 3, 3, 3, 3)
    else:
        corners = mesh.vertices[mesh.cells[cell][:, [0, 1, 3, 2, 4, 5, 7, 6]]].reshape(-1, 2, 2, 2, 3)
        middle = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
        lattice = np.einsum("ai,bj,ck,fijkx->fabcx", middle, middle, middle, corners)
    made = np.empty((len(cell), 3, 3, 3))
    for number in range(6):  # the axes of a lattice are r3, r2, r1
        some = face == number
        made[some] = np.take(lattice[some], 2 * (number % 2), axis=3 - number // 2)
    return made


def _pairs(xy: Array, corners: Array, reach: float) -> tuple[Array, Array]:
    """Return all pairs of points (n, 2) and faces whose boxes, longer by a part of their size, hold them.

    Faces are entered into each square of a coarse raster that they touch.
    """
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    longer = reach * (upper - lower).max(axis=1, keepdims=True)
    lower, upper = lower - longer, upper + longer
    least, most = lower.min(axis=0), upper.max(axis=0)
    num = max(1, int(np.sqrt(len(corners))))
    scale = num / np.maximum(most - least, np.finfo(float).tiny)
    first = np.clip(((lower - least) * scale).astype(np.int64), 0, num - 1)
    last = np.clip(((upper - least) * scale).astype(np.int64), 0, num - 1)
    wide = last - first + 1
    count = wide.prod(axis=1)
    owner = np.repeat(np.arange(len(corners)), count)
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    column, row = first[owner].T + np.divmod(rank, wide[owner, 1])
    order = np.argsort(column * num + row, kind="stable")
    squares, owner = (column * num + row)[order], owner[order]
    at = np.clip(((xy - least) * scale).astype(np.int64), 0, num - 1)
    number = at[:, 0] * num + at[:, 1]
    begin, end = np.searchsorted(squares, number, "left"), np.searchsorted(squares, number, "right")
    each = end - begin
    point = np.repeat(np.arange(len(xy)), each)
    faces = owner[np.repeat(begin, each) + np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)]
    inside = ((xy[point] >= lower[faces]) & (xy[point] <= upper[faces])).all(axis=1)
    return point[inside], faces[inside]


def _in_triangles(corners: Array, xy: Array) -> tuple[Array, Array]:
    """Return z where vertical lines meet triangles, and which of them do."""
    edges = corners[:, 1:] - corners[:, :1]
    to = xy - corners[:, 0, :2]
    (ax, ay), (bx, by) = edges[:, 0, :2].T, edges[:, 1, :2].T
    area = ax * by - ay * bx
    with np.errstate(divide="ignore", invalid="ignore"):  # upright ones have none
        a = (to[:, 0] * by - to[:, 1] * bx) / area
        b = (ax * to[:, 1] - ay * to[:, 0]) / area
        met = (a >= -_EDGE) & (b >= -_EDGE) & (a + b <= 1.0 + _EDGE)
    return corners[:, 0, 2] + a * edges[:, 0, 2] + b * edges[:, 1, 2], met


def _basis(a: Array) -> tuple[Array, Array]:
    """Return the polynomials of degree 2 that are 1 at one of 0, 1/2, 1, and their derivatives, (n, 3)."""
    value = np.stack([(2 * a - 1) * (a - 1), 4 * a * (1 - a), a * (2 * a - 1)], axis=1)
    return value, np.stack([4 * a - 3, 4 - 8 * a, 4 * a - 1], axis=1)


def _in_sides(nodes: Array, xy: Array) -> tuple[Array, Array]:
    """Return z where vertical lines meet sides of hexahedra, and which of them do."""
    place = np.full((len(nodes), 2), 0.5)
    size = np.ptp(nodes[..., :2].reshape(-1, 9, 2), axis=1).max(axis=1)
    for _ in range(_NEWTON):
        (f, df), (g, dg) = _basis(place[:, 0]), _basis(place[:, 1])
        here = np.einsum("na,nb,nabx->nx", f, g, nodes)
        left = xy - here[:, :2]
        if (np.abs(left).max(axis=1) <= _CLOSE * size).all():
            break
        along = np.einsum("na,nb,nabx->nx", df, g, nodes[..., :2])
        across = np.einsum("na,nb,nabx->nx", f, dg, nodes[..., :2])
        area = along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.stack([
                left[:, 0] * across[:, 1] - left[:, 1] * across[:, 0],
                along[:, 0] * left[:, 1] - along[:, 1] * left[:, 0],
            ], axis=1) / area[:, None]  # fmt: skip
        place = np.clip(place + np.nan_to_num(step), -1.0, 2.0)
    met = (np.abs(left).max(axis=1) <= 1e3 * _CLOSE * size) & (np.abs(place - 0.5) <= 0.5 + _EDGE).all(axis=1)
    return here[:, 2], met
