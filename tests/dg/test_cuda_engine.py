"""The CUDA engine does what the CPU engine does: on the stand-in driver, or on a real device.

On the stand-in the meshes have at most 24 cells and runs 10 steps; the table covers every pair of settings.
On a device the same cases run on more cells for 100 steps, and kernels of all degrees on few: all degrees,
precisions and physics of kernel fused, whose tiles differ, and every pair of settings of the others.
"""

import itertools

import cuda_device
import numpy as np
import pytest
import unda
from pairwise import by_default, pairwise
from unda import _core

pytestmark = pytest.mark.filterwarnings(
    "ignore::unda.AccuracyWarning"
)  # both engines do the same, resolved or not

REAL = cuda_device.prepare()
STEPS = 100 if REAL else 10
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}

SETTINGS = {
    "degree": (1, 2, 3, 4),
    "dtype": ("float32", "float64"),
    "boundary": ("hard", "soft", "mirror", "absorbing", "exact", "periodic"),
    "flux": ("upwind", "central"),
    "integrator": ("lsrk4", "ab3"),
    "kernel": ("fused", "blocks", "tensor", "node", "element", "gemm", "microblock"),
    "per": ("cell", "node"),
}


def known(case):
    """Whether a kernel computes a case: tensor none in float64."""
    return case["kernel"] != "tensor" or case["dtype"] == "float32"


def dtype_of(kernel):
    """The most precise one that a kernel has."""
    return "float32" if kernel == "tensor" else "float64"


#: Walls of each physics.
WALLS = {
    "acoustic": {"hard": "rigid", "soft": "free", "mirror": "rigid"},
    "elastic": {"hard": "fixed", "soft": "free", "mirror": "symmetry"},
    "maxwell": {"hard": "pec", "soft": "pmc", "mirror": "pec"},
}


def mesh_for(boundary):
    cells = (4, 4, 4) if REAL else (2, 2, 1) if boundary == "periodic" else (2, 1, 2)
    periodic = (boundary == "periodic",) * 3
    return unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1, periodic=periodic)


def random_medium(physics, mesh, degree, per, rng):
    """Other materials in every element or at every node: fluids among solids, conductors among insulators."""
    shape = (mesh.num_elem,) if per == "cell" else mesh.coordinates(degree).shape[:2]
    first, second = rng.uniform(0.5, 3, (2, *shape))
    some = rng.integers(0, 3, (len(mesh.cells), *(1,) * (len(shape) - 1))) > 0
    if physics == "acoustic":
        return unda.Acoustic(rho=first, c=second, per=per)
    if physics == "elastic":
        return unda.Elastic(rho=first, vp=second, vs=0.6 * second * some, per=per)
    return unda.Maxwell(eps=first, mu=second, sigma=0.5 * first * some, per=per)


def random_state(sim, rng):
    """Any state; no shear stress in fluids."""
    state = {name: rng.standard_normal((sim.mesh.num_elem, sim.num_node)) for name in sim.fields}
    if sim.medium.physics == "elastic":
        fluid = np.broadcast_to(sim._material[..., 2] == 0, state["sxy"].shape)
        for name in ("sxy", "sxz", "syz"):
            state[name][fluid] = 0
        for name in ("syy", "szz"):
            state[name][fluid] = state["sxx"][fluid]
    return state


def source_at(physics, place):
    f = unda.ricker(2.0)
    if physics == "acoustic":
        return unda.VolumeInjection(place, f)
    if physics == "elastic":
        return unda.PointForce(place, f, (1, -2, 3))
    return unda.CurrentDipole(place, f, (1, -2, 3))


def outer_wave(physics):
    if physics == "acoustic":
        return unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(2, 1, -1))
    if physics == "elastic":
        return unda.exact.plane_wave(unda.Elastic(rho=1.0, vp=1.0, vs=0.5), k=(2, 1, -1))
    return unda.exact.plane_wave(unda.Maxwell(eps=1.0, mu=1.0), k=(2, 1, -1), polarization=(1, -1, 1))


def run(device, mesh, case, steps=STEPS, physics="acoustic", rates=True):
    """Fields, traces and rates after steps with a random material and state, sources and receivers."""
    rng = np.random.default_rng(0)
    walls = WALLS[physics] | {"exact": outer_wave(physics), "periodic": "absorbing"}
    condition = walls.get(case["boundary"], case["boundary"])
    options = {key: value for key, value in case.items() if key not in ("boundary", "per")}
    medium = random_medium(physics, mesh, case["degree"], case.get("per", "cell"), rng)
    sim = unda.DG(mesh, medium, device=device, boundary={"*": condition}, allow_unstable=True, **options)
    sim.set(**random_state(sim, rng))
    for place in ((0.31, 0.42, 0.27), (0.3, 0.4, 0.25), (0.8, 0.9, 0.1)):
        sim.add_source(source_at(physics, place))
    first, *_, last = sim.fields
    rec = sim.add_receivers([(0.2, 0.3, 0.4), (0.7, 0.6, 0.1)], [first, last], every=3)
    derived = ["divergence", sim.fields[1], "curl_x"]
    other = sim.add_receivers([(0.5, 0.5, 0.5), (0.1, 0.8, 0.6)], derived, every=2)
    sim.run(steps=steps)
    fields = np.stack([sim.get(name) for name in sim.fields])
    found = fields, np.stack([rec[first], rec[last]]), np.stack([other[name] for name in derived])
    if not rates:
        return found
    rates = sim.rhs()
    return (*found, np.stack([rates[name] for name in sim.fields]))


def name_of(case):
    return "-".join(str(value) for value in case.values() if not isinstance(value, dict))


#: Every pair of settings, the physics one of them; on a device every pair with each physics.
EACH = [one for physics in WALLS for one in pairwise(SETTINGS | {"physics": (physics,)}, known)]
CASES = EACH if REAL else pairwise(SETTINGS | {"physics": tuple(WALLS)}, known)


def kernels(*few):
    """All kernels as parameters; on the stand-in those beside a few are slow."""
    every = SETTINGS["kernel"]
    return [pytest.param(one, marks=[] if REAL or one in few else pytest.mark.slow) for one in every]


def half_with_rates(cases, num):
    """Cases, and whether rates are compared: on the stand-in of half of them, and of new values.

    num: so many run by default.
    """
    seen, chosen = set(), []
    for i, (case, marks) in enumerate(zip(cases, by_default(cases, num), strict=True)):
        rates = REAL or i % 2 == 0 or not seen.issuperset(case.items())
        seen.update(case.items() if rates else ())
        chosen.append(pytest.param(case, rates, id=name_of(case), marks=marks))
    return chosen


def values_with_rates(cases, num):
    """Values of settings of which rates are compared by default."""
    return {
        item for one in half_with_rates(cases, num) if one.values[1] and not one.marks
        for item in one.values[0].items()
    }  # fmt: skip


def test_rates_are_compared_of_every_setting():
    settings = SETTINGS | {"physics": tuple(WALLS)}
    assert values_with_rates(CASES, 18) == {(name, one) for name in settings for one in settings[name]}


@pytest.mark.each_value
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("case", "with_rates"), half_with_rates(CASES, 18))
def test_cuda_equals_cpu(case, with_rates):
    case = dict(case)
    physics = case.pop("physics")
    mesh = mesh_for(case["boundary"])
    assert REAL or mesh.num_elem <= 24
    cpu_run, cuda_run = (
        run(device, mesh, case, physics=physics, rates=with_rates) for device in ("cpu", "cuda")
    )
    for cpu, cuda in zip(cpu_run, cuda_run, strict=True):
        assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max()
        assert np.abs(1.001 * cpu - cuda).max() > TOLERANCE[case["dtype"]] * np.abs(cpu).max()


#: Kernel blocks in float32 on tensor cores, where numbers are pairs of FP16 numbers.
SPLIT = {"dtype": "float32", "kernel": "blocks", "kernel_options": {"products": 2}}
SPLIT_SETTINGS = {name: values for name, values in SETTINGS.items() if name not in SPLIT}
SPLIT_CASES = [
    one | SPLIT for one in (EACH if REAL else pairwise(SPLIT_SETTINGS | {"physics": tuple(WALLS)}))
    if one.get("kernel", "blocks") == "blocks" and one.get("dtype", "float32") == "float32"
]  # fmt: skip
#: By default two, with both fluxes and integrators, materials by cell and by node, and incident waves.
SPLIT_FEW = [
    {"degree": 3, "boundary": "exact", "flux": "upwind", "integrator": "lsrk4", "per": "cell",
     "physics": "elastic"} | SPLIT,
    {"degree": 2, "boundary": "periodic", "flux": "central", "integrator": "ab3", "per": "node",
     "physics": "maxwell"} | SPLIT,
]  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    "case",
    [
        *(pytest.param(one, id=name_of(one)) for one in SPLIT_FEW),
        *(pytest.param(one, id=name_of(one), marks=[] if REAL else pytest.mark.slow) for one in SPLIT_CASES),
    ],
)
def test_blocks_of_pairs_of_half_numbers_equal_the_cpu(case):
    case = dict(case)
    physics, mesh = case.pop("physics"), mesh_for(case["boundary"])
    plain = {name: value for name, value in case.items() if name not in ("kernel", "kernel_options")}
    for cpu, cuda in zip(
        run("cpu", mesh, plain, physics=physics), run("cuda", mesh, case, physics=physics), strict=True
    ):
        assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max()
        assert np.abs(1.001 * cpu - cuda).max() > TOLERANCE[case["dtype"]] * np.abs(cpu).max()


#: What the source of a kernel is compiled for. Incident waves alone of the boundaries are compiled in.
CODE = {
    "degree": tuple(range(1, 10)),
    "dtype": SETTINGS["dtype"],
    "physics": tuple(WALLS),
    "flux": SETTINGS["flux"],
    "integrator": SETTINGS["integrator"],
    "incident": (False, True),
    "per": SETTINGS["per"],
}
#: Tiles of kernel fused differ with these three: all their combinations run, with both values of the others.
TILED = ("degree", "dtype", "physics")


def compiled_cases(kernel):
    """Cases of CODE: every pair of two settings; of kernel fused every pair of TILED, as one, and another."""
    if kernel != "fused":
        return pairwise(CODE | {"kernel": (kernel,)}, known)
    combinations = tuple(itertools.product(*(CODE[name] for name in TILED)))
    rest = {name: values for name, values in CODE.items() if name not in TILED}
    return [
        dict(zip(TILED, one["tiled"], strict=True)) | {name: one[name] for name in rest} | {"kernel": kernel}
        for one in pairwise({"tiled": combinations} | rest)
    ]


COMPILED = [case for kernel in SETTINGS["kernel"] for case in compiled_cases(kernel)]


def pairs_of(cases, settings):
    """Pairs of values of two settings in cases."""
    return {((a, case[a]), (b, case[b])) for case in cases for a, b in itertools.combinations(settings, 2)}


@pytest.mark.parametrize("kernel", SETTINGS["kernel"])
def test_every_pair_of_what_is_compiled_is_in_the_table(kernel):
    cases = [case for case in COMPILED if case["kernel"] == kernel]
    every = (dict(zip(CODE, values, strict=True)) for values in itertools.product(*CODE.values()))
    full = [one for one in every if known(one | {"kernel": kernel})]
    assert pairs_of(cases, CODE) == pairs_of(full, CODE)
    others = [case for case in cases if (case["degree"], case["physics"]) != (9, "maxwell")]
    assert pairs_of(others, CODE) != pairs_of(full, CODE)


def test_kernel_fused_is_run_with_all_its_tiles_and_both_values_of_the_rest():
    cases = [case for case in COMPILED if case["kernel"] == "fused"]
    for other in ("flux", "integrator", "incident", "per"):
        found = {tuple(case[name] for name in (*TILED, other)) for case in cases}
        assert len(found) == 9 * 2 * 3 * 2


SPLIT_COMPILED = [
    one | SPLIT for one in pairwise({name: values for name, values in CODE.items() if name != "dtype"})
]


@pytest.mark.gpu
@pytest.mark.parametrize("case", COMPILED + SPLIT_COMPILED, ids=name_of)
def test_kernels_of_all_degrees_equal_the_cpu(case):
    """Every boundary that the compiled code knows; few elements and steps, since kernels are what differs."""
    case = dict(case)
    physics, incident = case.pop("physics"), case.pop("incident")
    for boundary in SETTINGS["boundary"]:
        if (boundary == "exact") != incident:
            continue
        cells, periodic = ((2, 2, 1), True) if boundary == "periodic" else ((2, 1, 2), False)
        mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), cells, perturb=0.2, seed=1, periodic=(periodic,) * 3)
        options = {"mesh": mesh, "case": case | {"boundary": boundary}, "steps": 10, "physics": physics}
        for cpu, cuda in zip(run("cpu", **options), run("cuda", **options), strict=True):
            assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max(), boundary


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("integrator", ["ab3", "lsrk4"])
def test_two_cuda_runs_have_the_same_bits(integrator):
    case = {
        "degree": 3,
        "dtype": "float32",
        "boundary": "soft",
        "flux": "upwind",
        "integrator": integrator,
    }
    mesh = mesh_for("free")
    for a, b in zip(run("cuda", mesh, case), run("cuda", mesh, case), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.gpu_or_stand_in
def test_a_mesh_smaller_than_a_block_runs():
    mesh = unda.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    for degree in (1, 4):
        states = []
        for device in ("cpu", "cuda"):
            sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=degree, device=device, dtype="float64")
            sim.set(p=lambda x, y, z: np.exp(-9 * (x**2 + y**2 + z**2)))
            sim.run(steps=5)
            states.append(sim.get("p"))
        assert np.abs(states[0] - states[1]).max() < 1e-13


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("kernel", kernels("fused", "element", "microblock"))
def test_more_elements_than_a_group_of_32_run(kernel):
    """Layout elements.h keeps groups of 32 elements apart."""
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 2, 2), perturb=0.2, seed=1)
    assert mesh.num_elem > 32
    case = {
        "degree": 1,
        "dtype": dtype_of(kernel),
        "boundary": "soft",
        "flux": "upwind",
        "integrator": "lsrk4",
    }
    for cpu, cuda in zip(run("cpu", mesh, case), run("cuda", mesh, case | {"kernel": kernel}), strict=True):
        assert np.abs(cpu - cuda).max() < TOLERANCE[case["dtype"]] * np.abs(cpu).max()


@pytest.mark.gpu_or_stand_in
def test_a_blow_up_on_the_device_is_reported_like_on_the_cpu():
    mesh = mesh_for("rigid")
    medium = unda.Acoustic(rho=1.0, c=1.0)
    reports = []
    for device in ("cpu", "cuda"):
        sim = unda.DG(mesh, medium, degree=1, device=device, boundary={"*": "rigid"}, dt=1e3,
                      allow_unstable=True)  # fmt: skip
        sim.set(p=lambda x, y, z: np.sin(9 * x))
        with pytest.raises(unda.UnstableError) as info:
            for _ in range(60):
                sim.step(1)
        reports.append((info.value.step, info.value.last_good_step))
        assert np.isfinite(sim.get("p")).all()
    assert reports[0] == reports[1]


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_where_it_is(device, bad):
    mesh = mesh_for("free")
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device=device, dtype="float64")
    q = np.zeros((mesh.num_elem, sim.num_node, 4))
    q[17, 3, 2] = bad
    pointer = _core.pointer(q)
    _core.check(_core.lib.unda_solver_write(sim._solver.live(), _core.lib.UNDA_STATE, 0, len(q), pointer))
    with pytest.raises(unda.UnstableError) as info:
        sim.step(1)
    assert (info.value.step, info.value.element, info.value.node, info.value.field) == (0, 17, 3, "vy")


def small_simulation(integrator, device="cuda", **options):
    mesh = mesh_for("free")
    outside = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(20, 1, -1))
    dtype = dtype_of(options.get("kernel"))
    sim = unda.DG(mesh, unda.Acoustic(rho=1.0, c=1.0), degree=2, device=device, dtype=dtype,
                  integrator=integrator, boundary={"xmin": outside, "*": "free"}, **options)  # fmt: skip
    sim.add_source(unda.VolumeInjection((0.31, 0.42, 0.27), unda.ricker(2.0)))
    return sim, sim.add_receivers([(0.2, 0.3, 0.4)], ["p"], every=3)


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("integrator", ["lsrk4", "ab3"])
def test_batched_steps_have_the_bits_of_single_ones(integrator):
    """Sixteen steps or more run as one CUDA graph; chunks of any size must give the same."""
    traces, states = [], []
    for chunks in ([1] * 55, [55], [20, 1, 34], [18, 17, 20]):
        sim, rec = small_simulation(integrator)
        for n in chunks:
            sim.step(n)
        traces.append(rec["p"])
        states.append(sim.get("p"))
        assert sim.step_count == 55
    assert np.abs(traces[0]).max() > 0
    for trace, state in zip(traces[1:], states[1:], strict=True):
        assert np.array_equal(trace, traces[0])
        assert np.array_equal(state, states[0])


@pytest.mark.gpu_or_stand_in
def test_sources_and_receivers_may_change_between_runs():
    results = []
    for device in ("cpu", "cuda"):
        sim, _ = small_simulation("lsrk4", device)
        sim.step(20)
        sim.reset(sources=True)
        sim.add_source(unda.VolumeInjection((0.8, 0.2, 0.3), unda.ricker(3.0)))
        rec = sim.add_receivers([(0.6, 0.3, 0.4), (0.1, 0.1, 0.1)], ["p", "vx"])
        sim.step(20)
        results.append(np.stack([rec["p"], rec["vx"]]))
    assert np.abs(results[0] - results[1]).max() < 1e-12 * np.abs(results[0]).max()


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("kernel", kernels("fused", "gemm", "microblock"))
def test_profile_names_each_kernel_and_keeps_the_state(kernel):
    sim, _ = small_simulation("ab3", kernel=kernel)
    sim.step(5)
    before = sim.get("p")
    profile = _core.new_struct("unda_profile")
    _core.check(_core.lib.unda_solver_profile(sim._solver.live(), 4, profile))
    names = [_core.ffi.string(profile.name[i]).decode() for i in range(profile.num_kernel)]
    parts = {
        "fused": ["dg_fused"],
        "blocks": ["dg_blocks"],
        "tensor": ["dg_tensor"],
        "node": ["dg_volume", "dg_surface", "dg_update"],
        "element": ["dg_element"],
        "gemm": ["gradient", "dg_volume", "divergence", "dg_surface", "lift", "dg_update"],
        "microblock": ["dg_gather", "dg_lift", "dg_local"],
    }[kernel]
    assert names == [*parts, "record"]
    seconds, launches = ([one[i] for i in range(len(names))] for one in (profile.seconds, profile.launches))
    assert all(0 < one < 10 for one in seconds) and launches == [1] * len(names)
    assert profile.stage_seconds == pytest.approx(sum(seconds[:-1]), rel=1e-12)
    assert np.array_equal(sim.get("p"), before)
    sim.step(20)
    other, _ = small_simulation("ab3", kernel=kernel)
    other.step(25)
    assert np.array_equal(sim.get("p"), other.get("p"))


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("kernel", kernels("fused", "gemm", "microblock", "node"))
def test_the_forecast_is_what_a_solver_then_holds(kernel, monkeypatch):
    monkeypatch.setenv("UNDA_EMULATOR_TOGETHER", "1")  # mailboxes of launches of many steps are counted
    sim, _ = small_simulation("ab3", kernel=kernel)
    info = sim._solver.info()
    options = _core.new_struct(
        "unda_solver_options", degree=2, precision=int(sim.dtype == np.float64), integrator=1, device=0,
        kernel=kernel.encode(),
    )  # fmt: skip
    bytes_ = _core.ffi.new("int64_t[2]")
    _core.check(_core.lib.unda_solver_forecast(sim.mesh._handle, options, bytes_, bytes_ + 1))
    assert (bytes_[0], bytes_[1]) == (info.host_bytes, info.device_bytes)
    state = sim.mesh.num_elem * sim.num_node * 4 * sim.dtype.itemsize
    assert bytes_[1] > {"node": 6, "gemm": 8, "fused": 12}.get(kernel, 5) * state


@pytest.mark.gpu_or_stand_in
@pytest.mark.sanitize
@pytest.mark.first(1)
@pytest.mark.parametrize("kernel", SETTINGS["kernel"])
@pytest.mark.parametrize(
    ("degree", "integrator", "boundary"),
    [
        (4, "ab3", "exact"),
        *(
            pytest.param(*one, marks=[] if REAL else pytest.mark.slow)
            for one in [(1, "lsrk4", "periodic"), (1, "lsrk4", "exact"), (4, "ab3", "periodic")]
        ),
    ],
)
def test_a_small_run_touches_only_what_is_its_own(degree, integrator, kernel, boundary):
    """For compute-sanitizer: single steps and a graph, every kind of array.

    Without it test_cuda_equals_cpu sees more of the same runs, of every kernel.
    """
    case = {"degree": degree, "dtype": "float32", "boundary": boundary, "flux": "upwind",
            "integrator": integrator, "kernel": kernel}  # fmt: skip
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 1, 2), perturb=0.2, seed=1,
                         periodic=(boundary == "periodic",) * 3)  # fmt: skip
    assert all(np.isfinite(array).all() for array in run("cuda", mesh, case, steps=20))


@pytest.mark.gpu
@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("physics", "kernel", "dtype"),
    [
        ("elastic", "tensor", "float32"), ("maxwell", "tensor", "float32"), ("elastic", "blocks", "float64"),
        ("maxwell", "blocks", "float32"), ("acoustic", "fused", "float64"),
    ],
)  # fmt: skip
def test_small_runs_with_tensor_cores_and_turns_touch_only_what_is_their_own(physics, kernel, dtype):
    """For compute-sanitizer: sizes of tiles of other physics, and products in float64 on tensor cores."""
    case = {"degree": 5, "dtype": dtype, "boundary": "soft", "flux": "upwind", "integrator": "lsrk4",
            "kernel": kernel, "kernel_options": {"products": 2} if dtype == "float64" else None}  # fmt: skip
    mesh = unda.box_mesh((0, 0, 0), (1, 1.1, 0.8), (2, 1, 2), perturb=0.2, seed=1)
    assert all(np.isfinite(array).all() for array in run("cuda", mesh, case, 4, physics))
