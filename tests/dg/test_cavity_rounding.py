"""What rounded numbers do to the frequency of a cavity, and so to its phase after many periods.

The mode p = cos(pi x) cos(w t), v_x = sin(pi x) sin(w t) between rigid walls, rho = c = 1. With M the mass
matrix, under which dq/dt = A q is skew (central flux), a change of A changes its frequency, to first order,
by the Rayleigh quotient

    dw = (V' M dA P - P' M dA V) / (P' M P + V' M V),    P = (cos pi x, 0), V = (0, sin pi x),

and does not change its energy, since dA takes p to v and v to p. P and V do not jump, so lifts do not count:
A is D_1, D_2, D_3 and the metric. What is off is so in every period:

- entries of the matrices D, the same in all cells, by the quotient;
- dt and the numbers of the integrator (lsrk4): w is off as the logarithm of what a step multiplies by;
- the metric, which differs from cell to cell, so that little of it is left.

A number is rounded by up to 2^-24 of itself in float32, evenly spread; independent of the others it adds
(2^-24 s)^2 / 3 to the variance of dw / w, where s is its share. Three standard deviations are what plain
float32 may be off without a fault: 2.1 and 2.3 times 2^-24 here.
Rounded states are chance: 60,000 stages and more of over 6,000 numbers.

Pairs of FP16 numbers hold 22 bits, so kernel tensor may be off by four times as much by its entries, and by
what its sums lose, which tensor cores round towards zero: half a unit of the last place on average, which is
0.36 times 2^-23 of a number, and sums that are too small are a frequency that is too low. Measured on an
H100, central and upwind flux, dw / w in 2^-24, beside what `predicted` gives without the metric:

    degree 3: plain -0.01, 0.93 (predicted 0.00, 0.92), tensor -2.1, -1.0 (-0.6, 0.4: sums lose 1.5, 1.4)
    degree 6: plain 1.58, 1.31 (predicted 1.53, 1.28), tensor -1.5, -1.9 (-1.0, -1.2: sums lose 0.6, 0.7)

Not here: runs on a device (test_tensor_waves.py).
"""

import functools

import numpy as np
import pytest
from test_blocks import element
from test_dg_energy import LSRK_A, LSRK_B
from unda._core import ffi, lib, new_struct
from wave_runs import box

CAVITIES = ((3, 3), (6, 2))  # degree, bricks along an edge
PLAIN, PAIR = 2.0**-24, 2.0**-22


def mass(degree):
    """The mass matrix of the reference tetrahedron."""
    num = lib.unda_element_num_node(0, degree)
    found, arrays = np.zeros((num, num)), new_struct("unda_element_arrays")
    arrays.mass = ffi.cast("double *", found.ctypes.data)
    assert lib.unda_element_get_arrays(0, degree, arrays) == 0
    return found


@functools.cache
def shares(degree, bricks):
    """Shares of w: of each entry [direction][row][column], of each metric number [cell][direction]."""
    derivative, mesh = element(degree)["derivative"], box(bricks)
    x = mesh.coordinates(degree)
    map_ = np.einsum("jmk,ekx->emxj", derivative, x)[:, 0]
    slope, volume = np.linalg.inv(map_)[:, :, 0], np.abs(np.linalg.det(map_))  # dr_j/dx, a cell a row
    p, v = np.cos(np.pi * x[..., 0]), np.sin(np.pi * x[..., 0])
    of_p, of_v = (volume[:, None] * (one @ mass(degree)) for one in (p, v))
    whole = np.pi * ((p * of_p).sum() + (v * of_v).sum())
    entries = np.einsum("ej,em,ek->jmk", slope, of_p, v) - np.einsum("ej,em,ek->jmk", slope, of_v, p)
    rates = [slope[..., None] * np.einsum("jmk,ek->ejm", derivative, one) for one in (v, p)]
    metric = np.einsum("em,ejm->ej", of_p, rates[0]) - np.einsum("em,ejm->ej", of_v, rates[1])
    return entries * derivative / whole, metric / whole


def off_by(degree, bricks, rounded):
    """dw / w if the matrices D become rounded(D)."""
    exact = element(degree)["derivative"]
    change = np.divide(rounded(exact) - exact, exact, where=exact != 0, out=np.zeros_like(exact))
    return (shares(degree, bricks)[0] * change).sum()


def factor(numbers, z):
    """What a step multiplies by; numbers: a factor of dt, then a and b of the stages."""
    r, q = 0.0, 1.0 + 0j
    for a, b in zip(numbers[1:6], numbers[6:], strict=True):
        r = a * r + numbers[0] * z * q
        q += b * r
    return q


def integrator_off_by(dt):
    """dw / w if dt and the integrator's numbers are those of float32."""
    exact = np.array([1.0, *LSRK_A, *LSRK_B])
    rounded = np.array([as_float32(np.array(dt)) / dt, *as_float32(exact[1:])])
    z = 1j * np.pi * dt
    return ((np.log(factor(rounded, z)) - np.log(factor(exact, z))) / z).real


@functools.cache
def integrator_shares():
    """Shares of w of dt and of the integrator's numbers, in short steps."""
    exact, z, little = np.array([1.0, *LSRK_A, *LSRK_B]), 1e-3j, 1e-6
    changed = [np.where(np.arange(len(exact)) == i, exact * (1 + little), exact) for i in range(len(exact))]
    return np.array([(np.log(factor(one, z) / factor(exact, z)) / z).real for one in changed]) / little


def predicted(degree, bricks, dt, rounded):
    """dw / w with such matrices, but for metric and sums."""
    return off_by(degree, bricks, rounded) + integrator_off_by(dt)


def chance(*of):
    """Three standard deviations of dw / w for numbers with these shares, rounded to float32."""
    return 3 * PLAIN * np.sqrt(sum((one**2).sum() for one in of) / 3)


def metric_chance(degree, bricks):
    return chance(shares(degree, bricks)[1])


def plain_floor(degree, bricks):
    """What plain float32 may be off without a fault, of the angle."""
    return chance(*shares(degree, bricks), integrator_shares())


def as_float32(matrix):
    return matrix.astype(np.float32).astype(float)


def as_pairs(matrix, parts=2):
    """Scaled as csrc/dg/kernel_tensor.c does, and rounded to the sum of two FP16 numbers."""
    scale = 2.0 ** (14 - np.floor(np.log2(np.abs(matrix).max())))
    found = np.zeros_like(matrix)
    for _ in range(parts):
        found += (scale * matrix - found).astype(np.float16).astype(float)
    return found / scale


@pytest.mark.parametrize(("degree", "bricks"), CAVITIES)
def test_the_shares_of_all_numbers_make_the_whole_frequency(degree, bricks):
    """To the square of the mode's error, which is below 1e-3 at degree 3 and three bricks."""
    assert [one.sum() for one in shares(degree, bricks)] == pytest.approx([1, 1], rel=1e-6)
    assert integrator_shares()[0] == pytest.approx(1, rel=1e-5)
    assert np.abs(integrator_off_by(0.01) - integrator_off_by(0.011)) > 1e-9  # dt is rounded, too


@pytest.mark.parametrize(("degree", "bricks"), CAVITIES)
def test_rounded_entries_move_the_frequency_as_chance_has_it(degree, bricks):
    plain, pairs = (abs(off_by(degree, bricks, rounded)) for rounded in (as_float32, as_pairs))
    of_entries = chance(shares(degree, bricks)[0])
    assert 0 < plain <= of_entries
    assert 0 < pairs <= PAIR / PLAIN * of_entries
    assert 10 * plain_floor(degree, bricks) < abs(off_by(degree, bricks, lambda d: as_pairs(d, 1)))
