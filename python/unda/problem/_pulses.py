"""The pulses: Gaussian, Ricker, smooth bump, spline through samples; each with any derivative.

Not here: their base (_timebase.py), bursts (_bursts.py) and the public functions (timefunction.py).
Next: timefunction.py.
"""

from __future__ import annotations

from math import comb, factorial, inf, perm, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._check import choice, number
from .._core import as_array
from .._units import is_quantity
from ..errors import ArgumentError
from ._timebase import Array, TimeFunction

NEGLIGIBLE = 1e-16  # a function counts as zero below this fraction of its peak
#: Of values of sources, of an `Array` over lengths and areas, of plane waves.
SOURCE_UNITS = ("m3/s", "m2/s", "m/s", "N", "N/m", "Pa", "N m", "A m", "A", "A/m", "V/m")
SPECTRUM_FLOOR = 6.25 * np.exp(-5.25)  # Ricker's spectrum at 2.5 f0 over its peak: 3.3 %


def _repeated_erfc(x: Array, m: int) -> Array:
    """Return the m-fold integral of exp(-x^2) from -infinity, m >= 0 (Abramowitz & Stegun 7.2)."""
    from scipy.special import erfc

    older, newer = np.exp(-(x**2)), 0.5 * sqrt(pi) * erfc(-x)
    for step in range(1, m + 1):
        older, newer = newer, (older / 2.0 + x * newer) / step
    return older


class Gaussian(TimeFunction):
    """Derivatives and integrals of exp(-x^2), x = pi f0 (t - t0)."""

    kind = "gaussian"
    _base_order = 0  # the function itself is this derivative of exp(-x^2) ...
    _factor = 1.0  # ... times this

    def __init__(self, f0: float, t0: float | None = None, order: int = 0) -> None:
        f0 = number("f0", f0, "Hz", positive=True)
        t0 = 1.5 / f0 if t0 is None else number("t0", t0, "s")
        super().__init__(order, f0=f0, t0=t0)
        self._f0, self._t0 = f0, t0

    def _shape(self, x: Array) -> Array:
        n = self._base_order + self._order
        if n < 0:
            return self._factor * _repeated_erfc(x, -n)
        hermite = np.asarray(np.polynomial.hermite.hermval(x, [0.0] * n + [(-1.0) ** n]), float)
        return self._factor * hermite * np.exp(-(x**2))

    def _value(self, t: Array) -> Array:
        scale = pi * self._f0
        return scale**self._order * self._shape(scale * (t - self._t0))

    @property
    def span(self) -> tuple[float, float]:
        x = np.linspace(0.0, 14.0, 1401)
        values = np.abs(self._shape(-x))
        last = np.flatnonzero(values >= NEGLIGIBLE * values.max())[-1]
        half = float(x[min(last + 1, len(x) - 1)]) / (pi * self._f0)
        returns_to_zero = self._base_order + self._order >= 0
        return self._t0 - half, self._t0 + half if returns_to_zero else inf

    @property
    def fmax(self) -> float:
        # Spectrum y^n exp(-y^2), y = f/f0, peak at y^2 = n/2: solve for SPECTRUM_FLOOR of the peak.
        n = max(self._base_order + self._order, 0)
        if n == 2:
            return 2.5 * self._f0
        half = n / 2.0
        peak = half * np.log(half) - half if n else 0.0
        y2 = 6.25 + n
        for _ in range(200):
            y2 = half * np.log(y2) - peak - np.log(SPECTRUM_FLOOR)
        return float(np.sqrt(y2) * self._f0)


class Ricker(Gaussian):
    """(1 - 2 x^2) exp(-x^2) = -1/2 (d/dx)^2 exp(-x^2) (Ricker 1953)."""

    kind = "ricker"
    _base_order = 2
    _factor = -0.5


class SmoothBump(TimeFunction):
    """51480 s^7 (1 - s)^7 on 0 < s < 1, s = (t - t0)/duration; six continuous derivatives."""

    kind = "smooth_bump"

    def __init__(self, duration: float, t0: float = 0.0, order: int = 0) -> None:
        duration = number("duration", duration, "s", positive=True)
        t0 = number("t0", t0, "s")
        super().__init__(order, duration=duration, t0=t0)
        self._duration, self._t0 = duration, t0

    def _value(self, t: Array) -> Array:
        s = (t - self._t0) / self._duration
        inside = self._differentiated(s) if self._order >= 0 else self._integrated(s)
        return self._duration**-self._order * inside

    def _differentiated(self, s: Array) -> Array:
        k = self._order  # Leibniz; (d/ds)^i of (1 - s)^7 brings (-1)^i
        u = np.clip(s, 0.0, 1.0)
        terms = [
            comb(k, i) * perm(7, k - i) * perm(7, i) * (-1) ** i
            * u ** (7 - k + i) * (1.0 - u) ** (7 - i)
            for i in range(k + 1)
            if i <= 7 and k - i <= 7
        ]  # fmt: skip
        return np.where((s > 0.0) & (s < 1.0), 51480.0 * sum(terms, np.zeros_like(u)), 0.0)

    def _integrated(self, s: Array) -> Array:
        from scipy.special import beta, betainc

        # Cauchy's formula for repeated integration; each power of s is an incomplete beta function.
        m, u = -self._order - 1, np.clip(s, 0.0, 1.0)
        terms = [
            comb(m, j) * (-1) ** j * s ** (m - j) * (beta(8 + j, 8) / beta(8, 8))
            * betainc(8 + j, 8, u)
            for j in range(m + 1)
        ]  # fmt: skip
        return np.where(s > 0.0, sum(terms, np.zeros_like(u)) / factorial(m), 0.0)

    @property
    def span(self) -> tuple[float, float]:
        return self._t0, self._t0 + self._duration if self._order >= 0 else inf

    @property
    def fmax(self) -> float:
        return highest_frequency(self if self._order >= 0 else SmoothBump(**self._parameters))


def highest_frequency(f: TimeFunction, num_sample: int = 8192) -> float:
    """Return the highest frequency [Hz] where the spectrum exceeds SPECTRUM_FLOOR of its peak."""
    assert f.span is not None
    begin, end = f.span
    padding = 8
    values = f(np.linspace(begin, end, num_sample, endpoint=False))
    spectrum = np.abs(np.fft.rfft(values, padding * num_sample))
    if spectrum.max() == 0.0:
        return 0.0
    last = np.flatnonzero(spectrum >= SPECTRUM_FLOOR * spectrum.max())[-1]
    return float((last + 1) / (padding * (end - begin)))


def after_end(ahead: Array, at_end: list[float]) -> Array:
    """Return an integral beyond the end of its function, where it is a polynomial (Taylor).

    at_end: there, of this integral and of those that were integrated less often, in that order.
    """
    terms = (value / factorial(j) * ahead**j for j, value in enumerate(at_end))
    return sum(terms, np.zeros_like(ahead))


class Sampled(TimeFunction):
    """The cubic spline through samples (not-a-knot ends), zero outside."""

    kind = "sampled"

    def __init__(self, t: ArrayLike, s: ArrayLike, order: int = 0, unit: str | None = None) -> None:
        from scipy.interpolate import CubicSpline

        times = _samples("t", t, "s")
        if unit is not None:
            choice("unit", unit, SOURCE_UNITS)
        given: Any = s
        if unit is None and is_quantity(given):
            raise ArgumentError(
                f"s has values in {given.units}; expected plain values, or also the source's unit: unit='N'"
            )
        values = _samples("s", s, unit)
        if len(times) != len(values) or len(times) < 4:
            raise ArgumentError(
                f"t has {len(times)} and s {len(values)} samples; expected equal numbers, 4 or more"
            )
        if not np.all(np.diff(times) > 0.0):
            first = int(np.flatnonzero(np.diff(times) <= 0.0)[0]) + 1
            raise ArgumentError(f"t[{first}] = {times[first]} does not exceed t[{first - 1}]")
        super().__init__(order, t=times.tolist(), s=values.tolist())
        self._t, self._s, self.unit = times, values, unit
        self._spline = CubicSpline(times, values)

    def _differentiate(self, order: int) -> Any:
        if order < 0:
            return self._spline.antiderivative(-order)
        return self._spline.derivative(order) if order else self._spline

    def _value(self, t: Array) -> Array:
        begin, end = self._t[0], self._t[-1]
        inside = self._differentiate(self._order)(np.clip(t, begin, end))
        at_end = [float(self._differentiate(order)(end)) for order in range(self._order, 0)]
        after = after_end(t - end, at_end)
        return np.where(t < begin, 0.0, np.where(t > end, after, inside))

    @property
    def span(self) -> tuple[float, float]:
        return float(self._t[0]), float(self._t[-1]) if self._order >= 0 else inf

    @property
    def fmax(self) -> float:
        return highest_frequency(self if self._order >= 0 else Sampled(self._t, self._s))

    def __repr__(self) -> str:
        calculus = ".derivative" * self._order + ".integral" * -self._order
        begin, end = self._t[0], self._t[-1]
        return f"unda.sampled(<{len(self._t)} samples, {begin:g} s to {end:g} s>){calculus}"


def _samples(name: str, values: ArrayLike, unit: str | None = None) -> Array:
    array = np.array(as_array(values, np.float64, (None,), name, unit=unit))
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ArgumentError(
            f"{name} has {len(bad)} values that are not finite, the first is "
            f"{name}[{bad[0]}] = {array[bad[0]]}"
        )
    return array
