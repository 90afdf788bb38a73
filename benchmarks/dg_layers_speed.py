"""Time steps of DG with matched layers, beside those of a mesh of as many cells without.

Layers of four cells on all sides. ``python benchmarks/dg_layers_speed.py --device cuda -o FILE``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import unda
from unda.commands.measuring import origin

MEDIA = {
    "acoustic": (unda.Acoustic(rho=1000.0, c=1500.0), 1500.0),
    "elastic": (unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0), 3000.0),
}
SHAPES = ("hex", 24, 5), ("tet", 18, 4)  # cells an edge without layers, and degree
EDGE, LAYER = 600.0, 4


def step_time(sim: Any, steps: int) -> float:
    """Return the milliseconds of a step."""
    sim.step(max(2, steps // 10))
    begin = time.perf_counter()
    sim.step(steps)
    return 1e3 * (time.perf_counter() - begin) / steps


def runs(physics: str, device: str, steps: int) -> list[dict[str, Any]]:
    """Time both shapes of a physics."""
    medium, speed = MEDIA[physics]
    found = []
    for shape, cells, degree in SHAPES:
        h = EDGE / cells
        side = unda.CPML(f0=speed / (LAYER * h))
        inner = unda.box_mesh((0, 0, 0), (EDGE,) * 3, (cells,) * 3, shape=shape)
        whole = unda.box_mesh(
            (-LAYER * h,) * 3, (EDGE + LAYER * h,) * 3, (cells + 2 * LAYER,) * 3, shape=shape
        )
        with unda.DG(whole, medium, degree=degree, device=device) as sim:
            without, plain = step_time(sim, steps), sim.mesh.num_elem
        with unda.DG(inner, medium, degree=degree, boundary={"*": side}, device=device) as sim:
            took, num = step_time(sim, steps), sim.mesh.num_elem
        found.append(
            {"physics": physics, "shape": shape, "degree": degree, "cells": num,
             "cells_without_layer": plain, "layer_share": 1 - inner.num_elem / num, "ms_without": without,
             "ms": took}
        )  # fmt: skip
        print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("-o", "--output", type=Path, default=Path("dg_layers_speed.json"))
    args = parser.parse_args()
    made = [one for physics in MEDIA for one in runs(physics, args.device, args.steps)]
    head = {"benchmark": "dg_layers_speed", **origin(args.device, None)}
    args.output.write_text(json.dumps(head | {"runs": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
