"""Build the stand-ins for libcuda and libnvrtc (tests/emulator): ``python tests/stand_in_driver.py FOLDER``.

Not here: how they work (emulator/driver.cpp). With the environment that ``build`` returns, the whole CUDA engine runs
without a GPU. Never part of a wheel. Next: test_gpu_loading.py.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

EMULATOR = Path(__file__).resolve().parent / "emulator"
CSRC = EMULATOR.parents[1] / "csrc"


def _digest(flags: tuple[str, ...]) -> str:
    """Return a hash of everything that goes into the stand-ins."""
    files = sorted(path for path in EMULATOR.iterdir() if path.is_file()) + [CSRC / "gpu" / "api_list.h"]
    parts = [path.read_bytes() for path in files] + [flag.encode() for flag in flags]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _compile(folder: Path, flags: tuple[str, ...]) -> None:
    """Compile both libraries into a folder."""
    common = ["-g", "-fPIC", f"-I{CSRC}", *flags]
    subprocess.run(["gcc", *common, "-c", EMULATOR / "unknown.c", "-o", folder / "unknown.o"], check=True)
    command = ["g++", "-std=c++17", "-O1", "-Wall", "-shared", f'-DEMULATOR_DIR="{EMULATOR}"', *common]
    driver = [EMULATOR / "driver.cpp", EMULATOR / "block.cpp", folder / "unknown.o", "-ldl", "-lpthread"]
    subprocess.run([*command, *driver, "-o", folder / "libcuda.so.1"], check=True)
    subprocess.run([*command, EMULATOR / "nvrtc.cpp", "-o", folder / "libnvrtc.so.13"], check=True)


def build(folder: Path | str, *flags: str) -> dict[str, str]:
    """Build the stand-ins unless they are there; return the environment variables that choose them.

    The kernel cache is part of it, since kernels compiled with an older emulator would be found again.
    ``flags`` go to the compilers, for instance ``-fsanitize=address``.
    """
    home = Path(folder).resolve() / _digest(flags)
    if not home.exists():
        partial = home.with_name(f"{home.name}.{os.getpid()}")
        partial.mkdir(parents=True)
        _compile(partial, flags)
        try:
            partial.rename(home)
        except OSError:  # another process was faster
            subprocess.run(["rm", "-r", partial], check=True)
    return {
        "UNDA_LIBCUDA": str(home / "libcuda.so.1"),
        "UNDA_LIBNVRTC": str(home / "libnvrtc.so.13"),
        "UNDA_CACHE_DIR": str(home / "cache"),
    }


if __name__ == "__main__":
    for name, value in build(sys.argv[1]).items():
        print(f"export {name}={value}")
