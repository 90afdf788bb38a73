"""What other packages get of receivers: data sets, seismological files, pictures.

Not here: the traces (receiver.py), how files are written and pictures drawn (unda.io).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from .._fixed import Fixed


class ReceiverOutput(Fixed):
    """The part of `Receivers` that hands traces on."""

    def to_xarray(self, fields: str | Sequence[str] | None = None) -> Any:
        """Return the traces as a dataset of xarray; needs xarray.

        Parameters
        ----------
        fields : str or sequence of str, optional
            All that were recorded if omitted.

        Returns
        -------
        xarray.Dataset
            A variable (receiver, time) for each field, with its unit in ``attrs["units"]``; of v and H on
            staggered grids ``attrs["time_offset"]`` [s] is to be added to their times. Coordinates: receiver
            (its number), time [s], x, y, z of the receivers [m]. ``attrs``: config as JSON, every, name. The
            samples are those of ``rec[field]``, bit for bit.

        Examples
        --------
        >>> rec.to_xarray().p.sel(time=0.3, method="nearest")  # doctest: +SKIP
        """
        from ..io.labelled import traces

        return traces(self, fields)

    def to_obspy(
        self,
        fields: str | Sequence[str] | None = None,
        *,
        starttime: Any = None,
        network: str = "XX",
        station: str = "",
        channels: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the traces as a stream of ObsPy; needs obspy.

        Parameters
        ----------
        fields : str or sequence of str, optional
            All that were recorded if omitted.
        starttime : obspy.UTCDateTime or what makes one, optional
            When t = 0 is; 1970-01-01 if omitted.
        network : str
            Code of the network.
        station : str
            How codes of stations begin; the receivers' numbers follow, five letters in all.
        channels : dict of str to str, optional
            Codes of channels by field, such as ``{"vz": "BXZ"}``. By default VZ of vz, P, SXX, ...

        Returns
        -------
        obspy.Stream
            A trace for each field and point; ``trace.stats.unda`` has field, unit, x, y, z [m].

        Raises
        ------
        ArgumentError
            If two fields have one code, or a code is of a field that was not recorded.

        Examples
        --------
        >>> rec.to_obspy("vz").filter("lowpass", freq=5.0).plot()  # doctest: +SKIP
        """
        from ..io.seismic import to_obspy

        return to_obspy(self, fields, starttime, network, station, channels)

    def write_miniseed(
        self,
        path: Any,
        fields: str | Sequence[str] | None = None,
        *,
        starttime: Any = None,
        network: str = "XX",
        station: str = "",
        channels: Mapping[str, str] | None = None,
    ) -> None:
        """Write a miniSEED file; needs obspy.

        Samples keep their precision and their bits. The format has times to a microsecond, and sample rates
        as float32, to 6e-8 of themselves; it has no positions and no units.

        Parameters
        ----------
        path : str or Path
        fields, starttime, network, station, channels
            As for `to_obspy`.

        Raises
        ------
        ArgumentError
            If the samples are 2 µs apart or less; if a network's code has more than two letters or that of
            a channel more than three.
        FileError
            If it cannot be written; a file of that name is then as it was.

        Examples
        --------
        >>> rec.write_miniseed("shot.mseed", "vz")  # doctest: +SKIP
        """
        from ..io.seismic import write_miniseed

        write_miniseed(
            self, path, fields=fields, starttime=starttime, network=network, station=station,
            channels=channels,
        )  # fmt: skip

    def write_segy(
        self, path: Any, field: str | None = None, *, source: Any = None, dt: float | None = None
    ) -> None:
        """Write the traces of a field to a SEG-Y file (revision 1, IEEE float32); needs segyio.

        Parameters
        ----------
        path : str or Path
        field : str, optional
            What was recorded; may be omitted if that is one.
        source : Source or array_like, shape (3,), optional
            The shot, for its position [m], the offsets and midpoints; of an `Array` a place of your choice.
        dt : float, optional
            Write samples at multiples of dt [s], interpolated by splines of degree 5: a wave of n samples a
            period is off by at most 4/pi (2/n)^6, 8e-5 for n = 10. SEG-Y has sample intervals of whole
            microseconds and starts of whole milliseconds; without `dt` others are refused.

        Raises
        ------
        ArgumentError
            If SEG-Y cannot hold sample interval, start, number of samples (32767) or positions.
        FileError
            If it cannot be written; a file of that name is then as it was.

        Notes
        -----
        float32 samples keep their bits. Positions [m]: receivers in bytes 81 and 85, their z as elevation in
        41; the source in 73, 77 and 45; midpoints in 181 and 185 (receivers, without a source). They are
        integers, with the scalar in 71 (69 of elevations) that makes them exact, or the finest that there is,
        1e-4 m up to 214 km. The offset in byte 37 is rounded to metres.

        Examples
        --------
        >>> rec.write_segy("shot.sgy", "p", source=source, dt=0.002)  # doctest: +SKIP
        """
        from ..io.seismic import write_segy

        write_segy(self, path, field, source, dt)

    def plot(
        self,
        kind: Literal["traces", "wiggle", "image"] = "traces",
        field: str | Sequence[str] | None = None,
        *,
        gain: float | Literal["trace"] | Callable[[np.ndarray], Any] = 1.0,
        ax: Any = None,
        **matplotlib: Any,
    ) -> Any:
        """Draw the traces; needs matplotlib.

        Parameters
        ----------
        kind : {"traces", "wiggle", "image"}
            Lines over time; traces side by side where their points are, time downwards, filled where they are
            positive; the same as colours. Places are the coordinate that varies, or the distance from the
            first point along a line, or numbers.
        field : str or sequence of str, optional
            What was recorded; "traces": by default all of it. The others draw one.
        gain : float, "trace" or callable
            A factor: at 1 the largest wiggle reaches its neighbour, and colours end as those of
            `DG.movie` (three quarters of the sum of abs(values) lie below). "trace": each trace is divided by
            its largest value. A function of time [s], such as ``lambda t: t**2``: a factor of each sample.
        ax : matplotlib axes, optional
        **matplotlib
            For ``ax.plot`` (traces, wiggle) or ``ax.pcolorfast`` (image): color, linewidth, cmap, vmax, ...

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ArgumentError
            Unknown kinds or fields, no samples, a gain that is no positive number.

        Examples
        --------
        >>> rec.plot("wiggle", "vz", gain=2.0, color="navy")  # doctest: +SKIP
        >>> rec.plot(kind="image", field="p", gain=lambda t: t)  # doctest: +SKIP
        """
        from ..io.trace_plots import plot

        return plot(self, kind, field, gain, ax, matplotlib)

    def spectrogram(
        self,
        field: str | None = None,
        point: int = 0,
        *,
        width: float | None = None,
        ax: Any = None,
        **matplotlib: Any,
    ) -> Any:
        """Draw which frequencies a trace has when; needs matplotlib.

        The one-sided power spectral density of windows (Hann) that overlap by 15/16, in decibels: over a
        window its integral over frequencies is the mean square of the trace there.

        Parameters
        ----------
        field : str, optional
            What was recorded; may be omitted if that is one.
        point : int
            Number of the receiver.
        width : float, optional
            Duration of a window [s]: frequencies are told apart from about 2 / width on. An eighth of the
            trace if omitted.
        ax : matplotlib axes, optional
        **matplotlib
            For ``ax.pcolorfast``: cmap, vmin and vmax [dB], ...

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ArgumentError
            If the field was not recorded, or there are less than 16 samples, or 8 in a window.

        Examples
        --------
        >>> rec.spectrogram("vz", 3, width=0.5).set_ylim(0, 20)  # doctest: +SKIP
        """
        from ..io.trace_plots import spectrogram

        return spectrogram(self, field, point, width, ax, matplotlib)
