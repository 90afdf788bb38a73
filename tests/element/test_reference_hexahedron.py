"""The reference hexahedron: nodes, matrices, faces and cubature against exact polynomials and integrals.

Not here: the tetrahedron (test_reference_element.py), real elements. Next: csrc/element/hex.c.
"""

import functools
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from unda import _core

ffi, lib = _core.ffi, _core.lib
HEX = 1
EPS = np.finfo(float).eps
DEGREES = (1, 2, 3, 6, 10)


def pointer(array, kind="double"):
    return ffi.cast(f"{kind} *", array.ctypes.data)


@functools.cache
def element(degree):
    n, m = lib.unda_element_num_node(HEX, degree), lib.unda_element_num_face_node(HEX, degree)
    shapes = {
        "nodes": (n, 3), "derivative": (3, n, n), "lift": (6, n, m), "mass": (n, n), "inv_mass": (n, n),
    }  # fmt: skip
    found = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    found["face_node"] = np.full((6, m), -1, np.int32)
    arrays = ffi.new("unda_element_arrays *", {"size_bytes": ffi.sizeof("unda_element_arrays")})
    for name, array in found.items():
        setattr(arrays, name, pointer(array, "int32_t" if name == "face_node" else "double"))
    assert lib.unda_element_get_arrays(HEX, degree, arrays) == 0
    return SimpleNamespace(num_node=n, num_face_node=m, **found)


def polynomial(degree, seed):
    """Return a random polynomial of that degree in each coordinate, and its derivative along an axis."""
    c = np.random.default_rng(seed).uniform(-1, 1, (degree + 1,) * 3)
    legendre = np.polynomial.legendre
    return (
        lambda x: legendre.legval3d(*(2 * x.T - 1), c),
        lambda x, axis: 2 * legendre.legval3d(*(2 * x.T - 1), legendre.legder(c, axis=axis)),
    )


@pytest.mark.parametrize("degree", DEGREES)
def test_nodes_are_products_of_lobatto_points(degree):
    inner = np.polynomial.legendre.legroots(np.polynomial.legendre.legder([0] * degree + [1])).real
    line = (np.concatenate([[-1], np.sort(inner), [1]]) + 1) / 2
    z, y, x = np.meshgrid(line, line, line, indexing="ij")
    expected = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    assert np.abs(element(degree).nodes - expected).max() <= 10 * degree * EPS


@pytest.mark.parametrize("degree", DEGREES)
def test_polynomials_are_differentiated_and_interpolated_exactly(degree):
    of = element(degree)
    value, slope = polynomial(degree, degree)
    # Entries of a derivative matrix reach N^2 and more; its sums have N + 1 terms, values up to (N + 1)^3.
    room = 8 * EPS * (degree + 1) ** 2 * np.abs(value(of.nodes)).max()
    for axis in range(3):
        most = np.abs(of.derivative[axis]).sum(axis=1).max()
        found = of.derivative[axis] @ value(of.nodes)
        assert np.abs(found - slope(of.nodes, axis)).max() <= most * room
        assert np.abs(of.derivative[axis] @ np.ones(of.num_node)).max() <= most * EPS
    points = np.random.default_rng(1).uniform(0, 1, (20, 3))
    matrix = np.empty((20, of.num_node))
    assert lib.unda_element_interpolate(HEX, degree, 20, pointer(points), pointer(matrix)) == 0
    assert np.abs(matrix @ value(of.nodes) - value(points)).max() <= np.abs(matrix).sum(axis=1).max() * room


@pytest.mark.parametrize("degree", DEGREES)
def test_derivatives_of_a_mirror_image_are_mirror_images_to_the_last_bit(degree):
    n = degree + 1
    line = element(degree).derivative[0][:n, :n]
    assert np.array_equal(line[::-1, ::-1], -line)


@pytest.mark.parametrize("degree", DEGREES)
def test_parts_sum_to_what_stands_on_the_faces(degree):
    """W D_j + D_j^T W = B_j, the quadrature over both faces of axis j: what energy rests on."""
    of = element(degree)
    w = np.diag(of.mass)
    assert w.sum() == pytest.approx(1, abs=10 * degree * EPS) and (w > 0).all()
    assert np.array_equal(of.mass, np.diag(w)) and np.allclose(np.diag(of.inv_mass) * w, 1, atol=4 * EPS)
    for axis in range(3):
        parts = w[:, None] * of.derivative[axis] + (w[:, None] * of.derivative[axis]).T
        faces = np.zeros_like(parts)
        for side, sign in ((2 * axis, -1), (2 * axis + 1, 1)):
            node = of.face_node[side]
            faces[node, node] += sign * w[node] * of.lift[side][node, np.arange(of.num_face_node)]
        assert np.abs(parts - faces).max() <= 20 * degree * EPS * np.abs(parts).max()


@pytest.mark.parametrize("degree", (1, 2, 4))
def test_face_nodes_lie_on_their_faces_first_axis_fastest(degree):
    of = element(degree)
    for face in range(6):
        x = of.nodes[of.face_node[face]]
        assert (x[:, face // 2] == face % 2).all()
        a, b = (axis for axis in range(3) if axis != face // 2)
        assert np.array_equal(np.lexsort((x[:, a], x[:, b])), np.arange(of.num_face_node))
        assert np.array_equal(of.lift[face] != 0, of.face_node[face] == np.arange(of.num_node)[:, None])


@pytest.mark.parametrize("degree", (0, 5, 40))
def test_cubature_integrates_monomials_of_its_degree_in_each_coordinate(degree):
    count = ffi.new("int64_t *")
    assert lib.unda_element_cubature(HEX, degree, count, ffi.NULL, ffi.NULL) == 0
    points, weights = np.empty((count[0], 3)), np.empty(count[0])
    assert lib.unda_element_cubature(HEX, degree, count, pointer(points), pointer(weights)) == 0
    for powers in itertools.product((0, degree), repeat=3):
        found = weights @ (points ** np.array(powers)).prod(axis=1)
        expected = np.prod(1 / (np.array(powers) + 1))
        assert found == pytest.approx(expected, rel=100 * EPS * (degree + 1))
