"""The six sides of a grid: boundary conditions and layers, as given to `FD`.

Not here: layers themselves (layer.py), the conditions of a scheme (fd_scheme.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import lib
from ..errors import ArgumentError
from ..problem.boundary import by_name, no_condition
from ..problem.grid import SIDES, Grid
from ..problem.layer import CPML, Damping
from .fd_scheme import Scalar

Array = NDArray[np.int64]


def conditions(
    grid: Grid, scheme: Scalar, given: Mapping[str, Any] | None, fmax: float | None = None
) -> dict[str, Any]:
    """Read the `boundary` keyword: a word or a layer for each of the six sides, its R0 and f0 filled in."""
    given, rest = by_name(given, SIDES, "sides", "a grid")
    h = max(h for h, n in zip(grid.spacing, grid.shape, strict=True) if n == max(grid.shape) or n > 1)
    slowest = cache(lambda: scheme.medium.speed_min(grid))
    missing = [
        name for i, name in enumerate(SIDES)
        if given.get(name, rest) is None and (grid.shape[i // 2] > 1 or name in given)
    ]  # fmt: skip
    if missing:
        raise ArgumentError(no_condition(missing, f"a layer such as unda.{scheme.layers[0].__name__}"))
    found: dict[str, Any] = {}
    for i, name in enumerate(SIDES):
        flat = grid.shape[i // 2] == 1 and name not in given  # a problem in fewer dimensions
        condition = "periodic" if flat else given.get(name, rest)
        if not isinstance(condition, scheme.layers) and condition not in scheme.conditions:
            raise ArgumentError(
                f"boundary {name!r} has condition {condition!r}; expected one of {list(scheme.conditions)}, "
                f"a layer such as unda.{scheme.layers[0].__name__}, or '*' for the rest"
            )
        if isinstance(condition, Damping) and condition.width is None:
            raise ArgumentError(
                f"boundary {name!r} has {condition!r}; expected unda.Damping(width=..): layers of a grid are "
                "counted in nodes"
            )
        side = scheme.absorbing(h, fmax, slowest) if condition == "absorbing" else condition
        side = _on_grid(side, name, grid.spacing[i // 2])
        found[name] = scheme.fill(side, h, fmax, slowest) if isinstance(side, CPML) else side
    for low, high in zip(SIDES[::2], SIDES[1::2], strict=True):
        if (found[low] == "periodic") != (found[high] == "periodic"):
            raise ArgumentError(
                f"boundary {low!r} is {found[low]!r}, {high!r} is {found[high]!r}; "
                "expected periodic for both or none"
            )
    return found


def _on_grid(side: Any, name: str, h: float) -> Any:
    """Return a CPML of so many nodes as its thickness is; other conditions as they are."""
    if not isinstance(side, CPML):
        return side
    if side.tag is not None:
        raise ArgumentError(
            f"boundary {name!r} has {side!r}; a grid has no tags, expected width= or thickness="
        )
    if side.thickness is None:
        return side
    return replace(side, width=max(1, round(side.thickness / h)), thickness=None)


def flat_axes(grid: Grid, sides: Mapping[str, Any]) -> str:
    """Return the axes along which nothing varies: of one node, and without a layer."""
    ends = zip("xyz", grid.shape, SIDES[::2], SIDES[1::2], strict=True)
    words = {name for name, side in sides.items() if isinstance(side, str)}
    return "".join(axis for axis, num, low, high in ends if num == 1 and {low, high} <= words)


def reach(grid: Grid, sides: Mapping[str, Any]) -> Array:
    """Return how many cells points may be away from the first node along each axis, shape (3,).

    Between the outermost nodes; a periodic axis goes on to the first node's next image.
    """
    periodic = [isinstance(sides[name], str) and sides[name] == "periodic" for name in SIDES[::2]]
    num = np.array(grid.shape)
    return np.where(np.array(periodic) & (num > 1), num, num - 1)


def in_dimensions(solution: Any, flat: str) -> Any:
    """Return an exact solution, or raise if its source has more dimensions than the grid."""
    along = getattr(solution, "constant_along", None)
    if along is None or set(flat) <= set(along):
        return solution
    rest = "".join(axis for axis in "xyz" if axis not in flat)
    advice = f"line_source(medium, source, axis='{flat}')"
    if len(flat) == 2:
        advice = f"plane_source(medium, source, normal='{rest}')"
    raise ArgumentError(
        f"{solution!r} is a solution in {'two' if along else 'three'} dimensions; the grid has one node "
        f"along {' and '.join(flat)}, where sources are per {'square ' if len(flat) == 2 else ''}metre: "
        f"compare with unda.exact.{advice}"
    )


def code_of(side: Any) -> int:
    """Return unda_boundary of a side."""
    return int(getattr(lib, f"UNDA_BOUNDARY_{side.upper() if isinstance(side, str) else 'ABSORBING'}"))


def stretch_of(side: Any) -> float:
    """Return kappa of a matched layer; 0 for a sponge."""
    return 0.0 if isinstance(side, Damping) else side.kappa if isinstance(side, CPML) else 1.0


def frequency_of(side: Any, speed: float, h: float) -> float:
    """Return f0 of a layer, by default the frequency with 20 nodes per wavelength."""
    if not isinstance(side, CPML):
        return 0.0
    return speed / (20.0 * h) if side.f0 is None else side.f0
