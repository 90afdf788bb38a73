"""A material jump on mesh faces reflects and transmits as Pierce (1989), section 3.6, says.

Orders are least-squares slopes in h = (V / K)^(1/3) on perturbed meshes that keep the interface flat;
theory N + 1, N + 1/2 is required. Not here: the flux itself (test_flux.py).
"""

import numpy as np
import pytest
import unda

ONE, TWO = unda.Acoustic(rho=1.0, c=1.0), unda.Acoustic(rho=2.0, c=1.25)
JUMP = 0.5  # z of the interface [m]
DIRECTIONS = {"normal": (0.0, 0.0, 1.0), "oblique": (0.4, -0.3, 0.8660254037844386)}
CELLS = {1: (4, 6, 8), 2: (4, 6, 8), 3: (2, 4, 6), 4: (2, 4, 6)}


def two_layers(n):
    """A perturbed unit box of n^3 bricks (n even), the vertices at z = JUMP put back on the plane."""
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.15, seed=n)
    grid = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n))
    vertices = box.vertices.copy()
    vertices[grid.vertices[:, 2] == JUMP, 2] = JUMP
    sides = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    above = vertices[box.cells].mean(axis=1)[:, 2] > JUMP
    names = {"below": 0, "above": 1}
    return unda.Mesh(vertices, box.cells, tags=above.astype(np.int32), tag_names=names, boundaries=sides)


def layers(one, two):
    values = [medium.scalar() for medium in (one, two)]
    return unda.Acoustic(**{key: {"below": values[0][key], "above": values[1][key]} for key in ("rho", "c")})


def wave(direction, two=TWO):
    return unda.exact.interface_plane_wave(
        ONE, two, k=6.0 * np.array(DIRECTIONS[direction]), normal=(0, 0, 1), position=JUMP, phase=0.3
    )


def order(degree, direction, *, simulated=TWO, expected=TWO):
    """Observed order and errors of p and v in `simulated` against the solution for `expected`."""
    exact, errors, sizes = wave(direction, expected), [], []
    for n in CELLS[degree]:
        mesh = two_layers(n)
        sim = unda.DG(
            mesh, layers(ONE, simulated), degree=degree, boundary={"*": exact}, dtype="float64", device="cpu"
        )
        sim.set(exact)
        sim.run(until=0.23)
        error = sim.error(exact, relative=True)
        errors.append([error["p"], np.hypot(np.hypot(error["vx"], error["vy"]), error["vz"])])
        sizes.append((mesh.volume / mesh.num_elem) ** (1 / 3))
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0], errors


@pytest.mark.each_value
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_reflected_and_transmitted_waves_converge_at_order_n_plus_1(degree, direction):
    slopes, errors = order(degree, direction)
    assert (slopes > degree + 0.5).all(), errors


@pytest.mark.parametrize("direction", [pytest.param("normal", marks=pytest.mark.slow), "oblique"])
def test_an_impedance_one_percent_off_behind_the_interface_does_not_converge(direction):
    """dR = 2 Z1 Z2 / (Z1 + Z2)^2 * 1 % = 0.4 % stays, whatever the mesh."""
    slopes, errors = order(4, direction, simulated=unda.Acoustic(rho=2.02, c=1.25))
    assert (slopes < 2).all(), errors


def test_media_that_have_changed_places_do_not_converge():
    exact = wave("normal")
    sim = unda.DG(
        two_layers(4), layers(TWO, ONE), degree=3, boundary={"*": exact}, dtype="float64", device="cpu"
    )
    sim.set(exact)
    sim.run(until=0.23)
    assert sim.error(exact, relative=True)["p"] > 0.1


def amplitudes(one, two):
    """Reflected and transmitted amplitude of a Ricker pulse in a column one cell wide.

    Least squares of a trace on the incident pulse, delayed by its way there: 1 m before and behind.
    """
    column = unda.box_mesh((0, 0, 0), (0.1, 0.1, 4), (1, 1, 40), periodic=(True, True, False))
    center = 0.75
    pulse = unda.ricker(2.0, t0=center)
    incident = unda.exact.plane_wave(one, direction=(0, 0, 1), f=pulse)
    below = column.centroids[:, 2] < 2
    values = [np.where(below, one.scalar()[key], two.scalar()[key]) for key in ("rho", "c")]
    sim = unda.DG(
        column, unda.Acoustic(rho=values[0], c=values[1]), degree=4,
        boundary={"zmin": incident, "zmax": "absorbing"}, dtype="float64", device="cpu",
    )  # fmt: skip
    rec = sim.add_receivers([(0.02, 0.01, 1.0), (0.02, 0.01, 3.0)], ["p"])
    first, second = (medium.scalar()["c"] for medium in (one, two))
    delays = 3 / first, 2 / first + 1 / second
    sim.run(until=max(delays) + 2 * center)
    found = []
    for trace, delay in zip(rec["p"], delays, strict=True):
        part = np.abs(rec.t - delay - center) < center  # the incident pulse has passed
        shape = pulse(rec.t[part] - delay)
        found.append(shape @ trace[part] / (shape @ shape))
    return np.array(found)


def coefficients(one, two):
    """R = (Z2 - Z1) / (Z2 + Z1) and T = 2 Z2 / (Z2 + Z1) of pressure."""
    z1, z2 = (medium.scalar()["rho"] * medium.scalar()["c"] for medium in (one, two))
    return np.array([z2 - z1, 2 * z2]) / (z2 + z1)


@pytest.mark.first(1)
@pytest.mark.parametrize(("one", "two"), [(ONE, TWO), (TWO, ONE)])
def test_a_pulse_is_reflected_and_transmitted_with_its_amplitudes(one, two):
    error = amplitudes(one, two) / coefficients(one, two) - 1
    assert (np.abs(error) < 5e-3).all(), error


def test_the_amplitudes_see_an_impedance_one_percent_off():
    """d log R = 2 Z1 Z2 / (Z2^2 - Z1^2) * 1 % = 0.95 % for Z2 = 2.5 Z1."""
    error = amplitudes(ONE, unda.Acoustic(rho=2.02, c=1.25)) / coefficients(ONE, TWO) - 1
    assert error[0] > 7e-3
    assert (np.abs(coefficients(TWO, ONE) / coefficients(ONE, TWO) - 1) > 0.5).all()
