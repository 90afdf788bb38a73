"""The surface of a total field of the scalar scheme in float32, to the last bit.

p' = p + (.. + (p - p_old)) keeps what was rounded: a correction after the step, rounded once more, grows to
some 1e-6 of the wave while this crosses the box. So what is added, one after the other, is

    - fl(step of the incident wave without what is beyond the surface),    + incident',

the second one at places inside alone, with each rounding of cuda/physics/scalar.h: of a wave alone the
first makes 0, and the steps have the bits of the line inside, and of 0 outside. Places with as many taps on
the other side along each axis share their amplitude. Not here: the surface otherwise (total_field.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .incident_line import IncidentLine


class Folded(NamedTuple):
    """Weights of a step as the solver has them, see cuda/physics/scalar.h; speed None: folded into them."""

    weight: np.ndarray  # [axis][m], 0: the centre
    speed: np.float32 | None


class _Sort(NamedTuple):
    """Places with the same number of taps inside, at each distance, along each axis across."""

    inside: bool
    taps: tuple[tuple[int, ...] | None, ...]  # of each axis; None: of the axis of the wave
    along: bool  # taps along the wave count


def _fma(a: Any, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a b + c rounded once (twice, in one of 2^29)."""
    return (np.float64(a) * b.astype(np.float64) + c).astype(np.float32)


def _flushed(values: np.ndarray) -> np.ndarray:
    """Return subnormal numbers as 0, as CPUs have them: parallel.h."""
    return np.where(np.abs(values) < np.finfo(np.float32).tiny, np.float32(0), values)


def _kept(values: np.ndarray) -> np.ndarray:
    return values


class RoundedSurface:
    """What is added, and the nodes that take it.

    Parameters
    ----------
    line : IncidentLine
    weights : Folded
    inside : sequence of ndarray of bool
        Along each axis, whether nodes are inside.
    ends : sequence of bool
        Whether the surface has parts normal to each axis.
    along : int
        The axis of the wave.

    Attributes
    ----------
    line
        As given.
    width, numbers
        As of an `IncidentLine`.
    terms : tuple of ndarray
        Number of the amplitude, and node [nx][ny][nz].
    """

    def __init__(
        self, line: IncidentLine, weights: Folded, inside: Sequence[np.ndarray], ends: Sequence[bool],
        along: int,
    ) -> None:  # fmt: skip
        self.line, self._weights, self._along = line, weights, along
        half = weights.weight.shape[1] - 1
        self._normal = _flushed if line.device == "cpu" else _kept
        at = np.arange(line.low, line.low + line.num)
        self._inside = _shifted(inside[along], at)
        sorts: dict[_Sort, list[tuple[np.ndarray, ...]]] = {}
        keys = [_counts(one, half, end) for one, end in zip(inside, ends, strict=True)]
        across = [a for a in range(3) if a != along]
        whole = (2,) * half
        for outer in (None, *range(3)):  # the axis along which places are outside
            if outer is not None and not ends[outer]:
                continue
            choices = [
                {key: [i for i in places if inside[a][i] != (a == outer)] for key, places in keys[a].items()}
                for a in range(3)
            ]
            for one in choices[across[0]]:
                for other in choices[across[1]]:
                    for tap in choices[along]:
                        own = {across[0]: one, across[1]: other, along: tap}
                        near = any(own[outer]) if outer is not None else any(k != whole for k in own.values())
                        places = [np.array(choices[a][own[a]], np.int64) for a in range(3)]
                        if not near or not all(map(len, places)):
                            continue
                        taps = tuple(
                            None if a == along else own[a] if outer in (None, a) else (0,) * half
                            for a in range(3)
                        )
                        sort = _Sort(outer is None, taps, outer in (None, along))
                        sorts.setdefault(sort, []).append(tuple(places))
        self._sorts = list(sorts)
        number, node = [], []
        for i, (sort, found) in enumerate(sorts.items()):
            for those in found:
                grids = np.meshgrid(*those, indexing="ij")
                for which in [i, *[len(sorts)] * sort.inside]:
                    number.append((grids[along] - line.low + which * line.num).ravel())
                    node.append(np.ravel_multi_index(grids, [len(one) for one in inside]).ravel())
        self._used, numbers = np.unique(np.concatenate(number), return_inverse=True)
        self.width = len(self._used)
        self.numbers = np.arange(self.width)
        self.terms = numbers, np.concatenate(node)

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Return the amplitudes (num_time, width) of steps from these consecutive times on."""
        (samples,) = self.line.samples(times)
        before, now, after = samples[:-2], samples[1:-1], samples[2:]
        half, normal = self._weights.weight.shape[1] - 1, self._normal
        pad = np.zeros((len(now), half), np.float32)
        known = np.concatenate([pad, np.where(self._inside, now, np.float32(0)), pad], axis=1)
        num, along = self.line.num, []
        for m in range(1, half + 1):
            along.append(normal(known[:, half - m : half - m + num] + known[:, half + m : half + m + num]))
        found = []
        for sort in self._sorts:
            zero = np.zeros_like(now)
            center = now if sort.inside else zero
            old = before if sort.inside else zero
            sums, change = zero, normal(center - old)
            for weight, taps in zip(self._weights.weight, sort.taps, strict=True):
                if not weight[1]:
                    continue  # along an axis of one node there is no difference
                pairs = along if sort.along else [zero] * half
                if taps:
                    pairs = [np.float32(tap) * now for tap in taps]
                sums = normal(_fma(weight[1], normal(_fma(-2, center, pairs[0])), sums))
                if half > 1:
                    sums = normal(_fma(weight[0], center, sums))
                for m in range(2, half + 1):
                    sums = normal(_fma(weight[m], pairs[m - 1], sums))
            speed = self._weights.speed
            sums = normal(sums + change if speed is None else _fma(speed, sums, change))
            found.append(-normal(center + sums))
        found.append(after)
        return np.concatenate(found, axis=1)[:, self._used].astype(np.float64)


def _shifted(inside: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return which places are inside, beyond the grid none."""
    found = np.zeros(len(at), bool)
    there = (at >= 0) & (at < len(inside))
    found[there] = inside[at[there]]
    return found


def _counts(inside: np.ndarray, half: int, end: bool) -> dict[tuple[int, ...], list[int]]:
    """Return the nodes of an axis by how many of both taps at each distance are inside."""
    at = np.arange(len(inside))
    if not end:
        return {(2,) * half: at.tolist()}
    taps = [_shifted(inside, at - m).astype(int) + _shifted(inside, at + m) for m in range(1, half + 1)]
    found: dict[tuple[int, ...], list[int]] = {}
    for i, key in enumerate(zip(*(one.tolist() for one in taps), strict=True)):
        if inside[i] or any(key):
            found.setdefault(key, []).append(i)
    return found
