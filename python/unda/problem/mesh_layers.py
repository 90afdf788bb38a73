"""Layers of cells outside a mesh: its plane sides, pushed outwards along their axes.

A side's faces become prisms and hexahedra, side after side, so that layers meet at edges and corners. Not
here: what damps in them (mesh_damping.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._check import number
from ..errors import ArgumentError, MeshError
from ._shapes import FACES
from .partition import Partition

_FLAT = 1e-6  # of the mesh's size: a side in a plane


class Parts(NamedTuple):
    """A mesh as arrays: outer faces with the numbers of their boundaries."""

    vertices: np.ndarray
    cells: np.ndarray
    tags: np.ndarray
    faces: np.ndarray
    ids: np.ndarray
    parents: np.ndarray  # of each cell the one of the given mesh whose material it goes on with


def plane_of(mesh: Any, name: str) -> tuple[int, float, int]:
    """Return the axis across a side, where its plane is, and the way inside, 1 or -1.

    Raises
    ------
    ArgumentError
        If the side does not lie in a plane x, y or z = constant at an end of the mesh.
    """
    lower, upper = np.array(mesh.lower), np.array(mesh.upper)
    here = mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index(name)]
    x = mesh.vertices[here.reshape(-1)]
    spread = np.ptp(x, axis=0)
    axis = int(spread.argmin())
    side = float(np.median(x[:, axis]))
    ends = np.abs(side - np.array([lower[axis], upper[axis]]))
    room = _FLAT * float((upper - lower).max())
    if spread[axis] > room or ends.min() > room:
        raise ArgumentError(
            f"boundary {name!r} has a layer, but does not lie in a plane x, y or z = constant at an end "
            f"of the mesh: it reaches over {', '.join(f'{s:.3g}' for s in spread)} m"
        )
    return axis, side, 1 if ends[0] < ends[1] else -1


def extended(mesh: Any, layers: Mapping[str, float]) -> tuple[Any, np.ndarray]:
    """Return a mesh with layers of cells outside sides, and each cell's parent; see `Mesh.extended`."""
    joined = {name for pair in mesh.periodic for name in pair}
    if not isinstance(layers, Mapping):
        raise ArgumentError(f"layers is {layers!r}, expected a dict of names of boundaries and thicknesses")
    unknown = [name for name in layers if name not in mesh.boundary_names or name in joined]
    if unknown:
        known = [name for name in mesh.boundary_names if name not in joined]
        raise ArgumentError(f"layers names {unknown}; the mesh has {known} without periodic ones")
    if mesh.curved is not None:
        raise MeshError(
            "the mesh has curved cells, expected straight ones: layers are made of its faces' vertices"
        )
    planes = {name: plane_of(mesh, name) for name in layers}
    parts = Parts(
        mesh.vertices, mesh.cells, mesh.tags, mesh.boundary_faces, mesh.boundary_ids, np.arange(mesh.num_elem)
    )
    for name, thickness in layers.items():
        axis, _, inside = planes[name]
        most = number(f"layers[{name!r}]", thickness, "m", positive=True)
        parts = _pushed(parts, mesh.boundary_names.index(name), axis, -inside, most)
    made = type(mesh)(
        parts.vertices, parts.cells, tags=parts.tags, periodic=mesh.periodic, tag_names=mesh.tag_names,
        boundaries={name: parts.faces[parts.ids == i] for i, name in enumerate(mesh.boundary_names)},
        fix_orientation=True,
    )  # fmt: skip
    made.origin = {
        "made_by": "extended",
        "of": mesh.origin,
        "layers": {k: float(v) for k, v in layers.items()},
    }
    return made, parts.parents


def follow(partition: Any, mesh: Any, made: Any, parents: np.ndarray) -> Any:
    """Return a partition of a mesh for the extended one: cells go with their parents. A word is as it was."""
    if not isinstance(partition, Partition) or partition.mesh is not mesh:
        return partition
    return Partition(made, partition.part[parents])


def owners_of(cells: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the cell that has each outer face."""
    table = FACES["tet" if cells.shape[1] == 4 else "hex"]
    all_faces = np.sort(cells[:, table].reshape(-1, table.shape[1]), axis=1)
    keys, wanted = (_keys(one) for one in (all_faces, np.sort(faces, axis=1)))
    order = np.argsort(keys)
    return np.asarray(order[np.searchsorted(keys, wanted, sorter=order)] // len(table))


def _keys(rows: np.ndarray) -> np.ndarray:
    """Return rows of integers as one thing each, which can be sorted and compared."""
    return np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1]).reshape(-1)


def _pushed(parts: Parts, side: int, axis: int, out: int, thickness: float) -> Parts:
    """Return a mesh with a side's faces pushed outwards, in layers about as thick as the cells there."""
    here = parts.ids == side
    faces, owners = parts.faces[here], owners_of(parts.cells, parts.faces[here])
    height = np.ptp(parts.vertices[parts.cells[owners]][..., axis], axis=1)
    num = max(1, round(thickness / float(np.median(height))))
    old = np.unique(faces)
    place = np.full(len(parts.vertices), -1)
    place[old] = np.arange(len(old))
    step = np.zeros(3)
    step[axis] = out * thickness / num
    new = parts.vertices[old][None] + step * np.arange(1, num + 1)[:, None, None]

    def level(vertices: np.ndarray, k: int) -> np.ndarray:
        """Vertices of the side in layer k, of which 0 is the side."""
        return vertices if k == 0 else len(parts.vertices) + (k - 1) * len(old) + place[vertices]

    edges, ids = _rim(faces, parts.faces[~here], parts.ids[~here])
    if faces.shape[1] == 3:  # a prism's diagonals rise from the vertex that comes first
        rank = _ranks(parts.vertices, old, 1e-6 * thickness / num)
        ordered, rim = (
            np.take_along_axis(one, np.argsort(rank[one], axis=1), axis=1) for one in (faces, edges)
        )
    else:
        ordered, rim = faces, edges
    cells, lateral = [], []
    for k in range(num):
        low, high = level(ordered, k), level(ordered, k + 1)
        a, b = level(rim, k), level(rim, k + 1)
        if faces.shape[1] == 3:
            cells += [
                np.column_stack([low[:, 0], low[:, 1], low[:, 2], high[:, 2]]),
                np.column_stack([low[:, 0], low[:, 1], high[:, 1], high[:, 2]]),
                np.column_stack([low[:, 0], high[:, 0], high[:, 1], high[:, 2]]),
            ]
            lateral += [np.column_stack([a, b[:, 1]]), np.column_stack([a[:, 0], b])]
        else:
            cells.append(np.column_stack([low, high]))
            lateral.append(np.column_stack([a, b[:, ::-1]]))
    times = len(cells)
    return Parts(
        np.concatenate([parts.vertices, new.reshape(-1, 3)]),
        np.concatenate([parts.cells, *cells]),
        np.concatenate([parts.tags, np.tile(parts.tags[owners], times)]),
        np.concatenate([parts.faces[~here], level(faces, num), *lateral]),
        np.concatenate([parts.ids[~here], np.full(len(faces), side), np.tile(ids, len(lateral))]),
        np.concatenate([parts.parents, np.tile(parts.parents[owners], times)]),
    )


def _ranks(vertices: np.ndarray, some: np.ndarray, grain: float) -> np.ndarray:
    """Return numbers of some vertices by their places: cells that share a face agree, if periodic too."""
    rank = np.full(len(vertices), -1)
    rank[some[np.lexsort(np.round(vertices[some] / grain).T)]] = np.arange(len(some))
    return rank


def _rim(faces: np.ndarray, others: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges around a side, and the boundary to which each goes on."""

    def edges_of(some: np.ndarray) -> np.ndarray:
        return np.stack([some, np.roll(some, -1, axis=1)], axis=2).reshape(-1, 2)

    edges, beside = edges_of(faces), edges_of(others)
    keys, those = (_keys(np.sort(one, axis=1)) for one in (edges, beside))
    which, counts = np.unique(keys, return_counts=True)
    outer = np.isin(keys, which[counts == 1])
    order = np.argsort(those)
    at = order[np.minimum(np.searchsorted(those, keys[outer], sorter=order), len(order) - 1)]
    return edges[outer], np.repeat(ids, faces.shape[1])[at]
