"""``unda bench dg --elements``: microseconds a step of small problems, by what was asked for and taken."""

import json

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands import bench_dg, dg_case

cuda_device.prepare()
WORDS = "--degrees 1 --integrator ab3 --steps 2 --seconds 0.01 --elements 6".split()
LIMITS = {"copy": 1e12, "fma32": 1e13, "fma64": 1e13}


def row(mesh, case, **_):
    """What `measure` returns."""
    options = {"resident": 256} if case["kernel"] == "auto" else {"tile": 4}
    return {**case, "num_elem": mesh.num_elem, "ms": 0.002, "gdof_per_second": 1.0, "kernel_options": options,
            "kernel": "fused"}  # fmt: skip


@pytest.mark.gpu_or_stand_in
def test_a_small_problem_gives_microseconds_by_kernel(tmp_path, monkeypatch, capsys):
    ahead = []
    monkeypatch.setattr(bench_dg, "compile_ahead", lambda cases, device, compile_one: ahead.extend(cases))
    monkeypatch.setattr(bench_dg, "measure", row)
    monkeypatch.setattr(bench_dg, "device_limits", lambda *_, **__: LIMITS)
    monkeypatch.setattr(bench_dg, "_draw", lambda path, result: None)
    command = ["bench", "dg", "--device", "cuda", *WORDS, "--kernels", "fused,auto"]
    assert main([*command, "-o", str(tmp_path / "tet_PHYSICS.json")]) == 0
    rows = json.loads((tmp_path / "tet_acoustic.json").read_text())["rows"]
    found = [(one["asked"], one["kernel"], one["resident"], one["num_elem"], one["us"]) for one in rows]
    assert found == [("fused", "fused", 1, 6, 2.0), ("auto", "fused", 256, 6, 2.0)]
    assert "us/step" in capsys.readouterr().out
    assert [(physics, case["kernel"], case["elements"]) for physics, case in ahead] == [
        ("acoustic", "fused", 6), ("acoustic", "auto", 6),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_what_is_compiled_ahead_is_found(tmp_path, monkeypatch):
    """With launches of many steps, whose kernel depends on the number of cells."""
    monkeypatch.setenv("UNDA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UNDA_EMULATOR_TOGETHER", "1")
    case = {"degree": 1, "dtype": "float32", "integrator": "ab3", "flux": "upwind", "kernel": "auto"}
    size = {"elements": 20, "shape": "tet", "mesh": "perturbed"}
    bench_dg.compile_small("acoustic", {**case, **size}, "cuda:0")
    made = set(tmp_path.iterdir())
    assert made
    found = bench_dg.measure(
        dg_case.numbered_box(80.0, 4, "tet", "perturbed"), case, device="cuda:0", steps=100,
        limits=LIMITS,
    )  # fmt: skip
    assert found["kernel_options"]["resident"] == 256
    assert set(tmp_path.iterdir()) == made


def test_two_sizes_are_refused(capsys):
    assert main(["bench", "dg", "--device", "cpu", *WORDS, "--nodes", "100"]) != 0
    assert "nodes and elements are both given" in capsys.readouterr().err
