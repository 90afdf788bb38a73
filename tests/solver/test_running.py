"""Running: receivers, chunks, blow-up, refusals. Not here: the amplitude of sources (test_dg_sources.py)."""

import json
import logging
import pickle
import platform
import time
from types import SimpleNamespace

import numpy as np
import pytest
import unda

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # how runs go, not whether the wave is right

MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


def box(n=4, **options):
    return unda.box_mesh((0, 0, 0), (1000, 1000, 1000), (n, n, n), **options)


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_results_do_not_depend_on_threads_or_chunks(integrator):
    mesh = box(3, perturb=0.2)
    traces = []
    for threads, chunks in ((1, [30]), (2, [1, 2, 27]), (3, [29, 1])):
        sim = unda.DG(mesh, MEDIUM, degree=3, integrator=integrator, threads=threads)
        sim.add_source(unda.VolumeInjection((503, 491, 507), unda.ricker(8.0)))
        rec = sim.add_receivers([(600, 510, 480)], every=3)
        for n in chunks:
            sim.run(steps=n)
        traces.append((rec["p"], rec["vz"], sim.get("vx")))
    for other in traces[1:]:
        for a, b in zip(traces[0], other, strict=True):
            assert np.array_equal(a, b)
    assert traces[0][0].shape == (1, 11)
    assert np.abs(traces[0][0]).max() > 0


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="only there are they flushed")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_steps_take_subnormal_numbers_for_zero_and_nothing_else_does(dtype, integrator):
    """In all threads and in no step's neighbourhood: NumPy has them before and after."""
    tiny = np.finfo(dtype).tiny
    sim = unda.DG(box(3), MEDIUM, degree=2, dtype=dtype, integrator=integrator, threads=2)
    p = sim.get("p")
    for amplitude, moves in ((0.001 * tiny, False), (1000 * tiny, True)):
        sim.set(p=np.random.default_rng(1).uniform(0.5, 1, p.shape) * amplitude)
        assert sim.get("p").all()
        sim.step(4)
        assert sim.get("p").any() == moves
        assert np.array([tiny], dtype) * np.array([0.5], dtype) > 0


def test_receivers_outlive_the_simulation_and_pickle():
    with unda.DG(box(), MEDIUM, degree=2) as sim:
        sim.set(p=1.0)
        rec = sim.add_receivers([(500, 500, 500)], ["p"], every=2)
        sim.run(steps=4)
    copy = pickle.loads(pickle.dumps(rec))
    assert np.allclose(copy["p"][0, 0], 1.0)
    assert copy.t == pytest.approx(np.arange(3) * 2 * sim.dt)
    with pytest.raises(unda.ArgumentError, match="closed"):
        sim.step()


def test_a_step_above_the_limit_is_refused_and_its_blow_up_reported():
    mesh = box(3)
    limit = unda.DG(mesh, MEDIUM, degree=2).dt_stable
    with pytest.raises(unda.ArgumentError, match="stable limit"):
        unda.DG(mesh, MEDIUM, degree=2, dt=1.01 * limit)
    sim = unda.DG(mesh, MEDIUM, degree=2, dt=3 * limit, allow_unstable=True)
    sim.set(p=lambda x, y, z: np.sin(x / 50) * np.cos(y / 70))
    rec = sim.add_receivers([(500, 500, 500)], ["p"])
    with pytest.raises(unda.UnstableError) as info:
        sim.run(steps=20000)
    error = info.value
    assert error.step > error.last_good_step >= 0
    assert error.local_cfl > 1
    assert 0 <= error.element < mesh.num_elem
    assert np.isfinite(sim.get("p")).all()
    assert len(rec.t) == error.step + 1


@pytest.mark.each_value
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_the_default_step_is_stable_for_random_data_on_bad_meshes(seed, flux, integrator):
    mesh = unda.box_mesh((0, 0, 0), (1, 3, 0.4), (2, 2, 2), perturb=0.3, seed=seed)
    rng = np.random.default_rng(seed)
    medium = unda.Acoustic(rho=rng.uniform(0.2, 5, mesh.num_elem), c=rng.uniform(0.5, 4, mesh.num_elem))
    options = {"flux": flux, "integrator": integrator, "cfl": 1.0, "dtype": "float64"}
    options["boundary"] = {"xmin": "rigid", "xmax": "free", "*": "absorbing"}
    for degree in (1, 2, 4):
        sim = unda.DG(mesh, medium, degree=degree, **options)
        shape = (mesh.num_elem, sim.num_node)
        sim.set(**{name: rng.standard_normal(shape) for name in sim.fields})
        before = sim.energy()
        sim.run(steps=400)
        assert sim.energy() <= before * (1 + 1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"degree": 10}, "degree is 10"),
        ({"flux": "lax"}, "upwind"),
        ({"dtype": "float16"}, "float64"),
        ({"boundary": {"top": "free", "*": "rigid"}}, "xmin"),
        ({"boundary": {"zmax": "free"}}, "no condition for 'xmin', 'xmax', 'ymin', 'ymax', 'zmin'; expected"),
        ({"boundary": {"*": "soft"}}, "absorbing"),
        ({"device": "tpu"}, "cuda"),
    ],
)
def test_wrong_words_are_refused_with_the_right_ones(change, message):
    with pytest.raises(unda.ArgumentError, match=message):
        unda.DG(box(2), MEDIUM, **{"degree": 2, **change})


def flat_and_mixed(n, thickness):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, thickness), (2, 2, n))
    water = np.random.default_rng(3).random(mesh.num_elem) < 0.5
    high, left = mesh.centroids[:, 2] > thickness / 2, mesh.centroids[:, 0] < 0.5
    media = [
        unda.Acoustic(rho=np.where(water, 1000, 1.2), c=np.where(water, 1500, 340)),
        unda.Acoustic(rho=np.where(high, 1000, 1.2), c=np.where(high, 1500, 340)),
        unda.Acoustic(rho=np.where(high, 100.0, 1.0), c=1.0),
        unda.Acoustic(rho=1.0, c=np.where(left, 10.0, 1.0)),
        unda.Acoustic(rho=1.0, c=1.0),
    ]
    return [(mesh, medium) for medium in media]


def growth(mesh, medium, steps, **options):
    sim = unda.DG(mesh, medium, dtype="float64", device="cpu", **options)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
    before = sim.energy()
    sim.run(steps=steps)
    return sim.energy() / before


#: All pairs of two.
LIMITED = [
    ("lsrk4", "upwind", "rigid"), ("ab3", "upwind", "free"), ("lsrk4", "central", "absorbing"),
    ("ab3", "central", "rigid"), ("lsrk4", "central", "free"), ("ab3", "upwind", "absorbing"),
]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("integrator, flux, boundary", LIMITED)
def test_the_limit_holds_for_layers_of_flat_cells_of_unlike_media(integrator, flux, boundary):
    """An impedance that jumps, and a wall, hold the step back more than a neighbour of one's own kind."""
    options = {"integrator": integrator, "flux": flux, "boundary": {"*": boundary}, "cfl": 1.0}
    for mesh, medium in flat_and_mixed(2, 0.1) + flat_and_mixed(2, 0.02) + flat_and_mixed(1, 0.02):
        for degree in (1, 2, 4):
            assert growth(mesh, medium, 300, degree=degree, **options) <= 1 + 1e-9


@pytest.mark.first(1)
@pytest.mark.parametrize("boundary", ["rigid", "free"])
def test_the_limit_holds_for_a_needle_between_walls(boundary):
    mesh = unda.Mesh([[0, 0, 0], [100, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 1, 2, 3]])
    medium = unda.Acoustic(rho=1.0, c=1.0)
    for degree in (1, 3, 8):
        options = {"degree": degree, "boundary": {"*": boundary}}
        assert growth(mesh, medium, 1500, cfl=1.0, **options) <= 1 + 1e-9
    with pytest.raises(unda.UnstableError):
        growth(mesh, medium, 5000, cfl=2.5, allow_unstable=True, **options)


@pytest.mark.first(1)
@pytest.mark.parametrize("flux", ["upwind", "central"])
def test_the_limit_holds_for_random_boxes_of_flat_cells(flux):
    rng = np.random.default_rng(4)
    for degree in (1, 2, 3, 5):
        for boundary in ("free", "absorbing"):
            size, cells = [1, 1, 10 ** rng.uniform(-1.7, -1)], rng.integers(1, 4, 3)
            periodic = (False, bool(rng.random() < 0.5), True)
            mesh = unda.box_mesh((0, 0, 0), size, cells, perturb=0.1, periodic=periodic)
            medium = unda.Acoustic(rho=1.0, c=1.0)
            options = {"degree": degree, "flux": flux, "boundary": {"*": boundary}, "cfl": 1.0}
            assert growth(mesh, medium, 400, **options) <= 1 + 1e-9


def test_a_time_that_is_whole_steps_away_but_for_rounding_is_reached_by_as_many():
    """(until - t) / dt is off by some of its last bits: a step more would end beyond the time."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, dt=0.01)
    rounded_up = 0
    for n in range(1, 200):
        now, until = 0.01 * (n - 1), 0.01 * (n + 2)
        sim.set(t=now)
        rounded_up += np.ceil((until - sim.t) / sim.dt) == 4
        sim.run(until=until)
        assert sim.step_count == 3
        sim.run(until=until + 1e-5)  # a thousandth of a step is none of rounding
        assert sim.step_count == 4
    assert rounded_up > 20


def test_after_a_blow_up_only_a_new_start_goes_on():
    sim = unda.DG(box(3), MEDIUM, degree=2, cfl=3.0, allow_unstable=True)
    rec = sim.add_receivers([(500, 500, 500)], ["p"])
    sim.set(p=lambda x, y, z: np.sin(x / 50))
    with pytest.raises(unda.UnstableError):
        sim.run(steps=20000)
    num = rec.num_sample
    for go_on in (sim.step, lambda: sim.run(steps=1), lambda: sim.save("never.h5")):
        with pytest.raises(unda.ArgumentError, match="blew up at step"):
            go_on()
    assert rec.num_sample == num and np.isfinite(sim.get("p")).all()
    sim.reset()
    sim.step(2)
    assert rec.num_sample == 3


def test_misfit_of_receivers_elsewhere_is_refused():
    mesh = unda.box_mesh((4e6, 5e6, 0), (4e6 + 100, 5e6 + 100, 100), (1, 1, 1))
    traces = []
    for place in ((4000010, 5000020, 30), (4000040, 5000060, 30), (4000010, 5000020, 30)):
        sim = unda.DG(mesh, MEDIUM, degree=1)
        traces.append(sim.add_receivers([place], ["p"]))
        sim.set(p=1.0)
    with pytest.raises(unda.ArgumentError, match="other points"):
        traces[0].misfit(traces[1])
    assert traces[0].misfit(traces[2]) == 0


def test_sources_and_receivers_outside_are_refused():
    sim = unda.DG(box(2), MEDIUM, degree=1)
    with pytest.raises(unda.ArgumentError, match="outside"):
        sim.add_source(unda.VolumeInjection((1, 2, -3), unda.ricker(1.0)))
    with pytest.raises(unda.ArgumentError, match="receiver 1"):
        sim.add_receivers([(1, 2, 3), (1, 2, 3000)])
    source = unda.VolumeInjection((1, 2, 3), unda.ricker(1.0))
    sim.add_source(source)
    with pytest.raises(unda.ArgumentError, match="reset"):
        sim.add_source(source)


def test_the_configuration_says_what_the_run_depends_on():
    mesh = box(2, perturb=0.1, seed=7)
    sim = unda.DG(mesh, MEDIUM, degree=2, boundary={"zmax": "free", "*": "rigid"}, sample_dt=0.01)
    config = json.loads(json.dumps(sim.config))
    assert config["mesh_origin"]["seed"] == 7 and config["mesh"] == mesh.hash
    assert config["dt"] == sim.dt and config["boundary"]["zmax"] == "free"
    assert config["version"] == unda.__version__ and len(config["source_hash"]) == 64
    assert config["device"] == "cpu" and config["device_name"]
    other = unda.DG(box(2, perturb=0.1, seed=8), MEDIUM, degree=2)
    assert other.config["mesh"] != config["mesh"]
    copied = pickle.loads(pickle.dumps(mesh))
    assert copied.origin == mesh.origin and copied.hash == mesh.hash
    assert unda.Mesh(mesh.vertices, mesh.cells).origin == {"made_by": "arrays"}


def test_where_no_one_looks_a_run_logs_a_line_a_minute(monkeypatch, caplog):
    """By a clock that a step takes 7 s of: after 63 s, 126 s and so on."""
    now = [0.0]
    clock = SimpleNamespace(**{**vars(time), "monotonic": lambda: now[0]})
    monkeypatch.setattr("unda.method._run_control.time", clock)
    sim = unda.DG(box(1), MEDIUM, degree=1)

    def tick(sim):
        now[0] += 7.0

    with caplog.at_level(logging.INFO, logger="unda"):
        sim.run(steps=40, every=1, callback=tick, progress=False)
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(",")[0] for line in lines] == [f"step {n} of 40" for n in (10, 19, 28, 37)]
    assert lines[0].endswith("189 s left")
