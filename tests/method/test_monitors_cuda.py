"""Monitors on CUDA devices have exactly the samples, with every kernel, layout and storage."""

import numpy as np
import pytest
import unda
from cuda_device import prepare
from monitor_cases import CASES, compare, grid_case, mesh_case, monitored, samples, sem_case

pytestmark = pytest.mark.gpu_or_stand_in
prepare()

#: {name: (function, arguments, field)}: layouts of states, kernels of one and of many steps.
ON_DEVICE = {
    "tet nodes": (mesh_case, {"shape": "tet", "degree": 2}, "vx"),
    "tet elements float64": (
        mesh_case,
        {"shape": "tet", "degree": 1, "dtype": "float64", "kernel": "element"},
        "p",
    ),
    "tet fields": (mesh_case, {"shape": "tet", "degree": 2, "kernel": "microblock"}, "vz"),
    "hex": (mesh_case, {"shape": "hex", "degree": 2}, "p"),
    "scalar step": (grid_case, {"scheme": "scalar", "kernel": "step"}, "p"),
    "scalar diamond": (grid_case, {"scheme": "scalar", "kernel": "diamond"}, "p"),
    "scalar diamond, small tile": (
        grid_case,
        {"scheme": "scalar", "kernel": "diamond", "order": 2, "kernel_options": {"dts": 2, "step": 1}},
        "p",
    ),
    "scalar window": (grid_case, {"scheme": "scalar", "window": 8}, "p"),
    "staggered": (grid_case, {"scheme": "staggered", "shape": (24, 11, 16)}, "vx"),  # whole vectors
    "scalar in vectors float64": (
        grid_case, {"scheme": "scalar", "kernel": "step", "shape": (24, 11, 16), "dtype": "float64"}, "p"
    ),
    "sem": (sem_case, {"degree": 2, "cells": (2, 2, 2)}, "p"),
    "sem solid float64": (
        sem_case, {"medium": "elastic", "dtype": "float64", "degree": 2, "assembly": "colors"}, "vy"
    ),
    "sem in parts": (sem_case, {"medium": "elastic", "degree": 2, "device": ["cuda:0"] * 2}, "az"),
}  # fmt: skip


def part_of(whole, part):
    """Return what a monitor of everything has where another one is."""
    if part.cells is not None:
        return whole.values[..., part.cells, :]
    inside = [np.flatnonzero(np.isin(a, b)) for a, b in zip(whole.axes, part.axes, strict=True)]
    return whole.values[(..., *np.ix_(*inside))]


SLOW = "tet nodes", "scalar step", "scalar diamond", "sem", "sem in parts", "scalar in vectors float64"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in ON_DEVICE]
)
def test_monitors_are_statistics_of_the_samples(name):
    make, options, field = ON_DEVICE[name]
    every, num = 3, 8
    alone, sim = (make(**{"device": "cuda"} | options) for _ in range(2))
    before = sum(sim.memory.values())
    recorded = [one.add_receivers([(0.4, 0.35, 0.3)], [field], every=2) for one in (alone, sim)]
    monitors = monitored(sim, field, every)
    parts = monitored(sim, field, every, ((0.2, 0.1, 0.2), (0.9, 0.5, 0.75)))
    assert sum(sim.memory.values()) == before + sum(one.bytes for one in sim.monitors)
    p, times = samples(alone, field, every, num)
    assert np.ptp(p) > 0
    sim.step(every * (num - 1))
    compare(monitors, p, times, every * sim.dt)
    for kind, part in parts.items():
        np.testing.assert_array_equal(part.values, part_of(monitors[kind], part))
    np.testing.assert_array_equal(*(rec[field] for rec in recorded))


@pytest.mark.parametrize("calls", [(1, 4, 6), pytest.param((11,), marks=pytest.mark.slow)])
def test_samples_of_every_step_are_taken_two_by_two(calls):
    """Beside others, in calls of an odd and of an even number of steps."""
    alone, sim = (grid_case("scalar", kernel="step", device="cuda") for _ in range(2))
    every, third = monitored(sim, "p", 1), monitored(sim, "p", 3)
    # of 12 bytes of a step, in rows of 14 filled up to 16; a step has the values that the first one takes
    shares = every["max"].share, every["min"].share
    assert shares == pytest.approx((2 / 12 * 16 / 14, 6 / 12 * 16 / 14), rel=1e-12)
    p, times = samples(alone, "p", 1, 12)
    for num in calls:
        sim.step(num)
    compare(every, p, times, sim.dt)
    compare(third, p[::3], times[::3], 3 * sim.dt)
    with pytest.raises(AssertionError):
        compare(every, p[:-1], times[:-1], sim.dt)


WALLS = {"*": "rigid", "zmin": "free", "ymin": "absorbing"}
#: Kernels whose levels stay where they are while they are samples.
STAY = {
    "step": {"scheme": "scalar", "kernel": "step", "boundary": WALLS},
    "diamond": {
        "scheme": "scalar", "kernel": "diamond", "order": 2, "boundary": {"*": "rigid"},
        "kernel_options": {"dts": 2, "step": 1, "fewest": 1},
    },
    "staggered": {"scheme": "staggered", "boundary": {"*": "absorbing"}},
    "staggered, walls float64": {"scheme": "staggered", "dtype": "float64", "boundary": WALLS},
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "step")) for name in STAY]
)
def test_levels_stay_where_they_are_while_they_are_samples(name, monkeypatch):
    """Of every step and every third one, in calls of fewer and of more samples than are added at once.

    Of "step" planes are added to in parts, as they are where a step takes long.
    """
    if name == "step":
        monkeypatch.setenv("UNDA_EMULATOR_BANDWIDTH", "1")
    options = {"device": "cuda"} | STAY[name]
    sim, alone = (grid_case(**options) for _ in range(2))
    before, num = sim.memory["device"], 49
    monitors = {every: monitored(sim, "p", every) for every in (1, 3)}
    rms = monitors[1]["rms"]
    assert rms.bytes > rms.values.size * (8 + 4 * 15)  # with 15 levels (of float64 7) of all nodes
    asked = [{"kind": one.kind, "frequencies": list(one.frequencies) or None} for one in sim.monitors[:4]]
    plain, found = (
        unda.FD.forecast(sim.grid, sim.medium, **options, monitors=given)["device"] for given in ([], asked)
    )
    assert (plain, found) == (before, before + sum(one.bytes for one in sim.monitors[:4]))
    p, times = samples(alone, "p", 1, num)
    for calls in ([1, 3, 12], [16, 1, 15]):
        for steps in calls:
            sim.step(steps)
        assert np.isfinite(rms.values).all()  # which adds what is there
    for every, found in monitors.items():
        compare(found, p[::every], times[::every], every * sim.dt)
        with pytest.raises(AssertionError):
            compare(found, p[:-every:every], times[:-every:every], every * sim.dt)
    sim.clear_monitors()  # when the state stands in their arrays
    assert sim.memory["device"] == before
    for one in (sim, alone):
        one.step(3)
    for field in sim.fields:
        np.testing.assert_array_equal(sim.get(field), alone.get(field))


@pytest.mark.parametrize(
    "shape", [(18, 8, 8), pytest.param((290, 260, 270), marks=[pytest.mark.gpu, pytest.mark.slow])]
)
def test_what_is_added_beside_steps_has_the_bits_of_what_is_added_between_them(shape, monkeypatch):
    """Planes in parts, by one monitor: steps wait for its arrays. A region's samples stand in no level."""
    monkeypatch.setenv("UNDA_EMULATOR_BANDWIDTH", "1")  # of a device: where a step takes long
    sims = [grid_case(device="cuda", shape=shape, **STAY["step"]) for _ in range(2)]
    top = [0.05 * (n - 1) for n in shape]
    for kind, every in {"rms": 1, "dft": 3}.items():
        more = {"every": every, "frequencies": [0.7] if kind == "dft" else None}
        whole = sims[0].add_monitor("p", kind, **more)
        part = sims[1].add_monitor("p", kind, region=((0.05, 0, 0), top), **more)
        for steps in (1, (27 if kind == "rms" else 9) * every):  # adds 15 at once, and 7
            for sim in sims:
                sim.step(steps)
        assert whole.values.any()
        np.testing.assert_array_equal(part_of(whole, part), part.values)
        for sim in sims:
            sim.clear_monitors()
    np.testing.assert_array_equal(sims[0].get("p"), sims[1].get("p"))


def test_samples_are_added_before_a_state_is_written_where_they_stand():
    sims = [grid_case(device="cuda", **STAY["step"]) for _ in range(2)]
    found = [sim.add_monitor("p", "rms", every=1) for sim in sims]
    for sim in sims:
        sim.step(5)
    sims[0]._solver.call(unda._core.lib.unda_solver_clear_state)
    assert not sims[0].get("p").any()
    assert np.ptp(found[1].values) > 0
    np.testing.assert_array_equal(found[0].values, found[1].values)


def test_memory_that_is_handed_out_stays_when_monitors_go():
    """Whose arrays the state may stand in; 5 samples are held by then, fewer than are added at once."""
    sim, alone = (grid_case(device="cuda", **STAY["step"]) for _ in range(2))
    rms = sim.add_monitor("p", "rms", every=1)
    p, _ = samples(alone, "p", 1, 6)
    sim.step(5)
    raw = sim.device_array("p", raw=True)
    square = (p.astype(np.float64) ** 2).mean(axis=0)
    np.testing.assert_allclose(rms.values, np.sqrt(square), rtol=12 * 2.0**-53)  # as in compare(), n = 6
    sim.clear_monitors()
    np.testing.assert_array_equal(raw.numpy(), alone.device_array("p", raw=True).numpy())
    assert not np.array_equal(p[-1], p[-2])


WAYS = {
    "one": {},
    "atomic": {"assembly": "atomic"},
    "parts": {"device": ["cuda:0"] * 2},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "one")) for name in WAYS]
)
def test_each_level_of_spectral_elements_is_sampled_while_steps_go_on(name):
    """Of u before a step, of v or a as it keeps them, of both where it ends; beside receivers."""
    every = {"uz": 1, "vz": 2, "az": 3}
    options = {"medium": "elastic", "degree": 2, "cells": (2, 2, 2), "device": "cuda"} | WAYS[name]
    alone, sim = sem_case(**options), sem_case(**options)
    peaks = {field: sim.add_monitor(field, "max", every=num) for field, num in every.items()}
    narrow = sem_case(**options) if name == "parts" else sim
    few = narrow.add_monitor("vx", "min", every=2, region=[0])  # one of the parts has none
    mean = sim.add_monitor("uz", "rms", every=1)  # more samples than are held at a time
    recorded = [one.add_receivers([(0.4, 0.35, 0.3)], [*every], every=2) for one in (alone, sim)]
    squares, found = 0.0, {field: alone.get(field) for field in [*every, "vx"]}
    for step in range(1, 20):
        alone.step(1)
        squares = squares + alone.get("uz").astype(np.float64) ** 2
        for field, num in every.items():
            if step % num == 0:
                found[field] = np.maximum(found[field], alone.get(field))
        if step % 2 == 0:
            found["vx"] = np.minimum(found["vx"], alone.get("vx"))
    for num in (8, 11):
        for one in {sim, narrow}:
            one.step(num)
    same = np.testing.assert_array_equal if name != "atomic" else close_to
    for field, peak in peaks.items():
        same(peak.values, found[field])
        same(recorded[1][field], recorded[0][field])
    same(few.values[0], found["vx"][0])
    same(mean.values, np.sqrt(squares / 20))  # squares of float32 are exact


def close_to(there, here):
    """Sums of atomic additions have no order: 19 steps of some ten float32 additions a node."""
    np.testing.assert_allclose(there, here, rtol=0, atol=19 * 10 * 2.0**-23 * np.abs(here).max())


TILES = {
    "order 4": (4, False, "rigid"),
    "order 2, speeds of nodes": (2, True, "rigid"),
    "order 8, in layers": (8, False, "absorbing"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "order 4")) for name in TILES]
)
def test_tiles_away_from_sides_take_samples_as_others(name):
    """Several tiles of kernel step, some without sides, in and beside layers; rows in vectors, and not."""
    order, varies, side = TILES[name]
    shape = 30, 26, 140
    c = 1.0 + 0.2 * np.random.default_rng(1).random(shape) if varies else 1.0
    given = {"medium": unda.Acoustic(rho=1.0, c=c), "boundary": {"*": side, "zmin": "absorbing"}}
    sim, alone = (
        grid_case("scalar", shape=shape, order=order, kernel="step", device="cuda", **given) for _ in range(2)
    )
    parts = [None, ((0.13, 0.11, 0.33), (1.1, 0.7, 5.2))]
    peaks = []
    for kind, every in (("max", 1), ("min", 2), ("max", 3)):
        peaks += [(kind, every, [sim.add_monitor("p", kind, every=every, region=part) for part in parts])]
    most = [alone.get("p") for _ in peaks]
    for step in range(1, 9):
        alone.step(1)
        for i, (kind, every, _) in enumerate(peaks):
            if step % every == 0:
                most[i] = {"max": np.maximum, "min": np.minimum}[kind](most[i], alone.get("p"))
    sim.step(3)
    sim.step(5)
    for found, (_, _, (whole, part)) in zip(most, peaks, strict=True):
        np.testing.assert_array_equal(whole.values, found)
        np.testing.assert_array_equal(part.values, part_of(whole, part))
        assert np.ptp(found) > 0
    np.testing.assert_array_equal(sim.get("p"), alone.get("p"))


#: Slabs of kernel diamond share planes.
DIAMOND = {
    "scheme": "scalar", "order": 2, "kernel": "diamond",
    "kernel_options": {"dts": 2, "step": 1, "levels": 7, "fewest": 1},
}  # fmt: skip
PARTS = {name: CASES[name] for name in ("tet", "scalar", "staggered")} | {
    "diamond": (grid_case, DIAMOND, "p")
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in ("staggered", "diamond"))) for name in PARTS],
)
def test_parts_have_the_bits_of_one(name):
    make, options, field = PARTS[name]
    one, cut = make(**options, device="cuda"), make(**options, device=["cuda:0"] * 2)
    for sim in (one, cut):
        monitored(sim, field, 1 if name == "scalar" else 3)  # more samples than are held at a time
        monitored(sim, field, 4, ((0.2, 0.1, 0.1), (0.9, 0.5, 0.9)))
        sim.step(13)
    for here, there in zip(one.monitors, cut.monitors, strict=True):
        np.testing.assert_array_equal(here.values, there.values)
