"""A simulation stays in the medium that it was made in: arrays and functions that change later are refused.

Arrays of models on grids are not copied; digests tell whether they were written to. Not here: what values a
medium may have (test_medium.py), files of models (test_model_file.py).
"""

import numpy as np
import pytest
import unda
from unda.problem.grid import chunks

GRID = unda.Grid((9, 8, 7), 10.0)
PLACE = (40.0, 30.0, 20.0)


def speeds():
    return np.random.default_rng(0).uniform(1500, 2000, GRID.shape)


def media(c):
    """What each method takes of an array c, and the keywords."""
    return {
        "scalar": unda.Acoustic(rho=1000.0, c=c),
        "staggered": unda.Acoustic(rho=1000.0, c=c),
        "elastic": unda.Elastic(rho=1000.0, vp=c, vs=0.0),
    }


def made(medium, kind, **options):
    scheme = "scalar" if kind == "scalar" else "staggered"
    return unda.FD(GRID, medium, scheme=scheme, device="cpu", boundary={"*": "free"}, **options)


def started(sim):
    sim.add_source(unda.VolumeInjection(PLACE, unda.ricker(20.0)))
    rec = sim.add_receivers([(50.0, 40.0, 30.0)])
    sim.step(5)
    return rec


KINDS = pytest.mark.parametrize("kind", ["scalar", "staggered", "elastic"])


@KINDS
def test_an_array_that_changes_before_the_simulation_is_made_is_refused(kind):
    for c in (speeds(), np.full(GRID.shape, 1500.0)):  # the second looks like one number
        medium = media(c)[kind]
        c[3, 2, 1] += 100.0
        with pytest.raises(unda.ArgumentError, match=r"c has changed|vp has changed"):
            made(medium, kind)
        c[3, 2, 1] -= 100.0
        made(medium, kind)


@KINDS
def test_an_array_that_changes_later_is_refused_wherever_it_is_read_again(kind, tmp_path, monkeypatch):
    """The run goes on in the medium that the solver has; put back, it is taken again. The old file stays."""
    monkeypatch.setattr(unda.problem.grid, "_CHUNK", 100)
    c = speeds()
    sim, other = (made(media(c)[kind], kind) for _ in range(2))
    rec, expected = started(sim), started(other)
    sim.save(tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    c[5] *= 1.1
    plane = ("sxx" if kind == "elastic" else "p", 0, 50.0)
    changed = pytest.raises(unda.ArgumentError, match=r"medium has changed .* planes 5 to 5 of x")
    with changed:
        sim.save(tmp_path / "run.h5")
    assert (tmp_path / "run.h5").read_bytes() == whole
    with changed:
        sim.write_vti(tmp_path / "run.vti")
    with changed:
        sim._plane(*plane, 10).material("vp" if kind == "elastic" else "c")
    assert sim.check().nodes_per_wavelength == other.check().nodes_per_wavelength
    sim.step(5)
    c[:] = speeds()
    other.step(5)
    for name in rec.fields:
        assert np.array_equal(rec[name], expected[name])
    assert rec[rec.fields[0]].any()
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    again.step(5)
    other.step(5)
    assert np.array_equal(again.get(again.fields[0]), other.get(other.fields[0]))


@KINDS
def test_a_function_that_gives_other_values_later_is_refused(kind, tmp_path):
    value = [1500.0]
    sim = made(media(lambda x, y, z: value[0] + x)[kind], kind)
    rec = started(sim)
    value[0] = 1600.0
    with pytest.raises(unda.ArgumentError, match="a function gives other values"):
        sim.save(tmp_path / "run.h5")
    assert not list(tmp_path.iterdir())
    value[0] = 1500.0
    sim.save(tmp_path / "run.h5")
    assert np.array_equal(unda.load(tmp_path / "run.h5").receivers[0][rec.fields[0]], rec[rec.fields[0]])


def test_a_memory_map_is_neither_copied_nor_missed(tmp_path):
    speeds().tofile(tmp_path / "c.bin")
    kept = {"shape": GRID.shape, "spacing": 10.0, "dtype": "<f8", "memmap": True}
    _, c = unda.read_model(tmp_path / "c.bin", **kept)
    medium = unda.Acoustic(rho=1000.0, c=c)
    assert np.shares_memory(medium._values["c"].values, c) and not c.flags.writeable
    sim = made(medium, "scalar")
    np.memmap(tmp_path / "c.bin", "<f8", "r+", shape=GRID.shape)[0, 0, 0] = 1700.0
    for again in (lambda: sim.save(tmp_path / "run.h5"), lambda: made(medium, "scalar")):
        with pytest.raises(unda.ArgumentError, match="has changed"):
            again()


def test_what_blew_up_is_not_named_by_a_medium_that_changed():
    c = speeds()
    sim = made(media(c)["scalar"], "scalar", dt=0.1, allow_unstable=True)
    started_with = c.copy()
    sim.set(p=lambda x, y, z: np.exp(-((x - 40) ** 2) / 400) + 0 * y + 0 * z)
    c *= 0.9
    with pytest.raises(unda.UnstableError) as info:
        sim.run(steps=3000)
    assert info.value.material is None and info.value.coordinates is not None
    c[:] = started_with
    sim.reset()
    sim.set(p=1.0)
    with pytest.raises(unda.UnstableError) as info:
        sim.run(steps=3000)
    assert info.value.material["c"] == started_with.flat[info.value.element]


def test_sources_take_the_density_that_the_solver_has():
    rho = np.full(GRID.shape, 1000.0)
    traces = []
    for factor in (1.0, 2.0):
        sim = made(unda.Acoustic(rho=rho, c=speeds()), "scalar")
        rho *= factor
        traces.append(started(sim)["p"])
    assert np.array_equal(*traces) and traces[0].any()


def test_meshes_keep_what_they_were_given(tmp_path):
    """Arrays, dicts and functions: traces, sources added later and the file are those of the old values."""
    mesh = unda.box_mesh((0, 0, 0), (60, 50, 40), (3, 2, 2))
    value, table = np.full(mesh.num_elem, 1500.0), {name: 1500.0 for name in mesh.tag_names}
    kinds = [value, lambda x, y, z: np.full(x.shape, value[0]), *([table] if table else [])]
    for c in kinds:
        traces = []
        for changed in (1500.0, 1700.0):
            value[:] = 1500.0
            table.update(dict.fromkeys(table, 1500.0))
            sim = unda.DG(mesh, unda.Acoustic(rho=1000.0, c=c), degree=2, device="cpu")
            value[:] = changed
            table.update(dict.fromkeys(table, changed))
            traces.append(started(sim)["p"])
            sim.save(tmp_path / "run.h5")
            again = unda.load(tmp_path / "run.h5")
            assert (again._material[..., 1] == 1500.0).all()
        assert np.array_equal(*traces) and traces[0].any()
    with pytest.raises(ValueError, match="read-only"):
        sim._material[0] = 1.0


def test_chunks_are_all_planes_once():
    found = [(first, count, block.num_elem) for first, count, block in chunks(unda.Grid((5, 2000, 300), 1.0))]
    assert found == [(0, 1, 600_000), (1, 1, 600_000), (2, 1, 600_000), (3, 1, 600_000), (4, 1, 600_000)]
    assert [count for _, count, _ in chunks(unda.Grid((5, 2000, 250), 1.0))] == [2, 2, 1]
