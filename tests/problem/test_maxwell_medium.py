"""A Maxwell medium is given in SI units or relative to vacuum; a current dipole drives E in it.

Not here: what all media share (test_medium.py), what all sources share (test_sources.py).
Next: python/unda/problem/medium.py.
"""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.problem.source import CurrentDipole, Source
from unda.problem.timefunction import ricker

MESH = SimpleNamespace(
    num_elem=3,
    tags=np.array([7, 3, 7], dtype=np.int32),
    tag_names={"glass": 3, "air": 7},
    centroids=np.arange(9.0).reshape(3, 3),
)


def half(x, y, z):
    return 1.0 + 0.5 * x


def test_vacuum_has_the_speed_of_light_and_codatas_constants():
    assert unda.Maxwell(eps_r=1.0).speed_max(MESH) == pytest.approx(299792458.0, rel=1e-15)
    # CODATA 2022: 8.854 187 8188(14)e-12 F/m, 1.256 637 061 27(20)e-6 N/A^2
    assert pytest.approx(8.8541878188e-12, rel=1.6e-10) == unda.EPS0
    assert unda.MU0 == 1.25663706127e-6


def test_nothing_given_is_vacuum_and_relative_values_bring_the_other_one():
    assert unda.Maxwell().scalar() == {"eps": unda.EPS0, "mu": unda.MU0, "sigma": 0.0}
    assert unda.Maxwell(sigma=3.0).scalar() == {"eps": unda.EPS0, "mu": unda.MU0, "sigma": 3.0}
    assert unda.Maxwell(eps_r=4.0).scalar() == {"eps": 4.0 * unda.EPS0, "mu": unda.MU0, "sigma": 0.0}
    assert unda.Maxwell(mu_r=4.0).scalar() == {"eps": unda.EPS0, "mu": 4.0 * unda.MU0, "sigma": 0.0}


@pytest.mark.parametrize("one, other", [("eps", "mu"), ("mu", "eps")])
def test_one_absolute_value_without_the_other_is_refused(one, other):
    """Which unit the other one would have is anybody's guess."""
    with pytest.raises(ArgumentError, match=f"got {one} without {other}; expected both"):
        unda.Maxwell(**{one: 1.0})
    assert unda.Maxwell(**{one: 2.0, other: 1.0}).scalar()[one] == 2.0


@pytest.mark.parametrize("names", ["eps and eps_r", "mu and mu_r", "eps and mu_r", "mu and eps_r"])
def test_absolute_and_relative_values_together_are_refused(names):
    with pytest.raises(ArgumentError, match=f"got {names}; expected absolute values or relative ones"):
        unda.Maxwell(**dict.fromkeys(names.split(" and "), 1.0))


@pytest.mark.parametrize("given, expected", [
    (2.0, [2.0, 2.0, 2.0]),
    ({"glass": 2.25, "air": 1.0}, [1.0, 2.25, 1.0]),
    ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    (half, 1.0 + 0.5 * MESH.centroids[:, 0]),
])  # fmt: skip
def test_relative_values_of_every_kind_reach_their_cells(given, expected):
    medium = unda.Maxwell(eps_r=given, mu_r=given, sigma=0.5)
    columns = [unda.EPS0 * np.array(expected), unda.MU0 * np.array(expected), np.full(3, 0.5)]
    for one in (medium, pickle.loads(pickle.dumps(medium))):
        assert np.array_equal(one.on(MESH), np.stack(columns, axis=1))
    assert medium.at(1, MESH)["eps"] == unda.EPS0 * expected[1]
    speeds = 299792458.0 / np.array(expected)
    assert medium.speed_min(MESH) == pytest.approx(speeds.min(), rel=1e-14)
    assert medium.speed_max(MESH) == pytest.approx(speeds.max(), rel=1e-14)


@pytest.mark.parametrize("given, found", [
    ({"eps": 0.0, "mu": 1.0}, r"^eps is 0\.0; expected finite and > 0 \[F/m\]"),
    ({"eps": 1.0, "mu": -1.0}, r"^mu is -1\.0; expected finite and > 0 \[H/m\]"),
    ({"eps_r": [1.0, -2.0]}, r"^eps_r has 1 bad values among 2, the first is eps_r\[1\] = -2\.0"),
    ({"mu_r": np.nan}, r"^mu_r is nan; expected finite and > 0$"),
    ({"sigma": -1e-9}, r"^sigma is -1e-09; expected finite and >= 0 \[S/m\]"),
    ({"sigma": np.inf}, r"^sigma is inf"),
    ({"sigma": {"air": -1.0}}, r"sigma\['air'\] is -1\.0"),
])  # fmt: skip
def test_values_that_cannot_be_are_named(given, found):
    with pytest.raises(ArgumentError, match=found):
        unda.Maxwell(**given)


def test_fields_units_and_groups_belong_together():
    assert unda.Maxwell.fields == ("ex", "ey", "ez", "hx", "hy", "hz")
    assert tuple(unda.Maxwell.units) == unda.Maxwell.fields
    assert tuple(sum(unda.Maxwell.field_groups.values(), ())) == unda.Maxwell.fields


def test_repr_and_configuration_tell_media_apart():
    assert repr(unda.Maxwell(eps=2.0, mu=1.0)) == "unda.Maxwell(eps=2.0, mu=1.0, sigma=0.0)"
    media = [unda.Maxwell(eps_r=one) for one in (2.0, {"air": 2.0}, [2.0], half)]
    assert len({json.dumps(medium.to_config()) for medium in media}) == len(set(map(repr, media))) == 4
    assert "* half" in repr(media[-1])


def test_current_dipole_drives_minus_e_along_its_direction():
    source = CurrentDipole((1.0, 2.0, 3.0), ricker(1.0), (3.0, 0.0, -4.0))
    assert source.direction == pytest.approx((0.6, 0.0, -0.8), rel=1e-15)
    rates = source.rates(unda.Maxwell(eps=[2.0, 4.0], mu=7.0), 1)
    assert rates == pytest.approx({"ex": -0.15, "ez": 0.2}, rel=1e-15)
    with pytest.raises(ArgumentError, match="CurrentDipole drives maxwell waves; the medium is acoustic"):
        source.rates(unda.Acoustic(rho=1.0, c=1.0), 0)
    with pytest.raises(ArgumentError, match=r"direction is .*expected a vector of length > 0"):
        CurrentDipole((0, 0, 0), ricker(1.0), (0, 0, 0))
    with pytest.raises(ArgumentError, match="direction has 2 components"):
        CurrentDipole((0, 0, 0), ricker(1.0), (0, 1))


def test_current_dipole_keeps_its_direction_in_configuration_and_pickle():
    source = CurrentDipole((1.0, 2.0, 3.0), ricker(1.0), (3.0, 1.0, -4.0))
    assert repr(source).endswith("direction=[3.0, 1.0, -4.0])")
    config = json.loads(json.dumps(source.to_config()))
    for other in (Source.from_config(config), pickle.loads(pickle.dumps(source))):
        assert (repr(other), other.direction) == (repr(source), source.direction)
