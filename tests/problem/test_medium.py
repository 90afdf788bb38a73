"""Media give every cell its values, and name the first value that cannot be.

Not here: meshes (a stand-in with the four attributes that a medium reads serves).
Next: python/unda/problem/medium.py.
"""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic

MESH = SimpleNamespace(
    num_elem=5,
    tags=np.array([7, 3, 7, 7, 3], dtype=np.int32),
    tag_names={"rock": 3, "sea": 7, "unused": 9},
    centroids=np.arange(15.0).reshape(5, 3),
)
ROCK_AND_SEA = {"rock": 2500.0, "sea": 1000.0}


def linear(x, y, z):
    return 1500.0 + 2.0 * x + 3.0 * y - z


def test_numbers_tags_arrays_and_functions_reach_their_cells():
    on = Acoustic(rho=1000, c=np.float32(1500.0)).on(MESH)
    assert on.shape == (5, 2) and on.dtype == np.float64 and on.flags.c_contiguous
    assert np.array_equal(on, np.tile([1000.0, 1500.0], (5, 1)))
    rho = Acoustic(rho=ROCK_AND_SEA, c=1.0).on(MESH)[:, 0]
    assert np.array_equal(rho, [1000.0, 2500.0, 1000.0, 1000.0, 2500.0])
    on = Acoustic(rho=[1, 2, 3, 4, 5], c=linear).on(MESH)
    assert np.array_equal(on[:, 0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert np.array_equal(on[:, 1], linear(*MESH.centroids.T))


def test_one_cell_has_the_values_of_the_whole_mesh():
    for medium in (
        Acoustic(rho=ROCK_AND_SEA, c=linear),
        Acoustic(rho=[1.0, 2.0, 3.0, 4.0, 5.0], c=1500.0),
    ):
        for cell, row in enumerate(medium.on(MESH)):
            assert medium.at(cell, MESH) == {"rho": row[0], "c": row[1]}
    assert Acoustic(rho=[1.0, 2.0], c=3.0).at(1) == {"rho": 2.0, "c": 3.0}
    for cell in (-1, 2):
        with pytest.raises(ArgumentError, match=r"0\.\.1"):
            Acoustic(rho=[1.0, 2.0], c=3.0).at(cell)
        with pytest.raises(ArgumentError, match=r"0\.\.4"):
            Acoustic(rho=linear, c=3.0).at(cell + 3 if cell > 0 else cell, MESH)
    with pytest.raises(ArgumentError, match="rho is given by tag names; expected the mesh"):
        Acoustic(rho=ROCK_AND_SEA, c=3.0).at(0)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, -np.inf])
def test_values_that_cannot_be_are_named_with_index_and_count(bad):
    for name in ("rho", "c"):
        good = {"rho": 1000.0, "c": 1500.0}
        with pytest.raises(ArgumentError, match=f"^{name} is {bad}; expected finite and > 0"):
            Acoustic(**{**good, name: bad})
        with pytest.raises(ArgumentError, match=rf"{name}\['sea'\] is {bad}"):
            Acoustic(**{**good, name: {"rock": 1.0, "sea": bad}})
        values = np.array([1.0, 2.0, bad, 4.0, bad])
        message = rf"{name} has 2 bad values among 5, the first is {name}\[2\] = {bad}"
        with pytest.raises(ArgumentError, match=message):
            Acoustic(**{**good, name: values})
        with pytest.raises(ArgumentError, match=message):
            Acoustic(**{**good, name: lambda x, y, z, values=values: values}).on(MESH)
        Acoustic(**{**good, name: np.abs(np.nan_to_num(values, posinf=1.0, neginf=1.0)) + 1.0})


@pytest.mark.parametrize("bad, found", [
    ("water", "rho is 'water'"),
    (None, "rho is None"),
    (True, "rho is True"),
    (1j, "rho is 1j"),
    ({}, "empty dict"),
    ([[1.0, 2.0]], r"shape \(1, 2\)"),
    (["a", "b"], "array of <U1"),
    ([True, False], "array of bool"),
    ([1.0 + 1j], "array of complex128"),
])  # fmt: skip
def test_values_of_a_wrong_kind_are_refused(bad, found):
    with pytest.raises(ArgumentError, match=found):
        Acoustic(rho=bad, c=1500.0)


def test_tag_names_must_be_those_of_the_mesh():
    with pytest.raises(ArgumentError, match=r"no value for 'rock'; it has values for 'sea'"):
        Acoustic(rho={"sea": 1.0}, c=1.0).on(MESH)
    message = r"unknown tags 'lava', 'mud'; the mesh has 'rock', 'sea', 'unused'"
    with pytest.raises(ArgumentError, match=message):
        Acoustic(rho={**ROCK_AND_SEA, "mud": 1.0, "lava": 2.0}, c=1.0).on(MESH)
    unnamed = SimpleNamespace(**{**vars(MESH), "tag_names": {"sea": 7}})
    with pytest.raises(ArgumentError, match="'unnamed tag 3'"):
        Acoustic(rho={"sea": 1.0}, c=1.0).on(unnamed)
    Acoustic(rho={**ROCK_AND_SEA, "unused": 1.0}, c=1.0).on(MESH)


def test_arrays_and_functions_must_fit_the_mesh():
    with pytest.raises(ArgumentError, match=r"c has shape \(4,\); expected \(5,\), one value a cell"):
        Acoustic(rho=1.0, c=np.ones(4)).on(MESH)
    with pytest.raises(ArgumentError, match=r"shape \(5, 1\) for coordinates of shape \(5,\)"):
        Acoustic(rho=1.0, c=lambda x, y, z: x[:, None] + 1.0).on(MESH)
    constant = Acoustic(rho=1.0, c=lambda x, y, z: 7.0).on(MESH)
    assert np.array_equal(constant[:, 1], np.full(5, 7.0))


def test_arrays_are_copied_and_a_function_cannot_spoil_the_mesh():
    given = np.ones(5)
    medium = Acoustic(rho=given, c=1.0)
    given[:] = np.nan
    medium.on(MESH)[:] = np.nan
    assert np.array_equal(medium.on(MESH), np.ones((5, 2)))
    before = MESH.centroids.copy()

    def spoil(x, y, z):
        x[:] = np.nan
        return np.ones(5)

    Acoustic(rho=spoil, c=1.0).on(MESH)
    assert np.array_equal(MESH.centroids, before)


def test_speeds_are_those_of_the_mesh():
    medium = Acoustic(rho=1.0, c={"rock": 4000.0, "sea": 1500.0, "unused": 9000.0})
    assert (medium.speed_min(MESH), medium.speed_max(MESH)) == (1500.0, 4000.0)


def test_only_homogeneous_media_are_scalar():
    expected = {"rho": 1000.0, "c": 1500.0}
    for rho in (1000, [1000.0, 1000.0], {"rock": 1000.0, "sea": 1000.0}):
        assert Acoustic(rho=rho, c=1500).scalar() == expected
    with pytest.raises(ArgumentError, match=r"rho has 2 values, from 1000\.0 to 2500\.0"):
        Acoustic(rho=ROCK_AND_SEA, c=1500.0).scalar()
    with pytest.raises(ArgumentError, match="c is a function"):
        Acoustic(rho=1.0, c=linear).scalar()


def test_fields_units_and_groups_belong_together():
    assert Acoustic.physics == "acoustic" and Acoustic.fields == ("p", "vx", "vy", "vz")
    assert tuple(Acoustic.units) == Acoustic.fields
    assert tuple(sum(Acoustic.field_groups.values(), ())) == Acoustic.fields


def test_configuration_and_repr_tell_media_apart():
    values = np.linspace(1.0, 2.0, 5)
    media = [
        Acoustic(rho=1000.0, c=1500.0),
        Acoustic(rho=ROCK_AND_SEA, c=linear),
        Acoustic(rho=values, c=1500.0),
        Acoustic(rho=1.01 * values, c=1500.0),
    ]
    configs = [json.dumps(medium.to_config()) for medium in media]
    assert len(set(configs)) == len(set(map(repr, media))) == len(media)
    assert configs == [json.dumps(pickle.loads(pickle.dumps(m)).to_config()) for m in media]
    plain = Acoustic(rho=1.0, c=lambda x, y, z: 1.0 + x)
    assert repr(plain) == "unda.Acoustic(rho=1.0, c=<lambda>)" != repr(Acoustic(rho=1.0, c=linear))
    assert repr(media[2]) == "unda.Acoustic(rho=<5 values, 1 to 2>, c=1500.0)"


def test_parameters_are_keywords_and_nothing_else():
    for arguments in ((1000.0, 1500.0), ()):
        with pytest.raises(TypeError):
            Acoustic(*arguments)
    with pytest.raises(TypeError, match="vp"):
        Acoustic(rho=1.0, c=1.0, vp=1.0)
