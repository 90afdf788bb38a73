"""Runs of a simulation: steps, what is warned of before, what ends them.

Not here: pieces of a run (stepping.py), what interrupts it (_run_control.py), what `check` finds (check.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._check import flag, integer, number
from .._core import lib
from ..errors import AccuracyWarning, ArgumentError, UnstableError, warn
from ._run_control import Interruptible, Progress, alone
from .simulation_receivers import SimulationReceivers
from .solver import Ahead


class SimulationRun(SimulationReceivers):
    """The part of a simulation that runs it."""

    _looked_at: tuple[Any, ...] = ()  # what `check` saw before the last run
    _told: frozenset[str] = frozenset()  # warnings issued so far

    def _warn(self) -> None:
        """Warn of what `check` finds, once each; look again where sources, receivers or the state are new."""
        now = *(one for one, *_ in (*self._solver.sources, *self._solver.waves)), *self.receivers, self._given
        if len(now) == len(self._looked_at) and all(map(operator.is_, now, self._looked_at)):
            return
        for text in self.check().warnings:
            if text not in self._told:
                # A filter of the user's may make it an error, of which all processes must hear.
                self._together("warning", partial(self._issue, text))
                self._told |= {text}
        self._looked_at = now

    def _issue(self, text: str) -> None:
        if self._tells:
            warn(text, AccuracyWarning)

    @alone
    def step(self, n: int = 1) -> None:
        """Run n time steps.

        Parameters
        ----------
        n : int

        Raises
        ------
        UnstableError
            If the state is no longer finite. On a mesh the last good state is restored and can be read
            (except in the first two steps of ab3, which need its memory); on a grid the state remains as it
            is. Start again with `set` or `reset`.
        """
        n = integer("n", n, 0)
        self._solver.settle()
        ahead = self._refuse_unfit(self._stepping.chunk(n) if n else 0)
        try:
            self._stepping.run(n, ahead)
        except UnstableError as error:
            raise self._blown_up(str(error)) from None

    def _refuse_unfit(self, steps: int = 0) -> Ahead:
        """Raise if state, clock and traces do not fit together. Takes pending samples first.

        Samples may be pending from a call that an exception of a signal handler ended. Returns what so many
        steps need.
        """
        if self._half_set:
            self._solver.refuse_lost()
            raise ArgumentError(
                "set() or reset() did not come to its end, the state is neither the old nor the new one; "
                "call it again"
            )
        self._solver.settle()
        if self._solver.undrained:
            self._solver.drain()
        ahead = self._stepping.ahead(steps)
        if ahead.blowup >= 0:
            raise ArgumentError(
                f"the run blew up at step {ahead.blowup} and stands at step {ahead.step}; "
                "sim.set(...) or sim.reset() starts again"
            )
        for i, receivers in enumerate(self.receivers):
            if not receivers._next - receivers.every <= ahead.step < receivers._next:
                self._solver.refuse_lost()
                raise ArgumentError(
                    f"receivers {i} ({receivers.name!r}) have {receivers.num_sample} samples from step "
                    f"{receivers._step} on, one every {receivers.every} steps, at step {ahead.step}"
                )
        return ahead

    def _steps_to(self, until: float | None, steps: int | None) -> int:
        """Return the number of steps that `run` is to do."""
        self._solver.live()
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
            After Ctrl-C, once the present chunk (about 0.3 s, 2 s of slow steps, or one launch of a kernel
            that takes many steps) is done; the simulation remains valid.

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
        progress = progress if self._tells else False
        with Interruptible() as interrupted, Progress(self, steps, progress) as bar:
            done = 0
            while done < steps:
                limit = steps - done if every is None else min(steps - done, every - done % every)
                n = self._stepping.chunk(limit)
                self.step(n)
                done += n
                bar.update(n)
                if callback is not None and (every is None or done % every == 0):
                    callback(self)
                if self._stepping.stopped(interrupted()):
                    break

    def _blowup(self) -> tuple[Any, dict[str, Any]]:
        """Return the library's report of a blow-up, and the part of the exception that all methods share."""
        blowup = _core.new_struct("unda_blowup")
        self._solver.call(lib.unda_solver_get_blowup, blowup)
        return blowup, {
            "step": int(blowup.step),
            "last_good_step": int(blowup.last_good_step),
            "time": self._start + int(blowup.step) * self.dt,
            "field": self.fields[int(blowup.field)],
            "element": int(blowup.elem),
        }
