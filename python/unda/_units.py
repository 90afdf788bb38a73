"""Quantities of pint, wherever users give numbers: converted to the units of unda here, and nowhere else.

pint is not imported: where nobody has, there are no quantities. Not here: which unit a number has (_check.py,
_core.py and the callers of `plain`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import ArgumentError


def plain(name: str, value: Any, unit: str | None) -> Any:
    """Return a quantity, or a nested list with some, as numbers in a unit; anything else as it is.

    Parameters
    ----------
    name : str
        For messages.
    value : object
    unit : str or None
        As unda writes it: "kg/m3", "1/s", "Pa s"; "" for numbers without one, and None where what is expected
        is no number that could have one.

    Raises
    ------
    ArgumentError
        If the quantity has other dimensions.

    Examples
    --------
    >>> plain("c", 1500.0, "m/s")
    1500.0
    """
    if "pint" not in sys.modules:
        return value
    if is_quantity(value):
        return _magnitude(name, value, unit)
    if isinstance(value, (list, tuple)) or (
        isinstance(value, np.ndarray) and value.dtype == object and value.ndim
    ):
        parts = [plain(name, part, unit) for part in value]
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value


def in_one_of(name: str, value: Any, units: Sequence[str]) -> Any:
    """Return a quantity as a number in the first of these units that fits; anything else as it is.

    Raises
    ------
    ArgumentError
        If none fits.
    """
    if "pint" not in sys.modules or not is_quantity(value):
        return value
    for unit in units:
        if value.is_compatible_with(in_pint(unit)):
            return _magnitude(name, value, unit)
    raise ArgumentError(f"{name} is {value!s:.60}; expected one in units of {' or '.join(units)}")


def is_quantity(value: Any) -> bool:
    """Return whether a value is a quantity of pint."""
    return hasattr(value, "magnitude") and hasattr(value, "dimensionality") and hasattr(value, "m_as")


def _magnitude(name: str, value: Any, unit: str | None) -> Any:
    found = f"{name} is {value!s:.60}, a quantity in {value.units}"
    if unit is None:
        raise ArgumentError(f"{found}; expected plain values, as they have no unit")
    try:
        return value.m_as(in_pint(unit))
    except Exception as error:  # pint's errors have no common base in all versions
        expected = f"one in units of {unit}" if unit else "a number without a unit"
        raise ArgumentError(f"{found}; expected {expected} ({error})") from None


def in_pint(unit: str) -> str:
    """Return a unit of unda as pint reads it.

    Examples
    --------
    >>> in_pint("kg/m3"), in_pint("N m"), in_pint("m s-1"), in_pint("")
    ('kg/m**3', 'N*m', 'm*s**-1', 'dimensionless')
    """
    return re.sub(r"(?<=[A-Za-z])(-?\d+)", r"**\1", unit).replace(" ", "*") or "dimensionless"
