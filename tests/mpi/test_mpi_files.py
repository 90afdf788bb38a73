"""Promises about files of processes that share a problem: one checkpoint for any number, a piece of VTU from
each.

Not here: what is in these files (io/test_checkpoint.py, io/test_vtu.py).
"""

from pathlib import Path

import pytest
import rank_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

BEGIN = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), perturb=0.2, seed=3)
def begin(**more):
    rho = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)
    sim = unda.DG(mesh, unda.Acoustic(rho=rho, c=1.0), degree=2, integrator="ab3", device="cpu", **more)
    sim.set(p=np.random.default_rng(2).uniform(-1, 1, (mesh.num_elem, sim.num_node)))
    sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(2.0)))
    sim.add_receivers([(0.5, 0.5, 0.5), (0.2, 0.3, 0.4)])
    return sim
"""
GO_ON = "sim = unda.load('{0}.h5', comm=comm); sim.step(2); sim.save('{1}.h5')"
END = """
sim = unda.load('c.h5', comm=comm)
sim.step(1)
one = begin()
one.step(9)
for name in sim.fields:
    whole = sim.get(name, gather=True)
    assert not first or whole.tobytes() == one.get(name).tobytes()
    assert sim.receivers[0][name].tobytes() == one.receivers[0][name].tobytes()
"""


def test_a_checkpoint_goes_on_in_any_number_of_processes(tmp_path):
    """One wrote it, three go on, then two; and one without MPI reads what they wrote."""
    run(1, tmp_path, BEGIN + "sim = begin(comm=comm); sim.step(4); sim.save('a.h5')")
    run(3, tmp_path, GO_ON.format("a", "b"))
    run(2, tmp_path, GO_ON.format("b", "c"))
    run(2, tmp_path, BEGIN + END)
    run(1, tmp_path, BEGIN + END.replace(", comm=comm", ""))


PIECES = """
sim = begin(comm=comm)
sim.step(2)
sim.write_vtu("wave.pvtu", series="wave.pvd")
try:
    sim.write_vtu("wave.vtu")
except unda.ArgumentError as error:
    assert "ends in .pvtu" in str(error)
else:
    raise AssertionError
"""


def test_each_process_writes_a_piece_of_what_paraview_opens(tmp_path):
    vtk = pytest.importorskip("meshio")
    run(2, tmp_path, BEGIN + PIECES)
    text = (tmp_path / "wave.pvtu").read_text()
    assert text.count("<Piece Source=") == 2 and 'Name="v"' in text and "PUnstructuredGrid" in text
    assert "wave.pvtu" in (tmp_path / "wave.pvd").read_text()
    pieces = [vtk.read(tmp_path / f"wave_{i}.vtu") for i in (0, 1)]
    elements = sorted({int(i) for one in pieces for i in one.cell_data["element"][0]})
    assert elements == list(range(72))
    assert all(f'Name="{name}"' in text for name in (*pieces[0].point_data, *pieces[0].cell_data))


def test_the_example_agrees_with_one_process(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples" / "mpi_earthquake.py"
    done = rank_cases.start(2, example, "--quick", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 processes" in done.stdout and "bit for bit" in done.stdout
    assert (tmp_path / "mpi_earthquake.npz").is_file() and (tmp_path / "mpi_earthquake_1.vtu").is_file()
