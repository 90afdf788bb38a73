"""Figures 1 and 2 of Komatitsch et al. (2010), 1 .. n devices: `unda bench scaling --paper komatitsch2010`.

Figure 1: elastic finite differences with a CPML, grids of more and more blocks of 16 x 16 x 52 cells along x
and y; ideally all blocks take as long. Figure 2: spectral elements, as many on each device, over one core of
the CPU for each device; the paper's 48 runs on 4 to 192 devices lie between 20.05 and 20.91. Not here: the
paper's cases on one device (bench_fd_papers.py, bench_sem_komatitsch.py).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from . import fd_case, sem_case
from .bench_sem_komatitsch import DEGREE, OVER_CORE
from .measuring import Columns, figure
from .scaling_case import CASES, problem, time_step

_BLOCK = 16  # cells along x and y
_HEIGHT = 52  # cells along z
_LAYERS = 10  # of them, on five sides
_CPU_NODES = 1e6  # of one core's mesh, at most

COLUMNS: Columns = (
    ("figure", "figure", "d"), ("devices", "devices", "d"), ("x blocks", "blocks_x", "d"),
    ("y blocks", "blocks_y", "d"), ("elements", "num_elem", "d"), ("ms/step", "ms", ".4g"),
    ("us/block", "us_per_block", ".4g"), ("% of first", "of_first", ".1f"), ("ns/node", "ns_per_node", ".4g"),
    ("over core", "over_core", ".4g"), ("paper", "paper_over_core", ".4g"),
)  # fmt: skip


def _figure1(args: argparse.Namespace, devices: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Time grids of so many blocks, layers included; us_per_block: of a device that has its share of them."""
    if min(args.blocks) * _BLOCK <= 2 * _LAYERS:
        raise ArgumentError(
            f"blocks are {args.blocks}, expected more than layers of {_LAYERS} take of {_BLOCK} cells each"
        )
    case = {"physics": "elastic", "order": 4, "dtype": args.dtype, "varies": "rho vp vs", "layers": _LAYERS,
            "kernel": "step"}  # fmt: skip
    for num in range(1, len(devices) + 1):
        first = None
        for x, y in product(args.blocks, args.blocks):
            inside = (_BLOCK * x - 2 * _LAYERS, _BLOCK * y - 2 * _LAYERS, _HEIGHT - _LAYERS)
            where: Any = devices[0] if num == 1 else list(devices[:num])
            with fd_case.simulation(inside, case, where, receivers=10) as sim:
                sim.step(20)
                took = time_step(sim, args.seconds)
            each = 1e6 * took * num / (x * y)
            first = first or each
            yield {
                "figure": 1, "devices": num, "blocks_x": x, "blocks_y": y,
                "num_elem": x * y * _BLOCK**2 * _HEIGHT,
                "ms": 1e3 * took, "us_per_block": each, "of_first": 100 * first / each,
                "ns_per_node": 1e3 * each / (_BLOCK**2 * _HEIGHT), "over_core": None, "paper_over_core": None,
            }  # fmt: skip


def _sem(args: argparse.Namespace, nodes: float, times: int, device: Any, threads: int | None = None) -> Any:
    mesh: Any = problem(CASES["sem4"], nodes, times)
    case = {"degree": DEGREE, "dtype": args.dtype}
    with sem_case.simulation(mesh, "elastic", case, device, threads) as sim:
        sim.step(20)
        took = time_step(sim, args.seconds)
        return mesh.num_elem, took, 1e9 * took / (sim._size()[0] / 3)


def _figure2(args: argparse.Namespace, devices: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Time spectral elements on one core, then as many on each of more and more devices."""
    _, _, core = _sem(args, min(args.nodes, _CPU_NODES), 1, "cpu", threads=1)
    for num in range(1, len(devices) + 1):
        where: Any = devices[0] if num == 1 else list(devices[:num])
        elements, took, each = _sem(args, args.nodes, num, where)
        yield {
            "figure": 2, "devices": num, "blocks_x": None, "blocks_y": None, "num_elem": elements,
            "ms": 1e3 * took, "us_per_block": None, "of_first": None, "ns_per_node": each * num,
            "over_core": core / each / num, "paper_over_core": OVER_CORE["mean"],
        }  # fmt: skip


def rows(args: argparse.Namespace, devices: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Measure the rows of both figures; of figure 2 ns/node and "over core" are of each device."""
    yield from _figure1(args, devices)
    yield from _figure2(args, devices)


def draw(path: Path, result: dict[str, Any]) -> None:
    """Draw the time of a block by blocks along x and y, on all devices, and speed over one core."""
    blocks = [row for row in result["rows"] if row["figure"] == 1]
    most = max(row["devices"] for row in blocks)
    title = f"Komatitsch et al. (2010) on {len(result['devices'])} x {result['device']}"
    with figure(path, title, (9, 3.6), columns=2) as (one, two):
        last = [row for row in blocks if row["devices"] == most]
        for x in dict.fromkeys(row["blocks_x"] for row in last):
            line = [row for row in last if row["blocks_x"] == x]
            took = [row["us_per_block"] for row in line]
            one.plot([row["blocks_y"] for row in line], took, "o-", label=f"{x}")
        one.set(xlabel="blocks along y", ylabel=f"us a block and device ({most})", ylim=(0, None))
        one.set_xticks(sorted({row["blocks_y"] for row in last}))
        one.legend(title="along x", fontsize="small")
        sem = [row for row in result["rows"] if row["figure"] == 2]
        two.plot([row["devices"] for row in sem], [row["over_core"] for row in sem], "o-", label="here")
        least, most = OVER_CORE["least"], OVER_CORE["most"]
        two.axhspan(least, most, color="C1", alpha=0.5, label="paper, 4 to 192")
        two.set(xlabel="devices", ylabel="a device over one core", yscale="log")
        two.set_xticks([row["devices"] for row in sem])
        two.legend(fontsize="small")


def finish() -> None:
    """Print what the paper says, and of what."""
    print(
        f"paper, figure 2: {OVER_CORE['mean']} times one core on average, {OVER_CORE['least']} to "
        f"{OVER_CORE['most']}; of figure 1 it prints no numbers"
    )
