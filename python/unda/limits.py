"""What a device can do at best, measured: the yardstick of every benchmark.

Not here: how (csrc/cpu/limits.c, csrc/gpu/limits.c).
"""

from __future__ import annotations

from typing import Any

from . import _core, _cuda
from ._core import lib
from .errors import ArgumentError

__all__ = ["device_limits", "device_number"]


def device_number(device: Any) -> int:
    """Return the number the library knows a device by: -1 for "cpu", n for "cuda:n"."""
    if device == "cpu":
        return int(lib.UNDA_DEVICE_CPU)
    if isinstance(device, str) and device.startswith("cuda"):
        _cuda.prepare()
    if device == "cuda":
        return 0
    if isinstance(device, str) and device.startswith("cuda:") and device[5:].isdigit():
        return int(device[5:])
    raise ArgumentError(f"device is {device!r}, expected 'auto', 'cpu', 'cuda' or 'cuda:0'")


def device_limits(device: str = "cpu", *, threads: int | None = None) -> dict[str, float]:
    """Measure a device in about a second.

    Parameters
    ----------
    device : str
        "cpu", "cuda" or "cuda:0".
    threads : int, optional
        CPU threads; all that the process may use if omitted.

    Returns
    -------
    dict of str to float
        ``copy`` [byte/s], bytes read and written; ``fma32`` and ``fma64`` [flop/s].

    Raises
    ------
    ArgumentError, DeviceError

    Examples
    --------
    >>> sorted(unda.device_limits("cpu"))  # doctest: +SKIP
    ['copy', 'fma32', 'fma64']
    """
    limits = _core.new_struct("unda_limits")
    _core.check(lib.unda_device_limits(device_number(device), threads or 0, limits))
    return {
        "copy": limits.copy_bytes_per_second,
        "fma32": limits.fma32_per_second,
        "fma64": limits.fma64_per_second,
    }
