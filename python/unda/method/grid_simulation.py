"""GridSimulation: the state of a wave on a grid, plane by plane; the base of FD.

Not here: running (simulation.py), sources, receivers (solver.py), how a method is set up (fd.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._check import call_at, check_state, field_names, field_values, flag, number
from .._core import lib, new
from .._parallel import ahead
from ..errors import ArgumentError, UnstableError
from ..io.plotting import Plane
from ..problem.grid import Grid, chunks
from ..problem.layer_rule import layer_name
from . import grid_check, grid_plane, norms
from ._run_control import alone
from .check import Report
from .fd_scheme import Scalar
from .fd_sides import SIDES, flat_axes
from .grid_material import GridMaterial
from .grid_points import GridPoints
from .grid_state import read_state
from .simulation import Simulation

__all__ = ["GridSimulation"]


class GridSimulation(Simulation):
    """A wave on a grid, in time; made by `unda.FD`, which names the attributes."""

    grid: Grid
    order: int
    _sides: dict[str, Any]
    _scheme: Scalar
    _material: GridMaterial
    _points: GridPoints
    _uniform_dt: float  # the limit of a uniform medium with the fastest speed

    def _give_material(self) -> None:
        for (first, count, _), values in zip(chunks(self.grid), self._material.tables(), strict=True):
            _core.check(lib.unda_solver_set_material(self._handle, first, count, _core.pointer(values)))

    def _settle_dt(self) -> None:
        """Let the library find the stable step of the materials given."""
        dt, again = new("double *"), new("int32_t *")
        _core.check(lib.unda_solver_medium_dt(self._handle, dt, again))
        if again[0]:
            self._give_material()

    # ---- description ----

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
        axes = self.grid.axes(self._scheme.offset(name))
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)

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
        return self._rate_of(self.grid.num_node, seconds, limits)

    # ---- state ----

    def _arrays(self, name: str) -> int:
        (name,) = field_names((name,), self._scheme.names)
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
        for (first, count, _), part in zip(chunks(self.grid), whole, strict=True):
            _core.check(lib.unda_solver_write(self._live(), array, first, count, _core.pointer(part)))

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
            (`coordinates_of`) and times: values (nx, ny, nz), a number, or f(x, y, z); the others are 0.
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
        check_state(exact, fields, names)
        if "p_previous" in fields and "p" not in fields:
            raise ArgumentError("p_previous is given without p")
        t = number("t", t, "s")
        state = read_state(self, None if exact is None else self._points.bound(exact), t, fields)
        self._half_set = True
        _core.check(lib.unda_solver_clear_state(self._live()))
        for name in list(state):
            self._write(name, state.pop(name))
        if fields and not any(self._scheme.lag(name) for name in fields):
            _core.check(lib.unda_solver_rest(self._live()))
        self._begin_at(t, self.fields if exact is not None else fields)

    @alone
    def get(self, name: str) -> np.ndarray:
        """Return a field, or ``p_previous`` (nx, ny, nz), at its positions and time, see `coordinates_of`."""
        array = self._arrays(name)
        out = np.empty(self.grid.shape, self.dtype)
        to = _core.pointer(out, writable=True)
        _core.check(lib.unda_solver_read(self._live(), array, 0, len(out), to))
        return out

    def _whole(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """Return number and shape of each array of the state: fields with layers, and memory of these."""
        made: dict[str, tuple[int, tuple[int, ...]]] = {}
        shape, names = new("int64_t[3]"), self._scheme.names
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
            the product of the spacings, without those of axes of one node.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then. If the grid has fewer
            dimensions than the solution's source: see `unda.exact.line_source`.
        """
        exact = norms.bound(exact, self._points)
        wrong, norm = {}, {}
        for name in self.fields:
            wrong[name], norm[name] = self._square_error(name, exact)
        if flag("relative", relative):
            return norms.roots(wrong, norm, self.medium.field_groups)
        flat = flat_axes(self.grid, self._sides)
        volume = np.prod([h for axis, h in zip("xyz", self.grid.spacing, strict=True) if axis not in flat])
        whole = {name: float(one * volume) for name, one in wrong.items()}
        return norms.roots(whole, None, self.medium.field_groups)

    def _square_error(self, name: str, exact: Any) -> tuple[float, float]:
        """Return sums of (q - q_exact)^2 and of q_exact^2."""
        x, y, z = self._axes(name)
        found, t = self.get(name), self.t + self._scheme.lag(name) * self.dt
        inside = [axis < np.inf for axis in (x, y, z)]
        for i, (axis, half) in enumerate(zip((x, y, z), self._scheme.offset(name), strict=True)):
            if half and self._axes(name)[i][-1] == self.grid.upper[i] and len(axis) > 1:
                inside[i] = np.arange(len(axis)) < len(axis) - 1  # an image beyond a wall
        wrong = norm = 0.0
        for first, count, _ in chunks(self.grid):
            part = slice(first, first + count)
            place = np.broadcast_arrays(x[part, None, None], y[None, :, None], z[None, None, :])
            here = inside[0][part, None, None] & inside[1][:, None] & inside[2]
            given = call_at("exact", exact, place, t)
            values = field_values(given, (name,), place[0].shape, "the exact solution")[name]
            wrong += float((((found[part] - values) ** 2)[here]).sum())
            norm += float((np.asarray(values)[here] ** 2).sum())
        return wrong, norm

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
        return grid_check.check(self)

    def _blown_up(self, message: str) -> UnstableError:
        common = self._blowup()[1] | {"node": 0}
        node, when = common["element"], common["time"]
        if node < 0:
            return UnstableError(f"{message} in a layer, t = {when:.6g} s", **common)
        index = tuple(int(i) for i in np.unravel_index(node, self.grid.shape))
        parts = zip(self.grid.origin, index, self.grid.spacing, strict=True)
        place = tuple(o + i * h for o, i, h in parts)
        try:
            values = self._material.planes(index[0], 1)[0][index[1:]]
            _, highest = self._material.speeds()
        except ArgumentError:  # the material has changed: its value at the time is unknown
            return UnstableError(
                f"{message} {index} at {place} m, t = {when:.6g} s", **common, coordinates=place
            )
        material = dict(zip(self.medium.parameters, map(float, values), strict=True))
        local_cfl = self.dt / self._uniform_dt * float(self.medium._speeds(values[None]).max()) / highest
        return UnstableError(
            f"{message} {index} at {place} m, {material}, t = {when:.6g} s, local CFL number {local_cfl:.3g}",
            **common, coordinates=place, material=material, local_cfl=local_cfl,
        )  # fmt: skip

    def _room(self) -> int:
        """Return the steps whose samples fit 64 MB, on a device 512 MB; a field has 512 nodes a receiver."""
        groups = zip(self._receivers, self._channels, strict=True)
        values = sum(len(one.points) * len(channels.numbers) / one.every for one, channels in groups)
        most = 64e6 if self.config["device"] == "cpu" else 512e6
        step = self.dtype.itemsize * 512 * values + 8 * (len(self._sources) + 1)
        return int(max(1, min(most / step, 100_000)))

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        return grid_plane.plane(self, field, axis, value)
