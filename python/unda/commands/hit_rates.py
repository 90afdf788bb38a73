"""Hit rates of loads in the caches of a device, by function of a kernel, from NVIDIA's profiler ncu.

ncu runs this module as a program of its own, which makes one step of each case: profiled kernels are slow,
and are never those that are timed. What is counted: sectors of global loads that were found in L1, of those
asked for (asynchronous copies to shared memory are none of them), and reads that were found in L2.
Not here: who prints them (bench_dg_modave.py).
"""

from __future__ import annotations

import csv
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..limits import device_number
from ..problem.mesh import Mesh
from .dg_case import set_wave, simulation, tet_box

#: What a function gets, and the counters whose ratio it is.
RATES = {
    "l1_hit": (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    ),
    "l2_hit": (
        "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
    ),
}  # fmt: skip
_COUNTERS = [name for of in RATES.values() for name in of]
_START = 3  # steps before the one that counts: ab3 begins with two of another integrator

#: Of a case: physics, nodes of the mesh at least, keywords of `DG`, functions in the order of their launches.
Case = Mapping[str, Any]


def hit_rates(
    cases: Sequence[Case], device: str
) -> tuple[list[dict[str, dict[str, float | None]]] | None, str]:
    """Return the rates [%] of each function of each case, or None, and where they come from, or why not.

    A function without such loads has None.
    """
    ncu = shutil.which("ncu")
    if not ncu:
        return None, "ncu, which is part of CUDA's toolkit, was not found on the PATH"
    with tempfile.TemporaryDirectory() as folder:
        given, log = Path(folder) / "cases.json", Path(folder) / "ncu.csv"
        given.write_text(json.dumps({"device": device, "cases": list(cases)}))
        command = [
            ncu, "--csv", "--page", "raw", "--metrics", ",".join(_COUNTERS), "--kernel-name", "regex:^dg_",
            "--profile-from-start", "off", "--log-file", str(log), sys.executable, "-m", __name__, str(given),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = log.read_text().splitlines() if log.exists() else []
    errors = [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]
    if done.returncode or errors:
        said = errors or done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        return None, f"ncu: {said[0]}"
    try:
        return _by_case(lines, cases), "ncu"
    except ValueError as error:
        return None, f"ncu: {error}"


def _by_case(lines: Sequence[str], cases: Sequence[Case]) -> list[dict[str, dict[str, float | None]]]:
    """Return the rates from the lines of ncu: a line a launch, in their order."""
    table = csv.DictReader(line for line in lines if line.startswith('"'))
    launches = [row for row in table if row["ID"]]  # the line of units has none
    found, at = [], 0
    for case in cases:
        names = list(case["functions"])
        rows = launches[at : at + len(names)]
        at += len(names)
        seen = [row["Kernel Name"].partition("(")[0] for row in rows]
        if seen != names:
            raise ValueError(f"it saw {', '.join(seen) or 'nothing'} in a step, expected {', '.join(names)}")
        found.append({name: _rates(row) for name, row in zip(names, rows, strict=True)})
    if at < len(launches):
        raise ValueError(f"it saw {len(launches)} launches, expected {at}")
    return found


def _rates(row: Mapping[str, str]) -> dict[str, float | None]:
    rates: dict[str, float | None] = {}
    for name, (hits, all_) in RATES.items():
        part, whole = (float(row[one].replace(",", "")) for one in (hits, all_))
        # Counters of different passes over a kernel need not agree to the last sector.
        rates[name] = 100 * min(part / whole, 1.0) if whole else None
    return rates


# ---- what ncu runs


@contextmanager
def _seen(device: str) -> Any:
    """Let the profiler look at what is launched meanwhile; the context is the library's, the primary one."""
    driver = ctypes.CDLL(os.environ.get("UNDA_LIBCUDA", "libcuda.so.1"))
    context = ctypes.c_void_p()
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device_number(device))
    driver.cuCtxPushCurrent_v2(context)
    driver.cuProfilerStart()
    yield
    driver.cuProfilerStop()


def main(path: str) -> None:
    """Make a step of each case of a file that the profiler sees."""
    given = json.loads(Path(path).read_text())
    meshes: dict[tuple[float, int], Mesh] = {}  # one at a time
    for case in given["cases"]:
        of = case["nodes"], case["case"]["degree"]
        if of not in meshes:
            meshes.clear()
            meshes[of] = tet_box(*of)
        with simulation(meshes[of], case["physics"], case["case"], given["device"]) as sim:
            set_wave(sim)
            sim.step(_START)
            with _seen(given["device"]):
                sim.step(1)


if __name__ == "__main__":
    main(sys.argv[1])
