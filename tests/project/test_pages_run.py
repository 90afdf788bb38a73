"""The code of docs/outputs.md and docs/studies.md runs as it stands, in its order, in an empty folder."""

import re
from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run_code_of(page, num, known):
    """Run the blocks of a page, of which there are so many, one after the other."""
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.S)
    assert len(blocks) == num
    for block in blocks:
        exec(compile(block, page, "exec"), known)
    matplotlib.pyplot.close("all")


@pytest.mark.filterwarnings("default::unda.AccuracyWarning")
def test_the_code_of_the_page_about_outputs_runs(tmp_path, monkeypatch):
    for name in ("xarray", "pint", "obspy", "segyio"):
        pytest.importorskip(name)
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    run_code_of("outputs.md", 11, {})
    assert {path.name for path in tmp_path.iterdir()} == {
        "slices.png",
        "shot.sgy",
        "shot_vz.sgy",
        "shot.mseed",
    }


@pytest.mark.slow  # the last block runs what a plan proposes
@pytest.mark.filterwarnings("default::unda.AccuracyWarning")
def test_the_code_of_the_page_about_studies_runs(tmp_path, monkeypatch, capsys):
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    run_code_of("studies.md", 4, {})
    printed = capsys.readouterr().out.splitlines()
    reached, expected = map(float, printed[-1].split())
    assert reached <= expected <= 0.01
