"""FD: finite differences on regular grids, scripted.

Sets up a problem and holds its state, plane by plane. Not here: running it (simulation.py), numerics
(csrc/fd, cuda/fd), grids (grid.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, grid_check, grid_plane
from ._check import field_names, field_values, flag, integer, number
from ._core import ffi, lib
from .check import Report
from .errors import ArgumentError, UnstableError
from .grid import Block, Grid
from .layer import Damping
from .limits import device_limits
from .medium import Acoustic, Medium
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
from .source import Source, VolumeInjection

__all__ = ["FD"]

_SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
_CODES = {
    "absorbing": lib.UNDA_BOUNDARY_ABSORBING,
    "rigid": lib.UNDA_BOUNDARY_RIGID,
    "free": lib.UNDA_BOUNDARY_FREE,
    "periodic": lib.UNDA_BOUNDARY_PERIODIC,
}
_SCHEMES = ("scalar",)
_KERNELS = {
    "auto": lib.UNDA_KERNEL_AUTO,
    "step": lib.UNDA_KERNEL_STEP,
    "tiled": lib.UNDA_KERNEL_TILED,
    "diamond": lib.UNDA_KERNEL_DIAMOND,
}
_PLANS = {"cpu": ("depth", "rows"), "cuda": ("rows", "planes", "dts", "step", "levels")}
_SLAB = 2**20  # nodes worked on at a time in Python


def _conditions(grid: Grid, given: Mapping[str, Any] | None) -> dict[str, str | Damping]:
    """Read the `boundary` keyword: a word or a layer for each of the six sides."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"boundary is {given!r}, expected a dict of sides, '*' for the rest")
    given = dict({"*": "absorbing"} if given is None else given)
    rest = given.pop("*", None)
    unknown = [name for name in given if name not in _SIDES]
    if unknown:
        raise ArgumentError(f"boundary names {unknown}; a grid has {list(_SIDES)}")
    found: dict[str, str | Damping] = {}
    for i, name in enumerate(_SIDES):
        flat = grid.shape[i // 2] == 1 and name not in given  # a problem in fewer dimensions
        condition = "periodic" if flat else given.get(name, rest)
        if not isinstance(condition, Damping) and condition not in _CODES:
            raise ArgumentError(
                f"boundary {name!r} has condition {condition!r}; expected one of {list(_CODES)}, "
                "a layer such as unda.Damping, or '*' for the rest"
            )
        found[name] = Damping() if condition == "absorbing" else condition
    for low, high in zip(_SIDES[::2], _SIDES[1::2], strict=True):
        if (found[low] == "periodic") != (found[high] == "periodic"):
            raise ArgumentError(
                f"boundary {low!r} is {found[low]!r}, {high!r} is {found[high]!r}; "
                "expected periodic for both or none"
            )
    return found


def _slabs(grid: Grid) -> Iterator[tuple[int, int, Block]]:
    """Cut a grid into whole planes of constant x: the first, their number, their nodes."""
    step = max(1, _SLAB // (grid.shape[1] * grid.shape[2]))
    for first in range(0, grid.shape[0], step):
        count = min(step, grid.shape[0] - first)
        yield first, count, grid.slab(first, count)


class FD(Simulation):
    """Finite differences on a regular grid.

    ``scheme="scalar"``: the pressure of an acoustic medium of constant density, p_tt = c^2 laplace p +
    rho c^2 q_t delta, of order 2 in time and any even order in space (Perepelkina & Levchenko 2015).

    Parameters
    ----------
    grid : Grid
    medium : Acoustic
        c constant or given at each node (array of the grid's shape, or a function); rho one number.
    order : int
        Of the differences in space: even, 2 to 16.
    scheme : {"scalar"}
    boundary : dict of str to str or Damping, optional
        Condition at "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"; "*" is the rest; "absorbing"
        everywhere if omitted, but an axis of one node is periodic: a problem in two dimensions. "free"
        (p = 0 at the outermost nodes), "rigid" (they are mirrors), "periodic" (both sides of an axis; the
        period is n times the spacing), "absorbing" or a `Damping`: a layer outside the grid.
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
        "step": one step of the whole grid after the other. "tiled", on the CPU and where x and y are not
        periodic: several steps of what is in the cache. "diamond", on CUDA devices up to order 8 and where
        nothing is periodic: many steps in towers of diamonds (Perepelkina & Levchenko 2015). All give the
        same bits.
    kernel_options : dict of str to int, optional
        Parts of the plan to fix. "step" on CUDA devices: rows (along y, of a block), planes (of x, that it
        marches over). On the CPU: depth (steps at once), rows (of a block).
    allow_unstable : bool
        Accept a dt above the stable limit.

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
    The step is stable up to 2 / (c sqrt(S sum 1/h^2)), S = 4, 16/3, 6.0444, 6.5016 for orders 2, 4, 6, 8.
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
    _sides: dict[str, str | Damping]

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
        allow_unstable: bool = False,
    ) -> None:
        if dt is not None and sample_dt is not None:
            raise ArgumentError("give dt or sample_dt, not both")
        options, grid_options, self._sides, chosen = self._options(
            grid, medium, order=order, scheme=scheme, boundary=boundary, dt=dt, cfl=cfl, dtype=dtype,
            device=device, threads=threads, kernel=kernel, kernel_options=kernel_options,
        )  # fmt: skip
        self.grid, self.order = grid, int(grid_options.order)
        self.dtype = np.dtype(PRECISIONS[options.precision])
        self._start_solver(
            medium, options, sample_dt=sample_dt, allow_unstable=flag("allow_unstable", allow_unstable)
        )
        self.fields = ("p",)
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
                name: one.to_config() if isinstance(one, Damping) else one
                for name, one in self._sides.items()
            },
            **self._resolved(chosen),
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
    ) -> tuple[Any, Any, dict[str, str | Damping], str]:
        """Return the library's options, those of the grid (to be kept alive), the sides and the device."""
        if not isinstance(grid, Grid):
            raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid")
        if not isinstance(medium, Acoustic):
            raise ArgumentError(f"medium is {medium!r}, expected unda.Acoustic: the scalar scheme")
        choice("scheme", scheme, _SCHEMES)
        order = integer("order", order, 2, 16)
        if order % 2:
            raise ArgumentError(f"order is {order}, expected an even number")
        sides = _conditions(grid, boundary)
        layers = [one if isinstance(one, Damping) else None for one in sides.values()]
        words = ["absorbing" if isinstance(one, Damping) else one for one in sides.values()]
        medium.on(Block(grid, 0, 1))  # refuses what does not fit the grid
        try:
            material = np.array(list(medium.scalar().values()))
        except ArgumentError:
            material = None
        grid_options = _core.new_struct(
            "unda_fd_options", scheme=lib.UNDA_SCALAR, order=order, shape=list(grid.shape),
            spacing=list(grid.spacing), origin=list(grid.origin), uniform=int(material is not None),
            speed_max=medium.speed_max(grid) if material is None else float(material[1]),
            layer=[one.width if one else 0 for one in layers],
            reflection=[one.R0 if one else 0.0 for one in layers],
        )  # fmt: skip
        common, chosen = common_options(dtype=dtype, device=device, threads=threads, dt=dt, cfl=cfl)
        options = _core.new_struct(
            "unda_solver_options",
            **common,
            method=lib.UNDA_FD,
            physics=lib.UNDA_ACOUSTIC,
            kernel=_KERNELS[list(_KERNELS)[choice("kernel", kernel, list(_KERNELS))]],
            material=material,
            boundary=np.array([_CODES[word] for word in words], np.int32),
            plan=plan(kernel_options, _PLANS["cpu" if chosen == "cpu" else "cuda"]),
            fd=grid_options,
        )
        return options, grid_options, sides, chosen

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
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be.

        Examples
        --------
        >>> import unda
        >>> grid, medium = unda.Grid((1000, 1000, 1000), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
        >>> 9e9 < unda.FD.forecast(grid, medium, device="cpu")["host"] < 11e9
        True
        """
        for name in ("sample_dt", "allow_unstable"):  # do not matter
            keywords.pop(name, None)
        options, grid_options, *_ = cls._options(grid, medium, **keywords)
        found = forecast(ffi.NULL, options)
        del grid_options  # alive until here
        return found

    def _give_material(self) -> None:
        for first, count, block in _slabs(self.grid):
            values = self.medium.on(block)
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

    def _size(self) -> tuple[int, str]:
        return self.grid.num_node, "cell"

    def _plan(self, info: Any) -> dict[str, int]:
        names = _PLANS["cuda" if info.on_gpu else "cpu"]
        return dict(zip(names, map(int, info.plan), strict=False))

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
        (name,) = field_names((name,), ("p", "p_previous"))
        return int(lib.UNDA_FIELD) + (name == "p_previous")

    def _write(self, array: int, value: Callable[[int, int, list[np.ndarray]], np.ndarray]) -> None:
        """Write a field slab by slab; value(first, count, place) gives its nodes."""
        x, y, z = self.grid.axes()
        for first, count, _ in _slabs(self.grid):
            place = [x[first : first + count, None, None], y[None, :, None], z[None, None, :]]
            part = np.ascontiguousarray(value(first, count, place))
            _core.check(lib.unda_solver_write(self._live(), array, first, count, _core.pointer(part)))

    def _write_field(self, name: str, value: Any, array: int) -> None:
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

        self._write(array, part)

    @alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set the state and the clock; layers are set to zero.

        Parameters
        ----------
        exact : exact solution, optional
            Gives p at t and at t - dt.
        t : float
            The time that it is [s].
        **fields : array_like, float or callable
            ``p`` and ``p_previous`` (one step before): values (nx, ny, nz), a number, or f(x, y, z). Without
            p_previous the wave is one whose dp/dt is 0 now: p + c^2 dt^2 / 2 laplace p. On free sides p
            is 0, whatever is given there.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite.
        """
        unknown = sorted(set(fields) - {"p", "p_previous"})
        if unknown:
            raise ArgumentError(f"no fields {unknown}; there are ['p', 'p_previous']")
        if exact is not None and fields:
            raise ArgumentError("give an exact solution or fields, not both")
        if exact is not None and not callable(exact):
            raise ArgumentError(f"exact is {exact!r}, expected an exact solution; fields go by name")
        if "p_previous" in fields and "p" not in fields:
            raise ArgumentError("p_previous is given without p")
        t = number("t", t, "s")
        now, previous = int(lib.UNDA_FIELD), int(lib.UNDA_FIELD) + 1
        self._begun = False
        _core.check(lib.unda_solver_clear_state(self._live()))
        if exact is not None:
            exact = self._bound(exact)
            for array, when in ((now, t), (previous, t - self.dt)):
                self._write(array, partial(self._exact, exact, when))
        elif "p" in fields:
            self._write_field("p", fields["p"], now)
            if "p_previous" in fields:
                self._write_field("p_previous", fields["p_previous"], previous)
            else:
                _core.check(lib.unda_solver_rest(self._live()))
        self._begin_at(t)

    def _exact(
        self, exact: Callable[..., Any], t: float, first: int, count: int, place: list[np.ndarray]
    ) -> np.ndarray:
        """Return p of an exact solution at the nodes of a slab."""
        found = exact(*place, t)
        if not isinstance(found, Mapping) or "p" not in found:
            raise ArgumentError("the exact solution gave no p")
        return node_values("p", found["p"], place, self.dtype)

    @alone
    def get(self, name: str) -> np.ndarray:
        """Return ``p`` or ``p_previous`` (nx, ny, nz)."""
        array = self._arrays(name)
        out = np.empty(self.grid.shape, self.dtype)
        to = _core.pointer(out, writable=True)
        _core.check(lib.unda_solver_read(self._live(), array, 0, len(out), to))
        return out

    def error(self, exact: Any, *, relative: bool = False) -> dict[str, float]:
        """Return the L2 error of p against an exact solution at the present time.

        Parameters
        ----------
        exact : exact solution
        relative : bool
            Divide by the exact norm.

        Returns
        -------
        dict of str to float
            sqrt(sum (p - p_exact)^2 V) over the user's nodes, V the product of the spacings.

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
        x, y, z = self.grid.axes()
        found, t = self.get("p"), self.t
        wrong = norm = 0.0
        for first, count, _ in _slabs(self.grid):
            place = np.broadcast_arrays(
                x[first : first + count, None, None], y[None, :, None], z[None, None, :]
            )
            values = field_values(exact(*place, t), ("p",), place[0].shape, "the exact solution")["p"]
            wrong += float(((found[first : first + count] - values) ** 2).sum())
            norm += float((np.asarray(values) ** 2).sum())
        if flag("relative", relative):
            return {"p": float(np.sqrt(wrong / norm)) if norm > 0 else np.inf}
        return {"p": float(np.sqrt(wrong * np.prod(self.grid.spacing)))}

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
        return Channels(self.medium, field_names(self.fields if fields is None else fields, self.fields))

    def _source_terms(self, source: Source, elem: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
        if not isinstance(source, VolumeInjection):
            source.check_physics(self.medium)
            raise ArgumentError(f"source is {source!r}, expected a VolumeInjection: the scalar scheme")
        f, dt = source.time_function(self.dt), self.dt
        rho = self.medium.on(Block(self.grid, 0, 1))[0, 0]
        # dt^2 q_t, centred: exact in the sense that the scheme equals the staggered one.
        return np.array([rho]), lambda t: dt * (f(t + 0.5 * dt) - f(t - 0.5 * dt))

    def _blown_up(self, message: str) -> UnstableError:
        blowup = _core.new_struct("unda_blowup")
        _core.check(lib.unda_solver_get_blowup(self._handle, blowup))
        self._blown = int(blowup.step), int(blowup.last_good_step)
        when = self._start + int(blowup.step) * self.dt
        node = int(blowup.elem)
        common = {"step": int(blowup.step), "last_good_step": int(blowup.last_good_step), "time": when,
                  "field": "p", "node": 0, "element": node}  # fmt: skip
        if node < 0:
            return UnstableError(f"{message} in a layer, t = {when:.6g} s", **common)
        index = tuple(int(i) for i in np.unravel_index(node, self.grid.shape))
        parts = zip(self.grid.origin, index, self.grid.spacing, strict=True)
        place = tuple(o + i * h for o, i, h in parts)
        values = self.medium.on(Block(self.grid, node, node + 1))[0]
        material = dict(zip(self.medium.parameters, map(float, values), strict=True))
        local_cfl = self.dt / self.dt_stable * material["c"] / self._speed_max()
        return UnstableError(
            f"{message} {index} at {place} m, {material}, t = {when:.6g} s, local CFL number {local_cfl:.3g}",
            **common, coordinates=place, material=material, local_cfl=local_cfl,
        )  # fmt: skip

    def _speed_max(self) -> float:
        return self.medium.speed_max(self.grid)

    def _room(self) -> int:
        """Return the steps whose samples fit 64 MB, on a device 512 MB; receivers take 512 nodes each."""
        points = sum(len(receivers.points) / receivers.every for receivers in self._receivers)
        most = 512e6 if self._info().on_gpu else 64e6
        step = self.dtype.itemsize * 512 * points + 8 * (len(self._sources) + 1)
        return int(max(1, min(most / step, 100_000)))

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        return grid_plane.plane(self, field, axis, value)
