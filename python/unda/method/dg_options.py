"""Options of DG: the user's words and numbers, converted for the library.

Not here: those that all methods have (_options.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._check import choice, integer
from .._core import lib
from ..errors import ArgumentError
from ..problem._shapes import MAX_DEGREE
from ..problem.boundary import Boundaries
from ..problem.medium import Medium
from ..problem.mesh import Mesh
from ._options import Given, common_options, kernel_choice


def dg_options(given: Given) -> tuple[Any, np.ndarray, Boundaries, str]:
    """Return the library's options, the materials in cells, boundaries and device."""
    mesh, medium = given.mesh, given.medium
    if not isinstance(mesh, Mesh):
        raise ArgumentError(f"mesh is {mesh!r}, expected a Mesh")
    if not isinstance(medium, Medium):
        raise ArgumentError(f"medium is {medium!r}, expected a medium such as unda.Acoustic")
    physics = getattr(lib, f"UNDA_{medium.physics.upper()}", None)
    if physics is None:
        raise ArgumentError(f"DG solves acoustic, elastic and maxwell media; the medium is {medium.physics}")
    degree = integer("degree", given.degree, 1, MAX_DEGREE[mesh.shape])
    material = medium._in_cells(mesh, degree)
    material.setflags(write=False)
    flux = choice("flux", given.flux, ("upwind", "central"))
    varies = mesh.shape == "tet" and np.ptp(material, axis=1).any()  # a hexahedron's mass matrix is diagonal
    if flux == lib.UNDA_CENTRAL and varies and not given.allow_unstable:
        raise ArgumentError(
            "flux is 'central' and materials vary within cells, where its solutions grow exponentially; "
            "expected flux='upwind', per='cell', or allow_unstable=True"
        )
    boundaries = Boundaries.of(mesh, medium, given.boundary)
    common, chosen = common_options(given)
    # alive as long as the options are read
    given.layer_memory = _core.NULL if given.layers is None else given.layers.given()
    options = _core.new_struct(
        "unda_solver_options",
        **common,
        physics=physics,
        degree=degree,
        flux=flux,
        integrator=choice("integrator", given.integrator, ("lsrk4", "ab3")),
        material=material,
        material_by_node=int(medium.per == "node"),
        boundary=boundaries.codes,
        layer=given.layer_memory,
        **kernel_choice(given.kernel, given.kernel_options),
    )
    return options, material, boundaries, chosen
