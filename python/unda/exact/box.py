"""Standing waves in a rectangular box, each wall rigid or free.

Not here: travelling waves (plane.py).
Next: pulse.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import number
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution, make_solution
from .walls import Standing, all_walls, corners, mode_numbers


def box_mode(
    medium: Medium,
    lower: Any,
    upper: Any,
    *,
    n: Any = (1, 2, 1),
    walls: dict[str, str],
    amplitude: float = 1.0,
) -> ExactSolution:
    """Return a standing wave in a closed box with rigid and free walls.

    Acoustic: p = amplitude X(x) Y(y) Z(z) cos(omega t), omega = c abs(k), rho v_t = -grad p, v = 0
    at t = 0. Along each axis, with s the distance from the lower wall and L the length:
    cos(n pi s/L) between rigid walls (n >= 0), sin(n pi s/L) between free walls (n >= 1);
    cos((n - 1/2) pi s/L) from a rigid to a free wall, sin((n - 1/2) pi s/L) from a free to a rigid
    one (n >= 1).

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    n : array_like of int, shape (3,)
        Number of the mode along each axis.
    walls : dict of str to str
        ``"rigid"`` or ``"free"`` for each of xmin, xmax, ymin, ymax, zmin, zmax; ``"*"`` is the
        rest.
    amplitude : float
        Peak pressure [Pa].

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; not singular. Its ``omega`` is the angular frequency
        [rad/s].

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous, a wall is missing or unknown, or there is no such mode.

    References
    ----------
    Morse & Ingard (1968), Theoretical Acoustics, section 9.5.

    Examples
    --------
    >>> import unda
    >>> air = unda.Acoustic(rho=1.2, c=340.0)
    >>> pipe = unda.exact.box_mode(air, (0, 0, 0), (1, 1, 1), n=(1, 0, 0),
    ...                            walls={"xmax": "free", "*": "rigid"})
    >>> round(pipe.omega / (2 * 3.141592653589793), 6)
    85.0
    """
    return make_solution("box_mode", locals())


def rigid_box_mode(
    medium: Medium, lower: Any, upper: Any, n: Any = (1, 2, 1), *, amplitude: float = 1.0
) -> ExactSolution:
    """Return a standing wave in a box with six rigid walls; see `box_mode`.

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    n : array_like of int, shape (3,)
        Number of the mode along each axis, at least 0 and not all 0.
    amplitude : float
        Peak pressure [Pa].

    Returns
    -------
    ExactSolution
        p = amplitude cos cos cos cos(omega t) [Pa], vx, vy, vz [m/s]; not singular.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or there is no such mode.

    Examples
    --------
    >>> import unda
    >>> mode = unda.exact.rigid_box_mode(unda.Acoustic(rho=1.0, c=1.0), (0, 0, 0), (1, 1, 1))
    >>> float(mode(0.0, 0.0, 0.0, 0.0)["p"])
    1.0
    """
    return box_mode(medium, lower, upper, n=n, walls={"*": "rigid"}, amplitude=amplitude)


def free_box_mode(
    medium: Medium, lower: Any, upper: Any, n: Any = (1, 2, 1), *, amplitude: float = 1.0
) -> ExactSolution:
    """Return a standing wave in a box with six free (pressure zero) walls; see `box_mode`.

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    lower, upper : array_like, shape (3,)
        Opposite corners of the box [m].
    n : array_like of int, shape (3,)
        Number of the mode along each axis, at least 1.
    amplitude : float
        Peak pressure [Pa].

    Returns
    -------
    ExactSolution
        p = amplitude sin sin sin cos(omega t) [Pa], vx, vy, vz [m/s]; not singular.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or there is no such mode.

    Examples
    --------
    >>> import unda
    >>> medium = unda.Acoustic(rho=1.0, c=1.0)
    >>> mode = unda.exact.free_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 1))
    >>> round(float(mode(0.5, 0.5, 0.5, 0.0)["p"]), 12)
    1.0
    """
    return box_mode(medium, lower, upper, n=n, walls={"*": "free"}, amplitude=amplitude)


class AcousticBoxMode(ExactSolution):
    """p = X Y Z cos(omega t), v = -grad(X Y Z) sin(omega t)/(rho omega)."""

    physics = "acoustic"
    name = "box_mode"

    def __init__(self, medium: Medium, lower: Any, upper: Any, n: Any, walls: Any, amplitude: float) -> None:
        box, kinds, numbers = corners(lower, upper), all_walls(walls), mode_numbers(n)
        super().__init__(
            medium, lower=box[0], upper=box[1], n=numbers, walls=kinds,
            amplitude=number("amplitude", amplitude, "Pa"),
        )  # fmt: skip
        self._axes = [Standing(i, box, one, kinds) for i, one in enumerate(numbers)]
        wavenumber = float(np.linalg.norm([axis.k for axis in self._axes]))
        if wavenumber == 0.0:
            raise ArgumentError(f"n is {numbers}; expected at least one number above 0")
        self._rho, c = medium.scalar()["rho"], medium.scalar()["c"]
        self.omega = c * wavenumber

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        pairs = zip(self._axes, (x, y, z), strict=True)
        (fx, dfx), (fy, dfy), (fz, dfz) = ((s, axis.k * c) for axis, a in pairs for s, c in [axis(a)])
        amplitude = self._arguments["amplitude"]
        v = -amplitude * np.sin(self.omega * t) / (self._rho * self.omega)
        return {
            "p": amplitude * fx * fy * fz * np.cos(self.omega * t),
            "vx": v * dfx * fy * fz,
            "vy": v * fx * dfy * fz,
            "vz": v * fx * fy * dfz,
        }
