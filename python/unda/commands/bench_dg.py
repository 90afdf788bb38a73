"""Time DG on a device, degree by degree, and compare it with the device's limits.

The case is realistic, and the same for all physics: a perturbed or sheared, randomly numbered, non-periodic
mesh, four materials, one source, 100 receivers, wall-clock time of whole steps after warm-up. Not here: cases
and figures of papers (bench_dg_gaps.py), the kernels (cuda/dg).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .._core import lib
from ..errors import ArgumentError
from ..limits import choose_device, device_limits
from ..method._options import METRICS, kernel_names
from ..method.dg import DG
from ..problem.medium import Acoustic, Elastic, Maxwell, Medium
from ..problem.mesh import MAX_DEGREE, Mesh
from ..problem.source import CurrentDipole, Source, VolumeInjection
from ..problem.timefunction import ricker
from . import bench_dg_gaps, bench_dg_klockner, bench_dg_modave
from .dg_case import compile_ahead, numbered_box
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
    timed,
    words,
)  # fmt: skip

PHYSICS = ("acoustic", "elastic", "maxwell")
#: What `--paper` names: modules with `FIGURES`, `USES`, `run`.
PAPERS = {"gaps": bench_dg_gaps, "klockner2009": bench_dg_klockner, "modave2016": bench_dg_modave}
_CASES = (
    "physics", "degrees", "shape", "mesh", "metric", "integrator", "flux", "dtype", "nodes", "elements"
)  # fmt: skip
_SIZE = ("elements", "shape", "mesh")  # of a small problem
_GPU_NODES = {"acoustic": 16e6, "elastic": 4e6, "maxwell": 4e6}  # at least, by default

_COLUMNS = (
    ("N", "degree", "d"), ("kernel", "kernel", "s"), ("elements", "num_elem", "d"),
    ("ms/step", "ms", ".4g"), ("GDOF/s", "gdof_per_second", ".3g"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"), ("% of limit", "percent_of_limit", ".1f"),
    ("sim s/s", "simulated_per_second", ".3g"),
)  # fmt: skip
_HEX_COLUMNS = (*_COLUMNS[:2], ("metric", "metric", "s"), *_COLUMNS[2:])
_SMALL_COLUMNS = (
    ("N", "degree", "d"), ("integrator", "integrator", "s"), ("asked for", "asked", "s"), *_COLUMNS[1:3],
    ("us/step", "us", ".4g"), ("steps a launch", "resident", "d"), ("GDOF/s", "gdof_per_second", ".3g"),
)  # fmt: skip


def _physics(text: str) -> list[str]:
    return list(PHYSICS) if text == "all" else words(*PHYSICS)(text).split(",")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--physics", type=_physics, default="acoustic", help="acoustic,elastic,maxwell or all"
    )
    parser.add_argument("--degrees", type=integers, help="1:8, the default, or 3,5")
    parser.add_argument("--shape", choices=["tet", "hex"], default="tet", help="of the cells")
    parser.add_argument(
        "--mesh", choices=["perturbed", "sheared"], default="perturbed",
        help="sheared: all hexahedra are parallelepipeds, whose metric is a constant",
    )  # fmt: skip
    parser.add_argument("--metric", choices=METRICS, help="of hexahedra; the first that is exact if omitted")
    names = kernel_names("DG")
    parser.add_argument(
        "--kernels", type=words("auto", *names), default="auto", help=f"{','.join(names)} (CUDA)"
    )
    parser.add_argument("--integrator", type=words("ab3", "lsrk4"), default="ab3", help="ab3,lsrk4")
    parser.add_argument("--flux", choices=["upwind", "central"], default="upwind")
    machine_options(parser)
    parser.add_argument(
        "--paper", choices=sorted(PAPERS),
        help="tables and figures of a paper: Hanindhito et al. 2022 (gaps), Klöckner et al. 2009, Modave et "
        "al. 2016; of the options of cases only --kernels, --steps and --seconds matter then, and of the "
        "last two papers --degrees and --nodes",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="of --paper: a few cells and steps")
    parser.add_argument(
        "--figures", default="all",
        help="of --paper: " + "; ".join(f"{name} {','.join(of.FIGURES)}" for name, of in PAPERS.items()),
    )  # fmt: skip
    bench_dg_gaps.arguments(parser)
    parser.add_argument(
        "--hits", action="store_true",
        help="of --paper modave2016: hit rates of the caches, too, with NVIDIA's profiler ncu, some minutes",
    )  # fmt: skip
    parser.add_argument(
        "--append", action="store_true",
        help="add to the rows of the JSON file, of the same device and commit",
    )  # fmt: skip
    parser.add_argument("--nodes", type=positive, help="at least (16e6 acoustic, else 4e6; 2e5 on a CPU)")
    parser.add_argument(
        "--elements", type=lambda text: int(positive(text)) or 1,
        help="instead of --nodes: at least so many cells, such as 1000, whose steps take microseconds; then "
        "kernels are compiled ahead on all cores",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=lambda text: int(positive(text)) or 1, help="steps timed, at most (1000)"
    )
    parser.add_argument("--seconds", type=positive, help="of a measurement, at most about")
    parser.add_argument(
        "-o", "--output", type=Path,
        help="JSON file, a PNG goes beside it (bench_dg_PHYSICS.json, bench_dg_gaps_FIGURE.json); the word "
        "PHYSICS becomes the physics, of --paper FIGURE the figure",
    )  # fmt: skip
    keep_usual(parser)


def _problem(physics: str, mesh: Mesh) -> tuple[Medium, Source, str, str]:
    """Return four materials, a source, the condition of the walls, and the field that is set and recorded."""
    kind = np.arange(mesh.num_elem) % 4
    place, f = (0.31, 0.42, 0.53), ricker(3.0)
    if physics == "acoustic":
        return Acoustic(rho=1 + 0.3 * kind, c=1 + 0.1 * kind), VolumeInjection(place, f), "free", "p"
    if physics == "elastic":
        solid = Elastic(rho=1 + 0.3 * kind, vp=1.8 + 0.1 * kind, vs=1 + 0.1 * kind)
        return solid, VolumeInjection(place, f), "free", "vz"
    return Maxwell(eps=1 + 0.3 * kind, mu=1 + 0.1 * kind), CurrentDipole(place, f, (1, 2, 3)), "pec", "ez"


def _simulation(mesh: Mesh, physics: str, case: dict[str, Any], device: str, threads: int | None) -> DG:
    """Return the benchmark case, whose state is not zero."""
    medium, source, wall, field = _problem(physics, mesh)
    sim = DG(mesh, medium, boundary={"*": wall}, device=device, threads=threads, **case)
    random = np.random.default_rng(3)
    state: dict[str, Any] = {field: lambda x, y, z: np.sin(7 * x + 3 * y) * np.cos(4 * z)}
    sim.set(**state)
    sim.add_source(source)
    sim.add_receivers(random.uniform(0.1, 0.9, (100, 3)), [field])
    return sim


def measure(
    mesh: Mesh,
    case: dict[str, Any],
    *,
    physics: str = "acoustic",
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
        Keywords of `DG`: degree, dtype, flux, integrator, kernel, kernel_options.
    physics : {"acoustic", "elastic", "maxwell"}
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
    with _simulation(mesh, physics, case, device, threads) as sim:
        setup = time.perf_counter() - begin
        sim.step(4)
        begin = time.perf_counter()
        sim.step(4)
        guess = (time.perf_counter() - begin) / 4
        count = int(np.clip(seconds / guess, 2, steps))
        sim.step(min(count, 20))
        row = timed(sim, count, case, limits)
        return {
            **row,
            "num_elem": mesh.num_elem,
            "num_node": sim.num_node,
            "simulated_per_second": 1e3 * sim.dt / row["ms"],
            "setup_seconds": setup,
            "kernel": row["kernel"] or "cpu",
            **({"metric": row["kernel_options"]["metric"]} if mesh.shape == "hex" else {}),
        }


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw rate and fraction of the limit over the degree."""
    kinds = grouped(result["rows"], lambda row: f"{row['integrator']} {row['dtype']} {row['kernel']}")
    with figure(path, f"DG {result['physics']}, {result['device']}", (9, 3.6), columns=2) as (rate, part):
        for kind, of in kinds.items():
            rate.plot(of["degree"], of["gdof_per_second"], "o-", label=kind)
            part.plot(of["degree"], of["percent_of_limit"], "o-")
        rate.set(xlabel="degree N", ylabel="GDOF/s a stage", ylim=(0, None))
        part.set(xlabel="degree N", ylabel="% of the measured limit", ylim=(0, 100))
        rate.legend(fontsize="small")


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if choose_device(args.device) == "cpu":
        refuse_idle(args, "kernels", "on a CUDA device")
    if args.paper:
        return _run_paper(args, PAPERS[args.paper])
    refuse_idle(args, "configurations", "with --paper gaps")
    refuse_idle(args, "hits", "with --paper modave2016")
    refuse_idle(args, "quick figures", f"with --paper {','.join(sorted(PAPERS))}")
    if args.shape == "tet":
        refuse_idle(args, "metric", "with --shape hex")
    args.output = args.output or Path("bench_dg_PHYSICS.json")
    args.degrees = list(range(1, 9)) if args.degrees is None else args.degrees
    _check_degrees(args)
    if len(args.physics) > 1 and "PHYSICS" not in args.output.name:
        raise ArgumentError(f"output is {args.output}, expected a name with PHYSICS in it, for each of them")
    if args.elements and args.nodes:
        raise ArgumentError("nodes and elements are both given, expected one of them: each is the size")
    device = choose_device(args.device)
    limits = device_limits(device, threads=args.threads)
    about = heading(device, limits, args.threads)
    if args.elements and device != "cpu":
        size = {name: getattr(args, name) for name in _SIZE}
        ahead = [
            (physics, {**case, **size})
            for physics, degree in product(args.physics, args.degrees)
            for case in _cases(args, degree, device)
        ]
        compile_ahead(ahead, device, compile_small)
    for physics in args.physics:
        head = {"benchmark": "dg", "physics": physics, **about, "flux": args.flux, "shape": args.shape,
                "mesh": args.mesh}  # fmt: skip
        output = args.output.with_name(args.output.name.replace("PHYSICS", physics))
        print(physics)
        columns = _HEX_COLUMNS if args.shape == "hex" else _SMALL_COLUMNS if args.elements else _COLUMNS
        measured(_rows(args, physics, device, limits), columns, output, head, _draw,
                 append=args.append)  # fmt: skip
    return 0


def _check_degrees(args: argparse.Namespace) -> None:
    most = MAX_DEGREE[args.shape]
    if not args.degrees or not all(1 <= n <= most for n in args.degrees):
        raise ArgumentError(f"degrees are {args.degrees}, expected some of 1 to {most}")


def _run_paper(args: argparse.Namespace, paper: Any) -> int:
    """Check what is asked of a paper, and run it."""
    idle = " ".join(name for name in _CASES if name not in paper.USES)
    refuse_idle(args, idle, "without --paper")
    if args.degrees is not None:
        _check_degrees(args)
    args.output = args.output or Path(f"bench_dg_{args.paper}_FIGURE.json")
    if args.figures == "all":
        args.figures = ",".join(paper.FIGURES)
    for word in args.figures.split(","):
        if word not in paper.FIGURES:
            raise ArgumentError(f"figures has {word!r}, expected some of {','.join(paper.FIGURES)}")
    if "," in args.figures and "FIGURE" not in args.output.name:
        raise ArgumentError(f"output is {args.output}, expected a name with FIGURE in it, for each of them")
    if args.paper != "modave2016":
        refuse_idle(args, "hits", "with --paper modave2016")
    if args.paper != "gaps":
        refuse_idle(args, "configurations", "with --paper gaps")
    return int(paper.run(args))


def _cases(args: argparse.Namespace, degree: int, device: str) -> list[dict[str, Any]]:
    """List keywords of `DG`: every precision, integrator and kernel."""
    kernels = args.kernels.split(",") if device != "cpu" else ["auto"]
    return [
        {"degree": degree, "dtype": dtype, "integrator": integrator, "flux": args.flux, "kernel": kernel,
         "kernel_options": {"metric": args.metric} if args.metric else None}
        for dtype, integrator, kernel in product(args.dtype.split(","), args.integrator.split(","), kernels)
    ]  # fmt: skip


def _rows(
    args: argparse.Namespace, physics: str, device: str, limits: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """Measure every degree, precision, integrator and kernel."""
    on_gpu = device != "cpu"
    for degree in args.degrees:
        num_node = lib.unda_element_num_node(getattr(lib, f"UNDA_{args.shape.upper()}"), degree)
        nodes = args.nodes or (_GPU_NODES[physics] if on_gpu else 2e5)
        if args.elements:
            nodes = float(num_node * args.elements)
        mesh = numbered_box(nodes, num_node, args.shape, args.mesh)
        for case in _cases(args, degree, device):
            row = measure(
                mesh, case, physics=physics, device=device, limits=limits, threads=args.threads,
                steps=args.steps or 1000, seconds=args.seconds or (20.0 if on_gpu else 3.0),
            )  # fmt: skip
            options = row["kernel_options"] or {}
            yield {
                **row, "asked": case["kernel"], "us": 1e3 * row["ms"], "resident": options.get("resident", 1)
            }  # fmt: skip


def compile_small(physics: str, case: dict[str, Any], device: str) -> None:
    """Compile into the cache all that steps of a small problem need, which depends on its size."""
    options = {name: value for name, value in case.items() if name not in _SIZE}
    shape, degree = case["shape"], case["degree"]
    num_node = int(lib.unda_element_num_node(getattr(lib, f"UNDA_{shape.upper()}"), degree))
    mesh = numbered_box(float(num_node * case["elements"]), num_node, shape, case["mesh"])
    with _simulation(mesh, physics, options, device, None) as sim:
        sim.step(64)  # a call that is long enough for launches of many steps
