"""At a jump of eps, mu or sigma tangential E and H are continuous, and energy is shared out.

Not here: other solutions of Maxwell's equations (test_exact_maxwell.py).
Next: python/unda/exact/interface_maxwell.py.
"""

import json

import numpy as np
import pytest
from exact_helpers import KH, TOLERANCE, TWIN, maxwell_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Maxwell
from unda.problem.timefunction import ricker

ONE, TWO = Maxwell(eps=2.0, mu=1.5), Maxwell(eps=0.9, mu=1.2)  # c = 0.577 and 0.962
METAL = Maxwell(eps=0.9, mu=1.2, sigma=3.0)
Z1, Z2 = np.sqrt(1.5 / 2.0), np.sqrt(1.2 / 0.9)
N1, N2 = np.sqrt(1.5 * 2.0), np.sqrt(1.2 * 0.9)
NORMAL, POSITION = np.array([2.0, -1.0, 2.0]) / 3.0, 0.4
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
TE = np.cross(NORMAL, ACROSS)
CRITICAL = np.arcsin(N2 / N1)
ANGLES = {"normal": 0.0, "nearly normal": 1e-9, "oblique": 0.8 * CRITICAL, "total": 1.3 * CRITICAL}


def direction(angle):
    return np.cos(angle) * NORMAL + np.sin(angle) * ACROSS


def wave(angle, medium2=TWO, pulse=False, turn=0.7):
    """The polarization is turned by an angle from TE (0) to TM (pi/2)."""
    carried = (
        {"direction": direction(angle), "f": ricker(1.0)}
        if pulse
        else {"k": 3.0 * direction(angle), "phase": 0.2}
    )
    e = np.cos(turn) * TE + np.sin(turn) * np.cross(direction(angle), TE)
    return exact.interface_plane_wave(
        ONE, medium2, normal=NORMAL, position=POSITION, polarization=e, **carried
    )


CASES = {
    **{name: wave(angle) for name, angle in ANGLES.items()},
    "te": wave(ANGLES["oblique"], turn=0.0),
    "tm": wave(ANGLES["oblique"], turn=np.pi / 2.0),
    "pulse": wave(ANGLES["oblique"], pulse=True),
    "metal": wave(ANGLES["oblique"], METAL),
}
EVERY = pytest.mark.parametrize("name", CASES)


def angle_of(name):
    return ANGLES.get(name, ANGLES["oblique"])


def on_the_interface(num_point=30):
    rng = np.random.default_rng(11)
    points = rng.uniform(-2.0, 2.0, size=(num_point, 3))
    points += np.outer(POSITION - points @ NORMAL, NORMAL)
    return points, rng.uniform(0.0, 3.0, num_point)


def sides(before, beyond):
    """E and H (3, n) of one solution just before the interface, of another just behind it."""
    points, t = on_the_interface()
    found = []
    for solution, offset in ((before, -1e-13), (beyond, 1e-13)):
        values = np.stack(list(solution(*(points + offset * NORMAL).T, t).values()))
        found += [values[:3], values[3:]]
    return found


def jumps(before, beyond):
    """Largest jump of n x E and n x H."""
    e1, h1, e2, h2 = sides(before, beyond)
    return [np.abs(np.cross(NORMAL, jump, axisb=0)).max() for jump in (e2 - e1, h2 - h1)]


@EVERY
def test_tangential_fields_are_continuous(name):
    assert max(jumps(CASES[name], CASES[name])) < 1e-11  # 2e-13 m times wavenumber, amplitude 2


@EVERY
@pytest.mark.parametrize("off", ["eps", "mu"])
def test_continuity_sees_another_medium_behind(name, off):
    solution, values = CASES[name], CASES[name].media[1].scalar()
    turn = {"te": 0.0, "tm": np.pi / 2.0}.get(name, 0.7)
    other = Maxwell(**{**values, off: 1.01 * values[off]})
    assert max(jumps(solution, wave(angle_of(name), other, name == "pulse", turn))) > TWIN


@EVERY
def test_normal_flux_densities_are_continuous_without_surface_charge(name):
    e1, h1, e2, h2 = sides(CASES[name], CASES[name])
    one, two = (medium.scalar() for medium in CASES[name].media)
    assert np.abs(NORMAL @ (two["mu"] * h2 - one["mu"] * h1)).max() < 1e-11
    if name != "metal":  # currents charge its surface
        assert np.abs(NORMAL @ (two["eps"] * e2 - one["eps"] * e1)).max() < 1e-11


@EVERY
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_interface_wave_solves_the_equations_of_each_side(name, side):
    points, t = on_the_interface()
    h = KH / (4.0 if name != "pulse" else 30.0)
    points = points + side * 6.0 * h * np.outer(np.linspace(1.0, 3.0, len(points)), NORMAL)
    medium = CASES[name].media[0 if side < 0 else 1]
    assert maxwell_residual(CASES[name], points, t, h, medium) < TOLERANCE
    for off in ("eps", "mu"):
        values = medium.scalar()
        other = Maxwell(**{**values, off: 1.01 * values[off]})
        assert maxwell_residual(CASES[name], points, t, h, other) > TWIN


@pytest.mark.parametrize("angle", [0.0, 0.2, 0.5, 0.62, 0.8, 1.2, 1.5])
def test_coefficients_are_fresnels_and_share_the_energy(angle):
    solution = wave(angle)
    cos1, cos2 = np.cos(angle), np.sqrt(complex(1.0 - (N1 / N2 * np.sin(angle)) ** 2))
    te = (Z2 * cos1 - Z1 * cos2) / (Z2 * cos1 + Z1 * cos2)
    tm = (Z1 * cos1 - Z2 * cos2) / (Z1 * cos1 + Z2 * cos2)
    assert solution.reflection_te == pytest.approx(te, abs=1e-13)
    assert solution.reflection_tm == pytest.approx(tm, abs=1e-13)
    # normal Poynting vectors: E^2 cos/Z of TE, H^2 Z cos of TM
    through_te = cos2.real / Z2 / (cos1 / Z1) * abs(solution.transmission_te) ** 2
    through_tm = cos2.real * Z2 / (cos1 * Z1) * abs(solution.transmission_tm) ** 2
    assert abs(solution.reflection_te) ** 2 + through_te == pytest.approx(1.0, abs=1e-13)
    assert abs(solution.reflection_tm) ** 2 + through_tm == pytest.approx(1.0, abs=1e-13)
    assert (through_te == 0.0) == (through_tm == 0.0) == (angle > CRITICAL)


def test_tm_waves_are_not_reflected_at_brewsters_angle():
    glass = Maxwell(eps=2.25, mu=1.0)
    for e, expected in (((0.0, 0.0, 1.0), -5.0 / 13.0), (None, 0.0)):
        d = np.array([np.cos(np.arctan(1.5)), np.sin(np.arctan(1.5)), 0.0])
        e = np.cross(d, (0.0, 0.0, 1.0)) if e is None else e
        solution = exact.interface_plane_wave(
            Maxwell(eps=1.0, mu=1.0), glass, direction=d, f=ricker(1.0), polarization=e
        )
        x, t = -10.0, 10.0 * d[0] + 1.5  # at the peak of what comes back, when nothing else is there
        back = solution(x, 0.0, 0.0, t)
        assert np.hypot(np.hypot(back["ex"], back["ey"]), back["ez"]) == pytest.approx(
            abs(expected), abs=1e-12
        )
    assert abs(solution.reflection_tm) < 1e-15
    assert solution.reflection_te == pytest.approx(-5.0 / 13.0, rel=1e-14)
    off = exact.interface_plane_wave(
        Maxwell(eps=1.0, mu=1.0), Maxwell(eps=2.2725, mu=1.0), direction=d, f=ricker(1.0), polarization=e
    )
    assert abs(off.reflection_tm) > TWIN


def test_total_reflection_decays_behind_the_interface():
    points, t = on_the_interface()
    kappa = 3.0 * np.sqrt(np.sin(ANGLES["total"]) ** 2 - (N2 / N1) ** 2)
    near, far = (CASES["total"](*(points + d * NORMAL).T, t) for d in (0.5, 1.5))
    for field in near:
        assert np.allclose(far[field], np.exp(-kappa) * near[field], rtol=1e-10, atol=1e-14)


def test_good_conductor_lets_fields_in_for_a_skin_depth():
    k = 0.7
    metal = Maxwell(eps=1.0, mu=1.0, sigma=1e6)
    solution = exact.interface_plane_wave(Maxwell(eps=1.0, mu=1.0), metal, (k, 0, 0), polarization=(0, 1, 0))
    depth = np.sqrt(2.0 / (k * 1e6))  # omega = k; Jackson (1999), 5.165
    t = np.linspace(0.0, 2.0 * np.pi / k, 1001)[:-1]
    rms = [np.sqrt(np.mean(solution(x, 0.0, 0.0, t)["hz"] ** 2)) for x in (0.5 * depth, 1.5 * depth)]
    assert rms[1] / rms[0] == pytest.approx(np.exp(-1.0), rel=1e-5)
    assert abs(1.0 + solution.reflection_te) == pytest.approx(2.0 * np.sqrt(k / 1e6), rel=2e-3)


def test_equal_media_leave_the_plane_wave_alone():
    points, t = on_the_interface()
    points = points + np.linspace(-1.0, 1.0, len(points))[:, None] * NORMAL
    for pulse in (False, True):
        both = wave(0.3, ONE, pulse=pulse)
        carried = (
            {"direction": direction(0.3), "f": ricker(1.0)}
            if pulse else {"k": 3.0 * direction(0.3), "phase": 0.2}
        )  # fmt: skip
        e = np.cos(0.7) * TE + np.sin(0.7) * np.cross(direction(0.3), TE)
        alone = exact.plane_wave(ONE, polarization=e, **carried)
        for field in alone.fields:
            found, expected = both(*points.T, t)[field], alone(*points.T, t)[field]
            assert np.allclose(found, expected, rtol=0, atol=2e-13)
        assert abs(wave(0.3, Maxwell(eps=2.02, mu=1.5), pulse=pulse).reflection_te) > TWIN


def test_normal_components_jump_at_oblique_incidence_only():
    assert [name for name, one in CASES.items() if not one.discontinuous] == ["normal"]


def test_configuration_keeps_both_media():
    points, t = on_the_interface()
    for solution in CASES.values():
        copy = exact.from_config(json.loads(json.dumps(solution.to_config())))
        assert copy.media[1].scalar() == solution.media[1].scalar()
        assert np.array_equal(copy(*points.T, t)["ez"], solution(*points.T, t)["ez"])


def test_waves_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="not towards medium 2"):
        wave(2.0)
    with pytest.raises(ArgumentError, match=r"critical angle \(sin = 0\.6\)"):
        wave(ANGLES["total"], pulse=True)
    with pytest.raises(ArgumentError, match=r"sigma of medium 2 is 3\.0 S/m"):
        wave(0.3, METAL, pulse=True)
    with pytest.raises(ArgumentError, match=r"sigma of medium 1 is 3\.0 S/m"):
        exact.interface_plane_wave(METAL, ONE, (1, 0, 0), polarization=(0, 1, 0))
    with pytest.raises(ArgumentError, match="expected 90"):
        exact.interface_plane_wave(ONE, TWO, (1, 0, 0), polarization=(1, 1, 0))
