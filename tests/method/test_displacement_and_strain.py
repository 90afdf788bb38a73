"""Displacements and strains at receivers and along fibres are integrals, compliances and differences.

Not here: fields, divergence and curl (test_derived_receivers.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from unda.errors import ArgumentError
from unda.method.expected import expected as exact_at
from unda.method.integral import Integral

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

cuda_device.prepare()
ROCK = unda.Elastic(rho=2.0, vp=3.0, vs=1.5)
BOX = {"lower": (0, 0, 0), "upper": (2, 1, 1)}
DISPLACEMENT, STRAIN = ("ux", "uy", "uz"), ("exx", "eyy", "ezz", "eyz", "exz", "exy")
AT = np.array([(0.7, 0.4, 0.6), (1.3, 0.5, 0.3), (0.5, 0.5, 0.5)])


def box(shape="tet", cells=(4, 2, 2)):
    return unda.box_mesh((0, 0, 0), (2, 1, 1), cells=cells, shape=shape)


def dg(medium=ROCK, **options):
    return unda.DG(box(), medium, **{"degree": 3, "dtype": "float64", "device": "cpu", **options})


def sem(**options):
    return unda.SEM(box("hex"), ROCK, degree=4, dtype="float64", **{"device": "cpu", **options})


def fd(**options):
    return unda.FD(unda.Grid((21, 11, 11), 0.1), ROCK, scheme="staggered",
                   **{"dtype": "float64", "device": "cpu", "boundary": {"*": "free"}, **options})  # fmt: skip


MAKERS = {"DG": dg, "DG ab3": lambda **on: dg(integrator="ab3", **on), "SEM": sem, "FD": fd}


def push(f=None):
    return unda.PointForce((1.0, 0.4, 0.5), f or unda.ricker(1.0, 0.6), (1.0, -0.5, 2.0))


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_on_staggered_grids_displacement_is_integrated_as_the_scheme_does(device):
    sim = fd(device=device)
    sim.add_source(push())
    rec = sim.add_receivers(AT, ["vz", *DISPLACEMENT, "vx"])
    third = sim.add_receivers(AT, "displacement", every=3)
    sim.run(steps=3 if device == "cuda" else 40)
    assert third.fields == DISPLACEMENT and rec.units["ux"] == "m"
    for axis in "xz":
        v, u = rec[f"v{axis}"], rec[f"u{axis}"]
        expected = sim.dt * np.concatenate([0 * v[:, :1], np.cumsum(v[:, 1:], axis=1)], axis=1)
        assert np.abs(u - expected).max() <= 1e-14 * np.abs(expected).max()
        assert (third[f"u{axis}"] == u[:, ::3]).all() and np.abs(u).max() > 0.0
    assert (third.times("ux") == third.t).all() and (rec.times("vx") == rec.t - 0.5 * sim.dt).all()


@pytest.mark.parametrize("name", ["DG", "DG ab3"])
def test_of_dg_displacement_is_integrated_to_the_order_of_the_steps(name):
    from scipy.interpolate import make_interp_spline

    sim = MAKERS[name]()
    sim.add_source(push(unda.ricker(2.0)))  # begins at rest
    rec = sim.add_receivers(AT[:2], ["vx", "ux", "vy", "uy"], every=1)
    coarse = sim.add_receivers(AT[:2], ["ux"], every=7)
    sim.run(until=1.4)
    for axis in "xy":
        v, u = rec[f"v{axis}"], rec[f"u{axis}"]
        exact = make_interp_spline(rec.t, v, k=7, axis=1).antiderivative()(rec.t)
        # the integrators' errors, 3/8 (omega dt)^3 of u at a frequency and 1/120 (omega dt)^4 at most, as of
        # a Taylor series; twice that at the source's highest one
        phase = 2 * np.pi * 5.0 * sim.dt
        bound = 2 * (3 / 8 * phase**3 if name == "DG ab3" else phase**4 / 120)
        assert np.abs(u - exact).max() < bound * np.abs(exact).max()
        rectangles = sim.dt * np.cumsum(v, axis=1)
        assert np.abs(rectangles - exact).max() > bound * np.abs(exact).max()
    assert (coarse["ux"] == rec["ux"][:, ::7]).all()


@pytest.mark.parametrize("name", ["SEM", pytest.param("DG", marks=pytest.mark.slow)])
def test_displacements_are_those_of_the_exact_solution(name):
    # u of a force f is v of the force's integral; in the middle of open space, before echoes come
    force = push(unda.gaussian(1.0, 0.8))
    exact = unda.exact.point_source(ROCK, push(unda.gaussian(1.0, 0.8).integral))
    mesh = unda.box_mesh((-1, -1, -1), (3, 2, 2), cells=(8, 6, 6), shape="hex" if name == "SEM" else "tet")
    sim = getattr(unda, name)(mesh, ROCK, degree=4, device="cpu", dtype="float32")
    sim.add_source(force)
    rec = sim.add_receivers([(1.9, 0.4, 0.6)], "displacement", every=2)
    sim.run(until=1.1)
    expected = exact(1.9, 0.4, 0.6, rec.t)
    scale = max(np.abs(expected[f"v{axis}"]).max() for axis in "xyz")
    for axis in "xyz":  # nodes 0.12 m apart, waves of 0.8 m and more
        assert np.abs(rec[f"u{axis}"][0] - expected[f"v{axis}"]).max() < 0.02 * scale
    assert np.abs(1.1 * rec["ux"][0] - expected["vx"]).max() > 0.02 * scale


def tensor(values):
    xx, yy, zz, yz, xz, xy = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_strain_is_what_stress_gives_in_the_material_at_the_point():
    mesh = unda.Mesh(box().vertices, box().cells, tags=(box().centroids[:, 0] > 1.0).astype(int),
                     tag_names={"soft": 0, "hard": 1})  # fmt: skip
    vs = {"soft": 0.8, "hard": 1.7}
    sim = unda.DG(mesh, unda.Elastic(rho=2.0, vp=3.0, vs=vs), degree=2, dtype="float64", device="cpu")
    strain = dict(zip(STRAIN, (0.3, -0.2, 0.1, 0.05, -0.4, 0.25), strict=True))
    e = tensor(strain.values())
    mu = np.where(mesh.tags == 0, 2.0 * 0.8**2, 2.0 * 1.7**2)
    s = [(2.0 * 9.0 - 2.0 * m) * np.trace(e) * np.eye(3) + 2.0 * m * e for m in mu]
    names = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}
    sim.set(**{name: np.repeat([[one[at]] for one in s], sim.num_node, axis=1) for name, at in names.items()})
    rec = sim.add_receivers(AT, ["strain", "sxx"])
    found = sim.sample(AT, "strain")
    for name, value in strain.items():
        assert np.abs(rec[name][:, 0] - value).max() < 1e-14 and np.abs(found[name] - value).max() < 1e-14
    assert np.ptp(rec["sxx"][:, 0]) > 0.5  # the stress is another one on both sides


@pytest.mark.parametrize("name", ["SEM", "FD"])
def test_strain_of_a_linear_displacement_is_its_gradient(name):
    sim = MAKERS[name]()
    g = np.array([[0.3, 0.1, -0.2], [0.5, -0.4, 0.0], [0.2, 0.6, 0.1]])
    e = 0.5 * (g + g.T)
    if name == "SEM":
        sim.set(**{f"u{axis}": lambda x, y, z, row=row: row[0] * x + row[1] * y + row[2] * z
                   for axis, row in zip("xyz", g, strict=True)})  # fmt: skip
    else:
        mu, lame = 2.0 * 1.5**2, 2.0 * (9.0 - 2 * 1.5**2)
        s = lame * np.trace(e) * np.eye(3) + 2 * mu * e
        pairs = ("xx", "yy", "zz", "yz", "xz", "xy")
        axes = [("xyz".index(a), "xyz".index(b)) for a, b in pairs]
        sim = fd(boundary={"*": "periodic"})
        sim.set(**{f"s{pair}": float(s[at]) for pair, at in zip(pairs, axes, strict=True)})
    rec = sim.add_receivers(AT, "strain")
    found = [rec[one][:, 0] for one in STRAIN]
    exact = [e[0, 0], e[1, 1], e[2, 2], e[1, 2], e[0, 2], e[0, 1]]
    # of grids the window's sinc sums to 1 to 1e-3 or better
    near = 1e-12 if name == "SEM" else 1e-3
    assert all(np.abs(a - b).max() < near for a, b in zip(found, exact, strict=True))
    assert rec.units["exy"] == "1"


def test_in_fluids_strain_is_refused_and_displacement_recorded():
    sea = unda.Elastic(rho=1.0, vp=2.0, vs=lambda x, y, z: 1.0 * (x > 1.0))
    sim = dg(sea)
    with pytest.raises(ArgumentError, match=r"point 0 \(2 such points\) is in a fluid"):
        sim.add_receivers(AT, "strain")
    assert sim.add_receivers(AT[1:2], "strain").num_sample == 1
    assert sim.add_receivers(AT, "displacement").num_sample == 1
    with pytest.raises(ArgumentError, match=r"\['ux', 'uy', 'uz'\] are integrals over time"):
        sim.sample(AT, "displacement")
    with pytest.raises(ArgumentError, match="no fields"):
        dg(unda.Acoustic(rho=1.0, c=1.0)).add_receivers(AT, "strain")


PATH = np.array([(0.2, 0.2, 0.3), (1.4, 0.2, 0.3), (1.4, 0.9, 0.8)])
MODE = unda.exact.lubricated_box_mode(ROCK, BOX["lower"], BOX["upper"], n=(1, 1, 1))


@pytest.mark.parametrize("method", [unda.DG, unda.SEM])
def test_strains_are_compared_with_exact_solutions(method):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex", periodic=(True,) * 3)
    wave, other = (unda.exact.plane_wave(ROCK, k=(2 * np.pi * n, 0, 0)) for n in (1, 2))
    sim = method(mesh, ROCK, degree=5, device="cpu")
    sim.set(wave)
    rec = sim.add_receivers([(0.33, 0.44, 0.55)], ["exx"])
    sim.step(20)
    assert rec.misfit(wave)[0] < 0.05 < 0.5 < rec.misfit(other)[0]


@pytest.mark.parametrize("name", ["DG", "SEM"])
def test_displacement_and_fibres_are_compared_with_exact_solutions(name):
    """The misfit is that of the velocity, at most some times as large; that of another wave is not small."""
    sim = MAKERS[name](boundary={"*": "symmetry"})
    sim.set(MODE)
    rec = sim.add_receivers(AT[:2], [*DISPLACEMENT, "vx", "vy", "vz"], every=3)
    line = sim.add_fibre([(0.2, 0.27, 0.33), (1.2, 0.22, 0.18)], gauge=0.4, spacing=0.2)
    sim.run(until=0.8)
    near = 4.0 * rec.misfit(MODE, fields=("vx", "vy", "vz")).max()
    assert near < 0.2 and (rec.misfit(MODE) <= near).all()
    along = line.misfit(MODE)
    assert (along <= near).all() and (line[1:3].misfit(MODE) == along[1:3]).all()
    stiff = unda.Elastic(rho=2.0, vp=4.0, vs=1.5)
    other = unda.exact.lubricated_box_mode(stiff, BOX["lower"], BOX["upper"], n=(1, 1, 1))
    assert (rec.misfit(other, fields=DISPLACEMENT) > near).all()
    assert (line.misfit(other, fields=("strain",)) > along).all()
    with pytest.raises(ArgumentError, match="expected a dict of"):
        line.misfit(lambda x, y, z, t: {"sxx": 0 * x * t})
    with pytest.raises(ArgumentError, match="takes derivatives"):
        sim.add_receivers(AT, "divergence").misfit(MODE)


def test_the_expected_displacement_is_the_integral_of_the_exact_velocity():
    """Of v cos(omega t): v (sin(omega t) - sin(omega t_0)) / omega."""
    sim = dg(boundary={"*": "symmetry"})
    sim.set(MODE)
    sim.run(steps=5)
    omega = 3.0 * np.pi * np.sqrt(0.25 + 1 + 1)
    for every in (1, 3, 10):
        rec = sim.add_receivers(AT, ["ux"], every=every)
        sim.run(steps=20)
        x, y, z = AT.T
        v = np.sin(np.pi * x / 2) * np.cos(np.pi * y) * np.cos(np.pi * z) / 3  # q_x of k = (1/2, 1, 1) pi
        right = v[:, None] / omega * (np.sin(omega * rec.t) - np.sin(omega * rec.t[0]))
        found = exact_at(rec, MODE, ("ux",))
        assert set(found) == set(DISPLACEMENT) and rec.num_sample > 2
        size = np.abs(v).max() / omega
        assert (
            np.abs(found["ux"] - right).max() <= 1e-10 * size < np.abs(found["ux"] - right * 1.000001).max()
        )


@pytest.mark.parametrize("name", ["DG", "SEM"])
def test_a_fibre_records_the_mean_of_strain_along_it(name):
    sim = MAKERS[name]()
    kind = "u" if name == "SEM" else "v"
    g = np.array([[0.3, 0.1, -0.2], [0.5, -0.4, 0.0], [0.2, 0.6, 0.1]])
    # gradient of (g x + 0.5 x^2 in x): on a straight piece the mean of a linear strain is that of its middle
    sim.set(**{f"{kind}{axis}": lambda x, y, z, row=row, axis=axis:
               row[0] * x + row[1] * y + row[2] * z + (0.5 * x**2 if axis == "x" else 0.0)
               for axis, row in zip("xyz", g, strict=True)})  # fmt: skip
    fields = ["strain"] if name == "SEM" else ["strain_rate"]
    rec = sim.add_fibre(PATH, fields, gauge=0.4, spacing=0.25)
    length = 1.2 + np.sqrt(0.7**2 + 0.5**2)
    assert len(rec.points) == 1 + int((length - 0.4) / 0.25) and rec.units[fields[0]][0] == "1"
    t = np.array([[1.0, 0.0, 0.0], np.array([0.0, 0.7, 0.5]) / np.sqrt(0.74)])
    middle = 0.2 + 0.25 * np.arange(len(rec.points))
    first = np.clip((1.2 - (middle - 0.2)) / 0.4, 0.0, 1.0)  # of the gauge before the corner
    along = [one @ g @ one for one in t]
    x = 0.2 + 0.5 * (np.maximum(middle - 0.2, 0.0) + np.minimum(middle + 0.2, 1.2))  # middle of that piece
    expected = first * (along[0] + x) + (1 - first) * along[1]
    assert np.abs(rec[fields[0]][:, 0] - expected).max() < 1e-12
    other = sim.add_fibre(PATH, fields, gauge=0.2, spacing=0.25)[fields[0]]
    assert np.abs(other[: len(expected), 0] - expected).max() > 1e-3


@pytest.mark.parametrize("name", MAKERS)
def test_strain_of_a_fibre_is_the_difference_of_displacements_over_the_gauge(name):
    sim = MAKERS[name]()
    sim.add_source(push())
    fibre = sim.add_fibre(PATH[:2], gauge=0.5, spacing=0.35, every=2)
    ends = np.concatenate([fibre.points + sign * np.array([0.25, 0.0, 0.0]) for sign in (-1, 1)])
    rec = sim.add_receivers(ends, ["ux", "vx"], every=2)
    sim.run(steps=24)
    num = len(fibre.points)
    for field, of in (("strain", "ux"), ("strain_rate", "vx")):
        expected = (rec[of][num:] - rec[of][:num]) / 0.5
        assert np.abs(fibre[field] - expected).max() < 1e-12 * np.abs(expected).max()
        assert (fibre.times(field) == rec.times(of)).all()


@pytest.mark.parametrize("name", MAKERS)
def test_integrals_go_on_from_files_and_in_pieces_to_the_bit(name, tmp_path):
    def begun(sim):
        sim.add_source(push())
        sim.add_receivers(AT, [*DISPLACEMENT, "vx"], every=3)
        sim.add_fibre(PATH, gauge=0.4, spacing=0.3, every=2)
        return sim

    whole, parts = begun(MAKERS[name]()), begun(MAKERS[name]())
    whole.run(steps=23)
    for _ in range(10):
        parts.step(1)
    parts.save(tmp_path / "run.h5")
    parts.run(steps=13)
    again = unda.load(tmp_path / "run.h5")
    again.run(steps=13)
    for other in (parts, again):
        for one, expected in zip(other.receivers, whole.receivers, strict=True):
            assert one.num_sample == expected.num_sample
            assert all((one[field] == expected[field]).all() for field in expected.fields)
    (shot,) = whole.shots([push()], AT, steps=23, fields=[*DISPLACEMENT, "vx"], every=3)
    assert all((shot[field] == parts.receivers[0][field]).all() for field in shot.fields)
    for kept in (shot, parts.receivers[1][1:3]):  # gathers, and points that were cut out
        kept.save(tmp_path / "kept.h5")
        read = unda.load_receivers(tmp_path / "kept.h5")
        assert all((read[field] == kept[field]).all() for field in kept.fields)


@pytest.mark.parametrize("ask, found", [
    (lambda: dg().add_fibre(PATH[:1], gauge=0.1, spacing=0.1), "path has 1 corners"),
    (lambda: dg().add_fibre(PATH[:2], gauge=1.3, spacing=0.1), "at most 1.2 m, the length of the path"),
    (lambda: dg().add_fibre(PATH[:2], gauge=-0.1, spacing=0.1), "gauge is -0.1"),
    (lambda: dg().add_fibre(PATH, "shear", gauge=0.1, spacing=0.1), "no fields"),
    (lambda: dg().add_fibre(PATH + 1.0, gauge=0.1, spacing=0.1), "outside the mesh"),
    (lambda: dg(unda.Maxwell(eps=1.0, mu=1.0)).add_fibre(PATH, gauge=0.1, spacing=0.1), "no fields"),
    (
        lambda: unda.FD(unda.Grid((9, 9, 9), 0.25), unda.Acoustic(rho=1.0, c=1.0)).add_fibre(
            PATH, gauge=0.1, spacing=0.1
        ),
        "made of v, .* take scheme='staggered'$",
    ),
])  # fmt: skip
def test_bad_fibres_are_named(ask, found):
    with pytest.raises(ArgumentError, match=found):
        ask()


def test_grids_sum_samples_from_the_first_step_on_in_any_pieces():
    dt, num = 0.1, 8
    t = dt * np.arange(num)
    v = 2.0 + (t - 0.5 * dt)  # in the middle of steps, where the rule is exact for linear ones
    integral = Integral(["u"], ["u"], 1, dt)
    integral.begin(5)
    parts = []
    for part in np.split(v[:, None, None], [1, 2, 5]):  # as calls of the library give them
        made, first, integral.state = integral.advance(part)
        assert first == sum(map(len, parts))
        parts.append(made)
    u = np.concatenate(parts)[:, 0, 0]
    assert u[0] == 0.0 and np.abs(u - (2.0 * t + t**2 / 2)).max() < 1e-15
    assert np.abs(np.cumsum(dt * v) - u).min() > 0.1  # with a sample before the first step
