"""Energy of random fields in a corner of three layers of tetrahedra, over many time steps.

Layers that are added, and tagged cells whose vertices inside are moved. ``python
benchmarks/dg_layers_growth.py --device cuda -o FILE`` (2 minutes).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import origin

MEDIA = {
    "acoustic": (unda.Acoustic(rho=1.0, c=1.0), "rigid"),
    "elastic": (unda.Elastic(rho=1.0, vp=1.0, vs=0.55), "symmetry"),
    "maxwell": (unda.Maxwell(eps=1.0, mu=1.0), "pec"),
}
CASES = [
    ("acoustic", 4, "float32", "added"), ("elastic", 4, "float32", "added"),
    ("maxwell", 4, "float32", "added"), ("elastic", 3, "float32", "added"),
    ("maxwell", 3, "float64", "added"), ("maxwell", 2, "float32", "added"),
    ("acoustic", 4, "float32", "tagged"), ("elastic", 4, "float32", "tagged"),
    ("acoustic", 3, "float64", "tagged"), ("elastic", 3, "float64", "tagged"),
    ("maxwell", 4, "float32", "tagged"), ("maxwell", 3, "float64", "tagged"),
    ("maxwell", 2, "float64", "tagged"), ("elastic", 2, "float64", "tagged"),
]  # fmt: skip
SIZE, WAVE = 0.5, 1.0  # of the inner cube, and the thickness of layers [m]


def tagged() -> unda.Mesh:
    """Return a cube with layers beyond SIZE, whose vertices are moved but in the planes where layers end."""
    edge = SIZE + WAVE
    box = unda.box_mesh((0, 0, 0), (edge,) * 3, (3, 3, 3), shape="tet")
    moved = 0.2 * SIZE * np.random.default_rng(1).uniform(-1, 1, box.vertices.shape)
    fixed = np.abs(box.vertices[..., None] - [0.0, SIZE, edge]).min(axis=-1) < 1e-9
    names = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    return unda.Mesh(
        box.vertices + np.where(fixed, 0.0, moved), box.cells, boundaries=names,
        tags=(box.centroids.max(axis=1) > SIZE).astype(np.int32), tag_names={"inside": 0, "layer": 1},
    )  # fmt: skip


def run(case: tuple[str, int, str, str], steps: int, device: str) -> dict[str, Any]:
    """Return the energies of a case, eleven of them, over the first."""
    physics, degree, dtype, kind = case
    medium, wall = MEDIA[physics]
    mesh = tagged() if kind == "tagged" else unda.box_mesh((0, 0, 0), (SIZE,) * 3, (1, 1, 1), shape="tet")
    layer = unda.CPML(f0=1 / WAVE, tag="layer" if kind == "tagged" else None)
    boundary = {side: layer for side in ("xmax", "ymax", "zmax")} | {"*": wall}
    with unda.DG(mesh, medium, degree=degree, boundary=boundary, device=device, dtype=dtype) as sim:
        noise = np.random.default_rng(0)
        shape = (sim.mesh.num_elem, sim.num_node)
        sim.set(**{name: noise.standard_normal(shape) for name in sim.fields if name[0] != "s"})
        energies = [sim.energy()]
        for _ in range(10):
            sim.step(steps // 10)
            energies.append(sim.energy())
    one = {
        "physics": physics, "degree": degree, "dtype": dtype, "layers": kind, "steps": steps,
        "energy": [value / energies[0] for value in energies],
    }  # fmt: skip
    print(one, flush=True)
    return one


def main() -> None:
    """Run the cases, five at a time, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("-o", "--output", type=Path, default=Path("dg_layers_growth.json"))
    args = parser.parse_args()
    with ProcessPoolExecutor(5, multiprocessing.get_context("spawn")) as pool:
        made = list(pool.map(run, CASES, [args.steps] * len(CASES), [args.device] * len(CASES)))
    head = {"benchmark": "dg_layers_growth", **origin(args.device, None)}
    args.output.write_text(json.dumps(head | {"runs": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
