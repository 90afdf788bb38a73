"""A page for each public name, from its docstring, and the index that sorts them.

What is public is `unda.__all__`: a new name has its page without a line here; the index puts it by the
module that it comes from. Not here: exact solutions (exact_pages.py).
"""

import inspect
from pathlib import Path

import unda

#: Headings of the index and the modules whose names stand below each; the first that fits.
GROUPS = {
    "Simulations": ("unda.method.dg", "unda.method.sem", "unda.method.fd"),
    "Meshes and grids": (
        "unda.problem.mesh",
        "unda.problem.mapped_mesh",
        "unda.io.mesh_file",
        "unda.problem.grid",
        "unda.problem.partition",
        "unda.problem.rank_mesh",
    ),
    "Media": ("unda.problem.medium", "unda.io.model_file"),
    "Sources and their time functions": (
        "unda.problem.source",
        "unda.problem.incident",
        "unda.problem.timefunction",
        "unda.problem.array",
    ),
    "Receivers, monitors and what comes out": ("unda.method.", "unda.io.traces", "unda.io."),
    "Absorbing layers": ("unda.problem.layer",),
    "Sweeps and studies": ("unda.sweep", "unda.study"),
    "Sample files": ("unda.datasets",),
    "Devices": ("unda.limits",),
    "Errors and warnings": ("unda.errors",),
    "More": ("",),
}
CONSTANTS = {"EPS0", "MU0"}
NOT_HERE = {"exact"} | CONSTANTS


def public():
    """Return the public names that have pages, with what they name."""
    return {name: getattr(unda, name) for name in unda.__all__ if name not in NOT_HERE}


def group(thing):
    """Return the heading under which something stands."""
    module = getattr(thing, "__module__", "") if not inspect.ismodule(thing) else thing.__name__
    return next(head for head, modules in GROUPS.items() if module.startswith(modules))


def page(name, thing):
    """Return the page of one name, in reStructuredText."""
    title = f"unda.{name}"
    kind = "module" if inspect.ismodule(thing) else "class" if inspect.isclass(thing) else "function"
    lines = [title, "=" * len(title), "", f".. auto{kind}:: {title}"]
    if kind == "class" and not issubclass(thing, BaseException):
        lines += ["   :members:", "   :inherited-members:"]
    if kind == "module":
        lines += ["   :members:"]
    return "\n".join(lines) + "\n"


def errors(names):
    """Return the page of all errors."""
    lines = ["Errors and warnings", "===================", ""]
    for name in sorted(names):
        lines += [f".. autoclass:: unda.{name}", "   :show-inheritance:", ""]
    return "\n".join(lines)


def index(grouped):
    """Return the index: a list a heading, with the first line of each docstring."""
    lines = [
        "API",
        "===",
        "",
        "From the docstrings. The C library is documented in its header,",
        "`csrc/unda.h`.",
        "",
    ]
    for head, names in grouped.items():
        if not names:
            continue
        lines += [head, "-" * len(head), "", ".. list-table::", "   :widths: 30 70", ""]
        for name, thing in names.items():
            first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
            target = "errors" if head.startswith("Errors") else f"unda.{name}"
            lines += [f"   * - :doc:`unda.{name} <{target}>`", f"     - {first}"]
        lines += [""]
    lines += ["Exact solutions", "---------------", "", "They have pages of their own: :doc:`../exact`.", ""]
    lines += ["Constants", "---------", ""]
    lines += [f"`unda.{name}` = {getattr(unda, name):.12g}, CODATA 2022; [{unit}]\n" for name, unit in
              (("EPS0", "F/m"), ("MU0", "H/m"))]  # fmt: skip
    lines += [".. toctree::", "   :hidden:", "", "   errors"]
    lines += [
        f"   unda.{name}"
        for head, names in grouped.items()
        for name in names
        if not head.startswith("Errors")
    ]
    return "\n".join(lines) + "\n"


def write_changed(path, text):
    """Write a file unless it holds that text: Sphinx reads again what is newer."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def generate(app):
    """Write all pages."""
    folder = Path(app.srcdir) / "api"
    grouped = {head: {} for head in GROUPS}
    for name, thing in public().items():
        grouped[group(thing)][name] = thing
    write_changed(folder / "errors.rst", errors(grouped["Errors and warnings"]))
    for head, names in grouped.items():
        for name, thing in names.items():
            if not head.startswith("Errors"):
                write_changed(folder / f"unda.{name}.rst", page(name, thing))
    write_changed(folder / "index.rst", index(grouped))


def setup(app):
    """Generate the pages before Sphinx looks for them."""
    app.connect("builder-inited", generate)
    return {"parallel_read_safe": True}
