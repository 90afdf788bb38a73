"""A plane wave that meets the plane between two media: reflected and transmitted.

Not here: one medium alone (plane.py), elastic (elastic_interface.py) and electromagnetic waves
(interface_maxwell.py), spherical waves.
Next: one of those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem.medium import Medium
from .base import ExactSolution, make_solution
from .two_sides import InterfaceWave, Side, same_physics


def interface_plane_wave(
    medium1: Medium,
    medium2: Medium | str,
    k: Any = None,
    *,
    normal: Any = (1.0, 0.0, 0.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
    direction: Any = None,
    f: Callable[[Any], Any] | None = None,
    kind: str | None = None,
    polarization: Any = None,
) -> ExactSolution:
    """Return a plane wave that comes out of medium 1 and meets medium 2 at a plane.

    The incident wave is that of `plane_wave` with the same arguments. Acoustic, with tangential
    slowness s_t, normal slowness s_i = sqrt(1/c_i^2 - s_t^2) and admittance Y_i = s_i/rho_i:
    reflection R = (Y_1 - Y_2)/(Y_1 + Y_2), transmission T = 1 + R. Beyond the critical angle s_2 is
    imaginary and the wave in medium 2 decays away from the interface; only sinusoidal waves then.

    Elastic: P, SV and SH waves leave to both sides (in a fluid P only), with amplitudes by which
    velocity and traction are continuous, at a fluid the normal ones (Zoeppritz 1919). With d the
    direction of travel, e the direction of d along the interface and b = n x e, waves move along d
    (P), b x d (SV), b (SH).
    Maxwell, the same with Y_i = s_i/mu_i for the part whose E is normal to the plane of incidence
    (TE; coefficients of that E) and Y_i = s_i/eps_i for the part whose H is (TM; coefficients of that
    H): Fresnel's formulas. At normal incidence all of the wave is TE. Medium 2 may conduct if the
    wave is sinusoidal: its eps is then eps + i sigma/omega.

    Parameters
    ----------
    medium1, medium2 : Medium
        Homogeneous; medium 1 where normal.x < position, medium 2 beyond. An elastic medium 1 may end
        at a free surface: medium2 = "free".
    k : array_like, shape (3,), optional
        Wave vector [rad/m] of a sinusoidal incident wave.
    normal : array_like, shape (3,)
        Normal of the interface, from medium 1 to medium 2; any length.
    position : float
        normal.x on the interface [m], for the normal of length 1.
    amplitude : float
        Peak pressure [Pa], velocity [m/s] (elastic) or E [V/m] of the incident wave; with `f` its
        factor.
    phase : float
        Phase of the sinusoidal wave [rad].
    direction : array_like, shape (3,), optional
        Where an incident pulse travels to; any length.
    f : TimeFunction or callable, optional
        The incident pulse as it would be seen at the origin, f(t).
    kind : {"p", "sv", "sh"}, optional
        Which elastic wave comes in, P if omitted; elastic media only.
    polarization : array_like, shape (3,), optional
        Maxwell media only, and needed there: direction of the incident E; any length.

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; vx, .. [m/s], sxx, .. [Pa]; or ex, .. [V/m], hx, .. [A/m]. Not
        singular, but at oblique incidence some fields jump at the interface (``discontinuous``):
        velocities along it, stresses within it, E and H across it. Its ``media`` are both media. Its
        ``reflection`` and ``transmission`` are the (complex) coefficients of pressure; elastic: dicts by
        kind of wave, coefficients of velocity, and ``reflected_energy`` and ``transmitted_energy``, the
        parts of the incident energy flux through the interface; Maxwell: ``reflection_te``,
        ``transmission_te``, ``reflection_tm`` and ``transmission_tm``.

    Raises
    ------
    ArgumentError
        If a medium is not homogeneous, neither or both forms of the wave are given, it does not
        travel towards the interface, a pulse comes in beyond the critical angle, or the polarization
        is not one of these media and this direction.

    References
    ----------
    Pierce (1989), Acoustics, section 3.6; Brekhovskikh & Godin (1990), section 2.2; Aki & Richards
    (2002), section 5.2 (elastic); Born & Wolf (1999), Principles of Optics, section 1.5, for Fresnel's
    formulas.

    Examples
    --------
    >>> import unda
    >>> water, mud = unda.Acoustic(rho=1000.0, c=1500.0), unda.Acoustic(rho=2000.0, c=1500.0)
    >>> wave = unda.exact.interface_plane_wave(water, mud, k=(0.02, 0.0, 0.0))
    >>> round(wave.reflection.real, 12), round(wave.transmission.real, 12)
    (0.333333333333, 1.333333333333)
    """
    return make_solution("interface_plane_wave", locals())


class AcousticInterfacePlaneWave(InterfaceWave):
    """Incident and reflected wave in medium 1, transmitted wave in medium 2: v = p slowness/rho."""

    physics = "acoustic"
    name = "interface_plane_wave"
    unit = "Pa"

    def __init__(self, medium: Medium, medium2: Medium, **wave: Any) -> None:
        same_physics("medium2", medium2, self.physics)
        super().__init__(medium, medium2=medium2, **wave)
        one, two = medium.scalar(), medium2.scalar()
        slowness, along = self._meet(one["c"])
        s1 = float(slowness @ self._normal)
        s2 = self._transmitted(two["c"] ** -2, along, one["c"] / two["c"])
        y1, y2 = s1 / one["rho"], s2 / two["rho"]
        self.reflection = complex((y1 - y2) / (y1 + y2))
        self.transmission = 1.0 + self.reflection
        self.discontinuous = bool(np.linalg.norm(along) > 1e-12 / one["c"])

        def side(rho: float, *waves: tuple[complex, complex]) -> Side:
            slowness = np.array([along + across * self._normal for _, across in waves], complex)
            p = np.array([[pressure] for pressure, _ in waves])
            return Side(slowness, p * np.concatenate([np.ones((len(p), 1)), slowness / rho], axis=1))

        before = side(one["rho"], (1.0, s1), (self.reflection, -s1))
        self._sides = before, side(two["rho"], (self.transmission, s2))
