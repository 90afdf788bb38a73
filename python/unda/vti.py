"""VTI files (VTK XML, regular grid) for ParaView: what `FD.get` gives, bit for bit.

Not here: meshes (vtu.py), the state (grid_simulation.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ._check import field_names, file_path
from .errors import FileError
from .grid_material import slabs

__all__ = ["write_vti"]

_TYPES = {"f4": "Float32", "f8": "Float64", "u1": "UInt8"}
_BLOCK = 2**24  # bytes turned round at a time


def _turned(values: np.ndarray) -> Iterator[bytes]:
    """Give an array (nx, ny, nz) as VTK has it, x fastest."""
    planes = values.T
    step = max(1, _BLOCK // planes[0].nbytes)
    return (planes[k : k + step].tobytes() for k in range(0, len(planes), step))


def _parameters(sim: Any) -> tuple[str, ...]:
    """Return the parameters of a medium that is not the same everywhere."""
    return tuple(sim.medium.parameters) if sim._material.row is None else ()


def _parameter(sim: Any, name: str) -> np.ndarray:
    """Return a parameter of the medium at the nodes (nx, ny, nz)."""
    out, number = np.empty(sim.grid.shape, sim.dtype), list(sim.medium.parameters).index(name)
    for (first, count, block), table in zip(slabs(sim.grid), sim._material.tables(), strict=True):
        out[first : first + count] = table[:, number].reshape(block.shape)
    return out


def write_vti(sim: Any, path: Any, fields: Sequence[str] | None) -> None:
    """Write a file, see `FD.write_vti`."""
    chosen, path, grid = field_names(fields, sim.fields), file_path(path), sim.grid
    extent = " ".join(f"0 {n - 1}" for n in grid.shape)
    head: list[str] = []
    arrays: list[tuple[int, Callable[[], np.ndarray]]] = []

    def add(name: str, kind: np.dtype, count: int, values: Callable[[], np.ndarray], more: str = "") -> None:
        start = sum(8 + size for size, _ in arrays)
        head.append(
            f'<DataArray Name={quoteattr(name)} type="{_TYPES[kind.str[1:]]}"{more} format="appended" '
            f'offset="{start}"/>\n'
        )
        arrays.append((count * kind.itemsize, values))

    def tell(name: str, values: np.ndarray) -> None:
        add(name, values.dtype, values.size, lambda: values, f' NumberOfTuples="{values.size}"')

    head.append("<FieldData>\n")
    tell("TimeValue", np.array([sim.t]))
    tell("config", np.frombuffer(json.dumps(sim.config).encode(), np.uint8))
    for name in chosen:
        place = (*sim._scheme.offset(name), sim._scheme.lag(name))
        if any(place):
            tell(f"offset_{name}", np.array(place))
    head.append(f'</FieldData>\n<Piece Extent="{extent}">\n<PointData>\n')
    for name in chosen:
        add(name, sim.dtype, grid.num_node, partial(sim.get, name))
    for name in _parameters(sim):
        add(name, sim.dtype, grid.num_node, partial(_parameter, sim, name))
    head.append("</PointData>\n</Piece>\n")

    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(unfinished, "wb") as file:
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
        os.replace(unfinished, path)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error}") from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def _numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in values)
