"""Tells the library where the CUDA engine finds its kernels, its cache and pip's NVRTC.

Not here: loading or compiling (csrc/gpu).
"""

from __future__ import annotations

import os
import site
import sysconfig
from functools import cache
from pathlib import Path

from . import _core
from ._core import lib

__all__ = ["cache_dir", "kernel_dir", "package_dir", "prepare"]

_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")


def package_dir() -> Path:
    """Return the folder of this package."""
    return Path(__file__).resolve().parent


def kernel_dir() -> Path:
    """Return cuda/: in the package, or at the top of a checkout."""
    inside = package_dir() / "cuda"
    return inside if inside.is_dir() else package_dir().parent.parent / "cuda"


def cache_dir() -> str:
    """Return the folder of compiled kernels, "" where it is switched off."""
    if os.environ.get("UNDA_CACHE") == "0":
        return ""
    chosen = os.environ.get("UNDA_CACHE_DIR")
    if chosen is not None:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "unda")


@cache
def prepare() -> None:
    """Set the folders, once a process."""
    _core.check(lib.unda_set_kernel_dir(os.fsencode(kernel_dir())))
    _core.check(lib.unda_set_cache_dir(os.fsencode(cache_dir())))
    roots = {
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        site.getusersitepackages(),
    }
    for root in sorted(roots):
        for part in _WHEELS:
            folder = Path(root) / part
            if folder.is_dir():
                _core.check(lib.unda_add_library_dir(os.fsencode(folder)))
