"""Build the stand-ins for libcuda, libnvrtc, libcublas, libnccl: ``python tests/stand_in_driver.py FOLDER``.

Not here: how they work (emulator/driver.cpp). With the environment that ``build`` returns, the
whole CUDA engine runs without a GPU. Never part of a wheel. Next: test_gpu_loading.py.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

TESTS = Path(__file__).resolve().parent
EMULATOR = TESTS / "emulator"
CSRC = TESTS.parent / "csrc"


def _build_once(
    folder: Path,
    sources: Iterable[Path],
    flags: tuple[str, ...],
    compile_into: Callable[[Path], None],
) -> Path:
    """Return the subfolder named by the hash of sources and flags; fill it unless it is there."""
    parts = [path.read_bytes() for path in sorted(sources)] + [flag.encode() for flag in flags]
    home = folder.resolve() / hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    if home.exists():
        return home
    partial = home.with_name(f"{home.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    try:
        compile_into(partial)
        partial.rename(home)
    except OSError:  # another process was faster
        if not home.exists():
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return home


def build(folder: Path | str, *flags: str) -> dict[str, str]:
    """Build the stand-ins unless they are there; return the environment variables that choose them.

    The kernel cache is part of it, or kernels compiled with an older emulator would be found again;
    UNDA_STAND_IN_CACHE is another, which copies of a checkout have in common.
    ``flags`` go to the compilers, for instance ``-fsanitize=address``.
    """

    # The compiler reads device.h where it is told to: a folder build/ that was copied from another
    # checkout, with another device.h, is not taken for this one's.
    place = f'-DEMULATOR_DIR="{EMULATOR}"'

    def compile_into(home: Path) -> None:
        # With sanitizers optimizing takes three times as long, for a few small runs.
        speed = "-O0" if flags else "-O1"
        cxx = ["g++", "-std=c++17", speed, "-g1", "-Wall", "-shared", "-fPIC", place, *flags]
        # No soname for libcuda: NVIDIA's compiler would take this for the real one.
        driver = [EMULATOR / "driver.cpp", EMULATOR / "block.cpp"]
        nvrtc = [EMULATOR / "nvrtc.cpp", "-Wl,-soname,libnvrtc.so.13"]
        cublas = [EMULATOR / "cublas.cpp", "-Wl,-soname,libcublas.so.13", "-ldl"]
        nccl = [EMULATOR / "nccl.cpp", "-Wl,-soname,libnccl.so.2", "-ldl"]
        subprocess.run([*cxx, *driver, "-o", home / "libcuda.so.1", "-ldl"], check=True)
        subprocess.run([*cxx, *nvrtc, "-o", home / "libnvrtc.so.13"], check=True)
        subprocess.run([*cxx, *cublas, "-o", home / "libcublas.so.13"], check=True)
        subprocess.run([*cxx, *nccl, "-o", home / "libnccl.so.2"], check=True)

    sources = [path for path in EMULATOR.iterdir() if path.is_file()]
    home = _build_once(Path(folder), sources, (place, *flags), compile_into)
    shared = None if flags else os.environ.get("UNDA_STAND_IN_CACHE")
    cache = shared or str(home / "cache")
    return {
        "UNDA_LIBCUDA": str(home / "libcuda.so.1"),
        "UNDA_LIBNVRTC": str(home / "libnvrtc.so.13"),
        "UNDA_LIBCUBLAS": str(home / "libcublas.so.13"),
        "UNDA_LIBNCCL": str(home / "libnccl.so.2"),
        "UNDA_CACHE_DIR": cache,
    }


def host_program(folder: Path | str, *flags: str) -> Path:
    """Build tests/c/gpu_host.c and the engine's host layer unless it is there; return its path."""
    units = [TESTS / "c" / "gpu_host.c", TESTS / "c" / "talk.c", CSRC / "cpu" / "limits.c"]
    units += [*(CSRC / "base").glob("*.c"), *(CSRC / "gpu").glob("*.c")]
    headers = [
        CSRC / "unda.h",
        TESTS / "c" / "talk.h",
        *CSRC.glob("*/*.h"),
        *CSRC.parent.glob("cuda/common/*.h"),
    ]

    def compile_into(home: Path) -> None:
        options = ["-std=gnu11", "-g", "-fopenmp", f"-I{CSRC}", f"-I{CSRC.parent / 'cuda'}", *flags]
        command = ["gcc", *options, *units, "-o", home / "gpu_host", "-ldl", "-lpthread"]
        subprocess.run(command, check=True)

    return _build_once(Path(folder), [*units, *headers], flags, compile_into) / "gpu_host"


def compiler_of_the_objects() -> dict[str, str]:
    """Return the environment in which `make lib` finds the objects of build/lib-c up to date."""
    flags = (TESTS.parent / "build" / "lib-c" / "flags").read_text()
    return {"CC": flags.partition(" -std")[0]}


def real_nvrtc() -> str | None:
    """Return the path of NVIDIA's compiler, from the pip wheels or /usr/local/cuda, else None."""
    site = Path(sysconfig.get_path("purelib")) / "nvidia"
    folders = [site / "cu13" / "lib", site / "cuda_nvrtc" / "lib", Path("/usr/local/cuda/lib64")]
    found = [path for folder in folders for path in sorted(folder.glob("libnvrtc.so.1[23]"))]
    return str(found[0]) if found else None


def real_nccl() -> str | None:
    """Return the path of NVIDIA's NCCL from the pip wheel, else None."""
    found = Path(sysconfig.get_path("purelib")) / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    return str(found) if found.exists() else None


if __name__ == "__main__":
    for name, value in build(sys.argv[1]).items():
        print(f"export {name}={value}")
