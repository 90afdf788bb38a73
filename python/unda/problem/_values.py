"""Values of a parameter of a medium: a number, tag names, one value per cell or node, a function.

Not here: the parameters, and checks that involve several of them (medium.py).
Next: medium.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import call_at, number, refuse_text
from .._parallel import ahead
from .._units import plain
from ..errors import ArgumentError
from ._gridded import labelled
from .grid import Block, Grid

Array = NDArray[np.float64]
Function = Callable[[Array, Array, Array], ArrayLike]
Values = float | Mapping[str, float] | ArrayLike | Function


class Nodes:
    """The nodes that a method has in each cell of a mesh, as places of values.

    Attributes
    ----------
    shape : tuple of int
        Cells, nodes of each.
    num_elem, centroids, tags, tag_names
        Of all nodes as if they were cells.
    of : Mesh
    """

    def __init__(self, mesh: Any, degree: int) -> None:
        x = mesh.coordinates(degree)
        self.shape: tuple[int, ...] = x.shape[:2]
        self.num_elem, self.centroids = x.shape[0] * x.shape[1], x.reshape(-1, 3)
        self.tags, self.tag_names = np.repeat(mesh.tags, x.shape[1]), mesh.tag_names
        self.of = mesh


class Rule(NamedTuple):
    """Name of a parameter, and what its values may be: finite, positive, perhaps zero."""

    name: str
    unit: str
    zero: bool = False

    def allows(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Say which values are possible."""
        return np.isfinite(values) & ((values >= 0) if self.zero else (values > 0))

    @property
    def expected(self) -> str:
        """The expected values, for messages."""
        unit = f" [{self.unit}]" if self.unit else ""
        return f"expected finite and {'>= 0' if self.zero else '> 0'}{unit}"

    def number(self, label: str, value: object) -> float:
        """Return a possible number, or raise."""
        value = plain(label, value, self.unit)
        refuse_text(label, value, f"a number [{self.unit}]" if self.unit else "a number")
        try:
            result = number(label, value)
            valid = bool(self.allows(np.array(result)))
        except ArgumentError:
            valid = False
        if not valid:
            raise ArgumentError(f"{label} is {value!r}; {self.expected}")
        return result

    def check(self, values: NDArray[Any], mesh: Any = None) -> tuple[float, float]:
        """Return the lowest and the highest value of an array, or raise if one is impossible.

        Arrays of three axes are gone through by planes, as models are large; the values of a block
        are named by their nodes.
        """
        lows: list[float] = []
        highs: list[float] = []
        count, first = 0, 0
        parts = list(values) if values.ndim == 3 else [values] * bool(values.size)
        extents = (map if values.size < _LARGE else ahead)(_extent, parts)
        for i, (part, (low, high)) in enumerate(zip(parts, extents, strict=True)):
            lows.append(float(low))
            highs.append(float(high))
            if not (self.allows(low) and self.allows(high)):
                bad = np.flatnonzero(~self.allows(part))
                first = first if count else i * part.size + int(bad[0])
                count += len(bad)
        if count:
            at = np.unravel_index(first, mesh.shape if isinstance(mesh, Nodes) else values.shape)
            index = mesh.node(first) if isinstance(mesh, Block) else at
            raise ArgumentError(
                f"{self.name} has {count} bad values among {values.size}, the first is "
                f"{self.name}[{', '.join(str(one) for one in index)}] = {values.flat[first]}; {self.expected}"
            )
        return min(lows, default=np.nan), max(highs, default=np.nan)


class Value:
    """One parameter of a medium; made by `accept`, never changed.

    Attributes
    ----------
    rule : Rule
        Its name, and what its values may be.
    shape : tuple of int
        Of the array; () if the value is not an array.
    """

    shape: tuple[int, ...] = ()
    _given = ""  # how, where the values of cells depend on the mesh

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def on(self, mesh: Any) -> NDArray[Any]:
        """Return the values of the cells of a mesh, or of the nodes of a block, (num_elem,)."""
        raise NotImplementedError

    def at(self, cell: int, mesh: Any) -> float:
        """Return the value of one cell or node; the mesh may be None where it is not needed."""
        if mesh is None:
            raise ArgumentError(f"{self.rule.name} is given {self._given}; expected the mesh as well")
        return float(self.on(_one_cell(mesh, cell))[0])

    def one(self) -> float:
        """Return the only value there is, or raise."""
        raise NotImplementedError

    def times(self, factor: float, rule: Rule) -> Value:
        """Return these values times a factor, as another parameter."""
        raise NotImplementedError

    def to_config(self) -> Any:
        """Return a JSON-able description."""
        raise NotImplementedError

    def refuse_changed(self) -> None:
        """Raise an ArgumentError if an array that was not copied has other values than when it was given."""

    def _several(self, found: str) -> ArgumentError:
        return ArgumentError(f"{self.rule.name} {found}; expected one (a homogeneous medium)")


class Number(Value):
    """The same number everywhere."""

    def __init__(self, rule: Rule, value: float) -> None:
        super().__init__(rule)
        self.value = value

    def on(self, mesh: Any) -> Array:
        return np.full(mesh.num_elem, self.value)

    def at(self, cell: int, mesh: Any) -> float:
        return self.value

    def one(self) -> float:
        return self.value

    def times(self, factor: float, rule: Rule) -> Value:
        return Number(rule, factor * self.value)

    def to_config(self) -> Any:
        return self.value

    def __repr__(self) -> str:
        return repr(self.value)


class ByTag(Value):
    """Numbers by the names of the mesh's tags."""

    _given = "by tag names"

    def __init__(self, rule: Rule, table: dict[str, float]) -> None:
        super().__init__(rule)
        self.table = table

    def on(self, mesh: Any) -> Array:
        name, table = self.rule.name, self.table
        if isinstance(mesh, Block):
            raise ArgumentError(
                f"{name} is given by tag names; a grid has none; expected a number, an array of shape "
                f"{mesh.grid.shape} or a function"
            )
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
            raise ArgumentError(
                f"{name} has no value for {_listed(texts)}; it has values for {_listed(table)}"
            )
        return np.array([value_of[int(tag)] for tag in used])[cell_to_used.ravel()]

    def one(self) -> float:
        found = sorted(set(self.table.values()))
        if len(found) > 1:
            raise self._several(f"has {len(found)} values, from {found[0]} to {found[-1]}")
        return found[0]

    def times(self, factor: float, rule: Rule) -> Value:
        return ByTag(rule, {tag: factor * one for tag, one in self.table.items()})

    def to_config(self) -> Any:
        return self.table

    def __repr__(self) -> str:
        return repr(self.table)


class InArray(Value):
    """An array times a factor, and the extent of the product when the array was given."""

    def __init__(
        self, rule: Rule, values: NDArray[Any], extent: tuple[float, float], factor: float = 1.0
    ) -> None:
        super().__init__(rule)
        self.values, self.shape = values.view(), values.shape
        self.values.setflags(write=False)
        self.low, self.high = extent
        self.factor = factor

    def at(self, cell: int, mesh: Any) -> float:
        if not 0 <= cell < self.values.size:
            raise ArgumentError(f"cell is {cell}; {self.rule.name} has values for 0..{self.values.size - 1}")
        if self.values.ndim == 2:
            raise ArgumentError(f"{self.rule.name} has a value for each node of a cell; expected one")
        return self.factor * float(self.values.flat[cell])

    def __repr__(self) -> str:
        return f"<{self.values.size} values, {self.low:g} to {self.high:g}>"


class ByCell(InArray):
    """One number per cell of the mesh, or per node of each: a private array."""

    of_part = False  # of the cells and ghosts that a process has, not of the whole mesh

    def on(self, mesh: Any) -> Array:
        if isinstance(mesh, Block):
            raise _wrong_shape(self.rule.name, self.values, mesh)
        values = self._here(mesh.of if isinstance(mesh, Nodes) else mesh)
        nodes = isinstance(mesh, Nodes)
        shape: tuple[int, ...] = mesh.shape if nodes else (mesh.num_elem,)
        if nodes and values.shape == shape[:1]:
            return np.repeat(values, shape[1])
        if values.shape != shape:
            what = "node" if nodes else "cell"
            raise ArgumentError(
                f"{self.rule.name} has shape {self.shape}; expected {shape}, one value a {what}"
            )
        return values.ravel()

    def _here(self, mesh: Any) -> NDArray[Any]:
        """Return the rows of a process's cells and ghosts, where the array is of the whole mesh."""
        if self.of_part or self.shape[0] != getattr(mesh, "num_whole", -1):
            return self.values
        return np.asarray(self.values[mesh.global_cells])

    def one(self) -> float:
        found = np.unique(self.values)
        if len(found) != 1:
            raise self._several(f"has {len(found)} values, from {found[0]} to {found[-1]}")
        return float(found[0])

    def times(self, factor: float, rule: Rule) -> Value:
        return ByCell(rule, factor * self.values, (factor * self.low, factor * self.high))

    def to_config(self) -> Any:
        return {"shape": list(self.shape), "sha256": _digest(self.values)}


class ByNode(InArray):
    """One number per node of a grid: the user's array (nx, ny, nz), times a factor.

    Models are large, so the array is copied and converted only block by block. Because others may change
    it, each block is checked again, and a digest detects changes.
    """

    def __init__(
        self, rule: Rule, values: NDArray[Any], extent: tuple[float, float], digest: str, factor: float = 1.0
    ) -> None:
        super().__init__(rule, values, extent, factor)
        self.digest = digest  # of the array when it was given

    def refuse_changed(self) -> None:
        if _digest(self.values) != self.digest:
            raise ArgumentError(
                f"{self.rule.name} has changed since the medium was made of it: its array was written to; "
                "put the old values back, or make another medium of the new ones"
            )

    def on(self, mesh: Any) -> NDArray[Any]:
        if not isinstance(mesh, Block):
            shape, what = (mesh.shape, "node") if isinstance(mesh, Nodes) else ((mesh.num_elem,), "cell")
            raise ArgumentError(
                f"{self.rule.name} has shape {self.values.shape}; expected {shape}, one value a {what} of "
                "the mesh"
            )
        if self.values.shape != mesh.grid.shape:
            raise _wrong_shape(self.rule.name, self.values, mesh)
        part = mesh.of(self.values)
        if self.factor != 1.0:
            part = np.multiply(part, self.factor, dtype=np.float64)
        self.rule.check(part, mesh)
        return part

    def one(self) -> float:
        if self.low != self.high:
            raise self._several(f"has several values, from {self.low} to {self.high}")
        return self.low

    def times(self, factor: float, rule: Rule) -> Value:
        extent = factor * self.low, factor * self.high
        return ByNode(rule, self.values, extent, self.digest, factor * self.factor)

    def to_config(self) -> Any:
        scaled = {} if self.factor == 1.0 else {"factor": self.factor}
        return {"shape": list(self.shape), "sha256": self.digest, **scaled}


class ByPlace(Value):
    """A function of coordinates times a factor."""

    _given = "as a function"

    def __init__(self, rule: Rule, function: Function, factor: float = 1.0) -> None:
        super().__init__(rule)
        self.function, self.factor = function, factor

    def on(self, mesh: Any) -> Array:
        places = np.asarray(mesh.centroids, dtype=np.float64)
        place = [places[:, axis].copy() for axis in range(3)]
        rule = self.rule
        value = call_at(
            rule.name, lambda *at: np.asarray(plain(rule.name, self.function(*at), rule.unit)), place
        )
        if value.ndim == 0:
            value = np.full(len(places), value)
        if value.shape != (len(places),):
            raise ArgumentError(
                f"{self.rule.name}(x, y, z) gave shape {value.shape} for coordinates of shape "
                f"({len(places)},); expected the same"
            )
        column = _real_array(self.rule.name, value)
        if self.factor != 1.0:
            column = self.factor * column
        self.rule.check(column, mesh)
        return column

    def one(self) -> float:
        name = self.rule.name
        raise ArgumentError(f"{name} is a function; expected one number (a homogeneous medium)")

    def times(self, factor: float, rule: Rule) -> Value:
        return ByPlace(rule, self.function, factor * self.factor)

    def to_config(self) -> Any:
        return {"function": self._text()}

    def __repr__(self) -> str:
        return f"<{self._text().rpartition('<locals>.')[2].replace('<lambda>', 'lambda')}>"

    def _text(self) -> str:
        name = str(getattr(self.function, "__qualname__", type(self.function).__name__))
        return name if self.factor == 1.0 else f"{self.factor:.12g} * {name}"


def accept(rule: Rule, value: Values | Value) -> Value:
    """Return what a user gave for a parameter, checked as far as it can be without a mesh.

    Raises
    ------
    ArgumentError
        If it is neither a number, a dict, an array of one to three axes nor a function, or a value
        is impossible.
    """
    if isinstance(value, Value):
        return value
    given: Any = labelled(rule.name, plain(rule.name, value, rule.unit), rule.unit)
    if callable(given):
        return ByPlace(rule, given)
    if isinstance(given, Mapping):
        if not given:
            raise ArgumentError(f"{rule.name} is an empty dict; expected tag names and values")
        table = {str(tag): rule.number(f"{rule.name}[{tag!r}]", one) for tag, one in given.items()}
        return ByTag(rule, table)
    try:
        single = np.ndim(given) == 0
    except ValueError:
        raise ArgumentError(f"{rule.name} has rows of different lengths; {ARRAYS}") from None
    if single:
        return Number(rule, rule.number(rule.name, given))
    array = _real_array(rule.name, given)
    extent = rule.check(array)
    return ByCell(rule, array, extent) if array.ndim < 3 else ByNode(rule, array, extent, _digest(array))


_LARGE = 2**20  # number of values below which starting threads takes longer than it saves


def _extent(values: NDArray[Any]) -> tuple[Any, Any]:
    return values.min(), values.max()  # NaN if one is


ARRAYS = "expected real numbers, one a cell, (num_elem, num_node) with per='node', (nx, ny, nz) on a grid"


def _real_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return a private array of float64 (n,) or (n, m), or the given one (nx, ny, nz) as it is."""
    if np.ma.isMaskedArray(value):
        raise ArgumentError(f"{name} is a masked array; {ARRAYS}, with nothing masked")
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 2, 3) or (array.ndim > 1 and array.size == 0):
        raise ArgumentError(f"{name} is an array of {array.dtype} of shape {array.shape}; {ARRAYS}")
    return array if array.ndim == 3 else np.array(array, dtype=np.float64)


def _wrong_shape(name: str, values: NDArray[Any], block: Block) -> ArgumentError:
    return ArgumentError(
        f"{name} has shape {values.shape}; expected {block.grid.shape}, one value a node of the grid"
    )


def _one_cell(mesh: Any, cell: int) -> Any:
    """Return the mesh or grid that a medium sees, reduced to one cell or node."""
    grid = isinstance(mesh, Grid)
    num, what = (mesh.num_node, "grid has nodes") if grid else (mesh.num_elem, "mesh has cells")
    if not 0 <= cell < num:
        raise ArgumentError(f"cell is {cell}; the {what} 0..{num - 1}")
    if grid:
        return Block(mesh, cell, cell + 1)
    one = slice(cell, cell + 1)
    tags, centroids = np.asarray(mesh.tags)[one], np.asarray(mesh.centroids)[one]
    return SimpleNamespace(num_elem=1, tag_names=mesh.tag_names, tags=tags, centroids=centroids)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def _digest(values: NDArray[Any]) -> str:
    from hashlib import sha256

    # a hash of the hashes of planes, which threads compute: large models would take minutes otherwise
    planes = values if values.ndim == 3 else [values]
    hashes = (map if values.size < _LARGE else ahead)(lambda part: sha256(part.tobytes()).digest(), planes)
    return sha256(b"".join(hashes)).hexdigest()
