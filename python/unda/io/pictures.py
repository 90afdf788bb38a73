"""Pictures and movies of a simulation on a plane.

Not here: drawing (plotting.py, movie.py); the planes (grid_plane.py, mesh_plane.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..method._run_control import Alone
from ..problem.medium import Medium
from .plotting import Plane


class Pictures:
    """The part of a simulation that draws."""

    medium: Medium
    _guard: Alone

    def _together(self, what: str, work: Callable[[], Any]) -> Any:
        """Do what every process does; raise in all if it fails in one."""
        raise NotImplementedError

    def _plane(self, field: str, axis: int, value: float, num: int) -> Plane:
        """Return a plane of constant x, y or z, and what reads a field there."""
        raise NotImplementedError

    def _steps_to(self, until: float | None, steps: int | None) -> int:
        raise NotImplementedError

    def plot_slice(
        self,
        field: str | Sequence[str],
        *,
        x: float | Sequence[float] | None = None,
        y: float | Sequence[float] | None = None,
        z: float | Sequence[float] | None = None,
        ax: Any = None,
        num: int = 200,
        vmax: float | None = None,
        background: Any = None,
        cmap: Any = "RdBu_r",
    ) -> Any:
        """Draw a field on a plane, or several of either; needs matplotlib.

        Parameters
        ----------
        field : str or sequence of str
            What receivers can record; of several each is a row of panels.
        x, y, z : float or sequence of float
            One of them: where the plane is [m]. On a grid the plane of nodes nearest to it. Several planes
            are columns of panels. A grid in two dimensions needs none.
        ax : matplotlib axes, or an array of them, optional
        num : int
            Pixels an axis; on a grid each node is one.
        vmax : float, optional
            End of the colour scale, -vmax the other. If omitted, for each field that of `movie`: the value
            below which lie three quarters of the sum of abs(values) on its planes.
        background : str or array_like, optional
            Drawn in grey under the wave: a parameter of the medium by its name, such as "c", or values
            (across, up) on the plane, such as ``c[:, 20, :]``.
        cmap : str or matplotlib colour map
            Best one whose middle, which is 0, has no colour.

        Returns
        -------
        matplotlib axes
            Of several panels an array: (fields,), (planes,) or (fields, planes). Where processes share the
            problem: in process 0, which draws; None in the others.

        Raises
        ------
        ArgumentError
            Unknown fields, no plane or several directions, a plane outside, a background of another shape.

        Examples
        --------
        >>> sim.plot_slice("p", y=500.0, background="c")  # doctest: +SKIP
        >>> sim.plot_slice(["p", "vz"], y=[250.0, 500.0, 750.0], cmap="PuOr")  # doctest: +SKIP
        """
        from .plotting import plot_slice

        where = {"x": x, "y": y, "z": z}
        return self._together(
            "plot_slice", lambda: plot_slice(self, field, where, ax, num, vmax, background, cmap)
        )

    def plot_3d(
        self,
        field: str | None = None,
        kind: Literal["slices", "surface", "isosurfaces"] = "slices",
        *,
        at: Sequence[float] | None = None,
        vmax: float | None = None,
        cmap: Any = "RdBu_r",
        off_screen: bool | None = None,
        plotter: Any = None,
        **pyvista: Any,
    ) -> Any:
        """Draw a field in three dimensions; needs pyvista.

        Parameters
        ----------
        field : str, optional
            What `to_pyvista` gives; the first of `fields` if omitted.
        kind : {"slices", "surface", "isosurfaces"}
            Three planes across the axes; the outer sides; surfaces of a quarter and three quarters of `vmax`,
            and of their negatives.
        at : sequence of 3 floats, optional
            Where the planes meet [m]; the middle if omitted.
        vmax : float, optional
            End of the colour scale, -vmax the other; that of `movie` for all values if omitted.
        cmap : str or matplotlib colour map
        off_screen : bool, optional
            Draw without a window, for ``screenshot``; pyvista's default if omitted.
        plotter : pyvista.Plotter, optional
            Which draws it; a new one if omitted.
        **pyvista
            For ``plotter.add_mesh``: opacity, show_scalar_bar, ...

        Returns
        -------
        pyvista.Plotter
            ``show()`` opens its window, ``screenshot("wave.png")`` writes a picture. Where processes share
            the problem: in process 0 of a grid, None in the others; on a mesh each draws its own cells.

        Raises
        ------
        ArgumentError
            Unknown fields or kinds.

        Examples
        --------
        >>> sim.plot_3d("p", at=(500, 500, 0), off_screen=True).screenshot("p.png")  # doctest: +SKIP
        """
        from .volume import plot

        return plot(self, field, kind, at, vmax, cmap, off_screen, plotter, pyvista)

    def movie(
        self,
        path: Any,
        field: str = "p",
        *,
        x: float | None = None,
        y: float | None = None,
        z: float | None = None,
        until: float | None = None,
        steps: int | None = None,
        every: int | None = None,
        fps: float = 20.0,
        dpi: float = 100.0,
        num: int = 200,
        vmax: float | None = None,
        background: Any = None,
        progress: bool | None = None,
    ) -> np.ndarray:
        """Run, and write a film of a field on a plane; needs matplotlib.

        Parameters
        ----------
        path : str or Path
            Ends with .mp4 (needs ffmpeg) or .gif. An old file stays whole until the film is done.
        field : str
            What receivers can record.
        x, y, z : float
            One of them: where the plane is [m]. On a grid the plane of nodes nearest to it; one in two
            dimensions needs none.
        until, steps
            How far to run, as for `run`.
        every : int, optional
            Steps between frames, of which the first shows the present state; about 100 if omitted.
        fps : float
            Frames a second of the film.
        dpi : float
            Dots per inch of a figure some eight inches wide.
        num : int
            Pixels an axis; on a grid each node is one.
        vmax : float, optional
            End of the colour scale, -vmax the other. If omitted, the value below which lie three quarters
            of what there is to see in all frames, the sum of abs(values): silence does not count, nor do
            a few large values at a source.
        background : str or array_like, optional
            Drawn in grey under the wave, as for `plot_slice`.
        progress : bool, optional
            Progress bar; by default on a terminal and in notebooks.

        Returns
        -------
        ndarray, shape (frames,)
            Their times [s].

        Raises
        ------
        ArgumentError
            Another suffix, no ffmpeg, no plane or one outside: before the first step.
        FileError
            If the film cannot be written.
        UnstableError, KeyboardInterrupt
            As for `run`; the film ends there.

        Notes
        -----
        Frames are held in memory until the end, four bytes a pixel: those of a grid with all nodes of the
        plane, up to 1000 an axis. Where processes share the problem, process 0 keeps and writes them.

        Examples
        --------
        >>> sim.movie("wave.mp4", "p", y=500.0, until=1.2, background="c")  # doctest: +SKIP
        """
        from .movie import movie

        def made() -> np.ndarray:
            return movie(
                self, path, field, {"x": x, "y": y, "z": z}, steps=self._steps_to(until, steps), every=every,
                fps=fps, dpi=dpi, num=num, vmax=vmax, background=background, progress=progress,
            )  # fmt: skip

        with self._guard.visit():
            times: np.ndarray = self._together("movie", made)
            return times
