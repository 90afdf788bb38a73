"""Tells the library where the CUDA engine finds its kernels, its cache, and NVRTC, cuBLAS and NCCL of pip.

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

_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cublas/lib", "nvidia/nccl/lib")


def package_dir() -> Path:
    """Return the folder of this package."""
    return Path(__file__).resolve().parent


def kernel_dir() -> Path:
    """Return cuda/: in the package, or at the top of a checkout."""
    inside = package_dir() / "cuda"
    return inside if os.path.isdir(inside) else package_dir().parent.parent / "cuda"


def cache_dir() -> str:
    """Return the folder of compiled kernels, "" where it is switched off or there is no home for it."""
    if os.environ.get("UNDA_CACHE") == "0":
        return ""
    chosen = os.environ.get("UNDA_CACHE_DIR")
    if chosen is not None:
        return chosen
    # As the XDG base directory specification has it, relative paths are ignored.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "unda") if os.path.isabs(base) else ""  # no home: no cache


def _site_folders() -> set[str]:
    """Return where pip puts packages; the user's folder is left out where it is unknown."""
    found = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    try:
        found.add(site.getusersitepackages())
    except Exception as error:  # no home, no such user: site may raise anything
        _core.logger.info("the user's site-packages are not known: %s", error)
    return {one for one in found if one}


@cache
def prepare() -> None:
    """Set the folders, once a process."""
    _core.check(lib.unda_set_kernel_dir(os.fsencode(kernel_dir())))
    _core.check(lib.unda_set_cache_dir(os.fsencode(cache_dir())))
    for root in sorted(_site_folders()):
        for part in _WHEELS:
            folder = os.path.join(root, part)
            if os.path.isdir(folder):  # False where permissions forbid it
                _core.check(lib.unda_add_library_dir(os.fsencode(folder)))
