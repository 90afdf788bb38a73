"""Checkpoints: a simulation in an HDF5 file, from which it continues bit for bit; traces in a file.

What a header says is checked against the sizes of what is in the file before anything is made of it. Not
here: the files themselves (_hdf.py), what a simulation is (dg.py, receiver.py).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._core import lib, new
from ..errors import ArgumentError, FileError
from ..exact import from_config as solution_from_config
from ..limits import device_number
from ..method.fd_sides import SIDES
from ..method.grid_fluid import refuse_shear
from ..method.grid_material import slabs
from ..method.receiver import Receivers
from ..problem.grid import Grid
from ..problem.incident import PlaneWave
from ..problem.layer import CPML, Damping
from ..problem.medium import Acoustic, Elastic, Maxwell
from ..problem.mesh import Mesh
from ..problem.source import Source
from . import _hdf

if TYPE_CHECKING:
    from ..method.dg import DG
    from ..method.fd import FD

__all__ = ["load", "load_receivers", "save", "save_receivers"]

_MEDIA = {kind.physics: kind for kind in (Acoustic, Elastic, Maxwell)}
_MOST = 2**53  # steps: up to it each has a time of its own
_HISTORY = ("UNDA_HISTORY1", "UNDA_HISTORY2")


# ---- traces ----


def _put_receivers(group: Any, receivers: Receivers) -> None:
    about = {
        "fields": list(receivers.fields), "units": receivers.units, "every": receivers.every,
        "name": receivers.name, "dt": receivers._dt, "t0": receivers._t0,
        "step": receivers._step, "config": receivers.config, "lags": receivers._lags,
        "side": receivers.side,
    }  # fmt: skip
    group.attrs["receivers"] = json.dumps(about)
    group["points"] = receivers.points
    group["samples"] = receivers._all()


def _get_receivers(group: Any, dtype: Any) -> Receivers:
    about = _hdf.header(group, "receivers")
    fields = tuple(_hdf.entry(about, "fields", list))
    points = _hdf.array(group, "points", np.float64, (None, 3))
    receivers = Receivers(
        points, fields, units=_hdf.entry(about, "units", dict),
        every=_hdf.entry(about, "every", int, 1, 2**31 - 1),
        dt=_hdf.entry(about, "dt", float), dtype=np.dtype(dtype), config=about.get("config", {}),
        name=about.get("name"), lags=about.get("lags"), side=about.get("side"),
    )  # fmt: skip
    receivers.clear(_hdf.entry(about, "t0", float), _hdf.entry(about, "step", int, 0, _MOST))
    receivers.put(0, _hdf.array(group, "samples", dtype, (None, len(points), len(fields))))
    return receivers


def save_receivers(receivers: Receivers, path: Any) -> None:
    """Write traces, see `Receivers.save`."""
    _hdf.write(path, "receivers", lambda file: _put_receivers(file, receivers))


def load_receivers(path: Any) -> Receivers:
    """Read traces that `Receivers.save` wrote.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Receivers
        With the samples, times, points and configuration that were saved.

    Raises
    ------
    FileError
        If the file is missing, damaged or of another kind.

    Examples
    --------
    >>> rec = unda.load_receivers("traces.h5")  # doctest: +SKIP
    """
    with _hdf.reading(path, "receivers") as file:
        dtype = _hdf.child(file, "samples", "Dataset").dtype
        if dtype not in (np.float32, np.float64):
            raise FileError(f"samples are {dtype}, expected float32 or float64")
        return _get_receivers(file, dtype)


# ---- simulations ----


def _put_mesh(group: Any, mesh: Mesh) -> None:
    group.attrs["names"] = json.dumps(
        {"boundaries": list(mesh.boundary_names), "periodic": [list(p) for p in mesh.periodic],
         "tags": mesh.tag_names}
    )  # fmt: skip
    group["vertices"], group["cells"], group["tags"] = mesh.vertices, mesh.cells, mesh.tags
    group["faces"], group["face_names"] = mesh.boundary_faces, mesh.boundary_ids


def _get_mesh(group: Any) -> Mesh:
    names = _hdf.header(group, "names")
    cells = _hdf.array(group, "cells", np.int64, (None, 4))
    faces = _hdf.array(group, "faces", np.int64, (None, 3))
    ids = _hdf.array(group, "face_names", np.int32, (len(faces),))
    boundaries = {name: faces[ids == i] for i, name in enumerate(_hdf.entry(names, "boundaries", list))}
    return Mesh(
        _hdf.array(group, "vertices", np.float64, (None, 3)), cells,
        tags=_hdf.array(group, "tags", np.int32, (len(cells),)), boundaries=boundaries,
        periodic=[tuple(pair) for pair in _hdf.entry(names, "periodic", list)],
        tag_names=_hdf.entry(names, "tags", dict),
    )  # fmt: skip


def _put_cells(file: Any, sim: Any, levels: int) -> None:
    """Write mesh, materials, state and as many levels of the integrator's history."""
    _put_mesh(file.create_group("mesh"), sim.mesh)
    file["material"] = sim._material
    file["state"] = sim._read(lib.UNDA_STATE)
    for name in _HISTORY[:levels]:
        file[name] = sim._read(getattr(lib, name))


def _put_nodes(file: Any, sim: Any, _levels: int) -> None:
    """Write materials and state of a grid, with the memory variables of its layers, chunk by chunk."""
    if sim._material.row is not None:
        file["material"] = sim._material.row
    else:
        shape = (*sim.grid.shape, len(sim.medium.parameters))
        material = file.create_dataset("material", shape, np.float64)
        for (first, count, _), table in zip(slabs(sim.grid), sim._material.tables(), strict=True):
            material[first : first + count] = table.reshape(count, *shape[1:])
    for name, (number, shape) in sim._whole().items():
        array = file.create_dataset(name, shape, sim.dtype)
        plane = np.empty((1, *shape[1:]), sim.dtype)
        for i in range(shape[0]):
            to = _core.pointer(plane, writable=True)
            _core.check(lib.unda_solver_read(sim._live(), number, i, 1, to))
            array[i] = plane[0]


def _outer_data(sim: Any) -> dict[str, Any]:
    exact = {}
    for name, solution in sim._boundaries.exact.items() if sim.config["method"] == "DG" else ():
        if not hasattr(solution, "to_config"):
            raise ArgumentError(
                f"the data of boundary {name!r} are a plain callable and cannot be saved; an unda.exact "
                "solution of unda.sampled time functions can"
            )
        exact[name] = solution.to_config()
    return exact


def save(sim: Any, path: Any) -> None:
    """Write a simulation, see `sim.save`."""
    history = new("int32_t *")
    _core.check(lib.unda_solver_get_history(sim._live(), history))
    header = {
        "config": sim.config, "physics": sim.medium.physics, "start": sim._start,
        "step": sim.step_count, "history": history[0], "exact": _outer_data(sim),
        "sources": [source.to_config() for source, *_ in (*sim._sources, *sim._waves)],
    }  # fmt: skip

    def fill(file: Any) -> None:
        file.attrs["simulation"] = json.dumps(header)
        (_put_cells if sim.config["method"] == "DG" else _put_nodes)(file, sim, history[0])
        for i, receivers in enumerate(sim._receivers):
            _put_receivers(file.create_group(f"receivers/{i}"), receivers)

    _hdf.write(path, "simulation", fill)


def load(path: Any, *, device: str | None = None) -> DG | FD:
    """Make the simulation again that `sim.save` wrote; it continues as if it had never stopped.

    Parameters
    ----------
    path : str or Path
    device : str, optional
        Where to continue; by default where it ran. Bits are the same on the same engine and model of
        GPU.

    Returns
    -------
    DG or FD
        With its state, clock, sources and receivers (``sim.receivers``, samples included).

    Raises
    ------
    FileError
        If the file is missing, damaged or of another kind or version; the message names the entry,
        what was found and what was expected.
    DeviceError
        If the device is not there; `device` names another.

    Examples
    --------
    >>> sim.save("run.h5")  # doctest: +SKIP
    >>> again = unda.load("run.h5")  # doctest: +SKIP
    """
    if device is not None and device != "auto":
        device_number(device)
    with _hdf.reading(path, "simulation") as file:
        header = _hdf.header(file, "simulation")
        config = _hdf.entry(header, "config", dict)
        target = _hdf.entry(config, "device", str) if device is None else device
        if target != "auto":
            device_number(target)
        common = {
            "dt": _hdf.entry(config, "dt", float, np.finfo(float).tiny),
            "cfl": _hdf.entry(config, "cfl", float),
            "threads": config.get("threads") if target == "cpu" == config["device"] else None,
            "dtype": _hdf.entry(config, "dtype", str), "device": target, "allow_unstable": True,
        }  # fmt: skip
        same = target.partition(":")[0] == config["device"].partition(":")[0] != "cpu"
        method = _hdf.entry(config, "method", str)
        if method not in _METHODS:
            raise FileError(f"method is {method!r}, expected one of {list(_METHODS)}")
        sim = _METHODS[method](file, header, config, common, same)
        # The limit may be a little lower than where it was saved: its bound is made sharper now and then.
        if not _hdf.entry(config, "allow_unstable", bool) and sim.dt > 1.2 * sim.dt_stable:
            raise FileError(f"dt is {sim.dt} s, above the stable limit {sim.dt_stable} s")
        _restore(sim, file, header)
    return sim


def _load_dg(file: Any, header: dict[str, Any], config: dict[str, Any], common: Any, same: bool) -> Any:
    """Make the simulation on a mesh that a file describes; same: on the kind of device where it ran."""
    from ..method.dg import DG

    mesh = _get_mesh(_hdf.child(file, "mesh"))
    if mesh.hash != config.get("mesh"):
        raise FileError(f"mesh has hash {mesh.hash}, expected {config.get('mesh')!r}")
    mesh.origin = _hdf.entry(config, "mesh_origin", dict)
    physics = _hdf.entry(header, "physics", str)
    if physics not in _MEDIA:
        raise FileError(f"physics is {physics!r}, expected one of {list(_MEDIA)}")
    kind = _MEDIA[physics]
    material = _hdf.array(file, "material", np.float64, (mesh.num_elem, len(kind.parameters)))
    # Before anything is made that large: the state is in the file.
    degree = _hdf.entry(config, "degree", int, 1, 9)
    cells = (mesh.num_elem, (degree + 1) * (degree + 2) * (degree + 3) // 6)
    if (found := _hdf.array_shape(file, "state"))[:2] != cells:
        raise FileError(f"state is {found}, expected {cells} and the number of fields")
    exact = _hdf.entry(header, "exact", dict)
    made = {json.dumps(c): solution_from_config(c) for c in exact.values()}
    boundary = {
        name: made[json.dumps(exact[name])] if name in exact else word
        for name, word in _hdf.entry(config, "boundary", dict).items()
    }
    return DG(
        mesh, kind(**dict(zip(kind.parameters, material.T.copy(), strict=True))),
        degree=degree, boundary=boundary,
        flux=_hdf.entry(config, "flux", str), integrator=_hdf.entry(config, "integrator", str),
        kernel=config["kernel"] if same else "auto",
        kernel_options=config["kernel_options"] if same and config["kernel"] == "fused" else None,
        **common,
    )  # fmt: skip


def _load_fd(file: Any, header: dict[str, Any], config: dict[str, Any], common: Any, same: bool) -> Any:
    """Make the simulation on a grid that a file describes."""
    from ..method.fd import FD

    grid = Grid(**_hdf.entry(config, "grid", dict))
    physics = _hdf.entry(header, "physics", str)
    if physics not in _MEDIA:
        raise FileError(f"physics is {physics!r}, expected one of {list(_MEDIA)}")
    kind, scheme = _MEDIA[physics], _hdf.entry(config, "scheme", str)
    if scheme not in _SCHEMES:
        raise FileError(f"scheme is {scheme!r}, expected one of {list(_SCHEMES)}")
    num = len(kind.parameters)
    uniform = len(_hdf.array_shape(file, "material")) == 1
    values = _hdf.array(file, "material", np.float64, (num,) if uniform else (*grid.shape, num))
    material = {name: float(values[i]) if uniform else values[..., i].copy()
                for i, name in enumerate(kind.parameters)}  # fmt: skip
    if scheme == "scalar":  # one number
        material["rho"] = float(values.flat[0])
    boundary = {
        name: _layer(one) if isinstance(one, dict) else one
        for name, one in _hdf.entry(config, "boundary", dict).items()
    }
    medium = kind(**material)
    # Before anything is made that large: the state is in the file.
    width = [getattr(boundary.get(side), "width", 0) for side in SIDES]
    least = tuple(n + low + high for n, low, high in zip(grid.shape, width[::2], width[1::2], strict=True))
    found = _hdf.array_shape(file, medium.fields[0])
    if len(found) != 3 or any(there < needed for there, needed in zip(found, least, strict=True)):
        raise FileError(f"{medium.fields[0]} is {found}, expected {least} or more: the grid and its layers")
    return FD(
        grid, medium,
        order=_hdf.entry(config, "order", int), scheme=scheme,
        boundary=boundary, kernel=config["kernel"] if same else "auto",
        kernel_options=config["kernel_options"] if same else None,
        window=(config.get("window") if same else None) or "auto", **common,
    )  # fmt: skip


def _layer(config: dict[str, Any]) -> Any:
    """Make a layer again; files from before ratios have CPMLs without one, whose is 0."""
    return CPML(**({"ratio": 0.0} | config)) if "f0" in config else Damping(**config)


_SCHEMES = ("scalar", "staggered")
_METHODS = {"DG": _load_dg, "FD": _load_fd}


def _restore(sim: Any, file: Any, header: dict[str, Any]) -> None:
    """Put sources, receivers, state and clock of a file into a new simulation."""
    start, step = _hdf.entry(header, "start", float), _hdf.entry(header, "step", int, 0, _MOST)
    history = _hdf.entry(header, "history", int, 0, 2 if sim.config["method"] == "DG" else 0)
    sim._start, sim._given = start, frozenset(sim.fields)
    for config in _hdf.entry(header, "sources", list):
        kind = PlaneWave if config.get("type") == "PlaneWave" else Source
        sim.add_source(kind.from_config(config))
    handle = sim._live()
    groups = _hdf.child(file, "receivers") if "receivers" in file else ()
    for i in range(len(groups)):
        saved = _get_receivers(_hdf.child(groups, str(i)), sim.dtype)
        fits = saved._next - saved.every <= step < saved._next
        if not fits or (saved._t0, saved._dt) != (start, sim.dt):
            raise FileError(
                f"receivers {i} have {saved.num_sample} samples from step {saved._step} on, one every "
                f"{saved.every} steps of {saved._dt} s from {saved._t0} s; the simulation is at step {step} "
                f"of {sim.dt} s from {start} s"
            )
        # The library counts a group's samples from the step at which it is added.
        _core.check(lib.unda_solver_set_clock(handle, start, saved._step, 0))
        made = sim.add_receivers(
            saved.points, saved.fields, every=saved.every, name=saved.name, side=saved.side
        )
        made.clear(saved._t0, saved._step)
        made.put(0, saved._all())
    arrays: dict[str, tuple[int, tuple[int, ...]]]
    if sim.config["method"] == "DG":
        cells = (sim.mesh.num_elem, sim.num_node, len(sim.fields))
        arrays = {name if name != "UNDA_STATE" else "state": (getattr(lib, name), cells)
                  for name in ("UNDA_STATE", *_HISTORY[:history])}  # fmt: skip
    else:
        arrays = sim._whole()
    for name, (number, shape) in arrays.items():
        q = _hdf.array(file, name, sim.dtype, shape)
        _core.check(lib.unda_solver_write(handle, number, 0, len(q), _core.pointer(q)))
    if sim.config["method"] == "FD" and sim.medium.physics == "elastic":
        refuse_shear(sim)
    _core.check(lib.unda_solver_set_clock(handle, start, step, history))
