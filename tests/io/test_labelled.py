"""Datasets of xarray and tables of pandas have values, places, times and units of what they come from.

Not here: media made of them (test_gridded_media.py).
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import unda
from unda.sweep import Results, SweepResult

xarray = pytest.importorskip("xarray")
MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


def staggered():
    grid = unda.Grid((7, 6, 5), (10.0, 20.0, 5.0), origin=(100.0, 0.0, -20.0))
    speed = 1500.0 + np.arange(7 * 6 * 5.0).reshape(grid.shape)
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=speed), scheme="staggered", device="cpu")
    sim.set(p=lambda x, y, z: x + 10 * y + 100 * z, vx=lambda x, y, z: x - y + z)
    return sim, speed


def test_traces_are_labelled_with_points_times_and_units():
    sim, _ = staggered()
    rec = sim.add_receivers([(120, 40, -10), (130, 41, -11)], ["p", "vx"], every=2, name="line")
    sim.run(steps=6)
    data = rec.to_xarray()
    assert data.p.dims == ("receiver", "time") and data.p.dtype == np.float32
    for name in rec.fields:
        assert np.array_equal(data[name].values, rec[name])
        assert data[name].attrs["units"] == rec.units[name]
    assert np.array_equal(data.time, rec.t) and data.time.attrs["units"] == "s"
    assert np.array_equal(data.time + data.vx.attrs["time_offset"], rec.times("vx"))
    assert "time_offset" not in data.p.attrs and list(rec.to_xarray("p")) == ["p"]
    for i, axis in enumerate("xyz"):
        assert np.array_equal(data[axis], rec.points[:, i]) and data[axis].attrs["units"] == "m"
    assert (data.attrs["name"], data.attrs["every"]) == ("line", 2)
    assert json.loads(data.attrs["config"]) == rec.config


def test_traces_survive_a_netcdf_file_bit_for_bit(tmp_path):
    sim, _ = staggered()
    rec = sim.add_receivers([(120, 40, -10)], ["p", "vx"])
    sim.run(steps=3)
    data = rec.to_xarray()
    data.to_netcdf(tmp_path / "rec.nc", engine="scipy")
    with xarray.open_dataset(tmp_path / "rec.nc", engine="scipy") as found:
        assert found.p.values.tobytes() == rec["p"].tobytes() and np.array_equal(found.time, rec.t)
        assert found.vx.attrs == data.vx.attrs


def test_fields_of_a_grid_stand_at_their_own_places():
    sim, speed = staggered()
    data = sim.to_xarray(["p", "vx", "c"])
    assert data.p.dims == ("x", "y", "z") and data.vx.dims == ("x_half", "y", "z")
    assert np.array_equal(data.p, sim.get("p")) and np.array_equal(data.vx, sim.get("vx"))
    assert np.array_equal(data.c, speed) and data.c.attrs["units"] == "m/s"
    place = sim.coordinates_of("vx")
    assert np.array_equal(data.x_half, place[:, 0, 0, 0]) and np.array_equal(data.z, place[0, 0, :, 2])
    # p was set to this function of its place
    assert np.allclose(data.p, data.x + 10 * data.y + 100 * data.z, rtol=1e-6)
    assert float(data.p.sel(x=121.0, y=41, z=-9, method="nearest")) == sim.get("p")[2, 2, 2]
    assert data.vx.attrs == {"units": "m/s", "time_offset": -0.5 * sim.dt}
    assert data.attrs["time"] == sim.t and set(sim.to_xarray()) == set(sim.fields)
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.to_xarray("ez")


@pytest.mark.parametrize("method", [unda.DG, unda.SEM])
def test_fields_of_a_mesh_have_the_places_of_their_nodes_or_of_a_grid(method):
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), cells=(2, 1, 1), shape="hex")
    sim = method(mesh, MEDIUM, degree=2, dtype="float64", device="cpu")
    name = "p" if method is unda.DG else "chi"
    sim.set(**{name: lambda x, y, z: x + 10 * y + 100 * z})
    data = sim.to_xarray([name, "c"])
    assert data[name].dims == ("cell", "node") and np.array_equal(data[name], sim.get(name))
    assert np.allclose(data[name], data.x + 10 * data.y + 100 * data.z, rtol=0, atol=1e-12)
    assert np.array_equal(data.tag, mesh.tags) and (data.c == 1500.0).all()
    grid = unda.Grid((5, 2, 3), 0.5, origin=(0.25, 0.3, 0.25))
    on_it = sim.to_xarray([name, "c"], grid=grid)
    assert on_it[name].dims == ("x", "y", "z") and on_it[name].shape == grid.shape
    inside = on_it.sel(x=slice(0, 2), y=slice(0, 1), z=slice(0, 1))
    assert np.allclose(inside[name], inside.x + 10 * inside.y + 100 * inside.z, rtol=0, atol=1e-10)
    assert (inside.c == 1500.0).all() and inside[name].size == 4 * 2 * 2
    assert int(on_it[name].isnull().sum()) == grid.num_node - inside[name].size
    with pytest.raises(unda.ArgumentError, match="expected an unda"):
        sim.to_xarray(name, grid=3)
    with pytest.raises(unda.ArgumentError) as refused:  # derivatives are of the polynomials, on a grid
        sim.to_xarray("divergence")
    assert "curl" not in str(refused.value) and str(refused.value).endswith("'rho', 'c']")


def test_values_of_monitors_have_their_places_and_units():
    sim, _ = staggered()
    peak, half = (sim.add_monitor(field, "max", every=1) for field in ("p", "vx"))
    spectrum = sim.add_monitor(
        "p", "dft", every=1, frequencies=[0.0, 3.0], region=((110, 0, -20), (150, 90, 0))
    )
    data = sim.to_xarray(["p", "vx"])
    for monitor, field in ((peak, "p"), (half, "vx")):  # of one sample, the state
        found = monitor.to_xarray()
        assert found.dims == data[field].dims and found.equals(data[field])
        assert found.attrs == {"units": data[field].units, "kind": "max", "every": 1, "num_sample": 1}
    found = spectrum.to_xarray()
    assert found.dims[0] == "frequency" and found.frequency.values.tolist() == [0, 3]
    assert found.attrs["units"] == "Pa s" and np.array_equal(found, spectrum.values)
    assert np.array_equal(found[0].real, sim.dt * data.p.sel(x=found.x, y=found.y, z=found.z).astype(float))
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), cells=(2, 1, 1))
    dg = unda.DG(mesh, MEDIUM, degree=2, dtype="float64", device="cpu")
    dg.set(p=lambda x, y, z: x + 10 * y + 100 * z)
    found = dg.add_monitor("p", "max", every=1, region=[7, 2]).to_xarray()
    assert found.dims == ("cell", "node") and found.cell.values.tolist() == [2, 7]
    assert np.allclose(found, found.x + 10 * found.y + 100 * found.z, rtol=0, atol=1e-12)
    dg.clear_monitors()


def test_results_of_a_sweep_are_a_table():
    pytest.importorskip("pandas")
    results = Results(
        [
            SweepResult({"degree": 2, "h": 0.5}, {"error": 0.1, "degree": 9}),
            SweepResult({"degree": 3}, {"error": 0.01, "steps": 7}),
            SweepResult({"degree": 4, "h": 0.1}, error="Traceback\n  ...\nValueError: no\n"),
        ]
    )
    table = results.to_dataframe()
    assert list(table) == ["degree", "h", "value_error", "value_degree", "steps", "error"]
    assert table.degree.tolist() == [2, 3, 4] and table.value_error[1] == 0.01 and table.value_degree[0] == 9
    assert table.error.tolist() == [None, None, "ValueError: no"]
    assert np.isnan(table.h[1]) and np.isnan(table.steps[2])
    plain = Results([SweepResult({"n": 1}, 5.0)]).to_dataframe()
    assert list(plain) == ["n", "value", "error"] and plain.value[0] == 5.0
    assert len(Results().to_dataframe()) == 0


def test_a_missing_package_names_the_extra_that_brings_it(monkeypatch):
    from unda._extra import _EXTRAS, extra

    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    for package, name in _EXTRAS.items():
        assert f"\n{name} = [" in text and package in text
    monkeypatch.setitem(sys.modules, "xarray", None)
    sim, _ = staggered()
    with pytest.raises(ImportError, match=r"to_xarray needs xarray: pip install 'unda-waves\[xarray\]'"):
        sim.to_xarray()
    assert extra("json", "this") is json
