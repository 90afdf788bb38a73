"""Promises about parts of a mesh: who has which cell, the meshes of parts, the faces that they share."""

import pickle
import sys
import time
from functools import cache
from types import SimpleNamespace

import hex_meshes
import numpy as np
import pytest
import unda
from hypothesis import given, settings
from hypothesis import strategies as st
from unda import _core
from unda.problem import _graph_partition
from unda.problem._shapes import FACES
from unda.problem.local_mesh import packed, unpacked

OUTSIDE = -(2**31)  # in `neighbors`: of a ghost, the neighbour is in another part


def _bent(x):
    return x + 0.02 * np.sin(5 * x[..., ::-1])


@cache
def mesh_of(case):
    box = (0, 0, 0), (1, 2, 3)
    if case == "tets":
        mesh = unda.box_mesh(*box, (3, 2, 3), perturb=0.2)
        tags = np.arange(mesh.num_elem, dtype=np.int32) % 3
        return unda.Mesh(
            mesh.vertices, mesh.cells, tags=tags, boundaries=hex_meshes.boundaries_of(mesh),
            tag_names={"salt": 2},
        )  # fmt: skip
    if case == "periodic tets":
        return unda.box_mesh(*box, (3, 1, 2), perturb=0.2, periodic=(True, True, False))
    if case == "hexes":
        return hex_meshes.turned_box((3, 3, 4), seed=4)
    if case == "periodic hexes":
        return hex_meshes.turned_box((4, 2, 1), periodic=(True, True, True), seed=5)
    return hex_meshes.turned(unda.box_mesh(*box, (3, 2, 2), shape="hex"), 6, move=_bent)


CASES = ("tets", "periodic tets", "hexes", "periodic hexes", "curved")


def assignment(mesh, num, seed):
    """Any part for each cell; every part has one."""
    rng = np.random.default_rng(seed)
    part = rng.integers(num, size=mesh.num_elem)
    part[rng.permutation(mesh.num_elem)[:num]] = np.arange(num)
    return unda.Partition(mesh, part)


def arrays_of(local):
    """What is promised of a part, as arrays that a test may change."""
    names = "which num_owned num_border global_cells vertices cells tags volumes quality neighbors curved"
    found = SimpleNamespace(**{name: getattr(local, name) for name in names.split()})
    found.nodes = local.coordinates(2)
    found.boundary_faces, found.boundary_ids = local.boundary_faces, local.boundary_ids
    found.links = {link.part: (link.own, link.ghost) for link in local.links}
    return found


def order_of(mesh):
    order = np.empty(mesh.num_elem, np.int64)
    _core.check(
        _core.lib.unda_mesh_get_arrays(mesh._handle, _core.new_struct("unda_mesh_arrays", order=order))
    )
    return order


def check_cells(mesh, part, a):
    """Own cells and ghosts are those that they should be, and have all that the whole mesh says of them."""
    n = mesh.neighbors.shape[1]
    own = np.flatnonzero(part == a.which)
    np.testing.assert_array_equal(a.global_cells[: a.num_owned], own)
    beside = mesh.neighbors[own]
    foreign = (beside >= 0) & (part[beside // n] != a.which)
    assert a.num_border == foreign.any(axis=1).sum()
    ghosts = a.global_cells[a.num_owned :]
    np.testing.assert_array_equal(np.sort(ghosts), np.unique(beside[foreign] // n))
    assert (np.diff(part[ghosts]) >= 0).all()
    at = a.global_cells
    np.testing.assert_array_equal(a.vertices[a.cells], mesh.vertices[mesh.cells[at]])
    np.testing.assert_array_equal(np.argsort(a.cells, axis=1), np.argsort(mesh.cells[at], axis=1))
    for name in ("tags", "volumes", "quality"):
        np.testing.assert_array_equal(getattr(a, name), getattr(mesh, name)[at])
    np.testing.assert_array_equal(a.nodes, mesh.coordinates(2)[at])  # in the internal order of vertices
    if mesh.curved is not None:
        np.testing.assert_array_equal(a.curved, mesh.curved[at])
    return ghosts


def check_neighbors(mesh, a):
    n = mesh.neighbors.shape[1]
    here = np.full(mesh.num_elem, -1)
    here[a.global_cells] = np.arange(len(a.global_cells))
    whole = mesh.neighbors[a.global_cells]
    cell = here[whole // n]
    wanted = np.where(whole < 0, whole, np.where(cell < 0, OUTSIDE, n * cell + whole % n))
    np.testing.assert_array_equal(a.neighbors, wanted)
    assert (a.neighbors[: a.num_owned] != OUTSIDE).all()
    vertex = {tuple(x): i for i, x in enumerate(mesh.vertices.tolist())}
    number = np.array([vertex[tuple(x)] for x in a.vertices.tolist()])
    assert (np.diff(number) > 0).all()
    owned = {frozenset(row) for row in mesh.cells[a.global_cells[: a.num_owned]][:, FACES[mesh.shape]]
             .reshape(-1, FACES[mesh.shape].shape[1]).tolist()}  # fmt: skip
    mine = [frozenset(row) in owned for row in mesh.boundary_faces.tolist()]
    np.testing.assert_array_equal(number[a.boundary_faces], mesh.boundary_faces[mine])
    np.testing.assert_array_equal(a.boundary_ids, mesh.boundary_ids[mine])


def corners(mesh, faces):
    """Vertices (n, 3 or 4, 3) of faces as `neighbors` numbers them, each face around its middle."""
    cell, side = np.divmod(faces, mesh.neighbors.shape[1])
    x = mesh.vertices[np.take_along_axis(mesh.cells[cell], FACES[mesh.shape][side], axis=1)]
    return x - x.mean(axis=1, keepdims=True)


def check_links(mesh, part, parts):
    """Every cut face is in one list of each of its two parts, at the same place, with the same cells."""
    n, count = mesh.neighbors.shape[1], 0

    def whole(a, faces):
        return n * a.global_cells[faces // n] + faces % n

    for a in parts:
        others = {part[e] for e in a.global_cells[a.num_owned :]}
        assert list(a.links) == sorted(others)
        for other, (own, ghost) in a.links.items():
            back_own, back_ghost = parts[other].links[a.which]
            sent, received = whole(a, own), whole(a, ghost)
            np.testing.assert_array_equal(sent, whole(parts[other], back_ghost))
            np.testing.assert_array_equal(received, whole(parts[other], back_own))
            np.testing.assert_array_equal(mesh.neighbors.ravel()[sent], received)
            np.testing.assert_array_equal(a.neighbors.ravel()[own], ghost)
            assert (own // n < a.num_owned).all() and (ghost // n >= a.num_owned).all()
            assert len(np.unique(sent)) == len(sent)
            np.testing.assert_array_equal(a.nodes[own // n], parts[other].nodes[back_ghost // n])
            gap = np.abs(corners(mesh, sent)[:, :, None] - corners(mesh, received)[:, None]).max(axis=3)
            assert gap.min(axis=2).max() < 1e-14
            count += len(own)
    own = np.arange(mesh.num_elem)[:, None]
    inner = mesh.neighbors >= 0
    assert count == (inner & (part[mesh.neighbors // n] != part[own])).sum()


def check(partition, parts):
    for which, a in enumerate(parts):
        assert a.which == which
        check_cells(partition.mesh, partition.part, a)
        check_neighbors(partition.mesh, a)
    check_links(partition.mesh, partition.part, parts)


@settings(max_examples=15, deadline=None)
@given(case=st.sampled_from(CASES), num=st.sampled_from([1, 2, 3, 5]), seed=st.integers(0, 2**32 - 1))
def test_any_parts_have_what_the_whole_mesh_has_and_agree_about_the_faces_between_them(case, num, seed):
    partition = assignment(mesh_of(case), num, seed)
    parts = [arrays_of(partition.local(i)) for i in range(num)]
    check(partition, parts)
    np.testing.assert_array_equal(partition.cells, [a.num_owned for a in parts])
    np.testing.assert_array_equal(partition.ghosts, [len(a.cells) - a.num_owned for a in parts])
    cut = [sum(len(own) for own, _ in a.links.values()) for a in parts]
    np.testing.assert_array_equal(partition.cut_faces, cut)
    assert partition.neighbors == tuple(tuple(a.links) for a in parts)


def _drop_a_face(a):
    other, (own, ghost) = next(iter(a.links.items()))
    a.links[other] = own[:-1], ghost[:-1]


def _swap_two_faces(a):
    other, (own, ghost) = next(iter(a.links.items()))
    a.links[other] = own[[1, 0, *range(2, len(own))]], ghost[[1, 0, *range(2, len(own))]]


def _swap_two_sent(a):
    other, (own, ghost) = next(iter(a.links.items()))
    a.links[other] = own[[1, 0, *range(2, len(own))]], ghost


def _turn_a_cell(a):
    a.nodes = a.nodes.copy()
    a.nodes[-1] = np.roll(a.nodes[-1], 1, axis=0)


def _turn_a_face(a):
    a.neighbors = a.neighbors.copy()
    a.neighbors[0, 0] ^= 1


def _miss_a_ghost(a):
    for name in ("cells", "tags", "volumes", "quality", "nodes", "global_cells", "neighbors"):
        setattr(a, name, getattr(a, name)[:-1])


def _move_a_boundary(a):
    a.boundary_ids = (a.boundary_ids + 1) % 6


@pytest.mark.parametrize(
    "fault",
    [_drop_a_face, _swap_two_faces, _swap_two_sent, _turn_a_cell, _turn_a_face, _miss_a_ghost,
     _move_a_boundary],
)  # fmt: skip
@pytest.mark.parametrize("case", ["tets", "hexes"])
def test_a_fault_in_one_part_is_seen(case, fault):
    partition = assignment(mesh_of(case), 3, 1)
    parts = [arrays_of(partition.local(i)) for i in range(3)]
    check(partition, parts)
    fault(parts[1])
    with pytest.raises((AssertionError, IndexError)):
        check(partition, parts)


@pytest.mark.parametrize("case", CASES)
def test_a_part_begins_with_its_border_in_the_order_of_the_whole_mesh(case):
    mesh = mesh_of(case)
    partition = assignment(mesh, 2, 3)
    place = np.argsort(order_of(mesh))
    local = partition.local(1)
    inside = place[local.global_cells[order_of(local)]]
    border, owned = local.num_border, local.num_owned
    for run in (inside[:border], inside[border:owned], inside[owned:]):
        assert (np.diff(run) > 0).all()
    n = mesh.neighbors.shape[1]
    beside = local.neighbors[order_of(local)[:owned]]
    np.testing.assert_array_equal((beside >= n * owned).any(axis=1), np.arange(owned) < border)


@pytest.mark.parametrize("case", CASES)
def test_a_part_is_the_same_after_it_was_sent(case):
    local = assignment(mesh_of(case), 3, 7).local(1)
    sent = pickle.loads(pickle.dumps(local))
    assert repr(sent) == repr(local) and sent.report() == local.report()
    assert (sent.boundary_names, sent.tag_names, sent.origin) == (
        local.boundary_names, local.tag_names, local.origin,
    )  # fmt: skip
    one, two = vars(arrays_of(local)), vars(arrays_of(sent))
    for name in one.keys() - {"links"}:
        np.testing.assert_array_equal(one[name], two[name])
    for link, same in zip(local.links, sent.links, strict=True):
        for a, b in zip(link, same, strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(packed(sent), packed(local))


@pytest.mark.slow
def test_a_million_tetrahedra_are_cut_and_sent_in_eight_parts_within_ten_seconds():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (55, 55, 55), perturb=0.2)
    begin = time.process_time()
    partition = mesh.partition(8)
    sent = [pickle.loads(pickle.dumps(partition.local(i), protocol=5)) for i in range(8)]
    assert time.process_time() - begin <= 10
    assert sum(local.num_owned for local in sent) == mesh.num_elem == 998250


def test_a_whole_mesh_can_be_sent_too():
    mesh = mesh_of("hexes")
    block = packed(mesh)
    sent = unpacked(block, mesh.boundary_names, mesh.periodic, mesh.tag_names)
    assert sent.hash == mesh.hash and sent.num_part == 0 and sent.num_owned == mesh.num_elem
    np.testing.assert_array_equal(sent.neighbors, mesh.neighbors)


def test_a_block_that_was_changed_is_refused():
    local = assignment(mesh_of("tets"), 2, 0).local(0)
    block = packed(local)
    names = local.boundary_names, local.periodic, local.tag_names
    for word in (0, 1, 2, 3, 5, len(block) // 2, len(block) - 1):
        changed = block.copy()
        changed[word] ^= 1
        with pytest.raises(unda.ArgumentError, match="the block"):
            unpacked(changed, *names)
    for short in (block[:-1], block[:3]):
        with pytest.raises(unda.ArgumentError, match="the block has"):
            unpacked(short.copy(), *names)


@settings(max_examples=20, deadline=None)
@given(num=st.integers(1, 40), seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["one", "whole", "any"]))
def test_ranges_of_the_curve_have_equal_weight_up_to_that_of_a_cell(num, seed, kind):
    mesh = mesh_of("tets")
    rng = np.random.default_rng(seed)
    weights = {
        "one": None,
        "whole": rng.integers(1, 8, mesh.num_elem),
        "any": 1e-30 * rng.random(mesh.num_elem) + 1e-32,
    }[kind]
    partition = mesh.partition(num, weights=weights)
    along = partition.part[order_of(mesh)]
    assert along[0] == 0 and along[-1] == num - 1 and set(np.diff(along).tolist()) <= {0, 1}
    heaviest = 1 if weights is None else np.max(weights)
    mean = (mesh.num_elem if weights is None else np.sum(weights)) / num
    # weights are rounded to 2^-30 of the heaviest, a part has fewer than 2^8 cells
    room = heaviest * (1 + 2.0**-22)
    assert heaviest <= mean
    assert np.abs(partition.weights - mean).max() <= room
    # an element belongs to the part in which its middle is
    ends = np.cumsum(partition.weights)
    assert np.abs(ends - mean * np.arange(1, num + 1)).max() <= room / 2
    if weights is None:
        assert np.ptp(partition.cells) <= 1
    assert partition.imbalance == partition.weights.max() / partition.weights.mean()


@pytest.mark.parametrize("heavy", [0, 50, -1])
@pytest.mark.parametrize("num", [2, 5, 107, 108])
def test_every_part_has_a_cell_however_heavy_one_is(heavy, num):
    mesh = mesh_of("tets")
    weights = np.ones(mesh.num_elem)
    weights[order_of(mesh)[heavy]] = 1e9
    partition = mesh.partition(num, weights=weights)
    assert partition.num == num and partition.cells.min() >= 1


@pytest.mark.parametrize("case", CASES)
def test_the_graph_has_each_neighbour_once(case):
    mesh = mesh_of(case)
    first, other, shared = _graph_partition.graph(mesh)
    n = mesh.neighbors.shape[1]
    for cell in range(mesh.num_elem):
        beside = [face // n for face in mesh.neighbors[cell] if face >= 0 and face // n != cell]
        cells, counts = np.unique(beside, return_counts=True)
        np.testing.assert_array_equal(other[first[cell] : first[cell + 1]], cells)
        np.testing.assert_array_equal(shared[first[cell] : first[cell + 1]], counts)


@pytest.mark.parametrize("case", ["tets", "periodic hexes"])
def test_metis_finds_parts_of_about_equal_weight(case):
    pytest.importorskip("pymetis")
    mesh = mesh_of(case)
    one, two = (mesh.partition(3, method="metis") for _ in range(2))
    np.testing.assert_array_equal(one.part, two.part)
    assert one.num == 3 and one.imbalance < 1.3
    assert one.cut_faces.sum() < assignment(mesh, 3, 0).cut_faces.sum()
    weights = np.where(mesh.centroids[:, 0] < 0.5, 9.0, 1.0)
    weighted = mesh.partition(2, method="metis", weights=weights)
    assert weighted.imbalance < 1.3 < unda.Partition(mesh, one.part > 0, weights=weights).imbalance + 0.3
    assert mesh.partition(1, method="metis").cells.tolist() == [mesh.num_elem]


def test_weights_fit_what_metis_adds_up():
    rng = np.random.default_rng(2)
    for weights in (rng.random(1000), np.full(10**6, 5.0), np.array([1e-9, 1.0, 1e9])):
        whole = _graph_partition.whole_weights(weights)
        assert whole.min() >= 1 and whole.sum() <= 2**31 - 1
    np.testing.assert_array_equal(_graph_partition.whole_weights(np.array([1.0, 2.0, 4.0])), [250, 500, 1000])


def test_points_are_located_in_own_cells_only():
    for case in ("tets", "hexes"):
        mesh = mesh_of(case)
        local = assignment(mesh, 2, 5).local(0)
        found = local.locate(local.centroids)[0]
        np.testing.assert_array_equal(found[: local.num_owned], np.arange(local.num_owned))
        assert (found[local.num_owned :] == -1).all()


def test_the_bytes_of_a_stage_are_faces_times_nodes_fields_and_bytes():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 2, 2))
    partition = unda.Partition(mesh, mesh.centroids[:, 0] > 0.5)
    assert partition.cut_faces.tolist() == [8, 8]  # 2 x 2 bricks, two triangles each
    assert partition.traffic(3).tolist() == [8 * 10 * 4 * 4] * 2
    assert partition.traffic(2, "elastic", "float64").tolist() == [8 * 6 * 9 * 8] * 2
    assert partition.traffic(1, physics="maxwell").tolist() == [8 * 3 * 6 * 4] * 2


def test_a_partition_prints_what_each_part_has():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 2, 2), shape="hex")
    part = np.array([0, 0, 1, 2] * 4)
    lines = repr(unda.Partition(mesh, part, weights=np.full(16, 0.5))).splitlines()
    assert lines[0] == "3 parts of 16 hexahedra, 8 cut faces; the heaviest part has 1.500 of the mean weight"
    assert [line.split() for line in lines[2:]] == [
        ["0", "8", "4", "4", "4", "1"],
        ["1", "4", "2", "8", "8", "0", "2"],
        ["2", "4", "2", "4", "4", "1"],
    ]


def test_pictures_show_the_part_of_each_outer_face_and_of_each_pixel():
    plt = pytest.importorskip("matplotlib.pyplot")
    from unda.io.partition_picture import outer_faces

    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (2, 1, 1), shape="hex", periodic=(True, False, False))
    partition = unda.Partition(mesh, [0, 1])
    faces, part = outer_faces(partition)
    assert len(faces) == len(mesh.boundary_faces) == 10
    middle = mesh.vertices[faces].mean(axis=1)[:, 0]
    np.testing.assert_array_equal(part, middle > 1)
    ax = partition.plot(z=0.5, num=4)
    colours = ax.images[0].get_array()
    assert colours.shape == (2, 4, 4)
    assert (colours[:, :2] == colours[0, 0]).all() and (colours[:, 2:] == colours[0, 3]).all()
    assert (colours[0, 0] != colours[0, 3]).any()
    assert len(partition.plot().collections) == 1
    plt.close("all")
    with pytest.raises(unda.ArgumentError, match="no cell at z = 3 m"):
        partition.plot(z=3)
    with pytest.raises(unda.ArgumentError, match="expected one of x, y, z"):
        partition.plot(z=3, x=1)
    with pytest.raises(unda.ArgumentError, match="projection='3d'"):
        partition.plot(ax=SimpleNamespace())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.partition(0), "num is 0; expected an integer, 1 to 108"),
        (lambda m: m.partition(109), "num is 109; expected an integer, 1 to 108"),
        (lambda m: m.partition(2, method="best"), r"method is 'best', expected one of \['curve', 'metis'\]"),
        (lambda m: m.partition(2, weights=[1.0]), r"weights has shape \(1,\), expected \(108\)"),
        (lambda m: m.partition(2, weights=np.arange(108) - 1.0), "2 weights are not positive .*first 0, 1"),
        (lambda m: m.partition(2, weights=np.full(108, np.inf)), "108 weights are not positive and finite"),
        (lambda m: unda.Partition(m, [0, 1]), r"part has shape \(2,\), expected \(108\)"),
        (lambda m: unda.Partition(m, np.zeros(108)), "part has dtype float64"),
        (lambda m: unda.Partition(m, np.arange(108) - 1), r"part\[0\] is -1, expected 0 .. 107"),
        (lambda m: unda.Partition(m, np.arange(108) + 1), r"part\[107\] is 108, expected 0 .. 107"),
        (lambda m: unda.Partition(m, 2 * (np.arange(108) % 2)), r"1 of 3 parts have no cells, first \[1\]"),
        (lambda m: unda.Partition(m, np.zeros(108, int), weights=np.zeros(108)), r"weights\[0\] is 0"),
        (lambda m: m.partition(2).local(2), "which is 2; expected an integer, 0 to 1"),
        (lambda m: m.partition(2).local(0).partition(2), "the mesh is part 0 of 2, expected a whole mesh"),
        (lambda m: m.partition(2).traffic(0), "degree is 0"),
        (lambda m: m.partition(2).traffic(1, "heat"), "physics is 'heat'"),
        (lambda m: unda.DG(m.partition(2).local(1), unda.Acoustic(rho=1.0, c=1.0), degree=1),
         "the mesh is part 1 of 2, .* expected a whole mesh"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(unda.ArgumentError, match=message):
        call(mesh_of("tets"))


def test_metis_without_pymetis_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(ImportError, match=r"pip install 'unda-waves\[metis\]'"):
        mesh_of("tets").partition(2, method="metis")


def test_points_shared_by_cells_are_those_of_the_whole_mesh():
    local = assignment(mesh_of("tets"), 2, 0).local(0)
    first, points = np.empty(2, np.int64), np.zeros((1, 3))
    shared = _core.new_struct("unda_shared", num_point=1, points=points, first=first)
    with pytest.raises(unda.ArgumentError, match="may be in others, expected the whole mesh"):
        _core.check(_core.lib.unda_mesh_share(local._handle, shared))
