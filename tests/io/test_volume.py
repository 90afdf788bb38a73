"""Data sets of PyVista have fields at their places, and what is drawn in three dimensions has their values.

Not here: files for ParaView (test_vtu.py, test_vti.py).
"""

import numpy as np
import pytest
import unda
from unda.io import volume
from unda.io.plotting import colour_top

pyvista = pytest.importorskip("pyvista")
MEDIUM = unda.Elastic(rho=1000.0, vp=1500.0, vs=800.0)


def f(x, y, z):
    return x + 10 * y + 100 * z


def on_a_grid():
    sim = unda.FD(unda.Grid((5, 4, 3), (1.0, 2.0, 0.5), origin=(3.0, 0.0, -1.0)), MEDIUM, scheme="staggered")
    sim.set(vx=f, vy=lambda x, y, z: x - y + 0 * z, vz=lambda x, y, z: z * y * x)
    return sim


def on_a_mesh(shape="tet"):
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (2, 1, 1), shape=shape)
    sim = unda.DG(mesh, MEDIUM, degree=2, dtype="float64")
    sim.set(vx=f, vy=lambda x, y, z: x * x - y * z, vz=lambda x, y, z: 1 + 0 * x)
    return sim


def test_points_of_a_grid_have_the_values_of_get():
    sim = on_a_grid()
    data = sim.to_pyvista()
    assert data.dimensions == (5, 4, 3) and data.bounds == pytest.approx((3, 7, 0, 6, -1, 0))
    assert set(data.point_data) == {"v", "s"} and data.point_data["s"].shape == (60, 6)
    i, j, k = 2, 3, 1
    point = data.find_closest_point((5.0, 6.0, -0.5))
    assert data.point_data["v"][point].tolist() == [sim.get(name)[i, j, k] for name in ("vx", "vy", "vz")]
    assert data.field_data["offset_vx"].tolist() == [0.5, 0, 0, -0.5]
    assert set(sim.to_pyvista("vy").point_data) == {"vy"}


@pytest.mark.parametrize("shape", ["tet", "hex"])
def test_points_of_a_mesh_have_the_polynomials(shape):
    """Quadratic functions are their own interpolation at degree 2, to rounding."""
    sim = on_a_mesh(shape)
    data = sim.to_pyvista("vx vy vz".split())
    x, y, z = data.points.T
    assert np.allclose(
        data.point_data["v"], np.stack([f(x, y, z), x * x - y * z, 1 + 0 * x], axis=1), atol=1e-12
    )
    parts = 8
    assert data.n_cells == parts * sim.mesh.num_elem
    assert np.array_equal(data.cell_data["element"], np.repeat(np.arange(sim.mesh.num_elem), parts))
    assert data.volume == pytest.approx(2.0, rel=1e-6)
    assert sim.to_pyvista("vx", subdivide=1).n_cells == sim.mesh.num_elem
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.to_pyvista("p")


def test_spectral_elements_give_displacements_and_what_the_medium_has():
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (2, 1, 1), shape="hex")
    sim = unda.SEM(mesh, MEDIUM, degree=2, dtype="float64")
    sim.set(ux=f, vz=lambda x, y, z: x - z)
    data = sim.to_pyvista()
    x, y, z = data.points.T
    assert np.allclose(data.point_data["u"][:, 0], f(x, y, z), atol=1e-12) and "s" in data.point_data
    assert np.allclose(sim.to_pyvista("vz").point_data["vz"], x - z, atol=1e-12)


@pytest.mark.parametrize("make", [on_a_grid, on_a_mesh])
def test_planes_sides_and_isosurfaces_have_the_values_of_their_places(make):
    """Linear functions are their own interpolation: rounding of float32, of values up to 250."""
    sim = make()
    data, at = sim.to_pyvista("vx"), np.array((4.0, 3.0, -0.5) if make is on_a_grid else (0.5, 0.5, 0.5))
    shift = 0.5 if make is on_a_grid else 0.0  # vx stands half a cell from its node, whose index it has
    for kind in volume.KINDS:
        drawn = volume.shown(data, "vx", kind, at, 40.0)
        values, (x, y, z) = np.asarray(drawn.point_data["vx"]), drawn.points.T
        assert np.abs(values - f(x + shift, y, z)).max() < 250 * 2.0**-20 and len(values) > 8
        if kind == "slices":
            assert np.abs(drawn.points - at).min(axis=1).max() < 1e-5  # each in one of the planes
        elif kind == "isosurfaces":
            assert np.abs(values[:, None] - [-30, -10, 10, 30]).min(axis=1).max() < 1e-4
            assert set(np.sign(values)) == ({-1, 1} if make is on_a_grid else {1})
        else:
            low, high = np.array(data.bounds).reshape(3, 2).T
            assert (
                np.minimum(np.abs(drawn.points - low), np.abs(drawn.points - high)).min(axis=1).max() < 1e-6
            )


@pytest.mark.slow
@pytest.mark.parametrize("make", [on_a_grid, on_a_mesh])
def test_pictures_have_the_scale_of_movies_or_the_given_one(make, tmp_path):
    sim = make()
    top = colour_top([sim.to_pyvista("vx").point_data["vx"]])
    for kind in volume.KINDS:
        plotter = sim.plot_3d("vx", kind, off_screen=True, opacity=0.9)
        assert next(iter(plotter.actors.values())).mapper.scalar_range == pytest.approx((-top, top))
        picture = plotter.screenshot(tmp_path / f"{kind}.png", window_size=(400, 300))
        assert picture.shape == (300, 400, 3) and picture.std() > 5 and (tmp_path / f"{kind}.png").is_file()
    plotter = sim.plot_3d("vx", vmax=7.0, cmap="PuOr", off_screen=True)
    assert next(iter(plotter.actors.values())).mapper.scalar_range == (-7.0, 7.0)
    with pytest.raises(unda.ArgumentError, match="kind is 'volume'"):
        sim.plot_3d("vx", "volume")


@pytest.mark.slow
def test_a_plane_is_drawn_as_it_is():
    sim = unda.FD(unda.Grid((5, 1, 3), 1.0), unda.Acoustic(rho=1, c=1))
    sim.set(p=f)
    assert sim.plot_3d(off_screen=True).screenshot(window_size=(200, 150)).std() > 5
