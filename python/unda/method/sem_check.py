"""Checks of SEM before the first step: those of DG that apply, and the dispersion of its time scheme.

Not here: errors (sem.py, medium.py, mesh.py).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from . import check as common
from . import silent
from .check import Report

_MOST_PERIODS = 0.05  # at the main frequency: traces differ by a third of their peak
_MAIN = 2.5  # highest frequency of a Ricker wavelet over its main one


def check(sim: Any) -> Report:
    """Check a simulation, see `SEM.check`."""
    report = Report()
    report.look_at([f for _, f in sim._solver.sources])
    common.resolution(sim, report, sim.degree**3)
    common.worst_cells(sim, report)
    common.units(sim, report)
    common.places(sim, report)
    report.warnings += silent.on_mesh(_as_seen(sim))
    _time_dispersion(sim, report)
    return report


def _as_seen(sim: Any) -> Any:
    """Return what `silent` looks at: all fields that are known are driven by what drives one of them."""
    names = tuple(sim._known.units)
    return SimpleNamespace(
        mesh=sim.mesh, degree=sim.degree, medium=sim.medium, receivers=sim.receivers, fields=names,
        _given=frozenset(names if sim._given else ()), _boundaries=sim._boundaries, _points=sim._points,
        _solver=sim._solver, _of_whole=sim._of_whole,
    )  # fmt: skip


def _time_dispersion(sim: Any, report: Report) -> None:
    """Tell how far waves are ahead at the farthest receiver: omega becomes omega (1 + (omega dt)^2 / 24)."""
    if report.fmax is None or not sim._solver.sources or not sim.receivers:
        return
    points = np.concatenate([receivers.points for receivers in sim.receivers])
    if not len(points):
        return
    places = np.concatenate([source.places() for source in sim._solver.whole_sources()])
    far = max(float(np.linalg.norm(points - place, axis=1).max()) for place in places[:1000])
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
