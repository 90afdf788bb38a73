"""Standing electromagnetic waves in a box with walls that conduct perfectly, electrically or magnetically.

Not here: acoustic modes (box.py), a box of two materials (cavity_two_media.py).
Next: cavity_two_media.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import number, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .plane_maxwell import transverse
from .walls import Standing, all_walls, corners, mode_numbers

KINDS = ("pec", "pmc")


def cavity_mode(
    medium: Medium,
    lower: Any,
    upper: Any,
    n: Any = (1, 1, 1),
    *,
    polarization: Any = "TM",
    walls: dict[str, str] | None = None,
    amplitude: float = 1.0,
) -> ExactSolution:
    """Return a standing wave in a box with perfectly conducting walls.

    With s the distance from a lower wall and k_i = n_i pi/L_i, each axis has a factor S = sin(k s)
    and C = cos(k s). E_x = e_x C S S cos(omega t), E_y = e_y S C S cos(omega t), E_z = e_z S S C
    cos(omega t) (factors of x, y, z), omega = abs(k)/sqrt(eps mu) and e orthogonal to k;
    mu H_t = -curl E, H = 0 at t = 0. Behind a lower magnetic wall S = cos(k s) and C = -sin(k s);
    between unlike walls k = (n - 1/2) pi/L. In a conducting medium, with a = sigma/(2 eps) and
    w^2 = omega^2 - a^2, cos(omega t) becomes exp(-a t) (cos w t - (a/w) sin w t).

    Parameters
    ----------
    medium : Medium
        Homogeneous, Maxwell.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    n : array_like of int, shape (3,)
        Number of the mode along each axis, at least 0, and 1 between unlike walls.
    polarization : {"TM", "TE"} or array_like, shape (3,)
        Direction of e, orthogonal to k. "TM": H_z = 0; "TE": E_z = 0.
    walls : dict of str to str, optional
        ``"pec"`` (n x E = 0) or ``"pmc"`` (n x H = 0) for each of xmin, xmax, ymin, ymax, zmin, zmax;
        ``"*"`` is the rest. All "pec" if omitted.
    amplitude : float
        Length of e [V/m], without components of fields that vanish because an n is 0.

    Returns
    -------
    ExactSolution
        Fields ex, ey, ez [V/m], hx, hy, hz [A/m]; not singular. Its ``omega`` is the angular
        frequency [rad/s] without conductivity.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, a wall is missing or unknown, there is no such mode or the
        polarization is not orthogonal to k.

    References
    ----------
    Jackson (1999), Classical Electrodynamics, section 8.7; Balanis (2012), section 8.3.

    Examples
    --------
    >>> import unda
    >>> mode = unda.exact.cavity_mode(unda.Maxwell(eps=1.0, mu=1.0), (0, 0, 0), (1, 1, 1), n=(1, 1, 0))
    >>> {field: round(float(one), 12) + 0.0 for field, one in mode(0.5, 0.5, 0.5, 0.0).items()}
    {'ex': 0.0, 'ey': 0.0, 'ez': 1.0, 'hx': 0.0, 'hy': 0.0, 'hz': 0.0}
    """
    walls = {"*": "pec"} if walls is None else walls
    return make_solution("cavity_mode", locals())


class MaxwellCavityMode(ExactSolution):
    """E = e(x) G'(t), H = -curl e(x) G(t)/mu; eps G'' + sigma G' + k^2 G/mu = 0, G = 0 and G' = 1 at 0."""

    physics = "maxwell"
    name = "cavity_mode"

    def __init__(
        self, medium: Medium, lower: Any, upper: Any, n: Any, polarization: Any, walls: Any, amplitude: float
    ) -> None:
        low, high = corners(lower, upper)
        kinds = all_walls(walls, KINDS)
        numbers = mode_numbers(n)
        super().__init__(
            medium, lower=low, upper=high, n=numbers,
            polarization=polarization if isinstance(polarization, str)
            else vector("polarization", polarization),
            walls=kinds, amplitude=number("amplitude", amplitude, "V/m"),
        )  # fmt: skip
        self._axes = [Standing(i, (low, high), one, kinds) for i, one in enumerate(numbers)]
        k = np.array([axis.k for axis in self._axes])
        if not np.any(k):
            raise ArgumentError(f"n is {numbers}; expected at least one number above 0")
        self._e = self._arguments["amplitude"] * self._direction(k)
        self._curl = np.cross(k, self._e)
        values = medium.scalar()
        self._mu, self.omega = values["mu"], float(np.linalg.norm(k)) / np.sqrt(values["eps"] * values["mu"])
        self._decay = values["sigma"] / (2.0 * values["eps"])

    def _direction(self, k: Array) -> Array:
        """Return the unit vector e, without the components that vanish because an n is 0."""
        given = self._arguments["polarization"]
        if isinstance(given, str):
            if given not in ("TM", "TE"):
                raise ArgumentError(f"polarization is {given!r}; expected 'TM', 'TE' or a vector")
            z = np.array([0.0, 0.0, 1.0])
            given = np.cross(z, k) if given == "TE" else z * (k @ k) - k[2] * k
            if not np.any(given):
                given = np.array([1.0, 0.0, 0.0])  # k along z: both are TEM, and this is one of them
        e = transverse(given, k / np.linalg.norm(k), "the wave vector, along")
        for i in range(3):
            gone = [self._axes[i].vanishing == "C"]
            gone += [self._axes[j].vanishing == "S" for j in range(3) if j != i]
            e[i] = 0.0 if any(gone) else e[i]
        if np.linalg.norm(e) < 1e-9:
            raise ArgumentError(
                f"the mode n = {self._arguments['n']} of polarization {self._arguments['polarization']} "
                "is zero everywhere; expected another polarization, or fewer zeros in n"
            )
        return e / np.linalg.norm(e)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        (sx, cx), (sy, cy), (sz, cz) = (axis(a) for axis, a in zip(self._axes, (x, y, z), strict=True))
        rise, rate = ringing(self.omega, self._decay, t)
        h = -rise / self._mu
        return {
            "ex": self._e[0] * cx * sy * sz * rate,
            "ey": self._e[1] * sx * cy * sz * rate,
            "ez": self._e[2] * sx * sy * cz * rate,
            "hx": self._curl[0] * sx * cy * cz * h,
            "hy": self._curl[1] * cx * sy * cz * h,
            "hz": self._curl[2] * cx * cy * sz * h,
        }


def ringing(omega: float, decay: float, t: Array) -> tuple[Array, Array]:
    """Return G and G' of G'' + 2 decay G' + omega^2 G = 0 with G = 0, G' = 1 at t = 0."""
    w = np.sqrt(complex((omega - decay) * (omega + decay)))
    fade = np.exp(-decay * t)
    rise = fade * (t if w == 0.0 else (np.sin(w * t) / w).real)
    return rise, fade * np.cos(w * t).real - decay * rise
