"""A fluid in an elastic medium slides along a fixed wall, as the acoustic scheme's along a rigid one."""

import numpy as np
import pytest
import unda
from staggered_cases import SIDES, boundary, staggered

SHAPE = (9, 8, 10)
GRID = unda.Grid(SHAPE, (0.9, 1.0, 1.1))
ALL = {"*": "fixed"}


def random(seed):
    return np.random.default_rng(seed).uniform(1, 2, SHAPE)


@pytest.mark.parametrize("varies", [True, False])
def test_a_fluid_in_a_fixed_box_is_one_in_a_rigid_box(varies):
    """The same operator in another order of sums: 60 steps in float64, 1e-13 a step."""
    rho, c = (random(1), random(2)) if varies else (2.0, 1.5)
    p = np.random.default_rng(3).standard_normal(SHAPE)
    rigid = staggered(GRID, unda.Acoustic(rho=rho, c=c), boundary={"*": "rigid"}, cfl=0.7)
    rigid.set(p=p)
    fluid = unda.Elastic(rho=rho, vp=c, vs=0.0)
    fixed = staggered(GRID, fluid, boundary=ALL, dt=rigid.dt)
    fixed.set(sxx=-p, syy=-p, szz=-p)
    for sim in (rigid, fixed):
        sim.step(60)
    assert np.abs(fixed.get("sxx") + rigid.get("p")).max() < 1e-13 * np.abs(p).max() * 60
    assert np.abs(rigid.get("p") - p).max() > 0.5
    assert {fixed.config["boundary"][side] for side in SIDES} == {"symmetry"}
    assert not any("fluid" in text for text in fixed.check().warnings)


def test_only_sides_that_are_fluid_all_over_change():
    """Bits beside solids are as they were: half of the box is solid, the walls beside both stay fixed."""
    vs = np.where(np.arange(SHAPE[2]) < 5, 0.0, 0.6) * np.ones(SHAPE)
    sim = staggered(GRID, unda.Elastic(rho=random(1), vp=2.0, vs=vs), boundary=ALL)
    assert sim.config["boundary"] == {**dict.fromkeys(SIDES, "fixed"), "zmin": "symmetry"}
    found = [text for text in sim.check().warnings if "fluid" in text]
    assert len(found) == 4 and all("50 % of the nodes of the fixed side" in text for text in found)
    solid = staggered(GRID, unda.Elastic(rho=random(1), vp=2.0, vs=0.6), boundary=ALL)
    assert set(solid.config["boundary"].values()) == {"fixed"}
    assert not any("fluid" in text for text in solid.check().warnings)


def test_a_checkpoint_goes_on_with_the_same_sides(tmp_path):
    vs = np.where(np.arange(SHAPE[2]) < 5, 0.0, 0.6) * np.ones(SHAPE)
    sides = boundary(("periodic", "periodic"), ("periodic", "periodic"), ("fixed", "fixed"))
    sim = staggered(GRID, unda.Elastic(rho=1.0, vp=2.0, vs=vs), boundary=sides)
    sim.set(vx=random(4), vy=random(5))
    sim.step(7)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert again.config["boundary"] == sim.config["boundary"]
    for one in (sim, again):
        one.step(7)
    assert sim.get("vx")[:, :, 0].any() and not sim.get("vx")[:, :, -1].any()
    assert all(np.array_equal(again.get(name), sim.get(name)) for name in sim.fields)
