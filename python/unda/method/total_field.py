"""The surface of a total field on a grid: plane waves in finite differences.

Fields in a box of nodes are total, around it scattered (Taflove & Hagness 2005, section 5.6). A difference
that crosses the surface must see a field as it is on the side of the place that takes the difference. Here,
for the scalar scheme in float64:

    inside:  p += sum of c * incident(tap), over taps outside
    outside: p -= sum of c * incident(tap), over taps inside,

c being what the scheme makes of a unit at the tap: it is read off the scheme, by a step from a single 1.
So the surface is a list of sources node by node, which all engines add to a field when its pass has ended.

Not here: surfaces to the last bit, of the scalar scheme in float32 (rounded_surface.py) and of staggered ones
(staggered_surface.py); the incident wave (incident_line.py); on meshes (csrc/dg/incident.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..problem.grid import SIDES, chunks
from ..problem.incident import ALLOWED, PlaneWave, left_by
from ..problem.medium import Medium
from .incident_line import (
    IncidentLine,
    LineWave,
    Scene,
    SurfaceSource,
    Terms,
    add_nodes,
    lines_of,
    nothing,
    start_of,
)  # fmt: skip
from .rounded_surface import Folded, RoundedSurface
from .staggered_surface import StaggeredSurface, axis_between

_NORMAL = ("sxx", "syy", "szz")


class _Box(NamedTuple):
    """First and last node of a total field, and the axes that its surface is normal to."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    ends: tuple[bool, ...]

    def inside(self, axis: int, half: bool, place: np.ndarray) -> np.ndarray:
        """Return which places along an axis are inside: nodes, or half a cell on."""
        if not self.ends[axis]:
            return (place >= self.low[axis]) & (place <= self.high[axis])
        return (place >= self.low[axis]) & (place <= self.high[axis] - half)


def add_plane_wave(sim: Any, wave: PlaneWave) -> None:
    """Add a plane wave to a simulation on a grid."""
    axis, sign = _axis_of(wave)
    half = sim.order // 2
    box = _box_of(sim, wave, axis, half)
    medium = _background(sim, wave, box, half)
    solution = wave.incident(medium)
    _refuse_walls(sim, box, solution)
    steady = type(solution)(medium, **{**solution._arguments, "f": np.ones_like})
    values = {name: float(value) for name, value in steady(0.0, 0.0, 0.0, 0.0).items()}
    if sim.config["scheme"] == "scalar":
        values = {"p": values["p"]}
    groups = {name: max(abs(v) for n, v in values.items() if n[0] == name[0]) for name in values}
    unit = {name: v for name, v in values.items() if abs(v) > ALLOWED * groups[name]}
    flat = tuple(n == 1 for n in sim.grid.shape)
    scene = Scene(
        medium, bool(sim.config["scheme"] == "scalar" and sim._material.row is None), sim.grid.spacing,
        flat, sim.config["scheme"], sim.order, sim.dt, sim.dtype,
    )  # fmt: skip
    if any(name in _NORMAL for name in unit):
        unit = {name: values[name] for name in values if name in unit or name in _NORMAL}  # lambda joins them
    rounded = scene.scheme != "scalar" or scene.dtype == np.float32
    device = str(sim.team.devices[0] if sim.team is not None else sim.config["device"])
    one = LineWave(wave, unit, sign, _speed(medium, solution))
    same = _line_with(sim, box, axis)
    if same is not None and set(unit) <= set(same.fields):
        sim._points._same("plane waves", np.array([axis, sign], np.int64))
        same.add(one)
        sim._solver.waves.append((wave, solution, 0))
        return
    if same is not None and not _together(sim._scheme, {*unit, *same.fields}, axis):
        same = None
    line = IncidentLine(
        scene._replace(device=device if rounded else "cpu"),  # the bits of its steps
        [*(same.waves if same is not None else []), one], axis=axis, low=box.low[axis] - half,
        high=box.high[axis] + half, origin=sim.grid.origin[axis], start=start_of(sim), box=box,
    )  # fmt: skip
    amplitude: Any = line
    given: Terms
    if scene.scheme != "scalar":
        amplitude = StaggeredSurface(
            line, scene._replace(device=device), sim._scheme, sim.fields, sim.grid.shape, box, axis
        )
        given = amplitude.terms
    elif rounded:
        amplitude, given = _rounded(sim, box, axis, scene, line)
    else:
        given = _surface(sim, box, axis, scene, line)
    sim._points._same("plane waves", *given)
    added = [(SurfaceSource(wave), amplitude)] * amplitude.width
    sim._solver.waves.append((wave, solution, 0))
    try:
        add_nodes(sim, *given, added)
    except ArgumentError:
        sim._solver.waves.pop()
        raise
    if same is not None:
        listed = sim._solver.sources
        listed[:] = [(source, nothing if getattr(f, "line", None) is same else f) for source, f in listed]


def _line_with(sim: Any, box: _Box, axis: int) -> IncidentLine | None:
    """Return the line of the waves that a simulation has in the same box along the same axis."""
    found = [line for line in lines_of(sim) if (line.box, line.axis) == (box, axis)]
    return found[-1] if found else None


def _together(scheme: Any, fields: set[str], axis: int) -> bool:
    """Return whether waves of these fields have one surface: none of them takes differences of one across."""
    return all(axis_between(scheme, a, b) in (None, axis) for a in fields for b in fields)


def _axis_of(wave: PlaneWave) -> tuple[int, int]:
    """Return the axis along which a wave travels, and in which sense."""
    found = np.flatnonzero(np.abs(wave.direction) > ALLOWED)
    if wave.box is None:
        raise ArgumentError(
            f"the wave has {'region' if wave.region else 'scatterer'}=, of a mesh; on a grid give "
            "box=(lower, upper), the corners of the total field [m]"
        )
    if len(found) != 1:
        raise ArgumentError(
            f"direction is {wave.direction}; on a grid a plane wave travels along x, y or z, where the "
            "scheme's own wave on a line of nodes is exact: turn the scatterer, or use unda.DG with region="
        )
    return int(found[0]), int(np.sign(wave.direction[found[0]]))


def _speed(medium: Medium, solution: Any) -> float:
    if medium.physics == "maxwell":
        values = medium.scalar()
        return float(1.0 / np.sqrt(values["eps"] * values["mu"]))
    return float(solution.speed) if medium.physics == "elastic" else float(medium.scalar()["c"])


# ---- the box ----


def _box_of(sim: Any, wave: PlaneWave, along: int, half: int) -> _Box:
    """Return the nodes of the total field; raise where it comes too near to a side."""
    grid, (lower, upper) = sim.grid, np.array(wave.box)
    near = 1e-6
    low = np.ceil(grid.locate([lower])[0] - near).astype(int)
    high = np.floor(grid.locate([upper])[0] + near).astype(int)
    last, ends = np.array(grid.shape) - 1, [True, True, True]
    for flat in np.flatnonzero(last == 0).tolist():
        if flat == along or low[flat] > 0 or high[flat] < 0:
            raise ArgumentError(
                f"the grid has one plane of nodes along {'xyz'[flat]}, at {grid.origin[flat]:g} m; expected "
                "a wave along another axis, and a box with this plane in it, not from "
                f"{lower[flat]:g} to {upper[flat]:g} m"
            )
    for a, name in enumerate("xyz"):
        sides = [sim._sides[side] for side in SIDES[2 * a : 2 * a + 2]]
        layers = not all(isinstance(side, str) for side in sides)
        # a node on a wall takes the scalar scheme's images of nodes as far inside as its taps reach outside
        walls = [isinstance(side, str) and side != "periodic" for side in sides]
        least = [half + (wall and sim.config["scheme"] == "scalar") for wall in walls]
        if low[a] <= 0 and high[a] >= last[a] and a != along and not layers:
            ends[a], low[a], high[a] = False, 0, last[a]
        elif high[a] < low[a] + 1 or low[a] < least[0] or high[a] > last[a] - least[1]:
            from_, to = (grid.origin[a] + i * grid.spacing[a] for i in (least[0], last[a] - least[1]))
            raise ArgumentError(
                f"box goes from {lower[a]:g} to {upper[a]:g} m along {name}; expected a cell or more, from "
                f"{from_:g} to {to:g} m: {least[0]} and {least[1]} nodes from the sides, as differences of "
                f"order {2 * half} reach" + ("" if a == along else ", or all of an axis without layers")
            )
    return _Box(tuple(low.tolist()), tuple(high.tolist()), tuple(ends))


def _background(sim: Any, wave: PlaneWave, box: _Box, half: int) -> Medium:
    """Return the one medium of all nodes that differences across the surface take."""
    kind: Any = type(sim.medium)
    row = sim._material.row

    def named(values: np.ndarray) -> dict[str, float]:
        return dict(zip(sim.medium.parameters, map(float, values), strict=True))

    if row is None:
        near = [_near(box, a, half + 1, n) for a, n in enumerate(sim.grid.shape)]
        for first, count, _ in chunks(sim.grid):
            own = near[0][0][(near[0][0] >= first) & (near[0][0] < first + count)]
            if not len(own):
                continue
            table = sim._material.planes(int(own[0]), len(own))[:, near[1][0]][:, :, near[2][0]]
            deep = near[0][1][np.isin(near[0][0], own)][:, None, None] & near[1][1][:, None] & near[2][1]
            row = table[0, 0, 0] if row is None else row
            other = np.argwhere(~deep & (table != row).any(axis=3))
            if len(other):
                i, j, k = other[0]
                at = own[i], near[1][0][j], near[2][0][k]
                x, y, z = (axis[n] for axis, n in zip(sim.grid.axes(), at, strict=True))
                raise ArgumentError(
                    f"the wave at the surface of box {wave.box} needs one material within {half + 1} nodes; "
                    f"found {named(row)}, and {named(table[i, j, k])} at ({x:g}, {y:g}, {z:g}) m"
                )
    if named(row).get("sigma", 0.0) > 0.0:
        raise ArgumentError(
            f"the surface of box {wave.box} needs an insulator, or the pulse changes its shape; found "
            f"{named(row)}, expected sigma = 0"
        )
    return kind(**named(row))  # type: ignore[no-any-return]


def _near(box: _Box, axis: int, reach: int, num: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of an axis that are in the box or so many nodes from it, and which are deep inside."""
    at = np.arange(max(box.low[axis] - reach, 0), min(box.high[axis] + reach + 1, num))
    deep = (at >= box.low[axis] + reach) & (at <= box.high[axis] - reach)
    return at, deep if box.ends[axis] else np.ones(len(at), bool)


def _refuse_walls(sim: Any, box: _Box, solution: Any) -> None:
    """Raise where the total field ends at walls that the wave alone does not meet."""
    for a in np.flatnonzero(~np.array(box.ends)):
        for name in SIDES[2 * a : 2 * a + 2]:
            word, normal = sim._sides[name], np.eye(3)[[a]]
            if word != "periodic" and left_by(word, solution, normal).max() > ALLOWED:
                raise ArgumentError(
                    f"box reaches side {name!r}, which is {word}, a condition that the wave alone does not "
                    "meet; expected the box away from it, or the side periodic"
                )


# ---- what the scalar scheme makes of a unit ----


def _responses(scene: Scene) -> Iterator[tuple[tuple[int, int, int], float]]:
    """Return the offsets in nodes from a unit, and what a step adds there."""
    half = scene.order // 2
    shape = tuple(1 if flat else 2 * half + 2 for flat in scene.flat)
    middle = tuple(n // 2 for n in shape)
    sim = scene.made(shape, (0.0, 0.0, 0.0), dict.fromkeys(SIDES, "periodic"))
    state = {name: np.zeros(shape) for name in sim._scheme.names}
    state["p"][middle] = 1.0
    sim.set(**state)
    sim.step()
    values = sim.get("p")
    for at in np.argwhere(values != 0.0):
        yield tuple(int(i) for i in at - middle), float(values[tuple(at)])  # type: ignore[misc]


# ---- the scalar scheme in float64 ----


def _surface(sim: Any, box: _Box, along: int, scene: Scene, line: IncidentLine) -> Terms:
    """Return sources node by node as `unda_source` has them, one for each value of the line.

    What a place takes along the wave is one sum, rounded once.
    """
    shape = sim.grid.shape
    places = [np.arange(n) for n in shape]
    here = [box.inside(a, False, places[a]) for a in range(3)]
    found: list[tuple[np.ndarray, Any, np.ndarray]] = []
    sums: dict[int, tuple[list[np.ndarray], list[tuple[int, float]]]] = {}
    for offset, value in _responses(scene):
        there = [box.inside(a, False, places[a] - offset[a]) for a in range(3)]
        crossing = [a for a in range(3) if box.ends[a] and (here[a] != there[a]).any()]
        if not crossing:
            continue
        (a,) = crossing  # differences are along axes
        at = [np.flatnonzero(one) for one in here]
        at[a] = np.flatnonzero(here[a] != there[a])
        gain = np.where(here[a], value, -value)
        tap = places[along] - offset[along] - line.low
        if a == along:
            for i in at[a].tolist():
                plane = [*at[:a], np.array([i]), *at[a + 1 :]]
                sums.setdefault(i, (plane, []))[1].append((int(tap[i]), float(gain[i])))
        else:
            place = np.meshgrid(*at, indexing="ij")
            found.append((tap[place[along]], place, gain[place[a]]))
    first = line.add_sums([taps for _, taps in sums.values()])
    for i, (plane, _) in enumerate(sums.values()):
        place = np.meshgrid(*plane, indexing="ij")
        found.append((np.full(place[0].shape, first + i), place, np.ones(place[0].shape)))
    tap, weight = (np.concatenate([one[i].ravel() for one in found]) for i in (0, 2))  # type: ignore[union-attr]
    node = np.concatenate([np.ravel_multi_index(place, shape).ravel() for _, place, _ in found])
    order = np.lexsort((node, tap))
    tap, node, weight = tap[order], node[order], weight[order]
    new = np.r_[True, (np.diff(tap) != 0) | (np.diff(node) != 0)]
    begin = np.flatnonzero(new)
    weight = np.add.reduceat(weight, begin)
    return _each_value(line.width, tap[begin], node[begin], weight)


def _each_value(num: int, tap: np.ndarray, node: np.ndarray, weight: np.ndarray) -> Terms:
    """Return the lists with a source for each value: those that nothing takes add 0 at a node."""
    unused = np.setdiff1d(np.arange(num), tap)
    tap = np.concatenate([tap, unused])
    order = np.argsort(tap, kind="stable")
    node = np.concatenate([node, np.zeros(len(unused), node.dtype)])[order]
    weight = np.concatenate([weight, np.zeros(len(unused))])[order]
    return np.searchsorted(tap[order], np.arange(num + 1)), np.zeros(len(node), np.int32), node, weight


# ---- the scalar scheme in float32 ----


def _rounded(
    sim: Any, box: _Box, along: int, scene: Scene, line: IncidentLine
) -> tuple[RoundedSurface, Terms]:
    inside = [box.inside(a, False, np.arange(n)) for a, n in enumerate(sim.grid.shape)]
    surface = RoundedSurface(line, _weights(sim, scene), inside, box.ends, along)
    number, node = surface.terms
    order = np.lexsort((node, number))
    number, node = number[order], node[order]
    first = np.searchsorted(number, np.arange(surface.width + 1))
    return surface, (first, np.zeros(len(node), np.int32), node, np.ones(len(node)))


def _weights(sim: Any, scene: Scene) -> Folded:
    """Return the weights of a step, read off a step; split ones with a medium whose k is 1."""
    half, split = scene.order // 2, scene.varies or scene.dt < 0.1 * sim.dt_stable
    c = float(scene.medium.scalar()["c"])
    h = min(h for h, flat in zip(scene.spacing, scene.flat, strict=True) if not flat)
    probe = scene
    if split:
        probe = scene._replace(medium=type(scene.medium)(rho=1.0, c=h / scene.dt), varies=True)  # type: ignore[call-arg]
    weight = np.zeros((3, half + 1), np.float32)
    for offset, value in _responses(probe):
        for a in range(3):
            if offset[a] > 0:
                weight[a, offset[a]] = value
    weight[:, 0] = -2.0 * weight[:, 2:].sum(axis=1, dtype=np.float64)
    if not split:
        return Folded(weight, None)
    return Folded(weight, np.float32(c * c * (scene.dt * scene.dt / (h * h))))
