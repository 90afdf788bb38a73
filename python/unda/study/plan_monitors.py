"""What monitors add to a plan: memory, and seconds by the bytes that they move.

Not here: what a monitor takes (method/monitor_memory.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import lib
from ..limits import device_limits
from ..method._options import precision
from ..method.monitor import every_of
from ..method.monitor_memory import listed, taken_of

if TYPE_CHECKING:
    from .plan import Proposal

_SCHEMES = {"scalar": lib.UNDA_SCALAR, "staggered": lib.UNDA_STAGGERED}
_METHODS = {"DG": lib.UNDA_DG, "SEM": lib.UNDA_SEM, "FD": lib.UNDA_FD}


def with_monitors(proposal: Proposal, monitors: Any, fmax: float, device: str, dtype: str) -> Proposal:
    """Return a proposal with what monitors of all nodes take, sampled as often as by default."""
    options, alive = _options(proposal, device, dtype)
    memory, moved = 0, 0.0
    for one in listed(monitors):
        every = one.get("every") or every_of(one["kind"], fmax, proposal.dt)
        kept = taken_of(options, proposal.num_node, one["kind"], one.get("frequencies"), every)
        memory += kept.memory
        moved += kept.moved / every
    del alive
    seconds = proposal.steps * moved / device_limits(device)["copy"]
    where = "host" if device == "cpu" else "device_memory"
    more = {where: getattr(proposal, where) + memory}
    return replace(proposal, seconds=proposal.seconds + seconds, monitor_seconds=seconds, **more)


def _options(proposal: Proposal, device: str, dtype: str) -> tuple[Any, Any]:
    """Return unda_solver_options that say how a method samples, and what they refer to."""
    grid = _core.new_struct("unda_fd_options", scheme=_SCHEMES.get(proposal.kind, 0))
    options = _core.new_struct(
        "unda_solver_options", method=_METHODS[proposal.method], precision=precision(dtype),
        degree=proposal.degree, device=lib.UNDA_DEVICE_CPU if device == "cpu" else 0, fd=grid,
    )  # fmt: skip
    return options, grid
