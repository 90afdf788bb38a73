"""Pictures of traces: lines, wiggles, an image of all of them, a spectrogram of one.

matplotlib is imported when one is drawn. Not here: traces (receiver.py), planes (plotting.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._check import choice, field_names, integer, number
from ..errors import ArgumentError
from ..method.fibre import length_along
from .plotting import colour_top, label_of, new_axes

KINDS = ("traces", "wiggle", "image")
_FLOOR = 80.0  # dB below the largest value, the end of a spectrogram's colours
_SHIFTS = 16  # windows of a spectrogram that begin within one window

Gain = float | str | Callable[[np.ndarray], Any]


def plot(rec: Any, kind: str, field: Any, gain: Gain, ax: Any, options: dict[str, Any]) -> Any:
    """Draw traces; see `Receivers.plot`."""
    kind = KINDS[choice("kind", kind, KINDS)]
    ax = new_axes("rec.plot", ax)
    if kind == "traces":
        return _lines(rec, field_names(field, rec.fields), gain, ax, options)
    name = only_field(rec, field)
    if rec.num_sample < 2 or len(rec) == 0:
        raise ArgumentError(
            f"there are {len(rec)} traces of {rec.num_sample} samples; expected at least 1 of 2: run first"
        )
    t, traces = rec.times(name), rec[name].astype(np.float64)
    shaped, factor, unit = _shaped(traces, t, gain, f"{name} [{rec.units[name]}]")
    place, label = places(rec.points, rec.fibre)
    order = np.argsort(place, kind="stable")
    draw = _wiggles if kind == "wiggle" else _image
    draw(ax, place[order], t, shaped[order], factor, unit, options)
    ax.set(xlabel=label, ylabel="t [s]")
    if label == "receiver":
        ax.xaxis.get_major_locator().set_params(integer=True)
    if kind == "wiggle":
        ax.set_title(unit)
    return ax


def only_field(rec: Any, field: Any) -> str:
    """Return the name of one recorded field, which may be omitted where there is only one."""
    (name, *others) = field_names(field, rec.fields)
    if others:
        raise ArgumentError(f"field is {field!r}; expected one of {list(rec.fields)}")
    return str(name)


def places(points: np.ndarray, fibre: Mapping[str, Any] | None = None) -> tuple[np.ndarray, str]:
    """Return where traces are drawn, and what that is.

    Of a fibre the length along it. Else the coordinate that varies; the distance from the first point where
    all lie on a line; on topography the same of x and y; else numbers, as also where two traces would be at
    one place.
    """
    if fibre is not None and len(points):
        return length_along(np.asarray(fibre["path"]), points), "fibre [m]"
    for shown in (points, points * (1.0, 1.0, 0.0)):
        place, label = _on_a_line(shown)
        if len(np.unique(place)) == len(points):
            return place, label
    return np.arange(float(len(points))), "receiver"


def _on_a_line(points: np.ndarray) -> tuple[np.ndarray, str]:
    """Return the coordinate or distance of points along their line, no places where they have none."""
    apart = np.ptp(points, axis=0) if len(points) else np.zeros(3)
    varying = np.flatnonzero(apart > 1e-9 * apart.max(initial=0.0))
    if len(varying) == 1:
        return points[:, varying[0]], f"{'xyz'[varying[0]]} [m]"
    if len(varying) and np.linalg.matrix_rank(points - points[0], tol=1e-6 * apart.max()) == 1:
        along = points[-1] - points[0]
        along = along if along.any() else points[np.linalg.norm(points - points[0], axis=1).argmax()]
        return (points - points[0]) @ along / (np.linalg.norm(along) or 1.0), "distance [m]"
    return np.empty(0), "receiver"


def _shaped(traces: np.ndarray, t: np.ndarray, gain: Gain, label: str) -> tuple[np.ndarray, float, str]:
    """Return traces with their gain, a factor that is left to apply, and the label."""
    if isinstance(gain, str):
        if gain != "trace":
            raise ArgumentError(f"gain is {gain!r}, expected a number, 'trace' or a function of time")
        largest = np.abs(traces).max(axis=1, keepdims=True, initial=0.0)
        return traces / np.where(largest > 0, largest, 1.0), 1.0, f"{label}, each by its largest value"
    if callable(gain):
        factors = np.asarray(gain(t), np.float64)
        if factors.shape not in ((), t.shape) or not np.isfinite(factors).all():
            raise ArgumentError(
                f"gain(t) gave shape {factors.shape} for t of {t.shape}; expected finite {t.shape}"
            )
        return traces * factors, 1.0, f"{label} × gain(t)"
    return traces, number("gain", gain, positive=True), label


def _lines(rec: Any, names: tuple[str, ...], gain: Gain, ax: Any, options: dict[str, Any]) -> Any:
    labels = []
    for name in names:
        label = f"{name} [{rec.units[name]}]"
        shaped, factor, label = _shaped(rec[name].astype(np.float64), rec.times(name), gain, label)
        labels.append(label if factor == 1.0 else f"{label} × {factor:g}")
        for point, trace in zip(rec.points, shaped, strict=True):
            place = ", ".join(f"{x:g}" for x in point)
            ax.plot(rec.times(name), factor * trace, **{"label": f"{name} at ({place})", **options})
    ax.set(xlabel="t [s]", ylabel=", ".join(labels))
    if 0 < len(rec.points) * len(names) <= 8:
        ax.legend()
    return ax


def _wiggles(
    ax: Any, place: np.ndarray, t: np.ndarray, traces: np.ndarray, factor: float, label: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Draw each trace about its place, to the right where it is positive, filled there; time downwards."""
    spacing = float(np.diff(place).min()) if len(place) > 1 else 1.0
    unit = factor * spacing / (float(np.abs(traces).max()) or 1.0)
    options = {"color": "black", "linewidth": 0.6, **options}
    for x, trace in zip(place, traces, strict=True):
        (line,) = ax.plot(x + unit * trace, t, **options)
        ax.fill_betweenx(t, x, x + unit * trace, where=trace > 0, interpolate=True,
                         color=line.get_color(), linewidth=0)  # fmt: skip
    ax.set(xlim=(place[0] - spacing, place[-1] + spacing), ylim=(t[-1], t[0]))


def _image(
    ax: Any, place: np.ndarray, t: np.ndarray, traces: np.ndarray, factor: float, label: str,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """Draw a sample as a rectangle around its place and time; time downwards."""
    top = colour_top([traces]) / factor
    options = {"cmap": "RdBu_r", "vmin": -top, "vmax": top, **options}
    image = ax.pcolorfast(_edges(place), _edges(t), traces.T, **options)
    ax.set_ylim(*_edges(t)[[-1, 0]])
    ax.figure.colorbar(image, ax=ax, label=label)


def _edges(x: np.ndarray) -> np.ndarray:
    """Return the ends of intervals around places, half way to the neighbours."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    half = 0.5 * np.diff(x)
    return np.concatenate([[x[0] - half[0]], x[:-1] + half, [x[-1] + half[-1]]])


# ---- spectrograms


def spectral_density(
    trace: np.ndarray, dt: float, width: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frequencies [Hz], times of the middles of windows from the first sample [s], and densities.

    The one-sided power spectral density (num_frequency, num_time) of windows (Hann) of `width` [s]: its
    integral over frequencies is the mean square of the trace there. Welch (1967).
    """
    from scipy.signal import spectrogram as windows

    num = len(trace)
    if num < 16:
        raise ArgumentError(f"there are {num} samples; expected at least 16 for a spectrogram")
    asked = max(8, num // 8) * dt if width is None else number("width", width, "s", positive=True)
    size = round(asked / dt)
    if not 8 <= size <= num:
        raise ArgumentError(
            f"width is {asked:.4g} s, {size} samples; expected from {8 * dt:.4g} to {num * dt:.4g} s, "
            f"8 to {num} samples"
        )
    f, t, density = windows(
        trace.astype(np.float64), 1.0 / dt, window="hann", nperseg=size,
        noverlap=size - max(1, size // _SHIFTS), nfft=max(256, 2 * size), detrend=False, scaling="density",
    )  # fmt: skip
    return f, t - 0.5 * dt, density  # scipy's sample i is at (i + 1/2) dt


def spectrogram(rec: Any, field: Any, point: int, width: Any, ax: Any, options: dict[str, Any]) -> Any:
    """Draw the spectrogram of one trace; see `Receivers.spectrogram`."""
    if len(rec) == 0:
        raise ArgumentError("there are 0 traces; expected one for a spectrogram")
    name, point = only_field(rec, field), integer("point", point, 0, len(rec) - 1)
    t = rec.times(name)
    f, middle, density = spectral_density(rec[name][point], rec.every * rec._dt, width)
    ax = new_axes("rec.spectrogram", ax)
    largest = float(density.max()) or 1.0
    with np.errstate(divide="ignore"):
        level = np.maximum(10 * np.log10(density / largest), -4 * _FLOOR) + 10 * np.log10(largest)
    top = 10 * np.log10(largest)
    options = {"cmap": "magma", "vmin": top - _FLOOR, "vmax": top, **options}
    image = ax.pcolorfast(_edges(t[0] + middle), _edges(f), level, **options)
    where = ", ".join(f"{x:g}" for x in rec.points[point])
    ax.set(xlabel="t [s]", ylabel="f [Hz]", title=f"{name} at ({where})")
    unit = label_of(rec.units[name])
    square = f"({unit})²" if set(unit) & set("/ ") else f"{unit}²"
    ax.figure.colorbar(image, ax=ax, label=f"power density [dB re 1 {square}/Hz]")
    return ax
