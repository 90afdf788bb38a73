"""The reference tetrahedron: nodes, matrices and cubature against exact polynomials and integrals.

Reference values are computed here with monomials, factorials and NumPy's own Gauss rules, in
extended precision where that leaves the rounding of the library's results as the only error.
Not here: bad arguments (test_reference_element_refuses.py), real elements. Next: csrc/element/.
"""

import functools
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from unda import _core

ffi, lib = _core.ffi, _core.lib

DEGREES = range(1, 10)
TET, HEX = 0, 1
EPS = np.finfo(float).eps
WIDE = np.longdouble
PERMUTATIONS = list(itertools.permutations(range(4)))
# Gradients of the barycentric coordinates; face f lies where coordinate f is zero.
GRADIENTS = np.array([[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACE_VERTICES = [(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)]


def pointer(array, kind="double"):
    assert array.flags.c_contiguous
    return ffi.cast(f"{kind} *", array.ctypes.data)


def arrays_struct():
    arrays = ffi.new("unda_element_arrays *")
    arrays.size_bytes = ffi.sizeof("unda_element_arrays")
    return arrays


@functools.cache
def element(degree):
    """Return all arrays of the element; they are shared between tests, so they are read-only."""
    n, m = lib.unda_element_num_node(TET, degree), lib.unda_element_num_face_node(TET, degree)
    shapes = {
        "nodes": (n, 3),
        "derivative": (3, n, n),
        "lift": (4, n, m),
        "mass": (n, n),
        "inv_mass": (n, n),
    }
    found = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    found["face_node"] = np.full((4, m), -1, np.int32)
    arrays = arrays_struct()
    for name, array in found.items():
        setattr(arrays, name, pointer(array, "int32_t" if name == "face_node" else "double"))
    assert lib.unda_element_get_arrays(TET, degree, arrays) == 0
    for array in found.values():
        array.flags.writeable = False
    return SimpleNamespace(degree=degree, num_node=n, num_face_node=m, **found)


def interpolate(degree, points):
    points = np.ascontiguousarray(points, float)
    matrix = np.full((len(points), lib.unda_element_num_node(TET, degree)), np.nan)
    status = lib.unda_element_interpolate(TET, degree, len(points), pointer(points), pointer(matrix))
    assert status == 0
    return matrix


def cubature(degree):
    count = ffi.new("int64_t *")
    assert lib.unda_element_cubature(TET, degree, count, ffi.NULL, ffi.NULL) == 0
    points, weights = np.full((count[0], 3), np.nan), np.full(count[0], np.nan)
    assert lib.unda_element_cubature(TET, degree, count, pointer(points), pointer(weights)) == 0
    return points, weights


def barycentric(points):
    return np.column_stack([1 - points.sum(axis=1), points])


# ---------------------------------------------------------------- polynomials, independently


def exponents(degree):
    """Return the exponents of all monomials up to a total degree, [mode][3]."""
    return np.array([e for e in itertools.product(range(degree + 1), repeat=3) if sum(e) <= degree])


def monomials(degree, points):
    """Return the monomials at points [..., 3] as [..., mode], in extended precision."""
    powers = np.asarray(points, WIDE)[..., None, :] ** exponents(degree)
    return powers.prod(axis=-1)


def monomial_integrals(powers):
    """Return the integrals a! b! c! / (a + b + c + 3)! over the unit tetrahedron of [mode][3]."""
    return np.array(
        [
            WIDE(1) * math.prod(map(math.factorial, e)) / WIDE(str(math.factorial(sum(e) + 3)))
            for e in powers.tolist()
        ]
    )


def monomial_slopes(degree, points, axis):
    powers = exponents(degree)
    factor = powers[:, axis].astype(WIDE)
    lowered = powers.copy()
    lowered[:, axis] = np.maximum(powers[:, axis] - 1, 0)
    return factor * (np.asarray(points, WIDE)[..., None, :] ** lowered).prod(axis=-1)


def random_coefficients(degree, seed):
    return np.random.default_rng(seed).uniform(-1, 1, len(exponents(degree)))


def duffy(dimension, count):
    """Return points and weights on the unit simplex from NumPy's Gauss-Legendre rule."""
    x, w = np.polynomial.legendre.leggauss(count)
    x, w = (x + 1) / 2, w / 2
    grid = np.stack(np.meshgrid(*[x] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    weights = functools.reduce(np.multiply.outer, [w] * dimension).ravel()
    points, room = np.empty_like(grid), np.ones(len(grid))
    for axis in range(dimension):
        points[:, axis] = room * grid[:, axis]
        weights = weights * room  # the width that is left is the Jacobian of this direction
        room = room * (1 - grid[:, axis])
    return points, weights


# ---------------------------------------------------------------- nodes


def asymmetry(nodes):
    """Return how far the set of nodes is from invariance under the permutations of the vertices."""
    coordinates = barycentric(nodes)
    worst = 0.0
    for permutation in PERMUTATIONS:
        gaps = np.abs(coordinates[:, None, permutation] - coordinates[None]).max(axis=2)
        worst = max(worst, gaps.min(axis=1).max(), gaps.min(axis=0).max())
    return worst


@pytest.mark.parametrize("degree", DEGREES)
def test_nodes_are_invariant_under_every_permutation_of_the_vertices(degree):
    # Each coordinate is rounded once to EPS / 2; 1 - r1 - r2 - r3 collects three and its own.
    assert asymmetry(element(degree).nodes) <= 4 * EPS
    moved = element(degree).nodes.copy()
    moved[-1, 0] += 1e-12
    assert asymmetry(moved) > 4 * EPS


@pytest.mark.parametrize("degree", DEGREES)
def test_nodes_of_an_edge_are_the_gauss_lobatto_points_in_order(degree):
    def gap(polynomial):
        inner = np.sort(np.polynomial.legendre.legroots(polynomial).real)
        expected = (np.concatenate([[-1], inner, [1]]) + 1) / 2
        first_edge = element(degree).nodes[: degree + 1]
        assert (first_edge[:, 1:] == 0).all()
        return np.abs(first_edge[:, 0] - expected).max()

    legendre = [0] * degree + [1]
    # legroots: eigenvalues of a companion matrix, good to a few EPS times its size
    assert gap(np.polynomial.legendre.legder(legendre)) <= 10 * degree * EPS
    if degree > 2:
        chebyshev_like = np.polynomial.legendre.legder(legendre) + 1e-3 * np.eye(degree)[0]
        assert gap(chebyshev_like) > 10 * degree * EPS


def index_order_holds(degree, nodes):
    """Return whether node n belongs to index n: coordinates sort and permute as indices do."""
    index = [
        (degree - i - j - k, i, j, k)
        for k in range(degree + 1)
        for j in range(degree + 1 - k)
        for i in range(degree + 1 - j - k)
    ]
    place = {own: n for n, own in enumerate(index)}
    coordinates = barycentric(nodes)
    for n, own in enumerate(index):
        ranks = np.sign(np.subtract.outer(own, own))
        gaps = np.subtract.outer(coordinates[n], coordinates[n])
        if (np.sign(np.where(np.abs(gaps) <= 8 * EPS, 0, gaps)) != ranks).any():
            return False
        for permutation in PERMUTATIONS:
            image = coordinates[place[tuple(own[v] for v in permutation)]]
            if np.abs(image - coordinates[n, permutation]).max() > 4 * EPS:
                return False
    return True


@pytest.mark.parametrize("degree", DEGREES)
def test_nodes_stand_in_the_order_of_their_indices(degree):
    nodes = element(degree).nodes
    assert index_order_holds(degree, nodes)
    assert not index_order_holds(degree, nodes[:, ::-1])
    swapped = nodes.copy()
    swapped[[0, 1]] = nodes[[1, 0]]
    assert not index_order_holds(degree, swapped)


@pytest.mark.parametrize(
    ("degree", "published"),
    [(1, 1.0), (2, 2.0), (3, 2.93), (4, 4.07), (5, 5.32), (6, 7.01), (7, 9.21), (8, 12.54), (9, 17.02)],
)
def test_lebesgue_constant_is_that_of_optimised_warp_and_blend(degree, published):
    """Warburton 2006. Points sampled give a lower bound, which approaches it from below."""
    count = 24
    lattice = np.array([p for p in itertools.product(range(count + 1), repeat=3) if sum(p) <= count])
    lattice = lattice / count
    found = np.abs(interpolate(degree, lattice)).sum(axis=1).max()
    assert 0.95 * published <= found <= published + 0.01
    if degree > 3:  # below that, warping moves the equidistant nodes little or not at all
        even = np.array([p for p in itertools.product(range(degree + 1), repeat=3) if sum(p) <= degree])
        basis = monomials(degree, lattice).astype(float) @ np.linalg.inv(
            monomials(degree, even / degree).astype(float)
        )
        assert np.abs(basis).sum(axis=1).max() > 1.05 * published


# ---------------------------------------------------------------- matrices


@pytest.mark.each_value
@pytest.mark.parametrize("degree", DEGREES)
@pytest.mark.parametrize("axis", range(3))
def test_derivative_is_exact_for_polynomials_up_to_the_degree(degree, axis):
    def excess(order):
        """Return error over bound: each entry rounded once, the diagonal to the sum of its row."""
        coefficients = random_coefficients(order, seed=degree)
        values = monomials(order, nodes) @ coefficients
        exact = monomial_slopes(order, nodes, axis) @ coefficients
        error = np.abs(matrix.astype(WIDE) @ values - exact)
        size = np.abs(matrix)
        return (error / (EPS * (size @ np.abs(values) + size.sum(axis=1) * np.abs(values)))).max()

    nodes, matrix = element(degree).nodes, element(degree).derivative[axis]
    assert excess(degree) <= 1
    assert excess(degree + 1) > 1e6
    assert np.abs(matrix).sum(axis=1).max() * EPS < 1e-12


@pytest.mark.parametrize("degree", DEGREES)
def test_derivative_of_a_constant_is_zero_to_rounding(degree):
    rows = element(degree).derivative.astype(WIDE)
    residual = np.abs(rows.sum(axis=2))
    diagonal = np.abs(np.einsum("ann->an", rows))
    assert (residual <= EPS * np.maximum(diagonal, 1)).all()
    perturbed = rows.copy()
    perturbed[0, 0, -1] += 100 * EPS * np.abs(rows).max()
    assert np.abs(perturbed.sum(axis=2))[0, 0] > EPS * max(diagonal[0, 0], 1)


@pytest.mark.parametrize("degree", range(1, 5))
def test_derivative_equals_the_one_of_a_monomial_vandermonde_matrix(degree):
    """The same matrix from another basis; beyond degree 4 monomials are too ill conditioned."""
    nodes = element(degree).nodes
    vandermonde = monomials(degree, nodes).astype(float)
    tolerance = 10 * EPS * np.linalg.cond(vandermonde)
    for axis in range(3):
        slopes = monomial_slopes(degree, nodes, axis).astype(float)
        expected = np.linalg.solve(vandermonde.T, slopes.T).T
        found = element(degree).derivative[axis]
        assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()
        assert np.abs(found.T - expected).max() > tolerance * np.abs(expected).max()


@pytest.mark.parametrize("degree", DEGREES)
def test_mass_integrates_products_of_polynomials(degree):
    def excess(matrix, order):
        u = monomials(order, nodes) @ random_coefficients(order, seed=1)
        v = monomials(degree, nodes) @ random_coefficients(degree, seed=2)
        powers = exponents(order)[:, None] + exponents(degree)[None]
        table = monomial_integrals(powers.reshape(-1, 3)).reshape(powers.shape[:2])
        exact = random_coefficients(order, seed=1) @ table @ random_coefficients(degree, seed=2)
        return abs(u @ matrix @ v - exact) / (EPS * (np.abs(u) @ np.abs(matrix) @ np.abs(v)))

    nodes, mass = element(degree).nodes, element(degree).mass.astype(WIDE)
    assert excess(mass, degree) <= 1  # each entry is rounded once
    assert excess(mass * (1 + 1e-9), degree) > 1
    assert excess(mass, degree + 1) > 1e3
    assert abs(mass.sum() - WIDE(1) / 6) <= EPS * np.abs(mass).sum()
    assert (mass == mass.T).all()


@pytest.mark.parametrize("degree", DEGREES)
def test_inverse_mass_is_the_inverse(degree):
    mass, inverse = element(degree).mass.astype(WIDE), element(degree).inv_mass.astype(WIDE)
    bound = EPS * (np.abs(mass) @ np.abs(inverse))  # both are rounded once
    error = np.abs(mass @ inverse - np.eye(len(mass)))
    assert (error <= bound).all()
    assert (np.abs(mass @ (inverse * (1 + 1e-11)) - np.eye(len(mass))) > bound).any()


def by_parts_residual(e, face_node):
    """Return v (M D_j + D_j^T M) u minus the surface integral of v u n_j, and its size.

    On the unit tetrahedron n_j dA = -dlambda_f/dr_j dA' with dA' on the unit triangle, and M lift_f
    is the mass matrix of that triangle.
    """
    mass, lift = e.mass.astype(WIDE), e.lift.astype(WIDE)
    residual, size = 0, 0
    for axis in range(3):
        term = mass @ e.derivative[axis].astype(WIDE)
        total = term + term.T
        scale = np.abs(mass) @ np.abs(e.derivative[axis])
        scale = scale + scale.T
        for face in range(4):
            weight = GRADIENTS[face, axis]
            total[:, face_node[face]] += weight * (mass @ lift[face])
            scale[:, face_node[face]] += np.abs(mass) @ np.abs(lift[face])
        residual, size = max(residual, np.abs(total).max()), max(size, scale.max())
    return residual, size


@pytest.mark.parametrize("degree", DEGREES)
def test_derivative_mass_and_lift_integrate_by_parts(degree):
    e = element(degree)
    residual, size = by_parts_residual(e, e.face_node)
    # two matrices a term, each rounded once; the diagonal of D carries the rounding of its row
    assert residual <= 4 * EPS * size
    residual, size = by_parts_residual(e, e.face_node[:, ::-1])
    assert residual > 1e6 * EPS * size


def surface_error(degree, area_factor=1.0, swap=False):
    """Return max over v of | int_K v L dV - int_face v jump dA |, relative, L from the lift matrix.

    K is a random affine tetrahedron and v, jump random polynomials of full degree in x, y, z. Both
    integrals are taken in physical space with NumPy's quadrature.
    """
    e = element(degree)
    rng = np.random.default_rng(degree)
    corners = rng.uniform(-1, 1, (4, 3))
    edges = corners[1:] - corners[0]
    volume = abs(np.linalg.det(edges)) / 6
    to_space = functools.partial(np.dot, b=edges)
    physical_nodes = corners[0] + to_space(e.nodes)
    inner, inner_weights = duffy(3, degree + 2)
    basis = interpolate(degree, inner)
    inner_space = corners[0] + to_space(inner)
    side, side_weights = duffy(2, degree + 2)
    jump, test = random_coefficients(degree, 5), random_coefficients(degree, 6)
    worst = 0.0
    for face in range(4):
        a, b, c = corners[list(FACE_VERTICES[face])]
        area = np.linalg.norm(np.cross(b - a, c - a)) / 2
        nodes = e.face_node[(face + 1) % 4 if swap else face]
        lifted = (
            area_factor
            * area
            / (3 * volume)
            * (e.lift[face] @ (monomials(degree, physical_nodes[nodes]) @ jump).astype(float))
        )
        v = (monomials(degree, inner_space) @ test).astype(float)
        found = 6 * volume * np.sum(inner_weights * v * (basis @ lifted))
        on_face = a + side @ np.array([b - a, c - a])
        values = monomials(degree, on_face)
        terms = 2 * area * side_weights * ((values @ test) * (values @ jump)).astype(float)
        size = 6 * volume * np.sum(inner_weights * np.abs(v) * (np.abs(basis) @ np.abs(lifted)))
        worst = max(worst, abs(found - terms.sum()) / (size + np.abs(terms).sum()))
    return worst


@pytest.mark.parametrize(
    "degree", [pytest.param(n, marks=[pytest.mark.slow] * (n in (5, 7, 8, 9))) for n in DEGREES]
)
def test_lift_gives_the_surface_term_of_a_real_element(degree):
    # float64 sums over the nodes of the element and of the face; quadratures are summed pairwise
    tolerance = 2 * EPS * (element(degree).num_node + element(degree).num_face_node + 20)
    assert surface_error(degree) <= tolerance
    assert surface_error(degree, area_factor=1.01) > tolerance
    assert surface_error(degree, swap=True) > tolerance


# ---------------------------------------------------------------- faces


@pytest.mark.parametrize("degree", DEGREES)
def test_face_nodes_are_the_nodes_on_the_face(degree):
    e = element(degree)
    coordinates = barycentric(e.nodes)
    for face in range(4):
        on_face = np.flatnonzero(np.abs(coordinates[:, face]) <= 4 * EPS)
        assert sorted(e.face_node[face]) == on_face.tolist()
        assert sorted(e.face_node[face]) != sorted(e.face_node[(face + 1) % 4])
        if face > 0:
            assert (e.nodes[on_face, face - 1] == 0).all()


def shared_face_gap(degree, seed, sort):
    """Return the largest distance between the face nodes of two elements that share a face."""
    rng = np.random.default_rng(seed)
    ids = rng.choice(1000, 5, replace=False)
    place = dict(zip(ids.tolist(), rng.uniform(-1, 1, (5, 3)), strict=True))
    sides = []
    for own in ids[3:]:
        cell = rng.permutation([*ids[:3], own]).tolist()
        cell = sorted(cell) if sort else cell
        face = cell.index(own)
        nodes = barycentric(element(degree).nodes)[element(degree).face_node[face]]
        sides.append(nodes @ np.array([place[v] for v in cell]))
    return np.abs(sides[0] - sides[1]).max()


@pytest.mark.parametrize("degree", DEGREES)
def test_two_elements_with_sorted_vertices_list_a_shared_face_alike(degree):
    # Coordinates below 1, a sum of four terms with weights rounded to 4 EPS on each side.
    sorted_gaps = [shared_face_gap(degree, seed, sort=True) for seed in range(40)]
    assert max(sorted_gaps) <= 16 * EPS
    unsorted_gaps = [shared_face_gap(degree, seed, sort=False) for seed in range(40)]
    assert max(unsorted_gaps) > 1e-3


# ---------------------------------------------------------------- interpolation, cubature


@pytest.mark.parametrize("degree", DEGREES)
def test_interpolation_reproduces_polynomials_and_only_up_to_the_degree(degree):
    def excess(order):
        values = monomials(order, e.nodes) @ random_coefficients(order, 3)
        exact = monomials(order, points) @ random_coefficients(order, 3)
        error = np.abs(matrix.astype(WIDE) @ values - exact)
        return (error / (rounding @ np.abs(values))).max()

    e = element(degree)
    points = np.random.default_rng(0).dirichlet(np.ones(4), 30)[:, 1:]
    matrix = interpolate(degree, points)
    # Basis function n is a float64 sum over modes m of psi_m W_mn. By Cauchy and Schwarz the terms'
    # sizes add to at most sqrt(sum psi_m^2 sum W_mn^2); the first sum is largest at a vertex, where
    # it is a diagonal entry of the inverse mass matrix; the second one is one of the mass matrix.
    rounding = EPS * e.num_node * np.sqrt(e.inv_mass.diagonal().max() * e.mass.diagonal())
    assert excess(degree) <= 1
    assert excess(degree + 1) > 1e3
    at_nodes = interpolate(degree, e.nodes)
    assert (np.abs(at_nodes - np.eye(e.num_node)) <= rounding).all()
    assert (np.abs(at_nodes[::-1] - np.eye(e.num_node)) > rounding).any()


@pytest.mark.parametrize("degree", [*range(13), 17, 40])
def test_cubature_is_exact_for_every_monomial_up_to_its_degree(degree):
    points, weights = cubature(degree)
    assert len(points) == (degree // 2 + 1) ** 3
    assert (weights > 0).all() and (barycentric(points) > 0).all()
    powers = exponents(degree)
    if degree > 20:
        powers = powers[np.random.default_rng(0).choice(len(powers), 200, replace=False)]
    table = [points[:, axis][:, None] ** np.arange(degree + 1) for axis in range(3)]
    found = np.array(
        [(weights * table[0][:, a] * table[1][:, b] * table[2][:, c]).sum() for a, b, c in powers]
    )
    exact = monomial_integrals(powers).astype(float)
    # All terms are positive. Weights and powers carry 10 EPS, the pairwise sum 14. A coordinate
    # moved by EPS moves the integral of x^a ... by a EPS times that of x^(a-1) ..., which is larger
    # by (a + b + c + 3) / a.
    tolerance = EPS * (24 + 3 * (degree + 3))
    assert np.abs(found / exact - 1).max() <= tolerance
    first_missed = 2 * (degree // 2 + 1)
    if degree <= 12:
        missed = weights @ points[:, 2] ** first_missed
        expected = monomial_integrals(np.array([[0, 0, first_missed]])).astype(float)[0]
        assert abs(missed / expected - 1) > tolerance
