"""A plane P, SV or SH wave that meets a plane between solids or fluids, or a free surface.

Not here: the function that users call (interface.py), the partial waves (partial.py), waves bound to
the interface (surface_wave.py).
Next: surface_wave.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array
from .partial import Frame, Material, Partial, contact, elastic, side
from .two_sides import InterfaceWave


class ElasticInterfacePlaneWave(InterfaceWave):
    """Amplitudes of the waves that leave, from the conditions at the interface (Zoeppritz 1919)."""

    physics = "elastic"
    name = "interface_plane_wave"
    unit = "m/s"

    def __init__(self, medium: Medium, medium2: Any, kind: str = "p", **wave: Any) -> None:
        one = elastic("medium1", medium)
        free = isinstance(medium2, str) and medium2 == "free"
        two = None if free else elastic("medium2", medium2)
        super().__init__(medium, medium2=medium2, **wave, kind=kind)
        if kind not in one.kinds:
            raise ArgumentError(f"kind is {kind!r}; expected one of {one.kinds} in {medium!r}")
        self.discontinuous = not free  # stresses along the interface jump, where it slips velocities too
        self._solve(kind, one, two)

    def _solve(self, kind: str, one: Material, two: Material | None) -> None:
        d, n, speed = np.array(self._profile.direction), self._normal, one.speed(kind)
        slowness, _ = self._meet(speed)
        frame = Frame.of(n, d)
        along = float(d @ frame.e) / speed
        incident = Partial.with_slowness(one, kind, frame, slowness)
        kinds1, kinds2 = _coupled(kind, one), _coupled(kind, two)
        reflected = [Partial.at_interface(one, name, frame, along, -1.0) for name in kinds1]
        transmitted = [Partial.at_interface(two, name, frame, along, 1.0) for name in kinds2 if two]
        solid = one.vs > 0.0, two is not None and two.vs > 0.0
        conditions = contact(([incident, *reflected], transmitted), solid, frame, free=two is None)
        rows = np.array([row for name, row in conditions.items() if name.endswith("b") == (kind == "sh")])
        amplitudes = np.linalg.solve(rows[:, 1:], -rows[:, 0])
        back, on = amplitudes[: len(reflected)], amplitudes[len(reflected) :]
        if self._profile.f is not None and any(wave.slowness.imag.any() for wave in reflected + transmitted):
            raise ArgumentError(
                "a pulse beyond a critical angle (a wave decays away from the interface) is not "
                "available; expected a smaller angle, or k instead of f"
            )
        self.reflection = {name: complex(a) for name, a in zip(kinds1, back, strict=True)}
        self.transmission = {name: complex(a) for name, a in zip(kinds2, on, strict=True)}
        self.reflected_energy = _energy(self.reflection, reflected, incident, n)
        self.transmitted_energy = _energy(self.transmission, transmitted, incident, n)
        first = side(np.array([1.0, *back]), [incident, *reflected])
        self._sides = first, side(on, transmitted) if two is not None else None


def _coupled(kind: str, material: Material | None) -> tuple[str, ...]:
    """Return the waves on a side that a kind of wave excites: P and SV each other, SH itself."""
    kinds = material.kinds if material else ()
    return tuple(name for name in kinds if (name == "sh") == (kind == "sh"))


def _energy(
    amplitudes: dict[str, complex], waves: list[Partial], incident: Partial, n: Array
) -> dict[str, float]:
    """Return the part of the incident energy flux along n in each wave."""
    pairs = zip(amplitudes.items(), waves, strict=True)
    return {name: wave.flux(n) * abs(a) ** 2 / incident.flux(n) for (name, a), wave in pairs}
