"""The step that unda.FD takes in media of many materials, against the largest eigenvalue of the scheme's own
operator (taken here with NumPy, dense), and against what waves do just below and above it."""

import numpy as np
import pytest
import thread_ranks
import unda
from staggered_cases import boundary, stable_step, weights

WATER, AIR, STEEL, ROCK = (
    (1000.0, 1500.0, 0.0),
    (1.2, 340.0, 0.0),
    (7800.0, 5900.0, 3200.0),
    (2500.0, 4000.0, 2300.0),
)
H = (10.0, 8.0, 11.0)
AXES = (1, 2, 3)


def differences(f, axis, order, h, forward):
    """h d/dx of f half a cell on (forward) or back, on a periodic axis."""
    found = 0.0
    for m, weight in enumerate(weights(order), 1):
        high, low = (m, 1 - m) if forward else (m - 1, -m)
        found = found + weight / h * (np.roll(f, -high, axis) - np.roll(f, -low, axis))
    return found


def mean(f, *axes):
    for axis in axes:
        f = 0.5 * (f + np.roll(f, -1, axis))
    return f


def symmetric_operator(rho, stiffness, order):
    """R^1/2 D' K D R^1/2 on velocities of a periodic grid, its eigenvalues those of R D' K D."""
    shape = rho.shape
    num = rho.size
    root = [np.sqrt(1 / mean(rho, axis))[None] for axis in range(3)]
    unit = np.eye(3 * num).reshape(3 * num, 3, *shape)
    v = [unit[:, i] * root[i] for i in range(3)]
    stress = stiffness(lambda i, axis, forward: differences(v[i], AXES[axis], order, H[axis], forward))
    out = []
    for i in range(3):
        force = 0.0
        for axis in range(3):
            if (i, axis) in stress:
                force = force - differences(stress[i, axis], AXES[axis], order, H[axis], axis == i)
        out.append(force * root[i])
    return np.stack(out, 1).reshape(3 * num, 3 * num)


def acoustic_stiffness(rho, c):
    def stiffness(difference):
        pressure = rho * c**2 * sum(difference(i, i, False) for i in range(3))
        return {(i, i): pressure for i in range(3)}

    return stiffness


def elastic_stiffness(rho, vp, vs):
    mu = rho * vs**2
    lam = rho * vp**2 - 2 * mu

    def stiffness(difference):
        strain = [difference(i, i, False) for i in range(3)]
        stress = {(i, i): lam * sum(strain) + 2 * mu * strain[i] for i in range(3)}
        for i, j in ((0, 1), (0, 2), (1, 2)):
            with np.errstate(divide="ignore"):
                shear = 1 / mean(1 / mu, i, j)
            stress[i, j] = stress[j, i] = shear * (difference(i, j, True) + difference(j, i, True))
        return stress

    return stiffness


def halves(shape, low, high):
    """Rows of three parameters: one material below, one above."""
    up = np.arange(shape[2]) >= shape[2] // 2
    return [np.where(up, b, a) * np.ones(shape) for a, b in zip(low, high, strict=True)]


def steel_above_air(shape):
    return unda.Elastic(**dict(zip(("rho", "vp", "vs"), halves(shape, AIR, STEEL), strict=True)))


def rough(shape, seed=3):
    rng = np.random.default_rng(seed)
    vp = rng.uniform(1500, 5000, shape)
    return [10 ** rng.uniform(2, 4, shape), vp, vp * rng.uniform(0, 0.7, shape)]


def acoustic_limit(rho, c, order):
    return 2 / np.sqrt(np.linalg.eigvalsh(symmetric_operator(rho, acoustic_stiffness(rho, c), order))[-1])


def elastic_limit(rho, vp, vs, order):
    return 2 / np.sqrt(np.linalg.eigvalsh(symmetric_operator(rho, elastic_stiffness(rho, vp, vs), order))[-1])


def simulation(medium, shape, order, **options):
    given = {"boundary": {"*": "periodic"}, "device": "cpu", "cfl": 1.0, "dtype": "float64", **options}
    return unda.FD(unda.Grid(shape, H), medium, order=order, scheme="staggered", **given)


def formula(speed, order, axes=range(3)):
    """The limit of a medium in which all waves are so fast."""
    return stable_step(order, [H[axis] for axis in axes], speed)


CASES = {
    "air above water": lambda shape: halves(shape, WATER, AIR),
    "steel above air": lambda shape: halves(shape, AIR, STEEL),
    "rock above water": lambda shape: halves(shape, WATER, ROCK),
    "rough": rough,
}


@pytest.mark.each_value
@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("physics", ["acoustic", "elastic"])
def test_the_limit_is_below_the_operators_and_near_it(physics, case, order):
    """Even numbers of nodes: then alternating waves fit, and the bound has nothing to give away."""
    shape = (4, 6, 10)
    rho, vp, vs = CASES[case](shape)
    if physics == "acoustic":
        sharp, medium = acoustic_limit(rho, vp, order), unda.Acoustic(rho=rho, c=vp)
    else:
        sharp, medium = elastic_limit(rho, vp, vs, order), unda.Elastic(rho=rho, vp=vp, vs=vs)
    most = formula(vp.max(), order)
    with simulation(medium, shape, order) as sim:
        assert sim.dt == sim.dt_stable
        assert 0.96 * min(sharp, most) < sim.dt_stable <= min(sharp, most) * (1 + 1e-5)


def test_contrast_matters_where_it_should():
    """Of the cases above some need less than the formula's step, less at high orders; smooth ones do not."""
    shape = (4, 6, 10)
    steel = steel_above_air(shape)
    with simulation(steel, shape, 8) as sim:
        assert sim.dt_stable < 0.75 * formula(5900.0, 8)
    with simulation(steel, shape, 2) as sim:
        assert sim.dt_stable == pytest.approx(formula(5900.0, 2), rel=2e-3)
    smooth = np.linspace(1, 1.3, 10) * np.ones(shape)
    for medium in (
        unda.Acoustic(rho=1000 * smooth, c=1500.0 * smooth),
        unda.Acoustic(rho=1000.0, c=CASES["rough"](shape)[1]),
        unda.Elastic(rho=2000 * smooth, vp=3000 * smooth, vs=1700 * smooth),
        unda.Maxwell(eps_r=smooth, mu_r=1.0),
    ):
        with simulation(medium, shape, 4) as sim:
            assert sim.dt_stable == pytest.approx(formula(medium.speed_max(sim.grid), 4), rel=1e-12)
    with simulation(unda.Acoustic(rho=1000 * smooth[:, :1], c=1500 * smooth[:, :1]), (4, 1, 10), 4) as sim:
        assert sim.dt_stable == pytest.approx(formula(1950.0, 4, (0, 2)), rel=1e-12)


def test_curls_take_the_least_of_each_parameter():
    """eps and mu of each node: the bound is that of a medium with the least of both."""
    shape = (4, 6, 8)
    rng = np.random.default_rng(5)
    eps, mu = rng.uniform(1, 9, shape), rng.uniform(1, 5, shape)
    with simulation(unda.Maxwell(eps_r=eps, mu_r=mu), shape, 4) as sim:
        speed = unda.Maxwell(eps_r=eps.min(), mu_r=mu.min()).speed_max(sim.grid)
        assert sim.dt_stable == pytest.approx(formula(speed, 4), rel=1e-9)


def noise(sim, seed=7):
    rng = np.random.default_rng(seed)
    sim.set(**{name: rng.standard_normal(sim.grid.shape) for name in sim.fields if name[0] == "v"})


CLOSED = ("periodic", "periodic")
SIDES = {
    "walls": {"*": "fixed", "zmax": "free", "ymin": "symmetry"},
    "layers": {"*": unda.CPML(4, f0=20.0), "zmin": "free"},
    "a period of odd length": boundary(CLOSED, ("free", "free"), ("free", "free")),
    "two dimensions": boundary(("free", "free"), CLOSED, ("free", "free")),
}


@pytest.mark.first(2)
@pytest.mark.parametrize("sides", SIDES)
def test_waves_stay_bounded_below_the_limit_and_grow_above(sides):
    """Steel above air, order 8: 0.9 of the formula's step blows up, 0.99 of the medium's does not."""
    flat = sides == "two dimensions"
    shape, axes = (9, 1 if flat else 7, 12), (0, 2) if flat else (0, 1, 2)
    medium = steel_above_air(shape)
    with simulation(medium, shape, 8, boundary=SIDES[sides], cfl=0.99) as sim:
        stable = sim.dt_stable
        noise(sim)
        sim.step(100)
        early = sim.energy()
        sim.step(3000)
        assert sim.energy() < early * 1.01
    assert stable < 0.75 * formula(5900.0, 8, axes)
    with simulation(medium, shape, 8, boundary=SIDES[sides], dt=1.05 * stable, allow_unstable=True) as sim:
        noise(sim)
        with pytest.raises(unda.UnstableError):
            sim.step(5000)


def test_one_medium_needs_the_formulas_step_whatever_its_sides():
    """Free nodes have another lambda; spacings differ. Where lambda < 0 the bound takes it for 0."""
    free = {"*": "free"}
    with simulation(unda.Elastic(rho=2500.0, vp=4000.0, vs=2300.0), (5, 6, 7), 4, boundary=free) as sim:
        assert sim.dt_stable == pytest.approx(formula(4000.0, 4), rel=1e-12)
    with simulation(unda.Elastic(rho=2500.0, vp=2400.0, vs=2000.0), (5, 6, 7), 4, boundary=free) as sim:
        assert sim.dt_stable == pytest.approx(formula(np.sqrt(2) * 2000.0, 4), rel=1e-3)


@pytest.mark.parametrize("shape", [(3, 2, 9), (2, 9, 3), (9, 3, 2)])
def test_grids_smaller_than_the_stencil_are_bounded(shape):
    """Order 16 reaches 8 nodes to either side: images of images. Both precisions have the same step."""
    medium = unda.Elastic(
        **dict(zip(("rho", "vp", "vs"), (one * np.ones(shape) for one in rough(shape)), strict=True))
    )
    steps = []
    for dtype in ("float64", "float32"):
        with simulation(medium, shape, 16, boundary={"*": "fixed", "zmax": "free"}, dtype=dtype) as sim:
            steps.append(sim.dt_stable)
            noise(sim)
            sim.step(100)
            early = sim.energy()
            sim.step(2000)
            assert sim.energy() < early * 1.01
    assert steps[0] == pytest.approx(steps[1], rel=2e-4)


def test_a_given_step_above_the_mediums_limit_is_refused():
    shape = (6, 6, 8)
    medium = steel_above_air(shape)
    with pytest.raises(unda.ArgumentError, match="above the stable limit"):
        simulation(medium, shape, 8, dt=0.9 * formula(5900.0, 8))
    with simulation(medium, shape, 8, sample_dt=3e-3) as sim:
        assert (3e-3 / sim.dt) == pytest.approx(round(3e-3 / sim.dt), abs=1e-9)
        assert sim.dt <= sim.dt_stable


def test_processes_find_the_stable_step_together():
    """A light plane beside a stiff one, on both sides of a cut, lowers it."""
    grid = unda.Grid((20, 5, 4), 10.0)
    rho, c = np.ones(grid.shape), 1.0
    rho[9] = 0.01
    medium = unda.Acoustic(rho=rho, c=c)

    sides = {"xmin": "periodic", "xmax": "periodic", "*": "free"}

    def dt(**more):
        sim = unda.FD(grid, medium, scheme="staggered", order=4, boundary=sides, device="cpu", **more)
        return sim.dt, sim._uniform_dt

    one, uniform = dt()
    assert one < 0.95 * uniform
    assert thread_ranks.run(3, lambda ranks: dt(comm=ranks)) == [(one, uniform)] * 3
    assert thread_ranks.run(2, lambda ranks: dt(comm=ranks)) == [(one, uniform)] * 2
