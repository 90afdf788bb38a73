"""Mistakes of a user's script that mypy finds, line by line, and none in the same lines put right."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RIGHT = """\
import unda

mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
medium = unda.Acoustic(rho=1.0, c=1.0)
sim = unda.DG(mesh, medium, flux="upwind")
sim = unda.DG(mesh, medium, integrator="lsrk4")
with unda.DG(mesh, medium) as s:
    s.run(until=1.0)
unda.load("run.h5").get("p")
s.plot_slice("p", z=3.0)
sim = unda.DG(mesh, medium, dtype="float64")
grid = unda.FD(unda.Grid((3, 3, 3), 1.0), medium, scheme="staggered")
s.run(steps=10)
unda.ricker(5)
"""
MISTAKES = {
    "flux": ('"upwind"', '"upwnd"'),
    "integrator": ('"lsrk4"', '"rk4"'),
    "method": ("s.run(until", "s.rnu(until"),
    "load": ('.get("p")', '.get_field("p")'),
    "plane": ("z=3.0", "w=3.0"),
    "dtype": ("float64", "float16"),
    "scheme": ("staggered", "stagered"),
    "steps": ("steps=10", 'steps="ten"'),
    "pulse": ("ricker(5)", 'ricker("5")'),
}


def wrong_lines(folder, text):
    (folder / "script.py").write_text(text)
    (folder / "mypy.ini").write_text("[mypy]\nignore_missing_imports = true\nfollow_imports = silent\n")
    places = {"MYPYPATH": ROOT / "python", "MYPY_CACHE_DIR": ROOT / "build" / "mypy"}
    environment = os.environ | {name: str(place) for name, place in places.items()}
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "script.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    found = done.stdout
    assert found.splitlines()[-1:] and found.splitlines()[-1].startswith(("Found", "Success")), done.stderr
    return sorted({int(line.split(":")[1]) for line in found.splitlines() if line.startswith("script.py:")})


@pytest.mark.slow
def test_each_mistake_is_found_and_nothing_else(tmp_path):
    text, expected = RIGHT, []
    for right, wrong in MISTAKES.values():
        assert RIGHT.count(right) == 1
        expected.append(RIGHT[: RIGHT.index(right)].count("\n") + 1)
        text = text.replace(right, wrong)
    assert wrong_lines(tmp_path, RIGHT) == []
    assert wrong_lines(tmp_path, text) == sorted(expected)
