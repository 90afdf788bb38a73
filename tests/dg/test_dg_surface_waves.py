"""Rayleigh, Stoneley and Scholte waves travel ten wavelengths with their exact speed and shape.

One wavelength, periodic; three of them deep on each side, where the waves have decayed and the sides absorb:
nothing exact is fed in. The speed is the slope of the phase of v_z beside the plane, the shape the L2 error
when that phase is allowed for. Not here: their formulas (test_exact_surface_waves.py).
"""

import numpy as np
import pytest
import unda
from unda import exact
from wave_runs import slice_of, two_media

ROCK, SEA = unda.Elastic(rho=2.0, vp=1.8, vs=1.0), unda.Elastic(rho=1.0, vp=1.2, vs=0.0)
# Of pairs of solids whose wave decays fast, exp(-0.32 k z) at least.
LIGHT, HEAVY = unda.Elastic(rho=1.0, vp=1.8, vs=1.0), unda.Elastic(rho=9.3, vp=1.57, vs=0.995)
K = np.array([2 * np.pi, 0.0, 0.0])
DEPTHS = np.array([-3.0, -2.2, -1.5, -0.95, -0.6, -0.3, 0.0])
PLACES = np.column_stack([np.arange(16) / 16, np.full(16, 0.04), np.full(16, -0.02)])
BRICKS = 3  # a wavelength


def faster(medium):
    """By one per cent."""
    values = medium.scalar()
    return unda.Elastic(rho=values["rho"], vp=1.01 * values["vp"], vs=1.01 * values["vs"])


def wave(kind):
    """The solution, its medium and the boundaries of a slice."""
    if kind == "rayleigh":
        return exact.rayleigh_wave(ROCK, k=K), ROCK, {"zmax": "free", "*": "absorbing"}
    pair, make = {
        "stoneley": ((LIGHT, HEAVY), exact.stoneley_wave),
        "scholte": ((ROCK, SEA), exact.scholte_wave),
    }[kind]
    return make(*pair, k=K), two_media(*pair), {"*": "absorbing"}


class Shifted:
    """A wave that has run on by a length along x."""

    def __init__(self, solution, length):
        self._solution, self._length = solution, length
        self.discontinuous = solution.discontinuous

    def __call__(self, x, y, z, t):
        return self._solution(x - self._length, y, z, t)


def travel(kind, degree, wavelengths, *, medium=None, boundary=None, dtype="float32", shape="tet", **options):
    """Relative error of the speed, and of the shape of v and of stress."""
    solution, own, sides = wave(kind)
    heights = DEPTHS if kind == "rayleigh" else np.concatenate([DEPTHS, -DEPTHS[-2::-1]])
    sim = unda.DG(
        slice_of(heights, BRICKS, shape=shape), medium or own, degree=degree, boundary=boundary or sides,
        dtype=dtype, device="cpu", **options,
    )  # fmt: skip
    sim.set(solution)
    times, phases = [], []

    def look(sim):
        times.append(sim.t)
        phases.append(np.angle(sim.sample(PLACES, ["vz"])["vz"] @ np.exp(-1j * PLACES @ K)))

    look(sim)
    sim.run(until=wavelengths / solution.speed, callback=look, every=20)
    speed = -np.polyfit(times, np.unwrap(phases), 1)[0] / K[0]
    errors = sim.error(Shifted(solution, (speed - solution.speed) * sim.t), relative=True)
    shape = [np.sqrt(sum(errors[name] ** 2 for name in group)) for group in sim.medium.field_groups.values()]
    return speed / solution.speed - 1, shape


KINDS = pytest.mark.parametrize("kind", ["rayleigh", "stoneley", "scholte"])


@pytest.mark.first(2)
@KINDS
def test_surface_waves_travel_ten_wavelengths_with_their_speed_and_shape(kind):
    """At degree 3. A speed 0.1 % off would shift the wave by 6 % of a radian: half of that for the shape."""
    speed, shape = travel(kind, 3, 10)
    assert abs(speed) < 1e-3
    assert max(shape) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@KINDS
def test_surface_waves_keep_their_shape_to_six_parts_in_a_thousand_at_degree_4(kind, dtype):
    speed, shape = travel(kind, 4, 10, dtype=dtype)
    assert abs(speed) < 1e-4
    assert max(shape) < 6e-3


@pytest.mark.slow
@KINDS
def test_surface_waves_neither_gain_nor_lose_with_the_central_flux(kind):
    speed, shape = travel(kind, 4, 10, flux="central", dtype="float64")
    assert abs(speed) < 1e-3
    assert max(shape) < 0.03


@pytest.mark.first(1)
@KINDS
def test_media_one_per_cent_too_fast_are_seen(kind):
    media = [
        faster(one) for one in {"rayleigh": (ROCK,), "stoneley": (LIGHT, HEAVY), "scholte": (ROCK, SEA)}[kind]
    ]
    speed, _ = travel(kind, 3, 2, medium=media[0] if kind == "rayleigh" else two_media(*media))
    assert speed == pytest.approx(0.01, abs=2e-3)


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("rayleigh", {"boundary": {"zmax": "symmetry", "*": "absorbing"}}),
        ("rayleigh", {"boundary": {"*": "absorbing"}}),
        ("stoneley", {"medium": two_media(HEAVY, LIGHT)}),
        ("scholte", {"medium": two_media(ROCK, unda.Elastic(rho=2.0, vp=1.2, vs=0.0))}),
    ],
)
def test_other_walls_and_media_do_not_carry_the_wave(kind, wrong):
    speed, shape = travel(kind, 3, 2, **wrong)
    assert abs(speed) > 1e-3
    assert max(shape) > 0.03
