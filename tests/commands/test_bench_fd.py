"""``unda bench fd`` times the staggered schemes, a paper's case and a paper's figures as it says.

Not here: the scalar case, other benchmarks (test_command_line.py).
"""

import argparse
import json
from fractions import Fraction
from functools import partial

import cuda_device
import numpy as np
import pytest
import unda
from unda.__main__ import main
from unda.commands import bench_fd, bench_fd_papers, fd_case
from unda.commands.bench_fd_papers import tile_words
from unda.method.stepping import Stepping

REAL = cuda_device.prepare()
LIMITS = unda.device_limits
pytestmark = pytest.mark.usefixtures("limits_once")
FIELDS = {"acoustic": 4, "elastic": 9, "maxwell": 6}
VARYING = {"constant": 0, "rho c": 2, "rho vp vs": 3, "eps": 1, "eps mu sigma": 3}


def bench(folder, *words, seconds="0.001"):
    path = folder / "result.json"
    assert main(["bench", "fd", *words, "--seconds", seconds, "-o", str(path)]) == 0
    result = json.loads(path.read_text())
    for key in ("device", "driver", "date", "commit", "limits"):
        assert key in result
    assert path.with_suffix(".png").stat().st_size > 5000
    return result["rows"]


@pytest.mark.parametrize(
    "device, physics",
    [pytest.param("cpu", p, marks=[pytest.mark.slow] * (p != "elastic")) for p in FIELDS]
    + [
        pytest.param("cuda", physics, marks=[pytest.mark.gpu_or_stand_in, pytest.mark.slow])
        for physics in FIELDS
    ],
)
def test_staggered_schemes_have_a_row_for_each_medium_and_layer(tmp_path, device, physics):
    media = "constant,variable" if device == "cpu" else "variable"  # the stand-in takes its time
    rows = bench(
        tmp_path, "--scheme", "staggered", "--physics", physics, "--orders", "4", "--shape", "12,13,14",
        "--c", media, "--layers", "0,3", "--device", device,
    )  # fmt: skip
    kinds = {(row["physics"], row["varies"], row["layers"]) for row in rows}
    assert len(kinds) == len(rows) == 2 * ((device == "cpu") + len(fd_case.MEDIA[physics]))
    for row in rows:
        assert row["gcell_per_second"] == pytest.approx(12 * 13 * 14 / (row["ms"] * 1e6))
        # each field is written once, read in both passes; so are materials that vary
        words = 3 * FIELDS[row["physics"]] + VARYING[row["varies"]]
        if (row["physics"], row["varies"], row["layers"]) == ("elastic", "constant", 3):
            words += 1  # lambda is another on the free top
        assert row["bytes_per_cell"] == 4 * words
        assert row["padded"] == ([18, 19, 17] if row["layers"] else row["shape"])


@pytest.mark.parametrize("layer", ["CPML", "Damping"])
def test_a_row_says_what_its_layers_are(tmp_path, monkeypatch, layer):
    made = []
    take = fd_case.simulation
    monkeypatch.setattr(fd_case, "simulation", lambda *a, **k: made.append(take(*a, **k)) or made[-1])
    words = "--orders", "2", "--shape", "7,8,9", "--layers", "0,3", "--device", "cpu", "--layer", layer
    none, some = bench(tmp_path, *words, seconds="0.01")
    assert "layer" not in none and some["layer"] == layer
    sides = [sim.config["boundary"]["ymin"] for sim in made]
    assert sides[0] == "rigid" and sides[1]["width"] == 3 and ("kappa" in sides[1]) == (layer == "CPML")


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("word", "rows"),
    [*(pytest.param(*one, marks=pytest.mark.slow) for one in (("3", 3), ("auto", None))), ("none", None)],
)
def test_a_row_says_what_window_there_was(tmp_path, monkeypatch, word, rows):
    few = partial(fd_case.measure, options={"levels": 8}, receivers=2)  # the stand-in takes its time
    monkeypatch.setattr(bench_fd, "measure", few)
    (row,) = bench(
        tmp_path, "--orders", "4", "--shape", "4,17,9", "--device", "cuda", "--window", word
    )  # fmt: skip
    assert row["window"] == rows and row["kernel_options"].get("levels", 0) == (8 if rows else 0)
    state = 2 * 4 * 4 * 17 * 32  # two levels, rows of 128 bytes
    assert (row["host_bytes"] if rows else row["device_bytes"]) >= state > 4 * 17 * 9


@pytest.mark.parametrize("physics", fd_case.MEDIA)
def test_the_case_has_a_state_a_source_and_receivers(physics):
    case = {"physics": physics, "order": 4, "dtype": "float64", "varies": fd_case.MEDIA[physics][-1],
            "layers": 3, "kernel": "step"}  # fmt: skip
    with fd_case.simulation((14, 15, 16), case, "cpu", receivers=7) as sim:
        (rec,) = sim.receivers
        sim.step(8)
        assert len(rec.t) == 3 and len(rec.points) == 7
        assert all(abs(rec[name]).max() > 0 for name in rec.fields)


def test_the_paper_counts_its_layers_among_the_cells(tmp_path):
    rows = bench(tmp_path, "--case", "komatitsch2010", "--shape", "36,34,20", "--threads", "2", "--device",
                 "cpu", seconds="0.01")  # fmt: skip
    assert [(row["where"], row["layers"]) for row in rows] == [
        ("cpu, 1", 10), ("cpu, 2", 10), ("cpu, 1", 16), ("cpu, 2", 16)
    ]  # fmt: skip
    for row in rows:
        assert row["padded"] == [36, 34, 20]
        assert row["gcell_per_second"] == pytest.approx(36 * 34 * 20 / row["ms"] / 1e6)
        assert row["paper_gpu_over_one_core"] == {10: 44, 16: 55}[row["layers"]]
    for one, other in (rows[:2], rows[2:]):
        assert one["over_one_core"] == 1
        assert other["over_one_core"] == pytest.approx(one["ms"] / other["ms"])
    assert bench_fd_papers._CELLS == (384, 328, 52)


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_the_paper_is_timed_on_the_device_too(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_fd_papers, "_PAPER", {2: 44.0, 3: 55.0})  # the stand-in takes its time
    rows = bench(tmp_path, "--case", "komatitsch2010", "--shape", "14,13,10", "--threads", "1", "--device",
                 "cuda")  # fmt: skip
    assert [row["layers"] for row in rows] == [2, 2, 3, 3]
    assert [row["device"] for row in rows] == ["cpu", "cuda", "cpu", "cuda"]


def walked(order, dts, step):
    """Words a cell of a tile that walks M columns along y a step, by counting the cells of its rows."""
    half = order // 2
    rows = [2 * step * (dts - abs(j // step - (dts - 1))) for j in range(step * (2 * dts - 1))]
    beside = [max(rows[: half - i] or rows) if half - i <= len(rows) else max(rows) for i in range(half)]
    moved = sum(4 * half for _ in rows) + 2 * sum(beside)
    return Fraction(moved, sum(rows))


@pytest.mark.parametrize(("order", "step"), [(2, 1), (4, 1), (4, 2), (6, 3), (8, 2), (8, 4)])
def test_intensity_is_that_of_the_cells_of_a_tile(order, step):
    for dts in range(2, 9):
        assert tile_words(order, dts, step) == pytest.approx(float(walked(order, dts, step)))
    # far below the three words of a step of the whole grid, and as 1 / DTS
    assert tile_words(order, 64, step) == pytest.approx(tile_words(order, 32, step) / 2, rel=0.03)


@pytest.mark.gpu_or_stand_in
@pytest.mark.slow
@pytest.mark.parametrize("figure", [7, 11])
def test_figures_of_tiles_lie_on_the_roofline_of_the_device(tmp_path, figure):
    rows = bench(tmp_path, "--figure", str(figure), "--orders", "2", "--dts", "1,2", "--shape", "20,21,12",
                 "--device", "cuda")  # fmt: skip
    assert [(row["kernel"], row["dts"]) for row in rows] == [("step", 1), ("diamond", 2)]
    assert [row["words_per_cell"] for row in rows] == pytest.approx([3, 2])
    for row in rows:
        assert row["kernel_options"].get("dts", 0) == (row["dts"] if row["dts"] > 1 else 0)
        assert row["flops_per_byte"] == pytest.approx(row["flops_per_cell"] / 4 / row["words_per_cell"])
        share = row["gflops"] / row["roofline_gflops"]
        assert row["percent_of_roofline"] == pytest.approx(100 * share)


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_a_tile_without_room_ends_its_order(tmp_path):
    rows = bench(tmp_path, "--figure", "7", "--dts", "2,64,3", "--shape", "20,21,12", "--device", "cuda")
    assert [row["dts"] for row in rows] == [2]


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_the_figure_of_scaling_occupies_more_and_more_multiprocessors(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_fd_papers, "_LEVELS", 4)
    rows = bench(tmp_path, "--figure", "10", "--orders", "4", "--shape", "20,21,12", "--device", "cuda")
    sms = [row["sms"] for row in rows]
    assert sms[0] == 1 and len(sms) >= 2 and sms == sorted(set(sms))
    assert [row["ideal"] for row in rows] == sms
    for row in rows:
        assert row["speedup"] == pytest.approx(rows[0]["ms"] / row["ms"])


def test_the_figure_of_scaling_has_a_tower_for_each_multiprocessor():
    """Of an H200: 132, as wide as the table's tiles."""
    parser = argparse.ArgumentParser()
    bench_fd.arguments(parser)
    found = list(bench_fd_papers.jobs(parser.parse_args(["--figure", "10"])))
    assert [case["order"] for _, case, _ in found] == [2, 4, 6, 8]
    for shape, case, _ in found:
        width = 14 if case["order"] == 2 else 12  # 2 DTS STEP cells
        assert 131 * width < shape[0] <= 132 * width


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--figure 7", "needs a CUDA device"),
        ("--figure 7 --case komatitsch2010", "not both"),
        ("--case komatitsch2010 --shape 20,40,40", "more cells"),
        ("--scheme staggered --kernels diamond", "no others"),
        ("--physics elastic", "--physics is elastic, expected with --scheme staggered only"),
        ("--layer Damping", "--layer is Damping, expected with --layers only"),
        ("--scheme staggered --layers 3 --layer Damping", "layer is Damping, expected CPML"),
        ("--dts 1,2", "--dts is 1,2, expected with --figure 7 or 11 only"),
        ("--case komatitsch2010 --layers 5", "--layers is 5, expected without --case and --figure only"),
        (
            "--figure 10 --scheme staggered",
            "--scheme is staggered, expected without --case and --figure only",
        ),
        ("--case komatitsch2010 --orders 4", "--orders is 4, expected without --case only"),
        ("--shape 20,20", "expected nx,ny,nz"),
    ],
)
def test_what_cannot_be_timed_is_refused(words, message, capsys):
    assert main(["bench", "fd", "--device", "cpu", *words.split()]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_what_is_timed_are_whole_launches(tmp_path, monkeypatch):
    called = []
    take = Stepping.advance
    monkeypatch.setattr(Stepping, "advance", lambda run, n, *ahead: (called.append(n), take(run, n, *ahead)))
    few = partial(fd_case.measure, options={"levels": 6, "fewest": 2}, receivers=2)
    monkeypatch.setattr(bench_fd, "measure", few)
    (row,) = bench(
        tmp_path, "--orders", "2", "--shape", "20,21,12", "--kernels", "diamond", "--device", "cuda",
        seconds="0.3",
    )  # fmt: skip
    assert row["steps"] % 6 == 0 and [n for n in called if n % 6] == []
    assert row["gcell_per_second"] == pytest.approx(20 * 21 * 12 / (row["ms"] * 1e6))


@pytest.mark.gpu_or_stand_in
def test_chunks_are_whole_launches_where_samples_leave_room_for_some(monkeypatch):
    case = {"physics": "scalar", "order": 2, "dtype": "float32", "varies": "constant", "layers": 0,
            "kernel": "diamond"}  # fmt: skip
    options = {"levels": 6, "dts": 2, "step": 1}
    with fd_case.simulation((20, 21, 12), case, "cuda", options=options, receivers=2) as sim:
        sim._stepping.rate = 1e9
        for room, chunk in ((20, 18), (18, 18), (5, 5), (7, 6)):
            monkeypatch.setattr(sim._stepping, "room", lambda room=room: room)
            assert sim._stepping.chunk(1000) == chunk
        assert sim._stepping.chunk(3) == 3  # the end of a call


def test_a_shape_of_one_number_is_a_cube_and_diamonds_have_their_own(tmp_path):
    (row,) = bench(tmp_path, "--orders", "2", "--shape", "12", "--device", "cpu")
    assert row["shape"] == [12, 12, 12]
    args = argparse.Namespace(shape=None, scheme="scalar")
    for order, shape in fd_case.DIAMOND_SHAPES.items():
        case = {"kernel": "diamond", "order": order, "layers": 0}
        assert bench_fd._shape(args, "cuda:0", case) == shape
        inside = bench_fd._shape(args, "cuda:0", case | {"layers": 20})
        layers = {"zmax": "free", "*": unda.Damping(20)}
        sim = unda.FD.forecast(unda.Grid(inside, 1.0), unda.Acoustic(rho=1.0, c=1.0), boundary=layers,
                               device="cpu")  # fmt: skip
        walls = unda.FD.forecast(unda.Grid(shape, 1.0), unda.Acoustic(rho=1.0, c=1.0), device="cpu",
                                 boundary={"*": "rigid"})  # fmt: skip
        assert sim == walls  # as many nodes along each axis, with their layers
        assert np.prod(shape) == pytest.approx(1.6e9, rel=0.02)
    assert bench_fd._shape(args, "cuda:0", {"kernel": "step", "order": 2, "layers": 20}) == (1152, 1152, 1152)


@pytest.mark.slow
def test_rows_are_added_to_a_result_of_the_same_machine_alone(tmp_path, capsys):
    words = ("--shape", "12", "--device", "cpu")
    bench(tmp_path, "--orders", "2", *words)
    rows = bench(tmp_path, "--orders", "4", *words, "--append")
    assert [row["order"] for row in rows] == [2, 4]
    rows = bench(tmp_path, "--orders", "6", *words)
    assert [row["order"] for row in rows] == [6]
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace('"device": "', '"device": "another ', 1))
    assert main(["bench", "fd", "--orders", "4", *words, "--append", "-o", str(path)]) == 2
    assert "to append to it" in capsys.readouterr().err


def test_what_is_done_stays_when_a_row_fails(tmp_path, monkeypatch):
    def fails(shape, case, **keywords):
        if case["order"] == 6:
            raise unda.DeviceError("lost")
        return fd_case.measure(shape, case, **keywords)

    monkeypatch.setattr(bench_fd, "measure", fails)
    path = tmp_path / "result.json"
    command = ["bench", "fd", "--orders", "2,4,6,8", "--shape", "12", "--device", "cpu", "--seconds", "0.001"]
    assert main([*command, "-o", str(path)]) == 2
    assert [row["order"] for row in json.loads(path.read_text())["rows"]] == [2, 4]


def test_a_result_is_drawn_again(tmp_path):
    bench(tmp_path, "--orders", "2,4", "--shape", "12", "--device", "cpu")
    png = tmp_path / "result.png"
    png.unlink()
    assert main(["bench", "fd", "--draw", str(tmp_path / "result.json")]) == 0
    assert png.stat().st_size > 5000


def test_the_rows_of_figure_11_make_figure_7_too(tmp_path):
    row = {"order": 2, "dts": 1, "kernel": "step", "gcell_per_second": 325.0, "gflops": 3577.0,
           "flops_per_byte": 0.9, "roofline_gflops": 3600.0, "flops_per_cell": 11}  # fmt: skip
    rows = [row, {**row, "dts": 7, "kernel": "diamond", "gcell_per_second": 989.0, "flops_per_byte": 4.8}]
    path = tmp_path / "eleven.json"
    limits = {"copy": 4e12, "fma32": 6e13}
    path.write_text(json.dumps({"case": "figure11", "device": "a device", "limits": limits, "rows": rows}))
    assert main(["bench", "fd", "--draw", str(path)]) == 0
    assert main(["bench", "fd", "--draw", str(path), "--figure", "7", "-o", str(tmp_path / "seven")]) == 0
    pictures = [(tmp_path / name).read_bytes() for name in ("eleven.png", "seven.png")]
    assert pictures[0] != pictures[1] and min(map(len, pictures)) > 5000


@pytest.mark.gpu_or_stand_in
def test_kernels_are_compiled_again_and_stated_again(tmp_path, monkeypatch):
    """NVRTC has a cache of its own from 12.9 on, and states no registers of what is in it."""
    monkeypatch.setenv("UNDA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UNDA_EMULATOR_NVRTC_CACHE", str(tmp_path / "nvrtc"))
    for _ in range(2):
        command = ["--device", "cuda", "--orders", "2", "--shape", "20,21,12", "--kernels", "step"]
        assert main(["bench", "fd", *command, "--compile"]) == 0


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("words", "before", "more"),  # more: of points and limits; diamonds also step
    [
        ("--kernels step", 1, 2),
        pytest.param("--kernels diamond --layers 3", 1, 3, marks=pytest.mark.slow),
        pytest.param("--kernels diamond --layers 3 --layer Damping", 1, 3, marks=pytest.mark.slow),
        pytest.param("--kernels step,diamond --c variable", 2, 2, marks=pytest.mark.slow),
        pytest.param("--scheme staggered --physics elastic --layers 3 --c variable", 1, 2,
                     marks=pytest.mark.slow),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_kernels_compiled_before_are_those_that_rows_take(tmp_path, monkeypatch, words, before, more):
    kernels = tmp_path / "kernels"
    monkeypatch.setenv("UNDA_CACHE_DIR", str(kernels))
    command = ["--device", "cuda", "--orders", "2", "--shape", "20,21,12", *words.split()]
    assert main(["bench", "fd", *command, "--compile"]) == 0
    assert len(list(kernels.iterdir())) == before
    few = {"receivers": 2, "options": {"levels": 8} if "diamond" in words else {}}
    monkeypatch.setattr(bench_fd, "measure", partial(fd_case.measure, **few))
    monkeypatch.setattr(bench_fd, "device_limits", LIMITS)  # whose kernels count
    assert len(bench(tmp_path, *command)) == before
    assert len(list(kernels.iterdir())) == before + more
