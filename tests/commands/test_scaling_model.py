"""The model of scaling: what it says by hand, what it is measured from, and the table of docs/scaling.md."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cuda_device
import numpy as np
import pytest
from unda.__main__ import main
from unda.commands import bench_scaling
from unda.commands.scaling_model import Link, Surface, beside, blocks, on_paper, stage_seconds, surface
from unda.errors import ArgumentError
from unda.limits import link_limits, reaches

cuda_device.prepare()
ROOT = Path(__file__).resolve().parents[2]
RESULTS = [str(ROOT / f"benchmarks/results/h200_scaling_{size}.json") for size in ("4M", "16M", "64M")]
LINK = Link(bandwidth=1e9, latency=1e-5)


def test_a_message_costs_what_is_not_hidden_behind_cells_inside():
    assert stage_seconds(1e-3, 0.1, 8e5, LINK) == 1e-3  # 0.81 ms of 0.9
    assert stage_seconds(1e-3, 0.1, 1e6, LINK) == pytest.approx(1.11e-3)
    assert stage_seconds(1e-3, 0.1, 1e6, LINK, messages=2) == pytest.approx(1.12e-3)
    assert stage_seconds(1e-3, 1.0, 0, LINK) == pytest.approx(1.01e-3)  # nothing to hide behind


def test_a_measured_row_is_compared_with_its_share_of_one_device():
    one = {"num_elem": 1000, "ms": 2.0, "stages": 2}
    row = {"num_elem": 1000, "devices": 2, "border": 0.5, "most_bytes": 490_000, "messages": 1}
    # a stage of half the cells: 0.5 ms, half of it inside; the message takes 0.5 ms
    assert beside(one, row, LINK) == pytest.approx(100 * 0.5 / 0.75)
    assert beside(one, row | {"num_elem": 2000}, LINK) == pytest.approx(100.0)  # inside takes as long


def test_rates_of_several_devices_are_compared_with_the_slowest_one_alone():
    """Equal parts wait for it: of devices of 10 and 8, together 15.2 are 95 % of what can be."""
    state = np.zeros(3)
    alone = [{"split": "one", "rate": rate, "devices": 1, "state": state} for rate in (10.0, 8.0)]
    weak = {"split": "weak", "rate": 15.2, "devices": 2, "state": state}
    found = [bench_scaling._finished(row, alone, None, {})["efficiency"] for row in (*alone, weak)]
    assert found == pytest.approx([125.0, 100.0, 95.0])
    strong = weak | {"split": "strong", "state": state + 1e-3}
    assert bench_scaling._finished(strong, alone, None, {})["same_bits"] == "off by 1e-03"


def rows_of(cells, begin=1e-5, each=1e-8):
    """What two devices with this surface would have: 100 bytes and 2 cells for an area of one."""
    ms = 1e3 * (begin + each * cells)
    one = {"case": "hex7", "split": "one", "devices": 1, "num_elem": cells, "ms": ms, "stages": 1}
    area = cells ** (2 / 3)
    return one, one | {
        "split": "strong", "devices": 2, "megabytes": 2e-6 * 100 * area, "border": 2 * area / (cells / 2)
    }  # fmt: skip


def test_the_surface_of_a_case_is_found_again_from_its_rows():
    rows = [row for cells in (1_000, 8_000, 64_000) for row in rows_of(cells)]
    assert surface(rows, "acoustic") == pytest.approx(Surface(1e-5, 1e-8, 100, 2))
    with pytest.raises(ArgumentError, match="one device and of two"):
        surface(rows[:1], "acoustic")
    # one size says nothing of what a stage begins with
    assert surface(rows[:2], "acoustic")[:2] == pytest.approx((0, 2e-8))


def test_parts_are_blocks_of_a_cube_and_slabs_of_a_grid():
    assert blocks(8) == (2, 2, 2) and blocks(1024) == (16, 8, 8) and blocks(6) == (3, 2, 1)
    of = Surface(0.0, 1e-6, 1e3, 0.0)
    # 8 parts of 20^3 cells: 8 ms, 3 cuts of 400 x 1000 bytes; 27 parts: 6 cuts
    slow = Link(bandwidth=1e8, latency=0.0)
    assert on_paper("hex7", of, 8 * 8000, 8, slow, weak=False) == pytest.approx(100 * 8 / 12)
    assert on_paper("hex7", of, 8000, 27, slow, weak=True) == pytest.approx(100 * 8 / 24)
    # slabs: two cuts of the whole cross-section; of 40 planes there are none with 6 for each of 8
    assert on_paper("scalar4", of, 8000, 27, slow, weak=True) == pytest.approx(100.0)
    assert on_paper("scalar4", of, 64000, 4, slow, weak=False) == pytest.approx(100 * 16 / 32)
    assert on_paper("scalar4", of, 64000, 8, slow, weak=False) is None


def test_the_table_of_the_documentation_is_what_the_command_prints(capsys):
    assert main(["bench", "scaling", "--model", *RESULTS]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 13
    assert printed in (ROOT / "docs/scaling.md").read_text()
    assert main(["bench", "scaling", "--model", *RESULTS, "--links", "50:40"]) == 0
    assert capsys.readouterr().out not in (ROOT / "docs/scaling.md").read_text()


def test_other_results_are_refused(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"benchmark": "fd", "rows": []}))
    assert main(["bench", "scaling", "--model", str(path)]) != 0
    assert "has benchmark 'fd', expected a result of unda bench scaling" in capsys.readouterr().err
    assert main(["bench", "scaling", "--numbers", "2,4"]) != 0
    assert "with --model only" in capsys.readouterr().err


@pytest.mark.gpu_or_stand_in
def test_the_way_between_devices_is_measured_by_either_transport():
    for transport in ("peer", "host"):
        found = link_limits("cuda:0", "cuda:0", transport)
        assert found["transport"] == transport
        assert 0 < found["latency"] < 1 and 0 < found["bandwidth"] < 1e14
    assert reaches("cuda:0", "cuda:0")
    with pytest.raises(ArgumentError, match="transport is 'mail'"):
        link_limits("cuda:0", "cuda:0", "mail")


@pytest.mark.gpu_or_stand_in
@pytest.mark.skipif(cuda_device.is_real(), reason="devices of the stand-in")
@pytest.mark.parametrize("reached", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_devices_that_do_not_reach_each_other_send_through_the_host(reached):
    code = """
from unda.__main__ import main
from unda.commands import bench_scaling
from unda.errors import DeviceError
from unda.limits import link_limits, reaches
reached = reaches("cuda:0", "cuda:1")
print(reached, link_limits("cuda:0", "cuda:1")["transport"])
main(["info"])
try:
    reached or link_limits("cuda:0", "cuda:1", "peer")
except DeviceError as error:
    print(error)
"""
    environment = {"UNDA_EMULATOR_DEVICES": "2", "UNDA_EMULATOR_PEER": str(int(reached))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | environment, check=True, capture_output=True, text=True)
    first, *info, last = done.stdout.splitlines()
    assert first == ("True peer" if reached else "False host")
    assert ("expected host or auto" in last) is not reached
    assert f"         reaches the memory of {'cuda:1' if reached else 'no other device'}" in info
    assert any("cuda:1" in line and " GB free" in line for line in info)
