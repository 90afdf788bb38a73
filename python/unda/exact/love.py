"""Waves guided by a layer on a half-space that move across their way (Love).

Not here: plates (plate.py), waves of other polarization bound to one interface (surface_wave.py).
Next: plate.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import integer, number, unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .partial import VOIGT, elastic, solid
from .plane import Profile
from .surface_wave import frame_along, root_between


def love_wave(
    medium1: Medium,
    medium2: Medium,
    k: Any,
    thickness: float,
    *,
    n: int = 0,
    normal: Any = (0.0, 0.0, 1.0),
    position: float = 0.0,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> ExactSolution:
    """Return a wave that a slow layer with a free surface guides: SH, decaying in the half-space below.

    With q^2 = k^2 (c^2/vs1^2 - 1), g^2 = k^2 (1 - c^2/vs2^2) and a thickness H, the speed c is a root of
    mu1 q sin(q H) = mu2 g cos(q H) between vs1 and vs2.

    Parameters
    ----------
    medium1, medium2 : Medium
        Homogeneous solids, of the layer and of the half-space, with vs1 < vs2.
    k : array_like, shape (3,)
        Wave vector [rad/m], along the surface.
    thickness : float
        H [m].
    n : int
        Number of nodes of the motion in the layer, from 0.
    normal : array_like, shape (3,)
        Normal of the surface, outward; any length.
    position : float
        normal.x on the surface [m], for the normal of length 1.
    amplitude : float
        Peak velocity on the surface [m/s], along normal x k.
    phase : float
        Phase [rad]: there it is amplitude sin(k.x - omega t + phase).

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``speed`` is the phase speed [m/s],
        ``omega`` the angular frequency [rad/s], ``media`` both media.

    Raises
    ------
    ArgumentError
        If a medium is not a homogeneous solid, the layer not the slower one, k not along the surface, or
        there is no such mode: the n-th begins at k = n pi/(H (vs2^2/vs1^2 - 1)^(1/2)).

    References
    ----------
    Love (1911); Aki & Richards (2002), section 7.1.

    Examples
    --------
    >>> import unda
    >>> soil = unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0)
    >>> rock = unda.Elastic(rho=2700.0, vp=6000.0, vs=3464.0)
    >>> wave = unda.exact.love_wave(soil, rock, k=(2.8268490674477, 0.0, 0.0), thickness=1.0)
    >>> round(wave.speed, 3), round(wave.omega / 6283.185307, 6)  # that of 1 Hz and 1000 m
    (2222.681, 1.0)
    """
    return make_solution("love_wave", locals())


class LoveWave(ExactSolution):
    """v = cos(q d) in the layer at the depth d, cos(q H) exp(-g (d - H)) below, times sin(k.x - omega t)."""

    physics = "elastic"
    name = "love_wave"
    discontinuous = True  # the stress along the interface

    def __init__(
        self, medium: Medium, medium2: Medium, k: Any, thickness: float, n: int = 0,
        normal: Any = (0.0, 0.0, 1.0), position: float = 0.0, amplitude: float = 1.0, phase: float = 0.0,
    ) -> None:  # fmt: skip
        self._soil, self._rock = solid(medium, "which carries no shear"), elastic("medium2", medium2)
        if not self._soil.vs < self._rock.vs:
            raise ArgumentError(
                f"vs is {self._soil.vs} m/s in the layer, {self._rock.vs} m/s below; expected a slower layer"
            )
        self._profile = Profile(k, amplitude, phase, None, None, "m/s")
        self._normal = np.array(unit_vector("normal", normal))
        self._position = number("position", position, "m")
        self._thickness = number("thickness", thickness, "m", positive=True)
        super().__init__(
            medium, **self._profile.arguments(), thickness=self._thickness, n=integer("n", n, 0),
            normal=vector("normal", normal), position=self._position, medium2=medium2,
        )  # fmt: skip
        self._frame = frame_along("surface", self._profile, self._normal, normal)
        self.media = medium, medium2
        self._k = self._profile.omega(1.0)
        self._q = self._root(n)
        self.speed = self._soil.vs * float(np.sqrt(1.0 + (self._q / self._k) ** 2))
        self.omega = self.speed * self._k
        self._g = self._decay(self._q)

    def _decay(self, q: float) -> float:
        """Return g; of 1/vs1^2 and 1/vs2^2 the difference counts, which is far from 0."""
        ratio = (self._soil.vs / self._rock.vs) ** 2
        return float(np.sqrt(max(self._k**2 * (1.0 - ratio) - q**2 * ratio, 0.0)))

    def _root(self, n: int) -> float:
        """Return q of the n-th mode: q H is between n pi and a quarter of a period more."""
        h, soil, rock = self._thickness, self._soil, self._rock
        low, most = n * np.pi / h, self._k * float(np.sqrt((rock.vs / soil.vs) ** 2 - 1.0))
        if most <= low:
            raise ArgumentError(
                f"there is no mode {n} for k = {self._k:.6g} rad/m; expected at least "
                f"{low * self._k / most:.6g} rad/m, or a lower mode"
            )

        def secular(q: float) -> float:
            return float(soil.mu * q * np.sin(q * h) - rock.mu * self._decay(q) * np.cos(q * h))

        return root_between(secular, low, min((n + 0.5) * np.pi / h, most))

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        wave, (normal, along, across) = self._profile, self._frame
        place = [x, y, z]
        depth = self._position - sum(one * a for one, a in zip(place, normal, strict=True))
        angle = (
            sum(one * a for one, a in zip(place, np.array(wave.k), strict=True)) - self.omega * t + wave.phase
        )
        below = depth > self._thickness
        inside = np.minimum(depth, self._thickness)
        tail = np.cos(self._q * self._thickness) * np.exp(-self._g * (depth - inside))
        shape = np.where(below, tail, np.cos(self._q * inside))
        slope = np.where(below, self._g * tail, self._q * np.sin(self._q * inside))  # along the normal
        mu = np.where(below, self._rock.mu, self._soil.mu)
        motion = wave.amplitude * shape * np.sin(angle)
        shear = wave.amplitude / self.omega * mu * slope * np.cos(angle)
        guided = -wave.amplitude / self.omega * mu * self._k * shape * np.sin(angle)
        fields = {name: a * motion for name, a in zip(self.fields[:3], across, strict=True)}
        for name, (i, j) in zip(self.fields[3:], VOIGT, strict=True):
            fields[name] = shear * (normal[i] * across[j] + normal[j] * across[i])
            fields[name] = fields[name] + guided * (along[i] * across[j] + along[j] * across[i])
        return fields
