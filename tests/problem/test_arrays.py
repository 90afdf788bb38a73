"""Arrays are what their points are one by one; bowls and linear arrays have their exact fields.

Not here: single sources (test_sources.py), amplitudes of many time functions (test_many_points.py).
"""

import json
import time

import cuda_device
import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.problem.source import Source

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

cuda_device.prepare()
WAVE = unda.ricker(2.0, 0.05)  # acts at once
SEA, ROCK = unda.Acoustic(rho=1.0, c=lambda x, y, z: 1.0 + 0.3 * x), unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
GRID = unda.Grid((12, 12, 12), spacing=0.1)
TET = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2))
HEX = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 2, 2), shape="hex")
MAKERS = {
    "DG": lambda **on: unda.DG(TET, ROCK, degree=2, dtype="float64", **on),
    "DG Maxwell": lambda **on: unda.DG(HEX, unda.Maxwell(eps=1.0, mu=1.0), degree=2, dtype="float64", **on),
    "SEM": lambda **on: unda.SEM(HEX, ROCK, degree=3, dtype="float64", **on),
    "FD": lambda **on: unda.FD(GRID, SEA, dtype="float64", boundary={"*": "free"}, **on),
    "FD staggered": lambda **on: unda.FD(
        GRID, ROCK, scheme="staggered", dtype="float64", boundary={"*": "free"}, **on
    ),
}  # fmt: skip
LIGHT = unda.Acoustic(rho=1.0, c=1.0)
AT = [(0.52, 0.31, 0.77), (0.2, 0.3, 0.9)]


def array(name, num=9, **more):
    rng = np.random.default_rng(5)
    directed = {"direction": (1.0, -2.0, 0.5)} if name in ("DG", "DG Maxwell", "SEM") else {}
    delays = rng.choice([0.0, 0.013, 0.02], num)
    return unda.Array(rng.uniform(0.2, 0.8, (num, 3)), WAVE, weights=rng.normal(size=num), delays=delays,
                      **directed, **more)  # fmt: skip


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "name, device",
    [*((name, "cpu") for name in MAKERS), *((name, "cuda") for name in MAKERS if name != "FD staggered")],
)
def test_an_array_is_its_points_one_by_one(name, device):
    made = array(name)
    physics = "maxwell" if "Maxwell" in name else "elastic"
    found = []
    late = unda.Array(
        made.points, WAVE, weights=made.weights, delays=made.delays + 1e-3, direction=made.direction
    )
    for sources in ([made], made.sources(physics), [late]):
        sim = MAKERS[name](device=device)
        sim.add_source(unda.VolumeInjection(AT[0], WAVE) if physics == "elastic" else sources[0])
        sim.add_source(sources if physics == "elastic" else sources[1:])
        sim.run(steps=5)
        found.append(np.concatenate([trace.ravel() for trace in sim.sample(AT).values()]))
    scale = np.abs(found[0]).max()
    # factors are multiplied in another order: some roundings
    assert scale > 0.0 and np.abs(found[0] - found[1]).max() < 1e-12 * scale
    assert np.abs(found[0] - found[2]).max() > 1e-3 * scale


def test_delays_are_not_rounded_to_steps():
    traces = []
    late = unda.ricker(2.0, 0.8)  # after a time in which nothing happens
    for by in (0.0, 0.5, 1.0):  # of a step
        sim = MAKERS["FD"](device="cpu", cfl=0.1)
        sim.add_source(unda.Array([AT[0]], late, delays=[by * sim.dt]))
        rec = sim.add_receivers(AT, ["p"])
        sim.run(until=1.5)
        traces.append(rec["p"])
    scale = np.abs(traces[0]).max()
    assert np.abs(traces[2][:, 1:] - traces[0][:, :-1]).max() < 1e-9 * scale  # f is 1e-8 where it begins
    between = 0.5 * (traces[0] + traces[2])
    # f(t - d/2) is the mean of f(t) and f(t - d) but for d^2 f''/8; half a step more or less is d f'/2
    bound = (2 * np.pi * late.fmax * sim.dt) ** 2 / 8 * scale
    assert np.abs(traces[1] - between).max() < bound < 0.5 * np.abs(traces[0] - between).max()


def test_a_hundred_thousand_points_are_set_up_in_a_second():
    rng = np.random.default_rng(1)
    points, weights, delays = (
        rng.uniform(0.2, 0.8, (100_000, 3)),
        rng.normal(size=100_000),
        rng.random(100_000),
    )
    seconds = []
    for _ in range(2):  # of this process: others may take their turns between
        sim, begin = MAKERS["FD"](device="cpu"), time.process_time()
        sim.add_source(unda.Array(points, WAVE, weights=weights, delays=delays))
        seconds.append(time.process_time() - begin)
    assert min(seconds) < 1.0


def test_the_bowl_has_oneils_field_on_its_axis():
    # in open space, from its points: p = rho c R / (2 (R - z)) (f(t - z/c) - f(t - r/c)), rim at distance r
    c, rho, radius, wide = 1500.0, 1000.0, 0.06, 0.05
    f = unda.tone_burst(5e5, 4)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    position = np.array([0.01, 0.02, -0.03])
    bowl = unda.Array.bowl(position, position + radius * axis, wide, f, spacing=1.5e-3)
    depth = radius - np.sqrt(radius**2 - wide**2 / 4)
    assert np.allclose(np.linalg.norm(bowl.points - position - radius * axis, axis=1), radius, rtol=1e-13)
    assert bowl.weights.sum() == pytest.approx(2 * np.pi * radius * depth, rel=1e-13)
    t = np.linspace(0.0, 7e-5, 351)
    for z in (0.03, 0.0599, 0.06, 0.08):
        to = np.linalg.norm(position + z * axis - bowl.points, axis=1)
        p = sum(rho / (4 * np.pi * r) * w * f.derivative(t - r / c)
                for r, w in zip(to, bowl.weights, strict=True))  # fmt: skip
        rim = np.sqrt(wide**2 / 4 + (z - depth) ** 2)
        if z == radius:
            exact = rho * depth / 2 * f.derivative(t - radius / c)
        else:
            exact = rho * c * radius / (2 * (radius - z)) * (f(t - z / c) - f(t - rim / c))
        # the rule of midpoints in r, n of them: (2 pi f (r_rim - z) / (c n))^2/24 of the peak and less; 1e-5
        assert np.abs(p - exact).max() < 1e-4 * np.abs(exact).max()
        assert np.abs(p - 1.01 * exact).max() > 5e-3 * np.abs(exact).max()


@pytest.mark.slow
def test_a_simulated_bowl_has_oneils_amplitude_in_its_focus():
    c, rho = 1500.0, 1000.0
    grid = unda.Grid((41, 41, 38), 0.5e-3)
    f = unda.gaussian(2.0e5).derivative  # to 0.62 MHz: 5 nodes a wavelength
    middle, focus = np.array([10.1e-3, 10.1e-3, 2e-3]), np.array([10.1e-3, 10.1e-3, 14e-3])
    bowl = unda.Array.bowl(middle, focus, 0.018, f, spacing=0.5e-3)
    sim = unda.FD(grid, unda.Acoustic(rho=rho, c=c), order=8, fmax=f.fmax, device="cpu", cfl=0.5)
    sim.add_source(bowl)
    rec = sim.add_receivers([focus, focus - [0, 0, 3e-3]], ["p"])
    sim.run(until=2.2e-5)
    depth = 0.012 - np.sqrt(0.012**2 - 0.009**2)
    exact = rho * depth / 2 * f.derivative(rec.t - 0.012 / c)
    rim = np.sqrt(0.009**2 + (0.009 - depth) ** 2)
    near = rho * c * 0.012 / (2 * 0.003) * (f(rec.t - 0.009 / c) - f(rec.t - rim / c))
    # order 8 at 5 nodes: 0.3 % of phase over 5 wavelengths at fmax, which has 3 % of the spectrum;
    # layers return 0.5 %
    for trace, one in zip(rec["p"], (exact, near), strict=True):
        error = np.linalg.norm(trace - one) / np.linalg.norm(one)
        assert error < 0.02 < np.linalg.norm(1.05 * trace - one) / np.linalg.norm(one)


def test_a_linear_array_has_the_delays_of_its_focus_and_angle():
    focus, c = (0.003, 0.0, 0.02), 1540.0
    row = unda.Array.linear(16, 3e-4, WAVE, width=2.4e-4, height=4e-3, spacing=1e-4, focus=focus, c=c)
    assert len(row.points) == 16 * 3 * 40 and row.weights.sum() == pytest.approx(16 * 2.4e-4 * 4e-3)
    middles = row.points.reshape(16, -1, 3).mean(axis=1)
    assert np.allclose(middles[:, 0], 3e-4 * (np.arange(16) - 7.5), atol=1e-18)
    arrival = row.delays.reshape(16, -1)[:, 0] + np.linalg.norm(middles - focus, axis=1) / c
    assert np.ptp(arrival) < 1e-12 * arrival[0] and row.delays.min() == 0.0
    turned = unda.Array.linear(16, 3e-4, WAVE, width=2.4e-4, spacing=1e-4, angle=30.0, c=c, along=(0, 1, 0))
    assert np.allclose(np.diff(turned.delays.reshape(16, -1)[:, 0]), 3e-4 * 0.5 / c, rtol=1e-10)
    assert np.ptp(turned.points[:, 0]) == 0.0 and turned.weights.sum() == pytest.approx(16 * 2.4e-4)


def test_arrays_are_saved_and_repeated_by_files(tmp_path):
    made = array("FD staggered")
    again = Source.from_config(json.loads(json.dumps(made.to_config())))
    assert again.to_config() == made.to_config() and repr(again) == repr(made)
    sim = MAKERS["FD staggered"](device="cpu")
    sim.add_source([made, unda.PointForce(AT[0], WAVE, (1, 0, 0))])
    rec = sim.add_receivers(AT, ["vx"])
    sim.run(steps=6)
    sim.save(tmp_path / "run.h5")
    other = unda.load(tmp_path / "run.h5")
    for one in (sim, other):
        one.run(steps=6)
    assert (other.receivers[0]["vx"] == rec["vx"]).all() and np.abs(rec["vx"]).max() > 0.0


def wet():
    return unda.SEM(HEX, unda.Elastic(rho=1.0, vp=2.0, vs=0.0), degree=2, device="cpu")


def fd():
    return MAKERS["FD"](device="cpu")


@pytest.mark.parametrize("make, found", [
    (lambda: unda.Array(np.empty((0, 3)), WAVE), "points are none"),
    (lambda: unda.Array([(0, 0)], WAVE), r"points.*shape"),
    (lambda: unda.Array(AT, WAVE, weights=[1.0]), "weights"),
    (lambda: unda.Array(AT, WAVE, delays=[0.0, np.nan]), "delays"),
    (lambda: unda.Array(AT, 3.0), "f is 3.0"),
    (lambda: unda.Array(AT, unda.sampled(range(4), [0, 1, 1, 0], "Pa")), "f has values in Pa; .* of vol"),
    (lambda: unda.Array(AT, unda.sampled(range(4), [0, 1, 1, 0], "m/s"), direction=(1, 0, 0)), "of forces"),
    (lambda: unda.Array(AT, WAVE, direction=(0, 0, 0)), "direction is .* expected a vector of length > 0"),
    (lambda: fd().add_source(unda.Array(AT, WAVE, direction=(1, 0, 0))), "PointForce drives"),
    (lambda: MAKERS["DG Maxwell"](device="cpu").add_source(unda.Array(AT, WAVE)), "VolumeInjection drives"),
    (lambda: wet().add_source(unda.Array(AT, WAVE, direction=(1, 0, 0))), "forces in a fluid"),
    (lambda: wet().add_source(unda.Array(AT, np.sin, delays=[0, 1])), "is a plain callable"),
    (lambda: unda.Array(AT, np.sin).sources(), "plain callable"),
    (lambda: unda.exact.point_source(LIGHT, unda.Array(AT, WAVE)), "expected one point"),
    (lambda: unda.Array.bowl((0, 0, 0), (0, 0, 1), 2.1, WAVE, spacing=0.1), "at most 2 m"),
    (lambda: unda.Array.bowl((0, 0, 0), (0, 0, 0), 1, WAVE, spacing=0.1), "vector of length > 0"),
    (lambda: unda.Array.linear(2, 1, WAVE, width=1.1, spacing=1), "overlap"),
    (lambda: unda.Array.linear(2, 1, WAVE, width=1, spacing=1, angle=3), "needs c"),
    (lambda: unda.Array.linear(2, 1, WAVE, width=1, spacing=1, angle=3, focus=AT[0], c=1), "not both"),
    (lambda: unda.Array.linear(2, 1, WAVE, width=1, spacing=1, normal=(1, 0, 1)), "right angle"),
])  # fmt: skip
def test_bad_arrays_are_named(make, found):
    with pytest.raises(ArgumentError, match=found):
        make()
