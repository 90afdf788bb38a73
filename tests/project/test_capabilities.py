"""What the page of capabilities says can be combined is taken, all else refused: simulations are built.

The table is docs/_ext/capability_table.py, made of the tables by which the code decides. By default
combinations that are taken, in which every pair of values occurs, and those beside them with one value
exchanged; all of them are slow.
"""

import itertools
import sys
from functools import cache
from pathlib import Path

import cuda_device
import numpy as np
import pytest
import unda
from pairwise import pairwise

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "_ext"))

import capability_table as table

SETTINGS = {
    "method": list(table.METHODS),
    "physics": list(table.MEDIA),
    "boundary": list(table.BOUNDARIES),
    "source": list(table.SOURCES),
    "receiver": list(table.RECEIVERS),
}
MIDDLE = (0.4, 0.6, 0.55)


@cache
def mesh(shape, periodic):
    """A box of 8 bricks whose upper half is a region of its own."""
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 4), shape=shape, periodic=(periodic, periodic, False))
    sides = {n: box.boundary_faces[box.boundary_ids == i] for i, n in enumerate(box.boundary_names)}
    return unda.Mesh(box.vertices, box.cells, tags=(box.centroids[:, 2] > 0.5).astype(int), boundaries=sides,
                     periodic=box.periodic, tag_names={"lower": 0, "upper": 1})  # fmt: skip


def source(name, physics, grid=False):
    f = unda.ricker(1.0)
    across = (1, 0, 0) if physics == "maxwell" else None
    where = {"box": ((0.5,) * 3, (0.75,) * 3)} if grid else {"region": "upper"}
    return {
        "VolumeInjection": lambda: unda.VolumeInjection(MIDDLE, f),
        "PointForce": lambda: unda.PointForce(MIDDLE, f, (0, 0, 1)),
        "MomentTensor": lambda: unda.MomentTensor(MIDDLE, f, np.eye(3)),
        "CurrentDipole": lambda: unda.CurrentDipole(MIDDLE, f, (0, 0, 1)),
        "Array": lambda: unda.Array([MIDDLE], f, direction=(0, 0, 1) if physics == "maxwell" else None),
        "PlaneWave": lambda: unda.PlaneWave((0, 0, 1), across, f=f, **where),
    }[name]()


def build(method, physics, boundary, source_name, receiver, engine="cpu"):
    """Build a simulation of a combination; raises if it is refused."""
    medium = table.medium_of(physics)
    condition = unda.exact.plane_wave(medium, k=(0, 0, 1), **({"kind": "p"} if physics == "elastic" else {}),
                                      **({"polarization": (1, 0, 0)} if physics == "maxwell" else {})
                                      ) if boundary == "exact" else boundary  # fmt: skip
    if boundary in table.LAYERS:
        condition = table.layer_of(boundary, method.startswith("FD"))
    more = {"device": engine, "threads": 1} if engine == "cpu" else {"device": engine}
    if method.startswith("FD"):
        grid = unda.Grid((6, 6, 6), 0.25)
        sim = unda.FD(grid, medium, order=2, scheme=method.split()[1], boundary={"*": condition}, **more)
    else:
        periodic = boundary == "periodic"
        sides = {"*": "absorbing" if periodic else condition}
        if source_name == "PlaneWave":  # walls beside its region are refused for the sake of the wave
            sides = {"*": "absorbing"} | ({} if periodic else {"zmin": condition})
        on = mesh("tet" if method == "DG, tetrahedra" else "hex", periodic)
        sim = (unda.SEM if method == "SEM" else unda.DG)(on, medium, degree=2, boundary=sides, **more)
    with sim:
        sim.add_source(source(source_name, physics, method.startswith("FD")))
        sim.add_receivers([(0.3, 0.45, 0.3)], [receiver])


def differs(case, allowed):
    """Say how the code and a table differ in a combination, or return None."""
    try:
        build(*case.values())
    except unda.ArgumentError as error:
        return f"{case} is refused: {error}" if allowed(**case) else None
    return None if allowed(**case) else f"{case} is taken"


def same_as_the_table(cases, allowed=table.allowed):
    return [found for case in cases if (found := differs(case, allowed))]


def one_aside():
    """Combinations that are taken, each with one value exchanged by every other: refused for that alone."""
    for method, one in table.METHODS.items():
        for physics in SETTINGS["physics"]:
            known = physics if physics in one.physics else one.physics[0]
            usual = one.boundaries(known)[0], one.sources(known)[0], one.receivers(known)[0]
            case = dict(zip(SETTINGS, (method, physics, *usual), strict=True))
            yield case
            if physics in one.physics:
                for name in ("boundary", "source", "receiver"):
                    yield from ({**case, name: value} for value in SETTINGS[name])


def test_the_code_takes_what_the_table_says_and_refuses_all_else():
    cases = [*one_aside(), *pairwise(SETTINGS, valid=lambda case: table.allowed(**case))]
    assert same_as_the_table(cases) == []
    taken = sum(table.allowed(**case) for case in cases)
    assert 50 < taken < len(cases) - 50


def test_a_table_that_is_wrong_in_one_place_is_noticed():
    def more(**case):
        return table.allowed(**{**case, "source": "VolumeInjection"}) if case["method"] == "SEM" else False

    case = {
        "method": "SEM",
        "physics": "elastic",
        "boundary": "free",
        "source": "PlaneWave",
        "receiver": "vx",
    }
    assert same_as_the_table([case]) == [] and "is refused" in same_as_the_table([case], more)[0]


#: Sources that were promised, whatever the tables say by now.
POINTS = {
    "acoustic": {"VolumeInjection"},
    "elastic": {"VolumeInjection", "PointForce", "MomentTensor"},
    "maxwell": {"CurrentDipole"},
}


def test_no_table_has_lost_what_was_promised():
    physics = {name: set(one.physics) for name, one in table.METHODS.items()}
    every = set(POINTS)
    assert physics["DG, tetrahedra"] == physics["DG, hexahedra"] == physics["FD, staggered"] == every
    assert physics["SEM"] == every - {"maxwell"} and physics["FD, scalar"] == {"acoustic"}
    for one in table.METHODS.values():
        for name in one.physics:
            assert POINTS[name] <= set(one.sources(name))


def test_layers_are_those_that_the_methods_have():
    taken = {
        name: {layer for physics in one.physics for layer in table.LAYERS if layer in one.boundaries(physics)}
        for name, one in table.METHODS.items()
    }
    assert taken == {
        "DG, tetrahedra": {"CPML"},
        "DG, hexahedra": {"CPML"},
        "SEM": {"Damping"},
        "FD, scalar": {"CPML", "Damping"},
        "FD, staggered": {"CPML"},
    }


@pytest.mark.slow
@pytest.mark.parametrize("method", list(table.METHODS))
def test_all_combinations_are_as_the_table_says(method):
    cases = [dict(zip(SETTINGS, one, strict=True)) for one in itertools.product(*SETTINGS.values())]
    assert same_as_the_table([case for case in cases if case["method"] == method]) == []


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("method", list(table.METHODS))
def test_the_cuda_engine_takes_the_same(method):
    cuda_device.prepare()
    own = {**SETTINGS, "method": [method], "engine": ["cuda"]}
    cases = pairwise(own, valid=lambda case: table.allowed(**case)) + pairwise(own)[::10]
    assert same_as_the_table(cases) == []
