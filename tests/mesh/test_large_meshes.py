"""Large meshes: a million cells are ready in seconds, and more values than an int can count are right.

The second needs 50 GB of device memory: waves far up in memory are those of a small mesh. Not here:
whether the waves are right (test_cuda_engine.py).
"""

import os
import subprocess
import sys

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


MILLION = r"""
import os, re, sys, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np, unda
box = unda.box_mesh((0, 0, 0), (1, 1, 1), (56, 56, 56), perturb=0.2)
rng = np.random.default_rng(0)
cells, vertices = rng.permutation(len(box.cells)), rng.permutation(len(box.vertices))
number = np.argsort(vertices)
sides = {name: number[box.boundary_faces[box.boundary_ids == i]] for i, name in enumerate(box.boundary_names)}
arrays = box.vertices[vertices], number[box.cells[cells]]
medium = unda.Acoustic(rho=np.ones(len(cells)), c=1.0)
if sys.argv[1] != "cpu":  # compiled once an installation, not once a mesh
    one = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    unda.DG(one, unda.Acoustic(rho=1.0, c=1.0), degree=3, device="cuda")
begin = time.process_time()
mesh = unda.Mesh(*arrays, boundaries=sides)
sim = unda.DG(mesh, medium, degree=3, device=sys.argv[1])
seconds = time.process_time() - begin
assert mesh.num_elem > 1_000_000
print(seconds, int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024)
"""


def check_a_million(device):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MILLION, device]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seconds, peak = map(float, done.stdout.split())
    print(f"a million cells on {device}: {seconds:.1f} s of a processor, {peak / 1e9:.1f} GB")
    assert seconds < 20
    assert peak < 8e9


@pytest.mark.slow
def test_a_million_cells_in_any_order_are_ready_in_seconds():
    check_a_million("cpu")


@pytest.mark.gpu
@pytest.mark.slow
def test_a_million_cells_are_on_the_device_in_seconds():
    check_a_million("cuda")
