"""Raw arrays are the memory of the state: they have the bits of `get` where they say so, without a copy.

Without a device on the stand-in driver, whose memory of the device can only be read by the driver.
"""

import ctypes
import gc

import cuda_device
import numpy as np
import pytest
import unda
from team_cases import in_parts

REAL = cuda_device.prepare()
SOUND = unda.Acoustic(rho=1000.0, c=1500.0)
SOLID = unda.Elastic(rho=2000.0, vp=3000.0, vs=1500.0)
SIDES = {"xmin": unda.CPML(3, f0=20.0), "zmax": "free", "*": "free"}


def box(cells=(3, 2, 2), **more):
    return unda.box_mesh((0, 0, 0), (1, 1, 1), cells=cells, **more)


def value(x, y, z):
    return np.sin(1 + x + 10 * y + 100 * z)


def grid(device, scheme, dtype):
    medium = SOUND if scheme == "scalar" else SOLID
    return unda.FD(
        unda.Grid((12, 13, 14), 10.0), medium, device=device, dtype=dtype, boundary=SIDES, scheme=scheme
    )


def by_user(sim, raw, values):
    """Put what stands in rows where `get` has it; what neighbours share into all of them."""
    if raw.axes == ("x", "y", "z"):
        return values
    used = raw.cells >= 0
    if raw.nodes is None:
        out = np.full((sim.mesh.num_elem, sim.num_node), np.nan, sim.dtype)
        out[raw.cells[used]] = values[used]
        return out
    return raw.cells[used], raw.nodes[used], values[used]


def check(sim, field):
    raw, copied = sim.device_array(field, raw=True), sim.device_array(field)
    found, want = by_user(sim, raw, raw.numpy()), sim.get(field)
    copied = copied if isinstance(copied, np.ndarray) else copied.numpy()
    assert copied.shape == want.shape and copied.tobytes() == want.tobytes()  # the copy of the same layout
    if isinstance(found, tuple):
        cells, nodes, values = found
        assert len(set(zip(cells.tolist(), nodes.tolist(), strict=True))) == len(values)
        assert values.tobytes() == want[cells, nodes].tobytes()
        x = np.round(sim.coordinates, 9).reshape(-1, 3)
        assert len(values) == len(np.unique(x, axis=0))  # each node once
    else:
        assert found.tobytes() == want.tobytes()
    assert want.any()
    return raw


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_on_the_cpu_it_is_the_state_of_each_method(dtype):
    sims = [
        (unda.DG(box(), SOUND, degree=3, dtype=dtype, device="cpu"), "vy"),
        (unda.DG(box(shape="hex"), SOLID, degree=2, dtype=dtype, device="cpu"), "sxz"),
        (unda.SEM(box(shape="hex"), SOLID, degree=3, dtype=dtype, device="cpu"), "uz"),
        (unda.SEM(box(shape="hex"), SOUND, degree=3, dtype=dtype, device="cpu"), "chi_t"),
        (grid("cpu", "scalar", dtype), "p"),
        (grid("cpu", "staggered", dtype), "vz"),
    ]
    for sim, field in sims:
        sim.set(**{field: value})
        sim.step(3)
        raw = check(sim, field)
        held = np.asarray(raw)
        assert not held.flags.writeable and held.ctypes.data == raw.pointer
        assert np.shares_memory(held, np.asarray(sim.device_array(field, raw=True)))
        assert held.ctypes.data == np.asarray(sim.device_array(field, raw=True)).ctypes.data  # no copy


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(  # those of gemm are of microblock's layout, with one cell a block
    "kernel",
    ["fused", "element", "microblock", pytest.param("gemm", marks=[pytest.mark.slow] * (not REAL))],
)
def test_on_a_device_each_layout_of_dg_is_described(kernel):
    cuda_device.prepare()
    sim = unda.DG(box((3, 3, 1)), SOLID, degree=2, device="cuda", kernel=kernel)
    sim.set(syz=value, vx=value)
    raw = check(sim, "syz")
    check(sim, "vx")
    assert raw.device == "cuda:0" and raw.__dlpack_device__() == (2, 0)
    assert (raw.axes == ("cell", "node")) == (raw.cells.ndim == 1)


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("scheme", ["scalar", "staggered"])
def test_on_a_device_each_grid_is_described(scheme):
    cuda_device.prepare()
    sim, field = grid("cuda", scheme, "float32"), "p" if scheme == "scalar" else "syy"
    sim.set(**{field: value})
    sim.step(2)
    check(sim, field)


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("medium", "field"), [(SOLID, "vy"), (SOUND, "chi")])
def test_on_a_device_spectral_elements_are_described(medium, field):
    cuda_device.prepare()
    sim = unda.SEM(box(shape="hex"), medium, degree=4, device="cuda")
    sim.set(**{field: value})
    check(sim, field)
    sim.step(2)
    check(sim, field)


@pytest.mark.gpu_or_stand_in
def test_on_a_device_padded_unknowns_and_a_state_that_was_loaded_are_described(tmp_path):
    cuda_device.prepare()
    # three unknowns of a node stand in four words
    sim = unda.SEM(box(shape="hex"), SOLID, degree=2, device="cuda", assembly="atomic")
    sim.set(uy=value)
    check(sim, "uy")
    sim.step(2)
    sim.save(tmp_path / "state.h5")
    loaded, copied = (unda.load(tmp_path / "state.h5") for _ in range(2))
    assert copied.device_array("vz").numpy().tobytes() == sim.get("vz").tobytes()
    raw, want = loaded.device_array("vz", raw=True), sim.get("vz")
    used = raw.cells >= 0  # nothing has been read before
    assert raw.numpy()[used].tobytes() == want[raw.cells[used], raw.nodes[used]].tobytes()


def test_after_a_step_it_is_asked_for_again():
    sim = grid("cpu", "scalar", "float32")
    sim.set(p=value)
    raw = sim.device_array("p", raw=True)
    sim.step(1)
    with pytest.raises(unda.ArgumentError, match="field of step 0 before the simulation, now at step 1"):
        np.asarray(raw)
    with pytest.raises(unda.ArgumentError, match="of step 0"):
        raw.numpy()
    check(sim, "p")
    one = sim.device_array("p", raw=True)
    sim.reset()
    sim.step(1)  # the same number of steps, and another state
    with pytest.raises(unda.ArgumentError, match="was stepped or set"):
        one.numpy()


def test_memory_lives_as_long_as_somebody_has_it():
    sim = unda.DG(box(), SOUND, degree=2, device="cpu")
    sim.set(p=value)
    want, raw = sim.get("p"), sim.device_array("p", raw=True)
    cells, held = raw.cells, np.from_dlpack(raw)
    sim.close()
    del raw
    gc.collect()
    out = np.empty_like(want)
    out[cells] = held
    assert out.tobytes() == want.tobytes()
    with pytest.raises(unda.ArgumentError, match="closed"):
        sim.device_array("p", raw=True)


def test_what_has_no_memory_of_its_own_is_refused():
    sem = unda.SEM(box(shape="hex"), SOLID, degree=2, device="cpu")
    with pytest.raises(unda.ArgumentError, match=r"'sxx' is in memory; .* copies of what follows"):
        sem.device_array("sxx", raw=True)  # derived from u
    with pytest.raises(unda.ArgumentError, match="raw is 'yes'"):
        sem.device_array("ux", raw="yes")
    with in_parts(2):
        team = unda.DG(box(), SOUND, degree=1, device="cpu")
    with pytest.raises(unda.ArgumentError, match="in parts or processes"):
        team.device_array("p", raw=True)


def test_the_library_refuses_rows_of_grids_and_fields_that_are_none():
    from unda import _core
    from unda._core import lib

    sim, view = grid("cpu", "scalar", "float32"), _core.new_struct("unda_view")
    rows = np.zeros(1, np.int64)
    with pytest.raises(unda.ArgumentError, match="rows of grids"):
        sim._solver.call(lib.unda_solver_view, 0, view, _core.pointer(rows, writable=True))
    with pytest.raises(unda.ArgumentError, match=r"field is 1, expected 0\.\.0"):
        sim._solver.call(lib.unda_solver_view, 1, view, _core.NULL)


def test_readers_are_told_that_it_is_read_only():
    from unda.io import _dlpack

    sim = grid("cpu", "scalar", "float64")
    sim.set(p=value)
    raw, before = sim.device_array("p", raw=True), len(_dlpack._kept)
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    capsule = raw.__dlpack__(max_version=(1, 0))
    managed = _dlpack._Versioned.from_address(get(capsule, b"dltensor_versioned"))
    assert (managed.major, managed.flags & 1) == (1, 1)
    assert managed.tensor.strides[:3] == [n // 8 for n in raw.strides]
    old = raw.__dlpack__()
    assert get(old, b"dltensor")
    del capsule, old
    gc.collect()
    assert len(_dlpack._kept) == before
    with pytest.raises(BufferError, match="gives no copies"):
        raw.__dlpack__(copy=True)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_torch_and_cupy_read_the_memory_of_the_state(name):
    library = pytest.importorskip(name)
    for sim in (grid("cuda", "scalar", "float32"), unda.DG(box(), SOUND, degree=3, device="cuda")):
        sim.set(p=value)
        sim.step(1)
        raw, want = sim.device_array("p", raw=True), sim.get("p")
        other = library.from_dlpack(raw)
        assert tuple(other.shape) == raw.shape
        assert float((other.astype("float64") if name == "cupy" else other.double()).sum()) == pytest.approx(
            float(want.astype(np.float64).sum()), abs=1e-9 * want.size
        )
        pointer = other.data.ptr if name == "cupy" else other.data_ptr()
        assert pointer == raw.pointer  # no copy
