"""Plane waves on grids stay in the box of total fields, and are what was asked for.

Not here: devices, slabs, files (test_plane_wave_engines.py); a scatterer (tests/project/test_examples.py).
"""

import re

import numpy as np
import pytest
import unda
from plane_wave_cases import BEFORE, ORIGIN, WATER, WAVES, H, Run
from unda.method import pass_cases, staggered_surface, total_field
from unda.method.incident_line import nothing

# The scalar scheme in float64: its corrections are rounded once more. All else has the bits of the line.
SCALAR64 = 1e-13
DTYPES = ("float32", "float64")
NOW = {
    ("scalar", 4, "float32"),
    ("acoustic", 4, "float32"),
    ("P", 2, "float64"),
    ("fluid", 2, "float32"),
    ("Yee", 2, "float32"),
}


def cases():
    """All schemes, orders and precisions; some of them now."""
    return [
        pytest.param(name, order, dtype, marks=[] if (name, order, dtype) in NOW else [pytest.mark.slow])
        for name in WAVES
        for order in (2, 4, 8)
        for dtype in DTYPES
    ]


@pytest.mark.each_value
@pytest.mark.parametrize("name, order, dtype", cases())
def test_nothing_leaks_out_of_the_box(name, order, dtype):
    """Outside is 0 to the last bit; of the scalar scheme in float64, rounding."""
    rounded = name == "scalar" and dtype == "float64"
    run = Run(name, order, dtype)
    assert run.leak() <= (SCALAR64 if rounded else 0) and run.peak > 0.1


@pytest.mark.parametrize(
    "order, varies, cfl",
    [
        (4, True, 0.9),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [(2, True, 0.9), (8, True, 0.9), (2, True, 0.05), (2, False, 0.05), (4, False, 0.05)]
        ),
    ],
)
def test_nothing_leaks_where_weights_are_split_from_c(order, varies, cfl, monkeypatch):
    """Of the scalar scheme in float32: where c varies, and with small steps, see cuda/physics/scalar.h.

    The line has the operations of the step, so that the difference of both is 0. A line of one c has it in
    its weights; each step differs by a rounding, 2^-24 of the wave, which p' = 2 p - p_old keeps, and more
    is seen.
    """
    assert Run("scalar", order, "float32", varies=varies, cfl=cfl).leak() == 0
    scene = total_field.Scene
    if varies and cfl > 0.1:
        monkeypatch.setattr(total_field, "Scene", lambda medium, _, *more: scene(medium, False, *more))
        assert Run("scalar", order, "float32", varies=True, cfl=cfl).leak() > 2.0**-24


@pytest.mark.parametrize(
    "name, order, cfl, inner",
    [
        ("P", 2, 0.9, (1, 3, 2)),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("S", 4, 0.9, (4, 1, 9)), ("S", 16, 0.15, (4, 3, 2)), ("acoustic", 16, 0.05, (1, 1, 1)),
                ("Yee", 8, 0.9, (9, 12, 2)), ("fluid", 6, 0.3, (2, 5, 1)),
            ]
        ),
    ],
)  # fmt: skip
def test_nothing_leaks_of_staggered_grids_whatever_the_step_and_the_box(name, order, cfl, inner, monkeypatch):
    """0 with small steps and boxes narrower than differences: the line is that of the engine's kernels.

    What is added has the bits that the passes make, so that sums of both are exact. Of amplitudes that are a
    unit of the last place larger this unit is left outside, be it ever so small.
    """
    assert Run(name, order, "float32", cfl=cfl, inner=inner).leak(every=25) == 0
    values = staggered_surface.StaggeredSurface.__call__
    larger = 1.0 + 2.0**-23
    monkeypatch.setattr(
        staggered_surface.StaggeredSurface, "__call__", lambda self, times: larger * values(self, times)
    )
    assert Run(name, order, "float32", cfl=cfl, inner=inner).leak(every=25) > 0


@pytest.mark.parametrize(
    "name, order, dtype, sign, turned",
    [
        ("Yee", 2, "float32", -1, ((0, 1, 0), (0, 0, 1))),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("scalar", 4, "float32", -1, (None, None)), ("acoustic", 8, "float32", 1, (None, None)),
                ("P", 4, "float32", 1, (None, None)), ("S", 2, "float64", -1, ((1, 0, 0), (0, 1, 0))),
                ("S", 4, "float32", 1, (None, (1, 0, 0))),
            ]
        ),
    ],
)  # fmt: skip
def test_waves_along_one_axis_stay_in_their_box_together(name, order, dtype, sign, turned, monkeypatch):
    """Of either sense and of any polarization, added after a run: the line has the bits of their sum.

    With a line each, what a pass makes of the sum is not the sum of what it makes of each, and is left.
    """
    run = Run(name, order, dtype, polarization=turned[0])
    alone = len(run.sim._solver.sources)
    run.sim.step(20)
    run.sim.reset()
    run.also(sign, turned[1])
    new = sum(f is not nothing for _, f in run.sim._solver.sources)
    assert run.leak(every=25) == 0 and len(run.sim._solver.waves) == 2
    assert new == alone if turned[0] is None else new > alone
    monkeypatch.setattr(total_field, "_line_with", lambda *given: None)
    assert Run(name, order, dtype, polarization=turned[0]).also(sign, turned[1]).leak(every=25) > 0


def test_waves_along_two_axes_differ_from_their_sum_by_what_is_rounded():
    """rms |X - A - B|^2 <= (1 + cfl) / (1 - cfl) 2^-48 14 / 3 sum_n (|X| + |A| + |B|)^2, norms of energy.

    X, A and B obey the scheme but for roundings, of 2^-24 / sqrt(3) each, which do not know of those of other
    steps: one of what a pass stores, two of each surface, at most 9 of the sum of absolute differences (a
    difference, its weight, sums, materials and their factors; order 2), which is at most 2 cfl of the fields,
    as the stable step has it. So 1 + 2 + 2 + 9 with cfl = 1/2. The discrete energy, which is
    conserved, lies between 1 - cfl and 1 + cfl times the squares of the fields (docs/fd_staggered.md).
    A second wave that is 2^-14 stronger is seen.
    """
    cfl, every, options = 0.5, 12, {"inner": (3, 4, 4), "dtype": "float32", "cfl": 0.5}
    runs = [Run("acoustic", 2, **options) for _ in range(4)]
    runs[1].also(1, axis=1)
    runs[2].also(1, axis=1, alone=True)
    runs[3].also(1, axis=1, amplitude=0.7 * (1 + 2.0**-14))
    medium = WATER.scalar()
    share = {"p": 1.0 / medium["rho"] / medium["c"] ** 2, "v": medium["rho"]}
    most, squares = [], 0.0
    for _ in range(0, runs[0].steps, every):
        states = []
        for run in runs:
            run.sim.step(every)
            values = [np.sqrt(share[name[0]]) * run.sim.get(name).astype(float) for name in run.sim.fields]
            states.append(np.concatenate(values, axis=None))
        a, x, b, stronger = states
        squares += every * sum(map(np.linalg.norm, (a, x, b))) ** 2
        bound = 2.0**-24 * np.sqrt((1 + cfl) / (1 - cfl) * 14 / 3 * squares)
        most.append([np.linalg.norm(one - a - b) / max(bound, 1e-30) for one in (x, stronger)])
    found = np.max(most, axis=0)
    assert 0 < found[0] <= 1 < found[1]


@pytest.mark.parametrize(
    "name", ["scalar", *(pytest.param(n, marks=pytest.mark.slow) for n in list(WAVES)[1:])]
)
def test_a_wave_of_another_order_leaks(name, monkeypatch):
    """The same wave with the dispersion of order 2 leaks more than 1 % of one of order 4."""
    line = total_field.IncidentLine

    def other(scene, *given, **more):
        return line(scene._replace(order=2), *given, **more)

    monkeypatch.setattr(total_field, "IncidentLine", other)
    assert Run(name, 4, "float64").leak() > 0.01


def symbol(scheme, order, x):
    """What the scheme has for (k h)^2, x = k h."""
    half = order // 2
    if scheme == "scalar":
        weight = {1: [1.0], 2: [4 / 3, -1 / 12]}[half]
        return sum(2 * w * (1 - np.cos((m + 1) * x)) for m, w in enumerate(weight))
    weight = {1: [1.0], 2: [9 / 8, -1 / 24]}[half]
    return sum(2 * w * np.sin((m + 0.5) * x) for m, w in enumerate(weight)) ** 2


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "name, order",
    [("scalar", 2), ("acoustic", 4)]
    + [pytest.param(n, o, marks=pytest.mark.slow) for n in WAVES for o in (2, 4) if n[0] not in "sa"],
)
def test_the_wave_is_f_with_the_dispersion_of_the_scheme(name, order):
    """The spectrum at a node is that of f times exp(i k s), 4 sin^2(w dt / 2) = (c dt / h)^2 (k h)^2_scheme.

    So f is exact in amplitude, and in phase where it enters, some nodes before the box: there the exact
    wave is given, k = w / c. The layers at the ends of its line may return 1e-5. With phases of k = w / c
    everywhere the same comparison fails.
    """
    run = Run(name, order, "float64")
    wave, sim = run.wave, run.sim
    lead = {"p": "p", "e": "ey"}.get(sim.fields[0][0], "v" + "xyz"[wave.axis] if wave.kind == "p" else "vx")
    offset = sim._scheme.offset(lead)
    node = (run.low + run.high) // 2
    trace = []
    for _ in range(run.steps + int(60 * H / wave.speed / sim.dt)):
        trace.append(sim.get(lead)[tuple(node)])
        sim.step()
    times = sim._start + (np.arange(len(trace)) + sim._scheme.lag(lead)) * sim.dt
    a = wave.axis
    places = np.array(ORIGIN) + H * (node + offset)
    given = sim._solver.sources[0][1]
    enters = given.line.drives[0].enters
    assert abs(enters - ORIGIN[a] - H * (run.low[a] if wave.sign > 0 else run.high[a])) < (2 * order + 5) * H
    unit = wave.polarization[0] / np.linalg.norm(wave.polarization) if wave.kind == "s" else 1.0
    unit = wave.polarization[1] / np.linalg.norm(wave.polarization) if lead == "ey" else unit * (
        wave.sign if wave.kind == "p" else 1)  # fmt: skip
    for periods in (0.7, 1.0, 1.4):
        omega = 2 * np.pi * periods / run.period
        found = sim.dt * np.sum(trace * np.exp(1j * omega * times))
        t = np.linspace(-8, 8, 20001) * run.period
        given = (t[1] - t[0]) * np.sum(run.source.f(t) * np.exp(1j * omega * t)) * unit
        target, x = (2 * np.sin(omega * sim.dt / 2) * H / wave.speed / sim.dt) ** 2, omega * H / wave.speed
        exact = x
        for _ in range(50):  # Newton
            x -= (symbol(wave.scheme, order, x) - target) * 1e-6 / (
                symbol(wave.scheme, order, x + 1e-6) - symbol(wave.scheme, order, x))  # fmt: skip
        way = wave.sign * (places[a] - enters) / H
        phase = omega / wave.speed * wave.sign * enters
        assert abs(found / given - np.exp(1j * (phase + x * way))) < 1e-5
        assert abs(found / given - np.exp(1j * (phase + exact * way))) > 1e-3


def test_a_wave_that_fills_a_periodic_grid_across_needs_two_faces():
    """A box across all of a periodic grid has no sides; the wave reaches a receiver when and as it should.

    It begins with subnormal numbers, which the line rounds as the grid does: nothing leaks.
    """
    sides = {"zmin": "free", "zmax": "free", "*": "periodic"}
    grid = unda.Grid((3, 2, 140), 10.0)
    traces = []
    for dtype in ("float32", "float64"):
        sim = unda.FD(grid, WAVES["scalar"].medium, boundary=sides, dtype=dtype, device="cpu")
        sim.add_source(unda.PlaneWave((0, 0, 1), f=unda.ricker(8.0), box=((-1, -1, 100), (21, 11, 1300))))
        rec = sim.add_receivers([(10.0, 0.0, 180.0)])
        sim.set(t=-0.15)  # f is 1e-32
        sim.run(until=1.2)
        p = np.abs(sim.get("p"))
        assert max(p[:, :, :10].max(), p[:, :, 131:].max()) <= (0 if dtype == "float32" else 1e-13)
        traces.append(rec["p"][0])
    wave = unda.ricker(8.0)(rec.t - 180.0 / 1500.0)
    # 19 nodes in the main wavelength: order 4 turns it by less than 1e-3 in 18, 0.01 with its overtones
    assert np.abs(traces[1] - wave).max() < 0.02 and np.abs(traces[0] - traces[1]).max() < 1e-5


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_a_wave_in_two_dimensions_stays_in_its_box(scheme):
    """Scalar, beside walls whose images reach as near as they may; Yee, whose H stands between planes."""
    physics = {"scalar": WAVES["scalar"].medium, "staggered": unda.Maxwell(eps=1.0, mu=1.0)}[scheme]
    wall, speed = ("rigid", 1500.0) if scheme == "scalar" else ("pmc", 1.0)
    grid = unda.Grid((40, 1, 12), 10.0)
    sim = unda.FD(grid, physics, scheme=scheme, boundary={"*": wall}, dtype="float32", device="cpu", order=4)
    wave = unda.ricker(speed / 160.0, t0=300.0 / speed)
    box = ((50, 0, 30), (300, 0, 80))
    sim.add_source(unda.PlaneWave((1, 0, 0), (0, 1, 0) if scheme != "scalar" else None, wave, box=box))
    sim.run(until=450.0 / speed)
    lead = sim.fields[0] if scheme == "scalar" else "ey"
    p = np.abs(sim.get(lead)[:, 0])
    assert p[5:31, 3:9].max() > 0.5
    p[5:31, 3:9] = 0
    assert p.max() == 0


def test_bits_do_not_depend_on_how_steps_are_called(monkeypatch):
    """One call, and calls of some steps each; cases of the surface in many grids, one after the other."""
    states = []
    for parts, nodes in (((60,), 1 << 15), ((1, 2, 30, 27), 1 << 15), ((60,), 1 << 10)):
        monkeypatch.setattr(pass_cases, "_NODES", nodes)
        sim = Run("acoustic", 4, "float32").sim
        for n in parts:
            sim.step(n)
        states.append(sim.get("p"))
    assert np.abs(states[0]).max() > 0.1
    assert np.array_equal(states[0], states[1]) and np.array_equal(states[0], states[2])
    sim.step(1)
    assert not np.array_equal(states[0], sim.get("p"))


# ---- refusals ----

BOX = ((40, 40, 40), (80, 80, 80))


def fd(medium=WAVES["scalar"].medium, shape=(13, 13, 13), **options):
    return unda.FD(unda.Grid(shape, 10.0), medium, device="cpu", boundary={"*": "free"}, **options)


@pytest.mark.parametrize(
    "wave, says",
    [
        ({"direction": (1, 1, 0), "box": BOX}, "travels along x, y or z"),
        ({"direction": (1, 0, 0), "region": "a"}, "region=, of a mesh; on a grid give box=(lower, upper)"),
        (
            {"direction": (1, 0, 0), "box": ((20, 40, 40), (80, 80, 80))},
            "expected a cell or more, from 30 to 90 m",
        ),
        ({"direction": (1, 0, 0), "box": ((40, 40, 40), (80, 110, 80))}, "along y"),
        ({"direction": (1, 0, 0), "box": ((44, 40, 40), (46, 80, 80))}, "expected a cell or more"),
        ({"direction": (1, 0, 0), "box": ((40, 40, 0), (80, 80, 120))}, "'zmin', which is free"),
        ({"direction": (1, 0, 0), "polarization": (0, 1, 0), "box": BOX}, "polarization"),
    ],
)
def test_waves_that_the_grid_cannot_have_are_refused(wave, says):
    """And nothing is added."""
    sim = fd()
    with pytest.raises(unda.ArgumentError, match=re.escape(says)):
        sim.add_source(unda.PlaneWave(f=unda.ricker(10.0), **wave))
    assert not sim._solver.waves and not sim._solver.sources
    sim.add_source(unda.PlaneWave((1, 0, 0), f=unda.ricker(10.0), box=BOX))
    with pytest.raises(unda.ArgumentError, match="added already"):
        sim.add_source(sim._solver.waves[0][0])


def test_a_surface_needs_one_insulating_material():
    """A scatterer inside is taken, one that reaches the surface is not, nor a medium that conducts."""
    c = np.full((13, 13, 13), 1500.0)
    c[6, 6, 6] = 2000.0
    wave = unda.PlaneWave((1, 0, 0), f=unda.ricker(10.0), box=((30, 30, 30), (90, 90, 90)))
    fd(unda.Acoustic(rho=1000.0, c=c.copy())).add_source(wave)
    c[6, 6, 9] = 2000.0
    with pytest.raises(unda.ArgumentError, match=r"needs one material .* at \(60, 60, 90\) m"):
        fd(unda.Acoustic(rho=1000.0, c=c)).add_source(wave)
    wave = unda.PlaneWave((1, 0, 0), (0, 1, 0), unda.ricker(1e6), box=BOX)
    medium = unda.Maxwell(eps=8.9e-12, mu=1.26e-6, sigma=1e-3)
    sim = unda.FD(
        unda.Grid((13, 13, 13), 10.0), medium, scheme="staggered", device="cpu", boundary={"*": "pec"}
    )
    with pytest.raises(unda.ArgumentError, match="insulator"):
        sim.add_source(wave)


def test_boxes_are_of_grids_and_have_two_corners():
    """The constructor refuses others, meshes refuse boxes."""
    for box, says in (
        ((1, 2), "box"),
        (((1, 1, 1), (0, 2, 2)), "lower corner first"),
        ((BOX[0],), "two corners"),
    ):
        with pytest.raises(unda.ArgumentError, match=says):
            unda.PlaneWave((1, 0, 0), f=unda.ricker(1.0), box=box)
    with pytest.raises(unda.ArgumentError, match="region and box"):
        unda.PlaneWave((1, 0, 0), f=unda.ricker(1.0), box=BOX, region="a")
    sim = unda.DG(
        unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(1, 1, 1)), WAVES["scalar"].medium, degree=1, device="cpu"
    )
    with pytest.raises(unda.ArgumentError, match="box=, of a grid"):
        sim.add_source(unda.PlaneWave((1, 0, 0), f=unda.ricker(1.0), box=BOX))


assert BEFORE >= 4  # order 8


def test_a_wave_that_has_passed_is_warned_of():
    """f is that at the origin: towards it, a pulse that begins at t = 0 there is over too early."""
    grid, medium = unda.Grid((25, 25, 25), 1.0), unda.Acoustic(rho=1.0, c=1.0)
    box = ((6, 6, 6), (18, 18, 18))
    for f, warned in ((unda.ricker(0.15), True), (unda.ricker(0.15).delayed(45.0), False)):
        sim = unda.FD(grid, medium, device="cpu", fmax=0.4, order=8)
        sim.add_source(unda.PlaneWave((0, 0, -1), f=f, box=box))
        found = [text for text in sim.check().warnings if "before the first step" in text]
        assert bool(found) == warned


def test_a_grid_of_one_plane_says_where_waves_may_go():
    sim = unda.FD(unda.Grid((41, 1, 31), 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu")
    for direction, y in (((0, 1, 0), 0.0), ((1, 0, 0), 2.0)):
        wave = unda.PlaneWave(direction, f=unda.ricker(0.1), box=((8, y, 8), (30, y + 1, 22)))
        with pytest.raises(unda.ArgumentError, match="one plane of nodes along y, at 0 m"):
            sim.add_source(wave)
