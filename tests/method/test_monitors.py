"""Monitors have exactly the samples, wherever and however steps are taken."""

import numpy as np
import pytest
import unda
from monitor_cases import CASES, compare, elastic_grid, grid_case, mesh_case, monitored, samples


@pytest.mark.parametrize("name", CASES)
def test_monitors_are_statistics_of_the_samples(name):
    make, options, field = CASES[name]
    every, num = 3, 14
    alone, sim = make(**options), make(**options)
    monitors = monitored(sim, field, every)
    recorded = [one.add_receivers([(0.4, 0.35, 0.3)], [field], every=2) for one in (alone, sim)]
    p, times = samples(alone, field, every, num)
    assert np.ptp(p) > 0
    sim.step(20)  # in two calls, neither of which ends at a sample
    sim.step(every * (num - 1) - 19)
    assert monitors["max"].num_sample == num
    compare(monitors, p, times, every * sim.dt)
    alone.step(1)
    np.testing.assert_array_equal(sim.get(field), alone.get(field))  # monitors change no bit of the state,
    np.testing.assert_array_equal(*(rec[field] for rec in recorded))  # nor of what is recorded


def test_one_sample_more_is_seen():
    alone, sim = grid_case("scalar"), grid_case("scalar")
    monitors = monitored(sim, "p", 3)
    p, times = samples(alone, "p", 3, 14)
    sim.step(3 * 14)
    with pytest.raises(AssertionError):
        compare(monitors, p, times, 3 * sim.dt)


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("name", ["tet", "hex by cells", "scalar", "elastic"])
def test_parts_have_the_bits_of_one(name, parts):
    make, options, field = CASES[name]
    one, cut = make(**options, device="cpu"), make(**options, device=["cpu"] * parts)
    regions = [None, ((0.2, 0.1, 0.1), (0.9, 0.5, 0.9))]
    for region in regions:
        for sim in (one, cut):
            monitored(sim, field, 3, region)
    for sim in (one, cut):
        sim.step(31)
    for here, there in zip(one.monitors, cut.monitors, strict=True):
        np.testing.assert_array_equal(here.values, there.values)
        assert np.ptp(np.abs(here.values)) > 0


def test_regions_are_parts_of_the_whole():
    sim = mesh_case("tet")
    whole, box = (sim.add_monitor("p", "max", every=2, region=r) for r in (None, ((0, 0, 0), (0.6, 1, 0.5))))
    tag = sim.add_monitor("p", "max", every=2, region=next(iter(sim.mesh.tag_names)))
    few = sim.add_monitor("p", "max", every=2, region=[7, 3])
    sim.step(20)
    np.testing.assert_array_equal(tag.values, whole.values)
    np.testing.assert_array_equal(few.values, whole.values[[3, 7]])
    inside = (sim.mesh.centroids <= (0.6, 1, 0.5)).all(axis=1)
    assert 0 < inside.sum() < sim.mesh.num_elem
    np.testing.assert_array_equal(box.cells, np.flatnonzero(inside))
    np.testing.assert_array_equal(box.values, whole.values[inside])
    assert box.bytes == box.values.nbytes


def test_a_box_of_a_grid_is_a_part_of_it():
    sim = elastic_grid()
    whole, box = (
        sim.add_monitor("vz", "min", every=2, region=r) for r in (None, ((0.2, 0, 0.1), (0.9, 0.3, 9)))
    )
    sim.step(20)
    x, y, z = whole.axes
    part = whole.values[(x >= 0.2 - 1e-9) & (x <= 0.9 + 1e-9)][:, y <= 0.3 + 1e-9][:, :, z >= 0.1 - 1e-9]
    np.testing.assert_array_equal(box.values, part)
    assert tuple(map(len, box.axes)) == box.values.shape


@pytest.mark.parametrize("kind", ["max", "dft"])
def test_by_default_there_are_enough_samples_a_period(kind):
    sim = mesh_case("tet", f0=0.4)
    monitor = sim.add_monitor("p", kind, frequencies=[1.0] if kind == "dft" else None)
    least = {"max": 8, "dft": 4}[kind]
    period = 1 / sim.check().fmax
    assert period / (monitor.every * sim.dt) >= least > period / ((monitor.every + 1) * sim.dt)
    assert f"{monitor.per_period:.3g} samples a period" in repr(monitor)


def test_samples_of_a_sinusoid_miss_its_peak_by_no_more_than_is_said():
    """Any phase: 1 - cos(pi / n) is reached where the peak is midway between samples."""
    n, phases = 8, np.linspace(0, 2 * np.pi, 1000)
    missed = 1 - np.cos(2 * np.pi * np.arange(n) / n + phases[:, None]).max(axis=1)
    bound = 1 - np.cos(np.pi / n)
    assert 0.99 * bound < missed.max() <= bound * (1 + 1e-12)
    assert f"{100 * bound:.1f} %" in unda.Monitor.__doc__


def test_reset_begins_again_and_clear_frees():
    sim = grid_case("scalar")
    before = sim.memory["host"]
    peak = sim.add_monitor("p", "max", every=2)
    assert sim.memory["host"] == before + peak.bytes
    sim.step(30)
    first = peak.values
    sim.reset()
    assert peak.num_sample == 1
    assert not peak.values.any()
    sim.step(30)
    np.testing.assert_array_equal(peak.values, first)
    sim.clear_monitors()
    assert sim.monitors == ()
    assert sim.memory["host"] == before
    with pytest.raises(unda.ArgumentError, match="was removed"):
        _ = peak.values


@pytest.mark.parametrize("name", ["tet ab3 float64", "scalar", "elastic"])
def test_checkpoints_keep_monitors(name, tmp_path):
    make, options, field = CASES[name]
    sim = make(**options)
    sim.step(2)
    monitored(sim, field, 3)
    monitored(sim, field, 4, ((0.2, 0.1, 0.1), (0.9, 0.5, 0.9)))
    sim.step(13)  # between samples
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for one in (sim, again):
        one.step(11)
    for here, there in zip(sim.monitors, again.monitors, strict=True):
        assert (here.kind, here.every, here.num_sample) == (there.kind, there.every, there.num_sample)
        np.testing.assert_array_equal(here.values, there.values)


def test_what_monitors_cannot_do_is_said():
    sim = mesh_case("tet")
    for given, words in [
        (("divergence", "max"), "field that is stored"),
        (("p", "mean"), "kind is 'mean'"),
        (("p", "dft"), "frequencies is None"),
    ]:
        with pytest.raises(unda.ArgumentError, match=words):
            sim.add_monitor(*given)
    for options, words in [
        ({"frequencies": [1.0]}, "none otherwise"),
        ({"every": 0}, "every is 0"),
        ({"region": "lid"}, "region is 'lid'"),
        ({"region": ((2, 2, 2), (3, 3, 3))}, "has no cells"),
        ({"region": ((1, 1, 1), (0, 0, 0))}, "lower corner first"),
        ({"region": [1, 1]}, "different"),
    ]:
        with pytest.raises(unda.ArgumentError, match=words):
            sim.add_monitor("p", "max", **options)
    with pytest.raises(unda.ArgumentError, match="has 129 numbers"):
        sim.add_monitor("p", "dft", frequencies=np.arange(129.0))
    sim.reset(sources=True)
    with pytest.raises(unda.ArgumentError, match="every is not given"):
        sim.add_monitor("p", "max")
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2), shape="hex")
    with pytest.raises(unda.ArgumentError, match="SEM has no monitors"):
        unda.SEM(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2).add_monitor("chi", "max", every=1)
    assert sim.monitors == ()
