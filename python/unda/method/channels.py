"""Channels: what receivers take of the library's samples, and what is computed from these.

Not here: integrals over time (integral.py), the receivers (receiver.py), the samples (csrc/dg/points.c).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._check import field_names
from ..errors import ArgumentError
from ..problem.medium import Derived, Medium

#: Names that stand for several.
_TOGETHER = {"displacement": ("ux", "uy", "uz"), "strain": ("exx", "eyy", "ezz", "eyz", "exz", "exy")}
Term = tuple[Any, str, int]
_INTEGRAL = 4  # added to a derivative: its integral over time, as unda_receivers numbers them


def single_names(names: Any) -> Any:
    """Return names of fields, with those of components instead of "displacement" and "strain"."""
    if names is None:
        return None
    listed = (names,) if isinstance(names, str) else names
    try:
        parts = [_TOGETHER.get(one, (one,)) if isinstance(one, str) else (one,) for one in listed]
    except TypeError:
        return names  # which is refused
    return tuple(dict.fromkeys(one for part in parts for one in part))


def terms_at(quantity: Derived, material: Callable[[], np.ndarray] | None) -> tuple[Term, ...]:
    """Return the terms of a quantity; material gives the medium at points, (num_point, num_parameter)."""
    if quantity.scale is None:
        return quantity.terms
    if material is None:
        raise ArgumentError("this quantity depends on the material at points, which is not known")
    factors = quantity.scale(material())
    return tuple((factor, field, d) for factor, (_, field, d) in zip(factors, quantity.terms, strict=True))


def _of_library(quantity: Derived) -> Derived:
    """Return a quantity whose terms the library integrates, where it is an integral."""
    if not quantity.integrated:
        return quantity
    return quantity._replace(terms=tuple((a, field, d + _INTEGRAL) for a, field, d in quantity.terms))


class Channels:
    """What receivers record: fields as the library samples them, and quantities computed from these.

    Parameters
    ----------
    medium : Medium
    names : iterable of str, optional
        Fields and derived ones; all fields if omitted.
    material : callable, optional
        Gives the parameters of the medium at the points, (num_point, num_parameter).
    integrates : bool
        The library integrates over time (csrc/dg/integral.c); else `Integral` does.

    Attributes
    ----------
    names : tuple of str
    integrals : tuple of str
        Those that are integrals over time.
    integrated : tuple of str
        Those of which are integrated here.
    num_integral : int
        How many integrals the library has at a place.
    numbers : ndarray of int32
        Fields and derivatives as the library numbers them: unda_receivers.
    """

    integrals: tuple[str, ...] = ()
    integrated: tuple[str, ...] = ()
    num_integral = 0

    def __init__(
        self, medium: Medium, names: Any = None, material: Callable[[], np.ndarray] | None = None,
        integrates: bool = False,
    ) -> None:  # fmt: skip
        made = {**medium.derived, **medium.motions}
        usual = medium.fields if names is None else names
        if integrates:
            made = {name: _of_library(one) for name, one in made.items()}
        self._settle(usual, made, (*medium.traces, *medium.motions), material)
        if integrates:
            self.integrated = ()
        self.num_integral = sum(d >= _INTEGRAL for _, d in self._column)
        numbers = [d * len(medium.fields) + medium.fields.index(field) for field, d in self._column]
        self._number(numbers)

    def _settle(
        self, names: Any, made: Mapping[str, Derived], known: tuple[str, ...],
        material: Callable[[], np.ndarray] | None,
    ) -> None:  # fmt: skip
        """Take names among those that are known; of those in `made` the terms."""
        self.names = field_names(single_names(names), known)
        self.integrals = tuple(name for name in self.names if name in made and made[name].integrated)
        self.integrated = self.integrals
        self._terms = [
            terms_at(made[name], material) if name in made else ((1.0, name, 0),) for name in self.names
        ]
        # as the library gives them
        self._plain = [len(terms) == 1 and np.array_equal(terms[0][0], 1.0) for terms in self._terms]
        raw = dict.fromkeys((field, derivative) for terms in self._terms for _, field, derivative in terms)
        self._column = {one: i for i, one in enumerate(raw)}

    def _number(self, numbers: list[int]) -> None:
        self.numbers = np.array(numbers, np.int32)
        self.members = {"num_field": len(numbers), "fields": self.numbers}  # of unda_receivers

    def lags(self, lags: Mapping[str, float]) -> dict[str, float]:
        """Return by how much times differ from the simulation's [s], given those of the fields."""
        return dict(lags)

    def num_place(self, points: np.ndarray) -> int:
        """Return at how many places the library samples for receivers at points."""
        return len(points)

    def combine(self, samples: np.ndarray) -> np.ndarray:
        """Return (.., names) from what the library gave (.., numbers): the same array if they agree."""
        if all(self._plain) and len(self._column) == len(self.names):
            return samples
        made = np.empty((*samples.shape[:-1], len(self.names)), samples.dtype)
        for i, terms in enumerate(self._terms):
            parts = [(factor, samples[..., self._column[field, d]]) for factor, field, d in terms]
            if self._plain[i]:
                made[..., i] = parts[0][1]
                continue
            with np.errstate(invalid="ignore", over="ignore"):  # when a run blows up
                # Term by term, so that the bits do not depend on how many samples come at once.
                made[..., i] = sum(factor * part.astype(np.float64) for factor, part in parts)
        return made
