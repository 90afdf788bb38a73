"""Media: material parameters, cell by cell or node by node.

Not here: what values may be given as (_values.py), meshes (mesh.py), grids (grid.py), files (model_file.py),
the equations (cuda/physics/*.h). Next: source.py, which needs a medium to scale what it injects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._check import choice
from .._fixed import Fixed
from .._parallel import ahead
from ..errors import ArgumentError
from ._values import ARRAYS, Array, ByNode, ByPlace, ByTag, Nodes, Number, Rule, Value, Values, accept
from .grid import Block, Grid

_Made = TypeVar("_Made")
_LIGHT = 299792458.0  # [m/s]
MU0 = 1.25663706127e-6  # [H/m], CODATA 2022 (Mohr et al. 2025)
EPS0 = 1.0 / (MU0 * _LIGHT**2)  # [F/m], CODATA's 8.8541878188e-12; light has its exact speed


Per = Literal["cell", "node"]


class Derived(NamedTuple):
    """A quantity derived from the fields, for receivers: a sum of terms (factor, field, derivative).

    The derivative is 0 for the field itself, 1, 2, 3 for its derivative along x, y, z.
    """

    unit: str
    terms: tuple[tuple[float, str, int], ...]
    #: Gives the factors of the terms from the parameters of the medium (n, num_parameter), (n,) each.
    scale: Callable[[NDArray[np.float64]], list[NDArray[np.float64]]] | None = None
    #: Whether it is the integral of the terms over time.
    integrated: bool = False


_DISPLACEMENT = {f"u{axis}": Derived("m", ((1.0, f"v{axis}", 0),), integrated=True) for axis in "xyz"}


def _compliance(row: int) -> Callable[[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Return the factors of stresses in a strain: Hooke's law, solved for the strain.

    e_ij = s_ij / (2 mu) - lambda tr(s) delta_ij / (2 mu (3 lambda + 2 mu)).
    """

    def factors(parameters: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        rho, vp, vs = parameters.T
        wet = np.flatnonzero(vs == 0.0)
        if len(wet):
            raise ArgumentError(
                f"point {wet[0]} ({len(wet)} such points) is in a fluid (vs = 0), whose stress does not tell "
                "its strain; record pressure there, or displacements at points around"
            )
        mu = rho * vs**2
        lame = rho * vp**2 - 2.0 * mu
        if row > 2:
            return [0.5 / mu]
        other = -lame / (2.0 * mu * (3.0 * lame + 2.0 * mu))
        return [0.5 / mu + other if i == row else other for i in range(3)]

    return factors


def _strains() -> dict[str, Derived]:
    """Return strains, as tensors have them: shear is half of the engineer's."""
    normal = tuple((1.0, name, 0) for name in ("sxx", "syy", "szz"))
    shear = {"eyz": "syz", "exz": "sxz", "exy": "sxy"}
    made = {name: Derived("1", normal, _compliance(i)) for i, name in enumerate(("exx", "eyy", "ezz"))}
    return {**made, **{name: Derived("1", ((1.0, of, 0),), _compliance(3)) for name, of in shear.items()}}


def _div_and_curl(x: str, y: str, z: str, unit: str) -> dict[str, Derived]:
    """Return divergence and curl of a vector field."""
    return {
        "divergence": Derived(unit, ((1.0, x, 1), (1.0, y, 2), (1.0, z, 3))),
        "curl_x": Derived(unit, ((1.0, z, 2), (-1.0, y, 3))),
        "curl_y": Derived(unit, ((1.0, x, 3), (-1.0, z, 1))),
        "curl_z": Derived(unit, ((1.0, y, 1), (-1.0, x, 2))),
    }


class Medium(Fixed):
    """Base of all media; use a subclass such as `Acoustic`.

    Each parameter is given as a number, as a dict from tag names of the mesh to numbers, as an
    array with one value per cell (in the order of ``mesh.cells``) or as a function f(x, y, z) of
    coordinate arrays [m], called with the centroids of the cells.

    With ``per="node"`` the material varies within the cells of a mesh: functions are called with the nodes
    that `DG` has there (``mesh.coordinates(degree)``), and arrays may have one value for each, (num_elem,
    num_node). Use it for media that are smooth within cells, where `DG` then keeps its order; functions have
    one value on both sides of a face, so jumps there need arrays or tags. Coefficients are collocated: on
    tetrahedra no discrete energy is conserved, and with the upwind flux what the mesh hardly resolves can
    grow, the faster the more the medium varies in a cell (a run warns of it); the central flux is refused. On
    hexahedra energy is conserved exactly. On a grid each node has its own anyway.

    On a grid arrays have its shape (nx, ny, nz), functions are called with the nodes, block by
    block, and there are no tags. Models are large: an array on a grid, of any type of real numbers,
    or a memory map is used without a copy, so do not change it while the medium is in use. A digest detects
    changes: where a simulation is made, or reads the medium again (to save or to draw it), an array that has
    been modified, or a function that returns other values, is refused. Numbers, dicts and arrays of one value
    per cell are copied, and simulations on meshes keep the values of functions.

    Attributes
    ----------
    physics : str
        Name of the equations.
    fields : tuple of str
        Names of the fields, in the order of the state.
    units : dict of str to str
        Unit of each field.
    derived : dict of str to Derived
        Derived quantities that can be recorded and sampled at points.
    motions : dict of str to Derived
        Displacements and strains, which take the past or the material at the points.
    field_groups : dict of str to tuple of str
        Fields that belong together, whose norms are added: components of one vector or tensor.
    parameters : dict of str to str
        Units of the medium's parameters, in the order of the columns of `on`.
    boundaries : tuple of str
        Boundary conditions of its equations.
    """

    physics: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]
    units: ClassVar[dict[str, str]]
    derived: ClassVar[dict[str, Derived]]
    motions: ClassVar[dict[str, Derived]] = {}
    field_groups: ClassVar[dict[str, tuple[str, ...]]]
    parameters: ClassVar[dict[str, str]]
    boundaries: ClassVar[tuple[str, ...]]
    _may_vanish: ClassVar[tuple[str, ...]] = ()  # parameters that may be 0
    _fastest: ClassVar[str] = ""  # the parameter that is the speed of the fastest wave

    def __init__(self, per: Per = "cell", **values: Values | Value) -> None:
        self.per = ("cell", "node")[choice("per", per, ("cell", "node"))]
        self._values = {name: accept(self._rule(name), value) for name, value in values.items()}
        for name, one in self._values.items():
            if len(one.shape) == 2 and self.per == "cell":
                raise ArgumentError(f"{name} is an array of shape {one.shape}; {ARRAYS}")
        self._fix()

    def _advice(self, name: str) -> str | None:
        given = name in self._values or name == "per"
        return f"make another medium with {name}=" if given else super()._advice(name)

    @property
    def traces(self) -> dict[str, str]:
        """Unit of everything that can be recorded: the fields, then derived quantities."""
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
        tables = self._each(mesh.blocks(), lambda table: table)
        for block, table in zip(mesh.blocks(), tables, strict=True):
            values[block.begin : block.end] = table
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
        return {name: self._values[name].at(cell, mesh) for name in self.parameters}

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
        return {name: self._values[name].one() for name in self.parameters}

    def speed_max(self, mesh: Any) -> float:
        """Return the speed [m/s] of the fastest wave.

        Parameters
        ----------
        mesh : Mesh or Grid
            Nodes of a grid, or cells of a mesh, at centroids.

        Returns
        -------
        float
        """
        fastest = self._values.get(self._fastest)
        if isinstance(mesh, Grid) and isinstance(fastest, ByNode) and fastest.shape == mesh.shape:
            return fastest.high
        return max(self._each(self._parts(mesh), lambda table: float(self._speeds(table).max())))

    def speed_min(self, mesh: Any) -> float:
        """Return the speed [m/s] of the slowest wave; see `speed_max`."""
        return min(self._each(self._parts(mesh), lambda table: float(self._speeds(table).min())))

    def _refuse_changed(self) -> None:
        """Raise an ArgumentError if an array has other values than when the medium was made."""
        for value in self._values.values():
            value.refuse_changed()

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able description: numbers and tags as given, arrays by shape and hash."""
        described = {name: value.to_config() for name, value in self._values.items()}
        return {"type": type(self).__name__, **described, **({"per": "node"} if self.per == "node" else {})}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        values += ", per='node'" * (self.per == "node")
        return f"unda.{type(self).__name__}({values})"

    def _repr_html_(self) -> str:
        from ..io.html import medium

        return medium(self)

    def _in_cells(self, mesh: Any, degree: int) -> Array:
        """Return the parameters that `DG` has in cells, (num_elem, 1 or num_node, num_parameters)."""
        table = self._table(Nodes(mesh, degree) if self.per == "node" else mesh)
        return table.reshape(mesh.num_elem, -1, len(self.parameters))

    def _table(self, mesh: Any) -> Array:
        """Return what `on` does, of a mesh, its nodes or a block of a grid."""
        values = np.empty((mesh.num_elem, len(self.parameters)))
        for i, name in enumerate(self.parameters):
            values[:, i] = self._values[name].on(mesh)
        return values

    def _each(self, parts: Iterable[Any], work: Callable[[Array], _Made]) -> Iterator[_Made]:
        """Apply `work` to the table of each part; in threads, unless a parameter is the user's function."""
        called = any(isinstance(value, ByPlace) for value in self._values.values())
        return (map if called else ahead)(lambda part: work(self._table(part)), parts)

    def _parts(self, mesh: Any) -> Iterable[Any]:
        """Return meshes or blocks for `_table` that together contain all values of the medium."""
        if not isinstance(mesh, Grid):
            return [mesh]
        same = all(isinstance(value, Number) for value in self._values.values())
        return [Block(mesh, 0, 1)] if same else mesh.blocks()

    def _speeds(self, values: Array) -> Array:
        """Speeds of all waves, shape (.., num_elem), from the array of `on`."""
        raise NotImplementedError

    def _wavelengths(self, values: Array, f: float) -> Array:
        """Shortest wavelength [m] at a frequency [Hz] in each cell, from the array of `on`."""
        return np.asarray(self._speeds(values).reshape(-1, len(values)).min(axis=0) / f)

    def _check_state(self, values: Array, q: NDArray[Any], coordinates: Array) -> None:
        """Raise if a state (num_elem, num_node, num_field) cannot be one of the materials of `_in_cells`."""

    def _loss_rates(self, values: Array) -> Array:
        """Part of themselves that fields lose in each cell by absorption in the medium [1/s]."""
        return np.zeros(len(values))

    def _questions(self, values: Array, size: float) -> list[str]:
        """Say what looks like mixed units, on a mesh of that size [m]; for `sim.check`."""
        return []

    def _rule(self, name: str) -> Rule:
        return Rule(name, self.parameters[name], name in self._may_vanish)


class Acoustic(Medium):
    """A fluid: density and speed of sound.

    The equations are p_t + rho c^2 div v = 0, rho v_t + grad p = 0. Receivers can also record "divergence",
    "curl_x", "curl_y" and "curl_z" of v [1/s], and displacements "ux", "uy", "uz" [m].

    Parameters
    ----------
    rho : float, dict of str to float, array_like or callable
        Density [kg/m3].
    c : float, dict of str to float, array_like or callable
        Speed of sound [m/s].
    per : {"cell", "node"}
        See `Medium`.

    Raises
    ------
    ArgumentError
        If a value is not finite or not positive.

    See Also
    --------
    Elastic : solids, and fluids beside them.
    read_model : values from a file.

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
    motions: ClassVar[dict[str, Derived]] = _DISPLACEMENT
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"p": ("p",), "v": ("vx", "vy", "vz")}
    parameters: ClassVar[dict[str, str]] = {"rho": "kg/m3", "c": "m/s"}
    boundaries = ("absorbing", "rigid", "free")
    _fastest = "c"

    def __init__(self, *, rho: Values, c: Values, per: Per = "cell") -> None:
        super().__init__(per, rho=rho, c=c)

    def _speeds(self, values: Array) -> Array:
        return values[:, 1]

    def _questions(self, values: Array, size: float) -> list[str]:
        return _mechanical_questions(values[:, 0], values[:, 1], size)


class Elastic(Medium):
    """An isotropic solid, or a fluid where vs = 0: density and speeds of P and S waves.

    The equations are rho v_t = div sigma, sigma_t = lambda (div v) I + mu (grad v + grad v^T) with
    mu = rho vs^2, lambda = rho (vp^2 - 2 vs^2). Receivers can also record "pressure", -tr(sigma)/3 [Pa], and
    "divergence", "curl_x", "curl_y" and "curl_z" of v [1/s]: the divergence contains P waves, the curl S
    waves; displacements "ux", "uy", "uz" [m]; in solids strains "exx", "eyy", "ezz", "eyz", "exz", "exy".

    Parameters
    ----------
    rho : float, dict of str to float, array_like or callable
        Density [kg/m3].
    vp : float, dict of str to float, array_like or callable
        Speed of P waves [m/s].
    vs : float, dict of str to float, array_like or callable
        Speed of S waves [m/s]; 0 is a fluid.
    per : {"cell", "node"}
        See `Medium`.

    Raises
    ------
    ArgumentError
        If a value is not finite, rho or vp not positive, vs negative, or the bulk modulus
        lambda + 2 mu/3 not positive (vp^2 <= 4/3 vs^2), which is checked as soon as the values
        of a cell are known, at the latest in `on`.

    See Also
    --------
    Acoustic : fluids alone.
    MomentTensor, PointForce : sources.

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
    units: ClassVar[dict[str, str]] = {**dict.fromkeys(fields[:3], "m/s"), **dict.fromkeys(fields[3:], "Pa")}
    derived: ClassVar[dict[str, Derived]] = {
        "pressure": Derived("Pa", tuple((-1.0 / 3.0, name, 0) for name in ("sxx", "syy", "szz"))),
        **_div_and_curl("vx", "vy", "vz", "1/s"),
    }
    motions: ClassVar[dict[str, Derived]] = {**_DISPLACEMENT, **_strains()}
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"v": fields[:3], "s": fields[3:]}
    parameters: ClassVar[dict[str, str]] = {"rho": "kg/m3", "vp": "m/s", "vs": "m/s"}
    boundaries = ("absorbing", "free", "fixed", "symmetry")
    _may_vanish = ("vs",)
    _fastest = "vp"

    def __init__(self, *, rho: Values, vp: Values, vs: Values, per: Per = "cell") -> None:
        super().__init__(per, rho=rho, vp=vp, vs=vs)
        _check_known_speeds(self._values["vp"], self._values["vs"])

    def _table(self, mesh: Any) -> Array:
        values = super()._table(mesh)
        _check_bulk_modulus(lambda i: _place(mesh, i), values[:, 1], values[:, 2])
        return values

    def _speeds(self, values: Array) -> Array:
        vp, vs = values[:, 1], values[:, 2]
        return np.stack([vp, np.where(vs > 0.0, vs, vp)])

    def _check_state(self, values: Array, q: NDArray[Any], coordinates: Array) -> None:
        cell, node = np.nonzero(np.broadcast_to(values[..., 2] == 0.0, q.shape[:2]))
        stress = q[cell, node, 3:].astype(np.float64)
        mean = stress[..., :3].mean(axis=-1, keepdims=True)
        deviatoric = np.abs(np.concatenate([stress[..., :3] - mean, stress[..., 3:]], axis=-1)).max(axis=-1)
        # Rounding errors, with room for those of the sums of an exact solution.
        bearable = np.finfo(q.dtype).eps ** (2 / 3) * float(np.abs(q[..., 3:]).max(initial=0.0))
        bad = np.flatnonzero(deviatoric > bearable)
        if len(bad):
            i, cells = bad[0], len(np.unique(cell[bad]))
            place = tuple(float(x) for x in coordinates[cell[i], node[i]])
            raise ArgumentError(
                f"stress has a deviatoric part of {deviatoric[i]:.3g} Pa at {place} m in cell "
                f"{cell[i]} ({cells} such cells), a fluid (vs = 0), which carries no shear; expected "
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

    The equations are eps E_t = curl H - sigma E, mu H_t = -curl E. Give eps and mu in SI units, or relative
    to vacuum; without them it is vacuum. With ``eps=1.0, mu=1.0`` speeds are in units of the speed of light.
    Receivers can also record "divergence", "curl_x", "curl_y" and "curl_z" of E [V/m2].

    Parameters
    ----------
    eps, mu : float, dict of str to float, array_like or callable, optional
        Permittivity [F/m] and permeability [H/m], both or none.
    eps_r, mu_r : float, dict of str to float, array_like or callable, optional
        The same relative to vacuum: eps = `unda.EPS0` eps_r, mu = `unda.MU0` mu_r. The one that
        is not given is 1.
    sigma : float, dict of str to float, array_like or callable
        Conductivity [S/m]. It limits the stable time step: dt <= 4.6 eps/sigma with
        `lsrk4`, 6/11 eps/sigma with `ab3`, less the share of the waves; a larger dt is refused. For metals
        (copper: 7e-19 s) use a "pec" boundary; `sim.check` says where.
    per : {"cell", "node"}
        See `Medium`.

    Raises
    ------
    ArgumentError
        If a value is not finite, eps or mu is not positive or sigma is negative, only one of eps and mu is
        given, or absolute and relative values are given together.

    See Also
    --------
    CurrentDipole, PlaneWave : sources.
    EPS0, MU0 : vacuum.

    Examples
    --------
    >>> import unda
    >>> unda.Maxwell(eps=2.0, mu=1.0)
    unda.Maxwell(eps=2.0, mu=1.0, sigma=0.0)
    >>> glass = unda.Maxwell(eps_r={"air": 1.0, "glass": 2.25})
    >>> unda.Maxwell().scalar()["eps"] == unda.EPS0
    True
    """

    physics = "maxwell"
    fields = ("ex", "ey", "ez", "hx", "hy", "hz")
    units: ClassVar[dict[str, str]] = {**dict.fromkeys(fields[:3], "V/m"), **dict.fromkeys(fields[3:], "A/m")}
    derived: ClassVar[dict[str, Derived]] = _div_and_curl("ex", "ey", "ez", "V/m2")
    field_groups: ClassVar[dict[str, tuple[str, ...]]] = {"E": ("ex", "ey", "ez"), "H": ("hx", "hy", "hz")}
    parameters: ClassVar[dict[str, str]] = {"eps": "F/m", "mu": "H/m", "sigma": "S/m"}
    boundaries = ("absorbing", "pec", "pmc")
    _may_vanish = ("sigma",)

    def __init__(
        self,
        *,
        eps: Values | None = None,
        mu: Values | None = None,
        eps_r: Values | None = None,
        mu_r: Values | None = None,
        sigma: Values = 0.0,
        per: Per = "cell",
    ) -> None:
        given = {"eps": eps, "mu": mu, "eps_r": eps_r, "mu_r": mu_r}
        names = [name for name, value in given.items() if value is not None]
        if {"eps", "mu"} & set(names) and {"eps_r", "mu_r"} & set(names):
            raise ArgumentError(
                f"got {' and '.join(names)}; expected absolute values or relative ones, not both"
            )
        if names in (["eps"], ["mu"]):
            (other,) = {"eps", "mu"} - set(names)
            raise ArgumentError(
                f"got {names[0]} without {other}; expected both [F/m, H/m], or relative values, {names[0]}_r"
            )
        super().__init__(
            per,
            eps=self._absolute("eps", eps, eps_r, EPS0),
            mu=self._absolute("mu", mu, mu_r, MU0),
            sigma=sigma,
        )

    def _absolute(
        self, name: str, absolute: Values | None, relative: Values | None, unit: float
    ) -> Values | Value:
        """Return one quantity in SI units; `unit` where it is not given at all."""
        if relative is not None:
            return accept(Rule(f"{name}_r", ""), relative).times(unit, self._rule(name))
        return unit if absolute is None else absolute

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


def group_of(name: str) -> tuple[str, ...]:
    """Return the components of the vector or tensor to which a field, or a derived quantity, belongs."""
    groups = (group for kind in (Acoustic, Elastic, Maxwell) for group in kind.field_groups.values())
    derived = (("curl_x", "curl_y", "curl_z"), tuple(_DISPLACEMENT), tuple(_strains()))
    return next((group for group in (*groups, *derived) if name in group), (name,))


def _mechanical_questions(rho: Array, speed: Array, size: float) -> list[str]:
    """Return questions about numbers that look like km/s or g/cm3 among metres."""
    questions = []
    if size > 100 and speed.max() < 20:
        questions.append(
            f"the model is {size:.3g} m across and the fastest wave has {speed.max():.3g} m/s: is that km/s?"
        )
    # No gas is faster than 1,400 m/s at ordinary temperatures (hydrogen), and none denser than 20 kg/m3.
    if rho.max() < 20 and (speed.max() > 1400 or (speed.max() > 100 and rho.min() > 1.5)):
        questions.append(f"rho is at most {rho.max():.3g} kg/m3: is that g/cm3?")
    return questions


def _check_known_speeds(vp: Value, vs: Value) -> None:
    """Check all cells whose two speeds are known without a mesh."""
    pair = vp, vs
    if any(isinstance(one, ByPlace) for one in pair):
        return
    if any(isinstance(one, ByTag) for one in pair):
        tables = [one.table for one in pair if isinstance(one, ByTag)]
        if len(tables) == 2 or any(isinstance(one, Number) for one in pair):
            tags = sorted(set(tables[0]) & set(tables[-1]))
            fast, slow = (
                np.array([one.table[tag] if isinstance(one, ByTag) else one.one() for tag in tags])
                for one in pair
            )
            _check_bulk_modulus(lambda i: f"tag {tags[i]!r}", fast, slow)
        return
    shapes = {one.shape for one in pair if one.shape}
    if len(shapes) > 1 or any(len(shape) == 2 for shape in shapes):
        return  # `on` raises then, or looks at each node
    shape = shapes.pop() if shapes else ()
    if len(shape) == 3:
        blocks = Grid(shape, 1.0).blocks()
        for _ in ahead(lambda one: _check_bulk_modulus(partial(_place, one), vp.on(one), vs.on(one)), blocks):
            pass
    else:
        cells = SimpleNamespace(num_elem=shape[0] if shape else 1)
        place = partial(_place, None) if shape else lambda i: "every cell"
        _check_bulk_modulus(place, vp.on(cells), vs.on(cells))


def _check_bulk_modulus(place: Callable[[int], str], vp: NDArray[Any], vs: NDArray[Any]) -> None:
    fast, slow = np.square(vp, dtype=np.float64), np.square(vs, dtype=np.float64)
    slow *= 4.0 / 3.0
    bad = np.flatnonzero(fast <= slow)
    if len(bad):
        i = int(bad[0])
        raise ArgumentError(
            f"vp = {float(vp[i])} and vs = {float(vs[i])} m/s in {place(i)} "
            f"({len(bad)} of {len(vp)}) give a bulk modulus that is not positive; expected vp^2 > 4/3 vs^2"
        )


def _place(mesh: Any, i: int) -> str:
    """Return the name of cell i of a mesh (None: any), of a node of one, or of node i of a block."""
    if isinstance(mesh, Nodes):
        return f"cell {i // mesh.shape[1]}, node {i % mesh.shape[1]}"
    return f"node {mesh.node(i)}" if isinstance(mesh, Block) else f"cell {i}"
