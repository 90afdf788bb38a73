"""Walls of exact solutions: rigid ones have no normal velocity, free ones no pressure.

Not here: the equations inside (test_exact_solutions.py), the source (test_exact_point_source.py).
Next: python/unda/exact/walls.py.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.source import VolumeInjection
from unda.problem.timefunction import ricker, smooth_bump, wrap

MEDIUM = Acoustic(rho=2.0, c=3.0)
LOWER, UPPER = (-1.0, 0.5, 2.0), (0.5, 1.75, 3.0)
SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
MIXED = dict(zip(SIDES, ["free", "rigid", "rigid", "rigid", "rigid", "free"], strict=True))
SOURCE = VolumeInjection((-0.3, 1.1, 2.4), ricker(4.0, 0.1))
CASES = {
    "rigid mode": (exact.rigid_box_mode(MEDIUM, LOWER, UPPER), dict.fromkeys(SIDES, "rigid")),
    "free mode": (exact.free_box_mode(MEDIUM, LOWER, UPPER), dict.fromkeys(SIDES, "free")),
    "mixed mode": (exact.box_mode(MEDIUM, LOWER, UPPER, walls=MIXED), MIXED),
    "one wall": (
        exact.point_source(MEDIUM, SOURCE, walls={"zmax": "free"}, bounds=(LOWER, UPPER)),
        {"zmax": "free"},
    ),
    "two parallel walls": (
        exact.point_source(MEDIUM, SOURCE, walls={"ymin": ("free", 0.5), "ymax": ("rigid", 1.75)}),
        {"ymin": "free", "ymax": "rigid"},
    ),
    "six walls": (exact.point_source(MEDIUM, SOURCE, walls=MIXED, bounds=(LOWER, UPPER)), MIXED),
}


def boundary_errors(solution, side, kind):
    """What must vanish at a wall, relative to what must not; at random places and times."""
    rng = np.random.default_rng(3)
    axis = SIDES.index(side) // 2
    points = rng.uniform(LOWER, UPPER, size=(30, 3))
    points[:, axis] = (UPPER if side.endswith("max") else LOWER)[axis]
    values = solution(*points.T, rng.uniform(0.2, 0.9, 30))
    impedance = 2.0 * 3.0
    scaled = {"p": values["p"], "v": impedance * values["v" + "xyz"[axis]]}
    scale = max(np.abs(value).max() for value in scaled.values())
    return np.abs(scaled["v" if kind == "rigid" else "p"]).max() / scale


@pytest.mark.parametrize("name", CASES)
def test_walls_are_rigid_or_free_as_named(name):
    solution, walls = CASES[name]
    for side, kind in walls.items():
        # pairs of images cancel to the rounding of distances: eps r k with r < 10, k < 30
        assert boundary_errors(solution, side, kind) < 1e-12


@pytest.mark.parametrize("name", CASES)
def test_walls_are_not_of_the_other_kind(name):
    solution, walls = CASES[name]
    for side, kind in walls.items():
        assert boundary_errors(solution, side, "free" if kind == "rigid" else "rigid") > 1e-2


def test_mode_frequencies_follow_from_the_lengths():
    pi, length = np.pi, np.subtract(UPPER, LOWER)
    for make, n in ((exact.rigid_box_mode, (1, 0, 2)), (exact.free_box_mode, (1, 3, 2))):
        expected = 3.0 * pi * np.linalg.norm(np.array(n) / length)
        assert make(MEDIUM, LOWER, UPPER, n).omega == pytest.approx(expected, rel=1e-15)
    quarter_wave = exact.box_mode(MEDIUM, LOWER, UPPER, n=(1, 0, 0), walls={"xmax": "free", "*": "rigid"})
    assert quarter_wave.omega == pytest.approx(3.0 * pi / 2.0 / 1.5, rel=1e-15)


@pytest.mark.parametrize("make, n, found", [
    (exact.rigid_box_mode, (0, 0, 0), "above 0"),
    (exact.rigid_box_mode, (-1, 0, 1), "at least 0"),
    (exact.rigid_box_mode, (1.5, 0, 1), "integer"),
    (exact.free_box_mode, (1, 0, 1), "at least 1"),
    (exact.free_box_mode, (1, 1), "2 components"),
])  # fmt: skip
def test_modes_that_do_not_exist_are_refused(make, n, found):
    with pytest.raises(ArgumentError, match=found):
        make(MEDIUM, LOWER, UPPER, n)


def test_box_mode_needs_all_walls_and_a_volume():
    with pytest.raises(ArgumentError, match="xmax, ymax"):
        exact.box_mode(MEDIUM, LOWER, UPPER, walls=dict.fromkeys(SIDES[::2], "rigid"))
    with pytest.raises(ArgumentError, match="positive lengths"):
        exact.rigid_box_mode(MEDIUM, UPPER, LOWER)


def test_walls_that_make_no_sense_are_refused():
    refused = {
        "'top'.*zmax": {"top": "free"},
        "'soft'.*'rigid' or 'free'": {"zmax": "soft"},
        "kind, place": {"zmax": ("free", 1.0, 2.0)},
        "nan": {"zmax": ("free", float("nan"))},
        "expected a dict": "zmax",
        "the source is at z = 2.4 m, behind the wall zmax at 2.0": {"zmax": ("free", 2.0)},
        "expected a gap": {"zmin": ("rigid", 2.4), "zmax": ("free", 2.4)},
    }
    for message, walls in refused.items():
        with pytest.raises(ArgumentError, match=message):
            exact.point_source(MEDIUM, SOURCE, walls=walls)


def test_wall_without_place_takes_it_from_a_mesh_or_says_how():
    unbound = exact.point_source(MEDIUM, SOURCE, walls={"zmax": "free"})
    with pytest.raises(ArgumentError, match=r"place of wall zmax is unknown.*bind"):
        unbound(0.0, 1.0, 2.5, 0.3)
    mesh = SimpleNamespace(vertices=np.array([LOWER, UPPER, (0.0, 1.0, 2.5)]))
    placed = exact.point_source(MEDIUM, SOURCE, walls={"zmax": ("free", 3.0)})
    for bound in (unbound.bind(mesh), exact.point_source(
        MEDIUM, SOURCE, walls={"zmax": "free"}, bounds=mesh
    )):  # fmt: skip
        assert bound(0.0, 1.0, 2.5, 0.3) == placed(0.0, 1.0, 2.5, 0.3)
    assert placed.bind(mesh) is placed
    other = unbound.bind(SimpleNamespace(vertices=np.array([LOWER, (0.5, 1.75, 2.9)])))
    assert other(0.0, 1.0, 2.5, 0.3) != placed(0.0, 1.0, 2.5, 0.3)


def test_points_behind_a_wall_are_refused_but_points_on_it_are_not():
    solution, _ = CASES["one wall"]
    solution(0.0, 1.0, 3.0 * (1.0 + 1e-15), 0.3)
    with pytest.raises(ArgumentError, match=r"z = 3\.1 m, behind the wall zmax"):
        solution(0.0, 1.0, np.array([2.5, 3.1]), 0.3)


def test_rigid_wall_doubles_the_pressure_on_it():
    walls = {"ymin": ("rigid", 0.5)}
    half, full = exact.point_source(MEDIUM, SOURCE, walls=walls), exact.point_source(MEDIUM, SOURCE)
    here = (0.2, 0.5, 2.2, np.linspace(0.1, 0.6, 20))
    assert np.allclose(half(*here)["p"], 2.0 * full(*here)["p"], rtol=1e-12, atol=0)


def mean_pressure(solution, t):
    """The mean over the box, by Gauss quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    sides = [low + (high - low) * (nodes + 1.0) / 2.0
             for low, high in zip(LOWER, UPPER, strict=True)]  # fmt: skip
    p = solution(sides[0][:, None, None], sides[1][:, None], sides[2], t)["p"]
    return np.einsum("ijk,i,j,k->", p, *[weights / 2.0] * 3)


def test_closed_rigid_box_keeps_the_injected_volume():
    # With all images counted, mean p = rho c^2 (injected volume)/(volume of the box) for ever.
    source = VolumeInjection(SOURCE.position, smooth_bump(0.8))
    expected = 2.0 * 9.0 * 0.8 / np.prod(np.subtract(UPPER, LOWER))
    rigid = exact.point_source(MEDIUM, source, walls={"*": "rigid"}, bounds=(LOWER, UPPER))
    # q' has five continuous derivatives, over 2.4 m against a node spacing of 0.06 m
    assert mean_pressure(rigid, 1.0) == pytest.approx(expected, rel=1e-5)
    walls = {"xmin": "free", "*": "rigid"}
    leaking = exact.point_source(MEDIUM, source, walls=walls, bounds=(LOWER, UPPER))
    assert mean_pressure(leaking, 1.0) != pytest.approx(expected, rel=0.1)


def test_parallel_walls_need_a_source_with_a_known_beginning():
    source = VolumeInjection(SOURCE.position, wrap(lambda t: np.exp(-((t - 1.0) ** 2)), 0.01))
    one = exact.point_source(MEDIUM, source, walls={"zmin": ("free", 2.0)})
    assert np.isfinite(one(0.0, 1.0, 2.5, 1.3)["p"])
    two = exact.point_source(MEDIUM, source, walls={"zmin": ("free", 2.0), "zmax": ("free", 3.0)})
    with pytest.raises(ArgumentError, match="beginning"):
        two(0.0, 1.0, 2.5, 1.3)
