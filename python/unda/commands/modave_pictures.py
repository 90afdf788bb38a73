"""Pictures like figures 1 to 6 of Modave, St-Cyr & Warburton (2016).

Not here: what is measured (bench_dg_modave.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import roofline
from .measuring import figure, grouped
from .modave_paper import NET


def _title(result: Mapping[str, Any], what: str) -> str:
    return f"Modave, St-Cyr & Warburton 2016, {what}, {result['device']}"


def kernels(path: Path, result: dict[str, Any]) -> None:
    """Draw time a node, functions of acoustic waves under the roof, net throughput of both physics."""
    rows = result["rows"]
    with figure(path, _title(result, "figures 3 to 6"), (15, 8.4), columns=3, lines=2) as axes:
        for (ax, net), physics in zip(
            ((axes[0][0], axes[0][2]), (axes[1][0], axes[1][2])), ("acoustic", "elastic"), strict=True
        ):
            of_physics = [row for row in rows if row["physics"] == physics]
            colors = {}
            for kernel, of in grouped(of_physics, lambda row: row["kernel"]).items():
                drawn = ax.plot(of["degree"], of["ns_per_node"], "o-", ms=4, label=kernel)
                colors[kernel] = drawn[0].get_color()
                net.plot(of["degree"], of["percent_of_peak"], "o-", ms=4, color=colors[kernel])
            for (kernel, of), part in NET.items():
                if of == physics and kernel in colors:
                    net.axhline(part, color=colors[kernel], ls="--", lw=0.8)
            ax.set(xlabel="degree N", ylabel="ns a node and step", yscale="log", title=physics)
            ax.legend(fontsize="x-small")
            net.set(xlabel="degree N", ylabel="net throughput, % of the peak", ylim=(0, None), title=physics)
        axes[0][2].set_title("acoustic (dashed: the paper's best, of a GTX 980)", fontsize="medium")
        for ax, physics in ((axes[0][1], "acoustic"), (axes[1][1], "elastic")):
            roofline.draw(ax, [row for row in rows if row["physics"] == physics], result["limits"])
            ax.set_title(f"{physics}, all degrees", fontsize="medium")


def padding(path: Path, result: dict[str, Any]) -> None:
    """Draw throughput and bandwidth of the products, without padding and with the best, and the roof."""
    rows, limits = result["rows"], result["limits"]
    with figure(path, _title(result, "figures 1 and 2"), (14, 4.2), columns=3) as (rate, band, roof):
        for name in ("gradient", "divergence", "lift"):
            best: dict[int, dict[str, Any]] = {}
            plain: dict[int, dict[str, Any]] = {}
            for row in rows:
                (one,) = (one for one in row["products"] if one["product"] == name)
                plain.setdefault(row["degree"], one)
                if row["degree"] not in best or one["us"] < best[row["degree"]]["us"]:
                    best[row["degree"]] = one
            for ax, word in ((rate, "gflops"), (band, "gbytes_per_second")):
                drawn = ax.plot(best.keys(), [one[word] for one in best.values()], "o-", ms=4, label=name)
                ax.plot(plain.keys(), [one[word] for one in plain.values()], ":", color=drawn[0].get_color())
            roof.loglog([one["flops_per_byte"] for one in best.values()],
                        [one["gflops"] for one in best.values()], "o-", ms=4, label=name)  # fmt: skip
        ridge = limits["fma32"] / limits["copy"]
        x = [ridge / 30, ridge, 4 * ridge]
        roof.loglog(x, [min(limits["fma32"], one * limits["copy"]) / 1e9 for one in x], "k-")
        rate.set(xlabel="degree N", ylabel="GFLOP/s (dotted: no padding)", ylim=(0, None))
        band.set(xlabel="degree N", ylabel="GB/s", ylim=(0, None))
        roof.set(xlabel="operations a byte", ylabel="GFLOP/s")
        rate.legend(fontsize="small")
