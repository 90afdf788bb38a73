"""FD(tune=True): measured once, remembered under what the choice depends on, never in the user's way.

The candidates differ in what is no define, so that nothing more is compiled. Not here: that all plans have
the same bits (test_fd_diamond.py, test_fd_kernels.py), tuning of DG (test_devices.py).
"""

import json
import logging
import os
import threading

import cuda_device
import numpy as np
import pytest
import unda
from unda.method import tune
from unda.method.solver import Solver

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()
SHAPE, MEDIUM = (19, 23, 21), unda.Acoustic(rho=1000.0, c=1500.0)
#: Of every test: small diamonds, or the stand-in's compiler needs long for the table's.
FIXED = {"dts": 2, "step": 1}


def make(*, shape=SHAPE, medium=MEDIUM, options=None, tune=True, **more):
    options = options or (None if "step" in more.get("kernel", "") or more.get("scheme") else FIXED)
    given = {"order": 2, "boundary": {"*": "rigid"}, "device": "cuda", "kernel_options": options, **more}
    return unda.FD(unda.Grid(shape, 10.0), medium, tune=tune, **given)


@pytest.fixture
def memory(monkeypatch, tmp_path):
    """Candidates that need no compilation, and a folder of one's own."""
    monkeypatch.setattr(tune, "_blocks", lambda plan: iter([{"planes": plan["planes"] // 2}]))
    monkeypatch.setattr(tune, "_diamonds", lambda plan, num_z: iter([{"levels": plan["levels"] // 2}]))
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: str(tmp_path / "cache"))
    return tmp_path / "cache" / "tuned.json"


@pytest.fixture
def timed(monkeypatch, memory):
    """Configurations that are timed, in their order; a time is levels or planes, that of diamond a tenth."""
    seen = []

    def seconds(sim):
        seen.append((sim.config["kernel"], sim.config["kernel_options"]))
        plan = sim.config["kernel_options"]
        return plan["levels"] / 10 if "levels" in plan else plan["planes"]

    monkeypatch.setattr(tune, "_step_seconds", seconds)
    return seen


# ---- what is chosen


def test_the_fastest_of_both_kernels_wins(timed):
    sim = make()
    assert sim.config["kernel"] == "diamond"
    assert sim.config["kernel_options"]["levels"] == 1, "512 was halved while that was faster"
    kernels = [kernel for kernel, _ in timed]
    assert kernels.count("diamond") == 10 and kernels.count("step") >= 3
    assert len({(kernel, *plan.items()) for kernel, plan in timed}) == len(timed), "each once"


def test_a_kernel_that_is_given_stays(timed):
    sim = make(kernel="step")
    assert sim.config["kernel"] == "step" and sim.config["kernel_options"]["planes"] == 1
    assert {kernel for kernel, _ in timed} == {"step"}


def test_the_table_wins_where_nothing_is_faster(memory, monkeypatch):
    table = make(tune=False, kernel="step").config["kernel_options"]
    monkeypatch.setattr(tune, "_step_seconds", lambda sim: 1.0)
    assert make(kernel="step").config["kernel_options"] == table


def test_what_is_fixed_stays(timed):
    fixed = {**FIXED, "levels": 12, "planes": 5}
    found = make(options=fixed, kernel="diamond").config["kernel_options"]
    assert {name: found[name] for name in fixed} == fixed
    assert all(plan[name] == value for _, plan in timed for name, value in fixed.items())


def test_only_step_is_timed_where_diamond_cannot_run(timed):
    sim = make(boundary={"*": "rigid", "xmin": "periodic", "xmax": "periodic"})
    assert sim.config["kernel"] == "step" and {kernel for kernel, _ in timed} == {"step"}


@pytest.mark.slow
def test_candidates_that_spill_or_do_not_fit_are_passed_over(timed, monkeypatch):
    monkeypatch.setattr(
        tune, "_diamonds", lambda plan, num_z: iter([{"dts": 40}, {"levels": plan["levels"] // 2}])
    )
    info = Solver.info

    def spilling(solver):
        found = info(solver)
        found.spill_bytes = 40 * (found.num_part > 4 and found.part[4].value == 128)
        return found

    monkeypatch.setattr(Solver, "info", spilling)
    sim = make(options={"step": 1, "zb": 32}, kernel="diamond", shape=(19, 23, 17))
    assert sim.config["kernel_options"]["levels"] == 256
    assert [plan["levels"] for _, plan in timed] == [512, 256], "40 is too wide, 128 spills"


def test_the_staggered_scheme_is_tuned_too(timed):
    sim = make(scheme="staggered", options=None)
    assert sim.config["kernel"] == "step" and len(timed) > 1
    assert sim.config["kernel_options"]["planes"] == min(plan["planes"] for _, plan in timed)


def test_faults_are_those_of_the_simulation(timed):
    for wrong, message in (
        ({"kernel": "tiled"}, "kernel is"),
        ({"kernel": "hexagon"}, "hexagon"),
        ({"options": {"towers": 3}}, "towers"),
        ({"options": {"dts": 1}, "kernel": "diamond"}, "dts is 1, expected 2..64"),
        ({"order": 10, "kernel": "diamond"}, "above 8"),
        ({"dt": 1.0, "kernel": "step"}, "above the stable limit"),
        ({"boundary": {"xmin": "rigid"}}, "boundary"),
    ):
        with pytest.raises(unda.ArgumentError, match=message):
            make(**wrong)
    with pytest.raises(unda.ArgumentError, match="tune is"):
        make(tune="yes")


@pytest.mark.parametrize("medium", [MEDIUM, unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + x)])
def test_the_bits_do_not_depend_on_the_choice(memory, medium):
    """Really timed; that the state is at rest and of another material meanwhile must not be seen."""
    rng = np.random.default_rng(3)
    p, before = rng.uniform(-1, 1, (2, *SHAPE))
    states = []
    for options in ({"tune": True, "kernel": "diamond"}, {"tune": False, "kernel": "step"}):
        levels = {**FIXED, "levels": 8} if options["tune"] else None
        sim = make(medium=medium, options=levels, **options)
        assert sim.step_count == 0 and not sim.get("p").any()
        sim.set(p=p, p_previous=before)
        sim.step(29)
        states.append((sim.get("p"), sim.get("p_previous")))
    assert states[0][0].any()
    np.testing.assert_array_equal(*states)


# ---- what is remembered


def test_a_choice_is_measured_once_and_printed(timed, memory, capsys):
    first = make()
    assert "tuned on" in capsys.readouterr().out
    assert list(json.loads(memory.read_text())), "in the folder of compiled kernels"
    assert [path.name for path in memory.parent.iterdir()] == ["tuned.json"]
    timed.clear()
    again = make()
    assert timed == [] and capsys.readouterr().out == ""
    for name in ("kernel", "kernel_options"):
        assert again.config[name] == first.config[name]


@pytest.mark.parametrize(
    "other",
    [
        {"shape": (19, 23, 22)},
        {"dtype": "float64"},
        {"order": 4},
        {"medium": unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + 0 * x)},
        {"boundary": {"*": unda.Damping(3)}},
        {"boundary": {"*": "rigid", "xmin": "periodic", "xmax": "periodic"}},
        {"options": {"planes": 5}},
        {"kernel": "auto"},
        {"scheme": "staggered", "options": None},
    ],
    ids=lambda other: " ".join(other),
)
def test_what_a_choice_depends_on_is_part_of_its_key(timed, memory, other):
    make(kernel="step")
    timed.clear()
    make(**{"kernel": "step", **other})
    assert timed
    assert len(json.loads(memory.read_text())) == 2, "the first is still there"


def test_device_driver_compiler_and_source_are_part_of_the_key(timed, memory, monkeypatch):
    make(kernel="step")
    info = tune.device_info("cuda")
    for name in ("device_name", "driver", "nvrtc"):
        timed.clear()
        with monkeypatch.context() as changed:
            changed.setattr(tune, "device_info", lambda device, name=name: {**info, name: "other"})
            make(kernel="step")
        assert timed, name
    monkeypatch.setattr(tune, "_source", lambda: "edited")
    timed.clear()
    make(kernel="step")
    assert timed


def test_what_the_choice_does_not_depend_on_is_not(timed):
    make(kernel="step")
    timed.clear()
    make(kernel="step", medium=unda.Acoustic(rho=1.0, c=3.0), cfl=0.5, boundary={"*": "free"})
    assert timed == []


def damaged(**entry):
    return lambda known: json.dumps({key: {**value, **entry} for key, value in known.items()})


@pytest.mark.parametrize(
    "damage",
    [
        lambda known: "",
        lambda known: "{",
        lambda known: "[1, 2]",
        lambda known: "\x00\xff",
        lambda known: "[" * 100_000,
        lambda known: json.dumps(dict.fromkeys(known, 3)),
        lambda known: json.dumps({key: {} for key in known}),
        damaged(kernel=7),
        damaged(kernel="fused"),
        damaged(kernel="diamond", kernel_options={"dts": 1}),
        damaged(kernel_options=[4, 5]),
        damaged(kernel_options={"planes": "five"}),
        damaged(kernel_options={"planes": 5.5}),
        damaged(kernel_options={"planes": -5}),
        damaged(kernel_options={"towers": 5}),
        damaged(kernel="diamond", kernel_options={**FIXED, "zb": 32}),
        damaged(kernel_options={"planes": 4, "dts": 3, "step": 1}),
    ],
)
def test_a_damaged_memory_is_none_and_is_repaired(timed, memory, damage):
    expected = make(kernel="step").config["kernel_options"]
    memory.write_bytes(damage(json.loads(memory.read_text())).encode("latin-1"))
    timed.clear()
    assert make(kernel="step").config["kernel_options"] == expected
    assert timed
    timed.clear()
    assert make(kernel="step").config["kernel_options"] == expected
    assert timed == []


def test_a_choice_that_is_remembered_is_taken(timed, memory):
    make(kernel="step")
    memory.write_text(damaged(kernel_options={"rows": 2, "planes": 7})(json.loads(memory.read_text())))
    found = make(kernel="step").config["kernel_options"]
    assert found == {"rows": 2, "planes": 7}


@pytest.mark.parametrize(("mode", "trusted"), [(0o755, True), (0o775, False), (0o757, False)])
def test_a_folder_that_others_may_write_to_is_left_alone(timed, memory, caplog, mode, trusted):
    make(kernel="step")
    memory.parent.chmod(mode)
    before = memory.read_bytes()
    timed.clear()
    for _ in range(2):
        make(kernel="step")
        make(kernel="step", medium=unda.Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + x))
    assert len(timed) == (3 if trusted else 12)  # three plans each
    assert (memory.read_bytes() == before) != trusted
    assert caplog.text.count("may be written to by others") == (not trusted)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_left_alone(timed, memory, caplog):
    make(kernel="step")
    os.chown(memory.parent, 12345, 12345)
    timed.clear()
    make(kernel="step")
    assert timed and "belongs to another user" in caplog.text


def test_a_fifo_in_place_of_the_file_is_no_memory_and_blocks_nobody(timed, memory, caplog):
    memory.parent.mkdir(mode=0o700)
    os.mkfifo(memory)
    made = threading.Thread(target=make, kwargs={"kernel": "step"}, daemon=True)
    made.start()
    made.join(timeout=600)  # it would wait for ever
    assert not made.is_alive() and timed
    assert "is there and no file" in caplog.text


def test_a_folder_that_cannot_be_written_only_warns(timed, monkeypatch, caplog):
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: "/dev/null/cache")
    with caplog.at_level(logging.WARNING, "unda"):
        assert make(kernel="step").config["kernel_options"]["planes"] == 1
    assert "/dev/null/cache/tuned.json cannot be written" in caplog.text


def test_without_a_cache_nothing_is_kept(timed, monkeypatch):
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: "")
    for _ in range(2):
        timed.clear()
        make(kernel="step")
        assert timed


def test_unda_cache_0_switches_this_off_too(monkeypatch, tmp_path):
    monkeypatch.setenv("UNDA_CACHE_DIR", str(tmp_path))
    assert tune._file() == tmp_path / "tuned.json"
    monkeypatch.setenv("UNDA_CACHE", "0")
    assert tune._file() is None


# ---- candidates


@pytest.mark.parametrize("num_z", [21, 224, 1153])
def test_neighbours_change_one_thing_and_leave_what_is_fixed(num_z):
    plan = {"dts": 3, "step": 2, "levels": 256, "fewest": 30, "zb": min(num_z, 231), "old": 2, "unroll": 2}
    plan |= {"chunk": 12, "variable": 2}
    near = list(tune._near(plan, {}, num_z))
    assert len(near) >= 10 and all(other != plan and set(other) == set(plan) for other in near[:-1])
    changed = {name for other in near for name in plan if other[name] != plan[name]}
    assert changed == set(plan) - {"fewest"}
    for other in near:
        assert min(other.values()) >= 1 and other["zb"] * -(-num_z // other["zb"]) >= num_z
        assert not (other["old"] == 2 and other["unroll"] == 1)
    for name in plan:
        assert all(other[name] == plan[name] for other in tune._near(plan, {name: plan[name]}, num_z))


def test_launches_do_not_grow_beyond_what_listens_to_ctrl_c():
    plan = {"dts": 2, "step": 1, "zb": 32, "old": 1, "unroll": 1, "chunk": 2}
    longest = {
        n: max(o["levels"] for o in tune._near({**plan, "levels": n}, {}, 32)) for n in (256, 512, 999)
    }
    assert longest == {256: 512, 512: 512, 999: 999}


# ---- elsewhere


def test_there_is_nothing_to_choose_on_the_cpu(caplog):
    with caplog.at_level(logging.INFO, "unda"):
        sim = make(device="cpu", kernel="tiled", options={"depth": 2})
    assert "nothing to choose" in caplog.text
    assert sim.config["kernel"] == "tiled" and sim.config["kernel_options"]["depth"] == 2


def test_a_forecast_does_not_measure(timed):
    grid = unda.Grid(SHAPE, 10.0)
    found = unda.FD.forecast(grid, MEDIUM, device="cuda", tune=True)
    assert found == unda.FD.forecast(grid, MEDIUM, device="cuda") and timed == []


def test_a_checkpoint_keeps_the_choice(timed, tmp_path):
    sim = make()
    sim.save(tmp_path / "run.h5")
    timed.clear()
    again = unda.load(tmp_path / "run.h5")
    assert timed == [] and again.config["kernel"] == sim.config["kernel"]
    assert again.config["kernel_options"] == sim.config["kernel_options"]
