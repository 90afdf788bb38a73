"""``unda bench dg --paper gaps`` runs the paper's cases; its rows agree with each other and with theory."""

import json

import cuda_device
import pytest
import unda
from unda.__main__ import main
from unda.commands import bench_dg_gaps, gaps_case, gaps_pictures
from unda.commands.bench_dg_gaps import CONFIGURATIONS, LADDER, means

REAL = cuda_device.prepare()
pytestmark = pytest.mark.usefixtures("limits_once")
ONE = "acoustic-upwind-float32"


@pytest.fixture
def small(monkeypatch):
    """Elements of fewer nodes, whose kernels the stand-in compiles sooner."""
    monkeypatch.setattr(bench_dg_gaps, "_QUICK", {"4": {2: (2, 2, 1)}, "5": {1: (4, 2, 2), 2: (2, 2, 1)}})


def bench(tmp_path, *words, configurations=ONE, device="cuda"):
    command = ["bench", "dg", "--paper", "gaps", "--quick", "--device", device, "--seconds", "0.1"]
    command += ["--configurations", configurations, "-o", str(tmp_path / "gaps_FIGURE.json")]
    assert main([*command, *words]) == 0


def read(tmp_path, figure="4"):
    return json.loads((tmp_path / f"gaps_figure{figure}.json").read_text())


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_rows_of_the_ladder_agree_with_each_other(tmp_path, small, capsys):
    bench(tmp_path, "--figures", "4")
    result = read(tmp_path)
    for key in ("device", "driver", "date", "commit", "limits", "limits_cpu", "cpu"):
        assert key in result
    cpu, *gpu = result["rows"]
    assert [row["kernel"] for row in result["rows"]] == ["cpu", *LADDER]
    assert [list(row["functions"]) for row in gpu] == [
        ["dg_volume", "dg_flux", "dg_integration"], *[["dg_volume_flux", "dg_integration"]] * 2, ["dg_lines"],
        ["dg_columns"],
    ]  # fmt: skip
    for row in result["rows"]:
        limits = result["limits_cpu" if row["kernel"] == "cpu" else "limits"]
        assert row["over_cpu"] == pytest.approx(cpu["ms"] / row["ms"])
        assert row["gdof_per_second"] == pytest.approx(5 * 4 * 4 * 27 / row["ms"] / 1e6)  # stages, fields
        for part in row["functions"].values():
            seconds = 1e-3 * part["ms"] / 5
            assert part["gbytes_per_second"] == pytest.approx(part["bytes"] / seconds / 1e9)
            assert part["gflops"] == pytest.approx(part["flops_per_byte"] * part["gbytes_per_second"])
            roof = min(limits["fma32"], limits["copy"] * part["flops_per_byte"]) / 1e9
            assert part["percent_of_roofline"] == pytest.approx(100 * part["gflops"] / roof)
    flops = [sum(part["flops"] for part in row["functions"].values()) for row in result["rows"]]
    assert len(set(flops)) == 1  # the method's, however many functions share them
    moved = [sum(part["bytes"] for part in row["functions"].values()) for row in gpu]
    assert moved[0] > moved[1] == moved[2] > moved[3] == moved[4]
    whole = result["rows"][-1]
    assert whole["functions"]["dg_columns"]["flops_per_byte"] == pytest.approx(
        whole["gflops"] / whole["gbytes_per_second"]
    )
    assert {row["kernel"]: row["paper"] for row in result["means"] if row["times"] == "all cores"} == {
        "base": 45.67, "f1": 69.30, "f1s": 84.15, "lines": None, "columns": None,
    }  # fmt: skip
    assert (tmp_path / "gaps_figure4.png").stat().st_size > 5000
    text = capsys.readouterr().out
    assert "volume_flux" in text and "84.15" in text and "roofline" in text


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_figure_5_has_both_sizes_of_elements_and_may_go_on(tmp_path, small):
    for kernel in ("f1s", "lines"):
        bench(tmp_path, "--figures", "5", "--kernels", kernel, "--append")
    result = read(tmp_path, "5")
    found = [(row["kernel"], row["num_node"], row["num_elem"]) for row in result["rows"]]
    assert found == [("f1s", 8, 16), ("f1s", 27, 4), ("lines", 8, 16), ("lines", 27, 4)]
    assert all(row["over_cpu"] is None for row in result["rows"])
    assert [row["times"] for row in result["means"]] == ["f1s"]  # neither 64 nor 512 nodes


def test_without_a_gpu_the_rows_of_the_cpu_remain(tmp_path, small, capsys):
    bench(tmp_path, "--figures", "4,5", configurations="elastic-central-float64", device="cpu")
    assert "the CPU's rows alone" in capsys.readouterr().out
    for figure, sizes in (("4", [27]), ("5", [8, 27])):
        result = read(tmp_path, figure)
        assert [(row["kernel"], row["num_node"]) for row in result["rows"]] == [("cpu", n) for n in sizes]
        assert (tmp_path / f"gaps_figure{figure}.png").stat().st_size > 5000


def test_what_was_measured_before_an_interruption_is_kept(tmp_path, small, monkeypatch):
    def interrupted(*places, **keywords):
        if list(tmp_path.glob("*.json")):
            raise KeyboardInterrupt
        return gaps_case.measure(*places, **keywords)

    monkeypatch.setattr(bench_dg_gaps, "measure", interrupted)
    two = f"{ONE},elastic-central-float32"
    with pytest.raises(KeyboardInterrupt):
        bench(tmp_path, "--figures", "4", configurations=two, device="cpu")
    assert [row["physics"] for row in read(tmp_path)["rows"]] == ["acoustic"]


def test_the_cases_are_the_paper_s():
    assert sorted(CONFIGURATIONS) == sorted(
        f"{case}-{dtype}"
        for case in ("acoustic-upwind", "elastic-central", "elastic-upwind")
        for dtype in ("float32", "float64")
    )
    nodes = {
        figure: {(degree + 1) ** 3: x * y * z * (degree + 1) ** 3 for degree, (x, y, z) in cells.items()}
        for figure, cells in bench_dg_gaps._CELLS.items()
    }
    assert nodes["4"] == {512: 32768 * 512}
    assert set(nodes["5"]) == {64, 512} and nodes["5"][64] == nodes["5"][512]
    assert nodes["5"][512] == pytest.approx(63e6, rel=0.01)
    assert bench_dg_gaps._STEPS["4"] == 1000


def rows_at(speeds):
    """Rows of two configurations; speeds: of a kernel, nodes a second per configuration and size."""
    return [
        {"physics": physics, "flux": "upwind", "dtype": "float32", "kernel": kernel, "num_node": num_node,
         "num_elem": 4096 // num_node, "ms": 1 / speed[i]}
        for (kernel, num_node), speed in speeds.items()
        for i, physics in enumerate(("acoustic", "elastic"))
    ]  # fmt: skip


def test_means_are_of_ratios_over_configurations():
    found = means(
        rows_at({
            ("cpu", 512): (1, 2), ("base", 512): (10, 40), ("f1", 512): (20, 60), ("f1s", 512): (30, 60),
            ("f1s", 64): (15, 40),
        })
    )  # fmt: skip
    table = {(row["kernel"], row["times"]): (row["here"], row["paper"]) for row in found}
    assert table == {
        ("base", "all cores"): (15, 45.67),  # (10 / 1 + 40 / 2) / 2
        ("f1", "all cores"): (25, 69.30),
        ("f1", "base"): (1.75, 1.74),
        ("f1s", "all cores"): (30, 84.15),
        ("f1s", "f1"): (1.25, 1.17),
        ("f1s", "with 64"): (1.75, 1.12),
    }


@pytest.mark.gpu_or_stand_in
def test_what_does_not_fit_is_halved_and_said(monkeypatch, capsys):
    case = ("cuda:0", "elastic", {"degree": 3, "dtype": "float64", "kernel": "f1s"})
    mesh = unda.box_mesh((0, 0, 0), (2, 2, 2), (2, 2, 2), shape="hex")
    solid = unda.Elastic(rho=1.0, vp=1.8, vs=1.0)
    needed = unda.DG.forecast(mesh, solid, device="cuda:0", degree=3, dtype="float64", kernel="f1s")["device"]
    assert needed > 5 * 9 * 8 * 8 * 64  # state, new state, residual, scratch and right-hand side
    for room, cells in ((needed / 0.89, 8), (needed / 0.91, 4)):
        monkeypatch.setattr(gaps_case, "device_info", lambda device, room=room: {"memory": room})
        found, instead = gaps_case.mesh_that_fits((2, 2, 2), [case])
        assert found.num_elem == cells
        assert (instead is None) == (cells == 8)
    assert "(2, 2, 2) cells do not fit the memory: (1, 2, 2) are run instead" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--figures 4,6", "figures has '6', expected some of 4,5"),
        ("--configurations acoustic-central-float32", "configurations has 'acoustic-central-float32'"),
        ("-o gaps.json", "expected a name with FIGURE in it"),
    ],
)
def test_other_cases_are_refused(words, message, capsys):
    assert main(["bench", "dg", "--paper", "gaps", "--device", "cpu", *words.split()]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.gpu_or_stand_in
def test_other_kernels_are_refused(capsys):
    command = ["bench", "dg", "--paper", "gaps", "--device", "cuda", "--kernels", "fused"]
    assert main(command) != 0
    assert "kernels has 'fused', expected some of base,f1,f1s,lines" in capsys.readouterr().err


def test_the_legend_of_the_times_is_inside_its_axes():
    """Five functions, as base, f1 and ours have together, in axes a third as wide as the picture."""
    plt = pytest.importorskip("matplotlib.pyplot")
    case = {"physics": "elastic", "flux": "upwind", "dtype": "float32", "kernel": "f1"}
    names = ("volume", "flux", "integration", "volume_flux", "lines")
    rows = [{**case, "functions": {f"dg_{name}": {"ms": 1.0} for name in names}}]
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    gaps_pictures._draw_times(axes[1], rows, ("kernel",))
    figure.canvas.draw()
    box, frame = axes[1].get_legend().get_window_extent(), axes[1].get_window_extent()
    plt.close(figure)
    assert frame.x0 < box.x0 and box.x1 < frame.x1
