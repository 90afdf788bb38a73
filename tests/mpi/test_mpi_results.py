"""Promises about results of processes that share a problem: whole in each, or gathered, as one process has
them.

Not here: the bits of all settings (test_mpi_bits.py), files (test_mpi_files.py).
"""

import pytest
import rank_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

BEGIN = """
import numpy as np, unda
from mpi4py import MPI
comm = MPI.COMM_WORLD
first = comm.rank == 0
"""


def run(num, folder, text, **more):
    return rank_cases.passes_in_pool(num, folder, BEGIN + text, **more)


RESULTS = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), shape="hex", perturb=0.2, seed=1)
medium = unda.Acoustic(rho=1.0, c=1.0)
mode = unda.exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 0))

def run(**more):
    given = mesh if first or not more else None
    sim = unda.DG(given, medium, degree=3, boundary={"*": "rigid"}, device="cpu", **more)
    sim.set(mode)
    sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(2.0)))  # a vertex of eight cells
    rec = sim.add_receivers([(0.5, 0.5, 0.5), (0.3, 0.2, 0.1)], ["p", "divergence"])
    sim.run(until=0.05)
    return sim, rec

(sim, rec), (one, alone) = run(comm=comm), run()
assert sim.dt == one.dt and sim.t == one.t and sim.energy() == one.energy()
for name in rec.fields:
    assert rec[name].tobytes() == alone[name].tobytes()
for relative in (False, True):
    assert sim.error(mode, relative=relative) == one.error(mode, relative=relative)
points = np.random.default_rng(comm.size).uniform(0, 1, (50, 3))
pairs = zip(sim.sample(points).values(), one.sample(points).values())
assert all(a.tobytes() == b.tobytes() for a, b in pairs)
own, whole = sim.get("vx"), sim.get("vx", gather=True)
assert own.tobytes() == one.get("vx")[sim.mesh.own_cells].tobytes()
assert whole.tobytes() == one.get("vx").tobytes() if first else whole is None
assert (sim.mesh.hash, sim.mesh.volume, sim.mesh.upper) == (mesh.hash, mesh.volume, mesh.upper)
assert (sim.mesh.whole is mesh) == first
assert sim.config["mesh"] == one.config["mesh"] and sim.config["medium"] == one.config["medium"]
assert comm.allreduce(sim.mesh.num_owned) == mesh.num_elem == sim.mesh.num_whole
assert f"process {comm.rank} of {comm.size}, messages by mpi" in repr(sim)
"""


def test_results_are_whole_in_each_process(tmp_path):
    run(3, tmp_path, RESULTS)


MEDIA = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 2))
mesh = unda.Mesh(
    mesh.vertices, mesh.cells, tags=(mesh.centroids[:, 0] > 0.6).astype(int), tag_names={"rock": 0, "sea": 1}
)
rho = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)
nodes = np.random.default_rng(1).uniform(1, 2, (mesh.num_elem, 10))
part = unda.scatter(mesh if first else None, comm)

def speed(x, y, z):
    return 1 + 0.3 * np.sin(x + 2 * y)

def same(medium, given):
    found = []
    for on, values in ((part, given), (mesh, medium)):
        sim = unda.DG(on, values, degree=2, device="cpu")
        sim.set(lambda x, y, z, t: {"p": x, "vx": y, "vy": z, "vz": x * y})
        sim.step(3)
        found.append((sim.get("p", gather=True), sim.config["medium"]))
    assert found[0][1] == found[1][1]
    assert not first or found[0][0].tobytes() == found[1][0].tobytes()

for medium in (
    unda.Acoustic(rho=rho, c={"rock": 2.0, "sea": 1.0}), unda.Acoustic(rho=1.0, c=speed),
    unda.Acoustic(rho=nodes, c=speed, per="node"), unda.Acoustic(rho=rho, c=1.0, per="node"),
):
    same(medium, medium)
    same(medium, medium if first else None)  # process 0 has it alone

mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (2, 1, 1), shape="hex")
part = unda.scatter(mesh if first else None, comm)
assert part.num_elem == mesh.num_elem == 2  # a cell and a ghost: as many as the whole has, in another order
medium = unda.Acoustic(rho=[1.0, 2.0], c=1.0)
same(medium, medium)
same(medium, medium if first else None)
"""


def test_media_are_given_as_to_one_process_or_to_the_first_alone(tmp_path):
    run(2, tmp_path, MEDIA)


def test_the_first_process_shows_the_progress(tmp_path):
    job = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, comm=comm)
sim.run(steps=3, progress=True)
"""
    assert run(2, tmp_path, job).stderr.count("0/3 [") == 1
