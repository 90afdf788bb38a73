"""The C library driven from C through its public interface, with --asan under AddressSanitizer and UBSan.

Every object from creation to freeing, every allocation failing once, every argument refused; the
CUDA engine on the stand-in driver too. By default with the objects that ship: then leaks and accesses out
of bounds go unseen. Not here: the CUDA host layer alone (test_gpu_loading.py). Next: c/library.c,
c/refusals.c.
"""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import stand_in_driver

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "sanitized"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"
#: Of library and scenarios: what is undefined is an illegal instruction, which AddressSanitizer reports
#: by file and line. To say in words what it was takes a third of the compiler's time.
TRAP = "-fsanitize-undefined-trap-on-error"
ARGUMENT, MESH = 1, 2
asan = False  # whether --asan was given


def stand_in(asan):
    """Environment that chooses the stand-in for a CUDA device, built with sanitizers as well if asked for."""
    flags = SANITIZERS.split() if asan else []
    return stand_in_driver.build(ROOT / "build" / "stand-in", *flags) | {
        "UNDA_KERNEL_DIR": str(ROOT / "cuda")
    }


def objects(*where):
    """Objects of the library; its folder may hold some of sources that are gone."""
    return subprocess.check_output(["make", "-s", "objects", *where], cwd=ROOT, text=True).split()


def made(command):
    environment = os.environ | stand_in_driver.compiler_of_the_objects()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)


def sanitized_objects():
    """Compile the library with sanitizers; make decides what is out of date."""
    # Optimizing takes three times as long, and hides accesses from the sanitizers.
    plain = [f"BUILD={BUILD}", "OPT=-O0"]
    # An ifunc resolver would run before AddressSanitizer is ready.
    extra = [f"EXTRA={SANITIZERS} {TRAP} -DUNDA_NO_CLONES"]
    # What is undefined in one precision is in the other, from the same source; sizes of arrays may differ.
    extra += ["EXTRA_OF=%_f64.o:-fno-sanitize=undefined"]
    # No scenario has waves of DG other than sound, or layers of hexahedra: those are taken as they were
    # compiled for the library.
    unused = re.compile(r"/dg/cpu_((hex_)?(elastic|maxwell)|layer_hex)_f(32|64)\.o$")
    as_shipped = [name for name in objects() if unused.search(name)]
    sanitized = [name for name in objects(f"BUILD={BUILD}") if not unused.search(name)]
    # Several test processes may start at once: the folder is locked.
    made(["flock", str(BUILD), "make", "-s", f"-j{os.cpu_count()}", *plain, *extra, *sanitized])
    made(["make", "-s", *as_shipped])
    return sanitized + as_shipped


@cache
def program(asan):
    """Build the scenarios with the objects that ship, or all of it with sanitizers."""
    BUILD.mkdir(parents=True, exist_ok=True)
    library = sanitized_objects() if asan else objects()
    names = ["library.c", "rig.c", "grid.c", "spectral.c", "far.c", "parts.c", "ranges.c", "team.c"]
    names += ["sem_team.c", "sem_ranks.c"]
    sources = [ROOT / "tests" / "c" / name for name in (*names, "refusals.c")]
    target = BUILD / f"library.{os.getpid()}"
    flags = ["-std=gnu11", "-g", "-Wall", "-Wextra", "-fopenmp", f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'cuda'}"]
    flags += [*SANITIZERS.split(), TRAP] if asan else []
    link = ["-Wl,--wrap=calloc", "-lm", "-ldl", "-lpthread", "-o", target]
    made(["gcc", *flags, *sources, *library, *link])
    return target.rename(BUILD / ("library" if asan else "library_as_shipped"))


@pytest.fixture(scope="module", autouse=True)
def built(request):
    """Compile before the first test, whose time is limited."""
    global asan
    asan = request.config.getoption("--asan")
    program(asan)
    stand_in(asan)


def run(scenario, device="cpu"):
    """Run a scenario; returns the finished process and its "key=value" lines."""
    # Threads that wait for the next failure would use up a processor.
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    environment |= {"UBSAN_OPTIONS": "print_stacktrace=1", "ASAN_OPTIONS": "handle_sigill=1"}
    environment |= stand_in(asan) if device == "cuda" else {}
    command = [program(asan), scenario, {"cpu": "-1", "cuda": "0"}[device]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done, [line.rsplit("=", 1) for line in done.stdout.splitlines()]


def succeeds(scenario, device="cpu"):
    """Values of a scenario in which nothing fails and nothing is printed; with sanitizers nothing leaks."""
    done, pairs = run(scenario, device)
    assert done.stderr == ""
    assert done.returncode == 0, done.stdout
    return dict(pairs)


#: Kernels, which take a third of a second each to compile, run with sanitizers alone.
BOTH = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.asan)])
EACH_DEVICE = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.slow)])


def test_solvers_of_every_kind_live_and_die_cleanly():
    assert succeeds("lifecycle")["solvers"] == "20"


@EACH_DEVICE
@pytest.mark.parametrize("scenario", ["memory", "grid_memory"])
def test_any_allocation_may_fail(scenario, device):
    """Each failure is reported with what was wanted, and leaks nothing."""
    assert int(succeeds(scenario, device)["failed"]) > 60


@EACH_DEVICE
def test_any_allocation_of_hexahedra_may_fail_and_a_step_makes_none(device):
    """And a place without coordinates in the cell that is given with it is refused."""
    found = succeeds("hexahedra", device)
    assert found["refused"] == "1"
    assert int(found["failed"]) > 20 and found["allocations"] == "0"


@EACH_DEVICE
def test_any_allocation_of_a_team_may_fail_and_a_step_makes_none(device):
    found = succeeds("team", device)
    assert int(found["failed"]) > (200 if device == "cpu" else 30) and found["allocations"] == "0"


def test_a_face_that_is_dropped_turned_or_a_stage_late_is_seen():
    """Of traces that a part receives; without a fault its state is that of one device."""
    found = succeeds("team_faults")
    assert (found["same"], found["seen"]) == ("1", "3")


@EACH_DEVICE
def test_any_allocation_of_a_staggered_scheme_may_fail_and_a_step_makes_none(device):
    found = succeeds("staggered", device)
    assert int(found["failed"]) > 20 and found["allocations"] == "0"


@EACH_DEVICE
def test_any_allocation_of_a_grid_in_slabs_may_fail_and_a_step_makes_none(device):
    done, pairs = run("slabs", device)
    assert (done.stderr, done.returncode) == ("", 0), done.stdout
    assert [value for name, value in pairs if name == "allocations"] == ["0", "0"]
    assert int(dict(pairs)["failed"]) > (60 if device == "cpu" else 20)


@pytest.mark.asan
def test_any_allocation_of_a_grid_in_host_memory_may_fail_and_a_step_makes_none():
    found = succeeds("window", "cuda")
    assert int(found["failed"]) > 10 and found["allocations"] == "0"


@EACH_DEVICE
def test_any_allocation_of_spectral_elements_may_fail_a_step_makes_none_and_bad_calls_are_refused(device):
    found = succeeds("sem", device)
    assert int(found["failed"]) > (60 if device == "cpu" else 20) and found["allocations"] == "0"
    assert found["refused"] == found["calls"] == "17"


@EACH_DEVICE
def test_any_allocation_of_spectral_elements_in_parts_may_fail_and_a_step_makes_none(device):
    """And teams that cannot be are refused."""
    found = succeeds("sem_team", device)
    assert int(found["failed"]) > (60 if device == "cpu" else 20) and found["allocations"] == "0"
    assert found["refused"] == found["calls"] == "9"


def test_any_allocation_of_spectral_elements_in_processes_may_fail_and_a_step_makes_none():
    """Two, which are threads here: what one lacks is an error of both."""
    found = succeeds("sem_ranks")
    assert int(found["failed"]) > 60 and found["allocations"] == "0"


def test_a_force_that_is_dropped_or_a_step_late_is_seen():
    """Of those that a part receives; without a fault its state is that of one device, but for rounding."""
    found = succeeds("sem_team_faults")
    assert (found["same"], found["seen"]) == ("1", "2")


@pytest.mark.asan
def test_kernels_of_spectral_elements_count_nodes_entries_and_words_beyond_32_bits():
    found = succeeds("far", "cuda")
    assert found["same"] == found["moving"] == "2"


def test_counts_of_spectral_elements_that_do_not_fit_are_refused():
    found = succeeds("far_counts")
    assert found["fits"] == found["tiles_fit"] == "1"
    for key, words in (
        ("nodes", "more than 2147483647 nodes of degree 10"),
        ("device_nodes", "2147483648 nodes, expected 2147483647 at most"),
        ("entries", "share nodes in 2147483648 places, expected 2147483647 at most"),
    ):
        assert found[key].startswith("1 ") and words in found[key]


@BOTH
def test_a_step_allocates_nothing(device):
    assert succeeds("steps", device)["allocations"] == "0"


@BOTH
def test_a_blow_up_is_reported_and_leaves_a_solver_that_can_be_freed(device):
    found = succeeds("unstable", device)
    assert found["good"] == found["again"] == "1"


@BOTH
def test_after_the_clock_was_set_nothing_of_the_old_one_comes_back(device):
    """A state that was never good is not replaced by what happens to be in memory; its step stays."""
    found = succeeds("clock", device)
    assert (found["refused"], found["step"], found["kept"]) == ("1", "7", "1")


@pytest.mark.parametrize(
    ("device", "kernel"),
    [
        ("cpu", "fused"),
        pytest.param("cuda", "fused", marks=pytest.mark.asan),
        *(pytest.param("cuda", name, marks=pytest.mark.slow) for name in ("microblock", "gemm", "node")),
    ],
)
def test_a_stage_in_two_parts_has_the_bits_of_one(device, kernel):
    found = succeeds(f"ranges_{kernel}", device)
    assert found["cases"] == found["same"] == "10"
    assert found["inner"] == found["border"] and int(found["inner"]) >= 10 * 6


def test_parts_of_a_mesh_have_its_neighbours_and_turns_and_any_allocation_of_them_may_fail():
    """And a turn that is changed is seen, in each of three parts of both shapes."""
    found = succeeds("parts")
    assert (found["wrong"], found["seen"]) == ("0", "6")
    assert int(found["turned"]) > 50 and int(found["failed"]) > 60


def test_a_mesh_may_be_freed_before_its_solver():
    assert succeeds("owners")["freed"] == "1"


def test_every_bad_argument_is_refused_by_status_and_message():
    done, _ = run("refusals")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(("unda_", "options", "rec", "source", "shared", "monitor"))
    ]
    assert len(lines) >= 150
    accepted = [line for line in lines if not re.search(rf"=({ARGUMENT}|{MESH}) .+ \[[\w/]+\.c:\d+\]$", line)]
    assert accepted == []
    flags = re.findall(r"^(?:untouched|unknown)=(\d)$", done.stdout, re.MULTILINE)
    assert flags and set(flags) == {"1"}


def test_every_function_that_can_fail_is_among_them():
    header = (ROOT / "csrc" / "unda.h").read_text()
    fallible = set(re.findall(r"^UNDA_API unda_status (unda_\w+)\(", header, re.MULTILINE))
    needs_device = {"unda_device_count", "unda_device_get_info"}
    called = set(
        re.findall(
            r"\b(unda_\w+)\(",
            "".join((ROOT / "tests/c" / name).read_text() for name in ("refusals.c", "grid.c")),
        )
    )
    assert fallible - needs_device <= called


@pytest.mark.asan
@pytest.mark.parametrize(
    ("fault", "report"),
    [
        ("overrun", "AddressSanitizer: heap-buffer-overflow"),
        ("leak", "LeakSanitizer: detected memory leaks"),
        ("overflow", r"AddressSanitizer: ILL .*\n.* in run_overflow \S+/library.c:\d+"),
    ],
)
def test_the_sanitizers_find_what_they_should(fault, report):
    done, _ = run(fault)
    assert done.returncode != 0
    assert re.search(report, done.stderr)
