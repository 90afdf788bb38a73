"""Forces, moments, injections and dipoles have their exact amplitude, near field included: to 2 %.

Lengths in S wavelengths (or those of light) of f0, c = 1, N = 4 and node spacings (V / (K Np))^(1/3) of an
eighth of lambda_min = c / (2.5 f0); relative L2 norms of traces of the vector v, E or H and of the stress
tensor, over the whole pulse. Default: receivers 0.7 away, 0.4 of a P wavelength, exact outer data; a
source 5 % too strong must be seen past them. Slow: receivers 1 away, in a box so large that nothing has come
back from its sides. Not here: sound (test_dg_sources.py), the exact solutions (test_exact_elastic_point.py,
test_exact_dipole.py).
"""

import numpy as np
import pytest
import unda
from unda import exact
from wave_runs import brick

ROCK, SEA = unda.Elastic(rho=1.3, vp=1.8, vs=1.0), unda.Elastic(rho=1.3, vp=1.0, vs=0.0)
GLASS = unda.Maxwell(eps=1.3, mu=1 / 1.3)
F0, DEGREE, BAR = 1.0, 4, 0.02
SPACING = 1 / (2.5 * F0) / 8
PEAK = 1.1  # of the pulse, which has begun below 1e-5 at 0 and is over as far behind
PULSE = unda.ricker(F0, t0=PEAK)
ALONG = np.array([1, 0.27, 0.33]) / np.linalg.norm([1, 0.27, 0.33])
PUSH, FLOW = np.array([1, -0.5, 0.7]), np.array([0.3, -0.5, 0.7])
MOMENT = np.array([[0.4, 1, 0.3], [1, -0.7, 0.2], [0.3, 0.2, 0.9]])

SOURCES = {
    "force": (ROCK, lambda place, a: unda.PointForce(place, PULSE, a * PUSH)),
    "moment": (ROCK, lambda place, a: unda.MomentTensor(place, PULSE.integral, a * MOMENT)),
    "shear": (ROCK, lambda place, a: unda.MomentTensor(place, PULSE.integral, a * (MOMENT - np.eye(3) / 5))),
    "injection": (ROCK, lambda place, a: unda.VolumeInjection(place, stronger(a))),
    "injection in a fluid": (SEA, lambda place, a: unda.VolumeInjection(place, stronger(a))),
    "dipole": (GLASS, lambda place, a: unda.CurrentDipole(place, stronger(a), FLOW)),
}


def stronger(factor):
    """The pulse times a factor, which sources without a vector have in their function."""
    if factor == 1:
        return PULSE
    t = np.linspace(0, 8, 8001)
    return unda.sampled(t, factor * PULSE(t))


def box(lower, upper, shape="tet"):
    """Bricks whose nodes are at most SPACING apart."""
    side = brick(DEGREE, SPACING, shape)
    cells = [int(np.ceil((b - a) / side)) for a, b in zip(lower, upper, strict=True)]
    return unda.box_mesh(lower, upper, cells, shape=shape, perturb=0.1, seed=1)


def trace(mesh, medium, source, points, boundary, until, dtype):
    sim = unda.DG(mesh, medium, degree=DEGREE, boundary=boundary, dtype=dtype, device="cpu")
    sim.add_source(source)
    rec = sim.add_receivers(points)
    sim.run(until=until)
    return rec


def misfits(rec, medium, solution):
    """Relative L2 error of each group of fields at each receiver, time and components together."""
    values = solution(*(rec.points[:, i, None] for i in range(3)), rec.t)
    found = []
    for group in medium.field_groups.values():
        wrong, size = (
            sum((one[name] ** 2).sum(axis=1) for name in group)
            for one in ({name: rec[name] - values[name] for name in group}, values)
        )
        found.append(np.sqrt(wrong / size))
    return np.array(found)


def nearby(name, *, factor=1.0, dtype="float32", shape="tet"):
    """Traces 0.7 and 0.75 away; the source is `factor` times as strong as the outer data have it."""
    medium, make = SOURCES[name]
    place = np.array([0.31, 0.44, 0.41])
    mesh, points = box((0, 0, 0), (1.18, 0.89, 0.89), shape), place + np.outer([0.7, 0.75], ALONG)
    solution = exact.point_source(medium, make(place, 1))
    until = 2 * PEAK + 0.75
    return trace(mesh, medium, make(place, factor), points, {"*": solution}, until, dtype), medium, place


def off(medium, **factors):
    """The medium with some parameters times factors."""
    values = medium.scalar()
    return type(medium)(**{name: value * factors.get(name, 1) for name, value in values.items()})


FAST = {"elastic": {"vp": 1.02, "vs": 1.02}, "maxwell": {"mu": 0.96}}
STRONG = {"elastic": {"rho": 1 / 1.04}, "maxwell": {"eps": 1 / 1.04, "mu": 1.04}}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "dipole")) for name in SOURCES],
)
def test_point_sources_have_their_exact_amplitude_near_field_included(name):
    rec, medium, place = nearby(name)
    make = SOURCES[name][1]
    assert misfits(rec, medium, exact.point_source(medium, make(place, 1))).max() <= BAR
    for wrong in (FAST, STRONG):
        if name.startswith("injection") and wrong is STRONG:
            continue  # v is q / (4 pi r^2) and q' / (4 pi c r), whatever rho
        other = off(medium, **wrong[medium.physics])
        assert misfits(rec, medium, exact.point_source(other, make(place, 1))).max() > BAR


@pytest.mark.parametrize(
    "name",
    ["dipole", *(pytest.param(name, marks=pytest.mark.slow) for name in ("force", "moment", "injection"))],
)
def test_a_source_five_per_cent_too_strong_is_not_hidden_by_exact_outer_data(name):
    """They make up for a sixth of it at most."""
    rec, medium, place = nearby(name, factor=1.05)
    found = misfits(rec, medium, exact.point_source(medium, SOURCES[name][1](place, 1)))
    assert found.min() > BAR
    assert found[0].min() > 0.05 * 5 / 6 - BAR / 2


def test_the_near_field_of_a_force_is_a_good_part_of_what_is_compared():
    """Without it (Aki & Richards 2002, 4.23, last two terms) the bar is missed by far."""
    medium, place = ROCK, np.zeros(3)
    rho, vp, vs = medium.scalar().values()
    solution = exact.point_source(medium, unda.PointForce(place, PULSE, PUSH))
    t, r, rate = np.linspace(0, 3, 400), 0.7, PULSE.derivative
    values = solution(*(r * ALONG)[:, None], t)
    radial = ALONG * (ALONG @ PUSH)
    far = np.outer(radial, rate(t - r / vp)) / vp**2 + np.outer(PUSH - radial, rate(t - r / vs)) / vs**2
    v = np.stack([values[name] for name in ("vx", "vy", "vz")])
    assert np.linalg.norm(v - far / (4 * np.pi * rho * r)) > 10 * BAR * np.linalg.norm(v)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SOURCES)
def test_point_sources_have_their_amplitude_where_nothing_comes_back(name, dtype):
    """A wavelength away, until the first echo could come, after the middle of the S wave; sides absorb."""
    medium, make = SOURCES[name]
    place, points = np.array([0.013, 0.021, -0.017]), np.outer([1.0, 1.1], ALONG)
    half = 2.6 if name in ("force", "moment", "shear", "injection") else 1.75
    mesh = box((-half,) * 3, (half,) * 3)
    until = min((2 * half - 1.2) / medium.speed_max(mesh), 1.1 + 2 * PEAK)
    assert until > 1.1 + PEAK
    rec = trace(mesh, medium, make(place, 1), place + points, None, until, dtype)
    assert misfits(rec, medium, exact.point_source(medium, make(place, 1))).max() <= BAR


@pytest.mark.slow
@pytest.mark.xfail(reason="a source is a polynomial of its cell: 5 % in the stress 2.7 cells away")
@pytest.mark.parametrize("name", ["moment", "shear", "injection"])
def test_stresses_at_less_than_three_cells_have_their_amplitude(name):
    """As above, nearer, with the source beside a vertex."""
    medium, make = SOURCES[name]
    place, points = np.array([0.013, 0.021, -0.017]), np.outer([0.8, 1.0], ALONG)
    mesh = box((-2.35,) * 3, (2.35,) * 3)
    rec = trace(mesh, medium, make(place, 1), place + points, None, 2.0, "float32")
    assert misfits(rec, medium, exact.point_source(medium, make(place, 1))).max() <= BAR
