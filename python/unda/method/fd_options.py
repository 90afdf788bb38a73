"""Options of FD: the user's words and numbers, converted for the library.

Not here: those that all methods have (_options.py), conditions and layers (fd_sides.py, layer_rule.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._check import integer, number
from .._core import lib
from ..errors import ArgumentError
from ..problem.grid import Block, Grid
from ..problem.layer import CPML, Damping
from ..problem.layer_rule import choose
from ._options import Given, common_options, kernel_choice
from .fd_scheme import Scalar, scheme_of
from .fd_sides import code_of, conditions, flat_axes, frequency_of, stretch_of
from .fluid_walls import let_fluids_slide


def _window(given: Any) -> int:
    """Return what the library calls a window: rows, 0 for none, -1 for "auto"."""
    if given is None or given == "auto":
        return 0 if given is None else -1
    if isinstance(given, str):
        raise ArgumentError(f"window is {given!r}, expected 'auto', None or a number of rows")
    return integer("window", given, 1, 2**31 - 1)


def fd_options(given: Given) -> tuple[Any, Any, dict[str, Any], Scalar, str]:
    """Return the library's options, those of the grid (to be kept alive), sides, scheme and device."""
    grid, medium, fmax = given.grid, given.medium, given.fmax
    if not isinstance(grid, Grid):
        raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid")
    kind = scheme_of(given.scheme, medium)
    order = integer("order", given.order, 2, 16)
    if order % 2:
        raise ArgumentError(f"order is {order}, expected an even number")
    medium.on(Block(grid, 0, 1))  # refuses what does not fit the grid
    highest = None if fmax is None else number("fmax", fmax, "Hz", positive=True)
    sides = conditions(grid, kind, given.boundary, highest)
    if medium.physics == "elastic":
        sides = let_fluids_slide(grid, medium, sides)
    sides = choose(grid, medium, sides, given.layer, staggered=kind.name == "staggered")
    layers = [one if isinstance(one, (Damping, CPML)) else None for one in sides.values()]
    flat = flat_axes(grid, sides)
    try:
        material = np.array(list(medium.scalar().values())) if kind.name == "scalar" else None
    except ArgumentError:
        material = None
    fastest = medium.speed_max(grid) if material is None else float(material[1])
    grid_options = _core.new_struct(
        "unda_fd_options", scheme=kind.code, order=order, shape=list(grid.shape),
        spacing=[1.0 if axis in flat else h for axis, h in zip("xyz", grid.spacing, strict=True)],
        origin=list(grid.origin), uniform=int(material is not None),
        window=_window(given.window), speed_max=fastest,
        layer=[one.width if one else 0 for one in layers],
        reflection=[one.R0 if one else 0.0 for one in layers],
        stretch=[stretch_of(one) for one in layers],
        ratio=[one.ratio if isinstance(one, CPML) else 0.0 for one in layers],
        frequency=[frequency_of(one, fastest, grid.spacing[i // 2]) for i, one in enumerate(layers)],
    )  # fmt: skip
    common, chosen = common_options(given)
    options = _core.new_struct(
        "unda_solver_options",
        **common,
        method=lib.UNDA_FD,
        physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
        **kernel_choice(given.kernel, given.kernel_options),
        material=material,
        boundary=np.array([code_of(side) for side in sides.values()], np.int32),
        fd=grid_options,
    )
    return options, grid_options, sides, kind, chosen
