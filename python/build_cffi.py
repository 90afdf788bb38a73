"""Write python/unda/_cffi.py, the CFFI binding in out-of-line ABI mode.

The declarations are csrc/unda.h run through the C preprocessor, so nothing is declared twice. The
binding needs no compiler and no Python.h and does not depend on the Python version. Not here:
loading the library and checking that it fits the binding (unda/_core.py). Called by ``make lib``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parent.parent


def declarations(header: Path) -> str:
    """Return what CFFI may read of a C header: preprocessed, without attributes."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-E", "-P", "-DUNDA_CDEF", str(header)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write_binding(target: Path) -> None:
    """Write the binding module whole or not at all: processes may import it meanwhile."""
    builder = FFI()
    builder.set_source("unda._cffi", None)
    builder.cdef(declarations(ROOT / "csrc" / "unda.h"))
    partial = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        builder.emit_python_code(str(partial))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    write_binding(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "python" / "unda" / "_cffi.py")
