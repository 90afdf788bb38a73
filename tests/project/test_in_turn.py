"""Of all combinations those that run by default have every value, and the slow tier has the rest."""

import itertools
from types import SimpleNamespace

import pytest
from pairwise import fewest, in_turn, thin, values

KINDS = [("sound", "rigid"), ("sound", "free"), ("light", "pec")]
SETTINGS = [
    pytest.mark.parametrize(("physics", "wall"), KINDS),
    pytest.mark.parametrize("degree", [1, 2]),
    pytest.mark.parametrize("flux", ["upwind", "central"]),
]


def test_every_value_runs_by_default_with_half_of_the_others_and_none_is_lost():
    names, params = in_turn(*SETTINGS).args
    assert names == ["physics", "wall", "degree", "flux"]
    whole = [(*kind, *rest) for kind in KINDS for rest in itertools.product([1, 2], ["upwind", "central"])]
    assert [one.values for one in params] == whole
    default = {one.values for one in params if not one.marks}
    for place in range(4):
        for value in {one[place] for one in whole}:
            have = [one for one in whole if one[place] == value]
            assert sum(one in default for one in have) == len(have) / 2


def test_on_a_device_all_run():
    assert not any(one.marks for one in in_turn(*SETTINGS, all_of_them=True).args[1])


def cases(function, *arguments, slow=(), mark=None):
    """Stand-ins for what pytest collects of a test marked `first`, or else `each_value`."""
    marks = {"first": mark} if mark else {"each_value": SimpleNamespace(args=())}
    return [
        SimpleNamespace(
            parent="file", originalname=function, callspec=SimpleNamespace(params=params),
            get_closest_marker=(marks | {"slow": i in slow}).get,
            marks=(added := []), add_marker=lambda mark, added=added: added.append(mark.name),
        )
        for i, params in enumerate(arguments)
    ]  # fmt: skip


def all_values(items):
    return set().union(*map(values, items))


def test_of_a_test_marked_each_value_the_default_cases_have_every_value_and_the_rest_is_slow():
    settings = itertools.product((1, 2, 3), "uc", "rf")
    table = [{"degree": degree, "case": {"flux": flux, "wall": wall}} for degree, flux, wall in settings]
    one, other = cases("one", *table), cases("other", *table[:2], slow=[0])
    thin([*one, *other])
    default = [item for item in one if not item.marks]
    assert len(default) == 3 and all_values(default) == all_values(one)
    for left_out in default:
        assert all_values(item for item in default if item is not left_out) != all_values(one)
    assert [item.marks for item in other] == [[], []]  # a slow case stands for none


def test_a_case_whose_values_later_ones_have_is_slow():
    """The first of equals is taken first, and here none of the others can be left out."""
    table = [dict(zip("abc", one, strict=True)) for one in ((1, 1, 1), (1, 2, 2), (2, 1, 3), (3, 3, 1))]
    one = cases("one", *table)
    assert fewest(one) == one[1:] and all_values(one[1:]) == all_values(one)


def test_of_values_that_go_together_every_pair_has_a_case():
    settings = list(itertools.product("ab", "xy", (1, 2)))
    found = cases("one", *(dict(zip(("physics", "wall", "degree"), one, strict=True)) for one in settings))
    default = {settings[found.index(item)] for item in fewest(found, ("physics", "wall"))}
    assert {one[:2] for one in default} == set(itertools.product("ab", "xy")) and len(default) == 4
    assert {one[2] for one in default} == {1, 2}


def test_of_a_test_marked_first_the_default_cases_are_so_many():
    found = cases("one", *({"n": n} for n in range(5)), slow=[0], mark=SimpleNamespace(args=(2,)))
    thin(found)
    assert [item.marks for item in found] == [[], [], [], ["slow"], ["slow"]]
