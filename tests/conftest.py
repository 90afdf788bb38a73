"""What all tests share: tiers, the device, the limit of a default test.

--slow runs the slow tier too; --mpi those in processes of MPI; --asan compiles the library with sanitizers
for those that are in C; --build looks at what is compiled and shipped; --require-gpu turns the skips of
device tests into failures.
"""

import contextlib
import gc
import importlib
import os
import signal
import sys
from functools import cache
from pathlib import Path

import cuda_device
import pairwise
import pytest

gc.disable()  # until the tests are collected
os.environ.setdefault("UNDA_DEVICE", "cpu")  # what device="auto" is, with or without a GPU

#: What is asked for by an option of its own.
OPTIONS = {"mpi": "processes of MPI", "asan": "sanitizers", "build": "what is compiled and shipped"}

LIMIT_SECONDS = 20.0  # of processors, for a default test: what else runs on the machine does not count


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests as well")
    parser.addoption("--mpi", action="store_true", help="run the tests that start processes of MPI as well")
    parser.addoption("--asan", action="store_true", help="tests in C run under AddressSanitizer and UBSan")
    parser.addoption("--build", action="store_true", help="look at what is compiled and shipped as well")
    parser.addoption("--require-gpu", action="store_true", help="a missing CUDA device is a failure")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Every second process imports all tests from the last one on, before it collects them.

    Where there is no bytecode yet, asserts are so rewritten once, not by each process: they meet half way.
    """
    if session.config.args != ["tests"] or os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "02468":
        return
    for path in sorted(Path(__file__).parent.glob("*/test_*.py"), reverse=True):
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting says what is wrong
            importlib.import_module(path.stem)


def is_marked(item, name):
    """Not by keywords, which name folders as well: there is one called gpu."""
    return item.get_closest_marker(name) is not None


@pytest.hookimpl(tryfirst=True)  # before -m slow looks at the marks
def pytest_collection_modifyitems(config, items):
    if not config.getoption("--require-gpu"):  # a device is quick, and -m sanitize is to see all
        pairwise.thin(items)
    marked = [item for item in items if is_marked(item, "gpu")]
    if marked and not config.getoption("--require-gpu") and not cuda_device.is_real():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="there is no CUDA device"))
    for item in items:
        if is_marked(item, "slow") or is_marked(item, "gpu"):  # their runs are not looked at in this respect
            item.add_marker(pytest.mark.filterwarnings("default::unda.AccuracyWarning"), append=False)
        for option, why in OPTIONS.items():
            if is_marked(item, option) and not config.getoption(f"--{option}"):
                item.add_marker(pytest.mark.skip(reason=f"{why}: runs with --{option}"))
    if not config.getoption("--slow"):  # not skipped: each report of thousands takes its time
        slow = [item for item in items if is_marked(item, "slow")]
        items[:] = [item for item in items if not is_marked(item, "slow")]
        config.hook.pytest_deselected(items=slow)


def pytest_collection_finish():
    """What is collected, a million objects that stay, is nothing for the collector of garbage to look at."""
    gc.freeze()
    gc.enable()


def processor_seconds():
    """What this process and those that it has waited for have used."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    begin = processor_seconds()
    try:
        return (yield)
    finally:
        item.used_seconds = processor_seconds() - begin


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    used = getattr(item, "used_seconds", 0.0)
    # sanitizers are ten times as slow; on a device kernels are compiled anew, and its driver starts
    free = is_marked(item, "slow") or item.config.option.require_gpu
    free = free or item.config.option.markexpr == "sanitize"
    if call.when == "call" and used > LIMIT_SECONDS and report.passed and not free:
        report.outcome = "failed"
        report.longrepr = f"took {used:.1f} s of processors, a default test has {LIMIT_SECONDS:.0f} s"
    return report


@pytest.fixture
def ctrl_c_is_heard():
    """What a shell starts in the background ignores SIGINT, and so do the tests in it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@cache
def _limits(device, **options):
    from unda import limits

    return limits.device_limits(device, **options) if options else limits.limits_once(device)


@pytest.fixture
def limits_once(monkeypatch):
    """Benchmarks measure what a device can do once a process, which takes a second, and not in each test."""
    from unda.commands import (
        bench_dg,
        bench_dg_gaps,
        bench_dg_klockner,
        bench_dg_modave,
        bench_fd,
        bench_fd_papers,
        bench_scaling,
        bench_sem,
    )

    of_dg = (bench_dg, bench_dg_gaps, bench_dg_klockner, bench_dg_modave)
    for module in (*of_dg, bench_fd, bench_fd_papers, bench_scaling, bench_sem):
        monkeypatch.setattr(module, "device_limits", _limits)
