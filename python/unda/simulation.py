"""Simulation: what every method has in common: sources, receivers, running, files.

Drives the C solver chunk by chunk and hands out arrays. Not here: pictures (pictures.py), the state of
methods on meshes (mesh_simulation.py) and on grids (grid_simulation.py), numerics (csrc, cuda).
"""

from __future__ import annotations

import os
import platform
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._check import flag, integer, number
from ._core import ffi, lib
from ._options import KERNELS, PLAN
from ._run_control import Alone, Interruptible, Progress, alone
from .errors import ArgumentError, ForkError, OutOfMemoryError, UnstableError
from .incident import PlaneWave
from .limits import device_info
from .medium import Medium
from .pictures import Pictures
from .receiver import Channels, Receivers
from .source import Source

__all__ = ["Simulation", "forecast"]

_CHUNK_SECONDS = 0.3
_CHUNK_BYTES = 64e6

_alive: weakref.WeakSet[Simulation] = weakref.WeakSet()


def forecast(mesh: Any, options: Any) -> dict[str, int]:
    """Return the bytes that a solver with these options would take; mesh: the library's, or NULL."""
    bytes_ = ffi.new("int64_t[2]")
    _core.check(lib.unda_solver_forecast(mesh, options, bytes_, bytes_ + 1))
    return {"host": int(bytes_[0]), "device": int(bytes_[1])}


def _new_solver(mesh: Any, options: Any) -> Any:
    """Make a solver; say what holds memory where there is none left."""
    try:
        return _core.new_object(
            "unda_solver", lambda out: lib.unda_solver_new(out, mesh, options), lib.unda_solver_free
        )
    except OutOfMemoryError as error:
        needed = forecast(mesh, options)
        living = [repr(sim) for sim in _alive if sim._handle is not None]
        listed = "".join(f"\n  {line}" for line in living) or " none"
        raise OutOfMemoryError(
            f"{error}; the simulation takes {needed['host'] / 1e9:.3g} GB on the host and "
            f"{needed['device'] / 1e9:.3g} GB on the device; living simulations:{listed}"
        ) from None


class Simulation(Pictures):
    """A wave in time; made by a method such as `unda.DG`.

    Attributes
    ----------
    medium
        As given.
    fields : tuple of str
        Names of the unknowns.
    dt, dt_stable : float
        Time step and the stable limit [s].
    config : dict
        Everything that the run depends on, as JSON can hold it.
    """

    medium: Medium
    fields: tuple[str, ...]
    dtype: np.dtype
    config: dict[str, Any]
    _handle: Any = None

    # ---- what a method adds ----

    def set(self, exact: Any = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock, see the method."""
        raise NotImplementedError

    def _inside(self, points: ArrayLike, what: str) -> tuple[np.ndarray, np.ndarray | None]:
        """Return points (n, 3) and their cells, or raise if one is outside."""
        raise NotImplementedError

    def _source_terms(self, source: Source, elem: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
        """Return what a point source adds to each field, and its amplitude at the times of a step."""
        raise NotImplementedError

    def _channels_of(self, fields: Iterable[str] | None) -> Channels:
        """Return what receivers of these fields take."""
        return Channels(self.medium, fields)

    def _lags(self) -> dict[str, float]:
        """Return of fields that are not of the time of the simulation how much later they are [s]."""
        return {}

    def _add_wave(self, source: PlaneWave) -> None:
        raise ArgumentError(f"{type(self).__name__} takes no plane waves")

    def _blown_up(self, message: str) -> UnstableError:
        raise NotImplementedError

    def _size(self) -> tuple[int, str]:
        """Return what a step advances, and its name: unknowns, "DOF", or nodes, "cell"."""
        raise NotImplementedError

    # ---- creation ----

    def _start_solver(
        self, medium: Medium, options: Any, *, mesh: Any = ffi.NULL, sample_dt: float | None,
        allow_unstable: bool,
    ) -> None:  # fmt: skip
        """Make the C solver with its final time step; mesh: the library's."""
        self.medium, self.fields = medium, tuple(medium.fields)
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
        self._start = 0.0  # time of step 0
        self._sources: list[Any] = []  # each point source and its time function
        self._waves: list[Any] = []  # each plane wave, and more
        self._receivers: list[Receivers] = []
        self._channels: list[Channels] = []  # of each
        self._rate = 0.0  # steps a second of the last chunk
        self._blown: tuple[int, int] | None = None  # steps of a blow-up and of the last good state
        _alive.add(self)

    def _resolved(self, device: str) -> dict[str, Any]:
        """Return the part of the configuration that the library decided."""
        info = self._info()
        return {
            "medium": self.medium.to_config(),
            "dt": self.dt,
            "device": device,
            **device_info(device),
            "kernel": KERNELS[info.kernel] if info.kernel else None,
            "kernel_options": self._plan(info) if info.kernel else None,
            "threads": int(info.threads),
            "version": _core.version(),
            "source_hash": _core.text(lib.unda_source_hash()),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    def _plan(self, info: Any) -> dict[str, int]:
        return dict(zip(PLAN, map(int, info.plan), strict=False))

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

    @alone
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
            On the CPU, and by methods that time no kernels one by one (`FD`).
        """
        found = self._kernel_seconds(runs)
        found["stage"] |= self.rate(found["stage"]["seconds"])
        return found

    def rate(self, seconds: float, limits: Any = None) -> dict[str, float]:
        """Return what one stage in so many seconds is against the machine, see the method."""
        raise NotImplementedError

    # ---- state ----

    @alone
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
        channels = self._channels_of(fields)
        values = self._sample_at(channels, *self._inside(points, "point"))
        return dict(zip(channels.names, values.T, strict=True))

    def _sample_at(self, channels: Channels, array: np.ndarray, elem: np.ndarray | None) -> np.ndarray:
        """Return (num_point, channels) at points whose cells are known."""
        values = np.empty((len(array), len(channels.numbers)))
        given = _core.new_struct(
            "unda_receivers", num_point=len(array), num_field=len(channels.numbers), points=array, elem=elem,
            fields=channels.numbers,
        )  # fmt: skip
        to = _core.pointer(values, writable=True)
        _core.check(lib.unda_solver_sample(self._live(), given, to))
        return channels.combine(values)

    @alone
    def energy(self) -> float:
        """Return the energy of the state [J]."""
        out = ffi.new("double *")
        _core.check(lib.unda_solver_energy(self._live(), out))
        return float(out[0])

    # ---- sources and receivers ----

    @alone
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

    def _add_point_source(self, source: Source) -> None:
        points, elem = self._inside([source.position], "source")
        rates, amplitude = self._source_terms(source, elem)
        index, cell = ffi.new("int32_t *"), -1 if elem is None else int(elem[0])
        given = _core.pointer(points), _core.pointer(rates)
        _core.check(lib.unda_solver_add_source(self._live(), cell, *given, index))
        self._sources.append((source, amplitude))

    @alone
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
        channels = self._channels_of(fields)
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
            config=self.config, name=name, lags=self._lags(),
        )  # fmt: skip
        receivers._bind = self._binder()
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

    @alone
    def reset(self, sources: bool = False) -> None:
        """Set fields and time to zero and empty the receivers; with `sources`, forget the sources."""
        if sources:
            _core.check(lib.unda_solver_clear_sources(self._live()))
            self._sources, self._waves = [], []
        self.set()

    def _binder(self) -> Callable[[Any], Any] | None:
        """Return what ties an exact solution to the mesh, without holding the simulation."""
        return None

    def _begin_at(self, t: float) -> None:
        """Start the clock and the receivers: the state is that of time t, step 0."""
        self._start, self._blown = t, None
        _core.check(lib.unda_solver_set_clock(self._live(), t, 0, 0))
        for i, receivers in enumerate(self._receivers):
            _core.check(lib.unda_solver_record(self._live(), i))
            receivers.clear(t, 0)
        self._drain()

    # ---- running ----

    def _amplitudes(self, times: np.ndarray) -> np.ndarray | None:
        """Sample the point sources (num_time, num_source)."""
        if not self._sources:
            return None
        return np.ascontiguousarray(np.stack([f(times) for _, f in self._sources], axis=1))

    def _drive(self, times: np.ndarray) -> Any:
        """Sample what drives steps that need data at these times."""
        return _core.new_struct("unda_drive", num_time=len(times), amplitudes=self._amplitudes(times))

    @alone
    def step(self, n: int = 1) -> None:
        """Run n time steps.

        Raises
        ------
        UnstableError
            If the state is no longer finite; on a mesh the last good one is there again, to be read. `set`
            or `reset` starts anew.
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

    def _room(self) -> int:
        """Return the steps of which 64 MB hold the sampled data."""
        info = self._info()
        wide = len(self._sources) + int(info.num_exact) * len(self.fields)
        groups = zip(self._receivers, self._channels, strict=True)
        traces = sum(len(receivers.points) * len(channels.numbers) for receivers, channels in groups)
        room = _CHUNK_BYTES / (8 * (info.num_stage * wide + traces + 1))
        return int(max(1, min(room, 100_000)))

    def _chunk(self, left: int) -> int:
        """Return the steps to run at once: about 0.3 s of work, in whole launches."""
        room, launch = self._room(), self._launch_steps
        n = min(int(self._rate * _CHUNK_SECONDS) if self._rate else 8, room)
        return min(max(n // launch, 1) * launch, left, room)

    @property
    def _launch_steps(self) -> int:
        """Steps that one launch of the kernel takes where it takes many; fewer would cost almost as much."""
        return max(1, (self.config["kernel_options"] or {}).get("levels", 1))

    def _steps_to(self, until: float | None, steps: int | None) -> int:
        """Return the steps that `run` is to do."""
        self._live()
        if (until is None) == (steps is None):
            raise ArgumentError("give either until= or steps=")
        if steps is not None:
            return integer("steps", steps, 0)
        far = np.ceil((number("until", until, "s") - self.t) / self.dt - 1e-9)
        if far <= 0:
            _core.logger.info("run(until=%g): the time is %g s already", until, self.t)
        return int(min(max(0.0, far), 2.0**62))

    @alone
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
            After Ctrl-C, once the present chunk (about 0.3 s, or one launch of a kernel that takes many
            steps) is done; the simulation is whole.
        """
        steps = self._steps_to(until, steps)
        every = None if every is None else integer("every", every, 1)
        progress = None if progress is None else flag("progress", progress)
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback is {callback!r}, expected a callable")
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

    # ---- files ----

    @property
    def receivers(self) -> tuple[Receivers, ...]:
        """All receivers, in the order in which they were added."""
        return tuple(self._receivers)

    @alone
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

    # ---- end ----

    @alone
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
        where = f"{self.config['device']} ({self.config['device_name']})"
        if self.config["device"] == "cpu":
            where = f"cpu with {self.config['threads']} threads"
        if self.config["kernel"] is None:
            return where
        plan = ", ".join(map(str, self.config["kernel_options"].values()))
        return f"{where}, kernel {self.config['kernel']} {{{plan}}}"

    def _about(self) -> str:
        """Return what stands in brackets after the name."""
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._handle is None or not hasattr(self, "config"):
            return f"{name}(closed)"
        if self._process != os.getpid():
            return f"{name}(of process {self._process})"
        return (
            f"{name}({self.medium.physics}, {self._about()}, {self.dtype.name}, dt {self.dt:.4g} s, "
            f"{self._engine()}, {sum(self.memory.values()) / 1e6:.1f} MB, t = {self.t:.6g} s)"
        )
