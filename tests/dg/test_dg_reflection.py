"""Plane waves are reflected and transmitted at an interface with their exact amplitudes, to 0.5 %.

A slice as long as the waves are along the interface, exact initial state and outer data, ten nodes in the
shortest wavelength. After some periods the waves near the interface are its own: on each side least squares
take the fields apart into the partial waves of their wavenumber. Sides that waves meet at an angle send a
little back, so what comes in, all of it, is multiplied with the exact coefficients (Zoeppritz 1919; Fresnel),
and what goes out must be that. To show that the data do not feed the answer in, the same is done with a
medium 5 % denser than that of the data. Not here: the coefficients themselves
(test_exact_elastic_interface.py, test_exact_fresnel.py).
"""

from typing import NamedTuple

import numpy as np
import pytest
import unda
from unda import exact
from unda.exact.partial import Frame, Partial, elastic
from wave_runs import slice_of, two_media

ROCK, HARD = unda.Elastic(rho=1.3, vp=2.0, vs=1.1), unda.Elastic(rho=2.1, vp=3.1, vs=1.8)
SEA, BRINE = unda.Elastic(rho=1.0, vp=1.5, vs=0.0), unda.Elastic(rho=1.7, vp=2.1, vs=0.0)
GLASS, IRON = unda.Maxwell(eps=2.25, mu=1.0), unda.Maxwell(eps=1.4, mu=1.9)
AIR, CLAY = unda.Maxwell(eps=1.0, mu=1.0), unda.Maxwell(eps=1.4, mu=1.0, sigma=3.0)
UP, BAR = np.array([0.0, 0.0, 1.0]), 5e-3
HEIGHT, GAP, DEGREE = 1.25, 0.1, 4  # in shortest wavelengths


class Wave(NamedTuple):
    """One partial wave: its name, +1 if it goes up, its slowness and its fields."""

    name: str
    sign: int
    slowness: np.ndarray
    fields: np.ndarray


class Elastic:
    """The waves of one plane of incidence, those that a kind of wave excites."""

    def __init__(self, kind):
        self.kind = kind

    def speed(self, medium):
        return elastic("medium", medium).speed(self.kind)

    def slowest(self, medium):
        return min(c for c in list(medium.scalar().values())[1:] if c > 0)

    def solution(self, one, two, k):
        return exact.interface_plane_wave(one, two, k=k, normal=UP, kind=self.kind)

    def waves(self, medium, along, omega):
        material, frame = elastic("medium", medium), Frame.of(UP, np.array([1.0, 0.0, 0.0]))
        kinds = [kind for kind in material.kinds if (kind == "sh") == (self.kind == "sh")]
        parts = [
            (kind, sign, Partial.at_interface(material, kind, frame, along, sign))
            for kind in kinds for sign in (1, -1)
        ]  # fmt: skip
        return [Wave(kind, sign, part.slowness, part.fields()) for kind, sign, part in parts]

    def coefficients(self, one, two, direction, normal, name):
        """What a wave in `one` makes of itself, by names; b = n x e turns round with n."""
        wave = exact.interface_plane_wave(one, two, k=direction, normal=normal, kind=name)
        turned = 1 if normal[2] > 0 else -1
        back, on = (
            {other: value * turned ** ((name != "p") + (other != "p")) for other, value in found.items()}
            for found in (wave.reflection, wave.transmission)
        )
        return back, on

    def weights(self, medium):
        rho, vp, _ = medium.scalar().values()
        return np.array([1.0] * 3 + [1 / (rho * vp)] * 6)


class Light:
    """TE (amplitudes of E) or TM (of H) waves."""

    def __init__(self, kind):
        self.kind = kind

    def speed(self, medium):
        values = medium.scalar()
        return 1 / np.sqrt(values["eps"] * values["mu"])

    slowest = speed

    def solution(self, one, two, k):
        across = np.array([0.0, 1.0, 0.0])
        e = across if self.kind == "te" else np.cross(across, k)
        return exact.interface_plane_wave(one, two, k=k, normal=UP, polarization=e)

    def waves(self, medium, along, omega):
        eps, mu, sigma = medium.scalar().values()
        eps = eps + 1j * sigma / omega
        found, across = [], np.array([0.0, 1.0, 0.0])
        for sign in (1, -1):
            s = np.array([along, 0, sign * np.sqrt(complex(eps * mu - along**2))])
            pair = (
                (across, np.cross(s, across) / mu)
                if self.kind == "te"
                else (-np.cross(s, across) / eps, across)
            )
            found.append(Wave(self.kind, sign, s, np.concatenate(pair)))
        return found

    def coefficients(self, one, two, direction, normal, name):
        e = [0.0, 1.0, 0.0] if name == "te" else np.cross([0.0, 1.0, 0.0], direction)
        wave = exact.interface_plane_wave(one, two, k=direction, normal=normal, polarization=e)
        pair = getattr(wave, f"reflection_{name}"), getattr(wave, f"transmission_{name}")
        return {name: pair[0]}, {name: pair[1]}

    def weights(self, medium):
        eps, mu, _ = medium.scalar().values()
        return np.array([1.0] * 3 + [np.sqrt(mu / eps)] * 3)


def amplitudes(sim, waves, weights, omega, sign, length):
    """Complex amplitudes of partial waves in the fields on one side of z = 0."""
    places = np.random.default_rng(0).uniform((0, 0, GAP), (length, 0.01, 0.8 * HEIGHT), (2000, 3))
    places[:, 2] *= sign
    found = sim.sample(places)
    values = np.stack([found[name] for name in sim.fields]) * weights[:, None]
    basis = [
        (weights * wave.fields)[:, None] * np.exp(1j * omega * (places @ wave.slowness - sim.t))
        for wave in waves
    ]
    columns = [part.ravel() for one in basis for part in (one.imag, one.real)]  # fields are imaginary parts
    pairs = np.linalg.lstsq(np.array(columns).T, values.ravel(), rcond=None)[0]
    return pairs[::2] + 1j * pairs[1::2]


def outgoing(physics, one, two, degrees, *, simulated=None, spacing=10, periods=3, **options):
    """Amplitudes of what leaves the interface, as found and as the coefficients have it, by (side, name).

    Relative to the incident wave. `simulated` is what stands for medium 2 in the simulation; the coefficients
    are then of that one, the data those of `two`.
    """
    theta, real = np.radians(degrees), simulated or two
    speed = physics.speed(one)
    omega = 2 * np.pi * min(physics.slowest(one), physics.slowest(two))  # shortest wavelength 1
    k = omega / speed * np.array([np.sin(theta), 0, np.cos(theta)])
    length, along = 2 * np.pi / k[0], np.sin(theta) / speed
    nodes = (DEGREE + 1) * (DEGREE + 2) * (DEGREE + 3) / 6
    brick = (6 * nodes) ** (1 / 3) / spacing
    count = int(np.ceil(HEIGHT / brick))
    heights = np.linspace(-HEIGHT, HEIGHT, 2 * count + 1)
    heights[count] = 0
    mesh = slice_of(heights, int(np.ceil(length / brick)), length=length, width=0.8 * brick)
    solution = physics.solution(one, two, k)
    sim = unda.DG(
        mesh, two_media(one, real), degree=DEGREE, boundary={"*": solution}, device="cpu", **options
    )
    sim.set(solution)
    sim.run(until=(periods + 0.2) * 2 * np.pi / omega)
    expected, found, incident = {}, {}, 1.0
    for sign, medium, other in ((-1, one, real), (1, real, one)):
        waves = physics.waves(medium, along, omega)
        parts = amplitudes(sim, waves, physics.weights(medium), omega, sign, length)
        for wave, amplitude in zip(waves, parts, strict=True):
            if wave.sign == sign:
                found[sign, wave.name] = amplitude
                continue
            if sign < 0 and wave.name == physics.kind:
                incident = amplitude
            if wave.slowness.imag.any():
                continue  # bound to the interface: nothing comes in
            direction = omega * wave.slowness.real
            back, on = physics.coefficients(medium, other, direction, [0, 0, -sign], wave.name)
            for side, made in ((sign, back), (-sign, on)):
                for name, value in made.items():
                    expected[side, name] = expected.get((side, name), 0) + value * amplitude
    return {key: (found[key] / incident, expected[key] / incident) for key in found}


P, SV, SH, TE, TM = Elastic("p"), Elastic("sv"), Elastic("sh"), Light("te"), Light("tm")
CASES = {
    "SV at rock": (SV, ROCK, HARD, 18),
    "sound at rock": (P, SEA, ROCK, 25),
    "SV at a fluid": (SV, ROCK, SEA, 25),
    "TE": (TE, GLASS, IRON, 35),
    "TM": (TM, GLASS, IRON, 35),
    "TM, totally reflected": (TM, GLASS, AIR, 50),
    "TE at a conductor": (TE, AIR, CLAY, 40),
}
MORE = {
    "P at rock": (P, ROCK, HARD, 25),
    "SH at rock": (SH, ROCK, HARD, 25),
    "TE from outside": (TE, IRON, GLASS, 50),
    "TM from outside": (TM, IRON, GLASS, 50),
    "TE, totally reflected": (TE, GLASS, AIR, 50),
    "TM at a conductor": (TM, AIR, CLAY, 40),
    "P from rock that is harder": (P, HARD, ROCK, 40),
    "P at a fluid": (P, ROCK, SEA, 25),
    "sound at a fluid": (P, SEA, BRINE, 30),
    "sound beyond the critical angle of P": (P, SEA, HARD, 40),
    "SH beyond its critical angle": (SH, ROCK, HARD, 50),
}


def worst(found):
    """Largest error of a coefficient, relative to itself."""
    return max(abs(a - b) / abs(b) for a, b in found.values())


@pytest.mark.parametrize("name", [*CASES, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)])
def test_waves_are_reflected_and_transmitted_with_their_amplitudes(name):
    found = outgoing(*{**CASES, **MORE}[name])
    assert worst(found) < BAR, found


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "name",
    [
        "sound at rock",
        "TE",
        "TM",
        *(pytest.param(f"{x}", marks=pytest.mark.slow) for x in ("SV at rock", "SV at a fluid")),
    ],
)
def test_a_medium_five_per_cent_denser_reflects_by_its_own_coefficients(name):
    """The sides, whose data are not those of this medium, are a second error."""
    case = CASES[name]
    two = case[2]
    values = two.scalar()
    first = next(iter(values))
    denser = type(two)(**{**values, first: 1.05 * values[first]})
    found = outgoing(*case, simulated=denser, periods=6)
    assert worst(found) < 3 * BAR, found
    before = outgoing(*case, periods=0)
    changes = [abs(found[key][1] - before[key][1]) / abs(before[key][1]) for key in found]
    assert max(changes) > 6 * BAR, changes
