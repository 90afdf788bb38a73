"""Checks before the first step on a grid: resolution, time step, layers, units.

Not here: meshes (check.py), errors (fd.py, medium.py).
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ..problem.layer import CPML, Damping
from ..problem.layer_returns import returned_at_most
from ..problem.layer_rule import layer_name, rule, scalar_growth
from ..problem.source import Source
from ..problem.timefunction import wrap
from . import near_source, silent
from .check import Report, farthest
from .fd_sides import frequency_of
from .fluid_walls import fluid_shares
from .incident_line import lines_of
from .missed_waves import warnings_of

#: Nodes in the shortest wavelength at which the phase error of the differences is about 1 % along an axis.
_NODES = {2: 13.0, 4: 5.2, 6: 3.9, 8: 3.4}
_PHASE = 0.01  # of the step in time: (2 pi f dt)^2 / 24
_AHEAD = 0.02  # of a period at fmax: 2 pi times as much of the wave


def check(sim: Any) -> Report:
    """Check a simulation, see `FD.check`."""
    report = Report()
    waves = [wrap(wave.f, sim.dt) for wave, *_ in sim._solver.waves]
    report.look_at([source.time_function(sim.dt) for source, _ in sim._solver.sources] + waves)
    if report.fmax is not None:
        _resolution(sim, report, report.fmax)
    size, (_, fastest) = float(np.linalg.norm(sim.grid.size)), sim._material.speeds()
    questions = sim.medium._questions(sim._material.first[None], size)
    report.ask(questions, _NODES.get(sim.order, 3.0), "grid", size, fastest)
    _growth(sim, report)
    _missed_waves(sim, report)
    _fluid_walls(sim, report)
    _near_sources(sim, report)
    report.warnings += silent.on_grid(sim)
    return report


def _near_sources(sim: Any, report: Report) -> None:
    """Look at receivers beside point sources in space; lines and planes of thin grids have other fields."""
    if min(sim.grid.shape) == 1:
        return
    limit, size = near_source.of_grid(sim.medium.physics), max(sim.grid.spacing)
    sources = (
        (i, source, size)
        for i, source in enumerate(sim._solver.whole_sources())
        if isinstance(source, Source) and len(source.places()) == 1
    )
    report.warnings += near_source.look(sim.receivers, sources, limit, 0.0, "nodes")[1]


def _resolution(sim: Any, report: Report, fmax: float) -> None:
    steps = [h for h, n in zip(sim.grid.spacing, sim.grid.shape, strict=True) if n > 1]
    slowest, fastest = sim._material.speeds()
    shortest = slowest / fmax
    nodes = shortest / max(steps)
    report.nodes_per_wavelength["grid"] = nodes
    least = _NODES.get(sim.order, 3.0)
    if nodes < least:
        report.warnings.append(
            f"{nodes:.1f} nodes in the shortest wavelength at {fmax:g} Hz, expected {least:g} or more for "
            f"order {sim.order}: refine, or raise the order"
        )
    phase = (2 * np.pi * fmax * sim.dt) ** 2 / 24
    if phase > _PHASE and sim.order >= 6:
        report.warnings.append(
            f"the step in time makes waves of {fmax:g} Hz {100 * phase:.1f} % too fast: lower cfl to "
            f"{sim.config['cfl'] * np.sqrt(_PHASE / phase):.2f}"
        )
    elif sim.order >= 6 and (far := farthest(sim)) and (ahead := phase * far / shortest) > _AHEAD:
        report.notes.append(
            f"time steps let waves of {fmax:.4g} Hz run {100 * phase:.2g} % fast, {ahead:.2g} of a period "
            f"over the {far:.4g} m to the farthest receiver; the error falls with dt^2: take a smaller cfl"
        )
    peak = fastest / (fmax / 2.5)  # fmax of a Ricker wavelet is 2.5 times its peak
    for i, (name, one) in enumerate(sim._sides.items()):
        depth = one.width * sim.grid.spacing[i // 2] / peak if isinstance(one, Damping) else np.inf
        if depth < 1.0:
            report.warnings.append(
                f"the layer at {name} is {depth:.2f} wavelengths deep at {fmax / 2.5:g} Hz: below one it "
                "reflects more than a percent of the energy; raise its width"
            )
    _spectrum(sim, report, fmax / 2.5)
    _thin(sim, report, fmax / 2.5, fastest)


#: Main frequencies, over f0 of a layer of 10 nodes, at which it returns about 0.5 % of a trace.
_LEAST, _MOST = 1 / 3, 6.0


def _spectrum(sim: Any, report: Report, main: float) -> None:
    """Check matched layers of the scalar scheme; sides of the same f0 together."""
    layers = sim._sides.items() if sim.config["scheme"] == "scalar" else ()
    tuned: dict[float, list[str]] = {}
    for name, one in layers:
        if isinstance(one, CPML) and one.f0 and not _LEAST <= main / one.f0 <= _MOST:
            tuned.setdefault(one.f0, []).append(name)
    for f0, names in tuned.items():
        report.warnings.append(
            f"layers at {', '.join(names)} are made for about {f0:.3g} Hz, sources have most at {main:g} Hz: "
            "give FD fmax, or the layer f0"
        )


_RETURNED = 0.01  # by which a layer reduces a wave's amplitude


def _thin(sim: Any, report: Report, main: float, fastest: float) -> None:
    """Check CPMLs of staggered grids: too few nodes, or an f0 much higher than the sources."""
    if sim.config["scheme"] != "staggered":
        return
    found: dict[str, list[str]] = {}
    for i, (name, one) in enumerate(sim._sides.items()):
        if not isinstance(one, CPML) or one.ratio:
            continue
        h = sim.grid.spacing[i // 2]
        if np.pi * main * sim.dt >= 0.5 * np.pi or fastest / main < 2 * h:
            continue  # the grid has no such waves, of which the resolution warns
        part = returned_at_most(one, frequency_of(one, fastest, h), main, c=fastest, h=h, dt=sim.dt)
        if part < _RETURNED:
            continue
        text = (
            f"of {one.width} nodes, made for {frequency_of(one, fastest, h):.3g} Hz, returns "
            f"{100 * part:.2g} % of waves of {main:.3g} Hz, of which sources have most: "
            "give FD fmax, or the layer f0, or more nodes"
        )
        found.setdefault(text, []).append(name)
    report.warnings += [f"the CPML at {', '.join(names)} {text}" for text, names in found.items()]


def _missed_waves(sim: Any, report: Report) -> None:
    """Report plane waves that have begun before the first step."""
    for part, seconds in chain.from_iterable(line.missed() for line in lines_of(sim)):
        report.warnings += warnings_of(part, seconds)


def _growth(sim: Any, report: Report) -> None:
    """Report which layers are not CPMLs and why; CPMLs in which waves may grow."""
    if not any(isinstance(one, CPML) for one in sim._sides.values()):
        return
    if sim.config["scheme"] != "staggered":
        report.warnings += [
            f"the CPML at {name} may grow slowly: {reason}; give it more nodes, or take Damping"
            for name, reason in scalar_growth(sim.grid, sim.medium, sim._sides).items()
        ]
        return
    alike: dict[tuple[float, str, str], list[str]] = {}
    for name, (word, reason) in rule(sim.grid, sim.medium, sim._sides).items():
        alike.setdefault((sim._sides[name].ratio, word, reason), []).append(name)
    for (ratio, word, reason), names in alike.items():
        if ratio > 0:
            report.notes.append(f"layer at {', '.join(names)}: {layer_name(ratio)}, {reason or 'as given'}")
        elif reason:
            report.warnings.append(
                f"the CPML at {', '.join(names)} may grow without bound: {reason}; leave layer='auto', or "
                f"give layer={word!r}"
            )


def _fluid_walls(sim: Any, report: Report) -> None:
    """Check for fixed sides with fluid, which slides along them."""
    if sim.medium.physics != "elastic":
        return
    for name, share in fluid_shares(sim.grid, sim.medium, sim._sides).items():
        if share > 0.0:
            report.warnings.append(
                f"{100 * share:.3g} % of the nodes of the fixed side {name} are fluid, whose velocity along "
                "the wall is held at zero there, too: let the side cross fluid or solid alone"
            )
