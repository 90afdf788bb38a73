"""What absorbing layers of DG return, by angle of incidence, and what first-order sides do.

A line of sources half a wavelength from a plane side, and receivers as far from it, where a mirror at the
side would show the source at the angles ANGLES. What differs from a domain whose side is three wavelengths
farther away has returned, from behind the layer too; it is divided by what a mirror returns. Layers are added
to the mesh, or are cells of it that are tagged, whose vertices are moved. Writes
benchmarks/results/dg_layers.json.
Next: tests/dg/test_dg_layers.py.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import unda
from unda.commands.measuring import origin

ANGLES = (20, 30, 45, 60)
WALLS = {"acoustic": "rigid", "elastic": "symmetry", "maxwell": "pec"}
F = unda.ricker(1.0)
LIGHT = unda.Maxwell(eps=1.0, mu=1.0)
ROCK = unda.Elastic(rho=1.0, vp=1.0, vs=0.55)
CASES = {
    "acoustic": (unda.Acoustic(rho=1.0, c=1.0), "p", lambda at: unda.VolumeInjection(at, F), 1.0),
    "P": (ROCK, "vz", lambda at: unda.MomentTensor(at, F, np.eye(3)), 1.0),
    "SH": (ROCK, "vy", lambda at: unda.PointForce(at, F, (0, 1, 0)), 0.55),
    "E along the side": (LIGHT, "ey", lambda at: unda.CurrentDipole(at, F, (0, 1, 0)), 1.0),
}
DEGREE = 4
CONDITIONS = {"CPML(f0=1)": (unda.CPML(f0=1.0), 1.0), "absorbing": ("absorbing", 0.0)}  # and thickness
TAGGED = "CPML(f0=1), tagged cells"
MESHES = ("hex", 1 / 3), ("tet", 1 / 4), ("tet", 1 / 3)


def until(case, thick):
    """Return when a pulse of 2.4 s has come back from the end of a layer at 60 degrees."""
    speed = CASES[case][3]
    return 2.4 + np.hypot(0.98 + 2.0 * thick, 1.7) / speed


def irregular(h, end, thick):
    """Return tetrahedra, of which those beyond x = end are moved by up to a quarter of h along x and z."""
    num = round((end + thick + 2.0) / h), 1, round(7.0 / h)
    box = unda.box_mesh((-2, 0, -3.5), (end + thick, h, 3.5), cells=num, shape="tet")
    i, _, k = np.rint((box.vertices - box.lower) / np.subtract(box.upper, box.lower) * num).astype(int).T
    moved = h / 4 * np.random.default_rng(1).uniform(-1, 1, (num[0] + 1, num[2] + 1, 2))
    moved[: round((end + 2.0) / h) + 1] = moved[-1] = moved[:, [0, -1], 1] = 0.0
    vertices = box.vertices.copy()
    vertices[:, ::2] += moved[i, k]
    names = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    return unda.Mesh(
        vertices, box.cells, boundaries=names, periodic=[("ymin", "ymax")],
        tags=(box.centroids[:, 0] > end).astype(np.int32), tag_names={"inside": 0, "layer": 1},
    )  # fmt: skip


def traces(case, shape, h, end, condition, thick):
    """Return what receivers record (num_angle, num_sample), with a condition at x = end."""
    medium, field, source, _ = CASES[case]
    cells = (round((end + 2.0) / h), 1, round(7.0 / h))
    if condition == TAGGED:
        mesh, condition = irregular(h, end, thick), unda.CPML(f0=1.0, tag="layer")
    else:
        mesh = unda.box_mesh(
            (-2, 0, -3.5), (end, h, 3.5), cells=cells, shape=shape, periodic=(False, True, False)
        )
    boundary = {"xmax": condition, "*": "absorbing"}
    sim = unda.DG(mesh, medium, degree=DEGREE, boundary=boundary, device="cpu", sample_dt=0.02, threads=1)
    sim.add_source(source((0.51, 0.51 * h, 0.013)))
    points = [(0.51, 0.51 * h, 0.013 + 0.98 * np.tan(np.radians(angle))) for angle in ANGLES]
    rec = sim.add_receivers(points, [field], every=round(0.02 / sim.dt))
    sim.run(until=until(case, thick))
    return rec[field]


def difference(one, other):
    """Return the largest difference at each receiver, as long as both were recorded."""
    num = min(one.shape[-1], other.shape[-1])
    return np.abs(one[..., :num] - other[..., :num]).max(axis=-1)


def sponge(thick, R0, angle):
    """Return what a sponge before a first-order side returns of a plane Ricker pulse, rms over frequency.

    P' = -i k q V, V' = -i k (q - sin^2 / q) P, q = 1 - i D / omega, from the side, P = V, to the layer's
    front, by exact steps in which q is constant.
    """
    f = np.linspace(0.05, 3.0, 60)
    k, sin2, cos = 2.0 * np.pi * f * thick, np.sin(np.radians(angle)) ** 2, np.cos(np.radians(angle))
    p, v = np.ones((2, len(f)), complex)
    num = 800
    for i in range(num):
        q = 1.0 + 1.5j * np.log(R0) * (1.0 - (i + 0.5) / num) ** 2 / k
        a, b = -1j * k * q, -1j * k * (q - sin2 / q)
        m = np.sqrt(a * b)
        even, odd = np.cosh(m / num), -np.sinh(m / num) / m
        p, v = even * p + a * odd * v, even * v + b * odd * p
        p, v = p / (abs(p) + abs(v)), v / (abs(p) + abs(v))
    part = np.abs((p * cos - v) / (p * cos + v))
    weight = (f**2 * np.exp(-(f**2))) ** 2
    return float(np.sqrt((part**2 * weight).sum() / weight.sum()))


def equation():
    """Return what plane waves are returned by sponges of one to three wavelengths."""
    return [
        {"shape": "equation", "wave": "plane", "side": f"sponge, thickness {thick}, R0 {R0:g}",
         "angles": ANGLES, "returned": [round(sponge(thick, R0, angle), 6) for angle in ANGLES]}
        for thick in (1, 2, 3) for R0 in (1e-6, 0.2)
    ]  # fmt: skip


def conditions(case, shape):
    """Return end, condition and thickness of the runs of a case, and what they are called."""
    wall = WALLS[CASES[case][0].physics]
    found = {"far": (4.0, "absorbing", 1.0), "mirror": (1.0, wall, 0.0)}
    found |= {name: (1.0, *one) for name, one in CONDITIONS.items()}
    return found | ({TAGGED: (1.0, TAGGED, 1.0)} if shape == "tet" else {})


def main():
    """Measure all cases, and write them."""
    runs, made = equation(), {}
    with ProcessPoolExecutor() as pool:
        for shape, h in MESHES:
            for case in CASES:
                for name, (end, condition, thick) in conditions(case, shape).items():
                    made[shape, h, case, name] = pool.submit(traces, case, shape, h, end, condition, thick)
    for shape, h in MESHES:
        for case in CASES:
            found = {name: made[shape, h, case, name].result() for name in conditions(case, shape)}
            far = found.pop("far")
            mirror = difference(found.pop("mirror"), far)
            for name, one in found.items():
                run = {
                    "shape": shape,
                    "cells_per_wavelength": round(1 / h, 6),
                    "degree": DEGREE,
                    "wave": case,
                    "side": name,
                }
                back = difference(one, far) / mirror
                runs.append(run | {"angles": ANGLES, "returned": [round(float(one), 6) for one in back]})
                print(runs[-1], flush=True)
    out = Path(__file__).parent / "results" / "dg_layers.json"
    out.write_text(json.dumps({**origin("cpu", None), "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
