"""How a process of MPI that ends alone ends all: else the others would wait for it for ever.

Calls in which processes wait for each other begin and end by meeting, and so does the end of a program: a
process that ends learns of others that are in a call. Not here: failures within a call (_ranks.py). What no
process can see, because the others wait in calls of MPI of the user's own, `python -m mpi4py job.py` ends.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import zlib
from typing import Any

import numpy as np

_NOTICE_TAG = 20_077  # in MPI.COMM_WORLD: a process has failed before it had a simulation with others
_END = "the end of the program"
_PAUSE = 1e-3  # [s] between two looks
_WORD = 2**31 - 1  # names of calls are compared as numbers


def word(what: str) -> int:
    """Return the number by which processes compare the names of calls."""
    return zlib.crc32(what.encode()) & _WORD


def _mpi() -> Any:
    """Return mpi4py.MPI if it can be used; None if nobody has loaded it, or it is over."""
    found = sys.modules.get("mpi4py.MPI")
    return found if found is not None and found.Is_initialized() and not found.Is_finalized() else None


class _Watch:
    """The communicators whose processes wait for each other, and the process that has them."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._comms: list[Any] = []
        self._failed: set[int] = set()  # processes of MPI.COMM_WORLD that have sent a notice
        self._before = sys.excepthook
        sys.excepthook = self._hook

    def _alive(self) -> Any:
        return _mpi() if os.getpid() == self._process else None  # not in a fork

    # ---- beginning

    def earlier(self, comm: Any) -> Any:
        """Return a communicator that the processes of another one share already; None if there is none."""
        mpi = _mpi()
        alike = mpi.IDENT, mpi.CONGRUENT
        return next((one for one in self._comms if mpi.Comm.Compare(comm, one) in alike), None)

    def begin(self, comm: Any) -> Any:
        """Return a communicator's duplicate, which is watched; ends all if a process has failed before."""
        mpi = _mpi()
        group, world = comm.Get_group(), mpi.COMM_WORLD.Get_group()
        all_here = comm.Ibarrier()
        while not all_here.Test():
            status = mpi.Status()
            while mpi.COMM_WORLD.Iprobe(tag=_NOTICE_TAG, status=status):
                mpi.COMM_WORLD.Recv([None, mpi.BYTE], source=status.source, tag=_NOTICE_TAG)
                self._failed.add(status.source)
            for rank in sorted(self._failed):
                if mpi.Group.Translate_ranks(world, [rank], group)[0] != mpi.UNDEFINED:
                    self._end(mpi, f"process {rank} of MPI.COMM_WORLD has failed, comm= would wait for it")
            time.sleep(_PAUSE)
        group.Free()
        world.Free()
        own = comm.Dup()
        if own.size > 1:
            if not self._comms:
                atexit.register(self._leave)
            self._comms.append(own)
        return own

    # ---- ending

    def _hook(self, kind: Any, value: Any, trace: Any) -> None:
        """Tell of an exception that ends this process, and end all, or tell those that may wait for it."""
        self._before(kind, value, trace)
        mpi = self._alive()
        if mpi is None:
            return
        if self._comms:
            sys.stderr.flush()
            mpi.COMM_WORLD.Abort(1)
        world = mpi.COMM_WORLD
        others = (rank for rank in range(world.size) if rank != world.rank)
        self._sent = [world.Isend([None, mpi.BYTE], dest=rank, tag=_NOTICE_TAG) for rank in others]

    def _leave(self) -> None:
        """Wait until all processes end, and end them if one is in a call that this one will never make."""
        mpi = self._alive()
        if mpi is None:
            return
        mine = np.array([word(_END), 0], np.int64)
        every = [(comm, np.empty((comm.size, 2), np.int64)) for comm in self._comms]
        meetings = [comm.Iallgather(mine, found) for comm, found in every]
        while not all([one.Test() for one in meetings]):  # a list: each is given its turn
            time.sleep(_PAUSE)
        for _, found in every:
            others = np.flatnonzero(found[:, 0] != mine[0])
            if len(others):
                self._end(mpi, f"it has ended, while process {others[0]} waits for it in another call")

    def _end(self, mpi: Any, why: str) -> None:
        world = mpi.COMM_WORLD
        print(f"unda: process {world.rank} of {world.size}: {why}", file=sys.stderr, flush=True)
        world.Abort(1)


WATCH = _Watch()
