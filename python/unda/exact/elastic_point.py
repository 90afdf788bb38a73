"""The wave of a point force, a moment or an injected volume in an elastic full space, near field included.

Not here: the function that users call (point.py), walls (acoustic only).
Next: point.py.
"""

from __future__ import annotations

from math import pi
from typing import Any, ClassVar

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from ..problem.source import MomentTensor, PointForce, Source, VolumeInjection
from ..problem.timefunction import TimeFunction
from .base import Array, ExactSolution
from .partial import VOIGT, elastic
from .point import driving_function


class ElasticPointSource(ExactSolution):
    """Stokes' solution (1849; Aki & Richards 2002, 4.23, 4.29) in derivatives of radial functions.

    With h'' = f, phi_c = h(t - r/c)/r, chi_c = f(t - r/c)/(c^2 r) = laplace phi_c and Phi = phi_vp -
    phi_vs, the displacement that a force f(t) F makes is

        4 pi rho u_i = F_j d_i d_j Phi + F_i chi_vs,

    and that of a moment f(t) M is 4 pi rho u_i = -M_jk d_k (d_i d_j Phi + delta_ij chi_vs). The near
    field of 4.23, the integral of tau f(t - tau), is h and its integral's share in Phi. Derivatives
    along x_i are sums of powers of x times D^n, D = (1/r) d/dr. Velocity is the same with f' for f,
    stress follows by Hooke's law, its trace from div u = F_j d_j chi_vp/(4 pi rho).
    A moment's trace is treated separately: it makes the P wave -tr M/3 d_i chi_vp, and no S wave at all. In
    a fluid the terms of vs are absent. Phi is a difference of larger terms near the source and long
    after f began to act: of its digits some (vp t/r)^2 eps are lost.
    """

    physics = "elastic"
    name = "point_source"
    singular = True
    constant_along: tuple[str, ...] | None = ()

    _radial: ClassVar[type[Radial]]

    def __init__(self, medium: Medium, source: Source, **arguments: Any) -> None:
        f = driving_function(source, medium)
        super().__init__(medium, source=source, **arguments)
        self._plane = np.eye(3)  # directions in which the wave varies
        self._material = elastic("medium", medium)
        self._rho, self._vp, self._vs = self._material
        self._position = source.position
        source.rates(medium, 0)  # refuses sources that a fluid cannot carry
        self._force, self._f = np.zeros(3), f
        self._isotropic, self._deviatoric = 0.0, np.zeros((3, 3))
        if isinstance(source, PointForce):
            self._force = np.array(source.direction)
        elif isinstance(source, VolumeInjection):
            self._isotropic = self._rho * (self._vp**2 - 4.0 / 3.0 * self._vs**2)  # moment rate K q
            self._f = f.integral
        elif isinstance(source, MomentTensor):
            self._isotropic = float(np.trace(source.moment)) / 3.0
            if self._vs > 0.0:
                self._deviatoric = source.moment - self._isotropic * np.eye(3)
        else:
            raise ArgumentError(f"unda.exact.{self.name} does not know {source!r} in elastic media")

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        place = [one - s for one, s in zip((x, y, z), self._position, strict=True)]
        dx = np.tensordot(self._plane, np.stack(np.broadcast_arrays(*place, t)[:3]), 1)
        r = np.sqrt((dx**2).sum(axis=0))
        if r.size and float(r.min()) == 0.0:
            raise ArgumentError(f"a point is the source's own, {self._position}; its wave is infinite there")
        moving = self._radial(self._f.derivative, r, t, self._vp, self._vs)
        strained = self._radial(self._f, r, t, self._vp, self._vs)
        velocity = self._displacement(dx, moving) / (4.0 * pi * self._rho)
        strain, dilatation = (part / (4.0 * pi * self._rho) for part in self._strain(dx, strained))
        mu, lam = self._material.mu, self._material.lam
        fields = dict(zip(("vx", "vy", "vz"), velocity, strict=True))
        for name, (i, j) in zip(self.fields[3:], VOIGT, strict=True):
            fields[name] = 2.0 * mu * strain[i, j] + (lam * dilatation if i == j else 0.0)
        return fields

    def _displacement(self, x: Array, radial: Radial) -> Array:
        """Return 4 pi rho u_i; the time function is that of `radial`."""
        u = -self._isotropic * x * radial.chi_p(1)
        if self._force.any():
            fx = np.tensordot(self._force, x, 1)
            u = u + _along(self._plane @ self._force, radial.phi(1)) + x * fx * radial.phi(2)
            u = u + _along(self._force, radial.chi_s(0))
        if self._deviatoric.any():
            m = np.tensordot(self._deviatoric, x, 1)
            q = (x * m).sum(axis=0)
            u = u - m * (2.0 * radial.phi(2) + radial.chi_s(1)) - x * q * radial.phi(3)
        return u

    def _strain(self, x: Array, radial: Radial) -> tuple[Array, Array]:
        """Return 4 pi rho times the strain and its trace."""
        unit = self._plane.reshape(3, 3, *(1,) * (x.ndim - 1))
        xx = x[:, None] * x[None]
        strain = -self._isotropic * (unit * radial.chi_p(1) + xx * radial.chi_p(2))
        trace = -self._isotropic * radial.laplace_chi_p()
        if self._force.any():
            fx = np.tensordot(self._force, x, 1)
            strain = strain + _outer(self._plane @ self._force, x) * radial.phi(2)
            strain = strain + 0.5 * _outer(self._force, x) * radial.chi_s(1)
            strain = strain + fx * (unit * radial.phi(2) + xx * radial.phi(3))
            trace = trace + fx * radial.chi_p(1)
        if self._deviatoric.any():
            m = np.tensordot(self._deviatoric, x, 1)
            q = (x * m).sum(axis=0)
            pair = m[:, None] * x[None] + x[:, None] * m[None]
            tensor = self._deviatoric.reshape(unit.shape[:2] + (1,) * (x.ndim - 1))
            strain = strain - tensor * (2.0 * radial.phi(2) + radial.chi_s(1))
            strain = strain - pair * (2.0 * radial.phi(3) + 0.5 * radial.chi_s(2))
            strain = strain - q * (unit * radial.phi(3) + xx * radial.phi(4))
            trace = trace - q * radial.chi_p(2)
        return strain, trace


def _along(vector: Array, scalar: Array) -> Array:
    """Return vector times a scalar field, (3, ..)."""
    return vector.reshape(3, *(1,) * scalar.ndim) * scalar


def _outer(vector: Array, x: Array) -> Array:
    """Return vector x^T + x vector^T, (3, 3, ..)."""
    product = np.tensordot(vector, x[None], 0)[:, 0]
    return product + product.swapaxes(0, 1)


class Radial:
    """D^n phi_c and D^n chi_c of one time function f, with D = (1/r) d/dr and h'' = f."""

    def __init__(self, f: TimeFunction, r: Array, t: Array, vp: float, vs: float) -> None:
        self._functions = {2: f}  # by order of differentiation of h
        self._r, self._t, self._vp, self._vs = r, t, vp, vs
        self._known: dict[tuple[float, int], Array] = {}
        self._powers: dict[tuple[int, float, int], Array] = {}

    def _signal(self, c: float, order: int) -> Array:
        """Return the order-th derivative of h at t - r/c."""
        if (c, order) not in self._known:
            self._known[c, order] = self._function(order)(self._t - self._r / c)
        return self._known[c, order]

    def _function(self, order: int) -> TimeFunction:
        if order not in self._functions:
            near = self._function(order + 1 if order < 2 else order - 1)
            self._functions[order] = near.integral if order < 2 else near.derivative
        return self._functions[order]

    def _power(self, n: int, c: float, first: int) -> Array:
        """Return D^n of g(t - r/c)/r, g the first-th derivative of h.

        D^n = r^(-2n - 1) sum_k a_nk g^(k) (-r/c)^k, by D (g^(k) r^-m) = -g^(k+1) r^(-m-1)/c -
        m g^(k) r^(-m-2); the sum by Horner's rule.
        """
        if (n, c, first) in self._powers:
            return self._powers[n, c, first]
        coefficients = [1.0]
        for step in range(n):
            powers = [2 * step + 1 - k for k in range(step + 1)]
            old = [-m * a for m, a in zip(powers, coefficients, strict=True)]
            coefficients = [a + b for a, b in zip([*old, 0.0], [0.0, *coefficients], strict=True)]
        total, delay = coefficients[n] * self._signal(c, first + n), -self._r / c
        for k in reversed(range(n)):
            total = total * delay + coefficients[k] * self._signal(c, first + k)
        inverse = 1.0 / self._r
        for _ in range(n):
            inverse = inverse / self._r**2
        self._powers[n, c, first] = total * inverse
        return self._powers[n, c, first]

    def laplace_chi_p(self) -> Array:
        """Return laplace chi_vp = f''(t - r/vp)/(vp^4 r)."""
        return self._power(0, self._vp, 4) / self._vp**4

    def phi(self, n: int) -> Array:
        """Return D^n Phi."""
        slow = self._power(n, self._vs, 0) if self._vs > 0.0 else 0.0
        return self._power(n, self._vp, 0) - slow

    def chi_p(self, n: int) -> Array:
        """Return D^n chi_vp."""
        return self._power(n, self._vp, 2) / self._vp**2

    def chi_s(self, n: int) -> Array:
        """Return D^n chi_vs, zero in a fluid."""
        return self._power(n, self._vs, 2) / self._vs**2 if self._vs > 0.0 else np.zeros_like(self._r)


ElasticPointSource._radial = Radial
