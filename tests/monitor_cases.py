"""Simulations with monitors, and what NumPy makes of the same samples, for method/test_monitors*.py."""

import os

import numpy as np
import unda

os.environ["UNDA_CPU_PARTS"] = "1"  # parts on the CPU are for tests alone

FREQUENCIES = (0.7, 1.1)
PULSE = unda.ricker(6.0)


def mesh_case(shape, dtype="float32", degree=3, f0=6.0, **options):
    """A source in a box of acoustic cells of two tags."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(3, 2, 2), shape=shape, perturb=0.1)
    sim = unda.DG(
        mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, dtype=dtype, boundary={"*": "rigid"}, **options
    )
    sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.6), f=unda.ricker(f0)))
    return sim


def grid_case(scheme, dtype="float32", medium=None, boundary=None, shape=(24, 11, 14), **options):
    grid = unda.Grid(shape, 0.05)
    medium = medium or unda.Acoustic(rho=1.0, c=1.0)
    boundary = boundary or {"*": "rigid", "zmin": "free", "ymin": "absorbing", "ymax": "absorbing"}
    sim = unda.FD(grid, medium, scheme=scheme, dtype=dtype, boundary=boundary, **options)
    place = (0.3, 0.3, 0.31)
    elastic = medium.physics == "elastic"
    sim.add_source(
        unda.PointForce(place, f=PULSE, direction=(1.0, 2.0, 3.0))
        if elastic
        else unda.VolumeInjection(place, f=PULSE)
    )
    return sim


def elastic_grid(**options):
    """Fixed sides, half a cell beyond which normal stresses and velocities have images."""
    medium = unda.Elastic(rho=1.0, vp=1.0, vs=0.6)
    boundary = {"*": "fixed", "zmin": "free", "xmin": "absorbing"}
    return grid_case("staggered", medium=medium, boundary=boundary, **options)


def sem_case(medium="acoustic", dtype="float32", cells=(3, 2, 2), degree=3, **options):
    """Spectral elements; "both": a fluid above a solid."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=cells, shape="hex", perturb=0.1)
    above = mesh.centroids[:, 2] > 0.5
    given = {
        "acoustic": unda.Acoustic(rho=1.0, c=1.0),
        "elastic": unda.Elastic(rho=1.0, vp=1.0, vs=0.6),
        "both": unda.Elastic(rho=1.0, vp=1.0, vs=np.where(above, 0.0, 0.6)),
    }[medium]
    sim = unda.SEM(mesh, given, degree=degree, dtype=dtype, dt=0.01, boundary={"*": "free"}, **options)
    place = (0.3, 0.4, 0.6)
    sim.add_source(
        unda.PointForce(place, f=PULSE, direction=(1.0, 2.0, 3.0))
        if medium == "elastic"
        else unda.VolumeInjection(place, f=PULSE)
    )
    return sim


#: {name: (function, its arguments, a field)}
CASES = {
    "tet": (mesh_case, {"shape": "tet"}, "p"),
    "tet ab3 float64": (mesh_case, {"shape": "tet", "dtype": "float64", "integrator": "ab3"}, "vy"),
    "hex by cells": (mesh_case, {"shape": "hex"}, "vx"),
    "hex by lines float64": (mesh_case, {"shape": "hex", "degree": 2, "dtype": "float64"}, "p"),
    "scalar": (grid_case, {"scheme": "scalar"}, "p"),
    "scalar tiled float64": (grid_case, {"scheme": "scalar", "dtype": "float64", "kernel": "tiled"}, "p"),
    "staggered": (grid_case, {"scheme": "staggered"}, "vx"),
    "elastic": (elastic_grid, {}, "vz"),
    "elastic float64": (elastic_grid, {"dtype": "float64"}, "sxy"),
    "sem": (sem_case, {}, "p"),
    "sem solid float64": (sem_case, {"medium": "elastic", "dtype": "float64"}, "vz"),
    "sem in parts": (sem_case, {"medium": "elastic", "device": ["cpu"] * 2}, "uy"),
}


def monitored(sim, field, every, region=None):
    """Add one of each kind."""
    return {
        kind: sim.add_monitor(
            field, kind, every=every, region=region, frequencies=FREQUENCIES if kind == "dft" else None
        )
        for kind in ("max", "min", "rms", "dft")
    }


def samples(sim, field, every, num):
    """Return samples of a field from now on, and their times."""
    lag = sim._points.lags(sim.dt).get(field, 0.0)
    found, times = [sim.get(field)], [sim.t + lag]
    for _ in range(num - 1):
        sim.step(every)
        found.append(sim.get(field))
        times.append(sim.t + lag)
    return np.array(found), np.array(times)


def compare(monitors, p, times, delta):
    """Assert that monitors have what these samples (num, ...) give.

    u = 2^-53. A sum of n rounded products, one after the other, errs by (n + 2) u of the sum of the terms'
    magnitudes at most, here and there. A phase 2 pi f t, t from three operations, errs by 6 u of itself and
    cos and sin by u more, here and there.
    """
    n, u = len(p), 2.0**-53
    np.testing.assert_array_equal(monitors["max"].values, p.max(axis=0))
    np.testing.assert_array_equal(monitors["min"].values, p.min(axis=0))
    p = p.astype(np.float64)
    square = (p**2).sum(axis=0)
    # the root halves the error of the sum; the quotient and the root round
    error = np.abs(monitors["rms"].values - np.sqrt(square / n))
    assert (error <= ((n + 2) * u + 4 * u) * np.sqrt(square / n)).all()
    found = monitors["dft"].values
    assert found.shape == (len(FREQUENCIES), *p.shape[1:])
    assert found.dtype == np.complex128
    for f, one in zip(FREQUENCIES, found, strict=True):
        phase = (2 * np.pi * f * times).reshape(-1, *[1] * (p.ndim - 1))
        for part, wave in ((one.real, np.cos(phase)), (one.imag, -np.sin(phase))):
            terms = p * wave
            bound = 2 * (n + 2) * u * np.abs(terms).sum(axis=0)
            bound += 2 * u * (np.abs(p) * (6 * np.abs(phase) + 1)).sum(axis=0)
            assert (np.abs(part - delta * terms.sum(axis=0)) <= delta * bound * (1 + 4 * u)).all()
