"""Media: what a wave travels through, cell by cell.

Not here: meshes (mesh.py), the equations (cuda/physics/*.h).
Next: source.py, which needs a medium to scale what it injects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import number
from .errors import ArgumentError

__all__ = ["Acoustic", "Medium"]

Array = NDArray[np.float64]
Values = float | Mapping[str, float] | ArrayLike | Callable[[Array, Array, Array], ArrayLike]


class Medium:
    """What all media share; use a subclass such as `Acoustic`.

    Each parameter is given as a number, as a dict from tag names of the mesh to numbers, as an
    array with one value a cell (in the order of ``mesh.cells``) or as a function f(x, y, z) of
    coordinate arrays [m], called with the centroids of the cells.

    Attributes
    ----------
    physics : str
        Name of the equations.
    fields : tuple of str
        Names of the fields, in the order of the state.
    units : dict of str to str
        Unit of each field.
    field_groups : dict of str to tuple of str
        Fields that belong together, whose norms are added.
    parameters : dict of str to str
        Units of the medium's parameters, in the order of the columns of `on`.
    """

    physics: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    units: ClassVar[dict[str, str]]
    field_groups: ClassVar[dict[str, tuple[str, ...]]]
    parameters: ClassVar[dict[str, str]]

    def __init__(self, **values: Values) -> None:
        self._values = {name: self._accept(name, value) for name, value in values.items()}

    def on(self, mesh: Any) -> Array:
        """Return the parameters of each cell of a mesh.

        Parameters
        ----------
        mesh : Mesh
            With ``num_elem``, ``centroids``, ``tags`` and ``tag_names``.

        Returns
        -------
        ndarray, shape (num_elem, num_parameters)
            In the order of `parameters`, in their units.

        Raises
        ------
        ArgumentError
            If a value is not finite or not positive, an array has the wrong length, or the tag
            names are not those of the mesh.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
        >>> unda.Acoustic(rho=1000.0, c=1500.0).on(mesh)[0]
        array([1000., 1500.])
        """
        columns = [self._column(name, mesh) for name in self.parameters]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    def at(self, cell: int, mesh: Any = None) -> dict[str, float]:
        """Return the parameters of one cell; tag names and functions need the mesh.

        Parameters
        ----------
        cell : int
            Number of the cell.
        mesh : Mesh, optional
            May be omitted where every parameter is a number or an array.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ArgumentError
            If the mesh is needed, or has no such cell.

        Examples
        --------
        >>> import unda
        >>> unda.Acoustic(rho=1000.0, c=[1500.0, 1600.0]).at(1)
        {'rho': 1000.0, 'c': 1600.0}
        """
        return {name: self._at(name, cell, mesh) for name in self.parameters}

    def scalar(self) -> dict[str, float]:
        """Return the parameters of a homogeneous medium.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ArgumentError
            If a parameter has more than one value, or is a function.

        Examples
        --------
        >>> import unda
        >>> unda.Acoustic(rho=1000.0, c=1500.0).scalar()
        {'rho': 1000.0, 'c': 1500.0}
        """
        return {name: self._one_value(name) for name in self.parameters}

    def speed_max(self, mesh: Any) -> float:
        """Return the speed [m/s] of the fastest wave anywhere on a mesh."""
        return float(self._speeds(self.on(mesh)).max())

    def speed_min(self, mesh: Any) -> float:
        """Return the speed [m/s] of the slowest wave anywhere on a mesh."""
        return float(self._speeds(self.on(mesh)).min())

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able description: numbers and tags as given, arrays by shape and hash."""
        described = {name: _describe(value) for name, value in self._values.items()}
        return {"type": type(self).__name__, **described}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_short(value)}" for name, value in self._values.items())
        return f"unda.{type(self).__name__}({values})"

    def _speeds(self, values: Array) -> Array:
        """Speeds of all waves, any shape, from the array of `on`."""
        raise NotImplementedError

    def _allowed(self, name: str, values: Array) -> NDArray[np.bool_]:
        return np.isfinite(values) & (values > 0.0)

    def _expected(self, name: str) -> str:
        return f"expected finite and > 0 [{self.parameters[name]}]"

    def _accept(self, name: str, value: Values) -> Any:
        """Return a number, a dict, a private array or a function, checked as far as it can be."""
        if callable(value):
            return value
        if isinstance(value, Mapping):
            if not value:
                raise ArgumentError(f"{name} is an empty dict; expected tag names and values")
            return {str(tag): self._accept_number(f"{name}[{tag!r}]", name, one)
                    for tag, one in value.items()}  # fmt: skip
        if np.ndim(cast(ArrayLike, value)) == 0:
            return self._accept_number(name, name, value)
        array = _real_array(name, cast(ArrayLike, value))
        self._check(name, array)
        array.setflags(write=False)
        return array

    def _accept_number(self, label: str, name: str, value: object) -> float:
        try:
            result = number(label, value)
            valid = bool(self._allowed(name, np.array([result]))[0])
        except ArgumentError:
            valid = False
        if not valid:
            raise ArgumentError(f"{label} is {value!r}; {self._expected(name)}")
        return result

    def _check(self, name: str, values: Array) -> None:
        bad = np.flatnonzero(~self._allowed(name, values))
        if len(bad):
            found = f"the first is {name}[{bad[0]}] = {values[bad[0]]}"
            raise ArgumentError(
                f"{name} has {len(bad)} bad values among {len(values)}, {found}; {self._expected(name)}"
            )

    def _column(self, name: str, mesh: Any) -> Array:
        value = self._values[name]
        if isinstance(value, float):
            return np.full(mesh.num_elem, value)
        if isinstance(value, dict):
            return _by_tag(name, value, mesh)
        if callable(value):
            column = _evaluate(name, value, np.asarray(mesh.centroids, dtype=np.float64))
            self._check(name, column)
            return column
        _check_length(name, value, mesh.num_elem)
        return value

    def _at(self, name: str, cell: int, mesh: Any) -> float:
        value = self._values[name]
        if isinstance(value, float):
            return value
        if isinstance(value, np.ndarray):
            if not 0 <= cell < len(value):
                raise ArgumentError(f"cell is {cell}; {name} has values for 0..{len(value) - 1}")
            return float(value[cell])
        if mesh is None:
            given = "by tag names" if isinstance(value, dict) else "as a function"
            raise ArgumentError(f"{name} is given {given}; expected the mesh as well")
        return float(self._column(name, _OneCell(mesh, cell))[0])

    def _one_value(self, name: str) -> float:
        value = self._values[name]
        if callable(value):
            raise ArgumentError(f"{name} is a function; expected one number (a homogeneous medium)")
        if isinstance(value, float):
            return value
        found = np.unique(list(value.values()) if isinstance(value, dict) else value)
        if len(found) != 1:
            raise ArgumentError(
                f"{name} has {len(found)} values, from {found[0]} to {found[-1]}; expected one "
                "(a homogeneous medium)"
            )
        return float(found[0])


class Acoustic(Medium):
    """A fluid: density and speed of sound.

    The equations are p_t + rho c^2 div v = 0, rho v_t + grad p = 0.

    Parameters
    ----------
    rho : float, dict of str to float, array_like or callable
        Density [kg/m3].
    c : float, dict of str to float, array_like or callable
        Speed of sound [m/s].

    Raises
    ------
    ArgumentError
        If a value is not finite or not positive.

    Examples
    --------
    >>> import unda
    >>> unda.Acoustic(rho=1000.0, c=1500.0)
    unda.Acoustic(rho=1000.0, c=1500.0)
    >>> layers = unda.Acoustic(rho={"sea": 1000.0, "mud": 1700.0}, c={"sea": 1500.0, "mud": 1600.0})
    >>> deep = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 - 0.017 * z)
    """

    physics = "acoustic"
    fields = ("p", "vx", "vy", "vz")
    units: ClassVar[dict[str, str]] = {"p": "Pa", "vx": "m/s", "vy": "m/s", "vz": "m/s"}
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("p",), "v": ("vx", "vy", "vz")}
    parameters: ClassVar[dict[str, str]] = {"rho": "kg/m3", "c": "m/s"}

    def __init__(self, *, rho: Values, c: Values) -> None:
        super().__init__(rho=rho, c=c)

    def _speeds(self, values: Array) -> Array:
        return values[:, 1]


class _OneCell:
    """The mesh that a medium sees, reduced to one cell."""

    def __init__(self, mesh: Any, cell: int) -> None:
        if not 0 <= cell < mesh.num_elem:
            raise ArgumentError(f"cell is {cell}; the mesh has cells 0..{mesh.num_elem - 1}")
        self.num_elem = 1
        self.tag_names = mesh.tag_names
        self.tags = np.asarray(mesh.tags)[cell : cell + 1]
        self.centroids = np.asarray(mesh.centroids)[cell : cell + 1]


def _real_array(name: str, value: ArrayLike) -> Array:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        raise ArgumentError(
            f"{name} is an array of {array.dtype} of shape {array.shape}; expected real numbers, one a cell"
        )
    return np.array(array, dtype=np.float64)


def _check_length(name: str, values: Array, num_elem: int) -> None:
    if len(values) != num_elem:
        raise ArgumentError(f"{name} has {len(values)} values; expected {num_elem}, one a cell")


def _by_tag(name: str, table: dict[str, float], mesh: Any) -> Array:
    numbers = {tag: int(mesh.tag_names[tag]) for tag in table if tag in mesh.tag_names}
    unknown = sorted(set(table) - set(numbers))
    if unknown:
        raise ArgumentError(
            f"{name} names unknown tags {_listed(unknown)}; the mesh has {_listed(mesh.tag_names)}"
        )
    used, cell_to_used = np.unique(np.asarray(mesh.tags), return_inverse=True)
    value_of = {numbers[tag]: value for tag, value in table.items()}
    missing = [int(tag) for tag in used if int(tag) not in value_of]
    if missing:
        names = {int(tag): text for text, tag in mesh.tag_names.items()}
        texts = [names.get(tag, f"unnamed tag {tag}") for tag in missing]
        raise ArgumentError(f"{name} has no value for {_listed(texts)}; it has values for {_listed(table)}")
    return np.array([value_of[int(tag)] for tag in used])[cell_to_used.ravel()]


def _evaluate(name: str, function: Callable[..., ArrayLike], centroids: Array) -> Array:
    value = np.asarray(function(*(centroids[:, axis].copy() for axis in range(3))))
    if value.ndim == 0:
        value = np.full(len(centroids), value)
    if value.shape != (len(centroids),):
        raise ArgumentError(
            f"{name}(x, y, z) gave shape {value.shape} for coordinates of shape "
            f"({len(centroids)},); expected the same"
        )
    return _real_array(name, value)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{len(value)} values, {value.min():g} to {value.max():g}>"
    return f"<{_name_of(value)}>" if callable(value) else repr(value)


def _describe(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        from hashlib import sha256

        return {"shape": list(value.shape), "sha256": sha256(value.tobytes()).hexdigest()}
    return {"function": _name_of(value)} if callable(value) else value


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))
