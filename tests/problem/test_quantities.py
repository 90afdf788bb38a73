"""Quantities of pint are converted wherever a number with a unit is taken, and refused where they do not fit.

Not here: units of DataArrays (test_gridded_media.py).
"""

import inspect
import math
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import unda
from unda._units import in_pint, plain
from unda.problem._pulses import SOURCE_UNITS

pint = pytest.importorskip("pint")
U = pint.UnitRegistry()
KM, MS, KMS = U.kilometer, U.millisecond, U.kilometer / U.second
# 1000 times a short decimal is exact, or rounded once
CLOSE = {"rel": 4 * 2.0**-52, "abs": 0}


def test_a_run_in_other_units_has_the_bits_of_the_same_run_in_metres_and_seconds():
    def run(km, ms, kms, density, khz):
        grid = unda.Grid((12, 10, 8), 0.01 * km, origin=(0 * km, 0 * km, -0.05 * km))
        medium = unda.Acoustic(rho=density, c=1.5 * kms)
        sim = unda.FD(grid, medium, dt=1 * ms, fmax=0.02 * khz, device="cpu")
        place = (0.05 * km, 0.05 * km, -0.02 * km)
        sim.add_source(unda.VolumeInjection(place, unda.ricker(0.008 * khz, t0=100 * ms)))
        rec = sim.add_receivers([(0.07 * km, 0.05 * km, -0.02 * km)])
        sim.run(until=50 * ms)
        return rec.t, rec["p"], rec.spectrum("p", 0.01 * khz)

    plain_run = run(1000.0, 0.001, 1000.0, 1000.0, 1000.0)
    found = run(KM, MS, KMS, 1 * U.gram / U.cm**3, U.kilohertz)
    assert found[1].any()
    for one, other in zip(found, plain_run, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=0)
    assert found[1].tobytes() == plain_run[1].tobytes()


def fault(rake):
    return unda.MomentTensor.from_sdr(10.0, 90.0, rake, 1.0, position=(0, 0, 0), f=unda.ricker(1.0))


def grid_simulation(**options):
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    return unda.FD(unda.Grid((4, 4, 4), 1.0), medium, device="cpu", **options)


MESH = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1))
SPHERE = unda.exact.mie_sphere(unda.Maxwell(eps=1.0, mu=1.0), radius=1.0, frequency=0.2)
WAVE = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(1.0, 0.0, 0.0))
TAKEN = {
    "points": (lambda q: unda.Grid((5, 5, 5), 1.0).locate(q), [[0.001, 0, 0.002]] * KM, [[1, 0, 2]]),
    "nested": (lambda q: unda.Grid((5, 5, 5), 1.0).locate(q), [(1 * U.m, 20 * U.dm, 3)], [[1, 2, 3]]),
    "delayed": (lambda q: unda.ricker(1.0).delayed(q).to_config()["by"], 5.0 * MS, 0.005),
    "topography": (
        lambda q: unda.DG(MESH, unda.Acoustic(rho=1.0, c=1.0), degree=1).snap(q, depth=250 * U.mm),
        [[0.0005, 0.00025]] * KM, [[0.5, 0.25, 0.75]],
    ),
    "fibre": (
        lambda q: unda.DG(MESH, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=1).add_fibre(
            q, gauge=500 * U.mm, spacing=100 * U.mm
        ).points[0],
        [[0.0, 0.0005, 0.0005], [0.001, 0.0005, 0.0005]] * KM, [0.25, 0.5, 0.5],
    ),
    "voigt": (
        lambda q: unda.MomentTensor.from_voigt(q, position=(0, 0, 0), f=unda.ricker(1.0)).moment[0],
        [1, 2, 3, 4, 5, 6] * U.kN * U.m, [1000, 6000, 5000],
    ),
    "dip": (
        lambda q: unda.MomentTensor.from_sdr(
            0.0, q, 90.0, 1.0 * U.kN * U.m, position=(0, 0, 0), f=unda.ricker(1.0)
        ).moment[2, 2],
        np.pi / 4 * U.rad, 1000,
    ),
    "burst": (lambda q: unda.chirp(q, 2 * q, 500 * MS).to_config()["duration"], 8 * U.Hz, 0.5),
    "spacing": (lambda q: unda.Grid((5, 5, 5), q).spacing, [1, 2, 3] * KM, (1000, 2000, 3000)),
    "corner": (lambda q: unda.box_mesh((0, 0, 0), q, (1, 1, 1)).upper, [1, 2, 3] * KM, (1000, 2000, 3000)),
    "vertices": (lambda q: unda.Mesh(q, MESH.cells).upper, MESH.vertices * KM, (1000, 1000, 1000)),
    "locate": (lambda q: MESH.locate(q)[0] >= 0, [[0.0005, 0.0004, 0.0003]] * KM, [True]),
    "density": (
        lambda q: unda.Acoustic(rho=q, c=1.0).at(1)["rho"], [1.0, 2.0, 1, 1, 1, 1] * U.g / U.cm**3, 2000,
    ),
    "tags": (lambda q: unda.Elastic(rho=1.0, vp={"0": q}, vs=0.0).on(MESH)[0, 1], 2 * KMS, 2000),
    "function": (
        lambda q: unda.Acoustic(rho=1.0, c=lambda x, y, z: (1 + 0 * x) * q).on(MESH)[0, 1],
        2 * KMS, 2000,
    ),
    "sigma": (lambda q: unda.Maxwell(sigma=q).at(0)["sigma"], 2 * U.mS / U.cm, 0.2),
    "relative": (lambda q: unda.Maxwell(eps_r=q).at(0)["eps"] / unda.EPS0, 2 * U.dimensionless, 2),
    "position": (
        lambda q: unda.PointForce(q, unda.ricker(1.0), (0, 0, 1)).position,
        [1, 2, 3] * U.mm, (1e-3, 2e-3, 3e-3),
    ),
    "moment": (
        lambda q: unda.MomentTensor((0, 0, 0), unda.ricker(1.0), q).moment[0][0],
        np.eye(3) * U.kN * U.km, 1e6,
    ),
    "ricker": (lambda q: unda.ricker(q).fmax, 2 * U.MHz, 5e6),
    "sampled": (lambda q: unda.sampled(q, [0, 1, 1, 0]).span[1], [0, 1, 2, 3] * U.us, 3e-6),
    "values": (
        lambda q: unda.PointForce((0, 0, 0), unda.sampled([0, 1, 2, 3], q, "N"), (1, 0, 0)).f([1.0, 2.0]),
        [0, 2, 5, 0] * U.kN, [2000.0, 5000.0],
    ),
    "time": (lambda q: unda.ricker(1.0, t0=1.0)(q), 1000 * MS, 1.0),
    "rake": (lambda q: fault(q).moment[0][1], np.pi * U.radian, fault(180.0).moment[0][1]),
    "array": (
        lambda q: unda.Array(q, unda.ricker(1.0)).points[1],
        [[0, 0, 0], [1, 2, 3]] * U.mm, (1e-3, 2e-3, 3e-3),
    ),
    "delays": (
        lambda q: unda.Array([[0, 0, 0], [1, 2, 3]], unda.ricker(1.0), delays=q).delays, [1, 2] * U.us,
        (1e-6, 2e-6),
    ),
    "areas": (lambda q: unda.Array([MESH.lower], np.sin, weights=q).weights, [2.0] * U.mm**2, [2e-6]),
    "lengths": (lambda q: unda.Array([MESH.lower], np.sin, weights=q).weights, [2.0] * U.mm, [2e-3]),
    "frequencies": (
        lambda q: grid_simulation().add_monitor("p", "dft", every=1, frequencies=q).frequencies,
        [0.01, 0.02] * U.kHz, [10, 20],
    ),
    "frequency": (
        lambda q: grid_simulation().add_monitor("p", "dft", every=1, frequencies=q).frequencies,
        0.01 * U.kHz, [10],
    ),
    "region": (
        lambda q: grid_simulation().add_monitor("p", "max", every=1, region=q).axes[0],
        [(100 * U.cm, 0 * U.m, 0 * U.m), (2 * U.m, 2 * U.m, 2 * U.m)], [1, 2],
    ),
    "samples": (lambda q: grid_simulation(sample_dt=q).config["sample_dt"], 100 * U.us, 1e-4),
    "step": (lambda q: unda.step(q)([1.0, 3.0]), 2 * U.s, [0.5, 1.0]),
    "taper": (lambda q: unda.chirp(1.0, 2.0, q).to_config()["taper"], 500 * MS, 0.05),
    "places": (lambda q: SPHERE.fields(q, 0.0, 0.0)["ez"], 2 * U.km, SPHERE.fields(2000.0, 0.0, 0.0)["ez"]),
    "times": (lambda q: WAVE(q, 0.0, 0.0, 200 * MS)["p"], 10 * U.cm, WAVE(0.1, 0.0, 0.0, 0.2)["p"]),
    "angle": (lambda q: SPHERE.bistatic(q, 90 * U.deg), 180 * U.deg, SPHERE.bistatic(np.pi, np.pi / 2)),
    "layer": (lambda q: unda.CPML(f0=q).f0, 2 * U.kHz, 2000),
    "wave": (
        lambda q: unda.PlaneWave((1, 0, 0), f=unda.ricker(1.0), region="0", amplitude=q).incident(
            unda.Acoustic(rho=1.0, c=1.0)
        )(1.0, 0.0, 0.0, 2.5)["p"],
        2 * U.kPa, 2000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_quantities_are_converted_and_other_dimensions_refused(name):
    call, quantity, expected = TAKEN[name]
    assert np.ravel(call(quantity)) == pytest.approx(np.ravel(expected), **CLOSE)
    with pytest.raises(unda.ArgumentError, match=r"expected (one in units of|a number without a unit)"):
        call(
            [tuple(one * U.kelvin for one in quantity[0])]
            if isinstance(quantity, list)
            else np.asarray(quantity.magnitude) * U.kelvin
        )


@pytest.mark.parametrize("method", [unda.DG, unda.SEM, unda.FD])
def test_states_times_and_points_of_simulations_take_quantities(method):
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    where = (
        unda.Grid((9, 9, 9), 0.125)
        if method is unda.FD
        else unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
    )
    options = {} if method is unda.FD else {"degree": 2}
    sim = method(where, medium, dtype="float64", device="cpu", **options)
    name, unit = ("chi", U.kPa * U.s**2) if method is unda.SEM else ("p", U.kPa)
    sim.set(**{name: lambda x, y, z: (x + 0 * y + 0 * z) * unit, "t": 3 * MS})
    values = sim.get(name)
    assert sim.t == 0.003 and values.max() == pytest.approx(1000.0)
    sim.set(**{name: values / 1000 * unit})
    assert np.allclose(sim.get(name), values, rtol=1e-15)
    assert np.allclose(sim.sample([[50, 50, 50]] * U.cm, [name])[name], 500, rtol=1e-3)
    with pytest.raises(unda.ArgumentError, match="a quantity in meter; expected one in units of"):
        sim.set(**{name: 1 * U.m})
    with pytest.raises(unda.ArgumentError, match="expected one in units of s"):
        sim.run(until=1 * U.m)
    before = sim.t
    sim.run(until=(before + 2 * sim.dt) * 1e6 * U.us)
    assert sim.step_count == 2


def test_pictures_and_files_take_quantities(tmp_path):
    sim = unda.FD(unda.Grid((9, 9, 9), 1.0), unda.Acoustic(rho=1000.0, c=1500.0), device="cpu", dt=1e-4)
    sim.set(p=lambda x, y, z: x + 0 * y * z)
    rec = sim.add_receivers([[400, 400, 400]] * U.cm)
    sim.run(steps=20)
    axes = sim.plot_slice("p", y=[100, 400] * U.cm, vmax=2 * U.kPa)
    assert [ax.images[0].get_clim()[1] for ax in axes] == [2000, 2000] and "y = 4 m" in axes[1].get_title()
    segyio = pytest.importorskip("segyio")
    rec.write_segy(tmp_path / "a.sgy", source=(1, 2, 3) * U.km, dt=200 * U.us)
    with segyio.open(tmp_path / "a.sgy", ignore_geometry=True) as file:
        assert segyio.tools.dt(file) == 200.0 and file.attributes(73)[0] == 1000


@pytest.mark.parametrize("method", [unda.DG, unda.SEM, unda.FD])
@pytest.mark.parametrize("one", [np.sin, math.sin])
def test_functions_of_sources_may_give_quantities(method, one):
    """Also those that take single times; of an array, whose weights have a part of the unit, they may not."""
    medium = unda.Acoustic(rho=1000.0, c=1500.0)
    found = []
    for unit in (1, 1000 * U.liter / U.s, 1.001):
        if method is unda.FD:
            sim = unda.FD(
                unda.Grid((9, 9, 9), 0.125), medium, scheme="staggered", dtype="float64", device="cpu"
            )
        else:
            mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
            sim = method(mesh, medium, degree=2, dtype="float64", device="cpu")
        sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.5), lambda t, unit=unit: one(3e3 * t) * unit))
        sim.step(4)
        found.append(sim.get(sim.fields[0]))
    size = np.abs(found[0]).max()  # one rounding of a value is 1e-16
    assert np.abs(found[1] - found[0]).max() < 1e-14 * size < 1e-4 * size < np.abs(found[2] - found[0]).max()
    sim.reset(sources=True)
    sim.add_source(unda.Array([(0.3, 0.4, 0.5)], lambda t: np.sin(t) * U.m / U.s))
    with pytest.raises(unda.ArgumentError, match=r"f\(t\) is .* a quantity in meter / second; expected"):
        sim.step(1)


def test_where_no_unit_belongs_a_quantity_is_refused():
    with pytest.raises(
        unda.ArgumentError, match=r"s has values in newton; expected plain values, or .* unit='N'"
    ):
        unda.sampled([0, 1, 2, 3], [0, 1, 2, 0] * U.N)  # of which source is not known yet
    with pytest.raises(unda.ArgumentError, match=r"unit is 'kN', expected one of .*'N', "):
        unda.sampled([0, 1, 2, 3], [0, 1, 2, 0], "kN")
    force = unda.sampled([0, 1, 2, 3], [0, 1, 2, 0] * U.kN, "N")
    with pytest.raises(unda.ArgumentError, match="f has values in N; expected m3/s of a VolumeInjection"):
        unda.VolumeInjection((0, 0, 0), force)
    assert unda.Array([(0, 0, 0)], force, direction=(1, 0, 0)).f is force
    grid, medium = unda.Grid((25, 25, 25), 1.0), unda.Acoustic(rho=1.0, c=1.0)
    box = (6, 6, 6), (18, 18, 18)
    for unit, words in (("V/m", "f has values in V/m; expected Pa of this wave"), ("Pa", None)):
        incoming = unda.PlaneWave((1, 0, 0), f=unda.sampled(range(4), [0, 1, 2, 0], unit), box=box)
        with nullcontext() if words is None else pytest.raises(unda.ArgumentError, match=words):
            unda.FD(grid, medium, device="cpu").add_source(incoming)
    wave = unda.PlaneWave((1, 0, 0), f=unda.ricker(1.0), region="0", amplitude=2 * U.V / U.m)
    with pytest.raises(unda.ArgumentError, match=r"amplitude is .* expected one in units of Pa"):
        wave.incident(unda.Acoustic(rho=1.0, c=1.0))
    with pytest.raises(unda.ArgumentError, match=r"cells is .* expected plain values"):
        unda.box_mesh((0, 0, 0), (1, 1, 1), [1, 1, 1] * U.m)
    with pytest.raises(unda.ArgumentError, match=r"cfl is .* expected a number without a unit"):
        unda.DG(MESH, unda.Acoustic(rho=1, c=1), cfl=0.5 * U.s)
    for unit, words in ((U.kPa, "gave a p that is a quantity in kilopascal; expected numbers"), (1, None)):
        around = {"*": lambda x, y, z, t, unit=unit: {"p": x * unit, "vx": x, "vy": x, "vz": x}}
        sim = unda.DG(MESH, unda.Acoustic(rho=1, c=1), degree=1, boundary=around, device="cpu")
        with nullcontext() if words is None else pytest.raises(unda.ArgumentError, match=words):
            sim.step(1)


def test_every_unit_of_unda_is_one_of_pint():
    media = (unda.Acoustic, unda.Elastic, unda.Maxwell)
    units = {unit for one in media for table in (one.units, one.parameters) for unit in table.values()}
    units |= {one.unit for kind in media for one in kind.derived.values()}
    units |= set(SOURCE_UNITS) | {"m", "s", "Hz", "N m", "m/s2", "Pa s", "Pa s2", "rad/m", "1/s"}
    assert {unit: U.Quantity(1, in_pint(unit)).units for unit in units}
    assert U.Quantity(1, in_pint("kg/m3")) == 1 * U.kg / U.m**3


def test_without_pint_nothing_is_imported_and_numbers_pass():
    code = "import sys, unda; unda.Grid((3, 3, 3), 1.0); sys.exit(len({'pint', 'xarray'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert plain("x", [1.0, (2, 3)], "m") == [1.0, (2, 3)] and "import pint" not in inspect.getsource(
        unda._units
    )
