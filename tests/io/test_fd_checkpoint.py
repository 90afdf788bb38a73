"""A saved run of finite differences continues as if it had never stopped. Next: test_checkpoint.py (DG)."""

import cuda_device
import h5py
import numpy as np
import pytest
import unda
from unda.io._digest import seal

pytestmark = pytest.mark.gpu_or_stand_in
cuda_device.prepare()
GRID = unda.Grid((14, 11, 9), (10.0, 12.0, 9.0), origin=(5.0, -7.0, 1e3))


def make(device, medium, dtype="float32"):
    boundary = {"zmax": "free", "ymin": "rigid", "*": unda.Damping(width=4, R0=0.05)}
    sim = unda.FD(GRID, medium, order=4, boundary=boundary, device=device, dtype=dtype)
    for x, f0 in ((61.0, 30.0), (90.0, 20.0)):
        sim.add_source(unda.VolumeInjection((x, 30.0, 1031.0), unda.ricker(f0)))
    sim.add_receivers([(100.0, 50.0, 1030.0)], every=1, name="all")
    sim.add_receivers([(40.0, 21.0, 1012.0), (77.0, 3.0, 1040.0)], every=3)
    return sim


def uniform():
    return unda.Acoustic(rho=1000.0, c=1500.0)


def varying():
    return unda.Acoustic(rho=900.0, c=lambda x, y, z: 1500.0 + 3 * x + y)


@pytest.mark.each_value("device", "medium")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("medium", [uniform, varying])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_saved_run_goes_on_bit_for_bit(tmp_path, device, medium, dtype):
    whole, parts = (make(device, medium(), dtype) for _ in range(2))
    whole.step(40)
    parts.step(17)
    parts.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5")
    same = set(parts.config) - {"allow_unstable", "medium"}  # a file's dt is taken as it is; c as values
    assert {key: again.config[key] for key in same} == {key: parts.config[key] for key in same}
    assert again.step_count == 17 and again.t == parts.t
    again.step(23)
    for name in ("p", "p_previous"):
        assert np.array_equal(again.get(name), whole.get(name)) and whole.get(name).any()
    for found, expected in zip(again.receivers, whole.receivers, strict=True):
        assert np.array_equal(found["p"], expected["p"]) and np.array_equal(found.t, expected.t)
        assert (found.name, found.every) == (expected.name, expected.every)


def test_it_goes_on_on_another_engine(tmp_path):
    sim = make("cpu", varying())
    sim.step(9)
    sim.save(tmp_path / "run.h5")
    again = unda.load(tmp_path / "run.h5", device="cuda")
    sim.step(5)
    again.step(5)
    assert np.array_equal(again.get("p"), sim.get("p"))


@pytest.mark.parametrize("name", ["p", "p_previous", "material"])
def test_a_damaged_file_is_refused_by_entry(tmp_path, name):
    sim = make("cpu", varying())
    sim.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        data = file[name][1:]
        del file[name]
        file[name] = data
    with open(tmp_path / "run.h5", "r+b", buffering=0) as raw:
        seal(raw)
    with pytest.raises(unda.FileError, match=name):
        unda.load(tmp_path / "run.h5")
