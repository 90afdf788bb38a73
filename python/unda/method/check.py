"""Checks before the first step: resolution, time steps, units, positions of sources, outer data.

Where processes share the mesh, each looks at the materials of its own cells, and process 0 at the whole mesh:
all have the findings of one process.

Not here: errors (medium.py, mesh.py, dg.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..exact import ExactSolution
from ..problem.medium import Medium
from ..problem.source import Source
from ..problem.timefunction import TimeFunction, wrap
from . import near_source, silent
from .missed_waves import first_delay, missed, warnings_of

_WORST = 10
_MANY = 32  # functions of sources: computing a spectrum takes milliseconds
FEW_NODES = 4.0  # in the shortest wavelength: below, the wave is not resolved
_BESIDE = 0.9  # 1 is the vertex (_to_vertex): nearer to a vertex a source is up to 40 times less exact
_ON_VERTEX = 1e-9  # the same, from 1
_PER_BRICK = {"tet": 6.0, "hex": 1.0}  # cells of one
_REAL_AXIS = {"lsrk4": 4.6, "ab3": 6 / 11}  # stable: loss rate times dt (csrc/dg/dt.c)
_WARPED = 0.04  # difference of a cell's edges: of degree 1 errors then end at about 1 % (_slopes)
_SPAN = 1e3  # of time steps, between the median cell and the worst


@dataclass
class Report:
    """Findings of `sim.check`; prints as text, true if there is no warning.

    Attributes
    ----------
    nodes_per_wavelength : dict of str to float
        By tag name: shortest wavelength (of S waves in solids, damped in conductors) at fmax over node
        spacing (V / Np)^(1/3), the worst cell; empty
        if no source has a known highest frequency.
    fmax : float or None
        Highest frequency of the sources [Hz].
    worst_cells : list of (int, float, float)
        The ten cells with the smallest stable dt: number, dt [s], quality.
    warnings : list of str
        Causes of inaccurate or wrong results; `run` raises them as `AccuracyWarning`.
    notes : list of str
        Causes of long run times, things that could not be checked, and choices (layers of a grid, and why).
    """

    nodes_per_wavelength: dict[str, float] = field(default_factory=dict)
    fmax: float | None = None
    worst_cells: list[tuple[int, float, float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    silent: bool = field(default=True, repr=False)  # whether there is no source

    def look_at(self, functions: Sequence[TimeFunction]) -> None:
        """Find the highest frequency of the sources; where many differ, of some of them."""
        self.silent = not functions
        unlike = list({id(f): f for f in functions}.values())
        known = [f.fmax for f in unlike[:: -(-len(unlike) // _MANY) or 1]]
        self.fmax = max((f for f in known if f), default=None)
        if None in known:
            unknown = sum(f.fmax is None for f in functions)
            self.notes.append(
                f"{unknown} of {len(functions)} sources do not tell their highest frequency: use "
                "unda.sampled or one of unda's time functions"
            )

    def ask(self, questions: Sequence[str], least: float, what: str, size: float, fastest: float) -> None:
        """Take questions about units, and ask about a mesh or grid of a size [m] that fits no source.

        That of speeds only matters where waves are not resolved.
        """
        nodes = min(self.nodes_per_wavelength.values(), default=0.0)
        fits = nodes >= least or self.silent
        for text in questions:
            (self.notes if fits and "km/s" in text else self.warnings).append(text)
        if self.fmax is not None and size * self.fmax / fastest < 0.1:
            self.warnings.append(
                f"the {what} is {size:.3g} m across, a tenth of the wavelength {fastest / self.fmax:.3g} m "
                "or less: are units mixed?"
            )

    def __bool__(self) -> bool:
        return not self.warnings

    def __repr__(self) -> str:
        lines = [f"highest frequency: {self.fmax:g} Hz" if self.fmax else "highest frequency: unknown"]
        lines += [
            f"  {tag}: {nodes:.1f} nodes in the shortest wavelength"
            for tag, nodes in self.nodes_per_wavelength.items()
        ]
        if self.worst_cells:
            lines.append("smallest stable time steps:")
        lines += [
            f"  cell {cell}: {dt:.3g} s, quality {quality:.2f}" for cell, dt, quality in self.worst_cells
        ]
        lines += [f"note: {text}" for text in self.notes]
        lines += [f"warning: {text}" for text in self.warnings] or ["no warnings"]
        return "\n".join(lines)


def check(sim: Any) -> Report:
    """Check a simulation, see `sim.check`."""
    report = Report()
    waves = [wrap(wave.f, sim.dt) for wave, *_ in sim._solver.waves]
    report.look_at([f for _, f in sim._solver.sources] + waves)
    resolution(sim, report, sim.num_node)
    worst_cells(sim, report)
    _losses(sim, report)
    _slopes(sim, report)
    units(sim, report)
    places(sim, report, near_source.of_dg(sim.mesh.shape, sim.config["degree"]))
    report.warnings += silent.on_mesh(sim)
    if sim.mesh.shape == "tet" and sim._most(np.ptp(sim._material, axis=1).any()):
        report.warnings.append(
            "materials vary within cells (per='node'): no discrete energy bounds the solution, and what the "
            "mesh hardly resolves can grow, the faster the more they vary in a cell; watch sim.energy(), or "
            "refine the mesh"
        )
    _outer_data(sim, report)
    _missed_waves(sim, report)
    return report


def farthest(sim: Any) -> float | None:
    """Return how far the farthest receiver is from a source [m], of the first 1,000 places of sources."""
    sources = [one.places() for one in sim._solver.whole_sources() if isinstance(one, Source)]
    points = np.concatenate([np.empty((0, 3)), *(receivers.points for receivers in sim.receivers)])
    if not sources or not len(points):
        return None
    return max(
        float(np.linalg.norm(points - place, axis=1).max()) for place in np.concatenate(sources)[:1000]
    )


def _each(sim: Any, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return what a function gives for each material, (num_elem, 1 or num_node)."""
    num_elem, num, _ = sim._material.shape
    return of(sim._material.reshape(num_elem * num, -1)).reshape(num_elem, num)


def resolution(sim: Any, report: Report, num_node: int) -> None:
    """Look at the shortest wavelength in each cell, which has so many nodes of its own."""
    if report.fmax is None:
        return
    shortest = sim._in_all_cells(
        _each(sim, lambda table: sim.medium._wavelengths(table, report.fmax)).min(axis=1)
    )

    def fewest(mesh: Any) -> dict[str, float]:
        nodes = shortest / (mesh.volumes / num_node) ** (1 / 3)
        names = {number: name for name, number in mesh.tag_names.items()}
        return {
            names.get(int(tag), f"tag {tag}"): float(nodes[mesh.tags == tag].min())
            for tag in np.unique(mesh.tags)
        }

    for name, worst in sim._of_whole("nodes in a wavelength", fewest).items():
        report.nodes_per_wavelength[name] = worst
        if worst < FEW_NODES:
            report.warnings.append(
                f"{name}: {worst:.1f} nodes in the shortest wavelength at {report.fmax:g} Hz, "
                f"expected {FEW_NODES:g} or more: refine, or raise the degree"
            )


def worst_cells(sim: Any, report: Report) -> None:
    """Look at the cells with the smallest time steps."""
    dt = sim._in_all_cells(sim.element_dt)

    def smallest(mesh: Any) -> tuple[list[tuple[int, float, float]], float]:
        quality, order = mesh.quality, np.argsort(dt, kind="stable")[:_WORST]
        cells = [(int(i), float(dt[i]), float(quality[i])) for i in order]
        return cells, float(np.median(dt) / dt.min())

    report.worst_cells, ratio = sim._of_whole("smallest time steps", smallest)
    if ratio > _SPAN:
        cell = report.worst_cells[0][0]
        report.notes.append(f"cell {cell} forces a time step {ratio:.0f} times below the median cell's")


def _losses(sim: Any, report: Report) -> None:
    dt = sim._in_all_cells(sim.element_dt)
    loss = sim._in_all_cells(_each(sim, sim.medium._loss_rates).max(axis=1))

    def worst(_: Any) -> tuple[int, float, float]:
        share = loss * dt / _REAL_AXIS[sim.config["integrator"]]
        cell = int(np.argmin(dt))
        return cell, float(loss[cell]), float(share[cell])

    cell, rate, share = sim._of_whole("losses", worst)
    if share > 0.5:
        report.notes.append(
            f"conduction in cell {cell} (sigma/eps = {rate:.3g} 1/s) takes {100 * share:.0f} "
            "% of the limit of dt, more than the waves: a conductor that good is better a pec boundary"
        )


def units(sim: Any, report: Report) -> None:
    """Ask about numbers that look like others than SI units."""
    table = sim._in_all_cells(sim._material[:, 0])  # of nodes, one is enough

    def asked(mesh: Any) -> tuple[list[str], float, float]:
        size = float(np.linalg.norm(np.ptp(mesh.vertices, axis=0)))
        return sim.medium._questions(table, size), size, float(sim.medium._speeds(table).max())

    questions, size, fastest = sim._of_whole("units", asked)
    report.ask(questions, FEW_NODES, "mesh", size, fastest)


def _slopes(sim: Any, report: Report) -> None:
    """Look at hexahedra of degree 1, where slopes are exact only if opposite edges are equal."""
    if sim.mesh.shape != "hex" or sim.config["degree"] > 1:
        return
    warped = sim._of_whole("slopes", _unlike)
    if warped > _WARPED:
        report.warnings.append(
            f"degree 1 on warped hexahedra: opposite edges of a cell differ by {100 * warped:.0f} % from "
            "their mean, and errors of some per cent remain however fine the mesh unless it is smooth "
            "(docs/dg.md); take degree 2 or more, or parallelepipeds"
        )


def _unlike(mesh: Any) -> float:
    """Return by how much opposite edges of hexahedra differ from their mean, root mean square."""
    corners = mesh.coordinates(1).reshape(-1, 2, 2, 2, 3)
    unlike = np.zeros(len(corners))
    for axis in (1, 2, 3):
        edges = np.diff(corners, axis=axis).reshape(-1, 4, 3)
        mean = edges.mean(axis=1, keepdims=True)
        unlike += ((edges - mean) ** 2).sum(axis=(1, 2)) / (mean**2).sum(axis=(1, 2)) / 12.0
    return float(np.sqrt(unlike.mean()))


def _to_vertex(mesh: Any, coordinates: np.ndarray) -> np.ndarray:
    """Return 1 at a vertex of the cell, and how near places are to one: their least certain coordinate."""
    if mesh.shape == "tet":
        return np.asarray(coordinates.max(axis=1))
    return np.asarray(np.maximum(coordinates[:, ::2], coordinates[:, 1::2]).min(axis=1))


def places(sim: Any, report: Report, limit: near_source.Limit) -> None:
    """Look at where sources and receivers stand; these may be so many cells from a source."""
    notes, warnings = sim._of_whole("places", lambda mesh: _beside(sim, mesh, limit))
    report.notes += notes
    report.warnings += warnings


def _beside(sim: Any, mesh: Any, limit: near_source.Limit) -> tuple[list[str], list[str]]:
    """Return notes and warnings of sources that are beside vertices or receivers."""
    # The errors of an array's points are not those of one.
    single = [(i, one) for i, one in enumerate(sim._solver.whole_sources()) if len(one.places()) == 1]
    if not single:
        return [], []
    elem, barycentric = mesh.locate([one.position for _, one in single])
    near = _to_vertex(mesh, barycentric)
    beside = np.flatnonzero((near > _BESIDE) & (near < 1.0 - _ON_VERTEX))
    notes: list[str] = []
    if len(beside):
        first = beside[np.argmax(near[beside])]
        i, source = single[first]
        others = f" (and {len(beside) - 1} more sources are beside vertices)" if len(beside) > 1 else ""
        notes.append(
            f"source {i} at {source.position} m is beside a vertex of cell {elem[first]}{others}, where one "
            "cell's polynomial is far less exact than the mean over cells on the vertex itself: move it "
            "there, or away"
        )
    bricks = (_PER_BRICK[mesh.shape] * mesh.volumes[elem]) ** (1 / 3)
    sources = [(i, one, size) for (i, one), size in zip(single, bricks.tolist(), strict=True)]
    more, warnings = near_source.look(sim.receivers, sources, limit, near_source.NEAR[mesh.shape], "cells")
    return notes + more, warnings


def _missed_waves(sim: Any, report: Report) -> None:
    """Report plane waves that have begun before the first step; a state that was given may have them."""
    for wave, solution, _ in () if sim._given else sim._solver.waves:
        late = sim._of_whole(
            "where a wave comes in", lambda mesh, one=wave, exact=solution: first_delay(one, mesh, exact)
        )
        report.warnings += warnings_of(*missed(wrap(wave.f, sim.dt), sim._start - late))


def _outer_data(sim: Any, report: Report) -> None:
    """Exact solutions of one medium, at boundaries whose cells are of another one."""
    neighbors, material = sim.mesh.neighbors[: len(sim._material)], sim._material
    for name, solution in sim._boundaries.exact.items():
        if not isinstance(solution, ExactSolution) or not isinstance(solution.medium, sim.medium.__class__):
            continue
        if any(isinstance(value, Medium) for value in solution._arguments.values()):
            continue  # of two media
        try:
            given = np.array(list(solution.medium.scalar().values()))
        except ArgumentError:
            continue  # not homogeneous
        at = (neighbors == -1 - sim.mesh.boundary_names.index(name)).any(axis=1)
        at &= (np.abs(material - given) > 1e-6 * np.abs(given)).any(axis=2).all(axis=1)
        other, table = sim._in_all_cells(at), sim._in_all_cells(material[:, 0])

        def first(_: Any, other: Any = other, table: Any = table) -> tuple[int, list[float]] | None:
            return (int(other.argmax()), table[other.argmax()].tolist()) if other.any() else None

        if (found := sim._of_whole("outer data", first)) is not None:
            pairs = zip(sim.medium.parameters, found[1], strict=True)
            text = ", ".join(f"{key} = {value:g}" for key, value in pairs)
            report.warnings.append(
                f"boundary {name!r} has an exact solution of {solution.medium!r}, cell {found[0]} there has "
                f"{text}"
            )
