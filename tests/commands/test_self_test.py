"""``unda info --test``: right engines pass, wrong ones and missing ones fail, and the exit status says so."""

import json

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands import self_test

cuda_device.prepare()


def test_the_self_test_passes_on_the_processor_and_covers_each_method_and_physics(capsys):
    assert main(["info", "--test", "--device", "cpu", "--json"]) == 0
    test = json.loads(capsys.readouterr().out)["test"]
    assert test["device"] == "cpu" and test["passed"]
    ways = "DG tet", "DG hex", "SEM hex", "FD scalar", "FD staggered"
    every = {f"{way} {physics}" for way in ways for physics in ("acoustic", "elastic", "maxwell")}
    there_is_none = {"SEM hex maxwell", "FD scalar elastic", "FD scalar maxwell"}
    assert {row["case"] for row in test["cases"]} == every - there_is_none
    assert test["seconds"] < 5


@pytest.mark.parametrize("early", [0.97, 1.03])
def test_a_wave_that_is_three_percent_early_or_late_fails_in_every_case(early, monkeypatch, capsys):
    """A quarter of a period off by 3 % is 0.047 rad: above each bound, all of which are below 0.01."""
    for method in (self_test.DG, self_test.SEM, self_test.FD):

        def error(sim, wave, relative, of=method.error):
            return of(sim, lambda x, y, z, t: wave(x, y, z, early * t), relative=relative)

        monkeypatch.setattr(method, "error", error)
    assert main(["info", "--test", "--device", "cpu"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("  ok ", "  FAILED"))]
    assert len(lines) == 12 and all(line.startswith("  FAILED") for line in lines)


def test_a_device_that_cannot_run_fails_and_says_why(monkeypatch):
    def broken(device):
        raise self_test.Error("no kernels")

    monkeypatch.setattr(self_test, "cases", lambda device: {"one": lambda: broken(device)})
    (one,), _ = self_test.self_test("cpu")
    assert not one.passed and one.text == "Error: no kernels"


def test_a_device_without_test_is_refused(capsys):
    assert main(["info", "--device", "cpu"]) == 2
    assert "--test" in capsys.readouterr().err


@pytest.mark.gpu_or_stand_in
@pytest.mark.slow
def test_the_self_test_passes_on_a_device(capsys):
    status = main(["info", "--test", "--device", "cuda"])
    assert status == 0, capsys.readouterr().out
