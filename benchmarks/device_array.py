"""Time copies of a field on the device, in the user's order, and those by way of the host.

Bandwidth is of compulsory bytes, values read and written. ``python benchmarks/device_array.py -o FILE``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda import _core
from unda.commands.measuring import heading
from unda.io.device_array import DeviceArray
from unda.limits import device_limits

WATER, ROCK = unda.Acoustic(rho=1000.0, c=1500.0), unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0)
UNIT = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def mesh(shape: str, n: int) -> unda.Mesh:
    """Return n^3 boxes, of tetrahedra six times as many."""
    return unda.box_mesh(*UNIT, cells=(n, n, n), shape=shape)


#: Name: a simulation on a device, and a field.
CASES: dict[str, tuple[Callable[[str], Any], str]] = {
    "DG, tetrahedra, degree 3": (lambda on: unda.DG(mesh("tet", 40), WATER, degree=3, device=on), "p"),
    "DG, tetrahedra, elastic, degree 4": (
        lambda on: unda.DG(mesh("tet", 32), ROCK, degree=4, device=on),
        "syz",
    ),
    "DG, tetrahedra, kernel element": (
        lambda on: unda.DG(mesh("tet", 40), WATER, degree=2, kernel="element", device=on),
        "p",
    ),
    "DG, hexahedra, degree 4": (lambda on: unda.DG(mesh("hex", 56), WATER, degree=4, device=on), "p"),
    "SEM, elastic, degree 4": (lambda on: unda.SEM(mesh("hex", 56), ROCK, degree=4, device=on), "uz"),
    "FD, scalar": (lambda on: unda.FD(unda.Grid((400,) * 3, 10.0), WATER, device=on), "p"),
    "FD, staggered, elastic": (
        lambda on: unda.FD(unda.Grid((300,) * 3, 10.0), ROCK, scheme="staggered", device=on),
        "syz",
    ),
}


def seconds_of(work: Callable[[], Any], num: int) -> float:
    """Return the median, after one to warm up."""
    work()
    taken = []
    for _ in range(num):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken))


def measure(name: str, device: str) -> dict[str, Any]:
    """Return size, seconds and bandwidth of one case."""
    make, field = CASES[name]
    sim = make(device)
    number, shape = sim._stored(field)
    array, done = DeviceArray(shape, sim.dtype, 0), _core.new("int32_t *")

    def copy() -> None:
        sim._solver.call(_core.lib.unda_solver_read_device, number, array.pointer, array.nbytes, done)

    on_device, by_host = seconds_of(copy, 20), seconds_of(lambda: DeviceArray.of(sim.get(field), 0), 3)
    assert done[0] and array.numpy().tobytes() == sim.get(field).tobytes()
    return {
        "case": name, "mbytes": array.nbytes / 1e6, "seconds": on_device, "seconds_by_host": by_host,
        "gbytes_per_second": 2e-9 * array.nbytes / on_device,
    }  # fmt: skip


def main() -> None:
    """Measure all cases and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("-o", "--output", type=Path, default=Path("device_array.json"))
    args = parser.parse_args()
    head = {"benchmark": "device_array", **heading(args.device, device_limits(args.device), None)}
    found = []
    for name in CASES:
        found.append(measure(name, args.device))
        print(found[-1], flush=True)
    args.output.write_text(json.dumps(head | {"runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
