"""A full device is survived; a lost one fails at once, everywhere, with its first cause; the CPU goes on.

Each scenario has a process of its own with the stand-in driver, which can be told what to do wrong.
"""

import os
import subprocess
import sys
import textwrap

import cuda_device
import pytest
import stand_in_driver

pytestmark = [
    pytest.mark.gpu_or_stand_in,
    pytest.mark.skipif(cuda_device.is_real(), reason="only the stand-in driver fails when it is asked to"),
]

COMMON = """
import gc, re
import numpy as np
import unda

MEDIUM = unda.Acoustic(rho=1.0, c=1.0)

def simulation(n=1, device="cuda", **options):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n))
    sim = unda.DG(mesh, MEDIUM, degree=2, device=device, dtype="float64", **options)
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)], ["p"])

def raised(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")

def close_to_the_cpu(rec, tolerance=1e-12):
    sim, other = simulation(device="cpu")
    sim.step(rec.num_sample - 1)
    scale = np.abs(other["p"]).max()
    assert scale > 0
    return np.abs(rec["p"] - other["p"]).max() < tolerance * scale
"""


def process(code, **environment):
    """Run a scenario in a new process on the stand-in; it fails by an exception, and may not hang."""
    environment = {
        **os.environ,
        **stand_in_driver.build(cuda_device.BUILD),
        "UNDA_DEVICE": "",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONWARNINGS": "ignore",  # of the accuracy of a run that only has to end
        **environment,
    }
    command = [sys.executable, "-c", COMMON + textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, timeout=600, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "neither the library nor a destructor prints"


def test_out_of_device_memory_says_what_is_needed_free_and_alive_and_is_survived():
    process(
        """
        small, rec = simulation()
        closed, _ = simulation()
        closed.close()
        text = raised(unda.OutOfMemoryError, lambda: simulation(12))
        needed, free = map(int, re.search(r"needs (\\d+) bytes, (\\d+) of 2000000 are free", text).groups())
        assert 0 < free <= 2000000 - small.memory["device"] and needed > free
        assert f"{needed / 1e9:.3g} GB on the device" in text
        listed = text[text.index("living simulations:"):].splitlines()[1:]
        assert [line.strip() for line in listed] == [repr(small)]
        small.step(20)
        assert close_to_the_cpu(rec)
        again, rec = simulation()
        again.step(20)
        assert close_to_the_cpu(rec)
        """,
        UNDA_EMULATOR_MEMORY="2000000",
    )


def test_memory_that_is_enough_is_no_error():
    process("simulation(8)", UNDA_EMULATOR_MEMORY="200000000")


def test_a_monitor_keeps_fewer_levels_where_there_is_no_room_with_the_same_bits():
    """15 levels take at most half of what is free, where 18 have room 8, and leave some to a second monitor.

    Where there is room for none, a monitor is refused.
    """
    process(
        """
        import os
        grid = unda.Grid((16, 16, 32), 1.0)
        shares = []
        for share in (2.0, 1.2, 0.02):
            os.environ["UNDA_EMULATOR_MEMORY"] = "100000000"
            sim = unda.FD(grid, MEDIUM, scheme="staggered", device="cuda")
            sim.add_source(unda.VolumeInjection((7.0, 8.0, 14.0), unda.ricker(0.1)))
            if share == 2.0:
                full = unda.FD.forecast(grid, MEDIUM, scheme="staggered", device="cuda",
                                        monitors=[{"kind": "rms"}])["device"] - sim.memory["device"]
            os.environ["UNDA_EMULATOR_MEMORY"] = str(int(sim.memory["device"] + share * full))
            if share < 0.1:
                raised(unda.OutOfMemoryError, lambda: sim.add_monitor("p", "rms", every=1))
                continue
            monitor, other = (sim.add_monitor("p", "rms", every=1) for _ in range(2))
            sim.step(20)
            np.testing.assert_array_equal(monitor.values, other.values)
            shares.append((monitor.bytes, other.bytes, monitor.values))
            sim.close()
        (most, _, all_levels), (fewer, least, half) = shares
        assert most == full and 0.5 * most < fewer < 0.6 * most and least < fewer
        assert all_levels.max() > 0
        np.testing.assert_array_equal(all_levels, half)
        """,
    )


def test_a_refused_simulation_leaves_no_memory_behind():
    process(
        """
        from unda import _core

        def free():
            info = _core.new_struct("unda_device_info")
            _core.check(_core.lib.unda_device_get_info(0, info))
            return info.free_bytes

        sim, _ = simulation()
        before = free()
        for _ in range(3):
            raised(unda.OutOfMemoryError, lambda: simulation(8))
        assert free() == before > 0
        sim.close()
        assert free() > before
        """,
        UNDA_EMULATOR_MEMORY="2000000",
    )


def test_samples_that_do_not_fit_are_refused_and_fewer_steps_run():
    process(
        """
        sim, rec = simulation()
        sim.add_receivers(np.random.default_rng(0).uniform(0.1, 0.9, (200, 3)))
        text = raised(unda.OutOfMemoryError, lambda: sim._stepping.advance(5000))
        assert "bytes" in text
        assert sim.step_count == 0
        sim.step(20)
        assert sim.step_count == 20 and close_to_the_cpu(rec)
        """,
        UNDA_EMULATOR_MEMORY="2000000",
    )


LOST = """
first, rec = simulation()
second, _ = simulation(integrator="ab3", kernel="node")
host, host_rec = simulation(device="cpu")
host.step(5)
first.step(2)
held, texts = rec.num_sample, []

def until_it_is_lost():
    while True:
        first.step(CHUNK)

texts.append(raised(unda.DeviceLostError, until_it_is_lost))
assert "asked for by UNDA_EMULATOR_FAIL_LAUNCH" in texts[0] and "restart the process" in texts[0]
calls = [
    lambda: first.step(),
    lambda: first.run(steps=30),
    lambda: first.get("p"),
    lambda: first.set(p=1.0),
    lambda: first.energy(),
    lambda: first.rhs(),
    lambda: first.sample([(0.5, 0.5, 0.5)]),
    lambda: first.add_receivers([(0.5, 0.5, 0.5)]),
    lambda: first.profile(),
    lambda: first.save("/tmp/never.h5"),
    lambda: first.reset(),
    lambda: second.step(20),
    lambda: second.get("p"),
    lambda: simulation(),
    lambda: simulation(device="auto"),
    lambda: unda.device_limits("cuda"),
]
for call in calls:
    text = raised(unda.DeviceLostError, call)
    assert "was lost earlier" in text and "UNDA_EMULATOR_FAIL_LAUNCH" in text, text
    assert "restart the process" in text
assert rec.num_sample >= held and close_to_the_cpu(rec)
assert "DG(" in repr(first) and first.t >= 0

host.step(5)
assert close_to_the_cpu(host_rec, 1e-15)
fresh, fresh_rec = simulation(device="cpu")
fresh.step(10)
assert np.array_equal(host_rec["p"], fresh_rec["p"])

first.close()
assert raised(unda.ArgumentError, first.step)
del second, calls
gc.collect()
"""


@pytest.mark.each_value
@pytest.mark.parametrize("chunk", [1, 20])
@pytest.mark.parametrize("launch", [50, 133, 201])
def test_a_lost_device_fails_at_once_everywhere_and_the_cpu_goes_on(launch, chunk):
    process(LOST.replace("CHUNK", str(chunk)), UNDA_EMULATOR_FAIL_LAUNCH=str(launch))


def test_a_device_lost_while_a_simulation_is_made_is_reported_there():
    process(
        """
        text = raised(unda.DeviceLostError, lambda: simulation()[0].set(p=1.0))
        assert "UNDA_EMULATOR_FAIL_LAUNCH" in text and "restart the process" in text
        assert "was lost earlier" in raised(unda.DeviceLostError, simulation)
        simulation(device="cpu")[0].step(2)
        """,
        UNDA_EMULATOR_FAIL_LAUNCH="1",
    )


def test_what_was_not_closed_does_not_hang_at_exit():
    process(
        """
        sim, rec = simulation()
        raised(unda.DeviceLostError, lambda: sim.step(200))
        """,
        UNDA_EMULATOR_FAIL_LAUNCH="60",
    )


SPECTRAL = """
def spectral(n=1, device="cuda"):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n + 1), shape="hex")
    medium = unda.Elastic(rho=1.0, vp=2.0, vs=np.where(mesh.centroids[:, 2] > 0.5, 0.0, 1.0))
    sim = unda.SEM(mesh, medium, degree=2, device=device, dtype="float64")
    sim.add_source(unda.PointForce((0.31, 0.42, 0.27), unda.ricker(2.0), (1, 2, 3)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)], ["vx"])

def as_on_the_cpu(rec):
    sim, other = spectral(device="cpu")
    sim.step(rec.num_sample - 1)
    return np.abs(rec["vx"] - other["vx"]).max() < 1e-11 * np.abs(other["vx"]).max()
"""


def test_spectral_elements_survive_a_full_device():
    """What is refused leaves nothing behind; a run whose samples do not fit is refused before it begins."""
    process(
        SPECTRAL
        + r"""
sim, rec = spectral()
free = []
for _ in range(2):
    text = raised(unda.OutOfMemoryError, lambda: spectral(10))
    found = re.search(r"needs (\d+) bytes, (\d+) of 2000000 are free", text)
    assert int(found[1]) > int(found[2]) > 0
    free.append(found[2])
assert free[0] == free[1]
sim.add_receivers(np.random.default_rng(0).uniform(0.1, 0.4, (200, 3)))
raised(unda.OutOfMemoryError, lambda: sim._stepping.advance(5000))
assert sim.step_count == 0
sim.step(20)
assert sim.step_count == 20 and as_on_the_cpu(rec)
""",
        UNDA_EMULATOR_MEMORY="2000000",
    )


@pytest.mark.each_value
@pytest.mark.parametrize("chunk", [1, 20])
@pytest.mark.parametrize("launch", [600, 701])
def test_spectral_elements_fail_at_once_on_a_lost_device(launch, chunk):
    process(
        SPECTRAL
        + f"""
sim, rec = spectral()
sim.step(2)
held = rec.num_sample

def until_it_is_lost():
    while True:
        sim.step({chunk})

assert "UNDA_EMULATOR_FAIL_LAUNCH" in raised(unda.DeviceLostError, until_it_is_lost)
calls = [
    lambda: sim.step(),
    lambda: sim.run(steps=30),
    lambda: sim.get("ux"),
    lambda: sim.set(ux=1.0),
    lambda: sim.energy(),
    lambda: sim.sample([(0.5, 0.5, 0.4)]),
    lambda: sim.add_receivers([(0.5, 0.5, 0.4)]),
    lambda: sim.profile(),
    lambda: sim.save("/tmp/never.h5"),
    lambda: sim.reset(),
    lambda: spectral(),
]
for call in calls:
    text = raised(unda.DeviceLostError, call)
    assert "was lost earlier" in text and "restart the process" in text, text
assert rec.num_sample >= held and as_on_the_cpu(rec)
sim.close()
""",
        UNDA_EMULATOR_FAIL_LAUNCH=str(launch),
    )
