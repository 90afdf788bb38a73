"""Boxes of warped and turned hexahedra for the proofs of DG on them, and right-hand sides there.

Not here: right-hand sides from the equations (nodal_reference.py), other meshes (hex_meshes.py).
"""

import numpy as np
import unda
from hex_meshes import turned
from wave_runs import named_sides

LOWER, UPPER = np.zeros(3), np.array([1, 1.1, 0.8])


def bend(x):
    """Points moved by up to 0.05, those of the sides not at all."""
    return x + 0.05 * np.sin(2 * np.pi * x / UPPER).prod(axis=-1, keepdims=True) * [1, -1, 1]


def box(cells=(2, 2, 2), *, perturb=0.2, periodic=(False,) * 3, seed=3, flat=False, curved=False):
    """Warped cells, their axes turned at random: faces meet in all eight ways. Curved ones have 27 nodes.

    All vertices move, by up to `perturb` cells along each axis, those of sides within these if `flat`.
    """
    mesh = unda.box_mesh(LOWER, UPPER, cells, shape="hex", periodic=periodic)
    size = UPPER / cells
    number = np.rint(mesh.vertices / size).astype(int)
    shifts = np.random.default_rng(seed).uniform(-perturb, perturb, (*np.add(cells, 1), 3)) * size
    shift = shifts[tuple(np.where(periodic, number % cells, number).T)]
    if flat:
        shift[((number == 0) | (number == cells)) & ~np.array(periodic)] = 0
    return turned(remade(mesh, mesh.vertices + shift), seed, bend if curved else None)


def remade(mesh, vertices):
    """The mesh with its vertices elsewhere."""
    return unda.Mesh(vertices, mesh.cells, boundaries=named_sides(mesh), periodic=mesh.periodic)


def make(mesh, case, materials, boundary=None, degree=2, **options):
    """materials: (num_elem, parameter), or (num_elem, num_node, parameter); boundary: of all sides."""
    per = ("cell", "node")[materials.ndim - 2]
    values = dict(zip(case.medium.parameters, np.moveaxis(materials, -1, 0), strict=True))
    options = {"degree": degree, "dtype": "float64", "device": "cpu"} | options
    sides = None if boundary in (None, "periodic") else {"*": boundary}
    return unda.DG(mesh, case.medium(per=per, **values), boundary=sides, **options)


def apply(sim, q):
    """dq/dt of a state (cell, node, field)."""
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    return np.stack(list(sim.rhs().values()), axis=-1).astype(float)
