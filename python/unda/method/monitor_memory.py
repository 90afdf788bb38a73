"""What monitors will take, without a simulation: memory beside its own, bytes moved.

Not here: monitors (monitor.py), forecasts of simulations (solver.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._check import choice, integer
from .._core import lib, new
from ..errors import ArgumentError
from ..problem._shapes import EDGES, FACES
from .monitor import KINDS, frequencies_of
from .monitor_field import check_name, monitored_names
from .monitor_region import region_of
from .sem_fields import SemFields

_KEYWORDS = {"kind", "field", "frequencies", "region", "every"}
_ROW = 64  # nodes of spectral elements that are kept together: csrc/sem/monitor.c


class Taken(NamedTuple):
    """Bytes of memory, and those that a sample moves."""

    memory: int
    moved: float


def taken_of(
    options: Any, num_value: int, one: Mapping[str, Any], every: int, box: Sequence[int] = (), field: int = 0
) -> Taken:
    """Return what a monitor of so many values takes of a solver with these options; box: nodes along axes."""
    asked, kind = frequencies_of(one["kind"], one.get("frequencies")), KINDS.index(one["kind"])
    given = _core.new_struct(
        "unda_monitor", every=every, field=field, statistic=kind, num_frequency=len(asked), frequencies=asked,
        num=[*box] or [0] * 3,
    )  # fmt: skip
    memory, moved = new("int64_t *"), new("double *")
    _core.check(lib.unda_monitor_bytes(options, given, num_value, memory, moved))
    return Taken(int(memory[0]), float(moved[0]))


def add_monitors(
    found: Mapping[str, int],
    monitors: Any,
    options: Any,
    names: Sequence[str],
    num_value: Callable[[Any], int],
    box: Callable[[Any], Sequence[int]] = lambda _: (),
    fields: Sequence[str] = (),
) -> dict[str, int]:
    """Return a forecast with those of monitors: words of kinds, or keywords of `add_monitor`.

    names: what they may be of, fields: of these those of the state; num_value gives the values of a region,
    box those along axes of a grid. Of several devices each has a share as large as its part of the rest.
    """
    total = 0
    for one in listed(monitors):
        if "field" in one:
            check_name(one["field"], names)
        values = num_value(one.get("region"))
        number = fields.index(one["field"]) if one.get("field") in fields else 0
        kept = taken_of(options, values, one, one.get("every") or 2, box(one.get("region")), number)
        total += kept.memory
    where = "device" if found["device"] else "host"
    grown = dict(found)
    grown[where] += total
    for part in grown:
        if part.startswith("part"):
            grown[part] += round(total * found[part] / max(1, found["device"]))
    return grown


def listed(monitors: Any) -> list[dict[str, Any]]:
    """Return keywords of monitors, which may be words of kinds."""
    if isinstance(monitors, (str, Mapping)) or not isinstance(monitors, Sequence):
        raise ArgumentError(f"monitors is {monitors!r}, expected a list of kinds, or of keywords")
    for one in monitors:
        if not isinstance(one, (str, Mapping)):
            raise ArgumentError(f"monitors has {one!r}, expected a kind, or a dict with one")
    found: list[dict[str, Any]] = [{"kind": one} if isinstance(one, str) else dict(one) for one in monitors]
    for one in found:
        if not {"kind"} <= set(one) <= _KEYWORDS:
            raise ArgumentError(f"monitors has {one!r}, expected kind and others of {sorted(_KEYWORDS)}")
        choice("kind", one["kind"], KINDS)
        if one.get("every") is not None:
            one["every"] = integer("every", one["every"], 1, 2**31 - 1)
    return found


def names_on_mesh(medium: Any) -> tuple[str, ...]:
    """Return what monitors of `DG` know."""
    return monitored_names(SimpleNamespace(fields=tuple(medium.fields)))


def names_on_elements(medium: Any, has_fluid: bool) -> tuple[str, ...]:
    """Return what monitors of `SEM` know."""
    known = SemFields(medium, has_fluid)
    return monitored_names(SimpleNamespace(fields=known.state, _known=known))


def names_on_grid(grid: Any, scheme: Any) -> tuple[str, ...]:
    """Return what monitors of `FD` know."""
    return monitored_names(
        SimpleNamespace(
            fields=scheme.fields, grid=grid, _axes=lambda name: list(grid.axes(scheme.offset(name)))
        )
    )


def cells_of(mesh: Any, region: Any) -> np.ndarray:
    """Return the numbers of the cells of a region."""
    whole = SimpleNamespace(
        mesh=mesh, _num_elem=mesh.num_elem, _num_whole=mesh.num_elem, ranks=None, num_node=1
    )
    whole._most = float
    return np.asarray(region_of(whole, "", region).cells)


def box_of(grid: Any, region: Any) -> tuple[int, ...]:
    """Return how many nodes of a grid a region has along each axis."""
    whole = SimpleNamespace(grid=grid, _axes=lambda _: list(grid.axes()), ranks=None)
    return tuple(region_of(whole, "nodes", region).shape)


def nodes_of(grid: Any, region: Any, width: int = 1) -> int:
    """Return how many nodes of a grid a region has; fields beside nodes may have one less an axis.

    On CUDA devices rows along z are filled up to `width` nodes, to as many again where they begin in between.
    """
    *across, row = box_of(grid, region)
    return int(np.prod(across)) * ((row + width - 1) // width * width)


def shared_nodes_of(mesh: Any, degree: int, region: Any, device: str) -> int:
    """Return the nodes of hexahedra, each once; sides that are joined count twice."""
    cells = np.asarray(mesh.cells)[cells_of(mesh, region)]
    between = degree - 1
    num = len(np.unique(cells)) + len(cells) * between**3
    num += _different(cells[:, EDGES]) * between + _different(cells[:, FACES["hex"]]) * between**2
    return num if num < _ROW and device == "cuda" else (num + _ROW - 1) // _ROW * _ROW


def _different(corners: np.ndarray) -> int:
    """Return how many sets of corners there are."""
    return len(np.unique(np.sort(corners.reshape(-1, corners.shape[-1]), axis=1), axis=0))
