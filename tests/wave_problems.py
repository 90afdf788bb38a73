"""Exact solutions in boxes that test the order of DG, for each physics; make(n) gives what `order` takes.

Each comes with its meshes: bricks a side by degree, so few that a run takes a second, so many that the
solution is resolved on the coarsest.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import unda
from unda import exact
from wave_runs import CUBE, AsSound, LayeredMode, box, layered, named_sides, two_media

AIR, STEAM = unda.Acoustic(rho=1.0, c=1.1), unda.Acoustic(rho=1.6, c=1.4)
ROCK, HARD = unda.Elastic(rho=1.3, vp=1.7, vs=0.9), unda.Elastic(rho=2.1, vp=2.0, vs=1.2)
SEA, BRINE = unda.Elastic(rho=1.0, vp=1.1, vs=0.0), unda.Elastic(rho=1.6, vp=1.4, vs=0.0)
GLASS, IRON = unda.Maxwell(eps=1.3, mu=0.9), unda.Maxwell(eps=2.1, mu=1.7)
CLAY = unda.Maxwell(eps=1.3, mu=0.9, sigma=3.0)

K = 2 * np.pi * np.array([1, 0, -1])
COLUMN = (0.0, 0.0, 0.0), (0.5, 0.5, 1.0)
# Beyond degree 5 modes of layers are higher ones by this: values at an interface are those 1e-9 of a cell
# inside, below which errors do not fall.
HIGHER = 2
PLATE = (0.0, 0.0, 0.0), (2.0, 1.0, 1.0)
ACROSS = (1, -2, 1)  # (1, 1, 1)

WAVE_CELLS = {1: (4, 6, 8), 2: (3, 4, 5), 3: (3, 4, 6), 4: (3, 4, 5), 5: (3, 4, 5)}
CUBE_CELLS = {1: (4, 6, 8), 2: (4, 5, 6), 3: (3, 4, 5), 4: (3, 4, 5), 5: (3, 4, 5)}
COLUMN_CELLS = {1: (3, 4, 6), 2: (3, 4, 5), 3: (2, 3, 4), 4: (2, 3, 4), 5: (2, 3, 4)}
PLATE_CELLS = {1: (3, 4, 6), 2: (2, 3, 4), 3: (2, 3, 4), 4: (2, 3, 4), 5: (2, 3, 4)}


class Problem(NamedTuple):
    """A solution and the meshes it is run on."""

    make: Callable  # of n and options of meshes, to mesh, medium, exact solution, boundary
    cells: dict
    speed: float  # of the fastest wave


class Sum:
    """Of solutions in one medium."""

    def __init__(self, *parts):
        self._parts = parts

    def __call__(self, x, y, z, t):
        values = [part(x, y, z, t) for part in self._parts]
        return {name: sum(one[name] for one in values) for name in values[0]}


def speed(medium):
    return float(medium.speed_max(box(1)))


def periodic(medium, solution):
    def make(n, bent=False, **mesh):
        return box(n, periodic=(True,) * 3, bent=bent, **mesh), medium, solution, None

    return Problem(make, WAVE_CELLS, speed(medium))


def cube(medium, solution, wall):
    def make(n, bent=False, **mesh):
        return box(n, bent=bent, **mesh), medium, solution, {"*": wall}

    return Problem(make, CUBE_CELLS, speed(medium))


def clamped(x, y, z, t):
    """A standing S wave between walls across x that do not move."""
    rho, _, vs = ROCK.scalar().values()
    omega = np.pi * vs
    v = np.sin(np.pi * x) * np.cos(omega * t) + 0 * (y + z)
    s = rho * vs**2 * np.pi * np.cos(np.pi * x) * np.sin(omega * t) / omega + 0 * (y + z)
    values = {"vy": v, "vz": 0.5 * v, "sxy": s, "sxz": 0.5 * s}
    return {name: values.get(name, 0 * v) for name in ROCK.fields}


def clamped_box(n, bent=False, **mesh):
    return box(n, periodic=(False, True, True), bent=bent, **mesh), ROCK, clamped, {"*": "fixed"}


def plate(symmetric):
    @cache
    def mode():
        return exact.plate_mode(ROCK, (np.pi, 0, 0), 1.0, symmetric=symmetric, position=0.5)

    def make(n, bent=False, **mesh):
        plate = box((2 * n, n, n), box=PLATE, periodic=(True, True, False), bent=bent, **mesh)
        return plate, ROCK, mode(), {"*": "free"}

    return Problem(make, PLATE_CELLS, speed(ROCK))


def layers(one, two, order, top="symmetry"):
    modes = [LayeredMode(one, two, order=i, top=top, box=COLUMN, n=(1, 0)) for i in (order, order + HIGHER)]

    def make(n, bent=False, **mesh):
        column = layered((n, n, 2 * n), box=COLUMN, bent=bent, **mesh)
        return column, two_media(one, two), modes[bent], {"zmax": top, "*": "symmetry"}

    return Problem(make, COLUMN_CELLS, max(speed(one), speed(two)))


def layers_of_sound():
    modes = [AsSound(LayeredMode(SEA, BRINE, order=i, box=COLUMN, n=(1, 0))) for i in (2, 2 + HIGHER)]

    def make(n, bent=False, **mesh):
        column = layered((n, n, 2 * n), box=COLUMN, bent=bent, **mesh)
        return column, two_media(AIR, STEAM), modes[bent], {"*": "rigid"}

    return Problem(make, COLUMN_CELLS, speed(STEAM))


def two_layers_of_light():
    """Layers across x, as `cavity_mode_two_media` has them."""
    modes = [
        exact.cavity_mode_two_media(
            GLASS, IRON, (0, 0, 0), (1, 0.5, 0.5), position=0.5, n=(0, 1), order=i
        ) for i in (1, 1 + HIGHER)
    ]  # fmt: skip

    def make(n, bent=False, **mesh):
        column = layered((n, n, 2 * n), box=COLUMN, bent=bent, **mesh)
        turned = unda.Mesh(
            column.vertices[:, [2, 0, 1]], column.cells, tags=column.tags, tag_names=column.tag_names,
            boundaries=named_sides(column),
        )  # fmt: skip
        return turned, two_media(GLASS, IRON), modes[bent], {"*": "pec"}

    return Problem(make, COLUMN_CELLS | {3: (3, 4, 5)}, speed(GLASS))


PROBLEMS = {
    "sound": periodic(AIR, exact.plane_wave(AIR, k=K)),
    "sound between rigid walls": cube(AIR, exact.rigid_box_mode(AIR, *CUBE, n=(1, 1, 1)), "rigid"),
    "sound between free walls": cube(AIR, exact.free_box_mode(AIR, *CUBE, n=(1, 1, 1)), "free"),
    "sound in layers": layers_of_sound(),
    "P and S waves": periodic(
        ROCK, Sum(exact.plane_wave(ROCK, k=K), exact.plane_wave(ROCK, k=K, kind="s", polarization=(1, 2, 3)))
    ),
    "Lame mode of a free cube": cube(ROCK, exact.lame_mode(ROCK, *CUBE), "free"),
    "P and S between lubricated walls": cube(
        ROCK,
        Sum(
            exact.lubricated_box_mode(ROCK, *CUBE, n=(1, 1, 1)),
            exact.lubricated_box_mode(ROCK, *CUBE, n=(1, 1, 1), kind="s", polarization=(1, -1, 0.5)),
        ),
        "symmetry",
    ),
    "S between clamped walls": Problem(clamped_box, CUBE_CELLS, speed(ROCK)),
    "free plate": plate(True),
    "free plate that bends": plate(False),
    "layers of rock": layers(ROCK, HARD, 1),
    "sea on rock": layers(HARD, SEA, 1, "free"),
    "fluid on rock": layers(ROCK, SEA, 2),
    "layers of fluid": layers(SEA, BRINE, 2),
    "light": periodic(GLASS, exact.plane_wave(GLASS, k=K, polarization=(1, 1, 1))),
    "light in a conductor": periodic(CLAY, exact.plane_wave(CLAY, k=K, polarization=(1, 1, 1))),
    "cavity": cube(GLASS, exact.cavity_mode(GLASS, *CUBE, polarization=ACROSS), "pec"),
    "magnetic cavity": cube(
        GLASS, exact.cavity_mode(GLASS, *CUBE, polarization=ACROSS, walls={"*": "pmc"}), "pmc"
    ),
    "cavity that conducts": cube(CLAY, exact.cavity_mode(CLAY, *CUBE, polarization=ACROSS), "pec"),
    "cavity of two layers": two_layers_of_light(),
}
