"""Orders of convergence are those of the errors, and of each method's theory."""

import matplotlib
import numpy as np
import pytest
import unda

matplotlib.use("Agg")
WAVE = unda.exact.plane_wave(unda.Acoustic(rho=1.3, c=0.8), k=2 * np.pi * np.array([1, 1, 0]))


def boxes(counts, **options):
    return [unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), periodic=(True,) * 3, **options) for n in counts]


def test_orders_are_the_slopes_of_errors_whatever_the_order_of_the_meshes():
    found = unda.convergence(lambda degree, n: {"a": 3 * n**-2.0, "b": n**-3.5}, [1], [16, 4, 8])
    assert [row["h"] for row in found.rows] == [1 / 4, 1 / 8, 1 / 16]
    assert found.fields == ("a", "b")
    assert found.orders() == {1: pytest.approx(2)} and found.orders("b") == {1: pytest.approx(3.5)}
    assert found.table("b").splitlines()[-1].split() == ["1", "3.50", "least", "squares"]


@pytest.mark.parametrize(("method", "shape"), [(unda.DG, "tet"), (unda.DG, "hex")])
def test_the_order_of_dg_is_the_degree_and_one_half_or_more(method, shape):
    """The theorem's order for upwind fluxes; the errors are far above rounding."""
    found = unda.convergence(WAVE, [2, 3], boxes((3, 5), shape=shape), until=0.2, method=method)
    assert all(found.orders("p")[degree] > degree + 0.5 for degree in (2, 3)), found


def test_the_order_of_leapfrog_is_two_and_of_short_steps_that_of_space():
    grids = [unda.Grid((n, n, n), 1 / n) for n in (12, 18)]
    options = {"until": 0.2, "boundary": {"*": "periodic"}}
    # Of the order's own, the next term is (k h)^2 / 4 of it or less: a tenth.
    assert unda.convergence(WAVE, [8], grids, **options).orders()[8] == pytest.approx(2, abs=0.2)
    assert unda.convergence(WAVE, [4], grids, cfl=0.02, **options).orders()[4] == pytest.approx(4, abs=0.4)


def test_sides_that_are_not_periodic_have_the_solution():
    closed = [unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n)) for n in (2, 3)]
    found = unda.convergence(WAVE, [3], closed, until=0.1)
    assert found.curve(3, "p")[1][-1] < 0.05
    absorbing = unda.convergence(WAVE, [3], closed, until=0.1, boundary={"*": "absorbing"})
    assert absorbing.curve(3, "p")[1][-1] > 2 * found.curve(3, "p")[1][-1]


def test_the_picture_has_a_curve_for_each_degree_with_its_order():
    found = unda.convergence(lambda degree, n: n ** -(degree + 1.0), [1, 2], [4, 8])
    ax = found.plot()
    assert [line.get_label() for line in ax.lines] == ["degree 1, order 2.00", "degree 2, order 3.00"]
    assert list(ax.lines[1].get_ydata()) == [4**-3.0, 8**-3.0]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert found.plot(ax=ax) is ax


def test_sizes_are_metres_of_meshes_and_plain_numbers_of_numbers():
    numbers = unda.convergence(lambda degree, n: 1.0 / n, [1], [4, 8])
    grids = unda.convergence(
        lambda degree, grid: grid.spacing[0], [1], [unda.Grid((4, 4, 4), h) for h in (1.0, 0.5)]
    )
    assert (numbers.plot().get_xlabel(), grids.plot().get_xlabel()) == ("h = 1/n", "h [m]")


@pytest.mark.parametrize(
    ("arguments", "keywords", "words"),
    [
        ((WAVE, [1], [4]), {"until": 1.0}, "two or more"),
        ((WAVE, [1], [4, 4]), {"until": 1.0}, "two or more"),
        ((WAVE, [], [4, 8]), {"until": 1.0}, "degrees is empty"),
        ((WAVE, [1], [4, 8]), {}, "until is None"),
        ((lambda degree, n: 1.0, [1], [4, 8]), {"cfl": 0.5}, "cfl"),
        ((lambda degree, n: -1.0, [1], [4, 8]), {}, "error of degree 1, h = 0.25 is -1"),
        ((lambda degree, n: np.nan, [1], [4, 8]), {}, "error of degree 1"),
        ((3, [1], [4, 8]), {}, "problem is 3"),
    ],
)
def test_bad_arguments_are_refused(arguments, keywords, words):
    with pytest.raises(unda.ArgumentError, match=words):
        unda.convergence(*arguments, **keywords)


def test_one_degree_need_not_be_in_a_list():
    assert unda.convergence(lambda degree, n: n**-2.0, 3, [4, 8]).degrees == [3]


def test_an_unknown_field_or_degree_is_refused():
    found = unda.convergence(lambda degree, n: 1.0 / n, [1], [4, 8])
    with pytest.raises(unda.ArgumentError, match="expected one of"):
        found.orders("p")
    with pytest.raises(unda.ArgumentError, match="expected one of"):
        found.curve(2)
