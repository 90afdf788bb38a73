"""Fibres: strain along a line, averaged over a gauge length, as distributed acoustic sensing records it.

The mean over the gauge of t_i t_j du_i/dx_j is, since t_j d/dx_j is the derivative along the fibre, the sum
over the straight pieces of the gauge of t . (u(end) - u(begin)) / L: exact, with no derivative taken.

Not here: point receivers (receiver.py), integrals over time (integral.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from .._check import field_names, number
from .._core import as_array
from ..errors import ArgumentError
from .channels import Channels

NAMES = ("strain", "strain_rate")
UNITS = {"strain": "1", "strain_rate": "1/s"}
_AXES = ("x", "y", "z")


class Fibre:
    """Where a fibre is sampled.

    Parameters
    ----------
    path : array_like, shape (num_corner, 3)
        Its corners [m], in order.
    gauge : float
        Gauge length [m].
    spacing : float
        From channel to channel along the fibre [m].

    Attributes
    ----------
    points : ndarray, shape (num_channel, 3)
        Middles of the gauges.
    ends : ndarray, shape (num_piece, 2, 3)
        Begins and ends of the straight pieces of all gauges.
    first : ndarray of int, shape (num_channel,)
        The first piece of each channel.
    tangents : ndarray, shape (num_piece, 3)
        Directions of the pieces, over the gauge length [1/m].
    """

    def __init__(self, path: Any, gauge: float, spacing: float) -> None:
        corners = as_array(path, np.float64, (None, 3), "path", finite=True, unit="m")
        steps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        if len(corners) < 2 or not (steps > 0.0).all():
            raise ArgumentError(f"path has {len(corners)} corners; expected two or more, all apart")
        length = number("gauge", gauge, "m", positive=True)
        every = number("spacing", spacing, "m", positive=True)
        at = np.concatenate([[0.0], np.cumsum(steps)])  # of corners, along the fibre
        if length > at[-1] * (1.0 + 1e-12):
            raise ArgumentError(f"gauge is {gauge} m; expected at most {at[-1]:g} m, the length of the path")
        num = 1 + int(np.floor((at[-1] - length) / every * (1.0 + 1e-12) + 1e-12))
        begin = np.minimum(every * np.arange(num), at[-1] - length)
        self.points = self._at(corners, at, begin + 0.5 * length)
        low, high, owner = [], [], []
        for i, (a, b) in enumerate(pairwise(at)):  # the piece of each gauge in each leg
            start, end = np.maximum(begin, a), np.minimum(begin + length, b)
            some = np.flatnonzero(end - start > 1e-12 * length)
            low.append(start[some])
            high.append(end[some])
            owner.append(np.column_stack([some, np.full(len(some), i)]))
        channel, leg = np.concatenate(owner).T
        order = np.lexsort((leg, channel))
        channel, leg = channel[order], leg[order]
        places = [self._at(corners, at, np.concatenate(one)[order]) for one in (low, high)]
        self.ends = np.stack(places, axis=1)
        self.first = np.searchsorted(channel, np.arange(num))
        self.tangents = (np.diff(corners, axis=0) / steps[:, None])[leg] / length
        self.given = {"path": corners.tolist(), "gauge": length, "spacing": every}

    @staticmethod
    def _at(corners: np.ndarray, at: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Return the points at lengths s along the fibre."""
        return np.column_stack([np.interp(s, at, corners[:, i]) for i in range(3)])

    def along(self, vector: np.ndarray) -> np.ndarray:
        """Return (.., num_channel) from a vector at begins and ends of pieces, (.., 2 num_piece, 3)."""
        pairs = vector.reshape(*vector.shape[:-2], len(self.ends), 2, 3).astype(np.float64)
        longer = np.einsum("...pi,pi->...p", pairs[..., 1, :] - pairs[..., 0, :], self.tangents)
        return np.add.reduceat(longer, self.first, axis=-1)


def length_along(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return how far along a path with these corners points (n, 3) lie, of its nearest leg."""
    legs = np.diff(corners, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    to = points[:, None] - corners[:-1]
    part = np.clip(np.einsum("pli,li->pl", to, legs) / lengths**2, 0.0, 1.0)
    leg = np.linalg.norm(to - part[..., None] * legs, axis=2).argmin(axis=1)
    begins = np.concatenate([[0.0], np.cumsum(lengths)])
    return np.asarray(begins[leg] + part[np.arange(len(points)), leg] * lengths[leg])


class FibreChannels(Channels):
    """What a fibre takes: v at the ends of its pieces, and u where the library has it or integrates it.

    Parameters
    ----------
    fibre : Fibre
    names : iterable of str or None
        "strain", "strain_rate" or both, which None means.
    make : callable
        Gives the channels of names of fields at the ends of pieces.
    has_displacement : bool
        Whether the library has u; else the rate is integrated.
    """

    def __init__(self, fibre: Fibre, names: Iterable[str] | None, make: Any, has_displacement: bool) -> None:
        self.names = field_names(NAMES if names is None else names, NAMES)
        self.fibre = fibre
        kinds = {"strain": "u" if has_displacement else "v", "strain_rate": "v"}
        self._kinds = [kinds[name] for name in self.names]
        self._fields = dict.fromkeys(self._kinds)
        self._inner: Channels = make([kind + axis for kind in self._fields for axis in _AXES])
        self.numbers, self.members = self._inner.numbers, self._inner.members
        self.num_integral = self._inner.num_integral
        self.integrated = tuple(name for name in self.names if name == "strain" and not has_displacement)

    def combine(self, samples: np.ndarray) -> np.ndarray:
        """Return (.., channel, names) from what the library gave, (.., end of piece, numbers)."""
        values = self._inner.combine(samples)
        made = {kind: self.fibre.along(values[..., 3 * i : 3 * i + 3]) for i, kind in enumerate(self._fields)}
        return np.stack([made[kind] for kind in self._kinds], axis=-1).astype(samples.dtype)

    def num_place(self, points: np.ndarray) -> int:
        """Return the number of ends."""
        return 2 * len(self.fibre.ends)

    def lags(self, lags: Mapping[str, float]) -> dict[str, float]:
        """Return that of the rate, which is v's."""
        return {"strain_rate": lags["vx"]} if "vx" in lags else {}
