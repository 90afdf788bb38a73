"""Promises about checks and warnings of processes: the findings of one process, told once.

Not here: what is found (method/test_check.py).
"""

import pytest
import rank_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

FINDINGS = """
import warnings

def seen(make):
    \"\"\"What check() says, and the warnings of the first steps.\"\"\"
    sim = make()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim.run(steps=1)
        sim.run(steps=1)
    return repr(sim.check()), [str(one.message) for one in told]

def same(make, *words):
    (text, told), alone = seen(lambda: make(comm=comm)), seen(make)
    assert text == alone[0], (text, alone[0])
    assert told == (alone[1] if first else []) and len(alone[1]) > 0, told
    assert all(word in text for word in words), text
    assert comm.allgather(text) == [text] * comm.size
"""
DG = """
tets = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.1, seed=2)
tets = unda.Mesh(
    tets.vertices, tets.cells, tags=(tets.centroids[:, 0] > 0.5).astype(int), tag_names={"rock": 0, "sea": 1}
)
hexes = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex", perturb=0.3, seed=2)

def sound(**more):
    \"\"\"Long cells, a source at a receiver, a medium that varies in cells, exact data of another one.\"\"\"
    medium = unda.Acoustic(rho=1.0, c=lambda x, y, z: 1.0 + 0.3 * x, per="node")
    mode = unda.exact.rigid_box_mode(unda.Acoustic(rho=1.0, c=1.0), tets.lower, tets.upper, n=(1, 1, 0))
    sim = unda.DG(tets, medium, degree=1, boundary={"*": mode}, device="cpu", **more)
    sim.add_source(unda.VolumeInjection((0.4, 0.45, 0.5), unda.ricker(2.0)))
    sim.add_receivers([(0.45, 0.45, 0.5)])
    return sim

same(sound, "rock: ", "sea: ", "vary within cells", "an exact solution of", "cells from source 0")

def solid(**more):
    \"\"\"A fluid in it, and receivers there of what is zero; degree 1 on warped hexahedra.\"\"\"
    wet = hexes.centroids[:, 2] > 0.6
    medium = unda.Elastic(rho=2.0, vp=3.0, vs=np.where(wet, 0.0, 0.01))
    sim = unda.DG(hexes, medium, degree=1, boundary={"*": "free"}, device="cpu", **more)
    sim.add_source(unda.PointForce((0.4, 0.45, 0.2), unda.ricker(2.0), (0, 0, 1)))
    sim.add_receivers([(0.5, 0.5, 0.8), (0.7, 0.7, 0.9)], ["sxy"])
    sim.add_receivers([(0.5, 0.5, 1.0)], ["szz"])
    return sim

same(solid, "in a fluid", "on the free boundary", "degree 1 on warped", "is that a fluid?")

def lossy(**more):
    \"\"\"A good conductor, in the last cell.\"\"\"
    sigma = np.zeros(162)
    sigma[161] = 3e3
    medium = unda.Maxwell(eps=1.0, mu=1.0, sigma=sigma)
    sim = unda.DG(tets, medium, degree=2, boundary={"*": "pec"}, device="cpu", **more)
    sim.add_receivers([(0.5, 0.5, 0.5)])
    return sim

same(lossy, "conduction in cell 161", "there is no source")
"""


def test_what_dg_finds_is_what_one_process_finds_and_is_told_once(tmp_path):
    run(2, tmp_path, FINDINGS + DG)


SEM = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex", perturb=0.2, seed=2)
wet = mesh.centroids[:, 2] > 0.6

def make(**more):
    medium = unda.Elastic(rho=2.0, vp=3.0, vs=np.where(wet, 0.0, 1.0))
    sim = unda.SEM(mesh, medium, degree=2, boundary={"*": "free"}, device="cpu", **more)
    sim.add_source(unda.PointForce((0.4, 0.45, 0.2), unda.ricker(2.0), (0, 0, 1)))
    sim.add_receivers([(0.5, 0.5, 0.8), (0.7, 0.7, 0.9)], ["sxy"])
    sim.add_receivers([(0.41, 0.45, 0.2)], ["uz"])
    return sim

same(make, "in a fluid", "nodes in the shortest", "run ", "cells from source 0")
"""
FD = """
grid = unda.Grid((40, 9, 8), 10.0)
c = np.random.default_rng(1).uniform(1000, 3000, grid.shape)

def make(**more):
    medium = unda.Elastic(rho=2000.0, vp=2 * c, vs=c)
    sim = unda.FD(grid, medium, scheme="staggered", boundary={"*": unda.CPML(5), "zmax": "free"},
                  layer="cpml", device="cpu", **more)
    sim.add_source(unda.PointForce((51.0, 44.0, 33.0), unda.ricker(60.0), (0, 0, 1)))
    sim.add_receivers([(350.0, 40.0, 70.0)], ["szz"])
    return sim

same(make, "may grow without bound", "nodes in the shortest wavelength", "on the free boundary")
"""


def test_what_sem_and_fd_find_is_what_one_process_finds_and_is_told_once(tmp_path):
    run(2, tmp_path, FINDINGS + SEM + FD)


ERRORS = """
import warnings
from rank_cases import all_raise
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 2))
sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu", comm=comm)
sim.add_receivers([(0.5, 0.5, 0.5)])
if first:
    warnings.simplefilter("error", unda.AccuracyWarning)
kinds = unda.Error, unda.AccuracyWarning
for _ in range(2):  # it is not forgotten that nobody was told
    all_raise(kinds, "there is no source", lambda: sim.run(steps=5))
warnings.simplefilter("ignore")
sim.run(steps=5)
assert sim.step_count == 5

class Changing(unda.DG):
    def check(self):
        return super().check() if first else 1 / 0
sim = Changing(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu", comm=comm)
all_raise((unda.Error, ZeroDivisionError), "division by zero", lambda: sim.run(steps=5))
sim.step(1)
"""


def test_a_warning_that_is_an_error_in_one_process_is_one_of_all(tmp_path):
    """And so is a check that fails in the others: nobody waits for messages of a step."""
    run(2, tmp_path, ERRORS, seconds=30)
