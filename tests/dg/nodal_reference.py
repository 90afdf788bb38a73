"""Right-hand sides from the equations, at the nodes of a mesh: what tests hold the library's against.

Slopes of the fields, star states at each face node from the materials of both sides there, rates with each
node's material (physics_cases.py). Of the library they take places of nodes, and of tetrahedra the matrices
of the reference element. Face nodes find those behind them by their places.
"""

import numpy as np
from numpy.polynomial import legendre
from physics_cases import star_state
from unda._core import check, lib, new_struct


class Reference:
    """dq/dt of one physics. A shape gives `slopes` of fields and what faces add to them, `lifted`.

    x: nodes (cell, node, axis); face_node: (face, m); outward: (cell, face, m, axis), of any length;
    period: lengths after which places are the same, infinite where they are not.
    """

    def __init__(self, case, flux, wall, x, face_node, outward, period=np.inf):
        self.case, self.flux, self.wall = case, flux, wall
        self.x, self.face_node, self.outward = x, face_node, outward
        self.behind = self.match(np.broadcast_to(period, 3))

    def match(self, period):
        """{(cell, face): (cell, [node behind each of its nodes])}."""
        steps = np.rint(np.where(np.isinf(period), 1e3, period) * 1e7).astype(int)
        faces = {}
        for e, x in enumerate(self.x):
            for f, nodes in enumerate(self.face_node):
                places = np.rint(x[nodes] * 1e7).astype(int) % steps
                keys = dict(zip(map(tuple, places.tolist()), nodes, strict=True))
                faces.setdefault(tuple(sorted(keys)), []).append((e, f, keys))
        found = {}
        for pair in faces.values():
            for (e, f, here), (other, _, there) in (pair, pair[::-1]) if len(pair) == 2 else ():
                found[e, f] = other, [there[place] for place in here]
        return found

    def jump(self, materials, q, e, f, m):
        """q* - q at a node of a face, and the part of it that its flux sees."""
        case, node = self.case, self.face_node[f][m]
        normal = self.outward[e, f, m] / np.linalg.norm(self.outward[e, f, m])
        z, t, v = case.channels(materials[e, node], q[e, node], normal)
        z_out, t_out, v_out, condition = z, t, v, self.wall
        if (e, f) in self.behind:
            cell, nodes = self.behind[e, f]
            z_out, t_out, v_out = case.channels(materials[cell, nodes[m]], q[cell, nodes[m]], normal)
            condition = None
        star = star_state(self.flux, (z, z_out), ((t, v), (t_out, v_out)), condition)
        return case.change(materials[e, node], normal, star[0] - t, star[1] - v)

    def rates(self, materials, q):
        """dq/dt (cell, node, field) with materials (cell, node, parameter)."""
        slopes = self.slopes(q, materials)
        for e in range(len(q)):
            for f, nodes in enumerate(self.face_node):
                jumps = np.stack([self.jump(materials, q, e, f, m) for m in range(len(nodes))])
                slopes[e] += self.lifted(e, f, jumps)
        material, state = np.moveaxis(materials, -1, 0), np.moveaxis(q, -1, 0)
        return np.moveaxis(self.case.rates(material, np.einsum("eanf->afen", slopes), state), 0, -1)


class Tetrahedra(Reference):
    """Affine; slopes are exact derivatives, jumps are lifted by the element's matrix."""

    def __init__(self, mesh, degree, case, flux, wall):
        sizes = lib.unda_element_num_node, lib.unda_element_num_face_node
        n, m = (size(lib.UNDA_TET, degree) for size in sizes)
        self.derivative, self.lift = np.empty((3, n, n)), np.empty((4, n, m))
        face_node = np.empty((4, m), np.int32)
        arrays = new_struct(
            "unda_element_arrays", derivative=self.derivative, lift=self.lift, face_node=face_node
        )
        check(lib.unda_element_get_arrays(lib.UNDA_TET, degree, arrays))
        corners = mesh.coordinates(1)
        edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)  # [cell, axis, j]
        self.gradients = np.linalg.inv(edges)  # [cell, j, axis]
        outward = np.concatenate([self.gradients.sum(axis=1, keepdims=True), -self.gradients], axis=1)
        outward = np.repeat(outward[:, :, None], m, axis=2)
        super().__init__(case, flux, wall, mesh.coordinates(degree), face_node, outward)

    def slopes(self, q, materials):
        return np.einsum("eja,jnm,emf->eanf", self.gradients, self.derivative, q)

    def lifted(self, e, f, jumps):
        return self.outward[e, f, 0][:, None, None] * (self.lift[f] @ jumps)


def lobatto(degree):
    """Gauss-Lobatto points and weights of [0, 1], and the matrix of derivatives at the points."""
    top = np.eye(degree + 1)[degree]
    inner = legendre.legroots(legendre.legder(top)).real
    x = np.concatenate([[-1.0], inner, [1.0]])
    apart = (x[:, None] - x + np.eye(degree + 1)).prod(axis=1)
    derivative = apart[:, None] / apart / (x[:, None] - x + np.eye(degree + 1)) * (1 - np.eye(degree + 1))
    derivative -= np.diag(derivative.sum(axis=1))
    return (1 + x) / 2, 1 / (degree * (degree + 1) * legendre.legval(x, top) ** 2), 2 * derivative


#: Which field's slopes are those of a vector's divergence, by row of a tensor, and which those of a gradient.
DIVERGENCES = {"acoustic": ((1, 2, 3),), "elastic": ((3, 8, 7), (8, 4, 6), (7, 6, 5))}
GRADIENTS = {"acoustic": (0,), "elastic": (0, 1, 2)}


class Hexahedra(Reference):
    """Warped as they come, tensor Gauss-Lobatto nodes, which are the points of quadrature too.

    x is the polynomial through the nodes, e_k = D_k x, Ja^i = (D_j (x x e_k) - D_k (x x e_j)) / 2 with
    (i, j, k) cyclic, the vector form of Kopriva's (2006) curl form. J div b = sum_j D_j (Ja^j.b), J grad a =
    sum_j Ja^j D_j a, J curl v = sum_i e_i (D_j (v.e_k) - D_k (v.e_j)); a jump at the end of a line is divided
    by its weight.
    """

    def __init__(self, mesh, degree, case, flux, wall, x=None, period=np.inf):
        n = degree + 1
        _, self.weight, one = lobatto(degree)
        unit = np.eye(n)
        along = [[one if axis == 2 - j else unit for axis in range(3)] for j in range(3)]
        self.d = [np.einsum("ad,be,cf->abcdef", *each).reshape(n**3, -1) for each in along]
        x = mesh.coordinates(degree) if x is None else x
        arm = x - x[:, :1]
        self.edges = np.stack([d @ arm for d in self.d], axis=1)  # [cell, k, node, axis]
        moment = [np.cross(arm, self.edges[:, k]) for k in range(3)]
        cyclic = [((j + 1) % 3, (j + 2) % 3) for j in range(3)]
        self.normals = np.stack(
            [(self.d[j] @ moment[k] - self.d[k] @ moment[j]) / 2 for j, k in cyclic], axis=1
        )
        products = np.stack([np.cross(self.edges[:, j], self.edges[:, k]) for j, k in cyclic], axis=1)
        self.jacobian = (self.edges[:, 0] * products[:, 0]).sum(axis=-1)  # [cell, node]
        number = np.arange(n**3).reshape(n, n, n)  # [r3, r2, r1]
        face_node = np.stack([number.take(end, 2 - j).ravel() for j in range(3) for end in (0, degree)])
        area = products if case.name == "maxwell" else self.normals
        outward = np.stack(
            [s * area[:, j][:, face_node[2 * j + (s > 0)]] for j in range(3) for s in (-1, 1)], axis=1
        )
        super().__init__(case, flux, wall, x, face_node, outward, period)

    @property
    def mass(self):
        """Weight of each node (cell, node): w J."""
        w = self.weight
        return np.einsum("a,b,c->abc", w, w, w).ravel() * self.jacobian

    def slopes(self, q, materials):
        """Fluids among solids are as in acoustics: divergences are those of v, gradients of pressure."""
        found = np.zeros((len(q), 3, *q.shape[1:]))
        name = self.case.name
        if name == "maxwell":
            for first in (0, 3):
                self.add_curl(q[..., first : first + 3], found[..., first : first + 3])
            return found / self.jacobian[:, None, :, None]
        fluid = materials[:, 0, 2] == 0 if name == "elastic" else np.zeros(len(q), bool)
        swapped = ((0, 1, 2),), range(3, 9)
        for cells, rows, fields in ((~fluid, DIVERGENCES[name], GRADIENTS[name]), (fluid, *swapped)):
            if not cells.any():
                continue
            normals, here, to = self.normals[cells], q[cells], found[cells]
            for a, field in ((a, field) for row in rows for a, field in enumerate(row)):
                to[:, a, :, field] = sum(
                    np.einsum("nm,em->en", d, normals[:, j, :, a] * here[..., field])
                    for j, d in enumerate(self.d)
                )
            for field in fields:
                to[..., field] = sum(
                    normals[:, j].transpose(0, 2, 1) * (here[:, None, :, field] @ d.T)
                    for j, d in enumerate(self.d)
                )
            found[cells] = to
        return found / self.jacobian[:, None, :, None]

    def add_curl(self, v, slopes):
        """Slopes [cell, axis, node, component] of which the curl's components are one each."""
        along = [(v * self.edges[:, k]).sum(axis=-1) for k in range(3)]
        curl = 0
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            curl = curl + self.edges[:, i] * (along[k] @ self.d[j].T - along[j] @ self.d[k].T)[..., None]
        for i in range(3):
            slopes[:, (i + 1) % 3, :, (i + 2) % 3] += curl[..., i]

    def lifted(self, e, f, jumps):
        nodes, found = self.face_node[f], np.zeros((3, self.x.shape[1], jumps.shape[1]))
        scale = self.weight[0] * self.jacobian[e, nodes]
        found[:, nodes] = (self.outward[e, f] / scale[:, None]).T[:, :, None] * jumps
        return found
