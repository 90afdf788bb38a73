"""What importing unda checks and what it loads: interface, struct sizes, freshness, few modules.

Not here: what is inside the library (test_library_build.py).
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from unda import _core

pytestmark = pytest.mark.build

ROOT = Path(__file__).resolve().parents[2]
HEADER = (ROOT / "csrc" / "unda.h").read_text()


def run(code, path=ROOT / "python", **environment):
    """Run Python code with unda from a folder; returns the finished process."""
    env = os.environ | {"PYTHONPATH": str(path)} | environment
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def import_error(**options):
    """Last line that a failing import prints."""
    done = run("import unda", **options)
    assert done.returncode != 0
    return done.stderr.splitlines()[-1]


# ---- what is loaded


def modules(code):
    """Top-level modules outside the standard library that some code adds to a process."""
    ask = "import sys; before = set(sys.modules)\n" + code
    done = run(ask + "\nprint(*{m.split('.')[0] for m in set(sys.modules) - before})")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split()) - set(sys.stdlib_module_names)


def test_importing_unda_imports_numpy_and_cffi_only():
    allowed = {"unda", "numpy", "cffi", "_cffi_backend"}
    assert modules("import unda") <= allowed
    assert not modules("import unda, scipy") <= allowed


def seconds(code, runs=3):
    """The least processor time that some code takes in a new process, of three."""
    ask = f"import time; begun = time.process_time()\n{code}\nprint(time.process_time() - begun)"
    return min(float(run(ask).stdout) for _ in range(runs))


def test_importing_unda_takes_less_than_four_times_as_long_as_numpy_alone():
    """0.25 s where NumPy takes 0.063 s; whatever else runs slows both."""
    numpy = seconds("import numpy")
    assert seconds("import unda") < 4 * numpy
    assert seconds("import unda, scipy.signal", runs=1) > 4 * numpy


def test_importing_unda_prints_nothing():
    done = run("import unda")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_meshes_may_be_freed_after_everything_else():
    """As at the end of a process, where modules go first; the library must still be there."""
    code = """
import gc, sys, unda
mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
handle = mesh._handle
del mesh, unda
for name in [name for name in sys.modules if name.startswith("unda")]:
    sys.modules.pop(name).__dict__.clear()
gc.collect()
assert "libunda" in open("/proc/self/maps").read(), "unloaded"
del handle
print("freed")
"""
    done = run(code)
    assert done.stdout == "freed\n", (done.returncode, done.stderr)


# ---- a library that does not fit the binding


def fake_library(path, abi, size):
    """A library that claims an interface number and a size for every struct."""
    source = f"int unda_abi(void) {{ return {abi}; }}\nlong unda_sizeof(char *n) {{ return {size}; }}"
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path]
    subprocess.run(command, input=source, text=True, check=True)
    return {"UNDA_LIBRARY": str(path)}


def test_another_interface_number_is_refused(tmp_path):
    abi = _core.lib.UNDA_ABI + 1
    message = import_error(**fake_library(tmp_path / "lib.so", abi, 8))
    assert message.startswith("ImportError") and "run make lib" in message
    assert f"interface {abi}" in message and f"expects {_core.lib.UNDA_ABI}" in message


def test_another_struct_size_is_refused(tmp_path):
    message = import_error(**fake_library(tmp_path / "lib.so", _core.lib.UNDA_ABI, 8))
    assert message.startswith("ImportError") and "run make lib" in message
    assert re.search(r"struct unda_\w+ has 8 bytes in libunda.so, \d+ in the binding", message)


def test_a_file_that_is_no_library_is_refused(tmp_path):
    path = tmp_path / "lib.so"
    path.write_text("no library")
    message = import_error(UNDA_LIBRARY=str(path))
    assert message.startswith("ImportError") and str(path) in message and "run make lib" in message


def test_every_options_struct_of_the_header_is_checked():
    structs = set(re.findall(r"typedef struct (\w+) \{\s*int64_t size_bytes", HEADER))
    assert structs == set(_core._STRUCTS)
    for name in structs:
        assert _core.lib.unda_sizeof(name.encode()) == _core.ffi.sizeof(name)
    assert _core.lib.unda_sizeof(b"unda_nothing") == -1
    assert _core.lib.unda_sizeof(_core.ffi.NULL) == -1


# ---- a library that is older than the sources


@pytest.fixture
def checkout(tmp_path):
    """A copy of what an import looks at."""
    for name in ("python/unda", "csrc", "cuda"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["cuda/physics/acoustic.h", "csrc/dg/tables.c"])
def test_a_stale_library_is_refused_in_a_checkout(checkout, name):
    python = checkout / "python"
    assert run("import unda", path=python).returncode == 0
    with (checkout / name).open("a") as file:
        file.write("/* changed */\n")
    message = import_error(path=python)
    assert message.startswith("ImportError") and "stale" in message and "run make lib" in message


def test_kernels_may_change_without_a_new_library(checkout):
    with (checkout / "cuda" / "dg" / "fused.cu").open("a") as file:
        file.write("/* changed */\n")
    assert run("import unda", path=checkout / "python").returncode == 0


def test_an_installed_unda_has_no_sources_to_compare_with(checkout):
    shutil.rmtree(checkout / "csrc")
    assert run("import unda", path=checkout / "python").returncode == 0


def test_a_missing_binding_is_named(checkout):
    (checkout / "python" / "unda" / "_cffi.py").unlink()
    assert "_cffi.py is missing" in import_error(path=checkout / "python")


# ---- threads of OpenMP


@pytest.mark.parametrize("given, policy", [
    ({}, "'1000'"), ({}, "PASSIVE"),
    ({"OMP_WAIT_POLICY": "active"}, "ACTIVE"), ({"GOMP_SPINCOUNT": "7"}, "'7'"),
])  # fmt: skip
def test_threads_that_wait_spin_briefly_and_sleep_unless_the_user_says_otherwise(monkeypatch, given, policy):
    """What libgomp has read is what it displays."""
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    code = "import os, unda; print([os.environ.get(n) for n in ('OMP_WAIT_POLICY', 'GOMP_SPINCOUNT')])"
    done = run(code, OMP_DISPLAY_ENV="verbose", **given)
    shown = {name: value for name, value in re.findall(r"(\w+) = ('.*')", done.stderr)}
    name = next(iter(given), "OMP_WAIT_POLICY" if policy == "PASSIVE" else "GOMP_SPINCOUNT")
    assert policy in shown[name], done.stderr
    assert done.stdout.strip() == str([given.get("OMP_WAIT_POLICY"), given.get("GOMP_SPINCOUNT")])


THREADS = """
import unda
water, none = unda.Acoustic(rho=1.0, c=1.0), {"*": "periodic"}
box = {n: unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n)) for n in (1, 5)}
for make in (
    lambda **more: unda.FD(unda.Grid((255, 1, 257), 1.0), water, boundary=none, **more),
    lambda **more: unda.FD(unda.Grid((512, 1, 256), 1.0), water, boundary=none, **more),
    lambda **more: unda.FD(unda.Grid((512, 1, 1025), 1.0), water, boundary=none, **more),
    lambda **more: unda.FD(unda.Grid((45, 1, 45), 1.0), water, scheme="staggered", boundary=none, **more),
    lambda **more: unda.FD(unda.Grid((200, 1, 200), 1.0), water, scheme="staggered", boundary=none, **more),
    lambda **more: unda.DG(box[1], water, degree=3, **more),
    lambda **more: unda.DG(box[5], water, degree=3, **more),
):
    print(*(make(device="cpu", **more).config["threads"] for more in ({}, {"threads": 3})), end=" ")
"""


def test_small_problems_take_few_threads_and_threads_asked_for_are_taken():
    """65,536 nodes of the scalar scheme, or 8,192 unknowns of the others, are worth a thread."""
    done = run(THREADS, OMP_NUM_THREADS="4", UNDA_DEVICE="cpu")
    assert done.stdout.split() == "1 3 2 3 4 3 1 3 4 3 1 3 4 3".split(), done.stderr
