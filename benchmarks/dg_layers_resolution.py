"""What a matched layer of DG returns at 0 to 75 degrees, of waves that the mesh resolves more or less.

As dg_layers.py, in a layer one wavelength of the fastest wave thick, but from a line of points so near to
each other that there are no other waves. SH waves of speed 0.55 on several meshes: "own" is how much the wave
that has met no side differs from that on cells of a quarter and degree 7, at the receivers but the first,
over the return of a mirror there; "low", "high" are the largest part of a spectrum below and above 1.25
times the main frequency, over the largest of the mirror's. Other waves on two or three. Writes
benchmarks/results/dg_layers_resolution.json; a quarter of an hour on two cores.
Next: docs/absorbing_layers.md.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import unda
from scipy.interpolate import CubicSpline
from unda.commands.measuring import origin

ANGLES = (0, 20, 30, 45, 60, 75)
MESHES = [
    ("hex", 3, 4), ("hex", 3, 5), ("hex", 4, 4), ("tet", 3, 4), ("tet", 3, 5), ("tet", 4, 4), ("tet", 3, 6),
]  # fmt: skip
FEW = [("hex", 3, 4), ("tet", 4, 4)]  # shape, cells in a unit of length, degree
OTHERS = {"SH": [], "force in the plane": [FEW[0], ("hex", 3, 5), FEW[1]]}
FINE = ("hex", 4, 7)
ROCK, LIGHT = unda.Elastic(rho=1.0, vp=1.0, vs=0.55), unda.Maxwell(eps=1.0, mu=1.0)
PLACE = 0.51
POINTS = 8  # of the line in a cell: none but its plane wave propagates below 8 / h vs, 13 f0
PULSE = unda.ricker(1.0)
ALONG, ACROSS = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
#: Medium, field, direction of the sources, a mirror, the time by which all has come back.
WAVES = {
    "SH": (ROCK, "vy", ALONG, "symmetry", 8.5),
    "force in the plane": (ROCK, "vz", ACROSS, "symmetry", 8.5),
    "acoustic": (unda.Acoustic(rho=1.0, c=1.0), "p", None, "rigid", 6.0),
    "E along the side": (LIGHT, "ey", ALONG, "pec", 6.0),
    "H along the side": (LIGHT, "ez", ACROSS, "pec", 6.0),
}


def traces(wave, shape, num, degree, side):
    """Return the field (angle, sample), and how many nodes the shortest wavelength has."""
    medium, field, direction, mirror, until = WAVES[wave]
    h, end = 1 / num, 4.0 if side == "far" else 1.0
    box = unda.box_mesh(
        (-2, 0, -3), (end, h, 5), cells=(round((end + 2) * num), 1, 8 * num), shape=shape,
        periodic=(False, True, False),
    )  # fmt: skip
    condition = {"far": "absorbing", "mirror": mirror, "layer": unda.CPML(f0=1.0)}[side]
    boundary = {"xmax": condition, "*": "absorbing"}
    sim = unda.DG(box, medium, degree=degree, boundary=boundary, device="cpu", threads=1, dtype="float64")
    line = [(PLACE, (0.5 + i) * h / POINTS, 0.013) for i in range(POINTS)]
    sim.add_source(unda.Array(line, PULSE, weights=np.full(POINTS, h / POINTS), direction=direction))
    away = 2.0 * (1.0 - PLACE) * np.tan(np.radians(ANGLES))
    places = [(PLACE, 0.51 * h, 0.013 + max(one, 0.05)) for one in away]
    rec = sim.add_receivers(places, [field])
    nodes = min(sim.check().nodes_per_wavelength.values())
    sim.run(until=until + 0.1)
    times, at = np.arange(0.0, until, 0.01), rec.times(field)
    return np.array([CubicSpline(at, one)(times) for one in rec[field]]), float(nodes)


def bands(one, other):
    """Return the largest part of a spectrum below and above 1.25 at each angle, over the largest of other."""
    f = np.fft.rfftfreq(4096, 0.01)
    part, whole = (np.abs(np.fft.rfft(wave, 4096, axis=-1)) for wave in (one, other))
    low = (f > 0.3) & (f < 1.25)
    high = (f >= 1.25) & (f < 2.5)
    return [part[:, band].max(axis=1) / whole[:, f < 2.5].max(axis=1) for band in (low, high)]


def rounded(values):
    return [float(f"{one:.3g}") for one in values]


def found(wave, mesh, far, mirror, layer, fine=None):
    """Return the run of a wave on a mesh."""
    whole = np.abs(mirror[0] - far[0]).max(axis=1)
    one = {
        "wave": wave, "shape": mesh[0], "cells_per_wavelength": mesh[1], "degree": mesh[2],
        "nodes_in_shortest_wavelength": rounded([far[1]])[0],
        "returned": rounded(np.abs(layer[0] - far[0]).max(axis=1) / whole),
    }  # fmt: skip
    if fine is not None:
        low, high = bands(layer[0] - far[0], mirror[0] - far[0])
        own = np.abs(far[0] - fine[0]).max(axis=1) / whole
        one |= {"own": rounded(own[1:]), "low": rounded(low), "high": rounded(high)}
    print(one, flush=True)
    return one


def main():
    """Measure all, and write it."""
    cases = [("SH", mesh) for mesh in MESHES]
    cases += [(wave, mesh) for wave in WAVES for mesh in OTHERS.get(wave, FEW)]
    with ProcessPoolExecutor(2) as pool:
        fine = pool.submit(traces, "SH", *FINE, "far")
        made = {
            case: [pool.submit(traces, case[0], *case[1], side) for side in ("far", "mirror", "layer")]
            for case in cases
        }
        runs = [
            found(*case, *(one.result() for one in made[case]), fine.result() if case[0] == "SH" else None)
            for case in cases
        ]
    out = Path(__file__).parent / "results" / "dg_layers_resolution.json"
    out.write_text(json.dumps({**origin("cpu", None), "angles": ANGLES, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
