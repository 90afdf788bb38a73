"""The limit of the step on hexahedra is one, and no step is wasted on boxes.

The operator of a few cells, as a matrix: all its eigenvalues times the step lie where the integrator does not
amplify. Warped, flat and sheared cells, another material at every node, jumps of 1:100, fluids among solids,
one cell alone; then long runs from random states. Not here: tetrahedra (test_dg_stable_step.py), where the
tables come from (benchmarks/stability_hex.py).
"""

import numpy as np
import pytest
import unda
from hex_cases import box, make, remade
from pairwise import in_turn
from physics_cases import CASES, by_node, states
from test_dg_stable_step import FLUXES, SETTINGS, WORDS, growth

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
INTEGRATORS = ("lsrk4", "ab3")


def operator(sim, materials):
    """The matrix of dq/dt on the states that the materials bear: of a fluid's stress the pressure alone."""
    shape = sim.mesh.num_elem, sim.num_node, len(sim.fields)
    free, fluid = np.ones(shape, bool), np.zeros(shape[:2], bool)
    if sim.medium.physics == "elastic":
        fluid |= materials[..., 2].reshape(shape[0], -1) == 0
        free[fluid, 4:] = False
    columns = []
    for one in np.flatnonzero(free):
        state = np.zeros(shape)
        state.flat[one] = 1
        state[fluid, 4:6] = state[fluid, 3:4]
        sim.set(**dict(zip(sim.fields, np.moveaxis(state, -1, 0), strict=True)))
        rates = sim.rhs()
        columns.append(np.stack([rates[name] for name in sim.fields], axis=-1)[free])
    return np.array(columns).T


def flat(mesh, height=0.1):
    return remade(mesh, mesh.vertices * [1, 1, height])


def sheared(mesh):
    """Far from right angles."""
    return remade(mesh, mesh.vertices @ np.array([[1, 0.7, -0.6], [0, 1, 0.5], [0, 0, 1]]))


def warped_or_not(word, seed):
    """Meshes of four cells, periodic ones of twelve, with their materials."""
    periodic = (word == "periodic",) * 3
    cells = (3, 2, 2) if word == "periodic" else (2, 2, 1)
    warped, even = (box(cells, perturb=much, periodic=periodic, seed=seed) for much in (0.25, 0.0))
    if word == "periodic":
        return {"warped": (warped, "node"), "even": (even, "cell")}
    return {"warped": (warped, "node"), "sheared": (sheared(even), "cell"), "flat": (flat(warped), "cell")}


@pytest.mark.each_value
@in_turn(WORDS, FLUXES)
def test_nothing_grows_at_the_limit_of_the_step(physics, word, flux):
    case = CASES[physics]
    for seed, (mesh, per) in enumerate(warped_or_not(word, 3).values()):
        materials = case.materials(mesh.num_elem, seed, low=1, high=100)
        if per == "node":
            materials = by_node(case, mesh.num_elem, 8)
        check_limit(case, mesh, materials, word, flux, 1)


@pytest.mark.each_value
@FLUXES
@pytest.mark.parametrize(("physics", "word"), [pair for pair in WORDS.args[1] if pair[1] != "periodic"])
def test_nothing_grows_at_the_limit_of_one_warped_cell(physics, word, flux):
    """Of degree 2, every side the same."""
    case, mesh = CASES[physics], box((1, 1, 1), perturb=0.25)
    check_limit(case, flat(mesh, 0.6), case.materials(1, 1, case.kinds[-1], low=1, high=1), word, flux, 2)


def check_limit(case, mesh, materials, word, flux, degree):
    eigenvalues = None
    for integrator in INTEGRATORS:
        sim = make(mesh, case, materials, word, degree, flux=flux, integrator=integrator)
        if eigenvalues is None:
            eigenvalues = np.linalg.eigvals(operator(sim, materials))
        assert growth(eigenvalues, sim.dt_stable, integrator) < 1 + 1e-9


@pytest.mark.slow
@FLUXES
@WORDS
def test_nothing_grows_at_the_limit_of_the_step_of_degree_2(physics, word, flux):
    case = CASES[physics]
    for seed, (mesh, per) in enumerate(warped_or_not(word, 4).values()):
        materials = case.materials(mesh.num_elem, seed, low=1, high=100)
        if per == "node":
            materials = by_node(case, mesh.num_elem, 27)
        check_limit(case, mesh, materials, word, flux, 2)


#: Walls with which boxes of equal cells have their fastest modes, and a material.
BOXES = {
    "acoustic": ("free", [1.0, 1.0]),
    "elastic": ("periodic", [1.0, 1.0, 0.6]),
    "maxwell": ("pec", [1.0, 1.0, 0.0]),
}


@pytest.mark.each_value
@FLUXES
@pytest.mark.parametrize(
    ("physics", "degree"), [("acoustic", 1), ("acoustic", 2), ("elastic", 1), ("maxwell", 1)]
)
def test_no_step_is_wasted_on_a_box_of_equal_cells(physics, degree, flux):
    """15 % beyond the limit something grows: 5 % are a margin, up to 7 % what degrees and fluxes share."""
    case, (word, material) = CASES[physics], BOXES[physics]
    cells, periodic = (2, 2, 2) if degree == 1 else (2, 2, 1), (word == "periodic",) * 3
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells, shape="hex", periodic=periodic)
    materials, eigenvalues = np.tile(material, (mesh.num_elem, 1)), None
    for integrator in INTEGRATORS:
        sim = make(mesh, case, materials, word, degree, flux=flux, integrator=integrator)
        eigenvalues = np.linalg.eigvals(operator(sim, materials)) if eigenvalues is None else eigenvalues
        assert growth(eigenvalues, sim.dt_stable, integrator) < 1 + 1e-9
        assert growth(eigenvalues, 1.15 * sim.dt_stable, integrator) > 1 + 1e-6


@pytest.mark.parametrize("ratio", [0.3, 0.45, 0.577, 0.85])
def test_thin_bars_of_any_solid_are_stable(ratio):
    """Free sides, a cell wide: stresses across both thin axes are damped together."""
    mesh, materials = unda.box_mesh((0, 0, 0), (1, 0.1, 0.1), (1, 1, 1), shape="hex"), [[1.0, 1.0, ratio]]
    for degree in (1, 2):
        check_limit(CASES["elastic"], mesh, np.array(materials), "free", "upwind", degree)


@pytest.mark.each_value
@FLUXES
@pytest.mark.parametrize("physics", ["acoustic", "maxwell"])
def test_axes_that_are_not_orthogonal_shorten_the_step(physics, flux):
    """Equal periodic cells whose axes are nearly in line: a wave across all of them is the fastest."""
    case, (_, material) = CASES[physics], BOXES[physics]
    even = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex", periodic=(True,) * 3)
    mesh = remade(even, even.vertices @ np.array([[1, 0, 0], [0.9, 0.4, 0], [0.9, 0.2, 0.4]]))
    check_limit(case, mesh, np.tile(material, (mesh.num_elem, 1)), "periodic", flux, 1)


def late_energies(physics, word, *, degree, seed, steps, **options):
    """Energies over the last quarter of a run from a random state, at the limit of the step."""
    case, periodic = CASES[physics], (word == "periodic",) * 3
    mesh = flat(box((3, 2, 2), periodic=periodic, seed=seed), 0.3)
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, seed)
    stable = make(mesh, case, materials, word, degree, **options).dt_stable
    sim = make(mesh, case, materials, word, degree, dt=stable, allow_unstable=True, **options)
    sim.set(**dict(zip(sim.fields, np.moveaxis(states(case, materials, seed), -1, 0), strict=True)))
    sim.run(steps=3 * steps // 4)
    found = [sim.energy()]
    sim.run(steps=steps // 4, callback=lambda sim: found.append(sim.energy()), every=25)
    return np.array(found)


@pytest.mark.each_value
@pytest.mark.parametrize("degree", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 5, 10))])
@in_turn(WORDS, SETTINGS)
def test_random_states_in_random_media_never_grow(physics, word, degree, flux, integrator):
    steps = 800 if degree == 3 else 2000
    found = late_energies(
        physics, word, degree=degree, seed=degree, flux=flux, integrator=integrator, steps=steps
    )
    assert (np.diff(found) <= 1e-12 * found[:-1]).all()


@pytest.mark.parametrize("physics", CASES)
def test_four_times_the_limit_is_too_much(physics):
    case, mesh = CASES[physics], box((2, 2, 1), perturb=0.1)
    materials = case.materials(mesh.num_elem, 1, case.kinds[-1], low=1, high=1)
    dt = 4 * make(mesh, case, materials, "absorbing", 2).dt_stable
    sim = make(mesh, case, materials, "absorbing", 2, dt=dt, allow_unstable=True)
    q = states(case, np.repeat(materials[:, None], 27, axis=1))
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    with pytest.raises(unda.UnstableError):
        sim.run(steps=2000)
