"""Every example runs and keeps its own promise, from an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import cuda_device
import numpy as np
import pytest
import unda

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENVIRONMENT = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(sys.path)}


def run(folder, name, *words, **more):
    command = [sys.executable, EXAMPLES / name, *words]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT | more, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow  # by default its notebook says the same
def test_first_wave_agrees_with_the_exact_traces(tmp_path):
    run(tmp_path, "first_wave.py", "--quick")
    assert (tmp_path / "first_wave.npz").is_file()
    assert (tmp_path / "first_wave.png").stat().st_size > 10000


@pytest.mark.slow  # by default its notebook says the same
def test_convergence_has_its_orders(tmp_path):
    assert "N = 2" in run(tmp_path, "convergence.py", "--quick")
    assert (tmp_path / "convergence.png").stat().st_size > 5000


@pytest.mark.slow  # tests/commands/test_sweep.py goes on from caches
def test_a_sweep_prints_its_table_and_goes_on_from_its_cache(tmp_path):
    first = run(tmp_path, "parameter_sweep.py", "--quick")
    assert len(list((tmp_path / "sweep_cache").glob("*.pkl"))) == 6
    assert run(tmp_path, "parameter_sweep.py", "--quick") == first
    assert (tmp_path / "parameter_sweep.png").stat().st_size > 5000


@pytest.mark.slow
def test_a_sweep_on_dask_has_its_orders(tmp_path):
    pytest.importorskip("distributed")
    said = run(tmp_path, "sweep_dask.py", "--quick")
    assert said.count(": order") == 6 and "Maxwell, N = 2" in said
    assert (tmp_path / "sweep_dask.png").stat().st_size > 20000


@pytest.mark.slow  # tests/dg/test_team_cuda.py compares bits
@pytest.mark.gpu_or_stand_in
def test_two_devices_have_the_traces_of_one(tmp_path):
    cuda_device.prepare()
    said = run(tmp_path, "two_gpus.py", "--quick", **{**os.environ, "UNDA_EMULATOR_DEVICES": "2"})
    assert "2 parts by peer" in said and said.endswith("the same bits\n")


def test_a_survey_has_amplitudes_and_files_that_others_read(tmp_path):
    segyio = pytest.importorskip("segyio")
    said = run(tmp_path, "survey_segy.py", "--quick")
    assert "relative error of direct waves" in said
    for i, x in enumerate((1000, 3000)):
        with segyio.open(tmp_path / f"survey_{i}.sgy", ignore_geometry=True) as file:
            assert file.tracecount == 77 and segyio.tools.dt(file) == 4000
            assert set(file.attributes(segyio.TraceField.SourceX)[:]) == {x}  # whole metres
            assert np.abs(file.trace.raw[:]).max() > 0


def test_two_devices_are_named_where_there_is_none(tmp_path):
    said = run(tmp_path, "two_gpus.py", "--quick", UNDA_LIBCUDA="/nowhere/libcuda.so.1")
    assert said.startswith("no CUDA device: this example needs one")


@pytest.mark.slow
def test_the_layered_model_loses_energy_and_is_reciprocal(tmp_path):
    said = run(tmp_path, "layered_elastic.py", "--quick")
    assert "energy" in said and "exchanged" in said
    assert (tmp_path / "layered_elastic.npz").is_file()
    assert (tmp_path / "layered_elastic.png").stat().st_size > 50000


@pytest.mark.slow  # by default its notebook says the same
def test_a_sphere_scatters_as_mie_said(tmp_path):
    assert "against Mie at radius 1.0000 m" in run(tmp_path, "pec_scattering.py", "--quick")
    assert (tmp_path / "pec_scattering.npz").is_file()
    assert (tmp_path / "pec_scattering.png").stat().st_size > 20000


@pytest.mark.slow
def test_a_sphere_of_glass_on_a_grid_scatters_as_mie_said(tmp_path):
    """Within what half a cell of its radius changes; on ten cells a radius."""
    assert "against Mie" in run(tmp_path, "dielectric_sphere_grid.py", "--quick")
    with np.load(tmp_path / "dielectric_sphere_grid.npz") as file:
        found, exact = file["found"], file["exact"]
    assert found.shape == (2, 181) and (tmp_path / "dielectric_sphere_grid.png").stat().st_size > 20000
    # cuts exchanged would be seen
    assert np.abs(found[::-1] - exact).max() > 2 * np.abs(found - exact).max()


@pytest.mark.slow  # survey_segy.py has the same model
def test_a_shot_has_its_direct_wave_its_gather_and_its_film(tmp_path):
    assert "relative error of each trace in water" in run(tmp_path, "shot_gather.py", "--quick")
    assert (tmp_path / "shot_gather.npz").is_file()
    assert (tmp_path / "shot_gather.png").stat().st_size > 20000
    assert (tmp_path / "shot_gather.gif").stat().st_size > 20000


@pytest.mark.slow  # four_methods.py has both
def test_two_methods_have_the_same_traces(tmp_path):
    assert run(tmp_path, "two_methods.py", "--quick").count("misfit") == 3
    with np.load(tmp_path / "two_methods.npz") as found:
        dg, fd, misfit = found["dg"], found["fd"], found["misfit"]
    assert (misfit < 0.02).all()
    # what is compared is a wave, and a node or a step aside would be seen
    late = np.sqrt(((dg[:, :, 3:] - fd[:, :, :-3]) ** 2).sum((1, 2)) / (dg**2).sum((1, 2)))
    assert (late > 0.02).all()
    assert (tmp_path / "two_methods.png").stat().st_size > 50000


def relative(one, other):
    """Return the relative L2 misfit of each place."""
    return np.sqrt(((one - other) ** 2).sum((1, 2)) / (other**2).sum((1, 2)))


@pytest.mark.slow  # by default its notebook says the same
def test_four_methods_have_the_same_traces(tmp_path):
    said = run(tmp_path, "four_methods.py", "--quick")
    assert said.count(" MB") == 5 + 5  # of each simulation, and in the table
    with np.load(tmp_path / "four_methods.npz") as found:
        traces = [found[name] for name in ("DG tetrahedra", "DG hexahedra", "SEM", "FD")]
        nodes, error = found["nodes"], found["error"]
    for i, one in enumerate(traces):
        for j, other in enumerate(traces[:i]):
            limit = 0.05 if i == 3 else 0.02
            assert (relative(one, other) <= limit).all(), (i, j)
            # what is compared is a wave, and a few samples aside would be seen
            assert (relative(one[:, :, 8:], other[:, :, :-8]) > limit).all(), (i, j)
    assert nodes[-1] >= 20 and error[-1].max() < error[0].max()
    assert (tmp_path / "four_methods.png").stat().st_size > 50000


@pytest.mark.slow
def test_two_methods_agree_on_a_hill(tmp_path):
    assert run(tmp_path, "hill.py", "--quick").count("misfit") == 4
    with np.load(tmp_path / "hill.npz") as found:
        sem, dg, points = found["sem"], found["dg"], found["points"]
    assert points[0, 2] == 100  # the first stands on the summit
    assert (relative(dg, sem) < 0.01).all()
    assert (relative(dg[:, :, 3:], sem[:, :, :-3]) > 0.01).all()
    assert (tmp_path / "hill.png").stat().st_size > 50000


def test_unda_can_be_called_from_c(tmp_path):
    library = Path(unda.__file__).parent / "libunda.so"
    source = EXAMPLES / "call_from_c" / "box_mode.c"
    program = tmp_path / "box_mode"
    command = [
        "gcc",
        "-Wall",
        "-Werror",
        f"-I{ROOT / 'csrc'}",
        source,
        library,
        "-lm",
        "-o",
        program,
    ]
    subprocess.run(command, check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "largest error" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "first_wave.py",
        "convergence.py",
        "parameter_sweep.py",
        "sweep_dask.py",
        "layered_elastic.py",
        "pec_scattering.py",
        "shot_gather.py",
        "survey_segy.py",
        "focused_ultrasound.py",
        "dielectric_sphere.py",
        "dielectric_sphere_grid.py",
        "two_methods.py",
        "four_methods.py",
        "hill.py",
    ],
)  # fmt: skip
def test_in_full(tmp_path, name):
    if name == "sweep_dask.py":
        pytest.importorskip("distributed")
    run(tmp_path, name)
