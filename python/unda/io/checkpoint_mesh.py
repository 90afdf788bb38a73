"""The contents of a checkpoint of a simulation on a mesh. Next: checkpoint.py, checkpoint_grid.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._core import lib, logger
from ..errors import ArgumentError, FileError
from ..exact import from_config as solution_from_config
from ..limits import choose_device, device_info
from ..problem._shapes import MAX_DEGREE
from ..problem.layer import Damping
from ..problem.mesh import Mesh
from ..problem.rank_mesh import scatter
from . import _hdf

_HISTORY = ("UNDA_HISTORY1", "UNDA_HISTORY2")
MOST_HISTORY = len(_HISTORY)
_MEMORY = (
    "UNDA_MEMORY",
    "UNDA_MEMORY1",
    "UNDA_MEMORY2",
)  # of layers: written after the state, which clears it


def _put_mesh(group: Any, mesh: Mesh) -> None:
    group.attrs["names"] = json.dumps(
        {"boundaries": list(mesh.boundary_names), "periodic": [list(p) for p in mesh.periodic],
         "tags": mesh.tag_names}
    )  # fmt: skip
    group["vertices"], group["cells"], group["tags"] = mesh.vertices, mesh.cells, mesh.tags
    group["faces"], group["face_names"] = mesh.boundary_faces, mesh.boundary_ids
    if mesh.curved is not None:
        group["curved"] = mesh.curved


def _get_mesh(group: Any) -> Mesh:
    names = _hdf.header(group, "names")
    cells = _hdf.array(group, "cells", np.int64, (None, None))
    faces = _hdf.array(group, "faces", np.int64, (None, None))
    ids = _hdf.array(group, "face_names", np.int32, (len(faces),))
    boundaries = {name: faces[ids == i] for i, name in enumerate(_hdf.entry(names, "boundaries", list))}
    return Mesh(
        _hdf.array(group, "vertices", np.float64, (None, 3)), cells,
        tags=_hdf.array(group, "tags", np.int32, (len(cells),)), boundaries=boundaries,
        periodic=[tuple(pair) for pair in _hdf.entry(names, "periodic", list)],
        tag_names=_hdf.entry(names, "tags", dict),
        curved=_hdf.array(group, "curved", np.float64, (len(cells), 27, 3)) if "curved" in group else None,
    )  # fmt: skip


def put(file: Any, sim: Any, history: int) -> None:
    """Write mesh, materials, state and levels of history; file None: another process writes."""
    if file is not None:
        _put_mesh(file.create_group("mesh"), sim.mesh if sim.ranks is None else sim.mesh.whole)
    for name, values in _contents(sim, history):
        if file is not None:
            file[name] = values


def _contents(sim: Any, history: int) -> Iterator[tuple[str, Any]]:
    """Return arrays of all cells by name, one after the other; None where another process writes them."""

    def whole(own: np.ndarray) -> Any:
        return own if sim.ranks is None else sim.ranks.gathered(own, sim.mesh.own_cells, sim.mesh.num_whole)

    yield "material", whole(sim._material if sim.medium.per == "node" else sim._material[:, 0])
    for name, (number, shape) in arrays(sim, history).items():
        own = shape if sim.ranks is None else (sim.mesh.num_owned, *shape[1:])
        yield name, whole(sim._solver.read(number, 0, np.empty(own, sim.dtype)))


def arrays(sim: Any, history: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return number and shape of the state and of so many levels of the integrator's history, by name.

    The state of SEM holds its history, the accelerations.
    """
    history = history if sim.config["method"] == "DG" else 0
    num = sim.mesh.num_elem if sim.ranks is None else sim.mesh.num_whole
    cells = (num, sim.num_node, len(sim.fields))
    numbers = {"state": lib.UNDA_STATE} | {name: getattr(lib, name) for name in _HISTORY[:history]}
    found: dict[str, tuple[int, tuple[int, ...]]] = {
        name: (number, cells) for name, number in numbers.items()
    }
    if "layers" in sim.config:
        from ..method.mesh_layer import NUM_TRACE

        memory = (num, 3, sim.num_node, NUM_TRACE[sim.medium.physics])
        found |= {name: (getattr(lib, name), memory) for name in _MEMORY[: history + 1]}
    return found


def rows(file: Any, name: str, sim: Any, shape: tuple[int, ...]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield own cells of an array of a file, and the number of the first of them."""
    if sim.ranks is None:
        yield 0, _hdf.array(file, name, sim.dtype, shape)
    else:
        yield 0, _hdf.rows(file, name, sim.dtype, shape, sim.mesh.own_cells)


def outer_data(sim: Any) -> dict[str, Any]:
    """Return what makes the exact solutions on boundaries again."""
    exact = {}
    for name, solution in sim._boundaries.exact.items():
        if not hasattr(solution, "to_config"):
            raise ArgumentError(
                f"the data of boundary {name!r} are a plain callable and cannot be saved; an unda.exact "
                "solution of unda.sampled time functions can"
            )
        exact[name] = solution.to_config()
    return exact


def _kernel_options(found: Any, same: bool) -> Any:
    """Return what a simulation takes of the kernel's options; every device has the metric of hexahedra."""
    if same or not isinstance(found, dict):
        return found if same else None
    return {name: value for name, value in found.items() if name == "metric"} or None


def _whole_mesh(file: Any, config: dict[str, Any]) -> Mesh:
    mesh = _get_mesh(_hdf.child(file, "mesh"))
    if mesh.hash != config.get("mesh"):
        raise FileError(f"mesh has hash {mesh.hash}, expected {config.get('mesh')!r}")
    mesh.origin = _hdf.entry(config, "mesh_origin", dict)
    return mesh


def _condition(found: Any) -> Any:
    """Return a word, or the layer that a dict describes."""
    try:
        return Damping(**found) if isinstance(found, dict) else found
    except TypeError:
        raise FileError(f"config.boundary has {found!r}, expected a word or a layer") from None


def make(file: Any, config: dict[str, Any], exact: Any, kind: Any, common: Any, same: bool) -> Any:
    """Make the simulation on a mesh that a file describes; same: on the kind of device where it ran."""
    from ..method.dg import DG
    from ..method.sem import SEM

    ranks = common.pop("comm", None)
    first = ranks is None or ranks.rank == 0
    mesh: Any = _whole_mesh(file, config) if first else None
    num = mesh.num_elem if first else 0
    if ranks is not None:
        mesh = scatter(mesh, ranks)
        num = mesh.num_whole
    # Checked before memory is allocated by the header: the state must be in the file.
    degree = _hdf.entry(config, "degree", int, 1, MAX_DEGREE[mesh.shape])
    cells = (num, lib.unda_element_num_node(mesh._info.shape, degree))
    if (found := _hdf.array_shape(file, "state"))[:2] != cells:
        raise FileError(f"state is {found}, expected {cells} and the number of fields")
    per = "node" if config["medium"].get("per") == "node" else "cell"
    nodes = cells if per == "node" else cells[:1]
    material = _hdf.array(file, "material", np.float64, (*nodes, len(kind.parameters))) if first else None
    made = {json.dumps(c): solution_from_config(c) for c in exact.values()}
    boundary = {
        name: made[json.dumps(exact[name])] if name in exact else _condition(word)
        for name, word in _hdf.entry(config, "boundary", dict).items()
    }
    medium: Any = None
    if material is not None:
        columns = np.moveaxis(material, -1, 0).copy()
        medium = kind(per=per, **dict(zip(kind.parameters, columns, strict=True)))
    kernel: Any = (config["kernel"] if same else None) or "auto"
    options = _kernel_options(config["kernel_options"], same)
    if config["method"] == "SEM":
        return SEM(
            mesh, medium, degree=degree, boundary=boundary, assembly=kernel, kernel_options=options, **common
        )
    common |= {"flux": _hdf.entry(config, "flux", str), "integrator": _hdf.entry(config, "integrator", str)}
    common |= {"degree": degree, "boundary": boundary}
    layers = config.get("layers")
    try:
        return DG._with_layers(layers, mesh, medium, kernel=kernel, kernel_options=options, **common)
    except ArgumentError as error:
        if kernel == "auto" or not _is_other(config, common["device"]):
            raise
        # Bits are the same on the same model of GPU alone: a device that lacks what the kernel needs takes
        # another.
        sim = DG._with_layers(layers, mesh, medium, **common)
        logger.warning("%s; the file's run goes on with kernel %s", error, sim.config["kernel"])
        return sim


def _is_other(config: dict[str, Any], device: str) -> bool:
    """Return whether the device where a run goes on is of another model than where it was."""
    there = device_info(choose_device(device))
    return any(there.get(word) != config.get(word) for word in ("device_name", "compute_capability"))


def settle(sim: Any) -> None:
    """Check the state that was read; nothing on a mesh."""
