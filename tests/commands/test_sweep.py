"""A sweep runs each case once, keeps what is done, and returns failures with their case."""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent import futures

import cuda_device
import numpy as np
import pytest
import sweep_cases
import unda
from unda import _sweep_cache

cuda_device.prepare()
HERE = os.path.dirname(sweep_cases.__file__)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, *sys.path]))


def test_cases_run_in_processes_of_their_own():
    results = unda.sweep(sweep_cases.run, [{"degree": n} for n in (1, 2, 1)], devices="cpu", workers=2)
    assert [r.case["degree"] for r in results] == [1, 2, 1]
    assert results[0].value[0] == results[2].value[0] > 0
    assert all(r.value[1] != os.getpid() for r in results)
    assert all(r.value[2] <= max(1, len(os.sched_getaffinity(0)) // 2) for r in results)
    assert results.failures == []


def test_every_method_on_a_mesh_is_the_same_in_a_process_of_its_own():
    given = [{"degree": 2, "kind": kind} for kind in ("tetrahedra", "hexahedra", "sem")]
    results = unda.sweep(sweep_cases.run, given, devices="cpu", workers=1)
    assert results.failures == []
    assert [r.value[0] for r in results] == [sweep_cases.run(**case)[0] for case in given]


@pytest.mark.first(2)
@pytest.mark.parametrize(("workers", "cases", "expected"), [(3, 3, 3), (3, 7, 3), (5, 2, 2), (1, 3, 1)])
def test_as_many_processes_as_workers_work_at_once(tmp_path, monkeypatch, workers, cases, expected):
    """Not fewer: the first ones wait for each other, and end in reverse order. Not more: a process each."""
    asked = []

    class Counted(futures.ProcessPoolExecutor):
        def __init__(self, num, *args, **options):
            asked.append(num)
            super().__init__(num, *args, **options)

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Counted)
    given = [{"folder": str(tmp_path), "i": i, "together": expected} for i in range(cases)]
    results = unda.sweep(sweep_cases.last_first, given, devices="cpu", workers=workers)
    assert results.failures == [] and asked == [expected]
    assert [r.value[0] for r in results] == [r.case["i"] for r in results] == list(range(cases))
    pids = [r.value[1] for r in results]
    assert len(set(pids[:expected])) == len(set(pids)) == expected and os.getpid() not in pids
    threads = max(1, len(os.sched_getaffinity(0)) // expected)
    assert {r.value[2] for r in results} == {str(threads)}
    assert {r.value[3] for r in results} == {"cpu"}  # `device="auto"` is the CPU there


def test_on_devices_as_many_threads_as_workers_work_at_once():
    """By default one for each device; each of its own."""

    def meet(i, device):
        together.wait(timeout=600)
        return i, device

    for workers, expected in ((None, ["cuda:0", "cuda:1"]), (4, ["cuda:0", "cuda:0", "cuda:1", "cuda:1"])):
        together = threading.Barrier(len(expected))
        cases = [{"i": i} for i in range(len(expected))]
        results = unda.sweep(meet, cases, devices=["cuda:0", "cuda:1"], workers=workers)
        assert results.failures == [] and [r.value[0] for r in results] == list(range(len(cases)))
        assert sorted(r.value[1] for r in results) == expected


@pytest.mark.gpu_or_stand_in
def test_on_devices_each_worker_is_told_its_own():
    results = unda.sweep(sweep_cases.run, [{"degree": n} for n in (1, 2)], devices=["cuda:0"])
    assert [r.value[3] for r in results] == ["cuda:0", "cuda:0"]
    assert results[0].value[1] == os.getpid()


def test_failures_come_back_with_their_case():
    results = unda.sweep(sweep_cases.fail_on_two, [{"degree": 1}, {"degree": 2}], devices="cpu", workers=1)
    assert results[0].value == 1
    (failure,) = results.failures
    assert failure.case == {"degree": 2} and "no twos" in failure.error
    assert "no twos" in results.table()


def test_the_table_has_a_column_for_each_part_of_a_case_and_of_a_value():
    results = unda.sweep(sweep_cases.parts, [{"degree": 1}, {"degree": 2}], devices="cpu", workers=1)
    assert [line.split() for line in results.table().splitlines()] == [
        ["degree", "half", "name"],
        ["1", "0.5", "one"],
        ["2", "ValueError:", "no", "twos"],
    ]


def test_a_failure_is_told_by_its_exception_though_it_has_many_lines():
    def run(n):
        if n:
            try:
                raise KeyError("before")
            except KeyError as error:
                raise ValueError("no room\n  living simulations:\nnone") from error

    with futures.ThreadPoolExecutor(1) as executor:
        results = unda.sweep(run, [{"n": 1}, {"n": 0}], executor=executor)
    assert [one.message for one in results] == ["ValueError: no room", None]
    assert (
        results[0].error.endswith("none\n")
        and "no room" in results.table()
        and "living" not in results.table()
    )


def test_one_process_that_dies_or_exits_leaves_the_others_alone():
    cases = [{"degree": n} for n in (1, 3, 4, 5, 6)]
    results = unda.sweep(sweep_cases.fail_on_two, cases, devices="cpu", workers=2)
    assert [r.value for r in results] == [1, None, None, 5, 6]
    assert "BrokenProcess" in results[1].error and "SystemExit" in results[2].error


def test_cases_are_told_apart_by_all_of_their_values(tmp_path):
    ones, other = np.ones(5000), np.ones(5000)
    other[2500] = 1 + 1e-15
    cases = [{"values": ones}, {"values": other}, {"values": ones.copy()}]
    for values in (ones, other):
        unda.sweep(sweep_cases.total, [{"values": values}], devices="cpu", workers=1, cache=tmp_path)
    assert len(list(tmp_path.glob("*.pkl"))) == 2
    results = unda.sweep(sweep_cases.total, cases, devices="cpu", workers=1, cache=tmp_path)
    assert [r.cached for r in results] == [True] * 3
    assert results[0].value == results[2].value != results[1].value


def test_a_process_that_dies_is_a_failure():
    results = unda.sweep(sweep_cases.fail_on_two, [{"degree": 3}], devices="cpu", workers=1)
    assert "BrokenProcessPool" in results[0].error


def test_finished_cases_are_not_run_again(tmp_path):
    cases = [{"folder": str(tmp_path), "i": i} for i in range(3)]
    options = {"devices": "cpu", "workers": 1, "cache": tmp_path / "cache"}
    first = unda.sweep(sweep_cases.note, cases[:2], **options)
    assert [r.cached for r in first] == [False, False]
    again = unda.sweep(sweep_cases.note, cases, **options)
    assert [r.cached for r in again] == [True, True, False]
    assert [r.value for r in again] == [0, 1, 4]
    assert [(tmp_path / f"ran_{i}").read_text() for i in range(3)] == ["x"] * 3
    damaged = next((tmp_path / "cache").iterdir())
    damaged.write_bytes(b"?")
    assert [r.value for r in unda.sweep(sweep_cases.note, cases, **options)] == [0, 1, 4]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"devices": "tpu"}, "device is"),
        ({"devices": []}, "devices is"),
        ({"devices": ["cuda:5"]}, "devices is .*cuda:5.*, but note has no parameter `device`"),
        ({"store": "yaml"}, "store is 'yaml'"),
        ({"cache_key": 3}, "cache_key is 3"),
        ({"progress": "no"}, "progress is 'no'"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(unda.ArgumentError, match=words):
        unda.sweep(sweep_cases.note, [], **options)


def test_what_a_process_cannot_find_is_refused():
    with pytest.raises(unda.ArgumentError, match="another process"):
        unda.sweep(lambda: 1, [{}], devices="cpu")
    with pytest.raises(unda.ArgumentError, match="function is 3, expected one that takes"):
        unda.sweep(3, [{"degree": 1}])
    with pytest.raises(unda.ArgumentError, match="case 0 is 3"):
        unda.sweep(sweep_cases.note, [3])


SCRIPT = """
import os, signal, sys, threading, unda, sweep_cases
from multiprocessing import resource_tracker

def see(*_):
    open(os.path.join(folder, "seen"), "w").close()
    raise KeyboardInterrupt

def give_the_signal_to_another_thread():
    "The main thread takes no SIGINT, so that the system gives it to this one."
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    resource_tracker.ensure_running()  # it would unblock the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

if __name__ == "__main__":
    folder, function = sys.argv[1:]
    signal.signal(signal.SIGINT, see)
    cases = [{"folder": folder, "i": i} for i in range(1000)]
    if function == "interrupt_the_sweep_beside_a_thread":
        give_the_signal_to_another_thread()
    function = getattr(sweep_cases, function.removesuffix("_beside_a_thread"))
    unda.sweep(function, cases, devices="cpu", workers=1, cache=folder + "/cache")
"""


def script(tmp_path, function):
    (tmp_path / "script.py").write_text(SCRIPT)
    return [sys.executable, tmp_path / "script.py", tmp_path, function]


@pytest.mark.parametrize("thread", ["", "_beside_a_thread"])
def test_interrupted_it_goes_on_where_it_stopped(tmp_path, thread):
    """Case 0 was kept before case 1 sent the signal, and case 1 ran; of the 998 others none begins.

    The system may give a signal to any thread; a main thread that only waits would not see it for good.
    """
    command = script(tmp_path, "interrupt_the_sweep" + thread)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert "KeyboardInterrupt" in done.stderr
    assert len(list((tmp_path / "cache").glob("*.pkl"))) == 2, done.stderr
    cases = [{"folder": str(tmp_path), "i": i} for i in range(2)]
    again = unda.sweep(sweep_cases.interrupt_the_sweep, cases, devices="cpu", cache=tmp_path / "cache")
    assert [r.cached for r in again] == [True, True]


def test_interrupted_while_cases_are_handed_out_the_rest_is_dropped(tmp_path, monkeypatch):
    """A process gets its next case when one has ended: Ctrl-C comes with the fifth, when four have."""

    class Interrupted(futures.ProcessPoolExecutor):
        num = 0

        def submit(self, *args, **options):
            self.num += 1
            if self.num > 4:
                raise KeyboardInterrupt
            return super().submit(*args, **options)

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Interrupted)
    cases = [{"value": i} for i in range(100)]
    with pytest.raises(KeyboardInterrupt):
        unda.sweep(sweep_cases.given, cases, devices="cpu", workers=1, cache=tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*.pkl"))) == 4


def alive(pid):
    """Say whether a process runs; one that nobody has asked about is none."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_processes_end_with_a_sweep_that_is_killed_and_finished_values_are_kept(tmp_path):
    sweep = subprocess.Popen(script(tmp_path, "first_then_wait"), stderr=subprocess.DEVNULL)
    sweep_cases.wait_for(tmp_path / "pid_1")
    pid = int((tmp_path / "pid_1").read_text())
    assert alive(pid)
    sweep.kill()
    sweep.wait()
    for _ in range(1500):  # it waits for two minutes if nothing ends it
        if not alive(pid):
            break
        time.sleep(0.02)
    assert not alive(pid)
    assert len(list((tmp_path / "cache").glob("*.pkl"))) == 1


def test_ctrl_c_in_one_process_is_a_failure_of_its_case():
    results = unda.sweep(
        sweep_cases.interrupt_oneself, [{"i": i} for i in range(3)], devices="cpu", workers=1
    )
    assert [r.value for r in results] == [0, None, 2]
    assert "KeyboardInterrupt" in results[1].error


# ---- what is kept


def cache(folder, function=sweep_cases.kind, key=None, store="pickle"):
    return _sweep_cache.Cache(folder, store, _sweep_cache.identity_of(function, key))


DIFFERENT = [
    (1, 2), [1, 2], {1: 2}, {"1": 2}, 1, 1.0, True, "1", b"1", None, "None", np.float64(1.0),
    np.array([1, 2]), np.array([1.0, 2.0]), np.array([[1, 2]]), {1, 2}, frozenset((1, 2)), [[1], 2], [1, [2]],
    ["1", "2"], ["1, 2"],
]  # fmt: skip


def test_values_of_different_types_have_files_of_their_own(tmp_path):
    paths = [cache(tmp_path).path({"value": value}) for value in DIFFERENT]
    assert len(set(paths)) == len(DIFFERENT)
    same = {"a": {"x": 1, "y": (1, 2)}, "b": 2}, {"b": 2, "a": {"y": (1, 2), "x": 1}}
    assert cache(tmp_path).path(same[0]) == cache(tmp_path).path(same[1])


def test_a_change_of_the_file_or_of_unda_is_another_value_and_a_key_stands_for_both(tmp_path, monkeypatch):
    (tmp_path / "module_of_a_sweep.py").write_text("FACTOR = 2\ndef helper(x):\n    return FACTOR * x\n"
                                                   "def run(x):\n    return helper(x)\n")  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    import module_of_a_sweep as module

    def paths():
        return [cache(tmp_path, module.run, key).path({"x": 1}) for key in (None, "mine")]

    before = paths()
    text = (tmp_path / "module_of_a_sweep.py").read_text()
    (tmp_path / "module_of_a_sweep.py").write_text(text.replace("FACTOR = 2", "FACTOR = 3"))
    changed = paths()
    monkeypatch.setattr(_sweep_cache._core, "version", lambda: "99")
    newer = paths()
    assert len({before[0], changed[0], newer[0]}) == 3
    assert before[1] == changed[1] == newer[1] != cache(tmp_path, module.run, "other").path({"x": 1})


def test_without_its_source_a_function_needs_a_key(tmp_path):
    made = {}
    exec("def unseen(x):\n    return x", made)
    with pytest.raises(unda.ArgumentError, match="cache_key="):
        cache(tmp_path, made["unseen"])
    assert cache(tmp_path, made["unseen"], "one")


VALUES = {
    "pickle": [None, {"a": (1, 2)}, np.arange(3), 1 + 2j],
    "json": [None, {"a": [1, 2.5, "x"]}, 3, True, "text", [[]]],
    "npz": [
        np.arange(6.0).reshape(2, 3),
        {"a": np.arange(3), "kind": np.ones(2, np.float32)},
        np.float64(2.0),
    ],
}


@pytest.mark.parametrize("store", VALUES)
def test_values_come_back_and_any_flipped_bit_is_seen(tmp_path, store):
    for value in VALUES[store]:
        kept, case = cache(tmp_path, store=store), {"value": 1}
        assert kept.keep(case, value) is None
        found, again = kept.load(case)
        asked = np.asarray(value) if isinstance(value, np.generic) else value
        assert found and _sweep_cache._same(again, asked)
        data = kept.path(case).read_bytes()
        for place in range(0, len(data), max(1, len(data) // 60)):
            kept.path(case).write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            found, other = kept.load(case)
            # A bit of a ZIP's own dates and names of folders is no part of a value.
            assert not found or (store != "pickle" and np.array_equal(_flat(other), _flat(value)))
        kept.path(case).write_bytes(data[: len(data) // 2])
        assert not kept.load(case)[0]


def _flat(value):
    return np.asarray(next(iter(value.values())) if isinstance(value, dict) else value, dtype=object)


@pytest.mark.parametrize("store, value", [
    ("json", (1, 2)), ("json", {1: 2}), ("json", np.ones(2)), ("npz", 3), ("npz", np.array([None])),
    ("pickle", lambda: 1),
])  # fmt: skip
def test_what_a_store_cannot_hold_is_reported_once_and_stays_in_the_results(tmp_path, store, value):
    assert cache(tmp_path, store=store).keep({"i": 1}, value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported_once_and_loses_no_value(tmp_path):
    (tmp_path / "cache").mkdir()
    cases = [{"value": i} for i in range(4)]
    kept = cache(tmp_path / "cache", sweep_cases.given)
    for case in cases[:3]:
        kept.path(case).mkdir()  # a file of that name cannot be written
    with pytest.warns(unda.UndaWarning, match="values are not stored") as told:
        results = unda.sweep(sweep_cases.given, cases, devices="cpu", workers=1, cache=tmp_path / "cache")
    assert len(told) == 1 and [r.value for r in results] == [0, 1, 2, 3] and not results.failures
    assert kept.load(cases[3]) == (True, 3)


def test_json_and_npz_are_read_by_others(tmp_path):
    cache(tmp_path, store="json").keep({"i": 1}, {"error": 0.5})
    (path,) = tmp_path.glob("*.json")
    assert json.loads(path.read_text())["value"] == {"error": 0.5}
    cache(tmp_path, store="npz").keep({"i": 1}, {"p": np.arange(3)})
    (path,) = tmp_path.glob("*.npz")
    assert np.load(path)["value_p"].tolist() == [0, 1, 2]


def test_a_bar_counts_the_cases(capsys):
    unda.sweep(sweep_cases.given, [{"value": i} for i in range(2)], devices="cpu", workers=1, progress=True)
    shown = capsys.readouterr().err
    assert "0/2" in shown and "case" in shown
