"""Point sources in layers: full space, Lamb's problem, conditions at interfaces, reciprocity, refusals.

Not here: LOH.1 by a solver (tests/commands/test_command_line.py).
Next: python/unda/exact/layered.py.
"""

import numpy as np
import pytest
import unda
from unda import exact
from unda.errors import ArgumentError

ROCK, SOIL = unda.Elastic(rho=2700.0, vp=6000.0, vs=3464.0), unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0)
F = unda.ricker(2.0)
SLIP = 1e15 * np.array([[0.4, 0.5, 1.0], [0.5, -0.1, 0.3], [1.0, 0.3, -0.3]])
PUSH = (1e12, -2e12, 3e12)
T = np.linspace(-0.6, 1.2, 80)
ACCURACY = 1e-6  # what the class promises, relative to the peak
TWIN = 1e-3  # one per cent in a parameter is at least this


def far(one, other, names=("vx", "vy", "vz")):
    """Return the largest difference relative to the peak of these fields."""
    peak = max(np.abs(other[name]).max() for name in names)
    return max(np.abs(one[name] - other[name]).max() for name in names) / peak


@pytest.mark.each_value
@pytest.mark.parametrize(
    "make",
    [lambda z: unda.PointForce((0, 0, z), F, PUSH), lambda z: unda.MomentTensor((0, 0, z), F.integral, SLIP)],
)
@pytest.mark.parametrize("place", [(700.0, 400.0, -4000.0), (300.0, -200.0, -5800.0), (0.0, 0.0, -4100.0)])
def test_before_the_surface_answers_the_wave_is_that_of_full_space(make, place):
    """Layers of the half-space's own medium change nothing; the surface answers after 9 km, 1.5 s."""
    source = make(-5000.0)
    found = exact.layered_source(ROCK, source, layers=[(1000.0, ROCK), (3500.0, ROCK)])(*place, T + 0.2)
    known = exact.point_source(ROCK, source)(*place, T + 0.2)
    stresses = ROCK.fields[3:]
    assert max(far(found, known), far(found, known, stresses)) < ACCURACY
    off = exact.point_source(unda.Elastic(rho=2700.0, vp=6060.0, vs=3464.0), source)(*place, T + 0.2)
    assert far(off, known) > TWIN


@pytest.mark.parametrize("on", range(3))
def test_on_the_surface_of_a_half_space_it_is_lambs_problem_the_other_way_round(on):
    """Lamb's solution has forces on the surface and points below: by reciprocity the same numbers."""
    found = exact.layered_source(ROCK, unda.PointForce((0, 0, -500.0), F, PUSH))(900.0, 300.0, 0.0, T)
    push = unda.PointForce((900.0, 300.0, 0.0), F, 1e12 * np.eye(3)[on])
    back = exact.lamb_problem(ROCK, push)(0.0, 0.0, -500.0, T)
    known = sum(pull / 1e12 * back[name] for pull, name in zip(PUSH, ("vx", "vy", "vz"), strict=True))
    values = found[("vx", "vy", "vz")[on]]
    assert np.abs(values - known).max() < ACCURACY * np.abs(known).max()


def test_the_surface_is_free_and_interfaces_hold_together():
    """Three micrometres apart nothing changes by more than 2 pi 3e-6 m / 200 m = 1e-7."""
    source = unda.MomentTensor((0, 0, -1700.0), F.integral, SLIP)
    wave = exact.layered_source(ROCK, source, layers=[(1000.0, SOIL), (400.0, ROCK)])
    tractions = ("szz", "syz", "sxz")
    above, below, top = (wave(700.0, 200.0, z, T) for z in (-1000.0 + 3e-6, -1000.0, 0.0))
    assert max(far(above, below), far(above, below, tractions)) < ACCURACY
    assert far(above, below, ("sxx",)) > 0.1  # one that may jump, and does
    for name in tractions:
        assert np.abs(top[name]).max() < ACCURACY * np.abs(top["sxx"]).max()


def test_source_and_receiver_may_be_exchanged_across_an_interface():
    layers = [(1000.0, SOIL), (700.0, unda.Elastic(rho=2000.0, vp=3000.0, vs=1500.0))]
    places, forces = (
        ((0.0, 0.0, -2100.0), (800.0, -600.0, -300.0)),
        1e12 * np.array([[1, 2, 3], [2, -1, 1.0]]),
    )
    found = []
    for here, there, force, other in (
        (*places, *forces), (*places[::-1], *forces[::-1]), (*places[::-1], *(1.01 * forces[::-1]))
    ):  # fmt: skip
        wave = exact.layered_source(ROCK, unda.PointForce(here, F, force), layers=layers)(*there, T)
        found.append(sum(a * wave[name] for a, name in zip(other, ("vx", "vy", "vz"), strict=True)))
    assert np.abs(found[0] - found[1]).max() < ACCURACY * np.abs(found[0]).max()
    assert np.abs(found[0] - found[2]).max() > TWIN * np.abs(found[0]).max()


def test_nothing_is_there_before_the_source_and_all_times_are_one_solution():
    """A window that ends earlier has other frequencies and wavenumbers, and the same values."""
    wave = exact.layered_source(
        ROCK, unda.PointForce((0, 0, -1500.0), F, PUSH), layers=[(1000.0, SOIL)], surface=0.0
    )
    long, short = wave(700.0, 0.0, 0.0, T + 3.0), wave(700.0, 0.0, 0.0, np.linspace(-3.0, 2.4, 7))
    again = wave(700.0, 0.0, 0.0, np.linspace(2.4, 4.2, 80)[:1])
    assert far(long | {name: long[name][:1] for name in long}, again) < ACCURACY
    assert np.abs(short["vz"][0]) == 0.0 and np.isfinite(short["vz"]).all()
    assert np.abs(short["vz"][-1] - long["vz"][0]) < ACCURACY * np.abs(long["vz"]).max()


def test_configurations_make_the_same_solution():
    wave = exact.layered_source(
        ROCK, unda.PointForce((0, 0, -1500.0), F, PUSH), layers=[(1000.0, SOIL)], surface=10.0
    )
    again = exact.from_config(wave.to_config())
    assert again.to_config() == wave.to_config()
    assert (again(500.0, 0.0, 10.0, T)["vz"] == wave(500.0, 0.0, 10.0, T)["vz"]).all()


@pytest.mark.parametrize(
    "arguments, place, words",
    [
        ({"layers": [(1500.0, SOIL)]}, None, "source is 1500 m below the surface.*in between"),
        ({"layers": [1000.0]}, None, "expected pairs of a thickness"),
        ({"layers": [(-1.0, SOIL)]}, None, "thickness of a layer"),
        ({"layers": [(10.0, unda.Elastic(rho=1.0, vp=1.0, vs=0.0))]}, None, "fluid"),
        ({"surface": -2000.0}, None, "in between"),
        ({}, (0.0, 1.0, 1.0), "1.0 m above the free surface"),
        ({}, (0.0, 1.0, -1500.0), "too near"),
    ],
)
def test_what_it_does_not_know_is_refused(arguments, place, words):
    source = unda.PointForce((0, 0, -1500.0), F, PUSH)
    with pytest.raises(ArgumentError, match=words):
        exact.layered_source(ROCK, source, **arguments)(*(place or (0, 0, 0)), 1.0)
    with pytest.raises(ArgumentError, match=r"expected a unda\.PointForce or"):
        exact.layered_source(ROCK, unda.VolumeInjection((0, 0, -1500.0), F))
