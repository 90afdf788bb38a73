"""Promises about processes that fail: all end within seconds, and the cause is named.

Each job has a limit of time: a process that waits for one that has failed would exceed it.
"""

import pytest
import rank_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

SECONDS = 30  # of a job that takes one or two
BEGIN = """
import os, signal, sys, numpy as np, unda
from mpi4py import MPI
from rank_cases import all_raise
comm = MPI.COMM_WORLD
bad = comm.rank == 2
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 2))
medium = unda.Acoustic(rho=1.0, c=1.0)
def make(medium=medium, **more):
    return unda.DG(mesh if comm.rank == 0 else None, medium, degree=2, device="cpu", comm=comm, **more)
"""


def job(folder, text):
    return rank_cases.job(3, folder, BEGIN + text, seconds=SECONDS)


def passes(folder, text):
    rank_cases.passes_in_pool(3, folder, BEGIN + text, seconds=SECONDS)


GO_ON = """
sim = make()  # a failure is over once all have raised
sim.step(2)
"""


def test_a_medium_that_one_process_refuses_is_refused_by_all(tmp_path):
    passes(tmp_path, """
all_raise(unda.ArgumentError, "rho", lambda: make(unda.Acoustic(rho=lambda x, y, z: x * 0 - bad, c=1.0)))
all_raise(unda.ArgumentError, "" if bad else "process 2: rho has", lambda: make(
    unda.Acoustic(rho=lambda x, y, z: np.full(x.shape, np.nan if bad else 1.0), c=1.0)))
def fails(x, y, z):
    if bad:
        raise OSError("the model is not there")
    return 1.0 + 0 * x
all_raise((unda.Error, OSError), "the model is not there", lambda: make(unda.Acoustic(rho=fails, c=1.0)))
""" + GO_ON)  # fmt: skip


def test_memory_that_one_process_lacks_is_an_error_of_all(tmp_path):
    passes(tmp_path, """
import resource
from unda.method import solver
if bad:
    plain, room = solver._new_solver, resource.getrlimit(resource.RLIMIT_AS)
    def tight(*given):
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**23, room[1]))  # of MPI, not of a solver
        try:
            return plain(*given)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, room)
    solver._new_solver = tight
big = unda.box_mesh((0, 0, 0), (1, 1, 1), (24, 24, 24))
def large():
    return unda.DG(big if comm.rank == 0 else None, medium, degree=5, device="cpu", comm=comm)
all_raise(unda.OutOfMemoryError, "" if bad else "process 2: no memory for", large)
if bad:
    solver._new_solver = plain
""" + GO_ON)  # fmt: skip


def test_a_blow_up_in_one_part_is_that_of_all(tmp_path):
    """As in one process: message, step, element, and the state of the last good step."""
    passes(tmp_path, """
found = []
for more in ({"comm": comm}, {}):
    sim = unda.DG(mesh, medium, degree=2, device="cpu", dt=0.7, allow_unstable=True, **more)
    sim.set(p=np.random.default_rng(1).uniform(-1, 1, (mesh.num_elem, sim.num_node)))
    try:
        for _ in range(100):
            sim.step(5)
    except unda.UnstableError as error:
        found.append((str(error), error.element, sim.step_count, comm.bcast(sim.get("p", gather=True))
                      .tobytes()))
assert len(found) == 2 and found[0] == found[1], [one[:3] for one in found]
""")  # fmt: skip


def test_a_function_that_fails_in_one_process_ends_the_run_of_all(tmp_path):
    passes(tmp_path, """
def f(t):
    if bad and np.max(t) > 0.02:
        raise ValueError("no more data")
    return 0 * t
sim = make()
sim.add_source(unda.VolumeInjection((0.5, 0.4, 0.3), f))
all_raise((unda.Error, ValueError), "no more data", lambda: sim.run(until=1.0))
def callback(sim):
    if bad:
        raise KeyError("stop")
all_raise((unda.Error, KeyError), "stop", lambda: make().run(steps=20, every=5, callback=callback))
""" + GO_ON)  # fmt: skip


def test_processes_that_call_different_methods_are_told(tmp_path):
    passes(
        tmp_path,
        """
sim = make()
all_raise(unda.ArgumentError, "expected the same calls", lambda: sim.step(2) if bad else sim.energy())
""",
    )


def test_a_wrong_mesh_or_partition_is_an_error_of_all(tmp_path):
    passes(tmp_path, """
all_raise(unda.ArgumentError, "expected a whole Mesh there", lambda: unda.DG(None, medium, comm=comm))
two = mesh.partition(2) if comm.rank == 0 else "curve"
all_raise(unda.ArgumentError, "2 parts", lambda: make(partition=two))
all_raise(unda.ArgumentError, "one device", lambda: unda.DG(mesh, medium, comm=comm, device=["cpu", "cpu"]))
def no_mesh():
    return unda.read_mesh("none.msh")
all_raise((unda.Error, FileNotFoundError), "none.msh", lambda: unda.scatter(no_mesh, comm))
all_raise(unda.ArgumentError, "expected a communicator", lambda: unda.DG(mesh, medium, comm=3))
""" + GO_ON)  # fmt: skip


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("raise RuntimeError('out of luck')", "out of luck"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    ],
)
def test_a_process_that_ends_alone_ends_all(tmp_path, end, cause):
    done = job(tmp_path, f"""
sim = make()
sim.step(1)
if bad:
    {end}
sim.run(steps=10**7)
""")  # fmt: skip
    assert done.returncode != 0
    assert cause in done.stdout + done.stderr or (
        cause == "signal 9" and "KILLED BY" in done.stdout + done.stderr
    )


ENDS = """
def ends():
    if bad:
        END
"""
MADE = """
sim = make()
sim.step(1)
"""


@pytest.mark.parametrize(
    ("begin", "end", "others", "cause"),
    [
        (MADE, "sys.exit()", "sim.step(100)", "has ended, while process 0 waits for it"),
        (MADE, "sys.exit(1)", "make()", "has ended, while process 0 waits for it"),
        ("", "raise RuntimeError('out of luck')", "make()", "process 2 of MPI.COMM_WORLD has failed"),
    ],
)
def test_a_process_that_ends_outside_of_calls_ends_all(tmp_path, begin, end, others, cause):
    """Between two calls, or before it has a simulation with the others."""
    done = job(tmp_path, ENDS.replace("END", end) + begin + "ends()\n" + others)
    assert done.returncode != 0
    assert cause in done.stdout + done.stderr, done.stdout + done.stderr


def test_processes_may_end_one_after_the_other(tmp_path):
    """And so may a fork of one of them."""
    rank_cases.passes(3, tmp_path, BEGIN + MADE + """
import time
other = unda.scatter(mesh, comm)
half = comm.Split(bad)
if not bad:
    unda.scatter(mesh, half)
from unda._rank_end import WATCH
if bad:
    if os.fork() == 0:
        WATCH._leave()
        os._exit(0)
    assert os.wait()[1] == 0
comm.Barrier()
time.sleep(0.2 * comm.rank)
sys.exit(0)
""", seconds=SECONDS)  # fmt: skip
