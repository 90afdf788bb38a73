"""Of all combinations those that run by default have every value, and the slow tier has the rest."""

import itertools

import pytest
from pairwise import in_turn

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
