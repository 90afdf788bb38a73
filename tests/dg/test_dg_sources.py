"""Point sources have their exact amplitude: traces within 1 % of rho q'(t - r/c) / (4 pi r), walls included.

Lengths in wavelengths of f0, c = 1. The bar is for node spacings (V / (K Np))^(1/3) of an eighth of
lambda_min = c / (2.5 f0) at N = 4, over the whole pulse, up to four wavelengths away.
Not here: the exact solution itself (test_exact_point_source.py).
"""

import numpy as np
import pytest
import unda
from wave_runs import brick

MEDIUM = unda.Acoustic(rho=1.3, c=1.0)
F0, DEGREE = 1.0, 4
SPACING = 1 / (2.5 * F0) / 8
PEAK = 1.5  # of the pulse, which has begun below 1e-8 at 0 and is over as far behind
PULSE = unda.ricker(F0, t0=PEAK)
BAR = 0.01


def box(lower, upper, shape="tet"):
    """Bricks whose nodes are at most SPACING apart."""
    side = brick(DEGREE, SPACING, shape)
    cells = [int(np.ceil((b - a) / side)) for a, b in zip(lower, upper, strict=True)]
    return unda.box_mesh(lower, upper, cells, shape=shape, perturb=0.1, seed=1)


def trace(mesh, source, points, boundary, until=None, **options):
    """Receivers that have seen the whole pulse."""
    sim = unda.DG(mesh, MEDIUM, degree=DEGREE, boundary=boundary, device="cpu", **options)
    sim.add_source(source)
    rec = sim.add_receivers(points, ["p"])
    last = max(np.linalg.norm(rec.points - source.position, axis=1))
    sim.run(until=until or 2 * PEAK + last)
    return rec


def in_a_cube(side, distances, walls=None, shape="tet", **options):
    """Source near one corner, receivers towards the other; outer data are exact where there is no wall."""
    source = unda.VolumeInjection((0.253, 0.231, side - 0.437), PULSE)
    along = np.array([1, 1.04, -0.95]) / np.linalg.norm([1, 1.04, -0.95])
    exact = unda.exact.point_source(MEDIUM, source, walls=walls)
    mesh, points = box((0, 0, 0), (side,) * 3, shape), source.position + np.outer(distances, along)
    return source, trace(mesh, source, points, {"*": exact, **(walls or {})}, **options)


def misfit(source, rec, *, amplitude=1.0, c=1.0, walls=None):
    """Misfit against a wave `amplitude` times as strong (p goes with rho) and `c` times as fast."""
    return rec.misfit(unda.exact.point_source(unda.Acoustic(rho=1.3 * amplitude, c=c), source, walls=walls))


def check(source, rec, walls=None):
    assert (misfit(source, rec, walls=walls) <= BAR).all(), misfit(source, rec, walls=walls)
    assert (misfit(source, rec, walls=walls, amplitude=1.02) > BAR).all()
    assert (misfit(source, rec, walls=walls, c=1.01) > BAR).all()


@pytest.mark.first(1)
@pytest.mark.parametrize("wall", ["rigid", None, "free"])
def test_a_point_source_has_its_exact_amplitude_beside_a_wall_and_without(wall):
    walls = wall and {"zmax": wall}
    source, rec = in_a_cube(1.18, [0.7, 1.1], walls, dtype="float32")
    check(source, rec, walls)
    if wall:
        other = {"zmax": "free" if wall == "rigid" else "rigid"}
        assert (misfit(source, rec, walls=other) > 0.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_point_source_keeps_its_amplitude_over_two_to_four_wavelengths(dtype):
    check(*in_a_cube(2.9, [2, 3, 4], dtype=dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_point_source_keeps_its_amplitude_where_nothing_exact_is_fed_in(dtype):
    """Absorbing sides: echoes travel 4.4, and the pulse, 1.2 on both sides of its peak, is over by then."""
    mesh = box((-1.2, -1.96, -1.96), (3.2, 1.96, 1.96))
    source = unda.VolumeInjection((0.013, 0.021, -0.017), PULSE)
    rec = trace(mesh, source, [(2.013, 0.021, -0.017)], None, until=PEAK + 2 + 1.2, dtype=dtype)
    check(source, rec)


PULSE_CELLS = {1: (6, 8, 11), 2: (4, 6, 8), 3: (3, 4, 6), 4: (4, 5, 7)}


def pulse_order(degree, c=1.0):
    """Order and errors of a spherical pulse that leaves the box; outer data and comparison have `c`."""
    exact = unda.exact.spherical_pulse(unda.Acoustic(rho=1.3, c=c), (0.45, 0.52, 0.55), 0.18)
    errors, sizes = [], []
    for n in PULSE_CELLS[degree]:
        mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.2, seed=n)
        options = {"boundary": {"*": exact}, "dtype": "float64", "device": "cpu"}
        sim = unda.DG(mesh, MEDIUM, degree=degree, **options)
        sim.set(exact)
        sim.run(until=0.37)
        errors.append(sim.error(exact, relative=True)["p"])
        sizes.append((mesh.volume / mesh.num_elem) ** (1 / 3))
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0], errors


@pytest.mark.parametrize(
    "degree", [pytest.param(one, marks=[pytest.mark.slow] * (one in (1, 4))) for one in PULSE_CELLS]
)
def test_a_spherical_pulse_converges_at_order_n_plus_1(degree):
    slope, errors = pulse_order(degree)
    assert slope > degree + 0.5, errors


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # the negative twin
def test_a_spherical_pulse_one_percent_too_fast_does_not_converge():
    slope, errors = pulse_order(3, c=1.01)
    assert slope < 2, errors
