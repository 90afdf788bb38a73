"""Pictures of partitions: outer faces, or a slice, in a colour for each part.

Matplotlib is imported when one is drawn. Not here: fields (plotting.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import number
from ..errors import ArgumentError
from ..problem._shapes import FACES

if TYPE_CHECKING:
    from ..problem.partition import Partition


def _colours(num: int) -> np.ndarray:
    """Return a colour for each part: as many as a table has, then the same ones again."""
    from matplotlib import colormaps

    table = colormaps["tab10" if num <= 10 else "tab20"]
    return table(np.arange(num) % table.N)


def _legend(ax: Any, partition: Partition, **where: Any) -> None:
    """Name the parts, where there are few, and what each has."""
    from matplotlib.patches import Patch

    if partition.num > 20:
        return
    colours = _colours(partition.num)
    parts = [Patch(color=colours[i], label=f"{i}: {partition.cells[i]}") for i in range(partition.num)]
    ax.legend(handles=parts, title="part: cells", frameon=False, **where)


def outer_faces(partition: Partition) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of the outer faces, periodic ones included, and the part of each."""
    faces, cell = faces_of(partition.mesh)
    return faces, partition.part[cell]


def faces_of(mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of the outer faces, each around it, periodic ones included, and their cells."""
    faces = mesh.cells[:, FACES[mesh.shape]].reshape(-1, FACES[mesh.shape].shape[1])
    cell = np.repeat(np.arange(mesh.num_elem), len(FACES[mesh.shape]))
    on_side = np.zeros(mesh.num_vertex, bool)
    on_side[mesh.boundary_faces] = True
    maybe = on_side[faces].all(axis=1)
    faces, cell = faces[maybe], cell[maybe]
    known = {tuple(row) for row in np.sort(mesh.boundary_faces, axis=1).tolist()}
    outer = np.array([tuple(row) in known for row in np.sort(faces, axis=1).tolist()])
    return faces[outer], cell[outer]


def plot_outside(partition: Partition, ax: Any) -> Any:
    """Draw the outer faces; see `Partition.plot`."""
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    mesh = partition.mesh
    if ax is None:
        ax = plt.figure(layout="constrained").add_subplot(projection="3d")
    elif not hasattr(ax, "add_collection3d"):
        raise ArgumentError(f"ax is {type(ax).__name__}, expected axes of projection='3d'")
    faces, part = outer_faces(partition)
    shown = Poly3DCollection(
        mesh.vertices[faces], facecolors=_colours(partition.num)[part], edgecolors=(0, 0, 0, 0.25),
        linewidths=0.3, shade=False,
    )  # fmt: skip
    ax.add_collection3d(shown)
    ax.set(**{f"{axis}lim": (mesh.lower[i], mesh.upper[i]) for i, axis in enumerate("xyz")})
    ax.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    ax.set_box_aspect(np.subtract(mesh.upper, mesh.lower))
    _legend(ax, partition, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(partition.num, 5))
    return ax


def plot_slice(partition: Partition, axis: str, value: float, ax: Any, num: int) -> Any:
    """Draw a slice; see `Partition.plot`."""
    import matplotlib.pyplot as plt

    mesh, place = partition.mesh, number(axis, value, "m")
    normal = "xyz".index(axis)
    across, up = (i for i in range(3) if i != normal)
    lower, upper = np.array(mesh.lower), np.array(mesh.upper)
    step = (upper - lower)[[across, up]].max() / num
    centres = [
        lower[i] + (np.arange(n) + 0.5) * (upper[i] - lower[i]) / n
        for i in (across, up)
        for n in [max(1, round((upper[i] - lower[i]) / step))]
    ]
    points = np.empty((len(centres[1]), len(centres[0]), 3))
    points[..., normal] = place
    points[..., across], points[..., up] = np.meshgrid(*centres)
    cell = mesh.locate(points.reshape(-1, 3))[0].reshape(points.shape[:2])
    if (cell < 0).all():
        raise ArgumentError(
            f"no cell at {axis} = {place:g} m; the mesh reaches from {lower[normal]:g} to {upper[normal]:g} m"
        )
    image = np.where((cell >= 0)[..., None], _colours(partition.num)[partition.part[cell]], 0)
    ax = ax or plt.subplots(layout="constrained")[1]
    extent = (lower[across], upper[across], lower[up], upper[up])
    ax.imshow(image, origin="lower", extent=extent, interpolation="nearest")
    ax.set(xlabel=f"{'xyz'[across]} [m]", ylabel=f"{'xyz'[up]} [m]", title=f"{axis} = {place:g} m")
    _legend(ax, partition, loc="center left", bbox_to_anchor=(1.02, 0.5))
    return ax
