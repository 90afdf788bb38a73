"""Runs of kernels diamond and step on random fields.

For fd/test_fd_diamond.py and fd/test_diamond_slabs.py.
"""

import numpy as np
import unda


def make(case, kernel, *, shape=None, options=None, device="cuda", **more):
    """A simulation of random fields, and where its random numbers stand."""
    order, dts, step = case["tile"]
    shape = shape or case["shape"]
    rng = np.random.default_rng(11)
    grid = unda.Grid(shape, (10.0, 12.0, 9.0))
    sides = {}
    for name in "xyz":
        for side, word in (("min", case["low"]), ("max", case["high"])):
            layers = {"layer": unda.Damping(3), "matched": unda.CPML(3, f0=20.0)}
            sides[name + side] = layers.get(word, word)
    c = rng.uniform(1000, 2000, shape) if case["medium"] == "varying" else 2000.0
    if options is None and kernel == "diamond":
        options = {"dts": dts, "step": step, "levels": case["levels"], "fewest": case["fewest"]}
    sim = unda.FD(
        grid, unda.Acoustic(rho=1000.0, c=c), order=order, dtype=case["dtype"], boundary=sides, device=device,
        kernel=kernel, kernel_options=options if kernel == "diamond" else None, **more,
    )  # fmt: skip
    p, before = rng.uniform(-1, 1, (2, *shape))
    sim.set(p=p, p_previous=before)
    return sim, rng


def run(
    case, kernel, *, shape=None, options=None, steps=(3, 9), heights=(), across=False, device="cuda", **more
):
    """Both levels and all traces of random fields with three sources and three groups of receivers.

    One group is added after the first of `steps`, which is no multiple of its four steps between samples.
    heights: of further sources, as shares of the height of the grid. across: sources and receivers at every
    node inside of lines along x, too, and their traces first. more: of processes comm and transport, of which
    all but process 0 have no levels.
    """
    sim, rng = make(case, kernel, shape=shape, options=options, device=device, **more)
    size = np.array(sim.grid.size)
    places = [*rng.uniform(0.1, 0.9, (3, 3)), *((0.4, 0.6, height) for height in heights)]
    for i, place in enumerate(places):
        sim.add_source(unda.VolumeInjection(place * size, unda.ricker(20.0 + 10.0 * i, t0=0.0)))
    line = np.linspace(0, 1, sim.grid.shape[0])[:, None]
    if across:
        for share in line[1:-1]:
            place = np.append(share, (0.55, 0.35)) * size
            sim.add_source(unda.VolumeInjection(place, unda.ricker(30.0, t0=0.0)))
        all_along = sim.add_receivers(np.hstack([line, 0 * line + 0.5, 0 * line + 0.4])[1:-1] * size, ["p"])
    every = sim.add_receivers(rng.uniform(0, 1, (5, 3)) * size, ["p"])
    third = sim.add_receivers(np.array([0.5 * size, size]), ["p"], every=3)
    sim.step(steps[0])
    late = sim.add_receivers(rng.uniform(0, 1, (3, 3)) * size, ["p"], every=4)
    for n in steps[1:]:
        sim.step(n)
    traces = [group["p"] for group in ([all_along] if across else []) + [every, third, late]]
    return sim.get("p", gather=True), sim.get("p_previous", gather=True), *traces


def same(first, second):
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
