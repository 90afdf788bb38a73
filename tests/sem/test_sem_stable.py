"""CUDA finds the stable step on the device: it is that of the CPU engine, whatever the walls.

Not here: whether it is right (test_sem_reference.py, test_sem_orders.py).
"""

import cuda_device
import pytest
import unda
from sem_cases import solid_and_fluid, start

cuda_device.prepare()

#: Lanczos' value is less than 0.2 % below the largest eigenvalue on either engine (docs/sem.md), dt its root.
ROOM = 1e-3
HEAVY = {"fluid": (30.0, 1.5), "solid": (1.0, 2.0, 1.1)}


def step(device, dtype="float32", boundary=None, **media):
    mesh, medium = solid_and_fluid((3, 3, 4), **media)
    walls = boundary or {"zmax": "free", "xmin": "fixed", "ymin": "symmetry", "*": "absorbing"}
    with unda.SEM(mesh, medium, degree=3, boundary=walls, device=device, dtype=dtype) as sim:
        return sim.dt_stable


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_engines_find_the_same_step(dtype):
    for media in ({}, HEAVY):
        assert step("cuda", dtype, **media) == pytest.approx(step("cpu", dtype, **media), rel=ROOM)


@pytest.mark.gpu_or_stand_in
def test_it_is_that_of_the_coupled_operator():
    """A heavy fluid on the same solid moves it by more than the room."""
    light = HEAVY | {"fluid": (0.01, 1.5)}
    assert step("cuda", **HEAVY) < (1 - 10 * ROOM) * step("cuda", **light)


@pytest.mark.gpu_or_stand_in
def test_the_state_is_zero_and_runs_are_the_same_afterwards():
    mesh, medium = solid_and_fluid((2, 2, 2))
    with unda.SEM(mesh, medium, device="cuda") as sim:
        assert not any(sim.get(name).any() for name in sim.fields)
        sim.step(3)
        assert not any(sim.get(name).any() for name in sim.fields)


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_bits_on_the_device_do_not_depend_on_the_threads_that_set_it_up():
    """Numbers, tiles, masses and the step are made by one thread or by three; another mesh differs."""
    found = []
    for threads, cells in ((1, 8), (3, 8), (3, 9)):
        mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (cells, 6, 6), shape="hex", perturb=0.2)
        rock = unda.Elastic(rho=1.3, vp=1.9, vs=1.0)
        with unda.SEM(mesh, rock, device="cuda", degree=4, threads=threads, dt=1e-3) as sim:
            start(sim)
            sim.step(1)
            found.append((sim.dt_stable, sim.get("uy").tobytes(), sim.get("ax").tobytes()))
    assert found[0] == found[1] != found[2]
