"""Time DG on several devices: work that grows with their number, and one problem that is split.

Of each case one device has so many nodes, then all devices have as many each (weak), then they share as many
(strong), whose bits are compared with those of one device. Not here: how parts run together (csrc/dg/team.c).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._core import lib
from ..errors import ArgumentError
from ..limits import device_limits, several
from ..method.dg import DG
from ..problem._shapes import SHAPES
from ..problem.mesh import Mesh, box_mesh
from .dg_case import set_wave, simulation
from .measuring import figure, heading, keep_usual, measured, positive, words

#: Shape of cells and degree.
CASES = {"tet3": ("tet", 3), "tet7": ("tet", 7), "hex3": ("hex", 3), "hex7": ("hex", 7)}
_COLUMNS = (
    ("case", "case", "s"), ("split", "split", "s"), ("devices", "devices", "d"),
    ("transport", "transport", "s"),
    ("elements", "num_elem", "d"), ("ms/step", "ms", ".4g"), ("GDOF/s", "gdof_per_second", ".4g"),
    ("% of n times", "efficiency", ".1f"), ("% not in kernels", "outside", ".1f"),
    ("MB/stage", "megabytes", ".3g"), ("same bits", "same_bits", "s"),
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--cases", type=words(*CASES), default="tet3,tet7,hex7", help=",".join(CASES))
    parser.add_argument("--physics", choices=["acoustic", "elastic", "maxwell"], default="acoustic")
    parser.add_argument("--devices", default="cuda:all", help="cuda:all, or such as cuda:0,cuda:0,cuda:1")
    parser.add_argument(
        "--splits", type=words("strong", "weak"), default="strong,weak", help="strong,weak, beside one device"
    )
    parser.add_argument("--transport", choices=["auto", "peer", "host"], default="auto")
    parser.add_argument("--integrator", choices=["ab3", "lsrk4"], default="ab3")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--nodes", type=positive, default=16e6, help="of a device, about")
    parser.add_argument("--seconds", type=positive, default=2.0, help="of a measurement, about")
    parser.add_argument("-o", "--output", type=Path, default=Path("bench_scaling.json"))
    keep_usual(parser)


def _box(shape: str, degree: int, nodes: float) -> Mesh:
    """Return a perturbed box of about so many nodes, which is longer where it has more."""
    num_node = int(lib.unda_element_num_node(SHAPES[shape], degree)) * (6 if shape == "tet" else 1)
    n = max(1, round((nodes / num_node) ** (1 / 3)))
    long = max(1, round(nodes / num_node / n**2))
    return box_mesh((0, 0, 0), (long / n, 1, 1), (long, n, n), shape=shape, perturb=0.2, seed=1)


def _some(sim: DG) -> np.ndarray:
    """Return the state of some of the cells, all along the mesh."""
    num = sim.mesh.num_elem
    count, every = min(num, 32), max(1, num // 200)
    shape = (count, sim.num_node, len(sim.fields))
    firsts = range(0, num - count + 1, every)
    return np.stack([sim._solver.read(lib.UNDA_STATE, i, np.empty(shape, sim.dtype)) for i in firsts])


def _measure(sim: DG, seconds: float) -> dict[str, Any]:
    """Time steps: after warm-up the median of five calls."""
    set_wave(sim)
    sim.step(20)
    state = _some(sim)
    begin = time.perf_counter()
    sim.step(16)
    count = int(np.clip(seconds / 5 / (time.perf_counter() - begin) * 16, 1, 2000)) // 16 * 16 or 16
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        sim.step(count)
        took.append((time.perf_counter() - begin) / count)
    step, stages = float(np.median(took)), int(sim._solver.info().num_stage)
    dof = sim._size()[0]
    kernels = sim.profile(10)["stage"]["seconds"] if sim.config["device"] != "cpu" else None
    return {
        "ms": 1e3 * step, "gdof_per_second": 1e-9 * dof * stages / step, "num_elem": sim.mesh.num_elem,
        "num_node": sim.num_node, "kernel": sim.config["kernel"], "state": state,
        "outside": None if kernels is None else 100 * max(0.0, 1 - kernels * stages / step),
        "transport": sim.team.transport if sim.team else "-",
        "devices": len(sim.team.devices) if sim.team else 1,
        "megabytes": 1e-6 * sim.team._bytes() if sim.team else 0.0,
    }  # fmt: skip


def _rows(args: argparse.Namespace, devices: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    options = {"dtype": args.dtype, "integrator": args.integrator}
    for case in args.cases.split(","):
        shape, degree = CASES[case]
        mesh = _box(shape, degree, args.nodes)
        runs: list[tuple[str, Mesh, dict[str, Any]]] = [("one", mesh, {"device": devices[0]})]
        team = {"device": list(devices), "transport": args.transport}
        if len(devices) > 1:
            runs += [
                (split, mesh if split == "strong" else _box(shape, degree, args.nodes * len(devices)), team)
                for split in args.splits.split(",")
            ]
        one: dict[str, Any] = {}
        for split, of, where in runs:
            keywords = {"degree": degree, **options}
            with simulation(of, args.physics, keywords, **where) as sim:
                row = {"case": case, "split": split, **keywords, **_measure(sim, args.seconds)}
            one = one or row
            same = split == "strong" and row["state"].tobytes() == one["state"].tobytes()
            row["same_bits"] = str(same) if split == "strong" else "-"
            row["efficiency"] = 100 * (row["gdof_per_second"] / one["gdof_per_second"] / row["devices"])
            yield {name: value for name, value in row.items() if name != "state"}


def _draw(path: Path, result: dict[str, Any]) -> None:
    """Draw how near to n times one device's rate all come."""
    rows = [row for row in result["rows"] if row["split"] != "one"]
    with figure(path, f"DG {result['physics']}, {result['device']}", (6.4, 3.6)) as axes:
        axes.bar([f"{row['case']}\n{row['split']}" for row in rows], [row["efficiency"] for row in rows])
        axes.set(ylabel="% of n times one device", ylim=(0, None))


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    devices = several(args.devices if args.devices == "cuda:all" else args.devices.split(","))
    if any(device.partition(":")[0] == "cpu" for device in devices):
        raise ArgumentError(
            f"devices are {','.join(devices)}, expected CUDA devices: parts on the CPU do not pay"
        )
    limits = device_limits(devices[0])
    head = {
        "benchmark": "scaling", "physics": args.physics, **heading(devices[0], limits, None),
        "devices": list(devices),
    }  # fmt: skip
    measured(_rows(args, devices), _COLUMNS, args.output, head, _draw)
    return 0
