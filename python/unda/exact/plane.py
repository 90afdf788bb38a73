"""Plane waves in a homogeneous medium: sinusoidal, or a pulse.

Not here: elastic (elastic_plane.py) and electromagnetic ones (plane_maxwell.py), what happens at a
material jump (interface.py).
Next: one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .._check import number, unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.timefunction import wrap
from .base import Array, ExactSolution, make_solution


def plane_wave(
    medium: Medium,
    k: Any = None,
    *,
    amplitude: float = 1.0,
    phase: float = 0.0,
    direction: Any = None,
    f: Callable[[Any], Any] | None = None,
    kind: str | None = None,
    polarization: Any = None,
) -> ExactSolution:
    """Return a plane wave; give either `k`, or `direction` and `f`.

    Acoustic, with d = k/abs(k) and omega = c abs(k): p = amplitude sin(k.x - omega t + phase), or
    p = amplitude f(t - d.x/c); v = d p/(rho c).

    Elastic, with g = amplitude sin(k.x - omega t + phase) or amplitude f(t - d.x/c): v = q g and
    sigma = -[lambda (d.q) I + mu (d q^T + q d^T)] g/c; P waves have c = vp and q = d, S waves c = vs
    and q across d.
    Maxwell, with e the polarization of length 1 and c = 1/sqrt(eps mu): E = amplitude e
    sin(k.x - omega t + phase), or E = amplitude e f(t - d.x/c); H = d x E sqrt(eps/mu). Where sigma
    is not 0 there are sinusoidal waves only; k is real and the wave decays in time:
    omega = -i s + sqrt(c^2 k^2 - s^2), s = sigma/(2 eps); mu omega H = k x E.

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    k : array_like, shape (3,), optional
        Wave vector [rad/m] of a sinusoidal wave.
    amplitude : float
        Peak pressure [Pa], velocity [m/s] (elastic) or E [V/m]; with `f` its factor.
    phase : float
        Phase of the sinusoidal wave [rad].
    direction : array_like, shape (3,), optional
        Where a pulse travels to; any length.
    f : TimeFunction or callable, optional
        The pulse as seen at the origin, f(t).
    kind : {"p", "s"}, optional
        Which elastic wave, P if omitted; elastic media only.
    polarization : array_like, shape (3,), optional
        Which way an S wave moves (its part across the direction of travel is taken), or the direction
        of E, orthogonal to the wave's; any length. Needed for those, and not taken by others.

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; vx, .. [m/s], sxx, .. [Pa]; or ex, .. [V/m], hx, .. [A/m]. Not
        singular. An elastic one has the speed [m/s] as ``speed``.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, neither or both forms are given, the medium has no such wave,
        or the polarization is not one of this medium and direction.

    References
    ----------
    Pierce (1989), Acoustics, section 1.7; Aki & Richards (2002), section 5.1; Jackson (1999), Classical
    Electrodynamics, section 7.1.

    Examples
    --------
    >>> import unda
    >>> water = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> pulse = unda.exact.plane_wave(water, direction=(0, 0, -1), f=unda.ricker(10.0))
    >>> float(pulse(0.0, 0.0, -150.0, 0.25)["p"])
    1.0
    """
    return make_solution("plane_wave", locals())


class Profile:
    """The signal of a plane wave and its direction d."""

    def __init__(self, k: Any, amplitude: float, phase: float, direction: Any, f: Any, unit: str) -> None:
        sinusoidal = k is not None and direction is None and f is None
        pulse = k is None and direction is not None and f is not None
        if not sinusoidal and not pulse:
            pairs = (("k", k), ("direction", direction), ("f", f))
            given = [name for name, value in pairs if value is not None]
            found = " and ".join(given) or "none of them"
            raise ArgumentError(f"got {found}; expected either k, or direction and f")
        if pulse and phase != 0.0:
            raise ArgumentError(f"phase is {phase!r}; expected 0 with f (shift f itself in time)")
        of = getattr(f, "unit", None)
        if of not in (None, unit):
            raise ArgumentError(f"f has values in {of}; expected {unit} of this wave")
        self.amplitude = number("amplitude", amplitude, unit)
        self.phase = number("phase", phase, "rad")
        self.k = None if k is None else vector("k", k, "rad/m")
        self.heading = None if direction is None else vector("direction", direction)
        self.direction = unit_vector("k" if sinusoidal else "direction", self.k or self.heading)
        self.f = None if f is None else wrap(f, dt=1.0)  # dt matters for derivatives only

    def omega(self, c: float) -> float:
        """Angular frequency [rad/s] of the sinusoidal wave where the speed is c [m/s]."""
        return c * float(np.linalg.norm(np.array(self.k)))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments in the form in which a configuration keeps them."""
        if self.k is not None:
            return {"k": self.k, "amplitude": self.amplitude, "phase": self.phase}
        return {"direction": self.heading, "f": self.f, "amplitude": self.amplitude}


class PlaneWaveSolution(ExactSolution):
    """Base of plane waves, in a homogeneous medium or on both sides of a plane."""

    unit: ClassVar[str]  # of the amplitude

    def __init__(
        self, medium: Medium, k: Any = None, amplitude: float = 1.0, phase: float = 0.0,
        direction: Any = None, f: Any = None, medium2: Any = None, normal: Any = None, position: Any = None,
        **arguments: Any,
    ) -> None:  # fmt: skip
        self._profile = Profile(k, amplitude, phase, direction, f, self.unit)
        plane = {"medium2": medium2, "normal": normal, "position": position}
        super().__init__(medium, **plane, **self._profile.arguments(), **arguments)


class AcousticPlaneWave(PlaneWaveSolution):
    """p = P(t - d.x/c), v = d p/(rho c)."""

    physics = "acoustic"
    name = "plane_wave"
    unit = "Pa"

    def __init__(self, medium: Medium, **wave: Any) -> None:
        super().__init__(medium, **wave)
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
