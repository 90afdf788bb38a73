"""What pictures of traces show are the samples: at their places and times, with their gain.

Not here: planes (test_slices.py, test_movie.py).
"""

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
import unda
from unda.io import trace_plots
from unda.io.plotting import colour_top
from unda.method.fibre import Fibre

matplotlib.use("Agg")
X = np.array([30.0, 10.0, 20.0])


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def recorded(points, traces, dt=0.001, fields=("p",), lags=None, t0=0.0):
    """Receivers with these samples (field, point, sample)."""
    rec = unda.Receivers(
        np.asarray(points, float), fields, units={"p": "Pa", "vz": "m/s"}, every=1, dt=dt,
        dtype=np.dtype("float64"), config={}, lags=lags,
    )  # fmt: skip
    rec.clear(t0, 0)
    rec.put(0, np.moveaxis(np.asarray(traces, float), 0, -1).swapaxes(0, 1).copy())
    return rec


@pytest.fixture
def three():
    """Three traces on a line, not in order, whose largest values are 1, 2 and 4."""
    shape = np.sin(np.linspace(0, 2 * np.pi, 41))
    return recorded([(x, 5.0, 0.0) for x in X], [[shape, 2 * shape, -4 * shape]])


def test_lines_are_the_samples_at_the_times_of_their_field():
    rec = recorded([(1, 2, 3)], [[[0, 1, 2]], [[5, 4, 3]]], fields=("p", "vz"), lags={"vz": -0.0005})
    p, v = rec.plot(gain=2.0).lines
    assert np.array_equal(p.get_xdata(), [0, 0.001, 0.002]) and np.array_equal(p.get_ydata(), [0, 2, 4])
    assert np.array_equal(v.get_xdata(), rec.times("vz")) and np.array_equal(v.get_ydata(), [10, 8, 6])
    assert p.axes.get_ylabel() == "p [Pa] × 2, vz [m/s] × 2" and "p at (1, 2, 3)" in p.get_label()
    (only,) = rec.plot(field="vz", color="red").lines
    assert only.get_color() == "red" and only.axes.get_ylabel() == "vz [m/s]"


def test_the_largest_wiggle_reaches_its_neighbour_and_time_goes_down(three):
    ax = three.plot("wiggle")
    assert len(ax.lines) == 3 and ax.get_xlabel() == "x [m]" and ax.get_ylim() == (0.04, 0.0)
    for x, line in zip(sorted(X), ax.lines, strict=True):  # in the order of their places
        trace = three["p"][list(X).index(x)]
        assert np.allclose(line.get_xdata(), x + trace * 10 / 4, rtol=0, atol=1e-12)
        assert np.array_equal(line.get_ydata(), three.t)
    reach = [np.abs(line.get_xdata() - x).max() for x, line in zip(sorted(X), ax.lines, strict=True)]
    assert reach == pytest.approx([5, 10, 2.5])
    filled = ax.collections[0].get_paths()[0].vertices
    assert filled[:, 0].min() == 10.0  # to the right of the place alone


def test_gains_scale_wiggles_as_they_say(three):
    def reach(gain):
        lines = three.plot("wiggle", gain=gain).lines
        return [np.abs(line.get_xdata() - x).max() for x, line in zip(sorted(X), lines, strict=True)]

    assert reach(3.0) == pytest.approx([15, 30, 7.5])
    assert reach("trace") == pytest.approx([10, 10, 10])
    late = three.plot("wiggle", gain=lambda t: t).lines[1].get_xdata() - 20.0
    expected = -4 * np.sin(np.linspace(0, 2 * np.pi, 41)) * three.t
    assert np.allclose(late, expected * 10 / np.abs(expected).max(), rtol=0, atol=1e-12)


def test_an_image_has_each_sample_around_its_place_and_time(three):
    ax = three.plot("image", gain=2.0, cmap="PuOr")
    image = ax.images[0]
    assert np.array_equal(image.get_array(), three["p"][[1, 2, 0]].T)
    assert image.get_extent() == pytest.approx([5, 35, -0.0005, 0.0405])
    top = colour_top([three["p"]])
    assert image.get_clim() == pytest.approx((-top / 2, top / 2)) and image.get_cmap().name == "PuOr"
    assert ax.get_ylim() == pytest.approx((0.0405, -0.0005))
    assert three.plot("image", vmin=-7, vmax=9).images[0].get_clim() == (-7, 9)


def test_traces_at_unequal_places_are_drawn_between_their_middles():
    rec = recorded([(0, 0, 1), (0, 0, 2), (0, 0, 8)], [np.arange(12).reshape(3, 4)])
    ax = rec.plot("image")
    assert ax.get_xlabel() == "z [m]" and ax.get_xlim() == pytest.approx((0.5, 11.0))
    assert np.array_equal(ax.images[0].get_array(), rec["p"].T)


def test_places_are_a_coordinate_a_distance_or_numbers():
    assert trace_plots.places(np.array([[0, 5, 1], [0, 7, 1.0]]))[1] == "y [m]"
    place, label = trace_plots.places(np.array([[0, 0, 0], [3, 4, 0], [6, 8, 0.0]]))
    assert label == "distance [m]" and np.allclose(place, [0, 5, 10])
    # topography: x alone is the place, as it is on a plane; a loop in x stays numbers
    place, label = trace_plots.places(np.array([[0, 2, 1], [10, 2, 5], [30, 2, 0.0]]))
    assert label == "x [m]" and np.array_equal(place, [0, 10, 30])
    place, label = trace_plots.places(np.array([[0, 0, 1], [3, 4, 5], [6, 8, 0.0]]))
    assert label == "distance [m]" and np.allclose(place, [0, 5, 10])
    assert trace_plots.places(np.array([[0, 2, 1], [10, 2, 5], [0, 2, 7.0]]))[1] == "receiver"
    for points in ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [1, 0, 0], [1, 0, 0]], [[1, 2, 3]]):
        place, label = trace_plots.places(np.array(points, float))
        assert label == "receiver" and np.array_equal(place, range(len(points)))


def test_channels_of_a_fibre_are_drawn_along_it_in_whatever_order():
    """Gauges of 4 m every 3 m: their middles are 2, 5, .. m along the fibre, around its corners too."""
    path = [(0, 0, 0), (10, 0, 0), (10, 10, 0), (10, 10, 7.0)]
    made = Fibre(path, 4.0, 3.0)
    place, label = trace_plots.places(made.points, made.given)
    assert label == "fibre [m]" and np.allclose(place, 2.0 + 3.0 * np.arange(8), rtol=0, atol=1e-12)
    back, _ = trace_plots.places(made.points[::-1], made.given)
    assert np.array_equal(back, place[::-1])
    assert trace_plots.places(made.points)[1] == "receiver"


def test_a_spectrogram_shows_the_frequency_and_the_mean_square_of_a_tone():
    """A sine of amplitude 3 has mean square 4.5; a window of many periods has it up to the square of the
    Hann window's sidelobes, 1e-3 at 20 periods and more."""
    t = np.arange(2000) * 0.001
    tone = 3.0 * np.sin(2 * np.pi * 80.0 * t)
    f, middle, density = trace_plots.spectral_density(tone, 0.001, 0.25)
    assert middle[0] == pytest.approx(0.1245) and middle[-1] < 1.9
    assert np.allclose(density.sum(axis=0) * (f[1] - f[0]), 4.5, rtol=1e-3)
    assert np.all(np.abs(f[density.argmax(axis=0)] - 80.0) <= f[1])
    rec = recorded([(0, 0, 0), (1, 0, 0)], [[0 * t, tone]], t0=5.0)
    ax = rec.spectrogram(point=1, width=0.25)
    shown = ax.images[0].get_array()
    assert np.allclose(shown.max(axis=0), 10 * np.log10(density.max(axis=0)), atol=1e-9)
    assert ax.get_xlim()[0] == pytest.approx(5 + middle[0] - 0.5 * (middle[1] - middle[0]))
    assert ax.get_ylim() == pytest.approx((-f[1] / 2, 500 + f[1] / 2))


def test_what_cannot_be_drawn_is_refused(three):
    for call, words in (
        (lambda: three.plot("wigle"), r"kind is 'wigle', expected one of \['traces'"),
        (lambda: three.plot("wiggle", "vz"), "no fields"),
        (lambda: three.plot("image", gain=-1), "gain is -1"),
        (lambda: three.plot("image", gain="agc"), "gain is 'agc'"),
        (
            lambda: three.plot("image", gain=np.ones(3)),
            r"gain is an array of shape \(3,\); expected a finite",
        ),
        (lambda: three[:0].spectrogram(), "0 traces; expected one"),
        (lambda: three.plot("wiggle", gain=lambda t: t[1:]), "gain.t. gave shape"),
        (lambda: three.spectrogram(point=3), "point is 3; expected an integer, 0 to 2"),
        (lambda: three.spectrogram(width=1.0), "width is 1 s, 1000 samples"),
        (lambda: recorded([(0, 0, 0)], [[[1.0]]]).plot("wiggle"), "1 traces of 1 samples"),
        (lambda: recorded([(0, 0, 0)], [[[1.0] * 9]]).spectrogram(), "9 samples; expected at least 16"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            call()
    two = recorded([(0, 0, 0)], [[[0.0, 1]], [[1, 0]]], fields=("p", "vz"))
    with pytest.raises(unda.ArgumentError, match="expected one of"):
        two.plot("wiggle")


# ---- receivers as a sequence


def test_receivers_are_counted_gone_through_and_cut():
    samples = np.arange(2 * 5 * 4.0).reshape(2, 5, 4)
    points = np.arange(15.0).reshape(5, 3)
    rec = recorded(points, samples, fields=("p", "vz"), lags={"vz": -0.0005}, t0=1.0)
    assert len(rec) == 5 and "p" in rec and "vx" not in rec
    for which in (2, -1, slice(1, 4), slice(None, None, -2), [0, 3], np.array([True, False] * 2 + [True])):
        rows = np.atleast_1d(np.arange(5)[which])
        some = rec[which]
        assert isinstance(some, unda.Receivers) and np.array_equal(some.points, points[rows])
        assert np.array_equal(some["vz"], rec["vz"][rows]) and np.array_equal(
            some.times("vz"), rec.times("vz")
        )
    assert [one.points.tolist() for one in rec] == points[:, None].tolist()
    for wrong in (5, "vx", 1.5, None, (0, 1), [[0]]):
        with pytest.raises((IndexError, unda.ArgumentError), match=r"there are"):
            rec[wrong]
    with pytest.raises(TypeError, match=r"no array; .* rec\['p'\]"):
        np.asarray(rec)


def test_some_receivers_are_those_so_far_with_their_sides_and_solutions():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
    rec = sim.add_receivers([(0.5, 0.2, 0.3), (0.5, 0.6, 0.7)], side=[(1, 0, 0), (-1, 0, 0)])
    sim.set(p=lambda x, y, z: x)
    sim.run(steps=2)
    one = rec[1:]
    sim.run(steps=1)
    assert (one.num_sample, rec.num_sample, one.side) == (3, 4, [[-1.0, 0.0, 0.0]])
    assert one.misfit(one).tolist() == [0.0]
    exact = unda.exact.rigid_box_mode(sim.medium, (0, 0, 0), (1, 1, 1), n=(1, 0, 0))
    assert one.misfit(exact).shape == (1,)
