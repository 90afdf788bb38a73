"""Copies of fields for other libraries have the bits and the shape of `get`, and live as long as needed.

Without a device on the stand-in driver, where memory of the device can only be read by the driver.
"""

import ctypes
import gc
import os

import cuda_device
import numpy as np
import pytest
import unda

MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)
SOLID = unda.Elastic(rho=2000.0, vp=3000.0, vs=1500.0)


def wave(device, method="DG", dtype="float32"):
    if method == "FD":
        sim = unda.FD(unda.Grid((5, 4, 3), 10.0), MEDIUM, device=device, dtype=dtype)
    else:
        mesh = unda.box_mesh((0, 0, 0), (1, 1, 1), cells=(2, 1, 1))
        sim = unda.DG(mesh, MEDIUM, degree=2, device=device, dtype=dtype)
    sim.set(p=lambda x, y, z: 1 + x + 10 * y + 100 * z)
    return sim


@pytest.mark.parametrize("method", ["DG", "FD"])
def test_on_the_cpu_it_is_a_numpy_array_of_its_own(method):
    sim = wave("cpu", method)
    found = sim.device_array("p")
    assert isinstance(found, np.ndarray) and found.tobytes() == sim.get("p").tobytes()
    assert found.__dlpack_device__() == (1, 0)
    np.from_dlpack(found)[:] = 0
    assert sim.get("p").any()
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.device_array("ex")


def test_torch_shares_the_memory_of_the_array():
    torch = pytest.importorskip("torch")
    sim = wave("cpu", "FD", "float64")
    found = sim.device_array("p")
    tensor = torch.from_dlpack(found)
    assert tensor.shape == (5, 4, 3) and tensor.dtype == torch.float64
    assert tensor.numpy().tobytes() == sim.get("p").tobytes()
    tensor[0, 0, 0] = 7.0
    assert found[0, 0, 0] == 7.0 and sim.get("p")[0, 0, 0] != 7.0


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(("method", "dtype"), [("DG", "float32"), ("FD", "float64")])
def test_on_a_device_it_is_in_its_memory_in_the_users_order(method, dtype):
    cuda_device.prepare()
    sim = wave("cuda", method, dtype)
    found, values = sim.device_array("p"), sim.get("p")
    assert (found.shape, found.dtype, found.device) == (values.shape, values.dtype, "cuda:0")
    assert found.numpy().tobytes() == values.tobytes()
    about = found.__cuda_array_interface__
    assert (about["shape"], about["typestr"], about["data"]) == (
        values.shape,
        values.dtype.str,
        (found.pointer, False),
    )
    sim.step(1)
    assert found.numpy().tobytes() == values.tobytes() != sim.get("p").tobytes()


@pytest.mark.gpu_or_stand_in
def test_a_capsule_describes_the_memory_and_keeps_it_until_it_is_let_go():
    from unda.io import _dlpack, device_array

    cuda_device.prepare()
    freed = []
    array = wave("cuda", "FD").device_array("p")
    assert array.__dlpack_device__() == (2, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_array, "_call", lambda name, *_: freed.append(name))
        array_of = array.__dlpack__(max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        managed = _dlpack._Managed.from_address(get(array_of, b"dltensor"))
        tensor = managed.tensor
        assert (tensor.data, tensor.device_type, tensor.device_id, tensor.byte_offset) == (
            array.pointer,
            2,
            0,
            0,
        )
        assert tensor.shape[: tensor.ndim] == [5, 4, 3] and not tensor.strides
        assert (tensor.code, tensor.bits, tensor.lanes) == (2, 32, 1)
        del array
        gc.collect()
        assert freed == []  # the capsule has it
        # a consumer renames the capsule and calls the deleter when it has done
        place = get(array_of, b"dltensor")
        ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(array_of), b"used_dltensor")
        del array_of
        gc.collect()
        assert freed == [] and place in _dlpack._kept
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(place)
        gc.collect()
        assert place not in _dlpack._kept
        assert freed == ["cuCtxPushCurrent_v2", "cuMemFree_v2", "cuCtxPopCurrent_v2"]


@pytest.mark.gpu_or_stand_in
def test_a_capsule_that_nobody_takes_frees_the_memory():
    from unda.io import _dlpack

    cuda_device.prepare()
    sim = wave("cuda", "FD")
    before = len(_dlpack._kept)
    capsule = sim.device_array("p").__dlpack__()
    assert len(_dlpack._kept) == before + 1
    del capsule
    gc.collect()
    assert len(_dlpack._kept) == before
    array = sim.device_array("p")
    for options in ({"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError, match="gives no copies"):
            array.__dlpack__(**options)


@pytest.mark.gpu_or_stand_in
def test_errors_of_the_driver_are_those_of_unda():
    from unda.io.device_array import DeviceArray

    cuda_device.prepare()
    wave("cuda", "FD")
    with pytest.raises(unda.OutOfMemoryError, match="cuMemAlloc_v2 failed"):
        DeviceArray((2**44,), np.float64, 0)
    with pytest.raises(unda.DeviceError, match="cuDeviceGet failed"):
        DeviceArray((3,), np.float64, 1000)


def host_bytes():
    """Bytes that the stand-in copied from the host or to it."""
    return ctypes.CDLL(os.environ["UNDA_LIBCUDA"]).emu_host_bytes()


def simulation(name, device, **options):
    """A simulation after steps, and a field of it."""
    boxes = {"lower": (0, 0, 0), "upper": (1, 1, 1), "cells": (3, 2, 2)}
    options |= {"device": device, "dtype": "float32"}
    if name == "tets":
        sim, field = unda.DG(unda.box_mesh(**boxes), SOLID, degree=2, kernel="fused", **options), "syz"
    elif name == "hexes":
        sim, field = unda.DG(unda.box_mesh(**boxes, shape="hex"), MEDIUM, degree=2, **options), "vy"
    elif name == "solid":
        sim, field = unda.SEM(unda.box_mesh(**boxes, shape="hex"), SOLID, degree=2, **options), "az"
    elif name == "both":
        mesh = unda.box_mesh(**boxes, shape="hex")
        medium = unda.Elastic(rho=2000.0, vp=3000.0, vs=np.where(mesh.centroids[:, 2] > 0.5, 0.0, 1500.0))
        sim, field = unda.SEM(mesh, medium, degree=2, **options), "chi_t"
    else:
        sides = {"xmin": unda.CPML(3, f0=20.0), "zmax": "free", "*": "free"}
        medium = MEDIUM if name == "scalar" else SOLID
        grid = unda.Grid((13, 7, 8), 10.0)
        sim = unda.FD(grid, medium, boundary=sides, scheme=name, **options)
        field = "p_previous" if name == "scalar" else "sxz"  # odd about sides
    given = {"az": "vz", "p_previous": "p"}.get(field, field)
    sim.set(**{given: lambda x, y, z: np.sin(1 + x + 10 * y + 100 * z)})
    sim.step(3)
    return sim, field


def cases(*quick):
    names = ("tets", "hexes", "solid", "both", "scalar", "staggered")
    slow = [] if cuda_device.is_real() else [pytest.mark.slow]
    return [pytest.param(name, marks=[] if name in quick else slow) for name in names]


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("name", cases("tets", "both", "staggered"))
def test_fields_of_the_state_never_pass_through_the_host(name):
    real = cuda_device.prepare()
    sim, field = simulation(name, "cuda")
    sim.device_array(field)  # lists rows, once
    before = 0 if real else host_bytes()
    found = sim.device_array(field)
    if not real:
        assert host_bytes() == before
        sim.get(field)
        assert host_bytes() > before  # it is counted
    want = sim.get(field)
    assert want.any() and found.shape == want.shape and found.numpy().tobytes() == want.tobytes()
    again = sim.device_array(field)
    sim.step(1)
    assert again.numpy().tobytes() == want.tobytes() != sim.get(field).tobytes()


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("parts", [1, 2])
def test_accelerations_are_those_of_a_state_that_was_set(parts):
    cuda_device.prepare()
    sim, field = simulation("solid", ["cuda:0"] * parts if parts > 1 else "cuda")
    sim.set(uz=lambda x, y, z: np.sin(x + 3 * y + 2 * z))
    found, want = sim.device_array(field), sim.get(field)
    assert want.any() and found.numpy().tobytes() == want.tobytes()


@pytest.mark.first(1)
@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize("name", cases("tets", "both", "scalar"))
def test_parts_write_to_the_first_ones_array(name, monkeypatch):
    real = cuda_device.prepare()
    monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "2")
    sim, field = simulation(name, ["cuda:0", f"cuda:{unda.limits.num_devices() - 1}"])
    found, before = sim.device_array(field), 0 if real else host_bytes()
    assert sim.device_array(field).shape == found.shape and (real or host_bytes() == before)
    want = sim.get(field)
    assert want.any() and found.numpy().tobytes() == want.tobytes()


@pytest.mark.skipif(cuda_device.is_real(), reason="devices that are there reach each other")
def test_parts_that_do_not_reach_the_first_one_go_through_the_host(monkeypatch):
    cuda_device.prepare()
    monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "2")
    monkeypatch.setenv("UNDA_EMULATOR_PEER", "0")
    sim, field = simulation("scalar", ["cuda:0", "cuda:1"])
    found, before = sim.device_array(field), host_bytes()
    want = sim.get(field)
    assert want.any() and found.numpy().tobytes() == want.tobytes()
    assert sim.device_array(field) and host_bytes() - before >= 3 * want.nbytes


@pytest.mark.gpu_or_stand_in
def test_what_follows_from_other_fields_is_read_on_the_host():
    cuda_device.prepare()
    sim, _ = simulation("both", "cuda")
    for field in ("ux", "syy", "pressure"):  # ux of a fluid is a gradient
        found, want = sim.device_array(field), sim.get(field)
        assert want.any() and found.numpy().tobytes() == want.tobytes()
    with pytest.raises(unda.ArgumentError, match="no fields"):
        sim.device_array("ex")


@pytest.mark.gpu_or_stand_in
def test_a_window_over_a_grid_is_read_on_the_host():
    cuda_device.prepare()
    sim, field = simulation("scalar", "cuda", window=4)
    found, want = sim.device_array(field), sim.get(field)
    assert want.any() and found.numpy().tobytes() == want.tobytes()


@pytest.mark.gpu_or_stand_in
def test_the_library_refuses_memory_that_is_not_the_arrays():
    from unda import _core
    from unda._core import lib
    from unda.io.device_array import DeviceArray

    beyond = 2**40 if cuda_device.prepare() else 4  # what a device's allocations are rounded up to is its own
    sim, done = wave("cuda", "FD"), _core.new("int32_t *")
    array, host = DeviceArray((5, 4, 3), np.float32, 0), np.zeros(60, np.float32)

    def read(field=0, address=array.pointer, num=array.nbytes):
        sim._solver.call(lib.unda_solver_read_device, field, address, num, done)

    read()
    assert done[0] == 1 and array.numpy().tobytes() == sim.get("p").tobytes()
    for given, words in (
        ({"field": 2}, r"field is 2, expected 0\.\.1"),
        ({"field": -1}, "field is -1"),
        ({"num": 236}, "bytes is 236, expected 240"),
        ({"address": array.pointer + 2}, "expected a multiple of 4"),
        (
            {"address": array.pointer + beyond},
            r"has -?\d+ bytes, expected at least 240|no memory of a device",
        ),
        ({"address": host.ctypes.data}, "no memory of a device"),
        ({"address": 0}, "no memory of a device"),
    ):
        with pytest.raises(unda.ArgumentError, match=words):
            read(**given)
        assert done[0] == 0
    sim = wave("cpu", "FD")
    read(address=host.ctypes.data)
    assert done[0] == 0 and not host.any()


class OnTheHost:
    """Memory of the host, handed out as that of a device is."""

    def __init__(self, values):
        self.values = values

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        from unda.io import _dlpack

        place = self.values.ctypes.data
        return _dlpack.capsule(self, place, self.values.shape, self.values.dtype, self.__dlpack_device__())


@pytest.mark.parametrize("name", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_other_libraries_read_a_capsule_and_let_it_go(name, dtype):
    from unda.io import _dlpack

    library = pytest.importorskip(name)
    values, before = np.arange(24).astype(dtype).reshape(2, 3, 4), len(_dlpack._kept)
    taken = library.from_dlpack(OnTheHost(values))
    gc.collect()
    assert len(_dlpack._kept) == before + 1
    assert np.array_equal(np.asarray(taken), values) and str(taken.dtype).endswith(dtype)
    values[1, 2, 3] = 99  # no copy
    assert float(taken[1, 2, 3]) == 99
    del taken
    gc.collect()
    assert len(_dlpack._kept) == before


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_torch_and_cupy_compute_with_the_field_on_the_device(name):
    library = pytest.importorskip(name)
    sim = wave("cuda", "FD")
    other = library.from_dlpack(sim.device_array("p"))
    gc.collect()
    assert float(other.sum()) == pytest.approx(float(sim.get("p").sum()), rel=1e-6)
    assert tuple(other.shape) == (5, 4, 3)
