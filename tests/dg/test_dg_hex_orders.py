"""Hexahedra have the order of every degree: N + 1/2 on affine cells and on those of a smooth map, upwind.

On cells shifted at random N - 0.2, since the quadrature at the nodes is exact to degree 2N - 1 alone
(measured 2.12, 2.99, 3.92 at N = 2, 3, 4), and none at N = 1, where linear functions have no exact slopes; of
degree 1 on mapped cells 1.7; with the central flux N - 1/2. Orders are those between the last two of three
meshes, of all fields together: a group's error is relative to the most that the group reaches in time, as in
standing waves energy and errors go to and fro between both. Halving the step changes errors by less than 5 %.
The problems are those of tetrahedra (wave_problems.py). Not here: waves in open space (test_dg_hex_waves.py).
"""

import numpy as np
import pytest
import unda
from nodal_reference import lobatto
from wave_problems import PROBLEMS

#: Options of meshes, and the order over the degree with the upwind flux.
MAPS = {
    "affine": ({"perturb": 0.0}, 0.5),
    "smooth": ({"bent": True}, 0.5),
    "random": ({"perturb": 0.1}, -0.2),
}
CELLS = {1: (8, 12, 16), 2: (3, 4, 6), 3: (2, 3, 4), 4: (2, 3, 4), 5: (2, 3, 4), 6: (2, 3, 4)}
#: One problem a physics, and all the others.
WAVES = ("sound", "P and S waves", "light")
MODES = ("sound between rigid walls", "Lame mode of a free cube", "cavity")
LAYERS = ("sound in layers", "layers of rock", "fluid on rock", "cavity of two layers")


def required(kind, degree, flux="upwind"):
    if flux == "central":
        return degree - 0.5
    if degree == 1 and kind == "smooth":
        return 1.7
    return degree + MAPS[kind][1]


def error(sim, solution):
    """Of both groups of fields together."""
    x, wrong = np.moveaxis(sim.coordinates, -1, 0), sim.error(solution)
    values = [solution(*x, t) for t in np.linspace(0, 3, 8)]
    total = 0.0
    for group in sim.medium.field_groups.values():
        size = max(sum((one[name] ** 2).mean() for name in group) for one in values) * sim.mesh.volume
        total += sum(wrong[name] ** 2 for name in group) / size
    return np.sqrt(total)


def run(name, kind, n, degree, **options):
    problem = PROBLEMS[name]
    mesh, medium, solution, boundary = problem.make(n, shape="hex", **MAPS[kind][0])
    options = {"cfl": 0.45 if degree == 1 else 0.9} | options  # halves change errors by less than 5 %
    sim = unda.DG(mesh, medium, degree=degree, boundary=boundary, dtype="float64", device="cpu", **options)
    sim.set(solution)
    sim.run(until=(0.4 if degree < 4 else 0.2) / problem.speed)
    return error(sim, solution)


def order(name, kind, degree, cells=None, **options):
    """Between the last two of three meshes; errors fall from each to the next."""
    cells = cells or CELLS[degree]
    errors = np.array([run(name, kind, n, degree, **options) for n in cells])
    assert (errors[1:] < errors[:-1]).all(), errors
    return np.log(errors[1] / errors[2]) / np.log(cells[2] / cells[1])


def tier(names, kinds, degrees, *, slow):
    mark = [pytest.mark.slow] if slow else []
    return [
        pytest.param(name, kind, degree, marks=mark, id=f"{name}-{kind}-{degree}")
        for name in names for kind in kinds for degree in degrees
    ]  # fmt: skip


DEFAULT = [
    *tier(WAVES + MODES, ("smooth",), (1, 2, 3), slow=False),
    *tier(WAVES, ("random",), (2, 3), slow=False),
]
SLOW = [
    *tier(PROBLEMS, ("affine",), (1, 2, 3, 4), slow=True),
    *tier(PROBLEMS, ("smooth",), (4, 5), slow=True),
    *tier(MODES, ("random",), (2, 3), slow=True),
    *tier(WAVES + MODES, ("random",), (4, 5), slow=True),
    *tier(WAVES, ("affine", "smooth"), (6,), slow=True),
]


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "kind", "degree"), DEFAULT + SLOW)
def test_every_degree_has_its_order_with_the_upwind_flux(name, kind, degree):
    found = order(name, kind, degree)
    assert found > required(kind, degree)


@pytest.mark.parametrize(
    ("name", "kind", "degree"),
    [
        *tier(WAVES, ("smooth",), (3,), slow=False),
        *tier(WAVES + MODES + LAYERS, ("affine", "smooth"), (1, 2, 3, 4), slow=True),
    ],
)
def test_every_degree_has_its_order_with_the_central_flux(name, kind, degree):
    found = order(name, kind, degree, flux="central", cfl=0.5)
    assert found > required(kind, degree, "central")


@pytest.mark.first(2)
@pytest.mark.parametrize("name", LAYERS)
def test_layers_have_their_order(name):
    """Materials jump at faces; fluid on rock too, where the two slip."""
    found = order(name, "affine", 3, (3, 4, 6))
    assert found > required("affine", 3)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", WAVES)
def test_halving_the_step_leaves_the_error_alone(name):
    """At degree 5, where time would add the most."""
    one, two = (run(name, "smooth", 3, 5, cfl=cfl) for cfl in (0.9, 0.45))
    assert two == pytest.approx(one, rel=0.05)
    assert run(name, "smooth", 4, 5) != pytest.approx(one, rel=0.05)


@pytest.mark.parametrize("name", ["fluid on rock", "sound in layers"])
def test_layers_that_have_changed_places_do_not_converge(name):
    problem, errors = PROBLEMS[name], []
    for n in (2, 4):
        mesh, medium, solution, boundary = problem.make(n, shape="hex")
        described = medium.to_config()
        values = {key: described[key] for key in medium.parameters}
        swapped = {key: {"below": one["above"], "above": one["below"]} for key, one in values.items()}
        sim = unda.DG(
            mesh, type(medium)(**swapped), degree=3, boundary=boundary, dtype="float64", device="cpu"
        )
        sim.set(solution)
        sim.run(until=0.1)
        errors.append(error(sim, solution))
    assert np.log2(np.divide(*errors)) < 1


# ---- an independent code ----


@pytest.mark.parametrize(("cells", "expected"), [(2, 6.4e-2), (4, 5.5e-3)])
def test_errors_are_those_of_an_independent_code(cells, expected):
    """Sound between rigid walls, n = (1, 2, 1) in a unit cube, rho 1.3, c 1.2, t = 0.3, N = 3, small steps.

    All four fields together, in the quadrature of the nodes, as that code has it.
    """
    medium, corners = unda.Acoustic(rho=1.3, c=1.2), ((0, 0, 0), (1, 1, 1))
    mode = unda.exact.rigid_box_mode(medium, *corners, n=(1, 2, 1))
    mesh = unda.box_mesh(*corners, (cells,) * 3, shape="hex")
    weight = lobatto(3)[1]
    weight = np.einsum("a,b,c->abc", weight, weight, weight).ravel()

    def error(factor=1.0, **options):
        sim = unda.DG(
            mesh,
            medium,
            degree=3,
            boundary={"*": "rigid"},
            dtype="float64",
            cfl=0.25,
            device="cpu",
            **options,
        )
        sim.set(mode)
        sim.run(until=0.3)
        exact = mode(*np.moveaxis(sim.coordinates, -1, 0), factor * sim.t)
        wrong, size = (
            sum((weight * one[name] ** 2).sum() for name in sim.fields)
            for one in ({name: sim.get(name) - exact[name] for name in sim.fields}, exact)
        )
        return np.sqrt(wrong / size)

    assert error() == pytest.approx(expected, rel=0.02)
    assert error(factor=1.005) != pytest.approx(expected, rel=0.02)
    assert error(flux="central") != pytest.approx(expected, rel=0.02)
