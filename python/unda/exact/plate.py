"""Waves guided by a free elastic plate (Rayleigh & Lamb).

Not here: one free surface (surface_wave.py).
Next: elastic_box.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import flag, integer, number, unit_vector, vector
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .partial import Frame, Partial, side, solid
from .plane import Profile
from .surface_wave import frame_along, root_between
from .two_sides import Side


def plate_mode(
    medium: Medium,
    k: Any,
    thickness: float,
    *,
    symmetric: bool = True,
    n: int = 0,
    normal: Any = (0.0, 0.0, 1.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> ExactSolution:
    """Return a wave that travels along a plate whose two faces are free of traction.

    With h half the thickness, p^2 = omega^2/vp^2 - abs(k)^2, q^2 = omega^2/vs^2 - abs(k)^2, omega is a root
    of (k^2 - q^2)^2 cos(ph) sin(qh) + 4 k^2 p q sin(ph) cos(qh) = 0 (symmetric), or of the same with
    sines and cosines exchanged (antisymmetric).

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid.
    k : array_like, shape (3,)
        Wave vector [rad/m], along the plate.
    thickness : float
        Distance of the faces [m].
    symmetric : bool
        Whether the faces move apart and together, or both to the same side.
    n : int
        Number of the mode by frequency, from 0.
    normal : array_like, shape (3,)
        Normal of the plate; any length.
    position : float
        normal.x in the middle of the plate [m], for the normal of length 1.
    amplitude : float
        Peak velocity [m/s] on the upper face, along or across it, whichever is larger.
    phase : float
        Phase [rad]: that component is amplitude sin(k.x - omega t + phase).

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``omega`` is the angular frequency
        [rad/s], ``speed`` the phase speed [m/s].

    Raises
    ------
    ArgumentError
        If the medium is not a homogeneous solid, or k not along the plate.

    References
    ----------
    Lamb (1917); Achenbach (1973), Wave Propagation in Elastic Solids, section 6.7.

    Examples
    --------
    >>> import unda
    >>> rock = unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0)
    >>> thick = unda.exact.plate_mode(rock, (1.0, 0.0, 0.0), thickness=100.0)
    >>> round(thick.speed, 12)  # that of a Rayleigh wave
    0.919401686762
    """
    return make_solution("plate_mode", locals())


class PlateMode(ExactSolution):
    """P and SV waves that travel up and down, with amplitudes for which both faces are free of traction."""

    physics = "elastic"
    name = "plate_mode"

    def __init__(
        self, medium: Medium, k: Any, thickness: float, symmetric: bool = True, n: int = 0,
        normal: Any = (0.0, 0.0, 1.0), position: float = 0.0, amplitude: float = 1.0, phase: float = 0.0,
    ) -> None:  # fmt: skip
        self._material = solid(medium, "which carries no shear")
        self._profile = Profile(k, amplitude, phase, None, None, "m/s")
        self._normal = np.array(unit_vector("normal", normal))
        self._position = number("position", position, "m")
        self._half = 0.5 * number("thickness", thickness, "m", positive=True)
        super().__init__(
            medium, **self._profile.arguments(), thickness=2.0 * self._half,
            symmetric=flag("symmetric", symmetric), n=integer("n", n, 0),
            normal=vector("normal", normal), position=self._position,
        )  # fmt: skip
        frame = frame_along("plate", self._profile, self._normal, normal)
        wavenumber = self._profile.omega(1.0)
        self.omega = self._root(wavenumber, self._arguments["symmetric"], n)
        self.speed = self.omega / wavenumber
        self._side = self._solve(frame, 1.0 / self.speed)

    def _root(self, k: float, symmetric: bool, n: int) -> float:
        """Return the n-th frequency, found to rounding between the steps of a scan."""
        h, (_, vp, vs) = self._half, self._material

        def secular(omega: Any) -> Any:
            # divided by q (symmetric) or p: even in both, and so real where they are imaginary
            p, q = (np.sqrt(np.asarray(omega, complex) ** 2 / c**2 - k**2) for c in (vp, vs))
            if symmetric:
                one, two = np.cos(p * h) * _sine(q, h), p * np.sin(p * h) * np.cos(q * h)
            else:
                one, two = _sine(p, h) * np.cos(q * h), q * np.sin(q * h) * np.cos(p * h)
            scale = np.exp(-(np.abs(p.imag) + np.abs(q.imag)) * h)
            return (((k**2 - q**2) ** 2 * one + 4.0 * k**2 * two) * scale).real

        # Modes of one kind are some pi vs/(2 h) apart; none is below 0.57 k^2 h vs (bending of a thin
        # plate, omega = k^2 h 2 vs sqrt((1 - vs^2/vp^2)/3)) or, in a thick one, 0.69 k vs (Rayleigh).
        step, low = min(np.pi * vs / (2.0 * h), k * vs) / 200.0, 0.3 * k * vs * min(1.0, k * h)
        omega, found = np.geomspace(low, max(low + step, step), 200), 0
        while True:
            sign = secular(omega) > 0.0
            changes = np.flatnonzero(sign[1:] != sign[:-1])
            if found + len(changes) > n:
                first = changes[n - found]
                return root_between(secular, float(omega[first]), float(omega[first + 1]))
            found += len(changes)
            omega = omega[-1] + step * np.arange(2001)

    def _solve(self, frame: Frame, along: float) -> Side:
        """Return the waves: pairs up and down, of equal or opposite amplitudes by symmetry."""
        kinds, signs = ("p", "p", "sv", "sv"), (1.0, -1.0, 1.0, -1.0)
        waves = [
            Partial.at_interface(self._material, kind, frame, along, sign)
            for kind, sign in zip(kinds, signs, strict=True)
        ]
        across = np.array([wave.slowness @ frame.n for wave in waves])
        # each has amplitude 1 on the face from which it starts, and decays from there if evanescent
        starts = np.exp(1j * self.omega * across * np.array(signs) * self._half)
        # motion along e is even in the distance from the middle, motion along n odd, or the reverse
        even = 1.0 if self._arguments["symmetric"] else -1.0
        starts = starts * np.array([1.0, even, 1.0, -even])
        upper = starts * np.exp(1j * self.omega * across * self._half)
        traction = np.array([wave.traction(frame)[:2] for wave in waves]).T * upper
        pairs = traction[:, ::2] + traction[:, 1::2]
        null = np.linalg.svd(pairs / np.abs(traction).max())[2][-1].conj()
        amplitudes = np.repeat(null, 2)
        velocity = np.array([wave.motion(frame)[:2] for wave in waves]).T @ (amplitudes * upper)
        return side(amplitudes * starts / velocity[np.argmax(np.abs(velocity))], waves)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        place = tuple(one - self._position * n for one, n in zip((x, y, z), self._normal, strict=True))
        values = self._side.values(self._profile, self.omega, (place[0], place[1], place[2]), t)
        return dict(zip(self.fields, values, strict=True))


def _sine(p: Any, h: float) -> Any:
    """Return sin(ph)/p."""
    return h * np.sinc(p * h / np.pi)
