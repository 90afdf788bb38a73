"""The free surface of the elastic scheme: Rayleigh waves have their speed, Lamb's problem its trace.

Stresses imaged, velocities imaged evenly: the speed is of second order at any order, 1 % at 10 nodes a
wavelength, and so is vertical motion; horizontal motion of the nodes on the surface, from order 4 on, is of
first order (benchmarks/surface_mode.py). Not here: points at the surface (test_points_at_walls.py), energy
and reciprocity (test_staggered_energy.py, test_staggered_points.py).
"""

import sys
from pathlib import Path

import numpy as np
import pytest
import unda
from staggered_cases import staggered

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from surface_mode import expected_error, wave

VP = np.sqrt(3.0)
ROCK = unda.Elastic(rho=2.0, vp=VP, vs=1.0)
SPEED = 0.9194016867619662  # of Rayleigh waves for vp = sqrt(3) vs


@pytest.mark.each_value
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


def test_what_the_schemes_wave_is_known_to_be():
    """Between 20 and 40 nodes a wavelength: the speed is of second order at any order (a ratio of 4, and at
    least 3), what a horizontal force makes of vx of second at order 2, of first beyond (2; less than 3)."""
    for order in (2, 4, 8):
        omega, k, ratio = wave(order, 0.0, 0, VP, 1.0)
        speed = np.interp(2 * np.pi / np.array([20, 40]), k[1:], omega[1:] / k[1:]) / SPEED - 1
        across = np.interp(2 * np.pi / np.array([20, 40]), k, ratio[:, 0, 0]) - 1
        assert speed[0] / speed[1] > 3, (order, speed)
        assert (across[0] / across[1] > 3) == (order == 2), (order, across)


@pytest.mark.parametrize("direction", [(0, 0, 1), pytest.param((1, 0, 0), marks=pytest.mark.slow)])
def test_lambs_problem(direction):
    """A force on the surface, traces on it 0.8 wavelengths away, 30 nodes a wavelength: each component within
    0.5 % of its norm of what speed and shape of the scheme's own Rayleigh wave make of the exact one, known
    before the run: 1.7 % of vz of a vertical force, 5.2 % of vx, which at the surface's own nodes is of first
    order, and twice that with a horizontal force (docs/free_surface.md).

    And six cells below vz to 2 % of a vertical force.
    """
    f0, distance = 1.0 / 30, 24.0
    grid = unda.Grid((33, 17, 21), 1.0, origin=(-4.0, -8.0, -20.0))
    push = unda.PointForce((0, 0, 0), unda.ricker(f0), direction)
    sides = {"zmax": "free", "*": unda.CPML(width=10, f0=f0)}
    sim = unda.FD(grid, ROCK, scheme="staggered", order=4, boundary=sides, cfl=0.5, device="cpu")
    sim.add_source(push)
    rec = sim.add_receivers([(distance, 0.0, 0.0), (distance, 0.0, -6.0)], ["vx", "vz"])
    t = np.arange(0.0, distance / 0.9 + 2.6 / f0, sim.dt)
    exact = unda.exact.lamb_problem(ROCK, push)
    force, bars = int(direction[2] > 0), []
    for field, name in enumerate(("vx", "vz")):
        trace = exact(distance, 0.0, 0.0, t)[name]
        bars.append(expected_error(4, sim.dt, distance, 0.0, t, trace, force, field, VP, 1.0))
    assert max(bars) < (0.06 if force else 0.12) and bars[1] < (0.02 if force else 0.06)  # a bar that binds
    sim.run(until=t[-1])
    x, y, z = rec.points.T[:, :, None]
    wanted = exact(x, y, z, rec.times("vx")[None])
    for bar, name in zip(bars, ("vx", "vz"), strict=True):
        wrong = np.linalg.norm(rec[name] - wanted[name], axis=1) / np.linalg.norm(wanted[name], axis=1)
        assert wrong[0] < bar + 0.005, (name, wrong, bar)
    if force:
        assert wrong[1] < 0.02, wrong
