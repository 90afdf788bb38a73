"""Finite differences on two devices beside one: bits, and the time of a step.

``python benchmarks/fd_slabs.py --nodes 512 --out slabs.json``. Weak: the grid doubles along x; strong: it has
as many nodes as one device had.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time

import numpy as np
import unda

CASES = {
    "scalar": ("scalar", unda.Acoustic(rho=1000.0, c=2000.0), {"kernel": "step"}),
    "elastic": ("staggered", unda.Elastic(rho=2000.0, vp=3000.0, vs=1700.0), {}),
}


def simulation(name, shape, device):
    """Return a grid with layers on all sides: a random field, a source in its middle, receivers across it."""
    scheme, medium, options = CASES[name]
    grid = unda.Grid(shape, 10.0)
    sim = unda.FD(grid, medium, scheme=scheme, order=4, device=device, **options)
    block = np.random.default_rng(1).standard_normal((8, *shape[1:]), np.float32)
    field = np.concatenate([block] * (shape[0] // 8 + 1))[: shape[0]]
    sim.set(**{sim.fields[0]: field})
    middle = np.array(grid.upper) / 2
    sim.add_source(unda.VolumeInjection(middle, unda.ricker(10.0, t0=0.0)))
    across = np.linspace(0.1, 0.9, 9)[:, None] * np.array([grid.upper[0], 0, 0]) + middle * (0, 1, 1)
    sim.add_receivers(across)
    return sim


def bits(name, shape, device, steps=25):
    """Return a hash of a field, a trace and the energy after some steps."""
    with simulation(name, shape, device) as sim:
        sim.step(steps)
        digest = hashlib.sha256(sim.get(sim.fields[0]).tobytes())
        digest.update(sim.receivers[0][sim.fields[0]].tobytes())
        return digest.hexdigest()[:16]


def rate(name, shape, device, seconds):
    """Return seconds of a step, the least of three runs, and what travels."""
    with simulation(name, shape, device) as sim:
        sim.step(10)
        begun = time.perf_counter()
        sim.step(20)
        num = max(20, int(seconds / (time.perf_counter() - begun) * 20))
        found = []
        for _ in range(3):
            begun = time.perf_counter()
            sim.step(num)
            found.append((time.perf_counter() - begun) / num)
        return min(found), repr(sim.team) if sim.team else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--devices", nargs="*", default=["cuda:0", "cuda:1"])
    parser.add_argument("--out", default="slabs.json")
    given = parser.parse_args()
    made = {}
    for name in CASES:
        shape, devices = (96, 64, 128), given.devices
        one = bits(name, shape, devices[0])
        made[f"{name} bits"] = {
            "twice": one == bits(name, shape, [devices[0]] * 2),
            "all": one == bits(name, shape, devices),
            "five": one == bits(name, shape, (devices * 5)[:5]),
            "reversed": one == bits(name, shape, devices[::-1]),
        }
        print(name, made[f"{name} bits"], flush=True)
        n, num = given.nodes, len(devices)
        alone, _ = rate(name, (n,) * 3, devices[0], given.seconds)
        strong, about = rate(name, (n,) * 3, devices, given.seconds)
        weak, more = rate(name, (num * n, n, n), devices, given.seconds)
        again, _ = rate(name, (n,) * 3, devices[0], given.seconds)
        alone = min(alone, again)
        made[name] = {
            "nodes": n, "one_ms": 1e3 * alone, "strong_ms": 1e3 * strong, "weak_ms": 1e3 * weak,
            "one_gcell": n**3 / alone / 1e9, "strong": alone / strong / num, "weak": alone / weak,
        }  # fmt: skip
        print(name, made[name], flush=True)
        print(about, more, sep="\n", flush=True)
        with open(given.out, "w") as file:
            json.dump(made, file, indent=1)


if __name__ == "__main__":
    main()
