"""benchmarks/compare_deepwave.py compares the same problems where deepwave is there, and says so where not.

On a stand-in of deepwave that counts its steps: what it is asked to do. Not here: how fast it is.
"""

import importlib.util
import itertools
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "compare_deepwave.py"


@pytest.fixture
def compare():
    spec = importlib.util.spec_from_file_location("compare_deepwave", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_says_what_is_not_installed(compare, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compare.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["compare_deepwave.py"])
    assert compare.main() == 2
    assert "torch is not installed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


class Array(np.ndarray):
    def to(self, device):
        return self


def stand_in(monkeypatch, calls):
    torch, deepwave = types.ModuleType("torch"), types.ModuleType("deepwave")
    torch.tensor = lambda one, device: np.asarray(one).view(Array)
    torch.__version__ = "0"
    torch.no_grad = lambda: __import__("contextlib").nullcontext()
    ricker = types.SimpleNamespace(ricker=lambda f, n, dt, t0: np.ones(n).view(Array))
    deepwave.wavelets = ricker

    def propagate(name):
        def call(*fields, **keywords):
            calls.append((name, fields, keywords))

        return call

    for name in ("elastic", "acoustic", "scalar"):
        setattr(deepwave, name, propagate(name))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "deepwave", deepwave)


def test_both_are_given_the_same_problem(compare, monkeypatch, tmp_path):
    calls, path = [], tmp_path / "result.json"
    stand_in(monkeypatch, calls)
    monkeypatch.setattr(compare, "missing", lambda device: None)
    monkeypatch.setattr(compare, "version", lambda name: "0")
    ticks = itertools.count()  # of a clock on which each interval is longer than the one before
    monkeypatch.setattr(compare, "time", types.SimpleNamespace(perf_counter=lambda: next(ticks) ** 2))
    command = [
        "",
        "--shape",
        "24,23,22",
        "--steps",
        "10",
        "--repeats",
        "1",
        "--device",
        "cpu",
        "-o",
        str(path),
    ]
    monkeypatch.setattr(sys, "argv", command)
    assert compare.main() == 0
    result = json.loads(path.read_text())
    assert {"device", "commit", "date"} <= result.keys()
    rows = result["rows_deepwave"]
    steps = [row for row in rows if row["kernel"] == "step"]
    assert [row["case"] for row in steps] == [*compare.CASES]
    assert [row["case"] for row in rows if row["kernel"] == "tiled"] == ["scalar", "scalar, layers of 20"]
    for row in rows:
        assert row["ratio"] == pytest.approx(row["unda"] / row["deepwave"])
    for (name, fields, keywords), row in zip(calls[::3], steps, strict=True):
        assert name == row["case"].partition(",")[0].partition(" ")[0]
        assert keywords["dt"] == row["dt"] and keywords["pml_width"] == row["layers"]
        # deepwave takes several steps for one above this limit
        assert row["dt"] * compare.FASTEST * np.sqrt(3) / compare.H < 0.6
        assert all(one.shape == (24, 23, 22) for one in fields)
        (place,) = (one for key, one in keywords.items() if key.startswith("source_locations"))
        assert place.tolist() == [[[11, 11, 10]]]
    lame, mu, lightness = calls[0][1]
    m = compare.materials((24, 23, 22))
    assert np.allclose((lame + 2 * mu) * lightness, m["vp"] ** 2) and np.allclose(
        mu * lightness, m["vs"] ** 2
    )
    assert np.max(m["vp"]) <= compare.FASTEST
    assert compare.shape_of("24") == (24, 24, 24)
