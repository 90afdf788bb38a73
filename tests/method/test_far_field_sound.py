"""The far field of sound from p and v on a surface: a rigid sphere's series, monopole and dipole, a run.

Not here: light, boxes and spheres around as such (test_far_field.py).
"""

import numpy as np
import pytest
import unda
from scipy.special import eval_legendre, spherical_jn, spherical_yn
from unda.errors import ArgumentError

WATER = unda.Acoustic(rho=1.3, c=1.5)
Z = 1.3 * 1.5
CENTER = np.array([0.3, -0.2, 0.1])
ALONG = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
SURFACES = {
    "sphere": {"radius": 1.4, "center": CENTER + np.array([0.05, 0.0, -0.1])},
    "box": {"box": (CENTER - np.array([1.3, 1.5, 1.35]), CENTER + np.array([1.45, 1.3, 1.6]))},
}
# What the rules promise for fields whose singularities are beneath the sphere, or 0.2 edges from a face.
WITHIN = {"sphere": 1e-11, "box": 1e-5}


def around(kind, k):
    return unda.FarField(WATER, frequency=k * 1.5 / (2 * np.pi), **SURFACES[kind])


def hankel(n, x, derivative=False):
    return spherical_jn(n, x, derivative) + 1j * spherical_yn(n, x, derivative)


def orders(k):
    return np.arange(int(k + 4 * np.cbrt(k) + 16))


def rigid_sphere(points, k):
    """p, vx, vy, vz scattered by a rigid unit sphere about CENTER, of a wave exp(i k ALONG.(x - CENTER)).

    Morse & Ingard (1968), section 8.2: p = -sum (2 n + 1) i^n j_n'(k)/h_n'(k) h_n(k r) P_n(cos theta).
    """
    d = points - CENTER
    r = np.linalg.norm(d, axis=1)
    out = d / r[:, None]
    cosine = out @ ALONG
    p, radial, polar = (np.zeros(len(r), complex) for _ in range(3))
    for n in orders(k):
        a = -(2 * n + 1) * 1j**n * spherical_jn(n, k, True) / hankel(n, k, True)
        slope = n * (eval_legendre(n - 1, cosine) - cosine * eval_legendre(n, cosine)) / (1 - cosine**2)
        p += a * hankel(n, k * r) * eval_legendre(n, cosine)
        radial += a * k * hankel(n, k * r, True) * eval_legendre(n, cosine)
        polar += a * hankel(n, k * r) / r * (slope if n else 0.0)
    gradient = radial[:, None] * out + polar[:, None] * (ALONG - cosine[:, None] * out)
    return np.column_stack([p, gradient / (1j * k * Z)])  # grad p = i k Z v


def scattered_far(d, k):
    """Amplitude of r from the origin of coordinates: h_n(k r) goes to (-i)^(n+1) exp(i k r)/(k r)."""
    cosine = d @ ALONG
    made = sum(
        -(2 * n + 1) * -1j / k * spherical_jn(n, k, True) / hankel(n, k, True) * eval_legendre(n, cosine)
        for n in orders(k)
    )
    return made * np.exp(-1j * k * d @ CENTER)


def named(table):
    return dict(zip(("p", "vx", "vy", "vz"), table.T, strict=True))


def looking(num):
    d = np.random.default_rng(5).normal(size=(num, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


@pytest.mark.parametrize(("kind", "k"), [("sphere", 0.3), ("sphere", 3.0), ("sphere", 12.0), ("box", 3.0)])
def test_a_rigid_sphere_has_its_far_field(k, kind):
    surface, d = around(kind, k), looking(40)
    fields = rigid_sphere(surface.points, k)
    expected, found = scattered_far(d, k), surface.amplitude(named(fields), d)
    assert np.abs(found - expected).max() < WITHIN[kind] * np.abs(expected).max()
    fields[:, 2] *= 1.01  # of vy
    assert np.abs(surface.amplitude(named(fields), d) - expected).max() > 1e-4 * np.abs(expected).max()


def test_a_monopole_and_a_dipole_have_theirs_and_a_wave_from_outside_has_none():
    """p = exp(i k R)/R and its derivative along e: amplitude exp(-i k d.x0), times -i k d.e of the dipole."""
    k, place, e = 4.0, CENTER + np.array([0.3, -0.2, 0.4]), looking(1)[0]
    surface, d = around("sphere", k), looking(20)
    far = np.exp(-1j * k * d @ place)
    offset = surface.points - place
    r = np.linalg.norm(offset, axis=1)
    n = offset / r[:, None]
    p = np.exp(1j * k * r) / r
    first, second = p * (1j * k - 1 / r), p * ((1j * k - 1 / r) ** 2 + 1 / r**2)  # dp/dr, d2p/dr2
    along = n @ e
    twice = (second - first / r)[:, None] * along[:, None] * n + (first / r)[:, None] * e  # grad (e.grad p)
    monopole = np.column_stack([p, first[:, None] * n / (1j * k * Z)])
    dipole = np.column_stack([-first * along, -twice / (1j * k * Z)])
    passing = np.exp(1j * k * surface.points @ ALONG)
    passing = np.column_stack([passing, passing[:, None] * ALONG / Z])
    assert np.abs(surface.amplitude(named(monopole), d) - far).max() < 1e-10
    assert np.abs(surface.amplitude(named(dipole), d) + 1j * k * d @ e * far).max() < 1e-10 * k
    assert np.abs(surface.amplitude(named(passing), d)).max() < 1e-10
    turned = monopole * [1, -1, -1, -1]
    assert np.abs(surface.amplitude(named(turned), d) - far).max() > 0.1


class Recorded:
    """What receivers have of a run: spectra of the scattered fields, s being that of the wave."""

    def __init__(self, points, table, s):
        self.points, self.fields, self._values = points, ("p", "vx", "vy", "vz"), named(s * table)

    def spectrum(self, name, frequency):
        return self._values[name]


def test_a_run_has_the_cross_section_of_its_spectra():
    """As in test_far_field.py: the spectrum of a Ricker wavelet of peak frequency g is known.

    Angles around are from the axis most across the wave, here x, as the first of x and z.
    """
    k = 3.0
    surface = around("sphere", k)
    f, g = surface.frequency, 0.8 * surface.frequency
    s = 2.5 * 2 / np.sqrt(np.pi) * f**2 / g**3 * np.exp(-((f / g) ** 2))
    rec = Recorded(surface.points, rigid_sphere(surface.points, k), s)
    wave = unda.PlaneWave(ALONG, f=unda.ricker(g), region="a", amplitude=2.5)
    theta, phi = np.linspace(0, np.pi, 13), np.array([[0.0], [1.0]])
    across = np.eye(3)[0] - ALONG[0] * ALONG
    across /= np.linalg.norm(across)
    around_it = np.cos(phi)[..., None] * across + np.sin(phi)[..., None] * np.cross(ALONG, across)
    d = np.cos(theta)[:, None] * ALONG + np.sin(theta)[:, None] * around_it
    expected = 4 * np.pi * np.abs(scattered_far(d.reshape(-1, 3), k)).reshape(2, 13) ** 2
    found = surface.cross_section(rec, wave, theta, phi)
    assert found.shape == (2, 13) and np.abs(found - expected).max() < 1e-6 * expected.max()
    both = surface.amplitude(rec, d), surface.amplitude(named(s * rigid_sphere(surface.points, k)), d)
    assert np.array_equal(*both) and both[0].shape == (2, 13)
    other = unda.FarField(WATER, 1.5, f)
    with pytest.raises(ArgumentError, match="other points; expected the"):
        other.amplitude(rec, d)
    with pytest.raises(ArgumentError, match="a mapping of arrays, or receivers"):
        other.amplitude(3.0, d)


def test_an_injection_in_a_run_radiates_alike_in_all_directions():
    """Pressure rho q'(t - r)/(4 pi r): amplitude -i omega rho/(4 pi) of the spectrum of q, within a percent.

    A box of 16 cells of staggered fourth order, layers around it: 13 nodes in a wavelength, whose speed is
    wrong by 2e-4, and the field of one node, which is (k h)^2/24, 1 % of that, off. That receivers record
    other fields too does not matter.
    """
    medium, f0 = unda.Acoustic(rho=1.0, c=1.0), 0.5
    sim = unda.FD(
        unda.Grid((17,) * 3, 0.15, origin=(-1.2,) * 3), medium, scheme="staggered", order=4, fmax=1.25
    )
    source = unda.VolumeInjection((0.0, 0.0, 0.0), unda.ricker(f0))
    sim.add_source(source)
    surface = unda.FarField(medium, frequency=f0, box=((-0.6,) * 3, (0.6,) * 3))
    rec = sim.add_receivers(surface.points, ("p", "ux", "vx", "vy", "vz"))
    sim.run(until=source.f.span[1] + 4.0)
    omega = 2 * np.pi * f0
    t = np.linspace(*source.f.span, 2001)
    expected = -1j * omega / (4 * np.pi) * (source.f(t) * np.exp(1j * omega * t)).sum() * (t[1] - t[0])
    found = surface.amplitude(rec, looking(20))
    assert np.abs(found - expected).max() < 0.01 * abs(expected)
    assert np.abs(found.conj() - expected).max() > 0.1 * abs(expected)


def test_the_pressure_alone_has_no_far_field():
    surface = around("sphere", 1.0)
    with pytest.raises(ArgumentError, match="fields lack"):
        surface.amplitude({"p": np.zeros(len(surface.points))}, (0, 0, 1))
