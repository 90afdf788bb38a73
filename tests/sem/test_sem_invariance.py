"""Bits do not depend on the number of threads, nor results on how cells and their axes are numbered."""

import numpy as np
import pytest
import unda
from hex_meshes import boundaries_of, turned
from sem_cases import solid_and_fluid, start

CELLS = {2: (3, 3, 4), 3: (3, 3, 4), 6: (2, 1, 2)}  # of a degree
FIELDS = ("ux", "uy", "uz", "vx", "chi", "chi_t", "chi_tt", "ax", "ay", "az")


def after(mesh, medium, steps, **options):
    sim = start(unda.SEM(mesh, medium, boundary={"zmax": "free", "*": "absorbing"}, dt=1e-3, **options))
    sim.step(steps)
    return sim


@pytest.mark.first(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_are_the_same_for_any_number_of_threads(dtype):
    mesh, medium = solid_and_fluid((4, 5, 6))  # several tasks of both kinds, colours too
    runs = [after(mesh, medium, 20, threads=threads, dtype=dtype, degree=4) for threads in (1, 2, 3)]
    assert [sim.config["threads"] for sim in runs] != [1, 1, 1]
    for name in FIELDS:
        assert len({sim.get(name).tobytes() for sim in runs}) == 1


def moved(values, order, before, now):
    """Return values (num_elem, num_node) of cells `order` with their nodes as they are at places `now`."""
    ranks = [np.stack([np.lexsort(np.round(one, 9).T) for one in x]) for x in (before[order], now)]
    found = np.empty_like(values)
    np.put_along_axis(found, ranks[1], np.take_along_axis(values[order], ranks[0], axis=1), axis=1)
    return found


def renumbered(mesh, medium, degree, seed=None, move=None, **options):
    """Return the largest relative difference of each field where cells have other numbers, and other
    axes if there is a seed; both begin with the same numbers at the same places. move: as of `turned`."""
    order = np.random.default_rng(2).permutation(mesh.num_elem)
    again = turned(unda.Mesh(mesh.vertices, mesh.cells[order], boundaries=boundaries_of(mesh)), seed, move)
    table = medium.on(mesh)
    one, other = (unda.Elastic(rho=t[:, 0], vp=t[:, 1], vs=t[:, 2]) for t in (table, table[order]))
    options |= {"dtype": "float64", "degree": degree}
    first = after(mesh if move is None else turned(mesh, None, move), one, 0, **options)
    second = after(again, other, 0, **options)
    where = order, first.coordinates, second.coordinates
    second.set(**{name: moved(first.get(name), *where) for name in first._known.initial})
    assert second.dt_stable == pytest.approx(first.dt_stable, rel=1e-9)
    apart = {}
    for name in FIELDS:
        # of a solid's fields those of fluids are gradients, which Python computes
        own = first._fluid[order] == name.startswith("chi")
        one, two = moved(first.get(name), *where)[own], second.get(name)[own]
        apart[name] = np.abs(one - two).max() / np.abs(one).max()
    return apart


@pytest.mark.parametrize("degree", CELLS)
def test_masses_and_forces_have_the_same_bits_however_cells_are_numbered(degree):
    """Cells are put in the order of their places before anything is summed."""
    assert set(renumbered(*solid_and_fluid(CELLS[degree]), degree).values()) == {0.0}


def bend(x):
    return x + 0.03 * np.sin(3 * x[..., [1, 2, 0]])


@pytest.mark.each_value
@pytest.mark.parametrize(("move", "metric"), [(None, "trilinear"), (None, "stored"), (bend, "stored")])
@pytest.mark.parametrize("degree", CELLS)
def test_forces_are_the_same_however_cells_are_turned(degree, move, metric):
    """Sums of derivatives then have another order, and metrics are those of other edges."""
    case, options = solid_and_fluid(CELLS[degree]), {"kernel_options": {"metric": metric}}
    assert max(renumbered(*case, degree, seed=7, move=move, **options).values()) <= 1e-14


def test_a_periodic_cell_alone_is_joined_to_itself():
    """A plane wave through one cell and through three, of which each period is one."""
    medium = unda.Elastic(rho=1.3, vp=1.9, vs=1.0)
    wave = unda.exact.plane_wave(medium, k=(2 * np.pi, 0, 0), kind="s", polarization=(0, 1, 0))
    found = []
    for cells, size in ((1, 1.0), (3, 3.0)):
        mesh = unda.box_mesh((0, 0, 0), (size, 1, 1), (cells, 1, 1), shape="hex", periodic=(True,) * 3)
        sim = unda.SEM(mesh, medium, degree=6, dtype="float64", dt=1e-3)
        sim.set(wave)
        sim.step(20)
        found.append(sim.get("uy")[0])
    assert np.abs(found[0] - found[1]).max() <= 1e-12 * np.abs(found[0]).max()
