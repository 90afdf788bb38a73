"""Time how long it takes to add many sources, and many receivers, at random points that are no nodes.

``python benchmarks/many_points.py -o benchmarks/results/epyc_many_points.json``; on the CPU, without a step.
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

MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


def simulation(name: str) -> Any:
    """Return DG of degree 2, or a scheme of finite differences, on a cube of 1 km."""
    if name == "dg":
        mesh = unda.box_mesh((0, 0, 0), (1000, 1000, 1000), cells=(20, 20, 20))
        return unda.DG(mesh, MEDIUM, degree=2, device="cpu")
    return unda.FD(unda.Grid((101, 101, 101), 10.0), MEDIUM, scheme=name, device="cpu")


def seconds(name: str, places: np.ndarray, repeats: int) -> dict[str, Any]:
    """Return the times of each repetition, every time with a new simulation: of sources, of receivers."""
    pulse, found = unda.ricker(10.0), {"method": name, "sources": [], "receivers": []}
    for _ in range(repeats):
        with simulation(name) as sim:
            sources = [unda.VolumeInjection(place, pulse) for place in places]
            begin = time.perf_counter()
            sim.add_source(sources)
            between = time.perf_counter()
            receivers = sim.add_receivers(places)
            found["sources"].append(between - begin)
            found["receivers"].append(time.perf_counter() - between)
            found["fields"] = len(receivers.fields)
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--num", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=Path("many_points.json"))
    args = parser.parse_args()
    warnings.simplefilter("ignore", unda.AccuracyWarning)
    places = np.random.default_rng(1).uniform(10.0, 980.0, (args.num, 3))
    rows = [seconds(name, places, args.repeats) for name in ("scalar", "staggered", "dg")]
    for row in rows:
        sources, receivers = min(row["sources"]), min(row["receivers"])
        print(f"{row['method']:>10} sources {sources:.2f} s, receivers {receivers:.2f} s")
    head = {"benchmark": "many_points", **heading("cpu", device_limits("cpu"), None), "num": args.num}
    args.output.write_text(json.dumps(head | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
