"""The spherical pulse starts as it should and loses no digits at its center.

Not here: the equations (test_exact_solutions.py).
Next: python/unda/exact/pulse.py.
"""

import numpy as np
import pytest
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic

RHO, C, WIDTH = 2.0, 3.0, 0.1
MEDIUM = Acoustic(rho=RHO, c=C)
PULSE = exact.spherical_pulse(MEDIUM, (0.0, 0.0, 0.0), WIDTH, amplitude=5.0)


def textbook(r, t):
    """p = [g(r - ct) + g(r + ct)]/(2 r) as printed, and v_r from its potential; bad at small r."""
    near, far = r - C * t, r + C * t
    f_near, f_far = (np.exp(-(u**2) / (2.0 * WIDTH**2)) for u in (near, far))
    p = 5.0 * (near * f_near + far * f_far) / (2.0 * r)
    jump = (near * f_near - far * f_far) / r + WIDTH**2 * (f_near - f_far) / r**2
    return p, 5.0 * jump / (2.0 * RHO * C)


def difference(r, t, factor=1.0):
    p, v_r = textbook(r, t)
    found = PULSE(r, 0.0, 0.0, t)
    return max(np.abs(found["p"] - factor * p).max(), RHO * C * np.abs(found["vx"] - v_r).max())


def test_pulse_equals_the_textbook_formula_away_from_the_center():
    r, t = np.linspace(0.05, 2.0, 300), np.linspace(-0.5, 0.5, 41)[:, None]
    # the textbook form cancels: eps amplitude (width/r)^2 and eps 2/r
    assert difference(r, t) < 1e-13
    assert difference(r, t, factor=1.01) > 1e-2


def test_pulse_starts_at_rest_with_the_gaussian():
    r = np.linspace(0.0, 0.5, 20)
    values = PULSE(r, 0.0, 0.0, 0.0)
    assert np.allclose(values["p"], 5.0 * np.exp(-(r**2) / (2.0 * WIDTH**2)), rtol=1e-14, atol=0)
    assert np.all(values["vx"] == 0.0)


@pytest.mark.parametrize("t", [0.01, 0.05, 0.3])
def test_pulse_is_smooth_through_the_center_and_through_the_end_of_the_series(t):
    # p is even and v_r odd in r: both obey their Taylor polynomials where the textbook form fails.
    a, s = C * t, WIDTH
    at_center = 5.0 * (1.0 - (a / s) ** 2) * np.exp(-(a**2) / (2.0 * s**2))
    slope = 5.0 * a / (RHO * C * s**2) * (1.0 - (a / s) ** 2 / 3.0) * np.exp(-(a**2) / (2 * s**2))
    values = PULSE(np.array([0.0, 1e-9, -1e-9]), 0.0, 0.0, t)
    assert np.allclose(values["p"], at_center, rtol=1e-12, atol=1e-30)
    assert np.allclose(values["vx"], slope * np.array([0.0, 1e-9, -1e-9]), rtol=1e-12, atol=1e-30)
    switch = s**2 / a  # x = r a/s^2 = 1
    sides = PULSE(switch * np.array([1.0 - 1e-12, 1.0 + 1e-12]), 0.0, 0.0, t)["vx"]
    assert sides[0] == pytest.approx(sides[1], rel=1e-10)


def test_far_and_late_values_underflow_without_a_warning():
    with np.errstate(all="raise", under="ignore"):
        values = PULSE(np.array([0.0, 1e3, 1e6]), 0.0, 0.0, 1e3)
    assert all(np.all(np.isfinite(array)) for array in values.values())


@pytest.mark.parametrize("width", [0.0, -1.0, float("nan"), "wide", None])
def test_width_must_be_a_positive_number(width):
    with pytest.raises(ArgumentError, match="width is"):
        exact.spherical_pulse(MEDIUM, (0, 0, 0), width)
