"""Slabs: one grid on several devices, each with planes of x of its own.

Not here: how slabs step together (``csrc/fd/slabs.c``), parts of a mesh (team.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core
from .._core import lib
from ..errors import ArgumentError
from ..limits import several
from .team import _number, _refuse_cpu

if TYPE_CHECKING:
    from ._options import Given


class Slab(NamedTuple):
    """What one device has of a grid, as `FD.team` lists it."""

    device: str
    first: int  #: its first plane of x, layers included
    planes: int
    border: int  #: those of its planes that neighbours need, and as many of theirs that it holds
    neighbors: int
    bytes_per_step: int  #: that it sends, and receives as well
    memory: int  #: bytes on the device; 0 on the CPU


class Slabs:
    """The devices of a simulation on a grid, and the slab of planes of x that each of them has.

    Attributes
    ----------
    devices : tuple of str
        One a slab, in the order of x; the same may be there many times.
    members : tuple of Slab
        What each device has.
    transport : str
        How planes travel: "peer", copies from device to device; "host", through memory of the host, where
        these do not reach each other; "memory", on the CPU.
    """

    def __init__(self, devices: tuple[str, ...]) -> None:
        self.devices = devices
        self.members: tuple[Slab, ...] = ()
        self.transport = ""
        self._plane = 0, 0, 0

    def _given(self) -> Any:
        """Return unda_team."""
        numbers = np.array([_number(one) for one in self.devices], np.int32)
        return _core.new_struct("unda_team", num_part=len(self.devices), device=numbers)

    def _take(self, solver: Any, plane: tuple[int, int, int]) -> None:
        """Ask a solver what its slabs have; plane: nodes along y and z, bytes of a number."""
        found, first = [], 0
        for which, device in enumerate(self.devices):
            member = _core.new_struct("unda_member")
            solver.call(lib.unda_solver_get_member, which, member)
            found.append(
                Slab(
                    device, first, int(member.num_elem), int(member.num_border), int(member.num_neighbor),
                    int(member.exchange_bytes), int(member.device_bytes),
                )
            )  # fmt: skip
            first += int(member.num_elem)
            self.transport = _core.text(member.transport)
        self.members, self._plane = tuple(found), plane

    def _bytes(self) -> int:
        """Return what all slabs send in a step."""
        return sum(one.bytes_per_step for one in self.members)

    def _load(self) -> tuple[int, float]:
        """Return the most bytes that a slab sends in a step, and the greatest share of planes at cuts."""
        most = max(one.bytes_per_step for one in self.members)
        return most, max(one.border / one.planes for one in self.members)

    def _about(self) -> str:
        """Return a phrase for the repr of a simulation."""
        return f"{len(self.devices)} slabs, {self._bytes()} bytes a step by {self.transport}"

    def __repr__(self) -> str:
        rows = [tuple(name.replace("_", " ") for name in ("slab", *Slab._fields))]
        rows += [(str(i), *map(str, one)) for i, one in enumerate(self.members)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        y, z, real = self._plane
        size = y * z * real
        planes, rest = divmod(self._bytes(), size)
        sent = f"{planes} planes of {y} x {z} nodes x {real} bytes = {planes * size} bytes travel a step"
        if rest:  # stages of kernel diamond send parts of planes
            sent = f"{self._bytes()} bytes travel a step, on average over a launch"
        return "\n".join(
            [
                f"{len(self.devices)} slabs by {self.transport}; {sent}",
                *(
                    "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
                    for row in rows
                ),
            ]
        )


def slabs_of(given: Given) -> Slabs | None:
    """Return the slabs that arguments of FD ask for, and make `given.device` one device."""
    if given.comm is None and given.transport != "auto":
        raise ArgumentError(
            f"transport is {given.transport!r} in one process, expected comm= with it: from device to device "
            "planes are copied by the driver"
        )
    devices = several(given.device)
    if len(devices) < 2:
        given.device = devices[0] if devices else given.device
        return None
    on_cpu = {_number(one) == lib.UNDA_DEVICE_CPU for one in devices}
    if len(on_cpu) == 2:
        raise ArgumentError(f"device is {list(devices)}, expected CUDA devices alone")
    if True in on_cpu:
        _refuse_cpu(devices)
    given.device = "cpu" if True in on_cpu else devices[0]
    return Slabs(devices)
