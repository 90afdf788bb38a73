"""Electromagnetic plane waves: a pulse, or a sine that a conducting medium damps.

Not here: what users call and what a pulse is (plane.py).
Next: interface_maxwell.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array
from .plane import PlaneWaveSolution


def transverse(polarization: Any, direction: Any, across: str = "the wave's direction") -> Array:
    """Return the polarization with length 1, or raise if it is not orthogonal to a unit vector."""
    if polarization is None:
        raise ArgumentError(f"polarization is None; expected a vector orthogonal to {across}")
    e, d = np.array(unit_vector("polarization", polarization)), np.asarray(direction)
    if abs(e @ d) > 1e-9:
        found, angle = vector("polarization", polarization), np.degrees(np.arccos(abs(e @ d)))
        raise ArgumentError(
            f"polarization is {found}, at {angle:.6g} degrees to {across} {tuple(d.tolist())}; expected 90"
        )
    e = e - (e @ d) * d  # a rounding error along d would be a divergence
    return e / np.linalg.norm(e)


def insulator(medium: Medium, expected: str = "a medium that does not conduct") -> tuple[float, float]:
    """Return eps and mu of a homogeneous medium, or raise if it conducts."""
    values = medium.scalar()
    if values["sigma"] > 0.0:
        raise ArgumentError(f"sigma is {values['sigma']} S/m; expected 0, {expected}")
    return values["eps"], values["mu"]


class MaxwellPlaneWave(PlaneWaveSolution):
    """E = e P(t - d.x/c), H = d x E sqrt(eps/mu); with sigma the imaginary part of a complex wave."""

    physics = "maxwell"
    name = "plane_wave"
    unit = "V/m"

    def __init__(self, medium: Medium, polarization: Any = None, **wave: Any) -> None:
        given = None if polarization is None else vector("polarization", polarization)
        super().__init__(medium, **wave, polarization=given)
        d = np.array(self._profile.direction)
        self._e = transverse(polarization, d)
        values = medium.scalar()
        eps, mu, sigma = values["eps"], values["mu"], values["sigma"]
        if self._profile.f is not None and sigma > 0.0:
            raise ArgumentError(
                f"sigma is {sigma} S/m, in which pulses change their shape; expected 0, or k instead of f"
            )
        self._c = 1.0 / np.sqrt(eps * mu)
        self._d_cross_e = np.cross(d, self._e)
        self._admittance = np.sqrt(eps / mu)
        if self._profile.k is not None:
            # eps mu w^2 + i sigma mu w = k^2, from eps E_t = curl H - sigma E (Jackson 1999, 7.5)
            decay, ck = sigma / (2.0 * eps), self._profile.omega(self._c)
            self._omega = -1j * decay + np.sqrt(complex((ck - decay) * (ck + decay)))
            self._admittance = ck / (self._c * mu * self._omega)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        wave, (dx, dy, dz) = self._profile, self._profile.direction
        path = dx * x + dy * y + dz * z
        if wave.f is not None:
            e = wave.amplitude * wave.f(t - path / self._c)
            h = self._admittance * e
        else:
            turns = wave.omega(1.0) * path - self._omega.real * t + wave.phase
            signal = wave.amplitude * np.exp(self._omega.imag * t + 1j * turns)
            e, h = signal.imag, (self._admittance * signal).imag
        components = [*(one * e for one in self._e), *(one * h for one in self._d_cross_e)]
        return dict(zip(self.fields, components, strict=True))
