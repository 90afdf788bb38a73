"""Points: what a simulation has from its mesh or grid for sources, receivers and outer data.

A simulation has one; `mesh_points.MeshPoints` and `grid_points.GridPoints` are those of meshes and grids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError
from ..problem.incident import PlaneWave
from ..problem.medium import Medium
from ..problem.source import Source
from .channels import Channels
from .solver import Solver


def each_point(sources: Sequence[Source]) -> tuple[np.ndarray, list[Source], np.ndarray]:
    """Return all places (n, 3) of sources, whose each is, and the factors of the rates there."""
    places, counts = [source.places() for source in sources], [len(source.shares()) for source in sources]
    owners = [one for source, num in zip(sources, counts, strict=True) for one in [source] * num]
    return np.concatenate(places), owners, np.concatenate([source.shares() for source in sources])


class Points:
    """Where sources and receivers stand, and what they are there; without outer data."""

    has_outer = False  # whether boundaries have outer values
    no_waves: ClassVar[str] = ""  # why there are no plane waves; empty where they are taken
    integrates = False  # whether the library integrates samples over time
    value_bytes = 8  # what a sample of a channel takes of the memory for samples
    medium: Medium

    @property
    def traces(self) -> dict[str, str]:
        """Unit of everything that can be recorded."""
        return self.medium.traces

    @property
    def units(self) -> dict[str, str]:
        """The same, with displacements and strains."""
        return {**{name: one.unit for name, one in self.medium.motions.items()}, **self.traces}

    def place(self, points: ArrayLike, what: str, side: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Return points (n, 3), and where they stand as members of unda_receivers, or raise."""
        raise NotImplementedError

    def terms(self, sources: Sequence[Source]) -> tuple[dict[str, Any], Sequence[Source]]:
        """Return the members of unda_source of point sources, or raise; then the sources that it has.

        These are the given ones, an `Array` once for each point, and after them parts of those that need a
        second amplitude.
        """
        raise NotImplementedError

    def sort(self, source: Source) -> Any:
        """Return what the amplitude of a source depends on besides its f."""
        return type(source)

    def amplitude(self, source: Source, dt: float) -> Callable[[np.ndarray], Any]:
        """Return the amplitude at the times of stages, which depends on `sort` and f alone."""
        return source.time_function(dt)

    def channels(self, fields: Iterable[str] | None, placed: dict[str, Any]) -> Channels:
        """Return what receivers of these fields take at points that stand where `place` says."""
        return Channels(self.medium, fields, lambda: self.at_points(placed), self.integrates)

    def at_points(self, placed: dict[str, Any]) -> np.ndarray:
        """Return the parameters of the medium (num_point, num_parameter) at points of `place`."""
        raise NotImplementedError

    def lags(self, dt: float) -> dict[str, float]:
        """Return by how much the times of fields differ from the simulation's time, where they do [s]."""
        return {}

    def binder(self) -> Callable[[Any], Any]:
        """Return a function that ties an exact solution to the mesh or grid, and holds nothing else."""
        raise NotImplementedError

    def bound(self, exact: Any) -> Any:
        """Return an exact solution as it is on this mesh or grid."""
        return self.binder()(exact) if hasattr(exact, "bind") else exact

    def wave(self, source: PlaneWave) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Return elements, faces and signs where a plane wave is given, and the wave."""
        raise ArgumentError(self.no_waves)

    def forget_waves(self) -> None:
        """Forget the waves."""

    def num_exact(self, solver: Solver) -> int:
        """Return the number of nodes that need outer values."""
        return 0

    def exact(self, solver: Solver, times: np.ndarray) -> np.ndarray | None:
        """Return outer data and incident waves at stage times, as unda_drive has them."""
        return None
