"""Pictures of a plane through a simulation; matplotlib is imported when one is drawn.

Not here: sampling fields on a plane (grid_plane.py, mesh_plane.py), movies (movie.py), traces
(receiver.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._check import number
from ..errors import ArgumentError


class Plane(NamedTuple):
    """A plane x, y or z = const through a simulation, cut into pixels."""

    normal: str
    place: float  # [m], where it truly is
    extent: tuple[float, float, float, float]  # left, right, bottom, top [m], half a pixel beyond the centres
    read: Callable[[], np.ndarray]  # the field as it is now (up, across)
    material: Callable[[str], np.ndarray]  # a parameter of the medium (up, across)
    nodes: tuple[int, int] | None  # (across, up) of a grid; None on meshes, where pixels are a choice


def chosen_plane(sim: Any, field: Any, coordinates: Mapping[str, Any], num: Any = 200) -> Plane:
    """Return the plane whose coordinate is not None, or raise if field or plane are none."""
    given = {name: value for name, value in coordinates.items() if value is not None}
    if len(given) != 1 or not isinstance(field, str) or field not in sim._points.traces:
        raise ArgumentError(
            f"field is {field!r}, plane {given}; expected one of {list(sim._points.traces)} and one of "
            "x, y, z"
        )
    ((normal, value),) = given.items()
    plane: Plane = sim._plane(field, "xyz".index(normal), number(normal, value, "m"), num)
    return plane


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


def _see_through() -> Any:
    """Return the colours of a wave, transparent where it is 0."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    height = np.linspace(-1, 1, 256)
    colours = colormaps["RdBu_r"](0.5 + 0.5 * np.sign(height) * (0.35 + 0.65 * np.abs(height)))
    colours[:, 3] = np.minimum(1, 1.6 * np.abs(height))
    return ListedColormap(colours, "wave")


def draw(ax: Any, plane: Plane, values: np.ndarray, top: float, label: str, under: np.ndarray | None) -> Any:
    """Draw values (up, across) between -top and top, with axes and colour bar; returns the image."""
    options: dict[str, Any] = {"origin": "lower", "extent": plane.extent}
    colours = "RdBu_r" if under is None else _see_through()
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
    sim: Any, field: str, coordinates: Mapping[str, Any], ax: Any, num: int, vmax: Any, background: Any
) -> Any:
    """Draw a field on the plane whose coordinate is not None; see `Simulation.plot_slice`."""
    import matplotlib.pyplot as plt

    plane = chosen_plane(sim, field, coordinates, num)
    under = background_values(sim, plane, background)
    values = plane.read()
    if not sim._tells:
        return None
    top = number("vmax", np.nanmax(np.abs(values)) or 1.0 if vmax is None else vmax, positive=True)
    ax = ax or plt.subplots(layout="constrained")[1]
    draw(ax, plane, values, top, f"{field} [{sim._points.traces[field]}]", under)
    ax.set_title(f"{field} at {plane.normal} = {plane.place:g} m, t = {sim.t:.4g} s")
    return ax
