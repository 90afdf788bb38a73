"""LOH.1: a slip in rock under a soft layer, by any method beside its exact solution (Day & Bradley 2001).

A layer of 1000 m (vp 4000, vs 2000 m/s, 2600 kg/m3) on a half-space (6000, 3464, 2700), a moment Mxy of
1e18 N m at 2000 m, released as 1 - (1 + t/T) exp(-t/T), T = 0.1 s, and receivers at (600 j, 800 j, 0) m.
The source is smoothed by a Gaussian, traces are exactly those of a smoothed source. The reference is
`unda.exact.layered_source`, integrals over plane waves, accurate to 1e-6.

The box is so large that nothing returns from its sides before the last sample, whatever their conditions
let through: the shortest way from the source by a side to a receiver takes a P wave that long. (Finite
differences have matched layers and need a margin only.) What is left is the error of the method:

- elements, 8 nodes in the shortest wavelength: 1 %, the target of both methods for point sources and layers
  at this resolution; of degree N they err by h^(N + 1), so that of n nodes it is 1 % (8/n)^(N + 1).
- finite differences, 20 nodes: 5 %, their interface between two nodes, of second order: 5 % (20/n)^2.

The shortest wavelength is that of S waves in the layer at the frequency where the spectrum of the smoothed
slip rate, exp(-(omega sigma)^2/2)/(1 + (omega T)^2), is 1 % of its peak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, log, pi, sqrt
from time import perf_counter
from typing import Any

import numpy as np

from ..exact import ExactSolution, layered_source
from ..exact.surface_wave import root_between
from ..method.dg import DG
from ..method.fd import FD
from ..method.sem import SEM
from ..problem.grid import Grid
from ..problem.layer import CPML
from ..problem.mapped_mesh import mapped_mesh
from ..problem.medium import Elastic
from ..problem.mesh import Mesh
from ..problem.source import MomentTensor
from ..problem.timefunction import TimeFunction, sampled

LAYER, ROCK = {"rho": 2600.0, "vp": 4000.0, "vs": 2000.0}, {"rho": 2700.0, "vp": 6000.0, "vs": 3464.0}
THICKNESS, DEPTH, RISE = 1000.0, 2000.0, 0.1  # of the layer, of the source [m]; T [s]
MOMENT = 1e18 * np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
DEGREE, ORDER = 4, 8  # of elements, of finite differences
NODES = {"sem": 8.0, "dg": 8.0, "fd": 20.0}
FIELDS = ("vx", "vy", "vz")


def slip(sigma: float) -> TimeFunction:
    """Return the moment over its last value, smoothed by a Gaussian of standard deviation `sigma` [s].

    The rate is the integral of (s/T^2) exp(-s/T) times the Gaussian of t - s: with m = t - sigma^2/T,
    exp(sigma^2/(2 T^2) - t/T)/T^2 (m Phi(m/sigma) + sigma phi(m/sigma)), Phi and phi the normal distribution.
    """
    from scipy.special import log_ndtr

    t = np.arange(-6.5 * sigma, 6.5 * sigma + 25.0 * RISE, sigma / 50.0)
    m = t - sigma**2 / RISE
    decay = sigma**2 / (2.0 * RISE**2) - t / RISE
    below = np.exp(decay - 0.5 * (m / sigma) ** 2) * sigma / sqrt(2.0 * pi)
    return sampled(t, (m * np.exp(decay + log_ndtr(m / sigma)) + below) / RISE**2).integral


def wavelength(sigma: float) -> float:
    """Return the shortest wavelength [m]."""

    def above(omega: float) -> float:
        return log(100.0) - 0.5 * (omega * sigma) ** 2 - log(1.0 + (omega * RISE) ** 2)

    return 2.0 * pi * LAYER["vs"] / root_between(above, 0.0, 10.0 / sigma)


def reference(sigma: float) -> ExactSolution:
    """Return the exact solution."""
    source = MomentTensor((0.0, 0.0, -DEPTH), slip(sigma), MOMENT)
    return layered_source(solid(ROCK), source, layers=[(THICKNESS, solid(LAYER))])


def extent(places: np.ndarray, way: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box of which each way from the source by a side to a place is that long [m].

    Such a way is as long as the distance of the place from the source's mirror image.
    """
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    for place in places:
        offset = place - [0.0, 0.0, -DEPTH]
        for axis in range(3):
            image = sqrt(max(way**2 - offset @ offset + offset[axis] ** 2, offset[axis] ** 2))
            lower[axis] = min(lower[axis], (offset[axis] - image) / 2.0)
            upper[axis] = max(upper[axis], (offset[axis] + image) / 2.0)
    return lower - [0.0, 0.0, DEPTH], np.array([upper[0], upper[1], 0.0])


def mesh_of(lower: np.ndarray, upper: np.ndarray, size: float) -> Mesh:
    """Return hexahedra of a size in the layer, and longer ones as waves are below it, down to their sides."""
    x, y = (np.linspace(a, b, ceil((b - a) / size) + 1) for a, b in zip(lower[:2], upper[:2], strict=True))
    below = ceil((-THICKNESS - lower[2]) / (size * ROCK["vs"] / LAYER["vs"]))
    rock = np.linspace(lower[2], -THICKNESS, below + 1)
    soil = np.linspace(-THICKNESS, 0.0, ceil(THICKNESS / size) + 1)
    return mapped_mesh(*np.meshgrid(x, y, np.concatenate([rock, soil[1:]]), indexing="ij"))


def solid(values: dict[str, Any]) -> Elastic:
    """Return a medium of these parameters."""
    return Elastic(rho=values["rho"], vp=values["vp"], vs=values["vs"])


def layered(name: str) -> Callable[..., np.ndarray]:
    """Return a parameter of both media as a function of places."""
    return lambda x, y, z: np.where(z > -THICKNESS, LAYER[name], ROCK[name]) + 0.0 * x * y


def simulation(
    method: str, places: np.ndarray, way: float, shortest: float, nodes: float, device: str
) -> Any:
    """Return a simulation by a method, with so many nodes in the shortest wavelength [m]."""
    spacing, both = shortest / nodes, {name: layered(name) for name in LAYER}
    if method == "fd":
        # an interface midway between nodes is where their means have it; h no longer than asked for
        h = THICKNESS / (ceil(THICKNESS / spacing - 0.5) + 0.5)
        margin = ceil(1.5 * THICKNESS / h) * h  # long waves reach the layers as well: nearer they return 4 %
        lower = np.minimum(places.min(axis=0), [0.0, 0.0, -DEPTH]) - margin
        upper = np.maximum(places.max(axis=0), 0.0) + np.array([margin, margin, 0.0])
        num = [ceil((b - a) / h) + 1 for a, b in zip(lower, upper, strict=True)]
        origin = (lower[0], lower[1], -h * (num[2] - 1))
        sides = {"zmax": "free", "*": CPML(width=20, f0=LAYER["vs"] / shortest / 10)}
        grid = Grid((num[0], num[1], num[2]), h, origin=origin)
        return FD(grid, solid(both), scheme="staggered", order=ORDER, boundary=sides, device=device)
    make = {"sem": SEM, "dg": DG}[method]
    mesh = mesh_of(*extent(places, way), DEGREE * spacing)
    return make(mesh, solid(both), degree=DEGREE, boundary={"zmax": "free", "*": "absorbing"}, device=device)


def bar(method: str, nodes: float) -> float:
    """Return the largest relative error that a component of the velocity may have, 10 % at most."""
    if method == "fd":
        return min(0.05 * (NODES["fd"] / nodes) ** 2, 0.1)
    return min(0.01 * (NODES[method] / nodes) ** (DEGREE + 1), 0.1)


def loh1(
    device: str, quick: bool, *, method: str = "sem", nodes: float | None = None, distance: float = 1000.0,
    sigma: float | None = None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """LOH.1 (verification V19): a row for each component; `distance` of the farthest receiver [m]."""
    sigma = sigma or (0.2 if quick else 0.06)
    nodes = nodes or NODES[method] * (0.75 if quick else 1.0)
    places = np.array([(600.0 * j, 800.0 * j, 0.0) for j in range(1, max(1, int(distance / 1000.0)) + 1)])
    # until the slowest wave, Rayleigh's in the layer, has passed; --quick: while the S wave passes
    end = 1.6 if quick else 3.0 * sigma + 8.0 * RISE + DEPTH / ROCK["vs"] + float(
        np.linalg.norm(places[-1])) / 1800.0  # fmt: skip
    begin = -3.5 * sigma  # earlier the rate is below 1e-4 of its peak
    way = ROCK["vp"] * (end - begin)
    solution = reference(sigma)
    start = perf_counter()
    with simulation(method, places, way, wavelength(sigma), nodes, device) as sim:
        setup = perf_counter() - start
        sim.set(t=begin)
        sim.add_source(MomentTensor((0.0, 0.0, -DEPTH), slip(sigma), MOMENT))
        rec = sim.add_receivers(places, FIELDS)
        start = perf_counter()
        sim.run(until=end, progress=False)
        (size, unit), ran = sim._size(), perf_counter() - start
        of = {"nodes": nodes, "distance": distance, "sigma": sigma, "size": size, "unit": unit, "dt": sim.dt,
              "steps": sim.step_count, "memory": sim.memory, "setup_seconds": setup,
              "run_seconds": ran}  # fmt: skip
        most = bar(method, nodes)
        for field in FIELDS:
            error = float(rec.misfit(solution, fields=(field,)).max())
            yield {"check": f"LOH.1, {method}, {field}", "degree": ORDER if method == "fd" else DEGREE,
                   "error": error, "order": None, "wanted": f"error <= {most:.3g}",
                   "passed": error <= most, **of}  # fmt: skip
