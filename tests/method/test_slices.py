"""Slices are where they say: extent and values of pictures of a plane, and planes beside the model.

Not here: colours, films, models under waves (test_movie.py).
"""

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
import unda
from unda.io.plotting import colour_top

matplotlib.use("Agg")
ACOUSTIC = unda.Acoustic(rho=1.0, c=1.0)


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("axis", "xyz")
def test_a_slice_of_a_mesh_away_from_the_origin_has_its_place_and_values(axis):
    mesh = unda.box_mesh((2, -1, 30), (4, 0, 33), (2, 1, 2))
    sim = unda.DG(mesh, ACOUSTIC, degree=2, dtype="float64")
    sim.set(p=lambda x, y, z: x + 10 * y + 100 * z)
    at = {"x": 3.3, "y": -0.4, "z": 31.7}[axis]
    image = sim.plot_slice("p", **{axis: at}, num=5).images[0]
    i = "xyz".index(axis)
    across, up = (j for j in range(3) if j != i)
    low, high = np.array(mesh.lower), np.array(mesh.upper)
    assert image.get_extent() == pytest.approx([low[across], high[across], low[up], high[up]])
    place = [0.0] * 3
    place[i] = at
    place[across], place[up] = (low[j] + (high[j] - low[j]) * (np.arange(5) + 0.5) / 5 for j in (across, up))
    place[up] = place[up][:, None]
    expected = place[0] + 10 * place[1] + 100 * place[2]
    assert np.allclose(image.get_array(), expected, rtol=0, atol=1e-9)


def test_a_plane_is_refused_from_half_a_cell_beside_a_grid_on():
    sim = unda.FD(unda.Grid((5, 6, 7), 10.0, origin=(100.0, 0.0, -60.0)), ACOUSTIC)
    for axis, inside, outside in (("x", (95.1, 144.9), (94.9, 145.1)), ("z", (-64.9, 4.9), (-65.1, 5.1))):
        for value in inside:
            sim.plot_slice("p", **{axis: value})
        for value in outside:
            with pytest.raises(unda.ArgumentError, match=f"{axis} is {value}"):
                sim.plot_slice("p", **{axis: value})


@pytest.mark.parametrize("axis", "xyz")
def test_a_grid_in_two_dimensions_has_one_plane_which_needs_no_name(axis):
    shape = [9 if other == axis else n for other, n in zip("xyz", (5, 6, 7), strict=True)]
    flat = [1 if other == axis else n for other, n in zip("xyz", shape, strict=True)]
    sim = unda.FD(unda.Grid(flat, 10.0, origin=(100.0, 20.0, -60.0)), ACOUSTIC, device="cpu")
    sim.set(p=np.random.default_rng(1).random(flat))
    place = dict(zip("xyz", sim.grid.origin, strict=True))[axis]
    named = sim.plot_slice("p", **{axis: place}).images[0].get_array()
    assert np.array_equal(sim.plot_slice("p").images[0].get_array(), named)
    for several in (shape, [1, 1, 5]):  # twins: all planes, all planes through a line
        with pytest.raises(unda.ArgumentError, match="one of x, y, z"):
            unda.FD(unda.Grid(several, 10.0), ACOUSTIC, device="cpu").plot_slice("p")


def test_panels_are_fields_by_planes_with_one_scale_a_field():
    sim = unda.FD(unda.Grid((5, 6, 7), 10.0), ACOUSTIC, scheme="staggered")
    sim.set(p=lambda x, y, z: x + 10 * y + 100 * z, vz=lambda x, y, z: 1e3 * (z - y) + 0 * x)
    axes = sim.plot_slice(["p", "vz"], y=[0.0, 20.0, 50.0], cmap="PuOr", background="c")
    assert axes.shape == (2, 3)
    for row, name in zip(axes, ("p", "vz"), strict=True):
        planes = [sim.get(name)[:, j].T for j in (0, 2, 5)]
        top = colour_top(planes)
        for ax, values, y in zip(row, planes, (0, 20, 50), strict=True):
            assert np.array_equal(ax.images[0].get_array(), values) and len(ax.images) == 2
            assert ax.images[0].get_clim() == (-top, top) and f"{name} at y = {y} m" in ax.get_title()
    assert sim.plot_slice("p", x=10, vmax=3).images[0].get_clim() == (-3, 3)
    assert sim.plot_slice("p", x=[10, 20]).shape == (2,) and sim.plot_slice(["p"], x=10).shape == (1,)
    one = sim.plot_slice(["p", "vz"], x=10, ax=axes[:, 0])
    assert one[1] is axes[1, 0]
    with pytest.raises(unda.ArgumentError, match=r"ax has shape \(3,\), expected \(2,\)"):
        sim.plot_slice(["p", "vz"], x=10, ax=axes[0])


def test_a_colour_map_goes_by_its_name_and_shows_the_model_through_its_middle():
    sim = unda.FD(unda.Grid((5, 6, 7), 10.0), ACOUSTIC)
    sim.set(p=lambda x, y, z: x - 20.0 + 0 * (y + z))
    plain = sim.plot_slice("p", y=0.0, cmap="PuOr").images[0].get_cmap()
    assert plain.name == "PuOr"
    clear = sim.plot_slice("p", y=0.0, cmap="PuOr", background="c").images[0].get_cmap()
    assert clear(0.5)[3] < 0.01 and clear(1.0) == plain(1.0) and clear(0.0) == plain(0.0)
    with pytest.raises(unda.ArgumentError, match="cmap is 'blu', expected a colour map"):
        sim.plot_slice("p", y=0.0, cmap="blu")


def test_the_scale_knows_neither_silence_nor_a_source():
    wave = np.sin(np.linspace(0, 20 * np.pi, 10_000)).reshape(100, 100)
    alone = colour_top([wave])
    assert 0.8 < alone < 1.0  # 3/4 of abs(sin) lie below sqrt(1 - 1/16) of its peak
    assert alone == pytest.approx(np.sqrt(15) / 4, abs=0.01)
    spike = np.zeros((100, 100))
    spike[3, 3] = 100.0  # its share of the sum is 1.6 %
    assert colour_top([wave, spike] + 50 * [np.zeros((100, 100))]) == pytest.approx(alone, rel=0.02)
    assert colour_top([2 * wave]) == pytest.approx(2 * alone)
    assert colour_top([0 * wave]) == 1.0


def test_pictures_of_elastic_grids_have_pressure_and_name_what_there_is():
    """-tr(sigma)/3 in double precision, rounded once to the simulation's."""
    sim = unda.FD(
        unda.Grid((5, 6, 7), 10.0), unda.Elastic(rho=1.0, vp=2.0, vs=1.0), scheme="staggered", device="cpu"
    )
    rng = np.random.default_rng(1)
    sim.set(**{name: rng.normal(size=(5, 6, 7)) for name in ("sxx", "syy", "szz")})
    shown = sim.plot_slice("pressure", y=20.0).images[0].get_array()
    trace = sum(sim.get(name)[:, 2].T.astype(np.float64) for name in ("sxx", "syy", "szz"))
    assert np.allclose(shown, -trace / 3, rtol=2.0**-24, atol=1e-14) and shown.any()
    for field in ("divergence", "curl_x", "p"):
        with pytest.raises(unda.ArgumentError, match=r"'szz', .*'pressure'\] and one of x"):
            sim.plot_slice(field, y=20.0)
    with pytest.raises(unda.ArgumentError, match="y is empty"):
        sim.plot_slice("vx", y=[])
