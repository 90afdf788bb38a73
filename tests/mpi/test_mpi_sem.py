"""Promises about SEM in many processes of MPI: the bits of the same parts in one process, results whole in
each, files for any number.

Cases and tolerances: sem_rank_cases.py, sem_team_cases.py. Not here: how processes fail
(test_mpi_sem_faults.py).
"""

from pathlib import Path

import pytest
import rank_cases
import sem_rank_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]


def cases_that_differ(num, device, numbers):
    script = Path(sem_rank_cases.__file__)
    done = rank_cases.start(num, script, device, *map(str, numbers), folder=script.parent, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(map(str, numbers))
    return [line for line in lines if not line.endswith(" same")]


@pytest.mark.parametrize(
    ("num", "numbers"), [(2, (21,)), pytest.param(3, (0,), marks=pytest.mark.slow), (5, (12,))]
)
def test_processes_have_the_bits_of_their_parts_in_one(num, numbers):
    """Fields, traces, samples, energy and dt; from one device they differ by rounding."""
    assert cases_that_differ(num, "cpu", numbers) == []


@pytest.mark.slow
@pytest.mark.parametrize("num", [1, 2, 3, 5])
def test_any_number_of_processes_has_the_bits_of_its_parts(num):
    assert cases_that_differ(num, "cpu", range(len(sem_rank_cases.table()))) == []


@pytest.mark.gpu_or_stand_in
def test_processes_on_devices_agree_with_one_device():
    """By way of the host; coupled, with walls, dashpots and forces on cut faces, edges and vertices."""
    assert cases_that_differ(2, "cuda", (12,)) == []


RESULTS = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex", perturb=0.1, seed=1)
inside = ((mesh.vertices > 0.1) & (mesh.vertices < 0.9)).all(axis=1)
fluid = mesh.centroids[:, 2] > 0.5
medium = unda.Elastic(rho=np.where(fluid, 1.0, 2.0), vp=1.5, vs=np.where(fluid, 0.0, 0.8))

def make(**more):
    given = mesh if first or not more else None
    more["boundary"] = {"xmin": unda.Damping(thickness=0.4, outside=False), "*": "absorbing"}
    sim = unda.SEM(given, medium if first or "comm" not in more else None, degree=2, device="cpu", **more)
    sim.set(ux=lambda x, y, z: np.sin(3 * x + y), chi=np.outer(np.ones(27), np.ones(27)))
    # at vertices stresses are means over the cells of one medium, of several processes
    return sim, sim.add_receivers([(0.5, 0.5, 0.3), *mesh.vertices[inside]], ["ux", "szz", "pressure"])

(sim, rec), (one, alone) = make(comm=comm), make()
assert comm.allreduce(sim.mesh.num_owned) == 27 == sim.mesh.num_whole
assert abs(sim.dt - one.dt) < 1e-6 * one.dt and comm.allgather(sim.dt) == [sim.dt] * comm.size
for each in (sim, one):
    each.run(steps=6)
assert rec.num_sample == alone.num_sample == 7 and sim.t == 6 * sim.dt
def near(a, b):
    return np.abs(np.asarray(a) - b).max() <= 1e-5 * np.abs(np.asarray(b)).max()
for name in rec.fields:
    assert near(rec[name], alone[name])
own, whole = sim.get("uz"), sim.get("uz", gather=True)
assert near(own, one.get("uz")[sim.mesh.own_cells]) and own.shape == (sim.mesh.num_owned, 27)
assert near(whole, one.get("uz")) if first else whole is None
assert (sim.element_dt == one.element_dt[sim.mesh.own_cells]).all()
assert (sim.coordinates == one.coordinates[sim.mesh.own_cells]).all()
assert near(sim.energy(), one.energy())
exact = lambda x, y, z, t: {"ux": 1.0 + x, "chi": 0 * x}
errors, other = sim.error(exact), one.error(exact)
assert sorted(errors) == sorted(other) and all(near(errors[name], other[name]) for name in other)
assert comm.allgather(errors) == [errors] * comm.size
assert f"process {comm.rank} of {comm.size}, messages by mpi" in repr(sim) and "27 hexahedra" in repr(sim)
assert sim.fields == one.fields and sim._size() == one._size()
assert sim.config["medium"] == one.config["medium"] and sim.config["mesh"] == one.config["mesh"]
"""


def test_results_are_whole_in_each_process(tmp_path):
    """Of a process that has no cell of the fluid too, and with a damping layer; the medium is given in
    process 0 alone."""
    run(3, tmp_path, RESULTS)


BEGIN = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), shape="hex", perturb=0.2, seed=3)
def begin(**more):
    rho = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)
    sim = unda.SEM(mesh, unda.Acoustic(rho=rho, c=1.0), degree=2, dtype="float64", device="cpu", **more)
    sim.set(chi=lambda x, y, z: np.sin(5 * x + y))
    sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(2.0)))
    sim.add_receivers([(0.5, 0.5, 0.5), (0.2, 0.3, 0.4)])
    return sim
"""
GO_ON = """
sim = unda.load("a.h5", comm=comm)
sim.step(2)
sim.save("b.h5")
sim.write_vtu("wave.pvtu")
if first:
    text = open("wave.pvtu").read()
    assert text.count("<Piece Source=") == 2 and 'Name="p"' in text
    alone, one = unda.load("b.h5"), begin(dt=sim.dt)
    alone.step(3)
    one.step(9)
    for name in alone.fields:
        found = one.get(name)
        assert np.abs(alone.get(name) - found).max() <= 1e-12 * np.abs(found).max()
    assert np.abs(alone.receivers[0]["p"] - one.receivers[0]["p"]).max() <= 1e-12
"""


def test_a_checkpoint_goes_on_in_any_number_of_processes(tmp_path):
    """Three wrote it, two go on, and write pieces of VTU; one without MPI goes on with what they wrote."""
    run(3, tmp_path, BEGIN + "sim = begin(comm=comm); sim.step(4); sim.save('a.h5')")
    run(2, tmp_path, BEGIN + GO_ON)
