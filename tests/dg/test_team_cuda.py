"""Promises about DG in parts on CUDA devices: bits of one device, whatever parts, devices and transport.

On the stand-in there are three devices; a machine with one has many parts on it. Next: test_team.py.
"""

import itertools
import shutil
import threading

import bits_dg
import cuda_device
import numpy as np
import pytest
import team_cases
import unda
from team_cases import any_partition, differences, in_parts
from test_cuda_engine import mesh_for, random_medium, random_state, run
from unda import _core, _cuda
from unda.errors import ArgumentError, DeviceError, UnstableError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

REAL = cuda_device.prepare()
KERNELS = _cuda.kernel_dir()
ON_DEVICE = [key for key in team_cases.RUNS if "/cpu" not in key]
FEW = ON_DEVICE[5::60]


@pytest.fixture(autouse=True)
def three_devices(monkeypatch):
    """The stand-in has three."""
    if not REAL:
        monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "3")


def devices(num):
    """Names of devices for `num` parts, each of those that are there in turn."""
    names = [name for name in unda.devices() if name != "cpu"]
    return [names[i % len(names)] for i in range(num)]


def numbered(keys, few):
    """Keys with their numbers; on the stand-in all but a few are slow."""
    return [
        pytest.param(i, key, marks=[] if REAL or key in few else pytest.mark.slow, id=str(key))
        for i, key in enumerate(keys)
    ]


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("i", "key"), numbered(ON_DEVICE, FEW))
def test_parts_have_the_bits_of_one_device(i, key):
    function, *arguments = team_cases.RUNS[key]
    one = function(*arguments)
    num, transport = (2, 3, 5)[i % 3], ("auto", "host")[i % 2]
    with in_parts(num, i if i % 3 else None, devices(num), transport=transport):
        assert differences(one, function(*arguments)) == []


#: Every kernel, with what its tiles and layouts of states do: degrees, precisions, both updates.
TETS = ("fused", "blocks", "tensor", "node", "element", "microblock")
HEXES = ("columns", "lines", "base", "f1", "f1s")
WITH_KERNELS = [
    (kernel, dtype, integrator)
    for kernel, dtype, integrator in itertools.product(TETS + HEXES, ("float32", "float64"), ("lsrk4", "ab3"))
    if (kernel, dtype) != ("tensor", "float64")
]


def _kernel_run(mesh, kernel, dtype, integrator, physics, **where):
    rng = np.random.default_rng(0)
    options = {"products": 2} if kernel == "blocks" and dtype == "float32" else None
    sim = unda.DG(
        mesh, random_medium(physics, mesh, 2, "cell", rng), degree=2, kernel=kernel, kernel_options=options,
        dtype=dtype, integrator=integrator, **where,
    )  # fmt: skip
    sim.set(**random_state(sim, rng))
    rec = sim.add_receivers(mesh.vertices[:3], sim.fields)
    sim.step(5)
    return bits_dg.outcome(sim, [rec])


@pytest.mark.first(2)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("i", "case"), numbered(WITH_KERNELS, WITH_KERNELS[1::11]))
def test_parts_have_the_bits_of_one_device_with_every_kernel(i, case):
    kernel, dtype, integrator = case
    physics = ("acoustic", "elastic", "maxwell")[i % 3]
    shape = "hex" if kernel in HEXES else "tet"
    mesh = unda.box_mesh(
        (0, 0, 0), (1, 1, 1), (3, 2, 2) if shape == "hex" else (2, 1, 2), shape=shape, perturb=0.2
    )
    one = _kernel_run(mesh, kernel, dtype, integrator, physics, device="cuda:0")
    part = any_partition(mesh, 2, i)
    other = _kernel_run(mesh, kernel, dtype, integrator, physics, device=devices(2), partition=part)
    assert differences(one, other) == []


@pytest.mark.gpu_or_stand_in
def test_products_of_cublas_are_equal_to_rounding():
    """cuBLAS chooses by size."""
    case = {"degree": 2, "boundary": "hard", "flux": "upwind", "integrator": "ab3", "kernel": "gemm"}
    case |= {"dtype": "float64"}
    mesh = mesh_for("hard")
    one, two = run("cuda:0", mesh, case, rates=False), run(devices(2), mesh, case, rates=False)
    for a, b in zip(one, two, strict=True):
        assert np.abs(a - b).max() < 1e-12 * np.abs(a).max()


def _long(device, steps=(40,), **options):
    """Some graphs of steps, with receivers in between; 0 steps: the first state again."""
    mesh = mesh_for("periodic")
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, kernel="fused", device=device, **options)
    sim.set(**bits_dg.state_of(sim))
    sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(2.0)))
    rec = sim.add_receivers([(0.3, 0.3, 0.3), (0.5, 0.55, 0.4)], every=3)
    for num in steps:
        sim.step(num) if num else sim.set(**bits_dg.state_of(sim))
    return bits_dg.outcome(sim, [rec])


SLOW = [] if REAL else pytest.mark.slow


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("integrator", "transport"),
    [
        ("ab3", "auto"),
        ("ab3", "host"),
        pytest.param("lsrk4", "auto", marks=SLOW),
        pytest.param("lsrk4", "host", marks=SLOW),
    ],
)
def test_graphs_of_all_devices_take_the_same_steps(integrator, transport):
    """And a right-hand side between calls, after which the other buffers of traces are next."""
    steps = (37, 1, 18, 33)
    one = _long("cuda:0", steps, integrator=integrator)
    assert differences(one, _long(devices(3), steps, integrator=integrator, transport=transport)) == []


@pytest.mark.parametrize("order", ["1", pytest.param("2", marks=SLOW)])
def test_the_order_of_streams_does_not_matter(monkeypatch, order):
    """Every other stream runs as early as events let it, the others as late as they can; graphs come after
    the first steps of an integrator, which are launches."""
    if REAL:
        pytest.skip("the stand-in alone can choose")
    for transport, integrator, steps in (("auto", "lsrk4", (7, 18)), ("host", "ab3", (3, 0, 18, 0, 18))):
        monkeypatch.delenv("UNDA_EMULATOR_EAGER", raising=False)
        one = _long("cuda:0", steps, integrator=integrator)
        monkeypatch.setenv("UNDA_EMULATOR_EAGER", order)
        other = _long(devices(3), steps, integrator=integrator, transport=transport)
        assert differences(one, other) == []


#: Faults of kernel `traces`: what it says, and what it would say.
FAULTS = {
    "dropped": (
        "if (i >= a.num * values)\n        return;",
        "if (i >= (a.num - 1) * values)\n        return;",
    ),
    "turned": ("* a.num_face_node + m];", "* a.num_face_node + (a.unpack ? m : a.num_face_node - 1 - m)];"),
    "another field": ("face / a.num_face, node, field)", "face / a.num_face, node, a.unpack ? field : 0)"),
}


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_traces_is_seen(tmp_path, fault):
    """One face is dropped, nodes are in the other order, another field is sent."""
    one = _long("cuda:0", (3,))
    shutil.copytree(KERNELS, tmp_path / "cuda")
    file = tmp_path / "cuda" / "common" / "state.cu"
    right, wrong = FAULTS[fault]
    assert file.read_text().count(right) == 1
    file.write_text(file.read_text().replace(right, wrong))
    _core.check(_core.lib.unda_set_kernel_dir(str(tmp_path / "cuda").encode()))
    try:
        assert "state" in differences(one, _long(devices(3), (3,)))
    except UnstableError:  # memory of the stand-in begins as NaN
        assert fault == "dropped"
    finally:
        _core.check(_core.lib.unda_set_kernel_dir(str(KERNELS).encode()))


@pytest.mark.gpu_or_stand_in
def test_two_teams_on_one_device_at_once_do_not_hang():
    """Under load: each of two threads has three parts on the first device."""
    one, found = _long("cuda:0"), []
    threads = [threading.Thread(target=lambda: found.append(_long(["cuda:0"] * 3))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == 2 and differences(one, found[0]) == differences(one, found[1]) == []


@pytest.mark.gpu_or_stand_in
def test_a_team_on_devices_blows_up_where_one_does():
    found = []
    for device in ("cuda:0", devices(3)):
        sim = unda.DG(
            mesh_for("hard"), unda.Acoustic(rho=1.0, c=1.0), degree=1, dt=0.7, allow_unstable=True,
            device=device, kernel="fused",
        )  # fmt: skip
        sim.set(**bits_dg.state_of(sim))
        with pytest.raises(UnstableError) as caught:
            for _ in range(100):
                sim.step(4)
        found.append((str(caught.value), sim.step_count, sim.get("p").tobytes()))
    assert found[0] == found[1]


@pytest.mark.gpu_or_stand_in
def test_a_launch_of_many_steps_is_refused_in_parts():
    with pytest.raises(ArgumentError, match="resident is 8 on several devices"):
        _long(devices(2), kernel_options={"resident": 8})


def test_without_peer_access_traces_go_through_the_host(monkeypatch):
    if REAL:
        pytest.skip("the stand-in alone can take it away")
    mesh, medium = mesh_for("hard"), unda.Acoustic(rho=1.0, c=1.0)
    monkeypatch.setenv("UNDA_EMULATOR_PEER", "0")
    assert unda.DG(mesh, medium, degree=1, kernel="fused", device=devices(2)).team.transport == "host"
    with pytest.raises(DeviceError, match="cannot reach each other's memory"):
        unda.DG(mesh, medium, degree=1, kernel="fused", device=devices(2), transport="peer")
    assert unda.DG(mesh, medium, degree=1, kernel="fused", device=["cuda:0"] * 2).team.transport == "peer"


@pytest.mark.gpu_or_stand_in
def test_all_devices_are_one_word():
    names = [name for name in unda.devices() if name != "cpu"]
    sim = unda.DG(
        mesh_for("hard"), unda.Acoustic(rho=1.0, c=1.0), degree=1, kernel="fused", device="cuda:all"
    )
    assert (sim.team.devices if sim.team else ("cuda:0",)) == tuple(names)


@pytest.mark.gpu_or_stand_in
def test_a_team_names_its_devices_and_their_memory():
    case = {"degree": 1, "kernel": "fused", "device": devices(3)}
    sim = unda.DG(mesh_for("hard"), unda.Acoustic(rho=1.0, c=1.0), **case)
    assert sum(one.memory for one in sim.team.members) == sim.memory["device"] > 0
    found = unda.DG.forecast(sim.mesh, sim.medium, **case)
    assert found["device"] == sim.memory["device"] and found["host"] == sim.memory["host"]
    assert [found[f"part {i}"] for i in range(3)] == [one.memory for one in sim.team.members]
    assert " + ".join(devices(3)) in repr(sim) and "by peer" in repr(sim)
    assert sim.profile(runs=1)["stage"]["seconds"] > 0
