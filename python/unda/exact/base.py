"""The base of exact solutions: the call with broadcasting, binding to a mesh, repr, configuration.

Not here: any formula.
Next: plane.py, box.py, pulse.py, point.py, interface.py.
"""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import of_type
from .._units import plain
from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import Source
from ..problem.timefunction import TimeFunction
from ..problem.timefunction import from_config as time_function_from_config

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


class ExactSolution:
    """A solution of the wave equations in closed form, called with places and times.

    Attributes
    ----------
    medium : Medium
        The medium of the solution.
    fields : tuple of str
        The fields it gives, those of the medium.
    singular : bool
        True if a field is infinite somewhere, so that only `rec.misfit` can use the solution.
    discontinuous : bool
        True if a field jumps at a material interface. Nodes on it must then be evaluated a little
        inside their element.
    constant_along : tuple of str or None
        The axes along which what makes the wave extends: () of a point, ("y",) of a line; None where that
        does not matter, as of a plane wave.

    Examples
    --------
    >>> import unda
    >>> wave = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(1.0, 0.0, 0.0))
    >>> {field: round(float(value), 6) for field, value in wave(1.0, 0.0, 0.0, 0.0).items()}
    {'p': 0.841471, 'vx': 0.841471, 'vy': 0.0, 'vz': 0.0}
    """

    physics: ClassVar[str]
    name: ClassVar[str]  # of the function in unda.exact that returns it
    singular: ClassVar[bool] = False
    discontinuous: bool = False
    constant_along: tuple[str, ...] | None = None
    _kinds: ClassVar[dict[tuple[str, str], type[ExactSolution]]] = {}

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "name"):  # classes without a name are bases of several solutions
            cls._kinds[cls.name, cls.physics] = cls

    def __init__(self, medium: Medium, **arguments: Any) -> None:
        self.medium = medium
        self.fields = medium.fields
        self._arguments = {key: value for key, value in arguments.items() if value is not None}

    def __call__(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, t: ArrayLike) -> dict[str, Array]:
        """Return every field at places x, y, z [m] and times t [s], which are broadcast.

        Returns
        -------
        dict of str to ndarray
            float64 arrays of the broadcast shape, in the units of ``medium.units``.

        Raises
        ------
        ArgumentError
            If the shapes cannot be broadcast.
        """
        arrays, shape = together(x=x, y=y, z=z, t=t)
        values = self._evaluate(*arrays)
        return {field: np.array(np.broadcast_to(values[field], shape)) for field in self.fields}

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        raise NotImplementedError

    def bind(self, mesh: Any) -> ExactSolution:
        """Return the solution with what it takes from a mesh, such as walls; by default itself."""
        return self

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes the same solution.

        Raises
        ------
        ArgumentError
            If a plain callable is part of it.
        """
        encoded = {key: _encode(key, value) for key, value in self._arguments.items()}
        return {"type": self.name, "medium": _encode("medium", self.medium), **encoded}

    def __repr__(self) -> str:
        parts = [repr(self.medium)]
        parts += [f"{key}={_readable(value)}" for key, value in self._arguments.items()]
        return f"unda.exact.{self.name}({', '.join(parts)})"


def together(**values: ArrayLike) -> tuple[list[Array], tuple[int, ...]]:
    """Return x, y, z [m] and t [s] as arrays, and the shape to which they broadcast; raise if they do not."""
    arrays = [
        np.asarray(plain(name, one, "s" if name == "t" else "m"), dtype=np.float64)
        for name, one in values.items()
    ]
    try:
        return arrays, np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        found = ", ".join(str(array.shape) for array in arrays)
        raise ArgumentError(f"{', '.join(values)} have shapes {found}, which do not broadcast") from None


def solution_class(name: str, medium: Medium) -> Any:
    """Return the class that solves `name` in this kind of medium; raise if there is none."""
    if not isinstance(medium, Medium):
        raise ArgumentError(f"medium is {medium!r}; expected a medium such as unda.Acoustic")
    found = ExactSolution._kinds.get((name, medium.physics))
    if found is None:
        known = [physics for kind, physics in ExactSolution._kinds if kind == name]
        raise ArgumentError(
            f"unda.exact.{name} is known for {' and '.join(known)} media; the medium is {medium.physics}"
        )
    return found


def make_solution(name: str, given: dict[str, Any]) -> Any:
    """Make the solution `name` from all arguments of the function that users call, the medium first.

    Arguments that are None are left to the defaults of the class.
    """
    (_, medium), *others = given.items()
    arguments = dict(others)
    make = solution_class(name, medium)
    known: dict[str, Parameter] = {}
    for kind in reversed(make.__mro__[:-1]):  # includes the arguments that the class passes on to its bases
        known |= signature(kind.__init__).parameters
    unknown = [key for key, value in arguments.items() if key not in known and value is not None]
    if unknown:
        raise ArgumentError(f"unda.exact.{name} got {unknown[0]}; it takes none for {medium.physics} media")
    taken = {
        key: value for key, value in arguments.items()
        if key in known and (value is not None or known[key].default is Parameter.empty)
    }  # fmt: skip
    return make(medium, **taken)


def from_config(config: dict[str, Any]) -> ExactSolution:
    """Make an exact solution from what its `to_config` gave.

    Parameters
    ----------
    config : dict
        A dict with the keys ``"type"`` and ``"medium"``.

    Returns
    -------
    ExactSolution

    Raises
    ------
    ArgumentError
        If the type is unknown.

    Examples
    --------
    >>> import unda
    >>> wave = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(1.0, 0.0, 0.0))
    >>> unda.exact.from_config(wave.to_config()).to_config() == wave.to_config()
    True
    """
    name, given = of_type("exact solution", config, {name: name for name, _ in ExactSolution._kinds})
    arguments = {"medium": given.pop("medium"), **given}
    made: ExactSolution = make_solution(name, {key: _decode(value) for key, value in arguments.items()})
    return made


def _readable(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)


def _encode(key: str, value: Any) -> Any:
    if isinstance(value, Medium):
        return {"type": type(value).__name__, **value.scalar()}
    if isinstance(value, (TimeFunction, Source)):
        return value.to_config()
    if callable(value):
        raise ArgumentError(f"{key} is a plain callable and cannot be saved; unda.sampled can")
    if isinstance(value, dict):
        return {name: _encode(name, one) for name, one in value.items()}
    return [_encode(key, one) for one in value] if isinstance(value, tuple) else value


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(one) for one in value]
    if not isinstance(value, dict) or "type" not in value:
        return value
    parameters = {key: one for key, one in value.items() if key != "type"}
    for kind in Medium.__subclasses__():
        if value["type"] == kind.__name__:
            return kind(**parameters)
    if value["type"] in Source._kinds:
        return Source.from_config(value)
    return time_function_from_config(value)
