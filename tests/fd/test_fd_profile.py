"""`profile` of finite differences on a CUDA device: what a step launches, and a state that stays as it is.

On the stand-in driver, or a device. Not here: that kernels are right (test_fd_cuda.py,
test_staggered_cuda.py), methods on meshes (test_cuda_engine.py).
"""

import ctypes
import gc
import os

import cuda_device
import numpy as np
import pytest
import unda
from staggered_cases import WALLS, borne, random_medium, source_of, whole_state
from unda.method.speed import kernel_seconds

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()
RUNS = 2
LEVELS = 5
STAGGERED = {f"staggered_{part}{i}": 1 for i in range(2) for part in ("pass", "walls", "layers")} | {
    "staggered_ghosts": 2
}
#: Launches a step. Receivers: one or two fields at every step, one at every third.
KERNELS = {
    "scalar": {"scalar_step": 1, "inject": 1, "record": 1 + 1 / 3},
    "acoustic": STAGGERED | {"inject": 1, "record": 2 + 1 / 3},
    # Beside walls receivers take other fields, too, each a launch.
    "elastic": STAGGERED | {"inject": 3, "record": 6 + 1 / 3},
    "maxwell": STAGGERED | {"inject": 3, "record": 2 + 1 / 3},
    "diamond": {"fd_diamond": 1 / LEVELS},
}
#: One staggered physics launches what the others do.
EACH_KIND = pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[pytest.mark.slow] * (k in ("elastic", "maxwell"))) for k in KERNELS],
)


def scalar(device="cuda", **options):
    """Layers beside the grid, c of each node, sources, receivers at every step and at every third one."""
    rng = np.random.default_rng(3)
    shape = (9, 8, 10)
    grid = unda.Grid(shape, (10.0, 12.0, 9.0))
    medium = unda.Acoustic(rho=1000.0, c=rng.uniform(1000, 2000, shape))
    sides = {"zmax": "free", "xmin": "rigid", "*": unda.Damping(3)}
    sim = unda.FD(grid, medium, order=2, boundary=sides, device=device, **options)
    for place in ((52.0, 40.0, 61.0), (70.0, 80.0, 33.0)):
        sim.add_source(unda.VolumeInjection(place, unda.ricker(30.0, t0=0.0)))
    p, before = rng.uniform(-1, 1, (2, *shape))
    p[:, :, -1] = before[:, :, -1] = 0
    sim.set(p=p, p_previous=before)
    return sim, [sim.add_receivers([(60.0, 70.0, 80.0)]), sim.add_receivers([(9.0, 9.0, 9.0)], every=3)]


def staggered(physics):
    """Layers on two sides, a source, receivers of two fields at every step and of one at every third."""
    rng, grid = np.random.default_rng(3), unda.Grid((5, 4, 26), 10.0)
    medium = random_medium(physics, grid.shape, rng, lossless=False)
    layer = unda.CPML(width=2, f0=0.01)
    sides = {"xmin": layer, "zmax": layer, "*": WALLS[physics][0]}
    strips = {"lanes": 16, "width": 1}  # shorter than the grid
    sim = unda.FD(
        grid, medium, scheme="staggered", order=2, boundary=sides, device="cuda", kernel_options=strips
    )
    sim.set(**borne({name: rng.uniform(-1, 1, grid.shape) for name in sim.fields}))
    sim.add_source(source_of(physics, (12.0, 14.0, 33.0), unda.ricker(0.01, t0=0.0), (1, 2, 3)))
    place = [(21.0, 17.0, 22.0)]
    return sim, [sim.add_receivers(place, sim.fields[:2]), sim.add_receivers(place, sim.fields[-1:], every=3)]


def make(kind):
    if kind == "scalar":
        return scalar(kernel="step")
    if kind == "diamond":
        return scalar(kernel="diamond", kernel_options={"dts": 2, "step": 1, "levels": LEVELS})
    return staggered(kind)


def everything(sim, receivers):
    """All arrays of the state with those of layers, clock, memory and samples."""
    traces = {f"{i} {name}": rec[name] for i, rec in enumerate(receivers) for name in rec.fields}
    numbers = {"t": sim.t, "step": sim.step_count, "memory": sim.memory["device"], "energy": sim.energy()}
    return whole_state(sim) | traces | {name: np.array(one) for name, one in numbers.items()}


def differing(found, expected):
    assert list(found) == list(expected)
    return [name for name, one in expected.items() if not np.array_equal(found[name], one)]


@pytest.mark.sanitize
@EACH_KIND
def test_the_state_stays_and_so_does_the_run_afterwards(kind):
    (sim, receivers), (other, others) = make(kind), make(kind)
    n = LEVELS if kind == "diamond" else 1
    for steps in (n + 1, n):
        before = everything(sim, receivers)
        kernel_seconds(sim, 1)
        assert differing(everything(sim, receivers), before) == []
        sim.step(steps)
        other.step(steps)
        assert differing(everything(sim, receivers), everything(other, others)) == []
    assert differing(everything(sim, receivers), before) != []


@EACH_KIND
def test_every_kernel_of_a_step_is_listed_with_its_launches(kind):
    sim, _ = make(kind)
    found = kernel_seconds(sim, RUNS)
    stage = found.pop("stage")["seconds"]
    assert {name: one["launches"] for name, one in found.items()} == pytest.approx(KERNELS[kind])
    assert all(0 < one["seconds"] < np.inf for one in found.values()) and 0 < stage < np.inf


def launches_so_far():
    return ctypes.CDLL(os.environ["UNDA_LIBCUDA"]).emu_num_launch()


@pytest.mark.skipif(REAL, reason="the stand-in driver counts launches")
@EACH_KIND
def test_as_many_kernels_are_listed_as_steps_launch(kind):
    """Calls of 2 n steps launch what those of n do, and the kernels of n steps more."""
    sim, _ = make(kind)
    n = 3 * LEVELS if kind == "diamond" else 3
    sim.step(1)
    counts = []
    for steps in (n, 2 * n):
        before = launches_so_far()
        sim._stepping.advance(steps)
        counts.append(launches_so_far() - before)
    assert counts[1] - counts[0] == round(n * sum(KERNELS[kind].values()))


@pytest.mark.skipif(REAL, reason="the stand-in driver has a clock of launches")
@EACH_KIND
def test_seconds_are_those_of_a_launch_and_of_a_step(monkeypatch, kind):
    """Where each launch takes a second, it takes one, and a step without receivers as many as it has.

    Staggered steps are launched to be timed, as their parts are; after two of each to warm up.
    """
    monkeypatch.setenv("UNDA_EMULATOR_CLOCK", "1")
    sim, receivers = make(kind)
    sim.step(1)
    before = launches_so_far()
    found = kernel_seconds(sim, RUNS)
    launched = launches_so_far() - before
    step = sum(number for name, number in KERNELS[kind].items() if name != "record")
    assert found.pop("stage")["seconds"] == pytest.approx(step, rel=1e-6)
    assert [one["seconds"] for one in found.values()] == pytest.approx([1.0] * len(found), rel=1e-6)
    if kind in WALLS:
        lists = sum(len(rec.fields) for rec in receivers) + 4 * (kind == "elastic")
        assert launched == (2 + RUNS) * (2 * step + lists)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"kernel": "step"}, {"scalar_step": 1}),
        pytest.param(
            {"scheme": "staggered"},
            {"staggered_walls0": 1, "staggered_walls1": 1, "staggered_ghosts": 2},
            marks=pytest.mark.slow,
        ),
        (
            {"scheme": "staggered", "boundary": {"*": unda.CPML(2, f0=20.0)}},
            {f"staggered_{part}{i}": 1 for i in range(2) for part in ("pass", "layers")},
        ),
    ],
)
def test_what_a_step_does_not_launch_is_not_listed(options, expected):
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    options = {"boundary": {"*": "free"}} | options
    sim = unda.FD(unda.Grid((9, 8, 7), 10.0), medium, device="cuda", **options)
    found = sim.profile(1)
    stage = found.pop("stage")
    assert {name: one["launches"] for name, one in found.items()} == expected
    rate = sim.rate(stage["seconds"])
    assert list(stage) == ["seconds", *rate] and 0 < stage["percent_of_limit"]
    for name in ("gcell_per_second", "gflops", "gbytes_per_second"):
        assert stage[name] == rate[name] > 0


def test_windows_and_the_cpu_are_refused_by_name():
    sim, _ = scalar(window=4)
    with pytest.raises(unda.ArgumentError, match=r"window of 4 rows at a time, .* expected all of it"):
        sim.profile()
    sim.step(3)
    with pytest.raises(unda.ArgumentError, match="cpu engine has no kernels"):
        scalar("cpu")[0].profile()


def used():
    info = unda._core.new_struct("unda_device_info")
    unda._core.check(unda._core.lib.unda_device_get_info(0, info))
    return info.total_bytes - info.free_bytes


@pytest.mark.skipif(REAL, reason="a device of the stand-in that is full")
@EACH_KIND
def test_a_state_without_room_for_its_copy_is_refused_and_stays(monkeypatch, kind):
    gc.collect()  # simulations of other tests that are no longer used hold memory of the device, too
    sim, receivers = make(kind)
    kernel_seconds(sim, 1)
    before, held = everything(sim, receivers), used()
    kernel_seconds(sim, 1)
    assert used() == held, "the copy is given back"
    monkeypatch.setenv("UNDA_EMULATOR_MEMORY", str(held + 1000))
    with pytest.raises(unda.OutOfMemoryError, match=r"copy of the state .* needs \d+ bytes, 1000 of"):
        kernel_seconds(sim, 1)
    monkeypatch.undo()
    assert used() == held and differing(everything(sim, receivers), before) == []
    sim.step(2)
