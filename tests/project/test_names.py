"""On the package index `unda` is another project: nothing may send users there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("python", "csrc", "cuda", "examples", "notebooks", "benchmarks", "docs")


def files():
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".c", ".h", ".cu", ".md", ".ipynb", ".txt"):
                yield path
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile", ".ci/run"))


def test_the_distribution_is_unda_waves_and_no_text_names_an_extra_of_unda():
    assert 'name = "unda-waves"' in (ROOT / "pyproject.toml").read_text()
    wrong = re.compile(r"\bunda\[|pip install '?unda\b(?!-waves)")
    assert [str(path) for path in files() if wrong.search(path.read_text())] == []
    assert wrong.search("pip install 'unda[cuda]'") and not wrong.search("pip install 'unda-waves[cuda]'")
