"""Movies of a plane while a simulation runs: MP4 by ffmpeg, GIF by Pillow.

Frames are stored as numbers and drawn at the end, when the largest amplitude is known. Axes are drawn once,
and for each frame only the wave and the title. Not here: colours and axes (plotting.py).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._check import file_path, integer, number
from .._files import whole_file
from ..errors import ArgumentError, FileError
from .plotting import Plane, background_values, chosen_plane, colour_top, draw

_FRAMES = 100  # of a movie, by default
_MOST = 1000  # pixels along an axis: frames of larger planes are thinned
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))


def movie(
    sim: Any, path: Any, field: str, coordinates: dict[str, Any], *, steps: int, every: int | None,
    fps: float, dpi: float, num: int, vmax: float | None, background: Any, progress: bool | None,
) -> np.ndarray:  # fmt: skip
    """Run, keep frames, draw and write them; see `Simulation.movie`."""
    path, fps = file_path(path), number("fps", fps, "1/s", positive=True)
    write = _writer(path) if sim._tells else None
    dpi = number("dpi", dpi, positive=True)
    unit = sim._points.traces.get(field, "") if isinstance(field, str) else ""
    top = None if vmax is None else number("vmax", vmax, unit, positive=True)
    every = max(1, -(-steps // _FRAMES)) if every is None else integer("every", every, 1)
    plane = chosen_plane(sim, field, coordinates, num)
    under = background_values(sim, plane, background)
    seen: list[tuple[np.ndarray, float]] = []  # frames and their times

    def keep(sim: Any) -> None:
        values = plane.read()
        thin = tuple(slice(None, None, -(-n // _MOST)) for n in values.shape)
        frame = values[thin] if sim._tells else values[:0]  # one process keeps the frames
        seen.append((frame.astype(np.float32), sim.t))

    keep(sim)
    try:
        sim.run(steps=steps, every=every, callback=keep, progress=progress)
    finally:  # also the frames before Ctrl-C or a blow-up
        frames, times = map(list, zip(*seen, strict=True))
        if write is not None:
            label = f"{field} [{sim._points.traces[field]}]"
            film = _Film(plane, frames, times, colour_top(frames) if top is None else top, label, under, dpi)
            with whole_file(path, path.suffix) as (partial, _):
                write(film, partial, fps)
    return np.array(times)


def _clock(times: list[float]) -> list[str]:
    """Return times as a film shows them: one unit, decimals that tell the frames apart."""
    last = max(np.abs(times))
    size, unit = next((one for one in _UNITS if last >= one[0]), _UNITS[0 if last == 0 else -1])
    apart = float(np.min(np.diff(times))) / size if len(times) > 1 else 0.0
    digits = int(np.clip(np.ceil(-np.log10(apart)), 0, 6)) if apart > 0 else 3
    return [f"{t / size:.{digits}f} {unit}" for t in times]


class _Film:
    """Frames as pixels (height, width, 4), both even as video wants it."""

    def __init__(
        self, plane: Plane, frames: list[np.ndarray], times: list[float], top: float, label: str,
        under: np.ndarray | None, dpi: float,
    ) -> None:  # fmt: skip
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        left, right, bottom, up = plane.extent
        wide = float(np.clip(5.0 * (right - left) / (up - bottom), 2.5, 8.0))
        high = float(np.clip(wide * (up - bottom) / (right - left), 1.0, 5.0))
        width, height = (2 * round(inches * dpi / 2) / dpi for inches in (wide + 1.7, high + 0.9))
        figure = Figure(figsize=(width, height), dpi=dpi, layout="constrained")
        self._canvas, self._ax = FigureCanvasAgg(figure), figure.add_subplot()
        field = label.split()[0]
        self._titles = [f"{field} at {plane.normal} = {plane.place:g} m, t = {t}" for t in _clock(times)]
        self._frames = frames
        self._image = draw(self._ax, plane, frames[0], top, label, under)
        self._title = self._ax.set_title(self._titles[-1])
        for moving in (self._image, self._title):
            moving.set_animated(True)  # not part of the background, which is drawn once
        self._canvas.draw()
        self._still = self._canvas.copy_from_bbox(figure.bbox)

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, i: int) -> np.ndarray:
        self._canvas.restore_region(self._still)
        self._image.set_data(self._frames[i])
        self._title.set_text(self._titles[i])
        self._ax.draw_artist(self._image)
        for spine in self._ax.spines.values():  # which the image covers
            self._ax.draw_artist(spine)
        self._ax.draw_artist(self._title)
        return np.array(self._canvas.buffer_rgba())

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))


def _writer(path: Path) -> Callable[[_Film, Path, float], None]:
    """Return what writes files of this suffix, or raise before anything has run."""
    suffix = path.suffix.lower()
    if suffix not in (".mp4", ".gif"):
        raise ArgumentError(f"path is {str(path)!r}, expected a name that ends with .mp4 or .gif")
    if not path.absolute().parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    if suffix == ".mp4" and _ffmpeg() is None:
        raise ArgumentError(
            f"path is {str(path)!r}, and there is no ffmpeg to write it: install one "
            "(apt-get install ffmpeg) or take a name that ends with .gif"
        )
    return _write_gif if suffix == ".gif" else _write_mp4


def _ffmpeg() -> str | None:
    """Return the ffmpeg that matplotlib would take, None if there is none."""
    import matplotlib

    return shutil.which(matplotlib.rcParams["animation.ffmpeg_path"])


def _write_gif(film: _Film, path: Path, fps: float) -> None:
    """Write a GIF whose frames share one palette: colours do not flicker."""
    from PIL import Image

    def image(pixels: np.ndarray) -> Any:
        return Image.fromarray(pixels[..., :3])

    some = {0, len(film) // 2, len(film) - 1}
    palette = image(np.concatenate([film[i] for i in some])).quantize(256)
    first, *rest = (image(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in film)
    first.save(path, save_all=True, append_images=rest, duration=max(20, round(1000 / fps)), loop=0)


def _write_mp4(film: _Film, path: Path, fps: float) -> None:
    """Pipe the frames into ffmpeg: H.264 in the pixel format that browsers play."""
    high, wide = film[0].shape[:2]
    command = [str(_ffmpeg()), "-y", "-loglevel", "error"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{wide}x{high}", "-r", f"{fps:g}", "-i", "-"]
    command += ["-c:v", "h264", "-pix_fmt", "yuv420p", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        with suppress(BrokenPipeError):  # ffmpeg gives the reason on stderr
            for pixels in film:
                process.stdin.write(pixels.tobytes())
            process.stdin.close()
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise OSError(f"ffmpeg ended with status {process.returncode}: {said}")
