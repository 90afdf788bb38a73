"""Time finite differences on a GPU beside deepwave's: same grids, orders, layers, materials and steps.

Deepwave (github.com/ar4/deepwave) propagates with kernels of its own through PyTorch. Elastic waves of
order 4 and the scalar equation with and without layers of 20, acoustic waves of variable density; every
material is another number at each node. unda's time is of its loop over steps; deepwave sets up within a
call, so that its time a step is that of a long call less that of a short one, over the steps between. Both
are the best of some repetitions; cells are those of the user's grid. No gradients: deepwave stores nothing.
Needs ``pip install -r benchmarks/requirements-compare.txt`` (with it a PyTorch for CUDA), unda and a CUDA
device; ``python benchmarks/compare_deepwave.py --shape 512 -o compare_deepwave.json``.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import commit

H, F0 = 10.0, 10.0
RHO, VP, VS = 2000.0, 3000.0, 1700.0
FASTEST = 1.2 * VP
DT = 0.59 * H / (FASTEST * np.sqrt(3.0))  # above 0.6 deepwave takes two steps for one
CASES = {  # deepwave's function, unda's scheme, layers
    "elastic": ("elastic", 0),
    "elastic, layers of 20": ("elastic", 20),
    "acoustic, variable density": ("acoustic", 20),
    "scalar": ("scalar", 0),
    "scalar, layers of 20": ("scalar", 20),
}


Shape = tuple[int, int, int]


def wave(num_y: int, num_z: int) -> np.ndarray:
    """Return what materials vary with, (ny, nz), between -1 and 1; the same along x."""
    y, z = np.arange(num_y, dtype=np.float32), np.arange(num_z, dtype=np.float32)
    return np.sin(0.03 * y)[:, None] * np.cos(0.05 * z)


def materials(shape: Shape) -> dict[str, np.ndarray]:
    """Return rho, vp and vs at the nodes (nx, ny, nz), not copied along x."""
    means = {"rho": RHO, "vp": VP, "vs": VS}
    values = 1 + 0.2 * wave(*shape[1:])
    return {name: np.broadcast_to((mean * values)[None], shape) for name, mean in means.items()}


def middle_of(shape: Shape) -> np.ndarray:
    """Return the node of the source."""
    return (np.array(shape) - 1) // 2


def unda_run(
    kind: str, shape: Shape, layer: int, kernel: str, device: str, steps: int, repeats: int
) -> dict[str, Any]:
    """Return unda's seconds a step, its step and its plan."""
    m = materials(shape)
    media: dict[str, Callable[[], unda.Medium]] = {
        "elastic": lambda: unda.Elastic(**m),
        "acoustic": lambda: unda.Acoustic(rho=m["rho"], c=m["vp"]),
        "scalar": lambda: unda.Acoustic(rho=RHO, c=m["vp"]),
    }
    walls = "fixed" if kind == "elastic" else "rigid"
    layers: Any = unda.Damping if kind == "scalar" else unda.CPML
    with unda.FD(
        unda.Grid(shape, H), media[kind](), scheme="scalar" if kind == "scalar" else "staggered", order=4,
        dt=DT, boundary={"*": layers(layer) if layer else walls}, device=device, kernel=kernel,
    ) as sim:  # fmt: skip
        middle = middle_of(shape) * H
        force = unda.PointForce(middle, unda.ricker(F0), (1, 0, 0))
        sim.add_source(force if kind == "elastic" else unda.VolumeInjection(middle, unda.ricker(F0)))
        best = np.inf
        for _ in range(repeats + 1):
            begin = time.perf_counter()
            sim.step(steps)
            best = min(best, (time.perf_counter() - begin) / steps)
        return {"seconds": best, "dt": sim.dt, "kernel": sim.config["kernel"],
                "options": sim.config["kernel_options"]}  # fmt: skip


def deepwave_run(kind: str, shape: Shape, layer: int, device: str, steps: int, repeats: int) -> float:
    """Return deepwave's seconds a step."""
    import deepwave
    import torch

    needed = ("vp",) if kind == "scalar" else ("rho", "vp") if kind == "acoustic" else ("rho", "vp", "vs")
    given = materials(shape)
    m = {name: torch.tensor(np.ascontiguousarray(given[name]), device=device) for name in needed}
    middle = torch.tensor(middle_of(shape)[None, None], device=device)
    common = {"grid_spacing": H, "dt": DT, "accuracy": 4, "pml_width": layer, "pml_freq": F0,
              "max_vel": FASTEST, "storage_mode": "none"}  # fmt: skip
    if kind == "elastic":
        mu = m["rho"] * m["vs"] ** 2
        fields: tuple[Any, ...] = (m["rho"] * m["vp"] ** 2 - 2 * mu, mu, 1 / m["rho"])
        names = ("source_amplitudes_x", "source_locations_x")
    elif kind == "acoustic":
        fields, names = (m["vp"], m["rho"]), ("source_amplitudes_p", "source_locations_p")
    else:
        fields, names = (m["vp"],), ("source_amplitudes", "source_locations")
    propagate = getattr(deepwave, kind)

    def seconds(num: int) -> float:
        f = deepwave.wavelets.ricker(F0, num, DT, 1.5 / F0).reshape(1, 1, num).to(device)
        if device != "cpu":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.no_grad():
            propagate(*fields, **{names[0]: f, names[1]: middle}, **common)
        if device != "cpu":
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    few = max(1, steps // 10)
    seconds(few)
    short = min(seconds(few) for _ in range(repeats))
    long = min(seconds(few + steps) for _ in range(repeats))
    return (long - short) / steps


def shape_of(text: str) -> Shape:
    """Read a shape."""
    x, *others = (int(one) for one in text.split(","))
    y, z = others or (x, x)
    return x, y, z


def missing(device: str) -> str | None:
    """Say what is not there, None if nothing."""
    for name in ("torch", "deepwave"):
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: pip install -r benchmarks/requirements-compare.txt"
    if device != "cpu":
        import torch

        if not torch.cuda.is_available():
            return "PyTorch finds no CUDA device: nothing is compared (--device cpu compares there)"
    return None


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--shape", type=shape_of, default="512", help="nodes nx,ny,nz, or n for n,n,n, without layers (512)"
    )
    parser.add_argument("--cases", default=";".join(CASES), help="names with ; between (%(default)s)")
    parser.add_argument("--steps", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("-o", "--output", type=Path, default=Path("compare_deepwave.json"))
    args = parser.parse_args()
    unknown = [name for name in args.cases.split(";") if name not in CASES]
    if unknown:
        parser.error(f"no cases {unknown}; there are {list(CASES)}")
    why = missing(args.device)
    if why:
        print(f"compare_deepwave: {why}", file=sys.stderr)
        return 2
    import torch

    result: dict[str, Any] = {
        "benchmark": "compare_deepwave", "unda": unda.__version__, "deepwave": version("deepwave"),
        "torch": torch.__version__, "device": unda.devices()["cpu" if args.device == "cpu" else "cuda:0"],
        "commit": commit(), "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "rows_deepwave": [],
    }  # fmt: skip
    print(f"{'case':>28} {'kernel':>8} {'unda':>9} {'deepwave':>9} {'ratio':>7}  (Gcell/s)")
    cells = float(np.prod(args.shape)) / 1e9
    for name in args.cases.split(";"):
        kind, layer = CASES[name]
        other = None
        kernels = ("step",) if kind != "scalar" else ("step", "tiled" if args.device == "cpu" else "diamond")
        for kernel in kernels:
            ours = unda_run(kind, args.shape, layer, kernel, args.device, args.steps, args.repeats)
            if other is None:
                theirs = deepwave_run(kind, args.shape, layer, args.device, args.steps, args.repeats)
                other = cells / theirs
            rate = cells / ours.pop("seconds")
            row = {"case": name, "shape": list(args.shape), "layers": layer, "order": 4, **ours,
                   "unda": rate, "deepwave": other, "ratio": rate / other}  # fmt: skip
            result["rows_deepwave"].append(row)
            print(f"{name:>28} {row['kernel']:>8} {rate:9.4g} {other:9.4g} {rate / other:7.2f}", flush=True)
            args.output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {args.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
