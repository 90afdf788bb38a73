"""The right-hand side on hexahedra is that of the equations, state by state, and keeps what they keep.

Warped cells numbered any way, so that faces meet in all eight turns; another material at every node, fluids
among solids, conductors. The reference (nodal_reference.py) knows the equations and the quadrature alone. All
that follows holds to rounding, with no error of time or space: constants, energy, totals, the adjoint.
Not here: orders (test_dg_hex_orders.py), the stable step (test_dg_hex_stable_step.py).
"""

import numpy as np
import pytest
import unda
from hex_cases import LOWER, UPPER, apply, box, make
from hex_meshes import CORNERS, turned, turns
from nodal_reference import Hexahedra, lobatto
from pairwise import in_turn
from physics_cases import CASES, by_node, states
from test_dg_rhs import EVERY_WORD, FLUXES, KINDS, PHYSICS, STEADY, backwards, without_fluids_moved
from wave_runs import named_sides

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # identities hold, resolved or not

PERIOD = np.subtract(UPPER, LOWER)
PERIODIC = (3, 2, 2)  # cells of periodic boxes: small enough, no cell its own neighbour


def distance(a, b):
    return np.abs(a - b).max() / np.abs(a).max()


def rounding(degree):
    """Entries of the derivative reach N(N + 1), the metric is a derivative too; sums of some ten such."""
    return 50 * np.finfo(float).eps * degree * (degree + 1)


def reference(mesh, case, degree=2, flux="central", wall=None):
    """wall: what sides make 0 (star_state); None: the box is periodic."""
    period = PERIOD if wall is None else np.inf
    return Hexahedra(mesh, degree, case, flux, wall, period=period)


def all_walls(case):
    return [*case.walls.items(), ("absorbing", "a" * len(next(iter(case.walls.values()))))]


# ---- the equations ----


@pytest.mark.each_value("physics", "kind")
@in_turn(KINDS, pytest.mark.parametrize("degree", [1, 2]), FLUXES)
def test_the_right_hand_side_is_that_of_the_equations(physics, kind, degree, flux):
    """At walls of every kind, with materials by node and by cell."""
    case, mesh = CASES[physics], box((2, 2, 1))
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, kind=kind)
    q = states(case, materials)
    for word, zeros in all_walls(case):
        equations = reference(mesh, case, degree, flux, zeros)
        found = apply(make(mesh, case, materials, word, degree, flux=flux), q)
        assert distance(equations.rates(materials, q), found) < rounding(degree)
    for axis in (0, 1):  # the material of another cell, of another node
        moved = without_fluids_moved(physics, materials, np.roll(materials, 1, axis=axis))
        assert distance(equations.rates(moved, q), found) > 1e-3
    cells = np.repeat(materials[:, :1], materials.shape[1], axis=1)
    found = apply(make(mesh, case, materials[:, 0], word, degree, flux=flux), q)
    assert distance(equations.rates(cells, q), found) < rounding(degree)


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("degree", "flux"),
    [
        (3, "upwind"),
        (3, "central"),
        (4, "upwind"),
        pytest.param(7, "central", marks=pytest.mark.slow),
        (10, "upwind"),
    ],
)
@PHYSICS
def test_the_right_hand_side_of_high_degrees_is_that_of_the_equations(physics, degree, flux):
    case, mesh = CASES[physics], box((2, 1, 1), curved=degree == 4)
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3)
    q = states(case, materials)
    word, zeros = all_walls(case)[degree % 2 - 1]
    expected = reference(mesh, case, degree, flux, zeros).rates(materials, q)
    assert distance(expected, apply(make(mesh, case, materials, word, degree, flux=flux), q)) < rounding(
        degree
    )
    other = states(case, materials)
    other[0, -1] *= 1 + 1e-6
    assert distance(expected, apply(make(mesh, case, materials, word, degree, flux=flux), other)) > rounding(
        degree
    )


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("degree", "warped"),
    [(3, True), (7, False), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(3, False), (7, True)])],
)
@PHYSICS
def test_cells_whose_lines_fill_vectors_obey_the_equations(physics, degree, warped):
    """Lines of four and eight nodes: the CPU's stages of one cell, where it has AVX-512 (cpu_cell.inc.h).

    Of both fluxes, both precisions, materials by cell and by node, faces across every axis, turned or not.
    """
    case = CASES[physics]
    straight = unda.box_mesh(LOWER, UPPER, (2, 1, 2), shape="hex")
    mesh = box((2, 1, 1)) if warped else straight
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3)
    q = states(case, materials)
    word, zeros = all_walls(case)[0]
    for flux, per in (("upwind", "cell"), ("central", "cell"), ("upwind", "node")):
        nodes = materials if per == "node" else np.repeat(materials[:, :1], materials.shape[1], axis=1)
        given = nodes if per == "node" else materials[:, 0]
        expected = reference(mesh, case, degree, flux, zeros).rates(nodes, q)
        for dtype in ("float64", "float32"):
            found = apply(make(mesh, case, given, word, degree, flux=flux, dtype=dtype), q)
            wider = np.finfo(dtype).eps / np.finfo(float).eps
            assert distance(expected, found) < rounding(degree) * wider, (flux, per, dtype)
    other = q.copy()  # six faces see one of the two nodes
    other[0, [0, -1]] *= 1 + 1e-6
    found = apply(make(mesh, case, given, word, degree, flux=flux), other)
    assert distance(expected, found) > rounding(degree)


@pytest.mark.first(1)
@in_turn(PHYSICS, FLUXES)
def test_periodic_sides_are_like_any_other_faces(physics, flux):
    case, mesh = CASES[physics], box((3, 3, 3), periodic=(True,) * 3)
    materials = by_node(case, mesh.num_elem, 8)
    q = states(case, materials)
    equations = reference(mesh, case, 1, flux)
    assert len(equations.behind) == 6 * mesh.num_elem
    found = apply(make(mesh, case, materials, degree=1, flux=flux), q)
    assert distance(equations.rates(materials, q), found) < rounding(1)
    other = box((3, 3, 3), periodic=(True,) * 3, seed=4)
    assert distance(reference(other, case, 1, flux).rates(materials, q), found) > 1e-3


@FLUXES
@pytest.mark.parametrize("curved", [False, True])
def test_a_fluid_of_an_elastic_medium_moves_as_sound_does(flux, curved):
    """On warped cells too: its pressure has no slope that no wave could carry away."""
    sound, rock, mesh = CASES["acoustic"], CASES["elastic"], box((2, 2, 1), curved=curved)
    materials = by_node(sound, mesh.num_elem, 27)
    p, v = np.split(states(sound, materials), [1], axis=-1)
    fluid, none = np.concatenate([materials, 0 * materials[..., :1]], axis=-1), 0 * v
    one = apply(make(mesh, sound, materials, "rigid", flux=flux), np.concatenate([p, v], axis=-1))
    sim = make(mesh, rock, fluid, "symmetry", flux=flux)
    other = apply(sim, np.concatenate([v, -p, -p, -p, none], axis=-1))
    for field in (3, 4, 5):
        found = np.concatenate([-other[..., field, None], other[..., :3]], axis=-1)
        assert distance(one, found) < rounding(2)
    assert not other[..., 6:].any()
    fluid[..., 2] = 1e-3  # all but a fluid
    slow = make(mesh, rock, fluid, "symmetry", flux=flux)
    other = apply(slow, np.concatenate([v, -p, -p, -p, none], axis=-1))
    assert distance(one, np.concatenate([-other[..., 3:4], other[..., :3]], axis=-1)) > 1e-3


def test_linear_functions_have_exact_slopes_from_degree_2_on():
    """Degree 1 has none on tapered cells, nor can it: let z of a cell be 0..1 at x = 0 and 0..s at x = 1.

    By parts the sum of z^2 n_x over the faces is 0 if z has no slope along x; faces that are exact for
    constants and linear functions, by weights at their vertices, give s (s - 1) / 2.
    """
    case, mesh = CASES["acoustic"], box((2, 1, 1))
    for degree in (1, 2, 3):
        sim, q = make(mesh, case, np.ones((2, 2)), "rigid", degree), np.zeros((2, (degree + 1) ** 3, 4))
        q[..., 0] = sim.coordinates[..., 0]  # which rigid walls let be, with the central flux
        sim = make(mesh, case, np.ones((2, 2)), "rigid", degree, flux="central")
        wrong = np.abs(apply(sim, q)[..., 1:] + [1, 0, 0]).max()  # rho = 1: v_t = -grad p
        assert wrong < rounding(degree) if degree > 1 else wrong > 0.05
    for s in (1.0, 0.5):
        z, y, x = np.indices((2, 2, 2)).reshape(3, -1).astype(float)
        corners = np.stack([x, y, np.where(x > 0, s * z, z)], axis=-1)
        cell = unda.Mesh(corners, [[0, 1, 3, 2, 4, 5, 7, 6]])
        cells = Hexahedra(cell, 1, case, "central", "f")
        total = sum(
            cells.weight[0] ** 2 * (cells.outward[0, f, :, 0] * cells.x[0, nodes, 2] ** 2).sum()
            for f, nodes in enumerate(cells.face_node)
        )
        assert total == pytest.approx(s * (s - 1) / 2, abs=1e-14)


def test_nodes_are_those_of_the_trilinear_map():
    mesh, points = box((2, 2, 1)), lobatto(3)[0]
    r = np.stack(np.meshgrid(points, points, points, indexing="ij"), axis=-1).reshape(-1, 3)[:, ::-1]
    weights = np.where(CORNERS, r[:, None], 1 - r[:, None]).prod(axis=-1)
    expected = weights @ mesh.vertices[mesh.cells]
    assert np.abs(mesh.coordinates(3) - expected).max() < 1e-14
    assert np.abs(mesh.coordinates(3) - expected[:, ::-1]).max() > 0.1


@PHYSICS
def test_numbering_cells_and_vertices_otherwise_changes_nothing(physics):
    """Cells turned about themselves and in another order: faces meet in all eight ways."""
    case, mesh = CASES[physics], unda.box_mesh(LOWER, UPPER, (3, 3, 3), shape="hex", perturb=0.25, seed=3)
    materials, order = case.materials(mesh.num_elem), np.random.default_rng(0).permutation(mesh.num_elem)
    moved = turned(
        unda.Mesh(mesh.vertices, mesh.cells[order], boundaries=named_sides(mesh), periodic=mesh.periodic),
        seed=1,
    )
    assert set(turns(moved)) == set(range(8)) and set(turns(mesh)) == {0}

    def values(mesh, materials):
        """After some steps, each cell's nodes in an order that is not its own."""
        sim = make(mesh, case, materials, next(iter(case.walls)), degree=3)
        x = np.moveaxis(sim.coordinates, -1, 0)
        phases = np.arange(1, 1 + len(case.fields))
        q = np.sin(3 * x[0, ..., None] + phases * x[1, ..., None] - 2 * x[2, ..., None] + phases)
        if physics == "elastic":
            q[..., 3:] = q[..., 3:4] * [1, 1, 1, 0, 0, 0]
        sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
        sim.run(steps=5)
        nodes = np.stack([np.lexsort(np.round(one, 9)) for one in np.moveaxis(x, 1, 0)])
        return np.stack([np.take_along_axis(sim.get(name), nodes, axis=1) for name in sim.fields])

    here, there = values(mesh, materials)[:, order], values(moved, materials[order])
    assert np.abs(here - there).max() < 1e-12 * np.abs(here).max()
    assert np.abs(here - values(moved, materials)).max() > 1e-3 * np.abs(here).max()


# ---- what the equations keep ----


@pytest.mark.each_value("physics", "word")
@FLUXES
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("physics", "word"), [*STEADY, *((name, "periodic") for name in CASES)])
def test_a_constant_state_does_not_change_on_warped_cells(physics, word, degree, flux):
    """Whatever the materials. A field that the walls do not let be, and it does."""
    case = CASES[physics]
    mesh = box(PERIODIC, periodic=(True,) + (word == "periodic",) * 2, flat=True)
    steady = STEADY.get((physics, word), case.fields)
    for kind in {"elastic": ("solid", "mixed"), "maxwell": ("insulator",)}.get(physics, case.kinds):
        materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, kind=kind)
        sim = make(mesh, case, materials, word, degree, flux=flux)
        values = np.array([0.3 + 0.1 * i if name in steady else 0 for i, name in enumerate(case.fields)])
        if kind == "mixed" and physics == "elastic":  # water bears a pressure alone
            values[3:] = [0.7 * ({"sxx", "syy", "szz"} <= set(steady))] * 3 + [0] * 3
        q = np.tile(values, (mesh.num_elem, sim.num_node, 1))
        moving = 0.1 * np.cos(7 * sim.coordinates[..., :1]) * q
        scale = np.abs(apply(sim, moving)).max()
        assert np.abs(apply(sim, q)).max() < 10 * rounding(degree) * scale  # q is ten times the wave
        assert np.abs(apply(sim, q + 1e-9 * moving)).max() > 1e-10 * scale
        for name in set(case.fields) - set(steady):
            pushed = q.copy()
            pushed[..., case.fields.index(name)] = 0.3
            mixed_shear = kind == "mixed" and name in case.fields[3:] and physics == "elastic"
            assert mixed_shear or np.abs(apply(sim, pushed)).max() > 1e-3 * scale


@PHYSICS
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_curved_cells_keep_constants_and_energy(physics, degree):
    """Of 27 nodes: metrics are products that the nodes do not have, whose curls vanish all the same."""
    case, mesh = CASES[physics], box((3, 3, 2), perturb=0.1, periodic=(True,) * 3, curved=True)
    kind = {"elastic": "solid", "maxwell": "insulator"}.get(physics)
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, kind=kind)
    sim, u = make(mesh, case, materials, None, degree, flux="central"), states(case, materials)
    mass = reference(mesh, case, degree).mass
    a = apply(sim, u)
    size = np.sqrt(inner(case, mass, materials, u, u) * inner(case, mass, materials, a, a))
    assert abs(inner(case, mass, materials, u, a)) < 1e-13 * size
    constant = apply(sim, np.broadcast_to(np.arange(1.0, 1 + len(case.fields)), u.shape))
    assert np.abs(constant).max() < 10 * rounding(degree) * np.abs(a).max()
    assert abs(inner(case, mass * mass, materials, u, a)) > 1e-6 * size * mass.mean()


def on_box(physics, kind, word, *, degree=2, **options):
    """A simulation, its case, its materials by node and the energy's inner product."""
    case, mesh = (
        CASES[physics],
        box(PERIODIC if word == "periodic" else (2, 2, 1), periodic=(word == "periodic",) * 3),
    )
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, kind=kind)
    sim = make(mesh, case, materials, word, degree, **options)
    mass = Hexahedra(mesh, degree, case, "central", None).mass
    return sim, case, materials, lambda u, v, m=materials: inner(case, mass, m, u, v)


def inner(case, mass, materials, u, v):
    """Energy inner product: u.W v at the nodes, which are the points of the quadrature."""
    weights = np.stack([[case.weight(*one) for one in row] for row in materials])
    return np.einsum("en,enf,enfg,eng->", mass, u, weights, v, optimize=True)


@EVERY_WORD
def test_the_central_flux_keeps_the_energy_and_upwind_loses_it(physics, kind, word):
    """With another material at every node. Conduction takes sigma E^2, absorbing faces what leaves."""
    for flux in ("central", "upwind"):
        sim, case, materials, energy = on_box(physics, kind, word, flux=flux)
        u = states(case, materials)
        a = apply(sim, u)
        assert sim.energy() == pytest.approx(energy(u, u) / 2, rel=1e-12)
        scale = np.sqrt(energy(u, u) * energy(a, a))
        loss = 0.0
        if physics == "maxwell":
            mass = Hexahedra(sim.mesh, 2, case, flux, None).mass
            loss = np.einsum("en,en,eni->", mass, materials[..., 2], u[..., :3] ** 2)
        rate = (energy(u, a) + loss) / scale
        if flux == "central" and word != "absorbing":
            assert abs(rate) < 1e-13
            other = without_fluids_moved(physics, materials, np.roll(materials, 1, axis=1))
            assert abs(energy(u, a, other) + loss) > 1e-6 * scale
        else:
            assert rate < -1e-3


@pytest.mark.parametrize("degree", [1, 3, 4, 5])
@PHYSICS
def test_the_energy_is_kept_at_other_degrees(physics, degree):
    kind = CASES[physics].kinds[-1]
    sim, case, materials, energy = on_box(
        physics, kind, next(iter(CASES[physics].walls)), degree=degree, flux="central"
    )
    u = states(case, materials)
    a = apply(sim, u)
    assert abs(energy(u, a)) < 1e-13 * np.sqrt(energy(u, u) * energy(a, a))
    assert abs(energy(u, apply(sim, np.roll(u, 1, axis=1)))) > 1e-6 * np.sqrt(energy(u, u) * energy(a, a))


@pytest.mark.each_value("physics", "kind", "word")
@FLUXES
@EVERY_WORD
def test_the_adjoint_is_the_time_reversed_operator(physics, kind, word, flux):
    """<u, A v> = <P A P u, v> with another material at every node, conduction included."""
    sim, case, materials, energy = on_box(physics, kind, word, flux=flux)
    u, v = (states(case, materials, seed) for seed in (1, 2))
    au, av = backwards(case, apply(sim, backwards(case, u))), apply(sim, v)
    scale = np.sqrt(energy(u, u) * energy(av, av))
    assert abs(energy(u, av) - energy(au, v)) < 1e-13 * scale
    other = without_fluids_moved(physics, materials, np.roll(materials, 1, axis=1))
    assert abs(energy(u, av, other) - energy(au, v, other)) > 1e-4 * scale


@FLUXES
@pytest.mark.parametrize("degree", [1, 2, 3])
@PHYSICS
def test_what_leaves_a_cell_enters_its_neighbour(physics, degree, flux):
    """Both sides of a face see one flux: totals of rho v and of strain, of D and of B, do not change.

    These are what W q is: p / (rho c^2) and rho v, of stress what the compliance makes of it.
    """
    case, mesh = CASES[physics], box(PERIODIC, periodic=(True,) * 3)
    kind = {"elastic": "solid", "maxwell": "insulator"}.get(physics)
    materials = by_node(case, mesh.num_elem, (degree + 1) ** 3, kind=kind)
    mass = Hexahedra(mesh, degree, case, flux, None, period=PERIOD).mass
    weights = np.stack([[case.weight(*one) for one in row] for row in materials])
    gained = np.einsum(
        "en,enfg,eng->enf",
        mass,
        weights,
        apply(make(mesh, case, materials, degree=degree, flux=flux), states(case, materials)),
    )
    assert (np.abs(gained.sum(axis=(0, 1))) < 1e-13 * np.abs(gained).sum(axis=(0, 1))).all()
    gained[0] *= 1.01  # a cell whose faces seem larger
    assert (np.abs(gained.sum(axis=(0, 1))) > 1e-8 * np.abs(gained).sum(axis=(0, 1))).all()
