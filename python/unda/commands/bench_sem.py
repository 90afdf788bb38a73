"""Time spectral elements on a device, degree by degree, and compare them with the device's limits.

The case is realistic: a perturbed or sheared, randomly numbered box with free sides, four materials, one
source, 100 receivers, wall-clock time of whole steps after warm-up. Rates count the unknowns of shared nodes
once. Not here: the kernels (cuda/sem).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_limits
from ..method._options import METRICS, kernel_names
from . import bench_sem_komatitsch
from .dg_case import numbered_box
from .measuring import (
    figure,
    grouped,
    heading,
    integers,
    keep_usual,
    machine_options,
    measured,
    positive,
    refuse_idle,
    words,
)  # fmt: skip
from .sem_case import measure

PHYSICS = ("acoustic", "elastic")
PAPERS = {"komatitsch2010": bench_sem_komatitsch}
_COLUMNS = (
    ("N", "degree", "d"), ("assembly", "kernel", "s"), ("metric", "metric", "s"),
    ("elements", "num_elem", "d"), ("DOF", "num_dof", "d"),
    ("ms/step", "ms", ".4g"), ("GDOF/s", "gdof_per_second", ".3g"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"), ("% of limit", "percent_of_limit", ".1f"),
    ("setup s", "setup_seconds", ".3g"),
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--physics", type=words(*PHYSICS), default="elastic", help="acoustic,elastic")
    parser.add_argument("--degrees", type=integers, default="4", help="2:10 or 4,7")
    parser.add_argument(
        "--mesh", choices=["perturbed", "sheared"], default="perturbed",
        help="sheared: all cells are parallelepipeds, whose metric is a constant",
    )  # fmt: skip
    parser.add_argument("--metric", choices=METRICS, help="the first that is exact if omitted")
    names = kernel_names("SEM")
    parser.add_argument(
        "--assembly", type=words("auto", *names), default="auto", help=f"{','.join(names)} (CUDA)"
    )
    machine_options(parser)
    parser.add_argument(
        "--paper", choices=sorted(PAPERS),
        help="the case of a paper: Komatitsch et al. 2010; of the options of cases only --mesh, --metric, "
        "--nodes (of the CPU's mesh), --fill, --setup, --steps and --seconds matter then",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="of --paper: a few cells and steps")
    for paper in PAPERS.values():
        paper.arguments(parser)
    parser.add_argument("--nodes", type=positive, help="at least (16e6; 2e5 on a CPU)")
    parser.add_argument(
        "--steps", type=lambda text: int(positive(text)) or 1, default=1000, help="steps timed, at most"
    )
    parser.add_argument("--seconds", type=positive, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path,
        help="JSON file, a PNG goes beside it (bench_sem_PHYSICS.json, bench_sem_PAPER.json); the word "
        "PHYSICS becomes the physics",
    )  # fmt: skip
    keep_usual(parser)


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw rate and fraction of the limit over the degree."""
    kinds = grouped(result["rows"], lambda row: f"{row['dtype']} {row['kernel']}")
    with figure(path, f"SEM {result['physics']}, {result['device']}", (9, 3.6), columns=2) as (rate, part):
        for kind, of in kinds.items():
            rate.plot(of["degree"], of["gdof_per_second"], "o-", label=kind)
            part.plot(of["degree"], of["percent_of_limit"], "o-")
        rate.set(xlabel="degree N", ylabel="GDOF/s a step", ylim=(0, None))
        part.set(xlabel="degree N", ylabel="% of the measured limit", ylim=(0, 100))
        rate.legend(fontsize="small")


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if choose_device(args.device) == "cpu":
        refuse_idle(args, "assembly fill setup", "on a CUDA device")
    if args.paper:
        refuse_idle(args, "physics degrees assembly dtype", "without --paper")
        args.output = args.output or Path(f"bench_sem_{args.paper}.json")
        return PAPERS[args.paper].run(args)
    refuse_idle(args, "quick fill setup", f"with --paper {','.join(sorted(PAPERS))}")
    args.output = args.output or Path("bench_sem_PHYSICS.json")
    if not args.degrees or not all(2 <= n <= 10 for n in args.degrees):
        raise ArgumentError(f"degrees are {args.degrees}, expected some of 2 to 10")
    kinds = args.physics.split(",")
    if len(kinds) > 1 and "PHYSICS" not in args.output.name:
        raise ArgumentError(f"output is {args.output}, expected a name with PHYSICS in it, for each of them")
    device = choose_device(args.device)
    limits = device_limits(device, threads=args.threads)
    about = heading(device, limits, args.threads)
    for physics in kinds:
        head = {"benchmark": "sem", "physics": physics, **about, "shape": "hex", "mesh": args.mesh}
        output = args.output.with_name(args.output.name.replace("PHYSICS", physics))
        print(physics)
        measured(_rows(args, physics, device, limits), _COLUMNS, output, head, _draw)
    return 0


def _rows(
    args: argparse.Namespace, physics: str, device: str, limits: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """Measure every degree, precision and assembly."""
    on_gpu = device != "cpu"
    for degree in args.degrees:
        # cells share nodes: each has about degree^3 of its own
        mesh = numbered_box(args.nodes or (16e6 if on_gpu else 2e5), degree**3, "hex", args.mesh)
        sums = args.assembly.split(",") if on_gpu else ["auto"]
        for dtype, assembly in product(args.dtype.split(","), sums):
            case = {"degree": degree, "dtype": dtype, "assembly": assembly,
                    "kernel_options": {"metric": args.metric} if args.metric else None}  # fmt: skip
            yield measure(mesh, case, physics=physics, device=device, limits=limits, steps=args.steps,
                          seconds=args.seconds or (20.0 if on_gpu else 3.0),
                          threads=args.threads)  # fmt: skip
