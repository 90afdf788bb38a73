"""Damping layers of SEM: the equation, what returns, energy, both engines, parts, files, refusals."""

import cuda_device
import numpy as np
import pytest
import unda
from sem_cuda_cases import add_points, medium_for, mesh_for, noise, values_of
from sem_team_cases import PROMISED, compare
from unda.errors import ArgumentError
from unda.problem import mesh_damping

cuda_device.prepare()
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
LAYERS = {"xmin": 0.4, "ymax": 0.5, "zmin": 0.3}
UPPER = {"x": 1.0, "y": 1.1, "z": 0.8}


def rate(x, layers, fastest, strength):
    """d at places (.., 3) of the box of mesh_for, from the formula of mesh_damping.py."""
    found = 0.0
    for name, thickness in layers.items():
        at = x[..., "xyz".index(name[0])]
        depth = 1 - (at if name.endswith("min") else UPPER[name[0]] - at) / thickness
        found = found + 2.5 * strength * fastest / thickness * np.maximum(depth, 0) ** 1.5
    return found


def layered(kind, device="cpu", *, layers=LAYERS, degree=3, dtype="float64", **options):
    """A simulation from noise in a warped box of random materials, walls where there are no layers."""
    mesh = mesh_for("warped", "mixed", options.pop("number", None))
    boundary = {name: unda.Damping(thickness=one, R0=0.2, outside=False) for name, one in layers.items()}
    sim = unda.SEM(
        mesh, medium_for(kind, mesh, degree, "cell"), degree=degree, dtype=dtype, device=device,
        boundary={"zmax": "free", "*": "absorbing"} | boundary, **options,
    )  # fmt: skip
    sim.set(**{name: noise(i) for i, name in enumerate(sim._known.initial)})
    return sim


@pytest.mark.parametrize("kind", ["solid", "fluid"])
def test_accelerations_lose_twice_the_rate_times_the_velocity(kind):
    """u'' = .. - 2 d u' at every node, to rounding (test_sem_reference.py), where layers cross too."""
    plain, damped = layered(kind, layers={}), layered(kind)
    x, fastest = plain.coordinates, plain.medium.speed_max(plain.mesh)
    d = rate(x, LAYERS, fastest, -0.5 * np.log(0.2))
    assert (d > 0).mean() > 0.5 > (d == 0).mean() > 0.1
    for level in ("chi_t chi_tt",) if kind == "fluid" else ("vx ax", "vy ay", "vz az"):
        v, a = level.split()
        change, size = damped.get(a) - plain.get(a), np.abs(plain.get(a)).max()
        assert np.abs(change + 2 * d * plain.get(v)).max() <= 1e-12 * size
        assert np.abs(change + 2.00001 * d * plain.get(v)).max() > 1e-12 * size


@pytest.mark.first(1)
@pytest.mark.parametrize("kind", ["s", "sound"])
def test_a_layer_returns_what_the_helmholtz_equation_says(kind):
    """A Ricker pulse of the layer's length, at its front: within 1e-3 of the pulse.

    Time steps of 0.01 shift the phase of f = 1 by (2 pi 0.01)^2 / 24 of the 19 rad there and back: 0.3 %, of
    frequencies up to 2.5 six times as much, of what returns, 4 %; the mesh is finer than that.
    """
    solid = kind == "s"
    medium = unda.Elastic(rho=2.0, vp=2.0, vs=1.0) if solid else unda.Acoustic(rho=2.0, c=1.0)
    given = {"kind": "s", "polarization": (0, 0, 1)} if solid else {}
    pulse = unda.exact.plane_wave(medium, direction=(1, 0, 0), f=unda.ricker(1.0, t0=-1.4), **given)
    mesh = unda.box_mesh((0, 0, 0), (4, 0.2, 0.2), (16, 1, 1), shape="hex", periodic=(False, True, True))
    layer = unda.Damping(thickness=1.0, R0=0.5 if solid else 0.3, outside=False)
    found = []
    for side in ("absorbing", layer):
        sim = unda.SEM(
            mesh, medium, degree=5, dtype="float64", boundary={"xmax": side, "*": "absorbing"}, sample_dt=0.01
        )
        sim.set(pulse)
        rec = sim.add_receivers([[3.0, 0.1, 0.1]], ["vz" if solid else "p"])
        sim.run(until=12.0)
        found.append(rec["vz" if solid else "p"][0])
    direct, with_layer = found
    f = np.fft.rfftfreq(len(direct), sim.dt)
    spectrum = np.fft.rfft(direct)
    peak = np.abs(direct).max()
    # the rate is that of the fastest speed, vp = 2: as of a wave of c = 1 in a layer twice as strong
    strength = -0.5 * np.log(layer.R0) * (2 if solid else 1)

    def wrong(factor):
        back = np.zeros(len(f), complex)
        here = (f > 0) & (f < 8)
        back[here] = mesh_damping.returned(f[here], factor * strength)
        return np.abs(with_layer - direct - np.fft.irfft(back * spectrum, len(direct))).max() / peak

    assert np.abs(with_layer - direct).max() > 0.02 * peak
    assert wrong(1.0) <= 1e-3 < wrong(1.1)


@pytest.mark.parametrize("kind", ["solid", "fluid", "coupled"])
def test_energy_never_grows(kind):
    sim = layered(kind, dt=None, cfl=0.99)
    before = first = sim.energy()
    for _ in range(30):
        sim.step(1)
        now = sim.energy()
        assert now <= before * (1 + 1e-12)
        before = now
    assert before < 0.7 * first


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["solid", "fluid", "coupled"])
def test_a_hundred_thousand_steps_do_not_grow(kind):
    sim = layered(kind, degree=2, cfl=0.99, number=(2, 2, 2))
    first, before = sim.energy(), np.inf
    for _ in range(10):
        sim.step(10_000)
        assert sim.energy() <= min(before, 1e-6 * first)
        before = max(sim.energy(), 1e-24 * first)  # rounding


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("kind", "assembly"),
    [("coupled", "ordered"), pytest.param("solid", "colors", marks=pytest.mark.slow),
     pytest.param("fluid", "ordered", marks=pytest.mark.slow)],
)  # fmt: skip
def test_cuda_devices_do_the_same(kind, assembly):
    """As in test_sem_cuda.py; tiles all of whose nodes are in layers too."""
    one = layered(kind)
    other = layered(kind, "cuda", dt=one.dt, assembly=assembly, kernel_options={"cells": 4})
    for sim in (one, other):
        add_points(sim, "force")
        sim.step(10)
    tolerance = 2 * 2 * 10**2 * 4 * np.finfo(float).eps
    found = values_of(other)
    for name, values in values_of(one).items():
        assert np.abs(values - found[name]).max() < tolerance * np.abs(values).max(), name
        assert np.abs(values - 1.001 * found[name]).max() > tolerance * np.abs(values).max(), name


@pytest.mark.parametrize(
    "device",
    ["cpu", pytest.param("cuda:0", marks=[pytest.mark.slow, pytest.mark.gpu_or_stand_in])],
)
def test_parts_do_the_same(device):
    one = layered("coupled", degree=2)
    other = layered("coupled", [device] * 3, degree=2, dt=one.dt)
    for sim in (one, other):
        add_points(sim, "force")
        sim.step(10)
    compare(one, other, PROMISED["float64"])


def test_a_file_goes_on_with_its_layers(tmp_path):
    sim = layered("coupled", degree=2)
    sim.step(3)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5", device="cpu")
    assert again.config["boundary"] == sim.config["boundary"]
    assert sim.config["boundary"]["ymax"] == {"thickness": 0.5, "R0": 0.2, "outside": False}
    for one in (sim, again):
        one.step(3)
    assert {name: sim.get(name).tobytes() for name in sim.fields} == {
        name: again.get(name).tobytes() for name in sim.fields
    }


def test_r0_follows_from_the_thickness_in_wavelengths():
    """A = 0.35 + 0.2 L f0 / c, from half a wavelength on; without f0 two wavelengths."""
    mesh = unda.box_mesh((0, 0, 0), (9, 1, 1), (9, 1, 1), shape="hex")
    for f0, strength in ((0.5, 0.55), (2.0, 1.15), (None, 0.75), (100.0, 1.95)):
        (layer,) = mesh_damping.place(mesh, {"xmax": unda.Damping(thickness=4.0, f0=f0)}, 2.0).values()
        assert layer.largest == pytest.approx(2.5 * strength * 2.0 / 4.0)
        assert layer.depth(np.array([[9.0, 0, 0], [7.0, 0, 0], [5.0, 0, 0], [0.0, 0, 0]])).tolist() == [
            1,
            0.5,
            0,
            0,
        ]


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        ({"xmin": unda.Damping(thickness=1.0, outside=False), "*": "free"}, "less than the mesh"),
        ({"*": unda.Damping(20)}, r"Damping\(thickness"),
        ({"xmin": unda.CPML(), "*": "free"}, r"Damping\(thickness"),
        ({"zmax": unda.Damping(thickness=0.1), "*": "free"}, "does not lie in a plane"),
    ],
)
def test_layers_that_cannot_be_are_refused(boundary, expected):
    x, y, z = np.meshgrid(*[np.linspace(0, 1, 3)] * 3, indexing="ij")
    hill = unda.mapped_mesh(x, y, z * (1 + 0.1 * x))
    with pytest.raises(ArgumentError, match=expected):
        unda.SEM(hill, unda.Acoustic(rho=1.0, c=1.0), degree=2, boundary=boundary)


@pytest.mark.parametrize("kind", [unda.Damping, unda.CPML])
@pytest.mark.parametrize("tag", [1.5, True])
def test_a_tag_that_is_none_is_refused_at_once(kind, tag):
    with pytest.raises(ArgumentError, match=rf"tag is {tag}; expected the name or the number"):
        kind(tag=tag)
    assert kind(tag=np.int64(1)) == kind(tag=1) and kind(tag="salt").tag == "salt"


def test_other_methods_and_assemblies_refuse_them():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
    medium, layer = unda.Acoustic(rho=1.0, c=1.0), {"*": unda.Damping(thickness=0.4)}
    with pytest.raises(ArgumentError, match="Damping"):
        unda.DG(mesh, medium, degree=2, boundary=layer)
    with pytest.raises(ArgumentError, match="counted in nodes"):
        unda.FD(unda.Grid((9, 9, 9), 0.1), medium, boundary=layer)
    with pytest.raises(ArgumentError, match="atomic"):
        unda.SEM(mesh, medium, degree=2, boundary=layer, assembly="atomic")
    with pytest.raises(ArgumentError, match="periodic by the mesh"):
        box = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex", periodic=(True, False, False))
        unda.SEM(box, medium, degree=2, boundary=layer | {"xmin": unda.Damping(thickness=0.1)})
    for given in (
        {"width": 3, "thickness": 1.0}, {"width": 3, "f0": 3.0}, {"outside": False}, {"thickness": -1.0},
        {"thickness": 1.0, "tag": 2}, {"thickness": 1.0, "R0": 2.0},
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            unda.Damping(**given)


def test_check_says_what_layers_return_and_what_is_in_them():
    mesh = unda.box_mesh((0, 0, 0), (4, 1, 1), (8, 2, 2), shape="hex")
    found = {}
    for thickness in (2.0, 0.5):
        layer = unda.Damping(thickness=thickness, f0=1.0, outside=False)
        sim = unda.SEM(
            mesh, unda.Acoustic(rho=1.0, c=1.0), boundary={"xmax": layer, "*": "rigid"}, device="cpu"
        )
        sim.add_source(unda.VolumeInjection((1.0, 0.3, 0.4), unda.ricker(1.0)))
        sim.add_receivers([(3.0, 0.3, 0.4), (0.5, 0.3, 0.4)])
        found[thickness] = repr(sim.check())
    assert (
        "note: the layer at xmax is 1.8 wavelengths thick at 0.901 Hz, of which it returns up to 3"
        in found[2.0]
    )
    assert "warning: 1 of 2 receivers are in damping layers" in found[2.0]
    assert "warning: the layer at xmax is 0.45 wavelengths thick" in found[0.5]
    assert "in damping layers" not in found[0.5]


def test_layers_outside_are_those_of_the_extended_mesh_and_its_materials():
    """By cell, by node and by place: the material of a layer is that of the cells beside it."""
    mesh = unda.box_mesh((0, 0, 0), (2, 1, 1), (4, 2, 2), shape="hex", perturb=0.2, seed=2)
    sides = {"xmin": 1.0, "zmin": 0.5}
    whole = mesh.extended(sides)
    x = mesh.coordinates(3)
    by_cell = np.random.default_rng(1).uniform(1, 2, mesh.num_elem)

    def speed(x, y, z):
        return 1.0 + 0.2 * np.maximum(x, 0) + 0.1 * np.sin(y) + 0.3 * np.maximum(z, 0)

    at_nodes = speed(*np.moveaxis(x, 2, 0))
    layers = {name: unda.Damping(thickness=one, f0=2.0) for name, one in sides.items()}
    for values, per in ((by_cell, "cell"), (at_nodes, "node"), (speed, "node"), (1.5, "cell")):
        sim = unda.SEM(
            mesh, unda.Acoustic(rho=1.0, c=values, per=per), degree=3, device="cpu",
            boundary=layers | {"*": "free"},
        )  # fmt: skip
        assert sim.mesh.hash == whole.hash
        c = sim._material[..., 1]
        if per == "node":
            assert np.abs(c - speed(*np.moveaxis(whole.coordinates(3), 2, 0))).max() < 1e-12
        elif np.ndim(values):
            assert (c[: mesh.num_elem, 0] == by_cell).all() and set(c.ravel()) <= set(by_cell)
        assert "DOF, damped within 1 m at xmin, 0.5 m at zmin" in repr(sim)
        assert sim.config["boundary"]["xmin"] == {"thickness": 1.0, "f0": 2.0, "outside": False}
    usual = unda.SEM(
        mesh, unda.Acoustic(rho=1.0, c=1.5), degree=2, device="cpu",
        boundary={"xmin": unda.Damping(f0=3.0), "*": "free"},
    )  # fmt: skip
    assert usual.config["boundary"]["xmin"]["thickness"] == 1.0 and usual.mesh.lower == (-1.0, 0.0, 0.0)


def test_cells_of_a_tag_are_a_layer():
    mesh = unda.box_mesh((0, 0, 0), (4, 2, 2), (8, 4, 4), shape="hex")
    inside = ((mesh.centroids > (1, 0, 0.5)) & (mesh.centroids < (4, 2, 2))).all(axis=1)
    sides = {name: mesh.boundary_faces[mesh.boundary_ids == i] for i, name in enumerate(mesh.boundary_names)}
    names = {"rock": 0, "layer": 1}
    mesh = unda.Mesh(mesh.vertices, mesh.cells, tags=1 - inside, tag_names=names, boundaries=sides)
    medium, layer = unda.Acoustic(rho=1.0, c=1.0), unda.Damping(tag="layer", f0=1.0)
    boundary = {"xmin": layer, "zmin": layer, "*": "free"}
    sim = unda.SEM(mesh, medium, degree=2, boundary=boundary, device="cpu")
    found = {name: sim.config["boundary"][name]["thickness"] for name in ("xmin", "zmin")}
    assert found == {"xmin": 1.0, "zmin": 0.5} and sim.mesh is mesh
    for name, one, expected in (
        ("ymin", layer, "expected a layer between"),
        ("xmin", unda.Damping(tag="sea"), "expected one of some cells"),
    ):
        with pytest.raises(ArgumentError, match=expected):
            unda.SEM(mesh, medium, degree=2, boundary={name: one, "*": "free"})
