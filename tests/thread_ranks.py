"""Processes that share a problem as threads of one process: without MPI, with the library's own messages.

`run(num, work)` calls work(ranks) in so many threads, where ranks is what `unda.FD` takes as `comm`.

Not here: processes of MPI (rank_cases.py).
"""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
from unda import _core
from unda._core import lib
from unda._ranks import Ranks
from unda.method import messages

SECONDS = 60  # nothing here takes longer, unless a thread waits for one that has failed


class _Comm:
    """What Ranks takes of a communicator of mpi4py."""

    def __init__(self, rank, slots, barrier, box):
        self.rank, self.size, self.box = rank, len(slots), box
        self._slots, self._barrier = slots, barrier

    def allgather(self, one):
        self._slots[self.rank] = one
        self._barrier.wait(SECONDS)
        found = list(self._slots)
        self._barrier.wait(SECONDS)
        return found

    def bcast(self, one, root=0):
        return self.allgather(one)[root]

    def allreduce(self, one, op):
        return op(self.allgather(one))

    def Iallgather(self, one, found):
        found[:] = self.allgather(one.copy())
        return SimpleNamespace(Wait=lambda: None)

    def Allreduce(self, _, data, op):
        array = np.frombuffer(data[0], np.uint8)
        array[:] = op(self.allgather(array.copy()))

    def send(self, one, dest):
        self.box[self.rank, dest].put(one)

    def recv(self, source):
        return self.box[source, self.rank].get(timeout=SECONDS)

    def Send(self, array, dest):
        self.send(array.copy(), dest)

    def Recv(self, array, source):
        array[:] = self.recv(source)

    def abort(self):
        self._barrier.abort()


class ThreadRanks(Ranks):
    """One of so many threads."""

    def __init__(self, comm):
        self.given = self.comm = comm
        self.rank, self.size, self._failure = comm.rank, comm.size, None
        self._mpi = SimpleNamespace(MIN=min, BOR=np.bitwise_or.reduce, IN_PLACE=None, BYTE=None)

    threads = 1
    place = 0

    def end(self, error):
        self.comm.abort()


class _Messages:
    """Of a solver in a thread, in place of requests of MPI."""

    transport = "mpi"

    def __init__(self, solver, ranks):
        member = _core.new_struct("unda_member")
        solver.call(lib.unda_solver_get_member, 0, member)
        self._all = []
        for which in range(member.num_neighbor):
            one = _core.new_struct("unda_message")
            solver.call(lib.unda_solver_get_message, which, one)
            views = (
                np.frombuffer(_core.buffer(at, one.num_byte), np.uint8) for at in (one.send, one.receive)
            )
            self._all.append((int(one.rank), *views))
        comm, self._kept = ranks.comm, np.zeros(8, np.uint8)

        def start(num, request):
            for rank, sent, _ in self._all:
                comm.send(sent.copy(), rank)
            return 0

        def wait(num, request, status):
            for rank, _, received in self._all:
                received[:] = comm.recv(rank)
            return 0

        self._start = _core.callback("int32_t(int32_t, void *)", start)
        self._wait = _core.callback("int32_t(int32_t, void *, void *)", wait)
        given = _core.new_struct(
            "unda_requests", num=len(self._all), request=_core.as_pointer(self._kept.ctypes.data),
            status=_core.as_pointer(self._kept.ctypes.data), start=self._start, wait=self._wait,
        )  # fmt: skip
        solver.call(lib.unda_solver_set_requests, given)

    def free(self):
        pass


def run(num, work):
    """What work(ranks) returns in each of so many threads; its first exception, if any."""
    slots, barrier = [None] * num, threading.Barrier(num)
    box = {(a, b): queue.Queue() for a in range(num) for b in range(num)}
    plain, messages.Messages = messages.Messages, _Messages

    def thread(rank):
        ranks = ThreadRanks(_Comm(rank, slots, barrier, box))
        try:
            return work(ranks)
        except BaseException:
            barrier.abort()
            raise

    try:
        with ThreadPoolExecutor(num) as pool:
            parts = [pool.submit(thread, rank) for rank in range(num)]
        errors = [one.exception() for one in parts if one.exception() is not None]
        for error in sorted(errors, key=lambda one: isinstance(one, threading.BrokenBarrierError))[:1]:
            raise error
        return [one.result() for one in parts]
    finally:
        messages.Messages = plain
