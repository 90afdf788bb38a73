"""What float32 rounds in the scalar scheme: one sum a step like p, of a constant nothing (docs/fd_scalar.md).

A wave cos(k (x + y + z) + a) of a periodic cube has eight values, whatever the order, so that its
run is repeated here, operation by operation, in milliseconds. Not here: what plans take (test_plan.py).
"""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import unda
from fd_reference import radians_per_step, stable_step

NUM, EPS = 8, float(np.finfo(np.float32).eps)
K = 2 * np.pi / NUM


def fma(a, b, c):
    """Round a b + c once (twice, in one of 2^29)."""
    return (np.float64(a) * b + c).astype(np.float32)


def weights_of(sim):
    """Read the weights of pairs off a step, [axis][m - 1]."""
    half = sim.order // 2
    impulse = np.zeros((2 * half + 3,) * 3, np.float32)
    impulse[half + 1, half + 1, half + 1] = 1
    with unda.FD(
        unda.Grid(impulse.shape, sim.grid.spacing), sim.medium, order=sim.order, boundary={"*": "periodic"},
        dt=sim.dt, dtype="float32", device="cpu",
    ) as wide:  # fmt: skip
        wide.set(p=impulse, p_previous=0 * impulse)
        wide.step(1)
        p = wide.get("p")
    return [np.moveaxis(p, axis, 0)[half + 2 :, half + 1, half + 1][:half] for axis in range(3)]


def stepped(axes, before, now, low, high):
    """Take one step of cuda/physics/scalar.h; low, high: numbers of the neighbours, [m - 1]."""
    sums = np.zeros_like(now)
    for weight in axes:
        pairs = now[low] + now[high]
        sums = fma(weight[0], pairs[0] - 2 * now, sums)
        if len(weight) > 1:
            sums = fma(-2 * np.sum(weight[1:], dtype=np.float64), now, sums)
        for one, pair in zip(weight[1:], pairs[1:], strict=True):
            sums = fma(one, pair, sums)
    return now + (sums + (now - before))


def with_one_centre(axes, before, now, low, high, twice=0.0):
    """Take it as p + [(1 - 2 sum W) p - p_old + ..]; twice = 1: as (2 - 2 sum W) p + .. - p_old."""
    sums = fma(1 + twice - 2 * np.sum(axes, dtype=np.float64), now, -before * (1 - np.float32(twice)))
    pairs = now[low] + now[high]
    for weight in axes:
        for one, pair in zip(weight, pairs, strict=True):
            sums = fma(one, pair, sums)
    return sums - before if twice else now + sums


@pytest.mark.parametrize("order", [2, 16])
def test_float32_rounds_one_sum_of_a_step_like_p(order):
    """Of 8 periods of some 75 and 100 steps, which no number of periods repeats.

    A rounding of p, of standard deviation 2^-24 / sqrt(3) of the power of two below it, so 0.2 eps of p,
    changes p by 0.2 eps / (w dt) from then on; num of them, at all phases, by sqrt(num / 2) as much. Five
    times that is allowed, and weights rounded by 2^-22 of the first one, which is half as much of w.
    """
    dt = 0.11 * stable_step(order, (1, 1, 1), 1.0)
    turn = radians_per_step(order, (K, K, K), (1, 1, 1), 1.0, dt)
    num = round(8 * 2 * np.pi / turn)
    allowed = 5 * 0.2 * EPS / turn * np.sqrt(num / 2) + num * turn * 2.0**-23
    sim = unda.FD(
        unda.Grid((NUM,) * 3, 1.0), unda.Acoustic(rho=1.0, c=1.0), order=order, boundary={"*": "periodic"},
        dt=dt, dtype="float32", device="cpu",
    )  # fmt: skip
    axes = weights_of(sim)
    i = np.arange(NUM)
    place = np.add.outer(np.add.outer(i, i), i) % NUM
    before, now = (np.cos(K * i + 0.3 - back * turn).astype(np.float32) for back in (1, 0))
    sim.set(p=now[place], p_previous=before[place])
    sim.step(num)
    found = sim.get("p")
    exact = np.cos(K * i + 0.3 + num * turn)

    taps = i + np.arange(1, order // 2 + 1)[:, None]
    low, high = (2 * i - taps) % NUM, taps % NUM
    near = before, now
    for _ in range(num):
        before, now = now, stepped(axes, before, now, low, high)
        near = near[1], with_one_centre(axes, *near, low, high, twice=1.0)
    assert np.array_equal(found, now[place])
    assert np.abs(found - exact[place]).max() < allowed
    assert np.abs(near[1] - exact).max() > allowed


def test_what_is_rounded_of_a_constant_is_less_than_half_a_unit_of_it():
    """At the stable step, c^2 dt^2 sum 1 / h^2 = 4 / S(pi), whatever the spacings: axes share it.

    First pairs of a constant p are exactly 0. The other sums along an axis are the centre, W_0 p, with
    W_0 = -2 sum_(m > 1) W_m, and that with 2 W_2 p, and so on to 0. Each is rounded by at most 2^-24 of
    itself (2^-53 in float64), and p + e is p if |e| is at most 2^-25 p, half a unit below a power of two.
    """
    for half in range(1, 9):
        ratio = [
            Fraction(factorial(half) ** 2, factorial(half - m) * factorial(half + m)) for m in range(half + 1)
        ]
        weight = [2 * (-1) ** (m + 1) * ratio[m] / m**2 for m in range(1, half + 1)]
        share = 4 / sum(4 * one for one in weight[::2])
        left, sums = -2 * sum(weight[1:]), Fraction(0)
        for one in weight[1:]:
            sums += abs(left)
            left += 2 * one
        assert left == 0
        assert share * sums < Fraction(1, 2)
        assert share * 2 * sum(weight) > Fraction(1, 2)  # the first sum of all taps with one centre


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("varies", [False, True])
@pytest.mark.parametrize("order", [2, 4, 8, 16])
def test_constants_stay_to_the_last_bit(order, varies, dtype):
    """At the stable step: p is constant as far as the middle of each plateau sees in two steps, from rest."""
    half = order // 2
    random = np.random.default_rng(order)
    values = random.uniform(0.5, 2, 200).astype(dtype)
    shape = (len(values) * (4 * half + 1), 4, 4)
    c = np.where(random.random(shape) < 0.5, 1.0, random.uniform(0.3, 1, shape)) if varies else 1.0
    p = np.repeat(values, 4 * half + 1)
    with unda.FD(
        unda.Grid(shape, (1.0, 0.8, 0.37)), unda.Acoustic(rho=1.0, c=c), order=order,
        boundary={"*": "periodic"}, cfl=1.0, dtype=dtype, device="cpu",
    ) as sim:  # fmt: skip
        sim.set(p=np.broadcast_to(p[:, None, None], shape))
        sim.step(2)
        found = sim.get("p")[2 * half :: 4 * half + 1]
        assert np.array_equal(found, np.broadcast_to(values[:, None, None], found.shape))
        if not varies and dtype == "float32":
            same = np.tile(np.arange(len(values)), (half, 1))
            axes = weights_of(sim)
            assert np.array_equal(stepped(axes, values, values, same, same), values)
            assert not np.array_equal(with_one_centre(axes, values, values, same, same), values)
