"""Models from files: raw binary, NumPy's .npy and SEG-Y, as a grid and an array for a medium.

Not here: the headers of SEG-Y files (_segy.py). Next: grid.py, medium.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .._check import file_path, flag, integer, number, vector
from ..errors import ArgumentError, FileError
from ..problem.grid import Grid

_FORMATS = {".npy": "npy", ".sgy": "segy", ".segy": "segy"}  # by suffix; all others are raw


def read_model(
    path: str | os.PathLike[str],
    *,
    spacing: float | Sequence[float] | None = None,
    shape: Sequence[int] | None = None,
    origin: Sequence[float] | None = None,
    dtype: Any = None,
    axes: str | None = None,
    skip_bytes: int = 0,
    scale: float = 1.0,
    memmap: bool = False,
    format: str | None = None,
) -> tuple[Grid, np.ndarray]:
    """Read one quantity of a model on a regular grid.

    Parameters
    ----------
    path : str or path-like
        The file.
    spacing : float or sequence of 3 floats, optional
        Distance of nodes along x, y, z [m]. SEG-Y files may have it in their headers.
    shape : sequence of 3 ints, optional
        (nx, ny, nz) of the result, not of the file. Needed for raw files, checked in others.
    origin : sequence of 3 floats, optional
        The lowest node [m]. If omitted, the file's first value is at 0 along each axis, so the top
        of a model whose z points down is z = 0; for SEG-Y the first sample is at its depth.
    dtype : dtype, optional
        Of the numbers in a raw file, with their byte order: "<f4" (what it is if omitted), ">f4",
        "<i2" …
    axes : str, optional
        Axes of a raw or NumPy file from the slowest to the fastest; a minus goes before those on
        which the file runs downwards. "xyz" is if omitted: z is fastest and points up. "xy-z" has
        the traces of a model by depth, "-zyx" its horizontal slices from the top; "x-z" is a
        section, ny = 1.
    skip_bytes : int, optional
        Length of a raw file's header.
    scale : float, optional
        Unit of the file in SI units: 1000 for km/s or g/cm3.
    memmap : bool, optional
        Return a read-only memory map instead of reading all of a raw or NumPy file. Media use it
        as it is; fast only if the file's slowest axis is x.
    format : {"raw", "npy", "segy"}, optional
        By the suffix if omitted: .npy, .sgy, .segy; anything else is raw.

    Returns
    -------
    grid : Grid
        Where the values are.
    values : ndarray, shape (nx, ny, nz)
        For a medium, in the file's unit times `scale`: float32 if the file has that or at most 16
        bits a number, float64 otherwise.

    Raises
    ------
    FileNotFoundError
        No such file.
    ArgumentError
        The file has another size, shape or kind of numbers than the arguments say, or an argument
        is missing, or makes no sense for that format.
    FileError
        A NumPy or SEG-Y file that cannot be read, or a SEG-Y file that is no regular grid.
    ImportError
        A SEG-Y file without segyio: ``pip install 'unda-waves[segy]'``.

    See Also
    --------
    Grid : the grid that it returns.
    datasets.path : sample files.

    Notes
    -----
    In SEG-Y files x is along increasing inline numbers, y along crosslines, in the order of their
    numbers, and traces may come in any order; a section has its traces along x. Seen from above,
    crosslines should increase to the left of inlines, or the model is the mirror image of the place:
    ``values[:, ::-1]`` turns it. Sample intervals are taken for depths in m as is usual (or feet, if
    the header says so): 1000 times the interval is in the header. The spacing of traces comes from
    their CDP coordinates.

    Examples
    --------
    >>> import numpy as np, unda
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile(suffix=".bin") as file:
    ...     vp = np.full((4, 3, 2), 1.5, ">f4")  # [km/s]; x, y and depth
    ...     vp[:, :, 1] = 2.0
    ...     vp.tofile(file.name)
    ...     grid, c = unda.read_model(
    ...         file.name, shape=(4, 3, 2), spacing=10.0, dtype=">f4", axes="xy-z", scale=1000.0
    ...     )
    >>> grid
    unda.Grid((4, 3, 2), (10.0, 10.0, 10.0), origin=(0.0, 0.0, -10.0))
    >>> c[0, 0].tolist()
    [2000.0, 1500.0]
    >>> unda.Acoustic(rho=1000.0, c=c).speed_max(grid)
    2000.0
    """
    path = file_path(path)
    kind = _FORMATS.get(path.suffix.lower(), "raw") if format is None else format
    if kind not in ("raw", "npy", "segy"):
        raise ArgumentError(f"format is {format!r}; expected 'raw', 'npy' or 'segy'")
    factor = number("scale", scale, positive=True)
    if flag("memmap", memmap) and factor != 1.0:
        raise ArgumentError(f"scale is {factor}; expected 1 with memmap=True, which maps the file as it is")
    wanted = None if shape is None else Grid(shape, 1.0).shape
    if origin is not None:
        origin = vector("origin", origin, "m")
    _refuse_useless(
        kind,
        {"dtype": dtype is not None, "axes": axes is not None, "skip_bytes": skip_bytes, "memmap": memmap},
    )
    if kind == "segy":
        from ._segy import read_segy

        values, found, top = read_segy(path, need_spacing=spacing is None)
        first = (0.0, 0.0, top)
        if found is not None:
            spacing = found
        downwards = (False, False, True)
    else:
        order, downwards = _axes("xyz" if axes is None else axes)
        stored = (
            _open_raw(path, wanted, order, dtype, skip_bytes) if kind == "raw" else _open_npy(path, order)
        )
        values, first = _turned(stored, order, downwards), (0.0, 0.0, 0.0)
    if wanted is not None and values.shape != wanted:
        raise ArgumentError(f"{path} has a model of shape {values.shape}; expected {wanted}, as given")
    if spacing is None:
        raise ArgumentError("spacing is missing; expected the distance of nodes [m] along x, y, z")
    grid = Grid(values.shape, spacing, origin=first)
    if origin is None:
        origin = [
            o - extent if down else o for o, extent, down in zip(first, grid.size, downwards, strict=True)
        ]
    return Grid(grid.shape, grid.spacing, origin=origin), values if memmap else _copied(values, factor)


def _refuse_useless(kind: str, given: dict[str, Any]) -> None:
    """Raise if arguments are given that say nothing about this format."""
    useless = {"raw": (), "npy": ("dtype", "skip_bytes"), "segy": tuple(given)}[kind]
    wrong = [name for name in useless if given[name]]
    if wrong:
        raise ArgumentError(f"got {', '.join(wrong)}; expected none of them for a file of format {kind!r}")


def _axes(text: Any) -> tuple[list[int], tuple[bool, bool, bool]]:
    """Return the axes of the file from the slowest to the fastest, and which of x, y, z run downwards."""
    found = re.findall("(-?)([xyz])", text) if re.fullmatch("(-?[xyz]){2,3}", str(text)) else []
    order = ["xyz".index(axis) for _, axis in found]
    if not found or len(set(order)) < len(order) or not isinstance(text, str):
        raise ArgumentError(
            f"axes is {text!r}; expected two or three of x, y, z from the slowest to the fastest, "
            "a minus before those that run downwards, such as 'xyz', 'xy-z', '-zyx' or 'x-z'"
        )
    x, y, z = (("-", axis) in found for axis in "xyz")
    return order, (x, y, z)


def _open_raw(path: Path, shape: Any, order: list[int], dtype: Any, skip_bytes: Any) -> np.ndarray:
    """Return a memory map of a raw file in the file's order."""
    skip = integer("skip_bytes", skip_bytes, 0)
    if shape is None:
        raise ArgumentError("shape is missing; expected (nx, ny, nz), which a raw file does not say")
    flat = [axis for axis in range(3) if axis not in order and shape[axis] != 1]
    if flat:
        raise ArgumentError(f"shape is {shape}; expected 1 along {'xyz'[flat[0]]}, which axes does not name")
    try:
        kind = np.dtype("<f4" if dtype is None else dtype)
    except (TypeError, ValueError):
        raise ArgumentError(f"dtype is {dtype!r}; expected one such as '<f4', '>f4' or '<i2'") from None
    _check_kind("dtype", kind)
    found, expected = path.stat().st_size, skip + prod(shape) * kind.itemsize
    if found != expected:
        header = f"a header of {skip} bytes and " if skip else ""
        raise ArgumentError(
            f"{path} has {found} bytes; expected {expected}, for {header}shape {shape} of {kind.str!r} "
            f"({(found - skip) / prod(shape):.3g} bytes a node were found)"
        )
    return np.memmap(path, kind, "r", skip, tuple(shape[axis] for axis in order))


def _open_npy(path: Path, order: list[int]) -> np.ndarray:
    """Return a memory map of a NumPy file."""
    try:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # NumPy parses the header as Python: a damaged one may raise any exception
        raise FileError(f"{path} cannot be mapped: {error}; expected a .npy file of numbers") from None
    if not isinstance(stored, np.ndarray):
        stored.close()
        raise ArgumentError(f"{path} is an archive of arrays; expected a .npy file of one")
    _check_kind(str(path), stored.dtype)
    if stored.ndim != len(order) or 0 in stored.shape:
        raise ArgumentError(
            f"{path} has shape {stored.shape}; expected one of {len(order)} axes, "
            f"{', '.join('xyz'[axis] for axis in order)}"
        )
    return stored


def _check_kind(name: str, kind: np.dtype) -> None:
    if kind.kind not in "iuf" or kind.itemsize > 8:
        raise ArgumentError(f"{name} has numbers of type {kind.str!r}; expected real ones of at most 64 bits")


def _turned(stored: np.ndarray, order: list[int], downwards: tuple[bool, bool, bool]) -> np.ndarray:
    """Return a view (nx, ny, nz) with all axes upwards."""
    missing = [axis for axis in range(3) if axis not in order]
    full = stored[(...,) + (np.newaxis,) * len(missing)]
    turned = full.transpose(np.argsort([*order, *missing]))
    return turned[tuple(slice(None, None, -1 if down else None) for down in downwards)]


def _copied(values: np.ndarray, factor: float) -> np.ndarray:
    """Return the values times a factor as float32 or float64 in C order; no copy of what is that already."""
    small = values.dtype.itemsize <= 2 or (values.dtype.kind == "f" and values.dtype.itemsize == 4)
    kind = np.dtype(np.float32 if small else np.float64)
    fits = values.flags.owndata and values.flags.c_contiguous and values.dtype == kind  # no memory map does
    result = values if fits else np.array(values, kind, order="C")
    if factor != 1.0:
        result *= factor
    return result
