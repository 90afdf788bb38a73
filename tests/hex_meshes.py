"""Meshes of hexahedra for tests: their map in NumPy, and cells whose axes are turned at random."""

import itertools

import numpy as np
import unda

#: r of each vertex, in the order of Gmsh and VTK
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
#: vertices of each face, around it
FACES = np.array(
    [(0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)]
)  # fmt: skip


def _turned(points):
    """Return places (24, n) of lattice points: row t lists them as a cell has them whose axes are turned."""
    middle = (4 * np.asarray(points) - 2).astype(int)
    number = {tuple(point): i for i, point in enumerate(middle.tolist())}
    rows = []
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((1, -1), repeat=3):
            matrix = np.eye(3, dtype=int)[list(axes)] * np.array(signs)[:, None]
            if np.linalg.det(matrix) > 0:
                rows.append([number[tuple(point)] for point in (middle @ matrix).tolist()])
    return np.array(rows)


#: places of the 27 nodes of a curved cell, as `Mesh` takes them
NODES = np.array([(i, j, k) for k in (0, 0.5, 1) for j in (0, 0.5, 1) for i in (0, 0.5, 1)])
#: the 24 ways to number the vertices of a right-handed hexahedron: cells[:, TURNED[t]]; and its nodes
TURNED, NODES_TURNED = _turned(CORNERS), _turned(NODES)


def boundaries_of(mesh):
    """Return the named faces, as `Mesh` takes them."""
    return {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}


def turned(mesh, seed=0, move=None):
    """Return the same mesh, the axes of each cell turned at random; cells keep their numbers.

    move: takes points (..., 3) to others; cells are quadratic then, with their 27 nodes moved.
    seed: None turns nothing.
    """
    pick = np.full(mesh.num_elem, np.flatnonzero((TURNED == np.arange(8)).all(axis=1))[0])
    if seed is not None:
        pick = np.random.default_rng(seed).integers(24, size=mesh.num_elem)
    curved = None
    if move is not None:
        elem = np.repeat(np.arange(mesh.num_elem), 27)
        curved = move(place(mesh, elem, NODES[NODES_TURNED[pick]].reshape(-1, 3)).reshape(-1, 27, 3))
    return unda.Mesh(
        mesh.vertices if move is None else move(mesh.vertices),
        np.take_along_axis(mesh.cells, TURNED[pick], axis=1), tags=mesh.tags, tag_names=mesh.tag_names,
        boundaries=boundaries_of(mesh), periodic=mesh.periodic, curved=curved,
    )  # fmt: skip


def turned_box(cells, *, perturb=0.2, periodic=(False,) * 3, seed=0, lower=(0, 0, 0), upper=(1, 1, 1)):
    """Return a box of hexahedra whose axes are turned at random: faces meet in all eight ways."""
    return turned(
        unda.box_mesh(lower, upper, cells, shape="hex", perturb=perturb, periodic=periodic, seed=seed), seed
    )


def place(mesh, elem, r):
    """Return the points of reference coordinates (n, 3) in cells (n,)."""
    r = np.asarray(r, float)
    weight = np.where(CORNERS == 1, r[:, None], 1 - r[:, None]).prod(axis=2)
    return np.einsum("pv,pvi->pi", weight, mesh.vertices[mesh.cells[elem]])


def turns(mesh):
    """Return how each inner face lies on its neighbour's, as csrc/mesh/mesh.h numbers it."""
    found = []
    for elem, face in np.argwhere(mesh.neighbors >= 0):
        other, back = divmod(int(mesh.neighbors[elem, face]), 6)
        own, theirs = mesh.cells[elem, FACES[face]].tolist(), mesh.cells[other, FACES[back]].tolist()
        first = theirs.index(own[0])
        found.append(2 * first + (theirs.index(own[1]) != (first + 1) % 4))
    return np.array(found)
