"""Promises about DG in parts on the CPU: bits of one device, whatever the parts.

The same on CUDA devices: test_team_cuda.py. Not here: partitions, meshes of parts (mesh/test_partition.py).
"""

import re

import bits_dg
import numpy as np
import pytest
import team_cases
import unda
from hypothesis import given, settings
from hypothesis import strategies as st
from team_cases import any_partition, differences, in_parts
from unda.errors import ArgumentError, UnstableError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

ON_CPU = [key for key in team_cases.RUNS if "/cpu" in key]
NUMBERS = (1, 2, 3, 5)
#: By default a run of each kind, and some of the table of pairs.
FEW = [key for i, key in enumerate(ON_CPU) if i % 16 == 0 or (key.startswith("dg/incident") and i % 4 == 0)]


def parts_of(i):
    """Number of parts, and seed of a partition: every third is of ranges of the curve."""
    return NUMBERS[1 + i % 3], i if i % 3 else None


@pytest.mark.parametrize(
    ("i", "key"),
    [
        pytest.param(i, key, marks=[] if key in FEW else pytest.mark.slow, id=key)
        for i, key in enumerate(ON_CPU)
    ],
)
def test_parts_have_the_bits_of_one_device(i, key):
    """States, traces, rates, samples, energy and dt of all physics, shapes, fluxes, integrators, walls."""
    function, *arguments = team_cases.RUNS[key]
    one = function(*arguments)
    num, seed = parts_of(i)
    with in_parts(num, seed):
        assert differences(one, function(*arguments)) == []


def test_one_bit_is_seen():
    function, *arguments = team_cases.RUNS[FEW[0]]
    one, other = function(*arguments), function(*arguments)
    assert differences(one, other) == []
    state = other["parts"]["state"][0]
    state.flat[7] = np.nextafter(state.flat[7], 9)
    other["energy"] = np.nextafter(other["energy"], 9)
    assert differences(one, other) == ["energy", "state"]


# ---- any partition ----


def _box(shape="tet", cells=(3, 2, 2), periodic=False):
    return unda.box_mesh(
        (0, 0, 0), (1, 1, 1), cells, shape=shape, perturb=0.2, seed=3, periodic=(periodic,) * 3
    )


def _outcome(mesh, **options):
    """Steps from a random state, with a source and receivers at every vertex of a cell."""
    medium = bits_dg.medium_of("elastic", "varied", mesh.num_elem)
    sim = unda.DG(mesh, medium, degree=2, **{"device": "cpu", "dtype": "float32"} | options)
    sim.set(**bits_dg.state_of(sim))
    points = np.unique(mesh.vertices[mesh.cells[: mesh.num_elem // 2]].reshape(-1, 3), axis=0)
    sim.add_source(unda.PointForce((0.5, 0.5, 0.5), unda.ricker(2.0), (1, 2, 3)))
    rec = sim.add_receivers(points, ["vx", "curl_x"])
    sim.step(3)
    return bits_dg.outcome(sim, [rec], sample=list(sim.sample(points).values()))


_WHOLE = {}


@settings(max_examples=15, deadline=None)
@given(shape=st.sampled_from(["tet", "hex"]), num=st.integers(2, 7), seed=st.integers(0, 2**20))
def test_any_assignment_of_cells_has_the_same_bits(shape, num, seed):
    """Points at vertices, which many parts share, and sources there."""
    if shape not in _WHOLE:
        mesh = _box(shape, periodic=shape == "hex")
        _WHOLE[shape] = mesh, _outcome(mesh)
    mesh, one = _WHOLE[shape]
    partition = any_partition(mesh, num, seed)
    assert differences(one, _outcome(mesh, device=["cpu"] * num, partition=partition)) == []


def test_the_metric_of_a_part_is_that_of_the_whole_mesh():
    """A part whose cells and ghosts are parallelepipeds takes the maps that warped cells elsewhere need."""
    box = unda.box_mesh((0, 0, 0), (2, 1, 1), (6, 2, 2), shape="hex")
    x = box.vertices.copy()
    x[:, 1] += 0.1 * np.maximum(0, x[:, 0] - 1) * x[:, 2]
    mesh = unda.Mesh(x, box.cells)
    one = _outcome(mesh)
    part = unda.Partition(mesh, mesh.centroids[:, 0] > 2 / 3)
    flat = unda.Mesh(box.vertices, box.cells)
    medium = unda.Acoustic(rho=1.0, c=1.0)
    kinds = [
        unda.DG(of, medium, degree=2, device="cpu").config["kernel_options"]["metric"] for of in (flat, mesh)
    ]
    assert kinds[0] == "affine" != kinds[1]
    assert differences(one, _outcome(mesh, device=["cpu"] * 2, partition=part)) == []


def test_a_part_that_touches_no_other_runs_as_well():
    left, right = _box(), _box()
    vertices = np.concatenate([left.vertices, right.vertices + np.array((5.0, 0, 0))])
    mesh = unda.Mesh(vertices, np.concatenate([left.cells, right.cells + len(left.vertices)]))
    medium = unda.Acoustic(rho=1.0, c=1.0)
    found = []
    for options in (
        {"device": "cpu"},
        {"device": ["cpu"] * 2, "partition": unda.Partition(mesh, mesh.centroids[:, 0] > 3)},
    ):
        sim = unda.DG(mesh, medium, degree=2, **options)
        sim.set(**bits_dg.state_of(sim))
        sim.step(4)
        found.append(sim.get("p"))
    assert sim.team.members[0].bytes_per_stage == 0
    np.testing.assert_array_equal(*found)


# ---- what users ask ----


def _small(device, **options):
    mesh = _box()
    return unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device=device, **options)


def test_a_team_says_what_travels():
    """Bytes a stage are those of the partition's formula, and of no whole cells."""
    sim = _small(["cpu"] * 3)
    traffic = sim.team.partition.traffic(2)
    assert [one.bytes_per_stage for one in sim.team.members] == traffic.tolist()
    assert [one.cells for one in sim.team.members] == sim.team.partition.cells.tolist()
    assert f"3 parts, {traffic.sum()} bytes a stage by memory" in repr(sim)
    assert "6 nodes x 4 fields x 4 bytes = 96 bytes a stage" in repr(sim.team)
    warped = unda.DG(_box("hex", (3, 1, 1)), unda.Acoustic(rho=1.0, c=1.0), degree=2, device=["cpu"] * 3)
    assert "9 nodes x 4 fields x 4 bytes = 144 bytes a stage" in repr(warped.team)
    assert [one.bytes_per_stage for one in warped.team.members] == [144, 288, 144]
    assert _small("cpu").team is None
    assert sim.memory["host"] > 0


def test_element_dt_and_materials_are_of_the_whole_mesh():
    one, team = _small("cpu"), _small(["cpu"] * 3)
    np.testing.assert_array_equal(one.element_dt, team.element_dt)
    assert (one.dt, one.dt_stable) == (team.dt, team.dt_stable)


def test_errors_name_cells_of_the_whole_mesh():
    mesh = _box()
    rho = np.ones(mesh.num_elem)
    rho[41] = 1e300
    medium = unda.Acoustic(rho=rho, c=1.0)
    near = {41, *(mesh.neighbors[41] // 4).tolist()}  # it is in the coefficients of their faces
    for device in ("cpu", ["cpu"] * 4):
        with pytest.raises(ArgumentError, match="its coefficients reach") as caught:
            unda.DG(mesh, medium, degree=2, device=device)
        assert int(re.match(r"element (\d+):", str(caught.value)).group(1)) in near


@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_a_team_blows_up_where_one_device_does(integrator):
    """The same message, and the state of the last good step."""
    found = []
    for device in ("cpu", ["cpu"] * 3):
        sim = _small(device, dt=0.7, allow_unstable=True, integrator=integrator)
        sim.set(**bits_dg.state_of(sim))
        with pytest.raises(UnstableError) as caught:
            for _ in range(100):
                sim.step(5)
        found.append((str(caught.value), sim.step_count, sim.get("p").tobytes()))
    assert found[0] == found[1]


def test_a_checkpoint_goes_on_in_any_number_of_parts(tmp_path):
    def begin(device):
        sim = _small(device, integrator="ab3")
        sim.set(**bits_dg.state_of(sim))
        sim.add_source(unda.VolumeInjection((0.5, 0.5, 0.5), unda.ricker(2.0)))
        sim.add_receivers([(0.5, 0.5, 0.5), (0.2, 0.3, 0.4)])
        return sim

    one = begin("cpu")
    one.step(9)
    sim = begin("cpu")
    for i, device in enumerate((["cpu"] * 3, ["cpu"] * 2, None, "cpu")):
        sim.step((2, 3, 1, 2)[i])
        sim.save(tmp_path / f"{i}.h5")
        sim = unda.load(tmp_path / f"{i}.h5", device=device)
        assert (sim.team.partition.num if sim.team else 1) == (3, 2, 2, 1)[i]
    sim.step(1)
    for name in sim.fields:
        np.testing.assert_array_equal(one.get(name), sim.get(name))
        np.testing.assert_array_equal(one.receivers[0][name], sim.receivers[0][name])


def test_memory_is_forecast():
    mesh, medium = _box(), unda.Acoustic(rho=1.0, c=1.0)
    for options in ({"device": ["cpu"] * 3}, {"device": "cpu"}):
        found = unda.DG.forecast(mesh, medium, degree=2, **options)
        with unda.DG(mesh, medium, degree=2, **options) as sim:
            assert (found["host"], found["device"]) == (sim.memory["host"], 0)
    assert unda.DG.forecast(mesh, medium, degree=2, device=["cpu"] * 3)["part 2"] == 0


def test_one_device_in_a_list_is_that_device():
    assert _small(["cpu"]).team is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "cpu", "partition": "metis"}, "on one device"),
        ({"device": "cpu", "transport": "host"}, "on one device"),
        ({"device": ["cpu", "cuda:0"]}, "expected CUDA devices alone"),
        ({"device": ["cpu", 1]}, "expected a name, or a list of names"),
        ({"device": []}, "expected a name, or a list of names"),
        ({"device": ["cpu", "tpu"]}, "device is 'tpu'"),
        ({"device": ["cpu"] * 2, "partition": "best"}, "partition is 'best'"),
        ({"device": ["cpu"] * 2, "transport": "pigeon"}, "transport is 'pigeon'"),
        ({"device": ["cpu"] * 73}, "the mesh has 72 cells, expected one or more a device of 73"),
    ],
)
def test_what_no_team_can_be_is_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        _small(**options)


def test_a_partition_must_be_of_the_mesh_and_of_as_many_parts_as_devices():
    mesh = _box()
    medium = unda.Acoustic(rho=1.0, c=1.0)
    for partition, message in ((mesh.partition(3), "has 3 parts"), (_box().partition(2), "another mesh")):
        with pytest.raises(ArgumentError, match=message):
            unda.DG(mesh, medium, device=["cpu"] * 2, partition=partition)


def test_users_are_told_that_parts_on_the_cpu_do_not_pay(monkeypatch):
    monkeypatch.delenv("UNDA_CPU_PARTS")
    with pytest.raises(
        ArgumentError, match=r"parts of one process on the CPU take turns.*`mpirun --bind-to numa`"
    ):
        _small(["cpu:0", "cpu:1"])


def test_a_new_state_begins_the_samples_of_parts_anew():
    """Receivers that came after an odd step take every second one from the new beginning."""
    found = []
    for device in ("cpu", ["cpu"] * 3):
        sim = _small(device)
        sim.set(p=lambda x, y, z: np.sin(3 * x + y))
        sim.step(1)
        rec = sim.add_receivers([(0.5, 0.4, 0.3)], ["p"], every=2)
        sim.step(2)
        sim.set(p=lambda x, y, z: np.cos(3 * x + y))
        sim.step(5)
        assert len(rec.t) == 3
        found.append(rec["p"])
    np.testing.assert_array_equal(*found)
