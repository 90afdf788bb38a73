"""Pictures of a simulation; matplotlib is imported when one is drawn.

Not here: traces (receiver.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ArgumentError

__all__ = ["plot_slice"]


def plot_slice(sim: Any, field: str, plane: dict[str, float | None], ax: Any, num: int) -> Any:
    """Draw a field on the plane whose coordinate is not None; see `DG.plot_slice`."""
    import matplotlib.pyplot as plt

    given = {name: value for name, value in plane.items() if value is not None}
    if len(given) != 1 or field not in sim.medium.traces:
        raise ArgumentError(
            f"field is {field!r}, plane {given}; expected one of {list(sim.medium.traces)} and one of x, y, z"
        )
    ((normal, value),) = given.items()
    fixed = "xyz".index(normal)
    across, up = (i for i in range(3) if i != fixed)
    a, b, values = sim._slice(field, fixed, float(value), num)
    top = np.nanmax(np.abs(values)) or 1.0
    ax = ax or plt.subplots()[1]
    extent = (a[0], a[-1], b[0], b[-1])
    image = ax.imshow(values, origin="lower", extent=extent, cmap="RdBu_r", vmin=-top, vmax=top)
    ax.set_xlabel(f"{'xyz'[across]} [m]")
    ax.set_ylabel(f"{'xyz'[up]} [m]")
    ax.set_title(f"{field} at {normal} = {value:g} m, t = {sim.t:.4g} s")
    ax.figure.colorbar(image, ax=ax, label=f"{field} [{sim.medium.traces[field]}]")
    return ax
