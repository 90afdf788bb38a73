"""Plane waves on both sides of a plane: their sum, and what all incident waves have in common.

Not here: amplitudes and slownesses, which each physics has its own of (interface.py, interface_maxwell.py,
elastic_interface.py, surface_wave.py).
Next: interface.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._check import number, unit_vector, vector
from ..errors import ArgumentError
from ..problem.medium import Medium
from .base import Array, Complex
from .plane import PlaneWaveSolution, Profile


class Side(NamedTuple):
    """The waves on one side of a plane; slownesses may be complex."""

    slowness: Complex  # (num_wave, 3) [s/m]
    fields: Complex  # (num_wave, num_field), for a profile of 1

    def values(self, profile: Profile, omega: float, place: tuple[Any, Any, Any], t: Array) -> Array:
        """Return the sum of the fields (num_field, ..); sinusoidal ones are the imaginary part."""
        shape = np.broadcast_shapes(*(np.shape(one) for one in (*place, t)))
        total = np.zeros((self.fields.shape[1], *shape))
        for slowness, fields in zip(self.slowness, self.fields, strict=True):
            if not fields.any():
                continue
            delay = sum(s * x for s, x in zip(slowness, place, strict=True))
            factors = profile.amplitude * fields
            if profile.f is not None:
                signal = profile.f(t - delay.real)
                parts: Any = (factor.real * signal for factor in factors)
            else:
                signal = np.exp(1j * (omega * (delay - t) + profile.phase))
                parts = ((factor * signal).imag for factor in factors)
            for field, part in enumerate(parts):
                total[field] += part
        return total


class TwoSides(PlaneWaveSolution):
    """Plane waves on both sides of a plane; the second side may be empty (a free surface)."""

    _omega: float
    _delay = 0.0  # of all waves [s]
    _sides: tuple[Side, Side | None]

    def __init__(
        self, medium: Medium, normal: Any, position: float = 0.0, medium2: Any = None, **wave: Any
    ) -> None:
        self._normal = np.array(unit_vector("normal", normal))
        self._position = number("position", position, "m")
        plane = {"medium2": medium2, "normal": vector("normal", normal), "position": self._position}
        super().__init__(medium, **plane, **wave)
        if medium2 is not None:
            self.media = medium, medium2

    def _evaluate(self, x: Array, y: Array, z: Array, t: Array) -> dict[str, Any]:
        n = self._normal
        distance = n[0] * x + n[1] * y + n[2] * z - self._position
        shape = np.broadcast_shapes(distance.shape, t.shape)
        total = np.zeros((len(self.fields), *shape))
        behind = np.zeros(shape, bool) if self._sides[1] is None else np.broadcast_to(distance > 0.0, shape)
        for side, mine, limit in zip(self._sides, (~behind, behind), (np.minimum, np.maximum), strict=True):
            if side is not None and mine.any():
                # Waves are continued as constants beyond their side: decaying ones would grow there.
                shift = self._position + distance - limit(distance, 0.0)
                place = (x - shift * n[0], y - shift * n[1], z - shift * n[2])
                values = side.values(self._profile, self._omega, place, t - self._delay)
                total += np.where(mine, values, 0.0)
        return dict(zip(self.fields, total, strict=True))


class InterfaceWave(TwoSides):
    """Base of plane waves that travel from the first medium to the plane between the media."""

    def _meet(self, speed: float) -> tuple[Array, Array]:
        """Return the incident slowness and its part along the plane; raise if the wave does not meet it."""
        d, n = np.array(self._profile.direction), self._normal
        if d @ n <= 1e-12:
            raise ArgumentError(
                f"the wave travels along {self._profile.direction}, not towards medium 2; expected "
                f"a positive component along the normal {tuple(n.tolist())}"
            )
        slowness = d / speed
        self._delay = self._position * float(slowness @ n)
        self._omega = 0.0 if self._profile.k is None else self._profile.omega(speed)
        return slowness, slowness - (slowness @ n) * n

    def _transmitted(self, slowness2: complex, along: Array, sine: float) -> complex:
        """Return the slowness along the normal beyond the plane, from its square in medium 2.

        Raise if it is complex and the wave a pulse, which has no such form; `sine` is of the critical angle.
        """
        across = complex(np.sqrt(complex(slowness2 - along @ along)))
        if self._profile.f is not None and across.imag != 0.0:
            raise ArgumentError(
                f"a pulse beyond the critical angle (sin = {sine:.6g}) is not "
                "available; expected a smaller angle, or k instead of f"
            )
        return across


def same_physics(name: str, medium: Any, kind: str) -> Medium:
    """Return a second medium, or raise if its physics is another."""
    if not isinstance(medium, Medium) or medium.physics != kind:
        article = "an" if kind[0] in "ae" else "a"
        raise ArgumentError(f"{name} is {medium!r}; expected {article} {kind} medium")
    return medium
