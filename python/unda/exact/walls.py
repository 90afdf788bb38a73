"""Plane walls: their names, kinds and positions, standing waves between them, image sources behind them.

Not here: the waves of the images (point.py).
Next: point.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np

from .._check import number, vector
from ..errors import ArgumentError
from ..problem.grid import SIDES, Grid
from .base import Array

SIGN = {"rigid": 1.0, "free": -1.0}  # of the image: normal velocity zero, pressure zero

Image = tuple[float, float]  # place along an axis [m], sign
Corner = tuple[float, float, float]


def wall_kinds(walls: Any, kinds: Collection[str] = tuple(SIGN)) -> dict[str, str]:
    """Return the kind of each wall in the order of SIDES, from a dict in which "*" is the rest."""
    first, last = list(kinds)
    if not isinstance(walls, Mapping):
        raise ArgumentError(f"walls is {walls!r}; expected a dict such as {{'zmax': {last!r}}}")
    for side, kind in walls.items():
        if side not in (*SIDES, "*"):
            raise ArgumentError(f"walls names {side!r}; expected one of {', '.join(SIDES)} or '*'")
        if kind not in kinds:
            raise ArgumentError(f"wall {side} is {kind!r}; expected {first!r} or {last!r}")
    named = {side: walls.get(side, walls.get("*")) for side in SIDES}
    return {side: kind for side, kind in named.items() if kind is not None}


def all_walls(walls: Any, kinds: Collection[str] = tuple(SIGN)) -> dict[str, str]:
    """Return the kind of each of the six walls, or raise."""
    found = wall_kinds(walls, kinds)
    missing = [side for side in SIDES if side not in found]
    if missing:
        raise ArgumentError(f"walls does not say what {', '.join(missing)} are")
    return found


def split_walls(walls: Any) -> tuple[dict[str, str], dict[str, float]]:
    """Split {"zmax": ("free", 1000.0)} into kinds and places [m]; the place may be missing."""
    if not isinstance(walls, Mapping):
        return wall_kinds(walls), {}
    pairs = {side: kind for side, kind in walls.items() if isinstance(kind, (tuple, list))}
    for side, pair in pairs.items():
        if len(pair) != 2 or side == "*":
            raise ArgumentError(f"wall {side} is {pair!r}; expected a kind, or (kind, place [m])")
    places = {side: number(f"place of wall {side}", pair[1], "m") for side, pair in pairs.items()}
    return wall_kinds({**walls, **{side: pair[0] for side, pair in pairs.items()}}), places


def corners(lower: Any, upper: Any) -> tuple[Corner, Corner]:
    """Return the corners of a box [m], or raise if it has no inside."""
    low, high = vector("lower", lower, "m"), vector("upper", upper, "m")
    lengths = [b - a for a, b in zip(low, high, strict=True)]
    if min(lengths) <= 0.0:
        raise ArgumentError(f"upper - lower is {lengths} m; expected positive lengths")
    return low, high


def mode_numbers(n: Any) -> tuple[int, int, int]:
    """Return the numbers of a mode as integers, or raise."""
    given = vector("n", n)
    if any(one != int(one) for one in given):
        raise ArgumentError(f"n is {given}; expected three integers")
    return int(given[0]), int(given[1]), int(given[2])


class Standing:
    """The factors of a standing wave along one axis of a box, between two of its walls."""

    def __init__(self, axis: int, box: tuple[Corner, Corner], n: int, kinds: dict[str, str]) -> None:
        low, high = kinds[SIDES[2 * axis]], kinds[SIDES[2 * axis + 1]]
        least = 0 if low == high and low != "free" else 1
        if n < least:
            raise ArgumentError(
                f"n[{axis}] is {n} between a {low} and a {high} wall; expected at least {least}"
            )
        self.lower, self.sine = box[0][axis], low in ("pec", "free")
        self.k = np.pi * (n if low == high else n - 0.5) / (box[1][axis] - box[0][axis])

    @property
    def vanishing(self) -> str:
        """Which of the factors, S or C, is zero everywhere; or neither."""
        return "neither" if self.k > 0.0 else "S" if self.sine else "C"

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return S and C: S' = k C, C' = -k S; S = 0 at pec and free walls, C = 0 at pmc and rigid ones."""
        sine, cosine = np.sin(self.k * (x - self.lower)), np.cos(self.k * (x - self.lower))
        return (sine, cosine) if self.sine else (cosine, -sine)


def bounds_of(where: Any) -> tuple[Corner, Corner]:
    """Return the lower and the upper corner [m] of a mesh, a grid, or a pair of corners."""
    if isinstance(where, Grid):
        return where.lower, where.upper
    if hasattr(where, "vertices"):
        vertices = np.asarray(where.vertices, dtype=np.float64)
        where = vertices.min(axis=0), vertices.max(axis=0)
    if not isinstance(where, (tuple, list)) or len(where) != 2:
        raise ArgumentError(f"bounds is {where!r}; expected a mesh, a grid, or (lower, upper)")
    return vector("lower bound", where[0], "m"), vector("upper bound", where[1], "m")


def wall_places(
    kinds: dict[str, str], places: dict[str, float], bounds: tuple[Corner, Corner] | None
) -> dict[str, float]:
    """Return the place of every wall [m]: its own, or that of the bounds; some may stay unknown."""
    found = dict(places)
    if bounds is not None:
        for index, side in enumerate(SIDES):
            if side in kinds:
                found.setdefault(side, bounds[index % 2][index // 2])
    return found


class Axis:
    """The walls across one axis and a source between them."""

    def __init__(self, position: float, low: Image | None, high: Image | None) -> None:
        self.position, self.low, self.high = position, low, high

    @property
    def parallel(self) -> bool:
        """True if there are two walls, and thus infinitely many images."""
        return self.low is not None and self.high is not None

    def images(self, nearest: float, farthest: float, reach: float) -> list[Image]:
        """Return the source and those of its images whose waves reach [nearest, farthest].

        Between walls a < b = a + L with signs A and B, images stand at s + 2 m L with sign (A B)^m
        and at 2 a - s + 2 m L with sign A (A B)^m, m any integer (Allen & Berkley 1979).
        """
        s = self.position
        if self.low is not None and self.high is not None:
            (a, sign_a), (b, sign_b) = self.low, self.high
            family = [(s, 1.0), (2.0 * a - s, sign_a)]
            period, turn = 2.0 * (b - a), sign_a * sign_b
        else:
            wall = self.low or self.high
            return [(s, 1.0)] + ([(2.0 * wall[0] - s, wall[1])] if wall else [])
        found = []
        for place, sign in family:
            first = ceil((nearest - reach - place) / period)
            last = floor((farthest + reach - place) / period)
            found += [(place + m * period, sign * turn ** abs(m)) for m in range(first, last + 1)]
        return found


def all_images(
    axes: list[Axis], lower: Corner, upper: Corner, reach: float
) -> Iterator[tuple[Corner, float]]:
    """Yield place and sign of each image within `reach` [m] of the box of points lower..upper."""
    lists = [axis.images(lower[i], upper[i], reach) for i, axis in enumerate(axes)]
    for (x, sign_x), (y, sign_y), (z, sign_z) in product(*lists):
        yield (x, y, z), sign_x * sign_y * sign_z
