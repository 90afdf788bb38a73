"""Options that every method has: words and numbers of the user as the library takes them.

Not here: those of one method (dg.py, fd.py), devices (limits.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._check import integer, number
from .errors import ArgumentError
from .limits import choose_device, device_number

__all__ = ["KERNELS", "PLAN", "PRECISIONS", "choice", "common_options", "plan", "precision"]

PLAN = ("rows", "cols", "tile", "blocks", "unroll_volume", "unroll_lift")
KERNELS = ("auto", "fused", "node", "step", "tiled", "diamond")  # in the order of unda_kernel
PRECISIONS = ("float32", "float64")


def choice(name: str, value: Any, choices: Sequence[str]) -> int:
    """Return the place of a word among the allowed ones."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}, expected one of {list(choices)}")
    return list(choices).index(value)


def precision(dtype: Any) -> int:
    """Return 0 for float32, 1 for float64; any name NumPy has for them."""
    try:
        name: Any = np.dtype(dtype).name
    except Exception:
        name = dtype
    return choice("dtype", name, PRECISIONS)


def plan(options: Mapping[str, int] | None, names: Sequence[str]) -> list[int]:
    """Return kernel_options as the library takes them: 0 where it chooses."""
    if options is not None and not isinstance(options, Mapping):
        raise ArgumentError(f"kernel_options is {options!r}, expected a dict with {list(names)}")
    options = options or {}
    unknown = [name for name in options if name not in names]
    if unknown:
        raise ArgumentError(f"kernel_options has {unknown}; there are {list(names)}")
    return [integer(name, options.get(name, 0), 0, 2**31 - 1) for name in names]


def common_options(
    *,
    dtype: Any,
    device: Any,
    threads: int | None,
    dt: float | None,
    cfl: float,
    sample_dt: float | None = None,
) -> tuple[dict[str, Any], str]:
    """Return the options of the library that every method has, and the device."""
    chosen = choose_device() if isinstance(device, str) and device == "auto" else device
    return {
        "precision": precision(dtype),
        "device": device_number(chosen),
        "threads": 0 if threads is None else integer("threads", threads, 0, 4096),
        "cfl": number("cfl", cfl, positive=True),
        "dt": 0.0 if dt is None else number("dt", dt, "s", positive=True),
        "sample_dt": 0.0 if sample_dt is None else number("sample_dt", sample_dt, "s", positive=True),
    }, chosen
