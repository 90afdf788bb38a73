"""Plane waves at an interface of elastic media: continuity, energy, published coefficients.

Not here: waves bound to an interface (test_exact_surface_waves.py).
Next: python/unda/exact/elastic_interface.py.
"""

import numpy as np
import pytest
from elastic_waves import (
    ACROSS,
    BRINE,
    HARD,
    NORMAL,
    PLANE,
    ROCK,
    SEA,
    F,
    at_interface,
    conditions,
    direction,
    off_by_one_per_cent,
    on_the_interface,
    residual_of_each_side,
    shifted,
)
from exact_helpers import TWIN
from unda import exact
from unda.problem.medium import Acoustic, Elastic

PAIRS = {
    "solid-solid": (ROCK, HARD), "hard-soft": (HARD, ROCK), "fluid-solid": (SEA, ROCK),
    "solid-fluid": (ROCK, SEA), "fluid-fluid": (SEA, BRINE), "solid-free": (ROCK, "free"),
    "fluid-free": (SEA, "free"),
}  # fmt: skip
MEETING = {
    f"{name} {kind} {angle}": (one, two, kind, angle)
    for name, (one, two) in PAIRS.items()
    for kind in (("p", "sv", "sh") if one.scalar()["vs"] else ("p",))
    for angle in (0.0, 0.35, 0.8, 1.2)
}
#: By default two of four angles: the first and the third, or the second and the fourth, in turn.
SLOW = [[pytest.mark.slow] * ((i + i // 4) % 2) for i in range(len(MEETING))]
EVERY_MEETING = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=slow) for name, slow in zip(MEETING, SLOW, strict=True)]
)


@EVERY_MEETING
def test_interface_wave_solves_the_equations_of_each_side(name):
    one, two, kind, angle = MEETING[name]
    slowest = min(m.scalar()["vs"] or m.scalar()["vp"] for m in (one, two) if m != "free")
    speed = one.scalar()["vp" if kind == "p" else "vs"]
    # with vp of medium 1 in the time step
    wavenumber = 3.0 * max(1.0, speed / slowest, speed / one.scalar()["vp"])
    residual_of_each_side(at_interface(one, two, kind, angle), wavenumber, one, two)


def test_pulse_at_an_interface_solves_the_equations_and_conditions():
    pulse = at_interface(HARD, ROCK, "sv", 0.35, pulse=True)
    residual_of_each_side(pulse, 4.7, HARD, ROCK)
    assert conditions(pulse, pulse, HARD, ROCK) < 1e-11
    points, t = on_the_interface()
    points, t = shifted(points, -1.0, 0.02), t + 2.0
    equal = at_interface(HARD, HARD, "sv", 0.35, pulse=True)
    carried = {"direction": direction(0.35), "f": F, "amplitude": 1.5}
    q = np.cos(0.35) * ACROSS - np.sin(0.35) * NORMAL
    alone = exact.plane_wave(HARD, **carried, kind="s", polarization=q)
    for field in alone.fields:
        assert np.allclose(equal(*points.T, t)[field], alone(*points.T, t)[field], rtol=0, atol=1e-12)


@EVERY_MEETING
def test_velocity_and_traction_are_continuous(name):
    one, two, kind, angle = MEETING[name]
    solution = at_interface(one, two, kind, angle)
    assert conditions(solution, solution, one, two) < 1e-11  # 2e-13 m times wavenumber, rho c, amplitude
    if two == "free":
        other = at_interface(off_by_one_per_cent(one, "rho"), one, kind, angle)
        assert conditions(other, other, one, "free") > TWIN
    elif two.scalar()["vs"] or (kind != "sh" and (kind, angle) != ("sv", 0.0)):  # a fluid feels these not
        other = at_interface(one, off_by_one_per_cent(two, "rho"), kind, angle)
        assert conditions(solution, other, one, two) > TWIN


@EVERY_MEETING
def test_energy_is_shared_among_the_waves_that_leave(name):
    one, two, kind, angle = MEETING[name]
    solution = at_interface(one, two, kind, angle)
    parts = [*solution.reflected_energy.values(), *solution.transmitted_energy.values()]
    assert min(parts) >= 0.0
    assert sum(parts) == pytest.approx(1.0, abs=1e-13)


def test_energy_sees_wrong_coefficients():
    solution = at_interface(ROCK, HARD, "p", 0.35)
    other = at_interface(ROCK, off_by_one_per_cent(HARD, "vs"), "p", 0.35)
    mixed = [*solution.reflected_energy.values(), *other.transmitted_energy.values()]
    assert abs(sum(mixed) - 1.0) > 1e-4


def test_coefficients_are_those_of_seissol():
    # SeisSol, SnellsLaw: fluid rho = c = 1 over solid rho = 1, vp = 3, vs = 2, angle 0.2
    solid = Elastic(rho=1.0, vp=3.0, vs=2.0)
    wave = exact.interface_plane_wave(SEA, solid, k=(np.cos(0.2), np.sin(0.2), 0.0))
    found = wave.reflection["p"], wave.transmission["p"], abs(wave.transmission["sv"])
    assert np.allclose(found, [0.480555914321674, 0.433811888960302, 0.404562109533774], rtol=0, atol=2e-15)
    other = exact.interface_plane_wave(SEA, off_by_one_per_cent(solid, "vp"), k=(np.cos(0.2), np.sin(0.2), 0))
    assert abs(other.reflection["p"] - wave.reflection["p"]) > TWIN


def test_normal_incidence_has_the_coefficients_of_the_impedances():
    for kind, speed in (("p", "vp"), ("sv", "vs"), ("sh", "vs")):
        z1, z2 = (m.scalar()["rho"] * m.scalar()[speed] for m in (ROCK, HARD))
        solution = at_interface(ROCK, HARD, kind, 0.0)
        sign = 1.0 if kind == "sh" else -1.0  # P and SV move along d and b x d, d turned round
        assert solution.transmission[kind] == pytest.approx(2.0 * z1 / (z1 + z2), rel=1e-14)
        assert sign * solution.reflection[kind] == pytest.approx((z1 - z2) / (z1 + z2), rel=1e-13)
        others = [abs(a) for name, a in solution.reflection.items() if name != kind]
        assert max(others, default=0.0) < 1e-15


def test_fluids_reflect_like_acoustic_media():
    for angle in (0.0, 0.35, 1.2):  # the critical angle is 0.878
        solution = at_interface(SEA, BRINE, "p", angle)
        one, two = Acoustic(rho=1.0, c=1.0), Acoustic(rho=1.2, c=1.3)
        acoustic = exact.interface_plane_wave(
            one, two, k=3.0 * direction(angle), phase=0.2, amplitude=1.5, **PLANE
        )
        points, t = on_the_interface()
        points = points + np.outer(np.linspace(-0.5, 0.5, len(points)), NORMAL)
        found, expected = solution(*points.T, t), acoustic(*points.T, t)
        assert np.allclose(-found["sxx"], expected["p"], rtol=0, atol=1e-13)
        assert np.allclose(found["vy"], expected["vy"], rtol=0, atol=1e-13)
        assert np.all(found["sxy"] == 0.0)
