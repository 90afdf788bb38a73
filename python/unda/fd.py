"""FD: finite differences on regular grids, scripted.

Sets up a problem. Not here: its state (grid_simulation.py), running it (simulation.py), numerics (csrc/fd,
cuda/fd), grids (grid.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._check import flag, integer, number
from ._core import ffi, lib
from ._options import PRECISIONS, choice, common_options, plan
from .errors import ArgumentError
from .fd_scheme import Scalar, scheme_of
from .fd_sides import code_of, conditions, flat_axes, frequency_of, stretch_of
from .grid import Block, Grid
from .grid_material import GridMaterial
from .grid_simulation import GridSimulation
from .layer import CPML, Damping
from .layer_rule import choose
from .limits import choose_device
from .medium import Medium
from .solver import forecast

__all__ = ["FD"]

_KERNELS = {
    "auto": lib.UNDA_KERNEL_AUTO,
    "step": lib.UNDA_KERNEL_STEP,
    "tiled": lib.UNDA_KERNEL_TILED,
    "diamond": lib.UNDA_KERNEL_DIAMOND,
}


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
    rho c^2 q_t delta, of order 2 in time and any even order in space (Levchenko et al. 2016).

    ``scheme="staggered"``: all fields, of acoustic, elastic (Virieux 1986, Levander 1988) and Maxwell's
    equations (Yee 1966), each at its own place: v_i and E_i half a cell on along i, s_ij along i and j, H_i
    along the other two, p, s_ii and the medium at the nodes; v and H half a step before the time of the
    simulation, see `coordinates_of` and ``rec.times``.

    Parameters
    ----------
    grid : Grid
        One node along an axis: a problem in two dimensions, in which the spacing there does not matter and
        sources, energies and errors are per metre: of a `VolumeInjection` f is in m2/s, of a `PointForce` in
        N/m, of a `CurrentDipole` in A; `unda.exact.line_source` is the wave. Two such axes: one dimension,
        per square metre, `unda.exact.plane_source`. Layers along such an axis make it three again.
    medium : Acoustic, Elastic or Maxwell
        Parameters constant or given at each node (array of the grid's shape, or a function). Scalar:
        Acoustic, rho one number. Between nodes the staggered scheme takes arithmetic means of rho and mu
        (Maxwell), harmonic ones of the shear modulus and eps, and sigma as <sigma/eps^2> / <1/eps>^2; vs
        may be 0. Interfaces lie half a cell from nodes: along the grid they are of second order there, but
        for an error of first order in the spacing that grows with (sigma / (omega eps))^2 in conductors.
    order : int
        Of the differences in space: even, 2 to 16.
    scheme : {"scalar", "staggered"}
    boundary : dict of str to str, Damping or CPML, optional
        Condition at "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"; "*" is the rest; "absorbing"
        everywhere if omitted, but an axis of one node is periodic: a problem in two dimensions. Walls
        stand at the outermost nodes, which are mirrors: "free" (p, or the traction, is 0), "rigid";
        elastic "fixed", "symmetry"; Maxwell "pec", "pmc". On a free side of an elastic medium the
        velocity along it is of first order at the nodes there from order 4 on (2 % at 40 nodes a
        wavelength, 0.3 % a cell below; the normal one is of second order): docs/free_surface.md.
        "periodic" (both sides of an axis; the period is n times the spacing). "absorbing" or a
        `CPML`, scalar also a `Damping`: a layer outside the grid, "absorbing" a `CPML` of 10 nodes;
        with `fmax`, scalar, of a quarter of its main wavelength, 10 to 20 nodes.
    fmax : float, optional
        Highest frequency of the sources [Hz], for which layers are made that have no f0: theirs is
        ``fmax / 2.5``, as of a Ricker wavelet. If omitted, scalar, that of which the slowest wave has ten
        nodes.
    layer : {"auto", "cpml", "multiaxial", "sponge"}
        Which layer the `CPML` of a side is that gives no ratio of its own. "auto": "cpml", but where one
        can grow, another by a rule that looks at the plane of nodes which the layer goes on with. Elastic:
        "sponge" where rho, vp, or vs among solids, differ there by more than 10 times, or by more than 1.5
        times where what stands out is thinner than five nodes; "multiaxial" where they differ by more than
        1.5 times, fluid touches solid, or two walls face each other across the layer. Maxwell: "sponge"
        where something thinner than five nodes stands out by more than 9 times in eps or mu. The repr and
        `check` say what was taken and why; the figures are those of docs/absorbing_layers.md.
    dt : float, optional
        Time step [s]; by default `cfl` times the stable limit.
    cfl : float
        Part of the stable limit to use.
    sample_dt : float, optional
        Makes dt the largest stable ``sample_dt / n`` [s].
    dtype : {"float32", "float64"}
    device : str
        As for `DG`.
    threads : int, optional
        CPU threads; if omitted, all that the process may use, or fewer for small problems, whose steps are
        over before all are awake.
    kernel : {"auto", "step", "tiled", "diamond"}
        "step": one step of the whole grid after the other. For the scalar scheme also "tiled", on the CPU and
        where x and y are not periodic: several steps of what is in the cache; "diamond", on CUDA devices up
        to order 8 and where nothing is periodic: many steps in towers of diamonds (Levchenko, Perepelkina &
        Zakirov 2016), and the last few of a call, or calls of a few, as "step" does. All give the same bits.
        "auto" on the CPU is "tiled", but "step" on small grids and where two steps at once do not fit the
        cache; on CUDA devices "step", but without `CPML` "diamond" on those of capability 9 or more where the
        grid, with its layers, is large: towers side by side in x times blocks along z at least 132, the SMs
        of an H200 (at order 2 nx of 1830 where nz is 112 to 224, of 650 where nz is 600), ny at least 64
        times the order, and z of at most two blocks in float64, where c is not one number and there are
        layers, and at order 6 in either case; at order 8 only where c is one number, float32, z in one
        block (80 to 160 nodes) and ny at least 4096: elsewhere "step" is as fast.
    kernel_options : dict of str to int, optional
        Parts of the plan to fix. "step" on CUDA devices: rows (along y, of a block), planes (of x, that it
        marches over; in the layers of staggered schemes half as many); staggered: width (places of a thread
        along z), lanes (16 to 64 threads along z), blocks (that an SM shall hold; the number in
        ``config["kernel_options"]`` is that of walls and layers, and stands for the library's choice
        elsewhere), too. Scalar scheme on the CPU: depth (steps at once), rows (of a block).
        "diamond": levels (steps of a launch), fewest (of one: fewer are taken one by one), dts and step (half
        the width of a diamond is dts times step; step divides order / 2 and is at least half of it), zb
        (nodes along z of a block, at most; where z is cut above 32, and rounded up to fours), old (the level
        before in 1: shared memory, 2: registers), unroll (1 or 2 copies of the code), chunk (cells in
        flight), variable (c of each node through 1: the L2 cache, 2: registers), sms (multiprocessors to
        occupy). ``config["kernel_options"]`` is the whole plan.
    window : "auto", None or int
        For grids larger than the device's memory (scalar scheme on CUDA devices): the state stays in
        page-locked memory of the host, and a window of rows of y passes over the grid, while rows come and
        go: each once in as many steps as fit, 256 at most or "levels" of `kernel_options` (Levchenko et al.
        2016). A number: so many rows come at once (kernel "diamond": rounded up to whole stages of towers);
        "auto": only where the device's free memory does not hold the state; None: never. The same bits. Long
        calls pay: each goes over the whole grid. Not along a periodic y, or one of one node.
        ``config["window"]`` is the number of rows in use.
    tune : bool
        Measure kernels, unless one is given, and plans near the table's on this grid and device, unless that
        was done before: some minutes; what `kernel_options` has stays. The winner is printed, and remembered
        beside the compiled kernels. Results do not depend on it. CUDA only; nothing on the CPU.
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

    Notes
    -----
    The step is stable up to 2 / (c sqrt(S sum 1/h^2)), S = 4, 16/3, 6.0444, 6.5016 for orders 2, 4, 6, 8,
    with layers and without (csrc/fd/matched.c);
    staggered up to 1 / (c D sqrt(sum 1/h^2)), D = 1, 1.1667, 1.2417, 1.2863.
    c is that of the fastest wave of the medium. Where neighbours differ much (water under air, steel beside
    it) the staggered schemes may need smaller steps: the medium's own limit is then bounded from its
    operator, mostly a few per cent below what it is (Collatz 1942, Wielandt 1950; of Maxwell's equations from
    the least eps and the least mu anywhere). That takes some seconds on large grids, and 24 bytes of host
    memory a node meanwhile. From order 6 on what is left of the error comes from the step in time: a phase
    error of (2 pi f dt)^2 / 24.

    On x86 CPUs steps take numbers below the smallest normal one (1.2e-38, 2.2e-308) for 0: the rim of a
    wave, where they cost a third of the speed.

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
        scheme: str = "scalar",
        boundary: Mapping[str, Any] | None = None,
        fmax: float | None = None,
        layer: str = "auto",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Any = "float32",
        device: str = "auto",
        threads: int | None = None,
        kernel: str = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
        tune: bool = False,
        allow_unstable: bool = False,
    ) -> None:
        if flag("tune", tune):
            from .tune import tuned_grid

            device = choose_device() if isinstance(device, str) and device == "auto" else device
            kernel, kernel_options = tuned_grid(
                type(self), grid, medium, device, kernel, kernel_options, order=order, scheme=scheme,
                boundary=boundary, fmax=fmax, layer=layer, dt=dt, cfl=cfl, sample_dt=sample_dt, dtype=dtype,
                allow_unstable=allow_unstable, window=window,
            )  # fmt: skip
        if dt is not None and sample_dt is not None:
            raise ArgumentError("give dt or sample_dt, not both")
        options, grid_options, self._sides, self._scheme, chosen = self._options(
            grid, medium, order=order, scheme=scheme, boundary=boundary, fmax=fmax, layer=layer, dt=dt,
            cfl=cfl, sample_dt=sample_dt, dtype=dtype, device=device, threads=threads, kernel=kernel,
            kernel_options=kernel_options, window=window,
        )  # fmt: skip
        self.grid, self.order = grid, int(grid_options.order)
        self.dtype = np.dtype(PRECISIONS[options.precision])
        allow = flag("allow_unstable", allow_unstable)
        self._start_solver(medium, options, allow)
        self.fields, self._uniform_dt = self._scheme.fields, self.dt_stable
        self._material = GridMaterial(medium, grid)
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
    def _options(
        grid: Grid,
        medium: Medium,
        *,
        order: int = 4,
        scheme: str = "scalar",
        boundary: Mapping[str, Any] | None = None,
        fmax: float | None = None,
        layer: str = "auto",
        dt: float | None = None,
        cfl: float = 0.9,
        sample_dt: float | None = None,
        dtype: Any = "float32",
        device: str = "auto",
        threads: int | None = None,
        kernel: str = "auto",
        kernel_options: Mapping[str, int] | None = None,
        window: str | int | None = "auto",
    ) -> tuple[Any, Any, dict[str, Any], Scalar, str]:
        """Return the library's options, those of the grid (to be kept alive), sides, scheme and device."""
        if not isinstance(grid, Grid):
            raise ArgumentError(f"grid is {grid!r}, expected an unda.Grid")
        kind = scheme_of(scheme, medium)
        order = integer("order", order, 2, 16)
        if order % 2:
            raise ArgumentError(f"order is {order}, expected an even number")
        medium.on(Block(grid, 0, 1))  # refuses what does not fit the grid
        highest = None if fmax is None else number("fmax", fmax, "Hz", positive=True)
        sides = conditions(grid, kind, boundary, highest)
        sides = choose(grid, medium, sides, layer, staggered=kind.name == "staggered")
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
            window=_window(window), speed_max=fastest, layer=[one.width if one else 0 for one in layers],
            reflection=[one.R0 if one else 0.0 for one in layers],
            stretch=[stretch_of(one) for one in layers],
            ratio=[one.ratio if isinstance(one, CPML) else 0.0 for one in layers],
            frequency=[frequency_of(one, fastest, grid.spacing[i // 2]) for i, one in enumerate(layers)],
        )  # fmt: skip
        common, chosen = common_options(
            dtype=dtype, device=device, threads=threads, dt=dt, cfl=cfl, sample_dt=sample_dt
        )
        options = _core.new_struct(
            "unda_solver_options",
            **common,
            method=lib.UNDA_FD,
            physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
            kernel=_KERNELS[list(_KERNELS)[choice("kernel", kernel, list(_KERNELS))]],
            material=material,
            boundary=np.array([code_of(side) for side in sides.values()], np.int32),
            plan=plan(kernel_options, kind.plans["cpu" if chosen == "cpu" else "cuda"]),
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
        for name in ("allow_unstable", "tune"):  # do not matter
            keywords.pop(name, None)
        options, grid_options, *_ = cls._options(grid, medium, **keywords)
        found = forecast(ffi.NULL, options)
        del grid_options  # alive until here
        return found
