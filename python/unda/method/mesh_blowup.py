"""What a mesh says of a solution that is no longer finite: where, in which material, how far from the limit.

Not here: finding it (csrc/solver), grids (fd.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnstableError


def _facts(sim: Any, elem: int, node: int) -> np.ndarray:
    """Return centroid, materials and stable step of a cell, which one of many processes may have."""
    facts = np.zeros(4 + len(sim.medium.parameters))
    mine, at = np.array([True]), np.array([elem])
    if sim.ranks is not None:
        mine, at = sim.mesh.local(at)
    if mine[0]:
        material = sim._material[at[0], node % sim._material.shape[1]]
        facts[:] = [*sim.mesh.centroids[at[0]], *material, sim.element_dt[at[0]]]
    return facts if sim.ranks is None else sim.ranks.united(facts)


def unstable(sim: Any, message: str) -> UnstableError:
    """Return the error of a simulation on a mesh that has blown up."""
    blowup, common = sim._blowup()
    found = _facts(sim, common["element"], int(blowup.node))
    place, here = tuple(map(float, found[:3])), found[3:-1]
    material = dict(zip(sim.medium.parameters, map(float, here), strict=True))
    local_cfl = sim.dt / float(found[-1])
    return UnstableError(
        f"{message} at {place} m, {material}, t = {common['time']:.6g} s, local CFL number {local_cfl:.3g}",
        **common, node=int(blowup.node), coordinates=place, material=material, local_cfl=local_cfl,
    )  # fmt: skip
