"""Time what monitors add to a step, sampled as often as they are by default.

Six nodes in the shortest wavelength of the source. ``python benchmarks/monitors.py --device cuda -o FILE``;
with ``--device cpu`` on smaller problems.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import heading
from unda.limits import device_limits

WATER, ROCK = unda.Acoustic(rho=1000.0, c=1500.0), unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0)
PER_WAVELENGTH = 6
KINDS = ("max", 0), ("rms", 0), ("dft", 1), ("dft", 4)  # with so many frequencies
FIELDS = {"SEM N = 4": ("chi", "p"), "SEM N = 4, elastic": ("ux", "vx")}  # else the first one

Problem = Callable[[str], tuple[Any, float]]  # to the simulation and the distance of its nodes


def grid(medium: unda.Medium, scheme: str, n: int, cpu: int) -> Problem:
    """Return finite differences of order 4 on n^3 nodes, on the CPU cpu^3."""
    return lambda device: (
        unda.FD(
            unda.Grid((cpu if device == "cpu" else n,) * 3, 10.0),
            medium,
            order=4,
            scheme=scheme,
            device=device,
        ),
        10.0,
    )


def mesh(medium: unda.Medium, shape: str, degree: int, n: int, cpu: int) -> Problem:
    """Return DG on n^3 bricks, on the CPU cpu^3."""

    def made(device: str) -> tuple[Any, float]:
        num = cpu if device == "cpu" else n
        box = unda.box_mesh((0, 0, 0), (1000,) * 3, (num,) * 3, shape=shape)
        return unda.DG(box, medium, degree=degree, device=device), 1000 / num / (degree + 1)

    return made


def elements(medium: unda.Medium, degree: int, n: int, cpu: int) -> Problem:
    """Return spectral elements on n^3 cubes, on the CPU cpu^3."""

    def made(device: str) -> tuple[Any, float]:
        num = cpu if device == "cpu" else n
        box = unda.box_mesh((0, 0, 0), (1000,) * 3, (num,) * 3, shape="hex")
        return unda.SEM(box, medium, degree=degree, device=device), 1000 / num / degree

    return made


CASES = {
    "FD scalar": grid(WATER, "scalar", 512, 160),
    "FD staggered acoustic": grid(WATER, "staggered", 384, 128),
    "FD staggered elastic": grid(ROCK, "staggered", 320, 96),
    "DG hexahedra N = 7": mesh(WATER, "hex", 7, 32, 8),
    "DG tetrahedra N = 4": mesh(WATER, "tet", 4, 32, 10),
    "DG tetrahedra N = 4, elastic": mesh(ROCK, "tet", 4, 28, 8),
    "SEM N = 4": elements(WATER, 4, 80, 24),
    "SEM N = 4, elastic": elements(ROCK, 4, 64, 16),
}


REPEATS = 7
BATCH = 48  # steps that samples of every third one are held for, at most


def step_time(sim: Any, seconds: float, clock: Callable[[], float]) -> float:
    """Return the seconds of a step, once all memory has been written to."""
    begin = clock()
    sim.step(BATCH)
    num = max(1, round(seconds / REPEATS / (clock() - begin))) * BATCH
    begin = clock()
    sim.step(num)
    return (clock() - begin) / num


def runs(name: str, device: str, seconds: float) -> list[dict[str, Any]]:
    """Time a problem without a monitor and with each kind, of each field, in turns: the least times.

    On the CPU by the processor time of all threads, which others' load disturbs less.
    """
    sim, apart = CASES[name](device)
    clock = time.process_time if device == "cpu" else time.perf_counter
    threads = sim.config["threads"] if device == "cpu" else 1
    kinds = [(field, *kind) for field in FIELDS.get(name, sim.fields[:1]) for kind in KINDS]
    asked = [(None, None, 0), *kinds, (None, None, 0)]  # the last one: what timings are worth
    took: list[list[float]] = [[] for _ in asked]
    every: list[int | None] = [None for _ in asked]
    with sim:
        speed = 1500.0 if sim.medium is WATER else 1700.0
        pulse = unda.ricker(speed / apart / PER_WAVELENGTH / 2.5)
        sim.add_source(unda.VolumeInjection((401.0, 402.0, 403.0), pulse))
        for _ in range(REPEATS):
            for i, (field, kind, num) in enumerate(asked):
                more = {"frequencies": pulse.fmax / 2.5 * (1 + np.arange(num) / 4)} if num else {}
                every[i] = sim.add_monitor(field, kind, **more).every if kind else None
                took[i].append(1e3 * step_time(sim, seconds, clock) / threads)
                sim.clear_monitors()
    found = []
    for (field, kind, num), often, ms in zip(asked, every, took, strict=True):
        found.append(
            {"case": name, "field": field, "monitor": kind, "frequencies": num, "every": often,
             "ms": min(ms), "percent": 100 * min(ms) / min(took[0]) - 100}
        )  # fmt: skip
        print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--cases", nargs="*", default=CASES, help="names of problems, or their beginnings")
    parser.add_argument("-o", "--output", type=Path, default=Path("monitors.json"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", unda.AccuracyWarning)
    head = {"benchmark": "monitors", **heading(args.device, device_limits(args.device), None)}
    names = [name for name in CASES if any(name.startswith(one) for one in args.cases)]
    found = [run for name in names for run in runs(name, args.device, args.seconds)]
    args.output.write_text(json.dumps(head | {"runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
