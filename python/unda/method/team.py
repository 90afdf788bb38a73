"""Teams: one problem on several devices, each with a part of the mesh.

Not here: which cell belongs to which part (``problem/partition.py``), how parts run together
(``csrc/dg/team.c``).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core
from .._check import choice
from .._core import lib
from ..errors import ArgumentError
from ..limits import TRANSPORTS, device_number, several
from ..problem.partition import Partition

if TYPE_CHECKING:
    from ..problem.mesh import Mesh
    from ._options import Given

_CPU_PARTS = "UNDA_CPU_PARTS"


def _number(device: str) -> int:
    """Return the library's number of one device of a list."""
    if device.partition(":")[0] == "cpu" and (device == "cpu" or device[4:].isdigit()):
        return int(lib.UNDA_DEVICE_CPU)
    return device_number(device)


def _refuse_cpu(devices: tuple[str, ...]) -> None:
    """Parts on the CPU are for tests: threads of one solver share all its memory, and are as fast."""
    if os.environ.get(_CPU_PARTS) != "1":
        raise ArgumentError(
            f"device is {list(devices)}: parts of one process on the CPU take turns, and are slower than "
            "device='cpu', whose threads share the problem. Give each NUMA node a process: "
            "comm=MPI.COMM_WORLD and `mpirun --bind-to numa` (docs/scaling.md). The environment variable "
            f"{_CPU_PARTS}=1 allows such parts, for tests"
        )


class Member(NamedTuple):
    """What one device of a team has, as `DG.team` and `SEM.team` list it."""

    device: str
    cells: int
    border: int  #: cells of its own that share a face with another part
    ghosts: int  #: cells of other parts whose values at these faces it receives
    cut_faces: int
    shared_nodes: int  #: of SEM, which has no ghosts: nodes that other parts have as well
    neighbors: int  #: parts with which it shares them
    bytes_per_stage: int  #: that it sends, and receives as well
    memory: int  #: bytes on the device; 0 on the CPU


class Team:
    """The devices of a simulation, and the parts of its mesh that they have.

    Attributes
    ----------
    devices : tuple of str
        One a part; the same may be there many times.
    partition : Partition
        Which cell belongs to which part.
    members : tuple of Member
        What each part has.
    transport : str
        How traces travel: "peer", by stores into the other device's memory; "host", through memory of the
        host; "memory", on the CPU.
    """

    def __init__(self, devices: tuple[str, ...], partition: Partition, transport: int) -> None:
        self.devices, self.partition, self._asked = devices, partition, transport
        self.members: tuple[Member, ...] = ()
        self.transport = ""
        self._trace: tuple[int, int, int] | None = None

    def _given(self) -> Any:
        """Return unda_team."""
        return _core.new_struct(
            "unda_team",
            num_part=self.partition.num,
            transport=self._asked,
            part=self.partition.part,
            device=np.array([_number(one) for one in self.devices], np.int32),
        )

    def _take(self, solver: Any, trace: tuple[int, int, int] | None = None) -> None:
        """Ask a solver what its parts have; trace, of DG: nodes of a face, fields, bytes of a number."""
        found = []
        for which, device in enumerate(self.devices):
            member = _core.new_struct("unda_member")
            solver.call(lib.unda_solver_get_member, which, member)
            found.append(
                Member(
                    device, int(member.num_elem), int(member.num_border), int(member.num_ghost),
                    int(member.num_cut_face), int(member.num_shared_node), int(member.num_neighbor),
                    int(member.exchange_bytes), int(member.device_bytes),
                )
            )  # fmt: skip
            self.transport = _core.text(member.transport)
        self.members, self._trace = tuple(found), trace

    def _bytes(self) -> int:
        """Return what all parts send in a stage."""
        return sum(one.bytes_per_stage for one in self.members)

    def _load(self) -> tuple[int, float]:
        """Return the most bytes that a part sends in a stage, and the greatest share of cells at borders."""
        most = max(one.bytes_per_stage for one in self.members)
        return most, max(one.border / one.cells for one in self.members)

    def _about(self) -> str:
        """Return a phrase for the repr of a simulation."""
        return f"{self.partition.num} parts, {self._bytes()} bytes a stage by {self.transport}"

    def __repr__(self) -> str:
        other = "shared_nodes" if self._trace else "ghosts"
        names = [name for name in Member._fields if name != other]
        rows = [tuple(name.replace("_", " ") for name in ("part", *names))]
        rows += [(str(i), *(str(getattr(one, name)) for name in names)) for i, one in enumerate(self.members)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        return "\n".join(
            [
                f"{self.partition.num} parts by {self.transport}; {self._formula()}",
                *(
                    "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
                    for row in rows
                ),
            ]
        )

    def _formula(self) -> str:
        """Return what travels, in words."""
        if self._trace is None:
            return "a shared node sends its force to each part that has it, and receives as many"
        nodes, fields, real = self._trace
        return (
            f"a cut face sends {nodes} nodes x {fields} fields x {real} bytes = {nodes * fields * real} "
            "bytes a stage, and receives as many"
        )


def _partition(mesh: Mesh, num: int, given: Any) -> Partition:
    if isinstance(given, Partition):
        if given.mesh is not mesh:
            raise ArgumentError("partition is of another mesh, expected one of the simulation's")
        if given.num != num:
            raise ArgumentError(f"partition has {given.num} parts, expected one for each of {num} devices")
        return given
    if num > mesh.num_elem:
        raise ArgumentError(f"the mesh has {mesh.num_elem} cells, expected one or more a device of {num}")
    method = ("curve", "metis")[choice("partition", given, ("curve", "metis"))]
    return mesh.partition(num, method=method)


def team_of(given: Given) -> Team | None:
    """Return the team that arguments of a method ask for, and make `given.device` one device."""
    devices = several(given.device)
    if len(devices) < 2:
        if given.partition != "curve" or given.transport != "auto":
            raise ArgumentError(
                f"partition is {given.partition!r}, transport {given.transport!r} on one device; expected "
                "device=['cuda:0', 'cuda:1'], 'cuda:all' or comm= with them"
            )
        given.device = devices[0] if devices else given.device
        return None
    transport = choice("transport", given.transport, TRANSPORTS)
    on_cpu = {_number(one) == lib.UNDA_DEVICE_CPU for one in devices}
    if len(on_cpu) == 2:
        raise ArgumentError(f"device is {list(devices)}, expected CUDA devices alone")
    if True in on_cpu:
        _refuse_cpu(devices)
    given.device = "cpu" if True in on_cpu else devices[0]
    return Team(devices, _partition(given.mesh, len(devices), given.partition), transport)
