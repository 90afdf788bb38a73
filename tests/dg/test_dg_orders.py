"""Every degree has its order for every physics: N + 1/2 (upwind) and N - 1/2 (central) at least.

Theory N + 1, and N for odd N with the central flux. Orders are least-squares slopes in h = (V / K)^(1/3) on
three perturbed meshes (bent ones beyond degree 5), of each group of fields: p and v; v and stress; E and H.
Steps are small enough that time adds little: lsrk4 errs by (w dt)^4 w t / 200, ab3 by 3/8 (w dt)^3 w t; one
test halves them. The problems are in wave_problems.py. Not here: waves in open space (test_dg_exact.py,
test_dg_interface.py).
"""

from functools import partial

import pytest
import unda
from unda import exact
from wave_problems import CLAY, GLASS, PROBLEMS, ROCK, K, box
from wave_runs import grouped, order

LEAST = {"upwind": 0.5, "central": -0.5}  # above N
# Of these another one tests the same faces, so they wait for the slow tier.
TWINS = (
    "sound between free walls",
    "free plate that bends",
    "sea on rock",
    "layers of fluid",
    "magnetic cavity",
)
# What is of a degree is in all problems of a physics: those of walls and layers have every second degree, by
# turns, and not the fifth, which is the dearest.
WAVES = ("sound", "P and S waves", "light")
TURNS = [name for name in PROBLEMS if name not in TWINS + WAVES]


def waits(name, degree):
    """Say whether a case is of the slow tier."""
    late = name in TURNS and (degree == 5 or (degree + TURNS.index(name)) % 2 == 1)
    return degree > 5 or name in TWINS or late


CASES = [
    pytest.param(name, degree, marks=[pytest.mark.slow] * waits(name, degree))
    for name in PROBLEMS for degree in range(1, 9)
]  # fmt: skip


def cells(name, degree):
    """Three sizes; beyond degree 5 they need no more."""
    return PROBLEMS[name].cells[min(degree, 5)]


def observed(name, degree, **options):
    """Orders, and errors by mesh; the fastest wave crosses some two bricks of the finest mesh."""
    problem = PROBLEMS[name]
    until = (0.2 if degree < 4 else 0.1) / problem.speed
    make = partial(problem.make, bent=degree > 5)
    options = {"cfl": {7: 0.5, 8: 0.35}.get(degree, 0.9)} | options
    return order(cells(name, degree), make, degree=degree, until=until, **options)


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "degree"), CASES)
def test_every_degree_has_its_order_with_the_upwind_flux(name, degree):
    slopes, errors = observed(name, degree)
    assert (slopes > degree + LEAST["upwind"]).all(), (slopes, errors)


@pytest.mark.slow
@pytest.mark.parametrize("degree", range(1, 7))
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_degree_has_its_order_with_the_central_flux(name, degree):
    slopes, errors = observed(name, degree, flux="central", cfl=0.5)
    assert (slopes > degree + LEAST["central"]).all(), (slopes, errors)


@pytest.mark.slow
@pytest.mark.parametrize("degree", range(1, 7))
@pytest.mark.parametrize("name", ["sound", "P and S waves", "light"])
def test_ab3_keeps_the_order_of_every_degree(name, degree):
    slopes, errors = observed(name, degree, integrator="ab3")
    assert (slopes > degree + 0.5).all(), (slopes, errors)


@pytest.mark.first(1)
@pytest.mark.parametrize("name", ["sound", "P and S waves", "light in a conductor"])
def test_halving_the_step_leaves_the_error_alone(name):
    """At degree 5, where time would add the most."""
    problem, errors = PROBLEMS[name], []
    mesh, medium, solution, boundary = problem.make(cells(name, 5)[1])
    for cfl in (0.9, 0.45):
        sim = unda.DG(mesh, medium, degree=5, boundary=boundary, dtype="float64", cfl=cfl, device="cpu")
        sim.set(solution)
        sim.run(until=0.1 / problem.speed)
        errors.append(grouped(sim, solution))
    assert errors[1] == pytest.approx(errors[0], rel=0.05)


# What is computed, and what it is compared with: no error falls below a part of the difference.
FAST = exact.plane_wave(unda.Elastic(rho=1.3, vp=1.717, vs=0.9), k=K)
STIFF = exact.plane_wave(unda.Elastic(rho=1.3, vp=1.7, vs=0.909), k=K, kind="s", polarization=(1, 2, 3))
DENSE = exact.plane_wave(unda.Maxwell(eps=1.326, mu=0.9), k=K, polarization=(1, 1, 1))
LOSSY = exact.plane_wave(unda.Maxwell(eps=1.3, mu=0.9, sigma=3.03), k=K, polarization=(1, 1, 1))
WRONG = {
    "rock too fast for P": (ROCK, FAST),
    "rock too stiff for S": (ROCK, STIFF),
    "glass too dense": (GLASS, DENSE),
    "clay that conducts too well": (CLAY, LOSSY),
}


@pytest.mark.first(2)
@pytest.mark.parametrize("name", WRONG)
def test_materials_one_per_cent_off_do_not_converge(name):
    medium, solution = WRONG[name]

    def make(n):
        return box(n, periodic=(True,) * 3), medium, solution, None

    slopes, errors = order((2, 3, 4), make, degree=5, until=0.1)
    assert (slopes < 4).all(), (slopes, errors)


#: A mode and walls that are not its own.
WRONG_WALLS = {
    "Lame mode of a free cube": "fixed", "P and S between lubricated walls": "free",
    "S between clamped walls": "symmetry", "cavity": "pmc", "magnetic cavity": "pec",
    "free plate": "symmetry", "fluid on rock": "free",
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_WALLS)
def test_the_walls_of_another_box_do_not_converge(name):
    def make(n):
        mesh, medium, solution, _ = PROBLEMS[name].make(n)
        return mesh, medium, solution, {"*": WRONG_WALLS[name]}

    slopes, errors = order(cells(name, 3), make, degree=3, until=0.1)
    assert (slopes < 1.5).all(), (slopes, errors)


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "name", ["layers of rock", "fluid on rock", "cavity of two layers", "sound in layers"]
)
def test_layers_that_have_changed_places_do_not_converge(name):
    def make(n):
        mesh, medium, solution, boundary = PROBLEMS[name].make(n)
        return mesh, type(medium)(**exchanged(medium)), solution, boundary

    slopes, errors = order(cells(name, 3), make, degree=3, until=0.1)
    assert (slopes < 1).all(), (slopes, errors)


def exchanged(medium):
    """Parameters of the two layers' medium, each for the other layer."""
    described = medium.to_config()
    values = {name: described[name] for name in medium.parameters}
    return {name: {"below": one["above"], "above": one["below"]} for name, one in values.items()}
