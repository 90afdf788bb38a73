"""Vector spherical harmonics: the waves into which a sphere scatters a plane one.

Not here: their coefficients (mie.py).
Next: mie.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .base import Array, Complex


def bessel(kind: str, n: int, rho: Any) -> Any:
    """Return j_n(rho), or h_n(rho) = j_n + i y_n, which goes outwards with exp(-i omega t)."""
    from scipy.special import spherical_jn, spherical_yn

    j = spherical_jn(n, rho)
    return j if kind == "j" else j + 1j * spherical_yn(n, rho)


def riccati_slope(kind: str, n: int, rho: Any) -> Any:
    """Return d(rho z_n)/d rho = rho z_(n-1) - n z_n."""
    return rho * bessel(kind, n - 1, rho) - n * bessel(kind, n, rho)


def angular(cosine: Array, num_term: int) -> Iterator[tuple[Array, Array]]:
    """Yield pi_n = P_n^1/sin theta and tau_n = d P_n^1/d theta for n = 1, 2, ... (Bohren & Huffman 4.47)."""
    before, pi_n = np.zeros_like(cosine), np.ones_like(cosine)
    for n in range(1, num_term + 1):
        yield pi_n, n * cosine * pi_n - (n + 1) * before
        before, pi_n = pi_n, ((2 * n + 1) * cosine * pi_n - (n + 1) * before) / n


class Places:
    """Points in spherical coordinates about the direction of a wave, phi from its polarization."""

    def __init__(self, x: Array, y: Array, z: Array) -> None:
        self.r = np.sqrt(x**2 + y**2 + z**2)
        across = np.sqrt(x**2 + y**2)
        away, aside = np.where(self.r > 0.0, self.r, 1.0), np.where(across > 0.0, across, 1.0)
        self.cos_theta, self.sin_theta = np.where(self.r > 0.0, z / away, 1.0), across / away
        self.cos_phi, self.sin_phi = np.where(across > 0.0, x / aside, 1.0), y / aside

    def cartesian(self, radial: Complex, theta: Complex, phi: Complex) -> Complex:
        """Return a vector (3, num_point) by its components along r, theta and phi."""
        level = radial * self.sin_theta + theta * self.cos_theta
        return np.stack([
            level * self.cos_phi - phi * self.sin_phi,
            level * self.sin_phi + phi * self.cos_phi,
            radial * self.cos_theta - theta * self.sin_theta,
        ])  # fmt: skip

    def expand(self, kind: str, k: complex, electric: Complex, magnetic: Complex) -> tuple[Complex, Complex]:
        """Return F = sum E_n (magnetic_n M_o1n - i electric_n N_e1n) and curl F/k, each (3, num_point).

        E_n = i^n (2n + 1)/(n (n + 1)); curl M = k N and curl N = k M (Bohren & Huffman 4.17 to 4.20).
        """
        rho = self.r * k if np.imag(k) else self.r * float(np.real(k))
        f, curl = np.zeros((2, 3, len(self.r)), dtype=np.complex128)
        before, here = bessel(kind, 0, rho), bessel(kind, 1, rho)
        for n, (pi_n, tau_n) in enumerate(angular(self.cos_theta, len(electric)), start=1):
            beyond = bessel(kind, n + 1, rho)
            over_rho = (before + beyond) / (2 * n + 1)  # z_n/rho, finite in the origin
            slope = before - n * over_rho  # (rho z_n)'/rho
            radial = n * (n + 1) * self.sin_theta * pi_n * over_rho
            c, s = self.cos_phi, self.sin_phi
            m_odd = np.stack([0.0 * here, c * pi_n * here, -s * tau_n * here])
            m_even = np.stack([0.0 * here, -s * pi_n * here, -c * tau_n * here])
            n_odd = np.stack([s * radial, s * tau_n * slope, c * pi_n * slope])
            n_even = np.stack([c * radial, c * tau_n * slope, -s * pi_n * slope])
            weight = 1j**n * (2 * n + 1) / (n * (n + 1))
            f += weight * (magnetic[n - 1] * m_odd - 1j * electric[n - 1] * n_even)
            curl += weight * (magnetic[n - 1] * n_odd - 1j * electric[n - 1] * m_even)
            before, here = here, beyond
        return self.cartesian(*f), self.cartesian(*curl)
