"""What the compiled library is: the symbols it shows, the instructions in it, what it never does.

Not here: how Python checks it at import (test_library_loading.py), the wheel (test_packaging.py).
"""

import platform
import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

pytestmark = pytest.mark.build

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "python" / "unda" / "libunda.so"
NEEDED = {"libc", "libm", "libgomp", "libdl", "libpthread"}
PRINTS_OR_ENDS = set(
    "printf vprintf fprintf vfprintf dprintf puts fputs putchar putc fputc perror stdout stderr "
    "exit _exit _Exit quick_exit abort raise kill __assert_fail __printf_chk __fprintf_chk".split()
)
FORBIDDEN_FLAGS = r"-Ofast|-ffast-math|-funsafe-math-optimizations|-march=native|-ffinite-math-only"

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="clones are for x86-64")


def output(*command, **options):
    """Standard output of a command that succeeds."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def symbols(library, *options):
    """Names in the dynamic symbol table, without their versions."""
    lines = output("nm", "-D", *options, str(library)).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def declared_functions():
    header = (ROOT / "csrc" / "unda.h").read_text()
    return set(re.findall(r"^UNDA_API [^;]*?(unda_\w+)\(", header, re.MULTILINE))


def fma_counts(binary):
    """Multiply-adds in each function that was built for several instruction sets: {name: count}.

    Those named vectors are built for AVX-512 alone, and replace what is named parts.
    """
    counts = Counter()
    name = None
    for line in output("objdump", "-d", "--no-show-raw-insn", str(binary)).splitlines():
        if line.endswith(">:"):
            kind = r"\w+\.(?:arch_x86_64_v[34]|default)|\w+_vectors_\w+"
            head = re.match(rf"[0-9a-f]+ <({kind})(?:\.\w+)*>:", line)
            name = head and head[1]
            if name:
                counts[name] += 0
        elif name and "\tvf" in line and re.search(r"\tvfn?m(add|sub)", line):
            counts[name] += 1
    return counts


def compiled(source, target, without=(), flags=()):
    """Compile one C file with the flags of the Makefile, less some, plus some."""
    own = [flag for flag in output("make", "-s", "flags", cwd=ROOT).split() if flag not in without]
    subprocess.run(["gcc", *own, *flags, "-c", source, "-o", target], cwd=ROOT, check=True)
    return target


# ---- symbols


def test_the_library_exports_exactly_what_its_header_declares():
    declared = declared_functions()
    assert len(declared) > 40
    assert symbols(LIBRARY, "--defined-only") == declared


def test_the_library_needs_only_the_c_library_and_openmp():
    found = re.findall(r"NEEDED.*\[([\w-]+)\.so", output("readelf", "-d", str(LIBRARY)))
    assert "libgomp" in found
    assert {name for name in found if not name.startswith("ld-linux")} <= NEEDED


def test_the_library_has_no_means_to_print_exit_or_abort():
    assert not symbols(LIBRARY, "--undefined-only") & PRINTS_OR_ENDS


def test_a_library_that_prints_is_noticed(tmp_path):
    source = tmp_path / "loud.c"
    source.write_text('#include <stdio.h>\nvoid f(int i) { fprintf(stderr, "%d", i); }\n')
    library = tmp_path / "loud.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
    assert "stderr" in symbols(library, "--undefined-only") & PRINTS_OR_ENDS


# ---- instructions


@x86
def test_the_clones_for_newer_processors_multiply_and_add_in_one_instruction():
    counts = fma_counts(LIBRARY)
    # copying, signs and quotients have no sums of products
    plain = {"copy_values", "drop_signs", "compare", "set_values", "keep_largest", "keep_smallest",
             "multiply"}  # fmt: skip
    plain |= {f"{name}_{p}" for name in ("fade", "gather_many", "scatter") for p in ("f32", "f64")}
    # nor have sums over orbits, and of jumps that are both lifted, and what calls them
    plain |= {f"{name}_{p}" for name in ("sum_nodes", "sum_results") for p in ("f32", "f64")}
    parts = "both_sum_faces", "by_node_sum_faces", "right_hand_side_by_blocks"
    plain |= {name.split(".")[0] for name in counts if any(part in name for part in parts)}
    # jumps over a weight: gcc multiplies first, then adds, where many are in memory in between
    names = {name.split(".")[0] for name in counts if "_add_jumps_" not in name} - plain
    stages = product(("acoustic", "elastic", "maxwell"), ("one", "both", "by_node"), ("f32", "f64"))
    assert {f"{physics}_{kind}_block_stage_{p}" for physics, kind, p in stages} <= names
    for name in names:
        # A stage sums ROWS x NUM_REF = 16 things at once, updates five (lsrk4 one in its first
        # stage, then two, ab3 two). Rows of FD take six pairs and more a node (order 4 and above,
        # along three axes), as do what matched layers add to them (a line of a source takes two loops),
        # a rate loop as many as it is
        # named for. Staggered: differences take ten pairs (orders 2 to 8), layers two, an update at
        # least one for each field of its pass; a receiver one a node and one a line of nodes.
        # Spectral elements: ROWS nodes of a line with their unknowns, 4 x 3 and 4 x 1. Hexahedra by DG: a
        # gradient at a node is three sums of three products at least, which a slab has in two places. Lines
        # of either: 3, 4 or 5 rows of a component at least, of two by DG, along two axes in a plane. Blocks:
        # 4 x 3, 3 x 4, 2 x 6 and 1 x 6
        # sums; a lifted jump of each member of an orbit, in three directions. A pass over layers: a
        # derivative along each direction, a memory variable and a field.
        known = {"stage": 16, "update": 5, "add_sources": 1, "add_lines": 2, "_rows": 6,
                 "additions": 6, "differences": 10,
                 "add_pairs": 1, "absorb": 2, "staggered": 1, "weigh": 2,
                 "solid_task": 12, "fluid_task": 4, "sem_predict": 2, "sem_pass": 3,
                 "add_squares": 1, "add_waves": 8, "add_wave": 2, "combine": 2,
                     "sem_finish": 1, "_finish": 6, "multiply_parts": 42,
                 "_sum_faces": 12, "_slabs": 12, "layer_pass": 5,
                 "_third": 24, "_plane": 48, "_lines": 12, "multiply_vectors": 42}  # fmt: skip
        least = next((n for part, n in known.items() if part in name), None) or int(name.split("_")[1])
        if "_vectors_" in name:
            assert counts[name] >= least, name
            continue
        vectors = name.replace("_parts_", "_vectors_")
        newest = vectors if vectors != name else f"{name}.arch_x86_64_v4"
        assert counts[newest] >= least, name
        assert counts[f"{name}.arch_x86_64_v3"] >= least, name
        assert counts[f"{name}.default"] == 0, name


@x86
def test_iso_c_would_have_lost_them(tmp_path):
    """ISO C lets gcc contract nothing across statements, and it contracts nothing at all."""
    source = ROOT / "csrc" / "cpu" / "limits.c"
    ours = ["-std=gnu11", "-ffp-contract=fast"]
    iso = fma_counts(compiled(source, tmp_path / "iso.o", ours, ["-std=c11"]))
    gnu = fma_counts(compiled(source, tmp_path / "gnu.o"))
    assert iso.keys() == gnu.keys()
    assert sum(iso.values()) == 0 < sum(gnu.values())


def test_no_flag_breaks_floating_point_or_ties_the_binary_to_this_machine():
    flags = output("make", "-s", "flags", cwd=ROOT)
    assert "-std=gnu11" in flags and "-ffp-contract=fast" in flags and "-fvisibility=hidden" in flags
    assert not re.search(FORBIDDEN_FLAGS, flags)
    assert re.search(FORBIDDEN_FLAGS, output("make", "-s", "flags", "OPT=-Ofast", cwd=ROOT))


# ---- the process that loads it

SUBNORMALS = """
import ctypes, sys
tiny = 5e-324
ctypes.CDLL(sys.argv[1])
assert tiny * 1.0 > 0 and 2.0 ** -1074 > 0, "subnormals are flushed to zero"
half = float(sys.argv[2]) / 2
assert half > 0, "subnormals are flushed to zero"
"""


def keeps_subnormals(library):
    """Whether a process that loads a library still has numbers below the smallest normal one."""
    command = [sys.executable, "-c", SUBNORMALS, str(library), repr(sys.float_info.min)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "flushed" in done.stderr, done.stderr
    return done.returncode == 0


def test_loading_the_library_leaves_subnormals_alone():
    assert keeps_subnormals(LIBRARY)


@x86
def test_a_library_that_flushes_subnormals_is_noticed(tmp_path):
    """What linking with -ffast-math did up to gcc 12: a constructor that sets FTZ and DAZ."""
    source = tmp_path / "fast.c"
    source.write_text(
        "#include <immintrin.h>\n"
        "__attribute__((constructor)) static void f(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
    )
    library = tmp_path / "fast.so"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    assert not keeps_subnormals(library)
