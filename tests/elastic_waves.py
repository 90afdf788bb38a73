"""Media, an interface and the waves at it that the tests of elastic solutions share.

Not here: residuals (exact_helpers.py).
Next: test_exact_elastic.py.
"""

import numpy as np
from exact_helpers import KH, TOLERANCE, TWIN, VOIGT, elastic_residual
from unda import exact
from unda.problem.medium import Elastic
from unda.problem.timefunction import ricker

ROCK = Elastic(rho=1.3, vp=2.0, vs=1.1)
HARD = Elastic(rho=2.1, vp=3.1, vs=1.8)
SEA = Elastic(rho=1.0, vp=1.0, vs=0.0)
BRINE = Elastic(rho=1.2, vp=1.3, vs=0.0)
HEAVY = Elastic(rho=10.0, vp=0.9**0.5, vs=0.3**0.5)  # lambda = mu = 3
UNIT = Elastic(rho=1.0, vp=3**0.5, vs=1.0)  # lambda = mu = 1
NORMAL, POSITION = np.array([2.0, -1.0, 2.0]) / 3.0, 0.4
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
THIRD = np.cross(NORMAL, ACROSS)
PLANE = {"normal": 2.0 * NORMAL, "position": POSITION}
F = ricker(0.3)  # k = 2 pi 2.5 f0/vs = 4.3 rad/m at most


def direction(angle):
    return np.cos(angle) * NORMAL + np.sin(angle) * ACROSS


def at_interface(one, two, kind, angle, pulse=False):
    carried = (
        {"direction": direction(angle), "f": F, "amplitude": 1.5}
        if pulse
        else {"k": 3.0 * direction(angle), "phase": 0.2, "amplitude": 1.5}
    )
    return exact.interface_plane_wave(one, two, kind=kind, **PLANE, **carried)


def off_by_one_per_cent(medium, name):
    values = medium.scalar()
    return Elastic(**{**values, name: 1.01 * values[name]})


def on_the_interface(num_point=20):
    rng = np.random.default_rng(11)
    points = rng.uniform(-2.0, 2.0, size=(num_point, 3))
    points += np.outer(POSITION - points @ NORMAL, NORMAL)
    return points, rng.uniform(0.0, 3.0, num_point)


def shifted(points, side, h):
    return points + side * 6.0 * h * np.outer(np.linspace(1.0, 9.0, len(points)), NORMAL)


def residual_of_each_side(solution, wavenumber, one, two):
    for side, medium in ((-1.0, one), (1.0, two)):
        if not isinstance(medium, Elastic):
            continue
        points, t = on_the_interface()
        h = KH / wavenumber
        points = shifted(points, side, h)
        if not any(field.any() for field in solution(*points.T, t).values()):
            continue  # a fluid beside an SH wave
        assert elastic_residual(solution, points, t, h, medium) < TOLERANCE
        for constant in ("rho", "vp" if medium.scalar()["vs"] == 0.0 else "vs"):
            other = off_by_one_per_cent(medium, constant)
            assert elastic_residual(solution, points, t, h, other) > TWIN


def motion_and_traction(values, basis=(NORMAL, ACROSS, THIRD)):
    v = np.array([values["v" + a] for a in "xyz"])
    sigma = np.empty((3, 3, *v.shape[1:]))
    for (i, j), name in VOIGT.items():
        sigma[i, j] = sigma[j, i] = values[name]
    traction = np.einsum("ij...,j->i...", sigma, basis[0])
    return [axis @ v for axis in basis], [axis @ traction for axis in basis]


def conditions(before, behind, one, two):
    """Largest violation of the conditions at the interface, from one solution to another."""
    points, t = on_the_interface()
    v1, t1 = motion_and_traction(before(*(points - 1e-13 * NORMAL).T, t))
    if two == "free":
        return max(np.abs(part).max() for part in t1)
    v2, t2 = motion_and_traction(behind(*(points + 1e-13 * NORMAL).T, t))
    solid = [medium.scalar()["vs"] > 0.0 for medium in (one, two)]
    jumps = [v1[0] - v2[0], t1[0] - t2[0]]
    if all(solid):
        jumps += [a - b for a, b in zip([*v1[1:], *t1[1:]], [*v2[1:], *t2[1:]], strict=True)]
    else:
        jumps += [*t1[1:], *t2[1:]]
    return max(np.abs(jump).max() for jump in jumps)
