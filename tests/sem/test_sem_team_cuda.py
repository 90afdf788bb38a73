"""Promises about spectral elements in parts on CUDA devices: what the CPU engine gives, but for rounding.

Tolerances: sem_team_cases.py. On the stand-in there are three devices; a machine with one has many parts
on it.
"""

import shutil
import threading

import cuda_device
import pytest
import unda
from pairwise import pairwise
from sem_cuda_cases import add_points, bits_of, made, mesh_for
from sem_team_cases import CASE, PROMISED, apart, compare, run
from unda import _core, _cuda
from unda.errors import ArgumentError, DeviceError, InternalError, UnstableError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

REAL = cuda_device.prepare()
KERNELS = _cuda.kernel_dir()
SETTINGS = {
    "kind": ("solid", "fluid", "coupled"),
    "degree": (2, 3, 4),
    "dtype": ("float32", "float64"),
    "cells": ("sheared", "warped", "curved"),
    "boundary": ("free", "mirror", "absorbing", "mixed", "periodic"),
    "per": ("cell", "node"),
    "assembly": ("ordered", "colors", "atomic"),
    "tile": (12, 1, 2, 4, 8),
    "axes": (1, 2),
    "source": ("force", "moment", "volume", "none"),
    "parts": (2, 3, 5),
    "seed": (None, 1, 2),
    "transport": ("auto", "host"),
}
TABLE = pairwise(SETTINGS, drawn=3000)
#: Few that the stand-in has time for: each has kernels of its own to compile.
FEW = [case for case in TABLE if case["degree"] == 2][::9]
SMALL = CASE | {"degree": 2, "assembly": "ordered", "tile": 2, "axes": 1, "parts": 3, "seed": 1}


@pytest.fixture(autouse=True)
def three_devices(monkeypatch):
    """The stand-in has three."""
    if not REAL:
        monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "3")


def devices(num):
    """Names of devices for `num` parts, each of those that are there in turn."""
    names = [name for name in unda.devices() if name != "cpu"]
    return [names[i % len(names)] for i in range(num)]


def in_parts(case, where=None, **options):
    return made(where or devices(case["parts"]), case, seed=case["seed"], **options)


def chosen(case):
    marks = [] if REAL or case in FEW else pytest.mark.slow
    return pytest.param(case, marks=marks, id="-".join(map(str, case.values())))


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("case", [chosen(case) for case in TABLE])
def test_parts_agree_with_one_device(case):
    one = made("cpu", case)
    parts = in_parts(case, dt=one.dt, transport=case["transport"])
    compare(run(one, case["source"]), run(parts, case["source"]), PROMISED[case["dtype"]])


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("assembly", ["ordered", "colors", "atomic"])
def test_a_solid_and_a_fluid_may_be_on_different_devices(assembly):
    """A part then has nodes of a region of which it has no element."""
    one = made("cpu", SMALL)
    partition = unda.Partition(one.mesh, one._fluid)
    sim = made(devices(2), SMALL | {"assembly": assembly}, dt=one.dt, mesh=one.mesh, partition=partition)
    compare(run(one), run(sim), PROMISED["float64"])


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("transport", ["auto", pytest.param("host", marks=pytest.mark.slow)])
def test_graphs_of_all_devices_take_the_same_steps(monkeypatch, transport):
    """However a run is cut into calls, as launches one by one, and whichever of two parts is early: steps
    before a graph, of 16, and after it.
    """
    found = []
    for early, steps in (("0", (8, 12)), ("1", (2, 18)), ("2", (1, 19))):
        monkeypatch.setenv("UNDA_EMULATOR_EAGER", early)
        sim = in_parts(SMALL | {"parts": 2}, transport=transport)
        add_points(sim, "force")
        for num in steps:
            sim.step(num)
        found.append(bits_of(sim))
    assert found[0] == found[1] == found[2]


@pytest.mark.gpu_or_stand_in
def test_the_stable_step_is_that_of_one_device():
    one, parts = made("cuda", SMALL), in_parts(SMALL)
    assert parts.dt_stable == pytest.approx(one.dt_stable, rel=1e-10)  # as many steps of Lanczos' recurrence
    assert parts.energy() == pytest.approx(one.energy(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["1", "2"])
def test_the_order_of_streams_does_not_matter(monkeypatch, order):
    """Every other stream runs as early as events let it, the others as late as they can."""
    if REAL:
        pytest.skip("the stand-in alone can choose")
    found = []
    for eager in (None, order):
        if eager:
            monkeypatch.setenv("UNDA_EMULATOR_EAGER", eager)
        for transport in ("auto", "host"):
            sim = run(in_parts(SMALL, transport=transport), steps=(1, 3))
            found.append(bits_of(sim))
    assert found[1:] == found[:-1]


#: Faults of kernels: what they say, and what they would say.
FAULTS = {
    "a node is not sent": ("if (item < a.num)\n", "if (item + 1 < a.num)\n"),
    "what came is not added": ("a.term[k] < 0 ? own", "a.term[k] < 0 || k == 1 ? own"),
    "parts add other things": (
        "sum = 0;\n    for (int k = a.first_term",
        "sum = own_force(a, node, unknown) * 1e-9;\n    for (int k = a.first_term",
    ),
}


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_exchange_is_seen(tmp_path, fault):
    """Copies of a node differ then, which is refused, or the state differs; or there is no stable step."""
    one = run(made("cpu", SMALL))
    shutil.copytree(KERNELS, tmp_path / "cuda")
    file = tmp_path / "cuda" / "sem" / "nodes.cu"
    right, wrong = FAULTS[fault]
    assert file.read_text().count(right) == 1
    file.write_text(file.read_text().replace(right, wrong))
    _core.check(_core.lib.unda_set_kernel_dir(str(tmp_path / "cuda").encode()))
    try:
        with pytest.raises((AssertionError, InternalError, ArgumentError)):
            compare(one, run(in_parts(SMALL, dt=one.dt)), PROMISED["float64"])
    finally:
        _core.check(_core.lib.unda_set_kernel_dir(str(KERNELS).encode()))


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "steps",
    [pytest.param(4, marks=[] if REAL else pytest.mark.slow), pytest.param(40, marks=pytest.mark.slow)],
)
def test_two_teams_on_one_device_at_once_do_not_hang(steps):
    """Under load: each of two threads has three parts on the first device."""
    found = []

    def work():
        found.append(bits_of(run(in_parts(SMALL, ["cuda:0"] * 3), steps=(3, steps))))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 2 and found[0] == found[1]


@pytest.mark.gpu_or_stand_in
def test_a_team_on_devices_blows_up_where_one_does():
    found = []
    for where in ("cuda", devices(3)):
        sim = made(where, SMALL, dt=2.0, allow_unstable=True)
        with pytest.raises(UnstableError) as caught:
            for _ in range(100):
                sim.step(4)
        found.append((caught.value.step, sim.step_count, sim.get("ux")))
    assert found[0][:2] == found[1][:2]
    assert apart(found[0][2], found[1][2]) < 1e-9  # rounding grows as the state does


def test_without_peer_access_forces_go_through_the_host(monkeypatch):
    if REAL:
        pytest.skip("the stand-in alone can take it away")
    mesh, medium = mesh_for("sheared", "free"), unda.Acoustic(rho=1.0, c=1.0)
    monkeypatch.setenv("UNDA_EMULATOR_PEER", "0")
    assert unda.SEM(mesh, medium, degree=2, device=devices(2)).team.transport == "host"
    with pytest.raises(DeviceError, match="cannot reach each other's memory"):
        unda.SEM(mesh, medium, degree=2, device=devices(2), transport="peer")


@pytest.mark.gpu_or_stand_in
@pytest.mark.slow
@pytest.mark.parametrize("transport", ["auto", "host"])
def test_a_team_names_its_devices_and_their_memory(transport):
    mesh, medium = mesh_for("sheared", "free"), unda.Elastic(rho=1.0, vp=1.0, vs=0.5)
    options = {"degree": 2, "device": devices(3), "transport": transport}
    sim = unda.SEM(mesh, medium, **options)
    assert sum(one.memory for one in sim.team.members) == sim.memory["device"] > 0
    found = unda.SEM.forecast(mesh, medium, **options)
    assert found["device"] == sim.memory["device"] and found["host"] == sim.memory["host"]
    assert [found[f"part {i}"] for i in range(3)] == [one.memory for one in sim.team.members]
    assert " + ".join(devices(3)) in repr(sim)
    assert sim.profile(runs=1)["stage"]["seconds"] > 0


def test_what_no_team_can_be_is_refused():
    mesh, medium = mesh_for("sheared", "free"), unda.Acoustic(rho=1.0, c=1.0)
    with pytest.raises(ArgumentError, match="has 3 parts, expected one for each of 2 devices"):
        unda.SEM(mesh, medium, device=devices(2), partition=mesh.partition(3))
    with pytest.raises(ArgumentError, match="expected CUDA devices alone"):
        unda.SEM(mesh, medium, device=["cpu", "cuda:0"])
