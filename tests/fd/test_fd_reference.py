"""The oracle of the finite differences is right by itself: no line of unda's scheme takes part.

Polynomials, exact modes, mirrors, conserved energy, the loss in layers, reciprocity, exact point sources.
Not here: unda.FD (test_fd_modes.py, test_fd_points.py, test_fd_layer.py, test_fd_energy.py).
"""

import fd_reference
import numpy as np
import pytest
import unda
from fd_cases import Case
from fd_reference import Axis, Reference, coefficients, radians_per_step, stable_step, symbol

ORDERS = pytest.mark.parametrize("order", [2, 4, 6, 8, 12])
LAYER = (4, 0.01)
MIXED = (("free", "rigid"), ("rigid", LAYER), (LAYER, "free"))
BOXES = {
    "free": (("free", "free"),) * 3,
    "rigid": (("rigid", "rigid"),) * 3,
    "periodic": (("periodic", "periodic"),) * 3,
    "mixed": (("free", "rigid"), ("rigid", "rigid"), ("periodic", "periodic")),
}


@ORDERS
def test_second_differences_are_exact_on_polynomials_of_their_degree(order):
    c, m = coefficients(order), np.arange(1, order // 2 + 1)
    for degree in range(2, order + 2, 2):  # at 0: p'' of x^degree; rounding of sums of m^degree |C_m|
        terms = 2 * c[1:] * m.astype(float) ** degree
        assert abs(terms.sum() - (2 if degree == 2 else 0)) < 1e-14 * np.abs(terms).sum()
    assert abs(c[0] + 2 * c[1:].sum()) < 1e-15
    terms = 2 * c[1:] * m.astype(float) ** (order + 2)
    assert abs(terms.sum()) > 0.1  # and not of the next


def test_coefficients_and_limits_are_those_of_the_textbook():
    """Fornberg's weights; CFL numbers (docs/fd_scalar.md)."""
    assert coefficients(4) == pytest.approx([-5 / 2, 4 / 3, -1 / 12], rel=1e-15)
    assert coefficients(8) == pytest.approx([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560], rel=1e-15)
    limits = [stable_step(order, (1, 1, 1), 1.0) for order in (2, 4, 6, 8)]
    assert limits == pytest.approx([0.577350, 0.500000, 0.469668, 0.452856], abs=1e-6)


@ORDERS
@pytest.mark.parametrize("sides", [*BOXES.values(), MIXED], ids=[*BOXES, "layers"])
def test_the_operator_is_symmetric_with_half_cells_on_rigid_sides(sides, order):
    for pair in sides:
        for n in (2, 3, 4, 9):
            axis = Axis(n, 0.7, pair)
            weak = axis.share()[:, None] * axis.second_difference(order)
            assert np.abs(weak - weak.T).max() <= 1e-15 * np.abs(weak).max()
            whole = np.linalg.eigvals(axis.second_difference(order)) * 0.7**2
            assert whole.real.max() < 1e-12 and whole.real.min() > -symbol(order, np.pi) * (1 + 1e-12)
            if pair == ("rigid", "rigid"):
                assert np.abs(axis.second_difference(order) - weak).max() > 0.1


def mode_error(reference, shape, order, dt, factor=1.0):
    """Of a mode of a box free-rigid, free-free, periodic after 300 steps."""
    lengths = np.array([shape[0] - 1, shape[1] - 1, shape[2]]) * [1.0, 0.8, 1.3]
    k = np.array([1.5 * np.pi, 2 * np.pi, 4 * np.pi]) / lengths
    x, y, z = (ki * np.arange(n) * h for ki, n, h in zip(k, shape, (1.0, 0.8, 1.3), strict=True))
    mode = np.sin(x)[:, None, None] * np.sin(y)[:, None] * np.cos(z + 0.4)
    turn = factor * radians_per_step(order, k, (1.0, 0.8, 1.3), 1.3, dt)
    reference.set(mode)
    reference.step(300)
    return np.abs(reference.get() - mode * np.cos(300 * turn)).max()


@ORDERS
def test_modes_turn_with_the_numerical_frequency(order):
    """Rounding: 300^2/2 sums of eps (the mean drifts), of 1; frequencies wrong by 1e-8 show 1e-7."""
    sides = (("free", "rigid"), ("free", "free"), ("periodic", "periodic"))
    case = Case((9, 7, 8), sides, order, contrast=1)
    assert mode_error(case.reference(), case.shape, order, case.dt) < 1e-11
    assert mode_error(case.reference(), case.shape, order, case.dt, 1 + 1e-8) > 1e-8


def test_a_centre_weight_that_is_halved_is_seen(monkeypatch):
    right = coefficients(4)
    monkeypatch.setattr(fd_reference, "coefficients", lambda order: right * [0.5, 1, 1])
    case = Case((9, 7, 8), (("free", "rigid"), ("free", "free"), ("periodic", "periodic")), 4, contrast=1)
    dt, broken = case.dt, case.reference()
    monkeypatch.undo()
    assert not mode_error(broken, case.shape, 4, dt) < 1


@pytest.mark.parametrize("order", [4, 8])
@pytest.mark.parametrize(("side", "sign"), [("free", -1), ("rigid", 1)])
def test_sides_are_mirrors_of_waves_sources_and_receivers(side, sign, order):
    """Half a line equals the periodic line of twice its length, on which the image radiates as well."""
    n, (dx, dy, dz), origin = 9, (1.0, 0.8, 1.3), (0.0, 0.0, 0.0)
    across = (("periodic", "periodic"), ("rigid", LAYER))
    options = {"c": 1.0, "dt": 0.9 * stable_step(order, (dx, dy, dz), 1.0), "origin": origin}
    half = Reference((n, 6, 5), (dx, dy, dz), ((side, side), *across), order, **options)
    whole = Reference((2 * n - 2, 6, 5), (dx, dy, dz), (("periodic", "periodic"), *across), order, **options)
    f = unda.smooth_bump(6.0)
    place, there, period = np.array([1.37, 2.2, 3.1]), np.array([0.61, 1.1, 2.9]), (2 * n - 2) * dx
    half.add_source(place, f)
    whole.add_source(place, f)
    whole.add_source([period - place[0], *place[1:]], lambda t: sign * f(t))
    pairs = []
    for _ in range(60):
        half.step()
        whole.step()
        pairs.append((half.sample([there])[0], whole.sample([there])[0]))
    found, expected = np.array(pairs).T
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.abs(half.get() - whole.get()[:n]).max() < 1e-12 * np.abs(whole.get()).max()


@ORDERS
@pytest.mark.parametrize("name", BOXES)
def test_energy_is_conserved(name, order):
    """To the rounding of one step, 3 M terms, times 1/(1 - 0.9^2) of cancellation, times sqrt(steps)."""
    case = Case((7, 6, 8), BOXES[name], order)
    reference = case.reference()
    reference.set(*case.states())
    first = reference.energy()
    reference.step(400)
    assert first > 0 and abs(reference.energy() / first - 1) < 1e-12


@ORDERS
def test_layers_take_energy_every_step_and_exactly_as_much_as_stated(order):
    """Even at 0.99 of the limit; c varies at random; the loss is that of `Reference.energy`."""
    case = Case((7, 6, 8), MIXED, order, cfl=0.99)
    reference = case.reference()
    reference.set(*case.states())
    energies = [reference.energy()]
    for _ in range(100):
        before = reference.q
        reference.step()
        energies.append(reference.energy())
        rate = (1 / reference.g - reference.g) * ((reference.p - before) / (reference.c * reference.dt)) ** 2
        loss = reference.volume * (reference.share * rate).sum() / (4 * reference.rho)
        assert energies[-1] - energies[-2] == pytest.approx(-loss, rel=1e-9, abs=1e-12 * energies[0])
    assert energies[-1] < 0.5 * energies[0]


def test_reciprocity_holds_beside_sides_in_any_medium():
    case = Case((9, 8, 10), MIXED, 6)
    # two nodes of the window may lie in a layer: injection is not damped there, so keep four away
    a, b = np.array([[0.3, 0.6, 4.4], [7.7, 2.2, 8.6]]) * case.spacing + case.origin
    f, traces = unda.smooth_bump(3.0), []
    for here, there in ((a, b), (b, a)):
        reference = case.reference()
        reference.add_source(here, f)
        trace = []
        for _ in range(40):
            reference.step()
            trace.append(reference.sample([there])[0])
        traces.append(np.array(trace))
    assert np.abs(traces[0]).max() > 0
    assert np.abs(traces[0] - traces[1]).max() < 1e-12 * np.abs(traces[0]).max()


def closed_box_error(order, factor=1.0):
    """Relative L2 error of traces in a closed box against the sum of images, at 8 cells per lambda_min."""
    case = Case((26, 22, 24), (("rigid", "free"), ("rigid", "rigid"), ("free", "rigid")), order,
                (1.0, 1.0, 1.0), contrast=1, cfl=0.25)  # fmt: skip
    medium, f0 = unda.Acoustic(rho=1.7, c=1.3), 1.3 / (2.5 * 8)
    source = unda.VolumeInjection(np.array([7.3, 9.1, 8.7]) + case.origin, unda.ricker(f0))
    walls = dict(xmin="rigid", xmax="free", ymin="rigid", ymax="rigid", zmin="free", zmax="rigid")
    exact = unda.exact.point_source(
        medium, source, walls=walls, bounds=(tuple(case.grid.lower), tuple(case.grid.upper))
    )
    points = np.array([[20.4, 15.2, 3.3], [1.2, 19.9, 22.2]]) + case.origin
    reference, traces, every = case.reference(), [], 8
    reference.add_source(source.position, lambda t: factor * source.f(t))
    for _ in range(0, round(75 / 1.3 / case.dt), every):
        traces.append((reference.t, reference.sample(points)))
        reference.step(every)
    t = np.array([one for one, _ in traces])
    found = np.array([one for _, one in traces])
    expected = exact(*points.T[:, None], t[:, None])["p"]
    return np.sqrt(((found - expected) ** 2).sum(0) / (expected**2).sum(0)).max()


def test_a_point_source_has_its_true_amplitude_in_a_closed_box():
    """2 %: (W dt)^2/24 of phase over four wavelengths and 1.3e-3 of the window; order 2 does worse."""
    assert closed_box_error(8) < 0.02
    assert closed_box_error(8, 1.03) > 0.02
    assert closed_box_error(2) > 0.04
