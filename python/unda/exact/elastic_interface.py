"""A plane P, SV or SH wave that meets a plane between solids or fluids, or a free surface.

Not here: the function that users call (interface.py), the partial waves (partial.py), waves bound to
the interface (surface_wave.py).
Next: surface_wave.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._check import number, unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, ExactSolution
from .partial import Frame, Material, Partial, Side, contact, elastic
from .plane import Profile


class TwoSides:
    """Partial waves on both sides of a plane; the second side may be empty (a free surface)."""

    fields: tuple[str, ...]
    _profile: Profile
    _omega: float
    _normal: Array
    _position: float
    _delay = 0.0  # of all waves [s]
    _sides: tuple[Side, Side | None]

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        n = self._normal
        distance = n[0] * x + n[1] * y + n[2] * z - self._position
        shape = np.broadcast_shapes(distance.shape, t.shape)
        total = np.zeros((9, *shape))
        behind = np.zeros(shape, bool) if self._sides[1] is None else np.broadcast_to(distance > 0.0, shape)
        for side, mine, limit in zip(self._sides, (~behind, behind), (np.minimum, np.maximum), strict=True):
            if side is not None and mine.any():
                # Waves are continued as constants beyond their side: decaying ones would grow there.
                shift = self._position + distance - limit(distance, 0.0)
                place = (x - shift * n[0], y - shift * n[1], z - shift * n[2])
                values = side.values(self._profile, self._omega, place, t - self._delay)
                total += np.where(mine, values, 0.0)
        return dict(zip(self.fields, total, strict=True))


class ElasticInterfacePlaneWave(TwoSides, ExactSolution):
    """Amplitudes of the waves that leave, from the conditions at the interface (Zoeppritz 1919)."""

    physics = "elastic"
    name = "interface_plane_wave"

    def __init__(
        self,
        medium: Medium,
        medium2: Any,
        k: Any = None,
        normal: Any = (1.0, 0.0, 0.0),
        position: float = 0.0,
        amplitude: float = 1.0,
        phase: float = 0.0,
        direction: Any = None,
        f: Any = None,
        kind: str = "p",
    ) -> None:
        one = elastic("medium1", medium)
        free = isinstance(medium2, str) and medium2 == "free"
        two = None if free else elastic("medium2", medium2)
        self._profile = Profile(k, amplitude, phase, direction, f, "m/s")
        self._normal = np.array(unit_vector("normal", normal))
        self._position = number("position", position, "m")
        super().__init__(
            medium, medium2=medium2, normal=vector("normal", normal), position=self._position,
            **self._profile.arguments(), kind=kind,
        )  # fmt: skip
        if kind not in one.kinds:
            raise ArgumentError(f"kind is {kind!r}; expected one of {one.kinds} in {medium!r}")
        self.media = medium, medium2
        self.discontinuous = not free  # stresses along the interface jump, in slip velocities too
        self._solve(kind, one, two)

    def _solve(self, kind: str, one: Material, two: Material | None) -> None:
        d, n, speed = np.array(self._profile.direction), self._normal, one.speed(kind)
        if d @ n <= 1e-12:
            raise ArgumentError(
                f"the wave travels along {self._profile.direction}, not towards medium 2; expected "
                f"a positive component along the normal {tuple(n.tolist())}"
            )
        frame = Frame.of(n, d)
        along = float(d @ frame.e) / speed
        incident = Partial.with_slowness(one, kind, frame, d / speed)
        kinds1, kinds2 = _coupled(kind, one), _coupled(kind, two)
        reflected = [Partial.at_interface(one, name, frame, along, -1.0) for name in kinds1]
        transmitted = [Partial.at_interface(two, name, frame, along, 1.0) for name in kinds2 if two]
        solid = one.vs > 0.0, two is not None and two.vs > 0.0
        conditions = contact(([incident, *reflected], transmitted), solid, frame, free=two is None)
        rows = np.array([row for name, row in conditions.items() if name.endswith("b") == (kind == "sh")])
        amplitudes = np.linalg.solve(rows[:, 1:], -rows[:, 0])
        back, on = amplitudes[: len(reflected)], amplitudes[len(reflected) :]
        if self._profile.f is not None:
            self._need_real_slowness([*reflected, *transmitted])
        self.reflection = {name: complex(a) for name, a in zip(kinds1, back, strict=True)}
        self.transmission = {name: complex(a) for name, a in zip(kinds2, on, strict=True)}
        self.reflected_energy = _energy(one, self.reflection, reflected, incident, one, n)
        self.transmitted_energy = _energy(two, self.transmission, transmitted, incident, one, n)
        self._omega = 0.0 if self._profile.k is None else self._profile.omega(speed)
        self._delay = self._position * float(d @ n) / speed
        first = Side(np.array([1.0, *back]), [incident, *reflected])
        self._sides = first, Side(on, transmitted) if two is not None else None

    @staticmethod
    def _need_real_slowness(waves: list[Partial]) -> None:
        if any(wave.slowness.imag.any() for wave in waves):
            raise ArgumentError(
                "a pulse beyond a critical angle (a wave decays away from the interface) is not "
                "available; expected a smaller angle, or k instead of f"
            )


def _coupled(kind: str, material: Material | None) -> tuple[str, ...]:
    """Return the waves on a side that a kind of wave excites: P and SV each other, SH itself."""
    return () if material is None else tuple(
        name for name in material.kinds if (name == "sh") == (kind == "sh")
    )  # fmt: skip


def _energy(
    material: Material | None, amplitudes: dict[str, complex], waves: list[Partial],
    incident: Partial, one: Material, n: Array,
) -> dict[str, float]:  # fmt: skip
    """Return the part of the incident energy flux along n, rho c^2 s_n abs(A)^2/2, in each wave."""
    assert material is not None or not amplitudes

    def flux(of: Material, wave: Partial) -> float:
        speed2 = of.rho / (wave.slowness @ wave.slowness).real
        return abs(float(speed2 * (wave.slowness @ n).real))

    return {
        name: flux(material, wave) * abs(a) ** 2 / flux(one, incident)
        for (name, a), wave in zip(amplitudes.items(), waves, strict=True)
        if material is not None
    }
