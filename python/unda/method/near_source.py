"""Receivers so near to a point source that they record how the method represents delta, not its field.

Within the limits traces of the worst of many places were a fifth off (measured, benchmarks/NOTES.md):

- DG: what a cell's polynomial has of delta is right in all moments to degree N, so that the field of the
  first wrong one falls off as (size/r)^(N + 1) beside the source's own. The limit is 1 + a/N cells, a by
  shape and field.
- SEM: nodes share the forces of cells beside them; one cell.
- FD: some nodes, of any order, since delta is that of the nodes around the source: the more, the steeper
  its field r^-m is.

Not here: where else sources stand badly (check.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Limit = Callable[[Any, str], float]

NEAR = {"tet": 2.5, "hex": 4.0}  # cells: beyond, all is as exact as elsewhere
_SLOPE = {"tet": (2.0, 4.0), "hex": (5.0, 8.0)}  # a of p, v, u, H; of stresses, strains, E
_SEM = 1.0
_NODES = {1: 2.0, 2: 4.0, 3: 5.0}  # by m


def _is_motion(field: str) -> bool:
    return field in ("p", "vx", "vy", "vz", "ux", "uy", "uz", "hx", "hy", "hz")


def of_dg(shape: str, degree: int) -> Limit:
    """Return the limits [cells] of a source's fields."""
    return lambda _, field: min(NEAR[shape], 1.0 + _SLOPE[shape][not _is_motion(field)] / degree)


def of_sem(source: Any, field: str) -> float:
    """Return the limit [cells] of a source's field."""
    return _SEM


def of_grid(physics: str) -> Limit:
    """Return the limits [nodes] of a source's fields."""

    def limit(source: Any, field: str) -> float:
        # Static fields: p of a volume and v of a force are r^-1, H of a current is r^-2.
        m = 1 if field == "p" or (_is_motion(field) and physics == "elastic") else 2
        m += physics == "maxwell" and not _is_motion(field)
        m += physics == "elastic" and type(source).__name__ != "PointForce"
        return _NODES[m]

    return limit


def look(
    listed: Sequence[Any], sources: Iterable[tuple[int, Any, float]], limit: Limit, far: float, unit: str
) -> tuple[list[str], list[str]]:
    """Return notes and warnings of the nearest pairs of source and receiver, one for each limit.

    listed: receivers. sources: number, source, and length [m] of one unit there, "cells" or "nodes".
    far: from which nothing is said.
    """
    found: dict[float, list[tuple[float, int, tuple[float, ...], list[str]]]] = {}
    for number, source, size in sources:
        for one in listed:
            if not len(one.points):
                continue
            away = np.linalg.norm(one.points - source.position, axis=1) / size
            at = int(np.argmin(away))
            by_limit: dict[float, list[str]] = {}
            for field in one.fields:
                by_limit.setdefault(limit(source, field), []).append(field)
            for reach, names in by_limit.items():
                if away[at] < max(reach, far):
                    pair = float(away[at]), number, tuple(one.points[at].tolist()), names
                    found.setdefault(reach, []).append(pair)
    notes, warnings = [], []
    for reach, pairs in found.items():
        distance, number, place, names = min(pairs)
        where = (
            f"the receiver of {', '.join(names)} at {place} m is {distance:.1f} {unit} from source {number}"
        )
        wrong = len({one[1] for one in pairs if one[0] < reach})
        if wrong:
            others = f" (and {wrong - 1} more sources have such receivers)" if wrong > 1 else ""
            warnings.append(
                f"{where}{others}: nearer than {reach:.2g} {unit} it records how delta is represented here, "
                "and errors of 20 % and more are usual; move it away, or refine around the source"
            )
        else:
            notes.append(f"{where}: nearer than {far:g} {unit} its traces are less exact")
    return notes, warnings
