"""Where a simulation runs and with which kernel: devices, "auto", the forecast of memory, tuning.

Not here: what the device computes (test_cuda_engine.py).
"""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import cuda_device
import pytest
import unda
from unda.method import speed, tune

cuda_device.prepare()
MEDIUM = unda.Acoustic(rho=1.0, c=1.0)


def box(n=2):
    return unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n))


# ---- devices


@pytest.mark.gpu_or_stand_in
def test_the_devices_are_the_cpu_and_what_cuda_has():
    found = unda.devices()
    assert list(found)[:2] == ["cpu", "cuda:0"]
    assert found["cpu"]["threads"] >= 1
    assert found["cuda:0"]["memory"] > 1e6
    for name in found:
        assert unda.DG(box(1), MEDIUM, degree=1, device=name).config["device"] == name
        hexahedron = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
        assert unda.SEM(hexahedron, MEDIUM, degree=2, device=name).config["device"] == name


def test_auto_is_what_the_environment_says(monkeypatch, caplog):
    monkeypatch.setenv("UNDA_DEVICE", "cpu")
    with caplog.at_level(logging.INFO, "unda"):
        assert unda.DG(box(1), MEDIUM, degree=1).config["device"] == "cpu"
    assert "UNDA_DEVICE" in caplog.text
    monkeypatch.setenv("UNDA_DEVICE", "abacus")
    with pytest.raises(unda.ArgumentError, match="abacus"):
        unda.DG(box(1), MEDIUM, degree=1)


@pytest.mark.gpu_or_stand_in
def test_auto_is_the_first_cuda_device(monkeypatch):
    monkeypatch.delenv("UNDA_DEVICE")
    assert unda.DG(box(1), MEDIUM, degree=1).config["device"] == "cuda:0"


def test_auto_is_the_cpu_where_there_is_no_driver_and_the_log_says_why_once():
    code = """
import logging, sys, unda
logging.basicConfig(level=logging.INFO, stream=sys.stdout)
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
print(unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1).config["device"], list(unda.devices()))
unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1)
try:
    unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=1, device="cuda")
except unda.DeviceError as error:
    print("refused:", error)
"""
    environment = {**os.environ, "UNDA_LIBCUDA": "/nonexistent/libcuda.so.1"}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("UNDA_DEVICE")
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "cpu ['cpu']" in done.stdout, done.stderr
    assert "refused: " in done.stdout
    assert done.stdout.count("device 'auto' is the CPU") == 1 and "no CUDA device" not in done.stdout
    assert done.stdout.count("/nonexistent/libcuda.so.1") == 2, "in the log once, and in the error"


@pytest.mark.parametrize("environment, folder", [
    ({"XDG_CACHE_HOME": "/big/cache"}, "/big/cache/unda"),
    ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/unda"),
    ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/unda"),
    ({"HOME": "relative"}, ""),
    ({"UNDA_CACHE_DIR": "here", "XDG_CACHE_HOME": "/big/cache"}, "here"),
    ({"UNDA_CACHE": "0", "UNDA_CACHE_DIR": "here"}, ""),
])  # fmt: skip
def test_the_cache_is_where_the_environment_says(monkeypatch, environment, folder):
    for name in ("UNDA_CACHE", "UNDA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert unda._cuda.cache_dir() == folder


STRANGE_HOME = """
import os, site, sys
from pathlib import Path
import unda
from unda import _cuda

def unknown(*_):
    raise RuntimeError("Could not determine home directory.")

def refused(*_, **__):
    raise PermissionError(13, "Permission denied", "/root/.local")

os.environ.pop("HOME", None)
Path.home = unknown
Path.is_dir = refused  # as of a folder below one that may not be entered
os.path.expanduser = lambda path: path  # what it does where nobody knows the user
site.getusersitepackages = unknown
sim = unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), unda.Acoustic(rho=1.0, c=1.0), degree=1)
print(sim.config["device"], repr(_cuda.cache_dir()), list(unda.devices())[0])
"""


def test_auto_falls_back_where_nobody_knows_the_home_or_may_look_at_the_users_site():
    environment = {**os.environ, "UNDA_LIBCUDA": "/nonexistent/libcuda.so.1"}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("UNDA_DEVICE", "XDG_CACHE_HOME", "UNDA_CACHE_DIR"):
        environment.pop(name, None)
    command = [sys.executable, "-c", STRANGE_HOME]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "cpu '' cpu", done.stderr


# ---- memory


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("options", [{"degree": 1}, {"degree": 4, "dtype": "float64", "integrator": "ab3"}])
def test_the_forecast_is_the_memory(device, options):
    boundary = {"xmin": unda.exact.plane_wave(MEDIUM, k=(1, 2, 3)), "*": "free"}
    keywords = {"device": device, "boundary": boundary, "tune": False, "sample_dt": 0.1, **options}
    if device == "cuda" and not cuda_device.is_real():
        # of a device that does not have all blocks at once, as a forecast expects
        keywords["kernel_options"] = {"resident": 1}
    forecast = unda.DG.forecast(box(), MEDIUM, **keywords)
    assert forecast == unda.DG(box(), MEDIUM, **keywords).memory
    state = 48 * 4 * 4 * 4
    assert forecast["host"] > state
    assert (forecast["device"] > state) == (device == "cuda")


def test_a_forecast_takes_no_memory():
    mesh = box(40)  # 384,000 cells: 4 GB at degree 8
    before = int(Path("/proc/self/statm").read_text().split()[1])
    forecast = unda.DG.forecast(mesh, MEDIUM, degree=8, dtype="float64", device="cpu")
    assert forecast["host"] > 4e9
    assert int(Path("/proc/self/statm").read_text().split()[1]) - before < 100e6 / 4096


def test_a_forecast_refuses_unknown_keywords():
    with pytest.raises(TypeError, match="colour"):
        unda.DG.forecast(box(), MEDIUM, colour="red")


# ---- tuning


@pytest.fixture
def fewer_candidates(monkeypatch, tmp_path):
    others = dict.fromkeys(tune._OTHERS, lambda n: ()) | {
        unda._core.lib.UNDA_TUNED_BY_HALF: lambda n: (2 * n,)
    }
    monkeypatch.setattr(tune, "_OTHERS", others)
    every = tune.kernels

    def few(options, tried=False):
        """Some of those that are tried: the stand-in compiles each candidate."""
        found = every(options, tried=tried)
        wanted = ("fused", "node", "element") if tried and not cuda_device.is_real() else found
        return {name: found[name] for name in found if name in wanted}

    monkeypatch.setattr(tune, "kernels", few)
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: str(tmp_path))
    return tmp_path / "tuned.json"


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_tuning_measures_once_prints_and_remembers(fewer_candidates, capsys):
    first = unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True)
    assert "tuned on" in capsys.readouterr().out
    assert len(json.loads(fewer_candidates.read_text())) == 1
    again = unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True)
    assert capsys.readouterr().out == ""
    for name in ("kernel", "kernel_options"):
        assert again.config[name] == first.config[name]
    unda.DG(box(1), MEDIUM, degree=2, kernel="node", device="cuda", tune=True)
    assert "tuned on" in capsys.readouterr().out


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("kernel", "tile"), [pytest.param("node", None, marks=pytest.mark.slow), ("fused", 64), ("fused", None)]
)
def test_the_fastest_candidate_wins(fewer_candidates, monkeypatch, kernel, tile):
    table = unda.DG(box(1), MEDIUM, degree=1, device="cuda").config["kernel_options"]["tile"]
    wanted = tile or table

    def seconds(sim, runs):
        config = sim.config
        wins = config["kernel"] == kernel and (kernel == "node" or config["kernel_options"]["tile"] == wanted)
        return {"stage": {"seconds": 1.0 if wins else 3.0}}  # so slow that no part of it is changed

    monkeypatch.setattr(speed, "kernel_seconds", seconds)
    sim = unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True)
    assert sim.config["kernel"] == kernel
    assert kernel == "node" or sim.config["kernel_options"]["tile"] == wanted


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("times", "num"), [(2.5, 1), (1.5, 2)])
def test_a_kernel_that_is_far_slower_is_not_tuned(fewer_candidates, monkeypatch, times, num):
    seen = []

    def seconds(sim, runs):
        seen.append(sim.config["kernel"])
        return {"stage": {"seconds": 1.0 if seen[-1] == "fused" else times}}

    monkeypatch.setattr(speed, "kernel_seconds", seconds)
    assert unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True).config["kernel"] == "fused"
    assert seen.count("element") == num < seen.count("fused")


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_what_is_remembered_is_used_and_a_damaged_memory_is_none(fewer_candidates, capsys):
    unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True)
    known = json.loads(fewer_candidates.read_text())
    (choice,) = known.values()
    choice |= {"kernel": "node", "kernel_options": None}
    fewer_candidates.write_text(json.dumps(known))
    assert unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True).config["kernel"] == "node"
    capsys.readouterr()
    fewer_candidates.write_text("{")
    unda.DG(box(1), MEDIUM, degree=1, device="cuda", tune=True)
    assert "tuned on" in capsys.readouterr().out


def test_tuning_has_nothing_to_choose_on_the_cpu(caplog):
    with caplog.at_level(logging.INFO, "unda"):
        assert unda.DG(box(1), MEDIUM, degree=1, device="cpu", tune=True).config["kernel"] is None
    assert "nothing to choose" in caplog.text


def test_tuning_and_options_of_the_users_exclude_each_other():
    with pytest.raises(unda.ArgumentError, match=r"'tile': 4.*tune=True chooses them"):
        unda.DG(box(1), MEDIUM, degree=1, kernel="node", kernel_options={"tile": 4}, tune=True)


@pytest.mark.gpu_or_stand_in
def test_of_a_kernel_that_is_named_the_options_are_tuned(fewer_candidates, monkeypatch, capsys):
    """Of kernel gemm every padding: multiples of 1, 2, 4, ... 128 rows of both kinds, here of 1 and 8."""
    powers = {unda._core.lib.UNDA_TUNED_POWERS: lambda n: (1, 8)}
    monkeypatch.setattr(tune, "_OTHERS", tune._OTHERS | powers)

    def seconds(sim, runs):
        options = sim.config["kernel_options"]
        return {"stage": {"seconds": 3.0 - (options["pad"] == 1) - (options["pad_gradient"] == 8)}}

    monkeypatch.setattr(speed, "kernel_seconds", seconds)
    config = unda.DG(box(1), MEDIUM, degree=1, device="cuda", kernel="gemm", tune=True).config
    assert config["kernel"] == "gemm"
    assert config["kernel_options"] == {"tile": 32, "pad": 1, "pad_gradient": 8, "compute": "plain"}
    assert "kernel gemm {" in capsys.readouterr().out
    again = unda.DG(box(1), MEDIUM, degree=1, device="cuda", kernel="gemm", tune=True).config
    assert (again["kernel_options"], capsys.readouterr().out) == (config["kernel_options"], "")
    with pytest.raises(unda.ArgumentError, match="kernel is lines, which is for cells of another shape"):
        unda.DG(box(1), MEDIUM, degree=1, device="cuda", kernel="lines", tune=True)


@pytest.mark.parametrize("number", [2**31, -1, 2**70])
def test_an_option_of_a_kernel_that_no_int_holds_is_refused_by_name(number):
    grid, medium = unda.Grid((9, 8, 7), 1.0), unda.Acoustic(rho=1.0, c=1.0)
    with pytest.raises(unda.ArgumentError, match=f"depth.* is {number}"):
        unda.FD(grid, medium, kernel="tiled", kernel_options={"depth": number}, boundary={"*": "rigid"})
