"""The wave of a point source below the free surface of layers over a half-space.

Not here: a source in one medium (elastic_point.py), on the surface of one (lamb.py).
Next: lamb.py.
"""

from __future__ import annotations

from math import ceil, hypot, log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._check import number
from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import MomentTensor, PointForce
from .base import Array, Complex, ExactSolution, make_solution
from .lamb import by_place
from .partial import VOIGT, Material, solid
from .point import driving_function

Layers = Any


def layered_source(
    medium: Medium, source: PointForce | MomentTensor, *, layers: Layers = (), surface: float = 0.0
) -> ExactSolution:
    """Return the wave of a force or a moment in solid layers over a half-space, with a free surface.

    Everything that the medium does: direct, reflected and converted waves, head and surface waves, near
    field. Integrals over frequency and wavenumber of plane waves that meet the conditions at the interfaces.

    Parameters
    ----------
    medium : Medium
        Homogeneous and solid: the half-space below the layers.
    source : PointForce or MomentTensor
        Inside the half-space or a layer. Its f must be a time function with a known beginning and highest
        frequency (no plain callable).
    layers : sequence of (float, Medium)
        Thickness [m] and homogeneous solid of each, from the surface down.
    surface : float
        z of the free surface [m].

    Returns
    -------
    ExactSolution
        Fields vx, vy, vz [m/s], sxx, .. [Pa], relative to the peak accurate to 1e-6. Singular at the source;
        points at its depth are not available, and those near to it cost most. Each depth costs some tenths of
        a second, further places at one depth and times little.

    Raises
    ------
    ArgumentError
        If a medium is not a homogeneous solid, or the source not such a source or on an interface; when
        called: if a point is above the surface or at the source's depth.

    References
    ----------
    Bouchon (1981), Bull. Seism. Soc. Am. 71, 959-971; Chin, Hedstrom & Thigpen (1984), J. Comput. Phys. 54,
    18-36.

    Examples
    --------
    >>> import unda
    >>> soil = unda.Elastic(rho=2600.0, vp=4000.0, vs=2000.0)
    >>> rock = unda.Elastic(rho=2700.0, vp=6000.0, vs=3464.0)
    >>> push = unda.PointForce((0, 0, -1500), unda.ricker(1.0), direction=(0, 0, 1e12))
    >>> wave = unda.exact.layered_source(rock, push, layers=[(1000.0, soil)])
    >>> [round(float(v), 4) for v in wave(500.0, 0.0, 0.0, [1.2, 1.5])["vz"]]
    [-0.0027, -0.0021]
    """
    return make_solution("layered_source", locals())


class LayeredSource(ExactSolution):
    """Plane waves up and down in each layer, for each frequency and each wavenumber along the surface.

    In the frame (k, t, z) of the wave vector k along the surface, a wave of amplitude A is the displacement
    A d exp(i (K.x - omega t)), K = (k, 0, +-nu), nu^2 = omega^2/c^2 - k^2, Im nu > 0, d.d = 1, along K (P),
    along t x K (SV) or t (SH); its stress is i A (lambda K.d I + mu (K d^T + d K^T)). Of the source, by
    Weyl's integral, A = i F.d/(2 rho c^2 nu), with M (-i K) for the force F of a moment. The others follow
    from continuous displacement and traction, and none at the surface. Amplitudes are those where the wave
    starts, at the top or bottom of its layer, so that no exponential grows (Chin et al. 1984).

    Back in space, integral over directions of k: components turn with it, as polynomials of degree 4
    in its cosine and sine, of which each power has a Bessel function.

    Frequencies are omega_n + i eps: sums over n repeat the wave after a time 2 T, where T is the latest
    time asked for, times exp(-2 eps T) = 1e-7; at T rounding and truncated spectra are 3e3 times as large.
    No pole or branch point in k is nearer to the real axis than d = eps/vp of the fastest medium: Gauss's
    rule of 16 nodes on panels of width 3 d errs by less than ((1 + sqrt(1 + 1.5^2))/1.5)^-32 = 1e-10.
    """

    physics = "elastic"
    name = "layered_source"
    singular = True
    constant_along: tuple[str, ...] | None = ()

    def __init__(self, medium: Medium, source: Any, layers: Layers = (), surface: float = 0.0) -> None:
        f = driving_function(source, medium)
        if not isinstance(source, PointForce | MomentTensor):
            raise ArgumentError(f"source is {source!r}; expected a unda.PointForce or unda.MomentTensor")
        self._rate = f.derivative
        span, fmax = self._rate.span or f.span, self._rate.fmax or f.fmax
        if span is None or fmax is None:
            raise ArgumentError(f"{f!r} has no known beginning or highest frequency; use unda.sampled")
        self._span, self._fmax = span, fmax
        self._surface = number("surface", surface, "m")
        thickness, media = _read(layers)
        kept = tuple((one, other) for one, other in zip(thickness, media, strict=True))
        super().__init__(medium, source=source, layers=kept or None, surface=self._surface or None)
        self._solids = [solid(one, "which carries no shear") for one in (*media, medium)]
        self._tops = np.concatenate([[0.0], np.cumsum(thickness)])  # depths of each medium
        self._depth = self._surface - float(source.position[2])
        if self._depth <= 0.0 or np.abs(self._tops - self._depth).min() < 1e-9 * self._depth:
            raise ArgumentError(
                f"the source is {self._depth:.9g} m below the surface, and interfaces are at "
                f"{', '.join(f'{one:.9g}' for one in self._tops)} m; expected it in between, on none"
            )

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        shape, groups = by_place((x, y, z, t))
        values, end = np.full((9, int(np.prod(shape))), np.nan), 0.0
        depths: dict[float, list[Any]] = {}
        for place, here, times in groups:
            depth = self._surface - place[2]
            if depth < -1e-9 * (1.0 + abs(self._surface)):
                raise ArgumentError(f"a point is {-depth} m above the free surface; expected none there")
            depths.setdefault(max(depth, 0.0), []).append((place, here, times))
            end = max(end, float(times.max()) - self._span[0])
        for depth, places in depths.items() if end > 0.0 else ():
            offsets = [place[:2] - self._arguments["source"].position[:2] for place, _, _ in places]
            omega, spectra = self._spectra(offsets, depth, end)
            for (_, here, times), spectrum in zip(places, spectra, strict=True):
                late = times - self._span[0]
                kernel = np.exp(-1j * np.outer(late, omega)) * (omega[1].real / pi)
                values[:, here] = (kernel @ spectrum).real.T
                values[:, here[late < 0.0]] = 0.0
        for _, here, times in groups if end <= 0.0 else ():
            values[:, here] = 0.0 * times
        return dict(zip(self.fields, values.reshape(9, *shape), strict=True))

    def _spectra(self, offsets: list[Array], depth: float, end: float) -> tuple[Complex, list[Complex]]:
        """Return complex frequencies and, for each place, velocity and stress (num_frequency, 9) there."""
        damping = log(1e7) / (2.0 * end)
        omega, pulse = self._pulse(end, damping)
        half = 1.5 * damping / max(one.vp for one in self._solids)
        nodes, weights = np.polynomial.legendre.leggauss(16)
        most = self._largest(omega[-1].real, depth)
        if most / half > _PANELS:
            raise ArgumentError(
                f"a point at the depth of {depth} m is too near to that of the source, {self._depth} m; "
                f"expected at least {25.0 / (_PANELS * half):.3g} m between them"
            )
        k = (half * (2.0 * np.arange(ceil(most / (2.0 * half)))[:, None] + 1.0 + nodes)).ravel()
        weight = np.tile(half * weights, len(k) // 16) * k / (2.0 * pi)
        turns = [self._turns(offset, k, weight) for offset in offsets]
        found = np.zeros((len(offsets), len(omega), 9), complex)
        for n, frequency in enumerate(omega):
            count = min(len(k), int(np.searchsorted(k, self._largest(frequency.real, depth))) + 16)
            moved = self._response(frequency, k[:count], depth) * pulse[n]
            moved[:, 3:] /= -1j * frequency  # velocity from the rate of f, stress from f
            for place, turn in enumerate(turns):
                found[place, n] = turn[:, :count].reshape(9, -1) @ moved.ravel()
        return omega, list(found)

    def _pulse(self, end: float, damping: float) -> tuple[Complex, Complex]:
        """Return complex frequencies and the spectrum there of the rate of f, half of it at the first."""
        num = 2 ** ceil(np.log2(16.0 * max(self._fmax * end, 1.0)))
        late = 2.0 * end / num * np.arange(num * ceil((self._span[1] - self._span[0]) / (2.0 * end)))
        samples = self._rate(late + self._span[0]) * np.exp(-damping * late)
        pulse = 2.0 * end * np.fft.ifft(samples.reshape(-1, num).sum(axis=0))[: num // 2]
        pulse[0] *= 0.5
        last = max(int(np.flatnonzero(np.abs(pulse) > 1e-10 * np.abs(pulse).max())[-1]) + 1, 2)
        return (pi / end * np.arange(last) + 1j * damping).astype(np.complex128), pulse[:last]

    def _largest(self, omega: float, depth: float) -> float:
        """Return the wavenumber from which on exp(-25) of a wave comes from the source's depth to another."""
        low, high = sorted((depth, self._depth))
        ends = np.append(self._tops, np.inf)
        way = np.diff(np.clip(ends, low, high))  # in each medium
        slowness = np.array([1.0 / one.vs for one in self._solids])
        k = omega * slowness.max() + 25.0 / (high - low) if high > low else np.inf
        for _ in range(40 if high > low else 0):
            decay = np.sqrt(np.maximum(k**2 - (omega * slowness) ** 2, 0.0)) @ way
            k -= 0.3 * (decay - 25.0) / (high - low) if decay > 25.0 else 0.0
        return float(k)

    def _turns(self, offset: Array, k: Array, weight: Array) -> Complex:
        """Return factors (9, num_k, 9, num_source) from responses in the frame to fields in space.

        With the angle a of k from the direction of the place: of a component e^(i m a) the integral over
        angles is 2 pi i^m J_m(k r); nine angles tell the powers -4..4 apart.
        """
        from scipy.special import jv

        r, towards = hypot(*offset), np.arctan2(offset[1], offset[0])
        source, total = self._arguments["source"], np.zeros((9, len(k), 9, self._driven), complex)
        bessel = [1j**m * jv(m, k * r) * weight for m in range(-4, 5)]
        for angle in 2.0 * pi * np.arange(9) / 9:
            c, s = np.cos(angle + towards), np.sin(angle + towards)
            frame = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
            if isinstance(source, PointForce):
                driven = frame @ np.array(source.direction)
            else:
                turned = frame @ source.moment @ frame.T
                driven = np.array([turned[pair] for pair in VOIGT])
            back = np.zeros((9, 9))
            back[:3, :3] = frame.T
            for column, (i, j) in enumerate(VOIGT):
                unit = np.zeros((3, 3))
                unit[i, j] = unit[j, i] = 1.0
                stress = frame.T @ unit @ frame
                back[3:, 3 + column] = [stress[pair] for pair in VOIGT]
            wave = sum(
                np.exp(-1j * m * angle) / 9.0 * one for m, one in zip(range(-4, 5), bessel, strict=True)
            )
            total += wave[None, :, None, None] * (back[:, None, :, None] * driven)
        return total

    @property
    def _driven(self) -> int:
        return 3 if isinstance(self._arguments["source"], PointForce) else 6

    def _response(self, omega: complex, k: Array, depth: float) -> Complex:
        """Return displacement and stress in the frame (num_k, 9, num_source) of unit forces or moments."""
        waves = [_Waves(one, omega, k) for one in self._solids]
        source = int(np.searchsorted(self._tops, self._depth)) - 1  # the medium that has it
        last = len(waves) - 1
        size = 6 * last + 3
        matrix = np.zeros((len(k), size, size), complex)
        right = np.zeros((len(k), size, self._driven), complex)
        unit = self._solids[-1].mu * abs(omega) / self._solids[-1].vs  # of tractions
        for i, wave in enumerate(waves):
            column = 6 * i + (3 if i < last else 0)  # of waves down; those up, if any, are before them
            across = wave.phase(self._tops[i + 1] - self._tops[i]) if i < last else 1.0
            fields = wave.contact(unit)
            for plane in (i, i + 1) if i < last else (i,):
                # traction at the surface, or displacement and traction at an interface, above minus below
                rows = slice(6 * plane - 3, 6 * plane + 3) if plane else slice(0, 3)
                part = (fields if plane else fields[:, 3:]) * (1.0 if plane > i else -1.0)
                if i < last:
                    matrix[:, rows, column - 3 : column] = part[..., :3] * (1.0 if plane > i else across)
                matrix[:, rows, column : column + 3] = part[..., 3:] * (across if plane > i else 1.0)
                if i == source:
                    started = wave.started(abs(self._tops[plane] - self._depth), plane == i, self._driven)
                    right[:, rows] -= (part[..., :3] if plane == i else part[..., 3:]) @ started
        amplitudes = np.linalg.solve(matrix, right)
        i = int(np.searchsorted(self._tops, depth, side="right")) - 1
        wave, column = waves[i], 6 * i + (3 if i < last else 0)
        down = amplitudes[:, column : column + 3] * wave.phase(depth - self._tops[i]).swapaxes(1, 2)
        up = np.zeros_like(down)
        if i < last:
            up = amplitudes[:, column - 3 : column] * wave.phase(self._tops[i + 1] - depth).swapaxes(1, 2)
        if i == source:
            own = up if depth < self._depth else down
            own += wave.started(abs(depth - self._depth), depth < self._depth, self._driven)
        return wave.fields(True) @ up + wave.fields(False) @ down


_PANELS = 2e4


class _Waves:
    """P, SV and SH waves of one medium, of one frequency and many wavenumbers."""

    def __init__(self, material: Material, omega: complex, k: Array) -> None:
        self._material = material
        speeds = (material.vp, material.vs, material.vs)
        self._nu = np.stack([np.sqrt((omega / c) ** 2 - k**2 + 0j) for c in speeds], axis=1)
        self._nu *= np.where(self._nu.imag < 0.0, -1.0, 1.0)
        self._k, self._speeds = k, np.array(speeds)
        self._scale = material.vp / omega, material.vs / omega

    def _vectors(self, up: bool) -> tuple[Complex, Complex]:
        """Return K and d (num_k, wave, 3)."""
        across = self._nu if up else -self._nu
        vector, d = np.zeros((2, len(self._k), 3, 3), complex)
        vector[..., 0], vector[..., 2] = self._k[:, None], across
        d[:, 0] = self._scale[0] * vector[:, 0]
        d[:, 1, 0], d[:, 1, 2] = -self._scale[1] * across[:, 1], self._scale[1] * self._k
        d[:, 2, 1] = 1.0
        return vector, d

    def fields(self, up: bool) -> Complex:
        """Return displacement and stress (num_k, 9, wave) of unit amplitudes."""
        vector, d = self._vectors(up)
        both = vector[..., :, None] * d[..., None, :]
        stress = 1j * self._material.mu * (both + both.swapaxes(2, 3))
        stress += 1j * self._material.lam * np.trace(both, axis1=2, axis2=3)[..., None, None] * np.eye(3)
        parts = [d, np.stack([stress[..., i, j] for i, j in VOIGT], axis=2)]
        return np.concatenate(parts, axis=2).swapaxes(1, 2)

    def contact(self, unit: float) -> Complex:
        """Return displacement and traction / unit (num_k, 6, 6) at a plane, columns up then down."""
        found = np.concatenate([self.fields(True), self.fields(False)], axis=2)[:, [0, 1, 2, 7, 6, 5]]
        found[:, 3:] /= unit
        return found

    def phase(self, way: float) -> Complex:
        """Return what is left of each amplitude (num_k, 1, wave) after a way up or down."""
        kept: Complex = np.exp(1j * self._nu * way)[:, None]
        return kept

    def started(self, way: float, up: bool, driven: int) -> Complex:
        """Return amplitudes (num_k, wave, num_source) of the source's own waves at a distance from it."""
        vector, d = self._vectors(up)
        if driven == 3:
            pull = 1j * d
        else:
            both = vector[..., :, None] * d[..., None, :]
            pairs = [both[..., i, j] + (both[..., j, i] if i != j else 0.0) for i, j in VOIGT]
            pull = np.stack(pairs, axis=2)
        factor = self.phase(way)[:, 0] / (2.0 * self._material.rho * self._speeds**2 * self._nu)
        return factor[..., None] * pull


def _read(layers: Layers) -> tuple[NDArray[np.float64], list[Any]]:
    """Return thicknesses and media, or raise."""
    try:
        pairs = [(one, other) for one, other in layers]
    except (TypeError, ValueError):
        raise ArgumentError(
            f"layers is {layers!r}; expected pairs of a thickness [m] and a medium, from the surface down"
        ) from None
    thickness = [number("thickness of a layer", one, "m", positive=True) for one, _ in pairs]
    return np.array(thickness), [other for _, other in pairs]
