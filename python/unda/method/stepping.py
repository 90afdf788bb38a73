"""How a run is taken step by step: the data that drive it, and how many steps are one call of the library.

Not here: the library's solver (solver.py), runs as the user has them (simulation_run.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentError
from ..problem.array import Array
from ..problem.source import Source
from ._run_control import Interruptible
from .delayed import Delayed, columns
from .injected_volume import InjectedVolume
from .points import Points
from .solver import CHUNK_BYTES, Ahead, Solver

#: Of a call of the library. One begins and ends with up to a step's work: slow steps go by more.
_CHUNK_SECONDS, _LONG_CHUNK_SECONDS, _FEW_STEPS = 0.3, 2.0, 32


class Stepping:
    """The steps of a simulation.

    Parameters
    ----------
    solver : Solver
    points : Points
    num_field : int
    dt : float
        Time step [s].
    dtype : dtype
    launch : int
        Steps of one launch of a kernel that takes many; fewer would cost almost as much.

    Attributes
    ----------
    rate : float
        Steps a second of the last call; 0 before the first.
    """

    def __init__(
        self, solver: Solver, points: Points, num_field: int, dt: float, dtype: np.dtype, launch: int
    ) -> None:
        self.launch, self.rate = launch, 0.0
        self._solver, self._points, self._num_field = solver, points, num_field
        self._dt, self._dtype = dt, dtype
        self._num_stage = int(solver.info().num_stage)
        self._ranks = solver.ranks
        self._shared: dict[Any, tuple[Any, Any]] = {}  # amplitudes by sort and id of f; f stays alive
        self._columns: tuple[Any, list[Any], np.ndarray] | None = None  # of the sources, see `columns`

    # ---- the data that drive steps ----

    def amplitude(self, source: Source) -> Callable[[np.ndarray], Any]:
        """Return the amplitude of a source, one object for all of one sort that share f, or of an array."""
        delays = source.delays if isinstance(source, Array) else np.zeros(1)
        late = bool(delays.any())
        point = source.at_point(self._points.medium.physics)
        key = self._points.sort(point), id(source.f), id(source) if late else None
        if key not in self._shared:
            amplitude = self._points.amplitude(point, self._dt)
            self._refuse_amplitude(source, amplitude)
            if late:
                amplitude = Delayed(amplitude, delays, source)
            self._shared[key] = source.f, amplitude
        return self._shared[key][1]

    def _refuse_amplitude(self, source: Source, amplitude: Callable[[np.ndarray], Any]) -> None:
        """Raise if a source of known beginning and end has amplitudes outside the precision's range."""
        span = source.time_function(self._dt).span
        if span is None or not np.isfinite(span).all():
            return
        with np.errstate(over="ignore", invalid="ignore"):
            times = np.linspace(span[0] - self._dt, span[1] + self._dt, 4096)  # when it acts
            peak = float(np.abs(amplitude(times)).max())
        kind = np.finfo(self._dtype)
        if not (peak == 0.0 or float(kind.tiny) <= peak <= float(kind.max)):
            raise ArgumentError(
                f"{source!r} has amplitudes of at most {peak:.3g}, beyond {self._dtype}; expected "
                f"{kind.tiny:.3g} to {kind.max:.3g}: use other units"
                + (" or float64" if self._dtype.itemsize == 4 else "")
            )

    def _amplitudes(self, times: np.ndarray) -> np.ndarray | None:
        """Sample the point sources (num_time, num_source)."""
        sources = self._solver.sources
        if not sources:
            return None
        if self._columns is None or self._columns[0] is not sources or len(self._columns[2]) != len(sources):
            self._columns = sources, *columns([f for _, f in sources])
        _, functions, numbers = self._columns
        values = np.concatenate([f(times).reshape(len(times), -1) for f in functions], axis=1)
        return np.ascontiguousarray(values[:, numbers])

    def drive(self, times: np.ndarray) -> Any:
        """Sample what drives steps that need data at these times."""
        exact = self._points.exact(self._solver, times)
        return _core.new_struct(
            "unda_drive", num_time=len(times), amplitudes=self._amplitudes(times), exact=exact
        )

    def begin(self) -> None:
        """Tell amplitudes that depend on the past that the clock has been set."""
        for _, amplitude in self._shared.values():
            if isinstance(amplitude, InjectedVolume):
                amplitude.begin()

    def forget_sources(self) -> None:
        """Forget the sources and waves."""
        self._shared = {}
        self._points.forget_waves()
        self._solver.forget_sources()

    # ---- steps ----

    def room(self) -> int:
        """Return the number of steps whose data and samples fit in the memory for them."""
        solver = self._solver
        wide = len(solver.sources) + self._points.num_exact(solver) * self._num_field
        sampled = sum(
            channels.num_place(one.points) * len(channels.numbers) / one._pace
            for one, channels in solver.groups
        )
        room = CHUNK_BYTES / (8 * (self._num_stage * wide + 1) + self._points.value_bytes * sampled)
        if self._ranks is not None:
            room = self._ranks.least(room)
        return int(max(1, min(room, 100_000)))

    def chunk(self, left: int) -> int:
        """Return the number of steps to run at once: 0.3 s of work, 2 s of slow steps, in whole launches."""
        room = self.room()
        few = min(_FEW_STEPS, int(self.rate * _LONG_CHUNK_SECONDS))
        n = min(max(few, int(self.rate * _CHUNK_SECONDS)) if self.rate else 8, room)
        return min(max(n // self.launch, 1) * self.launch, left, room)

    def ahead(self, steps: int) -> Ahead:
        """Reserve room for so many steps; return what they need."""
        return self._solver.ahead(steps, steps * self._num_stage)

    def advance(self, n: int, ahead: Ahead | None = None) -> None:
        """Run n steps in one call of the library; ahead: what they need."""

        def drive() -> Any:
            return self.drive((ahead or self.ahead(n)).times)

        # no process begins steps whose data another one could not make: it would wait in them
        data = drive() if self._ranks is None else self._ranks.together("data of steps", drive)
        self._solver.step(n, data)

    def stopped(self, here: bool) -> bool:
        """Return whether the run ends, here or in another process."""
        return here if self._ranks is None else self._ranks.most(here) > 0

    def run(self, n: int, ahead: Ahead | None) -> None:
        """Run n steps, the first of them as reserved; Ctrl-C ends it after the present call."""
        with Interruptible() as interrupted:
            while n > 0 and not self.stopped(interrupted()):
                part = self.chunk(n) if ahead is None else ahead.steps
                begin = time.perf_counter()
                self.advance(part, ahead)
                ahead = None
                seconds = time.perf_counter() - begin
                if self._ranks is not None:
                    seconds = self._ranks.most(seconds)
                self.rate = part / max(seconds, 1e-6)
                n -= part
