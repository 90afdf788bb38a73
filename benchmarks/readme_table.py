"""Print what benchmarks/results/ holds as the tables of README.md; ``--write`` puts them there.

A result is a JSON file with device, driver, date, "rows" and, of DG, physics (`FORMS` says what a row has); a
line a kind of row, a column a degree or an order. Numbers are only rounded here. Measuring: ``unda bench``.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks/readme_table.py -->\n", "<!-- end -->\n"
NOTHING = "Nothing has been measured with this version yet.\n"


class Form(NamedTuple):
    """What rows hold: the column's word and head, the rate, what tells lines apart; what it is a part of."""

    column: str
    head: str
    rate: str
    unit: str
    words: tuple[str, ...]
    part: str = "percent_of_limit"
    share: str = "({:.0f} %)"
    of: str = "of the limit"
    title: str = "finite differences"


TILES = Form(
    "dts", "DTS ", "gcell_per_second", "Gcell/s", ("order",), "percent_of_roofline", of="of the roofline",
    title="kernel diamond, one c, tile by tile (DTS 1: kernel step)",
)  # fmt: skip
FORMS = {
    "dg": Form("degree", "N = ", "gdof_per_second", "GDOF/s", ("integrator", "dtype", "kernel")),
    "fd": Form(
        "order", "order ", "gcell_per_second", "Gcell/s",
        ("physics", "dtype", "kernel", "varies", "layers", "window", "shape"),
    ),
    "komatitsch2010": Form(
        "layers", "CPML of ", "gcell_per_second", "Gcell/s", ("where",), "over_one_core", "({:.3g} x)",
        "over one core", "the elastic case of Komatitsch et al. (2010)",
    ),
    "figure7": TILES,
    "figure10": Form(
        "sms", "SMs: ", "gcell_per_second", "Gcell/s", ("order",), "speedup", "({:.3g} x)", "over the first",
        "kernel diamond, one c, on some multiprocessors",
    ),
    "figure11": TILES,
}  # fmt: skip


def form_of(result: dict[str, Any]) -> Form:
    """Return the form of a result's rows."""
    return FORMS[result.get("case", "fd") if result.get("benchmark") == "fd" else "dg"]


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Results that have rows, in the order of their file names; one for each machine, day and subject."""
    machines: dict[Any, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        if found.get("rows") and ("physics" in found or found.get("benchmark") == "fd"):
            found.setdefault("physics", form_of(found).title)
            key = tuple(found.get(word) for word in ("device", "driver", "date", "physics"))
            machines.setdefault(key, {**found, "rows": []})["rows"] += found["rows"]
    return list(machines.values())


def _word(name: str, row: dict[str, Any]) -> str:
    """Return what a line says of a row: constant media and no layers go without saying."""
    value = row.get(name)
    if name == "varies":
        return "" if value == "constant" else f"({value} vary)"
    if name in ("layers", "window"):
        return f"{name} of {value}" if value else ""
    if name == "shape":  # kernel diamond has its own for each order, of as many nodes with their layers
        if not value:
            return ""
        return f"{value[0]}³" if len(set(value)) == 1 else f"{math.prod(row['padded']) / 1e9:.1f}e9 nodes"
    return f"order {value}" if name == "order" else str(value)


def kind(result: dict[str, Any], row: dict[str, Any]) -> str:
    """Name the line of a row."""
    return " ".join(filter(None, (_word(name, row) for name in form_of(result).words)))


def cell(result: dict[str, Any], name: str, column: int) -> str:
    """Return the rate, and what part it is of something, in one column."""
    form = form_of(result)
    for row in result["rows"]:
        share = form.share.format(row[form.part])
        if kind(result, row) == name and row[form.column] == column:
            rate = row[form.rate]
            return f"{rate:.3g} {share}" if rate < 999.5 else f"{rate:.0f} {share}"
    return ""


def table(results: list[dict[str, Any]]) -> str:
    """One table a machine and subject; of DG, ab3 is a step and lsrk4 a stage."""
    parts = []
    for result in results:
        form = form_of(result)
        columns = sorted({row[form.column] for row in result["rows"]})
        driver = f", driver {result['driver']}" if result["driver"] else ""
        title = result["physics"][0].upper() + result["physics"][1:]
        lines = [f"{title}, {result['device']}{driver}, {result['date']}:", ""]
        lines.append(f"| {form.unit} ({form.of}) | {' | '.join(f'{form.head}{n}' for n in columns)} |")
        lines.append("|---|" + "---|" * len(columns))
        for name in dict.fromkeys(kind(result, row) for row in result["rows"]):
            lines.append(f"| {name} | {' | '.join(cell(result, name, n) for n in columns)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts) or NOTHING


def replaced(readme: str, text: str) -> str:
    """Return the README with the text between its two marks replaced."""
    before, mark, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise SystemExit(f"README.md lacks the marks {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + text + END + after


if __name__ == "__main__":
    text = table(read_results(RESULTS))
    if "--write" in sys.argv[1:]:
        README.write_text(replaced(README.read_text(), text))
    else:
        print(text, end="")
