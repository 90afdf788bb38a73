"""Shots, arrays, topography, displacements, strains and fibres of several processes are those of one.

Not here: what they are (test_shots.py, test_displacement_and_strain.py, test_arrays.py).
"""

import pytest
import rank_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

SHOTS = """
import warnings
import numpy as np, unda
from mpi4py import MPI

warnings.simplefilter("ignore")
comm = MPI.COMM_WORLD
rock = unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
mesh = unda.box_mesh((0, 0, 0), (2.85, 1.05, 1.05), (6, 3, 3), shape="hex")

def make(kind, **more):
    if kind == "FD":
        grid = unda.Grid((20, 8, 8), 0.15)
        return unda.FD(grid, rock, scheme="staggered", boundary={"*": "free"}, device="cpu", **more)
    on = unda.scatter(mesh if comm.rank == 0 else None, **more) if more else mesh
    return getattr(unda, kind)(on, rock, degree=3, boundary={"*": "free"}, device="cpu")

def traces(kind, **more):
    sim, rng = make(kind, **more), np.random.default_rng(1)
    sent = [unda.Array(rng.uniform(0.2, 0.8, (20, 3)), unda.ricker(2.0, 0.1), weights=rng.normal(size=20),
                       delays=rng.uniform(0, 0.05, 20), direction=(1, 2, 0)) for _ in range(2)]
    sim.add_receivers([(0.3, 0.4), (2.2, 0.5)], ["displacement", "strain"], on="top", depth=0.1, every=2)
    fibre = sim.add_fibre([(0.3, 0.5, 0.5), (2.6, 0.5, 0.6)], gauge=0.5, spacing=0.4)
    made = [one[field] for shot in sim.shots(sent, steps=12) for one in shot for field in one.fields]
    sim.reset()
    sim.remove_receivers(fibre)
    moved = sim.move_receivers(sim.receivers[0], [(0.4, 0.4, 0.4)])
    sim.run(steps=5)
    return made + [moved[field] for field in moved.fields]

for kind, near in {"DG": 0.0, "SEM": 1e-5, "FD": 0.0}.items():
    shared, alone = traces(kind, comm=comm), traces(kind)
    scale = max(np.abs(one).max() for one in alone)
    assert scale > 0.0 and len(shared) == len(alone) == 31
    for one, other in zip(shared, alone):
        assert np.abs(one - other).max() <= near * np.abs(other).max(), (kind, np.abs(one - other).max())
"""


def test_shots_and_what_they_record_are_those_of_one_process(tmp_path):
    rank_cases.passes_in_pool(2, tmp_path, SHOTS)
