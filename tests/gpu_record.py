"""Which sources the tests last passed on a GPU with: ``gpu_record.py write REPORT`` or ``check``.

``write`` ends ``make test-gpu``: it takes pytest's report (junit XML), refuses one with failures or
without tests, and keeps device, driver, date, commit, counts and a hash of csrc/ and cuda/.
``check`` warns where the sources have changed since; it never fails.
Next: benchmarks/results/test_gpu.json.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "results" / "test_gpu.json"


def sources(root: Path) -> str:
    """Hash csrc/ and cuda/."""
    sys.path.insert(0, str(root / "python" / "unda"))
    from _source_hash import KERNEL_SOURCES, source_hash

    return source_hash(root, KERNEL_SOURCES)


def counts(report: Path) -> dict[str, int]:
    """Numbers of tests in a junit report, by outcome."""
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        for key in total:
            total[key] += int(suite.get(key, 0))
    total["passed"] = total["tests"] - total["failures"] - total["errors"] - total["skipped"]
    return total


def commit(root: Path) -> str | None:
    """Commit of the checkout, if git can tell."""
    if "UNDA_COMMIT" in os.environ:  # a copy without its history
        return os.environ["UNDA_COMMIT"]
    command = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def device() -> dict[str, Any]:
    """Name, capability and driver of the first CUDA device."""
    from unda import _core, _cuda

    _cuda.prepare()
    info = _core.new_struct("unda_device_info")
    _core.check(_core.lib.unda_device_get_info(0, info))
    return {
        "device": _core.text(info.name),
        "compute_capability": info.compute_capability,
        "driver_version": info.driver_version,
        "nvrtc_version": info.nvrtc_version,
    }


def write(report: Path, root: Path, record: Path) -> dict[str, Any]:
    """Write the record, and a copy into $OUT where that is set."""
    found = counts(report)
    if found["failures"] or found["errors"] or found["passed"] < 1:
        raise SystemExit(f"not recorded: {found}, expected tests that passed and none that failed")
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    entry = {"date": date, "commit": commit(root), "sources": sources(root), **device(), **found}
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(entry, indent=2) + "\n")
    if os.environ.get("OUT"):
        shutil.copy(record, os.environ["OUT"])
    return entry


def check(root: Path, record: Path) -> str | None:
    """Return a warning, or None where the recorded sources are the present ones."""
    if not record.is_file():
        return f"warning: no make test-gpu is recorded in {record.relative_to(root)}"
    entry = json.loads(record.read_text())
    if entry["sources"] == sources(root):
        return None
    return (
        f"warning: csrc/ or cuda/ have changed since make test-gpu last passed, on {entry['date']} "
        f"with {entry['device']}; run it again on a GPU"
    )


if __name__ == "__main__":
    if sys.argv[1] == "write":
        print(json.dumps(write(Path(sys.argv[2]), ROOT, RECORD), indent=2))
    else:
        print(check(ROOT, RECORD) or "the last make test-gpu had the present csrc/ and cuda/")
