"""Derivative and lifts of the reference tetrahedron are four small blocks: the algebra of kernel blocks.

Swapping the vertices 0 and 1 (Q) turns d/dr_1 around, swapping 2 and 3 (P) leaves it alone, and the cyclic
shift 1 -> 2 -> 3 (C) makes d/dr_2 and d/dr_3 of it. Let V be the group {1, Q, P, PQ}, chi_ab(Q) = a,
chi_ab(P) = b its characters, a, b = +1 or -1. In the sums over orbits

    u_ab(o) = sum over g in V of chi_ab(g) u(g o),    u(g o) = 1/4 sum over a, b of chi_ab(g) u_ab(o),

D_1 Q = -Q D_1 and D_1 P = P D_1 say that D_1 maps u_ab to u_-ab alone, and face 0, which Q swaps with face
1, that the lift of both maps jumps s_ab to u_ab: four blocks, each of a quarter of the numbers of D_1 and
columns more for the sums of jumps. csrc/dg/blocks.c makes them; here they are made anew with NumPy, and
kernel blocks is run with parts that are no default. Everything else of it: test_cuda_engine.py.
"""

import functools
import itertools

import cuda_device
import numpy as np
import pytest
import unda
from unda._core import ffi, lib, new_struct

cuda_device.prepare()
DEGREES = range(1, 10)
EPS = np.finfo(float).eps
SWAP_Q, SWAP_P, SHIFT = (1, 0, 2, 3), (0, 1, 3, 2), (0, 2, 3, 1)
SIGNS = tuple(itertools.product((1, -1), (1, -1)))  # (a, b)


@functools.cache
def element(degree):
    """Nodes, derivative, lift and face nodes of the reference tetrahedron."""
    n, m = lib.unda_element_num_node(0, degree), lib.unda_element_num_face_node(0, degree)
    arrays = new_struct("unda_element_arrays")
    shapes = {"nodes": (n, 3), "derivative": (3, n, n), "lift": (4, n, m), "face_node": (4, m)}
    kinds = {"face_node": np.int32}
    found = {name: np.zeros(size, kinds.get(name, float)) for name, size in shapes.items()}
    for name, array in found.items():
        kind = "int32_t *" if name in kinds else "double *"
        setattr(arrays, name, ffi.cast(kind, array.ctypes.data))
    assert lib.unda_element_get_arrays(0, degree, arrays) == 0
    return found


def vertex_coordinates(nodes):
    return np.column_stack([1 - nodes.sum(1), nodes])


def images(nodes, swap):
    """Node i of the element lies where vertex v goes to vertex swap[v] in node images[i], and how far off."""
    weight = vertex_coordinates(nodes)
    moved = np.empty_like(weight)
    moved[:, list(swap)] = weight
    apart = np.abs(moved[:, None] - weight[None]).max(2)
    return apart.argmin(1), apart.min(1).max()


def face_images(el, swap):
    """The same of face nodes, numbered face by face."""
    node = images(el["nodes"], swap)[0]
    number = {(f, n): f * len(row) + m for f, row in enumerate(el["face_node"]) for m, n in enumerate(row)}
    return np.array([number[swap[f], node[n]] for f, row in enumerate(el["face_node"]) for n in row])


def lifts(el):
    """The lifts of all faces side by side (node, face node)."""
    return np.concatenate(el["lift"], 1)


def sums(q, p, signs):
    """Rows: sums over the orbits of the group of the swaps q and p, those that are not zero."""
    a, b = signs
    rows = np.eye(len(q))
    rows = rows + a * rows[q] + b * rows[p] + a * b * rows[q[p]]
    return rows[[o for o in range(len(q)) if o == min(o, q[o], p[o], q[p[o]]) and np.abs(rows[o]).max() > 0]]


def rebuilt(el, swap_q=SWAP_Q, swap_p=SWAP_P):
    """D_1 and the lift of faces 0 and 1 from their four blocks, and the blocks' sizes."""
    derivative, lift = el["derivative"][0], lifts(el)[:, : 2 * el["face_node"].shape[1]]
    q, p = (images(el["nodes"], swap)[0] for swap in (swap_q, swap_p))
    face_q, face_p = (face_images(el, swap)[: lift.shape[1]] for swap in (swap_q, swap_p))
    found, sizes = [np.zeros_like(derivative), np.zeros_like(lift)], []
    for a, b in SIGNS:
        left, from_nodes, from_faces = sums(q, p, (a, b)), sums(q, p, (-a, b)), sums(face_q, face_p, (a, b))
        for i, (matrix, right) in enumerate(((derivative, from_nodes), (lift, from_faces))):
            if len(left) and len(right):
                block = np.linalg.pinv(left.T) @ matrix @ np.linalg.pinv(right)
                found[i] += left.T @ block @ right
        sizes.append((len(left), len(from_nodes) + len(from_faces)))
    return *found, sizes


def error(found, expected):
    return np.abs(found - expected).max() / (EPS * np.abs(expected).max() * len(expected))


@pytest.mark.parametrize("degree", DEGREES)
def test_every_swap_of_vertices_swaps_nodes(degree):
    nodes = element(degree)["nodes"]
    for swap in itertools.permutations(range(4)):
        found, apart = images(nodes, swap)
        assert apart < 1e-13
        assert sorted(found) == list(range(len(nodes)))
    moved = nodes + 1e-6 * (np.arange(len(nodes)) == 1)[:, None]
    assert max(images(moved, swap)[1] for swap in itertools.permutations(range(4))) > 1e-7


@pytest.mark.parametrize("degree", DEGREES)
def test_four_blocks_are_the_derivative_and_the_lift(degree):
    el = element(degree)
    derivative, lift, sizes = rebuilt(el)
    assert error(derivative, el["derivative"][0]) < 8  # rounding of sums of that many terms
    assert error(lift, lifts(el)[:, : lift.shape[1]]) < 8
    assert sum(rows for rows, _ in sizes) == len(el["nodes"])
    assert error(rebuilt(el | {"derivative": el["derivative"][1:]})[0], el["derivative"][1]) > 1e6


def test_sizes_of_the_blocks_at_degree_seven():
    assert rebuilt(element(7))[2] == [(40, 50), (30, 36), (30, 60), (20, 46)]


@pytest.mark.parametrize("degree", DEGREES)
def test_the_cyclic_shift_makes_the_other_directions_of_the_first(degree):
    el = element(degree)
    node, face = images(el["nodes"], SHIFT)[0], face_images(el, SHIFT)
    derivative, lift = el["derivative"], lifts(el)
    for j in (1, 2):  # (D_j+1 u)(C x) is (D_j u o C)(x)
        assert error(derivative[j][np.ix_(node, node)], derivative[j - 1]) < 8
        assert error(derivative[j], derivative[j - 1]) > 1e6
    assert error(lift[np.ix_(node, face)], lift) < 8


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("degree", "options", "message"),
    [
        (3, {"tile": 9, "cols": 2}, "tile is 9 elements a block, expected a multiple of the 2"),
        (9, {"rows": 1, "cols": 1, "tile": 4}, "make 1760 threads a block, expected at most 1024"),
        (9, {"tile": 32, "cols": 4}, "needs [0-9]+ KB of shared memory .*, expected at most 227"),
        (2, {"turns": 2}, "turns is 2, expected 1 or 1, in which the fields of acoustic can be taken"),
        (2, {"products": 2, "tile": 32, "cols": 24}, "make 32 threads a block, expected four an element at"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(degree, options, message):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with pytest.raises(unda.ArgumentError, match=message):
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, device="cuda", kernel="blocks",
                kernel_options=options)  # fmt: skip


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("dtype", "options"),
    [("float64", {"rows": 12}), ("float64", {"tile": 6}), ("float64", {"cols": 4}), ("float32", {"rows": 8})],
)
def test_what_tensor_cores_cannot_multiply_is_refused(dtype, options):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    rows = 8 if dtype == "float64" else 16
    with pytest.raises(
        unda.ArgumentError,
        match=f"expected rows a multiple of {rows}, tile 4, 8, 16 or 32, and cols a divisor of",
    ):
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, device="cuda", dtype=dtype,
                kernel="blocks", kernel_options={"products": 2, **options})  # fmt: skip


def test_blocks_by_name_multiply_by_threads_in_float32():
    """So that `kernel="blocks"` keeps plain arithmetic; `products` 2 asks for tensor cores."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    for options, products in (({}, 1), ({"products": 2}, 2)):
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, device="cuda", dtype="float32",
                      kernel="blocks", kernel_options=options)  # fmt: skip
        assert sim.config["kernel_options"]["products"] == products
        assert ("pairs of FP16 numbers" in repr(sim)) == (products == 2)


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("medium", "degree", "options", "taken"),
    [
        (unda.Maxwell(eps=1.0, mu=1.0), 9, {}, ("fused", 1)),
        (unda.Elastic(rho=1.0, vp=2.0, vs=1.0), 9, {}, ("fused", 1)),
        (unda.Acoustic(rho=1.0, c=1.0), 9, {"integrator": "ab3"}, ("tensor", None)),
        (unda.Acoustic(rho=1.0, c=1.0), 9, {"kernel_options": {"products": 1}}, ("fused", 1)),
        (unda.Acoustic(rho=1.0, c=1.0), 2, {"kernel_options": {"products": 2}}, ("blocks", 2)),
        (unda.Maxwell(eps=1.0, mu=1.0), 9, {"flux": "central"}, ("fused", 1)),
        (unda.Acoustic(rho=1.0, c=1.0), 8, {}, ("tensor", None)),
    ],
)
def test_auto_takes_it_in_float32_where_it_is_asked_for(medium, degree, options, taken):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 7))  # more than "auto" takes for small
    sim = unda.DG(mesh, medium, degree=degree, dtype="float32", device="cuda", **options)
    assert (sim.config["kernel"], sim.config["kernel_options"].get("products")) == taken


OLD = """
import cuda_device, unda
cuda_device.prepare()
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
for dtype in ("float32", "float64"):
    try:
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, dtype=dtype, device="cuda", kernel="blocks",
                kernel_options={"products": 2})
        print("taken")
    except unda.Error as error:
        print(str(error).replace("\\n", " "))
"""


@pytest.mark.skipif(cuda_device.is_real(), reason="the stand-in alone can be an old device")
def test_a_device_without_such_tensor_cores_is_refused_in_float32():
    single, double = cuda_device.printed_on_an_old_device(OLD)
    assert "needs a device of compute capability 8.0, found 7." in single
    assert double == "taken"


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("degree", "physics", "options"),
    [
        (5, "elastic", {"rows": 5, "cols": 2, "tile": 6, "unroll": 3, "turns": 3, "products": 1}),
        (8, "maxwell", {"rows": 8, "cols": 1, "tile": 3, "turns": 2, "matrix": 2, "products": 1}),
        (5, "elastic", {"rows": 16, "cols": 1, "unroll": 3, "turns": 3}),
        pytest.param(4, "acoustic", {"rows": 16, "cols": 1, "tile": 4, "matrix": 2}, marks=pytest.mark.slow),
        pytest.param(
            6,
            "elastic",
            {"rows": 32, "cols": 2, "tile": 8, "turns": 3, "matrix": 2, "dtype": "float32"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            7, "maxwell", {"cols": 2, "tile": 4, "unroll": 3, "dtype": "float32"}, marks=pytest.mark.slow
        ),
        pytest.param(3, "acoustic", {"cols": 2, "tile": 16, "dtype": "float32"}, marks=pytest.mark.slow),
        pytest.param(2, "elastic", {"cols": 9, "tile": 32, "dtype": "float32"}, marks=pytest.mark.slow),
    ],
)
def test_any_parts_give_the_rates_of_the_cpu(degree, physics, options):
    """High degrees, rows that leave tiles of rows half empty, runs of one, two and four elements."""
    dtype = options.get("dtype", "float64")
    options = {"products": 2} | {name: value for name, value in options.items() if name != "dtype"}
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (1, 1, 1), perturb=0.2, seed=1)
    medium = {
        "acoustic": lambda: unda.Acoustic(rho=2.0, c=1.5),
        "elastic": lambda: unda.Elastic(rho=2.0, vp=2.0, vs=1.0),
        "maxwell": lambda: unda.Maxwell(eps=2.0, mu=1.5),
    }[physics]()
    rates = []
    for device, more in (("cpu", {}), ("cuda", {"kernel": "blocks", "kernel_options": options})):
        sim = unda.DG(mesh, medium, degree=degree, device=device,
                      dtype=dtype if device == "cuda" else "float64", **more)  # fmt: skip
        rng = np.random.default_rng(0)
        sim.set(**{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
        found = sim.rhs()
        rates.append(np.stack([found[name] for name in sim.fields]))
    # of pairs of FP16 numbers: of each product 2^-22, of a sum of so many less than eight times that
    tolerance = {"float64": 1e-12, "float32": 8 * 2.0**-22}[dtype]
    assert np.abs(rates[0] - rates[1]).max() < tolerance * np.abs(rates[0]).max()
