"""SEM in Python: files, forecast, checks, refusals, blow-ups."""

import numpy as np
import pytest
import unda
from sem_cases import solid_and_fluid, start

SIDES = {"zmax": "free", "xmin": "symmetry", "ymin": "fixed", "*": "absorbing"}
RICKER = unda.ricker(1.5)


@pytest.fixture(scope="module")
def problem():
    return solid_and_fluid()


def made(problem, **options):
    sim = start(unda.SEM(*problem, degree=2, boundary=SIDES, **options))
    sim.add_source(
        [unda.PointForce((0.3, 0.3, 0.3), RICKER, (1, 2, 3)), unda.VolumeInjection((0.3, 0.3, 0.7), RICKER)]
    )
    sim.add_receivers([(0.4, 0.4, 0.4), (0.5, 0.5, 0.8)], fields=["ux", "pressure"], every=2)
    return sim


@pytest.mark.parametrize(("before", "per"), [(0, "cell"), (7, "cell"), (7, "node")])
def test_a_checkpoint_continues_with_the_same_bits(tmp_path, before, per):
    sim = made(solid_and_fluid(per=per, degree=2))
    sim.step(before)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    assert isinstance(again, unda.SEM) and again.dt == sim.dt
    for one in (sim, again):
        one.step(9)
    assert sim._read().tobytes() == again._read().tobytes()
    for name in ("ux", "pressure"):
        assert np.array_equal(sim.receivers[0][name], again.receivers[0][name])
    assert sim.energy() == again.energy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_forecast_is_the_memory(problem, dtype):
    sim = unda.SEM(*problem, degree=3, dtype=dtype)
    assert unda.SEM.forecast(*problem, degree=3, dtype=dtype) == sim.memory


def test_fields_are_written_for_paraview(problem, tmp_path):
    sim = made(problem)
    sim.step(2)
    sim.write_vtu(tmp_path / "all.vtu")
    sim.write_vtu(tmp_path / "some.vtu", ["pressure", "uz"], subdivide=1)
    names = [(tmp_path / f"{name}.vtu").read_bytes() for name in ("all", "some")]
    assert all(f'Name="{name}"'.encode() in names[0] for name in ("u", "v", "s"))
    assert b'Name="pressure"' in names[1] and b'Name="v"' not in names[1]


def test_an_exact_solution_without_a_field_is_refused(problem):
    sim = made(problem)
    for function, words in (
        (lambda *_: np.ones(3), "gave ndarray, expected a dict"),
        (lambda *_: {"ex": 1.0}, "gives ex; expected some of ux"),
        (lambda *_: {}, "gives no fields"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            sim.error(function)


def test_a_blow_up_restores_the_last_good_state(problem):
    sim = start(unda.SEM(*problem, degree=2, dt=1.0, allow_unstable=True))
    with pytest.raises(unda.UnstableError, match="local CFL number") as caught:
        sim.step(1000)
    assert sim.step_count == caught.value.last_good_step < 1000 and caught.value.field in sim.fields
    assert np.isfinite(sim._read()).all()
    with pytest.raises(unda.ArgumentError, match="blew up"):
        sim.step(1)
    start(sim)
    sim.step(1)
    assert sim.step_count == 1


def test_check_tells_nodes_in_a_wavelength_and_the_dispersion_of_the_steps(problem):
    sim = made(problem)
    report = sim.check()
    (nodes,) = report.nodes_per_wavelength.values()
    spacing = (sim.mesh.volumes / 2**3) ** (1 / 3)
    speed = np.where(sim._fluid, 1.5, 1.1)
    assert nodes == pytest.approx((speed / RICKER.fmax / spacing).min())
    (told,) = [text for text in report.notes + report.warnings if "run" in text and "fast" in text]
    far = np.linalg.norm(np.array([0.5, 0.5, 0.8]) - 0.3)
    ahead = (2 * np.pi * RICKER.fmax / 2.5 * sim.dt) ** 2 / 24
    assert f"{100 * ahead:.2g} % fast" in told and f"{far:.4g} m" in told


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda mesh, medium: unda.SEM(mesh, unda.Maxwell()), "spurious"),
        (lambda mesh, medium: unda.SEM(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), medium), "tetrahedra"),
        (lambda mesh, medium: unda.SEM(mesh, medium, degree=1), "2 to 10"),
        (lambda mesh, medium: unda.SEM(mesh, medium, dt=1.0), "stable limit"),
        (
            lambda mesh, medium: unda.SEM(mesh, medium, boundary={"*": lambda x, y, z, t: {}}),
            "no outer values",
        ),
        (lambda mesh, medium: unda.SEM(mesh, medium).set(vx=1.0, ax=1.0), "ax follows from"),
        (lambda mesh, medium: unda.SEM(mesh, medium).set(vx=1.0, banana=1.0), "no fields"),
        (
            lambda mesh, medium: unda.SEM(mesh, medium).set(ux=np.arange(24.0 * 125).reshape(24, 125)),
            "one value",
        ),
        (lambda mesh, medium: unda.SEM(mesh, medium).get("divergence"), "divergence"),
    ],
)
def test_refusals_say_why(problem, call, words):
    with pytest.raises(unda.ArgumentError, match=words):
        call(*problem)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (unda.PointForce((0.3, 0.3, 0.8), np.sin, (1, 0, 0)), "plain callable.* integral of its integral"),
        (unda.MomentTensor((0.3, 0.3, 0.8), RICKER, np.diag([1, 2, 3])), "no shear"),
        (unda.PlaneWave((1, 0, 0), f=RICKER, region="rock"), "incident"),
        (unda.CurrentDipole((0.3, 0.3, 0.8), RICKER, (1, 0, 0)), "maxwell"),
    ],
)
def test_sources_that_do_not_fit_are_refused(problem, source, words):
    with pytest.raises(unda.ArgumentError, match=words):
        unda.SEM(*problem, degree=2).add_source(source)


def test_solutions_without_a_known_potential_are_refused():
    medium = unda.Acoustic(rho=1.0, c=1.0)
    sim = unda.SEM(unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex"), medium, degree=2)
    with pytest.raises(unda.ArgumentError, match="potential is known"):
        sim.set(unda.exact.spherical_pulse(medium, (0, 0, 0), 1.0))
    sim.set(lambda x, y, z, t: {"chi": x, "chi_t": 0 * x + t}, t=2.0)
    assert sim.get("chi_t").min() == sim.get("chi_t").max() == 2.0


def test_materials_that_are_half_a_fluid_are_refused():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape="hex")
    medium = unda.Elastic(rho=1.0, vp=2.0, vs=lambda x, y, z: np.where(z > 0.5, 0.0, 1.0), per="node")
    with pytest.raises(unda.ArgumentError, match="all nodes of an element or none"):
        unda.SEM(mesh, medium, degree=3)


def test_rounding_does_not_tear_a_state():
    """Components that should be 0 are noise that cells do not share; a millionth of the others is none."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
    sim = unda.SEM(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=1.0), degree=2, dtype="float64")
    noise = np.random.default_rng(1).normal(size=(8, 27))
    sim.set(ux=lambda x, y, z: x, uz=1e-16 * noise, vx=1e-15 * noise)
    with pytest.raises(unda.ArgumentError, match="one value"):
        sim.set(ux=lambda x, y, z: x, uz=1e-6 * noise)


def test_colours_are_timed_on_the_cpu_and_the_state_stays():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (6, 6, 6), shape="hex")
    vs = np.where(mesh.centroids[:, 2] > 0.5, 0.0, 1.0)
    sim = unda.SEM(mesh, unda.Elastic(rho=1.0, vp=2.0, vs=vs), degree=2, device="cpu")
    sim.set(ux=lambda x, y, z: np.sin(x))
    before = sim.get("ux")
    found = sim.profile()
    colors = [name for name in found if name != "stage"]
    assert {name.split(" color ")[0] for name in colors} == {"solid", "fluid"} and len(colors) > 2
    total = sum(found[name]["seconds"] for name in colors)
    assert found["stage"]["seconds"] == pytest.approx(total, rel=1e-12)
    assert np.array_equal(sim.get("ux"), before)


def test_fields_that_follow_from_others_are_not_set():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), shape="hex")
    sim = unda.SEM(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device="cpu")
    with pytest.raises(unda.ArgumentError, match="p follows from other fields: set chi, chi_t"):
        sim.set(p=1.0)
