"""Films and pictures of planes, of both methods: which frames, at which times, where nodes are drawn.

MP4 is piped into a stand-in for ffmpeg. Not here: running (test_running.py).
"""

import signal
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import unda
from PIL import Image
from unda.io.plotting import colour_top

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # what a film holds, not whether the wave is right

matplotlib.use("Agg")

GRID = unda.Grid((13, 9, 11), (10.0, 20.0, 5.0), origin=(-40.0, 0.0, -50.0))
SPEED = np.broadcast_to(np.linspace(1500.0, 3000.0, 11), GRID.shape)


def on_a_grid():
    sim = unda.FD(GRID, unda.Acoustic(rho=1000.0, c=SPEED), device="cpu", boundary={"*": "rigid"})
    sim.add_source(unda.VolumeInjection((20.0, 80.0, -20.0), unda.ricker(30.0)))
    return sim


def on_a_mesh():
    mesh = unda.box_mesh((0, 0, 0), (100, 60, 80), (2, 2, 2))
    medium = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + 500.0 * (z > 40))
    sim = unda.DG(mesh, medium, degree=2, device="cpu")
    sim.add_source(unda.VolumeInjection((20, 30, 50), unda.ricker(30.0)))
    return sim


EACH = pytest.mark.parametrize("make", [on_a_grid, on_a_mesh])


@pytest.fixture(autouse=True)
def no_windows_left():
    yield
    plt.close("all")


# ---- films


@pytest.mark.each_value
@EACH
@pytest.mark.parametrize("background", [None, "c"])
def test_frames_have_their_times_and_the_state_is_that_of_run(tmp_path, make, background):
    sim, other = make(), make()
    path = tmp_path / "wave.gif"
    options = {"y": 30.0, "every": 4, "num": 20, "dpi": 40, "background": background}
    times = sim.movie(path, "p", steps=22, **options)
    other.run(steps=22)
    assert times == pytest.approx(np.arange(0, 23, 4) * sim.dt)
    assert np.array_equal(sim.get("p"), other.get("p")) and np.abs(sim.get("p")).max() > 0
    with Image.open(path) as film:
        assert film.n_frames == 6 and film.info["duration"] == 50
        assert film.size[0] % 2 == film.size[1] % 2 == 0
        first = np.array(film.convert("RGB"))
        film.seek(5)
        assert not np.array_equal(first, np.array(film.convert("RGB")))
    assert list(tmp_path.iterdir()) == [path]
    again = sim.movie(path, "p", until=sim.t + 6 * sim.dt, **options)
    assert again == pytest.approx(times[-1] + np.array([2, 6]) * sim.dt)


def test_a_film_has_about_a_hundred_frames_if_nothing_is_said(tmp_path):
    assert len(on_a_grid().movie(tmp_path / "a.gif", x=0.0, steps=250, dpi=20)) == 84


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_ends_the_film_there(tmp_path):
    sim, seen = on_a_grid(), []
    run = sim.run

    def interrupted(callback, **options):
        def keep(sim):
            callback(sim)
            seen.append(sim.t)
            if len(seen) == 3:
                signal.raise_signal(signal.SIGINT)

        run(callback=keep, **options)

    sim.run = interrupted
    with pytest.raises(KeyboardInterrupt):
        sim.movie(tmp_path / "a.gif", z=0.0, steps=1000, every=5, dpi=20)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 4
    assert sim.step_count == 15


STAND_IN = """#!{python}
import sys
size = sys.argv[sys.argv.index("-s") + 1]
data = sys.stdin.buffer.read()
if {fails}:
    sys.exit("no such codec")
open(sys.argv[-1], "w").write(size + " " + str(len(data)))
"""


@pytest.mark.parametrize("fails", [False, True])
def test_mp4_goes_to_ffmpeg_frame_by_frame(tmp_path, monkeypatch, fails):
    program = tmp_path / "ffmpeg"
    program.write_text(STAND_IN.format(python=sys.executable, fails=fails))
    program.chmod(0o755)
    monkeypatch.setitem(matplotlib.rcParams, "animation.ffmpeg_path", str(program))
    path = tmp_path / "wave.mp4"
    path.write_text("old")
    if fails:
        with pytest.raises(unda.FileError, match="no such codec"):
            on_a_grid().movie(path, z=0.0, steps=6, every=2, dpi=30)
        assert path.read_text() == "old"
    else:
        on_a_grid().movie(path, z=0.0, steps=6, every=2, dpi=30)
        size, num = path.read_text().split()
        wide, high = map(int, size.split("x"))
        assert wide % 2 == high % 2 == 0 and int(num) == 4 * 4 * wide * high
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ffmpeg", "wave.mp4"]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"path": "a.avi"}, unda.ArgumentError, r"\.mp4 or \.gif"),
        ({"path": "nowhere/a.gif"}, unda.FileError, "no folder"),
        ({"path": "a.mp4"}, unda.ArgumentError, "no ffmpeg.*gif"),
        ({"path": 3}, unda.ArgumentError, "file name"),
        ({"until": 1.0}, unda.ArgumentError, "either until=.* or steps="),
        ({"steps": None}, unda.ArgumentError, "either until=.* or steps="),
        ({"y": 500.0}, unda.ArgumentError, "y is 500"),
        ({"y": None}, unda.ArgumentError, "one of x, y, z"),
        ({"y": "high"}, unda.ArgumentError, "y is 'high'"),
        ({"field": "vq"}, unda.ArgumentError, "field is 'vq'"),
        ({"every": 0}, unda.ArgumentError, "every is 0"),
        ({"fps": 0}, unda.ArgumentError, "fps is 0"),
        ({"vmax": -1}, unda.ArgumentError, "vmax is -1"),
        ({"background": "vp"}, unda.ArgumentError, r"background is 'vp'.*'c'"),
        ({"background": np.ones(3)}, unda.ArgumentError, "background has shape"),
    ],
)
@EACH
def test_what_cannot_be_is_refused_before_the_first_step(tmp_path, monkeypatch, make, change, error, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(matplotlib.rcParams, "animation.ffmpeg_path", "no-such-ffmpeg")
    sim = make()
    with pytest.raises(error, match=message):
        sim.movie(**({"path": "a.gif", "y": 30.0, "steps": 5} | change))
    assert sim.step_count == 0 and list(tmp_path.iterdir()) == []


def test_a_closed_simulation_makes_no_film(tmp_path):
    sim = on_a_grid()
    sim.close()
    with pytest.raises(unda.ArgumentError, match="closed"):
        sim.movie(tmp_path / "a.gif", y=30.0, steps=5)


# ---- pictures


@pytest.mark.parametrize("axis", range(3))
def test_nodes_of_a_grid_are_drawn_where_they_are(axis):
    """Unequal spacings; z up, one metre as long on either axis, each node the middle of its pixel."""
    sim = on_a_grid()
    sim.set(p=lambda x, y, z: x + 1000 * y + 1e6 * z)
    at, (across, up) = (3, 4, 5)[axis], (i for i in range(3) if i != axis)
    where = GRID.axes()[axis][at] + 0.3 * GRID.spacing[axis]  # the nearest node is shown
    ax = sim.plot_slice("p", **{"xyz"[axis]: where}, background="c")
    image, under = ax.images
    expected = sim.get("p").take(at, axis=axis).T
    assert np.array_equal(image.get_array(), expected)
    assert np.allclose(under.get_array(), SPEED.take(at, axis=axis).T) and under.zorder < image.zorder
    left, right, bottom, top = image.get_extent()
    for (low, high), one in (((left, right), across), ((bottom, top), up)):
        n = GRID.shape[one]
        middles = low + (np.arange(n) + 0.5) * (high - low) / n
        assert np.allclose(middles, GRID.axes()[one])
    assert ax.get_aspect() == 1 and image.origin == "lower"
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"{'xyz'[across]} [m]", f"{'xyz'[up]} [m]")
    assert f"{'xyz'[axis]} = {GRID.axes()[axis][at]:g} m" in ax.get_title()
    assert ax.child_axes[-1].get_ylabel() == "p [Pa]"
    assert image.get_clim() == (-colour_top([expected]), colour_top([expected]))


def test_the_bar_is_as_high_as_the_picture():
    sim = on_a_grid()
    for plane in ({"x": 0.0}, {"y": 40.0}, {"z": 0.0}):
        ax = sim.plot_slice("p", **plane)
        ax.figure.draw_without_rendering()
        assert ax.child_axes[-1].get_position().height == pytest.approx(ax.get_position().height, rel=1e-6)


def test_a_plane_of_one_row_and_arrays_below_are_drawn():
    flat = unda.FD(unda.Grid((12, 1, 9), 10.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    ax = flat.plot_slice("p", y=0.0, vmax=2.0, background=np.ones((12, 9)))
    assert ax.images[0].get_clim() == (-2, 2) and ax.images[1].get_array().shape == (9, 12)
    with pytest.raises(unda.ArgumentError, match=r"shape \(9, 12\), expected \(12, 9\)"):
        flat.plot_slice("p", y=0.0, background=np.ones((9, 12)))
    assert flat.plot_slice("p", z=0.0).images[0].get_array().shape == (1, 12)


def test_a_mesh_shows_fields_and_medium_at_the_middles_of_pixels():
    sim = on_a_mesh()
    sim.set(p=lambda x, y, z: x + 2 * z)
    ax = sim.plot_slice("p", y=30.0, num=8, background="c")
    x, z = (np.arange(8) + 0.5) / 8 * 100, (np.arange(8) + 0.5) / 8 * 80
    assert np.allclose(ax.images[0].get_array(), x[None] + 2 * z[:, None], atol=1e-3)
    assert set(np.unique(ax.images[1].get_array())) == {1500.0, 2000.0}
    with pytest.raises(unda.ArgumentError, match="meets no cell"):
        sim.plot_slice("p", y=61.0)
