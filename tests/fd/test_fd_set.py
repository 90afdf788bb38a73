"""`FD.set` takes a state whole or not at all, and none that the medium does not bear.

Not here: that any state's energy is conserved (test_staggered_energy.py), states on meshes (test_running.py).
"""

import h5py
import numpy as np
import pytest
import unda
from staggered_cases import boundary, random_medium, random_state, staggered
from unda.io._digest import seal

SHAPE = (9, 7, 10)
GRID = unda.Grid(SHAPE, (1.0, 0.8, 1.3))
NORMAL, SHEAR = ("sxx", "syy", "szz"), ("syz", "sxz", "sxy")
FREE = {"*": "free"}
WATER = unda.Elastic(rho=1.0, vp=1.5, vs=0.0)


def beside(axis):
    """A solid with a fluid above its middle along an axis."""
    vs = np.full(SHAPE, 0.7)
    np.moveaxis(vs, axis, 0)[SHAPE[axis] // 2 :] = 0
    return unda.Elastic(rho=1.0, vp=1.5, vs=vs)


def drift(sim, steps=600):
    """Largest change of the energy against its first value."""
    first, found = sim.energy(), []
    for _ in range(6):
        sim.step(steps // 6)
        found.append(sim.energy())
    assert first > 0
    return np.abs(np.array(found) / first - 1).max()


# ---- fluids ----


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fields", [("sxx",), ("sxx", "szz"), ("syz",), ("sxz",), ("sxy",), (*NORMAL, "sxy")])
def test_a_deviatoric_stress_in_a_fluid_is_refused(fields, dtype):
    sim = staggered(GRID, WATER, boundary=FREE, dtype=dtype)
    one = np.random.default_rng(3).standard_normal(SHAPE)
    with pytest.raises(unda.ArgumentError, match=r"deviatoric part of .* a fluid \(vs = 0\)"):
        sim.set(**dict.fromkeys(fields, one))
    for name in fields:  # by a function, and as an exact solution would give it
        with pytest.raises(unda.ArgumentError, match="deviatoric"):
            sim.set(**{name: lambda x, y, z: 1.0 + 0 * x + 0 * y + 0 * z})
    state = dict.fromkeys(sim.fields, 0.0) | dict.fromkeys(fields, 1.0)
    if fields != NORMAL:
        with pytest.raises(unda.ArgumentError, match="deviatoric"):
            sim.set(lambda x, y, z, t: {name: value + 0 * (x + y + z) for name, value in state.items()})


@pytest.mark.parametrize("side", ["free", "fixed", "periodic", unda.CPML(width=2)])
@pytest.mark.parametrize("axis", range(3))
def test_shear_at_the_last_place_that_belongs_to_a_fluid_is_refused(axis, side):
    """s_ij stands half a cell on along i and j: the last solid node's is the fluid's, the one before is not.

    Where the axis closes on itself the last place lies between a fluid and the first node, a solid.
    """
    along, edge = "xyz"[axis], SHAPE[axis] // 2 - 1
    sim = staggered(GRID, beside(axis), boundary={"*": side})
    for name in (one for one in SHEAR if along in one[1:]):
        for at in (edge - 1, edge, SHAPE[axis] - 1):
            one = np.zeros(SHAPE)
            np.moveaxis(one, axis, 0)[at] = 1.0
            if at == edge - 1:
                sim.set(**{name: one})
                assert np.moveaxis(sim.get(name), axis, 0)[at].any()
                continue
            with pytest.raises(unda.ArgumentError, match="deviatoric"):
                sim.set(**{name: one})
    for name in (one for one in SHEAR if along not in one[1:]):
        one = np.zeros(SHAPE)
        np.moveaxis(one, axis, 0)[edge] = 1.0
        sim.set(**{name: one})


SIDES = [("free",) * 2, ("fixed", "free"), ("symmetry", "free"), ("periodic",) * 2]


@pytest.mark.parametrize("pairs", [(one,) * 3 for one in SIDES] + [tuple(SIDES[1:])])
@pytest.mark.parametrize("medium", [WATER, beside(0), beside(2), "noise"])
def test_energy_of_a_state_that_is_taken_is_conserved(medium, pairs):
    """600 steps in float64: 10 sqrt(600) eps = 5e-14 by chance, the bar is 1e-12.

    Random velocities, shear in the solid, and a pressure everywhere: that of a fluid on a free side must
    become 0, or its surface is driven for ever.
    """
    rng = np.random.default_rng(1)
    noise = isinstance(medium, str)
    if noise:
        vs = np.where(rng.random(SHAPE) < 0.3, 0.0, rng.uniform(0.3, 1, SHAPE))
        medium = unda.Elastic(rho=rng.uniform(1, 3, SHAPE), vp=rng.uniform(1.5, 2, SHAPE), vs=vs)
    sim = staggered(GRID, medium, boundary=boundary(*pairs), cfl=0.6)
    pressure = rng.standard_normal(SHAPE)
    state = {name: rng.standard_normal(SHAPE) for name in ("vx", "vy", "vz")}
    sim.set(**state, **dict.fromkeys(NORMAL, pressure))
    assert drift(sim) < 1e-12
    assert np.abs(sim.get("sxx")).max() > 0.01


def test_what_rounding_leaves_of_a_deviatoric_stress_is_taken_away():
    """A part of eps of the pressure stays beneath the bar, eps^(2/3); afterwards there is none at all."""
    sim = staggered(GRID, beside(2), boundary={"*": "fixed"}, dtype="float32")
    rng = np.random.default_rng(4)
    pressure = rng.standard_normal(SHAPE)
    noise = {name: 1e-7 * rng.standard_normal(SHAPE) for name in (*NORMAL, *SHEAR)}
    sim.set(**{name: one + (pressure if name in NORMAL else 0.0) for name, one in noise.items()})
    fluid, above = slice(SHAPE[2] // 2, None), slice(SHAPE[2] // 2 - 1, None)
    sxx, syy, szz, syz, sxz, sxy = (sim.get(name) for name in (*NORMAL, *SHEAR))
    assert np.array_equal(sxx[..., fluid], syy[..., fluid]) and np.array_equal(
        sxx[..., fluid], szz[..., fluid]
    )
    assert not syz[..., above].any() and not sxz[..., above].any() and not sxy[..., fluid].any()
    assert np.abs(sxx - pressure).max() < 1e-6 and sxy.any()


@pytest.mark.parametrize("entry", ["sxx", "sxz"])
@pytest.mark.parametrize("where", ["inside", "layer"])
def test_a_file_with_shear_in_a_fluid_is_refused(tmp_path, entry, where):
    medium = random_medium("elastic", SHAPE, np.random.default_rng(2))  # z below a third: a fluid
    sim = staggered(GRID, medium, boundary={"*": unda.CPML(width=3), "zmax": "free"}, cfl=0.6)
    sim.set(**random_state("elastic", SHAPE, np.random.default_rng(5)))
    sim.step(30)
    sim.save(tmp_path / "run.h5")
    assert unda.load(tmp_path / "run.h5").energy() == sim.energy()
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        file[entry][6, 5, 1 if where == "layer" else 4] = 0.5
    with open(tmp_path / "run.h5", "r+b", buffering=0) as raw:
        seal(raw)
    with pytest.raises(unda.FileError, match="deviatoric part of 0"):
        unda.load(tmp_path / "run.h5")


# ---- whole or not at all ----


def fails(x, y, z):
    raise RuntimeError("mine")


def later(good):
    """A function that is right in its first call alone."""
    calls = []

    def f(x, y, z):
        calls.append(1)
        return np.zeros(np.broadcast_shapes(x.shape, y.shape, z.shape)) if len(calls) <= good else np.nan

    return f


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
@pytest.mark.parametrize(
    ("last", "error"),
    [
        (np.zeros((2, 2, 2)), unda.ArgumentError),
        (np.nan, unda.ArgumentError),
        ("a string", unda.ArgumentError),
        (1e300, unda.ArgumentError),
        (fails, RuntimeError),
        (lambda x, y, z: np.inf, unda.ArgumentError),
        (lambda x, y, z: np.zeros(3), unda.ArgumentError),
        (lambda x, y, z: {}, unda.ArgumentError),
        (lambda: 0.0, TypeError),
        (later(1), unda.ArgumentError),
    ],
)
def test_a_state_that_is_refused_changes_nothing(scheme, last, error, monkeypatch):
    """Fields, layers, clock and samples: the run goes on as one that nobody asked."""
    monkeypatch.setattr(unda.problem.grid, "_CHUNK", 200)  # several chunks
    runs = []
    for asked in (False, True):
        sim = unda.FD(GRID, unda.Acoustic(rho=1.0, c=1.5), scheme=scheme, device="cpu", boundary=None)
        sim.add_source(unda.VolumeInjection((4.0, 2.4, 6.0), unda.ricker(0.3)))
        rec = sim.add_receivers([(2.0, 3.0, 5.0)])
        sim.step(12)
        if asked:
            second = "p_previous" if scheme == "scalar" else "vx"
            for state in ({"p": 1.0, second: last}, {"p": last}):
                with pytest.raises(error):
                    sim.set(**state, t=3.0)
            for bad in (fails, lambda x, y, z, t: {"p": 0 * x}, lambda x, y, z, t: 1.0):
                if bad is fails or scheme == "staggered":
                    with pytest.raises((TypeError, unda.ArgumentError)):
                        sim.set(bad, t=3.0)
            assert (sim.step_count, rec.num_sample) == (12, 13)
        sim.step(12)
        runs.append(
            (sim.t, *(sim.get(name) for name in sim._scheme.names), *(rec[name] for name in rec.fields))
        )
    for one, other in zip(*runs, strict=True):
        assert np.array_equal(one, other)
    assert np.abs(runs[0][1]).max() > 0


def test_a_function_may_return_one_array_again_and_again(monkeypatch):
    monkeypatch.setattr(unda.problem.grid, "_CHUNK", 70)
    sim, buffer = (
        staggered(GRID, unda.Acoustic(rho=1.0, c=1.5), boundary={"*": "rigid"}),
        np.empty((1, 7, 10)),
    )

    def plane(x, y, z):
        buffer[:] = x + 2 * y + 3 * z
        return buffer

    sim.set(p=plane)
    x, y, z = np.moveaxis(sim.coordinates, -1, 0)
    assert np.array_equal(sim.get("p"), x + 2 * y + 3 * z)


@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_a_function_need_not_depend_on_all_coordinates(scheme):
    def state(wave, **fields):
        sim = unda.FD(GRID, unda.Acoustic(rho=1.0, c=1.0), scheme=scheme, device="cpu")
        sim.set(wave, **fields)
        return sim.get("p")

    x = np.arange(SHAPE[0])[:, None, None] * 1.0
    values = np.broadcast_to(np.sin(x), SHAPE).astype(np.float32)
    assert np.array_equal(state(None, p=lambda x, y, z: np.sin(x)), values)
    names = ["p", "vx", "vy", "vz"]
    assert np.array_equal(state(lambda x, y, z, t: {name: np.sin(x) for name in names}), values)
    for wrong in (lambda x, y, z: np.sin(x)[:3], lambda x, y, z: np.sin(x[:, 0, 0])):  # twins
        with pytest.raises(unda.ArgumentError, match="p has shape"):
            state(None, p=wrong)
