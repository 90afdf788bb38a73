"""Messages of a stage: persistent requests of MPI, which the library starts and waits for itself.

The library is given the addresses of MPI_Startall and MPI_Waitall, as mpi4py has loaded them, and copies of
its handles: no line of Python runs in a stage. Not here: what travels (csrc/solver/exchange.h).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import _core
from .._core import lib
from .._ranks import Ranks
from ..errors import Error

_TAG = 77  # traces at cut faces


def function_of_mpi(name: str) -> int | None:
    """Return the address of a function of the library of MPI that mpi4py uses; None if it has none."""
    from mpi4py import MPI

    for path in (MPI.__file__, None):  # found among what it has loaded, or in the whole process
        try:
            found = ctypes.cast(getattr(ctypes.CDLL(path), name), ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
        if found:
            return found
    return None


def _function(name: str) -> int:
    found = function_of_mpi(name)
    if found is None:
        from mpi4py import MPI

        raise Error(f"{name} is not among the functions of {MPI.Get_library_version().strip()!r}")
    return found


class Messages:
    """The messages of one solver, which must end before its communicator does.

    Parameters
    ----------
    solver : Solver
    ranks : Ranks
    """

    def __init__(self, solver: Any, ranks: Ranks) -> None:
        from mpi4py import MPI

        member = _core.new_struct("unda_member")
        solver.call(lib.unda_solver_get_member, 0, member)
        self.transport = _core.text(member.transport)
        self._requests: list[Any] = []
        if self.transport == "nccl":  # the library needs nobody else
            return
        for which in range(int(member.num_neighbor)):
            message = _core.new_struct("unda_message")
            solver.call(lib.unda_solver_get_message, which, message)
            send, receive = (
                MPI.buffer.fromaddress(_core.address(at), int(message.num_byte))
                for at in (message.send, message.receive)
            )
            self._requests.append(ranks.comm.Recv_init([receive, MPI.BYTE], int(message.rank), _TAG))
            self._requests.append(ranks.comm.Send_init([send, MPI.BYTE], int(message.rank), _TAG))
        # Handles of persistent requests stay the same when they are started and complete.
        handles = b"".join(
            ctypes.string_at(MPI._addressof(one), MPI._sizeof(MPI.Request)) for one in self._requests
        )
        self._handles = np.frombuffer(bytearray(handles.ljust(8, b"\0")), np.uint8)
        self._statuses = np.zeros(max(1, len(self._requests)) * MPI._sizeof(MPI.Status), np.uint8)
        given = _core.new_struct(
            "unda_requests",
            num=len(self._requests),
            request=_core.as_pointer(self._handles.ctypes.data),
            status=_core.as_pointer(self._statuses.ctypes.data),
            start=_core.as_function("int32_t(*)(int32_t, void *)", _function("MPI_Startall")),
            wait=_core.as_function("int32_t(*)(int32_t, void *, void *)", _function("MPI_Waitall")),
        )
        solver.call(lib.unda_solver_set_requests, given)

    def free(self) -> None:
        """Free the requests."""
        from mpi4py import MPI

        if not MPI.Is_finalized():
            for one in self._requests:
                one.Free()
        self._requests = []
