"""Many runs of one function: threads over GPUs, processes over CPUs, finished cases stored on disk.

Not here: what a run does (dg.py).
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from ._check import choice, flag
from ._parallel import environment
from ._sweep_cache import STORES, Cache, identity_of
from .errors import ArgumentError, UndaWarning, warn
from .limits import choose_device, device_number, num_devices
from .method._run_control import Cases

_Outcome = tuple[Any, str | None, str | None]  # value, traceback, why it is not kept


@dataclass
class SweepResult:
    """One case of a sweep.

    Attributes
    ----------
    case : dict
        The keywords of the call.
    value : object
        What the function returned; None if it failed.
    error : str or None
        Traceback of a failure.
    cached : bool
        Whether the value was found in the cache.
    """

    case: dict[str, Any]
    value: Any = None
    error: str | None = None
    cached: bool = False


class Results(list[SweepResult]):
    """Results in the order of the cases."""

    @property
    def failures(self) -> list[SweepResult]:
        """The cases that failed."""
        return [result for result in self if result.error is not None]

    def table(self) -> str:
        """Return the cases and their values as text, one line each; a value that is a dict has columns."""
        keys = list(dict.fromkeys(key for result in self for key in result.case))
        values = [r.value if isinstance(r.value, Mapping) else {"value": r.value} for r in self]
        names = list(dict.fromkeys(key for r, value in zip(self, values, strict=True)
                                   if r.error is None for key in value))  # fmt: skip
        rows = [[*keys, *names, ""]]
        for result, value in zip(self, values, strict=True):
            failed = result.error is not None
            row = [str(result.case.get(key, "")) for key in keys]
            row += ["" if failed or key not in value else _short(value[key]) for key in names]
            rows.append([*row, (result.error or "").strip().rpartition("\n")[2]])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        return "\n".join(
            "  ".join([*(cell.rjust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
            for row in rows
        )


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _call(
    function: Callable[..., Any], case: dict[str, Any], device: str | None, cache: Cache | None
) -> _Outcome:
    """Run one case; keep its value, or the traceback of a failure or of Ctrl-C in this process alone."""
    try:
        more = {"device": device} if device is not None and "device" not in case else {}
        value = function(**case, **more)
    except (Exception, SystemExit, KeyboardInterrupt):
        return None, traceback.format_exc(), None
    return value, None, None if cache is None else cache.keep(case, value)


def _begin_worker() -> None:
    """End this process with the one that started it, whatever ended that."""
    from multiprocessing import connection, parent_process

    parent = parent_process()

    def watch() -> None:
        assert parent is not None
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="unda sweep: the parent", daemon=True).start()


def _takes_device(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "device" or p.kind is p.VAR_KEYWORD for p in parameters)


def _check_importable(function: Callable[..., Any]) -> None:
    """Refuse what a new process cannot find: functions of notebooks, lambdas, inner functions."""
    name = getattr(function, "__qualname__", "")
    main = sys.modules["__main__"]
    lost = function.__module__ == "__main__" and not hasattr(main, "__file__")
    if lost or "<" in name:
        raise ArgumentError(
            f"{name or function!r} cannot be found by another process: define it at the top of a "
            "file and import it (a sweep over CPUs starts new processes)"
        )


def sweep(
    function: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    *,
    devices: str | Sequence[str] = "all",
    workers: int | None = None,
    cache: str | Path | None = None,
    cache_key: str | None = None,
    store: str = "pickle",
    progress: bool | None = None,
) -> Results:
    """Call ``function(**case)`` for every case, several at a time.

    Parameters
    ----------
    function : callable
        One run. If it has a parameter ``device``, it gets the device. On CPUs it must be defined at the
        top level of a file (new processes import it); a script then calls `sweep` below
        ``if __name__ == "__main__":``.
    cases : iterable of dict
        Keywords of each call.
    devices : "all", "cpu" or sequence of str
        "all": every CUDA device, one thread each, or the CPU where there is none.
    workers : int, optional
        Cases at a time; on CPUs, processes with cores / workers threads each (by default one process
        for each core), on GPUs one for each device.
    cache : str or Path, optional
        Folder of finished values. A case found there is not run again if the file that defines the function,
        unda, and the types and values of the case are unchanged: an interrupted sweep continues where it
        stopped. Changes in other files that the function uses are not detected, and in notebooks only those
        in its own text: see `cache_key`. Cases with damaged files are run again; values that cannot be
        written (a full disk) remain in the results, and this is reported once.
    cache_key : str, optional
        Replaces the function's file and unda in this comparison: values belong to this text and the case.
    store : {"pickle", "json", "npz"}
        How values are stored. Pickles hold any value, and run code when they are read: use only folders
        that nobody else may write to. JSON (numbers, text, lists, dicts with text as keys) and NPZ (a NumPy
        array, or a dict of them) run none.
    progress : bool, optional
        Show a bar with the cases done and the time left; by default on a terminal and in notebooks, elsewhere
        a line per minute in the log.

    Returns
    -------
    Results
        A list of `SweepResult` in the order of the cases; failures are contained in it, not raised.

    Raises
    ------
    ArgumentError
        If a case is not a dict, a process cannot find the function, or changes of the function or of a case
        cannot be detected (see `cache_key`).
    KeyboardInterrupt
        After Ctrl-C; finished cases are in the cache.

    Warns
    -----
    UndaWarning
        Once, if values cannot be stored.

    Notes
    -----
    Processes end with the one that started them, even if it was killed; finished cases are stored.

    Examples
    --------
    >>> from math import sqrt
    >>> results = unda.sweep(run, [{"degree": 3}, {"degree": 4}], cache="runs")  # doctest: +SKIP
    >>> print(results.table())  # doctest: +SKIP
    """
    listed = []
    for case in cases:
        if not isinstance(case, Mapping):
            raise ArgumentError(f"case {len(listed)} is {case!r}, expected a dict of keywords")
        listed.append(dict(case))
    if workers is not None and workers < 1:
        raise ArgumentError(f"workers is {workers}, expected 1 or more")
    places = _places(devices)
    progress = None if progress is None else flag("progress", progress)
    choice("store", store, STORES)
    if cache_key is not None and not isinstance(cache_key, str):
        raise ArgumentError(f"cache_key is {cache_key!r}, expected a string")
    kept = None
    if cache is not None:
        kept = Cache(Path(cache), store, identity_of(function, cache_key))
        kept.folder.mkdir(parents=True, exist_ok=True)
    results = Results(SweepResult(case) for case in listed)
    if kept is not None:
        for result in results:
            result.cached, result.value = kept.load(result.case)
    left = [i for i, result in enumerate(results) if not result.cached]
    if not left:
        return results
    run = _on_cpus if places == ["cpu"] else _on_gpus
    with Cases(len(left), progress) as shown:
        run(_Job(function, results, kept, shown), left, places, workers)
    return results


def _places(devices: str | Sequence[str]) -> list[str]:
    if devices == "all":
        if choose_device() == "cpu":
            return ["cpu"]
        return [f"cuda:{i}" for i in range(num_devices())]
    places = [devices] if isinstance(devices, str) else list(devices)
    for place in places:
        device_number(place)
    if not places or ("cpu" in places and places != ["cpu"]):
        raise ArgumentError(f"devices is {devices!r}, expected 'all', 'cpu' or CUDA devices")
    return places


@dataclass
class _Job:
    """A running sweep."""

    function: Callable[..., Any]
    results: Results
    cache: Cache | None
    shown: Cases
    complained: bool = False

    def gather(self, begin: Callable[[int], Future[_Outcome]], cases: list[int]) -> list[int]:
        """Start cases and collect results; after an interruption drop the cases not yet started.

        Returns the cases that ended with a process, which need not be their own fault.
        """
        fell = []
        futures: dict[Future[_Outcome], int] = {}
        ended: SimpleQueue[Future[_Outcome]] = SimpleQueue()
        try:
            for i in cases:
                future = begin(i)
                futures[future] = i
                future.add_done_callback(ended.put)
            for _ in futures:
                future = _next(ended)
                i, complaint = futures[future], None
                one = self.results[i]
                try:
                    one.value, one.error, complaint = future.result()
                except Exception as error:  # the process died, or the value cannot be sent
                    if isinstance(error, BrokenExecutor):
                        fell.append(i)
                    one.error = traceback.format_exc()
                if complaint is not None and not self.complained:
                    self.complained = True
                    warn(f"values are not stored, the sweep continues without: {complaint}", UndaWarning)
                self.shown.update(1)
        except BaseException:
            for future in futures:  # the end of `with` would override shutdown(cancel_futures=True)
                future.cancel()
            raise
        return fell


def _next(ended: SimpleQueue[Future[_Outcome]]) -> Future[_Outcome]:
    """Return the next future that ended.

    The main thread looks up every half second: the system may hand Ctrl-C to another thread, and Python
    acts on it only when the main one runs.
    """
    while True:
        try:
            return ended.get(timeout=0.5)
        except Empty:
            pass


def _on_cpus(job: _Job, left: list[int], places: list[str], workers: int | None) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    _check_importable(job.function)
    cores = len(os.sched_getaffinity(0))
    num = min(workers or cores, len(left))
    device = "cpu" if _takes_device(job.function) else None

    def processes(num: int) -> Executor:
        return ProcessPoolExecutor(num, get_context("spawn"), initializer=_begin_worker)

    def begin(pool: Executor, i: int) -> Future[_Outcome]:
        return pool.submit(_call, job.function, job.results[i].case, device, job.cache)

    with environment({"OMP_NUM_THREADS": str(max(1, cores // num))}), processes(num) as pool:
        fell = job.gather(partial(begin, pool), left)
        for i in sorted(fell) if len(left) > 1 else []:  # each alone: a process that dies loses one case
            with processes(1) as alone:
                job.gather(partial(begin, alone), [i])


def _on_gpus(job: _Job, left: list[int], places: list[str], workers: int | None) -> None:
    free: SimpleQueue[str] = SimpleQueue()
    num = min(workers or len(places), len(left))
    for i in range(num):
        free.put(places[i % len(places)])
    told = _takes_device(job.function)

    def call(case: dict[str, Any]) -> _Outcome:
        place = free.get()
        try:
            return _call(job.function, case, place if told else None, job.cache)
        finally:
            free.put(place)

    with ThreadPoolExecutor(num) as pool:
        job.gather(lambda i: pool.submit(call, job.results[i].case), left)
