"""Elements go on for ever: after many steps no wave has grown, in warped cells of random materials.

Full of random waves of all lengths, the shortest of which are those that an unstable step or face makes
grow. Spectral elements keep their energy to rounding, of which a step has some ten eps of the energy (half an
eps of each unknown). DG with the upwind flux can only lose it, and keeps what is at rest: from one look to
the next it may rise by rounding, the same ten eps a step. Thousands of steps by default, 100,000 as slow
cases.

Not here: grids and their layers (tests/fd/test_layer_growth.py).
"""

import cuda_device
import numpy as np
import pytest
import unda
from bits_dg import medium_of, state_of
from hex_meshes import turned
from pairwise import pairwise
from sem_cases import solid_and_fluid, start

REAL = cuda_device.prepare()
STEPS, MANY, LOOKS = 2000, 100_000, 4
ROUNDING = {"float64": 10 * 2.2e-16, "float32": 10 * 6e-8}
ENDURANCE = [pytest.mark.slow, pytest.mark.gpu, pytest.mark.endurance]
SETTINGS = {
    "physics": ("acoustic", "elastic", "maxwell"),
    "shape": ("tetrahedra", "warped", "curved"),
    "integrator": ("lsrk4", "ab3"),
    "degree": (2, 3),
    "wall": ("soft", "hard"),
}
WALLS = {"acoustic": ("free", "rigid"), "elastic": ("free", "fixed"), "maxwell": ("pmc", "pec")}
DURATIONS = [
    ("cpu", STEPS),
    pytest.param("cpu", MANY, marks=pytest.mark.slow),
    pytest.param("cuda", MANY, marks=ENDURANCE),
]


def looks(sim, steps):
    """Energies, the first one included."""
    found = [sim.energy()]
    for _ in range(LOOKS):
        sim.step(steps // LOOKS)
        found.append(sim.energy())
    return np.array(found)


def dg(case, **options):
    """All at 0.99 of the stable step."""
    shape, physics = case["shape"], case["physics"]
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 2) if shape != "tetrahedra" else (2, 1, 1),
                         shape="tet" if shape == "tetrahedra" else "hex", perturb=0.2, seed=1)  # fmt: skip
    if shape != "tetrahedra":
        mesh = turned(
            mesh, 1, (lambda x: x + 0.05 * np.sin(3 * x[..., [1, 2, 0]])) if shape == "curved" else None
        )
    wall = WALLS[physics][("soft", "hard").index(case["wall"])]
    given = {"cfl": 0.99, "dtype": "float64", "threads": 1} | options
    sim = unda.DG(mesh, medium_of(physics, "varied", mesh.num_elem), degree=case["degree"],
                  integrator=case["integrator"], boundary={"*": wall}, **given)  # fmt: skip
    sim.set(**state_of(sim))
    return sim


@pytest.mark.each_value
@pytest.mark.parametrize(("device", "steps"), DURATIONS)
@pytest.mark.parametrize("case", pairwise(SETTINGS), ids=lambda case: "-".join(map(str, case.values())))
def test_energy_of_dg_never_rises(case, device, steps):
    found = looks(dg(case, device=device, threads=1 if device == "cpu" else None), steps)
    assert (np.diff(found) <= steps // LOOKS * ROUNDING["float64"] * found[0]).all()
    assert 0 < found[-1] < found[0]


def test_energy_rises_beyond_the_stable_step():
    """DG's is a bound that twice the step is beyond, the one of spectral elements that of their operator."""
    case = {"physics": "elastic", "shape": "warped", "integrator": "lsrk4", "degree": 2, "wall": "soft"}
    sims = [dg(case, cfl=2.0, allow_unstable=True)]
    mesh, medium = solid_and_fluid((2, 2, 2))
    sims.append(
        start(unda.SEM(mesh, medium, degree=3, boundary={"*": "free"}, cfl=1.02, allow_unstable=True))
    )
    for sim in sims:
        with pytest.raises(unda.UnstableError):
            looks(sim, STEPS)


ASSEMBLIES = [(*DURATIONS[0], "auto"), pytest.param("cpu", MANY, "auto", marks=pytest.mark.slow)]
ASSEMBLIES += [pytest.param("cuda", MANY, name, marks=ENDURANCE) for name in ("ordered", "colors", "atomic")]


def sem(**options):
    """Of several tiles, of solids and of fluids, on a device."""
    cells = (4, 4, 4) if options["device"] == "cuda" else (2, 2, 2)
    mesh, medium = solid_and_fluid(cells, per=options.pop("per"))
    return start(unda.SEM(mesh, medium, degree=3, boundary={"*": "free"}, cfl=0.99, **options))


@pytest.mark.parametrize(("device", "steps", "assembly"), ASSEMBLIES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("per", ["cell", "node"])
def test_energy_of_spectral_elements_stays(per, dtype, device, steps, assembly):
    sim = sem(per=per, dtype=dtype, device=device, assembly=assembly, threads=1 if device == "cpu" else None)
    found = looks(sim, steps)
    assert np.abs(found / found[0] - 1).max() <= steps * ROUNDING[dtype]
