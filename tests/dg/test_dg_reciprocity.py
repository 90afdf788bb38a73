"""Source and receiver can change places, to rounding, whatever the materials, boundaries and flux.

Another component may be recorded than is driven: what a push along a at A does along b at B, one along b at B
does along a at A. A point source is the transpose of a receiver, and with the signs of odd fields turned the
discrete operator is its own transpose in the energy's inner product (test_dg_rhs.py), with losses too.
Not here: amplitudes (test_dg_point_sources.py).
"""

import numpy as np
import pytest
import unda

# Reciprocity holds, resolved or not.
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

A, B = (0.31, 0.44, 0.87), (1.62, 0.35, 0.28)
ALONG_A, ALONG_B = np.array([0.3, -0.5, 0.7]), np.array([1.0, 0.4, 0.2])
MESH = unda.box_mesh((0, 0, 0), (2, 1, 1.2), cells=(4, 2, 3), perturb=0.2, seed=3)
RANDOM = np.random.default_rng(8).uniform(0.6, 1.7, (3, MESH.num_elem))
FLUID = MESH.centroids[:, 2] < 0.6  # B is in it
PULSE = unda.ricker(1.5, t0=0.5)
V, E = ("vx", "vy", "vz"), ("ex", "ey", "ez")

SOUND = unda.Acoustic(rho=RANDOM[0], c=RANDOM[1])
ROCK = unda.Elastic(rho=RANDOM[0], vp=2 * RANDOM[1], vs=RANDOM[1] * RANDOM[2])
OCEAN = unda.Elastic(rho=RANDOM[0], vp=2 * RANDOM[1], vs=np.where(FLUID, 0.0, RANDOM[1] * RANDOM[2]))
LIGHT = unda.Maxwell(eps=RANDOM[0], mu=RANDOM[1])
EARTH = unda.Maxwell(eps=RANDOM[0], mu=RANDOM[1], sigma=RANDOM[2])


def volume(place, along):
    return unda.VolumeInjection(place, PULSE)


def force(place, along):
    return unda.PointForce(place, PULSE, along)


def current(place, along):
    return unda.CurrentDipole(place, PULSE, along / np.linalg.norm(along))


CASES = {
    "sound": (SOUND, volume, ("p",), {"zmax": "free", "zmin": "rigid", "*": "absorbing"}),
    "rock, force": (ROCK, force, V, {"zmax": "free", "zmin": "fixed", "xmin": "symmetry", "*": "absorbing"}),
    "rock, injection": (ROCK, volume, ("pressure",), {"zmax": "free", "*": "absorbing"}),
    "ocean, force": (OCEAN, force, V, {"zmax": "free", "*": "absorbing"}),
    "ocean, injection": (OCEAN, volume, ("pressure",), {"*": "free"}),
    "light": (LIGHT, current, E, {"zmax": "pec", "xmin": "pmc", "*": "absorbing"}),
    "conductor": (EARTH, current, E, {"zmax": "pec", "*": "absorbing"}),
}


def trace(case, here, along, there, recorded, flux="upwind", medium=None):
    """What a source at `here` along one vector does at `there` along another."""
    own, source, fields, boundary = CASES[case]
    options = {"degree": 2, "boundary": boundary, "flux": flux, "dtype": "float64", "device": "cpu"}
    sim = unda.DG(MESH, medium or own, dt=0.004, **options)
    made = source(here, along)
    sim.add_source(made)
    rec = sim.add_receivers([there], fields)
    sim.run(until=1.0)
    weight = [1.0] if len(fields) == 1 else recorded
    if isinstance(made, unda.CurrentDipole):
        weight = recorded / np.linalg.norm(recorded)
    return sum(w * rec[field][0] for w, field in zip(weight, fields, strict=True))


@pytest.mark.each_value
@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("case", CASES)
def test_source_and_receiver_change_places(case, flux):
    forth = trace(case, A, ALONG_A, B, ALONG_B, flux)
    back = trace(case, B, ALONG_B, A, ALONG_A, flux)
    assert np.abs(forth).max() > 1e-6
    assert np.abs(forth - back).max() < 1e-12 * np.abs(forth).max()


@pytest.mark.parametrize(("case", "wrong"), [("ocean, force", "rho"), ("light", "eps")])
def test_not_when_a_material_differs_by_a_hundredth_between_the_two(case, wrong):
    own = CASES[case][0]
    values = dict(zip(own.parameters, own.on(MESH).T, strict=True))
    other = type(own)(**{**values, wrong: 1.01 * values[wrong]})
    forth = trace(case, A, ALONG_A, B, ALONG_B)
    back = trace(case, B, ALONG_B, A, ALONG_A, medium=other)
    assert np.abs(forth - back).max() > 1e-3 * np.abs(forth).max()
