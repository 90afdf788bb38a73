"""FD: finite differences on regular grids, scripted.

Sets up a problem. Not here: its state (grid_simulation.py), running it (simulation.py), numerics (csrc/fd,
cuda/fd), grids (grid.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from .. import _core
from .._check import flag, integer, number
from .._core import lib
from ..errors import ArgumentError
from ..limits import choose_device
from ..problem.grid import Block, Grid
from ..problem.layer import CPML, Damping
from ..problem.layer_rule import choose
from ..problem.medium import Medium
from ._options import PRECISIONS, Given, Precision, common_options, kernel_choice
from .fd_scheme import Scalar, scheme_of
from .fd_sides import code_of, conditions, flat_axes, frequency_of, stretch_of
from .fluid_walls import let_fluids_slide
from .grid_material import GridMaterial
from .grid_points import GridPoints
from .grid_simulation import GridSimulation
from .solver import forecast

__all__ = ["FD"]


def _window(given: Any) -> int:
    """Return what the library calls a window: rows, 0 for none, -1 for "auto"."""
    if given is None or given == "auto":
        return 0 if given is None else -1
    if isinstance(given, str):
        raise ArgumentError(f"window is {given!r}, expected 'auto', None or a number of rows")
    return integer("window", given, 1, 2**31 - 1)


class FD(GridSimulation):
    """Finite differences on a regular grid.

    ``scheme="scalar"``: the pressure of an acoustic medium of constant density, p_tt = c^2 laplace p +
    rho c^2 q_t delta (docs/fd_scalar.md). ``scheme="staggered"``: all fields of the acoustic, elastic or
    Maxwell equations, v and H half a step earlier (`coordinates_of`, ``rec.times``; docs/fd_staggered.md).

    Parameters
    ----------
    grid : Grid
        One node along an axis: two dimensions, sources and energies per metre (`unda.exact.line_source`).
    medium : Acoustic, Elastic or Maxwell
        Parameters constant or given at each node (array of the grid's shape, or a function). Scalar:
        Acoustic, rho one number.
    order : int
        Of the differences in space: even, 2 to 16.
    scheme : {"scalar", "staggered"}
    boundary : dict of str to str, Damping or CPML, optional
        Condition at "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"; "*" is the rest; all "absorbing" if
        omitted. "free" (p, or the traction, is 0), "rigid"; elastic "fixed" (fluids slide), "symmetry";
        Maxwell "pec", "pmc": walls at the outermost nodes. "periodic": the period is n times the spacing.
        "absorbing": a `CPML` of 10 nodes outside the grid (with `fmax`, scalar, up to 20); or a `CPML`,
        scalar also a `Damping`.
    fmax : float, optional
        Highest frequency of the sources [Hz], for layers that have no f0: theirs is ``fmax / 2.5``. If
        omitted, scalar: the frequency with ten nodes per wavelength of the slowest wave.
    layer : {"auto", "cpml", "multiaxial", "sponge"}
        Kind of layers without a ratio. "auto": "cpml", or another one where that could be unstable; `check`
        says why (docs/absorbing_layers.md).
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit.
    cfl : float
        Fraction of the stable limit to use.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str
        As for `DG`.
    threads : int, optional
        CPU threads; by default all available, fewer for small problems.
    kernel : {"auto", "step", "tiled", "diamond"}
        Scalar: "tiled" (CPU) and "diamond" (CUDA) take several steps at once, with the same bits; see
        docs/kernel_options.md.
    kernel_options : dict of str to int, optional
        Options of the kernel.
    window : "auto", None or int
        Scalar, CUDA: a grid larger than the device's memory stays in host memory, and a window of rows along
        y moves over it; a number sets the rows copied at once.
    tune : bool
        Measure kernels and settings once on this grid and device. CUDA only.
    allow_unstable : bool
        Accept a dt above the stable limit.

    Attributes
    ----------
    grid, medium
        As given.
    order : int
    padded : tuple of int
        Nodes along x, y, z with layers.

    Raises
    ------
    ArgumentError
        Unknown words, uncovered sides, bad materials, more than one density, a dt above the limit.

    Examples
    --------
    >>> import unda
    >>> grid = unda.Grid((41, 41, 41), 10.0)
    >>> medium = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> sim = unda.FD(grid, medium, order=8, boundary={"zmax": "free", "*": "absorbing"}, device="cpu")
    >>> sim.add_source(unda.VolumeInjection((200.0, 203.0, 198.0), unda.ricker(10.0)))
    >>> rec = sim.add_receivers([(300.0, 200.0, 300.0)])
    >>> sim.run(until=0.02)
    >>> rec["p"].shape == (1, len(rec.t))
    True
    """

    def __init__(
        self,
        grid: Grid,
        medium: Medium,
        *,
        order: int = 4,
        scheme: Literal["scalar", "staggered"] = "scalar",
        boundary: Mapping[str, Any] | None = None,
        fmax: float | None = None,
        layer: str = "auto",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Precision = "float32",
        device: str = "auto",
        threads: int | None = None,
        kernel: Literal["auto", "step", "tiled", "diamond"] = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
        tune: bool = False,
        allow_unstable: bool = False,
    ) -> None:
        given = Given(locals())
        if flag("tune", tune):
            from .tune import tuned_grid

            given.device = choose_device(device)
            same = given.some(
                "order", "scheme", "boundary", "fmax", "layer", "dt", "cfl", "sample_dt", "dtype",
                "allow_unstable", "window",
            )  # fmt: skip
            given.kernel, given.kernel_options = tuned_grid(
                type(self), grid, medium, given.device, kernel, kernel_options, **same
            )
        options, grid_options, self._sides, self._scheme, chosen = self._options(given)
        self.grid, self.order = grid, int(grid_options.order)
        self.dtype = np.dtype(PRECISIONS[options.precision])
        allow = flag("allow_unstable", allow_unstable)
        self._start_solver(medium, options, allow)
        self.fields, self._uniform_dt = self._scheme.fields, self.dt_stable
        self._material = GridMaterial(medium, grid)
        self._points = GridPoints(grid, medium, self._material, self._sides, self._scheme)
        if not grid_options.uniform:
            try:
                self._give_material()
                self._settle_dt()
                self._take_dt(allow)
            except BaseException:
                self.close()
                raise
        self.config = {
            "method": "FD",
            "scheme": scheme,
            "order": self.order,
            "dtype": self.dtype.name,
            "cfl": float(options.cfl),
            "sample_dt": None if sample_dt is None else float(sample_dt),
            "allow_unstable": allow_unstable,
            "grid": grid.to_config(),
            "boundary": {
                name: one if isinstance(one, str) else one.to_config() for name, one in self._sides.items()
            },
            **self._resolved(chosen),
            "window": int(self._info().window) or None,
        }

    @staticmethod
    def _options(given: Given) -> tuple[Any, Any, dict[str, Any], Scalar, str]:
        """Return the library's options, those of the grid (to be kept alive), sides, scheme and device."""
        grid, medium, fmax = given.grid, given.medium, given.fmax
        if not isinstance(grid, Grid):
            raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid")
        kind = scheme_of(given.scheme, medium)
        order = integer("order", given.order, 2, 16)
        if order % 2:
            raise ArgumentError(f"order is {order}, expected an even number")
        medium.on(Block(grid, 0, 1))  # refuses what does not fit the grid
        highest = None if fmax is None else number("fmax", fmax, "Hz", positive=True)
        sides = conditions(grid, kind, given.boundary, highest)
        if medium.physics == "elastic":
            sides = let_fluids_slide(grid, medium, sides)
        sides = choose(grid, medium, sides, given.layer, staggered=kind.name == "staggered")
        layers = [one if isinstance(one, (Damping, CPML)) else None for one in sides.values()]
        flat = flat_axes(grid, sides)
        try:
            material = np.array(list(medium.scalar().values())) if kind.name == "scalar" else None
        except ArgumentError:
            material = None
        fastest = medium.speed_max(grid) if material is None else float(material[1])
        grid_options = _core.new_struct(
            "unda_fd_options", scheme=kind.code, order=order, shape=list(grid.shape),
            spacing=[1.0 if axis in flat else h for axis, h in zip("xyz", grid.spacing, strict=True)],
            origin=list(grid.origin), uniform=int(material is not None),
            window=_window(given.window), speed_max=fastest,
            layer=[one.width if one else 0 for one in layers],
            reflection=[one.R0 if one else 0.0 for one in layers],
            stretch=[stretch_of(one) for one in layers],
            ratio=[one.ratio if isinstance(one, CPML) else 0.0 for one in layers],
            frequency=[frequency_of(one, fastest, grid.spacing[i // 2]) for i, one in enumerate(layers)],
        )  # fmt: skip
        common, chosen = common_options(given)
        options = _core.new_struct(
            "unda_solver_options",
            **common,
            method=lib.UNDA_FD,
            physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
            **kernel_choice(given.kernel, given.kernel_options),
            material=material,
            boundary=np.array([code_of(side) for side in sides.values()], np.int32),
            fd=grid_options,
        )
        return options, grid_options, sides, kind, chosen

    @classmethod
    def forecast(cls, grid: Grid, medium: Medium, **keywords: Any) -> dict[str, int]:
        """Return the memory that a simulation would take, without making it.

        Parameters
        ----------
        grid, medium, **keywords
            As for `FD`.

        Returns
        -------
        dict of str to int
            Bytes of tables and state on the "host" and on the "device": what ``sim.memory`` would be. With
            ``window="auto"`` that depends on the device's free memory; without a device all is on it.

        Examples
        --------
        >>> import unda
        >>> grid, medium = unda.Grid((1000, 1000, 1000), 10.0), unda.Acoustic(rho=1000.0, c=1500.0)
        >>> 9e9 < unda.FD.forecast(grid, medium, device="cpu")["host"] < 11e9
        True
        """
        options, grid_options, *_ = cls._options(Given.of(cls, grid, medium, **keywords))
        found = forecast(_core.NULL, options)
        del grid_options  # alive until here
        return found
