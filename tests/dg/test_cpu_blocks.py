"""The four blocks on the CPU (csrc/dg/cpu_blocks.inc.h): right rates, less rounding, the same bits.

The reference is nodal_reference.py. Not here: the blocks themselves (test_blocks.py), low degrees, which are
multiplied by whole matrices (test_dg_rhs.py, test_dg_materials_by_node.py).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import unda
from nodal_reference import Tetrahedra
from physics_cases import CASES, by_node, states

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

ROOT = Path(__file__).resolve().parents[2]
PHYSICS = pytest.mark.parametrize("physics", CASES)


def box(cells=(1, 1, 1), **options):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=3, **options)


def apply(sim, q):
    sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
    return np.stack(list(sim.rhs().values()), axis=-1)


def distance(a, b):
    return np.abs(a - b).max() / np.abs(a).max()


# One jump lifted (upwind, a material in each cell), both (central), materials by node.
@pytest.mark.each_value
@pytest.mark.parametrize(
    ("flux", "per", "degree"),
    [("upwind", "cell", 5), ("central", "cell", 5), ("upwind", "node", 5)],
)
@PHYSICS
def test_the_right_hand_side_is_that_of_the_equations(physics, flux, per, degree):
    """Of one kind of wall: jumps at faces are those of low degrees, where each kind is tried."""
    case, mesh = CASES[physics], box()
    wall, zeros = next(iter(case.walls.items()))
    reference = Tetrahedra(mesh, degree, case, flux, zeros)
    num_node = reference.x.shape[1]
    if per == "node":
        materials = by_node(case, mesh.num_elem, num_node)
    else:
        materials = np.repeat(case.materials(mesh.num_elem)[:, None], num_node, axis=1)
    given = np.moveaxis(materials if per == "node" else materials[:, 0], -1, 0)
    medium = case.medium(per=per, **dict(zip(case.medium.parameters, given, strict=True)))
    sim = unda.DG(mesh, medium, degree=degree, flux=flux, boundary={"*": wall}, dtype="float64", device="cpu",
                  allow_unstable=True)  # fmt: skip
    q = states(case, materials)
    wanted = reference.rates(materials, q)
    assert distance(wanted, apply(sim, q)) < 1e-12  # sums of some hundred products
    q[1, 2] *= 1.001  # a node of a cell
    assert distance(wanted, apply(sim, q)) > 1e-7


#: What float32 rounds of the rates of the states below, by the norm, when the engine multiplied by whole
#: matrices: sums over all of a cell's nodes.
WHOLE = {
    "acoustic": {5: 1.355e-7, 7: 1.826e-7},
    "elastic": {5: 1.389e-7, 7: 1.858e-7},
    "maxwell": {4: 2.135e-7, 7: 3.050e-7},
}


@pytest.mark.each_value
@pytest.mark.parametrize(("physics", "degree"), [(name, n) for name in WHOLE for n in WHOLE[name]])
def test_blocks_round_less_than_whole_matrices(physics, degree):
    medium = {
        "acoustic": unda.Acoustic(rho=1.3, c=0.9),
        "elastic": unda.Elastic(rho=1.3, vp=1.7, vs=0.9),
        "maxwell": unda.Maxwell(eps=1.7, mu=0.8),
    }[physics]
    mesh, rates = box((2, 2, 2)), []
    for dtype in ("float32", "float64"):
        sim = unda.DG(mesh, medium, degree=degree, device="cpu", dtype=dtype)
        rng = np.random.default_rng(degree)
        q = [rng.standard_normal((mesh.num_elem, sim.num_node)).astype(np.float32) for _ in sim.fields]
        rates.append(apply(sim, np.stack(q, axis=-1)).astype(float))
    error = np.linalg.norm(rates[0] - rates[1]) / np.linalg.norm(rates[1])
    assert (
        3e-8 < error < 1.01 * WHOLE[physics][degree]
    )  # 3e-8: half a unit of float32, by which rates are stored


@PHYSICS
def test_bits_do_not_depend_on_the_number_of_threads(physics):
    """Three blocks of 16 cells, the last one not full."""
    case, mesh, found = CASES[physics], box((2, 2, 2)), []
    materials = case.materials(mesh.num_elem)
    for threads in (1, 2, 3):
        sim = unda.DG(mesh, case.made_of(materials), degree=5, device="cpu", dtype="float32", threads=threads)
        q = case.states(materials, sim.num_node, 1)
        sim.set(**dict(zip(sim.fields, np.moveaxis(q, -1, 0), strict=True)))
        sim.run(steps=2)
        found.append(np.stack([sim.get(name) for name in sim.fields]))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


RATES = """
import sys
import numpy as np
import unda

def rates(medium, degree, dtype):
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (1, 1, 1), perturb=0.2, seed=3)
    sim = unda.DG(mesh, medium, degree=degree, device="cpu", dtype=dtype)
    rng = np.random.default_rng(0)
    sim.set(**{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
    return np.stack(list(sim.rhs().values()))

media = unda.Acoustic(rho=1.3, c=0.9), unda.Elastic(rho=1.3, vp=1.7, vs=0.9), unda.Maxwell(eps=1.7, mu=0.8)
np.savez(sys.argv[1], **{
    f"{i} {degree} {dtype}": rates(medium, degree, dtype)
    for i, medium in enumerate(media) for degree in (1, 2, 3, 5) for dtype in ("float32", "float64")
})
"""


def told(target):
    return subprocess.run(
        ["make", "-s", target], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()


def test_without_avx512_blocks_are_taken_at_any_degree(tmp_path, monkeypatch):
    """A library that knows of no AVX-512 has narrower vectors: the same bits where both take blocks."""
    objects = told("objects")
    (at,) = [i for i, one in enumerate(objects) if one.endswith("base/parallel.o")]
    objects[at] = str(tmp_path / "parallel.o")
    source = ["-DUNDA_NO_CLONES", "-c", "csrc/base/parallel.c", "-o", objects[at]]
    subprocess.run(["gcc", *told("flags"), *source], cwd=ROOT, check=True)
    link = ["-shared", "-fopenmp", "-lm", "-ldl", "-lpthread", "-o", str(tmp_path / "narrow.so")]
    subprocess.run(["gcc", *objects, *link], cwd=ROOT, check=True)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "usual.npz")])
    exec(RATES, {})
    library = {"UNDA_LIBRARY": str(tmp_path / "narrow.so")}
    subprocess.run(
        [sys.executable, "-c", RATES, tmp_path / "narrow.npz"], env=os.environ | library, check=True
    )
    found = [np.load(tmp_path / f"{name}.npz") for name in ("usual", "narrow")]
    for key in found[0].files:
        usual, narrow = (one[key] for one in found)
        assert distance(usual.astype(float), narrow) < (1e-5 if "32" in key else 1e-13), key
        if key.split()[1] == "5":
            assert usual.tobytes() == narrow.tobytes(), key
