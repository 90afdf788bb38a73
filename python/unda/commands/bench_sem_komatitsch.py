"""The spectral elements of Komatitsch et al. (2010), measured on this machine's devices.

The paper fills 90 % of the 4 GB of a GPU with 446,080 elements of degree 4, about 29.6 million nodes, in
float32, and sums forces by colours, one launch each. It compares with one core; it says nothing of source,
receivers and medium, which are those of `unda bench sem` here. Rows: one core and all cores, on a smaller
mesh of the same kind; the CUDA device by colours, as in the paper, and by the library's default, on a mesh
that fills its memory, or less where setting up would take too long. Speeds are compared by the node.
Next: sem_case.py.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_limits
from ..method.sem import SEM
from ..problem.mesh import Mesh
from .bench_dg import numbered_box
from .measuring import Columns, figure, heading, measured, positive, print_row, print_titles, save
from .sem_case import measure, problem

#: Of its figure 2, 48 runs: one GT200 of a Tesla S1070 over one core of a Nehalem.
OVER_CORE = {"mean": 20.63, "least": 20.05, "most": 20.91}
#: Of its slices: elements, nodes, bytes of the device's memory that are used.
SLICE = {"num_elem": 446_080, "nodes": 29.6e6, "bytes": 3.6e9, "memory": 4e9}
DEGREE = 4
MOST_NODES = 2**31 - 1  # of elements, counted in 32 bits
_PROBE = 4e6  # nodes of the mesh from which bytes and seconds a cell are known
#: With --quick, nodes: of that mesh, of the CPU's, of the device's.
_QUICK = {"probe": 8.0 * DEGREE**3, "cpu": 8.0 * DEGREE**3, "gpu": 27.0 * DEGREE**3}

_COLUMNS: Columns = (
    ("engine", "engine", "s"), ("assembly", "kernel", "s"), ("elements", "num_elem", "d"),
    ("nodes", "nodes", "d"), ("% of memory", "percent_of_memory", ".1f"), ("colours", "num_color", "d"),
    ("steps", "steps", "d"), ("ms/step", "ms", ".4g"), ("ns/node", "ns_per_node", ".4g"),
    ("GDOF/s", "gdof_per_second", ".3g"), ("over core", "over_core", ".4g"),
    ("paper", "paper_over_core", ".4g"), ("over cores", "over_cores", ".4g"),
    ("setup s", "setup_seconds", ".3g"),
)  # fmt: skip
_COLORS: Columns = (
    ("assembly", "kernel", "s"), ("launch", "name", "s"), ("ms", "ms", ".4g"),
    ("% of step", "percent", ".1f"),
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--fill", type=positive, default=0.6, help="of --paper: part of the device's memory (%(default)s)"
    )
    parser.add_argument(
        "--setup", type=positive, default=120.0,
        help="of --paper: seconds that setting up may take, mesh included; fewer cells where it would be "
        "more (%(default)s)",
    )  # fmt: skip


# ---- how many cells ----


def _probed(args: argparse.Namespace, device: str) -> tuple[float, float]:
    """Return bytes on the device and seconds of setting up, a cell."""
    options: Any = {"degree": DEGREE, "device": device, "assembly": "colors", "boundary": {"*": "free"}}
    small = numbered_box(_QUICK["probe"], DEGREE**3, "hex", args.mesh)
    SEM(small, problem("elastic", small)[0], **options).close()  # compiles kernels
    begin = time.perf_counter()
    mesh = small if args.quick else numbered_box(_PROBE, DEGREE**3, "hex", args.mesh)
    medium = problem("elastic", mesh)[0]
    with SEM(mesh, medium, **options) as sim:
        return sim.memory["device"] / mesh.num_elem, (time.perf_counter() - begin) / mesh.num_elem


def filling_cells(
    memory: float, fill: float, setup: float, bytes_per_cell: float, seconds_per_cell: float
) -> tuple[int, str]:
    """Return how many cells to take, and what holds their number.

    Parameters
    ----------
    memory : float
        Of the device [byte].
    fill : float
        Part of it to use.
    setup : float
        Most seconds of setting up.
    bytes_per_cell, seconds_per_cell : float

    Examples
    --------
    >>> filling_cells(1e9, 0.5, 100.0, 1e4, 1e-5)
    (50000, 'memory')
    >>> filling_cells(1e9, 0.5, 0.1, 1e4, 1e-5)
    (10000, 'set-up time')
    """
    most = {
        "memory": fill * memory / bytes_per_cell,
        "set-up time": setup / seconds_per_cell,
        "node numbers of 32 bits": MOST_NODES / (DEGREE + 1) ** 3,
    }
    held_by = min(most, key=lambda word: most[word])
    return max(1, int(most[held_by])), held_by


def _filling_mesh(args: argparse.Namespace, device: str) -> tuple[Mesh, str]:
    """Return a mesh that fills the device, and what holds its size."""
    bytes_per_cell, seconds_per_cell = _probed(args, device)
    memory = float(device_info(device)["memory"])
    num, held_by = filling_cells(memory, args.fill, args.setup, bytes_per_cell, seconds_per_cell)
    if args.quick:
        num, held_by = int(_QUICK["gpu"] / DEGREE**3), "--quick"
    side = max(1, int(num ** (1 / 3)))
    print(f"{side**3} cells on {device}: their number is held by the {held_by}")
    # as a number of nodes: half a cell an edge less, whatever the rounding of roots
    return numbered_box((side - 0.5) ** 3 * DEGREE**3, DEGREE**3, "hex", args.mesh), held_by


# ---- measuring ----


def _launches(functions: dict[str, dict[str, float]] | None) -> list[dict[str, Any]]:
    """Return the launches of a step with their times [ms]; colours are numbered from 0 on."""
    launches = {
        name: 1e3 * one["seconds"] for name, one in (functions or {}).items() if name.startswith("solid")
    }
    total = sum(launches.values())
    return [{"name": name, "ms": ms, "percent": 100 * ms / total} for name, ms in launches.items()]


def _rows(
    args: argparse.Namespace, device: str, limits: dict[str, Any], done: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Measure one core, all cores, and the device by colours and by the default."""
    cores = args.threads or len(os.sched_getaffinity(0))
    cases: list[tuple[str, str, str, int | None]] = [
        ("one core", "cpu", "auto", 1),
        ("all cores", "cpu", "auto", cores),
    ]
    if device != "cpu":
        cases += [("GPU", device, "colors", None), ("GPU", device, "auto", None)]
    mesh = numbered_box(
        _QUICK["cpu"] if args.quick else args.nodes or 1e6, DEGREE**3, "hex", args.mesh
    )  # fmt: skip
    held_by: str | None = None
    for engine, place, assembly, threads in cases:
        if place != "cpu" and held_by is None:
            mesh, held_by = _filling_mesh(args, device)
        case = {
            "degree": DEGREE, "dtype": "float32", "assembly": assembly,
            "kernel_options": {"metric": args.metric} if args.metric else None,
        }  # fmt: skip
        row = measure(
            mesh, case, device=place, limits=limits[place], steps=2 if args.quick else args.steps,
            seconds=args.seconds or (20.0 if place != "cpu" else 5.0), threads=threads,
            profiled=place != "cpu",
        )  # fmt: skip
        _compared(row, engine, place, held_by, done)
        yield row


def _compared(
    row: dict[str, Any], engine: str, place: str, held_by: str | None, done: list[dict[str, Any]]
) -> None:
    """Add a row, with what the paper has; all get their speeds a node over those of the cores."""
    nodes = row["num_dof"] / 3
    launches = _launches(row["functions"])
    done.append(row)
    row |= {
        "engine": engine, "nodes": round(nodes), "ns_per_node": 1e6 * row["ms"] / nodes, "held_by": held_by,
        "launches": launches, "num_color": sum(" color " in one["name"] for one in launches) or None,
        "percent_of_memory": None,
        "paper_over_core": OVER_CORE["mean"] if row["kernel"] == "colors" else None,
    }  # fmt: skip
    if place != "cpu":
        row["percent_of_memory"] = 100 * row["memory"]["device"] / device_info(place)["memory"]
    for one in done:
        for key, word in (("over_core", "one core"), ("over_cores", "all cores")):
            cpu = [other for other in done if other["engine"] == word]
            one[key] = cpu[0]["ns_per_node"] / one["ns_per_node"] if cpu else None


# ---- the command ----


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw speeds over one core beside the paper's, and the times of colours."""
    with figure(path, f"Komatitsch et al. (2010) on {result['device']}", (9, 3.6), columns=2) as (
        over,
        colors,
    ):
        rows = result["rows"]
        names = [f"{row['engine']}\n{row['kernel']}" for row in rows]
        over.bar(range(len(rows)), [row["over_core"] for row in rows])
        over.axhline(OVER_CORE["mean"], color="C1", ls="--", lw=0.8)
        over.set_xticks(range(len(rows)), names, fontsize=7)
        over.set(ylabel="times one core (dashed: the paper's GPU)", yscale="log")
        launches: list[Any] = next((row["launches"] for row in rows if row["num_color"]), [])
        colors.bar(range(len(launches)), [one["ms"] for one in launches])
        words = [one["name"].split()[-1] for one in launches]
        colors.set_xticks(range(len(launches)), words, fontsize=7)
        colors.set(xlabel="colour", ylabel="ms a launch")


def _finish(path: Path) -> None:
    """Print the launches of a step."""
    result = json.loads(path.read_text())
    result["launches"] = [
        {"kernel": row["kernel"], **one} for row in result["rows"] for one in row["launches"]
    ]
    save(path, result)
    if result["launches"]:
        print()
        print_titles(_COLORS)
        for one in result["launches"]:
            print_row(one, _COLORS)
    print(
        f"paper: {SLICE['num_elem']} elements, {SLICE['nodes'] / 1e6:.1f} million nodes in "
        f"{SLICE['bytes'] / 1e9} of {SLICE['memory'] / 1e9:.0f} GB; {OVER_CORE['mean']} times one core "
        f"({OVER_CORE['least']} to {OVER_CORE['most']})"
    )


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if args.fill > 1:
        raise ArgumentError(f"fill is {args.fill}, expected a part of the memory, 0 to 1")
    device = choose_device(args.device)
    limits = {place: device_limits(place, threads=args.threads) for place in ("cpu", device)}
    if device == "cpu":
        print("there is no CUDA device: the CPU's rows alone")
    head = {
        "benchmark": "sem", "paper": "komatitsch2010", **heading(device, limits[device], args.threads),
        "cpu": device_info("cpu")["device_name"], "limits_cpu": limits["cpu"], "mesh": args.mesh,
        "over_core": OVER_CORE, "slice": SLICE,
    }  # fmt: skip
    measured(_rows(args, device, limits, []), _COLUMNS, args.output, head, _draw)
    _finish(args.output)
    return 0
