"""Odd and wrong input: refused by name, or defined; what was there before stays whole.

Materials are in test_medium.py, meshes in test_mesh_refusals.py, files in test_checkpoint.py, devices in
test_device_faults.py, junk of any kind in test_fuzz_solver.py.
"""

import os
import pickle
import subprocess
import sys

import cuda_device
import numpy as np
import pytest
import unda

cuda_device.prepare()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu_or_stand_in)]
MEDIUM = unda.Acoustic(rho=1.0, c=1.0)
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), perturb=0.2, seed=1)
SOURCE = unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0))


def simulation(degree=2, mesh=MESH, **options):
    return unda.DG(mesh, MEDIUM, degree=degree, **options)


# ---- values that are none


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [float, lambda bad: lambda x, y, z: np.where(x > 0.5, bad, x)])
def test_fields_that_are_not_finite_are_refused_and_nothing_is_set(bad, make):
    sim = simulation()
    sim.set(p=3.0, t=0.5)
    with pytest.raises(unda.ArgumentError, match="vy has values that are not finite"):
        sim.set(p=1.0, vy=make(bad))
    assert (sim.get("p") == 3.0).all() and sim.t == 0.5


@pytest.mark.parametrize("t", [np.nan, np.inf, "soon", None])
def test_a_time_that_is_none_is_refused_before_anything_is_set(t):
    sim = simulation()
    sim.set(p=3.0)
    with pytest.raises(unda.ArgumentError, match="t is"):
        sim.set(p=1.0, t=t)
    assert (sim.get("p") == 3.0).all() and sim.t == 0


def test_fields_beyond_the_range_of_float32_are_refused():
    with pytest.raises(unda.ArgumentError, match="p has values beyond the range of float32"):
        simulation().set(p=1e39)
    simulation(dtype="float64").set(p=1e39)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_positions_that_are_not_finite_are_refused_with_their_index(bad):
    sim = simulation()
    for place in (sim.add_receivers, sim.sample):
        with pytest.raises(unda.ArgumentError, match=r"s\[1, 2\] is"):
            place([(0.5, 0.5, 0.5), (0.5, 0.5, bad)])
    with pytest.raises(unda.ArgumentError, match=r"position\[0\] is"):
        unda.VolumeInjection((bad, 0.5, 0.5), unda.ricker(1.0))
    assert sim.receivers == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": np.nan}, "until is nan"),
        ({"until": np.inf}, "until is inf"),
        ({"steps": -1}, "steps is -1"),
        ({"steps": 2.5}, r"steps is 2\.5"),
        ({"steps": 2, "every": 0}, "every is 0"),
        ({"steps": 2, "callback": 3}, "callback is 3"),
        ({}, "either until=.* or steps="),
        ({"until": 1.0, "steps": 2}, "either until=.* or steps="),
    ],
)
def test_a_run_without_a_sensible_end_is_refused(options, message):
    sim = simulation()
    with pytest.raises(unda.ArgumentError, match=message):
        sim.run(**options)
    assert sim.step_count == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": -1e-3}, "dt is"),
        ({"dt": np.nan}, "dt is nan"),
        ({"cfl": 0.0}, "cfl is"),
        ({"sample_dt": -0.1}, "sample_dt is"),
        ({"sample_dt": 0.0}, "sample_dt is"),
        ({"threads": 2**40}, "threads is"),
        ({"device": "cuda:99999999999"}, "device is"),
        ({"dtype": ">f4x"}, "dtype is"),
        ({"kernel_options": {"rows": "two"}}, "rows is 'two'"),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(unda.ArgumentError, match=message):
        simulation(**options)


def test_exact_outer_data_of_a_wrong_kind_are_refused():
    for values, message in (
        (lambda x, y, z, t: 3, "the exact solution gave"),
        (lambda x, y, z, t: {"p": x}, "the exact solution gave"),
        (lambda x, y, z, t: dict.fromkeys(("p", "vx", "vy", "vz"), 1j), "p of dtype complex128"),
    ):
        sim = simulation(boundary={"*": values})
        with pytest.raises(unda.ArgumentError, match=message):
            sim.step()


# ---- arrays of every make


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_of_any_type_order_and_layout_mean_the_same(dtype):
    sim = simulation(dtype=dtype)
    values = np.random.default_rng(0).integers(-9, 9, (MESH.num_elem, sim.num_node)).astype(float)
    frozen = values.copy()
    frozen.flags.writeable = False
    wide = np.zeros((MESH.num_elem, 2 * sim.num_node))
    wide[:, ::2] = values
    makes = [values.astype(t) for t in (">f8", "<f4", "i1", "i8", "f2", np.longdouble)]
    for given in [
        *makes,
        np.asfortranarray(values),
        wide[:, ::2],
        values[::-1][::-1],
        frozen,
        values.tolist(),
    ]:
        sim.set(p=0.0)
        sim.set(p=given)
        assert np.array_equal(sim.get("p"), values)
    assert np.array_equal(frozen, values)


def test_the_state_is_copied_on_the_way_in_and_out():
    sim = simulation()
    given = np.ones((MESH.num_elem, sim.num_node), np.float32)
    sim.set(p=given)
    given[:] = 7
    sim.get("p")[:] = 7
    assert (sim.get("p") == 1).all()


@pytest.mark.parametrize(
    "given",
    [np.ones(3), np.ones((2, 2, 2)), "soup", b"soup", [[1], [2, 3]], None, True, 1j, object(), 10**40],
)
def test_arrays_of_a_wrong_kind_are_refused(given):
    sim = simulation()
    with pytest.raises(unda.ArgumentError, match=r"^p (has|is)"):
        sim.set(p=given)


@pytest.mark.parametrize("dtype", [">f4", ">f8", float, np.float32, "d"])
def test_any_name_of_a_precision_is_understood(dtype):
    sim = simulation(dtype=dtype)
    sim.set(p=1.0)
    sim.step()
    assert sim.dtype.isnative and sim.dtype.itemsize == np.dtype(dtype).itemsize


# ---- nothing to do


@pytest.mark.parametrize("device", DEVICES)
def test_no_steps_sources_receivers_or_fields_are_defined(device):
    sim = simulation(device=device)
    none = sim.add_receivers([], ["p"])
    sim.step(0)
    sim.run(steps=0)
    sim.run(until=0.0)
    sim.run(until=-5.0)
    assert (sim.step_count, sim.t, sim.energy()) == (0, 0.0, 0.0)
    sim.run(until=1e-9 * sim.dt)
    with pytest.warns(unda.AccuracyWarning, match="receivers record zero"):
        sim.run(until=1.001 * sim.dt)
    sim.step(20)
    assert sim.step_count == 22 and not sim.get("p").any()
    assert none["p"].shape == (0, 23) and len(none.t) == 23
    assert sim.sample([])["p"].shape == (0,)
    assert none.misfit(none).shape == (0,)


def test_a_run_ends_with_the_step_that_reaches_its_end():
    sim = simulation(dt=0.015625)
    sim.run(until=4 * sim.dt)
    assert sim.step_count == 4
    sim.run(until=4.01 * sim.dt)
    assert sim.step_count == 5
    sim.set(t=-1.0)
    sim.run(until=-1.0 + 2.5 * sim.dt)
    assert sim.step_count == 3


@pytest.mark.each_value
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("degree", [1, 9])
def test_one_cell_of_the_lowest_and_the_highest_degree_keeps_its_energy(degree, device):
    mesh = unda.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    options = {"boundary": {"*": "rigid"}, "flux": "central", "dtype": "float64", "cfl": 0.1}
    sim = simulation(degree, mesh, device=device, **options)
    sim.set(p=lambda x, y, z: x * (1 - y), vz=lambda x, y, z: z)
    before = sim.energy()
    sim.step(5)
    assert sim.energy() == pytest.approx(before, rel=1e-6) and before > 0
    assert np.abs(sim.get("vx")).max() > 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_number_of_cells_fills_its_blocks(dtype, device):
    """Cells that touch no other do the same whatever stands beside them: 8, 16 or 32 fill a block."""
    corner = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    alone = None
    for num in (1, 7, 8, 9, 15, 16, 17, 31, 32, 33):
        vertices = np.concatenate([corner + np.array([2 * i, 0, 0]) for i in range(num)])
        mesh = unda.Mesh(vertices, np.arange(4 * num).reshape(num, 4))
        sim = simulation(2, mesh, device=device, dtype=dtype)
        sim.set(p=lambda x, y, z: (x % 2) * (1 - y), vz=lambda x, y, z: z)
        sim.step(3)
        found = np.stack([sim.get(name) for name in sim.fields], axis=2)
        alone = found if alone is None else alone
        assert np.abs(alone).max() > 0.1
        assert np.array_equal(found, np.repeat(alone, num, axis=0))


# ---- units


def pulse(length=1.0, rho=1.0, c=1.0, p=1.0, origin=0.0, **options):
    """Traces of 30 steps in units of p and p / (rho c)."""
    mesh = unda.box_mesh((origin,) * 3, (origin + length,) * 3, (2, 2, 2))
    sim = unda.DG(mesh, unda.Acoustic(rho=rho, c=c), degree=3, **options)
    sim.set(p=lambda x, y, z: p * np.sin(5 * (x - origin) / length) * np.cos(4 * (y - origin) / length))
    rec = sim.add_receivers(origin + length * np.array([(0.3125, 0.4375, 0.5625)]))
    sim.step(30)
    return np.concatenate([rec["p"] / p, rec["vx"] / (p / (rho * c))])


@pytest.mark.each_value
@pytest.mark.parametrize(
    "units",
    [
        {"rho": 1e12, "p": 1e9},
        {"rho": 3300.0, "c": 17400.0, "p": 1e9, "length": 1e6},
        {"length": 1e-9, "rho": 1000.0, "c": 1500.0, "p": 1e9},
        {"length": 1e-9, "rho": 1e12},
        {"p": 1e30},
        {"p": 1e-30},
        {"rho": 1e-6, "c": 1e9},
    ],
)
@pytest.mark.parametrize("device", DEVICES)
def test_units_do_not_matter_even_in_float32(units, device):
    expected = pulse(dtype="float64")
    assert np.abs(expected).max() > 0.1
    assert np.abs(pulse(**units, device=device) - expected).max() < 1e-6
    assert np.abs(pulse(**units) - 1.001 * expected).max() > 1e-5


@pytest.mark.parametrize("units", [{"length": 1e-9, "rho": 1e-30, "c": 1e30}, {"rho": 1e39}, {"rho": 1e-40}])
def test_units_beyond_float32_are_refused_and_fine_in_float64(units):
    with pytest.raises(unda.ArgumentError, match="beyond float32; use other units or float64"):
        pulse(**units)
    assert np.abs(pulse(**units, dtype="float64") - pulse(dtype="float64")).max() < 1e-12


@pytest.mark.parametrize("origin", [4e6, -4e6])
def test_a_mesh_far_from_the_origin_gives_the_same_in_float32(origin):
    """As with coordinates of a national grid: only differences of coordinates count."""
    near, far = pulse(length=1000.0), pulse(length=1000.0, origin=origin)
    assert np.abs(far - near).max() <= 4 * np.finfo(np.float32).eps * np.abs(near).max()


# ---- several at once


@pytest.mark.parametrize("device", DEVICES)
def test_interleaved_simulations_have_the_bits_of_separate_ones(device):
    settings = [
        {"degree": 1, "dtype": "float64"},
        {"degree": 3, "integrator": "ab3"},
        {"degree": 2, "flux": "central", "boundary": {"*": "free"}},
    ]

    def make(options):
        sim = simulation(device=device, **options)
        sim.add_source(SOURCE)
        return sim, sim.add_receivers([(0.2, 0.3, 0.4)])

    def state(sim, rec):
        return np.concatenate([sim.get("p").ravel(), *(rec[name].ravel() for name in rec.fields)])

    separate = []
    for options in settings:
        sim, rec = make(options)
        sim.step(21)
        separate.append(state(sim, rec))
    together = [make(options) for options in settings]
    for n in (1, 17, 3):
        for sim, _ in together:
            sim.step(n)
    for expected, (sim, rec) in zip(separate, together, strict=True):
        assert np.abs(expected).max() > 0 and np.array_equal(expected, state(sim, rec))


# ---- blow-up


@pytest.mark.parametrize("device", DEVICES)
def test_a_blow_up_keeps_the_traces_and_the_last_good_state(device):
    sim = simulation(device=device, dt=1e3, allow_unstable=True, boundary={"*": "rigid"})
    sim.set(p=lambda x, y, z: np.sin(9 * x))
    rec = sim.add_receivers([(0.2, 0.3, 0.4)])
    with pytest.raises(unda.UnstableError) as info:
        for _ in range(60):
            sim.step(1)
            good = sim.get("p")
    error = info.value
    assert (sim.step_count, error.step) == (error.last_good_step, error.last_good_step + 1)
    assert np.array_equal(sim.get("p"), good) and np.isfinite(good).all()
    assert len(rec.t) == error.step + 1 and np.isfinite(rec["p"][:, : error.step]).all()
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is unda.UnstableError and str(copy) == str(error) and vars(copy) == vars(error)
    assert copy.element == error.element >= 0 and copy.material == {"rho": 1.0, "c": 1.0}
    sim.set(p=0.0)
    sim.step(3)
    assert len(rec.t) == 4


# ---- a full disk


FULL = """
import resource, signal, sys
import unda
from pathlib import Path

path, kind = Path(sys.argv[1]), sys.argv[2]
sim = unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3)), unda.Acoustic(rho=1.0, c=1.0), degree=2)
rec = sim.add_receivers([(0.2, 0.3, 0.4)] * 50)
sim.step(5)
write = {"save": sim.save, "vtu": sim.write_vtu, "traces": rec.save}[kind]
write(path)
old = path.read_bytes()
sim.step(20)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for part in (0.0, 0.3, 0.9):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(part * len(old)), resource.RLIM_INFINITY))
    try:
        write(path)
        raise SystemExit("nothing was raised")
    except unda.FileError as error:
        assert str(path) in str(error), error
        assert isinstance(error, OSError)
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path], "nothing else is left"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
sim.step(1)
write(path)
assert path.read_bytes() != old
"""


@pytest.mark.parametrize("kind", ["save", "vtu", "traces"])
def test_a_full_disk_is_reported_and_leaves_the_old_file(kind, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL, tmp_path / "file", kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
