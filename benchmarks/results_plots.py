"""Draw the plots of docs/results.md from benchmarks/results/: rates, the measured limits, other packages.

A plot's metadata hold a hash of the results and of this file: tests/project/test_readme.py sees when it is
out of date. Not here: tables (results_page.py), measuring (``unda bench``).

Sample run: python benchmarks/results_plots.py    (needs matplotlib and pillow)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import results_kernels
import results_page
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = results_page.ROOT / "docs"
BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#e07b1a", "#2a8a4a", "#8a8a8a"
Results = list[dict[str, Any]]


def made_from(folder: Path) -> dict[str, str]:
    """Return what plots are made from: a hash of the results and of this file."""
    sha = hashlib.sha256(Path(__file__).read_bytes())
    for path in sorted(folder.glob("*.json")):
        if "rows" in path.read_text():  # not the record of the device tests
            sha.update(path.read_bytes())
    return {"Source": f"sha256 {sha.hexdigest()}"}


def rows_of(results: Results, on_gpu: bool, subject: str, **wanted: Any) -> Results:
    """Rows of a subject on GPUs or CPUs that have what is wanted."""
    return [
        row
        for result in results
        if bool(result["driver"]) == on_gpu and result["physics"] == subject
        for row in result["rows"]
        if all(row.get(word) == value for word, value in wanted.items())
    ]


def line(ax: Axes, rows: Results, column: str, rate: str, color: str, label: str) -> None:
    """Rates as a line with points, and dashed in the same colour the limit measured in the same run."""
    rows = sorted(rows, key=lambda row: row[column])
    x = [row[column] for row in rows]
    ax.plot(x, [row[rate] for row in rows], "o-", color=color, label=label, ms=4)
    limit = [100 * row[rate] / row["percent_of_limit"] for row in rows]
    ax.plot(x, limit, "--", color=color, lw=1.1)


def finished(ax: Axes, title: str, column: str, unit: str) -> None:
    """Label the axes."""
    ax.set(title=title, xlabel=column, ylabel=unit)
    ax.set_ylim(bottom=0)
    ax.grid(alpha=0.25, lw=0.5)
    ax.spines[["top", "right"]].set_visible(False)


def newness(result: dict[str, Any]) -> tuple[str, float]:
    """Order of results: by date, of one day by the device's memory bandwidth."""
    return result["date"], result["limits"]["copy"]


def of_newest_device(results: Results, on_gpu: bool, subjects: tuple[str, ...]) -> Results:
    """Results of the device, a GPU or a CPU, on which one of the subjects was measured last."""
    of_kind = [result for result in results if bool(result["driver"]) == on_gpu]
    newest = max((one for one in of_kind if one["physics"] in subjects), key=newness)
    return [result for result in of_kind if result["device"] == newest["device"]]


def dg(results: Results, on_gpu: bool, lines: list[tuple[str, str, str]]) -> Figure:
    """DG on the device that was measured last: rate against degree, a panel a physics."""
    subjects = ("acoustic", "elastic", "maxwell")
    results = of_newest_device(results, on_gpu, subjects)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.9), layout="constrained", sharey=True)
    figure.suptitle(results[0]["device"], fontsize=10)
    for ax, physics in zip(axes, subjects, strict=True):
        for (integrator, dtype, name), color in zip(lines, (BLUE, ORANGE, GREEN), strict=False):
            rows = rows_of(results, on_gpu, physics, integrator=integrator, dtype=dtype)
            rows = [row for row in rows if row.get("asked", "auto") == "auto"]
            line(ax, rows, "degree", "gdof_per_second", color, name)
        finished(ax, physics.capitalize(), "polynomial degree N", "GDOF/s" if ax is axes[0] else "")
        ax.set_xticks(range(1, 9))
    axes[0].plot([], [], "k--", lw=1.1, label="dashed: limit measured in the same run")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def dg_gpu(results: Results, folder: Path) -> Figure:
    """DG on the GPU."""
    return dg(results, True, [
        ("ab3", "float32", "AB3 step, float32"), ("lsrk4", "float32", "LSRK4 stage, float32"),
        ("lsrk4", "float64", "LSRK4 stage, float64"),
    ])  # fmt: skip


def dg_cpu(results: Results, folder: Path) -> Figure:
    """DG on the CPU."""
    lines = [("ab3", "float32", "AB3 step, float32"), ("lsrk4", "float32", "LSRK4 stage, float32")]
    return dg(results, False, lines)


def fd_gpu(results: Results, folder: Path) -> Figure:
    """Draw the scalar scheme against its order, and the same problems beside deepwave."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained", width_ratios=(1, 1.6))
    whole = {"physics": "scalar", "varies": "constant", "layers": 0, "window": None, "dtype": "float32"}
    found = rows_of(results, True, "finite differences", **whole)
    step = {row["order"]: row for row in found if row["kernel"] == "step"}
    diamond: dict[int, dict[str, Any]] = {}
    for row in found:
        if row["kernel"] == "diamond" and len(set(row["shape"])) > 1:
            diamond.setdefault(row["order"], row)
    orders, rate = sorted(step), "gcell_per_second"
    left.bar([o - 0.4 for o in orders], [step[o][rate] for o in orders], 0.75, color=BLUE, label="step")
    many = sorted(diamond)
    left.bar([o + 0.4 for o in many], [diamond[o][rate] for o in many], 0.75, color=ORANGE, label="diamond")
    limit = [100 * step[o][rate] / step[o]["percent_of_limit"] for o in orders]
    for order, value in zip(orders, limit, strict=True):
        label = "limit of one step at a time" if order == orders[0] else None
        left.plot([order - 0.95, order + 0.95], [value] * 2, "k--", lw=1.2, label=label)
    finished(left, "Scalar equation, one c", "order in space", "Gcell/s")
    left.set_xticks(orders)
    left.legend(frameon=False, fontsize=8)
    beside_deepwave(right, folder)
    return figure


def grouped(ax: Axes, names: list[str], series: list[tuple[str, str, list[float | None]]]) -> None:
    """Bars with their values in groups; None: no bar."""
    width = 0.8 / len(series)
    values_of = [values for _, _, values in series]
    present = [[i for i, v in enumerate(values_of) if v[k] is not None] for k in range(len(names))]
    for i, (label, color, values) in enumerate(series):
        groups = [k for k in range(len(names)) if i in present[k]]
        at = [k + (present[k].index(i) - (len(present[k]) - 1) / 2) * width for k in groups]
        bars = ax.bar(at, [values[k] or 0 for k in groups], width, color=color, label=label)
        ax.bar_label(bars, fmt="{:.3g}", fontsize=6.5, padding=2)
    ax.set_xticks(range(len(names)), names, fontsize=8)


def beside_deepwave(ax: Axes, folder: Path) -> None:
    """Bars of unda and deepwave, order 4, every material another number at each node."""
    cases: dict[Any, dict[str, float]] = {}
    for row in results_page.read_peers(folder, "deepwave").values():
        place = cases.setdefault((row["case"], tuple(row["shape"])), {})
        place |= {row["kernel"]: row["unda"], "deepwave": row["deepwave"]}
    names = [
        f"{case.replace(', ', chr(10))}\n{shape[0]}³" if len(set(shape)) == 1
        else f"{case.replace(', ', chr(10))}\n{shape[0] * shape[1] * shape[2] / 1e9:.1f}e9"
        for case, shape in cases
    ]  # fmt: skip
    names = [name.replace("variable density", "var. density") for name in names]
    series = [("unda, step", BLUE, "step"), ("unda, diamond", ORANGE, "diamond"),
              ("deepwave 0.0.27", GREY, "deepwave")]  # fmt: skip
    grouped(ax, names, [(label, c, [v.get(key) for v in cases.values()]) for label, c, key in series])
    ax.tick_params(axis="x", labelsize=6.5)
    finished(ax, "The same problem, order 4, media that vary", "problem, nodes", "Gcell/s")
    ax.legend(frameon=False, fontsize=8, loc="upper left")


def fd_cpu(results: Results, folder: Path) -> Figure:
    """Draw the scalar scheme on the CPU beside Devito."""
    figure, ax = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    rows = list(results_page.read_peers(folder, "devito").values())
    names = [f"order {row['order']}, {row['shape'][0]}³" for row in rows]
    series = [("unda, step", BLUE, "step"), ("unda, tiled", ORANGE, "tiled"), ("Devito", GREY, "devito")]
    grouped(ax, names, [(label, c, [row[key] for row in rows]) for label, c, key in series])
    (path,) = folder.glob("*_compare_devito.json")
    limit = json.loads(path.read_text())["limits"]["copy"] / 16 / 1e9  # p, p_old and c read, p written
    ax.axhline(limit, color="k", ls="--", lw=1.1, label="copy bandwidth over 16 bytes a cell")
    ax.set_ylim(top=1.45 * limit)
    finished(ax, "Scalar equation, variable c, layers of 20, two cores", "order in space, nodes", "Gcell/s")
    ax.legend(frameon=False, fontsize=8)
    return figure


def kernels_gpu(results: Results, folder: Path) -> Figure:
    """Draw the seven kernels in the case of Modave et al., and what Klöckner et al. leave out."""
    figure, (*axes, less) = plt.subplots(1, 3, figsize=(12, 4.1), layout="constrained")
    of_modave = [
        one for one in results_kernels.results_of(folder, "modave2016") if one["figure"] == "kernels"
    ]
    newest = max(of_modave, key=newness)
    figure.suptitle(newest["device"], fontsize=10)
    rows = newest["rows"]
    names = list(dict.fromkeys(row["kernel"] for row in rows))
    for ax, physics in zip(axes, ("acoustic", "elastic"), strict=True):
        for i, name in enumerate(names):
            of = [row for row in rows if (row["kernel"], row["physics"]) == (name, physics)]
            ax.plot([row["degree"] for row in of], [row["gdof_per_second"] for row in of], "o-", ms=4,
                    color=f"C{i}", label=name)  # fmt: skip
        finished(ax, f"{physics.capitalize()}, AB3, 2 million nodes", "polynomial degree N", "GDOF/s")
        ax.set_xticks(range(1, 9))
    axes[1].set_ylim(top=1.3 * axes[1].get_ylim()[1])
    axes[1].legend(frameon=False, fontsize=8, ncols=3, loc="upper right")
    (orders,) = [one for one in results_kernels.results_of(folder, "klockner2009")
                 if (one["figure"], one["device"]) == ("orders", newest["device"])]  # fmt: skip
    for what in ("all", "no matrix in shared", "no microblocks", "neither"):
        of = [row for row in orders["rows"] if row["what"] == what]
        less.plot(
            [row["degree"] for row in of], [row["gdof_per_second"] for row in of], "o-", ms=4, label=what
        )
    finished(less, "microblock, light, LSRK4 stage: left out", "polynomial degree N", "GDOF/s")
    less.set_xticks(range(1, 10))
    less.legend(frameon=False, fontsize=8)
    return figure


PLOTS: dict[str, Callable[[Results, Path], Figure]] = {
    "results_dg_gpu.png": dg_gpu,
    "results_fd_gpu.png": fd_gpu,
    "results_kernels.png": kernels_gpu,
    "results_dg_cpu.png": dg_cpu,
    "results_fd_cpu.png": fd_cpu,
}


def draw_all(folder: Path, to: Path) -> None:
    """Write every plot into a folder."""
    results = results_page.read_results(folder)
    for name, draw in PLOTS.items():
        figure = draw(results, folder)
        figure.savefig(to / name, dpi=110, metadata=made_from(folder))
        plt.close(figure)


if __name__ == "__main__":
    draw_all(results_page.RESULTS, DOCS)
