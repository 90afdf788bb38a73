"""Many runs of one function: on GPUs, CPUs or a user's executor, finished cases stored on disk.

Not here: the workers (_sweep_workers.py), what a run does (dg.py).
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from ._check import choice, flag
from ._sweep_cache import STORES, Cache, identity_of
from ._sweep_workers import Outcome, Workers, lost_worker, open_workers, places_of
from .errors import ArgumentError, UndaWarning, warn
from .method._run_control import Cases


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

    @property
    def message(self) -> str | None:
        """The exception of a failure, and the first line of what it says; None if there was none."""
        if self.error is None:
            return None
        lines = self.error.strip().splitlines() or [""]
        calls = [i for i, line in enumerate(lines) if line.startswith('  File "')]
        after = lines[calls[-1] + 1 :] if calls else lines[-1:]
        return next((line for line in after if line[:1].strip()), lines[-1])


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
            rows.append([*row, result.message or ""])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        return "\n".join(
            "  ".join([*(cell.rjust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        from .io.html import results

        return results(self)

    def to_dataframe(self) -> Any:
        """Return the cases and their values as a table of pandas, a row each; needs pandas.

        Returns
        -------
        pandas.DataFrame
            Columns: the keywords of the cases; "value", or the keys of values that are dicts ("value_KEY"
            where a keyword has the name); "error", the `message` of a failure, None of others.
            What a case has not is missing (NaN).

        Examples
        --------
        >>> results.to_dataframe().pivot(index="degree", columns="cells", values="misfit")  # doctest: +SKIP
        """
        from .io.labelled import cases

        return cases(self)

    def plot(self, x: str, y: str = "value", hue: str | None = None, *, log: str = "", ax: Any = None,
             **matplotlib: Any) -> Any:  # fmt: skip
        """Draw a column of the table over another one.

        Parameters
        ----------
        x, y : str
            Keywords of the cases, or keys of values that are dicts; "value" is a value that is a number.
            Text along x has a place each.
        hue : str, optional
            The keyword or key that tells curves apart; each of its values has a colour, in the order of the
            cases.
        log : {"", "x", "y", "xy"}
            Which axes are logarithmic.
        ax : matplotlib.axes.Axes, optional
            Where; a new figure by default.
        **matplotlib
            For ``ax.plot``: marker, linestyle, ...

        Returns
        -------
        matplotlib.axes.Axes
            One curve through the means of cases with the same x, and a marker for each case. Cases that
            failed, or have no such x or y, are not drawn; the title says how many.

        Raises
        ------
        ArgumentError
            If no case has these columns, or y is not a number.
        ImportError
            Without matplotlib: ``pip install 'unda-waves[plot]'``.

        Examples
        --------
        >>> import unda
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> def power(x, n):
        ...     return x**n
        >>> cases = [{"x": x, "n": n} for n in (1, 2) for x in (1.0, 2.0, 4.0)]
        >>> with ThreadPoolExecutor(2) as executor:
        ...     results = unda.sweep(power, cases, executor=executor)
        >>> results.plot(x="x", y="value", hue="n", log="xy").get_xlabel()
        'x'
        """
        from .io.study_plot import plot_results

        return plot_results(self, x, y, hue, log, ax, matplotlib)


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def sweep(
    function: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    *,
    devices: str | Sequence[str] = "all",
    workers: int | None = None,
    executor: Executor | None = None,
    cache: str | Path | None = None,
    cache_key: str | None = None,
    store: str = "pickle",
    progress: bool | None = None,
    on_result: Callable[[SweepResult], Any] | None = None,
) -> Results:
    """Call ``function(**case)`` for every case, several at a time.

    Parameters
    ----------
    function : callable
        One run. If it has a parameter ``device``, it gets the device; where CUDA devices are named, it must
        have one. On CPUs it must be defined at the top level of a file (new processes import it); a script
        then calls `sweep` below ``if __name__ == "__main__":``.
    cases : iterable of dict
        Keywords of each call.
    devices : "all", "cpu" or sequence of str
        "all": every CUDA device, one thread each, or the CPU where there is none. With an `executor` of other
        processes every worker uses the first CUDA device that it sees, or its CPU, or the one named here.
    workers : int, optional
        Cases at a time; on CPUs, processes with cores / workers threads each (by default one process
        for each core), on GPUs one for each device. An `executor` has its own.
    executor : concurrent.futures.Executor, optional
        Runs the cases instead of new processes and threads, on other machines too: ``client.get_executor()``
        of Dask, ``mpi4py.futures.MPIPoolExecutor()``, ``ProcessPoolExecutor(4)``, ``ThreadPoolExecutor(4)``.
        It stays open. docs/sweeps.md says what each needs, on Slurm too.
    cache : str or Path, optional
        Folder of finished values. A case found there is not run again if the file that defines the function,
        unda, and the types and values of the case are unchanged: an interrupted sweep continues where it
        stopped. Changes in other files that the function uses are not detected, and in notebooks only those
        in its own text: see `cache_key`. Cases with damaged files are run again; values that cannot be
        written (a full disk) remain in the results, and this is reported once. Workers on other machines need
        not see the folder.
    cache_key : str, optional
        Replaces the function's file and unda in this comparison: values belong to this text and the case.
    store : {"pickle", "json", "npz"}
        How values are stored. Pickles hold any value, and run code when they are read: use only folders
        that nobody else may write to. JSON (numbers, text, lists, dicts with text as keys) and NPZ (a NumPy
        array, or a dict of them) run none.
    progress : bool, optional
        Show a bar with the cases done and the time left; by default on a terminal and in notebooks, elsewhere
        a line per minute in the log.
    on_result : callable, optional
        Is called with each `SweepResult` as its case ends, in the thread that called `sweep`, those from the
        cache first. What it raises ends the sweep, as Ctrl-C does. `iter_sweep` is the same as a loop.

    Returns
    -------
    Results
        A list of `SweepResult` in the order of the cases; failures are contained in it, not raised.

    Raises
    ------
    ArgumentError
        If a case is not a dict, a process cannot find the function, changes of the function or of a case
        cannot be detected (see `cache_key`), `workers` or `devices` do not fit the `executor`, or the
        function has no parameter for the devices named.
    KeyboardInterrupt
        After Ctrl-C; finished cases are in the cache.

    Warns
    -----
    UndaWarning
        Once, if values cannot be stored.

    Notes
    -----
    Processes end with the one that started them, even if it was killed; finished cases are stored.

    A case whose worker is lost (killed, out of memory) is a failure; what else was lost with the worker runs
    again. Where it cannot be seen which case is to blame, each that may be runs once more, alone.

    Examples
    --------
    >>> results = unda.sweep(run, [{"degree": 3}, {"degree": 4}], cache="runs")  # doctest: +SKIP
    >>> print(results.table())  # doctest: +SKIP

    On workers of one's own, here threads:

    >>> import unda
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def energy(degree):
    ...     mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
    ...     with unda.DG(mesh, unda.Acoustic(rho=1, c=1), degree=degree, device="cpu", threads=1) as sim:
    ...         sim.set(p=1.0)
    ...         return sim.energy()
    >>> with ThreadPoolExecutor(2) as executor:
    ...     print(unda.sweep(energy, [{"degree": 1}, {"degree": 2}], executor=executor).table())
    degree  value
         1    0.5
         2    0.5
    """
    if on_result is not None and not callable(on_result):
        raise ArgumentError(f"on_result is {on_result!r}, expected a function of a SweepResult")
    job, left = _prepare(function, cases, devices, workers, executor, cache, cache_key, store, progress)
    with closing(job.stream(left)) as stream:
        for result in stream:
            if on_result is not None:
                on_result(result)
    return job.results


def iter_sweep(
    function: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    *,
    devices: str | Sequence[str] = "all",
    workers: int | None = None,
    executor: Executor | None = None,
    cache: str | Path | None = None,
    cache_key: str | None = None,
    store: str = "pickle",
    progress: bool | None = None,
) -> Iterator[SweepResult]:
    """Give the results of a sweep as cases end, in whatever order that is.

    Parameters
    ----------
    function, cases, devices, workers, executor, cache, cache_key, store, progress
        As for `sweep`.

    Yields
    ------
    SweepResult
        Each case once, those from the cache first; failures too. Cases begin with the first of them. Whoever
        leaves the loop drops the cases that have not begun.

    Raises
    ------
    ArgumentError, KeyboardInterrupt
        As `sweep`; the first at once.

    See Also
    --------
    sweep : all results at the end, in the order of the cases.

    Examples
    --------
    >>> import unda
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as executor:
    ...     cases = [{"x": x} for x in range(5)]
    ...     sorted(one.value for one in unda.iter_sweep(lambda x: x * x, cases, executor=executor))
    [0, 1, 4, 9, 16]
    """
    job, left = _prepare(function, cases, devices, workers, executor, cache, cache_key, store, progress)
    return job.stream(left)


def _prepare(
    function: Callable[..., Any],
    cases: Iterable[Mapping[str, Any]],
    devices: str | Sequence[str],
    workers: int | None,
    executor: Executor | None,
    cache: str | Path | None,
    cache_key: str | None,
    store: str,
    progress: bool | None,
) -> tuple[_Job, list[int]]:
    """Return a sweep that is checked and has what the cache knows, and the numbers of the cases left."""
    if not callable(function):
        raise ArgumentError(f"function is {function!r}, expected one that takes the keywords of a case")
    listed = []
    for case in cases:
        if not isinstance(case, Mapping):
            raise ArgumentError(f"case {len(listed)} is {case!r}, expected a dict of keywords")
        listed.append(dict(case))
    places = places_of(function, executor, devices, workers)
    progress = None if progress is None else flag("progress", progress)
    choice("store", store, STORES)
    if cache_key is not None and not isinstance(cache_key, str):
        raise ArgumentError(f"cache_key is {cache_key!r}, expected a string")
    kept = None
    if cache is not None:
        # workers elsewhere have another current folder
        kept = Cache(Path(cache).absolute(), store, identity_of(function, cache_key))
        kept.folder.mkdir(parents=True, exist_ok=True)
    results = Results(SweepResult(case) for case in listed)
    if kept is not None:
        for result in results:
            result.cached, result.value = kept.load(result.case)
    left = [i for i, result in enumerate(results) if not result.cached]
    return _Job(function, results, kept, executor, places, workers, progress), left


@dataclass
class _Job:
    """A sweep; what `stream` yields it has done with."""

    function: Callable[..., Any]
    results: Results
    cache: Cache | None
    executor: Executor | None
    places: list[str]
    workers: int | None
    progress: bool | None
    complained: bool = False

    def stream(self, left: list[int]) -> Generator[SweepResult, None, None]:
        """Yield what the cache had, then run the cases left and yield each as it ends."""
        yield from [result for result in self.results if result.cached]
        if not left:
            return
        with (
            Cases(len(left), self.progress) as shown,
            open_workers(self.executor, self.function, self.places, self.workers, len(left)) as team,
        ):
            for i in self._run(team, left):
                shown.update(1)
                yield self.results[i]

    def _run(self, team: Workers, cases: list[int]) -> Iterator[int]:
        """Run cases; of those that a lost worker takes with it each that may be to blame once more, alone."""
        fell = yield from self._gather(team, cases)
        while fell and len(cases) > 1:
            suspects = team.suspects(fell)
            for i in suspects:
                with team.again(1) as one:
                    yield from (yield from self._gather(one, [i]))
            fell = fell[len(suspects) :]
            if fell:
                with team.again() as others:
                    fell = yield from self._gather(others, fell)
        yield from fell

    def _gather(self, team: Workers, cases: list[int]) -> Generator[int, None, list[int]]:
        """Start cases and yield those that end; after an interruption drop the cases not yet started.

        Returns the cases that ended with their worker, which need not be their own fault.
        """
        fell: list[int] = []
        futures: dict[Future[Outcome], int] = {}
        ended: SimpleQueue[Future[Outcome]] = SimpleQueue()
        waiting, done = deque(cases), deque[int]()
        try:
            while waiting or futures or done:
                if waiting and len(futures) < team.most:
                    i = waiting.popleft()
                    try:
                        future = team.begin(self.function, self.results[i].case, self.cache)
                    except Exception as error:  # a case before has broken it, or this one cannot be sent
                        (fell if self._fail(i, error) else done).append(i)
                        continue
                    futures[future] = i
                    future.add_done_callback(ended.put)
                elif done:  # while whoever takes it is busy, workers have their next case
                    yield done.popleft()
                else:
                    future = _next(ended)
                    i = futures.pop(future)  # a value that nobody refers to leaves the memory of its worker
                    try:
                        outcome = team.outcome(future)
                    except Exception as error:  # the worker died, or the value cannot be sent
                        (fell if self._fail(i, error) else done).append(i)
                    else:
                        self._take(i, outcome)
                        done.append(i)
                    del future
        except BaseException:
            for future in futures:  # the end of `with` would override shutdown(cancel_futures=True)
                future.cancel()
            raise
        return sorted(fell)

    def _fail(self, i: int, error: Exception) -> bool:
        """Take over what kept a case from an outcome; True if it was lost with its worker."""
        self.results[i].error = "".join(traceback.format_exception(error))
        return lost_worker(error)

    def _take(self, i: int, outcome: Outcome) -> None:
        """Take over the outcome of a case, and store its value if the worker does not see the folder."""
        one = self.results[i]
        one.value, one.error, complaint = outcome
        if self.cache is not None and one.error is None:
            if complaint is not None or not self.cache.path(one.case).is_file():
                complaint = self.cache.keep(one.case, one.value)
            if complaint is not None and not self.complained:
                self.complained = True
                warn(f"values are not stored, the sweep continues without: {complaint}", UndaWarning)


def _next(ended: SimpleQueue[Future[Outcome]]) -> Future[Outcome]:
    """Return the next future that ended.

    The main thread looks up every half second: the system may hand Ctrl-C to another thread, and Python
    acts on it only when the main one runs.
    """
    while True:
        try:
            return ended.get(timeout=0.5)
        except Empty:
            pass
