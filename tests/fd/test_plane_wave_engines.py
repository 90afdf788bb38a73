"""Plane waves on grids on all engines, in slabs, windows and files: nothing leaks, scalar bits alike.

Not here: the waves themselves (test_plane_wave.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from plane_wave_cases import H, Run

pytestmark = pytest.mark.gpu_or_stand_in
REAL = cuda_device.prepare()
slow = pytest.mark.slow


@pytest.mark.parametrize(
    "options, varies",
    [
        pytest.param({"kernel": kernel} | more, varies, id=f"{name}-{varies}", marks=marks)
        for name, kernel, more in (
            ("step", "step", {}),
            ("diamond", "diamond", {}),
            ("window", "auto", {"window": 8}),
            ("slabs", "auto", {"device": ["cuda:0", "cuda:0"]}),
        )
        for varies in (True, False)
        for marks in [() if name == "step" and varies else slow]
    ],
)
def test_the_scalar_scheme_has_the_bits_of_the_cpu(options, varies):
    """On a device, many steps at once, in a window, in slabs: and nothing leaks; another wave has others.

    With one c and where c varies far from the box: the step's weights are others.
    """
    steps = 24 if not REAL else 60  # the pulse is in the box
    there, here, other = (
        Run("scalar", 2, "float32", start=20, varies=varies, **given)
        for given in ({"device": "cuda"} | options, {}, {"amplitude": 1.0 + 1e-6})
    )
    for run in (there, here, other):
        run.sim.step(steps)
    states = [run.sim.get("p") for run in (there, here, other)]
    inside = here.inside("p")
    assert np.abs(states[1]).max() > 0.01
    assert np.array_equal(states[0][inside], states[1][inside]) and not states[0][~inside].any()
    assert not np.array_equal(states[1], states[2])


@pytest.mark.parametrize(
    "name, order, dtype, options",
    [
        pytest.param("Yee", 2, "float32", {}, id="Yee", marks=slow),
        pytest.param("acoustic", 2, "float32", {"inner": (1, 2, 3)}, id="small"),
        pytest.param("acoustic", 4, "float32", {}, id="acoustic", marks=slow),
        pytest.param("P", 4, "float64", {}, id="P", marks=slow),
        pytest.param("S", 8, "float32", {}, id="S", marks=slow),
        pytest.param("S", 2, "float32", {"device": ["cuda:0", "cuda:0"]}, id="S slabs", marks=slow),
        pytest.param("Yee", 4, "float32", {"device": ["cuda:0", "cuda:0"]}, id="Yee slabs", marks=slow),
    ],
)
def test_nothing_leaks_out_of_staggered_grids(name, order, dtype, options):
    """Outside is 0: the line has the bits of the engine's kernels, see pass_cases.py."""
    run = Run(name, order, dtype, start=0 if REAL else 22, **({"device": "cuda"} | options))
    if not REAL:
        small = "inner" in options  # the wave has just passed the box
        run.steps = 14 if small else int((1.5 * order + 9) * H / run.wave.speed / run.sim.dt)
    assert run.leak(**({} if REAL else {"every": run.steps})) == 0
    assert run.peak > 0.1


@pytest.mark.parametrize("name", ["scalar", pytest.param("S", marks=slow)])
def test_a_file_goes_on_with_the_wave(name, tmp_path):
    """A run that is saved and loaded in the middle has the bits of one that went on."""
    run = Run(name, 2, "float32", start=20)
    run.sim.step(20)
    run.sim.save(tmp_path / "half.h5")
    again = unda.load(tmp_path / "half.h5", device="cpu")
    assert again._solver.waves[0][0].to_config() == run.source.to_config()
    before = again.get(again.fields[0])
    for sim in (run.sim, again):
        sim.step(20)
    states = [sim.get(sim.fields[0]) for sim in (run.sim, again)]
    assert np.abs(states[0]).max() > 0.01 and np.array_equal(*states)
    assert not np.array_equal(before, states[0])


def test_a_wave_begins_again_with_the_clock():
    """After `reset` and `set` runs repeat; without their sources they are silent."""
    run = Run("scalar", 2, "float32", start=20)
    run.sim.step(25)
    first = run.sim.get("p")
    run.sim.set(t=run.begins)
    run.sim.step(25)
    assert np.array_equal(run.sim.get("p"), first) and first.any()
    run.sim.reset(sources=True)
    run.sim.step(25)
    assert not run.sim.get("p").any() and not run.sim._solver.waves
