"""Sources of a simulation: point sources and plane waves, before the first step.

Not here: where they act (points.py), their amplitudes (stepping.py), what they are (problem/source.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _core
from .._core import lib
from ..errors import ArgumentError
from ..problem.incident import PlaneWave
from ..problem.source import Source
from ._run_control import alone
from .simulation_base import SimulationBase


class SimulationSources(SimulationBase):
    """The part of a simulation that takes sources."""

    _source_ids: set[int]  # of the point sources, except those of the last addition

    @alone
    def add_source(self, source: Source | PlaneWave | Iterable[Source]) -> None:
        """Add a point source, many at once, or a plane wave; before the first step, and each object once.

        Parameters
        ----------
        source : Source, iterable of Source, or PlaneWave
            Of several sources either all are added or, if one is refused, none. Adding them is fastest in one
            call, and if they share an object f, which is then evaluated once.

        Raises
        ------
        ArgumentError
            Outside the mesh, of another physics, a deviatoric moment in a fluid, added already, or too
            late: see `reset`. Of plane waves: see `PlaneWave`.
        """
        if isinstance(source, PlaneWave):
            self._refuse_late(any(source is other for other, *_ in self._solver.waves))
            self._add_wave(source)
            source._fix()
            return
        many = isinstance(source, Iterable) and not isinstance(source, (str, bytes))
        sources: list[Any] = list(source) if many else [source]  # type: ignore[arg-type]
        for one in sources:
            if not isinstance(one, Source):
                raise ArgumentError(
                    f"source is {one!r}, expected one such as VolumeInjection or PlaneWave, or a list of "
                    "point sources"
                )
        self._source_ids.update(id(one) for one, _ in self._solver.sources[len(self._source_ids) :])
        ids = set(map(id, sources))
        self._refuse_late(len(ids) < len(sources) or not ids.isdisjoint(self._source_ids))
        if sources:
            terms, parts = self._points.terms(sources)
            # One pair for each source, not for each point: 100,000 would set off the garbage collector.
            distinct = dict(zip(map(id, parts), parts, strict=True))
            pairs = {key: (one, self._stepping.amplitude(one)) for key, one in distinct.items()}
            added = list(map(pairs.__getitem__, map(id, parts)))
            given = _core.new_struct("unda_source", **terms)
            self._solver.add(lib.unda_solver_add_source, (given,), self._solver.sources, added)
        for one in sources:
            one._fix()

    def _add_wave(self, wave: PlaneWave) -> None:
        """Add a plane wave at faces of a mesh."""
        elem, face, sign, solution = self._points.wave(wave)
        given = len(elem), *map(_core.pointer, (elem, face, sign))
        added = [(wave, solution, len(elem))]
        self._solver.add(lib.unda_solver_add_incident, given, self._solver.waves, added)

    def _refuse_late(self, again: bool) -> None:
        """Raise if a source was added already, or the first step was done."""
        if again:
            raise ArgumentError("this source was added already; sim.reset(sources=True) forgets it")
        if self.step_count > 0:
            raise ArgumentError("sources are added before the first step; sim.reset() starts again")
