"""Time one problem on several devices: work that grows with their number, and one problem that is split.

Of each case each device alone has so many nodes, then each has them at once; then they share a problem as
many times as large (weak), and one as large (strong), whose bits are compared with those of one device. Equal
parts wait for the slowest device, whose rate alone is the measure. Beside each is what a model expects, from
that rate and the link as measured, of the way that messages take; --model goes on, on paper, to more
devices. Not here: the cases (scaling_case.py), the model (scaling_model.py), waiting for ghosts
(scaling_ghosts.py), a paper's figures (scaling_paper.py), how parts run together (team.c of csrc/dg
and csrc/sem, csrc/fd/slabs.c).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import ArgumentError
from ..limits import device_limits, link_limits, several
from . import scaling_ghosts, scaling_paper
from .measuring import figure, heading, integers, keep_usual, measured, positive, refuse_idle, words
from .scaling_case import CASES, Case, compared, measure, problem, simulation, time_step
from .scaling_model import Link, beside, table

_COLUMNS = (
    ("case", "case", "s"), ("split", "split", "s"), ("devices", "devices", "d"),
    ("transport", "transport", "s"),
    ("elements", "num_elem", "d"), ("ms/step", "ms", ".4g"), ("rate", "rate", ".4g"), ("of", "unit", "s"),
    ("% of n times", "efficiency", ".1f"), ("model %", "model", ".1f"),
    ("% not in kernels", "outside", ".1f"), ("MB/stage", "megabytes", ".3g"), ("same bits", "same_bits", "s"),
)  # fmt: skip


def _links(text: str) -> list[Link]:
    """Return the links of "50:20,400:9", GB/s and microseconds."""
    found = [word.split(":") for word in text.split(",")]
    return [Link(1e9 * positive(rate), 1e-6 * positive(wait)) for rate, wait in found]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--cases", type=words(*CASES), default="tet3,tet7,hex7",
        help=f"{','.join(CASES)}: DG by shape and degree; SEM, elastic; FD by order, scalar, elastic with a "
        "CPML, or scalar by kernel diamond",
    )  # fmt: skip
    parser.add_argument(
        "--physics",
        choices=["acoustic", "elastic", "maxwell"],
        default="acoustic",
        help="of DG (%(default)s)",
    )
    parser.add_argument("--devices", default="cuda:all", help="cuda:all, or such as cuda:0,cuda:0,cuda:1")
    parser.add_argument(
        "--splits", type=words("strong", "weak"), default="strong,weak", help="strong,weak, beside one device"
    )
    parser.add_argument(
        "--transport", choices=["auto", "peer", "host"], default="auto", help="of DG and SEM (%(default)s)"
    )
    parser.add_argument("--integrator", choices=["ab3", "lsrk4"], default="ab3", help="of DG (%(default)s)")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--nodes", type=positive, default=16e6, help="of a device, about")
    parser.add_argument("--seconds", type=positive, default=2.0, help="of a measurement, about")
    parser.add_argument(
        "-o", "--output", type=Path,
        help="JSON file, a PNG goes beside it (bench_scaling.json, bench_scaling_ghosts.json, "
        "bench_scaling_PAPER.json)",
    )  # fmt: skip
    parser.add_argument(
        "--ghosts", action="store_true",
        help="the share of a stage spent waiting for ghosts, before and behind inner cells: whole cells, "
        "27 %% of what is stored of them, faces; cases of DG",
    )  # fmt: skip
    parser.add_argument(
        "--paper", choices=("komatitsch2010",),
        help="figures 1 (FD over blocks along x and y) and 2 (SEM over one core) on 1 .. n devices",
    )  # fmt: skip
    parser.add_argument(
        "--blocks", type=integers, default="4,8,16,24", help="of --paper, of 16 cells (%(default)s)"
    )
    parser.add_argument(
        "--model", type=Path, nargs="+", metavar="JSON",
        help="measure nothing: print what the model expects of more devices, from results of this command "
        "with one device and two (strong), best of several sizes",
    )  # fmt: skip
    parser.add_argument(
        "--numbers", type=integers, default="8,64,1024", help="of --model: devices (%(default)s)"
    )
    parser.add_argument(
        "--links", type=_links, default="50:20,400:9",
        help="of --model: GB/s each way and microseconds of a message (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--link", type=_links, default="397:9",
        help="of --model: that of the two devices, where results do not say it (%(default)s)",
    )  # fmt: skip
    keep_usual(parser)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return {"dtype": args.dtype, "integrator": args.integrator, "physics": args.physics}


def _shared(
    args: argparse.Namespace, case: Case, one: Any, devices: tuple[str, ...]
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """List the problems that all devices share: split how, the problem, where it runs."""
    if len(devices) < 2:
        return
    team: dict[str, Any] = {"device": list(devices)}
    if case.method != "fd":  # of grids the driver chooses
        team["transport"] = args.transport
    for split in args.splits.split(","):
        yield split, one if split == "strong" else problem(case, args.nodes, len(devices)), team


def _row(args: argparse.Namespace, case: Case, split: str, of: Any, where: dict[str, Any]) -> dict[str, Any]:
    """Time a problem on one device or on several."""
    with simulation(case, of, _options(args), **where) as sim:
        return {"split": split, "on": where["device"], **measure(sim, args.seconds)}


def _at_once(args: argparse.Namespace, case: Case, of: Any, alone: list[dict[str, Any]]) -> dict[str, Any]:
    """Time each device with a problem of its own while the others have theirs; return a row of all."""
    with ExitStack() as stack, ThreadPoolExecutor(len(alone)) as pool:
        sims = [stack.enter_context(simulation(case, of, _options(args), row["on"])) for row in alone]
        took = list(pool.map(lambda sim: time_step(sim, args.seconds), sims))
    rates = [1e-3 * row["ms"] * row["rate"] / step for row, step in zip(alone, took, strict=True)]
    return alone[0] | {
        "split": "at once", "on": [row["on"] for row in alone], "devices": len(alone), "ms": 1e3 * max(took),
        "rate": sum(rates), "outside": None,
    }  # fmt: skip


def _finished(
    row: dict[str, Any], alone: list[dict[str, Any]], link: Link | None, about: dict[str, Any]
) -> dict[str, Any]:
    """Compare a row with devices alone: its rate with the slowest one's, its bits with those of the first."""
    slowest = min(alone, key=lambda one: one["rate"])
    row = about | row | {
        "same_bits": compared(alone[0]["state"], row["state"]) if row["split"] == "strong" else "-",
        "model": beside(slowest, row, link) if link and row["split"] in ("strong", "weak") else None,
        "efficiency": 100 * (row["rate"] / slowest["rate"] / row["devices"]),
    }  # fmt: skip
    return {name: value for name, value in row.items() if name != "state"}


def _link(found: dict[str, Any]) -> Link:
    return Link(found["bandwidth"], found["latency"])


def _rows(
    args: argparse.Namespace, devices: tuple[str, ...], links: dict[str, Link]
) -> Iterator[dict[str, Any]]:
    """Measure the rows; links: those that were measured, by transport, to which others are added."""
    for name in args.cases.split(","):
        case = CASES[name]
        about = {"case": name, "degree": case.degree, "dtype": args.dtype}
        about |= {"integrator": args.integrator} if case.method == "dg" else {}
        one = problem(case, args.nodes)
        alone = [_row(args, case, "one", one, {"device": device}) for device in dict.fromkeys(devices)]
        for row in alone:
            yield _finished(row, alone, None, about)
        if len(alone) > 1:
            yield _finished(_at_once(args, case, one, alone), alone, None, about)
        for split, of, where in _shared(args, case, one, devices):
            row = _row(args, case, split, of, where)
            way = row["transport"]
            if way not in links:
                links[way] = _link(link_limits(devices[0], devices[1], way))
            yield _finished(row, alone, links[way], about)


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw how near to n times one device's rate all come."""
    rows = [row for row in result["rows"] if row["split"] in ("strong", "weak")]
    with figure(path, f"{len(result['devices'])} x {result['device']} (line: model)", (6.4, 3.6)) as axes:
        axes.bar([f"{row['case']}\n{row['split']}" for row in rows], [row["efficiency"] for row in rows])
        axes.plot([row["model"] for row in rows], "k_", markersize=20)
        axes.set(ylabel="% of n times one device", ylim=(0, None))


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if args.model:
        return _model(args)
    refuse_idle(args, "numbers links link", "with --model")
    if args.ghosts or args.paper:
        refuse_idle(args, "splits", "without --ghosts and --paper")
    if args.paper:
        refuse_idle(args, "cases physics integrator transport ghosts", "without --paper")
    else:
        refuse_idle(args, "blocks", "with --paper")
    devices = several(args.devices if args.devices == "cuda:all" else args.devices.split(","))
    if any(device.partition(":")[0] == "cpu" for device in devices):
        raise ArgumentError(
            f"devices are {','.join(devices)}, expected CUDA devices: parts on the CPU do not pay"
        )
    if args.ghosts:
        return _measure(args, devices, "ghosts", scaling_ghosts)
    if args.paper:
        return _measure(args, devices, args.paper, scaling_paper)
    grids = [name for name in args.cases.split(",") if CASES[name].method == "fd"]
    if args.transport != "auto" and grids:
        raise ArgumentError(
            f"transport is {args.transport} for {','.join(grids)}, expected auto: of grids the driver chooses"
        )
    head, links = _head(args, devices), {}
    if len(devices) > 1:
        head["link"] = found = link_limits(devices[0], devices[1], args.transport)
        links[found["transport"]] = link = _link(found)
        print(
            f"{devices[0]} and {devices[1]} by {found['transport']}: {link.bandwidth / 1e9:.3g} GB/s each "
            f"way, {1e6 * link.latency:.3g} us a message"
        )
    output = args.output or Path("bench_scaling.json")
    measured(_rows(args, devices, links), _COLUMNS, output, head, _draw)
    return 0


def _head(args: argparse.Namespace, devices: tuple[str, ...]) -> dict[str, Any]:
    """Print what a device can do; return the head of a result."""
    about = heading(devices[0], device_limits(devices[0]), None)
    return {"benchmark": "scaling", "physics": args.physics, **about, "devices": list(devices)}


def _measure(args: argparse.Namespace, devices: tuple[str, ...], what: str, of: ModuleType) -> int:
    """Measure the rows of a module, and say what it compares them with."""
    head = {**_head(args, devices), "benchmark": f"scaling {what}"}
    if args.paper:
        head["physics"] = "elastic"
    output = args.output or Path(f"bench_scaling_{what}.json")
    measured(of.rows(args, devices), of.COLUMNS, output, head, of.draw)
    of.finish()
    return 0


def _model(args: argparse.Namespace) -> int:
    """Print a table for more devices."""
    results = [json.loads(path.read_text()) for path in args.model]
    for path, result in zip(args.model, results, strict=True):
        if result.get("benchmark") != "scaling":
            raise ArgumentError(
                f"{path} has benchmark {result.get('benchmark')!r}, expected a result of unda bench scaling"
            )
    known = [_link(one["link"]) for one in results if "link" in one]
    print("\n".join(table(results, args.numbers, args.links, (known or args.link)[0])))
    return 0
