"""Runs on hexahedra whose bits are recorded: DG and spectral elements, every pair of settings.

Not here: what is kept of a run (bits.py), tetrahedra, whose media and sources these share (bits_dg.py).
"""

import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import unda
from bits_dg import WALLS, conditions_of, medium_of, outcome, sources_of, state_of
from hex_meshes import turned
from pairwise import pairwise
from sem_cases import solid_and_fluid

#: Parallelepipeds, warped cells, cells of 27 nodes: the three kinds of metric.
CELLS = ("sheared", "warped", "curved")
DG = {
    "core": tuple(product(WALLS, ("upwind", "central"), ("float32", "float64"))),
    "engine": ("cpu", "cpu2"),
    "integrator": ("lsrk4", "ab3"),
    "degree": (1, 2, 3, 4, 5, 7, 10),
    "cells": CELLS,
    "boundary": ("hard", "soft", "mirror", "absorbing", "exact", "periodic", "mixed"),
    "medium": ("one", "varied", "by node"),
}
#: Threads of the stand-in are fibers, and kernels cost a compilation each.
ON_DEVICE = DG | {
    "engine": ("lines", "columns"),
    "degree": (1, 2, 3, 4),
    "boundary": ("soft", "mixed", "periodic"),
}
SEM = {
    "core": tuple(product(("solid", "fluid", "coupled"), ("float32", "float64"))),
    "engine": ("cpu", "cpu2"),
    "degree": (2, 3, 4, 5, 7),
    "cells": CELLS,
    "boundary": ("hard", "soft", "mirror", "absorbing", "periodic", "mixed"),
    "medium": ("varied", "by node"),
    "source": ("first", "second", "third"),
}
SEM_ON_DEVICE = SEM | {
    "engine": ("ordered", "colors"),  # what is added atomically has no bits of its own
    "degree": (2, 3, 4),
    "boundary": ("mixed", "absorbing", "periodic"),
}


def _engine(name):
    """Keywords of a simulation."""
    if name.startswith("cpu"):
        return {"device": "cpu", "threads": 1 + (name == "cpu2")}
    return {"device": "cuda", "assembly" if name in SEM_ON_DEVICE["engine"] else "kernel": name}


def _mesh(cells, boundary, on_cpu):
    """Few cells, their axes turned, which is how faces meet in every way; periodic boxes are not turned."""
    number = (3, 2, 3) if on_cpu else (2, 2, 2) if boundary == "periodic" else (2, 1, 2)
    periodic = (boundary == "periodic",) * 3
    box = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), number, shape="hex", periodic=periodic, seed=1,
                        perturb=0.0 if cells == "sheared" else 0.2)  # fmt: skip
    if boundary == "periodic":
        return box
    move = {
        "sheared": None,
        "warped": None,
        "curved": lambda x: x + 0.03 * np.sin(3 * x[..., [1, 2, 0]]),
    }[cells]
    if cells == "sheared":
        shear = np.array([[1.0, 0.1, -0.05], [0.0, 1.0, 0.1], [0.05, 0.0, 1.0]])
        sides = {n: box.boundary_faces[box.boundary_ids == i] for i, n in enumerate(box.boundary_names)}
        box = unda.Mesh(box.vertices @ shear, box.cells, boundaries=sides)
    return turned(box, 1, move)


def _by_node(medium, mesh, degree):
    """The medium, whose parameters also vary inside of cells."""
    vary = 1 + 0.2 * np.sin(3 * mesh.coordinates(degree).sum(axis=2))
    values = medium.on(mesh)[:, None, :] * np.ones_like(vary)[..., None]
    rows = dict(zip(medium.parameters, np.moveaxis(values, -1, 0), strict=True))
    first = next(iter(medium.parameters))
    return type(medium)(**(rows | {first: rows[first] * vary}), per="node")


def _points(mesh):
    """Points inside of cell 0, on a face that it shares, on a vertex."""
    face = int(np.flatnonzero(mesh.neighbors[0] >= 0)[0])
    return mesh.coordinates(2)[0, [13, (12, 14, 10, 16, 4, 22)[face], 26]]


def _dg(case):
    (physics, flux, dtype), degree = case["core"], case["degree"]
    mesh = _mesh(case["cells"], case["boundary"], case["engine"].startswith("cpu"))
    medium = medium_of(physics, "one" if case["medium"] == "one" else "varied", mesh.num_elem)
    if case["medium"] == "by node":
        medium = _by_node(medium, mesh, degree)
    sim = unda.DG(mesh, medium, degree=degree, boundary=conditions_of(physics, case["boundary"]), flux=flux,
                  integrator=case["integrator"], dtype=dtype, **_engine(case["engine"]))  # fmt: skip
    state = state_of(sim) if case["medium"] != "by node" else _state_by_node(sim)
    sim.set(**state, t=0.1)
    points = _points(mesh)
    for at, source in zip((points[0], (0.7, 0.6, 0.2)), sources_of(physics, points[0])[::-2], strict=True):
        sim.add_source(type(source).from_config(source.to_config() | {"position": tuple(map(float, at))}))
    rec = sim.add_receivers(points, sim.fields)
    sim.step(2)
    sim.run(steps=2)
    return outcome(sim, [rec], rates=list(sim.rhs().values()))


def _state_by_node(sim):
    """Random fields; in fluids, which are whole cells, pressure alone."""
    rng = np.random.default_rng(0)
    state = {name: rng.uniform(-1, 1, (sim.mesh.num_elem, sim.num_node)) for name in sim.fields}
    if sim.medium.physics == "elastic":
        fluid = sim._material[..., 2].reshape(sim.mesh.num_elem, -1)[:, 0] == 0
        for name, value in (("sxy", 0), ("sxz", 0), ("syz", 0), ("syy", "sxx"), ("szz", "sxx")):
            state[name][fluid] = state[value][fluid] if value else 0
    return state


def _sem(case):
    (kind, dtype), degree = case["core"], case["degree"]
    mesh = _mesh(case["cells"], case["boundary"], True)
    rng = np.random.default_rng(3)
    rho, speed = rng.uniform(0.5, 3, (2, mesh.num_elem))
    if kind == "fluid":
        medium = unda.Acoustic(rho=rho, c=speed)
    else:
        dry = (mesh.centroids[:, 2] < 0.4) | (kind == "solid")
        medium = unda.Elastic(rho=rho, vp=speed, vs=0.6 * speed * dry)
    if case["medium"] == "by node":
        medium = _by_node(medium, mesh, degree)
    walls = (
        {"hard": "rigid", "mirror": "rigid"} if kind == "fluid" else {"hard": "fixed", "mirror": "symmetry"}
    )
    walls |= {"soft": "free", "absorbing": "absorbing", "periodic": "absorbing"}
    names = ("hard", "soft", "mirror", "absorbing", "soft", "hard")
    sides = dict(zip(("xmin", "xmax", "ymin", "ymax", "zmin"), (walls[n] for n in names), strict=False))
    boundary = sides | {"*": walls["hard"]} if case["boundary"] == "mixed" else {"*": walls[case["boundary"]]}
    sim = unda.SEM(mesh, medium, degree=degree, boundary=boundary, dtype=dtype, **_engine(case["engine"]))
    sim.set(**{name: _smooth(i) for i, name in enumerate(sim._known.initial)}, t=0.1)
    points, number = _points(mesh), SEM["source"].index(case["source"])
    dry = kind == "solid" or (kind == "coupled" and mesh.centroids[0, 2] < 0.4)
    f = unda.ricker(2.0)
    made = (lambda x: unda.VolumeInjection(x, f),) if not dry else (
        lambda x: unda.PointForce(x, f, (1, -2, 3)),
        lambda x: unda.MomentTensor(x, f, [[1, 2, 3], [2, -1, 0], [3, 0, 4]]),
    )  # fmt: skip
    sim.add_source(made[number % len(made)](points[number if kind != "coupled" else 0]))
    rec = sim.add_receivers([points[0]], ["p"] if kind == "fluid" else ["vx", "vz", "pressure"])
    sim.step(2)
    sim.run(steps=2)
    return outcome(sim, [rec])


def _smooth(seed):
    """A function of places, of arithmetic alone, with the box's periods."""
    a, b, c = np.random.default_rng(seed).uniform(-1, 1, 3)

    def value(x, y, z):
        x, y, z = x * (1 - x), y * (1.1 - y), z * (0.8 - z)
        return a + x * (b - c * y) + z * (c - a * y)

    return value


def _resumed(method, integrator, engine):
    """Half of a run, saved, loaded, and the other half."""
    if method is unda.SEM:
        sim = unda.SEM(*solid_and_fluid((2, 2, 2)), degree=3, **_engine(engine))
        sim.set(**{name: _smooth(i) for i, name in enumerate(sim._known.initial)})
    else:
        mesh = _mesh("curved", "soft", engine.startswith("cpu"))
        medium = medium_of("elastic", "varied", mesh.num_elem)
        sim = unda.DG(mesh, medium, degree=3, integrator=integrator, **_engine(engine))
        sim.set(**state_of(sim))
    sim.add_receivers([(0.45, 0.4, 0.2)], ["vx"], every=2)
    sim.step(3)
    with tempfile.TemporaryDirectory() as folder:
        sim.save(Path(folder) / "half.h5")
        sim.close()
        sim = unda.load(Path(folder) / "half.h5", device=_engine(engine)["device"])
    sim.step(4)
    return outcome(sim, sim.receivers)


def _name(first, case):
    (*core, dtype), rest = case["core"], {name: case[name] for name in case if name != "core"}
    rest["degree"] = f"degree{case['degree']}"
    return "/".join([first, *core, dtype, *rest.values()]).replace("by node", "node")


def runs():
    """{key: function that makes the run}."""
    table = {_name("hex", case): (_dg, case) for case in pairwise(DG, drawn=4000)}
    table |= {_name("hex", case): (_dg, case) for case in pairwise(ON_DEVICE, drawn=4000)}
    table |= {_name("sem", case): (_sem, case) for case in pairwise(SEM, drawn=4000)}
    table |= {_name("sem", case): (_sem, case) for case in pairwise(SEM_ON_DEVICE, drawn=4000)}
    high = {"degree": 10, "engine": "cpu", "cells": "curved", "medium": "varied", "source": "first"}
    for core, boundary in ((("solid", "float64"), "soft"), (("fluid", "float32"), "absorbing")):
        case = {"core": core, **high, "boundary": boundary}
        table[_name("sem", case)] = (_sem, case)
    for integrator, engine in product(("lsrk4", "ab3"), ("cpu2", "lines")):
        table[f"hex/checkpoint/{integrator}/{engine}"] = (_resumed, unda.DG, integrator, engine)
    for engine in ("cpu2", "colors"):
        table[f"sem/checkpoint/{engine}"] = (_resumed, unda.SEM, None, engine)
    return table
