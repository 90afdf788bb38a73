"""Receivers that record zero, and sources without effect, by construction.

Walls keep some fields at zero, fluids carry no shear, and symmetry persists: in two dimensions fields that
are odd in the missing axis are never driven by even ones. Not here: accuracy (check.py, grid_check.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..problem.array import Array
from ..problem.source import CurrentDipole, MomentTensor, PointForce, Source, VolumeInjection
from . import _sites
from .fd_sides import SIDES

_NEAR = 1e-9  # of a mesh's size: nearer points are on a wall
_SMALL = 1e-12  # of the largest component of a vector or tensor: smaller ones count as 0
_SHEAR = {"syz", "sxz", "sxy"}
_MOST = 256  # at most so many points of a grid are checked for fluids


class Wall(NamedTuple):
    """A flat side with one condition."""

    name: str
    condition: Any
    axis: int
    lower: np.ndarray
    upper: np.ndarray

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Return which points lie on it."""
        return np.asarray(((points >= self.lower) & (points <= self.upper)).all(axis=-1))

    def hold_all(self, groups: list[np.ndarray]) -> np.ndarray:
        """Return which groups of points (n, 3) lie on it, all of their points."""
        first = np.cumsum([0, *map(len, groups)])[:-1]
        return np.logical_and.reduceat(self.holds(np.concatenate(groups)), first)

    def zeros(self, physics: str) -> set[str]:
        """Return the fields that it keeps at zero."""
        return zeros_at(physics, self.condition, "xyz"[self.axis])


def zeros_at(physics: str, condition: Any, axis: str) -> set[str]:
    """Return the fields that a wall normal to an axis keeps at zero."""
    others = [one for one in "xyz" if one != axis]
    stress = {"s" + "".join(sorted(axis + one)) for one in "xyz"}
    known = {
        ("acoustic", "free"): {"p"},
        ("acoustic", "rigid"): {"v" + axis},
        ("elastic", "free"): stress,
        ("elastic", "fixed"): {"vx", "vy", "vz"},
        ("elastic", "symmetry"): {"v" + axis} | stress - {"s" + 2 * axis},
        ("maxwell", "pec"): {"e" + one for one in others} | {"h" + axis},
        ("maxwell", "pmc"): {"h" + one for one in others} | {"e" + axis},
    }
    return known.get((physics, condition), set()) if isinstance(condition, str) else set()


def is_odd(name: str, axis: str) -> bool:
    """Return whether a field changes sign when space is mirrored along an axis; H and curls are axial."""
    if name.startswith("curl_") or (name[0] == "h" and len(name) == 2):
        return name[-1] != axis
    vector = len(name) in (2, 3) and name[0] in "vseu"
    return vector and name[1:].count(axis) == 1


def driven_by(source: Source) -> set[str]:
    """Return the fields to which a point source adds."""
    if isinstance(source, Array):
        return driven_by(source.at_point("elastic")) | driven_by(source.at_point("maxwell"))
    if isinstance(source, VolumeInjection):
        return {"p", "sxx", "syy", "szz"}
    if isinstance(source, MomentTensor):
        large = _SMALL * np.abs(source.moment).max()
        pairs = [(i, j) for i in range(3) for j in range(i, 3) if abs(source.moment[i, j]) > large]
        return {f"s{'xyz'[i]}{'xyz'[j]}" for i, j in pairs}
    if isinstance(source, (PointForce, CurrentDipole)):
        kind, large = "v" if isinstance(source, PointForce) else "e", _SMALL * max(map(abs, source.direction))
        return {kind + axis for axis, one in zip("xyz", source.direction, strict=True) if abs(one) > large}
    return set()


def on_mesh(sim: Any) -> list[str]:
    """Return which receivers on a mesh record zero, and which sources there have no effect."""
    walls = sim._of_whole("walls", lambda mesh: _walls_of_mesh(mesh, sim._boundaries.words))
    # Where two walls share a plane, their bounding boxes do not tell to which a point belongs.
    planes = {(one.axis, float(one.lower[one.axis])) for one in walls}

    def wet(points: np.ndarray) -> np.ndarray:
        """Return the points that no solid shares."""
        sites = sim._of_whole("places of receivers", lambda mesh: _sites.find(mesh, points, sim.degree))
        solid = sim._points.material_at(sites.elem, sites.places)[:, 2] > 0.0
        return np.bincount(sites.of_points(), solid, len(points)) == 0

    return _silent(sim, walls if len(planes) == len(walls) else [], "", wet)


def _walls_of_mesh(mesh: Any, words: Mapping[str, Any]) -> list[Wall]:
    """Return the boundaries of a mesh that are flat, and normal to an axis."""
    walls, faces, ids = [], mesh.boundary_faces, mesh.boundary_ids
    near = _NEAR * float(np.ptp(mesh.vertices, axis=0).max())
    for i, (name, condition) in enumerate(words.items()):
        corners = mesh.vertices[np.unique(faces[ids == i])]
        lower, upper = corners.min(axis=0), corners.max(axis=0)
        flat = np.flatnonzero(upper - lower <= near)
        if len(flat) == 1:
            walls.append(Wall(name, condition, int(flat[0]), lower - near, upper + near))
    return walls


def on_grid(sim: Any) -> list[str]:
    """Return which receivers on a grid record zero, and which sources there have no effect."""
    grid, walls = sim.grid, []
    near = _NEAR * float(max(grid.size))
    for i, (name, condition) in enumerate(sim._sides.items()):
        lower, upper, axis = np.array(grid.lower), np.array(grid.upper), i // 2
        lower[axis] = upper[axis] = (upper if i % 2 else lower)[axis]
        if grid.shape[axis] > 1:
            walls.append(Wall(name, condition, axis, lower - near, upper + near))
    flat = [
        axis for i, axis in enumerate("xyz") if grid.shape[i] == 1 and sim._sides[SIDES[2 * i]] == "periodic"
    ]

    def node(a: int, number: float) -> int:
        round_again = sim._sides[SIDES[2 * a]] == "periodic"
        return int(number % grid.shape[a] if round_again else np.clip(number, 0, grid.shape[a] - 1))

    def fluid(points: np.ndarray) -> np.ndarray:
        found = np.zeros(len(points), bool)
        for i, place in enumerate(grid.locate(points[:_MOST])):
            ranges = (sorted({node(a, np.floor(x)), node(a, np.ceil(x))}) for a, x in enumerate(place))
            nodes = [np.ravel_multi_index(one, grid.shape) for one in product(*ranges)]
            found[i] = all(sim._material.is_fluid(int(n)) for n in nodes)
        return found

    return _silent(sim, walls, "".join(flat), fluid)


def _silent(sim: Any, walls: list[Wall], flat: str, fluid: Callable[[np.ndarray], np.ndarray]) -> list[str]:
    """Return the same, given the walls, the axes along which nothing varies, and the points in fluids."""
    if sim.receivers and not _driven(sim, set(sim.fields)):
        return ["there is no source and the state is zero: receivers record zero"]
    found, physics = [], sim.medium.physics
    zeros = [(wall, wall.zeros(physics)) for wall in walls]
    sources = sim._solver.whole_sources()
    alike: dict[frozenset[str], list[int]] = {}
    for i, source in enumerate(sources):
        alike.setdefault(frozenset(driven_by(source) & set(sim.fields)), []).append(i)
    for driven, numbers in alike.items():
        on_walls = [wall for wall, zero in zeros if driven and driven <= zero]
        groups = [sources[i].places() for i in numbers] if on_walls else []
        for wall in on_walls:
            mute = np.array(numbers)[wall.hold_all(groups)].tolist()
            if mute:
                others = f" (and {len(mute) - 1} more sources)" if len(mute) > 1 else ""
                found.append(
                    f"source {mute[0]} at {sources[mute[0]].position} m{others} lies on the {wall.condition} "
                    f"boundary {wall.name!r}, where {', '.join(sorted(driven))} is zero: it sends nothing; "
                    "move it inside"
                )
    for i, receivers in enumerate(sim.receivers):
        chosen = set(receivers.fields)
        # Among all fields some may vanish everywhere; a field that is named is wanted.
        asked = [chosen] if chosen == set(sim.fields) else [{one} for one in receivers.fields]
        known = set(sim.fields) | set(sim.medium.derived)
        for wanted in asked:
            name, at = ", ".join(sorted(wanted)), f"receivers {i}: "
            for wall, zero in zeros:
                if wanted <= zero and (on := wall.holds(receivers.points)).any():
                    found.append(
                        f"{at}{name} at {_first(receivers.points, on)} is zero, on the {wall.condition} "
                        f"boundary {wall.name!r}"
                    )
            for axis in flat:
                family = {one for one in known if any(is_odd(one, axis) == is_odd(w, axis) for w in wanted)}
                if not _driven(sim, family):
                    found.append(f"{at}{name} is zero: nothing varies along {axis}, and no source drives it")
            if physics == "elastic" and wanted <= _SHEAR and (on := fluid(receivers.points)).any():
                found.append(f"{at}{name} at {_first(receivers.points, on)} is zero, in a fluid (vs = 0)")
    return found


def _driven(sim: Any, wanted: set[str]) -> bool:
    """Return whether a source, the state or outer data may drive any of these fields."""
    if sim._solver.waves or sim._points.has_outer or wanted & sim._given:
        return True
    return any(not driven_by(one) or driven_by(one) & wanted for one in sim._solver.whole_sources())


def _first(points: np.ndarray, on: np.ndarray) -> str:
    place = ", ".join(f"{x:g}" for x in points[np.flatnonzero(on)[0]])
    return f"({place}) m" + (f" ({on.sum()} such places)" if on.sum() > 1 else "")
