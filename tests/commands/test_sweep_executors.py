"""A sweep gives its cases to any executor: same order, failures and cache, and a lost worker costs one case.

Not here: Dask's (test_sweep_dask.py), MPI's (test_sweep_mpi.py), a sweep's own workers (test_sweep.py).
"""

import os
import pickle
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest
import sweep_cases
import unda
from unda import _sweep_workers
from unda.method import _run_control


class Elsewhere(Executor):
    """Calls go through pickle, and an equal call is answered with the same future, as by Dask.

    The first `held` calls are run together, later ones as they come. A lost worker takes with it the call
    that waited behind the one to blame; if it ends `for_good`, all that wait, and no other call is taken.
    """

    def __init__(self, held=1, for_good=False, folder=None):
        self.held, self.for_good, self.folder = held, for_good, folder
        self.calls, self.queue, self.broken = {}, [], False

    def submit(self, *call):
        if self.broken:
            raise BrokenExecutor("no worker is left")
        call = pickle.dumps(call)
        if call not in self.calls:
            self.calls[call] = Future()
            self.queue.append(call)
            if len(self.queue) == self.held:
                self.held = 1
                self.work()
        return self.calls[call]

    def work(self):
        while self.queue:
            call = self.queue.pop(0)
            function, of_user, case, device, cache, ticket = pickle.loads(call)
            if cache is not None:
                assert cache.folder.is_absolute()
                cache = replace(cache, folder=self.folder or cache.folder)
            try:
                self.calls[call].set_result(function(of_user, case, device, cache, ticket))
            except sweep_cases.WorkerLost:
                self.broken = self.for_good
                lost, self.queue[:] = self.queue[: None if self.broken else 1], self.queue[1:]
                for one in (call, *lost):
                    self.calls[one].set_exception(BrokenExecutor("its worker has ended"))
                self.queue[:] = [] if self.broken else self.queue


def cases(folder, num=5):
    return [{"folder": str(folder), "i": i} for i in range(num)]


def times_run(folder, num=5):
    return [len(path.read_text()) if (path := folder / f"ran_{i}").exists() else 0 for i in range(num)]


def test_a_lost_worker_costs_its_case_and_not_what_waited_behind_it(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(_run_control.Cases, "update", lambda self, n: shown.append(n))
    results = unda.sweep(sweep_cases.lose_on_one, cases(tmp_path), executor=Elsewhere(held=5))
    assert [r.value for r in results] == [0, None, 4, 9, 16]
    assert [r.case["i"] for r in results] == list(range(5))
    assert "its worker has ended" in results[1].error and results.failures == [results[1]]
    assert times_run(tmp_path) == [1, 2, 1, 1, 1]  # the one to blame once more, alone
    assert sum(shown) == 5


def test_workers_that_end_for_good_leave_what_was_finished_and_say_why_the_rest_is_not(tmp_path):
    executor = Elsewhere(held=5, for_good=True)
    results = unda.sweep(sweep_cases.lose_on_one, cases(tmp_path), executor=executor, cache=tmp_path / "kept")
    assert [r.value for r in results] == [0, None, None, None, None]
    assert all("no worker is left" in r.error for r in results.failures)
    again = unda.sweep(sweep_cases.lose_on_one, cases(tmp_path), executor=executor, cache=tmp_path / "kept")
    assert [r.cached for r in again] == [True, False, False, False, False] and len(again.failures) == 4


def test_a_case_that_cannot_be_sent_is_a_failure_of_its_own():
    given = [{"value": 1}, {"value": threading.Lock()}, {"value": 2}]
    results = unda.sweep(sweep_cases.given, given, executor=Elsewhere())
    assert [r.value for r in results] == [1, None, 2] and "cannot pickle" in results[1].error


def test_equal_cases_are_two_cases(tmp_path):
    results = unda.sweep(sweep_cases.note, cases(tmp_path, 1) * 2, executor=Elsewhere())
    assert [r.value for r in results] == [0, 0] and times_run(tmp_path, 1) == [2]


@pytest.mark.parametrize("there", [False, True])
def test_values_of_machines_that_do_not_share_the_folder_are_kept(tmp_path, monkeypatch, there):
    """They may have one of that name all the same, whose values nobody sees here."""
    other = tmp_path / "other"
    if there:
        other.mkdir()
    monkeypatch.chdir(tmp_path)
    for cached in (False, True):
        results = unda.sweep(
            sweep_cases.note, cases(tmp_path, 3), executor=Elsewhere(folder=other), cache="kept"
        )
        assert [(r.value, r.cached) for r in results] == [(0, cached), (1, cached), (4, cached)]
    assert times_run(tmp_path, 3) == [1, 1, 1] and len(list((tmp_path / "kept").iterdir())) == 3


def test_a_value_that_was_lost_after_it_was_kept_is_not_computed_again(tmp_path):
    """Dask repeats calls whose values went with their worker; so does a sweep."""

    class Repeats(Elsewhere):
        def submit(self, *call):
            super().submit(*call[:-1], "another ticket").result()
            return super().submit(*call)

    results = unda.sweep(sweep_cases.note, cases(tmp_path, 2), executor=Repeats(), cache=tmp_path / "kept")
    assert [r.value for r in results] == [0, 1] and times_run(tmp_path, 2) == [1, 1]
    unda.sweep(sweep_cases.note, cases(tmp_path, 2), executor=Repeats())
    assert times_run(tmp_path, 2) == [3, 3]  # nothing says here that it is the same


def test_ctrl_c_drops_what_waits_and_leaves_the_executor_open(tmp_path):
    class Interrupted(Elsewhere):
        def submit(self, *call):
            if len(self.calls) == 3:
                raise KeyboardInterrupt
            return super().submit(*call)

        def shutdown(self, wait=True, **options):
            raise AssertionError("it is the user's")

    executor = Interrupted(held=1000)
    with pytest.raises(KeyboardInterrupt):
        unda.sweep(sweep_cases.note, cases(tmp_path), executor=executor)
    assert [future.cancelled() for future in executor.calls.values()] == [True] * 3


def test_workers_elsewhere_are_told_their_first_device_or_the_one_named(monkeypatch):
    def told(given, **options):
        return unda.sweep(sweep_cases.told, given, executor=Elsewhere(), **options)[0].value

    monkeypatch.setenv("UNDA_DEVICE", "cuda:7")
    assert told([{}]) == "cuda:7"
    assert told([{}], devices="cpu") == told([{}], devices=["cpu"]) == "cpu"
    assert told([{"device": "mine"}]) == "mine"


def test_threads_have_a_device_each_and_any_function():
    together = threading.Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        results = unda.sweep(
            lambda i, device: (together.wait(timeout=600) >= 0, i, device),
            [{"i": i} for i in range(4)],
            devices=["cuda:0", "cuda:1"],
            executor=threads,
        )
        assert threads.submit(int).result() == 0  # still open
    assert [r.value[1] for r in results] == list(range(4))
    assert sorted(r.value[2] for r in results) == ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]


def test_a_pool_of_processes_that_breaks_is_replaced_by_one_like_it(monkeypatch):
    """One process for all that waited, not one for each; with the pool's start and its share of the cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    given = [{"i": i} for i in (1, 3, 5, 6)]
    with ProcessPoolExecutor(1, get_context("spawn"), sweep_cases.begin, ("mine",)) as pool:
        results = unda.sweep(sweep_cases.die_on_three, given, executor=pool)
    assert [r.case for r in results] == given and results.failures == [results[1]]
    assert "BrokenProcessPool" in results[1].error
    values = [results[k].value for k in (0, 2, 3)]
    assert [value[0] for value in values] == [1, 5, 6]
    assert values[0][1] != values[1][1] == values[2][1]
    assert {value[2:] for value in values} == {("mine", str(len(os.sched_getaffinity(0))))}
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": 3}, r"executor is 3, expected .* client.get_executor\(\)"),
        ({"executor": Elsewhere(), "workers": 2}, "workers is 2, but Elsewhere has"),
        ({"executor": Elsewhere(), "devices": ["cuda:0", "cuda:1"]}, "CUDA_VISIBLE_DEVICES"),
        ({"executor": Elsewhere(), "devices": "tpu"}, "device is"),
    ],
)
def test_what_does_not_fit_an_executor_is_refused(options, words):
    with pytest.raises(unda.ArgumentError, match=words):
        unda.sweep(sweep_cases.note, [], **options)


def test_functions_that_processes_cannot_find_are_refused(monkeypatch):
    """A fork finds what a notebook has defined before it."""

    def of_a_notebook():
        return 1

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.raises(unda.ArgumentError, match="Dask's"):
            unda.sweep(lambda: 1, [{}], executor=pool)
        monkeypatch.delattr("__main__.__file__", raising=False)
        of_a_notebook.__module__, of_a_notebook.__qualname__ = "__main__", "run"
        with pytest.raises(unda.ArgumentError, match="'run' cannot be found by another process"):
            unda.sweep(of_a_notebook, [{}], executor=pool)
    _sweep_workers._check_importable(of_a_notebook, "fork")
