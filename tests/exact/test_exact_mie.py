"""Spheres scatter a plane wave as Mie said: fields fit at the surface, powers are the published ones.

Not here: solutions in time (test_exact_maxwell.py).
Next: python/unda/exact/mie.py.
"""

import numpy as np
import pytest
import unda
from exact_helpers import KH, TOLERANCE, TWIN, maxwell_residual
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Maxwell

AROUND = Maxwell(eps=1.5, mu=1.2)
C = 1.0 / np.sqrt(1.5 * 1.2)
RADIUS, CENTER = 0.8, np.array([0.3, -0.2, 0.1])
WAVE = {"direction": (1, 2, -1), "polarization": (1, -1, -1), "center": CENTER}
SPHERES = {
    "pec": None,
    "dielectric": Maxwell(eps=4.0, mu=1.2),
    "magnetic": Maxwell(eps=2.0, mu=3.0),
    "lossy": Maxwell(eps=4.0, mu=2.0, sigma=3.0),
}
SIZES = [0.1, 1.3, 4.0, 20.0]
EVERY = pytest.mark.parametrize("name", SPHERES)


def mie(sphere, size, medium=AROUND, **more):
    speed = 1.0 / np.sqrt(medium.scalar()["eps"] * medium.scalar()["mu"])
    frequency = size / RADIUS * speed / (2.0 * np.pi)
    return exact.mie_sphere(medium, RADIUS, frequency, sphere=sphere, **{**WAVE, **more})


def in_vacuum(size, sphere=None):
    return exact.mie_sphere(Maxwell(eps=1.0, mu=1.0), 1.0, size / (2.0 * np.pi), sphere=sphere)


def directions(num=200):
    vectors = np.random.default_rng(4).normal(size=(num, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def at(solution, n, r, part="total"):
    values = np.stack(list(solution.fields(*(CENTER + r * n).T, part).values()), axis=1)
    return values[:, :3], values[:, 3:]


def mismatch(inside, outside, n):
    """Largest jump of n x E and n x H; the inner fields are taken 2e-12 radii below the surface."""
    pairs = zip(at(inside, n, RADIUS * (1.0 - 2e-12)), at(outside, n, RADIUS), strict=True)
    return max(np.abs(np.cross(n, a - b)).max() for a, b in pairs)


@pytest.mark.parametrize("size", SIZES)
def test_tangential_e_is_zero_on_a_perfect_conductor(size):
    n = directions()
    e, h = at(mie(None, size), n, RADIUS)
    assert np.abs(np.cross(n, e)).max() < 1e-13
    assert np.abs(np.sum(n * h, axis=1)).max() < 1e-13
    # of a sphere 1 % larger it is zero elsewhere
    larger = exact.mie_sphere(AROUND, 1.01 * RADIUS, mie(None, size).frequency, **WAVE)
    assert np.abs(np.cross(n, at(larger, n, 1.02 * RADIUS)[0])).max() > TWIN


@pytest.mark.each_value
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["dielectric", "magnetic", "lossy"])
def test_tangential_fields_are_continuous_at_the_surface(name, size):
    n, solution = directions(), mie(SPHERES[name], size)
    assert mismatch(solution, solution, n) < 1e-10 * max(1.0, size)  # 2e-12 radii times gradients
    values = SPHERES[name].scalar()
    other = mie(Maxwell(**{**values, "eps": 1.01 * values["eps"], "mu": 1.01 * values["mu"]}), size)
    assert mismatch(solution, other, n) > TWIN


def in_time(solution, part, medium):
    """The real part of the fields times exp(-i omega t), as `maxwell_residual` calls a solution."""

    known = {}  # many calls are for the same places at other times

    def wave(x, y, z, t):
        key = np.stack([x, y, z]).tobytes()
        if key not in known:
            known[key] = solution.fields(x, y, z, part)
        turn = np.exp(-1j * solution.omega * t)
        return {name: (one * turn).real for name, one in known[key].items()}

    wave.medium, wave.fields = medium, medium.fields
    return wave


@pytest.mark.parametrize("name, where", [
    (name, where) for name in SPHERES for where in ("inside", "total", "scattered")
    if (name, where) != ("pec", "inside")
])  # fmt: skip
def test_fields_solve_maxwells_equations(name, where):
    solution, rng = mie(SPHERES[name], 1.3), np.random.default_rng(6)
    low, high = (0.2, 0.8) if where == "inside" else (1.5, 3.0)
    points = CENTER + RADIUS * rng.uniform(low, high, size=(25, 1)) * directions(25)
    medium = SPHERES[name] if where == "inside" else AROUND
    wave = in_time(solution, "total" if where == "inside" else where, medium)
    t, h = rng.uniform(0.0, 5.0, 25), KH / 8.0
    assert maxwell_residual(wave, points, t, h) < TOLERANCE
    for off in ("eps", "mu"):
        values = medium.scalar()
        other = Maxwell(**{**values, off: 1.01 * values[off]})
        assert maxwell_residual(wave, points, t, h, other) > TWIN


def test_extinction_has_the_published_values():
    """Wiscombe's and Bohren & Huffman's sphere (m = 1.5, x = 10), and perfect conductors."""
    assert in_vacuum(10.0, Maxwell(eps=2.25, mu=1.0)).q_ext == pytest.approx(2.881999, abs=5e-7)
    assert in_vacuum(1.0).q_ext == pytest.approx(2.035864, abs=5e-7)
    assert in_vacuum(100.0).q_ext == pytest.approx(2.008102, abs=5e-7)
    # Bohren & Huffman (1983), appendix A: a droplet of oil, m = 1.55, 0.525 um at 0.6328 um
    oil = in_vacuum(2.0 * np.pi * 0.525 / 0.6328, Maxwell(eps=1.55**2, mu=1.0))
    assert oil.q_ext == pytest.approx(3.10543, abs=5e-6)
    assert abs(in_vacuum(10.1, Maxwell(eps=2.25, mu=1.0)).q_ext - 2.881999) > TWIN


def test_the_better_a_sphere_conducts_the_more_it_is_a_perfect_conductor():
    perfect = in_vacuum(1.0)
    depths, found = [], []
    for sigma in (1e4, 4e4):
        depths.append(np.sqrt(2.0 / sigma))
        found.append(in_vacuum(1.0, Maxwell(eps=1.0, mu=1.0, sigma=sigma)).q_ext - perfect.q_ext)
    assert 0.0 < found[1] < found[0] < 6.0 * depths[0]
    assert found[0] / found[1] == pytest.approx(2.0, rel=0.02)  # it goes with the skin depth


def test_small_spheres_scatter_as_rayleigh_said():
    x, eps = 0.02, 2.25
    small = in_vacuum(x, Maxwell(eps=eps, mu=1.0))
    assert small.q_sca == pytest.approx(8.0 / 3.0 * x**4 * ((eps - 1.0) / (eps + 2.0)) ** 2, rel=1e-3)
    inside = small.fields(*(0.5 * directions(30)).T)
    assert np.allclose(inside["ex"], 3.0 / (eps + 2.0), rtol=0, atol=0.03)
    assert in_vacuum(x).bistatic(np.pi, 0.0) / np.pi == pytest.approx(9.0 * x**4, rel=1e-3)


@pytest.mark.each_value
@EVERY
@pytest.mark.parametrize("size", [0.5, 4.0])
def test_powers_through_a_sphere_are_the_cross_sections(name, size):
    solution, r = mie(SPHERES[name], size), 1.7 * RADIUS
    cosine, weight = np.polynomial.legendre.leggauss(40)
    phi = 2.0 * np.pi * np.arange(80) / 80.0
    theta, phi = np.repeat(np.arccos(cosine), 80), np.tile(phi, 40)
    n = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)
    area = np.repeat(weight, 80) * 2.0 * np.pi / 80.0 * r**2
    # the intensity of the incident wave, 1 V/m, is sqrt(eps/mu)/2
    unit = np.pi * RADIUS**2 * np.sqrt(1.5 / 1.2)
    out = {}
    for part in ("total", "scattered"):
        e, h = at(solution, n, r, part)
        out[part] = area @ np.sum(np.cross(e, h.conj()).real * n, axis=1) / unit
    assert out["scattered"] == pytest.approx(solution.q_sca, rel=1e-12)
    assert -out["total"] == pytest.approx(solution.q_ext - solution.q_sca, abs=1e-12)
    assert (solution.q_ext - solution.q_sca > 0.01) == (name == "lossy")


@EVERY
def test_bistatic_cross_section_is_the_far_field(name):
    solution, r = mie(SPHERES[name], 4.0), 1e5 * RADIUS
    d, e = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0), np.array([1.0, -1.0, -1.0]) / np.sqrt(3.0)
    theta, phi = (one.ravel() for one in np.meshgrid(np.linspace(0.0, np.pi, 9), np.linspace(0.0, 5.0, 7)))
    across = np.outer(np.cos(phi), e) + np.outer(np.sin(phi), np.cross(d, e))
    n = np.sin(theta)[:, None] * across + np.outer(np.cos(theta), d)
    far = 4.0 * np.pi * r**2 * np.sum(np.abs(at(solution, n, r, "scattered")[0]) ** 2, axis=1)
    assert np.allclose(solution.bistatic(theta, phi), far, rtol=0, atol=1e-4 * far.max())
    assert np.abs(solution.bistatic(theta, phi + np.pi / 2.0) - far).max() > 0.02 * far.max()


def test_spheres_of_equal_impedance_send_nothing_back():
    """Kerker, Wang & Giles (1983): eps and mu in the same ratio."""
    matched = in_vacuum(3.0, Maxwell(eps=2.0, mu=2.0))
    assert matched.bistatic(np.pi, 0.4) < 1e-25 < matched.bistatic(0.0, 0.4)
    assert in_vacuum(3.0, Maxwell(eps=2.02, mu=2.0)).bistatic(np.pi, 0.4) > 1e-6


def test_a_sphere_of_the_same_material_is_not_there():
    solution = mie(AROUND, 4.0)
    n = directions(50)
    wave = exact.plane_wave(
        AROUND, 4.0 / RADIUS * np.array([1, 2, -1]) / np.sqrt(6.0), polarization=(1, -1, -1)
    )
    points = CENTER + np.linspace(0.0, 2.0, 50)[:, None] * RADIUS * n
    found = solution.fields(*points.T)
    for field, values in wave(*points.T, 0.0).items():  # the sine is the imaginary part of exp(i k.x)
        assert np.allclose(found[field].imag, values, rtol=0, atol=1e-13)
    assert np.abs(np.stack(list(solution.fields(*points.T, "scattered").values()))).max() < 1e-13


def test_fields_are_smooth_in_the_center_and_on_the_axis():
    solution = in_vacuum(1.3, SPHERES["dielectric"])
    for place, aside in (((0.0, 0.0, 0.0), 1e-7), ((0.0, 0.0, -0.5), 1e-7), ((0.0, 0.0, 2.0), 1e-7)):
        on, off = (solution.fields(place[0] + a, place[1] + a, place[2]) for a in (0.0, aside))
        for field in on:
            assert np.isfinite(on[field]) and abs(on[field] - off[field]) < 1e-6


def test_a_conductor_is_dark_inside_and_arguments_broadcast():
    solution = mie(None, 1.3)
    x, y = np.linspace(-2.0, 2.0, 9), np.linspace(-1.0, 1.0, 4)[:, None]
    total, scattered = (solution.fields(x, y, 0.1, part) for part in ("total", "scattered"))
    inside = (x - CENTER[0]) ** 2 + (y - CENTER[1]) ** 2 < RADIUS**2
    assert inside.any() and not inside.all()
    for field in AROUND.fields:
        assert total[field].shape == (4, 9) and total[field].dtype == np.complex128
        assert np.all(total[field][inside] == 0.0)
    incident = mie(AROUND, 1.3).fields(x, y, 0.1)
    for field in AROUND.fields:
        assert np.allclose(total[field] - scattered[field], incident[field], rtol=0, atol=1e-13)


def test_arguments_that_do_not_fit_are_refused():
    water = unda.Acoustic(rho=1.0, c=1.0)
    for arguments, found in [
        ({"medium": water}, r"medium is unda\.Acoustic.*expected a unda\.Maxwell"),
        ({"medium": Maxwell(eps=1.0, mu=1.0, sigma=1.0)}, r"sigma of medium is 1\.0 S/m; expected 0"),
        ({"sphere": water}, "sphere is "),
        ({"radius": 0.0}, "radius is 0.0; expected a finite positive number"),
        ({"frequency": -1.0}, "frequency is -1.0"),
        ({"polarization": (1, 0, 1)}, "expected 90"),
    ]:
        with pytest.raises(ArgumentError, match=found):
            exact.mie_sphere(
                **{"medium": Maxwell(eps=1.0, mu=1.0), "radius": 1.0, "frequency": 1.0, **arguments}
            )
    with pytest.raises(ArgumentError, match=r"is 1 outside, .*j inside; expected .*perfect conductor"):
        in_vacuum(1.0, Maxwell(eps=1.0, mu=1.0, sigma=1e7))
    with pytest.raises(ArgumentError, match=r"is 1e-30 outside; expected"):
        in_vacuum(1e-30)
    solution = in_vacuum(1.0)
    with pytest.raises(ArgumentError, match="part is 'incident'; expected 'total' or 'scattered'"):
        solution.fields(0.0, 0.0, 2.0, "incident")
    with pytest.raises(ArgumentError, match=r"\(2,\), \(3,\)"):
        solution.fields(np.zeros(2), np.zeros(3), 2.0)
    assert repr(solution).startswith("unda.exact.mie_sphere(unda.Maxwell(eps=1.0, mu=1.0, sigma=0.0), 1.0")
