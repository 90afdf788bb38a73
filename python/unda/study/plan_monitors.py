"""What monitors add to a plan: memory, and seconds by the bytes that they move.

Not here: what a monitor takes (method/monitor_memory.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import lib
from ..errors import ArgumentError
from ..method._options import precision
from ..method.fd_scheme import scheme_of
from ..method.monitor import every_of
from ..method.monitor_field import check_name
from ..method.monitor_memory import listed, names_on_elements, names_on_grid, names_on_mesh, taken_of
from ..problem.grid import Grid
from . import curves, waves

if TYPE_CHECKING:
    from .plan import Proposal

_SCHEMES = {"scalar": lib.UNDA_SCALAR, "staggered": lib.UNDA_STAGGERED}
_GRID = Grid((2, 2, 2), 1.0)
_NAMES = {
    "DG tet": names_on_mesh,
    "DG hex": names_on_mesh,
    "SEM hex": lambda medium: names_on_elements(medium, medium.physics == "acoustic"),
    "FD staggered": lambda medium: names_on_grid(_GRID, scheme_of("staggered", medium)),
    "FD scalar": lambda medium: names_on_grid(_GRID, scheme_of("scalar", medium)),
}
_METHODS = {"DG": lib.UNDA_DG, "SEM": lib.UNDA_SEM, "FD": lib.UNDA_FD}


def monitors_of(monitors: Any, medium: Any) -> list[dict[str, Any]]:
    """Return keywords of monitors, refusing fields that no method has, and regions."""
    found = listed(monitors)
    known = sorted({name for kind in _NAMES for name in _names(kind, medium)})
    for one in found:
        if one.get("region") is not None:
            raise ArgumentError(
                f"monitors has region {one['region']!r}, expected none: plans are of all nodes"
            )
        if "field" in one:
            check_name(one["field"], known)
    return found


def without_monitor(kind: str, monitors: list[dict[str, Any]], medium: Any) -> str:
    """Return why a method cannot have the monitors; "": it can."""
    names = _names(kind, medium)
    lacking = [one["field"] for one in monitors if one.get("field", names[0]) not in names]
    return f"has no monitors of {', '.join(map(repr, lacking))}" if lacking else ""


def _names(kind: str, medium: Any) -> tuple[str, ...]:
    """Return what monitors of a method know; () where it does not have the medium."""
    has = waves.medium_of(kind, curves.WAVES[medium.physics]) is not None
    return _NAMES[kind](medium) if has else ()


def with_monitors(
    proposal: Proposal,
    monitors: list[dict[str, Any]],
    medium: Any,
    fmax: float,
    device: str,
    dtype: str,
    copied: float,
) -> Proposal:
    """Return a proposal with what monitors of all nodes take, sampled as often as by default.

    copied: bytes that the device reads and writes in a second.
    """
    options, alive = _options(proposal, medium, device, dtype)
    memory, moved, first = 0, 0.0, _names(f"{proposal.method} {proposal.kind}", medium)[0]
    for one in monitors:
        every = one.get("every") or every_of(one["kind"], fmax, proposal.dt)
        other = int(one.get("field", first) != first)  # whose levels do not stay: csrc/fd/monitor.c
        kept = taken_of(options, proposal.num_node, one, every, field=other)
        memory += kept.memory
        moved += kept.moved / every
    del alive
    seconds = proposal.steps * moved / copied
    where = "host" if device == "cpu" else "device_memory"
    more = {where: getattr(proposal, where) + memory}
    return replace(proposal, seconds=proposal.seconds + seconds, monitor_seconds=seconds, **more)


def _options(proposal: Proposal, medium: Any, device: str, dtype: str) -> tuple[Any, Any]:
    """Return unda_solver_options that say how a method samples, and what they refer to."""
    grid = _core.new_struct("unda_fd_options", scheme=_SCHEMES.get(proposal.kind, 0))
    options = _core.new_struct(
        "unda_solver_options", method=_METHODS[proposal.method], precision=precision(dtype),
        degree=proposal.degree, device=lib.UNDA_DEVICE_CPU if device == "cpu" else 0, fd=grid,
        physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
    )  # fmt: skip
    return options, grid
