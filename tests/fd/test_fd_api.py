"""What a user of finite differences meets: words, refusals, reports. Numerics: test_fd_modes.py."""

import json
import pickle
import re

import numpy as np
import pytest
import unda
from unda.method.norms import roots

GRID = unda.Grid((13, 12, 11), (10.0, 12.0, 9.0), origin=(100.0, -50.0, -300.0))
MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


def make(grid=GRID, medium=MEDIUM, **options):
    return unda.FD(grid, medium, **{"device": "cpu", "boundary": {"*": "rigid"}, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 3}, "order is 3, expected an even number"),
        ({"order": 18}, "order is 18; expected an integer, 2 to 16"),
        ({"scheme": "spectral"}, "scheme is 'spectral', expected one of"),
        ({"boundary": {"top": "free"}}, "a grid has"),
        ({"boundary": {"zmax": "free"}}, "no condition for 'xmin', 'xmax', 'ymin', 'ymax', 'zmin'; expected"),
        ({"boundary": {"zmax": "pec", "*": "free"}}, "'zmax' has condition 'pec'"),
        ({"boundary": {"xmin": "periodic", "*": "free"}}, "periodic for both or none"),
        ({"boundary": "free"}, "expected a dict of sides"),
        ({"dt": 1.0}, "above the stable limit"),
        ({"dt": 1e-4, "sample_dt": 1e-3}, "not both"),
        ({"kernel_options": {"towers": 3}}, "kernel auto has no option towers, expected one of depth, rows"),
        ({"kernel_options": {"depth": 99}}, r"expected 1\.\.16"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"device": "tpu"}, "tpu"),
    ],
)
def test_it_refuses_by_name(options, message):
    with pytest.raises(unda.ArgumentError, match=message):
        make(**options)


@pytest.mark.parametrize(
    ("medium", "message"),
    [
        (unda.Elastic(rho=1.0, vp=2.0, vs=1.0), "expected unda.Acoustic"),
        (unda.Acoustic(rho=lambda x, y, z: 1000 + x, c=1500.0), "one density"),
        (unda.Acoustic(rho=1000.0, c=np.full((3, 4, 5), 1500.0)), "shape"),
        (unda.Acoustic(rho=1000.0, c={"rock": 1500.0}), "tag"),
    ],
)
def test_media_that_do_not_fit_are_refused(medium, message):
    with pytest.raises(unda.ArgumentError, match=message):
        make(medium=medium)


@pytest.mark.parametrize("shape", [(30_000,) * 3, (2_000_000_000, 2_000_000_000, 2)])
def test_grids_beyond_memory_are_refused_by_size(shape):
    with pytest.raises((unda.OutOfMemoryError, unda.ArgumentError), match=r"GB on the host|expected"):
        make(grid=unda.Grid(shape, 1.0))


def test_a_mesh_is_no_grid():
    with pytest.raises(unda.ArgumentError, match=r"expected an unda\.Grid"):
        make(grid=unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"vx": 1.0}, "no fields .*take scheme='staggered'"),
        ({"p": np.zeros((2, 2, 2))}, "shape"),
        ({"p": np.nan}, "finite"),
        ({"p": 1e300}, "range of float32"),
        ({"p": [[1], [2, 3]]}, "p"),
        ({"p_previous": 1.0}, "without p"),
    ],
)
def test_states_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(unda.ArgumentError, match=message):
        make().set(**fields)


@pytest.mark.parametrize(
    "source",
    [
        unda.PointForce((150, 0, -250), unda.ricker(10.0), (0, 0, 1)),
        unda.CurrentDipole((150, 0, -250), unda.ricker(10.0), (0, 0, 1)),
        unda.VolumeInjection((150, 0, 250), unda.ricker(10.0)),
    ],
)
def test_sources_that_do_not_fit_are_refused(source):
    with pytest.raises(unda.ArgumentError, match=r"drives|outside"):
        make().add_source(source)


def test_receivers_of_other_fields_are_refused():
    sim = make()
    for fields in (["vx"], ["divergence"]):
        with pytest.raises(unda.ArgumentError, match=fields[0]):
            sim.add_receivers([(150, 0, -250)], fields)


def test_what_it_says_of_itself():
    sim = make(boundary={"zmax": "free", "*": unda.Damping(width=4)}, order=6)
    assert json.loads(json.dumps(sim.config)) == sim.config
    assert sim.config["boundary"]["zmax"] == "free" and sim.config["boundary"]["xmin"]["width"] == 4
    assert unda.Grid(**sim.config["grid"]) == GRID
    text = repr(sim)
    for part in ("FD(", "scalar", "order 6", "13 x 12 x 11", "23 x 22 x 16 with layers", "cpu with"):
        assert part in text
    assert sim.padded == (23, 22, 16)  # a layer of 4 ends in a fifth node, which holds 0
    sim.close()
    assert repr(sim) == "FD(closed)"


def test_places_are_those_of_the_grid():
    sim = make()
    assert sim.coordinates.shape == (13, 12, 11, 3)
    assert sim.coordinates[-1, -1, -1].tolist() == list(GRID.upper)
    sim.set(p=lambda x, y, z: x + 2 * y - z)
    p = sim.get("p")
    x, y, z = sim.coordinates[3, 4, 5]
    assert p[3, 4, 5] == pytest.approx(x + 2 * y - z, rel=1e-6)
    assert sim.sample([(x, y, z)])["p"] == pytest.approx(p[3, 4, 5], rel=1e-6)


def test_errors_are_integrals_over_the_nodes():
    sim = make(dtype="float64")
    sim.set(p=2.0)
    volume = GRID.num_node * np.prod(GRID.spacing)
    assert sim.error(lambda x, y, z, t: {"p": 0 * x + 3.0})["p"] == pytest.approx(np.sqrt(volume))
    assert sim.error(lambda x, y, z, t: {"p": 0 * x + 4.0}, relative=True)["p"] == pytest.approx(0.5)
    singular = unda.exact.point_source(MEDIUM, unda.VolumeInjection((1, 2, 3), unda.ricker(1.0)))
    with pytest.raises(unda.ArgumentError, match="singular"):
        sim.error(singular)


def test_relative_errors_on_meshes_and_grids_divide_by_the_norm_of_a_group_before_the_root():
    """vx: sqrt(1 / 3), which differs from sqrt(1) / sqrt(3) by rounding."""
    wrong, norm = {"p": 3.0, "vx": 1.0, "vy": 0.0}, {"p": 7.0, "vx": 2.0, "vy": 1.0}
    assert np.sqrt(1.0 / 3.0) != np.sqrt(1.0) / np.sqrt(3.0)
    found = roots(wrong, norm, MEDIUM.field_groups)
    assert found == {"p": np.sqrt(3.0 / 7.0), "vx": np.sqrt(1.0 / 3.0), "vy": 0.0}
    assert roots({"p": 3.0}, {"p": 0.0}, MEDIUM.field_groups) == {"p": np.inf}
    assert roots({"p": 4.0}, None, MEDIUM.field_groups) == {"p": 2.0}


def test_an_exact_mode_goes_in_and_is_met():
    """rigid_box_mode: the error of order 2 in time, (w dt)^2 / 24 of the phase, and that alone at order 8."""
    medium = unda.Acoustic(rho=2.0, c=1.0)
    grid = unda.Grid((25, 25, 25), 1 / 24)
    mode = unda.exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 0))
    sim = make(grid, medium, order=8, dtype="float64", cfl=0.2)
    sim.set(mode)
    sim.run(until=1.0)
    omega = np.pi * np.sqrt(2.0)
    phase = (omega * sim.dt) ** 2 / 24 * omega * sim.t
    # plus the differences: h^8 terms, 2 pi / 48 cells a wavelength: below 1e-8
    assert sim.error(mode, relative=True)["p"] == pytest.approx(phase * abs(np.tan(omega * sim.t)), rel=0.05)


def test_sample_dt_divides_the_samples():
    sim = make(sample_dt=0.01)
    ratio = 0.01 / sim.dt
    assert ratio == pytest.approx(round(ratio)) and sim.dt <= 0.9 * sim.dt_stable


def test_receivers_outlive_it():
    with make() as sim:
        sim.add_source(unda.VolumeInjection((150.0, 0.0, -250.0), unda.ricker(30.0)))
        rec = sim.add_receivers([(170.0, 10.0, -240.0)], every=2)
        sim.step(9)
    again = pickle.loads(pickle.dumps(rec))
    assert again["p"].shape == (1, 5) and again["p"].any()
    with pytest.raises(unda.ArgumentError, match="closed"):
        sim.step(1)


def test_a_reset_starts_again():
    sim = make()
    sim.add_source(unda.VolumeInjection((150.0, 0.0, -250.0), unda.ricker(30.0, t0=0.01)))
    rec = sim.add_receivers([(170.0, 10.0, -240.0)])
    sim.step(20)
    first = rec["p"].copy()
    sim.reset()
    assert not sim.get("p").any() and sim.t == 0
    sim.step(20)
    assert np.array_equal(rec["p"], first)
    sim.reset(sources=True)
    sim.step(5)
    assert not rec["p"].any()


def test_a_closed_axis_of_one_node_makes_two_dimensions():
    flat = unda.FD(unda.Grid((20, 20, 1), 10.0), MEDIUM, device="cpu")
    assert flat.padded == (42, 42, 1)
    assert flat.dt_stable == pytest.approx(2 / (1500 * np.sqrt(16 / 3 * 2 / 100)))


# ---- check ----


def test_check_finds_nothing_in_a_good_case():
    grid = unda.Grid((101, 101, 101), 10.0)
    sim = unda.FD(
        grid, MEDIUM, order=8, cfl=0.4, device="cpu", boundary={"zmax": "free", "*": unda.Damping(25)}
    )
    sim.add_source(unda.VolumeInjection((500.0, 503.0, 498.0), unda.ricker(12.0)))
    report = sim.check()
    assert report, report
    assert report.nodes_per_wavelength["grid"] == pytest.approx(1500 / (2.5 * 12) / 10)


@pytest.mark.parametrize(
    ("options", "f0", "message"),
    [
        ({"order": 2}, 10.0, "nodes in the shortest wavelength"),
        ({"order": 8, "cfl": 0.95}, 16.0, "too fast: lower cfl to 0.6"),
        ({"order": 8, "boundary": {"*": unda.Damping(8)}}, 10.0, "wavelengths deep"),
        ({"medium": unda.Acoustic(rho=1000.0, c=1.5)}, 10.0, "km/s"),
    ],
)
def test_check_names_what_is_wrong(options, f0, message):
    grid = unda.Grid((61, 61, 61), 10.0)
    sim = make(grid, **{"medium": MEDIUM, **options})
    sim.add_source(unda.VolumeInjection((300.0, 303.0, 298.0), unda.ricker(f0)))
    assert any(message in text for text in sim.check().warnings), sim.check()


def test_check_notes_how_far_time_steps_let_waves_run_ahead():
    """sin(w dt/2) = c k dt/2: w = (2/dt) asin(c k dt/2), in periods at fmax over the way to the receiver.

    The note takes the first term of a series, whose next is 9/80 (w dt)^2 of it, and two digits.
    """
    for cfl, noted in ((0.9, True), (0.4, False)):
        sim = make(unda.Grid((61, 61, 61), 10.0), medium=MEDIUM, order=8, cfl=cfl)
        sim.add_source(unda.VolumeInjection((100.0, 300.0, 300.0), unda.ricker(9.0)))
        sim.add_receivers([(500.0, 300.0, 300.0)])
        fmax = sim._solver.sources[0][0].f.fmax
        steps = 2.0 * np.pi * fmax * sim.dt
        ahead = (2.0 / steps * np.arcsin(steps / 2.0) - 1.0) * 400.0 * fmax / 1500.0
        found = [text for text in sim.check().notes if "run" in text]
        assert len(found) == noted == (ahead > 0.02) and not sim.check().warnings
        if noted:
            (said,) = re.findall(r"fast, ([0-9.]+) of a period over the 400 m", found[0])
            assert float(said) == pytest.approx(ahead, rel=9 / 80 * steps**2 + 0.05)
