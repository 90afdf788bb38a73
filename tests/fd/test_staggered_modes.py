"""Staggered schemes turn every mode with the numerical frequency, hold up to the limit, keep P and S apart.

On a grid d/dx of exp(i k x) is i d, d = 2/h sum D_m sin((m - 1/2) k h) (Levander 1988), so plane waves and
modes of boxes are exact eigenvectors: sin(W dt/2) = c |d| dt/2, P polarised along d, S across it
(docs/verification.md).
Not here: energy (test_staggered_energy.py), points, layers.
"""

import numpy as np
import pytest
import unda
from staggered_cases import ORDERS, boundary, discrete, stable_step, staggered

SHAPE, SPACING = (10, 8, 12), (1.0, 0.8, 1.3)
GRID = unda.Grid(SHAPE, SPACING, origin=(-2.0, 5.0, 0.5))
STEPS = 1000
PERIODIC = {"*": "periodic"}
#: eps for each of some 10 terms, in 1000^2/2 sums of them if all had one sign; far below what a coefficient
#: wrong in its ninth digit does.
BAR = 1e-10
MEDIA = {
    "acoustic": unda.Acoustic(rho=1.7, c=1.3),
    "elastic": unda.Elastic(rho=1.7, vp=1.3, vs=0.6),
    "maxwell": unda.Maxwell(eps=1.7, mu=1 / (1.7 * 1.3**2)),
}
KINDS = (("acoustic", "P"), ("elastic", "P"), ("elastic", "S"), ("maxwell", "S"))
WAVES = (((2, 0, 0), 0.9), ((0, 3, 0), 0.4), ((0, 0, 5), 0.9), ((1, -2, 3), 0.4), ((4, 3, -5), 0.9))
PAIRS = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}


def across(d):
    other = np.cross(d, [0.3, -0.7, 0.5])
    return other / np.linalg.norm(other)


def plane_wave(medium, order, k, dt, kind):
    """The wave exp(i (k x - W t)) on the grid: {field: amplitude} and W."""
    d = np.array([discrete(order, ki, h) for ki, h in zip(k, SPACING, strict=True)])
    size = np.linalg.norm(d)
    if medium.physics == "acoustic":
        rho, c = 1.7, 1.3
        made = {"p": rho * c, **dict(zip(("vx", "vy", "vz"), d / size, strict=True))}
    elif medium.physics == "elastic":
        rho, c = 1.7, 1.3 if kind == "P" else 0.6
        q = d / size if kind == "P" else across(d)
        mu, lam = 1.7 * 0.6**2, 1.7 * (1.3**2 - 2 * 0.6**2)
        stress = lam * (d @ q) * np.eye(3) + mu * (np.outer(d, q) + np.outer(q, d))
        made = dict(zip(("vx", "vy", "vz"), q, strict=True))
        made |= {name: -stress[pair] / (c * size) for name, pair in PAIRS.items()}
    else:
        c, impedance = 1.3, np.sqrt(1 / (1.7 * 1.3**2) / 1.7)
        e = across(d)
        h = np.cross(d / size, e) / impedance
        made = dict(zip(("ex", "ey", "ez", "hx", "hy", "hz"), [*e, *h], strict=True))
    return made, 2 / dt * np.arcsin(0.5 * dt * c * size)


def fields_of(sim, amplitude, phase):
    """Values of each field at its place; phase(place, lag) of its time."""
    return {
        name: value * phase(sim.coordinates_of(name), sim._scheme.lag(name) * sim.dt)
        for name, value in amplitude.items()
    }


#: Elastic waves by turns: boxes have both kinds at every order.
TRAVELLING = [
    (physics, kind, order)
    for physics, kind in KINDS
    for order in ORDERS
    if physics != "elastic" or (kind == "P") == (order in (2, 6, 12))
]


@pytest.mark.each_value("physics", "kind")
@pytest.mark.parametrize("physics, kind, order", TRAVELLING)
def test_plane_waves_have_the_numerical_frequency(physics, kind, order):
    """Along every axis and across all; long and short; at two steps."""
    for numbers, cfl in WAVES:
        k = 2 * np.pi * np.array(numbers) / (np.array(SHAPE) * SPACING)
        sim = staggered(GRID, MEDIA[physics], order=order, boundary=PERIODIC, cfl=cfl)
        amplitude, w = plane_wave(MEDIA[physics], order, k, sim.dt, kind)

        def wave(t, w=w, k=k):
            return lambda x, lag: np.cos(x @ k - w * (t + lag) + 0.3)

        sim.set(**fields_of(sim, amplitude, wave(0.0)))
        sim.step(STEPS)
        size = {"v": 1.0, "p": 2.2, "s": 2.2, "e": 1.0, "h": 2.2}
        wrong = fields_of(sim, amplitude, wave(sim.t, w * (1 + 1e-8)))
        seen = 0.0
        for name, wanted in fields_of(sim, amplitude, wave(sim.t)).items():
            found = sim.get(name)
            assert np.abs(found - wanted).max() < BAR * size[name[0]], (name, numbers)
            seen = max(seen, np.abs(found - wrong[name]).max())
        assert seen > 3 * BAR


def factor(word, k, x):
    return np.cos(k * x) if word == "cos" else np.sin(k * x)


def box_mode(sim, order, numbers, word, kind):
    """Mode with f_i ~ `word` along axis i, the other word half a cell on along i. Walls at both ends."""
    physics = sim.medium.physics
    length = (np.array(SHAPE) - 1) * SPACING
    k = np.pi * np.array(numbers) / length
    d = np.array([discrete(order, ki, h) for ki, h in zip(k, SPACING, strict=True)])
    c = 0.6 if kind == "S" and physics == "elastic" else 1.3
    w = 2 / sim.dt * np.arcsin(0.5 * sim.dt * c * np.linalg.norm(d))
    other = {"cos": "sin", "sin": "cos"}

    def shape(name, half):
        x = sim.coordinates_of(name) - GRID.origin
        one = 1.0
        for i in range(3):
            one = one * factor(other[word] if i in half else word, k[i], x[..., i])
        return one

    sign = {"cos": -1, "sin": 1}[word]  # of the derivative of the factor
    return d, w, shape, sign


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("side", ["rigid", "free"])
def test_acoustic_boxes(side, order):
    """p ~ cos (rigid) or sin (free) along every axis, p = cos(W t), rho v_t = -grad p."""
    sim = staggered(GRID, MEDIA["acoustic"], order=order, boundary={"*": side})
    word = "cos" if side == "rigid" else "sin"
    d, w, shape, sign = box_mode(sim, order, (2, 3, 1), word, "P")

    def state(t):
        scale = sim.dt / (2 * np.sin(0.5 * w * sim.dt)) / 1.7
        half = t - 0.5 * sim.dt
        made = {"p": np.cos(w * t) * shape("p", ())}
        for i, name in enumerate(("vx", "vy", "vz")):
            made[name] = -scale * sign * d[i] * np.sin(w * half) * shape(name, (i,))
        return made

    run_and_compare(sim, state)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["P", "S"])
def test_elastic_boxes_on_rollers(kind, order):
    """v_i = q_i sin(k_i x_i) cos cos, q along d (P) or across (S)."""
    sim = staggered(GRID, MEDIA["elastic"], order=order, boundary={"*": "symmetry"})
    d, w, shape, _ = box_mode(sim, order, (2, 3, 1), "cos", kind)
    q = d / np.linalg.norm(d) if kind == "P" else across(d)
    mu, lam = 1.7 * 0.6**2, 1.7 * (1.3**2 - 2 * 0.6**2)
    scale = sim.dt / (2 * np.sin(0.5 * w * sim.dt))

    def state(t):
        moving = np.cos(w * (t - 0.5 * sim.dt))
        made = {name: q[i] * moving * shape(name, (i,)) for i, name in enumerate(("vx", "vy", "vz"))}
        for name, (i, j) in PAIRS.items():
            strain = lam * (d @ q) + 2 * mu * d[i] * q[i] if i == j else -mu * (d[i] * q[j] + d[j] * q[i])
            made[name] = scale * strain * np.sin(w * t) * shape(name, () if i == j else (i, j))
        return made

    run_and_compare(sim, state)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wall", ["pec", "pmc"])
def test_cavities(wall, order):
    """PEC: E_i = e_i cos(k_i x_i) sin sin, e across d; PMC: sines and cosines exchanged."""
    sim = staggered(GRID, MEDIA["maxwell"], order=order, boundary={"*": wall})
    word = "sin" if wall == "pec" else "cos"
    d, w, shape, sign = box_mode(sim, order, (2, 3, 1), word, "S")
    e, mu = across(d), 1 / (1.7 * 1.3**2)
    scale = sim.dt / (2 * np.sin(0.5 * w * sim.dt)) / mu

    def state(t):
        made = {name: e[i] * np.cos(w * t) * shape(name, (i,)) for i, name in enumerate(("ex", "ey", "ez"))}
        for i, name in enumerate(("hx", "hy", "hz")):
            j, k = (i + 1) % 3, (i + 2) % 3
            curl = sign * (d[j] * e[k] - d[k] * e[j])
            made[name] = -scale * curl * np.sin(w * (t - 0.5 * sim.dt)) * shape(name, (j, k))
        return made

    run_and_compare(sim, state)


def run_and_compare(sim, state):
    sim.set(**state(0.0))
    first = {name: sim.get(name) for name in sim.fields}
    sim.step(STEPS)
    for name, wanted in state(sim.t).items():
        scale = max(np.abs(one).max() for one in (wanted, first[name], *state(0.37 * sim.t).values()))
        assert np.abs(sim.get(name) - wanted).max() < BAR * scale, name
    wrong = state(sim.t * (1 + 1e-8))
    assert max(np.abs(sim.get(name) - wrong[name]).max() for name in sim.fields) > BAR * scale


@pytest.mark.each_value
@pytest.mark.parametrize("physics", MEDIA)
@pytest.mark.parametrize("order", ORDERS)
def test_the_stable_step_is_the_documented_one(physics, order):
    """dt = 1/(c sum |D_m| sqrt(sum 1/h^2)); at 0.99 of it noise stays, at 1.01 it is seen to blow up.

    Of the shortest wave along all axes, which is there: the shape is even along each. It grows by 28 % a
    step, and 3e38, the end of float32, is 88 = ln(3e38) / 0.28 = 320 steps away.
    """
    rng = np.random.default_rng(3)
    limit = stable_step(order, SPACING, 1.3)
    sim = staggered(GRID, MEDIA[physics], order=order, boundary=PERIODIC)
    assert sim.dt_stable == pytest.approx(limit, rel=1e-13)
    start = {name: rng.standard_normal(SHAPE) for name in sim.fields}
    sim = staggered(GRID, MEDIA[physics], order=order, boundary=PERIODIC, cfl=0.99)
    sim.set(**start)
    sim.step(1000)
    assert max(np.abs(sim.get(name)).max() for name in sim.fields) < 100
    sim = staggered(
        GRID, MEDIA[physics], order=order, boundary=PERIODIC, dt=1.01 * limit, allow_unstable=True,
        dtype="float32",
    )  # fmt: skip
    sim.set(**start)
    with pytest.raises(unda.UnstableError):
        sim.step(1000)


def test_a_constant_state_stays():
    """Differences of constants are 0 to the last bit."""
    for medium in MEDIA.values():
        sim = staggered(GRID, medium, order=8, boundary=PERIODIC, dtype="float32")
        sim.set(**{name: 0.1 + i for i, name in enumerate(sim.fields)})
        sim.step(50)
        for i, name in enumerate(sim.fields):
            assert (sim.get(name) == np.float32(0.1 + i)).all()


def test_the_scheme_of_order_two_is_the_scalar_one():
    """C of order 2 is D D: p of both is the same to rounding, in any c, free and rigid sides, from rest."""
    rng = np.random.default_rng(5)
    medium = unda.Acoustic(rho=1.7, c=rng.uniform(1, 2, SHAPE))
    sides = boundary(("free", "rigid"), ("rigid", "rigid"), ("periodic", "periodic"))
    p = rng.standard_normal(SHAPE)
    p[0] = 0
    found = []
    for scheme in ("scalar", "staggered"):
        dt = 0.9 * stable_step(2, SPACING, 2.0)
        sim = unda.FD(GRID, medium, scheme=scheme, order=2, boundary=sides, dt=dt, dtype="float64",
                      device="cpu")  # fmt: skip
        sim.add_source(unda.VolumeInjection((1.23, 8.1, 6.4), unda.smooth_bump(20 * dt, t0=5 * dt)))
        sim.set(p=p)
        sim.step(200)
        found.append(sim.get("p"))
    assert np.abs(found[0] - found[1]).max() < 1e-11 * np.abs(found[0]).max()
