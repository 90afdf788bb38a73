"""The staggered schemes conserve their discrete energy, in any medium and any walls.

E = V/2 sum [rho v(t - dt/2) v(t + dt/2) + s : S : s]: exact with half cells at nodes on walls, free surfaces
and fluids included. Not here: point sources (test_staggered_points.py), layers (test_cpml.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import HALF_STEP, ORDERS, WALLS, boundary, random_medium, random_state, staggered

SHAPE, SPACING = (9, 7, 10), (1.0, 0.8, 1.3)
GRID = unda.Grid(SHAPE, SPACING)
PERIODIC = ("periodic", "periodic")
BOXES = [
    (physics, sides)
    for physics, walls in WALLS.items()
    for sides in (
        (PERIODIC,) * 3,
        ((walls[0], walls[1]), (walls[-1], walls[0]), PERIODIC),
        ((walls[0],) * 2, PERIODIC, (walls[0], walls[-1])),
        ((walls[1], walls[-1]), (walls[0],) * 2, (walls[-1], walls[0])),
        ((walls[0],) * 2,) * 3,
    )
]


def box(physics, sides, order, seed=0, **options):
    rng = np.random.default_rng(seed)
    medium = random_medium(physics, SHAPE, rng)
    sim = staggered(GRID, medium, order=order, boundary=boundary(*sides), **options)
    return sim, random_state(physics, SHAPE, rng)


def energies(sim, steps, every):
    found = [sim.energy()]
    for _ in range(steps // every):
        sim.step(every)
        found.append(sim.energy())
    return np.array(found)


@pytest.mark.each_value("physics", "sides")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("physics, sides", BOXES)
def test_energy_is_conserved_in_any_medium(physics, sides, order):
    """1,000 steps in float64 at 0.9 of the limit: 10 sqrt(1000) eps = 7e-14 by chance, the bar is 1e-12.

    The step is that of the fastest node; means of densities may be half of one, so 0.7 of the limit.
    """
    sim, state = box(physics, sides, order, cfl=0.7)
    sim.set(**state)
    found = energies(sim, 1000, 200)
    assert found[0] > 0 and np.abs(found / found[0] - 1).max() < 1e-12
    assert any(np.abs(sim.get(name) - state[name]).max() > 0.1 for name in state)


@pytest.mark.each_value
@pytest.mark.parametrize("order", (2, 8))
@pytest.mark.parametrize("physics", WALLS)
def test_energy_is_conserved_behind_layers_that_take_nothing(physics, order):
    """All is 0 behind a layer: differences of what is left of the grid are each other's adjoint, too.

    R0 = 1 - eps takes some eps of a wave on its way; layers of one node are thinner than a difference.
    """
    layer = unda.CPML(width=1, f0=1e-12, R0=1 - 2**-52, ratio=0.0)
    sides = ((layer, layer), (layer, WALLS[physics][0]), (WALLS[physics][-1], layer))
    sim, state = box(physics, sides, order, cfl=0.7)
    sim.set(**state)
    found = energies(sim, 1000, 200)
    assert found[0] > 0 and np.abs(found / found[0] - 1).max() < 1e-12


@pytest.mark.first(1)
@pytest.mark.parametrize("physics", WALLS)
def test_energy_is_conserved_in_a_long_run(physics):
    """20,000 steps and 630 nodes: chance makes 10 sqrt(20000/630) eps = 1.3e-14 of it, and three times that
    is the bar; a loss or gain of an eps in each step 20000 eps = 4e-12."""
    walls = WALLS[physics]
    sides = ((walls[0], walls[-1]), (walls[1], walls[0]), (walls[-1],) * 2)
    sim, state = box(physics, sides, 4, cfl=0.7)
    sim.set(**state)
    found = energies(sim, 20_000, 1000)
    assert np.abs(found / found[0] - 1).max() < 4e-14


def test_a_loss_of_a_few_eps_a_step_is_seen():
    """A conductor that takes sigma dt/eps = 3e-15 of E in a step."""
    medium = unda.Maxwell(eps=1.5, mu=1.5, sigma=1e-14)
    sim = staggered(GRID, medium, boundary={"*": "pec"}, cfl=0.7)
    sim.set(**random_state("maxwell", SHAPE, np.random.default_rng(0)))
    found = energies(sim, 2000, 2000)
    assert found[1] < (1 - 4e-14) * found[0]


def test_conductors_take_energy():
    """sigma E^2 is lost in every step, and nothing is gained."""
    rng = np.random.default_rng(1)
    medium = random_medium("maxwell", SHAPE, rng, lossless=False)
    sim = staggered(GRID, medium, boundary={"*": "pec"}, cfl=0.7)
    sim.set(**random_state("maxwell", SHAPE, rng))
    found = energies(sim, 200, 1)
    assert (np.diff(found) <= 1e-13 * found[0]).all() and found[-1] < 0.3 * found[0]  # the rest is static H


def test_conduction_has_the_numerical_rate():
    """Uniform E in a conductor without walls: E falls by (eps - sigma dt/2)/(eps + sigma dt/2) each step."""
    sim = staggered(GRID, unda.Maxwell(eps=2.0, mu=1.0, sigma=0.7), boundary={"*": "periodic"})
    sim.set(ex=3.0, hx=0.0)
    sim.step(100)
    ratio = (2.0 - 0.35 * sim.dt) / (2.0 + 0.35 * sim.dt)
    assert np.allclose(sim.get("ex"), 3.0 * ratio**100, rtol=1e-13, atol=0)


# ---- between two media E lies half in each


def between(values, axis):
    """Mean over both halves of the way from a node to the next one, periodic."""
    return (values + np.roll(values, -1, axis)) / 2


def contrasts(rng, **more):
    """Up to ten times the eps beside a node's, conductors with sigma dt/eps to 1 beside none."""
    sigma = np.where(rng.uniform(size=SHAPE) < 0.5, 0, rng.uniform(0, 5, SHAPE))
    return {"eps": 10 ** rng.uniform(0, 1, SHAPE), "mu": rng.uniform(1, 3, SHAPE), "sigma": sigma} | more


def test_the_energy_of_e_is_that_of_one_d_in_both_media():
    """V/2 sum E^2 / <1/eps>, while H is 0."""
    rng = np.random.default_rng(3)
    given = contrasts(rng)
    sim = staggered(GRID, unda.Maxwell(**given), boundary={"*": "periodic"}, cfl=0.7)
    sim.set(**{name: 0.0 if name[0] == "h" else rng.standard_normal(SHAPE) for name in sim.fields})
    wanted = sum((sim.get("e" + "xyz"[i]) ** 2 / between(1 / given["eps"], i)).sum() for i in range(3))
    assert sim.energy() == pytest.approx(np.prod(SPACING) / 2 * wanted, rel=1e-13)


def test_conductors_take_what_both_of_their_halves_do():
    """A step takes dt V sum sigma' E^2, E the mean of both times: of one D, <sigma/eps^2> / <1/eps>^2."""
    rng = np.random.default_rng(4)
    given = contrasts(rng)
    sim = staggered(GRID, unda.Maxwell(**given), boundary={"*": "periodic"}, cfl=0.7)
    sim.set(**random_state("maxwell", SHAPE, rng))
    start = sim.energy()
    for _ in range(20):
        energy, electric = sim.energy(), [sim.get("e" + one) for one in "xyz"]
        sim.step(1)
        heat = 0.0
        for i, one in enumerate("xyz"):
            mean = (electric[i] + sim.get("e" + one)) / 2
            sigma = between(given["sigma"] / given["eps"] ** 2, i) / between(1 / given["eps"], i) ** 2
            heat += (sigma * mean**2).sum()
        assert energy - sim.energy() == pytest.approx(sim.dt * np.prod(SPACING) * heat, abs=1e-13 * energy)
    assert sim.energy() < 0.6 * start


def test_the_limit_holds_beside_any_eps():
    """<1/eps> is at most the larger one's, so that the fastest node bounds the rest where mu is one. Energy
    is at least 1 - 0.99^2 of that of E, and stays: 10,000 steps and 10 roundings each, 1e-13 by chance."""
    rng = np.random.default_rng(5)
    given = contrasts(rng, mu=1.5, sigma=0.0)
    sim = staggered(GRID, unda.Maxwell(**given), boundary={"*": "periodic"}, cfl=0.99)
    sim.set(**random_state("maxwell", SHAPE, rng))
    start = sim.energy()
    for _ in range(10):
        sim.step(1000)
        assert sim.energy() == pytest.approx(start, rel=1e-12)
        electric = sum((sim.get("e" + "xyz"[i]) ** 2 / between(1 / given["eps"], i)).sum() for i in range(3))
        assert np.prod(SPACING) / 2 * electric < start / (1 - 0.99**2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conductors_may_be_perfect(dtype):
    """In SI units, among nodes without loss: at sigma dt/eps of 1e17 as at 1e31, which no float32 holds.

    200 steps of some 5 roundings each."""
    rng = np.random.default_rng(6)
    metal, eps0, mu0 = rng.uniform(size=SHAPE) < 0.3, 8.8541878128e-12, 4e-7 * np.pi
    eps, state, found = eps0 * rng.uniform(1, 3, SHAPE), random_state("maxwell", SHAPE, rng), {}
    state = {name: value * (1 if name[0] == "e" else np.sqrt(eps0 / mu0)) for name, value in state.items()}
    for sigma in (1e16, 1e30):
        medium = unda.Maxwell(eps=eps, mu=mu0, sigma=np.where(metal, sigma, 0))
        sim = staggered(GRID, medium, boundary={"*": "pec"}, cfl=0.9, dtype=dtype)
        sim.set(**state)
        energy = energies(sim, 200, 20)
        assert (energy > 0).all() and (energy < energy[0] * (1 + 1e3 * np.finfo(dtype).eps)).all()
        found[sigma] = sim.get("ex")
    assert np.abs(found[1e16] - found[1e30]).max() < 1e3 * np.finfo(dtype).eps * np.abs(found[1e30]).max()


def test_energy_is_the_one_of_the_textbook():
    """Of constants: volume (up to walls at the nodes, n h if periodic) times the density of energy."""
    volume = np.prod((np.array(SHAPE) - 1) * SPACING)
    sim = staggered(GRID, unda.Acoustic(rho=2.0, c=3.0), boundary={"*": "rigid"})
    sim.set(p=5.0, vx=0.0)
    assert sim.energy() == pytest.approx(volume * 25 / (2 * 2 * 9), rel=1e-12)
    medium = unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
    sim = staggered(GRID, medium, boundary={"*": "periodic"})
    stress = np.array([[1.0, 0.3, -0.2], [0.3, -2.0, 0.7], [-0.2, 0.7, 0.4]])
    names = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}
    velocity = dict(vx=1.0, vy=2.0, vz=-3.0)
    sim.set(**{name: stress[pair] for name, pair in names.items()}, **velocity)
    mu, lam = 4.5, 2 * 9 - 9.0
    strain = (stress - lam / (3 * lam + 2 * mu) * np.trace(stress) * np.eye(3)) / (2 * mu)
    density = 0.5 * (stress * strain).sum() + 0.5 * 2.0 * 14.0
    assert sim.energy() == pytest.approx(np.prod(SHAPE) * np.prod(SPACING) * density, rel=1e-12)


@pytest.mark.parametrize("physics", WALLS)
def test_time_runs_back(physics):
    """With fields of half steps reversed, taken from their other side of t, 100 steps lead back."""
    walls = WALLS[physics]
    sim, state = box(physics, ((walls[0], walls[1]), PERIODIC, (walls[1], walls[0])), 4, cfl=0.7)
    sim.set(**state)
    start = {name: sim.get(name) for name in sim.fields}
    sim.step(100)
    there = {name: sim.get(name) for name in sim.fields}
    sim.step(1)  # v at t + dt/2
    back = {name: -sim.get(name) if name in HALF_STEP[physics] else there[name] for name in sim.fields}
    sim.set(**back)
    sim.step(100)
    for name in (one for one in sim.fields if one not in HALF_STEP[physics]):
        assert np.abs(sim.get(name) - start[name]).max() < 1e-11 * np.abs(there[name]).max(), name
        assert np.abs(there[name] - start[name]).max() > 0.1


def test_single_precision_keeps_it_to_its_rounding():
    """10 sqrt(1000) 2^-24 = 2e-5 if by chance."""
    for physics in WALLS:
        sides = BOXES[1][1] if physics == "acoustic" else ((WALLS[physics][0],) * 2,) * 3
        sim, state = box(physics, sides, 4, cfl=0.7, dtype="float32")
        sim.set(**state)
        found = energies(sim, 1000, 100)
        assert np.abs(found / found[0] - 1).max() < 2e-4


@pytest.mark.parametrize("physics", WALLS)
def test_what_walls_hold_at_zero_stays(physics):
    """Of any state given; and a field half a cell beyond a wall is the image of the one before."""
    for side in WALLS[physics]:
        sim, state = box(physics, ((side,) * 2,) * 3, 4, cfl=0.7)
        sim.set(**state)
        sim.step(20)
        odd = {"rigid": "vz", "symmetry": "syz", "pmc": "hx"}.get(side)
        if odd:
            found = sim.get(odd)
            assert (found[:, :, -1] == -found[:, :, -2]).all() and np.abs(found[:, :, -1]).max() > 0
            continue
        found = sim.get({"free": "p" if physics == "acoustic" else "szz", "fixed": "vx", "pec": "ex"}[side])
        ends = [-1] if side == "fixed" else [0, -1]  # a fluid slides along zmin
        assert (found[:, :, ends] == 0).all() and np.abs(found).max() > 0


def test_a_free_fluid_and_a_free_solid_are_one_scheme():
    """vs = 0 is the acoustic scheme: p = -sxx = -syy = -szz to rounding, with a free surface."""
    rng = np.random.default_rng(2)
    rho, c = rng.uniform(1, 3, SHAPE), rng.uniform(1, 2, SHAPE)
    runs = {}
    p = rng.standard_normal(SHAPE)
    p[:, :, -1] = 0
    for medium in (unda.Acoustic(rho=rho, c=c), unda.Elastic(rho=rho, vp=c, vs=0.0)):
        wall = "rigid" if medium.physics == "acoustic" else "symmetry"
        sides = boundary(PERIODIC, PERIODIC, (wall, "free"))
        sim = staggered(GRID, medium, boundary=sides, cfl=0.7)
        names = ("p",) if medium.physics == "acoustic" else ("sxx", "syy", "szz")
        sim.set(**{name: p if name == "p" else -p for name in names})
        sim.step(100)
        runs[medium.physics] = [sim.get("p")] if names == ("p",) else [-sim.get(name) for name in names]
    for stress in runs["elastic"]:
        assert np.abs(stress - runs["acoustic"][0]).max() < 1e-12 * np.abs(runs["acoustic"][0]).max()


@pytest.mark.slow
@pytest.mark.parametrize("physics, sides", BOXES)
def test_energy_is_conserved_over_100000_steps(physics, sides):
    """10 sqrt(100000) eps = 7e-13 by chance."""
    sim, state = box(physics, sides, 4, cfl=0.7)
    sim.set(**state)
    found = energies(sim, 100_000, 20_000)
    assert np.abs(found / found[0] - 1).max() < 1e-11
