"""The pace of a method on a device, measured: seconds of a node's step, its stable step, its memory.

Not here: how kernels are chosen and timed one by one (method/tune.py, method/speed.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..method.dg import DG
from ..method.fd import FD
from ..method.sem import SEM
from ..problem.grid import Grid
from ..problem.mesh import box_mesh
from .waves import brick_of, spacing_of

#: Nodes of what is timed: so few that a step is launches and waiting, and enough to fill a device.
_NODES = {"cpu": (10_000, 150_000), "cuda": (100_000, 6_000_000)}
_SECONDS = 0.15  # of each
_BRICKS = 4, 6  # of meshes whose memory is compared


@dataclass(frozen=True)
class Pace:
    """A method as it is to be run."""

    name: str
    degree: int
    medium: Any
    device: str
    dtype: str
    threads: int | None

    @property
    def rough(self) -> float:
        """Return operations of a node and stage, in some unit, to choose what is measured."""
        family, kind = self.name.split()
        if family == "FD":
            return 2.0 + self.degree
        dense = kind == "tet"
        stages = 5.0 if family == "DG" else 1.5
        return stages * (10.0 + (brick_of("tet", self.degree, 1.0) ** 3 / 6 if dense else 3.0 * self.degree))

    @property
    def courant(self) -> float:
        """Return the stable c dt over the node spacing, of cells of one size."""
        return _courant(self.name, self.degree, self.medium, self.dtype)

    def options(self) -> dict[str, Any]:
        """Return the keywords of the class."""
        given: dict[str, Any] = {"dtype": self.dtype, "device": self.device, "threads": self.threads}
        family, kind = self.name.split()
        return given | ({"order": self.degree, "scheme": kind} if family == "FD" else {"degree": self.degree})


@dataclass(frozen=True)
class Measured:
    """What was measured of a `Pace`."""

    pace: Pace
    overhead: float  # seconds of a step whatever its nodes
    seconds: float  # of a node and step, on top
    layer: int  # nodes of a grid's layer

    def step(self, num_node: int) -> float:
        """Return the seconds of a step of so many nodes, those of layers among them."""
        return self.overhead + self.seconds * num_node

    def mesh_memory(self, bricks: int) -> tuple[int, int]:
        """Return bytes on host and device of so many bricks: both grow linearly."""
        few, many = _BRICKS
        of = {n: _class(self.pace).forecast(_mesh(self.pace, n), self.pace.medium, **self.pace.options())
              for n in _BRICKS}  # fmt: skip
        found = []
        for where in ("host", "device"):
            each = (of[many][where] - of[few][where]) / (many**3 - few**3)
            found.append(max(0, round(of[few][where] + each * (bricks - few**3))))
        return found[0], found[1]

    def grid_memory(self, shape: Sequence[int], uniform: bool) -> tuple[int, int]:
        """Return bytes on host and device of a grid; a medium that varies takes more at each node."""
        given = self.pace.options()
        total = FD.forecast(Grid(shape, 1.0), self.pace.medium, **given)
        if uniform or self.pace.name == "FD scalar":
            return total["host"], total["device"]
        small = Grid((24, 24, 24), 1.0)
        values = self.pace.medium.scalar()
        named = {name: (lambda x, y, z, one=one: one + 0.0 * (x + y + z)) for name, one in values.items()}
        varied = FD.forecast(small, type(self.pace.medium)(**named), **given)
        plain = FD.forecast(small, self.pace.medium, **given)
        scale = math.prod(n + 2 * self.layer for n in shape) / math.prod(
            n + 2 * self.layer for n in small.shape
        )
        return tuple(round(total[k] + scale * (varied[k] - plain[k])) for k in ("host", "device"))  # type: ignore[return-value]


def _class(pace: Pace) -> Any:
    return {"DG": DG, "SEM": SEM, "FD": FD}[pace.name.split()[0]]


def _mesh(pace: Pace, count: int) -> Any:
    """Return a mesh of count^3 bricks, spacing of nodes 1."""
    kind = pace.name.split()[1]
    edge = count * brick_of(kind, pace.degree, 1.0)
    return box_mesh((0, 0, 0), (edge,) * 3, (count,) * 3, shape=kind)


@lru_cache(maxsize=256)
def _courant(name: str, degree: int, medium: Any, dtype: str) -> float:
    pace = Pace(name, degree, medium, "cpu", dtype, 1)
    place: Any = Grid((24, 24, 24), 1.0) if name.startswith("FD") else _mesh(pace, 6)
    with _class(pace)(place, medium, **pace.options()) as sim:
        return float(sim.dt_stable * medium.speed_max(Grid((1, 1, 1), 1.0)))


@lru_cache(maxsize=256)
def pace_of(pace: Pace) -> Measured:
    """Return the pace of a method: measured the first time in a process, about a second each."""
    timed = [_timed(pace, target) for target in _NODES["cpu" if pace.device == "cpu" else "cuda"]]
    (few, short, _), (many, long, layer) = timed
    seconds = max(0.0, long - short) / max(1, many - few)
    if seconds * many < 0.2 * long:  # noise: the time of few nodes says nothing
        seconds = long / many
    return Measured(pace, max(0.0, long - seconds * many), seconds, layer)


def _timed(pace: Pace, target: int) -> tuple[int, float, int]:
    """Return nodes of a problem of about so many, the seconds of its step, and nodes of a grid's layer."""
    family, kind = pace.name.split()
    side = target ** (1 / 3)
    if family == "FD":
        place: Any = Grid((round(side),) * 3, 1.0)
    else:
        place = _mesh(pace, max(2, round(side * spacing_of(kind, pace.degree, 1.0))))
    with _class(pace)(place, pace.medium, **pace.options()) as sim:
        if family == "FD":
            num, layer = math.prod(sim.padded), (sim.padded[0] - place.shape[0]) // 2
        else:
            num, layer = place.num_elem * sim.num_node, 0
        sim.step(2)  # compiles, and touches all memory
        count, passed = 4, 0.0
        while True:
            begin = time.perf_counter()
            sim.step(count)
            passed = time.perf_counter() - begin
            if passed > _SECONDS:
                return num, passed / count, layer
            count = min(4 * count, math.ceil(1.3 * count * _SECONDS / max(passed, 1e-6)) + 1)
