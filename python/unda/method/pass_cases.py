"""What a pass of a staggered scheme makes of given values, by the kernels of the simulation themselves.

Small periodic grids, each with many cases at once, are stepped by the engine: so the result has the roundings
of the engine's code, however its compiler contracts products and sums. Not here: which cases the surface of a
total field needs (staggered_surface.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._core import lib
from ..problem.grid import SIDES
from .incident_line import Scene

_NODES = 1 << 15  # of a grid, about
_ROW = 128  # cases side by side along the last axis, at most


def _fitting(count: int, nodes: int) -> int:
    """Return a number of cases of so many nodes each for a grid: a power of 2, no more than are asked for."""
    return 1 << max(4, min(count - 1, _NODES // nodes).bit_length())


class PassCases:
    """Cases that are profiles along some axes, side by side along the others.

    Side by side they do not meet as long as no field of interest takes values other than 0 along those axes.

    Parameters
    ----------
    scene : Scene
    shape : dict of int to int
        Nodes of a profile along its axes.
    """

    def __init__(self, scene: Scene, shape: Mapping[int, int]) -> None:
        self._axes = tuple(sorted(shape))
        self._beside = tuple(a for a in range(3) if a not in shape)
        self._profile = tuple(shape[a] for a in self._axes)
        order = (*self._axes, *self._beside)
        self._to = tuple(order.index(a) for a in range(3))
        self._scene, self._num = scene, 0

    def _fit(self, count: int) -> None:
        """Make the grid, or a larger one."""
        num = _fitting(count, int(np.prod(self._profile)))
        if num > self._num:
            row = min(num, _ROW)
            self._num = num
            self._shape = (*self._profile, *([num] if len(self._beside) == 1 else [num // row, row]))
            whole = tuple(self._shape[i] for i in self._to)
            self._sim = self._scene.made(whole, (0.0, 0.0, 0.0), dict.fromkeys(SIDES, "periodic"))

    def __call__(
        self, state: Mapping[str, np.ndarray], wanted: Mapping[str, Sequence[np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Return what a step makes of a state at places of each profile: name to (place, case).

        state: name to (*profile, case); wanted: name to places along each axis of the profile.
        """
        count = next(iter(state.values())).shape[-1]
        self._fit(count)
        found = {name: np.zeros((len(at[0]), count), self._sim.dtype) for name, at in wanted.items()}
        for first in range(0, count, self._num):
            num = min(self._num, count - first)
            self._sim._solver.call(lib.unda_solver_clear_state)
            for name, values in state.items():
                given = np.zeros((*self._shape[: len(self._axes)], self._num), self._sim.dtype)
                given[..., :num] = values[..., first : first + num]
                whole = np.ascontiguousarray(given.reshape(self._shape).transpose(self._to))
                self._sim._solver.write(self._sim._arrays(name), 0, whole)
            self._sim.step(1)
            for name, at in wanted.items():
                whole = np.empty(self._sim.grid.shape, self._sim.dtype)
                self._sim._solver.read(self._sim._arrays(name), 0, whole)
                made = whole.transpose(np.argsort(self._to)).reshape(*given.shape)
                found[name][:, first : first + num] = made[tuple(at)][:, :num]
        return found


class SegmentCases:
    """Cases of a field of the second pass, which has a value, and of those around it that it takes.

    Cases are rows of nodes, one behind the other. The field has its value in all of a row, and everywhere
    along the other axes, so that the first pass leaves alone what the second pass takes in the middle of the
    row: differences of equal values are 0 to the last bit.

    Parameters
    ----------
    scene : Scene
    axis : int
        Along which it takes the others.
    """

    def __init__(self, scene: Scene, axis: int) -> None:
        half = scene.order // 2
        self._row = row = axis if scene.flat[2] else 2
        self._scene, self._axis, self._num = scene, axis, 0
        self._case = [1 if flat else 2 for flat in scene.flat]  # nodes of a case along each axis
        self._case[axis] = 2 * half + 2
        self._case[row] = 4 * half + 2
        self._middle = [0, 0, 0]
        self._middle[axis] = half
        self._middle[row] = 2 * half

    def _fit(self, count: int) -> None:
        """Make the grid, or a longer one."""
        num = _fitting(count, int(np.prod(self._case)))
        if num > self._num:
            self._num = num
            shape = list(self._case)
            shape[self._row] *= num
            self._sim = self._scene.made(tuple(shape), (0.0, 0.0, 0.0), dict.fromkeys(SIDES, "periodic"))

    def __call__(
        self, kept: Mapping[str, np.ndarray], taken: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what a step makes of fields (case), from others (2 half + 1, case) at -half .. half."""
        count = next(iter(kept.values())).shape[-1]
        self._fit(count)
        found = {name: np.zeros(count, self._sim.dtype) for name in kept}
        half, shape = len(next(iter(taken.values()))) // 2, self._sim.grid.shape
        span = slice(self._middle[self._axis] - half, self._middle[self._axis] + half + 1)
        middle: Any = (*self._middle[: self._row], slice(None), *self._middle[self._row :])
        split = [*self._case[: self._row], self._num, *self._case[self._row :]]  # cases by themselves
        along = self._axis + (self._axis >= self._row)
        order = (self._row, along, *(a for a in range(4) if a not in (self._row, along)))
        for first in range(0, count, self._num):
            num = min(self._num, count - first)
            self._sim._solver.call(lib.unda_solver_clear_state)
            for name, values in (*kept.items(), *taken.items()):
                whole = np.zeros(split, self._sim.dtype)
                cases = whole.transpose(order)[:num]
                if name in kept:
                    cases[:] = values[first : first + num, None, None, None]
                else:
                    cases[:, span] = values[:, first : first + num].T[..., None, None]
                self._sim._solver.write(self._sim._arrays(name), 0, whole.reshape(shape))
            self._sim.step(1)
            for name in kept:
                whole = np.empty(shape, self._sim.dtype)
                self._sim._solver.read(self._sim._arrays(name), 0, whole)
                found[name][first : first + num] = whole.reshape(split)[middle][:num]
        return found
