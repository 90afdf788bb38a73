"""The condition at each named boundary of a mesh: a boundary condition, or the values of an exact solution.

Not here: the ghost states of the conditions (cuda/physics).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._check import call_at, field_values
from .._core import lib
from ..errors import ArgumentError
from ..exact import ExactSolution
from .medium import Medium
from .mesh import Mesh

_CODES = {
    word: getattr(lib, f"UNDA_BOUNDARY_{word.upper()}")
    for word in ("absorbing", "rigid", "free", "fixed", "symmetry", "pec", "pmc")
}
#: Conditions at which waves are reflected.
WALLS = tuple(word for word in _CODES if word != "absorbing")
_PERIODIC = "periodic"
#: Times and points of an exact solution at once, whose arrays then stay in a processor's cache.
_TOGETHER = 1 << 14


@dataclass
class Boundaries:
    """Conditions of a mesh's boundaries, in the order of ``mesh.boundary_names``.

    Attributes
    ----------
    words : dict of str to str
        Condition of each name; "exact" where values are given, "periodic" where the mesh is.
    codes : numpy.ndarray
        The same as the library takes them (num_boundary,).
    exact : dict of str to callable
        Outer values by name.
    layers : dict of str to layer
        Layers in front of boundaries, which are "absorbing".
    """

    words: dict[str, str]
    codes: np.ndarray
    exact: dict[str, Callable[..., Any]]
    layers: dict[str, Any] = dataclasses.field(default_factory=dict)

    def to_config(self) -> dict[str, Any]:
        """Return the `boundary` keyword as a JSON-able dict, a layer as one itself; "exact" for solutions."""
        return self.words | {name: layer.to_config() for name, layer in self.layers.items()}

    @classmethod
    def of(cls, mesh: Mesh, medium: Medium, given: Mapping[str, Any] | None) -> Boundaries:
        """Read the `boundary` keyword of a method.

        Raises
        ------
        ArgumentError
            Names that the mesh lacks, boundaries without a condition, conditions or solutions that the
            medium does not know.
        """
        given, rest = by_name(given, mesh.boundary_names, "names", "the mesh")
        joined = {name for pair in mesh.periodic for name in pair}
        missing = [
            name for name in mesh.boundary_names if name not in joined and given.get(name, rest) is None
        ]
        if missing:
            raise ArgumentError(no_condition(missing, "an exact solution"))
        words, exact, bound = {}, {}, {}
        for name in mesh.boundary_names:
            condition = given.get(name, rest)
            if name in joined:
                if name in given and not (isinstance(condition, str) and condition == _PERIODIC):
                    raise ArgumentError(f"boundary {name!r} is periodic by the mesh")
                words[name] = _PERIODIC
            elif isinstance(condition, ExactSolution) or callable(condition):
                words[name] = "exact"
                if isinstance(condition, ExactSolution) and condition.physics != medium.physics:
                    raise ArgumentError(
                        f"boundary {name!r} has the {condition.physics} solution {condition!r}; "
                        f"the medium is {medium.physics}"
                    )
                if id(condition) not in bound:
                    bound[id(condition)] = condition.bind(mesh) if hasattr(condition, "bind") else condition
                exact[name] = bound[id(condition)]
            elif isinstance(condition, str) and condition in medium.boundaries:
                words[name] = condition
            else:
                raise ArgumentError(
                    f"boundary {name!r} has condition {condition!r}; expected one of "
                    f"{list(medium.boundaries)} ({medium.physics} media), an exact solution, "
                    "or '*' for the rest"
                )
        codes = {**_CODES, "exact": lib.UNDA_BOUNDARY_EXACT, _PERIODIC: lib.UNDA_BOUNDARY_ABSORBING}
        return cls(words, np.array([codes[word] for word in words.values()], np.int32), exact)


def by_name(given: Any, known: Sequence[str], what: str, owner: str) -> tuple[dict[str, Any], Any]:
    """Return the `boundary` keyword: the conditions of known names, and that of the rest."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(
            f"boundary is {given!r}, expected a dict of {what}, '*' for the rest: {{'*': 'absorbing'}}"
        )
    named = dict({"*": "absorbing"} if given is None else given)
    rest = named.pop("*", None)
    unknown = [name for name in named if name not in known]
    if unknown:
        raise ArgumentError(f"boundary names {unknown}; {owner} has {list(known)}")
    return named, rest


def no_condition(sides: Sequence[str], more: str) -> str:
    """Return the error message for sides without a condition."""
    listed = ", ".join(repr(name) for name in sides)
    return (
        f"boundary has no condition for {listed}; expected one for each, a word or {more}, "
        "or '*' for the rest"
    )


def own_side(exact: Any, x: np.ndarray) -> np.ndarray:
    """Move nodes (.., node, 3) slightly into their cell or face if the solution jumps at an interface."""
    if not getattr(exact, "discontinuous", False):
        return x
    return np.asarray(x + 1e-9 * (x.mean(axis=-2, keepdims=True) - x))


class OuterData:
    """Values of exact solutions at the outer side of the nodes that need them, and of incident waves.

    Parameters
    ----------
    boundaries : Boundaries
    points : numpy.ndarray
        Nodes of each face (num_face, num_face_node, 3) [m].
    numbers : numpy.ndarray
        Number of each node's boundary (num_face, num_face_node).
    fields : sequence of str
    waves : sequence of (ExactSolution, int)
        Incident waves, whose faces come last, and the number of each one's faces.
    """

    def __init__(
        self,
        boundaries: Boundaries,
        points: np.ndarray,
        numbers: np.ndarray,
        fields: tuple[str, ...],
        waves: Sequence[tuple[ExactSolution, int]] = (),
    ) -> None:
        self._fields, self.num_point = fields, numbers.size
        given = [boundaries.exact.get(name) for name in boundaries.words]
        self._parts = []
        for solution in {id(f): f for f in boundaries.exact.values()}.values():
            at = np.flatnonzero(np.isin(numbers, [i for i, f in enumerate(given) if f is solution]))
            x = own_side(solution, points).reshape(-1, 3)[at]
            self._parts.append((solution, at, x.T[:, None, :]))
        last = len(numbers) - sum(count for _, count in waves)
        for wave, count in waves:
            first, last = last, last + count
            at = np.arange(first * numbers.shape[1], last * numbers.shape[1])
            self._parts.append((wave, at, points[first:last].reshape(-1, 3).T[:, None, :]))

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Return values (num_time, num_point, num_field) at times (num_time,) [s]."""
        values = np.empty((len(times), self.num_point, len(self._fields)))
        for solution, at, x in self._parts:
            most = max(1, _TOGETHER // len(times) if isinstance(solution, ExactSolution) else len(at))
            for first in range(0, len(at), most):
                some = at[first : first + most]
                found = call_at("exact", solution, tuple(x[:, :, first : first + most]), times[:, None])
                columns = field_values(found, self._fields, (len(times), len(some)), "the exact solution")
                for i, field in enumerate(self._fields):
                    values[:, some, i] = columns[field]
        return values
