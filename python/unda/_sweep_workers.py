"""Where the cases of a sweep run: threads and processes of its own or a user's executor; lost workers.

Not here: collecting results (sweep.py).
"""

from __future__ import annotations

import inspect
import math
import os
import sys
import threading
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._parallel import environment
from ._sweep_cache import Cache
from .errors import ArgumentError
from .limits import choose_device, device_number, num_devices

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Outcome = tuple[Any, str | None, str | None]  # value, traceback, why it is not kept


def run_case(
    function: Callable[..., Any], case: dict[str, Any], device: str | None, cache: Cache | None, ticket: str
) -> Outcome:
    """Run one case in its worker; keep its value, or the traceback of a failure or of Ctrl-C there alone.

    No two calls have the same ticket: Dask answers a call that equals another one with the other's result, so
    that a case whose worker was lost could not be repeated. A value that is kept already was lost after its
    end, with its worker.
    """
    kept, value = (False, None) if cache is None else cache.load(case)
    if kept:
        return value, None, None
    try:
        more = {} if device is None or "device" in case else {"device": choose_device(device)}
        value = function(**case, **more)
    except (Exception, SystemExit, KeyboardInterrupt):
        return None, traceback.format_exc(), None
    return value, None, None if cache is None else cache.keep(case, value)


def _run_on_dask(*given: Any) -> Outcome:
    """Run one case; pack its value: of one that cannot be sent or read Dask's executor would never report."""
    from distributed.protocol import pickle

    value, error, complaint = run_case(*given)
    try:
        return pickle.dumps(value), error, complaint
    except Exception:
        return pickle.dumps(None), traceback.format_exc(), complaint


def lost_worker(error: Exception) -> bool:
    """Say whether a case ended because its worker did, which may be the fault of another case."""
    distributed = sys.modules.get("distributed")  # loaded if Dask has sent the error
    return isinstance(error, (BrokenExecutor, getattr(distributed, "KilledWorker", BrokenExecutor)))


@dataclass(frozen=True)
class Workers:
    """An executor, and how cases are given to it.

    Attributes
    ----------
    executor : Executor
    device : str or None
        What cases are told; None if the function has no such parameter.
    call : callable
        `run_case`, or what chooses a device before it, or packs its value.
    """

    executor: Executor
    device: str | None
    call: Callable[..., Outcome] = run_case

    @property
    def most(self) -> float:
        """Cases that are handed out at a time.

        A pool of processes takes some more than it runs, and these can no longer be dropped.
        """
        pool = self.executor
        return _size(pool) if isinstance(pool, futures.ProcessPoolExecutor) else math.inf

    def begin(
        self, function: Callable[..., Any], case: dict[str, Any], cache: Cache | None
    ) -> Future[Outcome]:
        """Hand out one case."""
        return self.executor.submit(self.call, function, case, self.device, cache, uuid.uuid4().hex)

    def outcome(self, future: Future[Outcome]) -> Outcome:
        """Return the outcome of a case that has ended, or raise what ended its worker."""
        value, error, complaint = future.result()
        if self.call is _run_on_dask:
            from distributed.protocol import pickle

            value = pickle.loads(value)
        return value, error, complaint

    def suspects(self, fell: list[int]) -> list[int]:
        """Return which of the cases lost with a worker may be to blame, in the order of their beginning.

        A pool that loses one process loses all of its cases; those that ran, one a process, came first.
        """
        pool = self.executor
        return fell[: _size(pool)] if isinstance(pool, futures.ProcessPoolExecutor) else fell

    @contextmanager
    def again(self, num: int | None = None) -> Iterator[Workers]:
        """Give workers for cases after the loss: the same, but new processes, as many as before or `num`."""
        if not isinstance(self.executor, futures.ProcessPoolExecutor):
            yield self
            return
        with _pool_like(self.executor, num or _size(self.executor)) as pool:
            yield replace(self, executor=pool)


def _size(pool: ProcessPoolExecutor) -> int:
    return int(getattr(pool, "_max_workers"))  # noqa: B009  Python has no public name for it


def _pool_like(pool: ProcessPoolExecutor, num: int) -> ProcessPoolExecutor:
    """Return a new pool made as another one, which broke and will not take any case."""
    limit = getattr(pool, "_max_tasks_per_child", None)  # from Python 3.11 on
    more: dict[str, Any] = {} if limit is None else {"max_tasks_per_child": limit}
    return futures.ProcessPoolExecutor(num, pool._mp_context, pool._initializer, pool._initargs, **more)


def places_of(
    function: Callable[..., Any], executor: Executor | None, devices: str | Sequence[str], workers: int | None
) -> list[str]:
    """Return the devices among which cases are distributed here; of workers elsewhere what each is told."""
    if executor is not None and not isinstance(executor, Executor):
        raise ArgumentError(
            f"executor is {executor!r}, expected a concurrent.futures.Executor: ProcessPoolExecutor(4), "
            "mpi4py's MPIPoolExecutor(), client.get_executor() of a Dask client, .."
        )
    if workers is not None and workers < 1:
        raise ArgumentError(f"workers is {workers}, expected 1 or more")
    if workers is not None and executor is not None:
        raise ArgumentError(f"workers is {workers}, but {_name(executor)} has its own: leave workers out")
    elsewhere = executor is not None and not isinstance(executor, ThreadPoolExecutor)
    if devices == "all":
        if elsewhere:
            return ["auto"]
        if choose_device() == "cpu":
            return ["cpu"]
        return [f"cuda:{i}" for i in range(num_devices())]
    places = [devices] if isinstance(devices, str) else list(devices)
    for place in places:
        device_number(place)
    if not places or ("cpu" in places and places != ["cpu"]):
        raise ArgumentError(f"devices is {devices!r}, expected 'all', 'cpu' or CUDA devices")
    if elsewhere and len(places) > 1:
        raise ArgumentError(
            f"devices is {devices!r}, but the workers of {_name(executor)} do not know of each other: give "
            "each one device with CUDA_VISIBLE_DEVICES, and leave devices out"
        )
    if places != ["cpu"] and not _takes_device(function):
        raise ArgumentError(
            f"devices is {devices!r}, but {_name_of(function)} has no parameter `device` that would say "
            "which one a case is to use: add it and give it to the simulation, or leave devices out"
        )
    return places


def _name(executor: Any) -> str:
    return type(executor).__name__


def _name_of(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or repr(function))


@contextmanager
def open_workers(
    executor: Executor | None, function: Callable[..., Any], places: list[str], num: int | None, num_case: int
) -> Iterator[Workers]:
    """Give the workers of a sweep; those of its own end with it, a user's executor is left open."""
    device = places[0] if _takes_device(function) else None
    if executor is None and places == ["cpu"]:
        from multiprocessing import get_context

        _check_importable(function, "spawn")
        cores = len(os.sched_getaffinity(0))
        num = min(num or cores, num_case)
        # a function without the parameter `device` has the CPU too
        with (
            environment({"OMP_NUM_THREADS": str(max(1, cores // num)), "UNDA_DEVICE": "cpu"}),
            futures.ProcessPoolExecutor(num, get_context("spawn"), initializer=_begin_process) as pool,
        ):
            yield Workers(pool, device)
    elif executor is None:
        with ThreadPoolExecutor(min(num or len(places), num_case)) as threads:
            yield Workers(threads, device, _in_turn(places))
    elif isinstance(executor, ThreadPoolExecutor):
        yield Workers(executor, device, _in_turn(places))
    else:
        with _prepared(executor, function):
            dask = type(executor).__module__.startswith("distributed.")
            yield Workers(executor, device, _run_on_dask if dask else run_case)


@contextmanager
def _prepared(executor: Executor, function: Callable[..., Any]) -> Iterator[None]:
    """Check that the workers of a user's executor find a function; give processes their share of cores."""
    share: Any = nullcontext()
    if isinstance(executor, futures.ProcessPoolExecutor):
        context: Any = executor._mp_context
        _check_importable(function, context.get_start_method())
        if "OMP_NUM_THREADS" not in os.environ:
            cores = len(os.sched_getaffinity(0))
            share = environment({"OMP_NUM_THREADS": str(max(1, cores // _size(executor)))})
    elif type(executor).__module__.startswith("mpi4py."):
        _check_importable(function, "spawn")
    with share:
        yield


def _in_turn(places: list[str]) -> Callable[..., Outcome]:
    """Return what runs a case in a thread, on the device that has the fewest."""
    running = [0] * len(places)
    lock = threading.Lock()

    def call(function: Any, case: Any, device: str | None, cache: Cache | None, ticket: str) -> Outcome:
        with lock:
            at = running.index(min(running))
            running[at] += 1
        try:
            return run_case(function, case, None if device is None else places[at], cache, ticket)
        finally:
            with lock:
                running[at] -= 1

    return call


def _takes_device(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a built-in function Python may not know them
        return False
    return any(p.name == "device" or p.kind is p.VAR_KEYWORD for p in parameters)


def _check_importable(function: Callable[..., Any], start: str) -> None:
    """Refuse what another process cannot find: lambdas, inner functions; notebooks' unless it is a fork."""
    name = getattr(function, "__qualname__", "")
    main = sys.modules["__main__"]
    lost = function.__module__ == "__main__" and not hasattr(main, "__file__") and start != "fork"
    if lost or "<" in name:
        raise ArgumentError(
            f"{name or function!r} cannot be found by another process, which is told only its name: define "
            "it at the top of a file and import it, or take an executor that sends functions whole, as Dask's"
        )


def _begin_process() -> None:
    """End this process with the one that started it, whatever ended that."""
    from multiprocessing import connection, parent_process

    parent = parent_process()

    def watch() -> None:
        assert parent is not None
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="unda sweep: the parent", daemon=True).start()
