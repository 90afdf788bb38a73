"""DG on parallelepipeds: the same promises as on tetrahedra, however neighbours' faces lie on each other.

Cells of a sheared box are renumbered by random rotations, so that all eight ways occur.
"""

import itertools

import cuda_device
import numpy as np
import pytest
import test_cuda_engine as engines
import unda
from pairwise import pairwise
from physics_cases import CASES
from unda._core import check, lib, new_struct
from unda.problem.mesh import FACES

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # identities hold, resolved or not
cuda_device.prepare()

SHEAR = np.array([[1.0, 0.1, -0.2], [0.2, 1.1, 0.1], [0.05, -0.3, 0.8]])  # rows: edges of the box
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
PHYSICS = pytest.mark.parametrize("physics", CASES)


def rotations():
    """The 24 ways to number the vertices of a cell."""
    for order, signs in itertools.product(
        itertools.permutations(range(3)), itertools.product((1, -1), repeat=3)
    ):
        matrix = np.diag(signs)[list(order)]
        if np.linalg.det(matrix) > 0:
            turned = ((CORNERS - 0.5) @ matrix + 0.5).round().astype(int)
            yield [int(np.flatnonzero((CORNERS == corner).all(axis=1))[0]) for corner in turned]


def box(cells=(2, 2, 2), periodic=(False,) * 3, *, turned=True, seed=0, shear=SHEAR):
    straight = unda.box_mesh((0, 0, 0), (1, 1, 1), cells, shape="hex", periodic=periodic)
    numbers = np.array(list(rotations()))[np.random.default_rng(seed).integers(0, 24, straight.num_elem)]
    faces = {
        name: straight.boundary_faces[straight.boundary_ids == i]
        for i, name in enumerate(straight.boundary_names)
    }
    cells = np.take_along_axis(straight.cells, numbers, axis=1) if turned else straight.cells
    return unda.Mesh(straight.vertices @ shear, cells, boundaries=faces, periodic=straight.periodic)


def turns(mesh):
    """How neighbours' faces lie on each other, of all inner faces."""
    faces, found = FACES["hex"], set()
    for elem, face in zip(*np.nonzero(mesh.neighbors >= 0), strict=True):
        other = mesh.neighbors[elem, face]
        here, there = mesh.cells[elem][faces[face]], mesh.cells[other // 6][faces[other % 6]].tolist()
        first = there.index(here[0])
        found.add((first, there[(first + 1) % 4] == here[1]))
    return found


def test_the_meshes_have_faces_in_all_eight_positions():
    assert len(turns(box((3, 3, 3)))) == 8
    assert len(turns(box((3, 3, 3), turned=False))) == 1


def made(mesh, physics, materials, boundary=None, *, degree=3, dtype="float64", device="cpu", **options):
    medium = CASES[physics].made_of(materials)
    return unda.DG(mesh, medium, degree=degree, boundary=boundary, dtype=dtype, device=device, **options)


def apply(sim, q):
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    rates = sim.rhs()
    return np.stack([rates[name] for name in sim.fields], axis=-1)


def inner(sim, case, materials, u, v):
    n = sim.num_node
    mass = np.empty((n, n))
    check(lib.unda_element_get_arrays(lib.UNDA_HEX, sim.degree, new_struct("unda_element_arrays", mass=mass)))
    assert np.abs(mass - np.diag(mass.diagonal())).max() < 1e-16 and abs(mass.sum() - 1) < 1e-14
    weights = np.stack([case.weight(*material) for material in materials])
    return np.einsum("e,enf,nm,efg,emg->", sim.mesh.volumes, u, mass, weights, v, optimize=True)


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@PHYSICS
def test_polynomials_are_differentiated_exactly(physics, degree, flux):
    """With exact outer data, each cell by its own material."""
    case, mesh = CASES[physics], box()
    materials = case.materials(mesh.num_elem, kind=case.kinds[0])
    direction, factors = np.array([1, 2, -1]), np.array([1, -0.7, 0.4, 0.9, -0.5, 0.8, 0.3, -0.6, 1.1])
    factors = factors[: len(case.fields)]

    def solution(x, y, z, t):
        return {name: one * (x + 2 * y - z) ** degree for name, one in zip(case.fields, factors, strict=True)}

    if physics == "elastic":  # a fluid bears a pressure alone
        materials[:, 2] = 0.5 * materials[:, 1]
    sim = made(mesh, physics, materials, {"*": solution}, degree=degree, flux=flux)
    s = sim.coordinates @ direction
    q = factors * (s**degree)[..., None]
    slopes = np.einsum("j,f,en->jfen", direction, factors, degree * s ** (degree - 1))
    expected = np.moveaxis(case.rates(materials.T[..., None], slopes, np.moveaxis(q, -1, 0)), 0, -1)
    found, scale = apply(sim, q), np.abs(expected).max()
    assert np.abs(found - expected).max() < 1e-11 * scale
    assert np.abs(found - 1.0001 * expected).max() > 1e-5 * scale


@pytest.mark.parametrize(
    ("physics", "word"),
    [(name, word) for name, case in CASES.items() for word in (*case.walls, "absorbing", "periodic")],
)
def test_central_flux_keeps_the_energy_and_upwind_loses_it(physics, word):
    case, mesh = CASES[physics], box((3, 2, 2), (word == "periodic",) * 3)
    materials = case.materials(mesh.num_elem, 5, case.kinds[0])
    if physics == "maxwell":
        materials[:, 2] = 0
    for flux in ("central", "upwind"):
        sim = made(mesh, physics, materials, None if word == "periodic" else {"*": word}, flux=flux)
        u = case.states(materials, sim.num_node, 1)
        a = apply(sim, u)
        scale = np.sqrt(inner(sim, case, materials, u, u) * inner(sim, case, materials, a, a))
        rate = inner(sim, case, materials, u, a) / scale
        if flux == "central" and word != "absorbing":
            assert abs(rate) < 1e-13
            assert abs(inner(sim, case, materials[::-1], u, a)) > 1e-6 * scale
        else:
            assert rate < -1e-3
        back = np.where([name in case.odd for name in case.fields], -1, 1)
        v = case.states(materials, sim.num_node, 2)
        adjoint = back * apply(sim, back * v)
        mismatch = inner(sim, case, materials, v, a) - inner(sim, case, materials, adjoint, u)
        assert abs(mismatch) < 1e-13 * scale
        assert abs(mismatch + 1e-3 * inner(sim, case, materials, adjoint, u)) > 1e-9 * scale


def wave(physics, k):
    medium = {"acoustic": unda.Acoustic(rho=2.0, c=1.5), "elastic": unda.Elastic(rho=2.0, vp=1.5, vs=0.8),
              "maxwell": unda.Maxwell(eps=2.0, mu=0.5)}[physics]  # fmt: skip
    extra = {"polarization": np.cross(k, (1, 0, 0))} if physics == "maxwell" else {}
    return medium, unda.exact.plane_wave(medium, k=k, **extra)


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@PHYSICS
def test_a_plane_wave_converges_with_order_degree_plus_one(physics, degree, flux):
    """In a sheared periodic box. Upwind: the order; central: one less at odd degrees, as on tetrahedra."""
    k = 2 * np.pi * np.linalg.inv(SHEAR) @ [1, 0, -1]
    medium, solution = wave(physics, k)
    errors, wrong = [], []
    sizes = (4, 6, 8) if degree < 3 else (3, 4, 6)
    for n in sizes:
        sim = unda.DG(
            box((n,) * 3, (True,) * 3), medium, degree=degree, flux=flux, dtype="float64", device="cpu"
        )
        sim.set(solution)
        sim.run(until=0.1)
        errors.append(max(sim.error(solution, relative=True).values()))
        wrong.append(max(sim.error(wave(physics, 1.1 * k)[1], relative=True).values()))
    order = np.log(errors[-2] / errors[-1]) / np.log(sizes[-1] / sizes[-2])
    print(physics, degree, flux, [f"{e:.3g}" for e in errors], f"order {order:.2f}")
    assert order > degree + (0.6 if flux == "upwind" else -0.4)
    assert wrong[-1] > 0.5 * wrong[0]


@PHYSICS
def test_renumbering_vertices_changes_nothing(physics):
    """Nor do sources and receivers on faces, edges and vertices, inside and at periodic sides."""
    case, values = CASES[physics], []
    materials = case.materials(27, kind=case.kinds[0])
    materials[:] = materials[0]
    for turned, flip in ((True, 0), (True, 1), (False, 0)):
        mesh = box((3, 3, 3), (True, False, True), turned=turned, seed=flip)
        sim = made(mesh, physics, materials, {"*": next(iter(case.walls))})
        places = np.array(
            [[0.5, 0.5, 0.5], [1 / 3, 0.5, 0.4], [1 / 3, 2 / 3, 0.4], [1 / 3, 2 / 3, 1 / 3], [0, 0.4, 0]]
        )
        for place in places:
            sim.add_source(engines.source_at(physics, place @ SHEAR))
        record = sim.add_receivers(places @ SHEAR, sim.fields)
        inside = sim.add_receivers(
            [place @ SHEAR for place in np.random.default_rng(0).uniform(0.1, 0.9, (9, 3))]
        )
        sim.run(steps=20)
        values.append(np.concatenate([one[name] for one in (record, inside) for name in sim.fields]))
    scale = np.abs(values[0]).max()
    assert scale > 0
    for other in values[1:]:
        assert np.abs(other - values[0]).max() < 1e-12 * scale
    assert np.abs(1.001 * values[1] - values[0]).max() > 1e-6 * scale


def test_sources_and_receivers_may_change_places():
    case, mesh = CASES["acoustic"], box((3, 2, 2))
    materials, traces = case.materials(mesh.num_elem), []
    a, b = np.array([0.21, 0.42, 0.27]) @ SHEAR, np.array([0.71, 0.83, 0.58]) @ SHEAR
    for source, there in ((a, b), (b, a)):
        sim = made(mesh, "acoustic", materials, {"zmax": "free", "*": "absorbing"})
        sim.add_source(unda.VolumeInjection(source, unda.ricker(3.0)))
        record = sim.add_receivers([there], ["p"])
        sim.run(until=0.8)
        traces.append(record["p"][0])
    scale = np.abs(traces[0]).max()
    assert np.abs(traces[0] - traces[1]).max() < 1e-11 * scale
    assert np.abs(traces[0] - 1.001 * traces[1]).max() > 1e-4 * scale


def test_a_plane_wave_enters_the_total_field_and_no_other():
    """Without a scatterer the field is the wave inside the region, and small outside."""
    mesh = box((4, 4, 4))
    middle = (np.abs(mesh.centroids @ np.linalg.inv(SHEAR) - 0.5) < 0.3).all(axis=1)
    faces = {"side": mesh.boundary_faces}
    mesh = unda.Mesh(mesh.vertices, mesh.cells, tags=middle.astype(int), boundaries=faces)
    medium, f = unda.Acoustic(rho=1.0, c=1.0), unda.ricker(1.0)
    sim = unda.DG(mesh, medium, degree=4, dtype="float64", device="cpu")
    sim.add_source(unda.PlaneWave((1, 1, 0), f=f, region="1"))
    sim.set(t=-1.5)
    sim.run(until=2.0)
    x = sim.coordinates
    exact = f(sim.t - x @ np.array([1, 1, 0]) / np.sqrt(2))
    scale = np.abs(exact).max()
    assert np.abs(sim.get("p") - exact)[middle].max() < 0.01 * scale
    assert np.abs(sim.get("p"))[~middle].max() < 0.01 * scale


CASES_OF_ENGINES = pairwise({name: values for name, values in engines.SETTINGS.items() if name != "degree"})


@pytest.mark.parametrize("case", CASES_OF_ENGINES, ids=lambda case: "-".join(map(str, case.values())))
@PHYSICS
def test_both_engines_agree(physics, case):
    degree = 1 + len(str(case)) % 3
    periodic = (case["boundary"] == "periodic",) * 3
    shear = np.array([[1, 0.05, 0], [0, 1.1, 0.05], [0.05, 0, 0.8]])
    mesh = box((2, 2, 1) if periodic[0] else (2, 1, 2), periodic, shear=shear)
    found = [engines.run(device, mesh, case | {"degree": degree}, 10, physics) for device in ("cpu", "cuda")]
    for here, there in zip(*found, strict=True):
        scale = np.abs(here).max()
        assert scale > 0
        assert np.abs(here - there).max() < engines.TOLERANCE[case["dtype"]] * scale
        assert np.abs(1.01 * here - there).max() > 1e-3 * scale


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("degree", [1, 3, 5])
@PHYSICS
def test_the_largest_step_is_stable(physics, degree, flux, integrator):
    """Random materials, walls and flat sheared cells: after 300 steps no energy has come."""
    case, flat = CASES[physics], np.diag([1, 1, 0.1]) @ SHEAR
    for seed, shear in ((1, SHEAR), (2, flat)):
        mesh = box((2, 2, 2), shear=shear)
        materials = case.materials(mesh.num_elem, seed, case.kinds[0])
        for word in (next(iter(case.walls)), "absorbing"):
            sim = made(
                mesh,
                physics,
                materials,
                {"*": word},
                degree=degree,
                flux=flux,
                integrator=integrator,
                cfl=1.0,
            )
            q = case.states(materials, sim.num_node, 1)
            sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
            before = sim.energy()
            sim.run(steps=300)
            assert sim.energy() < 1.01 * before


def test_files_hold_hexahedra(tmp_path):
    mesh = box((2, 1, 1))
    sim = made(mesh, "acoustic", np.array([[1.0, 1.0]] * 2), {"*": "rigid"})
    sim.set(p=lambda x, y, z: x)
    sim.write_vtu(tmp_path / "a.vtu")
    sim.save(tmp_path / "a.h5")
    again = unda.load(tmp_path / "a.h5")
    assert (again.get("p") == sim.get("p")).all() and "hexahedra" in repr(again)
    points, cells = unda.io.vtu.lattice(3, "hex")
    volume = np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]).sum() / 6
    assert abs(volume - 1) < 1e-13


def test_hexahedra_that_are_no_parallelepipeds_are_refused():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex", perturb=0.1)
    with pytest.raises(unda.ArgumentError, match="element 0 is no parallelepiped"):
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
    with pytest.raises(unda.ArgumentError, match="element 0 is neither"):
        mesh.locate([[0.5, 0.5, 0.5]])
    with pytest.raises(unda.ArgumentError, match=r"degree is 6, expected 1\.\.5"):
        unda.DG(box(), unda.Acoustic(rho=1.0, c=1.0), degree=6)
