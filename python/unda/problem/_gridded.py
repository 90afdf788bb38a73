"""Functions of place made of arrays of xarray: linear between their coordinates.

xarray is not imported: where nobody has, there are no such arrays. Not here: what they are for (_values.py,
the methods' `set`), arrays that unda makes (io/labelled.py).
"""

from __future__ import annotations

import sys
from hashlib import sha256
from typing import Any

import numpy as np

from .._extra import extra
from .._units import in_pint, plain
from ..errors import ArgumentError

_HAIR = 1e-6  # of a step: how far beyond the outermost coordinates a place may lie, which may be rounding
_AXES = {name: i for i, axis in enumerate("xyz") for name in (axis, f"{axis}_half")}


def labelled(name: str, value: Any, unit: str) -> Any:
    """Return a function f(x, y, z) of a DataArray, anything else as it is.

    Parameters
    ----------
    name : str
        For messages.
    value : object
    unit : str
        Of the values, to which others are converted.
    """
    xarray = sys.modules.get("xarray")
    return Gridded(name, value, unit) if xarray and isinstance(value, xarray.DataArray) else value


class Gridded:
    """The values of a DataArray as a function f(x, y, z).

    Parameters
    ----------
    name : str
        For messages.
    array : xarray.DataArray
        Dimensions among x, y, z, in any order, with coordinates that rise or fall; along one that is missing,
        or has a single coordinate, values are constant. ``attrs["units"]`` of the array and of the
        coordinates, if they are there, are units that pint knows.
    unit : str
        Of the values.
    """

    def __init__(self, name: str, array: Any, unit: str) -> None:
        from scipy.interpolate import RegularGridInterpolator

        names = [str(dim) for dim in array.dims]
        if any(dim not in _AXES for dim in names) or len({_AXES[dim] for dim in names}) < len(names):
            raise ArgumentError(
                f"{name} is a DataArray with dimensions {names}; expected some of x, y, z, z upwards: "
                "array.rename(lon='x'), array.assign_coords(z=-array.depth).swap_dims(depth='z')"
            )
        values = np.asarray(_converted(name, array, unit))
        if values.dtype.kind not in "iuf":
            raise ArgumentError(f"{name} is a DataArray of {values.dtype}; expected real numbers")
        values = np.array(values, np.float64)
        axes = []
        for i, dim in enumerate(array.dims):
            if dim not in array.coords:
                raise ArgumentError(f"{name} is a DataArray without coordinates {dim}; expected places [m]")
            axis = np.array(_converted(f"{dim} of {name}", array.coords[dim], "m"), np.float64)
            if len(axis) > 1 and np.diff(axis).max() < 0.0:
                axis, values = axis[::-1].copy(), np.flip(values, i)
            if not np.isfinite(axis).all() or (len(axis) > 1 and np.diff(axis).min() <= 0.0) or not len(axis):
                raise ArgumentError(f"{dim} of {name} neither rises nor falls throughout; expected either")
            axes.append(axis)
        text = " x ".join(f"{dim} {len(axis)}" for dim, axis in zip(array.dims, axes, strict=True))
        digest = sha256(b"".join(one.tobytes() for one in (*axes, values))).hexdigest()
        self.__qualname__ = f"DataArray({text}, sha256 {digest[:16]})"
        self.name, self.shape = name, values.shape
        used = [i for i, axis in enumerate(axes) if len(axis) > 1]
        self._columns = [_AXES[str(array.dims[i])] for i in used]
        self._axes = [axes[i] for i in used]
        self._values = values.reshape([len(axis) for axis in self._axes])
        self._between = RegularGridInterpolator(self._axes, self._values) if used else None

    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Return the values at places, which lie between the outermost coordinates."""
        place = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (x, y, z)))
        if self._between is None:
            return np.full(place[0].shape, float(self._values))
        inside = []
        for column, axis in zip(self._columns, self._axes, strict=True):
            at = place[column]
            low, high = axis[0] - _HAIR * (axis[1] - axis[0]), axis[-1] + _HAIR * (axis[-1] - axis[-2])
            beyond = (at < low) | (at > high)
            if beyond.any():
                raise ArgumentError(
                    f"{self.name} is a DataArray from {axis[0]:g} to {axis[-1]:g} m along {'xyz'[column]} "
                    f"and is wanted at {float(at[beyond].flat[0]):g} m, at {int(beyond.sum())} places "
                    "beyond; expected one that covers all: array.pad(..., mode='edge') with its coordinates"
                )
            inside.append(np.clip(at, axis[0], axis[-1]))
        return np.asarray(self._between(np.stack(inside, axis=-1)))


def _converted(name: str, array: Any, unit: str) -> Any:
    """Return the values of a DataArray in a unit: from its quantities, or from what its attributes say."""
    given = array.attrs.get("units")
    data = array.data
    values = plain(name, data, unit)
    if values is not data or given is None or str(given) == unit:
        return values
    pint = extra("pint", f"converting {name} from {given!r} to {unit!r}")
    registry = pint.get_application_registry()
    try:
        quantity = registry.Quantity(np.asarray(values), in_pint(str(given)))
    except Exception as error:  # a word that is no unit, or no word
        raise ArgumentError(f"{name} is in units {given!r}; expected {unit!r} ({error})") from None
    return plain(name, quantity, unit)
