"""Hash of the sources of the compiled library.

Used by the Makefile (to embed it) and by ``unda._core`` (to notice a stale library in a checkout),
so it imports nothing of unda. Every call reads the files.
Next: ``_core.py``.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path

#: What ends up in ``libunda.so``.
LIBRARY_SOURCES = ("csrc/**/*.[ch]", "cuda/physics/*.h", "cuda/space/*.h", "cuda/common/*.h")
#: What a run on a GPU depends on besides Python.
KERNEL_SOURCES = ("csrc/**/*.[ch]", "cuda/**/*.cu", "cuda/**/*.h")


def source_hash(root: Path, patterns: Iterable[str] = LIBRARY_SOURCES) -> str:
    """Hash the files below a folder that match any of some patterns.

    Parameters
    ----------
    root : Path
        Folder of the checkout.
    patterns : iterable of str, optional
        Glob patterns relative to `root`.

    Returns
    -------
    str
        SHA-256, 64 hexadecimal digits, of the sorted relative paths, sizes and contents.

    Examples
    --------
    >>> len(source_hash(Path(".")))
    64
    """
    files = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in files):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


if __name__ == "__main__":
    print(source_hash(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
