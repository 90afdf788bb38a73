"""Promises about failures: every status of the C library raises its own class, and says why."""

import logging
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from unda import _core, errors
from unda.problem.mesh import Mesh, box_mesh


def statuses():
    names = [name for name in dir(_core.lib) if name.startswith("UNDA_ERR_")]
    return {name: getattr(_core.lib, name) for name in names}


def test_every_status_has_a_class():
    assert set(errors.STATUS_CLASSES) == set(statuses())
    assert len(set(statuses().values())) == len(statuses())


@pytest.mark.parametrize("name", sorted(errors.STATUS_CLASSES))
def test_a_status_raises_its_class(name):
    with pytest.raises(errors.STATUS_CLASSES[name]) as raised:
        _core.check(statuses()[name])
    assert isinstance(raised.value, errors.Error)
    _core.check(_core.lib.UNDA_OK)


def test_every_status_has_a_text_and_an_unknown_one_is_an_internal_error():
    texts = {_core.text(_core.lib.unda_status_text(value)) for value in statuses().values()}
    assert len(texts) == len(statuses())
    assert "unknown status" not in texts
    assert _core.text(_core.lib.unda_status_text(99)) == "unknown status"
    with pytest.raises(errors.InternalError):
        _core.check(99)


@pytest.mark.parametrize(
    ("cls", "builtin"),
    [
        (errors.ArgumentError, ValueError),
        (errors.MeshError, ValueError),
        (errors.OutOfMemoryError, MemoryError),
        (errors.DeviceLostError, errors.DeviceError),
        (errors.CompileError, errors.DeviceError),
    ],
)
def test_classes_are_also_what_python_calls_them(cls, builtin):
    assert issubclass(cls, builtin)
    assert issubclass(cls, errors.Error)


@pytest.mark.parametrize(
    "error",
    [
        errors.UnstableError("blew up", step=3, time=0.5, element=7, material={"rho": 1.0}),
        errors.CompileError("no", log="line 3"),
        errors.MeshError("bad"),
        errors.FileError("full"),
    ],
)
def test_errors_travel_between_processes_whole(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_an_unknown_fact_is_a_type_error():
    with pytest.raises(TypeError, match="elem"):
        errors.UnstableError("blew up", elem=7)


def test_a_message_says_where_it_comes_from():
    with pytest.raises(errors.ArgumentError, match=r"cells\[0\] is 0, ") as caught:
        box_mesh((0, 0, 0), (1, 1, 1), (0, 1, 1))
    assert caught.value.place.startswith("mesh/box.c:") and ".c:" not in str(caught.value)


def test_only_the_core_touches_cffi():
    package = Path(errors.__file__).parent
    users = {
        path.name
        for path in package.rglob("*.py")
        if re.search(r"^\s*(from|import) .*\b(cffi|_cffi|_cffi_backend)\b", path.read_text(), re.M)
    }
    assert users - {"_cffi.py"} == {"_core.py"}


def test_arrays_are_passed_as_they_are_or_converted_or_refused():
    fits = np.arange(6.0).reshape(2, 3)
    assert _core.as_array(fits, np.float64, (2, 3), "a") is fits
    swapped = _core.as_array(fits.astype(">f8"), np.float64, (None, 3), "a")
    assert swapped.dtype.isnative and (swapped == fits).all()
    assert _core.as_array(fits.T, np.float64, (3, 2), "a").flags.c_contiguous
    assert _core.as_array([1, 2], np.float32, (2,), "a").dtype == np.float32
    for wrong in (fits > 1, fits + 1j, "text", [None], fits.astype(object)):
        with pytest.raises(errors.ArgumentError, match="a "):
            _core.as_array(wrong, np.float64, (None, None), "a")
    with pytest.raises(errors.ArgumentError, match="a has dtype float64, expected int64"):
        _core.as_array(fits, np.int64, (2, 3), "a")
    with pytest.raises(errors.ArgumentError, match=r"a\[1, 2\] is inf"):
        _core.as_array([[1, 2, 3], [4, 5, np.inf]], np.float64, (2, 3), "a", finite=True)


def test_a_pointer_keeps_its_array_and_respects_read_only():
    pointer = _core.pointer(np.arange(3.0))
    assert list(pointer) == [0, 1, 2]
    assert _core.pointer(None) == _core.ffi.NULL
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    _core.pointer(fixed)
    with pytest.raises((ValueError, BufferError)):
        _core.pointer(fixed, writable=True)
    with pytest.raises(errors.InternalError):
        _core.pointer(np.arange(6.0)[::2])


def test_a_struct_keeps_the_arrays_it_points_to():
    struct = _core.new_struct("unda_drive", num_time=2, amplitudes=np.array([3.0, 4.0]))
    assert struct.size_bytes == _core.ffi.sizeof("unda_drive")
    assert [struct.amplitudes[0], struct.amplitudes[1]] == [3.0, 4.0]
    assert struct.exact == _core.ffi.NULL


def test_a_struct_of_another_size_is_refused():
    info = _core.new_struct("unda_mesh_info")
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    _core.check(_core.lib.unda_mesh_get_info(mesh._handle, info))
    info.size_bytes += 8
    with pytest.raises(errors.ArgumentError, match=r"unda_mesh_info\.size_bytes is"):
        _core.check(_core.lib.unda_mesh_get_info(mesh._handle, info))


def test_the_log_of_the_library_reaches_the_logger(caplog):
    with caplog.at_level(logging.DEBUG, logger="unda"):
        _core.drain_log()
    assert not _core.lib.unda_log_pop(_core.ffi.NULL, _core.ffi.NULL, 0)


def test_of_many_messages_the_newest_256_are_kept_in_order(caplog, monkeypatch):
    tets = np.arange(4 * 300).reshape(-1, 4)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    apart = (corners + 2.0 * np.arange(300)[:, None, None] * [1, 0, 0]).reshape(-1, 3)
    _core.drain_log()
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, logger="unda"):
        patched.setattr(_core, "drain_log", lambda: None)
        for parts in range(2, 301):  # each mesh of several parts is one message
            Mesh(apart[: 4 * parts], tets[:parts])
    with caplog.at_level(logging.WARNING, logger="unda"):
        _core.drain_log()
    found = [int(record.getMessage().split(" parts")[0].rpartition(" ")[2]) for record in caplog.records]
    assert found == list(range(301 - 256, 301))


@pytest.mark.parametrize("seed", range(4))
def test_a_mesh_of_two_parts_of_many_cells_is_logged_as_such(caplog, seed):
    """Cells of both parts in any order, so that cells of one stand beside those of the other in memory."""
    box = box_mesh((0, 0, 0), (1, 1, 1), (2, 2, 2))
    cells = np.concatenate([box.cells, box.cells + len(box.vertices)])
    cells = np.random.default_rng(seed).permutation(cells)
    with caplog.at_level(logging.WARNING, logger="unda"):
        Mesh(np.concatenate([box.vertices, box.vertices + np.array([0.5 + seed, 3.0, 0.0])]), cells)
    assert [record.getMessage()[:23] for record in caplog.records] == ["the mesh has 2 parts th"]
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="unda"):
        Mesh(box.vertices, box.cells)
    assert not caplog.records
