"""Pictures like figures 4 and 5 of Hanindhito et al. (2022).

Not here: what is measured (bench_dg_gaps.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import roofline
from .measuring import figure

_LEGEND_COLUMNS = 3  # more are wider than the axes beside two others


def _name(row: dict[str, Any]) -> str:
    return f"{row['physics']}\n{row['flux']}\n{row['dtype']}"


def _draw_times(ax: Any, rows: list[dict[str, Any]], words: Sequence[str]) -> None:
    """Stack the functions' times for the paper's 1,000 steps; words: what tells bars apart."""
    colors: dict[str, Any] = {}
    for bar, row in enumerate(rows):
        bottom = 0.0
        for name, part in row["functions"].items():
            word = name.removeprefix("dg_")
            drawn = ax.bar(bar, part["ms"], bottom=bottom, color=colors.get(word),
                           label=None if word in colors else word)  # fmt: skip
            colors[word] = drawn[0].get_facecolor()
            bottom += part["ms"]
    names = [
        " ".join((row["physics"], row["flux"], row["dtype"][5:], *(str(row[word]) for word in words)))
        for row in rows
    ]
    ax.set_xticks(range(len(rows)), names, rotation=90, fontsize=5)
    lines = -(-len(colors) // _LEGEND_COLUMNS)
    ax.set(ylabel="seconds for 1,000 steps", ylim=(0, (1.05 + 0.08 * lines) * ax.get_ylim()[1]))
    ax.legend(fontsize="x-small", ncols=min(len(colors), _LEGEND_COLUMNS), loc="upper center")


def _draw_over_cpu(ax: Any, rows: list[dict[str, Any]], paper: Mapping[str, float]) -> None:
    """Draw how many times faster than the CPU each kernel is, and what the paper says."""
    names = list(dict.fromkeys(_name(row) for row in rows))
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    for i, kernel in enumerate(kernels):
        of = [row for row in rows if row["kernel"] == kernel]
        places = [names.index(_name(row)) + 0.2 * (i - 1.5) for row in of]
        drawn = ax.bar(places, [row["over_cpu"] for row in of], 0.2, label=kernel)
        if kernel in paper:
            ax.axhline(paper[kernel], color=drawn[0].get_facecolor(), ls="--", lw=0.8)
    ax.set_xticks(range(len(names)), names, fontsize=6)
    ax.set(yscale="log")
    ax.set_ylabel("times all CPU cores (dashed: the paper's means)", fontsize="small")
    ax.legend(fontsize="x-small")


def draw(path: Path, result: dict[str, Any], means: Sequence[Mapping[str, Any]]) -> None:
    """Draw times and roofline of a result, and of figure 4 the speed over the CPU's; with means."""
    paper = {row["kernel"]: row["paper"] for row in means if row["times"] == "all cores" and row["paper"]}
    beside_paper = [
        f"{row['kernel']} {row['here']:.2f} (paper {row['paper']}) times as fast as {row['times']}"
        for row in means
        if row["paper"] and row["times"] != "all cores"
    ]
    rows = result["rows"]
    title = f"Hanindhito et al. 2022, figure {result['figure']}, {result['device']}"
    on_gpu = [row for row in rows if row["kernel"] != "cpu"]
    beside = [row for row in on_gpu if row["over_cpu"]]
    with figure(path, title, (14, 4.4), columns=3 if beside else 2) as axes:
        words = ("kernel",) if result["figure"] == "4" else ("kernel", "num_node")
        _draw_times(axes[-2], on_gpu or rows, words)
        axes[-2].set_title("\n".join(beside_paper), fontsize="small")
        roofline.draw(axes[-1], on_gpu or rows, result["limits"])
        if beside:
            _draw_over_cpu(axes[0], beside, paper)
