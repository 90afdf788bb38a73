"""Promises about SEM in processes that fail, or whose messages do: all hear of it, and then all may go on.

Not here: what DG's processes do alike (test_mpi_faults.py).
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
import numpy as np, unda
from mpi4py import MPI
from rank_cases import all_raise
comm = MPI.COMM_WORLD
first, bad = comm.rank == 0, comm.rank == 1
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), shape="hex")
medium = unda.Acoustic(rho=1.0, c=1.0)
def make(medium=medium, mesh=mesh, **more):
    return unda.SEM(mesh if first else None, medium, degree=2, device="cpu", comm=comm, **more)
def go_on(sim):
    sim.step(2)
    assert np.isfinite(sim.energy())
"""


def passes(folder, text, num=2):
    rank_cases.passes_in_pool(num, folder, BEGIN + text, seconds=SECONDS)


def test_what_one_process_refuses_is_refused_by_all(tmp_path):
    """A medium, on the whole mesh and on a part; points; a state with two values at a node."""
    passes(tmp_path, """
all_raise(unda.ArgumentError, "" if bad else "process 1: rho has", lambda: make(
    unda.Acoustic(rho=lambda x, y, z: np.full(x.shape, np.nan if bad else 1.0), c=1.0)))
rho = np.ones(12)
rho[7] = 1e300
all_raise(unda.ArgumentError, "element 7: its coefficients reach", lambda: make(
    unda.Acoustic(rho=rho, c=1.0)))
tets = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
all_raise(unda.ArgumentError, "the mesh has tetrahedra", lambda: make(mesh=tets))
sim = make()
all_raise(unda.ArgumentError, "lies outside the mesh", lambda: sim.add_receivers([(2, 0, 0)]))
torn = np.zeros((12, 27))
torn[5] = 1.0
all_raise(unda.ArgumentError, "which shares the node; expected one value", lambda: sim.set(chi=torn))
def f(t):
    if bad:
        raise ValueError("no more data")
    return 0 * t
sim.set(chi=1.0)
go_on(sim)
sim = make()
sim.add_source(unda.VolumeInjection((0.5, 0.4, 0.3), f))
all_raise((unda.Error, ValueError), "no more data", lambda: sim.run(until=1.0))
go_on(make())
""")  # fmt: skip


def test_what_needs_the_whole_is_refused_with_a_sentence(tmp_path):
    passes(tmp_path, """
sim = make()
all_raise(unda.ArgumentError, "one device", lambda: unda.SEM(
    mesh, medium, comm=comm, device=["cpu", "cpu"]))
all_raise(unda.ArgumentError, "transport is 'nccl' on the CPU", lambda: make(transport="nccl"))
all_raise(unda.ArgumentError, "expected a communicator", lambda: unda.SEM(mesh, medium, comm=3))
all_raise(unda.ArgumentError, "ends in .pvtu", lambda: sim.write_vtu("wave.vtu"))
all_raise(unda.ArgumentError, "expected the same calls", lambda: sim.step(2) if bad else sim.energy())
go_on(make())
""")  # fmt: skip


def test_a_blow_up_in_one_part_is_that_of_all(tmp_path):
    """As in one process: step, element, and the state of the last good step."""
    passes(tmp_path, """
found = []
for more in ({"comm": comm}, {}):
    sim = unda.SEM(mesh, medium, degree=2, device="cpu", dt=0.7, allow_unstable=True, **more)
    sim.set(chi=lambda x, y, z: np.sin(20 * x + 9 * y + 3 * z))
    try:
        for _ in range(100):
            sim.step(5)
    except unda.UnstableError as error:
        state = comm.bcast(sim.get("chi", gather=True))
        found.append((error.step, sim.step_count, np.isfinite(state).all()))
        assert 0 <= error.element < 12 and f"element {error.element}" in str(error)
assert len(found) == 2 and found[0] == found[1] and found[0][2], found
""")  # fmt: skip


WRONG = """
from unda._core import lib
from unda import _core
from unda.method import messages
def run(wrong):
    stepping = [True]  # what a look at the state sends is as it should be
    sim = make(unda.Elastic(rho=1.0, vp=1.0, vs=0.5), dtype="float64")
    sim.set(ux=lambda x, y, z: np.sin(5 * x + y))
    if wrong and bad:
        message = _core.new_struct("unda_message")
        sim._solver.call(lib.unda_solver_get_message, 0, message)
        sent = np.frombuffer(_core.buffer(message.send, message.num_byte), np.float64)
        plain = _core.as_function("int32_t(*)(int32_t, void *)", messages._function("MPI_Startall"))
        late = sent.copy()
        def changed(num, request):
            if stepping:
                WRONG
            return plain(num, request)
        sim._wrong = _core.callback("int32_t(int32_t, void *)", changed)
        own = sim._solver._messages
        given = _core.new_struct(
            "unda_requests", num=len(own._requests), request=_core.as_pointer(own._handles.ctypes.data),
            status=_core.as_pointer(own._statuses.ctypes.data), start=sim._wrong,
            wait=_core.as_function("int32_t(*)(int32_t, void *, void *)", messages._function("MPI_Waitall")),
        )
        sim._solver.call(lib.unda_solver_set_requests, given)
    sim.step(3)
    stepping.clear()
    return sim.get("ux")
run(False)
comm.Barrier()
print("all had the same", flush=True)
run(True)
"""


@pytest.mark.parametrize("wrong", ["sent[:] = 0", "late[:], sent[:] = sent, late.copy()"])
def test_a_neighbours_forces_that_are_lost_or_late_are_seen(tmp_path, wrong):
    """Both copies of a node then differ, which ends all; without the fault they do not."""
    done = rank_cases.job(2, tmp_path, BEGIN + WRONG.replace("WRONG", wrong), seconds=SECONDS)
    assert "all had the same" in done.stdout
    assert done.returncode != 0
    assert "in one and" in done.stderr and "expected one value" in done.stderr
