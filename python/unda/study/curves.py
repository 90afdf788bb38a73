"""Measured errors of a plane wave: by nodes a wavelength of each method and degree, and by steps a period.

After N wavelengths an error is at most floor + slope N; of SEM and FD, whose leapfrog errs in time, the sum
of the lines of space and of the step. Not here: measuring (benchmarks/error_curves.py).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

WAVES = {"acoustic": "acoustic", "elastic": "elastic s", "maxwell": "maxwell"}
PATH = Path(__file__).with_name("error_curves.json")


class Line(NamedTuple):
    """An error by wavelengths travelled."""

    floor: float
    slope: float

    def at(self, way: float) -> float:
        """Return the error after so many wavelengths."""
        return self.floor + self.slope * way

    def __add__(self, other: Any) -> Line:
        return Line(self.floor + other.floor, self.slope + other.slope)


class Curve(NamedTuple):
    """Lines by a resolution: of nodes a wavelength, or steps a period; no error rises with it."""

    resolution: np.ndarray
    floor: np.ndarray
    slope: np.ndarray

    @classmethod
    def of(cls, given: dict[str, Any], resolution: str) -> Curve:
        """Return a curve of the table; where an error was smaller at a coarser resolution, that is chance."""
        falling = [np.maximum.accumulate(np.array(given[name])[::-1])[::-1] for name in ("floor", "slope")]
        return cls(np.array(given[resolution], float), *falling)

    def line(self, resolution: float) -> Line:
        """Return the line at a resolution within the measured ones: between two of them by a power law."""
        at = np.log(self.resolution)
        values = [
            float(np.exp(np.interp(np.log(resolution), at, np.log(np.maximum(one, 1e-16)))))
            for one in (self.floor, self.slope)
        ]
        return Line(*values)


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """Return the measured table."""
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def degrees(method: str, physics: str) -> list[int]:
    """Return the degrees, or orders, of which there are curves."""
    keys = [key.split(" ", 3) for key in table()["curves"]]
    return sorted({
        int(degree) for family, kind, degree, rest in keys
        if f"{family} {kind}" == method and rest.rsplit(" ", 1)[0] == WAVES[physics]
    })  # fmt: skip


def space_curves(method: str, degree: int, physics: str) -> list[Curve]:
    """Return the curves of one method, a direction each."""
    begin = f"{method} {degree} {WAVES[physics]} "
    return [
        Curve.of(given, "nodes")
        for key, given in table()["curves"].items()
        if key.startswith(begin) and given["nodes"]
    ]


def step_line(steps: float) -> Line:
    """Return the line of leapfrog and Newmark at so many steps a period; otherwise as dt^2."""
    curve = Curve.of(table()["time"], "steps")
    known = min(max(steps, float(curve.resolution[0])), float(curve.resolution[-1]))
    floor, slope = curve.line(known)
    return Line(floor * (known / steps) ** 2, slope * (known / steps) ** 2)
