"""Absorbing layers of DG: what they return, that they decay, that nothing else depends on them."""

import os

import numpy as np
import pytest
import unda
from unda._core import lib
from unda.method.mesh_layer import NUM_TRACE

os.environ["UNDA_CPU_PARTS"] = "1"  # parts on the CPU are for tests alone

MEDIA = {
    "acoustic": unda.Acoustic(rho=1.0, c=1.0),
    "elastic": unda.Elastic(rho=1.0, vp=1.0, vs=0.55),
    "maxwell": unda.Maxwell(eps=1.0, mu=1.0),
}
CASES = [(shape, physics) for shape in ("hex", "tet") for physics in MEDIA]
FEW = [("hex", "elastic"), ("tet", "maxwell")]  # in the default tier
CORNER = {side: unda.CPML(f0=1.0) for side in ("xmin", "ymax", "zmin")} | {"*": "absorbing"}


def cube(shape, n=1, **given):
    return unda.box_mesh((0, 0, 0), (0.5 * n, 0.5 * n, 0.5 * n), cells=(n, n, n), shape=shape, **given)


def noisy(shape, physics, degree=2, boundary=CORNER, **options):
    """A corner of three layers, full of noise that everything is made of: no wave is left out."""
    options = {"device": "cpu"} | options
    sim = unda.DG(cube(shape), MEDIA[physics], degree=degree, boundary=boundary, **options)
    rng = np.random.default_rng(0)
    shape_of = (sim.mesh.num_elem, sim.num_node)
    sim.set(**{name: rng.standard_normal(shape_of) for name in sim.fields if name[0] != "s"})
    return sim


def irregular(h, end):
    """Tetrahedra, periodic along y, of which those beyond x = end are moved by up to a quarter of h."""
    num = round((end + 3.0) / h), 1, round(7.0 / h)
    box = unda.box_mesh((-2, 0, -3.5), (end + 1.0, h, 3.5), cells=num, shape="tet")
    at = (box.vertices - box.lower) / np.subtract(box.upper, box.lower) * num
    i, _, k = np.rint(at).astype(int).T
    moved = h / 4.0 * np.random.default_rng(2).uniform(-1.0, 1.0, (num[0] + 1, num[2] + 1, 2))
    moved[: round((end + 2.0) / h) + 1] = moved[-1] = moved[:, [0, -1], 1] = 0.0
    vertices = box.vertices.copy()
    vertices[:, ::2] += moved[i, k]
    faces = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    return unda.Mesh(
        vertices, box.cells, boundaries=faces, periodic=[("ymin", "ymax")],
        tags=(box.centroids[:, 0] > end).astype(np.int32), tag_names={"in": 0, "pml": 1},
    )  # fmt: skip


def returned(medium, field, source, shape, h, layer, *, degree=4, until=4.6):
    """Amplitude that returns from x = 1 at 60 degrees, over that of a mirror there.

    Half a wavelength from the side stand a line of sources and, 1.73 times as far along it as both are from
    the side together, a receiver. All that differs from a domain whose side is three wavelengths farther away
    has returned from there; no other side is near enough to matter before the end.
    """
    kinds = {}
    tagged = isinstance(layer, unda.CPML) and layer.tag is not None
    wall = {"acoustic": "rigid", "elastic": "symmetry", "maxwell": "pec"}[medium.physics]
    for kind, end, condition in (("layer", 1.0, layer), ("far", 4.0, "absorbing"), ("mirror", 1.0, wall)):
        if tagged and kind == "layer":
            mesh = irregular(h, end)
        else:
            cells = (round((end + 2.0) / h), 1, round(7.0 / h))
            mesh = unda.box_mesh(
                (-2, 0, -3.5), (end, h, 3.5), cells=cells, shape=shape, periodic=(False, True, False)
            )
        boundary = {"xmax": condition, "*": "absorbing"}
        sim = unda.DG(mesh, medium, degree=degree, boundary=boundary, device="cpu", sample_dt=0.02)
        sim.add_source(source((0.51, 0.51 * h, 0.013)))
        along = 2.0 * 0.49 * np.tan(np.radians(60.0))
        rec = sim.add_receivers([(0.51, 0.51 * h, 0.013 + along)], [field], every=round(0.02 / sim.dt))
        sim.run(until=until)
        kinds[kind] = rec[field].ravel()
    back = np.abs(kinds["layer"] - kinds["far"]).max()
    return back / np.abs(kinds["mirror"] - kinds["far"]).max()


def injection(at):
    return unda.VolumeInjection(at, unda.ricker(1.0))


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
def test_a_layer_of_a_wavelength_returns_half_a_percent_at_60_degrees_and_a_first_order_side_a_third():
    medium = MEDIA["acoustic"]
    assert returned(medium, "p", injection, "hex", 0.5, unda.CPML(f0=1.0)) < 0.005
    # a plane wave at 60 degrees: (1 - cos) / (1 + cos) = 1/3, of a curved one a little less
    assert 0.2 < returned(medium, "p", injection, "hex", 0.5, "absorbing") < 0.4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize(("shape", "tag"), [("hex", None), ("tet", None), ("tet", "pml")])
@pytest.mark.parametrize("kind", ["acoustic", "P", "SH", "TE"])
def test_layers_return_half_a_percent_at_60_degrees_of_all_waves_irregular_ones_too(kind, shape, tag):
    f = unda.ricker(1.0)
    physics, field, source, until = {
        "acoustic": ("acoustic", "p", injection, 4.6),
        "P": ("elastic", "vz", lambda at: unda.MomentTensor(at, f, np.eye(3)), 4.6),
        "SH": ("elastic", "vy", lambda at: unda.PointForce(at, f, (0, 1, 0)), 6.0),
        "TE": ("maxwell", "ey", lambda at: unda.CurrentDipole(at, f, (0, 1, 0)), 4.6),
    }[kind]
    layer = unda.CPML(f0=1.0, tag=tag)
    found = returned(MEDIA[physics], field, source, shape, 1 / 3, layer, until=until)
    assert found < 0.005


@pytest.mark.slow
def test_sponges_return_less_than_their_equation_says_and_half_of_what_strong_ones_do():
    """15 % of a plane Ricker pulse at 60 degrees (benchmarks/dg_layers.py), which a line source's is not yet.

    A pulse of 2.4 s that returns from behind the layer has been there by 6 s.
    """
    layers = (unda.CPML(f0=1.0, R0=R0, ratio=1.0) for R0 in (None, 1e-6))
    weak, strong = (
        returned(MEDIA["acoustic"], "p", injection, "tet", 1 / 4, layer, until=6.0) for layer in layers
    )
    assert weak < 0.15
    assert weak < 0.5 * strong


@pytest.mark.parametrize(
    ("shape", "physics"),
    [pytest.param(*case, marks=() if case in FEW else pytest.mark.slow) for case in CASES],
)
def test_noise_in_a_corner_of_layers_decays(shape, physics):
    sim = noisy(shape, physics, 1 if shape == "tet" else 2)
    energies = [sim.energy()]
    for _ in range(3):
        sim.run(steps=20)
        energies.append(sim.energy())
    assert np.diff(energies).max() < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["hex", "tet"])
@pytest.mark.parametrize("physics", MEDIA)
def test_layers_do_not_grow_in_100000_steps(physics, shape):
    """But by rounding, at most 2^-53 of what is left in each of the 25,000 stages between two energies."""
    sim = noisy(shape, physics, {"hex": 2, "tet": 1}[shape], dtype="float64")
    energies = [sim.energy()]
    for _ in range(20):
        sim.run(steps=5000)
        energies.append(sim.energy())
    assert np.diff(energies).max() < 1e-12 * energies[0]


def energies_on_tetrahedra(physics, sides, steps):
    """Ten energies and the first, of noise between walls and sponges at the sides."""
    wall = {"acoustic": "rigid", "elastic": "symmetry", "maxwell": "pec"}[physics]
    boundary = {side: unda.CPML(thickness=0.5, ratio=1.0) for side in sides} | {"*": wall}
    sim = noisy("tet", physics, 4, boundary, dtype="float64")
    energies = [sim.energy()]
    for _ in range(10):
        sim.run(steps=steps // 10)
        energies.append(sim.energy())
    return np.array(energies)


SIDES_OF = {"side": ("xmin",), "corner": ("xmin", "ymax", "zmin")}


@pytest.mark.slow
@pytest.mark.parametrize("physics", MEDIA)
def test_energy_never_grows_in_sponges_of_tetrahedra(physics):
    """But by the rounding of each stage: what is static outside of layers stays."""
    steps = 20000
    energies = energies_on_tetrahedra(physics, SIDES_OF["corner"], steps)
    assert np.diff(energies).max() < 5 * steps * np.finfo(float).eps * energies[0]
    assert energies[-1] < 0.3 * energies[0]


@pytest.mark.parametrize("flux", ["upwind", "central"])
def test_layers_of_tetrahedra_with_the_central_flux_are_sponges_or_warned_of(flux):
    def layered(ratio):
        boundary = {"xmin": unda.CPML(thickness=0.5, ratio=ratio), "*": "pec"}
        return noisy("tet", "maxwell", 1, boundary, flux=flux)

    quiet, told = layered(None), layered(0.1)
    assert quiet.config["layers"]["sides"]["xmin"]["ratio"] == {"upwind": 0.02, "central": 1.0}[flux]
    assert any("xmin is a sponge" in text for text in quiet.check().notes) == (flux == "central")
    assert any("grow" in text for text in told.check().warnings) == (flux == "central")


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_stretching_is_the_same_in_all_tetrahedra_of_a_layer_and_goes_with_depth_in_hexahedra(shape):
    """At rest, with v_x = x, dp/dt is -1 / kappa in a layer, which begins at 1/2 and ends at 3/2.

    kappa is 1 + 2 x^2 at nodes of hexahedra; in tetrahedra, whose vertices are moved, that of x^2 = 1/3.
    Rates are sums of less than 100 products of numbers below 10.
    """
    if shape == "tet":
        sim = layered_block("acoustic", ratio=0.0, kappa=3.0)[0]
    else:
        box = unda.box_mesh((0, 0, 0), (0.5, 1, 1), cells=(1, 2, 2), shape="hex")
        layer = unda.CPML(f0=1.0, ratio=0.0, kappa=3.0)
        boundary = {"xmax": layer, "*": "free"}
        sim = unda.DG(box, MEDIA["acoustic"], degree=1, boundary=boundary, device="cpu", dtype="float64")
    at = np.broadcast_to(sim.coordinates[..., 0], (sim.mesh.num_elem, sim.num_node))
    sim.set(vx=np.array(at))
    inside = sim.mesh.centroids[:, 0] > 0.5
    depth = at[inside] - 0.5
    kappa = 1.0 + 2.0 * (np.full(depth.shape, 1 / 3) if shape == "tet" else depth**2)
    expected = np.full(at.shape, -1.0)
    expected[inside] = -1.0 / kappa
    assert np.abs(sim.rhs()["p"] - expected).max() < 1000 * np.finfo(float).eps
    assert np.ptp(expected[inside]) > 0.1 if shape == "hex" else depth.max() > 0.99


def with_a_vertex_inside():
    """A layer one cell thick, of tetrahedra that reach through it, one of which is divided into four."""
    box = unda.box_mesh((0, 0, 0), (1.0, 0.5, 0.5), cells=(2, 1, 1), shape="tet")
    last = int(np.flatnonzero(box.centroids[:, 0] > 0.5)[0])
    four = np.tile(box.cells[last], (4, 1))
    np.fill_diagonal(four, len(box.vertices))
    cells = np.concatenate([np.delete(box.cells, last, axis=0), four])
    vertices = np.concatenate([box.vertices, box.vertices[box.cells[last]].mean(axis=0)[None]])
    faces = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    tags = (vertices[cells].mean(axis=1)[:, 0] > 0.5).astype(np.int32)
    return unda.Mesh(vertices, cells, boundaries=faces, tags=tags, tag_names={"in": 0, "pml": 1})


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize(("physics", "ratio"), [("acoustic", 0.5), ("elastic", 0.02), ("elastic", 0.1)])
def test_memory_decays_alike_in_all_cells_of_a_layer_one_cell_thick_unless_s_goes_with_depth(physics, ratio):
    """A memory alone decays as exp(-(d + alpha) t): d = D x^2 (1 - r x^2), alpha = A (1 - x), x^2 = 1/3.

    Where d goes with the fade e = D r x^4 (elastic, above 0.02), alpha has e as well, and x^2 is the mean
    square of depths between the planes that bound a cell. In a cell that reaches through the layer both have
    x^2 = 1/3, and e, 0.09 or more here, tells them apart. The fields that the memory makes in a step come
    back with dt D / h^2 times less than 100 (what a derivative of degree 1 and its lift have), 2e-3.
    """
    step = 1e-7
    layer = {"xmax": unda.CPML(tag="pml", f0=1.0, ratio=ratio), "*": "absorbing"}
    sim = unda.DG(
        with_a_vertex_inside(),
        MEDIA[physics],
        degree=1,
        boundary=layer,
        device="cpu",
        dtype="float64",
        dt=step,
    )
    inside = sim.mesh.centroids[:, 0] > 0.5
    memory = np.zeros((sim.mesh.num_elem, 3, sim.num_node, NUM_TRACE[physics]))
    memory[inside, 0] = 1.0
    sim._solver.write(lib.UNDA_MEMORY, 0, memory)
    sim.step(1)
    found = -np.log(sim._solver.read(lib.UNDA_MEMORY, 0, memory)[inside, 0]) / step
    about = sim.config["layers"]["sides"]["xmax"]
    together = physics == "elastic" and ratio > 0.02
    depth = 2.0 * sim.mesh.vertices[sim.mesh.cells[inside], 0] - 1.0
    low, high = depth.min(axis=1), depth.max(axis=1)
    square = (low**2 + low * high + high**2) / 3 if together else np.full(len(low), 1 / 3)
    rate = about["damping"] * square * (1.0 if together else 1.0 - ratio * square)
    rate += about["shift"] * (1.0 - np.sqrt(square))
    assert np.abs(found - rate[:, None, None]).max() < 2e-3 < about["damping"] * ratio / 9
    assert (low == 0).sum() > 5 and ((low > 0) | (high < 1)).sum() > 0 and (np.ptp(rate) > 1) == together


def test_irregular_layers_of_tetrahedra_are_matched_for_sound_and_light():
    for physics in ("acoustic", "maxwell"):
        sim = layered_block(physics, ratio=None)[0]
        assert sim.config["layers"]["sides"]["xmax"]["ratio"] == 0.02
        assert not any("layer" in text for text in sim.check().notes + sim.check().warnings)


def test_where_matched_layers_of_tagged_cells_grow_they_are_sponges_and_a_ratio_is_warned_of():
    """Hexahedra that are no prisms along the axis; fluid beside solid at oblique faces of tetrahedra."""

    def made(shape, move, medium, ratio=None):
        box = unda.box_mesh((0, 0, 0), (1.5, 1, 1), cells=(3, 2, 2), shape=shape)
        faces = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
        tags = (box.centroids[:, 0] > 1).astype(np.int32)
        x = box.vertices + move(*box.vertices.T)
        mesh = unda.Mesh(x, box.cells, tags=tags, tag_names={"in": 0, "layer": 1}, boundaries=faces)
        layer = unda.CPML(f0=1.0, tag="layer", ratio=ratio)
        sim = unda.DG(mesh, medium(box), degree=1, boundary={"xmax": layer, "*": "absorbing"}, device="cpu")
        warned = any("waves can grow" in text for text in sim.check().warnings)
        return sim.config["layers"]["sides"]["xmax"]["ratio"], warned

    def water(box):
        return MEDIA["acoustic"]

    def seabed(box):
        return unda.Elastic(rho=1.0, vp=1.0, vs=np.where(box.centroids[:, 2] > 0.5, 0.0, 0.5))

    def up(size):
        return lambda x, y, z: np.stack([0 * x, 0 * x, size * (1 - np.abs(2 * z - 1))], axis=-1)

    def straight(x, y, z):
        return up(0.1 * (1 + y))(x, y, z)

    def slanted(x, y, z):
        return up(0.1 * x)(x, y, z)

    assert made("hex", straight, water) == (0.02, False)
    assert made("hex", slanted, water) == (1.0, False)
    assert made("hex", slanted, water, ratio=0.1) == (0.1, True)
    assert made("tet", straight, seabed) == (0.1, False)
    assert made("tet", slanted, seabed) == (1.0, False)
    assert made("tet", slanted, seabed, ratio=0.1) == (0.1, True)
    assert made("tet", slanted, water) == (0.02, False)


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
def test_light_decays_in_irregular_tetrahedra():
    """It grows by a quarter in as many steps where s is one value a cell (make mutate)."""
    sim = layered_block("maxwell", ratio=0.02, degree=2)[0]
    rng = np.random.default_rng(0)
    shape = sim.mesh.num_elem, sim.num_node
    sim.set(**{name: rng.standard_normal(shape) for name in sim.fields})
    sim.run(steps=400)
    before = sim.energy()
    sim.run(steps=400)
    assert sim.energy() < before


def late_energies(degree, vs, layer, wall, flux="upwind", cells=(1, 1, 1), steps=(300, 600), **options):
    """Energies after the first steps and the next, of noise between walls and layers at both x ends."""
    mesh = unda.box_mesh((0, 0, 0), tuple(0.5 * n for n in cells), cells=cells, shape="tet")
    medium = unda.Elastic(rho=1.0, vp=1.0, vs=vs)
    boundary = {"xmin": layer, "xmax": layer, "*": wall}
    sim = unda.DG(mesh, medium, degree=degree, boundary=boundary, flux=flux, device="cpu", **options)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((sim.mesh.num_elem, sim.num_node)) for name in ("vx", "vy", "vz")})
    energies = []
    for num in steps:
        sim.run(steps=num)
        energies.append(sim.energy())
    return energies


def test_waves_guided_by_walls_decay_in_layers_of_tetrahedra():
    """They grow by a quarter in as many steps where s is one in a layer and the fade is not (mutate)."""
    before, after = late_energies(4, 0.55, unda.CPML(f0=1.0), "free")
    assert after < 0.5 * before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degree", "vs", "wall", "cells"),
    [(2, 0.7, "free", (2, 2, 1)), (3, 0.3, "free", (1, 1, 1)), (4, 0.3, "fixed", (2, 2, 1)),
     (4, 0.7, "free", (1, 1, 1))],
)  # fmt: skip
def test_waves_guided_by_walls_decay_in_20000_steps(degree, vs, wall, cells):
    before, after = late_energies(
        degree, vs, unda.CPML(f0=1.0), wall, cells=cells, steps=(4000, 16000), dtype="float64"
    )
    assert after < before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
def test_waves_guided_by_walls_grow_in_tetrahedra_with_the_central_flux():
    before, after = late_energies(
        3, 0.55, unda.CPML(f0=1.0, ratio=0.02), "free", "central", steps=(2000, 6000)
    )
    assert after > 2.0 * before


def test_a_ratio_below_that_of_the_rule_is_warned_of_between_walls():
    for ratio, warned in ((0.02, True), (0.1, False), (None, False)):
        layer = {"xmax": unda.CPML(f0=1.0, ratio=ratio), "*": "free"}
        sim = unda.DG(cube("hex"), MEDIA["elastic"], degree=1, boundary=layer, device="cpu")
        found = [text for text in sim.check().warnings if "waves can grow" in text]
        assert bool(found) == warned
        assert not warned or found[0].endswith("beside it guide waves; expected ratio=0.1")


def layered_block(physics, ratio=0.0, degree=1, kappa=1.0):
    """Tetrahedra, those at x > 0.5 a layer, a vertex of which moves; the same without layer."""
    mesh = unda.box_mesh((0, 0, 0), (1.5, 1, 1), cells=(3, 2, 2), shape="tet")
    vertices = mesh.vertices.copy()
    inner = (vertices == 0.5)[:, 1:].all(axis=1) & (vertices[:, 0] == 1.0)
    vertices[inner] += (0.07, -0.05, 0.04)
    faces = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    tags = (mesh.centroids[:, 0] > 0.5).astype(np.int32)
    moved = unda.Mesh(vertices, mesh.cells, tags=tags, tag_names={"in": 0, "pml": 1}, boundaries=faces)
    wall = {"acoustic": "free", "elastic": "fixed", "maxwell": "pec"}[physics]
    layer = unda.CPML(tag="pml", f0=1.0, ratio=ratio, kappa=kappa)
    return [
        unda.DG(moved, MEDIA[physics], degree=degree, boundary=b, device="cpu", dtype="float64")
        for b in ({"xmax": layer, "*": wall}, {"*": wall})
    ]


def power(sim):
    """dE/dt of the state: E is quadratic."""
    state, rates = ({name: one[name] for name in sim.fields} for one in (state_of(sim), sim.rhs()))
    energies = []
    for sign in (1.0, -1.0):
        sim.set(**{name: state[name] + sign * rates[name] for name in sim.fields})
        energies.append(sim.energy())
    return (energies[0] - energies[1]) / 4.0 * 2.0


def state_of(sim):
    return {name: sim.get(name) for name in sim.fields}


def loss(physics, n, jump):
    """Twice what an upwind flux across n takes from the energy, per area, where fields jump; rho = vp = 1."""
    if physics == "acoustic":
        return jump["p"] ** 2 + (n @ [jump["vx"], jump["vy"], jump["vz"]]) ** 2
    if physics == "maxwell":
        e, h = (np.cross(n, [jump[f + "x"], jump[f + "y"], jump[f + "z"]]) for f in "eh")
        return e @ e + h @ h
    s = {name: jump["s" + name] for name in ("xx", "yy", "zz", "yz", "xz", "xy")}
    stress = [[s["xx"], s["xy"], s["xz"]], [s["xy"], s["yy"], s["yz"]], [s["xz"], s["yz"], s["zz"]]]
    v, t = np.array([jump["vx"], jump["vy"], jump["vz"]]), np.array(stress) @ n
    vs = 0.55
    normal, along = (v @ n) ** 2 + (t @ n) ** 2, (v @ v - (v @ n) ** 2) * vs + (t @ t - (t @ n) ** 2) / vs
    return normal + along


@pytest.mark.parametrize("physics", MEDIA)
def test_oblique_faces_in_layers_take_what_the_fluxes_across_the_axes_do(physics):
    """Fields are constant in each cell, so that jumps are all there is; memory variables are 0.

    Without layers a face takes loss(n) / 2 of the energy per area; in a layer along x, where n_x is not 0,
    the sum of n_i^2 loss(e_i) / 2. Each of 10^3 jumps is known to 1e-15.
    """
    with_layer, without = layered_block(physics)
    mesh, rng = without.mesh, np.random.default_rng(3)
    values = {name: rng.standard_normal(mesh.num_elem) for name in without.fields}
    powers = []
    for sim in (with_layer, without):
        sim.set(**{name: np.repeat(one[:, None], sim.num_node, 1) for name, one in values.items()})
        powers.append(power(sim))
    expected, num = 0.0, 0
    owner: dict = {}
    for cell, vertices in enumerate(mesh.cells):
        for face in range(4):
            owner.setdefault(tuple(sorted(np.delete(vertices, face))), []).append(cell)
    for face, cells in owner.items():
        a, b, c = mesh.vertices[list(face)]
        across = np.cross(b - a, c - a) / 2.0
        area = np.linalg.norm(across)
        n = across / area
        if len(cells) == 2 and (np.abs(n) > 1e-6).sum() > 1 and abs(n[0]) > 1e-6 and mesh.tags[cells[0]] == 1:
            jump = {name: one[cells[1]] - one[cells[0]] for name, one in values.items()}
            split = sum(n[i] ** 2 * loss(physics, np.eye(3)[i], jump) for i in range(3))
            expected -= area / 2.0 * (split - loss(physics, n, jump))
            num += 1
    assert num > 10 and abs(expected) > 0.1
    assert powers[0] - powers[1] == pytest.approx(expected, abs=1e3 * 1e-15 * sum(map(abs, powers)) * 10)


def test_continuous_fields_have_no_penalty_in_layers():
    with_layer, without = layered_block("elastic")
    x, y, z = np.moveaxis(without.coordinates, -1, 0)
    rates = []
    for sim in (with_layer, without):
        sim.set(vx=1.0 + x - 2.0 * y + z, sxy=x + 3.0 * z)
        rates.append(np.stack([sim.rhs()[name] for name in sim.fields]))
    assert np.abs(rates[0] - rates[1]).max() < 1e-12 * np.abs(rates[1]).max()


def bytes_of(sim):
    return [sim.get(name).tobytes() for name in sim.fields]


@pytest.mark.parametrize(
    ("shape", "physics", "integrator"), [("hex", "elastic", "lsrk4"), ("tet", "maxwell", "ab3")]
)
def test_threads_and_parts_have_the_bits_of_one(shape, physics, integrator):
    runs = []
    for options in ({"threads": 1}, {"threads": 3}, {"device": ["cpu"] * 3}):
        sim = unda.DG(
            cube(shape, 2), MEDIA[physics], degree=1, boundary=CORNER, integrator=integrator,
            **({"device": "cpu"} | options),
        )  # fmt: skip
        sim.set(**{sim.fields[0]: lambda x, y, z: np.exp(-20.0 * ((x - 0.4) ** 2 + y**2 + z**2))})
        sim.run(steps=12)
        runs.append(bytes_of(sim))
    assert runs[0] == runs[1] == runs[2]
    assert any(np.frombuffer(one, np.float32).any() for one in runs[0])


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_a_saved_run_goes_on_with_its_memory_variables(integrator, tmp_path):
    sim = noisy("hex", "acoustic", 1, integrator=integrator)
    sim.run(steps=7)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert again.config["layers"] == sim.config["layers"]
    forgetful = unda.load(tmp_path / "run.h5")
    forgetful.set(t=sim.t, **{name: sim.get(name) for name in sim.fields})
    for one in (sim, again, forgetful):
        one.run(steps=5)
    assert bytes_of(again) == bytes_of(sim)
    assert bytes_of(forgetful) != bytes_of(sim)  # setting a state clears memory variables


def test_layers_continue_mesh_and_medium():
    mesh = cube("tet", 2, periodic=(False, True, False))
    centre = mesh.centroids
    medium = unda.Acoustic(rho=1.0, c=1.0 + centre[:, 2])
    boundary = {"xmax": unda.CPML(thickness=1.0), "zmin": unda.CPML(thickness=0.5), "*": "rigid"}
    sim = unda.DG(mesh, medium, degree=1, boundary=boundary, device="cpu")
    made = sim.mesh
    assert made.lower == (0.0, 0.0, -0.5) and made.upper == (2.0, 1.0, 1.0)
    assert np.isclose(made.volume, 2.0 * 1.0 * 1.5)
    assert (made.cells[: mesh.num_elem] == mesh.cells).all()
    inside = np.clip(made.centroids, mesh.lower, mesh.upper)
    c = sim.medium.on(made)[:, 1]
    beside = (centre[:, 0] > 0.5) & (centre[:, 2] < 0.5)
    corner = (made.centroids[:, 0] > 1.0) & (made.centroids[:, 2] < 0.0)
    assert np.isin(c[corner], medium.on(mesh)[beside, 1]).all() and corner.any()
    assert (np.abs(c - 1.0 - inside[:, 2]) < 0.5).all()
    assert [sim.config["boundary"][side] for side in ("xmin", "xmax", "ymin", "zmin")] == [
        "rigid",
        "free",
        "periodic",
        "free",
    ]
    assert sim.memory == unda.DG.forecast(mesh, medium, degree=1, boundary=boundary, device="cpu")
    assert "layers of 0.5 m at zmin, 1 m at xmax" in repr(sim)


def test_tagged_cells_are_the_layers_that_would_be_added():
    added = unda.DG(
        cube("hex", 2), MEDIA["elastic"], degree=2, boundary={"*": unda.CPML(thickness=0.5)}, device="cpu"
    )
    whole = added.mesh
    outside = np.abs(whole.centroids - 0.5).max(axis=1) > 0.5
    faces = {
        name: whole.boundary_faces[whole.boundary_ids == i] for i, name in enumerate(whole.boundary_names)
    }
    mesh = unda.Mesh(
        whole.vertices,
        whole.cells,
        tags=outside.astype(np.int32),
        tag_names={"inside": 0, "pml": 1},
        boundaries=faces,
    )
    tagged = unda.DG(mesh, MEDIA["elastic"], degree=2, boundary={"*": unda.CPML(tag="pml")}, device="cpu")
    assert tagged.config["layers"]["sides"] == added.config["layers"]["sides"]
    for sim in (added, tagged):
        sim.set(vx=lambda x, y, z: np.exp(-20.0 * ((x - 0.4) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2)))
        sim.run(steps=10)
    assert bytes_of(tagged) == bytes_of(added)


def layered_at_xmin():
    """Two cubes of cells before a layer of cells at x < 0."""
    whole = unda.box_mesh((-0.5, 0, 0), (1, 1, 1), cells=(3, 2, 2), shape="hex")
    faces = {
        name: whole.boundary_faces[whole.boundary_ids == i] for i, name in enumerate(whole.boundary_names)
    }
    tags = (whole.centroids[:, 0] < 0.0).astype(np.int32)
    return unda.Mesh(whole.vertices, whole.cells, tags=tags, tag_names={"in": 0, "pml": 1}, boundaries=faces)


@pytest.mark.parametrize(
    ("boundary", "what"),
    [
        ({"*": unda.CPML(tag="pml")}, "boundary 'xmax' .* no layer of cells"),
        ({"zmax": unda.CPML(tag="pml"), "*": "rigid"}, "layer at xmin, where .* has no CPML"),
        (
            {"xmin": unda.CPML(tag="pml"), "ymin": unda.CPML(tag="pml")},
            "boundary 'ymin' .* no layer of cells",
        ),
        ({"xmin": unda.CPML(tag="pml"), "*": "rigid"}, None),
    ],
)
def test_boundaries_with_a_tagged_layer_have_cells_of_the_tag(boundary, what):
    def made():
        return unda.DG(layered_at_xmin(), MEDIA["acoustic"], degree=1, boundary=boundary, device="cpu")

    if what is None:
        assert list(made().config["layers"]["sides"]) == ["xmin"]
        return
    with pytest.raises(unda.ArgumentError, match=what):
        made()


def test_tagged_cells_at_a_side_without_a_layer_are_refused():
    mesh = layered_at_xmin()
    tags = mesh.tags | (mesh.centroids[:, 2] > 0.5)
    faces = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    corner = unda.Mesh(mesh.vertices, mesh.cells, tags=tags, tag_names={"in": 0, "pml": 1}, boundaries=faces)
    boundary = {"xmin": unda.CPML(tag="pml"), "*": "rigid"}
    with pytest.raises(unda.ArgumentError, match="layer at zmax, where boundary 'zmax' has no CPML"):
        unda.DG(corner, MEDIA["acoustic"], degree=1, boundary=boundary, device="cpu")
    both = boundary | {"zmax": unda.CPML(tag="pml")}
    sim = unda.DG(corner, MEDIA["acoustic"], degree=1, boundary=both, device="cpu")
    assert set(sim.config["layers"]["sides"]) == {"xmin", "zmax"}


@pytest.mark.parametrize("per", ["node", "function"])
def test_values_at_nodes_that_vary_across_layers_are_warned_of(per):
    mesh = layered_at_xmin()
    boundary = {"xmin": unda.CPML(tag="pml"), "*": "rigid"}

    def warned(c):
        given = c if per == "function" else c(*np.moveaxis(mesh.coordinates(2), -1, 0))
        medium = unda.Acoustic(rho=1.0, c=given, per="node")
        sim = unda.DG(mesh, medium, degree=2, boundary=boundary, device="cpu")
        return any("not that before it" in text for text in sim.check().warnings)

    assert warned(lambda x, y, z: 1.0 - 0.2 * x)
    assert warned(lambda x, y, z: np.where(x < -0.25, 1.5, 1.0))
    assert not warned(lambda x, y, z: 1.0 + 0.5 * y + np.sin(3.0 * z) ** 2)
    assert not warned(lambda x, y, z: 1.0 + 0.2 * np.maximum(x, 0.0))


def test_a_wavelength_is_that_of_the_fastest_node_of_an_array():
    mesh = cube("hex")
    c = np.full((mesh.num_elem, 27), 0.5)
    c[-1, -1] = 1.0  # neither at a centroid nor in the mean
    medium = unda.Acoustic(rho=1.0, c=c, per="node")
    sim = unda.DG(mesh, medium, degree=2, boundary={"xmin": unda.CPML(f0=2.0), "*": "rigid"}, device="cpu")
    assert sim.config["layers"]["sides"]["xmin"]["depth"] == 0.5
    sim.add_source(unda.VolumeInjection((0.3, 0.2, 0.2), unda.ricker(1.0)))
    assert any("wavelength of the fastest wave at 1 Hz" in one for one in sim.check().warnings)


def test_layers_thinner_than_a_wavelength_and_central_fluxes_are_warned_of():
    def warnings(f, flux="upwind", **given):
        boundary = {"xmin": unda.CPML(**given), "*": "rigid"}
        sim = unda.DG(cube("hex", 2), MEDIA["acoustic"], degree=4, boundary=boundary, device="cpu", flux=flux)
        sim.add_source(unda.VolumeInjection((0.6, 0.6, 0.6), unda.ricker(f)))
        return [text for text in sim.check().warnings if "layer" in text]

    (thin,) = warnings(1.0, f0=20.0)
    assert "0.05 m thick" in thin and "1 Hz" in thin and "is 1 m" in thin
    assert len(warnings(1.0, thickness=0.7)) == 1
    assert not warnings(1.0, thickness=0.8)
    (central,) = warnings(1.0, "central", f0=1.0)
    assert "flux='upwind'" in central


def test_points_in_layers_and_media_that_vary_across_them_are_warned_of():
    mesh = cube("hex", 2)
    boundary = {"xmin": unda.CPML(f0=1.0), "*": "rigid"}
    quiet = unda.DG(mesh, MEDIA["acoustic"], degree=4, boundary=boundary, device="cpu")
    quiet.add_source(injection((0.6, 0.6, 0.6)))
    assert not any("layer" in text for text in quiet.check().warnings)
    quiet.add_source(injection((-0.2, 0.6, 0.6)))
    quiet.add_receivers([(0.1, 0.2, 0.2), (-1e-12, 0.2, 0.2), (-0.3, 0.2, 0.2)])
    for text in ("1 of 2 sources are in the layer at xmin", "1 of 3 receivers are in the layer at xmin"):
        assert any(text in one for one in quiet.check().warnings)
    tagged = layered_at_xmin()
    medium = unda.Acoustic(rho=1.0, c={"in": 1.0, "pml": 2.0})
    sim = unda.DG(tagged, medium, degree=1, boundary=boundary | {"xmin": unda.CPML(tag="pml")}, device="cpu")
    assert any("not that before it" in text for text in sim.check().warnings)


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
@pytest.mark.parametrize(("shape", "physics"), [("hex", "elastic"), ("tet", "acoustic")])
def test_a_source_where_a_layer_begins_makes_the_waves_of_one_just_before_it(shape, physics):
    """A millionth before: a polynomial of degree 2 has slopes up to 2 N^2 / h, 16, so 1e-4 covers it.

    A millionth beyond, sources drive what is stretched: waves are others by far, and `check` says so.
    """
    mesh = unda.box_mesh((0, 0, 0), (1.0, 0.5, 0.5), cells=(2, 1, 1), shape=shape)
    boundary = {"xmax": unda.CPML(f0=1.0), "*": "absorbing"}
    found, told = [], []
    for x in (1.0, 1.0 - 1e-6, 1.0 + 1e-6):
        sim = unda.DG(mesh, MEDIA[physics], degree=2, boundary=boundary, device="cpu", dtype="float64")
        sim.add_source(injection((x, 0.31, 0.12)))
        rec = sim.add_receivers([(0.1, 0.2, 0.3)], ["vx"])
        told.append(any("1 of 1 sources are in the layer at xmax" in text for text in sim.check().warnings))
        sim.run(until=2.0)
        found.append(rec["vx"][0])
    at, before, beyond = found
    assert np.abs(at - before).max() < 1e-4 * np.abs(before).max()
    assert np.abs(beyond - before).max() > 0.1 * np.abs(before).max()
    assert told == [False, False, True]


def test_fields_outside_layers_are_set_and_compared():
    sim = unda.DG(
        cube("hex"),
        MEDIA["acoustic"],
        degree=1,
        boundary={"xmax": unda.CPML(f0=1.0), "*": "rigid"},
        device="cpu",
    )
    sim.set(p=np.ones((1, 8)))
    assert sim.get("p")[0].all() and not sim.get("p")[1:].any()
    sim.set(p=1.0)
    assert not sim.get("p")[1:].any()
    sim.set(p=np.ones((3, 8)))
    assert sim.get("p").all()


def test_guided_waves_and_contrasts_have_multiaxial_layers_and_sponges():
    def ratios(medium, boundary, mesh=None):
        sim = unda.DG(mesh or cube("hex", 2), medium, degree=1, boundary=boundary, device="cpu")
        return {side: one["ratio"] for side, one in sim.config["layers"]["sides"].items()}

    plate = {"zmin": "free", "zmax": "free", "*": unda.CPML(f0=1.0)}
    assert set(ratios(MEDIA["elastic"], plate).values()) == {0.1}
    assert set(ratios(MEDIA["elastic"], plate | {"zmin": unda.CPML(f0=1.0)}).values()) == {0.02}
    assert set(
        ratios(MEDIA["acoustic"], {"zmin": "free", "zmax": "free", "*": unda.CPML(f0=1.0)}).values()
    ) == {0.02}
    split = unda.Elastic(rho=lambda x, y, z: np.where(z > 0.5, 20.0, 1.0), vp=1.0, vs=0.5)
    assert ratios(split, {"*": unda.CPML(f0=1.0)})["xmin"] == 1.0
    assert ratios(split, {"*": unda.CPML(f0=1.0, ratio=0.3)})["xmin"] == 0.3


@pytest.mark.parametrize(
    ("boundary", "what"),
    [
        ({"*": unda.CPML()}, "thickness"),
        ({"*": unda.CPML(tag="pml", f0=1.0)}, "tag"),
        ({"*": unda.Damping()}, "DG has unda.CPML"),
        ({"*": unda.CPML(5, f0=1.0)}, "width 5, which counts nodes of grids"),
        ({"ymin": unda.CPML(f0=1.0), "*": "rigid"}, "periodic"),
    ],
)
def test_layers_that_cannot_be_are_refused(boundary, what):
    mesh = cube("hex", periodic=(False, True, False))
    with pytest.raises(unda.ArgumentError, match=what):
        unda.DG(mesh, MEDIA["acoustic"], degree=1, boundary=boundary, device="cpu")


def test_a_layer_of_a_tag_has_no_thickness():
    with pytest.raises(unda.ArgumentError, match=r"thickness is 3.0, tag is 'pml'"):
        unda.CPML(tag="pml", thickness=3.0)
    with pytest.raises(unda.ArgumentError, match=r"width is 4, thickness is 3.0 m; expected one of them"):
        unda.CPML(4, thickness=3.0)


def test_a_slanted_side_has_no_layer():
    mesh = cube("hex", 2)
    x = mesh.vertices + 0.1 * mesh.vertices[:, [1, 2, 0]] * (mesh.vertices[:, :1] > 0.9)
    faces = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    bent = unda.Mesh(x, mesh.cells, boundaries=faces)
    with pytest.raises(unda.ArgumentError, match="does not lie in a plane"):
        unda.DG(bent, MEDIA["acoustic"], degree=1, boundary={"xmax": unda.CPML(f0=1.0)}, device="cpu")
