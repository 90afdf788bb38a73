"""Traces and fields as xarray datasets, with coordinates and units; tables as pandas frames.

Not here: media made of such arrays (problem/_gridded.py), pictures (trace_plots.py, plotting.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._check import field_names
from .._extra import extra
from ..errors import ArgumentError
from ..problem.grid import Grid, chunks

_PLACES = {"long_name": "position", "units": "m"}


def traces(rec: Any, fields: Any) -> Any:
    """Return the samples of receivers; see `Receivers.to_xarray`."""
    xarray = extra("xarray", "to_xarray")
    names = field_names(fields, rec.fields)
    data = {}
    for name in names:
        about = {"units": rec.units[name]}
        if rec._lags.get(name, 0.0):
            about["time_offset"] = rec._lags[name]
        data[name] = (("receiver", "time"), rec[name], about)
    where = {axis: ("receiver", rec.points[:, i], _PLACES) for i, axis in enumerate("xyz")}
    clock = {"time": ("time", rec.t, {"units": "s"})}
    number = {"receiver": ("receiver", np.arange(len(rec)))}
    about = {"config": json.dumps(rec.config), "every": rec.every, **({"name": rec.name} if rec.name else {})}
    return xarray.Dataset(data, {**number, **clock, **where}, about)


def _chosen(sim: Any, fields: Any, sampled: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which fields, and which parameters of the medium, are wanted: what `get` or `sample` gives."""
    spectral = getattr(sim, "_known", None)  # of SEM, whose stresses `get` gives too
    more = sim._points.traces if sampled else () if spectral is None else spectral.units
    known = tuple(dict.fromkeys((*sim.fields, *more)))
    names = field_names(sim.fields if fields is None else fields, (*known, *sim.medium.parameters))
    return tuple(n for n in names if n in known), tuple(n for n in names if n not in known)


def _about(sim: Any) -> dict[str, Any]:
    return {"time": sim.t, "time_units": "s", "config": json.dumps(sim.config)}


def _unit(sim: Any, name: str) -> str:
    units: Mapping[str, str] = sim._points.traces
    return units[name] if name in units else sim.medium.units[name]


def grid_fields(sim: Any, fields: Any) -> Any:
    """Return fields at the nodes of a grid; see `FD.to_xarray`."""
    xarray = extra("xarray", "to_xarray")
    names, parameters = _chosen(sim, fields)
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}

    def dims(offset: Iterable[float]) -> tuple[str, ...]:
        """Name the axes of places with this offset: x at nodes, x_half between them."""
        named = []
        for axis, i, half in zip("xyz", range(3), offset, strict=True):
            name = f"{axis}_half" if half else axis
            shift = [0.0] * 3
            shift[i] = half
            coordinates[name] = (name, sim.grid.axes(shift)[i], _PLACES)
            named.append(name)
        return tuple(named)

    for name in names:
        values = sim.get(name, gather=True)
        if values is None:  # another process gives the whole
            continue
        about = {"units": _unit(sim, name)}
        if sim._scheme.lag(name):
            about["time_offset"] = sim._scheme.lag(name) * sim.dt
        data[name] = (dims(sim._scheme.offset(name)), values, about)
    for name in parameters:
        data[name] = (dims((0, 0, 0)), _parameter(sim, name), {"units": sim.medium.parameters[name]})
    return xarray.Dataset(data, coordinates, _about(sim)) if sim._tells else None


def monitored(monitor: Any) -> Any:
    """Return the values of a monitor with their places; see `Monitor.to_xarray`."""
    xarray = extra("xarray", "to_xarray")
    sim, values, first = monitor._sim, monitor.values, monitor._taken.first
    coordinates: dict[str, Any] = {}
    if monitor.axes is not None:
        offset = sim._scheme.offset(first)
        dims = tuple(f"{axis}_half" if half else axis for axis, half in zip("xyz", offset, strict=True))
        coordinates |= {name: (name, at, _PLACES) for name, at in zip(dims, monitor.axes, strict=True)}
    else:
        dims = ("cell", "node")
        places = sim.coordinates[monitor.cells]
        coordinates |= {axis: (dims, places[..., i], _PLACES) for i, axis in enumerate("xyz")}
        coordinates["cell"] = ("cell", monitor.cells)
    unit = _unit(sim, monitor.field if monitor.field in sim._points.traces else first)
    if monitor.kind == "dft":
        dims = ("frequency", *dims)
        coordinates["frequency"] = ("frequency", monitor.frequencies, {"units": "Hz"})
        unit = f"{unit} s"
    about = {"units": unit, "kind": monitor.kind, "every": monitor.every, "num_sample": monitor.num_sample}
    return xarray.DataArray(values, coordinates, dims, monitor.field, about)


def _parameter(sim: Any, name: str) -> np.ndarray:
    """Return a parameter of the medium at the nodes of a grid (nx, ny, nz)."""
    column = list(sim.medium.parameters).index(name)
    planes = [sim._material.planes(first, count)[..., column] for first, count, _ in chunks(sim.grid)]
    return np.concatenate(planes)


def mesh_fields(sim: Any, fields: Any, grid: Any) -> Any:
    """Return fields at the nodes of cells, or at those of a grid; see `DG.to_xarray`."""
    xarray = extra("xarray", "to_xarray")
    names, parameters = _chosen(sim, fields, sampled=grid is not None)
    if grid is not None:
        return _on_grid(sim, names, parameters, grid)
    whole = (lambda values: values) if sim.ranks is None else (lambda values: sim._whole_rows(values, True))
    dims = ("cell", "node")
    x, tags = whole(sim.coordinates), whole(np.asarray(sim.mesh.tags)[: sim._num_elem])
    data = {name: (dims, sim.get(name, gather=True), {"units": _unit(sim, name)}) for name in names}
    for name in parameters:
        values = sim._material[:, :, list(sim.medium.parameters).index(name)]
        of_nodes = whole(np.array(np.broadcast_to(values, (len(values), sim.num_node))))
        data[name] = (dims, of_nodes, {"units": sim.medium.parameters[name]})
    if not sim._tells:
        return None
    coordinates: dict[str, Any] = {axis: (dims, x[..., i], _PLACES) for i, axis in enumerate("xyz")}
    return xarray.Dataset(data, {**coordinates, "tag": ("cell", tags)}, _about(sim))


def _on_grid(sim: Any, names: tuple[str, ...], parameters: tuple[str, ...], grid: Any) -> Any:
    """Return values at the nodes of a grid, NaN where there is no cell."""
    xarray = extra("xarray", "to_xarray")
    if not isinstance(grid, Grid):
        raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid, at whose nodes the fields are sampled")
    points = grid.slab(0, grid.shape[0]).centroids
    elem = sim._of_whole("grid", lambda mesh: mesh.locate(points)[0])
    inside = np.flatnonzero(elem >= 0)
    seen = {"num_point": len(inside), "points": points[inside], "elem": elem[inside]}
    data = {}

    def put(name: str, values: np.ndarray, unit: str) -> None:
        whole = np.full(len(points), np.nan, sim.dtype)
        whole[inside] = values
        data[name] = (tuple("xyz"), whole.reshape(grid.shape), {"units": unit})

    if names and len(inside):
        channels = sim._of_state(names, seen)
        with sim._guard.visit():
            sampled = sim._sample_at(channels, seen)
        for i, name in enumerate(names):
            put(name, sampled[:, i], _unit(sim, name))
    for name in parameters:
        column = list(sim.medium.parameters).index(name)
        put(
            name,
            sim._points.material_at(elem[inside], points[inside])[:, column],
            sim.medium.parameters[name],
        )
    axes = {axis: (axis, values, _PLACES) for axis, values in zip("xyz", grid.axes(), strict=True)}
    return xarray.Dataset(data, axes, _about(sim))


def cases(results: Any) -> Any:
    """Return the results of a sweep as a table; see `Results.to_dataframe`."""
    pandas = extra("pandas", "to_dataframe")
    keys = list(dict.fromkeys(key for result in results for key in result.case))
    rows = []
    for result in results:
        row = dict(result.case)
        values = result.value if isinstance(result.value, Mapping) else {"value": result.value}
        if result.error is None:
            taken = (*keys, "error")
            row |= {(f"value_{key}" if key in taken else key): value for key, value in values.items()}
        rows.append(row)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = pandas.DataFrame(rows, columns=[*keys, *(one for one in columns if one not in keys)])
    # As objects: columns of text of pandas 3 would have NaN for None.
    table["error"] = pandas.Series([result.message for result in results], dtype=object)
    return table
