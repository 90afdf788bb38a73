"""Solver: the library's solver in Python, with the lists of what was added to it.

Not here: the data that drive steps, how many are taken at once (stepping.py), options (_options.py).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import lib, new
from .._ranks import Ranks
from ..errors import ArgumentError, DeviceLostError, ForkError, InternalError, OutOfMemoryError
from .channels import Channels
from .receiver import Receivers

CHUNK_BYTES = 64e6  # of samples that Python takes at once

living: weakref.WeakSet[Any] = weakref.WeakSet()  # simulations, for the message when memory runs out


class Ahead(NamedTuple):
    """The next call of the library: its steps, the present step, step of a blow-up (or -1), times of data."""

    steps: int
    step: int
    blowup: int
    times: np.ndarray


def forecast(mesh: Any, options: Any, team: Any = _core.NULL) -> dict[str, int]:
    """Return the bytes that a solver with these options would take; mesh: the library's, or NULL.

    Of a team (unda_team) those of each part on its device as well: "part 0", "part 1", ...
    """
    parts = 1 if team == _core.NULL else int(team.num_part)
    host, device = new("int64_t *"), new("int64_t[]", parts)
    if team == _core.NULL:
        _core.check(lib.unda_solver_forecast(mesh, options, host, device))
    else:
        _core.check(lib.unda_solver_forecast_team(mesh, options, team, host, device))
    each = [int(one) for one in device]
    more = {f"part {i}": one for i, one in enumerate(each)} if team != _core.NULL else {}
    return {"host": int(host[0]), "device": sum(each), **more}


def _new_solver(mesh: Any, options: Any, team: Any, ranks: Any) -> Any:
    """Make a solver; if memory runs out say what holds it."""

    def make(out: Any) -> int:
        if ranks != _core.NULL:
            return int(lib.unda_solver_new_rank(out, mesh, options, ranks))
        if team == _core.NULL:
            return int(lib.unda_solver_new(out, mesh, options))
        return int(lib.unda_solver_new_team(out, mesh, options, team))

    try:
        return _core.new_object("unda_solver", make, lib.unda_solver_free)
    except OutOfMemoryError as error:
        needed = forecast(mesh, options, team)
        listed = "".join(f"\n  {sim!r}" for sim in living if sim._solver.is_open) or " none"
        raise OutOfMemoryError(
            f"{error}; the simulation takes {needed['host'] / 1e9:.3g} GB on the host and "
            f"{needed['device'] / 1e9:.3g} GB on the device; living simulations:{listed}"
        ) from None


class Solver:
    """The library's solver of a simulation.

    Parameters
    ----------
    mesh : CData
        The library's, or NULL.
    options : CData
        unda_solver_options.
    team : CData, optional
        unda_team.
    part : RankMesh or RankGrid, optional
        What a process has of the problem.
    way : Way, optional
        How its messages travel; by default by way of the host.

    Attributes
    ----------
    process : int
        In which it was made.
    sources, waves, groups, monitors : list
        What was added: each point source and its amplitude, of an `Array` one for each point; each plane
        wave, its wave function and number of faces; all receivers and the channels that they take; monitors.
    views : WeakSet of RawArray
        Arrays that are the state's memory: it lives as long as they do, also after `close`.
    changes : int
        Calls so far that stepped or began again: the state moves, and is another one.
    undrained : bool
        The library may have samples that were not taken yet.
    """

    ranks: Ranks | None = None  #: the processes that share the problem
    transport = ""  #: how messages travel between them

    def __init__(
        self, mesh: Any, options: Any, team: Any = _core.NULL, part: Any = None, way: Any = None
    ) -> None:
        given = _core.NULL if part is None else part.given()
        self._way = way  # it has the connection by NCCL
        if way is not None:
            way.put(given)
        self._handle: Any = _new_solver(mesh, options, team, given)
        self.process = os.getpid()
        self.sources: list[tuple[Any, Callable[[np.ndarray], Any]]] = []
        self.waves: list[tuple[Any, Any, int]] = []
        self.groups: list[tuple[Receivers, Channels]] = []
        self.monitors: list[Any] = []
        self.views: weakref.WeakSet[Any] = weakref.WeakSet()
        self.changes = 0
        self.undrained = True
        self._ran = 0  # steps of the last call
        self._adding: tuple[Any, list[Any], list[Any]] = new("int32_t *", -1), [], []  # see settle
        self._forgets = False  # receivers are to be forgotten, see settle
        if part is not None:
            from .messages import Messages

            self.ranks = part.ranks
            self._messages = Messages(self, part.ranks)
            self.transport = self._messages.transport

    @property
    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._handle is not None

    def live(self) -> Any:
        """Return the library's solver, or raise if it is closed or belongs to another process."""
        if self._handle is None:
            raise ArgumentError("this simulation is closed")
        if self.process != os.getpid():
            raise ForkError(
                f"process {os.getpid()} was forked from {self.process}, where this simulation was made; "
                "use spawn or threads"
            )
        return self._handle

    def close(self) -> None:
        """Free it, once no view of its memory is left."""
        if self._handle is not None:
            if self.ranks is not None:
                self._messages.free()
            views = list(self.views)
            for view in views:
                view._kept = self._handle
            if not views:
                _core.release(self._handle)
            self._handle = None

    def call(self, entry: Callable[..., int], *given: Any) -> None:
        """Call a function of the library for this solver, or raise what it reports."""
        try:
            _core.check(entry(self.live(), *given))
        except (DeviceLostError, InternalError) as error:
            if self.ranks is not None:
                self.ranks.end(error)
            raise

    def info(self) -> Any:
        """Return unda_solver_info."""
        info = _core.new_struct("unda_solver_info")
        self.call(lib.unda_solver_get_info, info)
        return info

    def read(self, array: int, first: int, out: np.ndarray) -> np.ndarray:
        """Read planes or elements of an array of the state, from number `first` on; returns out."""
        self.call(lib.unda_solver_read, array, first, len(out), _core.pointer(out, writable=True))
        return out

    def write(self, array: int, first: int, values: np.ndarray) -> None:
        """Write planes or elements of an array of the state, from number `first` on."""
        self.call(lib.unda_solver_write, array, first, len(values), _core.pointer(values))

    # ---- sources and receivers ----

    def add(self, entry: Callable[..., int], given: tuple[Any, ...], to: list[Any], more: list[Any]) -> None:
        """Add objects by a function of the library, and to a list here.

        The library writes the number of the first object that it has taken, which is its place in the list:
        should a signal handler raise before the list has them, `settle` completes it.
        """
        number = new("int32_t *", -1)
        self.settle()
        self._adding = number, to, more
        self.call(entry, *given, number)
        self.settle()

    def whole_sources(self) -> list[Any]:
        """Return the point sources as they were added, without the parts that a method has made of some."""
        return list({id(source): source for source, _ in self.sources if source._whole is None}.values())

    def settle(self) -> None:
        """Complete the lists after an exception of a signal handler during the last addition, or clearing."""
        number, to, more = self._adding
        if len(to) == number[0]:
            to.extend(more)
        if self._forgets:
            self.call(lib.unda_solver_clear_receivers)
            self.groups, self._forgets = [], False

    def forget_sources(self) -> None:
        """Forget point sources and waves."""
        self.sources, self.waves = [], []
        self.call(lib.unda_solver_clear_sources)

    def forget_receivers(self) -> None:
        """Forget all receivers, which keep the samples that they have."""
        self.settle()
        self._forgets = True
        self.settle()

    def drain(self) -> None:
        """Move recorded samples from the library to the receivers.

        The library keeps samples until later ones are asked for, and each is put where its step belongs: a
        handler of a signal may raise, or save the simulation, between any two lines.
        """
        self.settle()
        step, count = new("int64_t *"), new("int64_t *")
        for i, (receivers, channels) in enumerate(self.groups):
            shape = (channels.num_place(receivers.points), len(channels.numbers))
            most = int(max(1, CHUNK_BYTES // (8 * max(1, shape[0] * shape[1]))))
            room = min(most, self._ran // receivers._pace + 2)  # more than there are: one call does
            count[0] = room
            integral = receivers._integral
            while count[0] == room:
                samples = np.empty((room, *shape), receivers._dtype)
                step[0] = receivers._next if integral is None else integral.state[0]
                to = _core.pointer(samples, writable=True)
                _core.refuse(lib.unda_solver_take_samples(self.live(), i, step, room, to, count))
                found = channels.combine(samples[: count[0]])
                if integral is None:
                    receivers.put((step[0] - receivers._step) // receivers.every, found)
                else:
                    kept, first, state = integral.advance(found)
                    receivers.put(first, kept)
                    integral.state = state
        self.undrained = False

    def read_integrals(self, i: int) -> np.ndarray:
        """Return what receivers i need of their integrals over time to go on; see unda.h. Often nothing."""
        num = new("int64_t *")
        self.call(lib.unda_solver_read_integrals, i, _core.NULL, num)
        values = np.zeros(num[0])
        self.call(lib.unda_solver_read_integrals, i, _core.pointer(values, writable=True), num)
        return values

    def write_integrals(self, i: int, values: Any) -> None:
        """Give receivers i what `read_integrals` gave."""
        if len(values):
            self.call(lib.unda_solver_write_integrals, i, _core.pointer(values), len(values))

    def record(self, t: float) -> None:
        """Start the clock and empty the receivers: the present state is that of time t, step 0."""
        self.changes += 1
        self.call(lib.unda_solver_set_clock, t, 0, 0)
        for i, (receivers, _) in enumerate(self.groups):
            self.undrained = True
            self.call(lib.unda_solver_record, i)
            receivers.clear(t, 0)
        for i in range(len(self.monitors)):
            self.call(lib.unda_solver_restart_monitor, i)
        self.drain()

    # ---- steps ----

    def ahead(self, steps: int, num_time: int) -> Ahead:
        """Reserve room for so many steps; return the times of the data that they need, about num_time."""
        while True:
            times = np.empty(num_time)
            found = _core.new_struct("unda_next", max_time=num_time, times=times)
            _core.refuse(lib.unda_solver_next(self.live(), steps, found))
            if found.num_time <= num_time:
                return Ahead(steps, int(found.step), int(found.blowup), times[: found.num_time])
            num_time = int(found.num_time)  # the first steps of ab3 have more stages

    def step(self, n: int, drive: Any) -> None:
        """Run n steps in one call of the library, and take their samples."""
        handle = self.live()  # the user's functions may have closed it
        status = lib.UNDA_OK  # also if a signal handler raises before the call returns
        self._ran, self.undrained = n, True
        self.changes += 1
        failure = None
        try:
            status = lib.unda_solver_step(handle, n, drive)
            failure = _core.error_of(status) if status else None
        finally:
            if status in (lib.UNDA_OK, lib.UNDA_ERR_UNSTABLE):
                self.drain()
        _core.drain_log()
        if failure is not None:
            if self.ranks is not None and status not in (lib.UNDA_ERR_UNSTABLE, lib.UNDA_ERR_ARG):
                self.ranks.end(failure)
            raise failure

    def refuse_lost(self) -> None:
        """Raise if the device was lost, which explains a state that is half set and missing samples."""
        self.call(lib.unda_solver_energy, new("double *"))
