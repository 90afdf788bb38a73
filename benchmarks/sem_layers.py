"""What damping layers of SEM and dashpots alone return by angle: docs/absorbing_layers.md.

``python benchmarks/sem_layers.py [output.json]``, two minutes on one core. Waves of a Ricker source, of
wavelength 1 (P, in a solid also SH, 1/sqrt(3)) in a slab of one cell with a layer beyond the plane y = 0,
one wavelength from source and receivers, whose mirror rays meet the plane at 0 to 60 degrees. Against a
mesh so wide that nothing returns: the largest difference over the largest value at the receiver's mirror
image, where the ray would have arrived. "helmholtz": the same of plane waves that are Ricker pulses, by
`mesh_damping.returned`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.problem import mesh_damping

ANGLES = (0, 15, 30, 45, 60)
THICKNESS = (0, 1, 2, 3, 4)  # wavelengths; 0: dashpots
AWAY, UNTIL, CELL, DEGREE = 1.0, 8.0, 0.25, 5
SIDE, FAR = 4.5, 4.5  # room beside and behind, beyond which nothing that returns arrives in time
FLUID, SOLID = unda.Acoustic(rho=1.0, c=1.0), unda.Elastic(rho=1.0, vp=1.0, vs=3**-0.5)
#: medium, source at a place and the fields looked at; a force along z, the slab's thin axis, makes SH waves.
CASES: dict[str, Any] = {
    "acoustic": (FLUID, lambda x, f: unda.VolumeInjection(x, f), ("p",)),
    "elastic, P": (SOLID, lambda x, f: unda.VolumeInjection(x, f), ("vx", "vy")),
    "elastic, SH": (SOLID, lambda x, f: unda.PointForce(x, f, (0.0, 0.0, 1.0)), ("vz",)),
}
OFFSETS = 2.0 * AWAY * np.tan(np.radians(ANGLES))


def traces(case: str, beyond: float, side: Any, mirrored: bool = False) -> np.ndarray:
    """Return traces (angle, field, sample), of receivers or of their mirror images."""
    medium, source, fields = CASES[case]
    lower = (-SIDE, -beyond, 0.0)
    upper = (OFFSETS[-1] + SIDE, AWAY + FAR, CELL)
    cells = [round((b - a) / CELL) for a, b in zip(lower, upper, strict=True)]
    upper = tuple(a + CELL * n for a, n in zip(lower, cells, strict=True))
    mesh = unda.box_mesh(lower, upper, cells=cells, shape="hex", periodic=(False, False, True))
    sim = unda.SEM(
        mesh, medium, degree=DEGREE, boundary={"ymin": side, "*": "absorbing"}, dtype="float64", device="cpu",
        sample_dt=0.02,
    )  # fmt: skip
    sim.add_source(source((0.0, AWAY, CELL / 2), unda.ricker(1.0, t0=1.2)))
    y = -AWAY if mirrored else AWAY
    rec = sim.add_receivers([(x, y, CELL / 2) for x in OFFSETS], fields)
    sim.run(until=UNTIL)
    return np.stack([rec[name] for name in fields], axis=1)


def largest(values: np.ndarray) -> np.ndarray:
    """Return the largest length of a vector over time (angle,)."""
    found: np.ndarray = np.sqrt((values**2).sum(axis=1)).max(axis=1)
    return found


def by_theory(thickness: float) -> list[float]:
    """Return the largest value of a Ricker pulse that comes back, at each angle, over that of the pulse."""
    f = np.linspace(0.02, 4.0, 200)
    pulse, t = f**2 * np.exp(-(f**2)), np.linspace(-12.0, 12.0, 1201)
    waves = np.exp(2j * np.pi * np.outer(t, f)) * pulse
    found = []
    for angle in np.radians(ANGLES):
        q = float(np.cos(angle))
        back: Any = (q - 1) / (q + 1)
        if thickness:
            strength = mesh_damping.strength(unda.Damping(thickness=thickness, f0=1.0), 1.0)
            back = mesh_damping.returned(thickness * f, strength, q)
        found.append(float(np.abs((waves * back).sum(axis=1).real).max() / waves.sum(axis=1).real.max()))
    return found


def main() -> None:
    found = []
    for thickness in THICKNESS:
        percent = [100.0 * one for one in by_theory(float(thickness))]
        found.append(
            {"case": "helmholtz", "wavelengths": thickness, "percent": [float(f"{p:.3g}") for p in percent]}
        )
        print(found[-1], flush=True)
    for case in CASES:
        wide, image = (traces(case, 5.0 + AWAY, "absorbing", mirrored) for mirrored in (False, True))
        for thickness in THICKNESS:
            side = unda.Damping(thickness=float(thickness), f0=1.0) if thickness else "absorbing"
            percent = 100.0 * largest(traces(case, 0.0, side) - wide) / largest(image)
            found.append(
                {"case": case, "wavelengths": thickness, "percent": [float(f"{p:.3g}") for p in percent]}
            )
            print(found[-1], flush=True)
    head = {
        "what": __doc__.splitlines()[0],
        "angles": ANGLES,
        "degree": DEGREE,
        "cells_per_wavelength": 1 / CELL,
    }
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(
            json.dumps(head | {"version": unda.__version__, "runs": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
