"""Products by a warp on tensor cores (cuda/common/mma.h): fragments, depths, FP16.

All numbers, products and sums are exact, so that a wrong lane or register shows and rounding does not.
"""

import shutil
from pathlib import Path

import cuda_device
import gpu_host
import pytest
import stand_in_driver

REAL = cuda_device.prepare()


@pytest.mark.gpu_or_stand_in
def test_a_warp_multiplies_small_matrices(tmp_path):
    shutil.copytree(Path(__file__).resolve().parents[2] / "cuda" / "common", tmp_path / "common")
    shutil.copy(gpu_host.TESTS / "c" / "kernels" / "mma.cu", tmp_path)
    libraries = {"UNDA_LIBCUDA": "", "UNDA_LIBNVRTC": stand_in_driver.real_nvrtc() or ""} if REAL else {}
    found = gpu_host.run("products", kernels=tmp_path, cache=tmp_path / "cache", **libraries)
    assert found["wrong"] == "0"
    assert [found[f"half{i}"] for i in range(8)] == ["1"] * 8
