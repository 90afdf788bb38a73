"""Waves of line and plane sources: the equations, the sum of point sources along the line, what is injected.

Not here: grids in two dimensions and one (test_fd_flat.py), other solutions (test_exact_solutions.py).
"""

import json

import numpy as np
import pytest
from exact_helpers import KH, TOLERANCE, TWIN, elastic_residual, maxwell_residual, residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic, Elastic, Maxwell
from unda.problem.source import CurrentDipole, MomentTensor, PointForce, VolumeInjection
from unda.problem.timefunction import gaussian, ricker, smooth_bump

PLACE = np.array([3.0, -2.0, 1.5])
AXES = pytest.mark.parametrize("axis", ["y", *(pytest.param(one, marks=pytest.mark.slow) for one in "xz")])
F = ricker(0.3)


def along(axis, strength=1.0):
    return strength * np.eye(3)["xyz".index(axis)]


def solutions(axis, scale=1.0):
    """Each physics' solution, the residual of its equations, and the medium 1 % off."""
    rock, glass = Elastic(rho=1.3, vp=2.0, vs=1.1), Maxwell(eps=1.7, mu=0.6)
    water = Acoustic(rho=1.3, c=1.1)
    return [
        (
            exact.line_source(water, VolumeInjection(PLACE, F), axis=axis),
            residual, Acoustic(rho=1.3, c=1.111),
        ),
        (
            exact.line_source(
                water, VolumeInjection(PLACE, F), axis=axis,
                walls={"z" + "max" if axis != "z" else "xmin": ("free", 20.0 if axis != "z" else -20.0)},
            ),
            residual, Acoustic(rho=1.3, c=1.111),
        ),
        (
            exact.line_source(rock, PointForce(PLACE, F, along(axis, -2.0)), axis=axis),
            elastic_residual, Elastic(rho=1.3, vp=2.0, vs=1.111),
        ),
        (
            exact.line_source(rock, PointForce(PLACE, F, (1.0, -2.0, 0.5)), axis=axis),
            elastic_residual, Elastic(rho=1.3, vp=2.02, vs=1.1),
        ),
        (
            exact.line_source(rock, VolumeInjection(PLACE, F), axis=axis),
            elastic_residual, Elastic(rho=1.3, vp=2.02, vs=1.1),
        ),
        (
            exact.line_source(glass, CurrentDipole(PLACE, F, along(axis, 3.0)), axis=axis),
            maxwell_residual, Maxwell(eps=1.7, mu=0.606),
        ),
    ]  # fmt: skip


def ring(num=30, seed=3):
    """Points 4 to 12 m around the source, and times when the wave is there or has passed."""
    rng = np.random.default_rng(seed)
    away = rng.normal(size=(num, 3))
    away *= (rng.uniform(5, 12, num) / np.linalg.norm(away, axis=1))[:, None]
    for axis in range(3):  # of any line
        away[np.abs(away[:, axis]) < 3, axis] = 3.5
    return PLACE + away, rng.uniform(8, 25, num)


@AXES
def test_line_waves_solve_their_equations(axis):
    """Waves of up to 2.5 f0: k = 2 pi 0.75 / 1.1 = 4.3 rad/m at most, of third derivatives in elastic media
    half as much again. There (vp t/r)^4 eps are lost in differences of P and S: t of 14 at most makes 2e-13,
    over kh as the residual has it 3e-12. Each wave has two of the three axes.
    """
    points, t = ring()
    t = 8 + (t - 8) * 6 / 17
    for i, (solution, found, other) in enumerate(solutions(axis)):
        if (i + "xyz".index(axis)) % 3 == 2:
            continue
        assert found(solution, points, t, KH / 6.5) < TOLERANCE, solution
        assert found(solution, points, t, KH / 6.5, other) > TWIN, solution


SOLID = Elastic(rho=1.3, vp=2.0, vs=1.1)


@pytest.mark.parametrize(
    ("medium", "axis", "make"),
    [
        (Acoustic(rho=1.3, c=1.1), "x", lambda axis: VolumeInjection(PLACE, F)),
        (SOLID, "y", lambda axis: PointForce(PLACE, F, along(axis, -2.0))),
        (SOLID, "x", lambda axis: PointForce(PLACE, F, (0.0, 1.0, -2.0))),
        (SOLID, "z", lambda axis: VolumeInjection(PLACE, F)),
        (SOLID, "z", lambda axis: MomentTensor(PLACE, F, 2.0 * np.eye(3))),
        (Elastic(rho=1.3, vp=2.0, vs=0.0), "y", lambda axis: VolumeInjection(PLACE, F)),
        (Maxwell(eps=1.7, mu=0.6), "z", lambda axis: CurrentDipole(PLACE, F, along(axis, 3.0))),
    ],
    ids=["acoustic", "sh", "psv", "volume", "moment", "fluid", "wire"],
)
def test_they_are_what_point_sources_along_the_line_sum_up_to(medium, axis, make):
    """The trapezoidal rule with 16 points in the shortest wave, 1.3 m: exact to the tail of the spectrum
    beyond them. What arrives before t = 12 comes from less than 2 * 12 m away, and points are 12 m along
    the line from the source at most.
    """
    points, _ = ring(3)
    t, source, step = np.array([7.0, 9.5, 12.0]), make(axis), 0.08
    line = exact.line_source(medium, source, axis=axis)(*points.T, t)
    line = np.stack([line[name] for name in medium.fields])
    places = step * np.arange(-480, 481)
    moved = points[:, None] - places[:, None] * along(axis)
    x, y, z = np.moveaxis(moved, -1, 0)
    values = exact.point_source(medium, source)(x, y, z, t[:, None])
    found = np.stack([step * values[name].sum(axis=1) for name in medium.fields])
    assert np.abs(found - line).max() < 1e-6 * np.abs(line).max()
    assert (np.abs(line).max(axis=1) > 1e-3 * np.abs(line).max()).sum() >= 3


@AXES
@pytest.mark.parametrize("t", [4.0, 5.0, 6.5])
def test_the_flux_through_a_small_cylinder_is_the_injected_rate(axis, t):
    """At radius r: q + (r/c)^2 q''/2 (ln(..) + ..), 1e-5 at 1e-3 of a wavelength."""
    solution = exact.line_source(Acoustic(rho=1.3, c=1.1), VolumeInjection(PLACE, F), axis=axis)
    one, two = (i for i in range(3) if i != "xyz".index(axis))
    angle, radius = 2 * np.pi * np.arange(12) / 12, 1e-3
    points = np.tile(PLACE, (12, 1))
    points[:, one] += radius * np.cos(angle)
    points[:, two] += radius * np.sin(angle)
    v = solution(*points.T, t)
    outward = v["v" + "xyz"[one]] * np.cos(angle) + v["v" + "xyz"[two]] * np.sin(angle)
    assert 2 * np.pi * radius * outward.mean() == pytest.approx(F(t), abs=2e-5)
    assert abs(F(t)) > 0.01 and not v["v" + axis].any()


def test_late_fields_of_a_current_are_those_of_a_wire():
    """I / (2 pi r) around it, and no E but what still fades like 1 / t: after t / r = 2000, (r/t)^2 left."""
    bump = smooth_bump(1.0)
    source = CurrentDipole((0, 0, 0), bump.integral, (0, 0, 1))
    wire = exact.line_source(Maxwell(eps=1.0, mu=1.0), source, axis="z")
    values = wire(0.3, 0.4, 0.0, 1000.0)
    current = float(bump.integral(2.0))
    assert values["hx"] == pytest.approx(-current / (2 * np.pi * 0.5) * 0.8, rel=1e-5)
    assert values["hy"] == pytest.approx(current / (2 * np.pi * 0.5) * 0.6, rel=1e-5)
    assert values["ez"] == pytest.approx(-current / (2 * np.pi * 1000.0), rel=2e-3)


def test_nothing_arrives_before_the_wave_and_it_has_a_tail():
    wave = exact.line_source(Acoustic(rho=1.0, c=2.0), VolumeInjection((0, 0, 0), smooth_bump(1.0)))
    p = wave(6.0, 50.0, 0.0, [0.0, 2.9, 3.3, 60.0])["p"]
    assert not p[:2].any() and p[2] != 0.0 and p[3] != 0.0


@AXES
def test_plane_waves_of_a_plane_source_carry_what_is_injected(axis):
    water = Acoustic(rho=1.3, c=1.1)
    wave = exact.plane_source(water, VolumeInjection(PLACE, F), normal=axis)
    points, t = ring()
    assert residual(wave, points, t, KH / 4.7) < TOLERANCE
    assert residual(wave, points, t, KH / 4.7, Acoustic(rho=1.3, c=1.111)) > TWIN
    step, t = 1e-9 * along(axis), 4.7
    jump = wave(*(PLACE + step), t)["v" + axis] - wave(*(PLACE - step), t)["v" + axis]
    assert jump == pytest.approx(F(t), rel=1e-6) and abs(F(t)) > 0.1


def test_they_keep_the_manners_of_a_call():
    plane = exact.plane_source(Acoustic(rho=1.0, c=1.0), VolumeInjection(PLACE, F))
    for wave in (*(one for one, *_ in solutions("y")), plane):
        again = exact.from_config(json.loads(json.dumps(wave.to_config())))
        values, others = wave([1.0, 2.0], 3.0, 0.5, 12.0), again([1.0, 2.0], 3.0, 0.5, 12.0)
        assert all(np.array_equal(values[name], others[name]) for name in values)
        assert all(one.shape == (2,) for one in values.values())
        assert any(values[name].any() for name in values)
        assert wave(np.zeros((0, 3)) + 9.0, 3.0, 0.5, 1.0)[wave.fields[0]].shape == (0, 3)


ROCK, WATER = Elastic(rho=1.0, vp=2.0, vs=1.0), Acoustic(rho=1.0, c=1.0)
FLUID, INJECTED = Elastic(rho=1.0, vp=2.0, vs=0.0), VolumeInjection(PLACE, F)
GLASS, METAL = Maxwell(eps=1.0, mu=1.0), Maxwell(eps=1.0, mu=1.0, sigma=1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: exact.line_source(WATER, INJECTED, axis="r"), "axis is 'r'; expected 'x', 'y' or 'z'"),
        (lambda: exact.plane_source(WATER, INJECTED, normal=0), "normal is 0; expected 'x'"),
        (lambda: exact.line_source(WATER, INJECTED, walls={"ymax": ("free", 5.0)}), "across the line"),
        (lambda: exact.line_source(WATER, INJECTED)(PLACE[0], 7.0, PLACE[2], 1.0), "on the line through"),
        (lambda: exact.line_source(ROCK, MomentTensor(PLACE, F, np.diag([1, 2, 1]))), "others are not known"),
        (lambda: exact.line_source(FLUID, PointForce(PLACE, F, (0, 1, 0))), "a fluid carries no force"),
        (lambda: exact.line_source(GLASS, CurrentDipole(PLACE, F, (0, 0, 1))), "along y, the axis"),
        (lambda: exact.line_source(METAL, CurrentDipole(PLACE, F, (0, 1, 0))), "does not conduct"),
        (lambda: exact.plane_source(FLUID, INJECTED), "known for acoustic media"),
    ],
)
def test_what_is_not_known_is_refused_in_words(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


def test_smooth_pulses_of_any_kind_are_integrated():
    """A Gaussian's rate by the trapezoidal rule, which has all digits of an even function that fades."""
    f, r, c = gaussian(0.4, t0=6.0), 7.0, 1.1
    wave = exact.line_source(Acoustic(rho=1.0, c=c), VolumeInjection((0, 0, 0), f))
    u = np.linspace(0.0, 4.0, 20_001)
    for t in (9.0, 13.0, 40.0):
        rate = f.derivative(t - r / c * np.cosh(u))
        expected = (rate.sum() - 0.5 * rate[0]) * u[1] / (2 * np.pi)
        assert wave(r, 0.0, 0.0, t)["p"] == pytest.approx(expected, abs=1e-12)
