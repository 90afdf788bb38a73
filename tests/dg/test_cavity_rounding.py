"""What rounding the operator's entries does to the frequency of a cavity, and so to its phase after long.

The mode p = cos(pi x) cos(w t), v_x = sin(pi x) sin(w t) between rigid walls, rho = c = 1. With M the mass
matrix, under which dq/dt = A q is skew (central flux), a change of A changes its frequency, to first order,
by the Rayleigh quotient

    dw = (V' M dA P - P' M dA V) / (P' M P + V' M V),    P = (cos pi x, 0), V = (0, sin pi x),

and does not change its energy, since dA takes p to v and v to p. P and V do not jump, so lifts do not count:
A is D_1, D_2, D_3 and the metric. Entry e of these three matrices, the same in all cells, changes by
(1 + d_e): dw / w = sum of s_e d_e, the same in every period. Rounding to so many bits, |d_e| <= u, evenly
spread and independent, gives a standard deviation of u sqrt(sum of s_e^2 / 3). Three of them are what plain
float32, u = 2^-24, may be off without a fault: 0.7 to 1 times 2^-24 here. Rounded metrics differ from cell to
cell, and so nearly cancel; rounded states are chance, in 60,000 stages and more of over 10,000 numbers.

Pairs of FP16 numbers hold 22 bits, so kernel tensor may be off by four times as much, and by what its sums
lose, which tensor cores round towards zero: sums that are always too small are a frequency that is too low.
Measured on an H100 (benchmarks/NOTES.md), in 2^-24 of the angle: tensor 1.5 and 2.6 behind at degrees 3 and
6, of which the rounded entries are 0.4 and 1.6, as computed here.
Not here: that phase on a device (test_tensor_waves.py).
"""

import functools

import numpy as np
import pytest
from test_blocks import element
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
    """s_e of each entry [direction][row][column], times w."""
    derivative, mesh = element(degree)["derivative"], box(bricks)
    x = mesh.coordinates(degree)
    map_ = np.einsum("jmk,ekx->emxj", derivative, x)[:, 0]
    slope, volume = np.linalg.inv(map_)[:, :, 0], np.abs(np.linalg.det(map_))  # dr_j/dx, a cell a row
    p, v = np.cos(np.pi * x[..., 0]), np.sin(np.pi * x[..., 0])
    of_p, of_v = (volume[:, None] * (one @ mass(degree)) for one in (p, v))
    found = np.einsum("ej,em,ek->jmk", slope, of_p, v) - np.einsum("ej,em,ek->jmk", slope, of_v, p)
    return found * derivative / ((p * of_p).sum() + (v * of_v).sum())


def off_by(degree, bricks, rounded):
    """dw / w if the matrices D become rounded(D)."""
    exact = element(degree)["derivative"]
    change = np.divide(rounded(exact) - exact, exact, where=exact != 0, out=np.zeros_like(exact))
    return (shares(degree, bricks) * change).sum() / np.pi


def spread(degree, bricks):
    """Standard deviation of dw / w for entries that are rounded by up to 1."""
    return np.sqrt((shares(degree, bricks) ** 2).sum() / 3) / np.pi


def plain_floor(degree, bricks):
    """What plain float32 may be off without a fault, of the angle."""
    return 3 * spread(degree, bricks) * PLAIN


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
def test_the_quotient_is_the_frequency(degree, bricks):
    """To the square of the mode's error, which is below 1e-3 at degree 3 and three bricks."""
    assert shares(degree, bricks).sum() == pytest.approx(np.pi, rel=1e-6)


@pytest.mark.parametrize(("degree", "bricks"), CAVITIES)
def test_rounded_entries_move_the_frequency_as_chance_has_it(degree, bricks):
    plain, pairs = (abs(off_by(degree, bricks, rounded)) for rounded in (as_float32, as_pairs))
    assert 0 < plain <= plain_floor(degree, bricks) <= PLAIN
    assert 0 < pairs <= PAIR / PLAIN * plain_floor(degree, bricks)
    assert pairs < 10 * plain_floor(degree, bricks) < abs(off_by(degree, bricks, lambda d: as_pairs(d, 1)))
