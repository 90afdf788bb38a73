"""Materials by node: the right-hand side by cell where they are constant, that of the equations elsewhere.

The reference is nodal_reference.py.
Not here: the CUDA engine against the CPU (test_cuda_engine.py), media as given (test_medium.py).
"""

import hex_meshes
import numpy as np
import pytest
import unda
from nodal_reference import Tetrahedra
from pairwise import in_turn
from physics_cases import CASES, by_node, states
from unda._core import check, lib, new_object, new_struct

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

PHYSICS = pytest.mark.parametrize("physics", CASES)
FLUXES = pytest.mark.parametrize("flux", ["upwind", "central"])
KINDS = [(name, kind) for name, case in CASES.items() for kind in case.kinds]


def box(cells=(2, 2, 1), **options):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=3, **options)


def make(mesh, case, materials, boundary="absorbing", degree=2, **options):
    """materials: (num_elem, parameter), or (num_elem, num_node, parameter) by node."""
    per = ("cell", "node")[materials.ndim - 2]
    medium = case.medium(
        per=per, **dict(zip(case.medium.parameters, np.moveaxis(materials, -1, 0), strict=True))
    )
    return unda.DG(
        mesh, medium, degree=degree, boundary={"*": boundary}, dtype="float64", device="cpu",
        allow_unstable=True, **options,
    )  # fmt: skip


def apply(sim, q):
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    return np.stack(list(sim.rhs().values()), axis=-1)


def distance(a, b):
    return np.abs(a - b).max() / np.abs(a).max()


# ---- constant in each cell ----


@FLUXES
@PHYSICS
def test_constants_by_node_are_those_by_cell(physics, flux):
    """To rounding: lifting both jumps is another order of sums than lifting one and multiplying it by Z."""
    case, mesh = CASES[physics], box()
    materials = case.materials(mesh.num_elem)
    one = make(mesh, case, materials, flux=flux)
    many = np.repeat(materials[:, None], one.num_node, axis=1)
    other = make(mesh, case, many, flux=flux)
    q = states(case, many)
    # sums of some ten products, of sizes within a hundred of each other
    assert distance(apply(one, q), apply(other, q)) < 1e-13
    many[3, 2, 0] *= 1 + 1e-9
    assert distance(apply(one, q), apply(make(mesh, case, many, flux=flux), q)) > 1e-13
    assert one.energy() == pytest.approx(other.energy(), rel=1e-14)
    assert one.element_dt == pytest.approx(other.element_dt, rel=1e-14)


# ---- an independent right-hand side ----


@pytest.mark.each_value
@in_turn(pytest.mark.parametrize(("physics", "kind"), KINDS), FLUXES)
def test_the_right_hand_side_is_that_of_the_equations(physics, kind, flux):
    """Another material at every node of both sides of each face, at walls of every kind too."""
    case, mesh = CASES[physics], box((2, 1, 1))
    for wall, zeros in [*case.walls.items(), ("absorbing", None)]:
        num_channel = len(next(iter(case.walls.values())))
        reference = Tetrahedra(mesh, 2, case, flux, zeros or "a" * num_channel)
        materials = by_node(case, mesh.num_elem, reference.x.shape[1], kind=kind)
        sim = make(mesh, case, materials, wall, flux=flux)
        q = states(case, materials)
        found = apply(sim, q)
        assert distance(reference.rates(materials, q), found) < 1e-12
    for axis in (0, 1):  # the material of another cell, of another node
        moved = without_fluids_moved(physics, materials, np.roll(materials, 1, axis=axis))
        assert distance(reference.rates(moved, q), found) > 1e-3


def without_fluids_moved(physics, materials, other):
    if physics == "elastic":
        other[..., 2] = 0.5 * other[..., 1] * (materials[..., 2] > 0)
    return other


@PHYSICS
def test_the_energy_is_that_of_each_nodes_material(physics):
    """q.W M q / 2 with each node's W, of which the mass matrix need not be a function."""
    case, mesh = CASES[physics], box()
    matrix = np.empty((10, 10))
    check(lib.unda_element_get_arrays(lib.UNDA_TET, 2, new_struct("unda_element_arrays", mass=matrix)))

    def energy(materials):
        weights = np.stack([[case.weight(*one) for one in row] for row in materials])
        return np.einsum("e,enf,enfg,nm,emg->", 3 * mesh.volumes, q, weights, matrix, q)

    materials = by_node(case, mesh.num_elem, 10)
    q = states(case, materials)
    sim = make(mesh, case, materials)
    apply(sim, q)
    assert sim.energy() == pytest.approx(energy(materials), rel=1e-12)
    moved = without_fluids_moved(physics, materials, np.roll(materials, 1, axis=1))
    assert sim.energy() != pytest.approx(energy(moved), rel=1e-3)


# ---- smooth media ----


class Through:
    """A pulse in a medium of constant impedance, without reflections: p = Z v = f(t - time on the way).

    1/c = s(x) = 1 + a cos kx, rho = Z s: p_t = -rho c^2 v_x and rho v_t = -p_x hold exactly.
    """

    z, a, k = 1.3, 0.5, 2.0 * np.pi

    def medium(self, per):
        slowness = lambda x, y, z: 1.0 + self.a * np.cos(self.k * x)  # noqa: E731
        return unda.Acoustic(
            rho=lambda *at: self.z * slowness(*at), c=lambda *at: 1.0 / slowness(*at), per=per
        )

    def __call__(self, x, y, z, t):
        p = np.sin(5.0 * (t - x - self.a * np.sin(self.k * x) / self.k))
        return {"p": p, "vx": p / self.z, "vy": 0 * p, "vz": 0 * p}

    def error(self, per, cells, degree, flux="upwind"):
        mesh = unda.box_mesh((0, 0, 0), (1, 0.25, 0.25), (cells, cells // 4, cells // 4))
        sim = unda.DG(mesh, self.medium(per), degree=degree, boundary={"*": self}, dtype="float64",
                      device="cpu", flux=flux)  # fmt: skip
        sim.set(self)
        sim.run(until=0.4)
        return sim.error(self, relative=True)["p"]


@pytest.mark.parametrize("degree", [2, 3])
def test_smooth_media_keep_the_order_by_node_and_not_by_cell(degree):
    """N + 1 within 0.5; materials constant in cells err by O(h) in each, by O(h^2) where that cancels."""
    through = Through()
    by_node, by_cell = ([through.error(per, cells, degree) for cells in (4, 8)] for per in ("node", "cell"))
    assert np.log2(by_node[0] / by_node[1]) > degree + 0.5
    assert np.log2(by_cell[0] / by_cell[1]) < 2.5


def test_the_fastest_node_limits_the_time_step():
    """Where the impedance is the same everywhere: that of a cell with the speed of its fastest node."""
    mesh = box()
    c = np.random.default_rng(2).uniform(1.0, 2.0, (mesh.num_elem, 10))
    fast = c.max(axis=1)
    for flux in ("upwind", "central"):
        one = make(mesh, CASES["acoustic"], np.stack([1 / fast, fast], axis=-1), flux=flux)
        many = make(mesh, CASES["acoustic"], np.stack([1 / c, c], axis=-1), flux=flux)
        faster = make(mesh, CASES["acoustic"], np.stack([0.99 / fast, fast / 0.99], axis=-1), flux=flux)
        if flux == "upwind":  # the central flux sees, of a neighbour, only the nodes of the face
            assert many.element_dt == pytest.approx(one.element_dt, rel=1e-12)
        assert (many.element_dt >= one.element_dt * (1 - 1e-12)).all()
        assert (many.element_dt > faster.element_dt * (1 + 1e-3)).all()


def test_the_modulus_of_one_node_and_the_density_of_another_limit_the_time_step():
    """Derivatives couple them: sqrt(K / rho) = 2, though each node has the speed 1."""
    mesh = box()
    materials = np.ones((mesh.num_elem, 10, 2))
    even = make(mesh, CASES["acoustic"], materials).element_dt
    materials[0, 4] = 2.0, 1.0
    materials[0, 7] = 0.5, 1.0
    uneven = make(mesh, CASES["acoustic"], materials).element_dt
    assert uneven[0] <= even[0] / 2 * (1 + 1e-12)


# ---- sources, receivers, incident waves ----


def test_a_source_sees_the_material_where_it_is():
    """rho c^2 of a node varies as a square, which the polynomial of the cell has exactly."""
    mesh, place = box(), (0.41, 0.53, 0.37)
    modulus = lambda x, y, z: 1.0 + x + y * z  # noqa: E731
    rates = []
    for medium in (unda.Acoustic(rho=1.0, c=1.0), unda.Acoustic(rho=modulus, c=1.0, per="node")):
        sim = unda.DG(mesh, medium, degree=2, dtype="float64", device="cpu")
        sim.add_source(unda.VolumeInjection(place, lambda t: 1.0 + 0.0 * t))
        rates.append(sim.rhs()["p"])
    assert np.abs(rates[0]).max() > 0
    assert distance(rates[1], modulus(*place) * rates[0]) < 1e-12
    assert distance(rates[1], 1.001 * modulus(*place) * rates[0]) > 1e-4


def test_receivers_on_faces_take_the_mean_of_both_sides_where_nothing_jumps():
    """As in one material; where it jumps one side decides."""
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (2, 1, 1))
    left = mesh.centroids[:, 0] < 1
    speeds = {"one": 1.0, "smooth": lambda x, y, z: 1.0 + x, "jump": np.where(left, 1.0, 2.0)}
    found = {}
    for name, c in speeds.items():
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=c, per="node"), degree=2, dtype="float64", device="cpu")
        sim.set(p=np.repeat(np.where(left, 1.0, 3.0)[:, None], 10, axis=1))
        found[name] = sim.sample([(1.0, 0.3, 0.4)])["p"][0]
    assert found["smooth"] == pytest.approx(found["one"], rel=1e-12) and 1.2 < found["one"] < 2.8
    assert found["jump"] == pytest.approx(1.0, rel=1e-12) or found["jump"] == pytest.approx(3.0, rel=1e-12)


def test_a_plane_wave_enters_a_medium_by_node():
    """As it enters the same medium by cell."""
    fields = {}
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    for per in ("cell", "node"):
        medium, boundary = unda.Acoustic(rho=1.0, c=1.0, per=per), {"zmin": "rigid", "*": "absorbing"}
        sim = unda.DG(mesh, medium, degree=2, boundary=boundary, dtype="float64", device="cpu")
        sim.add_source(unda.PlaneWave((0, 0, -1), f=unda.ricker(2.0), scatterer="zmin"))
        sim.run(until=1.0)
        fields[per] = sim.get("p")
    assert np.abs(fields["cell"]).max() > 1e-3
    assert distance(fields["cell"], fields["node"]) < 1e-12


# ---- files, refusals ----


@PHYSICS
def test_a_checkpoint_continues_bit_for_bit(physics, tmp_path):
    case, mesh = CASES[physics], box()
    materials = by_node(case, mesh.num_elem, 10)
    sim = make(mesh, case, materials)
    sim.set(**dict(zip(sim.fields, np.moveaxis(states(case, materials), -1, 0), strict=True)))
    sim.run(steps=3)
    sim.save(tmp_path / "sim.h5")
    again = unda.load(tmp_path / "sim.h5")
    assert again.config["medium"]["per"] == "node" and repr(again.medium).endswith("per='node')")
    assert again.config["medium"] == sim.config["medium"]
    for one in (sim, again):
        one.run(steps=3)
    for name in sim.fields:
        assert np.array_equal(sim.get(name), again.get(name))
    other = make(mesh, case, np.roll(materials, 1, axis=1) if physics != "elastic" else materials * 1.01)
    assert other.config["medium"] != sim.config["medium"]


def test_pictures_and_files_show_the_material_between_nodes(tmp_path):
    mesh = box()
    sim = unda.DG(
        mesh, unda.Acoustic(rho=lambda x, y, z: 1 + x + y, c=1.0, per="node"), degree=2, device="cpu"
    )
    plane = sim._plane("p", 2, 0.4, 5)
    x = (np.arange(5) + 0.5) / 5
    assert plane.material("rho") == pytest.approx(1 + x[None, :] + 1.1 * x[:, None], rel=1e-12)
    sim.write_vtu(tmp_path / "sim.vtu")


def test_refusals_name_cell_and_node():
    mesh = box()
    values = np.ones((mesh.num_elem, 10))
    values[5, 3] = -1.0
    with pytest.raises(unda.ArgumentError, match=r"c\[5, 3\] = -1.0"):
        unda.Acoustic(rho=1.0, c=values, per="node")
    with pytest.raises(unda.ArgumentError, match=r"c\[\d+, \d+\] = "):
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=lambda x, y, z: x - 0.5, per="node"), degree=2, device="cpu")
    values[5, 3] = 1.1
    with pytest.raises(unda.ArgumentError, match="in cell 5, node 3 "):
        medium = unda.Elastic(rho=1.0, vp=1.2 * np.ones_like(values), vs=values, per="node")
        unda.DG(mesh, medium, degree=2, device="cpu")
    with pytest.raises(unda.ArgumentError, match=r"c is an array of shape \(24, 10\); .* per='node'"):
        unda.Acoustic(rho=1.0, c=values)
    medium = unda.Acoustic(rho=1.0, c=values, per="node")
    with pytest.raises(
        unda.ArgumentError, match=r"c has shape \(24, 10\); expected \(24, 20\), one value a node"
    ):
        unda.DG(mesh, medium, degree=3, device="cpu")
    with pytest.raises(unda.ArgumentError, match="per is 'edge'"):
        unda.Acoustic(rho=1.0, c=1.0, per="edge")


def test_the_central_flux_is_refused_where_materials_vary_within_cells():
    """No energy bounds it: with 1/c = 1 + 0.2 cos 2 pi x it grows 1e5 times in 20 periods. Constants may."""
    mesh, c = box(), np.ones((box().num_elem, 10))
    constant = unda.Acoustic(rho=1.0, c=c, per="node")
    unda.DG(mesh, constant, degree=2, flux="central", device="cpu")
    c[7, 2] = 1.01
    medium = unda.Acoustic(rho=1.0, c=c, per="node")
    unda.DG(mesh, medium, degree=2, flux="upwind", device="cpu")
    with pytest.raises(unda.ArgumentError, match="flux is 'central' and materials vary within cells"):
        unda.DG(mesh, medium, degree=2, flux="central", device="cpu")


def test_a_run_warns_of_materials_that_vary_within_cells():
    mesh, c = box(), np.ones((box().num_elem, 10))

    def warned(c):
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=c, per="node"), degree=2, device="cpu")
        return any("vary within cells" in text for text in sim.check().warnings)

    assert not warned(c)
    c[7, 2] = 1.01
    assert warned(c)


def test_receivers_keep_all_cells_where_a_smooth_parameter_vanishes():
    """sigma = (x - 1/2)^2 is 0 to rounding there, from each of the cells that share the vertex."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    smooth = unda.Maxwell(eps=1.0, mu=1.0, sigma=lambda x, y, z: (x - 0.5) ** 2, per="node")
    jump = unda.Maxwell(eps=1.0, mu=1.0, sigma=(mesh.centroids[:, 0] > 0.5).astype(float), per="node")
    shared = (np.abs(mesh.vertices[mesh.cells] - 0.5).max(axis=-1) < 1e-9).any(axis=1).sum()
    for medium, num in ((smooth, shared), (jump, shared // 2)):
        sim = unda.DG(mesh, medium, degree=3, device="cpu")
        assert len(sim._points.place([(0.5, 0.5, 0.5)], "receiver", None)[1]["elem"]) == num


def test_an_exact_boundary_asks_for_the_material_at_some_node():
    """A medium that varies inside and is the solution's at the sides is no other medium; one apart is."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    bump = lambda x, y, z: 1 + 32 * x * (1 - x) * y * (1 - y) * z * (1 - z)  # noqa: E731
    wave = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(2, 0, 0))
    for rho, warned in ((1.0, False), (1.1, True)):
        medium = unda.Acoustic(rho=rho, c=bump, per="node")
        sim = unda.DG(mesh, medium, degree=3, boundary={"*": wave}, device="cpu")
        assert any("has an exact solution" in text for text in sim.check().warnings) == warned


@pytest.mark.parametrize(("physics", "value", "found"), [
    (0, np.nan, "material of element 5, node 3: c must be positive"),
    (1, 0.0, "element 5: one of nodes 0 and 3 is a fluid, expected all"),
])  # fmt: skip
def test_the_library_names_element_and_node(physics, value, found):
    mesh = box()
    material = np.ones((mesh.num_elem, 10, 2 + physics)) * [1.0, 2.0, 1.0][: 2 + physics]
    material[5, 3, 1 + physics] = value
    options = new_struct(
        "unda_solver_options", physics=physics, degree=2, device=-1, material=material, material_by_node=1
    )
    with pytest.raises(unda.ArgumentError, match=found):
        new_object(
            "unda_solver", lambda out: lib.unda_solver_new(out, mesh._handle, options), lib.unda_solver_free
        )


def test_the_material_at_a_point_of_a_warped_hexahedron_is_that_of_its_map():
    """rho is linear in space, so a polynomial of degree 1 in each reference coordinate of a cell."""
    mesh = box((2, 2, 2), shape="hex")
    sim = unda.DG(mesh, unda.Acoustic(rho=lambda x, y, z: 2 + x - 0.5 * y + 0.3 * z, c=1.0, per="node"),
                  degree=2, device="cpu")  # fmt: skip
    rng = np.random.default_rng(4)
    elem, share = rng.integers(0, mesh.num_elem, 40), rng.dirichlet(np.ones(8), 40)
    places = np.einsum("sv,svi->si", share, mesh.vertices[mesh.cells[elem]])
    found = sim._points.material_at(elem, places)[:, 0]
    expected = 2 + places @ [1, -0.5, 0.3]
    assert np.abs(found - expected).max() < 1e-12
    assert np.abs(found - (2 + places @ [1, -0.5, 0.301])).max() > 1e-12


def test_the_material_in_a_hexahedron_that_is_nearly_folded_is_that_of_its_map():
    """Newton's steps from the cell's middle lead out of it: its least scaled Jacobian is 0.06."""
    bottom = [(-0.114, 0.396, -0.216), (0.583, 0.412, -0.179), (1.02, 0.772, -0.198), (-0.398, 0.687, 0.381)]
    top = [(0.221, -0.386, 0.625), (0.761, 0.143, 1.351), (1.385, 1.214, 1.384), (-0.061, 0.655, 0.604)]
    mesh = unda.Mesh(bottom + top, [range(8)])
    sim = unda.DG(mesh, unda.Acoustic(rho=lambda x, y, z: 2 + x, c=1.0, per="node"), degree=2, device="cpu")
    r = np.random.default_rng(1).uniform((0, 0, 0.9), (0.1, 0.1, 1), (100, 3))
    places = hex_meshes.place(mesh, np.zeros(100, int), r)
    found = sim._points.material_at(np.zeros(100, int), places)[:, 0]
    assert np.abs(found - (2 + places[:, 0])).max() < 1e-9
