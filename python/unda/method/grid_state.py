"""The state given to `FD.set`, read and checked as a whole before any of it is written.

Not here: writing it (fd.py), positions of fields (fd_scheme.py), fluids (grid_fluid.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._check import call_at, node_values
from .._parallel import ahead
from .._units import plain
from ..errors import ArgumentError
from ..problem._gridded import labelled
from ..problem.grid import Block
from .grid_fluid import STRESSES, Fluids


def read_state(
    sim: Any, exact: Callable[..., Any] | None, t: float, fields: Mapping[str, Any]
) -> dict[str, list[np.ndarray]]:
    """Return the fields of a state at their places, each chunk by chunk, in the simulation's precision.

    What functions and exact solutions give is kept until all of it is known, so that a state that is refused
    leaves the present one alone.
    """
    if exact is None:
        found = {name: _given(sim, name, value) for name, value in fields.items()}
    else:
        found = {name: _of_exact(sim, exact, name, t) for name in sim._scheme.names}
    if sim.medium.physics == "elastic":
        _settle(sim, found)
    return found


def _settle(sim: Any, state: dict[str, list[np.ndarray]]) -> None:
    """Refuse stresses that the fluids of an elastic medium cannot carry."""
    names = [name for name in STRESSES if name in state]
    largest = sim._most(
        max((float(np.abs(part).max()) for name in names for part in state[name]), default=0.0)
    )
    if largest == 0.0:
        return
    fluids = Fluids(sim)
    for i, (first, _, _) in enumerate(sim._chunks()):
        for name, part in fluids.settle(first, {name: state[name][i] for name in names}, largest).items():
            state[name][i] = part


def _by_chunk(
    sim: Any, name: str, value: Callable[[slice, list[np.ndarray]], np.ndarray], *, called: bool
) -> list[np.ndarray]:
    """Return value(planes, place) of each chunk; called: by a function of the user's, so not by threads."""
    x, y, z = sim._axes(name)

    def made(chunk: tuple[int, int, Block]) -> np.ndarray:
        planes = slice(chunk[0], chunk[0] + chunk[1])
        return value(planes, [x[planes, None, None], y[None, :, None], z[None, None, :]])

    return list((map if called else ahead)(made, sim._chunks()))


def _given(sim: Any, name: str, value: Any) -> list[np.ndarray]:
    """Read a field given as an array, a number or a function."""
    value = labelled(name, value, _unit(sim, name))
    if callable(value):
        return _called(sim, name, value)
    try:
        array = np.asarray(plain(name, value, _unit(sim, name)))
    except ValueError as error:
        raise ArgumentError(f"{name} is not an array of numbers: {error}") from None
    own = len(sim.own_planes), *sim.grid.shape[1:]
    if array.ndim and array.shape not in (sim.grid.shape, own):
        raise ArgumentError(f"{name} has shape {array.shape}, expected {sim.grid.shape}")

    def part(planes: slice, place: list[np.ndarray]) -> np.ndarray:
        if array.ndim and array.shape != sim.grid.shape:
            here = sim._part.spread(array, planes.start, planes.stop - planes.start)
        else:
            here = array[planes] if array.ndim else array
        return node_values(name, here, place, sim.dtype)

    found = _by_chunk(sim, name, part, called=False)
    _refuse_lost(sim, name, found, array.any)
    return found


def _unit(sim: Any, name: str) -> str:
    field, _, _ = name.partition("_")  # for p_previous, p
    return str(sim.medium.units[field])


def _called(sim: Any, name: str, value: Callable[..., Any]) -> list[np.ndarray]:
    """Read a field given as a function."""
    anything = []

    def part(_: slice, place: list[np.ndarray]) -> np.ndarray:
        given = _spread(plain(name, call_at(name, value, place), _unit(sim, name)), place)
        made = np.array(node_values(name, given, place, sim.dtype))  # f may return the same array again
        anything.append(bool(np.any(given)))
        return made

    found = _by_chunk(sim, name, part, called=True)
    _refuse_lost(sim, name, found, lambda: any(anything))
    return found


def _spread(given: Any, place: list[np.ndarray]) -> Any:
    """Return what a function gave on all nodes, also along axes on which it does not depend."""
    shape = np.broadcast_shapes(*(x.shape for x in place))
    fits = np.ndim(given) == len(shape) and all(
        n in (1, m) for n, m in zip(np.shape(given), shape, strict=True)
    )
    return np.broadcast_to(given, shape) if fits else given


def _refuse_lost(sim: Any, name: str, parts: list[np.ndarray], anything: Callable[[], Any]) -> None:
    """Raise if a whole field is below the smallest normal number, which steps flush to 0."""
    tiny = np.finfo(sim.dtype).tiny
    lost = all(float(np.abs(part).max()) < tiny for part in parts)
    if sim._most(not lost) == 0.0 and sim._most(bool(anything())) > 0.0:
        raise ArgumentError(
            f"{name} has values other than 0, all of which are below {tiny:.3g}, the smallest of {sim.dtype}"
        )


def _of_exact(sim: Any, exact: Callable[..., Any], name: str, t: float) -> list[np.ndarray]:
    """Read a field of an exact solution at its places and time."""
    field, _, _ = name.partition("_")  # for p_previous, p
    when = t + sim._scheme.lag(name) * sim.dt

    def part(_: slice, place: list[np.ndarray]) -> np.ndarray:
        found = call_at("exact", exact, place, when)
        if not isinstance(found, Mapping) or field not in found:
            raise ArgumentError(f"the exact solution gave no {field}")
        return np.array(node_values(field, _spread(found[field], place), place, sim.dtype))

    return _by_chunk(sim, name, part, called=True)
