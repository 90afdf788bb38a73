"""The command ``unda`` says what is there, measures it, and checks it against exact solutions."""

import json
import subprocess
import sys
import time

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands import verify

REAL = cuda_device.prepare()


def test_info_names_the_library_and_the_processor(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "libunda.so" in text and "threads" in text


def test_info_as_json_says_why_there_is_no_gpu():
    command = [sys.executable, "-m", "unda", "info", "--json"]
    environment = {"UNDA_LIBCUDA": "/nonexistent/libcuda.so.1", "PATH": "/usr/bin:/bin"}
    environment |= {"PYTHONPATH": ":".join(sys.path)}
    found = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert found["cuda"] == []
    assert "/nonexistent/libcuda.so.1" in found["why_no_gpu"]
    assert found["cpu"]["threads"] >= 1


@pytest.mark.gpu_or_stand_in
def test_info_lists_the_device(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["why_no_gpu"] is None
    assert found["cuda"][0]["device"] == "cuda:0"


def check_bench(tmp_path, device, kernels):
    path = tmp_path / "result.json"
    command = ["bench", "dg", "--degrees", "1:2", "--kernels", kernels, "--device", device]
    assert main([*command, "--nodes", "60", "--steps", "3", "-o", str(path)]) == 0
    result = json.loads(path.read_text())
    for key in ("device", "driver", "date", "commit", "limits"):
        assert key in result
    for row in result["rows"]:
        dof = 4 * row["num_elem"] * row["num_node"]
        assert row["gdof_per_second"] == pytest.approx(dof / row["ms"] / 1e6)
        # ab3: five arrays of four bytes a degree of freedom, and the tables
        assert row["gbytes_per_second"] > 20 * row["gdof_per_second"]
        assert 0 < row["percent_of_limit"] < 100
    assert path.with_suffix(".png").stat().st_size > 5000
    return result


def test_bench_times_each_degree_on_the_cpu(tmp_path, capsys):
    result = check_bench(tmp_path, "cpu", "fused,node")
    assert [(row["degree"], row["kernel"]) for row in result["rows"]] == [(1, "cpu"), (2, "cpu")]
    assert "GDOF/s" in capsys.readouterr().out


@pytest.mark.gpu_or_stand_in
def test_bench_times_each_kernel_on_the_device(tmp_path):
    result = check_bench(tmp_path, "cuda", "fused,node")
    assert [row["kernel"] for row in result["rows"]] == ["fused", "node"] * 2


def test_verify_passes_and_fails_by_its_exit_status(monkeypatch, capsys):
    assert main(["verify", "energy", "--quick", "--device", "cpu"]) == 0
    monkeypatch.setitem(
        verify.CHECKS, "energy", lambda *_: iter([{"check": "x", "degree": 1, "error": 1.0,
        "order": None, "wanted": "less", "passed": False}]),
    )  # fmt: skip
    assert main(["verify", "energy"]) == 1
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_all_of_verify_passes_on_the_device():
    assert main(["verify", "--device", "cuda" if REAL else "cpu"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        "--kernels soup",
        "--dtype int8",
        "--integrator rk3",
        "--nodes -5",
        "--steps 0",
        "--degrees 0:3",
        "--degrees 9",
    ],
)
def test_bench_refuses_before_it_measures(words, capsys):
    begin = time.perf_counter()
    try:
        status = main(["bench", "dg", "--device", "cpu", *words.split()])
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and time.perf_counter() - begin < 0.5
    assert "GB/s" not in capsys.readouterr().out
