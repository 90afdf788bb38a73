"""Media and states from DataArrays: linear between coordinates, exact at them, in the units that they say.

Not here: arrays that unda gives (test_labelled.py), quantities elsewhere (test_quantities.py).
"""

import numpy as np
import pytest
import unda

xarray = pytest.importorskip("xarray")
GRID = unda.Grid((6, 5, 4), (10.0, 20.0, 5.0), origin=(100.0, 0.0, -15.0))
SPEED = np.random.default_rng(3).uniform(1500, 2500, GRID.shape).astype(np.float32)


def array(values=SPEED, dims="xyz", grid=GRID, **attrs):
    axes = dict(zip("xyz", grid.axes(), strict=True))
    return xarray.DataArray(values, dims=list(dims), coords={one: axes[one] for one in dims}, attrs=attrs)


def on(c, place=GRID):
    return unda.Acoustic(rho=1000.0, c=c).on(place)[:, 1].reshape(place.shape)


def test_at_its_coordinates_an_array_has_its_own_bits_in_any_order_of_axes():
    expected = SPEED.astype(np.float64)
    assert np.array_equal(on(array()), expected)
    assert np.array_equal(on(array().transpose("z", "x", "y")), expected)
    assert np.array_equal(on(array().isel(z=slice(None, None, -1), x=[5, 4, 3, 2, 1, 0])), expected)
    deeper = np.concatenate([[-99.0], GRID.axes()[2] - 1e-3, [99.0]])
    assert not np.array_equal(on(array().pad(z=1, mode="edge").assign_coords(z=deeper)), expected)


def test_between_coordinates_it_is_linear_and_constant_along_what_is_missing():
    """A trilinear function is its own interpolation, to rounding: eight products of values up to 4000."""

    def f(x, y, z):
        return 2000.0 + x + 3 * y - 10 * z + 0.01 * x * y - 0.02 * y * z + 0.001 * x * y * z

    coarse = unda.Grid((3, 3, 2), (25.0, 40.0, 15.0), origin=GRID.origin)
    values = f(*np.meshgrid(*coarse.axes(), indexing="ij"))
    found = on(array(values, grid=coarse))
    assert np.abs(found - f(*np.meshgrid(*GRID.axes(), indexing="ij"))).max() < 16 * 4000 * 2.0**-52
    depth = xarray.DataArray([1500.0, 1800.0], dims="z", coords={"z": [-15.0, 0.0]})
    assert np.allclose(on(depth), 1800 + 20 * GRID.axes()[2], rtol=1e-15)
    assert (on(xarray.DataArray(1600.0)) == 1600).all()
    assert (on(depth.isel(z=[0])) == 1500).all()


def test_cells_have_the_value_at_their_centroids_and_nodes_their_own():
    mesh = unda.box_mesh((0, 0, 0), (4, 1, 1), cells=(4, 1, 1), shape="hex")
    x = xarray.DataArray([1000.0, 3000.0], dims="x", coords={"x": [0.0, 4.0]})
    assert unda.Acoustic(rho=1.0, c=x).on(mesh)[:, 1].tolist() == [1250, 1750, 2250, 2750]
    nodes = unda.Acoustic(rho=1.0, c=x, per="node")
    sim = unda.DG(mesh, nodes, degree=1, device="cpu")
    assert np.allclose(sim.to_xarray("c").c, 1000 + 500 * sim.coordinates[..., 0])


def test_units_of_values_and_coordinates_are_converted():
    pytest.importorskip("pint")
    km = array(SPEED / np.float32(1000), units="km/s")
    assert np.allclose(on(km), SPEED, rtol=1e-6)
    assert np.array_equal(on(array(units="m/s")), SPEED) and np.array_equal(on(array(units="m s-1")), SPEED)
    far = array().assign_coords(x=("x", GRID.axes()[0] / 1000, {"units": "km"}))
    assert np.allclose(on(far), SPEED, rtol=1e-12)
    for units, words in (("kg", r"c is .* a quantity in kilogram; expected one in units of m/s"),
                         ("what", r"c is in units 'what'; expected 'm/s'")):  # fmt: skip
        with pytest.raises(unda.ArgumentError, match=words):
            on(array(units=units))


def test_arrays_that_do_not_fit_are_refused_with_what_to_do():
    for wrong, words in (
        (array().rename(z="depth"), r"dimensions \['x', 'y', 'depth'\]; expected some of x, y, z, z upwards"),
        (array().rename(y="x_half"), "expected some of x, y, z"),
        (array().drop_vars("y"), "without coordinates y"),
        (array().assign_coords(x=[0, 1, 2, 2, 3, 4]), "x of c neither rises nor falls"),
        (array().isel(z=[0, 1, 2]), "from -15 to -5 m along z and is wanted at 0 m, at 30 places beyond"),
        (array(-SPEED), "bad values"),
        (array(SPEED.astype(str)), "expected real numbers"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            on(wrong)
    hair = GRID.axes()[2] * (1 - 1e-13)  # as rounding leaves coordinates
    assert np.allclose(on(array().assign_coords(z=hair)), SPEED, rtol=1e-9)


def test_a_medium_of_a_dataset_comes_back_and_survives_its_file(tmp_path):
    sim = unda.FD(GRID, unda.Acoustic(rho=1000.0, c=array()), device="cpu")
    assert np.array_equal(sim.to_xarray("c").c, SPEED)
    again = unda.FD(GRID, unda.Acoustic(rho=1000.0, c=sim.to_xarray("c").c), device="cpu")
    assert again.dt == sim.dt
    sim.save(tmp_path / "sim.h5")
    loaded = unda.load(tmp_path / "sim.h5")
    assert np.array_equal(loaded.to_xarray("c").c, SPEED)
    assert "DataArray(x 6 x y 5 x z 4, sha256" in sim.config["medium"]["c"]["function"]


@pytest.mark.parametrize("name", ["p", "vx"])
def test_a_state_of_a_dataset_is_set_bit_for_bit_whatever_the_order_of_its_axes(name):
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    first, second = (unda.FD(GRID, medium, scheme="staggered", device="cpu") for _ in range(2))
    first.set(**{name: lambda x, y, z: np.sin(x) + y * z})
    data = first.to_xarray(name)[name]
    second.set(**{name: data.transpose(*reversed(data.dims))})
    assert second.get(name).tobytes() == first.get(name).tobytes() and second.get(name).any()
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
    sim = unda.DG(mesh, medium, degree=1, dtype="float64", device="cpu")
    sim.set(p=xarray.DataArray([1.0, 3.0], dims="z", coords={"z": [0.0, 1.0]}))
    assert np.allclose(sim.get("p"), 1 + 2 * sim.coordinates[..., 2])
