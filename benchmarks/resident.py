"""Time what monitors and displacements add to a step of DG in launches of many steps.

About a thousand cells and a source; six nodes in its shortest wavelength, monitors of the first field sampled
as they are by default, and one of each step; 100 receivers that record v or displacements after each step.
``python benchmarks/resident.py -o FILE``, on a CUDA device.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import heading
from unda.limits import device_limits

MEDIA = {
    "acoustic": unda.Acoustic(rho=1000.0, c=1500.0),
    "elastic": unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0),
    "maxwell": unda.Maxwell(eps=1.0, mu=1.0),
}
SPEED = {"acoustic": 1500.0, "elastic": 1700.0, "maxwell": 1.0}
SIZE, BRICKS, PER_WAVELENGTH = (1200.0, 1200.0, 1000.0), (6, 6, 5), 6
CALLS = 512, 2560  # steps of a call; a step takes the difference
WARM_SECONDS = 0.3
#: What a step has besides: kinds of monitors, frequencies, steps from sample to sample.
MONITORS = (
    [("max", 0, None)], [("rms", 0, None)], [("dft", 1, None)], [("dft", 4, None)],
    [("max", 0, None), ("dft", 1, None)], [("max", 0, 1)],
)  # fmt: skip


def made(physics: str, degree: int, integrator: Any, most: int) -> tuple[Any, Any]:
    """Return a simulation of 1,080 cells and the signal of its source."""
    mesh = unda.box_mesh((0, 0, 0), SIZE, BRICKS, perturb=0.1, seed=1)
    sim = unda.DG(
        mesh, MEDIA[physics], degree=degree, integrator=integrator, device="cuda", kernel="fused",
        kernel_options={"resident": most},
    )  # fmt: skip
    pulse = unda.ricker(SPEED[physics] * (degree + 1) / 200.0 / PER_WAVELENGTH / 2.5)
    place = tuple(0.41 * np.array(SIZE))
    if physics == "maxwell":
        sim.add_source(unda.CurrentDipole(place, pulse, direction=(1, 2, 3)))
    else:
        sim.add_source(unda.VolumeInjection(place, pulse))
    return sim, pulse


def step_time(sim: Any, repeats: int = 9) -> float:
    """Return the microseconds of a step: the difference of the least times of calls."""
    took: dict[int, list[float]] = {num: [] for num in CALLS}
    begin = time.perf_counter()
    while time.perf_counter() - begin < WARM_SECONDS:  # compiles; clocks rise
        sim.step(CALLS[0])
    for _ in range(repeats):
        for num in CALLS:
            begin = time.perf_counter()
            sim.step(num)
            took[num].append(time.perf_counter() - begin)
    few, many = (min(took[num]) for num in CALLS)
    return 1e6 * (many - few) / (CALLS[1] - CALLS[0])


def runs(physics: str, degree: int, integrator: str, most: int) -> list[dict[str, Any]]:
    """Time a problem with a source alone, with monitors, with receivers of v, and of displacements."""
    found: list[dict[str, Any]] = []

    def add(sim: Any, what: str, beside: str, every: int | None = None) -> None:
        step = step_time(sim)
        before = next((one["us"] for one in found if one["with"] == beside), step)
        found.append(
            {"physics": physics, "degree": degree, "integrator": integrator, "cells": sim.mesh.num_elem,
             "resident": most, "with": what, "every": every, "us": round(step, 3), "beside": beside,
             "percent": round(100 * step / before - 100, 1)}
        )  # fmt: skip
        print(found[-1], flush=True)

    sim, pulse = made(physics, degree, integrator, most)
    with sim:
        add(sim, "nothing", "nothing")
        for kinds in MONITORS:
            monitors = []
            for kind, num, every in kinds:
                more = {"frequencies": pulse.fmax / 2.5 * (1 + np.arange(num) / 4)} if num else {}
                monitors += [sim.add_monitor(sim.fields[0], kind, every=every, **more)]
            name = " and ".join(f"{kind}{num or ''}" for kind, num, _ in kinds)
            add(sim, name, "nothing", min(one.every for one in monitors))
            sim.clear_monitors()
        add(sim, "nothing, again", "nothing")
    at = np.random.default_rng(1).random((100, 3)) * 0.8 * np.array(SIZE) + 0.1 * np.array(SIZE)
    for name in "vu" if physics != "maxwell" else "":
        sim, _ = made(physics, degree, integrator, most)
        with sim:
            sim.add_receivers(at, [name + axis for axis in "xyz"])
            add(sim, name, "v")
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--physics", nargs="*", default=list(MEDIA))
    parser.add_argument("--integrators", nargs="*", default=["ab3", "lsrk4"])
    parser.add_argument("--degrees", nargs="*", type=int, default=[3])
    parser.add_argument("--resident", type=int, default=256, help="most steps of a launch; 1: stage by stage")
    parser.add_argument("-o", "--output", type=Path, default=Path("resident.json"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", unda.AccuracyWarning)
    head = {"benchmark": "resident", **heading("cuda", device_limits("cuda"), None)}
    head["unit"] = f"us: microseconds of a step, from calls of {CALLS[0]} and {CALLS[1]} steps"
    cases = [(p, n, i) for p in args.physics for n in args.degrees for i in args.integrators]
    found = [run for case in cases for run in runs(*case, args.resident)]
    args.output.write_text(json.dumps(head | {"runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
