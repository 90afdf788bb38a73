"""Every kernel compiles with the real NVRTC, without a GPU, and keeps its values in registers.

By default acoustic and elastic kernels of degree 3 on sm_90 with a quarter of the settings, and steps of
finite differences of order 4; the slow tier does all, on sm_80 too. Not here: what the
kernels compute (test_cuda_engine.py). Next: compile_kernels.py.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import gpu_host
import pytest
import stand_in_driver

pytestmark = pytest.mark.build

TESTS = Path(__file__).resolve().parents[1]
SETTINGS = {
    "dtype": ("float32", "float64"),
    "kernel": ("fused", "blocks", "tensor", "node", "element", "gemm", "microblock"),
    "flux": ("upwind", "central"),
    "integrator": ("lsrk4", "ab3"),
    "per": ("cell", "node"),
}
#: Bytes of local memory a thread may use, whose traffic competes with the state's. Some tiles that were
#: measured to be the fastest need a vector or two; with six and nine fields more blocks an SM, and so fewer
#: registers a thread, won over no spill (benchmarks/NOTES.md).
BUDGET = {
    ("acoustic", "fused"): 32, ("elastic", "fused"): 448, ("maxwell", "fused"): 224,
    ("acoustic", "blocks"): 56, ("elastic", "blocks"): 176, ("maxwell", "blocks"): 80,
    ("acoustic", "tensor"): 48, ("elastic", "tensor"): 48, ("maxwell", "tensor"): 48,
    ("acoustic", "node"): 16, ("elastic", "node"): 16, ("maxwell", "node"): 16,
    ("acoustic", "element"): 16, ("elastic", "element"): 16, ("maxwell", "element"): 16,
    ("acoustic", "gemm"): 0, ("elastic", "gemm"): 0, ("maxwell", "gemm"): 0,
    ("acoustic", "microblock"): 16, ("elastic", "microblock"): 16, ("maxwell", "microblock"): 16,
}  # fmt: skip
#: Of kernel tensor where warps take two lots, whose sums they keep, and where a block has 15 warps.
WIDE = {("elastic", 7): 112, ("elastic", 9): 144}
KNOWN = {  # above the budget: physics, degree, architecture, dtype, kernel, flux, integrator, per
    ("acoustic", 9, 90, "float32", "fused", "central", "ab3", "cell"): 40,
    ("maxwell", 3, 80, "float64", "fused", "central", "ab3", "cell"): 232,
}
NAMES = ("physics", "degree", "architecture", *SETTINGS)
REGISTERS = 255  # what a thread can have

needs_nvrtc = pytest.mark.skipif(
    stand_in_driver.real_nvrtc() is None, reason="NVRTC is not installed: pip install unda-waves[test]"
)


def compile_all(cases, **environment):
    """Resources of each case, from a process that sees neither a stand-in nor a GPU's driver."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("UNDA_")}
    done = subprocess.run(
        [sys.executable, str(TESTS / "compile_kernels.py")],
        input=json.dumps(cases), env=kept | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def every(degree, architecture, physics="acoustic"):
    """All settings of one degree."""
    common = {"degree": degree, "architecture": architecture, "physics": physics}
    cases = [
        common | dict(zip(SETTINGS, values, strict=True)) for values in itertools.product(*SETTINGS.values())
    ]
    return [case for case in cases if known(case)]


def known(case):
    """Whether a kernel computes a case: tensor none in float64."""
    return case["kernel"] != "tensor" or case["dtype"] == "float32"


def quarter(cases):
    """A quarter of the cases: both precisions of all kernels, with every flux, integrator and `per`."""
    numbers = {value: i for values in SETTINGS.values() for i, value in enumerate(values)}
    chosen = []
    for case in cases:
        dtype, kernel, flux, integrator, _ = (numbers[case[name]] for name in SETTINGS)
        if flux == (dtype + kernel) % 2 and integrator == (dtype + case["degree"]) % 2:
            chosen.append(case)
    return chosen


def allowed(case, budget):
    wide = WIDE.get((case["physics"], case["degree"]), 0) if case["kernel"] == "tensor" else 0
    usual = max(budget[case["physics"], case["kernel"]], wide)
    return KNOWN.get(tuple(case[name] for name in NAMES), usual)


def spilled(cases, budget):
    """The cases that spill more than the budget, with what they spill."""
    found = zip(cases, compile_all(cases), strict=True)
    return [(case, r["spill_bytes"]) for case, r in found if r["spill_bytes"] > allowed(case, budget)]


#: Kernels that only reproduce papers are slow.
DEFAULT = [("acoustic", 3, name) for name in ("fused", "blocks", "tensor")] + [("elastic", 3, "fused")]


@needs_nvrtc
@pytest.mark.parametrize(
    ("physics", "degree", "kernel"),
    [
        pytest.param(*one, kernel, marks=[pytest.mark.slow] * ((*one, kernel) not in DEFAULT))
        for one in [("acoustic", n) for n in (1, 3, 4, 8)]
        + [("elastic", 3), ("elastic", 6), ("maxwell", 3), ("maxwell", 6)]
        for kernel in SETTINGS["kernel"]
    ],
)
def test_kernels_compile_without_spilling(physics, degree, kernel):
    cases = [case for case in quarter(every(degree, 90, physics)) if case["kernel"] == kernel]
    if (
        physics,
        degree,
        kernel,
    ) in DEFAULT:  # both precisions, materials by cell and by node, of what "auto" takes
        cases = cases[:1] + cases[-1:] * ((physics, kernel) == ("acoustic", "fused"))
    assert spilled(cases, BUDGET) == []


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize("degree", range(1, 10))
@pytest.mark.parametrize("physics", ["acoustic", "elastic", "maxwell"])
def test_all_kernels_compile_without_spilling(physics, degree, architecture):
    assert spilled(every(degree, architecture, physics), BUDGET) == []


#: Launches of many steps, beside a stage of few spills; and what one of eight cells a block may spill.
RESIDENT, RESIDENT_BUDGET = {"resident": 256, "rows": 1, "cols": 1, "tile": 8, "blocks": 1}, 96


@needs_nvrtc
@pytest.mark.parametrize(
    ("physics", "degree"),
    [
        ("acoustic", 3),
        *(
            pytest.param(physics, degree, marks=pytest.mark.slow)
            for physics in ("acoustic", "elastic", "maxwell")
            for degree in range(1, 7)
        ),
    ],
)
def test_launches_of_many_steps_compile_without_spilling(physics, degree):
    cases = [case for case in quarter(every(degree, 90, physics)) if case["kernel"] == "fused"]
    if (physics, degree) == ("acoustic", 3):
        cases = cases[:1]
    found = compile_all([case | {"kernel_options": RESIDENT} for case in cases])
    assert [one["spill_bytes"] for one in found if one["spill_bytes"] > RESIDENT_BUDGET] == []


#: Of kernel fused in float64 on tensor cores where "auto" takes it: up to which degree; bytes that more
#: blocks are worth.
DOUBLE_KNOWN = {"acoustic": (3, 72), "elastic": (4, 144), "maxwell": (5, 88)}


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("physics", DOUBLE_KNOWN)
def test_fused_on_tensor_cores_compiles_without_spilling(physics):
    last, budget = DOUBLE_KNOWN[physics]
    common = {"physics": physics, "flux": "upwind", "per": "cell", "dtype": "float64", "kernel": "fused",
              "architecture": 90, "kernel_options": {"products": 2}}  # fmt: skip
    cases = [
        common | {"degree": n, "integrator": name}
        for n, name in itertools.product(range(2, last + 1), SETTINGS["integrator"])
    ]
    assert spilled(cases, {(physics, "fused"): budget}) == []


#: Of kernel blocks in float32 on tensor cores: from which degree it was measured; bytes. A lane has 48 sums,
#: those of four matrices, while it multiplies by one: the other three are 144 bytes, which is derived. Where
#: it was measured those of one, 48, and a vector: 56 were seen before this was set.
SPLIT_KNOWN = {"acoustic": 9, "elastic": 7, "maxwell": 8}
SPLIT_BUDGET, SPLIT_ELSEWHERE = 64, 144


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("physics", SPLIT_KNOWN)
def test_blocks_of_pairs_of_half_numbers_compile_without_spilling(physics):
    common = {"physics": physics, "dtype": "float32", "kernel": "blocks", "architecture": 90,
              "kernel_options": {"products": 2}}  # fmt: skip
    rest = itertools.product(
        SETTINGS["integrator"], (("upwind", "cell"), ("central", "cell"), ("upwind", "node"))
    )
    cases = [
        common | {"degree": n, "integrator": name, "flux": flux, "per": per}
        for n, (name, (flux, per)) in itertools.product(range(1, 10), rest)
    ]
    taken = [case for case in cases if case["degree"] >= SPLIT_KNOWN[physics]]
    assert spilled(taken, {(physics, "blocks"): SPLIT_BUDGET}) == []
    assert spilled(cases, {(physics, "blocks"): SPLIT_ELSEWHERE}) == []


#: Of kernel lines: what one block more on an SM costs, where metrics are read and where they are computed.
LINES_KNOWN = {
    ("float32", "elastic", 2): 32, ("float32", "elastic", 4): 16, ("float32", "elastic", 5): 16,
    ("float32", "elastic", 6): 8, ("float32", "elastic", 8): 8, ("float32", "elastic", 9): 8,
    ("float32", "maxwell", 9): 24, ("float64", "elastic", 7): 48, ("float64", "elastic", 8): 16,
    ("float64", "elastic", 9): 40, ("float64", "elastic", 10): 72, ("float64", "acoustic", 9): 32,
    ("float64", "acoustic", 10): 40, ("float64", "maxwell", 6): 16, ("float64", "maxwell", 10): 8,
}  # fmt: skip
TRILINEAR_KNOWN = {
    # one more block an SM is worth it
    ("float32", "acoustic", 1): 8, ("float32", "acoustic", 2): 24, ("float32", "acoustic", 4): 24,
    ("float32", "acoustic", 5): 8, ("float32", "acoustic", 6): 8, ("float32", "acoustic", 7): 24,
    ("float32", "acoustic", 8): 16, ("float32", "acoustic", 9): 8, ("float32", "acoustic", 10): 24,
    ("float32", "elastic", 2): 24, ("float32", "elastic", 3): 16, ("float32", "elastic", 4): 24,
    ("float32", "elastic", 5): 16, ("float32", "elastic", 6): 16, ("float32", "elastic", 7): 16,
    ("float32", "elastic", 8): 24, ("float32", "elastic", 9): 16, ("float32", "elastic", 10): 24,
    ("float32", "maxwell", 1): 8, ("float32", "maxwell", 4): 24, ("float32", "maxwell", 5): 16,
    ("float32", "maxwell", 9): 8, ("float64", "acoustic", 7): 24, ("float64", "acoustic", 8): 8,
    ("float64", "acoustic", 9): 32, ("float64", "acoustic", 10): 40, ("float64", "elastic", 7): 48,
    ("float64", "elastic", 8): 16, ("float64", "elastic", 9): 40, ("float64", "elastic", 10): 40,
    ("float64", "maxwell", 6): 16, ("float64", "maxwell", 10): 16,
}  # fmt: skip


METRICS = ("affine", "trilinear", "stored")


def of_lines(degree, physics):
    """Kernel lines of hexahedra of every metric."""
    cases = [case for case in quarter(every(degree, 90, physics)) if case["kernel"] == "fused"]
    metrics = [{"kernel_options": {"metric": one}} for one in METRICS]
    return [case | {"kernel": "lines"} | metric for case, metric in itertools.product(cases, metrics)]


def chosen(settings, default):
    """Cases {setting: value}: all, or by default the fewest in which every value occurs."""
    if default:
        num = max(len(values) for values in settings.values())
        return [{name: values[i % len(values)] for name, values in settings.items()} for i in range(num)]
    return [dict(zip(settings, values, strict=True)) for values in itertools.product(*settings.values())]


@needs_nvrtc
@pytest.mark.parametrize(
    ("physics", "degree", "default"),
    [
        pytest.param("acoustic", 3, True, id="acoustic-3-some"),
        *(
            pytest.param(physics, degree, False, marks=pytest.mark.slow, id=f"{physics}-{degree}")
            for physics in ("acoustic", "elastic", "maxwell")
            for degree in range(1, 11)
        ),
    ],
)
def test_lines_compile_without_spilling(physics, degree, default):
    some = chosen({name: SETTINGS[name] for name in ("dtype", "per")} | {"metric": METRICS}, default)
    cases = [
        case for case in of_lines(degree, physics)
        if {"dtype": case["dtype"], "per": case["per"]} | case["kernel_options"] in some
    ]  # fmt: skip
    assert len(cases) == (3 if default else 12)
    spilt = []
    for case, r in zip(cases, compile_all(cases), strict=True):
        known = TRILINEAR_KNOWN if case["kernel_options"]["metric"] == "trilinear" else LINES_KNOWN
        if r["spill_bytes"] > known.get((case["dtype"], physics, degree), 0):
            spilt.append((case, r["spill_bytes"]))
    assert spilt == []


#: Of kernel columns where "auto" takes it: up to which degree; bytes that those blocks were worth.
COLUMNS_KNOWN = {
    ("affine", "float32", "acoustic"): (10, 0), ("affine", "float32", "maxwell"): (3, 40),
    ("affine", "float64", "acoustic"): (4, 0), ("trilinear", "float32", "acoustic"): (10, 32),
    ("trilinear", "float64", "acoustic"): (10, 144), ("trilinear", "float32", "maxwell"): (4, 88),
    ("trilinear", "float32", "elastic"): (5, 56), ("stored", "float32", "maxwell"): (2, 0),
}  # fmt: skip


@needs_nvrtc
@pytest.mark.parametrize("degree", [pytest.param(degree, marks=pytest.mark.slow) for degree in range(2, 11)])
def test_columns_compile_with_their_values_in_registers(degree):
    known = {key: most for key, (degrees, most) in COLUMNS_KNOWN.items() if degree <= degrees}
    cases = [
        {"degree": degree, "architecture": 90, "physics": physics, "dtype": dtype, "kernel": "columns",
         "flux": "upwind", "integrator": "lsrk4", "per": "cell", "kernel_options": {"metric": metric}}
        for metric, dtype, physics in known
    ]  # fmt: skip
    spilt = {key: r["spill_bytes"] for key, r in zip(known, compile_all(cases), strict=True)}
    assert {key: bytes_ for key, bytes_ in spilt.items() if bytes_ > known[key]} == {}


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize(
    ("axes", "metrics"),
    [(1, METRICS[2:]), *(pytest.param(n, METRICS, marks=pytest.mark.slow) for n in (1, 2))],
    ids=lambda value: value if isinstance(value, int) else "-".join(value),
)
def test_elements_of_degree_four_leave_room_for_four_blocks(axes, metrics):
    """Of 224 threads with columns of nodes and 72 registers, or of 64 with planes, and none is spilt."""
    case = {"architecture": 90, "physics": "elastic", "degree": 4, "dtype": "float32", "assembly": "ordered",
            "per": "cell"}  # fmt: skip
    cases = [case | {"kernel_options": {"metric": one, "axes": axes}} for one in metrics]
    for r in compile_all(cases):
        assert r["spill_bytes"] == 0
        assert (r["registers"], r["threads"]) <= ((72, 224) if axes == 1 else (255, 64))


#: Of the kernels of GAPS, which have the registers that their blocks leave them: with an element of 512 nodes
#: 128 a thread, f1s, of two blocks an SM, 64. With curls f1 looks the tangents of a face up in local memory.
GAPS_BUDGET = 40
GAPS_CURLS = 176


@needs_nvrtc
@pytest.mark.slow  # kernels that only reproduce a paper
@pytest.mark.parametrize("degree", (1, 3, 7, 8, 10))
@pytest.mark.parametrize("physics", ("acoustic", "elastic", "maxwell"))
def test_kernels_of_gaps_compile_without_spilling(physics, degree):
    lines = of_lines(degree, physics)
    cases = [lines[i] | {"kernel": name} for i, name in enumerate(("base", "f1", "f1s"))]
    found = zip(cases, compile_all(cases), strict=True)
    budget = GAPS_CURLS if physics == "maxwell" else GAPS_BUDGET
    assert [(case, r["spill_bytes"]) for case, r in found if r["spill_bytes"] > budget] == []


#: Of spectral elements: materials by node; in float64 from degree 5 on what one block more on an SM costs; so
#: of columns of five nodes that are added atomically (benchmarks/NOTES.md: it is worth 2 to 3 %), and of
#: ten in fluids; of elements of degree 6 by colours, else an SM holds one block of 13 warps instead of two.
SPECTRAL_BUDGET = {"float32": 8, "float64": 96}
MORE_SPECTRAL = {
    ("atomic", "float32", 4): 40, ("atomic", "float32", 9): 24, ("colors", "float32", 6): 16,
}  # fmt: skip


def budget_of(case):
    more = tuple(case[name] for name in ("assembly", "dtype", "degree"))
    return MORE_SPECTRAL.get(more, SPECTRAL_BUDGET[case["dtype"]])


@needs_nvrtc
@pytest.mark.parametrize(
    ("physics", "degree", "default"),
    [
        pytest.param("acoustic", 4, True, id="acoustic-4-some"),
        *(
            pytest.param(physics, degree, False, marks=pytest.mark.slow, id=f"{physics}-{degree}")
            for physics in ("acoustic", "elastic")
            for degree in range(2, 11)
        ),
    ],
)
def test_spectral_elements_compile_without_spilling(physics, degree, default):
    """Both precisions of all ways to add, materials by cell and node; elastic: the kernels of fluids too."""
    ways = ("ordered", "cell"), ("colors", "node"), ("atomic", "cell")
    settings = {"dtype": tuple(SPECTRAL_BUDGET), "way": ways, "metric": METRICS}
    cases = [
        {
            "architecture": 90,
            "physics": physics,
            "degree": degree,
            "dtype": one["dtype"],
            "assembly": one["way"][0],
            "per": one["way"][1],
            "kernel_options": {"metric": one["metric"]},
        }
        for one in chosen(settings, default)
    ]
    found = list(zip(cases, compile_all(cases), strict=True))
    assert [(case, r["spill_bytes"]) for case, r in found
            if r["spill_bytes"] > budget_of(case)] == []  # fmt: skip
    assert all(r["registers"] <= REGISTERS and r["shared_bytes"] <= 227 << 10 for _, r in found)


#: Of step: values that change once a plane, for one more block an SM (benchmarks/NOTES.md).
STEP_BUDGET = 8


def steps(order, architecture, default=False):
    """All kernels of a step of finite differences, or some."""
    settings = {"dtype": ("float32", "float64"), "variable": (False, True), "layers": (False, True)}
    return [{"architecture": architecture, "order": order, **one} for one in chosen(settings, default)]


def spilled_steps(cases):
    """Those that spill more than the budget, with what they spill."""
    found = zip(cases, compile_all(cases), strict=True)
    return [(case, r["spill_bytes"]) for case, r in found if r["spill_bytes"] > STEP_BUDGET]


@needs_nvrtc
@pytest.mark.parametrize(
    ("order", "default"),
    [(4, True), *(pytest.param(order, False, marks=pytest.mark.slow) for order in (2, 4, 6, 8))],
)
def test_steps_of_finite_differences_compile_without_spilling(order, default):
    assert spilled_steps(steps(order, 90, default)) == []


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_steps_compile_for_older_devices(order):
    assert spilled_steps(steps(order, 80)) == []


#: Of staggered passes: those of layers and walls in float64, whose second block an SM is worth more.
STAGGERED_BUDGET = 24
STAGGERED_KNOWN = {
    ("elastic", 4, "float64"): 72, ("elastic", 6, "float64"): 112, ("elastic", 16, "float64"): 64,
    ("maxwell", 16, "float64"): 56,
}  # fmt: skip


def spilled_passes(physics, orders, layers, dtypes=("float32", "float64")):
    """Both passes of the staggered schemes: those that spill more than the budget, with what they spill."""
    values = itertools.product(orders, dtypes, layers)
    cases = [
        {"architecture": 90, "physics": physics, "order": order, "dtype": dtype, "layers": layer}
        for order, dtype, layer in values
    ]
    known = [STAGGERED_KNOWN.get((physics, c["order"], c["dtype"]), STAGGERED_BUDGET) for c in cases]
    found = zip(cases, known, compile_all(cases), strict=True)
    return [(case, r["spill_bytes"]) for case, budget, r in found if r["spill_bytes"] > budget]


@needs_nvrtc
def test_staggered_passes_compile_without_spilling():
    assert spilled_passes("acoustic", [4], [True], ["float32"]) == []


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("physics", ["acoustic", "elastic", "maxwell"])
@pytest.mark.parametrize("order", [2, 4, 6, 8, 16])
def test_staggered_passes_of_all_orders_compile_without_spilling(physics, order):
    assert spilled_passes(physics, [order], [False, True]) == []


@needs_nvrtc
def test_resources_are_those_of_the_kernel():
    case = every(2, 90)[0]
    begin = time.perf_counter()
    found = compile_all([case, case | {"degree": 1}])
    elapsed = time.perf_counter() - begin
    for resources in found:
        assert 16 <= resources["registers"] <= REGISTERS
        assert 0 < resources["compile_seconds"] < elapsed and resources["cubin_bytes"] > 1000
    assert found[0]["shared_bytes"] > found[1]["shared_bytes"] > 0


@needs_nvrtc
def test_a_spill_is_noticed(tmp_path):
    """A kernel that has to keep more than its registers hold."""
    source = """
extern "C" __global__ void __launch_bounds__(1024) crowded(double *x)
{
    double v[200];
#pragma unroll
    for (int i = 0; i < 200; i++)
        v[i] = x[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 200; i++)
        x[i * 1024 + threadIdx.x] = v[i] * v[199 - i];
}
"""
    (tmp_path / "crowded.cu").write_text(source)
    libraries = {"UNDA_LIBNVRTC": stand_in_driver.real_nvrtc()}
    found = gpu_host.run("compile", "crowded.cu", "crowded", "90", kernels=tmp_path, **libraries).text
    assert int(re.search(r"registers=(\d+)", found)[1]) <= 64
    assert int(re.search(r"spill=(\d+)", found)[1]) > 800
