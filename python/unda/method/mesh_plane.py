"""A plane through a mesh, for pictures: num x num pixels.

Not here: drawing it (plotting.py), which cell has a point (mesh.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import integer
from ..errors import ArgumentError
from ..io.plotting import Plane


def plane(sim: Any, field: str, axis: int, value: float, num: int) -> Plane:
    """Return the cells that a plane of constant x, y or z meets, see `Simulation._plane`."""
    num = integer("num", num, 1, 10_000)
    across, up = (i for i in range(3) if i != axis)
    lower, size = np.array(sim.mesh.lower), np.array(sim.mesh.upper) - sim.mesh.lower
    middle = (np.arange(num) + 0.5) / num
    points = np.empty((num, num, 3))
    points[..., axis] = value
    points[..., across] = lower[across] + size[across] * middle[None, :]
    points[..., up] = lower[up] + size[up] * middle[:, None]
    elem = sim._of_whole("plane", lambda mesh: mesh.locate(points.reshape(-1, 3))[0])
    inside = np.flatnonzero(elem >= 0)
    if inside.size == 0:
        low, high = lower[axis], lower[axis] + size[axis]
        raise ArgumentError(
            f"{'xyz'[axis]} is {value} m and meets no cell; the mesh goes from {low} to {high} m"
        )
    elem = elem[inside]
    seen = {"num_point": len(elem), "points": points.reshape(-1, 3)[inside], "elem": elem}
    channels = sim._of_state((field,), seen)

    def filled(some: np.ndarray) -> np.ndarray:
        values = np.full(num * num, np.nan)
        values[inside] = some
        return values.reshape(num, num)

    def read() -> np.ndarray:
        with sim._guard.visit():
            return filled(sim._sample_at(channels, seen)[:, 0])

    def material(name: str) -> np.ndarray:
        return filled(
            sim._points.material_at(elem, seen["points"])[:, list(sim.medium.parameters).index(name)]
        )

    a, b = lower[across], lower[up]
    extent = float(a), float(a + size[across]), float(b), float(b + size[up])
    return Plane("xyz"[axis], value, extent, read, material, None)
