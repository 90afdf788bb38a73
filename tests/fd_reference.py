"""The scalar finite-difference scheme in NumPy, from its equations: what unda.FD must equal to rounding.

    p+ = g (2 p + c^2 dt^2 L p - g p-) + sources,   L = sum over axes of second differences of any even order

and in matched layers L p + what stretching its two fluxes and their difference adds, by recursions.

One sparse matrix L knows the sides: indices beyond the last node are mapped to images, again and again on
grids narrower than the stencil. Layers add nodes outside the user's, with g = exp(-sigma dt) < 1 and an odd
image one cell beyond the last; c is that of the nearest node of the grid. Points are spread over 8^3 nodes by
a Kaiser-windowed sinc (Hicks 2002) and folded by the same images. Not here: speed, other schemes.
"""

from math import exp, floor, log, pi

import numpy as np
import scipy.sparse as sparse

KAISER, REACH = 6.31, 4  # shape of the window; half its width in cells
HAIR = 1e-9  # of a cell: a point so close to a node is on it


def coefficients(order):
    """C_0 .. C_M of h^2 p'' = C_0 p_i + sum C_m (p_(i+m) + p_(i-m)), exact on polynomials of that degree.

    Taylor: sum C_m m^(2k) = 1, 0, 0 .. for k = 1 .. M, a Vandermonde system in m^2 for C_m m^2.
    """
    m = np.arange(1, order // 2 + 1)
    squares = [[j * j for j in m if j != i] for i in m]
    half = [np.prod([j / (j - i * i) for j in others]) / i**2 for i, others in zip(m, squares, strict=True)]
    return np.array([-2 * np.sum(half), *half])


def symbol(order, theta):
    """S of -h^2 p'' = S p on waves with theta radians between nodes."""
    c = coefficients(order)
    return -(c[0] + 2 * sum(c[m] * np.cos(m * theta) for m in range(1, len(c))))


def radians_per_step(order, k, spacing, c, dt):
    """W dt of the mode with wave numbers k (3): sin^2(W dt/2) = (c dt/2)^2 sum S(k h)/h^2."""
    total = sum(symbol(order, ki * h) / h**2 for ki, h in zip(k, spacing, strict=True))
    return 2 * np.arcsin(c * dt / 2 * np.sqrt(total))


def stable_step(order, spacing, c):
    """The largest dt: W dt = pi for the mode that changes its sign from node to node along all axes."""
    return 2 / (np.max(c) * np.sqrt(symbol(order, pi) * sum(1 / h**2 for h in spacing)))


def is_matched(side):
    return isinstance(side, tuple) and len(side) == 3


class Axis:
    """n nodes of the user between two sides: "free", "rigid", "periodic", or the (width, R0) of a layer.

    (width, R0, f0) is a matched one.
    """

    def __init__(self, n, h, sides):
        self.user, self.h, self.sides = n, h, sides
        self.low, self.high = (side[0] if isinstance(side, tuple) else 0 for side in sides)
        self.n = self.low + n + self.high
        # wall: (index of the mirror, sign of the image)
        self.walls = [(-1 if self.low else 0, self.sign(0)), (self.n - (not self.high), self.sign(1))]

    def sign(self, end):
        return 1 if self.sides[end] == "rigid" else -1

    def image(self, i):
        """The node whose value stands at index i, any integer, and its sign: 0 on a side without pressure."""
        if self.sides[0] == "periodic":
            return i % self.n, 1
        (a, sign_a), (b, sign_b) = self.walls
        if a == b:
            return a, min(sign_a, sign_b, 0) + 1
        sign = 1
        while not a <= i <= b:
            i, sign = (2 * a - i, sign * sign_a) if i < a else (2 * b - i, sign * sign_b)
        on_soft_wall = (i == a and sign_a < 0) or (i == b and sign_b < 0)
        return (min(max(i, 0), self.n - 1), 0) if on_soft_wall else (i, sign)

    def second_difference(self, order):
        """L of this axis (n, n) [1/m^2]."""
        c, matrix = coefficients(order), np.zeros((self.n, self.n))
        for i in range(self.n):
            if self.image(i)[1]:
                for m in range(-(order // 2), order // 2 + 1):
                    j, sign = self.image(i + m)
                    matrix[i, j] += sign * c[abs(m)]
        return matrix / self.h**2

    def share(self):
        """Of the cell of each node, what lies inside (n,): half on a rigid side."""
        part = np.ones(self.n)
        for end, index in ((0, 0), (1, -1)):
            if self.sides[end] == "rigid" and self.n > 1:
                part[index] = 0.5
        return part

    def damping(self, c, dt):
        """G of the nodes (n,): exp(-sigma dt), sigma = 3 c ln(1/R0) / (2 L) (x/L)^2, L = width h."""
        g = np.ones(self.n)
        for end, nodes in ((0, range(self.low - 1, -1, -1)), (1, range(self.n - self.high, self.n))):
            for depth, node in enumerate(nodes, 1):
                width, r0, *matched = self.sides[end]
                if matched:
                    break
                g[node] = exp(-1.5 * c * log(1 / r0) / (width * self.h) * (depth / width) ** 2 * dt)
        return g

    def flux(self, order):
        """F (n + 1, n) at the half nodes -1/2 .. n - 1/2 [1/m]: h L p = F(+1/2) - F(-1/2).

        C_m (p_m - 2 p_0 + p_-m) is the difference of two sums over the m pairs at distance m that straddle a
        half node.
        """
        c, matrix = coefficients(order), np.zeros((self.n + 1, self.n))
        for half in range(self.n + 1):
            for m in range(1, order // 2 + 1):
                for right in range(half, half + m):
                    for node, weight in ((right, c[m]), (right - m, -c[m])):
                        j, sign = self.image(node)
                        matrix[half, j] += sign * weight
        return matrix / self.h

    def stretch(self, c, dt):
        """B, a at half nodes, b, a at nodes: of 1/s = 1 + a / (1 - b / z), s = 1 + d / (alpha + i w).

        d = -2 c ln(R0) / L x^3, alpha = pi f0 (1 - x), x from the half node behind the user's last, in L.
        """
        found = []
        for places in (np.arange(self.n + 1) - 0.5, np.arange(self.n)):
            d, alpha = np.zeros((2, len(places)))
            outside = (self.low - 0.5 - places, places - (self.n - self.high - 0.5))
            for side, deep in zip(self.sides, outside, strict=True):
                if is_matched(side):
                    width, r0, f0 = side
                    x = np.where(deep > 0, deep / width, 0)
                    d += 2 * c * log(1 / r0) / (width * self.h) * x**3
                    alpha += np.where(x > 0, pi * f0 * (1 - x), 0)
            b = np.exp(-(d + alpha) * dt)
            found += [b, -d * (1 - b) / np.where(d > 0, d + alpha, 1)]
        return found

    def spread(self, u):
        """Weights (n,) that give the value at fractional index u of the user's nodes."""
        first = floor(u)
        if min(u - first, first + 1 - u) < HAIR:
            nodes, weights = [round(u)], [1.0]
        else:
            nodes = np.arange(first - REACH + 1, first + REACH + 1)
            d = nodes - u
            weights = np.sinc(d) * np.i0(KAISER * np.sqrt(1 - (d / REACH) ** 2)) / np.i0(KAISER)
        row = np.zeros(self.n)
        for node, weight in zip(nodes, weights, strict=True):
            j, sign = self.image(int(node) + self.low)
            row[j] += sign * weight
        return row


class Reference:
    """Levels n and n - 1 on the user's grid and its layers; sides: three pairs (low, high), see Axis."""

    def __init__(self, shape, spacing, sides, order, *, c=1.0, rho=1.0, dt, origin=(0, 0, 0)):
        self.axes = [Axis(*one) for one in zip(shape, spacing, sides, strict=True)]
        self.origin, self.spacing, self.dt, self.rho = origin, spacing, dt, rho
        self.shape = tuple(axis.n for axis in self.axes)
        self.inside = tuple(slice(axis.low, axis.low + axis.user) for axis in self.axes)
        self.volume = float(np.prod(spacing))
        c = np.broadcast_to(np.asarray(c, float), shape)
        g = [axis.damping(c.max(), dt) for axis in self.axes]
        self.c = np.pad(c, [(axis.low, axis.high) for axis in self.axes], mode="edge").ravel()
        self.g = np.einsum("i,j,k->ijk", *g).ravel()
        self.share = np.einsum("i,j,k->ijk", *(axis.share() for axis in self.axes)).ravel()
        lx, ly, lz = (sparse.csr_array(axis.second_difference(order)) for axis in self.axes)
        ix, iy, iz = (sparse.identity(n, format="csr") for n in self.shape)
        self.laplacian = sparse.csr_array(
            sparse.kron(sparse.kron(lx, iy), iz)
            + sparse.kron(sparse.kron(ix, ly), iz)
            + sparse.kron(sparse.kron(ix, iy), lz)
        )
        signs = ([abs(axis.image(i)[1]) for i in range(axis.n)] for axis in self.axes)
        self.loose = np.einsum("i,j,k->ijk", *signs).ravel()  # 0 where a free side holds p = 0
        fastest = c.max()
        matched = [(i, axis) for i, axis in enumerate(self.axes) if any(map(is_matched, axis.sides))]
        self.layers = [
            (i, axis.flux(order), axis.second_difference(order), axis.h, *axis.stretch(fastest, dt))
            for i, axis in matched
        ]
        self.sources, self.step_count, self.t0 = [], 0, 0.0
        self.set(np.zeros(shape))

    @property
    def t(self):
        return self.t0 + self.step_count * self.dt

    def padded(self, values):
        whole = np.zeros(self.shape)
        whole[self.inside] = values
        return whole.ravel() * self.loose

    def set(self, p, p_previous=None, t=0.0):
        """Without p_previous: dp/dt = 0, p- = p + c^2 dt^2 L p / 2, which is p+ as well. 0 in layers."""
        self.p, self.t0, self.step_count = self.padded(p), t, 0
        self.forget()
        if p_previous is None:
            self.q = self.p + 0.5 * (self.c * self.dt) ** 2 * (self.laplacian @ self.p + self.stretched())
            self.forget()
        else:
            self.q = self.padded(p_previous)

    def forget(self):
        """Set the memories of matched layers to those of a field that was 0 for ever."""
        self.memory = [[0.0, 0.0] for _ in self.layers]

    def stretched(self):
        """Return (1/s) d/dx ((1/s) dp/dx) - p_xx, summed over axes; memories go a step on."""
        total = np.zeros(self.shape)
        for memory, (axis, flux, second, h, b_half, a_half, b, a) in zip(
            self.memory, self.layers, strict=True
        ):
            p = np.moveaxis(self.p.reshape(self.shape), axis, -1)
            memory[0] = b_half * memory[0] + a_half * (p @ flux.T)
            change = np.diff(memory[0], axis=-1) / h
            memory[1] = b * memory[1] + a * (p @ second.T + change)
            total += np.moveaxis(change + memory[1], -1, axis)
        return total.ravel() * self.loose

    def get(self, level=0):
        return (self.q if level else self.p).reshape(self.shape)[self.inside]

    def weights(self, point):
        """Those that give p at a point (num_node,)."""
        u = [(x - o) / h for x, o, h in zip(point, self.origin, self.spacing, strict=True)]
        rows = (axis.spread(ui) for axis, ui in zip(self.axes, u, strict=True))
        return np.einsum("i,j,k->ijk", *rows).ravel()

    def sample(self, points):
        return np.array([self.weights(point) @ self.p for point in points])

    def add_source(self, point, f):
        """rho c^2 dt [f(t + dt/2) - f(t - dt/2)] a step, over the part of each cell that lies inside."""
        shares = self.weights(point) / self.share / self.volume
        self.sources.append((shares * self.rho * self.c**2 * self.dt, f))

    def step(self, n=1):
        for _ in range(n):
            k = (self.c * self.dt) ** 2
            change, old = k * (self.laplacian @ self.p), self.q - k * self.stretched()
            new = self.g * (2 * self.p + change - self.g * old)
            for amount, f in self.sources:
                new += amount * (f(self.t + self.dt / 2) - f(self.t - self.dt / 2))
            self.p, self.q = new, self.p
            self.step_count += 1

    def energy(self):
        """1/(2 rho) of ((p - p-)/(c dt))^2 + <grad p, grad p-> + layers', summed by volume.

        In a layer (g + 1/g - 2)/(c dt)^2 (p^2 + p-^2)/2, about (sigma/c)^2 p^2, belongs to it: then a step
        changes it by exactly -(1/g - g)(p+ - p-)^2 / (4 rho (c dt)^2) <= 0.
        """
        speed = ((self.p - self.q) / (self.c * self.dt)) ** 2
        layer = (self.g + 1 / self.g - 2) * (self.p**2 + self.q**2) / (2 * (self.c * self.dt) ** 2)
        density = (speed - self.p * (self.laplacian @ self.q) + layer) / (2 * self.rho)
        return float(self.volume * (self.share * density).sum())
