"""The CUDA engine of the staggered schemes does what the CPU engine does: on the stand-in, or on a device.

The table covers every pair of settings. Both sum in one order, but what is contracted to a fused
multiply-add is the compiler's choice: equal to rounding. Not here: that the CPU engine is right
(test_staggered_modes.py, ..).
"""

import cuda_device
import numpy as np
import pytest
import unda
from pairwise import by_default, pairwise
from staggered_cases import WALLS, borne, random_medium, source_of, stable_step, staggered, whole_state

REAL = cuda_device.prepare()
STEPS = 60 if REAL else 7
#: Some 20 roundings a node and step, by chance of either sign; the largest of all nodes.
BARS = {"float32": 3e-6, "float64": 1e-14}

SETTINGS = {
    "physics": ("acoustic", "elastic", "maxwell"),
    "order": (2, 4, 6, 8),
    "dtype": ("float32", "float64"),
    "low": ("wall", "other", "layer"),
    "high": ("wall", "other", "layer"),
    "third": ("periodic", "wall", "layer"),
    "ratio": (0.0, 0.5, 1.0),
}
SHAPES = ((13, 9, 35), (24, 1, 40), (3, 20, 33), (7, 6, 5))


def make(case, device, axis, medium=None, **more):
    """A simulation of random fields, with sources and receivers among the nodes."""
    rng = np.random.default_rng(7)
    shape, physics = case["shape"], case["physics"]
    grid = unda.Grid(shape, (10.0, 12.0, 9.0), origin=(4e5, -3.0, -1e3))
    walls = WALLS[physics]
    words = {
        "wall": walls[0],
        "other": walls[-1],
        "layer": unda.CPML(width=3, f0=0.01, ratio=case.get("ratio", 0.0)),
        "periodic": "periodic",
    }
    sides = {}
    for i, name in enumerate("xyz"):
        flat = shape[i] == 1
        pair = (
            ("periodic",) * 2 if flat else (case["third"],) * 2 if i == axis else (case["low"], case["high"])
        )
        for side, word in zip(("min", "max"), pair, strict=True):
            sides[name + side] = words[word]
    medium = random_medium(physics, shape, rng, lossless=False) if medium is None else medium
    options = {"order": case["order"], "dtype": case["dtype"], "boundary": sides, "cfl": 0.7} | more
    sim = unda.FD(grid, medium, scheme="staggered", device=device, **options)
    sim.set(**borne({name: rng.uniform(-1, 1, shape) for name in sim.fields}))
    low, high = np.array(grid.lower), np.array(grid.upper)
    inside = [low + f * (high - low) for f in (0.31, 0.47, 0.52, 0.9)]
    for place in inside[:2]:
        sim.add_source(source_of(physics, place, unda.ricker(0.01, t0=0.0), (1, 2, 3)))
    rec = [
        sim.add_receivers(np.array([*inside, low, high])),
        sim.add_receivers(np.array(inside[2:]), sim.fields[1:3], every=3),
    ]
    return sim, rec


# Shapes and the axis of the third pair take turns; on a device every shape meets all the rest.
TABLE = pairwise(SETTINGS | {"shape": SHAPES} if REAL else SETTINGS)
CASES = [{"shape": SHAPES[i % 4], **case, "axis": i % 3} for i, case in enumerate(TABLE)]


def agree(case, axis, medium=None, **more):
    """Both engines from the same state: fields, layers, traces, energy."""
    (cpu, cpu_rec), (gpu, gpu_rec) = (
        make(case, device, axis, medium, **(more if device == "cuda" else {})) for device in ("cpu", "cuda")
    )
    bar = BARS[case["dtype"]] * (1 if not REAL else 10)
    for sim in (cpu, gpu):
        sim.step(3)
        sim.step(STEPS - 3)
    found, expected = whole_state(gpu), whole_state(cpu)
    assert list(found) == list(expected)
    scale = max(np.abs(one).max() for one in expected.values())
    for name in cpu.fields:
        size = max(np.abs(cpu.get(name)).max(), 0.01 * scale)
        assert np.isfinite(cpu.get(name)).all(), name
        assert np.abs(gpu.get(name) - cpu.get(name)).max() <= bar * size, name
    for array in list(expected)[len(cpu.fields) :]:
        assert np.abs(found[array] - expected[array]).max(initial=0) <= bar * scale
    for one, other in zip(gpu_rec, cpu_rec, strict=True):
        assert one.num_sample == other.num_sample == 1 + STEPS // one.every
        for name in one.fields:
            size = max(np.abs(other[name]).max(), 0.01 * scale)
            assert np.abs(one[name] - other[name]).max() <= 3 * bar * size
    assert gpu.energy() == pytest.approx(cpu.energy(), rel=100 * bar)


@pytest.mark.each_value
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id="-".join(str(value) for value in one.values()), marks=marks)
        for one, marks in zip(CASES, by_default(CASES, 7), strict=True)
    ],
)
def test_the_engines_agree(case):
    case = dict(case)
    axis = case.pop("axis")
    agree(case, axis)


def test_a_source_after_others_drives_its_own_fields_alone():
    """Currents along all axes, then one along x: no list of the fields that are driven no more is left."""
    case = next(
        dict(one) for one, marks in zip(CASES, by_default(CASES, 7), strict=True)
        if one["physics"] == "maxwell" and not marks
    )  # fmt: skip
    axis = case.pop("axis")

    def shot(before, direction):
        sim, _ = make(case, "cuda", axis)
        sim.step(before)
        sim.reset(sources=True)
        middle = 0.5 * (np.array(sim.grid.lower) + np.array(sim.grid.upper))
        sim.add_source(unda.CurrentDipole(middle, unda.ricker(0.01, t0=0.0), direction))
        sim.step(1)
        return whole_state(sim)

    found, alone, other = shot(1, (1, 0, 0)), shot(0, (1, 0, 0)), shot(0, (1, 1e-6, 0))
    assert all((found[name] == alone[name]).all() for name in alone)
    assert not all((other[name] == alone[name]).all() for name in alone)


def test_a_device_has_the_same_stable_step():
    """Air beside steel: less than the fastest wave allows, as on the CPU."""
    shape = (5, 6, 8)
    steel = np.arange(8) < 4
    medium = unda.Elastic(
        **{name: np.where(steel, a, b) * np.ones(shape)
           for name, a, b in (("rho", 7800.0, 1.2), ("vp", 5900.0, 340.0), ("vs", 3200.0, 0.0))}
    )  # fmt: skip
    cpu, cuda = (
        staggered(unda.Grid(shape, 10.0), medium, order=8, device=device, boundary={"*": "free"}).dt_stable
        for device in ("cpu", "cuda")
    )
    assert cpu == cuda < 0.9 * stable_step(8, (10.0,) * 3, 5900.0)


WIDTHS = [
    ("float64", 2, "acoustic"), ("float32", 4, "elastic"),
    *(pytest.param(*one, marks=[pytest.mark.slow] * (not REAL)) for one in (
        ("float64", 1, "elastic"), ("float32", 4, "maxwell"),
        ("float32", 1, "acoustic"), ("float32", 1, "maxwell"), ("float32", 2, "elastic"),
        ("float64", 2, "maxwell"), ("float32", 4, "acoustic"),
    )),
]  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.parametrize("dtype, width, physics", WIDTHS)
def test_blocks_away_from_sides_and_layers_agree(physics, dtype, width):
    """Tiles of 2 rows, 2 planes and 16 widths of places: of 13 x 9 x 3 widths the middle ones.

    Layers are deeper than a tile, so that one lies inside; low ones in float64, high ones in float32. Width 4
    is for float32 only: a thread loads 16 bytes at most.
    """
    shape = (13, 9, 16 * 3 * width)
    case = {"physics": physics, "order": 4, "dtype": dtype, "shape": shape}
    low, high = ("wall", "layer") if dtype == "float32" else ("layer", "wall")
    case |= {"low": low, "high": high, "third": "periodic"}
    agree(case, 1, kernel_options={"rows": 2, "planes": 2, "width": width, "blocks": 1, "lanes": 16})


STRIPS = [("elastic", 4, 49, 1), ("acoustic", 4, 64, 1), ("maxwell", 4, 198, 4), ("elastic", 4, 198, 4)]
ALL_STRIPS = [
    (physics, *one)
    for physics in WALLS
    for one in ((4, 49, 1), (4, 64, 1), (4, 198, 4), (12, 58, 1), (16, 64, 1))
]


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "physics, order, num_z, width",
    [pytest.param(*one, marks=[pytest.mark.slow] * (not REAL and one not in STRIPS)) for one in ALL_STRIPS],
)
def test_blocks_between_two_walls_along_z_agree(physics, order, num_z, width):
    """Strips of 16 threads, of 32 where fewer rows are idle so (64): images reach into the last two of 49."""
    case = {"physics": physics, "order": order, "shape": (4, 5, num_z)}
    case |= {"dtype": "float32" if width == 4 else "float64", "low": "wall", "high": "other", "third": "wall"}
    agree(case, 1, kernel_options={"rows": 2, "planes": 2, "width": width, "blocks": 1, "lanes": 16})


@pytest.mark.gpu
@pytest.mark.sanitize
@pytest.mark.parametrize("physics", WALLS)
def test_one_of_each_for_the_sanitizer(physics):
    case = {"physics": physics, "order": 4, "dtype": "float32", "shape": (13, 9, 35)}
    sim, _ = make(case | {"low": "layer", "high": "wall", "third": "layer"}, "cuda", 1)
    sim.step(5)
    assert np.isfinite(sim.energy())


def test_warps_that_have_parts_of_rows_agree():
    """18 lanes of 4 places, 5 rows: three warps, with layers in some of their rows only."""
    case = {"physics": "elastic", "order": 4, "dtype": "float32", "shape": (11, 23, 75)}
    case |= {"low": "layer", "high": "layer", "third": "wall"}
    agree(case, 1, kernel_options={"rows": 5, "planes": 4, "width": 4, "blocks": 1, "lanes": 18})


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 3},
        {"lanes": 8},
        {"rows": 40, "lanes": 32},
        {"rows": 33},
        {"blocks": 17},
        {"rows": 16, "lanes": 32, "blocks": 5},
    ],
)
def test_tiles_that_no_block_has_are_refused(wrong):
    medium = unda.Acoustic(rho=1.0, c=1.0)
    with pytest.raises(unda.ArgumentError, match="expected"):
        unda.FD(unda.Grid((9, 8, 7), 1.0), medium, scheme="staggered", device="cuda", kernel_options=wrong)


def test_a_saved_run_keeps_its_tiles(tmp_path):
    medium, tile = (
        unda.Acoustic(rho=1.0, c=1.0),
        {"rows": 24, "planes": 5, "width": 2, "blocks": 1, "lanes": 16},
    )
    grid = unda.Grid((9, 8, 7), 1.0)
    sim = unda.FD(grid, medium, scheme="staggered", device="cuda", kernel_options=tile)
    sim.save(tmp_path / "run.h5")
    assert unda.load(tmp_path / "run.h5").config["kernel_options"] == tile


MEDIA = {
    "acoustic": lambda rho: unda.Acoustic(rho=rho, c=1.5),
    "elastic": lambda rho: unda.Elastic(rho=rho, vp=2.0, vs=1.0),
    "maxwell": lambda rho: unda.Maxwell(eps=rho, mu=1.5, sigma=0.02),
}


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "varies, physics",
    [
        pytest.param(varies, one, marks=[pytest.mark.slow] * (not REAL and varies == (one == "acoustic")))
        for varies in (False, True)
        for one in WALLS
    ],
)
def test_materials_that_are_the_same_everywhere_agree(physics, varies):
    shape = (13, 9, 35)
    rho = np.random.default_rng(5).uniform(1, 2, shape) if varies else 1.25
    case = {"physics": physics, "order": 4, "dtype": "float32", "shape": shape}
    case |= {"low": "wall", "high": "layer", "third": "other"}
    agree(case, 0, MEDIA[physics](rho))


@pytest.mark.parametrize("physics", WALLS)
def test_a_wave_at_rest_starts_the_same(physics):
    case = {key: values[0] for key, values in SETTINGS.items()}
    case |= {"shape": SHAPES[0], "physics": physics, "dtype": "float64"}
    states = []
    for device in ("cpu", "cuda"):
        sim, _ = make(case, device, 0)
        names = {"acoustic": ("p",), "elastic": ("sxx", "syy", "szz"), "maxwell": ("ex",)}[physics]
        sim.set(**{name: sim.get(name) for name in names})
        states.append(np.stack([sim.get(one) for one in sim.fields]))
    assert np.abs(states[0] - states[1]).max() <= 1e-14 * np.abs(states[1]).max()


def test_the_forecast_is_what_is_taken():
    for device in ("cpu", "cuda"):
        grid, medium = unda.Grid((12, 11, 10), 10.0), unda.Elastic(rho=1.0, vp=2.0, vs=1.0)
        sim = unda.FD(grid, medium, scheme="staggered", device=device)
        assert unda.FD.forecast(grid, medium, scheme="staggered", device=device) == sim.memory


def test_a_blow_up_is_found_in_its_field():
    grid = unda.Grid((9, 8, 7), 10.0)
    medium = unda.Elastic(rho=1000.0, vp=1500.0, vs=700.0)
    sim = unda.FD(grid, medium, scheme="staggered", boundary={"*": "free"}, device="cuda")
    vz = np.zeros(grid.shape, np.float32)
    vz[4, 5, 3] = 3e38
    sim.set(vz=vz)
    with pytest.raises(unda.UnstableError) as caught:
        sim.step(1)
    assert caught.value.field in ("sxx", "szz")


@pytest.mark.skipif(REAL, reason="the stand-in runs its streams in an order of the test's choice")
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("eager", [0, 1, 2])
def test_layers_beside_the_grid_wait_for_it_and_it_for_them(monkeypatch, eager):
    """One stream runs as early as it may, the other as late, or both late: that sees both waits of a pass."""
    monkeypatch.setenv("UNDA_EMULATOR_EAGER", str(eager))
    case = {"physics": "acoustic", "order": 4, "dtype": "float32", "low": "layer", "high": "layer",
            "third": "layer", "shape": (13, 9, 35)}  # fmt: skip
    agree(case, 0)
