"""The right-hand side alone: constants, polynomials, energy, adjoint, reciprocity, permutation.

These hold to rounding, with no time error, and see what orders of convergence cannot: an impedance
taken from the wrong side, an exchanged pair of nodes (verification.md V33-V35, V38, V44, V51).
"""

import numpy as np
import pytest
import unda

FIELDS = ("p", "vx", "vy", "vz")


def random_medium(mesh, seed=5):
    rng = np.random.default_rng(seed)
    rho, c = rng.uniform(0.5, 3.0, (2, mesh.num_elem))
    return unda.Acoustic(rho=rho, c=c)


def box(periodic=(False,) * 3, cells=(2, 2, 2), seed=3):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, periodic=periodic, perturb=0.2, seed=seed)


def make(mesh, medium, degree=3, **options):
    return unda.DG(mesh, medium, degree=degree, dtype="float64", **options)


def random_state(sim, seed):
    rng = np.random.default_rng(seed)
    shape = (sim.mesh.num_elem, sim.num_node)
    return {name: rng.standard_normal(shape) for name in FIELDS}


def apply(sim, state):
    sim.set(**state)
    return sim.rhs()


def mass(degree):
    from unda._core import check, ffi, lib, new_struct

    n = lib.unda_element_num_node(lib.UNDA_TET, degree)
    matrix = np.empty((n, n))
    check(lib.unda_element_get_arrays(lib.UNDA_TET, degree, new_struct("unda_element_arrays", mass=matrix)))
    assert ffi is not None
    return matrix


def inner(sim, medium, u, v):
    """Energy inner product: p p / (rho c^2) + rho v.v, integrated with the mass matrix."""
    rho, c = medium.on(sim.mesh).T
    volume, m = 6 * sim.mesh.volumes, mass(sim.degree)
    total = 0.0
    for name in FIELDS:
        weight = volume * (1 / (rho * c**2) if name == "p" else rho)
        total += np.einsum("e,en,nm,em->", weight, u[name], m, v[name])
    return total


def norm(sim, medium, u):
    return np.sqrt(inner(sim, medium, u, u))


def parity(u):
    return {name: (u[name] if name == "p" else -u[name]) for name in FIELDS}


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("periodic", [(True,) * 3, (True, False, False)])
def test_a_constant_state_does_not_change(flux, periodic):
    mesh = box(periodic)
    medium = unda.Acoustic(rho=1.2, c=2.0)
    sim = make(mesh, medium, flux=flux, boundary={"*": "rigid"})
    velocity = {"vx": 0.7} if not all(periodic) else {"vx": 0.7, "vy": -0.3, "vz": 0.2}
    change = apply(sim, {"p": 1.0, **velocity})
    scale = 2.0 / mesh.min_insphere
    assert max(np.abs(change[name]).max() for name in FIELDS) < 1e-12 * scale * 16


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_polynomials_are_differentiated_exactly(degree):
    mesh = box()
    rho, c = 1.3, 0.9
    x0 = np.array([0.3, 0.5, 0.2])

    def solution(x, y, z, t):
        s = (x - x0[0]) + 2 * (y - x0[1]) - (z - x0[2])
        return {"p": s**degree, "vx": s**degree, "vy": -(s**degree), "vz": 0.5 * s**degree}

    sim = make(mesh, unda.Acoustic(rho=rho, c=c), degree=degree, boundary={"*": solution})
    sim.set(solution)
    change = sim.rhs()
    x, y, z = np.moveaxis(sim.coordinates, -1, 0)
    slope = degree * ((x - x0[0]) + 2 * (y - x0[1]) - (z - x0[2])) ** (degree - 1)
    expected = {"p": -rho * c**2 * (1 - 2 - 0.5) * slope}
    expected |= {"vx": -slope / rho, "vy": -2 * slope / rho, "vz": slope / rho}
    scale = max(np.abs(value).max() for value in expected.values())
    for name in FIELDS:
        assert np.abs(change[name] - expected[name]).max() < 1e-11 * scale
    wrong = expected["p"] * 1.0001
    assert np.abs(change["p"] - wrong).max() > 1e-11 * scale


@pytest.mark.parametrize("boundary", ["rigid", "free"])
def test_central_flux_keeps_the_energy_and_upwind_loses_it(boundary):
    mesh = box()
    medium = random_medium(mesh)
    for flux in ("central", "upwind"):
        sim = make(mesh, medium, flux=flux, boundary={"*": boundary})
        u = random_state(sim, 1)
        a = apply(sim, u)
        rate = inner(sim, medium, u, a) / (norm(sim, medium, u) * norm(sim, medium, a))
        if flux == "central":
            assert abs(rate) < 1e-13
        else:
            assert rate < -1e-3


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("case", ["rigid", "free", "periodic", "absorbing"])
def test_the_adjoint_is_the_time_reversed_operator(flux, case):
    """<u, A v> = <P A P u, v> with another random material in every element (V51)."""
    mesh = box((True,) * 3) if case == "periodic" else box()
    medium = random_medium(mesh)
    sim = make(mesh, medium, flux=flux, boundary=None if case == "periodic" else {"*": case})
    u, v = random_state(sim, 1), random_state(sim, 2)
    au, av = parity(apply(sim, parity(u))), apply(sim, v)
    scale = norm(sim, medium, u) * norm(sim, medium, av)
    assert abs(inner(sim, medium, u, av) - inner(sim, medium, au, v)) < 1e-13 * scale
    other = random_medium(mesh, seed=6)
    assert abs(inner(sim, other, u, av) - inner(sim, other, au, v)) > 1e-6 * scale


def test_renumbering_cells_and_vertices_changes_nothing():
    mesh = box((True, False, False), (3, 2, 2))
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
    medium = random_medium(mesh)
    rho, c = medium.on(mesh).T
    pulse = unda.exact.spherical_pulse(unda.Acoustic(rho=1.0, c=1.0), (0.4, 0.5, 0.4), 0.2)
    points = np.random.default_rng(1).uniform(0.1, 0.7, (20, 3))
    values = []
    for m, material in (
        (mesh, medium),
        (other, unda.Acoustic(rho=rho[elem_order], c=c[elem_order])),
    ):
        sim = make(m, material, boundary={"*": "rigid"})
        sim.set(pulse)
        sim.run(steps=5)
        values.append(sim.sample(points)["p"])
    assert np.abs(values[0] - values[1]).max() < 1e-12 * np.abs(values[0]).max()


def test_source_and_receiver_may_change_places():
    mesh = box()
    medium = random_medium(mesh)
    a, b = (0.31, 0.42, 0.27), (0.71, 0.83, 0.58)
    traces = []
    for source, receiver in ((a, b), (b, a)):
        sim = make(mesh, medium, boundary={"zmax": "free", "*": "absorbing"})
        sim.add_source(unda.VolumeInjection(source, unda.ricker(3.0)))
        rec = sim.add_receivers([receiver], ["p"])
        sim.run(until=0.8)
        traces.append(rec["p"][0])
    scale = np.abs(traces[0]).max()
    assert scale > 0
    assert np.abs(traces[0] - traces[1]).max() < 1e-11 * scale
    assert np.abs(traces[0] - 1.001 * traces[1]).max() > 1e-4 * scale


def test_the_problem_is_linear():
    mesh = box()
    sim = make(mesh, random_medium(mesh))
    u, v = random_state(sim, 1), random_state(sim, 2)
    a, b = apply(sim, u), apply(sim, v)
    both = apply(sim, {name: 2 * u[name] - 3 * v[name] for name in FIELDS})
    for name in FIELDS:
        scale = np.abs(both[name]).max()
        assert np.abs(both[name] - (2 * a[name] - 3 * b[name])).max() < 1e-12 * scale


def test_the_energy_is_that_of_pressure_and_motion():
    """p^2 / (2 rho c^2) + rho v^2 / 2, integrated; linear fields show the mass matrix."""
    mesh = box()
    medium = random_medium(mesh)
    sim = make(mesh, medium, degree=2)
    rho, c = medium.on(mesh).T
    sim.set(p=2.0, vx=1.0, vy=-2.0, vz=3.0)
    expected = (mesh.volumes * (4 / (2 * rho * c**2) + 14 * rho / 2)).sum()
    assert sim.energy() == pytest.approx(expected, rel=1e-12)
    u = random_state(sim, 1)
    sim.set(**u)
    assert sim.energy() == pytest.approx(inner(sim, medium, u, u) / 2, rel=1e-12)
    assert sim.energy() != pytest.approx(1.001 * inner(sim, medium, u, u) / 2, rel=1e-12)
