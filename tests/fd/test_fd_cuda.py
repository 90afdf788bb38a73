"""The CUDA engine of finite differences does what the CPU engine does: on the stand-in driver, or a device.

The tables cover every pair of settings. Arithmetic is the same operation by operation, so states agree to
the last bit; samples are summed in another order. Not here: that the CPU engine is right (test_fd_modes.py).
"""

import itertools

import cuda_device
import numpy as np
import pytest
import unda
from pairwise import by_default, pairwise
from staggered_cases import whole_state

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()
STEPS = 60 if REAL else 7
#: Receivers: sums of 512 products in float64, then rounded.
SAMPLES = {"float32": 2e-6, "float64": 1e-13}

SETTINGS = {
    "order": (2, 4, 6, 8),
    "dtype": ("float32", "float64"),
    "low": ("free", "rigid", "damping", "matched"),
    "high": ("free", "matched", "rigid", "damping"),
    "third": ("periodic", "rigid", "damping", "matched"),
    "medium": ("uniform", "varying", "slow"),
    "shape": ((19, 17, 33), (5, 3, 2), (24, 1, 140), (3, 40, 67)),
}


def make(case, device, axis):
    """A simulation of random fields, with two sources and receivers among the nodes."""
    rng = np.random.default_rng(7)
    shape = case["shape"]
    grid = unda.Grid(shape, (10.0, 12.0, 9.0), origin=(4e5, -3.0, -1e3))
    layers = {"damping": unda.Damping(width=3), "matched": unda.CPML(width=3, f0=20.0)}
    sides = {}
    for i, name in enumerate("xyz"):
        pair = (case["third"],) * 2 if i == axis else (case["low"], case["high"])
        for side, word in zip(("min", "max"), pair, strict=True):
            word = "rigid" if word == "free" and shape[i] == 1 else word  # else all is 0
            sides[name + side] = layers.get(word, word)
    c = rng.uniform(1000, 2000, shape) if case["medium"] == "varying" else 2000.0
    cfl = 0.05 if case["medium"] == "slow" else 0.95
    sim = unda.FD(
        grid, unda.Acoustic(rho=1000.0, c=c), order=case["order"], dtype=case["dtype"], boundary=sides,
        device=device, cfl=cfl,
    )  # fmt: skip
    p, before = rng.uniform(-1, 1, (2, *shape))
    for i in range(3):  # what stands on a free side is zero
        for side, at in (("min", 0), ("max", -1)):
            if sides["xyz"[i] + side] == "free":
                p[(slice(None),) * i + (at,)] = before[(slice(None),) * i + (at,)] = 0
    low, high = np.array(grid.lower), np.array(grid.upper)
    inside = [low + f * (high - low) for f in (0.31, 0.47, 0.52, 0.9)]
    try:
        for place, f0 in zip(inside[:2], (30.0, 50.0), strict=True):
            sim.add_source(unda.VolumeInjection(place, unda.ricker(f0, t0=0.0)))
    except unda.ArgumentError as error:
        assert "holds what it drives at 0" in str(error)
    sim.set(p=p, p_previous=before)
    rec = [
        sim.add_receivers(np.array([*inside, low, high]), ["p"]),
        sim.add_receivers(np.array(inside[2:]), ["p"], every=3),
    ]
    return sim, rec


CASES = [{**case, "axis": i % 3} for i, case in enumerate(pairwise(SETTINGS))]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id="-".join(str(value) for value in one.values()), marks=marks)
        for one, marks in zip(CASES, by_default(CASES, 10), strict=True)
    ],
)
def test_the_engines_agree(case):
    case = dict(case)
    axis = case.pop("axis")
    (cpu, cpu_rec), (gpu, gpu_rec) = (make(case, device, axis) for device in ("cpu", "cuda"))
    for sim in (cpu, gpu):
        sim.step(3)
        sim.step(STEPS - 3)
    for name, expected in whole_state(cpu).items():
        assert np.isfinite(expected).all() and np.abs(expected).max() > 0
        np.testing.assert_array_equal(whole_state(gpu)[name], expected, name)
    for found, expected in zip(gpu_rec, cpu_rec, strict=True):
        size = np.abs(expected["p"]).max()
        assert found["p"].shape == expected["p"].shape == (len(found.points), 1 + STEPS // found.every)
        assert np.abs(found["p"] - expected["p"]).max() <= SAMPLES[case["dtype"]] * size
    assert gpu.energy() == cpu.energy()


@pytest.mark.sanitize
@pytest.mark.parametrize("case", CASES[::5], ids=lambda case: "-".join(str(value) for value in case.values()))
def test_a_few_for_the_sanitizer(case):
    sim, _ = make({key: value for key, value in case.items() if key != "axis"}, "cuda", case["axis"])
    sim.step(5)
    sim.set(p=sim.get("p"))
    assert np.isfinite(sim.energy())


def test_sources_that_share_nodes_add_up_in_their_order():
    """Five of very different size at almost one point: in another order the sums round differently."""
    states = []
    for device in ("cpu", "cuda"):
        grid = unda.Grid((17, 16, 15), 10.0)
        sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=1500.0), boundary={"*": "rigid"}, device=device)
        for i, f0 in enumerate((31.0, 17.0, 43.0, 23.0, 11.0)):
            sim.add_source(unda.VolumeInjection((83.0 + i, 74.0, 71.0 - i), unda.ricker(f0, t0=0.0)))
        sim.step(6)
        states.append(sim.get("p"))
    assert states[0].any()
    np.testing.assert_array_equal(*states)


def test_a_wave_at_rest_starts_the_same():
    case = {key: values[0] for key, values in SETTINGS.items()}
    states = []
    for device in ("cpu", "cuda"):
        sim, _ = make(case, device, 0)
        sim.set(p=sim.get("p"))
        states.append(sim.get("p_previous"))
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_blow_up_is_found_at_its_node(device):
    grid = unda.Grid((9, 8, 7), 10.0)
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=1500.0), boundary={"*": "rigid"}, device=device)
    p = np.zeros(grid.shape, np.float32)
    p[4, 5, 6] = 3e38
    sim.set(p=p, p_previous=-p)
    with pytest.raises(unda.UnstableError) as caught:
        sim.step(1)
    error = caught.value
    assert error.step == 1 and error.last_good_step == 0
    assert error.element == np.ravel_multi_index((4, 5, 6), grid.shape)
    assert error.coordinates == (40.0, 50.0, 60.0)


def test_the_forecast_is_what_is_taken():
    medium = unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + 0 * x)
    for device, m in itertools.product(("cpu", "cuda"), (medium, unda.Acoustic(rho=1.0, c=1.0))):
        grid = unda.Grid((20, 21, 22), 10.0)
        sim = unda.FD(grid, m, device=device)
        assert unda.FD.forecast(grid, m, device=device) == sim.memory
