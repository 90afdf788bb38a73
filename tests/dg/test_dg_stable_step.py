"""The limit of the step that a simulation finds is one: nothing grows, whatever stands in the cells.

The operator of a few cells, as a matrix: all its eigenvalues times the step lie where the integrator does
not amplify. Random materials up to 1:100 apart, fluids among solids, conductors, flat cells. Then long runs
of larger meshes from random states, in which the modes that grow, if any, are all that is left.
Not here: what a mode of a box loses (test_dg_energy.py).
"""

import numpy as np
import pytest
import unda
from pairwise import in_turn
from physics_cases import CASES
from test_dg_energy import amplification
from wave_runs import named_sides

FLUXES = pytest.mark.parametrize("flux", ["upwind", "central"])
WORDS = pytest.mark.parametrize(
    ("physics", "word"),
    [(name, word) for name, case in CASES.items() for word in (*case.walls, "absorbing", "periodic")],
)


def flat_box(cells, word, height, seed):
    """A perturbed box, then lowered."""
    periodic = (word == "periodic",) * 3
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells, periodic=periodic, perturb=0.2, seed=seed)
    vertices = mesh.vertices * [1, 1, height]
    return unda.Mesh(vertices, mesh.cells, boundaries=named_sides(mesh), periodic=mesh.periodic)


def make(case, mesh, materials, word, **options):
    boundary = None if word == "periodic" else {"*": word}
    medium = case.made_of(materials)
    return unda.DG(mesh, medium, boundary=boundary, dtype="float64", device="cpu", **options)


def operator(sim):
    """The matrix of dq/dt on the states that the materials bear: of a fluid's stress the pressure alone."""
    shape = sim.mesh.num_elem, sim.num_node, len(sim.fields)
    free = np.ones(shape, bool)
    fluid = sim.medium.on(sim.mesh)[:, 2] == 0 if sim.medium.physics == "elastic" else []
    states = np.eye(int(np.prod(shape))).reshape(-1, *shape)
    if np.any(fluid):
        free[fluid, :, 4:] = False
        states = states[free.ravel()]
        states[:, fluid, :, 4:6] = states[:, fluid, :, 3:4]
    columns = []
    for state in states:
        sim.set(**dict(zip(sim.fields, np.moveaxis(state, -1, 0), strict=True)))
        rates = sim.rhs()
        columns.append(np.stack([rates[name] for name in sim.fields], axis=-1)[free])
    return np.array(columns).T


def growth(eigenvalues, dt, integrator):
    """Largest factor by which a step multiplies a mode."""
    z = eigenvalues * dt
    if integrator == "lsrk4":
        return np.abs(amplification(z)).max()
    rows = np.zeros((len(z), 3, 3), complex)  # x^3 - x^2 = z (23 x^2 - 16 x + 5) / 12
    rows[:, 0] = np.stack([1 + 23 * z / 12, -16 * z / 12, 5 * z / 12], axis=1)
    rows[:, 1, 0] = rows[:, 2, 1] = 1
    return np.abs(np.linalg.eigvals(rows)).max()


@pytest.mark.each_value
@in_turn(WORDS, FLUXES)
def test_nothing_grows_at_the_limit_of_the_step(physics, word, flux):
    """And something does at four times of it, where all cells are alike: no step is wasted."""
    case = CASES[physics]
    for seed, (kind, contrast, height) in enumerate(
        [(case.kinds[-1], 1, 1.0), (case.kinds[0], 10, 1.0), (case.kinds[0], 100, 0.1)]
    ):
        mesh = flat_box((1, 1, 1), word, height, seed)
        materials = case.materials(mesh.num_elem, seed, kind, low=1, high=contrast)
        sim = make(case, mesh, materials, word, flux=flux, degree=1)
        eigenvalues = np.linalg.eigvals(operator(sim))
        for integrator in ("lsrk4", "ab3"):
            dt = make(case, mesh, materials, word, flux=flux, degree=1, integrator=integrator).dt_stable
            assert growth(eigenvalues, dt, integrator) < 1 + 1e-9
            assert contrast > 1 or growth(eigenvalues, 4 * dt, integrator) > 1.01


def late_energies(physics, word, *, degree, seed, steps=2000, factor=1.0, **options):
    """Energies over the last quarter of a run from a random state, at the limit of the step."""
    case, mesh = CASES[physics], flat_box((2, 2, 2), word, 0.3, seed)
    materials = case.materials(mesh.num_elem, seed, low=1, high=10)
    stable = make(case, mesh, materials, word, degree=degree, **options).dt_stable
    sim = make(case, mesh, materials, word, degree=degree, dt=factor * stable, allow_unstable=True, **options)
    q = case.states(materials, sim.num_node, seed)
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    sim.run(steps=3 * steps // 4)
    found = [sim.energy()]
    sim.run(steps=steps // 4, callback=lambda sim: found.append(sim.energy()), every=25)
    return np.array(found)


#: Those in even places have both fluxes and both integrators, and so have the others: in_turn.
SETTINGS = pytest.mark.parametrize(
    ("flux", "integrator"), [("upwind", "lsrk4"), ("upwind", "ab3"), ("central", "ab3"), ("central", "lsrk4")]
)


@pytest.mark.each_value
@pytest.mark.parametrize("degree", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
@in_turn(WORDS, SETTINGS)
def test_random_states_in_random_media_never_grow(physics, word, degree, flux, integrator):
    found = late_energies(physics, word, degree=degree, seed=degree, flux=flux, integrator=integrator)
    assert (np.diff(found) <= 1e-12 * found[:-1]).all()


@pytest.mark.slow
@SETTINGS
@pytest.mark.parametrize("degree", [2, 4, 6])
@WORDS
def test_random_states_in_random_media_never_grow_in_20000_steps(physics, word, degree, flux, integrator):
    options = {"degree": degree, "flux": flux, "integrator": integrator, "steps": 20000 // degree}
    found = late_energies(physics, word, seed=degree + 10, **options)
    assert (np.diff(found) <= 1e-12 * found[:-1]).all()


@pytest.mark.parametrize("physics", CASES)
def test_they_do_above_the_limit(physics):
    with pytest.raises(unda.UnstableError):
        late_energies(physics, "absorbing", degree=1, seed=1, flux="upwind", integrator="lsrk4", factor=4.0)


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_conduction_far_faster_than_the_waves_is_damped_stably(integrator):
    """sigma/eps = 1e4 c/h: dt follows it, the field decays and a dt above the limit is refused."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    options = {"degree": 2, "boundary": {"*": "pec"}, "dtype": "float64", "integrator": integrator}
    free = unda.DG(mesh, unda.Maxwell(eps=1.0, mu=1.0), **options)
    medium = unda.Maxwell(eps=1.0, mu=1.0, sigma=1e4)
    sim = unda.DG(mesh, medium, **options)
    assert sim.dt * 1e4 < 4.6 and sim.dt < free.dt
    rng = np.random.default_rng(0)
    sim.set(ex=rng.standard_normal((mesh.num_elem, sim.num_node)))
    energies = [sim.energy()]
    for _ in range(20):
        sim.step(5)
        energies.append(sim.energy())
    assert energies[1] < 0.01 * energies[0] and np.all(np.diff(energies[5:]) < 0)
    with pytest.raises(unda.ArgumentError, match="stable"):
        unda.DG(mesh, medium, dt=free.dt, **options)
    assert any("conduction" in text for text in sim.check().notes)
    assert not any("conduction" in text for text in free.check().notes)
