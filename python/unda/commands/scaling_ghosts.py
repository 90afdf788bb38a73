"""The share of a stage that parts of a mesh spend waiting for their ghosts: ``unda bench scaling --ghosts``.

After figures 6 and 7 of Hanindhito et al. (2022), whose parts send cells next to a cut: all that is stored of
them, then the 27 % that neighbours need, while cells inside are computed; unda sends the faces alone. Here
messages have the bytes of each, and are waited for before a stage or behind its inner cells; what a stage
takes longer than one that sends nothing is waiting. Packing is that of faces. Not here: the exchange
(csrc/dg/ghosts.c).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._core import lib
from ..errors import ArgumentError
from . import dg_case
from .measuring import Columns, figure
from .scaling_case import CASES, problem, simulation, time_step

#: What their ghosts keep of a cell (their table 4), and what this saved in their figures 6 and 7 [%].
KEPT = 0.27
SAVED = {"one node": 72.81, "several nodes": 75.83, "asynchronous progress": 56.74}

COLUMNS: Columns = (
    ("case", "case", "s"), ("devices", "devices", "d"), ("transport", "transport", "s"), ("sent", "way", "s"),
    ("MB/stage", "megabytes", ".3g"), ("ms/step alone", "alone_ms", ".4g"), ("before", "before_ms", ".4g"),
    ("behind", "behind_ms", ".4g"), ("% waiting", "before", ".1f"), ("% overlapped", "behind", ".1f"),
)  # fmt: skip


def _ways(sim: Any) -> dict[str, float]:
    """Return how many times the bytes of faces are sent by each way."""
    nodes, _, _ = sim.team._trace
    faces = nodes * sum(one.cut_faces for one in sim.team.members)
    cells = sim.num_node * sum(one.ghosts for one in sim.team.members)
    # of low degrees whole cells are no more than their faces, where they have several at a cut
    needed = max(1.0, cells / faces)
    return {"whole cells": needed / KEPT, "27 % of this": needed, "faces": 1.0}


def _step(sim: Any, when: int, weight: float, seconds: float) -> float:
    """Return the milliseconds of a step with such an exchange, from the same state."""
    sim._solver.call(lib.unda_solver_set_exchange, when, weight)
    dg_case.set_wave(sim)
    sim.step(20)
    return 1e3 * time_step(sim, seconds)


def rows(args: argparse.Namespace, devices: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Measure each case, transport and way, with as many nodes on each device as --nodes says."""
    others = [name for name in args.cases.split(",") if CASES[name].method != "dg"]
    if others or len(devices) < 2:
        raise ArgumentError(
            f"--ghosts of {','.join(others) or 'one device'}: expected cases of DG on two devices or more"
        )
    options = {"dtype": args.dtype, "integrator": args.integrator, "physics": args.physics}
    transports = ("peer", "host") if args.transport == "auto" else (args.transport,)
    for name in args.cases.split(","):
        mesh = problem(CASES[name], args.nodes, len(devices))
        for transport in transports:
            with simulation(CASES[name], mesh, options, list(devices), transport=transport) as sim:
                alone = _step(sim, lib.UNDA_EXCHANGE_NEVER, 1.0, args.seconds)
                for way, weight in _ways(sim).items():
                    row = {
                        "case": name, "devices": len(devices), "transport": transport, "way": way,
                        "weight": weight,
                        "megabytes": 1e-6 * weight * sim.team._bytes(), "alone_ms": alone,
                        "before_ms": _step(sim, lib.UNDA_EXCHANGE_BEFORE, weight, args.seconds),
                        "behind_ms": _step(sim, lib.UNDA_EXCHANGE_BEHIND, weight, args.seconds),
                        "num_elem": sim.mesh.num_elem, **options,
                    }  # fmt: skip
                    for when in ("before", "behind"):
                        row[when] = 100 * (1 - alone / row[f"{when}_ms"])
                    yield row


def draw(path: Path, result: dict[str, Any]) -> None:
    """Draw the shares of a stage: waiting before it, and behind its inner cells."""
    of = result["rows"]
    title = f"DG {result['physics']}, {len(result['devices'])} x {result['device']}"
    with figure(path, title, (max(6.4, 0.9 * len(of)), 4)) as axes:
        names = [
            f"{row['case']}\n{row['transport']}\n{row['way'].replace(' of', chr(10) + 'of')}" for row in of
        ]
        for shift, when, text in ((-0.2, "before", "waiting first"), (0.2, "behind", "behind inner cells")):
            axes.bar([i + shift for i in range(len(of))], [row[when] for row in of], 0.4, label=text)
        axes.set_xticks(range(len(of)), names, fontsize="x-small")
        axes.axhline(0, color="black", lw=0.8)
        axes.set(ylabel="% of a stage spent waiting for ghosts")
        axes.legend(fontsize="small")


def finish() -> None:
    """Print what the paper saved, and what is not here."""
    print(
        f"paper: 27 % of a cell instead of all saved up to {SAVED['one node']} % of the waiting on one node, "
        f"{SAVED['several nodes']} % on several; asynchronous progress "
        f"{SAVED['asynchronous progress']} %, on average"
    )
    print("messages of MPI and NCCL are not measured: all devices are of one process here")
