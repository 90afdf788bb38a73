"""Promises about tune=True in processes: one measures, all take its choice, and have the bits of one process.

Not here: what is measured, and remembered (gpu/test_devices.py).
"""

import pytest
from test_mpi_nccl import passes, pytestmark

__all__ = ["pytestmark"]

TUNE = """
from unda.method import tune
lib, measured = unda._core.lib, []
tune._OTHERS = dict.fromkeys(tune._OTHERS, lambda n: ()) | {lib.UNDA_TUNED_BY_HALF: lambda n: (2 * n,)}
tune._cuda.cache_dir = lambda: os.path.join(os.path.dirname(__file__), f"cache{comm.rank}")
def seconds(sim):
    measured.append((sim.mesh.num_elem, sim.config["kernel_options"]))
    return 1.0 if len(measured) == 2 else 2.0
tune._stage_seconds = seconds

# Cells of process 0 are boxes, the others are warped: another metric, which kernels are compiled for.
plain = unda.box_mesh((0, 0, 0), (2, 1, 1), (4, 2, 2), shape="hex")
shift = 0.05 * np.maximum(plain.vertices[:, :1] - 1.0, 0.0) * np.sin(9.0 * plain.vertices[:, [1, 2, 0]])
mesh = unda.Mesh(plain.vertices + shift, plain.cells)
medium = unda.Acoustic(rho=1.0, c=np.random.default_rng(1).uniform(1, 2, 16))
same = {"degree": 1, "kernel": "lines", "device": f"cuda:{comm.rank}"}

sim = unda.DG(
    mesh, medium if comm.rank == 0 else None, comm=comm, tune=True,
    partition=unda.Partition(mesh, mesh.centroids[:, 0] > 1.0), transport="host", **same,
)
found = comm.allgather((sim.config["kernel"], sim.config["kernel_options"]))
assert found[0] == found[1], found
everywhere = comm.allgather({num for num, _ in measured})
assert everywhere == [{8}, set()], everywhere  # its own cells, and only there
options, told = sim.config["kernel_options"], comm.bcast([plan for _, plan in measured])
assert told[0] != told[1] == options | {"metric": "affine"}, (options, told)
assert options["metric"] != "affine"  # that of the whole mesh
assert os.path.exists(os.path.join(os.path.dirname(__file__), "cache0", "tuned.json"))

one = unda.DG(mesh, medium, kernel_options=options, **same)
for each in (sim, one):
    each.set(p=lambda x, y, z: np.sin(5 * x + y))
    each.step(2)
assert sim.get("p").tobytes() == one.get("p")[sim.mesh.own_cells].tobytes()
all_raise(unda.ArgumentError, "expected none: tune=True chooses them", lambda: unda.DG(
    mesh, medium, comm=comm, tune=True, kernel_options={"tile": 1}, **same))
"""


@pytest.mark.gpu_or_stand_in
def test_all_processes_take_what_process_0_measures_on_its_cells(tmp_path):
    passes(2, tmp_path, TUNE)
