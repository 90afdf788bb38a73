"""Say what unda found on this machine, and why a GPU is not used; ``--test`` runs on what was found.

Not here: the search itself (csrc/gpu/api.c), what is run (self_test.py).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import platform
import subprocess
import sys
from typing import Any

import numpy as np

from .. import _core, _cuda
from .._core import lib
from ..errors import ArgumentError, Error
from ..limits import choose_device, device_info, free_memory, num_devices, reaches
from .self_test import self_test


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", help="print JSON")
    test = "run each method and physics, seconds in all; exit status 1 if an error is above its bound"
    parser.add_argument("--test", action="store_true", help=test)
    parser.add_argument("--device", help="what --test runs on, instead of what was found: cpu, cuda:1")


_ASK_MPI = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(MPI.Get_library_version().splitlines()[0].split(",")[0].strip(), flush=True)
from unda.method.transport import knows_devices
knows = {True: "takes", False: "does not take", None: "does not say whether it takes"}[knows_devices()]
print(knows, "addresses of CUDA devices")
"""


def _mpi() -> str:
    """Return what is known of MPI; it is loaded in a process of its own, where it is not started."""
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not there (unda-waves[mpi])"
    found = subprocess.run(
        [sys.executable, "-c", _ASK_MPI], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    # MPICH ends a process that asks before MPI is started: its name alone is known then.
    said = found.stdout.splitlines() or found.stderr.splitlines()[-1:]
    return "; ".join(" ".join(line.split()) for line in said) or f"python ended with {found.returncode}"


def collect() -> dict[str, Any]:
    """Return what ``unda info`` prints: versions, processor, CUDA devices or the reason for none."""
    _cuda.prepare()
    found: dict[str, Any] = {
        "unda": _core.version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "library": os.environ.get("UNDA_LIBRARY") or str(_cuda.package_dir() / "libunda.so"),
        "kernels": str(_cuda.kernel_dir()),
        "cache": _cuda.cache_dir() or "switched off",
        "cpu": {**device_info("cpu"), "threads": len(os.sched_getaffinity(0))},
        "mpi": _mpi(),
        "cuda": [],
        "why_no_gpu": None,
    }
    try:
        names = [f"cuda:{i}" for i in range(num_devices())]
        found["cuda"] = [
            {
                "device": name, **device_info(name), "free": free_memory(name),
                "reaches": [other for other in names if other != name and reaches(name, other)],
            }
            for name in names
        ]  # fmt: skip
        if not found["cuda"]:
            found["why_no_gpu"] = "the driver knows no device"
    except Error as error:
        found["why_no_gpu"] = str(error)
    found["search"] = _core.text(lib.unda_device_report()).splitlines()
    return found


def _test(device: str) -> dict[str, Any]:
    """Return what the self-test on a device gave."""
    outcomes, seconds = self_test(device)
    rows = [
        {"case": one.name, "error": one.error if math.isfinite(one.error) else None,
         "bound": one.bound if math.isfinite(one.bound) else None, "passed": one.passed,
         "why": one.text or None}
        for one in outcomes
    ]  # fmt: skip
    return {
        "device": device, "name": device_info(device)["device_name"], "seconds": seconds,
        "passed": all(one.passed for one in outcomes), "cases": rows,
    }  # fmt: skip


def _print_test(test: dict[str, Any]) -> None:
    print(f"self-test on {test['device']}, {test['name']}: largest relative error, and the bound of each")
    for one in test["cases"]:
        known = one["error"] is not None
        said = f"{one['error']:.1e}  {one['bound']:.1e}" if known else one["why"] or "not a number"
        print(f"  {'ok    ' if one['passed'] else 'FAILED'} {one['case']:24} {said}")
    verdict = "passed" if test["passed"] else "FAILED"
    print(f"self-test {verdict} in {test['seconds']:.1f} s")


def run(args: argparse.Namespace) -> int:
    """Print; return 1 if the self-test failed."""
    if args.device is not None and not args.test:
        raise ArgumentError(f"--device {args.device}, expected with --test only: here it would do nothing")
    found = collect()
    if args.test:
        found["test"] = _test(choose_device(args.device or "auto"))
    status = 0 if not args.test or found["test"]["passed"] else 1
    if args.json:
        print(json.dumps(found, indent=2))
        return status
    print(f"unda {found['unda']}, Python {found['python']}, NumPy {found['numpy']}")
    for name in ("library", "kernels", "cache"):
        print(f"{name:8} {found[name]}")
    print(f"cpu      {found['cpu']['device_name']}, {found['cpu']['threads']} threads")
    print(f"mpi      {found['mpi']}")
    for gpu in found["cuda"]:
        print(
            f"{gpu['device']}   {gpu['device_name']}, {gpu['free'] / 1e9:.1f} of "
            f"{gpu['memory'] / 1e9:.1f} GB free, capability {gpu['compute_capability']}, "
            f"driver {gpu['driver']}, NVRTC {gpu['nvrtc']}"
        )
        if len(found["cuda"]) > 1:
            print(f"         reaches the memory of {', '.join(gpu['reaches']) or 'no other device'}")
    if found["why_no_gpu"]:
        print(f"no GPU is used: {found['why_no_gpu']}")
    print("search for CUDA:")
    for line in found["search"]:
        print(f"  {line}")
    if args.test:
        _print_test(found["test"])
    return status
