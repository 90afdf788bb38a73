"""A dipole's field is static nearby, a transverse wave far away, and carries Larmor's power.

Not here: its equations (test_exact_maxwell.py).
Next: python/unda/exact/dipole.py.
"""

import numpy as np
import pytest
import unda
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Maxwell
from unda.problem.timefunction import ricker, wrap

MEDIUM = Maxwell(eps=2.25, mu=1.3)
C, Z = 1.0 / np.sqrt(2.25 * 1.3), np.sqrt(1.3 / 2.25)
F = unda.gaussian(1.0)
D = np.array([1.0, -2.0, 2.0]) / 3.0
PLACE = np.array([0.1, -0.2, 0.3])
WAVE = exact.point_source(MEDIUM, unda.CurrentDipole(PLACE, F, 3.0 * D))


def at(directions, r, t, wave=WAVE):
    values = wave(*(PLACE + r * directions).T, t)
    e, h = (np.stack([values[group + axis] for axis in "xyz"], axis=1) for group in "eh")
    return e, h


def directions(num=20):
    vectors = np.random.default_rng(5).normal(size=(num, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("t", [1.3, 1.5, 1.9])
def test_nearby_are_the_static_dipole_and_biot_and_savarts_field(t):
    r, n = 1e-5, directions()
    e, h = at(n, r, t)
    static = (3.0 * np.outer(n @ D, 1.0) * n - D) * F.integral(t) / (4.0 * np.pi * 2.25 * r**3)
    magnetic = np.cross(D, n) * F(t) / (4.0 * np.pi * r**2)
    # retardation changes both to second order in r fmax/c only
    assert np.abs(e - static).max() < 1e-7 * np.abs(static).max()
    assert np.abs(h - magnetic).max() < 1e-7 * np.abs(magnetic).max()


def test_after_the_pulse_the_charges_it_moved_stay():
    n = directions()
    e, h = at(n, 0.7, 50.0)
    static = (3.0 * np.outer(n @ D, 1.0) * n - D) * F.integral(50.0) / (4.0 * np.pi * 2.25 * 0.7**3)
    assert np.allclose(e, static, rtol=1e-13, atol=1e-15) and np.abs(h).max() < 1e-15


def test_far_away_is_a_transverse_wave_of_the_rate_of_the_current():
    r, n = 1e5, directions()
    t = r / C + 1.5 + 0.2
    e, h = at(n, r, t)
    across = np.outer(n @ D, 1.0) * n - D
    expected = 1.3 * F.derivative(t - r / C) / (4.0 * np.pi * r) * across
    assert np.abs(e - expected).max() < 2e-5 * np.abs(expected).max()
    assert np.abs(Z * h - np.cross(n, e)).max() < 2e-5 * np.abs(e).max()


def test_power_through_a_sphere_is_that_of_larmor():
    # Gauss in cos theta, equidistant in phi: exact for this dipole pattern
    cosine, weight = np.polynomial.legendre.leggauss(4)
    phi = 2.0 * np.pi * np.arange(6) / 6.0
    theta = np.repeat(np.arccos(cosine), 6)
    phi = np.tile(phi, 4)
    n = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)
    area = np.repeat(weight, 6) * 2.0 * np.pi / 6.0
    t, r = np.linspace(0.0, 4.0, 2001) + 0.9 / C, 0.9
    power = np.array([area @ np.sum(np.cross(*at(n, r, one)) * n, axis=1) * r**2 for one in t])
    rate = F.derivative(t - r / C)
    # over the whole pulse: what the near field takes it gives back, but for the energy of the charges
    # that stay outside the sphere, p^2/(12 pi eps r^3)
    left = F.integral(50.0) ** 2 / (12.0 * np.pi * 2.25 * r**3)
    larmor = Z * np.sum(rate**2) / (6.0 * np.pi * C**2)
    dt = t[1] - t[0]
    assert np.sum(power) * dt == pytest.approx(larmor * dt + left, rel=1e-8)


def test_nothing_arrives_before_light():
    source = unda.CurrentDipole(PLACE, unda.smooth_bump(1.0), D)
    wave = exact.point_source(MEDIUM, source)
    e, h = at(directions(), 2.0, 2.0 / C - 1e-9, wave)
    assert np.all(e == 0.0) and np.all(h == 0.0)
    assert np.abs(at(directions(), 2.0, 2.0 / C + 0.3, wave)[0]).max() > 0.01


def test_sources_and_media_without_a_solution_are_refused():
    source = unda.CurrentDipole(PLACE, F, D)
    with pytest.raises(ArgumentError, match=r"sigma is 0\.1 S/m; expected 0"):
        exact.point_source(Maxwell(eps=1.0, mu=1.0, sigma=0.1), source)
    with pytest.raises(ArgumentError, match="CurrentDipole drives maxwell waves; the medium is acoustic"):
        exact.point_source(unda.Acoustic(rho=1.0, c=1.0), source)
    with pytest.raises(ArgumentError, match="VolumeInjection drives acoustic and elastic waves"):
        exact.point_source(MEDIUM, unda.VolumeInjection(PLACE, F))
    with pytest.raises(ArgumentError, match=r"plain callable; expected a time function"):
        exact.point_source(MEDIUM, unda.CurrentDipole(PLACE, np.sin, D))
    with pytest.raises(ArgumentError, match=r"no known integral; unda\.sampled"):
        exact.point_source(MEDIUM, unda.CurrentDipole(PLACE, wrap(np.sin, 0.1), D))
    with pytest.raises(ArgumentError, match="a point is the source's own"):
        exact.point_source(MEDIUM, unda.CurrentDipole(PLACE, ricker(1.0), D))(*PLACE, 1.0)
