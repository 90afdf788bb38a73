"""Sources know what they add to which field, and refuse what they cannot drive.

Not here: the wave that comes of it (test_exact_point_source.py).
Next: python/unda/problem/source.py.
"""

import json
import pickle

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.source import Source, VolumeInjection
from unda.problem.timefunction import ricker

SOURCE = VolumeInjection(np.array([503, 491, 507]), ricker(10.0))


class Jelly(Acoustic):
    physics = "jelly"


def test_volume_injection_drives_pressure_by_the_bulk_modulus_of_its_cell():
    medium = Acoustic(rho=[1000.0, 2000.0], c=[1500.0, 3000.0])
    assert SOURCE.rates(medium, 0) == {"p": 1000.0 * 1500.0**2}
    assert SOURCE.rates(medium, 1) == {"p": 2000.0 * 3000.0**2}


def test_source_refuses_equations_it_cannot_drive():
    with pytest.raises(ArgumentError, match=r"VolumeInjection drives acoustic.*is jelly"):
        SOURCE.rates(Jelly(rho=1.0, c=1.0), 0)


@pytest.mark.parametrize("position, found", [
    ((1, 2), "has 2 components"),
    ((1, 2, np.nan), r"position\[2\] is nan"),
    ((1, "2", 3), r"position\[1\] is '2'"),
    (5.0, "expected three"),
    ("abc", "expected three"),
])  # fmt: skip
def test_position_must_be_three_finite_numbers(position, found):
    with pytest.raises(ArgumentError, match=found):
        VolumeInjection(position, ricker(10.0))


def test_plain_callables_are_wrapped_for_a_time_step_but_not_saved():
    plain = VolumeInjection((0, 0, 0), np.sin)
    assert plain.time_function(0.1).derivative(0.0) == pytest.approx(1.0, rel=1e-10)
    assert SOURCE.time_function(0.1) is SOURCE.f
    with pytest.raises(ArgumentError, match=r"unda\.sampled"):
        plain.to_config()
    with pytest.raises(ArgumentError, match="f is a ragged list"):
        VolumeInjection((0, 0, 0), [1.0, [2.0, 3.0]])
    with pytest.raises(ArgumentError, match="callable"):
        VolumeInjection((0, 0, 0), 3.0)


def test_configuration_and_pickle_give_the_same_source():
    config = json.loads(json.dumps(SOURCE.to_config()))
    for other in (Source.from_config(config), pickle.loads(pickle.dumps(SOURCE))):
        assert repr(other) == repr(SOURCE) and other.to_config() == SOURCE.to_config()
    moved = Source.from_config({**config, "position": [0, 0, 0]})
    assert moved.to_config() != SOURCE.to_config()
    with pytest.raises(ArgumentError, match=r"'Shout'.*VolumeInjection"):
        Source.from_config({**config, "type": "Shout"})


def sim_of(medium):
    return unda.DG(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), medium, degree=1, device="cpu")


@pytest.mark.parametrize("source, drives", [
    (unda.PointForce((0.5, 0.4, 0.3), ricker(1.0), (1, 0, 0)), "PointForce drives elastic"),
    (unda.MomentTensor((0.5, 0.4, 0.3), ricker(1.0), np.eye(3)), "MomentTensor drives elastic"),
    (unda.CurrentDipole((0.5, 0.4, 0.3), ricker(1.0), (1, 0, 0)), "CurrentDipole drives maxwell"),
])  # fmt: skip
def test_a_simulation_refuses_sources_of_other_waves(source, drives):
    sim = sim_of(Acoustic(rho=1.0, c=1.0))
    with pytest.raises(ArgumentError, match=rf"{drives} waves; the medium is acoustic"):
        sim.add_source(source)
    sim.add_source(VolumeInjection((0.5, 0.4, 0.3), ricker(1.0)))
