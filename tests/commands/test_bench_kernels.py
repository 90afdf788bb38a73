"""``unda bench dg --paper modave2016`` and ``klockner2009``: what is timed, counted, chosen and said."""

import contextlib
import ctypes
import json
import math
import os
import sys
from types import SimpleNamespace

import cuda_device
import pytest
from unda.__main__ import main
from unda.commands import bench_dg, dg_case, hit_rates, klockner_search
from unda.commands import bench_dg_klockner as klockner
from unda.commands import bench_dg_modave as modave

REAL = cuda_device.prepare()
LIMITS = {"copy": 3e12, "fma32": 60e12, "fma64": 30e12}
PART = {
    "ms": 1.0, "flops": 4e9, "bytes": 2e9, "flops_per_byte": 2.0, "gflops": 4000.0,
    "gbytes_per_second": 2000.0,
    "roofline_gflops": 6000.0, "percent_of_roofline": 66.7, "registers": 40, "spill_bytes": 0,
    "shared_bytes": 1024,
    "threads": 256, "blocks": 6, "occupancy": 0.75,
}  # fmt: skip


def stand_for_a_device(monkeypatch, module):
    """Let the command run without one; its measurements are the test's, its pictures are not drawn."""
    monkeypatch.setattr(bench_dg, "choose_device", lambda device: "cuda:0")
    monkeypatch.setattr(module, "cuda_device", lambda args: "cpu")
    monkeypatch.setattr(module, "device_limits", lambda device: LIMITS)
    monkeypatch.setattr(module, "tet_box", lambda nodes, degree: SimpleNamespace(num_elem=6))
    how = {
        figure: (rows, columns, lambda path, result: None)
        for figure, (rows, columns, _) in module.HOW.items()
    }
    monkeypatch.setattr(module, "HOW", how)


def bench(tmp_path, paper, *words):
    assert (
        main(["bench", "dg", "--paper", paper, "--quick", "-o", str(tmp_path / "FIGURE.json"), *words]) == 0
    )


def read(tmp_path, figure):
    return json.loads((tmp_path / f"{figure}.json").read_text())


# ---- Modave, St-Cyr & Warburton


def timed_row(physics, case, ns, peak):
    parts = {"dg_volume": PART, "dg_update": PART, "dg_surface": {**PART, "registers": 33}}
    return {
        **case, "physics": physics, "num_elem": 10, "num_node": 4, "ms": 1.0, "ns_per_node": ns,
        "gdof_per_second": 5.0, "percent_of_limit": 20.0, "net_gflops": 100.0, "percent_of_peak": peak,
        "functions": parts,
    }  # fmt: skip


def test_net_throughput_and_occupancy_stand_beside_the_paper_s():
    rows = [
        timed_row(physics, {"kernel": kernel, "degree": degree}, 5 - degree, peak * degree)
        for physics in ("acoustic", "elastic") for kernel,
        peak in (("node", 2.0), ("fused", 4.0)) for degree in (1, 3)
    ]  # fmt: skip
    table = {(row["kernel"], row["physics"]): row for row in modave.net(rows)}
    assert [table["node", "acoustic"][key] for key in ("degree", "here", "paper", "least_at",
        "paper_least_at")] == [ 3, 6.0, 21.7, 3, 3,
    ]  # fmt: skip
    assert table["node", "elastic"]["paper"] == 33.0 and table["fused", "elastic"]["paper"] is None
    parts = {
        (row["kernel"], row["physics"], row["degree"], row["function"]): row for row in modave.functions(rows)
    }
    one = parts["node", "acoustic", 3, "volume"]
    assert (one["registers"], one["paper_registers"], one["percent_occupied"], one["paper_occupied"]) == (
        40,
        37,
        75,
        61,
    )
    assert one["ns_per_node"] == pytest.approx(1e6 / 40)
    assert parts["node", "elastic", 3, "volume"]["paper_registers"] is None  # its table is of acoustic waves
    assert parts["node", "acoustic", 3, "surface"]["registers"] == 33


def test_what_the_text_states_stands_beside_what_is_so():
    rows = [
        timed_row(physics, {"kernel": "node", "degree": degree}, ns, 1.0)
        for physics, times in (("acoustic", (1.0, 2.0, 4.0)), ("elastic", (2.0, 5.0, 8.0)))
        for degree, ns in zip((3, 6, 7), times, strict=True)
    ]  # fmt: skip
    rows[1]["functions"]["dg_volume"] = {**PART, "percent_of_roofline": 30.0}
    found = {row["what"]: (row["here"], row["paper"]) for row in modave.stated(rows)}
    assert found == {
        "node, volume: % of the roof from N = 6 on": ("30 to 66.7", "about 23"),
        "node, surface: % of the roof from N = 6 on": ("66.7", "about 30"),
        "node, update: % of the roof from N = 6 on": ("66.7", "about 70"),
        "node: elastic over acoustic time": ("2 to 2.5", "1.8 to 2.25"),
    }
    table3 = [{"product": "gradient", "degree": 8, "gflops": 15000.0}]
    assert modave.stated_products(table3, LIMITS) == [
        {"what": "gradient, N = 8: % of the peak", "here": "25", "paper": "about 65"}
    ]


@pytest.mark.parametrize("degree", range(1, 9))
def test_products_have_the_dimensions_of_the_paper_s_table_3(degree):
    node, face, cells = math.comb(degree + 3, 3), math.comb(degree + 2, 2), 100
    rows = (node + 1, 3 * node + 2)
    gradient, divergence, lift = modave.products(degree, cells, rows)
    assert (gradient["m"], gradient["n"], gradient["k"], gradient["ldc"]) == (rows[1], cells, node, rows[1])
    assert (divergence["m"], divergence["k"], divergence["ldb"]) == (rows[0], 3 * node, rows[1])
    assert (lift["m"], lift["n"], lift["k"], lift["ldb"]) == (rows[0], 4 * cells, 4 * face, 4 * face)
    assert gradient["flops"] == 2 * 3 * node * cells * (node + 1)  # section 4.2, without padding
    assert gradient["bytes"] == 4 * (3 * node * node + cells * node + 2 * 3 * node * cells)
    tried = [modave._rows(degree, pad) for pad in modave._PADS]
    assert modave.PADDED[degree][0] in [one[0] for one in tried]
    assert modave.PADDED[degree][1] in [one[1] for one in tried]


def padded_row(pad, gradient, divergence, lift):
    rows = modave._rows(1, pad)
    times = {"gradient_us": gradient, "divergence_us": divergence, "lift_us": lift}
    table = [{**one, "us": times[f"{one['product']}_us"]} for one in modave.products(1, 10, rows)]
    return {"degree": 1, "pad": pad, "rows": rows[0], "gradient_rows": rows[1], **times, "products": table}


def test_each_product_takes_the_rows_that_suit_it():
    found = [padded_row(1, 6.0, 4.0, 5.0), padded_row(8, 4.0, 3.5, 8.0), padded_row(16, 5.0, 2.0, 4.0)]
    table3, (table4,) = modave.padding(found)
    assert (table4["gradient_rows"], table4["gradient_gain"]) == (16, 1.5)  # 12 rows to a multiple of 8
    assert (table4["rows"], table4["gain"]) == (16, 1.5)
    assert (table4["paper_rows"], table4["paper_gradient_rows"]) == (4, 16)
    assert [(one["product"], one["m"], one["us"]) for one in table3] == [
        ("gradient", 16, 4.0), ("divergence", 16, 2.0), ("lift", 16, 4.0),
    ]  # fmt: skip


def test_rows_before_an_interruption_are_kept_and_the_rest_may_follow(tmp_path, monkeypatch, capsys):
    stand_for_a_device(monkeypatch, modave)
    allowed = [2]

    def timed_steps(mesh, physics, case, **keywords):
        if not allowed[0]:
            raise KeyboardInterrupt
        allowed[0] -= 1
        return timed_row(physics, case, 1.0, 7.0)

    monkeypatch.setattr(modave, "timed_steps", timed_steps)
    with pytest.raises(KeyboardInterrupt):
        bench(tmp_path, "modave2016", "--figures", "kernels", "--kernels", "node,gemm,fused")
    assert [row["kernel"] for row in read(tmp_path, "kernels")["rows"]] == ["node", "gemm"]
    allowed[0] = 9
    bench(tmp_path, "modave2016", "--figures", "kernels", "--kernels", "fused", "--append")
    result = read(tmp_path, "kernels")
    assert [row["kernel"] for row in result["rows"]] == ["node", "gemm", "fused", "fused"]
    assert [(row["kernel"], row["paper"]) for row in result["net"] if row["physics"] == "acoustic"] == [
        ("node", 21.7), ("gemm", 31.4), ("fused", None),
    ]  # fmt: skip
    text = capsys.readouterr().out
    assert "net % of peak" in text and "31.4" in text and "table 5" in text


FAKE_NCU = """#!{python}
import json, sys
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
assert value("--kernel-name") == "regex:^dg_" and value("--profile-from-start") == "off"
assert words[-3:-1] == ["-m", "unda.commands.hit_rates"]
counters, given = value("--metrics").split(","), json.load(open(words[-1]))
lines = ["==PROF== Connected", ",".join(f'"{{one}}"' for one in ["ID", "Kernel Name", *counters])]
lines.append(",".join('""' for _ in range(2 + len(counters))))
launch = 0
for case in given["cases"]:
    for name in case["functions"][:{most}]:
        numbers = [3 * (launch + 1), "1,200", 0, {reads}]
        lines.append(",".join(f'"{{one}}"' for one in [launch, name + "(dg_args)", *numbers]))
        launch += 1
lines += {more}
open(value("--log-file"), "w").write("\\n".join(lines))
"""


def with_ncu(tmp_path, monkeypatch, most=9, reads=50, more=()):
    """Put a profiler on the PATH that has seen what it was told, and perhaps an error."""
    file = tmp_path / "ncu"
    text = FAKE_NCU.format(python=sys.executable, most=most, reads=reads, more=list(more))
    file.write_text(text)
    file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def two_rows():
    return [timed_row("acoustic", {"kernel": "node", "degree": degree}, 1.0, 7.0) for degree in (1, 3)]


def test_hit_rates_stand_beside_the_paper_s(tmp_path, monkeypatch):
    with_ncu(tmp_path, monkeypatch)
    result = {"rows": [*two_rows(), timed_row("elastic", {"kernel": "node", "degree": 1}, 1.0, 7.0)]}
    modave.add_hits(result, "cuda:0")
    assert result["hits_from"] == "ncu" and modave.why_no_hits(result) == ""
    table = modave.functions(result["rows"])
    found = [(row["degree"], row["function"], row["l1_hit"], row["paper_hit"]) for row in table]
    assert found == [
        (1, "volume", 0.25, 76), (1, "update", 0.5, 53), (1, "surface", 0.75, 62),
        (3, "volume", 1.0, 95), (3, "update", 1.25, 53), (3, "surface", 1.5, 80),
        (1, "volume", None, None), (1, "update", None, None), (1, "surface", None, None),
    ]  # fmt: skip
    assert all(row["l2_hit"] == (0 if row["physics"] == "acoustic" else None) for row in table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"more": ["==ERROR== ERR_NVGPUCTRPERM - no permission"]}, "ncu: ERR_NVGPUCTRPERM - no permission"),
        ({"most": 2}, "ncu: it saw dg_volume, dg_update, dg_volume in a step, expected dg_volume, dg_"),
    ],
)
def test_without_hit_rates_the_table_says_why(options, message, tmp_path, monkeypatch):
    with_ncu(tmp_path, monkeypatch, **options)
    result = {"rows": two_rows()}
    modave.add_hits(result, "cuda:0")
    assert modave.why_no_hits(result).startswith(f" (no hit rates: {message}")
    assert {row["l1_hit"] for row in modave.functions(result["rows"])} == {None}
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    modave.add_hits(result, "cuda:0")
    assert "ncu, which is part of CUDA's toolkit, was not found" in modave.why_no_hits(result)
    assert "--hits measures them" in modave.why_no_hits({})


def test_a_function_without_reads_has_no_rate(tmp_path, monkeypatch):
    with_ncu(tmp_path, monkeypatch, reads=0)
    result = {"rows": two_rows()}
    modave.add_hits(result, "cuda:0")
    assert {row["l2_hit"] for row in modave.functions(result["rows"])} == {None}


@pytest.mark.gpu_or_stand_in
@pytest.mark.skipif(REAL, reason="the stand-in counts launches")
def test_the_profiler_sees_one_step_of_each_case(tmp_path, monkeypatch):
    launches, driver = [], ctypes.CDLL(os.environ["UNDA_LIBCUDA"])

    @contextlib.contextmanager
    def seen(device):
        before = driver.emu_num_launch()
        yield
        launches.append(driver.emu_num_launch() - before)

    monkeypatch.setattr(hit_rates, "_seen", seen)
    options = {"degree": 1, "dtype": "float32", "integrator": "ab3", "kernel": "node"}
    case = {"physics": "acoustic", "nodes": 24, "case": options}
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"device": "cuda:0", "cases": [case, case]}))
    hit_rates.main(path)
    other = 1  # the search for what is not finite, whose name begins otherwise
    assert launches == [3 + other] * 2


def test_the_paper_s_functions_follow_where_ours_is_one():
    row = timed_row("acoustic", {"kernel": "element", "degree": 4}, 1.0, 7.0)
    row |= {"functions": {"dg_element": {**PART, "registers": 80}}}
    found = [(one["function"], one["registers"], one["paper_registers"]) for one in modave.functions([row])]
    assert found[0] == ("element", 80, None)
    assert found[1:] == [("(volume)", None, 186), ("(surface)", None, 255), ("(update)", None, 40)]


# ---- Klöckner, Warburton, Bridge & Hesthaven


def timed_options(seconds, **options):
    words = {"km": 4, "segment": 2, "mb": 8, "flux_wp": 9, "strategy": "field", "lift_strategy": "field"}
    words |= {f"{of}{name}": 1 for of in ("", "lift_") for name in ("wp", "wi", "ws", "fields")}
    return {"options": words | options, **dict(zip(klockner_search.FUNCTIONS, seconds, strict=True))}


def test_each_part_takes_what_is_fastest_for_it_alone():
    found = [
        timed_options((3, 5, 9)),
        timed_options((2, 8, 7), mb=4, wi=2, lift_wi=2),
        timed_options((4, 4, 3), strategy="matrix", lift_strategy="matrix", ws=4),
        timed_options((4, 3, 6), strategy="matrix", lift_strategy="matrix", segment=1, ws=8),
        timed_options((1, 6, 8), km=1),
    ]
    chosen = klockner_search.best(found)
    # One segment for both products: with 2, 4 + 3; with 1, 3 + 6; the field's 5 and 7 beside either.
    assert chosen["seconds"] == 2 + 4 + 3
    assert {"km": 4, "segment": 2, "mb": 4, "strategy": "matrix", "ws": 4}.items() <= chosen[
        "options"
    ].items()
    plain = klockner_search.best(found, matrix=False)
    assert plain["seconds"] == 2 + 5 + 7 and plain["options"]["wi"] == 2
    assert klockner_search.best(found, microblocks=False)["seconds"] == 1 + 6 + 8
    assert klockner_search.best(found[:4], microblocks=False)["seconds"] == math.inf


@pytest.mark.parametrize("degree", range(1, 10))
def test_the_sizes_of_microblocks_begin_with_the_paper_s_rule(degree):
    rule, *others = klockner_search.sizes(degree)
    node = klockner_search.num_node(degree)

    def waste(km):
        return 1 - km * node / (-(-km * node // 32) * 32)

    if waste(rule) >= 0.05:  # none fits up to 512 nodes: the one that wastes the least
        assert all(waste(rule) <= waste(km) for km in range(1, 512 // node + 1))
    assert all(waste(km) >= 0.05 for km in range(1, rule))
    assert rule == 1 or others[-1] == 1
    tried = klockner_search.candidates(degree)
    assert tried[0] == {}  # the library's own, with which others are compared
    assert {one["strategy"] for one in tried[1:]} == {"field", "matrix"}
    assert {one["km"] for one in tried[1:]} == {rule, *others}


def test_orders_take_what_tuning_found_and_else_the_library_s_choice(tmp_path, monkeypatch, capsys):
    stand_for_a_device(monkeypatch, klockner)
    asked = []

    def timed_steps(mesh, physics, case, **keywords):
        asked.append(
            case["kernel_options"] if keywords["device"] == "cpu" and "threads" not in keywords else None
        )
        functions = {name: PART for name in klockner_search.FUNCTIONS}
        return {**timed_row(physics, case, 1.0, 7.0), "functions": functions, "what": None}

    monkeypatch.setattr(klockner, "timed_steps", timed_steps)
    bench(tmp_path, "klockner2009", "--figures", "orders")
    told = [one for one in asked if one is not None]
    assert told[0] == {} and {"km": 1, "strategy": "field", "lift_strategy": "field"} in told
    rows = read(tmp_path, "orders")["rows"]
    assert [row["what"] for row in rows] == [
        "one core", "all", "no matrix in shared", "no microblocks", "neither",
    ]  # fmt: skip
    assert [row["part"] for row in read(tmp_path, "orders")["parts"]] == ["gather", "lift", "local"]

    def function_seconds(mesh, case, device, tried, runs):
        yield timed_options((3, 5, 9), degree=1)
        yield timed_options((2, 8, 7), wi=2)

    monkeypatch.setattr(klockner, "function_seconds", function_seconds)
    asked.clear()
    bench(tmp_path, "klockner2009", "--figures", "tuning,orders")
    (table,) = read(tmp_path, "tuning")["table3"]
    assert (table["wi"], table["lift_wi"], table["over_default"]) == (2, 1, pytest.approx(17 / (2 + 5 + 7)))
    assert next(one for one in asked if one is not None)["wi"] == 2
    assert "table 3" in capsys.readouterr().out


# ---- both


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("modave2016 --figures 5", "figures has '5', expected some of kernels,padding"),
        (
            "klockner2009 --figures orders,8",
            "figures has '8', expected some of tuning,orders,study,size,accuracy",
        ),
        ("klockner2009 -o one.json", "expected a name with FIGURE in it"),
        ("modave2016 --physics elastic", "--physics is elastic, expected without --paper only"),
        ("klockner2009 --degrees 9,10", "degrees are [9, 10], expected some of 1 to 9"),
        ("gaps --degrees 3", "--degrees is 3, expected without --paper only"),
        ("modave2016 --configurations acoustic-upwind-float32", "expected with --paper gaps only"),
        ("klockner2009 --hits", "--hits, expected with --paper modave2016 only"),
        ("modave2016", "--paper modave2016 found no CUDA device, expected one"),
        ("klockner2009", "--paper klockner2009 found no CUDA device, expected one"),
    ],
)
def test_what_a_paper_does_not_have_is_refused(words, message, capsys):
    assert main(["bench", "dg", "--device", "cpu", "--paper", *words.split()]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.gpu_or_stand_in
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("modave2016 --kernels lines", "kernels has 'lines', expected some of element,node,gemm"),
        ("klockner2009 --kernels fused", "kernels is 'fused', expected microblock"),
    ],
)
def test_kernels_that_a_paper_does_not_have_are_refused(words, message, capsys):
    assert main(["bench", "dg", "--device", "cuda", "--paper", *words.split()]) != 0
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
def test_what_is_compiled_ahead_is_found_when_it_is_timed(tmp_path, monkeypatch):
    monkeypatch.setenv("UNDA_CACHE_DIR", str(tmp_path))
    case = {"degree": 1, "dtype": "float32", "integrator": "ab3", "kernel": "node"}
    refused = {**case, "kernel": "microblock", "kernel_options": {"wp": 32, "km": 256}}
    dg_case.compile_ahead([("acoustic", case), ("maxwell", case), ("maxwell", refused)], "cuda:0")
    made = set(tmp_path.iterdir())
    assert made
    for physics in ("acoustic", "maxwell"):
        with dg_case.simulation(dg_case.tet_box(50, 1), physics, case, "cuda:0") as sim:
            sim.step(5)
    assert set(tmp_path.iterdir()) == made
    with dg_case.simulation(dg_case.tet_box(50, 1), "elastic", case, "cuda:0"):
        assert len(set(tmp_path.iterdir())) > len(made)


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
def test_modave_s_tables_and_pictures_on_a_device(tmp_path):
    bench(tmp_path, "modave2016", "--device", "cuda", "--seconds", "0.05")
    kernels = read(tmp_path, "kernels")
    assert [(row["physics"], row["kernel"]) for row in kernels["rows"]] == [
        (physics, kernel) for physics in ("acoustic", "elastic") for kernel in modave.LADDER
    ]
    for row in kernels["rows"]:
        flops = sum(part["flops"] for part in row["functions"].values())  # a step of ab3 is a stage
        assert row["net_gflops"] == pytest.approx(flops / row["ms"] / 1e6)
        assert row["ns_per_node"] == pytest.approx(1e6 * row["ms"] / row["num_elem"] / row["num_node"])
        for name, part in row["functions"].items():
            assert ("registers" in part) == (name not in modave._PRODUCTS)
            assert part.get("occupancy", 0.5) <= 1
    padding = read(tmp_path, "padding")
    assert [row["rows"] for row in padding["rows"]] == [4, 8, 16, 32, 64, 128]
    assert len(padding["table3"]) == 3 and len(padding["table4"]) == 1
    for figure in modave.FIGURES:
        assert (tmp_path / f"{figure}.png").stat().st_size > 5000


@pytest.mark.slow
@pytest.mark.gpu_or_stand_in
@pytest.mark.usefixtures("limits_once")
def test_klockner_s_tables_and_pictures_on_a_device(tmp_path):
    bench(tmp_path, "klockner2009", "--device", "cuda", "--seconds", "0.05")
    (table,) = read(tmp_path, "tuning")["table3"]
    whole = read(tmp_path, "orders")["rows"][1]
    for name in ("km", "mb", "wp", "wi", "ws", "strategy", "lift_strategy"):
        assert whole["kernel_options"][name] == table[name]
    assert sum(row["percent_of_time"] for row in read(tmp_path, "orders")["parts"]) == pytest.approx(100)
    assert min(row["over_best"] for row in read(tmp_path, "study")["rows"]) == 1
    (row,) = read(tmp_path, "accuracy")["rows"]
    assert row["errors"][0] < row["paper_errors"][0]
    for figure in klockner.FIGURES:
        assert (tmp_path / f"{figure}.png").stat().st_size > 5000
