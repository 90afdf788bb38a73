"""Over a hundred periods the central flux loses only what the integrator damps, and upwind never gains.

Central flux: dq/dt = A q with A skew in the energy norm, so that a step multiplies each mode i w of A by
R(i w dt) and the loss is sum (1 - |R|^(2n)) E_w <= n max_y[(1 - |R(i y)|^2) / y^6] dt^6 |A^3 q|^2: exact
for any state, and A^3 q comes from sim.rhs. Not here: one right-hand side (test_dg_rhs.py).
"""

import numpy as np
import pytest
import unda

MEDIUM = unda.Acoustic(rho=1.3, c=0.9)
LOWER, UPPER = (0, 0, 0), (1, 1.1, 0.9)
# Carpenter & Kennedy (1994), 2N-storage: r = a r + dt f(q), q = q + b r.
LSRK_A = (
    0,
    -567301805773 / 1357537059087,
    -2404267990393 / 2016746695238,
    -3550918686646 / 2091501179385,
    -1275806237668 / 842570457699,
)
LSRK_B = (
    1432997174477 / 9575080441755,
    5161836677717 / 13612068292357,
    1720146321549 / 2090206949498,
    3134564353537 / 4481467310338,
    2277821191437 / 14882151754819,
)


def amplification(z):
    q, r = np.ones_like(z), np.zeros_like(z)
    for a, b in zip(LSRK_A, LSRK_B, strict=True):
        r = a * r + z * q
        q = q + b * r
    return q


def damping_constant():
    """Largest (1 - |R(i y)|^2) / y^6 up to the stable limit 3.34; R is of order 4, so it is bounded at 0."""
    y = np.linspace(0.05, 3.34, 2000)
    return ((1 - np.abs(amplification(1j * y)) ** 2) / y**6).max()


def make(wall="rigid", degree=3, **options):
    mesh = unda.box_mesh(LOWER, UPPER, (2, 2, 2), perturb=0.15, seed=1)
    mode = getattr(unda.exact, f"{wall}_box_mode")(MEDIUM, LOWER, UPPER, n=(1, 1, 1))
    options |= {"degree": degree, "boundary": {"*": wall}, "dtype": "float64", "device": "cpu"}
    sim = unda.DG(mesh, MEDIUM, **options)
    sim.set(mode)
    return sim, 2 * np.pi / mode.omega


def energies(sim, duration, samples=50):
    """Energy at the start and at `samples` later times."""
    every = int(np.ceil(duration / sim.dt / samples))
    found = [sim.energy()]
    sim.run(steps=every * samples, callback=lambda s: found.append(s.energy()), every=every)
    return np.array(found)


def energy_of_third_derivative(sim):
    t, start = sim.t, {name: sim.get(name) for name in sim.fields}
    for _ in range(3):
        sim.set(**sim.rhs())
    energy = sim.energy()
    sim.set(**start, t=t)
    return energy


@pytest.mark.parametrize("wall", ["rigid", "free"])
def test_central_flux_loses_only_what_lsrk4_damps_in_100_periods(wall):
    sim, period = make(wall, flux="central", cfl=0.3)
    third = energy_of_third_derivative(sim)
    energy = energies(sim, 100 * period)
    bound = sim.step_count * damping_constant() * sim.dt**6 * third
    assert (np.diff(energy) < 0).all()
    assert 0 < energy[0] - energy[-1] < bound < 1e-4 * energy[0]
    upwind, _ = make(wall, flux="upwind", dt=sim.dt)
    energy = energies(upwind, 100 * period)
    assert energy[0] - energy[-1] > 100 * bound


@pytest.mark.parametrize("wall", ["rigid", "free"])
@pytest.mark.parametrize(("flux", "integrator"), [("upwind", "lsrk4"), ("upwind", "ab3"), ("central", "ab3")])
def test_energy_never_grows_in_100_periods(wall, flux, integrator):
    sim, period = make(wall, flux=flux, integrator=integrator, degree=2)
    assert (np.diff(energies(sim, 100 * period, samples=400)) < 0).all()


def test_energy_grows_above_the_stable_step():
    stable = make()[0].dt_stable
    sim, _ = make(dt=2.5 * stable, allow_unstable=True)
    with pytest.raises(unda.UnstableError):
        energies(sim, 100.0)
