"""Pictures of studies: results of a sweep, tables of convergence.

Not here: the studies (sweep.py, study/), pictures of fields (plotting.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .._check import choice
from ..errors import ArgumentError

_AXES = ("", "x", "y", "xy")


def new_axes(ax: Any, what: str) -> Any:
    """Return axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(f"{what} needs matplotlib: pip install 'unda-waves[plot]'") from None
    return plt.subplots(layout="constrained")[1]


def take_logarithms(ax: Any, log: str) -> None:
    """Make axes logarithmic."""
    choice("log", log, _AXES)
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")


def _column(result: Any, name: str) -> Any:
    """Return what a result has under a name, or None: the keyword of its case before the key of its value."""
    if name in result.case:
        return result.case[name]
    if isinstance(result.value, Mapping):
        return result.value.get(name)
    return result.value if name == "value" else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (Real, np.number)) and not isinstance(value, (bool, np.bool_))


def _known(results: Sequence[Any]) -> list[str]:
    names: dict[str, None] = {}
    for one in results:
        names |= dict.fromkeys(one.case)
        names |= dict.fromkeys(one.value if isinstance(one.value, Mapping) else ["value"])
    return list(names)


def plot_results(
    results: Sequence[Any], x: str, y: str, hue: str | None, log: str, ax: Any, matplotlib: Mapping[str, Any]
) -> Any:
    """Draw results; see `Results.plot`."""
    choice("log", log, _AXES)
    ended = [one for one in results if one.error is None]
    for what, name in (("x", x), ("y", y), ("hue", hue)):
        if name is not None and not any(_column(one, name) is not None for one in ended):
            raise ArgumentError(f"{what} is {name!r}, no case that ended has it; there are {_known(ended)}")
    rows = [(_column(one, x), _column(one, y), hue and _column(one, hue)) for one in ended]
    rows = [row for row in rows if row[0] is not None and row[1] is not None]
    for _, value, _ in rows:
        if not _is_number(value):
            raise ArgumentError(f"y is {y!r}, of which one is {value!r}; expected numbers")
    numbers = all(_is_number(row[0]) for row in rows)
    ax = new_axes(ax, "plot()")
    style = {"marker": "o", "linestyle": "-"} | dict(matplotlib)
    lines, dots = style | {"marker": ""}, style | {"linestyle": ""}
    # Text has the place of its first case.
    places = [row[0] if numbers else str(row[0]) for row in rows]
    order = sorted(set(places)) if numbers else list(dict.fromkeys(places))
    at: dict[Any, Any] = {place: place if numbers else i for i, place in enumerate(order)}
    for curve in dict.fromkeys(row[2] for row in rows):
        own = [(at[place], row[1]) for place, row in zip(places, rows, strict=True) if row[2] == curve]
        across = np.array(sorted({float(one) for one, _ in own}))
        means = [np.mean([value for one, value in own if one == place]) for place in across]
        (line,) = ax.plot(across, means, **lines)
        label = None if hue is None else f"{hue} = {curve}"
        given = {"color": line.get_color()} | dots | ({} if label is None else {"label": label})
        ax.plot([one for one, _ in own], [value for _, value in own], **given)
    if not numbers:
        ax.set_xticks(range(len(order)), order)
    take_logarithms(ax, log)
    ax.set(xlabel=x, ylabel=y)
    if hue is not None:
        ax.legend()
    missing = len(results) - len(rows)
    if missing:
        ax.set_title(f"{missing} of {len(results)} cases failed or have no {x}, {y}", fontsize="small")
    return ax


def plot_convergence(found: Any, field: str, ax: Any, matplotlib: Mapping[str, Any]) -> Any:
    """Draw errors over mesh sizes; see `Convergence.plot`."""
    ax = new_axes(ax, "plot()")
    for degree, order in found.orders(field).items():
        h, error = found.curve(degree, field)
        ax.loglog(
            h, error, **{"marker": "o", "label": f"degree {degree}, order {order:.2f}"} | dict(matplotlib)
        )
    ax.set(xlabel=found.size, ylabel="error" if field == "error" else f"relative L2 error of {field}")
    ax.legend()
    return ax
