"""Problems that unda.FD and the reference solve both: a case says all, and makes either of them.

Not here: the scheme itself (fd_reference.py).
"""

from typing import NamedTuple

import numpy as np
import unda
from fd_reference import Reference, stable_step
from hypothesis import strategies as st

SIDES = ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")
RHO = 1.7


def boundary(sides):
    """What FD takes for three pairs of sides of the reference."""
    ends = [side for pair in sides for side in pair]
    return dict(zip(SIDES, map(named, ends), strict=True))


def named(end):
    """A side as FD takes it."""
    if not isinstance(end, tuple):
        return end
    return unda.CPML(end[0], R0=end[1], f0=end[2]) if len(end) == 3 else unda.Damping(*end)


class Case(NamedTuple):
    """A grid, its sides, an order, a medium; the step is `cfl` of the limit in three dimensions."""

    shape: tuple
    sides: tuple
    order: int = 4
    spacing: tuple = (1.0, 0.8, 1.3)
    contrast: float = 2.5  # of c: 1 for a constant
    cfl: float = 0.9
    seed: int = 0
    origin: tuple = (-3.0, 10.0, 0.5)

    @property
    def random(self):
        return np.random.default_rng(self.seed)

    @property
    def c(self):
        """Another speed at every node, the first of which is the largest; one number without contrast."""
        if self.contrast == 1:
            return 1.3
        c = 1.3 * self.contrast ** self.random.uniform(0, 1, self.shape)
        c.flat[0] = 1.3 * self.contrast
        return c

    @property
    def dt(self):
        return self.cfl * stable_step(self.order, self.spacing, np.max(self.c))

    @property
    def grid(self):
        return unda.Grid(self.shape, self.spacing, origin=self.origin)

    def reference(self):
        options = {"c": self.c, "rho": RHO, "dt": self.dt, "origin": self.origin}
        return Reference(self.shape, self.spacing, self.sides, self.order, **options)

    def fd(self, *, dtype="float64", device="cpu", **options):
        medium = unda.Acoustic(rho=RHO, c=self.c)
        options = {"dt": self.dt} | options
        return unda.FD(self.grid, medium, order=self.order, boundary=boundary(self.sides),
                       dtype=dtype, device=device, **options)  # fmt: skip

    def states(self):
        """Two random levels that free sides bear."""
        reference = self.reference()
        held = reference.loose.reshape(reference.shape)[reference.inside]
        rng = np.random.default_rng(self.seed + 1)
        return held * rng.standard_normal(self.shape), held * rng.standard_normal(self.shape)

    def points(self, num, seed=2, fringe=0.0):
        """Random points, not on free sides; every third at less than a cell from a side or in a corner."""
        rng = np.random.default_rng(self.seed + seed)
        last = np.array(self.shape) - 1
        u = rng.uniform(0, 1, (num, 3)) * (last - 2 * fringe) + fringe
        near = rng.uniform(0.01, 0.99, (num, 3))
        choice = (np.arange(num)[:, None] % 3 == 1) & (rng.uniform(size=(num, 3)) < 0.7)
        if not fringe:
            u = np.where(choice, np.minimum(near, 0.5 * last), u)
            u = np.where(choice & (rng.uniform(size=(num, 3)) < 0.5), last - u, u)
        on_node = np.arange(num) % 4 == 3  # exactly on a node
        u[on_node] = np.clip(np.round(u[on_node]), np.minimum(1, last), np.maximum(last - 1, 0))
        return np.array(self.origin) + u * np.array(self.spacing)


def run_both(case, steps, *, sources=(), receivers=(), every=1, rest=False, **options):
    """Fields, previous fields, traces and energies (FD, reference) after some steps from random levels."""
    sim, reference = case.fd(**options), case.reference()
    p, q = case.states()
    if rest:
        sim.set(p=p)
        reference.set(p)
    else:
        sim.set(p=p, p_previous=q)
        reference.set(p, q)
    for place, f in sources:
        sim.add_source(unda.VolumeInjection(place, f))
        reference.add_source(place, f)
    traces = [reference.sample(receivers)]
    rec = sim.add_receivers(receivers, ["p"], every=every) if len(receivers) else None
    sim.step(steps)
    for n in range(1, steps + 1):
        reference.step()
        if n % every == 0:
            traces.append(reference.sample(receivers))
    found = {"p": sim.get("p"), "p_previous": sim.get("p_previous")}
    expected = {"p": reference.get(), "p_previous": reference.get(1)}
    if rec is not None:
        found["trace"], expected["trace"] = rec["p"], np.array(traces).T
        t = reference.t0 + case.dt * every * np.arange(len(traces))
        assert np.allclose(rec.t, t, rtol=1e-14, atol=0)
    return found, expected


def differences(found, expected):
    """Largest difference of each, relative to the largest value of the fields."""
    scale = max(np.abs(expected["p"]).max(), np.abs(expected["p_previous"]).max(), 1e-300)
    for name, one in found.items():
        assert one.shape == expected[name].shape, name
    return {name: float(np.abs(one - expected[name]).max(initial=0)) / scale for name, one in found.items()}


LAYERS = st.tuples(st.integers(1, 6), st.sampled_from([0.1, 0.01, 1e-3]))
LAYERS |= st.tuples(st.integers(1, 6), st.sampled_from([0.01, 1e-7]), st.sampled_from([0.03, 0.1]))
ENDS = st.sampled_from(["free", "rigid"]) | LAYERS
PAIRS = st.tuples(ENDS, ENDS) | st.just(("periodic", "periodic"))


@st.composite
def any_case(draw, orders=(2, 4, 6, 8, 12), least=None, most=13):
    """Any sides, any order; as narrow as one node, or as two where a side is free."""
    order = draw(st.sampled_from(orders))
    sides = tuple(draw(PAIRS) for _ in range(3))
    flat = [pair in (("rigid", "rigid"), ("periodic", "periodic")) for pair in sides]
    shape = tuple(draw(st.integers(least or (1 if one else 3), most)) for one in flat)
    spacing = tuple(draw(st.sampled_from([0.7, 1.0, 1.2])) for _ in range(3))
    contrast, cfl = draw(st.sampled_from([1, 3.0])), draw(st.sampled_from([0.3, 0.9]))
    return Case(shape, sides, order, spacing, contrast, cfl, draw(st.integers(0, 1000)))
