"""Products of pairs of FP16 numbers, of kernels tensor and blocks: how exact they are; scales do no harm.

A row's error is measured against the largest sum |A_ij q_j| of its quantity in its cell, where A is the
operator dq/dt = A q with the traces of neighbours, found column by column in float64. The stand-in rounds
sums on tensor cores towards zero, as devices do. Not here: every setting (test_cuda_engine.py).
"""

import functools

import cuda_device
import numpy as np
import pytest
import unda

pytestmark = [
    pytest.mark.gpu_or_stand_in,
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),  # no wave is resolved, and none need be
]
cuda_device.prepare()
BOUND = 4e-6  # of an error, to the largest sum |A_ij q_j|
DEGREE = 3
#: Options of the kernels that multiply so.
SPLIT = {"tensor": {}, "blocks": {"products": 2}}
SMALLEST = 2.0**-149  # of float32


@functools.cache
def mesh():
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 1, 1), perturb=0.2, seed=1)


@functools.cache
def large_mesh():
    """More cells than "auto" takes for small (csrc/dg/cuda_resident.c)."""
    return unda.box_mesh((0, 0, 0), (1, 1, 1), (10, 9, 9))


def medium(physics, contrast):
    """Two materials, cell by cell, `contrast` apart in impedance or, of Maxwell, in permittivity."""
    first = np.where(np.arange(mesh().num_elem) % 2, 1.0, contrast)
    if physics == "acoustic":
        return unda.Acoustic(rho=first, c=1.0)
    if physics == "elastic":
        return unda.Elastic(rho=first, vp=2.0, vs=1.0)
    return unda.Maxwell(eps=first, mu=1.0, sigma=0.1)


@functools.cache
def simulation(kernel, physics, contrast, degree=DEGREE, **parts):
    device, dtype = ("cpu", "float64") if kernel == "cpu" else ("cuda", "float32")
    return unda.DG(
        mesh(), medium(physics, contrast), degree=degree, dtype=dtype, device=device,
        kernel="auto" if kernel == "cpu" else kernel,
        kernel_options=(SPLIT.get(kernel, {}) | parts) or None, boundary={"*": "absorbing"},
    )  # fmt: skip


def apply(sim, q):
    """dq/dt (field, cell, node) of a state."""
    sim.set(**dict(zip(sim.fields, q, strict=True)))
    rates = sim.rhs()
    return np.stack([rates[name] for name in sim.fields]).astype(float)


@functools.cache
def sizes(physics, contrast, degree):
    """|A| [row][column]."""
    sim = simulation("cpu", physics, contrast, degree)
    shape = (len(sim.fields), mesh().num_elem, sim.num_node)
    unit = np.eye(np.prod(shape)).reshape(-1, *shape)
    return np.abs(np.stack([apply(sim, one).ravel() for one in unit], 1))


def states(sim):
    """States (field, cell, node) by name, in float32."""
    rng = np.random.default_rng(0)
    x = np.moveaxis(sim.coordinates, -1, 0)
    smooth = np.stack([np.sin(3 * x[0] + 2 * x[1] - x[2] + i) for i in range(len(sim.fields))])
    random = rng.standard_normal(smooth.shape)
    every_other = np.arange(mesh().num_elem)[:, None] % 2
    found = {
        "smooth": smooth,
        "random": random,
        "constant": np.ones_like(smooth) * (1 + np.arange(len(smooth))[:, None, None]),
        "jumps of 1e6": random * 10.0 ** (6 * every_other),
        "fields 1e6 apart": random * 10.0 ** (6 * (np.arange(len(smooth)) % 2))[:, None, None],
        "zeros beside": random * every_other,
        "subnormal numbers beside": random * np.where(every_other, 1.0, 1e-41),
        "subnormal numbers": random * 1e-41,
        "large": random * 1e30,
    }
    return {name: q.astype(np.float32).astype(float) for name, q in found.items()}


STATES = tuple(states(simulation("cpu", "acoustic", 1.0)))


#: Fields that are components of one quantity.
QUANTITIES = {
    "acoustic": ((0,), (1, 2, 3)),
    "elastic": ((0, 1, 2), range(3, 9)),
    "maxwell": ((0, 1, 2), (3, 4, 5)),
}


def largest(rows, physics):
    """The largest of the rows (field, cell, node) of a quantity in a cell, for each of them."""
    found = np.empty_like(rows)
    for fields in QUANTITIES[physics]:
        found[list(fields)] = rows[list(fields)].max(axis=(0, 2))[:, None]
    return found


def worst(error, q, physics, contrast, degree):
    """The largest error of a row, to the largest sum, beyond what float32 cannot tell from zero."""
    matrix = sizes(physics, contrast, degree)
    sums = largest((matrix @ np.abs(q.ravel())).reshape(error.shape), physics)
    steps = largest((matrix @ np.ones(q.size)).reshape(error.shape), physics) * SMALLEST
    assert sums.max() > 0
    return (np.maximum(np.abs(error) - 4 * steps, 0) / np.maximum(sums, SMALLEST)).max()


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


#: By default acoustic waves, of blocks with a contrast (others: test_cuda_engine.py).
CASES = [
    ("tensor", "acoustic", 1.0, DEGREE, {"rows": 16}), ("tensor", "acoustic", 1e4, DEGREE, {"rows": 8}),
    # so many blocks that a thread has few registers: another order of products
    slow("tensor", "elastic", 1e4, DEGREE, {"rows": 16, "blocks": 5}),
    slow("tensor", "maxwell", 1e4, DEGREE, {"rows": 8}),
    slow("tensor", "acoustic", 1e4, 2, {}), slow("tensor", "elastic", 1e4, 4, {}),
    slow("tensor", "maxwell", 1e4, 4, {}), slow("tensor", "acoustic", 1e4, 5, {}),
    slow("tensor", "elastic", 1e4, 5, {}), slow("tensor", "maxwell", 1e4, 5, {}),
    ("blocks", "acoustic", 1e4, DEGREE, {}), slow("blocks", "elastic", 1e4, DEGREE, {}),
    slow("blocks", "maxwell", 1e4, DEGREE, {}), slow("blocks", "acoustic", 1.0, 2, {}),
    slow("blocks", "elastic", 1e4, 4, {}), slow("blocks", "maxwell", 1e4, 4, {}),
    slow("blocks", "acoustic", 1e4, 5, {}),
]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize(("kernel", "physics", "contrast", "degree", "parts"), CASES)
def test_rows_are_as_exact_as_stated(kernel, physics, contrast, degree, parts, name):
    case = physics, contrast, degree
    q = states(simulation("cpu", *case))[name]
    exact = apply(simulation("cpu", *case), q)
    plain, split = (
        worst(apply(simulation(one, *case, **options), q) - exact, q, *case)
        for one, options in (("fused", {}), (kernel, parts))
    )
    assert split <= BOUND
    assert split <= 10 * plain


def random_state(sim, seed=1):
    shape = (len(sim.fields), mesh().num_elem, sim.num_node)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("physics", "degree", "threads"),
    [
        slow("elastic", 5, 96), slow("maxwell", 5, 64), ("acoustic", 5, 64), slow("elastic", 6, 192),
        slow("maxwell", 8, 256),
    ],
)  # fmt: skip
def test_columns_are_as_exact_as_stated(physics, degree, threads):
    """A state that is 1 at one node of one field: the sum |A_ij q_j| of a row is its entry of that column.

    A chunk of fields is a warp at degree 5, of elastic waves and light, which so takes the eight nodes beside
    16 triples; two of sound.
    """
    sim, exact = simulation("tensor", physics, 1e4, degree), simulation("cpu", physics, 1e4, degree)
    assert sim.profile(1)["dg_tensor"]["threads"] == threads
    rng = np.random.default_rng(0)
    for field in range(len(sim.fields)):
        q = np.zeros((len(sim.fields), mesh().num_elem, sim.num_node))
        q[field, rng.integers(mesh().num_elem), rng.integers(sim.num_node)] = 1
        rates = apply(exact, q)
        assert np.abs(rates).max() > 0
        assert np.all(np.abs(apply(sim, q) - rates) <= BOUND * largest(np.abs(rates), physics))


@pytest.mark.parametrize("kernel", SPLIT)
def test_a_state_times_a_power_of_two_has_the_same_digits(kernel):
    sim = simulation(kernel, "acoustic", 1e4)
    q = random_state(sim)
    rates = apply(sim, q)
    for factor in (2.0**-60, 2.0**60):
        assert np.array_equal(apply(sim, factor * q), factor * rates)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [8, pytest.param(16, marks=pytest.mark.slow)])
def test_warps_with_any_number_of_lots_give_the_same_digits(rows):
    one, three = (simulation("tensor", "elastic", 1e4, rows=rows, lots=lots) for lots in (1, 3))
    q = random_state(one)
    assert np.array_equal(apply(one, q), apply(three, q))


def driven(device, kernel):
    """A source in a mesh at rest, far smaller and larger states set in between; the last two states."""
    sim = unda.DG(
        mesh(), medium("acoustic", 1.0), degree=DEGREE, dtype="float32", device=device, kernel=kernel,
        kernel_options=SPLIT.get(kernel),
    )  # fmt: skip
    sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.2), unda.ricker(2.0)))
    sim.step(2)
    found = [np.stack([sim.get(name) for name in sim.fields])]
    for size in (1e-25, 1e25):
        sim.set(**dict(zip(sim.fields, size * random_state(sim), strict=True)))
        sim.step(2)
        found.append(np.stack([sim.get(name) for name in sim.fields]))
    return found


@pytest.mark.parametrize("kernel", SPLIT)
def test_what_grows_from_nothing_or_by_any_factor_is_right(kernel):
    for tensor, cpu in zip(driven("cuda", kernel), driven("cpu", "auto"), strict=True):
        most = np.abs(cpu).max(axis=(1, 2), keepdims=True)
        assert np.all(most > 0)
        assert np.abs(tensor - cpu).max() < 1e-5 * most.max()
        assert np.all(np.abs(tensor - cpu) < 1e-4 * most)


def lit(device, kernel, degree=2):
    """The state that an incident wave makes at a wall in two steps from rest, where it is all that jumps."""
    sim = unda.DG(
        mesh(), medium("acoustic", 1.0), degree=degree, dtype="float32", device=device, kernel=kernel,
        boundary={"xmin": "rigid", "*": "absorbing"}, kernel_options=SPLIT.get(kernel),
    )  # fmt: skip
    sim.add_source(unda.PlaneWave((1, 1, 2), f=unda.ricker(2.0, t0=0.0), scatterer="xmin"))
    sim.step(2)
    return np.stack([sim.get(name) for name in sim.fields])


@pytest.mark.first(1)
@pytest.mark.parametrize("kernel", SPLIT)
def test_an_incident_wave_at_rest_is_right(kernel):
    tensor, cpu = lit("cuda", kernel), lit("cpu", "auto")
    assert np.abs(cpu[0]).max() > 0.1
    assert np.abs(tensor - cpu).max() < 1e-5 * np.abs(cpu).max()


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("kernel", "integrator"),
    [("tensor", "lsrk4"), ("tensor", "ab3"), ("blocks", "lsrk4"), slow("blocks", "ab3")],
)
def test_a_restart_has_the_same_digits(tmp_path, kernel, integrator):
    sim = unda.DG(
        mesh(), medium("acoustic", 1.0), degree=2, dtype="float32", device="cuda", kernel=kernel,
        kernel_options=SPLIT[kernel], integrator=integrator,
    )  # fmt: skip
    sim.set(**dict(zip(sim.fields, random_state(sim), strict=True)))
    sim.step(3)
    sim.save(tmp_path / "half")
    sim.step(3)
    other = unda.load(tmp_path / "half")
    assert other.config["kernel"] == kernel
    assert other.config["kernel_options"] == sim.config["kernel_options"]
    other.step(3)
    for name in sim.fields:
        assert np.array_equal(sim.get(name), other.get(name))


def test_print_says_which_arithmetic_is_used():
    assert "kernel tensor" in repr(simulation("tensor", "acoustic", 1.0))
    assert "products of pairs of FP16 numbers" in repr(simulation("tensor", "acoustic", 1.0))
    assert "FP16" not in repr(simulation("fused", "acoustic", 1.0))


def test_what_the_kernel_cannot_do_is_refused():
    options = {"degree": 9, "device": "cuda", "kernel": "tensor"}
    with pytest.raises(unda.ArgumentError, match="computes in float32, found dtype float64: take"):
        unda.DG(mesh(), medium("acoustic", 1.0), dtype="float64", **options)
    for parts, message in (
        ({"rows": 12}, "rows is 12 triples of nodes, expected 8 or 16"),
        ({"lots": 16}, "a warp has 16 lots, expected at most 15"),
    ):
        with pytest.raises(unda.ArgumentError, match=message):
            unda.DG(mesh(), medium("elastic", 1.0), dtype="float32", kernel_options=parts, **options)


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({}, True), ({"integrator": "ab3"}, True), ({"degree": 2}, False),
        ({"dtype": "float64"}, False), ({"flux": "central"}, False), ({"kernel_options": {"tile": 8}}, False),
    ],
)  # fmt: skip
def test_auto_takes_it_where_it_was_measured_to_be_faster(options, taken):
    options = {"degree": DEGREE, "dtype": "float32", "device": "cuda"} | options
    sim = unda.DG(large_mesh(), unda.Acoustic(rho=1.0, c=1.0), **options)
    assert (sim.config["kernel"] == "tensor") == taken


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_auto_takes_plain_fused_for_few_cells_of_which_many_steps_are_one_launch(dtype):
    """Of 132 blocks, an H100's, one has 37 cells: 4 faces x 10 nodes x 2 packets x 37 is 2,960 > 2,950."""
    kernels = []
    for mesh in (large_mesh(), unda.box_mesh((0, 0, 0), (1, 1, 1), (7, 8, 7))):
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=DEGREE, dtype=dtype, device="cuda")
        kernels.append((sim.config["kernel"], sim.config["kernel_options"].get("products")))
    large = ("tensor", None) if dtype == "float32" else ("fused", 2)
    assert kernels == [large, ("fused", 1)]


OLD = """
import cuda_device, unda
cuda_device.prepare()
for kernel in ("auto", "tensor"):
    try:
        mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (10, 9, 9))
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, dtype="float32", device="cuda",
                      kernel=kernel)
        print(sim.config["kernel"])
    except unda.Error as error:
        print(str(error).replace("\\n", " "))
"""


@pytest.mark.skipif(cuda_device.is_real(), reason="the stand-in alone can be an old device")
def test_a_device_without_such_tensor_cores_is_refused():
    auto, named = cuda_device.printed_on_an_old_device(OLD)
    assert auto == "fused"
    assert "needs a device of compute capability 8.0, found 7." in named
