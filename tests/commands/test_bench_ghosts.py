"""``unda bench scaling --ghosts`` and ``--paper``: what their rows say of each other."""

import json

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands.bench_sem_komatitsch import OVER_CORE
from unda.commands.scaling_ghosts import KEPT

cuda_device.prepare()
pytestmark = [pytest.mark.usefixtures("limits_once"), pytest.mark.gpu_or_stand_in]


def bench(path, *words):
    command = ["bench", "scaling", *words, "--seconds", "0.01", "-o", str(path)]
    assert main([*command, "--devices", "cuda:0,cuda:0"]) == 0
    assert path.with_suffix(".png").stat().st_size > 5000
    return json.loads(path.read_text())["rows"]


@pytest.mark.slow
def test_each_way_to_send_ghosts_is_timed_before_and_behind_inner_cells(tmp_path, capsys):
    rows = bench(
        tmp_path / "ghosts.json", "--ghosts", "--cases", "hex3", "--nodes", "400", "--transport", "host"
    )
    assert [row["way"] for row in rows] == ["whole cells", "27 % of this", "faces"]
    cells, needed, faces = (row["megabytes"] for row in rows)
    assert needed == pytest.approx(KEPT * cells)
    # of a cell with one face at the cut 64 nodes instead of 16; some have two
    assert faces < needed <= 4 * faces
    for row in rows:
        assert row["transport"] == "host" and row["alone_ms"] == rows[0]["alone_ms"] > 0
        for when in ("before", "behind"):
            waited = row[f"{when}_ms"] - row["alone_ms"]
            assert row[when] == pytest.approx(100 * waited / row[f"{when}_ms"])
    printed = capsys.readouterr().out
    assert "72.81 %" in printed and "MPI and NCCL are not measured" in printed


@pytest.mark.slow
def test_the_figures_of_the_paper_are_measured_on_one_and_on_all_devices(tmp_path):
    rows = bench(tmp_path / "paper.json", "--paper", "komatitsch2010", "--blocks", "2,3", "--nodes", "3000")
    grids = [row for row in rows if row["figure"] == 1]
    assert [(row["devices"], row["blocks_x"], row["blocks_y"]) for row in grids] == [
        (num, x, y) for num in (1, 2) for x in (2, 3) for y in (2, 3)
    ]
    for row in grids:
        assert row["num_elem"] == row["blocks_x"] * row["blocks_y"] * 16 * 16 * 52
        share = row["num_elem"] / row["devices"]
        assert row["ns_per_node"] == pytest.approx(1e6 * row["ms"] / share)
        first = next(one for one in grids if one["devices"] == row["devices"])
        assert row["of_first"] == pytest.approx(100 * first["us_per_block"] / row["us_per_block"])
    one, two = (row for row in rows if row["figure"] == 2)
    assert (one["devices"], two["devices"]) == (1, 2) and 1.5 < two["num_elem"] / one["num_elem"] < 2.5
    assert one["paper_over_core"] == OVER_CORE["mean"]
    # both are compared with the same core
    assert one["over_core"] * one["ns_per_node"] == pytest.approx(two["over_core"] * two["ns_per_node"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ghosts", "--cases", "sem4"], "--ghosts of sem4: expected cases of DG"),
        (["--ghosts", "--devices", "cuda:0"], "--ghosts of one device"),
        (["--ghosts", "--splits", "weak"], "--splits is weak, expected without --ghosts"),
        (["--paper", "komatitsch2010", "--cases", "hex3"], "--cases is hex3, expected without --paper"),
        (["--paper", "komatitsch2010", "--blocks", "1,2"], "expected more than layers of 10 take"),
        (["--blocks", "5"], "--blocks is 5, expected with --paper only"),
    ],
)
def test_what_would_do_nothing_is_refused(tmp_path, words, message, capsys):
    path = tmp_path / "none.json"
    assert main(["bench", "scaling", "--devices", "cuda:0,cuda:0", *words, "-o", str(path)]) != 0
    assert message in capsys.readouterr().err
