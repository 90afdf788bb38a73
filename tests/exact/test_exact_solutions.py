"""Every exact solution solves its own equations, and keeps the manners of a call.

Not here: what is special to one of them (the other test_exact_*.py).
Next: exact_helpers.py, which says where the tolerance comes from.
"""

import json
import pickle

import numpy as np
import pytest
from exact_helpers import KH, TOLERANCE, TWIN, residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.source import VolumeInjection
from unda.problem.timefunction import gaussian, ricker

RHO, C = 1200.0, 1500.0
WATER = Acoustic(rho=RHO, c=C)
MUD = Acoustic(rho=1900.0, c=1700.0)
F0 = 10.0
SOURCE = VolumeInjection((10.0, -20.0, 30.0), ricker(F0))
BOX = ((-400.0, -300.0, -200.0), (300.0, 400.0, 250.0))
CLOSED = {"xmin": "free", "ymin": "free", "*": "rigid"}

# name: (solution, largest wavenumber that matters [rad/m])
SOLUTIONS = {
    "plane wave": (exact.plane_wave(WATER, k=(0.02, -0.03, 0.01), phase=0.3), 0.04),
    "plane pulse": (exact.plane_wave(WATER, direction=(1, 2, -2), f=ricker(F0)), 0.105),
    "rigid box": (exact.rigid_box_mode(WATER, *BOX, amplitude=3.0), 0.03),
    "free box": (exact.free_box_mode(WATER, *BOX, (2, 1, 3)), 0.05),
    "mixed box": (exact.box_mode(WATER, *BOX, n=(1, 2, 1), walls=CLOSED), 0.03),
    "point": (exact.point_source(WATER, SOURCE), 0.105),
    "half space": (exact.point_source(WATER, SOURCE, walls={"zmax": ("free", 250.0)}), 0.105),
    "corner": (
        exact.point_source(WATER, SOURCE, walls={"xmax": "rigid", "ymin": "free"}, bounds=BOX),
        0.105,
    ),
    "closed box": (exact.point_source(WATER, SOURCE, walls=CLOSED, bounds=BOX), 0.105),
    "pulse": (exact.spherical_pulse(WATER, (10.0, -20.0, 30.0), 40.0), 0.1),
    "equal media": (exact.interface_plane_wave(WATER, WATER, k=(0.02, -0.03, 0.01)), 0.04),
}
EVERY = pytest.mark.parametrize("name", SOLUTIONS)


def points_and_times(num_point=40):
    """Random places in a shell 60 to 190 m around the source, inside BOX; times when waves pass."""
    rng = np.random.default_rng(7)
    direction = rng.normal(size=(num_point, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radius = rng.uniform(60.0, 190.0, size=(num_point, 1))
    return np.array(SOURCE.position) + radius * direction, rng.uniform(0.12, 0.4, num_point)


@EVERY
def test_exact_solution_solves_its_equations(name):
    solution, wavenumber = SOLUTIONS[name]
    assert residual(solution, *points_and_times(), KH / wavenumber) < TOLERANCE


@EVERY
@pytest.mark.parametrize("off", [{"rho": RHO, "c": 1.01 * C}, {"rho": 1.01 * RHO, "c": C}])
def test_residual_sees_a_medium_one_per_cent_off(name, off):
    solution, wavenumber = SOLUTIONS[name]
    assert residual(solution, *points_and_times(), KH / wavenumber, Acoustic(**off)) > TWIN


@EVERY
def test_arguments_broadcast_to_float64_arrays(name):
    solution, _ = SOLUTIONS[name]
    x, t = np.linspace(60.0, 90.0, 5), np.linspace(0.1, 0.3, 3)[:, None]
    values = solution(x, 40, -50.0, t)
    assert tuple(values) == solution.fields == ("p", "vx", "vy", "vz")
    for field, array in values.items():
        assert array.shape == (3, 5) and array.dtype == np.float64 and array.flags.writeable
        one = solution(x[4], 40, -50.0, t[2, 0])[field]
        assert one.shape == ()
        assert one == pytest.approx(array[2, 4], rel=1e-12)
    assert solution(np.zeros((0,)), 0.0, 0.0, 0.1)["p"].shape == (0,)


@EVERY
def test_shapes_that_do_not_broadcast_are_named(name):
    with pytest.raises(ArgumentError, match=r"\(2,\), \(3,\)"):
        SOLUTIONS[name][0](np.zeros(2), np.zeros(3), 0.0, 0.0)


@EVERY
def test_configuration_and_pickle_give_the_same_solution(name):
    solution, _ = SOLUTIONS[name]
    points, t = points_and_times(5)
    expected = solution(*points.T, t)
    config = json.loads(json.dumps(solution.to_config()))
    for other in (exact.from_config(config), pickle.loads(pickle.dumps(solution))):
        assert repr(other) == repr(solution)
        for field in solution.fields:
            assert np.array_equal(other(*points.T, t)[field], expected[field])


def test_another_configuration_gives_another_solution():
    config = SOLUTIONS["pulse"][0].to_config()
    config["medium"]["c"] *= 1.01
    points, t = points_and_times(5)
    p = SOLUTIONS["pulse"][0](*points.T, t)["p"]
    assert not np.allclose(exact.from_config(config)(*points.T, t)["p"], p, rtol=1e-3)


def test_unknown_configuration_lists_the_known_ones():
    with pytest.raises(ArgumentError, match=r"'square_wave'.*plane_wave.*spherical_pulse"):
        exact.from_config({"type": "square_wave", "medium": WATER.to_config()})


def test_plain_callables_cannot_be_saved():
    wave = exact.plane_wave(WATER, direction=(1, 0, 0), f=np.sin)
    with pytest.raises(ArgumentError, match=r"unda\.sampled"):
        wave.to_config()


def test_only_point_sources_are_singular():
    singular = {name for name, (solution, _) in SOLUTIONS.items() if solution.singular}
    assert singular == {"point", "half space", "corner", "closed box"}


@pytest.mark.parametrize("make", [
    lambda medium: exact.plane_wave(medium, k=(1, 0, 0)),
    lambda medium: exact.rigid_box_mode(medium, *BOX),
    lambda medium: exact.point_source(medium, SOURCE),
    lambda medium: exact.spherical_pulse(medium, (0, 0, 0), 1.0),
    lambda medium: exact.interface_plane_wave(medium, WATER, k=(1, 0, 0)),
    lambda medium: exact.interface_plane_wave(WATER, medium, k=(1, 0, 0)),
])  # fmt: skip
def test_media_that_vary_or_are_none_are_refused(make):
    make(Acoustic(rho={"a": RHO, "b": RHO}, c=[C, C]))
    with pytest.raises(ArgumentError, match="homogeneous"):
        make(Acoustic(rho=RHO, c={"a": 1500.0, "b": 1600.0}))
    with pytest.raises(ArgumentError, match="homogeneous"):
        make(Acoustic(rho=lambda x, y, z: x, c=C))
    with pytest.raises(ArgumentError, match=r"expected an? "):
        make({"rho": RHO, "c": C})


def test_plane_wave_needs_one_form_of_its_profile():
    for wrong in ({}, {"k": (1, 0, 0), "f": gaussian(F0)}, {"direction": (1, 0, 0)}):
        with pytest.raises(ArgumentError, match="either k, or direction and f"):
            exact.plane_wave(WATER, **wrong)
    with pytest.raises(ArgumentError, match="length > 0"):
        exact.plane_wave(WATER, k=(0, 0, 0))
    with pytest.raises(ArgumentError, match="phase"):
        exact.plane_wave(WATER, direction=(1, 0, 0), f=gaussian(F0), phase=1.0)


def test_plane_pulse_is_f_at_the_origin_and_delayed_elsewhere():
    f, d = gaussian(F0), np.array([2.0, -1.0, 2.0]) / 3.0
    wave = exact.plane_wave(WATER, direction=d, f=f, amplitude=2.0)
    t = np.linspace(0.0, 0.4, 50)
    assert np.array_equal(wave(0.0, 0.0, 0.0, t)["p"], 2.0 * f(t))
    # delays carry rounding of eps t, times the slope of f (at most 2 pi f0 per second)
    assert np.allclose(wave(*(150.0 * d), t + 150.0 / C)["p"], 2.0 * f(t), rtol=0, atol=1e-13)
