"""Promises about point location: the right cell, the lowest one on shared faces, -1 outside."""

import threading

import numpy as np
import pytest
from unda.errors import ArgumentError
from unda.problem.mesh import Mesh, box_mesh

EPS = np.finfo(float).eps


def brute_force(mesh, points, tolerance):
    """The lowest cell whose barycentric coordinates are all above -tolerance."""
    corners = mesh.vertices[mesh.cells]
    inverse = np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1))
    lam = np.einsum("eij,pej->pei", inverse, points[:, None] - corners[None, :, 0])
    lam = np.concatenate([1 - lam.sum(axis=2, keepdims=True), lam], axis=2)
    inside = (lam >= -tolerance).all(axis=2)
    return np.where(inside.any(axis=1), inside.argmax(axis=1), -1)


def graded():
    """Cells from 1 down to 1e-6 wide."""
    box = box_mesh((0, 0, 0), (1, 1, 1), (8, 4, 4), perturb=0.2)
    vertices = box.vertices.copy()
    vertices[:, 0] = 10.0 ** (6 * vertices[:, 0] - 6)
    return Mesh(vertices, box.cells)


@pytest.mark.parametrize("make", [lambda: box_mesh((-1, 0, 2), (1, 3, 4), (5, 4, 6), perturb=0.3), graded])
def test_points_are_found_where_a_search_through_all_cells_finds_them(make):
    mesh = make()
    rng = np.random.default_rng(0)
    low, high = np.array(mesh.lower), np.array(mesh.upper)
    points = low + (high - low) * rng.uniform(-0.1, 1.1, (500, 3))
    elem, _ = mesh.locate(points)
    np.testing.assert_array_equal(elem, brute_force(mesh, points, 1e-10))
    assert (elem < 0).any() and (elem >= 0).any()
    assert (elem != brute_force(mesh, points + 0.05 * (high - low), 1e-10)).any()


def test_barycentric_coordinates_give_the_point_back():
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), perturb=0.2)
    points = np.random.default_rng(1).random((200, 3))
    elem, lam = mesh.locate(points)
    back = np.einsum("pi,pij->pj", lam, mesh.vertices[mesh.cells[elem]])
    np.testing.assert_allclose(back, points, atol=50 * EPS)  # ~10 roundings, heights above h/5
    np.testing.assert_allclose(lam.sum(axis=1), 1, atol=4 * EPS)
    wrong = np.einsum("pi,pij->pj", lam[:, [1, 0, 2, 3]], mesh.vertices[mesh.cells[elem]])
    assert np.abs(wrong - points).max() > 0.01


@pytest.mark.parametrize("origin", [0.0, 4e6])
@pytest.mark.parametrize("periodic", [(False,) * 3, (True,) * 3])
def test_a_shared_vertex_edge_or_face_belongs_to_the_lowest_cell(origin, periodic):
    mesh = box_mesh((origin,) * 3, (origin + 1,) * 3, (3, 3, 3), periodic=periodic, perturb=0.1)
    corners = mesh.vertices[mesh.cells]

    lowest = np.array([np.argwhere(mesh.cells == v)[0, 0] for v in range(mesh.num_vertex)])
    np.testing.assert_array_equal(mesh.locate(mesh.vertices)[0], lowest)

    pair = mesh.cells[:, :2]
    sharing = np.array([((mesh.cells == a).any(1) & (mesh.cells == b).any(1)).argmax() for a, b in pair])
    np.testing.assert_array_equal(mesh.locate(corners[:, :2].mean(axis=1))[0], sharing)

    box = box_mesh((origin,) * 3, (origin + 1,) * 3, (3, 3, 3), perturb=0.1)
    other = np.where(box.neighbors[:, 0] >= 0, box.neighbors[:, 0] // 4, mesh.num_elem)
    expected = np.minimum(np.arange(mesh.num_elem), other)
    np.testing.assert_array_equal(mesh.locate(corners[:, 1:].mean(axis=1))[0], expected)


def test_the_numbering_of_the_user_decides_and_not_the_internal_order():
    box = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3))
    turned = Mesh(box.vertices, box.cells[::-1])
    face = box.vertices[box.cells[:, 1:]].mean(axis=1)
    last = turned.num_elem - 1 - turned.locate(face)[0]
    first = box.locate(face)[0]
    assert (last >= first).all() and (last > first).any()


@pytest.mark.parametrize("origin", [0.0, 4e6])
def test_the_outer_faces_are_inside_and_a_hair_beyond_is_not(origin):
    mesh = box_mesh((origin,) * 3, (origin + 1,) * 3, (2, 2, 2))
    faces = mesh.vertices[mesh.boundary_faces].mean(axis=1)
    assert (mesh.locate(faces)[0] >= 0).all()
    outward = np.sign(np.round((faces - (origin + 0.5)) * 2, 3))
    outward[np.abs(faces - (origin + 0.5)) < 0.499] = 0
    # beyond both slacks: 1e-10 of a height (at most 0.5) and 4 eps of the coordinate
    beyond = 1e-9 + 16 * EPS * origin
    assert (mesh.locate(faces + beyond * outward)[0] == -1).all()


def test_no_points_are_no_error():
    elem, lam = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)).locate(np.empty((0, 3)))
    assert elem.shape == (0,) and lam.shape == (0, 4)


def test_threads_that_ask_first_at_the_same_time_get_the_same_answer():
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (12, 12, 12))
    points = np.random.default_rng(2).random((2000, 3))
    answers = [None] * 4
    start = threading.Barrier(4)

    def ask(i):
        start.wait()
        answers[i] = mesh.locate(points)[0]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        np.testing.assert_array_equal(answer, mesh.locate(points)[0])


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([0.0, 0.0, 0.0], "points has shape"),
        ([[0.0, 0.0]], "points has shape"),
        ([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], r"points\[1, 1\] is nan"),
        ([["a", "b", "c"]], r"points has strings \('a', 'b', 'c'\)"),
    ],
)
def test_points_that_are_none_are_refused(points, message):
    with pytest.raises(ArgumentError, match=message):
        box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)).locate(points)
