"""Elastic media and their sources: what is accepted, what each field gets, what is refused.

Not here: what media and sources share (test_medium.py, test_sources.py), the waves
(test_exact_elastic.py).
"""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.problem.medium import Elastic
from unda.problem.source import Source

ROCK = unda.Elastic(rho=2000.0, vp=4000.0, vs=2000.0)
FLUID = unda.Elastic(rho=1000.0, vp=1500.0, vs=0.0)
MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
TWO = SimpleNamespace(num_elem=2)
SHEAR = [[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]]


def test_speeds_are_those_of_waves_that_exist():
    assert (ROCK.speed_max(MESH), ROCK.speed_min(MESH)) == (4000.0, 2000.0)
    assert (FLUID.speed_max(MESH), FLUID.speed_min(MESH)) == (1500.0, 1500.0)
    both = unda.Elastic(rho=1.0, vp=2.0, vs=np.r_[0.0, np.ones(MESH.num_elem - 1)])
    assert (both.speed_max(MESH), both.speed_min(MESH)) == (2.0, 1.0)


def test_fields_are_grouped_by_unit():
    assert ROCK.fields == ("vx", "vy", "vz", "sxx", "syy", "szz", "syz", "sxz", "sxy")
    assert ROCK.field_groups["v"] + ROCK.field_groups["s"] == ROCK.fields
    assert {ROCK.units[field] for field in ROCK.field_groups["s"]} == {"Pa"}


@pytest.mark.parametrize("vp, vs, where", [
    (2.0, 2.0, r"vp = 2\.0 and vs = 2\.0 m/s in every cell \(1 of 1\)"),
    ([2.0, 2.0, 2.0], [1.0, 1.8, 1.9], r"in cell 1 \(2 of 3\)"),
    (2.0, [1.0, 1.0, 1.8], r"in cell 2 \(1 of 3\)"),
    ({"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 1.0}, r"in tag 'b'"),
    ({"a": 2.0, "b": 1.0}, 1.0, r"in tag 'b'"),
])  # fmt: skip
def test_a_bulk_modulus_that_is_not_positive_is_refused_with_the_first_cell(vp, vs, where):
    with pytest.raises(ArgumentError, match=where):
        unda.Elastic(rho=1.0, vp=vp, vs=vs)


def test_functions_are_checked_on_the_mesh():
    medium = unda.Elastic(rho=1.0, vp=lambda x, y, z: 2.0 + 0 * x, vs=1.8)
    with pytest.raises(ArgumentError, match=r"in cell 0 \(6 of 6\)"):
        medium.on(MESH)
    unda.Elastic(rho=1.0, vp=lambda x, y, z: 2.0 + 0 * x, vs=1.7).on(MESH)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_negative_shear_speeds_are_refused(bad):
    with pytest.raises(ArgumentError, match=rf"vs is {bad}; expected finite and >= 0 \[m/s\]"):
        unda.Elastic(rho=1.0, vp=2.0, vs=bad)
    with pytest.raises(ArgumentError, match=r"vp is 0\.0; expected finite and > 0"):
        unda.Elastic(rho=1.0, vp=0.0, vs=0.0)


def test_sources_add_to_their_fields():
    f = unda.ricker(10.0)
    force = unda.PointForce((0, 0, 0), f, (1.0, -2.0, 0.5))
    assert force.rates(ROCK, 0) == {"vx": 1.0 / 2000.0, "vy": -2.0 / 2000.0, "vz": 0.5 / 2000.0}
    moment = unda.MomentTensor((0, 0, 0), f, np.array(SHEAR) + np.diag([5.0, 6.0, 7.0]))
    expected = {"sxx": -5.0, "syy": -6.0, "szz": -7.0, "syz": -3.0, "sxz": 0.0, "sxy": -2.0}
    assert moment.rates(ROCK, 0) == expected
    bulk = 2000.0 * (4000.0**2 - 4.0 / 3.0 * 2000.0**2)
    assert unda.VolumeInjection((0, 0, 0), f).rates(ROCK, 0) == dict.fromkeys(("sxx", "syy", "szz"), -bulk)
    acoustic = unda.VolumeInjection((0, 0, 0), f).rates(unda.Acoustic(rho=1000.0, c=1500.0), 0)["p"]
    assert unda.VolumeInjection((0, 0, 0), f).rates(FLUID, 0)["szz"] == -acoustic


def test_a_moment_enters_by_its_rate():
    f = unda.ricker(10.0)
    assert unda.MomentTensor((0, 0, 0), f, SHEAR).time_function(0.1) == f.derivative
    assert unda.PointForce((0, 0, 0), f, (1, 0, 0)).time_function(0.1) is f
    plain = unda.MomentTensor((0, 0, 0), np.sin, SHEAR)
    assert plain.time_function(0.1)(0.0) == pytest.approx(1.0, rel=1e-10)


def test_a_deviatoric_moment_in_a_fluid_is_refused():
    f = unda.ricker(10.0)
    with pytest.raises(ArgumentError, match=r"deviatoric part of 3 N m at \(0\.0, 0\.0, 0\.0\) m in a fluid"):
        unda.MomentTensor((0, 0, 0), f, SHEAR).rates(FLUID, 0)
    with pytest.raises(ArgumentError, match="deviatoric"):
        unda.MomentTensor((0, 0, 0), f, np.diag([1.0, 1.0, 1.001])).rates(FLUID, 0)
    assert unda.MomentTensor((0, 0, 0), f, np.eye(3)).rates(FLUID, 0)["sxx"] == -1.0


def state(**fields):
    """A state of two cells with four nodes each, and their coordinates."""
    q = np.zeros((2, 4, 9))
    for name, value in fields.items():
        q[..., Elastic.fields.index(name)] = value
    return q, np.arange(24.0).reshape(2, 4, 3)


PRESSURE = dict.fromkeys(("sxx", "syy", "szz"), -3.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fields", [
    {"sxx": 1.0}, {"sxy": 1.0}, {"syz": [[0, 0, 0, 0], [0, 0, 1, 0]]}, {**PRESSURE, "szz": -3.001},
])  # fmt: skip
def test_deviatoric_stress_in_a_fluid_is_refused_where_it_stands(fields, dtype):
    q, x = state(**fields)
    half = Elastic(rho=1.0, vp=2.0, vs=[1.0, 0.0])
    with pytest.raises(ArgumentError, match=r"deviatoric part of .* in cell 1 \(1 such cells\), a fluid"):
        half._check_state(half.on(TWO)[:, None], q.astype(dtype), x)
    turned = Elastic(rho=1.0, vp=2.0, vs=[0.0, 1.0])
    if "syz" in fields:  # only in the second cell, which is solid now
        turned._check_state(turned.on(TWO)[:, None], q.astype(dtype), x)
    else:
        with pytest.raises(ArgumentError, match=r"at \(0\.0, 1\.0, 2\.0\) m in cell 0"):
            turned._check_state(turned.on(TWO)[:, None], q.astype(dtype), x)
    ROCK._check_state(ROCK.on(TWO)[:, None], q.astype(dtype), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pressure_is_a_fluids_stress_and_rounding_is_forgiven(dtype):
    q, x = state(**PRESSURE, vx=1.0)
    q *= 1.0 + 10 * np.finfo(dtype).eps * np.random.default_rng(3).uniform(-1, 1, q.shape)
    FLUID._check_state(FLUID.on(TWO)[:, None], q.astype(dtype), x)


@pytest.mark.parametrize("direction, found", [
    ((0, 0, 0), r"\(0\.0, 0\.0, 0\.0\); expected a vector of length > 0"),
    ((1, 2), "2 components"),
    ((1, np.nan, 0), r"direction\[1\] is nan"),
])  # fmt: skip
def test_directions_that_are_none_are_refused(direction, found):
    with pytest.raises(ArgumentError, match=found):
        unda.PointForce((0, 0, 0), unda.ricker(10.0), direction)


@pytest.mark.parametrize("moment, found", [
    ([[1, 2, 3], [0, 1, 0], [0, 0, 1]], r"moment\[0\]\[2\] = 3 and moment\[2\]\[0\] = 0; expected"),
    (np.zeros((3, 3)), "not zero"),
    ([1, 2, 3], r"shape \(3,\)"),
    (np.eye(2), r"shape \(2, 2\)"),
    ("abc", "shape"),
    ([[1, 0, 0], [0, np.inf, 0], [0, 0, 1]], r"moment\[1\]\[1\] is inf"),
])  # fmt: skip
def test_moments_that_are_none_are_refused(moment, found):
    with pytest.raises(ArgumentError, match=found):
        unda.MomentTensor((0, 0, 0), unda.ricker(10.0), moment)


@pytest.mark.parametrize("source", [
    unda.PointForce((1, 2, 3), unda.ricker(10.0), (1.0, -2.0, 0.5)),
    unda.MomentTensor((1, 2, 3), unda.ricker(10.0).integral, SHEAR),
])  # fmt: skip
def test_configuration_and_pickle_give_the_same_source(source):
    config = json.loads(json.dumps(source.to_config()))
    for other in (Source.from_config(config), pickle.loads(pickle.dumps(source))):
        assert repr(other) == repr(source) and other.rates(ROCK, 0) == source.rates(ROCK, 0)
    with pytest.raises(ArgumentError, match=r"drives elastic waves; the medium is acoustic"):
        source.rates(unda.Acoustic(rho=1.0, c=1.0), 0)
