"""Gmsh files (.msh 2.2 and 4.1, ASCII and binary) as arrays: a wrapper around meshio's reader.

Turns every failure of that reader into `MeshError`, and bounds what a damaged file can make it
allocate. Not here: connecting the mesh and checking its geometry (C, by way of ``problem/mesh.py``).
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import MeshError
from ..problem._shapes import FACES, SIZES, VTK_NODES
from ._gmsh_faults import explain

logger = logging.getLogger("unda")

_LOWER_DIMENSIONS = re.compile(r"(vertex|line\d*)$")
_CELLS = {"tetra": "tet", "hexahedron": "hex"}
_SIDES = {"triangle": "tet", "quad": "hex"}  # and the shape that has them
_CELLS_OF, _FACES_OF = ({shape: kind for kind, shape in table.items()} for table in (_CELLS, _SIDES))
_WORDS = {  # one and several
    "tetra": ("tetrahedron", "tetrahedra"), "hexahedron": ("hexahedron", "hexahedra"),
    "wedge": ("wedge", "wedges"), "pyramid": ("pyramid", "pyramids"), "triangle": ("triangle", "triangles"),
    "quad": ("quadrilateral", "quadrilaterals"),
}  # fmt: skip


def _counted(number: int, kind: str) -> str:
    """Return how many there are of a kind, in words."""
    return f"{number} {_WORDS.get(kind, (kind, kind))[number != 1]}"


def read_gmsh(path: Path, *, linearize: bool) -> dict[str, Any]:
    """Return the arguments of `Mesh` that a Gmsh file has; `linearize` drops the inner nodes of curved cells.

    Raises
    ------
    FileNotFoundError
        No such file.
    MeshError
        Anything else.
    """
    if not path.exists():
        raise FileNotFoundError(f"no mesh file {path}")
    try:
        names = _scan(path)
        raw = _read_quietly(path)
        raw.field_data = names
        return _arrays(raw, linearize=linearize)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from error.__cause__
    except (Exception, SystemExit) as error:
        if path.is_file() and (fault := explain(path)):
            raise MeshError(f"{path}: {fault}") from error
        detail = str(error).strip() or type(error).__name__
        raise MeshError(f"{path} is not a Gmsh file that can be read: {detail}") from error


class _Damaged(Exception):
    """Sections that are not as their heads say; `explain` knows where."""


# -------------------------------------------------------------------- bounds before allocation


def _scan(path: Path) -> dict[tuple[int, int], str]:
    """Refuse files that meshio would misread; return the names of (dimension, group).

    meshio allocates by the counts in the file, and a table as long as the largest node number; in text
    files it takes unknown nodes for others, and it keeps one group of each name.
    """
    size = path.stat().st_size
    names: dict[tuple[int, int], str] = {}
    nodes, seen = np.empty(0, np.int64), set()
    with path.open("rb") as file:
        head = _head(file)
        for line in iter(file.readline, b""):
            name = line.strip()
            if name == b"$PhysicalNames":
                names = _group_names(file)
            if name not in (b"$Nodes", b"$Elements"):
                continue
            if name in seen:
                raise _Damaged(f"it has two sections {name.decode()}")
            seen.add(name)
            counts = _counts(file, head)
            if max(counts[:2]) > size:
                raise MeshError(f"{name.decode()} declares {counts[:2]} items in {size} bytes")
            if name == b"$Nodes":
                nodes = np.sort(_node_numbers(file, head, counts))
                largest = int(nodes.max(initial=0))
                if largest > 64 * size:
                    raise MeshError(f"node number {largest} in a file of {size} bytes; renumber them")
                if (twice := nodes[1:][nodes[1:] == nodes[:-1]]).size:
                    raise MeshError(f"node number {twice[0]} occurs twice")
                _expect_end(file, b"$EndNodes")
            elif not head.binary:
                _check_elements(file, head, counts, nodes)
            elif head.version == "4.1":
                _check_blocks(file, head, counts)
    if len(seen) < 2:
        raise _Damaged("it lacks $Nodes or $Elements")
    return names


def _expect_end(file: Any, end: bytes) -> None:
    """Refuse what stands between the last item of a section and its end."""
    line = b"\n"
    while line and not line.strip():
        line = file.readline()
    if line.strip() != end:
        raise _Damaged(f"{end.decode()} is not where the counts of its section say")


def _group_names(file: Any) -> dict[tuple[int, int], str]:
    """Read $PhysicalNames: dimension, number and name a line."""
    names = {}
    for _ in range(int(file.readline())):
        line = file.readline()
        try:
            dimension, number, name = line.decode().split(maxsplit=2)
        except UnicodeDecodeError as error:
            raise MeshError(
                f"$PhysicalNames has the line {line.strip().decode('latin-1')!r} if its letters are Latin-1, "
                "expected UTF-8: save the file in that encoding, or name the group in plain letters"
            ) from error
        names[int(dimension), int(number)] = name.strip().strip('"')
    return names


def _check_elements(file: Any, head: _Head, counts: list[int], nodes: np.ndarray) -> None:
    """Refuse elements of a text file whose nodes are not there, and a count that is wrong."""
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_type

    used: set[int] = set()
    sizes = {kind: num_nodes_per_cell.get(name) for kind, name in _gmsh_to_meshio_type.items()}

    def add(kind: int, nodes: list[int]) -> None:
        if len(nodes) != sizes.get(kind):
            raise _Damaged(f"an element of type {kind} has {len(nodes)} nodes")
        used.update(nodes)

    def read() -> list[int]:
        return [int(word) for word in file.readline().split()]

    if head.old:
        for _ in range(counts[0]):
            _, kind, tags, *rest = read()
            add(kind, rest[tags:])
    else:
        for _ in range(counts[0]):
            _, _, kind, num = read()
            for _ in range(num):
                add(kind, read()[1:])
    _expect_end(file, b"$EndElements")
    unknown = np.setdiff1d(np.fromiter(used, np.int64, len(used)), nodes)
    if len(unknown):
        raise MeshError(
            f"elements name {len(unknown)} nodes that are not in the file, the first {unknown[0]}"
        )


def _check_blocks(file: Any, head: _Head, counts: list[int]) -> None:
    """Refuse blocks of $Elements, of a binary file of format 4.1, that have more elements than it has."""
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_type

    left = counts[1]
    for _ in range(counts[0]):
        kind = int(head.read(file, "i4", 3)[2])
        num = int(head.sizes(file, 1)[0])
        left -= num
        if left < 0:
            raise MeshError(f"$Elements declares {counts[1]} elements; one of its blocks has {num}")
        name = _gmsh_to_meshio_type.get(kind)
        if name not in num_nodes_per_cell:
            return  # meshio raises then
        file.seek(num * (1 + num_nodes_per_cell[name]) * head.width, 1)


class _Head(NamedTuple):
    """The head of a file: its version, whether it is binary, bytes of a size."""

    version: str
    binary: bool
    width: int

    @property
    def old(self) -> bool:
        """True for format 2."""
        return self.version.startswith("2")

    def read(self, file: Any, dtype: Any, count: int) -> np.ndarray:
        """Read exactly `count` numbers."""
        if count < 0:
            raise _Damaged(f"negative count {count}")
        values = np.fromfile(file, dtype, count, sep="" if self.binary else " ")
        if len(values) != count:
            raise _Damaged("it ends too early")
        return values

    def sizes(self, file: Any, count: int) -> np.ndarray:
        """Read exactly `count` sizes or numbers of nodes."""
        return self.read(file, f"u{self.width}" if self.binary else "i8", count)


def _head(file: Any) -> _Head:
    line = file.readline().strip()
    while line == b"$Comments":
        for skipped in iter(file.readline, b""):
            if skipped.strip() == b"$EndComments":
                break
        line = file.readline().strip()
    words = file.readline().split()
    if line != b"$MeshFormat" or len(words) != 3:
        raise MeshError("it does not begin with $MeshFormat")
    head = _Head(words[0].decode(), words[1] == b"1", int(words[2]))
    if not (head.old or head.version in ("4", "4.1")):
        raise MeshError(f"format {head.version}, expected 2.2 or 4.1; save with gmsh -format msh41")
    if head.width not in (4, 8):
        raise MeshError(f"sizes of {head.width} bytes, expected 4 or 8")
    if head.binary and file.read(4) != np.array(1, "i4").tobytes():
        raise MeshError("binary file of the other byte order")
    return head


def _counts(file: Any, head: _Head) -> list[int]:
    """Read the counts at the head of $Nodes or $Elements; in format 2 there is one, always text."""
    return [int(file.readline())] if head.old else [int(value) for value in head.sizes(file, 4)]


def _node_numbers(file: Any, head: _Head, counts: list[int]) -> np.ndarray:
    """Read the whole of $Nodes and return its node numbers."""
    if head.old and not head.binary:
        return head.read(file, "f8", 4 * counts[0])[::4].astype(np.int64)
    if head.old:
        record = np.dtype([("index", "i4"), ("x", "f8", (3,))])
        return head.read(file, record, counts[0])["index"].astype(np.int64)
    found, parts = 0, [np.empty(0, np.int64)]
    for _ in range(counts[0]):
        head.read(file, "i4", 3)
        num_node = int(head.sizes(file, 1)[0])
        found += num_node
        if found > counts[1]:
            break
        numbers = head.sizes(file, num_node)
        if num_node and int(numbers.min()) < 1:
            raise MeshError(f"node number {int(numbers.min())}, expected at least 1")
        parts.append(numbers.astype(np.int64))
        head.read(file, "f8", 3 * num_node)
    if found != counts[1]:
        raise _Damaged(f"$Nodes declares {counts[1]} nodes and lists {found}")
    return np.concatenate(parts)


# -------------------------------------------------------------------- meshio


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Log what meshio prints; make an error of numpy's warning about text that is no number."""
    output = io.StringIO()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore")
        warnings.filterwarnings("error", message="string or file could not be read")
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            yield
    if output.getvalue().strip():
        logger.info("meshio: %s", " ".join(output.getvalue().split()))


def _read_quietly(path: Path) -> Any:
    """Return the meshio mesh of a Gmsh file."""
    with _quiet():
        from meshio import ReadError, gmsh  # loaded here: import unda must stay light

        try:
            return gmsh.read(str(path))
        except (ReadError, ValueError) as error:
            if "Incompatible cell data 'gmsh:physical'" in str(error):
                raise MeshError(
                    "some of its entities are in a physical group and others in none; put all volumes in "
                    "groups, or save with Mesh.SaveAll = 0"
                ) from error
            raise


def _physical(raw: Any) -> list[np.ndarray]:
    """Return the physical group of each cell of each block, 0 for none.

    A group of which an entity is turned round stands there with a minus: it is the same group.
    """
    groups = raw.cell_data.get("gmsh:physical")
    if groups is None:
        return [np.zeros(len(block.data), np.int64) for block in raw.cells]
    return [np.abs(np.asarray(group, np.int64)) for group in groups]


def _kind(block: Any) -> str:
    """Return the shape of a block's cells; meshio adds how many nodes curved ones have."""
    return str(block.type.rstrip("0123456789"))


def _shape(raw: Any) -> str:
    """Return the shape of the cells, or refuse a mesh that has none or several."""
    count: dict[str, int] = {}
    for block in raw.cells:
        shape = _kind(block)
        if len(block.data) and shape not in _SIDES and not _LOWER_DIMENSIONS.match(block.type):
            count[shape] = count.get(shape, 0) + len(block.data)
    found = " and ".join(_counted(number, shape) for shape, number in count.items())
    if len(count) > 1:
        raise MeshError(f"mixed cells: {found}; a mesh has tetrahedra only or hexahedra only")
    if not count:
        raise MeshError("it has no tetrahedra and no hexahedra")
    if not count.keys() <= _CELLS.keys():
        raise MeshError(f"{found}, expected tetrahedra only or hexahedra only")
    return _CELLS[next(iter(count))]


def _check_curved(raw: Any, shape: str) -> bool:
    """Return whether all cells have 27 nodes; refuse other curved cells."""
    kinds = {block.type for block in raw.cells if len(block.data) and _kind(block) in {*_CELLS, *_SIDES}}
    cells = {kind for kind in kinds if kind.startswith("hexahedron")}
    if cells == {"hexahedron27"}:
        return True
    if "hexahedron20" in cells:
        raise MeshError(
            "curved cells of 20 nodes (hexahedron20), which lack those in faces and middle; save 27 nodes "
            "with Mesh.SecondOrderIncomplete = 0, or pass linearize=True to use the corners only"
        )
    if cells == {"hexahedron", "hexahedron27"}:
        raise MeshError(
            "cells of 8 and of 27 nodes; save all with gmsh -order 2, or pass linearize=True to use the "
            "corners only"
        )
    curved = sorted(kind for kind in kinds if kind[-1].isdigit())
    if curved:
        order = "order 1" if shape == "tet" else "order 1 or 2"
        raise MeshError(
            f"curved cells {', '.join(curved)}; pass linearize=True to use their corners only, or "
            f"save with gmsh -{order}"
        )
    return False


_Blocks = tuple[np.ndarray, np.ndarray]  # nodes of cells or faces, and their groups


def _collect(raw: Any, shape: str, *, curved: bool) -> tuple[_Blocks, _Blocks]:
    """Return the cells (all nodes of curved ones) and the faces of a meshio mesh, with their groups."""
    num_vertex, _, corners = SIZES[shape]
    wide = 27 if curved else num_vertex
    cells: list[_Blocks] = []
    faces: list[_Blocks] = [(np.empty((0, corners), np.int64), np.empty(0, np.int64))]
    for block, group in zip(raw.cells, _physical(raw), strict=True):
        kind = _kind(block)
        if len(block.data) == 0:
            continue
        data = np.asarray(block.data, np.int64)
        if kind in _CELLS:
            cells.append((data[:, :wide], group))
        elif kind in _SIDES:
            if _SIDES[kind] != shape:
                raise MeshError(
                    f"{_counted(len(data), kind)} among the faces, but the cells are "
                    f"{_WORDS[_CELLS_OF[shape]][1]}, whose faces are {_WORDS[_FACES_OF[shape]][1]}"
                )
            faces.append((data[:, :corners], group))
    one, other = ([np.concatenate(part) for part in zip(*parts, strict=True)] for parts in (cells, faces))
    return (one[0], one[1]), (other[0], other[1])


def _names(raw: Any, dimension: int, used: np.ndarray) -> dict[str, int]:
    """Return {name: physical group} of one dimension; a group without a name goes by its number."""
    out: dict[str, int] = {}
    for group in np.unique(used).tolist():
        name = raw.field_data.get((dimension, group), str(group))
        if name in out:
            logger.info("two groups are named %r: group %d goes by its number", name, group)
            name = str(group)
        out[name] = group
    return out


def _face_keys(vertices: np.ndarray) -> np.ndarray:
    """Return a 64-bit hash of the vertices of each face that does not depend on their order."""
    mixers = np.array(
        [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93], np.uint64
    )
    ordered = np.sort(vertices, axis=1).astype(np.uint64)
    return (ordered * mixers[: ordered.shape[1]]).sum(axis=1, dtype=np.uint64)


def _times_used(cells: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return how many cells have each face."""
    local = FACES["tet" if cells.shape[1] == 4 else "hex"]
    keys = np.sort(np.concatenate([_face_keys(cells[:, face]) for face in local]))
    wanted = _face_keys(faces)
    return np.searchsorted(keys, wanted, "right") - np.searchsorted(keys, wanted, "left")


def _boundaries(raw: Any, cells: np.ndarray, faces: np.ndarray, groups: np.ndarray) -> Any:
    """Return {name: outer faces}, or None if the file names no outer face."""
    named = groups != 0
    faces, groups = faces[named], groups[named]
    uses = _times_used(cells, faces)
    names = _names(raw, 2, groups)
    out = {}
    for name, group in names.items():
        inside = (groups == group) & (uses == 2)
        if inside.any():
            logger.info("surface %r: ignored %d faces inside the mesh", name, int(inside.sum()))
        outer = faces[(groups == group) & (uses != 2)]
        if len(outer):
            _, first = np.unique(np.sort(outer, axis=1), axis=0, return_index=True)
            out[name] = outer[np.sort(first)]
    return out or None


def _arrays(raw: Any, *, linearize: bool) -> dict[str, Any]:
    """Make arrays of a meshio mesh: named groups, used vertices only."""
    shape = _shape(raw)
    curved = not linearize and _check_curved(raw, shape)
    (nodes, tags), (faces, groups) = _collect(raw, shape, curved=curved)
    points = np.asarray(raw.points, np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"points of shape {points.shape}, expected (n, 3)")
    low, high = min(nodes.min(), faces.min(initial=0)), max(nodes.max(), faces.max(initial=0))
    if low < 0 or high >= len(points):
        raise MeshError("a cell names a node that is not in the file")
    cells = nodes[:, :8]
    used = np.zeros(len(points), bool)
    used[cells] = True
    if not used[faces].all():
        raise MeshError("a surface uses nodes that no cell has")
    renumber = np.cumsum(used) - 1
    cells, faces = renumber[cells], renumber[faces]
    if tags.min() < 0 or tags.max() > np.iinfo(np.int32).max:  # |-2^63| is negative
        raise MeshError("a physical group number has more than 31 bits")
    return {
        "vertices": points[used], "cells": cells, "tags": tags.astype(np.int32),
        "tag_names": _names(raw, 3, tags), "boundaries": _boundaries(raw, cells, faces, groups),
        "curved": points[nodes[:, np.argsort(VTK_NODES)]] if curved else None,
    }  # fmt: skip
