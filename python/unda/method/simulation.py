"""Simulation: the base of all methods: running in chunks, queries of the state, files.

Not here: the solver, its sources and receivers (solver.py), pictures (pictures.py), the state of methods on
meshes (mesh_simulation.py) and on grids (grid_simulation.py), numerics (csrc, cuda).
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import flag, integer, number
from .._core import lib, new
from ..errors import AccuracyWarning, ArgumentError, UnstableError, warn
from ..io.pictures import Pictures
from ..limits import device_limits
from ._run_control import Interruptible, Progress, alone
from .check import Report
from .receiver import Channels
from .solver import CHUNK_BYTES, Solver

__all__ = ["Simulation"]

_CHUNK_SECONDS = 0.3


class _Ahead(NamedTuple):
    """The next call of the library: its steps, the present step, step of a blow-up (or -1), times of data."""

    steps: int
    step: int
    blowup: int
    times: np.ndarray


class Simulation(Solver, Pictures):
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

    _rate = 0.0  # steps a second of the last chunk
    _half_set = False  # a call of set() is in progress or was interrupted
    _forgets = False  # sources are to be forgotten once the state is set
    _given: frozenset[str] = frozenset()  # fields of the state that `set` or a checkpoint gave
    _looked_at: tuple[Any, ...] = ()  # what `check` saw before the last run
    _told: frozenset[str] = frozenset()  # warnings issued so far

    # ---- what a method adds ----

    def set(self, exact: Any = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock, see the method."""
        raise NotImplementedError

    def _blown_up(self, message: str) -> UnstableError:
        raise NotImplementedError

    def check(self) -> Report:
        """Look for common mistakes, see the method."""
        raise NotImplementedError

    def _size(self) -> tuple[int, str]:
        """Return how many unknowns ("DOF") or nodes ("cell") a step advances, and that word."""
        raise NotImplementedError

    def rate(self, seconds: float, limits: Any = None) -> dict[str, float]:
        """Return the rate of a stage of a given duration, and compare it with the limits; see the method."""
        raise NotImplementedError

    # ---- state ----

    @alone
    def sample(
        self, points: ArrayLike, fields: Sequence[str] | None = None, *, side: Any = None
    ) -> dict[str, Any]:
        """Return fields at points (n, 3) [m], {field: (n,)}, interpolated in each element.

        Parameters
        ----------
        points : array_like, shape (n, 3)
        fields : sequence of str, optional
            Names as for `add_receivers`, derived quantities included; all fields if omitted.
        side : str or array_like, optional
            As in `add_receivers`.

        Raises
        ------
        ArgumentError
            Points outside the mesh, unknown fields.
        """
        channels = self._points.channels(fields)
        values = self._sample_at(channels, self._points.place(points, "point", side)[1])
        return dict(zip(channels.names, values.T, strict=True))

    def _sample_at(self, channels: Channels, placed: dict[str, Any]) -> np.ndarray:
        """Return (num_point, channels) at points whose cells are known, as `Points.place` gives them."""
        num = len(placed["first"]) - 1 if "first" in placed else len(placed["points"])
        values = np.empty((num, len(channels.numbers)))
        given = _core.new_struct(
            "unda_receivers",
            num_point=num,
            num_field=len(channels.numbers),
            fields=channels.numbers,
            **placed,
        )
        to = _core.pointer(values, writable=True)
        _core.check(lib.unda_solver_sample(self._live(), given, to))
        return channels.combine(values)

    @alone
    def energy(self) -> float:
        """Return the energy of the state [J]."""
        out = new("double *")
        _core.check(lib.unda_solver_energy(self._live(), out))
        return float(out[0])

    @alone
    def reset(self, sources: bool = False) -> None:
        """Set fields and time to zero and empty the receivers; with `sources`, forget the sources."""
        self._forgets = self._forgets or sources
        self._half_set = self._half_set or self._forgets
        self.set()

    def _begin_at(self, t: float, given: Iterable[str] = ()) -> None:
        """Start the clock and the receivers: the state, given by these fields, is that of time t, step 0."""
        self._settle()
        if self._forgets:
            self._sources, self._waves, self._source_ids, self._shared = [], [], set(), {}
            self._points.forget_waves()
            _core.check(lib.unda_solver_clear_sources(self._live()))
            self._forgets = False
        self._start, self._given = t, frozenset(given)
        _core.check(lib.unda_solver_set_clock(self._live(), t, 0, 0))
        for i, receivers in enumerate(self._receivers):
            self._undrained = True
            _core.check(lib.unda_solver_record(self._live(), i))
            receivers.clear(t, 0)
        self._drain()
        self._half_set = False

    # ---- running ----

    def _warn(self) -> None:
        """Warn of what `check` finds, once each; look again where sources, receivers or the state are new."""
        now = *(one for one, *_ in (*self._sources, *self._waves)), *self._receivers, self._given
        if len(now) == len(self._looked_at) and all(map(operator.is_, now, self._looked_at)):
            return
        for text in self.check().warnings:
            if text not in self._told:
                warn(text, AccuracyWarning)
                self._told |= {text}
        self._looked_at = now

    def _amplitudes(self, times: np.ndarray) -> np.ndarray | None:
        """Sample the point sources (num_time, num_source)."""
        if not self._sources:
            return None
        functions = {id(f): f for _, f in self._sources}  # many sources may share one
        number = {key: i for i, key in enumerate(functions)}
        values = np.stack([f(times) for f in functions.values()], axis=1)
        return np.ascontiguousarray(values[:, [number[id(f)] for _, f in self._sources]])

    def _drive(self, times: np.ndarray) -> Any:
        """Sample what drives steps that need data at these times."""
        exact = self._points.exact(self._live(), self._info, self._waves, times)
        return _core.new_struct(
            "unda_drive", num_time=len(times), amplitudes=self._amplitudes(times), exact=exact
        )

    @alone
    def step(self, n: int = 1) -> None:
        """Run n time steps.

        Raises
        ------
        UnstableError
            If the state is no longer finite. On a mesh the last good state is restored and can be read
            (except in the first two steps of ab3, which need its memory); on a grid the state remains as it
            is. Start again with `set` or `reset`.
        """
        n = integer("n", n, 0)
        self._settle()
        ahead: _Ahead | None = self._refuse_unfit(self._chunk(n) if n else 0)
        with Interruptible() as interrupted:
            while n > 0 and not interrupted():
                part = self._chunk(n) if ahead is None else ahead.steps
                begin = time.perf_counter()
                self._advance(part, ahead)
                ahead = None
                self._rate = part / max(time.perf_counter() - begin, 1e-6)
                n -= part

    def _refuse_unfit(self, steps: int = 0) -> _Ahead:
        """Raise if state, clock and traces do not fit together. Takes pending samples first.

        Samples may be pending from a call that an exception of a signal handler ended. Returns what so many
        steps need.
        """
        if self._half_set:
            self._refuse_lost()
            raise ArgumentError(
                "set() or reset() did not come to its end, the state is neither the old nor the new one; "
                "call it again"
            )
        self._settle()
        if self._undrained:
            self._drain()
        ahead = self._ahead(steps)
        if ahead.blowup >= 0:
            raise ArgumentError(
                f"the run blew up at step {ahead.blowup} and stands at step {ahead.step}; "
                "sim.set(...) or sim.reset() starts again"
            )
        for i, receivers in enumerate(self._receivers):
            if not receivers._next - receivers.every <= ahead.step < receivers._next:
                self._refuse_lost()
                raise ArgumentError(
                    f"receivers {i} ({receivers.name!r}) have {receivers.num_sample} samples from step "
                    f"{receivers._step} on, one every {receivers.every} steps, at step {ahead.step}"
                )
        return ahead

    def _ahead(self, steps: int) -> _Ahead:
        """Reserve room for so many steps; return the times of the data that they need."""
        room = steps * self._num_stage
        while True:
            times = np.empty(room)
            found = _core.new_struct("unda_next", max_time=room, times=times)
            _core.refuse(lib.unda_solver_next(self._live(), steps, found))
            if found.num_time <= room:
                return _Ahead(steps, int(found.step), int(found.blowup), times[: found.num_time])
            room = int(found.num_time)  # the first steps of ab3 have more stages

    def _refuse_lost(self) -> None:
        """Raise if the device was lost, which explains a state that is half set and missing samples."""
        _core.check(lib.unda_solver_energy(self._live(), new("double *")))

    def _advance(self, n: int, ahead: _Ahead | None = None) -> None:
        """Run n steps in one call of the library; ahead: what they need."""
        drive = self._drive((ahead or self._ahead(n)).times)
        handle = self._live()  # the user's functions may have closed it
        status = lib.UNDA_OK  # also if a signal handler raises before the call returns
        self._ran, self._undrained = n, True
        try:
            status = lib.unda_solver_step(handle, n, drive)
            failure = _core.error_of(status) if status else None
        finally:
            if status in (lib.UNDA_OK, lib.UNDA_ERR_UNSTABLE):
                self._drain()
        if isinstance(failure, UnstableError):
            raise self._blown_up(str(failure)) from None
        _core.check(status)

    def _room(self) -> int:
        """Return the number of steps whose sampled data fit 64 MB."""
        wide = len(self._sources) + self._points.num_exact(self._info, self._waves) * len(self.fields)
        groups = zip(self._receivers, self._channels, strict=True)
        traces = sum(len(receivers.points) * len(channels.numbers) for receivers, channels in groups)
        room = CHUNK_BYTES / (8 * (self._num_stage * wide + traces + 1))
        return int(max(1, min(room, 100_000)))

    def _chunk(self, left: int) -> int:
        """Return the number of steps to run at once: about 0.3 s of work, in whole launches."""
        room, launch = self._room(), self._launch_steps
        n = min(int(self._rate * _CHUNK_SECONDS) if self._rate else 8, room)
        return min(max(n // launch, 1) * launch, left, room)

    @property
    def _launch_steps(self) -> int:
        """Steps of one launch of a kernel that takes many; fewer would cost almost as much."""
        return max(1, (self.config["kernel_options"] or {}).get("levels", 1))

    def _steps_to(self, until: float | None, steps: int | None) -> int:
        """Return the number of steps that `run` is to do."""
        self._live()
        if (until is None) == (steps is None):
            raise ArgumentError("give either until=, an absolute time [s], or steps=, a number of time steps")
        if steps is not None:
            return integer("steps", steps, 0)
        far = np.ceil((number("until", until, "s") - self.t) / self.dt - 1e-9)
        if far <= 0:
            _core.logger.info("run(until=%g): the time is %g s already", until, self.t)
        return int(min(max(0.0, far), 2.0**62))

    @alone
    def run(
        self,
        *given: Any,
        until: float | None = None,
        steps: int | None = None,
        progress: bool | None = None,
        callback: Callable[[Any], Any] | None = None,
        every: int | None = None,
    ) -> None:
        """Run until a time, or for a number of steps; all arguments are keywords.

        Parameters
        ----------
        until : float
            Absolute time [s]: ceil((until - t) / dt) whole steps; a past time does nothing.
        steps : int
            Steps, instead of `until`.
        progress : bool, optional
            Progress bar; by default on a terminal and in notebooks. Without one, a line per minute goes to
            the logger "unda" at level INFO, which ``logging.basicConfig(level="INFO")`` shows.
        callback : callable, optional
            Called as ``callback(sim)`` after every `every` steps (default: each chunk).
        every : int, optional
            See `callback`.

        Raises
        ------
        ArgumentError
            If an argument is not a keyword, both or none of `until` and `steps` are given, or a value is
            invalid.
        UnstableError
            See `step`.
        KeyboardInterrupt
            After Ctrl-C, once the present chunk (about 0.3 s, or one launch of a kernel that takes many
            steps) is done; the simulation remains valid.

        Warns
        -----
        AccuracyWarning
            Before the first step, the warnings of `check`: too few nodes per wavelength, units that look
            mixed, thin layers, receivers that record zero by construction. Each is issued once, and again
            after changes of sources, receivers or the state; ``warnings.simplefilter`` turns it off or into
            an error.
        """
        if given:
            found = ", ".join(repr(one) for one in given)
            raise ArgumentError(
                f"run({found}) gives a number without a name; expected steps= or until= [s]: run(steps=1000) "
                "or run(until=1.0)"
            )
        steps = self._steps_to(until, steps)
        every = None if every is None else integer("every", every, 1)
        progress = None if progress is None else flag("progress", progress)
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback is {callback!r}, expected a callable")
        if steps > 0:
            self._warn()
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

    def _blowup(self) -> tuple[Any, dict[str, Any]]:
        """Return the library's report of a blow-up, and the part of the exception that all methods share."""
        blowup = _core.new_struct("unda_blowup")
        _core.check(lib.unda_solver_get_blowup(self._handle, blowup))
        return blowup, {
            "step": int(blowup.step),
            "last_good_step": int(blowup.last_good_step),
            "time": self._start + int(blowup.step) * self.dt,
            "field": self.fields[int(blowup.field)],
            "element": int(blowup.elem),
        }

    # ---- speed ----

    def _rate_of(self, num: int, seconds: float, limits: Any) -> dict[str, float]:
        """Return what `rate` returns, of num cells of a mesh or nodes of a grid."""
        info, (size, unit) = self._info(), self._size()
        limits = device_limits(self.config["device"]) if limits is None else limits
        fma = limits["fma32" if self.dtype.itemsize == 4 else "fma64"]
        flops, moved = info.flops * num, info.bytes_per_elem * num
        return {
            f"g{unit.lower()}_per_second": size / seconds / 1e9,
            "gflops": flops / seconds / 1e9,
            "gbytes_per_second": moved / seconds / 1e9,
            "percent_of_limit": 100 * max(flops / fma, moved / limits["copy"]) / seconds,
        }

    def _kernel_seconds(self, runs: int) -> dict[str, dict[str, float]]:
        """Time each CUDA kernel, see `profile`."""
        profile = _core.new_struct("unda_profile")
        runs = integer("runs", runs, 1, 1_000_000)
        _core.check(lib.unda_solver_profile(self._live(), runs, profile))
        found = {
            _core.text(profile.name[i]): {
                "seconds": float(profile.seconds[i]), "launches": float(profile.launches[i])
            }
            for i in range(profile.num_kernel)
        }  # fmt: skip
        found["stage"] = {"seconds": float(profile.stage_seconds)}
        return found

    @alone
    def profile(self, runs: int = 20) -> dict[str, dict[str, float]]:
        """Time each CUDA kernel of a stage, or of a step of `FD`; the state is not changed.

        Parameters
        ----------
        runs : int
            Launches of each, after two to warm up.

        Returns
        -------
        dict of str to dict
            For each kernel ``seconds`` (median of a launch) and ``launches`` a step; "record" is that of
            receivers. For "stage", all kernels of one together but for "record", also ``gdof_per_second``
            (`FD`: ``gcell_per_second``), ``gflops``, ``gbytes_per_second`` (compulsory) and
            ``percent_of_limit``, of the tighter of the measured limits, see ``rate`` of the method.

        Raises
        ------
        ArgumentError
            On the CPU, and where a window passes over the grid (`FD`).
        OutOfMemoryError
            If the device has no room for the copy that `FD` keeps of overwritten arrays: all fields and
            memory variables of layers; with kernel "step" of the scalar scheme one of the two levels of p.

        Notes
        -----
        `FD`: "stage" is a whole step. On staggered grids it is timed as a whole, because the kernels of the
        grid and of its layers run concurrently. If a step launches a kernel several times, ``seconds`` is for
        the mean launch. Kernel "diamond" is timed with all the levels of its plan, with sources and
        receivers; its launches are 1 / levels a step.

        Examples
        --------
        >>> sim = unda.FD(grid, medium, device="cuda")  # doctest: +SKIP
        >>> sim.profile()["stage"]["percent_of_limit"]  # doctest: +SKIP
        """
        found = self._kernel_seconds(runs)
        found["stage"] |= self.rate(found["stage"]["seconds"])
        return found

    # ---- files ----

    @alone
    def save(self, path: Any) -> None:
        """Write a checkpoint (HDF5) from which `unda.load` continues bit for bit.

        It holds mesh, materials, state, clock, history of the integrator, sources, receivers with
        their samples, and ``sim.config``. An old file remains until the new one is complete.

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
        from ..io.checkpoint import save

        self._refuse_unfit()
        save(self, path)
