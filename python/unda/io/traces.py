"""Traces of receivers in HDF5 files: their own, and those of a simulation. Not here: the files (_hdf.py)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import FileError
from ..method.integral import Integral
from ..method.receiver import Receivers
from . import _hdf

MOST_STEPS = 2**53  # up to it each step has a time of its own


def put_receivers(group: Any, receivers: Receivers) -> None:
    """Write traces, with their fields and points, into a group."""
    about = {
        "fields": list(receivers.fields), "units": receivers.units, "every": receivers.every,
        "name": receivers.name, "dt": receivers._dt, "t0": receivers._t0,
        "step": receivers._step, "config": receivers.config, "lags": receivers._lags,
        "side": receivers.side, "fibre": receivers.fibre,
    }  # fmt: skip
    integral = receivers._integral
    if integral is not None and integral.state[1] is not None:  # points cut out and gathers record no more
        about["next"], group["integral"] = integral.state
        about["integrated"] = integral.names
    group.attrs["receivers"] = json.dumps(about)
    group["points"] = receivers.points
    group["samples"] = receivers._all()


def get_receivers(group: Any, dtype: Any) -> Receivers:
    """Read what `put_receivers` wrote, samples of this dtype."""
    about = _hdf.header(group, "receivers")
    fields = tuple(_hdf.entry(about, "fields", list))
    points = _hdf.array(group, "points", np.float64, (None, 3))
    every, dt = _hdf.entry(about, "every", int, 1, 2**31 - 1), _hdf.entry(about, "dt", float)
    integral = None
    if "integrated" in about:
        integral = Integral(fields, _hdf.entry(about, "integrated", list), every, dt)
    receivers = Receivers(
        points, fields, units=_hdf.entry(about, "units", dict),
        every=every, dt=dt, dtype=np.dtype(dtype), config=about.get("config", {}),
        name=about.get("name"), lags=about.get("lags"), side=about.get("side"),
        integral=integral, fibre=about.get("fibre"),
    )  # fmt: skip
    receivers.clear(_hdf.entry(about, "t0", float), _hdf.entry(about, "step", int, 0, MOST_STEPS))
    receivers.put(0, _hdf.array(group, "samples", dtype, (None, len(points), len(fields))))
    if integral is not None:
        integral.state = (
            _hdf.entry(about, "next", int, 0, MOST_STEPS + 1),
            _hdf.array(group, "integral", np.float64, (len(points), len(integral.names))),
        )
    return receivers


def save_receivers(receivers: Receivers, path: Any) -> None:
    """Write traces, see `Receivers.save`."""
    _hdf.write(path, "receivers", lambda file: put_receivers(file, receivers))


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

    See Also
    --------
    Receivers.save : writes them.

    Examples
    --------
    >>> rec = unda.load_receivers("traces.h5")  # doctest: +SKIP
    """
    with _hdf.reading(path, "receivers") as file:
        dtype = _hdf.child(file, "samples", "Dataset").dtype
        if dtype not in (np.float32, np.float64):
            raise FileError(f"samples are {dtype}, expected float32 or float64")
        return get_receivers(file, dtype)
