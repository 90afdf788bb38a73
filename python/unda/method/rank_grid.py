"""The slab of a grid that one of many processes has.

A grid is not scattered: each process knows all of it but values at nodes. So the medium, sources and
receivers are given alike in all of them, which is checked.

Not here: messages of a step (csrc/fd/rank.c), slabs within a process (slabs.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _core
from .._core import lib
from .._rank_device import share_devices
from .._ranks import Ranks
from ..errors import ArgumentError
from ..problem.grid import Block, Grid, chunks


class RankGrid:
    """The planes of x that a process has, once its solver is made.

    Attributes
    ----------
    ranks : Ranks
    own : range
        Its planes of the user's; none where it has layers alone.
    """

    def __init__(self, grid: Grid, ranks: Ranks) -> None:
        self._grid, self.ranks = grid, ranks
        self.own = range(0)

    def given(self) -> Any:
        """Return unda_ranks."""
        ranks = self.ranks
        return _core.new_struct("unda_ranks", num_rank=ranks.size, which=ranks.rank, unite=ranks.unite)

    def take(self, solver: Any, layer: int) -> None:
        """Ask a solver for its planes; layer: planes below the user's."""
        member, num = _core.new_struct("unda_member"), self._grid.shape[0]
        solver.call(lib.unda_solver_get_member, 0, member)
        count = self.ranks.comm.allgather(int(member.num_elem))
        first = sum(count[: self.ranks.rank]) - layer
        begin, end = (min(max(x, 0), num) for x in (first, first + int(member.num_elem)))
        self.own = range(begin, end)

    def chunks(self) -> Iterator[tuple[int, int, Block]]:
        """Return the chunks of the grid that have planes of its own."""
        return (
            one for one in chunks(self._grid) if one[0] < self.own.stop and one[0] + one[1] > self.own.start
        )

    def spread(self, array: np.ndarray, first: int, count: int) -> np.ndarray:
        """Return planes [first, first + count) of a field of which its own planes are given, else 0."""
        found = np.zeros((count, *array.shape[1:]), array.dtype)
        begin, end = max(first, self.own.start), min(first + count, self.own.stop)
        if begin < end:
            found[begin - first : end - first] = array[begin - self.own.start : end - self.own.start]
        return found

    def gathered(self, own: np.ndarray) -> np.ndarray | None:
        """Return the planes of all processes in process 0, and None in the others."""
        return self.ranks.gathered(own, np.arange(self.own.start, self.own.stop), self._grid.shape[0])


def take_ranks(given: Any) -> Ranks | None:
    """Return the processes that arguments of `FD` ask for, and make `given.device` that of this one."""
    if given.comm is None:
        return None
    ranks = given.comm if isinstance(given.comm, Ranks) else Ranks(given.comm)
    share_devices(given, ranks)
    return ranks


def refuse_other(ranks: Ranks, medium: Any, options: Any, grid_options: Any) -> None:
    """Raise in all processes if these are not those of process 0: messages would not fit."""
    names = "precision", "physics", "dt", "cfl", "sample_dt"
    words = [_core.text(options.kernel), *(getattr(options, name) for name in names)]
    told = json.dumps([medium.to_config(), words], sort_keys=True)
    sides = [options.boundary[i] for i in range(6)]
    ranks.same(
        "grid, medium or options", told, bytes(_core.buffer(grid_options, grid_options.size_bytes)), sides
    )


def refuse_absent(ranks: Ranks, medium: Any) -> None:
    """Raise in all processes if the medium is not given in all."""
    given = ranks.comm.allgather(medium is not None)
    if not all(given):
        raise ArgumentError(
            f"processes {[i for i, one in enumerate(given) if not one]} have no medium, expected the same in "
            "all: each computes its own planes of it"
        )
