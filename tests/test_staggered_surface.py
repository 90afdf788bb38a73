"""The free surface of the elastic scheme: Rayleigh waves have their speed, Lamb's problem its trace.

Stresses imaged, velocities imaged evenly: of second order at any order, 1 % at 10 nodes a wavelength. Not
here: energy and reciprocity with free surfaces (test_staggered_energy.py, test_staggered_points.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import staggered

ROCK = unda.Elastic(rho=2.0, vp=np.sqrt(3.0), vs=1.0)
SPEED = 0.9194016867619662  # of Rayleigh waves for vp = sqrt(3) vs


@pytest.mark.parametrize("order, bar", [(2, 0.011), (4, 0.007), (8, 0.01)])
@pytest.mark.parametrize("axis", [0, 1])
def test_rayleigh_waves_have_their_speed(axis, order, bar):
    """A period of 10 nodes along x or y, eight wavelengths deep; the phase after 20 periods.

    Errors of space alone: -0.83, 0.48, 0.48 % for orders 2, 4, 8; the step in time adds less than 0.02 %.
    """
    num, depth = 10, 60
    shape = (num, 1, depth) if axis == 0 else (1, num, depth)
    grid = unda.Grid(shape, 1.0, origin=(0, 0, 1.0 - depth))
    k = 2 * np.pi / num
    sides = {"zmax": "free", "zmin": "fixed", "*": "periodic"}
    sim = staggered(grid, ROCK, order=order, boundary=sides, cfl=0.2)
    a, b = np.sqrt(1 - (SPEED / np.sqrt(3)) ** 2), np.sqrt(1 - SPEED**2)
    ratio = (1 + b * b) / 2  # of potentials: r1 exp(a k z) - ratio exp(b k z)

    def along(x, y, z):
        return (np.exp(a * k * z) - ratio * np.exp(b * k * z)) * np.cos(k * (x if axis == 0 else y))

    def up(x, y, z):
        return (a * np.exp(a * k * z) - ratio / b * np.exp(b * k * z)) * np.sin(k * (x if axis == 0 else y))

    name = "vx" if axis == 0 else "vy"
    sim.set(**{name: along, "vz": up})  # a standing wave: velocities at their largest
    rec = sim.add_receivers([(0.0, 0.0, 0.0)], [name])
    sim.run(until=20 * num / SPEED)
    trace, t = rec[name][0], rec.times(name)
    frequency = np.linspace(0.95, 1.05, 2001) * SPEED / num
    window = np.hanning(len(t)) * trace
    power = np.abs(np.exp(2j * np.pi * np.outer(frequency, t)) @ window)
    found = frequency[power.argmax()] * num
    assert abs(found / SPEED - 1) < bar, found / SPEED - 1


@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0, 0)])
def test_lambs_problem(direction):
    """A force on the surface, traces 0.8 wavelengths away, on it and below, 30 nodes a wavelength: 7 %.

    The surface is of second order: 0.2 % of the speed at 15 nodes a wavelength (twice f0), 2 % of a cycle.
    """
    f0 = 1.0 / 30
    grid = unda.Grid((33, 17, 21), 1.0, origin=(-4.0, -8.0, -20.0))
    push = unda.PointForce((0, 0, 0), unda.ricker(f0), direction)
    sides = {"zmax": "free", "*": unda.CPML(width=10, f0=f0)}
    sim = unda.FD(grid, ROCK, scheme="staggered", order=4, boundary=sides, cfl=0.5, device="cpu")
    sim.add_source(push)
    rec = sim.add_receivers([(24.0, 0.0, 0.0), (24.0, 0.0, -6.0)], ["vx", "vz"])
    sim.run(until=24.0 / 0.9 + 2.6 / f0)
    exact = unda.exact.lamb_problem(ROCK, push)
    x, y, z = rec.points.T[:, :, None]
    wanted = exact(x, y, z, rec.times("vx")[None])
    wrong = sum(((rec[name] - wanted[name]) ** 2).sum(axis=1) for name in ("vx", "vz"))
    size = sum((wanted[name] ** 2).sum(axis=1) for name in ("vx", "vz"))
    assert (np.sqrt(wrong / size) < 0.07).all(), np.sqrt(wrong / size)
