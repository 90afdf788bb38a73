"""One node along an axis: problems in two dimensions and one, with sources per metre and per square metre.

Not here: the solutions themselves (test_exact_line.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import staggered
from unda import exact

H, F0 = 10.0, 8.0
WATER = unda.Acoustic(rho=1000.0, c=1500.0)
ROCK = unda.Elastic(rho=2000.0, vp=2600.0, vs=1500.0)
PULSE = unda.ricker(F0)
PULSE_2D = unda.ricker(1.0, t0=0.4)


def plane(axis, n=121):
    """A grid of one node along an axis, and a place in its middle with two receivers 100 and 200 m away."""
    shape, middle = [n, n, n], np.full(3, H * (n // 2))
    shape[axis], middle[axis] = 1, 0.0
    one, two = (i for i in range(3) if i != axis)
    points = np.tile(middle, (2, 1))
    points[0, one] += 100.0
    points[1, [one, two]] += 120.0, 160.0
    return tuple(shape), middle, points


def misfit(sim, source, points, solution, seconds):
    sim.add_source(source)
    rec = sim.add_receivers(points)
    sim.run(until=seconds)
    return rec.misfit(solution)


@pytest.mark.each_value
@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
@pytest.mark.parametrize("axis, thick", [(0, 1.0), (1, 10.0), (1, 0.01), (2, 700.0)])
def test_a_volume_in_two_dimensions_is_a_line_whatever_the_spacing_across(axis, thick, scheme):
    """Until walls 600 m away answer. The step's phase error, (2 pi f dt)^2 / 24 of the phase 2 pi f 0.13 s,
    is 0.3 % at 8 Hz and dt = 1.8 ms; two of it are left for higher frequencies.
    """
    shape, place, points = plane(axis)
    spacing = [H, H, H]
    spacing[axis] = thick
    sim = unda.FD(
        unda.Grid(shape, spacing), WATER, order=8, scheme=scheme, cfl=0.5, device="cpu", dtype="float64",
        boundary={"*": "rigid", "xyz"[axis] + "min": "periodic", "xyz"[axis] + "max": "periodic"},
    )  # fmt: skip
    source = unda.VolumeInjection(place, PULSE)
    line = exact.line_source(WATER, source, axis="xyz"[axis])
    assert misfit(sim, source, points, line, 0.6).max() < 0.01
    louder = exact.line_source(WATER, unda.VolumeInjection(place, 1.03 * PULSE), axis="xyz"[axis])
    assert sim.receivers[0].misfit(louder).min() > 0.02


def test_a_free_surface_over_a_line_is_an_image():
    shape, place, points = plane(1)
    source = unda.VolumeInjection(place + np.array([0, 0, 450.0]), PULSE)
    sides = {"zmax": "free", "*": "rigid", "ymin": "periodic", "ymax": "periodic"}
    sim = staggered(unda.Grid(shape, H), WATER, boundary=sides, order=8, cfl=0.5)
    line = exact.line_source(WATER, source, axis="y", walls={"zmax": "free"})
    assert misfit(sim, source, points + np.array([0, 0, 300.0]), line, 0.7).max() < 0.01


def test_forces_and_currents_along_the_line_are_per_metre():
    """SH waves, and those of a wire."""
    shape, place, points = plane(1)
    periodic = {"ymin": "periodic", "ymax": "periodic"}
    force = unda.PointForce(place, PULSE, (0, -3, 0))
    grid = unda.Grid(shape, (H, 7.0, H))
    sim = staggered(grid, ROCK, boundary={"*": "fixed", **periodic}, order=8, cfl=0.5)
    assert misfit(sim, force, points, exact.line_source(ROCK, force, axis="y"), 0.6).max() < 0.01
    glass = unda.Maxwell(eps=1.0, mu=1.0)
    current = unda.CurrentDipole(place, unda.ricker(F0 / 1500), (0, 2, 0))
    sim = staggered(grid, glass, boundary={"*": "pec", **periodic}, order=8, cfl=0.5)
    assert misfit(sim, current, points, exact.line_source(glass, current, axis="y"), 900.0).max() < 0.01


def test_forces_in_the_plane_and_volumes_in_a_solid_are_per_metre():
    """P and SV waves, as exact as those of a fluid: until walls 600 m away answer, 1200 m / 2600 m/s."""
    shape, place, points = plane(1)
    for source in (unda.PointForce(place, PULSE, (1, 0, -2)), unda.VolumeInjection(place, PULSE)):
        sides = {"*": "fixed", "ymin": "periodic", "ymax": "periodic"}
        sim = staggered(unda.Grid(shape, (H, 3.0, H)), ROCK, boundary=sides, order=8, cfl=0.5)
        assert misfit(sim, source, points, exact.line_source(ROCK, source, axis="y"), 0.38).max() < 0.01


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
@pytest.mark.parametrize("axis", range(3))
def test_one_dimension_is_per_square_metre(axis, scheme):
    shape, spacing = [1, 1, 1], [3.0, 0.2, 50.0]
    shape[axis], spacing[axis] = 201, H
    place, points = np.zeros(3), np.zeros((2, 3))
    place[axis], points[:, axis] = 1000.0, (900.0, 1200.0)
    sides = {name: "periodic" for name in ("xmin", "xmax", "ymin", "ymax", "zmin", "zmax")}
    sides |= {"xyz"[axis] + "min": "rigid", "xyz"[axis] + "max": "rigid"}
    sim = unda.FD(
        unda.Grid(shape, spacing), WATER, order=8, scheme=scheme, cfl=0.5, device="cpu", boundary=sides,
        dtype="float64",
    )  # fmt: skip
    source = unda.VolumeInjection(place, unda.gaussian(F0, t0=0.3))
    solution = exact.plane_source(WATER, source, normal="xyz"[axis])
    assert misfit(sim, source, points, solution, 0.7).max() < 0.01
    with pytest.raises(unda.ArgumentError, match=r"unda\.exact\.plane_source\(medium, source, normal="):
        sim.receivers[0].misfit(exact.line_source(WATER, source, axis="xyz"[axis - 1]))


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_energies_and_errors_are_per_metre(scheme):
    found = []
    for thick in (0.1, 1.0, 30.0):
        sim = unda.FD(
            unda.Grid((21, 1, 21), (H, thick, H)), WATER, scheme=scheme, device="cpu",
            boundary={"*": "rigid", "ymin": "periodic", "ymax": "periodic"},
        )  # fmt: skip
        wave = exact.plane_wave(WATER, k=(0.01, 0.0, 0.02))
        sim.set(p=lambda x, y, z: np.sin(x / 40) * np.cos(z / 50) + 0 * y)
        found.append((sim.energy(), sim.error(wave)["p"], sim.dt, sim.get("p").tobytes()))
    assert found[0] == found[1] == found[2]
    x, z = np.meshgrid(*sim.grid.axes()[::2], indexing="ij")
    wrong = np.sin(x / 40) * np.cos(z / 50) - np.moveaxis(wave(x, 0.0, z, 0.0)["p"], 0, 0)
    assert found[0][1] == pytest.approx(np.sqrt((wrong**2).sum()) * H, rel=1e-6)


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # of two nodes
def test_a_layer_beside_one_node_makes_three_dimensions():
    """Then its spacing counts."""
    energies = []
    for thick in (5.0, 10.0):
        sim = unda.FD(
            unda.Grid((21, 1, 21), (H, thick, H)), WATER, device="cpu",
            boundary={"*": "rigid", "ymin": unda.Damping(2), "ymax": unda.Damping(2)},
        )  # fmt: skip
        sim.add_source(unda.VolumeInjection((100, 0, 100), PULSE))
        rec = sim.add_receivers([(120, 0, 100)])
        sim.run(until=0.1)
        energies.append(np.abs(rec["p"]).max())
    assert energies[0] != pytest.approx(energies[1], rel=0.1)
    rec.misfit(exact.point_source(WATER, unda.VolumeInjection((100, 0, 100), PULSE)))


def test_solutions_in_three_dimensions_are_refused_with_advice():
    place = (100.0, 0.0, 100.0)
    volume, force = unda.VolumeInjection(place, PULSE), unda.PointForce(place, PULSE, (0, 1, 0))
    dipole, glass = unda.CurrentDipole(place, PULSE, (0, 1, 0)), unda.Maxwell(eps=1.0, mu=1.0)
    advice = r"three dimensions.*one node along y.*unda\.exact\.line_source\(medium, source, axis='y'\)"
    cases = [
        (WATER, exact.point_source(WATER, volume)),
        (ROCK, exact.point_source(ROCK, force)),
        (glass, exact.point_source(glass, dipole)),
        (ROCK, exact.lamb_problem(ROCK, unda.PointForce((100.0, 0.0, 200.0), PULSE, (0, 0, 1)))),
    ]
    for medium, solution in cases:
        sim = staggered(unda.Grid((21, 1, 21), H), medium)
        rec = sim.add_receivers([(150.0, 0.0, 120.0)])
        with pytest.raises(unda.ArgumentError, match=advice):
            rec.misfit(solution)
    pulse = exact.spherical_pulse(WATER, place, 30.0)
    sim = staggered(unda.Grid((21, 1, 21), H), WATER)
    for ask in (sim.error, sim.set):
        with pytest.raises(unda.ArgumentError, match=advice):
            ask(pulse)
    sim.set(exact.plane_wave(WATER, k=(0.1, 0.0, 0.0)))
    assert sim.error(exact.plane_wave(WATER, k=(0.1, 0.0, 0.0)))["p"] < 1e-6
    solid = staggered(unda.Grid((21, 5, 21), H), WATER)
    solid.set(pulse)  # of five nodes


@pytest.mark.parametrize("physics", ["maxwell", "elastic"])
def test_a_plane_gives_the_same_whichever_axis_lies_across_it_also_where_the_medium_varies(physics):
    """A source across the plane, whose field takes the medium half a cell on: the mean of a node and itself.

    The same sums in other orders: eps and some rounding a step, 40 of them, so 1e-13 of the largest value.
    """
    random = np.random.default_rng(0)
    values = random.uniform(1.0, 2.0, (3, 9, 11))

    def trace(axis, loud=1.0):
        shape = tuple(np.insert((9, 11), axis, 1))
        one, two, three = (loud * value.reshape(shape) for value in values)
        place, beside, across = (
            np.insert((0.43, 0.51), axis, 0),
            np.insert((0.6, 0.3), axis, 0),
            np.eye(3)[axis],
        )
        if physics == "maxwell":
            medium = unda.Maxwell(eps=one, mu=two, sigma=three)
            source = unda.CurrentDipole(place, PULSE_2D, across)
            walls, name = "pec", "e"
        else:
            medium = unda.Elastic(rho=one, vp=two, vs=0.6 * two)
            source, walls, name = unda.PointForce(place, PULSE_2D, across), "symmetry", "v"
        side = "xyz"[axis]
        sim = unda.FD(
            unda.Grid(shape, 0.1), medium, scheme="staggered", dt=0.02, device="cpu", dtype="float64",
            boundary={"*": walls, side + "min": "periodic", side + "max": "periodic"},
        )  # fmt: skip
        sim.add_source(source)
        rec = sim.add_receivers([beside], [name + side])
        sim.step(40)
        return rec[name + side]

    traces = [trace(axis) for axis in range(3)]
    for other in traces[1:]:
        np.testing.assert_allclose(traces[0], other, rtol=0, atol=1e-13 * np.abs(traces[0]).max())
    assert np.abs(trace(0, loud=1.1) - traces[1]).max() > 0.01 * np.abs(traces[1]).max()
