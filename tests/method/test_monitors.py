"""Monitors have exactly the samples, wherever and however steps are taken."""

import numpy as np
import pytest
import unda
from monitor_cases import (
    CASES,
    FREQUENCIES,
    compare,
    elastic_grid,
    grid_case,
    mesh_case,
    monitored,
    samples,
    sem_case,
)
from unda._core import lib


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


MORE = FREQUENCIES[1], 0.2, FREQUENCIES[0]


@pytest.mark.parametrize("name", ["scalar", "scalar tiled float64"])
def test_every_step_may_be_a_sample(name):
    """They are taken two by two, in calls of an odd and of an even number of steps."""
    make, options, field = CASES[name]
    alone, sim = make(**options), make(**options)
    every, third = monitored(sim, field, 1), monitored(sim, field, 3)
    one, more = (sim.add_monitor(field, "dft", every=1, frequencies=f) for f in (FREQUENCIES[1:], MORE))
    p, times = samples(alone, field, 1, 28)
    for num in (1, 4, 22):
        sim.step(num)
    compare(every, p, times, sim.dt)
    compare(third, p[::3], times[::3], 3 * sim.dt)
    np.testing.assert_array_equal(one.values[0], every["dft"].values[1])  # alone, or by two
    np.testing.assert_array_equal(more.values[[2, 0]], every["dft"].values)


@pytest.mark.parametrize("name", ["scalar", "scalar tiled float64", "elastic"])
def test_looking_at_values_changes_none(name):
    """Samples that wait to be added are added then, in calls of any length."""
    make, options, field = CASES[name]
    calm, looked_at = make(**options), make(**options)
    sums = [monitored(sim, field, 2)["dft"] for sim in (calm, looked_at)]
    for num in (1, 2, 5, 13, 30):
        looked_at.step(num)
        assert np.isfinite(sums[1].values).all()
    calm.step(51)
    np.testing.assert_array_equal(sums[1].values, sums[0].values)
    assert np.ptp(np.abs(sums[0].values)) > 0


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


def test_a_box_of_a_plane_of_nodes_has_all_fields_of_it():
    """Along y, with one node, hx, hz and ey stand half a cell beside it."""
    sim = unda.FD(unda.Grid((9, 1, 8), 1.0), unda.Maxwell(eps=1.0, mu=1.0), scheme="staggered", device="cpu")
    for name in sim.fields:
        low, high = (2, 0, 1), (6, 0, 5)
        found = sim.add_monitor(name, "max", every=1, region=(low, high))
        whole = sim.add_monitor(name, "max", every=1)
        inside = [(axis >= a) & (axis <= b) for axis, a, b in zip(whole.axes, low, high, strict=True)]
        inside[1][:] = True
        assert [len(axis) for axis in found.axes] == [one.sum() for one in inside]
        with pytest.raises(unda.ArgumentError, match=f"has no nodes of {name}"):
            sim.add_monitor(name, "max", every=1, region=((2, 0.6, 1), (6, 0.7, 5)))


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


GRID = unda.Grid((24, 11, 14), 0.05), unda.Acoustic(rho=1.0, c=1.0)
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(3, 2, 2), perturb=0.1)
CUBES = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(3, 2, 2), shape="hex")
BOX = (0, 0, 0), (0.6, 1, 0.5)
ASKED = ["max", {"kind": "dft", "frequencies": FREQUENCIES}, {"kind": "rms", "region": BOX}]
#: {name: (class, its arguments, field, bytes that may be missing)}
FORECASTS = {
    "scalar": (unda.FD, GRID, {"scheme": "scalar"}, "p", 0),
    "scalar float64": (unda.FD, GRID, {"scheme": "scalar", "dtype": "float64"}, "p", 0),
    "staggered": (unda.FD, GRID, {"scheme": "staggered"}, "p", 0),
    "tetrahedra": (unda.DG, (MESH, GRID[1]), {"degree": 2}, "p", 0),
    "spectral": (unda.SEM, (CUBES, GRID[1]), {"degree": 3}, "chi", 2 * 64 * 8),
}


@pytest.mark.parametrize("name", FORECASTS)
def test_the_forecast_counts_monitors(name):
    """Of spectral elements within two rows of 64 nodes, of which the region has parts."""
    kind, given, options, field, room = FORECASTS[name]
    options = options | {"device": "cpu"}
    plain, found = kind.forecast(*given, **options), kind.forecast(*given, **options, monitors=ASKED)
    sim = kind(*given, **options)
    for one in ASKED:
        sim.add_monitor(field, every=2, **({"kind": one} if isinstance(one, str) else one))
    taken = sum(one.bytes for one in sim.monitors)
    assert taken > 0
    assert abs(found["host"] - plain["host"] - taken) <= room
    with pytest.raises(unda.ArgumentError, match="expected kind and others"):
        kind.forecast(*given, **options, monitors=[{"knd": "max"}])
    with pytest.raises(unda.ArgumentError, match="monitor of 'q': expected a field"):
        kind.forecast(*given, **options, monitors=[{"kind": "max", "field": "q"}])
    assert (
        kind.forecast(*given, **options, monitors=[{"kind": "max", "field": field}])["host"] > plain["host"]
    )


def test_the_share_of_a_monitor_is_that_of_its_bytes():
    """Of the scalar scheme a step moves 12 bytes a node; a sample 4, and 4 or, two at once, 2 of maxima."""
    sim = grid_case("scalar")
    each, other = (sim.add_monitor("p", "max", every=every) for every in (1, 2))
    assert each.share == pytest.approx((4 + 2) / 12, rel=1e-12)
    assert other.share == pytest.approx((4 + 4) / 2 / 12, rel=1e-12)
    assert "50 % of a step's bytes" in repr(each)
    sim.clear_monitors()
    assert "bytes" not in repr(each)


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


@pytest.mark.parametrize("name", ["tet ab3 float64", "scalar", "elastic", "sem solid float64"])
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


@pytest.mark.parametrize("device", ["cpu", ["cpu"] * 2])
def test_fluids_and_solids_of_spectral_elements_have_what_is_theirs(device):
    sim = sem_case("both", device=device)
    fluid, found = sim._fluid, {}
    assert fluid.any()
    assert not fluid.all()
    for field, there in (("pressure", fluid), ("vz", ~fluid)):
        found[field] = sim.add_monitor(field, "max", every=2), there
    below = sim.add_monitor("ux", "min", every=2, region=((0, 0, 0), (1, 1, 0.5)))
    with pytest.raises(unda.ArgumentError, match="no cells with chi_tt"):
        sim.add_monitor("pressure", "max", every=2, region=((0, 0, 0), (1, 1, 0.5)))
    sim.set(chi=lambda x, y, z: np.sin(9 * x))  # whose accelerations are made before sample 0
    peak = {field: sim.get(field) for field in found}
    for _ in range(15):
        sim.step(2)
        peak = {field: np.maximum(old, sim.get(field)) for field, old in peak.items()}
    for field, (monitor, there) in found.items():
        np.testing.assert_array_equal(monitor.values[there], peak[field][there])
        assert np.isnan(monitor.values[~there]).all()
    assert np.isfinite(below.values).all()


def test_nodes_that_cells_share_are_kept_once():
    sim = sem_case(cells=(6, 4, 4))
    before = sim.memory["host"]
    peak, few = (sim.add_monitor("p", "max", every=2, region=region) for region in (None, [0]))
    nodes = (6 * 3 + 1) * (4 * 3 + 1) ** 2
    assert nodes * 4 <= peak.bytes < (nodes + 64) * 4 < peak.values.nbytes
    assert few.bytes < peak.bytes / 2
    assert sim.memory["host"] == before + peak.bytes + few.bytes


#: {name: (simulation, derived field, fields)}
DERIVED = {
    "speed of tetrahedra": (mesh_case, {"shape": "tet"}, "speed", ("vx", "vy", "vz")),
    "speed of solids": (sem_case, {"medium": "elastic", "dtype": "float64"}, "speed", ("vx", "vy", "vz")),
    "pressure of a grid": (elastic_grid, {}, "pressure", ("sxx", "syy", "szz")),
}


def derived(name, parts):
    a, b, c = parts
    return -(a + b + c) / 3 if name == "pressure" else np.sqrt(a * a + b * b + c * c)


@pytest.mark.parametrize("case", DERIVED)
def test_derived_fields_are_those_of_each_sample(case):
    """Three products and their sum round by at most 4 eps of the sum of magnitudes, and so does a mean."""
    make, options, name, fields = DERIVED[case]
    sim = make(**options)
    eps = np.finfo(sim.dtype).eps
    peak, apart = sim.add_monitor(name, "max", every=2), sim.add_monitor(fields[0], "max", every=2)
    size, most = 0.0, -np.inf
    for _ in range(12):
        sim.step(2)
        parts = [sim.get(field).astype(np.float64) for field in fields]
        size = np.maximum(size, sum(map(abs, parts)))
        most = np.maximum(most, derived(name, parts))
    most = np.maximum(most, 0.0)  # sample 0
    assert (np.abs(peak.values - most) <= 4 * eps * size).all()
    assert np.abs(apart.values - most).max() > 100 * eps * size.max()


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
    assert sim.monitors == ()
    with pytest.raises(unda.ArgumentError, match="field that is stored"):
        grid_case("staggered").add_monitor("speed", "max")  # its components stand half a cell apart


def test_frequencies_beyond_the_samples_are_refused():
    sim = unda.FD(unda.Grid((9, 9, 9), 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu", dt=0.1)
    sim.add_monitor("p", "dft", every=2, frequencies=[2.5])
    with pytest.raises(
        unda.ArgumentError, match=r"up to 2\.6 Hz; samples every 2 steps know those up to 2\.5 Hz"
    ):
        sim.add_monitor("p", "dft", every=2, frequencies=[1.0, 2.6])


def test_a_clock_that_is_set_before_its_first_sample_begins_a_monitor_anew():
    """Python restarts all monitors itself. Of a later clock what was sampled stays."""
    sim = grid_case("scalar")
    sim.step(7)
    monitor = sim.add_monitor("p", "rms", every=3)
    sim.step(6)
    for step, num in ((8, 3), (2, 1)):
        sim._solver.call(lib.unda_solver_set_clock, 0.0, step, 0)
        assert monitor.num_sample == num
    np.testing.assert_array_equal(monitor.values, abs(sim.get("p").astype(np.float64)))
