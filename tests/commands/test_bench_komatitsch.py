"""``unda bench sem --paper komatitsch2010`` runs the paper's case; its rows agree with each other."""

import json
import sys
from pathlib import Path

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands import bench_sem_komatitsch
from unda.commands.bench_sem_komatitsch import MOST_NODES, OVER_CORE, Cost, filling_cells, why_smaller

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import results_page

cuda_device.prepare()
pytestmark = pytest.mark.usefixtures("limits_once")


def bench(tmp_path, *words, device="cuda"):
    path = tmp_path / "paper.json"
    command = ["bench", "sem", "--paper", "komatitsch2010", "--quick", "--seconds", "0.1", "--device", device]
    assert main([*command, "-o", str(path), *words]) == 0
    assert path.with_suffix(".png").stat().st_size > 5000
    return json.loads(path.read_text())


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_rows_agree_with_each_other(tmp_path, capsys):
    result = bench(tmp_path)
    for key in ("device", "driver", "date", "commit", "limits", "limits_cpu", "cpu"):
        assert key in result
    rows = result["rows"]
    assert [(row["engine"], row["kernel"]) for row in rows] == [
        ("one core", "cpu"), ("all cores", "cpu"), ("GPU", "colors"), ("GPU", "ordered"),
    ]  # fmt: skip
    for row, cells in zip(rows, (2, 2, 3, 3), strict=True):
        assert row["nodes"] == (4 * cells + 1) ** 3
        assert row["ns_per_node"] == pytest.approx(1e6 * row["ms"] / row["nodes"])
        assert row["gdof_per_second"] == pytest.approx(3 / row["ns_per_node"])
        for key, cpu in zip(("over_core", "over_cores"), rows, strict=False):
            assert row[key] == pytest.approx(cpu["ns_per_node"] / row["ns_per_node"])
    colors, ordered = rows[2:]
    assert [row["paper_over_core"] for row in rows] == [None, None, OVER_CORE["mean"], None]
    assert colors["num_color"] == 8 and ordered["num_color"] is None  # tiles of a box, 2 x 2 x 2 of them
    assert len(colors["launches"]) == 9 and len(ordered["launches"]) == 2
    for row in (colors, ordered):
        assert sum(one["percent"] for one in row["launches"]) == pytest.approx(100)
        assert 0 < row["percent_of_memory"] < 100
    text = capsys.readouterr().out
    assert "20.63" in text and "446080" in text and "solid color 7" in text
    page = results_page.komatitsch_table(tmp_path).splitlines()
    assert f"| GPU, colors | 27 | {13**3 / 1e6:.3g} |" in page[6] and page[6].endswith("| 20.63 |")
    assert "8 colours" in page[9] and "held by the --quick" in page[10]
    for row, line in zip((colors, ordered), page[11:13], strict=True):
        took = f"{row['mesh_seconds']:.3g} s for the mesh and {row['setup_seconds']:.3g} s for the rest"
        assert took in line and f"{row['predicted_setup_seconds']:.3g} s were predicted" in line
        assert 0 < row["predicted_setup_seconds"] < 60
    assert page[13] == "The CPU's mesh is smaller than the device's: it is that of --quick."
    lines = results_page.table(results_page.read_results(tmp_path)).splitlines()
    assert lines[0].startswith("The spectral elements of Komatitsch et al. (2010)")
    assert lines[4].startswith("| one core cpu | ") and "(1 x)" in lines[4]


@pytest.mark.slow
def test_without_a_gpu_the_rows_of_the_cpu_remain(tmp_path, capsys):
    result = bench(tmp_path, device="cpu")
    assert [row["engine"] for row in result["rows"]] == ["one core", "all cores"]
    assert "the CPU's rows alone" in capsys.readouterr().out


def test_the_mesh_is_held_by_what_comes_first():
    cost = Cost(device=1e4, host=1e3, seconds=1e-5)
    assert filling_cells(1e9, 0.5, 1e9, cost) == (50_000, "memory")
    assert filling_cells(1e9, 0.5, 0.1, cost) == (10_000, "set-up time")
    assert filling_cells(1e9, 0.5, 0.1, cost, host=5e6) == (5_000, "memory of the host")
    num, why = filling_cells(1e15, 1.0, 1e9, cost)
    assert why == "node numbers of 32 bits"
    side = round(num ** (1 / 3))
    assert (4 * side + 1) ** 3 <= MOST_NODES < (4 * side + 9) ** 3


def test_the_cpu_has_the_mesh_of_the_device_where_it_holds_it_in_time():
    cost = Cost(device=0, host=1e3, seconds=1e-5)
    # 1e6 cells: 1 GB, 10 s of setting up, and 14 steps of 1 s
    assert why_smaller(10**6, cost, 1e-6, 2e9, 25.0) is None
    assert why_smaller(10**6, cost, 1e-6, 2e9, 23.0) == "one core would take 24 s"
    assert why_smaller(10**6, cost, 1e-6, 5e8, 25.0) == "it would take 1 of 0.5 GB"


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_a_mesh_that_the_cpu_holds_is_the_same_for_all(tmp_path, monkeypatch):
    for name in ("_PROBE", "_CPU_NODES"):
        monkeypatch.setattr(bench_sem_komatitsch, name, 8 * 64.0)
    path = tmp_path / "paper.json"
    words = ["--seconds", "0.1", "--steps", "2", "--fill", "0.003", "--setup", "50", "-o", str(path)]
    assert main(["bench", "sem", "--paper", "komatitsch2010", "--device", "cuda", *words]) == 0
    rows = json.loads(path.read_text())["rows"]
    assert len({row["num_elem"] for row in rows}) == 1
    assert all(row.get("why_smaller") is None for row in rows)


@pytest.mark.gpu_or_stand_in
def test_a_part_above_one_is_refused(capsys):
    assert main(["bench", "sem", "--paper", "komatitsch2010", "--fill", "1.5", "--device", "cuda"]) != 0
    assert "fill is 1.5, expected a part of the memory" in capsys.readouterr().err
