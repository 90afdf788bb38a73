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

__all__ = ["prepare"]

_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")


def _kernel_dir() -> Path:
    """Return cuda/: in the package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "cuda"
    return inside if inside.is_dir() else package.parent.parent / "cuda"


def _cache_dir() -> str:
    chosen = os.environ.get("UNDA_CACHE_DIR")
    if chosen is not None:
        return chosen
    if os.environ.get("UNDA_CACHE") == "0":
        return ""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "unda")


@cache
def prepare() -> None:
    """Set the folders, once a process."""
    _core.check(lib.unda_set_kernel_dir(os.fsencode(_kernel_dir())))
    _core.check(lib.unda_set_cache_dir(os.fsencode(_cache_dir())))
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
