"""Problems and a NumPy version for the tests of spectral elements.

`accelerations` is written from the weak form alone: nodes are the same where their places are, integrals are
sums over Gauss-Lobatto points, and matrices are dense. Not here: what is compared (tests/sem).
"""

from typing import NamedTuple

import numpy as np
import unda
from hex_meshes import turned_box
from numpy.polynomial import Legendre


def wave(seed):
    """Return a smooth function of places without symmetry."""
    k = np.random.default_rng(seed).uniform(2, 9, (2, 3))
    return lambda x, y, z: (
        np.sin(k[0] @ [x.ravel(), y.ravel(), z.ravel()] + seed).reshape(x.shape)
        + 0.3 * np.cos(k[1] @ [x.ravel(), y.ravel(), z.ravel()]).reshape(x.shape)
    )


def start(sim, seed=1):
    """Set all fields of a simulation."""
    sim.set(**{name: wave(seed + i) for i, name in enumerate(sim._known.initial)})
    return sim


def solid_and_fluid(cells=(2, 3, 4), *, fluid=(1.0, 1.5), solid=(1.3, 2.0, 1.1), per="cell", degree=3, **box):
    """Return a warped mesh, turned cell by cell, with a fluid above z = 1/2, and its medium."""
    mesh = turned_box(cells, **box)
    wet = mesh.centroids[:, 2] > 0.5
    values = np.where(wet[:, None], [*fluid, 0.0], solid)
    if per == "node":  # smooth in each cell
        x = mesh.coordinates(degree)
        values = values[:, None] * (1 + 0.2 * np.sin(3 * x.sum(axis=2)))[..., None]
    return mesh, unda.Elastic(
        **dict(zip(("rho", "vp", "vs"), np.moveaxis(values, -1, 0), strict=True)), per=per
    )


class Line(NamedTuple):
    points: np.ndarray
    weights: np.ndarray
    slopes: np.ndarray


def line(degree):
    """Return the Gauss-Lobatto line on [0, 1]: from the roots of P', and slopes from Vandermonde matrices."""
    p = Legendre.basis(degree)
    x = np.concatenate([[-1.0], np.sort(p.deriv().roots().real), [1.0]])
    w = 2 / (degree * (degree + 1) * p(x) ** 2)
    values = np.stack([Legendre.basis(i)(x) for i in range(degree + 1)], axis=1)
    slopes = np.stack([Legendre.basis(i).deriv()(x) for i in range(degree + 1)], axis=1)
    return Line((1 + x) / 2, w / 2, 2 * slopes @ np.linalg.inv(values))


def nodes_of(x):
    """Return the number of each node (num_elem, num_node), the same where places are."""
    return np.unique(np.round(x.reshape(-1, 3), 9), axis=0, return_inverse=True)[1].reshape(x.shape[:2])


class Dense:
    """Mass and stiffness of a mesh without periodic sides, from the weak form."""

    def __init__(self, mesh, medium, degree):
        one, n = line(degree), degree + 1
        eye = np.eye(n)
        self.slopes = [  # node i + n j + n^2 k: the first axis is fastest
            np.kron(eye, np.kron(eye, one.slopes)),
            np.kron(eye, np.kron(one.slopes, eye)),
            np.kron(one.slopes, np.kron(eye, eye)),
        ]
        self.weights = np.einsum("k,j,i->kji", *[one.weights] * 3).ravel()
        self.x = mesh.coordinates(degree)
        self.node = nodes_of(self.x)
        table = medium._in_cells(mesh, degree)
        self.material = np.broadcast_to(table, (*self.x.shape[:2], table.shape[2]))
        self.elastic = medium.physics == "elastic"
        self.fluid = self.material[:, 0, 2] == 0 if self.elastic else np.ones(len(self.x), bool)
        self.num = self.node.max() + 1

    def geometry(self, e):
        """Return the volumes of nodes and the matrices of d/dx, d/dy, d/dz."""
        edges = np.stack([d @ self.x[e] for d in self.slopes], axis=1)  # [node, j, i] = dx_i/dr_j
        inverse = np.linalg.inv(edges)  # [node, i, j] = dr_j/dx_i
        gradient = [sum(inverse[:, i, j, None] * self.slopes[j] for j in range(3)) for i in range(3)]
        return self.weights * np.linalg.det(edges), gradient

    def fluid_matrices(self):
        mass, stiff = np.zeros(self.num), np.zeros((self.num, self.num))
        for e in np.flatnonzero(self.fluid):
            volume, gradient = self.geometry(e)
            rho, c = self.material[e, :, 0], self.material[e, :, 1]
            np.add.at(mass, self.node[e], volume / (rho * c**2))
            here = sum(g.T @ ((volume / rho)[:, None] * g) for g in gradient)
            stiff[np.ix_(self.node[e], self.node[e])] += here
        return mass, stiff

    def solid_matrices(self):
        mass, stiff = np.zeros(self.num), np.zeros((self.num, 3, self.num, 3))
        for e in np.flatnonzero(~self.fluid):
            volume, gradient = self.geometry(e)
            rho, vp, vs = self.material[e].T
            mu = rho * vs**2
            lame = rho * vp**2 - 2 * mu
            np.add.at(mass, self.node[e], volume * rho)
            for i in range(3):
                for j in range(3):
                    here = gradient[i].T @ ((volume * lame)[:, None] * gradient[j])
                    here += gradient[j].T @ ((volume * mu)[:, None] * gradient[i])
                    if i == j:
                        here += sum(g.T @ ((volume * mu)[:, None] * g) for g in gradient)
                    stiff[np.ix_(self.node[e], [i], self.node[e], [j])] += here[:, None, :, None]
        return mass, stiff.reshape(3 * self.num, 3 * self.num)

    def interface(self):
        """Return the integral of the normal out of the fluid (num, 3) at nodes where it meets the solid."""
        area, n = np.zeros((self.num, 3)), len(self.weights)
        size = round(n ** (1 / 3))
        w = self.weights.reshape((size,) * 3)
        ends = w[0, 0, 0] ** (1 / 3)
        index = np.arange(n).reshape((size,) * 3)
        solid = set(np.unique(self.node[~self.fluid]).tolist())
        for e in np.flatnonzero(self.fluid):
            edges = np.stack([d @ self.x[e] for d in self.slopes], axis=1)
            for axis in range(3):
                for end in (0, -1):
                    face = np.take(index, end, axis=2 - axis).ravel()
                    if not set(self.node[e, face].tolist()) <= solid:
                        continue
                    others = [edges[face, (axis + k) % 3] for k in (1, 2)]
                    normal = np.cross(*others) * (1 if end else -1)
                    np.add.at(area, self.node[e, face], (self.weights[face] / ends)[:, None] * normal)
        return area


def accelerations(mesh, medium, degree, state):
    """Return chi'' (num_elem, num_node) and u'' (.., 3) of a state {field: (num_elem, num_node)} of the unit
    box.

    Sides are rigid for sound, and free for elastic media, where chi = 0 on the surface of fluids.
    """
    dense = Dense(mesh, medium, degree)
    chi, u = np.zeros(dense.num), np.zeros((dense.num, 3))
    a_chi, a_u = np.zeros(dense.num), np.zeros((dense.num, 3))
    area = dense.interface() if dense.elastic and dense.fluid.any() else np.zeros((dense.num, 3))
    for e in range(len(dense.x)):
        if dense.fluid[e]:
            chi[dense.node[e]] = state["chi"][e]
        else:
            u[dense.node[e]] = np.stack([state[f"u{axis}"][e] for axis in "xyz"], axis=1)
    if dense.fluid.any():
        mass, stiff = dense.fluid_matrices()
        wet = mass > 0
        a_chi[wet] = (-stiff @ chi + (area * u).sum(axis=1))[wet] / mass[wet]
        if dense.elastic:
            a_chi[dense.node[(np.abs(dense.x - 0.5) > 0.5 - 1e-9).any(axis=2)]] = 0
    if not dense.fluid.all():
        mass, stiff = dense.solid_matrices()
        dry = mass > 0
        force = -(stiff @ u.ravel()).reshape(-1, 3) - area * a_chi[:, None]
        a_u[dry] = force[dry] / mass[dry, None]
    return a_chi[dense.node], a_u[dense.node]
