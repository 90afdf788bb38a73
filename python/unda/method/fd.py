"""FD: finite differences on regular grids, scripted.

Not here: running it, its sources and receivers (simulation_*.py), numerics (csrc/fd, cuda/fd), grids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import check_state, field_names, flag, number
from .._core import lib, new
from .._parallel import ahead
from ..errors import ArgumentError, UnstableError
from ..io.plotting import Plane
from ..limits import choose_device
from ..problem.grid import Block, Grid, chunks
from ..problem.incident import PlaneWave
from ..problem.layer_rule import layer_name
from ..problem.medium import Medium
from ..problem.surface import boundary_named, flat_heights
from . import grid_blowup, grid_check, grid_plane, norms, speed
from ._options import PRECISIONS, Given, Precision
from ._run_control import alone
from .check import Report
from .fd_options import fd_options
from .fd_sides import SIDES, reach
from .grid_material import GridMaterial
from .grid_points import GridPoints
from .grid_state import read_state
from .monitor_memory import add_monitors, box_of, names_on_grid, nodes_of
from .rank_grid import RankGrid, refuse_absent, refuse_other, take_ranks
from .simulation import Simulation
from .slabs import slabs_of
from .solver import forecast


class FD(Simulation):
    """Finite differences on a regular grid.

    ``scheme="scalar"``: the pressure of an acoustic medium of constant density, p_tt = c^2 laplace p +
    rho c^2 q_t delta (docs/fd_scalar.md). ``scheme="staggered"``: all fields of the acoustic, elastic or
    Maxwell equations, v and H half a step earlier (`coordinates_of`, ``rec.times``; docs/fd_staggered.md).

    Parameters
    ----------
    grid : Grid
        One node along an axis: two dimensions, all per metre (`unda.exact.line_source`).
    medium : Acoustic, Elastic or Maxwell
        Constant or given at each node (array of the grid's shape, function). Scalar: rho one number.
    order : int
        Of the differences in space: even, 2 to 16.
    scheme : {"scalar", "staggered"}
    boundary : dict of str to str, Damping or CPML, optional
        Condition at "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"; "*" is the rest; all "absorbing" if
        omitted. "free" (p, or the traction, is 0), "rigid"; elastic "fixed" (fluids slide), "symmetry";
        Maxwell "pec", "pmc": walls at the outermost nodes. "periodic": over n spacings, points anywhere.
        "absorbing": a `CPML` of 10 nodes outside the grid (with `fmax`, scalar, up to 20); or a `CPML`,
        scalar also a `Damping`.
    fmax : float, optional
        Highest frequency of the sources [Hz], for layers that have no f0: theirs is ``fmax / 2.5``. If
        omitted, scalar: the frequency with ten nodes per wavelength of the slowest wave.
    layer : {"auto", "cpml", "multiaxial", "sponge"}
        Kind of layers without a ratio. "auto": "cpml", or another one where that could be unstable; `check`
        says why (docs/absorbing_layers.md).
    dt : float, optional
        [s]; by default `cfl` times the stable limit.
    cfl : float
        Fraction of the stable limit.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str or list of str
        As for `DG`; several share slabs along x (docs/scaling.md).
    threads : int, optional
        By default all available, fewer for small problems.
    kernel : {"auto", "step", "tiled", "diamond"}
        Scalar: "tiled" (CPU) and "diamond" (CUDA) take several steps at once, with the same bits; see
        docs/kernel_options.md.
    kernel_options : dict of str to int, optional
        Options of the kernel.
    window : "auto", None or int
        Scalar, CUDA: a grid larger than the device's memory stays on the host, and a window of rows along y
        moves over it; a number sets the rows.
    tune : bool
        Measure kernels and settings once (CUDA).
    allow_unstable : bool
        Accept dt above it.
    comm, transport
        As for `DG`; transport with comm alone.

    Attributes
    ----------
    grid, medium
        As given.
    order : int
    padded : tuple of int
        Nodes along x, y, z with layers.
    team : Slabs or None
        What each of several devices has.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered sides, bad materials, two densities, dt above the limit.

    See Also
    --------
    DG, SEM, read_model

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

    _part: RankGrid | None = None  # what this process has, where others have the rest

    def __init__(
        self,
        grid: Grid,
        medium: Medium,
        *,
        order: int = 4,
        scheme: Literal["scalar", "staggered"] = "scalar",
        boundary: Mapping[str, Any] | None = None,
        fmax: float | None = None,
        layer: str = "auto",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Precision = "float32",
        device: str | Sequence[str] = "auto",
        threads: int | None = None,
        kernel: Literal["auto", "step", "tiled", "diamond"] = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
        tune: bool = False,
        allow_unstable: bool = False,
        comm: Any = None,
        transport: Literal["auto", "host", "nccl", "mpi"] = "auto",
    ) -> None:
        given = Given(locals())
        ranks = take_ranks(given)
        if ranks is None:
            self._make(given)
        else:
            self.ranks = ranks
            ranks.together("FD", lambda: self._make(given))

    def _make(self, given: Given) -> None:
        """Make the simulation of these arguments of the constructor."""
        slabs = slabs_of(given)
        if flag("tune", given.tune):
            from .tune import tuned_grid

            if slabs is not None or self.ranks is not None:
                raise ArgumentError(
                    "tune is True on several devices, or with comm=, where kernels of slabs are not tuned; "
                    "expected False: tune a grid of a slab's planes on one device, and give the options that "
                    "its config has as kernel_options="
                )
            given.device = choose_device(given.device)
            same = given.some(
                "order", "scheme", "boundary", "fmax", "layer", "dt", "cfl", "sample_dt", "dtype",
                "allow_unstable", "window",
            )  # fmt: skip
            given.kernel, given.kernel_options = tuned_grid(
                type(self), given.grid, given.medium, given.device, given.kernel, given.kernel_options, **same
            )
        if self.ranks is not None:
            refuse_absent(self.ranks, given.medium)
        options, grid_options, self._sides, self._scheme, chosen = fd_options(given)
        grid, medium = given.grid, given.medium
        self.grid, self.order = grid, int(grid_options.order)
        self.dtype = np.dtype(PRECISIONS[options.precision])
        allow = flag("allow_unstable", given.allow_unstable)
        self.medium, self.fields = medium, self._scheme.fields
        self._material = GridMaterial(medium, grid)
        # A device records 512 nodes a value, in eight times the memory.
        value_bytes = 8 if chosen == "cpu" else 64 * self.dtype.itemsize
        self._points = GridPoints(
            grid, medium, self._material, self._sides, self._scheme, value_bytes=value_bytes,
            ranks=self.ranks,
        )  # fmt: skip
        if self.ranks is not None:
            refuse_other(self.ranks, medium, options, grid_options)
            self._part = RankGrid(grid, self.ranks)
        self._new_solver(given, options, team=slabs._given() if slabs else _core.NULL, part=self._part)
        if self._part is not None:
            low = self._sides["xmin"]
            self._part.take(self._solver, 0 if isinstance(low, str) else low.width + self._scheme.layer_end)
        if slabs is not None:
            slabs._take(self._solver, (*self.padded[1:], self.dtype.itemsize))
            self.team = slabs
        self._uniform_dt = self.dt_stable  # the limit of a uniform medium with the fastest speed
        if not grid_options.uniform:
            try:
                self._give_material()
                if self.ranks is not None:
                    self.ranks.same("values of the medium", *self._material.digests())
                self._settle_dt()
                self._take_dt(allow)
            except BaseException:
                self.close()
                raise
        own = {
            "method": "FD",
            "scheme": given.scheme,
            "order": self.order,
            "grid": grid.to_config(),
            "boundary": {
                name: one if isinstance(one, str) else one.to_config() for name, one in self._sides.items()
            },
            "window": int(self._solver.info().window) or None,
        }
        if slabs is not None:
            own["team"] = {"devices": list(slabs.devices), "transport": slabs.transport}
        self._complete(given, own, chosen)

    @classmethod
    def forecast(
        cls, grid: Grid, medium: Medium, *, monitors: Sequence[Any] = (), **keywords: Any
    ) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        grid, medium, **keywords
            As for `FD`.
        monitors : sequence, optional
            As for `DG.forecast`.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be. With
            ``window="auto"`` that depends on the device's free memory; without a device all is on it. Of
            several devices those of each slab as well: "part 0", "part 1", ...

        Examples
        --------
        >>> import unda
        >>> grid, medium = unda.Grid((1000, 1000, 1000), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
        >>> 9e9 < unda.FD.forecast(grid, medium, device="cpu")["host"] < 11e9
        True
        """
        given = Given.of(cls, grid, medium, **keywords)
        if given.comm is not None:
            raise ArgumentError(
                "comm is given; the memory of a process is about that of a slab: device=[...]"
            )
        slabs = slabs_of(given)
        options, grid_options, _, scheme, _ = fd_options(given)
        found = forecast(_core.NULL, options, slabs._given() if slabs else _core.NULL)
        names = names_on_grid(grid, scheme)
        width = 1 if options.device == lib.UNDA_DEVICE_CPU else (4, 2)[options.precision]  # 16 bytes
        found = add_monitors(
            found, monitors, options, names, lambda region: nodes_of(grid, region, width),
            lambda region: () if slabs else box_of(grid, region), scheme.fields,
        )  # fmt: skip
        del grid_options  # alive until here
        return found

    def _give_material(self) -> None:
        for (first, count, _), values in zip(chunks(self.grid), self._material.tables(), strict=True):
            self._solver.call(lib.unda_solver_set_material, first, count, _core.pointer(values))

    def _settle_dt(self) -> None:
        """Let the library find the stable step of the materials given."""
        dt, again = new("double *"), new("int32_t *")
        self._solver.call(lib.unda_solver_medium_dt, dt, again)
        if again[0]:
            self._give_material()

    # ---- description ----

    @property
    def own_planes(self) -> range:
        """Planes of x of the user's grid that this process has."""
        return range(self.grid.shape[0]) if self._part is None else self._part.own

    def _chunks(self) -> Iterator[tuple[int, int, Block]]:
        """Return the chunks of the grid that have planes of this process."""
        return chunks(self.grid) if self._part is None else self._part.chunks()

    @property
    def padded(self) -> tuple[int, int, int]:
        """Nodes along x, y, z with layers."""
        x, y, z = self._solver.info().padded
        return int(x), int(y), int(z)

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the nodes (nx, ny, nz, 3) [m]."""
        return np.stack(np.meshgrid(*self.grid.axes(), indexing="ij"), axis=-1)

    def coordinates_of(self, name: str) -> np.ndarray:
        """Return the positions of a field (nx, ny, nz, 3) [m]: staggered, up to half a cell from the nodes.

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
        return np.stack(np.meshgrid(*self.grid.axes(self._scheme.offset(name)), indexing="ij"), axis=-1)

    def _size(self) -> tuple[int, str]:
        return self.grid.num_node, "cell"

    def _about(self) -> str:
        shape = " x ".join(map(str, self.grid.shape))
        padded = " x ".join(map(str, self.padded))
        layers = f"{padded} with layers{self._layers()}"
        return f"{self.config['scheme']}, order {self.order}, {shape} nodes, {layers}"

    def _layers(self) -> str:
        """Return which layers are not CPMLs, as text."""
        found: dict[str, list[str]] = {}
        for name, one in self._sides.items():
            if getattr(one, "ratio", 0.0):
                found.setdefault(layer_name(one.ratio), []).append(name)
        return "".join(f", {word} at {' '.join(names)}" for word, names in found.items())

    def rate(self, seconds: float, limits: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return the rate of a step of a given duration, and compare it with the machine's limits.

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
        return speed.rate(self, self.grid.num_node, seconds, limits)

    # ---- state ----

    def _arrays(self, name: str) -> int:
        (name,) = field_names((name,), self._scheme.names, self._scheme.others)
        return int(lib.UNDA_FIELD) + self._scheme.names.index(name)

    def _axes(self, name: str) -> list[np.ndarray]:
        """Return a field's positions along x, y, z [m]; images beyond a wall are moved onto it."""
        axes = list(self.grid.axes(self._scheme.offset(name)))
        for i, (axis, last) in enumerate(zip(axes, self.grid.upper, strict=True)):
            side = self._sides[SIDES[2 * i + 1]]
            if isinstance(side, str) and side != "periodic":
                axes[i] = np.minimum(axis, last)
        return axes

    def _write(self, name: str, parts: Iterable[np.ndarray]) -> None:
        """Write a field chunk by chunk."""
        array = self._arrays(name)
        whole = ahead(np.ascontiguousarray, parts)
        for (first, *_), part in zip(self._chunks(), whole, strict=True):
            self._solver.write(array, first, part)

    @alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set the state and the clock; layers are set to zero.

        Points within four cells of a layer sample some of these zeros until waves arrive.

        Parameters
        ----------
        exact : exact solution, optional
            Gives each field at its position and time: p at t and at t - dt; staggered v and H at t - dt/2.
        t : float
            The new time [s].
        **fields : array_like, float or callable
            ``p`` and ``p_previous`` (one step before), staggered any fields, at their positions
            (`coordinates_of`) and times: values (nx, ny, nz), a number, or f(x, y, z); the others are 0. With
            `comm` also values of own planes alone (`own_planes`).
            Without p_previous, or v (H), dp/dt, or v, is 0 now. Values that a wall fixes at 0 are set to 0,
            such as all normal stresses of a fluid on a free side.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite; in fluids of an elastic medium (vs = 0)
            unequal normal stresses, and shear stresses that average over a fluid node. The state, the clock
            and the receivers then remain unchanged, as they do if a function raises.

        Notes
        -----
        Everything is read and checked before anything is set: values of functions and exact solutions, and
        arrays of another precision, need additional memory until then.
        """
        names = self._scheme.names
        check_state(exact, fields, names, self._scheme.others)
        if "p_previous" in fields and "p" not in fields:
            raise ArgumentError("p_previous is given without p")
        t = number("t", t, "s")
        state = read_state(self, None if exact is None else self._points.bound(exact), t, fields)
        self._half_set = True
        self._solver.call(lib.unda_solver_clear_state)
        for name in list(state):
            self._write(name, state.pop(name))
        if fields and not any(self._scheme.lag(name) for name in fields):
            self._solver.call(lib.unda_solver_rest)
        self._begin_at(t, self.fields if exact is not None else fields)

    @alone
    def get(self, name: str, *, gather: bool = False) -> Any:
        """Return a field, or ``p_previous`` (nx, ny, nz), at its positions and time, see `coordinates_of`.

        Parameters
        ----------
        name : str
        gather : bool
            Where processes share the problem: return the whole field in process 0 and None in the others,
            instead of the planes `own_planes` in each.

        Returns
        -------
        ndarray, shape (nx, ny, nz), or None

        Raises
        ------
        ArgumentError
            If there is no such field.

        Examples
        --------
        >>> from mpi4py import MPI  # doctest: +SKIP
        >>> sim = unda.FD(grid, medium, comm=MPI.COMM_WORLD)  # doctest: +SKIP
        >>> sim.run(until=1.0)  # mpirun -n 8 python job.py  # doctest: +SKIP
        >>> whole = sim.get("p", gather=True)  # doctest: +SKIP
        """
        array, planes = self._arrays(name), self.own_planes
        own = np.empty((len(planes), *self.grid.shape[1:]), self.dtype)
        if len(planes):
            self._solver.read(array, planes.start, own)
        return own if not flag("gather", gather) or self._part is None else self._part.gathered(own)

    def _stored(self, name: str) -> tuple[int, tuple[int, ...]]:
        return self._arrays(name) - int(lib.UNDA_FIELD), (len(self.own_planes), *self.grid.shape[1:])

    def _whole(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return number and shape of each array of the state: fields with layers, and memory of these."""
        made: dict[str, tuple[int, tuple[int, ...]]] = {}
        shape, names = new("int64_t[3]"), self._scheme.names
        while True:
            number = int(lib.UNDA_WHOLE) + len(made)
            if lib.unda_solver_array_shape(self._solver.live(), number, shape) != lib.UNDA_OK:
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
            the product of the spacings, without those of axes of one node.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then. If the grid has fewer
            dimensions than the solution's source: see `unda.exact.line_source`.
        """
        return norms.grid_error(self, exact, relative=flag("relative", relative))

    @alone
    def write_vti(self, path: Any, fields: Sequence[str] | None = None, *, series: Any = None) -> None:
        """Write fields for ParaView (VTI, a regular grid).

        Parameters
        ----------
        path : str or Path
        fields : sequence of str, optional
            All if omitted.
        series : str or Path, optional
            A .pvd file, which ParaView opens as a series in time: the file is entered there once it is
            whole, instead of what had its name. One run at a time writes to a series.

        Raises
        ------
        ArgumentError, FileError

        Notes
        -----
        Point data: fields as `get` has them, and the parameters of a medium that varies. All of a vector is
        one array v, E or H, all of the stress a symmetric tensor s with components in VTK's order XX, YY, ZZ,
        XY, YZ, XZ. A staggered field is written at its node indices; field data offset_FIELD give its
        offset from the nodes along x, y, z [cells] and in time [steps]. Other field data: TimeValue [s], and
        ``sim.config`` as the bytes of a JSON text.

        Examples
        --------
        >>> sim.write_vti("wave_000.vti", series="wave.pvd")  # doctest: +SKIP
        """
        from ..io.vti import write_vti

        write_vti(self, path, fields, series)

    def to_pyvista(self, fields: str | Sequence[str] | None = None) -> Any:
        """Return fields as a regular grid of PyVista; needs pyvista.

        Parameters
        ----------
        fields : str or sequence of str, optional
            All if omitted.

        Returns
        -------
        pyvista.ImageData
            Point data: fields as `write_vti` has them, with offset_FIELD of staggered ones. Where processes
            share the problem: in process 0; None in the others.

        Examples
        --------
        >>> sim.to_pyvista("p").slice(normal="y").plot(cmap="RdBu_r")  # doctest: +SKIP
        """
        from ..io.volume import grid_data

        return self._together("to_pyvista", lambda: grid_data(self, fields))

    def to_xarray(self, fields: str | Sequence[str] | None = None) -> Any:
        """Return fields as a dataset of xarray; needs xarray.

        Parameters
        ----------
        fields : str or sequence of str, optional
            Fields, and parameters of the medium such as "c"; all fields if omitted.

        Returns
        -------
        xarray.Dataset
            Variables as `get` has them, along x, y, z, or x_half, .. where their positions lie between nodes;
            ``attrs["units"]`` of each is its unit, staggered v's and H's ``attrs["time_offset"]`` [s] is to
            be added to the time. Coordinates [m]. ``attrs`` of the dataset: time [s], and config as JSON.
            Where processes share the problem: in process 0; None in the others.

        Examples
        --------
        >>> sim.to_xarray(["p", "c"]).p.sel(y=500.0, method="nearest").plot()  # doctest: +SKIP
        """
        from ..io.labelled import grid_fields

        return self._together("to_xarray", lambda: grid_fields(self, fields))

    def check(self) -> Report:
        """Look for common mistakes before the first step.

        Returns
        -------
        Report
            Nodes per shortest wavelength, and warnings, which `run` raises as `AccuracyWarning`: too few
            nodes for the order, a phase error of time stepping, thin layers, units that look wrong,
            receivers that record zero and sources without effect by construction. Notes: sources of
            unknown frequency. Prints as text; true where there is no warning.

        Examples
        --------
        >>> print(sim.check())  # doctest: +SKIP
        """
        if self.ranks is None:
            return grid_check.check(self)
        return self.ranks.first("check", lambda: grid_check.check(self))  # each process knows all of it

    def _add_wave(self, wave: PlaneWave) -> None:
        from .total_field import add_plane_wave

        add_plane_wave(self, wave)

    def _heights(self, boundary: Any, xy: np.ndarray) -> np.ndarray:
        side = boundary_named(boundary, SIDES)
        if side not in ("zmin", "zmax"):
            raise ArgumentError(
                f"boundary is {boundary!r}, which is upright; expected zmin, zmax, top or bottom"
            )
        return flat_heights(self.grid, reach(self.grid, self._sides), side, xy)

    def _blown_up(self, message: str) -> UnstableError:
        return grid_blowup.unstable(self, message)

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        return grid_plane.plane(self, field, axis, value)
