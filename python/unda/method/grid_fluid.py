"""Fluids (vs = 0) of an elastic medium on a staggered grid: stresses that they can carry.

At a node in a fluid all normal stresses are equal: minus the pressure. A shear stress between nodes uses the
harmonic mean of the shear moduli of its four nodes, which is 0 if one of them is a fluid; the stress must
then be 0. The scheme does not change such stresses: they would drive velocities without end and create
energy.

Not here: reading a state (grid_state.py), the scheme in fluids (csrc/physics/staggered.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError

STRESSES = ("sxx", "syy", "szz", "syz", "sxz", "sxy")
_NORMAL, _SHEAR = STRESSES[:3], STRESSES[3:]


class Fluids:
    """Where the medium of a simulation is fluid, and which stresses are possible there.

    Parameters
    ----------
    sim : FD
    layers : bool
        Include the layers, which continue the medium; else only the user's nodes.
    """

    def __init__(self, sim: Any, *, layers: bool = False) -> None:
        self._sim, self._sides = sim, list(sim._sides.values())
        fluid = sim._material.fluid()
        width = [0 if isinstance(side, str) or not layers else side.width for side in self._sides]
        self._first = width[::2]
        self._node = np.pad(fluid, list(zip(width[::2], width[1::2], strict=True)), mode="edge")
        self._held = np.zeros_like(self._node)  # on a free side, which holds the pressure of a fluid at 0
        for i, side in enumerate(self._sides):
            if side == "free":
                face = _plane(i // 2, -1 if i % 2 else 0)
                self._held[face] = self._node[face]
        self._near = {name: self._around(name) for name in _SHEAR} if self._node.any() else {}

    def any(self) -> bool:
        """Return whether there is a fluid."""
        return bool(self._near)

    def _around(self, name: str) -> np.ndarray:
        """Return the places of a shear stress with a fluid among their nodes."""
        found = self._node
        for axis in ("xyz".index(letter) for letter in name[1:]):
            on = np.roll(found, -1, axis)
            if self._sides[2 * axis] != "periodic":  # a layer or an image continues the last node
                on[_plane(axis, -1)] = found[_plane(axis, -1)]
            found = found | on
        return found

    def settle(self, first: int, stress: Mapping[str, np.ndarray], largest: float) -> dict[str, np.ndarray]:
        """Return the stresses of planes from `first` on without what rounding left of a deviatoric part.

        On a free side a fluid's pressure becomes 0, whatever was given, as all that a wall holds at 0.

        Parameters
        ----------
        first : int
        stress : dict of str to ndarray
            By name; what is missing is 0.
        largest : float
            The largest stress anywhere [Pa].

        Raises
        ------
        ArgumentError
            If the deviatoric part is more than rounding, with room for the sums of an exact solution.
        """
        found = dict(stress)
        planes = slice(first, first + len(next(iter(stress.values()), ())))
        if not (self._near and found):
            return found
        bearable = float(np.finfo(self._sim.dtype).eps) ** (2 / 3) * largest  # as on meshes
        for name in (one for one in _SHEAR if one in stress):
            fluid = self._near[name][planes]
            self._refuse(name, planes, np.where(fluid, np.abs(stress[name]), 0.0), bearable)
            found[name] = np.where(fluid, stress[name].dtype.type(0), stress[name])
        node, held, zero = self._node[planes], self._held[planes], np.zeros((), self._sim.dtype)
        parts = [stress.get(name, np.broadcast_to(zero, node.shape)) for name in _NORMAL]
        mean = np.mean(parts, axis=0, dtype=np.float64)
        away = np.max([np.abs(part - mean) for part in parts], axis=0)
        self._refuse("sxx", planes, np.where(node & ~held, away, 0.0), bearable)
        apart = node & ((parts[0] != parts[1]) | (parts[1] != parts[2]))
        for name in (one for one in _NORMAL if one in stress):
            one = np.where(apart, mean.astype(self._sim.dtype), stress[name])
            found[name] = np.where(held, zero, one)
        return found

    def _refuse(self, name: str, planes: slice, wrong: np.ndarray, bearable: float) -> None:
        bad = np.argwhere(wrong > bearable)
        if not len(bad):
            return
        index = tuple(int(i) for i in bad[0])
        node = tuple(i - n for i, n in zip((planes.start + index[0], *index[1:]), self._first, strict=True))
        grid, offset = self._sim.grid, self._sim._scheme.offset(name)
        place = tuple(
            o + (i + d) * h for o, i, d, h in zip(grid.origin, node, offset, grid.spacing, strict=True)
        )
        raise ArgumentError(
            f"stress has a deviatoric part of {wrong[index]:.3g} Pa at {place} m, node {node}, in or beside "
            "a fluid (vs = 0), which carries no shear; expected sxx = syy = szz at its nodes, syz = sxz = "
            "sxy = 0 where one of the nodes around is one (interfaces lie half a cell from nodes)"
        )


def refuse_shear(sim: Any) -> None:
    """Raise an ArgumentError if an elastic medium's present state, layers included, has shear in a fluid."""
    fluids, arrays = Fluids(sim, layers=True), sim._whole()
    if not fluids.any():
        return

    def read(name: str, first: int) -> np.ndarray:
        number, (_, ny, nz) = arrays[name]
        plane: np.ndarray = sim._solver.read(number, first, np.empty((1, ny, nz), sim.dtype))
        return plane  # 0 where another process has it

    planes = range(arrays[STRESSES[0]][1][0])
    largest = sim._most(max(float(np.abs(read(name, i)).max()) for i in planes for name in STRESSES))
    for i in planes:
        fluids.settle(i, {name: read(name, i) for name in STRESSES}, largest)


def _plane(axis: int, at: int) -> tuple[Any, ...]:
    """Return the index of a plane across an axis."""
    return (*(slice(None),) * axis, at)
