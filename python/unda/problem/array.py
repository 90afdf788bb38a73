"""Arrays: many point sources of one time function, each with a weight and a delay; transducers.

Not here: single sources (source.py), amplitudes at the times of steps (method/stepping.py).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import integer, number, unit_vector, vector
from .._core import as_array
from .._units import plain
from ..errors import ArgumentError
from .medium import Medium
from .source import CurrentDipole, PointForce, Source, VolumeInjection
from .timefunction import wrap

_GOLDEN = pi * (3.0 - 5.0**0.5)  # the angle between points that follow each other on a spiral
#: Units of f: those of point sources, over 1, m or m2.
_VOLUMES = ("m3/s", "m2/s", "m/s")
_VECTORS = ("N", "N/m", "Pa", "A m", "A", "A/m")


class Array(Source):
    """Point sources at many points: at point i, weights[i] f(t - delays[i]).

    Of volume, or with a direction of force (elastic) or current (Maxwell). Weights that are areas [m2] make f
    a density on a surface: a volume rate per area [m/s] is the jump of the normal velocity there. In open
    space half of it goes to either side, so a piston of velocity u in a rigid baffle is f = 2 u.

    Delays are exact: f is evaluated at the times that the method needs, less the delay; nothing is rounded to
    time steps. 100,000 points are added in about a second, and the first step takes as long. A step
    evaluates f once for each different delay.

    Parameters
    ----------
    points : array_like, shape (n, 3)
        Where they stand [m].
    f : TimeFunction or callable
        In the unit of such a point source, over that of the weights.
    weights : array_like, shape (n,), optional
        Factors of f, lengths [m] or areas [m2]; 1 if omitted.
    delays : array_like, shape (n,), optional
        By how much later each point acts [s]; 0 if omitted.
    direction : array_like, shape (3,), optional
        Of a force, not normalised, as of `PointForce`; or of a current, as of `CurrentDipole`; not zero.

    Attributes
    ----------
    points, weights, delays : ndarray
        As given, or 1 and 0; read-only.

    Raises
    ------
    ArgumentError
        If an array is of another shape or not finite, the direction is zero, or f cannot be called. From
        `add_source`: of a medium that such sources do not drive; of `SEM`, if volumes have a plain callable
        and delays, or if forces stand in a fluid.

    See Also
    --------
    Array.bowl, Array.linear : transducers.

    Examples
    --------
    >>> import unda
    >>> pair = unda.Array([(0, 0, 0), (1, 0, 0)], unda.ricker(10.0), delays=[0.0, 0.01])
    >>> pair
    unda.Array(<2 points>, unda.ricker(f0=10.0, t0=0.15))
    """

    physics = ("acoustic", "elastic", "maxwell")
    unit = "m3/s, N or A m over the unit of weights"
    _has_unit = False

    def __init__(
        self,
        points: ArrayLike,
        f: Callable[[Any], Any],
        *,
        weights: ArrayLike | None = None,
        delays: ArrayLike | None = None,
        direction: ArrayLike | None = None,
    ) -> None:
        self.points = _kept(points, (None, 3), "points", "m")
        num = len(self.points)
        if not num:
            raise ArgumentError("points are none, expected at least one")
        super().__init__(self.points[0], f)
        self.weights = np.ones(num) if weights is None else _kept(_shares(weights), (num,), "weights")
        self.delays = np.zeros(num) if delays is None else _kept(delays, (num,), "delays", "s")
        self.direction = None if direction is None else vector("direction", direction)
        if self.direction is not None:
            unit_vector("direction", self.direction)
        units = _VOLUMES if self.direction is None else _VECTORS
        given = getattr(f, "unit", None)
        if given not in (None, *units):
            of = "volumes" if self.direction is None else "forces or currents, which a direction= makes"
            raise ArgumentError(f"f has values in {given}; expected one of {', '.join(units)}, of {of}")
        self._point: dict[str, Source] = {}

    def places(self) -> NDArray[np.float64]:
        """Return the points (n, 3) [m]."""
        return self.points

    def shares(self) -> NDArray[np.float64]:
        """Return the weights (n,)."""
        return self.weights

    def at_point(self, physics: str) -> Source:
        """Return the source that stands at each point, with weight 1 and no delay, in media of a physics."""
        if physics not in self._point:
            if self.direction is None:
                self._point[physics] = VolumeInjection(self.points[0], self.f)
            else:
                kind = CurrentDipole if physics == "maxwell" else PointForce
                self._point[physics] = kind(self.points[0], self.f, self.direction)
        return self._point[physics]

    def sources(self, physics: str = "acoustic") -> list[Source]:
        """Return the same as single sources, to compare with; of many points an array is much faster.

        Raises
        ------
        ArgumentError
            If f is a plain callable.
        """
        f, one = wrap(self.f, 1.0), self.at_point(physics)
        if f is not self.f:
            raise ArgumentError("f is a plain callable; expected one of unda's time functions")
        return [
            type(one)(place, float(weight) * f.delayed(delay), **one._arguments())
            for place, weight, delay in zip(
                self.points, self.weights.tolist(), self.delays.tolist(), strict=True
            )
        ]

    def check_physics(self, medium: Medium) -> None:
        """Raise an ArgumentError if the sources cannot drive the equations of this medium."""
        self.at_point(medium.physics).check_physics(medium)

    def rates_in(self, physics: str, **material: float) -> dict[str, float]:
        """Return `rates` of a source of weight 1 where the parameters of the medium are known."""
        return self.at_point(physics).rates_in(physics, **material)

    def to_config(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_config` makes an equal array; see `Source`."""
        config = super().to_config()
        del config["position"]
        return config

    def _arguments(self) -> dict[str, Any]:
        direction = {} if self.direction is None else {"direction": list(self.direction)}
        return {
            "points": self.points.tolist(), "weights": self.weights.tolist(),
            "delays": self.delays.tolist(), **direction,
        }  # fmt: skip

    def __repr__(self) -> str:
        more = "" if self.direction is None else f", direction={self.direction}"
        return f"unda.Array(<{len(self.points)} points>, {self.f!r}{more})"

    @classmethod
    def bowl(
        cls, position: Any, focus: Any, diameter: float, f: Callable[[Any], Any], *, spacing: float
    ) -> Array:
        """Return a focused transducer: a spherical cap of volume sources.

        Points lie on a spiral, of equal areas; weights are these areas [m2].

        Parameters
        ----------
        position : array_like, shape (3,)
            The middle of the cap [m].
        focus : array_like, shape (3,)
            The centre of its sphere, as far away as the radius of curvature [m].
        diameter : float
            Of its opening [m], at most twice that radius.
        f : TimeFunction or callable
            Volume rate per area [m/s]. On the axis, at z from the middle towards the focus, r from the rim,
            R being the radius, it makes p = rho c R / (2 (R - z)) (f(t - z/c) - f(t - r/c)), and
            p = rho h f'(t - R/c) / 2 in the focus, h being the depth of the cap (O'Neil 1949, with u = f/2).
        spacing : float
            About the distance of points [m], some per wavelength; they are area / spacing^2.

        Raises
        ------
        ArgumentError
            If the opening is wider than the sphere, or a number not positive.

        References
        ----------
        O'Neil (1949), Theory of focusing radiators, J. Acoust. Soc. Am. 21, 516-526.

        Examples
        --------
        >>> import unda
        >>> beam = unda.Array.bowl((0, 0, 0), (0, 0, 0.06), 0.05, unda.tone_burst(5e5, 4), spacing=1e-3)
        >>> len(beam.points), round(beam.weights.sum() * 1e6)  # mm2
        (2058, 2057)
        """
        middle, center = np.array(vector("position", position, "m")), np.array(vector("focus", focus, "m"))
        wide, near = (
            number(name, one, "m", positive=True)
            for name, one in (("diameter", diameter), ("spacing", spacing))
        )
        axis, radius = (
            np.array(unit_vector("focus - position", center - middle)),
            np.linalg.norm(center - middle),
        )
        if wide > 2.0 * radius:
            raise ArgumentError(
                f"diameter is {wide:g} m; expected at most {2.0 * radius:g} m, twice the focus' distance"
            )
        low = 1.0 - np.sqrt(1.0 - (0.5 * wide / radius) ** 2)  # 1 - cos of the half angle
        area = 2.0 * pi * radius**2 * low
        num = max(1, ceil(area / near**2))
        fall = low * (np.arange(num) + 0.5) / num
        ring, turn = radius * np.sqrt(fall * (2.0 - fall)), _GOLDEN * np.arange(num)
        x, y = _across(axis)
        points = (
            center - radius * (1.0 - fall)[:, None] * axis
            + (ring * np.cos(turn))[:, None] * x + (ring * np.sin(turn))[:, None] * y
        )  # fmt: skip
        return cls(points, f, weights=np.full(num, area / num))

    @classmethod
    def linear(
        cls, num: int, pitch: float, f: Callable[[Any], Any], *, width: float, height: float | None = None,
        spacing: float, center: Any = (0.0, 0.0, 0.0), along: Any = (1.0, 0.0, 0.0),
        normal: Any = (0.0, 0.0, 1.0), focus: Any = None, angle: float | None = None, c: float | None = None,
    ) -> Array:  # fmt: skip
        """Return a linear array: rectangular elements side by side, with the delays of a focus or an angle.

        Each element is a raster of volume sources; weights are their areas [m2].

        Parameters
        ----------
        num : int
            Elements.
        pitch : float
            From the middle of one to that of the next [m].
        f : TimeFunction or callable
            Volume rate per area [m/s].
        width, height : float
            Of an element, along the array and across it [m]. Without a height it is a line, its weights
            lengths [m]: of grids with one node along the axis across.
        spacing : float
            The distance of points is at most this [m].
        center : array_like, shape (3,)
            The middle of the array [m].
        along, normal : array_like, shape (3,)
            Where the array extends, and where it looks to, at a right angle.
        focus : array_like, shape (3,), optional
            A point [m] at which waves of all elements' middles arrive together.
        angle : float, optional
            Or, of a plane wave: by how much it is turned from the normal towards `along` [degrees].
        c : float, optional
            Speed of these waves [m/s]; needed for a focus or an angle.

        Raises
        ------
        ArgumentError
            If a number is not positive, elements overlap, directions are not at a right angle, there are both
            a focus and an angle, or one of them without c.

        Examples
        --------
        >>> import unda
        >>> burst = unda.tone_burst(3e6, 3)
        >>> row = unda.Array.linear(
        ...     32, 3e-4, burst, width=2.5e-4, height=5e-3, spacing=1.25e-4, angle=20.0, c=1540.0
        ... )
        >>> len(row.points), round(float(row.delays.max()) * 1e6, 3)
        (2560, 2.065)
        """
        count = integer("num", num, 1)
        lengths = {
            "pitch": pitch,
            "width": width,
            "spacing": spacing,
            **({} if height is None else {"height": height}),
        }
        sizes = {name: number(name, one, "m", positive=True) for name, one in lengths.items()}
        if count > 1 and sizes["width"] > sizes["pitch"] * (1.0 + 1e-12):
            raise ArgumentError(
                f"width is {width} m; expected at most pitch, {pitch} m: elements would overlap"
            )
        x, z = np.array(unit_vector("along", along)), np.array(unit_vector("normal", normal))
        if abs(x @ z) > 1e-9:
            raise ArgumentError(f"along and normal are {along} and {normal}; expected a right angle")

        def raster(size: float) -> NDArray[np.float64]:
            pieces = ceil(size / sizes["spacing"] * (1.0 - 1e-12))
            return size * ((np.arange(pieces) + 0.5) / pieces - 0.5)

        middle = sizes["pitch"] * (np.arange(count) - 0.5 * (count - 1))
        places = np.array(vector("center", center, "m")) + middle[:, None] * x
        across = np.zeros(1) if height is None else raster(sizes["height"])
        u, v = (one.ravel() for one in np.meshgrid(raster(sizes["width"]), across, indexing="ij"))
        points = places[:, None] + u[:, None] * x + v[:, None] * np.cross(z, x)
        area = sizes["width"] * sizes.get("height", 1.0) / len(u)
        delays = np.repeat(_steered(middle, places, focus, angle, c), len(u))
        return cls(points.reshape(-1, 3), f, weights=np.full(len(delays), area), delays=delays)


def _steered(middle: Any, places: Any, focus: Any, angle: float | None, c: float | None) -> Any:
    """Return the delays of elements, the least of them 0."""
    if focus is None and angle is None:
        return np.zeros(len(places))
    if focus is not None and angle is not None:
        raise ArgumentError("give focus or angle, not both")
    if c is None:
        raise ArgumentError("a focus or an angle needs c, the speed of the waves [m/s]")
    speed = number("c", c, "m/s", positive=True)
    if focus is not None:
        far = np.linalg.norm(places - np.array(vector("focus", focus, "m")), axis=1)
        return (far.max() - far) / speed
    later = middle * np.sin(np.radians(number("angle", angle, "degrees"))) / speed
    return later - later.min()


def _across(axis: Any) -> tuple[Any, Any]:
    """Return two unit vectors at right angles to a third and to each other."""
    x = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    x /= np.linalg.norm(x)
    return x, np.cross(axis, x)


def _shares(weights: Any) -> Any:
    """Return weights as plain numbers: quantities may be lengths or areas, or have no unit."""
    for unit in ("m2", "m"):
        try:
            return plain("weights", weights, unit)
        except ArgumentError:
            continue
    return plain("weights", weights, "")


def _kept(values: ArrayLike, shape: tuple[int | None, ...], name: str, unit: str = "") -> NDArray[np.float64]:
    """Return a read-only copy of an array of that shape, or raise."""
    array = np.array(as_array(values, np.float64, shape, name, finite=True, unit=unit))
    array.flags.writeable = False
    return array
