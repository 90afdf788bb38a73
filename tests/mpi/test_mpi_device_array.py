"""Promises about copies of fields on the devices of processes: each has what it would read."""

import pytest
import rank_cases

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

COPIES = """
import ctypes, os, cuda_device, numpy as np
from mpi4py import MPI
real = cuda_device.prepare()
import unda

def host_bytes():
    return 0 if real else ctypes.CDLL(os.environ["UNDA_LIBCUDA"]).emu_host_bytes()

mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 2, 2), shape="hex")
tets = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
fluid = unda.Elastic(rho=2.0, vp=3.0, vs=np.where(mesh.centroids[:, 0] > 0.5, 0.0, 1.5))
sound, solid = unda.Acoustic(rho=1.0, c=1.0), unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
same = {"comm": MPI.COMM_WORLD, "device": "cuda:0", "transport": "host"}
sides = {"xmax": "free", "*": "free"}
sims = [
    (unda.DG(tets, sound, degree=1, kernel="fused", **same), "p", "p"),
    (unda.SEM(mesh, solid, degree=2, **same), "uy", "uy"),
    (unda.SEM(mesh, fluid, degree=2, **same), "chi", "chi_t"),  # the first has no fluid
    (unda.SEM(mesh, fluid, degree=2, **same), "uz", "uz"),  # through the host
    (unda.FD(unda.Grid((19, 7, 8), 10.0), solid, scheme="staggered", boundary=sides, **same), "sxz", "sxz"),
]
for sim, given, field in sims:
    sim.set(**{given: lambda x, y, z: np.sin(1 + x + 10 * y + 100 * z)})
    sim.step(2)
    sim.device_array(field)
    before = host_bytes()
    found = sim.device_array(field)
    assert real or (host_bytes() == before) == (field != "uz"), field
    want = sim.get(field)
    assert found.shape == want.shape and found.numpy().tobytes() == want.tobytes(), field
    assert sim.ranks.comm.allreduce(int(want.any())), field
"""


@pytest.mark.gpu_or_stand_in
@pytest.mark.slow
def test_each_process_copies_what_it_has_on_its_device(tmp_path):
    rank_cases.passes(2, tmp_path, COPIES)
