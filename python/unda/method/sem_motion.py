"""Displacements and potentials of exact solutions, which give velocities, stresses and pressures.

The state of SEM holds time integrals of these: u of v, and chi = -integral of the integral of p. They are exact
where the solution is sinusoidal in time (a quarter of a period earlier, over omega) or a plane wave of a time
function (with the integral of that function). Not here: the solutions (exact/).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..exact import ExactSolution
from ..exact.base import make_solution
from ..exact.plane import PlaneWaveSolution
from ..problem.timefunction import TimeFunction

Evaluate = Callable[..., dict[str, Any]]


def _omega(exact: ExactSolution) -> float:
    """Return the angular frequency of a solution that is sinusoidal in time, or 0."""
    if isinstance(exact, PlaneWaveSolution) and exact._profile.k is None:
        return 0.0
    for name in ("omega", "_omega"):
        if isinstance(getattr(exact, name, None), float):
            return float(getattr(exact, name))
    if isinstance(exact, PlaneWaveSolution) and exact.physics == "acoustic":
        return exact._profile.omega(exact.medium.scalar()["c"])
    return 0.0


def _integral(exact: ExactSolution) -> Evaluate | None:
    """Return the integral of a solution over time, or None where it is not known."""
    omega = _omega(exact)
    if omega > 0.0:
        quarter = 0.5 * np.pi / omega
        return lambda x, y, z, t: {
            name: one / omega for name, one in exact(x, y, z, np.asarray(t) - quarter).items()
        }
    f = exact._arguments.get("f")
    if isinstance(exact, PlaneWaveSolution) and isinstance(f, TimeFunction):
        try:
            again = {"medium": exact.medium, **exact._arguments, "f": f.integral}
        except ArgumentError:
            return None  # of a plain callable
        return make_solution(exact.name, again)  # type: ignore[no-any-return]
    return None


class Motion:
    """An exact solution with what follows from it: u from v, chi and chi_t from p or the stress.

    Parameters
    ----------
    exact : ExactSolution or callable
        A callable f(x, y, z, t) gives the fields of SEM by name.

    Attributes
    ----------
    is_known : bool
        Whether displacement and potential are known.
    """

    def __init__(self, exact: Any) -> None:
        self.exact, self._once, self._twice = exact, None, None
        self.singular = getattr(exact, "singular", False)
        self.discontinuous = getattr(exact, "discontinuous", False)
        if isinstance(exact, ExactSolution) and not self.singular:
            self._once = _integral(exact)
            omega = _omega(exact)
            if isinstance(self._once, ExactSolution):
                self._twice = _integral(self._once)
            elif self._once is not None:
                self._twice = lambda *at: {name: -one / omega**2 for name, one in exact(*at).items()}
        self.is_known = self._twice is not None or not isinstance(exact, ExactSolution)

    def __call__(self, x: Any, y: Any, z: Any, t: Any) -> Any:
        """Return the fields at places and times."""
        values = self.exact(x, y, z, t)
        if self._once is None or self._twice is None:
            return values
        once, twice = self._once(x, y, z, t), self._twice(x, y, z, t)
        moved = {f"u{axis}": once[f"v{axis}"] for axis in "xyz"}
        return {**values, **moved, "chi_t": -_pressure(once), "chi": -_pressure(twice)}


def _pressure(values: dict[str, Any]) -> Any:
    if "p" in values:
        return values["p"]
    return -(values["sxx"] + values["syy"] + values["szz"]) / 3.0
