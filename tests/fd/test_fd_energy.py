"""The finite differences conserve their discrete energy, and layers only take from it.

E = sum volume/(2 rho) [((p - p-)/(c dt))^2 + <grad p, grad p->], the second by <p, L p-> (Cohen
2002): exact for any c at the nodes and any sides, half cells on rigid ones. Not here: how much layers take
(test_fd_layer.py).
"""

import numpy as np
import pytest
import unda
from fd_cases import RHO, Case, any_case
from fd_reference import is_matched
from hypothesis import HealthCheck, assume, given, settings

OFTEN = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
F, R, P = ("free", "free"), ("rigid", "rigid"), ("periodic", "periodic")
BOXES = {
    "free": (F, F, F),
    "rigid": (R, R, R),
    "periodic": (P, P, P),
    "mixed": (("free", "rigid"), P, ("rigid", "free")),
}
ORDERS = pytest.mark.parametrize("order", [2, 4, 6, 8, 12])


def random_run(case, steps, every, **options):
    """Energies of a run from two random levels.

    The mean of a closed box has W = 0: what rate it has at the start makes it rise for ever, and takes digits
    from the rest. It is given none.
    """
    sim, reference = case.fd(**options), case.reference()
    p, q = case.states()
    if (reference.loose * reference.g == 1).all():
        weights = (reference.share / reference.c**2).reshape(case.shape)
        q += (weights * (p - q)).sum() / weights.sum()
    sim.set(p=p, p_previous=q)
    energies = [sim.energy()]
    for _ in range(steps // every):
        sim.step(every)
        energies.append(sim.energy())
    return np.array(energies)


@ORDERS
@pytest.mark.parametrize("name", BOXES)
def test_energy_is_conserved_in_any_medium(name, order):
    """2,000 steps in float64. A step commits some eps of rounding in p, which E sees 2/(1 - 0.9^2) = 10
    times at most, by chance of either sign: 10 sqrt(2000) eps = 1e-13, the bar is 1e-12."""
    energies = random_run(Case((9, 7, 8), BOXES[name], order, contrast=4.0), 2000, 100)
    assert energies[0] > 0 and np.abs(energies / energies[0] - 1).max() < 1e-12


@pytest.mark.parametrize("order, name", [(2, "rigid"), (4, "mixed"), (8, "free")])
def test_energy_is_conserved_in_a_long_run(order, name):
    """20,000 steps and 504 nodes: chance makes 10 sqrt(20000/504) eps = 1.4e-14 of it, and three times that
    is the bar; a loss or gain of an eps in each step 20000 eps = 4e-12."""
    case = Case((9, 7, 8), BOXES[name], order, contrast=4.0)
    energies = random_run(case, 20_000, 1000)
    assert np.abs(energies / energies[0] - 1).max() < 4e-14


def test_it_is_not_where_the_medium_is_another():
    """The weights see c: a run in one medium does not keep the energy of another (1 % in one node)."""
    case = Case((9, 7, 8), BOXES["mixed"], 4)
    sim, reference = case.fd(), case.reference()
    reference.c[200] *= 1.01
    sim.set(p=case.states()[0], p_previous=case.states()[1])
    found = []
    for _ in range(20):
        sim.step(1)
        reference.p, reference.q = (reference.padded(sim.get(name)) for name in ("p", "p_previous"))
        found.append(reference.energy())
    assert np.ptp(found) > 1e-9 * found[0]


@OFTEN
@given(case=any_case(least=3))
def test_energy_is_the_one_of_the_oracle(case):
    """Of any two levels: layers hold nothing yet."""
    sim, reference = case.fd(), case.reference()
    p, q = case.states()
    sim.set(p=p, p_previous=q)
    reference.set(p, q)
    assert sim.energy() == pytest.approx(reference.energy(), rel=1e-12)
    sim.set(p=p, p_previous=q * (1 + 1e-6))
    assert sim.energy() != pytest.approx(reference.energy(), rel=1e-9)


def test_energy_is_the_one_of_the_textbook():
    """p rises everywhere by 3 in a step: (3/dt)^2/(2 rho c^2) times the volume, up to rigid sides, or n h."""
    for sides, less in ((BOXES["rigid"], 1), (BOXES["periodic"], 0)):
        case = Case((9, 7, 8), sides, 4, contrast=1)
        sim = case.fd()
        sim.set(p=5.0, p_previous=2.0)
        volume = np.prod((np.array(case.shape) - less) * case.spacing)
        wanted = volume * (3 / case.dt) ** 2 / (2 * RHO * case.c**2)
        assert sim.energy() == pytest.approx(wanted, rel=1e-11)


@ORDERS
def test_time_runs_back(order):
    """The levels exchanged, 200 steps lead back to the start. Rounding: 2 200^1.5 eps of the fields."""
    case = Case((9, 7, 8), BOXES["mixed"], order)
    p, q = case.states()
    sim = case.fd()
    sim.set(p=p, p_previous=q)
    sim.step(200)
    there = sim.get("p")
    sim.set(p=sim.get("p_previous"), p_previous=there)
    sim.step(200)
    scale = np.abs(there).max()
    assert np.abs(sim.get("p") - q).max() < 1e-11 * scale
    assert np.abs(sim.get("p_previous") - p).max() < 1e-11 * scale
    assert np.abs(there - p).max() > 0.1 * scale


@OFTEN
@given(case=any_case(least=3))
def test_layers_take_energy_and_nothing_gives_any(case):
    """Each step, exactly: with (g + 1/g - 2)/(c dt)^2 (p^2 + p-^2)/2 of a layer counted, a step changes
    it by -(1/g - g)(p+ - p-)^2/(4 rho (c dt)^2). Without layers it stays, with layers it falls."""
    layers = any(isinstance(side, tuple) for pair in case.sides for side in pair)
    assume(not any(map(is_matched, sum(case.sides, ()))))  # their energy is not the field's
    energies = random_run(case, 40, 1)
    assert (np.diff(energies) <= 1e-12 * energies[0]).all()
    if layers:
        assert energies[-1] < energies[0] * (1 - 1e-6)
    elif energies[0] > 0:
        assert abs(energies[-1] / energies[0] - 1) < 1e-12


@pytest.mark.parametrize("layer", [(3, 1e-6), (6, 0.01), (20, 0.01)])
def test_layers_take_energy_from_long_waves_too(layer):
    """Where p_t is small beside sigma p, (p_t^2 + c^2 |grad p|^2)/2 alone would grow by 1e-3 a step."""
    for case in (
        Case((40, 1, 1), ((layer, layer), P, P), 4, contrast=1),
        Case((12, 11, 9), ((layer,) * 2,) * 3, 4),
    ):
        x = case.spacing[0] * np.arange(case.shape[0])
        bump = np.broadcast_to(
            np.exp(-((x - 0.75 * x[-1]) ** 2) / (x[-1] / 4) ** 2)[:, None, None], case.shape
        )
        sim = case.fd()
        sim.set(p=bump)
        energies = [sim.energy()]
        for _ in range(60):
            sim.step(1)
            energies.append(sim.energy())
        assert (np.diff(energies) <= 1e-12 * energies[0]).all() and energies[-1] < energies[0]


@pytest.mark.slow
@ORDERS
@pytest.mark.parametrize("name", BOXES)
def test_energy_is_conserved_over_100000_steps(name, order):
    """10 sqrt(100000) eps = 7e-13, and the mean of a closed box, which nothing holds, wanders: 1e-11."""
    energies = random_run(Case((9, 7, 8), BOXES[name], order, contrast=4.0), 100000, 5000)
    assert np.abs(energies / energies[0] - 1).max() < 1e-11


def test_single_precision_keeps_it_to_its_rounding():
    """10 sqrt(1000) 2^-24 = 2e-5 if by chance; the speeds are rounded once, which changes nothing more."""
    energies = random_run(Case((9, 7, 8), BOXES["mixed"], 4, contrast=4.0), 1000, 100, dtype="float32")
    assert np.abs(energies / energies[0] - 1).max() < 2e-4


def test_energy_of_a_source_is_what_it_radiates():
    """None before it starts, some while it works, constant after its end."""
    case = Case((12, 11, 13), BOXES["rigid"], 4, contrast=2.0)
    sim = case.fd()
    sim.add_source(unda.VolumeInjection(case.points(1)[0], unda.smooth_bump(20 * case.dt, t0=5 * case.dt)))
    energies = []
    for _ in range(60):
        energies.append(sim.energy())
        sim.step(1)
    energies = np.array(energies)
    assert (energies[:5] == 0).all() and energies[15] > 0 and energies[26] > 0
    assert np.abs(energies[27:] / energies[-1] - 1).max() < 1e-12
