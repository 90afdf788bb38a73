"""Kernels of hexahedra do what the CPU engine does, on the stand-in driver or on a device.

The table covers every pair of settings; vertices of cells are numbered from any corner, so that faces meet in
every way. Next: test_cuda_engine.py, whose problem this is.
"""

import cuda_device
import numpy as np
import pytest
import unda
from hex_meshes import turned
from pairwise import in_turn, pairwise
from test_cuda_engine import TOLERANCE, WALLS, half_with_rates, random_medium, run, values_with_rates
from unda import _core
from unda.method._options import kernel_choice

pytestmark = pytest.mark.filterwarnings("ignore::unda.AccuracyWarning")
REAL = cuda_device.prepare()
LOWER, UPPER = (-0.2, -0.2, -0.2), (1.2, 1.3, 1.1)
SETTINGS = {
    "physics": tuple(WALLS),
    "degree": (1, 2, 3, 4),
    "dtype": ("float32", "float64"),
    "cells": ("sheared", "warped", "sheared, mapped", "warped, stored"),
    "boundary": ("hard", "soft", "mirror", "absorbing", "exact", "periodic"),
    "flux": ("upwind", "central"),
    "integrator": ("lsrk4", "ab3"),
    "per": ("cell", "node"),
    "kernel": ("lines", "columns", "base", "f1", "f1s"),
}
#: By parity, with several nodes a thread; without room for the metric of faces; in turns.
HIGH = [
    {"physics": "acoustic", "degree": 5, "dtype": "float32", "cells": "warped", "boundary": "hard",
     "flux": "upwind", "integrator": "lsrk4", "per": "cell"},
    {"physics": "maxwell", "degree": 8, "dtype": "float64", "cells": "sheared", "boundary": "soft",
     "flux": "central", "integrator": "ab3", "per": "cell"},
    {"physics": "elastic", "degree": 10, "dtype": "float64", "cells": "warped, stored",
     "boundary": "absorbing", "flux": "upwind", "integrator": "lsrk4", "per": "cell"},
    {"physics": "acoustic", "degree": 8, "dtype": "float64", "cells": "warped", "boundary": "soft",
     "flux": "upwind", "integrator": "lsrk4", "per": "cell", "kernel": "f1s"},
    {"physics": "elastic", "degree": 8, "dtype": "float32", "cells": "sheared", "boundary": "hard",
     "flux": "central", "integrator": "ab3", "per": "cell", "kernel": "base"},
    # a block of one element; the metric is computed where its node's state is used. No other case has its
    # degree, so that it runs by default
    {"physics": "acoustic", "degree": 9, "dtype": "float32", "cells": "warped", "boundary": "periodic",
     "flux": "upwind", "integrator": "lsrk4", "per": "cell", "kernel": "lines"},
    # at this degree 1/J does not follow from G, of curls it does from the edges
    {"physics": "elastic", "degree": 3, "dtype": "float64", "cells": "curved", "boundary": "hard",
     "flux": "upwind", "integrator": "lsrk4", "per": "cell", "kernel": "lines"},
    {"physics": "maxwell", "degree": 3, "dtype": "float64", "cells": "curved", "boundary": "hard",
     "flux": "upwind", "integrator": "lsrk4", "per": "cell", "kernel": "lines"},
]  # fmt: skip


def mesh_for(cells, boundary):
    """A few hexahedra: parallelepipeds or warped, each numbered from another corner."""
    cells = cells.split(",")[0]
    if boundary == "periodic":
        return unda.box_mesh(LOWER, UPPER, (2, 2, 2), shape="hex", periodic=(True,) * 3,
                             perturb=0.2 if cells == "warped" else 0, seed=1)  # fmt: skip
    rng = np.random.default_rng(1)
    box = unda.box_mesh(LOWER, UPPER, (3, 2, 2), shape="hex")
    if cells == "curved":
        return turned(box, 1, lambda x: x + 0.03 * np.sin(3 * x[..., [1, 2, 0]]))
    if cells == "sheared":
        vertices = box.vertices @ (np.eye(3) + rng.uniform(-0.1, 0.1, (3, 3)))
    else:
        vertices = box.vertices + rng.uniform(-0.05, 0.05, box.vertices.shape)
    return turned(unda.Mesh(vertices, box.cells), 1)


def options_for(cells):
    """What has the metric that the word after the comma says; without one the library takes its own."""
    metric = {"mapped": "trilinear", "stored": "stored"}.get(cells.partition(", ")[2])
    return {"kernel_options": {"metric": metric}} if metric else {}


CASES = pairwise(SETTINGS) + HIGH


def test_rates_are_compared_of_every_setting():
    assert values_with_rates(CASES, 15) >= {(name, one) for name in SETTINGS for one in SETTINGS[name]}


@pytest.mark.each_value
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("case", "with_rates"), half_with_rates(CASES, 15))
def test_cuda_equals_cpu(case, with_rates):
    case = dict(case)
    physics, cells = case.pop("physics"), case.pop("cells")
    mesh = mesh_for(cells, case["boundary"])
    case |= options_for(cells)
    steps = 2 if case["degree"] > 4 else 10
    cpu_run, cuda_run = (run(device, mesh, case, steps, physics, with_rates) for device in ("cpu", "cuda"))
    for cpu, cuda in zip(cpu_run, cuda_run, strict=True):
        assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max()
        assert np.abs(1.001 * cpu - cuda).max() > TOLERANCE[case["dtype"]] * np.abs(cpu).max()


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.sanitize
@in_turn(
    pytest.mark.parametrize(
        ("kernel", "cells"),
        [
            ("lines", "sheared"), ("columns", "warped"), ("columns", "warped, stored"), ("base", "warped"),
            ("f1", "sheared"), ("f1s", "warped, stored"),
        ],
    ),
    pytest.mark.parametrize(
        ("physics", "degree", "boundary"), [("acoustic", 2, "exact"), ("elastic", 4, "soft")]
    ),
    all_of_them=REAL,
)  # fmt: skip
def test_a_small_run_touches_only_what_is_its_own(physics, degree, boundary, kernel, cells):
    """For compute-sanitizer: single steps and a graph, cells that do not fill the last block."""
    case = {
        "degree": degree,
        "dtype": "float32",
        "boundary": boundary,
        "flux": "upwind",
        "integrator": "lsrk4",
        "kernel": kernel,
        **options_for(cells),
    }
    arrays = run("cuda", mesh_for(cells, boundary), case, steps=20, physics=physics, rates=REAL)
    assert all(np.isfinite(array).all() for array in arrays)


def tagged(cells):
    """The mesh with a half that is tagged "in", all of whose sides but xmin are absorbing."""
    perturb = 0.2 if cells.startswith("warped") else 0
    box = unda.box_mesh(LOWER, UPPER, (2, 2, 2), shape="hex", perturb=perturb, seed=1)
    inside = box.vertices[box.cells].mean(axis=1)[:, 0] < 0.5
    walls = {name: box.boundary_faces[box.boundary_ids == i] for i, name in enumerate(box.boundary_names)}
    return unda.Mesh(box.vertices, box.cells, tags=inside.astype(int), boundaries=walls,
                     tag_names={"out": 0, "in": 1})  # fmt: skip


def with_waves(device, physics, cells, waves=True, **options):
    """Two incident waves at once: into a region, and onto a wall; any state."""
    mesh, f = tagged(cells), unda.gaussian(1.0, t0=0.1)
    medium, first, second = {
        "acoustic": (unda.Acoustic(rho=1.3, c=1.0), None, None),
        "elastic": (unda.Elastic(rho=1.3, vp=1.8, vs=1.0), (1, -1, 1), (1, 1, 0)),
        "maxwell": (unda.Maxwell(eps=2.0, mu=0.5), (1, -1, 1), (1, 1, 0)),
    }[physics]
    wall = WALLS[physics]["mirror"]
    sim = unda.DG(mesh, medium, boundary={"xmin": wall, "*": "absorbing"}, device=device, **options)
    if waves:
        sim.add_source(unda.PlaneWave((2, 1, -1), first, f, region="in"))
        sim.add_source(unda.PlaneWave((-1, 1, 1), second, f, scatterer="xmin", amplitude=3))
    rng = np.random.default_rng(0)
    sim.set(t=-0.1, **{name: rng.standard_normal((mesh.num_elem, sim.num_node)) for name in sim.fields})
    sim.run(steps=5)
    rates = sim.rhs()
    return np.stack([sim.get(name) for name in sim.fields] + [rates[name] for name in sim.fields])


@pytest.mark.first(2)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("physics", "cells", "degree", "dtype", "flux", "integrator", "kernel"),
    [
        ("acoustic", "warped, stored", 2, "float64", "central", "ab3", "lines"),
        ("elastic", "warped, stored", 2, "float32", "upwind", "lsrk4", "columns"),
        ("elastic", "sheared", 3, "float32", "upwind", "lsrk4", "lines"),
        ("maxwell", "warped, stored", 3, "float64", "central", "ab3", "columns"),
        ("acoustic", "warped, stored", 2, "float64", "upwind", "lsrk4", "base"),
        *(
            pytest.param(*one, marks=[] if REAL else pytest.mark.slow)
            for one in [
                ("maxwell", "warped", 2, "float64", "upwind", "lsrk4", "lines"),
                ("elastic", "sheared", 1, "float32", "central", "lsrk4", "f1"),
                ("maxwell", "warped", 2, "float64", "upwind", "ab3", "f1s"),
            ]
        ),
    ],
)
def test_incident_waves_do_the_same_on_both_engines(physics, cells, degree, dtype, flux, integrator, kernel):
    options = {"degree": degree, "dtype": dtype, "flux": flux, "integrator": integrator, "kernel": kernel}
    options |= options_for(cells)
    cpu, cuda = (with_waves(device, physics, cells, **options) for device in ("cpu", "cuda"))
    silent = with_waves("cpu", physics, cells, waves=False, **options)
    assert np.abs(cpu - cuda).max() < TOLERANCE[options["dtype"]] * np.abs(cpu).max()
    assert np.abs(cpu - silent).max() > 1e-3 * np.abs(cpu).max()


PLANS = [
    {"tile": 1, "threads": 32, "blocks": 1, "metric": "trilinear"},
    {"tile": 3, "threads": 64, "blocks": 2, "ahead": 2, "metric": "stored"},
    {"tile": 5, "threads": 1024, "blocks": 1, "ahead": 1, "metric": "trilinear"},
    {"kernel": "columns", "tile": 1, "blocks": 1, "metric": "trilinear"},
    {"kernel": "columns", "tile": 7, "blocks": 2, "ahead": 3, "metric": "stored"},
    {"kernel": "base", "tile": 3, "metric": "trilinear"},
    {"kernel": "f1", "tile": 1, "metric": "stored"},
    {"kernel": "f1s", "tile": 7, "blocks": 3, "metric": "trilinear"},
]


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "plan",
    [pytest.param(plan, marks=[pytest.mark.slow] * (i % 3 > 0 and not REAL)) for i, plan in enumerate(PLANS)],
    ids=str,
)
def test_every_plan_gives_the_same_bits(plan):
    """A block that is not full, several nodes and lines a thread, threads without any."""
    case = {"degree": 3, "dtype": "float32", "boundary": "hard", "flux": "upwind", "integrator": "lsrk4"}
    mesh = mesh_for("warped", "hard")
    case |= {"kernel": plan.get("kernel", "lines")}
    options = {name: value for name, value in plan.items() if name != "kernel"}
    plans = {"metric": options["metric"]}, options
    usual, other = (run("cuda", mesh, case | {"kernel_options": one}, 10) for one in plans)
    assert all(np.array_equal(a, b) for a, b in zip(usual, other, strict=True))


@pytest.mark.first(2)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("cells", ["sheared", "warped, stored", "warped"])
def test_the_forecast_is_what_a_solver_then_holds(cells):
    mesh, rng = mesh_for(cells, "hard"), np.random.default_rng(0)
    medium = random_medium("acoustic", mesh, 2, "cell", rng)
    given = {"degree": 2, "dtype": "float64", "integrator": "ab3", "device": "cuda", **options_for(cells)}
    with unda.DG(mesh, medium, **given) as sim:
        info = sim._solver.info()
        held = (info.host_bytes, info.device_bytes)
    bytes_ = _core.ffi.new("int64_t[2]")
    options = _core.new_struct(
        "unda_solver_options", degree=2, precision=1, integrator=1, device=0,
        **kernel_choice("auto", given.get("kernel_options")),
    )  # fmt: skip
    _core.check(_core.lib.unda_solver_forecast(mesh._handle, options, bytes_, bytes_ + 1))
    assert (bytes_[0], bytes_[1]) == held
    node = mesh.num_elem * 27 * 8
    assert held[1] > (5 * 4 + (10 if cells == "warped, stored" else 0)) * node


#: Reals of a stage, a cell of N3 nodes of which S3 are on faces, 4 fields, affine. Volume: the state read and
#: the right-hand side written; flux, at faces: state and right-hand side read, that written; update: that
#: read, state and residual read and written. All but the last read metric and material, those with the flux
#: six faces' coefficients and neighbours.
N3, S3, TABLES, FACES = 4**3, 4**3 - 2**3, 10 + 2, 6 * 3 + 6
VOLUME, FLUX, UPDATE = 4 * 2 * N3 + TABLES, 4 * 3 * S3 + TABLES + FACES, 4 * 5 * N3
PARTS = {
    "base": {"dg_volume": VOLUME, "dg_flux": FLUX, "dg_integration": UPDATE},
    "f1": {"dg_volume_flux": VOLUME + FACES, "dg_integration": UPDATE},
    "f1s": {"dg_volume_flux": VOLUME + FACES, "dg_integration": UPDATE},
    "lines": {"dg_lines": 4 * 4 * N3 + TABLES + FACES},
    "columns": {"dg_columns": 4 * 4 * N3 + TABLES + FACES},
}


@pytest.mark.gpu_or_stand_in
def test_profiles_count_the_work_of_each_function():
    mesh, whole = mesh_for("sheared", "hard"), {}
    for kernel, parts in PARTS.items():
        with unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=3, dtype="float32", device="cuda",
                     boundary={"*": "rigid"}, kernel=kernel) as sim:  # fmt: skip
            found = sim.profile(runs=1)
        stage = found.pop("stage")
        assert {name: one["bytes"] / mesh.num_elem / 4 for name, one in found.items()} == parts
        assert stage["seconds"] == pytest.approx(sum(one["seconds"] for one in found.values()))
        whole[kernel] = sum(one["flops"] for one in found.values())
        assert stage["gflops"] == pytest.approx(whole[kernel] / stage["seconds"] / 1e9)
    assert len(set(whole.values())) == 1


@pytest.mark.first(5)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("medium", "given", "kernel"),
    [
        (unda.Acoustic(rho=1.0, c=1.0), {}, "columns"),
        (unda.Acoustic(rho=1.0, c=1.0), {"kernel_options": {"threads": 64}}, "lines"),
        (unda.Acoustic(rho=1.0, c=1.0), {"kernel_options": {"metric": "stored"}}, "lines"),
        (unda.Acoustic(rho=1.0, c=1.0), {"degree": 5, "integrator": "ab3"}, "lines"),
        (unda.Elastic(rho=1.0, vp=2.0, vs=1.0), {}, "lines"),
        (unda.Elastic(rho=1.0, vp=2.0, vs=1.0), {"kernel_options": {"metric": "trilinear"}}, "columns"),
        (unda.Maxwell(eps=1.0, mu=1.0), {"kernel_options": {"metric": "stored"}}, "columns"),
    ],
)
def test_auto_is_the_kernel_that_was_measured_to_be_faster(medium, given, kernel):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape="hex")
    with unda.DG(mesh, medium, device="cuda", **{"degree": 2, "integrator": "lsrk4"} | given) as sim:
        assert sim.config["kernel"] == kernel


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        (
            "hex",
            {"kernel": "fused"},
            "kernel is fused, which is for cells of another .* of auto, columns, lines, base, f1, f1s$",
        ),
        ("hex", {"kernel_options": {"threads": 64, "tile": 2, "rows": 2}}, "kernel auto has no option rows"),
        (
            "tet",
            {"kernel": "lines"},
            "kernel is lines, which is for .* of auto, tensor, blocks, fused, .*, gemm, microblock$",
        ),
        (
            "hex",
            {"kernel_options": {"rows": 2}},
            "no option rows, expected one of tile, blocks, ahead, metric, threads$",
        ),
        (
            "hex",
            {"degree": 4, "kernel": "lines", "kernel_options": {"tile": 70}},
            r"tile is 70 .* expected 1\.\.65: they share 227",
        ),
        (
            "hex",
            {"degree": 4, "kernel_options": {"tile": 70}},
            r"tile is 70 .* expected 1\.\.40: each has 25 threads, a block 1024",
        ),
        (
            "hex",
            {"degree": 10, "dtype": "float64", "kernel": "columns", "kernel_options": {"tile": 8}},
            r"tile is 8 .* expected 1\.\.4: they share 227",
        ),
        (
            "hex",
            {"degree": 8, "dtype": "float64", "kernel": "f1s", "kernel_options": {"tile": 10}},
            r"tile is 10 .* expected 1\.\.9: they share 227",
        ),
    ],
)
def test_what_does_not_fit_is_refused(shape, given, message):
    mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 1, 1), shape=shape)
    with pytest.raises(unda.ArgumentError, match=f"(?m){message}"):
        unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), device="cuda", **{"degree": 2} | given)
