"""Runs of FD on one device and in slabs, for tests of slabs (fd/test_slabs.py, fd/test_slabs_cuda.py).

The runs are those whose bits are recorded (bits_fd.py), but for kernels that several devices do not have.
"""

import contextlib
import os

import bits_fd
import unda

os.environ["UNDA_CPU_PARTS"] = "1"  # slabs on the CPU are for tests alone

SINGLE = ("tiled", "diamond", "window", "plan/scalar/tiled")  # kernels and storages of one device
RUNS = {key: run for key, run in bits_fd.runs().items() if not any(word in key for word in SINGLE)}
ON_CPU = [key for key in RUNS if "-1" in key or "-2" in key or "defaults" in key]
ON_DEVICE = [key for key in RUNS if key not in ON_CPU]


@contextlib.contextmanager
def in_slabs(num, devices=None):
    """`unda.FD` makes simulations in `num` slabs, or as many as there is room for; yields those numbers."""
    single, made = unda.FD, []

    def make(grid, medium, **given):
        device = given.pop("device")
        for few in range(num, 1, -1):
            where = [*devices[:few]] if devices else [device] * few
            try:
                sim = single(grid, medium, **given, device=where)
            except unda.ArgumentError as error:
                if "slabs of a grid" not in str(error):
                    raise
            else:
                made.append(few)
                return sim
        return single(grid, medium, **given, device=devices[0] if devices else device)

    unda.FD = make
    try:
        yield made
    finally:
        unda.FD = single
