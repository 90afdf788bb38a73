"""A team that waits for its ghosts in other places, or has longer messages, to measure what waiting costs."""

import os

import cuda_device
import numpy as np
import pytest
import unda
from unda._core import lib
from unda.errors import ArgumentError

cuda_device.prepare()


def team(device, **options):
    os.environ["UNDA_CPU_PARTS"] = "1"
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(3, 2, 2), perturb=0.1, seed=1)
    medium = unda.Acoustic(rho=1.0, c=1.0)
    sim = unda.DG(mesh, medium, degree=2, boundary={"*": "free"}, device=[device] * 3, **options)
    rng = np.random.default_rng(1)
    sim.set(p=rng.standard_normal((mesh.num_elem, sim.num_node)))
    return sim


def test_waiting_before_the_first_cell_changes_no_bit_and_not_receiving_does():
    found = {}
    for when in (lib.UNDA_EXCHANGE_BEHIND, lib.UNDA_EXCHANGE_BEFORE, lib.UNDA_EXCHANGE_NEVER):
        with team("cpu") as sim:
            sim.step(1)
            sim._solver.call(lib.unda_solver_set_exchange, when, 1.0)
            sim.step(20)
            found[when] = sim.get("p")
    usual = found[lib.UNDA_EXCHANGE_BEHIND]
    assert found[lib.UNDA_EXCHANGE_BEFORE].tobytes() == usual.tobytes()
    assert abs(found[lib.UNDA_EXCHANGE_NEVER] - usual).max() > 1e-3


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("transport", ["peer", pytest.param("host", marks=pytest.mark.slow)])
def test_neither_the_place_of_an_exchange_nor_what_fills_its_messages_changes_a_bit(transport):
    with team("cuda", transport=transport) as sim, team("cuda", transport=transport) as usual:
        for when, weight in (("BEHIND", 7.3), ("BEFORE", 3.0), ("BEHIND", 1.0), ("NEVER", 1.0)):
            number = getattr(lib, f"UNDA_EXCHANGE_{when}")
            sim._solver.call(lib.unda_solver_set_exchange, number, weight)
            sim.step(20)  # some of them as a graph
            usual.step(20)
            apart = abs(sim.get("p") - usual.get("p")).max()
            assert apart > 1e-3 if when == "NEVER" else apart == 0


@pytest.mark.parametrize(
    ("when", "weight", "message"),
    [
        (3, 1.0, "when is 3"),
        (0, 0.5, "weight is 0.5"),
        (0, float("nan"), "weight is"),
        (0, 2.0, "on the CPU"),
    ],
)
def test_other_exchanges_are_refused(when, weight, message):
    with team("cpu") as sim, pytest.raises(ArgumentError, match=message):
        sim._solver.call(lib.unda_solver_set_exchange, when, weight)


@pytest.mark.gpu_or_stand_in
@pytest.mark.skipif(cuda_device.is_real(), reason="others may take memory of a device meanwhile")
def test_longer_messages_take_their_room_and_give_it_back():
    with team("cuda") as sim:
        sim.step(1)

        def taken(weight):
            before = unda.devices()["cuda:0"]["free"]
            sim._solver.call(lib.unda_solver_set_exchange, lib.UNDA_EXCHANGE_BEHIND, weight)
            return before - unda.devices()["cuda:0"]["free"]

        sent = sim.team._bytes()
        room = taken(101.0)  # what is sent, and two buffers of what is received; 16 bytes less each at most
        assert 300 * sent - 3 * 3 * 16 <= room <= 1.1 * 300 * sent
        assert taken(1.0) == -room
        total = unda.devices()["cuda:0"]["free"]
        # the first part has room, another one has none
        with pytest.raises(unda.OutOfMemoryError, match="filling of messages"):
            taken(1 + 0.5 * total / sent)
        assert unda.devices()["cuda:0"]["free"] == total
        sim.step(1)
