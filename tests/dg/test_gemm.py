"""Kernel gemm: padding, TF32 within its bound, graphs, and what is said where cuBLAS is missing or fails.

That it equals the CPU in every setting: test_cuda_engine.py. On the stand-in the products are plain loops
that check their arguments (emulator/cublas.cpp).
"""

import os
import subprocess
import sys

import cuda_device
import numpy as np
import pytest
import unda
from nodal_reference import Tetrahedra
from physics_cases import CASES
from unda.method import speed

REAL = cuda_device.prepare()
pytestmark = [pytest.mark.gpu_or_stand_in, pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")]
MEDIUM = unda.Acoustic(rho=1.3, c=0.7)
EPSILON = 2.0**-9 + 2.0**-12  # of a product of two factors cut to eleven digits, and of float32 sums


def box(cells=(2, 1, 2)):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1)


def simulation(device="cuda", medium=MEDIUM, **options):
    """A random state with a source and a receiver."""
    options = {"degree": 2, "dtype": "float64", "boundary": {"*": "absorbing"}} | options
    if device == "cuda":
        options = {"kernel": "gemm"} | options
    sim = unda.DG(box(), medium, device=device, **options)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((sim.mesh.num_elem, sim.num_node)) for name in sim.fields})
    if medium is MEDIUM:
        sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)], [sim.fields[0]])


def fields(sim):
    return np.stack([sim.get(name) for name in sim.fields])


# ---- padding


@pytest.mark.each_value
@pytest.mark.parametrize("medium", [MEDIUM, unda.Maxwell(eps=1.3, mu=0.7)], ids=["acoustic", "maxwell"])
@pytest.mark.parametrize(("pad", "pad_gradient"), [(1, 1), (7, 5), (64, 128)])
def test_padding_changes_memory_and_no_result(medium, pad, pad_gradient):
    """Gradients need more room than jumps do in all of these cases but the first."""
    whole, _ = simulation("cpu", medium)
    sim, _ = simulation(medium=medium, kernel_options={"pad": pad, "pad_gradient": pad_gradient})
    for one in (whole, sim):
        one.run(steps=3)
    assert np.abs(fields(sim) - fields(whole)).max() < 1e-12 * np.abs(fields(whole)).max()
    assert {"pad": pad, "pad_gradient": pad_gradient}.items() <= sim.config["kernel_options"].items()
    plain, _ = simulation(medium=medium, kernel_options={"pad": 1, "pad_gradient": 1})
    nodes, face_nodes, all_fields = sim.num_node, 6, len(sim.fields)
    first = 1 if medium is MEDIUM else 6

    def memory(pad, pad_gradient):
        rows, gradient = (
            -(-n // multiple) * multiple for n, multiple in ((nodes, pad), (3 * nodes, pad_gradient))
        )
        states = 5 * rows * all_fields + max(first * gradient, 4 * face_nodes * all_fields)
        square = -(-gradient * rows // 64) * 64
        return 8 * (states * sim.mesh.num_elem + square * (2 if first == 1 else 1) + 4 * face_nodes * rows)

    assert sim.memory["device"] - plain.memory["device"] == memory(pad, pad_gradient) - memory(1, 1)


def test_steps_in_graphs_have_the_bits_of_single_ones():
    """Products are captured; each chunk of sixteen steps or more is one graph."""
    found = []
    for chunks in ([1] * 38, [38], [17, 2, 19]):
        sim, rec = simulation(integrator="ab3", dtype="float32")
        for n in chunks:
            sim.step(n)
        found.append((fields(sim), rec[sim.fields[0]]))
    for one in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(one, found[0], strict=True))


def test_the_profile_counts_what_each_function_needs_without_padding():
    """Of 10 nodes and 4 x 6 face nodes of a cell: 4 fields, 9 numbers of geometry, 2 of material."""
    sim, _ = simulation(kernel_options={"pad": 64, "pad_gradient": 64})
    found, num = speed.kernel_seconds(sim, 2), sim.mesh.num_elem
    values = {
        "gradient": (2 * 30 * 10, 10 + 30),
        "divergence": (2 * 30 * 10, 30 + 10),
        "lift": (2 * 10 * 24 * 4, (24 + 2 * 10) * 4),
        "dg_update": (4 * 10 * 4, 10 * (1 + 1 + 3) * 4 + 2),
    }
    for name, (flops, reals) in values.items():
        assert (found[name]["flops"], found[name]["bytes"]) == (num * flops, num * 8 * reals)
    volume, surface = found["dg_volume"], found["dg_surface"]
    assert volume["bytes"] == num * 8 * (10 * (3 + 3 + 3 + 3) + 9)
    assert surface["bytes"] == num * (8 * ((10 + 24) * 4 + 9 + 4 * 3) + 4 * 4)
    assert volume["flops"] > 0 and surface["flops"] > 0


# ---- TF32


def rates(**options):
    """Of a cell alone with p given, v = 0 and absorbing sides."""
    mesh = unda.Mesh([[0, 0, 0], [1, 0.1, 0], [0.2, 1.3, 0], [0.1, 0.3, 0.9]], [[0, 1, 2, 3]])
    sim = unda.DG(
        mesh, MEDIUM, degree=4, device="cuda", kernel="gemm", dtype="float32", kernel_options=options
    )
    p = np.random.default_rng(3).standard_normal((1, sim.num_node)).astype(np.float32)
    sim.set(p=p)
    return mesh, p[0].astype(float), np.stack([sim.rhs()[name][0] for name in sim.fields]), sim


def test_tf32_errs_no_more_than_it_says():
    """Each product A q by 2^-9 sum |A q| and a little; p* = p/2 and v_n* = p/(2Z) at absorbing sides."""
    mesh, p, plain, _ = rates()
    _, _, rounded, _ = rates(compute="tf32")
    reference = Tetrahedra(mesh, 4, CASES["acoustic"], "upwind", "absorbing")
    rho, c = 1.3, 0.7
    slopes = np.einsum(
        "ja,jnk,k->an", np.abs(reference.gradients[0]), np.abs(reference.derivative), np.abs(p)
    )
    lifts = np.stack(
        [np.abs(reference.lift[f]) @ np.abs(p[n]) / 2 for f, n in enumerate(reference.face_node)]
    )
    outward = np.abs(reference.outward[0, :, 0])
    length = np.linalg.norm(outward, axis=1)
    v = (slopes + np.einsum("fa,fn->an", outward, lifts)) / rho
    bound = np.concatenate([[rho * c**2 * length @ lifts / (rho * c)], v])
    error = np.abs(rounded.astype(float) - plain)
    assert (error <= EPSILON * bound).all()
    assert (error > 1e-2 * EPSILON * bound).any()


def test_plain_products_round_as_float32_does():
    mesh, p, plain, _ = rates()
    cpu = unda.DG(mesh, MEDIUM, degree=4, device="cpu", dtype="float64")
    cpu.set(p=p[None])
    exact = np.stack([cpu.rhs()[name][0] for name in cpu.fields])
    assert 0 < np.abs(plain - exact).max() < 2e-5 * np.abs(exact).max()
    assert np.abs(rates(compute="tf32")[2] - exact).max() > 2e-5 * np.abs(exact).max()


def test_a_simulation_says_which_arithmetic_it_uses(tmp_path):
    text = "products in TF32 (errors up to 2e-3 of the sum of their terms' magnitudes)"
    assert text not in repr(rates()[3]) and "plain}" in repr(rates()[3])
    sim = rates(compute="tf32")[3]
    assert text in repr(sim) and "tf32}" in repr(sim)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert again.config["kernel_options"] == sim.config["kernel_options"]
    for one in (sim, again):
        one.step(3)
    assert np.array_equal(fields(sim), fields(again))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compute": "tf32", "dtype": "float64"}, "compute is tf32 with float64, expected plain, or float32"),
        ({"compute": "half"}, "compute is 'half', expected .*plain.*tf32"),
        ({"tile": 200}, "tile is 200, expected 1..102 elements"),
        ({"pad": 2000}, "pad is 2000, expected 1..1024"),
    ],
)
def test_options_that_are_none_are_refused(options, message):
    options = dict(options)
    dtype = options.pop("dtype", "float32")
    with pytest.raises(unda.ArgumentError, match=message):
        simulation(dtype=dtype, kernel_options=options)


# ---- cuBLAS that is missing or fails: in a process of its own, since a library stays open

SCRIPT = """
import sys
import unda

def make(kernel):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, device="cuda", kernel=kernel)
    sim.step(20)
    return sim

for kernel in sys.argv[1:]:
    try:
        print(kernel, make(kernel).step_count)
    except unda.Error as error:
        print(kernel, type(error).__name__, error)
"""


def attempts(*kernels, **environment):
    """What each attempt to make a simulation and run twenty steps, as a graph, gives."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, *kernels], env=os.environ | environment,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def test_without_cublas_other_kernels_run_and_the_message_says_what_to_install():
    found = attempts("gemm", "fused", UNDA_LIBCUBLAS="/nowhere/libcublas.so.13")
    assert "gemm DeviceError no usable cuBLAS was found, which kernel gemm needs" in found
    assert "unda-waves[cuda]" in found and "/nowhere/libcublas.so.13: cannot open" in found
    assert found.endswith("fused 20\n")


def test_another_library_is_not_taken_for_cublas():
    other = os.environ.get("UNDA_LIBNVRTC") or "libm.so.6"
    assert f"{other}: is not cuBLAS (no cublasGetProperty)" in attempts("gemm", UNDA_LIBCUBLAS=other)


@pytest.mark.skipif(REAL, reason="the stand-in alone has releases to choose from")
def test_a_release_newer_than_the_drivers_is_passed_over():
    older = {"UNDA_EMULATOR_VERSION": "12040", "UNDA_EMULATOR_NVRTC": "12"}
    assert "version 13.0 is too new for the driver, which has 12.4" in attempts("gemm", **older)
    assert attempts("gemm", **older, UNDA_EMULATOR_CUBLAS="12") == "gemm 20\n"


@pytest.mark.skipif(REAL, reason="the stand-in alone fails when it is told to")
@pytest.mark.parametrize("number", ["2", "6"])
def test_a_product_that_fails_gives_its_status_and_the_next_simulation_runs(number):
    """The second of four when the simulation is made, the sixth while a graph is captured."""
    found = attempts("gemm", "gemm", UNDA_EMULATOR_FAIL_PRODUCT=number)
    first, second = found.splitlines()
    assert "DeviceError" in first and "cublasGemmStridedBatchedEx: cuBLAS 13.0 gave status 13" in first
    assert "CUBLAS_STATUS_EXECUTION_FAILED" in first
    assert second == "gemm 20"
