"""Plane waves in a homogeneous medium: sinusoidal, or a pulse.

Not here: what happens at a material jump (interface.py).
Next: interface.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._check import number, unit_vector, vector
from ..errors import ArgumentError
from ..medium import Medium
from ..timefunction import wrap
from .base import Array, ExactSolution, solution_class


def plane_wave(
    medium: Medium,
    k: Any = None,
    *,
    amplitude: float = 1.0,
    phase: float = 0.0,
    direction: Any = None,
    f: Callable[[Any], Any] | None = None,
) -> ExactSolution:
    """Return a plane wave; give either `k`, or `direction` and `f`.

    Acoustic, with d = k/abs(k) and omega = c abs(k): p = amplitude sin(k.x - omega t + phase), or
    p = amplitude f(t - d.x/c); v = d p/(rho c).

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    k : array_like, shape (3,), optional
        Wave vector [rad/m] of a sinusoidal wave.
    amplitude : float
        Peak pressure [Pa]; with `f` its factor.
    phase : float
        Phase of the sinusoidal wave [rad].
    direction : array_like, shape (3,), optional
        Where a pulse travels to; any length.
    f : TimeFunction or callable, optional
        The pulse as seen at the origin, f(t).

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; not singular.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, or neither or both forms are given.

    References
    ----------
    Pierce (1989), Acoustics, section 1.7.

    Examples
    --------
    >>> import unda
    >>> water = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> pulse = unda.exact.plane_wave(water, direction=(0, 0, -1), f=unda.ricker(10.0))
    >>> float(pulse(0.0, 0.0, -150.0, 0.25)["p"])
    1.0
    """
    make = solution_class("plane_wave", medium)
    return make(medium, k=k, amplitude=amplitude, phase=phase, direction=direction, f=f)


class Profile:
    """What a plane wave carries and the direction d it travels in."""

    def __init__(self, k: Any, amplitude: float, phase: float, direction: Any, f: Any) -> None:
        sinusoidal = k is not None and direction is None and f is None
        pulse = k is None and direction is not None and f is not None
        if not sinusoidal and not pulse:
            pairs = (("k", k), ("direction", direction), ("f", f))
            given = [name for name, value in pairs if value is not None]
            found = " and ".join(given) or "none of them"
            raise ArgumentError(f"got {found}; expected either k, or direction and f")
        if pulse and phase != 0.0:
            raise ArgumentError(f"phase is {phase!r}; expected 0 with f (shift f itself in time)")
        self.amplitude = number("amplitude", amplitude, "Pa")
        self.phase = number("phase", phase, "rad")
        self.k = None if k is None else vector("k", k, "rad/m")
        self.heading = None if direction is None else vector("direction", direction)
        self.direction = unit_vector("k" if sinusoidal else "direction", self.k or self.heading)
        self.f = None if f is None else wrap(f, dt=1.0)  # dt serves derivatives only: none is taken

    def omega(self, c: float) -> float:
        """Angular frequency [rad/s] of the sinusoidal wave where the speed is c [m/s]."""
        return c * float(np.linalg.norm(np.array(self.k)))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments in the form in which a configuration keeps them."""
        if self.k is not None:
            return {"k": self.k, "amplitude": self.amplitude, "phase": self.phase}
        return {"direction": self.heading, "f": self.f, "amplitude": self.amplitude}


class AcousticPlaneWave(ExactSolution):
    """p = P(t - d.x/c), v = d p/(rho c)."""

    physics = "acoustic"
    name = "plane_wave"

    def __init__(
        self,
        medium: Medium,
        k: Any = None,
        amplitude: float = 1.0,
        phase: float = 0.0,
        direction: Any = None,
        f: Any = None,
    ) -> None:
        self._profile = Profile(k, amplitude, phase, direction, f)
        super().__init__(medium, **self._profile.arguments())
        self._rho, self._c = medium.scalar()["rho"], medium.scalar()["c"]

    def _pressure(self, x: Array, y: Array, z: Array, t: Array) -> Array:
        wave, (dx, dy, dz) = self._profile, self._profile.direction
        delay = (dx * x + dy * y + dz * z) / self._c
        if wave.f is not None:
            return wave.amplitude * wave.f(t - delay)
        return wave.amplitude * np.sin(wave.omega(self._c) * (delay - t) + wave.phase)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        p = self._pressure(x, y, z, t)
        velocity = [d * p / (self._rho * self._c) for d in self._profile.direction]
        return dict(zip(self.fields, [p, *velocity], strict=True))
