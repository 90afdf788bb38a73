"""Each physics' right-hand side alone: constants, polynomials, energy, adjoint, reciprocity, permutation.

These hold to rounding, with no time error, and see what orders of convergence cannot: an impedance
taken from the wrong side, an exchanged pair of nodes (docs/verification.md).
Elastic materials have fluid cells among solids, Maxwell ones conductors among insulators.
"""

import numpy as np
import pytest
import unda
from physics_cases import CASES, voigt
from unda._core import check, lib, new_struct

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # identities of the operator hold, resolved or not

FLUXES = pytest.mark.parametrize("flux", ["upwind", "central"])
KINDS = pytest.mark.parametrize(
    ("physics", "kind"), [(name, kind) for name, case in CASES.items() for kind in case.kinds]
)
PHYSICS = pytest.mark.parametrize("physics", CASES)
WORDS = {name: [*case.walls, "absorbing", "periodic"] for name, case in CASES.items()}
EVERY_WORD = pytest.mark.parametrize(
    ("physics", "kind", "word"),
    [(name, kind, word) for name, case in CASES.items() for kind in case.kinds for word in WORDS[name]],
)


def box(periodic=(False,) * 3, cells=(2, 2, 2), seed=3):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, periodic=periodic, perturb=0.2, seed=seed)


def make(mesh, case, materials, word="periodic", *, degree=3, dtype="float64", **options):
    boundary = None if word == "periodic" else {"*": word}
    medium = case.made_of(materials)
    return unda.DG(mesh, medium, degree=degree, boundary=boundary, dtype=dtype, device="cpu", **options)


def on_box(physics, kind, word, *, seed=5, **options):
    """A simulation on the box, its case and its materials, another one in every element."""
    case, mesh = CASES[physics], box((word == "periodic",) * 3)
    materials = case.materials(mesh.num_elem, seed, kind)
    return make(mesh, case, materials, word, **options), case, materials


def apply(sim, q):
    """dq/dt of a state (cell, node, field)."""
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    rates = sim.rhs()
    return np.stack([rates[name] for name in sim.fields], axis=-1).astype(float)


def mass(degree):
    n = lib.unda_element_num_node(lib.UNDA_TET, degree)
    matrix = np.empty((n, n))
    check(lib.unda_element_get_arrays(lib.UNDA_TET, degree, new_struct("unda_element_arrays", mass=matrix)))
    return matrix


def inner(sim, case, materials, u, v):
    """Energy inner product, integrated with the mass matrix."""
    weights = np.stack([case.weight(*material) for material in materials])
    volume, m = 6 * sim.mesh.volumes, mass(sim.degree)
    return np.einsum("e,enf,nm,efg,emg->", volume, u, m, weights, v, optimize=True)


def norm(sim, case, materials, u):
    return np.sqrt(inner(sim, case, materials, u, u))


def backwards(case, u):
    """The state that runs back in time."""
    return u * np.where([name in case.odd for name in case.fields], -1, 1)


# What walls across y and z let be constant.
STEADY = {
    ("acoustic", "rigid"): ("p", "vx"),
    ("acoustic", "free"): ("vx", "vy", "vz"),
    ("elastic", "free"): ("vx", "vy", "vz", "sxx"),
    ("elastic", "fixed"): ("sxx", "syy", "szz", "syz", "sxz", "sxy"),
    ("elastic", "symmetry"): ("vx", "sxx", "syy", "szz"),
    ("maxwell", "pec"): ("hx", "hy", "hz"),
    ("maxwell", "pmc"): ("ex", "ey", "ez"),
}


@FLUXES
@pytest.mark.parametrize(("physics", "word"), [*STEADY, *((name, "periodic") for name in CASES)])
def test_a_constant_state_does_not_change(physics, word, flux):
    """Whatever the materials: nothing jumps. A field that the walls do not let be, and it does."""
    case, mesh = CASES[physics], box((True, word == "periodic", word == "periodic"))
    steady = STEADY.get((physics, word), case.fields)
    for kind in {"elastic": ("solid", "mixed"), "maxwell": ("insulator",)}.get(physics, case.kinds):
        materials = case.materials(mesh.num_elem, kind=kind)
        sim = make(mesh, case, materials, word, flux=flux)
        values = np.array([0.3 + 0.1 * i if name in steady else 0 for i, name in enumerate(case.fields)])
        if kind == "mixed" and physics == "elastic":  # water bears a pressure alone
            values[3:] = [0.7 * ({"sxx", "syy", "szz"} <= set(steady))] * 3 + [0] * 3
        q = np.tile(values, (mesh.num_elem, sim.num_node, 1))
        moving = 0.1 * np.cos(7 * sim.coordinates[..., :1]) * q
        scale = np.abs(apply(sim, moving)).max()
        assert np.abs(apply(sim, q)).max() < 1e-12 * scale
        assert np.abs(apply(sim, q + 1e-9 * moving)).max() > 1e-10 * scale
        for name in set(case.fields) - set(steady):
            pushed = q.copy()
            pushed[..., case.fields.index(name)] = 0.3
            mixed_shear = kind == "mixed" and name in case.fields[3:] and physics == "elastic"
            assert mixed_shear or np.abs(apply(sim, pushed)).max() > 1e-3 * scale


@FLUXES
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@KINDS
def test_polynomials_are_differentiated_exactly(physics, kind, degree, flux):
    """With exact outer data, each element by its own material."""
    case, mesh = CASES[physics], box()
    materials = case.materials(mesh.num_elem, kind=kind)
    x0, d = np.array([0.3, 0.5, 0.2]), np.array([1, 2, -1])
    factors = np.array([1, -0.7, 0.4, 0.9, -0.5, 0.8, 0.3, -0.6, 1.1])[: len(case.fields)]
    if physics == "elastic" and kind != "solid":
        factors[3:] = [0.8, 0.8, 0.8, 0, 0, 0]

    def solution(x, y, z, t):
        s = (x - x0[0]) * d[0] + (y - x0[1]) * d[1] + (z - x0[2]) * d[2]
        return {name: one * s**degree for name, one in zip(case.fields, factors, strict=True)}

    sim = make(mesh, case, materials, solution, degree=degree, flux=flux)
    values = solution(*np.moveaxis(sim.coordinates, -1, 0), 0)
    q = np.stack([values[name] for name in case.fields], axis=-1)
    slope = degree * ((sim.coordinates - x0) @ d) ** (degree - 1)
    slopes = np.einsum("j,f,en->jfen", d, factors, slope)
    expected = case.rates(materials.T[..., None], slopes, np.moveaxis(q, -1, 0))
    rates, expected = (
        np.moveaxis(apply(sim, q), -1, 0),
        np.broadcast_to(expected, (len(factors), *slope.shape)),
    )
    for i in range(len(factors)):
        scale = np.abs(expected).max()
        assert np.abs(rates[i] - expected[i]).max() < 1e-11 * scale
        if np.abs(expected[i]).max() > 0.01 * scale:
            assert np.abs(rates[i] - 1.0001 * expected[i]).max() > 1e-11 * scale


@EVERY_WORD
def test_central_flux_keeps_the_energy_and_upwind_loses_it(physics, kind, word):
    """Conduction takes sigma E^2 besides, absorbing faces what leaves."""
    for flux in ("central", "upwind"):
        sim, case, materials = on_box(physics, kind, word, flux=flux)
        u = case.states(materials, sim.num_node, 1)
        a = apply(sim, u)
        loss = 0.0
        if physics == "maxwell":
            squares = np.einsum("eni,nm,emi->e", u[..., :3], mass(sim.degree), u[..., :3])
            loss = (6 * sim.mesh.volumes * materials[:, 2] * squares).sum()
        scale = norm(sim, case, materials, u) * norm(sim, case, materials, a)
        rate = (inner(sim, case, materials, u, a) + loss) / scale
        if flux == "central" and word != "absorbing":
            assert abs(rate) < 1e-13
            other = case.materials(len(materials), 6, kind)
            assert abs(inner(sim, case, without_fluids_moved(physics, materials, other), u, a)) > 1e-6 * scale
        else:
            assert rate < -1e-3


def without_fluids_moved(physics, materials, other):
    """Other materials, with fluids where they were."""
    if physics == "elastic":
        other[:, 2] = 0.5 * other[:, 1] * (materials[:, 2] > 0)
    return other


@pytest.mark.each_value("physics", "kind", "word")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@FLUXES
@EVERY_WORD
def test_the_adjoint_is_the_time_reversed_operator(physics, kind, word, flux, dtype):
    """<u, A v> = <P A P u, v> with another random material in every element, conduction included."""
    sim, case, materials = on_box(physics, kind, word, flux=flux, dtype=dtype, degree=2)
    u, v = (case.states(materials, sim.num_node, seed).astype(dtype).astype(float) for seed in (1, 2))
    au, av = backwards(case, apply(sim, backwards(case, u))), apply(sim, v)
    scale = norm(sim, case, materials, u) * norm(sim, case, materials, av)
    tolerance = 500 * np.finfo(dtype).eps  # 2e5 values, each the sum of some hundred products, at random

    def mismatch(materials):
        return abs(inner(sim, case, materials, u, av) - inner(sim, case, materials, au, v)) / scale

    assert mismatch(materials) < tolerance
    other = case.materials(len(materials), 6, kind)
    assert mismatch(without_fluids_moved(physics, materials, other)) > 1e-4


@pytest.mark.parametrize("degree", [1, 4, 6])
@PHYSICS
def test_the_adjoint_identity_holds_at_other_degrees(physics, degree):
    sim, case, materials = on_box(physics, CASES[physics].kinds[0], "absorbing", degree=degree)
    u, v = (case.states(materials, sim.num_node, seed) for seed in (1, 2))
    au, av = backwards(case, apply(sim, backwards(case, u))), apply(sim, v)
    scale = norm(sim, case, materials, u) * norm(sim, case, materials, av)
    difference = inner(sim, case, materials, u, av) - inner(sim, case, materials, au, v)
    assert abs(difference) < 1e-13 * scale
    assert abs(inner(sim, case, materials, u, av) - inner(sim, case, materials, 1.001 * au, v)) > 1e-9 * scale


def smooth(case, materials, x):
    """A state of waves of all kinds, which fluids bear."""
    phases = np.arange(1, 1 + len(case.fields))
    q = np.sin(3 * x[..., :1] + phases * x[..., 1:2] - 2 * x[..., 2:] + phases)
    if case.name == "elastic":
        q[..., 3:] = q[..., 3:4] * [1, 1, 1, 0, 0, 0]
    return q


@PHYSICS
def test_renumbering_cells_and_vertices_changes_nothing(physics):
    case, mesh = CASES[physics], box((True, False, False), (3, 2, 2))
    rng = np.random.default_rng(0)
    elem_order, vertex_order = rng.permutation(mesh.num_elem), rng.permutation(len(mesh.vertices))
    number = np.argsort(vertex_order)
    even = np.array([[0, 1, 2, 3], [1, 2, 0, 3], [1, 0, 3, 2], [3, 0, 2, 1]])
    cells = number[mesh.cells[elem_order]]
    cells = np.take_along_axis(cells, even[rng.integers(0, 4, len(cells))], axis=1)
    boundaries = {
        name: number[mesh.boundary_faces[mesh.boundary_ids == i]]
        for i, name in enumerate(mesh.boundary_names)
    }
    other = unda.Mesh(mesh.vertices[vertex_order], cells, boundaries=boundaries, periodic=mesh.periodic)
    materials = case.materials(mesh.num_elem)
    points = np.random.default_rng(1).uniform(0.1, 0.7, (20, 3))

    def values(mesh, materials):
        sim = make(mesh, case, materials, next(iter(case.walls)))
        x = sim.coordinates
        sim.set(**dict(zip(sim.fields, np.moveaxis(smooth(case, materials, x), -1, 0), strict=True)))
        sim.run(steps=5)
        return np.stack(list(sim.sample(points).values()))

    here, there = values(mesh, materials), values(other, materials[elem_order])
    assert np.abs(here - there).max() < 1e-12 * np.abs(here).max()
    assert np.abs(here - values(other, materials)).max() > 1e-3 * np.abs(here).max()


F = unda.ricker(3.0)
A, B = (0.31, 0.42, 0.27), (0.71, 0.83, 0.58)
ONE, TWO = np.array([1.0, -2.0, 2.0]) / 3, np.array([-0.48, 0.6, 0.64])
SLIP, BLAST = np.array([[0.4, 1, 0.3], [1, -0.7, 0.2], [0.3, 0.2, 0.9]]), np.eye(3)


def force(direction):
    return lambda place: unda.PointForce(place, F, direction)


def moment(m):
    return lambda place: unda.MomentTensor(place, F.integral, m)


def dipole(direction):
    return lambda place: unda.CurrentDipole(place, F, direction)


def injection(place):
    return unda.VolumeInjection(place, F)


def along(direction):
    """The component of v or E."""
    return lambda traces, material: direction @ traces[:3]


def strain(moment):
    """M : S sigma with the compliance S at the receiver."""

    def measure(traces, material):
        weight = CASES["elastic"].weight(*material)[3:, 3:]
        return voigt(moment) @ weight @ traces[3:]

    return measure


# Pairs of a source and what a receiver must measure, one at A and one at B: the two change places.
PAIRS = {
    "sound": ("acoustic", injection, lambda traces, m: traces[0], injection, lambda traces, m: traces[0]),
    "forces": ("elastic", force(ONE), along(ONE), force(TWO), along(TWO)),
    "moments": ("elastic", moment(SLIP), strain(SLIP), moment(BLAST), strain(BLAST)),
    "a force and a moment": ("elastic", force(ONE), along(ONE), moment(SLIP), strain(SLIP)),
    "an injection in a fluid and a force": (
        "elastic", injection, lambda traces, m: traces[3:6].mean(axis=0), force(TWO), along(TWO),
    ),
    "dipoles": ("maxwell", dipole(ONE), along(ONE), dipole(TWO), along(TWO)),
}  # fmt: skip


def exchanged(pair, mesh, flux):
    """What each receiver measures of the other's source; random materials, a wall above, absorbing sides."""
    physics, *one_and_two = PAIRS[pair]
    case = CASES[physics]
    materials = case.materials(mesh.num_elem)
    if physics == "elastic":
        cells = mesh.locate(np.array([A, B]))[0]
        materials[cells, 2] = [0.0 if "fluid" in pair else 0.5, 0.5] * materials[cells, 1]
    traces = []
    (source_a, measure_a, source_b, measure_b) = one_and_two
    for source, place, measure, there in ((source_a, A, measure_b, B), (source_b, B, measure_a, A)):
        sim = unda.DG(
            mesh, case.made_of(materials), degree=3, dtype="float64", device="cpu", flux=flux,
            boundary={"zmax": list(case.walls)[-1], "*": "absorbing"},
        )  # fmt: skip
        sim.add_source(source(place))
        rec = sim.add_receivers([there])
        sim.run(until=0.8)
        found = np.stack([rec[name][0] for name in case.fields])
        traces.append(measure(found, materials[mesh.locate(np.array([there]))[0][0]]))
    return traces


@pytest.mark.each_value
@FLUXES
@pytest.mark.parametrize("pair", PAIRS)
def test_source_and_receiver_may_change_places(pair, flux):
    """To rounding, fluids among the materials."""
    traces = exchanged(pair, box(), flux)
    scale = np.abs(traces[0]).max()
    assert scale > 0
    assert np.abs(traces[0] - traces[1]).max() < 1e-11 * scale
    assert np.abs(traces[0] - 1.001 * traces[1]).max() > 1e-4 * scale


@PHYSICS
def test_the_problem_is_linear(physics):
    sim, case, materials = on_box(physics, CASES[physics].kinds[0], "absorbing")
    u, v = (case.states(materials, sim.num_node, seed) for seed in (1, 2))
    a, b, both = apply(sim, u), apply(sim, v), apply(sim, 2 * u - 3 * v)
    for i in range(len(case.fields)):
        scale = np.abs(both[..., i]).max()
        assert np.abs(both[..., i] - (2 * a - 3 * b)[..., i]).max() < 1e-12 * scale
        assert np.abs(both[..., i] - (2 * a - 3.003 * b)[..., i]).max() > 1e-6 * scale


# Energy densities by hand, of one field of 2 alone.
def young(rho, vp, vs):
    return rho * vs**2 * (3 * vp**2 - 4 * vs**2) / (vp**2 - vs**2)


DENSITIES = {
    ("acoustic", "p"): lambda rho, c: 2 / (rho * c**2),
    ("acoustic", "vy"): lambda rho, c: 2 * rho,
    ("elastic", "vz"): lambda rho, vp, vs: 2 * rho,
    ("elastic", "sxx"): lambda rho, vp, vs: 2 / young(rho, vp, vs),
    ("elastic", "sxz"): lambda rho, vp, vs: 2 / (rho * vs**2),
    ("maxwell", "ex"): lambda eps, mu, sigma: 2 * eps,
    ("maxwell", "hz"): lambda eps, mu, sigma: 2 * mu,
}


@pytest.mark.parametrize(("physics", "field"), DENSITIES)
def test_the_energy_of_one_field_is_the_one_of_the_textbook(physics, field):
    sim, case, materials = on_box(
        physics, "solid" if physics == "elastic" else "mixed", "absorbing", degree=2
    )
    sim.set(**{field: 2.0})
    expected = sim.mesh.volumes @ DENSITIES[physics, field](*materials.T)
    assert sim.energy() == pytest.approx(expected, rel=1e-12)
    other = case.materials(len(materials), 6, "solid" if physics == "elastic" else "mixed")
    assert sim.energy() != pytest.approx(sim.mesh.volumes @ DENSITIES[physics, field](*other.T), rel=1e-6)


@KINDS
def test_the_energy_is_that_of_the_inner_product(physics, kind):
    sim, case, materials = on_box(physics, kind, "absorbing", degree=2)
    u = case.states(materials, sim.num_node, 1)
    apply(sim, u)
    assert sim.energy() == pytest.approx(inner(sim, case, materials, u, u) / 2, rel=1e-12)
    assert sim.energy() != pytest.approx(1.001 * inner(sim, case, materials, u, u) / 2, rel=1e-12)
