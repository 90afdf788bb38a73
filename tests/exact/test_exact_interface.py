"""At a material jump pressure and normal velocity are continuous, and energy is shared out.

Not here: other solutions (test_exact_solutions.py).
Next: python/unda/exact/interface.py.
"""

import json

import numpy as np
import pytest
from exact_helpers import KH, TOLERANCE, TWIN, residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.timefunction import ricker

ONE, TWO = Acoustic(rho=1.0, c=1.0), Acoustic(rho=2.5, c=1.6)
NORMAL, POSITION = np.array([2.0, -1.0, 2.0]) / 3.0, 0.4
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
CRITICAL = np.arcsin(1.0 / 1.6)
ANGLES = {"normal": 0.0, "oblique": 0.8 * CRITICAL, "total": 1.3 * CRITICAL}


def direction(angle):
    return np.cos(angle) * NORMAL + np.sin(angle) * ACROSS


def wave(angle, medium2=TWO, pulse=False):
    carried = (
        {"direction": direction(angle), "f": ricker(1.0)}
        if pulse
        else {"k": 3.0 * direction(angle), "phase": 0.2}
    )
    return exact.interface_plane_wave(ONE, medium2, normal=NORMAL, position=POSITION, **carried)


CASES = {
    **{name: wave(angle) for name, angle in ANGLES.items()},
    "pulse": wave(ANGLES["oblique"], pulse=True),
}
EVERY = pytest.mark.parametrize("name", CASES)


def on_the_interface(num_point=30):
    rng = np.random.default_rng(11)
    points = rng.uniform(-2.0, 2.0, size=(num_point, 3))
    points += np.outer(POSITION - points @ NORMAL, NORMAL)
    return points, rng.uniform(0.0, 3.0, num_point)


def jumps(before, beyond):
    """Jump of p and of the normal velocity from one solution to another across the interface."""
    points, t = on_the_interface()
    below = before(*(points - 1e-13 * NORMAL).T, t)
    above = beyond(*(points + 1e-13 * NORMAL).T, t)
    v_n = [sum(n * side["v" + a] for n, a in zip(NORMAL, "xyz", strict=True))
           for side in (below, above)]  # fmt: skip
    return np.abs(below["p"] - above["p"]).max(), np.abs(v_n[0] - v_n[1]).max()


@EVERY
def test_pressure_and_normal_velocity_are_continuous(name):
    assert max(jumps(CASES[name], CASES[name])) < 1e-11  # 2e-13 m times wavenumber, amplitude 2


@EVERY
def test_continuity_sees_another_medium_behind(name):
    angle = ANGLES.get(name, ANGLES["oblique"])
    other = wave(angle, Acoustic(rho=2.525, c=1.6), pulse=name == "pulse")
    assert max(jumps(CASES[name], other)) > TWIN


@EVERY
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_interface_wave_solves_the_equations_of_each_side(name, side):
    points, t = on_the_interface()
    h = KH / (3.0 if name != "pulse" else 2.0 * np.pi * 2.5)
    points = points + side * 6.0 * h * np.outer(np.linspace(1.0, 9.0, len(points)), NORMAL)
    medium = ONE if side < 0 else TWO
    assert residual(CASES[name], points, t, h, medium) < TOLERANCE
    values = medium.scalar()
    off = Acoustic(rho=values["rho"], c=1.01 * values["c"])
    assert residual(CASES[name], points, t, h, off) > TWIN


@EVERY
def test_energy_is_shared_between_reflected_and_transmitted_wave(name):
    angle, solution = ANGLES.get(name, ANGLES["oblique"]), CASES[name]
    cosine2 = np.sqrt(max(0.0, 1.0 - (1.6 * np.sin(angle)) ** 2))
    admittance_ratio = (cosine2 / (2.5 * 1.6)) / np.cos(angle)
    transmitted = admittance_ratio * abs(solution.transmission) ** 2
    assert abs(solution.reflection) ** 2 + transmitted == pytest.approx(1.0, abs=1e-13)
    assert (transmitted == 0.0) == (name == "total")


def test_normal_incidence_has_the_coefficients_of_the_impedances():
    z1, z2 = 1.0, 2.5 * 1.6
    assert CASES["normal"].reflection == pytest.approx((z2 - z1) / (z2 + z1), rel=1e-14)
    assert CASES["normal"].transmission == pytest.approx(2.0 * z2 / (z2 + z1), rel=1e-14)


def test_total_reflection_decays_behind_the_interface():
    points, t = on_the_interface()
    kappa = 3.0 * np.sqrt(np.sin(ANGLES["total"]) ** 2 - 1.6**-2)
    near, far = (np.abs(CASES["total"](*(points + d * NORMAL).T, t)["p"]) for d in (0.5, 1.5))
    assert np.allclose(far, np.exp(-kappa) * near, rtol=1e-10, atol=1e-14)


def test_equal_media_leave_the_plane_wave_alone():
    points, t = on_the_interface()
    points = points + np.linspace(-1.0, 1.0, len(points))[:, None] * NORMAL
    for pulse in (False, True):
        both = wave(0.3, ONE, pulse=pulse)
        carried = (
            {"direction": direction(0.3), "f": ricker(1.0)}
            if pulse else {"k": 3.0 * direction(0.3), "phase": 0.2}
        )  # fmt: skip
        alone = exact.plane_wave(ONE, **carried)
        for field in alone.fields:
            found, expected = both(*points.T, t)[field], alone(*points.T, t)[field]
            assert np.allclose(found, expected, rtol=0, atol=1e-13)
        assert abs(wave(0.3, Acoustic(rho=1.01, c=1.0), pulse=pulse).reflection) > TWIN


def test_tangential_velocity_jumps_at_oblique_incidence_only():
    assert [name for name, one in CASES.items() if one.discontinuous] == [
        "oblique",
        "total",
        "pulse",
    ]


def test_configuration_keeps_both_media():
    points, t = on_the_interface()
    for solution in CASES.values():
        copy = exact.from_config(json.loads(json.dumps(solution.to_config())))
        assert copy.media[1].scalar() == TWO.scalar()
        assert np.array_equal(copy(*points.T, t)["p"], solution(*points.T, t)["p"])


def test_waves_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="not towards medium 2"):
        wave(2.0)
    with pytest.raises(ArgumentError, match=r"critical angle \(sin = 0\.625\)"):
        wave(ANGLES["total"], pulse=True)
    with pytest.raises(ArgumentError, match="medium2"):
        exact.interface_plane_wave(ONE, None, k=(1, 0, 0))
