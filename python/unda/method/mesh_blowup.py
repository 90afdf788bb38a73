"""What a mesh says of a solution that is no longer finite: where, in which material, how far from the limit.

Not here: finding it (csrc/solver), grids (fd.py).
"""

from __future__ import annotations

from typing import Any

from ..errors import UnstableError


def unstable(sim: Any, message: str) -> UnstableError:
    """Return the error of a simulation on a mesh that has blown up."""
    blowup, common = sim._blowup()
    elem = common["element"]
    place = tuple(float(x) for x in sim.mesh.centroids[elem])
    here = sim._material[elem, int(blowup.node) % sim._material.shape[1]]
    material = dict(zip(sim.medium.parameters, map(float, here), strict=True))
    local_cfl = sim.dt / float(sim.element_dt[elem])
    return UnstableError(
        f"{message} at {place} m, {material}, t = {common['time']:.6g} s, local CFL number {local_cfl:.3g}",
        **common, node=int(blowup.node), coordinates=place, material=material, local_cfl=local_cfl,
    )  # fmt: skip
