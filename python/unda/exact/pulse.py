"""A Gaussian pressure pulse that spreads from a point: smooth everywhere, without a source.

Not here: sources (point.py).
Next: point.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import number, vector
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution


def spherical_pulse(medium: Medium, center: Any, width: float, *, amplitude: float = 1.0) -> ExactSolution:
    """Return the wave that starts from rest with p = amplitude exp(-r^2/(2 width^2)) at t = 0.

    Acoustic, with g(u) = u exp(-u^2/(2 width^2)): p = amplitude [g(r - ct) + g(r + ct)]/(2 r), and
    rho v_t = -grad p with v = 0 at t = 0. It holds for negative times too.

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    center : array_like, shape (3,)
        Where the pulse starts [m].
    width : float
        Standard deviation of the Gaussian [m].
    amplitude : float
        Pressure at the center at t = 0 [Pa].

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; not singular.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or the width not positive.

    References
    ----------
    Landau & Lifshitz (1987), Fluid Mechanics, section 70 (spherical waves).

    Examples
    --------
    >>> import unda
    >>> pulse = unda.exact.spherical_pulse(unda.Acoustic(rho=1.0, c=1.0), (0, 0, 0), width=0.1)
    >>> float(pulse(0.0, 0.0, 0.0, 0.0)["p"])
    1.0
    """
    return make_solution("spherical_pulse", locals())


class AcousticSphericalPulse(ExactSolution):
    """The pulse in a form that loses no digits at r = 0.

    With a = ct, x = r a/s^2 and E = exp(-(r^2 + a^2)/(2 s^2)), E e^x being exp(-(r - a)^2/(2 s^2)):
    p = E [cosh x - (a/s)^2 sinh(x)/x],
    v = (r vector) a/(rho c s^2) E [sinh(x)/x - (a/s)^2 i1(x)/x], i1(x) = cosh(x)/x - sinh(x)/x^2.
    """

    physics = "acoustic"
    name = "spherical_pulse"
    constant_along: tuple[str, ...] | None = ()

    def __init__(self, medium: Medium, center: Any, width: float, amplitude: float = 1.0) -> None:
        super().__init__(
            medium,
            center=vector("center", center, "m"),
            width=number("width", width, "m", positive=True),
            amplitude=number("amplitude", amplitude, "Pa"),
        )
        self._rho, self._c = medium.scalar()["rho"], medium.scalar()["c"]

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        center, s = self._arguments["center"], self._arguments["width"]
        dx, dy, dz = (values - c for values, c in zip((x, y, z), center, strict=True))
        r = np.sqrt(dx**2 + dy**2 + dz**2)
        a = np.abs(self._c * t)  # p is even in time, v odd
        cosh_x, sinh_by_x, bessel_by_x = _scaled(r * a / s**2)
        outgoing = self._arguments["amplitude"] * np.exp(-((r - a) ** 2) / (2.0 * s**2))
        p = outgoing * (cosh_x - (a / s) ** 2 * sinh_by_x)
        v = outgoing * (sinh_by_x - (a / s) ** 2 * bessel_by_x) * t / (self._rho * s**2)
        return {"p": p, "vx": v * dx, "vy": v * dy, "vz": v * dz}


def _scaled(x: Array) -> tuple[Array, Array, Array]:
    """Return exp(-x) times cosh x, sinh(x)/x and i1(x)/x, for x >= 0."""
    decay = np.exp(-2.0 * x)
    safe = np.where(x == 0.0, 1.0, x)
    cosh_x = (1.0 + decay) / 2.0
    sinh_by_x = np.where(x == 0.0, 1.0, -np.expm1(-2.0 * x) / (2.0 * safe))
    # i1(x)/x = sum_k x^2k/(2^k k! (2k + 3)!!): for small x the difference in the last line cancels
    small = np.minimum(x, 1.0)
    series, term = np.zeros_like(x), np.full_like(x, 1.0 / 3.0)
    for k in range(9):
        series += term
        term = term * small**2 / (2.0 * (k + 1) * (2 * k + 5))
    return cosh_x, sinh_by_x, np.where(
        x < 1.0, np.exp(-small) * series, (cosh_x - sinh_by_x) / safe**2
    )  # fmt: skip
