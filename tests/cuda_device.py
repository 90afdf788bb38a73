"""Which CUDA device the tests have: a real one, or the stand-in driver.

Imported before unda uses CUDA. Not here: the stand-in (emulator/, stand_in_driver.py).
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import stand_in_driver

BUILD = Path(__file__).resolve().parent.parent / "build" / "stand-in"


@cache
def is_real() -> bool:
    """Say whether this machine has a CUDA device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


@cache
def prepare() -> bool:
    """Choose the stand-in where there is no device; return whether the device is real."""
    if not is_real():
        os.environ.update(stand_in_driver.build(BUILD))
    return is_real()


def printed_on_an_old_device(code: str) -> list[str]:
    """Return the lines that code prints in a process whose stand-in has compute capability 7."""
    environment = os.environ | {"UNDA_EMULATOR_CAPABILITY": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()
