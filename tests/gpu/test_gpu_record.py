"""The record of make test-gpu: what was tested where, and a warning when the sources change.

The device is the stand-in's. Not here: the tests that run on a device.
"""

import json
import shutil
from pathlib import Path

import cuda_device
import gpu_record
import pytest

cuda_device.prepare()
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path):
    """A small checkout."""
    for name in ("csrc/base", "cuda", "python/unda"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def report(folder, **outcomes):
    """A report as pytest writes it."""
    numbers = {"tests": 7, "failures": 0, "errors": 0, "skipped": 2} | outcomes
    attributes = " ".join(f'{key}="{value}"' for key, value in numbers.items())
    path = folder / "report.xml"
    path.write_text(f"<testsuites><testsuite {attributes}/></testsuites>")
    return path


def write(root, **outcomes):
    return gpu_record.write(report(root, **outcomes), root, root / "record.json")


def test_a_record_names_device_driver_date_counts_and_sources(root, monkeypatch):
    (root / "out").mkdir()
    monkeypatch.setenv("OUT", str(root / "out"))
    entry = write(root)
    assert entry["passed"] == 5 and entry["skipped"] == 2
    assert entry["device"] and entry["driver_version"] >= 12000 and len(entry["date"]) == 10
    assert len(entry["sources"]) == 64 and "commit" in entry
    for path in (root / "record.json", root / "out" / "record.json"):
        assert json.loads(path.read_text()) == entry


@pytest.mark.parametrize("outcomes", [{"failures": 1}, {"errors": 1}, {"tests": 2}, {"tests": 0}])
def test_failed_or_empty_runs_are_not_recorded(root, outcomes):
    with pytest.raises(SystemExit, match="not recorded"):
        write(root, **outcomes)
    assert not (root / "record.json").exists()


@pytest.mark.parametrize("name", ["csrc/base/log.c", "cuda/dg/fused.cu", "cuda/common/args.h"])
def test_a_changed_source_is_warned_of(root, name):
    record = root / "record.json"
    assert "no make test-gpu" in gpu_record.check(root, record)
    write(root)
    assert gpu_record.check(root, record) is None
    with (root / name).open("a") as file:
        file.write("/* changed */\n")
    assert "changed since make test-gpu" in gpu_record.check(root, record)


def test_other_files_do_not_matter(root):
    write(root)
    (root / "cuda" / "README.md").write_text("changed")
    assert gpu_record.check(root, root / "record.json") is None
