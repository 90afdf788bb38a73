"""Absorbing layers of the finite differences: what comes back, and that nothing ever grows.

A packet of waves that repeats itself across (periodic sides) runs into the layer. The same run on a longer
grid, from which nothing returns in time, holds what was there before: the difference is what came back.
At 8 cells per wavelength of f0, 20 cells: at most 1 % of the energy at normal incidence, 5 % at 60 degrees.
Not here: that a run with layers equals the oracle (test_fd_modes.py).
"""

import itertools

import cuda_device
import numpy as np
import pytest
import unda
from fd_cases import Case, differences, run_both

cuda_device.prepare()
WAVELENGTH = 8.0  # of f0, in cells
PERIODIC = ("periodic", "periodic")


def ricker_in_space(x):
    a = (np.pi * x / WAVELENGTH) ** 2
    return (1 - 2 * a) * np.exp(-a)


def reflected(angle, layer, order, *, wavelength=WAVELENGTH, cfl=0.9, dtype="float64"):
    """Energy that comes back from a layer at xmax over what went there.

    Angle 0: a Ricker wavelet in x. Else a packet of waves, Gaussian in x (energies within 6 % of k_x), whose
    period across is that of the grid. It starts from rest: half of it, p/2 with a quarter of the squares,
    goes either way. The left half goes into another layer, in both runs alike. What turns back at the front
    of the layer has gone 2 width further than what turns at its end; both are then on the grid.
    """
    radians, spread = np.radians(angle), 2.5 * wavelength
    reach = 28 if angle == 0 else round(3.5 * spread)  # half a packet
    n, ny = 2 * layer[0] + 2 * reach, 9 if angle else 1
    dy = wavelength / np.sin(radians) / ny if angle else 1.0
    fields = []
    for extra in (0, n):
        sides = ((40, 0.01), layer), PERIODIC, PERIODIC
        case = Case((n + extra, ny, 1), sides, order, (1.0, dy, 1.0), contrast=1, cfl=cfl)
        x = np.arange(n + extra) - float(n - reach)
        p = ricker_in_space(x)[:, None]
        if angle:
            p = np.exp(-((x / spread) ** 2) / 2) * np.cos(2 * np.pi / wavelength * np.cos(radians) * x)
            p = p[:, None] * np.sin(2 * np.pi * np.arange(ny) / ny)
        sim = case.fd(dtype=dtype)
        sim.set(p=p[:, :, None])
        sim.step(round((2 * layer[0] + 2 * reach) / (case.c * np.cos(radians) * case.dt)))
        fields.append(sim.get("p"))
    return ((fields[0] - fields[1][:n]) ** 2).sum() / ((p**2).sum() / 4)


@pytest.mark.parametrize("order", [2, 4, 8])
def test_little_comes_back_at_normal_incidence(order):
    """1 %. The exact discrete reflection of 20 cells is 0.012 % (a wavelet of 8 cells a wavelength)."""
    assert reflected(0, (20, 0.01), order) < 0.001
    assert reflected(0, (3, 0.01), order) > 0.01


@pytest.mark.parametrize("order", [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 8))])
def test_little_comes_back_at_60_degrees(order):
    """5 % of a Ricker wavelet: at some of its frequencies, with the squares of its spectrum as weights.

    Its exact discrete reflection is 0.5 %, most of it of long waves; a layer of 3 cells sends 39 % back.
    """
    f = np.array([0.4, 0.7, 1.0, 1.4])
    weights = (f**2 * np.exp(-(f**2))) ** 2
    shares = np.array([reflected(60, (20, 0.01), order, wavelength=WAVELENGTH / one) for one in f])
    assert (np.diff(shares) < 0).all()
    assert weights @ shares / weights.sum() < 0.015
    assert reflected(60, (3, 0.01), order) > 0.05


@pytest.mark.first(1)
@pytest.mark.parametrize("cfl", [0.2, 0.95])
def test_the_step_does_not_matter_to_layers(cfl):
    """Damping is exp(-sigma dt): reflections at other steps are those at 0.9."""
    usual, other = (reflected(60, (20, 0.01), 4, cfl=one) for one in (0.9, cfl))
    assert other == pytest.approx(usual, rel=0.3)


def test_damping_is_a_layer_of_twenty_cells_by_default():
    case = Case((12, 11, 10), (((20, 0.01),) * 2,) * 3, 4)
    medium = unda.Acoustic(rho=1.7, c=case.c)
    sim = unda.FD(
        case.grid, medium, boundary={"*": unda.Damping()}, dt=case.dt, dtype="float64", device="cpu"
    )
    p, q = case.states()
    sim.set(p=p, p_previous=q)
    sim.step(60)
    reference = case.reference()
    reference.set(p, q)
    reference.step(60)
    assert np.abs(sim.get("p") - reference.get()).max() < 1e-12 * np.abs(p).max()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu_or_stand_in)])
def test_a_state_beside_damping_starts_at_rest(device):
    """Nothing changes in time at first, so that nothing is damped: p_previous = p + c^2 dt^2 L p / 2.

    Rounding as elsewhere: 1e-12. Damped by g as well, the first nodes of layers are 0.1 to 0.6 % off.
    """
    case = Case((9, 8, 10), (((5, 0.01), "free"), ("rigid", (3, 0.1)), ((4, 1e-3),) * 2), 4)
    found, expected = run_both(case, 20, rest=True, device=device)
    assert max(differences(found, expected).values()) < 1e-12


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 21, 34])
def test_layers_of_any_width_equal_the_oracle(width):
    """On one side of each axis or on both, corners included: 120 steps, in which all of it is crossed."""
    other = (max(1, width // 2), 0.1)
    for sides in ((((width, 0.01), other), ("rigid", (width, 1e-3)), (other, "free")),
                  ((other, other), ((width, 0.01),) * 2, PERIODIC)):  # fmt: skip
        case = Case((6, 7, 5), sides, 8 if width % 2 else 4)
        found, expected = run_both(case, 120)
        # relative to the start: much of it has left. 120^2/2 eps of some terms, as in test_fd_modes.py
        scale = np.abs(case.states()[0]).max()
        for name, one in found.items():
            assert np.abs(one - expected[name]).max() < 1e-12 * scale, name
        assert width < 5 or np.abs(expected["p"]).max() < 0.9 * scale


def test_wider_layers_and_other_strengths_do_what_they_say():
    """A wider one reflects less; R0 = 1e-9 in 20 cells is a wall; R0 = 0.9 absorbs little."""
    shares = [reflected(0, (width, 0.01), 4) for width in (5, 10, 20, 40)]
    assert all(b < 0.5 * a for a, b in itertools.pairwise(shares))
    assert reflected(0, (20, 1e-9), 4) > 2 * shares[2]
    assert reflected(0, (20, 0.9), 4) > 0.5


def plane_case(order, widths, seed, flat):
    sides = ((widths[0], widths[1]), (widths[2], "free"), flat)
    return Case((31, 27, 1), sides, order, (1.0, 0.8, 1.0), contrast=4.0, cfl=1.0, seed=seed)


def check_decay(order, seed, steps, *, flat=PERIODIC, dtype="float64", cfl=0.99, every=100):
    """Energies of a run from random levels, in a medium that varies fourfold from node to node."""
    rng = np.random.default_rng(seed)
    case = plane_case(order, [(int(w), 0.01) for w in rng.integers(4, 21, 3)], seed, flat)
    sim = case.fd(dt=None, cfl=cfl, dtype=dtype)
    p, q = case.states()
    sim.set(p=p, p_previous=q)
    energies = [sim.energy()]
    for _ in range(steps // every):
        sim.step(every)
        energies.append(sim.energy())
    return np.array(energies)


@pytest.mark.each_value
@pytest.mark.parametrize("flat", [PERIODIC, ("rigid", "rigid")], ids=["periodic", "rigid"])
@pytest.mark.parametrize("order", [2, 4, 8])
def test_energy_never_grows_in_two_dimensions(order, flat):
    """5,000 steps at 0.99 of the limit, corners of two layers, another speed at every node.

    The energy of each step is at most that of the one before (test_fd_energy.py); rounding of 100 steps, seen
    2/(1 - 0.99^2) = 100 times: 100 sqrt(100) eps = 2e-13 of what is there.
    """
    energies = check_decay(order, 3, 5000, flat=flat)
    assert (np.diff(energies) <= 1e-11 * energies[:-1]).all()
    assert energies[-1] < 0.5 * energies[0]  # the rest is trapped: random media localise short waves


@pytest.mark.first(1)
@pytest.mark.parametrize("order", [4, 8])
def test_energy_never_grows_in_single_precision(order):
    """Rounding as above, of 2^-24: 6e-5 in a hundred steps at most; 1e-12 of the start is noise."""
    energies = check_decay(order, 4, 5000, dtype="float32")
    assert (np.diff(energies) <= 1e-4 * energies[:-1] + 1e-12 * energies[0]).all()
    assert energies[-1] < 0.5 * energies[0]  # the rest is trapped: random media localise short waves


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("order", [2, 4, 6, 8, 12])
def test_energy_never_grows_in_100000_steps(order, seed):
    energies = check_decay(order, seed, 100000, every=500)
    assert (np.diff(energies) <= 1e-10 * energies[:-1] + 1e-290).all()
    assert energies[-1] < 0.5 * energies[0]  # the rest is trapped: random media localise short waves


def test_above_the_limit_layers_do_not_hide_it():
    case = Case((9, 8, 10), (((4, 0.01),) * 2,) * 3, 4, contrast=1)
    sim = case.fd(dt=1.1 * case.dt / 0.9, allow_unstable=True)
    sim.set(p=case.states()[0])
    with pytest.raises(unda.UnstableError):
        for _ in range(100):
            sim.step(50)


def test_differences_see_a_wrong_layer():
    """A profile with R0 = 0.011 for 0.01 is not equal to rounding."""
    case = Case((6, 7, 5), (((8, 0.01),) * 2,) * 3, 4)
    found, _ = run_both(case, 40)
    _, expected = run_both(case._replace(sides=(((8, 0.011),) * 2,) * 3), 40)
    assert max(differences(found, expected).values()) > 1e-6


def test_a_thickness_in_metres_is_a_width_in_nodes():
    def padded(layer):
        grid, medium = unda.Grid((9, 8, 7), (10.0, 20.0, 10.0)), unda.Acoustic(rho=1000.0, c=1500.0)
        return unda.FD(grid, medium, order=2, boundary={"*": layer}, device="cpu").padded

    # p = 0 one node beyond a layer
    assert padded(unda.CPML(thickness=60.0)) == (9 + 2 * 7, 8 + 2 * 4, 7 + 2 * 7)
    assert padded(unda.CPML(6)) == (9 + 2 * 7, 8 + 2 * 7, 7 + 2 * 7)
    with pytest.raises(unda.ArgumentError, match="tag"):
        padded(unda.CPML(tag="pml"))
