"""Pictures of planes through a simulation; matplotlib is imported when one is drawn.

Not here: sampling fields on a plane (grid_plane.py, mesh_plane.py), movies (movie.py), traces
(trace_plots.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._check import field_names, number
from .._extra import extra
from .._units import plain
from ..errors import ArgumentError

_SAMPLES = 2_000_000  # values from which a scale of colours is computed
_PART = 0.75  # of the sum of abs(values) lies below the end of the scale


class Plane(NamedTuple):
    """A plane x, y or z = const through a simulation, cut into pixels."""

    normal: str
    place: float  # [m], where it truly is
    extent: tuple[float, float, float, float]  # left, right, bottom, top [m], half a pixel beyond the centres
    read: Callable[[], np.ndarray]  # the field as it is now (up, across)
    material: Callable[[str], np.ndarray]  # a parameter of the medium (up, across)
    nodes: tuple[int, int] | None  # (across, up) of a grid; None on meshes, where pixels are a choice


def chosen_plane(sim: Any, field: Any, coordinates: Mapping[str, Any], num: Any = 200) -> Plane:
    """Return the plane whose coordinate is not None, else that of a grid in two dimensions; or raise."""
    given = {name: value for name, value in coordinates.items() if value is not None} or _only_plane(sim)
    if len(given) != 1 or not isinstance(field, str) or field not in sim._points.traces:
        raise ArgumentError(
            f"field is {field!r}, plane {given}; expected one of {list(sim._points.traces)} and one of "
            "x, y, z"
        )
    ((normal, value),) = given.items()
    plane: Plane = sim._plane(field, "xyz".index(normal), number(normal, value, "m"), num)
    return plane


def _only_plane(sim: Any) -> dict[str, float]:
    if not hasattr(sim, "grid"):
        return {}
    flat = [i for i, num in enumerate(sim.grid.shape) if num == 1]
    return {"xyz"[flat[0]]: sim.grid.origin[flat[0]]} if len(flat) == 1 else {}


def background_values(sim: Any, plane: Plane, given: Any) -> np.ndarray | None:
    """Return the background of the wave (up, across): a parameter of the medium by name, or an array."""
    if given is None:
        return None
    if isinstance(given, str):
        if given not in sim.medium.parameters:
            raise ArgumentError(f"background is {given!r}, expected one of {list(sim.medium.parameters)}")
        return plane.material(given)
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"background is {given!r}, expected an array (across, up)") from None
    if values.ndim != 2 or values.size == 0 or plane.nodes not in (None, values.shape):
        wanted = "(across, up)" if plane.nodes is None else plane.nodes
        raise ArgumentError(f"background has shape {values.shape}, expected {wanted}")
    return values.T


def colour_top(frames: Sequence[np.ndarray]) -> float:
    """Return the end of a scale of colours: below it lie three quarters of the sum of abs(values).

    Neither silence, however long, nor a few large values at a source move it much.
    """
    thin = max(1, sum(frame.size for frame in frames) // _SAMPLES)
    seen = np.concatenate([np.abs(frame.ravel()[i % thin :: thin]) for i, frame in enumerate(frames)])
    seen = np.sort(seen[np.isfinite(seen)]).astype(float)
    if seen.size == 0 or seen[-1] == 0:
        return 1.0
    part = np.cumsum(seen / seen[-1])
    return float(seen[np.searchsorted(part, _PART * part[-1])])


def new_axes(what: str, ax: Any) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    return extra("matplotlib.pyplot", what).subplots(layout="constrained")[1]


def label_of(unit: str) -> str:
    """Return a unit as pictures show it: m/s² for m/s2."""
    return unit.translate(str.maketrans("23", "²³"))


def _colours(cmap: Any) -> Any:
    """Return a colour map by its name, or the one that was given."""
    from matplotlib import colormaps

    try:
        return colormaps.get_cmap(cmap)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"cmap is {cmap!r}, expected a colour map of matplotlib: {error}") from None


def _see_through(cmap: Any) -> Any:
    """Return the colours of a wave, transparent where it is 0."""
    from matplotlib.colors import ListedColormap

    height = np.linspace(-1, 1, 256)
    colours = cmap(0.5 + 0.5 * np.sign(height) * (0.35 + 0.65 * np.abs(height)))
    colours[:, 3] = np.minimum(1, 1.6 * np.abs(height))
    return ListedColormap(colours, "wave")


def draw(
    ax: Any, plane: Plane, values: np.ndarray, top: float, label: str, under: np.ndarray | None,
    cmap: Any = "RdBu_r",
) -> Any:  # fmt: skip
    """Draw values (up, across) between -top and top, with axes and colour bar; returns the image."""
    options: dict[str, Any] = {"origin": "lower", "extent": plane.extent}
    colours = _colours(cmap)
    colours = colours if under is None else _see_through(colours)
    image = ax.imshow(values, cmap=colours, vmin=-top, vmax=top, **options)
    if under is not None:
        low, high = float(np.nanmin(under)), float(np.nanmax(under))
        span = (high - low) or 1.0  # greys from 0.5 to 0.9
        ax.imshow(under, cmap="gray", vmin=low - 1.2 * span, vmax=high + 0.25 * span, zorder=-1, **options)
    across, up = (axis for axis in "xyz" if axis != plane.normal)
    ax.set(xlabel=f"{across} [m]", ylabel=f"{up} [m]")
    wide, high = plane.extent[1] - plane.extent[0], plane.extent[3] - plane.extent[2]
    thick = 0.025 * max(1.0, high / wide)
    beside = ax.inset_axes((1 + thick, 0, thick, 1))  # as high as the picture, whatever its shape
    ax.figure.colorbar(image, cax=beside, label=label)
    return image


def plot_slice(
    sim: Any, field: Any, coordinates: Mapping[str, Any], ax: Any, num: int, vmax: Any, background: Any,
    cmap: Any,
) -> Any:  # fmt: skip
    """Draw fields on planes whose coordinate is not None; see `Pictures.plot_slice`."""
    names = field_names(field, tuple(sim._points.traces)) if _several(field) else (field,)
    given = {name: plain(name, one, "m") for name, one in coordinates.items() if one is not None}
    many = next((name for name, value in given.items() if _several(value)), None)
    if many and len(given[many]) == 0:
        raise ArgumentError(f"{many} is empty, expected a plane [m] or several")
    where = [{**given, many: value} for value in given[many]] if many else [given]
    planes = [[chosen_plane(sim, name, one, num) for one in where] for name in names]
    under = [background_values(sim, plane, background) for plane in planes[0]]
    values = [[plane.read() for plane in row] for row in planes]
    if not sim._tells:
        return None
    shape = (len(names),) * _several(field) + (len(where),) * bool(many)
    axes = _panels(ax, shape, (len(names), len(where)), planes[0][0].extent)
    for i, name in enumerate(names):
        unit = sim._points.traces[name]
        top = colour_top(values[i]) if vmax is None else number("vmax", vmax, unit, positive=True)
        label = f"{name} [{unit}]"
        for j, plane in enumerate(planes[i]):
            draw(axes[i, j], plane, values[i][j], top, label, under[j], cmap)
            axes[i, j].set_title(f"{name} at {plane.normal} = {plane.place:g} m, t = {sim.t:.4g} s")
    return axes.reshape(shape) if shape else axes[0, 0]


def _several(given: Any) -> bool:
    return isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and np.ndim(given) == 1


def _panels(
    ax: Any, shape: tuple[int, ...], size: tuple[int, int], extent: tuple[float, float, float, float]
) -> np.ndarray:
    """Return axes (fields, places): those given, or new ones of one figure, for pictures of that extent."""
    if ax is None:
        rows, columns = size
        high = 0.9 + float(np.clip(3.6 * (extent[3] - extent[2]) / (extent[1] - extent[0]), 0.8, 6.0))
        wide = {} if size == (1, 1) else {"figsize": (4.8 * columns, high * rows)}
        plt = extra("matplotlib.pyplot", "plot_slice")
        return np.asarray(plt.subplots(*size, layout="constrained", squeeze=False, **wide)[1])
    found = np.asarray(ax, dtype=object)
    if found.shape not in (shape, size):
        raise ArgumentError(f"ax has shape {found.shape}, expected {shape}, an axes for each picture")
    return found.reshape(size)
