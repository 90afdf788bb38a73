"""Many steps in one launch have the bits of kernel fused stage by stage, in every case, or are not taken.

Few cases on the stand-in driver, which runs blocks that look for each other's words by turns in random order;
all degrees and pairs of settings on a device. Not here: that kernel fused is right (test_cuda_engine.py).
"""

import ctypes
import gc
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cuda_device
import numpy as np
import pytest
import stand_in_driver
import unda
from monitor_cases import compare, monitored, samples
from pairwise import pairwise
from test_cuda_engine import SETTINGS, WALLS, mesh_for, random_medium, run, source_at
from unda.method import tune
from unda.method.speed import kernel_seconds

pytestmark = [
    pytest.mark.gpu_or_stand_in,
    pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"),  # the bits are the same, resolved or not
]
CUDA = Path(__file__).resolve().parents[2] / "cuda"
REST = {name: SETTINGS[name] for name in ("boundary", "flux", "integrator", "per")}
#: By default the first two; the third, every boundary and all the rest in the slow tier and on a device.
FEW = (
    {"physics": "acoustic", "degree": 3, "dtype": "float32", "boundary": "exact", "flux": "upwind",
     "integrator": "ab3", "per": "cell"},
    {"physics": "elastic", "degree": 1, "dtype": "float64", "boundary": "mirror", "flux": "central",
     "integrator": "lsrk4", "per": "node"},
    {"physics": "maxwell", "degree": 2, "dtype": "float32", "boundary": "periodic", "flux": "upwind",
     "integrator": "ab3", "per": "cell"},
)  # fmt: skip
ALL = pairwise({"physics": tuple(WALLS), "degree": tuple(range(1, 9)), "dtype": SETTINGS["dtype"]} | REST)


@pytest.fixture(autouse=True)
def together(monkeypatch):
    """The stand-in can run all blocks at once."""
    monkeypatch.setenv("UNDA_EMULATOR_TOGETHER", "1")


def name_of(case):
    return "-".join(str(value) for value in case.values())


def differ(case, steps, most):
    """Which of fields and traces have other bits if so many steps are one launch."""
    case = dict(case)
    physics, mesh = case.pop("physics"), mesh_for(case["boundary"])
    cases = (case | {"kernel": "fused", "kernel_options": {"resident": n}} for n in (1, most))
    one, many = (run("cuda", mesh, one, steps, physics, rates=False) for one in cases)
    assert all(np.isfinite(array).all() and np.abs(array).max() > 0 for array in one)
    return [not np.array_equal(a, b) for a, b in zip(one, many, strict=True)]


@pytest.mark.first(2)
@pytest.mark.parametrize("case", FEW, ids=name_of)
def test_many_steps_in_one_launch_have_the_bits_of_one_stage_a_launch(case):
    assert differ(case, 19, 7) == [False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_all_cases_have_the_bits_of_one_stage_a_launch(case):
    assert differ(case, 12, 5) == [False, False, False]


@pytest.mark.gpu
@pytest.mark.parametrize("case", ALL, ids=name_of)
def test_all_cases_have_the_bits_of_one_stage_a_launch_on_a_device(case):
    assert differ(case, 100, 23) == [False, False, False]


def sanitized(physics, integrator, incident):
    """States after steps of which five are a launch, and stage by stage; few blocks: a sanitizer is slow."""
    media = {"acoustic": unda.Acoustic(rho=1.0, c=1.0), "elastic": unda.Elastic(rho=1.0, vp=2.0, vs=1.0),
             "maxwell": unda.Maxwell(eps=1.0, mu=1.0, sigma=0.1)}  # fmt: skip
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 1, 2), perturb=0.2, seed=1)
    polarized = {"polarization": (1, -1, 0)} if physics != "acoustic" else {}
    states = []
    for most in (5, 1):
        sim = unda.DG(mesh, media[physics], degree=2, device="cuda", integrator=integrator, kernel="fused",
                      boundary={"xmin": WALLS[physics]["hard"], "*": "absorbing"},
                      kernel_options={"resident": most})  # fmt: skip
        assert sim.config["kernel_options"]["resident"] == most
        sim.add_source(source_at(physics, (0.31, 0.42, 0.27)))
        if incident:
            sim.add_source(unda.PlaneWave((1, 1, 2), f=unda.ricker(2.0), scatterer="xmin", **polarized))
        fields = [*sim.fields, *(["displacement"] if physics != "maxwell" else [])]
        rec = sim.add_receivers([(0.5, 1.1, 0.4), (0.2, 0.3, 0.4)], fields, every=3)
        found = [
            sim.add_monitor(fields[1], "max", every=2),
            sim.add_monitor("vx" if "vx" in fields else "hx", "rms", every=1, region=[1, 4]),
        ]
        sim.step(12)
        states.append([sim.get(name) for name in sim.fields] + [rec[name] for name in rec.fields])
        states[-1] += [one.values for one in found]
    return states


@pytest.mark.gpu
@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("physics", "integrator", "incident"),
    [("acoustic", "ab3", True), ("elastic", "lsrk4", False), ("maxwell", "ab3", False)],
)
def test_small_launches_of_many_steps_touch_only_what_is_their_own(physics, integrator, incident):
    """For compute-sanitizer: what a launch of many steps reads and writes.

    Its race check sees shared memory alone. Mailboxes are in global memory: that no letter is taken twice or
    overwritten before it is read is what the bits say, which are those of one stage a launch.
    """
    many, one = sanitized(physics, integrator, incident)
    assert all(np.array_equal(a, b) for a, b in zip(many, one, strict=True))


def simulation(**options):
    """Acoustic waves of degree 3 that a source makes, and a receiver that lies in several cells."""
    mesh = mesh_for("free")
    medium = random_medium("acoustic", mesh, 3, "cell", np.random.default_rng(0))
    sim = unda.DG(mesh, medium, degree=3, device="cuda", integrator="ab3", boundary={"*": "free"},
                  allow_unstable=True, **options)  # fmt: skip
    sim.add_source(source_at("acoustic", (0.31, 0.42, 0.27)))
    return sim, sim.add_receivers([(0.5, 1.1, 0.4), (0.2, 0.3, 0.4)], ["p", "vx"], every=3)


def test_a_run_in_calls_of_any_length_has_the_same_bits():
    results = []
    for most, calls in ((1, [40]), (16, [40]), (16, [1, 2, 20, 1, 16])):
        sim, rec = simulation(kernel_options={"resident": most})
        for n in calls:
            sim.step(n)
        results.append((rec["p"], rec["vx"], sim.get("p")))
    assert np.abs(results[0][0]).max() > 0
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_the_states_of_an_odd_number_of_cells_with_receivers_are_aligned():
    """35 nodes of 6 fields are no whole number of fours, which is what kernels store at once."""
    mesh = mesh_for("free")
    traces = []
    for most in (1, 8):
        sim = unda.DG(mesh, unda.Maxwell(eps=1.0, mu=1.0), degree=4, device="cuda", boundary={"*": "pec"},
                      kernel="fused", kernel_options={"resident": most})  # fmt: skip
        sim.set(ex=lambda x, y, z: np.sin(3 * y) * z)
        rec = sim.add_receivers([(0.21, 0.33, 0.41)], ["ex", "hz"])
        sim.step(6)
        traces.append((rec["ex"], rec["hz"]))
    assert np.abs(traces[0][1]).max() > 0
    assert np.array_equal(*traces)


@pytest.mark.parametrize(
    ("integrator", "dtype"), [("ab3", "float32"), pytest.param("lsrk4", "float64", marks=pytest.mark.slow)]
)
def test_monitors_have_the_samples_of_steps_within_a_launch(integrator, dtype):
    """All kinds, everywhere and in a region, of every second step and fourth, later of those between."""

    def made(most):
        sim = unda.DG(
            mesh_for("free"), unda.Acoustic(rho=1.0, c=1.0), degree=1, integrator=integrator, dtype=dtype,
            device="cuda", kernel="fused", kernel_options={"resident": most},
        )  # fmt: skip
        sim.add_source(source_at("acoustic", (0.31, 0.42, 0.27)))
        return sim

    sim, alone, stages = made(7), made(1), made(1)
    p, times = samples(alone, "p", 1, 31)
    monitors = {2: monitored(sim, "p", 2), 4: monitored(sim, "p", 4, ((0, 0, 0), (0.5, 1, 1)))}
    for num in (1, 9, 7):
        sim.step(num)
    assert "dg_resident" in kernel_seconds(sim, 1)
    stages.step(17)
    late = [
        [one.add_monitor("p", "rms", every=2), one.add_monitor("speed", "max", every=2)]
        for one in (sim, stages)
    ]
    for one in (sim, stages):
        one.step(13)
    cells = monitors[4]["max"].cells
    assert 0 < len(cells) < sim.mesh.num_elem
    for every, found in monitors.items():
        of = p[::every] if every == 2 else p[::every, cells]
        compare(found, of, times[::every], every * sim.dt)
        with pytest.raises(AssertionError):
            compare(found, of[:-1], times[:-every:every], every * sim.dt)
    for here, there in zip(*late, strict=True):
        assert np.array_equal(here.values, there.values) and np.ptp(here.values) > 0
    sim.clear_monitors()
    for one in (sim, alone):
        one.step(9)
    assert np.array_equal(sim.get("p"), alone.get("p"))


@pytest.mark.parametrize("integrator", ["ab3", "lsrk4"])
def test_integrals_over_time_have_the_same_bits_whatever_is_a_launch(integrator):
    results = []
    for most, calls in ((1, [23]), (7, [1, 9, 13])):
        sim = unda.DG(
            mesh_for("free"), unda.Acoustic(rho=1.0, c=1.0), degree=1, integrator=integrator,
            device="cuda", kernel="fused", kernel_options={"resident": most},
        )  # fmt: skip
        sim.add_source(source_at("acoustic", (0.31, 0.42, 0.27)))
        sim.step(3)  # of which ab3 knows nothing where receivers come
        rec = sim.add_receivers([(0.5, 1.1, 0.4), (0.2, 0.3, 0.4)], ["p", "uz", "ux"], every=2)
        for n in calls:
            sim.step(n)
        assert most == 1 or "dg_resident" in kernel_seconds(sim, 1)
        results.append(np.stack([rec[name] for name in rec.fields]))
    assert results[0].shape == (3, 2, 12) and (np.abs(results[0][:, :, -1]) > 0).all()
    assert np.array_equal(*results)


def test_print_says_whether_many_steps_are_one_launch(monkeypatch):
    sim, _ = simulation()
    assert "up to 256 steps a launch" in repr(sim) and sim.config["kernel_options"]["resident"] == 256
    sim, _ = simulation(kernel_options={"resident": 1})
    assert "a launch" not in repr(sim) and sim.config["kernel_options"]["resident"] == 1
    if not cuda_device.is_real():
        monkeypatch.setenv("UNDA_EMULATOR_TOGETHER", "0")
        sim, _ = simulation(kernel_options={"resident": 16})
        assert "a launch" not in repr(sim) and sim.config["kernel_options"]["resident"] == 1


@pytest.mark.parametrize("most", [1, 16])
@pytest.mark.skipif(cuda_device.is_real(), reason="the stand-in counts launches")
def test_sixteen_steps_are_two_launches_with_receivers(most):
    sim, _ = simulation(kernel_options={"resident": most})
    driver = ctypes.CDLL(os.environ["UNDA_LIBCUDA"])
    sim._stepping.advance(2)  # they start ab3
    before = driver.emu_num_launch()
    sim._stepping.advance(48)
    search = 1  # for what is not finite
    batches = 3  # each moves the clock at its end
    assert driver.emu_num_launch() - before == search + (2 * 48 + batches if most == 1 else 2 * 3)


@pytest.mark.skipif(cuda_device.is_real(), reason="only the stand-in has as much room as it is told")
def test_without_room_for_all_blocks_steps_go_stage_by_stage(monkeypatch, caplog):
    states = []
    for room, said in (("6", []), ("0", ["the device has room for 0 of 4 resident blocks"])):
        monkeypatch.setenv("UNDA_EMULATOR_RESIDENT", room)
        with caplog.at_level(logging.WARNING, logger="unda"):
            sim, _ = simulation(kernel_options={"resident": 16})
            sim.step(20)
        assert [record.getMessage().partition(":")[0] for record in caplog.records] == said
        states.append(sim.get("p"))
    assert np.array_equal(*states)


def held():
    """Bytes on the stand-in that simulations of other tests have."""
    gc.collect()  # simulations of earlier tests, which would go at any time
    driver, context = ctypes.CDLL(os.environ["UNDA_LIBCUDA"]), ctypes.c_void_p()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxPushCurrent_v2(context) == 0
    assert driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
    assert driver.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0
    return total.value - free.value


@pytest.mark.first(1)
@pytest.mark.skipif(cuda_device.is_real(), reason="only the stand-in has as much memory as it is told")
@pytest.mark.parametrize("asked", [None, {"resident": 256}])
def test_without_memory_for_mailboxes_steps_go_stage_by_stage_or_fail_and_work_later(
    asked, monkeypatch, caplog
):
    def made(options=asked):
        mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 1, 2))
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, device="cuda", kernel_options=options)
        sim.set(p=lambda x, y, z: x)
        return sim

    with made({"resident": 1}) as plain:
        taken = plain.memory["device"]
    with made() as whole:
        whole.step(40)
        expected = {name: whole.get(name) for name in whole.fields}
        mailboxes = 2 * 4 * 10 * 24 * 2 * 16  # of face nodes of 24 cells, two packets of 16 bytes each
        matrix = 20 * 4 * (3 * 5 + 4 * 3) * 4  # rows of as many numbers of 4 bytes
        assert whole.memory["device"] == taken + mailboxes + matrix
        assert whole.memory == unda.DG.forecast(whole.mesh, whole.medium, degree=3, device="cuda")
    monkeypatch.setenv("UNDA_EMULATOR_MEMORY", str(held() + taken + 9000))
    sim = made()
    if asked:
        with pytest.raises(unda.OutOfMemoryError, match="mailboxes"):
            sim.step(40)
        monkeypatch.delenv("UNDA_EMULATOR_MEMORY")
        sim.step(40)
    else:
        with caplog.at_level(logging.WARNING):
            sim.step(40)
        assert "no memory for launches of many steps: steps go stage by stage" in caplog.text
        assert sim.memory["device"] == taken
    for name in sim.fields:
        assert np.array_equal(sim.get(name), expected[name])


@pytest.mark.parametrize(
    "physics", ["acoustic", *(pytest.param(one, marks=pytest.mark.slow) for one in ("elastic", "maxwell"))]
)
def test_incident_waves_have_the_same_bits(physics):
    media = {"acoustic": unda.Acoustic(rho=1.0, c=1.0), "elastic": unda.Elastic(rho=1.0, vp=2.0, vs=1.0),
             "maxwell": unda.Maxwell(eps=1.0, mu=1.0)}  # fmt: skip
    polarized = {"polarization": (1, -1, 0)} if physics != "acoustic" else {}
    states = []
    for most in (1, 16):
        sim = unda.DG(mesh_for("free"), media[physics], degree=3, device="cuda", integrator="ab3",
                      boundary={"xmin": WALLS[physics]["hard"], "*": "absorbing"},
                      kernel_options={"resident": most})  # fmt: skip
        sim.add_source(source_at(physics, (0.31, 0.42, 0.27)))
        sim.step(20)
        sim.reset(sources=True)  # the kernel is compiled again, with waves
        sim.add_source(unda.PlaneWave((1, 1, 2), f=unda.ricker(2.0), scatterer="xmin", **polarized))
        sim.step(20)
        states.append(np.stack([sim.get(name) for name in sim.fields]))
    assert np.abs(states[0]).max() > 0
    assert np.array_equal(*states)


def test_a_profile_has_the_launch_of_many_steps_and_leaves_the_state_alone():
    sim, other = (simulation(kernel_options={"resident": 16})[0] for _ in range(2))
    sim._stepping.advance(20)
    before = sim.get("p")
    found = kernel_seconds(sim, 3)["dg_resident"]
    assert found["launches"] == 1 / 16 and 0 < found["seconds"] < 10
    assert np.array_equal(sim.get("p"), before)
    sim.step(20)
    other.step(40)
    assert np.array_equal(sim.get("p"), other.get("p"))
    sim, _ = simulation(kernel_options={"resident": 1})
    sim.step(20)
    assert "dg_resident" not in kernel_seconds(sim, 3)


@pytest.mark.slow
def test_a_tuner_measures_launches_of_many_steps_but_fixes_no_number(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: str(tmp_path))
    monkeypatch.setattr(tune, "_OTHERS", dict.fromkeys(tune._OTHERS, lambda n: ()))
    seen = []

    def seconds(sim, runs):
        seen.append(kernel_seconds(sim, 1))
        return seen[-1]

    monkeypatch.setattr(tune.speed, "kernel_seconds", seconds)
    sim = unda.DG(mesh_for("free"), unda.Acoustic(rho=1.0, c=1.0), degree=1, device="cuda", kernel="fused",
                  tune=True)  # fmt: skip
    assert "tuned on" in capsys.readouterr().out
    assert [one["dg_resident"]["launches"] for one in seen] == [1 / 64]
    assert sim.config["kernel_options"]["resident"] == 256
    assert "resident" not in (tmp_path / "tuned.json").read_text()


DEADLOCK = """
import unda
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1))
sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, device="cuda", kernel_options={"resident": 16})
try:
    sim.step(4)
except unda.DeviceLostError as error:
    assert "wait for each other" in str(error), error
else:
    raise AssertionError("nothing was missed")
"""


@pytest.mark.skipif(cuda_device.is_real(), reason="a device would wait for ever")
def test_a_block_that_waits_for_what_nobody_sends_is_an_error(tmp_path):
    """The negative twin of all the others: the stand-in sees it."""
    folder = tmp_path / "cuda"
    shutil.copytree(CUDA, folder)
    kernel = folder / "dg" / "resident.cu"
    whole = kernel.read_text()
    kernel.write_text(whole.replace("send(given, box[r], tag + 1, old[r].q);", ""))
    assert kernel.read_text() != whole
    environment = os.environ | stand_in_driver.build(cuda_device.BUILD)
    environment |= {"UNDA_KERNEL_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DEADLOCK], env=environment, timeout=60, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
