"""Monitors: statistics of a field over time at every node, kept by the library as it steps.

Next: monitor_field.py (of what), monitor_region.py (which nodes).
Not here: accumulating (csrc/solver/monitor.c), files (io/monitors.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import choice, integer, number
from .._core import lib, new
from .._fixed import Fixed
from .._units import plain
from ..errors import ArgumentError
from ..problem.timefunction import wrap
from .check import Report
from .monitor_field import taken, without_field
from .monitor_region import region_of

#: By unda_statistic, and samples a period of the highest frequency at least, if `every` is not given.
KINDS = "max", "min", "rms", "dft"
_SAMPLES = {"max": 8, "min": 8, "rms": 8, "dft": 4}


class Monitor(Fixed):
    """A statistic of the samples p_k of a field, k = 0 .. n - 1; made by ``sim.add_monitor``.

    Attributes
    ----------
    field : str
    kind : {"max", "min", "rms", "dft"}
    every : int
        Steps between samples.
    frequencies : ndarray
        Of a "dft" [Hz]; else empty.
    per_period : float or None
        Samples a period of the sources' highest frequency, None where that is not known.
    cells : ndarray or None
        On a mesh, numbers of the cells; of those that this process has, where processes share the mesh.
    axes : tuple of ndarray or None
        On a grid, positions along x, y, z [m].

    Notes
    -----
    "max", "min"
        In the simulation's precision; exactly those of the samples. Some sample of a sinusoid is within half
        an interval of its peak, pi / n in phase with n samples a period, so that up to ``1 - cos(pi / n)`` of
        the amplitude is missed: 7.6 % with 8, 1.9 % with 16.
    "rms"
        ``sqrt(sum p_k^2 / n)``.
    "dft"
        ``every dt sum p_k exp(-2j pi f t_k)`` [unit / Hz], NumPy's sign: the spectrum of the field, if it is
        0 before the first and after the last of the samples. t_k is the time of the field itself, half a step
        before the simulation's where a scheme has it so.

    Sums are accumulated sample after sample in float64, whatever the precision: they round by at most
    ``(n + 2) 2^-53`` of the sum of the terms' magnitudes, and on one kind of device have the same bits for
    any number of threads, devices or processes.

    Examples
    --------
    >>> import unda
    >>> sim = unda.FD(unda.Grid((40, 40, 40), spacing=0.1), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    >>> sim.add_source(unda.VolumeInjection((2.0, 2.0, 2.0), unda.ricker(0.4)))
    >>> peak = sim.add_monitor("p", "max")
    >>> peak
    Monitor(max of p, every 2 steps, 11.1 samples a period, at all nodes, 0.256 MB, 33 % of a step's bytes)
    >>> sim.run(until=6.0)
    >>> peak.num_sample, peak.values.shape
    (68, (40, 40, 40))
    """

    _otherwise = "sim.add_monitor(...) makes another one"

    def __init__(
        self, sim: Any, field: str, kind: str, every: int, frequencies: np.ndarray, region: Any
    ) -> None:
        self.field, self.kind, self.every, self.frequencies = field, kind, every, frequencies
        self._sim, self._region, self._dt = sim, region, sim.dt
        self.cells, self.axes = region.cells, region.axes
        self._taken = taken(sim, field)
        self._without = without_field(sim, self._taken.first, region.cells)
        fmax = highest(sim)
        self.per_period = None if fmax is None else 1.0 / (fmax * every * sim.dt)
        wide = 8 if kind in ("rms", "dft") else sim.dtype.itemsize
        self._num_array = 2 * len(frequencies) if kind == "dft" else 1
        self._dtype = np.dtype(np.float64) if wide == 8 else sim.dtype
        self._fix()

    def _given(self) -> Any:
        """Return unda_monitor."""
        return _core.new_struct(
            "unda_monitor", every=self.every, field=self._sim.fields.index(self._taken.first),
            statistic=KINDS.index(self.kind), quantity=self._taken.quantity,
            lag=self._sim._points.lags(self._dt).get(self._taken.first, 0.0),
            num_frequency=len(self.frequencies), frequencies=self.frequencies, **self._region.members,
        )  # fmt: skip

    def _begin(self) -> None:
        """Let the library take it; its memory is what that took."""
        solver = self._sim._solver
        before = sum(self._sim.memory.values())
        solver.add(lib.unda_solver_add_monitor, (self._given(),), solver.monitors, [self])
        self._bytes = sum(self._sim.memory.values()) - before

    @property
    def bytes(self) -> int:
        """Memory that it takes beside the state, in this process; nodes that cells share count once."""
        return self._bytes

    @property
    def share(self) -> float:
        """Bytes that it moves from and to memory, on average, over those that a step has to move.

        By so much a step takes longer where memory is the limit of both.
        """
        moved = new("double *")
        self._sim._solver.call(lib.unda_solver_monitor_moved, self._number, moved)
        info = self._sim._solver.info()
        num = math.prod(self._sim.grid.shape) if hasattr(self._sim, "grid") else self._sim._num_elem
        if self._sim.ranks is not None and hasattr(self._sim, "grid"):
            num = math.prod((len(self._sim.own_planes), *self._sim.grid.shape[1:]))
        return float(moved[0]) / (info.bytes_per_elem * num * info.num_stage)

    @property
    def _number(self) -> int:
        for i, one in enumerate(self._sim.monitors):
            if one is self:
                return i
        raise ArgumentError("this monitor was removed: sim.clear_monitors()")

    def _count(self) -> tuple[int, int]:
        """Return the step of the first sample and their number."""
        first, count = new("int64_t *"), new("int64_t *")
        self._sim._solver.call(lib.unda_solver_read_monitor, self._number, first, count, _core.NULL)
        return int(first[0]), int(count[0])

    def _sums(self) -> np.ndarray:
        """Return what the library accumulated, [array, ...]; 0 where other processes have it."""
        sums = np.zeros((self._num_array, *self._region.shape), self._dtype)
        to = _core.pointer(sums, writable=True)
        self._sim._solver.call(lib.unda_solver_read_monitor, self._number, _core.NULL, _core.NULL, to)
        return sums

    def _put(self, first: int, count: int, sums: np.ndarray) -> None:
        """Put back what `_count` and `_sums` gave."""
        given = _core.pointer(np.ascontiguousarray(sums, self._dtype))
        self._sim._solver.call(lib.unda_solver_write_monitor, self._number, first, count, given)

    @property
    def num_sample(self) -> int:
        """Samples so far, the one at the beginning included."""
        return self._count()[1]

    @property
    def values(self) -> np.ndarray:
        """The statistic of the samples so far.

        On a mesh (cells, nodes), as `get` of the simulation gives fields; on a grid (nx, ny, nz) of the
        region, in all processes that share it. "dft": complex, with an axis of frequencies in front. NaN in
        cells of `SEM` that do not have the field: displacements are of solids, potentials of fluids.
        """
        found = self._sim._read_monitor(self)
        if self._without is not None:
            found[..., self._without, :] = np.nan
        return np.asarray(found)

    def to_xarray(self) -> Any:
        """Return the values with their places as an array of xarray; needs xarray.

        Returns
        -------
        xarray.DataArray
            On a grid (x, y, z) of the region, x_half and so on where the field stands between nodes; on a
            mesh (cell, node) with coordinates x, y, z of each node and the numbers of cells; of a "dft"
            with frequency [Hz] in front. ``attrs``: units, kind, every, num_sample. It has `values`, bit for
            bit. Where processes share a mesh, those of own cells.

        Examples
        --------
        >>> peak.to_xarray().sel(y=0.0, method="nearest").plot()  # doctest: +SKIP
        """
        from ..io.labelled import monitored

        return monitored(self)

    def _found(self) -> np.ndarray:
        sums = self._region.whole(self._sums())
        if self.kind == "rms":
            return np.asarray(np.sqrt(sums[0] / self.num_sample))
        if self.kind == "dft":
            return np.asarray(self.every * self._dt * (sums[0::2] + 1j * sums[1::2]))
        return np.asarray(sums[0])

    def _told_share(self) -> str:
        there = self._sim._solver.is_open and any(one is self for one in self._sim.monitors)
        return f", {100 * self.share:.2g} % of a step's bytes" if there else ""

    def __repr__(self) -> str:
        often = "" if self.per_period is None else f", {self.per_period:.3g} samples a period"
        of = f" at {len(self.frequencies)} frequencies" if self.kind == "dft" else ""
        step = "step" if self.every == 1 else f"{self.every} steps"
        return (
            f"Monitor({self.kind} of {self.field}{of}, every {step}{often}, {self._region!r}, "
            f"{self.bytes / 1e6:.3g} MB{self._told_share()})"
        )


def highest(sim: Any) -> float | None:
    """Return the highest frequency of the sources, None if none tells."""
    report = Report()
    waves = [wrap(wave.f, sim.dt) for wave, *_ in sim._solver.waves]
    report.look_at([source.time_function(sim.dt) for source, _ in sim._solver.sources] + waves)
    return report.fmax


def make_monitor(
    sim: Any, field: Any, kind: Any, every: Any, frequencies: ArrayLike | None, region: Any
) -> Monitor:
    """Return a monitor that the library does not know yet, see `Simulation.add_monitor`."""
    first = taken(sim, field).first
    choice("kind", kind, KINDS)
    asked = frequencies_of(kind, frequencies)
    every = _every(sim, kind) if every is None else integer("every", every, 1, 2**31 - 1)
    most = 0.5 / (every * float(sim.dt))
    if kind == "dft" and np.abs(asked).max() > most:
        raise ArgumentError(
            f"frequencies go up to {np.abs(asked).max():g} Hz; samples every {every} steps know those up to "
            f"{most:.4g} Hz: give a smaller every="
        )
    return Monitor(sim, field, kind, every, asked, region_of(sim, first, region))


def frequencies_of(kind: str, frequencies: Any) -> np.ndarray:
    """Return the frequencies of a monitor of that kind [Hz]."""
    if (frequencies is None) == (kind == "dft"):
        raise ArgumentError(
            f"frequencies is {frequencies!r} and kind {kind!r}, expected numbers [Hz] with 'dft', and none "
            "otherwise"
        )
    frequencies = plain("frequencies", frequencies, "Hz")
    given: Sequence[Any] = (
        [] if frequencies is None else np.atleast_1d(np.asarray(frequencies, object)).tolist()
    )
    asked = np.array([number(f"frequencies[{i}]", one, "Hz") for i, one in enumerate(given)])
    if kind == "dft" and not 1 <= len(asked) <= lib.UNDA_MAX_FREQUENCY:
        raise ArgumentError(
            f"frequencies has {len(asked)} numbers, expected 1 to {lib.UNDA_MAX_FREQUENCY}; another monitor "
            "takes more"
        )
    return asked


def _every(sim: Any, kind: str) -> int:
    fmax = highest(sim)
    if fmax is None:
        raise ArgumentError(
            "every is not given, and no source that was added tells its highest frequency: expected every=, "
            "steps between samples"
        )
    return every_of(kind, fmax, float(sim.dt))


def every_of(kind: str, fmax: float, dt: float) -> int:
    """Return the steps between samples that leave enough of them in a period."""
    return max(1, int(1.0 / (_SAMPLES[kind] * fmax * dt) * (1 + 1e-9)))
