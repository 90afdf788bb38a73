"""Receivers and samples of divergence, curl and pressure are what the fields' derivatives and sums are.

Not here: that both engines record the same at every step (test_cuda_engine.py).
"""

import copy

import cuda_device
import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.method.channels import Channels
from unda.method.receiver import Receivers

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # names and files, and fields of fluids

cuda_device.prepare()
DEVICES = pytest.mark.parametrize("device", ["cpu", "cuda"])
MEDIUM = unda.Acoustic(rho=1.3, c=0.9)
ROCK = unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
MEDIA = {  # and the vector whose derivatives are known
    "acoustic": (MEDIUM, ("vx", "vy", "vz")),
    "elastic": (ROCK, ("vx", "vy", "vz")),
    "maxwell": (unda.Maxwell(eps=1.3, mu=0.8), ("ex", "ey", "ez")),
}
NAMES = ["divergence", "vy", "curl_x", "curl_y", "curl_z"]


def box(n=2, **options):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (n, n, n), perturb=0.2, seed=1, **options)


def polynomial(rng, degree):
    """Random coefficients of x^i y^j z^k, i + j + k <= degree."""
    powers = [(i, j, k) for i in range(degree + 1) for j in range(degree + 1 - i)
              for k in range(degree + 1 - i - j)]  # fmt: skip
    return {power: rng.standard_normal() for power in powers}


def evaluate(terms, x, y, z):
    return sum(a * x**i * y**j * z**k for (i, j, k), a in terms.items())


def derivative(terms, axis):
    lower = {tuple(n - (m == axis) for m, n in enumerate(power)): power[axis] * a
             for power, a in terms.items()}  # fmt: skip
    return {power: a for power, a in lower.items() if min(power) >= 0}


def expected(v, points):
    """NAMES of a vector of three polynomials, at points; vy is its second component."""
    d = [[evaluate(derivative(one, axis), *points.T) for axis in range(3)] for one in v]
    return [
        d[0][0] + d[1][1] + d[2][2], evaluate(v[1], *points.T),
        d[2][1] - d[1][2], d[0][2] - d[2][0], d[1][0] - d[0][1],
    ]  # fmt: skip


@pytest.mark.each_value("physics", "device")
@pytest.mark.gpu_or_stand_in
@DEVICES
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("physics", MEDIA)
def test_derivatives_of_the_elements_polynomials_are_exact(physics, degree, device):
    rng = np.random.default_rng(degree)
    v = [polynomial(rng, degree) for _ in range(3)]
    medium, vector = MEDIA[physics]
    names = [vector[1] if name == "vy" else name for name in NAMES]
    sim = unda.DG(box(1), medium, degree=degree, dtype="float64", device=device)
    sim.set(**{name: lambda x, y, z, one=one: evaluate(one, x, y, z)
               for name, one in zip(vector, v, strict=True)})  # fmt: skip
    points = rng.uniform(0.02, 0.78, (20, 3))
    rec = sim.add_receivers(points, names)
    sampled = sim.sample(points, names)
    for name, exact in zip(names, expected(v, points), strict=True):
        scale = 1e-12 * np.abs(exact).max()  # 56 nodes, gradients of up to some 1e2
        assert np.abs(rec[name][:, 0] - exact).max() < scale
        assert np.abs(sampled[name] - exact).max() < scale
    turned = [v[2], v[0], v[1]]
    for name, wrong in zip(names, expected(turned, points), strict=True):
        assert np.abs(sampled[name] - wrong).max() > 1e-3


def errors(n, degree, wrong=1.0):
    """RMS of div v + p_t/(rho c^2), and of curl_y v, of a plane wave over points and time."""
    k, rho, c = np.array([3.0, -2.0, 2.5]), 1.3, 0.9
    wave = unda.exact.plane_wave(MEDIUM, k=k)
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (n, n, n))  # as regular as the mesh twice as fine
    sim = unda.DG(mesh, MEDIUM, degree=degree, boundary={"*": wave}, dtype="float64")
    sim.set(wave)
    points = np.random.default_rng(0).uniform(0.02, 0.78, (1000, 3))
    rec = sim.add_receivers(points, ["divergence", "curl_y"])
    sim.run(until=0.3)
    omega = c * np.linalg.norm(k)
    exact = omega * np.cos((points @ k)[:, None] - omega * rec.t) / (rho * c**2)
    return np.array([np.sqrt((one**2).mean()) for one in (rec["divergence"] - wrong * exact, rec["curl_y"])])


@pytest.mark.parametrize("degree", [2, 3])
def test_divergence_of_a_plane_wave_converges_at_the_degree(degree):
    """-rho c^2 div v is p_t, curl v is 0; a derivative has one order less than the field's N + 1."""
    orders = np.log2(errors(2, degree) / errors(4, degree))
    assert (orders > degree - 0.3).all()
    wrong = np.log2(errors(2, degree, wrong=1.05) / errors(4, degree, wrong=1.05))
    assert wrong[0] < degree - 0.3


@pytest.mark.gpu_or_stand_in
@DEVICES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_recorded_while_running_is_what_sampling_gives(dtype, device):
    sim = unda.DG(box(1), MEDIUM, degree=3, dtype=dtype, device=device)
    sim.set(p=lambda x, y, z: np.sin(3 * x + y), vx=lambda x, y, z: z**3, vz=lambda x, y, z: np.cos(4 * x))
    points = [(0.3, 0.4, 0.5), (0.6, 0.1, 0.2)]
    plain, derived = sim.add_receivers(points, ["p"]), sim.add_receivers(points, NAMES, every=2)
    sim.run(steps=4)
    sampled, eps = sim.sample(points, ["p", *NAMES]), np.finfo(dtype).eps
    assert plain["p"].shape == (2, 5) and derived["curl_y"].shape == (2, 3)
    for rec, names in ((plain, ["p"]), (derived, NAMES)):
        for name in names:
            size = np.abs(sampled[name]).max()
            assert size > 1e-3
            assert np.abs(rec[name][:, -1] - sampled[name]).max() < 40 * eps * max(1.0, size)
            assert np.abs(rec[name][:, -2] - sampled[name]).max() > 400 * eps * max(1.0, size)


def test_units_and_names_of_what_is_derived():
    sim = unda.DG(box(1), MEDIUM, degree=1)
    rec = sim.add_receivers([(0.3, 0.4, 0.5)], ["divergence", "p"])
    assert rec.fields == ("divergence", "p") and rec.units == {"divergence": "1/s", "p": "Pa"}
    assert sim.add_receivers([(0.3, 0.4, 0.5)]).fields == ("p", "vx", "vy", "vz")
    assert list(sim.sample([(0.3, 0.4, 0.5)])) == ["p", "vx", "vy", "vz"]
    for use in (sim.add_receivers, sim.sample):
        with pytest.raises(
            unda.ArgumentError, match=r"no fields \['pressure'\]; there are .*'divergence', 'curl_x'"
        ):
            use([(0.3, 0.4, 0.5)], ["pressure"])
    assert ROCK.traces["pressure"] == "Pa" and unda.Maxwell(eps=1.0, mu=1.0).traces["curl_x"] == "V/m2"


def test_checkpoints_and_trace_files_keep_what_is_derived(tmp_path):
    sim = unda.DG(box(1), MEDIUM, degree=2)
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0)))
    rec = sim.add_receivers([(0.5, 0.6, 0.4)], ["vx", "divergence", "curl_z"])
    sim.run(steps=7)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    for each in (sim, again):
        each.run(steps=6)
    (other,) = again.receivers
    for name in rec.fields:
        assert other[name].shape == (1, 14) and np.array_equal(rec[name], other[name])
    assert np.abs(rec["divergence"]).max() > 0
    rec.save(tmp_path / "rec.h5")
    loaded = unda.load_receivers(tmp_path / "rec.h5")
    assert loaded.units == rec.units and np.array_equal(loaded["curl_z"], rec["curl_z"])
    assert loaded.misfit(rec) == 0


def test_pressure_is_minus_a_third_of_the_trace():
    channels = Channels(ROCK, ["pressure", "szz", "curl_y"])
    assert list(channels.numbers) == [3, 4, 5, 27 + 0, 9 + 2]  # of 9 fields: dvx/dz, dvz/dx
    samples = np.array([[[-1.0, -2.0, -6.0, 0.5, 0.25]]])
    assert channels.combine(samples).tolist() == [[[3.0, -6.0, 0.25]]]


def traces(wave, names):
    points, t = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]), 0.1 * np.arange(6)
    rec = Receivers(points, names, units=ROCK.traces, every=1, dt=0.1, dtype=np.dtype(float), config={})
    values = wave(*(points[:, i, None] for i in range(3)), t)
    pressure = -(values["sxx"] + values["syy"] + values["szz"]) / 3
    rec.put(0, np.stack([pressure.T if name == "pressure" else values[name].T for name in names], axis=-1))
    return rec


def test_misfit_of_pressure_is_against_the_solutions_stress():
    wave = unda.exact.plane_wave(ROCK, k=(1.0, 2.0, -1.0))
    rec = traces(wave, ("pressure", "vx"))
    assert rec.misfit(wave).max() < 1e-14
    louder = unda.exact.plane_wave(ROCK, k=(1.0, 2.0, -1.0), amplitude=1.25)
    assert rec.misfit(louder, fields=("pressure",)) == pytest.approx([0.2, 0.2])


def test_misfit_of_a_component_that_vanishes_is_against_its_vector():
    """vz of a P wave along x is 0: noise of 1 % of vx there is 1 %, whether vx was recorded or not."""
    wave = unda.exact.plane_wave(ROCK, k=(3.0, 0.0, 0.0))
    size = [np.sqrt((trace**2).sum()) for trace in traces(wave, ("vx",))["vx"]]
    rec = traces(wave, ("vz",))
    assert not rec["vz"].any() and rec.misfit(wave).tolist() == [0.0, 0.0]
    rec._parts[0][2, :, 0] = 0.01 * np.array(size)
    assert rec.misfit(wave) == pytest.approx([0.01, 0.01], rel=1e-12)
    whole = traces(wave, ("vx", "vy", "vz"))
    assert rec.misfit(whole, fields=("vz",)) == pytest.approx([0.01, 0.01], rel=1e-12)
    assert np.isinf(rec.misfit(traces(wave, ("vz",)))).all()  # of that nothing is known but 0


def test_misfit_at_a_nodal_plane_can_be_against_the_strongest_trace():
    """p is 0 at the second point; noise of a hundredth of the first trace is a hundredth there, not inf."""
    wave = traces(unda.exact.plane_wave(ROCK, k=(3.0, 0.0, 0.0)), ("pressure",))
    wave._parts[0][:, 1] = 0.0
    rec = copy.deepcopy(wave)
    rec._parts[0][2, 1] = 0.01 * np.sqrt((wave["pressure"][0] ** 2).sum())
    assert rec.misfit(wave).tolist() == [0.0, np.inf]
    assert rec.misfit(wave, relative_to="strongest") == pytest.approx([0.0, 0.01], rel=1e-12)
    with pytest.raises(ArgumentError, match="relative_to is 'point'"):
        rec.misfit(wave, relative_to="point")


def test_misfit_of_derivatives_says_that_exact_solutions_have_none():
    sim = unda.DG(box(1), MEDIUM, degree=2)
    rec = sim.add_receivers([(0.5, 0.6, 0.4)], ["p", "divergence"])
    sim.run(steps=2)
    wave = unda.exact.plane_wave(MEDIUM, k=(1.0, 2.0, -1.0))
    with pytest.raises(unda.ArgumentError, match="'divergence' takes derivatives, which exact solutions"):
        rec.misfit(wave)
    assert rec.misfit(wave, fields=("p",)) == pytest.approx([1.0])
    assert rec.misfit(rec) == 0
