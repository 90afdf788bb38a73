"""The code of docs/outputs.md runs as it stands, in its order, in an empty folder."""

import re
from pathlib import Path

import matplotlib
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "outputs.md"


@pytest.mark.filterwarnings("default::unda.AccuracyWarning")
def test_the_code_of_the_page_about_outputs_runs(tmp_path, monkeypatch):
    for name in ("xarray", "pint", "obspy", "segyio"):
        pytest.importorskip(name)
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) == 11
    known = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
    matplotlib.pyplot.close("all")
    assert {path.name for path in tmp_path.iterdir()} == {
        "slices.png",
        "shot.sgy",
        "shot_vz.sgy",
        "shot.mseed",
    }
