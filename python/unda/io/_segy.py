"""SEG-Y files: traces sorted onto a regular grid. segyio is imported when one is read.

Not here: the public function (model_file.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, FileError

_INLINE, _CROSSLINE, _X, _Y, _SCALAR = 189, 193, 181, 185, 71  # bytes of the trace header
_INTERVAL, _TRACE_INTERVAL = 3217, 117  # bytes of the binary and of the trace header
_MEASUREMENT_SYSTEM = 3255  # byte of the binary header; 2 is feet
_FOOT = 0.3048  # [m]
_BLOCK = 4096  # traces read at once
_ASTRAY = 0.05  # of the spacing: how far a trace may lie beside its place; coordinates are often rounded
_SKEW = 0.01  # cosine of the angle between inlines and crosslines


def read_segy(
    path: Path, *, need_spacing: bool
) -> tuple[np.ndarray, tuple[float, float, float] | None, float]:
    """Read a cube or a section.

    Parameters
    ----------
    path : Path
    need_spacing : bool
        Take the spacing from the headers.

    Returns
    -------
    values : ndarray, shape (nx, ny, nz)
        Inlines, crosslines, samples from the lowest.
    spacing : tuple of float or None
        Along x, y, z [m].
    top : float
        z of the first sample [m].
    """
    try:
        import segyio
    except ImportError:
        raise ImportError(f"reading {path} needs segyio: pip install 'unda-waves[segy]'") from None
    path.stat()  # raises FileNotFoundError, which segyio may not
    try:
        file = segyio.open(str(path), ignore_geometry=True)
    except (RuntimeError, OSError, ValueError, IndexError) as error:
        raise FileError(f"{path} cannot be read as SEG-Y: {error}") from None
    with file:
        unit = _FOOT if int(file.bin[_MEASUREMENT_SYSTEM]) == 2 else 1.0
        i, j = _places(path, file.attributes(_INLINE)[:], file.attributes(_CROSSLINE)[:])
        depths = np.asarray(file.samples, np.float64) * unit
        spacing = _spacing(path, file, i, j, depths, unit) if need_spacing else None
        values = np.empty((int(i.max()) + 1, int(j.max()) + 1, len(depths)), file.dtype)
        for begin in range(0, len(i), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            values[i[part], j[part]] = file.trace.raw[part][:, ::-1]
    return values, spacing, -float(depths[0])


def _places(path: Path, inline: Any, crossline: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return where each trace belongs along x and y."""
    inlines, i = np.unique(inline, return_inverse=True)
    crosslines, j = np.unique(crossline, return_inverse=True)
    count, expected = len(i), len(inlines) * len(crosslines)
    if expected == 1 or len(inlines) == 1:  # a section; without any numbers in the order of the file
        along = np.arange(count) if expected == 1 else j
        i, j, expected = along, np.zeros(count, np.int64), max(expected, int(along.max()) + 1)
    pairs = len(np.unique(i * (int(j.max()) + 1) + j))
    if count != expected or pairs != expected:
        raise FileError(
            f"{path} has {count} traces at {pairs} places; expected {expected}, one for each of "
            f"{len(inlines)} inlines x {len(crosslines)} crosslines"
        )
    return i, j


def _spacing(
    path: Path, file: Any, i: np.ndarray, j: np.ndarray, depths: np.ndarray, unit: float
) -> tuple[float, float, float]:
    """Return the spacing [m] that the headers say, or raise if traces lie on no such grid."""
    scalar = np.asarray(file.attributes(_SCALAR)[:], np.float64)
    factor = unit * np.where(scalar < 0.0, 1.0 / np.maximum(-scalar, 1.0), np.maximum(scalar, 1.0))
    place = np.stack([file.attributes(key)[:] * factor for key in (_X, _Y)], axis=1)
    # place = place[0, 0] + i a + j b, by least squares
    matrix = np.stack([np.ones(len(i)), i, j], axis=1)
    fitted = np.linalg.lstsq(matrix, place, rcond=None)[0]
    along_x, along_y = fitted[1:]
    dx, dy = (float(f"{np.hypot(*along):.9g}") for along in (along_x, along_y))  # without rounding errors
    known = int(file.bin[_INTERVAL]) > 0 or int(file.header[0][_TRACE_INTERVAL]) > 0  # else segyio says 4
    dz = float(depths[-1] - depths[0]) / max(len(depths) - 1, 1) if known else 0.0
    steps = [h for h, n in ((dx, i.max()), (dy, j.max()), (dz, len(depths) - 1)) if n > 0]
    if not steps or min(steps) <= 0.0:
        raise ArgumentError(f"{path} has spacings {dx}, {dy}, {dz} m in its headers; expected spacing= then")
    astray = np.hypot(*(place - matrix @ fitted).T)
    worst = int(astray.argmax())
    lateral = [h for h, n in ((dx, i.max()), (dy, j.max())) if n > 0]
    if lateral and (astray[worst] > _ASTRAY * min(lateral) or abs(along_x @ along_y) > _SKEW * dx * dy):
        raise FileError(
            f"{path} has trace {worst} {astray[worst]:.3g} m beside its place on a grid with steps "
            f"{tuple(along_x.tolist())} and {tuple(along_y.tolist())} m; expected a regular rectangular "
            "grid, or spacing= if the headers are wrong"
        )
    one = min(steps)  # an axis with one node has no spacing of its own
    return dx if i.max() > 0 else one, dy if j.max() > 0 else one, dz if len(depths) > 1 else one
