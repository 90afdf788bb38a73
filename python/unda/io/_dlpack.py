"""DLPack: how libraries hand each other arrays, https://dmlc.github.io/dlpack/latest/c_api.html.

A capsule holds a DLManagedTensor, whose owner lives until the consumer calls its deleter. Not here: the
memory (device_array.py); NumPy's arrays do this themselves.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CPU, CUDA = 1, 2  # kDLCPU, kDLCUDA
_CODES = {"i": 0, "u": 1, "f": 2}  # DLDataTypeCode


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):  # since DLPack 1.0
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_NAME, _VERSIONED_NAME = b"dltensor", b"dltensor_versioned"
_kept: dict[int, tuple[Any, ...]] = {}  # owner and memory of each tensor that somebody has, by its address

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python)
)


# Defaults, because modules are emptied at the end of a process, when consumers may still let go.
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address: int, kept: dict[int, tuple[Any, ...]] = _kept) -> None:
    """Forget a tensor: called by its consumer."""
    kept.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _unused(
    capsule: int,
    valid: Any = _is_valid,
    pointer: Any = _pointer_of,
    names: tuple[bytes, ...] = (_NAME, _VERSIONED_NAME),
    kept: Any = _kept,
) -> None:
    """Forget the tensor of a capsule that nobody has taken: who takes it changes its name."""
    for name in names:
        if valid(capsule, name):
            kept.pop(pointer(capsule, name), None)


def capsule(
    owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype, device: tuple[int, int],
    strides: tuple[int, ...] | None = None, read_only: bool = False,
) -> Any:  # fmt: skip
    """Return a capsule of memory at an address, which its owner keeps.

    Strides in bytes, or C-contiguous; whether it is only read can be said to consumers that know DLPack 1.
    """
    num = max(1, len(shape))
    sizes = (ctypes.c_int64 * num)(*shape)
    steps = None if strides is None else (ctypes.c_int64 * num)(*(n // dtype.itemsize for n in strides))
    managed = _Versioned(1, 0, flags=_READ_ONLY) if read_only else _Managed()
    managed.tensor = _Tensor(
        address, *device, len(shape), _CODES[dtype.kind], 8 * dtype.itemsize, 1,
        ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64)),
        None if steps is None else ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)), 0,
    )  # fmt: skip
    managed.deleter = ctypes.cast(_delete, ctypes.c_void_p)
    place = ctypes.addressof(managed)
    _kept[place] = owner, managed, sizes, steps
    name = _VERSIONED_NAME if read_only else _NAME
    return _python.PyCapsule_New(place, name, ctypes.cast(_unused, ctypes.c_void_p))
