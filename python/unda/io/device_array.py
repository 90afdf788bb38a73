"""Arrays in a CUDA device's memory for torch, cupy and others: a copy of a field, in the user's order.

The library copies fields of the state on devices (csrc/solver/device_read.c). What follows from others, and
what has no way from device to device, is read on the host and written to the device. Not here: the format of
the exchange (_dlpack.py), memory of the simulation itself (raw_array.py).
"""

from __future__ import annotations

import ctypes
import math
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from .. import _core
from .._core import lib
from ..errors import DeviceError, OutOfMemoryError
from . import _dlpack

_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


@cache
def _driver() -> ctypes.CDLL:
    """Return the driver that the library has loaded."""
    return ctypes.CDLL(os.environ.get("UNDA_LIBCUDA") or "libcuda.so.1")


def _call(name: str, *given: Any) -> None:
    """Call a function of the driver, or raise what it reports."""
    result = getattr(_driver(), name)(*given)
    if result:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(result, ctypes.byref(text))
        found = f"{name} failed with {result} ({(text.value or b'unknown').decode()})"
        raise (OutOfMemoryError if result == _OUT_OF_MEMORY else DeviceError)(found)


@cache
def _context(index: int) -> ctypes.c_void_p:
    """Return the primary context of a device, which unda, torch and cupy all use."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    _call("cuInit", 0)
    _call("cuDeviceGet", ctypes.byref(device), index)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    return context


@contextmanager
def _on(index: int) -> Iterator[None]:
    """Make a device the present one of this thread meanwhile."""
    _call("cuCtxPushCurrent_v2", _context(index))
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def _copy(name: str, *given: Any) -> None:
    """Copy, and wait for it."""
    stream = ctypes.c_void_p()
    _call("cuStreamCreate", ctypes.byref(stream), 1)  # does not wait for others
    try:
        _call(name, *given, stream)
        _call("cuStreamSynchronize", stream)
    finally:
        _call("cuStreamDestroy_v2", stream)


def _free(index: int, address: int) -> None:
    with _on(index):
        _call("cuMemFree_v2", ctypes.c_uint64(address))


def read_back(pointer: int, shape: tuple[int, ...], dtype: np.dtype, index: int) -> np.ndarray:
    """Return a copy on the host of C-contiguous memory of a device."""
    out = np.empty(shape, dtype)
    if out.nbytes:
        to, size = ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(out.nbytes)
        with _on(index):
            _copy("cuMemcpyDtoHAsync_v2", to, ctypes.c_uint64(pointer), size)
    return out


class DeviceArray:
    """A C-contiguous array in the memory of a CUDA device; made by ``sim.device_array``.

    ``torch.from_dlpack(array)``, ``cupy.from_dlpack(array)`` and ``cupy.asarray(array)`` use its memory
    without a copy, and keep it; it is freed with the last of them.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    index : int
        The device's number. The values are those that the memory has.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    device : str
        "cuda:0", ...
    nbytes : int
    pointer : int
        Where it begins.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, index: int) -> None:
        self.shape, self.dtype, self.device = tuple(shape), np.dtype(dtype), f"cuda:{index}"
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        self._index = index
        address = ctypes.c_uint64()
        with _on(index):
            _call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, self.nbytes)))
        self.pointer = int(address.value)
        end = weakref.finalize(self, _free, index, self.pointer)
        end.atexit = False  # the driver frees all at the end of the process

    @classmethod
    def of(cls, values: np.ndarray, index: int) -> DeviceArray:
        """Return a copy of values of the host."""
        values = np.ascontiguousarray(values)
        made = cls(values.shape, values.dtype, index)
        if values.nbytes:
            to, size = ctypes.c_uint64(made.pointer), ctypes.c_size_t(values.nbytes)
            with _on(index):
                _copy("cuMemcpyHtoDAsync_v2", to, ctypes.c_void_p(values.ctypes.data), size)
        return made

    def numpy(self) -> np.ndarray:
        """Return a copy on the host."""
        return read_back(self.pointer, self.shape, self.dtype, self._index)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What cupy and numba read."""
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer, False), "version": 3,
            "strides": None, "stream": None,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the kind of device, CUDA, and its number."""
        return _dlpack.CUDA, self._index

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Return it as a capsule; the values are there already, so that no stream has to wait."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"{self!r} gives no copies; expected copy=None on its own device")
        return _dlpack.capsule(self, self.pointer, self.shape, self.dtype, self.__dlpack_device__())

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype}, {self.device})"


def device_array(sim: Any, field: str, raw: bool) -> Any:
    """Return a field on the device of a simulation; see `Simulation.device_array`."""
    if raw:
        from .raw_array import RawArray

        return RawArray(sim, field)
    device = str(sim.team.devices[0] if sim.team is not None else sim.config["device"])
    if device == "cpu":
        return sim.get(field)
    index = int(device.partition(":")[2] or 0)
    return _on_devices(sim, field, index) or DeviceArray.of(sim.get(field), index)


def _on_devices(sim: Any, field: str, index: int) -> DeviceArray | None:
    """Return a copy that never was on the host; None: there is no such way."""
    stored = sim._stored(field)
    if stored is None:
        return None
    number, shape = stored
    array, done = DeviceArray(shape, sim.dtype, index), _core.new("int32_t *")
    sim._solver.call(lib.unda_solver_read_device, number, array.pointer, array.nbytes, done)
    return array if done[0] else None
