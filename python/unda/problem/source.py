"""Point sources: their position, and what they inject.

Not here: the function of time (timefunction.py), interpolation into an element (csrc/dg/points.c) or onto
a grid (csrc/fd/points.c).
Next: exact/point.py, the wave that a source makes in a homogeneous medium.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import number, of_type, unit_vector, vector
from .._fixed import Fixed
from .._units import plain
from ..errors import ArgumentError
from .medium import Medium
from .timefunction import TimeFunction, from_config, wrap

#: Where x, y and z point unless something else is said.
GEOGRAPHIC = ("east", "north", "up")
_DIRECTIONS = {
    "east": (1.0, 0.0, 0.0), "north": (0.0, 1.0, 0.0), "up": (0.0, 0.0, 1.0),
    "west": (-1.0, 0.0, 0.0), "south": (0.0, -1.0, 0.0), "down": (0.0, 0.0, -1.0),
}  # fmt: skip


class Source(Fixed):
    """Base of all point sources; use a subclass such as `VolumeInjection`.

    Attributes
    ----------
    position : (float, float, float)
        Its position [m].
    f : TimeFunction or callable
        Its time function, as given.
    physics : tuple of str
        The equations that it can drive.
    unit : str
        Unit of f.
    """

    physics: ClassVar[tuple[str, ...]]
    unit: ClassVar[str]
    _has_unit: ClassVar[bool] = True  # f has it; of an `Array` weights have a part of it
    _kinds: ClassVar[dict[str, type[Source]]] = {}
    _whole: Source | None = None  # of a part of a source, which a method has made: the source

    _otherwise = "it was added to a simulation, which goes on with it as it was; make another source"

    def __init_subclass__(cls) -> None:
        cls._kinds[cls.__name__] = cls

    def __init__(self, position: Any, f: Callable[[Any], Any]) -> None:
        self.position = vector("position", position, "m")
        if not callable(f):
            raise ArgumentError(f"f is {_short(f)}; expected a time function or a callable f(t)")
        given = getattr(f, "unit", None)
        if self._has_unit and given not in (None, self.unit):
            raise ArgumentError(f"f has values in {given}; expected {self.unit} of a {type(self).__name__}")
        self.f = f

    def places(self) -> NDArray[np.float64]:
        """Return where it stands [m], (1, 3); of an `Array` its points."""
        return np.array([self.position])

    def shares(self) -> NDArray[np.float64]:
        """Return the factor of the rates at each of its places: 1, or an array's weights."""
        return np.ones(1)

    def at_point(self, physics: str) -> Source:
        """Return the source at one of its places: itself, unless it is an `Array`."""
        return self

    def rates(self, medium: Medium, cell: int, mesh: Any = None) -> dict[str, float]:
        """Return the source's contribution to dq/dt of each field that it drives, per unit of f and per m3.

        Parameters
        ----------
        medium : Medium
        cell : int
            The cell that contains the source.
        mesh : Mesh, optional
            Needed where the medium is given by tag names or functions.

        Returns
        -------
        dict of str to float
            Factor of f(t) delta(x - position) for each field.

        Raises
        ------
        ArgumentError
            If the source cannot drive the equations of this medium.

        Examples
        --------
        >>> import unda
        >>> source = unda.VolumeInjection((0.0, 0.0, 0.0), unda.ricker(10.0))
        >>> source.rates(unda.Acoustic(rho=1000.0, c=1500.0), 0)
        {'p': 2250000000.0}
        """
        self.check_physics(medium)
        return self.rates_in(medium.physics, **medium.at(cell, mesh))

    def rates_in(self, physics: str, **material: float) -> dict[str, float]:
        """Return `rates` where the parameters of the medium are known."""
        made: dict[str, float] = getattr(self, f"_rates_{physics}")(**material)
        return made

    def check_physics(self, medium: Medium) -> None:
        """Raise an ArgumentError if the source cannot drive the equations of this medium."""
        if medium.physics not in self.physics:
            raise ArgumentError(
                f"{type(self).__name__} drives {' and '.join(self.physics)} waves; "
                f"the medium is {medium.physics}"
            )

    def carried(self, **material: float) -> bool:
        """Return whether a material, given by its parameters, can carry the source: see `MomentTensor`."""
        return True

    def time_function(self, dt: float) -> TimeFunction:
        """Return the time function of the injection; a plain callable is wrapped for the time step dt [s]."""
        return self.wrapped(dt)

    def wrapped(self, dt: float) -> TimeFunction:
        """Return f as a time function; a plain callable is wrapped for the time step dt [s]."""
        return wrap(self.f, dt, self.unit if self._has_unit else None)

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes an equal source.

        Raises
        ------
        ArgumentError
            If f is a plain callable, which only `unda.sampled` can turn into numbers.
        """
        return {
            "type": type(self).__name__,
            "position": list(self.position),
            "f": saved_f(self),
            **self._arguments(),
        }

    def _arguments(self) -> dict[str, Any]:
        """Return the constructor's arguments but position and f, JSON-able."""
        return {}

    @staticmethod
    def from_config(config: dict[str, Any]) -> Source:
        """Make a source from the result of its `to_config`; ArgumentError if the type is unknown."""
        kind, parameters = of_type("source", config, Source._kinds)
        made: Source = kind(**{**parameters, "f": from_config(parameters["f"])})
        return made

    def __repr__(self) -> str:
        more = "".join(f", {name}={value}" for name, value in self._arguments().items())
        return f"unda.{type(self).__name__}({self.position}, {self.f!r}{more})"


class VolumeInjection(Source):
    """Volume injected at a point: p_t + rho c^2 div v = rho c^2 q(t) delta(x - position).

    In elastic media each normal stress rate gets -(lambda + 2 mu/3) q(t) delta(x - position): an
    explosion whose moment rate is the bulk modulus times q.

    Parameters
    ----------
    position : array_like, shape (3,)
        Where it stands [m].
    f : TimeFunction or callable
        Volume rate q(t) [m3/s]; like every source, per metre on a grid with one node along an axis (`FD`).

    Raises
    ------
    ArgumentError
        If the position is not three finite numbers or f cannot be called.

    See Also
    --------
    exact.point_source : the wave that it makes.
    ricker, gaussian, smooth_bump, sampled : time functions.

    Examples
    --------
    >>> import unda
    >>> unda.VolumeInjection((503, 491, 507), unda.ricker(10.0))
    unda.VolumeInjection((503.0, 491.0, 507.0), unda.ricker(f0=10.0, t0=0.15))
    """

    physics = ("acoustic", "elastic")
    unit = "m3/s"

    def _rates_acoustic(self, rho: float, c: float) -> dict[str, float]:
        return {"p": rho * c**2}

    def _rates_elastic(self, rho: float, vp: float, vs: float) -> dict[str, float]:
        bulk_modulus = rho * (vp**2 - 4.0 / 3.0 * vs**2)  # lambda + 2 mu/3
        return dict.fromkeys(("sxx", "syy", "szz"), -bulk_modulus)


class PointForce(Source):
    """A force at a point of an elastic medium: rho v_t = div sigma + f(t) direction delta(x - position).

    Every point source of a DG method is the polynomial of its cell that acts like delta on all polynomials of
    that degree; its higher moments are wrong, an error that decays like the field of a multipole. At degree 4
    velocities, and H of a dipole, are accurate to 2 % beyond two cells (edges of a brick of six tetrahedra);
    stresses, and E, beyond two to three, and farther away if f leaves a static field or the source is near a
    vertex. `run` warns of receivers so near that errors of a fifth are usual: of v within 1 + 2/degree cells
    on tetrahedra and 1 + 5/degree on hexahedra, of stresses within 1 + 4/degree and 1 + 8/degree, but never
    beyond 2.5 and 4; with `SEM` within one cell; on grids, of v and stresses within 2 and 4 nodes of a force,
    4 and 5 of a moment, and of H and E within 4 and 5 nodes of a dipole.

    On a staggered grid it is distributed over the surrounding nodes, also on and near a free side, such that
    the impulse in each direction is that of f: the transpose of a receiver of velocity.

    On a face, edge or vertex it is the mean over all cells that share the point and can carry the source (a
    deviatoric moment: solids only), each with its own material. Beyond about four cells this is as accurate
    as inside a cell; at degree 4 and two to three cells away its error is two to six times that of a source
    at a centroid. The weights are proportional to R^-2(degree + 1), R being the root mean square distance of
    the cell's points from the source. Less than a tenth of an edge from a vertex, but not on it, one cell's
    polynomial is ten to a hundred times less accurate: move the source onto the vertex. To place a source on
    one side of an interface, move it into a cell of that side.

    Parameters
    ----------
    position : array_like, shape (3,)
        Where it acts [m].
    f : TimeFunction or callable
        Force f(t) [N] along the direction.
    direction : array_like, shape (3,)
        Not zero; not normalised: the force is f(t) times this vector.

    Raises
    ------
    ArgumentError
        If position or direction are not three finite numbers, the direction is zero, or f cannot be
        called.

    See Also
    --------
    MomentTensor : pairs of forces.
    exact.point_source : the wave that it makes.

    Examples
    --------
    >>> import unda
    >>> push = unda.PointForce((0, 0, 0), unda.ricker(10.0), direction=(0, 0, -2))
    >>> push.rates(unda.Elastic(rho=2000.0, vp=4000.0, vs=2000.0), 0)
    {'vx': 0.0, 'vy': 0.0, 'vz': -0.001}
    """

    physics = ("elastic",)
    unit = "N"

    def __init__(self, position: Any, f: Callable[[Any], Any], direction: ArrayLike) -> None:
        super().__init__(position, f)
        self.direction = vector("direction", direction)
        if not any(self.direction):
            raise ArgumentError(f"direction is {self.direction}; expected a vector of length > 0")

    def _arguments(self) -> dict[str, Any]:
        return {"direction": list(self.direction)}

    def _rates_elastic(self, rho: float, vp: float, vs: float) -> dict[str, float]:
        return {f"v{axis}": one / rho for axis, one in zip("xyz", self.direction, strict=True)}


class MomentTensor(Source):
    """A moment at a point of an elastic medium: sigma_t = ... - f'(t) moment delta(x - position).

    It acts like the body force -div(f(t) moment delta): a positive isotropic moment is an explosion (Aki &
    Richards 2002, section 3.3). Near a free side of a staggered grid it acts on the strain there: a vertical
    dipole on the surface acts as a horizontal one times -lambda / (lambda + 2 mu).

    Within two or three cells stresses are inaccurate: see `PointForce`.

    Parameters
    ----------
    position : array_like, shape (3,)
        Where it acts [m].
    f : TimeFunction or callable
        History of the moment, not of its rate.
    moment : array_like, shape (3, 3)
        Symmetric [N m]; the moment is f(t) times this tensor. In a fluid a multiple of the identity.

    Raises
    ------
    ArgumentError
        If the position is not three finite numbers, the moment not a symmetric 3 by 3 tensor other
        than zero, or f cannot be called; from `rates` if it is deviatoric in a fluid.

    See Also
    --------
    PointForce : a single force.
    exact.point_source : the wave that it makes.

    Examples
    --------
    >>> import unda
    >>> slip = unda.MomentTensor((0, 0, 0), unda.ricker(10.0).integral, [[0, 1e9, 0], [1e9, 0, 0], [0, 0, 0]])
    >>> slip.rates(unda.Elastic(rho=2000.0, vp=4000.0, vs=2000.0), 0)["sxy"]
    -1000000000.0
    """

    physics = ("elastic",)
    unit = "N m"

    def __init__(self, position: Any, f: Callable[[Any], Any], moment: ArrayLike) -> None:
        super().__init__(position, f)
        self.moment = _symmetric("moment", moment)

    @classmethod
    def from_sdr(
        cls, strike: float, dip: float, rake: float, M0: float, *, position: Any, f: Callable[[Any], Any],
        axes: Sequence[str] = GEOGRAPHIC,
    ) -> MomentTensor:  # fmt: skip
        """Return the double couple of slip on a fault.

        Parameters
        ----------
        strike : float
            Direction of the fault, clockwise from north, such that it dips to the right [degrees].
        dip : float
            0 of a horizontal fault, 90 of a vertical one [degrees].
        rake : float
            Direction in which the hanging wall slips, in the fault, from strike upward [degrees]: 0
            left-lateral, 90 thrust, -90 normal.
        M0 : float
            Scalar moment [N m].
        position, f
            See `MomentTensor`; f goes to 1 in the end, as `unda.step` does.
        axes : sequence of str
            Where x, y and z point: "east", "north" and "up" unless given, or their opposites "west", "south"
            and "down".

        Raises
        ------
        ArgumentError
            If a number is not finite, M0 not positive, dip not in 0 to 90, or axes are not three
            directions at right angles.

        References
        ----------
        Aki & Richards (2002), Quantitative Seismology, box 4.4, whose axes are north, east, down.

        Examples
        --------
        >>> import unda
        >>> slip = unda.MomentTensor.from_sdr(0.0, 90.0, 0.0, 2.0, position=(0, 0, -5e3), f=unda.step(0.5))
        >>> slip.moment.round(9)[0].tolist()
        [0.0, 2.0, 0.0]
        """
        size = number("M0", M0, "N m", positive=True)
        tilt = number("dip", dip, "degrees")
        if not 0.0 <= tilt <= 90.0:
            raise ArgumentError(f"dip is {tilt} degrees; expected 0 to 90, with the strike turned by 180")
        phi, delta, lamb = np.radians(
            [number("strike", strike, "degrees"), tilt, number("rake", rake, "degrees")]
        )
        along = np.array([np.cos(phi), np.sin(phi), 0.0])  # north, east, down
        updip = np.array([np.sin(phi) * np.cos(delta), -np.cos(phi) * np.cos(delta), -np.sin(delta)])
        slip = np.cos(lamb) * along + np.sin(lamb) * updip
        # From the footwall to the hanging wall, which slips.
        normal = np.array([-np.sin(delta) * np.sin(phi), np.sin(delta) * np.cos(phi), -np.cos(delta)])
        moment = size * (np.outer(slip, normal) + np.outer(normal, slip))
        return cls(position, f, _turned(moment, ("north", "east", "down"), axes))

    @classmethod
    def from_voigt(cls, moment: ArrayLike, *, position: Any, f: Callable[[Any], Any]) -> MomentTensor:
        """Return the source of a moment in Voigt's order, (Mxx, Myy, Mzz, Myz, Mxz, Mxy) [N m].

        Parameters
        ----------
        moment : array_like, shape (6,)
            Components of the tensor; shear ones once, not doubled.
        position, f
            See `MomentTensor`.

        Raises
        ------
        ArgumentError
            If the moment is not six finite numbers, or zero.

        Examples
        --------
        >>> import unda
        >>> unda.MomentTensor.from_voigt(
        ...     [1, 2, 3, 4, 5, 6], position=(0, 0, 0), f=unda.ricker(1.0)
        ... ).moment.tolist()
        [[1.0, 6.0, 5.0], [6.0, 2.0, 4.0], [5.0, 4.0, 3.0]]
        """
        xx, yy, zz, yz, xz, xy = _six("moment", moment)
        return cls(position, f, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @classmethod
    def from_gcmt(
        cls, moment: ArrayLike, *, position: Any, f: Callable[[Any], Any], axes: Sequence[str] = GEOGRAPHIC
    ) -> MomentTensor:
        """Return the source of a moment as in the Global CMT catalogue, (Mrr, Mtt, Mpp, Mrt, Mrp, Mtp).

        Parameters
        ----------
        moment : array_like, shape (6,)
            r up, t south, p east [N m]; 1 dyne cm of the catalogue is 1e-7 N m.
        position, f, axes
            See `MomentTensor` and `from_sdr`.

        Raises
        ------
        ArgumentError
            If the moment is not six finite numbers, or zero, or axes are not three directions at right
            angles.

        Examples
        --------
        >>> import unda
        >>> unda.MomentTensor.from_gcmt(
        ...     [1, 2, 3, 4, 5, 6], position=(0, 0, 0), f=unda.ricker(1.0)
        ... ).moment.tolist()
        [[3.0, -6.0, 5.0], [-6.0, 2.0, -4.0], [5.0, -4.0, 1.0]]
        """
        rr, tt, pp, rt, rp, tp = _six("moment", moment)
        given = np.array([[rr, rt, rp], [rt, tt, tp], [rp, tp, pp]])
        return cls(position, f, _turned(given, ("up", "south", "east"), axes))

    def time_function(self, dt: float) -> TimeFunction:
        """Return f', the rate that drives the stresses; a plain callable is wrapped for dt [s]."""
        return super().time_function(dt).derivative

    def _arguments(self) -> dict[str, Any]:
        return {"moment": self.moment.tolist()}

    def _deviatoric(self) -> float:
        return float(np.abs(self.moment - np.trace(self.moment) / 3.0 * np.eye(3)).max())

    def carried(self, **material: float) -> bool:
        """Return whether a material can carry the source: a fluid carries no deviatoric moment."""
        return material["vs"] > 0.0 or self._deviatoric() <= 1e-12 * np.abs(self.moment).max()

    def refuse_shear(self) -> None:
        """Raise an ArgumentError if the moment is not isotropic, as a fluid requires."""
        if not self.carried(vs=0.0):
            raise ArgumentError(
                f"moment has a deviatoric part of {self._deviatoric():g} N m at {self.position} m in a fluid "
                "(vs = 0), which carries no shear; expected a multiple of the identity"
            )

    def _rates_elastic(self, rho: float, vp: float, vs: float) -> dict[str, float]:
        m = self.moment
        if vs == 0.0:
            self.refuse_shear()
        pairs = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}
        return {field: -float(m[pair]) for field, pair in pairs.items()}


class CurrentDipole(Source):
    """A short current at a point: eps E_t = curl H - sigma E - f(t) direction delta(x - position).

    Within two or three cells E is inaccurate: see `PointForce`.

    Parameters
    ----------
    position : array_like, shape (3,)
        Where it stands [m].
    f : TimeFunction or callable
        Current times length, f(t) [A m]: the rate of the electric dipole moment.
    direction : array_like, shape (3,)
        Direction of the current; any length.

    Attributes
    ----------
    direction : (float, float, float)
        Of length 1.

    Raises
    ------
    ArgumentError
        If position or direction are not three finite numbers, the direction is zero or f cannot be
        called.

    See Also
    --------
    PlaneWave : a wave from outside.
    exact.point_source : the wave that it makes.

    Examples
    --------
    >>> import unda
    >>> source = unda.CurrentDipole((0, 0, 0), unda.ricker(1e9), direction=(0, 0, 2))
    >>> source.direction
    (0.0, 0.0, 1.0)
    >>> source.rates(unda.Maxwell(eps=2.0, mu=1.0), 0)
    {'ez': -0.5}
    """

    physics = ("maxwell",)
    unit = "A m"

    def __init__(self, position: Any, f: Callable[[Any], Any], direction: Any) -> None:
        super().__init__(position, f)
        self._given = vector("direction", direction)
        self.direction = unit_vector("direction", direction)

    def _arguments(self) -> dict[str, Any]:
        return {"direction": list(self._given)}

    def _rates_maxwell(self, eps: float, mu: float, sigma: float) -> dict[str, float]:
        pairs = zip(("ex", "ey", "ez"), self.direction, strict=True)
        return {field: -component / eps for field, component in pairs if component != 0.0}


def saved_f(source: Any) -> dict[str, Any]:
    """Return the configuration of a source's time function; raise if it is a plain callable."""
    if not isinstance(source.f, TimeFunction):
        raise ArgumentError(
            f"f of {source!r} is a plain callable and cannot be saved; unda.sampled(t, f(t)) can"
        )
    return source.f.to_config()


def _short(f: Any) -> str:
    """Describe a value that is not callable; for samples, name the function that interpolates them."""
    if isinstance(f, (np.ndarray, list, tuple)):
        try:
            shape = f"of shape {np.shape(f)}"
        except ValueError:
            return f"a ragged {type(f).__name__}"
        return f"an array {shape}, which unda.sampled(t, values) makes a function of"
    return repr(f)


def _turned(tensor: Any, given: Sequence[str], axes: Sequence[str]) -> NDArray[np.float64]:
    """Return a tensor in other axes; both named by directions."""
    names = tuple(axes) if isinstance(axes, Iterable) else ()
    if len(names) != 3 or not all(isinstance(one, str) and one in _DIRECTIONS for one in names):
        raise ArgumentError(f"axes are {axes!r}; expected three of {', '.join(_DIRECTIONS)}")
    new, old = (np.array([_DIRECTIONS[one] for one in some]) for some in (names, given))
    if abs(np.linalg.det(new)) != 1.0:
        raise ArgumentError(f"axes are {axes!r}; expected directions at right angles")
    turn = new @ old.T
    return np.asarray(turn @ tensor @ turn.T + 0.0)  # no -0


def _six(name: str, value: ArrayLike) -> list[float]:
    """Return six finite numbers, or raise."""
    value = plain(name, value, "N m")
    given = list(np.asarray(value, dtype=object).ravel()) if np.shape(value) == (6,) else None
    if given is None:
        raise ArgumentError(f"{name} has shape {np.shape(value)}; expected six numbers [N m]")
    return [number(f"{name}[{i}]", one, "N m") for i, one in enumerate(given)]


def _symmetric(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return a symmetric tensor (3, 3), or raise."""
    expected = "expected a symmetric tensor of shape (3, 3), not zero [N m]"
    value = plain(name, value, "N m")
    try:
        rows = [list(row) for row in np.asarray(value, dtype=object)]
    except TypeError:
        rows = []
    if [len(row) for row in rows] != [3, 3, 3]:
        raise ArgumentError(f"{name} has shape {np.shape(np.asarray(value, dtype=object))}; {expected}")
    tensor = np.array([[number(f"{name}[{i}][{j}]", rows[i][j], "N m") for j in range(3)] for i in range(3)])
    if not tensor.any():
        raise ArgumentError(f"{name} is zero; {expected}")
    uneven = np.abs(tensor - tensor.T)
    if uneven.max() > 1e-12 * np.abs(tensor).max():
        i, j = np.unravel_index(int(np.argmax(uneven)), (3, 3))
        found = f"{name}[{i}][{j}] = {tensor[i, j]:g} and {name}[{j}][{i}] = {tensor[j, i]:g}"
        raise ArgumentError(f"{found}; {expected}")
    tensor.setflags(write=False)
    return tensor
