"""Promises about processes that send from device to device: bits of one process, refusals, faults.

On the stand-in there are three devices, and messages by NCCL go through sockets. Not here: SEM and FD
(test_mpi_ways.py), by way of the host (test_mpi_bits.py), NCCL within one process (gpu/test_gpu_loading.py).
"""

import json
from pathlib import Path

import cuda_device
import pytest
import rank_cases
import unda

pytest.importorskip("mpi4py")
REAL = cuda_device.prepare()
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]
on_the_stand_in = pytest.mark.skipif(REAL, reason="the stand-in alone can be told to")

TESTS = Path(rank_cases.__file__).parent
KEYS = {
    2: ["dg/acoustic/central/float64/fused/ab3/degree5/mixed/one/VolumeInjection-first/vertex"],
    3: ["hex/acoustic/upwind/float32/lines/ab3/degree1/sheared/periodic/node", "hex/checkpoint/lsrk4/lines"],
}
BEGIN = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import cuda_device, gc, os, re, numpy as np
from mpi4py import MPI
cuda_device.prepare()
import unda
from rank_cases import all_raise
from unda.method import transport
comm = MPI.COMM_WORLD
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), perturb=0.2, seed=3)
medium = unda.Acoustic(rho=1.0, c=1.0)
def make(transport="auto", device="cuda", comm=comm, **more):
    same = {{"degree": 1, "kernel": "fused"}}
    return unda.DG(mesh, medium, device=device, comm=comm, transport=transport, **same, **more)
def way(sim):
    return re.search("messages by ([a-z ]+),", repr(sim))[1]
"""


def start(num, script, *arguments, **environment):
    if REAL and len([name for name in unda.devices() if name != "cpu"]) < num:
        pytest.skip(f"{num} processes need as many devices")
    return rank_cases.start(
        num, script, *arguments, seconds=200, **{"UNDA_EMULATOR_DEVICES": "3"} | environment
    )


def job(num, folder, text, **environment):
    script = folder / "job.py"
    script.write_text(BEGIN + text)
    return start(num, script, **environment)


def passes(num, folder, text, **environment):
    done = job(num, folder, text, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("num", [3, pytest.param(2, marks=pytest.mark.slow)])
def test_processes_that_send_by_nccl_have_the_bits_of_one(num):
    """On the stand-in every other stream runs as early as events let it, the others as late as they can."""
    early = {"UNDA_EMULATOR_EAGER": str(num - 1)}
    done = start(num, rank_cases.__file__, "transport=nccl", *KEYS[num], **early)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{key} same" for key in KEYS[num]]


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("cases", "nodes"), [pytest.param(["hex3", "sem4"], 500, marks=pytest.mark.slow), (["scalar4"], 12**3)]
)
def test_one_process_a_device_is_timed_beside_one_process(tmp_path, cases, nodes):
    """By transports that are there; the stand-in's MPI knows no devices. All have the same bits."""
    script, out = TESTS.parent / "benchmarks" / "mpi_transports.py", str(tmp_path / "found.json")
    small = ["--nodes", str(nodes), "--seconds", "0.01", "--out", out]
    done = start(2, script, "--cases", ",".join(cases), *small)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())["rows"]
    for case in cases:
        one, *rows = [row for row in found if row["case"] == case]
        assert one["way"] == "one process, peer" and len(rows) == 3
        timed = [row for row in rows if "lacks" not in row]
        assert {"nccl", "mpi by host"} <= {row["way"] for row in timed}
        assert all(row["same_bits"] and row["percent"] > 0 for row in timed)


@on_the_stand_in
def test_an_mpi_that_knows_devices_gives_the_bits_of_one(tmp_path):
    """The stand-in lets MPI reach its memory, as hardware would."""
    found = passes(2, tmp_path, f"""
transport.knows_devices = lambda: None
import rank_cases
rank_cases.compare({KEYS[2]!r}, "mpi")
""", UNDA_EMULATOR_OPEN="1")  # fmt: skip
    assert found.splitlines() == [f"{key} same" for key in KEYS[2]]


@on_the_stand_in
def test_a_message_that_nccl_loses_is_seen(tmp_path):
    """The traces of the stage before stand in its place."""
    found = passes(2, tmp_path, """
def run(**given):
    sim = make(**given)
    sim.set(p=np.random.default_rng(1).uniform(-1, 1, (mesh.num_elem, 4)))
    sim.step(2)
    return sim.get("p", gather=True)
one = run(device="cuda:0", comm=None)
for number in ("0", "13"):  # of two steps of five stages each, then of as many
    os.environ["UNDA_EMULATOR_NCCL_DROP"] = number if comm.rank == 1 else "0"
    found = run(transport="nccl")
    if comm.rank == 0:
        print("same" if found.tobytes() == one.tobytes() else "differs")
""")  # fmt: skip
    assert found.split() == ["same", "differs"]


@on_the_stand_in
def test_what_is_there_is_chosen_and_what_is_not_is_refused(tmp_path):
    passes(2, tmp_path, """
there = os.environ["UNDA_LIBNCCL"]
os.environ["UNDA_LIBNCCL"] = "/nowhere/libnccl.so.2" if comm.rank else there
words = "no usable NCCL was found, which transport nccl needs; install unda-waves[nccl]"
all_raise(unda.DeviceError, words if comm.rank else "process 1: " + words, lambda: make("nccl"))
assert way(make()) == "mpi by host"
os.environ["UNDA_LIBNCCL"] = there
assert way(make()) == way(make("nccl")) == "nccl" and way(make("host")) == "mpi by host"
assert way(make(device="cuda:1")) == "mpi by host"
all_raise(unda.ArgumentError, "process 0 shares its device with another one, which NCCL refuses",
          lambda: make("nccl", device="cuda:1"))
all_raise(unda.ArgumentError, "transport is 'nccl' on the CPU", lambda: make("nccl", device="cpu"))
all_raise(unda.ArgumentError, "transport is 'peer', expected one of", lambda: make("peer"))
all_raise(unda.ArgumentError, "'nccl' in process 0 and 'host' in process 1",
          lambda: make(("nccl", "host")[comm.rank]))
for knows, chosen in ((False, "mpi by host"), (None, "mpi by host"), (True, "mpi by device")):
    transport.knows_devices = lambda: knows
    assert way(make(device="cuda:1")) == chosen
    if knows is False:
        all_raise(unda.DeviceError, "takes no addresses of CUDA devices", lambda: make("mpi"))
    else:
        assert way(make("mpi")) == "mpi by device"
""")  # fmt: skip


@pytest.mark.gpu_or_stand_in
def test_a_communicator_has_one_connection_which_ends_with_it(tmp_path):
    passes(2, tmp_path, """
if comm.rank == 0:  # simulations may end at different times
    first = make("nccl")
else:
    make("nccl")
again = make("nccl")
assert len(transport._living) == 1
other = comm.Dup()
make("nccl", comm=other).step(3)
assert len(transport._living) == 2
other.Free()
gc.collect()
assert len(transport._living) == 1
again.step(2)
""")  # fmt: skip


@on_the_stand_in
def test_a_connection_that_fails_in_all_processes_leaves_them_running(tmp_path):
    passes(2, tmp_path, """
os.environ["UNDA_EMULATOR_NCCL_INIT"] = "1"
words = "ncclCommInitRankConfig: NCCL 2.32.3 gave 2 (unhandled system error)"
all_raise(unda.DeviceError, words, lambda: make("nccl"))
sim = make()
assert way(sim) == "mpi by host"
sim.step(2)
""")  # fmt: skip


@on_the_stand_in
@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("NCCL_INIT", "asked for by UNDA_EMULATOR_NCCL_INIT"),
        ("NCCL_LOST", "gave 6 (remote process exited or there was a network error): Connection closed"),
    ],
)
def test_a_process_that_loses_the_others_ends_all(tmp_path, fault, cause):
    """One cannot connect, and the other one waits for it; or the network fails in a stage."""
    done = job(2, tmp_path, f"""
unda._ranks.Ranks.connected.__defaults__ = (1.0,)
if comm.rank == 1:
    os.environ["UNDA_EMULATOR_{fault}"] = "1"
make("nccl").step(4)
""")  # fmt: skip
    assert done.returncode != 0 and cause in done.stderr, done.stdout + done.stderr
