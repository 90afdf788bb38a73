"""A page for each exact solution: its picture, its docstring, the tests that hold a method against it.

Not here: the pictures (docs/exact_pictures.py draws them).
"""

import re
from pathlib import Path

import unda
from api_pages import write_changed
from docutils import nodes
from docutils.parsers.rst import Directive

HERE = Path(__file__).resolve().parent.parent
NOT_SOLUTIONS = {"ExactSolution", "from_config"}
SOLUTIONS = [name for name in unda.exact.__all__ if name not in NOT_SOLUTIONS]


def tests_with(name):
    """Return the tests that call a solution, as paths in the checkout."""
    root = HERE.parent
    called = re.compile(rf"\bexact\.{name}\(")
    found = sorted((root / "tests").rglob("*.py"))
    return [str(path.relative_to(root)) for path in found if called.search(path.read_text())]


def page(name):
    """Return the page of a solution."""
    title = f"unda.exact.{name}"
    lines = [title, "=" * len(title), ""]
    if (HERE / "pictures" / f"exact_{name}.png").is_file():
        lines += [f".. image:: ../pictures/exact_{name}.png", f"   :alt: {title}", ""]
    lines += [f".. autofunction:: {title}", ""]
    tests = tests_with(name)
    if tests:
        lines += ["Tests that call it: " + ", ".join(f"`{path}`" for path in tests) + ".", ""]
    return "\n".join(lines)


class Solutions(Directive):
    """All solutions: pictures that lead to their pages."""

    def run(self):
        """Return a list of links with pictures."""
        env = self.state.document.settings.env
        lines = []
        for name in SOLUTIONS:
            first = unda.exact.__dict__[name].__doc__.split("\n")[0].replace("`", "")
            picture = HERE / "pictures" / f"exact_{name}.png"
            image = f'<img src="_images/exact_{name}.png" alt="">' if picture.is_file() else ""
            if image:
                env.images.add_file(env.docname, f"pictures/exact_{name}.png")
            lines += [f'<a class="card" href="solutions/{name}.html">{image}<code>{name}</code>{first}</a>']
        return [nodes.raw("", '<div class="cards">' + "\n".join(lines) + "</div>", format="html")]


def generate(app):
    """Write the pages and their table of contents."""
    folder = Path(app.srcdir) / "solutions"
    for name in SOLUTIONS:
        write_changed(folder / f"{name}.rst", page(name))
    base = ["Bases of exact solutions", "========================", ""]
    base += [
        ".. autoclass:: unda.exact.ExactSolution",
        "   :members:",
        "",
        ".. autofunction:: unda.exact.from_config",
    ]
    write_changed(folder / "bases.rst", "\n".join(base) + "\n")


def setup(app):
    """Generate the pages before Sphinx looks for them."""
    app.connect("builder-inited", generate)
    app.add_directive("exact-solutions", Solutions)
    return {"parallel_read_safe": True}
