"""VTU files (VTK XML, unstructured grid) for ParaView: the polynomials on small tetrahedra.

Each cell is cut along the lattice of its degree, so that what the polynomials do inside it shows.
Fields stay discontinuous: no value is shared between cells. Not here: the solver (dg.py).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from . import norms
from ._check import field_names, file_path, integer
from .errors import FileError

__all__ = ["lattice", "write_vtu"]

_TETRA = 10  # VTK_TETRA
_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
# Paths along the edges of a cube from corner to corner: each is a tetrahedron (Kuhn 1960).
_PATHS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]


@cache
def lattice(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lattice of the reference tetrahedron with n intervals an edge.

    Parameters
    ----------
    n : int

    Returns
    -------
    points : ndarray, shape ((n + 1)(n + 2)(n + 3) / 6, 3)
        Reference coordinates, vertices (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1).
    cells : ndarray, shape (n^3, 4)
        Tetrahedra that fill it, positively oriented.
    """
    # In y_1 = x_1 + x_2 + x_3, y_2 = x_2 + x_3, y_3 = x_3 it is n >= y_1 >= y_2 >= y_3 >= 0, a union of
    # Kuhn's tetrahedra of the unit cubes: those whose corners all lie in it.
    corners: dict[tuple[int, ...], int] = {}
    for point in product(range(n + 1), repeat=3):
        if point[0] >= point[1] >= point[2]:
            corners[point] = len(corners)
    cells = []
    for low in product(range(n), repeat=3):
        for path in _PATHS:
            at, one = list(low), [tuple(low)]
            for axis in path:
                at[axis] += 1
                one.append(tuple(at))
            if all(corner in corners for corner in one):
                cells.append([corners[corner] for corner in one])
    y = np.array(list(corners), float)
    x = np.stack([y[:, 0] - y[:, 1], y[:, 1] - y[:, 2], y[:, 2]], axis=1)
    filled = np.array(cells)
    flipped = np.linalg.det(x[filled[:, 1:]] - x[filled[:, :1]]) < 0
    filled[flipped] = filled[flipped][:, [0, 2, 1, 3]]
    return x / n, filled


def _array(file: Any, name: str, values: np.ndarray) -> None:
    """Write one DataArray, base64."""
    values = np.ascontiguousarray(values)
    wide = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    file.write(
        f'<DataArray Name={quoteattr(name)} type="{_TYPES[values.dtype.str[1:]]}"{wide} format="binary">\n'
    )
    file.write(base64.b64encode(np.uint64(values.nbytes).tobytes()).decode())
    file.write(base64.b64encode(values.tobytes()).decode())
    file.write("\n</DataArray>\n")


def write_vtu(sim: Any, path: Any, fields: Sequence[str] | None, subdivide: int | None) -> None:
    """Write a file, see `DG.write_vtu`."""
    chosen = field_names(fields, sim.fields)
    n = sim.degree if subdivide is None else integer("subdivide", subdivide, 1, 32)
    path = file_path(path)
    points, cells = lattice(n)
    num_elem, num_point = sim.mesh.num_elem, len(points)
    matrix = norms.interpolation(sim.degree, points)
    place = np.einsum("pn,eni->epi", matrix, sim.coordinates)
    # The library sorts the vertices of a cell, which may mirror it.
    edges = place[:, cells[0, 1:]] - place[:, cells[:1, 0]]
    turned = np.where(np.linalg.det(edges)[:, None, None] < 0, cells[:, [0, 2, 1, 3]], cells)
    all_cells = (turned + num_point * np.arange(num_elem)[:, None, None]).reshape(-1, 4)
    x = place.reshape(-1, 3)
    if sim.dtype.itemsize == 4 and np.abs(x).max() < 1e5:
        x = x.astype(np.float32)
    partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(partial, "w", encoding="ascii") as file:
            file.write(
                '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" '
                'byte_order="LittleEndian" header_type="UInt64">\n<UnstructuredGrid>\n<FieldData>\n'
            )
            _array(file, "TimeValue", np.array([sim.t]))
            text = json.dumps(sim.config).encode()
            _array(file, "config", np.frombuffer(text, np.uint8))
            file.write(
                f'</FieldData>\n<Piece NumberOfPoints="{len(x)}" NumberOfCells="{len(all_cells)}">\n'
                "<Points>\n"
            )
            _array(file, "Points", x)
            file.write("</Points>\n<Cells>\n")
            _array(file, "connectivity", all_cells.astype(np.int64).ravel())
            _array(file, "offsets", 4 * np.arange(1, len(all_cells) + 1, dtype=np.int64))
            _array(file, "types", np.full(len(all_cells), _TETRA, np.uint8))
            file.write("</Cells>\n<PointData>\n")
            for name in chosen:
                values = (sim.get(name) @ matrix.T).astype(sim.dtype)
                _array(file, name, values.ravel())
            file.write("</PointData>\n<CellData>\n")
            _array(file, "element", np.repeat(np.arange(num_elem, dtype=np.int64), len(cells)))
            _array(file, "tag", np.repeat(sim.mesh.tags.astype(np.int32), len(cells)))
            for i, name in enumerate(sim.medium.parameters):
                _array(file, name, np.repeat(sim._material[:, i], len(cells)))
            file.write("</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")
        os.replace(partial, path)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()
