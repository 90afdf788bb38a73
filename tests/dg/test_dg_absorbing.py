"""Absorbing sides take in what comes at right angles, and send back what their impedance says of the rest.

T_i + Z_i v_i = 0 for each pair of traction and velocity (-p and v_n; E_t and n x H): nothing comes back at
right angles, (1 - cos a) / (1 + cos a) of sound, SH waves and light at an angle a, and of P and SV two
coefficients of a small system. A slice as in test_dg_reflection.py with one medium, the incident and the
reflected wave as initial state and below. Not here: the flux itself (test_flux.py).
"""

import numpy as np
import pytest
import unda
from physics_cases import CASES
from test_dg_reflection import BAR, DEGREE, GLASS, HEIGHT, ROCK, SEA, UP, Elastic, Light, amplitudes
from wave_problems import Sum
from wave_runs import brick, slice_of


class Partial:
    """A sine: the imaginary part of amplitude times a partial wave."""

    def __init__(self, names, wave, amplitude, omega):
        self._names, self._wave, self._amplitude, self._omega = names, wave, amplitude, omega

    def __call__(self, x, y, z, t):
        s = self._wave.slowness
        turn = np.exp(1j * self._omega * (s[0] * x + s[1] * y + s[2] * z - t))
        return {
            name: (self._amplitude * field * turn).imag
            for name, field in zip(self._names, self._wave.fields, strict=True)
        }


def mismatch(case, material, fields):
    """T + Z v of each pair, complex."""
    parts = []
    for part in (fields.real, fields.imag):
        z, t, v = case.channels(material, part, UP)
        parts.append(t + z * v)
    return parts[0] + 1j * parts[1]


def returned(physics, medium, degrees, condition="absorbing", shape="tet", **options):
    """Amplitudes of what comes back, by name, as found and as T + Z v = 0 has it; the incident one is 1."""
    case = CASES[medium.physics]
    theta, material = np.radians(degrees), np.array(list(medium.scalar().values()))
    omega = 2 * np.pi * physics.slowest(medium)
    speed = physics.speed(medium)
    along = np.sin(theta) / speed
    waves = physics.waves(medium, along, omega)
    incident = next(wave for wave in waves if wave.sign > 0 and wave.name == physics.kind)
    back = [wave for wave in waves if wave.sign < 0]
    system = np.array([mismatch(case, material, wave.fields) for wave in back]).T
    right = -mismatch(case, material, incident.fields)
    expected = np.linalg.lstsq(system, right, rcond=None)[0]
    solution = Sum(
        Partial(case.fields, incident, 1.0, omega),
        *(Partial(case.fields, wave, value, omega) for wave, value in zip(back, expected, strict=True)),
    )
    side = brick(DEGREE, 1 / 10, shape)
    length = 2 * np.pi / (omega * along) if degrees else 2 * side
    count = int(np.ceil(HEIGHT / side))
    heights = np.linspace(-HEIGHT, 0, count + 1)
    mesh = slice_of(heights, int(np.ceil(length / side)), length=length, width=0.8 * side, shape=shape)
    sides = {"zmin": solution, "zmax": condition}
    sim = unda.DG(mesh, medium, degree=DEGREE, boundary=sides, device="cpu", **options)
    sim.set(solution)
    sim.run(until=3.2 * 2 * np.pi / omega)
    found = amplitudes(sim, waves, physics.weights(medium), omega, -1, length)
    parts = list(zip(waves, found, strict=True))
    strength = next(value for wave, value in parts if wave is incident)
    there = np.array([value for wave, value in parts if wave.sign < 0])
    made = sum(
        value * np.linalg.lstsq(system, -mismatch(case, material, wave.fields), rcond=None)[0]
        for wave, value in parts if wave.sign > 0
    )  # fmt: skip
    return there / strength, made / strength


WAVES = {
    "sound": (Elastic("p"), SEA),
    "P": (Elastic("p"), ROCK),
    "SV": (Elastic("sv"), ROCK),
    "SH": (Elastic("sh"), ROCK),
    "TE": (Light("te"), GLASS),
    "TM": (Light("tm"), GLASS),
}
EVERY = pytest.mark.parametrize("name", WAVES)


@pytest.mark.each_value
@pytest.mark.parametrize("flux", ["upwind", "central"])
@EVERY
def test_nothing_comes_back_at_right_angles(name, flux):
    found, expected = returned(*WAVES[name], 0, flux=flux)
    assert np.abs(expected).max() < 1e-9
    assert np.abs(found).max() < BAR


@EVERY
def test_oblique_waves_come_back_as_the_impedance_says(name):
    physics, medium = WAVES[name]
    found, expected = returned(physics, medium, 30)
    assert np.abs(found - expected).max() < BAR / 2
    if name in ("sound", "SH", "TE", "TM"):
        cosine = np.cos(np.radians(30))
        assert np.abs(expected).max() == pytest.approx((1 - cosine) / (1 + cosine), rel=1e-2)
    assert np.abs(found).max() > 2 * BAR


@pytest.mark.parametrize(("name", "wall"), [("sound", "free"), ("P", "symmetry"), ("TE", "pec")])
def test_a_wall_sends_back_all(name, wall):
    found, _ = returned(*WAVES[name], 0, condition=wall)
    assert np.abs(found).max() > 0.5
