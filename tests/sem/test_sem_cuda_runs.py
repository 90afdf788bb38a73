"""Runs of spectral elements on CUDA: bits however a run is cut, files, graphs, profiles, refusals.

Not here: that values are those of the CPU (test_sem_cuda.py).
"""

import ctypes
import os

import cuda_device
import numpy as np
import pytest
import unda
from sem_cuda_cases import add_points, bits_of, made, mesh_for, noise, values_of
from unda import _core

pytestmark = [pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"), pytest.mark.gpu_or_stand_in]
REAL = cuda_device.prepare()
CASE = {"kind": "coupled", "degree": 3, "dtype": "float32", "cells": "warped", "boundary": "mixed",
        "per": "cell", "assembly": "ordered", "tile": 4}  # fmt: skip
ASSEMBLIES = ["ordered", "colors"]
ANY = [*ASSEMBLIES, "atomic"]


def run(chunks, **case):
    """A run in chunks of steps; noise, sources and receivers of every kind."""
    sim = made("cuda", CASE | case)
    add_points(sim, "force")
    for steps in chunks:
        sim.run(steps=steps)
    return sim


@pytest.mark.parametrize(
    "kind", ["coupled", *(pytest.param(one, marks=pytest.mark.slow) for one in ("solid", "fluid"))]
)
@pytest.mark.parametrize(
    "assembly", ["ordered", pytest.param("colors", marks=[] if REAL else pytest.mark.slow)]
)
def test_bits_do_not_depend_on_how_a_run_is_cut(kind, assembly):
    """Again, in two, step by step; 34 steps go as two graphs and two single steps, after one more capture."""
    one = bits_of(run([34], kind=kind, assembly=assembly))
    for chunks in ([34], [7, 27], [1] * 34, [20, 14]):
        assert bits_of(run(chunks, kind=kind, assembly=assembly)) == one
    assert bits_of(run([33], kind=kind, assembly=assembly)) != one


@pytest.mark.first(1)
@pytest.mark.parametrize("assembly", ASSEMBLIES)
def test_graphs_have_the_bits_of_single_launches(assembly, monkeypatch):
    one, new = bits_of(run([40], assembly=assembly)), _core.new_struct

    def without_graphs(name, **values):
        more = {"no_graph": 1} if name == "unda_solver_options" else {}
        return new(name, **values, **more)

    monkeypatch.setattr(_core, "new_struct", without_graphs)
    assert bits_of(run([40], assembly=assembly)) == one


@pytest.mark.each_value
@pytest.mark.skipif(REAL, reason="the stand-in driver counts launches, and is told its room")
@pytest.mark.parametrize("kind", ["solid", "coupled"])
@pytest.mark.parametrize("assembly", ASSEMBLIES)
def test_receivers_have_the_bits_of_a_launch_of_their_own(kind, assembly, monkeypatch):
    """Where all its blocks are on the device at once, a step's first kernel records what the last left."""
    driver, found = ctypes.CDLL(os.environ["UNDA_LIBCUDA"]), []
    for room in ("6", "0"):
        monkeypatch.setenv("UNDA_EMULATOR_RESIDENT", room)
        sim = run([1], kind=kind, assembly=assembly)
        before = driver.emu_num_launch()
        sim._stepping.advance(20)
        sim._stepping.advance(3)
        found.append((bits_of(sim), driver.emu_num_launch() - before))
    (one, joined), (other, apart) = found
    assert one == other
    assert apart - joined == 23, "the last step of a run has no next one, but the first records what it finds"


@pytest.mark.parametrize(
    "others",
    [({"ahead": 2, "blocks": 3},), pytest.param(({"blocks": 1}, {"ahead": 1}), marks=pytest.mark.slow)],
    ids=["both", "each"],
)
def test_plans_of_the_same_tiles_have_the_same_bits(others):
    """How many blocks share a multiprocessor, and what is asked for early, changes no sum."""
    found = []
    for more in ({}, *others):
        medium, mesh = unda.Elastic(rho=1.0, vp=2.0, vs=1.0), mesh_for("warped", "free", (4, 2, 2))
        sim = unda.SEM(mesh, medium, degree=2, device="cuda", kernel_options={"cells": 2, **more})
        sim.set(ux=noise(0), vy=noise(1))
        sim.step(5)
        assert sim.config["kernel_options"] | {"cells": 2, **more} == sim.config["kernel_options"]
        found.append(bits_of(sim))
    assert found[1:] == found[:-1]


@pytest.mark.each_value
@pytest.mark.parametrize("assembly", ASSEMBLIES)
@pytest.mark.parametrize("before", [0, 9])
def test_a_checkpoint_continues_with_the_same_bits(tmp_path, before, assembly):
    sim = run([before], assembly=assembly)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5", device="cuda")
    assert (again.dt, again.config["kernel"]) == (sim.dt, assembly)
    for one in (sim, again):
        one.run(steps=9)
    assert bits_of(sim) == bits_of(again) and sim.energy() == again.energy()


@pytest.mark.first(1)
@pytest.mark.parametrize(("first", "second"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_a_checkpoint_goes_from_engine_to_engine(tmp_path, first, second):
    """The state is that of the file to the last bit, and 9 steps differ by rounding (test_sem_cuda.py)."""
    case = CASE | {"dtype": "float64"}
    sim = made(first, case)
    add_points(sim, "force")
    sim.run(steps=9)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5", device=second)
    assert again.dt == sim.dt and bits_of(again) == bits_of(sim)
    for one in (sim, again):
        one.run(steps=9)
    found = values_of(again)
    for name, value in values_of(sim).items():
        assert np.abs(value - found[name]).max() < 2 * 9**2 * 4 * 2.3e-16 * np.abs(value).max(), name


def test_sources_and_receivers_may_change_between_runs():
    results = []
    for device in ("cpu", "cuda"):
        sim = made(device, CASE | {"dtype": "float64"}, **({"dt": results[0].dt} if results else {}))
        add_points(sim, "force")
        sim.step(20)
        sim.reset(sources=True)
        sim.set(t=0.1, **{name: noise(i) for i, name in enumerate(sim._known.initial)})
        add_points(sim, "volume")
        sim.step(20)
        results.append(sim)
    one, other = map(values_of, results)
    for name in one:
        assert np.abs(one[name] - other[name]).max() < 2 * 20**2 * 4 * 2.3e-16 * np.abs(one[name]).max(), name


@pytest.mark.parametrize("kind", ["solid", "coupled"])
def test_a_blow_up_is_reported_like_on_the_cpu(kind):
    reports = []
    for device in ("cpu", "cuda"):
        sim = made(device, CASE | {"kind": kind, "dtype": "float64"}, dt=0.3, allow_unstable=True)
        with pytest.raises(unda.UnstableError) as caught:
            for _ in range(2000):
                sim.step(1)
        reports.append(
            [getattr(caught.value, name) for name in ("step", "last_good_step", "element", "node", "field")]
        )
        assert sim.step_count == caught.value.last_good_step and np.isfinite(sim._read()).all()
        sim.set(t=0.0)
        sim.step(3)
        assert sim.step_count == 3
    assert reports[0] == reports[1]


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize("wet", [False, True])
def test_a_value_that_is_not_finite_is_found_where_it_is(bad, wet):
    """Nodes inside tiles, shared ones and those where the region ends; of one cell and of several."""
    places = []
    for device in ("cpu", "cuda"):
        sim = made(device, CASE | {"boundary": "absorbing"})
        elem = np.flatnonzero(sim._fluid == wet)[2]
        field = sim.fields.index("chi_t" if wet else "vy")
        for node in (21, 0, 63, 5):  # of all cells that share it
            q, x = sim._read().copy(), sim.coordinates
            q[(np.abs(x - x[elem, node]).max(axis=2) < 1e-9) & (sim._fluid == wet)[:, None], field] = bad
            pointer = _core.pointer(q)
            _core.check(
                _core.lib.unda_solver_write(sim._solver.live(), _core.lib.UNDA_STATE, 0, len(q), pointer)
            )
            with pytest.raises(unda.UnstableError) as caught:
                sim.step(1)
            places.append((caught.value.element, caught.value.node, caught.value.field))
            sim.set(t=0.0)
    assert places[:4] == places[4:]
    assert places[0] == (elem, 21, sim.fields[field])


@pytest.mark.each_value
@pytest.mark.parametrize("assembly", ANY)
@pytest.mark.parametrize(
    ("kind", "dtype"), [("solid", "float32"), ("fluid", "float64"), ("coupled", "float32")]
)
def test_the_forecast_is_what_a_solver_then_holds(kind, dtype, assembly):
    case = CASE | {"kind": kind, "dtype": dtype, "assembly": assembly}
    sim = made("cuda", case)
    found = unda.SEM.forecast(sim.mesh, sim.medium, degree=3, dtype=dtype, device="cuda", assembly=assembly,
                              boundary=sim._boundaries.words, kernel_options={"cells": 4})  # fmt: skip
    assert found == sim.memory
    assert found["device"] > 6 * sim._size()[0] / 3 * np.dtype(dtype).itemsize


@pytest.mark.first(1)
@pytest.mark.parametrize("assembly", ANY)
def test_profiles_name_every_launch_and_keep_the_state(assembly):
    sim = run([5], assembly=assembly)
    before = bits_of(sim)
    found = sim.profile(runs=1)
    stage = found.pop("stage")
    for kind in ("fluid", "solid"):
        tiles = [name for name in found if name.startswith(kind) and "shared" not in name]
        if assembly == "colors":
            assert tiles == [f"{kind} color {i}" for i in range(len(tiles))] and len(tiles) > 1
        else:
            assert tiles == [f"{kind} tiles"]
        assert f"{kind} shared" in found
    assert list(found)[-1] == "record"
    kernels = [one["seconds"] for name, one in found.items() if name != "record"]
    assert stage["seconds"] == pytest.approx(sum(kernels)) and min(kernels) > 0
    assert bits_of(sim) == before
    sim.run(steps=6)
    other = run([5, 6], assembly=assembly)
    if assembly in ASSEMBLIES:
        assert bits_of(sim) == bits_of(other)
    for one, same in zip(values_of(sim).values(), values_of(other).values(), strict=True):
        assert np.abs(one - same).max() < 2 * 11**2 * 4 * 1.2e-7 * np.abs(one).max()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"assembly": "fastest"}, "^assembly is fastest, expected one of auto, ordered, colors, atomic"),
        ({"kernel_options": {"rows": 2}}, "^assembly auto has no option rows, .* cells, axes, blocks, ahead"),
        ({"kernel_options": {"cells": 65}}, r"cells is 65, expected 1\.\.64"),
        (
            {"kernel_options": {"cells": 64}, "dtype": "float64"},
            "cells is 64 a tile, expected fewer: they take",
        ),
        ({"degree": 10, "kernel_options": {"cells": 16}}, "cells is 16 a tile, expected fewer"),
        (
            {"degree": 5, "kernel_options": {"axes": 2}},
            "^axes is 2 at degree 5, expected 1: a plane of nodes of 3 unknowns in float",
        ),
        (
            {"assembly": "atomic", "kernel_options": {"axes": 2}},
            "^axes is 2 and assembly is atomic, expected axes 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape="hex")
    with pytest.raises(unda.ArgumentError, match=f"(?m){message}"):
        unda.SEM(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), device="cuda", **{"degree": 3} | given)


@pytest.mark.sanitize
@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("degree", "dtype", "tile", "assembly"),
    [
        pytest.param(*one, assembly, marks=[] if REAL or i == j else pytest.mark.slow)
        for i, one in enumerate([(2, "float32", 1), (4, "float64", 8), (6, "float32", 3)])
        for j, assembly in enumerate(["ordered", "colors", "atomic"])
    ],
)
def test_a_small_run_touches_only_what_is_its_own(degree, dtype, tile, assembly):
    """For compute-sanitizer: single steps and a graph, tiles that are not full, every kind of array."""
    sim = run([20], degree=degree, dtype=dtype, tile=tile, assembly=assembly)
    sim.energy()
    assert np.isfinite(sim._read()).all()


def test_the_first_samples_are_those_of_the_state_untouched_stepped_or_set():
    """An untouched state is known to be zero, and is not fetched; one that was changed is."""
    mesh, rock = mesh_for("warped", "free"), unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
    first = []

    def samples(sim):
        receivers = sim.add_receivers([[0.5, 0.5, 0.3]], ["vz", "sxx"])
        return [receivers[name][0, 0] for name in ("vz", "sxx")]

    for device in ("cpu", "cuda"):
        sim = unda.SEM(mesh, rock, degree=3, device=device, dtype="float64", dt=1e-3)
        sim.add_source(unda.PointForce((0.4, 0.5, 0.3), unda.ricker(50.0), (1, 2, 3)))
        found = [samples(sim)]
        sim.step(5)
        found.append(samples(sim))
        sim.set(ux=noise(0), vz=noise(1))
        first.append([*found, samples(sim)])
    assert first[0][0] == first[1][0] == [0, 0]
    assert np.all(first[0][1:]) and first[1][1:] == [pytest.approx(of, rel=1e-9) for of in first[0][1:]]
