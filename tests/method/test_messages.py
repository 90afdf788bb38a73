"""Messages say what was found, what was expected, and what to do."""

import math

import numpy as np
import pytest
import unda

GRID = unda.Grid((9, 9, 9), 1.0)
WATER = unda.Acoustic(rho=1.0, c=1.0)


def test_an_argument_error_of_the_library_keeps_its_place_in_a_note():
    with pytest.raises(unda.ArgumentError) as caught:
        sim = unda.FD(GRID, WATER, boundary={"*": "free"})
        sim.add_source(unda.VolumeInjection((4.0, 4.0, 0.0), unda.ricker(0.01)))
    assert ".c:" not in str(caught.value)
    assert caught.value.place.startswith("fd/sources.c:")
    assert any(
        caught.value.place in note for note in getattr(caught.value, "__notes__", [caught.value.place])
    )


def test_samples_instead_of_a_function_are_sent_to_sampled():
    with pytest.raises(
        unda.ArgumentError, match=r"shape \(100,\), which unda.sampled\(t, values\)"
    ) as caught:
        unda.VolumeInjection((0, 0, 0), np.zeros(100))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("make", [
    lambda: unda.FD(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=1.0)),
    lambda: unda.FD(GRID, unda.Maxwell(eps=1.0, mu=1.0)),
])  # fmt: skip
def test_a_medium_of_the_staggered_scheme_is_sent_there(make):
    with pytest.raises(unda.ArgumentError, match="give scheme='staggered'"):
        make()


def test_a_function_that_takes_no_arrays_is_told_that_it_gets_them():
    sim = unda.FD(GRID, WATER, boundary={"*": "periodic"})
    with pytest.raises(unda.ArgumentError, match="gets arrays"):
        sim.set(p=lambda x, y, z: 1.0 if x > 3 else 0.0)


def test_run_says_what_it_takes():
    with pytest.raises(unda.ArgumentError, match=r"until=, an absolute time \[s\], or steps="):
        unda.FD(GRID, WATER, boundary={"*": "periodic"}).run()


def fd(grid=GRID, medium=WATER, **options):
    return unda.FD(grid, medium, **{"boundary": {"*": "periodic"}, "device": "cpu", **options})


def dg(medium=WATER, **options):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    return unda.DG(mesh, medium, **{"degree": 1, "device": "cpu", **options})


@pytest.mark.parametrize("given", [(1000,), (1e-3,), (1.0, 5)])
def test_run_takes_no_number_without_a_name(given):
    sim = fd()
    with pytest.raises(unda.ArgumentError, match=r"expected steps= or until= \[s\]: run\(steps=1000\)"):
        sim.run(*given)
    assert sim.step_count == 0


def test_an_incomplete_boundary_names_all_sides_that_are_missing():
    five = r"no condition for 'xmax', 'ymin', 'ymax', 'zmin', 'zmax'; expected one for each"
    for make in (fd, dg):
        with pytest.raises(unda.ArgumentError, match=five):
            make(boundary={"xmin": "free"})
    with pytest.raises(unda.ArgumentError, match="no condition for 'xmax', 'zmin', 'zmax';"):
        fd(unda.Grid((9, 1, 9), 1.0), boundary={"xmin": "free"})  # y is periodic unless something is said
    with pytest.raises(unda.ArgumentError, match="no condition for 'xmin';"):
        fd(boundary={"xmin": None, "*": "free"})


def single(x, y, z):
    return math.exp(-x)


def alone(x, y, z, t):
    return {name: math.sin(x) for name in ("p", "vx", "vy", "vz")}


FOR_NUMBERS = [
    lambda x, y, z: 1.0 if z > 3 else 2.0,
    single,
    lambda x, y, z: [1.0, 2.0][z],
    lambda x, y, z: {0.0: 1.0}[z],
    lambda x, y, z: np.array([1.0, [x]]),
    lambda x, y, z: np.ones(5) * np.append(x, x),
    lambda x, y, z: 1.0 + x.is_integer(),
    lambda x, y, z: np.array([1.0, 2.0])[z / 3],
]


@pytest.mark.parametrize("function", FOR_NUMBERS)
def test_media_of_functions_for_single_numbers_are_told_that_they_get_arrays(function):
    message = r"c\(x, y, z\) gets arrays.*np\.where\(z > 0, a, b\) instead of if"
    for make in (fd, dg):
        with pytest.raises(unda.ArgumentError, match=message):
            make(medium=unda.Acoustic(rho=1.0, c=function))


@pytest.mark.parametrize("use", [
    lambda: fd().set(alone),
    lambda: dg().set(alone),
    lambda: fd().error(alone),
    lambda: dg().error(alone),
    lambda: dg(boundary={"*": alone}).run(steps=1),
    lambda: fd().add_receivers([(1, 1, 1), (2, 2, 2)]).misfit(alone),
])  # fmt: skip
def test_exact_solutions_for_single_numbers_are_told_that_they_get_arrays(use):
    with pytest.raises(unda.ArgumentError, match=r"exact\(x, y, z, t\) gets arrays, x, y, z of shapes"):
        use()


def test_other_exceptions_of_a_users_function_stay_as_they_are():
    for kind in (TypeError, ValueError, IndexError, AttributeError):
        error = kind("mine")
        with pytest.raises(kind) as caught:
            dg(unda.Acoustic(rho=1.0, c=lambda x, y, z, error=error: (_ for _ in ()).throw(error)))
        assert caught.value is error


def test_a_time_function_for_single_numbers_is_called_number_by_number():
    """Methods of floats and places in a list raise other errors on arrays than `if` does."""
    times = np.array([0.0, 0.5])
    for function in (lambda t: float(t.is_integer()), lambda t: [1.0, 0.0][int(2 * t)]):
        assert unda.problem.timefunction.wrap(function, 0.1)(times).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("point", "far"), [
    ((9, 4, 4), "1 m"),
    ((-3, 4, -4), "5 m"),
    ((10, 10, 9), "3 m"),
])  # fmt: skip
def test_a_point_outside_the_grid_is_told_how_far(point, far):
    sim = fd(medium=unda.Acoustic(rho=1.0, c=1.0), boundary={"*": "free"})
    for use in (
        lambda: sim.sample([point]),
        lambda: sim.add_receivers([point]),
        lambda: sim.add_source(unda.VolumeInjection(point, unda.ricker(0.01))),
    ):
        with pytest.raises(unda.ArgumentError, match=f"outside the grid, {far} from it"):
            use()


@pytest.mark.parametrize(("point", "far"), [
    ((1.25, 0.4, 0.3), "0.25 m from its boundary 'xmax'"),  # the foot is inside of a face
    ((-0.3, 0.5, -0.4), "0.5 m from its boundary '(xmin|zmin)'"),  # on an edge
    ((3.0, 3.0, 2.0), "3 m from its boundary '(xmax|ymax|zmax)'"),  # at a vertex
])  # fmt: skip
def test_a_point_outside_the_mesh_is_told_how_far(point, far):
    sim = dg()
    for use in (
        lambda: sim.sample([point]),
        lambda: sim.add_receivers([point]),
        lambda: sim.add_source(unda.VolumeInjection(point, unda.ricker(0.01))),
    ):
        with pytest.raises(unda.ArgumentError, match=f"outside the mesh, {far}"):
            use()


@pytest.mark.parametrize("use", [
    lambda: unda.Acoustic(rho="1000", c=1.0),
    lambda: unda.Acoustic(rho={"a": "1000"}, c=1.0),
    lambda: unda.Grid((9, 9, 9), "1"),
    lambda: unda.Grid((9, 9, 9), ("1", 1, 1)),
    lambda: unda.Grid(("9", 9, 9), 1.0),
    lambda: unda.Grid((9, 9, 9), 1.0, origin=("0", 0, 0)),
    lambda: fd(order="4"),
    lambda: fd(cfl="1"),
    lambda: fd(fmax="1"),
    lambda: dg(degree="4"),
    lambda: dg(dt="1"),
    lambda: dg(sample_dt="1"),
    lambda: fd().run(until="1"),
    lambda: fd().run(steps="1"),
    lambda: unda.VolumeInjection(("1", 1, 1), unda.ricker(1.0)),
    lambda: unda.VolumeInjection("111", unda.ricker(1.0)),
    lambda: unda.ricker("10"),
    lambda: unda.CPML("10"),
])  # fmt: skip
def test_a_string_where_a_number_stands_is_called_that(use):
    with pytest.raises(unda.ArgumentError, match=r"expected (a|an|three) .*, not a string"):
        use()


@pytest.mark.parametrize("use", [
    lambda: fd().set(p="1"),
    lambda: dg().set(p="1"),
    lambda: fd().add_receivers([("1", 1, 1)]),
    lambda: dg().sample([("1", "1", "1")]),
    lambda: unda.box_mesh(("0", 0, 0), (1, 1, 1), (1, 1, 1)),
    lambda: unda.sampled([0, 1, 2, 3], ["0", "1", "2", "3"]),
])  # fmt: skip
def test_strings_where_numbers_stand_are_called_that(use):
    with pytest.raises(unda.ArgumentError, match=r"has strings .*; expected numbers"):
        use()


def test_complex_samples_are_refused():
    with pytest.raises(unda.ArgumentError, match="s has dtype complex128, expected float64"):
        unda.sampled(np.arange(4.0), np.exp(1j * np.arange(4.0)))
