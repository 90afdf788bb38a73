"""A plane wave along an axis of a grid, advanced by the scheme itself: an exact solution of its equations.

A column of nodes along the axis, periodic across it, of one medium, has the scheme's own dispersion to the
last bit; its values at nodes are what the surface of a total field takes (total_field.py), as Tan & Potter
(2010) do for Maxwell's equations. Not here: where these values go.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import lib
from ..problem.grid import SIDES, Grid
from ..problem.incident import PlaneWave
from ..problem.layer import CPML
from ..problem.medium import Medium
from ..problem.timefunction import TimeFunction, wrap
from .missed_waves import missed

_LAYER = CPML(80, R0=1e-8)  # returns less than 1e-6 of a pulse
_KEPT = 3  # ends of the last calls

#: Of `unda_source`: first, field, node, weight.
Terms = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def nothing(times: np.ndarray) -> np.ndarray:
    """Return amplitudes of a surface that another one has taken the place of."""
    return np.zeros(len(times))


class SurfaceSource:
    """What stands in a simulation's list for a source of the library that is a value of the line."""

    def __init__(self, wave: PlaneWave) -> None:
        self._whole, self.f = wave, wave.f

    def time_function(self, dt: float) -> TimeFunction:
        """Return what the wave does."""
        return wrap(self.f, dt)


class Scene(NamedTuple):
    """What a simulation's scheme needs to be run on another grid.

    Attributes
    ----------
    medium : Medium
        That of the wave, everywhere.
    varies : bool
        Whether the simulation's medium is given node by node, for which the scalar scheme has other weights.
    device : str
        Where it runs.
    """

    medium: Medium
    varies: bool
    spacing: tuple[float, float, float]
    flat: tuple[bool, bool, bool]
    scheme: str
    order: int
    dt: float
    dtype: np.dtype[Any]
    device: str = "cpu"

    def made(self, shape: tuple[int, ...], origin: tuple[float, ...], sides: dict[str, Any]) -> Any:
        """Return a simulation on a grid of this shape."""
        from .fd import FD

        medium: Any = self.medium
        if self.varies:  # an array of equal values would be one value, with its weights; a function is not
            given = medium.scalar()
            medium = type(medium)(rho=given["rho"], c=lambda x, y, z: np.full(np.shape(x), given["c"]))
        return FD(
            Grid(shape, self.spacing, origin=origin), medium, order=self.order, scheme=self.scheme,  # type: ignore[arg-type]
            boundary=sides, dt=self.dt, dtype=self.dtype, device=self.device, allow_unstable=True,
            kernel="step", threads=1 if self.device == "cpu" else None,
        )  # fmt: skip


def add_nodes(
    sim: Any, first: np.ndarray, field: np.ndarray, node: np.ndarray, weight: np.ndarray,
    added: list[tuple[Any, Any]],
) -> None:  # fmt: skip
    """Add sources node by node, see `unda_source`; added: what the simulation's list has of them."""
    given = _core.new_struct(
        "unda_source", num_source=len(first) - 1, first=np.ascontiguousarray(first, np.int64),
        num_cell=len(node), node=np.ascontiguousarray(node, np.int64),
        field=np.ascontiguousarray(field, np.int32), weight=np.ascontiguousarray(weight, np.float64),
    )  # fmt: skip
    sim._solver.add(lib.unda_solver_add_source, (given,), sim._solver.sources, added)


def first_weights(half: int) -> np.ndarray:
    """Return the weights D_m of staggered differences of order 2 half, see csrc/fd/stencil.c."""
    odd = 2.0 * np.arange(1, half + 1) - 1.0
    return np.array([
        np.prod([b**2 / (b**2 - a**2) for b in odd if b != a]) / a for a in odd
    ])  # fmt: skip


def second_weights(half: int) -> np.ndarray:
    """Return the weights C_m of second differences of order 2 half, m = 1 .. half."""
    m = np.arange(1, half + 1)
    ratio = np.cumprod((half - m + 1) / (half + m))
    return np.where(m % 2, 2.0, -2.0) * ratio / m**2


class LineWave(NamedTuple):
    """A wave of a line.

    Attributes
    ----------
    wave : PlaneWave
    unit : dict of str to float
        The fields that it has, for f = 1.
    sign : int
        In which sense it travels along the axis.
    speed : float
        [m/s]
    """

    wave: PlaneWave
    unit: dict[str, float]
    sign: int
    speed: float


class _Drive(NamedTuple):
    """What a wave's source in the column does: f(t + shift)."""

    f: TimeFunction
    shift: float
    enters: float  # where the wave is that of a medium without a grid [m]: some nodes before the box


class IncidentLine:
    """Values of plane waves on a line of places along an axis, at the steps of a simulation.

    Several waves of one box are in the column together: it then has the bits of their sum.

    Parameters
    ----------
    scene : Scene
    waves : sequence of LineWave
    axis : int
        Along which they travel.
    low, high : int
        First and last node along the axis whose values are wanted.
    origin : float
        Coordinate of node 0 along the axis [m].
    start : callable
        Returns the time of step 0 of the simulation [s].
    box
        Of the total field: waves with the same one, and the same axis, share a line.

    Attributes
    ----------
    device : str
        Where the column is.
    width : int
        Number of values: those of fields one after the other, at the nodes of the line; and of sums.
    numbers : ndarray of int
        Column of each source of the library.
    fields : tuple of str
        Those that any wave has.
    waves, drives : list
        The waves, and what each does.
    """

    def __init__(
        self, scene: Scene, waves: Sequence[LineWave], *, axis: int, low: int, high: int, origin: float,
        start: Callable[[], float], box: Any = None,
    ) -> None:  # fmt: skip
        self.fields = tuple(dict.fromkeys(name for one in waves for name in one.unit))
        self.low, self.num = low, high - low + 1
        self.waves: list[LineWave] = []
        self.drives: list[_Drive] = []
        self.width = len(self.fields) * self.num
        self.numbers = np.arange(self.width)
        self.device = scene.device
        self._scene, self.axis, self.box, self._start = scene, axis, box, start
        half = scene.order // 2
        self._before = 3 * half + 8  # nodes of the column before the line, and behind
        shape = [1 if flat else 2 for flat in scene.flat]
        shape[axis] = self.num + 2 * self._before
        at = [0.0, 0.0, 0.0]
        at[axis] = origin + (low - self._before) * scene.spacing[axis]
        sides: dict[str, Any] = dict.fromkeys(SIDES, "periodic")
        sides[SIDES[2 * axis]] = sides[SIDES[2 * axis + 1]] = _LAYER
        self._column = scene.made(tuple(shape), tuple(at), sides)
        self._lag = {name: self._column._scheme.lag(name) for name in self.fields}
        self._listen()
        self._taps, self._factors = np.zeros((0, 0), np.int64), np.zeros((0, 0))  # of sums
        self._known: list[tuple[int, int, list[np.ndarray]]] = []  # steps and values of the last calls
        self._begun: float | None = None  # the simulation's start
        self._step = 0  # of the simulation, at which the column's clock was set to 0
        self._before_now: list[np.ndarray] = []  # each field one step before that
        for one in waves:
            self.add(one)

    # ---- the column ----

    def add(self, one: LineWave) -> None:
        """Add a wave, of fields of the line: a source that makes f where it stands, at all frequencies.

        Staggered: q_t = .. + 2 c f delta(s) makes waves f(t -+ s/c) / K'(k) on both sides, where

            K(k) = 2/h sum_m D_m sin((m - 1/2) k h),  K'(k) = sum_m D_m (2m - 1) cos((m - 1/2) k h),

        so delta is a stencil half a cell from a node whose transform is K'. Scalar: with the symbol L(k) of
        the second difference a stencil whose transform is -i L'(k) c^2 dt^2 / h makes f ahead and -f behind.
        """
        scene, column = self._scene, self._column
        wave, unit, sign, speed = one
        self._begun = None  # the column begins again
        half, h = scene.order // 2, scene.spacing[self.axis]
        center = self._before - 2 * half - 4 if sign > 0 else self._before + self.num + 2 * half + 3
        m = np.arange(1, half + 1)
        if scene.scheme == "scalar":
            driven, offset = ["p"], 0.0
            each = (speed * scene.dt / h) ** 2 * m * second_weights(half) * sign
            places, weights = np.r_[center - m, center + m], np.r_[-each, each]
        else:
            driven = [name for name in unit if name[0] == column.fields[0][0]]  # p, v or E
            offset = column._scheme.offset(driven[0])[self.axis] + 0.5
            each = speed * scene.dt / h * (2 * m - 1) * first_weights(half)
            places, weights = np.r_[center - m + 1, center + m], np.r_[each, each]
        step = scene.dt * (self._lag[driven[0]] + 0.5 if scene.scheme != "scalar" else 0.0)
        enters = column.grid.origin[self.axis] + (center + offset) * h
        drive = _Drive(wrap(wave.f, scene.dt), step - sign * enters / speed, enters)
        order = np.argsort(places)
        across = [np.arange(n) for n in column.grid.shape]
        across[self.axis] = places[order]
        share = [1, 1, 1]
        share[self.axis] = -1
        value = np.broadcast_to(weights[order].reshape(share), [len(one) for one in across])
        node = np.ravel_multi_index(np.meshgrid(*across, indexing="ij"), column.grid.shape).ravel()
        by_node = np.argsort(node)
        numbers = [column.fields.index(name) for name in driven]
        add_nodes(
            column, np.array([0, len(driven) * len(node)]), np.repeat(numbers, len(node)),
            np.tile(node[by_node], len(driven)),
            np.concatenate([unit[name] * value.ravel()[by_node] for name in driven]),
            [(SurfaceSource(wave), self._amplitude(drive))],
        )  # fmt: skip
        self.waves.append(one)
        self.drives.append(drive)

    def _amplitude(self, drive: _Drive) -> Any:
        alive = weakref.ref(self)

        def amplitude(times: np.ndarray) -> np.ndarray:
            line: Any = alive()
            step = line._step + np.rint(times / line._scene.dt)  # bits do not depend on calls
            return np.asarray(drive.f(line._begun + step * line._scene.dt + drive.shift))

        return amplitude

    def _listen(self) -> None:
        """Record each field where it stands on the line, by receivers of this field alone."""
        grid, axis = self._column.grid, self.axis
        place = np.arange(self.num) + self._before
        for name in self.fields:
            offset = self._column._scheme.offset(name)
            across = np.array(offset) * ~np.array(self._scene.flat)  # nothing varies along axes of one node
            points = np.tile(np.array(grid.origin) + across * grid.spacing, (self.num, 1))
            points[:, axis] = grid.origin[axis] + (place + offset[axis]) * grid.spacing[axis]
            self._column.add_receivers(points, [name])

    @property
    def line(self) -> IncidentLine:
        """Return the line itself: it is an amplitude, as the surfaces are that have one."""
        return self

    def missed(self) -> list[tuple[float, float]]:
        """Return of each wave how much of f is over before the first step, and for how long [s].

        As a part of its peak; (0, 0) where f does not tell when it begins.
        """
        return list(map(self._missed_of, self.drives))

    def _missed_of(self, drive: _Drive) -> tuple[float, float]:
        return missed(drive.f, self._start() + drive.shift)

    # ---- values ----

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Return the values (num_time, width) that steps from these consecutive times on take: of p, sums."""
        (samples,) = self.samples(times)
        values = samples[1:-1].astype(np.float64)
        sums = np.zeros((len(values), self._taps.shape[1]))
        for tap, factor in zip(self._taps, self._factors, strict=True):
            sums += factor * values[:, tap]
        return np.concatenate([values, sums], axis=1)

    def add_sums(self, sums: Sequence[Sequence[tuple[int, float]]]) -> int:
        """Give sums of values, each by numbers and factors, after the values; return the first's number."""
        most, first = max(map(len, sums)), self.width
        padded = np.array([[*one, *[(0, 0.0)] * (most - len(one))] for one in sums])
        self._taps, self._factors = padded[..., 0].T.astype(np.int64), padded[..., 1].T
        self.width += len(sums)
        self.numbers = np.arange(self.width)
        return first

    def samples(self, times: np.ndarray) -> list[np.ndarray]:
        """Return each field (num_time + 2, num), from a step before the first of consecutive times on.

        A call that was interrupted before its steps were taken comes again, and a simulation may go on from
        a file: then the column begins again, at the simulation's first step.
        """
        start = self._start()
        if start != self._begun:
            self._begin(start)
        step = int(np.rint((times[0] - start) / self._scene.dt)) if len(times) else self._step
        for first, num, samples in self._known:
            if (first, num) == (step, len(times)):
                return samples
        if self._step > step:
            self._begin(start)
        while self._step < step:
            self._advance(min(step - self._step, 1000))
        samples = self._advance(len(times))
        self._known = [*self._known[1 - _KEPT :], (step, len(times), samples)]
        return samples

    def _begin(self, start: float) -> None:
        self._column.set(t=0.0)
        self._begun, self._step, self._known = start, 0, []
        self._before_now = [np.zeros(self.num, self._scene.dtype) for _ in self.fields]

    def _advance(self, n: int) -> list[np.ndarray]:
        """Run n steps of the column; return its samples, after that of the step before."""
        column = self._column
        column.step(n)
        samples = []
        for before, name, rec in zip(self._before_now, self.fields, column.receivers, strict=True):
            samples.append(np.concatenate([before[None], rec[name].T]))
        self._before_now = [one[n].copy() for one in samples]
        self._step += n
        column._begin_at(0.0, column.fields)
        return samples


def lines_of(sim: Any) -> list[IncidentLine]:
    """Return the lines of a simulation, whose waves travel in one box and along one axis each."""
    return list({id(f.line): f.line for _, f in sim._solver.sources if hasattr(f, "line")}.values())


def start_of(sim: Any) -> Callable[[], float]:
    """Return what gives the time of step 0 of a simulation, and does not keep it alive."""
    alive = weakref.ref(sim)

    def start() -> float:
        return float(alive()._start)  # type: ignore[union-attr]

    return start
