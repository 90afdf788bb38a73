"""Sources and receivers of the finite differences: anywhere on the grid, with true amplitude, in any medium.

Against the oracle to rounding, against images of an exact point source, and by reciprocity. Points beside
sides and in corners are folded by the sides' images; the part of a cell inside a rigid side is half.
Not here: the field between them (test_fd_modes.py), layers (test_fd_layer.py).
"""

import numpy as np
import pytest
import unda
from fd_cases import RHO, Case, any_case, differences, run_both
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

OFTEN = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
F, R, P = ("free", "free"), ("rigid", "rigid"), ("periodic", "periodic")
MIXED = (("rigid", "free"), ("rigid", "rigid"), ("free", "rigid"))
LAYERED = (("rigid", (5, 0.01)), ("free", "rigid"), ((6, 0.01), "free"))


def pulses(case, num):
    """Smooth, already running at t = 0, of some ten steps."""
    rng = np.random.default_rng(case.seed)
    places = case.points(num, seed=7)
    return [(place, unda.ricker(0.04 / case.dt, t0=float(rng.uniform(5, 20)) * case.dt)) for place in places]


# ---- the oracle ----


@OFTEN
@given(case=any_case(least=3), every=st.integers(1, 7))
def test_points_anywhere_equal_the_oracle(case, every):
    """30 steps, three sources, seven receivers, on nodes and off, beside sides and in corners.

    Rounding as of the field; the windows add 8^3 terms whose signs differ: |w| sums to 2^3 at most.
    """
    found, expected = run_both(case, 30, sources=pulses(case, 3), receivers=case.points(7), every=every)
    assert found["trace"].shape == (7, 30 // every + 1)
    for name, error in differences(found, expected).items():
        assert error < 1e-12, name


@pytest.mark.each_value
@pytest.mark.parametrize("order", [2, 4, 8])
@pytest.mark.parametrize("sides", [MIXED, LAYERED, (P, R, F)])
def test_sources_alone_make_what_the_oracle_says(sides, order):
    """From nothing, so that no field hides them; and a place wrong by 1e-9 of a cell is seen."""
    case = Case((10, 11, 9), sides, order)
    sources, receivers = pulses(case, 4), case.points(8)
    sim, reference, moved = case.fd(), case.reference(), case.reference()
    for place, f in sources:
        sim.add_source(unda.VolumeInjection(place, f))
        reference.add_source(place, f)
        moved.add_source(np.clip(place + 1e-8, case.grid.lower, case.grid.upper), f)
    rec = sim.add_receivers(receivers, ["p"], every=3)
    sim.step(60)
    traces = []
    for one in (reference, moved):
        samples = [one.sample(receivers)]
        for _ in range(20):
            one.step(3)
            samples.append(one.sample(receivers))
        traces.append(np.array(samples).T)
    scale = np.abs(traces[0]).max()
    assert scale > 0 and np.abs(rec["p"] - traces[0]).max() < 1e-12 * scale
    assert np.abs(rec["p"] - traces[1]).max() > 1e-11 * scale
    assert np.abs(sim.get("p") - reference.get()).max() < 1e-12 * np.abs(reference.get()).max()


def test_samples_have_the_times_of_whole_steps():
    """Sample 0 is the state when the receivers were added; several groups, each in its own rhythm."""
    case = Case((8, 9, 10), MIXED, 4)
    sim, reference = case.fd(), case.reference()
    p, q = case.states()
    sim.set(p=p, p_previous=q, t=2.0)
    reference.set(p, q, t=2.0)
    points = case.points(5)
    groups = [(0, 1, sim.add_receivers(points, ["p"]))]
    sim.step(3)
    groups.append((3, 4, sim.add_receivers(points[1:3], ["p"], every=4)))
    sim.step(1)
    sim.step(13)
    values = [reference.sample(points)]
    for _ in range(17):
        reference.step()
        values.append(reference.sample(points))
    values = np.array(values).T
    (_, _, first), (begin, every, second) = groups
    assert np.allclose(first.t, 2.0 + case.dt * np.arange(18), rtol=1e-14, atol=0)
    assert np.allclose(second.t, 2.0 + case.dt * np.arange(begin, 18, every), rtol=1e-14, atol=0)
    scale = np.abs(values).max()
    assert np.abs(first["p"] - values).max() < 1e-12 * scale
    assert np.abs(second["p"] - values[1:3, begin::every]).max() < 1e-12 * scale


def test_sample_reads_what_receivers_do():
    case = Case((8, 9, 10), LAYERED, 4)
    sim, reference = case.fd(), case.reference()
    for one, args in ((sim, {"p_previous": case.states()[1]}), (reference, {"p_previous": case.states()[1]})):
        one.set(p=case.states()[0], **args)
    points = case.points(12)
    expected = reference.sample(points)
    found = sim.sample(points)
    found = found["p"] if isinstance(found, dict) else np.asarray(found)
    assert np.abs(found.reshape(-1) - expected).max() < 1e-13 * np.abs(expected).max()
    nodes = sim.coordinates[1:-1:3, 1:-1:3, 1:-1:3].reshape(-1, 3)
    at_nodes = sim.sample(nodes)
    at_nodes = at_nodes["p"] if isinstance(at_nodes, dict) else np.asarray(at_nodes)
    assert np.array_equal(at_nodes.reshape(-1), sim.get("p")[1:-1:3, 1:-1:3, 1:-1:3].reshape(-1))
    beside = nodes + 1e-7  # not on a node: only what is closer than 1e-9 cells is
    found = sim.sample(beside)
    found = found["p"] if isinstance(found, dict) else np.asarray(found)
    assert np.abs(found.reshape(-1) - reference.sample(beside)).max() < 1e-13 * np.abs(expected).max()


def test_waves_are_read_between_nodes_with_the_error_of_the_window():
    """At most 7e-4 an axis at 8 cells a wavelength: the window b = 6.31; along (1, 1, 1) three times that."""
    case = Case((16, 16, 16), (P, P, P), 8, (1.0, 1.0, 1.0), contrast=1)
    k = 2 * np.pi / 8
    sim = case.fd()
    sim.set(p=lambda x, y, z: np.cos(k * (x + y + z)), p_previous=0.0)
    points = case.points(300)
    found = sim.sample(points)
    found = (found["p"] if isinstance(found, dict) else np.asarray(found)).reshape(-1)
    error = np.abs(found - np.cos(k * points.sum(axis=1))).max()
    assert 1e-5 < error < 3 * 7e-4 * np.sqrt(2)  # a cosine has two exponentials, each with its phase


# ---- true amplitude ----


def exact_error(case, source, points, *, until, walls=None, every=4, wrong=1.0, **options):
    """Relative L2 error of each trace against the exact wave of `wrong` times the source."""
    medium, bounds = unda.Acoustic(rho=RHO, c=case.c), (case.grid.lower, case.grid.upper)
    sim = case.fd(**options)
    sim.add_source(source)
    rec = sim.add_receivers(points, ["p"], every=every)
    sim.run(until=until)
    exact = unda.exact.point_source(medium, source, walls=walls, bounds=bounds if walls else None)
    x, y, z = np.asarray(points, float).T[:, :, None]
    expected = wrong * exact(x, y, z, rec.t)["p"]
    return np.sqrt(((rec["p"] - expected) ** 2).sum(1) / (expected**2).sum(1))


SPEED = 1.3
F0 = SPEED / (2.5 * 8)  # eight cells of 1 m at lambda_min = c / (2.5 f0); lambda_0 is 20 cells
CUBE = {"spacing": (1.0, 1.0, 1.0), "contrast": 1, "cfl": 0.25, "order": 8}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_source_in_a_closed_box_has_its_true_amplitude(dtype):
    """2 %: all images within three wavelengths, each wall and each edge with its sign.

    The phase is late by (W dt)^2/24 of what it travels: 2.5 f0 at a quarter of the limit gives 3e-4 of
    2 pi 60/8 rad, the middle of the spectrum a quarter of it; the window 1.3e-3.
    """
    sides = (("rigid", "free"), ("rigid", "rigid"), ("free", "rigid"))
    case = Case((34, 29, 31), sides, **CUBE)
    walls = dict(xmin="rigid", xmax="free", ymin="rigid", ymax="rigid", zmin="free", zmax="rigid")
    source = unda.VolumeInjection(np.array([9.3, 11.1, 10.7]) + case.origin, unda.ricker(F0))
    points = np.array([[26.4, 20.2, 3.3], [1.2, 27.9, 29.2], [30.6, 0.4, 22.0]]) + case.origin
    options = {"until": 90 / SPEED, "walls": walls, "dtype": dtype}
    assert exact_error(case, source, points, **options).max() < 0.02
    assert exact_error(case, source, points, wrong=1.03, **options).min() > 0.02
    other = dict(walls, zmin="rigid")
    assert exact_error(case, source, points, **(options | {"walls": other})).max() > 0.5


def test_a_source_above_a_wall_of_an_open_grid_has_its_image():
    """Half space: the rest are layers, at 16 cells per wavelength; what they send back needs longer."""
    sides = (((20, 0.01),) * 2, ((20, 0.01),) * 2, ((20, 0.01), "free"))
    case = Case((36, 30, 30), sides, **CUBE)
    source = unda.VolumeInjection(np.array([6.3, 15.1, 22.7]) + case.origin, unda.ricker(F0))
    points = np.array([[28.4, 14.2, 25.3], [30.4, 20.2, 12.0]]) + case.origin
    options = {"until": (30 + 62) / SPEED, "walls": {"zmax": "free"}}
    assert exact_error(case, source, points, **options).max() < 0.03
    assert exact_error(case, source, points, wrong=1.05, **options).min() > 0.03


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # places, not layers
def test_misfit_takes_the_places_of_walls_from_the_grid():
    """As for a mesh: they are the outermost nodes, not the ends of layers."""
    case = Case((14, 12, 13), (((5, 0.01), "rigid"), ("rigid", "rigid"), ("rigid", "free")), **CUBE)
    medium, sim = unda.Acoustic(rho=RHO, c=case.c), case.fd()
    source = unda.VolumeInjection(np.array([5.3, 6.1, 4.7]) + case.origin, unda.ricker(F0, t0=10.0))
    sim.add_source(source)
    rec = sim.add_receivers(np.array([[9.4, 2.2, 7.3], [2.4, 7.7, 9.1]]) + case.origin, ["p"])
    sim.run(until=12.0)
    walls = dict(xmax="rigid", ymin="rigid", ymax="rigid", zmin="rigid", zmax="free")
    exact = unda.exact.point_source(medium, source, walls=walls)
    placed = unda.exact.point_source(medium, source, walls=walls, bounds=(case.grid.lower, case.grid.upper))
    assert np.array_equal(rec.misfit(exact), rec.misfit(placed))
    assert rec.misfit(placed).max() < 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_source_four_wavelengths_away_has_its_true_amplitude(dtype):
    """2 % at order 8, 8 cells per lambda_min, 4 lambda_0 = 80 cells, a quarter of the limit.

    Free sides 28 cells behind the points: their echoes come 50 cells after the direct wave has begun, and
    that takes (t0 + 1/f0) c = 50 cells.
    """
    sides = (F, F, F)
    case = Case((139, 116, 116), sides, **CUBE)
    source = unda.VolumeInjection(np.array([29.3, 57.6, 58.2]) + case.origin, unda.ricker(F0))
    points = np.array([[109.3, 57.1, 57.7]]) + case.origin
    options = {"until": (80 + 50) / SPEED, "dtype": dtype}
    assert exact_error(case, source, points, **options).max() < 0.02
    assert exact_error(case, source, points, wrong=1.03, **options).min() > 0.02


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, 6])
def test_lower_orders_are_late_at_that_resolution(order):
    """What order 8 is for: order 2 is off by a radian over four wavelengths, 6 by less than 4."""
    case = Case((139, 116, 116), (F, F, F), **(CUBE | {"order": order}))
    source = unda.VolumeInjection(np.array([29.3, 57.6, 58.2]) + case.origin, unda.ricker(F0))
    points = np.array([[109.3, 57.1, 57.7]]) + case.origin
    error = exact_error(case, source, points, until=130 / SPEED)[0]
    low, high = {2: (0.1, 0.6), 4: (0.005, 0.06), 6: (0, 0.02)}[order]
    assert low < error < high


# ---- reciprocity ----


@OFTEN
@given(seed=st.integers(0, 1000), order=st.sampled_from([2, 4, 8]), sides=st.sampled_from([MIXED, LAYERED]))
def test_source_and_receiver_may_change_places(seed, order, sides):
    """In random media, beside walls; c^2 of each cell belongs to the source, half cells to rigid sides.

    Four cells from layers: what a window reaches there is injected undamped. Rounding of 60 steps.
    """
    case = Case((13, 10, 14), sides, order, contrast=4.0, seed=seed)
    points = case.points(2)
    for axis, pair in enumerate(sides):
        low, high = (4.0 if isinstance(side, tuple) else 0.0 for side in pair)
        u = (points[:, axis] - case.origin[axis]) / case.spacing[axis]
        u = np.clip(u, low, case.shape[axis] - 1 - high)
        points[:, axis] = case.origin[axis] + u * case.spacing[axis]
    traces = []
    for here, there in (points, points[::-1]):
        sim = case.fd()
        sim.add_source(unda.VolumeInjection(here, unda.ricker(0.04 / case.dt, t0=25 * case.dt)))
        rec = sim.add_receivers([there], ["p"])
        sim.step(60)
        traces.append(rec["p"][0])
    scale = np.abs(traces[0]).max()
    assert scale > 0 and np.abs(traces[0] - traces[1]).max() < 1e-12 * scale
    assert np.abs(traces[0] - (1 + 1e-9) * traces[1]).max() > 1e-12 * scale


def test_waves_of_several_sources_add_up():
    case = Case((10, 11, 9), LAYERED, 4)
    sources, points, traces = pulses(case, 3), case.points(4), []
    for chosen in (sources, *([one] for one in sources)):
        sim = case.fd()
        for place, f in chosen:
            sim.add_source(unda.VolumeInjection(place, f))
        rec = sim.add_receivers(points, ["p"])
        sim.step(50)
        traces.append(rec["p"])
    whole, *parts = traces
    assert np.abs(whole - sum(parts)).max() < 1e-13 * np.abs(whole).max()
    assert np.abs(whole - parts[0] - parts[1]).max() > 1e-3 * np.abs(whole).max()


# ---- refusals ----


def place_of(case, u):
    return tuple(np.array(case.origin) + np.array(u) * case.spacing)


def test_sources_on_a_free_side_are_refused():
    """They would radiate nothing. Receivers there read 0; a source on a rigid side, or beside, is heard."""
    case = Case((10, 11, 9), MIXED, 4)
    pulse = unda.ricker(0.04 / case.dt)
    for u in ((9, 5.3, 4.2), (3.1, 4, 0), (9, 3, 0), (9, 0, 4.5)):
        with pytest.raises(unda.ArgumentError, match="holds what it drives at 0"):
            case.fd().add_source(unda.VolumeInjection(place_of(case, u), pulse))
    for u in ((0, 5.3, 4.2), (8.7, 5, 8), (0, 0, 8), (4.5, 10, 0.3)):
        sim = case.fd()
        sim.add_source(unda.VolumeInjection(place_of(case, u), pulse))
        rec = sim.add_receivers([place_of(case, (9, 4.3, 3.3)), place_of(case, (5.2, 4.3, 3.3))], ["p"])
        sim.step(50)
        assert (rec["p"][0] == 0).all() and np.abs(rec["p"][1]).max() > 0


@pytest.mark.parametrize("sides", [MIXED, LAYERED, (P, P, P)])
def test_points_outside_the_grid_are_refused(sides):
    """Layers lie outside, too. The message names the point."""
    case = Case((10, 11, 9), sides, 4)
    pulse = unda.ricker(0.04 / case.dt)
    for axis in range(3):
        for end in (-0.3, case.shape[axis] - 1 + 1.2):
            u = [4.2, 5.1, 3.3]
            u[axis] = end
            place = place_of(case, u)
            with pytest.raises(unda.ArgumentError, match="outside"):
                case.fd().add_source(unda.VolumeInjection(place, pulse))
            with pytest.raises(unda.ArgumentError, match="outside"):
                case.fd().add_receivers([place_of(case, (2, 3, 4)), place], ["p"])
            with pytest.raises(unda.ArgumentError, match="outside"):
                case.fd().sample([place])


@pytest.mark.parametrize("kind", ["PointForce", "MomentTensor", "CurrentDipole"])
def test_sources_of_other_waves_are_refused(kind):
    case = Case((10, 11, 9), MIXED, 4)
    what = np.eye(3) if kind == "MomentTensor" else (1, 0, 0)
    source = getattr(unda, kind)(place_of(case, (4, 5, 6)), unda.ricker(1.0), what)
    with pytest.raises(unda.ArgumentError, match="acoustic"):
        case.fd().add_source(source)
