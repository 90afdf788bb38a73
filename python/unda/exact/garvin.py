"""Garvin's problem: the wave of a line of explosions below the free surface of an elastic half-space.

Not here: the line in full space (elastic_line.py), a point source (layered.py), a force on the surface
(lamb.py).
Next: lamb.py.
"""

from __future__ import annotations

from math import hypot, pi
from typing import Any

import numpy as np

from .._check import number
from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import MomentTensor, VolumeInjection
from .base import Array, Complex, ExactSolution, make_solution
from .elastic_line import ElasticLineSource
from .lamb import by_place
from .line_integral import axis_number
from .partial import solid
from .point import driving_function
from .surface_wave import RayleighWave


def garvin_problem(
    medium: Medium, source: VolumeInjection | MomentTensor, *, axis: str = "y", surface: float = 0.0
) -> ExactSolution:
    """Return the wave of a line of explosions in a half-space with a free surface.

    The direct P wave, its reflections P and S, and the Rayleigh wave that these make at a distance, by a
    Cagniard-de Hoop integral over time.

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid, z <= surface.
    source : VolumeInjection or MomentTensor
        Below the surface; a moment must be isotropic. Its f, per metre of the line, must be a time function
        with a known beginning and highest frequency (no plain callable).
    axis : {"x", "y"}
        Along the line.
    surface : float
        z of the free surface [m].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa], accurate to 1e-8 of the peak. Singular at the line.

    Raises
    ------
    ArgumentError
        If the medium is not a homogeneous solid, or the source not such a source; when called: if a point is
        on the line or above the surface.

    References
    ----------
    Garvin (1956), Proc. R. Soc. Lond. A 234, 528-541; Aki & Richards (2002), section 6.4.

    Examples
    --------
    >>> import unda
    >>> rock = unda.Elastic(rho=2000.0, vp=4000.0, vs=2200.0)
    >>> shots = unda.VolumeInjection((0, 0, -200.0), unda.ricker(10.0))
    >>> wave = unda.exact.garvin_problem(rock, shots)
    >>> [round(float(v), 6) for v in wave(300.0, 0.0, 0.0, [0.2, 0.3])["vz"]]
    [-0.00024, 6.9e-05]
    """
    return make_solution("garvin_problem", locals())


class GarvinProblem(ExactSolution):
    """The line's own wave, and for each reflected one a sum of plane waves, which becomes one over time.

    With depth d, the source at depth h, distance x and s the variable of Laplace's transform, the potential
    of the moment f is -f/(4 pi rho vp^2) times the integral of exp(-s (p x + xi |d - h|))/xi over -i p,
    where xi^2 = 1/vp^2 - p^2, eta^2 = 1/vs^2 - p^2. The surface adds R exp(-s xi (d + h)), and to the
    potential of S waves Q exp(-s (xi h + eta d)): with m = 1/vs^2 - 2 p^2, they leave no traction if

        R = (4 p^2 xi eta - m^2)/(4 p^2 xi eta + m^2),    Q = 4 p xi m/(4 p^2 xi eta + m^2).

    Where the phase is a real time tau, velocity and stress are f'' * W, W(tau) = Im(U dp/dtau)/(2 pi rho
    vp^2), U = k R/xi (velocity) of a slowness k = (p, xi); W begins with one over a root, which tau = tau0 +
    y^2 takes away. Poles are beyond 1/vs on the real axis, which the path leaves below 1/vp.
    """

    physics = "elastic"
    name = "garvin_problem"
    singular = True

    def __init__(self, medium: Medium, source: Any, axis: str = "y", surface: float = 0.0) -> None:
        f = driving_function(source, medium)
        self._material = solid(medium, "whose surface makes no S waves")
        if axis == "z":
            raise ArgumentError("axis is 'z'; expected 'x' or 'y', along the surface")
        self._direct = ElasticLineSource(medium, source, axis)
        if not isinstance(source, VolumeInjection | MomentTensor):
            raise ArgumentError(f"source is {source!r}; expected a VolumeInjection or an isotropic moment")
        self._surface = number("surface", surface, "m")
        super().__init__(medium, source=source, axis=axis, surface=self._surface or None)
        self.constant_along = (axis,)
        self._line = axis_number("axis", axis)
        self._depth = self._surface - float(source.position[2])
        if not self._depth > 0.0:
            raise ArgumentError(f"the source is {-self._depth} m above the surface; expected it below")
        moment = self._direct._f  # its moment is this times _isotropic
        self._rate = moment.derivative.derivative
        span, fmax = self._rate.span or f.span, self._rate.fmax or f.fmax
        if span is None or fmax is None:
            raise ArgumentError(f"{f!r} has no known beginning or highest frequency; use unda.sampled")
        self._span, self._panel = span, 0.45 / fmax  # 12 nodes resolve f'' there
        self._rayleigh = RayleighWave(medium, (1.0, 0.0, 0.0)).speed

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        direct = self._direct._evaluate(x, y, z, t)
        shape, groups = by_place((x, y, z, t))
        total = np.zeros((9, int(np.prod(shape))))
        for place, here, times in groups:
            offset = (place - self._arguments["source"].position)[1 - self._line]
            total[:, here] = self._reflected(float(offset), float(self._surface - place[2]), times)
        return {
            name: np.broadcast_to(direct[name], shape) + part.reshape(shape)
            for name, part in zip(self.fields, total, strict=True)
        }

    def _reflected(self, offset: float, depth: float, t: Array) -> Array:
        """Return the fields (9, num_time) of both reflections at a place relative to the line."""
        if depth < -1e-9 * (abs(self._surface) + self._depth):
            raise ArgumentError(f"a point is {-depth} m above the free surface; expected none there")
        depth, x = max(depth, 0.0), abs(offset)
        end = float(t.max()) - self._span[0]
        values = np.zeros((5, len(t)))  # of velocity along the surface and down, stresses xx dd xd
        for path in (self._p_path, self._s_path):
            begin, _ = path(x, depth, None)
            if begin >= end:
                continue
            y, weight = self._rule(np.sqrt(end - begin), begin, x, depth)
            _, kernel = path(x, depth, y)
            late = begin + y**2
            order = np.argsort(t)
            for part in np.array_split(order, max(1, len(t) * len(y) // 2_000_000)):
                values[:, part] += (self._rate(t[part][:, None] - late) @ (kernel * weight).T).T
        lam, mu = self._material.lam, self._material.mu
        sideways = 0.5 * lam / (lam + mu) * (values[2] + values[3])  # plane strain
        sign = 1.0 if offset >= 0.0 else -1.0
        total = np.zeros((9, len(t)))
        along = 1 - self._line
        total[along], total[2] = sign * values[0], -values[1]
        total[3 + along], total[3 + self._line], total[5] = values[2], sideways, values[3]
        total[7 - along] = -sign * values[4]
        return total

    def _rule(self, last: float, begin: float, x: float, depth: float) -> tuple[Array, Array]:
        """Return nodes and weights for y in (0, last), panels short in tau where W changes fast.

        At the Rayleigh wave W is as wide as that wave needs for the depth; f'' is resolved all the way.
        """
        nodes, weights = np.polynomial.legendre.leggauss(12)
        narrow = 0.3 * (self._depth + depth) / self._material.vp
        ends, tau = [0.0], 0.0
        while ends[-1] < last:
            gap = abs(begin + tau - x / self._rayleigh)
            step = min(self._panel, max(narrow, 0.3 * gap), max(tau, 0.25 * narrow))
            tau += step
            ends.append(min(float(np.sqrt(tau)), last))
        edges = np.array(ends)
        half = 0.5 * np.diff(edges)[:, None]
        return (edges[:-1, None] + half * (1.0 + nodes)).ravel(), (half * weights).ravel()

    def _p_path(self, x: float, depth: float, y: Any) -> tuple[float, Any]:
        """Return when P after P begins, and 2 y W at tau = begin + y^2."""
        way = self._depth + depth
        distance = hypot(x, way)
        begin = distance / self._material.vp
        if y is None:
            return begin, None
        tau, root = begin + y**2, y * np.sqrt(y**2 + 2.0 * begin)  # (tau^2 - begin^2)^(1/2)
        p = (tau * x + 1j * way * root) / distance**2
        xi = (tau * way - 1j * x * root) / distance**2
        both, m = self._surface_terms(p, xi)
        steep = 2j / np.sqrt(y**2 + 2.0 * begin)  # 2 y dp/dtau / xi
        amplitude = (both - m**2) / (both + m**2) * steep
        return begin, self._waves(amplitude, (p, xi), (p, xi))

    def _s_path(self, x: float, depth: float, y: Any) -> tuple[float, Any]:
        """Return when S after P begins, and 2 y W at tau = begin + y^2."""
        a, b, h = self._material.vp, self._material.vs, self._depth

        def phase(p: Any) -> tuple[Any, Any, Any]:
            xi, eta = np.sqrt(1.0 / a**2 - p**2 + 0j), np.sqrt(1.0 / b**2 - p**2 + 0j)
            return p * x + xi * h + eta * depth, x - p * h / xi - p * depth / eta, (xi, eta)

        low, high = 0.0, 1.0 / a  # where the phase is stationary
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if phase(middle)[1].real > 0.0 and middle < high else (low, middle)
        start = low
        begin = float(phase(start)[0].real)
        if y is None:
            return begin, None
        xi, eta = phase(start)[2]
        bend = (h / (a**2 * xi**3) + depth / (b**2 * eta**3)).real
        p = np.empty(len(y), complex)
        guess, before, slope = complex(start), 0.0, 1j * np.sqrt(2.0 / bend)  # slope: dp/dy
        for i, one in enumerate(y):  # each begins at the one before: the path has no branches
            guess += slope * (one - before)
            for _ in range(50):
                value, slant, _ = phase(guess)
                change = (value - begin - one**2) / slant
                guess -= change
                if abs(change) < 1e-15 * abs(guess):
                    break
            p[i], before = guess, one
            slope = 2.0 * one / phase(guess)[1]
        _, slant, (xi, eta) = phase(p)
        both, m = self._surface_terms(p, xi)
        amplitude = 4.0 * p * m / (both + m**2) * 2.0 * y / slant
        return begin, self._waves(amplitude, (eta, -p), (p, eta))

    def _surface_terms(self, p: Complex, xi: Complex) -> tuple[Complex, Complex]:
        """Return 4 p^2 xi eta and m."""
        eta = np.sqrt(1.0 / self._material.vs**2 - p**2)
        eta = np.where(eta.real < 0.0, -eta, eta)
        return 4.0 * p**2 * xi * eta, 1.0 / self._material.vs**2 - 2.0 * p**2

    def _waves(self, amplitude: Complex, moved: Any, slowness: Any) -> Array:
        """Return velocity along the surface and down, stresses xx dd xd, of waves exp(-s slowness.(x, d))."""
        lam, mu = self._material.lam, self._material.mu
        scale = self._direct._isotropic / (2.0 * pi * self._material.rho * self._material.vp**2)
        div = lam * (moved[0] * slowness[0] + moved[1] * slowness[1])
        parts = (
            moved[0], moved[1], -div - 2.0 * mu * moved[0] * slowness[0],
            -div - 2.0 * mu * moved[1] * slowness[1], -mu * (moved[0] * slowness[1] + moved[1] * slowness[0]),
        )  # fmt: skip
        return scale * np.stack([(amplitude * part).imag for part in parts])
