"""Finite differences turn every mode with the numerical frequency, hold up to the limit and equal the oracle.

A mode of a box with periodic, free and rigid sides is an eigenvector of the scheme, images included: after
1,000 steps it is cos(n W dt) times itself, sin^2(W dt/2) = (c dt/2)^2 sum S(k h)/h^2 (docs/verification.md).
Not here: points (test_fd_points.py), layers (test_fd_layer.py), energy (test_fd_energy.py).
"""

import numpy as np
import pytest
import unda
from fd_cases import RHO, Case, any_case, differences, run_both
from fd_reference import coefficients, radians_per_step, stable_step
from hypothesis import HealthCheck, given, settings

ORDERS = (2, 4, 6, 8, 12)
SPACING, C = (1.0, 0.8, 1.3), 1.3
F, R, P = ("free", "free"), ("rigid", "rigid"), ("periodic", "periodic")
BOXES = {
    "periodic": (P, P, P),
    "free": (F, F, F),
    "rigid": (R, R, R),
    "free-rigid": (("free", "rigid"), ("rigid", "free"), ("free", "rigid")),
    "mixed": (("rigid", "free"), P, F),
}
SHAPE = (13, 11, 14)
OFTEN = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def standing(n, h, pair, j):
    """Wave number and values at the nodes of mode j >= 0 of one axis."""
    x = h * np.arange(n)
    if pair == P:
        k = 2 * np.pi * j / (n * h)
        return k, np.cos(k * x + 0.4)
    k = np.pi / ((n - 1) * h) * {F: j + 1, R: j}.get(pair, j + 0.5)
    return k, (np.cos if pair[0] == "rigid" else np.sin)(k * x)


def box_mode(sides, numbers, shape=SHAPE):
    parts = [standing(*one) for one in zip(shape, SPACING, sides, numbers, strict=True)]
    k, (x, y, z) = [one[0] for one in parts], [one[1] for one in parts]
    return k, x[:, None, None] * y[:, None] * z


def deviation(case, mode, turn, *, steps=1000, start=None, **options):
    """Of a run from cos(start + n turn) mode, both levels; start None: at rest."""
    sim = case.fd(**options)
    if start is None:
        sim.set(p=mode)
    else:
        sim.set(p=mode * np.cos(start), p_previous=mode * np.cos(start - turn))
    sim.step(steps)
    phase = (start or 0.0) + turn * np.array([steps, steps - 1])
    levels = np.stack([sim.get("p"), sim.get("p_previous")])
    return np.abs(levels - np.cos(phase)[:, None, None, None] * mode).max()


@pytest.mark.each_value
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", BOXES)
def test_modes_turn_with_the_numerical_frequency(name, order):
    """Long and short waves, along one axis and along all, at two steps.

    1e-10: eps for each of 3 M terms, in 1000^2/2 sums of them if they all had one sign. A frequency that is
    wrong by 1e-9 gives 1000 W dt 1e-9 > 1e-10, so no coefficient of a mode is wrong in its ninth digit.
    """
    for numbers, cfl, start in (
        ((1, 2, 3), 0.9, 0.3), ((4, 0, 0), 0.9, None), ((0, 5, 0), 0.35, 1.1), ((0, 0, 6), 0.35, None),
        ((8, 7, 9), 0.9, 2.0),
    ):  # fmt: skip
        case = Case(SHAPE, BOXES[name], order, SPACING, contrast=1, cfl=cfl)
        k, mode = box_mode(case.sides, numbers)
        turn = radians_per_step(order, k, SPACING, C, case.dt)
        assert deviation(case, mode, turn, start=start) < 1e-10
        assert deviation(case, mode, turn * (1 + 1e-8), start=start) > 1e-10


@pytest.mark.parametrize("order", ORDERS)
def test_a_wrong_coefficient_would_be_seen(order):
    """C0 as printed in the paper's table, half the weight; the last C_m off by its fifth digit."""
    case = Case(SHAPE, BOXES["mixed"], order, SPACING, contrast=1, cfl=0.9)
    k, mode = box_mode(case.sides, (4, 3, 5))
    right = radians_per_step(order, k, SPACING, C, case.dt)

    def turn_of(c):
        s = [-(c[0] + 2 * np.cos(np.arange(1, len(c)) * ki * h) @ c[1:]) / h**2
             for ki, h in zip(k, SPACING, strict=True)]  # fmt: skip
        return 2 * np.arcsin(np.sqrt(np.clip((C * case.dt / 2) ** 2 * sum(s), 0, 1)))

    c = coefficients(order)
    assert turn_of(c) == pytest.approx(right, rel=1e-14)
    halved, slightly = c.copy(), c.copy()
    halved[0] /= 2
    slightly[-1] *= 1 + 1e-5
    sim = case.fd()
    sim.set(p=mode)
    sim.step(1000)
    # what the run is compared with: a wrong table would turn the mode otherwise by more than that
    assert np.abs(sim.get("p") - mode * np.cos(1000 * right)).max() < 1e-10
    for table in (halved, slightly):
        assert np.abs(sim.get("p") - mode * np.cos(1000 * turn_of(table))).max() > 1e-9


@pytest.mark.parametrize("order", [2, 8])
def test_modes_in_single_precision(order):
    """5e-5 after 300 steps: 300^1.5 eps of a mean drift is 3e-4 of what a wave of this length sees."""
    case = Case(SHAPE, BOXES["mixed"], order, SPACING, contrast=1, cfl=0.9)
    k, mode = box_mode(case.sides, (2, 3, 1))
    turn = radians_per_step(order, k, SPACING, C, case.dt)
    assert deviation(case, mode, turn, steps=300, start=0.3, dtype="float32") < 5e-5
    assert deviation(case, mode, turn * (1 + 1e-5), steps=300, start=0.3, dtype="float32") > 5e-5


# ---- the limit of the step ----


@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 0.5, 1.0)])
@pytest.mark.parametrize("order", ORDERS)
def test_the_stable_step_is_the_documented_one(order, spacing):
    """dt = 2 / (c_max sqrt(S(pi) sum 1/h^2)), S(pi) = 4, 16/3, 272/45 .. for orders 2, 4, 6."""
    for contrast in (1, 3.0):
        case = Case((7, 6, 8), (R, P, F), order, spacing, contrast)
        sim = case.fd(dt=None)
        limit = stable_step(order, spacing, np.max(case.c))
        assert sim.dt_stable == pytest.approx(limit, rel=1e-12)
        assert sim.dt == pytest.approx(0.9 * limit, rel=1e-12)
        assert case.fd(dt=None, cfl=0.5).dt == pytest.approx(0.5 * limit, rel=1e-12)
        sampled = case.fd(dt=None, sample_dt=2.5 * limit).dt
        assert sampled == pytest.approx(2.5 * limit / 3, rel=1e-12)  # 3: the least n with 2.5/n <= 0.9
        with pytest.raises(unda.ArgumentError, match="stable"):
            case.fd(dt=1.01 * limit)
        assert case.fd(dt=0.999 * limit).dt == 0.999 * limit
    s_pi = {2: 4, 4: 16 / 3, 6: 272 / 45}.get(order)
    if s_pi and spacing[0] == 1:
        assert sim.dt_stable * np.max(case.c) == pytest.approx(2 / np.sqrt(3 * s_pi), rel=1e-12)


@pytest.mark.each_value
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", BOXES)
def test_nothing_grows_at_the_limit(name, order):
    """From rest a mode is cos(n W dt) times itself if W is real: no norm in which they are orthogonal grows.

    All modes at once, 3,000 steps at 0.99 of the limit. Rounding: 3,000^1.5 eps = 4e-11.
    """
    case = Case((7, 6, 8), BOXES[name], order, SPACING, contrast=1, cfl=0.99)
    share = case.reference().share.reshape(case.shape)
    p, _ = case.states()
    sim = case.fd()
    sim.set(p=p)
    first = (share * p**2).sum()
    for _ in range(60):
        sim.step(50)
        assert (share * sim.get("p") ** 2).sum() < first * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", BOXES)
def test_nothing_grows_at_the_limit_in_a_varying_medium(name, order):
    """Weighted by 1/c^2; the mean of a closed box has W = 0, and drifts by rounding."""
    case = Case((11, 9, 10), BOXES[name], order, SPACING, contrast=5.0, cfl=0.99)
    share = case.reference().share.reshape(case.shape) / case.c**2
    p, _ = case.states()
    sim = case.fd()
    sim.set(p=p)
    first = (share * p**2).sum()
    for _ in range(100):
        sim.step(200)
        assert (share * sim.get("p") ** 2).sum() < first * (1 + 1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ORDERS)
def test_above_the_limit_it_blows_up_and_says_where(order, dtype):
    """1.01 of it: the fastest mode of a rigid box grows by 1.3265 a step, past 1e308 in 2,600 of them."""
    case = Case((7, 6, 8), BOXES["rigid"], order, SPACING, contrast=1)
    limit = case.dt / 0.9
    sim = case.fd(dt=1.01 * limit, allow_unstable=True, dtype=dtype)
    sim.set(p=case.states()[0])
    with pytest.raises(unda.UnstableError) as info:
        for _ in range(60):
            sim.step(50)
    error = info.value
    assert 0 < error.step <= (3000 if dtype == "float64" else 500)
    assert error.time == pytest.approx(error.step * sim.dt)
    nodes = sim.coordinates.reshape(-1, 3)
    assert (np.abs(nodes - np.array(error.coordinates)).max(axis=1) < 1e-9).any()
    assert str(error.step) in str(error)


# ---- the oracle ----


@OFTEN
@given(case=any_case(least=3))
def test_random_grids_sides_and_orders_equal_the_oracle(case):
    """Rounding of 30 steps: 30^2/2 eps of 10^-16 times some terms is 1e-13; the bar is 1e-12."""
    found, expected = run_both(case, 30)
    for name, error in differences(found, expected).items():
        assert error < 1e-12, name


@settings(OFTEN, max_examples=15)
@given(case=any_case(most=4))
def test_grids_narrower_than_the_stencil_equal_the_oracle(case):
    """Images of images; one node is a line or a plane: nothing changes across it."""
    found, expected = run_both(case, 30)
    for name, error in differences(found, expected).items():
        assert error < 1e-12, name


@settings(OFTEN, max_examples=15)
@given(case=any_case(least=3))
def test_random_grids_equal_the_oracle_in_single_precision(case):
    """2^-24 for each of 20 terms in 30^2/2 sums at random: 2e-5; levels rounded at the start: 30 2^-24."""
    found, expected = run_both(case, 30, dtype="float32")
    for name, error in differences(found, expected).items():
        assert 0 <= error < 5e-5, name


@pytest.mark.parametrize("order", ORDERS)
def test_a_state_alone_starts_at_rest(order):
    """p_previous = p + c^2 dt^2 L p / 2, half of the first step, so that dp/dt = 0 to second order."""
    for name in ("mixed", "free-rigid", "rigid"):
        case = Case((9, 8, 7), BOXES[name], order)
        found, expected = run_both(case, 20, rest=True)
        assert max(differences(found, expected).values()) < 1e-12
        sim = case.fd()
        sim.set(p=case.states()[0])
        before = sim.get("p_previous")
        sim.step(1)
        assert np.abs(sim.get("p") - before).max() < 1e-14 * np.abs(before).max()


def test_a_wrong_speed_in_one_node_is_seen():
    case = Case((9, 8, 7), BOXES["mixed"], 8)
    found, expected = run_both(case, 30)
    other = case.reference()
    other.c[100] *= 1 + 1e-8
    other.set(*case.states())
    other.step(30)
    assert max(differences(found, expected).values()) < 1e-12
    assert differences(found, expected | {"p": other.get()})["p"] > 1e-12


def test_numbers_functions_and_exact_waves_set_the_same_state():
    """f(x, y, z) in coordinates of the grid, an exact wave at t and t - dt."""
    case = Case((12, 10, 8), BOXES["periodic"], 4, contrast=1)
    lengths = np.array(case.shape) * SPACING
    k = 2 * np.pi * np.array([1, -1, 1]) / lengths
    wave = unda.exact.plane_wave(unda.Acoustic(rho=RHO, c=C), k=tuple(k))
    sim = case.fd()
    x, y, z = np.moveaxis(sim.coordinates, -1, 0)
    assert sim.coordinates.shape == (*case.shape, 3)
    axes = case.grid.axes()
    assert np.array_equal(sim.coordinates, np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1))
    sim.set(wave, t=0.7)
    now, before = wave(x, y, z, 0.7)["p"], wave(x, y, z, 0.7 - sim.dt)["p"]
    scale = np.abs(now).max()
    assert sim.t == 0.7 and np.abs(sim.get("p") - now).max() < 1e-14 * scale
    assert np.abs(sim.get("p_previous") - before).max() < 1e-13 * scale
    other = case.fd()
    other.set(p=lambda x, y, z: wave(x, y, z, 0.7)["p"], p_previous=before, t=0.7)
    for one in (sim, other):
        one.step(10)
    assert sim.t == pytest.approx(0.7 + 10 * sim.dt, rel=1e-14)
    assert np.abs(sim.get("p") - other.get("p")).max() < 1e-13 * scale
    # and it is that wave: the phase is wrong by what the numerical frequency says, 10 (W - w) dt
    turn = radians_per_step(4, k, SPACING, C, sim.dt)
    lag = abs(10 * (turn - C * np.linalg.norm(k) * sim.dt))
    assert np.abs(sim.get("p") - wave(x, y, z, sim.t)["p"]).max() < 1.5 * lag * scale
    sim.set(p=2.5, p_previous=2.5)
    assert (sim.get("p") == 2.5).all()


def test_a_free_side_holds_no_pressure():
    case = Case((7, 6, 8), (("free", "rigid"), R, ("rigid", "free")), 6)
    sim, reference = case.fd(), case.reference()
    sim.set(p=1.0, p_previous=1.0)
    reference.set(np.ones(case.shape), np.ones(case.shape))
    sim.step(5)
    reference.step(5)
    assert (sim.get("p")[0] == 0).all() and (sim.get("p")[..., -1] == 0).all()
    assert np.abs(sim.get("p") - reference.get()).max() < 1e-13
    assert np.abs(sim.get("p")[-1]).max() > 0.1 and np.abs(sim.get("p")[..., 0]).max() > 0.1


# ---- constants in single precision ----


@pytest.mark.parametrize("cfl", [0.9, 0.5])
@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("name", ["rigid", "periodic"])
def test_constants_stay_constant_in_single_precision(name, order, cfl):
    """Alone and below a wave, 2,000 steps.

    Nothing holds the mean of a closed box (W = 0): errors e_n of a step add up to sum (N - n) e_n, of
    variance e^2 N^3/3. With 3 M + 2 roundings of 2^-24/sqrt(3) each (sums in [1, 2)) that is 4e-3 at order 2
    and 7e-3 at order 8; the bar is three of these. Coefficients whose sum is wrong by one 2^-24 drift by
    2^-24 N^2/2 = 0.12: each is rounded to a multiple of 2^-24, however small the step is.
    """
    case = Case((8, 10, 9), BOXES[name], order, (1.0, 1.0, 1.0), contrast=1, cfl=cfl)
    k, mode = box_mode(case.sides, (1, 1, 0), case.shape)
    k = [ki * h for ki, h in zip(k, SPACING, strict=True)]
    turn = radians_per_step(order, k, case.spacing, C, case.dt)
    for amplitude in (0.0, 1.0):
        for level in (1.0, 0.7):
            sim = case.fd(dtype="float32")
            p, q = (level + amplitude * np.cos(n * turn) * mode for n in (0, -1))
            sim.set(p=p, p_previous=q)
            sim.step(2000)
            wanted = level + amplitude * np.cos(2000 * turn) * mode
            assert np.abs(sim.get("p") - wanted).max() < 0.02


@pytest.mark.parametrize("order", [2, 4, 8])
def test_constants_stay_constant_in_a_varying_medium(order):
    """Float32 as above. Float64: a sum of 25 terms, wrong by 25 2^-53, drifts by 2000^2/2 times that."""
    for dtype, level, bar in (("float64", 0.7, 1e-8), *(("float32", one, 0.02) for one in (1.0, 0.7, 0.3))):
        sim = Case((8, 10, 9), BOXES["rigid"], order, contrast=3.0).fd(dtype=dtype)
        sim.set(p=level, p_previous=level)
        sim.step(2000)
        assert np.abs(sim.get("p") - level).max() < bar


@pytest.mark.parametrize("order", [2, 8])
def test_small_steps_keep_their_speed_in_single_precision(order):
    """A quarter of a period in n = 200 steps: each rounds by 2^-24, which grows like n^1.5. At a fiftieth of
    the limit weights of c^2 dt^2 / h^2 have too few digits left: the error would be ten times as large."""
    grid = unda.Grid((13, 13, 1), 10.0)
    x, y, _ = (axis[:, None, None] if i == 0 else axis[None, :, None] for i, axis in enumerate(grid.axes()))
    mode = np.cos(np.pi * x / 60) * np.cos(np.pi * y / 60) * np.ones((1, 1, 1))
    found = []
    for dtype in ("float32", "float64"):
        sim = unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), order=order, cfl=0.02, dtype=dtype, device="cpu",
                      boundary={"*": "rigid"})  # fmt: skip
        sim.set(p=mode)
        n = round(0.9 * 0.25 * 120 / np.sqrt(2) / sim.dt)
        sim.step(n)
        found.append(sim.get("p").astype(np.float64))
    assert 100 < n < 400
    assert np.abs(found[0] - found[1]).max() < n**1.5 * 2.0**-24
