"""Kernel diamond on several devices has the bits of one, whatever the tile, the sides and the cuts.

On the stand-in streams run as early or as late as the waits between them allow: a missing one is seen. There
slabs have two devices in turn, and so take stage by stage, but where they have `different` ones.
Not here: kernel diamond on one device (test_fd_diamond.py), single steps of slabs (test_slabs_cuda.py).
"""

import ctypes
import os
import threading

import cuda_device
import pytest
import thread_ranks
import unda
from diamond_cases import make, run, same
from pairwise import pairwise

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()

#: Tiles of order, DTS, STEP.
SETTINGS = {
    "tile": ((2, 2, 1), (2, 3, 1), (4, 2, 2), (4, 3, 1), (6, 2, 3), (8, 2, 4)),
    "parts": (2, 3, 5),
    "more": (3, 10),
    "section": ((9, 11), (23, 8)),
    "dtype": ("float32", "float64"),
    "medium": ("uniform", "varying"),
    "low": ("matched", "free", "rigid", "layer"),
    "high": ("layer", "rigid", "free", "matched"),
    "levels": (4, 7, 0),
    "eager": (0, 1, 2),
}


def _shape(case):
    """As few planes as that many slabs can have, which begin at multiples of 2 DTS STEP, and some more."""
    order, dts, step = case["tile"]
    unit = 2 * dts * step
    return ((order + 2 + unit - 1) // unit * unit * case["parts"] + case["more"], *case["section"])


CASES = [
    {**case, "shape": _shape(case), "fewest": (1, 5)[i // 2 % 2]} for i, case in enumerate(pairwise(SETTINGS))
]
#: By default one that is quick to compile, with matched layers.
FEW = [
    next(
        case
        for case in CASES
        if case["tile"][0] == 2 and case["parts"] > 2 and "matched" in (case["low"], case["high"])
    )
]


@pytest.fixture
def different(monkeypatch):
    """Names of up to four devices; of two at least."""
    monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "4")
    num = unda.limits.num_devices()
    if num < 2:
        pytest.skip("one device has no other to wait for")
    return [f"cuda:{i}" for i in range(min(num, 4))]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if REAL or case in FEW else pytest.mark.slow) for case in CASES],
    ids=lambda case: "-".join(str(value) for value in list(case.values())[:-2]),
)
def test_slabs_have_the_bits_of_one_device(monkeypatch, devices, different, case):
    """With a source and a receiver at every plane; 3 and 9 steps: launches, or launches and single steps."""
    one = run(case, "step", across=True)
    assert one[0].any() and one[2].any(axis=-1).all()
    monkeypatch.setenv("UNDA_EMULATOR_EAGER", str(case["eager"]))
    for names in (devices, different)[: 1 + (case["parts"] <= len(different))]:
        assert same(run(case, "diamond", across=True, device=names[: case["parts"]]), one)


SMALL = {
    "tile": (2, 2, 1), "shape": (25, 9, 11), "dtype": "float32", "medium": "uniform", "low": "free",
    "high": "matched", "levels": 7, "fewest": 1,
}  # fmt: skip


@pytest.mark.skipif(REAL, reason="the stand-in runs its streams in an order of the test's choice")
def test_stages_wait_for_what_their_neighbours_send(monkeypatch, devices):
    """Streams of every other slab run as early as they may, the others late; then the other way round.

    Four slabs make eight streams, so that the second run's numbers are the first's modulo 4.
    """
    one = run(SMALL, "step", across=True, steps=(1, 7))
    for eager in ("3", "4"):
        monkeypatch.setenv("UNDA_EMULATOR_EAGER", eager)
        assert same(run(SMALL, "diamond", across=True, steps=(1, 7), device=devices[:4]), one)


#: Without matched layers: slabs on different devices take all stages together. Two blocks along z.
MEETING = {**SMALL, "shape": (25, 9, 72), "high": "layer"}
MEETING_TILE = {"dts": 2, "step": 1, "levels": 7, "fewest": 1, "zb": 40}


def _bits(device):
    return run(MEETING, "diamond", options=MEETING_TILE, across=True, device=device)


@pytest.mark.first(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_towers_follow_those_of_other_devices(monkeypatch, different, seed):
    monkeypatch.setenv("UNDA_EMULATOR_SEED", str(seed))
    assert same(_bits(different[: 1 + seed]), run(MEETING, "step", across=True))


#: What is set, and the devices: kernels on them do not wait for each other.
APART = [
    ("", [0, 1, 0]),
    ("UNDA_EMULATOR_PEER=0", [0, 1, 2]),
    ("UNDA_EMULATOR_MPS=1", [0, 1, 2]),
    ("CUDA_LAUNCH_BLOCKING=1", [0, 1, 2]),
]


def _set(monkeypatch, setting):
    if setting:
        monkeypatch.setenv(*setting.split("="))


@pytest.mark.slow  # the next counts their launches
@pytest.mark.parametrize(("setting", "chosen"), APART)
@pytest.mark.skipif(REAL, reason="only the stand-in is as it is told")
def test_devices_that_do_not_wait_for_each_other_have_the_same_bits(monkeypatch, different, setting, chosen):
    _set(monkeypatch, setting)
    assert same(_bits([different[i] for i in chosen]), run(MEETING, "step", across=True))


@pytest.mark.parametrize(
    ("setting", "chosen", "together"), [("", [0, 1, 2], True), *((*one, False) for one in APART)]
)
@pytest.mark.skipif(REAL, reason="the stand-in counts launches")
def test_kernels_wait_for_others_only_where_all_are_sure_to_run(
    monkeypatch, different, setting, chosen, together
):
    """On different devices that reach each other and are not shared; else stage by stage."""
    _set(monkeypatch, setting)
    sim, _ = make(MEETING, "diamond", options=MEETING_TILE, device=[different[i] for i in chosen])
    driver = ctypes.CDLL(os.environ["UNDA_LIBCUDA"])
    sim.step(7)
    before = driver.emu_num_launch()
    sim.step(7)
    stages = (sim.padded[1] - 1 + 2 + 7 + 1) // 2  # half of the order is 1, of a tile 2
    assert driver.emu_num_launch() - before == 3 * (1 + (1 if together else stages))


@pytest.mark.skipif(not REAL, reason="the stand-in runs what one thread waits for, and no other one queues")
def test_teams_on_the_same_devices_take_turns(different):
    """Each has a kernel on every device that waits for its others: two at a time would wait for ever."""
    one, found = run(MEETING, "step", across=True), {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: _bits(different[:2])}), daemon=True)
        for i in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert all(same(found[i], one) for i in range(3))


def test_a_wave_passes_the_cuts(devices):
    """From a source at one end, through slabs at rest, to the other end."""
    found = []
    for device in (devices[:3], "cuda"):
        sim = unda.FD(
            unda.Grid((25, 9, 11), 10.0), unda.Acoustic(rho=1000.0, c=1500.0), boundary={"*": "rigid"},
            order=2, device=device, kernel="diamond",
            kernel_options={"dts": 2, "step": 1, "levels": 7, "fewest": 1},
        )  # fmt: skip
        sim.add_source(unda.VolumeInjection((0.0, 40.0, 50.0), unda.ricker(20.0, t0=0.0)))
        ends = sim.add_receivers([(80.0, 30.0, 20.0), (240.0, 30.0, 20.0)])
        sim.step(14)
        assert ends["p"][0].any() and not ends["p"][1].any(), "a node a step at most"
        sim.step(26)
        assert ends["p"][1].any()
        found.append((ends["p"], sim.get("p")))
    assert same(*found)


def test_slabs_begin_where_towers_do(devices):
    """At multiples of 2 DTS STEP = 4 planes; each says what it sends."""
    options = {"dts": 2, "step": 1, "levels": 8, "fewest": 2}
    sim, _ = make({**SMALL, "high": "rigid"}, "diamond", options=options, device=devices[:3])
    assert sim.config["kernel"] == "diamond"
    assert [one.first for one in sim.team.members] == [0, 8, 16]
    assert [one.planes for one in sim.team.members] == [8, 8, 9]
    # before a launch M + H planes up, M down; then M + H - STEP planes a stage, up and down in turn.
    # Stage s passes rows [7 - H s, 18 - H s) of y.
    rows = [2, 4, 6, 8, 9, 8, 6, 4, 2]
    up, down = 3 * 9 + 2 * sum(rows[::2]), 1 * 9 + 2 * sum(rows[1::2])
    level = 11 * 4
    assert [one.bytes_per_step for one in sim.team.members] == [
        2 * up * level // 8, 2 * (up + down) * level // 8, 2 * down * level // 8,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"shape": (19, 9, 11), "low": "rigid", "high": "free"},
            "3 slabs of a grid of 19 planes along x, in units of 12",
        ),
        ({"tile": (10, 5, 1), "shape": (71, 9, 23)}, "the order is above 8"),
    ],
)
def test_what_cannot_be_cut_is_refused(devices, given, message):
    options = {} if "tile" in given else {"dts": 6, "step": 1}
    with pytest.raises(unda.ArgumentError, match=message):
        make({**SMALL, **given}, "diamond", options=options, device=devices[:3])


def _processes(devices, case, num):
    """What process 0 has, and the others of it: traces."""
    found = thread_ranks.run(
        num,
        lambda ranks: run(
            case, "diamond", across=True, device=devices[ranks.rank], comm=ranks, transport="host"
        ),
    )
    assert all(one[:2] == (None, None) and same(one[2:], found[0][2:]) for one in found[1:])
    return found[0]


@pytest.mark.parametrize(
    "case",
    [{**SMALL, "medium": "varying"}, *(pytest.param(case, marks=pytest.mark.slow) for case in CASES[::3])],
    ids=lambda case: "-".join(map(str, case["tile"])),
)
def test_processes_have_the_bits_of_one_device(monkeypatch, devices, case):
    """By way of the host, each copy as late as it may; the middle one of three sends to both sides."""
    num = case.get("parts", 3)
    one = run(case, "step", across=True)
    monkeypatch.setenv("UNDA_EMULATOR_EAGER", str(case.get("eager", 1)))
    assert same(_processes(devices, case, num), one)
