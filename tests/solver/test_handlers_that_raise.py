"""The handler of a signal may raise, or use the simulation, between any two lines: nothing is lost or moved.

A batch queue's SIGTERM, SIGALRM, a test's time limit. No signal is sent here, no race is run: the n-th line
that unda executes does what the handler would. Next: test_interruption.py (Ctrl-C).
"""

import contextlib
import linecache
import os
import signal
import sys
import threading

import numpy as np
import pytest
import unda
from unda.errors import InternalError
from unda.io import movie

pytestmark = [
    pytest.mark.usefixtures("ctrl_c_is_heard"),
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),  # bits are compared, not waves
]

FOLDER = os.path.dirname(unda.__file__) + os.sep
LAST = 23  # steps; groups of receivers begin at different ones and have samples every 1, 3 and 4


class Alarm(BaseException):
    """What the handler raises."""


def at_line(n, work, act):
    """Run work(); before the n-th line of unda act(). Returns the lines there were, as files and numbers."""
    lines = []

    def line(frame, event, _):
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
            if len(lines) == n:
                sys.settrace(None)
                act()
        return line

    sys.settrace(lambda frame, *_: line if frame.f_code.co_filename.startswith(FOLDER) else None)
    try:
        work()
    finally:
        sys.settrace(None)
    return lines


def dg():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, integrator="ab3", threads=1)


def hexahedra():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, threads=1)


def sem():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    return unda.SEM(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, threads=1)


def fd():
    grid, layer = unda.Grid((9, 1, 8), 0.125), unda.Damping(width=4)
    return unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), boundary={"*": layer}, device="cpu", threads=1)


def staggered():
    medium = unda.Elastic(rho=1.0, vp=1.0, vs=0.5)
    return unda.FD(unda.Grid((9, 1, 8), 0.125), medium, scheme="staggered", boundary={"*": "free"}, threads=1)


def begun(make):
    sim = make()
    sim.add_source(unda.VolumeInjection((0.31, 0.0, 0.27), unda.ricker(1.0)))
    sim.add_receivers([(0.2, 0.0, 0.4)], every=1)
    sim.add_receivers([(0.4, 0.0, 0.4), (0.6, 0.0, 0.1)], every=4)
    sim.step(2)
    sim.add_receivers([(0.5, 0.0, 0.5)], every=3)
    return sim


def run(sim):
    sim.run(until=sim._start + LAST * sim.dt, every=7, callback=lambda sim: None)


def step(sim):
    sim.step(LAST - sim.step_count)


def film(sim):
    sim.movie("never.gif", sim.fields[0], y=0.0, steps=LAST - sim.step_count, every=7, num=5)


@pytest.fixture(autouse=True)
def films_are_counted(monkeypatch):
    """No frame is drawn; but each has its time."""

    def count(plane, frames, times, *_):
        assert len(frames) == len(times)

    monkeypatch.setattr(movie, "_Film", count)
    monkeypatch.setattr(movie, "_writer", lambda path: lambda film, path, fps: None)
    monkeypatch.setattr(movie, "whole_file", lambda path, suffix: contextlib.nullcontext((path, None)))
    monkeypatch.setattr(movie, "background_values", lambda *_: None)


def outcome(sim):
    """State and traces with their times, bit for bit."""
    fields = [sim.get(name).tobytes() for name in sim.fields]
    traces = [(rec.t.tobytes(), *(rec[name].tobytes() for name in rec.fields)) for rec in sim.receivers]
    return sim.step_count, fields, traces


def assert_goes_on(sim, expected, path):
    """Another thread may use it, Ctrl-C is heard, it goes on, and so does what is saved before."""
    failures = []

    def look():
        try:
            sim.energy()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert failures == []
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    sims = [sim]
    if path is not None:
        sim.save(path)
        sims.append(unda.load(path))
    for one in sims:
        step(one)
        assert outcome(one) == expected


def undisturbed(make, work, slow):
    """What comes of it, how many lines that takes, which to disturb.

    Of each line in the text the last time in the first two thirds, since the end is the same in all, and of
    every second line only. As a slow case of all lines, the first and the last time there is as well.
    """
    sim = begun(make)
    lines = at_line(0, lambda: work(sim), None)
    places = {line: n for n, line in enumerate(lines[: 2 * len(lines) // 3], 1)}
    chosen = {
        n
        for (file, number), n in places.items()
        if file.endswith(("/solver.py", "/stepping.py")) or number % 2
    }
    if slow:
        last = {line: n for n, line in enumerate(lines, 1)}
        first = {line: len(lines) - n for n, line in enumerate(reversed(lines))}
        chosen = {*places.values(), *last.values(), *first.values()}
    return outcome(sim), len(lines), sorted(chosen)


def cases(quick, more):
    """A few by default, with few lines; all of them with each line that there is as slow ones."""
    slow = [pytest.param(*one, True, marks=pytest.mark.slow) for one in (*quick, *more)]
    return [*((*one, False) for one in quick), *slow]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("make", "work", "slow"),
    cases(
        [(dg, step), (fd, film)],
        [(dg, run), (dg, film), (hexahedra, run), (sem, step), (sem, run), (fd, run), (staggered, step)],
    ),
)
def test_a_handler_that_raises_anywhere_leaves_the_run_whole(make, work, slow, tmp_path):
    expected, count, places = undisturbed(make, work, slow)
    assert count > 300 and len(places) > 50
    for n in places:
        sim, kind = begun(make), (Alarm, KeyboardInterrupt)[n % 2]

        def act(kind=kind):
            raise kind

        try:
            at_line(n, lambda sim=sim: work(sim), act)
        except kind:
            pass
        else:
            raise AssertionError(f"nothing was raised at line {n} of {count}")
        assert_goes_on(sim, expected, tmp_path / "run.h5" if slow or n % 8 == 0 else None)


@pytest.mark.parametrize(
    ("make", "work", "slow"), cases([(dg, step)], [(hexahedra, step), (fd, run), (sem, run)])
)
def test_a_handler_that_saves_anywhere_saves_all_and_disturbs_nothing(make, work, slow, tmp_path):
    expected, _, places = undisturbed(make, work, slow)
    for n in places:
        sim = begun(make)
        at_line(n, lambda sim=sim: work(sim), lambda sim=sim: sim.save(tmp_path / "run.h5"))
        assert outcome(sim) == expected
        if slow or n % 8 == 0:
            again = unda.load(tmp_path / "run.h5")
            step(again)
            assert outcome(again) == expected


def test_a_state_half_set_is_refused_until_it_is_set():
    count = len(at_line(0, begun(dg).reset, None))
    refused = 0

    def act():
        raise Alarm

    for n in range(1, count + 1, 3):
        sim = begun(dg)
        with pytest.raises(Alarm):
            at_line(n, sim.reset, act)
        if sim._half_set:
            refused += 1
            for use in (sim.step, lambda sim=sim: sim.run(steps=1), lambda sim=sim: sim.save("never.h5")):
                with pytest.raises(unda.ArgumentError, match="did not come to its end"):
                    use()
        sim.reset()
        sim.step(5)
        assert [rec.num_sample for rec in sim.receivers] == [6, 2, 2]
    assert 10 < refused < count / 3


@pytest.mark.first(1)
@pytest.mark.parametrize("make", [pytest.param(dg, marks=pytest.mark.slow), sem, fd])
def test_sources_and_receivers_are_there_or_not(make):
    """Never in the library alone: it would read more amplitudes than there are."""

    def add(sim):
        sim.add_source(unda.VolumeInjection((0.31, 0.0, 0.27), unda.ricker(1.0)))
        sim.add_receivers([(0.2, 0.0, 0.4)])

    def act():
        raise Alarm

    add(make())
    sim = make()
    count = len(at_line(0, lambda: add(sim), None))
    found = set()
    for n in range(1, count + 1, 3):
        sim = make()
        with pytest.raises(Alarm):
            at_line(n, lambda sim=sim: add(sim), act)
        sim.step(3)
        found.add((len(sim._solver.sources), len(sim.receivers)))
        assert all(rec.num_sample == 4 for rec in sim.receivers)
        assert sim.get("p").any() == bool(sim._solver.sources)
        sim.reset()
        add(sim)
        sim.step(3)
        assert sim.get("p").any() and [rec.num_sample for rec in sim.receivers][-1] == 4
    assert found == {(0, 0), (1, 0), (1, 1)}


def driven():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    sides = {"zmin": "rigid", "*": "absorbing"}
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, threads=1, boundary=sides)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_plane_wave_is_there_or_not(every):
    """In the library alone it would read values of outer data that there are not."""

    def add(sim):
        sim.add_source(unda.PlaneWave((0, 0, 1), f=unda.ricker(1.0), scatterer="zmin"))

    def act():
        raise Alarm

    made = driven()
    count = len(at_line(0, lambda: add(made), None))
    made.step(3)
    found = set()
    for n in range(1, count + 1, every):
        sim = driven()
        with pytest.raises(Alarm):
            at_line(n, lambda sim=sim: add(sim), act)
        sim.step(3)
        found.add(len(sim._solver.waves))
        assert sim.get("p").any() == bool(sim._solver.waves)
        sim.reset(sources=True)
        add(sim)
        sim.step(3)
        assert outcome(sim) == outcome(made)
    assert found == {0, 1}


def test_sources_are_forgotten_by_the_reset_after_one_that_was_broken_off():
    """Forgotten in Python alone the library would go on to ask for their amplitudes."""

    def act():
        raise Alarm

    sim = begun(dg)
    count = len(at_line(0, lambda: sim.reset(sources=True), None))
    found = set()
    for n in range(1, count + 1, 2):
        sim = begun(dg)
        with pytest.raises(Alarm):
            at_line(n, lambda sim=sim: sim.reset(sources=True), act)
        sim.reset()
        sim.step(3)
        found.add(len(sim._solver.sources))
        assert sim.get("p").any() == bool(sim._solver.sources)
    assert found == {0, 1}


def test_an_exception_of_the_users_own_is_not_replaced_by_ctrl_c():
    sim = begun(dg)

    def fail(_):
        signal.raise_signal(signal.SIGINT)
        raise Alarm

    with pytest.raises(Alarm):
        sim.run(steps=5, callback=fail)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_waits_for_the_chunk_also_where_the_run_before_was_ended_by_a_handler():
    """Before the last line of that run Ctrl-C was not yet given back."""
    sim = begun(dg)

    def act():
        raise Alarm

    other = begun(dg)
    lines = [linecache.getline(*line) for line in at_line(0, lambda: other.step(3), None)]
    last = max(n for n, line in enumerate(lines, 1) if "if self._frame is not None" in line)
    with pytest.raises(Alarm) as alarm:  # which keeps the frames of the run
        at_line(last, lambda: sim.step(3), act)
    assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    seen = []

    def press(sim):
        signal.raise_signal(signal.SIGINT)
        seen.append(sim.step_count)

    with pytest.raises(KeyboardInterrupt):
        sim.run(steps=40, every=4, callback=press)
    assert len(seen) == 1 and alarm.value is not None


def test_samples_that_do_not_fit_the_clock_are_not_saved(tmp_path):
    sim = begun(fd)
    sim.step(9)
    rec = sim.receivers[1]
    rec.put(rec.num_sample, np.zeros((1, 2, 1), np.float32))
    with pytest.raises(
        unda.ArgumentError, match=r"receivers 1 .* have 4 samples from step 0 on, .* at step 11"
    ):
        sim.save(tmp_path / "run.h5")
    with pytest.raises(InternalError, match="lacks samples 4 to 5"):
        rec.put(6, np.zeros((1, 2, 1), np.float32))
