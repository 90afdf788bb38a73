"""An electromagnetic plane wave at the plane between two media: Fresnel's formulas.

Not here: what users call (interface.py), one medium alone (plane_maxwell.py).
Next: dipole.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._check import number, unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution
from .plane import Profile
from .plane_maxwell import transverse


class _Wave(NamedTuple):
    """One of the plane waves beside the interface, per unit of the incident signal."""

    normal_slowness: complex  # [s/m]
    fields: NDArray[np.complex128]  # the six of them, where the incident wave begins with 1


class MaxwellInterfacePlaneWave(ExactSolution):
    """Incident and reflected wave in medium 1, transmitted wave in medium 2.

    Slownesses s_i have the same part along the interface. With s the normal of the plane of
    incidence, TE: E = s E_s, mu H = s_i x E; TM: H = s H_s, eps E = -s_i x H. Continuity of E_s and
    s_n E_s/mu, or of H_s and s_n H_s/eps, gives R and T (Born & Wolf 1999, section 1.5.2).
    """

    physics = "maxwell"
    name = "interface_plane_wave"

    def __init__(
        self,
        medium: Medium,
        medium2: Medium,
        k: Any = None,
        normal: Any = (1.0, 0.0, 0.0),
        position: float = 0.0,
        amplitude: float = 1.0,
        phase: float = 0.0,
        direction: Any = None,
        f: Any = None,
        polarization: Any = None,
    ) -> None:
        if not isinstance(medium2, Medium) or medium2.physics != self.physics:
            raise ArgumentError(f"medium2 is {medium2!r}; expected a {self.physics} medium")
        self._profile = Profile(k, amplitude, phase, direction, f, "V/m")
        self._normal = np.array(unit_vector("normal", normal))
        self._position = number("position", position, "m")
        e = transverse(polarization, self._profile.direction)
        super().__init__(
            medium, medium2=medium2, normal=vector("normal", normal), position=self._position,
            **self._profile.arguments(), polarization=vector("polarization", polarization),
        )  # fmt: skip
        self.media = medium, medium2
        self._solve(medium.scalar(), medium2.scalar(), e)

    def _solve(self, one: dict[str, float], two: dict[str, float], e: Array) -> None:
        n, d = self._normal, np.array(self._profile.direction)
        if one["sigma"] > 0.0:
            raise ArgumentError(f"sigma of medium 1 is {one['sigma']} S/m; expected 0 (medium 2 may conduct)")
        slowness1 = np.sqrt(one["eps"] * one["mu"])
        s1 = slowness1 * float(d @ n)
        if s1 <= 1e-12 * slowness1:
            raise ArgumentError(
                f"the wave travels along {self._profile.direction}, not towards medium 2; expected "
                f"a positive component along the normal {tuple(n.tolist())}"
            )
        along = slowness1 * d - s1 * n
        self._omega = 0.0 if self._profile.k is None else self._profile.omega(1.0 / slowness1)
        eps1, mu1, eps2, mu2 = one["eps"], one["mu"], self._behind_eps(two), two["mu"]
        s2 = complex(np.sqrt(eps2 * mu2 - along @ along))
        if self._profile.f is not None and s2.imag != 0.0:
            sine = np.sqrt(two["eps"] * two["mu"]) / slowness1
            raise ArgumentError(
                f"a pulse beyond the critical angle (sin = {sine:.6g}) is not available; "
                "expected a smaller angle, or k instead of f"
            )
        self.reflection_te, self.transmission_te = _coefficients(s1 / mu1, s2 / mu2)
        self.reflection_tm, self.transmission_tm = _coefficients(s1 / eps1, s2 / eps2)
        oblique = bool(np.linalg.norm(along) > 1e-12 * slowness1)
        across = np.cross(n, d) if oblique else e
        across = across / np.linalg.norm(across)
        across = across - (across @ n) * n  # rounding, magnified where d is nearly n
        across = across / np.linalg.norm(across)
        te, tm = float(e @ across), float(np.cross(slowness1 * d, e) @ across) / mu1

        def wave(r_te: complex, r_tm: complex, s_n: complex, eps: complex, mu: float) -> _Wave:
            around = np.cross(along + s_n * n, across)
            electric = r_te * te * across - r_tm * tm * around / eps
            magnetic = r_tm * tm * across + r_te * te * around / mu
            return _Wave(s_n, np.concatenate([electric, magnetic]))

        self._s1, self._tangential, self.discontinuous = s1, along, oblique
        self._before = [wave(1.0, 1.0, s1, eps1, mu1)]
        self._before += [wave(self.reflection_te, self.reflection_tm, -s1, eps1, mu1)]
        self._behind = [wave(self.transmission_te, self.transmission_tm, s2, eps2, mu2)]

    def _behind_eps(self, two: dict[str, float]) -> complex:
        """Return eps of medium 2 for waves exp(-i omega t): eps + i sigma/omega."""
        if two["sigma"] == 0.0:
            return complex(two["eps"])
        if self._profile.f is not None:
            raise ArgumentError(
                f"sigma of medium 2 is {two['sigma']} S/m, in which pulses change their shape; "
                "expected 0, or k instead of f"
            )
        return two["eps"] + 1j * two["sigma"] / self._omega

    def _signal(self, wave: _Wave, tangential: Array, distance: Array, t: Array) -> Any:
        """Return amplitude times f, or the complex wave of which the imaginary part counts."""
        profile = self._profile
        if profile.f is not None:
            return profile.amplitude * profile.f(t - tangential - wave.normal_slowness.real * distance)
        turns = self._omega * (tangential - t) + profile.phase
        return profile.amplitude * np.exp(1j * (turns + self._omega * wave.normal_slowness * distance))

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        n, s = self._normal, self._tangential
        distance = n[0] * x + n[1] * y + n[2] * z - self._position
        tangential = s[0] * x + s[1] * y + s[2] * z + self._s1 * self._position
        before = self._side(self._before, tangential, np.minimum(distance, 0.0), t)
        beyond = self._side(self._behind, tangential, np.maximum(distance, 0.0), t)
        return {field: np.where(distance > 0.0, beyond[field], before[field]) for field in self.fields}

    def _side(self, waves: list[_Wave], tangential: Array, distance: Array, t: Array) -> dict[str, Array]:
        total = np.zeros((6, *np.broadcast_shapes(distance.shape, t.shape)))
        for wave in waves:
            signal = self._signal(wave, tangential, distance, t)
            for field, factor in enumerate(wave.fields):
                part = (signal * factor).imag if self._profile.f is None else signal * factor.real
                total[field] += part
        return dict(zip(self.fields, total, strict=True))


def _coefficients(y1: float, y2: complex) -> tuple[complex, complex]:
    reflection = complex((y1 - y2) / (y1 + y2))
    return reflection, 1.0 + reflection
