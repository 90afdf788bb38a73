"""A model of a stage on several devices: what one device computes, what a link carries, and nothing else.

Cells at cuts wait for the other parts' values, which travel while cells inside are computed:

    stage = border + max(inside, messages x latency + bytes / bandwidth)
    border + inside = what one device takes for as many cells

On paper the parts of n devices are blocks of a cube, of grids slabs; bytes and border cells go with the area
of their cuts, as measured on two devices. Not here: measuring (bench_scaling.py, limits.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ArgumentError
from .scaling_case import CASES

_FIELDS = {"acoustic": 4, "elastic": 9, "maxwell": 6}


class Link(NamedTuple):
    """What is between two devices: bandwidth each way [byte/s], latency of a message [s]."""

    bandwidth: float
    latency: float


def stage_seconds(compute: float, border: float, size: float, link: Link, messages: float = 1) -> float:
    """Return the seconds of a stage.

    Parameters
    ----------
    compute : float
        What a device alone takes for the cells of a part [s].
    border : float
        Share of these that are at cuts.
    size : float
        Bytes that a part sends.
    link : Link
    messages : float
        In a stage, one after the other.

    Examples
    --------
    >>> link = Link(bandwidth=1e9, latency=1e-5)
    >>> stage_seconds(1e-3, 0.1, 1e5, link)  # hidden: 0.11 ms of travel behind 0.9 ms inside
    0.001
    >>> stage_seconds(1e-3, 0.1, 2e6, link) > 2e-3
    True
    """
    return border * compute + max((1 - border) * compute, messages * link.latency + size / link.bandwidth)


def beside(one: Mapping[str, Any], row: Mapping[str, Any], link: Link) -> float:
    """Return per cent of n times one device's rate that the model expects of a measured row."""
    share = row["num_elem"] / one["num_elem"] / row["devices"]
    compute = 1e-3 * one["ms"] / one["stages"] * share
    took = stage_seconds(compute, row["border"], row["most_bytes"], link, row["messages"])
    return 100 * compute / took


# ---- on paper ----


class Surface(NamedTuple):
    """Of a case: seconds of a stage, begin + each * cells; of cuts bytes and cells by area [cells^(2/3)]."""

    begin: float
    each: float
    bytes: float
    border: float


def _stages(row: Mapping[str, Any]) -> int:
    return int(row["stages"]) if "stages" in row else {"ab3": 1, "lsrk4": 5}[row["integrator"]]


def _seconds(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Fit begin + each * cells to the stages of one device, by relative errors; begin is not negative."""
    cells = np.array([row["num_elem"] for row in rows], float)
    took = np.array([1e-3 * row["ms"] / _stages(row) for row in rows])
    begin, each = np.linalg.lstsq(np.stack([1 / took, cells / took], 1), np.ones(len(rows)), rcond=None)[0]
    if len(rows) < 2 or begin < 0:
        return 0.0, float(np.mean(took / cells))
    return float(begin), float(each)


def _face_bytes(row: Mapping[str, Any], physics: str) -> int:
    """Return the bytes of a cut face of DG."""
    n = row["degree"] + 1
    nodes = n * n if row["case"].startswith("hex") else n * (n + 1) // 2
    return nodes * _FIELDS[physics] * (8 if row["dtype"] == "float64" else 4)


def surface(rows: Iterable[Mapping[str, Any]], physics: str) -> Surface:
    """Return what the rows of one case say: of one device, and of two that split its problem."""
    rows = list(rows)
    ones = [row for row in rows if row["split"] == "one"]
    pairs = [row for row in rows if row["split"] == "strong" and row["devices"] == 2]
    if not ones or not pairs:
        raise ArgumentError("rows of a case are not those of one device and of two that split it (strong)")
    area = np.array([row["num_elem"] ** (2 / 3) for row in pairs])
    sent = np.array([0.5e6 * row["megabytes"] for row in pairs])
    # a cell at a cut has one face there; older files do not say how many there are
    at_cut = [
        row["border"] * row["num_elem"] / 2 if "border" in row else size / _face_bytes(row, physics)
        for row, size in zip(pairs, sent, strict=True)
    ]
    return Surface(*_seconds(ones), float(np.mean(sent / area)), float(np.mean(np.array(at_cut) / area)))


def blocks(num: int, slabs: bool = False) -> tuple[int, int, int]:
    """Return how many parts there are along each axis.

    Examples
    --------
    >>> blocks(8), blocks(64), blocks(1024), blocks(2), blocks(8, slabs=True)
    ((2, 2, 2), (4, 4, 4), (16, 8, 8), (2, 1, 1), (8, 1, 1))
    """
    if slabs:
        return num, 1, 1
    found = [
        (x, y, num // x // y)
        for x in range(1, num + 1)
        if num % x == 0
        for y in range(1, num // x + 1)
        if num // x % y == 0
    ]
    x, y, z = sorted(min(found, key=lambda one: sum(one)), reverse=True)
    return x, y, z


def on_paper(case: str, of: Surface, cells: float, num: int, link: Link, *, weak: bool) -> float | None:
    """Return per cent of n times one device's rate that the model expects; None where parts are too thin.

    Parameters
    ----------
    case : str
        One of `CASES`.
    of : Surface
    cells : float
        Of each device if weak, else of all.
    num : int
        Devices.
    link : Link
    weak : bool
        Whether the problem grows with their number.
    """
    about = CASES[case]
    slabs = about.method == "fd"
    parts = blocks(num, slabs)
    whole = cells ** (1 / 3)
    edges = [whole if weak else whole / count for count in parts]
    if min(edges) < (2 * (about.degree // 2) + 2 if slabs else 1):
        return None
    own = float(np.prod(edges))
    area = sum(min(count - 1, 2) * own / edge for count, edge in zip(parts, edges, strict=True))
    compute = of.begin + of.each * own
    messages = 2 if case == "elastic4" else 1
    took = stage_seconds(compute, min(1.0, of.border * area / own), of.bytes * area, link, messages)
    return 100 * (of.begin + of.each * cells) / (1 if weak else num) / took


def table(
    results: Sequence[Mapping[str, Any]], numbers: Sequence[int], links: Sequence[Link], measured: Link
) -> list[str]:
    """Return the lines of a Markdown table: two devices measured and by the model, then more on paper.

    Parameters
    ----------
    results : sequence of dict
        Of `unda bench scaling`, on the same kind of device, of other sizes.
    numbers : sequence of int
        Devices.
    links : sequence of Link
    measured : Link
        That of the two devices.
    """
    ways = [f"{num:,}: {link.bandwidth / 1e9:.0f}" for num in numbers for link in links]
    lines = [f"| case | split | cells | two: measured | model | {' | '.join(ways)} |"]
    lines.append("|---" * (5 + len(ways)) + "|")
    found = [(row, one["physics"]) for one in results for row in one["rows"]]
    if any(row["case"] == "diamond4" for row, _ in found):
        raise ArgumentError(
            "results have rows of case diamond4, expected others: the model on paper cuts cubes, and its "
            "parts compute while planes travel"
        )
    for case in dict.fromkeys(row["case"] for row, _ in found):
        rows = [row for row, _ in found if row["case"] == case]
        of = surface(rows, next(physics for row, physics in found if row["case"] == case))
        pairs = sorted((row for row in rows if row["devices"] == 2), key=lambda row: row["num_elem"])
        for split in ("weak", "strong"):
            sizes = [row for row in pairs if row["split"] == split]
            for row in [*sizes[:1], *sizes[1:][-1:]] if split == "weak" else sizes[-1:]:
                cells = row["num_elem"] / (2 if split == "weak" else 1)
                given = [(2, measured), *((num, link) for num in numbers for link in links)]
                model = [on_paper(case, of, cells, num, link, weak=split == "weak") for num, link in given]
                of_all = " | ".join("-" if one is None else f"{one:.0f}" for one in model)
                lines.append(f"| {case} | {split} | {cells:,.0f} | {row['efficiency']:.0f} | {of_all} |")
    return lines
