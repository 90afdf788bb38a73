"""Amplitudes of an array: one time function at many delays, evaluated once for each different delay.

Not here: the array (problem/array.py), when amplitudes are needed (stepping.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .injected_volume import InjectedVolume


class Delayed:
    """The amplitude of an array, (num_time, num_delay).

    Parameters
    ----------
    amplitude : callable
        Of one source without delay.
    delays : ndarray, shape (num_point,)
        [s].
    source : Array
        Whose they are.

    Attributes
    ----------
    numbers : ndarray of int, shape (num_point,)
        Column of each point.
    width : int
        Number of columns.
    """

    def __init__(self, amplitude: Callable[[np.ndarray], Any], delays: np.ndarray, source: Any) -> None:
        if isinstance(amplitude, InjectedVolume):
            raise ArgumentError(
                f"f of {source!r} is a plain callable, whose integral SEM takes in the order of the steps; "
                "with delays use unda.sampled(t, f(t)) or one of unda's time functions"
            )
        self._amplitude = amplitude
        self._delays, self.numbers = np.unique(delays, return_inverse=True)
        self.width = len(self._delays)
        self.fmax = getattr(amplitude, "fmax", None)  # for `check`

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Return amplitudes at times (num_time,)."""
        return np.asarray(self._amplitude(times[:, None] - self._delays))


def columns(amplitudes: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Return the different ones of amplitudes of sources, and which of all their columns each source has.

    Sources of an array, and those of a plane wave on a grid, follow each other: each takes the next of its
    numbers.
    """
    functions = list({id(f): f for f in amplitudes}.values())
    widths = [getattr(f, "width", 1) for f in functions]
    first = dict(zip(map(id, functions), np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
    found = np.fromiter((first[id(f)] for f in amplitudes), np.int64, len(amplitudes))
    owner = np.fromiter(map(id, amplitudes), np.uint64, len(amplitudes))
    for f in functions:
        if hasattr(f, "numbers"):
            found[owner == id(f)] += f.numbers
    return functions, found
