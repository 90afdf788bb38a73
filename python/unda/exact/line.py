"""Waves of line sources in two dimensions and of plane sources in one, per metre and per square metre.

Not here: elastic waves (elastic_line.py), positions of images (walls.py), point sources (point.py).
Next: point.py, whose walls these share.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from .._check import vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import CurrentDipole, Source, VolumeInjection
from .base import Array, ExactSolution, make_solution
from .line_integral import axis_number, line_integrals
from .plane_maxwell import insulator
from .point import AcousticPointSource, away_from, driving_function
from .walls import SIDES

_ONE, _COSH = (lambda cosh: 1.0), (lambda cosh: cosh)


def line_source(
    medium: Medium, source: Source, *, axis: str = "y", walls: Any = None, bounds: Any = None
) -> ExactSolution:
    """Return the wave of a line source: that of a point source on a grid with one node along `axis`.

    With r the distance from the line, c the speed of the wave, s(u) = t - (r/c) cosh u and integrals over
    u from 0 (the line of point sources, r cosh u = their distance):

    Acoustic, `VolumeInjection` of rate q per metre [m2/s]: p = rho/(2 pi) int q'(s) du,
    v_r = 1/(2 pi c) int cosh u q'(s) du. Walls make images as those of `point_source`.

    Elastic, `PointForce`, f per metre [N/m], `VolumeInjection` and isotropic `MomentTensor`: the integrals
    of their fields in three dimensions. Of a force along the axis these are SH waves, v = 1/(2 pi mu) int
    f'(s) du, with shear stress along r -1/(2 pi vs) int cosh u f'(s) du.

    Maxwell, `CurrentDipole` along the axis, a current f [A]: E = -mu/(2 pi) int f'(s) du, H around the
    axis 1/(2 pi c) int cosh u f'(s) du.

    Parameters
    ----------
    medium : Medium
        Homogeneous, without conductivity.
    source : Source
        Its f must be a time function whose beginning is known (see `unda.sampled`); elastic
        waves take its third derivative.
    axis : {"x", "y", "z"}
        Along the line.
    walls, bounds : optional
        As for `point_source`: acoustic only, and not across the axis.

    Returns
    -------
    ExactSolution
        All fields of the medium, constant along the axis. Singular at the source.

    Raises
    ------
    ArgumentError
        As `point_source`; or of a current that is not along the axis, and a deviatoric moment, which are not
        known here.

    References
    ----------
    Morse & Feshbach (1953), Methods of Theoretical Physics, 7.3.15; Aki & Richards (2002), Quantitative
    Seismology, box 6.4, for the line of point sources.

    Examples
    --------
    >>> import unda
    >>> water = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> wave = unda.exact.line_source(water, unda.VolumeInjection((0, 0, 0), unda.ricker(10.0)))
    >>> values = wave(300.0, [0.0, 77.0], 0.0, 0.4)
    >>> bool(values["p"][0] == values["p"][1])
    True
    """
    return make_solution("line_source", locals())


def plane_source(medium: Medium, source: Source, *, normal: str = "x") -> ExactSolution:
    """Return the wave of a plane source: that of a point source on a grid with nodes along `normal` only.

    Acoustic, `VolumeInjection` of rate q per square metre [m/s], x the distance along the normal:
    p = rho c q(t - abs(x)/c)/2, v = sign(x) q(t - abs(x)/c)/2.

    Parameters
    ----------
    medium : Acoustic
        Homogeneous.
    source : VolumeInjection
        Its f must be a time function.
    normal : {"x", "y", "z"}
        Across the plane, which goes through the source.

    Returns
    -------
    ExactSolution
        Fields p [Pa], vx, vy, vz [m/s]. In the plane v is 0, the mean of its two sides.

    Raises
    ------
    ArgumentError
        If the medium is not homogeneous or acoustic, or the source is not one of it.

    References
    ----------
    Morse & Ingard (1968), Theoretical Acoustics, section 7.1.

    Examples
    --------
    >>> import unda
    >>> source = unda.VolumeInjection((0, 0, 0), unda.gaussian(10.0, t0=0.1))
    >>> wave = unda.exact.plane_source(unda.Acoustic(rho=1000.0, c=1500.0), source)
    >>> float(wave(150.0, 0.0, 0.0, 0.2)["p"])
    750000.0
    """
    return make_solution("plane_source", locals())


class AcousticLineSource(AcousticPointSource):
    """The integral of point sources along a line, summed over images."""

    physics = "acoustic"
    name = "line_source"

    def __init__(
        self, medium: Medium, source: Source, axis: str = "y", walls: Any = None, bounds: Any = None
    ) -> None:
        self._line = axis_number("axis", axis)
        super().__init__(medium, source, walls, bounds)
        across = [side for side in self._kinds_of_walls if SIDES.index(side) // 2 == self._line]
        if across:
            raise ArgumentError(f"wall {across[0]} stands across the line along {axis}; expected others")
        self._arguments["axis"] = axis
        self.constant_along = (axis,)

    def _wave(self, r: Array, t: Array) -> tuple[Array, Array]:
        plain, weighted = line_integrals(self._q_rate, r, t, self._c, _ONE, _COSH)
        return self._rho / (2.0 * pi) * plain, weighted / (2.0 * pi * self._c * r)


class MaxwellLineSource(ExactSolution):
    """The wave of a current along a wire."""

    physics = "maxwell"
    name = "line_source"
    singular = True

    def __init__(self, medium: Medium, source: Source, axis: str = "y") -> None:
        f, self._line = driving_function(source, medium), axis_number("axis", axis)
        known = isinstance(source, CurrentDipole)
        direction = np.array(source.direction if known else (np.nan,) * 3)  # type: ignore[attr-defined]
        if np.delete(direction, self._line).any():
            raise ArgumentError(
                f"source is {source!r}; expected unda.CurrentDipole along {axis}, the axis of the line: "
                "others are not known here"
            )
        super().__init__(medium, source=source, axis=axis)
        eps, self._mu = insulator(medium)
        self._speed = float(1.0 / np.sqrt(eps * self._mu))
        self._position, self._rate = source.position, f.derivative
        self._current = float(direction[self._line])
        self.constant_along = (axis,)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        away, r = away_from(self._position, (x, y, z), self._line)
        plain, weighted = line_integrals(self._rate, r, t, self._speed, _ONE, _COSH)
        factor = self._current / (2.0 * pi)
        fields = dict.fromkeys(self.fields, 0.0 * plain)
        around = factor * weighted / (self._speed * r)
        one, two = (self._line + 1) % 3, (self._line + 2) % 3  # the line goes along e_one x e_two
        fields["e" + "xyz"[self._line]] = -self._mu * factor * plain
        fields["h" + "xyz"[one]] = -around * away[two]
        fields["h" + "xyz"[two]] = around * away[one]
        return fields


class AcousticPlaneSource(ExactSolution):
    """p = rho c q(t - abs(x)/c)/2."""

    physics = "acoustic"
    name = "plane_source"
    singular = False

    def __init__(self, medium: Medium, source: Source, normal: str = "x") -> None:
        self._q = driving_function(source, medium)
        if not isinstance(source, VolumeInjection):
            raise ArgumentError(f"source is {source!r}; expected unda.VolumeInjection")
        super().__init__(medium, source=source, normal=normal)
        self._axis = axis_number("normal", normal)
        self._rho, self._c = medium.scalar()["rho"], medium.scalar()["c"]
        self._position = vector("position", source.position, "m")
        self.constant_along = tuple(letter for letter in "xyz" if letter != normal)

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        offset = (x, y, z)[self._axis] - self._position[self._axis]
        half = 0.5 * self._q(t - np.abs(offset) / self._c)
        fields = dict.fromkeys(self.fields, 0.0 * half)
        fields["p"] = self._rho * self._c * half
        fields["v" + "xyz"[self._axis]] = np.sign(offset) * half
        return fields
