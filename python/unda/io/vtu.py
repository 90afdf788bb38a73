"""VTU files (VTK XML, unstructured grid) for ParaView: meshes, and the polynomials on small cells.

Each cell is subdivided along the lattice of its degree, to show the polynomials inside it. Fields remain
discontinuous: no value is shared between cells. Not here: parts common to VTK's files (vtk_xml.py).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from .._check import file_path, integer
from .._files import replacing
from ..errors import ArgumentError
from ..method import norms
from ..problem._shapes import VTK_NODES
from .vtk_xml import Series, array_head, arrays_of

# VTK's types of cells, by the number of their nodes: VTK_TETRA, VTK_HEXAHEDRON, VTK_TRIQUADRATIC_HEXAHEDRON
CELL_TYPES = {4: 10, 8: 12, 27: 29}
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
    points : ndarray, shape ((n + 1)(n + 2)(n + 3) / 6, 3) or ((n + 1)^3, 3)
        Reference coordinates; a tetrahedron's vertices are (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1).
    cells : ndarray, shape (n^3, 4) or (n^3, 8)
        Elements of the same shape that fill it, positively oriented.
    """
    return _hex_lattice(n) if shape == "hex" else _tet_lattice(n)


def _hex_lattice(n: int) -> tuple[np.ndarray, np.ndarray]:
    points = np.array([(i, j, k) for k, j, i in product(range(n + 1), repeat=3)])
    row = np.array([1, n + 1, (n + 1) ** 2])
    around = np.array([(i, j, k) for k in (0, 1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
    return points / n, points[(points < n).all(axis=1)] @ row[:, None] + around @ row


def _tet_lattice(n: int) -> tuple[np.ndarray, np.ndarray]:
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


_Data = Iterable[tuple[str, np.ndarray, Sequence[str]]]  # name, values and components, one after the other


def _scalars(values: Mapping[str, np.ndarray]) -> _Data:
    return ((name, array, ("",)) for name, array in values.items())


def _section(file: Any, name: str, data: _Data, *, told: bool = False) -> None:
    file.write(f"<{name}>\n".encode())
    for what, values, components in data:
        _array(file, what, values, components, told=told)
    file.write(f"</{name}>\n".encode())


def _write(
    path: Any, x: np.ndarray, cells: np.ndarray, about: _Data, of_points: _Data, of_cells: _Data
) -> None:
    """Write a grid of cells of one kind, what it is about, and values at its points and cells."""
    num_cell, size = cells.shape
    with replacing(path) as file:
        file.write(
            b'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" '
            b'byte_order="LittleEndian" header_type="UInt64">\n<UnstructuredGrid>\n'
        )
        _section(file, "FieldData", about, told=True)
        file.write(f'<Piece NumberOfPoints="{len(x)}" NumberOfCells="{num_cell}">\n'.encode())
        _section(file, "Points", [("Points", x, "xyz")])
        rows = {
            "connectivity": cells.astype(np.int64).ravel(),
            "offsets": size * np.arange(1, num_cell + 1, dtype=np.int64),
            "types": np.full(num_cell, CELL_TYPES[size], np.uint8),
        }
        _section(file, "Cells", _scalars(rows))
        _section(file, "PointData", of_points)
        _section(file, "CellData", of_cells)
        file.write(b"</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")


def write_mesh(mesh: Any, path: Any) -> None:
    """Write a file, see `Mesh.write_vtu`."""
    x, cells = mesh.vertices, mesh.cells
    if mesh.curved is not None:
        x, cells = mesh.curved.reshape(-1, 3), 27 * np.arange(mesh.num_elem)[:, None] + VTK_NODES
    data = {"element": np.arange(mesh.num_elem), "tag": mesh.tags}
    data |= {"volume": mesh.volumes, "quality": mesh.quality}
    _write(file_path(path), x, cells, (), (), _scalars(data))


def subdivided(sim: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut cells into smaller ones, n intervals an edge.

    Returns
    -------
    matrix : ndarray, shape (num_point, num_node)
        From a cell's nodes to the corners of its parts.
    places : ndarray, shape (num_elem * num_point, 3)
        The corners [m].
    cells : ndarray, shape (num_elem * num_part, 4 or 8)
        Corners of each part, those of a cell after another.
    """
    points, cells = lattice(n, sim.mesh.shape)
    num_elem, num_point = len(sim._material), len(points)
    matrix = norms.interpolation(sim.mesh._info.shape, sim.degree, points)
    place = np.einsum("pn,eni->epi", matrix, sim.coordinates)
    all_cells = np.broadcast_to(cells, (num_elem, *cells.shape))
    if sim.mesh.shape == "tet":  # The library sorts the vertices of a cell, which may mirror it.
        edges = place[:, cells[0, 1:]] - place[:, cells[:1, 0]]
        all_cells = np.where(np.linalg.det(edges)[:, None, None] < 0, cells[:, [0, 2, 1, 3]], cells)
    all_cells = (all_cells + num_point * np.arange(num_elem)[:, None, None]).reshape(-1, cells.shape[1])
    return matrix, place.reshape(-1, 3), all_cells


def write_vtu(sim: Any, path: Any, fields: Sequence[str] | None, subdivide: int | None, series: Any) -> None:
    """Write a file, see `DG.write_vtu`."""
    arrays = arrays_of(sim, fields)
    n = sim.degree if subdivide is None else integer("subdivide", subdivide, 1, 32)
    path, entries = file_path(path), Series(series)
    whole, path = path, path if sim.ranks is None else _piece(path, sim.ranks.rank)
    matrix, x, all_cells = subdivided(sim, n)
    num_elem, num_point = len(sim._material), len(matrix)
    num_part = len(all_cells) // max(1, num_elem)
    if sim.dtype.itemsize == 4 and np.abs(x).max() < 1e5:
        x = x.astype(np.float32)

    def of_points() -> _Data:
        for name, components in arrays.items():
            values = np.empty((num_elem * num_point, len(components)), sim.dtype)
            for i, field in enumerate(components):
                values[:, i] = (sim.get(field) @ matrix.T).ravel()
            yield name, values, components

    number = np.arange(num_elem, dtype=np.int64) if sim.ranks is None else sim.mesh.own_cells
    of_cells = {"element": number, "tag": sim.mesh.tags[:num_elem].astype(np.int32)}
    for i, name in enumerate(sim.medium.parameters):
        of_cells[name] = sim._material[:, :, i].mean(axis=1)
    repeated = {name: np.repeat(values, num_part) for name, values in of_cells.items()}
    config = np.frombuffer(json.dumps(sim.config).encode(), np.uint8)
    about = {"TimeValue": np.array([sim.t]), "config": config}
    _write(path, x, all_cells, _scalars(about), of_points(), _scalars(repeated))
    if sim.ranks is not None:
        sim.ranks.meet("pieces")  # all are there before the file that names them
        if sim.ranks.rank:
            return
        kinds = {name: (np.dtype(sim.dtype), ends) for name, ends in arrays.items()}
        _write_pieces(
            whole, sim.ranks.size, x.dtype, kinds, {name: one.dtype for name, one in of_cells.items()}
        )
    entries.add(whole, sim.t)


def _piece(path: Path, rank: int) -> Path:
    """Return the name of a process's file beside the .pvtu that names all of them."""
    if path.suffix != ".pvtu":
        raise ArgumentError(
            f"path is {str(path)!r}; expected a name that ends in .pvtu where processes share a mesh"
        )
    return path.with_name(f"{path.stem}_{rank}.vtu")


def _write_pieces(
    path: Path, num: int, place: np.dtype, of_points: Mapping[str, Any], of_cells: Mapping[str, np.dtype]
) -> None:
    """Write the file that names those of all processes, with what each of them has."""
    rows = ["<PPoints>", f"<PDataArray {array_head('Points', place, 'xyz')}/>", "</PPoints>", "<PPointData>"]
    rows += [f"<PDataArray {array_head(name, kind, ends)}/>" for name, (kind, ends) in of_points.items()]
    rows += ["</PPointData>", "<PCellData>"]
    rows += [f"<PDataArray {array_head(name, kind)}/>" for name, kind in of_cells.items()]
    rows += ["</PCellData>", *(f"<Piece Source={quoteattr(_piece(path, i).name)}/>" for i in range(num))]
    with replacing(path) as file:
        file.write(
            b'<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" version="1.0" '
            b'byte_order="LittleEndian" header_type="UInt64">\n<PUnstructuredGrid GhostLevel="0">\n'
        )
        file.write("\n".join([*rows, "</PUnstructuredGrid>\n</VTKFile>\n"]).encode())
