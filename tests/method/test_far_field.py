"""What goes through a sphere is what arrives far away: against Mie, with dipoles, and by spectra of runs.

Not here: sound (test_far_field_sound.py); a scatterer in a run (examples/pec_scattering.py,
test_examples.py).
"""

import numpy as np
import pytest
import unda
from unda import exact
from unda.errors import ArgumentError

AROUND = unda.Maxwell(eps=1.5, mu=1.2)
K = np.sqrt(1.5 * 1.2)  # over 2 pi f
CENTER = np.array([0.3, -0.2, 0.1])
WAVE = {"direction": (1, 2, -1), "polarization": (1, -1, -1), "center": CENTER}


def mie(size, **more):
    return exact.mie_sphere(AROUND, 1.0, size / K / (2 * np.pi), **{**WAVE, **more})


def around(size, radius=1.4):
    return unda.FarField(AROUND, radius, size / K / (2 * np.pi), center=CENTER + np.array([0.05, 0.0, -0.1]))


def directions(theta, phi):
    """By angles from the wave's direction and its polarization."""
    d = np.array(WAVE["direction"]) / np.sqrt(6)
    e = np.array(WAVE["polarization"]) / np.sqrt(3)
    across = np.cos(phi) * e + np.sin(phi) * np.cross(d, e)
    return np.cos(theta)[:, None] * d + np.sin(theta)[:, None] * across


def power(amplitude):
    return 4 * np.pi * (np.abs(amplitude) ** 2).sum(axis=-1)


@pytest.mark.parametrize("sphere", [None, unda.Maxwell(eps=4.0, mu=1.2)], ids=["pec", "dielectric"])
@pytest.mark.parametrize("size", [0.3, 3.0, 12.0])
def test_a_sphere_has_its_cross_section(size, sphere):
    solution, surface = mie(size, sphere=sphere), around(size)
    fields = solution.fields(*surface.points.T, part="scattered")
    theta = np.linspace(0, np.pi, 25)
    for phi in (0.0, 1.0, np.pi / 2):
        expected = solution.bistatic(theta, phi)
        found = power(surface.amplitude(fields, directions(theta, phi)))
        assert np.abs(found - expected).max() < 1e-11 * expected.max()
    fields["hy"] = fields["hy"] * 1.01
    wrong = power(surface.amplitude(fields, directions(theta, phi)))
    assert np.abs(wrong - expected).max() > 1e-4 * expected.max()


@pytest.mark.parametrize("size", [0.3, 3.0, 12.0])
def test_a_box_around_has_the_cross_section_of_a_sphere_around(size):
    """Of a box with three different edges, beside the sphere's middle; not with a face turned around."""
    solution = mie(size, sphere=unda.Maxwell(eps=4.0, mu=1.2))
    box = CENTER - np.array([1.3, 1.5, 1.35]), CENTER + np.array([1.45, 1.3, 1.6])
    surface = unda.FarField(AROUND, frequency=size / K / (2 * np.pi), box=box)
    fields = solution.fields(*surface.points.T, part="scattered")
    theta = np.linspace(0, np.pi, 25)
    expected = solution.bistatic(theta, 1.0)
    found = power(surface.amplitude(fields, directions(theta, 1.0)))
    assert np.abs(found - expected).max() < 1e-5 * expected.max()  # what its rule promises
    face = surface.points[:, 1] == box[1][1]
    turned = {name: np.where(face, -values, values) for name, values in fields.items()}
    wrong = power(surface.amplitude(turned, directions(theta, 1.0)))
    assert face.any() and np.abs(wrong - expected).max() > 1e-2 * expected.max()


class Recorded:
    """What receivers have of a run: spectra of the scattered fields, s being that of the wave."""

    def __init__(self, points, fields, s):
        self.points = points
        self.fields, self._values = tuple(fields), {name: s * one for name, one in fields.items()}

    def spectrum(self, name, frequency):
        return self._values[name]


def test_a_run_has_the_cross_section_of_its_spectra():
    """A Ricker wavelet of peak frequency g has the spectrum 2 / sqrt(pi) f^2 / g^3 exp(-(f / g)^2) at f.

    It is cut off where it is less than 1e-7 of its peak, which is worth less than 1e-6. Not with
    another wave.
    """
    solution, surface = mie(3.0), around(3.0)
    f, g = surface.frequency, 0.8 * surface.frequency
    s = 2.5 * 2 / np.sqrt(np.pi) * f**2 / g**3 * np.exp(-((f / g) ** 2))
    rec = Recorded(surface.points, solution.fields(*surface.points.T, part="scattered"), s)
    wave = unda.PlaneWave(WAVE["direction"], WAVE["polarization"], unda.ricker(g), region="a", amplitude=2.5)
    theta, phi = np.linspace(0, np.pi, 13), np.array([[0.0], [1.0]])
    expected, found = solution.bistatic(theta, phi), surface.cross_section(rec, wave, theta, phi)
    assert found.shape == (2, 13) and np.abs(found - expected).max() < 1e-6 * expected.max()
    turned = unda.PlaneWave(WAVE["direction"], (1, 0, 1), wave.f, region="a", amplitude=2.5)
    assert np.abs(surface.cross_section(rec, turned, theta, phi) - expected).max() > 0.1 * expected.max()
    for other, says in ((np.cos, "expected one that ends"), (unda.ricker(0.01 * f), "nothing at")):
        wave = unda.PlaneWave(WAVE["direction"], WAVE["polarization"], other, region="a")
        with pytest.raises(ArgumentError, match=says):
            surface.cross_section(rec, wave, theta, phi)


def test_a_surface_is_a_sphere_or_a_box():
    for given, says in (
        ({}, "expected one of them"),
        ({"radius": 1.0, "box": ((0, 0, 0), (1, 1, 1))}, "expected one of them"),
        ({"box": ((0, 0, 0), (1, 0, 1))}, "expected a volume"),
        ({"box": ((0, 0, 1), (1, 1, 0))}, "lower corner first"),
        ({"box": 1.0}, "two corners"),
    ):
        with pytest.raises(ArgumentError, match=says):
            unda.FarField(AROUND, frequency=1.0, **given)
    assert "box=((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))" in repr(
        unda.FarField(AROUND, frequency=1.0, box=((0,) * 3, (1,) * 3))
    )


def test_the_amplitude_is_the_field_far_away_phase_included():
    solution, surface = mie(3.0), around(3.0)
    fields = solution.fields(*surface.points.T, part="scattered")
    d = directions(np.array([0.4, 2.0]), 0.7)
    r, k = 1e5, 3.0
    far = np.stack(list(solution.fields(*(r * d).T, part="scattered").values())[:3], axis=1)
    found = surface.amplitude(fields, d) * np.exp(1j * k * r) / r
    assert np.abs(found - far).max() < 10 / (k * r) * np.abs(far).max()  # the next term in 1/r
    assert np.abs(np.sum(found * d, axis=1)).max() < 1e-12 * np.abs(far).max()


def test_waves_that_pass_from_outside_to_outside_do_not_count():
    solution, surface = mie(3.0), around(3.0)
    total, scattered = (solution.fields(*surface.points.T, part=p) for p in ("total", "scattered"))
    incident = {name: total[name] - scattered[name] for name in total}
    d = directions(np.linspace(0, np.pi, 9), 0.3)
    size = np.abs(surface.amplitude(scattered, d)).max()
    assert np.abs(surface.amplitude(incident, d)).max() < 1e-12 * size
    assert np.abs(surface.amplitude(total, d) - surface.amplitude(scattered, d)).max() < 1e-12 * size


def test_a_dipole_in_a_run_has_its_far_field_though_absorbing_sides_send_something_back():
    medium, f0 = unda.Maxwell(eps=1.0, mu=1.0), 0.4
    source = unda.CurrentDipole((0.1, -0.05, 0.07), unda.ricker(f0), direction=(1, 2, -1))
    mesh = unda.box_mesh((-1.2,) * 3, (1.2,) * 3, cells=(6, 6, 6), perturb=0.1)
    sim = unda.DG(mesh, medium, degree=3, boundary={"*": "absorbing"})
    sim.add_source(source)
    surface = unda.FarField(medium, 1.1, f0)
    rec = sim.add_receivers(surface.points, sim.fields, every=3)
    sim.run(until=source.f.span[1] + 2.0)
    found_near = {name: rec.spectrum(name, f0) for name in rec.fields}

    omega = 2 * np.pi * f0
    t = np.linspace(*source.f.span, 2001)
    moment = (source.f(t) * np.exp(1j * omega * t)).sum() * (t[1] - t[0]) * np.array(source.direction)
    d = directions(np.linspace(0, np.pi, 7), 0.9)
    across = moment - (d @ moment)[:, None] * d
    # Jackson (1999), 9.19, for a current: E = i omega mu exp(i k r)/(4 pi r) (m - d (d.m))
    expected = 1j * omega / (4 * np.pi) * across * np.exp(-1j * omega * d @ source.position)[:, None]
    found = surface.amplitude(found_near, d)
    assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()
    assert np.abs(found.conj() - expected).max() > 0.1 * np.abs(expected).max()

    traces = exact.point_source(medium, source)(*(rec.points[:, i, None] for i in range(3)), rec.t)
    near = traces["hy"] @ np.exp(2j * np.pi * f0 * rec.t) * (rec.t[1] - rec.t[0])
    assert np.abs(found_near["hy"] - near).max() > 0.1 * np.abs(near).max()  # what the sides sent back


def test_a_spectrum_is_that_of_the_pulse():
    """A plane wave through an empty box: f at the origin, a phase at other places."""
    pulse, medium = unda.gaussian(0.5), unda.Acoustic(rho=1.0, c=1.0)
    mesh = unda.box_mesh((0, 0, 0), (2, 0.5, 0.5), cells=(8, 2, 2))
    wave = exact.plane_wave(medium, direction=(1, 0, 0), f=pulse)
    sim = unda.DG(mesh, medium, degree=4, boundary={"*": wave}, dtype="float64")
    sim.set(wave)
    rec = sim.add_receivers([(0.2, 0.2, 0.3), (1.7, 0.2, 0.3)], ["p"], every=2)
    sim.run(until=pulse.span[1] + 2.0)
    f = np.array([0.0, 0.2, -0.3, 0.9])
    t = np.linspace(*pulse.span, 4001)
    transform = (pulse(t) * np.exp(2j * np.pi * np.outer(f, t))).sum(axis=1) * (t[1] - t[0])
    expected = transform * np.exp(2j * np.pi * f * rec.points[:, :1])
    assert np.abs(rec.spectrum("p", f) - expected).max() < 1e-3 * np.abs(transform).max()
    assert np.array_equal(rec.spectrum("p", 0.2), rec.spectrum("p", [0.2])[:, 0])
    assert np.abs(rec.spectrum("p", -f) - rec.spectrum("p", f).conj()).max() < 1e-15


@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # nothing is sent
def test_a_spectrum_is_refused_where_there_is_none():
    sim = unda.DG(
        unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1)), unda.Acoustic(rho=1.0, c=1.0), degree=1
    )
    rec = sim.add_receivers([(0.4, 0.5, 0.6)], ["p"])
    with pytest.raises(ArgumentError, match="1 samples; expected at least 2"):
        rec.spectrum("p", 1.0)
    sim.run(steps=4)
    with pytest.raises(ArgumentError, match="field 'vx' was not recorded"):
        rec.spectrum("vx", 1.0)
    for f in (1.0 / rec.t[1], np.nan, [0.0, np.inf]):
        with pytest.raises(ArgumentError, match="half a sample rate"):
            rec.spectrum("p", f)
    with pytest.raises(ArgumentError, match=r"shape \(1, 1\)"):
        rec.spectrum("p", [[0.1]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((unda.Elastic(rho=1.0, vp=2.0, vs=1.0), 1.0, 1.0), "expected Acoustic or Maxwell"),
        ((unda.Maxwell(eps=1.0, mu=1.0, sigma=1.0), 1.0, 1.0), "sigma = 1.0"),
        ((unda.Maxwell(eps={"a": 1.0, "b": 2.0}, mu=1.0), 1.0, 1.0), "homogeneous"),
        ((unda.Maxwell(eps=1.0, mu=1.0), 0.0, 1.0), "radius"),
        ((unda.Maxwell(eps=1.0, mu=1.0), 1.0, -1.0), "frequency"),
    ],
)
def test_no_sphere_without_a_wave_around_it(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        unda.FarField(*arguments)


def test_fields_and_directions_are_checked():
    surface = around(0.3)
    fields = dict.fromkeys(AROUND.fields, np.zeros(len(surface.points)))
    with pytest.raises(ArgumentError, match=r"lack \['hz'\]"):
        surface.amplitude({k: v for k, v in fields.items() if k != "hz"}, (0, 0, 1))
    with pytest.raises(ArgumentError, match=r"ex has shape \(3,\)"):
        surface.amplitude({**fields, "ex": np.zeros(3)}, (0, 0, 1))
    with pytest.raises(ArgumentError, match="p"):
        surface.amplitude({**fields, "p": fields["ex"]}, (0, 0, 1))
    for d in ((0, 0, 0), (0, 0, np.nan)):
        with pytest.raises(ArgumentError, match="zero or not finite"):
            surface.amplitude(fields, d)
    with pytest.raises(ArgumentError, match=r"shape \(2,\)"):
        surface.amplitude(fields, (0, 1))
    assert surface.amplitude(fields, np.ones((4, 5, 3))).shape == (4, 5, 3)
