"""Time finite differences on a device, order by order, against what the device can do.

The case is fair: the whole grid with its sides, one source, 1,000 receivers at every fourth step, random
numbers as the first state, whole steps by the clock on the wall after warm-up; cells are those of the user's
grid, layers come on top. Not here: the case (fd_case.py), those of papers (bench_fd_papers.py), the kernels
(cuda/fd).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_limits
from . import bench_fd_papers
from .fd_case import MEDIA, measure
from .measuring import heading, integers, positive, save, words

__all__ = ["arguments", "measure", "run"]

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
        help="nodes nx,ny,nz (1152,1152,1152; 256,256,256 on a CPU; staggered 512, 128)",
    )  # fmt: skip
    parser.add_argument(
        "--kernels",
        type=words("step", "tiled", "diamond"),
        default="step",
        help="step; scalar also tiled (CPU), diamond (CUDA)",
    )
    parser.add_argument(
        "--c", type=words("constant", "variable"), default="constant",
        help="constant,variable: the medium at each node; of Maxwell's eps alone, then eps, mu and sigma",
    )  # fmt: skip
    parser.add_argument(
        "--layers", type=integers, default="0",
        help="0,20: nodes of absorbing layers (staggered: CPML) on five sides under a free (Maxwell: pec) "
        "top; 0: walls",
    )  # fmt: skip
    parser.add_argument(
        "--dtype", type=words("float32", "float64"), default="float32", help="float32,float64"
    )
    parser.add_argument(
        "--window", default="auto", metavar="ROWS",
        help="rows of y that come at once, the state being in host memory; auto: where it has to be; none",
    )  # fmt: skip
    bench_fd_papers.arguments(parser)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--seconds", type=positive, default=3.0, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("bench_fd.json"),
        help="JSON file, a PNG goes beside it (%(default)s)",
    )  # fmt: skip


def _window(word: str) -> str | int | None:
    return int(word) if word.isdecimal() else None if word == "none" else word


def _media(physics: str, c: str) -> tuple[str, ...]:
    return ("constant",) if c == "constant" else MEDIA[physics]


def _rows(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Measure every combination."""
    scalar = args.scheme == "scalar"
    size = (256 if scalar else 128) if device == "cpu" else (1152 if scalar else 512)
    for physics, order, dtype, c, layers, kernel in product(
        ["scalar"] if scalar else args.physics.split(","), args.orders or (2, 4, 6, 8),
        args.dtype.split(","), args.c.split(","), args.layers, args.kernels.split(","),
    ):  # fmt: skip
        for varies in _media(physics, c):
            case = {"physics": physics, "order": order, "dtype": dtype, "c": c, "varies": varies,
                    "layers": layers, "kernel": kernel}  # fmt: skip
            yield measure(args.shape or [size] * 3, case, device=device, limits=limits,
                          seconds=args.seconds, threads=args.threads,
                          window=_window(args.window))  # fmt: skip


def _label(row: dict[str, Any]) -> str:
    """Return what a row is, but for its order."""
    varies = "one material" if row["varies"] == "constant" else f"{row['varies'].replace(' ', ', ')} vary"
    layers = f", layers of {row['layers']}" if row["layers"] else ""
    return f"{row['physics']}, {row['kernel']}, {row['dtype']}, {varies}{layers}"


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw the rate over the order."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
    colors = [plt.get_cmap("tab20")(i) for i in range(20)]
    for i, label in enumerate(dict.fromkeys(map(_label, result["rows"]))):
        rows = [row for row in result["rows"] if _label(row) == label]
        ax.plot([row["order"] for row in rows], [row["gcell_per_second"] for row in rows], "o-", label=label,
                color=colors[i % len(colors)])  # fmt: skip
    shape = " x ".join(map(str, result["rows"][0]["shape"]))
    ax.set(xlabel="order in space", ylabel="Gcell/s")
    ax.set_ylim(0, 1.06 * max(row["gcell_per_second"] for row in result["rows"]))
    figure.suptitle(f"{shape} cells, {result['device']}", fontsize="medium")
    ax.set_xticks(sorted({row["order"] for row in result["rows"]}))
    figure.legend(fontsize="small", loc="outside right center")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if args.shape and len(args.shape) != 3:
        raise ArgumentError(f"shape is {args.shape}, expected nx,ny,nz")
    if args.case or args.figure:
        return bench_fd_papers.run(args)
    if args.scheme == "staggered" and args.kernels != "step":
        raise ArgumentError(f"kernels are {args.kernels}, expected step: scheme staggered has no others")
    device = choose_device() if args.device == "auto" else args.device
    limits = device_limits(device, threads=args.threads)
    result: dict[str, Any] = {
        "benchmark": "fd", **heading(device, limits, args.threads), "scheme": args.scheme, "rows": []
    }  # fmt: skip
    print(" ".join(f"{title:>12}" for title, _, _ in _COLUMNS))
    for row in _rows(args, device, limits):
        result["rows"].append(row)
        print(" ".join(f"{row[key]:>12{form}}" for _, key, form in _COLUMNS), flush=True)
        save(args.output, result)
    _draw(args.output.with_suffix(".png"), result)
    print(f"wrote {args.output} and {args.output.with_suffix('.png')}")
    return 0
