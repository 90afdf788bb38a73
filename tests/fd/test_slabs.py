"""Promises about grids in slabs on the CPU: bits of one device, whatever their number.

The same on CUDA devices: test_slabs_cuda.py. Not here: meshes in parts (dg/test_team.py).
"""

import fd_cases
import numpy as np
import pytest
import slab_cases
import staggered_cases
import unda
from hypothesis import given, settings
from hypothesis import strategies as st
from slab_cases import in_slabs
from team_cases import differences
from unda.errors import ArgumentError, UnstableError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

NUMBERS = (2, 3, 5)
FEW = slab_cases.ON_CPU[::12]


@pytest.mark.parametrize(
    ("i", "key"),
    [
        pytest.param(i, key, marks=[] if key in FEW else pytest.mark.slow, id=key)
        for i, key in enumerate(slab_cases.ON_CPU)
    ],
)
def test_slabs_have_the_bits_of_one_device(i, key):
    """States, traces, samples, energy, dt: all schemes, orders, boundaries, layers, files."""
    function, *arguments = slab_cases.RUNS[key]
    one = function(*arguments)
    with in_slabs(NUMBERS[i % 3]):
        assert differences(one, function(*arguments)) == []


def test_many_of_these_runs_are_in_slabs():
    """A grid that has no room for two slabs proves nothing."""
    several = 0
    for key in FEW:
        function, *arguments = slab_cases.RUNS[key]
        with in_slabs(2) as made:
            function(*arguments)
        several += bool(made)
    assert several >= len(FEW) // 3


# ---- any grid, any number ----


def _outcome(sim, steps, points, sources):
    for source in sources:
        sim.add_source(source)
    rec = sim.add_receivers(points)
    sim.step(steps)
    parts = {name: [array] for name, array in staggered_cases.whole_state(sim).items()}
    parts["samples"] = [rec[name] for name in rec.fields]
    return {"dt": sim.dt, "energy": sim.energy(), "parts": parts}


@settings(max_examples=25, deadline=None)
@given(case=fd_cases.any_case(), long=st.integers(9, 60), num=st.integers(2, 7))
def test_any_grid_has_the_same_bits_in_any_number_of_slabs(case, long, num):
    case = case._replace(shape=(long, *case.shape[1:]))
    p, before = case.states()
    sources = [unda.VolumeInjection(place, unda.ricker(0.1, t0=0.0)) for place in case.points(3)]
    found = []
    with in_slabs(num):
        for make in (unda.FD, None):
            made = case.fd(dtype="float32") if make is None else _alone(case)
            made.set(p=p, p_previous=before)
            found.append(_outcome(made, 4, case.points(9), sources))
    assert differences(*found) == []


def _alone(case):
    medium = unda.Acoustic(rho=fd_cases.RHO, c=case.c)
    return unda.method.fd.FD(
        case.grid, medium, order=case.order, boundary=fd_cases.boundary(case.sides), dtype="float32",
        device="cpu", dt=case.dt,
    )  # fmt: skip


@pytest.mark.parametrize("physics", ["acoustic", "elastic", "maxwell"])
@pytest.mark.parametrize("x", ["layer", "wall", "periodic"])
def test_sources_and_receivers_on_every_plane_and_between_planes_have_the_same_bits(physics, x):
    """Their eight nodes along x lie in up to two slabs, and beyond a side."""
    rng = np.random.default_rng(3)
    grid = unda.Grid((26, 6, 7), (10.0, 12.0, 9.0))
    medium = staggered_cases.random_medium(physics, grid.shape, rng, fluid=False)
    wall = staggered_cases.WALLS[physics][-1]
    pair = {"layer": unda.CPML(2, f0=0.01), "wall": wall, "periodic": "periodic"}[x]
    sides = {"xmin": pair, "xmax": pair, "*": wall}
    points = np.array([(5.0 * i, 30.0, 25.0) for i in range(51)])
    sources = [
        staggered_cases.source_of(physics, points[i], unda.ricker(0.01, t0=0.0), (1, 2, 3))
        for i in (*range(2, 49, 3),)
    ]
    found = []
    for device in ("cpu", ["cpu"] * 2, ["cpu"] * 3, ["cpu"] * 4):
        sim = unda.FD(grid, medium, scheme="staggered", order=4, boundary=sides, device=device)
        found.append(_outcome(sim, 5, points, sources))
    for other in found[1:]:
        assert differences(found[0], other) == []


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_slabs_share_the_memory_of_layers_that_they_cut(scheme):
    """Of 24 planes of layers and 8 between: a cut in each layer, whose memory is read whole."""
    grid = unda.Grid((8, 5, 6), 10.0)
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    found = []
    for device in ("cpu", ["cpu"] * 4):
        sim = unda.FD(
            grid, medium, scheme=scheme, order=2, boundary={"*": unda.CPML(12, f0=20.0)}, device=device
        )
        sim.set(p=np.random.default_rng(1).standard_normal(grid.shape))
        found.append(_outcome(sim, 30, [(40.0, 20.0, 30.0)], []))
    assert differences(*found) == []


# ---- what users ask ----

GRID = unda.Grid((40, 6, 5), 10.0)
MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


def _small(device, **options):
    return unda.FD(GRID, MEDIUM, **{"device": device, "boundary": {"*": "free"}} | options)


@pytest.mark.parametrize(
    ("options", "planes"),
    [
        ({"order": 6}, 2 * 3),  # p: M planes either way
        ({"order": 6, "scheme": "staggered"}, 2 * (2 * 3 - 1)),  # p and vx: M one way, M - 1 the other
    ],
)
def test_slabs_say_what_travels(options, planes):
    """Bytes a step are nodes of a plane x planes that differences along x reach over a cut."""
    sim = _small(["cpu"] * 3, **options)
    sent = [one.bytes_per_step for one in sim.team.members]
    assert sum(sent) == 2 * planes * 6 * 5 * 4  # two cuts
    assert [one.planes for one in sim.team.members] == [13, 13, 14]
    assert [one.first for one in sim.team.members] == [0, 13, 26]
    assert f"3 slabs, {sum(sent)} bytes a step by memory" in repr(sim)
    assert f"{2 * planes} planes of 6 x 5 nodes x 4 bytes = {sum(sent)} bytes travel a step" in repr(sim.team)
    assert _small("cpu").team is None
    assert _small(["cpu"]).team is None


def test_memory_is_forecast_for_each_slab():
    options = {"order": 6, "boundary": {"*": "free"}}
    forecast = unda.FD.forecast(GRID, MEDIUM, device=["cpu"] * 3, **options)
    assert forecast.pop("host") == _small(["cpu"] * 3, order=6).memory["host"]
    assert forecast == {"device": 0, "part 0": 0, "part 1": 0, "part 2": 0}
    assert "part 0" not in unda.FD.forecast(GRID, MEDIUM, device="cpu", **options)


def test_a_periodic_grid_is_cut_twice_by_two_slabs():
    sim = _small(["cpu"] * 2, boundary={"*": "periodic"})
    assert [one.bytes_per_step for one in sim.team.members] == [2 * 2 * 6 * 5 * 4] * 2


def test_a_checkpoint_goes_on_in_any_number_of_slabs(tmp_path):
    def begin(device):
        sim = _small(device, boundary={"xmin": unda.CPML(5, f0=20.0), "*": "free"})
        sim.set(p=np.random.default_rng(1).standard_normal(GRID.shape))
        sim.add_source(unda.VolumeInjection((200.0, 25.0, 22.0), unda.ricker(20.0)))
        sim.add_receivers([(130.0, 25.0, 22.0), (265.0, 30.0, 21.0)])
        return sim

    one = begin("cpu")
    one.step(9)
    sim = begin("cpu")
    for i, device in enumerate((["cpu"] * 3, ["cpu"] * 2, None, "cpu")):
        sim.step((2, 3, 1, 2)[i])
        sim.save(tmp_path / f"{i}.h5")
        sim = unda.load(tmp_path / f"{i}.h5", device=device)
        assert (len(sim.team.devices) if sim.team else 1) == (3, 2, 2, 1)[i]
    sim.step(1)
    for name in ("p", "p_previous"):
        np.testing.assert_array_equal(one.get(name), sim.get(name))
    np.testing.assert_array_equal(one.receivers[0]["p"], sim.receivers[0]["p"])


def test_slabs_blow_up_where_one_device_does():
    found = []
    for device in ("cpu", ["cpu"] * 4):
        sim = _small(device, dt=0.1, allow_unstable=True)
        sim.set(p=np.random.default_rng(1).standard_normal(GRID.shape))
        with pytest.raises(UnstableError) as caught:
            sim.step(60)
        found.append((str(caught.value), caught.value.element, caught.value.field))
    assert found[0] == found[1]


def test_the_first_value_that_is_not_finite_is_found_in_any_slab():
    """A value in the last slab that overflows at once."""
    p = np.zeros(GRID.shape, np.float32)
    p[37, 3, 2] = 3e38
    found = []
    for device in ("cpu", ["cpu"] * 3):
        sim = _small(device)
        sim.set(p=p, p_previous=-p)
        with pytest.raises(UnstableError) as caught:
            sim.step(1)
        found.append(caught.value.element)
    assert found[0] == found[1] == (37 * 6 + 3) * 5 + 2


def test_new_materials_reach_all_slabs():
    """Means between nodes need the neighbour's, also where it is given anew between steps."""
    core, rng = unda._core, np.random.default_rng(5)
    material = np.stack([rng.uniform(1000, 2000, GRID.shape), rng.uniform(1000, 1500, GRID.shape)], axis=-1)
    found = []
    for device in ("cpu", ["cpu"] * 3):
        sim = _small(device, scheme="staggered")
        sim.set(p=np.random.default_rng(1).standard_normal(GRID.shape))
        sim.step(2)
        sim._solver.call(core.lib.unda_solver_set_material, 0, GRID.shape[0], core.pointer(material))
        sim.step(2)
        found.append((sim.get("vx"), sim.get("p")))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": ["cpu", "cuda:0"]}, "expected CUDA devices alone"),
        ({"device": ["cpu"] * 9}, "9 slabs of a grid of 40 planes along x, expected at least 6 planes each"),
        ({"device": ["cpu"] * 2, "kernel": "tiled"}, "kernel tiled takes several steps at once"),
        ({"device": ["cpu"] * 2, "tune": True}, "tune is True on several devices"),
        ({"device": []}, "expected a name, or a list of names"),
    ],
)
def test_what_no_slabs_can_be_is_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        _small(**options)


def test_users_are_told_that_slabs_on_the_cpu_do_not_pay(monkeypatch):
    monkeypatch.delenv("UNDA_CPU_PARTS")
    with pytest.raises(ArgumentError, match="parts of one process on the CPU take turns"):
        _small(["cpu:0", "cpu:1"])
