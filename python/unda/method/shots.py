"""Shots: one simulation, many sources, one after the other; see `Simulation.shots`.

Not here: forgetting sources (simulation.py), receivers (simulation_receivers.py), studies (sweep.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._units import plain
from ..errors import ArgumentError


def shots(
    sim: Any, sources: Iterable[Any], receivers: Any, until: Any, steps: Any, how: tuple[Any, int, Any],
    progress: bool | None,
) -> Iterator[Any]:  # fmt: skip
    """Return the gathers, see `Simulation.shots`; how: fields, steps between samples, side."""
    sim._steps_to(until, steps)  # whether they are given
    listed = list(sources) if isinstance(sources, Iterable) else [sources]
    points = None if receivers is None else _each(receivers, len(listed))
    if points is None and not sim.receivers:
        raise ArgumentError("there are no receivers; give some, or sim.add_receivers(...) adds some")

    def run() -> Iterator[Any]:
        fields, every, side = how
        for i, source in enumerate(listed):
            sim.reset(sources=True)
            if points is not None and (i == 0 or points[i] is not points[i - 1]):
                sim.remove_receivers()
                sim.add_receivers(points[i], fields, every=every, side=side)
            sim.add_source(source)
            sim.run(until=until, steps=steps, progress=progress)
            made = [one._as_recorded(f"shot {i}") for one in sim.receivers]
            yield made[0] if len(made) == 1 else tuple(made)

    return run()


def _each(receivers: Any, num: int) -> list[Any]:
    """Return the points of each shot."""
    receivers = plain("receivers", receivers, "m")
    try:
        dimensions = np.ndim(np.asarray(receivers, np.float64))
    except ValueError:  # arrays of different lengths
        dimensions = 3
    if dimensions == 2:
        return [receivers] * num
    if dimensions != 3 or len(receivers) != num:
        found = f"{len(receivers)} arrays" if dimensions == 3 else f"an array of {dimensions} dimensions"
        raise ArgumentError(
            f"receivers are {found}; expected points (n, 3), or such an array for each of {num} shots"
        )
    return list(receivers)
