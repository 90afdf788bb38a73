"""Runs do not depend on where the mesh stands, how it is turned, or which units are used; they are linear.

To rounding: 1e-12 of the largest value is some hundred times what 30 steps of sums of 60 products lose.
Not here: renumbering and the right-hand side alone (test_dg_rhs.py), energy (test_dg_energy.py).
"""

import numpy as np
import pytest
import unda

# Holds to rounding, resolved or not.
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

FIELDS = ("p", "vx", "vy", "vz")
VELOCITY = ("vx", "vy", "vz")
WALLS = {"xmin": "rigid", "ymax": "free", "*": "absorbing"}
STEPS = 30
PHYSICS = {
    "acoustic": (unda.Acoustic(rho=1.3, c=1.2), {"xmin": "rigid", "ymax": "free", "*": "absorbing"}),
    "elastic": (unda.Elastic(rho=1.3, vp=2.0, vs=1.0), {"xmin": "fixed", "ymax": "free", "*": "absorbing"}),
    "maxwell": (unda.Maxwell(eps=1.3, mu=1.2), {"xmin": "pec", "ymax": "pmc", "*": "absorbing"}),
}
QUARTER = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])


def box():
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 3, 2), perturb=0.2, seed=3)


def moved(mesh, matrix, shift=(0, 0, 0)):
    """The same cells with vertices matrix x + shift."""
    sides = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    return unda.Mesh(mesh.vertices @ np.array(matrix, float).T + shift, mesh.cells, boundaries=sides)


def materials(mesh, density=1.0, speed=1.0):
    rho, c = np.random.default_rng(5).uniform(0.5, 2.0, (2, mesh.num_elem))
    return unda.Acoustic(rho=density * rho, c=speed * c)


def state(mesh, degree=3, seed=1):
    shape = 4, mesh.num_elem, (degree + 1) * (degree + 2) * (degree + 3) // 6
    return dict(zip(FIELDS, np.random.default_rng(seed).standard_normal(shape), strict=True))


def turned(fields, matrix):
    v = np.einsum("ij,jen->ien", matrix, np.stack([fields[name] for name in VELOCITY]))
    return {"p": fields["p"], **dict(zip(VELOCITY, v, strict=True))}


def run(mesh, medium, start, *, degree=3, dt=None, source=None, dtype="float64", **options):
    """All fields after STEPS steps and the step's length; the source is (place, function)."""
    sim = unda.DG(mesh, medium, degree=degree, boundary=WALLS, dt=dt, dtype=dtype, device="cpu", **options)
    if source is not None:
        sim.add_source(unda.VolumeInjection(*source))
    sim.set(**start)
    sim.run(steps=STEPS)
    return {name: sim.get(name) for name in FIELDS}, sim.dt


def difference(found, expected):
    return max(np.abs(found[name] - expected[name]).max() / np.abs(expected[name]).max() for name in FIELDS)


def rotation(seed=4):
    q = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]
    return q * np.linalg.det(q)


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("matrix", [QUARTER, rotation()], ids=["quarter", "any"])
def test_a_turned_mesh_gives_turned_fields(matrix, flux):
    mesh, place = box(), np.array([0.43, 0.61, 0.37])
    start, pulse = state(mesh), unda.ricker(5.0)
    here, dt = run(mesh, materials(mesh), start, source=(place, pulse), flux=flux)
    there, _ = run(
        moved(mesh, matrix), materials(mesh), turned(start, matrix),
        source=(matrix @ place, pulse), flux=flux, dt=dt,
    )  # fmt: skip
    assert difference(there, turned(here, matrix)) < 1e-12
    assert difference(there, here) > 0.1


def on_a_grid(mesh):
    """The mesh with vertices rounded to 2^-20 m, which stay exact when moved by whole metres."""
    sides = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    return unda.Mesh(np.round(mesh.vertices * 2**20) / 2**20, mesh.cells, boundaries=sides)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_mesh_a_million_metres_away_gives_the_same_bits(dtype):
    """Geometry knows differences of coordinates only."""
    mesh, place, far = on_a_grid(box()), np.array([0.4375, 0.625, 0.375]), np.array([1e6, -2e6, 3e6])
    shifted = moved(mesh, np.eye(3), far)

    def bits(mesh, place):
        return run(mesh, materials(mesh), state(mesh), source=(place, unda.ricker(5.0)), dtype=dtype)

    (here, dt), (there, other_dt) = bits(mesh, place), bits(shifted, place + far)
    assert other_dt == dt
    assert all(np.array_equal(there[name], here[name]) for name in FIELDS)
    assert not np.array_equal(bits(shifted, place + far + [0, 0, 1e-3])[0]["p"], here["p"])


def test_denser_media_under_as_much_more_pressure_move_alike():
    """rho -> s rho, p -> s p leaves both equations as they are, with the same q."""
    mesh, s, source = box(), 1000.0, ((0.4, 0.6, 0.4), unda.ricker(5.0))
    start = state(mesh)
    denser = start | {"p": s * start["p"]}
    here, _ = run(mesh, materials(mesh), start, source=source)
    expected = here | {"p": s * here["p"]}
    there, _ = run(mesh, materials(mesh, density=s), denser, source=source)
    assert difference(there, expected) < 1e-12
    off, _ = run(mesh, materials(mesh, density=1.01 * s), denser, source=source)
    assert difference(off, expected) > 1e-3


def test_kilometres_and_faster_waves_give_the_same_numbers():
    """x -> L x, c -> L c at the same times: v -> L v, p -> L^2 p."""
    mesh, scale = box(), 1500.0
    start = state(mesh)
    here, dt = run(mesh, materials(mesh), start)
    big = {"p": scale**2 * start["p"], **{name: scale * start[name] for name in VELOCITY}}
    there, other_dt = run(moved(mesh, scale * np.eye(3)), materials(mesh, speed=scale), big)
    assert other_dt == pytest.approx(dt, rel=1e-13)
    expected = {"p": scale**2 * here["p"], **{name: scale * here[name] for name in VELOCITY}}
    assert difference(there, expected) < 1e-12
    off, _ = run(moved(mesh, scale * np.eye(3)), materials(mesh, speed=1.01 * scale), big, dt=0.9 * dt)
    assert difference(off, expected) > 1e-3


@pytest.mark.parametrize("exponent", [-40, 40])
@pytest.mark.parametrize("shear", [True, False])
@pytest.mark.parametrize("physics", PHYSICS)
def test_hexahedra_of_any_size_give_the_same_bits(physics, shear, exponent):
    """x -> L x, t -> L t, float32: powers of areas up to the third are beyond its range in metres."""
    medium, walls = PHYSICS[physics]

    def bits(scale):
        box = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 1), shape="hex", perturb=0 if shear else 0.2)
        mesh = moved(box, scale * np.array([[1, 0.25, 0], [0, 1, 0], [0, 0, 1]]))
        sim = unda.DG(mesh, medium, degree=2, boundary=walls, dtype="float32", device="cpu")
        rng = np.random.default_rng(1)
        sim.set(**{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
        sim.run(steps=STEPS)
        return [sim.get(name) for name in sim.fields]

    metres, others = bits(1.0), bits(2.0**exponent)
    assert all(np.isfinite(field).all() and np.ptp(field) > 0 for field in metres)
    assert all(np.array_equal(a, b) for a, b in zip(metres, others, strict=True))


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
@pytest.mark.parametrize("flux", ["upwind", "central"])
def test_runs_are_linear_in_state_and_source(flux, integrator):
    mesh = box()
    u, v = state(mesh, seed=1), state(mesh, seed=2)
    options = {"flux": flux, "integrator": integrator}
    t = np.linspace(0, 1, 300)
    place, f, g = (0.4, 0.6, 0.4), np.sin(9 * t) * t, np.cos(7 * t) * t**2

    def one(start, values):
        return run(mesh, materials(mesh), start, source=(place, unda.sampled(t, values)), **options)[0]

    a, b = one(u, f), one(v, g)
    both = one({name: 2 * u[name] - 3 * v[name] for name in FIELDS}, 2 * f - 3 * g)
    assert difference(both, {name: 2 * a[name] - 3 * b[name] for name in FIELDS}) < 1e-12
    assert difference(both, one({name: 2 * u[name] - 3 * v[name] for name in FIELDS}, f)) > 1e-6
    assert difference(both, {name: 2 * a[name] - 3.03 * b[name] for name in FIELDS}) > 1e-3


def plane_wave_errors(dtype):
    """Relative error of a resolved N = 8 wave, and against one that is 1 % too fast."""
    media = [unda.Acoustic(rho=1.3, c=c) for c in (0.9, 0.909)]
    right, wrong = (unda.exact.plane_wave(medium, k=(2 * np.pi, 0, 0)) for medium in media)
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), periodic=(True,) * 3, perturb=0.15, seed=2)
    sim = unda.DG(mesh, media[0], degree=8, dtype=dtype, device="cpu")
    sim.set(right)
    sim.run(until=0.06)
    return [sim.error(exact, relative=True)["p"] for exact in (right, wrong)]


@pytest.mark.slow
def test_float32_stops_at_its_rounding_and_float64_far_below():
    """A rounding is 6e-8; those of some fifteen steps of five stages add up at random to ten of them."""
    single, double = plane_wave_errors("float32"), plane_wave_errors("float64")
    assert 3e-8 < single[0] < 2e-6
    assert double[0] < single[0] / 50
    assert min(single[1], double[1]) > 1e-3
