"""Promises about `transport="auto"` between devices of a process: through the host only where that is hidden.

The rule is one of numbers (csrc/solver/hidden.h); devices are those of the stand-in, whose memory, links and
caches are as fast and large as a test wants. Bits by either way: tests/dg/test_team_cuda.py.
"""

import ctypes
import json
import re
import subprocess
from pathlib import Path

import cuda_device
import pytest
import unda
from unda.commands.scaling_case import CASES, problem, simulation

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

REAL = cuda_device.prepare()
ROOT = Path(__file__).resolve().parents[2]

# ---- the rule

CODE = """
#include "solver/hidden.h"
#define GIVEN int32_t neighbors, int32_t devices, int64_t bytes, int64_t inner, double speed, int64_t l2, \\
    double latency, double bandwidth
#define PART &(struct hidden_part){neighbors, devices, bytes, inner}
#define DEVICE &(struct hidden_device){speed, l2}
#define LINK &(struct hidden_link){latency, bandwidth}
double chain(GIVEN) { return (void)inner, (void)speed, (void)l2, hidden_chain(PART, LINK); }
double inside(GIVEN) { return (void)latency, (void)bandwidth, hidden_inside(PART, DEVICE); }
int sure(GIVEN) { return hidden_is_sure(PART, DEVICE, LINK); }
"""
NUMBERS = {
    "neighbors": ctypes.c_int32, "devices": ctypes.c_int32, "bytes": ctypes.c_int64, "inner": ctypes.c_int64,
    "speed": ctypes.c_double, "l2": ctypes.c_int64, "latency": ctypes.c_double, "bandwidth": ctypes.c_double,
}  # fmt: skip
#: 25 us of latency and 100 us of the message, behind cells of at least 300 us.
GIVEN = {
    "neighbors": 1, "devices": 2, "bytes": 10**6, "inner": 320_000_000, "speed": 1e12, "l2": 10**7,
    "latency": 1e-5, "bandwidth": 1e10,
}  # fmt: skip


@pytest.fixture(scope="module")
def rule(tmp_path_factory):
    """The functions of the rule, of keywords that change GIVEN."""
    folder = tmp_path_factory.mktemp("rule")
    (folder / "rule.c").write_text(CODE)
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'csrc'}"]
    subprocess.run(["gcc", *flags, folder / "rule.c", "-o", folder / "rule.so"], check=True)
    library = ctypes.CDLL(str(folder / "rule.so"))

    def function(name, result):
        called = getattr(library, name)
        called.argtypes, called.restype = tuple(NUMBERS.values()), result
        return lambda **other: called(*(GIVEN | other).values())

    return {
        "chain": function("chain", ctypes.c_double), "inside": function("inside", ctypes.c_double),
        "sure": function("sure", ctypes.c_int),
    }  # fmt: skip


def test_the_chain_is_half_a_latency_for_each_operation_and_the_message(rule):
    assert rule["chain"]() == pytest.approx(2.5e-5 + 1e-4)
    assert rule["chain"](neighbors=3) == pytest.approx(4.5e-5 + 1e-4)  # packs, and fetches, three
    assert rule["chain"](devices=8) == pytest.approx(2.5e-5 + 4e-4)  # which share the host's memory


def test_inner_cells_take_what_memory_takes_beyond_the_cache(rule):
    assert rule["inside"]() == pytest.approx(3e-4)
    assert rule["inside"](l2=0) == pytest.approx(3.2e-4)


def test_the_host_is_taken_where_the_chain_fits_into_half_of_the_inner_cells(rule):
    assert rule["sure"](inner=270_100_000) and not rule["sure"](inner=269_900_000)  # 250 us


@pytest.mark.parametrize("other", [{"inner": 19_999_999}, {"inner": 0}, {"speed": 0.0}])
def test_nothing_is_sure_in_the_cache_or_of_memory_that_nobody_knows(rule, other):
    assert not rule["sure"](**other, bytes=0, latency=0.0)
    assert rule["sure"](bytes=0, latency=0.0)


#: An H200: two words of 6,144 bits a clock of 3,201 MHz, 60 MiB; its link by way of the host.
H200 = {"speed": 2 * 3.201e9 * 6144 / 8, "l2": 60 << 20}
LINE = re.compile(
    r"^\| (\d+) M \| (\w+) \| (strong|weak) \| ([\d.]+) \| (\d+) \| (\d+) \| (host|peer) "
    r"\| ([\d.]+) \| ([\d.]+|-) \|",
    re.M,
)


def results(name):
    """What a file of benchmarks/results has."""
    return json.loads((ROOT / f"benchmarks/results/h200_scaling_{name}.json").read_text())


def bytes_of(case):
    """What a stage moves of an element, no less; of the cases in NOTES, whose tables depend on no size."""
    sim = simulation(
        CASES[case],
        problem(CASES[case], 20_000),
        {"dtype": "float32", "integrator": "ab3", "physics": "acoustic"},
        "cpu",
    )
    return int(sim._solver.info().bytes_per_elem)


def test_the_table_of_the_notes_is_what_the_rule_makes_of_measured_rows(rule):
    """Of sizes, messages and the link as measured; both ways' efficiencies are those of the results."""
    table = LINE.findall((ROOT / "benchmarks/NOTES.md").read_text())
    link = results("host_16M")["link"]
    moved = {case: bytes_of(case) for case in ("tet3", "tet7", "hex7")}
    rows = {
        (name, row["case"], row["split"]): row
        for name in ("4M", "16M", "64M", "host", "host_16M")
        for row in results(name)["rows"]
        if row["split"] in ("strong", "weak") and row["case"] in moved
    }
    assert len(table) == sum(name in ("4M", "16M", "64M") for name, *_ in rows) == 18
    for size, case, split, megabytes, chain, half, way, by_peer, by_host in table:
        row = rows[f"{size}M", case, split]
        other = rows.get(({"4": "host", "16": "host_16M"}.get(size, ""), case, split))
        inner = int(moved[case] * row["num_elem"] / 2 * (1 - row["border"]))
        given = {**H200, "inner": inner, "bytes": row["most_bytes"]}
        given |= {"latency": link["latency"], "bandwidth": link["bandwidth"]}
        assert f"{row['most_bytes'] / 1e6:.2f}" == megabytes
        assert f"{1e6 * rule['chain'](**given):.0f}" == chain
        assert f"{1e6 * rule['inside'](**given) / 2:.0f}" == half
        assert ("host" if rule["sure"](**given) else "peer") == way
        assert f"{row['efficiency']:.1f}" == by_peer
        assert (f"{other['efficiency']:.1f}" if other else "-") == by_host


# ---- devices

MEDIUM = unda.Acoustic(rho=1.0, c=1.0)
#: Memory so slow that inner cells take seconds; no cache.
SLOW_MEMORY = {"BANDWIDTH": "1", "L2": "0"}
#: Half an hour for each copy over the link.
SLOW_LINK = {"COPY": "2000000"}


@pytest.fixture
def stand_in(monkeypatch):
    """Set what the stand-in's three devices are like. A link is measured once a process and pair."""
    if REAL:
        pytest.skip("the stand-in alone has devices as a test wants them")

    def like(**settings):
        for name, value in ({"DEVICES": "3"} | settings).items():
            monkeypatch.setenv(f"UNDA_EMULATOR_{name}", value)

    return like


def made(device, method="DG", **options):
    shape = "tet" if method == "DG" else "hex"
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (4, 2, 2) if method == "DG" else (12, 2, 2), shape=shape)
    options |= {"kernel": "fused", "degree": 1} if method == "DG" else {"degree": 2}
    sim = getattr(unda, method)(mesh, MEDIUM, device=device, **options)
    forecast = getattr(unda, method).forecast(mesh, MEDIUM, device=device, **options)
    assert {name: forecast[name] for name in ("host", "device")} == sim.memory
    return sim


#: Pairs whose links are found fast, slow, and not measured by whoever needs that.
FAST, SLOW, OTHER = ["cuda:0", "cuda:1"], ["cuda:1", "cuda:2"], ["cuda:0", "cuda:2"]


@pytest.mark.parametrize("method", ["DG", "SEM"])
def test_auto_takes_the_host_where_its_way_is_hidden(stand_in, method):
    """And says so; a forecast knows of the memory that this takes."""
    stand_in(**SLOW_MEMORY)
    sim, stores = made(FAST, method), made(FAST, method, transport="peer")
    assert (sim.team.transport, stores.team.transport) == ("host", "peer")
    assert "by host" in repr(sim) and "by host" in repr(sim.team) and "by peer" in repr(stores)
    assert sim.memory["host"] > stores.memory["host"] and sim.memory["device"] > stores.memory["device"]


def test_auto_takes_stores_where_the_way_through_the_host_is_not_hidden(stand_in):
    stand_in(**SLOW_MEMORY, **SLOW_LINK)
    assert made(SLOW).team.transport == "peer"
    assert made(SLOW, transport="host").team.transport == "host"


def test_a_link_is_measured_once(stand_in):
    stand_in(**SLOW_MEMORY)
    assert made(FAST).team.transport == "host"
    stand_in(**SLOW_LINK)
    assert made(FAST).team.transport == "host"


def test_what_is_clear_is_not_measured(stand_in):
    """Else the link would be known as a slow one from then on."""
    clear = [
        ({"BANDWIDTH": "1", "L2": str(1 << 20)}, OTHER, "auto", "peer"),  # a cache that has all
        (
            {"BANDWIDTH": "0", "L2": "0"},
            OTHER,
            "auto",
            "peer",
        ),  # a driver that does not know the speed of memory
        ({"BANDWIDTH": str(10**9), "L2": "0"}, OTHER, "auto", "peer"),  # as fast as none is: no link would do
        (SLOW_MEMORY, [*OTHER, "cuda:0"], "auto", "peer"),
        (SLOW_MEMORY, OTHER, "peer", "peer"),
        (SLOW_MEMORY, OTHER, "host", "host"),
        (SLOW_MEMORY | {"PEER": "0"}, OTHER, "auto", "host"),
    ]
    for settings, device, transport, way in clear:
        stand_in(**settings, **SLOW_LINK)
        assert made(device, transport=transport).team.transport == way
    stand_in(**SLOW_MEMORY, COPY="0", PEER="1")
    assert made(OTHER).team.transport == "host"


@pytest.mark.parametrize(
    ("method", "pair"),
    [("DG", ["cuda:0", "cuda:3"]), pytest.param("SEM", ["cuda:0", "cuda:4"], marks=pytest.mark.slow)],
)
def test_the_bound_is_what_inner_cells_move(stand_in, method, pair):
    """Each of a round's four copies takes 1 ms, all else no time; memory is just slow enough, or not."""
    cache = 100
    like = {"DEVICES": "5", "CLOCK": "1", "COPY": "1", "L2": str(cache)}
    stand_in(**like)
    sim = made(pair, method)
    moved = int(sim._solver.info().bytes_per_elem)
    if (
        method == "SEM"
    ):  # of the seven nodes of a cell that are on faces the displacement alone, of four numbers
        moved -= 4 * 7 * 3
    inner = min((one.cells - one.border) * moved for one in sim.team.members)
    bandwidth = (4 << 20) / 4e-3
    chain = 2.5 * 4e-3 + max(one.bytes_per_stage for one in sim.team.members) / bandwidth
    speed = (inner - 2 * cache) / (2 * chain)
    for factor, way in ((0.95, "host"), (1.05, "peer")):
        stand_in(**like, BANDWIDTH=f"{factor * speed / 1000:.0f}")
        assert made(pair, method).team.transport == way


def test_a_forecast_for_devices_that_are_not_here_is_of_stores(stand_in):
    stand_in(**SLOW_MEMORY, DEVICES="1")
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    found = [
        unda.DG.forecast(mesh, MEDIUM, degree=1, device=FAST, transport=way)
        for way in ("auto", "peer", "host")
    ]
    assert found[0] == found[1] != found[2]
