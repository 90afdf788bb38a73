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
    from scipy.spatial import KDTree

    kinds: dict[type, list[tuple[int, Any, float]]] = {}
    for one in sources:
        kinds.setdefault(type(one[1]), []).append(one)
    nearest: dict[float, tuple[float, int, tuple[float, ...], list[str]]] = {}
    wrong: dict[float, set[int]] = {}
    points = [(one, KDTree(one.points)) for one in listed if len(one.points)]
    for alike in kinds.values():
        number, size = np.array([one[0] for one in alike]), np.array([one[2] for one in alike])
        places = np.array([one[1].position for one in alike])
        for receivers, tree in points:
            away, at = tree.query(places)
            away /= size
            by_limit: dict[float, list[str]] = {}
            for field in receivers.fields:
                by_limit.setdefault(limit(alike[0][1], field), []).append(field)
            first = int(np.argmin(away))
            for reach, names in by_limit.items():
                if away[first] < max(reach, far):
                    place = tuple(receivers.points[at[first]].tolist())
                    pair = float(away[first]), int(number[first]), place, names
                    nearest[reach] = min(pair, nearest.get(reach, pair))
                    wrong.setdefault(reach, set()).update(number[away < reach].tolist())
    notes, warnings = [], []
    for reach, (distance, source, place, names) in nearest.items():
        where = (
            f"the receiver of {', '.join(names)} at {place} m is {distance:.1f} {unit} from source {source}"
        )
        if num := len(wrong[reach]):
            others = f" (and {num - 1} more sources have such receivers)" if num > 1 else ""
            warnings.append(
                f"{where}{others}: nearer than {reach:.2g} {unit} it records how delta is represented here, "
                "and errors of 20 % and more are usual; move it away, or refine around the source"
            )
        else:
            notes.append(f"{where}: nearer than {far:g} {unit} its traces are less exact")
    return notes, warnings
