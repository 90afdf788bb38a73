"""Moments given by strike, dip and rake, by Voigt's or the Global CMT catalogue's order, are what they mean.

Not here: the waves of a moment (tests/dg/test_dg_point_sources.py).
"""

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError

AT = {"position": (1.0, 2.0, -3.0), "f": unda.step(0.5)}
ANGLES = [(37.0, 25.0, -110.0), (200.0, 80.0, 15.0), (0.0, 90.0, 0.0), (310.0, 45.0, 90.0)]


def aki_richards(strike, dip, rake, m0):
    """Aki & Richards (2002), box 4.4: x north, y east, z down."""
    phi, delta, lamb = np.radians([strike, dip, rake])
    s, c = np.sin, np.cos
    xx = -(s(delta) * c(lamb) * s(2 * phi) + s(2 * delta) * s(lamb) * s(phi) ** 2)
    xy = s(delta) * c(lamb) * c(2 * phi) + 0.5 * s(2 * delta) * s(lamb) * s(2 * phi)
    xz = -(c(delta) * c(lamb) * c(phi) + c(2 * delta) * s(lamb) * s(phi))
    yy = s(delta) * c(lamb) * s(2 * phi) - s(2 * delta) * s(lamb) * c(phi) ** 2
    yz = -(c(delta) * c(lamb) * s(phi) - c(2 * delta) * s(lamb) * c(phi))
    zz = s(2 * delta) * s(lamb)
    return m0 * np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@pytest.mark.parametrize("angles", ANGLES)
def test_strike_dip_and_rake_are_those_of_aki_and_richards(angles):
    expected = aki_richards(*angles, 2e15)
    near = 1e-15 * 2e15 * 4  # a few roundings of numbers up to M0
    same = unda.MomentTensor.from_sdr(*angles, 2e15, **AT, axes=("north", "east", "down"))
    assert np.abs(same.moment - expected).max() <= near
    # x east, y north, z up: the first two change places, the third its sign
    turn = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
    usual = unda.MomentTensor.from_sdr(*angles, 2e15, **AT)
    assert np.abs(usual.moment - turn @ expected @ turn.T).max() <= near
    other = unda.MomentTensor.from_sdr(angles[0] + 1.0, *angles[1:], 2e15, **AT)
    assert np.abs(other.moment - usual.moment).max() > 1e-3 * 2e15


@pytest.mark.parametrize("angles", ANGLES)
def test_a_double_couple_has_no_volume_and_the_scalar_moment(angles):
    m = unda.MomentTensor.from_sdr(*angles, 3.0, **AT).moment
    assert np.allclose(np.linalg.eigvalsh(m), [-3.0, 0.0, 3.0], rtol=0, atol=1e-14)


def test_thrusts_push_up_and_left_lateral_faults_that_strike_north_move_the_east_side_north():
    thrust = unda.MomentTensor.from_sdr(0.0, 45.0, 90.0, 1.0, **AT).moment
    assert np.allclose(thrust, np.diag([-1.0, 0.0, 1.0]), rtol=0, atol=1e-15)
    left = unda.MomentTensor.from_sdr(0.0, 90.0, 0.0, 1.0, **AT).moment
    # dips to the east: seen from the west side, the east one moves to the left, which is north
    assert np.allclose(left, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "axes", [("east", "north", "up"), ("north", "east", "down"), ("south", "up", "west")]
)
def test_the_catalogue_gives_the_tensor_of_its_nodal_planes(axes):
    # r up, t south, p east: rr = zz, tt = xx, pp = yy, rt = xz, rp = -yz, tp = -xy of Aki & Richards
    m = aki_richards(203.0, 10.0, 88.0, 5.31e22)
    six = [m[2, 2], m[0, 0], m[1, 1], m[0, 2], -m[1, 2], -m[0, 1]]
    made = unda.MomentTensor.from_gcmt(six, **AT, axes=axes).moment
    same = unda.MomentTensor.from_sdr(203.0, 10.0, 88.0, 5.31e22, **AT, axes=axes).moment
    assert np.abs(made - same).max() < 1e-14 * 5.31e22
    six[4] = -six[4]
    assert np.abs(unda.MomentTensor.from_gcmt(six, **AT, axes=axes).moment - same).max() > 0.1 * 5.31e22


def test_voigts_order_is_that_of_the_stresses():
    source = unda.MomentTensor.from_voigt([1, 2, 3, 4, 5, 6], **AT)
    rates = source.rates(unda.Elastic(rho=2000.0, vp=4000.0, vs=2000.0), 0)
    assert [-rates[name] for name in ("sxx", "syy", "szz", "syz", "sxz", "sxy")] == [1, 2, 3, 4, 5, 6]
    again = unda.problem.source.Source.from_config(source.to_config())
    assert (again.moment == source.moment).all() and again.position == (1.0, 2.0, -3.0)


@pytest.mark.parametrize("make, found", [
    (lambda kind: kind.from_sdr(0, 91, 0, 1.0, **AT), "dip is 91.0 degrees; expected 0 to 90"),
    (lambda kind: kind.from_sdr(0, 9, 0, 0.0, **AT), "M0 is 0.0"),
    (lambda kind: kind.from_sdr(0, 9, 0, 1.0, **AT, axes=("north", "south", "up")), "right angles"),
    (lambda kind: kind.from_sdr(0, 9, 0, 1.0, **AT, axes="xyz"), "expected three of east, north"),
    (lambda kind: kind.from_sdr(0, 9, 0, 1.0, **AT, axes=None), "axes are None; expected three of east"),
    (lambda kind: kind.from_gcmt(np.eye(3), **AT), r"shape \(3, 3\); expected six"),
    (lambda kind: kind.from_voigt([1, 2, 3, 4, 5, np.nan], **AT), r"moment\[5\] is nan"),
    (lambda kind: kind.from_voigt(np.zeros(6), **AT), "moment is zero"),
])  # fmt: skip
def test_bad_moments_are_named(make, found):
    with pytest.raises(ArgumentError, match=found):
        make(unda.MomentTensor)
