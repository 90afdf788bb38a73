"""Time spectral elements on a device, degree by degree, and compare them with the device's limits.

The case is realistic: a perturbed or sheared, randomly numbered box with free sides, four materials, one
source, 100 receivers, wall-clock time of whole steps after warm-up. Rates count the unknowns of shared nodes
once. Not here: the kernels (cuda/sem).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..limits import choose_device, device_limits
from ..method._options import METRICS, kernel_names
from ..method.sem import SEM
from ..problem.medium import Acoustic, Elastic, Medium
from ..problem.mesh import Mesh
from ..problem.source import MomentTensor, Source, VolumeInjection
from ..problem.timefunction import ricker
from .bench_dg import numbered_box
from .measuring import figure, grouped, heading, integers, machine_options, measured, positive, timed, words

PHYSICS = ("acoustic", "elastic")
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
    parser.add_argument("--nodes", type=positive, help="at least (16e6; 2e5 on a CPU)")
    parser.add_argument(
        "--steps", type=lambda text: int(positive(text)) or 1, default=1000, help="steps timed, at most"
    )
    parser.add_argument("--seconds", type=positive, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("bench_sem_PHYSICS.json"),
        help="JSON file, a PNG goes beside it; the word PHYSICS becomes the physics (%(default)s)",
    )  # fmt: skip


def _problem(physics: str, mesh: Mesh) -> tuple[Medium, Source, str]:
    """Return four materials, a source, and the field that is recorded."""
    kind = np.arange(mesh.num_elem) % 4
    place, f = (0.31, 0.42, 0.53), ricker(3.0)
    if physics == "acoustic":
        return Acoustic(rho=1 + 0.3 * kind, c=1 + 0.1 * kind), VolumeInjection(place, f.derivative), "p"
    solid = Elastic(rho=1 + 0.3 * kind, vp=1.8 + 0.1 * kind, vs=1 + 0.1 * kind)
    return solid, MomentTensor(place, f, np.diag([1.0, 2.0, 3.0])), "vz"


def measure(
    mesh: Mesh,
    case: dict[str, Any],
    *,
    physics: str = "elastic",
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
        Keywords of `SEM`: degree, dtype, assembly, kernel_options.
    physics : {"acoustic", "elastic"}
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
        The case, ``num_elem``, ``num_dof``, ``steps``, ``ms`` (a step), ``gdof_per_second``, ``gflops``,
        ``gbytes_per_second``, ``percent_of_limit``, ``setup_seconds``, ``compile_seconds``, ``memory``,
        ``kernel_options``, ``metric``.
    """
    medium, source, field = _problem(physics, mesh)
    begin = time.perf_counter()
    with SEM(mesh, medium, boundary={"*": "free"}, device=device, threads=threads, **case) as sim:
        sim.add_source(source)
        sim.add_receivers(np.random.default_rng(3).uniform(0.1, 0.9, (100, 3)), [field])
        setup = time.perf_counter() - begin
        sim.step(4)
        begin = time.perf_counter()
        sim.step(4)
        count = int(np.clip(4 * seconds / (time.perf_counter() - begin), 2, steps))
        sim.step(min(count, 20))
        row = timed(sim, count, case, limits)
        return {
            **row,
            "num_elem": mesh.num_elem,
            "num_dof": sim._size()[0],
            "setup_seconds": setup,
            "memory": sim.memory,
            "kernel": row["kernel"] or "cpu",
            "metric": row["kernel_options"]["metric"],
        }


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
