"""Checks of SEM before the first step: those of DG that apply, and the dispersion of its time scheme.

Not here: errors (sem.py, medium.py, mesh.py).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ..problem import mesh_damping
from . import check as common
from . import near_source, silent
from .check import Report

_MOST_PERIODS = 0.05  # at the main frequency: traces differ by a third of their peak
_MOST_RETURNED = 0.05  # a layer of a wavelength returns twice as much at 60 degrees
_MAIN = 2.5  # highest frequency of a Ricker wavelet over its main one


def check(sim: Any) -> Report:
    """Check a simulation, see `SEM.check`."""
    report = Report()
    report.look_at([f for _, f in sim._solver.sources])
    common.resolution(sim, report, sim.degree**3)
    common.worst_cells(sim, report)
    common.units(sim, report)
    common.places(sim, report, near_source.of_sem)
    report.warnings += silent.on_mesh(_as_seen(sim))
    _time_dispersion(sim, report)
    _layers(sim, report)
    return report


def _as_seen(sim: Any) -> Any:
    """Return what `silent` looks at: all fields that are known are driven by what drives one of them."""
    names = tuple(sim._known.units)
    return SimpleNamespace(
        mesh=sim.mesh, degree=sim.degree, medium=sim.medium, receivers=sim.receivers, fields=names,
        _given=frozenset(names if sim._given else ()), _boundaries=sim._boundaries, _points=sim._points,
        _solver=sim._solver, _of_whole=sim._of_whole,
    )  # fmt: skip


def _layers(sim: Any, report: Report) -> None:
    """Tell what layers return at the main frequency; sources and receivers in them are damped too."""
    given = sim._boundaries.layers
    if not given:
        return
    fastest = sim._most(float(sim.medium._speeds(sim._material.reshape(-1, sim._material.shape[2])).max()))
    layers = sim._of_whole("layers", lambda mesh: mesh_damping.place(mesh, given, fastest))
    points = {
        "sources": [source.places() for source in sim._solver.whole_sources()],
        "receivers": [receivers.points for receivers in sim.receivers],
    }
    for what, places in points.items():
        x = np.concatenate([np.empty((0, 3)), *places])
        depth = sum((layer.depth(x) for layer in layers.values()), np.zeros(len(x)))
        if (depth > 0.0).any():
            report.warnings.append(f"{int((depth > 0.0).sum())} of {len(x)} {what} are in damping layers")
    main = (report.fmax or 0.0) / _MAIN
    for name, one in given.items() if main else ():
        wavelengths = np.array([layers[name].thickness * main / fastest])
        strength = mesh_damping.strength(one, fastest)
        most = max(abs(mesh_damping.returned(wavelengths, strength, q)[0]) for q in (1.0, 0.7, 0.5))
        text = (
            f"the layer at {name} is {wavelengths[0]:.2g} wavelengths thick at {main:.3g} Hz, of which it "
            f"returns up to {100 * most:.2g} % at incidence up to 60 degrees"
        )
        if most > _MOST_RETURNED:
            report.warnings.append(f"{text}: make it thicker, two wavelengths or more")
        else:
            report.notes.append(text)


def _time_dispersion(sim: Any, report: Report) -> None:
    """Tell how far waves are ahead at the farthest receiver: omega becomes omega (1 + (omega dt)^2 / 24)."""
    far = common.farthest(sim)
    if report.fmax is None or far is None:
        return
    slowest = -sim._most(-float(sim.medium._speeds(sim._material.reshape(-1, sim._material.shape[2])).min()))
    main = report.fmax / _MAIN
    ahead = (2.0 * np.pi * main * sim.dt) ** 2 / 24.0
    periods = ahead * far / slowest * main
    text = (
        f"time steps let waves of {main:.4g} Hz run {100 * ahead:.2g} % fast, {periods:.2g} of a period over "
        f"the {far:.4g} m to the farthest receiver; the error falls with dt^2"
    )
    if periods > _MOST_PERIODS:
        report.warnings.append(f"{text}: use a smaller cfl")
    else:
        report.notes.append(text)
