"""Cases and figures of papers, measured on this machine's devices.

- komatitsch2010: elastic waves, order 4, 384 x 328 x 52 cells of which 10 on five sides are CPML, a free top,
  another material at each node: on one CPU core, on all, and on a GPU, where Komatitsch et al. (2010;
  Michéa & Komatitsch 2010) were 44 times as fast as on a core, and 55 times with layers of 16. Here layers
  lie outside the user's grid, which is smaller by them, so that all nodes together are the paper's;
  rates are of all of these.
- figures of Levchenko, Perepelkina & Zakirov (2016), kernel diamond: 7, the roofline with growing DTS; 10,
  the rate with the multiprocessors that towers occupy; 11, the rate with order and DTS.

Not here: the case that is timed (fd_case.py).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, DeviceError
from ..limits import choose_device, device_limits
from .fd_case import DIAMOND_SHAPES, measure
from .measuring import figure, grouped, heading, integers, measured

_Measure = Callable[..., dict[str, Any]]
#: What `compile_kernel` takes: shape, case, options.
Job = tuple[Sequence[int], dict[str, Any], dict[str, int]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--case", choices=("komatitsch2010",),
        help="elastic, order 4, 384 x 328 x 52 cells of which 10 (and 16) on five sides are CPML: one CPU "
        "core, all cores, and the CUDA device",
    )  # fmt: skip
    parser.add_argument(
        "--figure", type=int, choices=(7, 10, 11),
        help="of Levchenko et al. 2016, kernel diamond (CUDA): roofline with DTS; multiprocessors; order/DTS",
    )  # fmt: skip
    parser.add_argument(
        "--dts", type=integers,
        help="1,2,4: of figures 7 and 11, 1 is kernel step (1, 2, .. while there is room)",
    )  # fmt: skip


# ---- komatitsch2010 ----

#: Nodes of CPML on each of five sides, and how much faster their GPU was than one core of their CPU.
_PAPER = {10: 44.0, 16: 55.0}
_CELLS = (384, 328, 52)


def _komatitsch_jobs(args: argparse.Namespace) -> Iterator[Job]:
    cells = args.shape or _CELLS
    for layer in _PAPER:
        if min(cells[0], cells[1]) <= 2 * layer or cells[2] <= layer:
            raise ArgumentError(f"shape is {tuple(cells)}, expected more cells than layers of {layer} take")
        case = {"physics": "elastic", "order": 4, "dtype": "float32", "c": "variable",
                "varies": "rho vp vs", "layers": layer, "kernel": "step"}  # fmt: skip
        yield (cells[0] - 2 * layer, cells[1] - 2 * layer, cells[2] - layer), case, {}


def _komatitsch(args: argparse.Namespace, time: _Measure) -> Iterator[dict[str, Any]]:
    """Time each device with each layer; the layers lie within the cells, as in the paper."""
    cores = args.threads or len(os.sched_getaffinity(0))
    places: list[tuple[str, int | None]] = [("cpu", 1)] + [("cpu", cores)] * (cores > 1)
    device = choose_device(args.device)
    places += [(device, None)] * (device != "cpu")
    for (inside, case, _), paper in zip(_komatitsch_jobs(args), _PAPER.values(), strict=True):
        alone = None
        for place, threads in places:
            row = time(inside, case, device=place, threads=threads, receivers=10)
            cells_done = row["padded"][0] * row["padded"][1] * row["padded"][2]
            alone = row["ms"] if alone is None else alone
            yield {
                **row,
                "device": place,
                "threads": threads,
                "where": place if threads is None else f"cpu, {threads}",
                "gcell_per_second": cells_done / row["ms"] / 1e6,
                "over_one_core": alone / row["ms"],
                "paper_gpu_over_one_core": paper,
            }


# ---- figures of Levchenko et al. ----


def tile_words(order: int, dts: int, step: int) -> float:
    """Return the words that a tile of kernel diamond must move for a cell and step.

    Parameters
    ----------
    order : int
        2 M.
    dts, step : int
        The tile, as in cuda/fd/scalar/diamond.cu: it walks M cells along y a step, so that M cells of two
        levels come and go for each of its step (2 dts - 1) rows; M rows on both sides are looked at.

    Examples
    --------
    >>> tile_words(order=2, dts=4, step=1)
    1.0
    """
    half = order // 2
    width, rows = step * dts, step * (2 * dts - 1)
    tips = sum(4 * min(step * (1 + i // step), width) for i in range(half))
    return (4 * half * rows + tips) / (2 * width**2)


#: STEP of the tile by order: divides M, at least M / 2.
_STEP = {2: 1, 4: 2, 6: 3, 8: 2}
_LEVELS = 96
_MOST_WIDTH = 8  # cells, half a diamond, with z in one block


def _case(order: int, kernel: str) -> dict[str, Any]:
    return {"physics": "scalar", "order": order, "dtype": "float32", "c": "constant", "varies": "constant",
            "layers": 0, "kernel": kernel}  # fmt: skip


def _orders(args: argparse.Namespace) -> Sequence[int]:
    return args.orders or ((2,) if args.figure == 7 else tuple(_STEP))


def _tile_job(args: argparse.Namespace, order: int, dts: int) -> Job:
    shape = args.shape or DIAMOND_SHAPES[order]
    if dts == 1:
        return shape, _case(order, "step"), {}
    return shape, _case(order, "diamond"), {"dts": dts, "step": _STEP[order]}


def _tiles(args: argparse.Namespace, time: _Measure) -> Iterator[dict[str, Any]]:
    """Time kernel step (DTS 1) and diamonds of DTS 2, 3, ... until one has no room; with their intensity."""
    for order in _orders(args):
        for dts in args.dts or range(1, 17):
            shape, case, options = _tile_job(args, order, dts)
            try:
                row = time(shape, case, options=options)
            except (ArgumentError, DeviceError) as error:
                if "shared memory" not in str(error):
                    raise
                break
            size = 4  # float32
            words = tile_words(order, dts, _STEP[order]) if dts > 1 else row["bytes_per_cell"] / size
            intensity = row["flops_per_cell"] / (size * words)
            limit = min(args.limits["fma32"], intensity * args.limits["copy"]) / 1e9
            yield {
                **row,
                "dts": dts,
                "words_per_cell": words,
                "flops_per_byte": intensity,
                "roofline_gflops": limit,
                "percent_of_roofline": 100 * row["gflops"] / limit,
            }


def _scaling_shape(args: argparse.Namespace, order: int) -> Sequence[int]:
    """Return a grid with a tower side by side in x for each multiprocessor, one block along z, less of y."""
    nx, _, nz = DIAMOND_SHAPES[order]
    return args.shape or (nx, 1152, nz)


def _figure10(args: argparse.Namespace, time: _Measure) -> Iterator[dict[str, Any]]:
    """Time one grid, of one block along z, on 1, 2, 4, ... and all multiprocessors."""
    for order in _orders(args):
        shape = _scaling_shape(args, order)
        sms, before, first = 1, 0, None
        while True:
            options = {"sms": sms, "levels": _LEVELS}
            row = time(shape, _case(order, "diamond"), options=options)
            found = row["kernel_options"]["sms"]  # from the blocks of a tower to all multiprocessors
            first = first or {**row, "sms": found}
            if found != before:
                yield {**row, "sms": found, "speedup": first["ms"] / row["ms"], "ideal": found / first["sms"]}
            if found < sms:
                break
            sms, before = 2 * found, found


def jobs(args: argparse.Namespace) -> Iterator[Job]:
    """List the kernels of a case or figure, of the figures of tiles those that have room on an H200."""
    if args.case:
        yield from _komatitsch_jobs(args)
    elif args.figure == 10:
        for order in _orders(args):
            yield _scaling_shape(args, order), _case(order, "diamond"), {"levels": _LEVELS}
    elif args.figure:
        for order in _orders(args):
            for dts in args.dts or range(1, 1 + _MOST_WIDTH // _STEP[order]):
                yield _tile_job(args, order, dts)


# ---- tables and pictures ----

_Columns = Sequence[tuple[str, str, str]]
_TILES: _Columns = (
    ("order", "order", "d"), ("DTS", "dts", "d"), ("kernel", "kernel", "s"), ("ms/step", "ms", ".4g"),
    ("Gcell/s", "gcell_per_second", ".4g"), ("words/cell", "words_per_cell", ".3g"),
    ("flop/byte", "flops_per_byte", ".3g"), ("GFLOP/s", "gflops", ".4g"),
    ("roofline", "roofline_gflops", ".4g"), ("% of it", "percent_of_roofline", ".1f"),
)  # fmt: skip


def _draw_komatitsch(ax: Any, rows: list[dict[str, Any]], limits: dict[str, float]) -> None:
    names = [f"{row['where']}\nCPML {row['layers']}" for row in rows]
    bars = ax.bar(names, [row["over_one_core"] for row in rows])
    ax.bar_label(bars, fmt="%.1f")
    for i, row in enumerate(rows):
        if row["threads"] is None:
            ax.plot([i - 0.4, i + 0.4], [row["paper_gpu_over_one_core"]] * 2, "k--")
    ax.set(ylabel="times as fast as one core (dashed: paper's GPU)")
    ax.set_yscale("log")


def _draw_roofline(ax: Any, rows: list[dict[str, Any]], limits: dict[str, float]) -> None:
    ridge = limits["fma32"] / limits["copy"]
    found = [ridge, *(row["flops_per_byte"] for row in rows)]
    x = [0.5 * min(found), ridge, 2 * max(found)]
    ax.loglog(x, [min(limits["fma32"], one * limits["copy"]) / 1e9 for one in x], "k-", label="limits")
    for order, of in grouped(rows, itemgetter("order")).items():
        ax.plot(of["flops_per_byte"], of["gflops"], "o-", label=f"order {order}, DTS 1 to {of['dts'][-1]}")
    ax.set(xlabel="flops over compulsory bytes", ylabel="GFLOP/s")
    ax.legend(fontsize="small")


def _draw_scaling(ax: Any, rows: list[dict[str, Any]], limits: dict[str, float]) -> None:
    for order, of in grouped(rows, itemgetter("order")).items():
        sms, rate = of["sms"], of["gcell_per_second"]
        line = ax.loglog(sms, rate, "o-", label=f"order {order}")[0]
        ax.plot(sms, [rate[0] * one / sms[0] for one in sms], "--", color=line.get_color(), lw=0.8)
    ax.set(xlabel="multiprocessors (dashed: in proportion)", ylabel="Gcell/s")
    ax.legend(fontsize="small")


def _draw_tiles(ax: Any, rows: list[dict[str, Any]], limits: dict[str, float]) -> None:
    names = [f"{row['order']}/{row['dts']}" for row in rows]
    ax.plot(names, [row["gcell_per_second"] for row in rows], "o-", label="measured")
    roof = [row["roofline_gflops"] / row["flops_per_cell"] for row in rows]
    ax.plot(names, roof, "k_", label="limits of this device")
    ax.set(xlabel="order/DTS (DTS 1: kernel step)", ylabel="Gcell/s", ylim=(0, None))
    ax.tick_params(axis="x", labelrotation=60)
    ax.legend(fontsize="small")


#: For each case and figure: the function that measures its rows, their columns, the function that draws them.
_KINDS: dict[str, tuple[Callable[..., Iterator[dict[str, Any]]], _Columns, Callable[..., None]]] = {
    "komatitsch2010": (_komatitsch, (
        ("device", "where", "s"), ("layers", "layers", "d"), ("ms/step", "ms", ".4g"),
        ("Gcell/s", "gcell_per_second", ".4g"), ("over 1 core", "over_one_core", ".1f"),
        ("paper's GPU", "paper_gpu_over_one_core", ".0f"),
    ), _draw_komatitsch),
    "figure7": (_tiles, _TILES, _draw_roofline),
    "figure10": (_figure10, (
        ("order", "order", "d"), ("SMs", "sms", "d"), ("ms/step", "ms", ".4g"),
        ("Gcell/s", "gcell_per_second", ".4g"), ("speedup", "speedup", ".3g"), ("ideal", "ideal", ".3g"),
    ), _draw_scaling),
    "figure11": (_tiles, _TILES, _draw_tiles),
}  # fmt: skip


def draw(kind: str, path: Path, result: dict[str, Any]) -> None:
    """Draw what `kind` shows of a result."""
    size = (9 if kind == "figure11" else 6.4, 4)
    with figure(path, f"{kind}, {result['device']}", size) as ax:
        _KINDS[kind][2](ax, result["rows"], result["limits"])


def run(args: argparse.Namespace) -> int:
    """Measure, print a line as soon as it is known, keep what is done."""
    if args.case and args.figure:
        raise ArgumentError("give --case or --figure, not both")
    kind = args.case or f"figure{args.figure}"
    device = choose_device(args.device)
    if args.figure and device == "cpu":
        raise ArgumentError("device is cpu: kernel diamond, whose figures these are, needs a CUDA device")
    rows, columns, _ = _KINDS[kind]
    limits = device_limits(device, threads=args.threads)
    head = {"benchmark": "fd", **heading(device, limits, args.threads), "case": kind}
    known = {device: limits}

    def time(shape: Sequence[int], case: dict[str, Any], **keywords: Any) -> dict[str, Any]:
        place = keywords.pop("device", device)
        if place not in known:
            known[place] = device_limits(place)
        return measure(shape, case, device=place, limits=known[place], seconds=args.seconds, **keywords)

    args.limits = limits
    measured(rows(args, time), columns, args.output, head, partial(draw, kind), append=args.append)
    return 0
