"""Time functions of sources, with exact derivatives and integrals.

Not here: their implementation (_timebase.py, _pulses.py, _bursts.py) and sources (source.py).
Next: source.py, exact/point.py (which needs f and its derivative).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from .._check import number
from ._bursts import Chirp, ToneBurst
from ._pulses import Gaussian, Ricker, Sampled, SmoothBump
from ._timebase import TimeFunction, Wrapped
from ._timebase import from_config as from_config


def ricker(f0: float, t0: float | None = None) -> TimeFunction:
    """Return a Ricker wavelet, (1 - 2 x^2) exp(-x^2) with x = pi f0 (t - t0).

    Parameters
    ----------
    f0 : float
        Frequency of the spectrum's peak [Hz]; fmax is 2.5 f0.
    t0 : float, optional
        Time of the peak, where the value is 1 [s]; 1.5 / f0 if omitted, which leaves 1e-8 of the
        peak before t = 0.

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If f0 is not positive or a value not finite.

    See Also
    --------
    gaussian, smooth_bump, sampled : other time functions.

    Examples
    --------
    >>> import unda
    >>> unda.ricker(10.0)
    unda.ricker(f0=10.0, t0=0.15)
    """
    return Ricker(f0, t0)


def gaussian(f0: float, t0: float | None = None) -> TimeFunction:
    """Return a Gaussian, exp(-x^2) with x = pi f0 (t - t0), the double integral of a Ricker.

    Parameters
    ----------
    f0 : float
        Frequency at which the spectrum exp(-f^2/f0^2) has fallen to 1/e [Hz]; fmax, where it has
        fallen to 3.3 %, is 1.85 f0.
    t0 : float, optional
        Time of the peak, where the value is 1 [s]; 1.5 / f0 if omitted.

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If f0 is not positive or a value not finite.

    See Also
    --------
    ricker, smooth_bump, sampled : other time functions.

    Examples
    --------
    >>> import unda
    >>> unda.gaussian(10.0)(0.15)
    1.0
    """
    return Gaussian(f0, t0)


def smooth_bump(duration: float, t0: float = 0.0) -> TimeFunction:
    """Return a strictly causal pulse, 51480 s^7 (1 - s)^7 with s = (t - t0)/duration, else zero.

    Six derivatives are continuous; the integral over all time is `duration`, the peak 3.142.

    Parameters
    ----------
    duration : float
        Length of the pulse [s].
    t0 : float
        Its beginning [s].

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If the duration is not positive or a value not finite.

    See Also
    --------
    gaussian, ricker, sampled : other time functions.

    Examples
    --------
    >>> import unda
    >>> f = unda.smooth_bump(2.0)
    >>> f(0.0), f.integral(2.0)
    (0.0, 2.0)
    """
    return SmoothBump(duration, t0)


def tone_burst(f0: float, cycles: float, t0: float = 0.0) -> TimeFunction:
    """Return a sine of some cycles under a Hann window, sin(2 pi f0 s) sin^2(pi s / T), s = t - t0.

    It is zero before t0 and after t0 + T, T = cycles / f0; f, f' and, of whole or half cycles, f'' are
    continuous.

    Parameters
    ----------
    f0 : float
        Frequency of the sine [Hz].
    cycles : float
        Its cycles, not necessarily a whole number.
    t0 : float
        Its beginning [s].

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If f0 or cycles are not positive or a value not finite.

    See Also
    --------
    chirp : the frequency changes.

    Examples
    --------
    >>> import unda
    >>> f = unda.tone_burst(1e6, 5)
    >>> f.span
    (0.0, 5e-06)
    >>> round(f(2.75e-6), 6)
    -0.975528
    """
    return ToneBurst(f0, cycles, t0)


def chirp(
    f0: float, f1: float, duration: float, *, taper: float | None = None, t0: float = 0.0
) -> TimeFunction:
    """Return a sine whose frequency goes linearly from f0 to f1, w(s) sin(2 pi (f0 s + (f1 - f0) s^2/(2 T))).

    s = t - t0 and T is the duration; w rises and falls like a Hann window.

    Parameters
    ----------
    f0, f1 : float
        Frequencies at the beginning and at the end [Hz]; f1 may be the lower one.
    duration : float
        Length of the sweep, T [s].
    taper : float, optional
        Time in which w rises, and falls [s], at most half the duration; a tenth of the duration if omitted.
        Without, 0, the sine begins and ends suddenly: its derivative jumps, at the end f itself may.
    t0 : float
        Its beginning [s].

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If a frequency or the duration is not positive, the taper too long, or a value not finite.

    See Also
    --------
    tone_burst : one frequency.

    Examples
    --------
    >>> import unda
    >>> sweep = unda.chirp(8.0, 80.0, 10.0)
    >>> sweep.span, 79.0 < sweep.fmax < 82.0
    ((0.0, 10.0), True)
    """
    return Chirp(f0, f1, duration, taper, t0)


def step(rise: float, t0: float = 0.0) -> TimeFunction:
    """Return a smooth step from 0 before t0 to 1 after t0 + rise: the integral of a smooth bump.

    Seven derivatives are continuous. The value is 1/2 at t0 + rise / 2; from 10 % to 90 % it takes 0.32 rise.
    A sudden step has no highest frequency, and no mesh resolves it.

    Parameters
    ----------
    rise : float
        Time from 0 to 1 [s].
    t0 : float
        Its beginning [s].

    Returns
    -------
    TimeFunction
        Its fmax is that of its derivative, the bump.

    Raises
    ------
    ArgumentError
        If the rise is not positive or a value not finite.

    See Also
    --------
    smooth_bump : its derivative times rise.

    Examples
    --------
    >>> import unda
    >>> f = unda.step(0.2)
    >>> f(0.0), round(f(0.1), 12), f(1.0)
    (0.0, 0.5, 1.0)
    """
    rise = number("rise", rise, "s", positive=True)
    return (1.0 / rise) * SmoothBump(rise, t0).integral


def sampled(t: ArrayLike, s: ArrayLike, unit: str | None = None) -> TimeFunction:
    """Return the cubic spline through samples, zero before the first and after the last.

    Parameters
    ----------
    t : array_like, shape (num_samples,)
        Times [s], increasing; at least four.
    s : array_like, shape (num_samples,)
        Values. Begin and end with zeros, or f jumps there and its derivative lacks the spike.
    unit : str, optional
        Into which quantities of pint are converted, that of the source: "m3/s", "N", "N m", "A m"; of an
        `Array` these over m or m2, as "m/s", "Pa"; of a `PlaneWave` "Pa", "m/s", "V/m". Numbers are taken as
        they are.

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If the shapes differ, the times do not increase, a value is not finite, no source has such a unit, or
        values are quantities without unit= or of another one.

    See Also
    --------
    gaussian, ricker, smooth_bump : other time functions.

    Examples
    --------
    >>> import numpy as np
    >>> import unda
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> f = unda.sampled(t, np.sin(np.pi * t) ** 4)
    >>> round(f(0.5), 6), f(2.0)
    (1.0, 0.0)
    """
    return Sampled(t, s, unit=unit)


def wrap(function: Callable[[Any], Any], dt: float, unit: str | None = None) -> TimeFunction:
    """Make a time function of a plain callable; a time function is returned as it is.

    Parameters
    ----------
    function : callable
        f(t), with t [s] an array or, if it takes none, a number.
    dt : float
        Time step [s]; derivatives are central differences of order eight with spacing dt/4.
    unit : str, optional
        Into which quantities that it gives are converted; without, these are refused.

    Returns
    -------
    TimeFunction
        Its `span` and `fmax` are None; it has no integral and no configuration.

    Raises
    ------
    ArgumentError
        If `function` is not callable or dt not positive.

    Examples
    --------
    >>> import numpy as np
    >>> import unda
    >>> f = unda.problem.timefunction.wrap(np.sin, dt=0.1)
    >>> round(f.derivative(0.0), 12)
    1.0
    """
    return function if isinstance(function, TimeFunction) else Wrapped(function, dt, unit=unit)
