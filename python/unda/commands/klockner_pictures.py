"""Pictures like figures 8 to 11 of Klöckner, Warburton, Bridge & Hesthaven (2009).

Not here: what is measured (bench_dg_klockner.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import cavity
from .klockner_search import num_node
from .measuring import figure, grouped


def _title(result: Mapping[str, Any], what: str) -> str:
    return f"Klöckner, Warburton, Bridge & Hesthaven 2009, {what}, {result['device']}"


def tuning(path: Path, result: dict[str, Any]) -> None:
    """Draw the time of every candidate a degree of freedom, a column of points an order and part."""
    with figure(path, _title(result, "table 3: candidates"), (8, 4.2)) as ax:
        for i, name in enumerate(("gather", "lift", "local")):
            rows = result["rows"]
            dof = [row["num_elem"] * 6 * num_node(row["degree"]) for row in rows]
            ax.plot(
                [row["degree"] + 0.2 * (i - 1) for row in rows],
                [1e6 * row[f"{name}_us"] / n for row, n in zip(rows, dof, strict=True)],
                "_",
                label=name,
            )
        # fmt: skip ax.set(xlabel="order N", ylabel="ps a degree of freedom", yscale="log")
        ax.legend(fontsize="small")


def orders(path: Path, result: dict[str, Any]) -> None:
    """Draw rates by order, of the parts, what is lost without parts, and shares of the time."""
    rows, limits = result["rows"], result["limits"]
    kinds = grouped(rows, lambda row: row["what"])
    whole = [row for row in rows if row["what"] == "all"]
    with figure(path, _title(result, "figures 8 to 11(a)"), (15, 8.4), columns=3, lines=2) as axes:
        (rate, speed, less), (part, share, band) = axes
        for what, of in kinds.items():
            if what in ("all", "one core"):
                rate.plot(
                    of["degree"], of["net_gflops"], "o-", ms=4, label="device" if what == "all" else what
                )
                speed.plot(of["degree"], of["gdof_per_second"], "o-", ms=4)
            if what != "one core":
                less.plot(of["degree"], of["net_gflops"], "o-", ms=4, label=what)
        bottom = [0.0] * len(whole)
        for name in whole[0]["functions"] if whole else ():
            of_part = [row["functions"][name] for row in whole]
            degrees, label = [row["degree"] for row in whole], name.removeprefix("dg_")
            part.plot(degrees, [one["gflops"] for one in of_part], "o-", ms=4, label=label)
            band.plot(degrees, [one["gbytes_per_second"] for one in of_part], "o-", ms=4, label=label)
            times = [sum(one["ms"] for one in row["functions"].values()) for row in whole]
            height = [100 * one["ms"] / time for one, time in zip(of_part, times, strict=True)]
            share.bar(degrees, height, bottom=bottom, label=label)
            bottom = [a + b for a, b in zip(bottom, height, strict=True)]
        band.axhline(limits["copy"] / 1e9, color="k", lw=0.8)
        rate.set(title="8(a)", ylabel="GFLOP/s", yscale="log")
        speed.set(title="8(b)", ylabel="GDOF/s a stage", yscale="log")
        less.set(title="11(a): left out", ylabel="GFLOP/s", ylim=(0, None))
        part.set(title="9(a)", ylabel="GFLOP/s of the part", ylim=(0, None))
        share.set(title="9(b)", ylabel="% of the time")
        band.set(title="10(a) (line: copy)", ylabel="GB/s", ylim=(0, None))
        for ax in (rate, less, part, share):
            ax.legend(fontsize="x-small")
        for ax in axes.flat:
            ax.set_xlabel("order N")


def study(path: Path, result: dict[str, Any]) -> None:
    """Draw the time of local differentiation over wp, a line for each wi and ws."""
    with figure(path, _title(result, "figure 10(b)"), (7, 4.4)) as ax:
        for (wi, ws), of in grouped(result["rows"], lambda row: (row["wi"], row["ws"])).items():
            ax.plot(of["wp"], of["us"], "o-", ms=3, label=f"wi {wi}, ws {ws}")
        ax.set(xlabel="wp", ylabel="local differentiation, us a stage", ylim=(0, None))
        ax.legend(fontsize=6, ncols=3)


def size(path: Path, result: dict[str, Any]) -> None:
    """Draw the rate over the number of elements."""
    with figure(path, _title(result, "figure 11(b)"), (6.4, 4.2)) as ax:
        for degree, of in grouped(result["rows"], lambda row: row["degree"]).items():
            ax.semilogx(of["num_elem"], of["net_gflops"], "o-", ms=4, label=f"N = {degree}")
        ax.set(xlabel="elements K", ylabel="GFLOP/s", ylim=(0, None))
        ax.legend(fontsize="small")


def accuracy(path: Path, result: dict[str, Any]) -> None:
    """Draw the errors over the paper's h, and dashed the paper's."""
    with figure(path, _title(result, "table 2"), (6.4, 4.6)) as ax:
        for row in result["rows"]:
            sizes = cavity.SIZES[: len(row["errors"])]
            drawn = ax.loglog(sizes, row["errors"], "o-", ms=4, label=f"N = {row['degree']}")
            ax.loglog(cavity.SIZES, row["paper_errors"], "--", lw=0.8, color=drawn[0].get_color())
        ax.set(xlabel="h (dashed: the paper's)", ylabel="L2 error")
        ax.legend(fontsize="x-small", ncols=2)
