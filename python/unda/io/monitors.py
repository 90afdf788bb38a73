"""Monitors in checkpoints: what they accumulated so far, and where. Not here: the files (_hdf.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FileError
from ..method.monitor import KINDS, Monitor
from ..method.monitor_field import monitored_names, taken
from ..method.monitor_region import saved_region
from . import _hdf
from .traces import MOST_STEPS


def describe(sim: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what headers say of monitors, and their arrays by name, whole in the process that writes."""
    headers, arrays = [], []
    for one in sim.monitors:
        first, count = one._count()
        region, kept = one._region.saved(one._sums())
        about = {
            "field": one.field,
            "kind": one.kind,
            "every": one.every,
            "first": first,
            "num_sample": count,
        }
        headers.append(about | {"frequencies": one.frequencies.tolist(), "region": region})
        arrays.append(kept)
    return headers, arrays


def put(file: Any, arrays: list[dict[str, Any]]) -> None:
    """Write their arrays."""
    for i, kept in enumerate(arrays):
        group = file.create_group(f"monitors/{i}")
        for name, array in kept.items():
            group[name] = array


def restore(file: Any, sim: Any, headers: list[Any], step: int) -> None:
    """Add the monitors of a file to a simulation whose state and clock are set."""
    for i, about in enumerate(headers):
        field = _hdf.word(about, "field", monitored_names(sim))
        kind = _hdf.word(about, "kind", KINDS)
        every = _hdf.entry(about, "every", int, 1, 2**31 - 1)
        first = _hdf.entry(about, "first", int, 0, MOST_STEPS)
        count = _hdf.entry(about, "num_sample", int, 1, MOST_STEPS)
        if not first <= step or count != (step - first) // every + 1:
            raise FileError(
                f"monitor {i} has {count} samples from step {first} on, one every {every} steps; the "
                f"simulation is at step {step}"
            )
        frequencies = np.array(_hdf.entry(about, "frequencies", list), np.float64)
        group = _hdf.child(_hdf.child(file, "monitors"), str(i))
        cells = _hdf.array(group, "cells", np.int64, (None,)) if "cells" in group else None
        region = saved_region(sim, taken(sim, field).first, _hdf.entry(about, "region", list), cells)
        made = Monitor(sim, field, kind, every, frequencies, region)
        shape = (made._num_array, *region.file_shape)
        sums = _hdf.array(group, "sums", made._dtype, shape)
        made._begin()
        made._put(first, count, region.own_part(sums))
