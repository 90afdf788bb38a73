"""Calls on reference elements with arguments that they must refuse, and the sizes they report.

Each refusal names what was found and what was expected, and writes nothing. Not here: the numbers
(test_reference_element.py). Next: csrc/element/element.c.
"""

import math

import numpy as np
import pytest
from unda import _core

ffi, lib = _core.ffi, _core.lib

DEGREES = range(1, 10)
TET, HEX = 0, 1


def pointer(array):
    return ffi.cast("double *", array.ctypes.data)


def arrays_struct():
    arrays = ffi.new("unda_element_arrays *")
    arrays.size_bytes = ffi.sizeof("unda_element_arrays")
    return arrays


def test_number_of_nodes_is_the_number_of_polynomials():
    for degree in DEGREES:
        assert lib.unda_element_num_node(TET, degree) == math.comb(degree + 3, 3)
        assert lib.unda_element_num_face_node(TET, degree) == math.comb(degree + 2, 2)
    for degree in range(1, 11):
        assert lib.unda_element_num_node(HEX, degree) == (degree + 1) ** 3
        assert lib.unda_element_num_face_node(HEX, degree) == (degree + 1) ** 2
    for shape, degree in [(TET, 0), (TET, 10), (TET, -1), (HEX, 0), (HEX, 11), (2, 3), (-1, 3)]:
        assert lib.unda_element_num_node(shape, degree) == -1
        assert lib.unda_element_num_face_node(shape, degree) == -1


def message():
    return ffi.string(lib.unda_error()).decode()


@pytest.mark.parametrize(
    ("shape", "degree", "says"),
    [
        (TET, 0, "degree is 0, expected 1..9"),
        (TET, 10, "degree is 10, expected 1..9"),
        (HEX, 11, "degree is 11, expected 1..10"),
        (7, 3, "shape is 7, expected UNDA_TET (0) or UNDA_HEX (1)"),
    ],
)
def test_unknown_shapes_and_degrees_are_refused_and_nothing_is_written(shape, degree, says):
    nodes, matrix = np.full(3 * 220, np.nan), np.full(220, np.nan)
    arrays = arrays_struct()
    arrays.nodes = pointer(nodes)
    assert lib.unda_element_get_arrays(shape, degree, arrays) == lib.UNDA_ERR_ARG
    assert says in message()
    point = np.full(3, 0.25)
    status = lib.unda_element_interpolate(shape, degree, 1, pointer(point), pointer(matrix))
    assert status == lib.UNDA_ERR_ARG and says in message()
    assert np.isnan(nodes).all() and np.isnan(matrix).all()


def test_wrong_struct_sizes_and_null_pointers_are_refused():
    arrays = arrays_struct()
    assert lib.unda_element_get_arrays(TET, 2, arrays) == 0  # every pointer may be NULL
    arrays.size_bytes -= 8
    assert lib.unda_element_get_arrays(TET, 2, arrays) == lib.UNDA_ERR_ARG
    assert "size_bytes" in message()
    assert lib.unda_element_get_arrays(TET, 2, ffi.NULL) == lib.UNDA_ERR_ARG
    room = np.zeros(64)
    bad = [
        (1, ffi.NULL, pointer(room)),
        (1, pointer(room), ffi.NULL),
        (-1, pointer(room), pointer(room)),
    ]
    for count, points, matrix in bad:
        assert lib.unda_element_interpolate(TET, 2, count, points, matrix) == lib.UNDA_ERR_ARG
    assert lib.unda_element_interpolate(TET, 2, 0, ffi.NULL, ffi.NULL) == 0


def test_points_that_are_not_finite_are_refused_by_number():
    points, matrix = np.full((3, 3), 0.2), np.zeros((3, 10))
    points[1, 2] = np.nan
    status = lib.unda_element_interpolate(TET, 2, 3, pointer(points), pointer(matrix))
    assert status == lib.UNDA_ERR_ARG and "points[1][2]" in message()
    assert (matrix == 0).all()


@pytest.mark.parametrize(
    ("shape", "degree", "says"),
    [(TET, -1, "degree is -1, expected 0..40"), (HEX, 41, "0..40"), (7, 2, "UNDA_HEX")],
)
def test_impossible_cubatures_are_refused(shape, degree, says):
    count, room = ffi.new("int64_t *", -7), np.full(3 * 10**4, np.nan)
    status = lib.unda_element_cubature(shape, degree, count, pointer(room), pointer(room))
    assert status == lib.UNDA_ERR_ARG and says in message()
    assert count[0] == -7 and np.isnan(room).all()
    half = lib.unda_element_cubature(TET, 2, count, pointer(room), ffi.NULL)
    assert half == lib.UNDA_ERR_ARG and "weights is NULL" in message()
    assert lib.unda_element_cubature(TET, 2, ffi.NULL, ffi.NULL, ffi.NULL) == lib.UNDA_ERR_ARG
