"""Sources: where a wave comes from and what is injected there.

Not here: the function of time (timefunction.py), interpolation into an element (csrc/solver).
Next: exact/point.py, the wave that a source makes in a homogeneous medium.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ._check import vector
from .errors import ArgumentError
from .medium import Medium
from .timefunction import TimeFunction, from_config, wrap

__all__ = ["Source", "VolumeInjection"]


class Source:
    """What all point sources share; use a subclass such as `VolumeInjection`.

    Attributes
    ----------
    position : (float, float, float)
        Where it stands [m].
    f : TimeFunction or callable
        What it does in time, as given.
    physics : tuple of str
        The equations that it can drive.
    unit : str
        Unit of f.
    """

    physics: ClassVar[tuple[str, ...]]
    unit: ClassVar[str]
    _kinds: ClassVar[dict[str, type[Source]]] = {}

    def __init_subclass__(cls) -> None:
        cls._kinds[cls.__name__] = cls

    def __init__(self, position: Any, f: Callable[[Any], Any]) -> None:
        self.position = vector("position", position, "m")
        if not callable(f):
            raise ArgumentError(f"f is {f!r}; expected a time function or a callable f(t)")
        self.f = f

    def rates(self, medium: Medium, cell: int, mesh: Any = None) -> dict[str, float]:
        """Return what the source adds to dq/dt of each field it drives, per unit of f and per m3.

        Parameters
        ----------
        medium : Medium
        cell : int
            The cell in which the source stands.
        mesh : Mesh, optional
            Needed where the medium is given by tag names or functions.

        Returns
        -------
        dict of str to float
            Factor of f(t) delta(x - position) for each field.

        Raises
        ------
        ArgumentError
            If the source cannot drive the equations of this medium.

        Examples
        --------
        >>> import unda
        >>> source = unda.VolumeInjection((0.0, 0.0, 0.0), unda.ricker(10.0))
        >>> source.rates(unda.Acoustic(rho=1000.0, c=1500.0), 0)
        {'p': 2250000000.0}
        """
        self.check_physics(medium)
        return getattr(self, f"_rates_{medium.physics}")(**medium.at(cell, mesh))

    def check_physics(self, medium: Medium) -> None:
        """Raise an ArgumentError if the source cannot drive the equations of this medium."""
        if medium.physics not in self.physics:
            raise ArgumentError(
                f"{type(self).__name__} drives {' and '.join(self.physics)} waves; "
                f"the medium is {medium.physics}"
            )

    def time_function(self, dt: float) -> TimeFunction:
        """Return f as a time function; a plain callable is wrapped for the time step dt [s]."""
        return wrap(self.f, dt)

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes an equal source.

        Raises
        ------
        ArgumentError
            If f is a plain callable, which only `unda.sampled` can turn into numbers.
        """
        if not isinstance(self.f, TimeFunction):
            raise ArgumentError(
                f"f of {self!r} is a plain callable and cannot be saved; unda.sampled(t, f(t)) can"
            )
        return {
            "type": type(self).__name__,
            "position": list(self.position),
            "f": self.f.to_config(),
        }

    @staticmethod
    def from_config(config: dict[str, Any]) -> Source:
        """Make a source from what its `to_config` gave; ArgumentError if the type is unknown."""
        parameters = dict(config)
        kind = parameters.pop("type", None)
        if kind not in Source._kinds:
            known = ", ".join(sorted(Source._kinds))
            raise ArgumentError(f"source of type {kind!r}; expected one of {known}")
        return Source._kinds[kind](**{**parameters, "f": from_config(parameters["f"])})

    def __repr__(self) -> str:
        return f"unda.{type(self).__name__}({self.position}, {self.f!r})"


class VolumeInjection(Source):
    """Volume injected at a point: p_t + rho c^2 div v = rho c^2 q(t) delta(x - position).

    Parameters
    ----------
    position : array_like, shape (3,)
        Where it stands [m].
    f : TimeFunction or callable
        Volume rate q(t) [m3/s].

    Raises
    ------
    ArgumentError
        If the position is not three finite numbers or f cannot be called.

    Examples
    --------
    >>> import unda
    >>> unda.VolumeInjection((503, 491, 507), unda.ricker(10.0))
    unda.VolumeInjection((503.0, 491.0, 507.0), unda.ricker(f0=10.0, t0=0.15))
    """

    physics = ("acoustic",)
    unit = "m3/s"

    def _rates_acoustic(self, rho: float, c: float) -> dict[str, float]:
        return {"p": rho * c**2}
