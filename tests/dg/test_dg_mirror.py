"""A symmetry plane is half of a model: run by itself, the half does what it does in the whole.

To rounding, for the walls that are planes of symmetry (or of antisymmetry: fields change sign in the image):
random materials, fluids and conductors among them, both fluxes, sources. Not here: energy and fluxes at walls
(test_dg_rhs.py, test_flux.py), modes of closed boxes (test_dg_orders.py).
"""

import numpy as np
import pytest
import unda
from physics_cases import CASES
from wave_runs import named_sides

# Holds to rounding, resolved or not.
pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")

STEPS = 40
# Fields that change their sign in the image across x = 0, by wall; all others keep it.
ODD = {
    ("acoustic", "rigid"): {"vx"},
    ("acoustic", "free"): {"p", "vy", "vz"},
    ("elastic", "symmetry"): {"vx", "sxy", "sxz"},
    ("maxwell", "pec"): {"ey", "ez", "hx"},
    ("maxwell", "pmc"): {"ex", "hy", "hz"},
}


def half():
    """x > 0; the vertices on the plane have the first numbers, so that images keep the order of the rest."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 2), perturb=0.2, seed=3)
    order = np.argsort(mesh.vertices[:, 0] > 1e-12, kind="stable")
    number = np.argsort(order)
    sides = {name: number[faces] for name, faces in named_sides(mesh).items()}
    return unda.Mesh(mesh.vertices[order], number[mesh.cells], boundaries=sides)


def whole(mesh):
    """The half and its image, whose cells follow those of the half."""
    on_plane = mesh.vertices[:, 0] < 1e-12
    image = np.where(
        on_plane, np.arange(len(on_plane)), np.arange(len(on_plane)) + len(on_plane) - on_plane.sum()
    )
    vertices = np.concatenate([mesh.vertices, mesh.vertices[~on_plane] * [-1, 1, 1]])
    turned = image[mesh.cells][:, [1, 0, 2, 3]]
    sides = {}
    for name, faces in named_sides(mesh).items():
        if name == "xmin":
            continue
        if name == "xmax":
            sides |= {"xmax": faces, "xmin": image[faces]}
        else:
            sides[name] = np.concatenate([faces, image[faces]])
    return unda.Mesh(vertices, np.concatenate([mesh.cells, turned]), boundaries=sides)


def state(case, wall, x, y, z):
    """Fields of either parity, which fluids bear."""
    odd = ODD[case.name, wall]
    values = {}
    for i, name in enumerate(case.fields):
        even = np.cos((1 + i) * x) * np.sin(2 * y + i) * np.cos(3 * z - i)
        values[name] = np.tan(x) * even if name in odd else even
    if case.name == "elastic":
        values |= {"syy": values["sxx"], "szz": values["sxx"]}
        values |= dict.fromkeys(("sxy", "sxz", "syz"), 0 * x)
    return values


def sources(physics, wall, image):
    """A source off the plane, or its image."""
    place, f = np.array([0.23, 0.62, 0.31]), unda.ricker(4.0, t0=0.1)
    odd, sign = ODD[physics, wall], np.array([-1 if image else 1, 1, 1])
    if physics == "acoustic":
        amplitude = -1 if image and "p" in odd else 1
        t = np.linspace(0, 1, 2001)
        return unda.VolumeInjection(place * sign, unda.sampled(t, amplitude * f(t)))
    turn = np.array([-1 if image and name in odd else 1 for name in CASES[physics].fields[:3]])
    if physics == "elastic":
        return unda.PointForce(place * sign, f, turn * [1, -2, 3])
    return unda.CurrentDipole(place * sign, f, turn * [1, -2, 3])


def run(physics, wall, flux, mesh, materials, sides, images):
    case = CASES[physics]
    sim = unda.DG(
        mesh, case.made_of(materials), degree=3, flux=flux, boundary=sides, dtype="float64", device="cpu",
        cfl=0.5,
    )  # fmt: skip
    for image in images:
        sim.add_source(sources(physics, wall, image))
    sim.set(**state(case, wall, *np.moveaxis(sim.coordinates, -1, 0)))
    sim.run(steps=STEPS)
    return np.stack([sim.get(name) for name in case.fields])


@pytest.mark.parametrize("flux", ["upwind", "central"])
@pytest.mark.parametrize(("physics", "wall"), ODD)
def test_a_half_with_a_symmetry_plane_does_what_it_does_in_the_whole(physics, wall, flux):
    case, mesh = CASES[physics], half()
    materials = case.materials(mesh.num_elem)
    outer = {"*": "absorbing", "ymin": next(iter(case.walls))}
    there = run(physics, wall, flux, whole(mesh), np.concatenate([materials] * 2), outer, (False, True))[
        :, : mesh.num_elem
    ]
    here = run(physics, wall, flux, mesh, materials, {**outer, "xmin": wall}, (False,))
    size = np.abs(there).max(axis=(1, 2), keepdims=True)
    assert (np.abs(here - there) < 1e-12 * size.max()).all()
    other = next(word for word in [*case.walls, "absorbing"] if word != wall)
    wrong = run(physics, wall, flux, mesh, materials, {**outer, "xmin": other}, (False,))
    assert np.abs(wrong - there).max() > 1e-3 * size.max()
