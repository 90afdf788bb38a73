"""Simulation: the base of all methods: creation, queries of the state, files.

Its parts: sources, receivers, monitors and runs (simulation_*.py), pictures (io/pictures.py); the library's
solver (solver.py), steps (stepping.py), places (points.py).
Not here: a method's set-up and state (dg.py, fd.py), numerics (csrc, cuda).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import flag, number
from .._core import lib, new
from ..errors import ArgumentError
from ..io.pictures import Pictures
from ..limits import device_info
from . import speed
from ._options import Given, kernel_parts
from ._run_control import Alone, alone
from .channels import Channels
from .simulation_monitors import SimulationMonitors
from .simulation_run import SimulationRun
from .simulation_sources import SimulationSources
from .solver import Solver, living
from .stepping import Stepping
from .transport import choose_way

if TYPE_CHECKING:
    from typing import Self


_Found = TypeVar("_Found")

# What arithmetic does that is not of `dtype` (docs/kernel_options.md).
_TF32 = "products in TF32 (errors up to 2e-3 of the sum of their terms' magnitudes)"


class Simulation(SimulationSources, SimulationMonitors, SimulationRun, Pictures):
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
            "cfl": number("cfl", given.cfl),
            "sample_dt": None if given.sample_dt is None else number("sample_dt", given.sample_dt, "s"),
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
        self._source_ids = set()
        launch = max(1, (parts or {}).get("levels", 1))
        self._stepping = Stepping(self._solver, self._points, len(self.fields), self.dt, self.dtype, launch)
        living.add(self)
        self._fix()

    @property
    def memory(self) -> dict[str, int]:
        """Bytes of tables and state, on the host and on the device.

        Those of launches of many steps are taken by the first call that is long enough, and count from the
        start. What sources and receivers need comes on top.
        """
        info = self._solver.info()
        return {"host": int(info.host_bytes), "device": int(info.device_bytes)}

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
        if channels.integrals:
            raise ArgumentError(f"{list(channels.integrals)} are integrals over time, which receivers record")
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
        """Set fields and time to zero, and empty receivers and monitors.

        Parameters
        ----------
        sources : bool
            Forget the sources, too.

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
    def device_array(self, field: str, *, raw: bool = False) -> Any:
        """Return a copy of a field on the device of the simulation, for torch, cupy and others.

        Parameters
        ----------
        field : str
            What `get` gives, in the same order and shape.
        raw : bool
            Give the memory itself in which the simulation keeps one of ``sim.fields``, in the order in which
            it does so, to be read only: no copy, and nothing passes through the host.

        Returns
        -------
        ndarray, DeviceArray, or with `raw` RawArray
            On the CPU a NumPy array. On a CUDA device an array in its memory, of several devices in that of
            the first, which ``torch.from_dlpack``, ``cupy.from_dlpack`` and ``cupy.asarray`` take without a
            copy; ``numpy()`` reads it back. Where processes share the problem, what each of them has.

        Raises
        ------
        ArgumentError
            If there is no such field; with `raw` if it is derived from others, or the simulation is on
            several devices or in several processes.
        OutOfMemoryError
            If the device has no room for it.

        Notes
        -----
        A field of the state is copied on the device: nothing passes through the host, but once for all fields
        a list of the mesh's cells, of `SEM` of their nodes. Other devices of a team write to the first one's
        memory. Through the host pass fields that follow from others (`SEM`: all but chi where a cell is a
        fluid), grids larger than the device (``window``), and teams whose devices cannot reach the first.

        All steps so far are in it, whatever the stream of those who read it. Writing to it does not change
        the simulation: `set` does.

        Examples
        --------
        >>> import numpy as np, unda
        >>> sim = unda.FD(unda.Grid((5, 4, 3), 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
        >>> np.from_dlpack(sim.device_array("p")).shape  # or torch.from_dlpack
        (5, 4, 3)
        """
        from ..io.device_array import device_array

        return device_array(self, field, flag("raw", raw))

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
