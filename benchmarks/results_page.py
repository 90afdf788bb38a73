"""Write what benchmarks/results/ holds into docs/results.md, and a few rows of it into README.md.

A result is a JSON file with device, driver, date, "rows" and, of DG, physics (`FORMS` says what a row has);
a line a kind of row, a column a degree or an order. Comparisons with other packages have "rows_deepwave" or
"rows_devito". Numbers are only rounded here. Not here: measuring (``unda bench``), plots (results_plots.py).

Sample run: python benchmarks/results_page.py --write    (without --write it prints both tables)
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import results_kernels

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "results.md"
BEGIN, END = "<!-- benchmarks/results_page.py -->\n", "<!-- end -->\n"
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
    "dg": Form("degree", "N = ", "gdof_per_second", "GDOF/s", ("integrator", "dtype", "kernel", "metric")),
    "sem": Form("degree", "N = ", "gdof_per_second", "GDOF/s", ("dtype", "kernel", "metric")),
    "fd": Form(
        "order", "order ", "gcell_per_second", "Gcell/s",
        ("physics", "dtype", "kernel", "varies", "layers", "window", "shape"),
    ),
    "komatitsch2010": Form(
        "layers", "CPML of ", "gcell_per_second", "Gcell/s", ("where",), "over_one_core", "({:.3g} x)",
        "over one core", "the elastic case of Komatitsch et al. (2010)",
    ),
    "sem komatitsch2010": Form(
        "degree", "N = ", "gdof_per_second", "GDOF/s", ("engine", "kernel"), "over_core", "({:.3g} x)",
        "over one core", "the spectral elements of Komatitsch et al. (2010)",
    ),
    "figure7": TILES,
    "figure10": Form(
        "sms", "SMs: ", "gcell_per_second", "Gcell/s", ("order",), "speedup", "({:.3g} x)", "over the first",
        "kernel diamond, one c, on some multiprocessors",
    ),
    "figure11": TILES,
    "gaps": Form(
        "configuration", "", "gdof_per_second", "GDOF/s", ("kernel", "num_node"),
        title="figure {figure} of Hanindhito et al. (2022)",
    ),
    "modave2016 kernels": Form(
        "degree", "N = ", "gdof_per_second", "GDOF/s", ("physics", "kernel"),
        title="the kernels of Modave, St-Cyr & Warburton (2016)",
    ),
    "klockner2009 orders": Form(
        "degree", "N = ", "gdof_per_second", "GDOF/s", ("what",), "over_core", "({:.3g} x)", "over one core",
        "the kernel of Klöckner et al. (2009)",
    ),
}  # fmt: skip


def form_of(result: dict[str, Any]) -> Form:
    """Return the form of a result's rows."""
    return FORMS[_form_name(result)]


def _form_name(result: dict[str, Any]) -> str:
    if result.get("benchmark") == "fd":
        return str(result.get("case", "fd"))
    if "paper" in result:
        paper = str(result["paper"])
        of_kernels = paper in ("modave2016", "klockner2009")
        return "sem " * (result["benchmark"] == "sem") + paper + f" {result.get('figure')}" * of_kernels
    return str(result.get("benchmark", "dg"))


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Results that have rows, in the order of their file names; one for each machine, day and subject."""
    machines: dict[Any, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        known = "physics" in found or found.get("benchmark") == "fd" or "paper" in found
        if found.get("rows") and known and _form_name(found) in FORMS:
            found.setdefault("physics", form_of(found).title.format(**found))
            if found.get("benchmark") == "sem" and "paper" not in found:
                found["physics"] += " spectral elements"
            if found.get("shape") == "hex":
                found["physics"] += f" on hexahedra ({found['mesh']})"
            key = tuple(found.get(word) for word in ("device", "driver", "date", "physics"))
            machines.setdefault(key, {**found, "rows": []})["rows"] += found["rows"]
    return list(machines.values())


def _word(name: str, row: dict[str, Any]) -> str:
    """Return what a line says of a row: constant media and no layers go without saying."""
    value = row.get(name)
    if name == "varies":
        return "" if value == "constant" else f"({value} vary)"
    if name == "layers":
        return f"{row.get('layer', 'CPML')} of {value}" if value else ""
    if name == "window":
        return f"window of {value}" if value else ""
    if name == "shape":  # kernel diamond has its own for each order, of as many nodes with their layers
        if not value:
            return ""
        return f"{value[0]}³" if len(set(value)) == 1 else f"{math.prod(row['padded']) / 1e9:.1f}e9 nodes"
    if name == "num_node":
        return f"elements of {value} nodes"
    if name == "metric":
        return value or ""
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


def read_peers(folder: Path, peer: str) -> dict[Any, dict[str, Any]]:
    """Rows of comparisons with a peer, by case, grid, order and kernel; of a case timed twice the later."""
    rows: dict[Any, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"*_compare_{peer}*.json")):
        for row in json.loads(path.read_text())[f"rows_{peer}"]:
            rows[row.get("case"), tuple(row["shape"]), row["order"], row.get("kernel")] = row
    return rows


def _grid(shape: list[int]) -> str:
    return f"{shape[0]}³" if len(set(shape)) == 1 else " × ".join(map(str, shape))


def deepwave_table(folder: Path) -> str:
    """Beside deepwave: a line a case, grid and kernel."""
    lines = ["| Gcell/s | grid | kernel | unda | deepwave | ratio |", "|---|---|---|---|---|---|"]
    for row in read_peers(folder, "deepwave").values():
        lines.append(
            f"| {row['case']}, order {row['order']} | {_grid(row['shape'])} | {row['kernel']} "
            f"| {row['unda']:.3g} | {row['deepwave']:.3g} | {row['ratio']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def devito_table(folder: Path) -> str:
    """Beside Devito: a line an order."""
    lines = ["| Gcell/s | grid | step | tiled | Devito | ratio |", "|---|---|---|---|---|---|"]
    for row in read_peers(folder, "devito").values():
        ratio = max(row["step"], row["tiled"]) / row["devito"]
        lines.append(
            f"| scalar, layers of {row['layer']}, order {row['order']} | {_grid(row['shape'])} "
            f"| {row['step']:.2f} | {row['tiled']:.2f} | {row['devito']:.2f} | {ratio:.1f} |"
        )
    return "\n".join(lines) + "\n"


def gaps_table(folder: Path) -> str:
    """Beside Hanindhito et al.: their means and those here, then each function by configuration."""
    parts = []
    for result in (json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))):
        if result.get("paper") != "gaps" or not result["rows"]:
            continue
        places = f"{result['device']} (CPU: {result['cpu']})"
        lines = [f"Figure {result['figure']}, {places}, {result['date']}:", ""]
        if result.get("means"):
            lines += ["| kernel | times as fast as | here | paper |", "|---|---|---|---|"]
            for row in result["means"]:
                paper = "" if row["paper"] is None else f"{row['paper']:.4g}"
                lines.append(f"| {row['kernel']} | {row['times']} | {row['here']:.3g} | {paper} |")
            lines.append("")
        lines += _functions(result["rows"])
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts) or NOTHING


def _setting_up(rows: list[dict[str, Any]]) -> list[str]:
    """Return what setting up was expected to take and took, and why the CPU has a smaller mesh."""
    lines = []
    for row in rows:
        if row.get("predicted_setup_seconds"):
            took = f"{row['mesh_seconds']:.3g} s for the mesh and {row['setup_seconds']:.3g} s for the rest"
            lines.append(
                f"{row['engine']}, {row['kernel']}: setting up took {took}; "
                f"{row['predicted_setup_seconds']:.3g} s were predicted."
            )
    why = {row["why_smaller"] for row in rows if row.get("why_smaller")}
    return lines + [f"The CPU's mesh is smaller than the device's: {one}." for one in sorted(why)]


def komatitsch_table(folder: Path) -> str:
    """Beside the spectral elements of Komatitsch et al.: speeds a node, then the launches of each colour."""
    parts = []
    for result in (json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))):
        if result.get("paper") != "komatitsch2010" or not result["rows"]:
            continue
        head = "| | elements | nodes, 1e6 | % of memory | ns a node | times one core | paper |"
        places = f"{result['device']} (CPU: {result['cpu']})"
        lines = [f"{places}, {result['date']}:", "", head, "|---|" + "---|" * 6]
        for row in result["rows"]:
            memory = "" if row["percent_of_memory"] is None else f"{row['percent_of_memory']:.0f}"
            paper = row["paper_over_core"] or ""
            lines.append(
                f"| {row['engine']}, {row['kernel']} | {row['num_elem']} | {row['nodes'] / 1e6:.3g} | "
                f"{memory} | {row['ns_per_node']:.3g} | {row['over_core']:.4g} | {paper} |"
            )
        for row in result["rows"]:
            if row["num_color"]:
                times = ", ".join(f"{one['ms']:.3g}" for one in row["launches"])
                lines += ["", f"{row['num_color']} colours and the nodes that tiles share: {times} ms."]
        held = {row["held_by"] for row in result["rows"]} - {None}
        lines += [f"The number of cells is held by the {one}." for one in sorted(held)]
        lines += _setting_up(result["rows"])
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts) or NOTHING


def _functions(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table of functions, a column a configuration."""
    columns = list(dict.fromkeys(row["configuration"] for row in rows))
    lines = [f"| ms a step (of the roofline) | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        for function, part in row["functions"].items():
            line = f"{row['kernel']}, {function.removeprefix('dg_')}, {row['num_node']} nodes"
            text = f"{part['ms']:.3g} ({part['percent_of_roofline']:.0f} %)"
            cells.setdefault(line, {})[row["configuration"]] = text
    return lines + [
        f"| {line} | {' | '.join(of.get(column, '') for column in columns)} |" for line, of in cells.items()
    ]


SHOWN = {  # of the README: a text, and what the row has
    "DG, acoustic, N = 3, a stage": ("acoustic", {"degree": 3, "integrator": "lsrk4"}),
    "DG, elastic, N = 3, a stage": ("elastic", {"degree": 3, "integrator": "lsrk4"}),
    "DG, Maxwell, N = 3, a stage": ("maxwell", {"degree": 3, "integrator": "lsrk4"}),
    "DG on hexahedra, acoustic, N = 4, a stage": (
        "acoustic on hexahedra (sheared)", {"degree": 4, "integrator": "lsrk4"},
    ),
    "DG on hexahedra, elastic, N = 4, a stage": (
        "elastic on hexahedra (sheared)", {"degree": 4, "integrator": "lsrk4"},
    ),
    "Spectral elements, elastic, N = 4": (
        "elastic spectral elements on hexahedra (sheared)", {"degree": 4, "assembly": "auto"},
    ),
    "FD, scalar, order 4, one step at a time": (
        "finite differences", {"physics": "scalar", "order": 4, "kernel": "step", "varies": "constant"},
    ),
    "FD, scalar, order 4, kernel `diamond`": (
        "finite differences", {"physics": "scalar", "order": 4, "kernel": "diamond", "varies": "constant"},
    ),
    "FD, elastic, order 4": (
        "finite differences", {"physics": "elastic", "order": 4, "varies": "rho vp vs"},
    ),
}  # fmt: skip


def shown(results: list[dict[str, Any]], subject: str, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """Return the first float32 row of a GPU, on a whole grid without layers, that has what is wanted."""
    wanted = wanted | {"dtype": "float32"}
    for result in results:
        if not result["driver"] or result["physics"] != subject:
            continue
        for row in result["rows"]:
            if row.get("layers") or row.get("window"):
                continue
            if all(row.get(word) == value for word, value in wanted.items()):
                return row
    return None


def summary(results: list[dict[str, Any]]) -> str:
    """Return the README's table: a few rows of the device that has most of them, of several of the first."""
    devices: dict[str, int] = {}
    for device in (result["device"] for result in results if result["driver"]):
        own = [result for result in results if result["device"] == device]
        devices[device] = sum(shown(own, *row) is not None for row in SHOWN.values())
    device = max(devices, key=lambda name: devices[name], default=None)
    if device is None or not devices[device]:
        return NOTHING
    results = [result for result in results if result["device"] == device]
    lines = [f"| {device}, float32 | rate | of the limit |", "|---|---|---|"]
    for text, (subject, wanted) in SHOWN.items():
        row = shown(results, subject, wanted)
        if row is not None:
            unit = "GDOF/s" if "degree" in row else "Gcell/s"
            rate = row["gdof_per_second" if "degree" in row else "gcell_per_second"]
            lines.append(f"| {text} | {rate:.3g} {unit} | {row['percent_of_limit']:.0f} % |")
    return "\n".join(lines) + "\n"


def page(folder: Path) -> str:
    """Return everything that stands between the marks of docs/results.md."""
    return (
        "## Beside deepwave\n\n" + deepwave_table(folder)
        + "\n## Beside Devito\n\n" + devito_table(folder)
        + "\n## Beside GAPS (Hanindhito et al. 2022)\n\n" + gaps_table(folder)
        + "\n## Beside SPECFEM3D's case (Komatitsch et al. 2010)\n\n" + komatitsch_table(folder)
        + "\n## Beside Modave, St-Cyr & Warburton (2016)\n\n" + results_kernels.tables(folder, "modave2016",
        NOTHING) + "\n## Beside Klöckner et al. (2009)\n\n" + results_kernels.tables(folder, "klockner2009",
        NOTHING) + "\n## All measurements\n\n" + table(read_results(folder))
    )  # fmt: skip


def replaced(document: str, text: str) -> str:
    """Return a document with the text between its two marks replaced."""
    before, mark, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (mark and end):
        raise SystemExit(f"the document lacks the marks {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + text + END + after


if __name__ == "__main__":
    texts = {README: summary(read_results(RESULTS)), PAGE: page(RESULTS)}
    for path, text in texts.items():
        if "--write" in sys.argv[1:]:
            path.write_text(replaced(path.read_text(), text))
        else:
            print(text)
