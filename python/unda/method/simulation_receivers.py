"""Receivers of a simulation: added, removed, moved, one shot after the other.

Not here: what they hold (receiver.py), where they are (points.py), how samples are taken (solver.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import integer, number
from .._core import lib
from ..errors import ArgumentError
from ..problem.surface import plane_points
from ._run_control import alone
from .channels import Channels
from .fibre import UNITS, Fibre, FibreChannels
from .integral import Integral
from .receiver import Receivers
from .shots import shots
from .simulation_base import SimulationBase


class SimulationReceivers(SimulationBase):
    """The part of a simulation that has receivers."""

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
            or the state was set, of every step, however many there are between samples, and exact to the
            scheme: staggered grids have u(t + dt) = u(t) + dt v(t + dt/2), and `DG` integrates u' = v at the
            points with the stages of its steps, as if u were a field. `SEM` steps displacements: there it is
            that of the state, whenever receivers are added.

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
        has_displacement = self._points.integrates or "ux" in self._points.traces

        def make(names: list[str]) -> Channels:
            try:
                return self._points.channels(names, placed)
            except ArgumentError as error:
                raise ArgumentError(
                    f"strain along a fibre is made of v, which is not recorded here: {error}"
                ) from None

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
            integral = Integral(channels.names, channels.integrated, every, self.dt)
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


def _among(one: Any, some: Sequence[Any]) -> bool:
    """Return whether an object is one of some."""
    return any(one is other for other in some)
