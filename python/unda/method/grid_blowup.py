"""What a grid says of a solution that is no longer finite: where, in which material, how far from the limit.

Not here: finding it (csrc/solver), meshes (mesh_blowup.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, UnstableError


def unstable(sim: Any, message: str) -> UnstableError:
    """Return the error of a simulation on a grid that has blown up."""
    common = sim._blowup()[1] | {"node": 0}
    node, when = common["element"], common["time"]
    if node < 0:
        return UnstableError(f"{message} in a layer, t = {when:.6g} s", **common)
    index = tuple(int(i) for i in np.unravel_index(node, sim.grid.shape))
    parts = zip(sim.grid.origin, index, sim.grid.spacing, strict=True)
    place = tuple(o + i * h for o, i, h in parts)
    try:
        values = sim._material.planes(index[0], 1)[0][index[1:]]
        _, highest = sim._material.speeds()
    except ArgumentError:  # the material has changed: its value at the time is unknown
        return UnstableError(f"{message} {index} at {place} m, t = {when:.6g} s", **common, coordinates=place)
    material = dict(zip(sim.medium.parameters, map(float, values), strict=True))
    local_cfl = sim.dt / sim._uniform_dt * float(sim.medium._speeds(values[None]).max()) / highest
    return UnstableError(
        f"{message} {index} at {place} m, {material}, t = {when:.6g} s, local CFL number {local_cfl:.3g}",
        **common, coordinates=place, material=material, local_cfl=local_cfl,
    )  # fmt: skip
