"""Sweeps on a Dask cluster: workers that are killed, functions of notebooks, Ctrl-C. Needs distributed.

Not here: what all executors have in common (test_sweep_executors.py).
"""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import sweep_cases
import unda

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread; a call whose worker dies once is given up, not after four times."""
    import dask

    here = os.path.dirname(sweep_cases.__file__)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(sys.path.insert, 0, here)
        client.register_plugin(AddPath(here))
        yield client


class AddPath(distributed.WorkerPlugin):
    """What new workers begin with."""

    def __init__(self, folder):
        self.folder = folder

    def setup(self, worker):
        sys.path.insert(0, self.folder)


def cases(folder, num):
    return [{"folder": str(folder), "i": i} for i in range(num)]


def test_order_failures_cache_and_devices_are_those_of_any_sweep(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    executor = client.get_executor()
    given = [{"degree": n} for n in (1, 2, 4, 5, 1)]
    for cached in (False, True):
        results = unda.sweep(sweep_cases.fail_on_two, given, executor=executor, cache="kept")
        assert [r.value for r in results] == [1, None, None, 5, 1]
        assert [r.cached for r in results] == [cached, False, False, cached, cached]
        assert "no twos" in results[1].error and "SystemExit" in results[2].error
    runs = unda.sweep(sweep_cases.run, [{"degree": 1}, {"degree": 2}], executor=executor)
    assert [r.value[0] for r in runs] == [sweep_cases.run(degree)[0] for degree in (1, 2)]
    assert all(r.value[1] != os.getpid() and r.value[2:] == (1, "cpu") for r in runs)


def test_a_worker_killed_by_its_case_costs_that_case(client):
    given = [{"degree": n} for n in (1, 3, 5, 6, 7, 8)]
    results = unda.sweep(sweep_cases.fail_on_two, given, executor=client.get_executor())
    assert [r.value for r in results] == [1, None, 5, 6, 7, 8]
    assert "KilledWorker" in results[1].error


def test_a_worker_killed_from_outside_costs_nothing(client, tmp_path):
    """Its case runs once more, and what it had finished is kept."""

    def kill():
        sweep_cases.wait_for(tmp_path / "pid_0")
        os.kill(int((tmp_path / "pid_0").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    results = unda.sweep(sweep_cases.wait_the_first_time, cases(tmp_path, 4), executor=client.get_executor())
    killer.join()
    assert [r.value for r in results] == [0, 1, 2, 3] and results.failures == []


def test_what_cannot_be_sent_is_a_failure_of_its_own(client):
    """Of a value that cannot be read Dask's executor says nothing, for ever."""
    executor = client.get_executor()
    results = unda.sweep(sweep_cases.unsendable, [{"i": i} for i in range(3)], executor=executor)
    assert [r.value for r in results] == [0, None, 2] and "cannot pickle" in results[1].error
    given = [{"value": 1}, {"value": threading.Lock()}, {"value": 2}]
    results = unda.sweep(sweep_cases.given, given, executor=executor)
    assert [r.value for r in results] == [1, None, 2] and "serialize" in results[1].error


def test_functions_of_a_notebook_are_sent(client):
    factor = 3
    results = unda.sweep(lambda i: factor * i, [{"i": 1}, {"i": 2}], executor=client.get_executor())
    assert [r.value for r in results] == [3, 6]


SCRIPT = """
import os, sys, time, signal, unda
from distributed import Client, LocalCluster

def slow(folder, i):
    open(os.path.join(folder, f"ran_{i}"), "w").close()
    time.sleep(0.2)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = sys.argv[1]
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            cases = [{"folder": folder, "i": i} for i in range(100)]
            try:
                unda.sweep(slow, cases, executor=client.get_executor(), cache=folder + "/kept")
            except KeyboardInterrupt:
                open(os.path.join(folder, "stopped"), "w").close()
            print(client.submit(lambda: "the cluster goes on").result())
"""


@pytest.mark.slow
def test_ctrl_c_drops_what_waits_and_the_cluster_goes_on(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    script = subprocess.Popen(
        [sys.executable, tmp_path / "script.py", tmp_path], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    sweep_cases.wait_for(tmp_path / "ran_3")  # now it only waits
    for _ in range(20):  # Dask looks at the collection of garbage, and Ctrl-C just there is ignored
        script.send_signal(signal.SIGINT)
        time.sleep(2)
        if (tmp_path / "stopped").exists():
            break
    said, _ = script.communicate(timeout=120)
    assert said.strip() == "the cluster goes on" and (tmp_path / "stopped").exists()
    assert 4 <= len(list(tmp_path.glob("ran_*"))) < 50
