"""The metric of hexahedra: the library takes the cheapest that is exact, or a given one, of equal results.

Affine: a constant a cell. Trilinear: computed from the map of eight vertices. Stored: a curl at each node.
test_dg_hex_rhs.py holds what the library takes by itself against the equations.
Next: test_dg_hex_cuda.py, where each is on both engines.
"""

import itertools

import cuda_device
import numpy as np
import pytest
import unda
from hex_cases import apply, box, make, remade
from hex_meshes import CORNERS, turned
from physics_cases import CASES, by_node, states
from test_dg_hex_rhs import distance, on_box
from test_dg_rhs import FLUXES, PHYSICS
from unda.method import tune

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
cuda_device.prepare()

METRICS = ("affine", "trilinear", "stored")
AIR = unda.Acoustic(rho=1.3, c=1.1)
SHEAR = np.array([[1, 0.3, 0], [0, 1, -0.2], [0.1, 0, 1]])


def rounding(degree, dtype="float64"):
    """Entries of the derivative reach N(N + 1), sums of some ten such; the metric has five roundings."""
    return 50 * np.finfo(dtype).eps * degree * (degree + 1)


def sheared(away=0.0):
    """Parallelepipeds, their axes turned; `away` from the origin their vertices are rounded the more."""
    mesh = box((2, 2, 1), perturb=0)
    return remade(mesh, mesh.vertices @ SHEAR + away)


def meshes():
    """By what their cells are: of eight vertices, or of 27 nodes, which these make or not."""
    straight = box((2, 2, 1))
    one_moved = sheared().vertices.copy()
    one_moved[-1] += 1e-4
    return {
        "parallelepipeds": sheared(1e4),
        "parallelepipeds of 27 nodes": turned(sheared(), 1, lambda x: x @ SHEAR),
        "one vertex moved": remade(sheared(), one_moved),
        "warped": straight,
        "warped, of 27 nodes": turned(straight, 1, lambda x: 2 * x),
        "curved": box((2, 2, 1), curved=True),
    }


EXACT = {
    "parallelepipeds": METRICS, "parallelepipeds of 27 nodes": METRICS, "one vertex moved": METRICS[1:],
    "warped": METRICS[1:], "warped, of 27 nodes": METRICS[1:], "curved": METRICS[2:],
}  # fmt: skip


def kind(mesh, **options):
    with unda.DG(mesh, AIR, **{"device": "cpu", "degree": 2} | options) as sim:
        return sim.config["kernel_options"]["metric"]


# ---- which ----


@pytest.mark.gpu_or_stand_in
def test_the_library_takes_the_cheapest_that_is_exact_and_others_when_told():
    for name, mesh in meshes().items():
        for degree in (1, 2):
            exact = [m for m in EXACT[name] if degree > 1 or m != "trilinear" or "affine" in EXACT[name]]
            assert kind(mesh, degree=degree) == exact[0], (name, degree)
            for metric in METRICS:
                options = {"degree": degree, "kernel_options": {"metric": metric}}
                if metric in exact:
                    assert kind(mesh, **options) == metric
                else:
                    with pytest.raises(
                        unda.ArgumentError, match=rf"metric is {metric}\b.*element \d.*expected"
                    ):
                        kind(mesh, **options)
    assert kind(mesh, device="cuda") == "stored"
    assert kind(meshes()["warped"], device="cuda", kernel_options={"metric": "stored", "tile": 2}) == "stored"


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ("hex", "linear", r"metric is 'linear', expected one of \['affine', 'trilinear', 'stored'\]"),
        ("hex", 2, "metric is 2, expected one of"),
        (
            "tet",
            "stored",
            "kernel auto has no option metric, expected one of rows, lots, blocks, unroll, ahead, cols",
        ),
    ],
)
def test_words_that_mean_nothing_are_refused(shape, given, message):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1), shape=shape)
    for device in ("cpu", "cuda"):
        with pytest.raises(unda.ArgumentError, match=message):
            unda.DG(mesh, AIR, device=device, kernel_options={"metric": given})


def test_a_cell_that_is_folded_between_its_vertices_is_refused_by_its_number():
    """One end of it is that of a cube, stretched by -3 and -1/2: J is 1, -1/4, 3/2 at r_1 = 0, 1/2, 1."""
    folded = CORNERS * np.where(CORNERS[:, :1] == 1, [1, -3, -0.5], 1) + np.array([5, 50, 0])
    for which in (0, 2):
        vertices = CORNERS + np.array([(0.0, 0, 0), (10, 0, 0), (20, 0, 0)])[:, None]
        vertices[which] = folded
        mesh = unda.Mesh(vertices.reshape(-1, 3), np.arange(24).reshape(3, 8))
        for metric in METRICS[1:]:
            with pytest.raises(unda.MeshError, match=rf"element {which} is folded: its Jacobian is -0.25 m3"):
                kind(mesh, kernel_options={"metric": metric})
        with pytest.raises(unda.MeshError, match=rf"element {which} is folded"):
            unda.SEM(mesh, AIR, degree=2, device="cpu")
        assert kind(mesh, degree=1) == "stored"  # no node is where it is folded


# ---- that it changes nothing ----


@FLUXES
@PHYSICS
def test_every_metric_gives_the_same_rates(physics, flux):
    """In both precisions, with other materials at every node; a vertex moved by 1e-3 gives others."""
    case, degree = CASES[physics], {"upwind": 2, "central": 5}[flux]
    for mesh, metrics in ((sheared(), METRICS), (box((2, 2, 1)), METRICS[1:])):
        materials = by_node(case, mesh.num_elem, (degree + 1) ** 3)
        q = states(case, materials)
        moved = mesh.vertices.copy()
        moved[-1] += 1e-3
        for dtype in ("float64", "float32"):
            options = {"degree": degree, "flux": flux, "dtype": dtype}
            wall = next(iter(case.walls))
            rates = [
                apply(make(mesh, case, materials, wall, kernel_options={"metric": one}, **options), q)
                for one in metrics
            ]
            assert all(distance(rates[-1], one) < rounding(degree, dtype) for one in rates[:-1])
            other = apply(make(remade(mesh, moved), case, materials, wall, **options), q)
            assert distance(rates[-1], other) > 1e-4


@pytest.mark.parametrize("metric", METRICS[1:])
@PHYSICS
def test_constants_and_energy_are_kept_to_the_rounding_of_float32(physics, metric):
    """Both sides of a face compute its normal, which differs by its rounding: no more than that is lost.

    Some ten rounded products a node, of random signs: below 10 eps of |q| |dq/dt|, which bounds their sum.
    """
    case, degree = CASES[physics], 3
    kinds = {"elastic": "solid", "maxwell": "insulator"}
    options = {"degree": degree, "dtype": "float32", "flux": "central", "kernel_options": {"metric": metric}}
    sim, case, materials, energy = on_box(physics, kinds.get(physics), "periodic", **options)
    u = states(case, materials).astype(np.float32).astype(float)
    a = apply(sim, u)
    lost = abs(energy(u, a)) / np.sqrt(energy(u, u) * energy(a, a))
    assert lost < 10 * np.finfo(np.float32).eps
    constant = apply(sim, np.broadcast_to(np.arange(1.0, 1 + len(case.fields)), u.shape))
    assert np.abs(constant).max() < 10 * rounding(degree, "float32") * np.abs(a).max()
    upwind, *_ = on_box(physics, kinds.get(physics), "periodic", **options | {"flux": "upwind"})
    assert abs(energy(u, apply(upwind, u))) > 1e3 * lost * np.sqrt(energy(u, u) * energy(a, a))


# ---- what it costs, and that it stays ----


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_memory_and_compulsory_bytes_follow_the_metric(device):
    mesh, num, found = box((2, 2, 2), perturb=0), 8, {}
    nodes, words = 4**3, {"affine": 10, "trilinear": 24, "stored": 10 * 4**3}
    read = words | ({"stored": 9 * nodes + 1} if device == "cuda" else {})  # 1/J from the nine, and 1 / unit
    for metric in METRICS:
        options = {"degree": 3, "device": device, "dtype": "float32", "kernel_options": {"metric": metric}}
        with unda.DG(mesh, AIR, **options) as sim:
            assert unda.DG.forecast(mesh, AIR, **options) == sim.memory
            info = sim._solver.info()
            found[metric] = sim.memory["host"], sim.memory["device"], info.bytes_per_elem, info.flops
    host, on_device, compulsory, flops = zip(*(found[metric] for metric in METRICS), strict=True)
    for a, b in itertools.pairwise(range(3)):
        more = num * (words[METRICS[b]] - words[METRICS[a]])
        assert host[b] - host[a] == more * (8 + 4 * (device == "cpu"))
        more = num * (read[METRICS[b]] - read[METRICS[a]])
        assert device == "cpu" or abs(on_device[b] - on_device[a] - 4 * more) < 512  # whole pieces
        assert 4 * more == num * (compulsory[b] - compulsory[a])
    assert flops[0] == flops[2] < flops[1] < flops[0] + 100 * nodes


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_checkpoint_keeps_the_metric(tmp_path, device):
    mesh = box((2, 1, 1))
    for metric in METRICS[1:]:
        sim = unda.DG(mesh, AIR, degree=2, device=device, kernel_options={"metric": metric})
        sim.set(p=lambda x, y, z: x * y)
        sim.step(2)
        sim.save(tmp_path / "state.h5")
        again = unda.load(tmp_path / "state.h5")
        assert again.config["kernel_options"] == sim.config["kernel_options"]
        for one in (sim, again):
            one.step(3)
        assert np.array_equal(sim.get("p"), again.get("p"))


@pytest.mark.gpu_or_stand_in
def test_tune_remembers_a_choice_for_each_metric(monkeypatch, tmp_path):
    """A mesh that differs in that alone is measured on its own, and each takes its own choice again."""
    monkeypatch.setattr(tune, "_OTHERS", dict.fromkeys(tune._OTHERS, lambda n: ()))
    monkeypatch.setattr(tune._cuda, "cache_dir", lambda: str(tmp_path / "cache"))
    measured, seconds = [], tune.speed.kernel_seconds

    def kernel_seconds(sim, runs):
        measured.append(sim.config["kernel_options"]["metric"])
        return seconds(sim, runs)

    monkeypatch.setattr(tune.speed, "kernel_seconds", kernel_seconds)
    for _ in range(2):
        for mesh, metric in ((sheared(), "affine"), (box((2, 2, 1)), "trilinear")):
            with unda.DG(mesh, AIR, degree=2, device="cuda", tune=True) as sim:
                assert sim.config["kernel_options"]["metric"] == metric
    assert measured == ["affine", "affine", "trilinear", "trilinear"]  # by both kernels
