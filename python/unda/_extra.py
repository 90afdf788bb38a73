"""Packages that only some outputs need: imported where they are used, and named with their extra if missing.

Not here: what is done with them (io/).
"""

from __future__ import annotations

import importlib
from typing import Any

#: The extra of unda-waves that brings a package.
_EXTRAS = {
    "matplotlib": "plot", "obspy": "obspy", "pandas": "pandas", "pint": "pint", "pyvista": "pyvista",
    "segyio": "segy", "xarray": "xarray",
}  # fmt: skip


def extra(module: str, what: str) -> Any:
    """Return a module of an extra, or raise an ImportError that says what needs it and how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install 'unda-waves[{_EXTRAS[package]}]'") from error
