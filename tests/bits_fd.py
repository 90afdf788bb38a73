"""Runs of finite differences whose bits are recorded: every pair of settings, then what only some have.

Not here: what is kept of a run (bits.py), tetrahedra (bits_dg.py).
"""

import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import unda
from bits_dg import outcome
from pairwise import pairwise

SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
SPACING = (10.0, 12.0, 9.0)
LAYERS = {
    "damping": unda.Damping(3),
    "cpml": unda.CPML(3, f0=20.0, ratio=0.0),
    "stretched": unda.CPML(4, f0=20.0, kappa=2.0, ratio=0.0),
    "multiaxial": unda.CPML(3, f0=20.0, ratio=0.3),
    "sponge": unda.CPML(3, f0=20.0, ratio=1.0),
}


def _boundary(shape, axis, low, high, third):
    """`low` and `high` at all axes but one, which has `third`; axes of one node are periodic."""
    made = {}
    for i in range(3):
        pair = ("periodic",) * 2 if shape[i] == 1 else (third, third) if i == axis else (low, high)
        for side, word in zip(SIDES[2 * i : 2 * i + 2], pair, strict=True):
            made[side] = LAYERS.get(word, word)
    return made


def _engine(name):
    """Keywords of FD: "tiled-2" is a kernel on two threads of the CPU, others run on the device."""
    kernel, _, threads = name.partition("-")
    where = {"device": "cpu", "threads": int(threads)} if threads else {"device": "cuda"}
    return {"kernel": kernel, **where}


def _places(grid, shares):
    """Points at shares of the grid's size."""
    return np.array(grid.lower) + np.array(shares) * (np.array(grid.upper) - np.array(grid.lower))


INSIDE = ((0.31, 0.47, 0.52), (0.62, 0.33, 0.71))
#: Off the grid, beside walls and on them, in corners.
POINTS = (*INSIDE, (0.02, 0.5, 0.97), (1, 1, 1), (0, 0, 0), (0.4, 0.6, 1), (0.5, 0.01, 0.3))


# ---- the scalar scheme ----

SHAPES = ((19, 23, 21), (26, 1, 31), (1, 33, 17), (11, 40, 18))
ON_CPU = {
    "core": tuple(product(("one", "varied"), ("float32", "float64"))),
    "order": (2, 4, 6, 8, 10, 16),
    "engine": ("step-1", "step-2", "tiled-1", "tiled-2", "auto-2"),
    "low": ("free", "rigid", "damping", "cpml"),
    "high": ("rigid", "free", "cpml", "damping"),
    "third": ("periodic", "rigid", "cpml", "damping"),
    "axis": (0, 1, 2),
    "shape": (*SHAPES, (1, 1, 60), (70, 1, 1)),
}
ON_DEVICE = ON_CPU | {"engine": ("step",), "order": (2, 4, 6, 8, 16), "shape": SHAPES}
WINDOW = ON_DEVICE | {
    "engine": ("window",), "window": (1, 3, 7, 64), "levels": (1, 2, 5, 40), "order": (2, 4, 8)
}  # fmt: skip


def _can(case):
    """Kernel tiled has no periodic x and y, a window no periodic y; an axis of one node is periodic."""
    third = case["third"] == "periodic"
    periodic = [case["shape"][i] == 1 or (i == case["axis"] and third) for i in range(3)]
    if case["engine"].startswith("tiled"):
        return not (periodic[0] or periodic[1])
    return not (case["engine"] == "window" and periodic[1])


#: order, dts, step, dtype, c, sides of x and y, of z, shape, window, levels.
DIAMONDS = (
    (2, 2, 1, "float32", "one", ("free", "damping"), "rigid", (19, 23, 21), None, 7),
    (2, 3, 1, "float64", "varied", ("rigid", "free"), "damping", (11, 40, 17), None, 4),
    (2, 2, 1, "float32", "varied", ("cpml", "free"), "cpml", (17, 21, 19), None, 6),
    (4, 2, 2, "float32", "one", ("damping", "rigid"), "free", (13, 31, 35), None, 0),
    (4, 2, 1, "float64", "varied", ("free", "cpml"), "rigid", (15, 19, 11), None, 5),
    (6, 2, 3, "float32", "varied", ("rigid", "damping"), "damping", (31, 9, 9), None, 7),
    (8, 2, 2, "float32", "one", ("free", "rigid"), "damping", (13, 17, 11), None, 6),
    (2, 2, 1, "float32", "varied", ("damping", "free"), "rigid", (9, 37, 12), 3, 6),
    (4, 2, 2, "float32", "one", ("rigid", "damping"), "free", (9, 33, 12), 4, 9),
)  # fmt: skip


def _scalar(case, options, boundary, steps=(3, 1, 9)):
    """Random fields, three sources, three groups of receivers."""
    shape, (contrast, dtype) = case["shape"], case["core"]
    rng = np.random.default_rng(11)
    grid = unda.Grid(shape, SPACING, origin=(4e3, -30.0, 0.5))
    c = rng.uniform(1000, 2000, shape) if contrast == "varied" else 2000.0
    sim = unda.FD(grid, unda.Acoustic(rho=1000.0, c=c), order=case["order"], dtype=dtype,
                  boundary=boundary, **options)  # fmt: skip
    p, before = rng.uniform(-1, 1, (2, *shape))
    sim.set(p=p, p_previous=before, t=0.5)
    waves = (unda.ricker(20.0, t0=0.5), unda.gaussian(30.0, t0=0.5), lambda t: np.asarray(t) ** 2)
    for place, f in zip(_places(grid, POINTS[:3]), waves, strict=True):
        sim.add_source(unda.VolumeInjection(place, f))
    receivers = [sim.add_receivers(_places(grid, POINTS))]
    for n in steps:
        sim.step(n)
        if len(receivers) < 3:
            receivers.append(sim.add_receivers(_places(grid, POINTS[:2]), ["p"], every=len(receivers) + 2))
    sample = sim.sample(_places(grid, INSIDE))["p"]
    return outcome(sim, receivers, previous=[sim.get("p_previous")], sample=[sample])


def _scalar_case(case):
    options = _engine(case["engine"])
    if case["engine"] == "window":
        options = {"device": "cuda", "kernel": "step", "window": case["window"]}
        options["kernel_options"] = {"levels": case["levels"]}
    sides = _boundary(*(case[name] for name in ("shape", "axis", "low", "high", "third")))
    return _scalar(case, options, sides)


def _diamond(order, dts, step, dtype, c, sides, third, shape, window, levels):
    options = {"dts": dts, "step": step, "levels": levels, "fewest": 1}
    options = {"device": "cuda", "kernel": "diamond", "window": window, "kernel_options": options}
    return _scalar(
        {"order": order, "core": (c, dtype), "shape": shape}, options, _boundary(shape, 2, *sides, third)
    )


# ---- staggered schemes ----

WALLS = {"acoustic": ("free", "rigid"), "elastic": ("free", "fixed", "symmetry"), "maxwell": ("pec", "pmc")}
STAGGERED = {
    "core": tuple(product(WALLS, ("float32", "float64"))),
    "engine": ("step-1", "step-2"),
    "order": (2, 4, 6, 8, 12),
    "low": ("first", "second", "third", "layer"),
    "high": ("first", "second", "layer"),
    "third": ("periodic", "first", "layer"),
    "layer": ("cpml", "multiaxial", "sponge", "stretched"),
    "axis": (0, 1, 2),
    "shape": ((13, 11, 35), (24, 1, 40), (12, 20, 33), (1, 1, 50)),
    "medium": ("one", "varied"),
    "source": ("first", "second", "third"),
    "place": ("inside", "beside", "wall"),
}
STAGGERED_ON_DEVICE = STAGGERED | {
    "engine": ("step",), "order": (2, 4, 6, 8), "shape": STAGGERED["shape"][:3]
}  # fmt: skip
#: Walls that hold what a source of the physics drives there at 0.
HOLDING = {"acoustic": ("first",), "elastic": ("second", "third"), "maxwell": ("first",)}


def _can_stand(case):
    """No source on a wall that holds what it drives."""
    top = case["third"] if case["axis"] == 2 else case["high"]
    return not (case["place"] == "wall" and top in HOLDING[case["core"][0]])


def _medium(physics, kind, shape):
    """One material, or another at each node; of elastic ones the lowest third a fluid."""
    if kind == "one":
        return {
            "acoustic": unda.Acoustic(rho=1000.0, c=2000.0),
            "elastic": unda.Elastic(rho=1000.0, vp=2000.0, vs=1000.0),
            "maxwell": unda.Maxwell(eps=1e-3, mu=3e-4),
        }[physics]
    rng = np.random.default_rng(5)
    first, second = rng.uniform(1, 3, shape), rng.uniform(1000, 2000, shape)
    if physics == "acoustic":
        return unda.Acoustic(rho=first, c=second)
    if physics == "maxwell":
        return unda.Maxwell(eps=first * 1e-3, mu=second * 1e-6, sigma=rng.uniform(0, 0.1, shape))
    vs = 0.5 * second
    vs[:, :, : shape[2] // 3] = 0
    return unda.Elastic(rho=first, vp=second, vs=vs)


def _state(sim, physics, varied):
    """Random fields that the fluid bears."""
    rng, shape = np.random.default_rng(7), sim.grid.shape
    state = {name: rng.uniform(-1, 1, shape) for name in sim.fields}
    if physics == "elastic" and varied:
        fluid = shape[2] // 3
        for name in ("syy", "szz"):
            state[name][:, :, :fluid] = state["sxx"][:, :, :fluid]
        for name in ("syz", "sxz", "sxy"):
            state[name][:, :, : fluid + 1] = state[name][:, :, -1:] = 0
    return state


def _sources(physics, place):
    """Three for each physics."""
    f, other = unda.ricker(20.0, t0=0.0), unda.smooth_bump(0.1)
    if physics == "acoustic":
        return [unda.VolumeInjection(place, one) for one in (f, other, lambda t: np.asarray(t) ** 2)]
    if physics == "maxwell":
        return [unda.CurrentDipole(place, f, d) for d in ((1, 2, 3), (0, 2, 1), (1, 0, 0))]
    return [
        unda.PointForce(place, f, (1, 2, 3)),
        unda.MomentTensor(place, f, [[1, 2, 3], [2, -1, 0], [3, 0, 4]]),
        unda.VolumeInjection(place, f),
    ]


def _staggered_sides(case):
    walls = WALLS[case["core"][0]]
    words = {"first": walls[0], "second": walls[1], "third": walls[-1], "layer": case["layer"]}
    return _boundary(case["shape"], case["axis"], *(words.get(case[one], one) for one in ("low", "high")),
                     words.get(case["third"], case["third"]))  # fmt: skip


def _staggered(case, options=None, steps=(3, 5)):
    (physics, dtype), shape = case["core"], case["shape"]
    grid = unda.Grid(shape, SPACING, origin=(4e3, -3.0, -1e3))
    sim = unda.FD(
        grid, _medium(physics, case["medium"], shape), scheme="staggered", order=case["order"], dtype=dtype,
        boundary=_staggered_sides(case), **_engine(case["engine"]), **(options or {}),
    )  # fmt: skip
    sim.set(**_state(sim, physics, case["medium"] == "varied"), t=0.2)
    share = {"inside": (0.4, 0.6, 0.7), "beside": (0.52, 0.43, 0.99), "wall": (0.3, 0.4, 1.0)}[case["place"]]
    number = STAGGERED["source"].index(case["source"])
    sim.add_source(_sources(physics, _places(grid, [share])[0])[number])
    sim.add_source(_sources(physics, _places(grid, INSIDE)[0])[2])
    receivers = [sim.add_receivers(_places(grid, POINTS))]
    sim.step(steps[0])
    more = [name for name in sim.medium.derived if name == "pressure"]
    receivers.append(sim.add_receivers(_places(grid, POINTS[:3]), [*more, sim.fields[1]], every=2))
    for n in steps[1:]:
        sim.step(n)
    return outcome(sim, receivers)


# ---- what only some settings have ----


def _resumed(scheme, physics, engine):
    """Half of a run, saved, loaded, and the other half."""
    shape = (13, 16, 21)
    grid = unda.Grid(shape, SPACING)
    medium = unda.Acoustic(rho=1000.0, c=np.linspace(1000, 2000, grid.num_node).reshape(shape))
    if scheme == "staggered":
        medium = _medium(physics, "varied", shape)
    boundary = {"zmax": "free", "zmin": "rigid"} if physics == "acoustic" else {"zmax": WALLS[physics][0]}
    boundary |= {"*": unda.CPML(3, f0=20.0)}
    sim = unda.FD(grid, medium, scheme=scheme, boundary=boundary, **_engine(engine))
    sim.add_source(_sources(physics, _places(grid, INSIDE)[0])[0])
    sim.add_receivers(_places(grid, POINTS), every=3)
    sim.step(4)
    with tempfile.TemporaryDirectory() as folder:
        sim.save(Path(folder) / "half.h5")
        sim.close()
        sim = unda.load(Path(folder) / "half.h5", device="cpu" if "-" in engine else "cuda")
    sim.step(6)
    return outcome(sim, sim.receivers)


def _defaults(scheme, physics, **options):
    """What FD chooses by itself: layers by the rule, of the default width, a step that fits samples."""
    shape = (24, 18, 26)
    grid, medium = unda.Grid(shape, SPACING), unda.Acoustic(rho=1000.0, c=2000.0)
    if scheme == "staggered":
        medium = _medium(physics, "varied", shape)
    sim = unda.FD(grid, medium, scheme=scheme, device="cpu", threads=2, **options)
    sim.add_source(_sources(physics, (90.0, 80.0, 150.0))[0])
    rec = sim.add_receivers([(100.0, 100.0, 120.0), (30.0, 20.0, 200.0)])
    sim.step(12)
    return outcome(sim, [rec])


def _at_rest(scheme, physics, engine, window):
    """A state whose first derivative in time is 0, which fills what is half a step or a step before."""
    grid = unda.Grid((13, 16, 21), SPACING)
    medium = unda.Acoustic(rho=1000.0, c=2000.0)
    if scheme == "staggered":
        medium = _medium(physics, "varied", grid.shape)
    boundary = {"zmax": WALLS[physics][0], "*": LAYERS["cpml"]}
    if scheme == "scalar":
        boundary |= {"xmin": LAYERS["damping"], "xmax": "rigid"}
    options = _engine(engine) | ({"window": window} if window else {})
    sim = unda.FD(grid, medium, scheme=scheme, boundary=boundary, **options)
    late = sim.medium.fields[:1] if scheme == "scalar" else [n for n in sim.fields if n[0] in "pse"]
    state = {name: np.random.default_rng(3).uniform(-1, 1, grid.shape) for name in late}
    if physics == "elastic":
        state = {name: state["sxx"] for name in ("sxx", "syy", "szz")}
    sim.set(**state)
    rec = sim.add_receivers(_places(grid, POINTS))
    sim.step(2)
    return outcome(sim, [rec])


PLAIN = {
    "order": 4, "low": "free", "high": "cpml", "third": "rigid", "axis": 1,
    "shape": (19, 23, 21), "core": ("elastic", "float32"), "layer": "cpml", "medium": "varied",
    "source": "first", "place": "beside", "engine": "step",
}  # fmt: skip
PLAIN_STAGGERED = PLAIN | {"low": "first", "high": "layer", "third": "second"}


def _planned(scheme, engine, options):
    """A kernel with parts of its plan given."""
    if scheme == "staggered":
        return _staggered(PLAIN_STAGGERED, {"kernel_options": options})
    options = _engine(engine) | {"kernel_options": options}
    sides = _boundary(PLAIN["shape"], 1, "free", "cpml", "rigid")
    return _scalar(PLAIN | {"core": ("varied", "float32")}, options, sides)


PLANS = (
    ("scalar", "tiled-1", {"depth": 3, "rows": 5}),
    ("scalar", "tiled-2", {"depth": 6}),
    ("scalar", "step", {"rows": 4, "planes": 5}),
    ("staggered", "step", {"rows": 2, "planes": 4, "width": 2}),
    ("staggered", "step", {"lanes": 64, "blocks": 2}),
)


def _each(settings, valid):
    """Every pair of settings for each core: on the CPU a run takes some hundredths of a second."""
    return [case for core in settings["core"] for case in pairwise(settings | {"core": (core,)}, valid, 4000)]


def runs():
    """{key: function that makes the run}."""
    table = {}
    scalar = [*_each(ON_CPU, _can), *pairwise(ON_DEVICE, _can, 4000), *pairwise(WINDOW, _can, 4000)]
    staggered = [*_each(STAGGERED, _can_stand), *pairwise(STAGGERED_ON_DEVICE, _can_stand, 4000)]
    for prefix, cases, function in (
        ("fd/scalar", scalar, _scalar_case),
        ("fd/staggered", staggered, _staggered),
    ):
        for case in cases:
            named = case | {"order": f"order{case['order']}", "shape": "x".join(map(str, case["shape"])),
                            "axis": "xyz"[case["axis"]], "core": "/".join(case.get("core", ()))}  # fmt: skip
            named |= {name: f"{name}{case[name]}" for name in ("window", "levels") if name in case}
            table["/".join([prefix, *filter(None, (str(named[name]) for name in case))])] = (function, case)
    for diamond in DIAMONDS:
        order, dts, step, dtype, c, sides, third, shape, window, levels = diamond
        words = [f"order{order}", f"dts{dts}step{step}", dtype, c, *sides, third, "x".join(map(str, shape))]
        words += [f"levels{levels}", *([f"window{window}"] if window else [])]
        table["/".join(["fd/scalar/diamond", *words])] = (_diamond, *diamond)
    for scheme, engine, options in PLANS:
        words = "+".join(f"{name}={value}" for name, value in options.items())
        table[f"fd/plan/{scheme}/{engine}/{words}"] = (_planned, scheme, engine, options)
    schemes = (("scalar", "acoustic"), *(("staggered", name) for name in WALLS))
    for (scheme, physics), engine in product(schemes, ("step-2", "step")):
        table[f"fd/checkpoint/{scheme}/{physics}/{engine}"] = (_resumed, scheme, physics, engine)
    for (scheme, physics), engine in product(schemes, ("step-1", "step-2", "step", "step/window")):
        name, _, window = engine.partition("/")
        if not window or scheme == "scalar":
            given = 3 if window else None
            table[f"fd/rest/{scheme}/{physics}/{engine}"] = (_at_rest, scheme, physics, name, given)
    table["fd/defaults/scalar"] = (_defaults, "scalar", "acoustic")
    more = {"fmax": 40.0, "sample_dt": 0.004}
    table["fd/defaults/scalar/fmax"] = (_defaults_with, "scalar", "acoustic", more)
    for physics in WALLS:
        table[f"fd/defaults/staggered/{physics}"] = (_defaults, "staggered", physics)
    return table


def _defaults_with(scheme, physics, options):
    return _defaults(scheme, physics, **options)
