"""Promises about hexahedra with 27 nodes: volumes, points, and refusals of nodes that do not fit.

Maps of degree 2 in each coordinate of a regular box are exactly those of its cells.
Not here: such cells in files (io/test_read_hexahedra.py).
"""

import pickle

import hex_meshes
import numpy as np
import pytest
import unda
from hex_meshes import NODES, turned
from unda.method import _sites

EPS = np.finfo(float).eps
BOX = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 4), shape="hex")


def bend(x):
    """A map of the unit cube of degree 2 in each coordinate, and 1 + 0.3 x (1 - y) (...) from it at most."""
    a, b, c = np.moveaxis(x, -1, 0)
    return np.stack([a + 0.3 * b * (1 - b), b + 0.2 * c**2 * a, c + 0.25 * a * (1 - a) * b**2], axis=-1)


def gradient(x):
    """Determinant of the derivative of bend."""
    a, b, c = np.moveaxis(x, -1, 0)
    zero, one = np.zeros_like(a), np.ones_like(a)
    rows = [
        [one, 0.3 * (1 - 2 * b), zero],
        [0.2 * c**2, one, 0.4 * c * a],
        [0.25 * (1 - 2 * a) * b**2, 0.5 * a * (1 - a) * b, one],
    ]
    return np.linalg.det(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))


CURVED = turned(BOX, move=bend)


def test_nodes_on_straight_lines_make_the_same_mesh():
    warped = hex_meshes.turned_box((3, 3, 3), seed=1)
    same = turned(warped, seed=2, move=lambda x: x)
    np.testing.assert_allclose(same.volumes, warped.volumes, rtol=1e-13)
    np.testing.assert_array_equal(np.sort(same.neighbors // 6), np.sort(warped.neighbors // 6))
    points = np.random.default_rng(0).random((300, 3))
    np.testing.assert_array_equal(same.locate(points)[0], warped.locate(points)[0])
    # at edges, faces and the middle the scaled Jacobian may be less than at all vertices
    assert (same.quality <= warped.quality * (1 + 1e-12)).all()


def test_volumes_are_those_of_the_map():
    """The determinant has degree 5 at most: three Gauss points an axis."""
    point, weight = np.polynomial.legendre.leggauss(3)
    r = np.stack(np.meshgrid(*[(1 + point) / 2] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    w = np.einsum("i,j,k->ijk", weight, weight, weight).ravel() / 8
    elem = np.repeat(np.arange(BOX.num_elem), 27)
    x = hex_meshes.place(BOX, elem, np.tile(r, (BOX.num_elem, 1))).reshape(-1, 27, 3)
    np.testing.assert_allclose(CURVED.volumes, gradient(x) @ w / BOX.num_elem, rtol=1e-13)
    straight = unda.Mesh(CURVED.vertices, CURVED.cells)
    assert np.abs(straight.volumes / CURVED.volumes - 1).max() > 1e-3  # not by rounding


def test_points_are_found_where_the_map_takes_them():
    x = np.random.default_rng(1).random((3000, 3))
    elem, lam = turned(BOX, seed=None, move=bend).locate(bend(x))
    expected, straight = BOX.locate(x)
    np.testing.assert_array_equal(elem, expected)
    np.testing.assert_allclose(lam, straight, atol=1e3 * EPS)
    np.testing.assert_array_equal(CURVED.locate(bend(x))[0], expected)
    assert (CURVED.locate(x)[0] != expected).any()


def test_a_side_that_bulges_beyond_its_nodes_holds_points_there():
    """x(r) = 4 r (1 - r) between 0.4 and 1 of it has its crest at 0.5, where no node is."""
    box = unda.box_mesh((0.4, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    dome = turned(
        box, None, lambda x: x + np.stack([0 * x[..., 0]] * 2 + [4 * x[..., 0] * (1 - x[..., 0])], -1)
    )
    crest = [[0.5, 0.3, 2 - 1e-9]]
    assert dome.upper[2] < 2 - 1e-3
    assert dome.locate(crest)[0].tolist() == [0]
    assert dome.locate([[0.5, 0.3, 2 + 1e-6]])[0].tolist() == [-1]


def test_cells_share_points_of_curved_faces():
    inner = np.argwhere(BOX.neighbors >= 0)
    middle = BOX.vertices[BOX.cells[inner[:, 0][:, None], hex_meshes.FACES[inner[:, 1]]]].mean(axis=1)
    middle[:, :] += 0.02 * (middle % 0.5 != 0)  # in its plane still: 1/3 and 1/4 of the box and its half
    on = np.array([BOX.locate([x])[1].min() == 0 for x in middle])
    sites = _sites.find(CURVED, bend(middle[on]), 3)
    straight = _sites.find(BOX, middle[on], 3)
    np.testing.assert_array_equal(sites.first, straight.first)
    np.testing.assert_array_equal(sites.elem, straight.elem)
    assert on.sum() > 10 and np.diff(sites.first).min() == 2


def test_a_curved_mesh_pickles_whole_and_its_nodes_count_in_its_hash():
    again = pickle.loads(pickle.dumps(CURVED))
    np.testing.assert_array_equal(again.curved, CURVED.curved)
    assert again.hash == CURVED.hash
    assert unda.Mesh(CURVED.vertices, CURVED.cells).curved is None
    assert turned(BOX, move=lambda x: x).hash != turned(BOX).hash
    assert "24 curved hexahedra" in CURVED.report()


def test_fix_orientation_turns_the_nodes_as_well():
    mirrored = CURVED.curved.reshape(-1, 3, 9, 3)[:, ::-1].reshape(-1, 27, 3)
    cells = CURVED.cells[:, [4, 5, 6, 7, 0, 1, 2, 3]]
    with pytest.raises(unda.MeshError, match=r"24 inverted elements.*fix_orientation"):
        unda.Mesh(CURVED.vertices, cells, curved=mirrored)
    fixed = unda.Mesh(CURVED.vertices, cells, curved=mirrored, fix_orientation=True)
    np.testing.assert_array_equal(fixed.cells, CURVED.cells)
    np.testing.assert_array_equal(fixed.curved, CURVED.curved)


def node_of(mesh, elem, r):
    """The node of a cell nearest to a point of the box."""
    return int(np.abs(mesh.curved[elem] - bend(np.array(r))).max(axis=1).argmin())


def changed(elem, node, by):
    nodes = CURVED.curved.copy()
    nodes[elem, node] += by
    return nodes


@pytest.mark.parametrize("gap", [1e-6, 1e-11])
def test_both_sides_of_a_curved_face_must_agree(gap):
    """1e-9 of a cell is the limit; cells are up to 0.7 across."""
    elem = 0
    node = node_of(CURVED, elem, [1 / 3, 0.25, 0.125])
    nodes = changed(elem, node, gap)
    if gap < 1e-10:
        assert unda.Mesh(CURVED.vertices, CURVED.cells, curved=nodes).num_elem == 24
        return
    with pytest.raises(unda.MeshError, match=r"1 curved faces differ.* elements first 0, 1"):
        unda.Mesh(CURVED.vertices, CURVED.cells, curved=nodes)


@pytest.mark.parametrize("gap", [0, 1e-6])
def test_periodic_curved_faces_must_agree(gap):
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex", periodic=(True, False, False))

    def wave(x):
        shift = 0.05 * np.sin(2 * np.pi * x[..., :1]) + 0.1 * x[..., 2:] * x[..., 1:2] ** 2
        return x + shift * [1, 0, 0] + gap * (x[..., :1] == 1) * (x[..., 1:2] == 0.25)

    if gap:
        with pytest.raises(unda.MeshError, match="2 curved faces differ"):
            turned(box, move=wave)
    else:
        assert (turned(box, move=wave).neighbors >= 0).sum() == 8 * 4


@pytest.mark.parametrize("bad", [np.nan, 0.05])
def test_nodes_that_are_not_at_the_vertices_are_refused(bad):
    with pytest.raises(unda.MeshError, match=r"1 curved elements have nodes that.*first 5"):
        unda.Mesh(CURVED.vertices, CURVED.cells, curved=changed(5, 0, bad))


def test_a_cell_that_folds_between_its_vertices_is_refused():
    cube = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    for push, fits in [(0.2, True), (0.3, False)]:  # dx/dr of r + 4 push r (1 - r) is 1 - 4 push at r = 1
        nodes = NODES.copy()
        nodes[(NODES[:, 0] == 0.5) & (NODES[:, 1] == 0.5) & (NODES[:, 2] == 0.5), 0] += push
        if fits:
            assert unda.Mesh(cube.vertices, cube.cells, curved=nodes[None]).num_elem == 1
        else:
            with pytest.raises(unda.MeshError, match="1 inverted elements, first 0: twisted"):
                unda.Mesh(cube.vertices, cube.cells, curved=nodes[None])


def test_nodes_of_tetrahedra_or_too_few_are_refused():
    tets = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with pytest.raises(unda.ArgumentError, match="curved nodes are given for tetrahedra"):
        unda.Mesh(tets.vertices, tets.cells, curved=np.zeros((6, 27, 3)))
    with pytest.raises(unda.ArgumentError, match=r"curved has shape \(24, 20, 3\)"):
        unda.Mesh(BOX.vertices, BOX.cells, curved=np.zeros((24, 20, 3)))
