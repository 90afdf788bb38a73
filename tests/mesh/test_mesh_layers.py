"""Layers of cells outside a mesh: conforming, of the right size, with tags and names of those beside."""

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError, MeshError
from unda.problem.mesh_layers import extended

LAYERS = {"xmin": 1.0, "ymax": 0.5, "zmin": 0.75}


def box(shape, **options):
    return unda.box_mesh((0, 0, 0), (2, 1, 1), (4, 2, 2), shape=shape, **options)


@pytest.mark.parametrize("shape", ["tet", "hex"])
@pytest.mark.parametrize("perturb", [0.0, 0.2])
def test_layers_fill_the_larger_box_and_conform(shape, perturb):
    """`Mesh` refuses faces that do not meet; volumes add up, and no outer face is off the larger box."""
    mesh = box(shape, perturb=perturb)
    whole, parents = extended(mesh, LAYERS)
    assert whole.lower == (-1.0, 0.0, -0.75) and whole.upper == (2.0, 1.5, 1.0)
    assert whole.volume == pytest.approx(3.0 * 1.5 * 1.75, rel=1e-12)
    assert whole.num_elem == (4 + 2) * (2 + 1) * (2 + 2) * (6 if shape == "tet" else 1)
    assert (parents[: mesh.num_elem] == np.arange(mesh.num_elem)).all() and parents.max() < mesh.num_elem
    assert np.abs(whole.centroids[: mesh.num_elem] - mesh.centroids).max() < 1e-15
    ends = {"xmin": -1.0, "xmax": 2.0, "ymin": 0.0, "ymax": 1.5, "zmin": -0.75, "zmax": 1.0}
    for i, name in enumerate(whole.boundary_names):
        x = whole.vertices[whole.boundary_faces[whole.boundary_ids == i]][..., "xyz".index(name[0])]
        assert (x == ends[name]).all(), name


def test_tags_go_on_along_the_axes():
    mesh = box("hex")
    sides = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    layered = unda.Mesh(
        mesh.vertices, mesh.cells, tags=(mesh.centroids[:, 2] > 0.5) + 3, tag_names={"rock": 3, "sea": 4},
        boundaries=sides,
    )  # fmt: skip
    whole = layered.extended(LAYERS)
    assert ((whole.centroids[:, 2] > 0.5) + 3 == whole.tags).all()
    assert whole.tag_names == {"rock": 3, "sea": 4}


def test_periodic_sides_stay_joined():
    mesh = box("tet", periodic=(False, True, False))
    whole = mesh.extended({"xmax": 1.0})
    assert whole.periodic == mesh.periodic and whole.num_elem == 6 * 6 * 4
    assert (whole.neighbors < 0).sum() == (mesh.neighbors < 0).sum() + 6 * 2 * 2 * 2 * 2 // 6


def test_waves_are_those_of_the_larger_box():
    """The same cells in another order: SEM agrees to rounding, whatever damps in the layer."""
    mesh, medium = box("hex"), unda.Acoustic(rho=1.0, c=1.0)
    large = unda.box_mesh((-1, 0, 0), (2, 1, 1), (6, 2, 2), shape="hex")
    found = []
    for one in (mesh.extended({"xmin": 1.0}), large):
        sim = unda.SEM(
            one, medium, degree=3, dtype="float64", dt=0.02, device="cpu",
            boundary={"xmin": unda.Damping(thickness=1.0, outside=False), "*": "rigid"},
        )  # fmt: skip
        sim.add_source(unda.VolumeInjection((0.4, 0.3, 0.6), unda.ricker(1.0)))
        rec = sim.add_receivers([(1.2, 0.7, 0.2), (-0.4, 0.3, 0.3)])
        sim.step(60)
        found.append(rec["p"])
    assert np.abs(found[0] - found[1]).max() < 1e-12 * np.abs(found[1]).max()
    assert np.abs(found[0] - 1.0001 * found[1]).max() > 1e-12 * np.abs(found[1]).max()


def test_what_cannot_be_pushed_out_is_refused():
    mesh = box("hex", periodic=(False, True, False))
    for layers, expected in (
        ({"top": 1.0}, r"names \['top'\]"), ({"ymin": 1.0}, r"names \['ymin'\]"), ({"xmin": 0.0}, "layers"),
        (["xmin"], "expected a dict"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=expected):
            mesh.extended(layers)
    x, y, z = np.meshgrid(*[np.linspace(0, 1, 3)] * 3, indexing="ij")
    with pytest.raises(ArgumentError, match="does not lie in a plane"):
        unda.mapped_mesh(x, y, z * (1 + 0.1 * x)).extended({"zmax": 1.0})
    x, y, z = np.meshgrid(*[np.linspace(0, 1, 5)] * 3, indexing="ij")
    with pytest.raises(MeshError, match="curved"):
        unda.mapped_mesh(x, y, z, curved=True).extended({"zmax": 1.0})
