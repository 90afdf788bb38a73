"""Time finite differences on a device, order by order, against what the device can do.

The case is fair: the whole grid with its sides, one source, 1,000 receivers at every fourth step, random
numbers as the first state, whole steps by the clock on the wall after warm-up; cells are those of the user's
grid, layers come on top. Not here: the kernels (cuda/fd).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..fd import FD
from ..grid import Grid
from ..layer import Damping
from ..limits import choose_device, device_limits
from ..medium import Acoustic
from ..source import VolumeInjection
from ..timefunction import ricker
from .measuring import heading, integers, positive, save, words

__all__ = ["arguments", "measure", "run"]

_COLUMNS = (
    ("order", "order", "d"), ("dtype", "dtype", "s"), ("c", "c", "s"), ("layers", "layers", "d"),
    ("kernel", "kernel", "s"), ("ms/step", "ms", ".4g"), ("Gcell/s", "gcell_per_second", ".4g"),
    ("GFLOP/s", "gflops", ".0f"), ("GB/s", "gbytes_per_second", ".0f"),
    ("% of limit", "percent_of_limit", ".1f"),
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--orders", type=integers, default="2,4,6,8", help="2,4,6,8")
    parser.add_argument(
        "--shape", type=integers, help="nodes nx,ny,nz (1152,1152,1152; 256,256,256 on a CPU)"
    )
    parser.add_argument(
        "--kernels", type=words("step", "tiled"), default="step", help="step,tiled (tiled: CPU)"
    )
    parser.add_argument(
        "--c", type=words("constant", "variable"), default="constant", help="constant,variable"
    )
    parser.add_argument(
        "--layers", type=integers, default="0", help="0,20: nodes of absorbing layers on five sides; 0: walls"
    )
    parser.add_argument(
        "--dtype", type=words("float32", "float64"), default="float32", help="float32,float64"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--seconds", type=positive, default=3.0, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("bench_fd.json"),
        help="JSON file, a PNG goes beside it (%(default)s)",
    )  # fmt: skip


def _simulation(shape: tuple[int, ...], case: dict[str, Any], device: str, threads: int | None) -> FD:
    """Return the fair case, with a state that is not zero."""
    grid = Grid(shape, 10.0)
    medium = Acoustic(rho=1000.0, c=1500.0)
    if case["c"] == "variable":
        medium = Acoustic(rho=1000.0, c=lambda x, y, z: 1500.0 + 500.0 * np.sin(0.01 * x) * np.cos(0.02 * z))
    layer = Damping(width=case["layers"]) if case["layers"] else "rigid"
    boundary = {"zmax": "free" if case["layers"] else "rigid", "*": layer}
    sim = FD(
        grid, medium, order=case["order"], dtype=case["dtype"], kernel=case["kernel"], boundary=boundary,
        device=device, threads=threads,
    )  # fmt: skip
    random = np.random.default_rng(3)
    sim.set(
        p=lambda x, y, z: random.uniform(-1, 1, np.broadcast_shapes(x.shape, y.shape, z.shape)), p_previous=0
    )
    size = np.array(grid.size)
    sim.add_source(VolumeInjection(0.47 * size, ricker(10.0)))
    sim.add_receivers(random.uniform(0.05, 0.95, (1000, 3)) * size, ["p"], every=4)
    return sim


def measure(
    shape: tuple[int, ...],
    case: dict[str, Any],
    *,
    device: str,
    limits: dict[str, float],
    seconds: float = 3.0,
    threads: int | None = None,
) -> dict[str, Any]:
    """Time one case; a row of the table.

    Parameters
    ----------
    shape : tuple of int
        Nodes of the user's grid.
    case : dict
        order, dtype, kernel; c ("constant" or "variable"); layers (nodes, 0: walls).
    device : str
    limits : dict
        Of `device_limits`, from this run.
    seconds : float
        About so long [s].
    threads : int, optional
        CPU threads.

    Returns
    -------
    dict
        The case, ``shape``, ``steps``, ``ms`` (a step), what `FD.rate` gives, ``setup_seconds``,
        ``compile_seconds``, ``kernel_options``.
    """
    begin = time.perf_counter()
    with _simulation(shape, case, device, threads) as sim:
        setup = time.perf_counter() - begin
        sim.step(8)
        begin = time.perf_counter()
        sim.step(8)
        guess = (time.perf_counter() - begin) / 8
        count = int(np.clip(seconds / guess, 8, 10_000))
        sim.step(min(count, 16))
        begin = time.perf_counter()
        sim.step(count)
        step = (time.perf_counter() - begin) / count
        return {
            **case,
            "shape": list(shape),
            "steps": count,
            "ms": 1e3 * step,
            **sim.rate(step, limits),
            "setup_seconds": setup,
            "compile_seconds": sim._info().compile_seconds,
            "kernel": sim.config["kernel"],
            "kernel_options": sim.config["kernel_options"],
        }


def _rows(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Measure every combination."""
    shape = tuple(args.shape or ([256] * 3 if device == "cpu" else [1152] * 3))
    for order, dtype, c, layers, kernel in product(
        args.orders, args.dtype.split(","), args.c.split(","), args.layers, args.kernels.split(",")
    ):
        case = {"order": order, "dtype": dtype, "c": c, "layers": layers, "kernel": kernel}
        yield measure(shape, case, device=device, limits=limits, seconds=args.seconds, threads=args.threads)


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw the rate over the order."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    words_ = ("kernel", "dtype", "c", "layers")
    kinds = list(dict.fromkeys(tuple(row[word] for word in words_) for row in result["rows"]))
    for kind in kinds:
        rows = [row for row in result["rows"] if tuple(row[word] for word in words_) == kind]
        kernel, dtype, c, layers = kind
        label = f"{kernel}, {dtype}, {c} c" + (f", layers of {layers}" if layers else "")
        ax.plot([row["order"] for row in rows], [row["gcell_per_second"] for row in rows], "o-", label=label)
    shape = " x ".join(map(str, result["rows"][0]["shape"]))
    ax.set(
        xlabel="order in space", ylabel="Gcell/s", ylim=(0, None), title=f"{shape} cells, {result['device']}"
    )
    ax.set_xticks(sorted({row["order"] for row in result["rows"]}))
    ax.legend(fontsize="small")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    device = choose_device() if args.device == "auto" else args.device
    limits = device_limits(device, threads=args.threads)
    result: dict[str, Any] = {
        "benchmark": "fd", **heading(device, limits, args.threads), "scheme": "scalar", "rows": []
    }  # fmt: skip
    print(" ".join(f"{title:>10}" for title, _, _ in _COLUMNS))
    for row in _rows(args, device, limits):
        result["rows"].append(row)
        print(" ".join(f"{row[key]:>10{form}}" for _, key, form in _COLUMNS), flush=True)
        save(args.output, result)
    _draw(args.output.with_suffix(".png"), result)
    print(f"wrote {args.output} and {args.output.with_suffix('.png')}")
    return 0
