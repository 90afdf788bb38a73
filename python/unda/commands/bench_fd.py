"""Time finite differences on a device, order by order, and compare them with the device's limits.

The case is realistic: the whole grid with its sides, one source, 1,000 receivers at every fourth step, a
random initial state, wall-clock time of whole steps after warm-up; rates count cells of the user's grid,
without layers. Not here: the case (fd_case.py), those of papers (bench_fd_papers.py), the kernels (cuda/fd).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_limits
from ..method._options import kernel_names
from . import bench_fd_papers
from .fd_case import DIAMOND_SHAPES, LAYERS, MEDIA, compile_kernel, measure
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

_COLUMNS = (
    ("physics", "physics", "s"), ("order", "order", "d"), ("dtype", "dtype", "s"), ("varies", "varies", "s"),
    ("layers", "layers", "d"), ("kernel", "kernel", "s"), ("ms/step", "ms", ".4g"),
    ("Gcell/s", "gcell_per_second", ".4g"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"), ("% of limit", "percent_of_limit", ".1f"),
)  # fmt: skip
_PHYSICS = ("acoustic", "elastic", "maxwell")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--scheme", choices=("scalar", "staggered"), default="scalar")
    parser.add_argument(
        "--physics", type=words(*_PHYSICS), default="acoustic,elastic,maxwell", help="of scheme staggered"
    )
    parser.add_argument("--orders", type=integers, help="2,4,6,8")
    parser.add_argument(
        "--shape", type=integers,
        help="nodes nx,ny,nz, or n for n,n,n (1152; kernel diamond: as many with z in one block, by order; "
        "256 on a CPU; staggered 512, 128)",
    )  # fmt: skip
    parser.add_argument(
        "--kernels", type=words(*kernel_names("FD")), default="step",
        help="step; scalar also tiled (CPU), diamond (CUDA)",
    )  # fmt: skip
    parser.add_argument(
        "--c", type=words("constant", "variable"), default="constant",
        help="constant,variable: the medium at each node; of Maxwell's eps alone, then eps, mu and sigma",
    )  # fmt: skip
    parser.add_argument(
        "--layers", type=integers, default="0",
        help="0,20: nodes of layers on five sides under a free (Maxwell: pec) top; 0: walls",
    )  # fmt: skip
    parser.add_argument(
        "--layer", choices=tuple(LAYERS), default="CPML", help="what layers are; Damping: scalar only",
    )  # fmt: skip
    parser.add_argument(
        "--window", default="auto", metavar="ROWS",
        help="112,none: rows of y that come at once, the state in host memory; auto: where it has to be",
    )  # fmt: skip
    bench_fd_papers.arguments(parser)
    parser.add_argument(
        "--append", action="store_true",
        help="add to the rows of the JSON file, of the same device and commit",
    )  # fmt: skip
    parser.add_argument(
        "--compile", action="store_true",
        help="only compile the kernels of these rows, side by side, into the cache",
    )  # fmt: skip
    parser.add_argument(
        "--draw", type=Path, metavar="JSON", help="only draw a result again, as PNG beside -o or the JSON"
    )  # fmt: skip
    machine_options(parser)
    parser.add_argument("--seconds", type=positive, default=3.0, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path,
        help="JSON file, written row by row; a PNG goes beside it (bench_fd.json)",
    )  # fmt: skip
    keep_usual(parser)


def _window(word: str) -> str | int | None:
    return int(word) if word.isdecimal() else None if word == "none" else word


def _shape(args: argparse.Namespace, device: str, case: dict[str, Any]) -> Sequence[int]:
    if args.shape:
        return list(args.shape)
    if case["kernel"] == "diamond":  # of these shapes the layers are a part
        beside = case["layers"] + 1 if case["layers"] else 0
        nx, ny, nz = DIAMOND_SHAPES[case["order"]]
        return nx - 2 * beside, ny - 2 * beside, nz - beside
    size = (256, 1152) if args.scheme == "scalar" else (128, 512)
    return (size[device != "cpu"],) * 3


def _cases(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """List every combination."""
    scalar = args.scheme == "scalar"
    for physics, order, dtype, c, layers, kernel in product(
        ["scalar"] if scalar else args.physics.split(","), args.orders or (2, 4, 6, 8),
        args.dtype.split(","), args.c.split(","), args.layers, args.kernels.split(","),
    ):  # fmt: skip
        for varies in ("constant",) if c == "constant" else MEDIA[physics]:
            layer = {"layer": args.layer} if layers else {}
            yield {"physics": physics, "order": order, "dtype": dtype, "c": c, "varies": varies,
                   "layers": layers, **layer, "kernel": kernel}  # fmt: skip


def _rows(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Measure every combination."""
    for case, window in product(_cases(args), args.window.split(",")):
        yield measure(_shape(args, device, case), case, device=device, limits=limits, seconds=args.seconds,
                      threads=args.threads, window=_window(window))  # fmt: skip


def _compile(args: argparse.Namespace, device: str) -> int:
    """Compile the kernels of all rows, each by a process of its own."""
    if device == "cpu":
        raise ArgumentError("device is cpu, whose kernels are compiled; expected a CUDA device")
    jobs: Iterable[bench_fd_papers.Job] = bench_fd_papers.jobs(args)
    if not (args.case or args.figure):
        jobs = ((_shape(args, device, case), case, {}) for case in _cases(args))
    capability = int(device_info(device)["compute_capability"].replace(".", ""))
    begin = time.perf_counter()
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        made = [pool.submit(compile_kernel, *job, capability) for job in jobs]
        each = sum(one.result() for one in made)
    print(f"compiled {len(made)} kernels in {time.perf_counter() - begin:.1f} s, {each:.1f} s of each")
    return 0


def _label(row: dict[str, Any]) -> str:
    """Return a row's label: all of its case but the order."""
    varies = "one material" if row["varies"] == "constant" else f"{row['varies'].replace(' ', ', ')} vary"
    layers = f", {row.get('layer', 'CPML')} of {row['layers']}" if row["layers"] else ""
    window = f", window of {row['window']}" if row["window"] else ""
    cube = f", {row['shape'][0]}³" if len(set(row["shape"])) == 1 else ""
    return f"{row['physics']}, {row['kernel']}, {row['dtype']}, {varies}{layers}{window}{cube}"


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw the rate over the order."""
    with figure(path, f"finite differences, {result['device']}", (10, 4)) as ax:
        from matplotlib import colormaps

        ax.set_prop_cycle(color=colormaps["tab20"](range(20)))
        for label, of in grouped(result["rows"], _label).items():
            ax.plot(of["order"], of["gcell_per_second"], "o-", label=label)
        ax.set(xlabel="order in space", ylabel="Gcell/s")
        ax.set_ylim(0, 1.06 * max(row["gcell_per_second"] for row in result["rows"]))
        ax.set_xticks(sorted({row["order"] for row in result["rows"]}))
        ax.figure.legend(fontsize="small", loc="outside right center")


def _redraw(args: argparse.Namespace) -> int:
    """Draw a result that is there already; of figure 11 also figure 7, which has the same rows."""
    result = json.loads(args.draw.read_text())
    path = (args.output or args.draw).with_suffix(".png")
    if "case" in result:
        bench_fd_papers.draw(f"figure{args.figure}" if args.figure else result["case"], path, result)
    else:
        _draw(path, result)
    print(f"wrote {path}")
    return 0


def _refuse_idle(args: argparse.Namespace) -> None:
    """Refuse options that do nothing beside the others."""
    if args.case or args.figure:
        refuse_idle(args, "scheme physics kernels c layers layer window dtype", "without --case and --figure")
    elif args.scheme == "scalar":
        refuse_idle(args, "physics", "with --scheme staggered")
    if not any(args.layers):
        refuse_idle(args, "layer", "with --layers")
    if args.case:
        refuse_idle(args, "orders dts", "without --case")
    elif args.figure not in (7, 11):
        refuse_idle(args, "dts", "with --figure 7 or 11")


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if args.draw:
        return _redraw(args)
    if args.shape and len(args.shape) not in (1, 3):
        raise ArgumentError(f"shape is {args.shape}, expected nx,ny,nz or n")
    _refuse_idle(args)
    args.shape = args.shape * 3 if args.shape and len(args.shape) == 1 else args.shape
    args.output = args.output or Path("bench_fd.json")
    device = choose_device(args.device)
    if args.scheme == "staggered" and args.kernels != "step":
        raise ArgumentError(f"kernels are {args.kernels}, expected step: scheme staggered has no others")
    if args.scheme == "staggered" and args.layer != "CPML":
        raise ArgumentError(f"layer is {args.layer}, expected CPML: scheme staggered has no others")
    if args.compile:
        return _compile(args, device)
    if args.case or args.figure:
        return bench_fd_papers.run(args)
    limits = device_limits(device, threads=args.threads)
    head = {"benchmark": "fd", **heading(device, limits, args.threads), "scheme": args.scheme}
    measured(_rows(args, device, limits), _COLUMNS, args.output, head, _draw, append=args.append)
    return 0
