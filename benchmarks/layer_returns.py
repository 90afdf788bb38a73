"""What absorbing layers of the staggered schemes return: the tables of docs/absorbing_layers.md.

``python benchmarks/layer_returns.py [order]``, or ``thin``: a strip of 81 x 220 nodes, h = 10 m, of
Komatitsch & Martin's (2007) solid (vp 3300 m/s, vs 1905 m/s), with the same layer on all sides; a force at
135 degrees in the middle of it, or five nodes from a layer, 25 nodes from the end; receivers 2, 40, 90 and
170 nodes along the strip. Against a grid of 301 x 470 nodes, from which nothing returns in 1.36 s. In percent
of each direct trace (vx and vz, L2). "thin": CPMLs of 2 to 20 nodes, made for 1/10 to 48 times the frequency
that there is, the largest of receivers as far as 90 nodes, of either place, and what `check` expects.
"""

from __future__ import annotations

import sys

import numpy as np
import unda
from unda.problem import layer_returns

H, UNTIL = 10.0, 1.36
SOLID = unda.Elastic(rho=2800.0, vp=3300.0, vs=3300.0 / 1.732)
AWAY = (2, 40, 90, 170)


def strip(
    shape: tuple[int, int], place: tuple[int, int], f0: float, order: int, layer: unda.CPML
) -> np.ndarray:
    """Traces (receivers, 2, samples) of vx and vz."""
    sim = unda.FD(
        unda.Grid((shape[0], 1, shape[1]), H), SOLID, scheme="staggered", order=order, boundary={"*": layer},
        device="cpu", sample_dt=2e-3,
    )  # fmt: skip
    x, z = H * place[0], H * place[1]
    angle = np.deg2rad(135.0)
    sim.add_source(
        unda.PointForce((x, 0.0, z), unda.ricker(f0, t0=1.2 / f0), (np.cos(angle), 0.0, np.sin(angle)))
    )
    points = [(x, 0.0, z + H * one) for one in AWAY]
    rec = sim.add_receivers(points, ["vx", "vz"])
    sim.run(until=UNTIL)
    return np.stack([rec["vx"], rec["vz"]], axis=1)


def returned(found: np.ndarray, direct: np.ndarray) -> np.ndarray:
    """Return what a strip differs by from the wide grid, at each receiver, in percent."""
    wrong: np.ndarray = ((found - direct) ** 2).sum(axis=(1, 2)) / (direct**2).sum(axis=(1, 2))
    return 100.0 * np.sqrt(wrong)


def thin(f0: float = 7.0, order: int = 4) -> None:
    """Print what thin layers return, and those made for other frequencies."""
    direct = strip((301, 470), (150, 150), f0, order, unda.CPML(40, f0=f0, R0=1e-8, ratio=0.0))
    ratios = (0.1, 0.3, 1.0, 3.0, 6.0, 12.0, 24.0, 48.0)
    print("| nodes | " + " | ".join(f"f0 x {one:g}" for one in ratios) + " |")
    for width in (2, 3, 4, 5, 8, 10, 20):
        row = []
        for ratio in ratios:
            layer = unda.CPML(width, f0=ratio * f0, ratio=0.0)
            found = [
                returned(strip((81, 220), (across, 25), f0, order, layer), direct)[:3].max()
                for across in (40, 5)
            ]
            made = unda.CPML(width, R0=1e-6 if width >= 10 else 1e-5 if width >= 8 else 1e-4)
            given = {"c": SOLID.vp, "h": H, "dt": 0.9 * H / (SOLID.vp * 7 / 6 * np.sqrt(2.0))}
            expected = 100.0 * layer_returns.returned_at_most(made, ratio * f0, f0, **given)
            row.append(f"{found[0]:.2g}, {found[1]:.2g} ({expected:.2g})")
        print(f"| {width} | " + " | ".join(row) + " |", flush=True)


def main() -> None:
    if sys.argv[1:] == ["thin"]:
        thin()
        return
    order = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    for f0, what in ((7.0, "11 nodes"), (9.5, "8 nodes")):
        direct = strip((301, 470), (150, 150), f0, order, unda.CPML(40, f0=f0, R0=1e-8, ratio=0.0))
        print(f"order {order}, {f0:g} Hz: {what} in the shortest wavelength, in percent")
        print("| layer | width | " + " | ".join(f"{one} nodes" for one in AWAY * 2) + " |")
        for width in (10, 20):
            for name, ratio in (("CPML", 0.0), ("multiaxial", 0.1), ("sponge", 1.0)):
                for known, given in (("", None), (", f0 given", f0)):
                    row = []
                    for across in (40, 5):
                        layer = unda.CPML(width, f0=given, ratio=ratio)
                        found = strip((81, 220), (across, 25), f0, order, layer)
                        row += [f"{one:.2g}" for one in returned(found, direct)]
                    print(f"| {name}{known} | {width} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
