"""Lamb's problem: equations, free surface, Pekeris' closed form, static limits, and a run of the solver.

Not here: a force in full space (test_exact_elastic_point.py).
Next: python/unda/exact/lamb.py.
"""

import numpy as np
import pytest
import unda
from exact_helpers import KH, TOLERANCE, TWIN, elastic_residual
from unda import exact
from unda.errors import ArgumentError
from unda.medium import Acoustic, Elastic
from unda.source import MomentTensor, PointForce
from unda.timefunction import gaussian, ricker, sampled, smooth_bump, wrap

RHO, VP, VS = 2000.0, 4000.0, 2200.0
ROCK = Elastic(rho=RHO, vp=VP, vs=VS)
MU, NU = RHO * VS**2, (VP**2 - 2.0 * VS**2) / (VP**2 - VS**2) / 2.0
PLACE, FORCE, F = np.array([10.0, 20.0, 5.0]), np.array([1.0, -2.0, 0.5]), ricker(10.0)
STRESSES = ("sxx", "syy", "szz", "syz", "sxz", "sxy")
# What the class promises below the surface and on it; there a rounding eps of the Rayleigh wave's
# arrival is one of sqrt(eps) = 1.5e-8 in the integral of (tau - arrival)^-1/2, of which there are several.
BELOW, ON = 1e-9, 1e-7


def off(**factors):
    values = ROCK.scalar()
    return Elastic(**{name: value * factors.get(name, 1.0) for name, value in values.items()})


def at(x, y=0.0, z=0.0):
    return PLACE + np.array([x, y, z])


def size(values, names):
    return max(np.abs(values[name]).max() for name in names)


class Remembered:
    """A solution that keeps what it has computed, for further media in the equations."""

    def __init__(self, solution):
        self.solution, self.medium, self.fields, self.known = solution, solution.medium, solution.fields, {}

    def __call__(self, *where):
        key = tuple(np.asarray(one).tobytes() for one in where)
        if key not in self.known:
            self.known[key] = self.solution(*where)
        return self.known[key]


@pytest.mark.parametrize("offset", [(0.0, 0.0, -150.0), (200.0, -90.0, -15.0)])
def test_the_wave_solves_the_equations(offset):
    solution = Remembered(exact.lamb_problem(ROCK, PointForce(PLACE, F, FORCE)))
    where = np.array([PLACE + offset]), np.array([0.24]), KH * VS / (2.0 * np.pi * 25.0)
    assert elastic_residual(solution, *where) < TOLERANCE
    # at this time and place one constant may matter little, all together do not
    assert max(elastic_residual(solution, *where, off(**{one: 1.01})) for one in ("vp", "vs", "rho")) > TWIN


def test_the_surface_is_free_but_for_the_force():
    t = np.linspace(0.0, 0.7, 100)
    solution = exact.lamb_problem(ROCK, PointForce(PLACE, F, FORCE))
    on, above = (solution(*at(200.0, 100.0, -depth), t) for depth in (0.0, 1.0))
    inside = size(on, ("sxx", "syy", "sxy"))
    assert size(on, ("szz", "syz", "sxz")) < ON * inside
    assert min(size(above, (name,)) for name in ("szz", "syz", "sxz")) > TWIN * inside


def pekeris(tau):
    """pi mu r/F times the displacement along a step force, nu = 1/4, tau = vs t/r (Pekeris 1955)."""
    root = np.sqrt(3.0)
    late = np.sqrt((3.0 * root + 5.0) / (0.75 + root / 4.0 - tau**2))
    early = np.sqrt(3.0 / (tau**2 - 0.25)) + late
    early = early - np.sqrt((3.0 * root - 5.0) / (tau**2 + root / 4.0 - 0.75))
    return np.where(tau < 1.0, (6.0 - early) / 32.0, (6.0 - late) / 16.0)


@pytest.mark.parametrize("r", [20.0, 300.0, 2000.0])  # a tenth of an S wavelength, 1.4, 9
def test_motion_of_the_surface_is_pekeris_closed_form(r):
    medium, t = Elastic(rho=RHO, vp=np.sqrt(3.0) * VS, vs=VS), np.linspace(0.0, 0.5, 60) + r / VP
    last = np.sqrt(3.0 + np.sqrt(3.0)) / 2.0
    rate, expected = F.derivative.derivative, 0.0
    nodes, weights = np.polynomial.legendre.leggauss(400)
    # tau = 1 - (1 - low) s^2 and last - (last - 1) s^2: no root is left at the ends
    for low, high in ((1.0 / np.sqrt(3.0), 1.0), (1.0, last)):
        s = (nodes + 1.0) / 2.0
        tau = high - (high - low) * s**2
        w = weights * (high - low) * s * r / VS
        expected = expected + rate(t[:, None] - tau * r / VS) @ (w * pekeris(tau))
    expected = (expected + 3.0 / 8.0 * F.derivative(t - last * r / VS)) / (np.pi * MU * r)
    found = exact.lamb_problem(medium, PointForce(PLACE, F, (0.0, 0.0, 1.0)))(*at(r), t)
    assert np.abs(found["vz"] - expected).max() < ON * np.abs(expected).max()
    other = exact.lamb_problem(off(vs=1.01), PointForce(PLACE, F, (0.0, 0.0, 1.0)))(*at(r), t)
    assert np.abs(other["vz"] - expected).max() > TWIN * np.abs(expected).max()


def test_what_a_lasting_force_leaves_is_boussinesqs_and_cerrutis():
    # stress on horizontal planes -3 (F.x) d x/(2 pi R^5) along x = offset, whatever nu is
    offset, t = np.array([30.0, 20.0, -40.0]), 10.0
    solution = exact.lamb_problem(ROCK, PointForce(PLACE, gaussian(10.0).integral, FORCE))
    values, force = solution(*(PLACE + offset), t), gaussian(10.0).integral(t) * FORCE
    r = np.linalg.norm(offset)
    expected = 3.0 * (force @ offset) * offset[2] * offset / (2.0 * np.pi * r**5)
    found = np.array([values[name] for name in ("sxz", "syz", "szz")])
    # rounding: (vs t/R)^2 eps = 4e-11, some of them; the wave's tail is of order (R/(vs t))^4 = 4e-11
    assert np.abs(found + expected).max() < 1e-8 * np.abs(expected).max()
    assert np.abs(1.01 * found + expected).max() > TWIN * np.abs(expected).max()


def test_the_surface_sinks_as_under_boussinesqs_load():
    r, t = 300.0, np.linspace(0.0, 1.2, 1201)
    f = gaussian(10.0).integral

    def sunk(medium):
        solution = exact.lamb_problem(medium, PointForce(PLACE, f, (0.0, 0.0, -1.0)))
        return -np.trapezoid(solution(*at(r), t)["vz"], t)

    expected = f(9.0) * (1.0 - NU) / (2.0 * np.pi * MU * r)
    assert sunk(ROCK) == pytest.approx(expected, rel=ON, abs=0)
    for one in ("rho", "vp", "vs"):
        assert sunk(off(**{one: 1.01})) != pytest.approx(expected, rel=TWIN, abs=0)


def test_forces_and_motions_of_the_surface_are_reciprocal():
    # u_i(x) by e_j at 0 is u_j(0) by e_i at x, which is u_j(-x) by e_i at 0
    x, t = np.array([120.0, 170.0, 0.0]), np.linspace(0.0, 0.7, 80)
    motion = np.empty((2, 3, 3, len(t)))
    for j in range(3):
        solution = exact.lamb_problem(ROCK, PointForce((0, 0, 0), F, np.eye(3)[j]))
        for side, sign in enumerate((1.0, -1.0)):
            values = solution(*(sign * x), t)
            motion[side, :, j] = [values["v" + a] for a in "xyz"]
    scale = np.abs(motion).max()
    assert np.abs(motion[0] - motion[1].swapaxes(0, 1)).max() < ON * scale
    assert np.abs(motion[0] - motion[0].swapaxes(0, 1)).max() > TWIN * scale


def test_turning_everything_turns_the_wave():
    angle, x, t = 0.7, np.array([120.0, 50.0, -60.0]), np.linspace(0.1, 0.4, 20)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    one = exact.lamb_problem(ROCK, PointForce((0, 0, 0), F, FORCE))(*x, t)
    two = exact.lamb_problem(ROCK, PointForce((0, 0, 0), F, turn @ FORCE))(*(turn @ x), t)
    velocity = turn @ [one["v" + a] for a in "xyz"]
    assert np.abs([two["v" + a] for a in "xyz"] - velocity).max() < 1e-12 * np.abs(velocity).max()
    names = [["sxx", "sxy", "sxz"], ["sxy", "syy", "syz"], ["sxz", "syz", "szz"]]
    stress = np.einsum("ik,klt,jl->ijt", turn, [[one[a] for a in row] for row in names], turn)
    assert np.abs([[two[a] for a in row] for row in names] - stress).max() < 1e-12 * np.abs(stress).max()


def test_the_rayleigh_wave_comes_in_time_and_fades_as_its_ring_grows():
    speed = exact.rayleigh_wave(ROCK, (1.0, 0.0, 0.0)).speed
    solution = exact.lamb_problem(ROCK, PointForce((0, 0, 0), F, (0.0, 0.0, 1.0)))
    after = np.linspace(-0.2, 0.3, 251) + 0.15
    near, far = (solution(r, 0.0, 0.0, r / speed + after)["vz"] for r in (5000.0, 20000.0))
    # 25 Rayleigh wavelengths: what is not yet far is of order 1/(k r) = 1/160, body waves of 25^-3/2
    assert np.abs(near - 2.0 * far).max() < 0.015 * np.abs(near).max()
    late = solution(20000.0, 0.0, 0.0, 20000.0 / (1.01 * speed) + after)["vz"]
    assert np.abs(near - 2.0 * late).max() > 0.1 * np.abs(near).max()


def test_nothing_arrives_before_the_p_wave():
    solution = exact.lamb_problem(ROCK, PointForce((0, 0, 0), smooth_bump(0.1), FORCE))
    for x in ((300.0, 0.0, 0.0), (180.0, 0.0, -240.0), (0.0, 0.0, -300.0)):
        values = solution(*x, [-1.0, 0.0, 0.999 * 300.0 / VP, 0.11])
        assert all(np.all(one[:3] == 0.0) for one in values.values())
        assert all(values[name][3] != 0.0 for name in ("vx", "vy", "vz"))


def test_shapes_broadcast_and_nothing_gives_nothing():
    solution = exact.lamb_problem(ROCK, PointForce(PLACE, F, FORCE))
    x, t = np.array([[110.0], [90.0]]), np.array([0.2, 0.25, 0.3])
    values = solution(x, 0.0, -50.0, t)
    for i, j in ((0, 2), (1, 0)):
        alone = solution(x[i, 0], 0.0, -50.0, t[j])
        for name, one in values.items():
            # fewer delays for an earlier end: other nodes, the same integral
            assert abs(one[i, j] - alone[name]) < BELOW * np.abs(one).max()
    assert solution(np.zeros((0, 3)), 0.0, -50.0, t)["vx"].shape == (0, 3)
    again = exact.from_config(solution.to_config())
    assert repr(again) == repr(solution)


@pytest.mark.slow
def test_a_run_of_the_solver_gives_the_same():
    """Lengths in S wavelengths of f0: 1.5 away, to the peak of the Rayleigh wave; sides absorb.

    Degree 5 on bricks of 0.3, three quarters of lambda_min: there 0.25 % are left, at degree 4 2 %.
    """
    medium, f0, edge = Elastic(rho=1.0, vp=1.7, vs=1.0), 1.0, 0.3
    cells, place = np.array([13, 10, 5]), np.array([0.1, 0.07, 0.0])
    lower = -edge * np.array([4.0, 5.0, 5.0])
    source = PointForce(place, ricker(f0, t0=1.1), (0.3, 0.0, -1.0))
    sim = unda.DG(
        unda.box_mesh(lower, lower + edge * cells, cells), medium, degree=5,
        boundary={"zmax": "free", "*": "absorbing"}, device="cpu",
    )  # fmt: skip
    sim.add_source(source)
    rec = sim.add_receivers(place + np.array([[1.5, 0.0, 0.0], [1.5, 0.0, -0.1]]))
    sim.run(until=2.75)

    def misfit(material):
        values = exact.lamb_problem(material, source)(*(rec.points[:, i, None] for i in range(3)), rec.t)
        v = ("vx", "vy", "vz")
        wrong, whole = (
            sum((one[a] ** 2).sum(axis=1) for a in v) for one in ({a: rec[a] - values[a] for a in v}, values)
        )
        return np.sqrt(wrong / whole)

    assert misfit(medium).max() < 0.01
    for other in ({"rho": 1.02}, {"vp": 1.7 * 1.02}, {"vs": 1.02}):
        assert misfit(Elastic(**{**medium.scalar(), **other})).min() > 0.01, other


@pytest.mark.parametrize("make, found", [
    (lambda: exact.lamb_problem(ROCK, PLACE), "expected one such as unda.VolumeInjection"),
    (lambda: exact.lamb_problem(ROCK, PointForce(PLACE, np.sin, FORCE)), "plain callable"),
    (lambda: exact.lamb_problem(ROCK, PointForce(PLACE, wrap(np.sin, 0.1), FORCE)), "no known beginning"),
    (lambda: exact.lamb_problem(ROCK, MomentTensor(PLACE, F, np.eye(3))), "expected a unda.PointForce"),
    (lambda: exact.lamb_problem(Acoustic(rho=1, c=1), PointForce(PLACE, F, FORCE)), "the medium is acoustic"),
    (lambda: exact.lamb_problem(off(vs=0.0), PointForce(PLACE, F, FORCE)), "expected a solid"),
    (lambda: exact.lamb_problem(ROCK, PointForce(PLACE, F, FORCE))(*PLACE, 0.1), "infinite there"),
    (lambda: exact.lamb_problem(ROCK, PointForce(PLACE, F, FORCE))(0, 0, 5.1, 0.1), "above the free surface"),
])  # fmt: skip
def test_what_has_no_solution_is_refused(make, found):
    with pytest.raises(ArgumentError, match=found):
        make()


def test_samples_of_a_pulse_drive_it_too():
    t = np.linspace(0.0, 0.5, 1001)
    one, two = (exact.lamb_problem(ROCK, PointForce((0, 0, 0), f, FORCE))(100.0, 0.0, -50.0, t[200:700:20])
                for f in (F, sampled(t, F(t))))  # fmt: skip
    # f'' of a cubic spline errs by (omega h)^2/12 = 1e-4 at most, h = 5e-4 s, omega = 2 pi 10
    assert size({a: one[a] - two[a] for a in STRESSES}, STRESSES) < 1e-3 * size(one, STRESSES)
