"""A run shows what it does where that can be shown, and runs on where it cannot."""

import io
import logging
import sys

import pytest
import unda


def simulation():
    sim = unda.FD(unda.Grid((9, 9, 9), 1.0), unda.Acoustic(rho=1.0, c=1.0), boundary={"*": "periodic"})
    sim.set(p=1.0)
    return sim


class OnlyWrites:
    """What services put in the place of stderr."""

    def write(self, text):
        return len(text)


class Breaks(io.StringIO):
    """A pipe whose reader goes away after some writes."""

    def __init__(self, writes):
        super().__init__()
        self.left = writes

    def isatty(self):
        return True

    def write(self, text):
        self.left -= 1
        if self.left < 0:
            raise BrokenPipeError(32, "Broken pipe")
        return super().write(text)


def closed():
    file = io.StringIO()
    file.close()
    return file


@pytest.mark.parametrize("progress", [None, True])
@pytest.mark.parametrize("stderr", [lambda: None, closed, OnlyWrites, lambda: Breaks(0), lambda: Breaks(1)])
def test_a_run_needs_no_stderr(monkeypatch, stderr, progress, caplog):
    sim = simulation()
    monkeypatch.setattr(sys, "stderr", stderr())
    with caplog.at_level(logging.INFO, "unda"):
        for _ in range(3):
            sim.run(steps=40, progress=progress)
    assert sim.step_count == 120


def test_the_bar_is_drawn_where_it_can_be(monkeypatch):
    terminal = Breaks(10**6)
    monkeypatch.setattr(sys, "stderr", terminal)
    simulation().run(steps=40)
    assert "40/40" in terminal.getvalue() or "0/40" in terminal.getvalue()
    monkeypatch.setattr(sys, "stderr", OnlyWrites())


def test_an_error_of_the_users_is_not_taken_for_one_of_the_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Breaks(0))

    def fail(sim):
        raise BrokenPipeError("mine")

    with pytest.raises(BrokenPipeError, match="mine"):
        simulation().run(steps=40, callback=fail)
