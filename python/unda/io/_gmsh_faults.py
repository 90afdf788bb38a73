"""Where a damaged Gmsh file breaks off or miscounts: in words, with the lines of text files.

Looked at only once a file could not be read. Not here: reading (_gmsh.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

#: a file has them in this order, the first three not always
_SECTIONS = ("MeshFormat", "PhysicalNames", "Entities", "PartitionedEntities", "Nodes", "Elements")
_MARK = re.compile(rb"^\$(End)?(%s)\s*$" % "|".join(_SECTIONS).encode(), re.MULTILINE)
_COPIED = "has it been copied whole?"


class _Fault(Exception):
    """What is wrong, for the message."""


def explain(path: Path) -> str | None:
    """Return what breaks a Gmsh file of format 2.2 or 4.1, or None if its sections are whole."""
    content = path.read_bytes()
    words = content.split(maxsplit=4)
    if len(words) < 4 or words[0] != b"$MeshFormat":
        return None
    binary = words[2] == b"1"
    try:
        found = _sections(content, binary=binary)
        for name in () if binary else ("Nodes", "Elements"):
            lines = _Lines(content, name, *found[name])
            (_walk_old if words[1].startswith(b"2") else _walk_new)(lines)
    except _Fault as fault:
        return str(fault)
    return None


def _line(content: bytes, at: int) -> int:
    """Return the number of the line that holds a byte."""
    return content.count(b"\n", 0, at) + 1


def _sections(content: bytes, *, binary: bool) -> dict[str, tuple[int, int]]:
    """Return where the inner lines of each section begin and end, or say where the file breaks off."""
    found: dict[str, tuple[int, int]] = {}
    open_mark = None

    def place(at: int) -> str:
        return f"byte {at}" if binary else f"line {_line(content, at)}"

    def name_of(mark: re.Match[bytes]) -> str:
        return f"${mark[2].decode()}, which begins in {place(mark.start())}"

    for mark in _MARK.finditer(content):
        if mark[1] is None and open_mark is None:
            open_mark, name = mark, mark[2].decode()
            if name in ("Nodes", "Elements") and name in found and not binary:
                raise _Fault(
                    f"{place(mark.start())} begins a second section ${name}, the first ends in "
                    f"{place(found[name][1])}; expected one: save the whole mesh again from Gmsh"
                )
        elif open_mark is not None and mark[1] is not None and mark[2] == open_mark[2]:
            found.setdefault(mark[2].decode(), (open_mark.end() + 1, mark.start()))
            open_mark = None
        elif not binary:  # of bytes that are numbers some may look like this
            expected = f"the end of {name_of(open_mark)}" if open_mark else "the beginning of a section"
            raise _Fault(f"{place(mark.start())} is {mark[0].decode().strip()!r}, expected {expected}")
    if open_mark:
        raise _Fault(f"it ends in {place(len(content))}, inside {name_of(open_mark)}; {_COPIED}")
    for wanted in ("Nodes", "Elements"):
        if wanted not in found:
            last = list(found)[-1]
            raise _Fault(
                f"it has no ${wanted}: its last section, ${last}, ends in {place(found[last][1])}; {_COPIED}"
            )
    return found


class _Lines:
    """The inner lines of a section, one after the other.

    Parameters
    ----------
    content : bytes
        Of the file.
    name : str
    begin, end : int
        Where they begin and end.
    """

    def __init__(self, content: bytes, name: str, begin: int, end: int) -> None:
        self.name, self.what = name, name.lower()[:-1]
        self._lines = content[begin:end].decode("utf-8", "replace").splitlines()
        self._first, self._next = _line(content, begin), 0

    @property
    def number(self) -> int:
        """Of the line that was taken last."""
        return self._first + self._next - 1

    def take(self, expected: str, *kinds: type, more: bool = False) -> list[float]:
        """Return the numbers of the next line that is not blank, of these kinds, then integers if `more`."""
        while self._next < len(self._lines) and not self._lines[self._next].strip():
            self._next += 1
        text = self._lines[self._next].strip() if self._next < len(self._lines) else f"$End{self.name}"
        self._next += 1
        words = text.split()
        try:
            if len(words) < len(kinds) or (len(words) > len(kinds) and not more):
                raise ValueError
            kinds = (*kinds, *[int] * (len(words) - len(kinds)))
            return [kind(word) for kind, word in zip(kinds, words, strict=True)]
        except ValueError:
            short = text if len(text) <= 60 else f"{text[:60]}.."
            raise _Fault(f"line {self.number} is {short!r}, expected {expected}") from None

    def end(self, declared: str) -> None:
        """Refuse further lines."""
        rest = [i for i in range(self._next, len(self._lines)) if self._lines[i].strip()]
        if rest:
            text = self._lines[rest[0]].strip()[:60]
            raise _Fault(f"line {self._first + rest[0]} is {text!r}, expected $End{self.name}: {declared}")


def _walk_old(lines: _Lines) -> None:
    """Pass over $Nodes or $Elements of format 2.2: a count, then a line each."""
    count = int(lines.take(f"the number of {lines.what}s", int)[0])
    declared = f"line {lines.number} declares {count} {lines.what}s"
    for i in range(count):
        which = f"{lines.what} {i + 1} of {count} ({declared}):"
        if lines.name == "Nodes":
            lines.take(f"{which} its number and three coordinates", int, float, float, float)
        else:
            _, kind, tags, *rest = lines.take(
                f"{which} its number, type, tags and nodes", int, int, int, more=True
            )
            _check_nodes(lines, which, int(kind), rest[int(tags) :])
    lines.end(declared)


def _walk_new(lines: _Lines) -> None:
    """Pass over $Nodes or $Elements of format 4.1: blocks, each with its own count."""
    blocks, count, *_ = map(int, lines.take(f"numbers of blocks and {lines.what}s", int, int, int, int))
    declared, left = f"line {lines.number} declares {blocks} blocks of {count} {lines.what}s", count
    for block in range(blocks):
        head = f"block {block + 1} of {blocks} ({declared}):"
        expected = f"{head} two numbers of its entity, a type and how many {lines.what}s"
        _, _, kind, num = map(int, lines.take(expected, int, int, int, int))
        left -= num
        which = f"one of the {num} {lines.what}s that line {lines.number} declares:"
        for _ in range(num):
            if lines.name == "Nodes":
                lines.take(f"{which} its number", int)
            else:
                _check_nodes(
                    lines, which, kind, lines.take(f"{which} its number and nodes", int, more=True)[1:]
                )
        for _ in range(num if lines.name == "Nodes" else 0):
            lines.take(f"{which} its three coordinates", float, float, float)
    lines.end(declared)
    if left:
        raise _Fault(f"{declared}, expected {count - left}, as many as its blocks have")


def _check_nodes(lines: _Lines, which: str, kind: int, nodes: Sequence[float]) -> None:
    """Refuse an element that has not the nodes of its type."""
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_type

    name = _gmsh_to_meshio_type.get(kind)
    if name not in num_nodes_per_cell:
        raise _Fault(f"line {lines.number} has an element of type {kind}, expected one of Gmsh's types")
    if len(nodes) != num_nodes_per_cell[name]:
        raise _Fault(
            f"line {lines.number} has an element of type {kind} ({name}) with {len(nodes)} nodes, expected "
            f"{num_nodes_per_cell[name]}"
        )
