"""How often Python calls the library: one C solver a simulation, and four calls a step."""

import sys
from collections import Counter

import cuda_device
import numpy as np
import pytest
import unda
from unda import _core

cuda_device.prepare()
SHAPE = (9, 10, 12)
GRID = unda.Grid(SHAPE, 10.0)
UP = np.arange(SHAPE[2]) >= 6
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu_or_stand_in)]


def layered(low, high):
    return np.where(UP, high, low) * np.ones(SHAPE)


# air over water, water over steel, a good conductor under air: all need smaller steps than one medium does
MEDIA = {
    "acoustic": unda.Acoustic(rho=layered(1.2, 1000.0), c=layered(340.0, 1500.0)),
    "elastic": unda.Elastic(rho=layered(1000.0, 7800.0), vp=layered(1500.0, 5900.0), vs=layered(0.0, 3200.0)),
    "maxwell": unda.Maxwell(eps=layered(8.9e-12, 8e-11), mu=layered(6e-6, 1.26e-6), sigma=layered(0.0, 1e-2)),
}
SOURCES = {
    "acoustic": lambda place: unda.VolumeInjection(place, unda.ricker(5.0)),
    "elastic": lambda place: unda.PointForce(place, unda.ricker(5.0), (1, 2, 3)),
    "maxwell": lambda place: unda.CurrentDipole(place, unda.ricker(1e6), (1, 0, 2)),
}


class Counted:
    """The library, counting."""

    def __init__(self):
        self.calls = Counter()

    def __getattr__(self, name):
        entry = getattr(_core.__dict__["real"], name)
        if not name.startswith("unda_"):
            return entry

        def call(*given):
            self.calls[name] += 1
            return entry(*given)

        return call


@pytest.fixture
def calls(monkeypatch):
    """How often each function was called since the test began."""
    counted = Counted()
    monkeypatch.setitem(_core.__dict__, "real", _core.lib)
    for name, module in list(sys.modules.items()):
        if name.startswith("unda.") and getattr(module, "lib", None) is _core.__dict__["real"]:
            monkeypatch.setattr(module, "lib", counted)
    return counted.calls


def staggered(physics, **options):
    boundary = {"zmin": "pec" if physics == "maxwell" else "free", "*": "absorbing"}
    return unda.FD(GRID, MEDIA[physics], scheme="staggered", boundary=boundary, **options)


def dg(**options):
    mesh = unda.box_mesh((0, 0, 0), (100, 100, 100), cells=(2, 2, 2))
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu", **options)


def hexahedra(method=unda.DG, **options):
    mesh = unda.box_mesh((0, 0, 0), (100, 100, 100), cells=(2, 2, 2), shape="hex")
    return method(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu", **options)


def sem(**options):
    return hexahedra(unda.SEM, **options)


def scalar(c=1500.0, **options):
    return unda.FD(GRID, unda.Acoustic(rho=1000.0, c=c), device="cpu", **options)


MADE = {
    "dg": lambda: dg(),
    "dg, samples": lambda: dg(sample_dt=0.1),
    "ab3": lambda: dg(integrator="ab3", sample_dt=0.1),
    "hexahedra, samples": lambda: hexahedra(sample_dt=0.1),
    "sem": lambda: sem(),
    "sem, samples": lambda: sem(sample_dt=0.1),
    "scalar": lambda: scalar(sample_dt=1e-2),
    "scalar, varied": lambda: scalar(layered(1500.0, 3000.0), sample_dt=1e-2),
}


@pytest.mark.parametrize("name", MADE)
def test_a_simulation_makes_one_solver(name, calls):
    MADE[name]()
    assert calls["unda_solver_new"] == 1


@pytest.mark.each_value
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("physics", MEDIA)
def test_a_medium_that_sets_the_step_makes_one_solver_and_keeps_the_bits(physics, sampled, device, calls):
    """Tables that were made for one step and then for another are those of a solver that was given it."""
    sample_dt = {"sample_dt": 1e-8 if physics == "maxwell" else 3e-3} if sampled else {}
    sim = staggered(physics, device=device, **sample_dt)
    assert calls["unda_solver_new"] == 1
    assert sim.dt_stable < sim._uniform_dt  # or nothing was settled
    given = staggered(physics, device=device, dt=sim.dt)
    assert (given.dt, given.dt_stable) == (sim.dt, sim.dt_stable)
    for one in (sim, given):
        one.add_source(SOURCES[physics]((40.0, 51.0, 47.0)))
        one.step(12)
    for field in sim.fields:
        assert np.abs(sim.get(field)).max() > 0
        assert np.array_equal(sim.get(field), given.get(field))


@pytest.mark.parametrize(
    "make", [dg, lambda: dg(integrator="ab3"), hexahedra, sem, scalar, lambda: staggered("acoustic")]
)
def test_a_step_takes_four_calls(make, calls):
    sim = make()
    sim.add_source(unda.VolumeInjection((40.0, 51.0, 47.0), unda.ricker(1.0)))
    rec = sim.add_receivers([(31.0, 42.0, 57.0)])
    sim.step(3)
    calls.clear()
    sim.step(1)
    assert sum(calls.values()) <= 4
    assert rec.num_sample == 5
    sim.step(20)
    sim.step(40)  # samples of the call before are in the library until the next
    assert rec.num_sample == 65
