"""The metric of spectral elements: the cheapest that is exact, or a given one, of equal results.

Affine: a constant a cell. Trilinear: computed from the map of eight vertices, on CUDA along a column of
nodes. Stored: at each node. test_sem_reference.py holds what the library takes against the weak form.
"""

import itertools

import cuda_device
import numpy as np
import pytest
import unda
from hex_meshes import CORNERS, turned
from sem_cases import start

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
REAL = cuda_device.prepare()

METRICS = ("affine", "trilinear", "stored")
ROCK = unda.Elastic(rho=1.3, vp=1.9, vs=1.0)
WATER = unda.Acoustic(rho=1.3, c=1.1)
SHEAR = np.array([[1, 0.3, 0], [0, 1, -0.2], [0.1, 0, 1]])
#: Entries of the derivative reach N(N + 1), a force takes two, of some ten products each; the metric, of
#: cells that are perturbed by a fifth, has some ten roundings, and the single-precision reciprocal two more.
DEGREE = 4
ROUNDING = {
    dtype: 100 * np.finfo(dtype).eps * DEGREE * (DEGREE + 1) for dtype in ("float32", "float64")
}  # fmt: skip


def box(perturb=0.0, sides=(2, 2, 2)):
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.6), sides, shape="hex", perturb=perturb)


def sheared():
    mesh = box()
    return unda.Mesh(mesh.vertices @ SHEAR, mesh.cells)


def curved():
    return turned(box(), move=lambda x: x + 0.03 * np.sin(3 * x[..., [1, 2, 0]]))


EXACT = {"parallelepipeds": (sheared, METRICS), "warped": (lambda: box(0.2), METRICS[1:]),
         "curved": (curved, METRICS[2:])}  # fmt: skip


def sem(mesh, medium=ROCK, metric=None, **options):
    chosen = {"metric": metric} if metric else None
    return unda.SEM(mesh, medium, degree=DEGREE, kernel_options=chosen, **options)


def kind(*args, **options):
    with sem(*args, device="cpu", **options) as sim:
        return sim.config["kernel_options"]["metric"]


def test_the_library_takes_the_cheapest_that_is_exact_and_others_when_told():
    for make, exact in EXACT.values():
        mesh = make()
        assert kind(mesh) == exact[0]
        for metric in METRICS:
            if metric in exact:
                assert kind(mesh, metric=metric) == metric
            else:
                with pytest.raises(unda.ArgumentError, match=rf"metric is {metric}\b.*element \d.*expected"):
                    kind(mesh, metric=metric)


def accelerations(sim):
    start(sim)
    names = [name for name in sim.fields if name in ("ax", "ay", "az", "chi_tt")]
    return np.stack([sim.get(name) for name in names])


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("medium", "dtype"),
    [
        pytest.param(ROCK, "float64", id="solid-float64"),
        pytest.param(WATER, "float32", id="fluid-float32", marks=[] if REAL else pytest.mark.slow),
        pytest.param(ROCK, "float32", id="solid-float32", marks=[] if REAL else pytest.mark.slow),
        pytest.param(WATER, "float64", id="fluid-float64", marks=[] if REAL else pytest.mark.slow),
    ],
)
def test_every_metric_gives_the_same_accelerations_on_both_engines(medium, dtype):
    """A vertex moved by 1e-3 gives others."""
    for make, exact in EXACT.values():
        mesh = make()
        found = [
            accelerations(sem(mesh, medium, metric, device=device, dtype=dtype))
            for device, metric in itertools.product(("cpu", "cuda"), exact)
        ]
        size = np.abs(found[0]).max()
        assert all(np.abs(one - found[0]).max() < ROUNDING[dtype] * size for one in found[1:])
    mesh = box(0.2)
    moved = mesh.vertices.copy()
    moved[-1] += 1e-3
    first, other = (accelerations(sem(one, medium, device="cuda", dtype=dtype))
                    for one in (mesh, unda.Mesh(moved, mesh.cells)))  # fmt: skip
    assert np.abs(first - other).max() > 10 * ROUNDING["float32"] * np.abs(first).max()


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_memory_and_compulsory_bytes_follow_the_metric(device):
    """And no more: where a metric is computed from a map, no engine keeps what comes out."""
    mesh, found = box(sides=(3, 2, 2)), {}  # a whole tile
    num, nodes = mesh.num_elem, (DEGREE + 1) ** 3
    words = {"affine": 10, "trilinear": 24, "stored": 10 * nodes}
    for metric in METRICS:
        options = {"degree": DEGREE, "device": device, "kernel_options": {"metric": metric}}
        with unda.SEM(mesh, ROCK, **options) as sim:
            assert unda.SEM.forecast(mesh, ROCK, **options) == sim.memory
            info = sim._solver.info()
            found[metric] = sim.memory["host"], sim.memory["device"], info.bytes_per_elem, info.flops
    for one, other in itertools.pairwise(METRICS):
        host, on_device, compulsory, flops = np.subtract(found[other], found[one])
        more = num * (words[other] - words[one])
        assert 4 * more == num * compulsory
        assert (flops > 0) == (other == "trilinear")
        if device == "cuda":
            assert host == 8 * more
            assert abs(on_device - 4 * more) < 512  # whole pieces
        else:  # blocks of 16 cells
            assert host == 8 * more + 16 * 4 * (words[other] - words[one])


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_checkpoint_keeps_the_metric(tmp_path, device):
    mesh = box(0.2)
    for metric in METRICS[1:]:
        sim = sem(mesh, metric=metric, device=device)
        start(sim)
        sim.step(2)
        sim.save(tmp_path / "state.h5")
        again = unda.load(tmp_path / "state.h5")
        assert again.config["kernel_options"] == sim.config["kernel_options"]
        for one in (sim, again):
            one.step(3)
        assert np.array_equal(sim.get("ux"), again.get("ux"))


def test_a_cell_that_is_folded_between_its_vertices_is_refused_by_its_number():
    """One end of it is that of a cube, stretched by -3 and -1/2: J is 1, -1/4, 3/2 at r_1 = 0, 1/2, 1."""
    places = CORNERS + np.array([(0.0, 0, 0), (10, 0, 0), (20, 0, 0)])[:, None]
    places[1] = CORNERS * np.where(CORNERS[:, :1] == 1, [1, -3, -0.5], 1) + np.array([5, 50, 0])
    mesh = unda.Mesh(places.reshape(-1, 3), np.arange(24).reshape(3, 8))
    for metric in METRICS[1:]:
        with pytest.raises(unda.MeshError, match=r"element 1 is folded: its Jacobian is -0.25 m3"):
            kind(mesh, metric=metric)
