"""Energy of elastic noise between walls that face each other, in layers of DG, over many time steps.

Cubes and plates with layers at one end, at both, at two sides that meet, or on all sides but a free top; the
ratio is that of the rule. ``python benchmarks/dg_guides_growth.py --jobs 16 -o FILE`` (some 5 minutes).
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import origin

#: Sides with layers, and cells of the mesh, each half a P wavelength; layers are one thick.
PLACES = {
    "one end": (("xmin",), (1, 1, 1)),
    "both ends": (("xmin", "xmax"), (1, 1, 1)),
    "both ends of a plate": (("xmin", "xmax"), (2, 2, 1)),
    "two sides of a plate": (("xmin", "ymax"), (2, 2, 1)),
}
Case = tuple[str, int, float, str, str]
CASES: list[Case] = [
    (shape, degree, vs, wall, place)
    for shape, degrees in (("tet", (2, 3, 4)), ("hex", (2, 4)))
    for degree, vs, wall, place in itertools.product(
        degrees, (0.1, 0.3, 0.55, 0.7), ("free", "fixed"), PLACES
    )
] + [("tet", degree, vs, "free", "all but the top") for degree in (2, 3) for vs in (0.3, 0.55)]


def run(case: Case, steps: int) -> dict[str, Any]:
    """Return the energies of a case, eleven of them, over the first."""
    shape, degree, vs, wall, place = case
    sides, cells = PLACES.get(place, (("*",), (1, 1, 1)))
    boundary: dict[str, Any] = {"*": wall} | dict.fromkeys(sides, unda.CPML(f0=1.0))
    if place not in PLACES:
        boundary["zmax"] = wall
    upper = tuple(0.5 * n for n in cells)
    with unda.DG(
        unda.box_mesh((0, 0, 0), upper, cells, shape=shape), unda.Elastic(rho=1.0, vp=1.0, vs=vs),
        degree=degree, boundary=boundary, device="cpu", threads=1,
        dtype="float64" if degree < 4 else "float32",
    ) as sim:  # fmt: skip
        noise = np.random.default_rng(0)
        nodes = (sim.mesh.num_elem, sim.num_node)
        sim.set(**{name: noise.standard_normal(nodes) for name in ("vx", "vy", "vz")})
        energies = [sim.energy()]
        for _ in range(10):
            sim.step(steps // 10)
            energies.append(sim.energy())
        ratios = {one["ratio"] for one in sim.config["layers"]["sides"].values()}
    one = {
        "shape": shape, "degree": degree, "vs/vp": vs, "walls": wall, "layers": place, "steps": steps,
        "ratio": max(ratios), "energy": [float(f"{value / energies[0]:.3g}") for value in energies],
    }  # fmt: skip
    print(one, flush=True)
    return one


def main() -> None:
    """Run the cases side by side, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--steps", type=int, default=30_000)
    parser.add_argument("-o", "--output", type=Path, default=Path("dg_guides_growth.json"))
    args = parser.parse_args()
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        runs = list(pool.map(run, CASES, [args.steps] * len(CASES)))
    found = {"benchmark": "dg_guides_growth", **origin("cpu", None), "runs": runs}
    args.output.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
