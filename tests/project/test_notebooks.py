"""The notebooks run from top to bottom, with the Python that runs the tests.

UNDA_QUICK in the environment makes those that know it coarser; --slow runs all of them in full.
"""

import os
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def pictures(path, tmp_path, monkeypatch):
    """Run a notebook beside meshes and results, in a folder of its own; returns how many it draws."""
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from traitlets.config import Config

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setattr(KernelSpecManager, "ensure_native_kernel", True)
    for folder in ("tests", "benchmarks"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "notebooks").mkdir()
    notebook = nbformat.read(path, as_version=4)
    # Sockets that are files, in a short path: two kernels that start at once can be given the same port.
    with tempfile.TemporaryDirectory() as sockets:
        config = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", config=config,
            resources={"metadata": {"path": str(tmp_path / "notebooks")}},
        ).execute()  # fmt: skip
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_there_are_notebooks_and_they_are_kept_without_output():
    import nbformat

    assert [path.name[:2] for path in NOTEBOOKS] == [f"{i + 1:02}" for i in range(len(NOTEBOOKS))]
    assert len(NOTEBOOKS) >= 4
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") for cell in cells)


#: Those whose problems other default tests have.
ELSEWHERE = ("03_elastic", "04_maxwell", "05_finite_differences", "06_four_methods", "07_kernels")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in ELSEWHERE))
        for path in NOTEBOOKS
    ],
)
def test_it_runs_quickly(path, tmp_path, monkeypatch):
    monkeypatch.setenv("UNDA_QUICK", "1")
    assert pictures(path, tmp_path, monkeypatch)


@pytest.mark.slow
@EACH
def test_it_runs_in_full(path, tmp_path, monkeypatch):
    monkeypatch.delenv("UNDA_QUICK", raising=False)
    assert pictures(path, tmp_path, monkeypatch)
