"""What absorbing layers of the scalar scheme return: against grids so wide that nothing comes back.

Two models in two dimensions, 20 m, a Ricker wavelet of 5 Hz near the top: a gradient of velocity, and dipping
strata of 1500 to 4700 m/s. An error is the L2 norm of the difference over that of the trace, the largest of
five receivers, three of them a few nodes from layers. Writes JSON.

    python benchmarks/absorbing_layers.py [--out results/absorbing_layers.json]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
import unda
from unda.commands.measuring import heading

NX, NZ, F0, UNTIL = 150, 100, 5.0, 3.0
RECEIVERS = ((75, 50), (20, 5), (140, 3), (75, 97), (146, 50))
SOURCE = (75, 3)
LAYERS: dict[str, Any] = {
    "default": None,
    "default, fmax=12.5": None,
    **{
        f"CPML({n}, f0={f0:g})": unda.CPML(n, f0=f0)
        for n in (5, 10, 20)
        for f0 in (1.0, 2.5, 5.0, 10.0, 20.0)
    },
    **{f"Damping({n})": unda.Damping(n) for n in (10, 20, 40, 80)},
}


def gradient(h: float, shape: tuple[int, int]) -> np.ndarray:
    """1500 m/s at the top, 1 m/s more each metre (nx, nz)."""
    return np.broadcast_to(1500.0 + h * np.arange(shape[1]), shape).copy()


def strata(h: float, shape: tuple[int, int]) -> np.ndarray:
    """Dipping, folded beds with a fault over a gradient, 1500 to 4700 m/s (nx, nz)."""
    x, z = np.meshgrid(h * np.arange(shape[0]), h * np.arange(shape[1]), indexing="ij")
    bed = z + 0.15 * x * np.sin(x / 2500) + 120 * np.sin(x / 700)
    c = 1500 + 0.9 * np.maximum(bed, 0) + np.where(bed > 400, 350 * np.sign(np.sin(bed / 130)), 0)
    c += np.where((x > 0.55 * h * shape[0]) & (z > 900), 500, 0)
    return np.clip(c, 1500, 4700)


MODELS = {"gradient": gradient, "strata": strata}


def traces(
    c: np.ndarray, h: float, first: tuple[int, int], boundary: Any, dt: float, **options: Any
) -> np.ndarray:
    """Pressure (receivers, samples) of the shot; first: the place of node (0, 0) of the model in c."""
    grid = unda.Grid((c.shape[0], 1, c.shape[1]), h, origin=(-h * first[0], 0.0, -h * first[1]))
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=c[:, None]), boundary=boundary, dt=dt, **options)
    sim.add_source(unda.VolumeInjection((h * SOURCE[0], 0.0, h * SOURCE[1]), unda.ricker(F0)))
    rec = sim.add_receivers([(h * x, 0.0, h * z) for x, z in RECEIVERS], ["p"])
    sim.run(until=UNTIL)
    return rec["p"]


def returned(name: str, h: float, layers: dict[str, Any], order: int = 4, **options: Any) -> dict[str, float]:
    """Return what comes back from each kind of layer [%]: the largest error of the receivers."""
    c = MODELS[name](h, (NX, NZ))
    dt = unda.FD(
        unda.Grid((NX, 1, NZ), h), unda.Acoustic(rho=1.0, c=c[:, None]), order=order, device="cpu"
    ).dt
    pad = int(0.5 * c.max() * UNTIL / h) + 2
    wide = np.pad(c, pad, mode="edge")
    direct = traces(wide, h, (pad, pad), {"*": unda.CPML(20, f0=F0)}, dt, order=order, **options)
    found = {}
    for what, layer in layers.items():
        more = {"fmax": 2.5 * F0} if "fmax" in what else {}
        got = traces(c, h, (0, 0), {"*": layer or "absorbing"}, dt, order=order, **more, **options)
        found[what] = 100 * float(
            np.max(np.linalg.norm(got - direct, axis=1) / np.linalg.norm(direct, axis=1))
        )
    return found


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out")
    parser.add_argument("--spacing", type=float, default=20.0, help="[m]")
    args = parser.parse_args()
    rows = []
    for name in MODELS:
        for what, percent in returned(name, args.spacing, LAYERS, dtype="float64", device="cpu").items():
            rows.append({"model": name, "spacing": args.spacing, "layer": what, "returned_percent": percent})
            print(f"{name:10s} {what:22s} {percent:8.3f} %", flush=True)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            about = heading("cpu", unda.device_limits("cpu"), None)
            json.dump({"benchmark": "absorbing_layers", **about, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
