"""METIS: partitions of the graph of cells that share faces (Karypis & Kumar 1998), through pymetis.

Not here: ranges of the space-filling curve (``csrc/mesh/partition.c``). Next: ``partition.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._core import lib
from ..errors import ArgumentError

if TYPE_CHECKING:
    from .mesh import Mesh

#: METIS adds up weights in integers of 32 bits
_MOST_WEIGHT = 2**30


def graph(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of `unda_mesh_graph`: neighbours of each cell, and faces that join them."""
    first = np.empty(mesh.num_elem + 1, np.int64)
    to = _core.pointer(first, writable=True)
    _core.check(lib.unda_mesh_graph(mesh._handle, to, _core.NULL, _core.NULL))
    other, shared = np.empty(first[-1], np.int64), np.empty(first[-1], np.int32)
    arrays = [_core.pointer(array, writable=True) for array in (other, shared)]
    _core.check(lib.unda_mesh_graph(mesh._handle, to, *arrays))
    return first, other, shared


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Return weights as integers of at least 1 whose sum METIS can hold."""
    scale = min(1000 / weights.max(), _MOST_WEIGHT / weights.sum())
    return np.maximum(1, np.rint(weights * scale)).astype(np.int64)


def _pymetis() -> Any:
    try:
        import pymetis
    except ImportError:
        raise ImportError("method='metis' needs pymetis: pip install 'unda-waves[metis]'") from None
    return pymetis


def metis_parts(mesh: Mesh, num: int, weights: np.ndarray | None) -> np.ndarray:
    """Return the parts that METIS finds; the same on every call."""
    metis = _pymetis()
    if num > mesh.num_elem:
        raise ArgumentError(f"num is {num}, expected 1 to the {mesh.num_elem} cells of the mesh")
    if num == 1:
        return np.zeros(mesh.num_elem, np.int32)
    first, other, shared = graph(mesh)
    more = {} if weights is None else {"vweights": whole_weights(weights)}
    found = metis.part_graph(num, metis.CSRAdjacency(first, other), eweights=shared, **more)
    part = np.asarray(found.vertex_part, np.int32)
    empty = np.flatnonzero(np.bincount(part, minlength=num) == 0)
    if len(empty):
        raise ArgumentError(
            f"METIS left {len(empty)} of {num} parts without cells, first {empty[:3].tolist()}; take fewer "
            "parts, or method='curve'"
        )
    return part
