"""Monitors of processes that share a problem have the bits of one process, also from files.

Not here: what monitors are (method/test_monitors.py).
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
medium = unda.Acoustic(rho=1.0, c=1.0)
box = (0.2, 0.1, 0.1), (0.7, 0.5, 0.9)

def watched(sim, field):
    for region in (None, box):
        for kind in ("max", "rms", "dft"):
            sim.add_monitor(field, kind, every=2, region=region, frequencies=[3.0] if kind == "dft" else None)
    sim.step(9)
    return sim
"""

GRID = """
def run(**more):
    sim = unda.FD(unda.Grid((24, 9, 10), 0.05), medium, device="cpu", scheme=SCHEME, **more)
    sim.add_source(unda.VolumeInjection((0.4, 0.2, 0.2), f=unda.ricker(6.0)))
    return watched(sim, "p")

one, many = run(), run(comm=comm)
many.save("grid.h5")
again = unda.load("grid.h5", comm=comm)
for sim in (one, many, again):
    sim.step(5)
for others in (many, again):
    assert others.monitors[0].num_sample == 8
    for a, b in zip(one.monitors, others.monitors, strict=True):
        assert a.values.tobytes() == b.values.tobytes() and np.ptp(np.abs(a.values)) > 0
"""

MESH = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 3), perturb=0.1)

def run(**more):
    given = mesh if comm.rank == 0 or not more else None
    sim = unda.DG(given, medium, degree=2, device="cpu", **more)
    sim.add_source(unda.VolumeInjection((0.4, 0.2, 0.2), f=unda.ricker(6.0)))
    return watched(sim, "p")

one, many = run(), run(comm=comm)
many.save("mesh.h5")
again = unda.load("mesh.h5", comm=comm)
alone = unda.load("mesh.h5")
for sim in (one, many, again, alone):
    sim.step(5)
for others in (many, again, alone):
    for a, b in zip(one.monitors, others.monitors, strict=True):
        cells = b.cells if others is alone else others.mesh.own_cells[b.cells]
        mine = a.values[..., np.isin(a.cells, cells), :]
        assert mine.tobytes() == b.values.tobytes()
"""


ELEMENTS = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 3), shape="hex", perturb=0.1)

def run():
    given = mesh if comm.rank == 0 else None
    sim = unda.SEM(given, medium, degree=2, device="cpu", comm=comm)
    sim.add_source(unda.VolumeInjection((0.4, 0.2, 0.2), f=unda.ricker(6.0)))
    return sim

twin = run()
peak = twin.get("p")
for _ in range(7):
    twin.step(2)
    peak = np.maximum(peak, twin.get("p"))
many = watched(run(), "p")
many.save("sem.h5")
again = unda.load("sem.h5", comm=comm)
for sim in (many, again):
    sim.step(5)
assert many.monitors[0].values.tobytes() == peak.tobytes() and np.ptp(peak) > 0
for a, b in zip(many.monitors, again.monitors, strict=True):
    assert a.num_sample == 8 and a.values.tobytes() == b.values.tobytes()
"""


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_grids_in_processes_have_the_bits_of_one(scheme, tmp_path):
    rank_cases.passes_in_pool(2, tmp_path, BEGIN + f"SCHEME = {scheme!r}\n" + GRID)


def test_meshes_in_processes_have_the_bits_of_one(tmp_path):
    rank_cases.passes_in_pool(3, tmp_path, BEGIN + MESH)


def test_spectral_elements_in_processes_have_the_samples(tmp_path):
    rank_cases.passes_in_pool(3, tmp_path, BEGIN + ELEMENTS)
