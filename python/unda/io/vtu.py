"""VTU files (VTK XML, unstructured grid) for ParaView: the polynomials on small tetrahedra.

Each cell is subdivided along the lattice of its degree, to show the polynomials inside it. Fields remain
discontinuous: no value is shared between cells. Not here: parts common to VTK's files (vtk_xml.py).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from .._check import file_path, integer
from .._files import replacing
from ..method import norms
from .vtk_xml import Series, array_head, arrays_of

_TETRA = 10  # VTK_TETRA
# Paths along the edges of a cube from corner to corner: each is a tetrahedron (Kuhn 1960).
_PATHS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]


@cache
def lattice(n: int, shape: str = "tet") -> tuple[np.ndarray, np.ndarray]:
    """Return the lattice of a reference element with n intervals an edge.

    Parameters
    ----------
    n : int
    shape : {"tet", "hex"}

    Returns
    -------
    points : ndarray, shape (num_point, 3)
        Reference coordinates, with vertices (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1).
    cells : ndarray, shape (num_cell, 4)
        Tetrahedra that fill it, positively oriented.
    """
    # In y_1 = x_1 + x_2 + x_3, y_2 = x_2 + x_3, y_3 = x_3 it is n >= y_1 >= y_2 >= y_3 >= 0, a union of
    # Kuhn's tetrahedra of the unit cubes: those whose corners all lie in it.
    corners: dict[tuple[int, ...], int] = {}
    for point in product(range(n + 1), repeat=3):
        if shape == "hex" or point[0] >= point[1] >= point[2]:
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
    x = y if shape == "hex" else np.stack([y[:, 0] - y[:, 1], y[:, 1] - y[:, 2], y[:, 2]], axis=1)
    filled = np.array(cells)
    flipped = np.linalg.det(x[filled[:, 1:]] - x[filled[:, :1]]) < 0
    filled[flipped] = filled[flipped][:, [0, 2, 1, 3]]
    return x / n, filled


def _array(
    file: Any, name: str, values: np.ndarray, components: Sequence[str] = ("",), *, told: bool = False
) -> None:
    """Write one DataArray, base64; `told`: how many tuples it has."""
    values = np.ascontiguousarray(values)
    head = array_head(name, values.dtype, components, len(values) if told else None)
    file.write(f'<DataArray {head} format="binary">\n'.encode())
    file.write(base64.b64encode(np.uint64(values.nbytes).tobytes()))
    file.write(base64.b64encode(values.tobytes()))
    file.write(b"\n</DataArray>\n")


def write_vtu(sim: Any, path: Any, fields: Sequence[str] | None, subdivide: int | None, series: Any) -> None:
    """Write a file, see `DG.write_vtu`."""
    arrays = arrays_of(sim, fields)
    n = sim.degree if subdivide is None else integer("subdivide", subdivide, 1, 32)
    path, entries = file_path(path), Series(series)
    points, cells = lattice(n, sim.mesh.shape)
    num_elem, num_point = sim.mesh.num_elem, len(points)
    matrix = norms.interpolation(sim.mesh._info.shape, sim.degree, points)
    place = np.einsum("pn,eni->epi", matrix, sim.coordinates)
    # The library sorts the vertices of a cell, which may mirror it.
    edges = place[:, cells[0, 1:]] - place[:, cells[:1, 0]]
    turned = np.where(np.linalg.det(edges)[:, None, None] < 0, cells[:, [0, 2, 1, 3]], cells)
    all_cells = (turned + num_point * np.arange(num_elem)[:, None, None]).reshape(-1, 4)
    x = place.reshape(-1, 3)
    if sim.dtype.itemsize == 4 and np.abs(x).max() < 1e5:
        x = x.astype(np.float32)
    with replacing(path) as file:
        file.write(
            b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" '
            b'byte_order="LittleEndian" header_type="UInt64">\n<UnstructuredGrid>\n<FieldData>\n'
        )
        _array(file, "TimeValue", np.array([sim.t]), told=True)
        _array(file, "config", np.frombuffer(json.dumps(sim.config).encode(), np.uint8), told=True)
        file.write(
            f'</FieldData>\n<Piece NumberOfPoints="{len(x)}" NumberOfCells="{len(all_cells)}">\n'
            "<Points>\n".encode()
        )
        _array(file, "Points", x, "xyz")
        file.write(b"</Points>\n<Cells>\n")
        _array(file, "connectivity", all_cells.astype(np.int64).ravel())
        _array(file, "offsets", 4 * np.arange(1, len(all_cells) + 1, dtype=np.int64))
        _array(file, "types", np.full(len(all_cells), _TETRA, np.uint8))
        file.write(b"</Cells>\n<PointData>\n")
        for name, components in arrays.items():
            values = np.empty((num_elem * num_point, len(components)), sim.dtype)
            for i, field in enumerate(components):
                values[:, i] = (sim.get(field) @ matrix.T).ravel()
            _array(file, name, values, components)
        file.write(b"</PointData>\n<CellData>\n")
        _array(file, "element", np.repeat(np.arange(num_elem, dtype=np.int64), len(cells)))
        _array(file, "tag", np.repeat(sim.mesh.tags.astype(np.int32), len(cells)))
        for i, name in enumerate(sim.medium.parameters):
            _array(file, name, np.repeat(sim._material[:, i], len(cells)))
        file.write(b"</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")
    entries.add(path, sim.t)
