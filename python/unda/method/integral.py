"""Integrals over time at receivers on staggered grids, from samples of every step: displacements, strain.

v is known in the middle of steps, and u(t + dt) = u(t) + dt v(t + dt/2) is how the scheme itself integrates.
Not here: what is integrated (channels.py), when samples are taken (solver.py), integrals of `DG`, which go
with the stages of its steps (csrc/dg/integral.c).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np


class Integral:
    """Which quantities of receivers are integrals, and these up to a step.

    Parameters
    ----------
    fields : sequence of str
        All that is recorded.
    names : tuple of str
        Those that are integrals, from the first sample on, where they are 0.
    every : int
        Steps between samples that are kept.
    dt : float
        Time step [s].
    """

    def __init__(self, fields: Sequence[str], names: Sequence[str], every: int, dt: float) -> None:
        self.names, self._every, self._dt = tuple(names), every, dt
        self._columns = [list(fields).index(name) for name in names]
        self.begin(0)

    def again(self) -> Integral:
        """Return another one that has not begun."""
        made = copy.copy(self)
        made.begin(0)
        return made

    def begin(self, step: int) -> None:
        """Start at a step, where the integrals are 0."""
        self._first = step
        #: The step that comes next; the integral.
        self.state: tuple[int, Any] = step, None

    def advance(self, samples: np.ndarray) -> tuple[np.ndarray, int, tuple[int, Any]]:
        """Integrate samples (num_step, num_point, num_field) of the next steps.

        Returns
        -------
        samples : ndarray
            Those that are kept.
        first : int
            The number of the first of them.
        state : tuple
            For `state`, once these are safe.
        """
        step, total = self.state
        num = len(samples)
        v = samples[..., self._columns].astype(np.float64)
        if total is None:
            total = np.zeros(v.shape[1:])
        done = np.arange(step, step + num) - self._first
        with np.errstate(invalid="ignore", over="ignore"):  # when a run blows up
            added = self._dt * np.where((done > 0)[:, None, None], v, 0.0)
            # One after the other: the bits do not depend on how many steps come at once.
            totals = np.cumsum(np.concatenate([total[None], added]), axis=0)[1:]
        made = samples.copy()
        made[..., self._columns] = totals
        kept = done % self._every == 0
        state = step + num, totals[-1] if num else total
        return made[kept], int(-(-done[0] // self._every)) if num else 0, state
