"""One-dimensional Gauss rules and Jacobi polynomials against exact moments and identities.

The library does not export them, so they are compiled here on their own. Not here: what is built
from them (test_reference_element.py). Next: csrc/element/gauss.c.
"""

import math
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cffi import FFI
from unda import _core

EPS = np.finfo(float).eps


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """Return the rules as a small library, with its own FFI."""
    compiler = os.environ.get("CC", "gcc").split()
    if not shutil.which(compiler[0]):
        pytest.skip("needs a C compiler")
    source = Path(__file__).resolve().parents[2] / "csrc"
    files = ["element/jacobi.c", "element/gauss.c", "element/nodes_gll.c", "base/error.c"]
    target = tmp_path_factory.mktemp("rules") / "rules.so"
    command = [*compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", str(target)]
    subprocess.run([*command, *(str(source / file) for file in files), "-lm"], check=True)
    own = FFI()
    own.cdef(
        "double jacobi(int n, double alpha, double beta, double x);"
        "double jacobi_derivative(int n, double alpha, double beta, double x);"
        "int gauss_jacobi(int n, double alpha, double beta, double *points, double *weights);"
        "int gauss_lobatto(int n, double *points, double *weights);"
    )
    return SimpleNamespace(ffi=own, lib=own.dlopen(str(target)))


def one_rule(rules, call, num_point, *parameters):
    points, weights = np.full(max(num_point, 1), np.nan), np.full(max(num_point, 1), np.nan)
    to = [rules.ffi.cast("double *", array.ctypes.data) for array in (points, weights)]
    return getattr(rules.lib, call)(num_point, *parameters, *to), points, weights


def moment(alpha, beta, k):
    """Return the integral of (1 - x)^alpha (1 + x)^(beta + k) over [-1, 1], integer exponents."""
    beta += k
    numerator = 2 ** (alpha + beta + 1) * math.factorial(alpha) * math.factorial(beta)
    return numerator / math.factorial(alpha + beta + 1)


@pytest.mark.parametrize(("alpha", "beta"), [(0, 0), (1, 0), (2, 0), (1, 1), (3, 2), (0, 5)])
@pytest.mark.parametrize("num_point", [1, 2, 3, 6, 9, 21, 64])
def test_gauss_jacobi_is_exact_to_degree_2n_minus_1(rules, num_point, alpha, beta):
    status, points, weights = one_rule(rules, "gauss_jacobi", num_point, alpha, beta)
    assert status == 0 and (np.diff(points) > 0).all() and (weights > 0).all()
    for k in range(2 * num_point):
        found = math.fsum(weights * (1 + points) ** k)
        # (1 + x)^k moves by k EPS/2 (1 + x)^(k-1) with its point; weights and pow add an EPS each.
        shift = k * moment(alpha, beta, k - 1) / moment(alpha, beta, k) if k else 0
        assert abs(found / moment(alpha, beta, k) - 1) <= EPS * (3 + shift)
    if num_point <= 6:
        k = 2 * num_point
        found = math.fsum(weights * (1 + points) ** k)
        assert abs(found / moment(alpha, beta, k) - 1) > 1e-9


@pytest.mark.parametrize("num_point", [2, 3, 4, 5, 9, 11])
def test_gauss_lobatto_holds_the_ends_and_is_exact_to_degree_2n_minus_3(rules, num_point):
    status, points, weights = one_rule(rules, "gauss_lobatto", num_point)
    assert status == 0 and points[0] == -1 and points[-1] == 1
    assert (points == -points[::-1]).all() and (weights > 0).all()
    even = [abs(math.fsum(weights * points**k) - 2 / (k + 1)) for k in range(0, 2 * num_point, 2)]
    # Weights are float64 quotients of P_n^2 (4 EPS); a point moved by EPS / 2 moves its power and
    # P_n^2 by up to 2 n EPS of the total weight 2.
    assert max(even[:-1]) <= EPS * (4 + 4 * num_point)
    assert even[-1] > EPS * (4 + 4 * num_point)


@pytest.mark.parametrize(("alpha", "beta"), [(0, 0), (1, 0), (4, 0), (2, 3), (-0.5, -0.5)])
def test_jacobi_polynomials_are_orthonormal(rules, alpha, beta):
    _, points, weights = one_rule(rules, "gauss_jacobi", 12, alpha, beta)
    table = np.array([[rules.lib.jacobi(n, alpha, beta, x) for x in points] for n in range(10)])
    gram = table * weights @ table.T
    # A point moved by EPS / 2 moves both factors by their slope, at most n^2 = 81 times their size
    # (Markov 1889); the sum of 12 products adds its own rounding.
    bound = EPS * (81 + 16) * (np.abs(table) * weights @ np.abs(table.T))
    assert (np.abs(gram - np.eye(10)) <= bound).all()
    assert (np.abs(1.001 * gram - np.eye(10)) > bound).any()


@pytest.mark.parametrize(("alpha", "beta"), [(0, 0), (1, 0), (4, 0), (2, 3), (-0.5, -0.5)])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_derivative_of_a_jacobi_polynomial_is_one_of_the_next_family(rules, n, alpha, beta):
    """Szego 1939, eq. 4.21.7, normalised; the code differentiates its recurrence instead."""
    for x in (-1.0, -0.9, 0.1, 0.7, 1.0):
        found = rules.lib.jacobi_derivative(n, alpha, beta, x)
        lower = rules.lib.jacobi(n - 1, alpha + 1, beta + 1, x) if n else 0.0
        expected = math.sqrt(n * (n + alpha + beta + 1)) * lower
        assert abs(found - expected) <= 3 * EPS * abs(expected)  # three roundings
        assert n == 0 or abs(found - 1.001 * expected) > 3 * EPS * abs(expected)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("gauss_jacobi", (0, 0, 0)),
        ("gauss_jacobi", (65, 0, 0)),
        ("gauss_jacobi", (3, -1, 0)),
        ("gauss_jacobi", (3, 0, math.nan)),
        ("gauss_lobatto", (1,)),
    ],
)
def test_impossible_rules_are_refused(rules, call, arguments):
    status, points, weights = one_rule(rules, call, *arguments)
    assert status == _core.lib.UNDA_ERR_ARG
    assert np.isnan(points).all() and np.isnan(weights).all()
