"""The wave of a point source in full space, or between plane walls by images.

Not here: positions of the images (walls.py), the source itself (source.py), elastic waves
(elastic_point.py), dipoles (dipole.py).
Next: walls.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import Source
from ..problem.timefunction import TimeFunction
from .base import Array, ExactSolution, make_solution
from .walls import SIDES, SIGN, Axis, Corner, all_images, bounds_of, split_walls, wall_places


def point_source(medium: Medium, source: Source, *, walls: Any = None, bounds: Any = None) -> ExactSolution:
    """Return the wave that a point source makes in full space, or between plane walls.

    Acoustic, `VolumeInjection` of rate q, r the distance and u = t - r/c:
    p = rho q'(u)/(4 pi r), v_r = q'(u)/(4 pi c r) + q(u)/(4 pi r^2).
    A rigid wall adds an image with the same sign, a free one with the opposite sign; walls that
    meet add the images of images, parallel walls as many as reach the points in time.

    Elastic, `PointForce`, `MomentTensor` and `VolumeInjection`, full space only: near and far field (Aki
    & Richards 2002, 4.23 and 4.29).

    Maxwell, `CurrentDipole` of current times length f, direction d, r the unit vector from it, F the
    integral of f and c = 1/sqrt(eps mu), full space without conductivity only:
    4 pi H = (f'(u)/(c r) + f(u)/r^2) d x r,
    4 pi eps E = (F(u)/r^3 + f(u)/(c r^2)) (3 r (r.d) - d) + f'(u)/(c^2 r) (r (r.d) - d).

    Parameters
    ----------
    medium : Medium
        Homogeneous.
    source : Source
        Its f must be a time function (see `unda.sampled`), with a known beginning if walls are
        parallel, and with an integral for a dipole, with two in elastic media (`unda.sampled` has them).
    walls : dict, optional
        Kind of each wall, ``"rigid"`` or ``"free"``, by the names xmin, xmax, ymin, ymax, zmin,
        zmax; ``("free", 1000.0)`` gives its place [m] as well. Sides not named are open. Acoustic only.
    bounds : Mesh, Grid or (lower, upper), optional
        Takes the places of the walls from a mesh or from two corners [m]. `sim` and `rec.misfit`
        do so by themselves (`bind`).

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]; vx, .. [m/s], sxx, .. [Pa]; or ex, .. [V/m], hx, .. [A/m].
        Singular at the source.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or conducts, the source is of another physics or not between
        the walls, or there are walls in other media than acoustic ones;
        when called: if a wall has no place yet, or a point is the source's or behind a wall.

    References
    ----------
    Pierce (1989), Acoustics, section 4.3; Allen & Berkley (1979) for the images; Aki & Richards
    (2002), Quantitative Seismology, chapter 4; Jackson (1999), Classical Electrodynamics, section 9.2,
    for the dipole.

    Examples
    --------
    >>> import unda
    >>> water = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> source = unda.VolumeInjection((0, 0, -100), unda.ricker(10.0))
    >>> sea = unda.exact.point_source(water, source, walls={"zmax": ("free", 0.0)})
    >>> float(sea(50.0, 0.0, 0.0, 0.2)["p"])
    0.0
    """
    return make_solution("point_source", locals())


def driving_function(source: Source, medium: Medium) -> TimeFunction:
    """Return f of a source; raise if f is a plain callable or the source is one of another physics."""
    if not isinstance(source, Source):
        raise ArgumentError(f"source is {source!r}; expected one such as unda.VolumeInjection")
    source.check_physics(medium)
    if source.at_point(medium.physics) is not source:
        raise ArgumentError(
            f"source is {source!r}; expected one point, and the sum over those of its sources()"
        )
    if not isinstance(source.f, TimeFunction):
        raise ArgumentError(
            f"f of {source!r} is a plain callable; expected a time function: unda.sampled(t, f(t))"
        )
    return source.f


def away_from(place: Corner, points: Sequence[Array], line: int | None = None) -> tuple[list[Array], Array]:
    """Return offsets and distances of points from a source, which may be a line along an axis."""
    offset = [values - s for values, s in zip(points, place, strict=True)]
    if line is not None:
        offset[line] = 0.0 * offset[line]
    r = np.sqrt(offset[0] ** 2 + offset[1] ** 2 + offset[2] ** 2)
    if np.any(r == 0.0):
        where = "the source's own," if line is None else "on the line through"
        raise ArgumentError(f"a point is {where} {place}; its wave is infinite there")
    return offset, r


class AcousticPointSource(ExactSolution):
    """p = rho q'(t - r/c)/(4 pi r), summed over images."""

    physics = "acoustic"
    name = "point_source"
    singular = True
    constant_along: tuple[str, ...] | None = ()
    _line: int | None = None  # the axis of a line source

    def __init__(self, medium: Medium, source: Source, walls: Any = None, bounds: Any = None) -> None:
        f = driving_function(source, medium)
        corners = None if bounds is None else bounds_of(bounds)
        self._kinds_of_walls, own_places = split_walls({} if walls is None else walls)
        self._places = wall_places(self._kinds_of_walls, own_places, corners)
        given = {
            side: (kind, own_places[side]) if side in own_places else kind
            for side, kind in self._kinds_of_walls.items()
        }
        super().__init__(medium, source=source, walls=given or None, bounds=corners)
        self._rho, self._c = medium.scalar()["rho"], medium.scalar()["c"]
        self._q, self._q_rate = f, f.derivative
        self._position = source.position
        self._check_inside("the source", [np.array(one) for one in source.position])
        for low, high in zip(SIDES[::2], SIDES[1::2], strict=True):
            if self._places.get(low, -inf) >= self._places.get(high, inf):
                raise ArgumentError(
                    f"walls {low} and {high} are both at {self._places[low]} m; expected a gap"
                )

    def bind(self, mesh: Any) -> ExactSolution:
        """Return a copy whose walls without a position are at the sides of a mesh."""
        missing = [side for side in self._kinds_of_walls if side not in self._places]
        return type(self)(self.medium, **{**self._arguments, "bounds": mesh}) if missing else self

    def _check_inside(self, what: str, point: list[Array]) -> None:
        for side, place in self._places.items():
            values, outward = point[SIDES.index(side) // 2], -1.0 if side.endswith("min") else 1.0
            beyond = outward * (values - place)
            # A coordinate on the wall may be off by rounding.
            if np.any(beyond > 1e-9 * (1.0 + np.abs(place) + np.abs(values))):
                found = float(values.ravel()[np.argmax(beyond)])
                raise ArgumentError(
                    f"{what} is at {side[0]} = {found} m, behind the wall {side} at {place} m"
                )

    def _axes(self) -> list[Axis]:
        missing = [side for side in self._kinds_of_walls if side not in self._places]
        if missing:
            raise ArgumentError(
                f"the place of wall {', '.join(missing)} is unknown; give walls="
                f"{{'{missing[0]}': ('{self._kinds_of_walls[missing[0]]}', place)}}, bounds=mesh, "
                "or call bind(mesh)"
            )
        walls = [
            (self._places[side], SIGN[self._kinds_of_walls[side]])
            if side in self._kinds_of_walls else None
            for side in SIDES
        ]  # fmt: skip
        return [Axis(s, walls[2 * i], walls[2 * i + 1]) for i, s in enumerate(self._position)]

    def _reach(self, axes: list[Axis], t: Array) -> float:
        """Return how far the wave front has travelled [m]; inf if the beginning is unknown and not needed."""
        begin = -inf if self._q.span is None else self._q.span[0]
        if begin == -inf and any(axis.parallel for axis in axes):
            raise ArgumentError(
                f"{self._q!r} has no known beginning, which parallel walls need; use unda.sampled"
            )
        return self._c * max(float(t.max()) - begin, 0.0)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        axes = self._axes()
        shape = np.broadcast_shapes(x.shape, y.shape, z.shape, t.shape)
        total = {field: np.zeros(shape) for field in self.fields}
        if 0 in shape:
            return total
        self._check_inside("a point", [x, y, z])
        lower, upper = _box(x, y, z)
        reach = self._reach(axes, t)
        for place, sign in all_images(axes, lower, upper, reach):
            offset, r = away_from(place, (x, y, z), self._line)
            if float(r.min()) > reach:
                continue
            p, radial = self._wave(r, t)
            total["p"] += sign * p
            for field, part in zip(("vx", "vy", "vz"), offset, strict=True):
                total[field] += sign * radial * part
        return total

    def _wave(self, r: Array, t: Array) -> tuple[Array, Array]:
        """Return the pressure and v_r/r at a distance r from the source."""
        u = t - r / self._c
        rate = self._q_rate(u) / (4.0 * pi * r)
        return self._rho * rate, (rate / self._c + self._q(u) / (4.0 * pi * r**2)) / r


def _box(x: Array, y: Array, z: Array) -> tuple[Corner, Corner]:
    lower = float(x.min()), float(y.min()), float(z.min())
    upper = float(x.max()), float(y.max()), float(z.max())
    return lower, upper
