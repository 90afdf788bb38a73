"""run() says before the first step what cannot be right, once, and is silent where all is well."""

import warnings

import numpy as np
import pytest
import unda

WATER = unda.Acoustic(rho=1000.0, c=1500.0)
ROCK = unda.Elastic(rho=2500.0, vp=4000.0, vs=2300.0)
VACUUM = unda.Maxwell(eps=1.0, mu=1.0)
GRID = unda.Grid((21, 21, 21), 10.0)
FLAT = unda.Grid((21, 1, 21), (10.0, 1.0, 10.0))
MIDDLE = (103.0, 98.0, 91.0)


def grid(medium=WATER, grid=GRID, f=None, source=None, **options):
    scheme = "scalar" if isinstance(medium, unda.Acoustic) else "staggered"
    sim = unda.FD(grid, medium, **{"scheme": scheme, "boundary": {"*": "periodic"}, **options})
    sim.add_source(source or unda.VolumeInjection(MIDDLE, f or unda.ricker(5.0)))
    return sim


def texts(sim):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.run(steps=1)
    assert all(issubclass(one.category, unda.AccuracyWarning) for one in caught)
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


def test_a_sound_run_starts_without_a_word():
    sim = grid()
    sim.add_receivers([(50.0, 60.0, 70.0)], ["p"])
    assert texts(sim) == []


@pytest.mark.parametrize("options, words", [
    ({"f": unda.ricker(50.0)}, "nodes in the shortest wavelength"),
    ({"medium": unda.Acoustic(rho=1000.0, c=1.5), "f": unda.ricker(5.0)}, "km/s"),
    ({"boundary": {"*": unda.Damping(5)}}, "wavelengths deep"),
])  # fmt: skip
def test_run_says_what_check_found(options, words):
    found = texts(grid(**options))
    assert any(words in text for text in found)


@pytest.mark.parametrize(("sides", "words"), [
    ({"*": unda.CPML(2)}, "the CPML at xmin, xmax, zmin, zmax of 2 nodes"),
    ({"*": unda.CPML(5, f0=4.0)}, None),
    ({"*": unda.CPML(10, f0=100.0)}, "of 10 nodes, made for 100 Hz, returns"),
    ({"*": unda.CPML(10, f0=12.0)}, None),
    ({"xmin": unda.CPML(10, f0=100.0), "xmax": "free", "*": "periodic"}, "the CPML at xmin of 10 nodes"),
    ({"*": unda.CPML(10, f0=100.0, ratio=1.0)}, None),
])  # fmt: skip
def test_layers_of_staggered_grids_that_are_too_thin_are_told(sides, words):
    """Of 2 nodes more than 10 % come back at any f0, of 10 a percent from an f0 of some ten times on."""
    medium = unda.Elastic(rho=2500.0, vp=4000.0, vs=2300.0)
    sim = unda.FD(unda.Grid((21, 1, 21), 20.0), medium, scheme="staggered", boundary=sides)
    sim.add_source(unda.PointForce((203.0, 0.0, 191.0), unda.ricker(4.0), (0, 0, 1)))
    found = [text for text in texts(sim) if "CPML" in text]
    assert len(found) == (words is not None) and all(words in text for text in found)


def test_it_says_so_once_and_again_where_something_is_new():
    sim = grid(f=unda.ricker(50.0))
    assert len(texts(sim)) == 1
    assert texts(sim) == []
    sim.reset()
    assert texts(sim) == []
    sim.reset(sources=True)
    sim.add_source(unda.VolumeInjection(MIDDLE, unda.ricker(60.0)))
    assert len(texts(sim)) == 1


def test_a_filter_makes_it_an_error_before_the_first_step():
    sim = grid(f=unda.ricker(50.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", unda.UndaWarning)
        for _ in range(2):
            with pytest.raises(unda.AccuracyWarning, match="wavelength"):
                sim.run(steps=1)
        assert sim.step_count == 0
        warnings.simplefilter("ignore", unda.UndaWarning)
        sim.run(steps=1)
    assert sim.step_count == 1


def test_a_run_of_no_steps_says_nothing():
    sim = grid(f=unda.ricker(50.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(steps=0)


def on_wall(medium, wall, fields, method):
    """Return what is said of receivers on the wall at zmax, and a little below it."""
    found = []
    sources = {
        "acoustic": unda.VolumeInjection(MIDDLE, unda.ricker(5.0)),
        "elastic": unda.PointForce(MIDDLE, unda.ricker(5.0), (1, 2, 3)),
        "maxwell": unda.CurrentDipole(MIDDLE, unda.ricker(0.002), (1, 2, 3)),
    }
    for z in (200.0, 170.0):
        if method == "FD":
            sides = {"zmax": wall, "zmin": wall, "*": "periodic"}
            sim = unda.FD(GRID, medium, scheme="staggered", boundary=sides)
        else:
            mesh = unda.box_mesh((0, 0, 0), (200, 200, 200), (4, 4, 4), periodic=(True, True, False))
            sim = unda.DG(mesh, medium, degree=3, boundary={"*": wall})
        sim.add_source(sources[medium.physics])
        sim.add_receivers([(10.0, 10.0, z)], fields)
        found.append([text for text in sim.check().warnings if text.startswith("receivers")])
    return found


@pytest.mark.parametrize("method", ["FD", "DG"])
@pytest.mark.parametrize("medium, wall, zero, others", [
    (WATER, "free", "p", "vx vy vz"),
    (WATER, "rigid", "vz", "p vx vy"),
    (ROCK, "free", "szz syz sxz", "vx vy vz sxx syy sxy"),
    (ROCK, "fixed", "vx vy vz", "sxx szz sxz"),
    (ROCK, "symmetry", "vz syz sxz", "vx vy sxx syy szz sxy"),
    (VACUUM, "pec", "ex ey hz", "ez hx hy"),
    (VACUUM, "pmc", "hx hy ez", "ex ey hz"),
])  # fmt: skip
def test_receivers_of_what_a_wall_keeps_at_zero_are_named(medium, wall, zero, others, method):
    on, below = on_wall(medium, wall, zero.split(), method)
    assert len(on) == len(zero.split()) and all("is zero, on the" in text for text in on)
    assert below == []
    assert on_wall(medium, wall, others.split(), method) == [[], []]


@pytest.mark.parametrize("medium, source, zero, others", [
    (WATER, unda.VolumeInjection(MIDDLE, unda.ricker(5.0)), "vy", "p vx vz"),
    (ROCK, unda.VolumeInjection(MIDDLE, unda.ricker(5.0)), "vy syz sxy", "vx vz sxx syy szz sxz"),
    (ROCK, unda.PointForce(MIDDLE, unda.ricker(5.0), (0, 1, 0)), "vx vz sxx syy szz sxz", "vy syz sxy"),
    (ROCK, unda.PointForce(MIDDLE, unda.ricker(5.0), (1, 1, 0)), "", "vx vy vz sxx syz"),
    (VACUUM, unda.CurrentDipole(MIDDLE, unda.ricker(0.002), (0, 1, 0)), "ex ez hy", "ey hx hz"),
    (VACUUM, unda.CurrentDipole(MIDDLE, unda.ricker(0.002), (1, 0, 0)), "ey hx hz", "ex ez hy"),
])  # fmt: skip
def test_in_two_dimensions_what_no_source_drives_is_named_and_is_zero(medium, source, zero, others):
    source.position = (MIDDLE[0], 0.0, MIDDLE[2])
    sim = grid(medium, FLAT, source=source, scheme="staggered")
    groups = [sim.add_receivers([(83.0, 0.0, 74.0)], names.split()) for names in (zero, others) if names]
    named = [text for text in texts(sim) if text.startswith("receivers")]
    assert [text.split()[2] for text in named] == zero.split()
    sim.run(steps=40)
    found = {name: bool(np.any(rec[name])) for rec in groups for name in rec.fields}
    assert found == {name: name in others.split() for name in found}


def test_a_state_drives_as_a_source_does():
    sim = unda.FD(FLAT, ROCK, scheme="staggered", boundary={"*": "periodic"})
    sim.add_receivers([(83.0, 0.0, 74.0)], ["vy", "vx"])
    assert texts(sim) == ["there is no source and the state is zero: receivers record zero"]
    sim.set(vy=lambda x, y, z: np.sin(x) + 0 * z)
    (text,) = texts(sim)
    assert text.startswith("receivers 0: vx is zero")


def test_shear_in_a_fluid_is_named():
    vs = np.where(np.arange(21) < 10, 0.0, 2300.0)[None, None, :] * np.ones(GRID.shape)
    sim = unda.FD(GRID, unda.Elastic(rho=2500.0, vp=4000.0, vs=vs), scheme="staggered")
    sim.add_source(unda.PointForce(MIDDLE, unda.ricker(5.0), (1, 1, 1)))
    sim.add_receivers([(20, 20, 45), (20, 20, 145)], ["sxz", "sxx"])
    (text,) = (one for one in sim.check().warnings if "fluid" in one)
    assert "sxz at (20, 20, 45) m is zero, in a fluid" in text


def test_a_source_that_sends_nothing_is_named():
    """On grids it is refused."""
    mesh = unda.box_mesh((0, 0, 0), (200, 200, 200), (4, 4, 4))
    for z, words in ((200.0, "it sends nothing"), (190.0, "")):
        sim = unda.DG(mesh, WATER, degree=3, boundary={"zmax": "free", "*": "rigid"})
        sim.add_source(unda.VolumeInjection((103.0, 98.0, z), unda.ricker(5.0)))
        assert [words in text for text in sim.check().warnings if "free" in text] == [True] * bool(words)


def test_receivers_of_all_fields_are_not_questioned_one_by_one():
    sim = grid(ROCK, FLAT, source=unda.VolumeInjection((100.0, 0.0, 100.0), unda.ricker(5.0)))
    sim.add_receivers([(83.0, 0.0, 74.0)])
    assert texts(sim) == []
