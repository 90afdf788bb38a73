"""VTI files (VTK XML, regular grid) for ParaView: the values of `FD.get`, bit for bit.

Not here: meshes (vtu.py), parts common to VTK's files (vtk_xml.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._check import file_path
from .._files import replacing
from ..problem.grid import chunks
from .vtk_xml import Series, array_head, arrays_of

_BLOCK = 2**24  # bytes transposed at a time


def _turned(components: list[np.ndarray]) -> Iterator[bytes]:
    """Yield arrays (nx, ny, nz) in VTK's order: components together, then x fastest."""
    planes = [values.T for values in components]
    step = max(1, _BLOCK // (len(planes) * planes[0][0].nbytes))
    for k in range(0, len(planes[0]), step):
        yield np.stack([one[k : k + step] for one in planes], axis=-1).tobytes()


def _fields(sim: Any, names: Sequence[str]) -> list[np.ndarray]:
    return [sim.get(name, gather=True) for name in names]


def _parameter(sim: Any, name: str) -> list[np.ndarray]:
    """Return a parameter of the medium at the nodes (nx, ny, nz)."""
    out, number = np.empty(sim.grid.shape, sim.dtype), list(sim.medium.parameters).index(name)
    for (first, count, block), table in zip(chunks(sim.grid), sim._material.tables(), strict=True):
        out[first : first + count] = table[:, number].reshape(block.shape)
    return [out]


def write_vti(sim: Any, path: Any, fields: Sequence[str] | None, series: Any) -> None:
    """Write a file, see `FD.write_vti`."""
    wanted, path, grid, entries = arrays_of(sim, fields), file_path(path), sim.grid, Series(series)
    if sim.ranks is not None and sim.ranks.rank:  # process 0 writes what all give
        for components in wanted.values():
            _fields(sim, components)
        return
    extent = " ".join(f"0 {n - 1}" for n in grid.shape)
    head: list[str] = []
    arrays: list[tuple[int, Callable[[], list[np.ndarray]]]] = []

    def add(
        name: str, count: int, kind: np.dtype, values: Callable[[], list[np.ndarray]],
        components: Sequence[str] = ("",), tuples: int | None = None,
    ) -> None:  # fmt: skip
        start = sum(8 + size for size, _ in arrays)
        head.append(
            f'<DataArray {array_head(name, kind, components, tuples)} format="appended" offset="{start}"/>\n'
        )
        arrays.append((count * len(components) * kind.itemsize, values))

    def tell(name: str, values: np.ndarray) -> None:
        add(name, len(values), values.dtype, lambda: [values], tuples=len(values))

    head.append("<FieldData>\n")
    tell("TimeValue", np.array([sim.t]))
    tell("config", np.frombuffer(json.dumps(sim.config).encode(), np.uint8))
    for field in (field for components in wanted.values() for field in components):
        place = (*sim._scheme.offset(field), sim._scheme.lag(field))
        if any(place):
            tell(f"offset_{field}", np.array(place))
    head.append(f'</FieldData>\n<Piece Extent="{extent}">\n<PointData>\n')
    for name, components in wanted.items():
        add(name, grid.num_node, sim.dtype, partial(_fields, sim, components), components)
    for name in sim.medium.parameters if sim._material.row is None else ():  # not the same everywhere
        add(name, grid.num_node, sim.dtype, partial(_parameter, sim, name))
    head.append("</PointData>\n</Piece>\n")

    with replacing(path) as file:
        opening = (
            '<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<ImageData WholeExtent="{extent}" Origin="{_numbers(grid.origin)}" '
            f'Spacing="{_numbers(grid.spacing)}">\n'
        )
        text = opening + "".join(head) + '</ImageData>\n<AppendedData encoding="raw">\n_'
        file.write(text.encode("ascii"))
        for size, values in arrays:
            file.write(np.uint64(size).tobytes())
            file.writelines(_turned(values()))
        file.write(b"\n</AppendedData>\n</VTKFile>\n")
    entries.add(path, sim.t)


def _numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
