"""Fields as data sets of PyVista, and pictures of them in three dimensions.

pyvista is imported when one is made. Not here: files for ParaView (vtu.py, vti.py), planes (plotting.py).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._check import choice, integer, number, vector
from .._extra import extra
from .plotting import colour_top
from .vtk_xml import arrays_of
from .vtu import CELL_TYPES, subdivided

_BAR = {
    "vertical": True, "position_x": 0.88, "position_y": 0.25, "height": 0.5, "title_font_size": 14,
    "label_font_size": 12,
}  # fmt: skip
KINDS = ("slices", "surface", "isosurfaces")
_LEVELS = (0.25, 0.75)  # of the end of the colours, on both sides of 0: isosurfaces


def grid_data(sim: Any, fields: Any) -> Any:
    """Return fields at the nodes of a grid; see `FD.to_pyvista`."""
    pyvista = extra("pyvista", "to_pyvista")
    wanted, grid = arrays_of(sim, fields), sim.grid
    data = pyvista.ImageData(dimensions=grid.shape, spacing=grid.spacing, origin=grid.origin)
    for name, components in wanted.items():
        values = [sim.get(field, gather=True) for field in components]
        if values[0] is not None:
            flat = [one.ravel(order="F") for one in values]
            data.point_data[name] = flat[0] if len(flat) == 1 else np.stack(flat, axis=1)
        for field in components:
            place = (*sim._scheme.offset(field), sim._scheme.lag(field))
            if any(place):
                data.field_data[f"offset_{field}"] = np.array(place)
    data.field_data["TimeValue"] = np.array([sim.t])
    return data if sim._tells else None


def mesh_data(sim: Any, fields: Any, subdivide: int | None) -> Any:
    """Return fields on subdivided cells; see `DG.to_pyvista`."""
    pyvista = extra("pyvista", "to_pyvista")
    wanted = arrays_of(sim, fields)
    n = sim.degree if subdivide is None else integer("subdivide", subdivide, 1, 32)
    matrix, x, cells = subdivided(sim, n)
    num_cell, size = cells.shape
    listed = np.column_stack([np.full(num_cell, size), cells]).ravel()
    data = pyvista.UnstructuredGrid(listed, np.full(num_cell, CELL_TYPES[size], np.uint8), x)
    for name, components in wanted.items():
        flat = [(sim.get(field) @ matrix.T).ravel() for field in components]
        data.point_data[name] = flat[0] if len(flat) == 1 else np.stack(flat, axis=1)
    parts = num_cell // len(sim._material)
    of_cells = {
        "element": np.arange(len(sim._material)),
        "tag": np.asarray(sim.mesh.tags)[: len(sim._material)],
    }
    for i, name in enumerate(sim.medium.parameters):
        of_cells[name] = sim._material[:, :, i].mean(axis=1)
    for name, values in of_cells.items():
        data.cell_data[name] = np.repeat(values, parts)
    data.field_data["TimeValue"] = np.array([sim.t])
    return data


def shown(data: Any, name: str, kind: str, place: np.ndarray, top: float) -> Any:
    """Return what is drawn of a data set: planes through a place, its outer sides, or isosurfaces."""
    if 1 in getattr(data, "dimensions", ()):
        return data  # a plane
    if kind == "slices":
        return data.slice_orthogonal(**dict(zip("xyz", place, strict=True))).combine()
    if kind == "isosurfaces":
        return data.contour(sorted(sign * level * top for sign in (-1, 1) for level in _LEVELS), scalars=name)
    with warnings.catch_warnings():  # its versions differ in the argument that they ask for
        warnings.simplefilter("ignore")
        if hasattr(data, "clean"):  # cells share no points, so that all of their sides would be outer ones
            data = data.clean(tolerance=1e-9 * data.length)
        return data.extract_surface()


def plot(
    sim: Any, field: Any, kind: str, at: Any, vmax: Any, cmap: Any, off_screen: Any, plotter: Any,
    options: dict[str, Any],
) -> Any:  # fmt: skip
    """Draw a field in three dimensions; see `Pictures.plot_3d`."""
    pyvista = extra("pyvista", "plot_3d")
    kind = KINDS[choice("kind", kind, KINDS)]
    name = sim.fields[0] if field is None else field
    where = sim.grid if hasattr(sim, "grid") else sim.mesh
    middle = 0.5 * (np.array(where.lower) + where.upper)
    place = middle if at is None else np.array(vector("at", at, "m"))
    data = sim.to_pyvista(name)
    if not sim._tells:
        return None
    values, unit = np.asarray(data.point_data[name]), sim._points.traces.get(name, "")
    top = colour_top([values]) if vmax is None else number("vmax", vmax, unit, positive=True)
    drawn = shown(data, name, kind, place, top)
    plotter = pyvista.Plotter(off_screen=off_screen) if plotter is None else plotter
    label = f"{name} [{unit}]"
    options = {
        "cmap": cmap, "clim": (-top, top), "scalars": name,
        "lighting": kind == "isosurfaces", "scalar_bar_args": {"title": label, **_BAR}, **options,
    }  # fmt: skip
    if drawn.n_points:
        plotter.add_mesh(drawn, **options)
    plotter.add_mesh(data.outline(), color="black")
    plotter.add_text(f"t = {sim.t:.4g} s", font_size=10)
    bounds = [float(one) for pair in zip(where.lower, where.upper, strict=True) for one in pair]
    titles = {f"{axis}title": f"{axis} [m]" for axis in "xyz"}
    plotter.show_bounds(
        location="outer", n_xlabels=3, n_ylabels=3, n_zlabels=3, font_size=12, fmt="%g", bounds=bounds,
        **titles,
    )  # fmt: skip
    return plotter
