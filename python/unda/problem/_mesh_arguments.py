"""Checks of the arguments of `Mesh`: cells, named boundaries, periodic pairs, names of tags.

Not here: checks of the mesh itself, in C. Next: ``mesh.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from ..errors import ArgumentError, MeshError


def cells_array(cells: ArrayLike) -> np.ndarray:
    """Return the cells as int64 (n, 4) or (n, 8)."""
    array = _core.as_array(cells, np.int64, (None, None), "cells")
    if array.shape[1] not in (4, 8):
        raise ArgumentError(
            f"cells has shape {array.shape}, expected (any, 4) for tetrahedra or (any, 8) for hexahedra"
        )
    return array


def boundary_arrays(
    boundaries: Mapping[str, ArrayLike] | None, num_face_vertex: int
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return the faces, their boundary ids and the names of the boundaries, sorted by boundary."""
    if boundaries is None:
        return np.empty((0, num_face_vertex), np.int64), np.empty(0, np.int32), ("boundary",)
    if not isinstance(boundaries, Mapping):
        raise ArgumentError(f"boundaries is {type(boundaries).__name__}, expected {{name: faces}}")
    names, parts = [], []
    for name, faces in boundaries.items():
        if not isinstance(name, str) or not name or name == "*":
            raise ArgumentError(f"boundary name {name!r}, expected a word; '*' means the rest")
        part = _core.as_array(faces, np.int64, (None, num_face_vertex), f"boundaries[{name!r}]")
        if len(part) == 0:
            raise MeshError(f"boundary {name!r} has no faces")
        names.append(name)
        parts.append(part)
    if not parts:
        raise MeshError("boundaries is empty, so no outer face belongs to a boundary")
    ids = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts])
    return np.concatenate(parts), ids, tuple(names)


def periodic_pairs(periodic: Iterable[tuple[str, str]] | None, names: Sequence[str]) -> np.ndarray:
    """Return the pairs as boundary ids (n, 2)."""
    if periodic is None:
        return np.empty((0, 2), np.int32)
    if isinstance(periodic, (str, bytes)) or not isinstance(periodic, Iterable):
        raise ArgumentError(f"periodic is {periodic!r}, expected pairs of boundary names")
    pairs = []
    for pair in periodic:
        if isinstance(pair, (str, bytes)) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ArgumentError(f"periodic has {pair!r}, expected a pair of boundary names")
        for name in pair:
            if name not in names:
                raise ArgumentError(f"periodic names {name!r}, the boundaries are {list(names)}")
        pairs.append([names.index(name) for name in pair])
    return np.array(pairs, np.int32).reshape(-1, 2)


def tag_table(tag_names: Mapping[str, int] | None, tags: np.ndarray) -> dict[str, int]:
    """Return {name: tag}; tags in use without a name go by their number."""
    table: dict[str, int] = {}
    if tag_names is not None and not isinstance(tag_names, Mapping):
        raise ArgumentError(f"tag_names is {type(tag_names).__name__}, expected {{name: tag}}")
    for name, tag in (tag_names or {}).items():
        if not isinstance(name, str) or isinstance(tag, bool) or not isinstance(tag, (int, np.integer)):
            raise ArgumentError(f"tag_names has {name!r}: {tag!r}, expected {{name: integer}}")
        if int(tag) in table.values():
            raise ArgumentError(f"tag_names gives tag {tag} two names, one of them {name!r}")
        table[name] = int(tag)
    for tag in np.unique(tags).tolist():
        if tag not in table.values():
            if str(tag) in table:
                raise ArgumentError(f"tag_names gives {str(tag)!r}, the name of tag {tag}, to another")
            table[str(tag)] = tag
    return table


def with_names(error: MeshError, names: Sequence[str]) -> MeshError:
    """Add the names of boundaries to a message of the C library, which has their numbers only."""
    message = str(error)
    if "boundar" in message and len(names) > 1:
        listed = ", ".join(f"{i} = {name}" for i, name in enumerate(names))
        return MeshError(f"{message} (boundaries: {listed})")
    return error
