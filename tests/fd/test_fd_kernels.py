"""The kernels of the finite differences have the same bits, however many threads and steps at a time.

On the CPU `step` and `tiled`, on CUDA `step`. Grids that no tile divides, every kind of side, sources and
receivers inside tiles. Not here: that these bits are right (test_fd_modes.py, test_fd_points.py).
"""

import platform

import cuda_device
import numpy as np
import pytest
import unda
from fd_cases import Case, any_case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

REAL = cuda_device.prepare()
SOME = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=100 if REAL else 4)
LAYER = (5, 0.01)
CASES = {
    "closed": Case((37, 21, 53), (("free", "rigid"), ("rigid", "rigid"), ("rigid", "free")), 4),
    "layers": Case((21, 33, 47), ((LAYER, LAYER), (LAYER, "rigid"), (LAYER, "free")), 8),
    "periodic": Case((26, 19, 31), (("periodic", "periodic"),) * 3, 6, contrast=1),
    "mixed": Case((33, 18, 40), ((LAYER, "free"), ("periodic", "periodic"), ("rigid", LAYER)), 2, contrast=1),
}


def run(case, chunks, *, every=3, **options):
    """Both levels and the traces after chunks of steps, with two sources and five receivers."""
    sim = case.fd(**options)
    p, q = case.states()
    sim.set(p=p, p_previous=q)
    for place in case.points(2, seed=7):
        sim.add_source(unda.VolumeInjection(place, unda.ricker(0.04 / case.dt, t0=12 * case.dt)))
    rec = sim.add_receivers(case.points(5), ["p"], every=every)
    for n in chunks:
        sim.step(n)
    return sim.get("p"), sim.get("p_previous"), rec["p"]


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def tiled(case):
    """The kernel that takes several steps at once, where it can: not along periodic axes."""
    return "step" if "periodic" in (case.sides[0][0], case.sides[1][0]) else "tiled"


@pytest.mark.parametrize(
    "name, dtype",
    [
        pytest.param(name, dtype, marks=[pytest.mark.slow] * ((i + (dtype == "float64")) % 2))
        for i, name in enumerate(CASES)
        for dtype in ("float32", "float64")
    ],
)
def test_cpu_kernels_have_the_same_bits(name, dtype):
    """Those of one step at a time; another bit is seen."""
    case, depth = CASES[name], {"depth": 5}
    step = run(case, [47], kernel="step", threads=1, dtype=dtype)
    assert same(run(case, [47], kernel=tiled(case), threads=1, dtype=dtype), step)
    assert same(run(case, [47], kernel="auto", threads=2, dtype=dtype), step)
    options = {"kernel": tiled(case), "kernel_options": depth}
    assert same(run(case, [1, 13, 2, 31], threads=2, dtype=dtype, **options), step)
    assert not same(run(case, [46], kernel="step", threads=1, dtype=dtype), step)


@SOME
@given(
    case=any_case(least=3, most=40),
    n=st.integers(1, 40),
    every=st.integers(1, 5),
    depth=st.integers(2, 9),
    rows=st.integers(1, 20),
    threads=st.integers(1, 3),
)
def test_cpu_kernels_have_the_same_bits_on_random_grids(case, n, every, depth, rows, threads):
    step = run(case, [n], every=every, kernel="step", dtype="float32")
    options = {"kernel": tiled(case), "kernel_options": {"depth": depth, "rows": rows}, "threads": threads}
    assert same(run(case, [n], every=every, dtype="float32", **options), step)


def test_blocks_wait_for_each_other_where_threads_are_interrupted():
    """More threads than processors: some stop in the midst of a front, and the next block must, too."""
    case = CASES["closed"]._replace(shape=(400, 60, 40))
    p, _ = case.states()
    found = []
    for options in ({"kernel": "step"}, {"kernel": "tiled", "kernel_options": {"rows": 5, "depth": 6}}):
        sim = case.fd(dtype="float32", threads=6, **options)
        sim.set(p=p, p_previous=p)
        sim.step(60)
        found.append(sim.get("p"))
    assert np.array_equal(*found)


@pytest.mark.parametrize("order", [4, 8, 16])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_every_length_are_whole_vectors_and_a_rest(dtype, order):
    """A row of n nodes between rigid sides is half the period of 2 (n - 1): the same bits."""
    for n in range(2, 36):
        axes = ("rigid", "rigid"), ("rigid", "rigid")
        row = Case((3, 4, n), (*axes, ("rigid", "rigid")), order, contrast=1)
        period = row._replace(shape=(3, 4, 2 * n - 2), sides=(*axes, ("periodic", "periodic")))
        p = np.random.default_rng(n).standard_normal((3, 4, n))
        found, expected = row.fd(dtype=dtype), period.fd(dtype=dtype)
        found.set(p=p, p_previous=p)
        mirrored = np.concatenate([p, p[:, :, -2:0:-1]], axis=2)
        expected.set(p=mirrored, p_previous=mirrored)
        found.step(7)
        expected.step(7)
        assert np.array_equal(found.get("p"), expected.get("p")[:, :, :n]), n
        assert np.abs(found.get("p") - p).max() > 0.1


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="only there are they flushed")
@pytest.mark.parametrize("kernel", ["step", "tiled"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_take_subnormal_numbers_for_zero_and_nothing_else_does(dtype, kernel):
    """In all threads and in no step's neighbourhood: NumPy has them before and after."""
    tiny = np.finfo(dtype).tiny
    case = CASES["closed"]._replace(sides=(("rigid", "rigid"),) * 3)
    sim = case.fd(dtype=dtype, kernel=kernel, threads=2, kernel_options={"rows": 3})
    for amplitude, moves in ((0.001 * tiny, False), (1000 * tiny, True)):
        p = (np.random.default_rng(1).uniform(0.5, 1, case.shape) * amplitude).astype(dtype)
        sim.set()
        for name in ("p", "p_previous"):  # `set` refuses what steps would take for zero
            sim._write(name, [p])
        assert sim.get("p").all()
        sim.step(4)
        assert sim.get("p").any() == moves
        assert np.array([tiny], dtype) * np.array([0.5], dtype) > 0


@pytest.mark.gpu_or_stand_in
@FEW
@given(case=any_case(least=3, most=30 if REAL else 9), n=st.integers(1, 12), every=st.integers(1, 5))
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_cuda_kernels_have_the_bits_of_the_cpu(dtype, case, n, every):
    cpu = run(case, [n], every=every, dtype=dtype)
    assert same(run(case, [n], every=every, kernel="step", dtype=dtype, device="cuda"), cpu)


@pytest.mark.parametrize("kernel", ["fused", "node", "soup"])
def test_kernels_of_other_methods_are_refused(kernel):
    with pytest.raises(unda.ArgumentError, match="kernel"):
        CASES["closed"].fd(kernel=kernel)


def test_a_tile_does_not_close_on_itself():
    with pytest.raises(unda.ArgumentError, match="periodic"):
        CASES["periodic"].fd(kernel="tiled")
