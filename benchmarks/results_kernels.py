"""Tables of docs/results.md beside two papers of kernels: Modave et al. (2016), Klöckner et al. (2009).

Not here: other tables (results_page.py), measuring (``unda bench dg --paper``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from unda.commands.modave_paper import TABLE5

Rows = list[dict[str, Any]]


def results_of(folder: Path, paper: str) -> list[dict[str, Any]]:
    """Return the results of a paper that have rows, in the order of their names."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [one for one in found if one.get("paper") == paper and one["rows"]]


def grid(
    corner: str, rows: Rows, line: Callable[[dict[str, Any]], str], column: Callable[[dict[str, Any]], Any],
    cell: Callable[[dict[str, Any]], str], head: str = "N = ",
) -> list[str]:  # fmt: skip
    """Return a table: a line and a column of each row by name, empty where there is none."""
    columns = sorted({column(row) for row in rows})
    cells: dict[str, dict[Any, str]] = {}
    for row in rows:
        cells.setdefault(line(row), {})[column(row)] = cell(row)
    return [
        f"| {corner} | {' | '.join(f'{head}{one}' for one in columns)} |", "|---|" + "---|" * len(columns),
        *(f"| {name} | {' | '.join(of.get(one, '') for one in columns)} |" for name, of in cells.items()), "",
    ]  # fmt: skip


def listed(heads: Iterable[str], keys: Iterable[str], rows: Rows) -> list[str]:
    """Return a table with a line a row; None is empty."""
    heads, keys = list(heads), list(keys)

    def word(value: Any) -> str:
        return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(f"| {' | '.join(word(row[key]) for key in keys)} |" for row in rows), ""]


def _title(result: dict[str, Any], what: str) -> list[str]:
    return [f"{what}, {result['device']}, {result['date']}:", ""]


def _functions(rows: Rows) -> Rows:
    return [
        {**row, "function": name.removeprefix("dg_"), **part}
        for row in rows
        for name, part in row["functions"].items()
    ]


def _modave_kernels(result: dict[str, Any]) -> list[str]:
    rows = result["rows"]
    functions = _functions([row for row in rows if row["physics"] == "acoustic"])
    own = [row for row in functions if row.get("registers")]

    def table5(row: dict[str, Any]) -> str:
        paper = TABLE5.get((row["kernel"], row["function"]), {}).get(row["degree"])
        theirs = [f" ({one:.0f})" for one in paper[:2]] if paper else ["", ""]
        return (
            f"{row['registers']}{theirs[0]}, {100 * row['occupancy']:.0f}{theirs[1]} %, {row['spill_bytes']}"
        )

    return [
        *_title(result, "Figures 3 and 5, time of an `ab3` step"),
        *grid("ns a node", rows, lambda row: f"{row['physics']}, {row['kernel']}", lambda row: row["degree"],
              lambda row: f"{row['ns_per_node']:.3g}"),
        *_title(result, "Figure 6, net throughput"),
        *grid("% of the peak", rows, lambda row: f"{row['physics']}, {row['kernel']}",
        lambda row: row["degree"],
              lambda row: f"{row['percent_of_peak']:.1f}"),
        *listed(("kernel", "physics", "best N", "% of the peak", "paper, of a GTX 980"),
                ("kernel", "physics", "degree", "here", "paper"), result.get("net", [])),
        *listed(("section 4.3", "here", "paper"), ("what", "here", "paper"), result.get("stated", [])),
        *_title(result, "Figure 4, acoustic functions: GFLOP/s, and their part of the roofline"),
        *grid("GFLOP/s", functions, lambda row: f"{row['kernel']}, {row['function']}",
        lambda row: row["degree"],
              lambda row: f"{row['gflops']:.0f} ({row['percent_of_roofline']:.0f} %)"),
        *_title(result,
        "Table 5, acoustic functions: registers a thread, occupancy (in brackets the paper's), bytes of "
                "spills"),
        *grid("registers", own, lambda row: f"{row['kernel']}, {row['function']}", lambda row: row["degree"],
              table5),
        *_modave_hits(result),
    ]  # fmt: skip


def _modave_hits(result: dict[str, Any]) -> list[str]:
    """Return the hit rates that a result has, or nothing."""
    functions = [row for row in _functions(result["rows"]) if "l1_hit" in row]

    def word(row: dict[str, Any]) -> str:
        paper = TABLE5.get((row["kernel"], row["function"]), {}).get(row["degree"])
        here = ["-" if row[level] is None else f"{row[level]:.0f}" for level in ("l1_hit", "l2_hit")]
        return f"{here[0]}{f' ({paper[2]:.0f})' if paper else ''}, {here[1]}"

    if not functions:
        return []
    return [
        *_title(result,
        "Table 5, acoustic functions: % hits of loads in L1 (in brackets the paper's), of reads in L2"),
        *grid("%", functions, lambda row: f"{row['kernel']}, {row['function']}", lambda row: row["degree"],
              word),
    ]  # fmt: skip


def _modave_padding(result: dict[str, Any]) -> list[str]:
    return [
        *_title(result, "Table 4, rows of the padded matrices that take least time, and the gain over none"),
        *listed(("N", "Np", "best", "paper", "times", "3 Np", "best", "paper", "times"),
                ("degree", "num_node", "rows", "paper_rows", "gain", "num_gradient", "gradient_rows",
                 "paper_gradient_rows", "gradient_gain"), result.get("table4", [])),
        *_title(result,
        "Table 3 with these rows: m x n x k; figures 1 and 2: GFLOP/s, GB/s, part of the roofline"),
        *grid("product", result.get("table3", []), lambda row: row["product"], lambda row: row["degree"],
        lambda row: (
            f"{row['m']} x {row['n']} x {row['k']}: {row['gflops']:.0f}, {row['gbytes_per_second']:.0f}, "
            f"{row['percent_of_roofline']:.0f} %")),
        *listed(("section 4.2", "here", "paper"), ("what", "here", "paper"), result.get("stated", [])),
    ]  # fmt: skip


def _klockner_tuning(result: dict[str, Any]) -> list[str]:
    return [
        *_title(result, "Table 3, the parameters that take least time"),
        *listed(("N", "KM", "MB", "pairs", "lift", "wp", "wi", "ws", "local", "wp", "wi", "ws",
        "paper's local",
                 "times the library's own"),
                ("degree", "km", "mb", "flux_wp", "lift_strategy", "lift_wp", "lift_wi", "lift_ws",
                "strategy", "wp",
                 "wi", "ws", "paper", "over_default"), result.get("table3", [])),
    ]  # fmt: skip


def _klockner_orders(result: dict[str, Any]) -> list[str]:
    rows, whole = result["rows"], [row for row in result["rows"] if row["what"] == "all"]
    beside = [
        {"degree": row["degree"], "over_core": row["over_core"], "paper": row["paper_over_core"]}
        for row in whole
    ]
    return [
        *_title(result, "Figures 8 and 11(a), GFLOP/s, and GDOF/s a stage"),
        *grid("GFLOP/s", rows, lambda row: row["what"], lambda row: row["degree"],
              lambda row: f"{row['net_gflops']:.0f} ({row['gdof_per_second']:.3g})"),
        *listed(("N", "times one core", "paper"), ("degree", "over_core", "paper"), beside),
        *_title(result, "Figures 9 and 10(a), the parts: GFLOP/s, % of the time, GB/s"),
        *grid("part", result.get("parts", []), lambda row: row["part"], lambda row: row["degree"],
              lambda row: (
            f"{row['gflops']:.0f}, {row['percent_of_time']:.0f} %, {row['gbytes_per_second']:.0f}")),
    ]  # fmt: skip


def _klockner_study(result: dict[str, Any]) -> list[str]:
    best = min(result["rows"], key=lambda row: row["us"])
    theirs = ", ".join(str(one) for one in result.get("paper_best", ()))
    return [
        *_title(result,
        f"Figure 10(b), local differentiation, N = {best['degree']}, matrix in shared memory"),
        *grid("us a stage", result["rows"], lambda row: f"wi {row['wi']}, ws {row['ws']}",
        lambda row: row["wp"],
              lambda row: f"{row['us']:.0f}", head="wp = "),
        f"The best is (wp, wi, ws) = ({best['wp']}, {best['wi']}, {best['ws']}), theirs ({theirs}).", "",
    ]  # fmt: skip


def _klockner_size(result: dict[str, Any]) -> list[str]:
    return [
        *_title(result, "Figure 11(b), the rate against the number of elements K"),
        *grid("GDOF/s a stage", result["rows"], lambda row: f"N = {row['degree']}",
        lambda row: row["num_elem"],
              lambda row: f"{row['gdof_per_second']:.3g}", head="K = "),
    ]  # fmt: skip


def _klockner_accuracy(result: dict[str, Any]) -> list[str]:
    rows = [
        {
            "degree": row["degree"], "here": ", ".join(f"{e:.2e}" for e in row["errors"]),
            "theirs": ", ".join(f"{e:.2e}" for e in row["paper_errors"]), "order": row["order"],
            "paper_order": row["paper_order"],
        }
        for row in result["rows"]
    ]  # fmt: skip
    return [
        *_title(result, "Table 2, kernel `microblock`: errors on four meshes, and the order"),
        *listed(
            ("N", "errors", "paper", "order", "paper"),
            ("degree", "here", "theirs", "order", "paper_order"),
            rows,
        ),
    ]


_HOW: dict[str, dict[str, Callable[[dict[str, Any]], list[str]]]] = {
    "modave2016": {"padding": _modave_padding, "kernels": _modave_kernels, "hits": _modave_hits},
    "klockner2009": {
        "tuning": _klockner_tuning, "orders": _klockner_orders, "study": _klockner_study,
        "size": _klockner_size,
        "accuracy": _klockner_accuracy,
    },
}  # fmt: skip


def tables(folder: Path, paper: str, nothing: str) -> str:
    """Return the tables of a paper, figure by figure, or the text for none."""
    results = results_of(folder, paper)
    parts = [
        line
        for figure, how in _HOW[paper].items()
        for result in results if result["figure"] == figure
        for line in how(result)
    ]  # fmt: skip
    return "\n".join(parts) or nothing
