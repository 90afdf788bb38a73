"""Copies of fields for other libraries have the bits and the shape of `get`, and live as long as needed.

Without a device on the stand-in driver, where memory of the device can only be read by the driver.
"""

import ctypes
import gc

import cuda_device
import numpy as np
import pytest
import unda

MEDIUM = unda.Acoustic(rho=1000.0, c=1500.0)


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
    huge = np.broadcast_to(np.float64(0), (2**44,))
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(unda.OutOfMemoryError, match="cuMemAlloc_v2 failed"),
    ):
        patch.setattr(np, "ascontiguousarray", lambda values: values)
        DeviceArray(huge, 0)
    with pytest.raises(unda.DeviceError, match="cuDeviceGet failed"):
        DeviceArray(np.zeros(3), 1000)


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
