"""Displacements and potentials of exact solutions, which give velocities, stresses and pressures.

The state of SEM holds time integrals of these: u of v, and chi = -integral of the integral of p. They are
exact where the solution is sinusoidal in time (a quarter of a period earlier, over omega) or a plane wave of
a time function (with the integral of that function). Not here: the solutions (exact/).
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


def _rebuilt(exact: PlaneWaveSolution, f: Callable[[Any], Any]) -> Evaluate:
    """Return the same plane wave of another time function."""
    return make_solution(exact.name, {"medium": exact.medium, **exact._arguments, "f": f})  # type: ignore


def _integrals(exact: ExactSolution) -> tuple[Evaluate, Evaluate] | None:
    """Return the first and the second integral of a solution over time, or None where they are not known.

    Those of a pulse are 0 when it has passed: absorbing sides behind it then see nothing. (They compare chi'
    with the normal displacement, which an incoming wave must not have left there.)
    """
    omega = _omega(exact)
    if omega > 0.0:
        quarter = 0.5 * np.pi / omega
        return (
            lambda x, y, z, t: {
                name: one / omega for name, one in exact(x, y, z, np.asarray(t) - quarter).items()
            },
            lambda *at: {name: -one / omega**2 for name, one in exact(*at).items()},
        )
    f = exact._arguments.get("f")
    if not (isinstance(exact, PlaneWaveSolution) and isinstance(f, TimeFunction)):
        return None
    try:
        once, twice = f.integral, f.integral.integral
    except ArgumentError:
        return None  # of a plain callable
    end = f.span[1] if f.span is not None and np.isfinite(f.span[1]) else None
    left = 0.0 if end is None else once(end)
    shift = 0.0 if end is None else twice(end) - left * end
    return (
        _rebuilt(exact, lambda t: once(t) - left),
        _rebuilt(exact, lambda t: twice(t) - left * np.asarray(t) - shift),
    )


class Motion:
    """An exact solution with what follows from it: u from v, chi and chi_t from p or the stress.

    Parameters
    ----------
    exact : ExactSolution or callable
        A callable f(x, y, z, t) gives the fields of SEM by name.

    Attributes
    ----------
    medium : Medium or None
        Of the solution.
    is_known : bool
        Whether displacement and potential are known.
    """

    def __init__(self, exact: Any) -> None:
        self.exact, self._once, self._twice = exact, None, None
        self.medium = getattr(exact, "medium", None)
        self.singular = getattr(exact, "singular", False)
        self.discontinuous = getattr(exact, "discontinuous", False)
        if isinstance(exact, ExactSolution) and not self.singular:
            self._once, self._twice = _integrals(exact) or (None, None)
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
