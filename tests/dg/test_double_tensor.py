"""Kernel fused in float64 with products on tensor cores: parts that are no default, and what is refused.

Everything else: test_cuda_engine.py; the same of kernel blocks: test_blocks.py.
"""

import cuda_device
import numpy as np
import pytest
import unda

pytestmark = pytest.mark.gpu_or_stand_in
cuda_device.prepare()
EPS = np.finfo(float).eps


def mesh():
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (3, 1, 1), perturb=0.2, seed=1)


def rates(medium, degree, **options):
    """dq/dt (field, cell, node) of a random state."""
    sim = unda.DG(mesh(), medium, degree=degree, dtype="float64", **options)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((mesh().num_elem, sim.num_node)) for name in sim.fields})
    found = sim.rhs()
    return np.stack([found[name] for name in sim.fields])


@pytest.mark.parametrize(
    ("degree", "medium", "options"),
    [
        (4, unda.Acoustic(rho=2.0, c=1.5), {"rows": 16, "cols": 2, "tile": 16, "unroll_lift": 1}),
        pytest.param(
            2, unda.Elastic(rho=2.0, vp=2.0, vs=1.0), {"rows": 16, "tile": 8}, marks=pytest.mark.slow
        ),
        pytest.param(
            3, unda.Maxwell(eps=2.0, mu=1.5), {"tile": 16, "unroll_volume": 5}, marks=pytest.mark.slow
        ),
    ],
    ids=lambda value: value if isinstance(value, int) else type(value).__name__,
)
def test_any_parts_give_the_rates_of_the_cpu(degree, medium, options):
    """Tiles of rows and elements that are half empty, whose other halves must be left alone."""
    tensor = rates(
        medium,
        degree,
        device="cuda",
        kernel="fused",
        flux="central",
        kernel_options={"products": 2, **options},
    )
    cpu = rates(medium, degree, device="cpu", flux="central")
    num_node = cpu.shape[2]
    # rounding of sums of that many terms, of which no sum cancels more than a few digits
    assert np.abs(tensor - cpu).max() < 8 * EPS * num_node * np.abs(cpu).max()


@pytest.mark.parametrize(
    ("dtype", "options", "message"),
    [
        ("float32", {}, "products is 2, on tensor cores, found dtype float32, expected float64: take 1"),
        (
            "float64",
            {"rows": 12},
            "rows is 12, tile 16 and cols 1, expected rows and tile multiples of 8, and cols a divisor of",
        ),
        ("float64", {"tile": 12}, "tile 12 and cols 1, expected rows and tile multiples of 8"),
        ("float64", {"cols": 3}, "and cols a divisor of tile / 8"),
    ],
)
def test_what_tensor_cores_cannot_multiply_is_refused(dtype, options, message):
    with pytest.raises(unda.ArgumentError, match=message):
        unda.DG(mesh(), unda.Acoustic(rho=1.0, c=1.0), degree=3, dtype=dtype, device="cuda", kernel="fused",
                kernel_options={"products": 2, **options})  # fmt: skip


@pytest.mark.parametrize(
    ("degree", "options"),
    [(3, {"rows": 5}), (3, {"tile": 64}), (3, {"resident": 7}), (5, {"tile": 6}), (4, {"rows": 4})],
)
def test_auto_takes_options_of_plain_arithmetic(degree, options):
    cells = unda.box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 7))
    sim = unda.DG(cells, unda.Acoustic(rho=1.0, c=1.0), degree=degree, dtype="float64", device="cuda",
                  kernel_options=options)  # fmt: skip
    config = sim.config["kernel_options"]
    assert (sim.config["kernel"], config["products"]) == ("fused", 1)
    for name in options.keys() - {"resident"}:
        assert config[name] == options[name]


def test_auto_takes_tensor_cores_and_fused_by_name_stays_plain():
    found = {}
    for kernel in ("auto", "fused"):
        cells = unda.box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 7))  # more than "auto" takes for small
        sim = unda.DG(cells, unda.Acoustic(rho=1.0, c=1.0), degree=3, dtype="float64", device="cuda",
                      kernel=kernel)  # fmt: skip
        found[kernel] = sim.config["kernel"], sim.config["kernel_options"]["products"]
    assert found == {"auto": ("fused", 2), "fused": ("fused", 1)}


OLD = """
import cuda_device, unda
cuda_device.prepare()
sim = unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (8, 8, 7)), unda.Acoustic(rho=1.0, c=1.0), degree=4,
              dtype="float64", device="cuda")
print(sim.config["kernel"], sim.config["kernel_options"]["products"])
"""


@pytest.mark.slow
@pytest.mark.skipif(cuda_device.is_real(), reason="the stand-in alone can be an old device")
def test_a_device_without_such_tensor_cores_multiplies_by_threads():
    assert cuda_device.printed_on_an_old_device(OLD) == ["fused 1"]
