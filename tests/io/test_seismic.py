"""SEG-Y, miniSEED and ObsPy have the samples bit for bit, their interval, places and times.

Not here: models in SEG-Y files (test_model_file.py).
"""

import numpy as np
import pytest
import unda
from unda.io import seismic

POINTS = np.array([(1000.5, -20.25, 3.0), (1100.5, -20.25, 4.5), (1203.125, 1e5, -7.0)])


def recorded(*, dt=0.002, num=50, dtype="float32", fields=("p", "vz"), lags=None, t0=0.0, points=POINTS):
    rec = unda.Receivers(
        points, fields, units={"p": "Pa", "vz": "m/s"}, every=1, dt=dt, dtype=np.dtype(dtype),
        config={"version": "0.1.0"}, lags=lags,
    )  # fmt: skip
    rec.clear(t0, 0)
    values = np.random.default_rng(1).standard_normal((num, len(points), len(fields)))
    rec.put(0, values.astype(dtype))
    return rec


# ---- SEG-Y


def test_segyio_reads_the_bits_the_interval_and_the_places(tmp_path):
    segyio = pytest.importorskip("segyio")
    rec = recorded(t0=0.25)
    rec.write_segy(
        tmp_path / "a.sgy", "p", source=unda.VolumeInjection((1000.5, 30.0, -10.0), unda.ricker(5))
    )
    with segyio.open(tmp_path / "a.sgy", ignore_geometry=True) as file:
        assert file.trace.raw[:].tobytes() == rec["p"].tobytes()
        assert np.array_equal(file.samples, 250.0 + 2.0 * np.arange(50)) and segyio.tools.dt(file) == 2000.0
        assert file.bin[3255] == 1 and b"SEG Y REV1" in segyio.tools.wrap(file.text[0]).encode()
        scale, heights = file.attributes(71)[:], file.attributes(69)[:]
        # 1/8 m and 1e5 m are exact as thousandths
        assert set(scale) == {-1000} and set(heights) == {-10}
        for keys, values, factor in (((81, 85), POINTS[:, :2], scale), ((41,), POINTS[:, 2:], heights)):
            for key, column in zip(keys, values.T, strict=True):
                assert np.array_equal(file.attributes(key)[:] / -factor, column)
        assert (
            file.attributes(73)[:].tolist() == [1000500] * 3
            and file.attributes(77)[:].tolist() == [30000] * 3
        )
        assert file.attributes(45)[:].tolist() == [-100] * 3
        offset = np.hypot(*(POINTS[:, :2] - [1000.5, 30.0]).T)
        assert np.array_equal(file.attributes(37)[:], np.rint(offset))
        assert np.abs(file.attributes(181)[:] / 1000 - (POINTS[:, 0] + 1000.5) / 2).max() <= 0.5001e-3


def test_obspy_reads_the_same_segy_file(tmp_path):
    obspy = pytest.importorskip("obspy")
    pytest.importorskip("segyio")
    rec = recorded()
    rec.write_segy(tmp_path / "a.sgy", "vz")
    stream = obspy.read(tmp_path / "a.sgy", format="SEGY", unpack_trace_headers=True)
    assert np.array([trace.data for trace in stream]).astype(np.float32).tobytes() == rec["vz"].tobytes()
    assert {trace.stats.delta for trace in stream} == {0.002}
    heads = [trace.stats.segy.trace_header for trace in stream]
    factor = -heads[0].scalar_to_be_applied_to_all_coordinates
    assert [one.group_coordinate_x / factor for one in heads] == POINTS[:, 0].tolist()
    assert [one.group_coordinate_y / factor for one in heads] == POINTS[:, 1].tolist()


def test_double_precision_is_rounded_once(tmp_path):
    segyio = pytest.importorskip("segyio")
    rec = recorded(dtype="float64")
    rec.write_segy(tmp_path / "a.sgy", "p")
    with segyio.open(tmp_path / "a.sgy", ignore_geometry=True) as file:
        assert file.trace.raw[:].tobytes() == rec["p"].astype(np.float32).tobytes()


def test_other_intervals_and_starts_are_refused_or_interpolated(tmp_path):
    """At 20 samples a period splines of degree 5 are off by at most 4/pi (2/20)^6 = 1.3e-6."""
    segyio = pytest.importorskip("segyio")
    path = tmp_path / "a.sgy"
    for rec, words in (
        (recorded(dt=0.00087654), r"interval of the samples is 876.54 µs; expected a whole number"),
        (recorded(dt=0.04), "interval of the samples is 40000 µs"),
        (recorded(dt=1e-8), "interval of the samples is 0.01 µs"),
        (recorded(lags={"p": -0.001 / 4}), "start of the samples is -0.25 ms"),
        (recorded(t0=40.0), r"start of the samples is 40000 ms; .* begin nearer to t = 0"),
        (recorded(num=1), "3 traces of 1 samples"),
        (recorded(num=40000), "40000 samples a trace"),
        (recorded(points=np.array([[1e14, 0, 0]])), "a coordinate is 1e.14 m"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            rec.write_segy(path, "p")
    assert not path.exists()
    with pytest.raises(unda.ArgumentError, match="expected one of"):
        recorded().write_segy(path)
    array = unda.Array([(0, 0, 0), (1, 0, 0)], unda.ricker(10.0))
    with pytest.raises(unda.ArgumentError, match=r"<2 points>.* one place of a shot; expected that"):
        recorded().write_segy(path, "p", source=array)
    recorded().write_segy(path, "p", source=array.points.mean(axis=0))
    dt, lag = 0.00087654, -0.00087654 / 2
    rec = recorded(dt=dt, num=400, dtype="float64", lags={"p": lag}, fields=("p",))
    t = rec.times("p")
    period = 20 * dt
    window = np.sin(np.pi * np.clip((t - 0.05) / 0.25, 0, 1)) ** 8

    def wave(t):
        return np.sin(2 * np.pi * t / period)

    rec.clear(0.0, 0)
    rec.put(0, np.repeat(wave(t)[:, None, None], 3, axis=1))
    rec.write_segy(path, dt=0.001)
    with segyio.open(path, ignore_geometry=True) as file:
        assert segyio.tools.dt(file) == 1000.0 and file.samples[0] == 0.0
        found, at = file.trace.raw[0], 1e-3 * np.asarray(file.samples)
    assert at[-1] <= t[-1] < at[-1] + 0.001 and window.shape == t.shape
    error = np.abs(found - wave(at))[20:-20].max()
    assert error < 1.3e-6 + 2.0**-24
    assert np.abs(found - wave(at + 1e-6))[20:-20].max() > 1e-4


def test_places_have_the_first_exact_scalar_or_the_finest_that_fits():
    assert seismic._scalar(np.array([10.0, -3.0])) == 1
    assert seismic._scalar(np.array([10.5])) == -10 and seismic._scalar(np.array([0.125])) == -1000
    assert seismic._scalar(np.array([1 / 3])) == -10000
    assert seismic._scalar(np.array([1 / 3, 3e6])) == -100  # 3e9 would not fit
    assert seismic._scalar(np.array([5e9])) == 10
    assert seismic._scaled(np.array([5e9]), 10).tolist() == [5e8]
    assert seismic._scaled(np.array([10.5]), -10).tolist() == [105]


# ---- ObsPy and miniSEED


def test_a_stream_has_each_trace_with_its_time_place_and_unit():
    obspy = pytest.importorskip("obspy")
    rec = recorded(lags={"vz": -0.001}, t0=0.5)
    stream = rec.to_obspy(starttime="2024-05-06T07:08:09", network="UN", station="R", channels={"vz": "BXZ"})
    assert len(stream) == 6 and {one.id for one in stream} == {
        f"UN.R000{i}..{code}" for i in range(3) for code in ("P", "BXZ")
    }
    start = obspy.UTCDateTime(2024, 5, 6, 7, 8, 9)
    for one in stream:
        about = one.stats.unda
        i = int(one.stats.station[1:])
        assert one.data.tobytes() == rec[about.field][i].tobytes() and one.stats.delta == 0.002
        assert [about.x, about.y, about.z] == POINTS[i].tolist() and about.unit == rec.units[about.field]
        assert one.stats.starttime == start + rec.times(about.field)[0]
    assert rec.to_obspy("p")[0].stats.starttime == obspy.UTCDateTime(0.5)
    with pytest.raises(unda.ArgumentError, match="station is 'ABCDE'"):
        rec.to_obspy(station="ABCDE")


def test_strain_of_a_fibre_and_its_rate_have_codes_of_their_own():
    """Whether they are written together or each alone."""
    together = seismic._codes(["strain", "strain_rate"])
    assert together == {**seismic._codes(["strain"]), **seismic._codes(["strain_rate"])}
    assert together == {"strain": "STR", "strain_rate": "SRT"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_miniseed_has_the_bits_and_the_rate_to_single_precision(tmp_path, dtype):
    """Of 5000 samples 2.1 µs apart, many records: their rounded times must not tear a trace into parts."""
    obspy = pytest.importorskip("obspy")
    rec = recorded(dtype=dtype, num=5000, dt=2.1e-6, lags={"vz": -1e-6})
    rec.write_miniseed(tmp_path / "a.mseed", starttime=10.0)
    stream = obspy.read(tmp_path / "a.mseed")
    assert len(stream) == 6
    for one in stream:
        name = {"P": "p", "VZ": "vz"}[one.stats.channel]
        assert one.data.tobytes() == rec[name][int(one.stats.station)].tobytes()
        assert one.stats.delta == pytest.approx(2.1e-6, rel=2.0**-24)
        assert abs(one.stats.starttime - (obspy.UTCDateTime(10.0) + rec.times(name)[0])) <= 1e-6
    with pytest.raises(unda.ArgumentError, match="1e-06 s apart; expected more than 2e-06 s"):
        recorded(dt=1e-6).write_miniseed(tmp_path / "b.mseed")
    for rec, options, words in (
        (recorded(num=0), {}, "traces of 0 samples"),
        (recorded()[:0], {}, "0 traces of"),
        (recorded(), {"starttime": "soon"}, "starttime is 'soon', expected a time of obspy"),
        (recorded(), {"channels": {"vx": "BXX"}}, r"channels has 'vx'; expected names of \['p', 'vz'\]"),
        (recorded(), {"channels": {"vz": "VELZ"}}, "channels.'vz'. is 'VELZ', .* at most 3 letters"),
        (
            recorded(),
            {"channels": {"vz": "P"}},
            r"codes of \['p', 'vz'\] are \['P', 'P'\]; expected different",
        ),
        (recorded(), {"network": "LONG"}, "network is 'LONG', expected a code of at most 2 letters"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            rec.write_miniseed(tmp_path / "b.mseed", **options)
    assert not (tmp_path / "b.mseed").exists()


def test_codes_of_channels_are_three_letters_apart():
    names = [*unda.Elastic(rho=1, vp=2, vs=1).traces, "p", "ex", "hy", "chi", "ux", "ax"]
    codes = seismic._codes([*names, "strain", "strain_rate"])
    assert len(set(codes.values())) == len(names) + 2 and all(1 <= len(code) <= 3 for code in codes.values())
    assert codes["vz"] == "VZ" and codes["curl_x"] == "CUX" and codes["strain_rate"] == "SRT"
