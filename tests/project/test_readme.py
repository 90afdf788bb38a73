"""What the documents say is so: the ten lines run, files and targets exist, the table is right.

Not here: notebooks and examples.
"""

import json
import re
import sys
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "docs")]

import results_kernels  # noqa: E402
import results_page  # noqa: E402
import results_plots  # noqa: E402

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CONVENTIONS.md", "cuda/README.md"]
DOCUMENTS += sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
README = (ROOT / "README.md").read_text()


# ---- the ten lines


def test_the_ten_lines_run_and_agree_with_the_exact_solution(tmp_path):
    matplotlib.use("Agg")
    import picture
    import unda
    from PIL import Image

    variables = picture.ten_lines()
    rec = variables["rec"]
    wall = {"zmax": "free"}
    exact = unda.exact.point_source(variables["medium"], variables["source"], walls=wall)
    twin = unda.exact.point_source(unda.Acoustic(rho=1000.0, c=1515.0), variables["source"], walls=wall)
    # At the first receiver the pulse is over before a side sends anything back.
    assert rec.misfit(exact)[0] < 0.02 < rec.misfit(twin)[0]
    picture.draw(variables, tmp_path / "picture.png")
    stored = ROOT / "docs" / "ten_lines.png"
    with Image.open(stored) as old, Image.open(tmp_path / "picture.png") as new:
        assert old.info["Source"] == new.info["Source"], "made from other code: run docs/picture.py"
        assert old.size == new.size
    assert stored.stat().st_size < 150_000


def test_the_picture_of_the_kernels_is_the_one_that_its_script_draws():
    import kernel_layouts

    assert (ROOT / "docs" / "kernel_layouts.svg").read_text(encoding="utf-8") == kernel_layouts.picture()
    for panel in kernel_layouts.PANELS:
        assert f"## {panel.__name__}" in (ROOT / "docs" / "kernels.md").read_text().replace("`", "")


def test_the_code_is_about_ten_lines():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    assert 8 <= len([line for line in code.splitlines() if line.strip()]) <= 11


# ---- what is named exists


def paths_in(text):
    """What stands in backticks and looks like a path of the checkout."""
    quoted = re.findall(r"`([^`\s]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    links = re.findall(r"\]\(([^):]+)\)", text)
    looks = re.compile(r"[\w.]+(/[\w.]*)+|[\w]+\.(md|py|toml)")
    return {q for q in quoted if looks.fullmatch(q)} | set(links)


def exists(name, document):
    """Whether a path stands at the top of the checkout or beside the document."""
    return (ROOT / name).exists() or (ROOT / document).parent.joinpath(name).exists()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_files_that_a_document_names_exist(document):
    named = {n for n in paths_in((ROOT / document).read_text()) if "NAME" not in n}
    absent = {n for n in named if not exists(n, document)}
    made = {".venv", "build/docs/html/index.html", "dist/", "gallery/index.rst"}  # by make
    assert absent <= made | {"benchmarks/results/"}
    assert not exists("csrc/nothing.c", document)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_targets_that_a_document_names_are_in_the_makefile(document):
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / document).read_text(), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets
    assert "demo" in named or document != "README.md"


def test_the_recipes_name_things_that_the_files_contain():
    """The names that a newcomer is told to touch are there to be touched."""
    places = {
        "csrc/unda.h": ["unda_physics", "unda_kernel_get", "unda_boundary", "UNDA_ABI"],
        "csrc/physics/physics.c": ["physics_table"],
        "csrc/physics/physics.h": ["MAX_FIELD"],
        "csrc/dg/cpu.c": ["dg_cpu_acoustic_f32"],
        "csrc/dg/kernels.c": ["dg_kernels"],
        "csrc/dg/kernel_fused.c": ["tiles"],
        "csrc/base/library.c": ["ENTRY(unda_limits)"],
        "python/unda/_core.py": ["_STRUCTS"],
        "python/unda/problem/boundary.py": ["_CODES"],
        "cuda/common/index.h": ["BOUNDARY_EXACT"],
        "cuda/physics/acoustic.h": ["face_coefficients", "from_reference", "lifted", "GRAD_DIV"],
        "tests/dg/test_cuda_engine.py": ["SETTINGS"],
        "tests/gpu/test_kernels_compile.py": ["SETTINGS"],
    }
    lacking = [
        (path, word)
        for path, words in places.items()
        for word in words
        if word not in (ROOT / path).read_text()
    ]
    assert lacking == []


# ---- tables and plots of measurements


def result(**more):
    row = {"degree": 3, "kernel": "fused", "dtype": "float32", "integrator": "lsrk4"}
    row |= {"gdof_per_second": 101.26, "percent_of_limit": 47.1}
    rows = [row, row | {"degree": 4, "gdof_per_second": 1077.4}]
    return {
        "physics": "acoustic",
        "device": "a device",
        "driver": "1.2",
        "date": "2026-01-02",
        "rows": rows,
    } | more


def test_the_documents_hold_the_tables_of_the_results():
    results = results_page.read_results(results_page.RESULTS)
    summary, page = results_page.summary(results), results_page.page(results_page.RESULTS)
    assert results_page.BEGIN + summary + results_page.END in README
    assert results_page.BEGIN + page + results_page.END in results_page.PAGE.read_text()
    assert results_page.table(results) in page
    assert summary.count("\n") == 2 + len(results_page.SHOWN)


def test_the_readme_is_short():
    assert README.count("\n") <= 150


def test_the_plots_are_those_of_the_results():
    from PIL import Image

    made_from = results_plots.made_from(results_page.RESULTS)
    for name in results_plots.PLOTS:
        with Image.open(ROOT / "docs" / name) as plot:
            assert plot.info["Source"] == made_from["Source"], "run benchmarks/results_plots.py"


def test_every_plot_can_be_drawn(tmp_path):
    matplotlib.use("Agg")
    results_plots.draw_all(results_page.RESULTS, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(results_plots.PLOTS)


def test_another_result_makes_another_table(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(result()))
    (tmp_path / "test_gpu.json").write_text(json.dumps({"device": "a device", "passed": 3}))
    results = results_page.read_results(tmp_path)
    assert len(results) == 1
    lines = results_page.table(results).splitlines()
    assert lines[0] == "Acoustic, a device, driver 1.2, 2026-01-02:"
    assert lines[2:] == [
        "| GDOF/s (of the limit) | N = 3 | N = 4 |",
        "|---|---|---|",
        "| lsrk4 float32 fused | 101 (47 %) | 1077 (47 %) |",
    ]
    replaced = results_page.replaced(README, results_page.table(results))
    assert "101 (47 %)" in replaced and "101 (47 %)" not in README
    assert "| DG, acoustic, N = 3, a stage | 101 GDOF/s | 47 % |" in results_page.summary(results)
    assert results_page.table([]) == results_page.summary([]) == results_page.NOTHING


def test_finite_differences_have_columns_of_orders(tmp_path):
    row = {"physics": "elastic", "order": 4, "dtype": "float32", "kernel": "step", "varies": "constant",
           "layers": 0, "gcell_per_second": 27.23, "percent_of_limit": 71.2}  # fmt: skip
    layers = row | {"varies": "rho vp vs", "layers": 10, "gcell_per_second": 19.4}
    rows = [row, row | {"order": 8}, layers, layers | {"layer": "Damping"}]
    found = {word: value for word, value in result().items() if word != "physics"}
    (tmp_path / "a.json").write_text(json.dumps(found | {"benchmark": "fd", "rows": rows}))
    lines = results_page.table(results_page.read_results(tmp_path)).splitlines()
    assert lines[0] == "Finite differences, a device, driver 1.2, 2026-01-02:"
    assert lines[2:] == [
        "| Gcell/s (of the limit) | order 4 | order 8 |",
        "|---|---|---|",
        "| elastic float32 step | 27.2 (71 %) | 27.2 (71 %) |",
        "| elastic float32 step (rho vp vs vary) CPML of 10 | 19.4 (71 %) |  |",
        "| elastic float32 step (rho vp vs vary) Damping of 10 | 19.4 (71 %) |  |",
    ]


def test_cubes_windows_and_papers_have_lines_and_tables_of_their_own(tmp_path):
    row = {"physics": "scalar", "order": 2, "dtype": "float32", "kernel": "diamond", "varies": "constant",
           "layers": 0, "shape": [758, 958, 1958], "padded": [800, 1000, 2000], "window": None,
           "gcell_per_second": 989.0, "percent_of_limit": 300.4}  # fmt: skip
    cube = row | {"shape": [1152] * 3, "gcell_per_second": 391.0, "percent_of_limit": 118.6}
    core = {"where": "cpu, 1", "layers": 10, "gcell_per_second": 0.0312, "over_one_core": 1.0}
    gpu = {"where": "cuda:0", "layers": 16, "gcell_per_second": 12.3, "over_one_core": 394.2}
    tile = {"order": 2, "dts": 7, "gcell_per_second": 989.0, "percent_of_roofline": 41.2}
    found = {word: value for word, value in result().items() if word != "physics"} | {"benchmark": "fd"}
    for name, more in {
        "a": {"rows": [row, cube, cube | {"window": 112}]},
        "b": {"rows": [core, gpu], "case": "komatitsch2010"},
        "c": {"rows": [tile], "case": "figure11"},
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(found | more))
    lines = results_page.table(results_page.read_results(tmp_path)).splitlines()
    assert [line for line in lines if line.startswith("|") and "---" not in line] == [
        "| Gcell/s (of the limit) | order 2 |",
        "| scalar float32 diamond 1.6e9 nodes | 989 (300 %) |",
        "| scalar float32 diamond 1152³ | 391 (119 %) |",
        "| scalar float32 diamond window of 112 1152³ | 391 (119 %) |",
        "| Gcell/s (over one core) | CPML of 10 | CPML of 16 |",
        "| cpu, 1 | 0.0312 (1 x) |  |",
        "| cuda:0 |  | 12.3 (394 x) |",
        "| Gcell/s (of the roofline) | DTS 7 |",
        "| order 2 | 989 (41 %) |",
    ]


def test_gaps_has_means_functions_and_a_table_of_each_figure(tmp_path):
    part = {"ms": 1.234, "percent_of_roofline": 41.2}
    row = {"configuration": "acoustic-upwind-float32", "kernel": "f1", "num_node": 512,
           "gdof_per_second": 50.1, "percent_of_limit": 30.2,
           "functions": {"dg_volume_flux": part, "dg_integration": part}}  # fmt: skip
    other = row | {
        "configuration": "elastic-central-float64",
        "kernel": "lines",
        "functions": {"dg_lines": part},
    }
    means = [{"kernel": "f1", "times": "all cores", "here": 71.23, "paper": 69.3},
             {"kernel": "lines", "times": "f1s", "here": 2.5, "paper": None}]  # fmt: skip
    found = {word: value for word, value in result().items() if word != "physics"}
    found |= {"benchmark": "dg", "paper": "gaps", "figure": "4", "cpu": "a CPU", "means": means}
    (tmp_path / "a.json").write_text(json.dumps(found | {"rows": [row, other]}))
    (tmp_path / "b.json").write_text(json.dumps(found | {"rows": [row], "figure": "5"}))
    results = results_page.read_results(tmp_path)
    assert [one["physics"] for one in results] == [f"figure {n} of Hanindhito et al. (2022)" for n in (4, 5)]
    assert results_page.table(results).splitlines()[2:6] == [
        "| GDOF/s (of the limit) | acoustic-upwind-float32 | elastic-central-float64 |",
        "|---|---|---|",
        "| f1 elements of 512 nodes | 50.1 (30 %) |  |",
        "| lines elements of 512 nodes |  | 50.1 (30 %) |",
    ]
    lines = results_page.gaps_table(tmp_path).splitlines()
    assert lines[:5] == [
        "Figure 4, a device (CPU: a CPU), 2026-01-02:",
        "",
        "| kernel | times as fast as | here | paper |",
        "|---|---|---|---|",
        "| f1 | all cores | 71.2 | 69.3 |",
    ]
    assert "| lines | f1s | 2.5 |  |" in lines
    assert "| f1, integration, 512 nodes | 1.23 (41 %) |  |" in lines
    assert "| lines, lines, 512 nodes |  | 1.23 (41 %) |" in lines
    assert results_page.gaps_table(tmp_path / "nothing") == results_page.NOTHING


def test_papers_of_kernels_have_their_tables(tmp_path):
    part = {
        "gflops": 1234.0,
        "percent_of_roofline": 41.2,
        "registers": 40,
        "occupancy": 0.5,
        "spill_bytes": 8,
    }
    row = {"physics": "acoustic", "kernel": "node", "degree": 3, "ns_per_node": 0.1234,
           "percent_of_peak": 12.3, "gdof_per_second": 50.1, "percent_of_limit": 30.2,
           "functions": {"dg_volume": part}}  # fmt: skip
    net = {"kernel": "node", "physics": "acoustic", "degree": 3, "here": 12.3, "paper": 21.7}
    found = {word: value for word, value in result().items() if word != "physics"}
    found |= {"benchmark": "dg", "paper": "modave2016", "figure": "kernels", "net": [net]}
    (tmp_path / "a.json").write_text(json.dumps(found | {"rows": [row, row | {"degree": 4}]}))
    size = [{"degree": 2, "num_elem": n, "gdof_per_second": r} for n, r in ((48, 0.5), (384, 3.25))]
    (tmp_path / "b.json").write_text(
        json.dumps(found | {"paper": "klockner2009", "figure": "size", "rows": size})
    )
    lines = results_kernels.tables(tmp_path, "modave2016", "nothing").splitlines()
    assert "| acoustic, node | 0.123 | 0.123 |" in lines
    assert "| node | acoustic | 3 | 12.3 | 21.7 |" in lines
    assert "| node, volume | 1234 (41 %) | 1234 (41 %) |" in lines
    assert "| node, volume | 40 (37), 50 (61) %, 8 | 40 (32), 50 (90) %, 8 |" in lines
    lines = results_kernels.tables(tmp_path, "klockner2009", "nothing").splitlines()
    assert lines[2:] == ["| GDOF/s a stage | K = 48 | K = 384 |", "|---|---|---|", "| N = 2 | 0.5 | 3.25 |"]
    assert results_kernels.tables(tmp_path / "none", "klockner2009", "nothing") == "nothing"
    (table,) = results_page.read_results(tmp_path)  # rates by degree stand among all measurements, too
    assert table["physics"] == "the kernels of Modave, St-Cyr & Warburton (2016)"


def test_each_physics_has_its_own_table_in_the_order_of_the_files(tmp_path):
    (tmp_path / "b_elastic_ab3.json").write_text(json.dumps(result(physics="elastic")))
    (tmp_path / "b_acoustic_ab3.json").write_text(json.dumps(result()))
    (tmp_path / "b_maxwell_lsrk4.json").write_text(json.dumps(result(physics="maxwell")))
    (tmp_path / "b_maxwell_ab3.json").write_text(json.dumps(result(physics="maxwell")))
    heads = [
        line.partition(",")[0]
        for line in results_page.table(results_page.read_results(tmp_path)).splitlines()
        if line.endswith(":")
    ]
    assert heads == ["Acoustic", "Elastic", "Maxwell"]
