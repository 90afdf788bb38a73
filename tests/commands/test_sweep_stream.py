"""A sweep hands out results as cases end, keeps their order for the end, and draws them."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import matplotlib
import pytest
import sweep_cases
import unda

matplotlib.use("Agg")
HERE = os.path.dirname(sweep_cases.__file__)


class Doors:
    """Cases that end when they are told to."""

    def __init__(self, num):
        self.open = [threading.Event() for _ in range(num)]

    def run(self, i):
        assert self.open[i].wait(10)
        if i == 1:
            raise ValueError("one")
        return 10 * i


def test_results_come_as_cases_end_and_at_the_end_in_their_order():
    """The last case is let go first, and each lets the one before it go: nothing else could end."""
    doors, seen = Doors(3), []

    def look(result):
        seen.append(result.case["i"])
        if result.case["i"] > 0:
            doors.open[result.case["i"] - 1].set()

    doors.open[2].set()
    with ThreadPoolExecutor(3) as executor:
        results = unda.sweep(doors.run, [{"i": i} for i in range(3)], executor=executor, on_result=look)
    assert seen == [2, 1, 0]
    assert [one.case["i"] for one in results] == [0, 1, 2]
    assert [one.value for one in results] == [0, None, 20] and "ValueError: one" in results[1].error


def test_the_loop_gets_each_case_once_while_others_run():
    doors = Doors(3)
    doors.open[2].set()
    with ThreadPoolExecutor(3) as executor:
        found = []
        for result in unda.iter_sweep(doors.run, [{"i": i} for i in range(3)], executor=executor):
            found.append(result.case["i"])
            doors.open[max(result.case["i"] - 1, 0)].set()
    assert found == [2, 1, 0]


def test_the_loop_begins_with_what_the_cache_has(tmp_path):
    options = {"cache": tmp_path, "executor": ThreadPoolExecutor(1)}
    unda.sweep(sweep_cases.given, [{"value": 2}], **options)
    results = unda.iter_sweep(sweep_cases.given, [{"value": 1}, {"value": 2}], **options)
    assert [(one.case["value"], one.cached) for one in results] == [(2, True), (1, False)]


@pytest.mark.parametrize("leave", ["loop", "callback"])
def test_who_leaves_drops_the_cases_that_have_not_begun(leave):
    begun = []

    def run(i):
        begun.append(i)
        return i

    def stop(result):
        raise LookupError(result.case["i"])

    cases = [{"i": i} for i in range(50)]
    gate = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        if leave == "loop":
            stream = unda.iter_sweep(lambda i: (run(i), i == 0 or gate.wait(10)), cases, executor=executor)
            next(stream)
            threading.Timer(0.05, gate.set).start()
            stream.close()
        else:
            with pytest.raises(LookupError):
                unda.sweep(
                    lambda i: (run(i), i == 0 or gate.wait(0.2)), cases, executor=executor, on_result=stop
                )
    assert len(begun) < 10


def test_a_case_whose_process_dies_is_handed_out_once(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, *sys.path]))
    cases = [{"degree": n} for n in (1, 3, 2)]  # 3 ends its process, 2 raises
    found = list(unda.iter_sweep(sweep_cases.fail_on_two, cases, devices="cpu", workers=1))
    assert sorted(one.case["degree"] for one in found) == [1, 2, 3]
    assert [one.error is None for one in sorted(found, key=lambda one: one.case["degree"])] == [
        True,
        False,
        False,
    ]


def test_bad_arguments_of_the_loop_are_refused_at_once():
    with pytest.raises(unda.ArgumentError, match="case 0"):
        unda.iter_sweep(sweep_cases.given, [3])
    with pytest.raises(unda.ArgumentError, match="on_result"):
        unda.sweep(sweep_cases.given, [], on_result=3)


# ---- pictures


def results_of(values):
    found = unda.sweep(sweep_cases.given, [])
    for case, value in values:
        found.append(type("R", (), {"case": case, "value": value, "error": None, "cached": False})())
    return found


def curves(ax):
    """{label: [(x, y)]} of the markers."""
    return {
        line.get_label(): list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in ax.lines
        if line.get_marker() == "o"
    }


def test_a_picture_has_a_curve_for_each_hue_and_the_mean_of_equal_cases():
    squares = [
        ({"h": h, "flux": flux}, {"error": factor * h**2})
        for flux, factor in (("upwind", 1), ("central", 2))
        for h in (2.0, 1.0)
    ]
    results = results_of([*squares, ({"h": 1.0, "flux": "upwind"}, {"error": 3.0})])
    ax = results.plot(x="h", y="error", hue="flux", log="xy")
    assert curves(ax) == {
        "flux = upwind": [(2.0, 4.0), (1.0, 1.0), (1.0, 3.0)], "flux = central": [(2.0, 8.0), (1.0, 2.0)]
    }  # fmt: skip
    means = [list(line.get_ydata()) for line in ax.lines if line.get_marker() != "o"]
    assert means == [[2.0, 4.0], [2.0, 8.0]]
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_xlabel(), ax.get_ylabel()) == (
        "log",
        "log",
        "h",
        "error",
    )
    assert results.plot(x="h", y="error", ax=ax) is ax


def test_text_along_x_keeps_the_order_of_the_cases_and_failures_are_counted():
    results = results_of([({"name": "b"}, 1.0), ({"name": "a"}, 2.0), ({"name": "c"}, None)])
    results[2].error = "failed"
    ax = results.plot(x="name")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["b", "a"]
    assert ax.get_title().startswith("1 of 3 cases failed")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "m"}, "x is 'm'.*'h', 'error'"),
        ({"x": "h", "y": "wrong"}, "y is 'wrong'"),
        ({"x": "error", "y": "name"}, "expected numbers"),
        ({"x": "h", "y": "error", "log": "z"}, "log"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words):
    results = results_of([({"h": 1.0}, {"error": 2.0, "name": "one"})])
    with pytest.raises(unda.ArgumentError, match=words):
        results.plot(**options)


def test_without_matplotlib_a_picture_says_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"unda-waves\[plot\]"):
        results_of([({"h": 1.0}, 2.0)]).plot(x="h")
