"""The kernels of the finite differences have the same bits, however many threads and steps at a time.

On the CPU `plain` and `tiled`; on CUDA `step` and `diamond`, which equal the CPU to rounding. Grids that no
tile divides, every kind of side, sources and receivers inside tiles (verification.md V40-V42). Not here: that
these bits are right (test_fd_modes.py, test_fd_points.py).
"""

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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_cpu_kernels_have_the_same_bits(name, dtype):
    """And those of one step at a time; another bit is seen."""
    plain = run(CASES[name], [47], kernel="plain", threads=1, dtype=dtype)
    assert same(run(CASES[name], [47], kernel="tiled", threads=1, dtype=dtype), plain)
    assert same(run(CASES[name], [47], kernel="auto", threads=2, dtype=dtype), plain)
    assert same(run(CASES[name], [1, 13, 2, 31], kernel="tiled", threads=2, dtype=dtype), plain)
    assert not same(run(CASES[name], [46], kernel="plain", threads=1, dtype=dtype), plain)


@SOME
@given(case=any_case(least=3, most=40), n=st.integers(1, 40), every=st.integers(1, 5))
def test_cpu_kernels_have_the_same_bits_on_random_grids(case, n, every):
    plain, tiled = (run(case, [n], every=every, kernel=one, dtype="float32") for one in ("plain", "tiled"))
    assert same(plain, tiled)


@pytest.mark.gpu_or_stand_in
@FEW
@given(case=any_case(least=3, most=30 if REAL else 9), n=st.integers(1, 12), every=st.integers(1, 5))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cuda_kernels_have_the_same_bits_and_equal_the_cpu(dtype, case, n, every):
    """Rounding of 12 steps of 2^-24 or 2^-53, as in test_fd_modes.py."""
    step, diamond = (
        run(case, [n], every=every, kernel=one, dtype=dtype, device="cuda") for one in ("step", "diamond")
    )
    assert same(step, diamond)
    for a, b in zip(run(case, [n], every=every, dtype=dtype), step, strict=True):
        scale = max(np.abs(a).max(initial=0), 1e-300)
        assert np.abs(a - b).max(initial=0) < {"float32": 2e-5, "float64": 1e-12}[dtype] * max(scale, 1)


@pytest.mark.parametrize("kernel", ["fused", "step", "diamond", "soup"])
def test_kernels_that_the_cpu_lacks_are_refused(kernel):
    with pytest.raises(unda.ArgumentError, match="kernel"):
        CASES["closed"].fd(kernel=kernel)
