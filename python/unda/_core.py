"""The one file that touches CFFI: loads the C library, turns its statuses into exceptions.

Not here: the meaning of the C functions (csrc/unda.h). Every array passed to C goes through
`as_array`, because CFFI silently accepts arrays of a wrong type or byte order.
Next: ``mesh.py`` for how these helpers are used.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import errors
from ._parallel import environment
from ._source_hash import source_hash
from ._units import plain

try:
    from ._cffi import ffi
except ImportError as error:
    raise ImportError("unda: the binding unda/_cffi.py is missing or broken; run make lib") from error

NULL, new, release = ffi.NULL, ffi.new, ffi.release

logger = logging.getLogger("unda")

#: Structs that say how large they are: all but those that are opaque or a part of another.
_STRUCTS = sorted(
    set(ffi.list_types()[1]) - {"unda_layer", "unda_mesh", "unda_nccl", "unda_part", "unda_solver"}
)


def _check_fit(library: Any) -> None:
    """Compare the interface of the loaded library with the binding's."""
    if library.unda_abi() != library.UNDA_ABI:
        raise ImportError(
            f"unda: libunda.so has interface {library.unda_abi()}, the binding expects "
            f"{library.UNDA_ABI}; run make lib"
        )
    for name in _STRUCTS:
        found, expected = library.unda_sizeof(name.encode()), ffi.sizeof(name)
        if found != expected:
            raise ImportError(
                f"unda: struct {name} has {found} bytes in libunda.so, {expected} in the binding; "
                "run make lib"
            )


def _check_fresh(library: Any, root: Path) -> None:
    """In a checkout, compare the hash in the library with the sources; elsewhere do nothing."""
    if not (root / "csrc" / "unda.h").is_file():
        return
    if ffi.string(library.unda_source_hash()).decode() != source_hash(root):
        raise ImportError("unda: libunda.so is stale, csrc/ or cuda/ has changed; run make lib")


# Threads of an OpenMP library spin for some 30 us, then sleep; what the user has set stands. Threads that
# spin for long take the cores from other processes and from the very threads waited for: two runs on the
# same cores took many times as long. Threads that sleep at once are slow to wake: a step of a 2-D grid
# took 2.4 times as long, one of a large grid up to a tenth more. Spinning for about as long as a wake
# takes costs at most twice the better of the two. libgomp counts rounds of a loop, other libraries know
# the policy alone. Libraries look at the environment once, when they are loaded.
_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "1000"}


def _load() -> Any:
    """Open libunda.so beside this file.

    The environment variable UNDA_LIBRARY names another file, for instance one built with a
    sanitizer; it is used even if it is older than the sources.
    """
    chosen = os.environ.get("UNDA_LIBRARY")
    here = Path(__file__).resolve().parent
    path = Path(chosen) if chosen else here / "libunda.so"
    try:
        # Never unloaded: at the end of a process meshes and solvers may be freed after `lib` is gone.
        with environment({} if _WAITING.keys() & os.environ.keys() else _WAITING):
            library = ffi.dlopen(str(path), os.RTLD_NOW | os.RTLD_NODELETE)
        _check_fit(library)
    except (OSError, AttributeError) as error:
        raise ImportError(f"unda: cannot load {path}: {error}; run make lib") from error
    if not chosen:
        _check_fresh(library, here.parent.parent)
    return library


lib = _load()

_CLASSES = {getattr(lib, name): cls for name, cls in errors.STATUS_CLASSES.items()}


def text(characters: Any) -> str:
    """Return a C string as a Python string."""
    return ffi.string(characters).decode("utf-8", "replace")


def drain_log() -> None:
    """Hand the library's queued messages to the logger "unda"."""
    level, room = ffi.new("int32_t *"), ffi.new("char[512]")
    while lib.unda_log_pop(level, room, 512):
        logger.log(level[0], "%s", text(room))


def _without_place(message: str) -> errors.ArgumentError:
    """Return an argument error; where in the library it was found is a note of the exception."""
    text, bracket, place = message.rpartition(" [")
    if not (bracket and place.endswith("]") and ".c:" in place):
        return errors.ArgumentError(message)
    error = errors.ArgumentError(text)
    error.place = place[:-1]
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"found at {error.place}")
    return error


def error_of(status: int) -> errors.Error:
    """Return the exception of a failed status, with this thread's message."""
    message = text(lib.unda_error()) or text(lib.unda_status_text(status))
    cls = _CLASSES.get(status, errors.InternalError)
    if issubclass(cls, errors.ArgumentError):
        return _without_place(message)
    if cls is errors.CompileError:
        return errors.CompileError(message, text(lib.unda_error_log()))
    return cls(message)


def refuse(status: int) -> None:
    """Raise the exception of a status unless it is UNDA_OK."""
    if status != lib.UNDA_OK:
        check(status)


def check(status: int) -> None:
    """Raise the exception of a status unless it is UNDA_OK; pass on what the library logged."""
    failure = error_of(status) if status != lib.UNDA_OK else None
    drain_log()
    if failure is not None:
        raise failure


_FITTING_KINDS = {"f": "fiu", "i": "iu"}


def _converted(values: Any, dtype: np.dtype, name: str) -> np.ndarray:
    """Return values as an array of dtype, native and C-contiguous; refuse other kinds of data."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise errors.ArgumentError(f"{name} is not an array of numbers: {error}") from None
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(dtype)
    if array.dtype.kind in "SU":
        found = ", ".join(repr(one) for one in array.ravel()[:3].tolist())
        raise errors.ArgumentError(f"{name} has strings ({found}); expected numbers")
    if array.dtype.kind not in _FITTING_KINDS[dtype.kind]:
        raise errors.ArgumentError(f"{name} has dtype {array.dtype}, expected {dtype}")
    if dtype.kind == "i" and array.size:
        limits = np.iinfo(dtype)
        if int(array.max()) > limits.max or int(array.min()) < limits.min:
            raise errors.ArgumentError(f"{name} has integers beyond the range of {dtype}")
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=dtype, order="C")


def as_array(
    values: Any,
    dtype: Any,
    shape: tuple[int | None, ...],
    name: str,
    *,
    finite: bool = False,
    unit: str | None = None,
) -> np.ndarray:
    """Return `values` as an array for C: native, C-contiguous, of exactly this type and shape.

    Parameters
    ----------
    values : array_like
        Integers fit a float type, nothing else is converted from kind to kind.
    dtype : dtype
        float32, float64, int32 or int64.
    shape : tuple of int or None
        Expected shape; None stands for any length.
    name : str
        For messages.
    finite : bool, optional
        Also refuse NaN and infinities.
    unit : str, optional
        Of the values, where quantities are taken as well: `_units.plain`.

    Returns
    -------
    ndarray
        `values` itself if it fits already.

    Raises
    ------
    ArgumentError
        Wrong kind of data, shape, or (with `finite`) value.

    Examples
    --------
    >>> as_array([[1, 2, 3]], "float64", (None, 3), "points").shape
    (1, 3)
    """
    array = _converted(plain(name, values, unit), np.dtype(dtype), name)
    fits = array.ndim == len(shape) and all(
        wanted is None or wanted == found for wanted, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if length is None else str(length) for length in shape)
        raise errors.ArgumentError(f"{name} has shape {array.shape}, expected ({expected})")
    if finite and not np.isfinite(array).all():
        first = np.unravel_index(int(np.argmin(np.isfinite(array))), array.shape)
        place = tuple(int(i) for i in first)
        raise errors.ArgumentError(f"{name}{list(place)} is {array[place]}, expected finite values")
    return array


def pointer(array: np.ndarray | None, *, writable: bool = False) -> Any:
    """Return a C pointer to an array that passed `as_array` and keep that alive; None is NULL."""
    if array is None:
        return ffi.NULL
    if not (array.flags.c_contiguous and array.dtype.isnative):
        raise errors.InternalError("pointer() wants a native C-contiguous array; see as_array")
    kind = {"f4": "float", "f8": "double", "i4": "int32_t", "i8": "int64_t"}[array.dtype.str[1:]]
    return ffi.from_buffer(f"{kind}[]", array, require_writable=writable)


_kept: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def new_struct(name: str, **fields: Any) -> Any:
    """Return a C struct with these fields; arrays, which passed `as_array`, stay alive; None is NULL."""
    struct = ffi.new(f"{name} *")
    struct.size_bytes = ffi.sizeof(name)
    kept = []
    for field, value in fields.items():
        if value is None:
            continue
        if isinstance(value, np.ndarray):
            value = pointer(value)
            kept.append(value)
        try:
            setattr(struct, field, value)
        except OverflowError:
            raise errors.ArgumentError(f"{field} is {value}, far beyond its range") from None
    _kept[struct] = kept
    return struct


def new_object(kind: str, make: Callable[[Any], int], free: Callable[[Any], None]) -> Any:
    """Return a C object made by ``make(out)`` that is freed with the last reference to it."""
    out = ffi.new(f"{kind} **")
    check(make(out))
    return ffi.gc(out[0], free)


def callback(signature: str, function: Callable[..., int]) -> Any:
    """Return a C function that calls one of Python, which must not raise; keep what is returned."""
    return ffi.callback(signature, function)


def as_function(kind: str, address: int) -> Any:
    """Return the C function at an address."""
    return ffi.cast(kind, address)


def as_pointer(address: int) -> Any:
    """Return an address as a pointer."""
    return ffi.cast("void *", address)


def address(pointer: Any) -> int:
    """Return where a pointer points."""
    return int(ffi.cast("uintptr_t", pointer))


def buffer(pointer: Any, num_byte: int) -> Any:
    """Return memory at a pointer, for NumPy."""
    return ffi.buffer(pointer, num_byte)


def version() -> str:
    """Return the version of the library, "0.1.0"."""
    return text(lib.unda_version())
