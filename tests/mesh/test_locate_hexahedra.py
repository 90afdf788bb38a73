"""Promises about points in warped hexahedra: found in the right cell, by all cells on shared faces, with the
weights of the cells' own moments. Not here: tetrahedra (test_locate.py, dg/test_dg_shared_points.py).
"""

import hex_meshes
import numpy as np
import pytest
import unda
from unda.method import _sites

EPS = np.finfo(float).eps
MESH = hex_meshes.turned_box((5, 4, 6), perturb=0.3)
#: how much longer a step in r may be than the same step over the cell's size: its edges are above 0.4 of it,
#: and the least scaled Jacobian of MESH is 0.1 or more
SKEW = 30


def inside(num, seed=0):
    """Points in each cell with their coordinates."""
    r = np.random.default_rng(seed).uniform(1e-6, 1 - 1e-6, (num * MESH.num_elem, 3))
    elem = np.repeat(np.arange(MESH.num_elem), num)
    return elem, r, hex_meshes.place(MESH, elem, r)


def test_the_mesh_is_warped_and_its_faces_meet_in_all_eight_ways():
    assert 0.1 < MESH.min_quality < 0.5
    assert set(hex_meshes.turns(MESH)) == set(range(8))
    assert set(hex_meshes.turns(unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex"))) == {0}


def test_points_inside_are_found_in_their_cell_with_their_coordinates():
    elem, r, x = inside(20)
    found, lam = MESH.locate(x)
    np.testing.assert_array_equal(found, elem)
    # coordinates of about 1 are rounded in x, over cells of 1/6
    np.testing.assert_allclose(lam[:, ::2], r, atol=8 * EPS * 6 * SKEW)
    np.testing.assert_allclose(lam[:, 1::2], 1 - r, atol=8 * EPS * 6 * SKEW)
    assert np.abs(lam[:, 1::2] - r).max() > 0.5


def test_no_point_of_the_box_is_lost_and_none_outside_is_found():
    points = np.random.default_rng(1).uniform(-0.5, 1.5, (5000, 3))
    outer = ((points < 0) | (points > 1)).any(axis=1)
    np.testing.assert_array_equal(MESH.locate(points)[0] < 0, outer)
    far = np.random.default_rng(2).normal(size=(500, 3))
    assert (MESH.locate(1e6 * far + 2e7)[0] == -1).all()


@pytest.mark.parametrize("origin", [0.0, 4e6])
def test_what_cells_share_is_found_by_all_of_them_and_belongs_to_the_lowest(origin):
    mesh = hex_meshes.turned_box((3, 3, 3), lower=(origin,) * 3, upper=(origin + 1,) * 3, seed=2)
    rng = np.random.default_rng(3)
    for kind, columns in [("vertex", (0,)), ("edge", (0, 1)), ("face", (0, 1, 2, 3))]:
        elem = np.arange(mesh.num_elem)
        r = {"vertex": np.zeros((len(elem), 3)), "edge": rng.random((len(elem), 1)) * [1, 0, 0],
             "face": rng.uniform(0.1, 0.9, (len(elem), 3)) * [1, 1, 0]}[kind]  # fmt: skip
        x = hex_meshes.place(mesh, elem, r)
        ends = mesh.cells[:, columns]
        holding = (mesh.cells[None, :, :, None] == ends[:, None, None, :]).any(axis=2).all(axis=2)
        sites = _sites.find(mesh, x, 2)
        for i in elem:
            found = sites.elem[sites.first[i] : sites.first[i + 1]]
            np.testing.assert_array_equal(np.sort(found), np.flatnonzero(holding[i]), err_msg=kind)
            assert found[0] == found.min()
        np.testing.assert_array_equal(sites.places, x[sites.of_points()])
    assert holding.sum(axis=1).max() == 2


def test_a_point_a_little_inside_belongs_to_one_cell():
    elem = np.arange(MESH.num_elem)
    for depth, most in [(1e-11, 2), (1e-8, 1)]:
        x = hex_meshes.place(MESH, elem, np.broadcast_to([depth, 0.3, 0.6], (len(elem), 3)))
        count = np.diff(_sites.find(MESH, x, 2).first)
        assert count.max() == most and count.min() == 1


@pytest.mark.parametrize("degree", [1, 4, 9])
def test_weights_are_powers_of_the_mean_square_distance_over_the_cell(degree):
    """By Gauss's rule of five points an axis, two more than are needed, and volumes by finite differences."""
    point, weight = np.polynomial.legendre.leggauss(5)
    r = np.stack(np.meshgrid(*[(1 + point) / 2] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    w = np.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    step = np.eye(3) / 4  # differences of trilinear functions along an axis are exact for any step
    for x in MESH.vertices[[74, 129, 103]]:
        sites = _sites.find(MESH, x[None], degree)
        square = []
        for elem in sites.elem:
            cell = np.full(len(r), elem)
            y = hex_meshes.place(MESH, cell, r)
            edges = [4 * (hex_meshes.place(MESH, cell, r + one) - y) for one in step]
            jacobian = w * np.linalg.det(np.stack(edges, axis=1))
            square.append(jacobian @ ((y - x) ** 2).sum(axis=1) / jacobian.sum())
        expected = np.array(square) ** -(degree + 1.0)
        assert len(sites.elem) == 8 and np.ptp(expected) > 0.1 * expected.max()
        # 10^2 roundings of a sum of positive numbers, to the power 10
        np.testing.assert_allclose(sites.weights, expected / expected.sum(), rtol=1e3 * EPS * (degree + 1))


def test_across_periodic_sides_the_point_moves_by_the_period():
    mesh = hex_meshes.turned_box((2, 3, 3), periodic=(True, True, False))
    sites = _sites.find(mesh, np.array([[0.0, 0.0, 1 / 3]]), 1)
    assert len(sites.elem) == 8
    corner = np.abs(mesh.vertices[mesh.cells[sites.elem]] - sites.places[:, None]).max(axis=2).min(axis=1)
    assert corner.max() < 4 * EPS
    assert {tuple(np.round(x).astype(int)) for x in sites.places} == {
        (0, 0, 0),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 0),
    }


@pytest.mark.parametrize("seed", range(3))
def test_cells_bent_as_far_as_meshes_allow_hold_their_points(seed):
    """Newton's method alone loses some: a start in the middle ends in another preimage, or nowhere."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < 100:
        vertices = hex_meshes.CORNERS + rng.uniform(-0.5, 0.5, (8, 3))
        try:
            cell = unda.Mesh(vertices, [np.arange(8)])
        except unda.MeshError:
            continue
        made += 1
        points = hex_meshes.place(cell, np.zeros(50, int), rng.random((50, 3)))
        elem, lam = cell.locate(points)
        assert (elem == 0).all()
        again = hex_meshes.place(cell, elem, lam[:, ::2])
        assert np.abs(again - points).max() < 1e-12  # the end of Newton's method is quadratic below 1e-9


def test_side_looks_from_a_face_into_a_warped_cell():
    mesh = hex_meshes.turned_box((2, 1, 1), perturb=0)
    point = np.array([[0.5, 0.4, 0.6]])
    sites = _sites.find(mesh, point, 2)
    left = int(mesh.centroids[:, 0].argmin())
    for direction, cell in [((-1, 0.3, 0.2), left), ((1, 0, 0), 1 - left)]:
        chosen = _sites._ahead(mesh, sites.elem, sites.places, np.array(direction, float))
        assert sites.elem[chosen].tolist() == [cell]
    assert _sites._ahead(mesh, sites.elem, sites.places, np.array([0.0, 1, 0])).all()
