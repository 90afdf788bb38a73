"""Points that cells share: on faces, edges and vertices sources and receivers are means over the cells.

Not here: amplitudes of sources inside of cells (test_dg_point_sources.py), reciprocity there
(test_dg_reciprocity.py), what C refuses (c/refusals.c).
"""

import cuda_device
import numpy as np
import pytest
import unda
from unda.method import _sites

cuda_device.prepare()

SOUND = unda.Acoustic(rho=1.3, c=1.0)
ROCK = unda.Elastic(rho=1.3, vp=1.0, vs=0.6)
LIGHT = unda.Maxwell(eps=1.3, mu=1 / 1.3)
PULSE = unda.ricker(1.0, t0=1.5)
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), perturb=0.2, seed=1)


def vertex_near(mesh, x):
    return int(np.argmin(np.linalg.norm(mesh.vertices - x, axis=1)))


def shared_points(mesh, middle=0.5):
    """A point inside of a cell, and one on a face, an edge and a vertex of it."""
    i = vertex_near(mesh, middle)
    cell = mesh.cells[np.flatnonzero((mesh.cells == i).any(axis=1))[0]]
    vertex, *rest = mesh.vertices[[i, *(k for k in cell if k != i)]]
    return {
        "inside": mesh.vertices[cell].mean(axis=0), "face": (vertex + rest[0] + rest[1]) / 3,
        "edge": (vertex + rest[0]) / 2, "vertex": vertex,
    }  # fmt: skip


def sharing(mesh, x):
    """All cells that hold a point, by brute force."""
    corners = mesh.vertices[mesh.cells]
    inverse = np.linalg.inv((corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1))
    lam = np.einsum("eij,ej->ei", inverse, x - corners[:, 0])
    return np.flatnonzero((lam >= -1e-10).all(axis=1) & (lam.sum(axis=1) <= 1 + 1e-10))


def weights_of(mesh, cells, x, degree):
    """R^-2(N + 1), R^2 the mean of |y - x|^2 over the cell by a cubature that is exact for it."""
    square = []
    for cell in cells:
        corners = mesh.vertices[mesh.cells[cell]] - x
        a = (5 - np.sqrt(5)) / 20  # four points, degree 2 (Stroud 1971, T3:2-1)
        points = a * corners.sum(axis=0) + (1 - 4 * a) * corners
        square.append((points**2).sum(axis=1).mean())
    weights = np.array(square) ** -(degree + 1.0)
    return weights / weights.sum()


@pytest.mark.parametrize("degree", [1, 4, 9])
@pytest.mark.parametrize("origin", [0.0, 4e6])
def test_all_cells_that_share_a_point_are_found_with_weights_that_sum_to_one(origin, degree):
    mesh = unda.box_mesh((origin,) * 3, (origin + 1,) * 3, (3, 3, 3), perturb=0.2, seed=2)
    points = np.array([*shared_points(mesh, origin + 0.5).values(), *mesh.vertices])
    sites = _sites.find(mesh, points, degree)
    for x, begin, end in zip(points, sites.first, sites.first[1:], strict=False):
        found = sites.elem[begin:end]
        assert found[0] == mesh.locate([x])[0][0] and (np.diff(found[1:]) > 0).all()
        if origin == 0.0:  # far from it the reference would need its own account of rounding
            np.testing.assert_array_equal(np.sort(found), sharing(mesh, x))
            # R of a cell as seen from a point that it holds: no digits are lost.
            expected = weights_of(mesh, found, x, degree)
            np.testing.assert_allclose(sites.weights[begin:end], expected, rtol=1e-12)
        np.testing.assert_allclose(sites.weights[begin:end].sum(), 1.0, rtol=1e-14)
        np.testing.assert_array_equal(sites.places[begin:end], np.tile(x, (len(found), 1)))
    inner = sites.first[4:] if origin else []
    assert all(np.diff(inner) >= 1)


def test_a_point_that_a_cell_counts_as_its_own_is_on_the_face_and_one_a_little_inside_is_not():
    """1e-10 of a barycentric coordinate is the limit, plus rounding."""
    x, c = shared_points(MESH)["face"], shared_points(MESH)["inside"]
    assert [len(_sites.find(MESH, (x + t * (c - x))[None], 2).elem) for t in (1e-11, 1e-8)] == [2, 1]


def test_outside_there_is_none():
    sites = _sites.find(MESH, np.array([[2.0, 0, 0], [0.5, 0.5, 0.4]]), 2)
    assert sites.first[1] == 0 and sites.first[2] >= 1


@pytest.mark.parametrize("periodic", [(True, False, False), (True, True, True)])
def test_cells_across_periodic_sides_share_what_lies_there(periodic):
    """A wave from a corner of the box is that from the middle, moved along: the mesh repeats itself."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), periodic=periodic)
    moved = np.where(periodic, 0.5, 0.0)
    here, there = np.array([0.5, 0.5, 0.5]), np.array([0.31, 0.42, 0.63])
    options = {
        "degree": 2,
        "device": "cpu",
        "dtype": "float64",
        "boundary": {} if all(periodic) else {"*": "rigid"},
    }

    def trace(shift):
        sim = unda.DG(mesh, SOUND, **options)
        sim.add_source(unda.VolumeInjection((here + shift) % 1.0, PULSE))
        points = [(there + shift) % 1.0, (here + shift) % 1.0]
        rec = sim.add_receivers(points, ["p", "vx"])
        sim.step(60)
        return np.stack([rec["p"], rec["vx"]])

    one, other = trace(0.0 * moved), trace(moved)
    assert np.abs(one).max() > 1e-3
    # Sums go in another order; 60 steps of rounding.
    assert np.abs(one - other).max() < 1e-11 * np.abs(one).max()
    count = np.diff(_sites.find(mesh, np.array([here, (here + moved) % 1.0]), 2).first)
    assert count[0] == count[1] == 24


def permuted(mesh, seed=0):
    """The same mesh with other numbers."""
    rng = np.random.default_rng(seed)
    vertex, cell = rng.permutation(mesh.num_vertex), rng.permutation(mesh.num_elem)
    number = np.argsort(vertex)
    turned = np.stack([row[rng.permutation(4)] for row in number[mesh.cells[cell]]])
    sides = {
        name: number[mesh.boundary_faces[mesh.boundary_ids == i]]
        for i, name in enumerate(mesh.boundary_names)
    }
    return unda.Mesh(mesh.vertices[vertex], turned, boundaries=sides, fix_orientation=True)


@pytest.mark.parametrize("place", ["face", "edge", "vertex"])
def test_the_numbers_of_cells_and_vertices_do_not_matter(place):
    x = shared_points(MESH)[place]
    traces = []
    for mesh in (MESH, permuted(MESH)):
        sim = unda.DG(mesh, SOUND, degree=2, device="cpu", dtype="float64", dt=0.01)
        sim.add_source(unda.VolumeInjection(x, PULSE))
        rec = sim.add_receivers([x, (0.3, 0.3, 0.2)], ["p", "vx", "divergence"])
        sim.step(60)
        traces.append(np.stack([rec[name] for name in rec.fields]))
    # 60 steps of rounding, in other orders.
    assert np.abs(traces[0] - traces[1]).max() < 1e-11 * np.abs(traces[0]).max()


CASES = {
    "sound": (SOUND, lambda x: unda.VolumeInjection(x, PULSE), "p", "rigid"),
    "force": (ROCK, lambda x: unda.PointForce(x, PULSE, (1, 0, 0)), "vx", "free"),
    "injection": (ROCK, lambda x: unda.VolumeInjection(x, PULSE), "pressure", "free"),
    "light": (LIGHT, lambda x: unda.CurrentDipole(x, PULSE, (1, 0, 0)), "ex", "pec"),
}


@pytest.mark.first(2)
@pytest.mark.parametrize("case", CASES)
def test_on_faces_edges_and_vertices_source_and_receiver_change_places(case):
    """To rounding, as inside (test_dg_reciprocity.py)."""
    medium, source, field, wall = CASES[case]
    points = np.array([*shared_points(MESH).values(), [0.21, 0.34, 0.77]])
    options = {"degree": 2, "device": "cpu", "dtype": "float64", "boundary": {"*": wall}, "dt": 0.01}
    traces = []
    for x in points:
        sim = unda.DG(MESH, medium, **options)
        sim.add_source(source(x))
        rec = sim.add_receivers(points, [field])
        sim.step(100)
        traces.append(rec[field])
    traces = np.array(traces)
    size = np.abs(traces[4, :4]).max()
    assert size > 1e-6 and np.abs(traces - traces.transpose(1, 0, 2)).max() < 1e-12 * np.abs(traces).max()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_receivers_take_the_weighted_mean_of_what_each_cell_has(device, dtype):
    """A state that jumps from cell to cell, values known; what a run records and what it samples agree."""
    sim = unda.DG(MESH, SOUND, degree=2, device=device, dtype=dtype)
    level = np.random.default_rng(3).uniform(-1, 1, MESH.num_elem)
    slope = MESH.centroids[:, 0]
    sim.set(p=np.tile(level[:, None], 10), vx=slope[:, None] * sim.coordinates[..., 0])
    points = np.array(list(shared_points(MESH).values()))
    rec = sim.add_receivers(points, ["p", "divergence"])
    near = 4 * np.finfo(dtype).eps
    for i, x in enumerate(points):
        cells = sharing(MESH, x)
        weights = weights_of(MESH, cells, x, 2)
        assert abs(rec["p"][i, 0] - weights @ level[cells]) < near
        assert abs(rec["divergence"][i, 0] - weights @ slope[cells]) < 200 * near  # derivatives of 10 nodes
    sampled = sim.sample(points, ["p", "divergence"])
    np.testing.assert_allclose(sampled["p"], rec["p"][:, 0], atol=near)
    np.testing.assert_allclose(sampled["divergence"], rec["divergence"][:, 0], atol=200 * near)
    sim.step(3)
    np.testing.assert_allclose(sim.sample(points, ["p"])["p"], rec["p"][:, -1], atol=near)


TAGS = (MESH.centroids[:, 2] > 0.5).astype(np.int32)
LAYERS = unda.Mesh(MESH.vertices, MESH.cells, tags=TAGS, tag_names={"rock": 0, "water": 1})
SEA = unda.Elastic(rho=1.3, vp=1.0, vs={"rock": 0.6, "water": 0.0})


def interface_vertex():
    """A vertex at which both tags meet."""
    both = [set(TAGS[(LAYERS.cells == v).any(axis=1)]) == {0, 1} for v in range(LAYERS.num_vertex)]
    return LAYERS.vertices[np.flatnonzero(both)[len(both) // 40]]


def test_where_the_material_jumps_the_lowest_cell_decides_or_the_side():
    x = interface_vertex()
    sim = unda.DG(LAYERS, SEA, degree=2, device="cpu", dtype="float64")
    level = np.random.default_rng(3).uniform(-1, 1, LAYERS.num_elem)
    sim.set(vx=np.tile(level[:, None], 10))
    cells = sharing(LAYERS, x)

    def mean(tag):
        mine = cells[TAGS[cells] == tag]
        return weights_of(LAYERS, mine, x, 2) @ level[mine]

    def recorded(side=None):
        return sim.add_receivers([x], ["vx"], side=side)["vx"][0, 0]

    assert abs(recorded() - mean(TAGS[cells[0]])) < 1e-14
    assert abs(recorded("rock") - mean(0)) < 1e-14 and abs(recorded("water") - mean(1)) < 1e-14
    assert abs(recorded((0, 0, 2)) - mean(1)) < 1e-14 and abs(recorded([(0, 0, -1)]) - mean(0)) < 1e-14
    assert abs(sim.sample([x], ["vx"], side="water")["vx"][0] - mean(1)) < 1e-14
    assert sim.receivers[1].side == "rock" and sim.receivers[4].side == [[0.0, 0.0, -1.0]]
    assert mean(0) != mean(1)


@pytest.mark.parametrize(
    ("side", "words"),
    [
        ("air", "the mesh has the tags"),
        ((0, 0), "a direction"),
        ((0, 0, 0), "a direction"),
        (5, "a direction"),
    ],
)
def test_a_side_that_is_none_is_refused(side, words):
    sim = unda.DG(LAYERS, SEA, degree=1, device="cpu")
    with pytest.raises(unda.ArgumentError, match=words):
        sim.add_receivers([interface_vertex()], side=side)


def test_a_side_on_which_no_cell_lies_is_refused():
    corner = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    medium = unda.Acoustic(rho=1.0, c=lambda x, y, z: 1.0 + (z > 0.5))
    sim = unda.DG(corner, medium, degree=1, device="cpu")
    with pytest.raises(unda.ArgumentError, match="has no cell on its side"):
        sim.add_receivers([(0.0, 0.5, 0.5)], side=(-1, 0, 0))
    with pytest.raises(unda.ArgumentError, match="cells of several materials on its side"):
        sim.add_receivers([(0.0, 0.5, 0.5)], side=(1, 0, 0))
    sim.add_receivers([(0.0, 0.5, 0.25)], side=(-1, 0, 0))  # one material: no side is asked for


def test_a_side_is_kept_in_a_checkpoint(tmp_path):
    sim = unda.DG(LAYERS, SEA, degree=1, device="cpu")
    sim.add_source(unda.VolumeInjection((0.4, 0.4, 0.4), PULSE))
    sim.add_receivers([interface_vertex()], ["vx"], side="water")
    sim.step(5)
    sim.save(tmp_path / "a.h5")
    again = unda.load(tmp_path / "a.h5")
    for one in (sim, again):
        one.step(5)
    assert again.receivers[0].side == "water"
    np.testing.assert_array_equal(sim.receivers[0]["vx"], again.receivers[0]["vx"])


def test_a_deviatoric_moment_on_the_sea_floor_is_that_of_the_solid_alone():
    """In the fluid nothing is driven; the solid's part is that of all of the moment."""
    x, moment = interface_vertex(), np.array([[0.0, 0, 1], [0, 0, 0], [1, 0, 0]])
    sim = unda.DG(LAYERS, SEA, degree=2, device="cpu", dtype="float64")
    sim.add_source(unda.MomentTensor(x, lambda t: np.asarray(t), moment))  # rate 1
    rate = sim.rhs()["sxz"]
    driven = np.flatnonzero(np.abs(rate).max(axis=1) > 0)
    assert (TAGS[driven] == 0).all() and len(driven) > 2
    # The integral of delta is 1, by the nodal quadrature of the element.
    assert abs((rate[driven] * LAYERS.volumes[driven, None]).sum()) > 0.1
    inside = LAYERS.centroids[TAGS == 1][0]
    with pytest.raises(unda.ArgumentError, match="deviatoric"):
        sim.add_source(unda.MomentTensor(inside, PULSE, moment))


def test_a_source_on_an_interface_drives_each_cell_by_its_own_material():
    """VolumeInjection: rho c^2 of each."""
    tagged = unda.Acoustic(rho=1.0, c={"rock": 2.0, "water": 1.0})
    x = interface_vertex()
    sim = unda.DG(LAYERS, tagged, degree=1, device="cpu", dtype="float64")
    sim.add_source(unda.VolumeInjection(x, lambda t: np.ones_like(t)))
    rate = np.abs(sim.rhs()["p"]).max(axis=1) * LAYERS.volumes
    cells = sharing(LAYERS, x)
    # The polynomial of one cell is the same in all of them but for the volume.
    expected = weights_of(LAYERS, cells, x, 1) * np.where(TAGS[cells] == 0, 4.0, 1.0)
    np.testing.assert_allclose(rate[cells] / rate[cells].sum(), expected / expected.sum(), rtol=1e-10)
    assert (np.delete(rate, cells) == 0).all()


X = np.array([[1, 0.2, 0.1], [-0.3, 1, 0.2], [0.1, -0.3, 1], [-1, -0.8, 0.3], [0.5, 0.6, -0.7]])
AWAY = X / np.linalg.norm(X, axis=1)[:, None]


def trace_error(case, place, f0, distance, **options):
    """Error of traces at a distance from a source at a place, all receivers and components together."""
    f = unda.ricker(f0, t0=1.4 / f0)
    medium, make, fields = {
        "sound": (SOUND, lambda x: unda.VolumeInjection(x, f), ("p",)),
        "force": (ROCK, lambda x: unda.PointForce(x, f, (1, 0.5, -0.3)), ("vx", "vy", "vz")),
    }[case]
    cells = options.pop("cells")
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (cells,) * 3, perturb=0.2, seed=1)
    source = make(shared_points(mesh)[place])
    exact = unda.exact.point_source(medium, source)
    sim = unda.DG(mesh, medium, boundary={"*": exact}, device="cpu", **options)
    sim.add_source(source)
    points = source.position + distance * AWAY
    rec = sim.add_receivers(points, fields)
    sim.step(int(np.ceil((2.8 / f0 + distance / medium.speed_min(mesh)) / sim.dt)))
    expected = exact(*points.T[:, :, None], rec.t[None])
    error = sum(((rec[field] - expected[field]) ** 2).sum() for field in fields)
    return np.sqrt(error / sum((expected[field] ** 2).sum() for field in fields))


BAR = 1.5  # times the error inside


def test_a_source_on_a_vertex_is_as_exact_as_inside_and_in_one_of_its_cells_it_is_not(monkeypatch):
    how = {"f0": 1.8, "distance": 0.45, "cells": 4, "degree": 3, "dtype": "float32"}
    inside = trace_error("sound", "inside", **how)
    assert trace_error("sound", "vertex", **how) <= BAR * inside
    find = _sites.find

    def one_cell(mesh, points, degree):
        sites = find(mesh, points, degree)
        return sites.keep(np.isin(np.arange(len(sites.elem)), sites.first))

    monkeypatch.setattr(_sites, "find", one_cell)
    assert trace_error("sound", "vertex", **how) > BAR * inside


@pytest.mark.slow
@pytest.mark.parametrize("case", ["sound", "force"])
def test_sources_on_faces_edges_and_vertices_are_as_exact_as_inside(case):
    """About a wavelength of f0 away, with 5 nodes in the shortest one."""
    speed = 0.6 if case == "force" else 1.0  # of the slowest wave
    how = {"f0": speed * 2.6, "distance": 0.45, "cells": 6, "degree": 3, "dtype": "float32"}
    inside = trace_error(case, "inside", **how)
    errors = {place: trace_error(case, place, **how) for place in ("face", "edge", "vertex")}
    assert max(errors.values()) <= BAR * inside, errors
