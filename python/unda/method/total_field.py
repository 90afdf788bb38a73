"""The surface of a total field on a grid: plane waves in finite differences.

Fields in a box of nodes are total, around it scattered (Taflove & Hagness 2005, section 5.6). A difference that
crosses the surface must see a field as it is on the side of the place that takes the difference:

    inside:  q += sum of c * incident(tap), over taps outside
    outside: q -= sum of c * incident(tap), over taps inside,

c being what the scheme makes of a unit at the tap: it is read off the scheme, by a step from a single 1.
So the surface is a list of sources node by node, which all engines add to a field when its pass has ended.

Not here: the incident wave (incident_line.py); on meshes (csrc/dg/incident.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..problem.grid import SIDES, chunks
from ..problem.incident import ALLOWED, PlaneWave, left_by
from ..problem.medium import Medium
from .incident_line import IncidentLine, Scene, SurfaceSource, add_nodes, start_of
from .rounded_surface import Folded, RoundedSurface


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
    rounded = scene.scheme == "scalar" and scene.dtype == np.float32
    line = IncidentLine(
        scene._replace(device=_device(sim) if rounded else "cpu"), wave, unit, axis=axis, sign=sign, low=box.low[axis] - half, high=box.high[axis] + half,
        origin=sim.grid.origin[axis], speed=_speed(medium, solution), start=start_of(sim),
    )  # fmt: skip
    amplitude: Any = line
    if rounded:
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
            f"direction is {wave.direction}; on a grid a plane wave travels along x, y or z, where the scheme's "
            "own wave on a line of nodes is exact: turn the scatterer, or use unda.DG with region="
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
    for a, name in enumerate("xyz"):
        layers = not all(isinstance(sim._sides[side], str) for side in SIDES[2 * a : 2 * a + 2])
        if low[a] <= 0 and high[a] >= last[a] and a != along and not layers:
            ends[a], low[a], high[a] = False, 0, last[a]
        elif high[a] < low[a] + 1 or low[a] < half or high[a] > last[a] - half:
            h, o = grid.spacing[a], grid.origin[a]
            raise ArgumentError(
                f"box goes from {lower[a]:g} to {upper[a]:g} m along {name}; expected a cell or more, from "
                f"{o + half * h:g} to {o + (last[a] - half) * h:g} m: {half} nodes from the sides, as differences "
                f"of order {2 * half} reach" + ("" if a == along else ", or all of an axis without layers")
            )
    return _Box(tuple(low.tolist()), tuple(high.tolist()), tuple(ends))


def _background(sim: Any, wave: PlaneWave, box: _Box, half: int) -> Medium:
    """Return the one medium of all nodes that differences across the surface take."""
    kind: Any = type(sim.medium)
    row, where = sim._material.row, [0, 0, 0]
    if row is None:
        outer = [slice(max(b - half - 1, 0), t + half + 2) for b, t in zip(box.low, box.high, strict=True)]
        inner = [
            (b + half + 1, t - half) if end else (0, n)
            for b, t, end, n in zip(box.low, box.high, box.ends, sim.grid.shape, strict=True)
        ]
        for first, count, _ in chunks(sim.grid):
            begin, stop = max(first, outer[0].start), min(first + count, outer[0].stop)
            if begin >= stop:
                continue
            table = sim._material.planes(begin, stop - begin)[:, outer[1], outer[2]]
            at = [np.arange(begin, stop), *(np.arange(s.start, s.start + n) for s, n in zip(
                outer[1:], table.shape[1:3], strict=True))]  # fmt: skip
            deep = [(i >= b) & (i < t) for i, (b, t) in zip(at, inner, strict=True)]
            shell = ~(deep[0][:, None, None] & deep[1][:, None] & deep[2])
            row = table[0, 0, 0] if row is None else row
            other = np.argwhere(shell & (table != row).any(axis=3))
            if len(other):
                place = [grid[i] for grid, i in zip(sim.grid.axes(), [
                    int(one[i]) for one, i in zip(at, other[0], strict=True)], strict=True)]  # fmt: skip
                raise ArgumentError(
                    f"the wave at the surface of box {wave.box} needs one material within {half + 1} nodes; found "
                    f"{dict(zip(sim.medium.parameters, map(float, row), strict=True))} and "
                    f"{dict(zip(sim.medium.parameters, map(float, table[tuple(other[0])]), strict=True))} at "
                    f"({place[0]:g}, {place[1]:g}, {place[2]:g}) m"
                )
    del where
    values = dict(zip(sim.medium.parameters, map(float, row), strict=True))
    if values.get("sigma", 0.0) > 0.0:
        raise ArgumentError(
            f"the surface of box {wave.box} needs an insulator, or the pulse changes its shape; found {values}, "
            "expected sigma = 0"
        )
    return kind(**values)  # type: ignore[no-any-return]


def _refuse_walls(sim: Any, box: _Box, solution: Any) -> None:
    """Raise where the total field ends at walls that the wave alone does not meet."""
    for a in np.flatnonzero(~np.array(box.ends)):
        for name in SIDES[2 * a : 2 * a + 2]:
            word, normal = sim._sides[name], np.eye(3)[[a]]
            if word != "periodic" and left_by(word, solution, normal).max() > ALLOWED:
                raise ArgumentError(
                    f"box reaches side {name!r}, which is {word}, a condition that the wave alone does not meet; "
                    "expected the box away from it, or the side periodic"
                )


# ---- what the scheme makes of a unit ----


def _responses(scene: Scene, names: tuple[str, ...]) -> Iterator[tuple[str, str, tuple[int, int, int], float]]:
    """Return source, target, offset in nodes from the source to the target, and what a pass adds there."""
    half = scene.order // 2
    shape = tuple(1 if flat else 2 * half + 2 for flat in scene.flat)
    middle = tuple(n // 2 for n in shape)
    sim = scene.made(shape, (0.0, 0.0, 0.0), dict.fromkeys(SIDES, "periodic"))
    for source in names:
        state = {name: np.zeros(shape) for name in sim._scheme.names}
        state[source][middle] = 1.0
        sim.set(**state)
        sim.step()
        for target in sim.fields:
            if scene.scheme != "scalar" and sim._scheme.lag(target) == sim._scheme.lag(source):
                continue  # fields of one pass take nothing from each other
            values = sim.get(target)
            for at in np.argwhere(values != 0.0):
                offset = tuple(int(i) for i in at - middle)
                yield source, target, offset, float(values[tuple(at)])  # type: ignore[misc]


# ---- the surface ----


def _surface(
    sim: Any, box: _Box, along: int, scene: Scene, line: IncidentLine
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return sources node by node as `unda_source` has them, one for each value of the line."""
    shape, offsets = sim.grid.shape, {name: sim._scheme.offset(name) for name in sim.fields}
    places = [np.arange(n) for n in shape]
    found = []
    for source, target, offset, value in _responses(scene, line.fields):
        here = [box.inside(a, offsets[target][a] > 0, places[a]) for a in range(3)]
        there = [box.inside(a, offsets[source][a] > 0, places[a] - offset[a]) for a in range(3)]
        crossing = [a for a in range(3) if box.ends[a] and (here[a] != there[a]).any()]
        if not crossing:
            continue
        (a,) = crossing  # differences are along axes
        at = [np.flatnonzero(one) for one in here]
        at[a] = np.flatnonzero(here[a] != there[a])
        gain = np.where(here[a][at[a]], value, -value)
        nodes = np.ravel_multi_index(np.meshgrid(*at, indexing="ij"), shape)
        gains = np.moveaxis(np.broadcast_to(gain, [len(at[b]) for b in range(3) if b != a] + [len(gain)]), -1, a)
        tap = at[along] - offset[along] - line.low + line.fields.index(source) * line.num
        taps = np.moveaxis(np.broadcast_to(tap, np.moveaxis(nodes, along, -1).shape), -1, along)
        found.append((taps.ravel(), np.full(nodes.size, sim.fields.index(target)), nodes.ravel(), gains.ravel()))
    tap, field, node, weight = (np.concatenate(one) for one in zip(*found, strict=True))
    order = np.lexsort((node, field, tap))
    tap, field, node, weight = tap[order], field[order], node[order], weight[order]
    new = np.r_[True, (np.diff(tap) != 0) | (np.diff(field) != 0) | (np.diff(node) != 0)]
    begin = np.flatnonzero(new)
    weight = np.add.reduceat(weight, begin)
    return _each_value(line.width, tap[begin], field[begin], node[begin], weight)


def _each_value(
    num: int, tap: np.ndarray, field: np.ndarray, node: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the lists with a source for each value: those that nothing takes add 0 at a node."""
    unused = np.setdiff1d(np.arange(num), tap)
    tap = np.concatenate([tap, unused])
    order = np.argsort(tap, kind="stable")
    field, node = (np.concatenate([one, np.zeros(len(unused), one.dtype)])[order] for one in (field, node))
    weight = np.concatenate([weight, np.zeros(len(unused))])[order]
    return np.searchsorted(tap[order], np.arange(num + 1)), field, node, weight


# ---- the scalar scheme in float32 ----


def _rounded(
    sim: Any, box: _Box, along: int, scene: Scene, line: IncidentLine
) -> tuple[RoundedSurface, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
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
    weight = np.zeros((3, half), np.float32)
    for *_, offset, value in _responses(probe, ("p",)):
        for a in range(3):
            if offset[a] > 0:
                weight[a, offset[a] - 1] = value
    total = 2.0 * float(weight.sum(dtype=np.float64))
    if not split:
        return Folded(weight, np.float32(2.0 - total), None)
    return Folded(weight, np.float32(-total), np.float32(c * c * (scene.dt * scene.dt / (h * h))))


def _device(sim: Any) -> str:
    return str(sim.team.devices[0] if sim.team is not None else sim.config["device"])
