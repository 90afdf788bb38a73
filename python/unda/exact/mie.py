"""Scattering of a plane wave of one frequency by a sphere: Mie's solution.

Not here: its spherical waves (spherical.py).
Next: spherical.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._check import number, unit_vector, vector
from .._units import plain
from ..errors import ArgumentError
from ..problem.medium import Maxwell
from .base import Array, Complex, together
from .plane_maxwell import transverse
from .spherical import Places, angular, bessel, riccati_slope


class mie_sphere:
    """A plane wave exp(-i omega t) scattered by a sphere that conducts perfectly, or of a material.

    The incident wave is E = polarization exp(i k direction.x), 1 V/m at the origin of coordinates;
    the field at time t is the real part of the complex one times exp(-i omega t). To compare a run,
    divide its Fourier transform, integral of E exp(+i omega t) dt, by that of the incident pulse.

    Parameters
    ----------
    medium : Maxwell
        Around the sphere; homogeneous, sigma = 0.
    radius : float
        Radius of the sphere [m].
    frequency : float
        Frequency [Hz].
    sphere : Maxwell, optional
        Material of the sphere, which may conduct; a perfect electric conductor if omitted.
    direction : array_like, shape (3,)
        Where the wave travels to; any length.
    polarization : array_like, shape (3,)
        Direction of the incident E, orthogonal to the wave's; any length.
    center : array_like, shape (3,)
        Center of the sphere [m].

    Attributes
    ----------
    medium : Maxwell
        As given.
    omega : float
        Angular frequency [rad/s].
    size : float
        Radius times wavenumber.
    q_ext, q_sca : float
        Cross-sections of extinction and scattering over pi radius^2.

    Raises
    ------
    ArgumentError
        If a medium is not homogeneous or not Maxwell, the outer one conducts, radius or frequency are
        not positive or the polarization is not orthogonal to the direction.

    References
    ----------
    Mie (1908); Bohren & Huffman (1983), Absorption and Scattering of Light by Small Particles,
    chapter 4.

    Examples
    --------
    >>> import unda
    >>> vacuum, glass = unda.Maxwell(eps=1.0, mu=1.0), unda.Maxwell(eps=2.25, mu=1.0)
    >>> mie = unda.exact.mie_sphere(vacuum, 1.0, 10.0 / 6.283185307179586, sphere=glass)
    >>> round(mie.q_ext, 6)
    2.881999
    """

    def __init__(
        self,
        medium: Maxwell,
        radius: float,
        frequency: float,
        *,
        sphere: Maxwell | None = None,
        direction: Any = (0.0, 0.0, 1.0),
        polarization: Any = (1.0, 0.0, 0.0),
        center: Any = (0.0, 0.0, 0.0),
    ) -> None:
        eps, mu = _material("medium", medium, 0.0)
        self.medium, self.sphere = medium, sphere
        self.radius = number("radius", radius, "m", positive=True)
        self.frequency = number("frequency", frequency, "Hz", positive=True)
        self.omega = 2.0 * np.pi * self.frequency
        self._k, self._mu = self.omega * float(np.sqrt(eps * mu).real), mu
        self.size = self._k * self.radius
        d = np.array(unit_vector("direction", direction))
        e = transverse(polarization, d)
        self._frame = np.stack([e, np.cross(d, e), d])  # rows: x, y, z of Bohren & Huffman
        self._center = np.array(vector("center", center, "m"))
        self._phase = np.exp(1j * self._k * (d @ self._center))
        # Terms fall like ((e x/2n)^2)^n beyond n = x; Wiscombe (1980) stops the far field at +4 x^(1/3)
        num_term = int(np.ceil(self.size + 8.0 * np.cbrt(self.size) + 10.0))
        orders = range(1, num_term + 1)
        rows: list[tuple[complex, ...]]
        with np.errstate(all="ignore"):  # overflow is detected below
            if sphere is None:
                rows = [_pec(n, self.size) for n in orders]
            else:
                eps1, self._mu1 = _material("sphere", sphere, self.omega)
                m = complex(np.sqrt(eps1 * self._mu1 / (eps * mu)))
                self._k1 = m * self._k
                rows = [_penetrable(n, self.size, m, self._mu1 / mu) for n in orders]
        table = np.array(rows, dtype=np.complex128).T
        if not np.all(np.isfinite(table)):
            raise ArgumentError(
                f"radius times wavenumber is {self.size:.6g} outside"
                + ("" if sphere is None else f", {self._k1 * self.radius:.6g} inside")
                + "; expected neither below 1e-10 nor an imaginary part above 500 (take a perfect conductor)"
            )
        self._a, self._b = table[0], table[1]
        self._inside = None if sphere is None else (table[3], table[2])
        weights = 2.0 * np.arange(1, num_term + 1) + 1.0
        scale = 2.0 / self.size**2
        self.q_ext = float(scale * (weights @ (self._a + self._b).real))
        self.q_sca = float(scale * (weights @ (np.abs(self._a) ** 2 + np.abs(self._b) ** 2)))

    def fields(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, part: str = "total") -> dict[str, Complex]:
        """Return the complex fields at places x, y, z [m], which are broadcast.

        Parameters
        ----------
        x, y, z : array_like
            Coordinates [m]. On the surface the fields are those outside.
        part : {"total", "scattered"}
            With or without the incident wave; inside a perfect conductor the total field is zero.

        Returns
        -------
        dict of str to ndarray
            ex, ey, ez [V/m], hx, hy, hz [A/m] for an incident wave of 1 V/m; complex128 arrays of the
            broadcast shape.

        Raises
        ------
        ArgumentError
            If the part is unknown or the shapes cannot be broadcast.

        Examples
        --------
        >>> import unda
        >>> mie = unda.exact.mie_sphere(unda.Maxwell(eps=1.0, mu=1.0), radius=1.0, frequency=0.2)
        >>> bool(abs(mie.fields(0.0, 0.0, -1.0)["ex"]) < 1e-12)
        True
        """
        if part not in ("total", "scattered"):
            raise ArgumentError(f"part is {part!r}; expected 'total' or 'scattered'")
        arrays, shape = together(x=x, y=y, z=z)
        places = np.stack([np.broadcast_to(one, shape) for one in arrays])
        points = self._frame @ (places.reshape(3, -1) - self._center[:, None])
        incident = self._incident(points)
        outside = np.linalg.norm(points, axis=0) >= self.radius * (1.0 - 1e-12)
        values = -incident
        # Bohren & Huffman 4.45, and 4.40 with regular waves
        values[:, outside] = self._waves(points[:, outside], "h", self._k, self._mu, -self._a, -self._b)
        if self._inside is not None:
            values[:, ~outside] += self._waves(points[:, ~outside], "j", self._k1, self._mu1, *self._inside)
        values = (values + incident if part == "total" else values) * self._phase
        turned = np.concatenate([self._frame.T @ values[:3], self._frame.T @ values[3:]])
        return dict(zip(self.medium.fields, turned.reshape(6, *places.shape[1:]), strict=True))

    def bistatic(self, theta: ArrayLike, phi: ArrayLike) -> Array:
        """Return the bistatic radar cross-section, 4 pi r^2 abs(E_scattered)^2/abs(E_incident)^2.

        Parameters
        ----------
        theta : array_like
            Angle from the direction of the wave [rad]: 0 is forward, pi back to where it came from.
        phi : array_like
            Angle around it [rad]: 0 is the plane of direction and polarization.

        Returns
        -------
        ndarray
            Cross-section [m2], of the broadcast shape; times 1/(pi radius^2) it is without units.

        Examples
        --------
        >>> import numpy as np
        >>> import unda
        >>> mie = unda.exact.mie_sphere(unda.Maxwell(eps=1.0, mu=1.0), radius=1.0, frequency=20.0)
        >>> round(float(mie.bistatic(np.pi, 0.0)) / np.pi, 2)  # backscattered by a large sphere
        1.0
        """
        angle = np.asarray(plain("theta", theta, "rad"), dtype=np.float64)
        around = np.asarray(plain("phi", phi, "rad"), dtype=np.float64)
        s1, s2 = np.zeros((2, *angle.shape), dtype=np.complex128)
        for n, (pi_n, tau_n) in enumerate(angular(np.cos(angle), len(self._a)), start=1):
            weight, a, b = (2 * n + 1) / (n * (n + 1)), self._a[n - 1], self._b[n - 1]
            s1 = s1 + weight * (a * pi_n + b * tau_n)  # Bohren & Huffman 4.74
            s2 = s2 + weight * (a * tau_n + b * pi_n)
        cosine, sine = np.cos(around), np.sin(around)
        power = np.abs(s2) ** 2 * cosine**2 + np.abs(s1) ** 2 * sine**2
        return np.asarray(4.0 * np.pi / self._k**2 * power)

    def _incident(self, points: Array) -> Complex:
        wave = np.exp(1j * self._k * points[2])
        fields = np.zeros((6, len(wave)), dtype=np.complex128)
        fields[0], fields[4] = wave, wave * self._k / (self.omega * self._mu)
        return fields

    def _waves(
        self, points: Array, kind: str, k: complex, mu: float, electric: Complex, magnetic: Complex
    ) -> Complex:
        """E = sum E_n (magnetic_n M_o1n - i electric_n N_e1n), i omega mu H = curl E."""
        e, curl = Places(*points).expand(kind, k, electric, magnetic)
        return np.concatenate([e, curl * k / (1j * self.omega * mu)])

    def __repr__(self) -> str:
        sphere = "" if self.sphere is None else f", sphere={self.sphere!r}"
        return f"unda.exact.mie_sphere({self.medium!r}, {self.radius}, {self.frequency}{sphere})"


def _material(name: str, medium: Any, omega: float) -> tuple[complex, float]:
    """Return eps + i sigma/omega and mu; raise if the medium conducts and omega is 0."""
    if not isinstance(medium, Maxwell):
        raise ArgumentError(f"{name} is {medium!r}; expected a unda.Maxwell")
    values = medium.scalar()
    if values["sigma"] > 0.0 and omega == 0.0:
        raise ArgumentError(f"sigma of {name} is {values['sigma']} S/m; expected 0")
    loss = values["sigma"] / omega if omega > 0.0 else 0.0
    return complex(values["eps"], loss), values["mu"]


def _pec(n: int, x: float) -> tuple[complex, complex]:
    """Return a_n and b_n of a perfect conductor: [x j_n]'/[x h_n]' and j_n/h_n (Ruck 1970, 3.2-1)."""
    a = riccati_slope("j", n, x) / riccati_slope("h", n, x)
    return complex(a), complex(bessel("j", n, x) / bessel("h", n, x))


def _penetrable(n: int, x: float, m: complex, ratio: float) -> tuple[complex, complex, complex, complex]:
    """Return a_n, b_n, c_n and d_n (Bohren & Huffman 4.52, 4.53), ratio being mu_1/mu."""
    mx = m * x if m.imag else m.real * x
    j, h, j1 = bessel("j", n, x), bessel("h", n, x), bessel("j", n, mx)
    dj, dh, dj1 = riccati_slope("j", n, x), riccati_slope("h", n, x), riccati_slope("j", n, mx)
    below_a = m**2 * j1 * dh - ratio * h * dj1
    below_b = ratio * j1 * dh - h * dj1
    wronskian = ratio * (j * dh - h * dj)  # = ratio i/x
    return (
        complex((m**2 * j1 * dj - ratio * j * dj1) / below_a),
        complex((ratio * j1 * dj - j * dj1) / below_b),
        complex(wronskian / below_b),
        complex(m * wronskian / below_a),
    )
