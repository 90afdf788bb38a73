"""Sources and receivers by the list: the same bits as one by one, all or none."""

from __future__ import annotations

import numpy as np
import pytest
import unda
from unda.method import _sites

GRID = unda.Grid((13, 12, 14), spacing=0.1)
WAVE = unda.ricker(2.0)
SIDES = {"zmin": "free", "xmax": "fixed", "*": "absorbing"}
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # too coarse for what it drives


def dg():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 3, 2))
    return unda.DG(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2)


def hexahedra(method=unda.DG):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 3, 2), shape="hex", perturb=0.1, seed=1)
    return method(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2)


def sem():
    return hexahedra(unda.SEM)


def scalar():
    return unda.FD(GRID, unda.Acoustic(rho=1.0, c=lambda x, y, z: 1.0 + 0.3 * x))


def staggered():
    medium = unda.Elastic(rho=lambda x, y, z: 1.0 + x, vp=2.0, vs=1.0)
    return unda.FD(GRID, medium, scheme="staggered", boundary=SIDES)


MAKERS = pytest.mark.parametrize("make", [dg, hexahedra, sem, scalar, staggered])


def sources(make, num):
    """Return sources of all kinds that the method takes, inside and on the lower side, of three functions."""
    places = np.random.default_rng(3).uniform(0.0, 1.0, (num, 3))
    places[::5, 2] = 0.0
    moment = [[1.0, 0.2, 0.1], [0.2, 0.5, 0.0], [0.1, 0.0, 2.0]]
    kinds = [
        lambda x, f: unda.VolumeInjection(x, f),
        lambda x, f: unda.PointForce(x, f, (1.0, 2.0, -1.0)),
        lambda x, f: unda.MomentTensor(x, f, moment),
    ][: 1 if make is scalar else 3]
    functions = [WAVE, unda.gaussian(2.0), np.sin]
    return [kinds[i % len(kinds)](x, functions[i // 2 % 3]) for i, x in enumerate(places)]


@MAKERS
def test_a_list_gives_the_bits_of_one_by_one(make):
    num = 530 if make in (scalar, staggered) else 90  # more than csrc/fd/sources.c takes at once
    given = sources(make, num)
    states = []
    for parts in ([given], [given[:1], given[1:70], given[70:]], given):
        sim = make()
        for part in parts:
            sim.add_source(part)
        rec = sim.add_receivers([(0.31, 0.52, 0.43)])
        sim.step(6)
        states.append([rec[name] for name in rec.fields] + [sim.get(name) for name in sim.fields])
    assert max(np.abs(one).max() for one in states[0]) > 0
    for other in states[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(states[0], other, strict=True))


def test_so_many_that_they_are_listed_cell_by_cell_are_summed_in_their_order():
    """Beside 999, which are listed one by one, some that stay silent; other orders have other bits."""
    given = sources(sem, 999)
    silent = [unda.PointForce((0.1, 0.2, 0.3), lambda t: 0.0 * t, (1.0, 0.0, 0.0)) for _ in range(50)]
    one, many, turned = (after(sem, listed) for listed in (given, [*given, *silent], given[::-1]))
    assert all(np.array_equal(one[name], many[name]) for name in one)
    assert not all(np.array_equal(one[name], turned[name]) for name in one)


def test_sources_on_nodes_have_the_same_bits_beside_many_that_stand_elsewhere():
    """Alone they add to few nodes of a cell, and only those are listed; the others add 0 times something."""
    rng, direction = np.random.default_rng(5), (1.0, 2.0, -1.0)
    on_nodes, places = rng.integers(0, 2, (20, 3)) * (0.25, 0.5, 0.5), rng.uniform(0.0, 1.0, (60, 3))
    mesh = unda.box_mesh((0, 0, 0), (1, 2, 2), cells=(2, 2, 2), shape="hex")
    bump, weights = unda.smooth_bump(0.1), np.arange(1.0, 21.0)
    states = []
    for with_others, first in ((False, 1.0), (True, 1.0), (False, 2.0)):
        weights[0] = first
        sim = unda.SEM(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2)
        sim.add_source(unda.Array(on_nodes, bump, weights=weights, direction=direction))
        if with_others:  # they begin after the last step
            sim.add_source(unda.Array(places, bump, delays=np.full(60, 9.0), direction=direction))
        sim.step(3)
        states.append(np.array([sim.get(name) for name in sim.fields]))
    assert np.abs(states[0]).max() > 0 and np.array_equal(states[0], states[1])
    assert not np.array_equal(states[0], states[2])  # twin


@MAKERS
def test_all_or_none(make):
    sim, given = make(), sources(make, 12)
    beyond = unda.VolumeInjection((0.5, 0.5, 3.0), WAVE)
    for wrong in ([*given, beyond], [*given, given[3]], [*given, "source"], [*given, None]):
        with pytest.raises(unda.ArgumentError):
            sim.add_source(wrong)
    sim.step(2)
    assert all(not sim.get(name).any() for name in sim.fields)
    sim.reset()
    sim.add_source(given[:6])
    with pytest.raises(unda.ArgumentError, match="added already"):
        sim.add_source(given[5:])
    sim.add_source(given[6:])
    sim.add_source([])
    sim.reset(sources=True)
    sim.add_source(given)


def test_an_outsider_is_named_by_its_number():
    given = [unda.VolumeInjection((0.5, 0.5, z), WAVE) for z in (0.2, 0.4, 9.0)]
    for sim in (dg(), scalar()):
        with pytest.raises(unda.ArgumentError, match="source 2 at"):
            sim.add_source(given)


@MAKERS
def test_each_source_follows_its_own_function(make):
    """By superposition: what all do together is the sum of what each does alone."""
    given = sources(make, 6)
    alone, together = [after(make, one) for one in given], after(make, given)
    for name, found in together.items():
        # Five steps of some 30 roundings, 6e-8 each of what one source does: 1e-5. Accelerations -M^-1 K u
        # round as u does, times up to (2/dt)^2: in stable steps M^-1 K has no larger eigenvalue.
        like, times = (f"u{name[1]}", (2 / make().dt) ** 2) if name in ("ax", "ay", "az") else (name, 1.0)
        most = times * sum(np.abs(one[like]).max() for one in alone)
        assert np.abs(found - sum(one[name] for one in alone)).max() <= 1e-5 * most, name


def after(make, given):
    """Return the fields after five steps."""
    sim = make()
    sim.add_source(given)
    sim.step(5)
    return {name: sim.get(name) for name in sim.fields}


def test_cells_of_many_points_are_those_of_one_by_one():
    """Inside, and where some lie on a vertex or outside: more or fewer cells than points."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(4, 4, 4))
    inside = np.random.default_rng(0).uniform(0.01, 0.99, (300, 3))
    for number, place in ((5, (0.3, 0.4, 0.1)), (5, (0.5, 0.5, 0.5)), (7, (3.0, 3.0, 3.0))):
        points = inside.copy()
        points[number] = place
        found, alone = _sites.find(mesh, points, 3), [_sites.find(mesh, one[None], 3) for one in points]
        assert np.diff(found.first).tolist() == [len(one.elem) for one in alone]
        assert found.elem.tolist() == np.concatenate([one.elem for one in alone]).tolist()
        assert np.array_equal(found.weights, np.concatenate([one.weights for one in alone]))
