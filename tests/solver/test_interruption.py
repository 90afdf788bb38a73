"""A run that is interrupted ends with its chunk and is whole: it goes on as if nothing had happened.

Also what a run shows while it lasts: a bar on a terminal, a log line a minute elsewhere.
"""

import contextlib
import logging
import os
import pty
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import unda
from unda.method import _run_control

# How runs end, not whether the wave is right.
pytestmark = [
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),
    pytest.mark.usefixtures("ctrl_c_is_heard"),
]

MEDIUM = unda.Acoustic(rho=1.0, c=1.0)
FOREVER = 200_000  # steps: ten seconds


def simulation():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.2, seed=1)
    sim = unda.DG(mesh, MEDIUM, degree=2, threads=1)
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)], ["p"], every=2)


def interrupt(seconds=0.0):
    timer = threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    return timer


def assert_whole(sim, rec):
    """The run goes on from where it is with the bits of one that was never interrupted."""
    assert rec.num_sample == sim.step_count // 2 + 1
    sim.step(10)
    other, other_rec = simulation()
    other.step(sim.step_count)
    assert np.abs(rec["p"]).max() > 0
    assert np.array_equal(rec["p"], other_rec["p"]) and np.array_equal(sim.get("vx"), other.get("vx"))
    assert sim.t == other.t == pytest.approx(rec.t[-1], abs=1.01 * sim.dt)


def test_ctrl_c_ends_a_run_after_its_chunk_and_leaves_it_whole(monkeypatch):
    """1024 steps a second, by a clock of the test's own, are 307 in the 0.3 s that a chunk may take."""
    sim, rec = simulation()
    chunks, advance = [], sim._stepping.advance
    clock = SimpleNamespace(now=0.0, perf_counter=lambda: clock.now)
    monkeypatch.setattr(unda.method.stepping, "time", clock)

    def advanced(n, *ahead):
        if sim.step_count > 300:
            signal.raise_signal(signal.SIGINT)
        advance(n, *ahead)
        clock.now += n / 1024
        chunks.append(n)

    sim._stepping.advance = advanced
    with pytest.raises(KeyboardInterrupt):
        sim.run(steps=FOREVER)
    assert chunks == [8, 307, 307] and sim.step_count == 622
    sim._stepping.advance = advance
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert_whole(sim, rec)


def test_ctrl_c_at_any_moment_of_a_step_loses_no_sample():
    """Between the steps of the library and the taking of its samples is such a moment."""
    sim, rec = simulation()
    for i in range(30):
        with pytest.raises(KeyboardInterrupt):
            interrupt(0.001 + 0.0007 * i)
            for _ in range(FOREVER):  # it comes when it comes; one that is lost does not hang the test
                sim.step(3)
        assert rec.num_sample == sim.step_count // 2 + 1
    assert_whole(sim, rec)


def test_ctrl_c_ends_a_long_step():
    sim, rec = simulation()
    chunks, advance = [], sim._stepping.advance

    def advanced(n, *ahead):
        chunks.append(n)
        if len(chunks) == 3:
            signal.raise_signal(signal.SIGINT)
        advance(n, *ahead)

    sim._stepping.advance, sim._stepping.room = advanced, lambda: 50
    with pytest.raises(KeyboardInterrupt):
        sim.step(FOREVER)
    assert len(chunks) == 3 and sim.step_count == sum(chunks)
    assert_whole(sim, rec)


def test_ctrl_c_during_the_last_chunk_is_not_lost():
    sim, rec = simulation()
    with pytest.raises(KeyboardInterrupt):
        sim.run(steps=8, callback=lambda _: signal.raise_signal(signal.SIGINT))
    assert sim.step_count == 8
    assert_whole(sim, rec)


def test_the_handler_is_restored_after_every_end(monkeypatch):
    sim, _ = simulation()
    inside = []
    sim.run(steps=1, callback=lambda _: inside.append(signal.getsignal(signal.SIGINT)))
    assert inside != [signal.default_int_handler]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ZeroDivisionError):
        sim.run(steps=1, callback=lambda _: 1 // 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_stays_in_charge():
    sim, rec = simulation()
    seen = []
    old = signal.signal(signal.SIGINT, lambda *_: seen.append(sim))
    try:
        sim.run(steps=16, callback=lambda _: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, old)
    assert len(seen) > 0 and sim.step_count == 16
    assert_whole(sim, rec)


def test_a_run_in_another_thread_leaves_signals_alone():
    sim, rec = simulation()
    seen, failures = [], []

    def work():
        try:
            sim.run(steps=100, callback=lambda _: seen.append(signal.getsignal(signal.SIGINT)))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == [] and set(seen) == {signal.default_int_handler}
    assert_whole(sim, rec)


def test_results_are_readable_after_a_callback_has_failed():
    sim, rec = simulation()

    def fail(_):
        if sim.step_count >= 20:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sim.run(steps=FOREVER, callback=fail, every=10)
    assert sim.step_count == 20 and len(rec.t) == 11
    assert_whole(sim, rec)


def test_elsewhere_it_logs_a_line_a_minute(monkeypatch, caplog):
    class Clock:
        now = 0.0

        def monotonic(self):
            self.now += 25.0
            return self.now

    monkeypatch.setattr(_run_control, "time", Clock())
    monkeypatch.setattr(_run_control, "someone_looks", lambda: False)
    sim, _ = simulation()
    with caplog.at_level(logging.INFO, logger="unda"):
        sim.run(steps=72, every=8, callback=lambda _: None)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3  # 9 updates are 225 s, told every third time
    assert "step 24 of 72, t = " in lines[0] and "GDOF/s, 150 s left" in lines[0]


def test_a_short_run_says_nothing(caplog, capfd):
    sim, _ = simulation()
    with caplog.at_level(logging.INFO, logger="unda"):
        sim.run(steps=20)
    assert caplog.records == [] and capfd.readouterr() == ("", "")


BAR = """
import unda
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, dt=0.01)
sim.run(steps=300, every=100, callback=lambda sim: __import__("time").sleep(0.15), **OPTIONS)
"""


def seen_on_a_terminal(options):
    """What a process shows on a terminal of 150 columns."""
    master, slave = pty.openpty()
    code = (
        "import fcntl, struct, termios\nfcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack('4H', 40, 150, 0, 0))"
    )
    command = [sys.executable, "-c", code + BAR.replace("**OPTIONS", options)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    assert child.wait(60) == 0, shown
    return shown.decode()


def test_a_terminal_shows_a_bar_with_simulated_time_and_rate():
    shown = seen_on_a_terminal("")
    assert "/300" in shown and "t = 2 s" in shown and "GDOF/s" in shown
    assert seen_on_a_terminal("progress=False") == ""
