"""A VTU file holds what the simulation holds, high orders included."""

import json

import hex_meshes
import numpy as np
import pytest
import unda
from unda.io.vtu import lattice

MESH = unda.box_mesh((0, 0, 0), (1, 2, 1), (2, 2, 1), perturb=0.2, seed=1)


def simulation(degree, mesh=MESH):
    medium = unda.Acoustic(rho=np.linspace(1, 2, mesh.num_elem), c=1.5)
    return unda.DG(mesh, medium, degree=degree, dtype="float64")


def polynomial(x, y, z):
    return 1 + x * y - 2 * z**2 + x**2 * z


@pytest.mark.parametrize("n", range(1, 9))
def test_the_lattice_fills_the_tetrahedron(n):
    points, cells = lattice(n)
    assert len(points) == (n + 1) * (n + 2) * (n + 3) // 6
    assert len(cells) == n**3
    volumes = np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]) / 6
    assert np.allclose(volumes, 1 / 6 / n**3)
    assert points.sum(axis=1).max() <= 1 + 1e-12 and points.min() >= 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_lattice_fills_the_hexahedron(n):
    points, cells = lattice(n, "hex")
    assert points.shape == ((n + 1) ** 3, 3) and cells.shape == (n**3, 8)
    x = points[cells]
    np.testing.assert_allclose(x, x[:, :1] + hex_meshes.CORNERS / n, atol=1e-15)
    assert len(np.unique(np.round(n * x[:, 0]), axis=0)) == n**3 and points.max() == 1


#: of VTK's triquadratic cell: edges 0 and 11, faces -x, +x, -y and -z, the middle, and where they are
VTK_PLACES = {
    8: (1, 0, 0),
    19: (0, 2, 1),
    20: (0, 1, 1),
    21: (2, 1, 1),
    22: (1, 0, 1),
    24: (1, 1, 0),
    26: (1, 1, 1),
}


@pytest.mark.parametrize("shape", ["tet", "hex", "curved"])
def test_a_mesh_reads_back_with_its_tags_and_quality(tmp_path, shape):
    import meshio

    mesh = unda.box_mesh(
        (0, 0, 0), (1, 2, 1), (2, 3, 2), shape="tet" if shape == "tet" else "hex", perturb=0.2
    )
    mesh = unda.Mesh(mesh.vertices, mesh.cells, tags=np.arange(mesh.num_elem) % 3)
    if shape == "curved":
        mesh = hex_meshes.turned(mesh, 1, lambda x: x + 0.02 * np.sin(3 * x[..., [1, 2, 0]]))
    mesh.write_vtu(tmp_path / "mesh.vtu")
    read = meshio.read(tmp_path / "mesh.vtu")
    kind = {"tet": "tetra", "hex": "hexahedron", "curved": "hexahedron27"}[shape]
    x = read.points[read.cells_dict[kind]]
    np.testing.assert_array_equal(x[:, : mesh.cells.shape[1]], mesh.vertices[mesh.cells])
    for name, values in [("tag", mesh.tags), ("volume", mesh.volumes), ("quality", mesh.quality)]:
        np.testing.assert_array_equal(read.cell_data[name][0], values)
    np.testing.assert_array_equal(read.cell_data["element"][0], np.arange(mesh.num_elem))
    for place, node in VTK_PLACES.items() if shape == "curved" else ():
        np.testing.assert_array_equal(x[:, place], mesh.curved[:, np.dot(node, [1, 3, 9])])


@pytest.mark.parametrize(("degree", "subdivide"), [(3, None), (3, 7), (5, 2)])
def test_fields_read_back_are_the_polynomials(tmp_path, degree, subdivide):
    import meshio

    sim = simulation(degree)
    sim.set(p=polynomial, vz=lambda x, y, z: x - y)
    sim.write_vtu(tmp_path / "wave.vtu", subdivide=subdivide)
    read = meshio.read(tmp_path / "wave.vtu")
    n = subdivide or degree
    cells = read.cells_dict["tetra"]
    assert len(cells) == MESH.num_elem * n**3
    assert np.abs(read.point_data["p"] - polynomial(*read.points.T)).max() < 1e-12
    assert np.abs(read.point_data["v"][:, 2] - (read.points[:, 0] - read.points[:, 1])).max() < 1e-12
    assert not read.point_data["v"][:, :2].any()
    corner = read.points[cells]
    volumes = np.linalg.det(corner[:, 1:] - corner[:, :1]) / 6
    assert volumes.min() > 0 and np.isclose(volumes.sum(), 2.0)
    element = read.cell_data["element"][0]
    assert np.allclose(np.bincount(element, volumes), MESH.volumes)
    assert np.array_equal(read.cell_data["rho"][0], np.linspace(1, 2, MESH.num_elem)[element])


def test_fields_on_hexahedra_are_the_polynomials_on_small_hexahedra(tmp_path):
    """Small cells are parts of trilinear ones, and trilinear themselves: their volumes add up."""
    import meshio

    mesh = hex_meshes.turned_box((2, 2, 1), upper=(1, 2, 1), seed=1)
    sim = simulation(3, mesh)
    sim.set(p=polynomial)
    sim.write_vtu(tmp_path / "wave.vtu", subdivide=4)
    read = meshio.read(tmp_path / "wave.vtu")
    assert np.abs(read.point_data["p"] - polynomial(*read.points.T)).max() < 1e-12
    cells = unda.Mesh(read.points, read.cells_dict["hexahedron"])
    element = read.cell_data["element"][0]
    np.testing.assert_array_equal(element, np.repeat(np.arange(mesh.num_elem), 64))
    np.testing.assert_allclose(np.bincount(element, cells.volumes), mesh.volumes, rtol=1e-12)


def test_it_says_when_and_with_what(tmp_path):
    import meshio

    sim = simulation(2)
    sim.step(3)
    sim.write_vtu(tmp_path / "wave.vtu", fields=["p"])
    read = meshio.read(tmp_path / "wave.vtu")
    assert list(read.point_data) == ["p"]
    assert read.field_data["TimeValue"] == sim.t
    config = json.loads(bytes(read.field_data["config"].astype(np.uint8)))
    assert config == json.loads(json.dumps(sim.config))


def test_wrong_fields_and_places_are_refused(tmp_path):
    sim = simulation(1)
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.write_vtu(tmp_path / "wave.vtu", fields=["q"])
    with pytest.raises(unda.ArgumentError, match="subdivide is 0"):
        sim.write_vtu(tmp_path / "wave.vtu", subdivide=0)
    with pytest.raises(unda.FileError, match="cannot write"):
        sim.write_vtu(tmp_path / "missing" / "wave.vtu")
    assert not list(tmp_path.iterdir())
