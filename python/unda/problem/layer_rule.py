"""Where a CPML of the staggered schemes can be unstable, and which layer replaces it.

Not here: the layer's equations (csrc/fd/staggered/cpml.c), its parameters (layer.py). The thresholds come
from benchmarks/layer_map.py; docs/absorbing_layers.md has the results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._check import choice
from ..errors import ArgumentError
from .grid import Grid, chunks
from .layer import CPML
from .medium import Medium

#: Ratios of the layers that `FD` knows by name. Reflections are roughly proportional to the ratio: 0.1 is the
#: smallest ratio measured at which no plate and no strata grow; at 0.05 plates of 5 nodes do.
LAYERS = {"cpml": 0.0, "multiaxial": 0.1, "sponge": 1.0}
_CONTRAST = 1.5  # of rho, vp or vs in a plane: no CPML has grown up to this contrast
_LARGE = 10.0  # of rho, vp or vs: nor any multiaxial layer, if no feature is thin
_THIN = 5  # nodes: beside thinner features of _CONTRAST multiaxial layers grow, too
_CURL = 9.0  # of eps or mu of a thin feature: no CPML has grown up to this contrast
FLUID = -50.0  # stands for log(vs) there
#: The scalar scheme: least number of nodes of a layer, and the contrast in c of thin features up to which no
#: such layer has grown.
_SCALAR = ((10, 20.0), (5, 10.0), (0, 3.0))


class Choice(NamedTuple):
    """A layer by name, and the reason for it, which is empty where a CPML is stable."""

    layer: str
    reason: str


def layer_name(ratio: float) -> str:
    """Name a layer by its ratio: "multiaxial (0.1)"."""
    word = "cpml" if ratio == 0 else "sponge" if ratio == 1 else "multiaxial"
    return f"{word} ({ratio:g})" if word == "multiaxial" else word


def rule(grid: Grid, medium: Medium, sides: Mapping[str, Any]) -> dict[str, Choice]:
    """Return the rule's choice at each side that has a CPML.

    It examines the side's plane of nodes, which the layer continues. Elastic: "sponge" if rho, vp, or vs
    among solids, varies there by a factor above 10, or if a feature thinner than 5 nodes has a contrast above
    1.5; "multiaxial" if one of them varies by a factor above 1.5, fluid touches solid, or two sides across
    the layer are walls. Maxwell: "sponge" if a feature thinner than 5 nodes has a contrast above 9 in eps or
    mu. Otherwise, and always for acoustic waves, "cpml".
    """
    names = [name for name, one in sides.items() if isinstance(one, CPML)]
    if medium.physics == "acoustic":
        return dict.fromkeys(names, Choice("cpml", ""))
    planes = side_planes(grid, medium, names)
    judge = _judge_curl if medium.physics == "maxwell" else partial(_judge, grid)
    return {name: judge(sides, name, planes.get(name)) for name in names}


def choose(
    grid: Grid, medium: Medium, sides: Mapping[str, Any], layer: Any, *, staggered: bool
) -> dict[str, Any]:
    """Return the sides, with a ratio for each CPML that has none: that of `layer`, or by the rule."""
    words = ["auto", *LAYERS]
    word = words[choice("layer", layer, words)]
    given = {name: one.ratio for name, one in sides.items() if isinstance(one, CPML)}
    if not staggered and (word not in ("auto", "cpml") or any(given.values())):
        raise ArgumentError(
            f"layer is {layer!r}, ratios are {given}; expected 'auto' or 'cpml' and 0: the scalar scheme"
        )
    made, taken = dict(sides), dict.fromkeys(given, "cpml" if word == "auto" else word)
    if staggered and word == "auto" and None in given.values():
        taken = {name: one.layer for name, one in rule(grid, medium, sides).items()}
    for name, ratio in given.items():
        if ratio is None:
            made[name] = replace(sides[name], ratio=LAYERS[taken[name]])
    return made


def scalar_growth(grid: Grid, medium: Medium, sides: Mapping[str, Any]) -> dict[str, str]:
    """Return why matched layers of the scalar scheme may grow, by side; sides where they do not are left out.

    A feature of the side's plane that is thinner than 5 nodes may have a contrast in c of up to 3 beside
    layers of less than 5 nodes, of 10 beside less than 10, and of 20 beside any.
    """
    found = {}
    names = [name for name, one in sides.items() if isinstance(one, CPML)]
    for name, plane in side_planes(grid, medium, names).items():
        most = next(times for least, times in _SCALAR if sides[name].width >= least)
        thin = _thinnest(sides, name, plane[..., 1:2])
        if thin > np.log(most):
            found[name] = (
                f"a feature thinner than {_THIN} nodes has a contrast of {_times(thin)} in c, expected at "
                f"most {most:g} beside {sides[name].width} nodes of layer"
            )
    return found


# ---- the medium in the planes of the sides


def side_planes(grid: Grid, medium: Medium, names: list[str]) -> dict[str, np.ndarray]:
    """Return logarithms of the parameters at nodes of sides, (.., .., 2 or 3); {} in a uniform medium."""
    try:
        medium.scalar()
        return {}
    except ArgumentError:
        pass
    made: dict[str, list[np.ndarray]] = {name: [] for name in names}
    whole = any(name[0] != "x" for name in names)
    for first, count, block in chunks(grid):
        last = first + count == grid.shape[0]
        if not (whole or first == 0 or last):
            continue
        table = medium.on(block).reshape(count, *grid.shape[1:], -1)
        for name, parts in made.items():
            end = 0 if name.endswith("min") else -1
            if name[0] != "x":
                parts.append(np.take(table, end, axis="xyz".index(name[0])))
            elif (end == 0 and first == 0) or (end == -1 and last):
                parts.append(table[end])
    with np.errstate(divide="ignore"):
        joined = {name: parts[0] if name[0] == "x" else np.concatenate(parts) for name, parts in made.items()}
        return {name: np.maximum(np.log(plane[..., :3]), FLUID) for name, plane in joined.items()}


def _modes(sides: Mapping[str, Any], axis: str) -> tuple[Any, Any]:
    """Return how the medium continues beyond both sides of an axis, as a mode of `numpy.pad`."""
    ends = sides[f"{axis}min"], sides[f"{axis}max"]
    low, high = (
        "edge" if isinstance(one, CPML) else "wrap" if one == "periodic" else "reflect" for one in ends
    )
    return low, high


def _thin(values: np.ndarray, modes: tuple[Any, Any]) -> float:
    """Return the largest log-contrast of features thinner than _THIN nodes along the first axis.

    That is what openings and closings of this width remove (top-hat transforms, Serra 1982).
    """
    from scipy.ndimage import black_tophat, white_tophat

    reach, others = _THIN - 1, values.ndim - 1
    low, high = (np.pad(values, [(reach, reach)] + [(0, 0)] * others, mode=mode) for mode in modes)
    long = np.concatenate([low[:-reach], high[-reach:]])
    hats = (hat(long, size=(_THIN, *[1] * others))[reach:-reach] for hat in (white_tophat, black_tophat))
    return float(max(hat.max() for hat in hats))


def _thinnest(sides: Mapping[str, Any], name: str, plane: np.ndarray) -> float:
    """Return the largest log-contrast of thin features in a side's plane, along either of its axes."""
    across = [axis for axis in "xyz" if axis != name[0]]
    along = [(j, axis) for j, axis in enumerate(across) if plane.shape[j] > 1]
    return max((_thin(np.moveaxis(plane, j, 0), _modes(sides, axis)) for j, axis in along), default=0.0)


def _judge_curl(sides: Mapping[str, Any], name: str, plane: np.ndarray | None) -> Choice:
    thin = 0.0 if plane is None else _thinnest(sides, name, plane[..., :2])
    if thin > np.log(_CURL):
        return Choice("sponge", f"a feature thinner than {_THIN} nodes has a contrast of {_times(thin)}")
    return Choice("cpml", "")


def _judge(grid: Grid, sides: Mapping[str, Any], name: str, plane: np.ndarray | None) -> Choice:
    across = [axis for axis in "xyz" if axis != name[0]]
    if plane is not None:
        spread = {"rho": np.ptp(plane[..., 0]), "vp": np.ptp(plane[..., 1])}
        solid = plane[..., 2][plane[..., 2] > FLUID]
        spread["vs"] = np.ptp(solid) if solid.size else 0.0
        of = max(spread, key=lambda one: spread[one])
        thin = _thinnest(sides, name, plane)
        if thin > np.log(_CONTRAST):
            return Choice("sponge", f"a feature thinner than {_THIN} nodes has a contrast of {_times(thin)}")
        if spread[of] > np.log(_LARGE):
            return Choice("sponge", f"{of} varies by a factor of {_times(spread[of])} beside it")
        if spread[of] > np.log(_CONTRAST):
            return Choice("multiaxial", f"{of} varies by a factor of {_times(spread[of])} beside it")
        if 0 < solid.size < plane[..., 2].size:
            return Choice("multiaxial", "fluid touches solid beside it")
    for axis in across:
        ends = sides[f"{axis}min"], sides[f"{axis}max"]
        walls = all(isinstance(one, str) and one != "periodic" for one in ends)
        if walls and grid.shape["xyz".index(axis)] > 1:
            return Choice("multiaxial", f"{ends[0]!r} and {ends[1]!r} sides of {axis} beside it guide waves")
    return Choice("cpml", "")


def _times(spread: float) -> str:
    return "infinity" if spread > -FLUID / 2 else f"{np.exp(spread):.3g}"
