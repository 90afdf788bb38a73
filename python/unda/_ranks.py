"""Processes that share a problem: what they tell each other outside of a stage, and how they fail together.

Every process makes the same calls in the same order. Each call ends by meeting: if one process fails, all
raise what it has found. Not here: processes that end (_rank_end.py), messages of a stage
(method/messages.py), what travels then (csrc/solver/exchange.h).
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from . import _core, errors
from ._rank_end import WATCH, word
from .errors import ArgumentError, Error

_Found = TypeVar("_Found")


def _told(error: BaseException) -> tuple[str, str]:
    return type(error).__name__, str(error)


def _of_another(rank: int, name: str, message: str) -> Error:
    """Return what another process has raised, of the same class where it is unda's."""
    kind: Any = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, Error):
        return kind(f"process {rank}: {message}")
    return Error(f"process {rank} failed: {name}: {message}")


class Ranks:
    """The processes of a communicator of mpi4py.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        It is duplicated: messages of the user's own do not meet those of a simulation.

    Attributes
    ----------
    comm : mpi4py.MPI.Intracomm
    rank, size : int
    """

    def __init__(self, comm: Any) -> None:
        try:
            from mpi4py import MPI
        except ImportError:
            raise ArgumentError("comm= needs mpi4py: pip install 'unda-waves[mpi]'") from None
        if not isinstance(comm, MPI.Intracomm):
            raise ArgumentError(f"comm is {comm!r}, expected a communicator such as MPI.COMM_WORLD of mpi4py")
        self._mpi: Any = MPI
        self._failure: BaseException | None = None  # of a callback, which cannot raise
        earlier = WATCH.earlier(comm)
        if earlier is not None:
            self._take(earlier)
            self.meet("comm=")
        self._take(WATCH.begin(comm))
        self.given = comm

    def _take(self, comm: Any) -> None:
        self.comm, self.rank, self.size = comm, int(comm.rank), int(comm.size)

    # ---- meeting ----

    def meet(self, what: str, error: BaseException | None = None) -> None:
        """Wait for all processes; raise if one has failed, or is in another call."""
        mine = np.array([word(what), error is not None], np.int64)
        found = np.empty((self.size, 2), np.int64)
        self.comm.Iallgather(mine, found).Wait()  # a process that ends takes part and does not wait
        failed = np.flatnonzero(found[:, 1])
        if len(failed):
            first = int(failed[0])
            told = self.comm.bcast(_told(error) if error is not None else None, root=first)
            raise _met(error if error is not None else _of_another(first, *told))
        if (found[:, 0] != found[0, 0]).any():
            names = self.comm.allgather(what)
            other = next(i for i, name in enumerate(names) if name != names[0])
            raise _met(
                ArgumentError(
                    f"process 0 is in {names[0]!r}, process {other} in {names[other]!r}; expected the same "
                    "calls of a simulation in every process, in the same order"
                )
            )

    def together(self, what: str, work: Callable[[], _Found]) -> _Found:
        """Do what every process does, and return what it gave here; raise in all if it failed in one."""
        try:
            found = work()
        except BaseException as error:
            cause, self._failure = self._failure or error, None
            if not getattr(cause, "_unda_met", False):
                self.meet(what, cause)
            if cause is error:
                raise
            raise cause from None
        self.meet(what)
        return found

    def connected(self, what: str, work: Callable[[], _Found], seconds: float = 30.0) -> _Found:
        """As `together`, of work in which processes wait for each other, but not by MPI.

        If it fails in one process and another one has not come back after some seconds, all end.
        """
        failure: BaseException | None = None
        try:
            found = work()
        except BaseException as error:
            failure = error
        all_back, end = self.comm.Ibarrier(), time.monotonic() + seconds
        while failure is not None and not all_back.Test():
            if time.monotonic() > end:
                self.end(failure)
            time.sleep(0.01)
        all_back.Wait()
        self.meet(what, failure)
        return found

    def first(self, what: str, work: Callable[[], _Found]) -> _Found:
        """Return in every process what process 0 finds."""
        found = self.together(what, lambda: work() if self.rank == 0 else None)
        return self.comm.bcast(found, root=0)  # type: ignore[no-any-return]

    def is_of(self, comm: Any) -> bool:
        """Return whether these are the processes of a communicator."""
        return comm is self or self._mpi.Comm.Compare(comm, self.comm) in (
            self._mpi.IDENT,
            self._mpi.CONGRUENT,
        )

    @cached_property
    def _beside(self) -> tuple[int, int]:
        """Number of this process among those of its machine; its CPU threads."""
        host = self.comm.Split_type(self._mpi.COMM_TYPE_SHARED)
        allowed = sorted(os.sched_getaffinity(0))
        sharing = host.allgather(allowed).count(allowed)
        place = int(host.rank)
        host.Free()
        return place, max(1, len(allowed) // sharing)

    def of_machine(self, value: Any) -> list[Any]:
        """Return what each process of this machine gives."""
        host = self.comm.Split_type(self._mpi.COMM_TYPE_SHARED)
        found: list[Any] = host.allgather(value)
        host.Free()
        return found

    @property
    def place(self) -> int:
        """Number of this process among those of its machine."""
        return self._beside[0]

    @property
    def threads(self) -> int:
        """CPU threads of this process: its share of the cores that it has together with others."""
        return self._beside[1]

    def same(self, what: str, *values: Any) -> None:
        """Raise in all processes if one has other values: arrays, bytes, or what repr() tells."""
        digest = hashlib.sha256()
        for value in values:
            array = isinstance(value, np.ndarray)
            digest.update(
                value.tobytes() if array else value if isinstance(value, bytes) else repr(value).encode()
            )
        self.meet(f"the same {what}")
        found = self.comm.allgather(digest.digest())
        other = next((i for i, one in enumerate(found) if one != found[0]), 0)
        if other:
            raise _met(
                ArgumentError(
                    f"{what} of process {other} are others than those of process 0, expected the same"
                )
            )

    # ---- numbers ----

    def least(self, value: float) -> float:
        """Return the least value of all processes."""
        self.meet("least")
        return float(self.comm.allreduce(value, op=self._mpi.MIN))

    def most(self, value: float) -> float:
        """Return the largest value of all processes."""
        return -self.least(-value)

    def united(self, array: np.ndarray) -> np.ndarray:
        """Return an array whose rows are 0 but in one process, with all of them."""
        self.meet("united")
        whole = np.array(array, order="C")  # of which reshape makes a view
        self._or([whole.reshape(-1).view(np.uint8), self._mpi.BYTE])
        return whole

    def _or(self, data: Any) -> None:
        self.comm.Allreduce(self._mpi.IN_PLACE, data, op=self._mpi.BOR)

    def gathered(self, rows: np.ndarray, places: np.ndarray, num: int) -> np.ndarray | None:
        """Return in process 0 an array of num rows, to which each process gives those of its places."""
        self.meet("gathered")
        if self.rank:
            self.comm.send((rows.shape, rows.dtype.str), dest=0)
            self._send(np.ascontiguousarray(places), 0)
            self._send(np.ascontiguousarray(rows), 0)
            return None
        whole = np.empty((num, *rows.shape[1:]), rows.dtype)
        whole[places] = rows
        for rank in range(1, self.size):
            shape, kind = self.comm.recv(source=rank)
            theirs = np.empty(shape[0], np.int64)
            self._receive(theirs, rank)
            part = np.empty(shape, np.dtype(kind))
            self._receive(part, rank)
            whole[theirs] = part
        return whole

    def _send(self, array: np.ndarray, rank: int) -> None:
        """Send an array by pieces: libraries of messages count in 32 bits."""
        raw = array.reshape(-1).view(np.uint8)
        for at in range(0, len(raw), 2**30):
            self.comm.Send(raw[at : at + 2**30], dest=rank)

    def _receive(self, array: np.ndarray, rank: int) -> None:
        raw = array.reshape(-1).view(np.uint8)
        for at in range(0, len(raw), 2**30):
            self.comm.Recv(raw[at : at + 2**30], source=rank)

    def scattered(self, arrays: Callable[[int], np.ndarray] | None) -> np.ndarray:
        """Return in each process the array that process 0 makes for it; one is made at a time."""
        self.meet("scattered")
        if self.rank == 0:
            assert arrays is not None
            return self.together("scattered", lambda: self._scatter(arrays))
        shape, kind = self.comm.recv(source=0)
        array = np.empty(shape or 0, np.dtype(kind))
        self._receive(array, 0)
        self.meet("scattered")
        return array

    def _scatter(self, arrays: Callable[[int], np.ndarray]) -> np.ndarray:
        rank = 1
        try:
            while rank < self.size:
                array = np.ascontiguousarray(arrays(rank))
                self.comm.send((array.shape, array.dtype.str), dest=rank)
                self._send(array, rank)
                rank += 1
            return arrays(0)
        except BaseException:
            for left in range(rank, self.size):
                self.comm.send((None, "u1"), dest=left)  # they hear of it when all meet
            raise

    # ---- the library ----

    @cached_property
    def unite(self) -> Any:
        """The function of unda_ranks; it lives as long as this object."""

        def unite(_: Any, num: int, at: Any) -> int:
            try:
                self.meet("united values")
                if num:
                    self._or([_core.buffer(at, num), num, self._mpi.BYTE])
            except BaseException as error:
                self._failure = error
                return 1
            return 0

        return _core.callback("int32_t(void *, int64_t, void *)", unite)

    def end(self, error: BaseException) -> None:
        """End all processes if the others do not know of an error: they wait for messages of a stage."""
        if self._failure is not None:
            return
        print(f"unda: process {self.rank} of {self.size}: {error}", file=sys.stderr, flush=True)
        self.comm.Abort(1)

    def __repr__(self) -> str:
        return f"process {self.rank} of {self.size}"


def _met(error: BaseException) -> BaseException:
    """Mark an error that all processes know of."""
    error._unda_met = True  # type: ignore[attr-defined]
    return error
