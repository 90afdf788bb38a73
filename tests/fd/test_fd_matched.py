"""Matched layers of the scalar scheme: what returns, what is stable, that they equal the oracle.

Not here: layers that damp (test_fd_layer.py), random cases beside the oracle (test_fd_modes.py), engines and
kernels beside each other (test_fd_cuda.py, test_fd_kernels.py, test_fd_diamond.py).
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import unda
from fd_cases import Case, run_both
from staggered_cases import whole_state

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "absorbing_layers.py"
SPEC = importlib.util.spec_from_file_location("absorbing_layers", FILE)
models = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(models)

PERIODIC = ("periodic", "periodic")
MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")


# ---- what returns ----


def test_little_comes_back_in_a_gradient_of_velocity(monkeypatch):
    """At most 0.5 % of any of five traces by default, 0.1 % of 20 nodes; layers that damp return 15 %."""
    monkeypatch.setattr(models, "UNTIL", 1.6)
    monkeypatch.setattr(models, "NX", 100)
    monkeypatch.setattr(models, "RECEIVERS", ((75, 50), (20, 5), (97, 3), (75, 97), (96, 50)))
    layers = {"default": None, "fmax=12.5": None, "20": unda.CPML(20), "poor": unda.Damping(20)}
    found = models.returned("gradient", 20.0, layers, device="cpu")
    assert found["default"] < 0.5 and found["fmax=12.5"] < 0.5 and found["20"] < 0.1
    assert found["poor"] > 15


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("model", ["gradient", "strata"])
def test_little_comes_back_in_any_model(model, order):
    """At most 0.3 % by default, 0.1 % of 20 nodes."""
    layers = {"default": None, "fmax=12.5": None, "20": unda.CPML(20)}
    found = models.returned(model, 20.0, layers, order=order, device="cpu")
    assert found["default"] < 0.3 and found["fmax=12.5"] < 0.3 and found["20"] < 0.1


# ---- the operator ----


@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 13, 21])
def test_layers_of_any_width_equal_the_oracle(width):
    """On one side of each axis or on both, corners included, beside walls and layers that damp."""
    one, other = (width, 1e-4, 0.04), (max(1, width // 2), 0.1, 0.1)
    for sides in (((one, other), ("rigid", one), (other, "free")),
                  ((other, (3, 0.1)), (one, one), PERIODIC)):  # fmt: skip
        case = Case((6, 7, 5), sides, (2, 4, 8, 12)[width % 4])
        found, expected = run_both(case, 100)
        scale = np.abs(case.states()[0]).max()  # as in test_fd_layer.py
        for name, values in found.items():
            assert np.abs(values - expected[name]).max() < 1e-12 * scale, name
        assert width < 5 or np.linalg.norm(expected["p"]) < 0.5 * np.linalg.norm(case.states()[0])


def test_a_wave_at_rest_has_no_memory():
    case = Case((9, 8, 7), (((4, 1e-3, 0.05),) * 2,) * 3, 4)
    found, expected = run_both(case, 30, rest=True)
    assert np.abs(found["p"] - expected["p"]).max() < 1e-13 * np.abs(case.states()[0]).max()


def test_differences_see_a_wrong_layer():
    """R0 = 1.1e-4 for 1e-4, or f0 = 0.041 for 0.04, is not equal to rounding."""
    case = Case((6, 7, 5), (((8, 1e-4, 0.04),) * 2,) * 3, 4)
    found, _ = run_both(case, 40)
    for other in ((8, 1.1e-4, 0.04), (8, 1e-4, 0.041)):
        _, expected = run_both(case._replace(sides=((other,) * 2,) * 3), 40)
        assert np.abs(found["p"] - expected["p"]).max() > 1e-7


# ---- stability ----


def largest(order, seed, steps, *, cfl=0.99, contrast=4.0, width=10, dtype="float64", parts=10):
    """Largest |p| in each part of a run from random levels, another speed at every node, layers all round."""
    layer = (width, 10.0 ** (-0.7 * width), 0.05)
    case = Case(
        (21, 1, 18), ((layer, layer), PERIODIC, (layer, layer)), order, (1.0, 1.0, 0.8), contrast, seed=seed
    )
    sim = case.fd(dt=None, cfl=cfl, dtype=dtype, allow_unstable=True)
    p, q = case.states()
    sim.set(p=p, p_previous=q)
    found = []
    for _ in range(parts):
        sim.step(steps // parts)
        found.append(np.abs(sim.get("p")).max())
    return np.array(found)


@pytest.mark.parametrize("order", [2, 4, 8])
def test_nothing_grows_at_099_of_the_stable_step(order):
    """|1/s| <= 1 on the unit circle (csrc/fd/scalar/matched.c): the step is that without layers. Noise
    trapped by a random medium stays, at most twice as large from part to part as in the first."""
    found = largest(order, 1, 4000)
    assert (found < 2 * found[0]).all()


@pytest.mark.parametrize("order", [2, 8])
def test_above_the_stable_step_it_blows_up(order):
    """At 1.01 in one medium: the mode that turns from node to node of 21 x 18 has cos^2(pi / 40) of it."""
    with pytest.raises(unda.UnstableError):
        largest(order, 1, 40000, cfl=1.01, contrast=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("order", [2, 4, 8, 12])
def test_nothing_grows_in_100000_steps(order, seed):
    """Up to the contrasts that no run warns of, here at every node."""
    width, contrast = ((10, 20.0), (3, 3.0), (20, 20.0), (5, 10.0), (10, 4.0))[seed]
    found = largest(order, seed, 100000, width=width, contrast=contrast)
    assert (found < 2 * found[0]).all()


def thin_layers(contrast, width):
    shape = (21, 1, 18)
    c = contrast ** np.random.default_rng(1).uniform(size=shape)
    return unda.FD(unda.Grid(shape, 1.0), unda.Acoustic(rho=1.0, c=c), device="cpu",
                   boundary={"*": "periodic", "xmax": unda.CPML(width=width), "xmin": "free"})  # fmt: skip


def test_thin_layers_beside_noise_grow():
    """As docs/absorbing_layers.md has it: with 3 nodes at a contrast of 20, in ten parts of 40,000 steps."""
    found = largest(2, 1, 40000, width=3, contrast=20.0)
    assert found[-1] > 100 * found[0]


@pytest.mark.parametrize(
    "contrast, width, warned",
    [(20.0, 3, True), (20.0, 5, True), (20.0, 10, False), (3.0, 3, False), (6.0, 3, True), (9.0, 5, False)],
)
def test_a_run_warns_where_they_may(contrast, width, warned):
    found = [one for one in thin_layers(contrast, width).check().warnings if "may grow slowly" in one]
    assert len(found) == warned
    assert not warned or f"beside {width} nodes of layer" in found[0]


def test_waves_leave():
    """Of a pulse in a cube of one medium nothing is left: 1e-5 of its energy, also in single precision."""
    sim = unda.FD(unda.Grid((16, 15, 17), 10.0), MEDIUM, device="cpu")
    sim.add_source(unda.VolumeInjection((71.0, 74.0, 83.0), unda.ricker(15.0)))
    energies = []
    for _ in range(12):
        sim.run(until=sim.t + 0.05)
        energies.append(sim.energy())
    assert energies[-1] < 1e-5 * max(energies)


# ---- memory, checkpoints ----


def test_memory_is_kept_in_the_layers_only():
    """Three words for each axis in whose layers a node lies."""
    sim = unda.FD(
        unda.Grid((9, 8, 10), 1.0), MEDIUM, boundary={"zmax": "free", "*": unda.CPML(3)}, device="cpu"
    )
    memory = list(whole_state(sim).values())[2:]
    x, y, z = sim.padded
    assert sum(one.size for one in memory) == 3 * (6 * y * z + 6 * x * z + 3 * x * y)
    assert sim.memory == unda.FD.forecast(
        sim.grid, MEDIUM, boundary={"zmax": "free", "*": unda.CPML(3)}, device="cpu"
    )


def test_a_saved_run_goes_on_bit_for_bit(tmp_path):
    boundary = {"zmax": "free", "xmin": unda.Damping(3), "*": unda.CPML(4, f0=20.0)}
    sim = unda.FD(unda.Grid((9, 8, 10), 10.0), MEDIUM, boundary=boundary, device="cpu")
    rng = np.random.default_rng(1)
    sim.set(p=rng.standard_normal(sim.grid.shape) * (np.arange(10) < 9))
    sim.step(7)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert again.config["boundary"] == sim.config["boundary"]
    sim.step(9)
    again.step(9)
    for name, values in whole_state(sim).items():
        assert np.abs(values).max() > 0
        np.testing.assert_array_equal(whole_state(again)[name], values)


def test_set_forgets_what_layers_remember():
    sim = unda.FD(
        unda.Grid((9, 8, 10), 10.0), MEDIUM, boundary={"*": unda.CPML(4)}, device="cpu", dtype="float64"
    )
    states = []
    for _ in range(2):
        sim.set(p=np.random.default_rng(1).standard_normal(sim.grid.shape))
        sim.step(7)
        states.append(sim.get("p"))
    np.testing.assert_array_equal(*states)


# ---- what is chosen, refused, warned of ----


def sides(**options):
    sim = unda.FD(unda.Grid((12, 1, 10), (20.0, 1.0, 10.0)), MEDIUM, device="cpu", **options)
    return sim.config["boundary"]


def test_the_default_follows_from_fmax_or_from_ten_nodes_a_wavelength():
    """f0 = fmax / 2.5, of a Ricker wavelet; fmax = 1500 m/s / (10 x 20 m) = 7.5 Hz; a quarter of 300 m is 15
    nodes of 20 m at 2 Hz."""
    assert sides()["xmin"] == {"width": 10, "f0": pytest.approx(3.0), "R0": 1e-7, "kappa": 1.0, "ratio": 0.0}
    assert sides(fmax=12.5)["zmax"] == {"width": 10, "f0": 5.0, "R0": 1e-7, "kappa": 1.0, "ratio": 0.0}
    assert sides(fmax=3.125)["zmax"]["width"] == 15 and sides(fmax=0.1)["zmax"]["width"] == 20
    assert sides(boundary={"*": unda.CPML(5)})["xmin"]["R0"] == pytest.approx(10**-3.5)
    assert sides(boundary={"*": unda.CPML(5, R0=0.1, f0=7.0)}, fmax=5.0)["xmin"]["f0"] == 7.0
    assert sides(boundary={"*": unda.Damping(5)})["xmin"] == {"width": 5, "R0": 0.01}


def test_what_it_cannot_do_is_refused():
    with pytest.raises(unda.ArgumentError, match="kappa is 2"):
        sides(boundary={"*": unda.CPML(kappa=2.0)})
    with pytest.raises(unda.ArgumentError, match="fmax"):
        sides(fmax=-1.0)


@pytest.mark.parametrize(("f0", "warns"), [(5.0, False), (1.2, True), (40.0, True)])
def test_a_source_whose_spectrum_does_not_fit_is_named(f0, warns):
    """Measured (docs/absorbing_layers.md): 0.15 % at f0 / 5, 0.13 % at 2 f0, 1.2 % at 4 f0, of 10 nodes."""
    sim = unda.FD(unda.Grid((30, 1, 30), 10.0), MEDIUM, boundary={"*": unda.CPML(10, f0=5.0)}, device="cpu")
    sim.add_source(unda.VolumeInjection((150.0, 0.0, 150.0), unda.ricker(f0)))
    found = [text for text in sim.check().warnings if "layer" in text]
    assert len(found) == warns and (not warns or f"{f0:g} Hz" in found[0])
