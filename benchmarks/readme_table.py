"""Print what benchmarks/results/ holds as the tables of README.md; ``--write`` puts them there.

A result is a JSON file with device, driver, date, "rows" and, of DG, physics (`FORMS` says what a row has); a
line a kind of row, a column a degree or an order. Numbers are only rounded here. Measuring: ``unda bench``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks/readme_table.py -->\n", "<!-- end -->\n"
NOTHING = "Nothing has been measured with this version yet.\n"


class Form(NamedTuple):
    """What a method's rows hold: the column's word and how it is headed, the rate, what tells lines apart."""

    column: str
    head: str
    rate: str
    unit: str
    words: tuple[str, ...]


FORMS = {
    "dg": Form("degree", "N = ", "gdof_per_second", "GDOF/s", ("integrator", "dtype", "kernel")),
    "fd": Form(
        "order", "order ", "gcell_per_second", "Gcell/s", ("physics", "dtype", "kernel", "varies", "layers")
    ),
}  # fmt: skip


def form_of(result: dict[str, Any]) -> Form:
    """Return the form of a result's rows."""
    return FORMS["fd" if result.get("benchmark") == "fd" else "dg"]


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Results that have rows, in the order of their file names; one for each machine, day and subject."""
    machines: dict[Any, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        if found.get("rows") and ("physics" in found or form_of(found) is FORMS["fd"]):
            found.setdefault("physics", "finite differences")
            key = tuple(found.get(word) for word in ("device", "driver", "date", "physics"))
            machines.setdefault(key, {**found, "rows": []})["rows"] += found["rows"]
    return list(machines.values())


def kind(result: dict[str, Any], row: dict[str, Any]) -> str:
    """Name the line of a row: constant media and no layers go without saying."""
    values = {word: row[word] for word in form_of(result).words}
    if values.get("varies") == "constant":
        values["varies"] = ""
    elif "varies" in values:
        values["varies"] = f"({values['varies']} vary)"
    if "layers" in values:
        values["layers"] = f"layers of {values['layers']}" if values["layers"] else ""
    return " ".join(filter(None, values.values()))


def cell(result: dict[str, Any], name: str, column: int) -> str:
    """Return the rate and the percentage of the limit in one column."""
    form = form_of(result)
    for row in result["rows"]:
        if kind(result, row) == name and row[form.column] == column:
            return f"{row[form.rate]:.3g} ({row['percent_of_limit']:.0f} %)"
    return ""


def table(results: list[dict[str, Any]]) -> str:
    """One table a machine and subject; of DG, ab3 is a step and lsrk4 a stage."""
    parts = []
    for result in results:
        form = form_of(result)
        columns = sorted({row[form.column] for row in result["rows"]})
        driver = f", driver {result['driver']}" if result["driver"] else ""
        lines = [f"{result['physics'].capitalize()}, {result['device']}{driver}, {result['date']}:", ""]
        lines.append(f"| {form.unit} (of the limit) | {' | '.join(f'{form.head}{n}' for n in columns)} |")
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
