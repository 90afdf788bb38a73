"""Every exact solution of Maxwell's equations solves them, and keeps the manners of a call.

Not here: what is special to one of them (test_exact_fresnel.py, _cavity, _dipole, _mie).
Next: exact_helpers.py, which says where the tolerance comes from.
"""

import json
import pickle

import numpy as np
import pytest
import unda
from exact_helpers import KH, TOLERANCE, TWIN, maxwell_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic, Maxwell
from unda.problem.timefunction import gaussian, ricker

GLASS = Maxwell(eps=2.25, mu=1.3)  # c = 0.585
LOSSY = Maxwell(eps=2.25, mu=1.3, sigma=1.5)
VERY_LOSSY = Maxwell(eps=2.25, mu=1.3, sigma=12.0)
IN_SI = Maxwell(eps_r=4.0, mu_r=1.5)
BOX = ((-1.1, -1.3, -1.2), (1.3, 1.2, 1.4))
MIXED = {"xmin": "pmc", "zmax": "pmc", "*": "pec"}
C = 1.0 / np.sqrt(2.25 * 1.3)
K, E = (2.0, -3.0, 1.0), (1.0, 1.0, 1.0)
SOURCE = unda.CurrentDipole((0.1, -0.2, 0.3), ricker(1.0), (1.0, -2.0, 2.0))

# name: (solution, largest wavenumber or rate over speed that matters [rad/m], seconds in a unit of time)
SOLUTIONS = {
    "plane wave": (exact.plane_wave(GLASS, K, polarization=E, phase=0.3, amplitude=2.0), 4.0, 1.0),
    "in si": (exact.plane_wave(IN_SI, K, polarization=E), 4.0, 1e-8),
    "decaying wave": (exact.plane_wave(LOSSY, K, polarization=E), 4.0, 1.0),
    "overdamped wave": (exact.plane_wave(VERY_LOSSY, K, polarization=E), 4.0, 0.3),
    "plane pulse": (
        exact.plane_wave(GLASS, direction=(1, 2, -2), f=ricker(1.0), polarization=(0, 1, 1)), 28.0, 1.0,
    ),
    "te mode": (exact.cavity_mode(GLASS, *BOX, (1, 2, 1), polarization="TE"), 3.0, 1.0),
    "tm mode": (exact.cavity_mode(GLASS, *BOX, (1, 2, 1), amplitude=3.0), 3.0, 1.0),
    "mixed walls": (exact.cavity_mode(GLASS, *BOX, (1, 2, 1), walls=MIXED), 3.0, 1.0),
    "ringing mode": (exact.cavity_mode(LOSSY, *BOX, (1, 2, 1)), 3.0, 1.0),
    "overdamped mode": (exact.cavity_mode(VERY_LOSSY, *BOX, (1, 2, 1)), 8.0, 0.3),
    "dipole": (exact.point_source(GLASS, SOURCE), 28.0, 1.0),
    "equal media": (
        exact.interface_plane_wave(GLASS, GLASS, (3.0, -1.0, 2.0), polarization=(1, 1, -1)), 4.0, 1.0,
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", SOLUTIONS)


def points_and_times(unit=1.0, num_point=40):
    """Random places 0.3 to 1 m from the source, inside BOX; times when waves pass."""
    rng = np.random.default_rng(7)
    direction = rng.normal(size=(num_point, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radius = rng.uniform(0.3, 0.9, size=(num_point, 1))
    return np.array(SOURCE.position) + radius * direction, unit * rng.uniform(1.5, 3.5, num_point)


@EVERY
def test_exact_solution_solves_maxwells_equations(name):
    solution, wavenumber, unit = SOLUTIONS[name]
    assert maxwell_residual(solution, *points_and_times(unit), KH / wavenumber) < TOLERANCE


@EVERY
@pytest.mark.parametrize("off", ["eps", "mu", "sigma"])
def test_residual_sees_a_medium_one_per_cent_off(name, off):
    solution, wavenumber, unit = SOLUTIONS[name]
    values = solution.medium.scalar()
    values[off] = 1.01 * values[off] if values[off] else 0.01 * values["eps"] * wavenumber * C / unit
    found = maxwell_residual(solution, *points_and_times(unit), KH / wavenumber, Maxwell(**values))
    assert found > TWIN


def test_residual_sees_charges():
    mode = SOLUTIONS["te mode"][0]

    def charged(x, y, z, t):
        """The mode in the static field of a uniform charge, which has no curl."""
        values = mode(x, y, z, t)
        return {**values, "ex": values["ex"] + 0.02 * x}

    charged.medium, charged.fields = mode.medium, mode.fields
    points, t = points_and_times()
    assert maxwell_residual(mode, points, t, 0.03) < TOLERANCE
    assert maxwell_residual(charged, points, t, 0.03) > TWIN


@EVERY
def test_arguments_broadcast_to_float64_arrays(name):
    solution, _, unit = SOLUTIONS[name]
    x, t = np.linspace(0.5, 0.9, 5), unit * np.linspace(1.5, 2.5, 3)[:, None]
    values = solution(x, 0, -0.5, t)
    assert tuple(values) == solution.fields == ("ex", "ey", "ez", "hx", "hy", "hz")
    for field, array in values.items():
        assert array.shape == (3, 5) and array.dtype == np.float64 and array.flags.writeable
        one = solution(x[4], 0, -0.5, t[2, 0])[field]
        assert one.shape == ()
        assert one == pytest.approx(array[2, 4], rel=1e-12)
    assert solution(np.zeros((0,)), 0.0, 0.0, 0.1)["ex"].shape == (0,)


@EVERY
def test_configuration_and_pickle_give_the_same_solution(name):
    solution, _, unit = SOLUTIONS[name]
    points, t = points_and_times(unit, 5)
    expected = solution(*points.T, t)
    config = json.loads(json.dumps(solution.to_config()))
    for other in (exact.from_config(config), pickle.loads(pickle.dumps(solution))):
        assert repr(other) == repr(solution)
        for field in solution.fields:
            assert np.array_equal(other(*points.T, t)[field], expected[field])


def test_only_the_dipole_is_singular():
    assert [name for name, (one, _, _) in SOLUTIONS.items() if one.singular] == ["dipole"]


@pytest.mark.parametrize("make", [
    lambda medium: exact.plane_wave(medium, K, polarization=E),
    lambda medium: exact.cavity_mode(medium, *BOX),
    lambda medium: exact.point_source(medium, SOURCE),
    lambda medium: exact.interface_plane_wave(medium, GLASS, (1, 0, 0), polarization=(0, 1, 0)),
    lambda medium: exact.interface_plane_wave(GLASS, medium, (1, 0, 0), polarization=(0, 1, 0)),
    lambda medium: exact.mie_sphere(medium, 1.0, 1.0),
    lambda medium: exact.mie_sphere(GLASS, 1.0, 1.0, sphere=medium),
])  # fmt: skip
def test_media_that_vary_or_are_none_are_refused(make):
    make(Maxwell(eps={"a": 2.0, "b": 2.0}, mu=[1.3, 1.3]))
    with pytest.raises(ArgumentError, match="homogeneous"):
        make(Maxwell(eps={"a": 2.0, "b": 2.1}, mu=1.0))
    with pytest.raises(ArgumentError, match="homogeneous"):
        make(Maxwell(eps=1.0, mu=lambda x, y, z: x))
    with pytest.raises(ArgumentError, match=r"expected an? "):
        make({"eps": 1.0})


def test_plane_wave_is_transverse_with_the_ratio_of_its_impedance():
    solution = SOLUTIONS["plane pulse"][0]
    points, t = points_and_times()
    values = solution(*points.T, t)
    e, h = (np.stack([values[g + axis] for axis in "xyz"], axis=1) for g in "eh")
    d = np.array([1.0, 2.0, -2.0]) / 3.0
    assert np.allclose(h, np.sqrt(2.25 / 1.3) * np.cross(d, e), rtol=0, atol=1e-14)
    assert np.abs(e @ d).max() < 1e-15
    at_origin = solution(0.0, 0.0, 0.0, t)["ey"]
    assert np.allclose(at_origin, np.sqrt(0.5) * ricker(1.0)(t), rtol=1e-14, atol=0)


def test_conducting_medium_damps_by_sigma_over_two_eps():
    solution = SOLUTIONS["decaying wave"][0]
    ck, decay = C * np.sqrt(14.0), 1.5 / (2.0 * 2.25)
    period = 2.0 * np.pi / np.sqrt(ck**2 - decay**2)
    early, late = solution(0.2, 0.3, 0.4, 0.1)["ex"], solution(0.2, 0.3, 0.4, 0.1 + period)["ex"]
    assert late == pytest.approx(early * np.exp(-decay * period), rel=1e-13)


@pytest.mark.parametrize("wrong, found", [
    ({"k": K}, "polarization is None; expected a vector orthogonal"),
    ({"k": K, "polarization": (1, 1, 1.1)}, r"at 89\.14\d* degrees to .*expected 90"),
    ({"k": K, "polarization": (0, 0, 0)}, "length > 0"),
    ({"k": K, "polarization": E, "amplitude": np.nan}, r"\[V/m\]"),
    ({"direction": (1, 0, 0), "f": gaussian(1.0), "polarization": (0, 1, 0)}, r"sigma is 1\.5 S/m"),
])  # fmt: skip
def test_plane_wave_refuses_what_is_none(wrong, found):
    with pytest.raises(ArgumentError, match=found):
        exact.plane_wave(LOSSY, **wrong)


def test_solutions_and_arguments_of_another_physics_are_refused():
    water = Acoustic(rho=1.0, c=1.0)
    with pytest.raises(ArgumentError, match="got polarization; it takes none for acoustic media"):
        exact.plane_wave(water, K, polarization=E)
    with pytest.raises(ArgumentError, match="got polarization; it takes none for acoustic media"):
        exact.interface_plane_wave(water, water, K, polarization=E)
    with pytest.raises(ArgumentError, match="got walls; it takes none for maxwell media"):
        exact.point_source(GLASS, SOURCE, walls={"zmax": "free"})
    with pytest.raises(ArgumentError, match="box_mode is known for acoustic media"):
        exact.rigid_box_mode(GLASS, *BOX)
    with pytest.raises(ArgumentError, match="cavity_mode is known for maxwell media"):
        exact.cavity_mode(water, *BOX)
    with pytest.raises(ArgumentError, match=r"medium2 is unda\.Acoustic.*expected a maxwell medium"):
        exact.interface_plane_wave(GLASS, water, (1, 0, 0), polarization=(0, 1, 0))
