"""Samples that come with the package are listed, and are what their script makes of the checkout."""

from pathlib import Path

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(unda.datasets.__file__).parent


def test_what_is_listed_is_there_and_nothing_else():
    found = {path.name for path in FOLDER.iterdir() if path.suffix not in (".py", ".geo", ".md", ".pyc")}
    assert found - {"__pycache__"} == set(unda.datasets.NAMES)
    for module in (unda.datasets, unda.exact):  # what a notebook completes
        assert dir(module) == sorted(module.__all__)
    assert sum(unda.datasets.path(name).stat().st_size for name in found & set(unda.datasets.NAMES)) < 400_000


@pytest.mark.parametrize("read", [unda.datasets.path, unda.datasets.mesh, unda.datasets.model])
def test_another_name_is_refused_with_those_that_there_are(read):
    with pytest.raises(ArgumentError, match=r"name is 'moon', expected one of \['"):
        read("moon")


def test_a_mesh_is_no_model():
    with pytest.raises(ArgumentError, match=r"'two_layers.msh', expected one of \['salt.sgy'\]"):
        unda.datasets.model("two_layers.msh")


@pytest.mark.parametrize("name", ["salt.sgy", "kernels.json"])
def test_the_script_makes_the_same_bytes(tmp_path, monkeypatch, name):
    pytest.importorskip("segyio")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    sample_files = __import__("sample_files")
    if name == "kernels.json" and not sample_files.MEASURED.is_file():
        pytest.skip("results were not brought along")
    {"salt.sgy": sample_files.salt, "kernels.json": sample_files.kernels}[name](tmp_path / name)
    assert (tmp_path / name).read_bytes() == unda.datasets.path(name).read_bytes()


def test_the_section_is_that_of_the_shot(monkeypatch):
    """At each node the function's value as a float32; a node aside would be seen."""
    pytest.importorskip("segyio")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    speed = __import__("shot_gather").speed
    grid, c = unda.datasets.model("salt.sgy")
    x, z = (grid.origin[i] + grid.spacing[i] * np.arange(grid.shape[i]) for i in (0, 2))
    expected = np.array([speed(one, 0.0, z) for one in x]).astype(np.float32)
    assert np.array_equal(c[:, 0], expected) and not np.array_equal(c[1:, 0], expected[:-1])
    assert grid.upper[2] == 0.0
