"""Equations as MathML, which browsers draw by themselves: pages need no network and no script.

Not here: TeX to MathML (docutils).
"""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(self, node):
    """Write the equation of a line of text."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(self, node):
    """Write a displayed equation."""
    self.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer and choose it."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.config.html_math_renderer_name = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
