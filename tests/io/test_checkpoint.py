"""A saved simulation continues bit for bit; a file is whole or refused, whatever happens to it."""

import os
import signal
import subprocess
import sys
import time

import cuda_device
import hex_meshes
import numpy as np
import pytest
import unda
from pairwise import pairwise
from unda.io._digest import seal

cuda_device.prepare()
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 2), perturb=0.2, seed=1)
WAVE = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(2, 1, -1))


HEXAHEDRA = hex_meshes.turned_box((2, 1, 2), seed=1)


def simulation(integrator="lsrk4", dtype="float32", device="cpu", mesh=MESH, **options):
    random = np.random.default_rng(0)
    medium = unda.Acoustic(rho=random.uniform(0.5, 2, mesh.num_elem), c=random.uniform(0.5, 2, mesh.num_elem))
    boundary = {"xmin": WAVE, "zmax": "free", "*": "absorbing"}
    sim = unda.DG(mesh, medium, degree=2, integrator=integrator, dtype=dtype, device=device,
                  boundary=boundary, **options)  # fmt: skip
    sim.set(t=0.1, p=lambda x, y, z: np.sin(5 * x + y))
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0) + unda.gaussian(1.0)))
    sim.add_receivers([(0.2, 0.3, 0.4), (0.7, 0.6, 0.1)], ["p", "vy"], every=3, name="line")
    sim.step(2)
    sim.add_receivers([(0.5, 0.5, 0.5)], every=2)
    return sim


def assert_same(a, b):
    assert (a.t, a.step_count, a.dt) == (b.t, b.step_count, b.dt)
    for name in a.fields:
        assert np.array_equal(a.get(name), b.get(name))
    assert len(a.receivers) == len(b.receivers)
    for one, other in zip(a.receivers, b.receivers, strict=True):
        assert (one.fields, one.every, one.name) == (other.fields, other.every, other.name)
        assert np.array_equal(one.t, other.t)
        for field in one.fields:
            assert np.array_equal(one[field], other[field])


SETTINGS = {
    "mesh": ("tetrahedra", "hexahedra"),
    "device": ("cpu", "cuda"),
    "integrator": ("lsrk4", "ab3"),
    "dtype": ("float32", "float64"),
    "done": (0, 1, 6),
}


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("case", pairwise(SETTINGS), ids=lambda case: "-".join(map(str, case.values())))
def test_a_run_continues_bit_for_bit(tmp_path, case):
    mesh = {"tetrahedra": MESH, "hexahedra": HEXAHEDRA}[case["mesh"]]
    whole, done = simulation(case["integrator"], case["dtype"], case["device"], mesh), case["done"]
    whole.step(done)
    whole.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert_same(whole, again)
    whole.step(20)
    again.step(20)
    assert np.abs(again.get("p")).max() > 0
    assert_same(whole, again)


@pytest.mark.gpu_or_stand_in
def test_a_kernel_and_its_parts_survive(tmp_path):
    whole = simulation(device="cuda", kernel="node", kernel_options={"tile": 24})
    whole.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert (again.config["kernel"], again.config["kernel_options"]) == ("node", {"tile": 24})


OLD = """
import sys, cuda_device, unda
cuda_device.prepare()
sim = unda.load(sys.argv[1])
sim.step(3)
print(sim.config["kernel"], sim.t, abs(sim.get("p")).max())
"""


@pytest.mark.skipif(cuda_device.is_real(), reason="the stand-in alone can be an old device")
def test_on_a_device_that_lacks_what_the_kernel_needs_another_goes_on(tmp_path):
    whole = simulation(device="cuda", kernel="tensor")
    whole.save(tmp_path / "run.h5")
    environment = os.environ | {"UNDA_EMULATOR_CAPABILITY": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", OLD, tmp_path / "run.h5"], env=environment, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    assert "kernel tensor needs a device of compute capability 8.0, found 7.0" in done.stderr
    assert "the file's run goes on with kernel fused" in done.stderr
    whole.step(3)
    kernel, t, largest = done.stdout.split()
    assert (kernel, float(t)) == ("fused", whole.t)
    assert float(largest) == pytest.approx(np.abs(whole.get("p")).max(), rel=1e-5)


def test_it_continues_in_a_fresh_process(tmp_path):
    whole = simulation("ab3")
    whole.save(tmp_path / "run.h5")
    code = "import sys, unda; s = unda.load(sys.argv[1]); s.step(9); s.save(sys.argv[1])"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, tmp_path / "run.h5"], check=True, env=environment)
    whole.step(9)
    assert_same(whole, unda.load(tmp_path / "run.h5"))


def test_periodic_meshes_and_reset_survive(tmp_path):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), periodic=(True, True, False))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=2.0), degree=1, boundary={"*": "rigid"})
    sim.set(p=lambda x, y, z: np.cos(6 * z))
    sim.step(3)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for one in (sim, again):
        one.step(4)
    assert_same(sim, again)
    again.reset()
    assert again.t == 0 and not again.get("p").any()


def test_a_plain_callable_cannot_be_saved(tmp_path):
    sim = unda.DG(MESH, unda.Acoustic(rho=1.0, c=1.0), degree=1)
    sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.2), np.sin))
    with pytest.raises(unda.ArgumentError, match=r"unda\.sampled"):
        sim.save(tmp_path / "run.h5")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.attrs.__setitem__("format", 99), "format is 99, expected 2"),
        (lambda f: f.attrs.__setitem__("unda", "soup"), "unda is 'soup', expected 'simulation'"),
        (lambda f: f.__delitem__("state"), "state is missing"),
        (lambda f: f.__delitem__("mesh/cells"), "cells is missing"),
        (
            lambda f: (f.__delitem__("state"), f.__setitem__("state", np.zeros(3))),
            r"state is \(3,\), expected",
        ),
        (lambda f: f["mesh/vertices"].__setitem__((0, 0), -0.5), "mesh has hash"),
        (lambda f: f.attrs.__setitem__("simulation", "{"), "simulation is not JSON"),
        (lambda f: f.attrs.__setitem__("simulation", "{}"), "config is None, expected dict"),
    ],
)
def test_a_changed_file_is_refused_by_what_is_wrong(tmp_path, change, message):
    import h5py

    path = tmp_path / "run.h5"
    simulation().save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    with open(path, "r+b", buffering=0) as raw:
        seal(raw)
    with pytest.raises(unda.FileError, match=message):
        unda.load(path)


@pytest.mark.parametrize("device", [0, "", "tpu"])
def test_a_device_that_is_none_is_refused(tmp_path, device):
    simulation().save(tmp_path / "run.h5")
    with pytest.raises(unda.ArgumentError, match="device is"):
        unda.load(tmp_path / "run.h5", device=device)
    assert unda.load(tmp_path / "run.h5", device="auto").config["device"] == "cpu"


@pytest.mark.parametrize("content", [None, b"", b"\x89HDF\r\n\x1a\n" + bytes(100), b"hello" * 99])
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "run.h5"
    if content is not None:
        path.write_bytes(content)
    for read in (unda.load, unda.load_receivers):
        with pytest.raises(unda.FileError, match=r"run\.h5"):
            read(path)


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "run.h5"
    simulation().save(path)
    whole = path.read_bytes()
    for part in (0.3, 0.6, 0.95):
        path.write_bytes(whole[: int(part * len(whole))])
        with pytest.raises(unda.FileError):
            unda.load(path)


def test_where_nothing_can_be_written_the_old_file_stays(tmp_path):
    with pytest.raises(unda.FileError, match="cannot write"):
        simulation().save(tmp_path / "missing" / "run.h5")


def test_a_kill_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "run.h5"
    sim = simulation()
    sim.save(path)
    code = (
        "import sys, unda\ns = unda.load(sys.argv[1])\nprint('ready', flush=True)\n"
        "while True:\n    s.step(1)\n    s.save(sys.argv[1])\n    print('saved', flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    random, last = np.random.default_rng(0), sim.step_count
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, env=environment)
        assert [child.stdout.readline() for _ in range(2)] == [b"ready\n", b"saved\n"]
        time.sleep(random.uniform(0.02, 0.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        step = unda.load(path).step_count
        assert step > last
        last = step


def test_traces_are_kept_with_all_that_belongs_to_them(tmp_path):
    sim = simulation()
    sim.step(10)
    rec = sim.receivers[0]
    rec.save(tmp_path / "traces.h5")
    again = unda.load_receivers(tmp_path / "traces.h5")
    assert np.array_equal(rec["p"], again["p"]) and np.array_equal(rec.t, again.t)
    assert (again.fields, again.units, again.name, again.config) == (
        rec.fields,
        rec.units,
        "line",
        rec.config,
    )
    assert np.array_equal(again.points, rec.points)
    assert (again.misfit(rec) == 0).all()
    with pytest.raises(unda.FileError, match="'receivers', expected 'simulation'"):
        unda.load(tmp_path / "traces.h5")


def test_a_curved_mesh_is_saved_with_its_nodes(tmp_path):
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape="hex")
    mesh = hex_meshes.turned(box, 0, lambda x: x + 0.05 * x[..., [1, 2, 0]] ** 2)
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu")
    sim.set(p=lambda x, y, z: x * y)
    sim.step(3)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5", device="cpu")
    np.testing.assert_array_equal(again.mesh.curved, mesh.curved)
    sim.step(3)
    again.step(3)
    np.testing.assert_array_equal(again.get("p"), sim.get("p"))
