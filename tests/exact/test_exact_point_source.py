"""The point source radiates what it injects, and nothing before its wave arrives.

Not here: walls (test_exact_walls.py), the equations (test_exact_solutions.py).
Next: python/unda/exact/point.py.
"""

import numpy as np
import pytest
from unda import exact
from unda.errors import ArgumentError
from unda.problem.medium import Acoustic
from unda.problem.source import VolumeInjection
from unda.problem.timefunction import ricker, smooth_bump

RHO, C = 1000.0, 1500.0
WATER = Acoustic(rho=RHO, c=C)
PLACE = np.array([503.0, 491.0, 507.0])


def outflow(solution, radius, t):
    """Volume rate [m3/s] through a sphere around the source, by Gauss and trapezoid rules."""
    cosines, weights = np.polynomial.legendre.leggauss(6)
    angle = 2.0 * np.pi * np.arange(12) / 12
    sine = np.sqrt(1.0 - cosines**2)[:, None]
    normal = [sine * np.cos(angle), sine * np.sin(angle), cosines[:, None] + 0.0 * angle]
    values = solution(*(s + radius * n for s, n in zip(PLACE, normal, strict=True)), t)
    v_n = sum(values["v" + a] * n for a, n in zip("xyz", normal, strict=True))
    return radius**2 * np.einsum("ij,i->", v_n, weights) * (2.0 * np.pi / 12)


@pytest.mark.parametrize("t", [0.1, 0.13, 0.15, 0.21])
def test_flux_through_a_small_sphere_is_the_injected_rate(t):
    q, radius = ricker(10.0), 1e-3
    source = VolumeInjection(PLACE, q)
    found = outflow(exact.point_source(WATER, source), radius, t)
    # q(u) + r/c q'(u) = q(t) - (r/c)^2 q''/2, abs(q'') at most 6 (pi f0)^2; then coordinates of
    # size 500 round r to eps 500/r = 1e-10, twice in the mean of v_n r^2
    tolerance = 3.0 * (10.0 * np.pi * radius / C) ** 2 + 1e-9
    assert found == pytest.approx(q(t), abs=tolerance)
    stronger = exact.point_source(WATER, VolumeInjection(PLACE, 1.01 * q))
    assert abs(outflow(stronger, radius, t) - q(t)) > 5e-3 * abs(q(t))


def test_pressure_has_the_amplitude_of_the_formula():
    q = ricker(10.0)
    solution = exact.point_source(WATER, VolumeInjection(PLACE, q))
    r, t = 300.0, np.linspace(0.2, 0.6, 50)
    expected = RHO * q.derivative(t - r / C) / (4.0 * np.pi * r)
    values = solution(*(PLACE + r * np.array([0.0, 0.6, -0.8])), t)
    assert np.allclose(values["p"], expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())
    near = q(t - r / C) / (4.0 * np.pi * r**2)
    v_r = expected / (RHO * C) + near
    assert np.allclose(values["vy"], 0.6 * v_r, rtol=1e-10, atol=1e-12 * np.abs(v_r).max())
    assert np.all(values["vx"] == 0.0)
    assert np.abs(near).max() > 0.02 * np.abs(v_r).max()  # the near field takes part


def test_nothing_arrives_before_the_wave():
    solution = exact.point_source(WATER, VolumeInjection(PLACE, smooth_bump(0.1)))
    arrival = 300.0 / C
    times = [-1.0, 0.0, 0.999 * arrival, arrival + 0.03]
    for field, values in solution(PLACE[0] + 300.0, PLACE[1], PLACE[2], times).items():
        assert np.all(values[:3] == 0.0), field
        assert values[3] != 0.0 or field in ("vy", "vz")


def test_the_place_of_the_source_itself_is_refused():
    solution = exact.point_source(WATER, VolumeInjection(PLACE, ricker(10.0)))
    with pytest.raises(ArgumentError, match="infinite"):
        solution(*PLACE, 0.2)


def test_plain_callables_and_foreign_objects_are_refused():
    with pytest.raises(ArgumentError, match=r"unda\.sampled\(t, f\(t\)\)$"):
        exact.point_source(WATER, VolumeInjection(PLACE, np.sin))
    with pytest.raises(ArgumentError, match="VolumeInjection"):
        exact.point_source(WATER, PLACE)
