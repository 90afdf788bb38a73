"""Promises about refusals: each fault is named with its count and first ids, none crashes."""

import re

import hex_meshes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from unda.errors import ArgumentError, MeshError
from unda.problem.mesh import Mesh, box_mesh

BOX = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3))


def parts():
    ids = BOX.boundary_ids
    return {
        "vertices": BOX.vertices.copy(),
        "cells": BOX.cells.copy(),
        "boundaries": {
            name: BOX.boundary_faces[ids == i].copy() for i, name in enumerate(BOX.boundary_names)
        },
    }


def nan(p):
    p["vertices"][[5, 2]] = np.nan


def infinite(p):
    p["vertices"][63 - 1, 2] = -np.inf


def out_of_range(p):
    p["cells"][17, 2] = 64


def negative(p):
    p["cells"][17, 2] = -1


def repeated(p):
    p["cells"][[4, 9], 1] = p["cells"][[4, 9], 0]


def flat(p):
    p["vertices"][p["cells"][0, 0]] = p["vertices"][p["cells"][0, 1:]].mean(axis=0)


def inverted(p):
    p["cells"][[29, 17, 31, 90]] = p["cells"][[29, 17, 31, 90]][:, [1, 0, 2, 3]]


def crowded(p):
    apex = p["cells"][0].tolist()
    p["vertices"] = np.concatenate([p["vertices"], [[-3, -2, -1]]])
    cell = [apex[0], apex[1], apex[3], 64]
    corners = p["vertices"][cell]
    if np.linalg.det(corners[1:] - corners[0]) < 0:
        cell[:2] = cell[1::-1]
    p["cells"] = np.concatenate([p["cells"], [cell]])


def duplicate(p):
    p["cells"] = np.concatenate([p["cells"], p["cells"][:1]])


def twins(p):
    p["vertices"] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    p["cells"] = [[0, 1, 2, 3], [1, 2, 0, 3]]
    p["boundaries"] = None


def overlapping(p):
    p["vertices"] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]]
    p["cells"] = [[0, 1, 2, 3], [0, 1, 2, 4]]
    p["boundaries"] = None


def dangling(p):
    p["vertices"] = np.concatenate([p["vertices"], [[0.5, 0.5, 0.5], [2, 2, 2]]])


def uncovered(p):
    p["boundaries"]["xmin"] = p["boundaries"]["xmin"][2:]


def unknown_face(p):
    p["boundaries"]["xmin"][4] = [0, 1, 63]


def inner_face(p):
    elem, face = np.argwhere(BOX.neighbors >= 0)[7]
    inner = np.delete(p["cells"][elem], face)
    p["boundaries"]["xmin"] = np.concatenate([p["boundaries"]["xmin"], [inner]])


def named_twice(p):
    p["boundaries"]["xmax"] = np.concatenate([p["boundaries"]["xmax"], p["boundaries"]["xmin"][:1]])


def face_out_of_range(p):
    p["boundaries"]["xmin"][3, 1] = 10**12


def face_repeats(p):
    p["boundaries"]["xmin"][3, 1] = p["boundaries"]["xmin"][3, 0]


def empty_boundary(p):
    p["boundaries"]["hole"] = np.empty((0, 3), int)


def no_boundaries(p):
    p["boundaries"] = {}


def unequal_sides(p):
    p["periodic"] = [("xmin", "ymin")]
    p["boundaries"]["ymin"], rest = p["boundaries"]["ymin"][:-4], p["boundaries"]["ymin"][-4:]
    p["boundaries"]["ymax"] = np.concatenate([p["boundaries"]["ymax"], rest])


def side_moved(p):
    p["periodic"] = [("xmin", "xmax")]
    x = p["vertices"]
    inner = (x[:, 0] == 1) & (np.abs(x[:, 1:] - 0.5) < 0.4).all(axis=1)
    x[np.flatnonzero(inner)[0], 1] += 1e-6


def side_twice(p):
    p["periodic"] = [("xmin", "xmax"), ("ymin", "xmin")]


def side_itself(p):
    p["periodic"] = [("xmin", "xmin")]


def no_cells(p):
    p["cells"] = np.empty((0, 4), int)


def no_vertices(p):
    p["vertices"] = np.empty((0, 3))


FAULTS = [
    (nan, "2 vertices have NaN or infinite coordinates, first 2, 5"),
    (infinite, "1 vertices have NaN or infinite coordinates, first 62"),
    (out_of_range, r"1 elements have vertices out of range 0\.\.63, first 17: found \d+ \d+ 64 "),
    (negative, "1 elements have vertices out of range"),
    (repeated, "2 elements name a vertex twice, first 4, 9"),
    (flat, "2 elements have zero volume .* first 0, 3"),
    (inverted, "4 inverted elements, first 17, 29, 31; pass fix_orientation=True"),
    (crowded, "1 faces are shared by three or more elements, elements first 0, "),
    (duplicate, "faces are shared by three or more elements, elements first 0, "),
    (twins, "4 pairs of elements overlap"),
    (overlapping, "1 pairs of elements overlap: .* elements first 0, 1"),
    (dangling, "2 vertices belong to no element, first 64, 65"),
    (uncovered, "2 outer faces belong to no boundary, elements first "),
    (unknown_face, "1 boundary faces are not faces of any element, first 4"),
    (inner_face, "1 boundary faces lie inside the mesh, between two elements, first 18"),
    (named_twice, "1 boundary faces are listed twice"),
    (face_out_of_range, "1 boundary faces have vertices out of range"),
    (face_repeats, "1 boundary faces name a vertex twice, first 3"),
    (empty_boundary, "boundary 'hole' has no faces"),
    (no_boundaries, "boundaries is empty"),
    (unequal_sides, "do not match: they have 16 and .* 0 = xmin"),
    (side_moved, "do not match: .* 1 of the first side find no partner"),
    (side_twice, "boundary 0 is a periodic side twice, in pairs 0 and 1 .*0 = xmin"),
    (side_itself, "boundary 0 is a periodic side twice, in pairs 0 and 0"),
    (no_cells, "the mesh has 0 elements"),
    (no_vertices, "expected at least one"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS, ids=[f[0].__name__ for f in FAULTS])
def test_an_invalid_mesh_is_refused_with_count_and_first_ids(fault, message):
    arguments = parts()
    Mesh(**arguments)
    fault(arguments)
    with pytest.raises(MeshError, match=message):
        Mesh(**arguments)


def test_a_mesh_that_cannot_be_periodic_for_want_of_cells_says_so():
    """One cell a period and vertex numbers that run differently on the two sides."""
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    refused = 0
    for seed in range(20):
        vertex = np.random.default_rng(seed).permutation(8)
        number = np.argsort(vertex)
        ids = box.boundary_ids
        boundaries = {n: number[box.boundary_faces[ids == i]] for i, n in enumerate(box.boundary_names)}
        pairs = [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")]
        try:
            Mesh(box.vertices[vertex], number[box.cells], boundaries=boundaries, periodic=pairs)
        except MeshError as error:
            assert re.search("use at least 3 cells in each periodic direction", str(error))
            refused += 1
    assert refused > 0


def test_sides_whose_faces_are_cut_otherwise_do_not_match():
    """A cube cut into five: opposite sides have the same vertices and crossing diagonals."""
    corners = [[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]
    cells = [[0, 3, 5, 6], [0, 1, 3, 5], [0, 3, 2, 6], [0, 4, 5, 6], [3, 5, 6, 7]]
    mesh = Mesh(corners, cells, fix_orientation=True)
    faces, x = mesh.boundary_faces, mesh.vertices
    sides = {
        "left": faces[(x[faces, 0] == 0).all(axis=1)],
        "right": faces[(x[faces, 0] == 1).all(axis=1)],
        "rest": faces[(x[faces, 0] != x[faces[:, :1], 0]).any(axis=1)],
    }
    assert Mesh(x, mesh.cells, boundaries=sides).num_elem == 5
    with pytest.raises(MeshError, match="their vertices match but 2 faces do not"):
        Mesh(x, mesh.cells, boundaries=sides, periodic=[("left", "right")])


def test_a_cell_is_flat_below_1e_14_of_its_longest_edge_cubed():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 0]], float)
    corners[3, 2] = 6 * 2**1.5 * 1.01e-14  # V = height / 6, longest edge sqrt(2)
    assert Mesh(corners, [[0, 1, 2, 3]]).num_elem == 1
    corners[3, 2] *= 0.98
    with pytest.raises(MeshError, match="zero volume"):
        Mesh(corners, [[0, 1, 2, 3]])


def test_a_twisted_hexahedron_is_refused_even_if_its_volume_is_positive():
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    vertices = box.vertices.copy()
    assert Mesh(vertices, box.cells).num_elem == 1
    vertices[0] = [0.6, 0.6, 0.6]
    with pytest.raises(MeshError, match="1 inverted elements, first 0"):
        Mesh(vertices, box.cells)


def welded(*meshes):
    """Return vertices and cells of meshes whose vertices at one place are one."""
    x = np.concatenate([mesh.vertices for mesh in meshes])
    vertices, number = np.unique(np.round(x, 12), axis=0, return_inverse=True)
    first = np.cumsum([0] + [mesh.num_vertex for mesh in meshes])
    cells = [mesh.cells + start for mesh, start in zip(meshes, first, strict=False)]
    return vertices, number.reshape(-1)[np.concatenate(cells)]


def test_hexahedra_with_hanging_nodes_are_refused():
    """A coarse layer on a fine one; on one as coarse they are neighbours."""
    coarse, fine, same = (
        box_mesh((0, 0, z), (1, 1, z + 1), (n, n, 1), shape="hex") for z, n in [(0, 2), (1, 4), (1, 2)]
    )
    with pytest.raises(MeshError, match=r"4 faces have vertices of other elements on them .* first 0, 1, 2;"):
        Mesh(*welded(coarse, fine))
    assert (Mesh(*welded(coarse, same)).neighbors >= 0).sum() == 4 * 2 * 2 + 2 * 4


def block(lower, upper, cells=(1, 1, 1)):
    return box_mesh(lower, upper, cells, shape="hex")


def separate(*meshes):
    """Return vertices and cells of meshes that share none."""
    first = np.cumsum([0] + [mesh.num_vertex for mesh in meshes])
    cells = [mesh.cells + start for mesh, start in zip(meshes, first, strict=False)]
    return np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(cells)


TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
TURN *= np.linalg.det(TURN)


@pytest.mark.parametrize("join", [welded, separate])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize(
    ("other", "words"),
    [
        (block((0, 0, 1), (1, 1, 2), (2, 1, 1)), "1 face has vertices .* on it .*first 0, 1, 2;"),
        (block((0, 0, 1), (1, 1, 2), (2, 2, 1)), "1 face has vertices .* on it .*first 0, 1, 2;"),
        (block((0.3, 0.4, 1), (0.6, 0.7, 1.5)), "1 face has vertices .* on it .*first 0, 1;"),
        (block((-0.5, -0.5, 1), (1.5, 1.5, 2)), "1 face has vertices .* on it .*first 0, 1;"),
        (block((0.5, 0, 1), (1.5, 1, 2)), "2 faces have vertices .* on them .*first 0, 1;"),
        (block((1, 0.25, 1), (2, 0.75, 2)), "2 faces have vertices .* on them .*first 0, 1;"),
        (block((1, 1, 0.5), (2, 2, 1.5)), "4 faces have vertices .* on them .*first 0, 1;"),
        (block((0.3, 0.4, 1.001), (0.6, 0.7, 1.5)), None),
        (block((1, 1, 1), (2, 2, 2)), None),
    ],
)
def test_hanging_nodes_are_found_wherever_they_are(other, words, join, curved):
    """On faces and on edges, of cells that share vertices or none; no axis is special."""
    vertices, cells = join(block((0, 0, 0), (1, 1, 1)), other)
    nodes = None
    if curved:
        r = hex_meshes.NODES[:, None]
        weight = np.where(hex_meshes.CORNERS == 1, r, 1 - r).prod(axis=2)
        nodes = np.einsum("nv,evi->eni", weight, vertices[cells]) @ TURN.T
    if words is None:
        assert (Mesh(vertices @ TURN.T, cells, curved=nodes).neighbors < 0).all()
        return
    with pytest.raises(MeshError, match=words):
        Mesh(vertices @ TURN.T, cells, curved=nodes)


@pytest.mark.parametrize("bend", [0.05, 0.1, 0.2])
@pytest.mark.parametrize(
    ("coarse", "fine", "words"),
    [
        ((2, 2, 1), (4, 4, 1), "edges of 4 faces are divided by .*first 0, 1, 2;"),
        ((2, 1, 1), (4, 1, 1), "edges of 2 faces are divided by .*first 0, 1, 2;"),
        ((1, 1, 1), (3, 3, 1), "edges of 1 face are divided by .*first 0, 1;"),
        ((4, 2, 1), (2, 2, 1), "edges of 4 faces are divided by"),
        ((2, 2, 1), (2, 2, 1), None),
    ],
)
def test_hanging_nodes_are_found_where_a_map_has_bent_the_mesh(coarse, fine, words, bend):
    """Vertices of the fine part are beside the edges of the coarse one, by up to bend/2 of a cell."""
    vertices, cells = welded(block((0, 0, 0), (1, 1, 1), coarse), block((0, 0, 1), (1, 1, 2), fine))
    vertices = vertices + bend * np.sin(2.1 * vertices[:, [1, 2, 0]]) * [1, 0.7, 1.3]
    if words is None:
        assert (Mesh(vertices, cells).neighbors >= 0).sum() == 4 * 2 * 2 + 2 * 4
        return
    with pytest.raises(MeshError, match=words):
        Mesh(vertices, cells)


def test_a_ring_of_three_hexahedra_has_no_hanging_nodes():
    """Edges of outer faces lead from one end of an edge to the other around the ring, but not along it."""
    turn = np.linspace(0, 2 * np.pi, 4)[:-1]
    around = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    rings = [r * around + [0, 0, z] for z in (0, 1) for r in (1, 2)]  # inner, outer, below, above
    below = [[i, i + 3, (i + 1) % 3 + 3, (i + 1) % 3] for i in range(3)]
    cells = np.concatenate([below, np.add(below, 6)], axis=1)
    assert (Mesh(np.concatenate(rings), cells).neighbors >= 0).sum() == 6


def test_a_crack_between_hexahedra_is_no_hanging_node():
    box = box_mesh((0, 0, 0), (1, 1, 1), (4, 2, 2), shape="hex")
    x, cells = box.vertices, box.cells.copy()
    cut = np.flatnonzero((x[:, 2] == 0.5) & (x[:, 0] < 0.5))  # up to a front in the middle
    twin = np.arange(box.num_vertex)
    twin[cut] = box.num_vertex + np.arange(len(cut))
    above = box.centroids[:, 2] > 0.5
    cells[above] = twin[cells[above]]
    mesh = Mesh(np.concatenate([x, x[cut]]), cells)
    assert len(mesh.boundary_faces) == len(box.boundary_faces) + 2 * 2 * 2


def test_a_face_of_three_hexahedra_is_refused():
    box = box_mesh((0, 0, 0), (1, 1, 2), (1, 1, 2), shape="hex")
    vertices = np.concatenate([box.vertices, box.vertices[box.cells[1, 4:]] + [0.3, 0, 0.5]])
    third = np.concatenate([box.cells[1, :4], box.num_vertex + np.arange(4)])
    with pytest.raises(MeshError, match=r"1 faces are shared by three or more elements, .* 0, 1, 2"):
        Mesh(vertices, [*box.cells, third])


def test_a_flat_hexahedron_is_refused():
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape="hex")
    vertices = box.vertices.copy()
    vertices[:, 0][vertices[:, 0] == 0.5] = 0
    with pytest.raises(MeshError, match=r"1 elements have zero volume .* first 0"):
        Mesh(vertices, box.cells)


def test_an_outer_face_without_a_name_is_given_by_all_its_vertices():
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    sides = hex_meshes.boundaries_of(box)
    faces = np.concatenate([sides[name] for name in sides if name != "zmax"])
    with pytest.raises(
        MeshError, match=r"1 outer faces .* first 0; the first has vertices( \d+){4} \["
    ) as refusal:
        Mesh(box.vertices, box.cells, boundaries={"sides": faces})
    found = re.search(r"has vertices([ \d]+)", str(refusal.value)).group(1)
    assert {int(one) for one in found.split()} == set(sides["zmax"][0].tolist())


@pytest.mark.parametrize("turn", hex_meshes.TURNED[::5])
def test_two_hexahedra_on_one_side_of_a_face_overlap(turn):
    """However the second one is numbered; reflected to the other side, they are neighbours."""
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    bottom = box.cells[0, :4]
    for height, message in [(2.0, "1 pairs of elements overlap: same side"), (-1.0, None)]:
        vertices = np.concatenate([box.vertices, box.vertices[bottom] + [0.1, 0.2, height]])
        other = np.concatenate([bottom, [8, 9, 10, 11]]) if height > 0 else [8, 9, 10, 11, *bottom]
        cells = np.stack([box.cells[0], np.asarray(other)[turn]])
        if message is None:
            assert (Mesh(vertices, cells).neighbors >= 0).sum() == 2
        else:
            with pytest.raises(MeshError, match=message):
                Mesh(vertices, cells)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertices": BOX.vertices[:, :2]}, r"vertices has shape \(64, 2\), expected \(any, 3\)"),
        ({"vertices": BOX.vertices.astype(complex)}, "vertices has dtype complex128"),
        ({"vertices": "abc"}, "vertices has strings"),
        ({"vertices": [[0, 0, 0], [1]]}, "vertices is not an array of numbers"),
        ({"cells": BOX.cells.astype(float)}, "cells has dtype float64, expected int64"),
        ({"cells": BOX.cells[:, :3]}, "expected .any, 4. for tetrahedra"),
        ({"cells": BOX.cells > 3}, "cells has dtype bool"),
        ({"cells": np.full((4, 4), 2**63, np.uint64)}, "cells has integers beyond"),
        ({"tags": [1, 2]}, r"tags has shape \(2,\), expected \(162\)"),
        ({"tags": np.full(162, 2**31)}, "tags has integers beyond the range of int32"),
        ({"tag_names": {"a": 0, "b": 0}}, "two names"),
        ({"tag_names": {"0": 5}}, "the name of tag 0"),
        ({"tag_names": ["a"]}, "tag_names is list"),
        ({"tag_names": {"a": 1.0}}, "expected {name: integer}"),
        ({"boundaries": [[0, 1, 2]]}, "boundaries is list"),
        ({"boundaries": {1: [[0, 1, 2]]}}, "boundary name 1"),
        ({"boundaries": {"*": [[0, 1, 2]]}}, "means the rest"),
        ({"boundaries": {"a": [[0, 1]]}}, r"boundaries\['a'\] has shape \(1, 2\)"),
        ({"periodic": [("xmin", "left")]}, "periodic names 'left', the boundaries are"),
        ({"periodic": "xmin"}, "pairs of boundary names"),
        ({"periodic": ["xmin"]}, "pair of boundary names"),
        ({"fix_orientation": "yes"}, "fix_orientation"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_refused_by_name(change, message):
    with pytest.raises(ArgumentError, match=message):
        Mesh(**(parts() | change))


def test_foreign_byte_order_and_strides_are_converted():
    p = parts()
    vertices = np.asfortranarray(p["vertices"]).astype(">f8")
    cells = np.repeat(p["cells"].astype(">i4"), 2, axis=0)[::2]
    assert Mesh(vertices, cells).volume == pytest.approx(1, rel=1e-14)


NUMBERS = st.floats(width=64) | st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e308, 5e-324])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    vertices=hnp.arrays(np.float64, st.tuples(st.integers(0, 6), st.just(3)), elements=NUMBERS),
    cells=hnp.arrays(
        np.int64,
        st.tuples(st.integers(0, 5), st.sampled_from([4, 8])),
        elements=st.integers(-1, 7) | st.integers(-(2**63), 2**63 - 1),
    ),
    faces=hnp.arrays(
        np.int64,
        st.tuples(st.integers(0, 5), st.sampled_from([3, 4])),
        elements=st.integers(-1, 7) | st.integers(-(2**63), 2**63 - 1),
    ),
    fix=st.booleans(),
    named=st.booleans(),
)
def test_random_arrays_never_crash(vertices, cells, faces, fix, named):
    try:
        mesh = Mesh(vertices, cells, boundaries={"side": faces} if named else None, fix_orientation=fix)
    except (MeshError, ArgumentError) as error:
        assert str(error)
    else:
        assert (mesh.volumes > 0).all()


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_small_change_of_a_mesh_never_crashes(data):
    p = parts()
    count = data.draw(st.integers(1, 3))
    for _ in range(count):
        elem, vertex = data.draw(st.integers(0, 161)), data.draw(st.integers(0, 3))
        p["cells"][elem, vertex] = data.draw(st.integers(-1, 64))
    if data.draw(st.booleans()):
        p["periodic"] = [("xmin", "xmax"), ("ymin", "zmax")]
    try:
        Mesh(**p, fix_orientation=data.draw(st.booleans()))
    except MeshError as error:
        assert str(error)
