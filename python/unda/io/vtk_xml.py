"""Common parts of VTK's XML files: arrays of vectors and tensors, series in time.

Not here: meshes (vtu.py), grids (vti.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import numpy as np

from .._check import field_names, file_path
from .._files import replacing
from ..errors import ArgumentError, FileError

_TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}
# The components of vectors and of symmetric tensors, in VTK's order.
_COMPONENTS = {3: ("x", "y", "z"), 6: ("xx", "yy", "zz", "xy", "yz", "xz")}


def arrays_of(sim: Any, fields: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the arrays that hold fields: {name: its components}, a field alone by its own name.

    A vector or tensor of which all fields are wanted is one array, its components in VTK's order.
    """
    chosen = field_names(fields, sim.fields)
    made: dict[str, tuple[str, ...]] = {}
    for name, group in sim.medium.field_groups.items():
        wanted = [field for field in group if field in chosen]
        if len(wanted) == len(group) > 1:
            ends = _COMPONENTS[len(group)]
            made[name] = tuple(sorted(group, key=lambda field: ends.index(field[1:])))
        else:
            made |= {field: (field,) for field in wanted}
    return made


def array_head(
    name: str, kind: np.dtype, components: Sequence[str] = ("",), tuples: int | None = None
) -> str:
    """Return the attributes of a DataArray; FieldData needs the number of tuples, or it is read as empty."""
    text = f'Name={quoteattr(name)} type="{_TYPES[kind.str[1:]]}"'
    if len(components) > 1:
        text += f' NumberOfComponents="{len(components)}"'
        for i, end in enumerate(_COMPONENTS.get(len(components), ())):
            text += f' ComponentName{i}="{end.upper()}"'
    return text + ("" if tuples is None else f' NumberOfTuples="{tuples}"')


class Series:
    """A .pvd file: names of files and their times, which ParaView opens as one; none if `path` is None.

    It is read when this is made, so that a file that is no series is refused before anything is written.
    """

    def __init__(self, path: Any) -> None:
        self._path = None if path is None else file_path(path)
        self._times: dict[str, float] = {}
        if self._path is None:
            return
        if self._path.suffix != ".pvd":
            raise ArgumentError(f"series is {str(self._path)!r}; expected a name that ends in .pvd")
        try:
            for one in ElementTree.parse(self._path).getroot().findall("Collection/DataSet"):
                self._times[one.attrib["file"]] = float(one.attrib["timestep"])
        except FileNotFoundError:
            pass
        except (OSError, ElementTree.ParseError, KeyError, ValueError) as error:
            raise FileError(
                f"{self._path} cannot be read as a series of files ({error}); move it away to begin a new one"
            ) from None

    def add(self, path: Path, t: float) -> None:
        """Add a finished file, or replace the entry of its name; times ascend."""
        if self._path is None:
            return
        self._times[os.path.relpath(path, self._path.parent)] = t
        rows = sorted(self._times.items(), key=lambda row: row[1])
        with replacing(self._path) as file:
            text = '<?xml version="1.0" encoding="utf-8"?>\n<VTKFile type="Collection" version="0.1">\n'
            text += "<Collection>\n"
            for name, time in rows:
                text += f'<DataSet timestep="{time!r}" part="0" file={quoteattr(name)}/>\n'
            file.write((text + "</Collection>\n</VTKFile>\n").encode())
