"""A standing electromagnetic wave in a box of two layers.

Not here: a box of one material (cavity.py).
Next: mie.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._check import integer, number
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .cavity import KINDS
from .plane_maxwell import insulator
from .surface_wave import root_between
from .two_sides import same_physics
from .walls import Standing, all_walls, corners


def cavity_mode_two_media(
    medium1: Medium,
    medium2: Medium,
    lower: Any,
    upper: Any,
    *,
    position: float,
    order: int = 1,
    n: Any = (0, 1),
    walls: dict[str, str] | None = None,
    amplitude: float = 1.0,
) -> ExactSolution:
    """Return a standing wave in a closed box whose material jumps at the plane x = position.

    E lies in planes of constant x. With q = (0, n_y pi/L_y, n_z pi/L_z), k_i^2 = eps_i mu_i omega^2
    - q^2 and layers of thickness d_i, omega is a root of (k_1/mu_1) cot(k_1 d_1) = -(k_2/mu_2)
    cot(k_2 d_2); E = e(y, z) X(x) cos(omega t) with X = A_1 sin(k_1 (x - xmin)) in medium 1 and
    A_2 sin(k_2 (xmax - x)) in medium 2, X and X'/mu being continuous.

    Parameters
    ----------
    medium1, medium2 : Medium
        Homogeneous, Maxwell, not conducting; medium 1 where x < position.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    position : float
        Place x of the interface [m].
    order : int
        Which root, 1 being the lowest.
    n : array_like of int, shape (2,)
        Numbers of the mode along y and z.
    walls : dict of str to str, optional
        As for `cavity_mode`; xmin and xmax must be "pec". All "pec" if omitted. Magnetic walls across
        y and n = (0, 0) make a wave that varies along x only.
    amplitude : float
        The larger one of the peaks of E in the two layers, A_1 or A_2 [V/m].

    Returns
    -------
    ExactSolution
        Fields ex, ey, ez [V/m], hx, hy, hz [A/m]; not singular, but hx jumps where mu does. Its
        ``omega`` is the angular frequency [rad/s], ``media`` both media.

    Raises
    ------
    ArgumentError
        If a medium is not homogeneous or conducts, the interface is not inside, there is no such mode
        or xmin or xmax are not "pec".

    References
    ----------
    Collin (1991), Field Theory of Guided Waves, section 6.1 (slab-loaded guides).

    Examples
    --------
    >>> import unda
    >>> vacuum, glass = unda.Maxwell(eps=1.0, mu=1.0), unda.Maxwell(eps=2.25, mu=1.0)
    >>> mode = unda.exact.cavity_mode_two_media(vacuum, glass, (0, 0, 0), (1, 1, 1), position=0.4)
    >>> round(mode.omega, 6)
    3.192062
    """
    walls = {"*": "pec"} if walls is None else walls
    return make_solution("cavity_mode_two_media", locals())


class _Layer(NamedTuple):
    eps: float
    mu: float
    thickness: float

    def sine(self, omega: float, q: float, s: Any) -> tuple[Any, Any]:
        """Return sin(k s)/k and cos(k s), which stay real where k is imaginary."""
        k = np.sqrt(complex(self.eps * self.mu * omega**2 - q**2))
        over_k = s if k == 0.0 else (np.sin(k * s) / k).real
        return over_k, np.cos(k * s).real


class MaxwellCavityModeTwoMedia(ExactSolution):
    """E = e(y, z) X(x) cos(omega t), mu H_t = -curl E, H = 0 at t = 0."""

    physics = "maxwell"
    name = "cavity_mode_two_media"

    def __init__(
        self, medium: Medium, medium2: Medium, lower: Any, upper: Any, position: float, order: int, n: Any,
        walls: Any, amplitude: float,
    ) -> None:  # fmt: skip
        same_physics("medium2", medium2, self.physics)
        low, high = corners(lower, upper)
        place = number("position", position, "m")
        if not low[0] < place < high[0]:
            raise ArgumentError(f"position is {place} m; expected a place between {low[0]} and {high[0]} m")
        kinds = all_walls(walls, KINDS)
        if (kinds["xmin"], kinds["xmax"]) != ("pec", "pec"):
            raise ArgumentError(
                f"walls xmin and xmax are {kinds['xmin']!r}, {kinds['xmax']!r}; expected 'pec'"
            )
        along = tuple(integer(f"n[{i}]", one, 0) for i, one in enumerate(n))
        if len(along) != 2:
            raise ArgumentError(f"n is {along}; expected two integers, along y and z")
        super().__init__(
            medium, medium2=medium2, lower=low, upper=high, position=place,
            order=integer("order", order, 1), n=along, walls=kinds,
            amplitude=number("amplitude", amplitude, "V/m"),
        )  # fmt: skip
        self.media = medium, medium2
        self._place, self._ends = place, (low[0], high[0])
        self._layers = [
            _Layer(*insulator(one, "media that do not conduct"), thickness)
            for one, thickness in zip(self.media, (place - low[0], high[0] - place), strict=True)
        ]
        self.discontinuous = self._layers[0].mu != self._layers[1].mu
        self._y, self._z = (Standing(i, (low, high), along[i - 1], kinds) for i in (1, 2))
        self._e = self._direction()
        self._q = float(np.hypot(self._y.k, self._z.k))
        self.omega = self._root(self._arguments["order"])
        self._factors = self._continuous()

    def _direction(self) -> tuple[float, float]:
        """Return e_y and e_z of length 1, orthogonal to q, or the one component that can be."""
        q = np.array([self._y.k, self._z.k])
        if np.all(q > 0.0):
            return float(-q[1] / np.hypot(*q)), float(q[0] / np.hypot(*q))
        # E_y goes as C S of y and z, E_z as S C
        y_alone = self._y.vanishing != "C" and self._z.vanishing != "S" and self._y.k == 0.0
        z_alone = self._z.vanishing != "C" and self._y.vanishing != "S" and self._z.k == 0.0
        if not y_alone and not z_alone:
            raise ArgumentError(
                f"the mode n = {self._arguments['n']} is zero everywhere; expected fewer zeros"
            )
        return (0.0, 1.0) if z_alone else (1.0, 0.0)

    def _mismatch(self, omega: float) -> float:
        """Return the residual of the equation of `cavity_mode_two_media`, multiplied by both sines."""
        (s1, c1), (s2, c2) = (one.sine(omega, self._q, one.thickness) for one in self._layers)
        return float(c1 * s2 / self._layers[0].mu + c2 * s1 / self._layers[1].mu)

    def _root(self, order: int) -> float:
        """Return the root of this order, bracketed in steps of 1/40 of the mean distance of roots."""
        slowest = max(one.eps * one.mu for one in self._layers)
        delay = sum(float(np.sqrt(one.eps * one.mu)) * one.thickness for one in self._layers)
        step, before = np.pi / delay / 40.0, self._q / float(np.sqrt(slowest))  # no wave below
        found = 0
        while True:
            beyond = before + step
            if (self._mismatch(before) > 0.0) != (self._mismatch(beyond) > 0.0):
                found += 1
                if found == order:
                    return root_between(self._mismatch, before, beyond)
            before = beyond

    def _continuous(self) -> tuple[float, float]:
        """Return the factors of sin(k_i s)/k_i in both layers: X and X'/mu continuous."""
        (s1, c1), (s2, c2) = (one.sine(self.omega, self._q, one.thickness) for one in self._layers)
        mu1, mu2 = self._layers[0].mu, self._layers[1].mu
        # both equations agree at a root; the better conditioned one is used
        by_value, by_slope = (s2, s1), (-c2 / mu2, c1 / mu1)
        scale = self._q + self.omega * np.sqrt(self._layers[0].eps * mu1)
        good_value = scale * max(abs(s1), abs(s2)) > max(abs(c1), mu1 * abs(c2) / mu2)
        pair = np.array(by_value if good_value else by_slope)
        k2 = [one.eps * one.mu * self.omega**2 - self._q**2 for one in self._layers]
        peaks = [abs(factor) / np.sqrt(one) for factor, one in zip(pair, k2, strict=True) if one > 0.0]
        pair = pair * np.sign(pair[0]) * self._arguments["amplitude"] / max(peaks)
        return float(pair[0]), float(pair[1])

    def _profile(self, x: Array) -> tuple[Array, Array, Array]:
        """Return X, X' and mu at places x."""
        one, two = self._layers
        begin, end = self._ends
        s1, c1 = one.sine(self.omega, self._q, np.minimum(x, self._place) - begin)
        s2, c2 = two.sine(self.omega, self._q, end - np.maximum(x, self._place))
        first, (a1, a2) = x <= self._place, self._factors
        return (
            np.where(first, a1 * s1, a2 * s2), np.where(first, a1 * c1, -a2 * c2),
            np.where(first, one.mu, two.mu),
        )  # fmt: skip

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        value, slope, mu = self._profile(x)
        (sy, cy), (sz, cz) = self._y(y), self._z(z)
        ey, ez = self._e
        now, rise = np.cos(self.omega * t), -np.sin(self.omega * t) / (self.omega * mu)
        return {
            "ex": np.zeros_like(value * now),
            "ey": ey * value * cy * sz * now,
            "ez": ez * value * sy * cz * now,
            "hx": (self._y.k * ez - self._z.k * ey) * value * cy * cz * rise,
            "hy": -ez * slope * sy * cz * rise,
            "hz": ey * slope * cy * sz * rise,
        }
