"""Kernel microblock: its layout, divisions of work and strategies; what it counts and what it refuses.

That it equals the CPU in every setting, with default options: test_cuda_engine.py.
"""

import cuda_device
import numpy as np
import pytest
import unda
from unda._core import lib
from unda.method import tune

REAL = cuda_device.prepare()
pytestmark = [pytest.mark.gpu_or_stand_in, pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")]
MEDIA = {
    "acoustic": unda.Acoustic(rho=2.0, c=1.5),
    "elastic": unda.Elastic(rho=2.0, vp=2.0, vs=1.0),
    "maxwell": unda.Maxwell(eps=2.0, mu=1.5, sigma=0.3),
}
WARP = 32


def simulation(physics="acoustic", device="cuda", cells=(1, 1, 1), **options):
    """A random state."""
    options = {"degree": 2, "dtype": "float64"} | options
    if device == "cuda":
        options = {"kernel": "microblock"} | options
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1)
    sim = unda.DG(mesh, MEDIA[physics], device=device, **options)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
    return sim


def rates(sim):
    found = sim.rhs()
    return np.stack([found[name] for name in sim.fields])


def distance(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


# ---- microblocks


def waste(num_node, km):
    """The part of a microblock's threads that have no node."""
    padded = -(-km * num_node // WARP) * WARP
    return 1 - km * num_node / padded


@pytest.mark.first(1)
@pytest.mark.parametrize("degree", [1, 4])
def test_a_microblock_is_the_smallest_that_wastes_less_than_5_percent(degree):
    sim = simulation(degree=degree)
    km = sim.config["kernel_options"]["km"]
    assert waste(sim.num_node, km) < 0.05
    assert min(waste(sim.num_node, fewer) for fewer in range(1, km)) >= 0.05
    assert distance(rates(sim), rates(simulation(device="cpu", degree=degree))) < 1e-12


def test_memory_is_padded_by_microblock_and_not_by_element():
    """24 elements of 10 nodes, three in 32 nodes or each: in states and the right-hand side."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 1))
    padded = {
        km: unda.DG.forecast(
            mesh, MEDIA["acoustic"], degree=2, device="cuda", kernel="microblock", integrator="ab3",
            kernel_options={"km": km, "mb": 12 // km},
        )["device"]
        for km in (1, 3)
    }  # fmt: skip
    states = 5 + 1  # three levels of rates, the state before and after, and the right-hand side
    assert padded[1] - padded[3] == states * (24 - 24 // 3) * WARP * 4 * 4


# ---- divisions of work

DIVISIONS = [
    ("acoustic", 2, {"km": 1, "mb": 1, "wp": 1, "lift_wp": 1}),
    ("acoustic", 4, {"km": 7, "strategy": "matrix", "lift_strategy": "matrix", "segment": 3, "lift_ws": 3}),
    ("elastic", 5, {"km": 3, "mb": 2, "wp": 1, "wi": 2, "ws": 2, "lift_wi": 3, "flux_wp": 1, "fields": 4}),
    ("maxwell", 5, {"strategy": "matrix", "segment": 4, "wi": 2, "ws": 2, "lift_wi": 2, "fields": 5}),
    ("acoustic", 9, {"strategy": "matrix"}),
]


@pytest.mark.first(2)
@pytest.mark.parametrize(("physics", "degree", "options"), DIVISIONS)
def test_any_division_of_work_gives_the_rates_of_the_cpu(physics, degree, options):
    """Segments that end inside elements, microblocks and lots that the 12 elements do not fill, km = 1."""
    sim = simulation(physics, cells=(2, 1, 1), degree=degree, kernel_options=options)
    assert options.items() <= sim.config["kernel_options"].items()
    expected = rates(simulation(physics, "cpu", (2, 1, 1), degree=degree))
    assert distance(rates(sim), expected) < 1e-12
    assert distance(rates(sim), expected[:, ::-1]) > 0.1


def test_every_division_of_work_has_the_same_bits():
    """A sum over the nodes of an element has one order."""
    found = []
    for options in (
        {"wi": 2, "lift_wi": 2, "fields": 1, "lift_fields": 3},
        {"strategy": "matrix", "lift_strategy": "matrix"},
    ):
        sim = simulation(kernel_options=options)
        sim.step(3)
        found.append(np.stack([sim.get(name) for name in sim.fields]))
    assert np.array_equal(*found)


@pytest.mark.slow
def test_a_profile_counts_the_products_of_every_field():
    sim = simulation("maxwell")
    found = sim.profile(1)
    elements, nodes, face_nodes, num = sim.mesh.num_elem, sim.num_node, 6, len(sim.fields)
    products = 2 * 3 * nodes**2 * num * elements
    assert found["dg_lift"]["flops"] == 2 * nodes * 4 * face_nodes * num * elements
    assert products < found["dg_local"]["flops"] < 1.5 * products + 500 * nodes * elements
    assert found["dg_lift"]["bytes"] == 8 * (4 * face_nodes + nodes) * num * elements
    gather = found["dg_gather"]["bytes"] - found["dg_lift"]["bytes"]
    assert 0 < gather < 8 * elements * 40  # geometry, materials and neighbours
    assert found["dg_gather"]["flops"] > 0
    for name in ("dg_gather", "dg_lift", "dg_local"):
        one = found[name]
        assert one["registers"] > 0 and one["shared_bytes"] > 0 and one["blocks"] >= 1
        assert one["occupancy"] == pytest.approx(one["blocks"] * one["threads"] / 2048)  # whole warps
    assert "registers" not in found["stage"]


# ---- options


@pytest.mark.parametrize(
    ("degree", "options", "message"),
    [
        (2, {"fields": 5}, "fields is 5, expected 1..4"),
        (2, {"lift_fields": 7}, "lift_fields is 7, expected 1..4"),
        (2, {"strategy": "texture"}, "strategy is 'texture', expected .*field.*matrix"),
        (9, {"wp": 9}, "dg_local would have 2016 threads a block, expected up to 1024"),
        (4, {"flux_wp": 200}, "dg_gather would have 3008 threads a block"),
        (9, {"lift_strategy": "matrix", "segment": 8}, "dg_lift needs 440 KB of shared memory a block"),
        (
            1,
            {"km": 1, "mb": 127, "wp": 5, "ws": 61, "lift_ws": 53},
            "end together after 16423640, expected up to",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(degree, options, message):
    with pytest.raises(unda.ArgumentError, match=message):
        simulation(degree=degree, kernel_options=options)


def test_a_tuner_tries_the_other_strategy():
    plan = {"strategy": "field", "compute": "plain", "wp": 2}
    parts = {
        "strategy": lib.UNDA_TUNED_BY_ONE, "compute": lib.UNDA_TUNED_NOT, "wp": lib.UNDA_TUNED_BY_ONE
    }  # fmt: skip
    tried = list(tune._changed(plan, parts))
    assert tried == [plan | {"strategy": "matrix"}, plan | {"wp": 1}, plan | {"wp": 3}]


def test_auto_leaves_it_to_users_and_the_tuner():
    assert simulation(kernel="auto").config["kernel"] == "fused"
