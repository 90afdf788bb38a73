"""The site has what it says: pictures of examples and solutions, links that lead somewhere, code that runs.

Pictures are stored, with a digest of the code that made them. Building the site: `make docs`, in .ci/run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import unda
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "_ext")]

import check_links  # noqa: E402
import gallery_pictures  # noqa: E402

EACH = pytest.mark.parametrize("path", gallery_pictures.EXAMPLES, ids=lambda path: path.stem)


@EACH
def test_an_example_has_the_picture_that_its_code_draws(path):
    assert gallery_pictures.stored(path) == gallery_pictures.made_from(path), "run `make docs-gallery`"
    assert 2_000 < (gallery_pictures.PICTURES / f"{path.stem}.png").stat().st_size < gallery_pictures.BYTES


def test_another_program_has_another_digest(tmp_path):
    text = (ROOT / "examples" / "first_wave.py").read_text()
    said, changed = tmp_path / "said.py", tmp_path / "changed.py"
    said.write_text(text.replace("against the exact solution", "beside the exact solution", 1))
    changed.write_text(text.replace("rho=", "c=", 1).replace("1500.0", "1501.0", 1))
    same, other = gallery_pictures.made_from(said), gallery_pictures.made_from(changed)
    assert same == gallery_pictures.made_from(ROOT / "examples" / "first_wave.py") != other


@EACH
def test_an_example_begins_with_a_title(path):
    first, second = path.read_text().split("\n")[:2]
    assert first.startswith('"""') and second == "=" * (len(first) - 3)


def test_every_exact_solution_has_its_picture():
    import exact_pictures

    solutions = set(unda.exact.__all__) - {"ExactSolution", "from_config"}
    assert set(exact_pictures.RECIPES) == solutions
    for name in solutions:
        path = gallery_pictures.PICTURES / f"exact_{name}.png"
        with Image.open(path) as picture:
            assert picture.info["Source"] == exact_pictures.made_from(), "run docs/exact_pictures.py"
        assert path.stat().st_size < 30_000


# ---- links


def site(folder, link):
    """Two pages: one with an anchor, one with a link."""
    (folder / "api").mkdir()
    (folder / "api" / "there.html").write_text('<h1 id="head">there</h1><a href="../here.html">back</a>')
    (folder / "here.html").write_text(f'<a href="{link}">on</a><a href="https://example.org/nothing">out</a>')
    return check_links.broken(folder)


@pytest.mark.parametrize("link", ["api/there.html", "api/there.html#head", "#", ""])
def test_a_link_that_leads_somewhere_is_accepted(tmp_path, link):
    assert site(tmp_path, link) == ([], 2, 1)


@pytest.mark.parametrize(
    "link, why",
    [("there.html", "no such file"), ("api/there.html#tail", "no such anchor"), ("#x", "no such anchor")],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, link, why):
    assert site(tmp_path, link)[0] == [("here.html", link, why)]


# ---- code of the pages


PAGES = ["quickstart.md", *(f"howto/{path.name}" for path in sorted((ROOT / "docs" / "howto").glob("*.md")))]
PRINTED = {"howto/absorb.md": r"'absorbing': '23\.\d %', 'exact outside': '2\.\d %'"}  # as they say below
SHORT = ("howto/mesh_from_gmsh.md", "howto/several_devices.md", "howto/from_c.md")


def code(page):
    """Return the blocks of a page in Python that are to run, as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL))


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.slow] * (p not in SHORT)) for p in PAGES]
)
def test_the_code_of_a_page_runs_in_an_empty_folder(page, tmp_path, monkeypatch):
    program = code(page)
    if not program:
        pytest.skip("no code in Python that runs everywhere")
    monkeypatch.chdir(tmp_path)
    Path("page.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "page.py"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert re.search(PRINTED.get(page, ""), done.stdout)
    misfits = [
        float(one) for text in re.findall(r"\[([-.e0-9 ]+)\]$", done.stdout, re.M) for one in text.split()
    ]
    assert len(misfits) == 4 * (page == "quickstart.md") and all(0 < one < 0.03 for one in misfits)
