"""Solver: the library's solver in Python: creation, queries, sources and receivers, freeing.

Not here: running it (simulation.py), its options (_options.py).
"""

from __future__ import annotations

import os
import platform
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import integer
from .._core import lib, new
from ..errors import ArgumentError, ForkError, OutOfMemoryError
from ..limits import device_info
from ..problem.incident import PlaneWave
from ..problem.medium import Medium
from ..problem.source import Source
from ._options import kernel_parts
from ._run_control import Alone, alone
from .points import Points
from .receiver import Channels, Receivers

if TYPE_CHECKING:
    from typing import Self

__all__ = ["CHUNK_BYTES", "Solver", "forecast"]

CHUNK_BYTES = 64e6  # of samples that Python takes at once

_alive: weakref.WeakSet[Solver] = weakref.WeakSet()


def forecast(mesh: Any, options: Any) -> dict[str, int]:
    """Return the bytes that a solver with these options would take; mesh: the library's, or NULL."""
    bytes_ = new("int64_t[2]")
    _core.check(lib.unda_solver_forecast(mesh, options, bytes_, bytes_ + 1))
    return {"host": int(bytes_[0]), "device": int(bytes_[1])}


def _new_solver(mesh: Any, options: Any) -> Any:
    """Make a solver; if memory runs out say what holds it."""
    try:
        return _core.new_object(
            "unda_solver", lambda out: lib.unda_solver_new(out, mesh, options), lib.unda_solver_free
        )
    except OutOfMemoryError as error:
        needed = forecast(mesh, options)
        living = [repr(sim) for sim in _alive if sim._handle is not None]
        listed = "".join(f"\n  {line}" for line in living) or " none"
        raise OutOfMemoryError(
            f"{error}; the simulation takes {needed['host'] / 1e9:.3g} GB on the host and "
            f"{needed['device'] / 1e9:.3g} GB on the device; living simulations:{listed}"
        ) from None


class Solver:
    """The solver of a simulation, with its sources and receivers."""

    medium: Medium
    fields: tuple[str, ...]
    dtype: np.dtype
    config: dict[str, Any]
    _points: Points
    _handle: Any = None
    _undrained = True  # the library may have samples that were not taken yet
    _ran = 0  # steps of the last call

    # ---- what a method adds ----

    def _about(self) -> str:
        """Return what repr() shows in brackets after the name."""
        raise NotImplementedError

    # ---- creation ----

    def _start_solver(
        self, medium: Medium, options: Any, allow_unstable: bool, mesh: Any = _core.NULL
    ) -> None:
        """Make the C solver; mesh: the library's."""
        self.medium, self.fields = medium, tuple(medium.fields)
        self._guard = Alone()
        self._process = os.getpid()
        self._handle = _new_solver(mesh, options)
        self._num_stage = int(self._info().num_stage)
        self._take_dt(allow_unstable)
        self._start = 0.0  # time of step 0
        self._sources: list[Any] = []  # each point source and its amplitude
        self._source_ids: set[int] = set()  # of these sources, except the last ones
        self._shared: dict[Any, tuple[Any, Any]] = {}  # amplitudes by class and id of f; f stays alive
        self._waves: list[Any] = []  # each plane wave, its wave function and number of faces
        self._receivers: list[Receivers] = []
        self._channels: list[Channels] = []  # of each
        self._adding: tuple[Any, Any] = new("int32_t *", -1), ()  # see _settle
        _alive.add(self)

    def _take_dt(self, allow_unstable: bool) -> None:
        """Take dt and its limit from the library; raise if dt is above, unless that is allowed."""
        info = self._info()
        self.dt, self.dt_stable = float(info.dt), float(info.dt_stable)
        if self.dt > self.dt_stable * (1 + 1e-12) and not allow_unstable:
            self.close()
            raise ArgumentError(
                f"dt is {self.dt:.6g} s, above the stable limit {self.dt_stable:.6g} s; "
                "allow_unstable=True takes it all the same"
            )

    def _resolved(self, device: str) -> dict[str, Any]:
        """Return the part of the configuration that the library chose."""
        info = self._info()
        return {
            "medium": self.medium.to_config(),
            "dt": self.dt,
            "device": device,
            **device_info(device),
            "kernel": _core.text(info.kernel) or None,
            "kernel_options": kernel_parts(info) if _core.text(info.kernel) else None,
            "threads": int(info.threads),
            "version": _core.version(),
            "source_hash": _core.text(lib.unda_source_hash()),
            "numpy": np.__version__,
            "python": platform.python_version(),
        }

    def _live(self) -> Any:
        """Return the library's solver, or raise if it is closed or belongs to another process."""
        if self._handle is None:
            raise ArgumentError("this simulation is closed")
        if self._process != os.getpid():
            raise ForkError(
                f"process {os.getpid()} was forked from {self._process}, where this simulation was made; "
                "use spawn or threads"
            )
        return self._handle

    def _info(self) -> Any:
        info = _core.new_struct("unda_solver_info")
        _core.check(lib.unda_solver_get_info(self._live(), info))
        return info

    @property
    def t(self) -> float:
        """Present time [s]."""
        return float(self._info().time)

    @property
    def step_count(self) -> int:
        """Steps done."""
        return int(self._info().step)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of tables and state, on the host and on the device."""
        info = self._info()
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
            self._refuse_late(any(source is other for other, *_ in self._waves))
            self._add_wave(source)
            return
        many = isinstance(source, Iterable) and not isinstance(source, (str, bytes))
        sources: list[Any] = list(source) if many else [source]  # type: ignore[arg-type]
        for one in sources:
            if not isinstance(one, Source):
                raise ArgumentError(
                    f"source is {one!r}, expected one such as VolumeInjection or PlaneWave, or a list of "
                    "point sources"
                )
        self._source_ids.update(id(one) for one, _ in self._sources[len(self._source_ids) :])
        ids = set(map(id, sources))
        self._refuse_late(len(ids) < len(sources) or not ids.isdisjoint(self._source_ids))
        if sources:
            self._add_point_sources(sources)

    def _refuse_late(self, again: bool) -> None:
        """Raise if a source was added already, or the first step was done."""
        if again:
            raise ArgumentError("this source was added already; sim.reset(sources=True) forgets it")
        if self.step_count > 0:
            raise ArgumentError("sources are added before the first step; sim.reset() starts again")

    def _add_wave(self, source: PlaneWave) -> None:
        elem, face, sign, wave = self._points.wave(source)
        arrays = (_core.pointer(elem), _core.pointer(face), _core.pointer(sign))
        index = new("int32_t *", -1)
        self._settle()
        self._adding = index, ((self._waves, [(source, wave, len(elem))]),)
        _core.check(lib.unda_solver_add_incident(self._live(), len(elem), *arrays, index))
        self._settle()

    def _add_point_sources(self, sources: list[Source]) -> None:
        terms = self._points.terms(sources)
        amplitudes = [self._shared_amplitude(source) for source in sources]
        given, index = _core.new_struct("unda_source", **terms), new("int32_t *", -1)
        self._settle()
        self._adding = index, ((self._sources, list(zip(sources, amplitudes, strict=True))),)
        _core.check(lib.unda_solver_add_source(self._live(), given, index))
        self._settle()

    def _shared_amplitude(self, source: Source) -> Callable[[np.ndarray], Any]:
        """Return the amplitude of a source, one object for all of one class that share f."""
        key = type(source), id(source.f)
        if key not in self._shared:
            amplitude = self._points.amplitude(source, self.dt)
            self._refuse_amplitude(source, amplitude)
            self._shared[key] = source.f, amplitude
        return self._shared[key][1]

    def _refuse_amplitude(self, source: Source, amplitude: Callable[[np.ndarray], Any]) -> None:
        """Raise if a source of known beginning and end has amplitudes outside the precision's range."""
        span = source.time_function(self.dt).span
        if span is None or not np.isfinite(span).all():
            return
        with np.errstate(over="ignore", invalid="ignore"):
            times = np.linspace(span[0] - self.dt, span[1] + self.dt, 4096)  # when it acts
            peak = float(np.abs(amplitude(times)).max())
        kind = np.finfo(self.dtype)
        if not (peak == 0.0 or float(kind.tiny) <= peak <= float(kind.max)):
            raise ArgumentError(
                f"{source!r} has amplitudes of at most {peak:.3g}, beyond {self.dtype}; expected "
                f"{kind.tiny:.3g} to {kind.max:.3g}: use other units"
                + (" or float64" if self.dtype.itemsize == 4 else "")
            )

    @alone
    def add_receivers(
        self,
        points: ArrayLike,
        fields: Iterable[str] | None = None,
        *,
        every: int = 1,
        name: str | None = None,
        side: Any = None,
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
        every : int
            Steps between samples.
        name : str, optional
        side : str or array_like, shape (3,) or (n, 3), optional
            On a mesh, the side of which the values are at points where the material or the tag jumps: a
            direction in which it lies, or the name of its tag. If omitted, that of the cell with the lowest
            number there, which `Mesh.locate` gives.

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
        array, placed = self._points.place(points, "receiver", side)
        channels = self._points.channels(fields)
        every = integer("every", every, 1, 2**31 - 1)
        if name is not None and not isinstance(name, str):
            raise ArgumentError(f"name is {name!r}, expected a string")
        group = new("int32_t *", -1)
        given = _core.new_struct(
            "unda_receivers", num_point=len(array), every=every, num_field=len(channels.numbers),
            fields=channels.numbers, **placed,
        )  # fmt: skip
        receivers = Receivers(
            array, channels.names, units=self.medium.traces, every=every, dt=self.dt, dtype=self.dtype,
            config=self.config, name=name, lags=self._points.lags(self.dt), side=side,
        )  # fmt: skip
        receivers._bind = self._points.binder()
        receivers.clear(self._start, self.step_count)
        self._settle()
        self._adding = group, ((self._channels, [channels]), (self._receivers, [receivers]))
        self._undrained = True
        _core.check(lib.unda_solver_add_receivers(self._live(), given, group))
        self._drain()
        return receivers

    def _settle(self) -> None:
        """Complete the lists after an exception of a signal handler during the last addition.

        The library writes the number of the first object that it has taken, which is its place in the lists.
        """
        number, entries = self._adding
        for listed, more in entries:
            if len(listed) == number[0]:
                listed.extend(more)

    @property
    def receivers(self) -> tuple[Receivers, ...]:
        """All receivers, in the order in which they were added."""
        return tuple(self._receivers)

    def _drain(self) -> None:
        """Move recorded samples from the library to the receivers.

        The library keeps samples until later ones are asked for, and each is put where its step belongs: a
        handler of a signal may raise, or save the simulation, between any two lines.
        """
        self._settle()
        step, count = new("int64_t *"), new("int64_t *")
        for i, (receivers, channels) in enumerate(zip(self._receivers, self._channels, strict=True)):
            shape = (len(receivers.points), len(channels.numbers))
            most = int(max(1, CHUNK_BYTES // (8 * max(1, shape[0] * shape[1]))))
            room = min(most, self._ran // receivers.every + 2)  # more than there are: one call does
            count[0] = room
            while count[0] == room:
                samples, step[0] = np.empty((room, *shape), self.dtype), receivers._next
                to = _core.pointer(samples, writable=True)
                _core.refuse(lib.unda_solver_take_samples(self._live(), i, step, room, to, count))
                first = (step[0] - receivers._step) // receivers.every
                receivers.put(first, channels.combine(samples[: count[0]]))
        self._undrained = False

    # ---- end ----

    @alone
    def close(self) -> None:
        """Free the solver; receivers remain readable."""
        if self._handle is not None:
            _core.release(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _engine(self) -> str:
        where = f"{self.config['device']} ({self.config['device_name']})"
        if self.config["device"] == "cpu":
            where = f"cpu with {self.config['threads']} threads"
        if self.config["kernel"] is None:
            return where
        plan = ", ".join(map(str, self.config["kernel_options"].values()))
        return f"{where}, kernel {self.config['kernel']} {{{plan}}}"

    def __repr__(self) -> str:
        name = type(self).__name__
        if self._handle is None or not hasattr(self, "config"):
            return f"{name}(closed)"
        if self._process != os.getpid():
            return f"{name}(of process {self._process})"
        return (
            f"{name}({self.medium.physics}, {self._about()}, {self.dtype.name}, dt {self.dt:.4g} s, "
            f"{self._engine()}, {sum(self.memory.values()) / 1e6:.1f} MB, t = {self.t:.6g} s)"
        )
