"""An electromagnetic plane wave at the plane between two media: Fresnel's formulas.

Not here: what users call (interface.py), one medium alone (plane_maxwell.py).
Next: dipole.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array
from .plane_maxwell import transverse
from .two_sides import InterfaceWave, Side, same_physics


class MaxwellInterfacePlaneWave(InterfaceWave):
    """Incident and reflected wave in medium 1, transmitted wave in medium 2.

    Slownesses s_i have the same part along the interface. With s the normal of the plane of
    incidence, TE: E = s E_s, mu H = s_i x E; TM: H = s H_s, eps E = -s_i x H. Continuity of E_s and
    s_n E_s/mu, or of H_s and s_n H_s/eps, gives R and T (Born & Wolf 1999, section 1.5.2).
    """

    physics = "maxwell"
    name = "interface_plane_wave"
    unit = "V/m"

    def __init__(self, medium: Medium, medium2: Medium, polarization: Any = None, **wave: Any) -> None:
        same_physics("medium2", medium2, self.physics)
        given = None if polarization is None else vector("polarization", polarization)
        super().__init__(medium, medium2=medium2, **wave, polarization=given)
        e = transverse(polarization, self._profile.direction)
        self._solve(medium.scalar(), medium2.scalar(), e)

    def _solve(self, one: dict[str, float], two: dict[str, float], e: Array) -> None:
        n = self._normal
        if one["sigma"] > 0.0:
            raise ArgumentError(f"sigma of medium 1 is {one['sigma']} S/m; expected 0 (medium 2 may conduct)")
        slowness1, slowness2 = (float(np.sqrt(side["eps"] * side["mu"])) for side in (one, two))
        slowness, along = self._meet(1.0 / slowness1)
        s1 = float(slowness @ n)
        eps1, mu1, eps2, mu2 = one["eps"], one["mu"], self._behind_eps(two), two["mu"]
        s2 = self._transmitted(eps2 * mu2, along, slowness2 / slowness1)
        self.reflection_te, self.transmission_te = _coefficients(s1 / mu1, s2 / mu2)
        self.reflection_tm, self.transmission_tm = _coefficients(s1 / eps1, s2 / eps2)
        self.discontinuous = bool(np.linalg.norm(along) > 1e-12 * slowness1)
        across = np.cross(n, slowness) if self.discontinuous else e
        across = across / np.linalg.norm(across)
        across = across - (across @ n) * n  # rounding, magnified where the wave travels nearly along n
        across = across / np.linalg.norm(across)
        te, tm = float(e @ across), float(np.cross(slowness, e) @ across) / mu1

        def side(eps: complex, mu: float, *waves: tuple[complex, complex, complex]) -> Side:
            slownesses = np.array([along + s_n * n for s_n, _, _ in waves], complex)
            fields = []
            for around, (_, r_te, r_tm) in zip(np.cross(slownesses, across), waves, strict=True):
                electric = r_te * te * across - r_tm * tm * around / eps
                magnetic = r_tm * tm * across + r_te * te * around / mu
                fields.append(np.concatenate([electric, magnetic]))
            return Side(slownesses, np.array(fields))

        before = side(eps1, mu1, (s1, 1.0, 1.0), (-s1, self.reflection_te, self.reflection_tm))
        self._sides = before, side(eps2, mu2, (s2, self.transmission_te, self.transmission_tm))

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


def _coefficients(y1: float, y2: complex) -> tuple[complex, complex]:
    reflection = complex((y1 - y2) / (y1 + y2))
    return reflection, 1.0 + reflection
