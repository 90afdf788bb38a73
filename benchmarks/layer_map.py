"""Where layers of the staggered schemes grow: the map behind python/unda/problem/layer_rule.py.

``python benchmarks/layer_map.py [plates] [noise] [strata] [curl]``, all if none is named: tables for
docs/absorbing_layers.md, in half an hour on one core. Each case is a run from random velocities (E) at 0.99
of the limit, in float64; it grows if its energy does between the last two of five looks by more than 1e-6 of
itself: what is at rest stays, and what leaves lessens it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import unda

RATIOS = (0.0, 0.05, 0.1, 0.25, 1.0)
LOOKS = 5


def grows(medium: Any, shape: tuple[int, ...], sides: Mapping[str, Any], steps: int, order: int = 4) -> bool:
    """Say whether a run from random fields does."""
    sim = unda.FD(
        unda.Grid(shape, 1.0), medium, scheme="staggered", order=order, boundary=sides, device="cpu",
        dtype="float64", cfl=0.99, threads=1,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    sim.set(**{name: rng.standard_normal(shape) for name in sim.fields if name[0] in "vep"})
    found = []
    try:
        for _ in range(LOOKS):
            sim.step(steps // LOOKS)
            found.append(sim.energy())
            if found[-1] > 1e6 * found[0]:
                return True
    except unda.UnstableError:
        return True
    return bool(found[-1] > found[-2] * (1 + 1e-6))


def row(name: str, cases: list[Callable[[float], bool]], ratios: tuple[float, ...]) -> None:
    """Print how many of the cases grow at each ratio."""
    counts = [sum(case(ratio) for case in cases) for ratio in ratios]
    print(f"| {name} | {len(cases)} | " + " | ".join(map(str, counts)) + " |", flush=True)


def head(what: str, ratios: tuple[float, ...]) -> None:
    print(f"\n| {what} | runs | " + " | ".join(f"{ratio:g}" for ratio in ratios) + " |")


def plates() -> None:
    """Homogeneous plates: nodes, walls, vs/vp; then layers of one of them."""
    walls = [("free", "free"), ("fixed", "fixed"), ("free", "fixed")]

    def case(nodes: int, ends: tuple[str, str], vs: float, **layer: Any) -> Callable[[float], bool]:
        def run(ratio: float) -> bool:
            end = unda.CPML(ratio=ratio, **({"width": 10} | layer))
            sides = {"xmin": end, "xmax": end, "zmin": ends[0], "zmax": ends[1]}
            return grows(unda.Elastic(rho=1.0, vp=1.0, vs=vs), (21, 1, nodes), sides, 10_000)

        return run

    head("plates, nodes", RATIOS)
    for nodes in (5, 10, 20, 40):
        row(str(nodes), [case(nodes, ends, vs) for ends in walls for vs in (0.1, 0.3, 0.5, 0.7)], RATIOS)
    head("ten nodes, layers of", RATIOS)
    some = [(ends, vs) for ends in walls for vs in (0.3, 0.54)]
    layers: dict[str, dict[str, Any]] = {
        "5 nodes": {"width": 5}, "20 nodes": {"width": 20}, "kappa 3": {"kappa": 3.0},
        "three times f0": {"f0": 0.15}, "a third of f0": {"f0": 0.05 / 3},
    }  # fmt: skip
    for name, layer in layers.items():
        row(name, [case(10, ends, vs, **layer) for ends, vs in some], RATIOS)


def noise() -> None:
    """Another rho, vp and vs at every node, within a contrast each: half of them one of two values."""
    ratios = (0.0, 0.1, 0.5, 1.0)
    head("noise, contrast", ratios)

    def case(seed: int, contrast: float) -> Callable[[float], bool]:
        def run(ratio: float) -> bool:
            rng = np.random.default_rng(seed)
            shape, width = (12, 1, 12), (5, 10)[seed % 2]

            def field() -> np.ndarray:
                u = rng.uniform(size=shape)
                return contrast ** ((u > 0.5 if seed % 4 < 2 else u) - 0.5)

            vp = field()
            medium = unda.Elastic(
                rho=field(), vp=vp, vs=np.minimum(rng.uniform(0.1, 0.7) * field(), 0.8 * vp)
            )
            end = unda.CPML(width, ratio=ratio)
            sides = {"ymin": "periodic", "ymax": "periodic", "*": end}
            return grows(medium, shape, sides, 6000, (2, 4, 8)[seed % 3])

        return run

    for contrast in (1.25, 1.5, 2.0, 3.0, 10.0, 30.0):
        row(f"{contrast:g}", [case(seed, contrast) for seed in range(12)], ratios)


def strata() -> None:
    """Beds of five nodes or more, a third fluids in half of the cases; walls or layers above and below."""
    ratios = (0.0, 0.05, 0.1, 0.25, 1.0)
    head("strata, contrast", ratios)

    def case(seed: int, contrast: float) -> Callable[[float], bool]:
        def run(ratio: float) -> bool:
            rng = np.random.default_rng(seed)
            thick = rng.integers(5, 18, size=3)
            bed = np.repeat(np.arange(3), thick)
            shape = (12, 1, len(bed))
            vp = contrast ** (rng.uniform(size=3) - 0.5)
            vs = np.minimum(rng.uniform(0.3, 0.6) * contrast ** (rng.uniform(size=3) - 0.5), 0.8 * vp)
            if seed % 2:
                vs[rng.uniform(size=3) < 1 / 3] = 0.0
            rho = contrast ** (rng.uniform(size=3) - 0.5)
            medium = unda.Elastic(**{n: np.broadcast_to(v[bed], shape) for n, v in
                                     (("rho", rho), ("vp", vp), ("vs", vs))})  # fmt: skip
            end = unda.CPML(10, ratio=ratio)
            words = ("free", "fixed", end)
            sides = {"xmin": end, "xmax": end, "zmin": words[rng.integers(3)], "zmax": words[rng.integers(3)]}
            return grows(medium, shape, sides, 10_000)

        return run

    for contrast in (1.5, 3.0, 10.0, 100.0):
        row(f"{contrast:g}", [case(seed, contrast) for seed in range(10)], ratios)


def curl() -> None:
    """Maxwell's equations: eps 1 or its contrast, node by node, or in blocks of six nodes."""
    ratios = (0.0, 1.0)
    head("eps, contrast", ratios)

    def case(seed: int, contrast: float, block: int) -> Callable[[float], bool]:
        def run(ratio: float) -> bool:
            rng = np.random.default_rng(seed)
            coarse = rng.uniform(size=(6 // block + 1,) * 3) > 0.5
            eps = contrast ** np.kron(coarse, np.ones((block,) * 3))[:7, :7, :7]
            end = unda.CPML(6, ratio=ratio)
            sides = {"*": end} | ({"ymin": "pec", "ymax": ("pec", "pmc")[seed // 2 % 2]} if seed % 2 else {})
            return grows(unda.Maxwell(eps=eps, mu=1.0), eps.shape, sides, 3000)

        return run

    for contrast in (4.0, 9.0, 36.0, 100.0, 400.0):
        for block, what in ((1, "nodes"), (6, "blocks of 6")):
            row(f"{contrast:g}, {what}", [case(seed, contrast, block) for seed in range(4)], ratios)


def main() -> None:
    parts = {"plates": plates, "noise": noise, "strata": strata, "curl": curl}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
