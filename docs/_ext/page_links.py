"""Paths in backticks that name a page of the site become links to it: `docs/dg.md`, `CONVENTIONS.md`.

On GitHub and in an editor the pages name files by their path in the checkout; so do docstrings, without
backticks (docs/dg.md). Not here: links that are written as links, which Sphinx checks.
"""

import re
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

#: Files outside docs/ that a page of the site includes.
INCLUDED = {"CONVENTIONS.md": "conventions", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changes"}
#: Text in these stays as it is.
LEFT_ALONE = (nodes.literal, nodes.literal_block, nodes.reference, nodes.raw, pending_xref)
BARE = re.compile(r"\bdocs/\w+\.md\b")


def page_of(path, found):
    """Return the page that has a file of the checkout, or None."""
    if path in INCLUDED:
        return INCLUDED[path]
    pure = PurePosixPath(path)
    if pure.parts[:1] == ("docs",) and pure.suffix == ".md":
        name = str(pure.relative_to("docs").with_suffix(""))
        return name if name in found else None
    if pure.parts[:1] in (("examples",), ("notebooks",)) and pure.suffix in (".py", ".ipynb"):
        name = f"{'gallery' if pure.suffix == '.py' else 'notebooks'}/{pure.stem}"
        return name if name in found else None
    return None


class PageLinks(SphinxTransform):
    """Make the links of one document."""

    default_priority = 400

    def apply(self):
        """Replace literals, and bare paths in text, by references."""
        found = self.env.found_docs
        for literal in list(self.document.findall(nodes.literal)):
            target = page_of(literal.astext(), found)
            if target and not isinstance(literal.parent, nodes.reference) and target != self.env.docname:
                literal.replace_self(self.link(target, literal.deepcopy()))
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, LEFT_ALONE):
                continue
            if text.astext() == " -- ":  # between a parameter and what it is
                text.parent.replace(text, nodes.Text(" – "))
                continue
            parts, begin = [], 0
            for one in BARE.finditer(text.astext()):
                target = page_of(one[0], found)
                if target:
                    parts += [nodes.Text(text.astext()[begin : one.start()])]
                    parts += [self.link(target, nodes.literal("", one[0]))]
                    begin = one.end()
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text.astext()[begin:])])

    def link(self, target, inner):
        """Return a reference to a page: by its title, or as the path of an example or notebook."""
        where = {"refdoc": self.env.docname, "reftarget": f"/{target}"}
        path = target.startswith(("gallery/", "notebooks/"))
        return pending_xref("", inner, refdomain="std", reftype="doc", refexplicit=path, **where)


def setup(app):
    """Register the transform."""
    app.add_transform(PageLinks)
    return {"parallel_read_safe": True}
