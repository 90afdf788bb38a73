"""Plane waves from outside: a total-field region and driven walls make the exact field, and agree.

Lengths in units in which the wave's speed is 1. Not here: the waves themselves (test_exact_solutions.py).
"""

import cuda_device
import numpy as np
import pytest
import unda

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # small and coarse: both engines, sums, refusals

REAL = cuda_device.prepare()

MEDIA = {
    "acoustic": (unda.Acoustic(rho=1.3, c=1.0), None),
    "p": (unda.Elastic(rho=1.3, vp=1.0, vs=0.55), None),
    "s": (unda.Elastic(rho=1.3, vp=1.8, vs=1.0), (2, -1, 0)),
    "maxwell": (unda.Maxwell(eps=2.0, mu=0.5), (2, -1, 0)),
}
OBLIQUE = (1, 2, -1)
PULSE = unda.gaussian(1.0, t0=0.0)  # fmax = 1.85: wavelengths down to 0.54
SLOW = pytest.mark.slow
EACH = pytest.mark.parametrize("name", MEDIA)


def tagged(box, inside, hole=None):
    """The box with tags "out" and "in", each cell's vertices turned, without the cells of the hole."""
    keep = np.ones(box.num_elem, bool) if hole is None else ~hole
    corners = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    used = np.unique(box.cells[keep])
    number = np.full(box.num_vertex, -1)
    number[used] = np.arange(len(used))
    cells = number[box.cells[keep]]
    faces = {n: number[box.boundary_faces[box.boundary_ids == i]] for i, n in enumerate(box.boundary_names)}
    if hole is not None:
        lost = (box.neighbors >= 0) & hole[box.neighbors // 4]
        elem, face = np.nonzero(lost[keep])
        faces["hole"] = np.take_along_axis(cells[elem], corners[face], axis=1)
    return unda.Mesh(
        box.vertices[used], cells[:, [1, 2, 0, 3]], tags=inside[keep].astype(int), boundaries=faces,
        periodic=box.periodic, tag_names={"out": 0, "in": 1},
    )  # fmt: skip


def meshes(shape, n):
    """A region in a box of n bricks across, and a direction of the wave that fits it."""
    if shape == "slab":
        box = unda.box_mesh((0, 0, 0), (1 / n, 1 / n, 1), (1, 1, n), periodic=(True, True, False))
        return tagged(box, abs(box.centroids[:, 2] - 0.5) < 0.25), (0, 0, 1)
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n))
    offset = box.centroids - 0.5
    inside = {
        "cube": (abs(offset) < 1 / 6).all(axis=1),
        "half": offset[:, 0] < 0,
        "all": np.ones(box.num_elem, bool),
    }[shape]
    return tagged(box, inside), OBLIQUE


def rms(values, fields, where):
    """Root mean square over the nodes of cells."""
    return float(np.sqrt(sum(np.mean(values[name][where] ** 2) for name in fields)))


def in_region(name, shape, n, degree, flux="upwind", amplitude=1.0):
    """Errors inside and what is outside, relative to the wave; the worse of the groups of fields."""
    (medium, polarization), (mesh, direction) = MEDIA[name], meshes(shape, n)
    wave = unda.PlaneWave(direction, polarization, PULSE, region="in", amplitude=amplitude)
    sim = unda.DG(mesh, medium, degree=degree, flux=flux, dtype="float64")
    sim.add_source(wave)
    sim.set(t=-1.1 if shape in ("cube", "slab") else -2.0)  # the pulse is outside then, below 1e-5
    sim.run(until=0.55)
    inside = mesh.tags == 1
    exact = unda.exact.plane_wave(
        medium, direction=direction, f=PULSE, polarization=polarization, kind={"s": "s"}.get(name)
    )(*np.moveaxis(sim.coordinates, -1, 0), sim.t)
    found = {field: sim.get(field) for field in sim.fields}
    off = {field: found[field] - exact[field] for field in sim.fields}
    groups = medium.field_groups.values()
    error = max(rms(off, group, inside) / rms(exact, group, inside) for group in groups)
    outside = [rms(found, group, ~inside) / rms(exact, group, inside) for group in groups if not inside.all()]
    return error, max(outside, default=0.0)


@pytest.mark.first(2)
@EACH
@pytest.mark.parametrize("degree", [2, pytest.param(3, marks=SLOW)])
def test_a_region_holds_the_wave_and_what_leaks_out_vanishes_with_the_order(name, degree):
    (coarse, leak), (fine, less) = (in_region(name, "cube", n, degree) for n in (3, 6))
    assert np.log2(coarse / fine) > degree + 0.3, (coarse, fine)
    assert np.log2(leak / less) > degree + 0.2, (leak, less)
    assert less < 0.3 * fine < 3e-3


# The central flux has the order N for odd N.
@EACH
@pytest.mark.parametrize("flux", ["upwind", "central"])
def test_a_slab_across_periodic_sides_is_a_region(name, flux):
    (coarse, leak), (fine, less) = (in_region(name, "slab", n, degree=3, flux=flux) for n in (4, 8))
    order = 3 if flux == "upwind" else 2.5
    assert np.log2(coarse / fine) > order, (coarse, fine)
    assert np.log2(leak / less) > order, (leak, less)
    assert less < 0.35 * fine < 6e-4


@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "shape"), [("acoustic", "half"), ("maxwell", "all")])
def test_absorbing_sides_of_a_region_let_an_oblique_wave_in_and_out(name, shape):
    (coarse, _), (fine, _) = (in_region(name, shape, n, degree=2) for n in (4, 6))
    assert np.log(coarse / fine) / np.log(1.5) > 2.5, (coarse, fine)
    assert fine < 6e-3


def test_a_wave_one_per_cent_too_strong_does_not_converge():
    errors = [in_region("acoustic", "slab", n, degree=3, amplitude=1.01)[0] for n in (4, 8)]
    assert 0.99 < errors[1] / 0.01 < 1.01 and np.log2(errors[0] / errors[1]) < 0.1


# ---- walls ----

#: Of each wall what comes back of a wave of unit amplitude at normal incidence: p, v or E.
WALLS = {
    "acoustic": {"rigid": 1, "free": -1},
    "p": {"free": -1, "fixed": 1, "symmetry": 1},
    "s": {"free": 1, "fixed": -1, "symmetry": 1},
    "maxwell": {"pec": -1, "pmc": 1},
}


def reflected(name, wall, n, flux="upwind", amplitude=1.5):
    """Error of the scattered field of a wall at z = 0 of a periodic column."""
    medium, polarization = MEDIA[name]
    mesh = unda.box_mesh((0, 0, 0), (1 / n, 1 / n, 2), (1, 1, 2 * n), periodic=(True, True, False))
    sim = unda.DG(
        mesh, medium, degree=2, flux=flux, boundary={"zmin": wall, "*": "absorbing"}, dtype="float64"
    )
    sim.add_source(unda.PlaneWave((0, 0, -3), polarization, PULSE, scatterer="zmin", amplitude=amplitude))
    sim.set(t=-1.1)
    sim.run(until=1.0)
    back = unda.exact.plane_wave(
        medium, direction=(0, 0, 1), f=PULSE, polarization=polarization, kind={"s": "s"}.get(name),
        amplitude=1.5 * WALLS[name][wall],
    )  # fmt: skip
    return max(sim.error(back, relative=True).values())


@pytest.mark.each_value
@pytest.mark.parametrize(("name", "wall"), [(name, wall) for name in WALLS for wall in WALLS[name]])
def test_the_scattered_field_of_a_wall_is_the_reflected_wave(name, wall):
    coarse, fine = (reflected(name, wall, n) for n in (4, 8))
    assert np.log2(coarse / fine) > 2.9, (coarse, fine)
    assert fine < 1e-3
    assert reflected(name, wall, 4, "central") < 0.03
    assert reflected(name, wall, 4, amplitude=1.4) > 0.06


# ---- one scatterer, two ways ----


def with_a_hole():
    """A cube of five bricks across, that in the middle missing, in a region of three."""
    box = unda.box_mesh((0, 0, 0), (1, 1, 1), (5, 5, 5))
    distance = abs(box.centroids - 0.5).max(axis=1)
    return tagged(box, distance < 0.3, hole=distance < 0.1)


def scattered(name, wall, degree, **where):
    """The scattered field around the hole, total less incident where a region is."""
    (medium, polarization), mesh = MEDIA[name], with_a_hole()
    wave = unda.PlaneWave(OBLIQUE, polarization, PULSE, **where)
    sim = unda.DG(mesh, medium, degree=degree, boundary={"hole": wall, "*": "absorbing"}, dtype="float64")
    sim.add_source(wave)
    sim.set(t=-1.1)
    sim.run(until=0.5)
    incident = wave.incident(medium)(*np.moveaxis(sim.coordinates, -1, 0), sim.t)
    total = (mesh.tags == 1)[:, None] & (wave.region is not None)
    return {field: sim.get(field) - total * incident[field] for field in sim.fields}


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("name", "wall"),
    [
        ("acoustic", "rigid"),
        ("maxwell", "pec"),
        pytest.param("p", "free", marks=SLOW),
        pytest.param("s", "fixed", marks=SLOW),
    ],
)
def test_total_field_in_a_region_is_scattered_plus_incident_field(name, wall):
    """They differ by the error of the wave alone in the region, rough as the scattered field is at edges."""
    groups, differences, all_cells = MEDIA[name][0].field_groups.values(), [], slice(None)
    for degree in (1, 3):
        one, other = (scattered(name, wall, degree, **w) for w in ({"region": "in"}, {"scatterer": "hole"}))
        off = {field: one[field] - other[field] for field in one}
        differences.append(max(rms(off, g, all_cells) / rms(other, g, all_cells) for g in groups))
    assert differences[1] < 0.02, differences
    assert differences[0] > 10 * differences[1], differences


# ---- engines and files ----

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
CASES = [
    # dtype, kernel, flux, integrator, degree
    ("float32", "fused", "upwind", "lsrk4", 2),
    ("float64", "fused", "central", "ab3", 3),
    ("float64", "node", "upwind", "ab3", 1),
    ("float32", "node", "central", "lsrk4", 2),
    ("float32", "gemm", "upwind", "ab3", 2),
    ("float64", "gemm", "central", "lsrk4", 1),
    ("float32", "tensor", "upwind", "lsrk4", 2),
    ("float32", "tensor", "upwind", "ab3", 4),
    ("float64", "microblock", "upwind", "lsrk4", 2),
    # slow on the stand-in, which compiles these for long
    ("float32", "tensor", "upwind", "lsrk4", 3),
    ("float32", "tensor", "central", "ab3", 2),
    ("float32", "blocks", "central", "ab3", 3),
    ("float64", "blocks", "upwind", "lsrk4", 2),
    ("float32", "element", "upwind", "ab3", 2),
]
#: Three kernels, both fluxes, integrators and precisions, by default with a medium of each kind.
QUICK = 1, 5, 6
HARD = {"acoustic": "rigid", "p": "free", "s": "symmetry", "maxwell": "pec"}


def small(name, *, waves=("region", "wall"), device="cpu", **options):
    """Two waves at once: into half of a small box with absorbing sides, and onto its wall; any state."""
    medium, polarization = MEDIA[name]
    box = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (4, 4, 4) if REAL else (2, 1, 2), perturb=0.2, seed=1)
    mesh = tagged(box, box.centroids[:, 0] < 0.5)
    sim = unda.DG(mesh, medium, boundary={"xmin": HARD[name], "*": "absorbing"}, device=device, **options)
    f = unda.gaussian(1.0, t0=0.1)
    if "region" in waves:
        sim.add_source(unda.PlaneWave((2, 1, -1), polarization and (1, -1, 1), f, region="in"))
    if "wall" in waves:
        sim.add_source(
            unda.PlaneWave((-1, 1, 1), polarization and (1, 1, 0), f, scatterer="xmin", amplitude=3)
        )
    rng = np.random.default_rng(0)
    state = {field: rng.standard_normal((mesh.num_elem, sim.num_node)) for field in sim.fields}
    sim.set(t=-0.1, **state)
    return sim


def outcome(sim, steps):
    """Fields after some steps, and their rates there."""
    sim.run(steps=steps)
    rates = sim.rhs()
    return [np.stack([values[field] for field in sim.fields]) for values in (fields_of(sim), rates)]


def fields_of(sim):
    return {field: sim.get(field) for field in sim.fields}


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "name, case",
    [
        pytest.param(name, case, marks=[SLOW] * (((i + j) % 3 or j not in QUICK) and not REAL))
        for i, name in enumerate(["acoustic", "s", "maxwell"])
        for j, case in enumerate(CASES)
    ],
    ids=str,
)
def test_cuda_equals_cpu(name, case):
    options = dict(zip(("dtype", "kernel", "flux", "integrator", "degree"), case, strict=True))
    steps, tolerance = 100 if REAL else 5, TOLERANCE[case[0]]
    cpu, cuda = (outcome(small(name, device=d, **options), steps) for d in ("cpu", "cuda"))
    without = outcome(small(name, waves=(), **options), steps)
    for one, other, silent in zip(cpu, cuda, without, strict=True):
        assert np.abs(one - other).max() < tolerance * np.abs(one).max()
        assert np.abs(one - silent).max() > 1e-3 * np.abs(one).max()


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_steps_in_batches_and_after_a_checkpoint_have_the_bits_of_single_ones(device, tmp_path):
    """After the first eight, sixteen steps are one CUDA graph."""
    states = []
    for chunks in ([1] * 41, [41], [2, 39]):
        sim = small("maxwell", device=device, degree=1)
        sim.step(chunks[0])
        if len(chunks) == 2:
            sim.save(tmp_path / "run.h5")
            sim = unda.load(tmp_path / "run.h5")
        for n in chunks[1:]:
            sim.step(n)
        states.append(fields_of(sim))
    for other in states[1:]:
        assert all(np.array_equal(states[0][field], other[field]) for field in other)


@pytest.mark.parametrize("name", ["acoustic", "maxwell"])
def test_two_waves_at_once_do_what_each_does_alone(name):
    states = []
    for waves in ((), ("region",), ("wall",), ("region", "wall")):
        sim = small(name, waves=waves, degree=2, dtype="float64")
        sim.run(until=0.4)
        states.append(np.stack([sim.get(field) for field in sim.fields]))
    none, one, other, both = states
    assert min(np.abs(one - none).max(), np.abs(other - none).max()) > 0.1
    assert np.abs(both - one - other + none).max() < 1e-12 * np.abs(both).max()


def test_the_rate_of_a_silent_state_is_that_of_the_wave_in_cells_at_the_surface():
    mesh, direction = meshes("cube", 6)
    sim = unda.DG(mesh, MEDIA["acoustic"][0], degree=2, boundary={"zmin": "free", "*": "absorbing"})
    sim.add_source(unda.PlaneWave(direction, f=PULSE, region="in"))
    sim.set(t=0.4)
    across = mesh.neighbors // 4
    surface = (mesh.tags[across] != mesh.tags[:, None]) & (mesh.neighbors >= 0)
    assert np.array_equal(sim.rhs()["p"].any(axis=1), surface.any(axis=1))
    sim.reset(sources=True)
    sim.set(t=0.4)
    assert not any(rate.any() for rate in sim.rhs().values())


def test_waves_may_change_between_runs():
    sim = small("acoustic", degree=2, dtype="float64")
    sim.run(steps=3)
    sim.reset(sources=True)
    wave = unda.PlaneWave((0, 0, 1), f=unda.gaussian(1.0, t0=0.1), region="out")
    sim.add_source(wave)
    sim.run(steps=10)
    fresh = small("acoustic", waves=(), degree=2, dtype="float64")
    fresh.set()
    fresh.add_source(wave)
    fresh.run(steps=10)
    assert np.array_equal(sim.get("p"), fresh.get("p")) and sim.get("p").any()
    with pytest.raises(unda.ArgumentError, match="added already"):
        sim.add_source(wave)


def test_a_wave_is_remade_from_its_configuration():
    for more in ({"region": ("in", "out"), "kind": "p"}, {"scatterer": "hole", "amplitude": 2.0}):
        wave = unda.PlaneWave((1, 2, 2), (0, 1, -1), PULSE, **more)
        again = unda.PlaneWave.from_config(wave.to_config())
        assert again.to_config() == wave.to_config() and repr(again) == repr(wave)
    with pytest.raises(unda.ArgumentError, match=r"unda\.sampled"):
        unda.PlaneWave((1, 0, 0), f=np.sin, region="in").to_config()


def test_check_knows_the_frequency_of_a_wave():
    assert small("acoustic", degree=2).check().fmax == unda.gaussian(1.0, t0=0.1).fmax


@EACH
@pytest.mark.parametrize("driven", ["region", "scatterer"])
def test_a_wave_that_has_begun_before_the_first_step_is_warned_of(name, driven):
    """It is at the origin at t = 0, and reaches a cube around (9, 0, 0) by 8.5 seconds later, or earlier."""
    medium, polarization = MEDIA[name]
    box = unda.box_mesh((8, -1, -1), (10, 1, 1), (4, 4, 4))
    mesh = tagged(box, (abs(box.centroids - (9, 0, 0)) < 0.5).all(axis=1))
    wall = {"acoustic": "rigid", "maxwell": "pec"}.get(name, "fixed")
    sides = {n: wall if driven == "scatterer" else "absorbing" for n in mesh.boundary_names}
    first = 8.5 if driven == "region" else 8.0  # of x
    f = unda.smooth_bump(1.0)
    for along, begins, warned in (
        (1, first, False), (1, first + 0.3, True), (-1, -(18 - first), False),
        (-1, -(18 - first) + 0.3, True), (-1, 0.0, True),
    ):  # fmt: skip
        bent = None if polarization is None else (0, 1, 0)
        where = {"region": "in"} if driven == "region" else {"scatterer": list(sides)}
        sim = unda.DG(mesh, medium, degree=1, boundary=sides, device="cpu")
        sim.add_source(unda.PlaneWave((along, 0, 0), bent, f, **where))
        sim.set(t=begins)
        assert any("before the first step" in text for text in sim.check().warnings) == warned
        sim.set(**{sim.fields[0]: 1e-9}, t=begins)  # the total field is given
        assert "before the first step" not in repr(sim.check())


# ---- refusals ----


def add(box=None, medium=MEDIA["acoustic"][0], boundary=None, inside=None, **wave):
    """Add a wave to a box whose lower half, or what `inside` says, is a region."""
    box = box or unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    inside = box.centroids[:, 2] < 0.5 if inside is None else inside(*box.centroids.T)
    mesh = tagged(box, inside)
    sim = unda.DG(mesh, medium, degree=1, boundary=boundary)
    sim.add_source(unda.PlaneWave(**{"direction": (0, 0, 1), "f": PULSE, "region": "in", **wave}))


GLASS = unda.Maxwell(eps=lambda x, y, z: np.where(z < 0.4, 2.0, 1.0), mu=1.0)
METAL = unda.Maxwell(eps=1.0, mu=1.0, sigma=lambda x, y, z: np.where(z > 0.5, 1.0, 0.0))
SIDES = ("xmin", "xmax", "ymin", "ymax")
COLUMN = unda.box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2), periodic=(True, True, False))
SOLID = unda.Elastic(rho=1, vp=2, vs=1)
BOTH = {"zmin": "free", "zmax": "rigid"}
ONTO = {"region": None, "scatterer": "zmin"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"f": None}, "f is None; expected a time function"),
        ({"direction": (0, 0, 0)}, "direction is"),
        ({"polarization": (0, 0, 0)}, "polarization is"),
        ({"kind": "sv"}, "kind is 'sv'"),
        ({"amplitude": np.nan}, "amplitude is nan"),
        ({"region": None}, "got none of region, scatterer and box"),
        ({"scatterer": "zmin"}, "got region and scatterer of region, scatterer and box"),
        ({"region": 1}, "region is 1; expected a name"),
        ({"region": []}, r"region is \[\]; expected a name"),
        ({"region": ["in", "sea"]}, r"region names \['sea'\]; the mesh has the tags \['out', 'in'\]"),
        ({"region": None, "scatterer": "sea"}, r"scatterer names \['sea'\]; the mesh has the boundaries"),
        (ONTO, "scatterer 'zmin' is absorbing; expected a wall"),
        (
            ONTO | {"boundary": {"zmin": lambda x, y, z, t: 0, "*": "free"}},
            "'zmin' is exact; expected a wall",
        ),
        ({"box": COLUMN, "region": None, "scatterer": "xmin"}, "'xmin' is periodic; expected a wall"),
        ({"polarization": (1, 0, 0)}, "polarization"),
        ({"medium": unda.Maxwell(eps=1.0, mu=1.0)}, "polarization is None"),
        (
            {"medium": unda.Elastic(rho=1, vp=1, vs=0), "polarization": (1, 0, 0)},
            "kind is 's', but .* a fluid",
        ),
        (
            {"medium": unda.Acoustic(rho=1, c=lambda x, y, z: 1 + z)},
            "needs one material; found rho = 1.0, c =",
        ),
        (
            {
                "medium": GLASS,
                "polarization": (1, 0, 0),
                "boundary": {"zmin": "pec", "*": "absorbing"},
                **ONTO,
            },
            r"scatterer \['zmin'\] needs one material; found eps = 2.0, .* and eps = 1.0, .* in cell",
        ),
        (
            {"medium": METAL, "polarization": (1, 0, 0), "boundary": {"zmin": "pec", "*": "absorbing"}},
            "needs one material; found .*sigma = 0.0 .* and .*sigma = 1.0 in cell",
        ),
        (
            {"medium": unda.Maxwell(eps=1.0, mu=1.0, sigma=0.1), "polarization": (1, 0, 0)},
            "needs an insulator.* expected sigma = 0",
        ),
        (
            {"boundary": {"*": "rigid"}, "inside": lambda x, y, z: z < 2},
            "48 of 48 cells and no face to others",
        ),
        ({"inside": lambda x, y, z: z > 2}, r"region names \['in'\]|0 of 48 cells"),
        ({"boundary": {"xmin": "free", "*": "absorbing"}}, r"'xmin' is free at .* where the faces of region"),
        ({"boundary": {"xmin": "rigid", "*": "absorbing"}, "direction": (1, 0, 1)}, "'xmin' is rigid at"),
        ({"boundary": {"ymin": lambda x, y, z, t: 0, "*": "absorbing"}}, "'ymin' is exact at"),
        (
            {
                "boundary": {"xmin": "pmc", "*": "absorbing"},
                "medium": unda.Maxwell(eps=1.0, mu=1.0),
                "polarization": (1, 0, 0),
            },
            "'xmin' is pmc at",
        ),
        (
            {"boundary": {"zmax": "free", "zmin": "rigid", "*": "absorbing"}, **ONTO},
            "'zmax' is free at .* among",
        ),
        ({"box": COLUMN, "direction": (1, 0, 1)}, r"end at the periodic sides \('xmin', 'xmax'\)"),
        (
            {"box": COLUMN, "direction": (0, 1, 2), "boundary": {"zmin": "free", "*": "absorbing"}, **ONTO},
            r"end at the periodic sides \('ymin', 'ymax'\)",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_by_what_was_found(given, message):
    with pytest.raises(unda.ArgumentError, match=message):
        add(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"boundary": dict.fromkeys(SIDES, "rigid") | {"*": "absorbing"}},  # along the walls
        {"boundary": {"zmin": "free", "*": "absorbing"}, "direction": (1, 2, 3)},  # inside the region
        {"boundary": {"zmax": "free", "*": "absorbing"}},  # outside, apart from its surface
        {
            "medium": unda.Maxwell(eps=1.0, mu=1.0), "polarization": (1, 0, 0),
            "boundary": {"xmin": "pec", "xmax": "pec", "ymin": "pmc", "ymax": "pmc", "*": "absorbing"},
        },
        {
            "medium": SOLID, "polarization": (0, 1, 0),
            "boundary": {"xmin": "free", "xmax": "symmetry", "*": "absorbing"},
        },
        {"medium": SOLID, "boundary": dict.fromkeys(SIDES, "symmetry") | {"*": "free"}},
        {"box": COLUMN, "boundary": BOTH, "region": None, "scatterer": list(BOTH)},
        {"boundary": dict.fromkeys(SIDES, "rigid") | {"zmin": "free", "zmax": lambda x, y, z, t: 0}, **ONTO},
        {"inside": lambda x, y, z: z < 2, "direction": (1, 2, 3)},
        {"box": COLUMN, "inside": lambda x, y, z: x < 0.5},
    ],
)  # fmt: skip
def test_what_makes_sense_is_not_refused(given):
    add(**given)
