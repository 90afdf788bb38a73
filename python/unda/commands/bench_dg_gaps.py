"""Tables and figures of Hanindhito et al. (2022), GAPS, measured on this machine's devices.

The six configurations of their table 2 with lsrk4, on all CPU cores, and on a CUDA device by their three
kernels (base, f1, f1s) and by ours (lines, columns):

- figure 4: 32,768 elements of 512 nodes, 1,000 steps: how many times faster than the CPU; time by kernel
  function; roofline.
- figure 5: about 63 million nodes in elements of 64 and of 512.

Beside the results stand the means over the six configurations that the paper's text states; the bars of its
figures have no numbers. Not here: the case (gaps_case.py), pictures (gaps_pictures.py), the kernels
(csrc/dg/kernel_base.c, cuda/dg).
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..limits import choose_device, device_info, device_limits
from . import gaps_pictures
from .gaps_case import measure, mesh_that_fits
from .measuring import Columns, heading, measured, print_row, print_titles, save
from .roofline import by_function

#: What `--figures` names.
FIGURES = ("4", "5")
#: Options of cases that matter.
USES = ()
#: Table 2: physics, flux and precision.
CONFIGURATIONS = tuple(
    f"{physics}-{dtype}"
    for dtype in ("float64", "float32")
    for physics in ("acoustic-upwind", "elastic-central", "elastic-upwind")
)
#: Theirs, then ours.
LADDER = ("base", "f1", "f1s", "lines", "columns")
#: Section 8.1: one V100, times two POWER9 of 20 cores; two Xeon 8160 were 1.36 times these.
OVER_CPU = {"base": 45.67, "f1": 69.30, "f1s": 84.15}
#: Section 8.2: times the rung below. Section 8.3: elements of 512 nodes, times those of 64.
OVER_RUNG = {"f1": 1.74, "f1s": 1.17}
LARGE_OVER_SMALL = {"f1s": 1.12}

#: Of each figure, by degree, the cells; with --quick fewer. Both meshes of figure 5 have 62,914,560 nodes.
_CELLS = {"4": {7: (32, 32, 32)}, "5": {3: (120, 64, 128), 7: (60, 32, 64)}}
_QUICK = {"4": {7: (2, 2, 1)}, "5": {3: (4, 2, 2), 7: (2, 1, 1)}}
_STEPS = {"4": 1000, "5": 200}
_SECONDS = 2.0  # of a measurement whose steps are not given

_CASE: Columns = (
    ("physics", "physics", "s"), ("flux", "flux", "s"), ("dtype", "dtype", "s"), ("kernel", "kernel", "s"),
    ("nodes/elem", "num_node", "d"),
)  # fmt: skip
_COLUMNS: Columns = (
    *_CASE, ("elements", "num_elem", "d"), ("steps", "steps", "d"), ("ms/step", "ms", ".4g"),
    ("GDOF/s", "gdof_per_second", ".3g"), ("% of limit", "percent_of_limit", ".1f"),
    ("over CPU", "over_cpu", ".4g"),
)  # fmt: skip
_FUNCTIONS: Columns = (
    *_CASE, ("function", "function", "s"), ("ms/step", "ms", ".4g"), ("flop/byte", "flops_per_byte", ".3g"),
    ("GB/s", "gbytes_per_second", ".0f"), ("GFLOP/s", "gflops", ".0f"),
    ("roofline", "roofline_gflops", ".0f"), ("% of it", "percent_of_roofline", ".1f"),
)  # fmt: skip
_MEANS: Columns = (
    ("kernel", "kernel", "s"), ("times", "times", "s"), ("here", "here", ".4g"), ("paper", "paper", ".4g"),
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--configurations", default=",".join(CONFIGURATIONS), help="of --paper gaps, its table 2: %(default)s"
    )


# ---- measuring ----


def _same(one: dict[str, Any], other: dict[str, Any], *but: str) -> bool:
    """Say whether two rows are of one configuration and size of elements, but for some of the words."""
    words = {"physics", "flux", "dtype", "num_node", "kernel"} - set(but)
    return all(one[word] == other[word] for word in words)


def _cases(args: argparse.Namespace, degree: int, device: str, figure: str) -> list[Any]:
    """List device, physics and keywords of `DG`; figure 5 is of the CUDA device, if there is one."""
    places = [("cpu", "auto")] * (figure == "4" or device == "cpu")
    if device != "cpu":
        given = LADDER if args.kernels == "auto" else args.kernels.split(",")
        places += [(device, kernel) for kernel in given]
    found = []
    for word, (place, kernel) in product(args.configurations.split(","), places):
        physics, flux, dtype = word.split("-")
        case = {"degree": degree, "dtype": dtype, "flux": flux, "integrator": "lsrk4", "kernel": kernel}
        found.append((place, physics, case))
    return found


def _rows(
    args: argparse.Namespace, figure: str, device: str, limits: dict[str, Any], done: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Measure a figure; limits: of each device; done: rows of the same result."""
    steps = args.steps or (2 if args.quick else _STEPS[figure])
    for degree, cells in (_QUICK if args.quick else _CELLS)[figure].items():
        cases = _cases(args, degree, device, figure)
        mesh, instead = mesh_that_fits(cells, cases)
        for place, physics, case in cases:
            all_steps = figure == "4" and place != "cpu" and args.seconds is None
            row = measure(
                mesh, case, physics=physics, device=place, limits=limits[place], steps=steps,
                seconds=None if all_steps else args.seconds or _SECONDS, threads=args.threads,
            )  # fmt: skip
            done.append(row)
            cpu = [one for one in done if one["kernel"] == "cpu" and _same(one, row, "kernel")]
            row["over_cpu"] = cpu[-1]["ms"] / row["ms"] if cpu else None
            row["instead"] = instead
            yield row


# ---- means ----


def _mean_ratio(rows: list[dict[str, Any]], one: Any, other: Any, but: str) -> float | None:
    """Return the mean of the times a node of other over one, over the configurations that have both."""

    def chosen(wanted: dict[str, Any]) -> list[dict[str, Any]]:
        return [row for row in rows if all(row[word] == value for word, value in wanted.items())]

    def per_node(row: dict[str, Any]) -> float:
        return float(row["ms"] / row["num_elem"] / row["num_node"])

    found = [per_node(b) / per_node(a) for a in chosen(one) for b in chosen(other) if _same(a, b, but)]
    return statistics.fmean(found) if found else None


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return means over configurations, with those that the paper's text states.

    Parameters
    ----------
    rows : list of dict
        Of one figure.

    Returns
    -------
    list of dict
        ``kernel`` and ``times``: the speed of the one in those of the other; ``here``, ``paper`` (or None).
    """
    found: list[dict[str, Any]] = []
    below = None
    for kernel in LADDER:
        one = {"kernel": kernel}
        ratios: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, float], str]] = [
            ("all cores", one, {"kernel": "cpu"}, OVER_CPU, "kernel"),
            (below or "", one, {"kernel": below}, OVER_RUNG, "kernel"),
            ("with 64", one | {"num_node": 512}, one | {"num_node": 64}, LARGE_OVER_SMALL, "num_node"),
        ]
        for times, of, other, paper, but in ratios:
            here = _mean_ratio(rows, of, other, but)
            if here is not None:
                found.append({**one, "times": times, "here": here, "paper": paper.get(kernel)})
        below = kernel
    return found


# ---- the command ----


def _check(args: argparse.Namespace) -> None:
    for word in args.configurations.split(","):
        if word not in CONFIGURATIONS:
            raise ArgumentError(f"configurations has {word!r}, expected some of {','.join(CONFIGURATIONS)}")
    for word in args.kernels.split(","):
        if word not in ("auto", *LADDER):
            raise ArgumentError(f"kernels has {word!r}, expected some of {','.join(LADDER)}: hexahedra")


def _draw(path: Path, result: dict[str, Any]) -> None:
    gaps_pictures.draw(path, result, means(result["rows"]))


def _finish(path: Path) -> None:
    """Add the means to a result; print them and the roofline."""
    result = json.loads(path.read_text())
    result["means"] = means(result["rows"])
    save(path, result)
    for columns, table in ((_FUNCTIONS, by_function(result["rows"])), (_MEANS, result["means"])):
        print()
        print_titles(columns)
        for row in table:
            print_row(row, columns)


def run(args: argparse.Namespace) -> int:
    """Measure figure by figure, print a line as soon as it is known, keep what is done."""
    _check(args)
    device = choose_device(args.device)
    limits = {place: device_limits(place, threads=args.threads) for place in ("cpu", device)}
    if device == "cpu":
        print("there is no CUDA device: the CPU's rows alone")
    about = heading(device, limits[device], args.threads)
    for figure in args.figures.split(","):
        print(f"\nfigure {figure}")
        path = args.output.with_name(args.output.name.replace("FIGURE", f"figure{figure}"))
        head = {
            "benchmark": "dg", "paper": "gaps", "figure": figure, **about,
            "cpu": device_info("cpu")["device_name"], "limits_cpu": limits["cpu"],
        }  # fmt: skip
        done = json.loads(path.read_text())["rows"] if args.append and path.exists() else []
        measured(_rows(args, figure, device, limits, done), _COLUMNS, path, head, _draw, append=args.append)
        _finish(path)
    return 0
