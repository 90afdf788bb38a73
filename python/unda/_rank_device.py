"""The device of one of many processes, and its share of the CPU's cores.

Not here: parts of problems (problem/rank_mesh.py, method/rank_grid.py).
"""

from __future__ import annotations

from typing import Any

from ._ranks import Ranks
from .errors import ArgumentError
from .limits import choose_device, device_info, num_devices


def share_devices(given: Any, ranks: Ranks) -> None:
    """Make `given.device` that of this process, and `given.threads` its share; raise if devices differ."""
    if not isinstance(given.device, str) or given.device == "cuda:all":
        raise ArgumentError(f"device is {given.device!r}; with comm= each process has one device")
    if given.threads is None:
        given.threads = ranks.threads
    given.device = ranks.together("device", lambda: _own_device(given.device, ranks))
    names = ranks.comm.allgather(
        device_info(given.device).get("device_name") if given.device != "cpu" else "cpu"
    )
    other = next((i for i, name in enumerate(names) if name != names[0]), 0)
    if other:
        raise ArgumentError(
            f"process 0 runs on {names[0]}, process {other} on {names[other]}; expected equal devices: "
            "processes wait for each other, and their bits must be the same"
        )


def _own_device(device: str, ranks: Ranks) -> str:
    """Return the device of a process: those of one machine take its CUDA devices in turn."""
    chosen = str(choose_device(device))
    if device in ("auto", "cuda") and chosen.startswith("cuda"):
        return f"cuda:{ranks.place % num_devices()}"
    return chosen
