"""What a monitor's samples are of the state: a field, or what is made of fields at the same nodes.

Not here: derived quantities of receivers, which know derivatives too (channels.py). Next: monitor.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import lib
from ..errors import ArgumentError

#: By name the first of three components, and the quantity.
_OF_THREE = {
    "speed": ("vx", lib.UNDA_MAGNITUDE),
    "pressure": ("sxx", lib.UNDA_MINUS_MEAN),
    "e_magnitude": ("ex", lib.UNDA_MAGNITUDE),
    "h_magnitude": ("hx", lib.UNDA_MAGNITUDE),
}


class Taken(NamedTuple):
    """The first field of the state that a sample takes, and unda_quantity."""

    first: str
    quantity: int


def monitored_names(sim: Any) -> tuple[str, ...]:
    """Return what monitors of a simulation know."""
    return (*sim.fields, *_of_potential(sim), *(name for name in _OF_THREE if _stands(sim, name)))


def check_name(name: Any, known: Sequence[str]) -> None:
    """Refuse a field of which there are no monitors."""
    if name not in known:
        raise ArgumentError(
            f"monitor of {name!r}: expected a field that is stored or made of such at the same nodes, one of "
            f"{list(known)}; receivers record what is derived otherwise"
        )


def taken(sim: Any, name: Any) -> Taken:
    """Return what samples of a field, or of a derived quantity, are."""
    check_name(name, monitored_names(sim))
    if name in sim.fields:
        return Taken(name, lib.UNDA_AS_IT_IS)
    if name in _of_potential(sim):
        return Taken("chi_tt", lib.UNDA_MINUS)
    return Taken(*_OF_THREE[name])


def _of_potential(sim: Any) -> tuple[str, ...]:
    """Return the names of -chi_tt: the pressure of spectral elements in fluids."""
    return (("pressure", "p")["sxx" not in sim._known.units],) if "chi_tt" in sim.fields else ()


def _stands(sim: Any, name: str) -> bool:
    """Return whether the three fields of a quantity are stored, at the same places and times."""
    first, _ = _OF_THREE[name]
    group = [first[:-1] + axis for axis in "xyz"] if first != "sxx" else ["sxx", "syy", "szz"]
    if not set(group) <= set(sim.fields) or name in _of_potential(sim):
        return False
    return not hasattr(sim, "grid") or all(
        np.array_equal(a, b)
        for other in group[1:]
        for a, b in zip(sim._axes(first), sim._axes(other), strict=True)
    )


def without_field(sim: Any, first: str, cells: np.ndarray | None) -> np.ndarray | None:
    """Return which cells of a region do not have the field, (n,); None: all of them do.

    Spectral elements have displacements in solids and potentials in fluids.
    """
    fluid = getattr(sim, "_fluid", None)
    if fluid is None or cells is None or "chi" not in sim.fields or "ux" not in sim.fields:
        return None
    missing = np.asarray(~fluid[cells] if first.startswith("chi") else fluid[cells])
    if sim._most(int((~missing).sum())) == 0:
        raise ArgumentError(f"the region has no cells with {first}, expected one that has some")
    return missing
