"""Promises about DG in many processes of MPI: bits of one process, whatever their number and the parts.

Not here: how processes fail (test_mpi_faults.py), files (test_mpi_files.py), parts within a process
(dg/test_team.py).
"""

from pathlib import Path

import pytest
import rank_cases
import team_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

ON_CPU = [key for key in team_cases.RUNS if "/cpu" in key]
#: By default a run of each kind and some of the table of pairs, checkpoints and incident waves.
FEW = [
    key
    for i, key in enumerate(ON_CPU)
    if i % 16 == 0 or "/checkpoint/" in key or (key.startswith("dg/incident") and i % 4 == 0)
]


def runs_that_differ(num, keys):
    script = Path(rank_cases.__file__)
    done = rank_cases.start(num, script, *keys, folder=script.parent, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(keys)
    return [line for line in lines if not line.endswith(" same")]


@pytest.mark.parametrize("num", [2, 3])
def test_processes_have_the_bits_of_one(num):
    """States, traces, rates, samples, energy and dt of all physics, shapes, fluxes, integrators."""
    assert runs_that_differ(num, FEW[num % 2 :: 2]) == []


#: On a CUDA device, or its stand-in: by way of the host.
ON_DEVICE = [
    key
    for i, key in enumerate(
        key for key in team_cases.RUNS if "/fused" in key or "/node" in key or "/lines" in key
    )
    if i % 40 == 0 or key == "hex/checkpoint/lsrk4/lines"
]


@pytest.mark.gpu_or_stand_in
def test_processes_on_devices_have_the_bits_of_one():
    assert runs_that_differ(2, ON_DEVICE) == []


#: Cells of process 0 are boxes and solid, of process 1 those beside them are fluid and the last ones warped.
ONE_PART_HAS = """
import cuda_device, numpy as np
from mpi4py import MPI
cuda_device.prepare()
import unda

plain = unda.box_mesh((0, 0, 0), (3, 0.9, 1.1), (7, 2, 2), shape="hex")
shift = 0.05 * np.maximum(plain.vertices[:, :1] - 2.0, 0.0) * np.sin(9.0 * plain.vertices[:, [1, 2, 0]])
mesh = unda.Mesh(plain.vertices + shift, plain.cells)
rng = np.random.default_rng(1)
state = dict(zip(("vx", "vy", "vz"), rng.uniform(-1, 1, (3, mesh.num_elem, 27))))
vs = np.where(abs(mesh.centroids[:, 0] - 1.3) < 0.3, 0.0, rng.uniform(0.5, 1, mesh.num_elem))
medium = unda.Elastic(rho=1.0, vp=2.0, vs=vs)
parts = {"comm": MPI.COMM_WORLD, "partition": unda.Partition(mesh, mesh.centroids[:, 0] > 1.0)}

def run(device, **more):
    sim = unda.DG(mesh, medium, degree=2, device=device, **more)
    sim.set(**state)
    sim.step(2)
    return sim

for device, way in (("cpu", {}), ("cuda:0", {"transport": "host"})):
    one, sim = run(device), run(device, **parts, **way)
    for name in sim.fields:
        assert sim.get(name).tobytes() == one.get(name)[sim.mesh.own_cells].tobytes(), (device, name)
"""


@pytest.mark.gpu_or_stand_in
def test_a_fluid_and_a_metric_of_one_part_are_those_of_the_whole_mesh(tmp_path):
    rank_cases.passes(2, tmp_path, ONE_PART_HAS)


@pytest.mark.slow
@pytest.mark.parametrize("num", [1, 2, 3, 5])
def test_any_number_of_processes_has_the_bits_of_one(num):
    assert runs_that_differ(num, ON_CPU) == []


def test_a_message_that_is_wrong_is_seen(tmp_path):
    """A byte of a trace is changed on its way: the bits differ."""
    job = tmp_path / "job.py"
    job.write_text(JOB)
    done = rank_cases.start(2, job, str(Path(rank_cases.__file__).parent), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split()) == ["differs", "same"]


JOB = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, unda
from mpi4py import MPI
from unda._core import lib
from unda import _core
from unda.method import messages

comm = MPI.COMM_WORLD
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), perturb=0.2, seed=3)
state = np.random.default_rng(1).uniform(-1, 1, (mesh.num_elem, 10))
medium = unda.Acoustic(rho=1.0, c=1.0)

def run(**more):
    sim = unda.DG(mesh, medium, degree=2, device="cpu", **more)
    sim.set(p=state)
    if more and WRONG and comm.rank == 1:  # what it sends goes on with one bit of the first number changed
        message = _core.new_struct("unda_message")
        sim._solver.call(lib.unda_solver_get_message, 0, message)
        sent = np.frombuffer(_core.buffer(message.send, message.num_byte), np.uint8)
        plain = messages._function("MPI_Startall")
        start = _core.as_function("int32_t(*)(int32_t, void *)", plain)
        def changed(num, request):
            sent[0] ^= 1
            return start(num, request)
        sim._wrong = _core.callback("int32_t(int32_t, void *)", changed)
        own = sim._solver._messages
        given = _core.new_struct(
            "unda_requests", num=len(own._requests), request=_core.as_pointer(own._handles.ctypes.data),
            status=_core.as_pointer(own._statuses.ctypes.data), start=sim._wrong,
            wait=_core.as_function("int32_t(*)(int32_t, void *, void *)", messages._function("MPI_Waitall")),
        )
        sim._solver.call(lib.unda_solver_set_requests, given)
    sim.step(2)
    return sim.get("p", gather=True)

for WRONG in (False, True):
    found, one = run(comm=comm), run()
    if comm.rank == 0:
        print("same" if found.tobytes() == one.tobytes() else "differs", flush=True)
"""
