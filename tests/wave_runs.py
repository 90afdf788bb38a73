"""What the tests of waves share: perturbed meshes, boxes of two layers and their modes, observed orders.

Not here: materials and states of single right-hand sides (physics_cases.py).
"""

from functools import cached_property

import numpy as np
import unda

CUBE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def named_sides(mesh):
    return {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}


def bricks(cells, box, periodic, perturb, bent, shape="tet"):
    """Perturbed boxes of bricks, of one shape; the number of cells is their seed. Or bent ones.

    bent: the inside is moved smoothly instead, by 0.03 sin sin sin of the sides along (1, -1, 1), with this
    many half waves along z. Random shifts grow worse with the number of vertices, by which high degrees lose
    half an order.
    """
    cells = (cells,) * 3 if np.isscalar(cells) else cells
    if not bent:
        seed = int(np.dot(cells, (1, 10, 100)))
        return unda.box_mesh(*box, cells, shape=shape, periodic=periodic, perturb=perturb, seed=seed)
    mesh, sides = unda.box_mesh(*box, cells, shape=shape, periodic=periodic), np.subtract(*box[::-1])
    shift = 0.03 * np.sin(np.pi * (mesh.vertices - box[0]) / sides * [1, 1, bent]).prod(axis=1)
    vertices = mesh.vertices + np.outer(shift, sides * [1, -1, 1])
    return unda.Mesh(vertices, mesh.cells, boundaries=named_sides(mesh), periodic=mesh.periodic)


def box(cells, *, box=CUBE, periodic=(False,) * 3, perturb=0.1, bent=False, shape="tet"):
    return bricks(cells, box, periodic, perturb, 1 if bent else 0, shape)


def split(moved, grid, jump, z=None):
    """The mesh with the vertices that stand at z = `jump` in `grid` put back there, tags "below" and "above".

    z: a function of z to put the layers where they belong, `jump` included.
    """
    vertices, on_plane = moved.vertices.copy(), np.abs(grid.vertices[:, 2] - jump) < 1e-9
    assert on_plane.any()
    vertices[on_plane, 2] = jump
    above = vertices[moved.cells].mean(axis=1)[:, 2] > jump
    if z is not None:
        vertices[:, 2] = z(vertices[:, 2])
    return unda.Mesh(
        vertices, moved.cells, tags=above.astype(np.int32), tag_names={"below": 0, "above": 1},
        boundaries=named_sides(moved), periodic=moved.periodic,
    )  # fmt: skip


def layered(cells, *, box=CUBE, periodic=(False,) * 3, perturb=0.1, bent=False, shape="tet"):
    """The same of two layers, flat where they meet half way up, with tags "below" and "above"."""
    moved = bricks(cells, box, periodic, perturb, 2 if bent else 0, shape)
    return split(moved, bricks(cells, box, periodic, 0.0, 0, shape), (box[0][2] + box[1][2]) / 2)


def slice_of(heights, num, *, length=1.0, width=0.25, jump=0.0, perturb=0.1, seed=3, shape="tet"):
    """A slice one cell wide, periodic along x and y, `num` bricks long, its layers at these heights [m].

    Tags "below" and "above" the one at `jump`, which is flat.
    """
    count = len(heights) - 1
    given = (0, 0, 0), (length, width, count), (num, 1, count)
    moved, grid = (
        unda.box_mesh(*given, shape=shape, periodic=(True, True, False), perturb=amount, seed=seed)
        for amount in (perturb, 0.0)
    )
    z = list(heights).index(jump)
    return split(moved, grid, z, lambda values: np.interp(values, np.arange(count + 1), heights))


def brick(degree, spacing, shape="tet"):
    """The side of a brick whose nodes stand `spacing` apart; it is six tetrahedra or one hexahedron."""
    nodes = (degree + 1) * (degree + 2) * (degree + 3) if shape == "tet" else (degree + 1) ** 3
    return spacing * nodes ** (1 / 3)


def two_media(one, two):
    """One medium by the tags of `layered`."""
    below, above = one.scalar(), two.scalar()
    return type(one)(**{key: {"below": below[key], "above": above[key]} for key in below})


def grouped(sim, exact):
    """Relative L2 error of each group of fields."""
    error = sim.error(exact, relative=True)
    return [np.sqrt(sum(error[name] ** 2 for name in group)) for group in sim.medium.field_groups.values()]


def order(cells, problem, *, degree, until, wrong=None, **options):
    """Least-squares orders in h = (V / K)^(1/3) of each group of fields, and the errors by mesh.

    problem(n) gives mesh, medium, exact solution and boundary.
    """
    errors, sizes = [], []
    for n in cells:
        mesh, medium, exact, boundary = problem(n)
        sim = unda.DG(
            mesh, medium, degree=degree, boundary=boundary, dtype="float64", device="cpu", **options
        )
        sim.set(exact)
        sim.run(until=until)
        errors.append(grouped(sim, wrong or exact))
        sizes.append((mesh.volume / mesh.num_elem) ** (1 / 3))
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0], np.array(errors)


class LayeredMode:
    """A standing wave in a box of two layers, z < jump and z > jump, with lubricated walls.

    u = grad phi + curl curl (0, 0, chi) in each layer, phi = A cos kx cos ky cos p s and chi = B cos kx
    cos ky sin(q s)/q with s from the layer's own end, p^2 = (omega/vp)^2 - K^2, q^2 = (omega/vs)^2 - K^2,
    K^2 = kx^2 + ky^2: no normal motion and no shear traction on any wall. v = u cos(omega t). The layers'
    conditions - u_z and normal traction; between solids u along and shear traction, else that of the solid is
    0 - have a determinant, of which omega is a root. top="free": the upper layer is a fluid, its end without
    pressure, phi = A sin(p s)/p.
    """

    discontinuous = True

    def __init__(self, one, two, jump=0.5, *, box=CUBE, n=(1, 1), order=1, top="symmetry"):
        assert top == "symmetry" or two.scalar()["vs"] == 0
        self.media, self.fields, self.jump = (one, two), one.fields, jump
        self._free_top = top == "free"
        self._lower, upper = box
        self._ends = self._lower[2], upper[2]
        self._k = np.pi * np.array(n) / np.subtract(upper, self._lower)[:2]
        self._layers = [tuple(medium.scalar().values()) for medium in (one, two)]
        self._order = order

    @cached_property
    def omega(self):
        """Looked for when it is wanted: every process of the tests makes modes that others run."""
        return self._root(self._order)

    @cached_property
    def _amplitudes(self):
        return self._null(self.omega)

    def _basis(self, side, omega, s):
        """phi, phi_z, chi, chi_z of unit amplitudes."""
        _, vp, vs = self._layers[side]
        squared = self._k @ self._k
        p = np.sqrt(complex(omega**2 / vp**2 - squared))
        cosine, sine = np.cos(p * s).real, s * np.sinc(p * s / np.pi).real
        pair = (sine, cosine) if side == 1 and self._free_top else (cosine, -(p * p).real * sine)
        if vs == 0:
            return *pair, 0 * s, 0 * s
        q = np.sqrt(complex(omega**2 / vs**2 - squared))
        return *pair, s * np.sinc(q * s / np.pi).real, np.cos(q * s).real

    def _at_jump(self, side, omega):
        """Rows u_z, s_zz, u along, shear traction; columns A and in a solid B."""
        rho, vp, vs = self._layers[side]
        mu, squared = rho * vs**2, self._k @ self._k
        lam, p2 = rho * vp**2 - 2 * mu, omega**2 / vp**2 - squared
        phi, phi_z, chi, chi_z = self._basis(side, omega, np.float64(self.jump - self._ends[side]))
        columns = [[phi_z, -(lam * (p2 + squared) + 2 * mu * p2) * phi, phi, 2 * mu * phi_z]]
        if vs > 0:
            q2 = omega**2 / vs**2 - squared
            columns.append([squared * chi, 2 * mu * squared * chi_z, chi_z, mu * (squared - q2) * chi])
        return np.array(columns).T

    def _matrix(self, omega):
        one, two = (self._at_jump(side, omega) for side in (0, 1))
        solid = [layer[2] > 0 for layer in self._layers]
        both = np.hstack([one, -two])
        if all(solid):
            return both
        shear = [np.hstack([one[3], 0 * two[3]]), np.hstack([0 * one[3], two[3]])]
        return np.vstack([both[:2], *(row for row, own in zip(shear, solid, strict=True) if own)])

    def _root(self, order, step=0.05):
        def determinant(omega):
            return np.linalg.det(self._matrix(omega))

        omega, found = 0.05, 0
        while True:
            if (determinant(omega) > 0) != (determinant(omega + step) > 0):
                found += 1
                if found == order:
                    return unda.exact.surface_wave.root_between(determinant, omega, omega + step)
            omega += step

    def _null(self, omega):
        matrix = self._matrix(omega)
        values = np.linalg.svd(matrix / np.abs(matrix).max(axis=0))
        assert values[1][-1] < 1e-9 * values[1][0]
        amplitudes = values[2][-1] / np.abs(matrix).max(axis=0)
        first = self._at_jump(0, omega).shape[1]
        parts = [np.append(one, 0)[:2] for one in (amplitudes[:first], amplitudes[first:])]
        return np.array(parts) / np.abs(parts).max()

    def _displacement(self, side, x, y, z):
        """u and its stress in one layer."""
        rho, vp, vs = self._layers[side]
        mu, (kx, ky), (a, b) = rho * vs**2, self._k, self._amplitudes[side]
        lam, squared = rho * vp**2 - 2 * mu, kx**2 + ky**2
        phi, phi_z, chi, chi_z = self._basis(side, self.omega, z - self._ends[side])
        p2, q2 = self.omega**2 / vp**2 - squared, self.omega**2 / vs**2 - squared if vs > 0 else 0.0
        cx, sx = np.cos(kx * (x - self._lower[0])), np.sin(kx * (x - self._lower[0]))
        cy, sy = np.cos(ky * (y - self._lower[1])), np.sin(ky * (y - self._lower[1]))
        along, up = a * phi + b * chi_z, a * phi_z + b * squared * chi
        u = -kx * sx * cy * along, -ky * cx * sy * along, cx * cy * up
        bulk = -lam * (p2 + squared) * a * phi * cx * cy
        shear = mu * (2 * a * phi_z + b * (squared - q2) * chi)
        stress = {
            "sxx": bulk - 2 * mu * kx**2 * cx * cy * along,
            "syy": bulk - 2 * mu * ky**2 * cx * cy * along,
            "szz": bulk + 2 * mu * cx * cy * (-p2 * a * phi + b * squared * chi_z),
            "syz": -ky * cx * sy * shear,
            "sxz": -kx * sx * cy * shear,
            "sxy": 2 * mu * kx * ky * sx * sy * along,
        }
        return {**dict(zip(("vx", "vy", "vz"), u, strict=True)), **stress}

    def __call__(self, x, y, z, t):
        x, y, z, t = np.broadcast_arrays(x, y, z, t)
        below, above = (self._displacement(side, x, y, z) for side in (0, 1))
        moving, strained = np.cos(self.omega * t), np.sin(self.omega * t) / self.omega
        return {
            name: np.where(z < self.jump, below[name], above[name]) * (moving if name[0] == "v" else strained)
            for name in self.fields
        }


class AsSound:
    """An elastic solution in fluids, as acoustic media have it: p = -s_zz."""

    def __init__(self, solution):
        self._solution, self.discontinuous = solution, solution.discontinuous

    @property
    def omega(self):
        return self._solution.omega

    def __call__(self, x, y, z, t):
        values = self._solution(x, y, z, t)
        return {"p": -values["szz"], **{name: values[name] for name in ("vx", "vy", "vz")}}
