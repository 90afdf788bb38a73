"""Plane waves on grids: total fields in a box, and what leaks out of it.

Not here: what is promised of them (test_plane_wave.py, test_plane_wave_engines.py).
"""

from dataclasses import dataclass, replace

import numpy as np
import unda

WATER = unda.Acoustic(rho=1000.0, c=1500.0)
ROCK = unda.Elastic(rho=2500.0, vp=4000.0, vs=2300.0)
AIR = unda.Maxwell(eps=8.9e-12, mu=1.26e-6)


@dataclass(frozen=True)
class Wave:
    """A scheme, and a wave of its medium along `axis`."""

    scheme: str
    medium: object
    speed: float
    axis: int
    sign: int = 1
    polarization: tuple = None
    kind: str = None


WAVES = {
    "scalar": Wave("scalar", WATER, 1500.0, 2),
    "acoustic": Wave("staggered", WATER, 1500.0, 0, -1),
    "P": Wave("staggered", ROCK, 4000.0, 1, kind="p"),
    "S": Wave("staggered", ROCK, 2300.0, 2, -1, (1.0, 0.4, 0.0), "s"),
    "fluid": Wave("staggered", unda.Elastic(rho=1000.0, vp=1500.0, vs=0.0), 1500.0, 0, kind="p"),
    "Yee": Wave("staggered", AIR, (8.9e-12 * 1.26e-6) ** -0.5, 0, 1, (0.0, 1.0, 0.3)),
}
H, ORIGIN, BEFORE = 10.0, (-13.0, 5.0, 100.0), 6


class Run:
    """A pulse that passes a box of total fields in the middle of a grid; its half width is six nodes.

    start: in nodes of the way, by how much later it begins; varies: the scalar scheme has another c at a
    corner of the grid; polarization: another one than that of WAVES.
    """

    def __init__(
        self, name, order, dtype, *, inner=(4, 5, 14), varies=False, start=0, amplitude=1.0,
        polarization=None, **options,
    ):  # fmt: skip
        wave = WAVES[name]
        self.wave = wave = replace(wave, polarization=polarization or wave.polarization)
        half = order // 2
        inner = np.roll(inner, wave.axis - 2)
        self.low = np.full(3, BEFORE + half)
        self.high = self.low + inner
        shape = self.high + BEFORE + half + 1
        self.grid = unda.Grid(shape.tolist(), H, origin=ORIGIN)
        direction = np.zeros(3)
        direction[wave.axis] = wave.sign
        ends = np.array(ORIGIN) + H * self.low, np.array(ORIGIN) + H * self.high
        self.period = 12 * H / wave.speed
        f = unda.ricker(1.0 / self.period, t0=0.0)
        arrives = min(float(direction @ end) for end in ends) / wave.speed
        # it enters before the box
        self.begins = arrives - 1.8 * self.period - (1.5 * order + 5 - start) * H / wave.speed
        self.source = unda.PlaneWave(
            direction, wave.polarization, f, kind=wave.kind, box=ends, amplitude=amplitude
        )
        walls = {"*": "pec" if name == "Yee" else "free"}  # nothing that leaks out goes away
        options = {"boundary": walls, "device": "cpu"} | options
        self.sim = unda.FD(
            self.grid, self.water() if varies else wave.medium, scheme=wave.scheme, order=order, dtype=dtype,
            **options,
        )  # fmt: skip
        self.sim.add_source(self.source)
        self.sim.set(t=self.begins)
        self.steps = int((4.0 * self.period + (20 + 1.5 * order) * H / wave.speed) / self.sim.dt)

    def also(self, sign, polarization=None, axis=None, amplitude=0.7, alone=False):
        """Add a second wave, shorter, with this sense along an axis, which is in the box with the first.

        alone: in place of the first.
        """
        wave = self.wave
        both = np.zeros((2, 3))
        both[0, wave.axis], both[1, wave.axis if axis is None else axis] = wave.sign, sign
        begins = (both @ np.transpose(self.source.box)).min(axis=1) / wave.speed
        self.second = unda.PlaneWave(
            both[1], polarization or wave.polarization, box=self.source.box, amplitude=amplitude,
            kind=wave.kind, f=unda.ricker(1.25 / self.period, t0=begins[0] - begins[1]),
        )  # fmt: skip
        if alone:
            self.sim.reset(sources=True)
        self.sim.add_source(self.second)
        self.sim.set(t=self.begins)
        return self

    def water(self):
        """Water, with another speed at a corner, which the wave does not meet."""
        c = np.full(self.grid.shape, WATER.scalar()["c"])
        c[0, 0, 0] *= 0.9
        return unda.Acoustic(rho=1000.0, c=c)

    def inside(self, name):
        """Which places of a field are inside."""
        found = np.ones((1, 1, 1), bool)
        for a, offset in enumerate(self.sim._scheme.offset(name)):
            at = np.arange(self.grid.shape[a]) + offset
            found = found & ((at >= self.low[a]) & (at <= self.high[a])).reshape(np.roll([-1, 1, 1], a))
        return found

    def leak(self, every=5):
        """Run; the largest value outside over the largest one inside of the fields of a kind."""
        outside, peak = {}, {}
        for _ in range(0, self.steps, every):
            self.sim.step(every)
            for name in self.sim.fields:
                values, inside, kind = np.abs(self.sim.get(name)), self.inside(name), name[0]
                outside[kind] = max(outside.get(kind, 0.0), float(values[~inside].max()))
                peak[kind] = max(peak.get(kind, 0.0), float(values[inside].max()))
        self.peak = max(peak.values())
        return max(outside[kind] / peak[kind] for kind in outside)
