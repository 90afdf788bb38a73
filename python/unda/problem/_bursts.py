"""Bursts: sines whose frequency goes linearly from f0 to f1, between Hann-shaped ends; tone burst and chirp.

With s = t - t0 and 0 < s < T, f = w(s) sin(phi(s)), phi = 2 pi (f0 s + (f1 - f0) s^2 / (2 T)),
w = (1 - cos(pi s / tau)) / 2 in the first tau seconds, likewise in the last, else 1.

Derivatives follow from Leibniz' rule. Integrals are sums of Gauss rules over pieces of at most a quarter of a
cycle, to rounding, however many times f is integrated.
Not here: other pulses (_pulses.py) and the public functions (timefunction.py).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from math import ceil, comb, factorial, inf, pi
from typing import Any

import numpy as np

from .._check import number
from ..errors import ArgumentError
from ._pulses import NEGLIGIBLE, after_end, highest_frequency
from ._timebase import Array, TimeFunction

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(12)  # exact to 1e-16 on a quarter of a cycle
_PIECES = 4  # in a cycle


class Burst(TimeFunction):
    """Base of tone bursts and chirps."""

    def __init__(self, f0: float, f1: float, duration: float, taper: float, t0: float, order: int) -> None:
        super().__init__(order)
        self._f0, self._f1, self._duration, self._taper, self._t0 = f0, f1, duration, taper, t0

    # ---- f and its derivatives, for 0 <= s <= T

    def _carrier(self, s: Array, most: int) -> list[Array]:
        """Return z = exp(i phi) and its derivatives, z_(k+1) = i (phi' z_k + k phi'' z_(k-1))."""
        sweep = 2.0 * pi * (self._f1 - self._f0) / self._duration
        rate = 2.0 * pi * self._f0 + sweep * s
        made: list[Any] = [np.exp(1j * (2.0 * pi * self._f0 * s + 0.5 * sweep * s**2))]
        for k in range(most):
            made.append(1j * (rate * made[k] + (k * sweep * made[k - 1] if k else 0.0)))
        return made

    def _window(self, s: Array, k: int) -> Array:
        """Return the k-th derivative of w."""
        tau, end = self._taper, self._duration
        flat = 1.0 if k == 0 else 0.0
        if tau == 0.0:
            return np.full_like(s, flat)

        def rise(x: Array) -> Array:
            return 0.5 * flat - 0.5 * (pi / tau) ** k * np.cos(pi * x / tau + 0.5 * pi * k)

        return np.where(s < tau, rise(s), np.where(s > end - tau, (-1.0) ** k * rise(end - s), flat))

    def _inside(self, s: Array, order: int) -> Array:
        carrier = self._carrier(s, order)
        total = sum(comb(order, k) * self._window(s, k) * carrier[order - k] for k in range(order + 1))
        return np.asarray(np.imag(total), np.float64)

    # ---- integrals

    @cached_property
    def _edges(self) -> Array:
        """Return the ends of the pieces; the taper ends at some of them."""
        fastest = max(self._f0, self._f1)
        corners = sorted({0.0, self._taper, self._duration - self._taper, self._duration})
        made = [np.array(corners[:1])]
        for low, high in pairwise(corners):
            made.append(np.linspace(low, high, 1 + ceil(_PIECES * (high - low) * fastest))[1:])
        return np.concatenate(made)

    def _added(self, low: Array, high: Array, m: int) -> Array:
        """Return the integral of (high - u)^(m - 1) / (m - 1)! f(u) from low to high, in one piece each."""
        half = 0.5 * (high - low)
        u = low[:, None] + half[:, None] * (1.0 + _POINTS)
        kernel = (high[:, None] - u) ** (m - 1) / factorial(m - 1)
        # Row by row: the bits of a time do not depend on how many there are, as those of a product would.
        return np.asarray(half * (kernel * self._inside(u, 0) * _WEIGHTS).sum(axis=1), np.float64)

    @cached_property
    def _at_edges(self) -> dict[int, Array]:
        """Return integrals at the ends of pieces, by how often f is integrated."""
        edges = self._edges
        made: dict[int, Array] = {}
        width = np.diff(edges)
        for m in range(1, 1 - min(self._order, 0)):
            values = np.zeros(len(edges))
            share = self._added(edges[:-1], edges[1:], m)
            for i in range(len(width)):  # Cauchy's formula, continued from the piece before (Taylor)
                before = sum(made[m - j][i] * width[i] ** j / factorial(j) for j in range(1, m))
                values[i + 1] = values[i] + before + share[i]
            made[m] = values
        return made

    def _integrated(self, s: Array) -> Array:
        m, edges, known = -self._order, self._edges, self._at_edges
        i = np.clip(np.searchsorted(edges, s, side="right") - 1, 0, len(edges) - 2)
        ahead = s - edges[i]
        taylor = sum(known[m - j][i] * ahead**j / factorial(j) for j in range(m))
        return np.asarray(taylor + self._added(edges[i], s, m), np.float64)

    def _value(self, t: Array) -> Array:
        s = np.asarray(t, np.float64).ravel() - self._t0
        within = (s > 0.0) & (s < self._duration)
        made = np.zeros_like(s)
        if self._order >= 0:
            made[within] = self._inside(s[within], self._order)
            return made.reshape(np.shape(t))
        made[within] = self._integrated(s[within])
        after = s >= self._duration
        known = self._at_edges
        made[after] = after_end(s[after] - self._duration, [known[m][-1] for m in range(-self._order, 0, -1)])
        return made.reshape(np.shape(t))

    # ---- what it tells

    @property
    def span(self) -> tuple[float, float]:
        end = self._t0 + self._duration
        if self._order >= 0:
            return self._t0, end
        peak = float(np.abs(self._at_edges[-self._order]).max())
        left = [abs(self._at_edges[m][-1]) for m in range(1, 1 - self._order)]
        # Rounding of the sum over pieces counts as nothing.
        return self._t0, end if max(left) <= 100.0 * NEGLIGIBLE * peak else inf

    @property
    def fmax(self) -> float:
        cycles = self._duration * max(self._f0, self._f1)
        whole = self if self._order >= 0 else self._again(-self._order)
        return highest_frequency(whole, 2 ** ceil(np.log2(max(8192.0, 32.0 * cycles))))


class ToneBurst(Burst):
    """sin(2 pi f0 s) sin^2(pi s / T), T = cycles / f0."""

    kind = "tone_burst"

    def __init__(self, f0: float, cycles: float, t0: float = 0.0, order: int = 0) -> None:
        f0, cycles = number("f0", f0, "Hz", positive=True), number("cycles", cycles, positive=True)
        t0 = number("t0", t0, "s")
        super().__init__(f0, f0, cycles / f0, 0.5 * cycles / f0, t0, order)
        self._parameters = {"f0": f0, "cycles": cycles, "t0": t0}


class Chirp(Burst):
    """A sine from f0 to f1, between Hann-shaped ends of length taper."""

    kind = "chirp"

    def __init__(
        self,
        f0: float,
        f1: float,
        duration: float,
        taper: float | None = None,
        t0: float = 0.0,
        order: int = 0,
    ) -> None:
        given: dict[str, Any] = {
            "f0": number("f0", f0, "Hz", positive=True), "f1": number("f1", f1, "Hz", positive=True),
            "duration": number("duration", duration, "s", positive=True),
        }  # fmt: skip
        given["taper"] = 0.1 * given["duration"] if taper is None else number("taper", taper, "s")
        most = 0.5 * given["duration"]
        if not 0.0 <= given["taper"] <= most:
            raise ArgumentError(f"taper is {given['taper']:g} s; expected 0 to {most:g} s, half the duration")
        given["t0"] = number("t0", t0, "s")
        super().__init__(**given, order=order)
        self._parameters = given
