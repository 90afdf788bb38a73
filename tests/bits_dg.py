"""Runs of DG whose bits are recorded: every pair of settings, then what only some of them have.

Not here: what is kept of a run (bits.py), grids (bits_fd.py).
"""

import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import unda
from pairwise import pairwise

WALLS = {
    "acoustic": {"hard": "rigid", "soft": "free", "mirror": "rigid"},
    "elastic": {"hard": "fixed", "soft": "free", "mirror": "symmetry"},
    "maxwell": {"hard": "pec", "soft": "pmc", "mirror": "pec"},
}
#: (CPU threads, kernel): those of the CUDA engine run on the device, or on its stand-in.
ENGINES = {"cpu": (1, "auto"), "cpu2": (2, "auto"), "fused": (None, "fused"), "node": (None, "node"),
           "element": (None, "element")}  # fmt: skip
SETTINGS = {
    "core": tuple(product(WALLS, ("upwind", "central"), ("float32", "float64"))),
    "engine": ("cpu", "cpu2"),
    "integrator": ("lsrk4", "ab3"),
    "degree": (1, 2, 3, 4, 5, 7),
    "boundary": ("hard", "soft", "mirror", "absorbing", "exact", "periodic", "mixed"),
    "medium": ("one", "varied"),
    "source": ("first", "second", "third"),
    "place": ("inside", "face", "vertex"),
}
#: A thread of the stand-in is a fiber, and each kernel a compilation: high degrees on the CPU alone.
ON_DEVICE = SETTINGS | {"engine": ("fused", "node"), "degree": (1, 2, 3, 4, 5)}
#: On the CPU a run takes some hundredths of a second: every integrator with every pair.
ON_CPU = [
    case
    for word in SETTINGS["integrator"]
    for case in pairwise(SETTINGS | {"integrator": (word,)}, drawn=4000)
]


def _mesh(boundary, on_cpu):
    """Few cells; on the CPU no multiple of those that it takes at once."""
    cells = (3, 3, 3) if on_cpu else (2, 2, 1) if boundary == "periodic" else (2, 1, 2)
    periodic = (boundary == "periodic",) * 3
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1, periodic=periodic)


def medium_of(physics, kind, num):
    """One material, or another in each cell: fluids among solids, conductors among insulators."""
    if kind == "one":
        return {
            "acoustic": unda.Acoustic(rho=1.3, c=0.9),
            "elastic": unda.Elastic(rho=1.3, vp=1.7, vs=0.9),
            "maxwell": unda.Maxwell(eps=1.7, mu=0.8),
        }[physics]
    rng = np.random.default_rng(3)
    first, second = rng.uniform(0.5, 3, (2, num))
    some = np.arange(num) % 3 != 1
    if physics == "acoustic":
        return unda.Acoustic(rho=first, c=second)
    if physics == "elastic":
        return unda.Elastic(rho=first, vp=second, vs=0.6 * second * some)
    return unda.Maxwell(eps=first, mu=second, sigma=0.5 * some)


def _outer(physics):
    """The wave outside of exact boundaries."""
    if physics == "maxwell":
        return unda.exact.plane_wave(unda.Maxwell(eps=1.0, mu=1.0), k=(2, 1, -1), polarization=(1, -1, 1))
    medium = unda.Acoustic(rho=1.0, c=1.0) if physics == "acoustic" else unda.Elastic(rho=1.0, vp=1.0, vs=0.5)
    return unda.exact.plane_wave(medium, k=(2, 1, -1))


def conditions_of(physics, boundary):
    """Boundary of DG."""
    words = WALLS[physics] | {"exact": _outer(physics), "absorbing": "absorbing", "periodic": "absorbing"}
    if boundary != "mixed":
        return {"*": words[boundary]}
    names = {
        "xmin": "hard",
        "xmax": "soft",
        "ymin": "mirror",
        "ymax": "absorbing",
        "zmin": "exact",
        "zmax": "soft",
    }
    return {side: words[name] for side, name in names.items()}


def state_of(sim, seed=0):
    """Random fields that fluids bear."""
    rng = np.random.default_rng(seed)
    state = {name: rng.uniform(-1, 1, (sim.mesh.num_elem, sim.num_node)) for name in sim.fields}
    if sim.medium.physics == "elastic":
        fluid = sim.medium.on(sim.mesh)[:, 2] == 0
        for name in ("sxy", "sxz", "syz"):
            state[name][fluid] = 0
        for name in ("syy", "szz"):
            state[name][fluid] = state["sxx"][fluid]
    return state


def places(mesh):
    """{name: point} inside cell 0, on a face it shares, on a vertex; and the cell behind that face."""
    corners = mesh.vertices[mesh.cells[0]]
    face = int(np.flatnonzero(mesh.neighbors[0] >= 0)[0])
    points = {
        "inside": np.array([0.4, 0.3, 0.2, 0.1]) @ corners,
        "face": np.delete(corners, face, axis=0).mean(axis=0),
        "vertex": corners[0],
    }
    return points, int(mesh.neighbors[0][face]) // 4


def sources_of(physics, place):
    """What can drive a physics at a place."""
    f = unda.ricker(2.0)
    if physics == "acoustic":
        return (
            unda.VolumeInjection(place, f),
            unda.VolumeInjection(place, unda.smooth_bump(0.5)),
            unda.VolumeInjection(place, unda.sampled(np.linspace(0, 1, 30), np.linspace(0, 1, 30) ** 2)),
        )
    if physics == "elastic":
        return (
            unda.PointForce(place, f, (1, -2, 3)),
            unda.MomentTensor(place, f, [[1, 2, 3], [2, -1, 0], [3, 0, 4]]),
            unda.VolumeInjection(place, f),
        )
    return (
        unda.CurrentDipole(place, f, (1, -2, 3)),
        unda.CurrentDipole(place, unda.gaussian(2.0), (0, 0, 1)),
        unda.CurrentDipole(place, f.integral, (0, 1, 0)),
    )


def engine_options(engine):
    """Keywords of DG for one of ENGINES."""
    threads, kernel = ENGINES[engine]
    if threads:
        return {"device": "cpu", "threads": threads}
    return {"device": "cuda", "kernel": kernel}


def outcome(sim, receivers, **more):
    """What bits.py keeps of a simulation."""
    traces = {f"receivers{i}": [rec[name] for name in rec.fields] for i, rec in enumerate(receivers)}
    return {
        "dt": sim.dt,
        "energy": sim.energy(),
        "parts": {"state": [sim.get(name) for name in sim.fields], **traces, **more},
    }


def _run(case):
    (physics, flux, dtype), engine = case["core"], case["engine"]
    mesh = _mesh(case["boundary"], engine.startswith("cpu"))
    medium = medium_of(physics, case["medium"], mesh.num_elem)
    options = {name: case[name] for name in ("degree", "integrator")} | engine_options(engine)
    boundary = conditions_of(physics, case["boundary"])
    sim = unda.DG(mesh, medium, boundary=boundary, flux=flux, dtype=dtype, **options)
    sim.set(**state_of(sim), t=0.1)
    points, other = places(mesh)
    number = SETTINGS["source"].index(case["source"])
    sim.add_source(sources_of(physics, points[case["place"]])[number])
    sim.add_source(sources_of(physics, (0.7, 0.6, 0.2))[(2, 0, 0)[number]])  # what any cell bears
    receivers = [sim.add_receivers(list(points.values()), sim.fields)]
    sim.step(2)
    side = mesh.centroids[other] - mesh.centroids[0]
    receivers.append(sim.add_receivers([points["face"]], list(medium.derived), every=2, side=side))
    sim.step(1)
    sim.run(steps=3)
    sample = sim.sample([(0.5, 0.5, 0.5)], list(medium.derived))
    return outcome(sim, receivers, rates=list(sim.rhs().values()), sample=list(sample.values()))


# ---- what only some settings have ----

INCIDENT = {
    "acoustic": (unda.Acoustic(rho=1.3, c=1.0), {}),
    "p": (unda.Elastic(rho=1.3, vp=1.0, vs=0.55), {"kind": "p"}),
    "s": (unda.Elastic(rho=1.3, vp=1.8, vs=1.0), {"polarization": (1, -1, 0)}),
    "maxwell": (unda.Maxwell(eps=2.0, mu=0.5), {"polarization": (1, -1, 0)}),
}


def _incident(name, how, flux, engine):
    """A total-field region of a box, or its driven walls."""
    medium, wave = INCIDENT[name]
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2) if engine == "cpu" else (1, 1, 2))
    if how == "region":
        sides = {n: box.boundary_faces[box.boundary_ids == i] for i, n in enumerate(box.boundary_names)}
        tags = (box.centroids[:, 2] < 0.5).astype(int)
        box = unda.Mesh(box.vertices, box.cells, tags=tags, boundaries=sides, tag_names={"out": 0, "in": 1})
    target = {"region": "in"} if how == "region" else {"scatterer": ("zmin", "zmax")}
    walls = {} if how == "region" else {side: WALLS[medium.physics]["hard"] for side in target["scatterer"]}
    sim = unda.DG(
        box, medium, degree=2, flux=flux, boundary=walls | {"*": "absorbing"}, dtype="float64",
        **engine_options(engine),
    )  # fmt: skip
    sim.add_source(unda.PlaneWave((1, 1, 2), f=unda.gaussian(1.0, t0=0.0), **target, **wave))
    rec = sim.add_receivers([(0.4, 0.3, 0.6)])
    sim.step(5)
    return outcome(sim, [rec])


def _resumed(core, integrator, engine):
    """Half of a run, saved, loaded, and the other half."""
    physics, flux, dtype = core
    mesh = _mesh("mixed", engine.startswith("cpu"))
    medium = medium_of(physics, "varied", mesh.num_elem)
    sim = unda.DG(mesh, medium, degree=2, boundary=conditions_of(physics, "mixed"), integrator=integrator,
                  flux=flux, dtype=dtype, **engine_options(engine))  # fmt: skip
    sim.set(**state_of(sim))
    sim.add_source(sources_of(physics, places(mesh)[0]["inside"])[0])
    sim.add_receivers([(0.5, 0.5, 0.5)], every=2)
    sim.step(3)
    with tempfile.TemporaryDirectory() as folder:
        sim.save(Path(folder) / "half.h5")
        sim.close()
        sim = unda.load(Path(folder) / "half.h5", device=engine_options(engine)["device"])
    sim.step(4)
    return outcome(sim, sim.receivers)


def _plain(physics, degree, dtype, engine, **options):
    """A box of one material, a random state."""
    mesh = _mesh("hard", engine.startswith("cpu"))
    medium = medium_of(physics, "varied", mesh.num_elem)
    sim = unda.DG(mesh, medium, degree=degree, dtype=dtype, boundary=conditions_of(physics, "soft"),
                  **engine_options(engine), **options)  # fmt: skip
    sim.set(**state_of(sim))
    rec = sim.add_receivers([(0.5, 0.5, 0.5)])
    sim.step(3)
    return outcome(sim, [rec])


def _twice(engine):
    """A simulation that was reset, and takes another state and source."""
    mesh = _mesh("hard", engine.startswith("cpu"))
    sim = unda.DG(mesh, medium_of("acoustic", "varied", mesh.num_elem), degree=3, **engine_options(engine))
    sim.add_source(unda.VolumeInjection((0.4, 0.4, 0.4), unda.ricker(3.0)))
    rec = sim.add_receivers([(0.5, 0.5, 0.5), (0.2, 0.3, 0.4)], ["p"])
    sim.step(4)
    sim.reset(sources=True)
    sim.set(lambda x, y, z, t: {"p": x - y, "vx": z * t, "vy": y, "vz": x * y}, t=0.5)
    sim.add_source(unda.VolumeInjection((0.7, 0.4, 0.3), lambda t: np.asarray(t) ** 2))
    sim.step(5)
    return outcome(sim, [rec])


def _long(physics, integrator, engine):
    """As many steps as a device takes at a time and more, of many sources and receivers."""
    mesh = _mesh("hard", engine.startswith("cpu"))
    medium = medium_of(physics, "varied", mesh.num_elem)
    sim = unda.DG(mesh, medium, degree=1, integrator=integrator, **engine_options(engine))
    sim.set(**state_of(sim))
    line = np.linspace((0.1, 0.2, 0.3), (0.9, 0.7, 0.6), 40)
    for place in line:
        sim.add_source(sources_of(physics, place)[0])
    receivers = [sim.add_receivers(line), sim.add_receivers(line, sim.fields[:1], every=7)]
    for steps in (37, 40, 3):
        sim.step(steps)
    return outcome(sim, receivers)


TILES = ({"rows": 2, "cols": 2}, {"tile": 4, "blocks": 2}, {"unroll_volume": 1, "unroll_lift": 1})


def runs():
    """{key: function that makes the run}."""
    table = {}
    for case in ON_CPU + pairwise(ON_DEVICE, drawn=4000):
        (physics, flux, dtype), rest = case["core"], {name: case[name] for name in SETTINGS if name != "core"}
        rest["degree"] = f"degree{case['degree']}"
        source = sources_of(physics, (0, 0, 0))[SETTINGS["source"].index(case["source"])]
        rest["source"] = type(source).__name__
        rest["source"] += f"-{case['source']}" if physics != "elastic" else ""
        table["/".join(["dg", physics, flux, dtype, *rest.values()])] = (_run, case)
    for name, how, flux in product(INCIDENT, ("region", "scatterer"), ("upwind", "central")):
        for engine in ("cpu", "fused", "node") if flux == "upwind" else ("cpu",):
            if engine == "cpu" or (name, how) != ("p", "scatterer"):
                table[f"dg/incident/{name}/{how}/{flux}/{engine}"] = (_incident, name, how, flux, engine)
    for i, (physics, integrator, engine) in enumerate(product(WALLS, ("lsrk4", "ab3"), ("cpu2", "fused"))):
        core = physics, ("upwind", "central")[i % 2], ("float64", "float32")[i // 2 % 2]
        table["/".join(["dg/checkpoint", *core, integrator, engine])] = (_resumed, core, integrator, engine)
    for physics, degree, dtype in product(WALLS, (6, 8, 9), ("float32", "float64")):
        table[f"dg/high/{physics}/degree{degree}/{dtype}/cpu"] = (_plain, physics, degree, dtype, "cpu")
    for options in TILES:
        words = "+".join(f"{name}={value}" for name, value in options.items())
        more = {"kernel_options": options}
        table[f"dg/tile/{words}"] = (_plain_with, "elastic", 3, "float32", "fused", more)
    table["dg/sample_dt/cpu"] = (_plain_with, "maxwell", 2, "float64", "cpu", {"sample_dt": 0.03})
    for physics, integrator, engine in product(WALLS, ("lsrk4", "ab3"), ("cpu", "fused", "node", "element")):
        table[f"dg/long/{physics}/{integrator}/{engine}"] = (_long, physics, integrator, engine)
    for engine in ("cpu", "node", "element"):
        table[f"dg/reset/{engine}"] = (_twice, engine)
    return table


def _plain_with(physics, degree, dtype, engine, options):
    return _plain(physics, degree, dtype, engine, **options)
