"""Traces for seismology: ObsPy streams, SEG-Y and miniSEED files.

obspy and segyio are imported where they are used. Not here: models in SEG-Y files (_segy.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._check import field_names, file_path, number, vector
from .._extra import extra
from .._files import whole_file
from ..errors import ArgumentError
from ..problem.source import Source
from .trace_plots import only_field

_MICRO = 1e-6  # [s], the unit of SEG-Y's sample interval and of miniSEED's times
_MOST = 32767  # of a two-byte integer
_LARGEST = 2**31 - 1
_LETTERS = 2, 3  # of a network's and a channel's code in miniSEED
_SPLINE = 5  # degree of the splines that interpolate between samples


# ---- ObsPy


def to_obspy(
    rec: Any, fields: Any, starttime: Any, network: str, station: str, channels: Mapping[str, str] | None
) -> Any:
    """Return a stream; see `Receivers.to_obspy`."""
    obspy = extra("obspy", "to_obspy")
    try:
        start = obspy.UTCDateTime(0 if starttime is None else starttime)
    except Exception as error:  # obspy's and Python's, of many kinds
        raise ArgumentError(f"starttime is {starttime!r}, expected a time of obspy: {error}") from None
    names = field_names(fields, rec.fields)
    _refuse_codes(rec, network, station, channels or {}, (20, 20))
    digits = 5 - len(station)
    if len(str(max(0, len(rec) - 1))) > digits:
        raise ArgumentError(
            f"station is {station!r}; expected room for the numbers of {len(rec)} receivers in codes of five "
            "letters"
        )
    codes = {**_codes(names), **(channels or {})}
    chosen = [codes[name] for name in names]
    if len(set(chosen)) < len(chosen):
        raise ArgumentError(f"codes of {list(names)} are {chosen}; expected different ones: channels=")
    made = []
    for name in names:
        values, first = rec[name], rec.times(name)[:1]
        for i, point in enumerate(rec.points):
            header = {
                "network": network, "station": f"{station}{i:0{digits}d}", "channel": codes[name],
                "delta": rec.every * rec._dt, "starttime": start + float(first[0] if len(first) else 0.0),
                "unda": {
                    "field": name, "unit": rec.units[name], **dict(zip("xyz", point.tolist(), strict=True))
                },
            }  # fmt: skip
            made.append(obspy.Trace(np.ascontiguousarray(values[i]), header))
    return obspy.Stream(made)


def _refuse_codes(
    rec: Any, network: Any, station: Any, channels: Mapping[Any, Any], most: tuple[int, int]
) -> None:
    """Raise unless codes are of fields and texts, of so many letters at most."""
    for name in channels:
        if name not in rec.fields:
            raise ArgumentError(f"channels has {name!r}; expected names of {list(rec.fields)}")
    given = {"station": (station, 5), "network": (network, most[0])}
    given |= {f"channels[{name!r}]": (code, most[1]) for name, code in channels.items()}
    for what, (code, longest) in given.items():
        if not isinstance(code, str) or len(code) > longest:
            raise ArgumentError(f"{what} is {code!r}, expected a code of at most {longest} letters")


def _codes(names: Iterable[str]) -> dict[str, str]:
    """Return codes of up to three letters, no two alike: VZ, SXX, DIV, CUX; of fibres STR and SRT."""
    made: dict[str, str] = {}
    for name in names:
        plain = "SRT" if name == "strain_rate" else name.upper().replace("CURL_", "CU").replace("_", "")[:3]
        numbered = (f"{plain[:2]}{i}" for i in range(1, 10))
        made[name] = next(code for code in (plain, *numbered) if code not in made.values())
    return made


# ---- miniSEED


def write_miniseed(rec: Any, path: Any, **options: Any) -> None:
    """Write a file; see `Receivers.write_miniseed`."""
    path = file_path(path)
    dt = rec.every * rec._dt
    _refuse_codes(rec, options["network"], options["station"], options["channels"] or {}, _LETTERS)
    if rec.num_sample == 0 or len(rec) == 0:
        raise ArgumentError(f"there are {len(rec)} traces of {rec.num_sample} samples; expected one at least")
    if dt <= 2 * _MICRO:
        raise ArgumentError(
            f"the samples are {dt:.6g} s apart; expected more than 2e-06 s, as miniSEED gives times of "
            "records in microseconds: rec.save(...) and rec.to_xarray() have no such limit"
        )
    stream = to_obspy(rec, **options)
    with whole_file(path) as (partial, _):
        stream.write(str(partial), format="MSEED")


# ---- SEG-Y


def write_segy(rec: Any, path: Any, field: Any, source: Any, dt: Any) -> None:
    """Write a file; see `Receivers.write_segy`."""
    name, path = only_field(rec, field), file_path(path)
    if rec.num_sample < 2 or len(rec) == 0:
        raise ArgumentError(
            f"there are {len(rec)} traces of {rec.num_sample} samples; expected 1 of 2 or more"
        )
    t, traces = rec.times(name), rec[name]
    step = rec.every * rec._dt if dt is None else number("dt", dt, "s", positive=True)
    if dt is not None:
        t, traces = _resampled(t, traces, step)
    interval, delay = _whole("interval", step / _MICRO), _whole("start", float(t[0]) / 1e-3)
    if len(t) > _MOST:
        raise ArgumentError(
            f"there are {len(t)} samples a trace; expected at most {_MOST}, which SEG-Y has: a longer dt="
        )
    place = _place(source)
    segyio = extra("segyio", "write_segy")
    spec = segyio.spec()
    spec.format, spec.sorting = 5, 1  # IEEE, four bytes; as recorded
    spec.samples = 1e3 * t
    spec.tracecount = len(traces)
    with whole_file(path) as (partial, _), segyio.create(str(partial), spec) as file:
        file.text[0] = segyio.tools.create_text_header(_text(rec, name))
        file.bin.update(
            {
                segyio.BinField.Interval: interval, segyio.BinField.Samples: len(t),
                segyio.BinField.Format: 5, segyio.BinField.MeasurementSystem: 1,
                segyio.BinField.SEGYRevision: 1, segyio.BinField.TraceFlag: 1,
                segyio.BinField.Traces: len(traces),
            }
        )  # fmt: skip
        scale, heights, headers = _headers(rec.points, place)
        for i, trace in enumerate(traces):
            file.header[i] = {
                segyio.TraceField.TRACE_SEQUENCE_LINE: i + 1,
                segyio.TraceField.TRACE_SEQUENCE_FILE: i + 1,
                segyio.TraceField.FieldRecord: 1,
                segyio.TraceField.TraceNumber: i + 1,
                segyio.TraceField.TraceIdentificationCode: 1,
                segyio.TraceField.SourceGroupScalar: scale,
                segyio.TraceField.ElevationScalar: heights,
                segyio.TraceField.CoordinateUnits: 1,
                segyio.TraceField.DelayRecordingTime: delay,
                segyio.TraceField.TRACE_SAMPLE_COUNT: len(t),
                segyio.TraceField.TRACE_SAMPLE_INTERVAL: interval,
                **{getattr(segyio.TraceField, key): int(values[i]) for key, values in headers.items()},
            }
            file.trace[i] = trace.astype(np.float32)


def _place(source: Any) -> np.ndarray | None:
    """Return where a shot is, given as a source or a place."""
    if source is None:
        return None
    num = len(source.places()) if isinstance(source, Source) else 1
    if num > 1:
        raise ArgumentError(
            f"source is {source!r}, and SEG-Y has one place of a shot; expected that, such as "
            "source=array.points.mean(axis=0)"
        )
    return np.array(vector("source", getattr(source, "position", source), "m"))


def _whole(what: str, value: float) -> int:
    """Return a sample interval [µs] or a start [ms] as SEG-Y has it, or raise."""
    found = round(value)
    low, unit = (1, "µs") if what == "interval" else (-_MOST, "ms")
    whole = abs(value - found) <= 1e-6 * max(1.0, abs(found))
    if not whole or not low <= found <= _MOST:
        way = "dt=0.001 writes samples interpolated at multiples of 1 ms; or sample_dt= of the simulation"
        if whole and what == "start":
            way = "begin nearer to t = 0, by sim.set(t=...)"
        raise ArgumentError(
            f"the {what} of the samples is {value:.9g} {unit}; expected a whole number of {unit}, {low} to "
            f"{_MOST}, which is what SEG-Y has: {way}"
        )
    return found


def _resampled(t: np.ndarray, traces: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return traces at multiples of dt, by splines of degree 5 through the samples.

    A sine of n samples a period is off by at most 4/pi (2/n)^6 of its amplitude, away from the ends (the
    Favard constant of cardinal splines, de Boor 1978): 8e-5 for 10 samples, 1e-6 for 20.
    """
    from scipy.interpolate import make_interp_spline

    if len(t) <= _SPLINE:
        raise ArgumentError(f"there are {len(t)} samples; expected at least {_SPLINE + 1} to interpolate")
    first, last = int(np.ceil(t[0] / dt - 1e-6)), int(np.floor(t[-1] / dt + 1e-6))
    if last <= first:
        raise ArgumentError(f"dt is {dt:.6g} s, and the samples last {t[-1] - t[0]:.6g} s; expected less")
    at = dt * np.arange(first, last + 1)
    spline = make_interp_spline(t, traces.T.astype(np.float64), _SPLINE)
    return at, np.asarray(spline(np.clip(at, t[0], t[-1]))).T


def _headers(points: np.ndarray, source: np.ndarray | None) -> tuple[int, int, dict[str, np.ndarray]]:
    """Return scalars of coordinates and heights, and what trace headers have of places."""
    known = points if source is None else np.vstack([points, source])
    scale, heights = _scalar(known[:, :2]), _scalar(known[:, 2:])
    x, y = (_scaled(points[:, i], scale) for i in (0, 1))
    found = {
        "GroupX": x, "GroupY": y, "CDP_X": x, "CDP_Y": y,
        "ReceiverGroupElevation": _scaled(points[:, 2], heights),
    }  # fmt: skip
    if source is None:
        return scale, heights, found
    same = np.ones(len(points))
    offset = np.hypot(*(points[:, :2] - source[:2]).T)
    return scale, heights, found | {
        "SourceX": _scaled(source[0] * same, scale), "SourceY": _scaled(source[1] * same, scale),
        "SourceSurfaceElevation": _scaled(source[2] * same, heights),
        "offset": np.rint(offset),
        "CDP_X": _scaled(0.5 * (points[:, 0] + source[0]), scale),
        "CDP_Y": _scaled(0.5 * (points[:, 1] + source[1]), scale),
    }  # fmt: skip


def _scalar(values: np.ndarray) -> int:
    """Return the scalar of SEG-Y's integers: the first with which they are exact, else the finest that fits.

    -n: they are n times the coordinates [m]; n: the coordinates are n times these.
    """
    largest = float(np.abs(values).max(initial=0.0))
    fitting = [n for n in (1, 10, 100, 1000, 10000) if largest * n <= _LARGEST]
    if not fitting:
        large = [n for n in (10, 100, 1000, 10000) if largest / n <= _LARGEST]
        if not large:
            raise ArgumentError(f"a coordinate is {largest:.6g} m; expected at most 2.1e13 m, SEG-Y's most")
        return large[0]
    exact = (n for n in fitting if np.abs(values * n - np.rint(values * n)).max(initial=0.0) < 1e-6)
    n = next(exact, fitting[-1])
    return 1 if n == 1 else -n


def _scaled(values: np.ndarray, scalar: int) -> np.ndarray:
    return np.rint(values * -scalar if scalar < 0 else values / scalar)


def _text(rec: Any, name: str) -> dict[int, str]:
    """Return the lines of the text header."""
    version = rec.config.get("version", "")
    lines = {
        1: f"Synthetic traces of unda {version}",
        2: f"{name} [{rec.units[name]}], {len(rec)} receivers {rec.name or ''}",
        3: "Samples: IEEE floating point, 4 bytes. Positions: metres, z up, elevation is z",
        4: "Receivers: bytes 81, 85, 41. Source: bytes 73, 77, 45. CDP: bytes 181, 185",
        39: "SEG Y REV1",
        40: "END TEXTUAL HEADER",
    }
    return {number: text[:76] for number, text in lines.items()}
