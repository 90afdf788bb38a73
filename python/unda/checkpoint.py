"""Checkpoints: a simulation in an HDF5 file, from which it continues bit for bit; traces in a file.

A file is written beside its name, forced to disk and renamed: a kill at any moment leaves the
previous one whole. Not here: what a simulation is (dg.py, receiver.py).
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._check import file_path
from ._core import ffi, lib
from ._files import whole_file
from .errors import ArgumentError, FileError
from .exact import from_config as solution_from_config
from .grid import Grid
from .grid_fluid import refuse_shear
from .grid_material import slabs
from .incident import PlaneWave
from .layer import CPML, Damping
from .limits import device_number
from .medium import Acoustic, Elastic, Maxwell
from .mesh import Mesh
from .receiver import Receivers
from .source import Source

__all__ = ["load", "load_receivers", "save", "save_receivers"]

_VERSION = 1
_MEDIA = {kind.physics: kind for kind in (Acoustic, Elastic, Maxwell)}
_HISTORY = ("UNDA_HISTORY1", "UNDA_HISTORY2")


# ---- files ----


class _Steady(io.RawIOBase):
    """A file for HDF5 whose writes always seem to succeed; `failure` has the first error.

    HDF5 crashes the process when it cannot write while it closes a file.
    """

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self.failure: OSError | None = None

    def _attempt(self, work: Callable[[], Any]) -> None:
        if self.failure is None:
            try:
                work()
            except OSError as error:
                self.failure = error

    def _write_all(self, view: memoryview) -> None:
        while len(view):
            view = view[self._raw.write(view) :]

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._attempt(lambda: self._write_all(view))
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        self._attempt(lambda: self._raw.truncate(size))
        return size or 0

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        found = self._raw.readinto(view) or 0
        view[found:] = bytes(len(view) - found)
        return len(view)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _fill(raw: io.FileIO, kind: str, fill: Callable[[Any], None]) -> None:
    """Write the HDF5 file and force it to disk."""
    import h5py

    steady = _Steady(raw)
    try:
        with h5py.File(steady, "w") as file:
            file.attrs["unda"] = kind
            file.attrs["format"] = _VERSION
            fill(file)
    finally:
        if steady.failure is not None:
            raise steady.failure


def _write(path: Any, kind: str, fill: Callable[[Any], None]) -> None:
    """Write an HDF5 file so that the name holds the old file or the whole new one."""
    with whole_file(file_path(path)) as (_, raw):
        _fill(raw, kind, fill)


def _open(path: Any, kind: str) -> Any:
    """Open a file of that kind and format."""
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error}") from None
    for name, expected in (("unda", kind), ("format", _VERSION)):
        found = file.attrs.get(name)
        found = found.item() if isinstance(found, np.generic) else found
        if found != expected:
            file.close()
            raise FileError(f"{path}: {name} is {found!r}, expected {expected!r}")
    return file


def _array(file: Any, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Read a dataset of that type and shape."""
    data = file.get(name)
    if data is None or not hasattr(data, "dtype"):
        raise FileError(f"{file.file.filename}: {name} is missing")
    fits = len(data.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, data.shape, strict=True)
    )
    if data.dtype != np.dtype(dtype) or not fits:
        raise FileError(
            f"{file.file.filename}: {name} is {data.dtype} {data.shape}, expected {np.dtype(dtype)} {shape}"
        )
    return np.asarray(data[()])


def _header(file: Any, name: str) -> Any:
    """Read a JSON attribute."""
    text = file.attrs.get(name)
    if not isinstance(text, str):
        raise FileError(f"{file.file.filename}: {name} is {text!r}, expected JSON")
    try:
        return json.loads(text)
    except ValueError as error:
        raise FileError(f"{file.file.filename}: {name} is not JSON: {error}") from None


def _entry(header: dict[str, Any], name: str, kind: Any, path: Any) -> Any:
    """Return an entry of the header, of that type."""
    value = header.get(name)
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise FileError(f"{path}: {name} is {value!r}, expected {getattr(kind, '__name__', kind)}")
    return value


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
    about, path = _header(group, "receivers"), group.file.filename
    fields = tuple(_entry(about, "fields", list, path))
    points = _array(group, "points", np.float64, (None, 3))
    receivers = Receivers(
        points, fields, units=_entry(about, "units", dict, path), every=_entry(about, "every", int, path),
        dt=_entry(about, "dt", float, path), dtype=np.dtype(dtype), config=about.get("config", {}),
        name=about.get("name"), lags=about.get("lags"), side=about.get("side"),
    )  # fmt: skip
    receivers.clear(_entry(about, "t0", float, path), _entry(about, "step", int, path))
    receivers.put(0, _array(group, "samples", dtype, (None, len(points), len(fields))))
    return receivers


def save_receivers(receivers: Receivers, path: Any) -> None:
    """Write traces, see `Receivers.save`."""
    _write(path, "receivers", lambda file: _put_receivers(file, receivers))


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
    with _open(path, "receivers") as file:
        data = file.get("samples")
        return _get_receivers(file, np.float32 if data is None else data.dtype)


# ---- simulations ----


def _put_mesh(group: Any, mesh: Mesh) -> None:
    group.attrs["names"] = json.dumps(
        {"boundaries": list(mesh.boundary_names), "periodic": [list(p) for p in mesh.periodic],
         "tags": mesh.tag_names}
    )  # fmt: skip
    group["vertices"], group["cells"], group["tags"] = mesh.vertices, mesh.cells, mesh.tags
    group["faces"], group["face_names"] = mesh.boundary_faces, mesh.boundary_ids


def _get_mesh(group: Any) -> Mesh:
    names, path = _header(group, "names"), group.file.filename
    cells = _array(group, "cells", np.int64, (None, 4))
    faces = _array(group, "faces", np.int64, (None, 3))
    ids = _array(group, "face_names", np.int32, (len(faces),))
    boundaries = {name: faces[ids == i] for i, name in enumerate(_entry(names, "boundaries", list, path))}
    return Mesh(
        _array(group, "vertices", np.float64, (None, 3)), cells,
        tags=_array(group, "tags", np.int32, (len(cells),)), boundaries=boundaries,
        periodic=[tuple(pair) for pair in _entry(names, "periodic", list, path)],
        tag_names=_entry(names, "tags", dict, path),
    )  # fmt: skip


def _put_cells(file: Any, sim: Any, levels: int) -> None:
    """Write mesh, materials, state and as many levels of the integrator's history."""
    _put_mesh(file.create_group("mesh"), sim.mesh)
    file["material"] = sim._material
    file["state"] = sim._read(lib.UNDA_STATE)
    for name in _HISTORY[:levels]:
        file[name] = sim._read(getattr(lib, name))


def _put_nodes(file: Any, sim: Any, _levels: int) -> None:
    """Write materials and state of a grid, with layers and their memory, slab by slab."""
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
    history = ffi.new("int32_t *")
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

    _write(path, "simulation", fill)


def load(path: Any, *, device: str | None = None) -> Any:
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
    with _open(path, "simulation") as file:
        header = _header(file, "simulation")
        config = _entry(header, "config", dict, path)
        target = _entry(config, "device", str, path) if device is None else device
        if target != "auto":
            device_number(target)
        common = {
            "dt": _entry(config, "dt", float, path), "cfl": _entry(config, "cfl", float, path),
            "threads": config.get("threads") if target == "cpu" == config["device"] else None,
            "dtype": _entry(config, "dtype", str, path), "device": target, "allow_unstable": True,
        }  # fmt: skip
        same = target.partition(":")[0] == config["device"].partition(":")[0] != "cpu"
        method = _entry(config, "method", str, path)
        if method not in _METHODS:
            raise FileError(f"{path}: method is {method!r}, expected one of {list(_METHODS)}")
        sim = _METHODS[method](file, header, config, common, same)
        _restore(sim, file, header)
    return sim


def _load_dg(file: Any, header: dict[str, Any], config: dict[str, Any], common: Any, same: bool) -> Any:
    """Make the simulation on a mesh that a file describes; same: on the kind of device where it ran."""
    from .dg import DG

    path = file.filename
    mesh = _get_mesh(file["mesh"])
    if mesh.hash != config.get("mesh"):
        raise FileError(f"{path}: mesh has hash {mesh.hash}, expected {config.get('mesh')!r}")
    mesh.origin = _entry(config, "mesh_origin", dict, path)
    physics = _entry(header, "physics", str, path)
    if physics not in _MEDIA:
        raise FileError(f"{path}: physics is {physics!r}, expected one of {list(_MEDIA)}")
    kind = _MEDIA[physics]
    material = _array(file, "material", np.float64, (mesh.num_elem, len(kind.parameters)))
    exact = _entry(header, "exact", dict, path)
    made = {json.dumps(c): solution_from_config(c) for c in exact.values()}
    boundary = {
        name: made[json.dumps(exact[name])] if name in exact else word
        for name, word in _entry(config, "boundary", dict, path).items()
    }
    return DG(
        mesh, kind(**dict(zip(kind.parameters, material.T.copy(), strict=True))),
        degree=_entry(config, "degree", int, path), boundary=boundary,
        flux=_entry(config, "flux", str, path), integrator=_entry(config, "integrator", str, path),
        kernel=config["kernel"] if same else "auto",
        kernel_options=config["kernel_options"] if same and config["kernel"] == "fused" else None,
        **common,
    )  # fmt: skip


def _load_fd(file: Any, header: dict[str, Any], config: dict[str, Any], common: Any, same: bool) -> Any:
    """Make the simulation on a grid that a file describes."""
    from .fd import FD

    path = file.filename
    grid = Grid(**_entry(config, "grid", dict, path))
    physics = _entry(header, "physics", str, path)
    if physics not in _MEDIA:
        raise FileError(f"{path}: physics is {physics!r}, expected one of {list(_MEDIA)}")
    kind, scheme = _MEDIA[physics], _entry(config, "scheme", str, path)
    if scheme not in _SCHEMES:
        raise FileError(f"{path}: scheme is {scheme!r}, expected one of {list(_SCHEMES)}")
    data, num = file.get("material"), len(kind.parameters)
    uniform = data is not None and len(data.shape) == 1
    values = _array(file, "material", np.float64, (num,) if uniform else (*grid.shape, num))
    material = {name: float(values[i]) if uniform else values[..., i].copy()
                for i, name in enumerate(kind.parameters)}  # fmt: skip
    if scheme == "scalar":  # one number
        material["rho"] = float(values.flat[0])
    boundary = {
        name: (CPML if "f0" in one else Damping)(**one) if isinstance(one, dict) else one
        for name, one in _entry(config, "boundary", dict, path).items()
    }
    return FD(
        grid, kind(**material),
        order=_entry(config, "order", int, path), scheme=scheme,
        boundary=boundary, kernel=config["kernel"] if same else "auto",
        kernel_options=config["kernel_options"] if same else None,
        window=(config.get("window") if same else None) or "auto", **common,
    )  # fmt: skip


_SCHEMES = ("scalar", "staggered")
_METHODS = {"DG": _load_dg, "FD": _load_fd}


def _restore(sim: Any, file: Any, header: dict[str, Any]) -> None:
    """Put sources, receivers, state and clock of a file into a new simulation."""
    path = file.filename
    start, step = _entry(header, "start", float, path), _entry(header, "step", int, path)
    history = _entry(header, "history", int, path)
    sim._start, sim._given = start, frozenset(sim.fields)
    for config in _entry(header, "sources", list, path):
        kind = PlaneWave if config.get("type") == "PlaneWave" else Source
        sim.add_source(kind.from_config(config))
    handle = sim._live()
    for i in range(len(file.get("receivers", ()))):
        saved = _get_receivers(file[f"receivers/{i}"], sim.dtype)
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
        q = _array(file, name, sim.dtype, shape)
        _core.check(lib.unda_solver_write(handle, number, 0, len(q), _core.pointer(q)))
    if sim.config["method"] == "FD" and sim.medium.physics == "elastic":
        try:
            refuse_shear(sim)
        except ArgumentError as error:
            raise FileError(f"{path}: {error}") from None
    _core.check(lib.unda_solver_set_clock(handle, start, step, history))
