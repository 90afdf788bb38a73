"""Checks of single arguments: numbers, points, fields, with errors that name what was found.

Not here: arrays for the C library (_core.py), values of a medium (medium.py).
Next: errors.py, and timefunction.py or source.py for how these are used.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from ._units import is_quantity, plain
from .errors import ArgumentError


def number(name: str, value: object, unit: str = "", *, positive: bool = False) -> float:
    """Return `value` as a float, or raise if it is not one finite (positive) real number."""
    value = plain(name, value, unit)
    kind = "a finite positive number" if positive else "a finite number"
    expected = f"expected {kind} [{unit}]" if unit else f"expected {kind}"
    refuse_text(name, value, expected.removeprefix("expected "))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, np.ndarray):
        raise ArgumentError(f"{name} is an array of shape {value.shape}; {expected}")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise ArgumentError(f"{name} is {value!r}; {expected}")
    try:
        result = float(value)
    except OverflowError:
        result = float("inf")
    if not np.isfinite(result) or (positive and result <= 0.0):
        raise ArgumentError(f"{name} is {result!r}; {expected}")
    return result


def refuse_text(name: str, value: object, expected: str) -> None:
    """Raise if `value` is a string."""
    if isinstance(value, (str, bytes, np.str_)):
        raise ArgumentError(f"{name} is {value!r}; expected {expected}, not a string")


def flag(name: str, value: object) -> bool:
    """Return `value` as a bool, or raise if it is neither that nor an integer."""
    if not isinstance(value, (bool, int, np.bool_)):
        raise ArgumentError(f"{name} is {value!r}; expected True or False")
    return bool(value)


def integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int, or raise if it is not an integer from low to high."""
    expected = f"expected an integer >= {low}" if high is None else f"expected an integer, {low} to {high}"
    refuse_text(name, value, expected.removeprefix("expected "))
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}; {expected}") from None
    if result < low or (high is not None and result > high):
        raise ArgumentError(f"{name} is {result}; {expected}")
    return result


def choice(name: str, value: Any, choices: Sequence[str]) -> int:
    """Return the index of a word among the allowed ones."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}, expected one of {list(choices)}")
    return list(choices).index(value)


def of_type(what: str, config: Mapping[str, Any], kinds: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return which of `kinds` is the type in a configuration, and its other entries; raise if none is."""
    rest = dict(config)
    kind = rest.pop("type", None)
    if kind not in kinds:
        raise ArgumentError(f"{what} of type {kind!r}; expected one of {', '.join(sorted(kinds))}")
    return kinds[kind], rest


def file_path(path: Any) -> Path:
    """Return `path` as a Path, or raise if it is no file name."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path is {path!r}, expected a file name")
    return Path(path)


def field_names(fields: Any, known: tuple[str, ...], others: str = "") -> tuple[str, ...]:
    """Return names of fields: all for None, one for a string; others: what to add to an error."""
    if fields is not None and not isinstance(fields, Iterable):
        raise ArgumentError(f"fields is {fields!r}, expected names among {list(known)}")
    chosen = known if fields is None else (fields,) if isinstance(fields, str) else tuple(fields)
    unknown = [name for name in chosen if not isinstance(name, str) or name not in known]
    if unknown or not chosen:
        raise ArgumentError(f"no fields {unknown}; there are {list(known)}{others}")
    return chosen


def field_values(
    values: Any, fields: tuple[str, ...], shape: tuple[int, ...], what: str
) -> dict[str, np.ndarray]:
    """Return what an exact solution gave for these fields, as arrays of that shape."""
    if not isinstance(values, Mapping) or any(name not in values for name in fields):
        found = list(values) if isinstance(values, Mapping) else type(values).__name__
        raise ArgumentError(f"{what} gave {found}, expected a dict of {list(fields)}")
    arrays = {}
    for name in fields:
        if is_quantity(values[name]):
            raise ArgumentError(
                f"{what} gave a {name} that is a quantity in {values[name].units}; expected numbers, in SI "
                "units: quantity.m_as(..)"
            )
        try:
            arrays[name] = np.broadcast_to(np.asarray(values[name]), shape)
        except ValueError as error:
            raise ArgumentError(f"{what} gave a {name} that does not fit shape {shape}: {error}") from None
        if arrays[name].dtype.kind not in "iuf":
            raise ArgumentError(f"{what} gave a {name} of dtype {arrays[name].dtype}, expected real numbers")
        if not np.isfinite(arrays[name]).all():
            raise ArgumentError(f"{what} gave a {name} that is not finite everywhere")
    return arrays


#: Parts of the messages with which functions for single numbers fail when they are given arrays.
_FOR_NUMBERS = (
    "truth value", "Python scalar", "0-dimensional", "scalar index", "used as indices", "broadcast together",
    "inhomogeneous", "ndarray",
)  # fmt: skip


def call_at(name: str, function: Callable[..., Any], place: Sequence[np.ndarray], *time: Any) -> Any:
    """Return function(x, y, z), or (x, y, z, t); raise if it was written for single numbers."""
    try:
        return function(*place, *time)
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, ArgumentError) or not any(words in str(error) for words in _FOR_NUMBERS):
            raise
        shapes = ", ".join(str(np.shape(x)) for x in place)
        raise ArgumentError(
            f"{name}(x, y, z{', t' * len(time)}) gets arrays, x, y, z of shapes {shapes}, and raised "
            f"{type(error).__name__}: {error}; expected one that works on arrays, with NumPy's functions "
            "(np.sin, not math.sin) and np.where(z > 0, a, b) instead of if"
        ) from error


def node_values(
    name: str, value: Any, place: Sequence[np.ndarray], dtype: np.dtype, unit: str = ""
) -> np.ndarray:
    """Return a field at nodes, from an array of their shape, a number or f(x, y, z); finite in dtype."""
    value = plain(name, call_at(name, value, place) if callable(value) else value, unit)
    shape = np.broadcast_shapes(*(x.shape for x in place))
    try:
        value = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{name} is not an array of numbers: {error}") from None
    if value.dtype.kind in "SU":
        raise ArgumentError(f"{name} has strings such as {value.ravel()[0]!s:.40}; expected numbers")
    if value.ndim and value.shape != shape:
        raise ArgumentError(f"{name} has shape {value.shape}, expected {shape}")
    if value.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} has values that are not finite real numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        found = value.astype(dtype, copy=False)
    if not np.isfinite(found).all():
        finite = np.isfinite(value).all()
        what = f"beyond the range of {dtype}" if finite else "that are not finite real numbers"
        raise ArgumentError(f"{name} has values {what}")
    return np.broadcast_to(found, shape)


def vector(name: str, value: object, unit: str = "") -> tuple[float, float, float]:
    """Return `value` as three finite floats, or raise."""
    value = plain(name, value, unit)
    expected = "expected three finite numbers" + (f" [{unit}]" if unit else "")
    refuse_text(name, value, expected.removeprefix("expected "))
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes, dict)):
        raise ArgumentError(f"{name} is {value!r}; {expected}")
    parts = list(value)
    if len(parts) != 3:
        raise ArgumentError(f"{name} has {len(parts)} components; {expected}")
    x, y, z = (number(f"{name}[{axis}]", part, unit) for axis, part in enumerate(parts))
    return x, y, z


def unit_vector(name: str, value: object) -> tuple[float, float, float]:
    """Return `value` divided by its length, or raise if that is zero."""
    parts = np.array(vector(name, value))
    length = float(np.linalg.norm(parts))
    if length == 0.0:
        raise ArgumentError(f"{name} is {tuple(parts.tolist())}; expected a vector of length > 0")
    x, y, z = (parts / length).tolist()
    return x, y, z


def check_state(exact: Any, fields: Mapping[str, Any], names: Sequence[str], others: str = "") -> None:
    """Raise unless a state is one exact solution, or values of some of these fields."""
    unknown = sorted(set(fields) - set(names))
    if unknown:
        raise ArgumentError(f"no fields {unknown}; there are {list(names)}{others}")
    if exact is not None and fields:
        raise ArgumentError("give an exact solution or fields, not both")
    if exact is not None and not callable(exact):
        raise ArgumentError(f"exact is {exact!r}, expected an exact solution; fields go by name")
