"""Messages say what was found, what was expected, and what to do."""

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
    assert caught.value.place.startswith("point_sources.c:")
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
