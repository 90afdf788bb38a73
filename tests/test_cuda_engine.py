"""The CUDA engine does what the CPU engine does: on the stand-in driver, or on a real device.

On the stand-in the meshes have at most 24 cells and runs 10 steps; the table covers every pair of settings. On a
device the same cases run on more cells for 100 steps.
"""

import itertools

import cuda_device
import numpy as np
import pytest

import unda

REAL = cuda_device.prepare()
STEPS = 100 if REAL else 10
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}

SETTINGS = {
    "degree": (1, 2, 3, 4),
    "dtype": ("float32", "float64"),
    "boundary": ("rigid", "free", "absorbing", "exact", "periodic"),
    "flux": ("upwind", "central"),
    "integrator": ("lsrk4", "ab3"),
}


def pairwise(settings):
    """Cases in which every pair of values of two settings occurs (greedy)."""
    names = list(settings)
    cases = [dict(zip(names, values, strict=True)) for values in itertools.product(*settings.values())]

    def pairs(case):
        return set(itertools.combinations(sorted(case.items()), 2))

    missing, chosen = set().union(*map(pairs, cases)), []
    while missing:
        best = max(cases, key=lambda case: len(pairs(case) & missing))
        chosen.append(best)
        missing -= pairs(best)
    return chosen


def mesh_for(boundary):
    cells = (4, 4, 4) if REAL else (2, 2, 1) if boundary == "periodic" else (2, 1, 2)
    periodic = (boundary == "periodic",) * 3
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1, periodic=periodic)


def run(device, mesh, case, steps=STEPS):
    """Fields and traces after some steps with a random material and state, sources and receivers."""
    rng = np.random.default_rng(0)
    medium = unda.Acoustic(
        rho=rng.uniform(0.5, 3, mesh.num_elem), c=rng.uniform(0.5, 3, mesh.num_elem)
    )
    outside = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(2, 1, -1))
    condition = {"exact": outside, "periodic": "rigid"}.get(case["boundary"], case["boundary"])
    options = {key: value for key, value in case.items() if key != "boundary"}
    sim = unda.DG(mesh, medium, device=device, boundary={"*": condition}, **options)
    shape = (mesh.num_elem, sim.num_node)
    sim.set(**{name: rng.standard_normal(shape) for name in sim.fields})
    for place in ((0.31, 0.42, 0.27), (0.3, 0.4, 0.25), (0.8, 0.9, 0.1)):
        sim.add_source(unda.VolumeInjection(place, unda.ricker(2.0)))
    rec = sim.add_receivers([(0.2, 0.3, 0.4), (0.7, 0.6, 0.1)], ["p", "vy"], every=3)
    sim.add_receivers([(0.5, 0.5, 0.5)], ["vz"], every=2)
    sim.run(steps=steps)
    rates = sim.rhs()
    fields = np.stack([sim.get(name) for name in sim.fields])
    return fields, np.stack([rec["p"], rec["vy"]]), np.stack([rates[name] for name in sim.fields])


def name_of(case):
    return "-".join(str(value) for value in case.values())


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("case", pairwise(SETTINGS), ids=name_of)
def test_cuda_equals_cpu(case):
    mesh = mesh_for(case["boundary"])
    assert REAL or mesh.num_elem <= 24
    for cpu, cuda in zip(run("cpu", mesh, case), run("cuda", mesh, case), strict=True):
        assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max()
        assert np.abs(1.001 * cpu - cuda).max() > TOLERANCE[case["dtype"]] * np.abs(cpu).max()


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_two_cuda_runs_have_the_same_bits(integrator):
    case = {"degree": 3, "dtype": "float32", "boundary": "free", "flux": "upwind", "integrator": integrator}
    mesh = mesh_for("free")
    for a, b in zip(run("cuda", mesh, case), run("cuda", mesh, case), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.gpu_or_stand_in
def test_a_mesh_smaller_than_a_block_runs():
    mesh = unda.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    for degree in (1, 4):
        states = []
        for device in ("cpu", "cuda"):
            sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, device=device, dtype="float64")
            sim.set(p=lambda x, y, z: np.exp(-9 * (x**2 + y**2 + z**2)))
            sim.run(steps=5)
            states.append(sim.get("p"))
        assert np.abs(states[0] - states[1]).max() < 1e-13


@pytest.mark.gpu_or_stand_in
def test_a_blow_up_on_the_device_is_reported_like_on_the_cpu():
    mesh = mesh_for("rigid")
    medium = unda.Acoustic(rho=1.0, c=1.0)
    reports = []
    for device in ("cpu", "cuda"):
        sim = unda.DG(mesh, medium, degree=1, device=device, boundary={"*": "rigid"}, dt=1e3,
                      allow_unstable=True)  # fmt: skip
        sim.set(p=lambda x, y, z: np.sin(9 * x))
        with pytest.raises(unda.UnstableError) as info:
            for _ in range(60):
                sim.step(1)
        reports.append((info.value.step, info.value.last_good_step))
        assert np.isfinite(sim.get("p")).all()
    assert reports[0] == reports[1]
