"""Orders in space and time against closed modes and plane waves, and the errors of an independent code."""

import numpy as np
import pytest
import unda
from hex_meshes import turned_box
from sem_cases import line
from unda import exact
from unda.problem.boundary import own_side

ROCK = unda.Elastic(rho=1.3, vp=1.9, vs=1.0)


def whole(error, kind):
    return float(np.sqrt(sum(error[kind + axis] ** 2 for axis in "xyz")))


@pytest.mark.parametrize(("cells", "expected"), [(2, 1.85e-3), (4, 9.24e-5)])
def test_lame_mode_has_the_errors_of_another_code(cells, expected):
    """Of the displacement, relative to its norm at the beginning, when it is largest; sums over nodes."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 0.5), (cells, cells, 1), shape="hex")
    mode = exact.lame_mode(ROCK, (0, 0, 0), (1, 1, 0.5))
    begin = 0.5 * np.pi / mode.omega
    sim = unda.SEM(mesh, ROCK, degree=3, boundary={"*": "free"}, dtype="float64", sample_dt=1e-3)
    sim.set(mode, t=begin)
    weights = np.einsum("k,j,i->kji", *[line(3).weights] * 3).ravel()

    def square(values):
        return float(sum((weights * values[f"u{axis}"] ** 2).sum() for axis in "xyz"))

    known = {name: sim.get(name) for name in ("ux", "uy", "uz")}
    norm = square(known)
    sim.run(until=begin + 0.3)
    ratio = np.cos(mode.omega * 0.3)
    wrong = square({name: sim.get(name) - ratio * known[name] for name in known})
    assert np.sqrt(wrong / norm) == pytest.approx(expected, rel=0.2)


def rigid_box(cells, degree):
    medium = unda.Acoustic(rho=1.3, c=1.2)
    mode = exact.rigid_box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 1, 0))
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (cells, cells, 1), shape="hex")
    sim = unda.SEM(mesh, medium, degree=degree, boundary={"*": "rigid"}, dtype="float64", dt=5e-4)
    sim.set(mode)
    sim.run(until=0.1)
    return sim.error(mode, relative=True)["chi"]


def plane_wave(cells, degree, kind):
    wave = exact.plane_wave(
        ROCK, k=(2 * np.pi, 2 * np.pi, 0), kind=kind, polarization=(0, 0, 1) if kind == "s" else None
    )
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (cells, cells, 1), shape="hex", periodic=(True,) * 3)
    sim = unda.SEM(mesh, ROCK, degree=degree, dtype="float64", dt=5e-4)
    sim.set(wave)
    sim.run(until=0.1)
    return whole(sim.error(wave, relative=True), "u")


@pytest.mark.each_value
@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize(
    "error",
    [rigid_box, lambda *at: plane_wave(*at, "p"), lambda *at: plane_wave(*at, "s")],
    ids=["box", "p", "s"],
)
def test_order_in_space_is_at_least_half_above_the_degree(error, degree):
    coarse, fine = error(4, degree), error(8, degree)
    assert np.log2(coarse / fine) >= degree + 0.5


def test_order_in_time_is_two():
    """The error of space, at degree 8, is below 1e-3 of that of time."""
    wave = exact.plane_wave(ROCK, k=(2 * np.pi, 0, 0), kind="p")
    mesh = unda.box_mesh((0, 0, 0), (1, 0.25, 0.25), (4, 1, 1), shape="hex", periodic=(True,) * 3)
    found = []
    for steps in (60, 120):
        sim = unda.SEM(mesh, ROCK, degree=8, dtype="float64", dt=0.1 / steps)
        sim.set(wave)
        sim.step(steps)
        found.append(whole(sim.error(wave, relative=True), "u"))
    assert np.log2(found[0] / found[1]) == pytest.approx(2.0, abs=0.1)


def scholte(cells, degree):
    """Errors of u in the solid and of chi in the fluid, relative to their norms, by nodes."""
    solid, fluid = unda.Elastic(rho=2.0, vp=2.0, vs=1.1), unda.Elastic(rho=1.0, vp=1.5, vs=0.0)
    wave = exact.scholte_wave(solid, fluid, k=(4 * np.pi, 0, 0), position=0.0)
    mesh = unda.box_mesh(
        (0, 0, -1.75), (0.5, 0.125, 1.75), (cells, 1, 7 * cells), shape="hex", periodic=(True, True, False)
    )
    wet = mesh.centroids[:, 2] > 0
    table = np.where(wet[:, None], fluid.on(mesh), solid.on(mesh))
    medium = unda.Elastic(rho=table[:, 0], vp=table[:, 1], vs=table[:, 2])
    sim = unda.SEM(
        mesh, medium, degree=degree, boundary={"*": "free"}, dtype="float64", sample_dt=2e-3 / degree
    )
    sim.set(wave)
    sim.run(until=0.1)
    known = sim._points.bound(wave)(*np.moveaxis(own_side(wave, sim.coordinates), 2, 0), sim.t)
    sums = {}
    for name, there in {"ux": ~wet, "uz": ~wet, "chi": wet}.items():
        off = (sim.get(name) - known[name])[there]
        sums[name] = np.sqrt((off**2).sum() / (known[name][there] ** 2).sum())
    return max(sums.values())


@pytest.mark.parametrize("degree", [3, 4])
def test_scholte_wave_converges_on_an_interface(degree):
    coarse, fine = scholte(2, degree), scholte(4, degree)
    assert np.log2(coarse / fine) >= degree + 0.5


def guided(cells, degree, kind):
    """The error of a wave along a free surface, or in a plate; the coarse mesh has two cells a wavelength."""
    if kind == "rayleigh":
        wave, depth = exact.rayleigh_wave(ROCK, k=(4 * np.pi, 0, 0)), 3.0
    else:
        wave, depth = (
            exact.plate_mode(
                ROCK, k=(4 * np.pi, 0, 0), thickness=0.5, symmetric=kind == "symmetric", position=-0.25
            ),
            0.5,
        )
    mesh = unda.box_mesh(
        (0, 0, -depth), (0.5, 0.125, 0), (cells, 1, int(4 * cells * depth / 2)), shape="hex",
        periodic=(True, True, False),
    )  # fmt: skip
    sim = unda.SEM(
        mesh, ROCK, degree=degree, boundary={"*": "free"}, dtype="float64", sample_dt=2e-3 / degree
    )
    sim.set(wave)
    sim.run(until=0.06)
    return whole(sim.error(wave, relative=True), "u")


@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("kind", ["rayleigh", "symmetric", "antisymmetric"])
def test_guided_waves_converge(kind, degree):
    coarse, fine = guided(2, degree, kind), guided(4, degree, kind)
    assert np.log2(coarse / fine) >= degree + 0.5


def love(method, cells, degree, finer=1):
    """The error of a Love wave; cells: in a wavelength, which is two layers thick."""
    wave = exact.love_wave(*(unda.Elastic(**one) for one in (SOIL, BASE)), (4 * np.pi, 0, 0), 0.25)
    mesh = unda.box_mesh(
        (0, 0, -2.5), (0.5, 0.125, 0), (cells, 1, 5 * cells), shape="hex", periodic=(True, True, False)
    )
    both = unda.Elastic(**{
        name: lambda x, y, z, name=name: np.where(z > -0.25, SOIL[name], BASE[name]) + 0 * x for name in SOIL
    })  # fmt: skip
    dt = {"sample_dt": 8e-4 / degree} if method is unda.SEM else {"cfl": 0.6}
    sim = method(mesh, both, degree=degree, boundary={"*": "free"}, dtype="float64",
                 **{name: value / finer for name, value in dt.items()})  # fmt: skip
    sim.set(wave)
    sim.run(until=0.08)
    return whole(sim.error(wave, relative=True), "u" if method is unda.SEM else "v")


SOIL, BASE = {"rho": 1.1, "vp": 1.7, "vs": 0.9}, {"rho": 1.3, "vp": 3.4, "vs": 1.9}


@pytest.mark.first(1)
@pytest.mark.parametrize("degree", [3, 4])
@pytest.mark.parametrize("method", [unda.SEM, unda.DG])
def test_love_waves_converge(method, degree):
    """At the bottom exp(-g 2.25) of the wave are left, 1e-9; two cells a wavelength are too coarse for it."""
    coarse, fine = love(method, 4, degree), love(method, 8, degree)
    assert np.log2(coarse / fine) >= degree + 0.5
    if degree == 3:
        assert love(method, 8, degree, finer=2) == pytest.approx(fine, rel=0.05)


def test_modes_between_symmetric_walls_converge_on_warped_cells():
    """Cells warped at random: the quadrature at the nodes costs an order."""
    mode = exact.lubricated_box_mode(ROCK, (0, 0, 0), (1, 1, 1), n=(1, 1, 1), kind="p")
    found = []
    for cells in (3, 6):
        mesh = turned_box((cells,) * 3)
        sim = unda.SEM(mesh, ROCK, degree=3, boundary={"*": "symmetry"}, dtype="float64", cfl=0.2)
        sim.set(mode)
        sim.run(until=0.1)
        found.append(whole(sim.error(mode, relative=True), "u"))
    assert np.log2(found[0] / found[1]) >= 2.8 and found[1] < 1e-3
