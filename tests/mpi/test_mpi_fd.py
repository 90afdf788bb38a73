"""Promises about FD in many processes of MPI: bits of one process, results whole where they are said to be.

Not here: how processes fail, files (test_mpi_fd_faults.py), slabs within a process (fd/test_slabs.py).
"""

from pathlib import Path

import pytest
import rank_cases
import slab_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

#: By default some of the table of pairs whose x is long, and of each other kind of run.
SHAPES = "/24x1x40", "/26x1x31", "/70x1x1"
LONG = [key for key in slab_cases.ON_CPU if any(shape in key for shape in SHAPES)]
OTHER = [key for key in slab_cases.ON_CPU if key.startswith(("fd/checkpoint", "fd/rest"))]
FEW = [*(key for key in OTHER if "elastic" not in key), *LONG[::7]]


def found_of(num, keys):
    """What each key's line says: same, alone (no room for so many slabs) or what differs."""
    script = Path(rank_cases.__file__)
    done = rank_cases.start(num, script, *keys, folder=script.parent, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    assert [key for key, _, _ in lines] == list(keys)
    return {key: found for key, _, found in lines}


@pytest.mark.parametrize("num", [2, 3])
def test_processes_have_the_bits_of_one(num):
    """States, traces, samples, energy and dt of both schemes, all physics, orders, boundaries, layers."""
    found = found_of(num, FEW[num % 2 :: 2])
    assert {key: one for key, one in found.items() if one not in ("same", "alone")} == {}
    assert list(found.values()).count("same") >= len(found) // 3


@pytest.mark.slow
@pytest.mark.parametrize("num", [1, 2, 3, 5])
def test_any_number_of_processes_has_the_bits_of_one(num):
    assert set(found_of(num, slab_cases.ON_CPU).values()) <= {"same", "alone"}


#: On a CUDA device, or its stand-in.
ON_DEVICE = ["fd/rest/staggered/elastic/step"]


@pytest.mark.gpu_or_stand_in
def test_processes_on_devices_have_the_bits_of_one():
    assert set(found_of(2, ON_DEVICE).values()) == {"same"}


RESULTS = """
grid = unda.Grid((24, 9, 8), 10.0, origin=(5.0, 0.0, 0.0))
rng = np.random.default_rng(1)
speed = rng.uniform(1000, 2000, grid.shape)
state = rng.uniform(-1, 1, grid.shape)
sides = {"xmin": unda.CPML(30, f0=20.0), "xmax": unda.CPML(3, f0=20.0), "*": "free"}

def begin(medium, scheme, **more):
    sim = unda.FD(grid, medium, scheme=scheme, order=2, boundary=sides, device="cpu", **more)
    sim.add_source(unda.VolumeInjection((123.0, 31.0, 42.0), unda.ricker(20.0, t0=0.0)))
    return sim

def same(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a)

for scheme, medium in (
    ("scalar", unda.Acoustic(rho=1000.0, c=speed)),
    ("staggered", unda.Elastic(rho=speed, vp=lambda x, y, z: 2000 + x + 0 * y * z, vs=800.0)),
):
    name = {"scalar": "p", "staggered": "vz"}[scheme]
    sims = [begin(medium, scheme, **more) for more in ({"comm": comm}, {})]
    sim, one = sims
    assert sum(comm.allgather(len(sim.own_planes))) == 24 and one.own_planes == range(24)
    assert 0 in comm.allgather(len(sim.own_planes))  # a slab of the layer alone
    rows = slice(sim.own_planes.start, sim.own_planes.stop)
    for given in ({name: state}, {name: lambda x, y, z: np.sin(x) * np.cos(y + z)}, {name: 2.0}):
        for each in sims:
            each.set(**given)
        assert sim.get(name).tobytes() == one.get(name)[rows].tobytes()
    sim.set(**{name: state[rows]})  # own planes alone
    one.set(**{name: state})
    points = rng.uniform((5, 0, 0), (235, 80, 70), (40, 3))
    recs = [each.add_receivers(points, every=2) for each in sims]
    for each in sims:
        each.run(steps=9, progress=True)
    assert sim.dt == one.dt and sim.t == one.t and sim.energy() == one.energy()
    assert all(recs[0][f].tobytes() == recs[1][f].tobytes() for f in recs[0].fields)
    assert same(*(each.sample(points) for each in sims))
    whole = sim.get(name, gather=True)
    assert whole.tobytes() == one.get(name).tobytes() if first else whole is None
    assert sim.get(name).tobytes() == one.get(name)[rows].tobytes()
    assert sim.config["medium"] == one.config["medium"] and sim.padded == one.padded
    assert f"process {comm.rank} of {comm.size}, messages by mpi" in repr(sim)
    for each in sims:
        each.reset(sources=True)
        each.step(2)
    assert not sim.get(name).any() and sim.energy() == 0.0

medium = unda.Acoustic(rho=1000.0, c=1500.0)
mode = unda.exact.rigid_box_mode(medium, grid.lower, grid.upper, n=(1, 1, 0))
found = []
for more in ({"comm": comm}, {}):
    sim = unda.FD(grid, medium, order=2, boundary={"*": "rigid"}, device="cpu", **more)
    sim.set(mode)
    sim.step(5)
    found.append([sim.error(mode), sim.error(mode, relative=True)])
assert found[0] == found[1] and found[0][1]["p"] > 0

for scheme in ("scalar", "staggered"):
    found, box = [], ((25, 20, 20), (205, 60, 50))
    for more in ({"comm": comm}, {}):
        sim = unda.FD(grid, medium, order=2, scheme=scheme, boundary={"*": "free"}, device="cpu", **more)
        sim.add_source(unda.PlaneWave((1, 0, 0), f=unda.ricker(20.0, t0=0.05), box=box))
        sim.step(40)
        found.append(sim.sample([(115.0, 40.0, 40.0), (15.0, 10.0, 10.0)], ["p"])["p"])
    assert found[0].tobytes() == found[1].tobytes() and abs(found[0][0]) > 0.1 and abs(found[0][1]) < 1e-6
"""


@pytest.mark.parametrize("num", [2, 5])
def test_results_are_whole_in_each_process(tmp_path, num):
    """Process 0 has planes of a layer alone."""
    done = run(num, tmp_path, RESULTS)
    assert done.stderr.count("0/9 [") == 2 * (num + 1)  # of shared runs process 0's


def test_a_message_that_is_wrong_is_seen(tmp_path):
    """Bits of planes are changed on their way, or planes arrive a step late: the bits differ."""
    found = run(2, tmp_path, WRONG).stdout.split()
    assert found == ["same", "differs", "differs"]


WRONG = """
from unda import _core
from unda._core import lib
from unda.method import messages
grid = unda.Grid((14, 7, 6), 10.0)
state = np.random.default_rng(1).uniform(-1, 1, grid.shape)

def spoil(sim, late):
    message = _core.new_struct("unda_message")
    sim._solver.call(lib.unda_solver_get_message, 0, message)
    sent = np.frombuffer(_core.buffer(message.send, message.num_byte), np.uint8)
    start = _core.as_function("int32_t(*)(int32_t, void *)", messages._function("MPI_Startall"))
    before = sent.copy()
    def changed(num, request):
        if late:
            before[:], sent[:] = sent.copy(), before.copy()
        else:
            sent[:] ^= 1
        return start(num, request)
    own, sim._changed = sim._solver._messages, _core.callback("int32_t(int32_t, void *)", changed)
    given = _core.new_struct(
        "unda_requests", num=len(own._requests), request=_core.as_pointer(own._handles.ctypes.data),
        status=_core.as_pointer(own._statuses.ctypes.data), start=sim._changed,
        wait=_core.as_function("int32_t(*)(int32_t, void *, void *)", messages._function("MPI_Waitall")),
    )
    sim._solver.call(lib.unda_solver_set_requests, given)

def result(late=None, **more):
    sim = unda.FD(grid, unda.Acoustic(rho=1.0, c=1.0), boundary={"*": "free"}, device="cpu", **more)
    sim.set(p=state)
    if late is not None and comm.rank == 1:
        spoil(sim, late)
    sim.step(3)
    return sim.get("p", gather=True)

one = result()
for late in (None, False, True):
    found = result(late, comm=comm)
    if first:
        print("same" if found.tobytes() == one.tobytes() else "differs", flush=True)
"""
