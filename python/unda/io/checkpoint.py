"""Checkpoints: a simulation in an HDF5 file, from which it continues bit for bit.

The header is checked against the sizes of the file's contents before anything is allocated. Not
here: the files themselves (_hdf.py), the parts of one method (checkpoint_mesh.py, checkpoint_grid.py),
traces (traces.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import lib, new
from .._ranks import Ranks
from ..errors import FileError
from ..limits import device_number, several
from ..problem.incident import PlaneWave
from ..problem.medium import Acoustic, Elastic, Maxwell
from ..problem.source import Source
from . import _hdf, checkpoint_grid, checkpoint_mesh, monitors
from .traces import MOST_STEPS, get_receivers, put_receivers

if TYPE_CHECKING:
    from ..method.dg import DG
    from ..method.fd import FD
    from ..method.sem import SEM

_MEDIA = {kind.physics: kind for kind in (Acoustic, Elastic, Maxwell)}
_METHODS: dict[str, Any] = {"DG": checkpoint_mesh, "SEM": checkpoint_mesh, "FD": checkpoint_grid}


def save(sim: Any, path: Any) -> None:
    """Write a simulation, see `sim.save`."""
    part = _METHODS[sim.config["method"]]
    history = new("int32_t *")
    sim._solver.call(lib.unda_solver_get_history, history)
    integrals = [sim._solver.read_integrals(i) for i in range(len(sim.receivers))]
    waves = [wave for wave, *_ in sim._solver.waves]
    about, kept = monitors.describe(sim)
    header = {
        "monitors": about, "config": sim.config, "physics": sim.medium.physics, "start": sim._start,
        "step": sim.step_count, "history": history[0], "exact": part.outer_data(sim),
        "sources": [source.to_config() for source in (*sim._solver.whole_sources(), *waves)],
    }  # fmt: skip

    def fill(file: Any) -> None:
        file.attrs["simulation"] = json.dumps(header)
        part.put(file, sim, history[0])
        for i, receivers in enumerate(sim.receivers):
            group = file.create_group(f"receivers/{i}")
            put_receivers(group, receivers)
            if len(integrals[i]):
                group["integrals"] = integrals[i]
        monitors.put(file, kept)

    if sim.ranks is None or sim.ranks.rank == 0:
        _hdf.write(path, "simulation", fill)
    else:
        part.put(None, sim, history[0])


def load(path: Any, *, device: str | Sequence[str] | None = None, comm: Any = None) -> DG | SEM | FD:
    """Make the simulation again that `sim.save` wrote; it continues as if it had never stopped.

    Parameters
    ----------
    path : str or Path
    device : str or list of str, optional
        Where to continue, on any number of devices; by default where it ran, of several with parts along
        the curve. Bits are the same on the same engine and model of GPU. A model that lacks what the
        file's kernel needs, such as tensor cores, goes on with what
        "auto" takes; the log says so.
    comm : mpi4py.MPI.Intracomm, optional
        The processes that go on with it, each with a part of the mesh or grid; all call this, and all can
        read the file. How many processes wrote it does not matter.

    Returns
    -------
    DG, SEM or FD
        With its state, clock, sources and receivers (``sim.receivers``, samples included).

    Raises
    ------
    FileError
        If the file is missing, damaged or of another kind or version; the message names the entry,
        what was found and what was expected.
    DeviceError
        If the device is not there; `device` names another.

    See Also
    --------
    DG.save, FD.save, SEM.save : write checkpoints.

    Examples
    --------
    >>> sim.save("run.h5")  # doctest: +SKIP
    >>> again = unda.load("run.h5")  # doctest: +SKIP
    """
    if device is not None and device != "auto" and not several(device):
        device_number(device)
    if comm is None:
        return _load(path, device, None)
    ranks = Ranks(comm)
    return ranks.together("load", lambda: _load(path, device, ranks))


def _load(path: Any, device: Any, ranks: Ranks | None) -> DG | SEM | FD:
    with _hdf.reading(path, "simulation") as file:
        header = _hdf.header(file, "simulation")
        config = _hdf.entry(header, "config", dict)
        target = _where(config) if device is None else device
        first = target if isinstance(target, str) else target[0]
        if device is None and first != "auto":
            device_number(first)
        common = {
            "dt": _hdf.entry(config, "dt", float, np.finfo(float).tiny),
            "cfl": _hdf.entry(config, "cfl", float),
            "threads": config.get("threads") if first == "cpu" == config["device"] and ranks is None else
            None, "dtype": _hdf.entry(config, "dtype", str), "device": target, "allow_unstable": True,
        }  # fmt: skip
        same = first.partition(":")[0] == config["device"].partition(":")[0] != "cpu"
        part = _METHODS[_hdf.word(config, "method", _METHODS)]
        if ranks is not None:
            common["comm"] = ranks
        kind = _MEDIA[_hdf.word(header, "physics", _MEDIA)]
        sim = part.make(file, config, _hdf.entry(header, "exact", dict), kind, common, same)
        # The limit may be slightly lower than in the version that wrote the file, which had another bound.
        if not _hdf.entry(config, "allow_unstable", bool) and sim.dt > 1.2 * sim.dt_stable:
            raise FileError(f"dt is {sim.dt} s, above the stable limit {sim.dt_stable} s")
        _restore(part, sim, file, header)
    return sim


def _where(config: dict[str, Any]) -> str | list[str]:
    """Return the device on which a simulation ran, or the list of them."""
    if "team" in config:
        found = [str(one) for one in _hdf.entry(_hdf.entry(config, "team", dict), "devices", list)]
        if not found:
            raise FileError("config.team.devices is an empty list, expected names of devices")
        return found
    return str(_hdf.entry(config, "device", str))


def _restore(part: Any, sim: Any, file: Any, header: dict[str, Any]) -> None:
    """Put sources, receivers, state and clock of a file into a new simulation."""
    start, step = _hdf.entry(header, "start", float), _hdf.entry(header, "step", int, 0, MOST_STEPS)
    history = _hdf.entry(header, "history", int, 0, part.MOST_HISTORY)
    sim._start, sim._given = start, frozenset(sim.fields)
    configs = _hdf.entry(header, "sources", list)
    sim.add_source([Source.from_config(one) for one in configs if one.get("type") != "PlaneWave"])
    for one in configs:
        if one.get("type") == "PlaneWave":
            sim.add_source(PlaneWave.from_config(one))
    groups = _hdf.child(file, "receivers") if "receivers" in file else ()
    integrals: list[np.ndarray] = []
    for i in range(len(groups)):
        group = _hdf.child(groups, str(i))
        saved = get_receivers(group, sim.dtype)
        fits = saved._next - saved.every <= step < saved._next
        if not fits or (saved._t0, saved._dt) != (start, sim.dt):
            raise FileError(
                f"receivers {i} have {saved.num_sample} samples from step {saved._step} on, one every "
                f"{saved.every} steps of {saved._dt} s from {saved._t0} s; the simulation is at step {step} "
                f"of {sim.dt} s from {start} s"
            )
        # The library counts a group's samples from the step at which it is added.
        sim._solver.call(lib.unda_solver_set_clock, start, saved._step, 0)
        if saved.fibre is not None:
            made = sim.add_fibre(fields=saved.fields, every=saved.every, name=saved.name, **saved.fibre)
        else:
            made = sim.add_receivers(
                saved.points, saved.fields, every=saved.every, name=saved.name, side=saved.side
            )
        made.clear(saved._t0, saved._step)
        made.put(0, saved._all())
        empty = sim._solver.read_integrals(i)
        integrals.append(_hdf.array(group, "integrals", np.float64, empty.shape) if len(empty) else empty)
        if made._integral is not None and saved._integral is not None:
            made._integral.state = saved._integral.state
    for name, (number, shape) in part.arrays(sim, history).items():
        for first, rows in part.rows(file, name, sim, shape):
            sim._solver.write(number, first, rows)
    part.settle(sim)
    sim._solver.call(lib.unda_solver_set_clock, start, step, history)
    for i, values in enumerate(integrals):
        sim._solver.write_integrals(i, values)
    monitors.restore(
        file, sim, header.get("monitors", []), step
    )  # files from before monitors have no such entry
