"""Promises about absorbing layers of meshes that processes share: what one process has.

Layers are added before the mesh is parted, or are cells of a tag. Not here: layers themselves
(dg/test_dg_layers.py, sem/test_sem_layers.py).
"""

import pytest
import rank_cases
from test_mpi_results import run

pytest.importorskip("mpi4py")
pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(rank_cases.MPIEXEC is None, reason="there is no mpiexec"),
]

DG = """
same = {"degree": 2, "device": "cpu"}

def plain(shape, cells=(3, 2, 2), **more):
    return unda.box_mesh((0, 0, 0), (0.75, 0.5, 0.5), cells, shape=shape, **more)

def go(sim, steps=7):
    sim.set(p=lambda x, y, z: np.exp(-20 * ((x - 0.3) ** 2 + y**2 + z**2)))
    sim.add_source(unda.VolumeInjection((0.4, 0.2, 0.3), unda.ricker(1.0)))
    sim.add_source(unda.VolumeInjection((0.0, 0.2, 0.5), unda.ricker(2.0)))  # where layers begin
    sim.add_receivers([(0.3, 0.2, 0.3)], ["p", "vz"])
    sim.step(steps)
    return sim

def alike(sim, one):
    assert sim.ranks.size == comm.size and sim.mesh.num_whole == one.mesh.num_elem
    assert sim.dt == one.dt and sim.energy() == one.energy() and str(sim._layers) == str(one._layers)
    for field in one.fields:
        assert sim.get(field).tobytes() == one.get(field)[sim.mesh.own_cells].tobytes(), field
        assert sim.receivers[0]["p"].tobytes() == one.receivers[0]["p"].tobytes()
    assert sim.config["layers"] == one.config["layers"] and sim.config["boundary"] == one.config["boundary"]

tag = lambda mesh: (mesh.centroids[:, 0] < 0.25).astype(int)
sides = {"xmin": unda.CPML(f0=1.5), "zmax": unda.CPML(thickness=0.5), "*": "rigid"}
"""

ADDED = """
for shape in ("hex", "tet"):
    one = go(unda.DG(plain(shape), unda.Acoustic(rho=1.0, c=1.0), boundary=sides, **same))
    assert one.mesh.num_elem > plain(shape).num_elem
    sim = unda.DG((lambda: plain(shape)) if first else None, unda.Acoustic(rho=1.0, c=1.0),
                  boundary=sides, comm=comm, **same)
    alike(go(sim), one)

# materials by cell, of the mesh without layers, in process 0 alone or in all; any parts
mesh = plain("hex")
rho = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)
one = go(unda.DG(mesh, unda.Acoustic(rho=rho, c=1.0), boundary=sides, **same))
for everywhere in (True, False):
    medium = unda.Acoustic(rho=rho, c=1.0) if first or everywhere else None
    part = unda.Partition(mesh, np.arange(mesh.num_elem) % comm.size) if everywhere else "curve"
    sim = unda.DG(mesh, medium, boundary=sides, comm=comm, partition=part, **same)
    alike(go(sim), one)
    if everywhere:  # cells that were added go with those beside them
        given = sim.mesh.own_cells[sim.mesh.own_cells < mesh.num_elem]
        assert set((given % comm.size).tolist()) == {comm.rank} and len(given) < sim.mesh.num_owned

# the mesh was scattered without layers: it is scattered again
sim = unda.DG(unda.scatter(mesh, comm), medium, boundary=sides, **same)
alike(go(sim), one)
field = np.random.default_rng(2).standard_normal((mesh.num_elem, sim.num_node))
for each in (sim, one):
    each.set(vx=field)  # of cells as they were given; zeros in layers
assert sim.get("vx").tobytes() == one.get("vx")[sim.mesh.own_cells].tobytes()
for each in (sim, one):
    each.set(lambda x, y, z, t: {"p": x + y, "vz": np.sin(z)})
for field in ("p", "vz"):
    assert sim.get(field).tobytes() == one.get(field)[sim.mesh.own_cells].tobytes()
zero = lambda x, y, z, t: dict.fromkeys(one.fields, 0 * x)
errors = [each.error(zero) for each in (sim, one)]
assert errors[0] == errors[1] and errors[0]["p"] > 0
"""

TAGGED = """
from rank_cases import all_raise
base = plain("hex", (6, 2, 2))
mesh = unda.Mesh(base.vertices, base.cells, tags=tag(base), tag_names={"layer": 1, "rock": 0},
                 boundaries={name: base.boundary_faces[base.boundary_ids == i]
                             for i, name in enumerate(base.boundary_names)})
boundary = {"xmin": unda.CPML(f0=1.5, tag="layer"), "*": "rigid"}
media = [unda.Acoustic(rho=np.where(mesh.centroids[:, 0] < x, 2.0, 1.0), c=1.0) for x in (0.0, 0.25)]
# one process has the layer, whose cells it must compare with those of others
part = unda.Partition(mesh, np.where(tag(mesh), 0, 1 + np.arange(mesh.num_elem) % (comm.size - 1)))
for varies, medium in enumerate(media):
    one = unda.DG(mesh, medium, boundary=boundary, **same)
    for given in (mesh if first else None, unda.scatter(mesh, comm)):
        parted = given if isinstance(given, unda.Mesh) and hasattr(given, "ranks") else None
        parts = {"partition": part} if parted is None else {}
        sim = unda.DG(given, medium, boundary=boundary, comm=comm, **same, **parts)
        assert parted is None or sim.mesh is parted  # no cells were added
        found, want = ([w for w in each.check().warnings if "the layer at" in w] for each in (sim, one))
        assert found == want and ("medium in the layer" in str(want)) == bool(varies), found
        alike(go(sim), go(unda.DG(mesh, medium, boundary=boundary, **same)))

def make(side, where=mesh):
    return lambda: unda.DG(where if first else None, media[0], boundary=side, comm=comm, **same)

all_raise(unda.ArgumentError, "expected one of some cells", make({"*": unda.CPML(tag="salt")}))
all_raise(unda.ArgumentError, "mesh is None in process 0", make({"*": unda.CPML(f0=1.0)}, None))
"""


@pytest.mark.parametrize("num", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_layers_that_are_added_and_cells_of_a_tag_have_the_bits_of_one_process(num, tmp_path):
    run(num, tmp_path, DG + ADDED + TAGGED)


BEGIN = """
mesh, medium = plain("hex") if first else None, unda.Acoustic(rho=1.0, c=1.0)
sim = go(unda.DG(mesh, medium, boundary=sides, comm=comm, **same), 4)
sim.save("a.h5")
"""
GO_ON = """
one = go(unda.DG(plain("hex"), unda.Acoustic(rho=1.0, c=1.0), boundary=sides, **same), 9)
sim = unda.load("a.h5", comm=comm)
sim.step(5)
alike(sim, one)
"""


@pytest.mark.slow
def test_a_checkpoint_goes_on_with_its_memory_variables_in_other_processes(tmp_path):
    run(3, tmp_path, DG + BEGIN)
    run(2, tmp_path, DG + GO_ON)


SEM = """
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 3), shape="hex")
tagged = unda.Mesh(mesh.vertices, mesh.cells, tags=(mesh.centroids[:, 0] < 0.5).astype(int),
                   boundaries={name: mesh.boundary_faces[mesh.boundary_ids == i]
                               for i, name in enumerate(mesh.boundary_names)})
rho = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)
for where, sides in (
    (mesh, {"xmin": unda.Damping(thickness=0.5, f0=1.0), "zmin": unda.Damping(f0=4.0), "*": "free"}),
    (tagged, {"xmin": unda.Damping(tag=1, f0=1.0), "*": "free"}),
):
    def make(given, medium, **more):
        sim = unda.SEM(given, medium, degree=2, boundary=sides, dtype="float64", device="cpu", **more)
        sim.set(ux=lambda x, y, z: np.sin(3 * x + y))
        sim.step(6)
        return sim
    medium = unda.Elastic(rho=rho, vp=1.5, vs=0.8)
    one = make(where, medium)
    for given in (where if first else None, unda.scatter(where, comm)):
        sim = make(given, medium if first else None, comm=comm)
        assert sim.mesh.num_whole == one.mesh.num_elem and sim.config["boundary"] == one.config["boundary"]
        assert abs(sim.dt - one.dt) < 1e-9 * one.dt
        for field in one.fields:
            want = one.get(field)[sim.mesh.own_cells]
            assert np.abs(sim.get(field) - want).max() <= 1e-10 * np.abs(one.get(field)).max(), field
"""


def test_damping_layers_of_spectral_elements_are_those_of_one_process(tmp_path):
    """To rounding in float64: 6 steps of sums in another order, the stable step to 1e-9."""
    run(2, tmp_path, SEM)
