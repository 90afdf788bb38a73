"""What receivers should have recorded of an exact solution, which gives fields: also displacement and strain.

A displacement is what the receivers recorded first (0 where they integrate) plus the integral of the exact
velocity since then, by Gauss and Legendre's rule of six points on pieces of at most four steps: of a wave of
omega dt = 0.6 its error is 2e-11 of the amplitude. The strain of a fibre is the integral of its rate, the
difference of velocities at the ends of the gauge (fibre.py). Not here: norms (receiver.py).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from .._check import call_at, field_values
from ..errors import ArgumentError
from ..problem.medium import Medium, group_of
from . import fibre
from .channels import terms_at

#: The rates of what is an integral over time.
_RATES = {f"u{axis}": f"v{axis}" for axis in "xyz"}
_NUM_GAUSS, _STEPS = 6, 4  # points of a piece; steps of a piece, at most
_AT_ONCE = 1 << 20  # values of a field that a solution is asked for at once
_WHAT = "the exact solution"
Fields = dict[str, np.ndarray]


def expected(rec: Any, exact: Callable[..., Any], fields: tuple[str, ...]) -> Fields:
    """Return what these fields of receivers should be, (num_point, num_sample), and others of their groups.

    Raises
    ------
    ArgumentError
        If the solution does not give what they follow from.
    """
    if rec.fibre is not None:
        return _along_fibre(rec, exact, fields)
    found: Fields = {}
    for lag in {rec._lags.get(field, 0.0) for field in fields}:
        part = tuple(field for field in fields if rec._lags.get(field, 0.0) == lag)
        values = call_at("exact", exact, _axes(rec.points), rec.t[None, :] + lag)
        late: tuple[str, ...] = ()
        if isinstance(values, Mapping):
            late = tuple(one for one in part if one not in values and _RATES.get(one) in values)
            part = tuple(one for one in part if one not in late)
            if isinstance(medium := getattr(exact, "medium", None), Medium):
                values = {**values, **_derived(medium, values, part)}
        wider = wider_fields(part, values) if isinstance(values, Mapping) else part
        found.update(field_values(values, wider, (len(rec.points), rec.num_sample), _WHAT))
        if late:
            found.update(_displacement(rec, exact, late, values))
    return found


def wider_fields(fields: tuple[str, ...], known: Container[str]) -> tuple[str, ...]:
    """Return these fields and the known ones of their groups."""
    groups = dict.fromkeys(one for field in fields for one in group_of(field) if one in known)
    return tuple(dict.fromkeys((*fields, *groups)))


def _axes(points: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(points[:, i, None] for i in range(3))


def _displacement(rec: Any, exact: Any, fields: tuple[str, ...], known: Mapping[str, Any]) -> Fields:
    names = [name for name in wider_fields(fields, _RATES) if _RATES[name] in known]
    rates = tuple(_RATES[name] for name in names)

    def rate(rows: slice, t: np.ndarray) -> np.ndarray:
        here = rec.points[rows]
        values = field_values(
            call_at("exact", exact, _axes(here), t[None, :]), rates, (len(here), len(t)), _WHAT
        )
        return np.stack([values[one] for one in rates])

    made = _integral(rate, rec, len(names), 1)
    return {name: made[i] + _first(rec, name) for i, name in enumerate(names)}


def _along_fibre(rec: Any, exact: Any, fields: tuple[str, ...]) -> Fields:
    whole = fibre.Fibre(**rec.fibre)
    channel = _channels(rec.points, whole.points)
    ends = whole.ends.reshape(-1, 3)

    def rate(_: slice, t: np.ndarray) -> np.ndarray:
        values = call_at("exact", exact, _axes(ends), t[None, :])
        v = field_values(values, ("vx", "vy", "vz"), (len(ends), len(t)), _WHAT)
        return whole.along(np.stack([v[f"v{axis}"].T for axis in "xyz"], axis=-1)).T[None, channel]

    found = {}
    if "strain_rate" in fields:
        found["strain_rate"] = rate(slice(None), rec.t + rec._lags.get("strain_rate", 0.0))[0]
    if "strain" in fields:
        found["strain"] = _integral(rate, rec, 1, len(ends))[0] + _first(rec, "strain")
    return found


def _channels(points: np.ndarray, all_of_them: np.ndarray) -> np.ndarray:
    """Return which of a fibre's channels these points are: receivers may be some of them."""
    size = float(np.abs(all_of_them).max(initial=0.0))
    found = np.empty(len(points), np.int64)
    for i, point in enumerate(points):
        apart = np.abs(all_of_them - point).max(axis=1)
        found[i] = apart.argmin()
        if apart[found[i]] > 1e-9 * size:
            raise ArgumentError(f"receiver {i} does not stand in the middle of one of the fibre's gauges")
    return found


def _first(rec: Any, name: str) -> Any:
    """Return what was recorded first, (num_point, 1); 0 of components that were not."""
    return rec[name][:, :1].astype(np.float64) if name in rec.fields else 0.0


def _integral(rate: Callable[[slice, np.ndarray], np.ndarray], rec: Any, num: int, many: int) -> np.ndarray:
    """Integrate from the first sample to each, (num, num_point, num_sample).

    rate: gives num values at points [rows] and times; many: at how many places it looks for a point, or 1.
    """
    t, size = rec.t, len(rec.points)
    made = np.zeros((num, size, len(t)))
    if len(t) < 2 or not size:
        return made
    pieces = -(-rec.every // _STEPS)
    x, weight = np.polynomial.legendre.leggauss(_NUM_GAUSS)
    h = rec.every * rec._dt / pieces
    within = (h * (np.arange(pieces)[:, None] + 0.5 * (1.0 + x))).ravel()
    weights = np.tile(0.5 * h * weight, pieces)
    rows = size if many > 1 else max(1, min(size, _AT_ONCE // len(within)))
    step = max(1, _AT_ONCE // (len(within) * max(rows, many)))
    for first in range(0, size, rows):
        some = slice(first, first + rows)
        for begin in range(0, len(t) - 1, step):
            starts = t[:-1][begin : begin + step]
            values = rate(some, (starts[:, None] + within).ravel())
            values = values.reshape(*values.shape[:2], len(starts), len(within))
            made[:, some, begin + 1 : begin + 1 + len(starts)] = values @ weights
    return np.asarray(np.cumsum(made, axis=2))


def _derived(medium: Medium, values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return these quantities from the fields of an exact solution, which has no derivatives."""
    made = {}
    known = {**medium.derived, **medium.motions}
    for name in (one for one in names if one in known and one not in values):
        if any(derivative for _, _, derivative in known[name].terms):
            raise ArgumentError(
                f"{name!r} takes derivatives, which exact solutions do not give; compare other fields "
                "(misfit(.., fields=..)), or with other receivers"
            )
        terms = terms_at(known[name], lambda: np.array([list(medium.scalar().values())]))
        made[name] = sum(factor * values[field] for factor, field, _ in terms)
    return made
