"""DG with exact outer data and each integrator keeps its order, and notices when a solution is wrong.

Orders are least-squares slopes in h = (V / K)^(1/3); the theory says N + 1, N + 1/2 is required.
"""

import numpy as np
import pytest
import unda

MEDIUM = unda.Acoustic(rho=1.3, c=0.9)
CELLS = {2: (4, 6, 8), 3: (3, 4, 5), 4: (3, 4, 5)}


def order(degree, cells, problem, *, until=0.37, wrong=None, **options):
    """Observed order and the errors of p on three meshes."""
    errors, sizes = [], []
    for n in cells:
        mesh, exact, boundary = problem(n)
        options |= {"dtype": "float64", "device": "cpu"}
        sim = unda.DG(mesh, MEDIUM, degree=degree, boundary=boundary, **options)
        sim.set(exact)
        sim.run(until=until)
        errors.append(sim.error(wrong or exact, relative=True)["p"])
        sizes.append((mesh.volume / mesh.num_elem) ** (1 / 3))
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0], errors


def periodic_wave(n):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), periodic=(True,) * 3, perturb=0.2, seed=n)
    return mesh, unda.exact.plane_wave(MEDIUM, k=2 * np.pi * np.array([1, 0, -1])), None


def cavity(kind):
    def problem(n):
        mesh = unda.box_mesh((0, 0, 0), (1, 1.2, 0.9), (n, n, n), perturb=0.2, seed=n)
        make = unda.exact.rigid_box_mode if kind == "rigid" else unda.exact.free_box_mode
        return mesh, make(MEDIUM, (0, 0, 0), (1, 1.2, 0.9), n=(1, 2, 1)), {"*": kind}

    return problem


def outer_wave(n):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.2, seed=n)
    exact = unda.exact.plane_wave(MEDIUM, k=(3.0, 5.0, -2.0))
    return mesh, exact, {"*": exact}


def test_exact_outer_data_keep_the_order():
    slope, errors = order(3, CELLS[3], outer_wave)
    assert slope > 3.5, errors


def test_ab3_keeps_the_spatial_order_at_its_small_step():
    slope, errors = order(2, CELLS[2], periodic_wave, integrator="ab3")
    assert slope > 2.5, errors


def test_a_wave_one_percent_too_fast_does_not_converge():
    wrong = unda.exact.plane_wave(unda.Acoustic(rho=1.3, c=0.9 * 1.01), k=2 * np.pi * np.array([1, 0, -1]))
    slope, errors = order(4, CELLS[4], periodic_wave, wrong=wrong)
    assert slope < 2.0, errors


def test_a_free_wall_where_it_should_be_rigid_does_not_converge():
    def wrong_wall(n):
        mesh, exact, _ = cavity("rigid")(n)
        return mesh, exact, {"*": "free"}

    slope, errors = order(3, CELLS[3], wrong_wall)
    assert slope < 1.0, errors


def test_halving_the_step_leaves_the_error_alone():
    mesh, exact, boundary = periodic_wave(4)
    errors = []
    for cfl in (0.9, 0.45):
        sim = unda.DG(mesh, MEDIUM, degree=3, boundary=boundary, dtype="float64", cfl=cfl, device="cpu")
        sim.set(exact)
        sim.run(until=0.37)
        errors.append(sim.error(unda.exact.plane_wave(MEDIUM, k=exact._arguments["k"]))["p"])
    assert errors[1] == pytest.approx(errors[0], rel=0.05)


@pytest.mark.parametrize(("integrator", "expected"), [("lsrk4", 4), ("ab3", 3)])
def test_the_integrators_have_their_order(integrator, expected):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), periodic=(True,) * 3)
    exact = unda.exact.plane_wave(MEDIUM, k=2 * np.pi * np.array([1, 0, 0]))
    states = []
    for steps in (80, 160, 320):
        options = {"dtype": "float64", "dt": 0.4 / steps, "integrator": integrator, "device": "cpu"}
        sim = unda.DG(mesh, MEDIUM, degree=2, **options)
        sim.set(exact)
        sim.run(steps=steps)
        states.append(sim.get("p"))
    ratio = np.linalg.norm(states[0] - states[1]) / np.linalg.norm(states[1] - states[2])
    assert np.log2(ratio) == pytest.approx(expected, abs=0.35)


@pytest.mark.parametrize("driven_by", ["source", "exact data"])
@pytest.mark.parametrize(("integrator", "expected"), [("lsrk4", 4), ("ab3", 3)])
@pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")  # the order in time, on few cells
def test_the_integrators_keep_their_order_where_something_drives(integrator, expected, driven_by):
    """Sources and outer data are taken at the times of the stages; elsewhere the order would be lost."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    # At rest at t = 0, with all derivatives: the outer data fit the state that they meet.
    pulse = unda.exact.plane_wave(MEDIUM, direction=(1, 2, -1), f=unda.smooth_bump(2.0, t0=0.5))
    states = []
    for steps in (280, 560, 1120):
        boundary = {"*": pulse if driven_by == "exact data" else "rigid"}
        options = {"dtype": "float64", "dt": 1.6 / steps, "integrator": integrator, "device": "cpu"}
        sim = unda.DG(mesh, MEDIUM, degree=2, boundary=boundary, **options)
        if driven_by == "source":
            sim.add_source(unda.VolumeInjection((0.3, 0.4, 0.2), unda.smooth_bump(1.5)))
        sim.run(steps=steps)
        states.append(sim.get("p"))
    assert np.abs(states[-1]).max() > 1e-3
    ratio = np.linalg.norm(states[0] - states[1]) / np.linalg.norm(states[1] - states[2])
    assert np.log2(ratio) == pytest.approx(expected, abs=0.35)
