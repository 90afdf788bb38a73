"""Accelerations are those of matrices assembled in NumPy from the weak form (tests/sem_cases.py)."""

import numpy as np
import pytest
import unda
from hex_meshes import turned, turned_box
from sem_cases import accelerations, solid_and_fluid, start

#: sums of up to 27 (degree + 1) products at each of two derivatives, each rounded: some hundred eps of their
#: sizes, which cancel to a tenth
ROOM = 1e-12


def sound():
    mesh = turned_box((2, 2, 3))
    rng = np.random.default_rng(5)
    return mesh, unda.Acoustic(rho=rng.uniform(1, 3, mesh.num_elem), c=rng.uniform(1, 3, mesh.num_elem))


def rock():
    mesh = turned_box((2, 2, 2))
    x = mesh.coordinates(3)
    vary = 1 + 0.3 * np.sin(4 * x.sum(axis=2))
    return mesh, unda.Elastic(rho=2 * vary, vp=2 * vary, vs=vary, per="node")


def curved():
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 1), shape="hex")
    mesh = turned(box, move=lambda x: x + 0.05 * np.sin(3 * x[..., [1, 2, 0]]))
    return mesh, unda.Elastic(rho=2.0, vp=2.0, vs=1.0)


CASES = {
    "sound": (sound, 2),
    "rock, by node": (rock, 3),
    "curved rock": (curved, 4),
    "both": (solid_and_fluid, 2),
    "both, by node": (lambda: solid_and_fluid(per="node"), 3),
}


def difference(case, change=1.0):
    """Return the largest relative difference of accelerations; `change` scales the last cell's density in the
    reference."""
    make, degree = CASES[case]
    mesh, medium = make()
    wall = "rigid" if medium.physics == "acoustic" else "free"
    sim = start(unda.SEM(mesh, medium, degree=degree, boundary={"*": wall}, dtype="float64"))
    given = {name: sim._material[..., i].copy() for i, name in enumerate(medium.parameters)}
    given["rho"][-1] *= change
    if medium.per == "cell":
        given = {name: values[:, 0] for name, values in given.items()}
    other = type(medium)(**given, per=medium.per)
    chi, u = accelerations(mesh, other, degree, {name: sim.get(name) for name in sim.fields})
    solid, found = ~sim._fluid, []
    if sim._fluid.any():
        found.append(np.abs(sim.get("chi_tt") - chi)[sim._fluid].max() / np.abs(chi).max())
    for i, axis in enumerate("xyz" if solid.any() else ""):
        found.append(np.abs(sim.get(f"a{axis}") - u[..., i])[solid].max() / np.abs(u).max())
    return max(found)


@pytest.mark.parametrize("case", CASES)
def test_accelerations_are_those_of_dense_matrices(case):
    assert difference(case) <= ROOM


def test_another_density_in_one_cell_is_seen():
    assert difference("both", 1 + 1e-9) > 10 * ROOM
