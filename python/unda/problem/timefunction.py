"""Time functions of sources, with exact derivatives and integrals.

Not here: their implementation (_timebase.py, _pulses.py) and sources (source.py).
Next: source.py, exact/point.py (which needs f and its derivative).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

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


def sampled(t: ArrayLike, s: ArrayLike) -> TimeFunction:
    """Return the cubic spline through samples, zero before the first and after the last.

    Parameters
    ----------
    t : array_like, shape (num_samples,)
        Times [s], increasing; at least four.
    s : array_like, shape (num_samples,)
        Values. Begin and end with zeros, or f jumps there and its derivative lacks the spike.

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If the shapes differ, the times do not increase or a value is not finite.

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
    return Sampled(t, s)


def wrap(function: Callable[[Any], Any], dt: float) -> TimeFunction:
    """Make a time function of a plain callable; a time function is returned as it is.

    Parameters
    ----------
    function : callable
        f(t), with t [s] an array or, if it takes none, a number.
    dt : float
        Time step [s]; derivatives are central differences of order eight with spacing dt/4.

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
    return function if isinstance(function, TimeFunction) else Wrapped(function, dt)
