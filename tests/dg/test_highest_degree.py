"""The highest degree has its order, N + 1, for every physics; lower ones: test_dg_orders.py.

Cells of Kuhn's division, alike on each mesh; steps small enough that lsrk4 errs by (w dt)^4 w t / 200 < 1e-9.
"""

import numpy as np
import pytest
import unda

DEGREE, SPEED, TIME = 9, 0.9, 0.15
K = 2 * np.pi * np.array([1, 1, -1])


def medium(physics, speed=SPEED):
    if physics == "acoustic":
        return unda.Acoustic(rho=1.3, c=speed)
    if physics == "elastic":
        return unda.Elastic(rho=1.3, vp=speed, vs=speed / 2)
    return unda.Maxwell(eps=1.3, mu=1 / 1.3 / speed**2)


def wave(physics, speed=SPEED):
    e = {"polarization": (1, 0, 1)} if physics == "maxwell" else {}
    return unda.exact.plane_wave(medium(physics, speed), k=K, **e)


def error(physics, n, reference):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), periodic=(True,) * 3)
    with unda.DG(mesh, medium(physics), degree=DEGREE, dtype="float64", cfl=0.5) as sim:
        sim.set(wave(physics))
        sim.run(until=TIME, progress=False)
        return max(sim.error(reference, relative=True).values())


@pytest.mark.slow
@pytest.mark.parametrize("physics", ["acoustic", "elastic", "maxwell"])
def test_degree_9_has_order_10(physics):
    errors = [error(physics, n, wave(physics)) for n in (2, 3, 4)]
    assert np.polyfit(np.log([2, 3, 4]), np.log(errors), 1)[0] < -(DEGREE + 0.5), errors
    assert error(physics, 4, wave(physics, speed=SPEED * (1 + 1e-7))) > 2 * errors[-1]


def test_degree_10_is_refused():
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    with pytest.raises(unda.ArgumentError, match="degree is 10"):
        unda.DG(mesh, medium("acoustic"), degree=10)
