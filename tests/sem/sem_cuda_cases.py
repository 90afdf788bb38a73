"""Problems for spectral elements on both engines: noise at every node, random materials, few cells.

Not here: what is compared (test_sem_cuda.py, test_sem_cuda_runs.py).
"""

import numpy as np
import unda
from hex_meshes import boundaries_of, turned
from team_cases import any_partition

UPPER = (1.0, 1.1, 0.8)
SHEAR = np.array([[1.0, 0.1, -0.05], [0.0, 1.0, 0.1], [0.05, 0.0, 1.0]])
#: names of conditions by kind of medium; "mixed" has them all, so that they meet at edges and corners.
WALLS = {
    "fluid": {"free": "free", "hard": "rigid", "mirror": "rigid", "absorbing": "absorbing"},
    "solid": {"free": "free", "hard": "fixed", "mirror": "symmetry", "absorbing": "absorbing"},
}


def mesh_for(cells, boundary, number=None):
    """A box of few cells, their axes turned at random; periodic: 1, 2 and 3 cells a period."""
    periodic = boundary == "periodic"
    number = number or ((1, 2, 3) if periodic else (3, 2, 3))
    box = unda.box_mesh((0, 0, 0), UPPER, number, shape="hex", periodic=(periodic,) * 3, seed=1,
                        perturb=0.0 if cells == "sheared" else 0.2)  # fmt: skip
    if periodic:
        return box
    if cells == "sheared":
        box = unda.Mesh(box.vertices @ SHEAR, box.cells, boundaries=boundaries_of(box))
    return turned(box, 1, (lambda x: x + 0.03 * np.sin(3 * x[..., [1, 2, 0]])) if cells == "curved" else None)


def noise(seed):
    """A function of places with the box's periods that varies from node to node, whatever the degree."""
    rng = np.random.default_rng(seed)
    k, phase = 2 * np.pi * rng.integers(30, 90, 3) / UPPER, rng.uniform(0, 6)
    return lambda x, y, z: np.sin(k[0] * x + k[1] * y + k[2] * z + phase)


def medium_for(kind, mesh, degree, per):
    """Random materials; coupled: fluids in the upper part."""
    rng = np.random.default_rng(3)
    values = rng.uniform(1, 2, (2, mesh.num_elem))
    dry = (mesh.centroids[:, 2] < 0.4) | (kind == "solid")
    if per == "node":
        x = mesh.coordinates(degree)
        values = values[..., None] * (1 + 0.2 * np.sin(3 * x.sum(axis=2)))
        dry = dry[:, None]
    if kind == "fluid":
        return unda.Acoustic(rho=values[0], c=values[1], per=per)
    return unda.Elastic(rho=values[0], vp=values[1], vs=0.6 * values[1] * dry, per=per)


def boundary_for(kind, name):
    walls = WALLS["fluid" if kind == "fluid" else "solid"]
    if name == "periodic":
        return None
    if name != "mixed":
        return {"*": walls[name]}
    sides = ("hard", "free", "mirror", "absorbing", "free", "absorbing")
    return {f"{axis}{end}": walls[sides[2 * i + j]] for i, axis in enumerate("xyz")
            for j, end in enumerate(("min", "max"))}  # fmt: skip


def points_in(mesh, rows):
    """Inside, on a face that it shares, on a vertex of the first cell of rows that has such a face."""
    elem = next(row for row in np.flatnonzero(rows) if (mesh.neighbors[row] >= 0).any())
    face = int(np.flatnonzero(mesh.neighbors[elem] >= 0)[0])
    return mesh.coordinates(2)[elem, [13, (12, 14, 10, 16, 4, 22)[face], 26]]


def add_points(sim, sort, whole=None):
    """Sources of one sort at three points of a solid and three of a fluid, and receivers of every field.

    whole: has the mesh and the fluids of all cells, where the simulation is one of a part.
    """
    whole = whole or sim
    f, fluid = unda.ricker(2.0), whole._fluid
    for rows, wet in ((~fluid, False), (fluid, True)):
        if not rows.any():
            continue
        places = points_in(whole.mesh, rows)
        for i, place in enumerate(places):
            if sort == "force" and sim.medium.physics == "elastic":
                sim.add_source(unda.PointForce(place, f, (1, -2, 3)))
            elif sort == "moment" and not wet:
                sim.add_source(unda.MomentTensor(place, f, [[1, 2, 3], [2, -1, 0], [3, 0, 4]]))
            elif sort == "volume" or (wet and sort != "none"):
                sim.add_source(unda.VolumeInjection(place, f if i else f.derivative))
        first = ["chi", "p" if sim.medium.physics == "acoustic" else "pressure", "vz"]
        sim.add_receivers(places, fields=first if wet else ["ux", "vy", "pressure"], every=1 + 2 * wet)
        second = ["chi_t", "chi_tt", "uz", "ay"] if wet else ["az", "sxy", "szz", "vz"]
        sim.add_receivers(places[::-1] * 0.9 + 0.1 * places[0], fields=second, every=2)
    if not fluid.any():
        sim.add_receivers(places, fields=["divergence", "curl_x", "curl_z"], every=4)


def holds_axes(case):
    """Whether a case names the axes of a thread, may do so, and its registers have room for a plane."""
    words = (1 if case["kind"] == "fluid" else 3) * (2 if case["dtype"] == "float64" else 1)
    most = 110 if case["dtype"] == "float64" else 150
    return "axes" in case and case["assembly"] != "atomic" and 2 * (case["degree"] + 1) ** 2 * words <= most


def made(device, case, number=None, mesh=None, seed=None, **options):
    """A simulation of a case in its state of noise, at t = 0.1 s.

    device may be a list, of parts; seed: of which cell is in which, in place of ranges of the curve.
    """
    mesh = mesh or mesh_for(case["cells"], case["boundary"], number)
    medium = medium_for(case["kind"], mesh, case["degree"], case["per"])
    if seed is not None:
        options["partition"] = any_partition(mesh, len(device), seed)
    if (device if isinstance(device, str) else device[0]).startswith("cuda"):
        chosen = {"cells": case["tile"]} | ({"axes": case["axes"]} if holds_axes(case) else {})
        options |= {"assembly": case["assembly"], "kernel_options": chosen}
    sim = unda.SEM(mesh, medium, degree=case["degree"], dtype=case["dtype"], device=device,
                   boundary=boundary_for(case["kind"], case["boundary"]), **options)  # fmt: skip
    sim.set(t=0.1, **{name: noise(i) for i, name in enumerate(sim._known.initial)})
    return sim


def values_of(sim):
    """Fields and traces by name."""
    traces = {f"{i} {name}": rec[name] for i, rec in enumerate(sim.receivers) for name in rec.fields}
    return {name: sim.get(name) for name in sim.fields} | traces


def bits_of(sim):
    return {name: value.tobytes() for name, value in values_of(sim).items()}
