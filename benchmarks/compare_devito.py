"""Time the scalar scheme on the CPU beside Devito's acoustic operator: same grid, order, layers and steps.

Devito (devitoproject.org) generates OpenMP code and tunes its blocks before it is timed; both times are of
the loop over steps alone, the best of some repetitions. Needs ``pip install devito``, a compiler and
unda; ``python benchmarks/compare_devito.py --shape 256 --orders 4,8 -o compare_devito.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import heading
from unda.limits import device_limits

H, C, F0 = 10.0, 1500.0, 10.0


def devito_run(n: int, order: int, layer: int, dt: float, steps: int, repeats: int) -> tuple[float, Any]:
    """Return Devito's seconds a step and its last pressure."""
    from devito import Eq, Function, Grid, Operator, TimeFunction, configuration, solve

    configuration["log-level"] = "ERROR"
    configuration["language"] = "openmp"
    total = n + 2 * layer
    grid = Grid(shape=(total,) * 3, extent=((total - 1) * H,) * 3, dtype=np.float32)
    u = TimeFunction(name="u", grid=grid, time_order=2, space_order=order)
    m = Function(name="m", grid=grid)
    m.data[:] = 1 / C**2
    damp = Function(name="damp", grid=grid)
    # As devito's examples have it: a damping term that grows towards the sides.
    depth = np.maximum(0, layer - np.minimum(np.arange(total), np.arange(total)[::-1])) / layer
    profile = 1.5 * np.log(1000.0) / (layer * H) * (depth - np.sin(2 * np.pi * depth) / (2 * np.pi))
    rates = profile[:, None, None] + profile[None, :, None] + profile[None, None, :]
    damp.data[:] = (rates / C).astype(np.float32)
    update = Eq(u.forward, solve(m * u.dt2 - u.laplace + damp * u.dt, u.forward))
    operator = Operator([update], opt=("advanced", {"openmp": True}))
    pulse = np.exp(-((np.arange(total) - total / 2) ** 2) / 18.0)
    best = np.inf
    for repeat in range(repeats + 1):
        u.data[:] = (pulse[:, None, None] * pulse[None, :, None] * pulse[None, None, :]).astype(np.float32)
        tune = "aggressive" if repeat == 0 else "off"
        summary = operator.apply(time_m=1, time_M=steps, dt=dt, autotune=tune)
        if repeat:
            best = min(best, sum(entry.time for entry in summary.values()) / steps)
    return best, u.data[(steps + 1) % 3].copy()


def unda_run(n: int, order: int, layer: int, steps: int, repeats: int, kernel: str) -> tuple[float, Any]:
    """Return unda's seconds a step and the simulation."""
    grid = unda.Grid((n,) * 3, H)
    sim = unda.FD(
        grid, unda.Acoustic(rho=1000.0, c=lambda x, y, z: C + 0 * x), order=order, cfl=0.8, device="cpu",
        boundary={"*": unda.Damping(layer)}, kernel=kernel,
    )  # fmt: skip
    middle = (n - 1) * H / 2
    sim.set(
        p=lambda x, y, z: np.exp(-((x - middle) ** 2 + (y - middle) ** 2 + (z - middle) ** 2) / (18 * H**2))
    )
    best = np.inf
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        sim.step(steps)
        best = min(best, (time.perf_counter() - begin) / steps)
    return best, sim


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shape", type=int, default=256, help="nodes an axis, without layers")
    parser.add_argument("--orders", default="4,8")
    parser.add_argument("--layer", type=int, default=20, help="nodes")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=Path("compare_devito.json"))
    args = parser.parse_args()
    import devito

    threads = len(os.sched_getaffinity(0))
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    rows = []
    for order in map(int, args.orders.split(",")):
        row: dict[str, Any] = {"order": order, "shape": [args.shape] * 3, "layer": args.layer}
        for kernel in ("step", "tiled"):
            seconds, sim = unda_run(args.shape, order, args.layer, args.steps, args.repeats, kernel)
            row[kernel] = args.shape**3 / seconds / 1e9
            row[f"{kernel}_options"] = sim.config["kernel_options"]
        seconds, _ = devito_run(args.shape, order, args.layer, sim.dt, args.steps, args.repeats)
        row["devito"] = args.shape**3 / seconds / 1e9
        rows.append(row)
        print(
            f"order {order}: Gcell/s unda step {row['step']:.3g}, tiled {row['tiled']:.3g}, "
            f"devito {row['devito']:.3g}", flush=True,
        )  # fmt: skip
    result = {
        "benchmark": "compare_devito", "unda": unda.__version__, "devito": devito.__version__,
        **heading("cpu", device_limits("cpu", threads=threads), threads), "rows_devito": rows,
    }  # fmt: skip
    args.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
