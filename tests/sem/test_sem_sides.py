"""Sides: dashpots take waves, walls hold what they should, in any direction."""

import numpy as np
import pytest
import unda
from hex_meshes import boundaries_of
from sem_cases import solid_and_fluid, start, wave

PULSE = unda.gaussian(3.0, t0=-0.5)  # 1e-10 of its peak half a metre away


@pytest.mark.parametrize("kind", ["sound", "p", "s"])
def test_a_pulse_leaves_through_an_absorbing_side_at_normal_incidence(kind):
    """What stays is an error of the mesh: 1e-3 of the amplitude."""
    speeds = {"p": (1.0, 0.5), "s": (1.9, 1.0)}
    medium = unda.Acoustic(rho=2.0, c=1.0)
    if kind != "sound":
        medium = unda.Elastic(rho=2.0, vp=speeds[kind][0], vs=speeds[kind][1])
    given = {} if kind == "sound" else {"kind": kind, "polarization": (0, 0, 1) if kind == "s" else None}
    pulse = unda.exact.plane_wave(medium, direction=(1, 0, 0), f=PULSE, **given)
    mesh = unda.box_mesh((0, 0, 0), (1, 0.1, 0.1), (8, 1, 1), shape="hex", periodic=(False, True, True))
    sim = unda.SEM(mesh, medium, degree=5, dtype="float64")
    sim.set(pulse)
    before = sim.energy()
    sim.run(until=1.5)
    assert sim.energy() <= 1e-6 * before


@pytest.mark.parametrize("wall", ["absorbing", "symmetry", "fixed"])
def test_results_turn_with_the_mesh(wall):
    """Matrices of dashpots and subspaces of walls, on edges and corners too, have no preferred axes."""
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    mesh, medium = solid_and_fluid()
    again = unda.Mesh(mesh.vertices @ turn.T, mesh.cells, boundaries=boundaries_of(mesh))
    f = np.stack([wave(i)(*np.moveaxis(mesh.coordinates(3), 2, 0)) for i in range(3)], axis=-1)
    chi = wave(5)(*np.moveaxis(mesh.coordinates(3), 2, 0))
    found = []
    for one, u in ((mesh, f), (again, f @ turn.T)):
        sim = unda.SEM(
            one,
            medium,
            degree=3,
            boundary={"xmin": wall, "ymax": wall, "*": "free"},
            dtype="float64",
            dt=5e-3,
        )
        sim.set(**{f"v{axis}": u[..., i] for i, axis in enumerate("xyz")}, chi=chi)
        sim.step(40)
        found.append((np.stack([sim.get(f"u{axis}") for axis in "xyz"], axis=-1), sim.get("chi")))
    (u, chi), (turned, chi_turned) = found
    assert np.abs(u @ turn.T - turned).max() <= 1e-11 * np.abs(u).max()
    assert np.abs(chi - chi_turned).max() <= 1e-11 * np.abs(chi).max()


def test_a_symmetric_side_is_a_mirror():
    """Half of a box with a plane of symmetry, solid below a fluid, beside the whole of it."""
    found = []
    for size, cells in ((2.0, 4), (1.0, 2)):
        mesh = unda.box_mesh((0, 0, 0), (size, 1, 1), (cells, 2, 2), shape="hex")
        wet = mesh.centroids[:, 2] > 0.5
        medium = unda.Elastic(rho=np.where(wet, 1.0, 2.0), vp=2.0, vs=np.where(wet, 0.0, 1.0))
        sides = {"xmax": "absorbing" if size == 2.0 else "symmetry", "*": "absorbing"}
        sim = unda.SEM(mesh, medium, degree=4, boundary=sides, dtype="float64", dt=4e-3)
        even, odd = (
            (lambda x, y, z: np.cos(np.pi * (x - 1)) * y),
            (lambda x, y, z: np.sin(np.pi * (x - 1)) * z),
        )
        sim.set(ux=odd, uz=even, chi=even)
        sim.step(60)
        found.append(sim.sample([(0.3, 0.4, 0.2), (0.8, 0.7, 0.7)], ["ux", "uy", "uz", "pressure"]))
    for name, values in found[0].items():
        assert np.abs(values - found[1][name]).max() <= 1e-11 * np.abs(values).max()


def test_fixed_sides_of_solids_do_not_move_and_fluids_slide():
    mesh, medium = solid_and_fluid()
    sim = start(unda.SEM(mesh, medium, degree=3, boundary={"*": "fixed"}, dtype="float64"))
    sim.step(50)
    on = (np.abs(sim.coordinates - 0.5) > 0.5 - 1e-9).any(axis=2)
    dry = ~sim._fluid[:, None]
    for name in ("ux", "uy", "uz", "vx"):
        assert not sim.get(name)[on & dry].any() and sim.get(name)[~on & dry].all()
    assert np.abs(sim.get("chi")[on & ~dry]).min() > 0


def test_a_free_fluid_has_no_pressure_on_its_surface():
    medium = unda.Acoustic(rho=1.0, c=1.0)
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), shape="hex")
    mode = unda.exact.free_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 1))
    sim = unda.SEM(mesh, medium, degree=4, boundary={"*": "free"}, dtype="float64", cfl=0.3)
    sim.set(mode)
    sim.run(until=0.1)
    on = (np.abs(sim.coordinates - 0.5) > 0.5 - 1e-9).any(axis=2)
    assert not sim.get("p")[on].any()
    assert sim.error(mode, relative=True)["chi"] < 1e-3


def test_a_ring_between_curved_walls_of_symmetry_turns_for_ever():
    """Cells of 27 nodes, of degree 2: the rotation (-y, x) is in the elements, without strain, and at
    vertices and middles of sides the walls' normals are radial, by symmetry. So it stays to rounding: 100
    steps, eps over the least spacing of nodes, 0.1, each.
    """
    angle, across, up = (
        np.append(np.arange(32) * np.pi / 16, 0.0),
        np.linspace(1, 1.5, 3),
        np.linspace(0, 0.25, 3),
    )
    r, a, z = np.meshgrid(across, angle, up, indexing="ij")
    ring = unda.mapped_mesh(r * np.cos(a), r * np.sin(a), z, curved=True)

    def turning(wall):
        sim = unda.SEM(
            ring, unda.Elastic(rho=1.0, vp=1.8, vs=1.0), degree=2, device="cpu", dtype="float64",
            boundary={"xmin": wall, "xmax": wall, "*": "symmetry"},
        )  # fmt: skip
        sim.set(vx=lambda x, y, z: -y, vy=lambda x, y, z: x)
        sim.step(100)
        x, y, _ = np.moveaxis(sim.coordinates, -1, 0)
        return max(np.abs(sim.get("vx") + y).max(), np.abs(sim.get("vy") - x).max())

    assert turning("symmetry") < 100 * np.finfo(float).eps / 0.1
    assert turning("fixed") > 0.5
