"""Conductors take from E what sigma says: alone, and in waves.

Not here: orders in conductors (test_dg_orders.py), the rate at which energy is lost (test_dg_rhs.py), what
conductors reflect (test_dg_reflection.py).
"""

import numpy as np
import pytest
import unda
from test_dg_energy import amplification
from unda import exact
from wave_runs import box


def make(mesh, medium, **options):
    return unda.DG(mesh, medium, dtype="float64", device="cpu", **options)


@pytest.mark.parametrize("sigma", [0.7, 1e3])
def test_a_uniform_field_decays_by_the_integrator_alone(sigma):
    """R(-sigma dt / eps)^n, between magnetic walls that let E be; stiff as well."""
    medium = unda.Maxwell(eps=1.3, mu=0.9, sigma=sigma)
    sim = make(box(2), medium, degree=2, boundary={"*": "pmc"}, cfl=1.0)
    sim.set(ex=1.0, ey=-2.0, ez=0.5)
    sim.step(7)
    left = float(amplification(np.array(-sigma / 1.3 * sim.dt))) ** 7
    for name, value in (("ex", 1.0), ("ey", -2.0), ("ez", 0.5)):
        assert np.abs(sim.get(name) - left * value).max() < 1e-12
        assert np.abs(sim.get(name) - 1.001 * left * value).max() > 1e-12
    assert max(np.abs(sim.get(name)).max() for name in ("hx", "hy", "hz")) < 1e-12


def complex_frequency(medium, k, until):
    """Of a plane wave in a periodic box, from its amplitude at the start and at the end."""
    sim = make(box(3, periodic=(True,) * 3), medium, degree=4)
    wave = exact.plane_wave(medium, k=k, polarization=(0, 1, 0))
    sim.set(wave)
    points = np.column_stack([np.arange(24) / 24, np.full(24, 0.31), np.full(24, 0.43)])
    turn = np.exp(-1j * k[0] * points[:, 0])

    def amplitude():
        return sim.sample(points, ["ey"])["ey"] @ turn

    start = amplitude()
    sim.run(until=until)
    return 1j * np.log(amplitude() / start) / sim.t


@pytest.mark.parametrize("sigma", [0.0, 0.5, 2.0])
def test_waves_lose_and_turn_as_their_complex_frequency_says(sigma):
    """eps mu w^2 + i sigma mu w = k^2, to 0.1 %; the logarithm is unique for less than half a period."""
    medium, k = unda.Maxwell(eps=1.3, mu=0.9, sigma=sigma), np.array([2 * np.pi, 0, 0])
    decay = sigma / 2 / 1.3
    expected = np.sqrt((2 * np.pi) ** 2 / (1.3 * 0.9) - decay**2) - 1j * decay
    found = complex_frequency(medium, k, 0.4)
    assert abs(found - expected) < 1e-3 * abs(expected)
    other = complex_frequency(unda.Maxwell(eps=1.3, mu=0.9, sigma=sigma + 0.05), k, 0.4)
    assert abs(other - expected) > 1e-3 * abs(expected)
