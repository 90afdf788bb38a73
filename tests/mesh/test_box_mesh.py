"""Promises about meshes of boxes: their size, their sides, and what `perturb` moves."""

from itertools import product

import numpy as np
import pytest
from unda.errors import ArgumentError
from unda.problem.mesh import Mesh, box_mesh

LOWER, UPPER = (-1.0, 0.0, 2.0), (1.0, 3.0, 6.0)
VOLUME = 2.0 * 3.0 * 4.0


def faces_of(cells):
    local = ([1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2])
    return np.sort(np.concatenate([cells[:, face] for face in local]), axis=1)


def test_a_brick_is_six_tetrahedra_of_equal_volume():
    mesh = box_mesh(LOWER, UPPER, (2, 3, 4))
    assert mesh.num_elem == 6 * 24
    assert mesh.num_vertex == 3 * 4 * 5
    np.testing.assert_allclose(mesh.volumes, VOLUME / mesh.num_elem, rtol=1e-14)


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_the_bounding_box_is_exactly_the_one_asked_for(shape):
    mesh = box_mesh((0.1, 0.2, 0.3), (0.7, 1.1, 2.3), (3, 7, 9), shape=shape, perturb=0.2)
    assert mesh.lower == (0.1, 0.2, 0.3)
    assert mesh.upper == (0.7, 1.1, 2.3)


@pytest.mark.parametrize("periodic", list(product((False, True), repeat=3)))
@pytest.mark.parametrize("cells", [(1, 1, 1), (2, 2, 2), (1, 2, 3), (2, 1, 1), (3, 1, 2)])
def test_any_direction_can_be_periodic_with_one_cell_or_more(cells, periodic):
    mesh = box_mesh(LOWER, UPPER, cells, periodic=periodic, perturb=0.25, seed=4)
    neighbors = mesh.neighbors
    inner = neighbors >= 0
    own = np.arange(4 * mesh.num_elem).reshape(-1, 4)
    assert (neighbors.ravel()[neighbors[inner]] == own[inner]).all()
    sides = -1 - neighbors[~inner]
    open_sides = {2 * axis + end for axis in range(3) if not periodic[axis] for end in (0, 1)}
    assert set(sides.tolist()) == open_sides


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_each_side_has_its_name(shape):
    mesh = box_mesh(LOWER, UPPER, (2, 3, 4), shape=shape)
    expected = {"xmin": -1, "xmax": 1, "ymin": 0, "ymax": 3, "zmin": 2, "zmax": 6}
    assert mesh.boundary_names == tuple(expected)
    for i, (name, place) in enumerate(expected.items()):
        faces = mesh.boundary_faces[mesh.boundary_ids == i]
        assert (mesh.vertices[faces][..., "xyz".index(name[0])] == place).all()


@pytest.mark.parametrize("shape", ["tet", "hex"])
@pytest.mark.parametrize("perturb", [0.1, 0.3])
def test_perturb_moves_interior_vertices_only_and_not_too_far(shape, perturb):
    plain = box_mesh(LOWER, UPPER, (5, 6, 7), shape=shape)
    moved = box_mesh(LOWER, UPPER, (5, 6, 7), shape=shape, perturb=perturb, seed=3)
    shift = moved.vertices - plain.vertices
    outer = ((plain.vertices == LOWER) | (plain.vertices == UPPER)).any(axis=1)
    assert (shift[outer] == 0).all()
    assert (shift[~outer] != 0).all()
    brick = np.array([2 / 5, 3 / 6, 4 / 7])
    assert (np.abs(shift) <= perturb * brick * (1 + 1e-15) + 4e-16 * 6).all()
    assert moved.volume == pytest.approx(VOLUME, rel=1e-13)
    assert moved.min_quality < plain.min_quality


def test_the_largest_perturbation_never_turns_a_cell_inside_out():
    for seed in range(5):
        mesh = box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 8), perturb=0.3, seed=seed)
        assert mesh.volumes.min() >= 0.1 / (6 * 8**3) * (1 - 1e-12)


def test_the_same_seed_gives_the_same_mesh_and_another_seed_another():
    one, two, other = (
        box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), perturb=0.2, seed=seed) for seed in (7, 7, 8)
    )
    assert one.hash == two.hash
    assert one.hash != other.hash


def test_a_box_far_from_the_origin_is_the_same_box():
    near = box_mesh((0, 0, 0), (8, 8, 8), (4, 4, 4), periodic=(True,) * 3)
    far = box_mesh((4e6,) * 3, (4e6 + 8,) * 3, (4, 4, 4), periodic=(True,) * 3)
    np.testing.assert_array_equal(near.neighbors, far.neighbors)
    np.testing.assert_allclose(near.volumes, far.volumes, rtol=1e-14)


def test_the_split_is_conforming():
    _, counts = np.unique(
        faces_of(box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3)).cells), axis=0, return_counts=True
    )
    assert (counts == 1).sum() == 2 * 6 * 9
    assert counts.max() == 2


def test_a_hexahedral_box_has_one_cell_a_brick():
    mesh = box_mesh(LOWER, UPPER, (2, 3, 4), shape="hex", periodic=(True, False, False))
    assert mesh.cells.shape == (24, 8)
    np.testing.assert_allclose(mesh.volumes, 1.0, rtol=1e-14)
    assert mesh.min_quality == pytest.approx(1.0)
    assert (mesh.neighbors[:, :2] >= 0).all()
    assert ((mesh.neighbors[:, 2] < 0) == (mesh.centroids[:, 1] < 1)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": (0, 1, 1)}, "cells"),
        ({"cells": (2.5, 1, 1)}, "cells has dtype float64"),
        ({"cells": (10**6, 10**6, 1)}, "too many"),
        ({"cells": (2**62, 2**62, 2**62)}, "too many"),
        ({"cells": (1, 1)}, "cells has shape"),
        ({"upper": (0, 1, 1)}, "lower < upper"),
        ({"upper": (np.nan, 1, 1)}, "lower < upper"),
        ({"lower": (-1e308,) * 3, "upper": (1e308,) * 3}, "lower < upper"),
        ({"perturb": 0.31}, "perturb"),
        ({"perturb": float("nan")}, "perturb"),
        ({"perturb": "0.1"}, r"perturb has strings \('0.1'\); expected numbers"),
        ({"seed": 0.5}, "seed has dtype"),
        ({"shape": "prism"}, "'tet' or 'hex'"),
        ({"periodic": (True, True)}, "three of True and False"),
        ({"periodic": True}, "three of True and False"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(change, message):
    arguments = {"lower": (0, 0, 0), "upper": (1, 1, 1), "cells": (2, 2, 2)}
    assert isinstance(box_mesh(**arguments), Mesh)
    with pytest.raises(ArgumentError, match=message):
        box_mesh(**(arguments | change))


def test_a_wrong_keyword_is_a_type_error():
    with pytest.raises(TypeError):
        box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), pertub=0.1)
