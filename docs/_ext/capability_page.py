"""The tables of the page of capabilities, made of capability_table.py. Not here: what is allowed."""

import capability_table as table
from docutils import nodes
from docutils.parsers.rst import Directive

YES, NO = "●", ""
PHYSICS = {"acoustic": "acoustic", "elastic": "elastic", "maxwell": "Maxwell"}


def grid(head, rows):
    """Return a table; the first cells of rows are code."""
    made = nodes.table(classes=["capabilities"])
    group = nodes.tgroup(cols=len(head))
    made += group
    group += [nodes.colspec(colwidth=2 if i == 0 else 1) for i in range(len(head))]
    for kind, lines in ((nodes.thead, [head]), (nodes.tbody, rows)):
        part = kind()
        group += part
        for line in lines:
            row = nodes.row()
            part += row
            for i, text in enumerate(line):
                code = i == 0 and kind is nodes.tbody
                inner = nodes.literal("", text) if code else nodes.Text(text)
                row += nodes.entry("", nodes.paragraph("", "", inner))
    return made


def known(what, value, method, physics):
    """Return whether a method knows a boundary, source or receiver of a physics."""
    one = table.METHODS[method]
    return physics in one.physics and value in getattr(one, what)(physics)


def by_method(what, values):
    """Return a table for each physics: values down, methods across; values that none has are left out."""
    made = []
    for physics, name in PHYSICS.items():
        methods = [method for method, one in table.METHODS.items() if physics in one.physics]
        lines = [
            [value, *(YES if known(what, value, method, physics) else NO for method in methods)]
            for value in values
        ]
        made += [grid([name, *methods], [line for line in lines if YES in line])]
    return made


class Capabilities(Directive):
    """One of the tables: physics, boundaries, sources, receivers."""

    required_arguments = 1

    def run(self):
        """Return the table."""
        what = self.arguments[0]
        if what == "physics":
            rows = [
                [method, *(YES if p in one.physics else NO for p in PHYSICS)]
                for method, one in table.METHODS.items()
            ]
            return [grid(["", *PHYSICS.values()], rows)]
        values = {"boundaries": table.BOUNDARIES, "sources": table.SOURCES, "receivers": table.RECEIVERS}[
            what
        ]
        return by_method(what, values)


def setup(app):
    """Register the directive."""
    app.add_directive("capabilities", Capabilities)
    return {"parallel_read_safe": True}
