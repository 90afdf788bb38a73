"""Many runs of one function: threads over GPUs, processes over CPUs, finished cases kept on disk.

Not here: what a run does (dg.py).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from . import _core
from .errors import ArgumentError
from .limits import choose_device, device_number, num_devices

__all__ = ["Results", "SweepResult", "sweep"]


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
        """Those that failed."""
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


def _told(value: Any) -> str:
    """Tell a value apart from any other that JSON cannot hold."""
    try:
        return f"{type(value).__qualname__} {hashlib.sha256(pickle.dumps(value)).hexdigest()}"
    except Exception as error:
        raise ArgumentError(
            f"{value!r} cannot be told from others, so cache= cannot be used: {error}"
        ) from None


def _key(function: Callable[..., Any], case: Mapping[str, Any]) -> str:
    """Hash of a case and of the function's text."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = ""
    name = f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"
    told = json.dumps(case, sort_keys=True, default=_told)
    return hashlib.sha256("\0".join([name, text, told]).encode()).hexdigest()[:32]


def _load(path: Path | None) -> tuple[bool, Any]:
    """Return whether there is a finished value, and the value."""
    if path is None or not path.is_file():
        return False, None
    try:
        return True, pickle.loads(path.read_bytes())
    except Exception as error:  # a damaged file is a miss
        _core.logger.warning("%s cannot be read (%s); the case runs again", path, error)
        return False, None


def _store(path: Path | None, value: Any) -> None:
    if path is None:
        return
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    partial.write_bytes(pickle.dumps(value))
    partial.replace(path)


def _call(function: Callable[..., Any], case: dict[str, Any], device: str | None) -> tuple[Any, str | None]:
    """Run one case; a failure is its traceback."""
    try:
        more = {"device": device} if device is not None and "device" not in case else {}
        return function(**case, **more), None
    except (Exception, SystemExit):
        return None, traceback.format_exc()


@contextmanager
def _omp_threads(num: int) -> Iterator[None]:
    """Give processes started meanwhile so many OpenMP threads."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(num)
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


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
) -> Results:
    """Call ``function(**case)`` for every case, several at a time.

    Parameters
    ----------
    function : callable
        One run. If it has a parameter ``device``, it is told where to run. On CPUs it must stand at
        the top of a file (new processes import it), which in a script calls `sweep` below
        ``if __name__ == "__main__":``.
    cases : iterable of dict
        Keywords of each call.
    devices : "all", "cpu" or sequence of str
        "all": every CUDA device, one thread each, or the CPU where there is none.
    workers : int, optional
        Cases at a time; on CPUs, processes with cores / workers threads each (by default one process
        for each core), on GPUs one for each device.
    cache : str or Path, optional
        Folder of finished values. A case that is there, with the same text of the function, is not
        run again; an interrupted sweep goes on where it stopped.

    Returns
    -------
    Results
        A list of `SweepResult` in the order of the cases; failures are in it, not raised.

    Raises
    ------
    ArgumentError
        If a case is no dict, or a process cannot find the function.
    KeyboardInterrupt
        After Ctrl-C; finished cases are in the cache.

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
    folder = None if cache is None else Path(cache)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{_key(function, case)}.pkl" if folder else None for case in listed]
    results = Results(SweepResult(case) for case in listed)
    for result, file in zip(results, files, strict=True):
        result.cached, result.value = _load(file)
    left = [i for i, result in enumerate(results) if not result.cached]
    if not left:
        return results
    run = _on_cpus if places == ["cpu"] else _on_gpus
    run(function, results, files, left, places, workers)
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


def _gather(
    pool: Executor, futures: dict[Future[Any], int], results: Results, files: list[Path | None]
) -> list[int]:
    """Take results as they come; on an interruption drop what has not begun.

    Returns the cases that ended with a process, which need not be their own fault.
    """
    fell = []
    try:
        for future in as_completed(futures):
            i = futures[future]
            try:
                results[i].value, results[i].error = future.result()
            except Exception as error:  # the process died, or the value cannot be sent
                if isinstance(error, BrokenExecutor):
                    fell.append(i)
                results[i].error = traceback.format_exc()
            if results[i].error is None:
                _store(files[i], results[i].value)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    return fell


def _on_cpus(
    function: Callable[..., Any], results: Results, files: list[Path | None], left: list[int],
    places: list[str], workers: int | None,
) -> None:  # fmt: skip
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    _check_importable(function)
    cores = len(os.sched_getaffinity(0))
    num = min(workers or cores, len(left))
    device = "cpu" if _takes_device(function) else None
    with _omp_threads(max(1, cores // num)), ProcessPoolExecutor(num, get_context("spawn")) as pool:
        futures = {pool.submit(_call, function, results[i].case, device): i for i in left}
        fell = _gather(pool, futures, results, files)
        for i in sorted(fell) if len(left) > 1 else []:  # each alone: a dead process takes only its own case
            with ProcessPoolExecutor(1, get_context("spawn")) as alone:
                _gather(alone, {alone.submit(_call, function, results[i].case, device): i}, results, files)


def _on_gpus(
    function: Callable[..., Any], results: Results, files: list[Path | None], left: list[int],
    places: list[str], workers: int | None,
) -> None:  # fmt: skip
    free: SimpleQueue[str] = SimpleQueue()
    num = min(workers or len(places), len(left))
    for i in range(num):
        free.put(places[i % len(places)])
    told = _takes_device(function)

    def call(case: dict[str, Any]) -> tuple[Any, str | None]:
        place = free.get()
        try:
            return _call(function, case, place if told else None)
        finally:
            free.put(place)

    with ThreadPoolExecutor(num) as pool:
        _gather(pool, {pool.submit(call, results[i].case): i for i in left}, results, files)
