"""Options of SEM: the user's words and numbers, converted for the library.

Not here: those that all methods have (_options.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._check import integer
from .._core import lib
from ..errors import ArgumentError
from ..problem import mesh_damping
from ..problem._shapes import MAX_DEGREE
from ..problem.boundary import Boundaries
from ..problem.layer import Damping
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ..problem.rank_mesh import RankMesh
from ._options import Given, common_options, kernel_choice

#: The equations that SEM solves.
PHYSICS = ("acoustic", "elastic")


def sem_options(given: Given) -> tuple[Any, np.ndarray, Boundaries, str]:
    """Return the library's options, the materials in cells, boundaries (with layers) and device."""
    mesh, medium = given.mesh, given.medium
    if not isinstance(mesh, Mesh):
        raise ArgumentError(f"mesh is {mesh!r}, expected a Mesh")
    if mesh.shape != "hex":
        raise ArgumentError(
            "the mesh has tetrahedra, expected hexahedra, whose tensor nodes make the mass matrix diagonal: "
            "unda.box_mesh(.., shape='hex'), or unda.DG on this mesh"
        )
    if isinstance(medium, Medium) and medium.physics not in PHYSICS:
        raise ArgumentError(
            f"the medium is {medium.physics}, expected {' or '.join(PHYSICS)}: continuous nodal elements "
            "have spurious modes of Maxwell's equations; use unda.DG"
        )
    if not isinstance(medium, Medium):
        raise ArgumentError(f"medium is {medium!r}, expected unda.Acoustic or unda.Elastic")
    degree = integer("degree", given.degree, 2, MAX_DEGREE[mesh.shape])
    material = medium._in_cells(mesh, degree)
    material.setflags(write=False)
    words, layers = mesh_damping.split(mesh, given.boundary)
    boundaries = Boundaries.of(mesh, medium, words)
    boundaries.layers = layers
    for name, solution in boundaries.exact.items():
        raise ArgumentError(
            f"boundary {name!r} has the exact solution {solution!r}; SEM has no outer values, expected one "
            f"of {list(medium.boundaries)}, or unda.DG"
        )
    common, chosen = common_options(given)
    options = _core.new_struct(
        "unda_solver_options",
        **common,
        method=lib.UNDA_SEM,
        physics=getattr(lib, f"UNDA_{medium.physics.upper()}"),
        degree=degree,
        material=material,
        material_by_node=int(medium.per == "node"),
        boundary=boundaries.codes,
        **_layers(mesh, medium, material, degree, layers),
        **kernel_choice(given.assembly, given.kernel_options),
    )
    return options, material, boundaries, chosen


def _layers(
    mesh: Mesh, medium: Medium, material: np.ndarray, degree: int, layers: dict[str, Damping]
) -> dict[str, Any]:
    """Return the library's options of damping layers; process 0 has those of the whole mesh."""
    if not layers or isinstance(mesh, RankMesh):
        return {}
    fastest = float(medium._speeds(material.reshape(-1, material.shape[-1])).max())
    return mesh_damping.rates(mesh, degree, mesh_damping.place(mesh, layers, fastest))
