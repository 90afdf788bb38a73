"""Receivers are removed and moved between shots, and each shot is that of a new simulation, to the bit.

Not here: sources and receivers themselves (test_points_are_transposes.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from unda.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

cuda_device.prepare()
ROCK = unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0)
SEA = unda.Acoustic(rho=1000.0, c=1500.0)
POINTS = np.array([(210.0, 190.0, 310.0), (330.0, 220.0, 110.0)])
SOURCES = [(150.0, 200.0, 200.0), (260.0, 180.0, 240.0)]


def dg(device, **options):
    mesh = unda.box_mesh((0, 0, 0), (400, 400, 400), cells=(2, 2, 2))
    return unda.DG(
        mesh, ROCK, degree=2, device=device, boundary={"zmax": "free", "*": "absorbing"}, **options
    )


def sem(device):
    mesh = unda.box_mesh((0, 0, 0), (400, 400, 400), cells=(3, 2, 2), shape="hex")
    return unda.SEM(mesh, SEA, degree=3, device=device)


def fd(device, **options):
    medium = ROCK if options else SEA
    sides = {"zmin": unda.CPML(2), "*": "free"}
    return unda.FD(unda.Grid((12, 11, 11), 38.0), medium, device=device, boundary=sides, **options)


METHODS = {
    "DG": (dg, ROCK), "DG ab3": (lambda device: dg(device, integrator="ab3"), ROCK), "SEM": (sem, SEA),
    "FD": (fd, SEA), "FD staggered": (lambda device: fd(device, scheme="staggered"), ROCK),
}  # fmt: skip


def source(i, medium):
    if medium is SEA:
        return unda.VolumeInjection(SOURCES[i], unda.ricker(12.0, 0.05))
    return unda.PointForce(SOURCES[i], unda.ricker(12.0, 0.05), (1.0, 0.5, -1.0))


def traces(rec):
    return {name: rec[name] for name in rec.fields}


def same(one, other):
    return all((one[name] == other[name]).all() for name in one) and list(one) == list(other)


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "name, device",
    [
        *((name, "cpu") for name in METHODS),
        *((name, "cuda") for name in METHODS if name != "FD staggered"),
        pytest.param("FD staggered", "cuda", marks=pytest.mark.slow),
    ],
)
def test_each_shot_is_that_of_a_new_simulation_to_the_bit(name, device):
    make, medium = METHODS[name]
    shots = [source(0, medium), [source(1, medium), source(0, medium)]]
    lines = [POINTS, POINTS[:1] + 20.0]
    found = [traces(rec) for rec in make(device).shots(shots, lines, steps=5, every=2)]
    expected = []
    for sent, points in zip(shots, lines, strict=True):
        sim = make(device)
        sim.add_source(sent)
        rec = sim.add_receivers(points, every=2)
        sim.run(steps=5)
        expected.append(traces(rec))
    assert all(same(*pair) for pair in zip(found, expected, strict=True))
    assert not same(expected[0], {name: trace * (1 + 1e-6) for name, trace in expected[0].items()})
    assert max(np.abs(trace).max() for trace in expected[0].values()) > 0.0


def test_gathers_are_objects_of_their_own_and_named():
    sim = fd("cpu")
    rec, other = sim.add_receivers(POINTS, ["p"]), sim.add_receivers(POINTS[:1], ["p"], every=3)
    gathers = list(sim.shots([source(0, SEA), source(1, SEA)], steps=9))
    assert sim.receivers == (rec, other)
    assert [[one.name for one in pair] for pair in gathers] == [["shot 0"] * 2, ["shot 1"] * 2]
    assert (gathers[1][0]["p"] == rec["p"]).all() and gathers[0][1]["p"].shape == (1, 4)
    sim.reset()
    assert gathers[1][0].num_sample == 10 and rec.num_sample == 1
    assert (gathers[0][0]["p"] != gathers[1][0]["p"]).any()


@pytest.mark.parametrize("name", METHODS)
def test_what_was_removed_or_moved_records_no_more_and_the_others_go_on(name):
    make, medium = METHODS[name]
    sim = make("cpu")
    sim.add_source(source(0, medium))
    first, second, third = (sim.add_receivers(POINTS + 5.0 * i, every=1 + i) for i in range(3))
    sim.run(steps=6)
    kept = traces(first)
    with pytest.raises(ArgumentError, match="before the first step"):
        sim.remove_receivers(first)
    sim.reset()
    sim.remove_receivers(first)
    moved = sim.move_receivers(second, POINTS + 10.0)
    assert sim.receivers == (moved, third) and moved.every == 2 and moved.fields == second.fields
    sim.run(steps=6)
    assert first.num_sample == 1 and second.num_sample == 1 and third.num_sample == 3
    assert moved.num_sample == 4 and same(
        {name: trace[:, ::3] for name, trace in traces(moved).items()},
        {name: trace[:, ::2] for name, trace in traces(third).items()},
    )  # both stand there; samples of steps 0 and 6
    assert not same(kept, {name: 0.0 * trace for name, trace in kept.items()})
    sim.reset()
    sim.remove_receivers()
    assert sim.receivers == ()


def test_shots_continue_with_what_a_file_has(tmp_path):
    sim = fd("cpu")
    sim.remove_receivers(sim.add_receivers(POINTS))
    sim.add_source(source(0, SEA))
    kept = sim.add_receivers(POINTS, ["p"])
    sim.run(steps=5)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for one in (sim, again):
        one.run(steps=5)
    assert (again.receivers[0]["p"] == kept["p"]).all() and len(again.receivers) == 1


@pytest.mark.parametrize("ask, found", [
    (lambda sim: sim.shots([source(0, SEA)], steps=3), "there are no receivers"),
    (lambda sim: sim.shots([source(0, SEA)], [POINTS, POINTS], steps=3), "2 arrays; .* each of 1 shots"),
    (lambda sim: sim.shots([source(0, SEA)], POINTS[0], steps=3), "an array of 1 dimensions"),
    (lambda sim: sim.shots([source(0, SEA)], POINTS), "either until"),
    (lambda sim: sim.remove_receivers(fd("cpu").add_receivers(POINTS)), "not one of the receivers"),
    (lambda sim: sim.move_receivers(3, POINTS), "3 is not one of the receivers"),
    (lambda sim: list(sim.shots([3.0], POINTS, steps=3)), "source is 3.0"),
])  # fmt: skip
def test_bad_shots_are_named(ask, found):
    with pytest.raises(ArgumentError, match=found):
        ask(fd("cpu"))
