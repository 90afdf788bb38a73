"""Every degree has its order with every flux and integrator: N + 1/2 (upwind) and N - 1/2 (central) at least.

The slow tier of test_dg_exact.py; theory N + 1, and N for odd N with the central flux. Meshes are bent by
one smooth map: random shifts grow worse with the number of vertices, which costs high degrees half an order.
Steps are small enough that time adds little: lsrk4 errs by (w dt)^4 w t / 200, ab3 by 3/8 (w dt)^3 w t.
"""

import numpy as np
import pytest
import unda
from test_dg_exact import MEDIUM, order

pytestmark = pytest.mark.slow

CELLS = {1: (8, 11, 16), 2: (6, 8, 11), 3: (4, 6, 8), 4: (4, 5, 7)} | dict.fromkeys((5, 6, 7, 8), (3, 4, 5))
DEGREES = pytest.mark.parametrize("degree", CELLS)
LEAST = {"upwind": 0.5, "central": -0.5}  # above N
UPPER = np.array([1, 1.2, 0.9])


def bent(n, periodic):
    """A box of n^3 bricks, its inside moved by 0.07 sin sin sin of the sides along (1, -1, 1)."""
    box = unda.box_mesh((0, 0, 0), UPPER, (n, n, n), periodic=(periodic,) * 3)
    shift = 0.07 * np.sin(np.pi * box.vertices / UPPER).prod(axis=1)
    vertices = box.vertices + np.outer(shift, UPPER * [1, -1, 1])
    sides = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    return unda.Mesh(vertices, box.cells, boundaries=sides, periodic=box.periodic)


def wave(degree, c=0.9):
    """Short enough that the error of high degrees stays above that of time."""
    k = 2 * np.pi * np.array([2, 1, -1] if degree > 6 else [1, 0, -1]) / UPPER
    return unda.exact.plane_wave(unda.Acoustic(rho=1.3, c=c), k=k)


def problem(case, degree):
    def on(n):
        if case == "periodic":
            return bent(n, True), wave(degree), None
        make = unda.exact.rigid_box_mode if case == "rigid" else unda.exact.free_box_mode
        return bent(n, False), make(MEDIUM, (0, 0, 0), UPPER, n=(1, 2, 1)), {"*": case}

    return on


@DEGREES
@pytest.mark.parametrize("flux", LEAST)
@pytest.mark.parametrize("case", ["periodic", "rigid", "free"])
def test_lsrk4_keeps_the_order_of_every_degree(case, flux, degree):
    slope, errors = order(degree, CELLS[degree], problem(case, degree), until=0.17, flux=flux, cfl=0.5)
    assert slope > degree + LEAST[flux], errors


@DEGREES
def test_ab3_keeps_the_order_of_every_degree(degree):
    slope, errors = order(
        degree, CELLS[degree], problem("periodic", degree), until=0.17, integrator="ab3", cfl=0.9
    )
    assert slope > degree + 0.5, errors


def test_degree_8_sees_a_wave_a_millionth_too_fast():
    slope, errors = order(8, CELLS[8], problem("periodic", 8), until=0.17, wrong=wave(8, c=0.9 * (1 + 1e-6)))
    assert slope < 8.5, errors
