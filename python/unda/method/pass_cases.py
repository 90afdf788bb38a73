"""What a pass of a staggered scheme makes of given values, by the kernels of the simulation themselves.

Small periodic grids, each with many cases at once, are stepped by the engine: so the result has the roundings
of the engine's code, however its compiler contracts products and sums. Not here: which cases the surface of a
total field needs (staggered_surface.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    """Cases along one axis, one behind the other: a value that stays, and those around it that it takes.

    The field of interest has its value in all of a segment, so that the first pass, which takes it, leaves
    alone what the second pass takes: differences of equal values are 0 to the last bit.

    Parameters
    ----------
    scene : Scene
    axis : int
    """

    def __init__(self, scene: Scene, axis: int) -> None:
        self._half = scene.order // 2
        self._length = 4 * self._half + 2
        self._scene, self._axis, self._num = scene, axis, 0

    def _fit(self, count: int) -> None:
        """Make the grid, or a longer one."""
        num = _fitting(count, 4 * self._length)
        if num > self._num:
            self._num = num
            shape = [1 if flat else 2 for flat in self._scene.flat]
            shape[self._axis] = num * self._length
            self._sim = self._scene.made(tuple(shape), (0.0, 0.0, 0.0), dict.fromkeys(SIDES, "periodic"))

    def __call__(
        self, kept: Mapping[str, np.ndarray], taken: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what a step makes of fields (case), from others (2 half + 1, case) at -half .. half."""
        count = next(iter(kept.values())).shape[-1]
        self._fit(count)
        found = {name: np.zeros(count, self._sim.dtype) for name in kept}
        half, shape = self._half, self._sim.grid.shape
        share = [1, 1, 1]
        share[self._axis] = -1
        middle: list[slice | int] = [0, 0, 0]
        middle[self._axis] = slice(2 * half, None, self._length)
        for first in range(0, count, self._num):
            num = min(self._num, count - first)
            self._sim._solver.call(lib.unda_solver_clear_state)
            for name, values in (*kept.items(), *taken.items()):
                given = np.zeros((self._num, self._length), self._sim.dtype)
                if name in kept:
                    given[:num] = values[first : first + num, None]
                else:
                    given[:num, half : 3 * half + 1] = values[:, first : first + num].T
                whole = np.ascontiguousarray(np.broadcast_to(given.reshape(share), shape))
                self._sim._solver.write(self._sim._arrays(name), 0, whole)
            self._sim.step(1)
            for name in kept:
                whole = np.empty(shape, self._sim.dtype)
                self._sim._solver.read(self._sim._arrays(name), 0, whole)
                found[name][first : first + num] = whole[tuple(middle)][:num]
        return found
