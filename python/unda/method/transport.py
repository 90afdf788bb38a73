"""Transport between processes: how messages go from one CUDA device to another, chosen by what is there.

NCCL, on a stream beside the one that computes; else an MPI that takes addresses of devices; else by way of
the host's memory. All processes choose the same. Not here: requests of MPI (messages.py), what NCCL is told
(csrc/gpu/nccl.c), several devices of one process (team.py).
"""

from __future__ import annotations

import atexit
import ctypes
import weakref
from typing import Any, NamedTuple

from .. import _core, _cuda
from .._check import choice
from .._core import lib
from .._ranks import Ranks
from ..errors import ArgumentError, DeviceError, Error
from ..limits import device_number
from .messages import function_of_mpi

#: What transport= of all methods may be between processes.
WORDS = ("auto", "host", "mpi", "nccl")


class Connection:
    """The devices of all processes, connected by NCCL: made once for a communicator of the user's.

    It ends with that communicator, or with the process. NCCL may wait for the other processes of a machine
    then, so that it must not end whenever a process happens to collect its garbage.
    """

    def __init__(self, ranks: Ranks, device: str) -> None:
        def named() -> bytes:
            room = _core.new("char[]", lib.UNDA_NCCL_ID_BYTES)
            _core.check(lib.unda_nccl_new_id(room))
            return bytes(_core.buffer(room, lib.UNDA_NCCL_ID_BYTES))

        name = ranks.first("NCCL", named)
        number = device_number(device)

        def make(out: Any) -> int:
            return int(lib.unda_nccl_new(out, number, name, ranks.size, ranks.rank))

        self.handle = ranks.connected("NCCL", lambda: _core.new_object("unda_nccl", make, lib.unda_nccl_free))
        _living.add(self)

    def free(self) -> None:
        """Free it."""
        _core.release(self.handle)


_living: weakref.WeakSet[Connection] = weakref.WeakSet()
_keys: list[int] = []  # of the attribute of communicators that has their connections


@atexit.register
def _free_all() -> None:
    for one in list(_living):
        one.free()


class Way(NamedTuple):
    """How messages of a solver travel: unda_transport, and the connection by NCCL, if it is that."""

    number: int
    connection: Connection | None = None

    def put(self, given: Any) -> None:
        """Set it in unda_ranks."""
        given.transport = self.number
        if self.connection is not None:
            given.nccl = self.connection.handle


def _bus(device: str) -> str:
    info = _core.new_struct("unda_device_info")
    _core.check(lib.unda_device_get_info(device_number(device), info))
    return _core.text(info.bus)


def _need_nccl(ranks: Ranks, device: str) -> None:
    """Raise, in all processes alike, if they cannot use NCCL."""
    _cuda.prepare()
    lack = bus = ""
    try:
        _core.check(lib.unda_nccl_find(_core.new("int32_t *")))
        bus = _bus(device)
    except Error as error:
        lack = str(error)
    lacks = ranks.comm.allgather(lack)
    first = next((rank for rank, one in enumerate(lacks) if one), None)
    if first is not None:
        raise DeviceError(lack or f"process {first}: {lacks[first]}")
    buses = ranks.of_machine(bus)
    doubled = ranks.comm.allgather(len(set(buses)) < len(buses))
    if True in doubled:
        raise ArgumentError(
            f"transport is 'nccl' and process {doubled.index(True)} shares its device with another one, "
            "which NCCL refuses; expected one process a device, or transport='host'"
        )


def _connection(ranks: Ranks, device: str) -> Connection:
    """Return the connection of a communicator's processes with these devices; made at the first call."""
    from mpi4py import MPI

    _need_nccl(ranks, device)
    if not _keys:
        _keys.append(MPI.Comm.Create_keyval())
    made: Any = ranks.given.Get_attr(_keys[0])
    if made is None:
        made = {}
        ranks.given.Set_attr(_keys[0], made)
    devices = tuple(ranks.comm.allgather(device))
    if devices not in made:
        made[devices] = Connection(ranks, device)
    found: Connection = made[devices]
    return found


def knows_devices() -> bool | None:
    """Return whether the library of MPI takes addresses of CUDA devices; None if it does not say."""
    address = function_of_mpi("MPIX_Query_cuda_support")  # of Open MPI and MPICH
    return None if address is None else bool(ctypes.CFUNCTYPE(ctypes.c_int)(address)())


def choose_way(asked: Any, device: str, ranks: Ranks) -> Way:
    """Return how messages travel; all processes call it, and raise together.

    Parameters
    ----------
    asked : {"auto", "host", "mpi", "nccl"}
    device : str
        Of this process.
    ranks : Ranks

    Raises
    ------
    ArgumentError
        Another word, not the same in all processes; "nccl" on the CPU, or two processes on one device.
    DeviceError
        What is asked for is not there.
    """
    word = WORDS[choice("transport", asked, WORDS)]
    ranks.meet("transport")
    words = ranks.comm.allgather(word)
    other = next((rank for rank, one in enumerate(words) if one != words[0]), 0)
    if other:
        raise ArgumentError(
            f"transport is {words[0]!r} in process 0 and {words[other]!r} in process {other}, expected the "
            "same in all"
        )
    if device == "cpu":
        if word == "nccl":
            raise ArgumentError("transport is 'nccl' on the CPU, expected CUDA devices, or 'auto'")
        return Way(lib.UNDA_TRANSPORT_AUTO)
    if word == "nccl" or (word == "auto" and ranks.size > 1):
        try:
            return Way(lib.UNDA_TRANSPORT_NCCL, _connection(ranks, device))
        except (ArgumentError, DeviceError) as lack:  # in all processes; a driver that is too old, too
            if word == "nccl":
                raise
            _core.logger.info("messages do without NCCL: %s", lack)
    if word != "host":
        knows = ranks.comm.allgather(knows_devices())
        if word == "mpi" and False in knows:
            raise DeviceError(
                "transport is 'mpi', but MPI says that it takes no addresses of CUDA devices; expected an "
                "Open MPI that was built with CUDA, or transport='nccl' or 'host'"
            )
        if word == "mpi" or all(knows):
            return Way(lib.UNDA_TRANSPORT_MPI)
    return Way(lib.UNDA_TRANSPORT_HOST)
