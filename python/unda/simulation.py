"""Simulation: what every method has in common: state, sources, receivers, running, files.

Drives the C solver chunk by chunk and hands out arrays. Not here: how a method is set up (dg.py),
numerics (csrc, cuda), what runs are compared with (exact/, norms.py).
"""

from __future__ import annotations

import os
import platform
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _core, norms
from ._check import field_names, flag, integer, number
from ._core import ffi, lib
from ._run_control import Alone, Interruptible, Progress
from .boundary import Boundaries, OuterData, own_side
from .check import Report, check
from .errors import ArgumentError, ForkError, OutOfMemoryError, UnstableError
from .incident import PlaneWave
from .limits import device_info, device_limits
from .medium import Medium
from .mesh import Mesh
from .receiver import Channels, Receivers
from .source import Source

__all__ = ["KERNELS", "PLAN", "PRECISIONS", "Simulation", "choice", "forecast", "precision"]

PLAN = ("rows", "cols", "tile", "blocks", "unroll_volume", "unroll_lift")
KERNELS = ("auto", "fused", "node")
PRECISIONS = ("float32", "float64")
_CHUNK_SECONDS = 0.3
_CHUNK_BYTES = 64e6

_alive: weakref.WeakSet[Simulation] = weakref.WeakSet()


def choice(name: str, value: Any, choices: Sequence[str]) -> int:
    """Return the place of a word among the allowed ones."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}, expected one of {list(choices)}")
    return list(choices).index(value)


def precision(dtype: Any) -> int:
    """Return 0 for float32, 1 for float64; any name NumPy has for them."""
    try:
        name: Any = np.dtype(dtype).name
    except Exception:
        name = dtype
    return choice("dtype", name, PRECISIONS)


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _alone(method: _Method) -> _Method:
    """Let one thread at a time into the methods of a simulation."""

    @wraps(method)
    def guarded(self: Simulation, *args: Any, **options: Any) -> Any:
        with self._guard:
            return method(self, *args, **options)

    return cast(_Method, guarded)


def forecast(mesh: Mesh, options: Any) -> dict[str, int]:
    """Return the bytes that a solver with these options would take."""
    bytes_ = ffi.new("int64_t[2]")
    _core.check(lib.unda_solver_forecast(mesh._handle, options, bytes_, bytes_ + 1))
    return {"host": int(bytes_[0]), "device": int(bytes_[1])}


def _new_solver(mesh: Mesh, options: Any) -> Any:
    """Make a solver; say what holds memory where there is none left."""
    try:
        return _core.new_object(
            "unda_solver", lambda out: lib.unda_solver_new(out, mesh._handle, options), lib.unda_solver_free
        )
    except OutOfMemoryError as error:
        needed = forecast(mesh, options)
        living = [repr(sim) for sim in _alive if sim._handle is not None]
        listed = "".join(f"\n  {line}" for line in living) or " none"
        raise OutOfMemoryError(
            f"{error}; the simulation takes {needed['host'] / 1e9:.3g} GB on the host and "
            f"{needed['device'] / 1e9:.3g} GB on the device; living simulations:{listed}"
        ) from None


class Simulation:
    """A wave on a mesh, in time; made by a method such as `unda.DG`.

    Attributes
    ----------
    mesh, medium
        As given.
    fields : tuple of str
        Names of the unknowns.
    dt, dt_stable : float
        Time step and the stable limit [s].
    num_node : int
        Nodes of a cell.
    config : dict
        Everything that the run depends on, as JSON can hold it.
    """

    degree: int
    dtype: np.dtype
    config: dict[str, Any]
    _material: np.ndarray
    _handle: Any = None

    def _start_solver(
        self, mesh: Mesh, medium: Medium, boundaries: Boundaries, options: Any, *,
        sample_dt: float | None, allow_unstable: bool,
    ) -> None:  # fmt: skip
        """Make the C solver with its final time step."""
        self.mesh, self.medium, self.fields = mesh, medium, medium.fields
        self._boundaries = boundaries
        self._guard = Alone()
        self._process = os.getpid()
        self._handle = _new_solver(mesh, options)
        if sample_dt is not None:
            sample_dt = number("sample_dt", sample_dt, "s", positive=True)
            limit = self._info().dt_stable
            options.dt = sample_dt / max(1.0, np.ceil(sample_dt / (options.cfl * limit) - 1e-9))
            self.close()
            self._handle = _new_solver(mesh, options)
        info = self._info()
        self.dt, self.dt_stable = float(info.dt), float(info.dt_stable)
        if self.dt > self.dt_stable * (1 + 1e-12) and not allow_unstable:
            self.close()
            raise ArgumentError(
                f"dt is {self.dt:.6g} s, above the stable limit {self.dt_stable:.6g} s; "
                "allow_unstable=True takes it all the same"
            )
        self.num_node = int(info.num_node)
        self._start = 0.0  # time of step 0
        self._sources: list[Any] = []  # each point source and its time function
        self._waves: list[Any] = []  # each plane wave, its exact solution and its number of faces
        self._receivers: list[Receivers] = []
        self._channels: list[Channels] = []  # of each
        self._rate = 0.0  # steps a second of the last chunk
        self._outer: OuterData | None = None
        self._blown: tuple[int, int] | None = None  # steps of a blow-up and of the last good state
        _alive.add(self)

    def _resolved(self, device: str) -> dict[str, Any]:
        """Return the part of the configuration that the library decided."""
        info = self._info()
        return {
            "mesh": self.mesh.hash,
            "mesh_origin": self.mesh.origin,
            "medium": self.medium.to_config(),
            "boundary": self._boundaries.words,
            "dt": self.dt,
            "device": device,
            **device_info(device),
            "kernel": KERNELS[info.kernel] if info.on_gpu else None,
            "kernel_options": dict(zip(PLAN, map(int, info.plan), strict=True)) if info.on_gpu else None,
            "threads": int(info.threads),
            "version": _core.version(),
            "source_hash": _core.text(lib.unda_source_hash()),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    def _info(self) -> Any:
        if self._handle is None:
            raise ArgumentError("this simulation is closed")
        if self._process != os.getpid():
            raise ForkError(
                f"process {os.getpid()} was forked from {self._process}, where this simulation was made; "
                "use spawn or threads"
            )
        info = _core.new_struct("unda_solver_info")
        _core.check(lib.unda_solver_get_info(self._handle, info))
        return info

    @property
    def t(self) -> float:
        """Present time [s]."""
        return float(self._info().time)

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self._info().step)

    @property
    def coordinates(self) -> np.ndarray:
        """Node coordinates (num_elem, num_node, 3) [m]."""
        x = np.empty((self.mesh.num_elem, self.num_node, 3))
        _core.check(lib.unda_solver_coordinates(self._live(), _core.pointer(x, writable=True)))
        return x

    @property
    def element_dt(self) -> np.ndarray:
        """Stable time step of each cell (num_elem,) [s]."""
        dt = np.empty(self.mesh.num_elem)
        _core.check(lib.unda_solver_element_dt(self._live(), _core.pointer(dt, writable=True)))
        return dt

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of tables and state, on the host and on the device."""
        info = self._info()
        return {"host": int(info.host_bytes), "device": int(info.device_bytes)}

    def _live(self) -> Any:
        self._info()
        return self._handle

    def _kernel_seconds(self, runs: int) -> dict[str, dict[str, float]]:
        """Time each CUDA kernel, see `profile`."""
        profile = _core.new_struct("unda_profile")
        runs = integer("runs", runs, 1, 1_000_000)
        _core.check(lib.unda_solver_profile(self._live(), runs, profile))
        found = {
            _core.text(profile.name[i]): {
                "seconds": float(profile.seconds[i]), "launches": int(profile.launches[i])
            }
            for i in range(profile.num_kernel)
        }  # fmt: skip
        found["stage"] = {"seconds": sum(k["seconds"] for name, k in found.items() if name != "record")}
        return found

    @_alone
    def profile(self, runs: int = 20) -> dict[str, dict[str, float]]:
        """Time each CUDA kernel of a stage; the state stays as it is.

        Parameters
        ----------
        runs : int
            Launches of each, after two to warm up.

        Returns
        -------
        dict of str to dict
            For each kernel ``seconds`` (median of a launch) and ``launches`` a step; for "stage",
            all kernels of one together, also ``gdof_per_second``, ``gflops``, ``gbytes_per_second``
            (compulsory) and ``percent_of_limit``, of the tighter of the measured limits.

        Raises
        ------
        ArgumentError
            On the CPU.
        """
        found = self._kernel_seconds(runs)
        found["stage"] |= self.rate(found["stage"]["seconds"])
        return found

    def rate(self, seconds: float, limits: Mapping[str, float] | None = None) -> dict[str, float]:
        """Return what one stage in so many seconds is against the machine.

        Parameters
        ----------
        seconds : float
            Time of a stage (ab3: a step) [s].
        limits : dict, optional
            Of `device_limits`; measured now if omitted.

        Returns
        -------
        dict of str to float
            ``gdof_per_second``; ``gflops`` of the method's operations; ``gbytes_per_second`` of the
            compulsory traffic; ``percent_of_limit``: the time that the tighter of copy bandwidth and
            FMA rate allows, in percent of the time taken.
        """
        info, num = self._info(), self.mesh.num_elem
        if limits is None:
            limits = device_limits(self.config["device"])
        fma = limits["fma32" if self.dtype.itemsize == 4 else "fma64"]
        flops, moved = info.flops * num, info.bytes_per_elem * num
        least = max(flops / fma, moved / limits["copy"])
        return {
            "gdof_per_second": num * self.num_node * len(self.fields) / seconds / 1e9,
            "gflops": flops / seconds / 1e9,
            "gbytes_per_second": moved / seconds / 1e9,
            "percent_of_limit": 100 * least / seconds,
        }

    # ---- state ----

    @_alone
    def _read(self, array: int) -> np.ndarray:
        q = np.empty((self.mesh.num_elem, self.num_node, len(self.fields)), self.dtype)
        to = _core.pointer(q, writable=True)
        _core.check(lib.unda_solver_read(self._live(), array, 0, len(q), to))
        return q

    @_alone
    def set(self, exact: Callable[..., Any] | None = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock.

        Parameters
        ----------
        exact : exact solution, optional
            Gives all fields.
        t : float
            The time that it is [s].
        **fields : array_like, float or callable
            A field by name: values (num_elem, num_node), a number, or f(x, y, z). Fields that are
            not named become 0.

        Raises
        ------
        ArgumentError
            Unknown fields, wrong shapes, values that are not finite, shear or unequal normal stresses in
            a fluid (elastic, vs = 0).
        """
        unknown = sorted(set(fields) - set(self.fields))
        if unknown:
            raise ArgumentError(f"no fields {unknown}; there are {list(self.fields)}")
        if exact is not None and fields:
            raise ArgumentError("give an exact solution or fields, not both")
        if exact is not None and not callable(exact):
            raise ArgumentError(f"exact is {exact!r}, expected an exact solution; fields go by name")
        t = number("t", t, "s")
        x = own_side(exact, self.coordinates)
        place = (x[..., 0], x[..., 1], x[..., 2])
        if exact is not None:
            fields = (exact.bind(self.mesh) if hasattr(exact, "bind") else exact)(*place, t)
            if not isinstance(fields, Mapping):
                raise ArgumentError(
                    f"the exact solution gave {type(fields).__name__}, expected a dict of fields"
                )
        q = np.zeros((self.mesh.num_elem, self.num_node, len(self.fields)), self.dtype)
        for i, name in enumerate(self.fields):
            value = fields.get(name, 0.0)
            value = value(*place) if callable(value) else value
            try:
                value = np.asarray(value)
            except ValueError as error:
                raise ArgumentError(f"{name} is not an array of numbers: {error}") from None
            if value.ndim and value.shape != q.shape[:2]:
                raise ArgumentError(f"{name} has shape {value.shape}, expected {q.shape[:2]}")
            if value.dtype.kind not in "iuf" or not np.isfinite(value).all():
                raise ArgumentError(f"{name} has values that are not finite real numbers")
            with np.errstate(over="ignore"):
                q[..., i] = value
            if not np.isfinite(q[..., i]).all():
                raise ArgumentError(f"{name} has values beyond the range of {self.dtype}")
        self.medium._check_state(self._material, q, x)
        handle = self._live()
        _core.check(lib.unda_solver_write(handle, lib.UNDA_STATE, 0, len(q), _core.pointer(q)))
        self._start, self._blown = t, None
        _core.check(lib.unda_solver_set_clock(handle, t, 0, 0))
        for i, receivers in enumerate(self._receivers):
            _core.check(lib.unda_solver_record(handle, i))
            receivers.clear(t, 0)
        self._drain()

    def get(self, name: str) -> np.ndarray:
        """Return a field (num_elem, num_node), in the user's numbering of cells."""
        (name,) = field_names((name,), self.fields)
        return np.ascontiguousarray(self._read(lib.UNDA_STATE)[..., self.fields.index(name)])

    @_alone
    def sample(self, points: ArrayLike, fields: Sequence[str] | None = None) -> dict[str, Any]:
        """Return fields at points (n, 3) [m], {field: (n,)}, interpolated in each element.

        Parameters
        ----------
        points : array_like, shape (n, 3)
        fields : sequence of str, optional
            Names as `add_receivers` takes them, derived ones included; all fields if omitted.

        Raises
        ------
        ArgumentError
            Points outside the mesh, unknown fields.
        """
        channels = Channels(self.medium, fields)
        array, elem = self._inside(points, "point")
        values = np.empty((len(array), len(channels.numbers)))
        given = _core.new_struct(
            "unda_receivers", num_point=len(array), num_field=len(channels.numbers), points=array, elem=elem,
            fields=channels.numbers,
        )  # fmt: skip
        to = _core.pointer(values, writable=True)
        _core.check(lib.unda_solver_sample(self._live(), given, to))
        return dict(zip(channels.names, channels.combine(values).T, strict=True))

    @_alone
    def rhs(self) -> dict[str, np.ndarray]:
        """Return dq/dt at the present state and time, sources included, {field: (num_elem, num_node)}."""
        handle = self._live()
        _core.check(lib.unda_solver_rhs(handle, self._drive(np.array([self.t]))))
        q = self._read(lib.UNDA_RHS)
        return {name: np.ascontiguousarray(q[..., i]) for i, name in enumerate(self.fields)}

    @_alone
    def energy(self) -> float:
        """Return the energy of the state [J]."""
        out = ffi.new("double *")
        _core.check(lib.unda_solver_energy(self._live(), out))
        return float(out[0])

    def error(self, exact: Any, *, relative: bool = False) -> dict[str, float]:
        """Return the L2 error of each field against an exact solution at the present time.

        Parameters
        ----------
        exact : exact solution
        relative : bool
            Divide by the exact norm of the field's group (p, v; v, stress; E, H).

        Returns
        -------
        dict of str to float
            sqrt(integral (q - q_exact)^2 dV), by a cubature exact to degree 2 degree + 2.

        Raises
        ------
        ArgumentError
            If the solution is singular; compare traces with ``rec.misfit`` then.
        """
        return norms.error(self, exact, relative=flag("relative", relative))

    def check(self) -> Report:
        """Look for what often goes wrong, before the first step.

        Returns
        -------
        Report
            Nodes in the shortest wavelength by tag, the ten cells with the smallest time step, and
            warnings: too few nodes, slivers, units that look wrong, sources on faces, receivers beside
            sources, exact outer data of another medium. Prints as text; true where there is no warning.

        Examples
        --------
        >>> print(sim.check())  # doctest: +SKIP
        """
        return check(self)

    # ---- sources and receivers ----

    def _inside(self, points: ArrayLike, what: str) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(points, Sequence) and len(points) == 0:
            points = np.empty((0, 3))
        array = _core.as_array(points, np.float64, (None, 3), f"{what}s", finite=True)
        elem = self.mesh.locate(array)[0]
        for i in np.flatnonzero(elem < 0)[:1]:
            place = ", ".join(f"{x:g}" for x in array[i])
            raise ArgumentError(f"{what} {i} at ({place}) m lies outside the mesh")
        return array, elem

    @_alone
    def add_source(self, source: Source | PlaneWave) -> None:
        """Add a point source or a plane wave; before the first step, and each object once.

        Raises
        ------
        ArgumentError
            Outside the mesh, of another physics, a deviatoric moment in a fluid, added already, or too
            late: see `reset`. Of plane waves: see `PlaneWave`.
        """
        if not isinstance(source, (Source, PlaneWave)):
            raise ArgumentError(f"source is {source!r}, expected one such as VolumeInjection or PlaneWave")
        if any(source is other for other, *_ in (*self._sources, *self._waves)):
            raise ArgumentError("this source was added already; sim.reset(sources=True) forgets it")
        if self.step_count > 0:
            raise ArgumentError("sources are added before the first step; sim.reset() starts again")
        if isinstance(source, PlaneWave):
            self._add_wave(source)
        else:
            self._add_point_source(source)

    def _add_wave(self, source: PlaneWave) -> None:
        elem, face, sign, wave = source.driven(self.mesh, self.medium, self._material, self._boundaries)
        arrays = (_core.pointer(elem), _core.pointer(face), _core.pointer(sign))
        _core.check(lib.unda_solver_add_incident(self._live(), len(elem), *arrays))
        self._waves.append((source, wave, len(elem)))
        self._outer = None

    def _add_point_source(self, source: Source) -> None:
        points, elem = self._inside([source.position], "source")
        rates = source.rates(self.medium, int(elem[0]), self.mesh)
        array = np.array([rates.get(name, 0.0) for name in self.fields])
        index = ffi.new("int32_t *")
        _core.check(
            lib.unda_solver_add_source(
                self._live(), int(elem[0]), _core.pointer(points), _core.pointer(array), index
            )
        )
        self._sources.append((source, source.time_function(self.dt)))

    @_alone
    def add_receivers(
        self,
        points: ArrayLike,
        fields: Iterable[str] | None = None,
        *,
        every: int = 1,
        name: str | None = None,
    ) -> Receivers:
        """Record fields at points (n, 3) [m] now and after every `every` steps.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            Where [m].
        fields : iterable of str, optional
            Fields, and what the medium derives of them: "divergence", "curl_x", "curl_y", "curl_z" (of v
            or E) and, in elastic media, "pressure". Derivatives are those of the polynomials in the cell
            of each point: of one order less than the fields. All fields if omitted.
        every : int
            Steps between samples.
        name : str, optional

        Returns
        -------
        Receivers

        Raises
        ------
        ArgumentError
            Points outside the mesh, unknown fields.
        """
        array, elem = self._inside(points, "receiver")
        channels = Channels(self.medium, fields)
        every = integer("every", every, 1, 2**31 - 1)
        if name is not None and not isinstance(name, str):
            raise ArgumentError(f"name is {name!r}, expected a string")
        group = ffi.new("int32_t *")
        given = _core.new_struct(
            "unda_receivers", num_point=len(array), every=every, num_field=len(channels.numbers),
            points=array, elem=elem, fields=channels.numbers,
        )  # fmt: skip
        _core.check(lib.unda_solver_add_receivers(self._live(), given, group))
        receivers = Receivers(
            array, channels.names, units=self.medium.traces, every=every, dt=self.dt, dtype=self.dtype,
            config=self.config, name=name,
        )  # fmt: skip
        mesh = self.mesh
        receivers._bind = lambda solution: solution.bind(mesh)
        receivers.clear(self._start, self.step_count)
        self._receivers.append(receivers)
        self._channels.append(channels)
        self._drain()
        return receivers

    def _drain(self) -> None:
        """Move recorded samples from the library to the receivers."""
        count = ffi.new("int64_t *")
        for i, (receivers, channels) in enumerate(zip(self._receivers, self._channels, strict=True)):
            shape = (len(receivers.points), len(channels.numbers))
            most = int(max(1, min(1024, _CHUNK_BYTES // (8 * max(1, shape[0] * shape[1])))))
            count[0] = most
            while count[0] == most:
                samples = np.empty((most, *shape), self.dtype)
                to = _core.pointer(samples, writable=True)
                _core.check(lib.unda_solver_take_samples(self._live(), i, most, to, count))
                receivers.append(channels.combine(samples[: count[0]]))

    @_alone
    def reset(self, sources: bool = False) -> None:
        """Set fields and time to zero and empty the receivers; with `sources`, forget the sources."""
        if sources:
            _core.check(lib.unda_solver_clear_sources(self._live()))
            self._sources, self._waves, self._outer = [], [], None
        self.set()

    # ---- running ----

    def _drive(self, times: np.ndarray) -> Any:
        """Sample the sources, the exact outer data and the incident waves at stage times."""
        amplitudes = None
        if self._sources:
            amplitudes = np.ascontiguousarray(np.stack([f(times) for _, f in self._sources], axis=1))
        exact = None
        if self._boundaries.exact or self._waves:
            if self._outer is None:
                num = int(self._info().num_exact)
                shape = (-1, (self.degree + 1) * (self.degree + 2) // 2)
                points, numbers = np.empty((num, 3)), np.empty(num, np.int32)
                to = _core.pointer(points, writable=True), _core.pointer(numbers, writable=True)
                _core.check(lib.unda_solver_exact_points(self._live(), *to))
                self._outer = OuterData(
                    self._boundaries, points.reshape(*shape, 3), numbers.reshape(shape), self.fields,
                    [(wave, count) for _, wave, count in self._waves],
                )  # fmt: skip
            exact = self._outer(times)
        return _core.new_struct("unda_drive", num_time=len(times), amplitudes=amplitudes, exact=exact)

    @_alone
    def step(self, n: int = 1) -> None:
        """Run n time steps.

        Raises
        ------
        UnstableError
            If the state is no longer finite; the last good one is there again, to be read. `set` or
            `reset` starts anew.
        """
        n = integer("n", n, 0)
        self._live()
        self._refuse_blown_up()
        with Interruptible() as interrupted:
            while n > 0 and not interrupted():
                part = self._chunk(n)
                begin = time.perf_counter()
                self._advance(part)
                self._rate = part / max(time.perf_counter() - begin, 1e-6)
                n -= part

    def _refuse_blown_up(self) -> None:
        """Raise if the traces go on beyond the state: nothing that follows would fit."""
        if self._blown is not None:
            raise ArgumentError(
                f"the run blew up at step {self._blown[0]} and stands at step {self._blown[1]}; "
                "sim.set(...) or sim.reset() starts again"
            )

    def _advance(self, n: int) -> None:
        """Run n steps in one call of the library."""
        handle = self._live()
        _core.check(lib.unda_solver_reserve(handle, n))
        count = ffi.new("int64_t *")
        _core.check(lib.unda_solver_stage_times(handle, n, ffi.NULL, count))
        times = np.empty(count[0])
        to = _core.pointer(times, writable=True)
        _core.check(lib.unda_solver_stage_times(handle, n, to, count))
        drive = self._drive(times)
        status = lib.unda_solver_step(self._live(), n, drive)  # their functions may have closed it
        failure = _core.error_of(status) if status else None
        if status in (lib.UNDA_OK, lib.UNDA_ERR_UNSTABLE):
            self._drain()
        if isinstance(failure, UnstableError):
            raise self._blown_up(str(failure)) from None
        _core.check(status)

    def _blown_up(self, message: str) -> UnstableError:
        blowup = _core.new_struct("unda_blowup")
        _core.check(lib.unda_solver_get_blowup(self._handle, blowup))
        self._blown = int(blowup.step), int(blowup.last_good_step)
        elem = int(blowup.elem)
        place = tuple(float(x) for x in self.mesh.centroids[elem])
        material = dict(zip(self.medium.parameters, map(float, self._material[elem]), strict=True))
        local_cfl = self.dt / float(self.element_dt[elem])
        when = self._start + int(blowup.step) * self.dt
        return UnstableError(
            f"{message} at {place} m, {material}, t = {when:.6g} s, local CFL number {local_cfl:.3g}",
            step=int(blowup.step), last_good_step=int(blowup.last_good_step), time=when,
            element=elem, node=int(blowup.node), field=self.fields[blowup.field],
            coordinates=place, material=material, local_cfl=local_cfl,
        )  # fmt: skip

    def _room(self) -> int:
        """Return the steps of which 64 MB hold the sampled data."""
        info = self._info()
        wide = len(self._sources) + int(info.num_exact) * len(self.fields)
        groups = zip(self._receivers, self._channels, strict=True)
        traces = sum(len(receivers.points) * len(channels.numbers) for receivers, channels in groups)
        room = _CHUNK_BYTES / (8 * (info.num_stage * wide + traces + 1))
        return int(max(1, min(room, 100_000)))

    def _chunk(self, left: int) -> int:
        """Return the steps to run at once: about 0.3 s of work."""
        n = max(1, int(self._rate * _CHUNK_SECONDS)) if self._rate else 8
        return min(n, left, self._room())

    @_alone
    def run(
        self,
        until: float | None = None,
        *,
        steps: int | None = None,
        progress: bool | None = None,
        callback: Callable[[Any], Any] | None = None,
        every: int | None = None,
    ) -> None:
        """Run until a time, or for a number of steps.

        Parameters
        ----------
        until : float
            Absolute time [s]: ceil((until - t) / dt) whole steps; a past time does nothing.
        steps : int
            Steps, instead of `until`.
        progress : bool, optional
            Progress bar; by default on a terminal and in notebooks.
        callback : callable, optional
            Called as ``callback(sim)`` after every `every` steps (default: each chunk).
        every : int, optional
            See `callback`.

        Raises
        ------
        UnstableError
            See `step`.
        KeyboardInterrupt
            After Ctrl-C, once the present chunk (at most about 0.3 s) is done; the simulation is whole.
        """
        if (until is None) == (steps is None):
            raise ArgumentError("give either until= or steps=")
        every = None if every is None else integer("every", every, 1)
        progress = None if progress is None else flag("progress", progress)
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback is {callback!r}, expected a callable")
        if steps is not None:
            steps = integer("steps", steps, 0)
        else:
            far = np.ceil((number("until", until, "s") - self.t) / self.dt - 1e-9)
            steps = int(min(max(0.0, far), 2.0**62))
            if steps == 0:
                _core.logger.info("run(until=%g): the time is %g s already", until, self.t)
        with Interruptible() as interrupted, Progress(self, steps, progress) as bar:
            done = 0
            while done < steps:
                limit = steps - done if every is None else min(steps - done, every - done % every)
                n = self._chunk(limit)
                self.step(n)
                done += n
                bar.update(n)
                if callback is not None and (every is None or done % every == 0):
                    callback(self)
                if interrupted():
                    break

    def plot_slice(
        self,
        field: str,
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        ax: Any = None,
        num: int = 200,
    ) -> Any:
        """Draw a field on a plane x, y or z = const [m]; returns the matplotlib axes."""
        from .plotting import plot_slice

        return plot_slice(self, field, {"x": x, "y": y, "z": z}, ax, num)

    # ---- files ----

    @property
    def receivers(self) -> tuple[Receivers, ...]:
        """All receivers, in the order in which they were added."""
        return tuple(self._receivers)

    @_alone
    def save(self, path: Any) -> None:
        """Write a checkpoint (HDF5) from which `unda.load` continues bit for bit.

        It holds mesh, materials, state, clock, history of the integrator, sources, receivers with
        their samples, and ``sim.config``. The old file stays whole until the new one is.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        ArgumentError
            If a source or the boundary data are a plain callable; `unda.sampled` makes one of values.
        FileError
            If it cannot be written.
        """
        from .checkpoint import save

        self._refuse_blown_up()
        save(self, path)

    @_alone
    def write_vtu(
        self, path: Any, fields: Sequence[str] | None = None, *, subdivide: int | None = None
    ) -> None:
        """Write fields for ParaView (VTU).

        Parameters
        ----------
        path : str or Path
        fields : sequence of str, optional
            All if omitted.
        subdivide : int, optional
            Intervals an edge of each cell is cut into; the degree if omitted, 1 for corners only.

        Raises
        ------
        ArgumentError, FileError

        Notes
        -----
        Cell data: element number, tag, materials. Field data: TimeValue [s], and ``sim.config`` as
        the bytes of a JSON text.
        """
        from .vtu import write_vtu

        write_vtu(self, path, fields, subdivide)

    # ---- end ----

    @_alone
    def close(self) -> None:
        """Free the solver; receivers stay readable."""
        if self._handle is not None:
            ffi.release(self._handle)
            self._handle = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _engine(self) -> str:
        if self.config["kernel"] is None:
            return f"cpu with {self.config['threads']} threads"
        plan = ", ".join(map(str, self.config["kernel_options"].values()))
        device = f"{self.config['device']} ({self.config['device_name']})"
        return f"{device}, kernel {self.config['kernel']} {{{plan}}}"

    def __repr__(self) -> str:
        if self._handle is None:
            return f"{type(self).__name__}(degree {self.degree}, closed)"
        if self._process != os.getpid():
            return f"{type(self).__name__}(degree {self.degree}, of process {self._process})"
        size = self.mesh.num_elem * self.num_node * len(self.fields)
        return (
            f"{type(self).__name__}({self.medium.physics}, degree {self.degree}, "
            f"{self.mesh.num_elem} tetrahedra, {size} DOF, {self.dtype.name}, dt {self.dt:.4g} s, "
            f"{self.config['flux']} flux, {self.config['integrator']}, {self._engine()}, "
            f"{sum(self.memory.values()) / 1e6:.1f} MB, t = {self.t:.6g} s)"
        )
