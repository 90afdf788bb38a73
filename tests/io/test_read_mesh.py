"""Promises about Gmsh files: all four kinds read alike, a damaged one is always a MeshError."""

import logging
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import unda
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unda.errors import ArgumentError, MeshError
from unda.io.mesh_file import read_mesh
from unda.problem.mesh import box_mesh

MESHES = Path(__file__).resolve().parents[1] / "meshes"
KINDS = ["tiny_22_ascii", "tiny_22_binary", "tiny_41_ascii", "tiny_41_binary"]
CONTENT = {kind: (MESHES / f"{kind}.msh").read_bytes() for kind in KINDS}


def written(tmp_path, content):
    path = tmp_path / "mesh.msh"
    path.write_bytes(content)
    return path


def test_two_layers_have_their_materials_and_sides():
    mesh = read_mesh(unda.datasets.path("two_layers.msh"))
    assert mesh.num_elem == 1791
    assert mesh.tag_names == {"lower": 1, "upper": 2}
    assert set(mesh.boundary_names) == {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"}
    assert mesh.volumes[mesh.tags == 1].sum() == pytest.approx(600e6, rel=1e-12)
    assert mesh.volumes[mesh.tags == 2].sum() == pytest.approx(400e6, rel=1e-12)
    assert ((mesh.centroids[:, 2] > 600) == (mesh.tags == 2)).all()
    for i, name in enumerate(mesh.boundary_names):
        faces = mesh.boundary_faces[mesh.boundary_ids == i]
        place = mesh.vertices[faces][..., "xyz".index(name[0])]
        np.testing.assert_allclose(place, 0 if name.endswith("min") else 1000, atol=1e-9)


def test_a_surface_inside_the_mesh_is_ignored_and_logged(caplog):
    with caplog.at_level(logging.INFO, logger="unda"):
        mesh = read_mesh(unda.datasets.path("two_layers.msh"))
    assert "interface" not in mesh.boundary_names
    assert any("'interface': ignored" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_the_same_mesh(kind, capfd):
    mesh = read_mesh(MESHES / f"{kind}.msh")
    first = read_mesh(str(MESHES / f"{KINDS[0]}.msh"))
    assert mesh.tag_names == {"rock": 5}
    assert set(mesh.boundary_names) == {"top", "rest"}
    assert mesh.volume == pytest.approx(1, rel=1e-14)
    assert mesh.hash == first.hash
    assert mesh.hash != read_mesh(unda.datasets.path("two_layers.msh")).hash
    assert capfd.readouterr() == ("", "")


def test_curved_cells_are_refused_unless_linearized():
    path = MESHES / "tiny_quadratic.msh"
    with pytest.raises(MeshError, match="curved cells tetra10, triangle6; pass linearize=True"):
        read_mesh(path)
    mesh = read_mesh(path, linearize=True)
    assert (mesh.num_elem, mesh.num_vertex) == (24, 14)
    assert mesh.volume == pytest.approx(1, rel=1e-14)


def msh22(nodes, elements, names=""):
    """A small ASCII file of format 2.2; elements are (type, physical group, nodes...)."""
    lines = [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(nodes)]
    cells = [
        f"{i + 1} {kind} 2 {group} 1 {' '.join(map(str, vertices))}"
        for i, (kind, group, *vertices) in enumerate(elements)
    ]
    head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    if names:
        count = names.count("\n") + 1
        head += f"$PhysicalNames\n{count}\n{names}\n$EndPhysicalNames\n"
    return (
        head
        + f"$Nodes\n{len(lines)}\n"
        + "\n".join(lines)
        + "\n$EndNodes\n"
        + f"$Elements\n{len(cells)}\n"
        + "\n".join(cells)
        + "\n$EndElements\n"
    ).encode()


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
TET, TRIANGLE, WEDGE, LINE, POINT = 4, 2, 6, 1, 15


def test_groups_without_names_go_by_number_and_without_surfaces_there_is_one_boundary(tmp_path):
    mesh = read_mesh(written(tmp_path, msh22(CORNERS, [(TET, 8, 1, 2, 3, 4)])))
    assert mesh.tag_names == {"8": 8}
    assert mesh.boundary_names == ("boundary",)
    mesh = read_mesh(
        written(
            tmp_path,
            msh22(
                CORNERS,
                [
                    (TET, 8, 1, 2, 3, 4),
                    (TRIANGLE, 1, 1, 2, 3),
                    (TRIANGLE, 1, 1, 2, 4),
                    (TRIANGLE, 2, 1, 3, 4),
                    (TRIANGLE, 2, 2, 3, 4),
                ],
            ),
        )
    )
    assert mesh.boundary_names == ("1", "2")


def test_a_group_that_is_turned_round_is_the_same_group(tmp_path):
    """Gmsh writes {1, -2} of a group of two entities with a minus on the second."""
    elements = [
        (TET, -8, 1, 2, 3, 4), (TRIANGLE, 1, 1, 2, 3), (TRIANGLE, -1, 1, 2, 4),
        (TRIANGLE, -2, 1, 3, 4), (TRIANGLE, -2, 2, 3, 4),
    ]  # fmt: skip
    names = '3 8 "rock"\n2 1 "top"\n2 2 "rest"'
    mesh = read_mesh(written(tmp_path, msh22(CORNERS, elements, names)))
    assert mesh.tag_names == {"rock": 8} and mesh.tags.tolist() == [8]
    assert mesh.boundary_names == ("top", "rest")
    assert np.bincount(mesh.boundary_ids).tolist() == [2, 2]


def test_points_lines_and_unused_nodes_are_dropped(tmp_path):
    nodes = [(9, 9, 9), *CORNERS]
    elements = [(POINT, 1, 1), (LINE, 1, 1, 2), (TET, 1, 2, 3, 4, 5)]
    mesh = read_mesh(written(tmp_path, msh22(nodes, elements)))
    assert mesh.num_vertex == 4
    assert mesh.upper == (1.0, 1.0, 1.0)


def test_inverted_cells_are_refused_or_renumbered(tmp_path):
    path = written(tmp_path, msh22(CORNERS, [(TET, 1, 2, 1, 3, 4)]))
    with pytest.raises(MeshError, match="1 inverted elements, first 0"):
        read_mesh(path)
    assert read_mesh(path, fix_orientation=True).volume == pytest.approx(1 / 6)


def test_a_surface_that_leaves_outer_faces_bare_is_refused(tmp_path):
    elements = [(TET, 8, 1, 2, 3, 4), (TRIANGLE, 1, 1, 2, 3)]
    with pytest.raises(MeshError, match="3 outer faces belong to no boundary"):
        read_mesh(written(tmp_path, msh22(CORNERS, elements)))


def test_a_file_mesh_can_be_periodic():
    """Gmsh's own splits do not match side to side here: refused, and named."""
    with pytest.raises(MeshError, match=r"do not match|faces do not"):
        read_mesh(unda.datasets.path("two_layers.msh"), periodic=[("xmin", "zmax")])


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([(WEDGE, 1, 1, 2, 3, 4, 1, 2)], "1 wedge, expected tetrahedra only or hexahedra only"),
        ([(TRIANGLE, 1, 1, 2, 3)], "no tetrahedra"),
        ([(TET, 1, 1, 2, 3, 9)], r"not a Gmsh file that can be read|not in the file"),
        ([(TET, 1, 1, 2, 3, 3)], "name a vertex twice"),
    ],
)
def test_cells_that_will_not_do_are_named(tmp_path, elements, message):
    with pytest.raises(MeshError, match=message):
        read_mesh(written(tmp_path, msh22(CORNERS, elements)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "MeshFormat"),
        (b"solid cube\n", "MeshFormat"),
        (b"$MeshFormat\n9.9 0 8\n$EndMeshFormat\n", "format 9.9, expected 2.2 or 4.1"),
        (b"$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", "format 4.0, expected 2.2 or 4.1"),
        (b"$MeshFormat\n4.1 1 8\n\0\0\0\1\n$EndMeshFormat\n", "other byte order"),
        (
            b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
            r"no \$Nodes: its last section, \$MeshFormat, ends in line 3",
        ),
        (b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", r"no \$Nodes: its last section"),
        (b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n999999999999\n", "declares"),
        (b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 999999999999 1 9\n", "declares"),
        (b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n2000000000 0 0 0\n", "node number"),
    ],
)
def test_a_file_that_is_no_mesh_is_a_mesh_error(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(MeshError, match=message) as raised:
        read_mesh(path)
    assert str(path) in str(raised.value)


def test_names_in_another_encoding_are_told_from_a_damaged_file(tmp_path):
    content = CONTENT["tiny_41_ascii"]
    first = content.index(b'"') + 1
    named = content[:first] + "Größe".encode() + content[content.index(b'"', first) :]
    mesh = read_mesh(written(tmp_path, named))
    assert "Größe" in {*mesh.tag_names, *mesh.boundary_names}
    with pytest.raises(MeshError, match=r'PhysicalNames.*"Größe".*Latin-1, expected UTF-8: save'):
        read_mesh(written(tmp_path, named.decode().encode("latin-1")))


@pytest.mark.parametrize("name", ["Nodes", "Elements"])
def test_a_second_section_is_told_by_its_line(tmp_path, name):
    content = CONTENT["tiny_41_ascii"].decode()
    begin, end = content.index(f"${name}\n"), content.index(f"$End{name}\n")
    second = content[:end] + f"$End{name}\n" + content[begin:]
    line = content.count("\n", 0, end) + 2
    message = rf"line {line} begins a second section [$]{name}, the first ends in line"
    with pytest.raises(MeshError, match=message):
        read_mesh(written(tmp_path, second.encode()))


def test_a_missing_file_stays_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_mesh(tmp_path / "none.msh")
    with pytest.raises(MeshError):
        read_mesh(tmp_path)
    with pytest.raises(ArgumentError, match="expected a file name"):
        read_mesh(3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_file_says_where_it_ends(kind, tmp_path):
    content = CONTENT[kind]
    last, sections = content.rindex(b"$EndElements"), {}
    for name in (b"PhysicalNames", b"Entities", b"Nodes", b"Elements"):
        if b"$" + name in content:
            sections[name.decode()] = content.index(b"$" + name), content.index(b"$End" + name)
    for length in range(0, last - 8, 97):
        inside = [name for name, (a, b) in sections.items() if a + len(name) < length < b]
        lines = content.count(b"\n", 0, length) + 1
        end = f"ends in byte {length}" if kind.endswith("binary") else f"ends in line {lines}"
        message = f"{end}, inside [$]{inside[0]}, which begins in" if inside else None
        with pytest.raises(MeshError, match=message):
            read_mesh(written(tmp_path, content[:length]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("$Nodes\n15 14 1 14", "$Nodes\n15 15 1 14", "declares 15 blocks of 15 nodes, expected 14, as many"),
        ("$Nodes\n15 14 1 14", "$Nodes\n14 14 1 14", "expected .EndNodes: line 41 declares 14 blocks"),
        ("$Nodes\n15 14 1 14", "$Nodes\n16 14 1 14", "is '.EndNodes', expected block 16 of 16"),
    ],
)
def test_blocks_that_are_not_as_many_as_declared_are_told_by_their_lines(tmp_path, old, new, message):
    content = CONTENT["tiny_41_ascii"].decode()
    assert old in content
    with pytest.raises(MeshError, match=message):
        read_mesh(written(tmp_path, content.replace(old, new).encode()))


def test_a_block_of_more_elements_than_the_file_has_is_refused_at_once(tmp_path):
    """A count that is believed is allocated: 2^24 of them take gigabytes."""
    content = bytearray(CONTENT["tiny_41_binary"])
    head = content.index(b"$Elements") + len(b"$Elements\n") + 4 * 8
    content[head + 3 * 4 + 3] = 1  # the fourth byte of the first block's count
    with pytest.raises(MeshError, match="one of its blocks has"):
        read_mesh(written(tmp_path, bytes(content)))


@settings(
    max_examples=200,
    deadline=2000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_flipped_bytes_give_a_mesh_or_a_mesh_error(tmp_path, data):
    content = bytearray(CONTENT[data.draw(st.sampled_from(KINDS))])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        mesh = read_mesh(written(tmp_path, bytes(content)))
    except MeshError as error:
        assert str(error)
    else:
        assert (mesh.volumes > 0).all()


@settings(
    max_examples=80,
    deadline=2000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(kind=st.sampled_from(KINDS), number=st.integers(-(2**63), 2**64), data=st.data())
def test_a_number_replaced_gives_a_mesh_or_a_mesh_error(tmp_path, kind, number, data):
    """In text files; in binary ones eight bytes are overwritten."""
    content = CONTENT[kind]
    if kind.endswith("ascii"):
        words = content.split(b" ")
        words[data.draw(st.integers(0, len(words) - 1))] = str(number).encode()
        content = b" ".join(words)
    else:
        at = data.draw(st.integers(0, len(content) - 8))
        content = content[:at] + (number % 2**64).to_bytes(8, "little") + content[at + 8 :]
    try:
        read_mesh(written(tmp_path, content))
    except MeshError as error:
        assert str(error)


def test_meshio_is_loaded_only_when_a_file_is_read():
    code = "import sys, unda.io.mesh_file; assert 'meshio' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = f"import sys, unda.io.mesh_file as m; m.read_mesh({str(MESHES / 'tiny_22_ascii.msh')!r})"
    code += "; assert 'meshio' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_box_and_file_agree_on_what_a_cube_is():
    tiny, box = read_mesh(MESHES / "tiny_41_binary.msh"), box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    np.testing.assert_allclose([tiny.lower, tiny.upper], [box.lower, box.upper], atol=1e-12)


TWO = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
3 7 "rock"
2 8 "rock"
3 9 "rock"
$EndPhysicalNames
$Nodes
5
10 0 0 0
20 1 0 0
30 0 1 0
40 0 0 1
50 1 1 1
$EndNodes
$Elements
3
1 4 2 7 1 10 20 30 40
2 4 2 9 1 20 30 40 50
3 2 2 8 1 10 20 30
$EndElements
"""


def test_one_name_may_stand_for_a_volume_and_a_surface(tmp_path):
    mesh = read_mesh(written(tmp_path, without_bare_faces(TWO)))
    assert mesh.tag_names == {"rock": 7, "9": 9}
    assert mesh.tags.tolist() == [7, 9]


def without_bare_faces(text):
    """The same without the surface, which would leave outer faces bare."""
    return text.replace("$Elements\n3\n", "$Elements\n2\n").replace("3 2 2 8 1 10 20 30\n", "").encode()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("20 30 40 50", "20 30 40 0", "1 nodes that are not in the file, the first 0"),
        ("20 30 40 50", "20 30 40 60", "1 nodes that are not in the file, the first 60"),
        ("50 1 1 1", "40 1 1 1", "node number 40 occurs twice"),
        (
            "$Elements\n3",
            "$Elements\n2",
            r"line 22 is '3 2 2 8 .*', expected \$EndElements: line 19 declares 2",
        ),
        (
            "$Elements\n3",
            "$Elements\n4",
            r"line 23 is '\$EndElements', expected element 4 of 4 \(line 19 declares",
        ),
        ("$Nodes\n5", "$Nodes\n4", r"line 16 is '50 1 1 1', expected \$EndNodes: line 11 declares 4 nodes"),
        ("$Nodes\n5", "$Nodes\n-5", r"line 12 is .*, expected \$EndNodes: line 11 declares -5 nodes"),
        (
            "$Nodes\n5",
            "$Nodes\n6",
            r"line 17 is '\$EndNodes', expected node 6 of 6 \(line 11 declares 6 nodes\)",
        ),
        (
            "30 0 1 0",
            "30 0 1",
            "line 14 is '30 0 1', expected node 3 of 5 .*: its number and three coordinates",
        ),
        ("30 0 1 0", "30 0 x 0", "line 14 is '30 0 x 0', expected node 3 of 5"),
        ("$EndNodes\n", "", r"line 17 is '\$Elements', expected the end of \$Nodes, which begins in line 10"),
        (
            "1 10 20 30 40\n",
            "1 10 20 30\n",
            r"line 20 has an element of type 4 \(tetra\) with 3 nodes, expected 4",
        ),
        (
            "2 4 2 9",
            "2 4 x 9",
            "line 21 is '2 4 x 9 .*', expected element 2 of 3 .* number, type, tags and nodes",
        ),
    ],
)
def test_text_that_meshio_would_misread_is_refused(tmp_path, old, new, message):
    with pytest.raises(MeshError, match=message):
        read_mesh(written(tmp_path, TWO.replace(old, new).encode()))
