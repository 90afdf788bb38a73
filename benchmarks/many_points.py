"""Time adding many sources and receivers at random points that are no nodes, and the first step.

``python benchmarks/many_points.py -o benchmarks/results/epyc_many_points.json``; on the CPU. Seconds of the
processor count all threads; those of the calling thread are what the clock would say if nothing else were
computed, with ``OMP_WAIT_POLICY=passive``, since it shares each loop with the others.
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


def over(value: float) -> Any:
    """Return a parameter that varies."""
    return lambda x, y, z: value * (1 + 1e-4 * x)


FLUID, SOLID = unda.Acoustic(rho=1000.0, c=1500.0), unda.Elastic(rho=1000.0, vp=2000.0, vs=1000.0)
VARIED_FLUID = unda.Acoustic(rho=over(1000.0), c=over(1500.0))
CASES: dict[str, tuple[Any, dict[str, Any]]] = {  # media, and options of grids, or method and shape of meshes
    "scalar": (FLUID, {"scheme": "scalar"}),
    "scalar, varied": (unda.Acoustic(rho=1000.0, c=over(1500.0)), {"scheme": "scalar"}),
    "staggered": (FLUID, {"scheme": "staggered"}),
    "staggered, varied": (VARIED_FLUID, {"scheme": "staggered"}),
    "staggered elastic": (SOLID, {"scheme": "staggered"}),
    "staggered Maxwell": (unda.Maxwell(eps=8.85e-12, mu=1.2566e-6), {"scheme": "staggered"}),
    "sem fluid": (FLUID, {"method": unda.SEM, "shape": "hex", "degree": 4}),
    "sem solid": (SOLID, {"method": unda.SEM, "shape": "hex", "degree": 4}),
    "dg hexahedra": (FLUID, {"method": unda.DG, "shape": "hex", "degree": 3}),
    "dg tetrahedra": (FLUID, {"method": unda.DG, "shape": "tet", "degree": 3}),
}


def simulation(name: str) -> Any:
    """Return a simulation of a cube of 1 km: 101^3 nodes, 20^3 hexahedra or 10,368 tetrahedra."""
    medium, options = CASES[name]
    if "scheme" in options:
        return unda.FD(unda.Grid((101, 101, 101), 10.0), medium, device="cpu", **options)
    cells = (20, 20, 20) if options["shape"] == "hex" else (12, 12, 12)
    mesh = unda.box_mesh((0, 0, 0), (1000, 1000, 1000), cells=cells, shape=options["shape"])
    return options["method"](mesh, medium, degree=options["degree"], device="cpu")


def seconds(action: Any) -> np.ndarray:
    """Return seconds of the clock, of the processor and of this thread that an action takes."""
    clocks = time.perf_counter, time.process_time, time.thread_time
    begin = [clock() for clock in clocks]
    action()
    return np.subtract([clock() for clock in clocks], begin)


def measure(name: str, places: np.ndarray, repeats: int) -> dict[str, Any]:
    """Return the least times of some repetitions, every time with a new simulation."""
    pulse, delays, found = unda.ricker(10.0), np.linspace(0.0, 0.1, len(places)), []
    direction = (0.0, 0.0, 1.0) if name.endswith("Maxwell") else None
    for _ in range(repeats):
        with simulation(name) as sim:
            room = np.ones(1 << 28)  # so that pages are there, which a virtual machine gives slowly
            del room
            sources = unda.Array(places, pulse, delays=delays, direction=direction)
            add, first, later = (
                seconds(lambda sim=sim, sources=sources: sim.add_source(sources)),
                seconds(sim.step),
                seconds(sim.step),
            )
        with simulation(name) as sim:
            receivers = seconds(lambda sim=sim: sim.add_receivers(places))
        found.append([add, first - later, later, receivers])
    best = np.min(found, axis=0).round(3)
    keys = "add_source", "first_step_more", "later_step", "add_receivers"
    kinds = ("", 0), ("_processor", 1), ("_thread", 2)
    return {"case": name} | {
        key + kind: float(row[i]) for key, row in zip(keys, best, strict=True) for kind, i in kinds
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--num", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=tuple(CASES), default=tuple(CASES))
    parser.add_argument("-o", "--output", type=Path, default=Path("many_points.json"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", unda.AccuracyWarning)
    places = np.random.default_rng(1).uniform(10.0, 980.0, (args.num, 3))
    rows = []
    for name in args.cases:
        rows.append(measure(name, places, args.repeats))
        print(" ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    head = {"benchmark": "many_points", **heading("cpu", device_limits("cpu"), None), "num": args.num}
    args.output.write_text(json.dumps(head | {"runs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
