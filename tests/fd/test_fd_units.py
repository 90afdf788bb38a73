"""Finite differences in any units: results are the same, or the units are refused by name.

Not here: meshes (test_faults.py).
"""

import numpy as np
import pytest
import unda

SHAPE = (13, 12, 11)
PHYSICS = ["scalar", "acoustic", "elastic", "maxwell"]
BOX = {"scalar": "free", "acoustic": "free", "elastic": "free", "maxwell": "pec"}


def simulation(physics, *, length=1.0, rho=1.0, c=1.0, dtype="float32", **options):
    """A box of 13 x 12 x 11 nodes, `length` apart, of one medium of that density and speed."""
    one = np.ones(SHAPE)
    one[6:] = 0.9  # of it, so that nothing is the same everywhere
    medium = {
        "scalar": lambda: unda.Acoustic(rho=rho, c=c * one),
        "acoustic": lambda: unda.Acoustic(rho=rho * one, c=c * one),
        "elastic": lambda: unda.Elastic(rho=rho * one, vp=c * one, vs=0.6 * c * one),
        "maxwell": lambda: unda.Maxwell(eps=one / (rho * c * c), mu=one * rho),
    }[physics]()
    scheme = "scalar" if physics == "scalar" else "staggered"
    options = {"boundary": {"*": BOX[physics]}, "device": "cpu"} | options
    return unda.FD(unda.Grid(SHAPE, length), medium, scheme=scheme, dtype=dtype, **options)


def traces(physics, *, p=1.0, length=1.0, rho=1.0, c=1.0, **options):
    """Traces of a set state and of a source, in units of the state."""
    sim = simulation(physics, length=length, rho=rho, c=c, **options)
    name = {"elastic": "szz", "maxwell": "ez"}.get(physics, "p")
    sim.set(**{name: lambda x, y, z: p * np.sin(x / length) * np.cos(y / length) + 0 * z})
    place, second = length * np.array([(4.3, 5.1, 4.9), (6.0, 5.2, 5.5)])
    f = unda.ricker(0.1 * c / length)
    if physics == "maxwell":
        sim.add_source(unda.CurrentDipole(place, Times(f, p / (rho * c) * length**2), (1, 2, 3)))
    elif physics == "elastic":
        sim.add_source(unda.PointForce(place, Times(f, p * length**2), (1, 2, 3)))
    else:
        sim.add_source(unda.VolumeInjection(place, Times(f, p / (rho * c) * length**2)))
    rec = sim.add_receivers([second])
    sim.step(20)
    other = rec.fields[0 if physics == "elastic" else -1]
    found = [rec[name] / p]
    if physics != "scalar":
        found.append(rec[other] * ((rho * c) / p))
    return np.concatenate(found)


class Times:
    """A time function times a number."""

    def __init__(self, f, factor):
        self.f, self.factor = f, factor

    def __call__(self, t):
        return self.factor * self.f(t)


UNITS = [
    {"rho": 1e12, "p": 1e9},
    {"rho": 3300.0, "c": 17400.0, "p": 1e9, "length": 1e6},
    {"length": 1e-6, "rho": 1000.0, "c": 1500.0, "p": 1e9},
    {"p": 1e30},
    {"p": 1e-25},
    {"rho": 1e-6, "c": 1e9},
]


@pytest.mark.parametrize("physics", PHYSICS)
def test_units_do_not_matter_even_in_float32(physics):
    """20 steps of some 10 roundings of 6e-8: 1e-5 of the largest value."""
    expected = traces(physics, dtype="float64")
    scale = np.abs(expected).max()
    assert scale > 0.1
    for units in UNITS:
        assert np.abs(traces(physics, **units) - expected).max() < 1e-5 * scale, units
    assert np.abs(traces(physics, rho=2.0, p=1.001) * 1.001 - expected).max() > 1e-4 * scale


BEYOND = [
    {"rho": 1e-30, "c": 1e39},
    {"c": 1e39},
    {"c": 1e-39},
    {"rho": 1e39},
    {"rho": 1e-40},
    {"rho": 1e30, "c": 1e10},
    {"length": 1e-9, "rho": 1e-30, "c": 1e30},
]


@pytest.mark.parametrize("physics", PHYSICS)
def test_units_beyond_float32_are_refused_and_fine_in_float64(physics):
    """In float64 to 1e-10: 20 steps of some 10 roundings, and powers of ten that are rounded, too."""
    expected = traces(physics, dtype="float64")
    for units in BEYOND:
        with pytest.raises(unda.ArgumentError, match="beyond float32; use other units or float64"):
            traces(physics, **units)
        found = traces(physics, dtype="float64", **units)
        assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max(), units


@pytest.mark.parametrize("physics", PHYSICS)
@pytest.mark.parametrize(
    "units", [{"c": 1e300}, {"c": 1e308}, {"rho": 1e305, "c": 1e5}, {"length": 1e300}, {"length": 1e-160}]
)
def test_units_beyond_float64_are_refused(physics, units):
    for dtype in ("float32", "float64"):
        with pytest.raises(
            unda.ArgumentError, match=r"beyond float(32|64); use other units|expected|not finite"
        ):
            simulation(physics, dtype=dtype, **units)


def test_a_solid_whose_shear_modulus_is_lost_is_no_fluid():
    """mu = rho vs^2 = 1e-40: float32 has 0, and 1/mu is infinite."""
    with pytest.raises(unda.ArgumentError, match=r"coefficients of a material reach .* beyond float32"):
        unda.FD(
            unda.Grid(SHAPE, 1.0), unda.Elastic(rho=1.0, vp=1.0, vs=1e-20), scheme="staggered", device="cpu"
        )


def test_a_node_too_slow_to_move_is_refused():
    c = np.ones(SHAPE)
    c[3, 4, 5] = 1e-25
    with pytest.raises(unda.ArgumentError, match=r"squares of Courant numbers reach from .* beyond float32"):
        unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1.0, c=c), device="cpu")
    with pytest.raises(unda.ArgumentError, match=r"squares of Courant numbers reach from .* beyond float32"):
        unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1.0, c=1.0), dt=1e-25, device="cpu")


def test_si_units_of_light_and_metals_are_fine():
    """A box of a micrometre around copper: products of eps0 and mu0 are 1e-17, sigma / eps 7e18 / s."""
    sigma = np.zeros(SHAPE)
    sigma[6:] = 6e7
    sim = unda.FD(
        unda.Grid(SHAPE, 1e-7), unda.Maxwell(eps_r=1.0, sigma=sigma), scheme="staggered", device="cpu",
        boundary={"*": "pec"},
    )  # fmt: skip
    sim.add_source(unda.CurrentDipole((3e-7, 5e-7, 5e-7), unda.ricker(2e14), (0, 0, 1)))
    rec = sim.add_receivers([(4e-7, 6e-7, 5e-7)])
    sim.step(200)
    assert all(np.isfinite(rec[name]).all() for name in rec.fields) and np.abs(rec["ez"]).max() > 0


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
@pytest.mark.parametrize("amplitude", [1e36, 1e300])
def test_an_amplitude_beyond_float32_is_named(scheme, amplitude):
    """Of a function that tells nothing of itself when a call meets it, which changes nothing."""
    sim = unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1e3, c=1.5e3), scheme=scheme, device="cpu")
    sim.add_source(unda.VolumeInjection((3, 4, 5), lambda t: amplitude * np.sin(t / sim.dt)))
    rec = sim.add_receivers([(4, 4, 5)])
    with pytest.raises(
        unda.ArgumentError, match=r"source 0 has amplitude .* beyond float32; use a smaller one"
    ):
        sim.step(10)
    assert sim.step_count == 0 and rec.num_sample == 1 and not sim.get("p").any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_amplitudes_of_known_time_functions_are_named_when_they_are_added(dtype):
    beyond = (1e-42, 1e40) if dtype == "float32" else (1e-310,)
    t = np.linspace(0, 1, 101)
    mesh = unda.box_mesh((0, 0, 0), (12, 11, 10), (1, 1, 1))
    medium = unda.Acoustic(rho=1.0, c=1.0)
    for sim in (
        unda.FD(unda.Grid(SHAPE, 1.0), medium, dtype=dtype, device="cpu"),
        unda.DG(mesh, medium, degree=1, dtype=dtype, device="cpu"),
    ):
        for size in beyond:
            with pytest.raises(unda.ArgumentError, match=f"amplitudes of at most .*, beyond {dtype}"):
                sim.add_source(
                    unda.VolumeInjection((3, 4, 5), unda.sampled(t, size * np.sin(np.pi * t) ** 4))
                )
        sim.add_source(unda.VolumeInjection((3, 4, 5), unda.sampled(t, 0 * t)))
        sim.add_source(unda.VolumeInjection((3, 4, 5), unda.sampled(t, np.sin(np.pi * t) ** 4)))


def test_a_pulse_shorter_than_a_step_is_no_silence():
    sim = unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    sim.add_source(unda.VolumeInjection((3, 4, 5), unda.ricker(100.0 / sim.dt)))


def test_a_state_that_is_lost_in_the_precision_is_named():
    sim = unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    for p in (1e-50, 1e-40, np.full(SHAPE, 1e-60), lambda x, y, z: 1e-50):
        with pytest.raises(unda.ArgumentError, match="p has values other than 0, all of which are below"):
            sim.set(p=p)
    sim.set(p=lambda x, y, z: np.exp(-(x**2) - y**2 - z**2))  # whose rim is lost
    sim.set(p=0.0)
    sim.set(p=1e-35)
