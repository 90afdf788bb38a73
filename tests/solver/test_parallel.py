"""Threads that work ahead give what one after the other does, and the same first error.

Not here: sweeps over simulations (test_sweep.py), threads of the library (test_threads_and_forks.py).
"""

import threading

import numpy as np
import pytest
import unda
from unda import _parallel
from unda._parallel import ahead
from unda.problem import _values


@pytest.fixture(autouse=True)
def sixteen_cores(monkeypatch):
    monkeypatch.setattr(_parallel.os, "sched_getaffinity", lambda process: range(16))


def test_results_come_in_order_from_several_threads():
    meet = threading.Barrier(4)  # broken, and an error, were there fewer threads

    def work(i):
        meet.wait(10)
        return i, threading.get_ident()

    made = list(ahead(work, range(16)))
    assert [i for i, _ in made] == list(range(16))
    assert len({thread for _, thread in made}) > 1


def test_only_a_few_parts_are_begun_before_the_first_is_taken():
    begun = []
    results = ahead(begun.append, range(1000))
    next(results)
    assert len(begun) <= 2 * 8 + 1
    results.close()
    assert len(begun) <= 2 * 8 + 1


def test_the_first_error_in_order_is_raised_whichever_came_first():
    late = threading.Event()

    def work(i):
        if i == 7:
            late.set()
            raise ValueError("seven")
        if i == 5:
            late.wait(10)
            raise ValueError("five")
        return i

    with pytest.raises(ValueError, match="five"):
        list(ahead(work, range(20)))


def test_functions_of_the_user_are_called_by_the_thread_that_asks(monkeypatch):
    monkeypatch.setattr(unda.problem.grid, "_CHUNK", 12)
    threads = set()

    def c(x, y, z):
        threads.add(threading.get_ident())
        return 1500.0 + 0 * x

    def p(x, y, z):
        threads.add(threading.get_ident())
        return 0 * (x + y + z)

    grid = unda.Grid((9, 4, 3), 10.0)
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=c), order=2, boundary={"*": "rigid"}, device="cpu")
    sim.set(p=p)
    assert threads == {threading.get_ident()}


def test_models_and_states_are_the_same_by_threads_and_without(monkeypatch):
    monkeypatch.setattr(unda.problem.grid, "_CHUNK", 50)
    monkeypatch.setattr(_values, "_LARGE", 1)
    random = np.random.default_rng(1)
    shape = (21, 6, 7)
    vp, vs, state = random.uniform(3000, 4000, shape), random.uniform(0, 2000, shape), random.random(shape)
    found = []
    for cores in (16, 1):
        monkeypatch.setattr(_parallel.os, "sched_getaffinity", lambda process, cores=cores: range(cores))
        medium = unda.Elastic(rho=2000.0, vp=vp, vs=vs)
        sim = unda.FD(unda.Grid(shape, 10.0), medium, scheme="staggered", device="cpu",
                      boundary={"*": "fixed"})  # fmt: skip
        sim.set(sxx=state)
        sim.step(3)
        found.append((sim.dt, medium.to_config(), medium.on(sim.grid), sim.get("vx")))
    (dt, config, table, vx), (dt_1, config_1, table_1, vx_1) = found
    assert (dt, config) == (dt_1, config_1)
    np.testing.assert_array_equal(table, table_1)
    np.testing.assert_array_equal(vx, vx_1)
    assert abs(vx).max() > 0
