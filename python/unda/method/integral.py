"""Integrals over time at receivers, from samples of every step: displacements, strain of a fibre.

Of staggered grids v is known in the middle of steps, and u(t + dt) = u(t) + dt v(t + dt/2) is how the scheme
itself integrates. Where v is known at the steps, a step adds Adams and Moulton's rule of order 4,
dt (9 v_n + 19 v_(n-1) - 5 v_(n-2) + v_(n-3)) / 24, whose error is 19 (omega dt)^4 / 720 of u; the first two
steps have the rules of orders 2 and 3.

Not here: what is integrated (channels.py), when samples are taken (solver.py).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

#: Weights of v_n, v_(n-1), .. by how many steps were done before: of none, one, two, and more.
_RULES = np.array([
    [0.0, 0.0, 0.0, 0.0], [1 / 2, 1 / 2, 0.0, 0.0], [5 / 12, 8 / 12, -1 / 12, 0.0],
    [9 / 24, 19 / 24, -5 / 24, 1 / 24],
])  # fmt: skip


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
    middle : bool
        What is integrated is known half a step before.
    """

    def __init__(
        self, fields: Sequence[str], names: Sequence[str], every: int, dt: float, middle: bool
    ) -> None:
        self.names, self.middle, self._every, self._dt = tuple(names), middle, every, dt
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
        #: The step that comes next; the integral; what was integrated last, the newest first.
        self.state: tuple[int, Any, Any] = step, None, None

    def advance(self, samples: np.ndarray) -> tuple[np.ndarray, int, tuple[int, Any, Any]]:
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
        step, total, past = self.state
        num = len(samples)
        new = samples[..., self._columns].astype(np.float64)
        if total is None:
            total, past = np.zeros(new.shape[1:]), np.zeros((3, *new.shape[1:]))
        done = np.arange(step, step + num) - self._first
        v = np.concatenate([past[::-1], new])
        with np.errstate(invalid="ignore", over="ignore"):  # when a run blows up
            if self.middle:
                added = self._dt * np.where((done > 0)[:, None, None], new, 0.0)
            else:
                rules = self._dt * _RULES[np.minimum(done, 3)]
                added = sum(rules[:, j, None, None] * v[3 - j : 3 - j + num] for j in range(4))
            # One after the other: the bits do not depend on how many steps come at once.
            totals = np.cumsum(np.concatenate([total[None], added]), axis=0)[1:]
        made = samples.copy()
        made[..., self._columns] = totals
        kept = done % self._every == 0
        state = step + num, totals[-1] if num else total, v[::-1][:3].copy()
        return made[kept], int(-(-done[0] // self._every)) if num else 0, state
