"""What notebooks show: a table with the numbers of the object, and a picture of it where there is one.

Pictures are looked at as drawn, by their axes. Not here: larger ones (test_slices.py, test_trace_plots.py).
"""

import base64
import re
import sys
import threading
from io import BytesIO

import numpy as np
import pytest
import unda
from matplotlib.figure import Figure
from unda.io import html
from unda.io.plotting import colour_top
from unda.sweep import Results, SweepResult

GRID = unda.Grid((9, 7, 8), 10.0)
SPEED = np.linspace(1000, 2000, GRID.num_node).reshape(GRID.shape)


@pytest.fixture
def axes(monkeypatch):
    """Axes of the thumbnails that are made."""
    made = []
    add = Figure.add_subplot
    monkeypatch.setattr(Figure, "add_subplot", lambda *args, **kw: made.append(add(*args, **kw)) or made[-1])
    return made


def cells(text):
    return re.findall(r"<tr><th[^>]*>(.*?)</th><td[^>]*>(.*?)</td></tr>", text)


def picture(text):
    from PIL import Image

    data = re.search(r"src='data:image/png;base64,([^']+)'", text)
    return data and Image.open(BytesIO(base64.b64decode(data[1])))


def simulation():
    sim = unda.FD(GRID, unda.Acoustic(rho=1000.0, c=SPEED), device="cpu")
    sim.set(p=lambda x, y, z: x - 40.0 + 0 * y * z)
    return sim


def test_a_simulation_shows_its_numbers_and_the_plane_in_its_middle(axes):
    sim = simulation()
    sim.add_receivers([(40, 30, 20), (50, 30, 20)], name="line")
    text = sim._repr_html_()
    rows = dict(cells(text))
    assert rows["nodes"] == "504" and rows["receivers"] == "line 2" and rows["sources"] == "0"
    assert rows["time"].startswith("0 s, 0 steps of") and "504 values, 1000 to 2000" in rows["medium"]
    assert picture(text).size == (208, 160)
    under, wave = axes[0].images
    assert np.array_equal(wave.get_array(), sim.get("p")[:, 3].T) and np.allclose(
        under.get_array(), SPEED[:, 3].T
    )
    assert wave.get_clim()[1] == colour_top([sim.get("p")[:, 3]])
    flat = unda.FD(unda.Grid((9, 8, 1), 10.0), unda.Acoustic(rho=1, c=1), device="cpu")
    flat._repr_html_()
    assert axes[-1].images[1].get_array().shape == (8, 9) and "z = 0 m" in axes[-1].get_title()


@pytest.mark.parametrize("method", [unda.DG, unda.SEM])
def test_a_simulation_on_a_mesh_shows_pixels(axes, method):
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), cells=(2, 1, 1), shape="hex")
    sim = method(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2, device="cpu")
    sim.set(vx=lambda x, y, z: x)
    rows = dict(cells(sim._repr_html_()))
    assert rows["unknowns"] == f"{sim._size()[0]:,}"
    values = axes[0].images[1].get_array()
    assert np.allclose(values[5], 2 * (np.arange(160) + 0.5) / 160, atol=1e-5)


def test_a_mesh_shows_its_outer_faces_in_the_colours_of_its_materials(axes):
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), cells=(2, 1, 1), shape="hex")
    two = unda.Mesh(mesh.vertices, mesh.cells, tags=[0, 1], tag_names={"<a>": 0, "b": 1})
    text = two._repr_html_()
    rows = dict(cells(text))
    assert rows["cells"] == "2 hexahedra" and rows["materials"] == "&lt;a&gt;, b" and "<a>" not in text
    (faces,) = axes[0].collections
    assert len(faces.get_facecolor()) == 10
    assert len(np.unique(faces.get_facecolor(), axis=0)) == 2 and picture(text)


def test_a_medium_shows_a_section_of_its_speed_or_a_bar_a_material(axes):
    text = unda.Acoustic(rho=1000.0, c=SPEED)._repr_html_()
    assert cells(text)[1] == ("rho", "1000.0 kg/m3") and np.allclose(
        axes[0].images[0].get_array(), SPEED[:, 3].T
    )
    tags = unda.Elastic(rho=1.0, vp={"a": 3.0, "b": 4.0}, vs=0.0)._repr_html_()
    assert [bar.get_width() for bar in axes[1].patches] == [3.0, 4.0] and picture(tags)
    assert picture(unda.Acoustic(rho=1.0, c=1.0)._repr_html_()) is None and len(axes) == 2
    xarray = pytest.importorskip("xarray")
    c = xarray.DataArray(SPEED, dims=list("xyz"), coords=dict(zip("xyz", GRID.axes(), strict=True)))
    unda.Acoustic(rho=1.0, c=c)._repr_html_()
    assert np.allclose(axes[2].images[0].get_array(), SPEED[:, 3].T)


def test_traces_and_results_show_what_was_found(axes):
    sim = simulation()
    rec = sim.add_receivers([(40, 30, 20), (50, 30, 20)])
    assert picture(rec._repr_html_()) is None  # one sample
    sim.run(steps=3)
    assert dict(cells(rec._repr_html_()))["points"] == "2, along x [m]"
    assert np.array_equal(axes[0].images[0].get_array(), rec["p"].T)
    rec[0]._repr_html_()
    assert np.array_equal(axes[1].lines[0].get_ydata(), rec["p"][0])
    cases = [SweepResult({"kind": "a", "n": n}, {"ok": True, "error": 1 / n}) for n in range(1, 31)]
    cases.append(SweepResult({"n": 99}, error="Traceback\nValueError: <no>"))
    text = Results(cases)._repr_html_()
    assert "31 cases, 1 failed" in text and "and 11 more" in text and text.count("<tr>") == 22
    (points,) = axes[2].lines
    assert np.array_equal(points.get_xdata(), range(1, 31)) and points.get_ydata()[1] == 0.5
    assert (axes[2].get_xlabel(), axes[2].get_xscale()) == ("n", "log")
    assert "ValueError: &lt;no&gt;" in Results(cases[-2:])._repr_html_()
    assert picture(Results([])._repr_html_()) is None


def test_what_is_closed_busy_or_without_matplotlib_is_shown_without_a_picture(monkeypatch):
    sim = simulation()
    shown = []
    with sim._guard.visit():
        thread = threading.Thread(target=lambda: shown.append(sim._repr_html_()))
        thread.start()
        thread.join()
    assert picture(shown[0]) is None and cells(shown[0])
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        assert picture(sim._repr_html_()) is None and cells(sim._repr_html_())
    assert picture(sim._repr_html_()) is not None
    monkeypatch.setattr(html, "_MOST_NODES", 503)
    assert picture(sim._repr_html_()) is None
    sim.close()
    assert sim._repr_html_() == "<pre>FD(closed)</pre>"
