"""Spectral elements on CUDA do what the CPU engine does, on the stand-in driver or on a device.

The table covers every pair of settings. Both engines do the same operations but for the order of sums, so
that they differ by rounding. An acceleration is a sum of products of 3 (N + 1) slopes and as many fluxes: its
rounding is at most some (N + 1) eps lambda |u|, lambda the largest eigenvalue, if errors add up like random
ones. A step adds dt^2 of it, at most 4 (N + 1) eps |u| as dt^2 lambda < 4, and n steps n^2 / 2 times as much
in the waves that grow the fastest, those of constant velocity. States are noise at the nodes, in which all
wavelengths are equally strong: then a and lambda u, v and sqrt(lambda) u, stresses and slopes are alike, and
the bound holds for each of them. Where a solid meets a fluid its acceleration has the rounding of chi'' too,
which came from as many operations: twice as much.
"""

import cuda_device
import numpy as np
import pytest
import unda
from hex_meshes import turned
from pairwise import by_default, pairwise
from sem_cuda_cases import add_points, made, noise, values_of

pytestmark = [pytest.mark.filterwarnings("ignore::unda.AccuracyWarning"), pytest.mark.gpu_or_stand_in]
cuda_device.prepare()
SETTINGS = {
    "kind": ("solid", "fluid", "coupled"),
    "degree": (2, 3, 4),
    "dtype": ("float32", "float64"),
    "cells": ("sheared", "warped", "curved"),
    "boundary": ("free", "hard", "mirror", "absorbing", "mixed", "periodic"),
    "per": ("cell", "node"),
    "assembly": ("ordered", "colors", "atomic"),
    "tile": (12, 1, 2, 4, 8),
    "axes": (1, 2),
    "source": ("force", "moment", "volume", "none"),
}
#: More than a warp a cell; materials by node; tiles that leave one block to an SM.
HIGH = [
    {"kind": "coupled", "degree": 5, "dtype": "float32", "cells": "curved", "boundary": "mixed",
     "per": "cell", "assembly": "ordered", "tile": 4, "source": "force"},
    {"kind": "solid", "degree": 7, "dtype": "float32", "cells": "warped", "boundary": "absorbing",
     "per": "node", "assembly": "colors", "tile": 2, "source": "moment"},
    {"kind": "fluid", "degree": 10, "dtype": "float64", "cells": "sheared", "boundary": "free", "per": "cell",
     "assembly": "ordered", "tile": 2, "source": "volume"},
    {"kind": "coupled", "degree": 6, "dtype": "float32", "cells": "curved", "boundary": "mixed",
     "per": "node", "assembly": "atomic", "tile": 7, "source": "force"},
    {"kind": "solid", "degree": 9, "dtype": "float32", "cells": "warped", "boundary": "periodic",
     "per": "cell", "assembly": "atomic", "tile": 1, "source": "moment"},
]  # fmt: skip
#: Planes of warped cells, which `axes` = 2 with "atomic" does not take, with a source. By default, since no
#: other case has such tiles.
PLANES = {"kind": "fluid", "degree": 3, "dtype": "float64", "cells": "warped", "boundary": "hard",
          "per": "cell", "assembly": "ordered", "tile": 6, "axes": 2, "source": "moment"}  # fmt: skip
STEPS = (3, 7)


def allowed(case, steps):
    regions = 2 if case.get("kind") == "coupled" else 1
    return regions * 2 * steps**2 * (case["degree"] + 1) * float(np.finfo(case["dtype"]).eps)


def name_of(case):
    return "-".join(str(value) for value in case.values())


def apart(one, other):
    return np.abs(one - other).max() / np.abs(one).max()


CASES = pairwise(SETTINGS, drawn=4000) + HIGH


@pytest.mark.each_value
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id=name_of(one), marks=marks)
        for one, marks in zip([*CASES, PLANES], [*by_default(CASES, 16), ()], strict=True)
    ],
)
def test_cuda_equals_cpu(case):
    cpu = made("cpu", case)
    cuda = made("cuda", case, dt=cpu.dt)
    steps = (1, 2) if case["degree"] > 4 else STEPS
    for sim in (cpu, cuda):
        add_points(sim, case["source"])
        sim.step(steps[0])
        add_points(sim, "none")  # receivers, after some steps
        sim.step(steps[1])
    tolerance = allowed(case, sum(steps))
    found = values_of(cuda)
    for name, one in values_of(cpu).items():
        assert apart(one, found[name]) < tolerance, name
        assert apart(one, 1.001 * found[name]) > tolerance, name
    # u K u+ is at most 0.81 of v M v, so that the sum is at least 0.19 of the parts; all are quadratic
    assert cuda.energy() == pytest.approx(cpu.energy(), rel=2 / 0.19 * tolerance)


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", SETTINGS["kind"])
@pytest.mark.parametrize(
    ("cells", "dtype", "apart"),
    [
        pytest.param("sheared", "float64", 1e-6, marks=pytest.mark.slow),
        ("curved", "float64", 1e-6),
        pytest.param("curved", "float32", 1e-4, marks=pytest.mark.slow),
    ],
)
def test_the_stable_step_is_that_of_the_cpu(kind, cells, dtype, apart):
    """Both find the largest eigenvalue by the same vectors, and end where eight more change it by 2e-4: in
    single precision that may be one vector later."""
    case = {"kind": kind, "degree": 3, "dtype": dtype, "cells": cells, "boundary": "mixed", "per": "cell",
            "assembly": "ordered", "tile": 8}  # fmt: skip
    assert made("cuda", case).dt_stable == pytest.approx(made("cpu", case).dt_stable, rel=apart)


BASE = {"kind": "coupled", "degree": 3, "dtype": "float64", "cells": "warped", "boundary": "mixed",
        "per": "cell", "assembly": "ordered", "tile": 8}  # fmt: skip


def test_sources_alone_make_the_same_waves():
    """From rest: nothing hides what sources do."""
    found = []
    for device in ("cpu", "cuda"):
        sim = made(device, BASE)
        sim.set(t=0.1)
        add_points(sim, "force")
        sim.step(12)
        found.append(values_of(sim))
    for name, one in found[0].items():
        assert np.abs(one).max() > 0
        assert apart(one, found[1][name]) < allowed(BASE, 12), name


def around_a_cylinder():
    """Hexahedra as generators make them: a square around the axis, blocks to the circle and to the sides.

    Three blocks meet in the edges of the square, so that no numbering makes this a grid.
    """
    n, s = 3, np.linspace(-1, 1, 4)
    flat = np.stack([np.ones_like(s), s], axis=1)
    circle = np.stack([np.cos(np.pi / 4 * s), np.sin(np.pi / 4 * s)], axis=1)
    r = np.linspace(0, 1, 3)[:, None, None]
    pieces = [0.4 * np.stack(np.meshgrid(s, s, indexing="ij"), axis=-1)]
    for c, d in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        turn = np.array([[c, d], [-d, c]])
        pieces += [((1 - r) * 0.4 * flat + r * circle) @ turn, ((1 - r) * circle + r * 1.8 * flat) @ turn]
    quads = np.concatenate([
        np.stack([piece[:-1, :-1], piece[1:, :-1], piece[1:, 1:], piece[:-1, 1:]], axis=2).reshape(-1, 4, 2)
        for piece in pieces
    ])  # fmt: skip
    places, index = np.unique(np.round(quads.reshape(-1, 2), 9), axis=0, return_inverse=True)
    index, layer = index.reshape(-1, 4), len(places)
    vertices = np.concatenate([np.c_[places, np.full(layer, z)] for z in (0.0, 0.5, 1.1, 1.6)])
    cells = np.concatenate([np.c_[index, index + layer] + layer * k for k in range(n)])
    mixed = np.random.default_rng(5).permutation(len(cells))
    return turned(unda.Mesh(vertices, cells[mixed]), 2)


@pytest.mark.first(1)
@pytest.mark.parametrize("assembly", ["ordered", "colors"])
def test_a_mesh_that_is_no_grid(assembly):
    """Tiles are irregular; fluids are anywhere among solids: single cells, regions of several pieces."""
    mesh, found = around_a_cylinder(), []
    assert len(mesh.cells) == 3 * (9 + 8 * 6)
    wet = np.random.default_rng(1).random(mesh.num_elem) < 0.3
    medium = unda.Elastic(rho=1.0 + wet, vp=2.0, vs=1.1 * ~wet)
    for device in ("cpu", "cuda"):
        more = {"assembly": assembly, "dt": found[0].dt} if found else {}
        sim = unda.SEM(mesh, medium, degree=2, dtype="float64", device=device, boundary={"*": "free"}, **more)
        sim.set(**{name: noise(i) for i, name in enumerate(sim._known.initial)})
        add_points(sim, "force")
        sim.step(10)
        found.append(sim)
    one, other = map(values_of, found)
    for name in one:
        assert apart(one[name], other[name]) < allowed({"degree": 2, "dtype": "float64"}, 10), name


@pytest.mark.each_value
@pytest.mark.parametrize("kind", ["solid", "coupled"])
@pytest.mark.parametrize("degree", [2, 4])
def test_single_cells_make_tiles(kind, degree):
    """Two cells: a region, or a tile, is one cell, whose inner nodes do not fill up four."""
    case, found = BASE | {"kind": kind, "degree": degree, "tile": 1}, []
    for device in ("cpu", "cuda"):
        found.append(made(device, case, (1, 1, 2), **({"dt": found[0].dt} if found else {})))
        found[-1].step(10)
    one, other = map(values_of, found)
    for name in one:
        assert apart(one[name], other[name]) < allowed(case, 10), name


BOX = (6, 4, 4)


def bytes_of_parts(tile, numbered_at_random):
    """What "ordered" takes more than "colors": parts that tiles leave, and lists, instead of sums."""
    box = unda.box_mesh((0, 0, 0), BOX, BOX, shape="hex")
    if numbered_at_random:
        mixed = np.random.default_rng(0).permutation(box.num_elem)
        box = turned(unda.Mesh(box.vertices, box.cells[mixed]), 3)
    common = {"degree": 2, "dtype": "float64", "device": "cuda", "kernel_options": {"cells": tile}}
    medium = unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
    ordered, colors = (
        unda.SEM.forecast(box, medium, assembly=name, **common)["device"] for name in ("ordered", "colors")
    )
    return ordered - colors


@pytest.mark.parametrize(("tile", "edges"), [(1, (1, 1, 1)), (2, (2, 1, 1)), (8, (2, 2, 2)), (12, (3, 2, 2))])
def test_tiles_are_blocks_of_cells_however_they_are_numbered(tile, edges):
    """A tile of a x b x c cells of degree 2 leaves its surface's nodes: all but (2a - 1)(2b - 1)(2c - 1)."""
    tiles = np.prod(BOX) // tile
    inside = tiles * np.prod([2 * edge - 1 for edge in edges])
    parts = tiles * np.prod([2 * edge + 1 for edge in edges]) - inside
    shared = np.prod([2 * edge + 1 for edge in BOX]) - inside
    # a part: three reals and its number in the sums; a shared node: where its sums begin
    expected = 28 * parts + 4 * (shared + 1) - 24 * shared
    for random in (False, True):
        assert bytes_of_parts(tile, random) == expected


@pytest.mark.first(1)
@pytest.mark.parametrize(("tile", "colors"), [(8, 8), (64, 1)])
def test_tiles_that_meet_have_colours_of_their_own(tile, colors):
    """Eight tiles of 2 x 2 x 2 cells meet in the middle of the box; one tile has nothing to meet."""
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), shape="hex")
    sim = unda.SEM(box, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cuda", assembly="colors",
                   kernel_options={"cells": tile})  # fmt: skip
    names = [f"fluid color {i}" for i in range(colors)] if colors > 1 else ["fluid tiles"]
    assert list(sim.profile(runs=1)) == [*names, "fluid shared", "stage"]
