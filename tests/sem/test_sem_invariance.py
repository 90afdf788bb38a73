"""Bits do not depend on the number of threads, nor results on how cells and their axes are numbered."""

import numpy as np
import pytest
import unda
from hex_meshes import boundaries_of, turned
from sem_cases import solid_and_fluid, start

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


def test_forces_are_the_same_however_cells_are_numbered_and_turned():
    """Sums at nodes have another order: some 8 terms, each rounded, and derivatives by other axes."""
    mesh, medium = solid_and_fluid((3, 3, 4))
    order = np.random.default_rng(2).permutation(mesh.num_elem)
    again = turned(unda.Mesh(mesh.vertices, mesh.cells[order], boundaries=boundaries_of(mesh)), seed=7)
    table = medium.on(mesh)[order]
    same = unda.Elastic(rho=table[:, 0], vp=table[:, 1], vs=table[:, 2])
    first, second = (after(*one, 0, dtype="float64", degree=3) for one in ((mesh, medium), (again, same)))
    assert second.dt_stable == pytest.approx(first.dt_stable, rel=1e-9)
    one, other = ({name: sim.get(name) for name in FIELDS} for sim in (first, second))
    scale = {name: np.abs(one[name]).max() for name in FIELDS}
    before, now = first.coordinates[order], second.coordinates
    for e in range(mesh.num_elem):
        place = [np.lexsort(np.round(x[e], 9).T) for x in (before, now)]
        for name in FIELDS:
            apart = one[name][order[e]][place[0]] - other[name][e][place[1]]
            assert np.abs(apart).max() <= 1e-13 * scale[name]


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
