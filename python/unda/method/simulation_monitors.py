"""Monitors of a simulation: added, listed, cleared.

Not here: what they hold (monitor.py), where they are (monitor_region.py).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._core import lib
from ._run_control import alone
from .monitor import Monitor, make_monitor
from .simulation_base import SimulationBase


class SimulationMonitors(SimulationBase):
    """The part of a simulation that has monitors."""

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
            One of ``sim.fields``, or made of such at each node: "pressure" of elastic media, "speed", the
            length of v, "e_magnitude", "h_magnitude" (of staggered grids only "pressure": the others'
            components stand half a cell apart). `SEM`: "p" of acoustic media, "pressure" of fluids beside
            solids.
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
            Of other derived fields; without `every` where no source tells its highest frequency.

        Notes
        -----
        Kernel "diamond" and batches of launches of small problems end at each sample, and are faster with a
        larger `every`; ``repr`` says what share of a step's bytes a monitor moves (docs/howto/monitors.md).

        Examples
        --------
        >>> peak = sim.add_monitor("p", "max")  # doctest: +SKIP
        >>> sim.run(until=1.0)  # doctest: +SKIP
        >>> peak.values.max()  # doctest: +SKIP
        """
        monitor = make_monitor(self, field, kind, every, frequencies, region)
        monitor._begin()
        return monitor

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
