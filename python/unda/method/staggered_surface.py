"""The surface of a total field of the staggered schemes, to the last bit.

Near the surface a pass takes what stands on either side: total fields inside, scattered ones, 0 of a wave
alone, outside. What it makes of these, r, is read off the engine (pass_cases.py). Added one after the other,

    - r,    + the incident wave after the pass (inside alone),

leave the bits of the wave inside and 0 outside. Fields that the wave has take differences along it; those
that it has not, whose r is of one value at places side by side, take differences across, of which only the
signs count:

    e_m = inside(+m) - inside(-m),    h d/dx = sum_m D_m e_m f.

Not here: the wave (incident_line.py), the box (total_field.py).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .incident_line import IncidentLine, Scene, Terms
from .pass_cases import PassCases, SegmentCases

_Key = tuple[tuple[int, ...], ...]  # e of each axis across


def axis_between(scheme: Any, source: str, target: str) -> int | None:
    """Return the axis along which a field takes differences of another one; None: it takes none."""
    if scheme.lag(source) == scheme.lag(target):
        return None
    a, b = scheme.offset(source), scheme.offset(target)
    axes = [i for i in range(3) if a[i] != b[i]]
    return axes[0] if len(axes) == 1 else None


def _taps(half: int, shifted: bool) -> list[tuple[int, int]]:
    """Return the places after and before one, at each distance, whose difference it takes."""
    return [(m, 1 - m) if shifted else (m - 1, -m) for m in range(1, half + 1)]


def _at(inside: np.ndarray, place: np.ndarray, wraps: bool) -> np.ndarray:
    there = (place >= 0) & (place < len(inside))
    return inside[place % len(inside)] if wraps else there & inside[np.where(there, place, 0)]


def _signs(inside: np.ndarray, half: int, shifted: bool, wraps: bool) -> np.ndarray:
    """Return e_m of each place of an axis."""
    at = np.arange(len(inside))
    return np.array([
        _at(inside, at + after, wraps).astype(int) - _at(inside, at + before, wraps)
        for after, before in _taps(half, shifted)
    ]).T  # fmt: skip


class _Across(NamedTuple):
    """A field that the wave has not, and the fields of the wave that it takes."""

    name: str
    sources: tuple[str, ...]
    axes: tuple[int, ...]
    cases: PassCases
    at: list[np.ndarray]  # places of the profile, of each key
    share: dict[str, np.ndarray]  # of a source: 1 inside, 0 outside, on the profile


class StaggeredSurface:
    """What is added, and the nodes that take it.

    Parameters
    ----------
    line : IncidentLine
    scene : Scene
    scheme
        Of the simulation.
    names : tuple of str
        Its fields.
    shape : tuple of int
        Nodes of its grid.
    box
        Of the total field.
    along : int
        The axis of the wave.

    Attributes
    ----------
    line
        As given.
    width, numbers
        As of an `IncidentLine`.
    terms : tuple of ndarray
        Sources node by node as `unda_source` has them.
    """

    def __init__(
        self, line: IncidentLine, scene: Scene, scheme: Any, names: tuple[str, ...],
        shape: tuple[int, ...], box: Any, along: int,
    ) -> None:  # fmt: skip
        self.line, self._scene, self._scheme, self._along = line, scene, scheme, along
        self._half = scene.order // 2
        self._shape, self._box, self._names = shape, box, names
        self._found: list[tuple[np.ndarray, ...]] = []  # number, field, node, weight
        self._first = 0  # number of the next amplitude
        self._first_pass = PassCases(scene, {along: 2 * self._half + 2})
        self._second_pass = SegmentCases(scene, along)
        self._ends = {name: self._of_ends(name) for name in line.fields}
        self._across = [one for name in names if name not in line.fields for one in self._of_sides(name)]
        for name in line.fields:
            at = self._places(name, along)[line.low + self._ends[name]]
            self._add(name, self._ends[name][at], self._around(name), 1.0)
        self.width = self._first
        self.numbers = np.arange(self.width)
        number, field, node, weight = (np.concatenate([one[i] for one in self._found]) for i in range(4))
        order = np.lexsort((node, field, number))
        first = np.searchsorted(number[order], np.arange(self.width + 1))
        self.terms: Terms = first, field[order], node[order], weight[order]
        del self._found

    # ---- places ----

    def _places(self, name: str, axis: int) -> np.ndarray:
        """Return which places of a field are inside along an axis."""
        half = self._scheme.offset(name)[axis] > 0
        found: np.ndarray = self._box.inside(axis, half, np.arange(self._shape[axis]))
        return found

    def _around(self, name: str) -> list[np.ndarray]:
        """Return the places inside across the wave, for `_add`."""
        (b, c) = (a for a in range(3) if a != self._along)
        return list(np.nonzero(np.logical_and.outer(self._places(name, b), self._places(name, c))))

    def _add(self, name: str, along: np.ndarray, across: list[np.ndarray], weight: Any) -> None:
        """Add amplitudes for these places of the line, each at all places across."""
        number, place = np.meshgrid(np.arange(len(along)), np.arange(len(across[0])), indexing="ij")
        (b, c) = (a for a in range(3) if a != self._along)
        at = [number] * 3
        at[self._along], at[b], at[c] = self.line.low + along[number], across[0][place], across[1][place]
        node = np.ravel_multi_index(at, self._shape).ravel()
        field = np.full(node.size, self._names.index(name), np.int32)
        each = np.broadcast_to(weight, len(across[0]))[place].ravel().astype(float)
        self._found.append(((self._first + number).ravel(), field, node, each))
        self._first += len(along)

    def _of_ends(self, name: str) -> np.ndarray:
        """Return the places of the line whose differences along it cross the surface."""
        line, a, num = self.line, self._along, self._shape[self._along]
        source = next(s for s in line.fields if axis_between(self._scheme, s, name) == a)
        inside, taken = self._places(name, a), self._places(source, a)
        at = np.arange(num)
        near = np.zeros(num, bool)
        for pair in _taps(self._half, self._scheme.offset(name)[a] > 0):
            for tap in pair:
                near |= _at(taken, at + tap, False) != inside
        places: np.ndarray = np.flatnonzero(near) - line.low
        self._add(name, places, self._around(name), -1.0)
        return places

    def _of_sides(self, name: str) -> list[_Across]:
        """Return how a field takes the wave across its way; none if nothing ends there."""
        scheme, line, half, box = self._scheme, self.line, self._half, self._box
        between = {s: axis_between(scheme, s, name) for s in line.fields}
        sources = tuple(s for s, a in between.items() if a is not None)
        axes = tuple(sorted({a for a in between.values() if a is not None}))
        if not any(box.ends[a] for a in axes):
            return []
        small = {a: self._profile(a) for a in axes}
        inside = {a: self._places(name, a) for a in range(3)}
        (b, c) = (a for a in range(3) if a != self._along)
        taken = {a: self._places(next(s for s in sources if between[s] == a), a) for a in axes}
        real = self._keys(name, axes, {a: inside[a] for a in (b, c)}, taken, False)
        halves = {a: scheme.offset(name)[a] > 0 for a in axes}
        own = {a: self._small(a, small[a], halves[a]) for a in axes}
        other = {a: self._small(a, small[a], not halves[a]) for a in axes}
        known: dict[_Key, tuple[int, ...]] = {}
        for key, at in self._keys(name, axes, own, other, True).items():
            known[key] = tuple(int(one[0]) for one in at)
        zero: _Key = ((0,) * half,) * len(axes)
        done: dict[_Key, list[tuple[list[np.ndarray], float]]] = {}
        for key, at in real.items():
            minus: _Key = tuple(tuple(-e for e in one) for one in key)
            if key == zero:
                continue
            if minus in done or (key not in done and key not in known):
                done.setdefault(minus, []).append((at, -1.0))
            else:
                done.setdefault(key, []).append((at, 1.0))
        along = np.flatnonzero(inside[self._along]) - line.low
        for places in done.values():
            across = [np.concatenate([at[i] for at, _ in places]) for i in range(2)]
            weight = np.concatenate([np.full(len(at[0]), -sign) for at, sign in places])
            self._add(name, along, across, weight)
        at_keys = [np.array([known[key][i] for key in done], np.int64) for i in range(len(axes))]
        share = {}
        for s in sources:
            each = [self._small(a, small[a], scheme.offset(s)[a] > 0) for a in axes]
            share[s] = np.logical_and.reduce(np.meshgrid(*each, indexing="ij")).astype(self._scene.dtype)
        return [_Across(name, sources, axes, PassCases(self._scene, small), at_keys, share)]

    def _keys(
        self, name: str, axes: tuple[int, ...], inside: dict[int, np.ndarray],
        taken: dict[int, np.ndarray], wraps: bool,
    ) -> dict[_Key, list[np.ndarray]]:  # fmt: skip
        """Return places along the axes of `inside` by the signs of what a field takes there."""
        over = sorted(inside)
        signs = {}
        for a in axes:
            shifted = self._scheme.offset(name)[a] > 0
            signs[a] = _signs(taken[a], self._half, shifted, wraps or not self._box.ends[a])
        classes = []  # places of an axis that are alike
        for a in over:
            own: dict[Any, list[int]] = {}
            for i, here in enumerate(inside[a].tolist()):
                own.setdefault((here, tuple(signs[a][i].tolist()) if a in axes else ()), []).append(i)
            classes.append(own)
        places: dict[_Key, list[np.ndarray]] = {}
        for one in product(*classes):
            key = tuple(
                one[over.index(a)][1]
                if all(one[over.index(b)][0] for b in over if b != a) else (0,) * self._half
                for a in axes
            )  # fmt: skip
            if not any(map(any, key)) and not wraps:
                continue
            grids = np.meshgrid(*(own[k] for own, k in zip(classes, one, strict=True)), indexing="ij")
            part = [grid.ravel() for grid in grids]
            places[key] = (
                [np.r_[x, y] for x, y in zip(places[key], part, strict=True)] if key in places else part
            )
        return places

    def _profile(self, a: int) -> int:
        """Return the nodes of a small periodic grid with all that differences meet at two faces."""
        if not self._box.ends[a]:
            return 1 if self._scene.flat[a] else 2
        return min(self._box.high[a] - self._box.low[a] + 1, 2 * self._half + 2) + 2 * self._half + 2

    def _small(self, a: int, num: int, shifted: bool) -> np.ndarray:
        """Return which of its places are inside."""
        at = np.arange(num)
        if not self._box.ends[a]:
            return np.ones(num, bool)
        return (at > self._half) & (at < num - self._half - 1 - shifted)

    # ---- values ----

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Return the amplitudes (num_time, width) of steps from these consecutive times on."""
        line, scheme = self.line, self._scheme
        samples = dict(zip(line.fields, line.samples(times), strict=True))
        now = {name: values[1:-1] for name, values in samples.items()}
        after = {name: values[2:] for name, values in samples.items()}
        parts = self._values_at_ends(now, after)
        for one in self._across:
            taken = now if scheme.lag(one.name) else after
            at = np.flatnonzero(self._places(one.name, self._along)) - line.low
            state = {
                s: np.multiply.outer(one.share[s], taken[s][:, at].ravel()) for s in one.sources
            }  # fmt: skip
            made = one.cases(state, {one.name: one.at})[one.name].reshape(-1, len(times), len(at))
            parts += list(made)
        for name in line.fields:
            at = self._ends[name]
            parts.append(after[name][:, at[self._places(name, self._along)[line.low + at]]])
        return np.concatenate(parts, axis=1, dtype=np.float64)

    def _values_at_ends(self, now: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> list[np.ndarray]:
        line, scheme, half, a = self.line, self._scheme, self._half, self._along
        inside = {name: self._places(name, a)[line.low : line.low + line.num] for name in line.fields}
        found = {}
        for lag in {scheme.lag(name) for name in line.fields}:
            made = [name for name in line.fields if scheme.lag(name) == lag]
            at = self._ends[made[0]]
            kept = {name: (now[name] * inside[name])[:, at].ravel() for name in made}
            taken = {}
            for name in (one for one in line.fields if one not in made):
                values = np.pad((now if lag else after)[name] * inside[name], ((0, 0), (half, half)))
                taken[name] = np.array([values[:, at + shift].ravel() for shift in range(2 * half + 1)])
            values_of = self._by_first_pass if lag else self._second_pass
            for name, values in values_of(kept, taken).items():
                found[name] = values.reshape(-1, len(at))
        return [found[name] for name in line.fields]

    def _by_first_pass(
        self, kept: dict[str, np.ndarray], taken: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Return what `SegmentCases` do, of fields of the first pass, which takes others as they are."""
        half = self._half
        state = {name: np.pad(values, ((0, 1), (0, 0))) for name, values in taken.items()}
        for name, values in kept.items():
            state[name] = np.zeros((2 * half + 2, len(values)), values.dtype)
            state[name][half] = values
        at = [np.array([half])]
        return {name: one[0] for name, one in self._first_pass(state, dict.fromkeys(kept, at)).items()}
