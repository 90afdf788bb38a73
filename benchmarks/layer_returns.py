"""What absorbing layers of the staggered schemes return: the tables of docs/absorbing_layers.md.

``python benchmarks/layer_returns.py [order]``: a strip of 81 x 220 nodes, h = 10 m, of Komatitsch &
Martin's (2007) solid (vp 3300 m/s, vs 1905 m/s), with the same layer on all sides; a force at 135 degrees in
the middle of it, or five nodes from a layer, 25 nodes from the end; receivers 2, 40, 90 and 170 nodes along
the strip. Against a grid of 301 x 470 nodes, from which nothing returns in 1.36 s. In percent of each
direct trace (vx and vz, L2).
"""

from __future__ import annotations

import sys

import numpy as np
import unda

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


def main() -> None:
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
                        wrong = ((found - direct) ** 2).sum(axis=(1, 2)) / (direct**2).sum(axis=(1, 2))
                        row += [f"{100 * one:.2g}" for one in np.sqrt(wrong)]
                    print(f"| {name}{known} | {width} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
