"""Waves bound to a surface, an interface or a plate: their equations, conditions, speeds, amplitudes.

Not here: waves that meet an interface (test_exact_elastic_interface.py).
Next: python/unda/exact/surface_wave.py, python/unda/exact/plate.py.
"""

import numpy as np
import pytest
from elastic_waves import (
    ACROSS,
    HEAVY,
    NORMAL,
    PLANE,
    POSITION,
    ROCK,
    SEA,
    THIRD,
    UNIT,
    conditions,
    motion_and_traction,
    off_by_one_per_cent,
    on_the_interface,
    residual_of_each_side,
)
from exact_helpers import KH, TOLERANCE, TWIN, elastic_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Elastic

BOUND = {
    "rayleigh": (exact.rayleigh_wave(ROCK, 3.0 * ACROSS, **PLANE, amplitude=2.0, phase=0.3), ROCK, None),
    "stoneley": (exact.stoneley_wave(HEAVY, UNIT, 3.0 * ACROSS, **PLANE, phase=0.3), HEAVY, UNIT),
    "scholte": (exact.scholte_wave(SEA, ROCK, 3.0 * ACROSS, **PLANE, phase=0.3), SEA, ROCK),
    "scholte above": (exact.scholte_wave(ROCK, SEA, 3.0 * ACROSS, **PLANE), ROCK, SEA),
}
PLATES = {
    f"{'symmetric' if symmetric else 'antisymmetric'} {n}": exact.plate_mode(
        ROCK, 2.0 * ACROSS, 1.5, symmetric=symmetric, n=n, **PLANE, phase=0.2
    )
    for symmetric in (True, False)
    for n in (0, 1, 3)
}
EVERY_BOUND = pytest.mark.parametrize("name", BOUND)


@EVERY_BOUND
def test_bound_wave_solves_the_equations_of_each_side(name):
    solution, one, two = BOUND[name]
    residual_of_each_side(solution, 3.0 * solution.medium.scalar()["vp"], one, two)


@EVERY_BOUND
def test_bound_waves_fulfil_the_conditions_and_decay(name):
    solution, one, two = BOUND[name]
    assert conditions(solution, solution, one, two or "free") < 1e-11
    points, t = on_the_interface()
    v_n = motion_and_traction(solution(*(points - 1e-13 * NORMAL).T, t))[0][0]
    expected = (2.0 if two is None else 1.0) * np.sin(
        3.0 * points @ ACROSS - solution.omega * t + solution.to_config()["phase"]
    )
    assert np.allclose(v_n, expected, rtol=0, atol=1e-12)
    for side, medium in ((-1.0, one), (1.0, two)):
        if medium is not None:
            slow = medium.scalar()["vs"] or medium.scalar()["vp"]
            kappa = 3.0 * np.sqrt(1.0 - (solution.speed / slow) ** 2)
            depth = 12.0 / kappa
            values = solution(*(points + side * depth * NORMAL).T, t)
            assert max(np.abs(one).max() for one in values.values()) < 1e3 * np.exp(-12.0)


@EVERY_BOUND
def test_conditions_see_a_bound_wave_of_another_medium(name):
    solution, one, two = BOUND[name]
    make = exact.rayleigh_wave if two is None else exact.stoneley_wave
    media = [off_by_one_per_cent(one, "vp" if two is None else "rho"), *([two] if two else [])]
    config = solution.to_config()
    given = {key: config[key] for key in ("k", "normal", "position", "amplitude", "phase")}
    other = make(*media, **given)
    if two is None:  # its own traction vanishes at the surface, not at a hundredth of a wavelength below
        assert abs(other.speed / solution.speed - 1.0) > 1e-4
        points, t = on_the_interface()
        _, traction = motion_and_traction(solution(*(points - 0.02 * NORMAL).T, t))
        assert min(np.abs(traction[0]).max(), np.abs(traction[1]).max()) > TWIN
    else:
        assert conditions(other, solution, one, two) > TWIN


def test_speeds_of_bound_waves():
    rayleigh = exact.rayleigh_wave(UNIT, (1.0, 0.0, 0.0)).speed
    assert rayleigh == pytest.approx(np.sqrt(2.0 - 2.0 / np.sqrt(3.0)), rel=4e-16)
    assert rayleigh == pytest.approx(0.919401686762, abs=1e-12)
    scholte = exact.scholte_wave(SEA, UNIT, (1.0, 0.0, 0.0)).speed
    assert scholte == pytest.approx(0.711001723018581, rel=2e-15)
    assert exact.scholte_wave(UNIT, SEA, (0.0, 2.0, 0.0)).speed == pytest.approx(scholte, rel=2e-15)
    stoneley = exact.stoneley_wave(HEAVY, UNIT, (1.0, 0.0, 0.0)).speed
    assert stoneley == pytest.approx(0.546981324213884, rel=2e-15)
    for ratio in (1.2, 1.5, 2.0, 10.0):
        q = ratio**-2
        xi = exact.rayleigh_wave(Elastic(rho=1.0, vp=ratio, vs=1.0), (1.0, 0.0, 0.0)).speed ** 2
        assert abs(xi**3 - 8.0 * xi**2 + (24.0 - 16.0 * q) * xi - 16.0 * (1.0 - q)) < 1e-13
        assert 0.0 < xi < 1.0


def amplitudes(solution):
    """Amplitudes of all waves, whose polarizations q have q.q = 1 (not conjugated)."""
    velocity = np.concatenate([side.fields[:, :3] for side in solution._sides])
    return np.abs(np.sqrt((velocity**2).sum(axis=1)))


@pytest.mark.parametrize("one, two, published", [
    (HEAVY, UNIT, [0.2952173626624, 0.6798795208473, 0.5220044931212, 0.9339639688697]),
    (SEA, UNIT, [0.3594499773037, 0.8194642725978, 1.0]),
])  # fmt: skip
def test_amplitudes_of_bound_waves_are_the_published_ones(one, two, published):
    # Wilcox et al. (2010) give the amplitudes B of displacements B k (i, -b) and B k (b, i), which are
    # c/v times shorter than those of our unit polarizations, up to a common factor
    solution = exact.stoneley_wave(one, two, (1.0, 0.0, 0.0))
    speeds = [m.scalar()[name] for m in (one, two) for name in ("vp", "vs") if m.scalar()[name]]
    ratios = amplitudes(solution) * speeds / published
    assert np.allclose(ratios, ratios[0], rtol=1e-11)
    other = exact.stoneley_wave(one, off_by_one_per_cent(two, "rho"), (1.0, 0.0, 0.0))
    ratios = amplitudes(other) * speeds / published
    assert np.ptp(ratios) > TWIN * ratios[0]


@pytest.mark.parametrize("name", PLATES)
def test_plate_modes_solve_the_equations_and_leave_both_faces_free(name):
    solution = PLATES[name]
    points, t = on_the_interface()
    inside = points + np.outer(np.linspace(-0.7, 0.7, len(points)), NORMAL)
    h = KH / max(2.0, solution.omega / 1.1)
    assert elastic_residual(solution, inside, t, h) < TOLERANCE
    for constant in ("rho", "vs"):
        assert elastic_residual(solution, inside, t, h, off_by_one_per_cent(ROCK, constant)) > TWIN
    scale = np.abs(motion_and_traction(solution(*inside.T, t))[1]).max()
    for face in (-0.75, 0.75):
        _, traction = motion_and_traction(solution(*(points + face * NORMAL).T, t))
        assert np.abs(traction).max() < 1e-12 * scale
        _, traction = motion_and_traction(solution(*(points + 0.99 * face * NORMAL).T, t))
        assert np.abs(traction).max() > TWIN * scale
    v = [motion_and_traction(solution(*(points + face * NORMAL).T, t))[0] for face in (-0.75, 0.75)]
    even = 1.0 if name.startswith("symmetric") else -1.0
    assert np.allclose(v[0][1], even * v[1][1], rtol=0, atol=1e-12)
    assert np.allclose(v[0][0], -even * v[1][0], rtol=0, atol=1e-12)
    larger = max(v[1][:2], key=lambda one: np.abs(one).max())
    expected = np.sin(2.0 * points @ ACROSS - solution.omega * t + 0.2)
    assert np.allclose(larger, expected, rtol=0, atol=1e-12)


def test_plate_modes_have_the_speeds_of_their_limits():
    thin = exact.plate_mode(ROCK, (0.01, 0.0, 0.0), 1.0)
    plate_speed = 2.0 * 1.1 * np.sqrt(1.0 - (1.1 / 2.0) ** 2)  # sqrt(E/(rho (1 - nu^2)))
    assert thin.speed == pytest.approx(plate_speed, rel=1e-5)
    bending = exact.plate_mode(ROCK, (0.01, 0.0, 0.0), 1.0, symmetric=False)
    assert bending.speed == pytest.approx(plate_speed * 0.01 / np.sqrt(12.0), rel=1e-3)
    # q = k = pi/d is a Lame mode
    frequencies = [exact.plate_mode(ROCK, (np.pi, 0.0, 0.0), 1.0, n=n).omega for n in range(4)]
    assert min(abs(one / (np.sqrt(2.0) * np.pi * 1.1) - 1.0) for one in frequencies) < 1e-13


def test_a_thick_plate_carries_rayleigh_waves_on_its_faces():
    thick = exact.plate_mode(ROCK, 2.0 * ACROSS, 60.0, **PLANE)
    surface = exact.rayleigh_wave(ROCK, 2.0 * ACROSS, normal=NORMAL, position=POSITION + 30.0)
    points, t = on_the_interface()
    points = points + np.outer(30.0 - np.linspace(0.0, 2.0, len(points)), NORMAL)
    assert thick.speed == pytest.approx(surface.speed, rel=1e-13)
    found, expected = (motion_and_traction(one(*points.T, t)) for one in (thick, surface))
    for mine, theirs in zip(found, expected, strict=True):
        assert np.allclose(mine, theirs, rtol=0, atol=1e-10)
    assert np.abs(expected[1]).max() > TWIN
    points, t = on_the_interface()
    faces = [motion_and_traction(thick(*(points + side * NORMAL).T, t)) for side in (-30.0, 30.0)]
    assert max(np.abs(traction).max() for _, traction in faces) < 1e-11
    assert np.allclose(faces[0][0][1], faces[1][0][1], rtol=0, atol=1e-12)
    assert np.allclose(faces[0][0][0], -faces[1][0][0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("ratio", [1.16, 1.3, 2.0, 10.0])
def test_the_slowest_plate_modes_are_found(ratio):
    medium = Elastic(rho=1.0, vp=ratio, vs=1.0)
    rayleigh = exact.rayleigh_wave(medium, (1.0, 0.0, 0.0)).speed
    for symmetric in (True, False):
        thick = exact.plate_mode(medium, (1.0, 0.0, 0.0), 100.0, symmetric=symmetric)
        assert thick.speed == pytest.approx(rayleigh, rel=1e-12)
    thin = exact.plate_mode(medium, (0.02, 0.0, 0.0), 1.0, symmetric=False)
    assert thin.omega == pytest.approx(2e-4 * 2.0 * np.sqrt((1.0 - ratio**-2) / 3.0), rel=1e-3)


SLOW = Elastic(rho=1.1, vp=1.5, vs=0.7)
LOVE = {
    n: exact.love_wave(SLOW, ROCK, 6.0 * ACROSS, 1.5, n=n, **PLANE, amplitude=2.0, phase=0.3)
    for n in (0, 1, 2)
}


@pytest.mark.parametrize("n", LOVE)
def test_love_waves_solve_the_equations_and_hold_together_at_the_interface(n):
    wave = LOVE[n]
    points, t = on_the_interface()
    assert max(np.abs(part).max() for part in motion_and_traction(wave(*points.T, t))[1]) < 1e-11
    at, h = points - 1.5 * NORMAL, KH / 6.0 / 3.0  # of P waves in the rock, of which there are none, too
    for side, medium in ((1.0, SLOW), (-1.0, ROCK)):
        place = at + side * np.outer(np.linspace(0.2, 1.2, len(at)), NORMAL)
        assert elastic_residual(wave, place, t, h, medium) < TOLERANCE
        assert elastic_residual(wave, place, t, h, off_by_one_per_cent(medium, "vs")) > TWIN
    above, below = (motion_and_traction(wave(*(at + gap * NORMAL).T, t)) for gap in (1e-13, -1e-13))
    for one, other in zip(above[0] + above[1], below[0] + below[1], strict=True):
        assert np.abs(one - other).max() < 1e-11
    depth = np.linspace(0.0, 1.5, 400)
    motion = (
        THIRD
        @ np.stack([wave(*(points[0] - d * NORMAL), 0.3)[f"v{axis}"] for d in depth for axis in "xyz"])
        .reshape(-1, 3)
        .T
    )
    assert np.count_nonzero(np.diff(np.sign(motion))) == n
    assert np.abs(motion[0]) == pytest.approx(
        2.0 * abs(np.sin(6.0 * points[0] @ ACROSS - wave.omega * 0.3 + 0.3))
    )


def test_love_wave_of_loh1_at_1_hz_has_its_speed():
    """From the secular equation in 30 digits: 2222.681379026700 m/s."""
    soil, rock = Elastic(rho=2600.0, vp=4000.0, vs=2000.0), Elastic(rho=2700.0, vp=6000.0, vs=3464.0)
    wave = exact.love_wave(soil, rock, (2.0 * np.pi / 2222.681379026700, 0.0, 0.0), 1000.0)
    assert wave.speed == pytest.approx(2222.681379026700, rel=1e-14)
    assert wave.omega == pytest.approx(2.0 * np.pi, rel=1e-14)
    assert exact.from_config(wave.to_config()).speed == wave.speed


@pytest.mark.parametrize(
    ("media", "given", "words"),
    [
        ((ROCK, SLOW), {}, "expected a slower layer"),
        ((SEA, ROCK), {}, "carries no shear"),
        ((SLOW, ROCK), {"n": 9}, "no mode 9 for k = 6 rad/m; expected at least"),
        ((SLOW, ROCK), {"normal": ACROSS}, "expected a vector along the surface"),
    ],
)
def test_love_waves_that_do_not_exist_are_refused(media, given, words):
    with pytest.raises(ArgumentError, match=words):
        exact.love_wave(*media, 6.0 * ACROSS, 1.5, **({"normal": NORMAL} | given))
