"""What all tests share: tiers, the device, the time limit of a default test.

--slow runs the slow tier too; --require-gpu turns the skips of device tests into failures.
"""

import os
import signal
from functools import cache

import cuda_device
import pytest

os.environ.setdefault("UNDA_DEVICE", "cpu")  # what device="auto" is, with or without a GPU

LIMIT_SECONDS = 20.0  # of a default test


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the slow tests as well")
    parser.addoption("--require-gpu", action="store_true", help="a missing CUDA device is a failure")


def pytest_collection_modifyitems(config, items):
    marked = [item for item in items if "gpu" in item.keywords]
    if marked and not config.getoption("--require-gpu") and not cuda_device.is_real():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="there is no CUDA device"))
    for item in items:
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: runs with --slow"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    slow = call.when == "call" and call.duration > LIMIT_SECONDS
    if slow and report.passed and "slow" not in item.keywords:
        report.outcome = "failed"
        report.longrepr = f"took {call.duration:.1f} s, a default test has {LIMIT_SECONDS:.0f} s"
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

    return limits.device_limits(device, **options)


@pytest.fixture
def limits_once(monkeypatch):
    """What a device can do is measured once a process, which takes a second, and not by each test."""
    from unda.commands import bench_dg, bench_fd, bench_fd_papers

    for module in (bench_dg, bench_fd, bench_fd_papers):
        monkeypatch.setattr(module, "device_limits", _limits)
    for name in ("grid_simulation", "mesh_simulation"):
        monkeypatch.setattr(f"unda.{name}.device_limits", _limits)
