"""What products of pairs of FP16 numbers make of waves, beside plain float32 (kernel fused), on devices.

Errors and floors of exact solutions, and 100 periods of a cavity. Not here: single right-hand sides
(test_tensor.py).
"""

import itertools

import numpy as np
import pytest
import unda
from test_cavity_rounding import CAVITIES, PLAIN, as_float32, metric_chance, plain_floor, predicted
from wave_problems import PROBLEMS
from wave_runs import box, grouped

pytestmark = pytest.mark.gpu
#: Errors of degree 2 are those of the method, those of 5 and 8 near or at the floor of float32.
DEGREES = (2, 5, 8)
#: Where "auto" takes kernel tensor at degree 9.
HIGHEST = [(name, 9, "tensor") for name in PROBLEMS if name.startswith("sound")]
PERIODS = 100
#: Kernels that multiply so, with their options.
SPLIT = {"tensor": {}, "blocks": {"products": 2}}
#: What a row may err, to the largest sum |A_ij q_j| (test_tensor.py).
BOUND = 4e-6


def errors(name, degree, bricks, kernel):
    """Relative errors of each group of fields after the fastest wave has crossed a fifth of the box."""
    problem = PROBLEMS[name]
    mesh, medium, solution, boundary = problem.make(bricks, bent=degree > 5)
    sim = unda.DG(
        mesh, medium, degree=degree, dtype="float32", device="cuda", kernel=kernel, boundary=boundary,
        integrator="lsrk4", cfl=0.5, kernel_options=SPLIT.get(kernel),
    )  # fmt: skip
    sim.set(solution)
    sim.run(until=0.2 / problem.speed)
    return np.array(grouped(sim, solution))


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize(
    ("name", "degree", "kernel"), [*itertools.product(PROBLEMS, DEGREES, SPLIT), *HIGHEST]
)
def test_errors_and_floors_are_at_most_twice_those_of_plain_float32(name, degree, kernel):
    coarse, *_, fine = PROBLEMS[name].cells[min(degree, 5)]
    for bricks in (coarse, fine):
        plain, split = (errors(name, degree, bricks, one) for one in ("fused", kernel))
        assert (plain > 0).all()
        assert (split <= 2 * plain).all(), (bricks, split, plain)


def cavity(degree, bricks, flux, kernel, dtype):
    """Energy to that of the beginning and phase after 100 periods between rigid walls; the simulation."""
    mesh = box(bricks)
    sim = unda.DG(
        mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, dtype=dtype, device="cuda", kernel=kernel,
        boundary={"*": "rigid"}, flux=flux, integrator="lsrk4",
        kernel_options=None if dtype == "float64" else SPLIT.get(kernel),
    )  # fmt: skip
    x = sim.coordinates[..., 0]
    even, odd = np.cos(np.pi * x), np.sin(np.pi * x)
    sim.set(p=even, vx=0 * x, vy=0 * x, vz=0 * x)
    before = sim.energy()
    sim.run(until=2.0 * PERIODS)
    p, v = (np.vdot(sim.get(name), mode) / np.vdot(mode, mode) for name, mode in (("p", even), ("vx", odd)))
    return np.array([sim.energy() / before, np.arctan2(v, p)]), sim


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize("split_kernel", SPLIT)
@pytest.mark.parametrize("flux", ["central", "upwind"])
@pytest.mark.parametrize(("degree", "bricks"), CAVITIES)
def test_a_cavity_keeps_energy_and_phase_for_100_periods(degree, bricks, flux, split_kernel):
    """A row's error would be one of frequency and damping; it is at most ten times plain float32's."""
    exact, sim = cavity(degree, bricks, flux, "fused", "float64")
    plain, split = (
        cavity(degree, bricks, flux, kernel, "float32")[0] - exact for kernel in ("fused", split_kernel)
    )
    angle = 2 * np.pi * PERIODS
    expected = angle * predicted(degree, bricks, sim.dt, as_float32)
    assert abs(plain[1] - expected) <= angle * metric_chance(degree, bricks), (plain, expected)
    assert (np.abs(split) <= BOUND * angle).all(), (split, plain)
    # Plain float32 may by chance be off by less than it might be without a fault. Its energy: a rounding of
    # each number in each stage, three standard deviations.
    roundings = 5 * sim.step_count / (3 * 2 * sim.mesh.num_elem * sim.num_node)
    floor = np.array([3 * 2 * PLAIN * np.sqrt(roundings), angle * plain_floor(degree, bricks)])
    assert (np.abs(split) <= 10 * np.maximum(np.abs(plain), floor)).all(), (split, plain, floor)
