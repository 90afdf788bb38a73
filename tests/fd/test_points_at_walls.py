"""Points at and near the walls of elastic staggered grids: exact to the error of the window, sources too.

A wave is set, which no step has touched, and read at every depth of the first four cells: what is wrong is
interpolation alone. The bars are 1.5, 0.4, 0.1 % at 10, 20, 40 nodes a wavelength, of the largest velocity or
stress there. Derived: along the wall's normal polynomials through six places, f(6) h^6 / 50 (0.12 % of a sine
at 10 nodes); along each of the others the window, 0.09, 0.05, 0.03 %.
Not here: points elsewhere (test_staggered_points.py), what the scheme makes of waves
(test_staggered_surface.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import staggered

ROCK = unda.Elastic(rho=2.0, vp=np.sqrt(3.0), vs=1.0)
BARS = {10: 0.015, 20: 0.004, 40: 0.001}
DEPTHS = np.append(0.003, np.arange(0.0, 4.01, 0.25))
SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")


def errors(sim, wanted, places, t=0.0):
    """Return {field: largest error}, of the largest value of its group (v, s) at all places."""
    found, x = sim.sample(places), np.asarray(places).T
    exact = {name: wanted(*x, t - 0.5 * sim.dt if name[0] == "v" else t)[name] for name in sim.fields}
    peak = {name: np.abs(exact[name]).max() for name in exact}
    norm = {group: max(peak[name] for name in peak if name[0] == group) or 1.0 for group in "vs"}
    return {name: np.abs(found[name] - exact[name]).max() / norm[name[0]] for name in exact}


def rayleigh(side, num, medium=ROCK, along=None, order=4):
    """Return a grid of `num` nodes a wavelength along a free side, the wave in it, axes: normal, along."""
    normal = "xyz".index(side[0])
    along = (normal + 1) % 3 if along is None else along
    deep, top = 16, side.endswith("max")
    shape, lower, k, n = np.ones(3, int), np.zeros(3), np.zeros(3), np.zeros(3)
    shape[normal], shape[along] = deep, num
    lower[normal] = 1 - deep if top else 0
    k[along], n[normal] = 2 * np.pi / num, 1 if top else -1
    grid = unda.Grid(tuple(shape), 1.0, origin=tuple(lower))
    other = SIDES[SIDES.index(side) ^ 1]
    sides = {side: "free", other: "fixed", "*": "periodic"}
    sim = staggered(grid, medium, order=order, boundary=sides, cfl=0.2)
    wave = unda.exact.rayleigh_wave(medium, k, normal=n)
    sim.set(wave, t=0.3)
    return sim, wave, normal, along, top


ALONG = np.linspace(0.1, 9.0, 25)


def below(case, depths, along=ALONG):
    _, _, normal, axis, top = case
    places = np.zeros((len(depths), len(along), 3))
    places[..., normal] = (-1 if top else 1) * np.asarray(depths)[:, None]
    places[..., axis] = along
    return places.reshape(-1, 3)


@pytest.mark.parametrize("side, num", [
    ("zmax", 10), ("zmax", 20), ("zmax", 40), ("zmin", 20), ("xmin", 10), ("xmax", 20), ("ymin", 40),
    ("ymax", 10),
])  # fmt: skip
def test_rayleigh_waves_are_read_at_every_depth(side, num):
    case = rayleigh(side, num, along=("xyz".index(side[0]) + 1 + num // 20 % 2) % 3)
    found = errors(*case[:2], below(case, DEPTHS), 0.3)
    assert max(found.values()) < BARS[num], found


@pytest.mark.parametrize("ratio", [1.42, 2.5, 10.0])
def test_any_poissons_ratio(ratio):
    """From -0.01 to 0.495; to 3.25 cells, where all weights along z are polynomials."""
    for num, bar in BARS.items():
        case = rayleigh("zmax", num, unda.Elastic(rho=1.0, vp=ratio, vs=1.0), order=8)
        found = errors(*case[:2], below(case, DEPTHS), 0.3)
        assert max(found.values()) < bar, found


@pytest.mark.parametrize("depth", [0.0, 0.25, 0.4, 1.25, 1.6])
def test_beside_a_wall_the_order_is_six(depth):
    """At nodes of the other axis, where only the polynomials err: with half the spacing 2^6 times less, but
    for the next power, at 20 nodes a wavelength k h = 0.3 of the first. The bar is half of it."""
    for names, half in ((("vz", "sxx", "szz"), 0.0), (("vx", "sxz"), 0.5)):
        found = []
        for num in (20, 40):
            sim, wave, *rest = rayleigh("zmax", num, along=0)
            places = below((sim, wave, *rest), [depth], half + np.arange(num - 1.0))
            sample, x = sim.sample(places), places.T
            exact = {name: wave(*x, 0.3 - 0.5 * sim.dt * (name[0] == "v"))[name] for name in names}
            found.append({name: np.abs(sample[name] - exact[name]).max() for name in names})
        for name in names:
            coarse, fine = found[0][name], found[1][name]
            assert coarse < 1e-12 or coarse / fine > 2**5, (name, depth, coarse, fine)


# ---- other walls ----


class Given:
    """Fields as functions of x, z."""

    def __init__(self, **given):
        self.given = given

    def __call__(self, x, y, z, t):
        zero = 0.0 * (x + y + z)
        return {name: self.given.get(name, lambda x, z: 0.0)(x, z) + zero for name in unda.Elastic.fields}

    def set(self, sim):
        sim.set(**{name: (lambda x, y, z, f=f: f(x, z) + 0 * (x + y + z)) for name, f in self.given.items()})


def in_corner(length, depths, *axes):
    """Points at each depth below the walls at `length` along z, or along x and z both."""
    across = np.linspace(length - 9.3, length - 4.0, 9)
    places = [[(length - d if 0 in axes else q, 0.0, length - d) for q in across] for d in depths]
    return np.reshape(places, (-1, 3))


@pytest.mark.parametrize("num", BARS)
def test_edges_of_free_walls(num):
    """Lame's mode puts no traction on any wall of a bar."""
    half = num // 2
    length = half * -(-12 // half)
    grid = unda.Grid((length + 1, 1, length + 1), 1.0)
    sides = {"ymin": "periodic", "ymax": "periodic", "*": "free"}
    mode = unda.exact.lame_mode(ROCK, (0, 0, 0), (length, 1, length), n=length // half, axis="y")
    sim = staggered(grid, ROCK, order=4, boundary=sides, cfl=0.2)
    sim.set(mode, t=0.1 * np.pi / mode.omega)
    for axes in ((2,), (0, 2)):
        places = in_corner(length, DEPTHS, *axes)
        x = places.T
        found, exact = sim.sample(places), mode(*x, 0.1 * np.pi / mode.omega)
        exact |= {k: v for k, v in mode(*x, 0.1 * np.pi / mode.omega - 0.5 * sim.dt).items() if k[0] == "v"}
        peak = {"v": 1.0, "s": np.abs(sim.get("sxx")).max()}
        wrong = {name: np.abs(found[name] - exact[name]).max() / peak[name[0]] for name in sim.fields}
        assert max(wrong.values()) < BARS[num], wrong


def test_a_bar_that_is_pulled_is_read_to_rounding_at_its_edges():
    """Strain e along y and -nu e across it puts no traction on the walls; velocities are linear, and across y
    they are constant, so that no weight errs. nu = 0.25: lambda / (lambda + 2 mu) = 1/3 on one wall."""
    sides = {"ymin": "symmetry", "ymax": "symmetry", "*": "free"}
    sim = staggered(unda.Grid((12, 14, 13), (1.0, 0.8, 1.3)), ROCK, order=4, boundary=sides, cfl=0.5)
    sim.set(vy=lambda x, y, z: y + 0 * (x + z), vx=lambda x, y, z: -0.25 * x + 0 * (y + z),
            vz=lambda x, y, z: -0.25 * z + 0 * (x + y))  # fmt: skip
    depth = np.array([0.0, 0.1, 0.5, 0.9, 1.4, 2.7])
    places = np.array([(11.0 - a, 5.17, 15.6 - b) for a in depth for b in depth])
    found = sim.sample(places, ["vx", "vz"])
    assert np.abs(found["vx"] + 0.25 * places[:, 0]).max() < 1e-12
    assert np.abs(found["vz"] + 0.25 * places[:, 2]).max() < 1e-12


@pytest.mark.parametrize("walls", [("zmax",), ("xmax", "zmax")])
@pytest.mark.parametrize("num", BARS)
def test_fixed_walls_and_their_edges(walls, num):
    """Any velocity that is 0 on the walls; any stress in balance, of Airy's function phi = S(x) E(z):
    sxx = phi_zz, szz = phi_xx, sxz = -phi_xz. Nothing moves at a fixed wall, so that there is such a balance.
    """
    k, length = 2 * np.pi / num, max(2 * num, 24)
    a, b, c = 0.8 * k, 0.6 * k, 0.5 * k

    def decay(z, n):
        return np.real((c + 1j * b) ** n * np.exp((c + 1j * b) * (z - length) + 0.9j))

    def velocity(x, z):
        return np.sin(0.7 * k * (z - length)) * (np.sin(0.6 * k * (x - length)) if len(walls) > 1 else 1)

    field = Given(
        vx=velocity, vy=velocity, vz=velocity,
        sxx=lambda x, z: np.sin(a * x + 0.3) * decay(z, 2),
        szz=lambda x, z: -a * a * np.sin(a * x + 0.3) * decay(z, 0),
        sxz=lambda x, z: -a * np.cos(a * x + 0.3) * decay(z, 1),
        syy=lambda x, z: k * k * np.sin(a * x) * decay(z, 0),
    )  # fmt: skip
    sides = {side: "fixed" for side in (*walls, "zmin", "xmin")}
    sides |= {"ymin": "periodic", "ymax": "periodic", "*": "symmetry"}
    sim = staggered(unda.Grid((length + 1, 1, length + 1), 1.0), ROCK, order=4, boundary=sides, cfl=0.2)
    field.set(sim)
    found = errors(sim, field, in_corner(length, DEPTHS, *([0, 2] if len(walls) > 1 else [2])))
    assert max(found.values()) < BARS[num], found


def surface_of_many(num, fluid):
    """Return the state of a medium that varies along its surface, vx and vz given so that no traction is
    there: their slopes are what the medium of each place gives, and beside them anything."""
    k, length = 2 * np.pi / num, 4 * num
    turn = k  # the medium changes as fast as the wave
    solid = 0.0 if fluid else 1.0  # a fluid does not slide along a surface without pressure

    def vs(x, y, z):
        return solid * (1 + 0.3 * np.sin(turn * x)) + 0 * (y + z)

    def vp(x, y, z):
        return 2.2 + 0.3 * np.cos(turn * x) + 0 * (y + z)

    def vx(x, z):
        return np.sin(k * x) * (solid * np.exp(0.6 * k * z) * np.cos(0.5 * k * z) + 0.3 * k * z)

    def vz(x, z):
        ratio = 1 - 2 * (vs(x, 0, 0) / vp(x, 0, 0)) ** 2  # lambda / (lambda + 2 mu)
        slope = -ratio * k * np.cos(k * x) * solid
        return 0.8 * np.cos(k * x) * (1 + 0.7 * (k * z) ** 2) + slope * np.sin(0.9 * k * z) / (0.9 * k)

    sides = {"zmax": "free", "zmin": "fixed", "*": "periodic"}
    grid = unda.Grid((length, 1, 16), 1.0, origin=(0, 0, -15))
    sim = staggered(grid, unda.Elastic(rho=2.0, vp=vp, vs=vs), order=4, boundary=sides, cfl=0.2)
    field = Given(vx=vx, vz=vz)
    field.set(sim)
    return sim, field


@pytest.mark.parametrize("num, fluid", [(10, False), (20, False), (40, False), (10, True), (40, True)])
def test_where_the_medium_varies_along_the_surface(num, fluid):
    sim, field = surface_of_many(num, fluid)
    places = np.array([(x, 0.0, -d) for d in DEPTHS for x in np.linspace(3, 4 * num - 4, 41)])
    found = errors(sim, field, places)
    assert max(found["vx"], found["vz"]) < BARS[num], found


def test_one_polynomial_through_a_thin_plate():
    """Three cells between two free sides: both in reach; the flexural wave of 40 nodes, h k = 0.16."""
    wave = unda.exact.plate_mode(ROCK, (2 * np.pi / 40, 0, 0), 3.0, symmetric=False, position=1.5)
    sides = {"zmin": "free", "zmax": "free", "*": "periodic"}
    sim = staggered(unda.Grid((40, 1, 4), 1.0), ROCK, order=2, boundary=sides, cfl=0.2)
    sim.set(wave, t=0.3)
    places = np.array([(x, 0.0, z) for x in np.linspace(0.2, 38.0, 23) for z in np.linspace(0, 3, 13)])
    assert max(errors(sim, wave, places, 0.3).values()) < BARS[40]


@pytest.mark.parametrize("apart, least, most", [(1e-12, 0.0, 1e-9), (1e-3, 1e-3, 1.0)])
def test_samples_do_not_hang_on_the_last_bit_of_a_place(apart, least, most):
    """Every half cell from sides, where nodes, polynomials and sums of weights change, on both sides of it.

    Fields are random, up to 1. Weights along an axis sum to less than 4, their derivatives to less than 8 a
    cell, and a row has three products at most: 2 apart 4 4 8 3 < 800 apart. A thousandth of a cell is seen.
    """
    grid = unda.Grid((16, 15, 17), (0.7, 0.9, 1.1), origin=(0.3, -0.2, 5.1))
    sides = {"zmax": "free", "xmin": "fixed", "ymin": "free", "*": "symmetry"}
    sim, rng = staggered(grid, ROCK, order=4, boundary=sides, cfl=0.5), np.random.default_rng(0)
    sim.set(**{name: rng.uniform(-1.0, 1.0, grid.shape) for name in sim.fields})
    cells = np.arange(0.5, 7.1, 0.5)
    found = []
    for axis in range(3):
        for other in (0.27, 2.5, 6.0, 6.3):
            at = np.full((len(cells), 3), other)
            at[:, axis] = cells
            at[:, 2] = 16.0 - at[:, 2]
            for step in apart * np.eye(3):
                one, next_ = (sim.sample(grid.origin + grid.spacing * (at + way)) for way in (-step, step))
                found.append(max(np.abs(one[name] - next_[name]).max() for name in sim.fields))
    assert least < max(found) < most


# ---- sources ----


@pytest.mark.parametrize("depth", [0.0, 0.2, 0.5, 1.3, 2.6])
@pytest.mark.parametrize("side", ["zmax", "xmin"])
def test_a_force_gives_its_impulse_and_no_other(side, depth):
    """To rounding: the weights of a constant sum to 1, those of slopes to 0; free sides take no momentum."""
    normal, top = "xyz".index(side[0]), side.endswith("max")
    shape, rho = [12, 12, 12], 2.0
    shape[normal] = 11
    sides = {side: "free", SIDES[SIDES.index(side) ^ 1]: "free", "*": "periodic"}
    sim = staggered(unda.Grid(tuple(shape), (1.0, 0.8, 1.3)), ROCK, order=4, boundary=sides, cfl=0.5)
    place, force = np.array([5.3, 4.4, 7.2]), np.array([0.3, -0.5, 0.8])
    h = sim.grid.spacing[normal]
    place[normal] = (10 - depth) * h if top else depth * h
    sim.add_source(unda.PointForce(tuple(place), lambda t: 1.0 + 0.0 * t, force))
    sim.step(5)
    momentum = []
    for axis in range(3):
        v = np.moveaxis(sim.get("v" + "xyz"[axis]), normal, 0).copy()
        if axis != normal:
            v[[0, -1]] *= 0.5
        else:
            v = v[:-1]
        momentum.append(rho * v.sum() * np.prod(sim.grid.spacing))
    assert np.allclose(momentum, 5 * sim.dt * force, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind, depth", [
    ("xx", 0.0), ("yy", 0.3), ("zz", 0.0), ("zz", 0.3), ("zz", 0.5), ("zz", 1.7), ("xy", 0.5), ("xz", 0.3),
])  # fmt: skip
def test_a_moment_works_on_the_strain_beside_a_free_side(depth, kind):
    """In a state of plane stress, which has a strain along the normal, too: the energy of that state and the
    moment's together is that of each and -M : strain, to the rounding of 1,700 nodes' sum."""
    sides = {"zmax": "free", "zmin": "free", "*": "periodic"}
    grid, young, poisson = unda.Grid((12, 13, 11), 1.0), 5.0, 0.25  # of ROCK: mu = 2, lambda = 2
    moment = np.zeros((3, 3))
    i, j = ("xyz".index(one) for one in kind)
    moment[i, j] = moment[j, i] = 1.0
    sim = staggered(grid, ROCK, order=4, boundary=sides, cfl=0.5)
    f = unda.smooth_bump(4.0, t0=-1.0)
    sim.add_source(unda.MomentTensor((5.3, 4.4, 10.0 - depth), f, moment))
    sim.step(1)
    made = {name: sim.get(name) for name in sim.fields}
    a, b, c = 0.3, -0.7, 0.4  # sxx, syy, sxy
    strain = np.array([[a - poisson * b, c * (1 + poisson), 0], [c * (1 + poisson), b - poisson * a, 0],
                       [0, 0, -poisson * (a + b)]]) / young  # fmt: skip
    plane = {name: np.full(grid.shape, value) for name, value in (("sxx", a), ("syy", b), ("sxy", c))}
    energies = []
    for state in (made, plane, {k: v + plane.get(k, 0) for k, v in made.items()}):
        sim.set(**state)
        energies.append(sim.energy())
    step = f(np.array([sim.dt]))[0] - f(np.array([0.0]))[0]
    work = energies[2] - energies[1] - energies[0]
    assert work == pytest.approx(-step * (moment * strain).sum(), abs=1e-13 * energies[1])
