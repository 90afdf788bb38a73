"""Receivers: traces of fields at points, as NumPy arrays.

They outlive their simulation and pickle without it. Not here: recording (csrc/solver/receiver.c), what other
packages take, pictures (receiver_output.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from .._check import choice, field_names
from .._units import plain
from ..errors import ArgumentError, InternalError
from ..problem.medium import group_of
from .expected import expected, wider_fields
from .integral import Integral
from .receiver_output import ReceiverOutput


class NoSuchPoint(ArgumentError, IndexError):
    """Receivers have no such point."""


class Receivers(ReceiverOutput):
    """Traces recorded by a simulation; made by ``sim.add_receivers``.

    ``rec["p"]`` are the traces of a field; ``rec[3]``, ``rec[:10]`` and ``rec[[0, 5]]`` receivers of these
    points; ``len(rec)`` is their number, ``for one in rec`` goes through them.

    Attributes
    ----------
    points : ndarray, shape (num_point, 3)
        Their positions [m].
    fields : tuple of str
        Recorded fields, or quantities derived from them (divergence, ..).
    units : dict of str to str
        Unit of each field.
    every : int
        Steps between samples.
    name : str or None
        As given.
    side : None, str or list
        As given: directions as lists.
    fibre : dict or None
        Path, gauge and spacing of `add_fibre`.
    config : dict
        Configuration of the simulation.

    See Also
    --------
    load_receivers : what `save` has written.
    exact : solutions for `misfit`.

    Examples
    --------
    >>> import unda
    >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
    >>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
    >>> sim.set(p=1.0)
    >>> rec = sim.add_receivers([(0.4, 0.5, 0.6)], fields=["p"])
    >>> sim.run(steps=4)
    >>> rec["p"].shape, len(rec.t)
    ((1, 5), 5)
    """

    _otherwise = "sim.add_receivers(...) adds others"

    def __init__(
        self,
        points: np.ndarray,
        fields: tuple[str, ...],
        *,
        units: dict[str, str],
        every: int,
        dt: float,
        dtype: np.dtype,
        config: dict[str, Any],
        name: str | None = None,
        lags: Mapping[str, float] | None = None,
        side: Any = None,
        integral: Integral | None = None,
        fibre: Mapping[str, Any] | None = None,
    ) -> None:
        self._integral = integral
        self.fibre = None if fibre is None else dict(fibre)
        self.points = points
        self.fields = fields
        self.units = {field: units[field] for field in fields}
        self.every = every
        self.name = name
        self.side = side if side is None or isinstance(side, str) else np.asarray(side, np.float64).tolist()
        self.config = config
        self._dt = dt
        self._lags = {field: lag for field, lag in (lags or {}).items() if field in fields}
        self._dtype = dtype
        self._bind: Callable[[Any], Any] | None = None
        self.clear(0.0, 0)
        self._fix()

    def _advice(self, name: str) -> str | None:
        return None if name == "name" else super()._advice(name)

    def clear(self, t0: float, step: int) -> None:
        """Discard all samples; the next one belongs to time t0 + step dt."""
        self._parts: dict[int, np.ndarray] = {}  # by the number of their first sample; at first none
        self._t0, self._step = t0, step
        if self._integral is not None:
            self._integral.begin(step)

    def _elsewhere(self, points: np.ndarray, side: Any, name: str | None = None) -> Receivers:
        """Return receivers at other points that have no samples yet and are like these in all else."""
        made = Receivers(
            points, self.fields, units=self.units, every=self.every, dt=self._dt, dtype=self._dtype,
            config=self.config, name=self.name if name is None else name, lags=self._lags, side=side,
            integral=None if self._integral is None else self._integral.again(), fibre=self.fibre,
        )  # fmt: skip
        made._bind = self._bind
        return made

    def _as_recorded(self, name: str) -> Receivers:
        """Return receivers with the samples so far, which later ones do not change."""
        made = self._elsewhere(self.points, self.side, name)
        made.clear(self._t0, self._step)
        made.put(0, self._all())
        return made

    def put(self, first: int, samples: np.ndarray) -> None:
        """Put samples (num_sample, num_point, num_field) at their place; first: the number of the first.

        Samples that are there may come again, as they do where a handler of a signal came between.
        """
        if first > self.num_sample:
            raise InternalError(f"{self!r} lacks samples {self.num_sample} to {first - 1}")
        if first + len(samples) > self.num_sample:
            self._parts[first] = samples

    def _all(self) -> np.ndarray:
        parts = dict(self._parts)
        if len(parts) == 1:
            return parts[0]
        whole = np.empty((_end(parts), len(self.points), len(self.fields)), self._dtype)
        for first, part in parts.items():
            whole[first : first + len(part)] = part
        if parts:
            self._parts = {0: whole}
        return whole

    @property
    def num_sample(self) -> int:
        """Samples so far."""
        return _end(self._parts)

    @property
    def _pace(self) -> int:
        """Steps between samples of the library: 1 where something is integrated."""
        return self.every if self._integral is None else 1

    @property
    def _next(self) -> int:
        """The step of the sample that comes next."""
        return self._step + self.every * self.num_sample

    @property
    def t(self) -> np.ndarray:
        """Times of the samples (num_sample,) [s]."""
        return self._t0 + (self._step + self.every * np.arange(self.num_sample)) * self._dt

    def times(self, name: str) -> np.ndarray:
        """Return the times at which a field was recorded, of staggered grids t - dt/2 for v and H.

        Parameters
        ----------
        name : str
            One of `fields`.

        Returns
        -------
        ndarray, shape (num_sample,)
            [s].

        Raises
        ------
        ArgumentError
            If the field was not recorded.
        """
        self._index(name)
        return self.t + self._lags.get(name, 0.0)

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.fields:
            raise ArgumentError(f"field {name!r} was not recorded; there are {list(self.fields)}")
        return self.fields.index(name)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    def __iter__(self) -> Iterator[Receivers]:
        """Each point, as receivers of one."""
        return (self[i] for i in range(len(self)))

    def __contains__(self, name: object) -> bool:
        """Whether a field was recorded."""
        return isinstance(name, str) and name in self.fields

    def __array__(self, *given: Any, **options: Any) -> np.ndarray:
        raise TypeError(f"{self!r} is no array; those of its fields are, such as rec[{self.fields[0]!r}]")

    @overload
    def __getitem__(self, which: str) -> np.ndarray: ...

    @overload
    def __getitem__(self, which: Any) -> Receivers: ...

    def __getitem__(self, which: Any) -> Any:
        """Traces of a field (num_point, num_sample); of a number, slice or index array the receivers there.

        These have the samples so far, and record no others.
        """
        if not isinstance(which, str):
            return self._some(which)
        return np.ascontiguousarray(self._all()[:, :, self._index(which)].T)

    def _some(self, which: Any) -> Receivers:
        try:
            rows = np.atleast_1d(np.arange(len(self))[which])
        except (IndexError, ValueError, TypeError, OverflowError):
            rows = np.empty((0, 0))
        if rows.ndim != 1:
            raise NoSuchPoint(
                f"receivers[{which!r}]: there are {len(self)} points; expected a number, a slice or a list "
                f"of numbers, or the name of a field, one of {list(self.fields)}"
            )
        side: Any = self.side
        if np.ndim(side) == 2:
            side = [side[i] for i in rows]
        some = self._elsewhere(self.points[rows], side)
        some.clear(self._t0, self._step)
        some.put(0, self._all()[:, rows])
        return some

    def spectrum(self, name: str, frequency: ArrayLike) -> np.ndarray:
        """Return the Fourier transform of the traces of a field, integral of q exp(+i omega t) dt.

        The trapezoidal rule over all samples: as accurate as the run for traces that begin and end at zero
        and have nothing above the Nyquist frequency.

        Parameters
        ----------
        name : str
            What was recorded.
        frequency : float or array_like, shape (num_frequency,)
            omega over 2 pi [Hz].

        Returns
        -------
        ndarray of complex, shape (num_point,) or (num_point, num_frequency)
            In the unit of the field times s.

        Raises
        ------
        ArgumentError
            If the field was not recorded, there are less than two samples, or a frequency is not finite or
            above the Nyquist frequency of the samples.

        Examples
        --------
        >>> import unda
        >>> mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
        >>> sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2)
        >>> sim.set(p=1.0)
        >>> rec = sim.add_receivers([(0.4, 0.5, 0.6)], fields=["p"])
        >>> sim.run(until=1.0)
        >>> rec.spectrum("p", [0.5, 1.0]).shape
        (1, 2)
        """
        column = self._index(name)
        f = np.asarray(plain("frequency", frequency, "Hz"), dtype=np.float64)
        if f.ndim > 1:
            raise ArgumentError(f"frequency has shape {f.shape}; expected a number or (num_frequency,)")
        if self.num_sample < 2:
            raise ArgumentError(f"there are {self.num_sample} samples; expected at least 2")
        dt = self.every * self._dt
        highest = 0.5 / dt
        if not np.all(np.abs(f) <= highest):
            raise ArgumentError(
                f"frequency is {frequency!r}; expected at most {highest:.6g} Hz, half a sample rate"
            )
        weight = np.full(self.num_sample, dt)
        weight[[0, -1]] *= 0.5
        phase = weight[:, None] * np.exp(2j * np.pi * np.outer(self.times(name), np.atleast_1d(f)))
        made = self._all()[:, :, column].T.astype(np.float64) @ phase
        return made if f.ndim else made[:, 0]

    def misfit(
        self, other: Any, *, fields: tuple[str, ...] | None = None, relative_to: str = "trace"
    ) -> np.ndarray:
        """Return the relative L2 error of each trace.

        Parameters
        ----------
        other : exact solution or Receivers
            The reference. Other receivers must have the same points and times. Exact
            solutions have no derivatives: no divergence, no curl. Displacements, and the strain of a fibre,
            are compared with integrals of the exact velocity from the first sample on.
        fields : sequence of str, optional
            All recorded ones if omitted.
        relative_to : {"trace", "strongest"}
            What errors are divided by: the norm at the same point, or at the point where it is largest.

        Returns
        -------
        ndarray, shape (num_point,)
            ``sqrt(sum (q - q_other)^2 / sum |Q_other|^2)``, the worst over the fields. Q is the vector or
            tensor that q is a component of (v; stress; E; H; curl): one that vanishes by symmetry is measured
            by the others, recorded or not. Of other receivers those count that they recorded. Where all of
            Q_other is nothing but rounding, as p on a nodal plane, this is inf or large and means nothing:
            with ``relative_to="strongest"`` the sum of squares of Q_other is the largest of all points.

        Raises
        ------
        ArgumentError
            If points, times or fields differ, or `relative_to` is another word.

        Examples
        --------
        >>> rec.misfit(unda.exact.point_source(medium, source))  # doctest: +SKIP
        array([0.0031])
        """
        fields = field_names(fields, self.fields)
        choice("relative_to", relative_to, ["trace", "strongest"])
        right = self._expected(other, fields)
        worst = np.zeros(len(self.points))
        square = {field: (trace**2).sum(axis=1) for field, trace in right.items()}
        for field in fields:
            found = self[field].astype(np.float64)
            norm = np.sqrt(sum(square[one] for one in group_of(field) if one in square))
            if relative_to == "strongest":
                norm = norm.max(initial=0.0)
            error = np.sqrt(((found - right[field]) ** 2).sum(axis=1))
            with np.errstate(divide="ignore", invalid="ignore"):
                worst = np.maximum(worst, np.where(error == 0, 0.0, error / norm))
        return worst

    def _expected(self, other: Any, fields: tuple[str, ...]) -> dict[str, np.ndarray]:
        """Return what these fields should be, and the other fields of their groups."""
        if isinstance(other, Receivers):
            size = np.abs(self.points).max(initial=0.0)  # differences of rounding only
            if other.points.shape != self.points.shape or not np.allclose(
                other.points, self.points, rtol=0, atol=1e-12 * size
            ):
                raise ArgumentError("the receivers stand at other points")
            if len(other.t) != len(self.t) or not np.allclose(
                other.t, self.t, rtol=1e-12, atol=1e-6 * self.every * self._dt
            ):
                raise ArgumentError("the receivers have other sample times")
            if any(field not in other.fields for field in fields):
                raise ArgumentError(f"the receivers recorded {list(other.fields)}, expected {list(fields)}")
            return {field: other[field].astype(np.float64) for field in wider_fields(fields, other.fields)}
        if not callable(other):
            raise ArgumentError(f"expected an exact solution or receivers, found {other!r}")
        if self._bind is not None and hasattr(other, "bind"):
            other = self._bind(other)
        return expected(self, other, fields)

    def save(self, path: Any) -> None:
        """Write points, samples, times and configuration to an HDF5 file for `unda.load_receivers`.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        FileError
            If it cannot be written; a file of that name is then as it was.
        """
        from ..io.traces import save_receivers

        save_receivers(self, path)

    def __repr__(self) -> str:
        return f"Receivers({len(self.points)} points, fields {list(self.fields)}, {self.num_sample} samples)"

    def _repr_html_(self) -> str:
        from ..io.html import receivers

        return receivers(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bind": None}


def _end(parts: dict[int, np.ndarray]) -> int:
    """Return the number of samples in parts; they are in order, except for parts that came twice."""
    last = next(reversed(parts), 0)
    return max(len(parts.get(0, ())), last + len(parts.get(last, ())))
