"""Every elastic solution solves its equations, modes fit their boxes, calls keep their manners.

Not here: point sources (test_exact_elastic_point.py), interfaces (test_exact_elastic_interface.py),
surface waves (test_exact_surface_waves.py).
Next: exact_helpers.py, which says where the tolerance comes from.
"""

import json
import pickle

import numpy as np
import pytest
from elastic_waves import (
    ACROSS,
    BRINE,
    HARD,
    HEAVY,
    PLANE,
    ROCK,
    SEA,
    UNIT,
    F,
    at_interface,
    motion_and_traction,
    off_by_one_per_cent,
)
from exact_helpers import KH, TOLERANCE, TWIN, elastic_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.source import MomentTensor, PointForce, VolumeInjection
from unda.problem.timefunction import gaussian

LOWER, UPPER = (-1.0, -2.0, -1.5), (1.0, 1.0, 1.5)
MOMENT = [[1.0, 0.3, -0.5], [0.3, -2.0, 0.7], [-0.5, 0.7, 1.6]]
ORIGIN = (0.3, -0.2, 0.1)
SLANT = {"direction": (1.0, 2.0, -2.0), "f": F}
# name: (solution, largest wavenumber, constants of the medium that it takes part of)
WHOLE = {
    "P": (exact.plane_wave(ROCK, k=(2.0, -3.0, 1.0), phase=0.3, amplitude=2.0), 4.0, ("rho", "vp", "vs")),
    "S": (
        exact.plane_wave(ROCK, k=(2.0, -3.0, 1.0), kind="s", polarization=(1, 1, 4)),
        4.0, ("rho", "vs"),
    ),
    "P pulse": (exact.plane_wave(ROCK, **SLANT), 4.3, ("rho", "vp", "vs")),
    "S pulse": (exact.plane_wave(ROCK, **SLANT, kind="s", polarization=(0, 1, 0)), 4.3, ("rho", "vs")),
    "fluid": (exact.plane_wave(SEA, k=(2.0, -3.0, 1.0)), 4.0, ("rho", "vp")),
    "lame": (exact.lame_mode(ROCK, LOWER, (1.0, 0.0, 2.0), n=2), 5.0, ("rho", "vs")),
    "lame x": (exact.lame_mode(ROCK, LOWER, (2.0, 1.0, 1.5), axis="x"), 2.0, ("rho", "vs")),
    "lubricated P": (exact.lubricated_box_mode(ROCK, LOWER, UPPER, n=(1, 2, 1)), 3.0, ("rho", "vp", "vs")),
    "lubricated S": (
        exact.lubricated_box_mode(ROCK, LOWER, UPPER, n=(1, 2, 0), kind="s", polarization=(1, 0.2, 3)),
        3.0, ("rho", "vs"),
    ),
    "force": (exact.point_source(ROCK, PointForce(ORIGIN, F, (1.0, -2.0, 0.5))), 4.3, ("rho", "vp", "vs")),
    "moment": (exact.point_source(ROCK, MomentTensor(ORIGIN, F, MOMENT)), 4.3, ("rho", "vp", "vs")),
    "moment that stays": (
        exact.point_source(ROCK, MomentTensor(ORIGIN, gaussian(0.3).integral, MOMENT)),
        4.3, ("rho", "vp", "vs"),
    ),
    "volume": (exact.point_source(ROCK, VolumeInjection(ORIGIN, F)), 4.3, ("rho", "vp", "vs")),
    "force in a fluid": (exact.point_source(SEA, PointForce(ORIGIN, F, (1, 2, 0))), 4.7, ("rho", "vp")),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", WHOLE)
ALL = {
    **{name: one[0] for name, one in WHOLE.items()},
    "rayleigh": exact.rayleigh_wave(ROCK, 3.0 * ACROSS, **PLANE, amplitude=2.0, phase=0.3),
    "stoneley": exact.stoneley_wave(HEAVY, UNIT, 3.0 * ACROSS, **PLANE, phase=0.3),
    "scholte": exact.scholte_wave(ROCK, SEA, 3.0 * ACROSS, **PLANE),
    "plate": exact.plate_mode(ROCK, 2.0 * ACROSS, 1.5, symmetric=False, n=1, **PLANE, phase=0.2),
    "beyond the critical angle": at_interface(ROCK, HARD, "p", 0.8),
    "free surface": at_interface(ROCK, "free", "sv", 0.35),
    "pulse at interface": at_interface(HARD, ROCK, "sv", 0.35, pulse=True),
}


def points_and_times(num_point=40):
    """Random places in a shell 1.5 to 4 m around ORIGIN; times when waves pass."""
    rng = np.random.default_rng(7)
    around = rng.normal(size=(num_point, 3))
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    radius = rng.uniform(1.5, 4.0, size=(num_point, 1))
    return np.array(ORIGIN) + radius * around, rng.uniform(4.0, 9.0, num_point)


@EVERY
def test_solution_solves_its_equations(name):
    solution, wavenumber, _ = WHOLE[name]
    assert elastic_residual(solution, *points_and_times(), KH / wavenumber) < TOLERANCE


@EVERY
def test_residual_sees_a_medium_one_per_cent_off(name):
    solution, wavenumber, constants = WHOLE[name]
    for constant in constants:
        other = off_by_one_per_cent(solution.medium, constant)
        assert elastic_residual(solution, *points_and_times(), KH / wavenumber, other) > TWIN, constant


def test_lame_mode_has_no_traction_on_any_wall():
    mode = exact.lame_mode(ROCK, (0.2, -1.0, 0.3), (1.7, 0.5, 2.0), n=2)
    rng = np.random.default_rng(3)
    points = np.array([0.2, -1.0, 0.3]) + np.array([1.5, 1.5, 1.7]) * rng.random((30, 3))
    for axis, (low, high) in enumerate(zip((0.2, -1.0, 0.3), (1.7, 0.5, 2.0), strict=True)):
        for wall in (low, high):
            points_on = points.copy()
            points_on[:, axis] = wall
            basis = np.roll(np.eye(3), -axis, axis=0)
            _, traction = motion_and_traction(mode(*points_on.T, 0.4), basis)
            assert max(np.abs(one).max() for one in traction) < 1e-14 * 50
    inside = mode(*points.T, 0.4)
    assert np.abs(inside["sxx"]).max() > 0.1
    shifted_mode = exact.lame_mode(ROCK, (0.215, -1.0, 0.3), (1.715, 0.5, 2.0), n=2)
    points[:, 0] = 0.2
    assert np.abs(shifted_mode(*points.T, 0.4)["sxx"]).max() > TWIN


@pytest.mark.parametrize("kind", ["p", "s"])
def test_lubricated_walls_stop_normal_motion_and_bear_no_shear(kind):
    more = {"polarization": (1.0, -2.0, 3.0)} if kind == "s" else {}
    mode = exact.lubricated_box_mode(ROCK, LOWER, UPPER, n=(1, 2, 1), kind=kind, **more)
    rng = np.random.default_rng(3)
    points = np.array(LOWER) + (np.array(UPPER) - LOWER) * rng.random((30, 3))
    assert max(np.abs(values).max() for values in mode(*points.T, 0.4).values()) > 0.1
    for axis in range(3):
        for wall in (LOWER[axis], UPPER[axis]):
            on = points.copy()
            on[:, axis] = wall
            motion, traction = motion_and_traction(mode(*on.T, 0.4), np.roll(np.eye(3), -axis, axis=0))
            assert max(np.abs(one).max() for one in (motion[0], *traction[1:])) < 1e-14 * 50
            on[:, axis] += 0.05
            motion, _ = motion_and_traction(mode(*on.T, 0.4), np.roll(np.eye(3), -axis, axis=0))
            assert np.abs(motion[0]).max() > TWIN


@pytest.mark.parametrize("name", ALL)
def test_calls_configuration_and_pickle_keep_their_manners(name):
    solution = ALL[name]
    points, t = points_and_times(5)
    expected = solution(*points.T, t)
    assert tuple(expected) == solution.fields == ROCK.fields
    config = json.loads(json.dumps(solution.to_config()))
    for other in (exact.from_config(config), pickle.loads(pickle.dumps(solution))):
        assert repr(other) == repr(solution)
        for field in solution.fields:
            assert np.array_equal(other(*points.T, t)[field], expected[field])
    x, times = np.linspace(2.0, 3.0, 5), np.linspace(4.0, 6.0, 3)[:, None]
    values = solution(x, 1, -0.5, times)
    for field, array in values.items():
        assert array.shape == (3, 5) and array.dtype == np.float64 and array.flags.writeable
        assert np.isfinite(array).all()
        one = solution(x[4], 1, -0.5, times[2, 0])[field]
        assert one.shape == () and one == pytest.approx(array[2, 4], rel=1e-10, abs=1e-14)
    assert solution(np.zeros((0,)), 0.0, 0.0, 0.1)["vx"].shape == (0,)
    with pytest.raises(ArgumentError, match=r"\(2,\), \(3,\)"):
        solution(np.zeros(2), np.zeros(3), 0.0, 0.0)


BOX = (LOWER, (1.0, 0.0, 2.0))


@pytest.mark.parametrize("make, found", [
    (lambda: exact.plane_wave(SEA, k=(1, 0, 0), kind="s", polarization=(0, 1, 0)), "is a fluid"),
    (lambda: exact.plane_wave(ROCK, k=(1, 0, 0), kind="s"), "'s' with a polarization"),
    (lambda: exact.plane_wave(ROCK, k=(1, 0, 0), kind="s", polarization=(2, 0, 0)), "a part across it"),
    (lambda: exact.plane_wave(Acoustic(rho=1, c=1), k=(1, 0, 0), kind="p"), "takes none for acoustic"),
    (lambda: exact.lame_mode(SEA, *BOX), "without S waves"),
    (lambda: exact.lame_mode(ROCK, LOWER, UPPER), r"2\.0 and 3\.0 m; expected equal"),
    (lambda: exact.lame_mode(ROCK, *BOX, n=0), "n is 0; expected an integer of at least 1"),
    (lambda: exact.lubricated_box_mode(ROCK, *BOX, n=(0, 0, 0)), "above 0"),
    (lambda: exact.lubricated_box_mode(ROCK, *BOX, n=(1, 0, 0), kind="s", polarization=(0, 1, 0)), "nothing"),
    (lambda: exact.rayleigh_wave(SEA, (1, 0, 0)), "no Rayleigh wave"),
    (lambda: exact.rayleigh_wave(ROCK, (1, 0, 1)), "along the surface"),
    (lambda: exact.plate_mode(SEA, (1, 0, 0), 1.0), "carries no shear"),
    (lambda: exact.plate_mode(ROCK, (1, 0, 1), 1.0), "along the plate"),
    (lambda: exact.plate_mode(ROCK, (1, 0, 0), -1.0), "thickness is -1.0"),
    (lambda: exact.stoneley_wave(SEA, BRINE, (1, 0, 0)), "both media are fluids"),
    (lambda: exact.stoneley_wave(ROCK, HARD, (1, 0, 0)), "no wave along this interface"),
    (lambda: exact.scholte_wave(HEAVY, UNIT, (1, 0, 0)), "0 of the media are fluids"),
    (lambda: at_interface(SEA, ROCK, "sv", 0.1), "kind is 'sv'"),
    (lambda: at_interface(ROCK, HARD, "p", 2.0), "not towards medium 2"),
    (lambda: at_interface(ROCK, HARD, "p", 1.2, pulse=True), "beyond a critical angle"),
    (lambda: at_interface(ROCK, Acoustic(rho=1, c=1), "p", 0.0), "medium2 is .* expected an elastic"),
    (lambda: at_interface(ROCK, "open", "p", 0.0), "medium2 is 'open'"),
])  # fmt: skip
def test_waves_that_do_not_exist_are_refused(make, found):
    with pytest.raises(ArgumentError, match=found):
        make()
