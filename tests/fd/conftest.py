"""What tests of slabs share. Next: test_slabs_cuda.py, test_diamond_slabs.py."""

import pytest
import unda


@pytest.fixture
def devices(monkeypatch):
    """Names of five slabs' devices: two that take turns, where there are two."""
    monkeypatch.setenv("UNDA_EMULATOR_DEVICES", "2")
    num = unda.limits.num_devices()
    return [f"cuda:{i % min(num, 2)}" for i in range(5)]
