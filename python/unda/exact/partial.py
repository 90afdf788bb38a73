"""Partial waves: plane P, SV and SH waves of any real or complex slowness.

A wave v = A q E, E = exp(i omega (s.x - t)) or f(t - s.x), of slowness s and polarization q has the
stress sigma = -A [lambda (s.q) I + mu (s q^T + q s^T)] E, by sigma_t = lambda (div v) I + mu (grad v +
grad v^T). P: q = vp s, s.s = 1/vp^2; SV: q = vs b x s, SH: q = b, s.s = 1/vs^2, b = n x e, where n is
the normal of an interface and e the direction along it (Aki & Richards 2002, section 5.2). Slowness
along n may be imaginary: then the wave decays or grows away from the interface.

Not here: the waves of each problem (elastic_plane.py, elastic_interface.py, surface_wave.py).
Next: elastic_plane.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, Complex
from .two_sides import Side

VOIGT = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]  # of sxx syy szz syz sxz sxy in the tensor


class Material(NamedTuple):
    """Constants of a homogeneous elastic medium."""

    rho: float
    vp: float
    vs: float

    @property
    def mu(self) -> float:
        """Shear modulus [Pa]."""
        return self.rho * self.vs**2

    @property
    def lam(self) -> float:
        """First Lame constant [Pa]."""
        return self.rho * (self.vp**2 - 2.0 * self.vs**2)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Waves that exist: a fluid has P alone."""
        return ("p", "sv", "sh") if self.vs > 0.0 else ("p",)

    def speed(self, kind: str) -> float:
        """Return the speed [m/s] of a kind of wave."""
        return self.vp if kind == "p" else self.vs


def elastic(name: str, medium: Any) -> Material:
    """Return the constants of a homogeneous elastic medium, or raise."""
    if not isinstance(medium, Medium) or medium.physics != "elastic":
        raise ArgumentError(f"{name} is {medium!r}; expected an elastic medium such as unda.Elastic")
    return Material(**medium.scalar())


def solid(medium: Any, why: str) -> Material:
    """Return the constants of a homogeneous solid, or raise; why: what a fluid lacks."""
    material = elastic("medium", medium)
    if material.vs == 0.0:
        raise ArgumentError(f"the medium is a fluid (vs = 0), {why}; expected a solid")
    return material


class Frame(NamedTuple):
    """Directions at an interface: normal n, along it e, across both b = n x e."""

    n: Array
    e: Array
    b: Array

    @classmethod
    def of(cls, normal: Array, along: Array) -> Frame:
        """Return the frame of a unit normal and a vector; where that has no part along the interface, any."""
        along = along - (along @ normal) * normal
        if np.linalg.norm(along) <= 1e-12:
            along = np.eye(3)[int(np.argmin(np.abs(normal)))]
            along = along - (along @ normal) * normal
        e = along / np.linalg.norm(along)
        return cls(normal, e, np.cross(normal, e))


class Partial(NamedTuple):
    """One plane wave of unit amplitude."""

    slowness: Complex  # [s/m]
    velocity: Complex  # q
    stress: Complex  # (3, 3), per unit of velocity [Pa s/m]
    rho: float  # of the medium

    @classmethod
    def of(cls, material: Material, slowness: Any, polarization: Any) -> Partial:
        """Return the wave of a slowness and a polarization q."""
        s, q = np.asarray(slowness, complex), np.asarray(polarization, complex)
        both = np.outer(s, q)
        stress = -material.lam * (s @ q) * np.eye(3) - material.mu * (both + both.T)
        return cls(s, q, stress, material.rho)

    @classmethod
    def at_interface(cls, material: Material, kind: str, frame: Frame, along: float, sign: float) -> Partial:
        """Return a wave of slowness `along` e that leaves (or decays) to the side `sign` n."""
        across = np.sqrt(complex(material.speed(kind) ** -2 - along**2))
        return cls.with_slowness(material, kind, frame, along * frame.e + sign * across * frame.n)

    @classmethod
    def with_slowness(cls, material: Material, kind: str, frame: Frame, s: Any) -> Partial:
        """Return a wave of given slowness, polarized by the frame."""
        q = {"p": material.vp * s, "sv": material.vs * np.cross(frame.b, s), "sh": frame.b + 0.0 * s}[kind]
        return cls.of(material, s, q)

    def traction(self, frame: Frame) -> Complex:
        """Return the traction sigma n along n, e, b."""
        return np.array([axis @ self.stress @ frame.n for axis in frame])

    def motion(self, frame: Frame) -> Complex:
        """Return the velocity along n, e, b."""
        return np.array([axis @ self.velocity for axis in frame])

    def flux(self, n: Array) -> float:
        """Return the energy flux along n [kg/(m2 s)], rho c^2 s_n, times abs(A)^2/2 of an amplitude A."""
        return abs(float(self.rho / (self.slowness @ self.slowness).real * (self.slowness @ n).real))

    def fields(self) -> Complex:
        """Return vx vy vz sxx syy szz syz sxz sxy."""
        return np.array([*self.velocity, *(self.stress[pair] for pair in VOIGT)])


def contact(
    waves: tuple[list[Partial], list[Partial]], solid: tuple[bool, bool], frame: Frame, free: bool = False
) -> dict[str, Complex]:
    """Return the conditions at an interface on the amplitudes of the waves on both sides.

    Normal velocity and normal traction are continuous; between solids so are those along the
    interface, beside a fluid a solid has no shear traction. A free surface bears no traction.
    Keys name the component ("v" or "t", then n, e or b), values are factors of the amplitudes, of
    largest size 1.
    """
    signed = [(-1.0, wave) for wave in waves[0]] + [(1.0, wave) for wave in waves[1]]
    motion = np.array([sign * wave.motion(frame) for sign, wave in signed]).T
    traction = np.array([sign * wave.traction(frame) for sign, wave in signed]).T
    rows = {f"v{axis}": row for axis, row in zip("neb", motion, strict=True)}
    rows |= {f"t{axis}": row for axis, row in zip("neb", traction, strict=True)}
    scale = {"v": np.abs(motion).max(), "t": np.abs(traction).max()}
    if free:
        names = ["tn", "te", "tb"] if solid[0] else ["tn"]
    elif all(solid):
        names = list(rows)
    else:
        names = ["vn", "tn", "te", "tb"] if any(solid) else ["vn", "tn"]
    return {name: rows[name] / scale[name[0]] for name in names}


def side(amplitudes: Array | Complex, waves: list[Partial]) -> Side:
    """Return the waves on one side of an interface, which may be none."""
    slowness = np.array([wave.slowness for wave in waves], complex).reshape(-1, 3)
    fields = [a * wave.fields() for a, wave in zip(amplitudes, waves, strict=True)]
    return Side(slowness, np.array(fields, complex).reshape(-1, 9))
