"""Meshes do not depend on the number of threads that make them, and leave a process that may be forked.

The meshes are large enough for threads (`parallel_parts_worth`). Next: csrc/base/parallel.c.
"""

import os
import subprocess
import sys

import pytest

MESHES = """
import hashlib, os, sys
import numpy as np
import unda

def look(mesh):
    points = np.random.default_rng(1).uniform(0, 1, (2000, 3))
    arrays = [mesh.vertices, mesh.cells, mesh.neighbors, mesh.volumes, mesh.quality, mesh.locate(points)[0]]
    numbers = mesh.volume, mesh.min_insphere, mesh.min_quality, mesh.worst_elem
    print(hashlib.sha256(b"".join(array.tobytes() for array in arrays) + repr(numbers).encode()).hexdigest())

cells, seed = (17, 18, 16), int(sys.argv[1])
for shape in ("hex", "tet"):
    look(unda.box_mesh((0, 0, 0), (1, 1, 1), cells, shape=shape, periodic=(True, False, True)))
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), cells, shape=shape, perturb=0.3, seed=seed)
    order = np.random.default_rng(2).permutation(box.cells)
    order[::3] = order[::3][:, [0, 1, 3, 2] if shape == "tet" else [4, 5, 6, 7, 0, 1, 2, 3]]
    look(unda.Mesh(box.vertices, order, fix_orientation=True))
    for words in ({}, {"fix_orientation": True}):
        try:
            unda.Mesh(box.vertices, np.vstack([order, order[:3]]), **words)
        except unda.MeshError as error:
            print(error)
child = os.fork()
if child == 0:
    look(unda.box_mesh((0, 0, 0), (1, 1, 1), cells, shape="hex"))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def meshes(threads, seed=1):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-u", "-c", MESHES, str(seed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def alone():
    return meshes(1)


@pytest.mark.first(1)
@pytest.mark.parametrize("threads", [3, 5])
def test_meshes_and_refusals_are_the_same_for_any_number_of_threads(alone, threads):
    assert len(alone) == 9
    assert sum("three or more" in line for line in alone) == sum("inverted" in line for line in alone) == 2
    assert meshes(threads) == alone


def test_other_vertices_make_another_mesh(alone):
    assert meshes(3, seed=2) != alone
