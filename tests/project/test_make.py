"""The Makefile: prerequisites are named first, a half-made environment is made again, tiers.

No network and no real environment: a stand-in for Python notes what it is asked to do.
Not here: what is built (test_library_build.py, test_packaging.py), `make mutate` (test_mutations.py).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stand_in_driver

pytestmark = pytest.mark.build

ROOT = Path(__file__).resolve().parents[2]
LINE = "apt-get install build-essential git python3-venv"

# Answers what the Makefile asks; `-m venv FOLDER` puts itself there; the rest it notes.
PYTHON = """#!/bin/bash
case "$*" in
    *"$FAILS_AT"*) [ -z "$FAILS_AT" ] || exit 1 ;;&
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;&
    -[mc]*|examples/*) echo "threads=$OMP_NUM_THREADS backend=$MPLBACKEND $*" >> "$NOTES" ;;
    *) exec REAL "$@" ;;
esac
"""


class Checkout:
    """A copy of the checkout, without an environment, whose Python is the stand-in."""

    def __init__(self, folder):
        self.folder = folder / "checkout"
        left_out = ".git .venv dist *.egg-info __pycache__ stand-in sanitized bits* docs notebooks results"
        shutil.copytree(ROOT, self.folder, ignore=shutil.ignore_patterns(*left_out.split()))
        self.python = folder / "python3"
        self.python.write_text(PYTHON.replace("REAL", sys.executable))
        self.python.chmod(0o755)
        self.notes = folder / "notes"
        self.notes.touch()

    def make(self, *arguments, fails_at="", **environment):
        """Run make; returns the finished process."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        own = {"NOTES": str(self.notes), "FAILS_AT": fails_at, **stand_in_driver.compiler_of_the_objects()}
        return subprocess.run(
            ["make", *arguments, f"PYTHON={self.python}"],
            cwd=self.folder, env=kept | own | environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def asked(self):
        """What Python was asked to do since the last call."""
        lines = self.notes.read_text().splitlines()
        self.notes.write_text("")
        return lines


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def path_without_gxx(folder):
    """A PATH with every program of the present one but g++."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            link = folder / program.name
            if program.name != "g++" and not link.is_symlink():
                link.symlink_to(program)
    return str(folder)


# ---- prerequisites


@pytest.mark.each_value
@pytest.mark.parametrize("target", ["demo", "test"])
@pytest.mark.parametrize(
    ("fails_at", "named"), [("version_info", "Python>=3.10"), ("ensurepip", "ensurepip")]
)
def test_what_python_lacks_is_named_before_anything_is_made(checkout, target, fails_at, named):
    done = checkout.make(target, fails_at=fails_at)
    assert done.returncode != 0
    assert f"missing: {named}." in done.stderr and LINE in done.stderr
    assert not (checkout.folder / ".venv").exists()


def test_a_missing_compiler_is_named_before_anything_is_made(checkout, tmp_path):
    done = checkout.make("demo", PATH=path_without_gxx(tmp_path / "bin"))
    assert done.returncode != 0
    assert "missing: g++." in done.stderr and LINE in done.stderr
    assert not (checkout.folder / ".venv").exists()


def test_a_compiler_that_cannot_is_named_before_anything_is_compiled(checkout, tmp_path):
    """As GCC 11 and Clang answer; a later GCC is taken."""
    compiler = tmp_path / "cc"
    for macros, serves in [("11 __clang__", False), ("4 1", False), ("13 __clang__", True)]:
        compiler.write_text(f'#!/bin/bash\n[ "$1" = --version ] && echo "cc of a test" || echo "{macros}"\n')
        compiler.chmod(0o755)
        done = checkout.make("build/other/flags", f"CC={compiler}", "BUILD=build/other")
        assert (done.returncode == 0) == serves, macros
        assert (checkout.folder / "build/other/flags").exists() == serves
        named = all(words in done.stderr for words in ("GCC 12 or later", "cc of a test", "CC=gcc-12"))
        assert named == (not serves)


def test_nothing_is_named_where_nothing_is_missing(checkout):
    done = checkout.make("prerequisites")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_line_is_the_one_of_the_readme():
    first = (ROOT / "README.md").read_text().split("\n\n")[1]
    assert LINE in first and "Prerequisites" in first


# ---- the environment


def test_an_environment_without_its_stamp_is_made_again(checkout):
    stamp, junk = checkout.folder / ".venv" / "ready", checkout.folder / ".venv" / "junk"
    assert checkout.make(".venv/ready").returncode == 0
    assert stamp.exists()
    junk.touch()
    checkout.asked()
    assert checkout.make(".venv/ready").returncode == 0
    assert junk.exists() and not any("venv" in line.split()[3:] for line in checkout.asked())
    stamp.unlink()
    assert checkout.make(".venv/ready").returncode == 0
    assert stamp.exists() and not junk.exists()


def test_the_stamp_is_written_last(checkout):
    assert checkout.make(".venv/ready", fails_at="setuptools").returncode != 0
    assert (checkout.folder / ".venv" / "bin").exists()
    assert not (checkout.folder / ".venv" / "ready").exists()


def test_the_demo_and_the_tests_each_install_what_they_need(checkout):
    assert checkout.make("demo").returncode == 0
    asked = checkout.asked()
    assert any(line.endswith("--no-build-isolation .[plot]") for line in asked)
    assert "backend=Agg examples/first_wave.py" in asked[-1]
    assert checkout.make("test").returncode == 0
    asked = checkout.asked()
    assert any(line.endswith("--no-build-isolation -e .[test]") for line in asked)
    assert "-m pytest -n 2" in asked[-1] and "threads=1" in asked[-1]
    checkout.make("test")
    assert not any("install" in line for line in checkout.asked())


def test_the_device_targets_make_no_environment_and_use_the_python_they_are_given(checkout):
    for target in ("test-gpu", "sanitize", "bench"):
        done = checkout.make(target, f"PY={checkout.python}", "SANITIZER=env", "-n")
        assert done.returncode == 0, done.stderr
        assert ".venv" not in done.stdout and "pip" not in done.stdout
        assert str(checkout.python) in done.stdout
    planned = checkout.make("test-gpu", "-n").stdout
    assert "--require-gpu" in planned
    assert "OMP_NUM_THREADS=1" in planned  # or each of GPU_JOBS processes starts a thread a core
