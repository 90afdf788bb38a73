"""What all parts of a simulation share: its attributes, the clock, processes, and what a method adds.

Next: simulation.py, of which simulation_sources.py, _receivers.py, _monitors.py and _run.py are parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from .._fixed import Fixed
from .._ranks import Ranks
from ..errors import UnstableError
from ..problem.medium import Medium
from ._run_control import Alone
from .check import Report
from .points import Points
from .slabs import Slabs
from .solver import Solver
from .stepping import Stepping
from .team import Team

_Found = TypeVar("_Found")


class SimulationBase(Fixed):
    """The base of all parts of a simulation."""

    medium: Medium
    fields: tuple[str, ...]
    dtype: np.dtype
    config: dict[str, Any]
    team: Team | Slabs | None = None  #: the devices, where there are several
    ranks: Ranks | None = None  #: the processes, where they share the problem
    dt: float
    dt_stable: float
    _guard: Alone
    _solver: Solver
    _points: Points
    _stepping: Stepping
    _medium_config: Mapping[str, Any] | None = None  # of the whole problem, if this is a part
    _start = 0.0  # time of step 0
    _half_set = False  # a call of set() is in progress or was interrupted
    _forgets = False  # sources are to be forgotten once the state is set
    _given: frozenset[str] = frozenset()  # fields of the state that `set` or a checkpoint gave

    # ---- what a method adds ----

    def set(self, exact: Any = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock, see the method."""
        raise NotImplementedError

    def _about(self) -> str:
        """Return what repr() shows in brackets after the name."""
        raise NotImplementedError

    def _blown_up(self, message: str) -> UnstableError:
        raise NotImplementedError

    def check(self) -> Report:
        """Look for common mistakes, see the method."""
        raise NotImplementedError

    def _size(self) -> tuple[int, str]:
        """Return how many unknowns ("DOF") or nodes ("cell") a step advances, and that word."""
        raise NotImplementedError

    def _stored(self, name: str) -> tuple[int, tuple[int, ...]] | None:
        """Return the number and shape of a field that `get` knows in the library; None: it is derived."""
        raise NotImplementedError

    def rate(self, seconds: float, limits: Any = None) -> dict[str, float]:
        """Return the rate of a stage of a given duration, and compare it with the limits; see the method."""
        raise NotImplementedError

    # ---- processes ----

    def _together(self, what: str, work: Callable[[], _Found]) -> _Found:
        """Do what every process does; raise in all if it fails in one."""
        return work() if self.ranks is None else self.ranks.together(what, work)

    @property
    def _tells(self) -> bool:
        """Whether this process warns, draws and writes for all."""
        return self.ranks is None or self.ranks.rank == 0

    def _most(self, value: float) -> float:
        """Return the largest value of all processes."""
        return float(value) if self.ranks is None else self.ranks.most(float(value))

    # ---- clock ----

    @property
    def t(self) -> float:
        """Present time [s]."""
        return float(self._solver.info().time)

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self._solver.info().step)
