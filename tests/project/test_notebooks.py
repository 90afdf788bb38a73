"""The notebooks run from top to bottom, with the Python that runs the tests.

UNDA_QUICK in the environment makes those that know it coarser; --slow runs all of them in full.
"""

import os
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import run_notebooks  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def pictures(path, tmp_path, monkeypatch):
    """Run a notebook in an empty folder; returns how many pictures it draws."""
    import nbformat

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    notebook = nbformat.read(path, as_version=4)
    run_notebooks.run(notebook, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_there_are_notebooks_with_numbers():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{i + 1:02}" for i in range(len(NOTEBOOKS))]
    assert len(NOTEBOOKS) >= 4


@EACH
def test_its_outputs_are_stored_small_and_are_those_of_its_cells(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    stored = notebook.metadata["unda"]
    assert stored["made_from"] == run_notebooks.made_from(notebook), "run `make docs-gallery`"
    assert stored["seconds"] <= run_notebooks.SECONDS
    assert path.stat().st_size < run_notebooks.BYTES
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 1
    assert not any(output.output_type == "error" or output.get("name") == "stderr" for output in outputs)
    assert next(cell.execution_count for cell in notebook.cells if cell.cell_type == "code") == 1


def test_other_cells_have_another_digest():
    import nbformat

    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    before = run_notebooks.made_from(notebook)
    notebook.cells[-1].source += " "
    assert run_notebooks.made_from(notebook) != before


@pytest.mark.slow  # other default tests have their problems
@EACH
def test_it_runs_quickly(path, tmp_path, monkeypatch):
    monkeypatch.setenv("UNDA_QUICK", "1")
    assert pictures(path, tmp_path, monkeypatch)


@pytest.mark.slow
@EACH
def test_it_runs_in_full(path, tmp_path, monkeypatch):
    """In two minutes on two cores: on one, which is what tests side by side have, in four."""
    monkeypatch.delenv("UNDA_QUICK", raising=False)
    begin = time.perf_counter()
    assert pictures(path, tmp_path, monkeypatch)
    assert time.perf_counter() - begin < 2 * run_notebooks.SECONDS
