"""Threads run simulations of their own, one simulation has one user; forked children are refused, others run.

Scenarios with forks run in a process of their own, on both engines.
"""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time

import cuda_device
import numpy as np
import pytest
import sweep_cases
import unda
from unda import _core

cuda_device.prepare()
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # bits are compared, not waves
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu_or_stand_in)]
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 2), perturb=0.2, seed=1)


HEXAHEDRA = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 2), shape="hex", perturb=0.2, seed=1)


def simulation(seed, device, mesh=MESH):
    """Seeds from 3 on: on hexahedra; 5: spectral elements."""
    mesh = HEXAHEDRA if seed >= 3 else mesh
    random = np.random.default_rng(seed)
    medium = unda.Acoustic(rho=random.uniform(0.5, 2, mesh.num_elem), c=1.0 + seed)
    integrator = ("lsrk4", "ab3")[seed % 2]
    if seed == 5:
        sim = unda.SEM(mesh, medium, degree=2 + seed % 2, device=device, threads=1)
    else:
        sim = unda.DG(mesh, medium, degree=2 + seed % 2, device=device, integrator=integrator, threads=1)
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(1.0 + seed)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)])


def results(seed, device):
    sim, rec = simulation(seed, device)
    for _ in range(5):
        sim.run(steps=7)
    return np.concatenate([rec[name].ravel() for name in rec.fields] + [sim.get("p").ravel()])


@pytest.mark.parametrize("device", DEVICES)
def test_simulations_in_threads_have_the_bits_of_serial_ones(device):
    seeds = range(6)
    expected = [results(seed, device) for seed in seeds]
    found = dict.fromkeys(seeds)

    def work(seed):
        found[seed] = results(seed, device)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(expected, found.values(), strict=True):
        assert np.abs(one).max() > 0 and np.array_equal(one, other)


@pytest.mark.each_value
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "call",
    [
        lambda sim: sim.step(1),
        lambda sim: sim.step(0),
        lambda sim: sim.run(until=0.0),
        lambda sim: sim.get("p"),
        lambda sim: sim.set(p=1.0),
        lambda sim: sim.energy(),
        lambda sim: sim.rhs(),
        lambda sim: sim.sample([(0.5, 0.5, 0.5)]),
        lambda sim: sim.add_source(unda.VolumeInjection((0.5, 0.4, 0.3), unda.ricker(1.0))),
        lambda sim: sim.add_receivers([(0.5, 0.4, 0.3)]),
        lambda sim: sim.reset(),
        lambda sim: sim.save("/nowhere/file.h5"),
        lambda sim: sim.write_vtu("/nowhere/file.vtu"),
        lambda sim: sim.profile(),
        lambda sim: sim.close(),
    ],
)
def test_a_simulation_that_runs_is_busy_for_other_threads(device, call):
    """The run that was there first is not disturbed, not even by close()."""
    sim, rec = simulation(0, device)
    failures = []

    def intrude():
        try:
            call(sim)
        except unda.Error as error:
            failures.append(error)

    def callback(_):
        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()

    sim.run(steps=9, callback=callback, every=3)
    assert [type(error) for error in failures] == [unda.BusyError] * 3
    assert "another thread" in str(failures[0])
    alone, alone_rec = simulation(0, device)
    alone.run(steps=9)
    assert np.array_equal(rec["p"], alone_rec["p"]) and np.array_equal(sim.get("p"), alone.get("p"))


def test_threads_that_fight_for_one_simulation_lose_no_step():
    sim, rec = simulation(0, "cpu", unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4)))
    done, failures = [], []

    def work():
        for _ in range(40):
            try:
                sim.step(2)
                done.append(2)
            except unda.Error as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures and {type(error) for error in failures} == {unda.BusyError}
    assert sim.step_count == sum(done) == len(rec.t) - 1
    alone, alone_rec = simulation(0, "cpu", sim.mesh)
    alone.step(sim.step_count)
    assert np.array_equal(rec["p"], alone_rec["p"])


def test_the_library_itself_refuses_a_second_thread():
    """What C users get, under the lock of Python."""
    lib = _core.lib
    sim = unda.DG(MESH, unda.Acoustic(rho=1.0, c=1.0), degree=2, threads=1)
    _core.check(lib.unda_solver_reserve(sim._solver.live(), 200))
    drive, energy = _core.new_struct("unda_drive", num_time=1000), _core.ffi.new("double *")
    found, stop = {"step": set(), "energy": set()}, threading.Event()

    def work():
        while not stop.is_set():
            found["step"].add(lib.unda_solver_step(sim._solver.live(), 200, drive))

    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + 600  # only ends what hangs
    while lib.UNDA_ERR_BUSY not in found["energy"] and time.monotonic() < deadline:
        found["energy"].add(lib.unda_solver_energy(sim._solver.live(), energy))
    stop.set()
    thread.join()
    assert lib.UNDA_ERR_BUSY in found["energy"]
    assert found["step"] | found["energy"] <= {lib.UNDA_OK, lib.UNDA_ERR_BUSY}
    assert lib.unda_solver_energy(sim._solver.live(), energy) == lib.UNDA_OK


def process(code):
    """Run a scenario in a new process; it fails by an exception."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, timeout=600, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


FORK = """
import gc, os, unda

def simulation():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 1))
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, device=DEVICE)

def in_child(work):
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize("device", DEVICES)
def test_a_child_forked_after_a_run_is_refused_in_every_call(device):
    process(
        FORK.replace("DEVICE", repr(device))
        + """
sim, fresh = simulation(), simulation()
rec = sim.add_receivers([(0.2, 0.3, 0.4)])
mesh, medium = sim.mesh, sim.medium
box = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 2), shape="hex")
spectral = unda.SEM(box, medium, degree=2, device=sim.config["device"])
sim.step(2)
spectral.step(2)
calls = [
    lambda: spectral.step(),
    lambda: spectral.get("p"),
    lambda: spectral.energy(),
    lambda: unda.SEM(box, medium, degree=2, device="cpu"),
    lambda: sim.step(),
    lambda: sim.run(steps=20),
    lambda: sim.get("p"),
    lambda: sim.set(p=1.0),
    lambda: sim.energy(),
    lambda: sim.rhs(),
    lambda: sim.sample([(0.5, 0.5, 0.5)]),
    lambda: sim.add_receivers([(0.5, 0.4, 0.3)]),
    lambda: fresh.add_source(unda.VolumeInjection((0.5, 0.4, 0.3), unda.ricker(1.0))),
    lambda: sim.reset(),
    lambda: sim.save("/tmp/never.h5"),
    lambda: simulation(),
    lambda: unda.DG(mesh, medium, degree=1, device="cpu"),
    lambda: mesh.locate([(0.5, 0.5, 0.5)]),
    lambda: sim.t,
    lambda: sim.memory,
    lambda: sim.coordinates,
    lambda: sim.element_dt,
    lambda: sim.check(),
]

def work():
    for i, call in enumerate(calls):
        try:
            call()
            return 20 + i
        except unda.ForkError as error:
            if "use spawn or threads" not in str(error):
                return 2
    return 7 if rec["p"].shape == (1, 3) and "DG(" in repr(sim) else 3

assert in_child(work) == 7
sim.step()
assert rec["p"].shape == (1, 4)
"""
    )


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_child_inherits_can_be_freed_there(device):
    process(
        FORK.replace("DEVICE", repr(device))
        + """
sims = [simulation() for _ in range(2)]
for sim in sims:
    sim.step(2)

def work():
    sims.pop().close()
    sims.clear()
    del globals()["sim"]
    gc.collect()
    return 7

assert in_child(work) == 7
assert sims[0].energy() == sims[1].energy() == 0
"""
    )


def test_a_fork_while_another_thread_runs_is_refused_in_the_child():
    process(
        FORK.replace("DEVICE", "'cpu'")
        + """
import threading
sim, forked = simulation(), threading.Event()
inside = threading.Event()

def wait(_):
    inside.set()
    forked.wait()

thread = threading.Thread(target=lambda: sim.run(steps=4, callback=wait))
thread.start()
inside.wait()

def work():
    try:
        sim.step()
    except unda.ForkError:
        return 7

code = in_child(work)
forked.set()
thread.join()
assert code == 7 and sim.step_count == 4
"""
    )


@pytest.mark.parametrize("device", DEVICES)
def test_a_fork_before_any_use_is_fine(device):
    process(
        FORK.replace("DEVICE", repr(device))
        + """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))

def work():
    sim = simulation()
    sim.set(p=1.0)
    sim.step(2)
    return 7 if sim.energy() > 0 else 1

assert in_child(work) == 7
sim = simulation()
sim.set(p=1.0)
sim.step(2)
assert sim.energy() > 0
"""
    )


@pytest.mark.parametrize("device", DEVICES)
def test_a_spawned_process_runs_after_any_use(device, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.path.dirname(sweep_cases.__file__), *sys.path]))
    energy = sweep_cases.run(1, device)[0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(sweep_cases.run, (1, device))
    assert found[0] == energy > 0 and found[1] != os.getpid()
