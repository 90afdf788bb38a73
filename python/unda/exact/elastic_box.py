"""Standing waves in elastic boxes: walls all free (Lame mode) or all lubricated.

Not here: acoustic boxes (box.py).
Next: elastic_point.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import number, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .elastic_plane import polarized
from .line_integral import axis_number
from .partial import elastic, solid
from .walls import corners


def lame_mode(
    medium: Medium, lower: Any, upper: Any, *, n: int = 1, axis: str = "z", amplitude: float = 1.0
) -> ExactSolution:
    """Return the Lame mode of a square bar: a standing S wave that puts no traction on any wall.

    With axis z, k = n pi/L and (x, y) from the lower corner: vx = amplitude cos kx sin ky cos omega t,
    vy = -amplitude sin kx cos ky cos omega t, vz = 0; omega = sqrt(2) k vs; sigma = 0 at t = 0.

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m]; the two sides across the axis are of the same length L.
    n : int
        Number of half waves along each of these sides.
    axis : {"x", "y", "z"}
        The axis along which nothing moves or changes; the two others follow it cyclically.
    amplitude : float
        Peak velocity [m/s].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``omega`` is the angular frequency
        [rad/s].

    Raises
    ------
    ArgumentError
        If the medium is not a homogeneous solid, the box not square across the axis, or n < 1.

    References
    ----------
    Lame (1852); Achenbach (1973), Wave Propagation in Elastic Solids, section 6.

    Examples
    --------
    >>> import unda
    >>> steel = unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
    >>> mode = unda.exact.lame_mode(steel, (0, 0, 0), (1, 1, 1))
    >>> round(mode.omega / 3.141592653589793, 12), float(abs(mode(0.3, 0.4, 1.0, 0.2)["szz"]))
    (1.414213562373, 0.0)
    """
    return make_solution("lame_mode", locals())


def lubricated_box_mode(
    medium: Medium,
    lower: Any,
    upper: Any,
    *,
    n: Any = (1, 2, 1),
    kind: str = "p",
    polarization: Any = None,
    amplitude: float = 1.0,
) -> ExactSolution:
    """Return a standing P or S wave in a box whose walls are lubricated: v_n = 0, no shear traction.

    With k_i = n_i pi/L_i and x from the lower corner: v_i = amplitude q_i sin(k_i x_i) cos(k_j x_j)
    cos(k_l x_l) cos(omega t), omega = c abs(k), sigma = 0 at t = 0. P: c = vp, q = k/abs(k). S: c =
    vs, q across k.

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    n : array_like of int, shape (3,)
        Number of half waves along each axis, at least 0 and not all 0; for S at least two of them
        above 0.
    kind : {"p", "s"}
    polarization : array_like, shape (3,), optional
        For S: any vector, of which the part across k is taken.
    amplitude : float
        Factor of the velocity [m/s].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]; not singular. Its ``omega`` is the angular frequency
        [rad/s].

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or has or there is no such wave.

    References
    ----------
    Achenbach (1973), Wave Propagation in Elastic Solids, section 6 (plane strain case).

    Examples
    --------
    >>> import unda
    >>> rock = unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
    >>> mode = unda.exact.lubricated_box_mode(rock, (0, 0, 0), (1, 1, 1), n=(1, 0, 0))
    >>> round(mode.omega / 3.141592653589793, 12), float(mode(0.5, 0.2, 0.9, 0.0)["vx"])
    (2.0, 1.0)
    """
    return make_solution("lubricated_box_mode", locals())


class LameMode(ExactSolution):
    """Velocity a quarter period ahead of the normal stresses; all shear stresses vanish."""

    physics = "elastic"
    name = "lame_mode"

    def __init__(
        self, medium: Medium, lower: Any, upper: Any, n: int = 1, axis: str = "z", amplitude: float = 1.0
    ) -> None:
        material = solid(medium, "without S waves")
        first = axis_number("axis", axis) + 1
        n = _whole("n", n, least=1)
        low, high = corners(lower, upper)
        self._lower, length = low, np.subtract(high, low)
        super().__init__(
            medium, lower=low, upper=high, n=n, axis=axis, amplitude=number("amplitude", amplitude, "m/s")
        )
        self._plane = first % 3, (first + 1) % 3
        sides = [float(length[i]) for i in self._plane]
        if abs(sides[0] - sides[1]) > 1e-9 * sides[0]:
            raise ArgumentError(
                f"the sides across {axis} are {sides[0]} and {sides[1]} m; expected equal lengths"
            )
        self._k = n * np.pi / sides[0]
        self._mu, self.omega = material.mu, float(np.sqrt(2.0) * self._k * material.vs)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        place, k, amplitude = (x, y, z), self._k, self._arguments["amplitude"]
        i, j = self._plane
        one, two = k * (place[i] - self._lower[i]), k * (place[j] - self._lower[j])
        fields: dict[str, Any] = dict.fromkeys(self.fields, np.zeros(()))
        moving = amplitude * np.cos(self.omega * t)
        fields["v" + "xyz"[i]] = moving * np.cos(one) * np.sin(two)
        fields["v" + "xyz"[j]] = -moving * np.sin(one) * np.cos(two)
        stress = 2.0 * self._mu * k * amplitude / self.omega * np.sin(self.omega * t)
        fields["s" + "xyz"[i] * 2] = -stress * np.sin(one) * np.sin(two)
        fields["s" + "xyz"[j] * 2] = stress * np.sin(one) * np.sin(two)
        return fields


class LubricatedBoxMode(ExactSolution):
    """sigma_ii = (lambda k.q + 2 mu k_i q_i) C C C g, sigma_ij = -mu (k_i q_j + k_j q_i) S S C g."""

    physics = "elastic"
    name = "lubricated_box_mode"

    def __init__(
        self, medium: Medium, lower: Any, upper: Any, n: Any = (1, 2, 1), kind: str = "p",
        polarization: Any = None, amplitude: float = 1.0,
    ) -> None:  # fmt: skip
        self._material = elastic("medium", medium)
        low, high = corners(lower, upper)
        self._lower, length = low, np.subtract(high, low)
        numbers = tuple(_whole(f"n[{i}]", one, least=0) for i, one in enumerate(vector("n", n)))
        given = None if polarization is None else vector("polarization", polarization)
        super().__init__(
            medium, lower=low, upper=high, n=numbers, kind=kind, polarization=given,
            amplitude=number("amplitude", amplitude, "m/s"),
        )  # fmt: skip
        self._k = np.pi * np.array(numbers) / length
        wavenumber = float(np.linalg.norm(self._k))
        if wavenumber == 0.0:
            raise ArgumentError(f"n is {numbers}; expected at least one number above 0")
        self._q = polarized(kind, given, self._material, self._k / wavenumber)
        if not np.any(np.abs(self._q * self._k) > 1e-12 * wavenumber):
            raise ArgumentError(
                f"n is {numbers} and polarization {given}, by which nothing moves; expected motion along an "
                "axis whose n is above 0"
            )
        self.omega = self._material.speed(kind) * wavenumber

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        k, q, amplitude = self._k, self._q, self._arguments["amplitude"]
        angles = [k[i] * (one - self._lower[i]) for i, one in enumerate((x, y, z))]
        sine, cosine = [np.sin(a) for a in angles], [np.cos(a) for a in angles]
        moving = amplitude * np.cos(self.omega * t)
        stress = amplitude * np.sin(self.omega * t) / self.omega
        lam, mu = self._material.lam, self._material.mu
        fields: dict[str, Any] = {}
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            fields["v" + "xyz"[i]] = moving * q[i] * sine[i] * cosine[j] * cosine[m]
            normal = (lam * (k @ q) + 2.0 * mu * k[i] * q[i]) * stress
            fields["s" + "xyz"[i] * 2] = normal * cosine[i] * cosine[j] * cosine[m]
            shear = -mu * (k[i] * q[j] + k[j] * q[i]) * stress
            fields["s" + "".join(sorted("xyz"[i] + "xyz"[j]))] = shear * sine[i] * sine[j] * cosine[m]
        return fields


def _whole(name: str, value: Any, least: int) -> int:
    if number(name, value) != int(value) or value < least:
        raise ArgumentError(f"{name} is {value!r}; expected an integer of at least {least}")
    return int(value)
