"""A point source is the transpose of a receiver, row by row, in every method, on every engine.

<q, s> is the inner product of the energy, E(q) = <q, q> / 2. A source at x with the amplitude 1 makes s of a
state of zeros, dq/dt or a step; for any q then <q, s> = factor (what a receiver at x shows of q): the volume
shows p, a force F.v, a current -J.E. Of random q: every weight of both rows counts. Not here: whole runs in
which the two change places (test_dg_reciprocity.py, test_fd_points.py, test_staggered_points.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from hex_meshes import FACES, turned_box
from staggered_cases import WALLS, random_medium, source_of

pytestmark = [
    pytest.mark.gpu_or_stand_in,
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),  # nothing is resolved here
]
cuda_device.prepare()
DEVICES = ("cpu", "cuda")
ALONG = np.array([2.0, -1.0, 2.0]) / 3.0
DRIVEN = {"acoustic": ("p",), "elastic": ("vx", "vy", "vz"), "maxwell": ("ex", "ey", "ez")}
#: E(q + s) - E(q) - E(s): three sums of at most 1e4 terms, each to eps sqrt(1e4), and twice as much again.
ROUNDING = 3 * 2 * 2.2e-16 * 1e2

MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2), perturb=0.2, seed=4)
CENTER = MESH.vertices[MESH.cells[3]]
ON_MESH = [(0.31, 0.44, 0.87), *(CENTER[:n].mean(axis=0) for n in (4, 3, 2, 1)), (0.3, 0.6, 1.0)]
HEXAHEDRA = turned_box((2, 2, 2), seed=4)


def on_hexahedra():
    """As ON_MESH: of cell 3 the faces and edges at the vertex that all cells share."""
    x = HEXAHEDRA.vertices[HEXAHEDRA.cells[3]]
    inner = int(np.flatnonzero(((x > 0) & (x < 1)).all(axis=1))[0])
    face = next(face.tolist() for face in FACES if inner in face)
    edge = [inner, face[face.index(inner) - 1]]
    parts = (range(8), face, edge, [inner])
    return [ON_MESH[0], *(x[list(part)].mean(axis=0) for part in parts), ON_MESH[-1]]


MESHES = {"tetrahedra": (MESH, ON_MESH), "hexahedra": (HEXAHEDRA, on_hexahedra())}
WHERE = ("inside", "centre", "face", "edge", "vertex", "side")
GRID = unda.Grid((12, 11, 13), (1.0, 0.8, 1.3), origin=(3.0, -2.0, 1.0))
ON_GRID = [(8.3, 2.1, 7.7), (8.0, 2.0, 7.5), (3.1, -1.95, 1.07), (3.1, -1.9, 16.5), (13.7, 1.7, 5.3)]
ON_FREE_SIDE = (8.1, 2.3, 1.0)


def mesh_medium(physics, varied, mesh=MESH):
    """Another material in every cell, or one: where cells meet receivers take those of one material alone."""
    values = np.random.default_rng(5).uniform(0.6, 1.1, (3, mesh.num_elem))
    one, other, third = values if varied else np.broadcast_to(values[:, :1], values.shape)
    if physics == "acoustic":
        return unda.Acoustic(rho=one, c=other)
    if physics == "maxwell":
        return unda.Maxwell(eps=one, mu=other)
    return unda.Elastic(rho=one, vp=2 * other, vs=third)


def product(sim, state, other):
    """Return <state, other> and the energies of both, of which its rounding is a part."""
    energies = []
    for one in (state, other, {name: state[name] + other[name] for name in state}):
        sim.set(**one)
        energies.append(sim.energy())
    return energies[2] - energies[0] - energies[1], energies[0] + energies[1]


def shown(values, physics):
    """Return what a source along ALONG has to do with what is recorded at its place."""
    if physics == "acoustic":
        return float(values["p"].ravel()[0])
    sign = -1.0 if physics == "maxwell" else 1.0
    return sign * sum(
        a * float(values[name].ravel()[0]) for a, name in zip(ALONG, DRIVEN[physics], strict=True)
    )


def states(sim, made, physics):
    """Return s, and a random q of the driven fields as large; of both the other fields are 0."""
    rng, zero = np.random.default_rng(7), dict.fromkeys(made, 0.0 * next(iter(made.values())))
    size = max(np.abs(one).max() for one in made.values())
    random = {name: size * rng.standard_normal(made[name].shape) for name in DRIVEN[physics]}
    sim.set(**zero | random)  # walls hold some at 0
    q = {name: sim.get(name) for name in random}
    return zero | {name: made[name] for name in random}, zero | q


def holds(sim, made, physics, place, factor):
    """Check the identity, and that it fails where the receiver stands elsewhere."""
    s, q = states(sim, made, physics)
    found, size = product(sim, q, s)
    near = np.asarray(place) + 1e-3 * (
        np.mean(ON_GRID if sim.config["method"] == "FD" else ON_MESH, axis=0) - place
    )
    sim.set(**q)
    expected, other = (factor * shown(sim.sample([one]), physics) for one in (place, near))
    assert size > 0
    assert abs(found - expected) < ROUNDING * size
    assert abs(found - other) > 10 * ROUNDING * size, "the test sees a thousandth of the way"


@pytest.mark.each_value("shape", "physics")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("physics", DRIVEN)
@pytest.mark.parametrize("shape", MESHES)
def test_dg(shape, physics, where, device):
    mesh, points = MESHES[shape]
    place = points[WHERE.index(where)]
    medium = mesh_medium(physics, where in ("inside", "centre"), mesh)
    sim = unda.DG(mesh, medium, degree=2, dtype="float64", device=device)
    sim.add_source(source_of(physics, place, lambda t: 1.0 + 0 * t, ALONG))
    made = sim.rhs()
    holds(sim, made, physics, place, 1.0)


def walls_of(physics):
    walls = WALLS[physics]
    return {"xmin": walls[0], "ymin": walls[-1], "zmin": walls[0], "zmax": walls[-1], "*": walls[1]}


@pytest.mark.each_value
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("physics", "place"),
    [*((one, place) for one in DRIVEN for place in ON_GRID), ("elastic", ON_FREE_SIDE)],
)
def test_staggered(physics, place, device):
    medium = random_medium(physics, GRID.shape, np.random.default_rng(0))
    sim = unda.FD(
        GRID, medium, scheme="staggered", boundary=walls_of(physics), dtype="float64", device=device
    )
    sim.add_source(source_of(physics, place, lambda t: 1.0 + 0 * t, ALONG))
    sim.step(1)
    holds(sim, {name: sim.get(name) for name in sim.fields}, physics, place, sim.dt)


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("device", "kernel"), [("cpu", "step"), ("cpu", "tiled"), ("cuda", "step"), ("cuda", "diamond")]
)
@pytest.mark.parametrize("place", [*ON_GRID, GRID.lower])
def test_scalar(place, device, kernel):
    """With p one step before 0 the energy is <p, p> / (2 dt^2); q_t = 1 makes dt^2 of it."""
    medium = unda.Acoustic(rho=2.0, c=np.random.default_rng(0).uniform(1, 2, GRID.shape))
    options = {"dts": 2, "step": 1} if kernel == "diamond" else None
    sim = unda.FD(
        GRID, medium, boundary={"zmax": "free", "*": "rigid"}, dtype="float64", device=device, kernel=kernel,
        kernel_options=options,
    )  # fmt: skip
    sim.add_source(unda.VolumeInjection(place, lambda t: t))
    sim.step(1)
    made = {"p": sim.get("p"), "p_previous": sim.get("p_previous")}
    holds(sim, made, "acoustic", place, 1.0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("method", [*MESHES, "staggered", "scalar"])
def test_an_engine_records_what_sample_shows(method, device):
    """The rows of the engine, of fields and of what is derived from them, beside walls too."""
    places = ON_GRID
    if method in MESHES:
        mesh, places = MESHES[method]
        sim = unda.DG(mesh, mesh_medium("elastic", True, mesh), degree=2, dtype="float64", device=device)
    elif method == "staggered":
        medium = random_medium("elastic", GRID.shape, np.random.default_rng(0))
        sim = unda.FD(
            GRID, medium, scheme="staggered", boundary=walls_of("elastic"), dtype="float64", device=device
        )
    else:
        sim = unda.FD(
            GRID, unda.Acoustic(rho=2.0, c=1.0), boundary={"*": "free"}, dtype="float64", device=device
        )
    fields = None if method == "scalar" else [*sim.fields, "pressure"]
    rng = np.random.default_rng(2)
    driven = ["p"] if method == "scalar" else ["vx", "vy", "vz"]
    sim.set(**{name: rng.standard_normal(sim.get(name).shape) for name in driven})
    rec = sim.add_receivers(places, fields)
    sim.step(3)
    found = sim.sample(places, fields)
    for name in rec.fields:
        size = max(np.abs(sim.get(field)).max() for field in sim.fields)
        assert np.abs(rec[name][:, -1] - found[name]).max() < 1e-13 * size
    assert all(rec.num_sample == 4 and np.abs(rec[name]).max() > 0 for name in rec.fields)
