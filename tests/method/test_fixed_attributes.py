"""What says how an object was made cannot be set: it would change nothing, and nobody would notice."""

import copy
import inspect
import pickle

import numpy as np
import pytest
import unda

ACOUSTIC = unda.Acoustic(rho=1.0, c=1.0)


def made():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    sims = {
        "DG": unda.DG(mesh, ACOUSTIC, degree=1, device="cpu"),
        "SEM": unda.SEM(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex"), ACOUSTIC, device="cpu"),
        "FD": unda.FD(unda.Grid((9, 9, 9), 0.1), ACOUSTIC, device="cpu"),
    }
    receivers = sims["DG"].add_receivers([(0.2, 0.3, 0.4)])
    return sims | {"Mesh": mesh, "Acoustic": ACOUSTIC, "Receivers": receivers}


OBJECTS = made()


def public(one):
    """Names of attributes that are no methods."""
    names = [name for name in dir(one) if not name.startswith("_")]
    return [name for name in names if not inspect.ismethod(inspect.getattr_static(one, name)) and
            not callable(getattr(one, name))]  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_no_public_attribute_can_be_set(name):
    one = OBJECTS[name]
    free = {"Mesh": {"origin"}, "Receivers": {"name"}}.get(name, set())
    found = public(one)
    assert len(found) > 5
    for attribute in found:
        value = getattr(one, attribute)
        if attribute in free:
            setattr(one, attribute, value)
            continue
        with pytest.raises(unda.ArgumentError, match=rf"\.{attribute} cannot be set: "):
            setattr(one, attribute, value)
    one.note = "anything else can"
    assert one.note == "anything else can"


@pytest.mark.parametrize(
    ("name", "attribute", "advice"),
    [
        ("DG", "dt", r"DG.dt cannot be set: make another simulation with dt=, cfl= or sample_dt="),
        ("FD", "dt", r"with dt=, cfl= or sample_dt="),
        ("SEM", "degree", r"make another simulation with degree="),
        ("FD", "order", r"make another simulation with order="),
        ("DG", "t", r"sim.set\(..., t=\) and sim.reset\(\) start the clock"),
        ("DG", "p", r"DG.p cannot be set: sim.set\(p=...\) sets a field"),
        ("DG", "receivers", r"sim.add_receivers"),
        ("Acoustic", "rho", r"Acoustic.rho cannot be set: make another medium with rho="),
        ("Mesh", "tags", r"make another mesh"),
        ("Receivers", "every", r"sim.add_receivers\(...\) adds others"),
    ],
)
def test_the_message_says_what_to_do(name, attribute, advice):
    with pytest.raises(unda.ArgumentError, match=advice):
        setattr(OBJECTS[name], attribute, 0.001)


def test_copies_of_what_is_fixed_work():
    for one in (copy.copy(ACOUSTIC), copy.deepcopy(ACOUSTIC), pickle.loads(pickle.dumps(ACOUSTIC))):
        assert np.array_equal(one.on(OBJECTS["Mesh"]), ACOUSTIC.on(OBJECTS["Mesh"]))


def test_sources_are_fixed_once_a_simulation_has_them():
    sim = unda.DG(
        OBJECTS["Mesh"], ACOUSTIC, degree=1, device="cpu", boundary={"xmin": "rigid", "*": "absorbing"}
    )
    source = unda.VolumeInjection((0.1, 0.2, 0.3), unda.ricker(2.0))
    wave = unda.PlaneWave((1, 0, 0), f=unda.ricker(2.0), scatterer="xmin")
    source.position = (0.3, 0.4, 0.5)
    sim.add_source(source)
    sim.add_source(wave)
    for one, name in ((source, "position"), (source, "f"), (wave, "amplitude"), (wave, "direction")):
        with pytest.raises(unda.ArgumentError, match=rf"\.{name} cannot be set: it was added"):
            setattr(one, name, getattr(one, name))
    assert copy.copy(source).position == (0.3, 0.4, 0.5)
