"""Simulation: the base of all methods: sources and receivers, runs, queries of the state, files.

Its parts: the library's solver (solver.py), steps (stepping.py), places (points.py), pictures (pictures.py).
Not here: a method's set-up and state (dg.py, fd.py), numerics (csrc, cuda).
"""

from __future__ import annotations

import operator
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import flag, integer, number
from .._core import lib, new
from .._fixed import Fixed
from .._ranks import Ranks
from ..errors import AccuracyWarning, ArgumentError, UnstableError, warn
from ..io.pictures import Pictures
from ..limits import device_info
from ..problem.incident import PlaneWave
from ..problem.medium import Medium
from ..problem.source import Source
from ..problem.surface import plane_points
from . import speed
from ._options import Given, kernel_parts
from ._run_control import Alone, Interruptible, Progress, alone
from .channels import Channels
from .check import Report
from .fibre import UNITS, Fibre, FibreChannels
from .integral import Integral
from .points import Points
from .receiver import Receivers
from .shots import shots
from .slabs import Slabs
from .solver import Ahead, Solver, living
from .stepping import Stepping
from .team import Team
from .transport import choose_way

if TYPE_CHECKING:
    from typing import Self

    from .monitor import Monitor

_Found = TypeVar("_Found")

# What arithmetic does that is not of `dtype` (docs/kernel_options.md).
_TF32 = "products in TF32 (errors up to 2e-3 of the sum of their terms' magnitudes)"


class Simulation(Fixed, Pictures):
    """A wave in time; made by a method such as `unda.DG`.

    Attributes
    ----------
    medium
        As given.
    fields : tuple of str
        Names of the unknowns.
    dt, dt_stable : float
        Time step and the stable limit [s].
    config : dict
        Everything that the run depends on, as JSON can hold it.
    """

    medium: Medium
    fields: tuple[str, ...]
    dtype: np.dtype
    config: dict[str, Any]
    team: Team | Slabs | None = None  #: the devices, where there are several
    ranks: Ranks | None = None  #: the processes, where they share the problem
    _points: Points
    _medium_config: Mapping[str, Any] | None = None  # of the whole problem, if this is a part
    _start = 0.0  # time of step 0
    _half_set = False  # a call of set() is in progress or was interrupted
    _forgets = False  # sources are to be forgotten once the state is set
    _given: frozenset[str] = frozenset()  # fields of the state that `set` or a checkpoint gave
    _looked_at: tuple[Any, ...] = ()  # what `check` saw before the last run
    _told: frozenset[str] = frozenset()  # warnings issued so far
    _instead: ClassVar[Mapping[str, str]] = {
        "dt": "make another simulation with dt=, cfl= or sample_dt=",
        "t": "sim.set(..., t=) and sim.reset() start the clock",
        "step_count": "sim.set(...) and sim.reset() start it again",
        "receivers": "sim.add_receivers(...), remove_receivers(...) and move_receivers(...) change them",
        **{name: f"make another simulation with {name}=" for name in (
            "mesh", "grid", "medium", "degree", "order", "flux", "integrator", "dtype", "device", "boundary",
            "threads", "partition", "transport", "kernel", "kernel_options", "cfl", "sample_dt", "layer",
            "scheme",
        )},
    }  # fmt: skip

    def _advice(self, name: str) -> str | None:
        return f"sim.set({name}=...) sets a field" if name in self.fields else super()._advice(name)

    # ---- what a method adds ----

    def set(self, exact: Any = None, *, t: float = 0.0, **fields: Any) -> None:
        """Set fields and the clock, see the method."""
        raise NotImplementedError

    def _about(self) -> str:
        """Return what repr() shows in brackets after the name."""
        raise NotImplementedError

    def _blown_up(self, message: str) -> UnstableError:
        raise NotImplementedError

    def check(self) -> Report:
        """Look for common mistakes, see the method."""
        raise NotImplementedError

    def _size(self) -> tuple[int, str]:
        """Return how many unknowns ("DOF") or nodes ("cell") a step advances, and that word."""
        raise NotImplementedError

    def rate(self, seconds: float, limits: Any = None) -> dict[str, float]:
        """Return the rate of a stage of a given duration, and compare it with the limits; see the method."""
        raise NotImplementedError

    # ---- processes

    def _together(self, what: str, work: Callable[[], _Found]) -> _Found:
        """Do what every process does; raise in all if it fails in one."""
        return work() if self.ranks is None else self.ranks.together(what, work)

    @property
    def _tells(self) -> bool:
        """Whether this process warns, draws and writes for all."""
        return self.ranks is None or self.ranks.rank == 0

    def _most(self, value: float) -> float:
        """Return the largest value of all processes."""
        return float(value) if self.ranks is None else self.ranks.most(float(value))

    # ---- creation ----

    def _new_solver(
        self, given: Given, options: Any, mesh: Any = _core.NULL, team: Any = _core.NULL, part: Any = None
    ) -> None:
        """Make the library's solver; mesh, team: the library's; part: what a process has."""
        way = None if part is None else choose_way(given.transport, given.device, part.ranks)
        self._guard, self._solver = Alone(), Solver(mesh, options, team, part, way)
        self._take_dt(flag("allow_unstable", given.allow_unstable))

    def _take_dt(self, allow_unstable: bool) -> None:
        """Take dt and its limit from the library; raise if dt is above, unless that is allowed."""
        info = self._solver.info()
        self.dt, self.dt_stable = float(info.dt), float(info.dt_stable)
        if self.dt > self.dt_stable * (1 + 1e-12) and not allow_unstable:
            self.close()
            raise ArgumentError(
                f"dt is {self.dt:.6g} s, above the stable limit {self.dt_stable:.6g} s; "
                "allow_unstable=True takes it all the same"
            )

    def _complete(self, given: Given, config: dict[str, Any], device: str) -> None:
        """Complete a simulation once its time step is known; config: the method's part of it."""
        info = self._solver.info()
        parts = kernel_parts(info) if _core.text(info.kernel) or info.num_part else None
        self.config = {
            **config,
            "dtype": self.dtype.name,
            "cfl": float(given.cfl),
            "sample_dt": None if given.sample_dt is None else float(given.sample_dt),
            "allow_unstable": given.allow_unstable,
            "medium": self._medium_config or self.medium.to_config(),
            "dt": self.dt,
            "device": device,
            **device_info(device),
            "kernel": _core.text(info.kernel) or None,
            "kernel_options": parts,
            "threads": int(info.threads),
            "version": _core.version(),
            "source_hash": _core.text(lib.unda_source_hash()),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        self._source_ids: set[int] = set()  # of the point sources, except those of the last addition
        launch = max(1, (parts or {}).get("levels", 1))
        self._stepping = Stepping(self._solver, self._points, len(self.fields), self.dt, self.dtype, launch)
        living.add(self)
        self._fix()

    @property
    def t(self) -> float:
        """Present time [s]."""
        return float(self._solver.info().time)

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self._solver.info().step)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of tables and state, on the host and on the device.

        Those of launches of many steps are taken by the first call that is long enough, and count from the
        start. What sources and receivers need comes on top.
        """
        info = self._solver.info()
        return {"host": int(info.host_bytes), "device": int(info.device_bytes)}

    # ---- sources and receivers ----

    @alone
    def add_source(self, source: Source | PlaneWave | Iterable[Source]) -> None:
        """Add a point source, many at once, or a plane wave; before the first step, and each object once.

        Parameters
        ----------
        source : Source, iterable of Source, or PlaneWave
            Of several sources either all are added or, if one is refused, none. Adding them is fastest in one
            call, and if they share an object f, which is then evaluated once.

        Raises
        ------
        ArgumentError
            Outside the mesh, of another physics, a deviatoric moment in a fluid, added already, or too
            late: see `reset`. Of plane waves: see `PlaneWave`.
        """
        if isinstance(source, PlaneWave):
            self._refuse_late(any(source is other for other, *_ in self._solver.waves))
            elem, face, sign, wave = self._points.wave(source)
            given = len(elem), *map(_core.pointer, (elem, face, sign))
            self._solver.add(
                lib.unda_solver_add_incident, given, self._solver.waves, [(source, wave, len(elem))]
            )
            source._fix()
            return
        many = isinstance(source, Iterable) and not isinstance(source, (str, bytes))
        sources: list[Any] = list(source) if many else [source]  # type: ignore[arg-type]
        for one in sources:
            if not isinstance(one, Source):
                raise ArgumentError(
                    f"source is {one!r}, expected one such as VolumeInjection or PlaneWave, or a list of "
                    "point sources"
                )
        self._source_ids.update(id(one) for one, _ in self._solver.sources[len(self._source_ids) :])
        ids = set(map(id, sources))
        self._refuse_late(len(ids) < len(sources) or not ids.isdisjoint(self._source_ids))
        if sources:
            terms, parts = self._points.terms(sources)
            known = {
                key: self._stepping.amplitude(one) for key, one in {id(one): one for one in parts}.items()
            }
            added = [(one, known[id(one)]) for one in parts]
            given = _core.new_struct("unda_source", **terms)
            self._solver.add(lib.unda_solver_add_source, (given,), self._solver.sources, added)
        for one in sources:
            one._fix()

    def _refuse_late(self, again: bool) -> None:
        """Raise if a source was added already, or the first step was done."""
        if again:
            raise ArgumentError("this source was added already; sim.reset(sources=True) forgets it")
        if self.step_count > 0:
            raise ArgumentError("sources are added before the first step; sim.reset() starts again")

    @alone
    def snap(self, points: ArrayLike, boundary: str = "top", depth: float = 0.0) -> np.ndarray:
        """Return points on a boundary, or at a depth below it, where vertical lines meet it: topography.

        Parameters
        ----------
        points : array_like, shape (n, 2) or (n, 3)
            x and y [m]; z is not looked at.
        boundary : str
            Name of a boundary of the mesh, curved or not, or of a side of the grid. "top" is zmax and
            "bottom" zmin where the mesh names none so. Where a line meets it several times, the highest
            counts.
        depth : float
            How far below it, along z [m].

        Returns
        -------
        ndarray, shape (n, 3)

        Raises
        ------
        ArgumentError
            If there is no such boundary, or a line does not meet it.

        See Also
        --------
        add_receivers : takes on=, which snaps.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, -2), (4, 4, 0), cells=(2, 2, 1))
        >>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1)
        >>> sim.snap([(1, 2)], depth=0.5).tolist()
        [[1.0, 2.0, -0.5]]
        """
        xy = plane_points(points)
        z = self._heights(boundary, xy) - number("depth", depth, "m")
        return np.column_stack([xy, z])

    def _heights(self, boundary: Any, xy: np.ndarray) -> np.ndarray:
        """Return z of a boundary at points (n, 2)."""
        raise NotImplementedError

    @alone
    def add_receivers(
        self,
        points: ArrayLike,
        fields: Iterable[str] | None = None,
        *,
        every: int = 1,
        name: str | None = None,
        side: Any = None,
        on: str | None = None,
        depth: float = 0.0,
    ) -> Receivers:
        """Record fields at points (n, 3) [m] now and after every `every` steps.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            Positions [m]. On a mesh the cell's polynomial is evaluated; on a grid eight nodes per axis are
            weighted (Hicks 2002), to 0.1 % of the largest value with ten nodes per wavelength or more, also
            on and near sides, free and fixed ones of elastic media included (docs/free_surface.md).
        fields : iterable of str, optional
            Fields, and quantities derived from them: "divergence", "curl_x", "curl_y", "curl_z" (of v
            or E) and, in elastic media, "pressure". Derivatives are those of the polynomials in the cell
            of each point: of one order less than the fields. All fields if omitted.

            "displacement", or one of "ux", "uy", "uz" [m]: the integral of v since the receivers were added
            or the state was set, of every step, however many there are between samples. On staggered grids it
            is that of the scheme itself; `SEM` steps displacements, and gives these; of `DG` it has order 4
            in dt, like the steps.

            "strain", or one of "exx", "eyy", "ezz", "eyz", "exz", "exy", in solids: from the stress, by the
            compliance of the medium at the point; on a grid that of the nearest node. Shear strains are those
            of the tensor, half of the engineer's.
        every : int
            Steps between samples.
        name : str, optional
        side : str or array_like, shape (3,) or (n, 3), optional
            On a mesh, the side of which the values are at points where the material or the tag jumps: a
            direction in which it lies, or the name of its tag. If omitted, that of the cell with the lowest
            number there, which `Mesh.locate` gives.
        on : str, optional
            A boundary, such as "top", onto which points (n, 2) are put, see `snap`.
        depth : float
            With `on`, how far below it [m].

        Returns
        -------
        Receivers

        Raises
        ------
        ArgumentError
            Points outside the mesh, unknown fields, a side on which no cell lies.

        Notes
        -----
        On a mesh fields may jump between cells. On a face, edge or vertex the value is the mean over the
        cells of one material and tag that share the point, those across a periodic side among them, weighted
        as point sources are (`PointForce`): there both are transposes of each other.
        """
        if on is not None:
            points = self.snap(points, on, depth)
        elif depth:
            raise ArgumentError(
                f"depth is {depth}, without on=; expected the name of a boundary, such as 'top'"
            )
        array, placed = self._points.place(points, "receiver", side)
        channels = self._points.channels(fields, placed)
        return self._new_receivers(array, channels, placed, every, name, side=side)

    @alone
    def add_fibre(
        self,
        path: ArrayLike,
        fields: Iterable[str] | None = None,
        *,
        gauge: float,
        spacing: float,
        every: int = 1,
        name: str | None = None,
    ) -> Receivers:
        """Record the strain along a fibre, averaged over a gauge length: distributed acoustic sensing.

        The mean over a gauge of length L of a straight fibre along t, about x, is t . (u(x + L t/2) -
        u(x - L t/2)) / L, and that of its rate the same of v: no derivative is taken. Where a gauge has
        corners, the pieces are added.

        Parameters
        ----------
        path : array_like, shape (n, 3)
            Corners of the fibre [m], two or more.
        fields : iterable of str, optional
            "strain_rate" [1/s], "strain" [1], the integral of the rate as displacements of `add_receivers`
            are; both if omitted.
        gauge : float
            Gauge length L [m].
        spacing : float
            From channel to channel along the fibre [m]; the first gauge begins where the fibre does.
        every, name
            As for `add_receivers`.

        Returns
        -------
        Receivers
            Points are the middles of the gauges, along the fibre.

        Raises
        ------
        ArgumentError
            If the path has less than two corners, is shorter than the gauge or leaves the mesh, or the
            simulation has no v: Maxwell's equations, and `FD` with the scalar scheme.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (4, 1, 1), cells=(8, 2, 2))
        >>> sim = unda.DG(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2)
        >>> sim.set(vx=lambda x, y, z: 0.5 * x)
        >>> fibre = sim.add_fibre([(0.5, 0.5, 0.5), (3.5, 0.5, 0.5)], gauge=1.0, spacing=0.5)
        >>> fibre.points[:, 0].tolist(), fibre["strain_rate"][:, 0].round(6).tolist()
        ([1.0, 1.5, 2.0, 2.5, 3.0], [0.5, 0.5, 0.5, 0.5, 0.5])
        """
        points, channels, placed = self._fibre(fields, path, gauge, spacing)
        return self._new_receivers(points, channels, placed, every, name, fibre=channels.fibre.given)

    def _fibre(
        self, fields: Any, path: Any, gauge: float, spacing: float
    ) -> tuple[np.ndarray, FibreChannels, dict[str, Any]]:
        """Return the points of a fibre, its channels, and where the library samples for these."""
        fibre = Fibre(path, gauge, spacing)
        _, placed = self._points.place(fibre.ends.reshape(-1, 3), "end of a gauge", None)
        has_displacement = "ux" in self._points.traces

        def make(names: list[str]) -> Channels:
            return self._points.channels(names, placed)

        return fibre.points, FibreChannels(fibre, fields, make, has_displacement), placed

    def _new_receivers(
        self,
        array: np.ndarray,
        channels: Channels,
        placed: dict[str, Any],
        every: int,
        name: Any,
        **more: Any,
    ) -> Receivers:
        """Add receivers at points whose channels the library samples at these places."""
        every = integer("every", every, 1, 2**31 - 1)
        if name is not None and not isinstance(name, str):
            raise ArgumentError(f"name is {name!r}, expected a string")
        integral, lags = None, self._points.lags(self.dt)
        if channels.integrated:
            integral = Integral(channels.names, channels.integrated, every, self.dt, bool(lags))
        receivers = Receivers(
            array, channels.names, units={**self._points.units, **UNITS}, every=every, dt=self.dt,
            dtype=self.dtype, config=self.config, name=name, lags=channels.lags(lags), integral=integral,
            **more,
        )  # fmt: skip
        receivers._bind = self._points.binder()
        self._record(receivers, channels, placed)
        return receivers

    def _record(self, receivers: Receivers, channels: Channels, placed: dict[str, Any]) -> None:
        """Let receivers record these channels at places, from now on."""
        given = _core.new_struct("unda_receivers", every=receivers._pace, **channels.members, **placed)
        receivers.clear(self._start, self.step_count)
        self._solver.undrained = True
        self._solver.add(
            lib.unda_solver_add_receivers, (given,), self._solver.groups, [(receivers, channels)]
        )
        self._solver.drain()

    @alone
    def remove_receivers(self, receivers: Receivers | Iterable[Receivers] | None = None) -> None:
        """Remove receivers; before the first step or after `reset`.

        What is removed records no more, and keeps the samples that it has.

        Parameters
        ----------
        receivers : Receivers or iterable of Receivers, optional
            What `add_receivers` returned; all if omitted.

        Raises
        ------
        ArgumentError
            If some are not of this simulation, or after a step.

        See Also
        --------
        move_receivers : to other points.
        shots : one source after the other.

        Examples
        --------
        >>> import unda
        >>> grid = unda.Grid((20, 20, 20), 1.0)
        >>> sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=1500.0))
        >>> rec = sim.add_receivers([(5, 6, 7)])
        >>> sim.remove_receivers(rec)
        >>> sim.receivers
        ()
        """
        if receivers is None:
            gone = list(self.receivers)
        else:
            gone = [receivers] if isinstance(receivers, Receivers) else list(receivers)
        self._refuse_other(gone)
        self._rerecord([(one, one.points, one.side) for one in self.receivers if not _among(one, gone)], -1)

    @alone
    def move_receivers(self, receivers: Receivers, points: ArrayLike, *, side: Any = None) -> Receivers:
        """Put receivers at other points; before the first step or after `reset`.

        Parameters
        ----------
        receivers : Receivers
            What `add_receivers` returned. It records no more, and keeps its samples.
        points : array_like, shape (n, 3)
            As for `add_receivers`; as many as before, or others.
        side : str or array_like, optional
            As for `add_receivers`.

        Returns
        -------
        Receivers
            New ones, with the fields, the name and the steps between samples of the old ones, in their place
            in `sim.receivers`.

        Raises
        ------
        ArgumentError
            As of `add_receivers`; if they are not of this simulation; after a step.
        """
        self._refuse_other([receivers])
        if receivers.fibre is not None:
            raise ArgumentError("a fibre is not moved; remove it, and add another one: sim.add_fibre(...)")
        places: list[tuple[Receivers, Any, Any]] = [(one, one.points, one.side) for one in self.receivers]
        at = next(i for i, one in enumerate(self.receivers) if one is receivers)
        places[at] = receivers, points, side
        return self._rerecord(places, at)[at]

    def _refuse_other(self, receivers: Sequence[Any]) -> None:
        """Raise if some of these are not receivers that can be removed now."""
        for one in receivers:
            if not _among(one, self.receivers):
                raise ArgumentError(f"{one!r} is not one of the receivers of this simulation")
        if self.step_count > 0:
            raise ArgumentError(
                "receivers are removed and moved before the first step; sim.reset() starts again"
            )

    def _rerecord(self, listed: Sequence[tuple[Receivers, Any, Any]], moved: int) -> list[Receivers]:
        """Let receivers, at points with sides, be those that record; one of them is a new object."""
        made = []
        for i, (one, points, side) in enumerate(listed):
            channels: Channels
            if one.fibre is not None:
                array, channels, placed = self._fibre(one.fields, **one.fibre)
            else:
                array, placed = self._points.place(points, "receiver", side)
                channels = self._points.channels(one.fields, placed)
            receivers = one._elsewhere(array, side) if i == moved else one
            made.append((receivers, channels, placed))
        self._solver.forget_receivers()
        for parts in made:
            self._record(*parts)
        return [receivers for receivers, _, _ in made]

    def shots(
        self,
        sources: Iterable[Any],
        receivers: Any = None,
        *,
        until: float | None = None,
        steps: int | None = None,
        fields: Iterable[str] | None = None,
        every: int = 1,
        side: Any = None,
        progress: bool | None = None,
    ) -> Iterator[Any]:
        """Run one shot after the other, each from rest, without setting up again; yields their gathers.

        Each shot is what a new simulation with its sources and receivers gives, to the bit.

        Parameters
        ----------
        sources : iterable
            Of each shot a source, or several as a list; sources that the simulation has are forgotten.
        receivers : array_like, shape (n, 3), or sequence of such arrays, optional
            Points [m] of all shots, or of each its own; they replace the receivers that the simulation has.
            If omitted, those that it has record each shot.
        until, steps : float, int
            The end of each shot, as for `run`: one of the two.
        fields, every, side
            Of `receivers`, as for `add_receivers`.
        progress : bool, optional
            As for `run`.

        Yields
        ------
        Receivers, or tuple of Receivers
            What was recorded, as an object of its own that later shots do not change, named "shot 0", ..;
            a tuple if the simulation has several receivers. The simulation stands at the end of the shot.

        Raises
        ------
        ArgumentError
            As `add_source`, `add_receivers` and `run` do; if the numbers of sources and of arrays of
            receivers differ.

        Examples
        --------
        >>> import unda
        >>> grid = unda.Grid((40, 30, 30), 10.0)
        >>> sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=1500.0), fmax=20.0, device="cpu")
        >>> line = [(x, 150.0, 280.0) for x in range(0, 400, 50)]
        >>> places = [(100, 150, 200), (300, 150, 200)]
        >>> shots = [unda.VolumeInjection(place, unda.ricker(8.0)) for place in places]
        >>> gathers = list(sim.shots(shots, line, steps=20))
        >>> [gather["p"].shape for gather in gathers]
        [(8, 21), (8, 21)]
        """
        return shots(self, sources, receivers, until, steps, (fields, every, side), progress)

    @property
    def receivers(self) -> tuple[Receivers, ...]:
        """All receivers, in the order in which they were added."""
        return tuple(receivers for receivers, _ in self._solver.groups)

    # ---- monitors ----

    @alone
    def add_monitor(
        self,
        field: str,
        kind: Literal["max", "min", "rms", "dft"],
        *,
        every: int | None = None,
        frequencies: ArrayLike | None = None,
        region: Any = None,
    ) -> Monitor:
        """Keep a statistic of a field over time at every node, from now on; `reset` and `set` begin it again.

        Parameters
        ----------
        field : str
            One of ``sim.fields``.
        kind : {"max", "min", "rms", "dft"}
            Largest or smallest value, root mean square, Fourier transform at frequencies; see `unda.Monitor`.
        every : int, optional
            Steps between samples. By default as many as leave 8 samples a period of the highest frequency of
            the sources that were added, 4 with "dft".
        frequencies : array_like, optional
            Of a "dft" [Hz], up to 128.
        region : optional
            Everywhere if omitted. Two corners ((x, y, z), (x, y, z)) [m] of a box: the nodes in it on a grid,
            the cells whose centroids are in it on a mesh. On a mesh also the name of a tag, or cell numbers.

        Returns
        -------
        Monitor
            Its ``values`` are those of the samples so far.

        Raises
        ------
        ArgumentError
            Of derived fields; without `every` where no source tells its highest frequency; of `SEM`, which
            has no monitors.

        Notes
        -----
        Steps run from sample to sample: a kernel that takes many steps at once ("diamond", "tiled", launches
        of many steps) ends a launch at each sample, and is faster with a larger `every`.

        Examples
        --------
        >>> peak = sim.add_monitor("p", "max")  # doctest: +SKIP
        >>> sim.run(until=1.0)  # doctest: +SKIP
        >>> peak.values.max()  # doctest: +SKIP
        """
        from .monitor import make_monitor

        monitor = make_monitor(self, field, kind, every, frequencies, region)
        self._add_monitor(monitor)
        return monitor

    def _add_monitor(self, monitor: Monitor) -> None:
        self._solver.add(lib.unda_solver_add_monitor, (monitor._given(),), self._solver.monitors, [monitor])

    @property
    def monitors(self) -> tuple[Monitor, ...]:
        """All monitors, in the order in which they were added."""
        return tuple(self._solver.monitors)

    @alone
    def clear_monitors(self) -> None:
        """Remove all monitors, and free their memory; their values can no longer be read."""
        self._solver.settle()
        self._solver.monitors = []
        self._solver.call(lib.unda_solver_clear_monitors)

    @alone
    def _read_monitor(self, monitor: Monitor) -> np.ndarray:
        return monitor._found()

    # ---- state ----

    @alone
    def sample(
        self, points: ArrayLike, fields: Sequence[str] | None = None, *, side: Any = None
    ) -> dict[str, Any]:
        """Return fields at points (n, 3) [m], {field: (n,)}, interpolated in each element.

        Parameters
        ----------
        points : array_like, shape (n, 3)
        fields : sequence of str, optional
            Names as for `add_receivers`, derived quantities included; all fields if omitted.
        side : str or array_like, optional
            As in `add_receivers`.

        Raises
        ------
        ArgumentError
            Points outside the mesh, unknown fields.
        """
        placed = self._points.place(points, "point", side)[1]
        channels = self._of_state(fields, placed)
        values = self._sample_at(channels, placed)
        return dict(zip(channels.names, values.T, strict=True))

    def _of_state(self, fields: Iterable[str] | None, placed: dict[str, Any]) -> Channels:
        """Return the channels of fields that a state has; raise if one is an integral over time."""
        channels = self._points.channels(fields, placed)
        if channels.integrated:
            raise ArgumentError(
                f"{list(channels.integrated)} are integrals over time, which receivers record"
            )
        return channels

    def _sample_at(self, channels: Channels, placed: dict[str, Any]) -> np.ndarray:
        """Return (num_point, channels) at points whose cells are known, as `Points.place` gives them."""
        values = np.empty((placed["num_point"], len(channels.numbers)))
        given = _core.new_struct("unda_receivers", **channels.members, **placed)
        to = _core.pointer(values, writable=True)
        self._solver.call(lib.unda_solver_sample, given, to)
        return channels.combine(values)

    @alone
    def energy(self) -> float:
        """Return the energy of the state [J]."""
        out = new("double *")
        self._solver.call(lib.unda_solver_energy, out)
        return float(out[0])

    @alone
    def reset(self, sources: bool = False) -> None:
        """Set fields and time to zero and empty the receivers; with `sources`, forget the sources.

        See Also
        --------
        remove_receivers, move_receivers : what can be done with receivers then.
        shots : one source after the other.
        """
        self._forgets = self._forgets or sources
        self._half_set = self._half_set or self._forgets
        self.set()

    def _begin_at(self, t: float, given: Iterable[str] = ()) -> None:
        """Start the clock and the receivers: the state, given by these fields, is that of time t, step 0."""
        self._solver.settle()
        if self._forgets:
            self._source_ids = set()
            self._stepping.forget_sources()
            self._forgets = False
        self._start, self._given = t, frozenset(given)
        self._stepping.begin()
        self._solver.record(t)
        self._half_set = False

    # ---- running ----

    def _warn(self) -> None:
        """Warn of what `check` finds, once each; look again where sources, receivers or the state are new."""
        now = *(one for one, *_ in (*self._solver.sources, *self._solver.waves)), *self.receivers, self._given
        if len(now) == len(self._looked_at) and all(map(operator.is_, now, self._looked_at)):
            return
        for text in self.check().warnings:
            if text not in self._told:
                # A filter of the user's may make it an error, of which all processes must hear.
                self._together("warning", partial(self._issue, text))
                self._told |= {text}
        self._looked_at = now

    def _issue(self, text: str) -> None:
        if self._tells:
            warn(text, AccuracyWarning)

    @alone
    def step(self, n: int = 1) -> None:
        """Run n time steps.

        Raises
        ------
        UnstableError
            If the state is no longer finite. On a mesh the last good state is restored and can be read
            (except in the first two steps of ab3, which need its memory); on a grid the state remains as it
            is. Start again with `set` or `reset`.
        """
        n = integer("n", n, 0)
        self._solver.settle()
        ahead = self._refuse_unfit(self._stepping.chunk(n) if n else 0)
        try:
            self._stepping.run(n, ahead)
        except UnstableError as error:
            raise self._blown_up(str(error)) from None

    def _refuse_unfit(self, steps: int = 0) -> Ahead:
        """Raise if state, clock and traces do not fit together. Takes pending samples first.

        Samples may be pending from a call that an exception of a signal handler ended. Returns what so many
        steps need.
        """
        if self._half_set:
            self._solver.refuse_lost()
            raise ArgumentError(
                "set() or reset() did not come to its end, the state is neither the old nor the new one; "
                "call it again"
            )
        self._solver.settle()
        if self._solver.undrained:
            self._solver.drain()
        ahead = self._stepping.ahead(steps)
        if ahead.blowup >= 0:
            raise ArgumentError(
                f"the run blew up at step {ahead.blowup} and stands at step {ahead.step}; "
                "sim.set(...) or sim.reset() starts again"
            )
        for i, receivers in enumerate(self.receivers):
            if not receivers._next - receivers.every <= ahead.step < receivers._next:
                self._solver.refuse_lost()
                raise ArgumentError(
                    f"receivers {i} ({receivers.name!r}) have {receivers.num_sample} samples from step "
                    f"{receivers._step} on, one every {receivers.every} steps, at step {ahead.step}"
                )
        return ahead

    def _steps_to(self, until: float | None, steps: int | None) -> int:
        """Return the number of steps that `run` is to do."""
        self._solver.live()
        if (until is None) == (steps is None):
            raise ArgumentError("give either until=, an absolute time [s], or steps=, a number of time steps")
        if steps is not None:
            return integer("steps", steps, 0)
        far = np.ceil((number("until", until, "s") - self.t) / self.dt - 1e-9)
        if far <= 0:
            _core.logger.info("run(until=%g): the time is %g s already", until, self.t)
        return int(min(max(0.0, far), 2.0**62))

    @alone
    def run(
        self,
        *given: Any,
        until: float | None = None,
        steps: int | None = None,
        progress: bool | None = None,
        callback: Callable[[Any], Any] | None = None,
        every: int | None = None,
    ) -> None:
        """Run until a time, or for a number of steps; all arguments are keywords.

        Parameters
        ----------
        until : float
            Absolute time [s]: ceil((until - t) / dt) whole steps; a past time does nothing.
        steps : int
            Steps, instead of `until`.
        progress : bool, optional
            Progress bar; by default on a terminal and in notebooks. Without one, a line per minute goes to
            the logger "unda" at level INFO, which ``logging.basicConfig(level="INFO")`` shows.
        callback : callable, optional
            Called as ``callback(sim)`` after every `every` steps (default: each chunk).
        every : int, optional
            See `callback`.

        Raises
        ------
        ArgumentError
            If an argument is not a keyword, both or none of `until` and `steps` are given, or a value is
            invalid.
        UnstableError
            See `step`.
        KeyboardInterrupt
            After Ctrl-C, once the present chunk (about 0.3 s, 2 s of slow steps, or one launch of a kernel
            that takes many steps) is done; the simulation remains valid.

        Warns
        -----
        AccuracyWarning
            Before the first step, the warnings of `check`: too few nodes per wavelength, units that look
            mixed, thin layers, receivers that record zero by construction. Each is issued once, and again
            after changes of sources, receivers or the state; ``warnings.simplefilter`` turns it off or into
            an error.
        """
        if given:
            found = ", ".join(repr(one) for one in given)
            raise ArgumentError(
                f"run({found}) gives a number without a name; expected steps= or until= [s]: run(steps=1000) "
                "or run(until=1.0)"
            )
        steps = self._steps_to(until, steps)
        every = None if every is None else integer("every", every, 1)
        progress = None if progress is None else flag("progress", progress)
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback is {callback!r}, expected a callable")
        if steps > 0:
            self._warn()
        progress = progress if self._tells else False
        with Interruptible() as interrupted, Progress(self, steps, progress) as bar:
            done = 0
            while done < steps:
                limit = steps - done if every is None else min(steps - done, every - done % every)
                n = self._stepping.chunk(limit)
                self.step(n)
                done += n
                bar.update(n)
                if callback is not None and (every is None or done % every == 0):
                    callback(self)
                if self._stepping.stopped(interrupted()):
                    break

    def _blowup(self) -> tuple[Any, dict[str, Any]]:
        """Return the library's report of a blow-up, and the part of the exception that all methods share."""
        blowup = _core.new_struct("unda_blowup")
        self._solver.call(lib.unda_solver_get_blowup, blowup)
        return blowup, {
            "step": int(blowup.step),
            "last_good_step": int(blowup.last_good_step),
            "time": self._start + int(blowup.step) * self.dt,
            "field": self.fields[int(blowup.field)],
            "element": int(blowup.elem),
        }

    # ---- speed ----

    @alone
    def profile(self, runs: int = 20) -> dict[str, dict[str, float]]:
        """Time each CUDA kernel of a stage, or of a step of `FD`; the state is not changed.

        Parameters
        ----------
        runs : int
            Launches of each, after two to warm up.

        Returns
        -------
        dict of str to dict
            For each kernel ``seconds`` (median of a launch) and ``launches`` a step, and of `DG` what a
            launch needs: ``flops`` and compulsory ``bytes``, and, but for cuBLAS, what it has of the device:
            ``registers`` and ``spill_bytes`` of a thread, ``shared_bytes`` and ``threads`` of a block,
            ``blocks`` on an SM and ``occupancy``, their warps over the most; "record" is that of
            receivers. For "stage", all kernels of one together but for "record", also ``gdof_per_second``
            (`FD`: ``gcell_per_second``), ``gflops``, ``gbytes_per_second`` (compulsory) and
            ``percent_of_limit``, of the tighter of the measured limits, see ``rate`` of the method.

        Raises
        ------
        ArgumentError
            On the CPU, but for `SEM`, whose colours are timed; where a window passes over the grid (`FD`).
        OutOfMemoryError
            If the device has no room for the copy that `FD` keeps of overwritten arrays: all fields and
            memory variables of layers; with kernel "step" of the scalar scheme one of the two levels of p.

        Notes
        -----
        `FD`: "stage" is a whole step. On staggered grids it is timed as a whole, because the kernels of the
        grid and of its layers run concurrently. If a step launches a kernel several times, ``seconds`` is for
        the mean launch. Kernel "diamond" is timed with all the levels of its plan, with sources and
        receivers; its launches are 1 / levels a step.

        Examples
        --------
        >>> sim = unda.FD(grid, medium, device="cuda")  # doctest: +SKIP
        >>> sim.profile()["stage"]["percent_of_limit"]  # doctest: +SKIP
        """
        found = speed.kernel_seconds(self, runs)
        found["stage"] |= self.rate(found["stage"]["seconds"])
        return found

    # ---- arrays for others ----

    @alone
    def device_array(self, field: str) -> Any:
        """Return a copy of a field on the device of the simulation, for torch, cupy and others.

        Parameters
        ----------
        field : str
            What `get` gives, in the same order and shape.

        Returns
        -------
        ndarray or DeviceArray
            On the CPU a NumPy array. On a CUDA device an array in its memory, of several devices in that of
            the first, which ``torch.from_dlpack``, ``cupy.from_dlpack`` and ``cupy.asarray`` take without a
            copy; ``numpy()`` reads it back. Where processes share the problem, what each of them has.

        Raises
        ------
        ArgumentError
            If there is no such field.
        OutOfMemoryError
            If the device has no room for it.

        Notes
        -----
        The values pass through the host's memory. Writing to the array does not change the simulation: `set`
        does.

        Examples
        --------
        >>> import numpy as np, unda
        >>> sim = unda.FD(unda.Grid((5, 4, 3), 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
        >>> np.from_dlpack(sim.device_array("p")).shape  # or torch.from_dlpack
        (5, 4, 3)
        """
        from ..io.device_array import device_array

        return device_array(self, field)

    # ---- files ----

    @alone
    def save(self, path: Any) -> None:
        """Write a checkpoint (HDF5) from which `unda.load` continues bit for bit.

        It holds mesh, materials, state, clock, history of the integrator, sources, receivers with
        their samples, and ``sim.config``. An old file remains until the new one is complete.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        ArgumentError
            If a source or the boundary data are a plain callable; `unda.sampled` makes one of values.
        FileError
            If it cannot be written.
        """
        from ..io.checkpoint import save

        self._refuse_unfit()
        save(self, path)

    # ---- end ----

    @alone
    def close(self) -> None:
        """Free the solver; receivers remain readable."""
        self._solver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _engine(self) -> str:
        where = f"{self.config['device']} ({self.config['device_name']})"
        if self.config["device"] == "cpu":
            where = f"cpu with {self.config['threads']} threads"
        if self.ranks is not None:
            where = f"{where}, {self.ranks!r}, messages by {self._solver.transport}"
        if self.team is not None:
            where = f"{' + '.join(self.team.devices)} ({self.config['device_name']}), {self.team._about()}"
        if self.config["kernel"] is None:
            return where
        options, kernel = self.config["kernel_options"], self.config["kernel"]
        split = kernel == "tensor" or (
            kernel == "blocks" and self.dtype == np.float32 and options["products"] == 2
        )
        arithmetic = ", products of pairs of FP16 numbers" if split else ""
        if options.get("compute") == "tf32":
            arithmetic = f", {_TF32}"
        if options.get("resident", 1) > 1:
            arithmetic += f", up to {options['resident']} steps a launch"
        return f"{where}, kernel {kernel} {{{', '.join(map(str, options.values()))}}}{arithmetic}"

    def __repr__(self) -> str:
        name = type(self).__name__
        if not (hasattr(self, "config") and self._solver.is_open):
            return f"{name}(closed)"
        if self._solver.process != os.getpid():
            return f"{name}(of process {self._solver.process})"
        return (
            f"{name}({self.medium.physics}, {self._about()}, {self.dtype.name}, dt {self.dt:.4g} s, "
            f"{self._engine()}, {sum(self.memory.values()) / 1e6:.1f} MB, t = {self.t:.6g} s)"
        )

    def _repr_html_(self) -> str:
        from ..io.html import simulation

        return simulation(self)


def _among(one: Any, some: Sequence[Any]) -> bool:
    """Return whether an object is one of some."""
    return any(one is other for other in some)
