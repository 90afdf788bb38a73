"""What tests of spectral elements in parts compare: fields, traces and energy with those of one device.

Tolerances are the ones that are promised (docs/sem.md): relative to the largest value of a field, 1e-12
in float64 and 1e-5 in float32. In float32 ten steps from noise allow more of other orders of sums, 2 n^2
(N + 1) eps = 1e-4, if all errors grew as fast as can be (test_sem_cuda.py); in float64 2e-13.
"""

import numpy as np
import pytest
from sem_cuda_cases import add_points, values_of

PROMISED = {"float64": 1e-12, "float32": 1e-5}
CASE = {
    "kind": "coupled", "degree": 3, "dtype": "float64", "cells": "curved", "boundary": "mixed", "per": "cell",
    "source": "force",
}  # fmt: skip


def apart(one, other):
    return np.abs(one - other).max() / np.abs(one).max()


def compare(one, other, tolerance):
    found = values_of(other)
    for name, values in values_of(one).items():
        assert apart(values, found[name]) < tolerance, name
        assert apart(values, (1 + 10 * tolerance) * found[name]) > tolerance, name
    # u K u+ is at most 0.81 of v M v (test_sem_cuda.py)
    assert other.energy() == pytest.approx(one.energy(), rel=2 / 0.19 * tolerance)


def run(sim, source="force", steps=(3, 7), whole=None):
    add_points(sim, source, whole)
    sim.step(steps[0])
    add_points(sim, "none", whole)  # receivers, after some steps
    sim.step(steps[1])
    return sim
