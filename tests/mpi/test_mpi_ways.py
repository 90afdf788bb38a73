"""Promises about SEM and FD in processes that send from device to device: bits, refusals, faults.

Not here: DG, and how a way is chosen, which is the same for all (test_mpi_nccl.py).
"""

from pathlib import Path

import pytest
import rank_cases
import sem_rank_cases
from test_mpi_nccl import BEGIN, REAL, on_the_stand_in, start

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

#: With two processes messages of both sides of a periodic grid, or of several fields; a stable step that
#: processes find together; two grids of the scalar scheme.
GRIDS = {
    2: [
        "fd/staggered/maxwell/float32/step/order2/layer/second/periodic/stretched/x/12x20x33/varied/first/inside",
        "fd/rest/staggered/elastic/step",
        "fd/checkpoint/scalar/acoustic/step",
    ],
    3: ["fd/staggered/acoustic/float64/step/order2/first/second/periodic/cpml/x/24x1x40/varied/third/beside"],
}
GRIDS[3].append("fd/scalar/one/float64/order2/step/damping/rigid/cpml/z/26x1x31")
#: Numbers of sem_rank_cases: coupled, and solid.
MESHES = {2: (12, 21), 3: (0,)}


def same(done, names):
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{name} same" for name in names]


# By the host: test_slabs_cuda.py, without MPI.
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("num", "way"),
    [
        (2, "nccl"),
        *(pytest.param(num, way, marks=pytest.mark.slow) for num, way in ((3, "nccl"), (2, "host"))),
    ],
)
def test_grids_in_processes_have_the_bits_of_one(num, way):
    """On the stand-in every other stream runs as early as events let it, the others as late as they can."""
    early = {"UNDA_EMULATOR_EAGER": str(num - 1)}
    done = start(num, rank_cases.__file__, f"transport={way}", *GRIDS[num], **early)
    same(done, GRIDS[num])


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("num", "way"), [(2, "nccl"), pytest.param(3, "nccl", marks=pytest.mark.slow), (2, "host")]
)
def test_spectral_elements_in_processes_have_the_bits_of_their_parts_in_one(num, way):
    early = {"UNDA_EMULATOR_EAGER": str(num - 1)}
    numbers = MESHES[num][1:] if way == "host" else MESHES[num]  # the first one: test_mpi_sem.py
    done = start(num, sem_rank_cases.__file__, way, *map(str, numbers), **early)
    same(done, numbers)


def job(num, folder, text, **environment):
    script = folder / "job.py"
    script.write_text(BEGIN + f"sys.path.insert(0, {str(Path(rank_cases.__file__).parent / 'sem')!r})" + text)
    return start(num, script, **environment)


@on_the_stand_in
def test_an_mpi_that_knows_devices_gives_the_same_bits(tmp_path):
    """The stand-in lets MPI reach its memory, as hardware would."""
    done = job(2, tmp_path, f"""
transport.knows_devices = lambda: None
import rank_cases, sem_rank_cases
rank_cases.compare({GRIDS[2]!r}, "mpi")
sem_rank_cases.compare("mpi", {MESHES[2]!r})
""", UNDA_EMULATOR_OPEN="1")  # fmt: skip
    same(done, [*GRIDS[2], *MESHES[2]])


DIAMOND = """
import diamond_cases
case = {
    "tile": (2, 2, 1), "shape": (25, 9, 11), "dtype": "float32", "medium": "varying", "low": "free",
    "high": "matched", "levels": 7, "fewest": 1,
}
one = diamond_cases.run(case, "step", across=True)
for way in ways:
    found = diamond_cases.run(
        case, "diamond", across=True, device=f"cuda:{comm.rank}", comm=comm, transport=way
    )
    same = diamond_cases.same(found[2 * (comm.rank > 0):], one[2 * (comm.rank > 0):])
    if all(comm.allgather(same)) and comm.rank == 0:
        print(way, "same")
"""


@pytest.mark.gpu_or_stand_in
def test_kernel_diamond_in_processes_has_the_bits_of_one(tmp_path):
    """A stage sends up or down, by NCCL from where planes stand."""
    same(job(2, tmp_path, "\nways = ['nccl', 'host']" + DIAMOND, UNDA_EMULATOR_EAGER="1"), ["nccl", "host"])


@on_the_stand_in
def test_kernel_diamond_sends_by_an_mpi_that_knows_devices(tmp_path):
    done = job(
        2,
        tmp_path,
        "\ntransport.knows_devices = lambda: None\nways = ['mpi']" + DIAMOND,
        UNDA_EMULATOR_OPEN="1",
    )
    same(done, ["mpi"])


MAKE = """
blocks = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 2, 2), shape="hex")
def sem(transport="auto", device="cuda", comm=comm, **more):
    return unda.SEM(blocks, medium, degree=2, device=device, comm=comm, transport=transport, **more)
def fd(transport="auto", device="cuda", comm=comm, **more):
    grid = unda.Grid((14, 7, 6), 10.0)
    same = {"boundary": {"*": "free"}, "device": device, "transport": transport}
    return unda.FD(grid, medium, comm=comm, **same, **more)
def run(make, **given):
    sim = make(**given)
    name = sim.fields[0]
    sim.set(**{name: lambda x, y, z: np.sin(7 * x + 3 * y) * np.cos(4 * z)})
    sim.step(8)
    return sim.get(name, gather=True)
"""


@on_the_stand_in
def test_a_message_of_a_grid_that_nccl_loses_is_seen(tmp_path):
    """The planes of a step before stand in its place."""
    done = job(2, tmp_path, MAKE + """
one = run(fd, device="cuda:0", comm=None)
for number in ("0", "15"):  # one of the state that is set, then one a step
    os.environ["UNDA_EMULATOR_NCCL_DROP"] = number if comm.rank == 1 else "0"
    found = run(fd, transport="nccl")
    if comm.rank == 0:
        print("same" if found.tobytes() == one.tobytes() else "differs")
""")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["same", "differs"]


@on_the_stand_in
@pytest.mark.parametrize(
    ("kind", "fault", "cause"),
    [
        ("sem", "NCCL_DROP", "in the other that has it, expected one value"),
        (
            "sem",
            "NCCL_LOST",
            "gave 6 (remote process exited or there was a network error): Connection closed",
        ),
        ("fd", "NCCL_LOST", "gave 6 (remote process exited or there was a network error): Connection closed"),
    ],
)
def test_a_network_that_fails_ends_all(tmp_path, kind, fault, cause):
    """Forces on common nodes that are lost leave copies that differ; a dead network is not waited for."""
    done = job(2, tmp_path, MAKE + f"""
if comm.rank == 1:
    os.environ["UNDA_EMULATOR_{fault}"] = "5"
run({kind}, transport="nccl")
""")  # fmt: skip
    assert done.returncode != 0 and cause in done.stderr, done.stdout + done.stderr


@pytest.mark.gpu_or_stand_in
def test_methods_take_the_same_ways_and_have_one_connection(tmp_path):
    done = job(2, tmp_path, MAKE + f"""
REAL = {REAL}
for kind in (sem, fd):
    assert way(kind()) == way(kind("nccl")) == "nccl" and way(kind("host")) == "mpi by host"
    if not REAL:
        all_raise(unda.ArgumentError, "shares its device with another", lambda: kind("nccl", device="cuda:1"))
    all_raise(unda.ArgumentError, "transport is 'nccl' on the CPU", lambda: kind("nccl", device="cpu"))
    all_raise(unda.ArgumentError, "transport is 'peer', expected one of", lambda: kind("peer"))
    all_raise(unda.ArgumentError, "'nccl' in process 0 and 'host' in process 1",
              lambda: kind(("nccl", "host")[comm.rank]))
    assert way(kind(device="cpu")) == "mpi"
assert len(transport._living) == 1
""")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
