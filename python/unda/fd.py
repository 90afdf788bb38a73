"""FD: finite differences on regular grids, scripted.

Sets up a problem and holds its state, plane by plane. Not here: running it (simulation.py), numerics
(csrc/fd, cuda/fd), grids (grid.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, grid_check, grid_plane
from ._check import field_names, field_values, flag, integer, number
from ._core import ffi, lib
from ._parallel import ahead
from .check import Report
from .errors import ArgumentError, UnstableError
from .fd_scheme import Scalar, scheme_of
from .fd_sides import SIDES, code_of, conditions, frequency_of
from .grid import Block, Grid
from .layer import CPML, Damping
from .limits import choose_device, device_limits
from .medium import Medium
from .plotting import Plane
from .receiver import Channels
from .simulation import (
    PRECISIONS,
    Simulation,
    alone,
    choice,
    common_options,
    forecast,
    node_values,
    plan,
)
from .source import Source

__all__ = ["FD"]

_KERNELS = {
    "auto": lib.UNDA_KERNEL_AUTO,
    "step": lib.UNDA_KERNEL_STEP,
    "tiled": lib.UNDA_KERNEL_TILED,
    "diamond": lib.UNDA_KERNEL_DIAMOND,
}
_SLAB = 2**20  # nodes worked on at a time in Python


def _slabs(grid: Grid) -> Iterator[tuple[int, int, Block]]:
    """Cut a grid into whole planes of constant x: the first, their number, their nodes."""
    step = max(1, _SLAB // (grid.shape[1] * grid.shape[2]))
    for first in range(0, grid.shape[0], step):
        count = min(step, grid.shape[0] - first)
        yield first, count, grid.slab(first, count)


def _window(given: Any) -> int:
    """Return what the library calls a window: rows, 0 for none, -1 for "auto"."""
    if given is None or given == "auto":
        return 0 if given is None else -1
    if isinstance(given, str):
        raise ArgumentError(f"window is {given!r}, expected 'auto', None or a number of rows")
    return integer("window", given, 1, 2**31 - 1)


class FD(Simulation):
    """Finite differences on a regular grid.

    ``scheme="scalar"``: the pressure of an acoustic medium of constant density, p_tt = c^2 laplace p +
    rho c^2 q_t delta, of order 2 in time and any even order in space (Levchenko et al. 2016).

    ``scheme="staggered"``: all fields, of acoustic, elastic (Virieux 1986, Levander 1988) and Maxwell's
    equations (Yee 1966), each at its own place: v_i and E_i half a cell on along i, s_ij along i and j, H_i
    along the other two, p, s_ii and the medium at the nodes; v and H half a step before the time of the
    simulation, see `coordinates_of` and ``rec.times``.

    Parameters
    ----------
    grid : Grid
    medium : Acoustic, Elastic or Maxwell
        Parameters constant or given at each node (array of the grid's shape, or a function). Scalar:
        Acoustic, rho one number. Between nodes the staggered scheme takes arithmetic means of rho and mu
        (Maxwell), harmonic ones of the shear modulus and eps, and sigma as <sigma/eps^2> / <1/eps>^2; vs
        may be 0. Interfaces lie half a cell from nodes: along the grid they are of second order there, but
        for an error of first order in the spacing that grows with (sigma / (omega eps))^2 in conductors.
    order : int
        Of the differences in space: even, 2 to 16.
    scheme : {"scalar", "staggered"}
    boundary : dict of str to str, Damping or CPML, optional
        Condition at "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"; "*" is the rest; "absorbing"
        everywhere if omitted, but an axis of one node is periodic: a problem in two dimensions. Walls
        stand at the outermost nodes, which are mirrors: "free" (p, or the traction, is 0), "rigid"; elastic
        "fixed", "symmetry"; Maxwell "pec", "pmc". "periodic" (both sides of an axis; the period is n times
        the spacing), "absorbing" or a `Damping` (scalar), a `CPML` (staggered): a layer outside the grid.
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit.
    cfl : float
        Part of the stable limit to use.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str
        As for `DG`.
    threads : int, optional
        CPU threads; all that the process may use if omitted.
    kernel : {"auto", "step", "tiled", "diamond"}
        "step": one step of the whole grid after the other. For the scalar scheme also "tiled", on the CPU and
        where x and y are not periodic: several steps of what is in the cache; "diamond", on CUDA devices up
        to order 8 and where nothing is periodic: many steps in towers of diamonds (Levchenko, Perepelkina &
        Zakirov 2016), and the last few of a call, or calls of a few, as "step" does. All give the same bits.
        "auto" on the CPU is "tiled", but "step" on small grids and where two steps at once do not fit the
        cache; on CUDA devices "step", but "diamond" on those of compute capability 9 or more where the grid,
        with its layers, is large: towers side by side in x times blocks along z at least 132, the SMs of an
        H200 (at order 2 nx of 1830 where nz is 112 to 224, of 600 where nz is 600), ny at least 64 times the
        order, and z of at most two blocks at order 6 and in float64; not at order 8, where "step" is as fast.
    kernel_options : dict of str to int, optional
        Parts of the plan to fix. "step" on CUDA devices: rows (along y, of a block), planes (of x, that it
        marches over; in the layers of staggered schemes half as many); staggered: width (places of a thread
        along z), lanes (16 to 64 threads along z), blocks (that an SM shall hold), too. Scalar scheme on the
        CPU: depth (steps at once), rows (of a block).
        "diamond": levels (steps of a launch), fewest (of one: fewer are taken one by one), dts and step (half
        the width of a diamond is dts times step; step divides order / 2 and is at least half of it), zb
        (nodes along z, of a block, at most), old (the level before in 1: shared memory, 2: registers), unroll
        (1 or 2 copies of the code), chunk (cells in flight), variable (c of each node through 1: the L2
        cache, 2: registers), sms (multiprocessors to occupy). ``config["kernel_options"]`` is the whole plan.
    window : "auto", None or int
        For grids larger than the device's memory (scalar scheme on CUDA devices): the state stays in
        page-locked memory of the host, and a window of rows of y passes over the grid, while rows come and
        go: each once in as many steps as fit, 256 at most or "levels" of `kernel_options` (Levchenko et al.
        2016). A number: so many rows come at once (kernel "diamond": rounded up to whole stages of towers);
        "auto": only where the device's free memory does not hold the state; None: never. The same bits. Long
        calls pay: each goes over the whole grid. Not along a periodic y, or one of one node.
        ``config["window"]`` is the number of rows in use.
    tune : bool
        Measure kernels, unless one is given, and plans near the table's on this grid and device, unless that
        was done before: some minutes; what `kernel_options` has stays. The winner is printed, and remembered
        beside the compiled kernels. Results do not depend on it. CUDA only; nothing on the CPU.
    allow_unstable : bool
        Accept a dt above the stable limit.

    Notes
    -----
    On x86 CPUs steps take numbers below the smallest normal one (1.2e-38, 2.2e-308) for 0: the rim of a
    wave, where they cost a third of the speed.

    Attributes
    ----------
    grid, medium
        As given.
    order : int
    padded : tuple of int
        Nodes along x, y, z with layers.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered sides, bad materials, more than one density, a dt above the limit.

    Notes
    -----
    The step is stable up to 2 / (c sqrt(S sum 1/h^2)), S = 4, 16/3, 6.0444, 6.5016 for orders 2, 4, 6, 8;
    staggered up to 1 / (c D sqrt(sum 1/h^2)), D = 1, 1.1667, 1.2417, 1.2863.
    From order 6 on what is left of the error comes from the step in time: a phase error of
    (2 pi f dt)^2 / 24.

    Examples
    --------
    >>> import unda
    >>> grid = unda.Grid((41, 41, 41), 10.0)
    >>> medium = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> sim = unda.FD(grid, medium, order=8, boundary={"zmax": "free", "*": "absorbing"}, device="cpu")
    >>> sim.add_source(unda.VolumeInjection((200.0, 203.0, 198.0), unda.ricker(10.0)))
    >>> rec = sim.add_receivers([(300.0, 200.0, 300.0)])
    >>> sim.run(until=0.02)
    >>> rec["p"].shape == (1, len(rec.t))
    True
    """

    grid: Grid
    order: int
    _sides: dict[str, Any]
    _scheme: Scalar

    def __init__(
        self,
        grid: Grid,
        medium: Medium,
        *,
        order: int = 4,
        scheme: str = "scalar",
        boundary: Mapping[str, Any] | None = None,
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Any = "float32",
        device: str = "auto",
        threads: int | None = None,
        kernel: str = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
        tune: bool = False,
        allow_unstable: bool = False,
    ) -> None:
        if flag("tune", tune):
            from .tune import tuned_grid

            device = choose_device() if isinstance(device, str) and device == "auto" else device
            kernel, kernel_options = tuned_grid(
                type(self), grid, medium, device, kernel, kernel_options, order=order, scheme=scheme,
                boundary=boundary, dt=dt, cfl=cfl, sample_dt=sample_dt, dtype=dtype,
                allow_unstable=allow_unstable, window=window,
            )  # fmt: skip
        if dt is not None and sample_dt is not None:
            raise ArgumentError("give dt or sample_dt, not both")
        options, grid_options, self._sides, self._scheme, chosen = self._options(
            grid, medium, order=order, scheme=scheme, boundary=boundary, dt=dt, cfl=cfl, dtype=dtype,
            device=device, threads=threads, kernel=kernel, kernel_options=kernel_options, window=window,
        )  # fmt: skip
        self.grid, self.order = grid, int(grid_options.order)
        self.dtype = np.dtype(PRECISIONS[options.precision])
        self._start_solver(
            medium, options, sample_dt=sample_dt, allow_unstable=flag("allow_unstable", allow_unstable)
        )
        self.fields = self._scheme.fields
        if not grid_options.uniform:
            try:
                self._give_material()
            except BaseException:
                self.close()
                raise
        self.config = {
            "method": "FD",
            "scheme": scheme,
            "order": self.order,
            "dtype": self.dtype.name,
            "cfl": float(options.cfl),
            "sample_dt": None if sample_dt is None else float(sample_dt),
            "allow_unstable": allow_unstable,
            "grid": grid.to_config(),
            "boundary": {
                name: one if isinstance(one, str) else one.to_config() for name, one in self._sides.items()
            },
            **self._resolved(chosen),
            "window": int(self._info().window) or None,
        }

    @staticmethod
    def _options(
        grid: Grid,
        medium: Medium,
        *,
        order: int = 4,
        scheme: str = "scalar",
        boundary: Mapping[str, Any] | None = None,
        dt: float | None = None,
        cfl: float = 0.9,
        dtype: Any = "float32",
        device: str = "auto",
        threads: int | None = None,
        kernel: str = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
    ) -> tuple[Any, Any, dict[str, Any], Scalar, str]:
        """Return the library's options, those of the grid (to be kept alive), sides, scheme and device."""
        if not isinstance(grid, Grid):
            raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid")
        kind = scheme_of(scheme, medium)
        order = integer("order", order, 2, 16)
        if order % 2:
            raise ArgumentError(f"order is {order}, expected an even number")
        sides = conditions(grid, kind, boundary)
        layers = [one if isinstance(one, (Damping, CPML)) else None for one in sides.values()]
        medium.on(Block(grid, 0, 1))  # refuses what does not fit the grid
        try:
            material = np.array(list(medium.scalar().values())) if kind.name == "scalar" else None
        except ArgumentError:
            material = None
        fastest = medium.speed_max(grid) if material is None else float(material[1])
        grid_options = _core.new_struct(
            "unda_fd_options", scheme=kind.code, order=order, shape=list(grid.shape),
            spacing=list(grid.spacing), origin=list(grid.origin), uniform=int(material is not None),
            window=_window(window), speed_max=fastest, layer=[one.width if one else 0 for one in layers],
            reflection=[one.R0 if one else 0.0 for one in layers],
            stretch=[one.kappa if isinstance(one, CPML) else 1.0 for one in layers],
            frequency=[frequency_of(one, fastest, grid.spacing[i // 2]) for i, one in enumerate(layers)],
        )  # fmt: skip
        common, chosen = common_options(dtype=dtype, device=device, threads=threads, dt=dt, cfl=cfl)
        options = _core.new_struct(
            "unda_solver_options",
            **common,
            method=lib.UNDA_FD,
            physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
            kernel=_KERNELS[list(_KERNELS)[choice("kernel", kernel, list(_KERNELS))]],
            material=material,
            boundary=np.array([code_of(side) for side in sides.values()], np.int32),
            plan=plan(kernel_options, kind.plans["cpu" if chosen == "cpu" else "cuda"]),
            fd=grid_options,
        )
        return options, grid_options, sides, kind, chosen

    @classmethod
    def forecast(cls, grid: Grid, medium: Medium, **keywords: Any) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        grid, medium, **keywords
            As for `FD`.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be. With
            ``window="auto"`` that depends on the device's free memory; without a device all is on it.

        Examples
        --------
        >>> import unda
        >>> grid, medium = unda.Grid((1000, 1000, 1000), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
        >>> 9e9 < unda.FD.forecast(grid, medium, device="cpu")["host"] < 11e9
        True
        """
        for name in ("sample_dt", "allow_unstable", "tune"):  # do not matter
            keywords.pop(name, None)
        options, grid_options, *_ = cls._options(grid, medium, **keywords)
        found = forecast(ffi.NULL, options)
        del grid_options  # alive until here
        return found

    def _give_material(self) -> None:
        tables = self.medium._tables(block for _, _, block in _slabs(self.grid))
        for (first, count, _), values in zip(_slabs(self.grid), tables, strict=True):
            _core.check(lib.unda_solver_set_material(self._handle, first, count, _core.pointer(values)))

    # ---- what it is ----

    @property
    def padded(self) -> tuple[int, int, int]:
        """Nodes along x, y, z with layers."""
        x, y, z = self._info().padded
        return int(x), int(y), int(z)

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the nodes (nx, ny, nz, 3) [m]."""
        return np.stack(np.meshgrid(*self.grid.axes(), indexing="ij"), axis=-1)

    def coordinates_of(self, name: str) -> np.ndarray:
        """Return where a field stands (nx, ny, nz, 3) [m]: staggered, up to half a cell from the nodes.

        Parameters
        ----------
        name : str

        Raises
        ------
        ArgumentError
            If there is no such field.

        Examples
        --------
        >>> import unda
        >>> sim = unda.FD(unda.Grid((5, 4, 3), 10.0), unda.Acoustic(rho=1.0, c=1.0), scheme="staggered")
        >>> sim.coordinates_of("vx")[0, 0, 0].tolist()
        [5.0, 0.0, 0.0]
        """
        self._arrays(name)
        axes = self.grid.axes(self._scheme.offset(name))
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)

    def _size(self) -> tuple[int, str]:
        return self.grid.num_node, "cell"

    def _plan(self, info: Any) -> dict[str, int]:
        names = self._scheme.plans["cuda" if info.on_gpu else "cpu"]
        found = dict(zip(names, map(int, info.plan), strict=False))
        return {name: part for name, part in found.items() if part} if info.on_gpu else found

    def _about(self) -> str:
        shape = " x ".join(map(str, self.grid.shape))
        padded = " x ".join(map(str, self.padded))
        return f"{self.config['scheme']}, order {self.order}, {shape} nodes, {padded} with layers"

    def rate(self, seconds: float, limits: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return what one step in so many seconds is against the machine.

        Parameters
        ----------
        seconds : float
            Time of a step [s].
        limits : dict, optional
            Of `device_limits`; measured now if omitted.

        Returns
        -------
        dict of str to float
            ``gcell_per_second``, of the user's nodes; ``gflops`` of the method's operations;
            ``gbytes_per_second`` of the traffic of one step at a time; ``percent_of_limit``: the time that
            the tighter of copy bandwidth and FMA rate allows step by step, in percent of the time taken:
            above 100 where several steps share their traffic.
        """
        info, num = self._info(), self.grid.num_node
        limits = device_limits(self.config["device"]) if limits is None else limits
        fma = limits["fma32" if self.dtype.itemsize == 4 else "fma64"]
        flops, moved = info.flops * num, info.bytes_per_elem * num
        return {
            "gcell_per_second": num / seconds / 1e9,
            "gflops": flops / seconds / 1e9,
            "gbytes_per_second": moved / seconds / 1e9,
            "percent_of_limit": 100 * max(flops / fma, moved / limits["copy"]) / seconds,
        }

    # ---- state ----

    def _arrays(self, name: str) -> int:
        (name,) = field_names((name,), self._scheme.names)
        return int(lib.UNDA_FIELD) + self._scheme.names.index(name)

    def _axes(self, name: str) -> list[np.ndarray]:
        """Return where a field stands along x, y, z [m]; what is but an image beyond a wall on the wall."""
        axes = list(self.grid.axes(self._scheme.offset(name)))
        for i, (axis, last) in enumerate(zip(axes, self.grid.upper, strict=True)):
            side = self._sides[SIDES[2 * i + 1]]
            if isinstance(side, str) and side != "periodic":
                axes[i] = np.minimum(axis, last)
        return axes

    def _write(
        self, name: str, value: Callable[[int, int, list[np.ndarray]], np.ndarray], *, called: bool = True
    ) -> None:
        """Write a field slab by slab; value(first, count, place) gives its values; called: by the user's."""
        array, (x, y, z) = self._arrays(name), self._axes(name)

        def made(slab: tuple[int, int, Block]) -> np.ndarray:
            first, count, _ = slab
            place = [x[first : first + count, None, None], y[None, :, None], z[None, None, :]]
            return np.ascontiguousarray(value(first, count, place))

        parts = (map if called else ahead)(made, _slabs(self.grid))
        for (first, count, _), part in zip(_slabs(self.grid), parts, strict=True):
            _core.check(lib.unda_solver_write(self._live(), array, first, count, _core.pointer(part)))

    def _write_field(self, name: str, value: Any) -> None:
        if not callable(value):
            try:
                value = np.asarray(value)
            except ValueError as error:
                raise ArgumentError(f"{name} is not an array of numbers: {error}") from None
            if value.ndim and value.shape != self.grid.shape:
                raise ArgumentError(f"{name} has shape {value.shape}, expected {self.grid.shape}")

        def part(first: int, count: int, place: list[np.ndarray]) -> np.ndarray:
            given = value if callable(value) or np.ndim(value) == 0 else value[first : first + count]
            return node_values(name, given, place, self.dtype)

        self._write(name, part, called=callable(value))

    @alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set the state and the clock; layers are set to zero.

        Parameters
        ----------
        exact : exact solution, optional
            Gives each field at its place and time: p at t and at t - dt; staggered v and H at t - dt/2.
        t : float
            The time that it is [s].
        **fields : array_like, float or callable
            ``p`` and ``p_previous`` (one step before), staggered any fields, at their places
            (`coordinates_of`) and times: values (nx, ny, nz), a number, or f(x, y, z); the others are 0.
            Without p_previous, or v (H), the wave is one whose dp/dt, or v, is 0 now. What a wall holds at 0
            is 0, whatever is given.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite.
        """
        names = self._scheme.names
        unknown = sorted(set(fields) - set(names))
        if unknown:
            raise ArgumentError(f"no fields {unknown}; there are {list(names)}")
        if exact is not None and fields:
            raise ArgumentError("give an exact solution or fields, not both")
        if exact is not None and not callable(exact):
            raise ArgumentError(f"exact is {exact!r}, expected an exact solution; fields go by name")
        if "p_previous" in fields and "p" not in fields:
            raise ArgumentError("p_previous is given without p")
        t = number("t", t, "s")
        self._begun = False
        _core.check(lib.unda_solver_clear_state(self._live()))
        if exact is not None:
            exact = self._bound(exact)
            for name in names:
                self._write(name, partial(self._exact, exact, name, t))
        elif fields:
            for name, value in fields.items():
                self._write_field(name, value)
            if not any(self._scheme.lag(name) for name in fields):
                _core.check(lib.unda_solver_rest(self._live()))
        self._begin_at(t)

    def _exact(
        self, exact: Callable[..., Any], name: str, t: float, first: int, count: int, place: list[np.ndarray]
    ) -> np.ndarray:
        """Return a field of an exact solution at its places of a slab."""
        field, _, _ = name.partition("_")  # of p_previous: p
        found = exact(*place, t + self._scheme.lag(name) * self.dt)
        if not isinstance(found, Mapping) or field not in found:
            raise ArgumentError(f"the exact solution gave no {field}")
        return node_values(field, found[field], place, self.dtype)

    @alone
    def get(self, name: str) -> np.ndarray:
        """Return a field, or ``p_previous`` (nx, ny, nz), at its places and time, see `coordinates_of`."""
        array = self._arrays(name)
        out = np.empty(self.grid.shape, self.dtype)
        to = _core.pointer(out, writable=True)
        _core.check(lib.unda_solver_read(self._live(), array, 0, len(out), to))
        return out

    def _whole(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return number and shape of each array of the state: fields with layers, and memory of these."""
        made: dict[str, tuple[int, tuple[int, ...]]] = {}
        shape, names = ffi.new("int64_t[3]"), self._scheme.names
        while True:
            number = int(lib.UNDA_WHOLE) + len(made)
            if lib.unda_solver_array_shape(self._live(), number, shape) != lib.UNDA_OK:
                return made
            name = names[len(made)] if len(made) < len(names) else f"layer_{len(made) - len(names)}"
            made[name] = number, tuple(int(n) for n in shape)

    def error(self, exact: Any, *, relative: bool = False) -> dict[str, float]:
        """Return the L2 error of the fields against an exact solution at the present time.

        Parameters
        ----------
        exact : exact solution
        relative : bool
            Divide by the exact norm of the fields that belong together: p; v; stresses; E; H.

        Returns
        -------
        dict of str to float
            For each field sqrt(sum (q - q_exact)^2 V) over the user's places inside, each at its time, V
            the product of the spacings.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then.
        """
        if getattr(exact, "singular", False):
            raise ArgumentError(
                f"{exact!r} is singular, its L2 norm is infinite; compare traces with rec.misfit"
            )
        if not callable(exact):
            raise ArgumentError(f"exact is {exact!r}, expected an exact solution")
        exact = self._bound(exact)
        wrong, norm = {}, {}
        for name in self.fields:
            wrong[name], norm[name] = self._square_error(name, exact)
        if not flag("relative", relative):
            return {name: float(np.sqrt(one * np.prod(self.grid.spacing))) for name, one in wrong.items()}
        made = {}
        for group in self.medium.field_groups.values():
            whole = sum(norm.get(name, 0.0) for name in group)
            for name in (one for one in group if one in wrong):
                made[name] = float(np.sqrt(wrong[name] / whole)) if whole > 0 else np.inf
        return {name: made[name] for name in self.fields}

    def _square_error(self, name: str, exact: Any) -> tuple[float, float]:
        """Return sums of (q - q_exact)^2 and of q_exact^2."""
        x, y, z = self._axes(name)
        found, t = self.get(name), self.t + self._scheme.lag(name) * self.dt
        inside = [axis < np.inf for axis in (x, y, z)]
        for i, (axis, half) in enumerate(zip((x, y, z), self._scheme.offset(name), strict=True)):
            if half and self._axes(name)[i][-1] == self.grid.upper[i] and len(axis) > 1:
                inside[i] = np.arange(len(axis)) < len(axis) - 1  # an image beyond a wall
        wrong = norm = 0.0
        for first, count, _ in _slabs(self.grid):
            part = slice(first, first + count)
            place = np.broadcast_arrays(x[part, None, None], y[None, :, None], z[None, None, :])
            here = inside[0][part, None, None] & inside[1][:, None] & inside[2]
            values = field_values(exact(*place, t), (name,), place[0].shape, "the exact solution")[name]
            wrong += float((((found[part] - values) ** 2)[here]).sum())
            norm += float((np.asarray(values)[here] ** 2).sum())
        return wrong, norm

    @alone
    def write_vti(self, path: Any, fields: Sequence[str] | None = None) -> None:
        """Write fields for ParaView (VTI, a regular grid).

        Parameters
        ----------
        path : str or Path
        fields : sequence of str, optional
            All if omitted.

        Raises
        ------
        ArgumentError, FileError

        Notes
        -----
        Point data: fields as `get` has them, and the parameters of a medium that varies. A staggered field
        stands at the numbers of its nodes; field data offset_NAME say how far from these it is along x, y, z
        [cells] and in time [steps]. Other field data: TimeValue [s], and ``sim.config`` as the bytes of a
        JSON text.

        Examples
        --------
        >>> sim.write_vti("wave.vti")  # doctest: +SKIP
        """
        from .vti import write_vti

        write_vti(self, path, fields)

    def check(self) -> Report:
        """Look for what often goes wrong, before the first step.

        Returns
        -------
        Report
            Nodes in the shortest wavelength, and warnings: too few nodes for the order, a phase error of the
            step in time, thin layers, units that look wrong. Prints as text; true where there is no warning.

        Examples
        --------
        >>> print(sim.check())  # doctest: +SKIP
        """
        return grid_check.check(self)

    # ---- points ----

    def _inside(self, points: ArrayLike, what: str) -> tuple[np.ndarray, None]:
        if isinstance(points, (list, tuple)) and len(points) == 0:
            points = np.empty((0, 3))
        array = _core.as_array(points, np.float64, (None, 3), f"{what}s", finite=True)
        for i in np.flatnonzero(~self.grid.contains(array))[:1]:
            place = ", ".join(f"{x:g}" for x in array[i])
            raise ArgumentError(
                f"{what} {i} at ({place}) m lies outside the grid, {self.grid.lower} to {self.grid.upper} m"
            )
        return array, None

    def _binder(self) -> Callable[[Any], Any]:
        grid = self.grid
        return lambda solution: solution.bind(grid)

    def _bound(self, exact: Any) -> Any:
        return exact.bind(self.grid) if hasattr(exact, "bind") else exact

    def _channels_of(self, fields: Iterable[str] | None) -> Channels:
        values = [
            name
            for name, one in self.medium.derived.items()
            if all(field in self.fields and not derivative for _, field, derivative in one.terms)
        ]
        known = (*self.fields, *values)
        return Channels(self.medium, field_names(self.fields if fields is None else fields, known))

    def _lags(self) -> dict[str, float]:
        return {name: self._scheme.lag(name) * self.dt for name in self.fields if self._scheme.lag(name)}

    def _source_terms(self, source: Source, elem: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
        index = np.rint(self.grid.locate([source.position])[0]).astype(int)
        node = int(np.ravel_multi_index(tuple(index), self.grid.shape))
        return self._scheme.terms(source, self.grid, node, self.dt)

    def _blown_up(self, message: str) -> UnstableError:
        blowup = _core.new_struct("unda_blowup")
        _core.check(lib.unda_solver_get_blowup(self._handle, blowup))
        self._blown = int(blowup.step), int(blowup.last_good_step)
        when = self._start + int(blowup.step) * self.dt
        node = int(blowup.elem)
        common = {"step": int(blowup.step), "last_good_step": int(blowup.last_good_step), "time": when,
                  "field": self.fields[int(blowup.field)], "node": 0, "element": node}  # fmt: skip
        if node < 0:
            return UnstableError(f"{message} in a layer, t = {when:.6g} s", **common)
        index = tuple(int(i) for i in np.unravel_index(node, self.grid.shape))
        parts = zip(self.grid.origin, index, self.grid.spacing, strict=True)
        place = tuple(o + i * h for o, i, h in parts)
        values = self.medium.on(Block(self.grid, node, node + 1))[0]
        material = dict(zip(self.medium.parameters, map(float, values), strict=True))
        fastest = float(self.medium._speeds(values[None]).max())
        local_cfl = self.dt / self.dt_stable * fastest / self._speed_max()
        return UnstableError(
            f"{message} {index} at {place} m, {material}, t = {when:.6g} s, local CFL number {local_cfl:.3g}",
            **common, coordinates=place, material=material, local_cfl=local_cfl,
        )  # fmt: skip

    def _speed_max(self) -> float:
        return self.medium.speed_max(self.grid)

    def _room(self) -> int:
        """Return the steps whose samples fit 64 MB, on a device 512 MB; a field has 512 nodes a receiver."""
        groups = zip(self._receivers, self._channels, strict=True)
        values = sum(len(one.points) * len(channels.numbers) / one.every for one, channels in groups)
        most = 512e6 if self._info().on_gpu else 64e6
        step = self.dtype.itemsize * 512 * values + 8 * (len(self._sources) + 1)
        return int(max(1, min(most / step, 100_000)))

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        return grid_plane.plane(self, field, axis, value)
