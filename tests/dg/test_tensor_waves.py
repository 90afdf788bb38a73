"""What products of pairs of FP16 numbers make of waves, beside plain float32 (kernel fused), on devices.

Errors and floors of exact solutions, and 100 periods of a cavity. Not here: single right-hand sides
(test_tensor.py).
"""

import numpy as np
import pytest
import unda
from wave_problems import PROBLEMS
from wave_runs import box, grouped

pytestmark = pytest.mark.gpu
#: Errors of degree 2 are those of the method, those of 5 and 8 near or at the floor of float32.
DEGREES = (2, 5, 8)
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
@pytest.mark.parametrize("kernel", SPLIT)
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_and_floors_are_at_most_twice_those_of_plain_float32(name, degree, kernel):
    coarse, *_, fine = PROBLEMS[name].cells[min(degree, 5)]
    for bricks in (coarse, fine):
        plain, split = (errors(name, degree, bricks, one) for one in ("fused", kernel))
        assert (plain > 0).all()
        assert (split <= 2 * plain).all(), (bricks, split, plain)


def cavity(degree, bricks, flux, kernel, dtype):
    """Energy to that of the beginning, and the phase, after 100 periods between rigid walls."""
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
    return np.array([sim.energy() / before, np.arctan2(v, p)])


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize("split_kernel", SPLIT)
@pytest.mark.parametrize("flux", ["central", "upwind"])
@pytest.mark.parametrize(("degree", "bricks"), [(3, 3), (6, 2)])
def test_a_cavity_keeps_energy_and_phase_for_100_periods(degree, bricks, flux, split_kernel):
    """A row's error would be one of frequency and damping; it is at most ten times plain float32's."""
    exact = cavity(degree, bricks, flux, "fused", "float64")
    plain, split = (
        np.abs(cavity(degree, bricks, flux, kernel, "float32") - exact) for kernel in ("fused", split_kernel)
    )
    angle = 2 * np.pi * PERIODS
    assert (split <= BOUND * angle).all(), (split, plain)
    # Plain float32 rounds its operator once, by 2^-24 at most, and so a frequency: the rest is chance.
    assert (split <= 10 * np.maximum(plain, angle * 2.0**-24)).all(), (split, plain)
