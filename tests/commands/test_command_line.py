"""The command ``unda`` says what is there, measures it, and checks it against exact solutions."""

import json
import subprocess
import sys
from pathlib import Path

import cuda_device
import numpy as np
import pytest
import unda
from unda.__main__ import main
from unda.commands import bench_dg, bench_sem, cavity, loh1, verify
from unda.commands.scaling_case import compared
from unda.commands.scaling_model import Link, beside

REAL = cuda_device.prepare()
pytestmark = pytest.mark.usefixtures("limits_once")


def test_info_names_the_library_and_the_processor(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "libunda.so" in text and "threads" in text
    mpi = next(line for line in text.splitlines() if line.startswith("mpi "))
    assert "MPI" in mpi or "mpi4py is not there" in mpi
    assert "messages of processes (libnccl, for transport nccl)" in text


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out == f"unda {unda.__version__}\n"


def test_info_as_json_says_why_there_is_no_gpu():
    command = [sys.executable, "-m", "unda", "info", "--json"]
    environment = {"UNDA_LIBCUDA": "/nonexistent/libcuda.so.1", "PATH": "/usr/bin:/bin"}
    environment |= {"PYTHONPATH": ":".join(sys.path)}
    found = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert found["cuda"] == []
    assert "/nonexistent/libcuda.so.1" in found["why_no_gpu"]
    assert found["cpu"]["threads"] >= 1


def test_who_reads_the_first_lines_only_sees_no_traceback():
    command = f"{sys.executable} -m unda info --json | head -c 1"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.gpu_or_stand_in
def test_info_lists_the_device(capsys):
    assert main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["why_no_gpu"] is None
    assert found["cuda"][0]["device"] == "cuda:0"


FIELDS = {"acoustic": 4, "elastic": 9, "maxwell": 6}


def check_bench(tmp_path, device, kernels, physics="acoustic", words=""):
    path = tmp_path / "result.json"
    command = ["bench", "dg", "--degrees", "1:2", "--kernels", kernels, "--device", device]
    command += ["--physics", physics, *words.split()]
    assert main([*command, "--nodes", "60", "--steps", "3", "-o", str(path)]) == 0
    result = json.loads(path.read_text())
    for key in ("device", "driver", "date", "commit", "limits"):
        assert key in result
    assert result["physics"] == physics
    for row in result["rows"]:
        dof = FIELDS[physics] * row["num_elem"] * row["num_node"]
        assert row["gdof_per_second"] == pytest.approx(dof / row["ms"] / 1e6)
        # ab3: five arrays of four bytes a degree of freedom, and the tables
        assert row["gbytes_per_second"] > 20 * row["gdof_per_second"]
        limits = result["limits"]  # measured beside whatever else runs: a step may well pass them
        parts = (1e9 * row["gflops"] / limits["fma32"], 1e9 * row["gbytes_per_second"] / limits["copy"])
        assert row["percent_of_limit"] == pytest.approx(100 * max(parts)) and min(parts) > 0
    assert path.with_suffix(".png").stat().st_size > 5000
    return result


@pytest.mark.parametrize(  # the others are timed by the next but one
    "physics", [pytest.param(name, marks=[pytest.mark.slow] * (name != "elastic")) for name in FIELDS]
)
def test_bench_times_each_degree_on_the_cpu(tmp_path, capsys, physics):
    result = check_bench(tmp_path, "cpu", "auto", physics)
    assert [(row["degree"], row["kernel"]) for row in result["rows"]] == [(1, "cpu"), (2, "cpu")]
    assert "GDOF/s" in capsys.readouterr().out


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("physics", [pytest.param(name, marks=pytest.mark.slow) for name in FIELDS])
def test_bench_times_each_kernel_on_the_device(tmp_path, physics):
    result = check_bench(tmp_path, "cuda", "fused,node,element", physics)
    assert [row["kernel"] for row in result["rows"]] == ["fused", "node", "element"] * 2


@pytest.mark.gpu_or_stand_in
def test_bench_times_hexahedra(tmp_path):
    result = check_bench(tmp_path, "cuda", "auto", words="--shape hex --mesh sheared")
    assert (result["shape"], result["mesh"]) == ("hex", "sheared")
    found = [(row["kernel"], row["metric"], row["num_node"]) for row in result["rows"]]
    assert found == [("columns", "affine", 8), ("columns", "affine", 27)]
    result = check_bench(tmp_path, "cpu", "auto", words="--shape hex --mesh perturbed --metric stored")
    assert [row["metric"] for row in result["rows"]] == ["stored"] * 2


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
def test_bench_times_one_problem_on_several_devices(tmp_path, monkeypatch, capsys):
    """Beside one device: the same problem split, whose bits are compared, and twice as much."""
    monkeypatch.chdir(tmp_path)
    command = ["bench", "scaling", "--cases", "hex3", "--nodes", "400", "--seconds", "0.02"]
    assert main([*command, "--devices", "cuda:0,cuda:0"]) == 0
    result = json.loads(Path("bench_scaling.json").read_text())
    rows, link = result["rows"], result["link"]
    assert link["transport"] == "peer" and link["bandwidth"] > 0 and link["latency"] > 0
    assert rows[0]["model"] is None
    for row in rows[1:]:  # never above 100 %, and less by what the message takes that nothing hides
        assert row["model"] == beside(rows[0], row, Link(link["bandwidth"], link["latency"])) <= 100
    assert [(row["split"], row["devices"], row["same_bits"]) for row in rows] == [
        ("one", 1, "-"), ("strong", 2, "True"), ("weak", 2, "-"),
    ]  # fmt: skip
    assert rows[0]["num_elem"] == rows[1]["num_elem"] < rows[2]["num_elem"]
    assert rows[1]["megabytes"] > 0 and rows[0]["efficiency"] == 100
    assert main([*command, "--devices", "cpu,cpu"]) != 0
    assert "expected CUDA devices" in capsys.readouterr().err


@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
def test_bench_compares_several_devices_with_the_slowest_one_alone(tmp_path):
    names = [name for name in unda.devices() if name != "cpu"][:2]
    if len(names) < 2:
        pytest.skip("two devices")
    path = tmp_path / "result.json"
    command = [
        "bench",
        "scaling",
        "--cases",
        "hex3",
        "--nodes",
        "400",
        "--seconds",
        "0.02",
        "--splits",
        "weak",
    ]
    assert main([*command, "--devices", ",".join(names), "-o", str(path)]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert [(row["split"], row["on"]) for row in rows] == [
        ("one", names[0]), ("one", names[1]), ("at once", names), ("weak", names),
    ]  # fmt: skip
    slowest = min(row["rate"] for row in rows[:2])
    for row in rows:
        assert row["efficiency"] == pytest.approx(100 * row["rate"] / slowest / row["devices"])


@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
@pytest.mark.parametrize(
    "case",
    [
        "scalar4",
        pytest.param("elastic4", marks=pytest.mark.slow),
        pytest.param("diamond4", marks=pytest.mark.slow),
        pytest.param("sem4", marks=pytest.mark.slow),
    ],
)
def test_bench_splits_grids_and_spectral_elements_too(tmp_path, case, capsys):
    """Grids grow along x, with the bits of one device when they are split; SEM has them but for rounding."""
    path = tmp_path / "result.json"
    command = ["bench", "scaling", "--cases", case, "--nodes", "4100", "--seconds", "0.01", "-o", str(path)]
    command += ["--devices", "cuda:0,cuda:0"]
    assert main(command) == 0
    one, strong, weak = json.loads(path.read_text())["rows"]
    assert one["num_elem"] == strong["num_elem"] < weak["num_elem"]
    assert strong["most_bytes"] > 0 and 0 < strong["border"] <= 1
    assert (strong["kernel"] == "diamond") == (case == "diamond4")
    if case == "sem4":
        assert float(strong["same_bits"].removeprefix("off by ")) < 1e-5
        return
    x = 60 if case == "diamond4" else 16
    assert (one["num_elem"], weak["num_elem"]) == (x * 16**2, 2 * x * 16**2) and strong["same_bits"] == "True"
    assert weak["megabytes"] == pytest.approx(strong["megabytes"])
    if case == "scalar4":  # order 4: two planes of p, with their padding, one after the other
        assert strong["most_bytes"] >= 2 * 16 * 16 * 4
    assert main([*command, "--transport", "host"]) != 0
    assert f"transport is host for {case}, expected auto" in capsys.readouterr().err


def test_states_that_differ_are_not_called_the_same():
    state = np.linspace(-2, 1, 7, dtype=np.float32)
    assert compared(state, state.copy()) == "True"
    other = state.copy()
    other[3] += 0.002
    assert compared(state, other) == "off by 1e-03"


@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.slow)])
def test_bench_times_spectral_elements(tmp_path, monkeypatch, device, capsys):
    """A row a degree, of a device one for each way to add; unknowns of shared nodes are counted once."""
    monkeypatch.chdir(tmp_path)
    command = ["bench", "sem", "--degrees", "2,3", "--mesh", "sheared"]
    command += ["--assembly", "ordered,atomic"] if device == "cuda" else []
    command += ["--physics", "elastic,acoustic", "--nodes", "200", "--steps", "3", "--device", device]
    assert main(command) == 0
    for physics, dim in (("elastic", 3), ("acoustic", 1)):
        result = json.loads((tmp_path / f"bench_sem_{physics}.json").read_text())
        assert (result["benchmark"], result["physics"], result["mesh"]) == ("sem", physics, "sheared")
        found = [(row["degree"], row["kernel"]) for row in result["rows"]]
        names = ["cpu"] if device == "cpu" else ["ordered", "atomic"]
        assert found == [(degree, name) for degree in (2, 3) for name in names]
        for row in result["rows"]:
            assert 200 * dim <= row["num_dof"] < dim * row["num_elem"] * (row["degree"] + 1) ** 3
            assert row["gdof_per_second"] == pytest.approx(row["num_dof"] / row["ms"] / 1e6)
            assert row["gflops"] > 0 and 0 < row["gbytes_per_second"] and row["memory"]["host"] > 0
        assert (tmp_path / f"bench_sem_{physics}.png").stat().st_size > 5000
    assert "GDOF/s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--degrees 1:3", "expected some of 2 to 10"),
        ("--physics elastic,acoustic -o one.json", "PHYSICS"),
        ("--physics maxwell", "elastic"),
        ("--assembly fused", "ordered"),
        ("--assembly atomic", "--assembly is atomic, expected on a CUDA device only"),
        ("--fill 0.5", "--fill is 0.5, expected on a CUDA device only"),
        ("--quick", "--quick, expected with --paper komatitsch2010 only"),
        ("--paper komatitsch2010 --degrees 4,5", "--degrees is 4,5, expected without --paper only"),
    ],
)
def test_bench_of_spectral_elements_refuses_before_it_measures(words, message, capsys, monkeypatch):
    for name in ("device_limits", "measure"):
        monkeypatch.setattr(bench_sem, name, lambda *_, **__: pytest.fail("measured"))
    try:
        status = main(["bench", "sem", "--device", "cpu", *words.split()])
    except SystemExit as end:  # argparse
        status = end.code
    assert status and message in capsys.readouterr().err


def test_bench_of_all_physics_writes_a_file_for_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["bench", "dg", "--degrees", "1", "--nodes", "60", "--steps", "3", "--device", "cpu"]
    assert main([*command, "--physics", "all"]) == 0
    assert main([*command, "--physics", "elastic,maxwell", "-o", "machine_PHYSICS_ab3.json"]) == 0
    files = ["bench_dg_acoustic", "bench_dg_elastic", "bench_dg_maxwell"]
    files += ["machine_elastic_ab3", "machine_maxwell_ab3"]
    assert sorted(path.stem for path in tmp_path.glob("*.json")) == files
    assert sorted(path.stem for path in tmp_path.glob("*.png")) == files
    for path in tmp_path.glob("*.json"):
        assert json.loads(path.read_text())["physics"] in path.stem


def test_bench_without_matplotlib_keeps_the_table_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    command = ["bench", "dg", "--degrees", "1", "--nodes", "60", "--steps", "3", "--device", "cpu"]
    assert main([*command, "-o", str(tmp_path / "one.json")]) == 0
    assert "without matplotlib no PNG" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]


def test_verify_passes_and_fails_by_its_exit_status(monkeypatch, capsys):
    assert main(["verify", "energy", "--quick", "--device", "cpu"]) == 0
    monkeypatch.setitem(
        verify.CHECKS, "energy", lambda *_: iter([{"check": "x", "degree": 1, "error": 1.0,
        "order": None, "wanted": "less", "passed": False}]),
    )  # fmt: skip
    assert main(["verify", "energy"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_verify_refuses_options_of_checks_that_are_not_run(capsys):
    for words in ("--method dg", "--nodes 8", "--distance 2000", "--nodes 8 --method fd"):
        assert main(["verify", "energy", "--quick", "--device", "cpu", *words.split()]) == 2
        text = capsys.readouterr().err
        assert all(word in text for word in words.split() if word.startswith("--"))
        assert "with the checks energy, which have no such option" in text
    assert main(["verify", "--nodes", "8"]) == 2  # loh1 is not among those run if none is named
    assert "expected with loh1 only" in capsys.readouterr().err


def test_verify_writes_where_it_was_told(capsys):
    assert main(["verify", "energy", "--json", "cavity"]) == 2
    assert "--json is cavity, a check; expected a name of a file" in capsys.readouterr().err
    assert main(["verify", "energy", "--quick", "--device", "cpu", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["verify"] == ["energy"] and result["quick"] and len(result["rows"]) == 2


def test_verify_cavity_has_the_errors_and_orders_of_the_paper(monkeypatch, capsys):
    command = ["verify", "cavity", "--quick", "--device", "cpu", "--json"]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["degree"] for row in rows] == [1, 2, 3]
    for row in rows:
        assert row["passed"] and row["order"] >= row["paper_order"] - 0.3
        assert len(row["elements"]) == 4 and max(row["errors"]) < max(row["paper_errors"])
    exact = {mesh.num_elem: h**3 for mesh, h in zip(cavity.meshes(), cavity.SIZES, strict=True)}
    for factor, passed in ((1.0, True), (100.0, False)):  # order 3: enough for degree 2, but not for 3
        monkeypatch.setattr(cavity, "error", lambda mesh, *_, c=factor: c * exact[mesh.num_elem])
        found = [row["passed"] for row in cavity.cavity("cpu", True)]
        assert found == [passed, passed, False]
    # errors of the paper's that are rounding themselves: rounding passes, more does not
    monkeypatch.setattr(cavity, "PAPER", dict.fromkeys((1, 2, 3), ((1e-3, 1e-4, 1.3e-6, 1.3e-6), -9.0)))
    for last, passed in ((1.9e-6, True), (2.1e-6, False)):
        errors = dict(zip(cavity.MESHES, (1e-3, 1e-4, 1.9e-6, last), strict=True))
        monkeypatch.setattr(cavity, "error", lambda mesh, *_, errors=errors: errors[mesh.num_elem])
        assert all(row["passed"] == passed for row in cavity.cavity("cpu", True))


@pytest.mark.slow
def test_verify_loh1_is_the_layered_solution(monkeypatch, capsys, tmp_path):
    path = tmp_path / "folder" / "loh1.json"
    assert main(["verify", "loh1", "--quick", "--device", "cpu", "--json", str(path)]) == 0
    result, rows = json.loads(path.read_text()), json.loads(path.read_text())["rows"]
    assert {"device", "driver", "date", "commit", "threads"} <= result.keys() and result["verify"] == ["loh1"]
    assert [row["check"][-2:] for row in rows] == ["vx", "vy", "vz"]
    assert f"{rows[0]['error']:.3e}" in capsys.readouterr().out
    for row in rows:
        assert row["unit"] == "DOF" and row["size"] > 0 and row["memory"]["host"] > 0
        assert 0 < row["setup_seconds"] + row["run_seconds"] <= rows[0]["seconds"]
    # S waves 5 % slower in a layer that is two of their lengths thick: half a radian late
    soft = loh1.LAYER | {"vs": 0.95 * loh1.LAYER["vs"]}
    known = loh1.layered_source
    monkeypatch.setattr(
        loh1,
        "layered_source",
        lambda rock, source, layers: known(rock, source, layers=[(1e3, unda.Elastic(**soft))]),
    )
    assert main(["verify", "loh1", "--quick", "--device", "cpu"]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_the_numbers_of_loh1_in_the_docs_are_those_of_the_results():
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "verification.md").read_text()
    for name, words in (("sem", "SEM"), ("dg", "DG, hexahedra"), ("fd", "FD, order 8")):
        result = json.loads((root / f"benchmarks/results/verify/epyc_loh1_quick_{name}.json").read_text())
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {words} | ")]
        shown = [float(word.strip(" %")) for word in line.split("|")[2:5]]
        assert shown == [round(100 * row["error"], 2) for row in result["rows"]]
    for nodes in (5, 7):
        result = json.loads((root / f"benchmarks/results/verify/epyc_loh1_sem_{nodes}.json").read_text())
        first, second, third = (f"{100 * row['error']:.2f}" for row in result["rows"])
        assert f"{first}, {second} and {third} %" in " ".join(text.split())


def test_the_box_of_loh1_returns_nothing_in_time():
    """The shortest of many ways by a side is the distance of an image, and all are as long as asked for."""
    places, way = np.array([[600.0, 800.0, 0.0], [1200.0, 1600.0, 0.0]]), 9000.0
    lower, upper = loh1.extent(places, way)
    rng, source = np.random.default_rng(0), np.array([0.0, 0.0, -loh1.DEPTH])
    for axis in range(3):
        for side in (lower[axis], upper[axis])[: 1 if axis == 2 else 2]:
            on = source + rng.uniform(-9000, 9000, (100000, 3))
            on[:, axis] = side
            ways = [np.linalg.norm(on - source, axis=1) + np.linalg.norm(on - one, axis=1) for one in places]
            assert way <= np.min(ways) <= 1.01 * way


def test_the_order_of_errors_ends_where_single_precision_does():
    h = np.array(cavity.SIZES)
    assert cavity.order(list(h**5)) == pytest.approx(5)
    assert cavity.order([*h[:3] ** 5, 1e-6]) == pytest.approx(5)
    assert cavity.order([1e-4, 1e-5, 1e-6, 1e-5]) is None


@pytest.mark.first(1)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_bench_times_finite_differences(tmp_path, monkeypatch, device):
    """Every combination is a row; the rate is that of the user's cells."""
    monkeypatch.chdir(tmp_path)
    command = [
        "bench",
        "fd",
        "--orders",
        "2,8",
        "--shape",
        "12,13,14",
        "--c",
        "constant,variable",
        "--layers",
    ]
    assert main([*command, "0,3", "--device", device, "--seconds", "0.001"]) == 0
    result = json.loads((tmp_path / "bench_fd.json").read_text())
    cases = {(row["order"], row["c"], row["layers"]) for row in result["rows"]}
    assert len(cases) == len(result["rows"]) == 8
    for row in result["rows"]:
        assert row["gcell_per_second"] == pytest.approx(12 * 13 * 14 / (row["ms"] * 1e6))
        words = 4 if row["c"] == "variable" else 3
        assert row["gbytes_per_second"] == pytest.approx(4 * words * row["gcell_per_second"])
    assert (tmp_path / "bench_fd.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_all_of_verify_passes_on_the_device():
    checks = (
        [*verify.CHECKS] if REAL else [*set(verify.UNASKED) - {"cavity"}]
    )  # a quarter of an hour on a CPU
    assert main(["verify", *checks, "--device", "cuda" if REAL else "cpu"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--kernels fused", "--kernels is fused, expected on a CUDA device only: here it would do nothing"),
        ("--paper gaps --kernels f1", "--kernels is f1, expected on a CUDA device only"),
        ("--paper gaps --shape hex", "--shape is hex, expected without --paper only"),
        ("--paper gaps --degrees 3", "--degrees is 3, expected without --paper only"),
        ("--figures 4", "--figures is 4, expected with --paper gaps,klockner2009,modave2016 only"),
        ("--configurations acoustic-upwind-float32", "expected with --paper gaps only"),
        ("--quick", "--quick, expected with --paper gaps,klockner2009,modave2016 only"),
        ("--metric stored", "--metric is stored, expected with --shape hex only"),
    ],
)
def test_bench_refuses_options_that_would_do_nothing(words, message, capsys, monkeypatch):
    for name in ("device_limits", "heading", "measure"):
        monkeypatch.setattr(bench_dg, name, lambda *_, **__: pytest.fail("it measures"))
    assert main(["bench", "dg", "--device", "cpu", *words.split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "--kernels soup",
        "--dtype int8",
        "--integrator rk3",
        "--nodes -5",
        "--steps 0",
        "--degrees 0:3",
        "--degrees 11",
        "--physics gravity",
        "--physics all -o one.json",
    ],
)
def test_bench_refuses_before_it_measures(words, capsys, monkeypatch):
    def measured(*_, **__):
        pytest.fail("it measures")

    for name in ("device_limits", "heading", "measure"):
        monkeypatch.setattr(bench_dg, name, measured)
    try:
        status = main(["bench", "dg", "--device", "cpu", *words.split()])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert "GB/s" not in capsys.readouterr().out
