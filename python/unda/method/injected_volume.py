"""The volume that a plain callable injects: its integral over time, from the first step on.

The state of SEM has the volume, not its rate: chi = -(integral of the integral of p). Not here: time
functions, which have integrals in closed form (problem/_pulses.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
_NUM = 10  # Gauss-Lobatto points of a piece: they see its ends, near which a jump of f may be


def _lobatto(num: int) -> tuple[Array, Array]:
    """Return points and weights on [-1, 1]: the ends and the roots of P', 2 / (num (num - 1) P^2)."""
    p = np.polynomial.Legendre.basis(num - 1)
    points = np.concatenate([[-1.0], np.sort(p.deriv().roots().real), [1.0]])
    return points, 2.0 / (num * (num - 1) * p(points) ** 2)


_NODES, _WEIGHTS = _lobatto(_NUM)
_LEVELS = 40  # halvings of a time step, after which a jump of f is an error of 1e-12 of it


class InjectedVolume:
    """The integral of f, called with times in the order of the steps; 0 at the first of them.

    A step's share is the rule of ten Gauss-Lobatto points on pieces so short that both halves of each give
    the same to 1e-12 of f, which a smooth f that the step resolves does at once. Shares are added one by one:
    how many times are asked for at once changes no bit.

    A call that was interrupted before its steps were taken comes again: the ends of the last calls are kept.
    """

    span: tuple[float, float] | None = None  # as of a `TimeFunction`: not known
    fmax: float | None = None

    def __init__(self, f: Callable[[Array], Array]) -> None:
        self._f = f
        self.begin()

    def begin(self) -> None:
        """Forget the past: the clock has been set."""
        self._ends: list[tuple[float, float]] = []  # times and volumes

    def __call__(self, times: Array) -> Array:
        """Return the volume at times that increase."""
        times = np.asarray(times, dtype=np.float64)
        if not times.size:
            return times
        while self._ends and self._ends[-1][0] > times[0]:
            self._ends.pop()
        start, volume = self._ends[-1] if self._ends else (float(times[0]), 0.0)
        shares = self._integrals(np.concatenate([[start], times[:-1]]), times)
        volumes = np.cumsum(np.concatenate([[volume], shares]))[1:]
        self._ends = [*self._ends[-3:], (float(times[-1]), float(volumes[-1]))]
        return volumes

    def _rule(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return integrals from low to high, and the size of f there."""
        half = 0.5 * (high - low)
        values = self._f(low[:, None] + half[:, None] * (1.0 + _NODES))
        values = np.broadcast_to(values, (len(low), len(_NODES)))
        return half * (values * _WEIGHTS).sum(axis=1), np.abs(values).max(axis=1)

    def _integrals(self, low: Array, high: Array) -> Array:
        """Return the integral of f from each low to each high."""
        total, owner, width = np.zeros(len(low)), np.arange(len(low)), high - low
        known, size = self._rule(low, high)
        for _ in range(_LEVELS):
            middle = 0.5 * (low + high)
            (first, one), (second, other) = self._rule(low, middle), self._rule(middle, high)
            size = np.maximum(size, np.maximum(one, other))
            rough = np.abs(first + second - known) > 1e-12 * size * width[owner]
            np.add.at(total, owner[~rough], (first + second)[~rough])
            low, high = (np.concatenate(pair)[np.tile(rough, 2)] for pair in ((low, middle), (middle, high)))
            known, size = (
                np.concatenate(pair)[np.tile(rough, 2)] for pair in ((first, second), (one, other))
            )
            owner = np.tile(owner, 2)[np.tile(rough, 2)]
            if not owner.size:
                return total
        np.add.at(total, owner, known)
        return total
