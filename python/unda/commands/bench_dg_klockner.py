"""Tables and figures of Klöckner, Warburton, Bridge & Hesthaven (2009), measured on this machine's device.

Light in vacuum between perfect conductors, lsrk4, float32, kernel microblock:

- tuning: table 3, the parameters that take least time at each order.
- orders: with the parameters of tuning, if that stands beside this result, else the library's: figure 8, the
  rate beside one CPU core; figures 9 and 10(a), rate, share of the time and bandwidth of each part; figure
  11(a), what is lost without the matrix in shared memory, without microblocks, and without both.
- study: figure 10(b), local differentiation at order 4 by wp, wi, ws, with the matrix in shared memory.
- size: figure 11(b), the rate against the number of elements K.
- accuracy: table 2, errors of a mode of a cavity (commands/cavity.py).

Operations and bytes are counted as in the paper: 2 operations a product, no padding. The paper's figures and
its table 3 have no numbers in the text; what the text states stands beside ours.
Not here: the search (klockner_search.py), pictures (klockner_pictures.py), the kernel
(csrc/dg/kernel_microblock.c, cuda/dg/microblock.cu).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import device_info, device_limits
from ..problem.mesh import Mesh
from . import cavity, klockner_pictures
from .dg_case import compile_ahead, cuda_device, tet_box, timed_steps
from .klockner_search import FUNCTIONS, best, candidates, function_seconds, sizes
from .measuring import Columns, heading, measured, print_row, print_titles, save

#: What `--figures` names.
FIGURES = ("tuning", "orders", "study", "size", "accuracy")
#: Options of cases that matter.
USES = ("degrees", "nodes")
#: Section 6: times one core of a 3 GHz Core 2 Duo.
OVER_CORE = {3: 48.0, 4: 57.0}
#: Section 6: of order 4 the best wp, wi, ws of local differentiation with the matrix in shared memory.
STUDY = (19, 2, 3)
#: Section 6: what was in shared memory at the best of local differentiation, as far as the text says; of the
#: lift the field at all orders.
STRATEGY = {4: "matrix", 7: "field", 8: "field", 9: "field"}
#: Figure 11(a): what is left out, and how the kernel is told.
LESS: dict[str, dict[str, bool]] = {
    "all": {}, "no matrix in shared": {"matrix": False}, "no microblocks": {"microblocks": False},
    "neither": {"matrix": False, "microblocks": False},
}  # fmt: skip

_NODES, _QUICK_NODES, _SEARCH_NODES, _CPU_NODES = 2e6, 200, 4e5, 1e5
_DEGREES = tuple(range(1, 10))
_STEPS, _SECONDS = 50, 0.1
_CASE = {"dtype": "float32", "integrator": "lsrk4", "kernel": "microblock"}
_STUDY_DEGREE = 4
_SIZES = (2, 4, 7, 12, 18, 26, 36)  # cubes along an edge, of six tetrahedra
_SIZE_DEGREES = (2, 3, 4, 6, 8)

_COLUMNS: Columns = (
    ("N", "degree", "d"), ("what", "what", "s"), ("elements", "num_elem", "d"), ("ms/step", "ms", ".4g"),
    ("GDOF/s", "gdof_per_second", ".3g"), ("GFLOP/s", "net_gflops", ".0f"),
    ("% of peak", "percent_of_peak", ".1f"),
    ("times 1 core", "over_core", ".3g"), ("theirs", "paper_over_core", ".0f"),
)  # fmt: skip
_TABLE3: Columns = (
    ("N", "degree", "d"), ("KM", "km", "d"), ("MB", "mb", "d"), ("flux wp", "flux_wp", "d"),
    ("lift", "lift_strategy", "s"), ("wp", "lift_wp", "d"), ("wi", "lift_wi", "d"), ("ws", "lift_ws", "d"),
    ("local", "strategy", "s"), ("wp", "wp", "d"), ("wi", "wi", "d"), ("ws", "ws", "d"),
    ("their local", "paper", "s"), ("times own", "over_default", ".3f"),
)  # fmt: skip
_TUNING: Columns = (
    ("N", "degree", "d"), ("KM", "km", "d"), ("MB", "mb", "d"), ("flux wp", "flux_wp", "d"),
    ("gather us", "gather_us", ".1f"), ("lift", "lift", "s"), ("us", "lift_us", ".1f"),
    ("local", "local", "s"),
    ("us", "local_us", ".1f"),
)  # fmt: skip
_PARTS: Columns = (
    ("N", "degree", "d"), ("part", "part", "s"), ("% of time", "percent_of_time", ".1f"),
    ("ps/DOF", "ps_per_dof", ".3g"), ("GFLOP/s", "gflops", ".0f"), ("GB/s", "gbytes_per_second", ".0f"),
    ("% of roof", "percent_of_roofline", ".1f"), ("registers", "registers", "d"),
    ("shared B", "shared_bytes", "d"),
    ("occupied", "occupancy", ".2f"),
)  # fmt: skip
_STUDY: Columns = (
    ("wp", "wp", "d"), ("wi", "wi", "d"), ("ws", "ws", "d"), ("segment", "segment", "d"), ("us", "us", ".1f"),
    ("times best", "over_best", ".2f"),
)  # fmt: skip
_SIZE: Columns = (
    ("N", "degree", "d"), ("K", "num_elem", "d"), ("ms/step", "ms", ".4g"),
    ("GDOF/s", "gdof_per_second", ".3g"),
    ("GFLOP/s", "net_gflops", ".0f"),
)  # fmt: skip
_ACCURACY: Columns = (
    ("N", "degree", "d"), *((f"K = {k}", f"error_{k}", ".2e") for k in cavity.MESHES),
    ("order", "order", ".2f"),
    *((f"theirs {i + 1}", f"paper_{k}", ".2e") for i, k in enumerate(cavity.MESHES)),
    ("order", "paper_order", ".2f"),
)  # fmt: skip


def _degrees(args: argparse.Namespace, usual: tuple[int, ...] = _DEGREES) -> list[int]:
    given = args.degrees or usual
    return list(given[:1] if args.quick else given)


def _case(degree: int, options: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"degree": degree, **_CASE, "kernel_options": options}


def _warm(args: argparse.Namespace, tried: list[tuple[int, dict[str, Any]]], device: str) -> None:
    """Compile kernels with these options of these degrees."""
    if not args.quick:
        compile_ahead([("maxwell", _case(degree, options)) for degree, options in tried], device)


def _box(args: argparse.Namespace, degree: int, usual: float) -> Mesh:
    nodes = _QUICK_NODES if args.quick else usual
    return tet_box(min(args.nodes, usual) if args.nodes else nodes, degree)


def _measured(
    args: argparse.Namespace,
    mesh: Mesh,
    case: dict[str, Any],
    device: str,
    limits: dict[str, float],
    **more: Any,
) -> dict[str, Any]:
    return timed_steps(
        mesh, "maxwell", case, device=device, limits=limits,
        steps=args.steps or (2 if args.quick else _STEPS),
        seconds=args.seconds or _SECONDS, runs=2 if args.quick else 10, **more,
    )  # fmt: skip


# ---- by order


def _tuning(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    tried = {degree: candidates(degree)[: 3 if args.quick else None] for degree in _degrees(args)}
    _warm(args, [(degree, one) for degree, of in tried.items() for one in of], device)
    for degree, of in tried.items():
        mesh = _box(args, degree, _SEARCH_NODES)
        for one in function_seconds(mesh, _case(degree), device, of, 2 if args.quick else 7):
            options = one["options"]
            yield {
                **one, "degree": degree, "num_elem": mesh.num_elem,
                **{name: options[name] for name in ("km", "mb", "flux_wp")},
                "lift": _words(options, "lift_"), "local": _words(options, ""),
                **{f"{name.removeprefix('dg_')}_us": 1e6 * one[name] for name in FUNCTIONS},
            }  # fmt: skip


def _words(options: dict[str, Any], of: str) -> str:
    """Return strategy and division of work of a product, as "field 1,2,1"."""
    numbers = ",".join(str(options[of + word]) for word in ("wp", "wi", "ws"))
    return f"{options[of + 'strategy']} {numbers}"


def table3(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parameters of each order that take least time, beside what the paper's text says of its own.

    ``over_default``: how many times faster than the library's own choice, which is each order's first row.
    """
    found = []
    for degree in dict.fromkeys(row["degree"] for row in rows):
        of = [row for row in rows if row["degree"] == degree]
        chosen = best(of)
        own = sum(of[0][name] for name in FUNCTIONS)
        found.append({
            **chosen["options"], "degree": degree, "paper": STRATEGY.get(degree),
            "over_default": own / chosen["seconds"], "rule_km": sizes(degree)[0],
        })  # fmt: skip
    return found


def _tuned(args: argparse.Namespace, device: str) -> list[dict[str, Any]]:
    """Return the rows of a result of tuning on this device, if one stands beside this result."""
    path = _path(args, "tuning")
    if path == args.output or not path.exists():
        return []
    found = json.loads(path.read_text())
    return list(found["rows"]) if found["device"] == device_info(device)["device_name"] else []


def _choices(args: argparse.Namespace, degree: int, device: str) -> dict[str, dict[str, Any]]:
    """Return the options of each line of figure 11(a), from the result of tuning beside this one."""
    of = [row for row in _tuned(args, device) if row["degree"] == degree]
    if of:
        return {what: best(of, **less)["options"] for what, less in LESS.items()}
    fields = {"strategy": "field", "lift_strategy": "field"}
    told: dict[str, dict[str, Any]] = {"matrix": fields, "microblocks": {"km": 1}}
    return {
        what: {name: value for word in less for name, value in told[word].items()}
        for what, less in LESS.items()
    }


def _orders(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    choices = {degree: _choices(args, degree, device) for degree in _degrees(args)}
    _warm(args, [(degree, one) for degree, of in choices.items() for one in of.values()], device)
    for degree, of in choices.items():
        small, mesh = _box(args, degree, _CPU_NODES), _box(args, degree, args.nodes or _NODES)
        core = _measured(args, small, _case(degree) | {"kernel": "auto"}, "cpu", limits, threads=1)
        none = dict.fromkeys(("paper_over_core", "percent_of_limit", "percent_of_peak"))
        yield {**core, **none, "what": "one core", "over_core": 1.0}
        rows: dict[str, dict[str, Any]] = {}
        for what, options in of.items():
            name = repr(sorted(options.items()))
            if name not in rows:
                rows[name] = _measured(args, mesh, _case(degree, options), device, limits)
            yield {
                **rows[name], "what": what,
                "over_core": rows[name]["gdof_per_second"] / core["gdof_per_second"],
                "paper_over_core": OVER_CORE.get(degree) if what == "all" else None,
            }  # fmt: skip


def parts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row a part and order: figures 9 and 10(a)."""
    found = []
    for row in rows:
        if row["what"] != "all":
            continue
        whole = sum(one["ms"] for one in row["functions"].values())
        num_dof = 6 * row["num_elem"] * row["num_node"]
        for name, one in row["functions"].items():
            found.append({
                **one, "degree": row["degree"], "part": name.removeprefix("dg_"),
                "percent_of_time": 100 * one["ms"] / whole, "ps_per_dof": 1e9 * one["ms"] / 5 / num_dof,
            })  # fmt: skip
    return found


# ---- at one order, by size


def _divisions(quick: bool) -> list[dict[str, Any]]:
    """List wp, wi, ws of figure 10(b): blocks of up to 1,024 threads."""
    if quick:
        return [{"wp": 1, "wi": 1, "ws": 1}, {"wp": 1, "wi": 1, "ws": 2}]
    return [
        {"wp": wp, "wi": wi, "ws": ws}
        for wp, wi, ws in product((1, 2, 3, 4, 6, 8, 12, 16), (1, 2), (1, 2, 4))
    ]


def _study(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    degree = 1 if args.quick else _STUDY_DEGREE
    mesh = _box(args, degree, _SEARCH_NODES)
    tried = [{**one, "strategy": "matrix", "segment": 2, "mb": 4} for one in _divisions(args.quick)]
    _warm(args, [(degree, one) for one in tried], device)
    least = float("inf")
    for one in function_seconds(mesh, _case(degree), device, tried, 2 if args.quick else 7):
        least = min(least, one["dg_local"])
        chosen = {name: one["options"][name] for name in ("wp", "wi", "ws", "segment", "km")}
        yield {**chosen, "degree": degree, "us": 1e6 * one["dg_local"], "over_best": one["dg_local"] / least}


def _size(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    most = args.nodes or (_QUICK_NODES if args.quick else 3 * _NODES)
    _warm(args, [(degree, {}) for degree in _degrees(args, _SIZE_DEGREES)], device)
    for degree in _degrees(args, _SIZE_DEGREES):
        for side in _SIZES[: 2 if args.quick else None]:
            nodes = 6.0 * side**3 * (degree + 1) * (degree + 2) * (degree + 3) / 6
            if nodes <= most or side == _SIZES[0]:
                yield _measured(args, tet_box(nodes, degree), _case(degree), device, limits)


def _accuracy(args: argparse.Namespace, device: str, limits: dict[str, float]) -> Iterator[dict[str, Any]]:
    boxes = cavity.meshes()[: 1 if args.quick else None]
    _warm(args, [(degree, {}) for degree in _degrees(args)], device)
    for degree in _degrees(args):
        errors = [cavity.error(mesh, degree, (1, 2, 2), device, kernel="microblock") for mesh in boxes]
        known, order = cavity.PAPER[degree]
        filled = [*errors, *[None] * (len(cavity.MESHES) - len(errors))]
        yield {
            "degree": degree, "errors": errors, "order": cavity.order(errors), "paper_order": order,
            "paper_errors": list(known),
            **{f"error_{k}": e for k, e in zip(cavity.MESHES, filled, strict=True)},
            **{f"paper_{k}": e for k, e in zip(cavity.MESHES, known, strict=True)},
        }  # fmt: skip


# ---- the command

_Rows = Callable[[argparse.Namespace, str, dict[str, float]], Iterator[dict[str, Any]]]
#: Of each figure: who measures, the columns of its rows, who draws it.
HOW: dict[str, tuple[_Rows, Columns, Callable[[Path, dict[str, Any]], None]]] = {
    "tuning": (_tuning, _TUNING, klockner_pictures.tuning),
    "orders": (_orders, _COLUMNS, klockner_pictures.orders),
    "study": (_study, _STUDY, klockner_pictures.study),
    "size": (_size, _SIZE, klockner_pictures.size),
    "accuracy": (_accuracy, _ACCURACY, klockner_pictures.accuracy),
}  # fmt: skip


def _path(args: argparse.Namespace, figure: str) -> Path:
    return Path(args.output.with_name(args.output.name.replace("FIGURE", figure)))


def _finish(path: Path, figure: str) -> None:
    """Add tables to a result; print them."""
    result = json.loads(path.read_text())
    tables: list[tuple[str, Columns, list[dict[str, Any]]]] = []
    if figure == "tuning":
        result["table3"] = table3(result["rows"])
        tables = [("table 3: what takes least time", _TABLE3, result["table3"])]
    elif figure == "orders":
        result["parts"] = parts(result["rows"])
        tables = [("figures 9 and 10(a): the parts", _PARTS, result["parts"])]
    elif figure == "study":
        least = min(row["us"] for row in result["rows"])
        for row in result["rows"]:
            row["over_best"] = row["us"] / least
        result["paper_best"] = list(STUDY)
        ordered = sorted(result["rows"], key=lambda row: row["us"])
        tables = [
            (f"figure 10(b), the best and the worst; theirs {STUDY}", _STUDY, [*ordered[:3], ordered[-1]])
        ]
    save(path, result)
    for title, columns, table in tables:
        print(f"\n{title}")
        print_titles(columns)
        for row in table:
            print_row(row, columns)


def run(args: argparse.Namespace) -> int:
    """Measure figure by figure, print a line as soon as it is known, keep what is done."""
    if args.kernels not in ("auto", "microblock"):
        raise ArgumentError(f"kernels is {args.kernels!r}, expected microblock, the paper's")
    device = cuda_device(args)
    limits = device_limits(device)
    about = heading(device, limits, args.threads)
    for figure in args.figures.split(","):
        print(f"\n{figure}")
        path = _path(args, figure)
        head = {"benchmark": "dg", "paper": args.paper, "figure": figure, **about}
        rows, columns, draw = HOW[figure]
        measured(rows(args, device, limits), columns, path, head, draw, append=args.append)
        _finish(path, figure)
    return 0
