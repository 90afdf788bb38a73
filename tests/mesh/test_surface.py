"""Points are put onto boundaries of meshes, hills and curved cells included, and are then in the mesh.

Not here: which cells share a point (test_locate.py).
"""

import hex_meshes
import numpy as np
import pytest
import unda
from hex_meshes import turned
from unda.errors import ArgumentError
from unda.problem import surface

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
WATER = unda.Acoustic(rho=1.0, c=1.0)
RNG = np.random.default_rng(3)
XY = np.concatenate([RNG.uniform(0, 1, (40, 2)), [(0, 0), (1, 1), (0.5, 0.5), (1.0, 0.25)]])


def lift(x):
    """Of degree 2 in each coordinate: cells of 27 nodes have it exactly; x and y stay, and depend on z."""
    a, b, c = np.moveaxis(x, -1, 0)
    return np.stack([a, b, c * (1.0 + hill(a, b))], axis=-1)


def hill(x, y):
    return 0.8 * x * (1 - x) * (0.5 + y**2)


def tilted(mesh, slope):
    vertices = mesh.vertices.copy()
    vertices[:, 2] += vertices[:, :2] @ slope
    return unda.Mesh(vertices, mesh.cells, boundaries=hex_meshes.boundaries_of(mesh))


@pytest.mark.parametrize("seed", [None, 1])
def test_curved_sides_are_met_where_their_polynomial_says(seed):
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), shape="hex")
    curved = turned(box, seed=seed, move=lift)
    expected = 1.0 + hill(*XY.T)
    assert np.abs(surface.heights(curved, "zmax", XY) - expected).max() < 1e-13
    assert np.abs(surface.heights(curved, "zmin", XY)).max() < 1e-15
    # of straight edges between the same vertices it is another surface
    straight = unda.Mesh(lift(box.vertices), box.cells, boundaries=hex_meshes.boundaries_of(box))
    assert np.abs(surface.heights(straight, "zmax", XY) - expected).max() > 1e-3


def test_a_side_whose_lines_bend_in_the_plane_is_met_too():
    def move(x):
        a, b, c = np.moveaxis(x, -1, 0)
        return np.stack([a + 0.3 * b * (1 - b), b + 0.2 * a * (1 - a), c * (1.0 + 0.3 * a * b)], axis=-1)

    curved = turned(unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 2, 2), shape="hex"), seed=2, move=move)
    on = move(np.column_stack([RNG.uniform(0, 1, (50, 2)), np.ones(50)]))
    assert np.abs(surface.heights(curved, "zmax", on[:, :2]) - on[:, 2]).max() < 1e-12


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_inclined_planes_are_met_exactly(shape):
    slope = np.array([0.3, -0.2])
    mesh = tilted(unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 2), shape=shape), slope)
    assert np.abs(surface.heights(mesh, "zmax", XY) - (1.0 + XY @ slope)).max() < 1e-14
    assert np.abs(surface.heights(mesh, "zmin", XY) - XY @ slope).max() < 1e-14


@pytest.mark.parametrize("shape, method, options", [
    ("tet", unda.DG, {"degree": 2}), ("hex", unda.DG, {"degree": 2}), ("curved", unda.SEM, {"degree": 3}),
])  # fmt: skip
def test_receivers_on_topography_record_there_and_below(shape, method, options):
    if shape == "curved":
        mesh = turned(unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex"), move=lift)
    else:
        mesh = tilted(unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape=shape), np.array([0.3, -0.2]))
    sim = method(mesh, WATER, device="cpu", **options)
    above = sim.snap(XY)
    rec = sim.add_receivers(XY, on="top", depth=0.125)
    assert (rec.points == above - [0, 0, 0.125]).all() and (above[:, :2] == XY).all()
    assert (
        sim.add_receivers(np.column_stack([XY, 99.0 + 0 * XY[:, 0]]), on="zmax").points.shape == above.shape
    )
    # one edge up there is nothing: a point beyond the top is refused
    with pytest.raises(ArgumentError, match="outside the mesh"):
        sim.add_receivers(XY, on="top", depth=-0.01)


def test_the_highest_of_several_parts_of_a_boundary_counts():
    # two plates, one above the other, of one boundary
    low, high = (unda.box_mesh((0, 0, z), (1, 1, z + 1), (1, 1, 1)) for z in (0, 3))
    mesh = unda.Mesh(
        np.concatenate([low.vertices, high.vertices]),
        np.concatenate([low.cells, high.cells + low.num_vertex]),
    )
    assert (surface.heights(mesh, "boundary", XY) == 4.0).all()


def test_grids_have_flat_tops():
    sim = unda.FD(unda.Grid((11, 11, 11), 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    assert sim.add_receivers([(3, 4), (5, 6)], on="top", depth=2.5).points.tolist() == [
        [3, 4, 7.5],
        [5, 6, 7.5],
    ]
    assert sim.snap([(3, 4)], "bottom").tolist() == [[3, 4, 0]]
    with pytest.raises(ArgumentError, match="upright"):
        sim.snap([(3, 4)], "xmin")


@pytest.mark.parametrize("shape", ["tet", "hex", "grid"])
def test_lines_beside_a_boundary_are_refused_and_no_points_give_none(shape):
    sim = (
        unda.FD(unda.Grid((5, 5, 5), 0.25), WATER, device="cpu") if shape == "grid" else
        unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape=shape), WATER, degree=1, device="cpu")
    )  # fmt: skip
    assert sim.snap([]).shape == (0, 3) and sim.snap([(1.0, 0.0)]).tolist() == [[1, 0, 1]]
    with pytest.raises(ArgumentError, match=r"\(0.5, -0.1\) m"):
        sim.snap([(0.5, 0.5), (0.5, -0.1)])


@pytest.mark.parametrize("ask, found", [
    (lambda sim: sim.snap([(2.0, 0.5)]), r"boundary 'zmax' is above or below \(2, 0.5\) m"),
    (lambda sim: sim.snap([(0.5, 0.5)], "hill"), "no boundary 'hill'; there are"),
    (lambda sim: sim.snap([0.5, 0.5]), r"shape \(2,\); expected finite x, y"),
    (lambda sim: sim.add_receivers([(0.5, 0.5, 0.5)], depth=1.0), "depth is 1.0, without on="),
    (lambda sim: sim.snap([(0.5, 0.5)], depth="deep"), "depth is 'deep'"),
])  # fmt: skip
def test_what_cannot_be_snapped_is_named(ask, found):
    with pytest.raises(ArgumentError, match=found):
        ask(unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), WATER, degree=1, device="cpu"))
