"""Build the stand-ins for libcuda and libnvrtc into a folder: ``python tests/stand_in_driver.py FOLDER``.

Tests use ``build(folder)`` and point UNDA_LIBCUDA and UNDA_LIBNVRTC at the two files. Never part of a wheel.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "emulator"


def build(folder: Path | str, *flags: str) -> dict[str, str]:
    """Compile both libraries unless they are newer than their sources; return the environment to use them.

    ``flags`` go to g++, for instance ``-fsanitize=address``.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    common = ["-g", "-fPIC", "-Wall", "-Wextra", f"-I{HERE.parents[1] / 'csrc'}", *flags]
    made = {
        "UNDA_LIBCUDA": (folder / "libcuda.so.1", ["driver.cpp", "block.cpp"]),
        "UNDA_LIBNVRTC": (folder / "libnvrtc.so.13", ["nvrtc.cpp"]),
    }
    newest = max(path.stat().st_mtime for path in HERE.iterdir())
    for target, sources in made.values():
        if target.exists() and target.stat().st_mtime > newest:
            continue
        extra = [folder / "unknown.o"] if target.name.startswith("libcuda") else []
        for obj in extra:
            subprocess.run(["gcc", *common, "-c", HERE / "unknown.c", "-o", obj], check=True)
        partial = target.with_suffix(".partial")
        command = ["g++", "-std=c++17", "-O1", "-shared", f'-DEMULATOR_DIR="{HERE}"', *common]
        command += [HERE / name for name in sources] + extra + ["-o", partial, "-ldl", "-lpthread"]
        subprocess.run(command, check=True)
        partial.replace(target)
    return {name: str(target) for name, (target, _) in made.items()}


if __name__ == "__main__":
    for name, path in build(sys.argv[1]).items():
        print(f"export {name}={path}")
