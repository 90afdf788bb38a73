"""Over many periods the central flux loses only what the integrator damps, and upwind never gains.

Central flux: dq/dt = A q with A skew in the energy norm, so that a step multiplies each mode i w of A by
R(i w dt) and the loss is sum (1 - |R|^(2n)) E_w <= n max_y[(1 - |R(i y)|^2) / y^6] dt^6 |A^3 q|^2: exact for
any state, and A^3 q comes from sim.rhs. Boxes of one medium and of layers 1:10 apart in impedance, fluids on
solids among them. Not here: one right-hand side (test_dg_rhs.py), the limit of the step
(test_dg_stable_step.py).
"""

import numpy as np
import pytest
import unda
from unda import exact
from wave_problems import ACROSS, AIR, GLASS, ROCK
from wave_runs import CUBE, AsSound, LayeredMode, box, layered, two_media

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


SOFT, STIFF = unda.Elastic(rho=1.0, vp=1.0, vs=0.6), unda.Elastic(rho=5.0, vp=2.0, vs=1.2)
WATER, OIL = unda.Elastic(rho=1.0, vp=1.0, vs=0.0), unda.Elastic(rho=5.0, vp=2.0, vs=0.0)
DENSE = unda.Maxwell(eps=10.0, mu=0.1)


def one(medium, mode, wall):
    return lambda: (box(2), medium, mode, {"*": wall})


def layers(first, second, order=1):
    """Elastic media with lubricated walls."""
    return lambda: (
        layered(2),
        two_media(first, second),
        LayeredMode(first, second, order=order),
        {"*": "symmetry"},
    )


def layers_of_sound():
    media = (unda.Acoustic(rho=values["rho"], c=values["vp"]) for values in (WATER.scalar(), OIL.scalar()))
    return layered(2), two_media(*media), AsSound(LayeredMode(WATER, OIL)), {"*": "rigid"}


def layers_of_light():
    """Across x, as the mode has them."""
    mesh = layered(2)
    sides = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    turned = unda.Mesh(
        mesh.vertices[:, [2, 0, 1]], mesh.cells, tags=mesh.tags, tag_names=mesh.tag_names, boundaries=sides
    )
    mode = exact.cavity_mode_two_media(unda.Maxwell(eps=1.0, mu=1.0), DENSE, *CUBE, position=0.5, n=(0, 1))
    return turned, two_media(unda.Maxwell(eps=1.0, mu=1.0), DENSE), mode, {"*": "pec"}


BOXES = {
    "sound, rigid": one(AIR, exact.rigid_box_mode(AIR, *CUBE, n=(1, 1, 1)), "rigid"),
    "sound, free": one(AIR, exact.free_box_mode(AIR, *CUBE, n=(1, 1, 1)), "free"),
    "sound in layers": layers_of_sound,
    "rock, free": one(ROCK, exact.lame_mode(ROCK, *CUBE), "free"),
    "rock, lubricated": one(
        ROCK, exact.lubricated_box_mode(ROCK, *CUBE, n=(1, 1, 1), kind="s", polarization=(1, -1, 0.5)),
        "symmetry",
    ),
    "layers of rock": layers(SOFT, STIFF),
    "water on rock": layers(STIFF, WATER, 2),
    "rock on water": layers(WATER, STIFF, 2),
    "water on oil": layers(OIL, WATER),
    "light": one(GLASS, exact.cavity_mode(GLASS, *CUBE, polarization=ACROSS), "pec"),
    "light, magnetic": one(
        GLASS, exact.cavity_mode(GLASS, *CUBE, polarization=ACROSS, walls={"*": "pmc"}), "pmc"
    ),
    "layers of light": layers_of_light,
}  # fmt: skip


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


def make(name, degree=3, **options):
    """A simulation in a mode of its box, and the period."""
    mesh, medium, mode, boundary = BOXES[name]()
    options |= {"degree": degree, "boundary": boundary, "dtype": "float64", "device": "cpu"}
    sim = unda.DG(mesh, medium, **options)
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


def check_losses(name, periods):
    sim, period = make(name, flux="central", cfl=0.25)
    third = energy_of_third_derivative(sim)
    energy = energies(sim, periods * period)
    bound = sim.step_count * damping_constant() * sim.dt**6 * third
    assert (np.diff(energy) < 0).all()
    assert 0 < energy[0] - energy[-1] < bound < 1e-3 * energy[0]
    upwind, _ = make(name, flux="upwind", dt=sim.dt, allow_unstable=True)
    energy = energies(upwind, 0.3 * periods * period)
    assert energy[0] - energy[-1] > 10 * bound


#: Whose walls or media another has as well.
ALIKE = ("sound, free", "rock, lubricated", "rock on water", "water on oil", "light, magnetic")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in BOXES]
)
def test_central_flux_loses_only_what_lsrk4_damps(name):
    check_losses(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOXES)
def test_central_flux_loses_only_what_lsrk4_damps_in_100_periods(name):
    check_losses(name, 100)


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("flux", "integrator", "name"),
    [
        pytest.param(*kind, name, marks=[pytest.mark.slow] * (name in ALIKE or (i + j) % 3 == 2))
        for i, kind in enumerate([("upwind", "lsrk4"), ("upwind", "ab3"), ("central", "ab3")])
        for j, name in enumerate(BOXES)
    ],
)
def test_energy_never_grows(name, flux, integrator):
    sim, period = make(name, flux=flux, integrator=integrator, degree=2)
    assert (np.diff(energies(sim, 10 * period, samples=100)) < 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("flux", ["upwind", "central"])
def test_energy_never_grows_in_500_periods(name, flux):
    sim, period = make(name, flux=flux, degree=2)
    assert (np.diff(energies(sim, 500 * period, samples=2000)) < 0).all()


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["sound, rigid", "water on rock", "layers of light"])
def test_energy_grows_above_the_stable_step(name):
    stable = make(name)[0].dt_stable
    sim, _ = make(name, dt=2.5 * stable, allow_unstable=True)
    with pytest.raises(unda.UnstableError):
        energies(sim, 100.0)
