"""A mesh with layers of cells added outside its planar sides, for absorbing layers.

Not here: what the layers are (layer.py), their profiles (csrc/dg/layer.c), what a method makes of them
(../method/mesh_layer.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .grid import SIDES
from .mesh import Mesh

_FLAT = 1e-6  # of a side's extent: how far its vertices may be from a plane
_FEWER = 0.1  # of a cell that a layer may be thinner than asked for


@dataclass
class _Arrays:
    """A mesh as it grows: `parents` is the cell of the original mesh from which each one was extruded."""

    vertices: np.ndarray
    cells: np.ndarray
    tags: np.ndarray
    parents: np.ndarray
    faces: np.ndarray  # of boundaries
    ids: np.ndarray


def sides_of(mesh: Mesh, names: list[str]) -> dict[str, str]:
    """Return on which sides of the mesh's box boundaries lie, {side: name}; refuse any elsewhere."""
    ids = [mesh.boundary_names.index(name) for name in names]
    corners = mesh.vertices[mesh.boundary_faces]
    found: dict[str, str] = {}
    left = np.isin(mesh.boundary_ids, ids)
    for i, side in enumerate(SIDES):
        axis, plane = i // 2, (mesh.lower, mesh.upper)[i % 2][i // 2]
        size = mesh.upper[axis] - mesh.lower[axis]
        here = (np.abs(corners[:, :, axis] - plane) <= _FLAT * size).all(axis=1)
        taken = here & np.isin(mesh.boundary_ids, ids)
        if not taken.any():
            continue
        others = sorted({mesh.boundary_names[k] for k in mesh.boundary_ids[here & ~taken]})
        if others:
            raise ArgumentError(
                f"the layer at {side} would cover a part of that side: boundaries {others} are there too; "
                "expected a CPML at all of them"
            )
        found[side] = mesh.boundary_names[mesh.boundary_ids[taken][0]]
        left &= ~here
    if left.any():
        at = mesh.vertices[mesh.boundary_faces[left][0]].mean(axis=0)
        raise ArgumentError(
            f"boundary {mesh.boundary_names[mesh.boundary_ids[left][0]]!r} has a face at "
            f"{tuple(at.tolist())} m, which is not on a plane side of the mesh's box {mesh.lower} to "
            f"{mesh.upper} m; expected layers at such sides alone"
        )
    return found


def spacing(mesh: Mesh, side: str) -> float:
    """Return the mean height of the cells at a side [m]: volume over area."""
    i = SIDES.index(side)
    cells, faces = cells_at(mesh, side)
    corners = mesh.vertices[faces]
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.abs(np.cross(a, b)[:, i // 2])
    if mesh.shape == "hex":
        across += np.abs(np.cross(b, corners[:, 3] - corners[:, 0])[:, i // 2])
    height = (1.0 if mesh.shape == "hex" else 3.0) * mesh.volumes[cells] / (0.5 * across)
    return float(np.median(height))


def cells_at(mesh: Mesh, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells with an outer face on a side of the mesh's box, and these faces' vertices."""
    i = SIDES.index(side)
    axis, plane = i // 2, (mesh.lower, mesh.upper)[i % 2][i // 2]
    size = mesh.upper[axis] - mesh.lower[axis]
    here = (np.abs(mesh.vertices[mesh.boundary_faces][:, :, axis] - plane) <= _FLAT * size).all(axis=1)
    faces = mesh.boundary_faces[here]
    return _owners(mesh.cells, faces), faces


def _owners(cells: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the cell that has each outer face: the only one with all of its vertices."""
    on_face = np.zeros(cells.max() + 1, bool)
    on_face[faces] = True
    near = np.flatnonzero(on_face[cells].sum(axis=1) >= faces.shape[1])
    of: dict[int, set[int]] = {}
    for cell in near:
        for vertex in cells[cell]:
            of.setdefault(int(vertex), set()).add(int(cell))
    return np.array([min(set.intersection(*(of[int(v)] for v in face))) for face in faces], np.int64)


def thickness_in_cells(mesh: Mesh, side: str, thickness: float) -> tuple[int, float]:
    """Return how many layers of cells are that thick, at least 1, and how thick they are together [m]."""
    h = spacing(mesh, side)
    num = max(1, int(np.ceil(thickness / h - _FEWER)))
    return num, num * h


def with_layers(mesh: Mesh, layers: Mapping[str, int]) -> tuple[Mesh, np.ndarray]:
    """Return a mesh with so many layers of cells outside sides of its box, and the parents of its cells.

    The mesh's own cells and vertices come first and keep their numbers. New cells are as high as those at the
    side are on average, and have their tags; new outer faces belong to the boundaries that they continue.
    The parent of a new cell is the cell from which it was extruded, across corners step by step.
    """
    if mesh.curved is not None:
        raise ArgumentError(
            "the mesh is curved; expected straight cells beside a layer, or layers of tagged cells"
        )
    heights = {side: spacing(mesh, side) for side in layers}
    found = _Arrays(
        mesh.vertices, mesh.cells, mesh.tags, np.arange(mesh.num_elem), mesh.boundary_faces, mesh.boundary_ids
    )
    for side in SIDES:
        if side in layers:
            found = _extruded(found, side, layers[side], heights[side])
    boundaries = {
        name: found.faces[found.ids == i]
        for i, name in enumerate(mesh.boundary_names)
        if (found.ids == i).any()
    }
    made = Mesh(
        found.vertices, found.cells, tags=found.tags, boundaries=boundaries, periodic=mesh.periodic,
        tag_names=mesh.tag_names, fix_orientation=True,
    )  # fmt: skip
    made.origin = {"made_by": "layers", "of": mesh.origin, "layers": dict(layers)}
    return made, found.parents


def _extruded(old: _Arrays, side: str, num: int, height: float) -> _Arrays:
    """Add layers of cells at one side."""
    i = SIDES.index(side)
    axis, sign = i // 2, 1 if i % 2 else -1
    along = old.vertices[:, axis]
    plane = along.max() if i % 2 else along.min()
    patch = (np.abs(old.vertices[old.faces][:, :, axis] - plane) <= _FLAT * np.ptp(along)).all(axis=1)
    faces, owner = old.faces[patch], _owners(old.cells, old.faces[patch])
    base = np.unique(faces)
    # Prisms are cut alike on both sides of a periodic pair: by the order of places, not of numbers.
    grain = 1e-6 * height
    rank = np.empty(len(old.vertices), np.int64)
    rank[base[np.lexsort(np.round(old.vertices[base] / grain).T)]] = np.arange(len(base))
    first = len(old.vertices)
    number = np.full(len(old.vertices), -1)
    number[base] = np.arange(len(base))

    def level(k: int, vertices: np.ndarray) -> np.ndarray:
        return vertices if k == 0 else first + (k - 1) * len(base) + number[vertices]

    shift = np.zeros(3)
    vertices, cells, outer, outer_ids = [old.vertices], [old.cells], [old.faces[~patch]], [old.ids[~patch]]
    rim, rim_ids = _rim(old, patch)
    if faces.shape[1] == 3:
        faces = np.take_along_axis(faces, np.argsort(rank[faces], axis=1), axis=1)
        rim = np.take_along_axis(rim, np.argsort(rank[rim], axis=1), axis=1)
    for k in range(num):
        shift[axis] = sign * height * (k + 1)
        vertices.append(old.vertices[base] + shift)
        low, high = level(k, faces), level(k + 1, faces)
        edge, above = level(k, rim), level(k + 1, rim)
        if faces.shape[1] == 4:
            cells.append(np.hstack([low, high]))
            outer.append(np.hstack([edge, above[:, ::-1]]))
            outer_ids.append(rim_ids)
        else:  # each diagonal from the lower vertex of lower rank
            a, b, c = low.T
            d, e, f = high.T
            cells += [np.stack(cell, axis=1) for cell in ((a, b, c, f), (a, b, e, f), (a, d, e, f))]
            p, q = edge.T
            r, s = above.T
            outer += [np.stack(face, axis=1) for face in ((p, q, s), (p, s, r))]
            outer_ids += [rim_ids, rim_ids]
    outer.append(level(num, faces))
    outer_ids.append(old.ids[patch])
    copies = num * (1 if faces.shape[1] == 4 else 3)
    return _Arrays(
        np.concatenate(vertices), np.concatenate(cells),
        np.concatenate([old.tags, np.tile(old.tags[owner], copies)]),
        np.concatenate([old.parents, np.tile(old.parents[owner], copies)]),
        np.concatenate(outer), np.concatenate(outer_ids),
    )  # fmt: skip


def _edges(faces: np.ndarray) -> np.ndarray:
    """Return the edges of faces (num_face, 3 or 4, 2), vertices ascending."""
    return np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2), axis=2)


def _rim(old: _Arrays, patch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges around a patch of outer faces, and the boundary of the face beyond each."""
    edges, counts = np.unique(_edges(old.faces[patch]).reshape(-1, 2), axis=0, return_counts=True)
    rim = edges[counts == 1]
    others = _edges(old.faces[~patch])
    sides = {
        tuple(edge): int(boundary)
        for face, boundary in zip(others.tolist(), old.ids[~patch], strict=True)
        for edge in map(tuple, face)
    }
    return rim, np.array([sides[tuple(edge)] for edge in rim.tolist()], old.ids.dtype).reshape(-1)


def in_layers(mesh: Any, sides: Mapping[str, float]) -> np.ndarray:
    """Say which cells lie beyond the planes [m] where layers begin, (num_elem,)."""
    middle = mesh.centroids
    found = np.zeros(len(middle), bool)
    for side, begin in sides.items():
        i = SIDES.index(side)
        found |= middle[:, i // 2] > begin if i % 2 else middle[:, i // 2] < begin
    return found
