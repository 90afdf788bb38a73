"""Where a CPML grows without bound, the layer that the library takes by its rule does not.

Plates between parallel walls and media of noise, from random fields: energy after a quarter of the run, when
what can leave has left, never rises again. What stays is at rest (stresses without force, currents of a
fluid) and has 1e-12 of itself from rounding in 1e5 steps (test_staggered_energy.py); the bar is 1e-9 between
two looks, which a mode that grows by 1e-10 a look passes once it is there. Not here: which layer the rule
takes (test_layer_rule.py), what layers return (test_cpml.py).
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import unda

BAR = 1e-9
STEEL = unda.Elastic(rho=7850.0, vp=5900.0, vs=3200.0)


def looks(sim, steps, num=8):
    """Energy after each eighth of a run."""
    found = []
    for _ in range(num):
        sim.step(steps // num)
        found.append(sim.energy())
    return np.array(found)


def plate(nodes, low, high, medium=STEEL, *, length=21, width=10, **options):
    """A plate along x with layers at its ends, full of random waves."""
    shape = (length, 1, nodes)
    end = unda.CPML(width=width)
    sides = {"xmin": end, "xmax": end, "zmin": low, "zmax": high}
    given = {"dtype": "float64", "device": "cpu", "cfl": 0.99} | options
    sim = unda.FD(unda.Grid(shape, 1e-3), medium, scheme="staggered", boundary=sides, **given)
    rng = np.random.default_rng(nodes)
    sim.set(vx=rng.standard_normal(shape), vz=rng.standard_normal(shape))
    return sim


def noise(seed, **options):
    """Another material at every node, or every few: contrasts to 100, fluids, any walls, three dimensions."""
    rng = np.random.default_rng(seed)
    shape = (
        tuple(rng.integers(4, 9, 3))
        if seed % 4 == 0
        else (*rng.integers(6, 17, 1), 1, *rng.integers(6, 17, 1))
    )
    contrast, unit = 10 ** rng.uniform(0.3, 2), int(rng.integers(1, 3))

    def field(most):
        coarse = rng.uniform(size=[-(-n // unit) for n in shape])
        fine = np.kron(coarse, np.ones((unit,) * 3))[: shape[0], : shape[1], : shape[2]]
        return most ** (fine - 0.5)

    vp = field(contrast)
    vs = np.minimum(0.4 * vp * field(3.0), 0.8 * vp)
    if seed % 2:
        vs[rng.uniform(size=shape) < 0.3] = 0.0
    medium = unda.Elastic(rho=field(contrast), vp=vp, vs=vs)
    layer = unda.CPML(width=int(rng.integers(3, 11)))
    words = ["free", "fixed", "symmetry", layer, layer]
    sides = {axis + end: words[rng.integers(5)] for axis in "xyz" for end in ("min", "max")} | {"xmin": layer}
    if shape[1] == 1:
        sides["ymin"] = sides["ymax"] = "periodic"
    given = {"dtype": "float64", "device": "cpu", "cfl": 0.99, "order": (2, 4, 8)[seed % 3]} | options
    sim = unda.FD(unda.Grid(shape, 1.0), medium, scheme="staggered", boundary=sides, **given)
    sim.set(**{name: rng.standard_normal(shape) for name in ("vx", "vy", "vz")})
    return sim


CASES = {
    "free steel": lambda **more: plate(8, "free", "free", **more),
    "free and fixed": lambda **more: plate(5, "fixed", "free", **more),
    "noise": lambda **more: noise(13, **more),
}


def bounded(sim, steps):
    found = looks(sim, steps)
    assert found[0] > 0 and np.isfinite(found).all()
    assert (np.diff(found[1:]) <= BAR * found[0]).all(), found


@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_20000_steps_do_not_grow(case):
    bounded(CASES[case](), 20_000)


@pytest.mark.first(1)
@pytest.mark.parametrize("case", CASES)
def test_a_cpml_in_its_place_grows(case):
    """A hundred times in some thousand steps, or beyond what numbers hold."""
    sim = CASES[case](layer="cpml", threads=1)
    try:
        found = looks(sim, 8000)
    except unda.UnstableError:
        return
    assert found[-1] > 100 * found[1]


@pytest.mark.parametrize("physics", ["acoustic", "elastic", "maxwell"])
def test_the_norm_of_a_sponge_falls_in_every_step(physics):
    """|u|^2/2 - |dt L u|^2/8 + |m|^2/2 + |dt d m|^2/8 (csrc/fd/staggered/cpml.c), of one medium in layers.

    Checked as what follows of it: at 0.999 of the stable step no state grows beyond its bound. Fields are
    at most sqrt(F / (1 - 0.999^2)) in a norm that F(0) <= 2 E(0) begins: 1000 E(0).
    """
    rng = np.random.default_rng(1)
    shape = (3, 4, 3)
    rho, eps, sigma, vp = (rng.uniform(*ends, shape) for ends in ((1, 50), (1, 90), (0, 2), (5, 9)))
    vs = rng.uniform(0, 4, shape) * (rng.uniform(size=shape) < 0.7)
    medium = {
        "acoustic": unda.Acoustic(rho=rho, c=vp),
        "maxwell": unda.Maxwell(eps=eps, mu=1.0, sigma=sigma),
        "elastic": unda.Elastic(rho=rho, vp=vp, vs=vs),
    }[physics]
    layer = unda.CPML(width=5, R0=1e-9, kappa=2.0, ratio=1.0)
    sim = unda.FD(unda.Grid(shape, 1.0), medium, scheme="staggered", boundary={"*": layer}, cfl=0.999,
                  dtype="float64", device="cpu")  # fmt: skip
    sim.set(**{name: rng.standard_normal(shape) for name in sim.fields if name[0] in "pveh"})
    start = sim.energy()
    for _ in range(10):
        sim.step(200)
        assert abs(sim.energy()) < 1000 * start
    assert sim.energy() < 0.5 * start


DEVICES = ["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, pytest.mark.endurance])]
WALLS = [("free", "free"), ("fixed", "fixed"), ("free", "fixed"), ("symmetry", "free")]


def all_bounded(sims, device):
    """Over 100,000 steps; on a device side by side, since each takes a sliver of it."""
    with ThreadPoolExecutor(1 if device == "cpu" else len(sims)) as pool:
        list(pool.map(lambda sim: bounded(sim, 100_000), sims))


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("nodes", [5, 8, 13, 21, 34, 55, 80])
def test_plates_do_not_grow_in_100000_steps(nodes, device):
    sims = [plate(nodes, low, high, device=device) for low, high in WALLS]
    rubber = unda.Elastic(rho=1000.0, vp=1500.0, vs=150.0)
    sims.append(plate(nodes, "free", "fixed", rubber, width=5, device=device))
    sims.append(plate(nodes, "free", "free", width=20, order=8, device=device))
    all_bounded(sims, device)


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_random_media_do_not_grow_in_100000_steps(first, device):
    all_bounded([noise(seed, device=device) for seed in range(first, first + 10)], device)
