"""Points in a mesh as SEM needs them: sources as forces, moments and volumes, receivers of any field.

Not here: which cells share a point (_sites.py), weights (csrc/sem/points.c).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.array import Array
from ..problem.incident import PlaneWave
from ..problem.source import MomentTensor, PointForce, Source, VolumeInjection
from ..problem.timefunction import TimeFunction
from .injected_volume import InjectedVolume
from .mesh_points import MeshPoints
from .rank_points import RankPoints
from .sem_fields import SemChannels, SemFields
from .sem_motion import Motion


class SemPoints(MeshPoints):
    """Where sources and receivers of SEM stand, and what they are there; see `MeshPoints`."""

    no_waves = "SEM takes no incident waves; start from a wave: sim.set(unda.exact.plane_wave(..))"
    integrates = False  # displacements are fields
    fields: SemFields
    _floating: frozenset[int] = frozenset()  # ids of forces in fluids

    @property
    def traces(self) -> dict[str, str]:
        """See `Points`."""
        return self.fields.units

    def channels(self, fields: Iterable[str] | None, placed: dict[str, Any]) -> SemChannels:
        """See `Points`."""
        return SemChannels(self.fields, self.medium, fields, lambda: self.at_points(placed))

    def amplitude(self, source: Source, dt: float) -> Callable[[np.ndarray], Any]:
        """Return the force, the moment, or the injected volume, which is the integral of its rate.

        A force in a fluid drives the potential by its integral of the integral (csrc/sem/points.c).
        """
        f = source.wrapped(dt)
        if id(source) in self._floating:
            if not isinstance(source.f, TimeFunction):
                raise ArgumentError(
                    f"f of {source!r}, a force in a fluid (vs = 0) or on one, is a plain callable; SEM needs "
                    "the integral of its integral: use unda.sampled(t, f(t)) or one of unda's time functions"
                )
            return f.integral.integral
        if not isinstance(source, VolumeInjection):
            return f
        return f.integral if isinstance(source.f, TimeFunction) else InjectedVolume(f)

    def binder(self) -> Callable[[Any], Any]:
        """See `Points`; the solution also gives displacements and potentials, where they are known."""
        mesh = self._mesh
        return lambda solution: Motion(solution.bind(mesh) if hasattr(solution, "bind") else solution)

    def bound(self, exact: Any) -> Any:
        """See `Points`."""
        return self.binder()(exact) if callable(exact) else exact

    def wave(self, source: PlaneWave) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """See `Points`."""
        raise ArgumentError(self.no_waves)

    # ---- sources ----

    def terms(self, sources: Sequence[Source]) -> tuple[dict[str, Any], Sequence[Source]]:
        """See `Points`; a force where a solid meets a fluid has a part in the fluid."""
        terms, sources = super().terms(sources)
        if self.medium.physics != "elastic":
            return terms, sources
        wet = self.material_at(terms["elem"], terms["places"])[:, 2] == 0.0
        first, of = terms["first"], np.repeat(np.arange(len(sources)), np.diff(terms["first"]))
        force = np.array([isinstance(source.at_point("elastic"), PointForce) for source in sources])
        some, every = (check.reduceat(wet, first[:-1]) & force for check in (np.logical_or, np.logical_and))
        for i in np.flatnonzero(some).tolist():
            if isinstance(sources[i], Array):
                raise ArgumentError(
                    f"{sources[i]!r} has forces in a fluid (vs = 0) or on one; "
                    "SEM takes such forces as single sources"
                )
        shared = some & ~every
        parts = [_part(sources[i]) for i in np.flatnonzero(shared).tolist()]
        self._floating -= {id(source) for source in sources}  # of others, that are gone
        self._floating |= {id(one) for one in (*[sources[i] for i in np.flatnonzero(every).tolist()], *parts)}
        # the cells of parts come last
        of = np.where(wet & shared[of], len(sources) + np.cumsum(shared)[of] - 1, of)
        order, all_of_them = np.argsort(of, kind="stable"), [*sources, *parts]
        terms |= {name: np.ascontiguousarray(terms[name][order]) for name in ("elem", "places", "rates")}
        terms["first"] = np.searchsorted(of[order], np.arange(len(all_of_them) + 1)).astype(np.int64)
        return {**terms, "num_source": len(all_of_them)}, all_of_them

    def sort(self, source: Source) -> Any:
        """See `Points`."""
        return type(source), id(source) in self._floating

    def _rates(self, source: Source, material: dict[str, float]) -> list[float]:
        """Return force, moment xx yy zz yz xz xy and volume for an amplitude of 1."""
        force, moment, volume = [0.0] * 3, [0.0] * 6, 0.0
        fluid = material.get("vs", 0.0) == 0.0
        speed = material.get("vp", material.get("c", 0.0))
        bulk = material["rho"] * (speed**2 - 4.0 / 3.0 * material.get("vs", 0.0) ** 2)
        if isinstance(source, PointForce):
            force = list(source.direction)
        elif isinstance(source, VolumeInjection):
            volume, moment = (1.0, moment) if fluid else (0.0, [bulk] * 3 + [0.0] * 3)
        elif isinstance(source, MomentTensor):
            m = source.moment
            if fluid:
                source.refuse_shear()
                volume = float(np.trace(m)) / 3.0 / bulk
            else:
                pairs = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
                moment = [float(m[pair]) for pair in pairs]
        else:
            raise ArgumentError(f"SEM takes forces, moments and volumes; the source is {source!r}")
        return [*force, *moment, volume]


class SemRankPoints(SemPoints, RankPoints):
    """The same, of the part of a process."""

    _kind = SemPoints


def _part(source: Source) -> Source:
    """Return the part of a source that acts on other equations."""
    part = copy.copy(source)
    part._whole = source
    return part
