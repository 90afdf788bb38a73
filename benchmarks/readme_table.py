"""Print what benchmarks/results/ holds as the table of README.md; ``--write`` puts it there.

A result is a JSON file with physics, device, driver, date, and "rows": degree, kernel, dtype, integrator,
gdof_per_second, percent_of_limit. Numbers are only rounded here. Measuring: ``unda bench``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks/readme_table.py -->\n", "<!-- end -->\n"
NOTHING = "Nothing has been measured with this version yet.\n"


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Results that have rows, in the order of their file names; one for each machine, day and physics."""
    machines: dict[Any, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        if found.get("rows") and "physics" in found:  # not those of finite differences
            key = tuple(found.get(word) for word in ("device", "driver", "date", "physics"))
            machines.setdefault(key, {**found, "rows": []})["rows"] += found["rows"]
    return list(machines.values())


def kinds(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Integrator, precision and kernel of a result's lines, in their first order."""
    words = ("integrator", "dtype", "kernel")
    return list(dict.fromkeys(tuple(row[word] for word in words) for row in result["rows"]))


def cell(result: dict[str, Any], kind: tuple[str, str, str], degree: int) -> str:
    """GDOF/s and the percentage of the limit at one degree."""
    words = ("integrator", "dtype", "kernel")
    for row in result["rows"]:
        if tuple(row[word] for word in words) == kind and row["degree"] == degree:
            return f"{row['gdof_per_second']:.3g} ({row['percent_of_limit']:.0f} %)"
    return ""


def table(results: list[dict[str, Any]]) -> str:
    """One table a machine and physics; a line a kernel (ab3 a step, lsrk4 a stage), a column a degree."""
    parts = []
    for result in results:
        degrees = sorted({row["degree"] for row in result["rows"]})
        driver = f", driver {result['driver']}" if result["driver"] else ""
        lines = [f"{result['physics'].capitalize()}, {result['device']}{driver}, {result['date']}:", ""]
        lines.append(f"| GDOF/s (of the limit) | {' | '.join(f'N = {n}' for n in degrees)} |")
        lines.append("|---|" + "---|" * len(degrees))
        for kind in kinds(result):
            cells = " | ".join(cell(result, kind, degree) for degree in degrees)
            lines.append(f"| {' '.join(filter(None, kind))} | {cells} |")
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
