"""Tables and figures of Modave, St-Cyr & Warburton (2016), measured on this machine's device.

One step of ab3 of acoustic and elastic waves in float32, on meshes of about 2 million nodes whatever the
degree:

- kernels: figures 3 and 5, time a node and step, whole and by function; figure 4, the functions under the
  roof; figure 6, net throughput; table 5, registers, memory and occupancy. Theirs are the kernels element,
  node and gemm; ours stand beside them.
- padding: figures 1 and 2 and tables 3 and 4, the products of kernel gemm with rows padded to multiples of
  1, 2, 4, .. 128.

Net throughput is theirs: all operations that the functions of a kernel do in a step, without padding, over
the time of the step. They state it, as we do, as a part of the peak: theirs the vendor's number, ours
measured. The bars and lines of their figures have no numbers; what the text and the tables state stands
beside ours. Not here: the case (dg_case.py), pictures (modave_pictures.py), the kernels
(csrc/dg/kernel_gemm.c, cuda/dg).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import device_limits
from ..method import speed
from ..problem.mesh import Mesh
from . import modave_pictures, roofline
from .dg_case import compile_ahead, cuda_device, simulation, tet_box, timed_steps
from .hit_rates import hit_rates
from .measuring import Columns, heading, measured, print_row, print_titles, save
from .modave_paper import ELASTIC_OVER_ACOUSTIC, FASTEST, NET, OF_PEAK, OF_ROOF, PADDED, TABLE5

#: What `--figures` names.
FIGURES = ("kernels", "padding")
#: Options of cases that matter.
USES = ("degrees", "nodes")
#: Theirs, then ours.
LADDER = ("element", "node", "gemm", "microblock", "fused", "blocks", "tensor")
PHYSICS = ("acoustic", "elastic")
_NODES, _QUICK_NODES = 2e6, 200
_DEGREES = tuple(range(1, 9))
_STEPS, _SECONDS = 100, 0.1
_HIGH = 6  # from this degree on the paper's kernels keep their share of the roof
_CASE = {"dtype": "float32", "integrator": "ab3"}
_PADS = tuple(2**i for i in range(8))
_PRODUCTS = ("gradient", "divergence", "lift")

_COLUMNS: Columns = (
    ("physics", "physics", "s"), ("N", "degree", "d"), ("kernel", "kernel", "s"),
    ("elements", "num_elem", "d"),
    ("ns/node", "ns_per_node", ".4g"), ("GDOF/s", "gdof_per_second", ".3g"),
    ("% of limit", "percent_of_limit", ".1f"),
    ("net GFLOP/s", "net_gflops", ".0f"), ("% of peak", "percent_of_peak", ".1f"),
)  # fmt: skip
_FUNCTIONS: Columns = (
    ("physics", "physics", "s"), ("N", "degree", "d"), ("kernel", "kernel", "s"),
    ("function", "function", "s"),
    ("ns/node", "ns_per_node", ".3g"), ("flop/byte", "flops_per_byte", ".3g"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"), ("% of roof", "percent_of_roofline", ".1f"),
    ("registers", "registers", "d"), ("local B", "spill_bytes", "d"), ("shared B", "shared_bytes", "d"),
    ("threads", "threads", "d"), ("blocks/SM", "blocks", "d"), ("occupied %", "percent_occupied", ".0f"),
    ("L1 hits %", "l1_hit", ".0f"), ("L2 hits %", "l2_hit", ".0f"),
    ("their reg.", "paper_registers", ".0f"), ("theirs, %", "paper_occupied", ".0f"),
    ("their hits %", "paper_hit", ".0f"),
)  # fmt: skip
_NET: Columns = (
    ("kernel", "kernel", "s"), ("physics", "physics", "s"), ("best N", "degree", "d"),
    ("least ns/node", "least_at", "d"), ("theirs", "paper_least_at", "d"),
    ("net % of peak", "here", ".1f"), ("theirs, %", "paper", ".1f"),
)  # fmt: skip
_STATED: Columns = (("here", "here", "s"), ("theirs", "paper", "s"), ("of", "what", "s"))
_PADDING: Columns = (
    ("N", "degree", "d"), ("multiple", "pad", "d"), ("rows", "rows", "d"),
    ("gradient rows", "gradient_rows", "d"),
    ("gradient us", "gradient_us", ".1f"), ("divergence us", "divergence_us", ".1f"),
    ("lift us", "lift_us", ".1f"),
    ("stage us", "stage_us", ".1f"),
)  # fmt: skip
_TABLE3: Columns = (
    ("N", "degree", "d"), ("product", "product", "s"), ("m", "m", "d"), ("n", "n", "d"), ("k", "k", "d"),
    ("lda", "lda", "d"), ("ldb", "ldb", "d"), ("ldc", "ldc", "d"), ("us", "us", ".1f"),
    ("flop/byte", "flops_per_byte", ".3g"), ("GFLOP/s", "gflops", ".0f"),
    ("GB/s", "gbytes_per_second", ".0f"),
    ("% of roof", "percent_of_roofline", ".1f"),
)  # fmt: skip
_TABLE4: Columns = (
    ("N", "degree", "d"), ("Np", "num_node", "d"), ("best rows", "rows", "d"), ("theirs", "paper_rows", "d"),
    ("times", "gain", ".3f"), ("3 Np", "num_gradient", "d"), ("best rows", "gradient_rows", "d"),
    ("theirs", "paper_gradient_rows", "d"), ("times", "gradient_gain", ".3f"),
)  # fmt: skip


# ---- kernels


def _degrees(args: argparse.Namespace) -> list[int]:
    given = args.degrees or _DEGREES
    return list(given[:1] if args.quick else given)


def _on_meshes(args: argparse.Namespace, figure: str) -> Iterator[tuple[Mesh, str, dict[str, Any]]]:
    """Yield mesh, physics and keywords of `DG`."""
    meshes: dict[int, Mesh] = {}  # one at a time
    for physics, case in _cases(args, figure):
        if case["degree"] not in meshes:
            meshes.clear()
            nodes = args.nodes or (_QUICK_NODES if args.quick else _NODES)
            meshes[case["degree"]] = tet_box(nodes, case["degree"])
        yield meshes[case["degree"]], physics, case


def _cases(args: argparse.Namespace, figure: str) -> list[tuple[str, dict[str, Any]]]:
    """List physics and keywords of `DG`."""
    kernels = LADDER if args.kernels == "auto" else args.kernels.split(",")
    if figure == "kernels":
        return [
            (physics, {"degree": degree, **_CASE, "kernel": kernel})
            for degree in _degrees(args) for physics in PHYSICS for kernel in kernels
        ]  # fmt: skip
    found = []
    for degree in _degrees(args):
        seen = set()
        for pad in _PADS:
            rows = _rows(degree, pad)
            if rows not in seen:
                seen.add(rows)
                options = {"pad": pad, "pad_gradient": pad}
                found.append(
                    ("acoustic", {"degree": degree, **_CASE, "kernel": "gemm", "kernel_options": options})
                )
    return found


def _kernel_rows(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    for mesh, physics, case in _on_meshes(args, "kernels"):
        yield timed_steps(
            mesh, physics, case, device=device, limits=limits,
            steps=args.steps or (2 if args.quick else _STEPS), seconds=args.seconds or _SECONDS,
            runs=2 if args.quick else 10,
        )  # fmt: skip


def functions(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row a function: time a node, place under the roof, what it has beside the paper's table 5.

    Functions of the paper that ours have no counterpart of follow those of the same kernel, with dashes.
    """
    found = []
    for row in rows:
        table = TABLE5 if row["physics"] == "acoustic" else {}
        theirs = {
            name: of.get(row["degree"]) for (kernel, name), of in table.items() if kernel == row["kernel"]
        }
        for one in roofline.by_function([row]):
            ms, whole = row["functions"][one["function_name"]]["ms"], one.get("occupancy")
            found.append({
                **one, "ns_per_node": 1e6 * ms / row["num_elem"] / row["num_node"],
                "percent_occupied": None if whole is None else 100 * whole,
                **_theirs(theirs.pop(one["function"], None)),
            })  # fmt: skip
        found += [
            {**{key: row[key] for key in ("physics", "degree", "kernel")}, "function": f"({name})",
             **_theirs(paper)}
            for name, paper in theirs.items() if paper
        ]  # fmt: skip
    dashes = dict.fromkeys(key for _, key, _ in _FUNCTIONS)
    return [{**dashes, **row} for row in found]


def _theirs(paper: tuple[float, ...] | None) -> dict[str, float | None]:
    registers, occupied, hit, *_ = paper or (None, None, None)
    return {"paper_registers": registers, "paper_occupied": occupied, "paper_hit": hit}


def add_hits(result: dict[str, Any], device: str) -> None:
    """Add the hit rates of the functions of acoustic waves, as far as ncu gives them, and say so."""
    rows = [row for row in result["rows"] if row["physics"] == "acoustic"]
    named = [[name for name in row["functions"] if name.startswith("dg_")] for row in rows]
    cases = [
        {"physics": "acoustic", "nodes": row["num_elem"] * row["num_node"], "functions": names,
         "case": {"degree": row["degree"], **_CASE, "kernel": row["kernel"]}}
        for row, names in zip(rows, named, strict=True)
    ]  # fmt: skip
    found, result["hits_from"] = hit_rates(cases, device)
    for row, of in zip(rows, found or [], strict=False):
        for name, rates in of.items():
            row["functions"][name] = {**row["functions"][name], **rates}


def net(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the best net throughput of each kernel and physics, [%] of the peak, beside the paper's."""
    found = []
    for physics in PHYSICS:
        for kernel in dict.fromkeys(row["kernel"] for row in rows):
            of = [row for row in rows if (row["kernel"], row["physics"]) == (kernel, physics)]
            if not of:
                continue
            best = max(of, key=lambda row: row["percent_of_peak"])
            least = min(of, key=lambda row: row["ns_per_node"])
            found.append({
                "kernel": kernel, "physics": physics, "degree": best["degree"],
                "here": best["percent_of_peak"],
                "paper": NET.get((kernel, physics)), "least_at": least["degree"],
                "paper_least_at": FASTEST.get((kernel, physics)),
            })  # fmt: skip
    return found


def _between(values: list[float]) -> str:
    """Return least and most of some numbers."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def stated(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the text says of the kernels beside what is so here: ``what``, ``here``, ``paper``."""
    found = []
    of_roof: dict[tuple[str, str], list[float]] = {}
    for row in functions([row for row in rows if row["physics"] == "acoustic" and row["degree"] >= _HIGH]):
        of_roof.setdefault((row["kernel"], row["function"]), []).append(row["percent_of_roofline"])
    for (kernel, function), paper in OF_ROOF.items():
        if (kernel, function) in of_roof:
            what = f"{kernel}, {function}: % of the roof from N = {_HIGH} on"
            here = _between(of_roof[kernel, function])
            found.append({"what": what, "here": here, "paper": f"about {paper}"})
    times = {(row["kernel"], row["physics"], row["degree"]): row["ns_per_node"] for row in rows}
    for kernel, between in ELASTIC_OVER_ACOUSTIC.items():
        ratios = [
            time / times[kernel, "acoustic", degree] for (name, physics, degree), time in times.items()
            if (name, physics) == (kernel, "elastic") and (kernel, "acoustic", degree) in times
        ]  # fmt: skip
        if ratios:
            what = f"{kernel}: elastic over acoustic time"
            found.append({"what": what, "here": _between(ratios), "paper": _between(list(between))})
    return found


# ---- padding


def _num_node(degree: int) -> int:
    return (degree + 1) * (degree + 2) * (degree + 3) // 6


def _rows(degree: int, pad: int) -> tuple[int, int]:
    """Return rows of a state and of gradients, padded to a multiple."""
    node = _num_node(degree)
    return -(-node // pad) * pad, -(-3 * node // pad) * pad


def products(degree: int, num_elem: int, rows: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the paper's table 3 for acoustic waves: C = A B + beta C, m x n by k, and leading dimensions.

    Operations and bytes are those of section 4.2, without padding: 2 m n (k + 1), and 4 (m k + n k + 2 m n).
    The lift is that of pressure and of velocity together.
    """
    node, face = _num_node(degree), 2 * (degree + 1) * (degree + 2)
    state, gradient = rows
    table = [
        ("gradient", 3 * node, num_elem, node, gradient, state, state, gradient),
        ("divergence", node, num_elem, 3 * node, state, gradient, gradient, state),
        ("lift", node, 4 * num_elem, face, state, face, face, state),
    ]
    return [
        {
            "product": name, "m": padded, "n": n, "k": k, "lda": lda, "ldb": ldb, "ldc": ldc,
            "flops": 2.0 * m * n * (k + 1), "bytes": 4.0 * (m * k + n * k + 2 * m * n),
        }
        for name, m, n, k, padded, lda, ldb, ldc in table
    ]  # fmt: skip


def _padding_rows(
    args: argparse.Namespace, device: str, limits: dict[str, float]
) -> Iterator[dict[str, Any]]:
    for mesh, physics, case in _on_meshes(args, "padding"):
        with simulation(mesh, physics, case, device) as sim:
            found = speed.kernel_seconds(sim, 2 if args.quick else 20)
        pad = case["kernel_options"]["pad"]
        rows = _rows(case["degree"], pad)
        table = products(case["degree"], mesh.num_elem, rows)
        for one in table:
            work = {"seconds": found[one["product"]]["seconds"], "launches": 1.0}
            work |= {"flops": one["flops"], "bytes": one["bytes"]}
            one |= {"us": 1e6 * work["seconds"], **roofline.placed({"": work}, limits, "float32")[""]}
        yield {
            "degree": case["degree"], "num_elem": mesh.num_elem, "pad": pad, "rows": rows[0],
            "gradient_rows": rows[1], "stage_us": 1e6 * found["stage"]["seconds"], "products": table,
            **{f"{name}_us": 1e6 * found[name]["seconds"] for name in _PRODUCTS},
        }  # fmt: skip


def padding(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return tables 3 and 4: the products with the rows that took least time, and these beside the paper's.

    Rows of the gradient are those of the fastest gradient, the others those of the fastest divergence and
    lift together; gains are over no padding.
    """
    table3, table4 = [], []
    for degree in dict.fromkeys(row["degree"] for row in rows):
        of = [row for row in rows if row["degree"] == degree]
        plain = min(of, key=lambda row: row["pad"])

        def others(row: dict[str, Any]) -> float:
            return float(row["divergence_us"] + row["lift_us"])

        gradient, state = min(of, key=lambda row: row["gradient_us"]), min(of, key=others)
        paper = PADDED.get(degree, (None, None))
        table4.append({
            "degree": degree, "num_node": _num_node(degree), "rows": state["rows"], "paper_rows": paper[0],
            "gain": others(plain) / others(state), "num_gradient": 3 * _num_node(degree),
            "gradient_rows": gradient["gradient_rows"], "paper_gradient_rows": paper[1],
            "gradient_gain": plain["gradient_us"] / gradient["gradient_us"],
        })  # fmt: skip
        table3 += [
            {"degree": degree, **one}
            for row, names in ((gradient, _PRODUCTS[:1]), (state, _PRODUCTS[1:]))
            for one in row["products"] if one["product"] in names
        ]  # fmt: skip
    return table3, table4


def stated_products(table3: list[dict[str, Any]], limits: dict[str, float]) -> list[dict[str, Any]]:
    """Return what the paper's text says of the products beside what is so here, as `stated`."""
    here = {(row["product"], row["degree"]): 1e11 * row["gflops"] / limits["fma32"] for row in table3}
    return [
        {"what": f"{name}, N = {degree}: % of the peak", "here": f"{here[name, degree]:.3g}",
         "paper": f"about {paper}"}
        for (name, degree), paper in OF_PEAK.items() if (name, degree) in here
    ]  # fmt: skip


# ---- the command

_Rows = Callable[[argparse.Namespace, str, dict[str, float]], Iterator[dict[str, Any]]]
#: Of each figure: who measures, the columns of its rows, who draws it.
HOW: dict[str, tuple[_Rows, Columns, Callable[[Path, dict[str, Any]], None]]] = {
    "kernels": (_kernel_rows, _COLUMNS, modave_pictures.kernels),
    "padding": (_padding_rows, _PADDING, modave_pictures.padding),
}


def why_no_hits(result: dict[str, Any]) -> str:
    """Return why a table has no hit rates, as the end of its title; nothing if it has."""
    said = result.get("hits_from", "--hits measures them, with ncu")
    return "" if said == "ncu" else f" (no hit rates: {said})"


def _finish(path: Path, figure: str) -> None:
    """Add the tables to a result; print them."""
    result = json.loads(path.read_text())
    tables: list[tuple[str, Columns, list[dict[str, Any]]]]
    if figure == "kernels":
        result["net"], result["stated"] = net(result["rows"]), stated(result["rows"])
        tables = [
            (
                "figures 3 to 5 by function, table 5" + why_no_hits(result),
                _FUNCTIONS,
                functions(result["rows"]),
            ),
            ("figure 6, net throughput", _NET, result["net"]),
            ("section 4.3", _STATED, result["stated"]),
        ]
    else:
        result["table3"], result["table4"] = padding(result["rows"])
        result["stated"] = stated_products(result["table3"], result["limits"])
        tables = [
            ("table 3 with the best rows, figures 1 and 2", _TABLE3, result["table3"]),
            ("table 4, rows that take least time", _TABLE4, result["table4"]),
            ("section 4.2", _STATED, result["stated"]),
        ]
    save(path, result)
    for title, columns, table in tables:
        print(f"\n{title}")
        print_titles(columns)
        for row in table:
            print_row(row, columns)


def run(args: argparse.Namespace) -> int:
    """Measure figure by figure, print a line as soon as it is known, keep what is done."""
    for word in args.kernels.split(","):
        if word not in ("auto", *LADDER):
            raise ArgumentError(f"kernels has {word!r}, expected some of {','.join(LADDER)}: tetrahedra")
    device = cuda_device(args)
    limits = device_limits(device)
    about = heading(device, limits, args.threads)
    figures = args.figures.split(",")
    if not args.quick:
        compile_ahead([case for figure in figures for case in _cases(args, figure)], device)
    for figure in figures:
        print(f"\n{figure}")
        path = args.output.with_name(args.output.name.replace("FIGURE", figure))
        head = {"benchmark": "dg", "paper": args.paper, "figure": figure, **about}
        rows, columns, draw = HOW[figure]
        measured(rows(args, device, limits), columns, path, head, draw, append=args.append)
        if figure == "kernels" and args.hits:
            result = json.loads(path.read_text())
            add_hits(result, device)
            save(path, result)
        _finish(path, figure)
    return 0
