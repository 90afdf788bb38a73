"""Promises about `mapped_mesh`: cells, tags and sides are where the arrays put them; bad cells are named."""

import numpy as np
import pytest
import unda


def grid(nx, ny, nz):
    return np.meshgrid(*[np.linspace(0, 1, n + 1) for n in (nx, ny, nz)], indexing="ij")


def hill(nx=4, ny=3, nz=2):
    """Topography over a flat base."""
    x, y, z = grid(nx, ny, nz)
    return x, y, z * (1 + 0.2 * np.sin(3 * x) * y)


def test_a_regular_grid_is_a_box():
    mesh = unda.mapped_mesh(*grid(3, 2, 4))
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 4), shape="hex")
    assert mesh.boundary_names == box.boundary_names
    there = box.locate(mesh.centroids)[0]
    np.testing.assert_allclose(mesh.vertices[mesh.cells], box.vertices[box.cells[there]], atol=1e-15)
    own, others = mesh.neighbors, box.neighbors[there]
    np.testing.assert_array_equal(own < 0, others < 0)
    np.testing.assert_array_equal(own[own < 0], others[own < 0])  # the same names
    np.testing.assert_array_equal(there[own[own >= 0] // 6], others[own >= 0] // 6)


def test_cells_and_tags_are_in_the_order_of_the_arrays():
    x, y, z = hill()
    tags = np.arange(24).reshape(4, 3, 2)
    mesh = unda.mapped_mesh(x, y, z, tags=tags)
    i, j, k = 2, 1, 1
    elem = (i * 3 + j) * 2 + k
    assert mesh.tags[elem] == tags[i, j, k] == elem
    np.testing.assert_array_equal(mesh.vertices[mesh.cells[elem, 0]], [a[i, j, k] for a in (x, y, z)])
    np.testing.assert_array_equal(
        mesh.vertices[mesh.cells[elem, 6]], [a[i + 1, j + 1, k + 1] for a in (x, y, z)]
    )


def test_sides_are_the_ends_of_the_indices():
    x, y, z = hill()
    mesh = unda.mapped_mesh(x, y, z)
    top = mesh.boundary_faces[mesh.boundary_ids == mesh.boundary_names.index("zmax")]
    assert len(top) == 12 and {tuple(v) for v in mesh.vertices[np.unique(top)]} == {
        *zip(x[..., -1].flat, y[..., -1].flat, z[..., -1].flat, strict=True)
    }
    counts = np.bincount(mesh.boundary_ids)
    assert dict(zip(mesh.boundary_names, counts.tolist(), strict=True)) == {
        "xmin": 6, "xmax": 6, "ymin": 8, "ymax": 8, "zmin": 12, "zmax": 12
    }  # fmt: skip


@pytest.mark.parametrize("kind", [bool, int])
def test_tags_may_be_a_function_of_the_cells_middles(kind):
    mesh = unda.mapped_mesh(*hill(), tags=lambda x, y, z: (z > 0.5 - 0.3 * x).astype(kind))
    x, _, z = mesh.centroids.T
    np.testing.assert_array_equal(mesh.tags, z > 0.5 - 0.3 * x)
    assert 0 < mesh.tags.sum() < mesh.num_elem
    assert set(unda.mapped_mesh(*hill(), tags=lambda x, y, z: 3).tags) == {3}


def test_indices_may_be_periodic():
    x, y, z = grid(2, 3, 2)
    mesh = unda.mapped_mesh(x + 0.1 * np.sin(2 * np.pi * y), y, z, periodic=(False, True, False))
    assert mesh.periodic == (("ymin", "ymax"),)
    assert set((-1 - mesh.neighbors[mesh.neighbors < 0]).tolist()) == {0, 1, 4, 5}
    with pytest.raises(unda.MeshError, match="do not match"):
        unda.mapped_mesh(x + 0.1 * y * z, y, z, periodic=(False, True, False))


def test_cells_that_are_inside_out_are_named_by_their_indices():
    x, y, z = grid(4, 3, 2)
    z[2, 1, 1] = 1.2  # above the top: the four columns around it have such a cell above, and none below
    with pytest.raises(unda.MeshError, match=r"4 of 24 cells are inverted .* first \(1, 0, 1\), \(1, 1, 1\)"):
        unda.mapped_mesh(x, y, z)


@pytest.mark.parametrize("turn", [lambda a: a[::-1], lambda a: a[:, :, ::-1], lambda a: a.transpose(1, 0, 2)])
def test_left_handed_grids_are_refused_with_advice(turn):
    x, y, z = (turn(a) for a in hill(3, 3, 2))
    with pytest.raises(unda.MeshError, match=r"left-handed.*reverse one index"):
        unda.mapped_mesh(x, y, z)
    assert unda.mapped_mesh(*(a[:, ::-1] for a in (x, y, z))).num_elem == 18


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((3, 3))}, r"x has shape \(3, 3\)"),
        ({"x": np.zeros((3, 3, 4))}, r"shapes are x \(3, 3, 4\), y \(3, 3, 3\), .*; expected three alike"),
        ({name: np.zeros((1, 3, 3)) for name in "xyz"}, "at least 2 vertices"),
        ({"tags": np.zeros((3, 3, 3), int)}, r"tags has shape \(3, 3, 3\), expected \(2, 2, 2\)"),
        ({"tags": lambda x, y, z: 0.5 * x}, "tags has dtype float64"),
        ({"periodic": (1, 0, 0)}, "three of True and False"),
        ({"z": np.full((3, 3, 3), np.nan)}, r"z\[0, 0, 0\] is nan"),
    ],
)  # fmt: skip
def test_arguments_that_will_not_do_are_named(change, message):
    x, y, z = grid(2, 2, 2)
    with pytest.raises(unda.ArgumentError, match=message):
        unda.mapped_mesh(**({"x": x, "y": y, "z": z} | change))


def ring(n=8):
    """Radii from 1 to 2 around the z axis, right-handed."""
    angle, radius, height = np.meshgrid(
        np.linspace(0, -2 * np.pi, n + 1), np.linspace(1, 2, 3), np.linspace(0, 1, 3), indexing="ij"
    )
    return radius * np.cos(angle), radius * np.sin(angle), height


def test_a_ring_closes_on_itself():
    mesh = unda.mapped_mesh(*ring())
    assert mesh.boundary_names == ("ymin", "ymax", "zmin", "zmax")
    assert (mesh.num_elem, mesh.num_vertex) == (32, 8 * 9)
    # Every cell has both neighbours around the ring, and after n steps one is back.
    elem = np.arange(32)
    for _ in range(8):
        assert (mesh.neighbors[elem, 1] >= 0).all()
        elem = mesh.neighbors[elem, 1] // 6
    assert np.array_equal(elem, np.arange(32))
    with pytest.raises(unda.ArgumentError, match="closes on itself along index 0"):
        unda.mapped_mesh(*ring(), periodic=(True, False, False))


def test_waves_do_not_see_where_a_ring_closes():
    """A pulse at the seam does what the same pulse does elsewhere on the ring."""
    mesh = unda.mapped_mesh(*ring())
    traces = []
    for turn in (0.0, np.pi / 2):  # two cells of eight: the mesh is the same again
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, boundary={"*": "rigid"}, dtype="float64",
                      device="cpu")  # fmt: skip
        x0, y0 = 1.5 * np.cos(turn), 1.5 * np.sin(turn)
        sim.set(p=lambda x, y, z, x0=x0, y0=y0: np.exp(-8 * ((x - x0) ** 2 + (y - y0) ** 2)))
        sim.run(steps=20)
        places = [(1.4 * np.cos(turn + a), 1.4 * np.sin(turn + a), 0.5) for a in (-0.6, 0.3)]
        traces.append(sim.sample(places)["p"])
    np.testing.assert_allclose(traces[0], traces[1], rtol=0, atol=1e-12)


def test_tags_may_be_an_array_of_truths():
    mesh = unda.mapped_mesh(*hill(), tags=np.arange(24).reshape(4, 3, 2) > 11)
    np.testing.assert_array_equal(mesh.tags, np.arange(24) > 11)


def test_curved_cells_have_the_nodes_of_the_grid():
    x, y, z = hill(8, 6, 4)
    mesh = unda.mapped_mesh(x, y, z, curved=True, tags=np.arange(24).reshape(4, 3, 2))
    i, j, k = 2, 1, 1
    elem = (i * 3 + j) * 2 + k
    assert mesh.num_elem == 24 and mesh.tags[elem] == elem
    nodes = np.stack([a[2 * i : 2 * i + 3, 2 * j : 2 * j + 3, 2 * k : 2 * k + 3] for a in (x, y, z)], axis=-1)
    np.testing.assert_array_equal(mesh.curved[elem].reshape(3, 3, 3, 3), nodes.transpose(2, 1, 0, 3))
    np.testing.assert_array_equal(mesh.vertices[mesh.cells[elem, 6]], nodes[2, 2, 2])
    straight = unda.mapped_mesh(*(a[::2, ::2, ::2] for a in (x, y, z)))
    assert mesh.boundary_names == straight.boundary_names
    np.testing.assert_array_equal(mesh.boundary_faces, straight.boundary_faces)
    # Simpson's rule errs by h^4/2880 of the fourth derivative, the trapezoid's by h^2/12 of the second
    exact = 1 + 0.2 * (1 - np.cos(3)) / 3 / 2
    assert 0.9 < (mesh.volume - exact) / (exact - straight.volume) / (9 / 16 / 240) < 1.1


def test_a_curved_ring_closes_on_itself():
    """An arc of 45 degrees through three points of a circle is off by 5e-4 of it, its chord by 0.08."""
    angle, radius, height = np.meshgrid(
        np.linspace(0, -2 * np.pi, 17), np.linspace(1, 2, 5), [0.0, 0.3, 1.0], indexing="ij"
    )
    mesh = unda.mapped_mesh(radius * np.cos(angle), radius * np.sin(angle), height, curved=True)
    assert (mesh.num_elem, mesh.num_vertex) == (16, 8 * 6)
    assert mesh.boundary_names == ("ymin", "ymax", "zmin", "zmax")
    assert abs(mesh.volume / (3 * np.pi) - 1) < 2e-3


def test_curved_cells_need_three_nodes_an_axis():
    with pytest.raises(
        unda.ArgumentError, match=r"x \(5, 4, 3\), .*expected three alike, of 3, 5, 7, .. nodes"
    ):
        unda.mapped_mesh(*hill(4, 3, 2), curved=True)
    with pytest.raises(unda.ArgumentError, match=r"curved is 2\.0; expected True or False"):
        unda.mapped_mesh(*hill(4, 4, 2), curved=2.0)
    x, y, z = hill(4, 4, 4)
    z[1, 1, 1] += 1
    with pytest.raises(unda.MeshError, match="1 inverted elements, first 0: twisted"):
        unda.mapped_mesh(x, y, z, curved=True)
