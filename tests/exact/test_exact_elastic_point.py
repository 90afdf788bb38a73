"""Point sources in elastic media: Aki & Richards' formulas, the right strength, no S wave of explosions.

Not here: the equations they solve (test_exact_elastic.py).
Next: python/unda/exact/elastic_point.py.
"""

import numpy as np
import pytest
from exact_helpers import TWIN, VOIGT
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic, Elastic
from unda.problem.source import MomentTensor, PointForce, VolumeInjection
from unda.problem.timefunction import gaussian, ricker, smooth_bump

RHO, VP, VS = 2000.0, 4000.0, 2200.0
ROCK = Elastic(rho=RHO, vp=VP, vs=VS)
SEA = Elastic(rho=1000.0, vp=1500.0, vs=0.0)
PLACE = np.array([503.0, 491.0, 507.0])
MOMENT = np.array([[1.0, 0.3, -0.5], [0.3, -2.0, 0.7], [-0.5, 0.7, 1.6]])
FORCE = np.array([1.0, -2.0, 0.5])
F = ricker(10.0)
STRESSES = ("sxx", "syy", "szz", "syz", "sxz", "sxy")


def near_field(f, r, t, alpha, beta):
    """Integral of tau f(t - tau) over tau from r/alpha to r/beta, by Gauss rules on 16 pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(r / alpha, r / beta, 17)
    middle, half = (edges[1:] + edges[:-1]) / 2.0, (edges[1:] - edges[:-1]) / 2.0
    tau = (middle[:, None] + half[:, None] * nodes).ravel()
    weight = (half[:, None] * weights).ravel()
    return (weight * tau * f(np.asarray(t)[:, None] - tau)).sum(axis=1)


def stokes(f, x, t, rho=RHO, alpha=VP, beta=VS):
    """Displacement (3, num_time) of a force f(t) FORCE, Aki & Richards (2002) 4.23."""
    r = np.linalg.norm(x)
    g = x / r
    gg = np.outer(g, g)
    near = (3.0 * gg - np.eye(3)) @ FORCE / r**3
    p, s = gg @ FORCE / (alpha**2 * r), (gg - np.eye(3)) @ FORCE / (beta**2 * r)
    waves = np.outer(near, near_field(f, r, t, alpha, beta))
    waves += np.outer(p, f(t - r / alpha)) - np.outer(s, f(t - r / beta))
    return waves / (4.0 * np.pi * rho)


def moment_tensor(f, x, t, rho=RHO, alpha=VP, beta=VS, m=MOMENT):
    """Displacement (3, num_time) of a moment f(t) m, Aki & Richards (2002) 4.29."""
    r = np.linalg.norm(x)
    g = x / r
    gmg, mg, trace = g @ m @ g, m @ g, np.trace(m)
    near = (15.0 * gmg * g - 3.0 * trace * g - 6.0 * mg) / r**4
    mid_p = (6.0 * gmg * g - trace * g - 2.0 * mg) / (alpha**2 * r**2)
    mid_s = -(6.0 * gmg * g - trace * g - 3.0 * mg) / (beta**2 * r**2)
    far_p, far_s = gmg * g / (alpha**3 * r), -(gmg * g - mg) / (beta**3 * r)
    waves = np.outer(near, near_field(f, r, t, alpha, beta))
    waves += np.outer(mid_p, f(t - r / alpha)) + np.outer(mid_s, f(t - r / beta))
    rate = f.derivative
    waves += np.outer(far_p, rate(t - r / alpha)) + np.outer(far_s, rate(t - r / beta))
    return waves / (4.0 * np.pi * rho)


@pytest.mark.parametrize("f", [F, gaussian(10.0), smooth_bump(0.2)], ids=lambda f: f.kind)
@pytest.mark.parametrize("r", [30.0, 110.0, 900.0])  # a seventh, half and four S wavelengths
@pytest.mark.parametrize("kind", ["force", "moment"])
def test_velocity_is_that_of_the_textbook(kind, r, f):
    source = PointForce(PLACE, f, FORCE) if kind == "force" else MomentTensor(PLACE, f, MOMENT)
    formula = stokes if kind == "force" else moment_tensor
    x, t = r * np.array([0.48, 0.6, -0.64]), np.linspace(0.1, 0.8, 200)
    expected = formula(f.derivative, x, t)
    found = exact.point_source(ROCK, source)(*(PLACE + x), t)
    velocity = np.array([found["v" + a] for a in "xyz"])
    # at a seventh of a wavelength the near field takes differences of terms 1e3 times larger
    assert np.abs(velocity - expected).max() < 1e-10 * np.abs(expected).max()
    for other in ({"alpha": 1.01 * VP}, {"beta": 1.01 * VS}, {"rho": 1.01 * RHO}):
        wrong = formula(f.derivative, x, t, **other)
        assert np.abs(velocity - wrong).max() > TWIN * np.abs(expected).max()


def on_a_sphere(radius):
    cosines, weights = np.polynomial.legendre.leggauss(8)
    angle = 2.0 * np.pi * np.arange(16) / 16
    sine = np.sqrt(1.0 - cosines**2)[:, None]
    normal = np.array([sine * np.cos(angle), sine * np.sin(angle), cosines[:, None] + 0.0 * angle])
    return normal, np.broadcast_to(radius**2 * weights[:, None] * (2.0 * np.pi / 16), normal.shape[1:])


def stress_of(values):
    sigma = np.empty((3, 3, *values["sxx"].shape))
    for (i, j), name in VOIGT.items():
        sigma[i, j] = sigma[j, i] = values[name]
    return sigma


@pytest.mark.parametrize("t", [0.1, 0.13, 0.15, 0.21])
def test_traction_on_a_small_sphere_balances_the_force(t):
    radius = 0.5
    normal, weight = on_a_sphere(radius)
    solution = exact.point_source(ROCK, PointForce((0, 0, 0), F, FORCE))
    sigma = stress_of(solution(*(radius * normal), t))
    pull = np.einsum("ijab,jab,ab->i", sigma, normal, weight)
    # what is left accelerates the sphere: (omega r/vs)^2, omega = 2 pi f0 at its peak, vs 2200 m/s
    tolerance = 10.0 * (2.0 * np.pi * 10.0 * radius / VS) ** 2
    assert np.allclose(pull, -F(t) * FORCE, rtol=0, atol=tolerance)
    assert not np.allclose(1.01 * pull, -F(t) * FORCE, rtol=0, atol=tolerance)


def test_a_moment_is_a_couple_of_forces():
    h, x, t = 1.0, np.array([120.0, -60.0, 90.0]), np.linspace(0.12, 0.4, 60)
    total = {field: 0.0 for field in ROCK.fields}
    for k in range(3):
        for m, weight in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), start=1):
            for side in (m, -m):
                place = side * h * np.eye(3)[k]
                force = exact.point_source(ROCK, PointForce(place, F, MOMENT[k]))(*x, t)
                for field, values in force.items():
                    total[field] = total[field] + np.sign(side) * weight / h * values
    found = exact.point_source(ROCK, MomentTensor((0, 0, 0), F, MOMENT))(*x, t)
    other = exact.point_source(ROCK, MomentTensor((0, 0, 0), F, MOMENT + 0.02 * np.eye(3)))(*x, t)
    for group in (("vx", "vy", "vz"), STRESSES):
        scale = max(np.abs(found[field]).max() for field in group)
        assert max(np.abs(found[field] - total[field]).max() for field in group) < 1e-9 * scale
        assert max(np.abs(other[field] - total[field]).max() for field in group) > TWIN * scale


def moved(solution, x, t, h=1.0):
    """Gradient d_j v_i (3, 3, ..) by differences of order eight."""
    gradient = np.zeros((3, 3, *np.shape(t)))
    for j in range(3):
        for m, weight in enumerate((4 / 5, -1 / 5, 4 / 105, -1 / 280), start=1):
            for side in (m, -m):
                values = solution(*(x + side * h * np.eye(3)[j]), t)
                gradient[:, j] += np.sign(side) * weight / h * np.array([values["v" + a] for a in "xyz"])
    return gradient


def test_an_explosion_radiates_no_s_wave():
    x, t = np.array([700.0, 300.0, -500.0]), np.linspace(0.1, 0.7, 200)
    r, f = np.linalg.norm(x), smooth_bump(0.1)
    for source in (MomentTensor((0, 0, 0), f, np.eye(3)), VolumeInjection((0, 0, 0), f)):
        solution = exact.point_source(ROCK, source)
        values = solution(*x, t)
        outside = (t < r / VP) | (t > r / VP + 0.1)
        assert (t[outside] > r / VS).any()
        scale = max(np.abs(values["v" + a]).max() for a in "xyz")
        # after the P wave an injected volume stays: static stress, but no velocity
        assert max(np.abs(values["v" + a][outside]).max() for a in "xyz") < 1e-14 * scale
        gradient = moved(solution, x, t)
        assert np.abs(gradient - gradient.swapaxes(0, 1)).max() < 1e-9 * np.abs(gradient).max()
    shear = exact.point_source(ROCK, MomentTensor((0, 0, 0), f, np.diag([1.0, 1.0, 1.01])))
    values = shear(*x, t)
    scale = max(np.abs(values["v" + a]).max() for a in "xyz")
    assert max(np.abs(values["v" + a][outside]).max() for a in "xyz") > TWIN * scale
    gradient = moved(shear, x, t)
    assert np.abs(gradient - gradient.swapaxes(0, 1)).max() > TWIN * np.abs(gradient).max()


def test_injected_volume_is_a_moment_of_the_bulk_modulus():
    bulk = RHO * (VP**2 - 4.0 / 3.0 * VS**2)
    x, t = PLACE + np.array([100.0, 50.0, -80.0]), np.linspace(0.1, 0.4, 50)
    volume = exact.point_source(ROCK, VolumeInjection(PLACE, F))(*x, t)
    moment = exact.point_source(ROCK, MomentTensor(PLACE, F.integral, bulk * np.eye(3)))(*x, t)
    for field in ROCK.fields:
        assert np.allclose(volume[field], moment[field], rtol=1e-12, atol=1e-13 * np.abs(moment["vx"]).max())


def test_in_a_fluid_the_wave_is_the_acoustic_one():
    x, t = PLACE + np.array([100.0, 50.0, -80.0]), np.linspace(0.1, 0.4, 50)
    source = VolumeInjection(PLACE, F)
    found = exact.point_source(SEA, source)(*x, t)
    expected = exact.point_source(Acoustic(rho=1000.0, c=1500.0), source)(*x, t)
    for field in ("sxx", "syy", "szz"):
        assert np.allclose(-found[field], expected["p"], rtol=0, atol=1e-12 * np.abs(expected["p"]).max())
    for field in ("vx", "vy", "vz"):
        assert np.allclose(found[field], expected[field], rtol=0, atol=1e-12 * np.abs(expected["vx"]).max())
    assert not any(found[field].any() for field in ("syz", "sxz", "sxy"))
    other = exact.point_source(Elastic(rho=1000.0, vp=1515.0, vs=0.0), source)(*x, t)
    assert np.abs(other["sxx"] + expected["p"]).max() > TWIN * np.abs(expected["p"]).max()


def test_nothing_arrives_before_the_p_wave():
    f = smooth_bump(0.1)
    for source in (PointForce(PLACE, f, FORCE), MomentTensor(PLACE, f, MOMENT)):
        solution = exact.point_source(ROCK, source)
        x = 300.0 * np.array([0.48, 0.6, -0.64])
        for field, values in solution(*(PLACE + x), [-1.0, 0.0, 0.999 * 300.0 / VP, 0.1]).items():
            assert np.all(values[:3] == 0.0), field
            assert values[3] != 0.0, field


@pytest.mark.parametrize("make, found", [
    (lambda: exact.point_source(ROCK, PointForce(PLACE, np.sin, FORCE)), "plain callable"),
    (lambda: exact.point_source(ROCK, PLACE), "expected one such as unda.VolumeInjection"),
    (lambda: exact.point_source(SEA, MomentTensor(PLACE, F, MOMENT)), "deviatoric part"),
    (lambda: exact.point_source(Acoustic(rho=1, c=1), PointForce(PLACE, F, FORCE)), "the medium is acoustic"),
    (lambda: exact.point_source(ROCK, PointForce(PLACE, F, FORCE), walls={"zmax": "free"}), "got walls"),
    (lambda: exact.point_source(ROCK, PointForce(PLACE, F, FORCE))(*PLACE, 0.1), "infinite there"),
])  # fmt: skip
def test_what_has_no_solution_is_refused(make, found):
    with pytest.raises(ArgumentError, match=found):
        make()
