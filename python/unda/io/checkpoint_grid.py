"""The contents of a checkpoint of a simulation on a grid. Next: checkpoint.py, checkpoint_mesh.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import FileError
from ..limits import several
from ..method.fd_sides import SIDES
from ..method.grid_fluid import refuse_shear
from ..problem.grid import Grid, chunks
from ..problem.layer import CPML, Damping
from . import _hdf

MOST_HISTORY = 0  # levels that the integrator keeps
_VALUES = 2**20  # of an array at a time


def put(file: Any, sim: Any, _history: int) -> None:
    """Write materials and state of a grid, with the memory variables of its layers, chunk by chunk.

    file None: another process writes.
    """
    if file is not None:
        _put_material(file, sim)
    for name, (number, shape) in arrays(sim, 0).items():
        array = None if file is None else file.create_dataset(name, shape, sim.dtype)
        for first, count in _parts(shape):
            planes = sim._solver.read(number, first, np.empty((count, *shape[1:]), sim.dtype))
            if sim.ranks is not None:  # those of other processes are 0
                planes = sim.ranks.united(planes)
            if array is not None:
                array[first : first + count] = planes


def _put_material(file: Any, sim: Any) -> None:
    if sim._material.row is not None:
        file["material"] = sim._material.row
    else:
        shape = (*sim.grid.shape, len(sim.medium.parameters))
        material = file.create_dataset("material", shape, np.float64)
        for (first, count, _), table in zip(chunks(sim.grid), sim._material.tables(), strict=True):
            material[first : first + count] = table.reshape(count, *shape[1:])


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Cut an array into whole planes: the first, their number."""
    step = max(1, _VALUES // max(1, shape[1] * shape[2]))
    for first in range(0, shape[0], step):
        yield first, min(step, shape[0] - first)


def rows(file: Any, name: str, sim: Any, shape: tuple[int, ...]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield planes of an array of a file, and the number of the first of them; a process keeps its own."""
    data = _hdf.dataset(file, name, sim.dtype, shape)
    for first, count in _parts(shape):
        yield first, np.asarray(data[first : first + count])


def arrays(sim: Any, _history: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Return number and shape of the fields and of the memory variables of layers, by name."""
    return dict(sim._whole())


def outer_data(_sim: Any) -> dict[str, Any]:
    """Return the exact solutions on boundaries, of which there are none."""
    return {}


def make(file: Any, config: dict[str, Any], _exact: Any, kind: Any, common: Any, same: bool) -> Any:
    """Make the simulation on a grid that a file describes."""
    from ..method.fd import FD

    grid = Grid(**_hdf.entry(config, "grid", dict))
    scheme = _hdf.word(config, "scheme", ("scalar", "staggered"))
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
    # Checked before memory is allocated by the header: the state must be in the file.
    width = [getattr(boundary.get(side), "width", 0) for side in SIDES]
    least = tuple(n + low + high for n, low, high in zip(grid.shape, width[::2], width[1::2], strict=True))
    found = _hdf.array_shape(file, medium.fields[0])
    if len(found) != 3 or any(there < needed for there, needed in zip(found, least, strict=True)):
        raise FileError(f"{medium.fields[0]} is {found}, expected {least} or more: the grid and its layers")
    # Slabs take kernel "step", which gives the same bits as all others, and no windows.
    alone = common.get("comm") is None and len(several(common["device"])) < 2
    kernel = same and (alone or config["kernel"] == "step")
    return FD(
        grid, medium,
        order=_hdf.entry(config, "order", int), scheme=scheme,
        boundary=boundary, kernel=config["kernel"] if kernel else "auto",
        kernel_options=config["kernel_options"] if kernel else None,
        window=(config.get("window") if same and alone else None) or "auto", **common,
    )  # fmt: skip


def _layer(config: dict[str, Any]) -> Any:
    """Make a layer again; files from before ratios have CPMLs without one, whose is 0."""
    return CPML(**({"ratio": 0.0} | config)) if "f0" in config else Damping(**config)


def settle(sim: Any) -> None:
    """Refuse a state that a fluid cannot have."""
    if sim.medium.physics == "elastic":
        refuse_shear(sim)
