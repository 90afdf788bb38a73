"""A window that passes over a grid in host memory gives the bits of the whole grid on the device.

Every recorded sample, both levels and the energy, whatever slabs, levels of a pass, kernel and sides. On the
stand-in driver queued copies run at the wait for their own stream, those of the next and the last slab before
the window's kernels: a row that comes too early or goes too late is seen. Not here: that these bits are right
(test_fd_modes.py), the kernels themselves (test_fd_kernels.py, test_fd_diamond.py).
"""

import os
import subprocess
import sys

import cuda_device
import numpy as np
import pytest
import unda
from pairwise import pairwise

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()

SETTINGS = {
    "order": (2, 4, 6, 8, 16),
    "dtype": ("float32", "float64"),
    "varies": (False, True),
    "low": ("free", "rigid", "layer"),
    "high": ("rigid", "layer", "free"),
    "other": ("periodic", "rigid"),
    "shape": ((5, 33, 18), (9, 13, 4), (1, 40, 7), (3, 4, 35)),
    "window": (1, 3, 7, 64),
    "levels": (1, 2, 5, 40),
}
STEPS = (3, 1, 9)


def make(case, kernel, window, **options):
    """A simulation of random fields; y, along which windows pass, has sides `low` and `high`."""
    rng = np.random.default_rng(11)
    shape, grid = case["shape"], unda.Grid(case["shape"], (10.0, 12.0, 9.0))
    sides = {"ymin": case["low"], "ymax": case["high"], "*": case["other"]}
    sides = {name: unda.Damping(3) if word == "layer" else word for name, word in sides.items()}
    c = rng.uniform(1000, 2000, shape) if case["varies"] else 2000.0
    sim = unda.FD(
        grid, unda.Acoustic(rho=1000.0, c=c), order=case["order"], dtype=case["dtype"], boundary=sides,
        device="cuda", kernel=kernel, kernel_options={**options, "levels": case["levels"]}, window=window,
    )  # fmt: skip
    p, before = rng.uniform(-1, 1, (2, *shape))
    sim.set(p=p, p_previous=before)
    return sim, rng


def run(case, kernel, window, *, steps=STEPS, **options):
    """The simulation, and both levels, all traces, the energy."""
    sim, rng = make(case, kernel, window, **options)
    size = np.array(sim.grid.size)
    for place, f0 in zip(rng.uniform(0.2, 0.8, (3, 3)), (20.0, 30.0, 40.0), strict=True):
        sim.add_source(unda.VolumeInjection(place * size, unda.ricker(f0, t0=0.0)))
    line = np.linspace(0.02, 0.98, 6)[:, None] * np.array([0.0, 1.0, 0.0]) + [0.4, 0.0, 0.6]
    every = sim.add_receivers(line * size, ["p"])
    third = sim.add_receivers(np.array([0.5 * size, size]), ["p"], every=3)
    for n in steps:
        sim.step(n)
    return sim, (sim.get("p"), sim.get("p_previous"), every["p"], third["p"], np.array(sim.energy()))


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def compare(case, kernel, *, steps=STEPS, **options):
    sim, found = run(case, kernel, case["window"], steps=steps, **options)
    _, whole = run(case, "step", None, steps=steps)
    assert np.isfinite(whole[0]).all() and all(part.any() for part in whole)
    assert same(found, whole)
    return sim


def name_of(case):
    return "-".join(str(value) for value in case.values())


CASES = pairwise(SETTINGS)
#: One of each order is enough where kernels take a compiler of the CPU long.
FEW = [next(case for case in CASES[i:] if case["order"] == order and case["dtype"] == dtype)
       for i, order, dtype in ((0, 2, "float32"), (5, 4, "float64"), (0, 8, "float32"))]  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case in FEW else pytest.mark.slow) for case in CASES],
    ids=name_of,
)
def test_steps_in_windows_have_the_bits_of_steps(case):
    sim = compare(case, "step")
    assert sim.config["window"] == min(case["window"], sim.padded[1])
    assert sim.config["kernel_options"]["levels"] == case["levels"]


SIMPLE = {
    "order": 4,
    "dtype": "float32",
    "varies": False,
    "low": "free",
    "high": "layer",
    "other": "rigid",
    "shape": (7, 37, 12),
    "window": 3,
    "levels": 4,
}


def test_any_slab_and_any_number_of_levels_will_do():
    """Narrower and wider than the lean of a pass; passes that are longer than the calls."""
    case = {**SIMPLE, "shape": (3, 29, 5)}
    _, whole = run(case, "step", None)
    for window, levels in ((1, 3), (2, 1), (3, 13), (8, 50), (28, 4), (29, 2), (1000, 3)):
        _, found = run({**case, "levels": levels}, "step", window)
        assert same(found, whole), (window, levels)


def test_the_device_holds_a_window_and_the_host_the_state():
    case = {**SIMPLE, "shape": (4, 400, 20)}
    (part, _), (whole, _) = (make(case, "step", window) for window in (4, None))
    state = np.prod(part.padded) * 4 * 2
    assert part.memory["device"] < state / 4 < whole.memory["device"] / 4
    assert part.memory["host"] >= state > 4 * whole.memory["host"]
    options = {"order": 4, "boundary": {"ymax": unda.Damping(3), "ymin": "free", "*": "rigid"}}
    found = unda.FD.forecast(part.grid, part.medium, window=4, device="cuda", kernel_options={"levels": 4},
                             kernel="step", **options)  # fmt: skip
    assert found == part.memory


TILES = {2: {"dts": 2, "step": 1}, 4: {"dts": 2, "step": 2}, 6: {"dts": 2, "step": 3}}
DIAMONDS = [
    {**SIMPLE, "order": 2, "varies": True, "low": "layer", "high": "free", "window": 3, "levels": 6},
    {**SIMPLE, "order": 2, "window": 2, "levels": 6},
    {**SIMPLE, "order": 4, "varies": True, "low": "layer", "window": 7, "levels": 3},
    {**SIMPLE, "order": 2, "window": 1, "levels": 40, "dtype": "float64"},
    {**SIMPLE, "order": 2, "window": 5, "levels": 1, "low": "layer", "high": "free"},
    {**SIMPLE, "order": 2, "window": 100, "levels": 5, "varies": True},
    {**SIMPLE, "order": 4, "window": 4, "levels": 8, "low": "rigid", "high": "free"},
    {**SIMPLE, "order": 6, "window": 9, "levels": 5, "shape": (13, 41, 12)},
]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case is DIAMONDS[0] else pytest.mark.slow) for case in DIAMONDS],
    ids=name_of,
)
def test_towers_in_windows_have_the_bits_of_steps(case):
    """The last calls are of fewer levels than a launch shall have: those are steps in windows."""
    tile = TILES[case["order"]]
    sim = compare(case, "diamond", fewest=min(3, case["levels"]), steps=(9, 2, 14), **tile)
    unit = tile["dts"] * tile["step"]
    assert sim.config["window"] == -(-min(case["window"], sim.padded[1]) // unit) * unit
    assert sim.config["kernel"] == "diamond"


def test_a_wave_at_rest_starts_the_same():
    states = []
    for window in (3, None):
        sim, _ = make(SIMPLE, "step", window)
        sim.set(p=sim.get("p"))
        states.append(sim.get("p_previous"))
        sim.reset()
        assert not sim.get("p").any() and not sim.get("p_previous").any()
    assert states[0].any()
    np.testing.assert_array_equal(*states)


def test_a_blow_up_is_found_at_its_node():
    grid = unda.Grid((9, 8, 7), 10.0)
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=1500.0), boundary={"*": "rigid"}, device="cuda", window=2)
    p = np.zeros(grid.shape, np.float32)
    p[4, 5, 6] = p[6, 0, 0] = 3e38
    sim.set(p=p, p_previous=-p)
    with pytest.raises(unda.UnstableError) as caught:
        sim.step(1)
    assert caught.value.element == np.ravel_multi_index((4, 5, 6), grid.shape)


def test_a_saved_run_goes_on(tmp_path):
    (whole, _), (parts, _) = (make({**SIMPLE, "varies": True}, "step", 5) for _ in range(2))
    whole.step(12)
    parts.step(5)
    parts.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert again.config["window"] == 5
    assert again.config["kernel_options"] == parts.config["kernel_options"]
    again.step(7)
    assert np.array_equal(again.get("p"), whole.get("p"))
    assert np.array_equal(again.sample([(31.0, 55.0, 47.0)])["p"], whole.sample([(31.0, 55.0, 47.0)])["p"])


SMALL = """
import numpy as np
import unda

medium = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + y / 2 + z)
options = {"order": 8, "boundary": {"*": "rigid"}}

def make(device, shape=(3, 400, 10), steps=1, **more):
    sim = unda.FD(unda.Grid(shape, 10.0), medium, device=device, **{**options, **more})
    sim.set(p=np.random.default_rng(3).uniform(-1, 1, shape))
    sim.add_source(unda.VolumeInjection((15.0, 0.9 * 10 * shape[1], 61.0), unda.ricker(30.0, t0=0.0)))
    sim.step(steps)
    return sim

expected = make("cpu", steps=33)
needed = unda.FD.forecast(expected.grid, medium, device="cuda", **options)
found = make("cuda", steps=33)
assert found.config["window"] > 1 and 1 < found.config["kernel_options"]["levels"] < 33, found.config
assert found.memory["device"] < 300000 < found.memory["host"] == needed["host"]
assert found.memory == needed
assert np.array_equal(found.get("p"), expected.get("p"))
assert make("cuda", (3, 30, 10)).config["window"] is None
found.close()

def refused(**more):
    try:
        make("cuda", **more)
    except unda.Error as error:
        return f"{type(error).__name__}: {error}"

assert refused(window=None).startswith("OutOfMemoryError"), refused(window=None)
periodic = {"ymin": "periodic", "ymax": "periodic", "*": "rigid"}
assert "no window of it: y, along which it passes, is periodic" in refused(boundary=periodic)
assert "fit on device 0" in refused(window=150), refused(window=150)
assert "fit on device 0" in refused(shape=(300, 70, 10))
assert make("cuda", window=30).config["kernel_options"]["levels"] < 33
assert make("cuda", kernel_options={"levels": 3}).config["kernel_options"]["levels"] == 3
"""


@pytest.mark.skipif(REAL, reason="a small device of the stand-in")
def test_auto_takes_windows_where_the_state_does_not_fit_and_what_memory_there_is():
    done = subprocess.run(
        [sys.executable, "-c", SMALL], env={**os.environ, "UNDA_EMULATOR_MEMORY": "300000"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window is 0"),
        ({"kernel_options": {"levels": 2**20}}, "levels is 1048576, expected 1..65535"),
        ({"window": -1}, "window is -1"),
        ({"window": 2.5}, "window is 2.5"),
        ({"window": "large"}, "window is 'large', expected 'auto', None or a number of rows"),
        ({"device": "cpu"}, "only the scalar scheme on CUDA devices has windows"),
        ({"scheme": "staggered"}, "only the scalar scheme on CUDA devices has windows"),
        ({"boundary": {"ymin": "periodic", "ymax": "periodic", "*": "rigid"}}, "y, .* is periodic"),
        ({"shape": (20, 1, 20)}, "y, .* has one node"),
    ],
)
def test_what_has_no_window_is_refused(options, message):
    grid = unda.Grid(options.pop("shape", (12, 13, 14)), 10.0)
    given = {"device": "cuda", "window": 4, "boundary": None, **options}
    with pytest.raises(unda.ArgumentError, match=message):
        unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), **given)


def test_a_state_that_the_host_cannot_hold_is_refused_before_it_is_asked_for():
    grid = unda.Grid((256, 1_000_000, 256), 10.0)  # 524 GB; rows of 0.5 MB
    needed = unda.FD.forecast(
        grid, unda.Acoustic(rho=1.0, c=1.0), boundary={"*": "rigid"}, device="cuda", window=1,
        kernel_options={"levels": 8},
    )  # fmt: skip
    assert needed["host"] >= 524e9 and needed["device"] < 100e6
    if needed["host"] <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        pytest.skip("this machine could")
    with pytest.raises(unda.OutOfMemoryError, match="bytes of host memory, there are"):
        unda.FD(
            grid, unda.Acoustic(rho=1.0, c=1.0), boundary={"*": "rigid"}, device="cuda", window=1,
            kernel_options={"levels": 8},
        )  # fmt: skip


@pytest.mark.sanitize
@pytest.mark.parametrize("kernel", ["step", "diamond"])
def test_a_few_for_the_sanitizer(kernel):
    """Kernel diamond with the tile of the first of its cases: compiled once."""
    case = DIAMONDS[0]
    options = {**TILES[2], "fewest": 3} if kernel == "diamond" else {}
    sim, _ = run(case, kernel, case["window"], steps=(8,), **options)
    sim.set(p=sim.get("p"))
    assert np.isfinite(sim.energy())


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("kernel", ["step", "diamond"])
def test_large_windows_on_a_device(kernel, order):
    """Copies and kernels truly side by side, the tiles of the table, many passes."""
    case = {**SIMPLE, "order": order, "varies": order % 4 == 0, "shape": (210, 800, 160), "window": 24,
            "levels": 40}  # fmt: skip
    compare(case, kernel, steps=(170, 13))
