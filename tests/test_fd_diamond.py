"""Kernel diamond has the bits of step: every recorded sample and both levels, whatever the tile and the grid.

On the stand-in few small grids (each is a compilation), on a device many. Cases of clusters need a device.
Not here: that these bits are right (test_fd_modes.py), other kernels (test_fd_kernels.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from test_cuda_engine import pairwise

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
    "low": ("free", "rigid", "layer"),
    "high": ("rigid", "free", "layer"),
    "levels": (1, 4, 7, 0),
}
CASES = pairwise(SETTINGS)
#: Tiles that g++ needs long for are left to devices.
FEW = [case for case in CASES if case["tile"] != (8, 2, 4)][::2]


def run(case, kernel, *, shape=None, options=None, steps=(3, 9)):
    """Both levels and all traces of random fields with three sources and two groups of receivers."""
    order, dts, step = case["tile"]
    shape = shape or case["shape"]
    rng = np.random.default_rng(11)
    grid = unda.Grid(shape, (10.0, 12.0, 9.0))
    sides = {}
    for name in "xyz":
        for side, word in (("min", case["low"]), ("max", case["high"])):
            sides[name + side] = unda.Damping(3) if word == "layer" else word
    c = rng.uniform(1000, 2000, shape) if case["medium"] == "varying" else 2000.0
    options = {"dts": dts, "step": step, "levels": case["levels"]} if options is None else options
    sim = unda.FD(
        grid, unda.Acoustic(rho=1000.0, c=c), order=order, dtype=case["dtype"], boundary=sides, device="cuda",
        kernel=kernel, kernel_options=options if kernel == "diamond" else None,
    )  # fmt: skip
    p, before = rng.uniform(-1, 1, (2, *shape))
    sim.set(p=p, p_previous=before)
    size = np.array(grid.size)
    for place, f0 in zip(rng.uniform(0.1, 0.9, (3, 3)), (20.0, 30.0, 40.0), strict=True):
        sim.add_source(unda.VolumeInjection(place * size, unda.ricker(f0, t0=0.0)))
    every = sim.add_receivers(rng.uniform(0, 1, (5, 3)) * size, ["p"])
    third = sim.add_receivers(np.array([0.5 * size, size]), ["p"], every=3)
    for n in steps:
        sim.step(n)
    return sim.get("p"), sim.get("p_previous"), every["p"], third["p"]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    "case", CASES if REAL else FEW, ids=lambda case: "-".join(str(value) for value in case.values())
)
def test_it_has_the_bits_of_step(case):
    step = run(case, "step")
    assert np.isfinite(step[0]).all() and step[0].any() and step[2].any() and step[3].any()
    assert same(run(case, "diamond"), step)


def test_the_number_of_multiprocessors_does_not_matter():
    case = CASES[0]
    _, dts, step = case["tile"]
    options = {"dts": dts, "step": step, "levels": case["levels"]}
    one, all_of_them = (run(case, "diamond", options={**options, **sms}) for sms in ({"sms": 1}, {}))
    assert same(one, all_of_them)


def test_another_step_is_seen():
    case = CASES[0]
    assert not same(run(case, "diamond", steps=(3, 8)), run(case, "step"))


@pytest.mark.gpu
@pytest.mark.parametrize("nz", [161, 520, 1153])
@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("medium", ["uniform", "varying"])
@pytest.mark.parametrize("sides", ["rigid", "layer"])
def test_tall_grids_are_cut_along_z(order, nz, medium, sides):
    case = {
        "tile": (order, 0, 0),
        "dtype": "float32",
        "medium": medium,
        "low": sides,
        "high": sides,
        "levels": 0,
    }
    shape = (53, 61, nz)
    assert same(
        run(case, "diamond", shape=shape, options={}, steps=(33,)),
        run(case, "step", shape=shape, steps=(33,)),
    )


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(12))
def test_random_grids(seed):
    rng = np.random.default_rng(seed)
    case = {name: values[rng.integers(len(values))] for name, values in SETTINGS.items()}
    shape = tuple(int(n) for n in rng.integers(9, 150, 3))
    steps = (int(rng.integers(1, 60)), 5)
    found = run(case, "diamond", shape=shape, options={}, steps=steps)
    assert same(found, run(case, "step", shape=shape, steps=steps))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"boundary": {"xmin": "periodic", "xmax": "periodic", "*": "rigid"}}, "periodic"),
        ({"order": 10}, "order is above 8"),
        ({"order": 8, "kernel_options": {"dts": 2, "step": 3}}, "step does not divide"),
        ({"order": 8, "shape": (4, 20, 20)}, "narrower"),
    ],
)
def test_what_it_cannot_run_is_refused(options, message):
    grid = unda.Grid(options.pop("shape", (20, 20, 20)), 10.0)
    given = {"boundary": {"*": "rigid"}, "device": "cuda", "kernel": "diamond", **options}
    with pytest.raises(unda.ArgumentError, match=message):
        unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), **given)
