"""Garvin's problem: equations, free surface, full space before it answers, a sum of point sources, refusals.

Not here: spectral elements and DG beside it (tests/sem/test_sem_points.py).
Next: python/unda/exact/garvin.py.
"""

import numpy as np
import pytest
import unda
from exact_helpers import KH, TWIN, elastic_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Elastic

ROCK = Elastic(rho=2000.0, vp=4000.0, vs=2200.0)
F = unda.ricker(10.0)
PLACE = (10.0, 20.0, -150.0)
SHOTS = unda.VolumeInjection(PLACE, F)
T = np.linspace(0.0, 0.7, 141)
ACCURACY = 1e-8  # what the class promises, relative to the peak
V, STRESS = ("vx", "vy", "vz"), ROCK.fields[3:]


def far(one, other, names=V):
    return max(np.abs(one[n] - other[n]).max() for n in names) / max(np.abs(other[n]).max() for n in names)


@pytest.mark.first(2)
@pytest.mark.parametrize("offset", [(180.0, 0.0, 90.0), (-700.0, 0.0, 140.0), (1.0, 0.0, -60.0)])
def test_the_wave_solves_the_equations(offset):
    """Differences of values of that accuracy have 1/KH of its errors, and several of them."""
    wave, h = exact.garvin_problem(ROCK, SHOTS), KH * 2200.0 / (2.0 * np.pi * 25.0)
    where = np.array([np.add(PLACE, offset)]), np.array([0.31]), h
    assert elastic_residual(wave, *where) < 10 * ACCURACY / KH
    off = Elastic(rho=2000.0, vp=4000.0, vs=2200.0 * 1.01)
    assert elastic_residual(wave, *where, off) > TWIN


def test_the_surface_is_free():
    wave = exact.garvin_problem(ROCK, SHOTS)
    on, below = (wave(PLACE[0] - 400.0, 5.0, z, T) for z in (0.0, -4.0))
    inside = np.abs(on["sxx"]).max()
    assert max(np.abs(on[name]).max() for name in ("szz", "syz", "sxz")) < ACCURACY * inside
    assert min(np.abs(below[name]).max() for name in ("szz", "sxz")) > TWIN * inside


def test_before_the_surface_answers_the_wave_is_that_of_full_space():
    """The answer takes 290 m / 4000 m/s, and the source begins at 0."""
    shots, place = (
        unda.VolumeInjection(PLACE, unda.smooth_bump(0.06)),
        (PLACE[0] + 30.0, 0.0, PLACE[2] + 10.0),
    )
    garvin, line = exact.garvin_problem(ROCK, shots), exact.line_source(ROCK, shots)
    t = np.linspace(0.0, 0.0725, 30)
    assert far(garvin(*place, t), line(*place, t)) < ACCURACY
    assert far(garvin(*place, t), line(*place, t), STRESS) < ACCURACY
    assert far(garvin(*place, T), line(*place, T)) > 0.1


@pytest.mark.slow
def test_a_line_is_a_row_of_points():
    """Points 15 m apart are a line for all waves longer than 15 m; where Ricker's spectrum is 1e-10, 55 Hz,
    the slowest are 37 m long. The farthest points are heard when all is over, after 0.36 s from the first.
    """
    bulk = 2000.0 * (4000.0**2 - 4.0 / 3.0 * 2200.0**2)
    moment = unda.MomentTensor(PLACE, F.integral, bulk * np.eye(3))
    points = exact.layered_source(ROCK, moment)
    t, rows = np.linspace(0.1, 0.3, 31), 15.0 * np.arange(-100, 101)
    every = points(PLACE[0] + 250.0, PLACE[1] + rows[:, None], 0.0, t)
    known = exact.garvin_problem(ROCK, moment)(PLACE[0] + 250.0, 0.0, 0.0, t)
    found = {name: 15.0 * values.sum(axis=0) for name, values in every.items()}
    assert far(found, known) < 1e-6 and far(found, known, STRESS) < 1e-6
    assert far(found, exact.garvin_problem(ROCK, SHOTS)(PLACE[0] + 250.0, 0.0, 0.0, t)) < 1e-6


def test_axes_and_sides_are_alike_and_configurations_make_the_same():
    one = exact.garvin_problem(ROCK, SHOTS)
    other = exact.garvin_problem(ROCK, unda.VolumeInjection(PLACE, F), axis="x")
    left, right = one(PLACE[0] - 90.0, 3.0, -20.0, T), one(PLACE[0] + 90.0, 3.0, -20.0, T)
    turned = other(3.0, PLACE[1] + 90.0, -20.0, T)
    pairs = {"vx": "vy", "vy": "vx", "sxx": "syy", "syy": "sxx", "syz": "sxz", "sxz": "syz"}
    for name, values in right.items():
        mirror = -1.0 if name in ("vx", "sxz") else 1.0
        assert np.array_equal(left[name], mirror * values)
        assert np.allclose(turned[pairs.get(name, name)], values, rtol=0, atol=1e-12 * np.abs(values).max())
    again = exact.from_config(other.to_config())
    assert np.array_equal(again(3.0, 110.0, -20.0, T)["vz"], turned["vz"])


@pytest.mark.parametrize(
    ("medium", "source", "given", "place", "words"),
    [
        (Elastic(rho=1.0, vp=1.0, vs=0.0), SHOTS, {}, None, "fluid"),
        (ROCK, unda.PointForce(PLACE, F, (1, 0, 0)), {}, None, "isotropic moment"),
        (ROCK, unda.MomentTensor(PLACE, F, np.diag([1.0, 2.0, 3.0])), {}, None, "isotropic"),
        (ROCK, SHOTS, {"axis": "z"}, None, "along the surface"),
        (ROCK, SHOTS, {"surface": -200.0}, None, "above the surface"),
        (ROCK, SHOTS, {}, (0.0, 0.0, 1.0), "above the free surface"),
        (ROCK, SHOTS, {}, PLACE, "infinite"),
    ],
)
def test_what_it_does_not_know_is_refused(medium, source, given, place, words):
    with pytest.raises(ArgumentError, match=words):
        exact.garvin_problem(medium, source, **given)(*(place or (0, 0, 0)), 1.0)
