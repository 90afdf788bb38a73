"""Few cases of many: every pair of values of a table, every value of a test's arguments is in one of them."""

import itertools

import numpy as np
import pytest


def pairwise(settings, valid=None, drawn=None):
    """Cases {setting: value} in which every pair of values of two settings occurs (greedy).

    settings: {name: values}. valid: says of a case whether it can be; pairs that no such case has are left
    out. drawn: of large products so many cases are drawn and looked at, always the same; all if None.
    """
    sizes = [len(values) for values in settings.values()]

    def named(one):
        return {name: values[i] for (name, values), i in zip(settings.items(), one, strict=True)}

    if drawn is None:
        index = np.indices(sizes).reshape(len(sizes), -1)  # [setting][case]
    else:
        index = np.random.default_rng(0).integers(0, np.array(sizes)[:, None], (len(sizes), drawn))
    if valid:
        index = index[:, [bool(valid(named(one))) for one in index.T]]
    both = list(itertools.combinations(range(len(sizes)), 2))
    offset = np.cumsum([0] + [sizes[a] * sizes[b] for a, b in both])
    pairs = np.stack([offset[i] + index[a] * sizes[b] + index[b] for i, (a, b) in enumerate(both)], axis=1)
    missing, chosen = np.zeros(offset[-1], bool), []
    missing[pairs] = True
    while missing.any():
        best = missing[pairs].sum(axis=1).argmax()
        missing[pairs[best]] = False
        chosen.append(named(index[:, best]))
    return chosen


def by_default(cases, num):
    """Marks of each case: slow beyond the first `num`, which have the most pairs.

    A case with a value that none before has runs by default, so that all values do.
    """
    seen, marks = set(), []
    for i, case in enumerate(cases):
        new = not seen.issuperset((name, str(value)) for name, value in case.items())
        seen.update((name, str(value)) for name, value in case.items())
        marks.append([] if i < num or new else [pytest.mark.slow])
    return marks


def in_turn(*settings, all_of_them=False):
    """All combinations of what pytest.mark.parametrize was given: one decorator instead of several.

    By default every second runs, as the white fields of a chessboard: each value with half of the others'
    combinations. The rest is slow, unless `all_of_them`.
    """
    names, params = [], []
    for one in settings:
        names += [one.args[0]] if isinstance(one.args[0], str) else one.args[0]
    each = [list(one.args[1]) for one in settings]
    for places in itertools.product(*(range(len(one)) for one in each)):
        chosen = [one[i] for one, i in zip(each, places, strict=True)]
        values = [value for one in chosen for value in (one if isinstance(one, tuple) else (one,))]
        params.append(pytest.param(*values, marks=[pytest.mark.slow] * (sum(places) % 2 and not all_of_them)))
    return pytest.mark.parametrize(names, params)


def values(item, together=()):
    """(argument, value) of a case, or (argument, setting, value) where an argument is a dict of settings.

    together: arguments whose values are one value.
    """
    found, one_value = set(), []
    for name, value in item.callspec.params.items():
        if isinstance(value, dict):
            found.update((name, setting, repr(one)) for setting, one in value.items())
        else:  # a function or an object is itself; numbers and words are compared
            plain = isinstance(value, (str, int, float, tuple, type(None)))
            known = name, repr(value) if plain else id(value)
            one_value.append(known) if name in together else found.add(known)
    return found | {tuple(one_value)} if one_value else found


def fewest(items, together=()):
    """A few cases of one test in which every value of each argument occurs.

    Greedy, the first of equals; then without those whose values later ones have.
    """
    each = [values(item, together) for item in items]
    missing, chosen = set().union(*each), []
    while missing:
        best = max(range(len(each)), key=lambda i: len(each[i] & missing))
        missing -= each[best]
        chosen.append(best)
    for one in list(chosen):
        others = set().union(*(each[i] for i in chosen if i != one))
        if each[one] <= others:
            chosen.remove(one)
    return [items[i] for i in chosen]


def thin(items):
    """Mark slow the cases that a test does not need by default.

    Of a test marked `each_value` those beyond the fewest, arguments of the mark being together; of one marked
    `first` those beyond so many.
    """
    cases = {}
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("slow", "gpu")):
            cases.setdefault((item.parent, item.originalname), []).append(item)
    for of_one in cases.values():
        if mark := of_one[0].get_closest_marker("each_value"):
            kept = fewest(of_one, mark.args)
        elif mark := of_one[0].get_closest_marker("first"):
            kept = of_one[: mark.args[0]]
        else:
            continue
        kept = set(map(id, kept))
        for item in of_one:
            if id(item) not in kept:
                item.add_marker(pytest.mark.slow)
