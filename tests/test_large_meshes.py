"""More values than an int can count, on a device: waves far up in memory are those of a small mesh.

Needs 50 GB of device memory. Not here: whether the waves are right (test_cuda_engine.py).
"""

import numpy as np
import pytest
import unda

DEGREE, CELLS, PART = 8, 90, 8  # cubes along an edge of the large mesh, of a part
CORNERS = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
STEPS = 60


def traces(low, cells, starts):
    """Pressure near and far from a source in the middle of each part of a box, [part][near, far][step]."""
    high = [a + cells for a in low]
    mesh = unda.box_mesh(low, high, (cells,) * 3)
    with unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=DEGREE, device="cuda") as sim:
        assert cells == PART or sim.mesh.num_elem * sim.num_node * 4 > 2**31
        points = []
        for start in starts:
            middle = np.asarray(start) + PART / 2
            sim.add_source(unda.VolumeInjection(middle + np.array([0.31, 0.22, 0.13]), unda.ricker(1.0)))
            points.extend(middle + np.array([[0.45, 0.35, 0.05], [0.9, 0.4, -0.3]]))
        rec = sim.add_receivers(points, ["p"])
        sim.step(STEPS)
        return rec["p"].reshape(len(starts), 2, STEPS + 1), sim.dt


@pytest.mark.gpu
@pytest.mark.slow
def test_more_than_two_to_the_31_values():
    starts = [tuple(c * (CELLS - PART) for c in corner) for corner in CORNERS]
    large, dt = traces((0, 0, 0), CELLS, starts)
    for trace, start in zip(large, starts, strict=True):
        small, small_dt = traces(start, PART, [start])
        assert abs(dt - small_dt) < 1e-6 * dt
        assert np.abs(small).max() > 0.01 * np.abs(large).max() > 0
        # the same arithmetic but for the rounding of places; 300 stages in float32
        assert np.abs(trace - small[0]).max() < 2e-5 * np.abs(small).max()
        assert np.abs(1.001 * trace - small[0]).max() > 2e-5 * np.abs(small).max()
