"""Options common to all methods: the user's words and numbers, converted for the library.

Not here: those of one method (dg.py, fd.py), devices (limits.py).
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import choice, integer, number
from .._core import lib
from ..errors import ArgumentError
from ..limits import choose_device, device_number

PRECISIONS = ("float32", "float64")
_NONE = ("self", "__class__")  # in a constructor's locals(), but not arguments
Precision = Literal["float32", "float64"] | np.dtype[Any] | type[np.floating[Any]]


class Given(SimpleNamespace):
    """Arguments of a method's constructor by name, so that a keyword stands in one signature alone."""

    layers: Any = None  # of DG, once they are made: mesh_layer.py

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        super().__init__(**{name: one for name, one in arguments.items() if name not in _NONE})

    @classmethod
    def of(cls, kind: type, *places: Any, **keywords: Any) -> Given:
        """Return what a call of the class would be given, defaults included."""
        bound = inspect.signature(kind).bind(*places, **keywords)
        bound.apply_defaults()
        return cls(bound.arguments)

    def some(self, *names: str) -> dict[str, Any]:
        """Return the arguments of these names."""
        return {name: getattr(self, name) for name in names}


def precision(dtype: Any) -> int:
    """Return 0 for float32, 1 for float64; any name NumPy has for them."""
    try:
        name: Any = np.dtype(dtype).name
    except Exception:
        name = dtype
    return choice("dtype", name, PRECISIONS)


def _is_name(name: Any) -> bool:
    """Say whether the library can have something of that name."""
    return isinstance(name, str) and 0 < len(name) < 16 and name.isascii() and name.isprintable()


#: Words for the values of the kernels' option "metric", from 1 on (unda_metric).
METRICS = ("affine", "trilinear", "stored")
#: Options of kernels whose values are words: the values from 1 on.
_STRATEGIES = ("field", "matrix")
PART_WORDS = {
    "metric": METRICS,
    "compute": ("plain", "tf32"),
    "strategy": _STRATEGIES,
    "lift_strategy": _STRATEGIES,
}


def _part(name: Any, value: Any) -> int:
    """Return a kernel option as the library's number."""
    if isinstance(name, str) and name in PART_WORDS:
        return 1 + choice(name, value, PART_WORDS[name])
    return integer(str(name), value, 0, 2**31 - 1)


def kernel_choice(kernel: Any, options: Mapping[str, int | str] | None) -> dict[str, Any]:
    """Return ``kernel`` and ``kernel_options`` in the library's form; the library checks the names."""
    if not isinstance(kernel, str):
        raise ArgumentError(f"kernel is {kernel!r}, expected a name")
    if options is not None and not isinstance(options, Mapping):
        raise ArgumentError(f"kernel_options is {options!r}, expected a dict")
    parts = [(name, _part(name, value)) for name, value in (options or {}).items()]
    if len(parts) > lib.UNDA_MAX_PART or not all(_is_name(name) for name in (kernel, *dict(parts))):
        raise ArgumentError(f"kernel is {kernel!r}, kernel_options {options!r}: there are no such names")
    return {
        "kernel": kernel.encode(),
        "num_part": len(parts),
        "part": [{"name": name.encode(), "value": value} for name, value in parts],
    }


def kernels(options: Any, *, tried: bool = False) -> dict[str, dict[str, int]]:
    """Return the library's kernels for these options, with what a tuner tries for each part (unda_tuned).

    tried: only those that it tries.
    """
    found: dict[str, dict[str, int]] = {}
    info, index, num = _core.new_struct("unda_kernel_info"), 0, 1
    while index < num:
        _core.check(lib.unda_kernel_get(options, index, info))
        index, num = index + 1, info.num_kernel
        if not (tried and info.reference):
            parts = range(info.num_part)
            found[_core.text(info.name)] = {_core.text(info.part[i]): info.tuned[i] for i in parts}
    return found


def kernel_names(method: str) -> list[str]:
    """Return the names of the kernels that a method has on any device, as the library lists them."""
    fd = _core.new_struct("unda_fd_options", order=2, shape=[3] * 3, spacing=[1.0] * 3, speed_max=1.0)
    names: dict[str, Any] = {}
    code, shapes = {
        "DG": (lib.UNDA_DG, (lib.UNDA_TET, lib.UNDA_HEX)),
        "FD": (lib.UNDA_FD, (0,)),
        "SEM": (lib.UNDA_SEM, (lib.UNDA_HEX,)),
    }[method]
    for device, shape in itertools.product((lib.UNDA_DEVICE_CPU, 0), shapes):
        options = _core.new_struct(
            "unda_solver_options", method=code, degree=1, device=device, shape=shape, fd=fd
        )
        names |= kernels(options)
    return list(names)


def kernel_parts(info: Any) -> dict[str, Any]:
    """Return the parts of the kernel in use by name, as `kernel_choice` takes them."""
    parts = {_core.text(part.name): int(part.value) for part in info.part[0 : info.num_part]}
    return {
        name: PART_WORDS[name][value - 1] if name in PART_WORDS else value for name, value in parts.items()
    }


def common_options(given: Given) -> tuple[dict[str, Any], str]:
    """Return the options of the library that every method has, and the device."""
    device, threads, dt, sample_dt = given.device, given.threads, given.dt, given.sample_dt
    if dt is not None and sample_dt is not None:
        raise ArgumentError("give dt or sample_dt, not both")
    chosen = choose_device(device)
    return {
        "precision": precision(given.dtype),
        "device": device_number(chosen),
        "threads": 0 if threads is None else integer("threads", threads, 0, 4096),
        "cfl": number("cfl", given.cfl, positive=True),
        "dt": 0.0 if dt is None else number("dt", dt, "s", positive=True),
        "sample_dt": 0.0 if sample_dt is None else number("sample_dt", sample_dt, "s", positive=True),
    }, chosen
