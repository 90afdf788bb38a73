"""A sweep runs each case once, keeps what is done, and returns failures with their case."""

import os
import subprocess
import sys

import cuda_device
import numpy as np
import pytest
import sweep_cases
import unda

cuda_device.prepare()
HERE = os.path.dirname(__file__)


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
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(unda.ArgumentError, match=words):
        unda.sweep(sweep_cases.note, [], **options)


def test_what_a_process_cannot_find_is_refused():
    with pytest.raises(unda.ArgumentError, match="another process"):
        unda.sweep(lambda: 1, [{}], devices="cpu")
    with pytest.raises(unda.ArgumentError, match="case 0 is 3"):
        unda.sweep(sweep_cases.note, [3])


def test_interrupted_it_goes_on_where_it_stopped(tmp_path):
    code = (
        "import os, sys, threading, time, signal, unda, sweep_cases\n"
        "def interrupt(folder):\n"
        "    while not any(name.endswith('.pkl') for name in os.listdir(folder)):\n"
        "        time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "if __name__ == '__main__':\n"
        "    folder = sys.argv[1]\n"
        "    os.makedirs(folder + '/cache')\n"
        "    threading.Thread(target=interrupt, args=(folder + '/cache',), daemon=True).start()\n"
        "    cases = [{'folder': folder, 'i': i} for i in range(2000)]\n"
        "    unda.sweep(sweep_cases.note, cases, devices='cpu', workers=1, cache=folder + '/cache')\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    kept = len(list((tmp_path / "cache").glob("*.pkl")))
    assert 0 < kept < 2000, done.stderr
    assert "KeyboardInterrupt" in done.stderr
