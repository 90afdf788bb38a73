"""Waves bound to a plane: Rayleigh at a free surface, Stoneley between solids, Scholte at a fluid.

Not here: plane waves that meet the interface (elastic_interface.py).
Next: plate.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .partial import Frame, Material, Partial, contact, elastic, side, solid
from .plane import Profile
from .two_sides import TwoSides


def rayleigh_wave(
    medium: Medium,
    k: Any,
    *,
    normal: Any = (0.0, 0.0, 1.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> ExactSolution:
    """Return the wave that travels along the free surface of a solid.

    With xi = (speed/vs)^2 and q = (vs/vp)^2: xi^3 - 8 xi^2 + (24 - 16 q) xi - 16 (1 - q) = 0. The
    velocity along the normal on the surface is amplitude sin(k.x - omega t + phase).

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid, where normal.x < position; the surface is free of traction.
    k : array_like, shape (3,)
        Wave vector [rad/m], along the surface.
    normal : array_like, shape (3,)
        Normal of the surface, outward; any length.
    position : float
        normal.x on the surface [m], for the normal of length 1.
    amplitude : float
        Peak normal velocity on the surface [m/s].
    phase : float
        Phase [rad].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``speed`` is the phase speed [m/s],
        ``omega`` the angular frequency [rad/s].

    Raises
    ------
    ArgumentError
        If the medium is not a homogeneous solid, or k not along the surface.

    References
    ----------
    Rayleigh (1885); Aki & Richards (2002), section 5.2.

    Examples
    --------
    >>> import unda
    >>> wave = unda.exact.rayleigh_wave(unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0), k=(1.0, 0.0, 0.0))
    >>> round(wave.speed, 12)
    0.919401686762
    """
    return make_solution("rayleigh_wave", locals())


def stoneley_wave(
    medium1: Medium,
    medium2: Medium,
    k: Any,
    *,
    normal: Any = (0.0, 0.0, 1.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> ExactSolution:
    """Return the wave that travels along the interface of two media, at least one of them solid.

    It decays on both sides, its speed is that for which the conditions at the interface have a
    solution. The velocity along the normal at the interface is amplitude sin(k.x - omega t + phase).

    Parameters
    ----------
    medium1, medium2 : Medium
        Homogeneous; medium 1 where normal.x < position, medium 2 beyond.
    k : array_like, shape (3,)
        Wave vector [rad/m], along the interface.
    normal : array_like, shape (3,)
        Normal of the interface, from medium 1 to medium 2; any length.
    position : float
        normal.x on the interface [m], for the normal of length 1.
    amplitude : float
        Peak normal velocity at the interface [m/s].
    phase : float
        Phase [rad].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``speed`` is the phase speed [m/s],
        ``omega`` the angular frequency [rad/s], ``media`` both media.

    Raises
    ------
    ArgumentError
        If a medium is not homogeneous, both are fluids, k is not along the interface, or there is no
        such wave: between solids it exists for few pairs only.

    References
    ----------
    Stoneley (1924); Scholte (1947).

    Examples
    --------
    >>> import unda
    >>> heavy = unda.Elastic(rho=10.0, vp=0.9**0.5, vs=0.3**0.5)
    >>> light = unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0)
    >>> round(unda.exact.stoneley_wave(heavy, light, k=(1.0, 0.0, 0.0)).speed, 12)
    0.546981324214
    """
    return make_solution("stoneley_wave", locals())


def scholte_wave(
    medium1: Medium,
    medium2: Medium,
    k: Any,
    *,
    normal: Any = (0.0, 0.0, 1.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> ExactSolution:
    """Return the wave that travels along the interface of a fluid and a solid.

    See `stoneley_wave`, which gives the same; here one medium must be a fluid and the other a solid.
    There always is one such wave.

    Parameters
    ----------
    medium1, medium2 : Medium
        Homogeneous; medium 1 where normal.x < position, medium 2 beyond; vs = 0 in one of them.
    k, normal, position, amplitude, phase
        As for `stoneley_wave`.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ArgumentError
        If not exactly one medium is a fluid; else as `stoneley_wave`.

    References
    ----------
    Scholte (1947).

    Examples
    --------
    >>> import unda
    >>> sea, rock = unda.Elastic(rho=1.0, vp=1.0, vs=0.0), unda.Elastic(rho=1.0, vp=3**0.5, vs=1.0)
    >>> round(unda.exact.scholte_wave(rock, sea, k=(1.0, 0.0, 0.0)).speed, 12)
    0.711001723019
    """
    fluids = [elastic(f"medium{i}", one).vs == 0.0 for i, one in enumerate((medium1, medium2), start=1)]
    if sum(fluids) != 1:
        raise ArgumentError(
            f"{sum(fluids)} of the media are fluids (vs = 0); expected one fluid and one solid"
        )
    return stoneley_wave(
        medium1, medium2, k, normal=normal, position=position, amplitude=amplitude, phase=phase
    )


class _BoundWave(TwoSides):
    """P and SV waves that decay on each side, with amplitudes for which the conditions hold."""

    unit = "m/s"

    def __init__(
        self, medium: Medium, materials: list[Material], k: Any, normal: Any = (0.0, 0.0, 1.0), **wave: Any
    ) -> None:
        super().__init__(medium, normal, k=k, **wave)
        frame = frame_along("surface", self._profile, self._normal, normal)
        self.speed = _root(materials, frame)
        self._omega = self.omega = self._profile.omega(self.speed)
        waves, conditions = _conditions(materials, frame, self.speed)
        null = np.linalg.svd(conditions)[2][-1]
        one = len(waves[0])
        turns = [1j if kind == "sv" else 1.0 for one in materials for kind in _kinds(one)]
        amplitudes = null * turns  # undoes the scaling that made the matrix real
        # normalized: the normal velocity on side 1 of the plane is 1
        amplitudes = amplitudes / sum(
            a * wave.motion(frame)[0] for a, wave in zip(amplitudes[:one], waves[0], strict=True)
        )
        second = side(amplitudes[one:], waves[1]) if waves[1] else None
        self._sides = side(amplitudes[:one], waves[0]), second


class RayleighWave(_BoundWave):
    """P and SV beside a surface without traction."""

    physics = "elastic"
    name = "rayleigh_wave"

    def __init__(self, medium: Medium, k: Any, **wave: Any) -> None:
        super().__init__(medium, [solid(medium, "which has no Rayleigh wave")], k, **wave)


class StoneleyWave(_BoundWave):
    """P and SV (in a fluid P) on both sides."""

    physics = "elastic"
    name = "stoneley_wave"
    discontinuous = True  # stresses along the interface jump, and velocities beside a fluid

    def __init__(self, medium: Medium, medium2: Medium, k: Any, **wave: Any) -> None:
        materials = [elastic("medium1", medium), elastic("medium2", medium2)]
        if not any(one.vs for one in materials):
            raise ArgumentError("both media are fluids (vs = 0); expected at least one solid")
        super().__init__(medium, materials, k, **wave, medium2=medium2)


Waves = tuple[list[Partial], list[Partial]]


def frame_along(what: str, profile: Profile, normal: Array, given: Any) -> Frame:
    """Return the frame of a wave along a surface or plate; raise if its k is not along that."""
    d = np.array(profile.direction)
    if abs(d @ normal) > 1e-12:
        raise ArgumentError(f"k is {profile.k}; expected a vector along the {what} of normal {tuple(given)}")
    return Frame.of(normal, d)


def _kinds(material: Material) -> list[str]:
    return [kind for kind in material.kinds if kind != "sh"]


def _conditions(materials: list[Material], frame: Frame, speed: float) -> tuple[Waves, Array]:
    """Return the waves for a phase speed, and the (real) matrix that must be singular.

    Below all body wave speeds each normal slowness is imaginary. Then velocity along n and traction
    along e are imaginary for P waves and real for SV waves, the others the reverse: rows times -i and
    columns times i make the matrix real.
    """
    sides = [
        [Partial.at_interface(one, kind, frame, 1.0 / speed, sign) for kind in _kinds(one)]
        for one, sign in zip(materials, (-1.0, 1.0), strict=False)
    ]
    waves = sides[0], (sides[1] if len(sides) > 1 else [])
    solid = materials[0].vs > 0.0, len(materials) > 1 and materials[1].vs > 0.0
    rows = contact(waves, solid, frame, free=len(materials) == 1)
    columns = np.array([1j if kind == "sv" else 1.0 for one in materials for kind in _kinds(one)])
    matrix = [
        row * columns * (-1j if name in ("vn", "te") else 1.0)
        for name, row in rows.items() if not name.endswith("b")
    ]  # fmt: skip
    return waves, np.array(matrix).real


def _root(materials: list[Material], frame: Frame) -> float:
    """Return the phase speed for which the conditions are singular, to rounding."""

    def determinant(speed: float) -> float:
        return float(np.linalg.det(_conditions(materials, frame, speed)[1]))

    high = min(one.vs or one.vp for one in materials)  # the slowest wave
    low = 1e-2 * high
    if (determinant(high) > 0.0) == (determinant(low) > 0.0):
        raise ArgumentError(
            f"there is no wave along this interface: none slower than {high:.6g} m/s, the slowest of the "
            "media; expected other media (Stoneley waves exist for few pairs of solids)"
        )
    return root_between(determinant, low, high)


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes sign between low and high, to rounding (Brent's method)."""
    from scipy.optimize import brentq

    machine = np.finfo(float)
    return float(brentq(function, low, high, xtol=machine.tiny, rtol=4.0 * machine.eps, maxiter=1000))
