"""Promises about spectral elements in parts on the CPU: the results of one device but for rounding.

Tolerances: sem_team_cases.py. The same on CUDA devices: test_sem_team_cuda.py.
"""

import warnings

import numpy as np
import pytest
import unda
from hypothesis import given, settings
from hypothesis import strategies as st
from pairwise import pairwise
from sem_cuda_cases import add_points, bits_of, made, noise
from sem_team_cases import CASE, PROMISED, apart, compare, run
from team_cases import any_partition
from unda.errors import ArgumentError, UnstableError

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

SETTINGS = {
    "kind": ("solid", "fluid", "coupled"),
    "degree": (2, 3, 4),
    "dtype": ("float32", "float64"),
    "cells": ("sheared", "warped", "curved"),
    "boundary": ("free", "hard", "mirror", "absorbing", "mixed", "periodic"),
    "per": ("cell", "node"),
    "source": ("force", "moment", "volume", "none"),
    "parts": (2, 3, 5),
    "seed": (None, 1, 2),
}


def name_of(case):
    return "-".join(map(str, case.values()))


def in_parts(case, device="cpu", **options):
    """A simulation of a case in its parts; seed None: of ranges of the curve."""
    return made([device] * case["parts"], case, seed=case["seed"], **options)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "case", pairwise(SETTINGS, drawn=3000), ids=lambda case: "-".join(map(str, case.values()))
)
def test_parts_agree_with_one_device(case):
    """Fields, traces, energy, stable step: all kinds, boundaries, sources, on cut faces and vertices too."""
    one, parts = made("cpu", case), in_parts(case)
    assert parts.dt == pytest.approx(one.dt, rel=1e-4 if case["dtype"] == "float32" else 1e-12)
    parts = in_parts(case, dt=one.dt)
    compare(run(one, case["source"]), run(parts, case["source"]), PROMISED[case["dtype"]])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(SETTINGS["kind"]),
    periodic=st.booleans(),
    num=st.integers(2, 6),
    seed=st.integers(0, 2**20),
)
def test_any_assignment_of_cells_agrees_with_one_device(kind, periodic, num, seed):
    case = CASE | {"kind": kind, "degree": 2, "boundary": "periodic" if periodic else "mixed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unda.AccuracyWarning)
        one = made("cpu", case)
        compare(run(one), run(in_parts(case | {"parts": num, "seed": seed}, dt=one.dt)), PROMISED["float64"])


def test_each_cell_may_be_a_part():
    """Vertices that eight parts share, and solids whose neighbours in the fluid are all in other parts."""
    case = CASE | {"degree": 2, "parts": 18, "seed": 0}
    one = made("cpu", case)
    compare(run(one), run(in_parts(case, dt=one.dt)), PROMISED["float64"])


def test_a_solid_and_a_fluid_may_be_in_different_parts():
    one = made("cpu", CASE)
    for swapped in (False, True):
        partition = unda.Partition(one.mesh, one._fluid != swapped)
        sim = made(["cpu"] * 2, CASE, dt=one.dt, mesh=one.mesh, partition=partition)
        compare(run(made("cpu", CASE)), run(sim), PROMISED["float64"])


def test_a_receiver_takes_the_mean_of_cells_in_any_parts():
    """Stresses jump at vertices: where materials are alike the value is the mean of eight cells."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex", perturb=0.2, seed=1)
    medium, found = unda.Elastic(rho=1.0, vp=1.0, vs=0.5), []
    for device in ("cpu", ["cpu"] * 5):
        where = {"partition": any_partition(mesh, 5, 1)} if device != "cpu" else {}
        sim = unda.SEM(mesh, medium, degree=2, dtype="float64", dt=0.01, device=device, **where)
        sim.set(ux=noise(0), uy=noise(1))
        inside = ((mesh.vertices > 0.1) & (mesh.vertices < 0.9)).all(axis=1)
        rec = sim.add_receivers(mesh.vertices[inside], ["sxx", "ux"])
        sim.step(3)
        found.append([rec["sxx"], rec["ux"], *sim.sample(mesh.vertices[inside], ["sxx"]).values()])
    for one, parts in zip(*found, strict=True):
        assert apart(one, parts) < PROMISED["float64"]


def test_a_wrong_sum_is_seen():
    """The negative twin of all of these: a source that two parts each take for their own."""
    case = CASE | {"parts": 3, "seed": 1}
    one = made("cpu", case)
    other = in_parts(case, dt=one.dt)
    other.add_source(unda.PointForce(one.mesh.centroids[0], unda.ricker(2.0), (1e-6, 0, 0)))
    with pytest.raises(AssertionError):
        compare(run(one), run(other), PROMISED["float64"])


# ---- from run to run ----


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_runs_in_parts_repeat_bit_for_bit_however_they_are_cut_on_any_threads(dtype):
    case = CASE | {"parts": 3, "seed": 1, "dtype": dtype}
    found = []
    for steps, threads in (((2, 8), 1), ((2, 8), 3), ((2, 1, 1, 3, 3), 2)):
        sim = in_parts(case, threads=threads)
        add_points(sim, "force")
        for num in steps:
            sim.step(num)
        found.append(bits_of(sim))
    assert found[0] == found[1] == found[2]


def test_a_state_that_was_set_is_what_one_device_has():
    """Displacements and velocities are copied, and walls remove the same."""
    case = CASE | {"parts": 5, "seed": 1}
    one, parts = made("cpu", case), in_parts(case)
    for name in one._known.initial:
        np.testing.assert_array_equal(one.get(name), parts.get(name))


def test_a_checkpoint_goes_on_in_any_number_of_parts(tmp_path):
    case = CASE | {"parts": 3, "seed": None, "degree": 2}
    one = made("cpu", case)
    sim = in_parts(case, dt=one.dt)
    for each in (one, sim):
        add_points(each, "force")
    one.step(8)
    for i, device in enumerate((["cpu"] * 2, None, "cpu")):
        sim.step(2)
        sim.save(tmp_path / f"{i}.h5")
        sim = unda.load(tmp_path / f"{i}.h5", device=device)
        assert (sim.team.partition.num if sim.team else 1) == (2, 2, 1)[i]
    sim.step(2)
    compare(one, sim, PROMISED["float64"])


def test_a_team_blows_up_where_one_device_does():
    """At the same step, and with the state of the last good one."""
    case, found = CASE | {"parts": 3, "seed": 1, "degree": 2}, []
    for make in (lambda **options: made("cpu", case, **options), lambda **options: in_parts(case, **options)):
        sim = make(dt=0.7, allow_unstable=True)
        with pytest.raises(UnstableError) as caught:
            for _ in range(100):
                sim.step(5)
        found.append((caught.value.step, sim.step_count, sim.get("ux")))
    assert found[0][:2] == found[1][:2]
    assert np.isfinite(found[1][2]).all()
    assert apart(found[0][2], found[1][2]) < 1e-9  # rounding grows as the state does


# ---- what users ask ----


def test_a_team_says_what_travels():
    """A plane of 3 x 3 cells of degree 2 has 49 nodes, of three unknowns, in each direction."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (4, 3, 3), shape="hex")
    partition = unda.Partition(mesh, mesh.centroids[:, 0] > 0.5)
    medium = unda.Elastic(rho=1.0, vp=1.0, vs=0.5)
    sim = unda.SEM(mesh, medium, degree=2, device=["cpu"] * 2, partition=partition)
    for member in sim.team.members:
        assert member[1:] == (18, 9, 0, 9, 49, 1, 49 * 3 * 4, 0)
    assert "2 parts, 1176 bytes a stage by memory" in repr(sim)
    assert "shared nodes" in repr(sim.team)
    assert "ghosts" not in repr(sim.team)
    assert unda.SEM(mesh, medium, degree=2, device="cpu").team is None


def test_parts_that_share_nothing_send_nothing():
    left = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
    vertices = np.concatenate([left.vertices, left.vertices + np.array((5.0, 0, 0))])
    mesh = unda.Mesh(vertices, np.concatenate([left.cells, left.cells + len(left.vertices)]))
    medium, found = unda.Acoustic(rho=1.0, c=1.0), []
    for options in (
        {"device": "cpu"},
        {"device": ["cpu"] * 2, "partition": unda.Partition(mesh, mesh.centroids[:, 0] > 3)},
    ):
        sim = unda.SEM(mesh, medium, degree=2, dt=0.01, dtype="float64", **options)
        sim.set(chi=noise(1))
        sim.step(4)
        found.append(sim.get("chi"))
    assert sim.team.members[0].bytes_per_stage == 0
    assert apart(*found) < PROMISED["float64"]


def test_errors_name_cells_of_the_whole_mesh():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex")
    rho = np.ones(mesh.num_elem)
    rho[17] = 1e300
    with pytest.raises(ArgumentError, match=r"^element 17: its coefficients reach"):
        unda.SEM(mesh, unda.Acoustic(rho=rho, c=1.0), degree=2, device=["cpu"] * 4)
    sim = made(["cpu"] * 3, CASE)
    state = {name: sim.get(name) for name in ("ux", "chi")}
    state["ux"][np.flatnonzero(~sim._fluid)[1]] += 1
    with pytest.raises(ArgumentError, match="which shares the node; expected one value"):
        sim.set(**state)


def test_parts_on_the_cpu_are_for_tests(monkeypatch):
    monkeypatch.delenv("UNDA_CPU_PARTS")
    with pytest.raises(ArgumentError, match="parts of one process on the CPU take turns"):
        made(["cpu"] * 2, CASE)
