"""HDF5 files of unda: written atomically, with digests that are checked before HDF5 opens a file.

A file begins with a header of 512 bytes, for HDF5 a user block, and ends with digests (_digest.py). Files of
format 1 had neither: they load with a warning, and damage in them may crash HDF5. Not here: the contents of
the files (checkpoint.py).
"""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._check import file_path
from .._files import whole_file
from ..errors import DeviceError, FileError, ForkError
from ._digest import Seal, check_seal

_VERSION = 2
_HEAD = b"unda file of format 2: HDF5 from byte 512 on, SHA-256 digests at the end\r\n".ljust(512, b"\0")
_HDF5 = b"\x89HDF\r\n\x1a\n"


class _Steady(io.FileIO):
    """An open file for HDF5 whose writes always seem to succeed; `failure` has the first error.

    HDF5 crashes the process when it cannot write while it closes a file.
    """

    def __init__(self, raw: io.FileIO, wrote: Callable[[int, int], None]) -> None:
        super().__init__(raw.fileno(), raw.mode, closefd=False)
        self._wrote = wrote
        self.failure: OSError | None = None

    def _attempt(self, work: Callable[[], Any]) -> None:
        if self.failure is None:
            try:
                work()
            except OSError as error:
                self.failure = error

    def _write_all(self, view: memoryview) -> None:
        first, count = self.tell(), len(view)
        while len(view):
            view = view[super().write(view) :]
        self._wrote(first, count)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._attempt(lambda: self._write_all(view))
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        cut = super().truncate
        self._attempt(lambda: cut(size))
        return size or 0

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        found = super().readinto(view) or 0
        view[found:] = bytes(len(view) - found)
        return len(view)


def write(path: Any, kind: str, fill: Callable[[Any], None]) -> None:
    """Write an HDF5 file so that the name holds the old file or the whole new one."""
    import h5py

    with whole_file(file_path(path)) as (_, raw), Seal(raw) as digests:
        steady = _Steady(raw, digests.wrote)
        try:
            with h5py.File(steady, "w", userblock_size=len(_HEAD)) as file:
                file.attrs["unda"] = kind
                file.attrs["format"] = _VERSION
                fill(file)
        finally:
            if steady.failure is not None:
                raise steady.failure
        os.pwrite(raw.fileno(), _HEAD, 0)
        digests.wrote(0, len(_HEAD))
        digests.finish()


@contextmanager
def reading(path: Any, kind: str) -> Iterator[Any]:
    """Open a file of that kind, its digests compared; whatever fails inside is a FileError that names it.

    A missing device and a lack of memory keep their own exceptions.
    """
    import h5py

    path = file_path(path)
    try:
        with io.FileIO(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)) as raw:
            version = _begin(raw, path)
            with h5py.File(_Steady(raw, lambda *_: None), "r") as file:
                for name, expected in (("unda", kind), ("format", version)):
                    found = _attribute(file, name)
                    if found != expected:
                        raise FileError(f"{name} is {found!r}, expected {expected!r}")
                yield file
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    except (DeviceError, ForkError, MemoryError):
        raise
    except OSError as error:
        raise FileError(f"cannot read {path}: {error}") from None
    except Exception as error:
        raise FileError(f"{path}: {error}") from error


def _begin(raw: io.FileIO, path: Any) -> int:
    """Return the format of a file by how it begins, its digests compared."""
    if raw.read(len(_HDF5)) == _HDF5:
        text = f"{path} has no digests, as files of earlier versions: damage in it may not be seen"
        warnings.warn(text, stacklevel=5)
        return 1
    if os.pread(raw.fileno(), len(_HEAD), 0) != _HEAD:
        raise FileError("it does not begin as a file of unda does")
    check_seal(raw)
    return _VERSION


def _attribute(group: Any, name: str) -> Any:
    """Return an attribute that is a single number or text, else None."""
    if name not in group.attrs or group.attrs.get_id(name).shape != ():
        return None
    found = group.attrs[name]
    return found.item() if isinstance(found, np.generic) else found


def child(group: Any, name: str, kind: str = "Group") -> Any:
    """Return a group or a dataset that is in the file itself, not elsewhere by a link."""
    import h5py

    link = group.get(name, getlink=True)
    if link is None:
        raise FileError(f"{name} is missing")
    if not isinstance(link, h5py.HardLink):
        raise FileError(f"{name} is a link to elsewhere, expected a {kind.lower()} in the file")
    found = group[name]
    if type(found).__name__ != kind:
        raise FileError(f"{name} is no {kind.lower()}")
    return found


def array_shape(group: Any, name: str) -> tuple[int, ...]:
    """Return the shape of a dataset; all of its values are in the file."""
    data = child(group, name, "Dataset")
    size = np.prod([int(n) for n in data.shape], dtype=object) * data.dtype.itemsize if data.shape else None
    plain = not (data.external or data.is_virtual or data.chunks or data.id.get_create_plist().get_nfilters())
    if size is None or not plain or data.id.get_storage_size() != size:
        raise FileError(f"{name} is {data.dtype} {data.shape}, expected its plain values in the file")
    if size > group.file.id.get_filesize():
        raise FileError(f"{name} is {data.shape}, more than the file holds")
    return tuple(int(n) for n in data.shape)


def array(group: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read a dataset of that type and shape."""
    return np.asarray(dataset(group, name, dtype, shape)[()])


_ROWS = 2**16  # at a time


def rows(group: Any, name: str, dtype: Any, shape: tuple[int, ...], wanted: np.ndarray) -> np.ndarray:
    """Read rows of a dataset of that type and shape, ascending, without having all of it in memory."""
    data, found = dataset(group, name, dtype, shape), np.empty((len(wanted), *shape[1:]), dtype)
    for first in range(0, shape[0], _ROWS):
        begin, end = np.searchsorted(wanted, (first, first + _ROWS))
        if begin < end:
            found[begin:end] = data[first : first + _ROWS][wanted[begin:end] - first]
    return found


def dataset(group: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> Any:
    """Return a dataset, or raise if it is of another type or shape."""
    found = array_shape(group, name)
    data = group[name]
    fits = len(found) == len(shape) and all(
        wanted in (None, there) for wanted, there in zip(shape, found, strict=True)
    )
    if data.dtype != np.dtype(dtype) or not fits:
        raise FileError(f"{name} is {data.dtype} {found}, expected {np.dtype(dtype)} {shape}")
    return data


def header(group: Any, name: str) -> Any:
    """Read a JSON attribute."""
    text = _attribute(group, name)
    if not isinstance(text, str):
        raise FileError(f"{name} is {text!r}, expected JSON")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} is not JSON: {error}") from None


def word(header: Any, name: str, known: Collection[str]) -> Any:
    """Return an entry of a header that is one of some words."""
    value = entry(header, name, str)
    if value not in known:
        raise FileError(f"{name} is {value!r}, expected one of {list(known)}")
    return value


def entry(header: Any, name: str, kind: Any, low: float | None = None, high: float = np.inf) -> Any:
    """Return an entry of a header, of that type, from low to high; floats are finite."""
    value = header.get(name) if isinstance(header, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise FileError(f"{name} is {value!r}, expected {getattr(kind, '__name__', kind)}")
    if isinstance(value, float) and not np.isfinite(value):
        raise FileError(f"{name} is {value!r}, expected a finite number")
    if low is not None and not low <= value <= high:
        raise FileError(f"{name} is {value!r}, expected {low} to {high}")
    return value
