"""The interface of time functions: call, derivative, integral, span, fmax, configuration; their sums.

Not here: the pulses themselves (_pulses.py) and the public functions (timefunction.py).
Next: _pulses.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import number, of_type
from .._units import plain
from ..errors import ArgumentError

Array = NDArray[np.float64]


class TimeFunction:
    """A function of time f(t), with its derivatives and integrals as functions of the same kind.

    Made by `ricker`, `gaussian`, `smooth_bump`, `sampled` and `wrap`. Call it with times [s], a
    number or an array of any shape; the answer is float64 of that shape. ``2.0 * f``, ``f + g``
    and ``-f`` are time functions too. Two of them are equal when their `to_config` are.

    Attributes
    ----------
    derivative, integral : TimeFunction
        df/dt, and the integral of f from -infinity to t; in closed form.
    span : (float, float) or None
        Times [s] outside of which abs(f) is below 1e-16 of its peak; None if unknown.
    fmax : float or None
        Highest frequency [Hz] that matters: there the amplitude spectrum has fallen to 3.3 % of its
        peak, as a Ricker's has at 2.5 f0. None if unknown.

    Examples
    --------
    >>> import unda
    >>> f = unda.ricker(10.0)
    >>> f(0.15), f.fmax, f.derivative.integral == f
    (1.0, 25.0, True)
    """

    kind: ClassVar[str]
    _kinds: ClassVar[dict[str, type[TimeFunction]]] = {}

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "kind"):  # a base of several has none
            cls._kinds[cls.kind] = cls

    def __init__(self, order: int = 0, **parameters: Any) -> None:
        self._order = order  # how often differentiated; negative: integrated
        self._parameters = parameters

    def _value(self, t: Array) -> Array:
        raise NotImplementedError

    def _again(self, change: int) -> TimeFunction:
        return type(self)(order=self._order + change, **self._parameters)

    def __call__(self, t: ArrayLike) -> Any:
        times = np.asarray(plain("t", t, "s"), dtype=np.float64)
        value = self._value(np.atleast_1d(times)).reshape(times.shape)
        return float(value) if times.ndim == 0 else value

    @property
    def derivative(self) -> TimeFunction:
        """df/dt, a time function."""
        return self._again(1)

    @property
    def integral(self) -> TimeFunction:
        """Integral of f from -infinity to t, a time function."""
        return self._again(-1)

    def delayed(self, by: float) -> TimeFunction:
        """Return f(t - by), a time function; by [s] may be negative."""
        return Delayed(self, by)

    @property
    def span(self) -> tuple[float, float] | None:
        """Times [s] outside of which f is negligible (1e-16 of its peak), or None if unknown."""
        return None

    @property
    def fmax(self) -> float | None:
        """Highest frequency that matters [Hz], or None if unknown."""
        return None

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes the same function again."""
        order = {"order": self._order} if self._order else {}
        return {"type": self.kind, **self._parameters, **order}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        calculus = ".derivative" * self._order + ".integral" * -self._order
        return f"unda.{self.kind}({values}){calculus}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TimeFunction):
            return NotImplemented
        return self.to_config() == other.to_config()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __add__(self, other: TimeFunction) -> TimeFunction:
        if not isinstance(other, TimeFunction):
            return NotImplemented
        return Combination(terms=[(1.0, self), (1.0, other)])

    def __mul__(self, factor: float) -> TimeFunction:
        if isinstance(factor, TimeFunction):
            return NotImplemented
        return Combination(terms=[(number("the factor of a time function", factor), self)])

    __rmul__ = __mul__

    def __neg__(self) -> TimeFunction:
        return -1.0 * self

    def __sub__(self, other: TimeFunction) -> TimeFunction:
        return self + (-other)


def from_config(config: dict[str, Any]) -> TimeFunction:
    """Make a time function from what its `to_config` gave.

    Parameters
    ----------
    config : dict
        A dict with the key ``"type"``.

    Returns
    -------
    TimeFunction

    Raises
    ------
    ArgumentError
        If the type is unknown.

    Examples
    --------
    >>> import unda
    >>> unda.problem.timefunction.from_config(unda.ricker(10.0).to_config()) == unda.ricker(10.0)
    True
    """
    kind, parameters = of_type("time function", config, TimeFunction._kinds)
    made: TimeFunction = kind(**parameters)
    return made


class Combination(TimeFunction):
    """A weighted sum of time functions."""

    kind = "combination"

    def __init__(self, terms: list[Any]) -> None:
        super().__init__()
        parsed = [(float(w), from_config(f) if isinstance(f, dict) else f) for w, f in terms]
        flat = [
            (w * inner, g)
            for w, f in parsed
            for inner, g in (f._terms if isinstance(f, Combination) else [(1.0, f)])
        ]
        self._terms: list[tuple[float, TimeFunction]] = flat

    def _value(self, t: Array) -> Array:
        return sum((weight * f._value(t) for weight, f in self._terms), np.zeros_like(t))

    def _again(self, change: int) -> TimeFunction:
        return Combination([(weight, f._again(change)) for weight, f in self._terms])

    @property
    def span(self) -> tuple[float, float] | None:
        spans = [f.span for _, f in self._terms]
        known = [span for span in spans if span is not None]
        if len(known) < len(spans):
            return None
        return min(begin for begin, _ in known), max(end for _, end in known)

    @property
    def fmax(self) -> float | None:
        known = [f.fmax for _, f in self._terms if f.fmax is not None]
        return max(known) if len(known) == len(self._terms) else None

    def to_config(self) -> dict[str, Any]:
        return {"type": self.kind, "terms": [[w, f.to_config()] for w, f in self._terms]}

    def __repr__(self) -> str:
        return "(" + " + ".join(f"{weight!r} * {f!r}" for weight, f in self._terms) + ")"


class Delayed(TimeFunction):
    """A time function, later."""

    kind = "delayed"

    def __init__(self, f: Any, by: float) -> None:
        super().__init__()
        self._f, self._by = from_config(f) if isinstance(f, dict) else f, number("by", by, "s")

    def _value(self, t: Array) -> Array:
        return self._f._value(t - self._by)

    def _again(self, change: int) -> TimeFunction:
        return Delayed(self._f._again(change), self._by)

    @property
    def span(self) -> tuple[float, float] | None:
        span = self._f.span
        return None if span is None else (span[0] + self._by, span[1] + self._by)

    @property
    def fmax(self) -> float | None:
        return self._f.fmax

    def to_config(self) -> dict[str, Any]:
        return {"type": self.kind, "f": self._f.to_config(), "by": self._by}

    def __repr__(self) -> str:
        return f"{self._f!r}.delayed({self._by!r})"


class Wrapped(TimeFunction):
    """A plain callable; derivatives by central differences of order eight, spacing dt/4."""

    kind = "wrap"
    _weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # Fornberg (1988), table 1

    def __init__(
        self, function: Callable[[Any], Any], dt: float, order: int = 0, unit: str | None = None
    ) -> None:
        if not callable(function):
            raise ArgumentError(f"f is {function!r}; expected a time function or a callable f(t)")
        of = {} if unit is None else {"unit": unit}
        super().__init__(order, function=function, dt=number("dt", dt, "s", positive=True), **of)

    def _value(self, t: Array) -> Array:
        if self._order == 0:
            return _call_plain(self._parameters["function"], t, self._parameters.get("unit"))
        h = self._parameters["dt"] / 4.0
        inner = self._again(-1)
        sides = (
            weight * (inner._value(t + m * h) - inner._value(t - m * h)) / h
            for m, weight in enumerate(self._weights, start=1)
        )
        return sum(sides, np.zeros_like(t))

    @property
    def integral(self) -> TimeFunction:
        if self._order > 0:
            return self._again(-1)
        raise ArgumentError(f"{self!r} has no known integral; unda.sampled(t, f(t)) has one")

    def to_config(self) -> dict[str, Any]:
        raise ArgumentError(f"{self!r} cannot be saved; unda.sampled(t, f(t)) can")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Wrapped):
            return False
        return (self._order, self._parameters) == (other._order, other._parameters)

    __hash__ = TimeFunction.__hash__


def _call_plain(function: Callable[[Any], Any], t: Array, unit: str | None) -> Array:
    """Call a user's function with an array, or with each time if it takes single numbers only."""
    try:
        value = np.asarray(plain("f(t)", function(t), unit))
        if np.iscomplexobj(value):
            raise ArgumentError(f"{function!r} gives complex numbers, expected real ones")
        value = value.astype(np.float64)
    except ArgumentError:
        raise
    except (TypeError, ValueError, IndexError, AttributeError):
        values = plain("f(t)", [function(float(one)) for one in t.ravel()], unit)
        try:
            value = np.array(values, dtype=np.float64).reshape(t.shape)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{function!r} does not give real numbers: {error}") from None
    if value.shape not in ((), t.shape):
        raise ArgumentError(
            f"{function!r} gave shape {value.shape} for times of shape {t.shape}; expected the same"
        )
    value = np.array(np.broadcast_to(value, t.shape))
    bad = np.flatnonzero(~np.isfinite(value.ravel()))
    if len(bad):
        found = f"{function!r} gave {value.ravel()[bad[0]]} at t = {t.ravel()[bad[0]]} s"
        raise ArgumentError(f"{found}; expected finite values")
    return value
