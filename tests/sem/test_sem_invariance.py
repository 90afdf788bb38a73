"""Bits do not depend on the number of threads, nor results on how cells and their axes are numbered."""

import numpy as np
import pytest
import unda
from hex_meshes import boundaries_of, turned
from sem_cases import line, solid_and_fluid, start

CELLS = {2: (3, 3, 4), 3: (3, 3, 4), 6: (2, 1, 2)}  # of a degree
FIELDS = ("ux", "uy", "uz", "vx", "chi", "chi_t", "chi_tt", "az")


def after(mesh, medium, steps, **options):
    sim = start(unda.SEM(mesh, medium, boundary={"zmax": "free", "*": "absorbing"}, dt=1e-3, **options))
    sim.step(steps)
    return sim


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_are_the_same_for_any_number_of_threads(dtype):
    mesh, medium = solid_and_fluid((4, 5, 6))  # several tasks of both kinds, colours too
    runs = [after(mesh, medium, 5, threads=threads, dtype=dtype, degree=4) for threads in (1, 2, 3)]
    assert [sim.config["threads"] for sim in runs] != [1, 1, 1]
    for name in FIELDS:
        assert len({sim.get(name).tobytes() for sim in runs}) == 1


def moved(values, order, before, now):
    """Return values (num_elem, num_node) of cells `order` with their nodes as they are at places `now`."""
    ranks = [np.stack([np.lexsort(np.round(one, 9).T) for one in x]) for x in (before[order], now)]
    found = np.empty_like(values)
    np.put_along_axis(found, ranks[1], np.take_along_axis(values[order], ranks[0], axis=1), axis=1)
    return found


def renumbered(mesh, medium, degree, seed=None):
    """Return the largest relative difference of each field where cells have other numbers, and other
    axes if there is a seed; both begin with the same numbers at the same places."""
    order = np.random.default_rng(2).permutation(mesh.num_elem)
    again = turned(unda.Mesh(mesh.vertices, mesh.cells[order], boundaries=boundaries_of(mesh)), seed=seed)
    table = medium.on(mesh)[order]
    same = unda.Elastic(rho=table[:, 0], vp=table[:, 1], vs=table[:, 2])
    first = after(mesh, medium, 0, dtype="float64", degree=degree)
    second = after(again, same, 0, dtype="float64", degree=degree)
    where = order, first.coordinates, second.coordinates
    second.set(**{name: moved(first.get(name), *where) for name in first._known.initial})
    assert second.dt_stable == pytest.approx(first.dt_stable, rel=1e-9)
    apart = {}
    for name in FIELDS:
        one = moved(first.get(name), *where)
        apart[name] = np.abs(one - second.get(name)).max() / np.abs(one).max()
    return apart


@pytest.mark.parametrize("degree", CELLS)
def test_masses_and_forces_have_the_same_bits_however_cells_are_numbered(degree):
    """Cells are put in the order of their places before anything is summed."""
    assert set(renumbered(*solid_and_fluid(CELLS[degree]), degree).values()) == {0.0}


@pytest.mark.parametrize("degree", CELLS)
def test_forces_are_the_same_however_cells_are_turned(degree):
    """Derivatives are sums in another order, each rounded to eps times the largest sum of a row of D, d.

    A metric is two of them, of products of places that are up to 3^(1/2) cells from the vertex they are
    relative to: eps 3 d^2/2. Forces' own are smaller, of a field that does not change that much in a cell.
    """
    d = np.abs(line(degree).slopes).sum(axis=1).max()
    apart = renumbered(*solid_and_fluid(CELLS[degree]), degree, seed=7)
    assert max(apart.values()) <= 1.5 * np.finfo(float).eps * d**2


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
