"""The discrete energy is constant to rounding, and the stable step is that of the coupled operator.

A step rounds each unknown by half an eps, and the energy's share of it by about that: after n steps the
energy may have changed by some 10 n eps.
"""

import numpy as np
import pytest
import unda
from hex_meshes import turned_box
from sem_cases import solid_and_fluid, start, wave

EPS = np.finfo(float).eps
STEPS = 150


def sound(boundary="rigid"):
    mesh = turned_box((2, 2, 3), periodic=(True, False, False))
    medium = unda.Acoustic(rho=lambda x, y, z: 1 + x, c=lambda x, y, z: 2 + y, per="node")
    return mesh, medium, {"*": boundary}


def both(boundary, **kind):
    return (*solid_and_fluid(**kind), boundary)


CASES = {
    "sound, rigid": sound,
    "sound, free": lambda: sound("free"),
    "both, free": lambda: both({"*": "free"}, per="node"),
    "both, fixed": lambda: both({"*": "fixed"}),
    "both, mixed": lambda: both({"xmin": "fixed", "ymax": "free", "*": "symmetry"}),
    "heavy fluid on light solid": lambda: both({"*": "symmetry"}, fluid=(20.0, 1.5), solid=(0.2, 2.0, 1.1)),
}


def change(case, factor=0.9, steps=STEPS):
    """Return the relative change of energy after steps of `factor` times the stable one."""
    mesh, medium, boundary = CASES[case]()
    sim = unda.SEM(
        mesh, medium, degree=3, boundary=boundary, dtype="float64", cfl=factor, allow_unstable=True
    )
    if "sound" in case:  # periodic along x
        f = wave(3)
        sim.set(
            chi=lambda x, y, z: f(0 * x, y, z), chi_t=lambda x, y, z: f(0 * x, z, y) + np.sin(2 * np.pi * x)
        )
    else:
        start(sim)
    before = sim.energy()
    sim.step(steps)
    return sim.energy() / before - 1


@pytest.mark.parametrize("case", CASES)
def test_energy_is_constant_to_rounding(case):
    assert abs(change(case)) <= 10 * STEPS * EPS


def one_cell_of_sound():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    return mesh, unda.Acoustic(rho=1.0, c=1.0)


@pytest.mark.parametrize("make", [solid_and_fluid, one_cell_of_sound])
def test_absorbing_sides_take_energy(make):
    sim = start(unda.SEM(*make(), degree=3, dtype="float64"))
    energy = [sim.energy()]
    for _ in range(5):
        sim.step(30)
        energy.append(sim.energy())
    assert (np.diff(energy) < 0).all() and 0 <= energy[-1] < 0.05 * energy[0]


@pytest.mark.parametrize("case", ["sound, rigid", "both, free", "heavy fluid on light solid"])
def test_the_limit_of_the_step_is_sharp(case):
    """At 1.01 times the limit the worst mode grows by exp(2 asinh(sqrt(1.009^2 - 1))) = 1.3 a step, and more
    than 1e-10 of the energy is in it."""
    assert abs(change(case, 0.99, 400)) <= 10 * 400 * EPS
    assert abs(change(case, 1.01, 400)) > 1e10


def test_energy_falls_up_to_the_limit_where_all_sides_absorb():
    """Modes of the shortest waves on the interface hardly reach the sides: they may stay, but not grow."""
    mesh, medium = solid_and_fluid(fluid=(20.0, 1.5), solid=(0.2, 2.0, 1.1))
    sim = start(unda.SEM(mesh, medium, degree=3, dtype="float64", cfl=0.99))
    energy = [sim.energy()]
    for _ in range(5):
        sim.step(300)
        energy.append(sim.energy())
    assert (np.diff(energy) < 0).all() and energy[1] < 0.3 * energy[0]
