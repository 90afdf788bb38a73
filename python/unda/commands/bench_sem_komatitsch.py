"""The spectral elements of Komatitsch et al. (2010), measured on this machine's devices.

The paper fills 90 % of the 4 GB of a GPU with 446,080 elements of degree 4, about 29.6 million nodes, in
float32, and sums forces by colours, one launch each. It compares with one core; it says nothing of source,
receivers and medium, which are those of `unda bench sem` here. Rows: one core and all cores; the CUDA device
by colours, as in the paper, and by the library's default, on a mesh that fills a part of its memory, or less
where setting up would take too long. The CPU has the same mesh where it holds it and is done in time, else a
smaller one of the same kind, and the result says why. Speeds are compared by the node. Next: sem_case.py.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_limits
from ..method.sem import SEM
from ..problem.mesh import Mesh
from .dg_case import numbered_box
from .measuring import Columns, figure, heading, measured, positive, print_row, print_titles, save
from .sem_case import measure, problem

#: Of its figure 2, 48 runs: one GT200 of a Tesla S1070 over one core of a Nehalem.
OVER_CORE = {"mean": 20.63, "least": 20.05, "most": 20.91}
#: Of its slices: elements, nodes, bytes of the device's memory that are used.
SLICE = {"num_elem": 446_080, "nodes": 29.6e6, "bytes": 3.6e9, "memory": 4e9}
DEGREE = 4
MOST_NODES = 2**31 - 1  # numbered in 32 bits
_PROBE = 32e6  # nodes of the mesh from which bytes and seconds a cell are known
_HOST_PART = 0.8  # of the host's free memory that setting up may take
_CPU_NODES = 1e6  # of a mesh of its own
_CPU_STEPS = 14  # least steps of a row: warm-up and timing
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
        "--setup", type=positive, default=180.0,
        help="of --paper: seconds that setting up may take, mesh included; fewer cells where it would be "
        "more (%(default)s)",
    )  # fmt: skip


# ---- how many cells ----


@dataclass
class Cost:
    """What a cell takes: bytes on the device, the most on the host in set-up, seconds of set-up."""

    device: float
    host: float
    seconds: float


@dataclass
class Plan:
    """A mesh of side**3 cells, what holds their number, and the seconds that setting up should take."""

    side: int
    held_by: str
    seconds: float

    def mesh(self, kind: str) -> Mesh:
        """Return the mesh."""
        # as a number of nodes: half a cell an edge less, whatever the rounding of roots
        return numbered_box((self.side - 0.5) ** 3 * DEGREE**3, DEGREE**3, "hex", kind)


def _peak() -> int:
    """Return the most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _free() -> int:
    """Return the bytes of the host's memory that are free."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _probed(args: argparse.Namespace, device: str) -> Cost:
    """Return what a cell takes, by a mesh of some of them."""
    options: Any = {"degree": DEGREE, "device": device, "boundary": {"*": "free"}, "threads": args.threads}
    small = numbered_box(_QUICK["probe"], DEGREE**3, "hex", args.mesh)
    SEM(small, problem("elastic", small)[0], **options).close()  # compiles kernels
    begin, peak = time.perf_counter(), _peak()
    mesh = small if args.quick else numbered_box(_PROBE, DEGREE**3, "hex", args.mesh)
    medium = problem("elastic", mesh)[0]
    with SEM(mesh, medium, **options) as sim:
        host = max(sim.memory["host"], _peak() - peak)
        seconds = time.perf_counter() - begin
        return Cost(*(number / mesh.num_elem for number in (sim.memory["device"], host, seconds)))


def filling_cells(
    memory: float, fill: float, setup: float, cost: Cost, host: float = 1e30
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
    cost : Cost
        Of a cell.
    host : float, optional
        Memory of the host that setting up may take [byte].

    Examples
    --------
    >>> filling_cells(1e9, 0.5, 100.0, Cost(1e4, 1e4, 1e-5))
    (50000, 'memory')
    >>> filling_cells(1e9, 0.5, 0.1, Cost(1e4, 1e4, 1e-5))
    (10000, 'set-up time')
    """
    most = {
        "memory": fill * memory / cost.device,
        "set-up time": setup / cost.seconds,
        "memory of the host": host / cost.host,
        "node numbers of 32 bits": ((MOST_NODES ** (1 / 3) - 2) / DEGREE) ** 3,
    }
    held_by = min(most, key=lambda word: most[word])
    return max(1, int(most[held_by])), held_by


def _plan(args: argparse.Namespace, device: str) -> Plan:
    """Return the mesh that fills the device."""
    cost = _probed(args, device)
    memory = float(device_info(device)["memory"])
    num, held_by = filling_cells(memory, args.fill, args.setup, cost, _HOST_PART * _free())
    if args.quick:
        num, held_by = int(_QUICK["gpu"] / DEGREE**3), "--quick"
    side = max(1, int(num ** (1 / 3)))
    plan = Plan(side, held_by, cost.seconds * side**3)
    print(f"{side**3} cells on {device}: their number is held by the {held_by}; "
          f"setting up should take {plan.seconds:.3g} s")  # fmt: skip
    return plan


def why_smaller(num_elem: int, cost: Cost, step: float, memory: float, most_seconds: float) -> str | None:
    """Return why the CPU does not take the device's mesh, or None.

    Parameters
    ----------
    num_elem : int
        Cells of the device's mesh.
    cost : Cost
        Of a cell, on one core.
    step : float
        Seconds of a step of a cell, on one core.
    memory : float
        Of the host, free [byte].
    most_seconds : float
        That a row may take.

    Examples
    --------
    >>> why_smaller(10**7, Cost(0, 1e4, 1e-5), 1e-6, 5e10, 1e3)
    'it would take 100 of 50 GB'
    >>> why_smaller(10**7, Cost(0, 1e3, 1e-5), 1e-6, 5e10, 100.0)
    'one core would take 240 s'
    """
    if num_elem * cost.host > memory:
        return f"it would take {num_elem * cost.host / 1e9:.3g} of {memory / 1e9:.3g} GB"
    seconds = num_elem * (cost.seconds + _CPU_STEPS * step)
    return f"one core would take {seconds:.3g} s" if seconds > most_seconds else None


# ---- measuring ----


def _launches(functions: dict[str, dict[str, float]] | None) -> list[dict[str, Any]]:
    """Return the launches of a step with their times [ms]; colours are numbered from 0 on."""
    launches = {
        name: 1e3 * one["seconds"] for name, one in (functions or {}).items() if name.startswith("solid")
    }
    total = sum(launches.values())
    return [{"name": name, "ms": ms, "percent": 100 * ms / total} for name, ms in launches.items()]


@dataclass
class _Bench:
    """What the rows have in common; done: the rows so far."""

    args: argparse.Namespace
    device: str
    limits: dict[str, Any]
    done: list[dict[str, Any]]

    def row(
        self, mesh: Mesh, engine: str, assembly: str = "auto", threads: int | None = None
    ) -> dict[str, Any]:
        """Measure one."""
        args, place = self.args, self.device if engine == "GPU" else "cpu"
        case = {
            "degree": DEGREE, "dtype": "float32", "assembly": assembly,
            "kernel_options": {"metric": args.metric} if args.metric else None,
        }  # fmt: skip
        row = measure(
            mesh, case, device=place, limits=self.limits[place], steps=2 if args.quick else args.steps,
            seconds=args.seconds or (20.0 if place != "cpu" else 5.0), threads=threads,
            profiled=place != "cpu",
        )  # fmt: skip
        return row | {"engine": engine}


def _cpu_rows(bench: _Bench, plan: Plan | None) -> Iterator[dict[str, Any]]:
    """Measure one core and all cores: on the device's mesh, or on a smaller one and say why."""
    args = bench.args
    cores = args.threads or len(os.sched_getaffinity(0))
    nodes = _QUICK["cpu"] if args.quick else args.nodes or _CPU_NODES
    mesh = numbered_box(nodes, DEGREE**3, "hex", args.mesh)
    one, why = bench.row(mesh, "one core", threads=1), None
    if plan and (args.quick or args.nodes):
        why = "it is that of --quick" if args.quick else "--nodes says so"
    elif plan:
        cost = Cost(0, one["memory"]["host"] / mesh.num_elem, one["setup_seconds"] / mesh.num_elem)
        step = one["ms"] / 1e3 / mesh.num_elem
        why = why_smaller(plan.side**3, cost, step, _HOST_PART * _free(), args.setup)
        if why is None:
            mesh = plan.mesh(args.mesh)
            one = bench.row(mesh, "one core", threads=1)
    if why:
        print(f"the CPU's mesh has {mesh.num_elem} cells, fewer than the device's: {why}")
    for row in (one, None):
        found = row or bench.row(mesh, "all cores", threads=cores)
        yield _compared(bench, found | {"held_by": None, "why_smaller": why})


def _rows(bench: _Bench) -> Iterator[dict[str, Any]]:
    """Measure one core, all cores, and the device by colours and by the default."""
    plan = _plan(bench.args, bench.device) if bench.device != "cpu" else None
    yield from _cpu_rows(bench, plan)
    if not plan:
        return
    begin = time.perf_counter()
    mesh = plan.mesh(bench.args.mesh)
    seconds = time.perf_counter() - begin
    for assembly in ("colors", "auto"):
        row = bench.row(mesh, "GPU", assembly)
        yield _compared(
            bench,
            row | {"held_by": plan.held_by, "mesh_seconds": seconds, "predicted_setup_seconds": plan.seconds},
        )


def _compared(bench: _Bench, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with what the paper has; all get their speeds a node over those of the cores."""
    nodes = row["num_dof"] / 3
    launches = _launches(row["functions"])
    bench.done.append(row)
    row |= {
        "nodes": round(nodes), "ns_per_node": 1e6 * row["ms"] / nodes,
        "launches": launches, "num_color": sum(" color " in one["name"] for one in launches) or None,
        "percent_of_memory": None,
        "paper_over_core": OVER_CORE["mean"] if row["kernel"] == "colors" else None,
    }  # fmt: skip
    if row["engine"] == "GPU":
        row["percent_of_memory"] = 100 * row["memory"]["device"] / device_info(bench.device)["memory"]
    for one in bench.done:
        for key, word in (("over_core", "one core"), ("over_cores", "all cores")):
            cpu = [other for other in bench.done if other["engine"] == word]
            one[key] = cpu[0]["ns_per_node"] / one["ns_per_node"] if cpu else None
    return row


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
        words = [one["name"].split()[-1] for one in launches]
        # nodes that tiles share stand apart: their word is wider than a bar
        places = [i + (word == "shared") for i, word in enumerate(words)]
        colors.bar(places, [one["ms"] for one in launches])
        colors.set_xticks(places, words, fontsize=7)
        colors.set(xlabel="colour, and the nodes that tiles share", ylabel="ms a launch")


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
    measured(_rows(_Bench(args, device, limits, [])), _COLUMNS, args.output, head, _draw)
    _finish(args.output)
    return 0
