"""Point sources and receivers of the staggered schemes: reciprocal to rounding, exact, at their places.

Not here: the weights of points (test_fd_points.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import WALLS, boundary, random_medium, staggered

SHAPE, SPACING = (14, 12, 13), (1.0, 0.8, 1.3)
GRID = unda.Grid(SHAPE, SPACING, origin=(3.0, -2.0, 1.0))
PERIODIC = ("periodic", "periodic")
ONE, OTHER = (5.31, 0.17, 6.62), (11.74, 3.9, 13.38)  # near walls, off nodes


def run(physics, sides, source, place, fields, order=4, lossless=True):
    medium = random_medium(physics, SHAPE, np.random.default_rng(0), lossless=lossless)
    sim = staggered(GRID, medium, order=order, boundary=boundary(*sides), cfl=0.7)
    sim.add_source(source)
    rec = sim.add_receivers([place], fields)
    sim.step(120)
    return {name: rec[name][0] for name in fields}


BUMP = unda.smooth_bump(6.0, t0=0.5)


def boxes(physics):
    walls = WALLS[physics]
    return [(PERIODIC,) * 3] + [((a, b), PERIODIC, (b, a)) for a in walls for b in walls]


def with_orders(sides):
    """Sides with an order each: all pairs of a wall, below or above, and an order."""
    periodic, *walls = sides
    return [(periodic, 8), *((one, (2, 4, 8)[(i + i // 3) % 3]) for i, one in enumerate(walls))]


@pytest.mark.parametrize("sides, order", with_orders(boxes("elastic")))
def test_forces_and_velocities_are_reciprocal(sides, order):
    """v_j at B of a force i at A = v_i at A of a force j at B, in random media with a fluid, beside walls.

    120 steps in float64: eps sqrt(120) of the largest; the bar is 1e-12 (free surfaces included).
    """
    axes = np.eye(3)
    for i, j in ((0, 0), (0, 2), (2, 1)):
        there = run("elastic", sides, unda.PointForce(ONE, BUMP, axes[i]), OTHER, ("vx", "vy", "vz"), order)
        here = run("elastic", sides, unda.PointForce(OTHER, BUMP, axes[j]), ONE, ("vx", "vy", "vz"), order)
        one, other = there["v" + "xyz"[j]], here["v" + "xyz"[i]]
        assert np.abs(one).max() > 1e-9
        assert np.abs(one - other).max() < 1e-12 * np.abs(one).max()


@pytest.mark.parametrize("sides", boxes("acoustic"))
def test_volumes_and_pressures_are_reciprocal(sides):
    one = run("acoustic", sides, unda.VolumeInjection(ONE, BUMP), OTHER, ("p",))["p"]
    other = run("acoustic", sides, unda.VolumeInjection(OTHER, BUMP), ONE, ("p",))["p"]
    assert np.abs(one).max() > 1e-6 and np.abs(one - other).max() < 1e-12 * np.abs(one).max()


@pytest.mark.parametrize("lossless", [True, False])
@pytest.mark.parametrize("sides", boxes("maxwell"))
def test_currents_and_electric_fields_are_reciprocal(sides, lossless):
    axes, fields = np.eye(3), ("ex", "ey", "ez")
    for i, j in ((0, 0), (1, 2)):
        dipole, other = unda.CurrentDipole(ONE, BUMP, axes[i]), unda.CurrentDipole(OTHER, BUMP, axes[j])
        there = run("maxwell", sides, dipole, OTHER, fields, lossless=lossless)["e" + "xyz"[j]]
        here = run("maxwell", sides, other, ONE, fields, lossless=lossless)["e" + "xyz"[i]]
        assert np.abs(there).max() > 1e-6 and np.abs(there - here).max() < 1e-12 * np.abs(there).max()


@pytest.mark.parametrize("wall", ["symmetry", "free"])
def test_explosions_and_pressures_are_reciprocal_in_solids(wall):
    """Volume q at A, pressure at B, each node with its own bulk modulus, nodes of free sides that of plane
    stress: all normal stresses are read with the same weights, those that a side holds at 0, too."""
    sides = ((wall, "fixed"), PERIODIC, (wall, wall))
    one = run("elastic", sides, unda.VolumeInjection(ONE, BUMP), OTHER, ("pressure",))["pressure"]
    other = run("elastic", sides, unda.VolumeInjection(OTHER, BUMP), ONE, ("pressure",))["pressure"]
    assert np.abs(one - other).max() < 1e-12 * np.abs(one).max()


# ---- exact solutions ----


def trace_errors(medium, source, fields, place, shape, cfl=0.45, order=8, **options):
    """Relative L2 errors of traces beside a source in a box of layers, 8 nodes in the shortest wavelength.

    What is left at 0.45 of the limit is the error of the step in time: 0.1 to 0.5 %.
    """
    f0 = source.f.fmax / 2.5
    grid = unda.Grid(shape, 1.0)
    sim = unda.FD(grid, medium, scheme="staggered", order=order, cfl=cfl, device="cpu",
                  boundary={"*": unda.CPML(width=10, f0=f0)}, **options)  # fmt: skip
    sim.add_source(source)
    rec = sim.add_receivers([place], fields)
    slowest = medium.speed_min(grid)
    sim.run(until=np.linalg.norm(np.subtract(place, source.position)) / slowest + 2.6 / f0)
    exact = unda.exact.point_source(medium, source)
    return {name: float(rec.misfit(exact, fields=(name,))[0]) for name in fields}


SOURCE, PLACE = (6.3, 9.1, 7.8), (28.7, 12.6, 11.2)  # 23 nodes apart: 1.15 wavelengths of f0


def test_acoustic_waves_of_a_volume():
    medium = unda.Acoustic(rho=1.2, c=2.0)
    source = unda.VolumeInjection(SOURCE, unda.ricker(2.0 / 20))
    errors = trace_errors(medium, source, ("p", "vx", "vy", "vz"), PLACE, (35, 20, 20))
    assert max(errors.values()) < 0.01, errors


@pytest.mark.parametrize(
    "kind", ["moment", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("force", "volume"))]
)
def test_elastic_waves(kind):
    medium = unda.Elastic(rho=1.2, vp=3.4, vs=2.0)
    f = unda.ricker(2.0 / 20)
    moment = [[1.0, 0.4, -0.3], [0.4, -0.6, 0.2], [-0.3, 0.2, 0.5]]
    source = {
        "force": unda.PointForce(SOURCE, f, (0.3, -0.5, 0.8)),
        "moment": unda.MomentTensor(SOURCE, f, moment),
        "volume": unda.VolumeInjection(SOURCE, unda.ricker(3.4 / 20)),
    }[kind]
    fields = ("vx", "vy", "vz", "sxx", "szz", "sxy")
    errors = trace_errors(medium, source, fields, PLACE, (35, 20, 20))
    assert max(errors.values()) < 0.01, errors


def test_waves_of_a_dipole():
    medium = unda.Maxwell(eps=1.5, mu=1 / (1.5 * 4.0))
    source = unda.CurrentDipole(SOURCE, unda.ricker(2.0 / 20), (0.3, -0.5, 0.8))
    errors = trace_errors(medium, source, medium.fields, PLACE, (35, 20, 20))
    assert max(errors.values()) < 0.01, errors


# ---- places and times ----


def test_fields_have_their_places_and_times():
    names = {"vx": (1, 0, 0), "sxy": (1, 1, 0), "szz": (0, 0, 0), "syz": (0, 1, 1)}
    sim = staggered(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), boundary={"*": "periodic"})
    for name, half in names.items():
        assert np.allclose(sim.coordinates_of(name), sim.coordinates + 0.5 * np.array(half) * SPACING)
    rec = sim.add_receivers([ONE], ["vx", "sxx", "pressure"])
    sim.step(3)
    assert np.allclose(rec.times("vx"), rec.t - 0.5 * sim.dt) and (rec.times("sxx") == rec.t).all()
    sim = staggered(GRID, unda.Maxwell(eps=1.0, mu=1.0), boundary={"*": "periodic"})
    for name, half in {"ex": (1, 0, 0), "hx": (0, 1, 1), "hz": (1, 1, 0)}.items():
        assert np.allclose(sim.coordinates_of(name), sim.coordinates + 0.5 * np.array(half) * SPACING)
    with pytest.raises(unda.ArgumentError, match="vx"):
        sim.coordinates_of("vx")


@pytest.mark.parametrize("physics", WALLS)
def test_an_exact_solution_is_set_at_native_places_and_times(physics):
    medium = {"acoustic": unda.Acoustic(rho=1.2, c=2.0), "elastic": unda.Elastic(rho=1.2, vp=3.4, vs=2.0),
              "maxwell": unda.Maxwell(eps=1.5, mu=1.0)}[physics]  # fmt: skip
    k = 2 * np.pi / (np.array(SHAPE) * SPACING) * [1, 0, 1]
    across = {"polarization": (0, 1, 0)} if physics == "maxwell" else {}
    wave = unda.exact.plane_wave(medium, k=tuple(k), **across)
    sim = staggered(GRID, medium, order=8, boundary={"*": "periodic"}, cfl=0.1)
    sim.set(wave, t=0.3)
    for name in sim.fields:
        place = np.moveaxis(sim.coordinates_of(name), -1, 0)
        lag = -0.5 * sim.dt if name[0] in "vh" and len(name) == 2 else 0.0
        assert np.allclose(sim.get(name), wave(*place, 0.3 + lag)[name], atol=1e-13)
    assert max(sim.error(wave).values()) < 1e-12
    sim.step(50)
    assert max(sim.error(wave, relative=True).values()) < 1e-3


def test_sources_that_a_medium_does_not_bear_are_refused():
    fluid = unda.Elastic(rho=1.0, vp=2.0, vs=0.0)
    sim = staggered(GRID, fluid, boundary={"*": "free"})
    with pytest.raises(unda.ArgumentError, match="deviatoric"):
        sim.add_source(unda.MomentTensor(ONE, BUMP, np.diag([1.0, -1.0, 0.0])))
    with pytest.raises(unda.ArgumentError, match="acoustic and elastic"):
        staggered(GRID, unda.Maxwell(eps=1.0, mu=1.0)).add_source(unda.VolumeInjection(ONE, BUMP))


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # exact for any pulse
def test_moments_beside_a_fluid_leave_no_shear_in_it():
    """What the spread reaches of the fluid takes the isotropic part: stresses there stay isotropic.

    In the middle of the moment: when it is back at 0 it has left nothing anywhere.
    """
    vs = np.ones(SHAPE)
    vs[:, :, 6:] = 0
    sim = staggered(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=vs), boundary={"*": "fixed"})
    sim.add_source(unda.MomentTensor((8.2, 2.1, 7.3), BUMP, [[1, 2, 0], [2, -1, 1], [0, 1, 0.5]]))
    sim.run(until=3.5)
    sxx, syy, szz, syz = (sim.get(name)[:, :, 6:] for name in ("sxx", "syy", "szz", "syz"))
    assert np.abs(sxx).max() > 1e-3
    assert np.abs(sxx - syy).max() < 1e-12 and np.abs(sxx - szz).max() < 1e-12 and (syz == 0).all()


def test_a_volume_on_a_free_surface_strains_it_as_one_without_normal_stress():
    """An added volume is a strain of a third along each axis. Inside each normal stress takes lambda + 2 mu/3
    of it; at a node of the surface, where szz is 0 and the cell a half, the others take twice
    2 (lambda' + mu)/3, with lambda' = 2 mu lambda/(lambda + 2 mu)."""
    medium, sides = unda.Elastic(rho=2.0, vp=3.0, vs=1.0), {"zmax": "free", "zmin": "fixed", "*": "periodic"}
    mu, lam = 2.0, 14.0
    plane = 2 * mu * lam / (lam + 2 * mu)
    for node, wanted in (((6, 5, 6), lam + 2 * mu / 3), ((6, 5, 11), 4 * (plane + mu) / 3)):
        sim = staggered(unda.Grid((13, 12, 12), 1.0), medium, boundary=sides, cfl=0.5)
        sim.add_source(unda.VolumeInjection(node, lambda t: 1.0 + 0 * t))
        sim.step(1)
        for name in ("sxx", "syy"):
            assert sim.get(name)[node] == pytest.approx(-wanted * sim.dt, rel=1e-12)
        assert sim.get("szz")[node] == pytest.approx(-wanted * sim.dt if node[2] == 6 else 0, rel=1e-12)


# ---- around them ----


def test_a_plane_is_drawn_where_its_field_stands():
    sim = staggered(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), boundary={"*": "periodic"})
    sim.set(vx=lambda x, y, z: x + 0 * y + 10 * z)
    for name, half in (("vx", 0.5), ("szz", 0.0)):
        plane = sim._plane(name, 0, 6.9, 200)
        assert plane.place == 3.0 + (4 if half == 0 else 3) + half
        left = sim._plane(name, 1, -1.2, 200).extent[0]
        assert left == 3.0 - 0.5 + half
    values = sim._plane("vx", 0, 6.9, 200).read()
    assert np.allclose(values, 6.5 + 10 * GRID.axes()[2][:, None], rtol=1e-6)


def test_room_for_samples_counts_every_field():
    """Each field has its own nodes: nine fields take nine times the room."""
    rooms = []
    for fields in (["vx"], None):
        sim = staggered(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), boundary={"*": "periodic"})
        sim.add_receivers(np.tile(ONE, (400, 1)), fields)
        rooms.append(sim._stepping.room())
    assert 8.5 < rooms[0] / rooms[1] < 9.5


def test_a_source_on_a_side_that_holds_it_is_refused():
    medium = unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
    sim = staggered(GRID, medium, boundary={"*": "fixed"})
    with pytest.raises(unda.ArgumentError, match="holds what it drives at 0"):
        sim.add_source(unda.PointForce((3.0, 1.2, 3.6), BUMP, (0, 1, 0)))


@pytest.mark.parametrize("kernel", ["tiled", "diamond"])
def test_kernels_of_the_scalar_scheme_are_refused(kernel):
    with pytest.raises(unda.ArgumentError, match="kernel is"):
        staggered(GRID, unda.Acoustic(rho=1.0, c=1.0), kernel=kernel)
