"""Receivers so near to a source that their traces are wrong are warned of before the first step.

Not here: other findings of check (test_check.py).
"""

import copy
import time

import numpy as np
import pytest
import unda
from unda.method import near_source

FORCE = unda.PointForce((0, 0, 0), unda.ricker(1.0), (0, 0, 1))
MOMENT = unda.MomentTensor((0, 0, 0), unda.ricker(1.0), np.eye(3))


def found(sim, kind="warnings"):
    return [text for text in getattr(sim.check(), kind) if "from source 0" in text]


def test_the_limits_are_those_that_were_measured():
    """Within so many cells or nodes some trace was a fifth off: limits are 0.3 less at most, and 0.5 more."""
    for shape, degree, field, cells in (
        ("hex", 2, "vx", 3.7), ("hex", 3, "vx", 2.6), ("hex", 4, "vx", 2.2), ("hex", 6, "vx", 1.8),
        ("hex", 3, "ex", 3.4), ("hex", 3, "sxx", 3.4), ("hex", 4, "sxx", 3.0),
        ("tet", 4, "sxx", 2.0), ("tet", 3, "vx", 1.3),
    ):  # fmt: skip
        assert -0.3 <= near_source.of_dg(shape, degree)(FORCE, field) - cells <= 0.5
    for physics, source, field, nodes in (
        ("acoustic", None, "p", 1.94), ("acoustic", None, "vx", 3.7), ("elastic", FORCE, "ux", 1.92),
        ("elastic", FORCE, "exx", 4.3), ("elastic", MOMENT, "vz", 4.0), ("elastic", MOMENT, "sxx", 5.2),
        ("maxwell", None, "hx", 4.06), ("maxwell", None, "ex", 5.0),
    ):  # fmt: skip
        assert abs(near_source.of_grid(physics)(source, field) - nodes) <= 0.35


@pytest.mark.parametrize(("field", "cells"), [("p", 2.1), ("vx", 2.1), ("divergence", 2.8)])
def test_mesh_receivers_nearer_than_the_limit_of_their_field_are_warned_of(field, cells):
    """Hexahedra of degree 4: 1 + 5/4 cells of p and v, 1 + 8/4 of derivatives; a note as far as four."""
    mesh = unda.box_mesh((0, 0, 0), (6, 6, 6), (6, 6, 6), shape="hex")
    for away, warned, noted in ((cells, 1, 0), (cells + 0.3, 0, 1), (4.1, 0, 0)):
        sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=4)
        sim.add_source(unda.VolumeInjection((0.9, 3.1, 3.2), unda.ricker(0.1)))
        sim.add_receivers([(0.9 + away, 3.1, 3.2)], [field])
        assert (len(found(sim)), len(found(sim, "notes"))) == (warned, noted)


def test_grid_receivers_are_warned_of_where_a_trace_is_a_fifth_off():
    """v of an injection: 1.6 nodes away, which is warned of, it is; 4.5 away, where nothing is said, not."""
    medium, source = unda.Acoustic(rho=1.3, c=1.0), unda.VolumeInjection((9.3, 9.2, 9.4), unda.ricker(0.06))
    wrong = []
    for away, warned in ((1.6, True), (4.5, False)):
        sim = unda.FD(unda.Grid((19, 19, 19), 1.0), medium, scheme="staggered", fmax=0.15)
        sim.add_source(source)
        rec = sim.add_receivers([(9.3, 9.2 + away, 9.4)], ["vx", "vy", "vz"])
        assert bool(found(sim)) == warned
        if warned:
            with pytest.warns(unda.AccuracyWarning, match="1.6 nodes from source 0"):
                sim.run(until=source.f.span[1] + away)
        else:
            sim.run(until=source.f.span[1] + away)
        wrong.append(rec.misfit(unda.exact.point_source(medium, source))[0])
    assert wrong[0] > 0.2 > wrong[1]


def test_many_sources_beside_receivers_are_one_warning():
    sim = unda.FD(unda.Grid((15, 15, 15), 1.0), unda.Acoustic(rho=1.0, c=1.0), fmax=0.15)
    places = [(7, 7, 4 + 0.1 * i) for i in range(50)]
    for place in places:
        sim.add_source(unda.VolumeInjection(place, unda.ricker(0.06)))
    sim.add_receivers([(8, 7, 4)], ["p"])
    (text,) = found(sim)
    assert "1.0 nodes from source 0 (and 17 more sources have" in text  # up to sqrt(3) nodes along z
    assert "at (8.0, 7.0, 4.0) m" in text


@pytest.mark.parametrize("method", ["grid", "mesh"])
def test_ten_thousand_sources_take_moments_and_few_lines(method):
    """Of 10^4 sources beside receivers, vertices and on a free side the worst are named and the rest counted.

    A loop that works with receivers, cells or walls takes 0.1 ms a source, 1 s in all; without it 0.05 s.
    """
    medium, pulse = unda.Acoustic(rho=1.0, c=1.0), unda.ricker(0.06)
    if method == "grid":
        sim = unda.FD(unda.Grid((15, 15, 15), 1.0), medium, boundary={"*": "free"}, fmax=0.15)
    else:
        mesh = unda.box_mesh((0, 0, 0), (14, 14, 14), (7, 7, 7))
        sim = unda.DG(mesh, medium, degree=3, boundary={"zmax": "free", "*": "rigid"})
    top = 13 if method == "grid" else 14  # on the free side, where grids take no such source
    places = [(7, 7, top), (7, 7, top), (8.01, 8.02, 8.01), (7, 7, 4.5)]
    for place in places:
        sim.add_source(unda.VolumeInjection(place, pulse))
    sim.add_receivers([(7, 7, 5), (7, 7, 11)], ["p"])
    few = sim.check()
    sources = sim._solver.sources
    sources += [(copy.copy(one), rates) for _ in range(2500) for one, rates in sources[:4]]
    begin = time.process_time()
    many = sim.check()
    assert time.process_time() - begin < 0.4
    assert len(many.warnings + many.notes) == len(few.warnings + few.notes)
    found = "\n".join(many.warnings + many.notes)
    assert "(and 2500 more sources have such receivers)" in found or method == "mesh"
    if method == "mesh":
        assert "m (and 5001 more sources) lies on the free boundary" in found
        assert "source 2 " in found and "(and 2500 more sources are beside vertices)" in found


def test_nothing_is_said_of_other_sources_or_of_lines_in_thin_grids():
    medium, pulse = unda.Acoustic(rho=1.0, c=1.0), unda.ricker(0.06)
    for shape, source in (
        ((15, 15, 1), unda.VolumeInjection((7, 7, 0), pulse)),
        ((15, 15, 15), unda.Array([(7, 7, 0), (7, 7, 5)], f=pulse)),
    ):
        sim = unda.FD(unda.Grid(shape, 1.0), medium, fmax=0.15)
        sim.add_source(source)
        sim.add_receivers([(7, 8, 0)], ["p"])
        assert not found(sim)
