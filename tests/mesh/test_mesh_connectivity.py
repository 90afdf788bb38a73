"""Promises about how cells join: neighbours, periodic sides, orders, names; against plain NumPy."""

import copy
import logging
import pickle

import hex_meshes
import numpy as np
import pytest
from unda import _core
from unda.errors import MeshError
from unda.problem.mesh import Mesh, box_mesh

LOCAL = {
    "tet": ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)),
    "hex": ((0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)),
}


def boundaries_of(mesh):
    ids = mesh.boundary_ids
    return {name: mesh.boundary_faces[ids == i] for i, name in enumerate(mesh.boundary_names)}


def shuffled(mesh, seed, periodic=None):
    """The same mesh with cells, vertices and the vertices in each cell renumbered at random."""
    rng = np.random.default_rng(seed)
    elem, vertex = rng.permutation(mesh.num_elem), rng.permutation(mesh.num_vertex)
    number = np.argsort(vertex)
    even = np.array([[0, 1, 2, 3], [1, 2, 0, 3], [3, 0, 2, 1], [1, 0, 3, 2]])
    turn = even[rng.integers(len(even), size=mesh.num_elem)]
    cells = np.take_along_axis(mesh.cells[elem], turn, axis=1)
    boundaries = {name: number[faces] for name, faces in boundaries_of(mesh).items()}
    new = Mesh(mesh.vertices[vertex], number[cells], boundaries=boundaries, periodic=periodic)
    return new, elem, turn


def brute_force_neighbors(mesh):
    """Pair faces by a dictionary of their vertex sets."""
    local, seen = LOCAL[mesh.shape], {}
    neighbors = np.empty((mesh.num_elem, len(local)), np.int64)
    named = {
        frozenset(face): -1 - i
        for face, i in zip(mesh.boundary_faces.tolist(), mesh.boundary_ids.tolist(), strict=True)
    }
    for elem, cell in enumerate(mesh.cells.tolist()):
        for face, vertices in enumerate(local):
            key = frozenset(cell[v] for v in vertices)
            neighbors[elem, face] = named.get(key, 0)
            if key in seen:
                other = seen.pop(key)
                neighbors[elem, face] = len(local) * other[0] + other[1]
                neighbors[other] = len(local) * elem + face
            else:
                seen[key] = (elem, face)
    return neighbors


def periodic_gaps(mesh, period):
    """Largest distance, modulo the period, between the vertices of matched faces, each sorted."""
    gap = 0.0
    local = LOCAL["tet"]
    for elem, face in np.argwhere(mesh.neighbors >= 0):
        other, back = divmod(int(mesh.neighbors[elem, face]), 4)
        x = mesh.vertices[mesh.cells[elem, local[face]]]
        y = mesh.vertices[mesh.cells[other, local[back]]]
        shift = y.mean(axis=0) - x.mean(axis=0)
        whole = np.round(shift / period) * period
        gap = max(gap, np.abs(shift - whole).max())
        x = x + whole
        distance = np.abs(x[:, None] - y[None]).max(axis=2).min(axis=1).max()
        gap = max(gap, distance)
    return gap


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_neighbors_are_those_of_a_brute_force_search(shape):
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (3, 4, 2), shape=shape, perturb=0.2)
    expected = brute_force_neighbors(mesh)
    np.testing.assert_array_equal(mesh.neighbors, expected)
    expected[0] = np.roll(expected[0], 1)
    assert (mesh.neighbors != expected).any()


@pytest.mark.parametrize("periodic", [(False, False, False), (True, True, False)])
def test_hexahedra_join_however_their_axes_are_turned(periodic):
    """Cells keep their neighbours, and faces meet in all eight ways."""
    plain = box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 3), shape="hex", perturb=0.3, periodic=periodic)
    mesh = hex_meshes.turned(plain)
    if not any(periodic):
        np.testing.assert_array_equal(mesh.neighbors, brute_force_neighbors(mesh))
        assert set(hex_meshes.turns(mesh)) == set(range(8))
    for one in (plain, mesh):
        one_side, others = one.neighbors // 6, np.repeat(np.arange(one.num_elem), 6).reshape(-1, 6)
        back = one.neighbors.reshape(-1)[one.neighbors[one.neighbors >= 0]]
        np.testing.assert_array_equal(back // 6, others[one.neighbors >= 0])
        assert (one_side[one.neighbors >= 0] != others[one.neighbors >= 0]).all()
    cells = [np.sort(np.where(one.neighbors < 0, one.neighbors, one.neighbors // 6)) for one in (plain, mesh)]
    np.testing.assert_array_equal(*cells)
    np.testing.assert_allclose(mesh.volumes, plain.volumes, rtol=1e-12)
    np.testing.assert_allclose(mesh.quality, plain.quality, rtol=1e-12)
    assert (mesh.neighbors != plain.neighbors).any()


def test_neighbors_survive_renumbering():
    plain = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.2)
    mesh, elem, turn = shuffled(plain, 1)
    np.testing.assert_array_equal(mesh.neighbors, brute_force_neighbors(mesh))
    place = np.argsort(elem)
    back = np.argsort(turn, axis=1)
    old = plain.neighbors[elem[:, None], turn]
    inner = old >= 0
    other = place[old[inner] // 4]
    np.testing.assert_array_equal(mesh.neighbors[inner], 4 * other + back[other, old[inner] % 4])
    np.testing.assert_array_equal(mesh.neighbors[~inner], old[~inner])


def test_periodic_faces_are_translates_of_each_other():
    pairs = [("xmin", "xmax"), ("zmin", "zmax")]
    plain = box_mesh((0, 0, 0), (1, 2, 3), (3, 3, 3), perturb=0.2)
    mesh, _, _ = shuffled(plain, 2, pairs)
    assert mesh.periodic == tuple(pairs)
    assert set((-1 - mesh.neighbors[mesh.neighbors < 0]).tolist()) == {2, 3}
    period = np.array([1.0, 2.0, 3.0])
    assert periodic_gaps(mesh, period) < 1e-14
    assert periodic_gaps(mesh, 1.1 * period) > 0.01


def test_periodic_sides_may_be_rotated_meshes():
    rotation, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    rotation *= np.sign(np.linalg.det(rotation))
    plain = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), periodic=(True, True, True), perturb=0.1)
    turned = Mesh(
        plain.vertices @ rotation.T + 1e5,
        plain.cells,
        boundaries=boundaries_of(plain),
        periodic=plain.periodic,
    )
    np.testing.assert_array_equal(turned.neighbors, plain.neighbors)


def test_both_sides_of_a_face_list_its_vertices_in_the_same_order():
    """The solvers rely on it: rebuilt here as (smallest periodic image, own number)."""
    plain = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3))
    pairs = [("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")]
    mesh, _, _ = shuffled(plain, 3, pairs)
    image = np.round(mesh.vertices * 3).astype(int) % 3 @ [1, 3, 9]
    smallest = np.array([np.flatnonzero(image == value)[0] for value in range(27)])[image]

    def mismatches(order):
        count = 0
        for elem, face in np.argwhere(mesh.neighbors >= 0):
            other, back = divmod(int(mesh.neighbors[elem, face]), 4)
            own = [mesh.cells[elem, v] for v in order[elem] if v != face]
            theirs = [mesh.cells[other, v] for v in order[other] if v != back]
            count += (image[own] != image[theirs]).any()
        return count

    assert mismatches(np.lexsort((mesh.cells, smallest[mesh.cells]), axis=1)) == 0
    assert mismatches(np.argsort(mesh.cells, axis=1)) > 0


def test_the_internal_order_visits_each_cell_once_and_stays_close():
    mesh, _, _ = shuffled(box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 8)), 4)
    order = np.empty(mesh.num_elem, np.int64)
    wanted = _core.new_struct("unda_mesh_arrays", order=order)
    _core.check(_core.lib.unda_mesh_get_arrays(mesh._handle, wanted))
    assert (np.sort(order) == np.arange(mesh.num_elem)).all()

    def mean_step(numbers):
        return np.linalg.norm(np.diff(mesh.centroids[numbers], axis=0), axis=1).mean()

    # a Hilbert curve moves from a brick to one that shares a face: at most one brick a step
    assert mean_step(order) < 1 / 8
    assert mean_step(np.arange(mesh.num_elem)) > 1 / 8


def test_the_same_input_gives_the_same_arrays():
    one, two = (shuffled(box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4)), 6)[0] for _ in range(2))
    assert one.hash == two.hash
    np.testing.assert_array_equal(one.neighbors, two.neighbors)


def test_without_boundaries_all_outer_faces_are_one():
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    mesh = Mesh(box.vertices, box.cells)
    assert mesh.boundary_names == ("boundary",)
    assert len(mesh.boundary_faces) == 48
    np.testing.assert_array_equal(mesh.neighbors < 0, box.neighbors < 0)


def test_volumes_and_quality_are_those_of_the_formulas():
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.2)
    corners = mesh.vertices[mesh.cells]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    np.testing.assert_allclose(mesh.volumes, volumes, rtol=1e-13)
    assert mesh.volume == pytest.approx(1, rel=1e-13)
    assert mesh.quality[mesh.worst_elem] == mesh.quality.min() == mesh.min_quality
    regular = Mesh([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], [[0, 1, 2, 3]], fix_orientation=True)
    assert regular.min_quality == pytest.approx(1, rel=1e-14)
    # insphere diameter of a regular tetrahedron of edge a: a / sqrt(6)
    assert regular.min_insphere == pytest.approx(np.sqrt(8 / 6), rel=1e-14)


def test_fix_orientation_renumbers_inverted_cells_only():
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    cells = box.cells.copy()
    cells[[3, 11]] = cells[[3, 11]][:, [1, 0, 2, 3]]
    mesh = Mesh(box.vertices, cells, fix_orientation=True)
    assert (mesh.volumes > 0).all()
    changed = (mesh.cells != cells).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(changed), [3, 11])


def test_tags_have_names():
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    tags = [7, 7, 3, 3, 3, 9]
    mesh = Mesh(box.vertices, box.cells, tags=tags, tag_names={"salt": 7, "unused": 1})
    assert mesh.tags.tolist() == tags
    assert mesh.tag_names == {"salt": 7, "unused": 1, "3": 3, "9": 9}
    assert "'salt': 2 cells" in mesh.report()


def test_arrays_cannot_be_changed_and_input_is_copied():
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    vertices = box.vertices.copy()
    mesh = Mesh(vertices, box.cells)
    vertices[:] = np.nan
    assert np.isfinite(mesh.vertices).all()
    for name in ("vertices", "cells", "tags", "neighbors", "volumes", "quality", "centroids"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(mesh, name)[0] = 0


@pytest.mark.parametrize("periodic", [(False, False, False), (True, False, True)])
@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_a_mesh_pickles_whole(periodic, again):
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 3), periodic=periodic, perturb=0.1)
    other = again(mesh)
    assert other.hash == mesh.hash
    assert other.periodic == mesh.periodic
    np.testing.assert_array_equal(other.neighbors, mesh.neighbors)


def test_the_hash_sees_every_part():
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    parts = {
        "vertices": box.vertices,
        "cells": box.cells,
        "tags": box.tags,
        "boundaries": boundaries_of(box),
        "tag_names": {"rock": 0},
    }
    moved = box.vertices.copy()
    moved[13] += 1e-12
    renamed = {f"{name}!": faces for name, faces in boundaries_of(box).items()}
    tags = np.ones(box.num_elem, np.int32)
    changes = [
        {},
        {"vertices": moved},
        {"cells": box.cells[::-1]},
        {"tags": tags, "tag_names": {"rock": 1}},
        {"boundaries": renamed},
        {"tag_names": {"sand": 0}},
        {"periodic": [("xmin", "xmax")]},
    ]
    assert len({Mesh(**(parts | change)).hash for change in changes}) == len(changes)
    assert Mesh(**parts).hash == Mesh(**parts).hash


def test_a_mesh_says_what_it_is():
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), periodic=(True, False, False))
    assert repr(mesh).startswith("Mesh(48 tetrahedra, 27 vertices")
    assert "boundary 'xmin': 8 faces, periodic with 'xmax'" in mesh.report()


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_a_report_names_the_worst_cells_and_how_quality_is_distributed(shape):
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape=shape, perturb=0.3)
    text = mesh.report()
    for elem in np.argsort(mesh.quality)[:3]:
        assert f" {elem} ({mesh.quality[elem]:.3f})" in text
    for part in (0, 0.01, 0.1, 0.5):
        assert f" {np.quantile(mesh.quality, part):.3f}" in text
    assert f"volume 1 m3, of a cell {mesh.volumes.min():g} to {mesh.volumes.max():g} m3" in text


def test_parts_that_no_face_joins_are_logged(caplog):
    box = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with caplog.at_level(logging.WARNING, logger="unda"):
        Mesh(box.vertices, box.cells)
        assert not caplog.records
        apart = np.concatenate([box.cells, box.cells + 8])
        Mesh(np.concatenate([box.vertices, box.vertices + 1]), apart)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "2 parts that no face joins" in caplog.records[0].getMessage()


@pytest.mark.parametrize(("shift", "fits"), [(2.0**-23, True), (1e-5, False)])
def test_periodic_sides_far_from_the_origin_match_up_to_the_rounding_of_coordinates(shift, fits):
    """At 1e9 the last bit of a coordinate is 2^-23 = 1.2e-7, more than 1e-8 of an edge."""
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    vertices = box.vertices + np.array([0, 1e9, 0])
    vertices[box.vertices[:, 0] == 1, 1] += shift * (box.vertices[box.vertices[:, 0] == 1, 2] == 0.5)
    sides = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}

    def make():
        return Mesh(vertices, box.cells, boundaries=sides, periodic=[("xmin", "xmax")])

    if fits:
        assert make().num_elem == box.num_elem
    else:
        with pytest.raises(MeshError, match="do not match"):
            make()
