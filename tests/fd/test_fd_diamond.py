"""Kernel diamond has the bits of step: every recorded sample and both levels, whatever the tile and the grid.

On the stand-in few small grids (each is a compilation), on a device many.
Not here: that these bits are right (test_fd_modes.py), other kernels (test_fd_kernels.py).
"""

import ctypes
import os
import subprocess
import sys

import cuda_device
import numpy as np
import pytest
import unda
from diamond_cases import make, run, same
from pairwise import pairwise

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()

SETTINGS = {
    "tile": (
        (2, 2, 1),
        (2, 3, 1),
        (2, 4, 1),
        (4, 2, 1),
        (4, 2, 2),
        (4, 3, 2),
        (6, 2, 3),
        (8, 2, 2),
        (8, 2, 4),
    ),
    "shape": ((19, 23, 21), (11, 40, 17), (31, 9, 9)),
    "dtype": ("float32", "float64"),
    "medium": ("uniform", "varying"),
    "low": ("free", "matched", "rigid", "layer"),
    "high": ("rigid", "free", "matched", "layer"),
    "levels": (1, 4, 7, 0),
}
#: Launches of fewer than 5 levels are steps in half of the cases.
CASES = [{**case, "fewest": (1, 5)[i // 2 % 2]} for i, case in enumerate(pairwise(SETTINGS))]
#: Tiles that g++ needs long for are left to devices.
FEW = [case for case in CASES if case["tile"] != (8, 2, 4)][::2]


def marked(cases):
    """Slow where the kernel takes its compiler long, and where every value has a case already."""
    seen, found = set(), []
    for case in cases:
        long = REAL or case["tile"] in ((4, 3, 2), (6, 2, 3), (8, 2, 2))
        slow = long or seen.issuperset(case.items())
        seen.update(() if long else case.items())
        found.append(pytest.param(case, marks=pytest.mark.slow if slow else []))
    return found


@pytest.mark.parametrize(
    "case",
    marked(CASES if REAL else FEW),
    ids=lambda case: "-".join(str(value) for value in case.values()),
)
def test_it_has_the_bits_of_step(case):
    step = run(case, "step")
    assert np.isfinite(step[0]).all() and step[0].any() and step[2].any() and step[3].any()
    assert same(run(case, "diamond"), step)


def test_the_number_of_multiprocessors_does_not_matter():
    case = CASES[0]
    _, dts, step = case["tile"]
    options = {"dts": dts, "step": step, "levels": case["levels"], "fewest": 1}
    one, all_of_them = (run(case, "diamond", options={**options, **sms}) for sms in ({"sms": 1}, {}))
    assert same(one, all_of_them)


def cut(tile, zb, nz, **other):
    """A case whose z is cut into blocks of zb nodes at most."""
    long = tile[0] > 4 or nz in (250, 259, 380, 500)
    case = {
        "tile": tile, "shape": (11, 15 if long else 9, nz), "zb": zb, "dtype": "float32", "medium": "uniform",
        "low": "free", "high": "rigid", "levels": 5, "fewest": 1, **other,
    }  # fmt: skip
    return pytest.param(case, id=f"{tile}-{nz}-{zb}", marks=[pytest.mark.slow] * (long and not REAL))


@pytest.mark.parametrize(  # blocks of 2, 2, 3, 4, 6 and 8 warps; 4, 2, 3, 2, 2 and 2 of them
    "case",
    [
        cut((2, 2, 1), 36, 127, medium="varying", high="layer"),
        cut((2, 3, 1), 48, 95, dtype="float64"),
        cut((4, 2, 2), 100, 259, low="layer"),
        cut((4, 2, 1), 128, 250, dtype="float64", medium="varying"),
        cut((2, 2, 1), 192, 380, low="matched", high="matched"),
        cut((2, 2, 1), 256, 500, high="free"),
        cut((6, 2, 3), 48, 130, medium="varying"),
        cut((8, 2, 2), 80, 150, low="layer", high="layer"),
    ],
)
def test_blocks_along_z_have_the_bits_of_step(case):
    """With sources on the cuts; twice, since the stand-in runs blocks in another order."""
    _, dts, step = case["tile"]
    options = {"dts": dts, "step": step, "zb": case["zb"], "levels": case["levels"], "fewest": 1}
    nz, zb = case["shape"][2], make(case, "diamond", options=options)[0].config["kernel_options"]["zb"]
    heights = np.arange(zb, nz, zb) / nz
    wanted = run(case, "step", heights=heights)
    assert same(run(case, "diamond", options=options, heights=heights), wanted)
    assert same(run(case, "diamond", options=options, heights=heights), wanted)


@pytest.mark.slow
def test_more_blocks_than_run_at_once_share_them():
    """Nine towers side by side, three blocks each; as few run at once as one tower needs, or one more."""
    case = {**MIXED, "shape": (31, 19, 111), "levels": 9}
    wanted = run(case, "step")
    for sms in (1, 4):
        options = {"dts": 2, "step": 1, "zb": 40, "levels": 9, "fewest": 1, "sms": sms}
        assert same(run(case, "diamond", options=options), wanted)


def test_another_step_is_seen():
    case = CASES[0]
    assert not same(run(case, "diamond", steps=(3, 8)), run(case, "step"))


#: Few of them are one launch: layers, sources and receivers of every third step all the same.
MIXED = {
    "tile": (2, 2, 1),
    "shape": (19, 23, 21),
    "dtype": "float32",
    "medium": "varying",
    "low": "free",
    "high": "layer",
    "levels": 32,
    "fewest": 0,
}


@pytest.mark.parametrize(
    "steps", [pytest.param((3, 300), marks=[] if REAL else [pytest.mark.slow]), (6, 1, 37)]
)
def test_launches_and_steps_mix(steps):
    options = {"dts": 2, "step": 1, "levels": 32}  # and fewest of the table: 5
    found = run(MIXED, "diamond", options=options, steps=steps)
    assert found[3].shape[1] == 1 + sum(steps) // 3 and found[3].any()
    assert same(found, run(MIXED, "step", steps=steps))


@pytest.mark.parametrize(
    ("given", "steps", "launches"),
    [
        ({}, 3, 3),
        ({}, 4, 4),
        ({}, 5, 1),
        ({}, 32, 1),
        ({}, 32 + 4, 1 + 4),
        ({}, 32 + 5, 2),
        ({"fewest": 2}, 32 + 1 + 2, 2),
        ({"fewest": 7}, 6, 6),
        ({"levels": 8}, 8, 1),
        ({"levels": 8}, 8 + 4, 1 + 4),
    ],
)
@pytest.mark.skipif(REAL, reason="the stand-in counts launches")
def test_few_levels_are_taken_step_by_step(given, steps, launches):
    sim, _ = make(MIXED, "diamond", options={"dts": 2, "step": 1, "levels": 32, **given})
    driver = ctypes.CDLL(os.environ["UNDA_LIBCUDA"])
    sim.step(0)
    before = driver.emu_num_launch()
    sim._stepping.advance(steps)
    assert driver.emu_num_launch() - before == launches + 2, "and the search for what is not finite"


@pytest.mark.parametrize(  # slow where the kernel takes its compiler long, as above
    "order", [2, 4, *(pytest.param(order, marks=[pytest.mark.slow] * (not REAL)) for order in (6, 8))]
)
def test_the_fewest_levels_of_a_launch_are_those_that_pay(order):
    """A launch of 8 levels took 29 to 139 ms on an H200, a step 5.1 to 6.6."""
    options = {"dts": 2, "step": max(1, order // 4) if order != 6 else 3}
    sim, _ = make({**MIXED, "tile": (order, 2, 1)}, "diamond", options=options)
    assert sim.config["kernel_options"]["levels"] == 512
    assert sim.config["kernel_options"]["fewest"] == {2: 5, 4: 8, 6: 17, 8: 60}[order]


# ---- what "auto" is


SMALLEST = (131 * 4 - 1, 128, 32)  # 132 towers 4 wide in a row, 128 levels along y, half of 64 threads


def auto(shape, *, order=2, dtype="float32", side="rigid", **options):
    """Whether "auto" is diamond, by the memory that it takes; the tile is 4 wide, of 64 threads."""
    grid, medium = unda.Grid(shape, 10.0), unda.Acoustic(rho=1.0, c=1.0)
    given = {"order": order, "dtype": dtype, "device": "cuda", "boundary": {"*": side}, **options}
    given["kernel_options"] = {
        "dts": 2,
        "step": max(1, order // 4),
        "zb": 64,
        **options.get("kernel_options", {}),
    }
    found = unda.FD.forecast(grid, medium, kernel="auto", **given)
    step = unda.FD.forecast(grid, medium, kernel="step", **{**given, "kernel_options": None})
    if found == step:
        return False
    assert found == unda.FD.forecast(grid, medium, kernel="diamond", **given)
    return True


@pytest.mark.parametrize(
    ("shape", "options", "diamond"),
    [
        (SMALLEST, {}, True),
        ((522, 128, 32), {}, False),
        ((523, 127, 32), {}, False),
        ((523, 128, 31), {}, False),
        (SMALLEST, {"side": "free"}, True),
        (SMALLEST, {"side": unda.Damping()}, True),
        (SMALLEST, {"side": "periodic"}, False),
        (SMALLEST, {"side": unda.CPML(20)}, False),
        (SMALLEST, {"dtype": "float64"}, True),
        (SMALLEST, {"order": 10}, False),
        (SMALLEST, {"kernel_options": {"dts": 64}}, False),
        ((523, 128, 192), {}, True),
        ((523, 128, 192), {"dtype": "float64"}, False),
        ((523, 4096, 64), {"order": 8, "kernel_options": {"step": 2}}, False),
        ((1047, 4096, 64), {"order": 8, "kernel_options": {"step": 2}}, True),
        ((1047, 4095, 64), {"order": 8, "kernel_options": {"step": 2}}, False),
        ((1047, 4096, 65), {"order": 8, "kernel_options": {"step": 2}}, False),
        ((1047, 4096, 64), {"order": 8, "dtype": "float64", "kernel_options": {"step": 2}}, False),
        ((775, 384, 128), {"order": 6, "kernel_options": {"step": 3}}, True),
        ((775, 384, 129), {"order": 6, "kernel_options": {"step": 3}}, True),
        ((775, 384, 129), {"order": 6, "side": unda.Damping(), "kernel_options": {"step": 3}}, False),
        ((775, 384, 129), {"order": 6, "dtype": "float64", "kernel_options": {"step": 3}}, False),
        ((775, 383, 128), {"order": 6, "kernel_options": {"step": 3}}, False),
    ],
)
def test_auto_is_diamond_where_the_grid_is_large_enough(shape, options, diamond):
    assert auto(shape, **options) == diamond


LARGE = """
import unda
options = {"order": 2, "boundary": {"*": "rigid"}, "device": "cuda"}
tile = {"dts": 2, "step": 1, "zb": 64}
made = [
    unda.FD.forecast(unda.Grid(SHAPE, 10.0), unda.Acoustic(rho=1.0, c=1.0), kernel=kernel,
                     kernel_options=parts, **options)
    for kernel, parts in (("auto", tile), ("step", None), ("diamond", tile))
]
print("step" if made[0] == made[1] else "diamond" if made[0] == made[2] else made)
"""


@pytest.mark.parametrize(
    ("environment", "kernel"),
    [
        ({"UNDA_EMULATOR_CAPABILITY": "9"}, "diamond"),
        ({"UNDA_EMULATOR_CAPABILITY": "8"}, "step"),
        ({"UNDA_LIBCUDA": "/absent"}, "diamond"),
    ],
)
@pytest.mark.skipif(REAL, reason="devices of the stand-in")
def test_auto_is_step_on_older_devices_and_a_forecast_needs_none(environment, kernel):
    done = subprocess.run(
        [sys.executable, "-c", LARGE.replace("SHAPE", str(SMALLEST))], env={**os.environ, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == kernel, done.stderr


def test_auto_makes_the_kernel_that_the_forecast_has():
    for shape, kernel in ((SMALLEST, "diamond"), ((522, 128, 32), "step")):
        grid, medium = unda.Grid(shape, 10.0), unda.Acoustic(rho=1.0, c=1.0)
        given = {"order": 2, "boundary": {"*": "rigid"}, "device": "cuda"}
        given["kernel_options"] = {"dts": 2, "step": 1, "zb": 64}
        sim = unda.FD(grid, medium, **given)
        assert sim.config["kernel"] == kernel
        assert sim.memory == unda.FD.forecast(grid, medium, **given)
        assert ("dts" in sim.config["kernel_options"]) == (kernel == "diamond")


TALL = pairwise(
    {
        "order": (2, 4, 6, 8),
        "nz": (161, 520, 1153),
        "medium": ("uniform", "varying"),
        "low": ("rigid", "layer"),
        "dtype": ("float32", "float64"),
    }
)


@pytest.mark.gpu
@pytest.mark.slow  # compilations of 20 s
@pytest.mark.parametrize("case", TALL, ids=lambda case: "-".join(str(value) for value in case.values()))
def test_tall_grids_are_cut_along_z(case):
    shape = (53, 61, case["nz"])
    case = {**case, "tile": (case["order"], 0, 0), "high": case["low"], "levels": 0}
    assert same(
        run(case, "diamond", shape=shape, options={"fewest": 1}, steps=(33,)),
        run(case, "step", shape=shape, steps=(33,)),
    )


@pytest.mark.gpu
@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("shape", "options"), [((19, 23, 21), {"levels": 7}), ((23, 21, 127), {"levels": 7, "zb": 48})]
)
def test_two_for_the_sanitizer(shape, options):
    """One block along z, and three."""
    options = {"dts": 2, "step": 1, "fewest": 1, **options}
    found = run(MIXED, "diamond", shape=shape, options=options, steps=(9,))
    assert same(found, run(MIXED, "step", shape=shape, steps=(9,)))


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_grids(seed):
    rng = np.random.default_rng(seed)
    case = {name: values[rng.integers(len(values))] for name, values in SETTINGS.items()}
    shape = tuple(int(n) for n in rng.integers(9, 150, 3))
    steps = (int(rng.integers(1, 60)), 5)
    found = run(case, "diamond", shape=shape, options={"fewest": 1}, steps=steps)
    assert same(found, run(case, "step", shape=shape, steps=steps))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boundary": {"xmin": "periodic", "xmax": "periodic", "*": "rigid"}}, "periodic"),
        ({"order": 10}, "order is above 8"),
        ({"order": 8, "kernel_options": {"dts": 2, "step": 3}}, "step does not divide"),
        ({"order": 8, "shape": (4, 20, 20)}, "narrower"),
        ({"kernel_options": {"dts": 1}}, "dts is 1, expected 2..64"),
        ({"kernel_options": {"levels": 2**30}}, "levels is 1073741824, expected 1..65535"),
        ({"kernel_options": {"zb": 2000}}, "zb is 2000, expected 1..1024"),
        ({"kernel_options": {"old": 3}}, "old is 3, expected 1..2"),
        ({"kernel_options": {"unroll": 3}}, "unroll is 3, expected 1..2"),
        ({"kernel_options": {"old": 2, "unroll": 1}}, "takes unroll 2"),
        ({"kernel_options": {"variable": 3}}, "variable is 3, expected 1..2"),
        ({"kernel_options": {"dts": 40}}, "bytes of shared memory"),
        ({"kernel_options": {"zb": 1}}, "z has too many nodes"),
        ({"kernel_options": {"zb": 10}}, "blocks of 32 cells or fewer"),
        ({"kernel_options": {"zb": 36}, "shape": (9, 9, 3000)}, "z has too many nodes"),
        *(
            [({"kernel_options": {"zb": 36}, "shape": (9, 9, 180)}, "cut into 5 blocks, .* 4 multi")]
            * (not REAL)
        ),
    ],
)
def test_what_it_cannot_run_is_refused(options, message):
    grid = unda.Grid(options.pop("shape", (20, 20, 20)), 10.0)
    given = {"boundary": {"*": "rigid"}, "device": "cuda", "kernel": "diamond", **options}
    with pytest.raises(unda.ArgumentError, match=message):
        unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), **given)
