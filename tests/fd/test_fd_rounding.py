"""What float32 rounds in the scalar scheme: one sum a step like p, others like p' - p (docs/fd_scalar.md).

A wave cos(k (x + y + z) + a) of a periodic cube has eight values, whatever the order, so that its
run is repeated here, operation by operation, in milliseconds. Not here: what plans take (test_plan.py).
"""

import numpy as np
import pytest
import unda
from fd_reference import radians_per_step, stable_step

NUM, EPS = 8, float(np.finfo(np.float32).eps)
K = 2 * np.pi / NUM


def fma(a, b, c):
    """Round a b + c once (twice, in one of 2^29)."""
    return (np.float64(a) * b + c).astype(np.float32)


def repeated(axes, before, now, num, near_twice_p):
    """Take steps of the eight values; near_twice_p: as (2 - 2 sum W) p + .. - p_old instead."""
    total = 2.0 * float(np.sum(axes, dtype=np.float64))
    taps = np.arange(NUM) + np.arange(1, len(axes[0]) + 1)[:, None]
    low, high = (2 * np.arange(NUM) - taps) % NUM, taps % NUM
    for _ in range(num):
        if near_twice_p:
            sums = np.float32(2.0 - total) * now
        else:
            sums = fma(np.float32(1.0 - total), now, -before)
        pairs = now[low] + now[high]
        for weight in axes:
            for one, pair in zip(weight, pairs, strict=True):
                sums = fma(one, pair, sums)
        before, now = now, sums - before if near_twice_p else now + sums
    return now


@pytest.mark.parametrize("order", [2, 16])
def test_float32_rounds_one_sum_of_a_step_like_p(order):
    """Of 8 periods of some 75 and 100 steps, which no number of periods repeats.

    A rounding of p, of standard deviation 2^-24 / sqrt(3) of the power of two below it, so 0.2 eps of p,
    changes p by 0.2 eps / (w dt) from then on; num of them, at all phases, by sqrt(num / 2) as much. Five
    times that is allowed, and weights rounded by 2^-22 of the first one, which is half as much of w. At order
    2 the sum of W = c^2 dt^2 is rounded by 2^-26 and nothing can make up for it: 2^-27 / (3 W) of w.
    """
    dt = 0.11 * stable_step(order, (1, 1, 1), 1.0)
    turn = radians_per_step(order, (K, K, K), (1, 1, 1), 1.0, dt)
    num = round(8 * 2 * np.pi / turn)
    off = 2.0**-23 + (2.0**-27 / (3 * dt**2) if order == 2 else 0)
    allowed = 5 * 0.2 * EPS / turn * np.sqrt(num / 2) + num * turn * off
    sim = unda.FD(
        unda.Grid((NUM,) * 3, 1.0), unda.Acoustic(rho=1.0, c=1.0), order=order, boundary={"*": "periodic"},
        dt=dt, dtype="float32", device="cpu",
    )  # fmt: skip
    impulse = np.zeros((2 * NUM + 1,) * 3, np.float32)
    impulse[NUM, NUM, NUM] = 1
    wide = unda.FD(
        unda.Grid(impulse.shape, 1.0), sim.medium, order=order, boundary={"*": "periodic"}, dt=dt,
        dtype="float32", device="cpu",
    )  # fmt: skip
    wide.set(p=impulse, p_previous=0 * impulse)
    wide.step(1)
    axes = [
        np.moveaxis(wide.get("p"), axis, 0)[NUM + 1 : NUM + 1 + order // 2, NUM, NUM] for axis in range(3)
    ]

    i = np.arange(NUM)
    place = np.add.outer(np.add.outer(i, i), i) % NUM
    before, now = (np.cos(K * i + 0.3 - back * turn).astype(np.float32) for back in (1, 0))
    sim.set(p=now[place], p_previous=before[place])
    sim.step(num)
    found = sim.get("p")
    exact = np.cos(K * i + 0.3 + num * turn)
    assert np.array_equal(found, repeated(axes, before, now, num, False)[place])
    assert np.abs(found - exact[place]).max() < allowed
    assert np.abs(repeated(axes, before, now, num, True) - exact).max() > allowed
