"""Lamb's problem: the wave of a point force on the free surface of an elastic half-space.

Not here: a force in full space (elastic_point.py), the Rayleigh wave alone (surface_wave.py).
Next: surface_wave.py.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, hypot, pi, sqrt
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import PointForce
from .base import Array, Complex, ExactSolution, make_solution
from .partial import VOIGT, solid
from .point import driving_function
from .surface_wave import RayleighWave
from .walls import bounds_of


def lamb_problem(medium: Medium, source: PointForce) -> ExactSolution:
    """Return the wave of a force on the free surface of a half-space, on the surface and at any depth.

    Near field, P, S, head and Rayleigh wave, by a Cagniard-de Hoop integral per time. The horizontal plane
    through the force is the surface, the medium lies below it.

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid, z <= source.position[2].
    source : PointForce
        Of any direction, on the surface: for buried ones there is nothing here. Its f must be a time
        function with a known beginning and highest frequency (no plain callable); two derivatives
        are taken.

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa]. Singular at the force. Each place costs a tenth of a
        second or two, times at one place little. Errors, relative to the peak: 1e-9 below the surface,
        1e-7 on it, and 1e-7 where f is not smooth (`unda.smooth_bump`); late P and S cancel: 1e-8 are
        lost at t = 400 R/vs, 1e-5 at 4000.

    Raises
    ------
    ArgumentError
        If the medium is not a homogeneous solid, or the source not such a force; when called: if a
        point is the force's own or above the surface; when compared with a run: if the mesh reaches
        above the force.

    References
    ----------
    Lamb (1904); Johnson (1974), Geophys. J. R. astr. Soc. 37, 99-131; Aki & Richards (2002), section 6.4.

    Examples
    --------
    >>> import unda
    >>> rock = unda.Elastic(rho=2000.0, vp=4000.0, vs=2200.0)
    >>> push = unda.PointForce((0, 0, 0), unda.smooth_bump(0.1), direction=(0, 0, -1e9))
    >>> wave = unda.exact.lamb_problem(rock, push)
    >>> [round(float(v), 4) for v in wave(300.0, 0.0, 0.0, [0.07, 0.2])["vz"]]
    [0.0, -0.0067]
    """
    return make_solution("lamb_problem", locals())


class LambProblem(ExactSolution):
    """Two sums of plane waves, P and S, that leave no traction but that of the force.

    With depth d, distance r along the surface and s the variable of Laplace's transform, a wave of
    slowness (p, i q, g) along (r, across, depth) is exp(-s (p r + g d)); g is xi for P, eta for S waves,
    xi^2 = 1/vp^2 - p^2 + q^2. Their integral over p becomes one over time tau where p r + g d = tau is
    real (Johnson 1974, section 3), so that velocity and stress are f'' * W with

        W(tau) = Im integral_0^inf U(p, q) dp/dtau dq / pi^2,   dp/dtau = i g/D,
        p = (tau r + i d D)/R^2,  g = (tau d - i r D)/R^2,  D^2 = tau^2 - R^2 (1/c^2 + q^2).

    On the real axis of q lie the ends of the wave, of the head wave and, for d = 0, Rayleigh's pole.
    But U dp/dtau is analytic where Re q > 0 > Im q: there a real p^2 - q^2 > 1/vp^2, for which g is
    -i |g|, would need Im p > 0 and thus Im q > 0. And it is real on the real axis beyond those points.
    So q goes from 0 to beyond them on an arc below, on which nothing is singular.
    """

    physics = "elastic"
    name = "lamb_problem"
    singular = True
    constant_along: tuple[str, ...] | None = ()

    def __init__(self, medium: Medium, source: PointForce) -> None:
        f = driving_function(source, medium)
        if not isinstance(source, PointForce):
            raise ArgumentError(f"source is {source!r}; expected a unda.PointForce on the surface")
        if f.span is None or f.fmax is None:
            raise ArgumentError(f"{f!r} has no known beginning or highest frequency; use unda.sampled")
        super().__init__(medium, source=source)
        self._material = solid(medium, "whose surface carries no such wave")
        self._speed = RayleighWave(medium, (1.0, 0.0, 0.0)).speed
        self._rate = f.derivative.derivative
        self._span = self._rate.span or f.span
        self._panel = 0.45 / self._rate.fmax if self._rate.fmax else np.inf  # 12 nodes resolve f'' there

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        source = self._arguments["source"]
        shape, groups = by_place((x, y, z, t))
        values = np.full((9, int(np.prod(shape))), np.nan)
        for place, here, times in groups:
            values[:, here] = self._at_place(place - source.position, times)
        return dict(zip(self.fields, values.reshape(9, *shape), strict=True))

    def bind(self, mesh: Any) -> ExactSolution:
        """Return the solution itself, or raise if the mesh reaches above the force: a buried one."""
        place, (lower, upper) = self._arguments["source"].position, bounds_of(mesh)
        if upper[2] - place[2] > 1e-9 * (1.0 + abs(upper[2]) + upper[2] - lower[2]):
            raise ArgumentError(
                f"the force is at z = {float(place[2])} m, the top of the mesh at {upper[2]} m; expected "
                "both on the free surface: unda.exact.lamb_problem knows no buried forces"
            )
        return self

    def _at_place(self, offset: Array, t: Array) -> Array:
        """Return the fields (9, num_time) at a place relative to the force."""
        source = self._arguments["source"]
        r, depth = hypot(offset[0], offset[1]), -float(offset[2])
        # A coordinate on the surface may be off by rounding.
        if depth < -1e-9 * (1.0 + r + abs(float(source.position[2]))):
            raise ArgumentError(
                f"a point is {-depth} m above the force; expected one on or below the free surface, the "
                "horizontal plane through the force"
            )
        depth = depth if depth > _ON_SURFACE * r else 0.0
        if r == 0.0 and depth == 0.0:
            raise ArgumentError(f"a point is the source's own, {source.position}; its wave is infinite there")
        cosine, sine = (offset[0] / r, offset[1] / r) if r > 0.0 else (1.0, 0.0)
        frame = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, -1.0]])
        total = np.zeros((len(t), 9))
        tau, weight = self._delays(r, depth, np.sort(t))
        for first in range(0, len(tau), _CHUNK):
            part = slice(first, first + _CHUNK)
            kernel = self._kernel(r, depth, tau[part], frame @ source.direction)
            total += self._rate(t[:, None] - tau[part]) @ (kernel * weight[part]).T
        velocity, stress = frame.T @ total[:, :3].T, total[:, _TENSOR].reshape(-1, 3, 3)
        turned = frame.T @ stress @ frame
        return np.concatenate([velocity, [turned[:, i, j] for i, j in VOIGT]])

    def _delays(self, r: float, depth: float, t: Array) -> tuple[Array, Array]:
        """Return nodes and weights in tau that sorted times need, dense where a wave arrives.

        W jumps there, has a logarithm or, on the surface, one over a root: panels halve towards
        arrivals in sqrt(|tau - arrival|), for which all these are harmless. A little below the surface
        the root ends within depth/r of the arrival.
        """
        _, vp, vs = self._material
        distance = hypot(r, depth)
        grade, grade_weight = _halving(9 + (_halvings(r, depth) if depth else 0))
        arrivals = [distance / vp, distance / vs, r / self._speed]
        if r * vp > distance * vs:
            arrivals.append(r / vp + depth * sqrt(1.0 / vs**2 - 1.0 / vp**2))
        end = float(t[-1]) - self._span[0]
        edges = [one for one in sorted(set(arrivals)) if distance / vp <= one < end]
        if not edges:
            return np.zeros(0), np.zeros(0)
        edges.append(max(end, edges[-1]))
        nodes, weights = [], []
        for low, high in pairwise(edges):
            middle = 0.5 * (low + high)
            for origin, half in ((low, middle - low), (high, middle - high)):
                inner = min(abs(half), self._panel)
                nodes.append(origin + np.sign(half) * inner * grade**2)
                weights.append(inner * 2.0 * grade * grade_weight)
                count = int(np.ceil((abs(half) - inner) / self._panel)) if abs(half) > inner else 0
                width = (abs(half) - inner) / max(count, 1)
                steps = np.arange(count)[:, None] + _GAUSS[0]
                nodes.append((origin + np.sign(half) * (inner + width * steps)).ravel())
                weights.append(np.broadcast_to(width * _GAUSS[1], steps.shape).ravel())
        tau, weight = np.concatenate(nodes), np.concatenate(weights)
        first = np.searchsorted(t, tau + self._span[0])  # the first time after f'' begins
        on = np.append(t, np.inf)[first] <= tau + self._span[1]
        return tau[on], weight[on]

    def _kernel(self, r: float, depth: float, tau: Array, force: Array) -> Array:
        """Return W (9, num_tau) of velocity and stress in the frame (r, across, depth)."""
        _, vp, vs = self._material
        distance, gap = hypot(r, depth), sqrt(1.0 / vs**2 - 1.0 / vp**2)
        # Rayleigh's pole passes q = 0 at a distance of sqrt(depth/r); late, q reaches far beyond 1/vs
        late = max(0, ceil(np.log2(tau.max() * vs / distance)))
        arc, weight = _halving(6 + _halvings(r, depth) + late)
        path = np.sin(_ANGLE * arc) * np.exp(-1j * _ANGLE * (1.0 - arc)) / np.sin(_ANGLE)  # from 0 to 1
        step = _ANGLE * np.exp(2j * _ANGLE * arc - 1j * _ANGLE) / np.sin(_ANGLE) * weight  # d path/d arc
        total = np.zeros((9, len(tau)))
        for c in (vp, vs):
            last = (tau / distance) ** 2 - 1.0 / c**2  # Q^2, where D = 0
            if c == vs and r * vp > distance * vs:  # the head wave, where eta = gap before Q
                root = (gap * distance**2 - tau * depth) / r
                head = (root**2 + tau**2) / distance**2 - 1.0 / c**2
                begun = tau > r / vp + depth * gap
                last = np.where((root > 0.0) & begun, np.maximum(head, last), last)
            on = np.flatnonzero(last > 0.0)
            far = 2.0 * np.sqrt(last[on])[:, None]
            q, late = far * path, tau[on][:, None]
            d = np.sqrt(late**2 - distance**2 * (1.0 / c**2 + q**2))
            p, g = (late * r + 1j * depth * d) / distance**2, (late * depth - 1j * r * d) / distance**2
            k2 = p**2 - q**2
            other = np.sqrt(1.0 / (vs if c == vp else vp) ** 2 - k2)
            xi, eta = (g, other) if c == vp else (other, g)
            dq = far * step * 1j * g / d / pi**2
            rayleigh = self._rayleigh(k2, xi, eta)
            for part, kept in ((force * [1.0, 0.0, 1.0], _ALONG), (force * [0.0, 1.0, 0.0], _ACROSS)):
                if part.any():
                    waves = self._waves((p, 1j * q, g), k2, xi, eta, rayleigh, part, c == vp, kept)
                    for field, wave in zip(kept, waves, strict=True):
                        total[field, on] += (wave * dq).imag.sum(axis=1)
        return total

    def _rayleigh(self, k2: Complex, xi: Complex, eta: Complex) -> Complex:
        """Return mu (m^2 + 4 k^2 xi eta), without the difference of its k^4 where xi eta nears -k^2."""
        one, two = 1.0 / self._material.vp**2, 1.0 / self._material.vs**2
        product = xi * eta
        same, opposite = k2 + product, k2 - product
        far = np.abs(same) < np.abs(opposite)
        same = np.where(far, (k2 * (one + two) - one * two) / np.where(far, opposite, 1.0), same)
        return self._material.mu * (two**2 - 4.0 * k2 * (two - same))

    def _waves(
        self, slowness: tuple[Complex, Complex, Complex], k2: Complex, xi: Complex, eta: Complex,
        rayleigh: Complex, force: Array, is_p: bool, kept: tuple[int, ...],
    ) -> list[Complex]:  # fmt: skip
        """Return U: velocity and stress of the P or the S wave that a force on the surface makes.

        P moves along its slowness with amplitude A; SV and SH are taken together, where their
        division by k^2 cancels. A, B and C solve sigma e_d = -force, with m = 1/vs^2 - 2 k^2:
        2 xi A + m B = L/k^2, m A - 2 eta k^2 B = F_d, eta C = F_t/k^2 (times mu), L = p F_r + i q F_t.
        """
        a, b, _ = slowness
        mu, lam = self._material.mu, self._material.lam
        m = 1.0 / self._material.vs**2 - 2.0 * k2
        along = a * force[0] + b * force[1]
        if is_p:
            amplitude = (2.0 * eta * along + m * force[2]) / rayleigh
            u = [one * amplitude for one in slowness]
        else:
            flat = (along * (m - 4.0 * xi * eta) / eta - 2.0 * xi * eta * force[2]) / rayleigh
            u = [a * flat, b * flat, (2.0 * xi * k2 * force[2] - m * along) / rayleigh]
            for i in (0, 1):
                if force[i]:
                    u[i] += force[i] / (mu * eta)
        waves = [u[field] for field in kept if field < 3]
        div = lam * amplitude / self._material.vp**2 if is_p else 0.0  # S waves have none
        for i, j in (VOIGT[field - 3] for field in kept if field >= 3):
            if i == j:
                waves.append(-2.0 * mu * slowness[i] * u[i] - div)
            else:
                waves.append(-mu * (slowness[i] * u[j] + slowness[j] * u[i]))
        return waves


def by_place(arrays: tuple[Array, ...]) -> tuple[tuple[int, ...], list[tuple[Array, Any, Array]]]:
    """Return the shape of x, y, z and t, and of each place: itself, indices of its finite times, these."""
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    places = np.stack([np.broadcast_to(one, shape).ravel() for one in arrays[:3]], axis=1)
    times = np.broadcast_to(arrays[3], shape).ravel()
    known = np.flatnonzero(np.isfinite(times) & np.isfinite(places).all(axis=1))
    if not len(known):
        return shape, []
    different, which = np.unique(places[known], axis=0, return_inverse=True)
    order = known[np.argsort(which.ravel(), kind="stable")]
    counts = np.bincount(which.ravel(), minlength=len(different))
    parts = np.split(order, np.cumsum(counts)[:-1])
    return shape, [(place, here, times[here]) for place, here in zip(different, parts, strict=True)]


_TENSOR = [3, 8, 7, 8, 4, 6, 7, 6, 5]  # of the nine fields, those of the tensor's rows
# Even in q, and thus not zero: fields of a force along r or depth, and of one across.
_ALONG, _ACROSS = (0, 2, 3, 4, 5, 7), (1, 6, 8)
_CHUNK = 32  # delays processed at a time, so that they fit into the cache
_ON_SURFACE = 1e-10  # relative to the distance: points nearer to the surface count as on it
_ANGLE = pi / 4  # between the arc and the real axis of q, at both ends
_GAUSS = tuple(
    (1.0 + one) / 2.0 if i == 0 else one / 2.0 for i, one in enumerate(np.polynomial.legendre.leggauss(12))
)


def _halvings(r: float, depth: float) -> int:
    """Return how often panels must halve to come down to the square root of depth/r."""
    return int(0.5 + 0.5 * np.log2(max(r, depth) / max(depth, _ON_SURFACE * r)))


def _halving(grades: int) -> tuple[Array, Array]:
    """Return a rule for [0, 1] of Gauss panels that halve towards 0."""
    ends = np.concatenate([[0.0], 0.5 ** np.arange(grades, -1, -1)])
    width = np.diff(ends)[:, None]
    return (ends[:-1, None] + width * _GAUSS[0]).ravel(), (width * _GAUSS[1]).ravel()
