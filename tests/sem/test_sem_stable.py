"""CUDA finds the stable step on the device: it is that of the CPU engine, whatever the walls.

Not here: whether it is right (test_sem_reference.py, test_sem_orders.py).
"""

import cuda_device
import pytest
import unda
from sem_cases import solid_and_fluid

cuda_device.prepare()

#: Lanczos' value is less than 0.2 % below the largest eigenvalue on either engine (docs/sem.md), dt its root.
ROOM = 1e-3
HEAVY = {"fluid": (30.0, 1.5), "solid": (1.0, 2.0, 1.1)}


def step(device, dtype="float32", boundary=None, **media):
    mesh, medium = solid_and_fluid((3, 3, 4), **media)
    walls = boundary or {"zmax": "free", "xmin": "fixed", "ymin": "symmetry", "*": "absorbing"}
    with unda.SEM(mesh, medium, degree=3, boundary=walls, device=device, dtype=dtype) as sim:
        return sim.dt_stable


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
