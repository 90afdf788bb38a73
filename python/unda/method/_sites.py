"""Points in a mesh: the cells that share each point, their weights, and the choice of those that count.

Not here: finding the cells (csrc/mesh/share.c), using them (csrc/dg/points.c).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._core import lib
from ..errors import ArgumentError

_AHEAD = 1e-3  # of a cell's size: how far `side` looks along a direction
_MANY = 100  # with more points than this, room for one cell each is tried first
_EVEN = 1e-9  # of a barycentric coordinate: a direction along a face lies in both cells


@dataclass
class Sites:
    """Points in cells, cell by cell of one point, then of the next.

    Attributes
    ----------
    first : ndarray of int64, shape (num_point + 1,)
        The cells of point i are ``first[i]`` to ``first[i + 1] - 1``; none outside the mesh.
    elem : ndarray of int64, shape (num_site,)
        Cells; the first of a point is the one that `Mesh.locate` gives.
    places : ndarray, shape (num_site, 3)
        The point as its cell sees it, periods away behind periodic sides [m].
    weights : ndarray, shape (num_site,)
        Their sum is 1 at each point.
    """

    first: np.ndarray
    elem: np.ndarray
    places: np.ndarray
    weights: np.ndarray

    def of_points(self) -> np.ndarray:
        """Return the point of each site (num_site,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def keep(self, mask: np.ndarray) -> Sites:
        """Return the sites of a mask, at least one for each point, with weights that sum to 1 again."""
        count = np.add.reduceat(mask, self.first[:-1], dtype=np.int64) if len(mask) else np.empty(0, np.int64)
        weights = self.weights[mask]
        kept = replace(
            self, first=np.concatenate([[0], np.cumsum(count)]).astype(np.int64), elem=self.elem[mask],
            places=self.places[mask], weights=weights,
        )  # fmt: skip
        if len(weights):
            kept.weights = weights / np.add.reduceat(weights, kept.first[:-1])[kept.of_points()]
        return kept


def find(mesh: Any, points: np.ndarray, degree: int) -> Sites:
    """Return all cells that share each point, weighted for polynomials of a degree."""
    first = np.empty(len(points) + 1, np.int64)
    given = {"num_point": len(points), "degree": degree, "points": points, "first": first}

    def ask(room: int) -> tuple[int, Sites]:
        found = Sites(first, np.empty(room, np.int64), np.empty((room, 3)), np.empty(room))
        cells = {"max_cell": room, "elem": found.elem, "places": found.places, "weights": found.weights}
        asked = _core.new_struct("unda_shared", **given, **(cells if room else {}))
        return lib.unda_mesh_share(mesh._handle, asked), found

    room = len(points) if len(points) > _MANY else 0
    status, sites = ask(room)
    if room and status != lib.UNDA_OK:  # some points have several cells: count first
        status, sites = ask(0)
    _core.check(status)
    if len(sites.elem) != first[-1]:
        status, sites = ask(int(first[-1]))
        _core.check(status)
    return sites


def distance(mesh: Any, point: np.ndarray) -> tuple[float, str]:
    """Return how far a point is from the nearest outer face of a mesh [m], and the name of that boundary.

    The nearest point of a triangle is the foot of the perpendicular if that is inside, or else on an edge.
    Quadrilaterals count as two triangles.
    """
    faces, ids = mesh.boundary_faces, mesh.boundary_ids
    if mesh.shape == "hex":
        faces, ids = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]), np.tile(ids, 2)
    corners = mesh.vertices[faces]
    edges = np.roll(corners, -1, axis=1) - corners
    normal = np.cross(edges[:, 0], edges[:, 1])
    to = point - corners
    inside = (np.einsum("fei,fi->fe", np.cross(edges, to), normal) >= 0).all(axis=1)
    along = np.einsum("fei,fei->fe", to, edges) / np.einsum("fei,fei->fe", edges, edges)
    feet = np.clip(along, 0.0, 1.0)[..., None] * edges
    far = np.linalg.norm(to - feet, axis=2).min(axis=1)
    height = np.abs(np.einsum("fi,fi->f", to[:, 0], normal)) / np.linalg.norm(normal, axis=1)
    far = np.where(inside, height, far)
    nearest = int(far.argmin())
    return float(far[nearest]), mesh.boundary_names[ids[nearest]]


def on_one_side(
    sites: Sites, mesh: Any, material: np.ndarray, near: np.ndarray, side: Any, what: str
) -> Sites:
    """Return of each point the sites in one material with one tag.

    Parameters
    ----------
    sites : Sites
        All of them.
    mesh : Mesh
    material, near : ndarray, shape (num_site, num_parameter)
        What is there, and by how much another one may differ that counts as the same.
    side : None, str or array_like
        See `DG.add_receivers`.
    what : str
        Name of a point in messages.
    """
    towards = _direction(side, len(sites.first) - 1)
    if isinstance(side, str) and side not in mesh.tag_names:
        raise ArgumentError(f"side is {side!r}; the mesh has the tags {list(mesh.tag_names)}")
    tags, point, home = mesh.tags[sites.elem], sites.of_points(), sites.first[:-1].copy()

    def alike(some: Any, other: Any) -> np.ndarray:
        differ = np.abs(material[some] - material[other]) > near[some]
        return ~differ.any(axis=1) & (tags[some] == tags[other])

    every = np.arange(len(tags))
    same = alike(every, home[point])
    if same.all():
        return sites
    if side is not None:
        for i in np.unique(point[~same]):
            inside = slice(sites.first[i], sites.first[i + 1])
            if towards is None:
                chosen = mesh.tags[sites.elem[inside]] == mesh.tag_names[side]
            else:
                chosen = _ahead(mesh, sites.elem[inside], sites.places[inside], towards[i])
            chosen = np.flatnonzero(chosen) + sites.first[i]
            if len(chosen) == 0 or not alike(chosen, chosen[0]).all():
                found = "no cell" if len(chosen) == 0 else "cells of several materials"
                place = ", ".join(f"{x:g}" for x in sites.places[sites.first[i]])
                that = side if towards is None else tuple(towards[i].tolist())
                raise ArgumentError(
                    f"{what} {i} at ({place}) m stands where the material jumps and has {found} on its side "
                    f"{that}; expected a direction into one material, or one of its tags "
                    f"{_tags(mesh, sites.elem[inside])}"
                )
            home[i] = chosen[0]
        same = alike(every, home[point])
    return sites.keep(same)


def _tags(mesh: Any, cells: np.ndarray) -> list[str]:
    there = set(mesh.tags[cells].tolist())
    return [name for name, tag in mesh.tag_names.items() if tag in there]


def _direction(side: Any, num: int) -> np.ndarray | None:
    """Return directions (num, 3) where `side` is one or many, or raise."""
    if side is None or isinstance(side, str):
        return None
    try:
        given = np.asarray(side, np.float64)
    except (TypeError, ValueError):
        given = np.zeros(3)
    towards = (
        np.array(np.broadcast_to(given, (num, 3))) if given.shape in ((3,), (num, 3)) else np.zeros((1, 3))
    )
    if not (np.isfinite(towards).all() and towards.any(axis=1).all()):
        raise ArgumentError(
            f"side is {side!r}; expected a direction (3,) or ({num}, 3), or the name of a tag"
        )
    return towards


def _ahead(mesh: Any, cells: np.ndarray, places: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Return which cells a direction from a point enters; several if it lies between cells."""
    if mesh.shape == "hex":
        step = _AHEAD * np.cbrt(mesh.volumes[cells].min()) * towards / np.linalg.norm(towards)
        there = find(mesh, places + step, 1)
        return np.isin(np.arange(len(cells)), there.of_points()[there.elem == cells[there.of_points()]])
    corners = mesh.vertices[mesh.cells[cells]]
    edges = corners[:, 1:] - corners[:, :1]
    step = _AHEAD * np.cbrt(np.abs(np.linalg.det(edges)).min()) * towards / np.linalg.norm(towards)
    inverse = np.linalg.inv(edges.transpose(0, 2, 1))
    coordinate = np.einsum("eij,ej->ei", inverse, places + step - corners[:, 0])
    least = np.minimum(coordinate.min(axis=1), 1.0 - coordinate.sum(axis=1))
    return least >= -_EVEN
