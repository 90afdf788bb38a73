"""Fixed walls of elastic media on staggered grids next to fluids (vs = 0).

A wall fixes only the normal velocity of a fluid, which slides along it, as at a plane of symmetry. The
scheme's "fixed" is an odd image of all velocities, on a whole side. Not here: fluids inside (grid_fluid.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ArgumentError
from ..problem.grid import Grid
from ..problem.layer_rule import FLUID, side_planes
from ..problem.medium import Medium


def fluid_shares(grid: Grid, medium: Medium, sides: Mapping[str, Any]) -> dict[str, float]:
    """Return the fraction of fluid nodes on each "fixed" side."""
    names = [name for name, one in sides.items() if isinstance(one, str) and one == "fixed"]
    if not names:
        return {}
    try:
        return dict.fromkeys(names, float(medium.scalar()["vs"] == 0.0))
    except ArgumentError:
        found = side_planes(grid, medium, names)
        return {name: float((plane[..., 2] <= FLUID).mean()) for name, plane in found.items()}


def let_fluids_slide(grid: Grid, medium: Medium, sides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sides, with "symmetry" instead of "fixed" where all nodes of a side are fluid."""
    shares = fluid_shares(grid, medium, sides)
    return {name: "symmetry" if shares.get(name) == 1.0 else one for name, one in sides.items()}
