"""Which layer a side gets: by the rule of the medium beside it and its walls, as told, as saved.

Not here: that the rule's layers do not grow (test_layer_growth.py), what they return (test_cpml.py).
"""

import numpy as np
import pytest
import unda
from staggered_cases import staggered

SHAPE = (12, 6, 15)
Z = np.broadcast_to(np.arange(SHAPE[2]), SHAPE)


def elastic(rho=1.0, vp=3.0, vs=1.0):
    return unda.Elastic(rho=rho, vp=vp, vs=vs)


def made(medium, sides=None, shape=SHAPE, **options):
    return staggered(unda.Grid(shape, 1.0), medium, boundary=sides or {"*": unda.CPML(width=2)}, **options)


def ratios(sim):
    return {name: one.ratio for name, one in sim._sides.items() if not isinstance(one, str)}


PEC = {"zmin": "pec", "zmax": "pec", "*": unda.CPML(2)}
ONE = {"zmax": "free", "*": unda.CPML(2)}
FLOOR = {"zmin": "free", "*": unda.CPML(2)}
WALLED = {"zmin": "fixed", "zmax": "free", "*": unda.CPML(width=2)}
#: medium, sides, what x and y sides get, what z sides get (None: walls)
RULE = {
    "one medium": (elastic(), None, 0.0, 0.0),
    "one medium, one wall": (elastic(), ONE, 0.0, 0.0),
    "one medium, two walls": (elastic(), WALLED, 0.1, None),
    "an acoustic one, two walls": (unda.Acoustic(rho=1.0, c=1.0), {**WALLED, "zmin": "rigid"}, 0.0, None),
    "a maxwell one, two walls": (unda.Maxwell(), PEC, 0.0, None),
    "beds within the contrast": (elastic(vs=np.where(Z < 7, 1.0, 1.45)), None, 0.0, 0.0),
    "beds beyond it": (elastic(vs=np.where(Z < 7, 1.0, 1.55)), None, 0.1, 0.0),
    "denser beds": (elastic(rho=np.where(Z < 7, 1.0, 9.0)), None, 0.1, 0.0),
    "much denser beds": (elastic(rho=np.where(Z < 7, 1.0, 11.0)), None, 1.0, 0.0),
    "a sea": (elastic(vs=np.where(Z < 7, 1.0, 0.0)), None, 0.1, 0.0),
    "fluids": (elastic(vs=np.zeros(SHAPE)), None, 0.0, 0.0),
    "a bed of four nodes": (elastic(vs=np.where(abs(Z - 6.5) < 2, 1.0, 1.55)), None, 1.0, 0.0),
    "a bed of five nodes": (elastic(vs=np.where(abs(Z - 7) < 3, 1.0, 1.55)), None, 0.1, 0.0),
    "a bed of three nodes at a layer": (elastic(vs=np.where(Z < 3, 1.0, 1.55)), None, 0.1, 0.0),
    "three nodes and their image": (elastic(vs=np.where(Z < 3, 1.0, 1.55)), FLOOR, 0.1, 0.0),
    "two nodes and their image": (elastic(vs=np.where(Z < 2, 1.0, 1.55)), FLOOR, 1.0, 0.0),
    "acoustic noise": (unda.Acoustic(rho=1.0 + Z % 2 * 30, c=1.0), None, 0.0, 0.0),
    "beds of eps": (unda.Maxwell(eps=np.where(Z < 7, 1.0, 81.0), mu=1.0), None, 0.0, 0.0),
    "a bed of eps": (unda.Maxwell(eps=np.where(abs(Z - 6.5) < 2, 1.0, 8.9), mu=1.0), None, 0.0, 0.0),
    "a bed of more": (unda.Maxwell(eps=np.where(abs(Z - 6.5) < 2, 1.0, 9.1), mu=1.0), None, 1.0, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", RULE)
def test_the_rule_looks_at_the_medium_beside_a_side_and_at_its_walls(name):
    medium, sides, across, along = RULE[name]
    found = ratios(made(medium, sides))
    expected = {side: across if side[0] in "xy" else along for side in found}
    assert found == expected and len(found) >= 4


def test_what_is_far_from_a_side_does_not_matter():
    """Noise in the middle: the layer goes on with the planes at its side."""
    rng = np.random.default_rng(1)
    vs = np.ones(SHAPE)
    vs[1:-1, 1:-1, 1:-1] = rng.uniform(0.2, 1.7, np.array(SHAPE) - 2)
    assert set(ratios(made(elastic(vs=vs))).values()) == {0.0}
    vs[-1, 3, 7] = 0.2
    found = ratios(made(elastic(vs=vs)))
    assert found.pop("xmax") == 1.0 and set(found.values()) == {0.0}


def test_two_dimensions_have_no_walls_along_the_third():
    sides = {"xmin": "free", "xmax": "free", "zmin": unda.CPML(2), "zmax": unda.CPML(2)}
    assert set(ratios(made(elastic(), sides, (12, 1, 15))).values()) == {0.1}
    sides = {"zmin": "free", "zmax": "free", "xmin": unda.CPML(2), "xmax": "fixed"}
    assert ratios(made(elastic(), sides, (12, 1, 15))) == {"xmin": 0.1}
    assert ratios(made(elastic(), {"zmax": "free", "zmin": unda.CPML(2), "*": "periodic"})) == {"zmin": 0.0}


def test_a_given_layer_stands():
    """`layer` over the rule, a ratio over both."""
    for word, ratio in (("cpml", 0.0), ("multiaxial", 0.1), ("sponge", 1.0)):
        assert set(ratios(made(elastic(), WALLED, layer=word)).values()) == {ratio}
        mixed = WALLED | {"xmin": unda.CPML(2, ratio=0.25)}
        found = ratios(made(elastic(), mixed, layer=word))
        assert found == dict.fromkeys(("xmin", "xmax", "ymin", "ymax"), ratio) | {"xmin": 0.25}
    with pytest.raises(unda.ArgumentError, match=r"layer is 'pml'.*'sponge'"):
        made(elastic(), layer="pml")
    with pytest.raises(unda.ArgumentError, match="scalar"):
        unda.FD(unda.Grid(SHAPE, 1.0), unda.Acoustic(rho=1.0, c=1.0), layer="sponge", device="cpu")


def test_repr_config_and_check_say_what_was_taken_and_why():
    sim = made(elastic(), WALLED)
    assert "multiaxial (0.1) at xmin xmax ymin ymax" in repr(sim)
    assert sim.config["boundary"]["xmin"]["ratio"] == 0.1
    (note,) = (one for one in sim.check().notes if "layer at" in one)
    assert "xmin, xmax, ymin, ymax" in note and "'fixed' and 'free' sides of z" in note
    plain = made(elastic())
    assert "multiaxial" not in repr(plain) and not plain.check().notes
    forced = made(elastic(), WALLED, layer="cpml").check()
    assert any("may grow" in one and "layer='multiaxial'" in one for one in forced.warnings)
    assert not any("may grow" in one for one in made(elastic(), layer="cpml").check().warnings)


@pytest.mark.parametrize("ratio", [None, 0.0, 1.0])
def test_a_saved_run_keeps_its_layers(tmp_path, ratio):
    """Bit for bit, whatever the rule would take."""
    shape, rng = (9, 1, 10), np.random.default_rng(2)
    end = unda.CPML(width=3, ratio=ratio)
    sim = made(elastic(), {"zmin": "fixed", "zmax": "free", "xmin": end, "xmax": end}, shape, dtype="float32")
    sim.set(**{name: rng.standard_normal(shape) for name in ("vx", "vz")})
    sim.step(7)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert ratios(again) == ratios(sim) == dict.fromkeys(("xmin", "xmax"), 0.1 if ratio is None else ratio)
    for one in (sim, again):
        one.step(9)
    for name in sim.fields:
        np.testing.assert_array_equal(again.get(name), sim.get(name))


@pytest.mark.parametrize("ratio", [0.0, 0.1, 1.0])
def test_the_stable_step_is_that_without_layers(ratio):
    sides = {"zmin": "fixed", "zmax": "free", "*": unda.CPML(width=3, ratio=ratio)}
    assert made(elastic(), sides).dt_stable == made(elastic(), {"*": "free"}).dt_stable


def test_memory_is_kept_where_axes_are_damped_apart():
    """A sponge has none, a multiaxial layer that of a CPML."""
    grid, options, of = unda.Grid(SHAPE, 1.0), {"scheme": "staggered", "device": "cpu"}, {}
    for ratio in (0.0, 0.1, 1.0):
        sides = {"*": unda.CPML(2, ratio=ratio)}
        of[ratio] = unda.FD.forecast(grid, elastic(), boundary=sides, **options)["host"]
    assert of[1.0] < of[0.0] == of[0.1]
    assert len(made(elastic(), layer="sponge")._whole()) == 9 < len(made(elastic())._whole())
