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


def warped_layer():
    """Two cubes of cells before two layers of cells at x < 0, with one vertex between these displaced."""
    whole = unda.box_mesh((-1, 0, 0), (1, 1, 1), cells=(4, 2, 2), shape="hex")
    faces = {
        name: whole.boundary_faces[whole.boundary_ids == i] for i, name in enumerate(whole.boundary_names)
    }
    vertices = np.array(whole.vertices)
    vertices[(vertices == (-0.5, 0.5, 0.5)).all(axis=1)] += 0.1
    tags = (whole.centroids[:, 0] < 0.0).astype(np.int32)
    return unda.Mesh(vertices, whole.cells, tags=tags, tag_names={"in": 0, "pml": 1}, boundaries=faces)


@pytest.mark.gpu_or_stand_in
@pytest.mark.filterwarnings("ignore:degree 1 on warped:unda.AccuracyWarning")
def test_layers_of_warped_cells_on_cuda_are_those_of_the_cpu():
    """Profiles by node and derivatives along all three lines; the tolerance: above."""
    states = []
    for device in ("cpu", "cuda"):
        sim = unda.DG(
            warped_layer(), MEDIA["elastic"], degree=1, device=device, dtype="float64",
            boundary={"xmin": unda.CPML(f0=1.0, tag="pml"), "*": "symmetry"},
        )  # fmt: skip
        sim.set(vx=lambda x, y, z: np.exp(-4.0 * (x**2 + y**2)), sxy=lambda x, y, z: np.sin(3.0 * x))
        sim.run(steps=STEPS)
        states.append(state(sim))
    one, other = states
    assert np.abs(one - other).max() < 180 * 5 * STEPS * np.finfo(float).eps * np.abs(one).max()


@pytest.mark.gpu_or_stand_in
def test_a_profile_has_the_pass_over_layers_and_leaves_the_state_alone():
    """Of 26 cells and 54 items, of 8 nodes: 3 states, 4 numbers a memory variable, profiles of 2 nodes."""
    sim = run("hex", "acoustic", "cuda", steps=3)
    found = sim.profile(runs=1)
    assert [found[name]["launches"] for name in ("dg_layer_first", "dg_layer_next")] == [1, 4]
    assert found["dg_layer_next"]["bytes"] == 8 * (8 * (26 * 4 * 3 + 54 * 2 * 4) + 54 * 4 * 2 + 26 * (9 + 2))
    assert found["dg_layer_next"]["flops"] == 8 * 54 * 2 * (2 * 2 + 9)
    sim.run(steps=1)
    assert state(sim).tobytes() == state(run("hex", "acoustic", "cuda", steps=4)).tobytes()


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("shape", ["hex", pytest.param("tet", marks=pytest.mark.slow)])
def test_layers_on_two_devices_have_the_bits_of_one(shape):
    one, two = (state(run(shape, "acoustic", device, cells=2)) for device in ("cuda", ["cuda:0"] * 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("shape", "physics", "degree"), [("tet", "acoustic", 8), ("hex", "elastic", 9)])
def test_a_block_has_room_for_three_items_of_a_cell_of_a_high_degree(shape, physics, degree):
    """Tolerance: sums of at most 3 x 165 x 2, or 3 x 10 x 6, products, 5 stages a step."""
    one, other = (state(run(shape, physics, device, degree=degree, steps=3)) for device in ("cpu", "cuda"))
    assert np.abs(one - other).max() < 990 * 5 * 3 * np.finfo(float).eps * np.abs(one).max()


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
