"""Absorbing layers of DG on CUDA devices: the numbers of the CPU, and the bits of one device on several."""

import cuda_device
import numpy as np
import pytest
import unda

cuda_device.prepare()

MEDIA = {
    "acoustic": unda.Acoustic(rho=1.0, c=1.0),
    "elastic": unda.Elastic(rho=1.0, vp=1.0, vs=0.55),
    "maxwell": unda.Maxwell(eps=1.0, mu=1.0),
}
CORNER = {side: unda.CPML(f0=1.0) for side in ("xmin", "ymax", "zmin")}
#: Steps: 23 are some by themselves and, of so small a problem, a batch of 16 in one graph.
STEPS = 23


def run(shape, physics, device, *, degree=1, integrator="lsrk4", steps=STEPS, cells=1, **options):
    size = 0.5 * cells
    mesh = unda.box_mesh((0, 0, 0), (size,) * 3, cells=(cells,) * 3, shape=shape)
    wall = {"acoustic": "rigid", "elastic": "symmetry", "maxwell": "pmc"}[physics]
    sim = unda.DG(
        mesh, MEDIA[physics], degree=degree, boundary=CORNER | {"*": wall}, integrator=integrator,
        device=device, dtype="float64", **options,
    )  # fmt: skip
    sim.set(**{name: np.ones((mesh.num_elem, sim.num_node)) for name in sim.fields if name[0] in "pve"})
    sim.run(steps=steps)
    return sim


def state(sim):
    return np.stack([sim.get(name) for name in sim.fields])


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("shape", "physics", "integrator"),
    [
        ("hex", "acoustic", "lsrk4"),
        ("tet", "acoustic", "lsrk4"),
        pytest.param("hex", "elastic", "ab3", marks=pytest.mark.slow),
        pytest.param("hex", "maxwell", "lsrk4", marks=pytest.mark.slow),
        pytest.param("tet", "maxwell", "ab3", marks=pytest.mark.slow),
        pytest.param("tet", "acoustic", "ab3", marks=pytest.mark.slow),
        pytest.param("tet", "elastic", "lsrk4", marks=pytest.mark.slow),
    ],
)
def test_layers_on_cuda_are_those_of_the_cpu(shape, physics, integrator):
    """To rounding: sums of at most 3 x 10 x 6 products, 5 stages a step, in the worst case of one sign."""
    degree = 1 if (physics, integrator) == ("acoustic", "lsrk4") else 2
    given = {"integrator": integrator, "degree": degree}
    one, other = (state(run(shape, physics, device, **given)) for device in ("cpu", "cuda"))
    assert np.abs(one - other).max() < 180 * 5 * STEPS * np.finfo(float).eps * np.abs(one).max()
    assert np.abs(one[:, 1:]).max() > 1e-3  # layers are reached


@pytest.mark.gpu_or_stand_in
def test_layers_on_two_devices_have_the_bits_of_one():
    one, two = (state(run("hex", "acoustic", device, cells=2)) for device in ("cuda", ["cuda:0"] * 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.gpu_or_stand_in
def test_a_saved_run_goes_on_with_its_memory_variables_on_cuda(tmp_path):
    sim = run("hex", "acoustic", "cuda", steps=5)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for one in (sim, again):
        one.run(steps=4)
    assert state(again).tobytes() == state(sim).tobytes()


@pytest.mark.gpu_or_stand_in
def test_a_launch_of_many_steps_is_refused_beside_layers():
    with pytest.raises(unda.ArgumentError, match="layers"):
        run("tet", "acoustic", "cuda", kernel="fused", kernel_options={"resident": 8})
