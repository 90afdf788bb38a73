"""Promises about hexahedra in Gmsh files: 8 and 27 nodes in all formats, the rest refused with advice."""

from pathlib import Path

import numpy as np
import pytest
import unda

MESHES = Path(__file__).resolve().parents[1] / "meshes"
#: of a quarter of a ring, radii 1 and 2, 0.75 high
VOLUME = np.pi / 4 * 3 * 0.75


@pytest.mark.parametrize("kind", ["ring_22_ascii", "ring_41_binary", "ring_27_22_binary", "ring_27_41_ascii"])
def test_cells_groups_and_sides_are_those_of_the_file(kind):
    mesh = unda.read_mesh(MESHES / f"{kind}.msh")
    assert (mesh.num_elem, mesh.num_vertex, mesh.shape) == (12, 36, "hex")
    assert mesh.tag_names == {"rock": 7, "sand": 8}
    assert set(mesh.boundary_names) == {"bottom", "top", "sides"}
    np.testing.assert_array_equal(mesh.centroids[:, 2] > 0.5, mesh.tags == 8)
    top = mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index("top")]
    assert len(top) == 6
    np.testing.assert_allclose(mesh.vertices[top][..., 2], 0.75, rtol=1e-14)


@pytest.mark.parametrize("kind", ["ring_27_22_binary", "ring_27_41_ascii"])
def test_27_nodes_make_cells_that_follow_the_ring(kind):
    """A quadratic arc of 30 degrees through three points of a circle is off by less than 1e-4 of it."""
    mesh = unda.read_mesh(MESHES / f"{kind}.msh")
    radius = np.hypot(mesh.curved[..., 0], mesh.curved[..., 1]).reshape(12, 3, 3, 3)
    np.testing.assert_allclose(radius.min(), 1, rtol=1e-12)
    np.testing.assert_allclose(radius.max(), 2, rtol=1e-12)
    assert abs(mesh.volume / VOLUME - 1) < 2e-4
    straight = unda.read_mesh(MESHES / f"{kind}.msh", linearize=True)
    assert straight.curved is None and straight.volume / VOLUME < 0.96
    angle = np.linspace(0.01, np.pi / 2 - 0.01, 50)
    for r, inside in [(1.002, True), (1.998, True), (0.99, False), (2.01, False)]:
        points = np.stack([r * np.cos(angle), r * np.sin(angle), np.full(50, 0.3)], axis=1)
        assert ((mesh.locate(points)[0] >= 0) == inside).all()
    assert (straight.locate(points * [0.998 / 1.005, 0.998 / 1.005, 1])[0] < 0).any()


def test_all_formats_give_the_same_cells():
    """Written by one run each of Gmsh, whose last bits differ."""
    one, other = (unda.read_mesh(MESHES / f"ring_{kind}.msh") for kind in ("22_ascii", "41_binary"))
    np.testing.assert_array_equal(one.cells, other.cells)
    np.testing.assert_allclose(one.vertices, other.vertices, atol=1e-14)
    one, other = (unda.read_mesh(MESHES / f"ring_27_{kind}.msh") for kind in ("22_binary", "41_ascii"))
    np.testing.assert_allclose(one.curved, other.curved, atol=1e-14)


def test_20_nodes_are_refused_unless_linearized():
    with pytest.raises(unda.MeshError, match=r"20 nodes.*SecondOrderIncomplete = 0, or pass linearize=True"):
        unda.read_mesh(MESHES / "ring_20.msh")
    mesh = unda.read_mesh(MESHES / "ring_20.msh", linearize=True)
    np.testing.assert_allclose(mesh.volume, unda.read_mesh(MESHES / "ring_22_ascii.msh").volume, rtol=1e-14)


def test_cells_of_8_and_of_27_nodes_together_are_refused(tmp_path):
    nodes = "".join(f"{i + 1} {i % 3} {i // 3 % 3} {i // 9}\n" for i in range(27))
    cells = [f"1 12 2 1 1 {' '.join(str(i + 1) for i in range(27))}", "2 5 2 1 1 1 2 5 4 10 11 14 13"]
    path = tmp_path / "mesh.msh"
    path.write_text(
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n27\n{nodes}$EndNodes\n"
        f"$Elements\n2\n{cells[0]}\n{cells[1]}\n$EndElements\n"
    )
    with pytest.raises(
        unda.MeshError, match="cells of 8 and of 27 nodes; save all with gmsh -order 2, or pass"
    ):
        unda.read_mesh(path)


def test_mixed_cells_are_counted_and_refused():
    with pytest.raises(unda.MeshError, match=r"mixed cells: 1 hexahedron and 1 wedge; a mesh has"):
        unda.read_mesh(MESHES / "mixed.msh")


def test_inner_surfaces_are_ignored_and_logged(caplog):
    with caplog.at_level("INFO", logger="unda"):
        unda.read_mesh(MESHES / "ring_22_ascii.msh")
    assert any("'interface': ignored 6 faces" in record.getMessage() for record in caplog.records)


def test_triangles_on_hexahedra_are_refused(tmp_path):
    text = (MESHES / "ring_22_ascii.msh").read_text()
    line = next(one for one in text.splitlines() if one.split()[1:4] == ["3", "2", "2"])
    words = line.split()
    path = tmp_path / "mesh.msh"
    path.write_text(text.replace(line, " ".join([words[0], "2", *words[2:8]])))
    with pytest.raises(
        unda.MeshError, match="1 triangle among the faces, but the cells are hexahedra, whose"
    ):
        unda.read_mesh(path)
