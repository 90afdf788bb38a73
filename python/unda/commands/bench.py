"""Time a method on a device, degree by degree, against what the device can do.

The case is fair: a perturbed, randomly numbered, non-periodic mesh, four materials, one source, 100
receivers, whole steps by the clock on the wall after warm-up. Not here: the kernels (cuda/dg).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import _cuda
from ..dg import DG
from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_limits
from ..medium import Acoustic
from ..mesh import Mesh, box_mesh
from ..source import VolumeInjection
from ..timefunction import ricker

__all__ = ["arguments", "measure", "run"]

_COLUMNS = (
    ("N", "degree", "d"), ("kernel", "kernel", "s"), ("elements", "num_elem", "d"),
    ("ms/step", "ms", ".4g"), ("GDOF/s", "gdof_per_second", ".1f"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"), ("% of limit", "percent_of_limit", ".1f"),
    ("sim s/s", "simulated_per_second", ".3g"),
)  # fmt: skip


def _range(text: str) -> list[int]:
    """Return the integers of "1:8" or "3,5"."""
    if ":" in text:
        first, last = text.split(":")
        return list(range(int(first), int(last) + 1))
    return [int(word) for word in text.split(",")]


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _words(*known: str) -> Callable[[str], str]:
    """Accept some of these words, with commas."""

    def check(text: str) -> str:
        unknown = [word for word in text.split(",") if word not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is none of {', '.join(known)}")
        return text

    return check


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("method", choices=["dg"], help="method to time")
    parser.add_argument("--physics", choices=["acoustic"], default="acoustic")
    parser.add_argument("--degrees", type=_range, default="1:8", help="1:8 or 3,5")
    parser.add_argument("--kernels", type=_words("fused", "node"), default="fused", help="fused,node (CUDA)")
    parser.add_argument(
        "--dtype", type=_words("float32", "float64"), default="float32", help="float32,float64"
    )
    parser.add_argument("--integrator", type=_words("ab3", "lsrk4"), default="ab3", help="ab3,lsrk4")
    parser.add_argument("--flux", choices=["upwind", "central"], default="upwind")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--nodes", type=_positive, help="at least (16e6 on a GPU, 2e5 on a CPU)")
    parser.add_argument(
        "--steps", type=lambda text: int(_positive(text)) or 1, default=1000, help="steps timed, at most"
    )
    parser.add_argument("--seconds", type=_positive, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path, help="JSON file, a PNG goes beside it (bench_dg_PHYSICS.json)"
    )


def _mesh(nodes: float, num_node: int) -> Mesh:
    """Return a perturbed box with at least that many nodes, its cells in random order."""
    n = int(np.ceil((nodes / num_node / 6) ** (1 / 3)))
    box = box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.2, seed=1)
    cells = np.random.default_rng(2).permutation(box.cells)
    return Mesh(box.vertices, cells)


def _simulation(mesh: Mesh, case: dict[str, Any], device: str, threads: int | None) -> DG:
    """Return the fair case, with a state that is not zero."""
    kind = np.arange(mesh.num_elem) % 4
    medium = Acoustic(rho=1 + 0.3 * kind, c=1 + 0.1 * kind)
    sim = DG(mesh, medium, boundary={"*": "free"}, device=device, threads=threads, **case)
    random = np.random.default_rng(3)
    sim.set(p=lambda x, y, z: np.sin(7 * x + 3 * y) * np.cos(4 * z))
    sim.add_source(VolumeInjection((0.31, 0.42, 0.53), ricker(3.0)))
    sim.add_receivers(random.uniform(0.1, 0.9, (100, 3)), ["p"])
    return sim


def measure(
    mesh: Mesh,
    case: dict[str, Any],
    *,
    device: str,
    limits: dict[str, float],
    steps: int = 1000,
    seconds: float = 20.0,
    threads: int | None = None,
) -> dict[str, Any]:
    """Time one case; a row of the table.

    Parameters
    ----------
    mesh : Mesh
    case : dict
        Keywords of `DG`: degree, dtype, flux, integrator, kernel.
    device : str
    limits : dict
        Of `device_limits`, from this run.
    steps, seconds : int, float
        Steps timed: at most so many, at most about so long [s].
    threads : int, optional
        CPU threads.

    Returns
    -------
    dict
        The case, ``num_elem``, ``num_node``, ``steps``, ``ms`` (a step), ``gdof_per_second`` (of a
        stage: ab3 a step), ``gflops``, ``gbytes_per_second``, ``percent_of_limit``,
        ``simulated_per_second``, ``setup_seconds``, ``compile_seconds``, ``kernel_options``.
    """
    begin = time.perf_counter()
    with _simulation(mesh, case, device, threads) as sim:
        setup = time.perf_counter() - begin
        sim.step(4)
        begin = time.perf_counter()
        sim.step(4)
        guess = (time.perf_counter() - begin) / 4
        count = int(np.clip(seconds / guess, 2, steps))
        sim.step(min(count, 20))
        begin = time.perf_counter()
        sim.step(count)
        step = (time.perf_counter() - begin) / count
        info = sim._info()
        return {
            **case,
            "num_elem": mesh.num_elem,
            "num_node": sim.num_node,
            "steps": count,
            "ms": 1e3 * step,
            **sim.rate(step / info.num_stage, limits),
            "simulated_per_second": sim.dt / step,
            "setup_seconds": setup,
            "compile_seconds": info.compile_seconds,
            "kernel": sim.config["kernel"] or "cpu",
            "kernel_options": sim.config["kernel_options"],
        }


def _commit() -> str | None:
    """Return the commit of the checkout that this runs from, with + where files differ from it."""
    if "UNDA_COMMIT" in os.environ:  # a copy without its history
        return os.environ["UNDA_COMMIT"]
    root = str(_cuda.package_dir().parent.parent)
    command = ["git", "-C", root, "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _save(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".tmp")
    partial.write_text(json.dumps(result, indent=1) + "\n")
    partial.replace(path)


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw rate and fraction of the limit over the degree."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    kinds = list(dict.fromkeys((r["integrator"], r["dtype"], r["kernel"]) for r in result["rows"]))
    for kind in kinds:
        rows = [r for r in result["rows"] if (r["integrator"], r["dtype"], r["kernel"]) == kind]
        degrees = [r["degree"] for r in rows]
        axes[0].plot(degrees, [r["gdof_per_second"] for r in rows], "o-", label=" ".join(kind))
        axes[1].plot(degrees, [r["percent_of_limit"] for r in rows], "o-")
    axes[0].set(xlabel="degree N", ylabel="GDOF/s a stage", ylim=(0, None))
    axes[1].set(xlabel="degree N", ylabel="% of the measured limit", ylim=(0, 100))
    axes[0].legend(fontsize="small")
    figure.suptitle(f"DG {result['physics']}, {result['device']}", fontsize="medium")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if not args.degrees or not all(1 <= n <= 8 for n in args.degrees):
        raise ArgumentError(f"degrees are {args.degrees}, expected some of 1 to 8")
    device = choose_device() if args.device == "auto" else args.device
    on_gpu = device != "cpu"
    output = args.output or Path(f"bench_dg_{args.physics}.json")
    limits = device_limits(device, threads=args.threads)
    about = device_info(device)
    result: dict[str, Any] = {
        "benchmark": "dg", "physics": args.physics, "device": about["device_name"],
        "driver": about["driver"], "nvrtc": about.get("nvrtc"), "commit": _commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "threads": None if on_gpu else args.threads or len(os.sched_getaffinity(0)),
        "limits": limits, "flux": args.flux, "rows": [],
    }  # fmt: skip
    print(
        f"{about['device_name']}: copy {limits['copy'] / 1e9:.0f} GB/s, FMA "
        f"{limits['fma32'] / 1e9:.0f} GFLOP/s float32, {limits['fma64'] / 1e9:.0f} float64"
    )
    kernels = args.kernels.split(",") if on_gpu else ["auto"]
    print(" ".join(f"{title:>10}" for title, _, _ in _COLUMNS))
    for degree in args.degrees:
        num_node = (degree + 1) * (degree + 2) * (degree + 3) // 6
        mesh = _mesh(args.nodes or (16e6 if on_gpu else 2e5), num_node)
        for dtype in args.dtype.split(","):
            for integrator in args.integrator.split(","):
                for kernel in kernels:
                    case = {"degree": degree, "dtype": dtype, "integrator": integrator,
                            "flux": args.flux, "kernel": kernel}  # fmt: skip
                    row = measure(mesh, case, device=device, limits=limits, steps=args.steps,
                                  seconds=args.seconds or (20.0 if on_gpu else 3.0),
                                  threads=args.threads)  # fmt: skip
                    result["rows"].append(row)
                    print(" ".join(f"{row[key]:>10{form}}" for _, key, form in _COLUMNS), flush=True)
                    _save(output, result)
    _draw(output.with_suffix(".png"), result)
    print(f"wrote {output} and {output.with_suffix('.png')}")
    return 0
