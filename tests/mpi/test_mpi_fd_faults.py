"""Promises about FD in processes of MPI: how they fail together, what is refused, files for any number.

Not here: bits and results (test_mpi_fd.py), processes that end (test_mpi_faults.py).
"""

import pytest
import rank_cases
import test_mpi_faults
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

BEGIN = """
grid = unda.Grid((30, 7, 6), 10.0)
plain = unda.Acoustic(rho=1000.0, c=1500.0)
def make(medium=plain, **more):
    options = {"boundary": {"*": "free"}, "device": "cpu", "comm": comm} | more
    return unda.FD(grid, medium, **options)
"""
GO_ON = """
sim = make()  # a failure is over once all have raised
sim.step(2)
"""


def passes(folder, text):
    test_mpi_faults.passes(folder, BEGIN + text + GO_ON)


def test_what_one_process_refuses_is_refused_by_all(tmp_path):
    passes(tmp_path, """
def speed(x, y, z):
    if bad:
        raise OSError("the model is not there")
    return 1500.0 + 0 * x
all_raise((unda.Error, OSError), "the model is not there", lambda: make(unda.Acoustic(rho=1e3, c=speed)))
all_raise(unda.ArgumentError, "rho", lambda: make(
    unda.Acoustic(rho=lambda x, y, z: 0 * x + 1.0 - 2 * bad, c=1.0), scheme="staggered"))
all_raise(unda.ArgumentError, "[2] have no medium", lambda: make(None if bad else plain))
def state(x, y, z):
    if bad:
        raise ValueError("no state")
    return 0 * (x + y + z)
all_raise((unda.Error, ValueError), "no state", lambda: make().set(p=state))
def f(t):
    if bad and np.max(t) > 0.02:
        raise ValueError("no more data")
    return 0 * t
sim = make()
sim.add_source(unda.VolumeInjection((55.0, 44.0, 33.0), f))
all_raise((unda.Error, ValueError), "no more data", lambda: sim.run(until=1.0))
""")  # fmt: skip


def test_what_differs_between_processes_is_refused(tmp_path):
    """Else their messages would not fit, or their results would be of no problem at all."""
    passes(tmp_path, """
words = "are others than those of process 0"
all_raise(unda.ArgumentError, words, lambda: make(unda.Acoustic(rho=1e3, c=1500.0 + bad)))
all_raise(unda.ArgumentError, words, lambda: make(order=2 + 2 * bad))
all_raise(unda.ArgumentError, words, lambda: make(boundary={"*": "rigid" if bad else "free"}))
all_raise(unda.ArgumentError, words, lambda: make(cfl=0.5 + 0.1 * bad))
def speed(x, y, z):
    return 1500.0 - (x + y + z) * bad
other = unda.Acoustic(rho=1e3, c=speed)
all_raise(unda.ArgumentError, "values of the medium of process 2", lambda: make(other))
sim, place = make(), (50.0 + bad, 40.0, 30.0)
all_raise(unda.ArgumentError, "sources of process 2", lambda: sim.add_source(
    unda.VolumeInjection(place, unda.ricker(20.0))))
all_raise(unda.ArgumentError, "receivers of process 2", lambda: sim.add_receivers([place]))
all_raise(unda.ArgumentError, "expected the same calls", lambda: sim.step(1) if bad else sim.energy())
""")  # fmt: skip


def test_what_many_processes_do_not_have_is_refused(tmp_path):
    """In the words of several devices, where these refuse it as well."""
    passes(tmp_path, """
def refused(words, work):
    all_raise(unda.ArgumentError, words, work)
refused("3 slabs of a grid of 17 planes along x, expected at least 6 planes each", lambda: unda.FD(
    unda.Grid((17, 7, 6), 1.0), plain, boundary={"*": "free"}, device="cpu", comm=comm))
refused("kernel tiled takes several steps at once", lambda: make(kernel="tiled"))
refused("only the scalar scheme on CUDA devices has windows", lambda: make(window=8))
refused("each process has one device", lambda: make(device=["cpu", "cpu"]))
refused("tune a grid of a slab's planes on one device", lambda: make(tune=True))
sim = make()
refused("expected the kernels of one device", sim.profile)
refused("p has shape (4, 4, 4)", lambda: sim.set(p=np.ones((4, 4, 4))))
refused("expected points from", lambda: sim.sample([(-9.0, 0.0, 0.0)]))
""")  # fmt: skip


def test_a_blow_up_in_one_slab_is_that_of_all(tmp_path):
    """As in one process: message, step, node."""
    passes(tmp_path, """
for scheme in ("scalar", "staggered"):
    found = []
    for more in ({}, {"comm": None}):
        sim = make(dt=0.02, allow_unstable=True, scheme=scheme, **more)
        state = np.zeros(grid.shape)
        state[27:] = np.random.default_rng(1).uniform(-1, 1, (3, 7, 6))
        sim.set(p=state)
        try:
            for _ in range(100):
                sim.step(5)
        except unda.UnstableError as error:
            found.append((str(error), error.element, error.step, sim.step_count))
    assert len(found) == 2 and found[0] == found[1], found
""")  # fmt: skip


def test_messages_that_fail_outside_of_steps_end_all(tmp_path):
    """The others wait for planes that never come: nobody could tell them otherwise."""
    done = test_mpi_faults.job(tmp_path, BEGIN + """
from unda import _core
from unda._core import lib
sim = make()
if bad:
    fails = _core.callback("int32_t(int32_t, void *)", lambda num, request: 1)
    kept = np.zeros(64, np.uint8)
    at = _core.as_pointer(kept.ctypes.data)
    ends = _core.callback("int32_t(int32_t, void *, void *)", lambda num, request, status: 0)
    given = _core.new_struct("unda_requests", num=1, request=at, status=at, start=fails, wait=ends)
    sim._solver.call(lib.unda_solver_set_requests, given)
sim.energy()
""")  # fmt: skip
    assert done.returncode != 0
    assert "1 messages of a stage could not be started" in done.stdout + done.stderr


FILES = """
grid = unda.Grid((20, 7, 9), 10.0)
rng = np.random.default_rng(1)
vs = rng.uniform(500, 800, grid.shape)
vs[:, :, :3] = 0.0
medium = unda.Elastic(rho=rng.uniform(1, 3, grid.shape), vp=rng.uniform(1500, 2000, grid.shape), vs=vs)
sides = {"zmax": "free", "*": unda.CPML(3, f0=20.0)}
def begin(**more):
    sim = unda.FD(grid, medium, scheme="staggered", order=2, boundary=sides, device="cpu", **more)
    sim.add_source(unda.PointForce((103.0, 31.0, 62.0), unda.ricker(20.0, t0=0.0), (1, 2, 3)))
    sim.add_receivers([(94.0, 20.0, 31.0), (12.0, 33.0, 44.0)], ["vx", "szz"])
    return sim
"""
GO_ON_FILE = "sim = unda.load('{0}.h5', comm=comm); sim.step(2); sim.save('{1}.h5')"
END = """
one = begin()
one.step(9)
for sim in (unda.load("c.h5"), unda.load("c.h5", comm=comm)):
    sim.step(1)
    for name in sim.fields:
        whole = sim.get(name, gather=True)
        assert whole.tobytes() == one.get(name).tobytes() if first or sim.ranks is None else whole is None
    for name in ("vx", "szz"):
        assert sim.receivers[0][name].tobytes() == one.receivers[0][name].tobytes()
sim.write_vti("all.vti", series="all.pvd")
one.write_vti(f"one{comm.rank}.vti")
if first:
    def values(path):
        head, _, data = open(path, "rb").read().partition(b"_")
        return data[-7 * one.get("vx").nbytes:]
    assert values("all.vti") == values("one0.vti")
"""


def test_a_checkpoint_goes_on_in_any_number_of_processes(tmp_path):
    """One wrote it, three go on, then two; and one without MPI reads what they wrote."""
    run(1, tmp_path, FILES + "sim = begin(comm=comm); sim.step(4); sim.save('a.h5')")
    run(3, tmp_path, GO_ON_FILE.format("a", "b"))
    run(2, tmp_path, FILES + GO_ON_FILE.format("b", "c") + END)
