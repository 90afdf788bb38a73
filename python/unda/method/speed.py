"""The speed of a simulation: seconds of its kernels, rates beside the limits of the machine.

Not here: the limits (limits.py), whole benchmarks (commands/bench.py).
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._check import integer
from .._core import lib
from ..limits import limits_once

#: What a kernel has of the device, by the names of unda_profile.
RESOURCES = ("registers", "spill_bytes", "shared_bytes", "threads", "blocks", "occupancy")


def rate(sim: Any, num: int, seconds: float, limits: Any) -> dict[str, float]:
    """Return what `rate` returns, of num cells of a mesh or nodes of a grid."""
    info, (size, unit) = sim._solver.info(), sim._size()
    limits = limits_once(sim.config["device"]) if limits is None else limits
    fma = limits["fma32" if sim.dtype.itemsize == 4 else "fma64"]
    flops, moved = info.flops * num, info.bytes_per_elem * num
    return {
        f"g{unit.lower()}_per_second": size / seconds / 1e9,
        "gflops": flops / seconds / 1e9,
        "gbytes_per_second": moved / seconds / 1e9,
        "percent_of_limit": 100 * max(flops / fma, moved / limits["copy"]) / seconds,
    }


def kernel_seconds(sim: Any, runs: int) -> dict[str, dict[str, float]]:
    """Time each CUDA kernel, see `profile`."""
    profile = _core.new_struct("unda_profile")
    runs = integer("runs", runs, 1, 1_000_000)
    sim._solver.call(lib.unda_solver_profile, runs, profile)
    found = {
        _core.text(profile.name[i]): {
            "seconds": float(profile.seconds[i]), "launches": float(profile.launches[i])
        }
        for i in range(profile.num_kernel)
    }  # fmt: skip
    for i in range(profile.num_kernel):
        one = found[_core.text(profile.name[i])]
        if profile.flops[i] > 0:
            one |= {"flops": float(profile.flops[i]), "bytes": float(profile.bytes[i])}
        if profile.threads[i] > 0:
            one |= {name: getattr(profile, name)[i] for name in RESOURCES}
    found["stage"] = {"seconds": float(profile.stage_seconds)}
    return found
