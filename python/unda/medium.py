"""Media: what a wave travels through, cell by cell or node by node.

Not here: meshes (mesh.py), grids (grid.py), files (model_file.py), the equations (cuda/physics/*.h).
Next: source.py, which needs a medium to scale what it injects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._check import number
from .errors import ArgumentError
from .grid import Block, Grid

__all__ = ["EPS0", "MU0", "Acoustic", "Elastic", "Maxwell", "Medium"]

_LIGHT = 299792458.0  # [m/s]
MU0 = 1.25663706127e-6  # [H/m], CODATA 2022 (Mohr et al. 2025)
EPS0 = 1.0 / (MU0 * _LIGHT**2)  # [F/m], CODATA's 8.8541878188e-12; light has its exact speed

Array = NDArray[np.float64]
Values = float | Mapping[str, float] | ArrayLike | Callable[[Array, Array, Array], ArrayLike]


class Derived(NamedTuple):
    """What receivers make of the fields: a sum of terms (factor, field, derivative).

    The derivative is 0 for the field itself, 1, 2, 3 for its derivative along x, y, z.
    """

    unit: str
    terms: tuple[tuple[float, str, int], ...]


def _div_and_curl(x: str, y: str, z: str, unit: str) -> dict[str, Derived]:
    """Return divergence and curl of a vector field."""
    return {
        "divergence": Derived(unit, ((1.0, x, 1), (1.0, y, 2), (1.0, z, 3))),
        "curl_x": Derived(unit, ((1.0, z, 2), (-1.0, y, 3))),
        "curl_y": Derived(unit, ((1.0, x, 3), (-1.0, z, 1))),
        "curl_z": Derived(unit, ((1.0, y, 1), (-1.0, x, 2))),
    }


class Medium:
    """What all media share; use a subclass such as `Acoustic`.

    Each parameter is given as a number, as a dict from tag names of the mesh to numbers, as an
    array with one value a cell (in the order of ``mesh.cells``) or as a function f(x, y, z) of
    coordinate arrays [m], called with the centroids of the cells.

    On a grid arrays have its shape (nx, ny, nz), functions are called with the nodes, block by
    block, and there are no tags. Such arrays stay float32 if they are, and a memory map opened for
    reading is used as it is; all others are copied.

    Attributes
    ----------
    physics : str
        Name of the equations.
    fields : tuple of str
        Names of the fields, in the order of the state.
    units : dict of str to str
        Unit of each field.
    derived : dict of str to Derived
        What else can be recorded and sampled at points, made of fields and their derivatives.
    field_groups : dict of str to tuple of str
        Fields that belong together, whose norms are added.
    parameters : dict of str to str
        Units of the medium's parameters, in the order of the columns of `on`.
    boundaries : tuple of str
        Conditions that its equations know at a boundary.
    """

    physics: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    units: ClassVar[dict[str, str]]
    derived: ClassVar[dict[str, Derived]]
    field_groups: ClassVar[dict[str, tuple[str, ...]]]
    parameters: ClassVar[dict[str, str]]
    boundaries: ClassVar[tuple[str, ...]]

    def __init__(self, **values: Values) -> None:
        self._values = {name: self._accept(name, value) for name, value in values.items()}

    @property
    def traces(self) -> dict[str, str]:
        """Unit of everything that can be recorded: the fields, then what is derived of them."""
        return {**self.units, **{name: one.unit for name, one in self.derived.items()}}

    def on(self, mesh: Any) -> Array:
        """Return the parameters of each cell of a mesh, or of each node of a grid.

        Parameters
        ----------
        mesh : Mesh, Grid or Block
            A mesh with ``num_elem``, ``centroids``, ``tags`` and ``tag_names``; a grid, or one of
            its blocks where the whole would not fit into memory.

        Returns
        -------
        ndarray, shape (num_elem, num_parameters)
            In the order of `parameters`, in their units; nodes of a grid in C order.

        Raises
        ------
        ArgumentError
            If a value is not finite or not positive, an array has the wrong shape, or the tag
            names are not those of the mesh.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
        >>> unda.Acoustic(rho=1000.0, c=1500.0).on(mesh)[0]
        array([1000., 1500.])
        """
        if not isinstance(mesh, Grid):
            return self._table(mesh)
        values = np.empty((mesh.num_node, len(self.parameters)))
        for block in mesh.blocks():
            values[block.begin : block.end] = self._table(block)
        return values

    def at(self, cell: int, mesh: Any = None) -> dict[str, float]:
        """Return the parameters of one cell; tag names and functions need the mesh.

        Parameters
        ----------
        cell : int
            Number of the cell.
        mesh : Mesh or Grid, optional
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
        """Return the speed [m/s] of the fastest wave anywhere on a mesh or grid."""
        return max(float(self._speeds(self._table(part)).max()) for part in _parts(mesh))

    def speed_min(self, mesh: Any) -> float:
        """Return the speed [m/s] of the slowest wave anywhere on a mesh or grid."""
        return min(float(self._speeds(self._table(part)).min()) for part in _parts(mesh))

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able description: numbers and tags as given, arrays by shape and hash."""
        described = {name: _describe(value) for name, value in self._values.items()}
        return {"type": type(self).__name__, **described}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_short(value)}" for name, value in self._values.items())
        return f"unda.{type(self).__name__}({values})"

    def _table(self, mesh: Any) -> Array:
        """Return what `on` does, of a mesh or a block of a grid."""
        columns = [self._column(name, mesh) for name in self.parameters]
        return np.ascontiguousarray(np.stack(columns, axis=1), dtype=np.float64)

    def _speeds(self, values: Array) -> Array:
        """Speeds of all waves, shape (.., num_elem), from the array of `on`."""
        raise NotImplementedError

    def _wavelengths(self, values: Array, f: float) -> Array:
        """Shortest wavelength [m] at a frequency [Hz] in each cell, from the array of `on`."""
        return np.asarray(self._speeds(values).reshape(-1, len(values)).min(axis=0) / f)

    def _check_state(self, values: Array, q: NDArray[Any], coordinates: Array) -> None:
        """Raise if a state (num_elem, num_node, num_field) cannot be one of this medium."""

    def _loss_rates(self, values: Array) -> Array:
        """Part of themselves that fields lose in each cell by absorption in the medium [1/s]."""
        return np.zeros(len(values))

    def _questions(self, values: Array, size: float) -> list[str]:
        """Say what looks like mixed units, on a mesh of that size [m]; for `DG.check`."""
        return []

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
        if array.flags.writeable:
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

    def _check(self, name: str, values: Array, mesh: Any = None) -> None:
        count, first = 0, 0
        for i, part in enumerate(values if values.ndim == 3 else [values]):  # models are large: by planes
            bad = np.flatnonzero(~self._allowed(name, part))
            if len(bad) and not count:
                first = i * part.size + int(bad[0])
            count += len(bad)
        if count:
            at = mesh.node(first) if isinstance(mesh, Block) else np.unravel_index(first, values.shape)
            found = f"{name}[{', '.join(str(index) for index in at)}] = {values.flat[first]}"
            raise ArgumentError(
                f"{name} has {count} bad values among {values.size}, the first is {found}; "
                f"{self._expected(name)}"
            )

    def _column(self, name: str, mesh: Any) -> Array:
        value = self._values[name]
        if isinstance(value, float):
            return np.full(mesh.num_elem, value)
        if isinstance(value, dict):
            return _by_tag(name, value, mesh)
        if callable(value):
            column = _evaluate(name, value, np.asarray(mesh.centroids, dtype=np.float64))
            self._check(name, column, mesh)
            return column
        _check_shape(name, value, mesh)
        return mesh.of(value) if isinstance(mesh, Block) else value

    def _at(self, name: str, cell: int, mesh: Any) -> float:
        value = self._values[name]
        if isinstance(value, float):
            return value
        if isinstance(value, np.ndarray):
            if not 0 <= cell < value.size:
                raise ArgumentError(f"cell is {cell}; {name} has values for 0..{value.size - 1}")
            return float(value[np.unravel_index(cell, value.shape)])
        if mesh is None:
            given = "by tag names" if isinstance(value, dict) else "as a function"
            raise ArgumentError(f"{name} is given {given}; expected the mesh as well")
        return float(self._column(name, _one_cell(mesh, cell))[0])

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

    The equations are p_t + rho c^2 div v = 0, rho v_t + grad p = 0. Receivers also know "divergence",
    "curl_x", "curl_y" and "curl_z" of v [1/s].

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
    derived: ClassVar[dict[str, Derived]] = _div_and_curl("vx", "vy", "vz", "1/s")
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("p",), "v": ("vx", "vy", "vz")}
    parameters: ClassVar[dict[str, str]] = {"rho": "kg/m3", "c": "m/s"}
    boundaries = ("absorbing", "rigid", "free")

    def __init__(self, *, rho: Values, c: Values) -> None:
        super().__init__(rho=rho, c=c)

    def _speeds(self, values: Array) -> Array:
        return values[:, 1]

    def _questions(self, values: Array, size: float) -> list[str]:
        return _mechanical_questions(values[:, 0], values[:, 1], size)


class Elastic(Medium):
    """An isotropic solid, or a fluid where vs = 0: density and speeds of P and S waves.

    The equations are rho v_t = div sigma, sigma_t = lambda (div v) I + mu (grad v + grad v^T) with
    mu = rho vs^2, lambda = rho (vp^2 - 2 vs^2). Receivers also know "pressure", -tr(sigma)/3 [Pa], and
    "divergence", "curl_x", "curl_y" and "curl_z" of v [1/s]: P waves are in the first, S waves in the
    others.

    Parameters
    ----------
    rho : float, dict of str to float, array_like or callable
        Density [kg/m3].
    vp : float, dict of str to float, array_like or callable
        Speed of P waves [m/s].
    vs : float, dict of str to float, array_like or callable
        Speed of S waves [m/s]; 0 is a fluid.

    Raises
    ------
    ArgumentError
        If a value is not finite, rho or vp not positive, vs negative, or the bulk modulus
        lambda + 2 mu/3 not positive (vp^2 <= 4/3 vs^2); the latter is found as soon as the values
        of a cell are known, in `on` at the latest.

    Examples
    --------
    >>> import unda
    >>> unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0)
    unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0)
    >>> seabed = unda.Elastic(rho={"sea": 1000.0, "rock": 2500.0}, vp={"sea": 1500.0, "rock": 4000.0},
    ...                       vs={"sea": 0.0, "rock": 2300.0})
    """

    physics = "elastic"
    fields = ("vx", "vy", "vz", "sxx", "syy", "szz", "syz", "sxz", "sxy")
    units: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
        **dict.fromkeys(("sxx", "syy", "szz", "syz", "sxz", "sxy"), "Pa"),
    }
    derived: ClassVar[dict[str, Derived]] = {
        "pressure": Derived("Pa", tuple((-1.0 / 3.0, name, 0) for name in ("sxx", "syy", "szz"))),
        **_div_and_curl("vx", "vy", "vz", "1/s"),
    }
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"v": fields[:3], "s": fields[3:]}
    parameters: ClassVar[dict[str, str]] = {"rho": "kg/m3", "vp": "m/s", "vs": "m/s"}
    boundaries = ("absorbing", "free", "fixed", "symmetry")

    def __init__(self, *, rho: Values, vp: Values, vs: Values) -> None:
        super().__init__(rho=rho, vp=vp, vs=vs)
        for where, fast, slow in _known_pairs(self._values["vp"], self._values["vs"]):
            _check_bulk_modulus(where, fast, slow)

    def _table(self, mesh: Any) -> Array:
        values = super()._table(mesh)
        _check_bulk_modulus(lambda i: _place(mesh, i), values[:, 1], values[:, 2])
        return values

    def _allowed(self, name: str, values: Array) -> NDArray[np.bool_]:
        return np.isfinite(values) & ((values >= 0.0) if name == "vs" else (values > 0.0))

    def _expected(self, name: str) -> str:
        return f"expected finite and {'>= 0' if name == 'vs' else '> 0'} [{self.parameters[name]}]"

    def _speeds(self, values: Array) -> Array:
        vp, vs = values[:, 1], values[:, 2]
        return np.stack([vp, np.where(vs > 0.0, vs, vp)])

    def _check_state(self, values: Array, q: NDArray[Any], coordinates: Array) -> None:
        fluid = np.flatnonzero(values[:, 2] == 0.0)
        stress = q[fluid, :, 3:].astype(np.float64)
        mean = stress[..., :3].mean(axis=-1, keepdims=True)
        deviatoric = np.abs(np.concatenate([stress[..., :3] - mean, stress[..., 3:]], axis=-1)).max(axis=-1)
        # What rounding leaves, with room for the sums of an exact solution.
        bearable = np.finfo(q.dtype).eps ** (2 / 3) * float(np.abs(q[..., 3:]).max(initial=0.0))
        bad = np.argwhere(deviatoric > bearable)
        if len(bad):
            (i, node), cells = bad[0], len(np.unique(bad[:, 0]))
            place = tuple(float(x) for x in coordinates[fluid[i], node])
            raise ArgumentError(
                f"stress has a deviatoric part of {deviatoric[i, node]:.3g} Pa at {place} m in cell "
                f"{fluid[i]} ({cells} such cells), a fluid (vs = 0), which bears no shear; expected "
                "sxx = syy = szz and syz = sxz = sxy = 0"
            )

    def _questions(self, values: Array, size: float) -> list[str]:
        questions = _mechanical_questions(values[:, 0], values[:, 1], size)
        vp, vs = values[:, 1], values[:, 2]
        soft = np.flatnonzero((vs > 0.0) & (vs < 1e-2 * vp))
        if len(soft):
            questions.append(
                f"vs is {vs[soft[0]]:.3g} m/s beside vp = {vp[soft[0]]:.3g} m/s in cell {soft[0]} "
                f"({len(soft)} such cells): is that a fluid? Its vs is 0"
            )
        return questions


class Maxwell(Medium):
    """A dielectric, magnetic or conducting material, isotropic.

    The equations are eps E_t = curl H - sigma E, mu H_t = -curl E. Give eps and mu in SI units, or
    relative to vacuum. With nothing given, eps = mu = 1: lengths over times are then in units of the
    speed of light. Receivers also know "divergence", "curl_x", "curl_y" and "curl_z" of E [V/m2].

    Parameters
    ----------
    eps, mu : float, dict of str to float, array_like or callable, optional
        Permittivity [F/m] and permeability [H/m].
    eps_r, mu_r : float, dict of str to float, array_like or callable, optional
        The same relative to vacuum: eps = `unda.EPS0` eps_r, mu = `unda.MU0` mu_r. If only one of
        them is given, the other is 1.
    sigma : float, dict of str to float, array_like or callable
        Conductivity [S/m]. It takes its share of the stable time step: dt <= 4.6 eps/sigma with
        `lsrk4`, 6/11 eps/sigma with `ab3`, less what the waves need; a larger dt is refused. In metals
        (copper: 7e-19 s) a "pec" boundary is what is wanted; `DG.check` says where.

    Raises
    ------
    ArgumentError
        If a value is not finite, eps or mu is not positive or sigma is negative, or absolute and
        relative values are given together.

    Examples
    --------
    >>> import unda
    >>> unda.Maxwell(eps=2.0)
    unda.Maxwell(eps=2.0, mu=1.0, sigma=0.0)
    >>> glass = unda.Maxwell(eps_r={"air": 1.0, "glass": 2.25})
    >>> unda.Maxwell(eps_r=1.0).scalar()["mu"] == unda.MU0
    True
    """

    physics = "maxwell"
    fields = ("ex", "ey", "ez", "hx", "hy", "hz")
    units: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("ex", "ey", "ez"), "V/m"),
        **dict.fromkeys(("hx", "hy", "hz"), "A/m"),
    }
    derived: ClassVar[dict[str, Derived]] = _div_and_curl("ex", "ey", "ez", "V/m2")
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"E": ("ex", "ey", "ez"), "H": ("hx", "hy", "hz")}
    parameters: ClassVar[dict[str, str]] = {"eps": "F/m", "mu": "H/m", "sigma": "S/m"}
    boundaries = ("absorbing", "pec", "pmc")

    def __init__(
        self,
        *,
        eps: Values | None = None,
        mu: Values | None = None,
        eps_r: Values | None = None,
        mu_r: Values | None = None,
        sigma: Values = 0.0,
    ) -> None:
        given = {"eps": eps, "mu": mu, "eps_r": eps_r, "mu_r": mu_r}
        names = [name for name, value in given.items() if value is not None]
        if {"eps", "mu"} & set(names) and {"eps_r", "mu_r"} & set(names):
            raise ArgumentError(
                f"got {' and '.join(names)}; expected absolute values or relative ones, not both"
            )
        in_si = eps_r is not None or mu_r is not None
        super().__init__(
            eps=self._absolute("eps", eps, eps_r, EPS0 if in_si else 1.0),
            mu=self._absolute("mu", mu, mu_r, MU0 if in_si else 1.0),
            sigma=sigma,
        )

    def _absolute(self, name: str, absolute: Values | None, relative: Values | None, unit: float) -> Values:
        """Return one quantity in SI units; `unit` where it is not given at all."""
        if absolute is not None:
            return absolute
        return unit if relative is None else _scaled(self._accept(f"{name}_r", relative), unit)

    def _allowed(self, name: str, values: Array) -> NDArray[np.bool_]:
        return np.isfinite(values) & (values >= 0.0) if name == "sigma" else super()._allowed(name, values)

    def _expected(self, name: str) -> str:
        if name == "sigma":
            return "expected finite and >= 0 [S/m]"
        return "expected finite and > 0" if name.endswith("_r") else super()._expected(name)

    def _speeds(self, values: Array) -> Array:
        return 1.0 / np.sqrt(values[:, 0] * values[:, 1])

    def _wavelengths(self, values: Array, f: float) -> Array:
        loss = values[:, 2] / (2.0 * np.pi * f * values[:, 0])
        return np.asarray(self._speeds(values) / f / np.sqrt(1.0 + 1j * loss).real)

    def _loss_rates(self, values: Array) -> Array:
        return values[:, 2] / values[:, 0]

    def _questions(self, values: Array, size: float) -> list[str]:
        questions = []
        speed, impedance = self._speeds(values).max(), np.sqrt(values[:, 1] / values[:, 0])
        if speed > 1.001 * _LIGHT:
            questions.append(
                f"the fastest wave has {speed:.4g} m/s, more than light: are eps and mu in SI units?"
            )
        # 377 ohm in vacuum, 1 where eps = mu = 1; far from both where only one of them is in SI units.
        if impedance.max() > 1e5 or impedance.min() < 1e-2:
            wrong = impedance.max() if impedance.max() > 1e5 else impedance.min()
            questions.append(f"sqrt(mu/eps) is {wrong:.3g} ohm: is one of eps and mu relative (eps_r, mu_r)?")
        return questions


def _mechanical_questions(rho: Array, speed: Array, size: float) -> list[str]:
    """Return questions about numbers that look like km/s or g/cm3 among metres."""
    questions = []
    if size > 100 and speed.max() < 20:
        questions.append(
            f"the mesh is {size:.3g} m across and the fastest wave has {speed.max():.3g} m/s: is that km/s?"
        )
    # No gas is faster than 1,400 m/s at ordinary temperatures (hydrogen), and none denser than 20 kg/m3.
    if rho.max() < 20 and (speed.max() > 1400 or (speed.max() > 100 and rho.min() > 1.5)):
        questions.append(f"rho is at most {rho.max():.3g} kg/m3: is that g/cm3?")
    return questions


def _known_pairs(vp: Any, vs: Any) -> Iterator[tuple[Callable[[int], str], Array, Array]]:
    """Give places, vp and vs for all cells whose two speeds are known without a mesh."""
    if callable(vp) or callable(vs):
        return
    if not isinstance(vp, dict) and not isinstance(vs, dict):
        shape = np.shape(vp) or np.shape(vs)
        if np.shape(vp) and np.shape(vs) and np.shape(vp) != np.shape(vs):
            return  # `on` says so
        if len(shape) == 3:
            grid = Grid(shape, 1.0)  # for its blocks: models are large
            for block in grid.blocks():
                fast, slow = (block.of(np.broadcast_to(one, shape)).astype(np.float64) for one in (vp, vs))
                yield partial(_place, block), fast, slow
        else:
            fast, slow = np.broadcast_arrays(vp, vs)
            place = partial(_place, None) if shape else lambda i: "every cell"
            yield place, np.atleast_1d(fast), np.atleast_1d(slow)
        return
    tags = set(vp if isinstance(vp, dict) else vs) & set(vs if isinstance(vs, dict) else vp)
    tables = [one if isinstance(one, dict) else dict.fromkeys(tags, one) for one in (vp, vs)]
    if any(np.ndim(table[tag]) for table in tables for tag in tags):
        return
    for tag in sorted(tags):
        fast, slow = (np.array([table[tag]]) for table in tables)
        yield (lambda i, tag=tag: f"tag {tag!r}"), fast, slow  # type: ignore[misc]


def _check_bulk_modulus(place: Callable[[int], str], vp: Array, vs: Array) -> None:
    bad = np.flatnonzero(vp**2 <= 4.0 / 3.0 * vs**2)
    if len(bad):
        i = int(bad[0])
        raise ArgumentError(
            f"vp = {float(vp[i])} and vs = {float(vs[i])} m/s in {place(i)} "
            f"({len(bad)} of {len(vp)}) give a bulk modulus that is not positive; expected vp^2 > 4/3 vs^2"
        )


class _Scaled:
    """A function of place times a factor; a class, so that it pickles."""

    def __init__(self, function: Callable[..., ArrayLike], factor: float) -> None:
        self.function, self.factor = function, factor
        self.__qualname__ = f"{factor:.12g} * {_name_of(function)}"

    def __call__(self, x: Array, y: Array, z: Array) -> Array:
        return self.factor * np.asarray(self.function(x, y, z))


class _OneCell:
    """The mesh that a medium sees, reduced to one cell."""

    def __init__(self, mesh: Any, cell: int) -> None:
        if not 0 <= cell < mesh.num_elem:
            raise ArgumentError(f"cell is {cell}; the mesh has cells 0..{mesh.num_elem - 1}")
        self.num_elem = 1
        self.tag_names = mesh.tag_names
        self.tags = np.asarray(mesh.tags)[cell : cell + 1]
        self.centroids = np.asarray(mesh.centroids)[cell : cell + 1]


def _one_cell(mesh: Any, cell: int) -> Any:
    if not isinstance(mesh, Grid):
        return _OneCell(mesh, cell)
    if not 0 <= cell < mesh.num_node:
        raise ArgumentError(f"cell is {cell}; the grid has nodes 0..{mesh.num_node - 1}")
    return Block(mesh, cell, cell + 1)


def _parts(mesh: Any) -> Iterable[Any]:
    """Return what `Medium._table` takes, one after the other."""
    return mesh.blocks() if isinstance(mesh, Grid) else [mesh]


def _place(mesh: Any, i: int) -> str:
    """Return how to name cell i of a mesh (None: any), or node i of a block."""
    return f"node {mesh.node(i)}" if isinstance(mesh, Block) else f"cell {i}"


def _scaled(value: Any, factor: float) -> Any:
    """Return a checked number, dict, array or function times a factor."""
    if callable(value):
        return _Scaled(value, factor)
    if isinstance(value, dict):
        return {tag: factor * one for tag, one in value.items()}
    return factor * value


def _real_array(name: str, value: ArrayLike) -> Array:
    """Return a private array: float64, or float32 on a grid; a memory map for reading as it is."""
    array = np.asanyarray(value)
    if array.dtype.kind not in "iuf" or array.ndim not in (1, 3):
        raise ArgumentError(
            f"{name} is an array of {array.dtype} of shape {array.shape}; expected real numbers, one a cell, "
            "or of shape (nx, ny, nz) on a grid"
        )
    if array.ndim == 1:
        return np.array(array, dtype=np.float64)
    if isinstance(array, np.memmap) and array.mode == "r" and array.dtype.kind == "f":
        return array
    return np.array(array, dtype=np.float32 if array.dtype == np.float32 else np.float64, order="C")


def _check_shape(name: str, values: Array, mesh: Any) -> None:
    if isinstance(mesh, Block):
        if values.shape != mesh.grid.shape:
            raise ArgumentError(
                f"{name} has shape {values.shape}; expected {mesh.grid.shape}, one value a node of the grid"
            )
    elif values.ndim == 3:
        raise ArgumentError(
            f"{name} has shape {values.shape}; expected ({mesh.num_elem},), one value a cell of the mesh"
        )
    elif len(values) != mesh.num_elem:
        raise ArgumentError(f"{name} has {len(values)} values; expected {mesh.num_elem}, one a cell")


def _by_tag(name: str, table: dict[str, float], mesh: Any) -> Array:
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
        return f"<{value.size} values, {value.min():g} to {value.max():g}>"
    return f"<{_name_of(value)}>" if callable(value) else repr(value)


def _describe(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        from hashlib import sha256

        digest = sha256()
        for part in value if value.ndim == 3 else [value]:
            digest.update(part.tobytes())
        return {"shape": list(value.shape), "sha256": digest.hexdigest()}
    return {"function": _name_of(value)} if callable(value) else value


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))
