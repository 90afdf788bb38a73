"""Promises about pictures and films of processes: values of one process, whole in each; process 0 draws.

Not here: where a plane lies, and how it is drawn (method/test_slices.py, io/test_movie.py).
"""

import pytest
import rank_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytest.importorskip("matplotlib")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

SLICES = """
import pathlib
from rank_cases import all_raise
rng = np.random.default_rng(1)
tets = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.1, seed=2)
hexes = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex", perturb=0.2, seed=2)
grid = unda.Grid((20, 9, 8), 0.05)
state = -rng.uniform(0, 1, grid.shape)
cells, nodes = rng.uniform(1, 2, tets.num_elem), rng.uniform(1, 2, grid.shape)

def dg(**more):
    sim = unda.DG(tets, unda.Acoustic(rho=1.0, c=cells), degree=2, device="cpu", **more)
    sim.set(p=lambda x, y, z: np.sin(9 * x + 5 * y + 3 * z))
    return sim

def sem(**more):
    sim = unda.SEM(hexes, unda.Acoustic(rho=1.0, c=1.0), degree=3, dtype="float64", device="cpu", **more)
    sim.set(chi=lambda x, y, z: np.sin(9 * x + 5 * y + 3 * z))
    return sim

def fd(scheme):
    def make(**more):
        options = {"scheme": scheme, "boundary": {"*": "rigid", "zmax": "free"}, "device": "cpu"}
        sim = unda.FD(grid, unda.Acoustic(rho=1.0, c=nodes), **options, **more)
        sim.set(p=state)
        return sim
    return make

def planes(sim, fields):
    for field in fields:
        for axis, place in enumerate((0.51, 0.34, 0.13)):
            yield sim._plane(field, axis, place, 20)

def same(make, *fields, close=0.0):
    sim, one = make(comm=comm), make()
    for each in (sim, one):
        each.step(2)
    for plane, alone in zip(planes(sim, fields), planes(one, fields), strict=True):
        found, values = plane.read(), alone.read()
        if close:
            assert np.abs(found - values).max() <= close * np.abs(values).max() and values.any()
        else:
            assert found.tobytes() == values.tobytes() and values.any()
        assert plane.material("c").tobytes() == alone.material("c").tobytes()
        assert (plane.place, plane.extent) == (alone.place, alone.extent)
    return sim
"""
RUNS = """
same(fd("scalar"), "p")
same(fd("staggered"), "p", "vx")
same(sem, "chi", "vx", close=1e-12)  # after ten steps (docs/scaling.md)
sim = same(dg, "p", "vx", "divergence")
picture = sim.plot_slice("p", y=0.34, background="c", num=20)
assert first == (picture is not None)
times = sim.movie(f"film{comm.rank}.gif", "p", y=0.34, steps=4, every=4, num=20, dpi=40)
assert len(times) == 2 and times[-1] == sim.t
files = sorted(one.name for one in pathlib.Path().glob("film*"))
assert files == ["film0.gif"], files
all_raise(unda.ArgumentError, "x is 7.0 m and meets no cell", lambda: sim.plot_slice("p", x=7.0))
all_raise((unda.Error, FileNotFoundError), "no folder", lambda: sim.movie(
    "film.gif" if comm.rank else "none/film.gif", "p", y=0.3, steps=2))
def nothing():
    raise OSError("no screen")
if first:
    import matplotlib.pyplot
    matplotlib.pyplot.subplots = lambda *_, **__: nothing()
all_raise((unda.Error, OSError), "no screen", lambda: sim.plot_slice("p", x=0.5))
sim.step(1)  # a failure is over once all have raised
"""


def test_slices_are_those_of_one_process_and_process_0_draws(tmp_path):
    run(2, tmp_path, "import matplotlib\nmatplotlib.use('Agg')" + SLICES + RUNS)
