"""Devices: those present, the choice of "auto", their measured limits and those of the way between two.

Not here: finding CUDA (_cuda.py, csrc/gpu/api.c), how limits are measured (limits.c in csrc/cpu and csrc/gpu,
csrc/gpu/link.c).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import cache
from typing import Any

from . import _core, _cuda
from ._check import choice
from ._core import lib
from .errors import ArgumentError, DeviceLostError, Error

#: Words for unda_transport, from 0 on.
TRANSPORTS = ("auto", "peer", "host")


def device_number(device: Any) -> int:
    """Return the library's number of a device: -1 for "cpu", n for "cuda:n"."""
    word = device if isinstance(device, str) else ""
    if word == "cpu":
        return int(lib.UNDA_DEVICE_CPU)
    if word.startswith("cuda"):
        _cuda.prepare()
    if word == "cuda":
        return 0
    if word.startswith("cuda:") and word.isascii() and word[5:].isdigit() and len(word) <= 9:
        return int(word[5:])
    raise ArgumentError(f"device is {device!r}, expected 'auto', 'cpu', 'cuda' or 'cuda:0'")


def several(device: Any) -> tuple[str, ...]:
    """Return the devices that share a problem; none where `device` is a single one."""
    if isinstance(device, str):
        if device != "cuda:all":
            return ()
        found = tuple(f"cuda:{i}" for i in range(num_devices()))
        return found or ("cuda",)
    if not isinstance(device, Sequence) or not device or not all(isinstance(one, str) for one in device):
        raise ArgumentError(f"device is {device!r}, expected a name, or a list of names such as 'cuda:0'")
    return tuple(device)


def choose_device(device: Any = "auto") -> Any:
    """Return a device as given; for "auto" UNDA_DEVICE if that is set, else "cuda:0" if usable, else "cpu".

    Why is logged once per process. After the loss of a device this raises DeviceLostError, rather than
    falling back to the CPU.
    """
    if not (isinstance(device, str) and device == "auto"):
        return device
    wanted = os.environ.get("UNDA_DEVICE")
    if wanted:
        _core.logger.info("device 'auto' is %s: UNDA_DEVICE says so", wanted)
        return wanted
    try:
        num_devices()
        device_info("cuda:0")
    except DeviceLostError:
        raise
    except Error as error:
        _say_why("device 'auto' is the CPU: %s", error)
        return "cpu"
    return "cuda:0"


_said: set[str] = set()  # reasons for no GPU


def _say_why(message: str, error: Error) -> None:
    """Log a reason for no GPU unless it was logged before."""
    if str(error) not in _said:
        _said.add(str(error))
        _core.logger.info(message, error)


def num_devices() -> int:
    """Return the number of CUDA devices; DeviceError if CUDA cannot be used."""
    count = _core.new("int32_t *")
    _cuda.prepare()
    _core.check(lib.unda_device_count(count))
    return int(count[0])


def device_info(device: str) -> dict[str, Any]:
    """Return properties of a device: ``device_name``, and for a CUDA device its driver and so on."""
    if device == "cpu":
        return {"device_name": _processor(), "driver": None}
    info = _core.new_struct("unda_device_info")
    _core.check(lib.unda_device_get_info(device_number(device), info))
    return {
        "device_name": _core.text(info.name),
        "driver": f"{info.driver_version // 1000}.{info.driver_version % 1000 // 10}",
        "nvrtc": f"{info.nvrtc_version // 1000}.{info.nvrtc_version % 1000 // 10}",
        "compute_capability": f"{info.compute_capability // 10}.{info.compute_capability % 10}",
        "memory": int(info.total_bytes),
    }


def free_memory(device: str) -> int:
    """Return the bytes of a CUDA device that nobody has taken; no property, so files do not have it."""
    info = _core.new_struct("unda_device_info")
    _core.check(lib.unda_device_get_info(device_number(device), info))
    return int(info.free_bytes)


def devices() -> dict[str, dict[str, Any]]:
    """Return the devices that unda can use, with their properties.

    Returns
    -------
    dict of str to dict
        "cpu", then "cuda:0" and so on, as the `device` of a method; each with ``device_name``, CUDA
        devices with ``memory`` and what is ``free`` of it [byte], ``compute_capability``, ``driver`` and
        ``nvrtc`` too.

    See Also
    --------
    device_limits : what a device can do.

    Examples
    --------
    >>> import unda
    >>> list(unda.devices())[0]
    'cpu'
    """
    found = {"cpu": {**device_info("cpu"), "threads": len(os.sched_getaffinity(0))}}
    try:
        names = [f"cuda:{i}" for i in range(num_devices())]
    except Error as error:
        _say_why("no CUDA device: %s", error)
        names = []
    return found | {name: {**device_info(name), "free": free_memory(name)} for name in names}


def _processor() -> str:
    """Return the name of the processor, as far as the system knows it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        return names[0] if names else platform.processor()
    except OSError:
        return platform.processor()


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

    See Also
    --------
    devices : which there are.

    Examples
    --------
    >>> sorted(unda.device_limits("cpu"))  # doctest: +SKIP
    ['copy', 'fma32', 'fma64']
    """
    device = choose_device(device)
    limits = _core.new_struct("unda_limits")
    _core.check(lib.unda_device_limits(device_number(device), threads or 0, limits))
    return {
        "copy": limits.copy_bytes_per_second,
        "fma32": limits.fma32_per_second,
        "fma64": limits.fma64_per_second,
    }


@cache
def limits_once(device: str) -> dict[str, float]:
    """Return device_limits, measured once a process, since it takes a second."""
    return device_limits(device)


def reaches(one: str, other: str) -> bool:
    """Say whether a CUDA device reads and writes the memory of another one itself."""
    reached = _core.new("int32_t *")
    _core.check(lib.unda_device_reach(device_number(one), device_number(other), reached))
    return bool(reached[0])


def link_limits(one: str, other: str, transport: str = "auto") -> dict[str, Any]:
    """Measure the way between two CUDA devices, as two parts of a mesh use it, in a fraction of a second.

    Parameters
    ----------
    one, other : str
        "cuda:0", "cuda:1"; they may be the same.
    transport : {"auto", "peer", "host"}
        From device to device, or through memory of the host; "auto": the first if they reach each other.

    Returns
    -------
    dict
        ``latency`` [s], until a small message is there and its receiver knows; ``bandwidth`` [byte/s] of long
        ones, each way while as many go the other way; ``transport``, "peer" or "host".

    Raises
    ------
    ArgumentError, DeviceError
    """
    way = choice("transport", transport, TRANSPORTS)
    found = _core.new_struct("unda_link")
    _core.check(lib.unda_link_limits(device_number(one), device_number(other), way, found))
    return {
        "latency": found.latency,
        "bandwidth": found.bytes_per_second,
        "transport": TRANSPORTS[2 if found.by_host else 1],
    }
